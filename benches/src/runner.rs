//! Runs a workload on all contenders: results first, then alternating blocks of timed frames.
//!
//! A block is a few frames of one contender; blocks alternate, and which contender begins rotates, so that what the
//! machine does meanwhile hits all alike. The GPU works outside the timers: after a frame the runner sleeps for as long
//! as the warm-up's frames took to finish, and only then times what the contender does once a frame.

use std::time::{Duration, Instant};

use crate::case::{Case, Contender, Failure, FrameTimes, Memory, Outcome, one_line};
use crate::stats::Summary;
use crate::workloads::Workload;

/// Blocks that the frames are split into.
const BLOCKS: usize = 20;
/// Frames before the timed ones, of each contender.
const WARM_UP: usize = 12;
/// Waits shorter than this are not slept through: the sleep would be longer.
const SHORT: Duration = Duration::from_micros(20);

/// What one metric of one contender came to, in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub workload: Workload,
    pub contender: &'static str,
    pub metric: &'static str,
    pub summary: Summary,
    /// The median of each block, in the order of the run; a block of each contender makes a round.
    pub blocks: Vec<f64>,
}

/// Why a contender has no figures for a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub workload: Workload,
    pub contender: &'static str,
    pub kind: NoteKind,
    pub text: String,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    Unsupported,
    Failed,
    Differs,
}

impl NoteKind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Unsupported, Self::Failed, Self::Differs].into_iter().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            NoteKind::Unsupported => "unsupported",
            NoteKind::Failed => "failed",
            NoteKind::Differs => "differs",
        }
    }
}

/// Everything that a run found.
#[derive(Debug, Default)]
pub struct Found {
    pub measured: Vec<Measured>,
    pub notes: Vec<Note>,
}

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Timed frames of each contender.
    pub frames: usize,
    /// Whether results are compared: the mock driver has none.
    pub compare: bool,
}

/// A contender in a workload.
struct Running<'c> {
    name: &'static str,
    case: Box<dyn Case + 'c>,
    /// How long the GPU needs after a frame.
    settle: Duration,
    times: Vec<Timed>,
    failure: Option<(NoteKind, String)>,
}

/// One timed frame.
struct Timed {
    frame: FrameTimes,
    maintain: Duration,
    gpu: Option<Duration>,
}

/// Runs one workload and adds what it finds.
pub fn run(workload: Workload, contenders: &mut [Box<dyn Contender>], plan: Plan, found: &mut Found) {
    let mut running = Vec::new();
    for contender in contenders {
        let name = contender.name();
        match guarded(|| contender.prepare(workload)) {
            Ok(case) => running.push(Running {
                name,
                case,
                settle: Duration::ZERO,
                times: Vec::with_capacity(plan.frames),
                failure: None,
            }),
            Err(failure) => found.notes.push(note(workload, name, failure)),
        }
    }
    let block = plan.frames.div_ceil(BLOCKS).max(1);
    if plan.compare {
        compare(workload, &mut running);
    }
    for one in live(&mut running) {
        attempt(one, |one| warm_up(one, plan.frames));
    }
    let mut done = 0;
    let mut first = 0;
    while done < plan.frames {
        let frames = block.min(plan.frames - done);
        let count = running.len();
        for index in 0..count {
            let one = &mut running[(first + index) % count];
            if one.failure.is_none() {
                attempt(one, |one| (0..frames).try_for_each(|_| timed(one)));
            }
        }
        done += frames;
        first += 1;
    }
    for one in running {
        match one.failure {
            None => summarize(workload, &one, block, &mut found.measured),
            Some((kind, text)) => found.notes.push(Note { workload, contender: one.name, kind, text }),
        }
    }
}

/// Why a contender cannot take part.
pub fn note(workload: Workload, contender: &'static str, failure: Failure) -> Note {
    let (kind, text) = kind_of(failure);
    Note { workload, contender, kind, text }
}

fn kind_of(failure: Failure) -> (NoteKind, String) {
    match failure {
        Failure::Unsupported(text) => (NoteKind::Unsupported, text),
        Failure::Failed(text) => (NoteKind::Failed, text),
    }
}

fn live<'r, 'c>(running: &'r mut [Running<'c>]) -> impl Iterator<Item = &'r mut Running<'c>> {
    running.iter_mut().filter(|one| one.failure.is_none())
}

fn attempt(one: &mut Running<'_>, body: impl FnOnce(&mut Running<'_>) -> Outcome<()>) {
    if let Err(failure) = guarded(|| body(one)) {
        one.failure = Some(kind_of(failure));
    }
}

/// A library that panics fails like one that answers an error: the others still run.
pub fn guarded<T>(body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    // What the panic left half done is not run again, only dropped.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        Err(Failure::Failed(one_line(&format!("panicked: {text}"))))
    })
}

