//! RAII owners: dropping one destroys the resource logically; memory goes when nothing needs it any more.
//!
//! An owner holds no borrow of the device. Its drop leaves a note in the device's drop queue, which the device reads
//! at its next [`crate::Device::maintain`], submission or recording. An owner may outlive its device: then the note
//! names a device that nobody reads for, and the drop does nothing.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::handle::{DeviceTag, Handle, ResourceKind, kind::Kind};

/// Notes that fit without a lock between two readings.
const ROOM: u64 = 1024;

/// Notes of dropped owners and tickets. The first thread that leaves one, mostly the one that draws, has a ring of its
/// own to the device and pays two stores. Other threads, and what the ring has no room for, go to a list behind a lock.
///
/// Queues live as long as the process and go from a device that ends to one that begins, so that an owner needs no
/// count of owners. Each note says which device it is for.
#[derive(Debug)]
pub(crate) struct DropQueue {
    ring: Box<[Note; ROOM as usize]>,
    /// The thread that writes to the ring, for good; zero for none yet.
    writer: AtomicU64,
    /// The place of the next note, counted up; only the writer reads and moves it.
    head: AtomicU64,
    /// The place of the next note to read; only the device moves it.
    tail: AtomicU64,
    /// How many notes the list has.
    late: AtomicU64,
    list: Mutex<Vec<DropNote>>,
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
    /// A ticket of a requested pipeline.
    Pipeline {
        device: DeviceTag,
        id: u64,
    },
}

/// A place of the ring: a note in two words.
#[derive(Debug)]
struct Note {
    /// The handle's bits or the readback's number. Zero while nothing is written: neither is ever zero.
    subject: AtomicU64,
    /// The kind of the resource; from [`READBACK`] on the device of a readback, from [`PIPELINE`] on that of a request.
    what: AtomicU64,
}

const READBACK: u64 = ResourceKind::ALL.len() as u64;
const PIPELINE: u64 = READBACK + 1 + u16::MAX as u64;

/// The last number that a thread was given.
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The thread's number, counted from one and never given twice; zero until it is asked for.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

#[inline]
fn thread() -> u64 {
    THREAD.with(|number| match number.get() {
        0 => {
            number.set(THREADS.fetch_add(1, Ordering::Relaxed) + 1);
            number.get()
        }
        given => given,
    })
}

