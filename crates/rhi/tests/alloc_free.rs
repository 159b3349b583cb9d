//! A warm frame allocates nothing: uploads, frame data, passes with groups and dynamic offsets, queries, and readbacks.
//!
//! The count is of the test's thread and of the pool's.

mod counting_alloc;

use std::num::NonZeroU64;

use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::shader::{EntryPoint, ShaderBinding, ShaderSource};
use purlin_rhi::types::*;
use purlin_rhi::*;

const UNIFORM: BindingType = BindingType::Buffer {
    ty: BufferBindingType::Uniform,
    has_dynamic_offset: true,
    min_binding_size: NonZeroU64::new(16),
};

const BINDINGS: &[ShaderBinding] =
    &[ShaderBinding { group: 0, binding: 0, name: "draw", ty: UNIFORM, count: 0 }];

const VS: EntryPoint = EntryPoint {
    name: "vs",
    stage: ShaderStages::VERTEX,
    workgroup_size: [0; 3],
    bindings: BINDINGS,
    inputs: &[],
    outputs: &[],
    immediate_size: 0,
    writes_depth: false,
};

static SHADER: ShaderSource = ShaderSource { label: "shader", spirv: &[], wgsl: "", entries: &[VS] };

/// Everything that lives longer than a frame.
struct World {
    gpu: Device<Null>,
    pipeline: Owned<kind::RenderPipeline>,
    group: Owned<kind::BindGroup>,
    page: Buffer,
    depth: Owned<kind::TextureView>,
    mesh: Owned<kind::Buffer>,
    tracked: Owned<kind::Buffer>,
    image: Owned<kind::Texture>,
    queries: Owned<kind::QuerySet>,
    batch: Owned<kind::CommandBatch>,
    /// Whether a pass is recorded in sections too.
    sections: bool,
}

