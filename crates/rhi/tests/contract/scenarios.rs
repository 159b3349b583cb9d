//! What programs do, in short: each scenario is a run of public calls that ends at the first error. The fault harness
//! runs every one of them with every failure; a scenario is added by one function and one line in [`ALL`].

mod more;

use std::any::Any;

use purlin_rhi::handle::{Handle, kind::Kind};
use purlin_rhi::null::Null;
use purlin_rhi::plan::{BufferUse, ResourceUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::handles::Zoo;
use crate::support::*;

/// What a scenario came to, as far as it got.
#[derive(Default)]
pub struct Kept {
    /// In the order in which they were made.
    owners: Vec<Box<dyn Any>>,
    pub uploads: Vec<UploadTicket>,
    pub reads: Vec<ReadTicket>,
    pub tokens: Vec<SubmissionToken>,
    /// The results of all readbacks: the same whatever the pace of completion is.
    pub bytes: Vec<u8>,
}

impl Kept {
    fn hold<K: Kind>(&mut self, owner: Owned<K>) -> Handle<K> {
        let handle = owner.handle();
        self.owners.push(Box::new(owner));
        handle
    }

    fn buffer(&mut self, gpu: &mut Gpu, label: &str, size: u64, usage: BufferUsages) -> Result<Buffer> {
        Ok(self.hold(gpu.create_buffer(&BufferDesc::new(label, size, usage | BOTH_COPIES))?))
    }

    fn write(&mut self, gpu: &mut Gpu, buffer: Buffer, offset: u64, data: &[u8]) -> Result<()> {
        self.uploads.push(gpu.write_buffer(buffer, offset, data)?);
        Ok(())
    }

    /// A target of one mip and a view of it.
    fn target(&mut self, gpu: &mut Gpu, format: TextureFormat) -> Result<(Texture, TextureView)> {
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let usage = usage | TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING;
        let texture = self.hold(gpu.create_texture(&TextureDesc::d2("target", 4, 4, format, usage))?);
        let view = self.hold(gpu.create_texture_view(texture, &TextureViewDesc::default())?);
        Ok((texture, view))
    }

    fn shape(&mut self, gpu: &mut Gpu, ty: BindingType, stages: ShaderStages) -> Result<BindGroupLayout> {
        let entries = [entry(0, stages, ty)];
        let desc = BindGroupLayoutDesc { label: "shape", entries: &entries };
        Ok(self.hold(gpu.create_bind_group_layout(&desc)?))
    }

    fn group(
        &mut self,
        gpu: &mut Gpu,
        layout: BindGroupLayout,
        entry: BindGroupEntry<'_>,
    ) -> Result<BindGroup> {
        let desc = BindGroupDesc { label: "group", layout, entries: &[entry] };
        Ok(self.hold(gpu.create_bind_group(&desc)?))
    }

    fn layout(&mut self, gpu: &mut Gpu, groups: &[BindGroupLayout]) -> Result<PipelineLayout> {
        let desc = PipelineLayoutDesc { label: "layout", groups, immediate_size: 16 };
        Ok(self.hold(gpu.create_pipeline_layout(&desc)?))
    }

    fn kernel(
        &mut self,
        gpu: &mut Gpu,
        source: &shader::ShaderSource,
        groups: &[BindGroupLayout],
    ) -> Result<ComputePipeline> {
        let layout = self.layout(gpu, groups)?;
        let module = self.hold(gpu.create_shader_module(source)?);
        let compute = ShaderStageDesc { module, entry: "cs" };
        let desc = ComputePipelineDesc { label: "compute", layout, compute };
        Ok(self.hold(gpu.create_compute_pipeline(&desc)?))
    }

    fn raster(
        &mut self,
        gpu: &mut Gpu,
        source: &shader::ShaderSource,
        groups: &[BindGroupLayout],
        depth: Option<DepthStencilDesc>,
    ) -> Result<RenderPipeline> {
        let layout = self.layout(gpu, groups)?;
        let module = self.hold(gpu.create_shader_module(source)?);
        let targets = [Some(COLOR.into())];
        let desc = RenderPipelineDesc { depth_stencil: depth, ..raster(module, layout, &targets) };
        Ok(self.hold(gpu.create_render_pipeline(&desc)?))
    }

    fn submit(&mut self, recorder: Recorder<'_, Null>) -> Result<()> {
        self.tokens.push(recorder.submit()?);
        Ok(())
    }

    /// Waits for a readback and keeps its bytes. The ticket stays, as one that was delivered.
    fn deliver(&mut self, gpu: &mut Gpu, ticket: ReadTicket) -> Result<()> {
        let last = gpu.last_submission();
        gpu.wait(last, SECOND)?;
        self.bytes.extend(gpu.read_vec(&ticket)?);
        self.reads.push(ticket);
        Ok(())
    }

    /// Drops the owners from the oldest on, or from the newest on.
    pub fn drop_owners(&mut self, oldest_first: bool) {
        if oldest_first {
            self.owners.drain(..).for_each(drop);
        } else {
            while self.owners.pop().is_some() {}
        }
    }
}

pub type Scenario = fn(&mut Gpu, &mut Kept) -> Result<()>;

/// Every scenario by name.
pub const ALL: &[(&str, Scenario)] = &[
    ("creations", creations),
    ("textures", textures),
    ("uploads", uploads),
    ("full_ring", full_ring),
    ("readbacks", readbacks),
    ("frame_data", frame_data),
    ("copies", copies),
    ("raster", raster_passes),
    ("compute", compute_passes),
    ("sections", sections),
    ("timings", timings),
    ("planned", planned),
    ("updates", updates),
    ("discarded", discarded),
    ("destruction", destruction),
    ("batches", more::batches),
    ("multisampled", more::multisampled),
    ("tables", more::tables),
    ("windows", more::windows),
    ("requested", requested),
];

/// The storage of the scenarios' devices: small, so that rings turn and pages fill.
pub const STORAGE: StorageCeilings = StorageCeilings {
    objects: ObjectCeilings::each(256),
    memory_budget: 1 << 20,
    upload_ring: 8192,
    frame_arena_page: 1024,
    readback: 8192,
    batch_commands: 64,
};

fn creations(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    for _ in 0..2 {
        let zoo = Zoo::new(gpu)?;
        let Zoo { buffer, texture, view, sampler, shape, group, layout, module, raster, compute } = zoo;
        kept.hold(buffer);
        kept.hold(texture);
        kept.hold(view);
        kept.hold(sampler);
        kept.hold(shape);
        kept.hold(group);
        kept.hold(layout);
        kept.hold(module);
        kept.hold(raster);
        kept.hold(compute);
        gpu.maintain()?;
    }
    Ok(())
}

fn textures(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let sampled = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let descs = [
        TextureDesc { mips: 3, ..TextureDesc::d2("mips", 8, 8, COLOR, sampled) },
        TextureDesc { size: extent(4, 4, 6), ..TextureDesc::d2("layers", 4, 4, COLOR, sampled) },
        TextureDesc {
            size: extent(4, 4, 4),
            dimension: TextureDimension::D3,
            ..TextureDesc::d2("volume", 4, 4, COLOR, sampled)
        },
    ];
    for desc in &descs {
        let texture = kept.hold(gpu.create_texture(desc)?);
        kept.hold(gpu.create_texture_view(texture, &TextureViewDesc::default())?);
        let mip = desc.mips - 1;
        let size = desc.mip_size(mip);
        let bytes = vec![3; (size.width * size.height * size.depth_or_array_layers * 4) as usize];
        let layout = rows(size.width * 4, size.height);
        kept.uploads.push(gpu.write_texture(&at(texture, mip, 0, 0, 0), size, &layout, &bytes)?);
        let mut recorder = gpu.record("read")?;
        let ticket = recorder.read_texture(&at(texture, mip, 0, 0, 0), size)?;
        kept.submit(recorder)?;
        kept.deliver(gpu, ticket)?;
    }
    Ok(())
}

fn uploads(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let data = kept.buffer(gpu, "data", 256, BufferUsages::VERTEX)?;
    let mesh = kept.hold(gpu.create_buffer(&BufferDesc::uploaded("mesh", 64, BufferUsages::INDEX))?);
    let image = kept.hold(gpu.create_texture(&TextureDesc::uploaded("image", 4, 4, 1, COLOR))?);
    for round in 1..3 {
        kept.write(gpu, data, 0, &[round; 256])?;
        // Two writes of one place in one recording, in order.
        kept.write(gpu, data, 128, &[round + 10; 64])?;
        kept.write(gpu, mesh, 0, &[round; 64])?;
        let place = TexturePlace::mip(image, 0);
        kept.uploads.push(gpu.write_texture(&place, extent(4, 4, 1), &rows(16, 4), &[round; 64])?);
        kept.tokens.push(gpu.flush_uploads()?);
    }
    let mut recorder = gpu.record("read")?;
    let ticket = recorder.read_buffer(slice(data, 0, 256))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, ticket)?;
    for ticket in kept.uploads.clone() {
        gpu.upload_state(ticket)?;
    }
    Ok(())
}

