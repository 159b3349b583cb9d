//! Graphs: what their switches change, and that it is not the image.

use purlin_graph::{Graph, GraphArena, TransientTexture};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, ColorWrites, CompareFunction, TextureFormat,
    TextureUsages,
};
use purlin_rhi::{ClearValue, ColorTarget, DepthStencilDesc, Device, LoadOp, RenderPass, TextureDesc};

use crate::kit::{Canvas, FULL, Paint, Painter, Raster, finish, wrong};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SIDE: u32 = 32;
/// As many as the reference measurement has.
const LAYERS: u32 = 31;

/// What a layer does besides painting.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// From its column on.
    Plain,
    /// Only in the upper half.
    Scissored,
    /// Adds a little blue everywhere, and nothing where the constant of the pass before it would count.
    Adding,
    Idle,
}

fn kind(layer: u32) -> Kind {
    match layer % 7 {
        2 => Kind::Scissored,
        3 => Kind::Adding,
        4 => Kind::Idle,
        _ => Kind::Plain,
    }
}

/// The color of a column and row after all layers.
fn expected(x: u32, y: u32) -> [u8; 4] {
    let mut color = [0, 0, 0, 255];
    for layer in 0..LAYERS {
        match kind(layer) {
            Kind::Plain if x >= layer => color = shade(layer),
            Kind::Scissored if x >= layer && y < SIDE / 2 => color = shade(layer),
            Kind::Adding => color[2] += 5,
            _ => {}
        }
    }
    color
}

fn shade(layer: u32) -> [u8; 4] {
    [(layer * 8) as u8, 255 - (layer * 8) as u8, 0, 255]
}

fn paint(layer: u32) -> Paint {
    let color = shade(layer).map(|channel| f32::from(channel) / 255.0);
    match kind(layer) {
        Kind::Plain | Kind::Scissored => {
            let left = layer as f32 / SIDE as f32 * 2.0 - 1.0;
            Paint::new([left, -1.0, 1.0, 1.0], color, 0.5, 0.0)
        }
        Kind::Adding | Kind::Idle => Paint::new(FULL, [1.0; 4], 0.5, 0.0),
    }
}

/// A scene and its layers, each in a pass of its own as far as the graph is told, merged or not: one image.
pub(crate) fn merged_passes_draw_the_same<B: Backend>(device: &mut Device<B>) -> Answer {
    let paints: Vec<_> = (0..LAYERS).map(paint).collect();
    let painter = Painter::new(device, &paints)?;
    let depth_stencil = || Some(DepthStencilDesc::depth(DEPTH, true, CompareFunction::Always));
    let targets = [Some(RGBA8.into())];
    let plain = painter.pipeline(
        device,
        &Raster { targets: &targets, depth_stencil: depth_stencil(), ..Default::default() },
    )?;
    let component = BlendComponent {
        src_factor: BlendFactor::Constant,
        dst_factor: BlendFactor::One,
        operation: BlendOperation::Add,
    };
    let blend = Some(BlendState { color: component, alpha: component });
    let targets = [Some(ColorTarget { format: RGBA8, blend, write_mask: ColorWrites::ALL })];
    let adding = painter.pipeline(
        device,
        &Raster { targets: &targets, depth_stencil: depth_stencil(), ..Default::default() },
    )?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let depth = Canvas::with_usage(device, SIDE, SIDE, DEPTH, TextureUsages::RENDER_ATTACHMENT)?;
    let (plain, adding) = (*plain, *adding);
    let layer = |pass: &mut RenderPass<'_, B>, layer: u32| match kind(layer) {
        Kind::Plain => painter.paint(pass, plain, layer as usize),
        Kind::Scissored => {
            pass.set_scissor(0, 0, SIDE, SIDE / 2);
            painter.paint(pass, plain, layer as usize);
        }
        Kind::Adding => {
            pass.set_blend_constant([0.0, 0.0, 5.0 / 255.0, 0.0]);
            painter.paint(pass, adding, layer as usize);
        }
        // The constant is zero again.
        Kind::Idle => painter.paint(pass, adding, layer as usize),
    };
    let mut arena = GraphArena::new();
    for merge in [false, true] {
        arena.options().merge = merge;
        // The second frame takes over what the first has found out.
        for reused in [false, true] {
            let mut graph = Graph::new("layers", &mut arena);
            let mut color = graph.import_texture("canvas", *canvas.texture);
            let mut depth = graph.import_texture("depth", *depth.texture);
            let black = LoadOp::Clear(ClearValue::Float([0.0, 0.0, 0.0, 1.0]));
            graph.render("scene").color(0, &mut color, black).depth(&mut depth, LoadOp::Clear(1.0)).clear();
            for index in 0..LAYERS {
                let pass = graph.render("layer").color(0, &mut color, LoadOp::Load);
                let layer = &layer;
                pass.depth(&mut depth, LoadOp::Load).record(move |pass| layer(pass, index));
            }
            let submitted = graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
            let stats = submitted.stats;
            finish(device, submitted.token)?;
            let merged = if merge { LAYERS } else { 0 };
            if (stats.merged, stats.reused) != (merged, reused) {
                let found = format!("{} merged, reused {}", stats.merged, stats.reused);
                return Err(wrong("passes", format!("{merged} merged, reused {reused}"), found));
            }
            canvas.image(device)?.expect(format!("merge {merge}, reused {reused}"), 1, expected)?;
        }
    }
    Ok(Outcome::Passed)
}