impl World {
    fn new() -> Result<Self> {
        let storage = StorageCeilings { frame_arena_page: 1 << 16, ..StorageCeilings::default() };
        let request = DeviceRequest { storage, ..DeviceRequest::default() };
        let mut gpu = Device::from_backend(Null::new(NullConfig::default()), &request)?;
        if let Some(token) = gpu.capability::<TimestampQuery>() {
            gpu.enable_timings(token, true);
        }
        let entries =
            [BindGroupLayoutEntry { binding: 0, visibility: ShaderStages::VERTEX, ty: UNIFORM, count: None }];
        let shape =
            gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries: &entries })?;
        let page = gpu.push_frame_data(&[0; 16], 16)?.buffer;
        let entries = [BindGroupEntry::buffer_range(0, page, 0, 16)];
        let group =
            gpu.create_bind_group(&BindGroupDesc { label: "group", layout: *shape, entries: &entries })?;
        let groups = [*shape];
        let layout = gpu.create_pipeline_layout(&PipelineLayoutDesc {
            label: "layout",
            groups: &groups,
            immediate_size: 0,
        })?;
        let module = gpu.create_shader_module(&SHADER)?;
        let format = TextureFormat::Depth32Float;
        let pipeline = gpu.create_render_pipeline(&RenderPipelineDesc {
            label: "pipeline",
            layout: *layout,
            vertex: ShaderStageDesc { module: *module, entry: "vs" },
            fragment: None,
            vertex_buffers: &[],
            primitive: PrimitiveDesc::default(),
            depth_stencil: Some(DepthStencilDesc::depth(format, true, CompareFunction::Less)),
            targets: &[],
            multisample: MultisampleDesc::default(),
        })?;
        let depth =
            gpu.create_texture(&TextureDesc::d2("depth", 64, 64, format, TextureUsages::RENDER_ATTACHMENT))?;
        let depth = {
            let view = gpu.create_texture_view(*depth, &TextureViewDesc::default())?;
            // The texture must stay live to be tracked; it goes with the device.
            depth.leak();
            view
        };
        let usage = BufferUsages::VERTEX | BufferUsages::INDEX;
        let mesh = gpu.create_buffer(&BufferDesc::uploaded("mesh", 4096, usage))?;
        let usage = BufferUsages::VERTEX | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let tracked = gpu.create_buffer(&BufferDesc::new("tracked", 4096, usage))?;
        let image =
            gpu.create_texture(&TextureDesc::uploaded("image", 64, 64, 1, TextureFormat::Rgba8Unorm))?;
        let set = QuerySetDesc { label: "visible", ty: QueryType::Occlusion, count: 200 };
        let queries = gpu.create_query_set(&set)?;
        gpu.write_buffer(*mesh, 0, &[0; 4096])?;
        gpu.write_buffer(*tracked, 0, &[0; 4096])?;
        gpu.flush_uploads()?;
        let desc = CommandBatchDesc { label: "batch", colors: &[], depth_stencil: Some(format), samples: 1 };
        let batch = gpu.create_batch(&desc)?;
        gpu.record_batch(*batch, |recorder| {
            recorder.set_pipeline(*pipeline);
            recorder.set_vertex_buffer(0, BufferSlice { buffer: *tracked, offset: 0, size: 4096 });
            recorder.push_debug_group("batch");
            for draw in 0..64 {
                recorder.set_bind_group(0, *group, &[draw % 4 * 256]);
                recorder.draw(0..3, draw..draw + 1);
            }
        })?;
        gpu.finish_batch(*batch)?;
        Ok(Self { gpu, pipeline, group, page, depth, mesh, tracked, image, queries, batch, sections: false })
    }

    fn frame(&mut self, out: &mut [u8]) -> Result<()> {
        let Self { gpu, pipeline, group, page, depth, mesh, tracked, image, queries, batch, sections } = self;
        let bytes = [1u8; 1024];
        for chunk in 0..4 {
            gpu.write_buffer(**mesh, chunk * 1024, &bytes)?;
            gpu.write_buffer(**tracked, chunk * 1024, &bytes)?;
        }
        let layout = TexelLayout { offset: 0, bytes_per_row: 64, rows_per_image: 16 };
        let size = Extent3d { width: 16, height: 16, depth_or_array_layers: 1 };
        gpu.write_texture(&TexturePlace::mip(**image, 0), size, &layout, &bytes)?;
        let mut recorder = gpu.record("frame")?;
        let mut offsets = [0u32; 64];
        for offset in &mut offsets {
            let data = recorder.push_frame_data(&[2; 16], 16)?;
            // The null device completes at once, so the one page serves every frame.
            assert_eq!(data.buffer, *page);
            *offset = data.offset as u32;
        }
        let whole = BufferSlice { buffer: **tracked, offset: 0, size: 4096 };
        let uses =
            [ResourceUse::Buffer { buffer: **tracked, offset: 0, size: 4096, usage: BufferUse::Vertex }];
        for number in 0..3 {
            let desc = RenderPassDesc {
                label: "depth",
                colors: &[],
                depth_stencil: Some(DepthStencilAttachment {
                    view: **depth,
                    depth: Some(AspectOps::clear(1.0)),
                    stencil: None,
                }),
                uses: &uses,
                occlusion_query_set: Some(**queries),
                ..Default::default()
            };
            recorder.render_pass(&desc, |pass| {
                pass.set_pipeline(**pipeline);
                pass.begin_occlusion_query(number * 70);
                pass.set_vertex_buffer(0, whole);
                pass.set_index_buffer(
                    BufferSlice { buffer: **mesh, offset: 0, size: 4096 },
                    IndexFormat::Uint16,
                );
                pass.push_debug_group("draws");
                for offset in offsets {
                    pass.set_bind_group(0, **group, &[offset]);
                    pass.draw_indexed(0..36, 0, 0..1);
                }
                pass.pop_debug_group();
                pass.end_occlusion_query();
            })?;
        }
        let batches = [**batch];
        let desc = RenderPassDesc {
            label: "batches",
            depth_stencil: Some(DepthStencilAttachment {
                view: **depth,
                depth: Some(AspectOps::load()),
                stencil: None,
            }),
            batches: &batches,
            ..Default::default()
        };
        recorder.render_pass(&desc, |pass| (0..3).for_each(|_| pass.execute_batch(**batch)))?;
        // And with what the batch uses declared by the pass.
        let desc = RenderPassDesc { uses: &uses, batches: &[], ..desc };
        recorder.render_pass(&desc, |pass| pass.execute_batch(**batch))?;
        if *sections {
            let desc = RenderPassDesc {
                label: "sections",
                colors: &[],
                depth_stencil: Some(DepthStencilAttachment {
                    view: **depth,
                    depth: Some(AspectOps::load()),
                    stencil: None,
                }),
                uses: &[],
                groups: &[],
                ..Default::default()
            };
            let (pipeline, group) = (**pipeline, **group);
            recorder.render_pass_parallel(&desc, 8, |section, pass| {
                pass.set_pipeline(pipeline);
                pass.push_debug_group("draws");
                for offset in offsets.iter().skip(section as usize * 8).take(8) {
                    pass.set_bind_group(0, group, &[*offset]);
                    pass.draw(0..3, 0..1);
                }
            })?;
        }
        let ticket = recorder.read_buffer(whole)?;
        let visible = recorder.read_queries(**queries, 0..200)?;
        recorder.submit()?;
        gpu.read(&ticket, out)?;
        let mut states = [QueryState::Pending; 200];
        gpu.read_queries_into(&visible, &mut states)?;
        assert!(matches!(states[140], QueryState::Value(_)) && states[1] == QueryState::Unavailable);
        gpu.maintain()
    }
}

#[test]
fn warm_frames_allocate_nothing() {
    counting_alloc::count_this_thread();
    rayon::broadcast(|_| counting_alloc::count_this_thread());
    let mut world = World::new().unwrap();
    let mut out = vec![0; 4096];
    let mut first = None;
    for frame in 1..=40 {
        let before = counting_alloc::allocations();
        world.frame(&mut out).unwrap();
        let made = counting_alloc::allocations() - before;
        first.get_or_insert(made);
        assert!(frame < 10 || made == 0, "frame {frame} made {made} allocations");
    }
    assert!(first.is_some_and(|made| made > 0), "the count is at work: the first frame allocates");

    // Sections allocate nothing either. The pool's own queue needs a block for every 63 passes that come from a thread
    // outside the pool.
    world.sections = true;
    let mut made = 0;
    let frames = 100;
    for frame in 1..=frames {
        let before = counting_alloc::allocations();
        world.frame(&mut out).unwrap();
        made += if frame > 10 { counting_alloc::allocations() - before } else { 0 };
    }
    assert!(made <= frames / 63 + 1, "{frames} frames with sections made {made} allocations");
}