/// Writes more than the ring has, as one does: submit, wait, and write again.
fn full_ring(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let data = kept.buffer(gpu, "data", 1000, BufferUsages::empty())?;
    for round in 0..20 {
        match gpu.write_buffer(data, 0, &[round; 1000]) {
            Ok(ticket) => kept.uploads.push(ticket),
            Err(Error::Pending { .. }) => {
                let token = gpu.flush_uploads()?;
                kept.tokens.push(token);
                gpu.wait(token, SECOND)?;
                kept.write(gpu, data, 0, &[round; 1000])?;
            }
            Err(error) => return Err(error),
        }
    }
    let mut recorder = gpu.record("read")?;
    let ticket = recorder.read_buffer(slice(data, 0, 1000))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, ticket)
}

fn readbacks(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let data = kept.buffer(gpu, "data", 2048, BufferUsages::empty())?;
    kept.write(gpu, data, 0, &[9; 2048])?;
    for size in [2048, 1024, 512, 2048] {
        let mut recorder = gpu.record("read")?;
        let ticket = recorder.read_buffer(slice(data, 0, size))?;
        let cancelled = recorder.read_buffer(slice(data, 0, 256))?;
        kept.submit(recorder)?;
        drop(cancelled);
        kept.deliver(gpu, ticket)?;
    }
    let mut recorder = gpu.record("never submitted")?;
    kept.reads.push(recorder.read_buffer(slice(data, 0, 64))?);
    Ok(())
}

