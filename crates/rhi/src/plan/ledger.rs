//! The ledger: what the device knows about every part of every buffer and texture.
//!
//! One per device. Whatever runs on the device plans from it and, once the work was accepted, commits to it through
//! [`super::Planner`]; there is no second tracker. It answers three questions: are these contents defined, what is
//! this subresource's layout, and when was this resource last used or changed. Queries about a slot that holds
//! nothing answer "not defined", zero or `None`.
//!
//! **Vocabulary.** A *revision* counts the uses that changed the contents of a resource; who derives something from a
//! resource keeps the revision beside it. An *ordinal* is the number of a submission, counted from one; zero is none.
//!
//! **Contract.** A planner changes the records in place, and [what they were](super::undo) can be put back until it
//! commits. Until then the queries answer as of the last commit, and nothing else may change the state of a resource
//! that was planned with; removal is allowed and wins.

use super::access::{Aspects, Layout, Scope, Stages, TextureRange};
use super::again::Again;
use super::extent::{Extent, Part, Resource};
use super::leases::{Leases, Owner};
use super::pairs::Pairs;
use super::runs::{Run, Runs, State, covering};
use super::undo::Undo;

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
#[derive(Debug)]
pub struct Ledger {
    pub(super) buffers: Vec<Record>,
    pub(super) textures: Vec<Record>,
    births: u32,
    /// The ordinal of the submission to come. Greater than that of every commit.
    pub(super) next: u64,
    pub(super) undo: Undo,
    pub(super) leases: Leases,
    pub(super) again: Again,
}

/// One slot, in one cache line: a frame may touch thousands, in no order.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Record {
    /// The states.
    pub runs: Runs,
    /// The last submission that used the resource; the one to come for a resource that was planned with. A lease
    /// may know of a later one.
    pub stamp: u64,
    /// How many uses changed contents, but for those of a lease.
    pub revision: u64,
    shape: Shape,
    /// Tells the slot's occupants apart.
    pub birth: u32,
    /// The newest entry in what can be taken back, if planned with.
    pub touched: u32,
    /// Who used the resource last. Only a lease is certain: the rest is a guess at who may come to lease it.
    pub owner: Owner,
}

/// A record and what changes with it.
pub(super) struct Parts<'l> {
    pub record: &'l mut Record,
    pub undo: &'l mut Undo,
    pub leases: &'l mut Leases,
}

const _: () = assert!(size_of::<Record>() == 64);

/// An [`Extent`] in four bytes: aspects from bit 29, mips from bit 24, layers. A buffer has no aspects, and its size is
/// in its runs. An empty slot is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Shape(u32);

impl Shape {
    const EMPTY: Shape = Shape(0);
    const MIPS: u32 = (1 << 5) - 1;
    const LAYERS: u32 = (1 << 24) - 1;

    fn of(extent: Extent) -> Self {
        match extent {
            Extent::Bytes(_) => Shape(1),
            Extent::Subresources { aspects, mips, layers } => {
                debug_assert!(!aspects.is_empty() && mips <= Self::MIPS && layers <= Self::LAYERS);
                Shape(u32::from(aspects.bits()) << 29 | mips.min(Self::MIPS) << 24 | layers.min(Self::LAYERS))
            }
        }
    }
}

impl Record {
    /// How large the resource is.
    #[inline]
    pub(super) fn extent(&self) -> Extent {
        let aspects = Aspects::from_bits_retain((self.shape.0 >> 29) as u8);
        if aspects.is_empty() {
            return Extent::Bytes(self.runs.cells());
        }
        let mips = self.shape.0 >> 24 & Shape::MIPS;
        Extent::Subresources { aspects, mips, layers: self.shape.0 & Shape::LAYERS }
    }

