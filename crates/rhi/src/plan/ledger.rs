//! The ledger: what the device knows about every part of every buffer and texture.
//!
//! One per device. Whatever runs on the device plans from it and, once the work was accepted, commits to it through
//! [`super::Planner`]; there is no second tracker. It answers three questions: are these contents defined, what is
//! this subresource's layout, and when was this resource last used or changed. Queries about a slot that holds
//! nothing answer "not defined", zero or `None`.
//!
//! **Vocabulary.** A *revision* counts how often the contents of a resource changed; who derives something from a
//! resource keeps the revision beside it. An *ordinal* is the number of a submission, counted from one; zero is none.
//!
//! **Contract.** A planner copies a resource's state when it first plans with it and writes it back when it commits.
//! Between the two, nothing else may change that resource's state here; removal is allowed and wins.

use super::access::{Aspects, Layout, Scope, Stages, TextureRange};
use super::extent::{Extent, Part, Resource};
use super::pairs::Pairs;
use super::runs::{Runs, State};

/// What is known about a texture that something else has used: another API, another process, a swapchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureState {
    /// The layout that it is in.
    pub layout: Layout,
    /// What the next use must wait for: the last write where it was made here, or the stages that wait for the
    /// semaphore that guards it, with no access. [`Scope::NONE`] when there is nothing to wait for.
    pub after: Scope,
    /// Whether the contents may be read. A texture in [`Layout::Undefined`] never has contents.
    pub defined: bool,
}

impl TextureState {
    fn state(self) -> State {
        let write = Scope::new(self.after.stages, self.after.access.writes());
        let defined = self.defined && self.layout != Layout::Undefined;
        State { write, visible: Pairs::NONE, readers: Stages::empty(), layout: self.layout, defined }
    }
}

/// What the device knows of its resources' states.
#[derive(Debug, Default)]
pub struct Ledger {
    buffers: Vec<Record>,
    textures: Vec<Record>,
    births: u64,
}

