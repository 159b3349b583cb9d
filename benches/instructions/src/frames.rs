//! Graphs: declared, compiled, recorded and submitted.

use purlin_graph::{Graph, GraphArena, TransientBuffer, TransientTexture, bind};
use purlin_rhi::null::Null;
use purlin_rhi::types::{BufferUsages, ShaderStages, TextureUsages};
use purlin_rhi::{
    BindGroupLayout, BufferSlice, ComputePipeline, Device, LoadOp, RenderPipeline, Sampler, SamplerDesc,
    Texture, TextureDesc,
};

use crate::world::{BLACK, COLOR, DEPTH, DEPTH_TEXTURE, SAMPLER, TEXTURE, World, storage, uniform};
use crate::{Body, Outcome};

/// An arena whose frames take over the last one's answers, or find them anew.
fn arena(reuse: bool) -> GraphArena<Null> {
    let mut arena = GraphArena::new();
    arena.options().structure_reuse = reuse;
    arena
}

/// Passes of one dispatch that alternate two buffers.
pub fn chain(count: u32) -> Outcome<Body> {
    chain_with(count, arena(true))
}

/// The same, compiled anew each frame.
pub fn compiled_chain(count: u32) -> Outcome<Body> {
    chain_with(count, arena(false))
}

fn chain_with(count: u32, mut arena: GraphArena<Null>) -> Outcome<Body> {
    let mut world = World::new()?;
    let layout = world.layout(ShaderStages::COMPUTE, &[storage(true), storage(false)])?;
    let pipeline = world.compute(&[*layout])?;
    let buffers = [world.tracked(256)?, world.tracked(256)?];
    world.device.write_buffer(*buffers[0], 0, &[0; 256])?;
    Ok(Box::new(move || {
        let mut graph = Graph::new("chain", &mut arena);
        let mut source = graph.import_buffer("values", *buffers[0]);
        let mut target = graph.import_buffer("values", *buffers[1]);
        for _ in 0..count {
            graph
                .compute("step")
                .bind(0, *layout, [bind::buffer(&source), bind::storage(&mut target)])
                .dispatch(*pipeline, [1, 1, 1]);
            std::mem::swap(&mut source, &mut target);
        }
        let submitted = graph.submit(&mut world.device)?;
        assert_eq!((submitted.stats.passes, submitted.stats.culled), (count, 0));
        Ok(world.device.maintain()?)
    }))
}

/// Passes of one draw that load and store one target.
pub fn overlays(count: u32) -> Outcome<Body> {
    overlays_with(count, arena(true))
}

/// The same, compiled anew each frame.
pub fn compiled_overlays(count: u32) -> Outcome<Body> {
    overlays_with(count, arena(false))
}

fn overlays_with(count: u32, mut arena: GraphArena<Null>) -> Outcome<Body> {
    let mut world = World::new()?;
    let pipeline = world.raster(&[], true, false, false)?;
    let target = world.target()?;
    Ok(Box::new(move || {
        let mut graph = Graph::new("overlays", &mut arena);
        let mut color = graph.import_texture("target", *target.texture);
        for index in 0..count {
            let load = if index == 0 { BLACK } else { LoadOp::Load };
            graph.render("overlay").color(0, &mut color, load).draw(*pipeline, 0..6, index..index + 1);
        }
        let submitted = graph.submit(&mut world.device)?;
        assert_eq!((submitted.stats.passes, submitted.stats.culled), (count, 0));
        Ok(world.device.maintain()?)
    }))
}

/// Passes of the frame, its readback included.
pub const PASSES: u32 = 20;

/// Frames of a small renderer, declared as the demo declares its own.
pub fn frames(count: u32) -> Outcome<Body> {
    frames_with(count, arena(true))
}

/// The same, compiled anew each frame.
pub fn compiled_frames(count: u32) -> Outcome<Body> {
    frames_with(count, arena(false))
}

