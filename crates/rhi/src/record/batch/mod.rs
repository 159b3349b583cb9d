//! Command batches: draws that are checked and kept once, and executed in passes any number of times.
//!
//! A batch is an object of the registry like any other: it has a slot, a handle that goes stale, an owner, a ceiling, and it
//! retains what its commands use. It has no native counterpart. Its life, which [`BatchState`] names:
//!
//! | call | from | to |
//! |---|---|---|
//! | [`create_batch`](Device::create_batch) | | recording |
//! | [`record_batch`](Device::record_batch) | recording | recording, with more commands |
//! | [`finish_batch`](Device::finish_batch) | recording | finished |
//! | [`execute_batch`](crate::RenderPass::execute_batch), then `submit` | finished, submitted | submitted |
//! | the GPU is done with all of that | submitted | finished |
//! | [`discard_batch`](Device::discard_batch) | recording, finished, submitted | discarded |
//! | the GPU is done with all of that | discarded | retired |
//!
//! Every other call is an error that names the batch, its state, and the state that the call needs, and changes nothing.

mod execute;
mod notes;
mod recorder;
mod stream;

use arrayvec::ArrayVec;

use crate::backend::Backend;
use crate::device::Device;
use crate::error::{Error, Result, invalid, named, state, unsupported};
use crate::handle::{CommandBatch, ResourceKind, kind};
use crate::label::Label;
use crate::owned::Owned;
use crate::registry::Registry;
use crate::table::Record;
use crate::types::TextureFormat;
use notes::Notes;
pub use recorder::BatchRecorder;
use stream::Stream;

/// Describes a command batch by the passes that may execute it.
#[derive(Debug, Clone, Copy)]
pub struct CommandBatchDesc<'a> {
    /// The name in errors and reports.
    pub label: &'a str,
    /// The passes' color attachments' formats by index; `None` leaves a gap.
    pub colors: &'a [Option<TextureFormat>],
    /// Their depth-stencil attachment's format.
    pub depth_stencil: Option<TextureFormat>,
    /// Samples of all of them.
    pub samples: u32,
}

impl Default for CommandBatchDesc<'_> {
    fn default() -> Self {
        Self { label: "", colors: &[], depth_stencil: None, samples: 1 }
    }
}

/// Where a command batch is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchState {
    /// Commands may be added, and none executed.
    Recording,
    /// Passes may execute it.
    Finished,
    /// As finished, and the GPU has not completed every submission that executes it.
    Submitted,
    /// Given up. The GPU has not completed every submission that executes it.
    Discarded,
    /// Given up, and nothing is kept for it any more.
    Retired,
}

/// How far the program has brought a batch; the rest of its state is the GPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Recording,
    Finished,
    Discarded,
}

/// What the attachments of a pass must be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Targets {
    colors: ArrayVec<Option<TextureFormat>, 8>,
    depth_stencil: Option<TextureFormat>,
    samples: u32,
}

#[derive(Debug)]
pub(crate) struct CommandBatchRecord {
    label: Label,
    stage: Stage,
    /// The last submission that executes it.
    last: u64,
    targets: Targets,
    stream: Stream,
    notes: Notes,
    /// Whether some pipeline of it writes these.
    writes_depth: bool,
    writes_stencil: bool,
}

impl Record for CommandBatchRecord {
    type Hot = ();
    fn label(&self) -> &str {
        &self.label
    }
    fn hot(&self) {}
}

impl CommandBatchRecord {
    fn state(&self, completed: u64) -> BatchState {
        let in_flight = self.last > completed;
        match self.stage {
            Stage::Recording => BatchState::Recording,
            Stage::Finished if in_flight => BatchState::Submitted,
            Stage::Finished => BatchState::Finished,
            Stage::Discarded if in_flight => BatchState::Discarded,
            Stage::Discarded => BatchState::Retired,
        }
    }

    /// What it keeps alive.
    pub(crate) fn leases(&self) -> &[(ResourceKind, u32)] {
        &self.notes.leases
    }

    fn name(&self) -> String {
        named(ResourceKind::CommandBatch, &self.label)
    }
}

