//! RAII owners: dropping one destroys the resource logically; memory goes when nothing needs it any more.
//!
//! An owner holds no borrow of the device. Its drop leaves a note in the device's drop queue, which the device reads
//! at its next [`crate::Device::maintain`], submission or recording. An owner may outlive its device: then the note
//! goes nowhere and the drop does nothing.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use crate::handle::{Handle, ResourceKind, kind::Kind};

/// Notes of dropped owners and tickets. The one lock in the crate, taken by drops and once a frame.
#[derive(Debug, Default)]
pub(crate) struct DropQueue {
    notes: Mutex<Vec<DropNote>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DropNote {
    Resource { kind: ResourceKind, bits: u64 },
    Readback { id: u64 },
}

impl DropQueue {
    pub(crate) fn push(&self, note: DropNote) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// Moves all notes to `out`, which must be empty; both keep their capacity.
    pub(crate) fn take(&self, out: &mut Vec<DropNote>) {
        std::mem::swap(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner), out);
    }
}

/// Owns a resource. Dereferences to its [`Handle`]; dropping it destroys the resource.
#[must_use = "dropping the owner destroys the resource"]
pub struct Owned<K: Kind> {
    handle: Handle<K>,
    queue: Option<Arc<DropQueue>>,
}

impl<K: Kind> Owned<K> {
    pub(crate) fn new(handle: Handle<K>, queue: Arc<DropQueue>) -> Self {
        Self { handle, queue: Some(queue) }
    }

    /// The handle, for packets and descriptions.
    #[inline]
    pub fn handle(&self) -> Handle<K> {
        self.handle
    }

    /// Gives up ownership: the resource lives until it is destroyed by handle or the device goes.
    pub fn leak(mut self) -> Handle<K> {
        self.queue = None;
        self.handle
    }
}

impl<K: Kind> Deref for Owned<K> {
    type Target = Handle<K>;
    #[inline]
    fn deref(&self) -> &Handle<K> {
        &self.handle
    }
}

impl<K: Kind> fmt::Debug for Owned<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "owned {:?}", self.handle)
    }
}

impl<K: Kind> Drop for Owned<K> {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            queue.push(DropNote::Resource { kind: K::KIND, bits: self.handle.to_bits() });
        }
    }
}
