//! Figures of one frame, and what a submission hands back.

use purlin_rhi::{QueryTicket, ReadTicket, SubmissionToken};
use smallvec::SmallVec;

use crate::report::GraphReport;

/// Figures of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct FrameStats {
    /// Passes that were declared.
    pub passes: u32,
    /// Passes that were left out.
    pub culled: u32,
    /// Passes that are recorded into the native pass of the one before.
    pub merged: u32,
    /// Dependencies between declared passes.
    pub edges: u32,
    /// Pass boundaries with barriers.
    pub barrier_batches: u32,
    /// Barriers without a layout change.
    pub memory_barriers: u32,
    /// Barriers with a layout change.
    pub texture_barriers: u32,
    /// Transients that live passes use.
    pub transients: u32,
    /// Textures and buffers that they lie in.
    pub physical: u32,
    /// Bytes of those transients, each counted alone.
    pub transient_bytes: u64,
    /// Bytes of the textures and buffers that they lie in.
    pub physical_bytes: u64,
    /// The most bytes of transients alive at one time: no placement can need less.
    pub peak_bytes: u64,
    /// Whether the frame has the structure of the last one, and was not compiled again.
    pub reused: bool,
    /// Textures, buffers, views and bind groups made in this frame; zero when warm.
    pub created: u32,
    /// Nanoseconds from [`Graph::new`](crate::Graph::new) to `submit`.
    pub declare_ns: u64,
    /// Nanoseconds of all phases.
    pub compile_ns: u64,
    /// Nanoseconds of recording.
    pub record_ns: u64,
    /// Nanoseconds of the device's submission.
    pub submit_ns: u64,
}

/// Names a readback of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReadId {
    pub(crate) graph: u32,
    pub(crate) index: u32,
}

/// Names queries that a graph reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueryReadId {
    pub(crate) graph: u32,
    pub(crate) index: u32,
}

/// Names an export of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExportId {
    pub(crate) graph: u32,
    pub(crate) index: u32,
}

/// A graph that was accepted.
#[derive(Debug)]
pub struct Submitted {
    /// Complete when the GPU has done all of it.
    pub token: SubmissionToken,
    /// Figures of the frame.
    pub stats: FrameStats,
    pub(crate) graph: u32,
    pub(crate) reads: SmallVec<[Option<ReadTicket>; 4]>,
    pub(crate) queries: SmallVec<[Option<QueryTicket>; 1]>,
    pub(crate) report: Option<Box<GraphReport>>,
}

impl Submitted {
    /// The ticket of a readback: `None` the second time, and for another graph's name. Tickets that are not taken are
    /// cancelled when this is dropped.
    pub fn take_read(&mut self, read: ReadId) -> Option<ReadTicket> {
        if read.graph != self.graph {
            return None;
        }
        self.reads.get_mut(read.index as usize)?.take()
    }

    /// The ticket of queries, as [`take_read`](Self::take_read) answers that of a readback.
    pub fn take_queries(&mut self, read: QueryReadId) -> Option<QueryTicket> {
        if read.graph != self.graph {
            return None;
        }
        self.queries.get_mut(read.index as usize)?.take()
    }

    /// The report, when the arena captures them: see [`GraphArena::set_report`](crate::GraphArena::set_report).
    pub fn report(&self) -> Option<&GraphReport> {
        self.report.as_deref()
    }

    /// The report, to add GPU times to.
    pub fn report_mut(&mut self) -> Option<&mut GraphReport> {
        self.report.as_deref_mut()
    }

    /// Takes the report out.
    pub fn take_report(&mut self) -> Option<Box<GraphReport>> {
        self.report.take()
    }
}
