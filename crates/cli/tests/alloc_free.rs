//! Warm frames allocate nothing: declare, compile, record and submit of the demo's frame, counted by the allocator.
//!
//! The null backend stands in for the driver, whose allocations are its own affair.

#[path = "../../rhi/tests/counting_alloc/mod.rs"]
mod counting_alloc;

use purlin::rhi::null::{Null, NullConfig};
use purlin::rhi::{Device, DeviceRequest};
use purlin_cli::renderer::{PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::{Scene, SceneOptions};
use purlin_cli::size::Size;

#[test]
fn frames_from_the_tenth_on_allocate_nothing() {
    counting_alloc::count_this_thread();
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
    assert!(counting_alloc::allocations() > 1000);
    let mut frames = Vec::with_capacity(30);
    for _ in 0..30 {
        let before = counting_alloc::allocations();
        let frame = renderer.render(&mut device).expect("a frame");
        frames.push((counting_alloc::allocations() - before, frame.stats));
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