fn frame_data(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let target = kept.buffer(gpu, "target", 2048, BufferUsages::empty())?;
    for frame in 0..3u8 {
        gpu.push_frame_data(&[frame; 16], 16)?;
        let mut recorder = gpu.record("frame")?;
        for part in 0..8 {
            let data = recorder.push_frame_data(&[frame * 8 + part as u8; 256], 16)?;
            recorder.copy_buffer(data, target, part * 256)?;
        }
        kept.submit(recorder)?;
    }
    let mut recorder = gpu.record("read")?;
    let ticket = recorder.read_buffer(slice(target, 0, 2048))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, ticket)
}

fn copies(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (from, to) = (
        kept.buffer(gpu, "from", 1024, BufferUsages::empty())?,
        kept.buffer(gpu, "to", 1024, BufferUsages::empty())?,
    );
    let ((a, _), (b, _)) = (kept.target(gpu, COLOR)?, kept.target(gpu, COLOR)?);
    kept.write(gpu, from, 0, &(0..=255).cycle().take(1024).collect::<Vec<u8>>())?;
    let (size, place) = (extent(4, 4, 1), TexturePlace::mip);
    let mut recorder = gpu.record("copies")?;
    recorder.clear_buffer(slice(to, 0, 1024))?;
    recorder.copy_buffer(slice(from, 256, 128), to, 64)?;
    recorder.copy_buffer_to_texture(from, &rows(256, 4), &place(a, 0), size)?;
    recorder.copy_texture(&place(a, 0), &place(b, 0), size)?;
    recorder.copy_texture_to_buffer(&place(b, 0), size, to, &rows(256, 4))?;
    let texels = recorder.read_texture(&place(b, 0), size)?;
    let ticket = recorder.read_buffer(slice(to, 0, 1024))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, texels)?;
    kept.deliver(gpu, ticket)
}