/// A part of a batch that is being recorded; kept by the device so that its room is used again.
#[derive(Debug, Default)]
pub(crate) struct Part {
    stream: Stream,
    notes: Notes,
    writes_depth: bool,
    writes_stencil: bool,
}

impl<B: Backend> Device<B> {
    /// Begins a command batch, which WebGPU calls a render bundle: draws that are recorded and checked once, and then executed
    /// in passes any number of times. Commands come by [`Self::record_batch`].
    ///
    /// # Errors
    /// No attachments or more than the limit; a color format that is none, a depth-stencil format that is none; samples that
    /// are no power of two; the slot ceiling; device loss.
    pub fn create_batch(&mut self, desc: &CommandBatchDesc<'_>) -> Result<Owned<kind::CommandBatch>> {
        let what = || named(ResourceKind::CommandBatch, desc.label);
        self.check_lost("create_batch")?;
        let most = self.limits().max_color_attachments.min(8);
        if desc.colors.len() > most as usize {
            let detail = format!("{} requested, {most} available", desc.colors.len());
            return Err(unsupported(what(), "limit max_color_attachments", detail));
        }
        let mut colors = desc.colors.iter().flatten();
        if let Some(format) = colors.find(|format| format.is_depth_stencil_format()) {
            return Err(invalid(what(), "colors", "color formats", format!("{format:?}")));
        }
        if let Some(format) = desc.depth_stencil.filter(|format| !format.is_depth_stencil_format()) {
            return Err(invalid(what(), "depth_stencil", "a depth-stencil format", format!("{format:?}")));
        }
        if desc.colors.iter().flatten().next().is_none() && desc.depth_stencil.is_none() {
            return Err(invalid(what(), "attachments", "at least one attachment", "none"));
        }
        if !desc.samples.is_power_of_two() {
            return Err(invalid(what(), "samples", "a power of two", desc.samples));
        }
        self.make_room(ResourceKind::CommandBatch, 0)?;
        let slot = self.registry.batches.next_slot()?;
        let record = CommandBatchRecord {
            label: desc.label.into(),
            stage: Stage::Recording,
            last: 0,
            targets: Targets {
                colors: desc.colors.iter().copied().collect(),
                depth_stencil: desc.depth_stencil,
                samples: desc.samples,
            },
            stream: Stream::default(),
            notes: Notes::default(),
            writes_depth: false,
            writes_stencil: false,
        };
        let handle = self.registry.batches.insert(slot, record);
        Ok(self.own(handle))
    }