fn frames_with(count: u32, mut arena: GraphArena<Null>) -> Outcome<Body> {
    let mut world = World::new()?;
    let parts = Parts::new(&mut world)?;
    let picture = world.image(&TextureDesc::d2(
        "picture",
        1280,
        720,
        COLOR,
        TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING,
    ))?;
    let vertices = world.uploaded(BufferUsages::VERTEX, 1024)?;
    let vertices = BufferSlice { buffer: vertices.leak(), offset: 0, size: 1024 };
    world.settle()?;
    Ok(Box::new(move || {
        for _ in 0..count {
            frame(&mut world.device, &mut arena, &parts, *picture.texture, vertices)?;
            world.device.maintain()?;
        }
        Ok(())
    }))
}

/// Layouts and pipelines, for as long as the device lives.
struct Parts {
    linear: Sampler,
    reset_layout: BindGroupLayout,
    cull_layout: BindGroupLayout,
    view_layout: BindGroupLayout,
    lit_layout: BindGroupLayout,
    filter_layout: BindGroupLayout,
    tonemap_layout: BindGroupLayout,
    reset: ComputePipeline,
    cull: ComputePipeline,
    shadow: RenderPipeline,
    opaque: RenderPipeline,
    sky: RenderPipeline,
    filter: RenderPipeline,
    tonemap: RenderPipeline,
    overlay: RenderPipeline,
}

impl Parts {
    fn new(world: &mut World) -> Outcome<Self> {
        let (compute, graphics) = (ShaderStages::COMPUTE, ShaderStages::VERTEX_FRAGMENT);
        let reset_layout = world.layout(compute, &[storage(false)])?.leak();
        let types = [uniform(false), storage(true), storage(false), storage(false)];
        let cull_layout = world.layout(compute, &types)?.leak();
        let view_layout = world.layout(graphics, &[uniform(false)])?.leak();
        let lit_layout = world.layout(graphics, &[uniform(false), DEPTH_TEXTURE, SAMPLER])?.leak();
        let filter_layout = world.layout(graphics, &[TEXTURE, SAMPLER])?.leak();
        let types = [TEXTURE, SAMPLER, uniform(false), TEXTURE];
        let tonemap_layout = world.layout(graphics, &types)?.leak();
        Ok(Self {
            linear: world.device.create_sampler(&SamplerDesc::linear("linear"))?.leak(),
            reset_layout,
            cull_layout,
            view_layout,
            lit_layout,
            filter_layout,
            tonemap_layout,
            reset: world.compute(&[reset_layout])?.leak(),
            cull: world.compute(&[cull_layout])?.leak(),
            shadow: world.raster(&[view_layout], false, true, false)?.leak(),
            opaque: world.raster(&[lit_layout], true, true, false)?.leak(),
            sky: world.raster(&[view_layout], true, true, false)?.leak(),
            filter: world.raster(&[filter_layout], true, false, false)?.leak(),
            tonemap: world.raster(&[tonemap_layout], true, false, false)?.leak(),
            overlay: world.raster(&[], true, false, true)?.leak(),
        })
    }
}

