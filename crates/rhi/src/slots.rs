//! What a backend keeps: tables indexed by slot, parallel to the device's registry.

/// What lives at each slot of one kind.
#[derive(Debug)]
pub struct SlotTable<T>(Vec<Option<T>>);

impl<T> Default for SlotTable<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> SlotTable<T> {
    /// Puts a value into an empty slot.
    pub fn insert(&mut self, slot: u32, value: T) {
        let index = slot as usize;
        if index >= self.0.len() {
            self.0.resize_with(index + 1, || None);
        }
        debug_assert!(self.0[index].is_none(), "slot {slot} is created twice");
        self.0[index] = Some(value);
    }

    /// The value at a live slot.
    ///
    /// # Panics
    /// If the slot is dead, which is a defect of the caller: slots were checked above the boundary.
    #[inline]
    pub fn get(&self, slot: u32) -> &T {
        match self.0.get(slot as usize) {
            Some(Some(value)) => value,
            _ => dead(slot),
        }
    }

    /// The value at a slot, if it is live.
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.0.get_mut(slot as usize)?.as_mut()
    }

    /// Empties a slot.
    pub fn take(&mut self, slot: u32) -> Option<T> {
        self.0.get_mut(slot as usize)?.take()
    }

    /// Empties every slot.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.0).into_iter().flatten()
    }
}

/// Answers a slot that is not live.
#[cold]
#[inline(never)]
fn dead(slot: u32) -> ! {
    panic!("slot {slot} is not live: the device let a dead handle through")
}
