//! The catalog, requests that fail, resources of every kind, and teardown.

mod common;

use common::{memory, open, range, shader, state, storage, transition, whole};
use purlin_rhi::backend::{Backend, Encoder, NativeBinding, NativeTextureCopy, NativeView};
use purlin_rhi::caps::{Features, FormatUses, Limits};
use purlin_rhi::desc::{MemoryClass, QuerySetDesc, SamplerDesc, TextureDesc};
use purlin_rhi::error::{BackendError, Error};
use purlin_rhi::plan::{Aspects, BufferUse, Layout, Scope, TextureRange, TextureUse};
use purlin_rhi::request::{AdapterSelector, DeviceRequest};
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{
    BufferUsages, Extent3d, Origin3d, QueryType, TextureAspect, TextureDimension, TextureFormat,
    TextureUsages, TextureViewDimension,
};
use purlin_vulkan::Vulkan;

const ANY: TextureUsages = TextureUsages::COPY_SRC.union(TextureUsages::COPY_DST);

fn request_error(request: &DeviceRequest<'_>) -> Error {
    match pollster::block_on(Vulkan::request(request)) {
        Ok(device) => panic!("{device:?} was opened"),
        Err(error) => error,
    }
}

#[test]
fn the_catalog_says_what_each_adapter_is() {
    if open("catalog", Features::empty()).is_none() {
        return;
    }
    let catalog = Vulkan::adapters(&DeviceRequest::default()).expect("catalog");
    assert!(!catalog.is_empty());
    for adapter in &catalog {
        println!("{adapter:#?}");
        assert_eq!(adapter.backend, "vulkan");
        assert!(!adapter.name.is_empty() && adapter.api_version.starts_with("1."));
        if let Err(why) = &adapter.usable {
            assert!(!why.is_empty());
        }
    }
}

#[test]
fn a_request_that_cannot_be_met_names_the_field() {
    if open("unmet", Features::empty()).is_none() {
        return;
    }
    let limits = Limits { max_texture_dimension_2d: u32::MAX, ..Default::default() };
    let error = request_error(&DeviceRequest { required_limits: limits, ..Default::default() });
    assert!(matches!(&error, Error::Unsupported { capability, .. }
        if capability == "limit max_texture_dimension_2d"));
    let formats = [purlin_rhi::FormatRequirement::new(TextureFormat::NV12, FormatUses::SAMPLED)];
    let error = request_error(&DeviceRequest { required_formats: &formats, ..Default::default() });
    assert!(error.to_string().contains("SAMPLED use of NV12"), "{error}");
    let adapter = AdapterSelector::Name("no such adapter");
    let error = request_error(&DeviceRequest { adapter, ..Default::default() });
    assert!(matches!(error, Error::NoAdapter { .. }));
}

#[test]
fn the_device_has_what_webgpu_promises() {
    let Some(gpu) = open("limits", Features::all()) else { return };
    let limits = &gpu.capabilities().limits;
    let least = Limits { max_buffer_size: 1 << 28, ..Default::default() };
    assert_eq!(least.first_unmet(limits), None);
    for (format, uses) in [
        (TextureFormat::Rgba8UnormSrgb, FormatUses::SAMPLED | FormatUses::FILTERABLE | FormatUses::BLENDABLE),
        (TextureFormat::Rgba16Float, FormatUses::STORAGE | FormatUses::COLOR),
        (TextureFormat::Depth24PlusStencil8, FormatUses::DEPTH_STENCIL | FormatUses::SAMPLED),
        (TextureFormat::Depth24Plus, FormatUses::DEPTH_STENCIL),
    ] {
        assert!(gpu.format_uses(format).contains(uses), "{format:?}: {:?}", gpu.format_uses(format));
    }
}

