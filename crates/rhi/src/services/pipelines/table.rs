//! The requests of a device: found by key, counted by tickets, queued for compilation.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::key::Key;
use super::ticket::PipelineCounts;
use super::worker::Worker;
use crate::backend::Backend;
use crate::error::Error;
use crate::handle::{MAX_SLOTS, ResourceKind, ShaderModule};
use crate::label::Label;
use crate::registry::{ComputePipelineRecord, Registry, RenderPipelineRecord};

const SLOT_BITS: u32 = 22;

/// A pipeline that was checked: what the registry will keep of it.
#[derive(Debug)]
pub(super) enum Checked {
    Render(Box<RenderPipelineRecord>),
    Compute(ComputePipelineRecord),
}

impl Checked {
    pub fn kind(&self) -> ResourceKind {
        match self {
            Self::Render(_) => ResourceKind::RenderPipeline,
            Self::Compute(_) => ResourceKind::ComputePipeline,
        }
    }

    pub fn label(&self) -> &Label {
        match self {
            Self::Render(record) => &record.label,
            Self::Compute(record) => &record.label,
        }
    }

    fn leases(&self) -> (u32, &[u32]) {
        match self {
            Self::Render(record) => (record.interface.layout, &record.modules),
            Self::Compute(record) => (record.interface.layout, std::slice::from_ref(&record.module)),
        }
    }

    /// Keeps the layout and the modules; once published, the pipeline keeps them with the same leases.
    pub fn retain(&self, registry: &mut Registry) {
        let (layout, modules) = self.leases();
        registry.pipeline_layouts.retain(layout);
        modules.iter().for_each(|&module| registry.modules.retain(module));
    }

    pub fn release(&self, registry: &mut Registry) {
        let (layout, modules) = self.leases();
        registry.release_after(ResourceKind::PipelineLayout, layout, 0);
        for &module in modules {
            registry.release_after(ResourceKind::ShaderModule, module, 0);
        }
    }
}

#[derive(Debug)]
pub(super) enum Stage {
    /// Waits here.
    Queued(Checked),
    /// The worker has it.
    Compiling(Checked),
    /// The slot and its generation.
    Ready(ResourceKind, u32, u32),
    Failed(Error),
    /// Between two of the others, within one call.
    Moving,
}

#[derive(Debug)]
pub(super) struct Request {
    id: u64,
    hash: u64,
    /// Tickets, clones not counted.
    tickets: u32,
    pub key: Key,
    /// In the order of stages; the leases keep them.
    pub modules: SmallVec<[ShaderModule; 2]>,
    pub stage: Stage,
}

/// The requests of a device.
#[derive(Debug)]
pub(crate) struct Pipelines<B: Backend> {
    slots: Vec<Option<Request>>,
    free: Vec<u32>,
    serial: u64,
    by_hash: FxHashMap<u64, SmallVec<[u32; 1]>>,
    /// Oldest first; what was released since is not there any more.
    pub(super) queued: VecDeque<u64>,
    /// Whether pipelines compile only on the device's thread.
    pub(super) alone: bool,
    pub(super) worker: Option<Worker<B::Compiled>>,
    pub(super) counts: PipelineCounts,
    /// Bits of hashes that count; tests clear them.
    pub(super) mask: u64,
}

impl<B: Backend> Default for Pipelines<B> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            serial: 0,
            by_hash: FxHashMap::default(),
            queued: VecDeque::new(),
            alone: false,
            worker: None,
            counts: PipelineCounts::default(),
            mask: !0,
        }
    }
}

fn slot_of(id: u64) -> usize {
    (id & u64::from(MAX_SLOTS)) as usize
}

