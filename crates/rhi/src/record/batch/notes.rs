//! What a batch uses: what it keeps alive, and what a pass that executes it must have declared.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::desc::BufferSlice;
use crate::handle::{BindGroup, Buffer, RenderPipeline, ResourceKind};
use crate::plan::{BufferUse, ResourceUse};
use crate::record::declared::Declared;
use crate::registry::{Registry, TrackedBinding};

/// A use of tracked contents: by a group, or of a bound buffer.
#[derive(Debug, Clone, Copy)]
struct Need {
    group: Option<BindGroup>,
    /// From the first to the last byte that the batch's commands reach.
    usage: ResourceUse,
}

/// Where a need comes from: a handle, and which binding of a group or which use of a buffer.
type Source = (u64, u32);

/// Of a batch, or of one recording of it.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Each once.
    pub leases: Vec<(ResourceKind, u32)>,
    leased: FxHashSet<(ResourceKind, u32)>,
    needs: Vec<Need>,
    needed: FxHashMap<Source, u32>,
    /// Groups with tracked contents, each once.
    pub groups: Vec<BindGroup>,
}

impl Notes {
    fn lease(&mut self, kind: ResourceKind, slot: u32) -> bool {
        let is_new = self.leased.insert((kind, slot));
        if is_new {
            self.leases.push((kind, slot));
        }
        is_new
    }

    fn need(&mut self, source: Source, need: Need) {
        match self.needed.get(&source) {
            Some(&at) => widen(&mut self.needs[at as usize].usage, &need.usage),
            None => {
                self.needed.insert(source, self.needs.len() as u32);
                self.needs.push(need);
            }
        }
    }

    /// The handles are live, or the recording has a mistake and its notes go with it.
    pub fn pipeline(&mut self, pipeline: RenderPipeline) {
        self.lease(ResourceKind::RenderPipeline, pipeline.slot());
    }

    pub fn group(&mut self, registry: &Registry, group: BindGroup, offsets: &[u32]) {
        let Some(record) = registry.groups.get(group) else { return };
        let is_new = self.lease(ResourceKind::BindGroup, group.slot());
        if record.tracked.is_empty() {
            return;
        }
        if is_new {
            self.groups.push(group);
        }
        for (number, TrackedBinding { usage, dynamic, .. }) in (0..).zip(&record.tracked) {
            let mut usage = *usage;
            if let (ResourceUse::Buffer { offset, .. }, Some(index)) = (&mut usage, *dynamic) {
                *offset += u64::from(offsets.get(usize::from(index)).copied().unwrap_or(0));
            }
            self.need((group.to_bits(), GROUP + number), Need { group: Some(group), usage });
        }
    }

    pub fn buffer(&mut self, registry: &Registry, slice: BufferSlice, usage: BufferUse) {
        let BufferSlice { buffer, offset, size } = slice;
        let Some(hot) = registry.buffers.hot(buffer) else { return };
        self.lease(ResourceKind::Buffer, buffer.slot());
        if hot.tracked && size > 0 {
            let usage = ResourceUse::Buffer { buffer, offset, size, usage };
            self.need((buffer.to_bits(), number_of(&usage)), Need { group: None, usage });
        }
    }

    /// Adds what another one has; what was not leased before comes last in the leases.
    pub fn append(&mut self, other: &Self) {
        for &group in &other.groups {
            if !self.leased.contains(&(ResourceKind::BindGroup, group.slot())) {
                self.groups.push(group);
            }
        }
        for &(kind, slot) in &other.leases {
            self.lease(kind, slot);
        }
        for (&source, &at) in &other.needed {
            self.need(source, other.needs[at as usize]);
        }
    }

    pub fn clear(&mut self) {
        self.leases.clear();
        self.leased.clear();
        self.needs.clear();
        self.needed.clear();
        self.groups.clear();
    }

    /// What only recording asks is given up, and the needs are brought into an order that no hash decides.
    pub fn finish(&mut self) {
        self.leased = FxHashSet::default();
        self.needed = FxHashMap::default();
        self.needs.sort_by_key(|need| (need.group, resource(&need.usage), number_of(&need.usage)));
        self.needs.shrink_to_fit();
        self.leases.shrink_to_fit();
    }

    /// Uses that a pass declares one by one, those of [`Self::groups`] apart.
    pub fn uses(&self) -> impl Iterator<Item = ResourceUse> {
        self.needs.iter().filter(|need| need.group.is_none()).map(|need| need.usage)
    }

    /// The first use that a pass has not declared, and the group that it is of.
    pub fn undeclared(&self, declared: &mut Declared<'_>) -> Option<(Option<BindGroup>, ResourceUse)> {
        let mut missing = self.needs.iter().filter(|need| {
            !need.group.is_some_and(|group| declared.has_group(group)) && !declared.covers_near(&need.usage)
        });
        missing.next().map(|need| (need.group, need.usage))
    }
}

/// Numbers of a group's bindings begin here, after those of a buffer's uses.
const GROUP: u32 = 3;

/// A buffer's uses, told apart.
fn number_of(usage: &ResourceUse) -> u32 {
    match usage {
        ResourceUse::Buffer { usage: BufferUse::Vertex, .. } => 0,
        ResourceUse::Buffer { usage: BufferUse::Index, .. } => 1,
        ResourceUse::Buffer { usage: BufferUse::Indirect, .. } => 2,
        _ => GROUP,
    }
}

fn resource(usage: &ResourceUse) -> u64 {
    match usage {
        ResourceUse::Buffer { buffer, .. } => Buffer::to_bits(*buffer),
        ResourceUse::Texture { texture, .. } => texture.to_bits(),
    }
}

/// Makes a use of a buffer reach as far as another one does. A group's texture is always used whole.
fn widen(usage: &mut ResourceUse, other: &ResourceUse) {
    if let (
        ResourceUse::Buffer { offset, size, .. },
        ResourceUse::Buffer { offset: other_offset, size: other_size, .. },
    ) = (usage, other)
    {
        let end = (*offset + *size).max(other_offset + other_size);
        *offset = (*offset).min(*other_offset);
        *size = end - *offset;
    }
}
