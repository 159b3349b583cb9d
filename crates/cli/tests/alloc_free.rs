//! Warm frames allocate nothing: declare, compile, record and submit of the demo's frame, counted by the allocator.
//!
//! The null backend stands in for the driver, whose allocations are its own affair.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use purlin::rhi::null::{Null, NullConfig};
use purlin::rhi::{Device, DeviceRequest};
use purlin_cli::args::Size;
use purlin_cli::renderer::{PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::{Scene, SceneOptions};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Allocations of this thread, so that the test harness's own threads do not count.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // The last allocations of a thread come after its locals are gone.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[test]
fn frames_from_the_tenth_on_allocate_nothing() {
    let request = DeviceRequest {
        label: "alloc free",
        required_features: REQUIRED_FEATURES,
        preferred_features: PREFERRED_FEATURES,
        ..Default::default()
    };
    let mut device = Device::from_backend(Null::new(NullConfig::default()), &request).expect("a null device");
    let scene = Scene::procedural(&SceneOptions::default());
    let size = Size { width: 1280, height: 720 };
    let mut renderer = Renderer::new(&mut device, &scene, size, &mut |_| {}).expect("a renderer");

    // The counter counts: setting up did allocate.
    assert!(ALLOCATIONS.get() > 1000);
    let mut frames = Vec::with_capacity(30);
    for _ in 0..30 {
        let before = ALLOCATIONS.get();
        let frame = renderer.render(&mut device).expect("a frame");
        frames.push((ALLOCATIONS.get() - before, frame.stats));
    }
    let (allocations, first) = frames[0];
    assert!(allocations > 0 && first.created > 0, "the first frame makes its transients");
    for (number, (allocations, stats)) in frames.iter().enumerate().skip(9) {
        assert_eq!(*allocations, 0, "heap allocations of frame {}: {frames:?}", number + 1);
        assert_eq!(stats.created, 0, "objects made in frame {}", number + 1);
    }
    let stats = frames.last().expect("thirty frames").1;
    println!(
        "{} passes: declare {} ns, compile {} ns, record {} ns, submit {} ns",
        stats.passes, stats.declare_ns, stats.compile_ns, stats.record_ns, stats.submit_ns
    );
}
