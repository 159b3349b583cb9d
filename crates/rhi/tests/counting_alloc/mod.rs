//! An allocator that counts what chosen threads allocate: the harness has a thread of its own, which allocates when it
//! likes. A test that reads the count must be alone in its file.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// Counts what this thread allocates from now on.
pub fn count_this_thread() {
    COUNTED.set(true);
}

fn is_counted() -> bool {
    COUNTED.try_with(Cell::get) == Ok(true)
}

fn count(bytes: usize) {
    if is_counted() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(bytes as i64, Ordering::Relaxed);
    }
}

fn discount(bytes: usize) {
    if is_counted() {
        LIVE.fetch_sub(bytes as i64, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged; the count has no influence on it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        discount(layout.size());
        // SAFETY: the pointer came from the system's allocator with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        discount(layout.size());
        // SAFETY: as for `dealloc`, and the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that chosen threads have allocated and not freed.
#[allow(dead_code, reason = "not every test asks")]
pub fn live_bytes() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

/// Allocations so far.
#[allow(dead_code, reason = "not every test asks")]
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}
