//! The tests' side of a null device: what it was asked, and when and how it fails.
//!
//! The device's state that tests reach lies behind one lock, which only fallible calls, memory and tests take.
//! Encoder calls take none: encoders count and record by themselves and hand over when they are submitted.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::encoder::NullEncoder;
use super::execute::{Clock, Executor};
use super::faults::Faults;
use super::log::Submission;
use super::memory::Memory;
use crate::error::BackendError;
use crate::handle::ResourceKind;

/// Steers and observes a null device, from any thread, also after the device is gone. Clones are one handle.
#[derive(Debug, Clone)]
pub struct NullControl {
    pub(super) shared: Arc<Shared>,
}

/// What the device and its controls share.
#[derive(Debug)]
pub(super) struct Shared {
    pub state: Mutex<State>,
    /// What held pipeline jobs wait at.
    pub gate: Condvar,
    pub calls: AtomicU64,
    pub live: [AtomicUsize; ResourceKind::ALL.len()],
}

/// A submitted encoder that has not run yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub ordinal: u64,
    pub encoder: NullEncoder,
}

#[derive(Debug)]
pub(super) struct State {
    pub memory: Memory,
    pub pending: VecDeque<Pending>,
    pub pool: Vec<NullEncoder>,
    pub log: Vec<Submission>,
    pub ordinals: Vec<u64>,
    pub submitted: u64,
    pub completed: u64,
    pub auto_complete: bool,
    pub wait_completes: bool,
    pub check_layouts: bool,
    pub clock: Clock,
    pub scripted: VecDeque<Option<u64>>,
    pub timestamp_mask: u64,
    pub open_encoders: usize,
    pub faults: Faults,
    pub jobs_held: bool,
    pub jobs_begun: u64,
    pub caches: Vec<Vec<u8>>,
    lost: Option<String>,
    steps: u64,
}

impl State {
    /// Counts a fallible call and says whether the device still answers.
    pub fn step(&mut self) -> Result<(), BackendError> {
        self.steps += 1;
        if self.faults.counts_steps() {
            self.disturb();
        }
        match &self.lost {
            Some(detail) => Err(BackendError::DeviceLost(detail.clone())),
            None => Ok(()),
        }
    }

    /// Completes what has come to its end, and loses the device when it is time.
    #[cold]
    fn disturb(&mut self) {
        let more = self.faults.step();
        if more > 0 {
            self.complete_to(self.completed + more);
        }
        if self.faults.loss() {
            self.lose();
        }
    }

    fn lose(&mut self) {
        if self.lost.is_none() {
            self.lost = Some(format!("lost by the test at call {}", self.steps));
        }
    }

    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Runs and completes submissions up to an ordinal; none once the device is lost.
    pub fn complete_to(&mut self, ordinal: u64) {
        if self.is_lost() {
            return;
        }
        let ordinal = ordinal.min(self.submitted);
        while let Some(mut pending) = self.pending.pop_front_if(|pending| pending.ordinal <= ordinal) {
            let mut executor = Executor {
                memory: &mut self.memory,
                clock: &mut self.clock,
                scripted: &mut self.scripted,
                timestamp_mask: self.timestamp_mask,
                check: self.check_layouts,
                ordinal: pending.ordinal,
                label: &pending.encoder.label,
            };
            executor.run(&pending.encoder.commands);
            pending.encoder.clear();
            self.pool.push(pending.encoder);
        }
        self.completed = self.completed.max(ordinal);
    }
}

impl Shared {
    pub fn new(config: &super::NullConfig) -> Self {
        Self {
            state: Mutex::new(State {
                memory: Memory::default(),
                pending: VecDeque::new(),
                pool: Vec::new(),
                log: Vec::new(),
                ordinals: Vec::new(),
                submitted: 0,
                completed: 0,
                auto_complete: config.auto_complete,
                wait_completes: config.wait_completes,
                check_layouts: config.check_layouts && config.execute,
                clock: Clock { now: 0, step: 1000 },
                scripted: VecDeque::new(),
                timestamp_mask: match config.timestamp_valid_bits {
                    Some(bits) if bits < 64 => (1 << bits) - 1,
                    _ => u64::MAX,
                },
                open_encoders: 0,
                faults: Faults::default(),
                jobs_held: false,
                jobs_begun: 0,
                caches: Vec::new(),
                lost: None,
                steps: 0,
            }),
            gate: Condvar::new(),
            calls: AtomicU64::new(0),
            live: Default::default(),
        }
    }

    /// The state. A test that panicked while it held the lock leaves it as it was.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts calls that are not counted by an encoder.
    pub fn count(&self, calls: u64) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
    }

    pub fn live(&self, kind: ResourceKind) -> &AtomicUsize {
        &self.live[kind as usize]
    }
}

impl NullControl {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Completes submissions up to an ordinal, running what they recorded. Does nothing once the device is lost.
    pub fn complete_to(&self, ordinal: u64) {
        self.shared.lock().complete_to(ordinal);
    }

    /// Completes everything submitted.
    pub fn complete_all(&self) {
        self.complete_to(u64::MAX);
    }

