//! What the runner knows of contenders: a name, and how to prepare a workload.

use std::time::{Duration, Instant};

use crate::workloads::Workload;

/// What a frame did, timed apart. Absent parts do not occur in the workload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// Declaring a graph.
    pub declare: Option<Duration>,
    /// Compiling a graph.
    pub compile: Option<Duration>,
    /// Recording commands, up to the point where they can be submitted.
    pub record: Option<Duration>,
    /// Submitting them.
    pub submit: Option<Duration>,
    /// Creating objects.
    pub create: Option<Duration>,
    /// Dropping objects, until the native ones are gone.
    pub drop: Option<Duration>,
    /// What a graph's transients take.
    pub memory: Option<Memory>,
}

/// Bytes of a graph's transients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Each counted alone.
    pub all: u64,
    /// What they lie in.
    pub physical: u64,
    /// The most that are alive at one time.
    pub bound: u64,
}

impl FrameTimes {
    /// A frame of recording and submission.
    pub fn recorded(begin: Instant, recorded: Instant, submitted: Instant) -> Self {
        Self { record: Some(recorded - begin), submit: Some(submitted - recorded), ..Self::default() }
    }

    /// What a graph says of its phases.
    pub fn phases(stats: &purlin_graph::FrameStats) -> Self {
        let phases = [stats.declare_ns, stats.compile_ns, stats.record_ns, stats.submit_ns];
        let [declare, compile, record, submit] = phases.map(Duration::from_nanos).map(Some);
        Self { declare, compile, record, submit, ..Self::default() }
    }

    /// A frame through a graph. What no phase claims counts as recording, so that the parts add up to the whole.
    pub fn graph(begin: Instant, end: Instant, stats: &purlin_graph::FrameStats) -> Self {
        let phases = Self::phases(stats);
        let rest = (end - begin).saturating_sub(phases.frame().unwrap_or_default());
        Self { record: phases.record.map(|record| record + rest), ..phases }
    }

    /// All that a frame did up to its submission, the graph's part included.
    pub fn frame(&self) -> Option<Duration> {
        let graph = self.declare.unwrap_or_default() + self.compile.unwrap_or_default();
        Some(graph + self.record? + self.submit?)
    }

    /// A round of creating and dropping.
    pub fn lived(begin: Instant, created: Instant, dropped: Instant) -> Self {
        Self { create: Some(created - begin), drop: Some(dropped - created), ..Self::default() }
    }
}

/// Why a contender does not take part in a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It lacks something that the workload needs.
    Unsupported(String),
    /// It tried and failed.
    Failed(String),
}

impl Failure {
    /// A failure with what an error says of itself.
    pub fn failed(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Failed(one_line(&format!("{what}: {error}")))
    }
}

/// Errors of drivers and libraries may have several lines; reports have one.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The result of work on the GPU.
pub type Outcome<T> = Result<T, Failure>;

/// One contender, ready to run one workload.
pub trait Case {
    /// Runs one frame. The GPU may still be at work when it returns.
    fn frame(&mut self) -> Outcome<FrameTimes>;

    /// Waits until the GPU is idle and does what a contender does once a frame: recycles, retires, calls back.
    fn maintain(&mut self) -> Outcome<()>;

    /// How long the GPU takes for a frame, where a workload asks. Runs one of its own, since taking times costs the CPU.
    fn gpu_time(&mut self) -> Outcome<Option<Duration>> {
        Ok(None)
    }

    /// What the last frame left. Called when the GPU is idle; changes nothing that a later frame sees.
    fn result(&mut self) -> Outcome<Vec<u8>>;
}

/// One of the competing ways to do the same work.
pub trait Contender {
    /// As the report calls it: `purlin`, `wgpu`, `ash`.
    fn name(&self) -> &'static str;

    /// Makes everything that a workload needs.
    fn prepare<'c>(&'c mut self, workload: Workload) -> Outcome<Box<dyn Case + 'c>>;
}
