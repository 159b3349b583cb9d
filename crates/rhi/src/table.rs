//! One kind's slots: generations, records, and who still needs them.
//!
//! The life of a slot: *free*, *live* (a handle names it), *retiring* (destroyed; kept for dependents or the GPU),
//! then *free* again under the next generation. A slot whose generations are used up stays retired.
//!
//! `live` is the hot table: a handle is valid exactly when the slot's row holds its bits. Beside them lies what commands
//! ask of a resource, so that binding one costs one cache line.

use crate::error::{Error, HandleProblem, Result};
use crate::handle::{DeviceTag, Handle, MAX_GENERATION, ResourceKind, kind::Kind, split};

/// What every record has.
pub(crate) trait Record {
    /// What commands ask of a resource, copied from the record when it is inserted.
    type Hot: Copy + Default + std::fmt::Debug;

    fn label(&self) -> &str;
    fn hot(&self) -> Self::Hot;
}

/// The bits of the live handle, zero when there is none, and what its commands need.
#[derive(Debug, Clone, Copy, Default)]
struct Row<H> {
    bits: u64,
    hot: H,
}

#[derive(Debug)]
struct Slot<R> {
    generation: u32,
    /// Dependents and leases that keep the record after destruction.
    retained: u32,
    record: Option<R>,
}

#[derive(Debug)]
pub(crate) struct Table<R: Record> {
    tag: DeviceTag,
    kind: ResourceKind,
    ceiling: u32,
    live: Vec<Row<R::Hot>>,
    slots: Vec<Slot<R>>,
    free: Vec<u32>,
    count: u32,
    peak: u32,
}

impl<R: Record> Table<R> {
    pub(crate) fn new(tag: DeviceTag, kind: ResourceKind, ceiling: u32) -> Self {
        Self { tag, kind, ceiling, live: Vec::new(), slots: Vec::new(), free: Vec::new(), count: 0, peak: 0 }
    }

    /// The slot that the next [`Self::insert`] will use. Nothing changes yet, so the backend can fail in between.
    pub(crate) fn next_slot(&self) -> Result<u32> {
        if self.count >= self.ceiling {
            return Err(Error::CapacityExceeded {
                what: format!("{} slots", self.kind),
                requested: u64::from(self.count) + 1,
                capacity: u64::from(self.ceiling),
            });
        }
        match self.free.last() {
            Some(&slot) => Ok(slot),
            None if self.slots.len() as u64 >= u64::from(crate::handle::MAX_SLOTS) => {
                Err(Error::CapacityExceeded {
                    what: format!("{} slots", self.kind),
                    requested: self.slots.len() as u64 + 1,
                    capacity: u64::from(crate::handle::MAX_SLOTS),
                })
            }
            None => Ok(self.slots.len() as u32),
        }
    }

