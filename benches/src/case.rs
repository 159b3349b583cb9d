//! What the runner knows of contenders: a name, and how to prepare a workload.

use std::time::{Duration, Instant};

use crate::workloads::Workload;

/// What a frame did, timed apart. Absent parts do not occur in the workload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// Recording commands, up to the point where they can be submitted.
    pub record: Option<Duration>,
    /// Submitting them.
    pub submit: Option<Duration>,
    /// Creating objects.
    pub create: Option<Duration>,
    /// Dropping objects, until the native ones are gone.
    pub drop: Option<Duration>,
}

impl FrameTimes {
    /// A frame of recording and submission.
    pub fn recorded(begin: Instant, recorded: Instant, submitted: Instant) -> Self {
        Self { record: Some(recorded - begin), submit: Some(submitted - recorded), ..Self::default() }
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
