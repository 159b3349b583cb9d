//! Every fixture through wgpu, one test each: on Vulkan, and on OpenGL.
//!
//! `PURLIN_REQUIRE_GPU=1` fails where there is no adapter; otherwise the test says what is missing and passes.

mod common;

use std::path::Path;

use purlin_conformance::{Fixtures, Verdict, for_each_fixture, keep_pictures_in, run};
use purlin_rhi::{Device, DeviceRequest, Error, Features};
use purlin_wgpu::{Wgpu, WgpuOptions};

fn open(label: &str, backend: &str) -> Option<Device<Wgpu>> {
    // Without the native layer: wgpu validates for itself, and does not tell what the layer says.
    let request = DeviceRequest { label, preferred_features: Features::all(), ..Default::default() };
    let options = WgpuOptions::named(backend).expect("the name of an API");
    let opened = pollster::block_on(Wgpu::open(&request, &options));
    match opened.and_then(|backend| Device::from_backend(backend, &request)) {
        Ok(device) => Some(device),
        Err(error) => {
            let missing = matches!(error, Error::NoAdapter { .. });
            assert!(missing && !common::is_set("PURLIN_REQUIRE_GPU"), "{label} on {backend}: {error}");
            println!("{label} on {backend}: not run: {error}");
            None
        }
    }
}

fn check(backend: &str, name: &str) {
    let fixture = Fixtures::<Wgpu>::named(name).expect("the list names it");
    if let Some(target) = Path::new(env!("CARGO_TARGET_TMPDIR")).parent() {
        keep_pictures_in(&target.join("conformance").join(backend));
    }
    let Some(mut device) = open(name, backend) else { return };
    let adapter = device.adapter().clone();
    assert_eq!(adapter.backend, backend);
    match Verdict::of(name, &adapter, run(&mut device, fixture)) {
        Verdict::Pass => {}
        Verdict::Fail(why) => panic!("{name} on {}: {why}", adapter.name),
        other => println!("{name} on {}: {other}", adapter.name),
    }
}

macro_rules! tests {
    ($($topic:ident { $($name:ident)* })*) => {
        mod vulkan {$(
            mod $topic {
                $(#[test]
                fn $name() {
                    crate::check("wgpu-vulkan", concat!(stringify!($topic), "::", stringify!($name)));
                })*
            }
        )*}
        mod gl {$(
            mod $topic {
                $(#[test]
                fn $name() {
                    crate::check("wgpu-gl", concat!(stringify!($topic), "::", stringify!($name)));
                })*
            }
        )*}
    };
}

for_each_fixture!(tests);