    /// Adds commands to a batch. Each call begins as a pass does, with nothing set.
    ///
    /// Everything is checked as in a pass, but for what only the pass can know: which tracked contents it declares, and
    /// whether an aspect of its depth-stencil attachment is only read. From now on the batch keeps alive what `body` used.
    ///
    /// # Errors
    /// A batch that is not recording, a stale or foreign handle; the first mistake inside `body`; more commands than
    /// [`StorageCeilings::batch_commands`](crate::StorageCeilings::batch_commands); device loss. The batch is then as it was
    /// before the call.
    pub fn record_batch(
        &mut self,
        batch: CommandBatch,
        body: impl FnOnce(&mut BatchRecorder<'_, B>),
    ) -> Result<()> {
        self.expect_batch(batch, "record_batch", "recording", |stage| stage == Stage::Recording)?;
        let mut part = std::mem::take(&mut self.scratch.part);
        part.stream.clear();
        part.notes.clear();
        (part.writes_depth, part.writes_stencil) = (false, false);
        let recorded = self.record_part(batch, &mut part, body);
        if recorded.is_ok() {
            self.add_part(batch.slot(), &part);
        }
        self.scratch.part = part;
        recorded
    }

    /// Makes a part the batch's, and leases what it uses.
    fn add_part(&mut self, slot: u32, part: &Part) {
        let Some(record) = self.registry.batches.at_mut(slot) else { return };
        let leased = record.notes.leases.len();
        record.stream.append(&part.stream);
        record.notes.append(&part.notes);
        record.writes_depth |= part.writes_depth;
        record.writes_stencil |= part.writes_stencil;
        let new: Vec<_> = record.notes.leases[leased..].to_vec();
        for (kind, slot) in new {
            self.registry.retain(kind, slot);
        }
    }

    /// Ends the recording of a batch: from now on passes may execute it. One without commands draws nothing.
    ///
    /// # Errors
    /// A batch that is not recording, a stale or foreign handle, device loss.
    pub fn finish_batch(&mut self, batch: CommandBatch) -> Result<()> {
        self.expect_batch(batch, "finish_batch", "recording", |stage| stage == Stage::Recording)?;
        if let Some(record) = self.registry.batches.at_mut(batch.slot()) {
            record.stage = Stage::Finished;
            record.stream.shrink();
            record.notes.finish();
        }
        Ok(())
    }

    /// Gives a batch up: it can no longer be executed, and keeps alive only what the GPU still uses. Its handle stays
    /// valid until its owner drops. Dropping the owner at once does the same.
    ///
    /// # Errors
    /// A batch that was discarded before, a stale or foreign handle, device loss.
    pub fn discard_batch(&mut self, batch: CommandBatch) -> Result<()> {
        let live = "recording, finished or submitted";
        self.expect_batch(batch, "discard_batch", live, |stage| stage != Stage::Discarded)?;
        let Some(record) = self.registry.batches.at_mut(batch.slot()) else { return Ok(()) };
        record.stage = Stage::Discarded;
        record.stream = Stream::default();
        let (notes, last) = (std::mem::take(&mut record.notes), record.last);
        for (kind, slot) in notes.leases {
            self.registry.release_after(kind, slot, last);
        }
        Ok(())
    }

    /// Where a batch is in its life. Never waits.
    ///
    /// # Errors
    /// A stale or foreign handle, device loss.
    pub fn batch_state(&mut self, batch: CommandBatch) -> Result<BatchState> {
        self.poll()?;
        let record = self.registry.batches.check(batch, || "batch_state".into())?;
        Ok(record.state(self.completed))
    }

    /// The draws that a batch keeps.
    ///
    /// # Errors
    /// A stale or foreign handle.
    pub fn batch_draws(&self, batch: CommandBatch) -> Result<u32> {
        Ok(self.registry.batches.check(batch, || "batch_draws".into())?.stream.draws)
    }

    /// Checks a batch's state for a call.
    fn expect_batch(
        &mut self,
        batch: CommandBatch,
        call: &str,
        expected: &str,
        allows: impl Fn(Stage) -> bool,
    ) -> Result<()> {
        self.check_lost(call)?;
        let record = self.registry.batches.check(batch, || call.into())?;
        if allows(record.stage) {
            return Ok(());
        }
        // The state that the error names is the one of this moment.
        self.poll()?;
        let completed = self.completed;
        let record = self.registry.batches.check(batch, || call.into())?;
        Err(wrong_state(format!("{call} of {}", record.name()), expected, record.state(completed)))
    }
}

/// The error of a call that a batch's state does not allow.
#[cold]
fn wrong_state(what: String, expected: &str, found: BatchState) -> Error {
    let found = match found {
        BatchState::Recording => "recording",
        BatchState::Finished => "finished",
        BatchState::Submitted => "submitted",
        BatchState::Discarded => "discarded, and still in flight",
        BatchState::Retired => "discarded and retired",
    };
    state(what, format!("a batch that is {expected}"), format!("one that is {found}"))
}

/// Checks that a batch may be executed.
fn check_executable(
    registry: &Registry,
    batch: CommandBatch,
    what: impl Fn(&str) -> String,
) -> Result<&CommandBatchRecord> {
    let Some(record) = registry.batches.get(batch) else {
        return Err(registry.batches.problem(batch, what("")));
    };
    match record.stage {
        Stage::Finished => Ok(record),
        // Recordings do not ask what the GPU has completed; of these two stages that is no matter.
        stage => {
            let found = if stage == Stage::Recording { BatchState::Recording } else { BatchState::Discarded };
            Err(wrong_state(what(&record.name()), "finished or submitted", found))
        }
    }
}
