//! A reference model of the device, and an interpreter that runs sequences of steps on both and compares them.
//!
//! The model is simple where the device is fast: it knows who is made of what, which submission is the last to use a
//! resource, what every byte is and whether it means anything, and what all of it costs. From that it says of each
//! call whether it is accepted, and for what kinds of reason it may be refused; and after maintenance exactly which
//! objects exist, what they weigh and what they contain.
//!
//! A step is six bytes, any of which means something, so that both `proptest` and a fuzzer can make and shrink them.

mod ask;
mod create;
mod objects;
mod record;

use purlin_rhi::null::{NullConfig, NullControl};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;
use objects::{State, What};

/// An operation and what it chooses among.
pub type Step = [u8; 6];

/// When submissions complete.
#[derive(Debug, Clone, Copy)]
pub enum Completion {
    AtOnce,
    /// As steps say.
    ByHand,
    /// At calls that this number determines, and as steps say.
    Random(u64),
}

/// What a sequence runs on.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub completion: Completion,
    /// Few objects and little memory, so that ceilings and budgets are met.
    pub tight: bool,
    /// Whether devices are lost.
    pub lossy: bool,
}

impl Setup {
    fn storage(&self) -> StorageCeilings {
        let ample = StorageCeilings {
            objects: ObjectCeilings::each(4096),
            memory_budget: 1 << 30,
            upload_ring: 8192,
            frame_arena_page: 1024,
            readback: 1 << 20,
            batch_commands: 1 << 10,
        };
        let tight =
            StorageCeilings { objects: ObjectCeilings::each(8), memory_budget: (12 << 10) + 3, ..ample };
        if self.tight { tight } else { ample }
    }
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Handle,
    Description,
    State,
    Budget,
    Capacity,
    Memory,
    Pending,
    Lost,
    Backend,
    Other,
}

impl Reason {
    fn of(error: &Error) -> Self {
        match error {
            Error::InvalidHandle { .. } => Reason::Handle,
            Error::InvalidDescription { .. } => Reason::Description,
            Error::InvalidState { .. } => Reason::State,
            Error::BudgetExceeded { .. } => Reason::Budget,
            Error::CapacityExceeded { .. } => Reason::Capacity,
            Error::OutOfMemory { .. } => Reason::Memory,
            Error::Pending { .. } => Reason::Pending,
            Error::DeviceLost { .. } => Reason::Lost,
            Error::Backend { .. } => Reason::Backend,
            _ => Reason::Other,
        }
    }
}

/// Compares an answer with the reasons there are to refuse the call: with none it is accepted, with some it is refused
/// for one of them.
#[track_caller]
fn judged<T>(result: Result<T>, reasons: &[Reason]) -> Option<T> {
    match result {
        Ok(value) => {
            assert!(reasons.is_empty(), "accepted in spite of {reasons:?}");
            Some(value)
        }
        Err(error) => {
            assert!(reasons.contains(&Reason::of(&error)), "refused, expected {reasons:?}: {error:?}");
            None
        }
    }
}

/// A device and what is known of it.
struct World {
    setup: Setup,
    gpu: Gpu,
    state: State,
    /// Handles and tickets of devices that were lost.
    foreign: Vec<What>,
    foreign_reads: Vec<ReadTicket>,
}

impl World {
    fn new(setup: Setup) -> Self {
        let (gpu, control) = open(&setup);
        Self { setup, gpu, state: State::new(control), foreign: Vec::new(), foreign_reads: Vec::new() }
    }

    fn act(&mut self, step: Step, rest: &mut impl Iterator<Item = Step>) {
        let [op, a, b, ..] = step;
        match op % 32 {
            0..=9 => self.create(step),
            10..=12 => self.state.drop_owner(a),
            13 => self.destroy(a),
            14..=17 => self.write(step),
            18..=22 => self.record(rest),
            23 => self.state.complete(a),
            24 => self.compare(),
            25 => self.wait(a),
            26 | 27 => self.read(a),
            28 => self.cancel(a),
            29 => self.push_frame_data(a),
            30 => self.ask(a, b),
            _ if a >= 192 => self.flush(),
            _ if a >= 128 => self.state.fail_next_submission(),
            _ if self.setup.lossy && a >= 64 => {
                self.state.control.lose_now();
                self.replace();
            }
            _ => self.compare(),
        }
    }

