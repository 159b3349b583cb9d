//! Tables by slot, and the checks that a slot is created once, destroyed once and not used in between or after.
//!
//! The checks run in debug builds only, and they panic: a breach is a defect of the device above, not an error.

use crate::desc::MemoryClass;
use crate::handle::{MAX_SLOTS, ResourceKind};
use crate::plan::TextureRange;
use crate::types::{Extent3d, TextureDimension, TextureFormat};

/// Whether contracts are checked.
pub(super) const CHECK: bool = cfg!(debug_assertions);

/// What the checks need to know of a resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Info {
    #[default]
    Other,
    Buffer {
        size: u64,
        memory: MemoryClass,
    },
    Texture {
        size: Extent3d,
        dimension: TextureDimension,
        format: TextureFormat,
        range: TextureRange,
    },
    View {
        texture: u32,
        attachable: bool,
    },
    /// What the group binds; known only when uses are tracked.
    Group(Box<[(ResourceKind, u32)]>),
    Queries(u32),
}

/// A slot.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub live: bool,
    /// How many resources the slot has held.
    pub generation: u32,
    /// The last submission that uses it; known only when uses are tracked.
    pub last_use: u64,
    /// Bytes of memory.
    pub bytes: u64,
    /// Kept in debug builds.
    pub label: String,
    pub info: Info,
}

/// The slots of every kind.
#[derive(Debug, Default)]
pub(super) struct Tables {
    kinds: [Vec<Entry>; ResourceKind::ALL.len()],
}

impl Tables {
    /// The slot's entry, whether live or not.
    pub fn entry(&mut self, kind: ResourceKind, slot: u32) -> Option<&mut Entry> {
        self.kinds[kind as usize].get_mut(slot as usize)
    }

    /// Panics unless a resource can be created in the slot.
    pub fn check_empty(&self, kind: ResourceKind, slot: u32) {
        assert!(slot < MAX_SLOTS, "null backend: create: {kind} slot {slot} is past the last, {MAX_SLOTS}");
        if let Some(entry) = self.kinds[kind as usize].get(slot as usize).filter(|entry| entry.live) {
            panic!("null backend: create: {kind} slot {slot} already holds \"{}\"", entry.label);
        }
    }

    /// The resource in a slot. Panics when the slot is empty.
    pub fn live(&self, call: &str, kind: ResourceKind, slot: u32) -> &Entry {
        match self.kinds[kind as usize].get(slot as usize) {
            Some(entry) if entry.live => entry,
            Some(entry) if entry.generation > 0 => {
                panic!("null backend: {call}: {kind} slot {slot} is empty; \"{}\" was destroyed", entry.label)
            }
            _ => panic!("null backend: {call}: {kind} slot {slot} is empty; nothing was ever created there"),
        }
    }

    /// Puts a resource into a slot.
    pub fn insert(&mut self, kind: ResourceKind, slot: u32, label: &str, bytes: u64, info: Info) {
        let table = &mut self.kinds[kind as usize];
        if table.len() <= slot as usize {
            table.resize_with(slot as usize + 1, Entry::default);
        }
        let entry = &mut table[slot as usize];
        entry.live = true;
        entry.generation += 1;
        entry.last_use = 0;
        entry.bytes = bytes;
        entry.info = info;
        if CHECK {
            entry.label.clear();
            entry.label.push_str(label);
        }
    }

    /// Takes a resource out of its slot; its bytes. `None` when there is none, which is a panic in debug builds.
    pub fn remove(&mut self, kind: ResourceKind, slot: u32, completed: u64) -> Option<u64> {
        if CHECK {
            let entry = self.live("destroy", kind, slot);
            assert!(
                entry.last_use <= completed,
                "null backend: destroy: {kind} slot {slot} \"{}\" is in use by submission {}, and only {completed} \
                 is complete",
                entry.label,
                entry.last_use,
            );
        }
        let entry = self.entry(kind, slot).filter(|entry| entry.live)?;
        entry.live = false;
        entry.info = Info::Other;
        Some(std::mem::take(&mut entry.bytes))
    }

    /// Notes that a submission uses a resource and all that it is made of.
    pub fn mark(&mut self, kind: ResourceKind, slot: u32, ordinal: u64) {
        let Some(entry) = self.entry(kind, slot).filter(|entry| entry.live) else { return };
        entry.last_use = ordinal;
        match entry.info.clone() {
            Info::View { texture, .. } => self.mark(ResourceKind::Texture, texture, ordinal),
            Info::Group(parts) => parts.iter().for_each(|&(kind, slot)| self.mark(kind, slot, ordinal)),
            _ => {}
        }
    }
}
