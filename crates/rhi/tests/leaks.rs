//! A hundred thousand frames leave nothing behind: not a byte on the heap, not an object, not a byte of GPU memory.
//!
//! Every frame makes and drops resources of every kind, writes, draws, dispatches, reads back, times its passes, gives
//! some of it up and makes a mistake. After a warm-up all figures are those of the frames before, exactly.

mod counting_alloc;

use purlin_rhi::null::{Null, NullConfig, NullControl};
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::shader::{EntryPoint, ShaderIo, ShaderSource};
use purlin_rhi::types::*;
use purlin_rhi::*;

const FRAMES: u64 = 100_000;
/// Until every pool has its size.
const WARM: u64 = 8_000;
const ROUND: u64 = 4_200;
const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;

const fn entry(name: &'static str, stage: ShaderStages) -> EntryPoint {
    EntryPoint {
        name,
        stage,
        workgroup_size: [1, 1, 1],
        bindings: &[],
        inputs: &[],
        outputs: &[],
        immediate_size: 0,
        writes_depth: false,
    }
}

const OUTPUT: &[ShaderIo] = &[ShaderIo { location: 0, name: "color", format: VertexFormat::Float32x4 }];

static SHADER: ShaderSource = ShaderSource {
    label: "shader",
    spirv: &[],
    wgsl: "",
    entries: &[
        entry("vs", ShaderStages::VERTEX),
        EntryPoint { outputs: OUTPUT, ..entry("fs", ShaderStages::FRAGMENT) },
        entry("cs", ShaderStages::COMPUTE),
    ],
};

fn frame(gpu: &mut Gpu, number: u64, old: &mut Option<ReadTicket>) -> Result<()> {
    // What lives for a frame.
    let usage =
        BufferUsages::STORAGE | BufferUsages::VERTEX | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let data = gpu.create_buffer(&BufferDesc::new("data", 256 + number % 7 * 4, usage))?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let target = gpu.create_texture(&TextureDesc::d2("target", 8, 8, COLOR, usage))?;
    let view = gpu.create_texture_view(*target, &TextureViewDesc::default())?;
    let image = gpu.create_texture(&TextureDesc::uploaded("image", 4, 4, 1, COLOR))?;
    let sampler = gpu.create_sampler(&SamplerDesc::linear("sampler"))?;
    let storage = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: false },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let filtering = BindingType::Sampler(SamplerBindingType::Filtering);
    let entries = [storage, filtering].map(|ty| BindGroupLayoutEntry {
        binding: u32::from(ty != storage),
        visibility: ShaderStages::COMPUTE,
        ty,
        count: None,
    });
    let shape = gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries: &entries })?;
    let entries = [BindGroupEntry::buffer(0, *data), BindGroupEntry::sampler(1, *sampler)];
    let group =
        gpu.create_bind_group(&BindGroupDesc { label: "group", layout: *shape, entries: &entries })?;
    let groups = [*shape];
    let desc = PipelineLayoutDesc { label: "layout", groups: &groups, immediate_size: 0 };
    let layout = gpu.create_pipeline_layout(&desc)?;
    let module = gpu.create_shader_module(&SHADER)?;
    let compute = ShaderStageDesc { module: *module, entry: "cs" };
    let kernel =
        gpu.create_compute_pipeline(&ComputePipelineDesc { label: "compute", layout: *layout, compute })?;
    let raster = gpu.create_render_pipeline(&RenderPipelineDesc {
        label: "raster",
        layout: *layout,
        vertex: ShaderStageDesc { module: *module, entry: "vs" },
        fragment: Some(ShaderStageDesc { module: *module, entry: "fs" }),
        vertex_buffers: &[],
        primitive: PrimitiveDesc::default(),
        depth_stencil: None,
        targets: &[Some(COLOR.into())],
        multisample: MultisampleDesc::default(),
    })?;

    gpu.write_buffer(*data, 0, &[1; 256])?;
    let rows = TexelLayout { offset: 0, bytes_per_row: 16, rows_per_image: 4 };
    let size = Extent3d { width: 4, height: 4, depth_or_array_layers: 1 };
    gpu.write_texture(&TexturePlace::mip(*image, 0), size, &rows, &[2; 64])?;
    let colors = [Some(ColorAttachment {
        view: *view,
        load: LoadOp::Clear(ClearValue::Float([0.0; 4])),
        store: StoreOp::Store,
        resolve: None,
    })];
    let uses = [ResourceUse::Buffer { buffer: *data, offset: 0, size: 256, usage: BufferUse::Vertex }];
    let desc = RenderPassDesc { label: "raster", colors: &colors, uses: &uses, ..Default::default() };

    // One recording in three is given up, and one in five has a mistake.
    if number.is_multiple_of(3) || number.is_multiple_of(5) {
        let mut recorder = gpu.record("given up")?;
        recorder.push_frame_data(&[3; 100], 16)?;
        let ticket = recorder.read_buffer(BufferSlice { buffer: *data, offset: 0, size: 64 })?;
        if number.is_multiple_of(5) {
            assert!(recorder.clear_buffer(BufferSlice { buffer: *data, offset: 1, size: 4 }).is_err());
            assert!(recorder.submit().is_err());
        }
        drop(ticket);
    }
    let mut recorder = gpu.record("frame")?;
    recorder.push_frame_data(&[4; 300], 16)?;
    recorder.render_pass(&desc, |pass| {
        pass.set_pipeline(*raster);
        pass.set_vertex_buffer(0, BufferSlice { buffer: *data, offset: 0, size: 256 });
        pass.draw(0..3, 0..1);
    })?;
    let declared = [*group];
    let desc = ComputePassDesc { label: "compute", uses: &[], groups: &declared, ..Default::default() };
    recorder.compute_pass(&desc, |pass| {
        pass.set_pipeline(*kernel);
        pass.set_bind_group(0, *group, &[]);
        pass.dispatch([1, 1, 1]);
    })?;
    let ticket = recorder.read_texture(&TexturePlace::mip(*target, 0), size)?;
    let bytes = recorder.read_buffer(BufferSlice { buffer: *data, offset: 0, size: 128 })?;
    recorder.submit()?;
    // Results are read late, in part, or never.
    if let Some(ticket) = old.take()
        && number.is_multiple_of(2)
    {
        gpu.wait_idle(std::time::Duration::from_secs(1))?;
        let mut out = [0; 64];
        gpu.read(&ticket, &mut out)?;
    }
    *old = Some(ticket);
    drop(bytes);
    if number.is_multiple_of(4) {
        gpu.pass_times()?;
    }
    Ok(())
}