/// One slot.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// `None` while the slot is empty.
    pub extent: Option<Extent>,
    /// The states.
    pub runs: Runs,
    /// Tells the slot's occupants apart.
    pub birth: u64,
    /// How often contents changed.
    pub revision: u64,
    /// The last submission that used the resource.
    pub ordinal: u64,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters a fresh buffer of `size` bytes, with undefined contents. Whatever was in the slot is forgotten.
    pub fn add_buffer(&mut self, slot: u32, size: u64) {
        self.add(Resource::Buffer(slot), Extent::Bytes(size), State::FRESH);
    }

    /// Enters a fresh texture, in [`Layout::Undefined`] with undefined contents. Whatever was in the slot is forgotten.
    pub fn add_texture(&mut self, slot: u32, aspects: Aspects, mips: u32, layers: u32) {
        self.add(Resource::Texture(slot), Extent::Subresources { aspects, mips, layers }, State::FRESH);
    }

    /// Enters a texture that exists already. Its state cannot be guessed, so it must be given.
    pub fn import_texture(
        &mut self,
        slot: u32,
        aspects: Aspects,
        mips: u32,
        layers: u32,
        state: TextureState,
    ) {
        self.add(Resource::Texture(slot), Extent::Subresources { aspects, mips, layers }, state.state());
    }

    /// Empties the slot of a buffer. Plans that hold the buffer no longer commit anything for it.
    pub fn remove_buffer(&mut self, slot: u32) {
        self.remove(Resource::Buffer(slot));
    }

    /// Empties the slot of a texture. Plans that hold the texture no longer commit anything for it.
    pub fn remove_texture(&mut self, slot: u32) {
        self.remove(Resource::Texture(slot));
    }

    /// Marks bytes as written by the CPU before the submissions to come, which see them without a barrier. Returns
    /// whether the range lies in the buffer; if not, nothing changes.
    pub fn define_buffer(&mut self, slot: u32, offset: u64, size: u64) -> bool {
        let part = Part::Bytes { offset, size };
        self.change(Resource::Buffer(slot), part, |state| state.defined = true)
    }

    /// Makes the contents of a range undefined. Returns whether the range lies in the texture; if not, nothing changes.
    pub fn discard_texture(&mut self, slot: u32, range: &TextureRange) -> bool {
        self.change(Resource::Texture(slot), Part::Subresources(*range), |state| state.defined = false)
    }

    /// States what happened to a range outside of all plans: an acquired swapchain image, a texture that comes back
    /// from another API. Returns whether the range lies in the texture; if not, nothing changes.
    pub fn set_texture_state(&mut self, slot: u32, range: &TextureRange, state: TextureState) -> bool {
        self.change(Resource::Texture(slot), Part::Subresources(*range), |old| *old = state.state())
    }

    /// Whether every byte of the range is defined. An empty range in the buffer is.
    pub fn buffer_defined(&self, slot: u32, offset: u64, size: u64) -> bool {
        self.defined(Resource::Buffer(slot), Part::Bytes { offset, size })
    }

    /// Whether every subresource of the range is defined.
    pub fn texture_defined(&self, slot: u32, range: &TextureRange) -> bool {
        self.defined(Resource::Texture(slot), Part::Subresources(*range))
    }

    /// The layout of one subresource; `aspect` is a single one.
    pub fn texture_layout(&self, slot: u32, aspect: Aspects, mip: u32, layer: u32) -> Option<Layout> {
        let range = TextureRange { aspects: aspect, base_mip: mip, mips: 1, base_layer: layer, layers: 1 };
        let (extent, record) = self.record(Resource::Texture(slot))?;
        let part = Part::Subresources(range);
        if !extent.contains(&part) || aspect.bits().count_ones() != 1 {
            return None;
        }
        let (start, end) = extent.intervals(part).next()?;
        record.runs.covering(start, end).first().map(|run| run.state.layout)
    }

    /// How often committed plans changed the buffer's contents.
    pub fn buffer_revision(&self, slot: u32) -> u64 {
        self.record(Resource::Buffer(slot)).map_or(0, |(_, record)| record.revision)
    }

    /// How often committed plans changed the texture's contents.
    pub fn texture_revision(&self, slot: u32) -> u64 {
        self.record(Resource::Texture(slot)).map_or(0, |(_, record)| record.revision)
    }

    /// The last submission that used the buffer; zero for none.
    pub fn buffer_ordinal(&self, slot: u32) -> u64 {
        self.record(Resource::Buffer(slot)).map_or(0, |(_, record)| record.ordinal)
    }

    /// The last submission that used the texture; zero for none.
    pub fn texture_ordinal(&self, slot: u32) -> u64 {
        self.record(Resource::Texture(slot)).map_or(0, |(_, record)| record.ordinal)
    }

    /// The occupied record of the resource.
    pub(super) fn record(&self, resource: Resource) -> Option<(Extent, &Record)> {
        let record = match resource {
            Resource::Buffer(slot) => self.buffers.get(slot as usize),
            Resource::Texture(slot) => self.textures.get(slot as usize),
        }?;
        Some((record.extent?, record))
    }

    /// The occupied record of the resource, to change it.
    pub(super) fn record_mut(&mut self, resource: Resource) -> Option<(Extent, &mut Record)> {
        let record = match resource {
            Resource::Buffer(slot) => self.buffers.get_mut(slot as usize),
            Resource::Texture(slot) => self.textures.get_mut(slot as usize),
        }?;
        Some((record.extent?, record))
    }

    fn add(&mut self, resource: Resource, extent: Extent, state: State) {
        let (table, slot) = match resource {
            Resource::Buffer(slot) => (&mut self.buffers, slot as usize),
            Resource::Texture(slot) => (&mut self.textures, slot as usize),
        };
        if table.len() <= slot {
            table.resize_with(slot + 1, Record::default);
        }
        self.births += 1;
        let record = &mut table[slot];
        record.extent = Some(extent);
        record.runs.reset(extent.cells(), state);
        record.birth = self.births;
        record.revision = 0;
        record.ordinal = 0;
    }

    fn remove(&mut self, resource: Resource) {
        if let Some((_, record)) = self.record_mut(resource) {
            record.extent = None;
        }
    }

    fn change(&mut self, resource: Resource, part: Part, change: impl Fn(&mut State)) -> bool {
        let Some((extent, record)) = self.record_mut(resource) else { return false };
        if !extent.contains(&part) {
            return false;
        }
        for (start, end) in extent.intervals(part) {
            let range = record.runs.isolate(start, end);
            for run in &mut record.runs.all_mut()[range] {
                change(&mut run.state);
            }
            record.runs.coalesce(start, end);
        }
        record.revision += 1;
        true
    }

    fn defined(&self, resource: Resource, part: Part) -> bool {
        self.record(resource).is_some_and(|(extent, record)| {
            extent.contains(&part)
                && extent
                    .intervals(part)
                    .all(|(start, end)| record.runs.covering(start, end).iter().all(|run| run.state.defined))
        })
    }
}
