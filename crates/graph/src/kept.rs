//! Lists that are written anew each frame, mostly with what they hold already.
//!
//! A frame that is declared like the last one writes nothing here: each entry is compared with the one that lies in its
//! place, and the comparison is all there is to it. So telling whether the structure of a frame has changed costs no
//! second walk, no copy and no hash, and it is exact. What does not belong to the structure (a clear value, the numbers
//! of a draw, a label, the handle of an import) is renewed in passing.

use std::ops::Deref;

/// An entry of a [`Kept`] list.
pub(crate) trait Entry: Copy {
    /// Whether a frame with `new` in this place has the same structure.
    fn same(&self, new: &Self) -> bool;

    /// Takes over what does not belong to the structure. Called with an entry that is the same.
    fn renew(&mut self, new: &Self);
}

/// A list of which the first entries are this frame's, and the rest may still be the last frame's.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    entries: Vec<T>,
    count: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), count: 0 }
    }
}

impl<T: Entry> Kept<T> {
    /// Begins a frame.
    pub(crate) fn begin(&mut self) {
        self.count = 0;
    }

    /// The entry that the next one is compared with.
    #[inline]
    pub(crate) fn next(&self) -> Option<&T> {
        self.entries.get(self.count)
    }

    /// Adds an entry. `same` says whether all entries of all lists have been the same so far.
    #[inline]
    pub(crate) fn push(&mut self, entry: T, same: &mut bool) {
        if *same
            && let Some(kept) = self.entries.get_mut(self.count)
            && kept.same(&entry)
        {
            kept.renew(&entry);
            self.count += 1;
        } else {
            *same = false;
            self.differ(entry);
        }
    }

    fn differ(&mut self, entry: T) {
        self.entries.truncate(self.count);
        self.entries.push(entry);
        self.count += 1;
    }

    /// Takes back all but the first entries.
    pub(crate) fn rewind(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// Ends the frame; whether there are as many entries as in the last one.
    pub(crate) fn end(&mut self) -> bool {
        let all = self.count == self.entries.len();
        self.entries.truncate(self.count);
        all
    }
}

impl<T> Deref for Kept<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.entries[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first number is structure, the second is not.
    impl Entry for (u8, u8) {
        fn same(&self, new: &Self) -> bool {
            self.0 == new.0
        }

        fn renew(&mut self, new: &Self) {
            *self = *new;
        }
    }

    fn frame(list: &mut Kept<(u8, u8)>, entries: &[(u8, u8)]) -> bool {
        let mut same = true;
        list.begin();
        entries.iter().for_each(|entry| list.push(*entry, &mut same));
        assert_eq!(**list, *entries);
        list.end() && same
    }

    #[test]
    fn only_structure_makes_a_difference() {
        let mut list = Kept::default();
        assert!(!frame(&mut list, &[(1, 1), (2, 2)]));
        assert!(frame(&mut list, &[(1, 3), (2, 4)]));
        assert!(!frame(&mut list, &[(1, 3), (3, 4)]));
        assert!(!frame(&mut list, &[(1, 3)]));
        assert!(!frame(&mut list, &[(1, 3), (3, 4)]));
        assert!(frame(&mut list, &[(1, 3), (3, 4)]));
    }

    #[test]
    fn what_was_taken_back_counts_no_more() {
        let mut list = Kept::default();
        assert!(!frame(&mut list, &[(1, 1), (2, 2)]));
        let mut same = true;
        list.begin();
        list.push((1, 1), &mut same);
        list.push((2, 2), &mut same);
        list.rewind(1);
        list.push((2, 5), &mut same);
        assert_eq!(&*list, [(1, 1), (2, 5)]);
        assert!(same && list.end());
    }
}