/// Textures of many sizes, each cleared, copied, copied again and read back. Most can lie where others were, and must not be
/// mistaken for them, within a frame and from one frame to the next.
pub(crate) fn textures_in_one_heap<B: Backend>(device: &mut Device<B>) -> Answer {
    const SIZES: [(u32, u32); 5] = [(64, 64), (128, 32), (16, 256), (96, 40), (8, 8)];
    const CHAINS: u32 = 10;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let heaps = device.texture_memory(&TextureDesc::d2("probe", 64, 64, RGBA8, usage))?.is_some();
    let mut arena = GraphArena::new();
    for alias in [false, true] {
        arena.options().alias = alias;
        for frame in 0..3 {
            let mut graph = Graph::new("chains", &mut arena);
            let color = |chain: u32| [(chain * 20) as u8, (frame * 90) as u8, u8::from(alias), 255];
            let mut reads = Vec::new();
            for chain in 0..CHAINS {
                let (width, height) = SIZES[chain as usize % SIZES.len()];
                let mut texture =
                    |label| graph.texture(label, TransientTexture::d2(RGBA8, width, height).usage(usage));
                let (mut first, mut second, mut third) =
                    (texture("first"), texture("second"), texture("third"));
                let value = color(chain).map(|channel| f32::from(channel) / 255.0);
                let clear = LoadOp::Clear(ClearValue::Float(value));
                graph.render("clear").color(0, &mut first, clear).clear();
                graph.copy_texture("copy", &first, &mut second);
                graph.copy_texture("copy again", &second, &mut third);
                reads.push(graph.read_texture(&third));
            }
            let mut submitted =
                graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
            let stats = submitted.stats;
            finish(device, submitted.token)?;
            if alias && heaps && stats.physical_bytes * 4 > stats.transient_bytes {
                let found = format!("{} for {}", stats.physical_bytes, stats.transient_bytes);
                return Err(wrong("bytes", "at most a quarter", found));
            }
            for (chain, read) in (0..CHAINS).zip(reads) {
                let ticket =
                    submitted.take_read(read).ok_or_else(|| wrong("readback", "a ticket", "none"))?;
                let bytes = device.read_vec(&ticket)?;
                let expected = color(chain);
                if let Some(texel) = bytes.chunks_exact(4).find(|texel| *texel != expected) {
                    let what = format!("chain {chain} of frame {frame}, alias {alias}");
                    return Err(wrong(what, format!("{expected:?}"), format!("{texel:?}")));
                }
            }
        }
    }
    Ok(Outcome::Passed)
}