/// Queues of devices that are gone.
static SPARE: Mutex<Vec<&'static DropQueue>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DropQueue {
    fn new() -> Self {
        Self {
            ring: Box::new(
                [const { Note { subject: AtomicU64::new(0), what: AtomicU64::new(0) } }; ROOM as usize],
            ),
            writer: AtomicU64::new(0),
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            late: AtomicU64::new(0),
            list: Mutex::default(),
        }
    }

    /// A queue for a new device.
    pub(crate) fn lend() -> &'static Self {
        let spare = lock(&SPARE).pop();
        spare.unwrap_or_else(|| Box::leak(Box::new(Self::new())))
    }

    /// For the next device. Owners of this one may still leave notes here, which nobody will act on.
    pub(crate) fn give_back(&'static self) {
        lock(&SPARE).push(self);
    }

    #[inline]
    pub(crate) fn push(&self, note: DropNote) {
        let head = self.head.load(Ordering::Relaxed);
        // What was read before `tail` was moved is read for good, and its place is empty again.
        if !self.writes() || head - self.tail.load(Ordering::Acquire) >= ROOM {
            return self.push_late(note);
        }
        let (subject, what) = match note {
            DropNote::Resource { kind, bits } => (bits, kind as u64),
            DropNote::Readback { device, id } => (id, READBACK + u64::from(device.0)),
            DropNote::Pipeline { device, id } => (id, PIPELINE + u64::from(device.0)),
        };
        let place = &self.ring[(head % ROOM) as usize];
        place.what.store(what, Ordering::Relaxed);
        place.subject.store(subject, Ordering::Release);
        self.head.store(head + 1, Ordering::Relaxed);
    }

    /// Whether the ring is this thread's.
    #[inline]
    fn writes(&self) -> bool {
        let thread = thread();
        match self.writer.load(Ordering::Relaxed) {
            0 => self.writer.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
            writer => writer == thread,
        }
    }

    #[inline(never)]
    fn push_late(&self, note: DropNote) {
        let mut list = lock(&self.list);
        list.push(note);
        self.late.store(list.len() as u64, Ordering::Relaxed);
    }

    /// Reads all notes. `late` is the caller's: an empty list whose room is kept. Only one thread at a time may read;
    /// a note that is being written meanwhile waits for the next time.
    pub(crate) fn take(&self, late: &mut Vec<DropNote>, mut read: impl FnMut(DropNote)) {
        let first = self.tail.load(Ordering::Relaxed);
        let mut tail = first;
        loop {
            let place = &self.ring[(tail % ROOM) as usize];
            let subject = place.subject.load(Ordering::Acquire);
            if subject == 0 {
                break;
            }
            let what = place.what.load(Ordering::Relaxed);
            place.subject.store(0, Ordering::Relaxed);
            tail += 1;
            read(match ResourceKind::ALL.get(what as usize) {
                Some(&kind) => DropNote::Resource { kind, bits: subject },
                None if what < PIPELINE => {
                    DropNote::Readback { device: DeviceTag((what - READBACK) as u16), id: subject }
                }
                None => DropNote::Pipeline { device: DeviceTag((what - PIPELINE) as u16), id: subject },
            });
        }
        if tail != first {
            self.tail.store(tail, Ordering::Release);
        }
        if self.late.load(Ordering::Relaxed) > 0 {
            let mut list = lock(&self.list);
            self.late.store(0, Ordering::Relaxed);
            std::mem::swap(&mut *list, late);
            drop(list);
            late.drain(..).for_each(read);
        }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn note(id: u64) -> DropNote {
        let kind = ResourceKind::ALL[id as usize % ResourceKind::ALL.len()];
        match id % 4 {
            0 | 2 => DropNote::Resource { kind, bits: id + 1 },
            1 => DropNote::Readback { device: DeviceTag(u16::MAX), id },
            _ => DropNote::Pipeline { device: DeviceTag(u16::MAX - (id % 2) as u16), id },
        }
    }

    #[test]
    fn what_has_no_room_in_the_ring_is_not_lost() {
        let queue = DropQueue::new();
        let (mut out, mut late) = (Vec::new(), Vec::new());
        for count in [0, 1, ROOM - 1, ROOM, ROOM + 1, 2 * ROOM, 3] {
            (0..count).for_each(|id| queue.push(note(id)));
            queue.take(&mut late, |note| out.push(note));
            assert!(out.iter().copied().eq((0..count).map(note)), "{count}, in order");
            out.clear();
            queue.take(&mut late, |note| out.push(note));
            assert!(out.is_empty(), "nothing is delivered twice");
        }
    }

    #[test]
    fn threads_drop_while_the_device_reads() {
        const THREADS: u64 = 4;
        const EACH: u64 = if cfg!(miri) { 200 } else { 10_000 };
        let queue = DropQueue::new();
        let done = AtomicBool::new(false);
        let mut seen = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut seen, mut late) = (Vec::new(), Vec::new());
                while !done.load(Ordering::Acquire) {
                    queue.take(&mut late, |note| seen.push(note));
                }
                queue.take(&mut late, |note| seen.push(note));
                seen
            });
            let writers: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let queue = &queue;
                    scope.spawn(move || (0..EACH).for_each(|id| queue.push(note(thread * EACH + id))))
                })
                .collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Ordering::Release);
            reader.join().unwrap()
        });
        let number = |note: &DropNote| match *note {
            DropNote::Resource { bits, .. } => bits - 1,
            DropNote::Readback { id, .. } | DropNote::Pipeline { id, .. } => id,
        };
        seen.sort_unstable_by_key(number);
        assert!(seen.into_iter().eq((0..THREADS * EACH).map(note)), "each note once");
    }
}