/// Draws of every kind over color and depth, with groups of the frame arena, tracked and uploaded buffers.
fn raster_passes(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (color, color_view) = kept.target(gpu, COLOR)?;
    let depth = TextureFormat::Depth32Float;
    let (_, depth_view) = kept.target(gpu, depth)?;
    let vertices = kept.buffer(gpu, "vertices", 256, BufferUsages::VERTEX)?;
    let indices = kept.hold(gpu.create_buffer(&BufferDesc::uploaded("indices", 64, BufferUsages::INDEX))?);
    let arguments = kept.buffer(gpu, "arguments", 64, BufferUsages::INDIRECT)?;
    kept.write(gpu, vertices, 0, &[0; 256])?;
    kept.write(gpu, indices, 0, &[0; 64])?;
    kept.write(gpu, arguments, 0, &[1; 64])?;
    let page = gpu.push_frame_data(&[5; 16], 16)?;
    let shape = kept.shape(gpu, dynamic_uniform(16), ShaderStages::VERTEX)?;
    let group = kept.group(gpu, shape, BindGroupEntry::buffer_range(0, page.buffer, 0, 16))?;
    let state = DepthStencilDesc::depth(depth, true, CompareFunction::Less);
    let pipeline = kept.raster(gpu, &BOUND, &[shape, shape], Some(state))?;
    let uses = [buffer_use(vertices, 256, BufferUse::Vertex), buffer_use(arguments, 64, BufferUse::Indirect)];
    for frame in 0..2 {
        let mut recorder = gpu.record("frame")?;
        let attached = DepthStencilAttachment {
            view: depth_view,
            depth: Some(if frame == 0 { AspectOps::clear(1.0) } else { AspectOps::load() }),
            stencil: None,
        };
        let colors = [cleared(color_view)];
        let desc = RenderPassDesc { depth_stencil: Some(attached), ..pass(&colors, &uses) };
        recorder.render_pass(&desc, |pass| {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[page.offset as u32]);
            pass.set_bind_group(1, group, &[page.offset as u32]);
            pass.set_vertex_buffer(0, slice(vertices, 0, 256));
            pass.set_index_buffer(slice(indices, 0, 64), IndexFormat::Uint16);
            pass.draw(0..3, 0..1);
            pass.draw_indexed(0..6, 0, 0..2);
            pass.draw_indirect(arguments, 0);
            pass.draw_indexed_indirect(arguments, 16);
        })?;
        kept.submit(recorder)?;
    }
    let mut recorder = gpu.record("read")?;
    let ticket = recorder.read_texture(&TexturePlace::mip(color, 0), extent(4, 4, 1))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, ticket)
}

/// Pipelines that are requested: drawn with when they are there, given up while they wait, and asked for twice.
fn requested(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (color, view) = kept.target(gpu, COLOR)?;
    let fallback = kept.raster(gpu, &SIMPLE, &[], None)?;
    let layout = kept.layout(gpu, &[])?;
    let module = kept.hold(gpu.create_shader_module(&SIMPLE)?);
    let targets = [Some(COLOR.into())];
    let desc = raster(module, layout, &targets);
    let other =
        RenderPipelineDesc { multisample: MultisampleDesc { mask: 1, ..desc.multisample }, ..desc.clone() };
    let compute = ShaderStageDesc { module, entry: "cs" };
    let kernel = ComputePipelineDesc { label: "kernel", layout, compute };
    let drawn = gpu.request_render_pipeline(&desc)?;
    let given_up = gpu.request_render_pipeline(&other)?;
    let kernel = gpu.request_compute_pipeline(&kernel)?;
    let twice = gpu.request_render_pipeline(&desc)?;
    kept.owners.push(Box::new((drawn.clone(), twice)));
    drop(given_up);
    for _ in 0..3 {
        let mut recorder = gpu.record("frame")?;
        let pipeline = recorder.device().pipeline_or(&drawn, fallback)?;
        recorder.render_pass(&pass(&[cleared(view)], &[]), |pass| {
            pass.set_pipeline(pipeline);
            pass.draw(0..3, 0..1);
        })?;
        kept.submit(recorder)?;
    }
    gpu.wait_for_pipelines(10 * SECOND)?;
    gpu.pipeline(&drawn)?;
    gpu.pipeline(&kernel)?;
    let mut recorder = gpu.record("read")?;
    let ticket = recorder.read_texture(&TexturePlace::mip(color, 0), extent(4, 4, 1))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, ticket)
}

