//! The overlay: the ledger's states as they will be once the planned work runs.
//!
//! The first use of a resource copies its record here; planning changes only the copy. Commit writes the copies back,
//! discard forgets them. One call to the planner is a step that can be taken back as well: a copy that existed before
//! the call is saved when the call first touches it.
//!
//! Entries and lookup tables keep their memory. A table cell counts only if its epoch is the current one, so that
//! forgetting costs nothing.

use super::extent::{Extent, Resource};
use super::ledger::Ledger;
use super::runs::Runs;

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// The copy of one record.
#[derive(Debug)]
pub(super) struct Entry {
    pub resource: Resource,
    pub extent: Extent,
    birth: u64,
    /// The states after the planned passes.
    pub now: Runs,
    /// Whether contents changed.
    pub written: bool,
    /// The first use in this call, and the last so far.
    pub head: u32,
    pub tail: u32,
    /// The serial of the last pass that whole-resource planning handled.
    pub pass: u32,
    /// The call that touched the entry last, and what there was before it.
    call: u32,
    saved: Runs,
    saved_written: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    epoch: u32,
    entry: u32,
}

/// Copies of the records in use.
#[derive(Debug)]
pub(super) struct Overlay {
    /// The entries in use come first; the rest is kept for its memory.
    entries: Vec<Entry>,
    used: usize,
    used_before_call: usize,
    buffers: Vec<Cell>,
    textures: Vec<Cell>,
    epoch: u32,
    call: u32,
}

impl Default for Overlay {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            used: 0,
            used_before_call: 0,
            buffers: Vec::new(),
            textures: Vec::new(),
            epoch: 1,
            call: 0,
        }
    }
}

impl Overlay {
    /// Whether nothing is planned.
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The entry with this index.
    pub(super) fn entry(&mut self, index: u32) -> &mut Entry {
        &mut self.entries[index as usize]
    }

    /// The entry of a resource that was touched before.
    pub(super) fn find(&self, resource: Resource) -> Option<u32> {
        let cell = match resource {
            Resource::Buffer(slot) => self.buffers.get(slot as usize),
            Resource::Texture(slot) => self.textures.get(slot as usize),
        }?;
        (cell.epoch == self.epoch).then_some(cell.entry)
    }

    /// The entries that the call has touched, always in the same order.
    pub(super) fn touched(&mut self) -> impl Iterator<Item = &mut Entry> {
        let call = self.call;
        self.entries[..self.used].iter_mut().filter(move |entry| entry.call == call)
    }

    /// Begins a call, which can be taken back.
    pub(super) fn begin_call(&mut self) {
        self.call += 1;
        self.used_before_call = self.used;
    }

    /// Takes back the call.
    pub(super) fn roll_back(&mut self) {
        for index in self.used_before_call..self.used {
            *self.cell(self.entries[index].resource) = Cell::default();
        }
        self.used = self.used_before_call;
        for entry in &mut self.entries[..self.used] {
            if entry.call == self.call {
                entry.now.copy_from(&entry.saved);
                entry.written = entry.saved_written;
            }
        }
    }

    /// The entry of a resource in this call, copied from the ledger if it is new; `None` if the ledger has none, or
    /// no longer the one that was copied.
    pub(super) fn touch(&mut self, ledger: &Ledger, resource: Resource) -> Option<u32> {
        let (epoch, call) = (self.epoch, self.call);
        let (extent, record) = ledger.record(resource)?;
        let cell = *self.cell(resource);
        if cell.epoch == epoch {
            let entry = self.entry(cell.entry);
            if entry.birth != record.birth {
                return None;
            }
            if entry.call != call {
                entry.call = call;
                entry.saved.copy_from(&entry.now);
                entry.saved_written = entry.written;
                entry.head = NONE;
            }
            return Some(cell.entry);
        }
        if self.used == self.entries.len() {
            self.entries.push(Entry {
                resource,
                extent,
                birth: 0,
                now: Runs::default(),
                written: false,
                head: NONE,
                tail: NONE,
                pass: 0,
                call: 0,
                saved: Runs::default(),
                saved_written: false,
            });
        }
        let index = self.used as u32;
        let entry = &mut self.entries[self.used];
        entry.resource = resource;
        entry.extent = extent;
        entry.birth = record.birth;
        entry.now.copy_from(&record.runs);
        entry.written = false;
        entry.head = NONE;
        entry.pass = 0;
        entry.call = call;
        // Taking the call back drops the entry, so there is nothing to save.
        self.used += 1;
        *self.cell(resource) = Cell { epoch, entry: index };
        Some(index)
    }

    /// Writes everything to the ledger and starts afresh.
    pub(super) fn commit(&mut self, ledger: &mut Ledger, ordinal: u64) {
        for entry in &mut self.entries[..self.used] {
            let Some((_, record)) = ledger.record_mut(entry.resource) else { continue };
            if record.birth != entry.birth {
                continue;
            }
            entry.now.clear_marks();
            record.runs.copy_from(&entry.now);
            record.ordinal = ordinal;
            record.revision += u64::from(entry.written);
        }
        self.forget();
    }

    /// Drops everything and starts afresh.
    pub(super) fn forget(&mut self) {
        self.used = 0;
        self.call = 0;
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // The epochs are used up: old cells must not come to life again.
            self.buffers.fill(Cell::default());
            self.textures.fill(Cell::default());
            self.epoch = 1;
        }
    }

    fn cell(&mut self, resource: Resource) -> &mut Cell {
        let (table, slot) = match resource {
            Resource::Buffer(slot) => (&mut self.buffers, slot as usize),
            Resource::Texture(slot) => (&mut self.textures, slot as usize),
        };
        if table.len() <= slot {
            table.resize(slot + 1, Cell::default());
        }
        &mut table[slot]
    }
}
