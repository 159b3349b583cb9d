//! What the demo's frame costs the CPU, Purlin alone: the null backend has no driver behind it.
//!
//! `cargo bench -p purlin-cli --bench frame`. Prints the medians of declare, compile, record and submit, for the whole
//! scene and for one instance: the second is the price of the passes themselves.

use purlin::graph::FrameStats;
use purlin::rhi::null::{Null, NullConfig};
use purlin::rhi::{Device, DeviceRequest};
use purlin_cli::renderer::{PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::{Scene, SceneOptions};
use purlin_cli::size::Size;

const WARM: usize = 200;
const FRAMES: usize = 4000;

fn main() {
    let scene = Scene::procedural(&SceneOptions::default());
    let mut one = Scene::procedural(&SceneOptions::default());
    one.instances.truncate(1);
    println!(
        "{:<18} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9} {:>12}",
        "scene", "passes", "draws", "declare", "compile", "record", "submit", "first three"
    );
    for (name, scene) in [("one instance", &one), ("1,024 instances", &scene)] {
        let stats = measure(scene);
        let median = |figure: fn(&FrameStats) -> u64| {
            let mut values: Vec<u64> = stats.iter().map(figure).collect();
            values.sort_unstable();
            values[values.len() / 2] as f64 / 1000.0
        };
        println!(
            "{name:<18} {:>6} {:>6} {:>6.1} us {:>6.1} us {:>6.1} us {:>6.1} us {:>9.1} us",
            stats[0].passes - stats[0].culled,
            scene.batches().len(),
            median(|stats| stats.declare_ns),
            median(|stats| stats.compile_ns),
            median(|stats| stats.record_ns),
            median(|stats| stats.submit_ns),
            median(|stats| stats.declare_ns + stats.compile_ns + stats.record_ns),
        );
    }
}

fn measure(scene: &Scene) -> Vec<FrameStats> {
    let request = DeviceRequest {
        label: "frame bench",
        required_features: REQUIRED_FEATURES,
        preferred_features: PREFERRED_FEATURES,
        ..Default::default()
    };
    let mut device = Device::from_backend(Null::new(NullConfig::default()), &request).expect("a null device");
    let size = Size { width: 1280, height: 720 };
    let mut renderer = Renderer::new(&mut device, scene, size, &mut |_| {}).expect("a renderer");
    let mut stats = Vec::with_capacity(FRAMES);
    for frame in 0..WARM + FRAMES {
        let done = renderer.render(&mut device).expect("a frame");
        if frame >= WARM {
            stats.push(done.stats);
        }
    }
    stats
}