#[test]
fn a_texture_that_the_driver_refuses_is_an_error_that_leaves_the_slot_empty() {
    let Some(mut gpu) = open("refused", Features::empty()) else { return };
    let desc = TextureDesc { samples: 64, ..TextureDesc::d2("t", 8, 8, TextureFormat::Rgba8Unorm, ANY) };
    let refused = gpu.create_texture(0, &desc);
    assert!(matches!(refused, Err(BackendError::Failed { .. })), "{refused:?}");
    gpu.create_texture(0, &TextureDesc { samples: 1, ..desc }).expect("the slot is empty");
    let source = ShaderSource { label: "no target", spirv: &[], wgsl: "", entries: &[] };
    let refused = gpu.create_shader_module(0, &source);
    assert!(matches!(refused, Err(BackendError::Failed { .. })));
}

#[test]
fn texels_go_through_layers_volumes_and_siblings() {
    let Some(mut gpu) = open("copies", Features::empty()) else { return };
    let format = TextureFormat::Rgba8Unorm;
    let layered = TextureDesc {
        size: Extent3d { width: 64, height: 64, depth_or_array_layers: 6 },
        mips: 3,
        view_formats: &[TextureFormat::Rgba8UnormSrgb],
        ..TextureDesc::d2(
            "layers",
            64,
            64,
            format,
            ANY | TextureUsages::TEXTURE_BINDING | TextureUsages::STORAGE_BINDING,
        )
    };
    let volume = TextureDesc {
        size: Extent3d { width: 64, height: 64, depth_or_array_layers: 4 },
        dimension: TextureDimension::D3,
        ..TextureDesc::d2("volume", 64, 64, format, ANY)
    };
    gpu.create_texture(0, &layered).expect("layers");
    gpu.create_texture(1, &volume).expect("volume");
    // A cube, and the sRGB sibling, which has no storage.
    let cube = NativeView {
        label: "cube",
        texture: 0,
        format: TextureFormat::Rgba8UnormSrgb,
        dimension: TextureViewDimension::Cube,
        aspect: TextureAspect::All,
        range: TextureRange { aspects: Aspects::COLOR, base_mip: 0, mips: 3, base_layer: 0, layers: 6 },
        attachable: false,
    };
    gpu.create_texture_view(0, &cube).expect("cube");

    let bytes: Vec<u8> = (0..2 * 64 * 256u32).map(|i| (i * 7 / 256 + i % 256) as u8).collect();
    gpu.uploaded(0, &bytes, BufferUsages::COPY_SRC);
    gpu.buffer(1, bytes.len() as u64, BufferUsages::COPY_DST, MemoryClass::Readback);
    let layers = TextureRange { layers: 6, ..range(Aspects::COLOR) };
    let source = (TextureUse::CopySrc.scope(), Layout::CopySrc);
    let destination = (TextureUse::CopyDst { whole: false }.scope(), Layout::CopyDst);
    let nothing = (Scope::NONE, Layout::Undefined);
    let extent = Extent3d { width: 64, height: 64, depth_or_array_layers: 2 };

    let mut encoder = gpu.begin("copies").expect("encoder");
    transition(&mut encoder, &gpu, 0, layers, nothing, destination);
    transition(&mut encoder, &gpu, 1, range(Aspects::COLOR), nothing, destination);
    let mut copy = whole(0, 0, format);
    copy.extent = extent;
    copy.origin.z = 3;
    encoder.copy_buffer_to_texture(&gpu, &copy);
    transition(&mut encoder, &gpu, 0, layers, destination, source);
    let at = |z| Origin3d { x: 0, y: 0, z };
    let across = NativeTextureCopy {
        src: (0, 0, at(3)),
        dst: (1, 0, at(1)),
        aspect: TextureAspect::All,
        format,
        extent,
        volume: (false, true),
    };
    encoder.copy_texture(&gpu, &across);
    transition(&mut encoder, &gpu, 1, range(Aspects::COLOR), destination, source);
    let mut copy = whole(1, 1, format);
    copy.extent = extent;
    copy.origin.z = 1;
    copy.volume = true;
    encoder.copy_texture_to_buffer(&gpu, &copy);
    memory(&mut encoder, &gpu, BufferUse::CopyDst, BufferUse::HostRead);
    gpu.finish(encoder);
    assert!(gpu.read(1, bytes.len()) == bytes);
}