    /// Whether the slot holds a resource.
    #[inline]
    pub(super) fn is_occupied(&self) -> bool {
        self.shape != Shape::EMPTY
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            buffers: Vec::new(),
            textures: Vec::new(),
            births: 0,
            next: 1,
            undo: Undo::default(),
            leases: Leases::default(),
            again: Again::default(),
        }
    }
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
        let resource = Resource::Texture(slot);
        let record = self.record(resource)?;
        let part = Part::Subresources(range);
        if !record.extent().contains(&part) || aspect.bits().count_ones() != 1 {
            return None;
        }
        let (start, end) = record.extent().intervals(part).next()?;
        self.committed(resource, record, |runs, _, _| {
            covering(runs, start, end).first().map(|run| run.state.layout)
        })
    }

    /// The layout that the first subresource of a texture will be in after all that is planned; `None` when nothing
    /// planned uses the texture.
    pub(crate) fn planned_layout(&self, slot: u32) -> Option<Layout> {
        let record = self.record(Resource::Texture(slot)).filter(|record| record.stamp == self.next)?;
        record.runs.all().first().map(|run| run.state.layout)
    }

    /// How many uses of committed plans changed the buffer's contents.
    pub fn buffer_revision(&self, slot: u32) -> u64 {
        self.history(Resource::Buffer(slot)).1
    }

    /// How many uses of committed plans changed the texture's contents.
    pub fn texture_revision(&self, slot: u32) -> u64 {
        self.history(Resource::Texture(slot)).1
    }

    /// The last submission that used the buffer; zero for none.
    pub fn buffer_ordinal(&self, slot: u32) -> u64 {
        self.history(Resource::Buffer(slot)).0
    }

    /// The last submission that used the texture; zero for none.
    pub fn texture_ordinal(&self, slot: u32) -> u64 {
        self.history(Resource::Texture(slot)).0
    }

    fn history(&self, resource: Resource) -> (u64, u64) {
        self.record(resource).map_or((0, 0), |record| {
            self.committed(resource, record, |_, ordinal, revision| (ordinal, revision))
        })
    }

    /// The occupied record of the resource.
    pub(super) fn record(&self, resource: Resource) -> Option<&Record> {
        match resource {
            Resource::Buffer(slot) => self.buffers.get(slot as usize),
            Resource::Texture(slot) => self.textures.get(slot as usize),
        }
        .filter(|record| record.is_occupied())
    }

    /// The occupied record of the resource, to change it.
    #[inline]
    pub(super) fn record_mut(&mut self, resource: Resource) -> Option<&mut Record> {
        self.parts(resource).map(|parts| parts.record)
    }

    /// The occupied record of the resource, and what changes with it.
    #[inline]
    pub(super) fn parts(&mut self, resource: Resource) -> Option<Parts<'_>> {
        let record = match resource {
            Resource::Buffer(slot) => self.buffers.get_mut(slot as usize),
            Resource::Texture(slot) => self.textures.get_mut(slot as usize),
        }?;
        let (undo, leases) = (&mut self.undo, &mut self.leases);
        if record.is_occupied() { Some(Parts { record, undo, leases }) } else { None }
    }

    /// Ends the lease of the resource, whatever happens to it next.
    fn end_lease_of(&mut self, resource: Resource) {
        if let Some(lease) = self.record(resource).and_then(|record| record.owner.lease()) {
            self.end_lease(lease);
        }
    }

    /// The record of a resource that was touched.
    #[inline]
    pub(super) fn at(&mut self, resource: Resource) -> &mut Record {
        match resource {
            Resource::Buffer(slot) => &mut self.buffers[slot as usize],
            Resource::Texture(slot) => &mut self.textures[slot as usize],
        }
    }

    fn add(&mut self, resource: Resource, extent: Extent, state: State) {
        self.end_lease_of(resource);
        let (table, slot) = match resource {
            Resource::Buffer(slot) => (&mut self.buffers, slot as usize),
            Resource::Texture(slot) => (&mut self.textures, slot as usize),
        };
        if table.len() <= slot {
            table.resize_with(slot + 1, Record::default);
        }
        self.births = self.births.wrapping_add(1);
        let record = &mut table[slot];
        record.shape = Shape::of(extent);
        record.runs.reset(extent.cells(), state);
        record.birth = self.births;
        record.revision = 0;
        record.stamp = 0;
        record.owner = Owner::NONE;
    }

    fn remove(&mut self, resource: Resource) {
        self.end_lease_of(resource);
        if let Some(record) = self.record_mut(resource) {
            record.shape = Shape::EMPTY;
        }
    }

    fn change(&mut self, resource: Resource, part: Part, change: impl Fn(&mut State)) -> bool {
        let Some(record) = self.record_mut(resource) else { return false };
        let extent = record.extent();
        if !extent.contains(&part) {
            return false;
        }
        self.end_lease_of(resource);
        let record = self.at(resource);
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
        self.record(resource).is_some_and(|record| {
            let extent = record.extent();
            let defined = |runs: &[Run]| {
                let mut intervals = extent.intervals(part);
                intervals.all(|(start, end)| covering(runs, start, end).iter().all(|run| run.state.defined))
            };
            extent.contains(&part) && self.committed(resource, record, |runs, _, _| defined(runs))
        })
    }
}