    /// Whether submissions complete as they are made, from the next one on.
    pub fn set_auto_complete(&self, on: bool) {
        self.shared.lock().auto_complete = on;
    }

    /// Whether waits complete what they wait for.
    pub fn set_wait_completes(&self, on: bool) {
        self.shared.lock().wait_completes = on;
    }

    /// Makes the `n`-th creation from now, counted from one, fail for want of memory; later ones succeed again.
    pub fn fail_allocation(&self, n: u64) {
        self.shared.lock().faults.plan_creation(None, n);
    }

    /// The same for the `n`-th creation of one kind.
    pub fn fail_allocation_of(&self, kind: ResourceKind, n: u64) {
        self.shared.lock().faults.plan_creation(Some(kind), n);
    }

    /// Makes the `n`-th recording from now find no memory for its command buffer.
    pub fn fail_recording(&self, n: u64) {
        self.shared.lock().faults.plan_recording(n);
    }

    /// Makes the next submission fail; its encoders are discarded.
    pub fn fail_next_submit(&self) {
        self.fail_submission(1);
    }

    /// The same for the `n`-th submission from now, counted from one.
    pub fn fail_submission(&self, n: u64) {
        self.shared.lock().faults.plan_submission(n);
    }

    /// Makes the `n`-th section from now, counted from one in the order of sections, fail to begin.
    pub fn fail_section(&self, n: u64) {
        self.shared.lock().faults.plan_section(n);
    }

    /// How many planned failures, loss included, have not come yet.
    pub fn planned_failures(&self) -> usize {
        self.shared.lock().faults.planned()
    }

    /// Forgets planned failures; those of loss stay.
    pub fn clear_failures(&self) {
        self.shared.lock().faults.clear();
    }

    /// Lets submissions complete at fallible calls, by numbers that a seed determines; with `None` no more.
    pub fn set_pace(&self, seed: Option<u64>) {
        self.shared.lock().faults.set_pace(seed);
    }

    /// Loses the device at the `n`-th fallible call from now, counted from one: that call and every later one
    /// answers `DeviceLost`.
    pub fn lose_device_at(&self, n: u64) {
        self.shared.lock().faults.plan_loss(n);
    }

    /// Loses the device.
    pub fn lose_now(&self) {
        self.shared.lock().lose();
        self.shared.gate.notify_all();
    }

    /// Whether the device is lost.
    pub fn is_lost(&self) -> bool {
        self.shared.lock().is_lost()
    }

    /// How many native objects of a kind exist.
    pub fn live(&self, kind: ResourceKind) -> usize {
        self.shared.live(kind).load(Ordering::Relaxed)
    }

    /// How many native objects exist.
    pub fn live_total(&self) -> usize {
        ResourceKind::ALL.iter().map(|&kind| self.live(kind)).sum()
    }

    /// How many slots hold real memory; always none without [`execute`](super::NullConfig::execute), but for queries.
    pub fn held(&self) -> usize {
        self.shared.lock().memory.held()
    }

    /// Encoders that were begun and neither submitted nor discarded.
    pub fn open_encoders(&self) -> usize {
        self.shared.lock().open_encoders
    }

    /// Takes the submissions logged since the last call; always none without [`log`](super::NullConfig::log).
    pub fn take_log(&self) -> Vec<Submission> {
        std::mem::take(&mut self.shared.lock().log)
    }

    /// Backend and encoder calls so far; an encoder's are added when it is submitted or discarded.
    pub fn calls(&self) -> u64 {
        self.shared.calls.load(Ordering::Relaxed)
    }

    /// Fallible calls so far: what [`lose_device_at`](Self::lose_device_at) counts.
    pub fn steps(&self) -> u64 {
        self.shared.lock().steps
    }

    /// The ordinals of accepted submissions in order; kept only when the device logs or executes.
    pub fn submitted(&self) -> Vec<u64> {
        self.shared.lock().ordinals.clone()
    }

    /// The ordinal of the last accepted submission; zero before the first.
    pub fn last_submitted(&self) -> u64 {
        self.shared.lock().submitted
    }

    /// The last ordinal that is complete.
    pub fn completed(&self) -> u64 {
        self.shared.lock().completed
    }

    /// Sets the GPU's clock in ticks, and the ticks by which each timestamp moves it on before it is taken. At first
    /// 0 and 1000.
    pub fn set_clock(&self, now: u64, step: u64) {
        self.shared.lock().clock = Clock { now, step };
    }

    /// Has the next timestamps take these values instead of the clock's; with `None` one that is never available.
    pub fn script_timestamps(&self, values: impl IntoIterator<Item = Option<u64>>) {
        self.shared.lock().scripted.extend(values);
    }

    /// The bytes of a buffer of any memory class, as completed submissions left them; `None` for an empty slot or
    /// without [`execute`](super::NullConfig::execute).
    pub fn buffer_bytes(&self, slot: u32) -> Option<Vec<u8>> {
        super::memory::get(&self.shared.lock().memory.buffers, slot).cloned()
    }
}
