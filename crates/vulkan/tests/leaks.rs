//! Frames on a driver leave nothing: no object, no byte of device memory, and no growing process.

mod common;

use std::time::Duration;

use common::shader;
use purlin_rhi::types::*;
use purlin_rhi::*;
use purlin_vulkan::Vulkan;

/// Until every pool has its size, and then as many again.
const FRAMES: u64 = 1_500;
const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;

const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @group(0) @binding(1) var image: texture_2d<f32>;
    @compute @workgroup_size(1)
    fn add() { data[0] += u32(textureLoad(image, vec2<i32>(0), 0).x * 255.0); }";

fn frame(gpu: &mut Device<Vulkan>, kernel: &Kernel, number: u64) -> Result<()> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let data = gpu.create_buffer(&BufferDesc::new("data", 256 + number % 7 * 4, usage))?;
    gpu.write_buffer(*data, 0, &[0; 256])?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let target = gpu.create_texture(&TextureDesc::d2("target", 8, 8, COLOR, usage))?;
    let view = gpu.create_texture_view(*target, &TextureViewDesc::default())?;
    let image = gpu.create_texture(&TextureDesc::uploaded("image", 4, 4, 1, COLOR))?;
    let size = Extent3d { width: 4, height: 4, depth_or_array_layers: 1 };
    let layout = TexelLayout { offset: 0, bytes_per_row: 16, rows_per_image: 4 };
    gpu.write_texture(&TexturePlace::mip(*image, 0), size, &layout, &[number as u8; 64])?;
    let seen = gpu.create_texture_view(*image, &TextureViewDesc::default())?;
    let entries = [BindGroupEntry::buffer_range(0, *data, 0, 256), BindGroupEntry::texture(1, *seen)];
    let desc = BindGroupDesc { label: "group", layout: *kernel.shape, entries: &entries };
    let group = gpu.create_bind_group(&desc)?;
    // One recording in five is given up.
    if number.is_multiple_of(5) {
        let mut recorder = gpu.record("given up")?;
        recorder.clear_color(*view, ClearValue::Float([0.5; 4]))?;
        drop(recorder);
    }
    let mut recorder = gpu.record("frame")?;
    recorder.clear_color(*view, ClearValue::Float([1.0; 4]))?;
    let groups = [*group];
    let desc = ComputePassDesc { label: "add", groups: &groups, ..Default::default() };
    recorder.compute_pass(&desc, |pass| {
        pass.set_pipeline(*kernel.pipeline);
        pass.set_bind_group(0, *group, &[]);
        pass.dispatch([1, 1, 1]);
    })?;
    let ticket = recorder.read_buffer(BufferSlice { buffer: *data, offset: 0, size: 4 })?;
    let token = recorder.submit()?;
    // What was made goes while the GPU has it; one frame in three is waited for.
    drop((data, target, view, image, seen, group));
    if number.is_multiple_of(3) {
        assert!(gpu.wait(token, Duration::from_secs(20))?);
        assert_eq!(gpu.read_vec(&ticket)?, [number as u8, 0, 0, 0]);
    }
    gpu.maintain()
}

struct Kernel {
    shape: Owned<kind::BindGroupLayout>,
    pipeline: Owned<kind::ComputePipeline>,
}

fn kernel(gpu: &mut Device<Vulkan>) -> Result<Kernel> {
    let stages = ShaderStages::COMPUTE;
    let storage = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: false },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let image = BindingType::Texture {
        sample_type: TextureSampleType::Float { filterable: true },
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    };
    let entries = [(0, storage), (1, image)].map(|(binding, ty)| BindGroupLayoutEntry {
        binding,
        visibility: stages,
        ty,
        count: None,
    });
    let shape = gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries: &entries })?;
    let desc = PipelineLayoutDesc { label: "layout", groups: &[*shape], immediate_size: 0 };
    let layout = gpu.create_pipeline_layout(&desc)?;
    let source = shader::ShaderSource { entries: &[ENTRY], ..shader(KERNEL) };
    let module = gpu.create_shader_module(&source)?;
    let compute = ShaderStageDesc { module: *module, entry: "add" };
    let desc = ComputePipelineDesc { label: "add", layout: *layout, compute };
    Ok(Kernel { pipeline: gpu.create_compute_pipeline(&desc)?, shape })
}

const STORAGE: BindingType = BindingType::Buffer {
    ty: BufferBindingType::Storage { read_only: false },
    has_dynamic_offset: false,
    min_binding_size: None,
};
const IMAGE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};

const ENTRY: shader::EntryPoint = shader::EntryPoint {
    name: "add",
    stage: ShaderStages::COMPUTE,
    workgroup_size: [1; 3],
    bindings: &[
        shader::ShaderBinding { group: 0, binding: 0, name: "data", ty: STORAGE, count: 0 },
        shader::ShaderBinding { group: 0, binding: 1, name: "image", ty: IMAGE, count: 0 },
    ],
    inputs: &[],
    outputs: &[],
    immediate_size: 0,
    writes_depth: false,
};

/// Bytes of the process in memory, where the system says.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn frames_leave_nothing_on_a_driver() {
    // Validation layers keep state of their own and would be what is measured.
    let request = DeviceRequest { label: "leaks", ..Default::default() };
    let mut gpu = match pollster::block_on(Device::<Vulkan>::request(&request)) {
        Ok(gpu) => gpu,
        Err(error @ Error::NoAdapter { .. }) if std::env::var_os("PURLIN_REQUIRE_GPU").is_none() => {
            println!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let kernel = kernel(&mut gpu).unwrap();
    let figures = |gpu: &mut Device<Vulkan>| {
        assert!(gpu.wait_idle(Duration::from_secs(20)).unwrap());
        gpu.maintain().unwrap();
        let memory = gpu.memory().native.expect("figures of the allocator");
        (ResourceKind::ALL.map(|kind| gpu.object_count(kind)), memory.allocated, memory.blocks)
    };
    let run = |gpu: &mut Device<Vulkan>| {
        for number in 0..FRAMES {
            frame(gpu, &kernel, number).unwrap();
        }
        (figures(gpu), resident())
    };
    let (warm, before) = run(&mut gpu);
    let (after, then) = run(&mut gpu);
    assert_eq!(warm, after, "objects, allocated bytes, blocks");
    if let (Some(before), Some(then)) = (before, then) {
        // A kilobyte a frame would be 1.5 MB.
        assert!(then < before + (1 << 20), "the process has grown from {before} to {then} bytes");
    }
}