/// Runs one frame each and compares what it left: with the known answer, or else with what most contenders agree on.
fn compare(workload: Workload, running: &mut [Running<'_>]) {
    let mut results: Vec<(usize, Vec<u8>)> = Vec::new();
    for (index, one) in running.iter_mut().enumerate() {
        attempt(one, |one| {
            one.case.frame()?;
            one.case.maintain()?;
            results.push((index, one.case.result()?));
            Ok(())
        });
    }
    let Some((reference, of)) = reference(workload, running, &results) else { return };
    for (index, bytes) in &results {
        if let Some(text) = difference(&reference, bytes) {
            running[*index].failure = Some((NoteKind::Differs, format!("the result is not {of}: {text}")));
        }
    }
}

fn reference(
    workload: Workload,
    running: &[Running<'_>],
    results: &[(usize, Vec<u8>)],
) -> Option<(Vec<u8>, String)> {
    if let Some(expected) = workload.expected() {
        return Some((expected, "the computed answer".into()));
    }
    let agreeing = |bytes: &Vec<u8>| results.iter().filter(|(_, other)| other == bytes).count();
    // When all disagree, the hand-written one is the reference: it is the last contender.
    let (index, bytes) = results.iter().max_by_key(|(index, bytes)| (agreeing(bytes), *index))?;
    Some((bytes.clone(), format!("that of {}", running[*index].name)))
}

fn difference(expected: &[u8], found: &[u8]) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} bytes instead of {}", found.len(), expected.len()));
    }
    let wrong = expected.iter().zip(found).filter(|(a, b)| a != b).count();
    let first = expected.iter().zip(found).position(|(a, b)| a != b)?;
    Some(format!(
        "{wrong} of {} bytes differ, the first at {first}: {} instead of {}",
        expected.len(),
        found[first],
        expected[first]
    ))
}

fn warm_up(one: &mut Running<'_>, frames: usize) -> Outcome<()> {
    let count = WARM_UP.min(frames.max(2));
    for frame in 0..count {
        one.case.frame()?;
        let begin = Instant::now();
        one.case.maintain()?;
        // The first frames include what drivers do once.
        if frame >= count / 2 {
            one.settle = one.settle.max(begin.elapsed());
        }
    }
    Ok(())
}

fn timed(one: &mut Running<'_>) -> Outcome<()> {
    let frame = one.case.frame()?;
    if one.settle > SHORT {
        std::thread::sleep(one.settle + one.settle / 4);
    }
    let begin = Instant::now();
    one.case.maintain()?;
    let maintain = begin.elapsed();
    one.times.push(Timed { frame, maintain, gpu: one.case.gpu_time()? });
    Ok(())
}

fn summarize(workload: Workload, one: &Running<'_>, block: usize, measured: &mut Vec<Measured>) {
    let mut add_values = |metric, samples: Vec<f64>| {
        let medians = samples.chunks(block).filter_map(|block| Summary::of(block.to_vec()));
        let blocks = medians.map(|summary| summary.median).collect();
        if let Some(summary) = Summary::of(samples) {
            measured.push(Measured { workload, contender: one.name, metric, summary, blocks });
        }
    };
    let mut add = |metric, value: &dyn Fn(&Timed) -> Option<Duration>| {
        add_values(metric, one.times.iter().filter_map(value).map(|time| time.as_secs_f64() * 1e6).collect());
    };
    add("declare", &|timed| timed.frame.declare);
    add("compile", &|timed| timed.frame.compile);
    add("record", &|timed| timed.frame.record);
    add("submit", &|timed| timed.frame.submit);
    add("record+submit", &|timed| timed.frame.frame());
    add("create", &|timed| timed.frame.create);
    add("drop", &|timed| timed.frame.drop);
    add("create+drop", &|timed| Some(timed.frame.create? + timed.frame.drop?));
    add("maintain", &|timed| Some(timed.maintain));
    add("gpu", &|timed| timed.gpu);
    let mut add_bytes = |metric, value: fn(Memory) -> u64| {
        let bytes = one.times.iter().filter_map(|timed| timed.frame.memory);
        add_values(metric, bytes.map(|memory| value(memory) as f64).collect());
    };
    add_bytes("virtual_bytes", |memory| memory.all);
    add_bytes("physical_bytes", |memory| memory.physical);
    add_bytes("bound_bytes", |memory| memory.bound);
}

/// The metrics, in the order of reports. `record+submit` has a graph's declaring and compiling in it.
pub const METRICS: [&str; 13] = [
    "declare",
    "compile",
    "record",
    "submit",
    "record+submit",
    "create",
    "drop",
    "create+drop",
    "maintain",
    "gpu",
    "virtual_bytes",
    "physical_bytes",
    "bound_bytes",
];

/// What a metric counts.
pub fn unit(metric: &str) -> &'static str {
    if metric.ends_with("_bytes") { "bytes" } else { "us" }
}

#[cfg(test)]
mod tests;