/// Dispatches with declared uses and with declared groups, direct and indirect.
fn compute_passes(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    const CS: ShaderStages = ShaderStages::COMPUTE;
    let cells = kept.buffer(gpu, "cells", 64, BufferUsages::STORAGE)?;
    let arguments = kept.buffer(gpu, "arguments", 64, BufferUsages::INDIRECT)?;
    kept.write(gpu, arguments, 0, &[0; 64])?;
    let shape = kept.shape(gpu, storage(false), CS)?;
    let group = kept.group(gpu, shape, BindGroupEntry::buffer(0, cells))?;
    let kernel = kept.kernel(gpu, &STORES, &[shape])?;
    let uses =
        [buffer_use(cells, 64, BufferUse::StorageWrite(CS)), buffer_use(arguments, 64, BufferUse::Indirect)];
    let groups = [group];
    let mut recorder = gpu.record("frame")?;
    recorder.clear_buffer(slice(cells, 0, 64))?;
    let mut run = |desc: &ComputePassDesc<'_>, indirect: bool| {
        recorder.compute_pass(desc, |pass| {
            pass.set_pipeline(kernel);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch([1, 2, 3]);
            pass.barrier();
            if indirect {
                pass.dispatch_indirect(arguments, 0);
            }
        })
    };
    run(&ComputePassDesc { label: "uses", uses: &uses, groups: &[], ..Default::default() }, true)?;
    run(&ComputePassDesc { label: "group", uses: &[], groups: &groups, ..Default::default() }, false)?;
    run(&ComputePassDesc { label: "again", uses: &uses[1..], groups: &groups, ..Default::default() }, true)?;
    let ticket = recorder.read_buffer(slice(cells, 0, 64))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, ticket)
}

fn sections(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (color, view) = kept.target(gpu, COLOR)?;
    let pipeline = kept.raster(gpu, &SIMPLE, &[], None)?;
    for count in [3, 2] {
        let mut recorder = gpu.record("frame")?;
        recorder.render_pass_parallel(&pass(&[cleared(view)], &[]), count, |index, pass| {
            pass.set_pipeline(pipeline);
            pass.draw(0..3, index..index + 1);
        })?;
        let ticket = recorder.read_texture(&TexturePlace::mip(color, 0), extent(4, 4, 1))?;
        kept.submit(recorder)?;
        kept.deliver(gpu, ticket)?;
    }
    Ok(())
}

fn timings(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let Some(token) = gpu.capability::<TimestampQuery>() else { return Ok(()) };
    gpu.enable_timings(token, true);
    let (_, view) = kept.target(gpu, COLOR)?;
    for _ in 0..4 {
        let mut recorder = gpu.record("frame")?;
        recorder.render_pass(&pass(&[cleared(view)], &[]), |_| {})?;
        recorder.compute_pass(&ComputePassDesc::default(), |_| {})?;
        kept.submit(recorder)?;
        gpu.pass_times()?;
    }
    gpu.enable_timings(token, false);
    Ok(())
}

/// A frame that is planned whole before it is recorded, as the graph does.
fn planned(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (color, view) = kept.target(gpu, COLOR)?;
    let data = kept.buffer(gpu, "data", 64, BufferUsages::STORAGE)?;
    let range = color_range(0);
    let usage = |usage| texture_use(color, range, usage);
    let lists = [
        [buffer_use(data, 64, BufferUse::CopyDst)],
        [usage(TextureUse::Color { load: false })],
        [usage(TextureUse::CopySrc)],
    ];
    let mut list = plan::PassList::new();
    let mut plan = plan::Plan::new();
    for _ in 0..2 {
        list.begin();
        for uses in &lists {
            uses.iter().for_each(|usage: &ResourceUse| list.push_use(*usage));
            list.end_pass();
        }
        plan.clear();
        let mut recorder = gpu.record("frame")?;
        recorder.plan(&list, &mut plan, |index| format!("pass {index}"))?;
        recorder.barriers(plan.batch(0));
        let copies = |pass: &mut TransferPass<'_, Null>| pass.clear_buffer(slice(data, 0, 64));
        recorder.transfer_pass_planned("clear", &lists[0], copies)?;
        recorder.barriers(plan.batch(1));
        recorder.render_pass_planned(&pass(&[cleared(view)], &[]), &lists[1], |pass| pass.end())?;
        recorder.barriers(plan.batch(2));
        let ticket = recorder.read_texture_planned(&TexturePlace::mip(color, 0), extent(4, 4, 1))?;
        kept.submit(recorder)?;
        kept.deliver(gpu, ticket)?;
    }
    Ok(())
}