impl<B: Backend> Pipelines<B> {
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.counts.pending > 0
    }

    pub(crate) fn created(&mut self) {
        self.counts.created += 1;
    }

    pub(super) fn get(&self, id: u64) -> Option<&Request> {
        self.slots.get(slot_of(id))?.as_ref().filter(|request| request.id == id)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Request> {
        self.slots.get_mut(slot_of(id))?.as_mut().filter(|request| request.id == id)
    }

    /// An equal request, with one ticket more.
    pub(super) fn share(&mut self, key: &Key) -> Option<u64> {
        let hash = key.hash() & self.mask;
        let Self { slots, by_hash, counts, .. } = self;
        let same = by_hash.get(&hash)?.iter().find_map(|&slot| {
            let request = slots.get(slot as usize)?.as_ref()?;
            (request.key == *key).then_some(slot)
        })?;
        let request = slots.get_mut(same as usize)?.as_mut()?;
        request.tickets += 1;
        counts.shared += 1;
        Some(request.id)
    }

    /// Adds a request with one ticket; `None` when there are as many as there can be.
    pub(super) fn insert(
        &mut self,
        key: Key,
        modules: SmallVec<[ShaderModule; 2]>,
        checked: Checked,
    ) -> Option<u64> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u32::try_from(self.slots.len()).ok().filter(|slot| *slot < MAX_SLOTS)?;
                self.slots.push(None);
                slot
            }
        };
        self.serial += 1;
        let id = self.serial << SLOT_BITS | u64::from(slot);
        let hash = key.hash() & self.mask;
        self.by_hash.entry(hash).or_default().push(slot);
        let stage = Stage::Queued(checked);
        self.slots[slot as usize] = Some(Request { id, hash, tickets: 1, key, modules, stage });
        self.queued.push_back(id);
        self.counts.pending += 1;
        Some(id)
    }

    /// Takes a request's stage to give it another one.
    pub(super) fn take_stage(&mut self, id: u64) -> Option<Stage> {
        Some(std::mem::replace(&mut self.get_mut(id)?.stage, Stage::Moving))
    }

    /// Gives a request its next stage. One without tickets goes when it has ended.
    pub(super) fn set_stage(&mut self, id: u64, stage: Stage) {
        match &stage {
            Stage::Ready(..) => {
                self.counts.pending -= 1;
                self.counts.ready += 1;
            }
            Stage::Failed(_) => {
                self.counts.pending -= 1;
                self.counts.failed += 1;
            }
            _ => {}
        }
        if let Some(request) = self.get_mut(id) {
            request.stage = stage;
        }
    }

    /// Whether some ticket names the request still.
    pub(super) fn is_wanted(&self, id: u64) -> bool {
        self.get(id).is_some_and(|request| request.tickets > 0)
    }

    /// Forgets a request that was compiled for nobody.
    pub(super) fn forget(&mut self, id: u64) {
        self.counts.pending -= 1;
        self.remove(id);
    }

    fn remove(&mut self, id: u64) {
        let Some(request) = self.slots.get_mut(slot_of(id)).and_then(Option::take) else { return };
        let slot = slot_of(id) as u32;
        if let Some(slots) = self.by_hash.get_mut(&request.hash) {
            slots.retain(|other| *other != slot);
            if slots.is_empty() {
                self.by_hash.remove(&request.hash);
            }
        }
        self.free.push(slot);
    }

    /// Reads that a ticket was dropped. With the last one goes the pipeline, or what would have become of it; what the worker
    /// has is waited for.
    pub(crate) fn released(&mut self, id: u64, registry: &mut Registry, submitted: u64) {
        let Some(request) = self.get_mut(id) else { return };
        request.tickets -= 1;
        if request.tickets > 0 {
            return;
        }
        match &request.stage {
            Stage::Queued(checked) => {
                checked.release(registry);
                self.counts.pending -= 1;
                self.queued.retain(|queued| *queued != id);
            }
            Stage::Compiling(_) | Stage::Moving => return,
            &Stage::Ready(kind, slot, generation) => {
                registry.destroy(kind, slot, generation, submitted);
                self.counts.ready -= 1;
            }
            Stage::Failed(_) => self.counts.failed -= 1,
        }
        self.remove(id);
    }
}