    /// Fills the slot that [`Self::next_slot`] answered.
    pub(crate) fn insert<K: Kind>(&mut self, record: R) -> Handle<K> {
        debug_assert_eq!(K::KIND, self.kind);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Slot { generation: 1, retained: 0, record: None });
                self.live.push(Row::default());
                (self.slots.len() - 1) as u32
            }
        };
        let entry = &mut self.slots[slot as usize];
        let handle = Handle::new(self.tag, slot, entry.generation);
        self.live[slot as usize] = Row { bits: handle.to_bits(), hot: record.hot() };
        entry.record = Some(record);
        self.count += 1;
        self.peak = self.peak.max(self.count);
        handle
    }

    #[inline]
    pub(crate) fn is_live<K: Kind>(&self, handle: Handle<K>) -> bool {
        self.hot(handle).is_some()
    }

    /// What commands ask of the resource behind a handle.
    #[inline]
    pub(crate) fn hot<K: Kind>(&self, handle: Handle<K>) -> Option<&R::Hot> {
        match self.live.get(handle.slot() as usize) {
            Some(row) if row.bits == handle.to_bits() => Some(&row.hot),
            _ => None,
        }
    }

    /// The record behind a handle.
    #[inline]
    pub(crate) fn get<K: Kind>(&self, handle: Handle<K>) -> Option<&R> {
        if self.is_live(handle) { self.slots[handle.slot() as usize].record.as_ref() } else { None }
    }

    /// The record behind a handle, or an error that names `what` used it.
    #[inline]
    pub(crate) fn check<K: Kind>(&self, handle: Handle<K>, what: impl FnOnce() -> String) -> Result<&R> {
        match self.get(handle) {
            Some(record) => Ok(record),
            None => Err(self.problem(handle, what())),
        }
    }

    #[cold]
    pub(crate) fn problem<K: Kind>(&self, handle: Handle<K>, what: String) -> Error {
        let problem = if handle.device() == self.tag { HandleProblem::Stale } else { HandleProblem::Foreign };
        // The label survives while the record does: until the GPU and all dependents are done with it.
        let label = match self.slots.get(handle.slot() as usize) {
            Some(slot) if problem == HandleProblem::Stale && slot.generation == handle.generation() => {
                slot.record.as_ref().map(|record| format!(" \"{}\"", record.label()))
            }
            _ => None,
        };
        Error::InvalidHandle { what, handle: format!("{handle:?}{}", label.unwrap_or_default()), problem }
    }

    /// The record in a slot that the caller knows to be occupied.
    #[inline]
    pub(crate) fn at(&self, slot: u32) -> Option<&R> {
        self.slots.get(slot as usize).and_then(|slot| slot.record.as_ref())
    }

    /// The same, to change it.
    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<&mut R> {
        self.slots.get_mut(slot as usize).and_then(|slot| slot.record.as_mut())
    }

    /// The handle of an occupied slot that has not been destroyed.
    pub(crate) fn handle_at<K: Kind>(&self, slot: u32) -> Option<Handle<K>> {
        match self.live.get(slot as usize) {
            Some(row) if row.bits != 0 => Some(Handle::new(self.tag, slot, split(row.bits).1)),
            _ => None,
        }
    }

    pub(crate) fn retain(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.retained += 1;
        }
    }

    pub(crate) fn release(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            debug_assert!(slot.retained > 0, "a {} is released more often than retained", self.kind);
            slot.retained = slot.retained.saturating_sub(1);
        }
    }

    pub(crate) fn is_retained(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|slot| slot.retained > 0)
    }

    /// Makes every handle of the slot stale; whether it was live. The record stays until [`Self::remove`].
    pub(crate) fn destroy(&mut self, slot: u32, generation: u32) -> bool {
        match self.live.get_mut(slot as usize) {
            Some(row) if row.bits != 0 && split(row.bits).1 == generation => {
                row.bits = 0;
                true
            }
            _ => false,
        }
    }

    /// Makes every handle stale.
    pub(crate) fn destroy_all(&mut self) {
        self.live.fill(Row::default());
    }

    /// Takes the record out and frees the slot for the next generation.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<R> {
        let entry = self.slots.get_mut(slot as usize)?;
        let record = entry.record.take()?;
        self.count -= 1;
        if entry.generation < MAX_GENERATION {
            entry.generation += 1;
            self.free.push(slot);
        }
        Some(record)
    }

    /// Occupied slots, live or retiring.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The most occupied slots so far.
    pub(crate) fn peak(&self) -> u32 {
        self.peak
    }

    /// Every occupied slot.
    pub(crate) fn occupied(&self) -> impl Iterator<Item = (u32, &R)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| Some((i as u32, slot.record.as_ref()?)))
    }

    #[cfg(test)]
    pub(crate) fn set_generation(&mut self, slot: u32, generation: u32) {
        self.slots[slot as usize].generation = generation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{Buffer, kind};

    struct Named(&'static str);
    impl Record for Named {
        type Hot = ();
        fn label(&self) -> &str {
            self.0
        }
        fn hot(&self) {}
    }

    fn table() -> Table<Named> {
        Table::new(DeviceTag(3), ResourceKind::Buffer, 100)
    }

    #[test]
    fn a_reused_slot_does_not_answer_to_its_old_handle() {
        let mut table = table();
        let a: Buffer = table.insert(Named("a"));
        assert!(table.destroy(a.slot(), a.generation()));
        assert!(!table.destroy(a.slot(), a.generation()), "a second destruction finds nothing");
        assert!(table.get(a).is_none());
        assert!(table.problem(a, "test".into()).to_string().contains("\"a\""), "the label is still known");
        table.remove(a.slot());
        let b: Buffer = table.insert(Named("b"));
        assert_eq!(a.slot(), b.slot());
        assert!(table.get(a).is_none() && table.get(b).is_some());
        assert!(!table.problem(a, "test".into()).to_string().contains('"'), "nor to its new label");
    }

    #[test]
    fn an_exhausted_slot_retires_for_good() {
        let mut table = table();
        let a: Buffer = table.insert(Named("a"));
        table.destroy(a.slot(), a.generation());
        table.set_generation(0, MAX_GENERATION);
        table.remove(0);
        let b: Buffer = table.insert(Named("b"));
        assert_eq!(b.slot(), 1, "generations never wrap");
    }

    #[test]
    fn foreign_handles_are_told_apart_from_stale_ones() {
        let table = table();
        let foreign: Handle<kind::Buffer> = Handle::new(DeviceTag(4), 0, 1);
        let error = table.problem(foreign, "test".into());
        assert!(matches!(error, Error::InvalidHandle { problem: HandleProblem::Foreign, .. }));
    }

    #[test]
    fn the_ceiling_holds() {
        let mut table: Table<Named> = Table::new(DeviceTag(3), ResourceKind::Buffer, 2);
        for _ in 0..2 {
            table.next_slot().unwrap();
            let _: Buffer = table.insert(Named(""));
        }
        assert!(matches!(table.next_slot(), Err(Error::CapacityExceeded { requested: 3, capacity: 2, .. })));
    }
}
