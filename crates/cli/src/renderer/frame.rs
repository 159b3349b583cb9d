//! The frame: twenty passes, from culling to the text in the corner. Where the CPU culls, the first three are missing.
//!
//! Each function declares one stage. A pass binds what it reads and borrows what it writes; barriers, layouts and the
//! memory of everything transient follow from that. What only uploads write (meshes, textures, the frame's uniforms)
//! needs no declaration at all.

use purlin::graph::{BufferVersion, Graph, ReadId, TextureVersion, TransientBuffer, TransientTexture, bind};
use purlin::rhi::backend::Backend;
use purlin::rhi::types::Extent3d;
use purlin::rhi::{BindGroup, BufferSlice, ClearValue, LoadOp, Sampler, Texture, full_mip_count, types};

use super::layouts::Layouts;
use super::models::{COMMAND_BYTES, Models};
use super::pipelines::{Pipelines, sides};
use super::{DEPTH_FORMAT, HDR_FORMAT, SHADOW_SIDE};
use crate::size::Size;

/// What the frame is made of.
pub(super) struct Inputs<'f> {
    pub size: Size,
    pub models: &'f Models,
    pub layouts: &'f Layouts,
    pub pipelines: &'f Pipelines,
    pub samplers: Samplers,
    pub uniforms: Uniforms,
    pub overlay: Quads,
    /// Where the picture goes.
    pub picture: Texture,
    /// Whether the CPU wants the picture.
    pub read: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Samplers {
    pub shadow: Sampler,
    pub linear: Sampler,
}

/// This frame's small data in the device's frame arena.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uniforms {
    pub frame: BufferSlice,
    pub cull_camera: BufferSlice,
    pub cull_sun: BufferSlice,
    pub post: BufferSlice,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Quads {
    pub group: BindGroup,
    pub slice: BufferSlice,
    pub count: u32,
}

/// What the CPU will read.
pub(super) struct Reads {
    pub visible: Option<ReadId>,
    pub picture: Option<ReadId>,
}

/// Declares the whole frame.
pub(super) fn declare<'f, B: Backend>(graph: &mut Graph<'f, B>, inputs: &Inputs<'f>) -> Reads {
    let commands = cull(graph, inputs);
    let shadow_map = shadow(graph, inputs, commands.as_ref());
    let scene = scene(graph, inputs, commands.as_ref(), &shadow_map);
    let bloom = bloom(graph, inputs, &scene);
    let picture = finish(graph, inputs, &scene, &bloom);
    Reads {
        visible: commands.map(|commands| graph.read_buffer(&commands.visible)),
        picture: inputs.read.then(|| graph.read_texture(&picture)),
    }
}

/// Indirect draw commands, one for each instance, and how many of them draw something.
struct Commands {
    camera: BufferVersion,
    sun: BufferVersion,
    visible: BufferVersion,
}

/// Decides on the GPU what the camera and the sun see; nothing where the CPU has decided it.
fn cull<'f, B: Backend>(graph: &mut Graph<'f, B>, inputs: &Inputs<'f>) -> Option<Commands> {
    let Inputs { models, uniforms, .. } = inputs;
    let (layouts, pipelines) = inputs.layouts.cull.as_ref().zip(inputs.pipelines.cull.as_ref())?;
    let bytes = u64::from(models.count()) * COMMAND_BYTES;
    let mut camera = graph.buffer("camera commands", TransientBuffer::new(bytes));
    let mut sun = graph.buffer("sun commands", TransientBuffer::new(bytes));
    let mut visible = graph.buffer("visible counts", TransientBuffer::new(16));

    graph
        .compute("reset counts")
        .bind(0, *layouts.reset, [bind::storage(&mut visible)])
        .dispatch(*pipelines.reset, [1, 1, 1]);

    let views =
        [("cull camera", uniforms.cull_camera, &mut camera), ("cull sun", uniforms.cull_sun, &mut sun)];
    for (label, view, commands) in views {
        let entries = [
            bind::uploaded(view),
            bind::uploaded(models.instances()),
            bind::storage(commands),
            bind::storage(&mut visible),
        ];
        graph
            .compute(label)
            .bind(0, *layouts.view, entries)
            .dispatch(*pipelines.view, [models.count().div_ceil(64), 1, 1]);
    }
    Some(Commands { camera, sun, visible })
}

/// Draws the scene's depth as the sun sees it.
fn shadow<'f, B: Backend>(
    graph: &mut Graph<'f, B>,
    inputs: &Inputs<'f>,
    commands: Option<&Commands>,
) -> TextureVersion {
    let Inputs { models, layouts, pipelines, uniforms, .. } = *inputs;
    let mut map = graph.texture("shadow map", TransientTexture::d2(DEPTH_FORMAT, SHADOW_SIDE, SHADOW_SIDE));
    let draws = commands.map(|commands| &commands.sun);
    let (pipeline, ids) = (*pipelines.shadow, draws.map(BufferVersion::id));
    let pass = graph.render("shadow map").depth(&mut map, LoadOp::Clear(1.0)).bind(
        0,
        *layouts.view,
        [bind::uploaded(uniforms.frame)],
    );
    let pass = match draws {
        Some(draws) => pass.indirect(draws),
        None => pass,
    };
    pass.record(move |pass| models.draw_all(pass, pipeline, ids));
    map
}