fn frame(
    device: &mut Device<Null>,
    arena: &mut GraphArena<Null>,
    parts: &Parts,
    picture: Texture,
    vertices: BufferSlice,
) -> Outcome<()> {
    let Parts { reset_layout, cull_layout, view_layout, lit_layout, .. } = *parts;
    let Parts { filter_layout, tonemap_layout, reset, cull, shadow, opaque, sky, .. } = *parts;
    let Parts { linear, filter, tonemap, overlay, .. } = *parts;
    let mut data = || device.push_frame_data(&[1; 64], 256);
    let (view, sun, post, instances) = (data()?, data()?, data()?, data()?);
    let sampler = || bind::sampler(linear);

    let mut graph = Graph::new("frame", arena);
    let mut visible = graph.buffer("visible", TransientBuffer::new(16));
    let mut camera_commands = graph.buffer("camera commands", TransientBuffer::new(1024));
    let mut sun_commands = graph.buffer("sun commands", TransientBuffer::new(1024));
    graph.compute("reset").bind(0, reset_layout, [bind::storage(&mut visible)]).dispatch(reset, [1, 1, 1]);
    let views = [("cull camera", view, &mut camera_commands), ("cull sun", sun, &mut sun_commands)];
    for (label, view, commands) in views {
        let (view, instances) = (bind::uploaded(view), bind::uploaded(instances));
        let entries = [view, instances, bind::storage(commands), bind::storage(&mut visible)];
        graph.compute(label).bind(0, cull_layout, entries).dispatch(cull, [4, 1, 1]);
    }

    let mut map = graph.texture("shadow map", TransientTexture::d2(DEPTH, 1024, 1024));
    let commands = sun_commands.id();
    graph
        .render("shadow map")
        .depth(&mut map, LoadOp::Clear(1.0))
        .bind(0, view_layout, [bind::uploaded(sun)])
        .indirect(&sun_commands)
        .record(move |pass| {
            pass.set_pipeline(shadow);
            let commands = pass.buffer(commands);
            pass.draw_indirect(commands, 0);
        });

    let mut color = graph.texture("color", TransientTexture::d2(COLOR, 1280, 720));
    let mut depth = graph.texture("depth", TransientTexture::d2(DEPTH, 1280, 720));
    let commands = camera_commands.id();
    graph
        .render("opaque")
        .color(0, &mut color, BLACK)
        .depth(&mut depth, LoadOp::Clear(1.0))
        .bind(0, lit_layout, [bind::uploaded(view), bind::texture(&map), sampler()])
        .indirect(&camera_commands)
        .record(move |pass| {
            pass.set_pipeline(opaque);
            let commands = pass.buffer(commands);
            pass.draw_indirect(commands, 0);
        });
    graph
        .render("sky")
        .color(0, &mut color, LoadOp::Load)
        .depth(&mut depth, LoadOp::Load)
        .bind(0, view_layout, [bind::uploaded(view)])
        .fullscreen(sky);

    let mut bloom = graph.texture("bloom", TransientTexture::d2(COLOR, 640, 360).mips(6));
    let mut mips = bloom.split_mips();
    graph
        .render("bloom prefilter")
        .color(0, &mut mips[0], LoadOp::DontCare)
        .bind(0, filter_layout, [bind::texture(&color), sampler()])
        .fullscreen(filter);
    for mip in 1..mips.len() {
        let (larger, smaller) = mips.split_at_mut(mip);
        graph
            .render("bloom down")
            .color(0, &mut smaller[0], LoadOp::DontCare)
            .bind(0, filter_layout, [bind::texture(&larger[mip - 1]), sampler()])
            .fullscreen(filter);
    }
    for mip in (1..mips.len()).rev() {
        let (larger, smaller) = mips.split_at_mut(mip);
        graph
            .render("bloom up")
            .color(0, &mut larger[mip - 1], LoadOp::Load)
            .bind(0, filter_layout, [bind::texture(&smaller[0]), sampler()])
            .fullscreen(filter);
    }

    let mut picture = graph.import_texture("picture", picture);
    let largest = bloom.mip(0);
    let entries = [bind::texture(&color), sampler(), bind::uploaded(post), bind::texture(&largest)];
    graph
        .render("tonemap")
        .color(0, &mut picture, LoadOp::DontCare)
        .bind(0, tonemap_layout, entries)
        .fullscreen(tonemap);
    graph.render("overlay").color(0, &mut picture, LoadOp::Load).record(move |pass| {
        pass.set_pipeline(overlay);
        pass.set_vertex_buffer(0, vertices);
        pass.set_vertex_buffer(1, vertices);
        pass.draw(0..6, 0..8);
    });
    let read = graph.read_buffer(&visible);
    let mut submitted = graph.submit(device)?;
    assert_eq!((submitted.stats.passes, submitted.stats.culled), (PASSES, 0));
    let ticket = submitted.take_read(read).ok_or("the readback has no ticket")?;
    device.read(&ticket, &mut [0; 16])?;
    Ok(())
}