/// Writes what earlier submissions still read, and grows what is bound by replacing it.
fn updates(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let shape = kept.shape(gpu, uniform(16), ShaderStages::VERTEX)?;
    let pipeline = kept.raster(gpu, &BOUND, &[shape, shape], None)?;
    let (_, view) = kept.target(gpu, COLOR)?;
    let mut ticket = None;
    for frame in 1..4u8 {
        // A new buffer and group each frame; those of the last frame go while they may be in flight.
        let size = u64::from(frame) * 64;
        let desc = BufferDesc::uploaded("frame", size, BufferUsages::UNIFORM | BufferUsages::COPY_SRC);
        let data = gpu.create_buffer(&desc)?;
        kept.write(gpu, *data, 0, &vec![frame; size as usize])?;
        let entries = [BindGroupEntry::buffer(0, *data)];
        let group = gpu.create_bind_group(&BindGroupDesc { label: "g", layout: shape, entries: &entries })?;
        let mut recorder = gpu.record("frame")?;
        recorder.render_pass(&pass(&[cleared(view)], &[]), |pass| {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, *group, &[]);
            pass.set_bind_group(1, *group, &[]);
            pass.draw(0..3, 0..1);
        })?;
        ticket = Some(recorder.read_buffer(slice(*data, 0, 64))?);
        drop(group);
        kept.submit(recorder)?;
        // Behind everything in flight, so the readback keeps the old bytes.
        kept.write(gpu, *data, 0, &[99; 64])?;
    }
    match ticket {
        Some(ticket) => kept.deliver(gpu, ticket),
        None => Ok(()),
    }
}

/// Recordings that are given up with everything in them.
fn discarded(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (_, view) = kept.target(gpu, COLOR)?;
    let data = kept.buffer(gpu, "data", 64, BufferUsages::empty())?;
    let pipeline = kept.raster(gpu, &SIMPLE, &[], None)?;
    for given_up in [true, false, true] {
        kept.write(gpu, data, 0, &[7; 64])?;
        let mut recorder = gpu.record("frame")?;
        recorder.push_frame_data(&[1; 16], 16)?;
        let draw = |_, pass: &mut RenderPass<'_, Null>| {
            pass.set_pipeline(pipeline);
            pass.draw(0..3, 0..1);
        };
        recorder.render_pass_parallel(&pass(&[cleared(view)], &[]), 2, draw)?;
        let ticket = recorder.read_buffer(slice(data, 0, 64))?;
        if given_up {
            kept.reads.push(ticket);
            drop(recorder);
        } else {
            kept.submit(recorder)?;
            kept.deliver(gpu, ticket)?;
        }
    }
    Ok(())
}

/// What a frame uses goes at every point of the frame.
fn destruction(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    const POINTS: usize = 6;
    for point in 0..POINTS {
        let mut own = Kept::default();
        let (_, view) = own.target(gpu, COLOR)?;
        let data = own.buffer(gpu, "data", 64, BufferUsages::VERTEX)?;
        let pipeline = own.raster(gpu, &SIMPLE, &[], None)?;
        let kernel = own.kernel(gpu, &SIMPLE, &[])?;
        own.write(gpu, data, 0, &[1; 64])?;
        let mut own = Some(own);
        let mut at = |now: usize| {
            if now == point {
                own = None;
            }
        };
        let mut recorder = gpu.record("frame")?;
        at(0);
        let uses = [buffer_use(data, 64, BufferUse::Vertex)];
        recorder.render_pass(&pass(&[cleared(view)], &uses), |pass| {
            pass.set_pipeline(pipeline);
            at(1);
            pass.set_vertex_buffer(0, slice(data, 0, 64));
            pass.draw(0..3, 0..1);
        })?;
        at(2);
        recorder.compute_pass(&ComputePassDesc::default(), |pass| {
            pass.set_pipeline(kernel);
            pass.dispatch([1, 1, 1]);
        })?;
        at(3);
        kept.submit(recorder)?;
        at(4);
        gpu.maintain()?;
        at(5);
    }
    Ok(())
}