/// Draws the scene in linear light: opaque surfaces, the sky behind them, and blended surfaces from back to front.
fn scene<'f, B: Backend>(
    graph: &mut Graph<'f, B>,
    inputs: &Inputs<'f>,
    commands: Option<&Commands>,
    shadow_map: &TextureVersion,
) -> TextureVersion {
    let Inputs { size, models, layouts, pipelines, uniforms, samplers, .. } = *inputs;
    let mut color = graph.texture("scene color", TransientTexture::d2(HDR_FORMAT, size.width, size.height));
    let mut depth = graph.texture("scene depth", TransientTexture::d2(DEPTH_FORMAT, size.width, size.height));
    let draws = commands.map(|commands| &commands.camera);
    let ids = draws.map(BufferVersion::id);
    let lit = || [bind::uploaded(uniforms.frame), bind::texture(shadow_map), bind::sampler(samplers.shadow)];

    let surfaces = sides(&pipelines.opaque);
    let pass = graph
        .render("opaque")
        .color(0, &mut color, LoadOp::Clear(ClearValue::Float([0.0; 4])))
        .depth(&mut depth, LoadOp::Clear(1.0))
        .bind(0, *layouts.frame, lit());
    let pass = match draws {
        Some(draws) => pass.indirect(draws),
        None => pass,
    };
    pass.record(move |pass| models.draw(pass, models.opaque(), surfaces, ids));

    graph
        .render("sky")
        .color(0, &mut color, LoadOp::Load)
        .depth_read(&depth)
        .bind(0, *layouts.view, [bind::uploaded(uniforms.frame)])
        .fullscreen(*pipelines.sky);

    if !models.transparent().is_empty() {
        let surfaces = sides(&pipelines.transparent);
        let pass = graph.render("transparent").color(0, &mut color, LoadOp::Load).depth_read(&depth).bind(
            0,
            *layouts.frame,
            lit(),
        );
        let pass = match draws {
            Some(draws) => pass.indirect(draws),
            None => pass,
        };
        pass.record(move |pass| models.draw(pass, models.transparent(), surfaces, ids));
    }
    color
}

/// Spreads what is brighter than the picture can show: down a mip chain, and up again, adding.
fn bloom<'f, B: Backend>(
    graph: &mut Graph<'f, B>,
    inputs: &Inputs<'f>,
    scene: &TextureVersion,
) -> TextureVersion {
    let Inputs { size, layouts, pipelines, uniforms, samplers, .. } = *inputs;
    let linear = samplers.linear;
    let half = Size { width: (size.width / 2).max(1), height: (size.height / 2).max(1) };
    let chain = TransientTexture::d2(HDR_FORMAT, half.width, half.height).mips(bloom_mips(half));
    let mut bloom = graph.texture("bloom", chain);
    let mut mips = bloom.split_mips();

    graph
        .render("bloom prefilter")
        .color(0, &mut mips[0], LoadOp::DontCare)
        .bind(
            0,
            *layouts.prefilter,
            [bind::texture(scene), bind::sampler(linear), bind::uploaded(uniforms.post)],
        )
        .fullscreen(*pipelines.prefilter);

    for mip in 1..mips.len() {
        let (larger, smaller) = mips.split_at_mut(mip);
        graph
            .render(BLOOM_DOWN[mip])
            .color(0, &mut smaller[0], LoadOp::DontCare)
            .bind(0, *layouts.filter, [bind::texture(&larger[mip - 1]), bind::sampler(linear)])
            .fullscreen(*pipelines.downsample);
    }
    for mip in (1..mips.len()).rev() {
        let (larger, smaller) = mips.split_at_mut(mip);
        graph
            .render(BLOOM_UP[mip])
            .color(0, &mut larger[mip - 1], LoadOp::Load)
            .bind(0, *layouts.filter, [bind::texture(&smaller[0]), bind::sampler(linear)])
            .fullscreen(*pipelines.upsample);
    }
    bloom
}

/// From linear light to the encoded picture, with the text over it.
fn finish<'f, B: Backend>(
    graph: &mut Graph<'f, B>,
    inputs: &Inputs<'f>,
    scene: &TextureVersion,
    bloom: &TextureVersion,
) -> TextureVersion {
    let Inputs { layouts, pipelines, uniforms, samplers, overlay, .. } = *inputs;
    let mut picture = graph.import_texture("picture", inputs.picture);
    graph
        .render("tonemap")
        .color(0, &mut picture, LoadOp::DontCare)
        .bind(
            0,
            *layouts.tonemap,
            [
                bind::texture(scene),
                bind::sampler(samplers.linear),
                bind::uploaded(uniforms.post),
                bind::texture(&bloom.mip(0)),
            ],
        )
        .fullscreen(*pipelines.tonemap);

    let text = *pipelines.overlay;
    graph.render("overlay").color(0, &mut picture, LoadOp::Load).record(move |pass| {
        pass.set_pipeline(text);
        pass.set_bind_group(0, overlay.group, &[]);
        pass.set_vertex_buffer(0, overlay.slice);
        pass.draw(0..6, 0..overlay.count);
    });
    picture
}

const BLOOM_DOWN: [&str; 6] =
    ["", "bloom down 1", "bloom down 2", "bloom down 3", "bloom down 4", "bloom down 5"];
const BLOOM_UP: [&str; 6] = ["", "bloom up 0", "bloom up 1", "bloom up 2", "bloom up 3", "bloom up 4"];

/// As many mips as there are names for, fewer where the picture is small.
fn bloom_mips(half: Size) -> u32 {
    let size = Extent3d { width: half.width, height: half.height, depth_or_array_layers: 1 };
    full_mip_count(size, types::TextureDimension::D2).min(BLOOM_DOWN.len() as u32)
}
