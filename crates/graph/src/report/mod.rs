//! Reports: what the graph was and why, for people and for tools.
//!
//! A report is captured by a submission when the arena asks for it ([`crate::GraphArena::set_report`]), owns all it
//! says, and is written as JSON for tools, DOT for Graphviz, or one self-contained HTML page. Its size is bounded: what
//! lies beyond is left out and counted in [`Omitted`].

mod dot;
mod html;

use purlin_rhi::PassTime;
use serde::Serialize;

use crate::declare::PassKind;
use crate::stats::FrameStats;

/// The most passes that a report describes.
pub const MAX_PASSES: usize = 2000;
/// The most resources that a report describes.
pub const MAX_RESOURCES: usize = 4000;
/// The most dependencies that a report describes.
pub const MAX_EDGES: usize = 20_000;
/// The most uses, and the most barriers, that a report describes of one pass.
pub const MAX_PER_PASS: usize = 256;

/// One graph as it was compiled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// The graph's label.
    pub label: String,
    /// How many graphs the arena had made, this one included.
    pub frame: u64,
    /// Figures of the frame.
    pub stats: FrameStats,
    /// Declared passes in order.
    pub passes: Vec<PassReport>,
    /// Declared resources.
    pub resources: Vec<ResourceReport>,
    /// Dependencies between passes.
    pub edges: Vec<EdgeReport>,
    /// Bytes of transients alive at each described pass, zero where it is culled.
    pub live_bytes: Vec<u64>,
    /// What was left out.
    pub omitted: Omitted,
}

/// What a report leaves out to stay bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Omitted {
    /// Passes beyond [`MAX_PASSES`].
    pub passes: usize,
    /// Resources beyond [`MAX_RESOURCES`].
    pub resources: usize,
    /// Dependencies beyond [`MAX_EDGES`], or of passes and resources that are left out.
    pub edges: usize,
    /// Uses and barriers beyond [`MAX_PER_PASS`] of any pass.
    pub details: usize,
}

/// One pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PassReport {
    /// Its label.
    pub label: String,
    /// Its kind.
    pub kind: PassKind,
    /// Where it was declared.
    pub location: String,
    /// Whether it was recorded.
    pub live: bool,
    /// Why, or why not.
    pub why: String,
    /// Whether it was recorded into the native pass of the live pass before it.
    pub merged: bool,
    /// The queue that it ran on.
    pub queue: &'static str,
    /// What it uses.
    pub uses: Vec<UseReport>,
    /// The barriers before it.
    pub barriers: Vec<BarrierReport>,
    /// Nanoseconds of recording it.
    pub cpu_ns: Option<u64>,
    /// Nanoseconds on the GPU, once [`GraphReport::set_gpu_times`] has filled them in.
    pub gpu_ns: Option<f64>,
}

/// One use of a resource by a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UseReport {
    /// An index into [`GraphReport::resources`].
    pub resource: u32,
    /// Which part.
    pub part: String,
    /// How, and where in the pass it was declared.
    pub how: String,
    /// Stages and accesses.
    pub scope: String,
    /// Whether it writes.
    pub writes: bool,
    /// Of a written attachment: whether its contents are kept.
    pub stored: Option<bool>,
    /// Where it was declared.
    pub location: String,
}

/// One barrier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BarrierReport {
    /// What must have happened: stages and accesses.
    pub src: String,
    /// What waits.
    pub dst: String,
    /// The layouts before and after, of a texture barrier.
    pub layouts: Option<(String, String)>,
    /// The dependencies that it serves.
    pub reasons: Vec<ReasonReport>,
}

/// Why a barrier is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReasonReport {
    /// An index into [`GraphReport::resources`].
    pub resource: u32,
    /// Which part.
    pub part: String,
    /// `RAW`, `WAR`, `WAW`, `layout` or `init`.
    pub hazard: &'static str,
    /// The pass that it depends on; `None` for work before the graph.
    pub after: Option<u32>,
}

/// One resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResourceReport {
    /// Its label.
    pub label: String,
    /// `texture` or `buffer`.
    pub kind: &'static str,
    /// `transient`, `import`, or `uploaded` for an import that only uploads write.
    pub origin: &'static str,
    /// Where it was declared.
    pub location: String,
    /// Format and size.
    pub description: String,
    /// Bytes of a placed transient; zero otherwise.
    pub bytes: u64,
    /// The first and last live pass that use it.
    pub lifetime: Option<(u32, u32)>,
    /// The pool entry that a transient lies in; equal ones share memory.
    pub placement: Option<u32>,
    /// The heap that a texture lies in with others, and the offset there.
    pub heap: Option<(u32, u64)>,
    /// Whether its contents are wanted after the frame.
    pub exported: bool,
}

/// A dependency between two passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EdgeReport {
    /// The earlier pass.
    pub from: u32,
    /// The later pass.
    pub to: u32,
    /// The resource.
    pub resource: u32,
    /// Which part.
    pub part: String,
    /// `RAW`, `WAR` or `WAW`.
    pub hazard: &'static str,
}

impl GraphReport {
    /// Adds GPU times, as [`Device::pass_times`](purlin_rhi::Device::pass_times) gives them for the graph's submission:
    /// in the order of recording. Times that do not belong to the passes are ignored from the first mismatch on.
    pub fn set_gpu_times(&mut self, times: &[PassTime]) {
        let live = self.passes.iter_mut().filter(|pass| pass.live && !pass.merged);
        for (pass, time) in live.zip(times) {
            // The device names readbacks by itself.
            if pass.kind != PassKind::Readback && pass.label != time.label {
                break;
            }
            pass.gpu_ns = time.time.nanoseconds();
        }
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The passes and their dependencies in the DOT language.
    pub fn to_dot(&self) -> String {
        dot::write(self)
    }

    /// The report as one HTML page that needs nothing from elsewhere.
    pub fn to_html(&self) -> String {
        html::write(self)
    }
}