type Gpu = Device<Null>;

/// Everything that must not grow, when nothing is in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Figures {
    memory: MemoryReport,
    objects: [(u32, u32); ResourceKind::ALL.len()],
    native: usize,
    pages: u32,
    staging: (u32, u64),
}

fn figures(gpu: &mut Gpu, control: &NullControl) -> Figures {
    Figures {
        memory: gpu.memory(),
        objects: ResourceKind::ALL.map(|kind| (gpu.object_count(kind), gpu.object_peak(kind))),
        native: control.live_total(),
        pages: gpu.frame_arena().pages(),
        staging: gpu.readbacks().staging(),
    }
}

#[test]
fn a_hundred_thousand_frames_leave_nothing() {
    counting_alloc::count_this_thread();
    let null = Null::new(NullConfig { auto_complete: false, ..NullConfig::default() });
    let control = null.control();
    let mut gpu = Device::from_backend(null, &DeviceRequest::default()).unwrap();
    let token = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(token, true);
    let mut old = None;
    let mut first = None;
    for number in 0..FRAMES {
        frame(&mut gpu, number, &mut old).unwrap();
        // The GPU is up to three frames late.
        control.complete_to(number.saturating_sub(number % 4));
        // All that frames do by number comes round in 420 of them.
        if number % ROUND != ROUND - 1 {
            continue;
        }
        old = None;
        control.complete_all();
        gpu.maintain().unwrap();
        gpu.pass_times().unwrap();
        let now = (figures(&mut gpu, &control), counting_alloc::live_bytes());
        assert!(now.0.native < 20 && gpu.retiring() == 0, "frame {number}: {now:?}");
        if number >= WARM {
            assert_eq!(&now, first.get_or_insert(now.clone()), "frame {number}");
        }
    }
    assert!(first.is_some_and(|first| first.1 > 0), "the count is at work");
    drop(gpu);
    assert_eq!(control.live_total(), 0);
}
