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
    /// The submission that the last lease ended with.
    until: u64,
    occupied: bool,
    /// Destroyed, done with by the GPU, and still retained: the last release frees it.
    waiting: bool,
    /// An empty slot may keep a record for what it has allocated: see [`Table::spare`].
    record: Option<R>,
}

/// What a destroyed slot still waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing: it can go.
    No,
    /// This submission.
    Until(u64),
    /// A dependent or a lease, whose release says so.
    Retained,
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

    /// The slot that the next [`Self::insert`] will use. Nothing is used up yet, so the backend can fail in between.
    #[inline]
    pub(crate) fn next_slot(&mut self) -> Result<u32> {
        if self.count >= self.ceiling {
            return Err(self.full(self.count, self.ceiling));
        }
        match self.free.last() {
            Some(&slot) => Ok(slot),
            None => self.grow(),
        }
    }

    /// Adds an empty slot.
    #[cold]
    fn grow(&mut self) -> Result<u32> {
        let slot = self.slots.len() as u32;
        if slot >= crate::handle::MAX_SLOTS {
            return Err(self.full(slot, crate::handle::MAX_SLOTS));
        }
        self.slots.push(Slot {
            generation: 1,
            retained: 0,
            until: 0,
            occupied: false,
            waiting: false,
            record: None,
        });
        self.live.push(Row::default());
        self.free.push(slot);
        Ok(slot)
    }

    #[cold]
    fn full(&self, count: u32, most: u32) -> Error {
        Error::CapacityExceeded {
            what: format!("{} slots", self.kind),
            requested: u64::from(count) + 1,
            capacity: u64::from(most),
        }
    }

    /// Fills the slot that [`Self::next_slot`] answered.
    pub(crate) fn insert<K: Kind>(&mut self, slot: u32, record: R) -> Handle<K> {
        self.slots[slot as usize].record = Some(record);
        self.insert_spare(slot)
    }

    /// The record that a former occupant left in the slot that [`Self::next_slot`] answered, or a `fresh` one: to be
    /// filled in place, so that it keeps what it has allocated.
    pub(crate) fn spare(&mut self, slot: u32, fresh: impl FnOnce() -> R) -> &mut R {
        self.slots[slot as usize].record.get_or_insert_with(fresh)
    }

    /// Makes the slot live with the record that lies in it.
    #[inline]
    pub(crate) fn insert_spare<K: Kind>(&mut self, slot: u32) -> Handle<K> {
        debug_assert_eq!(K::KIND, self.kind);
        debug_assert_eq!(self.free.last(), Some(&slot), "the slot is the next one");
        self.free.pop();
        let entry = &mut self.slots[slot as usize];
        entry.occupied = true;
        let handle = Handle::new(self.tag, slot, entry.generation);
        let hot = entry.record.as_ref().map(R::hot).unwrap_or_default();
        self.live[slot as usize] = Row { bits: handle.to_bits(), hot };
        self.count += 1;
        self.peak = self.peak.max(self.count);
        handle
    }

    /// Copies anew what commands ask of a live resource.
    pub(crate) fn refresh(&mut self, slot: u32) {
        let (Some(row), Some(entry)) = (self.live.get_mut(slot as usize), self.slots.get(slot as usize))
        else {
            return;
        };
        if row.bits != 0 {
            row.hot = entry.record.as_ref().map(R::hot).unwrap_or_default();
        }
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

    /// What commands ask of the live resource in a slot.
    #[inline]
    pub(crate) fn hot_at(&self, slot: u32) -> Option<&R::Hot> {
        self.live.get(slot as usize).filter(|row| row.bits != 0).map(|row| &row.hot)
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
            Some(slot)
                if problem == HandleProblem::Stale
                    && slot.occupied
                    && slot.generation == handle.generation() =>
            {
                slot.record.as_ref().map(|record| format!(" \"{}\"", record.label()))
            }
            _ => None,
        };
        Error::InvalidHandle { what, handle: format!("{handle:?}{}", label.unwrap_or_default()), problem }
    }

    /// The record in a slot that the caller knows to be occupied.
    #[inline]
    pub(crate) fn at(&self, slot: u32) -> Option<&R> {
        self.slots.get(slot as usize).filter(|slot| slot.occupied)?.record.as_ref()
    }

    /// The same, to change it.
    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<&mut R> {
        self.slots.get_mut(slot as usize).filter(|slot| slot.occupied)?.record.as_mut()
    }

    /// Whether the resource that a handle of this device names or named is in its slot still, live or retiring.
    pub(crate) fn is_there<K: Kind>(&self, handle: Handle<K>) -> bool {
        let slot = self.slots.get(handle.slot() as usize);
        slot.is_some_and(|slot| slot.occupied && slot.generation == handle.generation())
    }

    /// The handle of an occupied slot that has not been destroyed.
    pub(crate) fn handle_at<K: Kind>(&self, slot: u32) -> Option<Handle<K>> {
        match self.live.get(slot as usize) {
            Some(row) if row.bits != 0 => Some(Handle::new(self.tag, slot, split(row.bits).2)),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn retain(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.retained += 1;
        }
    }

    /// Whether dependents or leases keep the slot.
    #[inline]
    pub(crate) fn is_retained(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|slot| slot.retained > 0)
    }

    /// Whether the slot was waiting for this release, and can go now.
    #[inline]
    pub(crate) fn release(&mut self, slot: u32) -> bool {
        let Some(slot) = self.slots.get_mut(slot as usize) else { return false };
        debug_assert!(slot.retained > 0, "a {} is released more often than retained", self.kind);
        slot.retained = slot.retained.saturating_sub(1);
        slot.waiting && slot.retained == 0
    }

    /// Notes that a lease ends with a submission.
    pub(crate) fn hold_until(&mut self, slot: u32, ordinal: u64) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.until = slot.until.max(ordinal);
        }
    }

    /// What a destroyed slot waits for, once its own submission has completed. A retained one now waits for its last
    /// release.
    #[inline]
    pub(crate) fn held(&mut self, slot: u32, completed: u64) -> Held {
        let Some(slot) = self.slots.get_mut(slot as usize) else { return Held::No };
        slot.waiting = slot.retained > 0;
        if slot.waiting {
            Held::Retained
        } else if slot.until > completed {
            Held::Until(slot.until)
        } else {
            Held::No
        }
    }

    /// Makes every handle of the slot stale; whether it was live. The record stays until [`Self::remove`].
    pub(crate) fn destroy(&mut self, slot: u32, generation: u32) -> bool {
        match self.live.get_mut(slot as usize) {
            Some(row) if row.bits != 0 && split(row.bits).2 == generation => {
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
        self.remove_spare(slot)?;
        self.slots.get_mut(slot as usize)?.record.take()
    }

    /// Frees the slot for the next generation. The record stays in it for the next occupant to fill.
    #[inline]
    pub(crate) fn remove_spare(&mut self, slot: u32) -> Option<&mut R> {
        let entry = self.slots.get_mut(slot as usize).filter(|entry| entry.occupied)?;
        entry.occupied = false;
        entry.waiting = false;
        self.count -= 1;
        if entry.generation < MAX_GENERATION {
            entry.generation += 1;
            self.free.push(slot);
        }
        entry.record.as_mut()
    }

    /// Occupied slots, live or retiring.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Slots with a live handle. Looks at all of them: for reports.
    pub(crate) fn live(&self) -> u32 {
        self.live.iter().filter(|row| row.bits != 0).count() as u32
    }

    /// The most slots that may be occupied.
    pub(crate) fn ceiling(&self) -> u32 {
        self.ceiling
    }

    /// The most occupied slots so far.
    pub(crate) fn peak(&self) -> u32 {
        self.peak
    }

    /// Every occupied slot.
    pub(crate) fn occupied(&self) -> impl Iterator<Item = (u32, &R)> {
        let occupied = self.slots.iter().enumerate().filter(|(_, slot)| slot.occupied);
        occupied.filter_map(|(i, slot)| Some((i as u32, slot.record.as_ref()?)))
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

    fn put(table: &mut Table<Named>, label: &'static str) -> Buffer {
        let slot = table.next_slot().unwrap();
        table.insert(slot, Named(label))
    }

    #[test]
    fn a_reused_slot_does_not_answer_to_its_old_handle() {
        let mut table = table();
        let a = put(&mut table, "a");
        assert!(table.destroy(a.slot(), a.generation()));
        assert!(!table.destroy(a.slot(), a.generation()), "a second destruction finds nothing");
        assert!(table.get(a).is_none());
        assert!(table.problem(a, "test".into()).to_string().contains("\"a\""), "the label is still known");
        table.remove(a.slot());
        let b = put(&mut table, "b");
        assert_eq!(a.slot(), b.slot());
        assert!(table.get(a).is_none() && table.get(b).is_some());
        assert!(!table.problem(a, "test".into()).to_string().contains('"'), "nor to its new label");
    }

    #[test]
    fn a_record_left_for_the_next_occupant_names_nothing() {
        let mut table = table();
        let a = put(&mut table, "a");
        table.destroy(a.slot(), a.generation());
        assert!(table.remove_spare(a.slot()).is_some());
        assert!(table.at(a.slot()).is_none() && table.at_mut(a.slot()).is_none());
        assert_eq!((table.occupied().count(), table.count()), (0, 0));
        assert!(table.remove_spare(a.slot()).is_none(), "there is nothing to remove twice");
        let slot = table.next_slot().unwrap();
        assert_eq!(table.spare(slot, || Named("fresh")).0, "a");
        let b: Buffer = table.insert_spare(slot);
        assert!(table.get(a).is_none() && table.get(b).is_some());
    }

    #[test]
    fn a_destroyed_slot_waits_for_its_retainers_and_for_leases() {
        let mut table = table();
        let a = put(&mut table, "a");
        table.retain(a.slot());
        table.destroy(a.slot(), a.generation());
        assert_eq!(table.held(a.slot(), 1), Held::Retained);
        table.hold_until(a.slot(), 2);
        assert!(table.release(a.slot()), "the last release says that it was waited for");
        assert_eq!(table.held(a.slot(), 1), Held::Until(2));
        assert_eq!(table.held(a.slot(), 2), Held::No);
    }

    #[test]
    fn an_exhausted_slot_retires_for_good() {
        let mut table = table();
        let a = put(&mut table, "a");
        table.destroy(a.slot(), a.generation());
        table.set_generation(0, MAX_GENERATION);
        table.remove(0);
        let b = put(&mut table, "b");
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
            put(&mut table, "");
        }
        assert!(matches!(table.next_slot(), Err(Error::CapacityExceeded { requested: 3, capacity: 2, .. })));
    }
}
