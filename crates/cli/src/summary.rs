//! The table that the demo prints.

use std::fmt::{self, Display};

use purlin::graph::FrameStats;
use purlin::rhi::{AdapterInfo, Features, MemoryReport, PassTime};

use crate::renderer::Visible;
use crate::scene::Scene;

/// Frames that only warm caches up: at most this many, and never more than half of them.
const WARM_UP: usize = 10;
/// Passes that the table names.
const TOP: usize = 6;

/// Rows of a name and a text, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Summary(Vec<(&'static str, String)>);

impl Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, text)| writeln!(f, "{name:<10} {text}"))
    }
}

impl Summary {
    pub fn line(&mut self, name: &'static str, text: impl Display) {
        self.0.push((name, text.to_string()));
    }

    pub fn adapter(&mut self, adapter: &AdapterInfo, missing: Features) {
        self.line(
            "adapter",
            format!("{} ({:?}, {})", adapter.name, adapter.device_type, adapter.api_version),
        );
        self.line("driver", &adapter.driver);
        if !missing.is_empty() {
            self.line("without", missing.names());
        }
    }

    pub fn scene(&mut self, scene: &Scene, visible: Option<Visible>) {
        let texels: usize = scene.textures.iter().map(|texture| texture.byte_len()).sum();
        self.line(
            "scene",
            format!(
                "{}: {} instances, {} triangles, {} materials, {} textures ({})",
                scene.name,
                scene.instances.len(),
                scene.triangle_count(),
                scene.materials.len(),
                scene.textures.len(),
                Bytes(texels as u64)
            ),
        );
        if let Some(Visible { camera, sun }) = visible {
            let total = scene.instances.len();
            self.line("culling", format!("{camera} of {total} in view, {sun} in the shadow map"));
        }
        for warning in &scene.warnings {
            self.line("warning", warning);
        }
    }

    pub fn graph(&mut self, stats: &FrameStats) {
        self.line("passes", format!("{} live, {} culled", stats.passes - stats.culled, stats.culled));
        self.line(
            "barriers",
            format!(
                "{} memory, {} texture, at {} boundaries",
                stats.memory_barriers, stats.texture_barriers, stats.barrier_batches
            ),
        );
    }

    pub fn memory(&mut self, stats: &FrameStats, memory: MemoryReport) {
        self.line(
            "transient",
            format!(
                "{} resources, {} in {} of memory, {} alive at once",
                stats.transients,
                Bytes(stats.transient_bytes),
                Bytes(stats.physical_bytes),
                Bytes(stats.peak_bytes)
            ),
        );
        let native = memory.native.map_or("allocation unknown".into(), |native| {
            format!("{} allocated, {} in blocks", Bytes(native.allocated), Bytes(native.blocks))
        });
        self.line("memory", format!("{} logical, {native}", Bytes(memory.logical)));
    }

    pub fn times(&mut self, times: &Times) {
        let [declare, compile, record, submit] = times.cpu_medians();
        self.line(
            "CPU",
            format!("declare {declare:.1}, compile {compile:.1}, record {record:.1}, submit {submit:.1} us"),
        );
        let mut passes = times.gpu_medians();
        if passes.is_empty() {
            return;
        }
        let total: f64 = passes.iter().map(|(_, time)| time).sum();
        passes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let top: Vec<_> = passes.iter().take(TOP).map(|(pass, time)| format!("{pass} {time:.3}")).collect();
        self.line("GPU", format!("{total:.3} ms: {}", top.join(", ")));
    }
}

/// Times of all frames.
#[derive(Debug, Default)]
pub(crate) struct Times {
    cpu: Vec<[u64; 4]>,
    gpu: Vec<Vec<PassTime>>,
}

impl Times {
    /// Adds a frame, and the newest GPU times if there are any.
    pub fn frame(&mut self, stats: &FrameStats, passes: Option<Vec<PassTime>>) {
        self.cpu.push([stats.declare_ns, stats.compile_ns, stats.record_ns, stats.submit_ns]);
        self.passes(passes);
    }

    /// Adds GPU times.
    pub fn passes(&mut self, passes: Option<Vec<PassTime>>) {
        self.gpu.extend(passes);
    }

    /// Microseconds to declare, compile, record and submit.
    fn cpu_medians(&self) -> [f64; 4] {
        let warm = warm(&self.cpu);
        std::array::from_fn(|i| median(warm.iter().map(|frame| frame[i] as f64).collect()) / 1e3)
    }

    /// Milliseconds of each pass that the driver timed, in the order of the frame.
    fn gpu_medians(&self) -> Vec<(&str, f64)> {
        let warm = warm(&self.gpu);
        let Some(last) = warm.last() else { return Vec::new() };
        let samples = |index: usize| {
            let passes = warm.iter().filter_map(|frame| frame.get(index));
            passes.filter_map(|pass| pass.time.nanoseconds()).collect::<Vec<_>>()
        };
        last.iter()
            .enumerate()
            .filter_map(|(index, pass)| {
                let samples = samples(index);
                (!samples.is_empty()).then(|| (pass.label.as_str(), median(samples) / 1e6))
            })
            .collect()
    }
}

fn warm<T>(frames: &[T]) -> &[T] {
    &frames[WARM_UP.min(frames.len() / 2)..]
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(0.0)
}

struct Bytes(u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 => write!(f, "{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
            bytes => write!(f, "{:.1} KiB", bytes as f64 / 1024.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_skip_the_warm_up() {
        let mut times = Times::default();
        for frame in 0..30u64 {
            let slow = if frame < 10 { 1_000_000 } else { frame * 1000 };
            times.frame(&FrameStats { declare_ns: slow, ..Default::default() }, None);
        }
        assert_eq!(times.cpu_medians()[0], 20.0);
        assert!(times.gpu_medians().is_empty());
    }

    #[test]
    fn a_summary_is_a_table() {
        let mut summary = Summary::default();
        summary.line("a", Bytes(1536));
        summary.line("longer", Bytes(3 << 20));
        assert_eq!(summary.to_string(), "a          1.5 KiB\nlonger     3.0 MiB\n");
    }
}
