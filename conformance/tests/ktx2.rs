//! Cubemaps from KTX2 files of others' making: parsed, uploaded, sampled and compared, on Vulkan and through wgpu.
//!
//! The files are not part of the project; without them, or without a device, the tests say so and pass. `PURLIN_DATA`
//! names their folder.

mod common;
#[path = "common/vulkan.rs"]
mod vulkan;

use std::path::{Path, PathBuf};

use image::GenericImageView;
use purlin::ktx2::{Ktx2, Ktx2Error};
use purlin_conformance::cubemap::{face_bytes, faces_are_sampled};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{TextureFormat, TextureViewDimension};
use purlin_rhi::{Device, DeviceRequest, Error, Features};
use purlin_wgpu::{Wgpu, WgpuOptions};

const CUBEMAPS: [&str; 3] = ["bc7", "etc2", "astc4x4"];

/// A file of the data's folder, or nothing with a note.
fn data(name: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("PURLIN_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            println!("skipped: {}: {error} (set PURLIN_DATA)", path.display());
            None
        }
    }
}

fn sampled<B: Backend>(device: &mut Device<B>, name: &str) {
    let Some(file) = data(&format!("textures/Ryfjallet_cubemap_{name}.ktx2")) else { return };
    let ktx2 = Ktx2::parse(&file).unwrap();
    let texture = match ktx2.upload(device, name) {
        Ok(texture) => texture,
        Err(Ktx2Error::Device(Error::Unsupported { capability, .. })) => {
            println!("{name}: unsupported: {capability}");
            return;
        }
        Err(error) => panic!("{name}: {error}"),
    };
    let view = device.create_texture_view(*texture, &ktx2.view()).unwrap();
    // The view keeps what it shows.
    drop(texture);
    let (side, blocks) = (ktx2.size().width, ktx2.texels(0).unwrap());
    faces_are_sampled(device, *view, ktx2.format(), side, blocks).unwrap();
}

#[test]
fn cubemaps_are_sampled_on_vulkan() {
    let Some(mut device) = vulkan::open("ktx2", common::is_set("PURLIN_VALIDATE")) else { return };
    CUBEMAPS.into_iter().for_each(|name| sampled(&mut device, name));
    let texts = device.backend().take_validation_messages();
    assert_eq!(device.validation_messages(), 0, "{}", texts.join("\n"));
}

#[test]
fn cubemaps_are_sampled_through_wgpu() {
    for backend in ["wgpu-vulkan", "wgpu-gl"] {
        let request =
            DeviceRequest { label: "ktx2", preferred_features: Features::all(), ..Default::default() };
        let options = WgpuOptions::named(backend).expect("the name of an API");
        let opened = pollster::block_on(Wgpu::open(&request, &options));
        match opened.and_then(|backend| Device::from_backend(backend, &request)) {
            Ok(mut device) => CUBEMAPS.into_iter().for_each(|name| sampled(&mut device, name)),
            Err(error) => {
                let missing = matches!(error, Error::NoAdapter { .. });
                assert!(missing && !common::is_set("PURLIN_REQUIRE_GPU"), "{backend}: {error}");
                println!("{backend}: not run: {error}");
            }
        }
    }
}

/// The three files hold one picture, which is there as a plain one too: decoded, each is near it.
#[test]
fn cubemaps_are_the_picture() {
    let Some(picture) = data("textures/Ryfjallet_cubemap.png") else { return };
    let picture = image::load_from_memory(&picture).unwrap().to_rgb8();
    for name in CUBEMAPS {
        let Some(file) = data(&format!("textures/Ryfjallet_cubemap_{name}.ktx2")) else { return };
        let ktx2 = Ktx2::parse(&file).unwrap();
        assert_eq!(ktx2.view().dimension, Some(TextureViewDimension::Cube));
        let side = ktx2.size().width;
        assert_eq!((side, ktx2.mips(), ktx2.format().is_srgb()), (512, 1, true));
        // The picture's faces lie one below the other, half as large.
        assert_eq!(picture.dimensions(), (side / 2, side * 3));
        let mut error = 0.0;
        for face in 0..6 {
            let texels = face_bytes(ktx2.format(), side, ktx2.texels(0).unwrap(), face);
            for (x, y, there) in picture.view(0, face * side / 2, side / 2, side / 2).pixels() {
                for channel in 0..3 {
                    let at = |dx, dy| f64::from(texels[((y * 2 + dy) * side + x * 2 + dx) as usize][channel]);
                    let mean = (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4.0;
                    error += (mean - f64::from(there[channel])).powi(2);
                }
            }
        }
        let mean = error / (6.0 * 3.0 * f64::from(side * side / 4));
        let decibels = 10.0 * (255.0f64.powi(2) / mean).log10();
        println!("{name}: {decibels:.1} dB");
        assert!(decibels > 28.0, "{name}: {decibels} dB");
    }
}

/// Files cut anywhere, and files with any bit of their headers turned, are textures or typed errors.
#[test]
fn damaged_files_are_typed_errors() {
    let Some(file) = data("environment_maps/pisa_diffuse_rgb9e5_zstd.ktx2") else { return };
    let ktx2 = Ktx2::parse(&file).unwrap();
    assert_eq!(ktx2.format(), TextureFormat::Rgb9e5Ufloat);
    for length in (0..file.len()).step_by(61).chain([file.len() - 1]) {
        let result = Ktx2::parse(&file[..length]);
        assert!(matches!(result, Err(Ktx2Error::Damaged(_))), "cut to {length} bytes: {result:?}");
    }
    let turned = |at: usize, bit: usize| {
        let mut bytes = file.clone();
        bytes[at] ^= 1 << bit;
        let _ = Ktx2::parse(&bytes);
    };
    (0..104 * 8).for_each(|bit| turned(bit / 8, bit % 8));
    (228..file.len()).step_by(37).for_each(|at| turned(at, at % 8));
}
