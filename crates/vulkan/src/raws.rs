//! Native objects beside the tables, close together for the commands that bind them.

/// The native objects alone of one kind.
#[derive(Debug, Default)]
pub(crate) struct Raws<T>(Vec<T>);

impl<T: Copy + Default> Raws<T> {
    /// Notes what a table holds at the slot.
    pub fn set(&mut self, slot: u32, raw: T) {
        let index = slot as usize;
        if index >= self.0.len() {
            self.0.resize_with(index + 1, T::default);
        }
        self.0[index] = raw;
    }

    /// The object at a live slot.
    #[inline]
    pub fn get(&self, slot: u32) -> T {
        match self.0.get(slot as usize) {
            Some(raw) => *raw,
            None => dead(slot),
        }
    }
}

#[cold]
#[inline(never)]
fn dead(slot: u32) -> ! {
    panic!("slot {slot} is not live: the device let a dead handle through")
}
