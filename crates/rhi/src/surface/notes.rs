//! What dropped surfaces and frames leave for their device.
//!
//! Apart from the notes of other owners, for they are few and say other things: a frame or two for each time that the
//! screen is drawn.

use std::sync::{Arc, Mutex, PoisonError};

/// Who was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// The owner of the surface with this serial.
    Surface(u64),
    /// The frame with this acquisition, not presented.
    Frame(u64),
}

/// The notes for one device. Clones are one list.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<Note>>>);

impl Notes {
    pub(super) fn push(&self, note: Note) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// Moves all notes to `out`, which is empty; both keep their capacity.
    pub(super) fn take(&self, out: &mut Vec<Note>) {
        std::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), out);
    }
}