    /// Ends the device with owners and recordings gone, and sees that nothing is left.
    fn finish(mut self) {
        self.state.control.clear_failures();
        self.state.fails_submission = false;
        self.state.objects.iter_mut().for_each(|object| object.owner = None);
        self.state.reads.clear();
        self.flush();
        self.state.control.complete_all();
        self.compare();
        assert!(self.state.objects.iter().all(|object| !object.exists));
        assert_eq!(self.gpu.readbacks().outstanding(), 0);
        drop(self.gpu);
        let control = &self.state.control;
        assert_eq!((control.live_total(), control.held(), control.open_encoders()), (0, 0, 0));
    }
}

/// A device whose upload ring exists, so that only program objects meet the budget by surprise.
fn open(setup: &Setup) -> (Gpu, NullControl) {
    let config = NullConfig {
        log: false,
        auto_complete: matches!(setup.completion, Completion::AtOnce),
        wait_completes: true,
        ..NullConfig::executing()
    };
    let (mut gpu, control) = device_with(config, setup.storage());
    let warm = buffer(&mut gpu, "warm", 4, BufferUsages::empty());
    gpu.write_buffer(*warm, 0, &[0; 4]).unwrap();
    gpu.flush_uploads().unwrap();
    control.complete_all();
    drop(warm);
    gpu.maintain().unwrap();
    if let Completion::Random(seed) = setup.completion {
        control.set_pace(Some(seed));
    }
    (gpu, control)
}

/// Something of everything, written and submitted: most sequences begin with it, or they would lack what to work on.
#[rustfmt::skip]
const FURNITURE: &[Step] = &[
    // Buffers: large, large, small, uploaded.
    [0, 0, 4, 1, 0, 0], [0, 0, 4, 2, 0, 0], [0, 0, 9, 1, 0, 0], [0, 0, 4, 0, 0, 0],
    // Textures with two mips, with one, uploaded; views of the first two.
    [0, 3, 1, 1, 0, 0], [0, 3, 0, 1, 0, 0], [0, 3, 1, 0, 0, 0],
    [0, 5, 0, 0, 0, 0], [0, 5, 0, 1, 0, 0], [0, 5, 1, 0, 0, 0],
    // A sampler, both shapes, groups that write, read what is uploaded and read what is tracked.
    [0, 6, 0, 0, 0, 0], [0, 7, 0, 0, 0, 0], [0, 7, 1, 0, 0, 0],
    [0, 8, 0, 0, 0, 0], [0, 8, 1, 3, 0, 0], [0, 8, 1, 1, 0, 0],
    // Pipelines.
    [0, 10, 0, 0, 0, 0], [0, 11, 0, 0, 0, 0], [0, 12, 0, 0, 0, 0], [0, 13, 0, 0, 0, 0],
    // Contents.
    [14, 0, 0, 255, 3, 1], [14, 3, 0, 255, 3, 7], [14, 4, 0, 0, 0, 9], [14, 6, 0, 0, 0, 5],
    [18, 0, 0, 0, 0, 0], [14, 0, 0, 0, 0, 0],
];

/// Runs a sequence; panics where device and model differ.
pub fn run(setup: Setup, steps: &[Step]) {
    let mut world = World::new(setup);
    let is_furnished = steps.first().is_some_and(|step| step[5] < 230);
    let furniture = if is_furnished { FURNITURE } else { &[] };
    let mut steps = furniture.iter().chain(steps).copied();
    while let Some(step) = steps.next() {
        world.act(step, &mut steps);
    }
    world.finish();
}
