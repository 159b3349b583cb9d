//! RAII owners: dropping one destroys the resource logically; memory goes when nothing needs it any more.
//!
//! An owner holds no borrow of the device. Its drop leaves a note in the device's drop queue, which the device reads
//! at its next [`crate::Device::maintain`], submission or recording. An owner may outlive its device: then the note
//! names a device that nobody reads for, and the drop does nothing.

use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use crate::handle::{DeviceTag, Handle, ResourceKind, kind::Kind};

/// Notes of dropped owners and tickets. The one lock in the crate, taken by drops and once a frame.
///
/// Queues live as long as the process and go from a device that ends to one that begins, so that an owner needs no
/// count of owners. Each note says which device it is for.
#[derive(Debug, Default)]
pub(crate) struct DropQueue {
    notes: Mutex<Vec<DropNote>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DropNote {
    /// The bits are the handle's, and name the device.
    Resource {
        kind: ResourceKind,
        bits: u64,
    },
    Readback {
        device: DeviceTag,
        id: u64,
    },
}

/// Queues of devices that are gone.
static SPARE: Mutex<Vec<&'static DropQueue>> = Mutex::new(Vec::new());

impl DropQueue {
    /// A queue for a new device.
    pub(crate) fn lend() -> &'static Self {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let queue = spare.unwrap_or_else(|| Box::leak(Box::default()));
        queue.notes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        queue
    }

    /// For the next device. Owners of this one may still leave notes here, which nobody will act on.
    pub(crate) fn give_back(&'static self) {
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

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
    queue: &'static DropQueue,
}

impl<K: Kind> Owned<K> {
    #[inline]
    pub(crate) fn new(handle: Handle<K>, queue: &'static DropQueue) -> Self {
        Self { handle, queue }
    }

    /// The handle, for packets and descriptions.
    #[inline]
    pub fn handle(&self) -> Handle<K> {
        self.handle
    }

    /// Gives up ownership: the resource lives until it is destroyed by handle or the device goes.
    pub fn leak(self) -> Handle<K> {
        let handle = self.handle;
        std::mem::forget(self);
        handle
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
        self.queue.push(DropNote::Resource { kind: K::KIND, bits: self.handle.to_bits() });
    }
}