fn allocated(gpu: &Vulkan) -> u64 {
    gpu.memory().map_or(0, |memory| memory.allocated)
}

#[test]
fn what_is_created_and_destroyed_leaves_nothing() {
    let Some(mut gpu) = open("stress", Features::empty()) else { return };
    let source = shader(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(1) fn main() { data[0] = 1; }",
    );
    let baseline = allocated(&gpu);
    for round in 0..40u32 {
        gpu.create_bind_group_layout(0, "layout", &[storage(0, false, false)]).expect("layout");
        gpu.create_bind_group_layout(1, "empty", &[]).expect("layout");
        gpu.create_pipeline_layout(0, "layout", &[0, 1], 16).expect("pipeline layout");
        gpu.create_shader_module(0, &source).expect("module");
        gpu.compute_pipeline(0, 0, 0, "main");
        gpu.create_query_set(0, &QuerySetDesc { label: "queries", ty: QueryType::Occlusion, count: 4 }).ok();
        gpu.create_bind_group(100, "empty", 1, &[]).expect("group");
        for slot in 0..100 {
            gpu.buffer(slot, u64::from(slot * round), BufferUsages::STORAGE, MemoryClass::Device);
            let binding = NativeBinding::Buffer { buffer: slot, offset: 0, size: 4 };
            gpu.create_bind_group(slot, "group", 0, &[binding]).expect("group");
        }
        // Freed sets serve again, without another pool.
        for slot in 0..100 {
            gpu.destroy_bind_group(slot);
            let binding = NativeBinding::Buffer { buffer: 99 - slot, offset: 0, size: 4 };
            gpu.create_bind_group(slot, "group", 0, &[binding]).expect("group");
        }
        let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT;
        for slot in 0..10 {
            let size = 16 << (round % 5);
            gpu.texture(slot, &TextureDesc::d2("t", size, size, TextureFormat::Rgba8Unorm, usage));
            gpu.create_sampler(slot, &SamplerDesc::linear("s")).expect("sampler");
        }
        let memory = gpu.memory().expect("the allocator's figures");
        assert!(memory.allocated > baseline && memory.blocks >= memory.allocated);
        assert!(memory.allocated_peak >= memory.allocated && memory.blocks_peak >= memory.blocks);
        if round == 39 {
            break; // The last round stays, for the device's teardown.
        }
        for slot in 0..10 {
            gpu.destroy_texture_view(slot);
            gpu.destroy_texture(slot);
            gpu.destroy_sampler(slot);
        }
        for slot in 0..100 {
            gpu.destroy_bind_group(slot);
            gpu.destroy_buffer(slot);
        }
        gpu.destroy_bind_group(100);
        gpu.destroy_query_set(0);
        gpu.destroy_compute_pipeline(0);
        gpu.destroy_shader_module(0);
        gpu.destroy_pipeline_layout(0);
        gpu.destroy_bind_group_layout(0);
        gpu.destroy_bind_group_layout(1);
        assert_eq!(allocated(&gpu), baseline);
    }
    // Dropped with an encoder that nobody gives back, and one submission that nobody waits for.
    let mut lost = gpu.begin("lost").expect("encoder");
    lost.push_label(&gpu, "open");
    let mut encoder = gpu.begin("running").expect("encoder");
    let mut state = state();
    state.groups[0].native = gpu.native_group(0);
    encoder.begin_compute_pass(&gpu, "pass", None);
    encoder.dispatch(
        &gpu,
        purlin_rhi::backend::Dirty::PIPELINE | purlin_rhi::backend::Dirty::GROUP0,
        &state,
        purlin_rhi::backend::Dispatch::Direct([1, 1, 1]),
    );
    encoder.end_compute_pass(&gpu);
    gpu.submit(&mut vec![encoder], 1, &[]).expect("submit");
}
