//! Graphs: what their switches change, and that it is not the image.

use purlin_graph::{Graph, GraphArena, HazardMode, ImportTexture, Mips, TransientTexture};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, ColorWrites, CompareFunction, TextureAspect,
    TextureFormat, TextureUsages,
};
use purlin_rhi::{
    AspectOps, ClearValue, ColorAttachment, ColorTarget, DepthStencilAttachment, DepthStencilDesc, Device,
    Features, LoadOp, MultisampleDesc, RenderPass, RenderPassDesc, StoreOp, TextureDesc, TexturePlace,
};

use crate::kit::{
    Canvas, FULL, Paint, Painter, Raster, clear, equal, extent, finish, load, one_color, perform, read_mip,
    rows, wrong,
};
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

/// A scene into an image with depth, a copy of the image, and a layer on the copy: by a graph with each of its switches,
/// and by direct passes.
pub(crate) fn direct_passes_draw_the_same<B: Backend>(device: &mut Device<B>) -> Answer {
    let paints = [
        Paint::new([-0.75, -0.75, 0.5, 0.5], [1.0, 0.0, 0.0, 1.0], 0.5, 0.0),
        Paint::new([-0.25, -0.5, 0.75, 0.75], [0.0, 1.0, 0.0, 1.0], 0.25, 0.0),
        Paint::new([-1.0, -1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0], 0.75, 0.0),
        Paint::new([-0.5, -1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0], 0.5, 0.0),
    ];
    let painter = Painter::new(device, &paints)?;
    let targets = [Some(RGBA8.into())];
    let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, true, CompareFunction::Less));
    let deep =
        painter.pipeline(device, &Raster { targets: &targets, depth_stencil, ..Default::default() })?;
    let flat = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let (deep, flat) = (*deep, *flat);
    let scene = |pass: &mut RenderPass<'_, B>| (0..3).for_each(|index| painter.paint(pass, deep, index));
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let canvas = Canvas::with_usage(device, SIDE, SIDE, RGBA8, usage)?;
    let black = LoadOp::Clear(ClearValue::Float([0.0, 0.0, 0.0, 1.0]));

    let image = Canvas::with_usage(device, SIDE, SIDE, RGBA8, usage)?;
    let depth = Canvas::with_usage(device, SIDE, SIDE, DEPTH, TextureUsages::RENDER_ATTACHMENT)?;
    perform(device, |recorder| {
        let colors = [clear(*image.view, [0.0, 0.0, 0.0, 1.0])];
        let ops = AspectOps { load: LoadOp::Clear(1.0), store: StoreOp::Discard, read_only: false };
        let depth_stencil =
            Some(DepthStencilAttachment { view: *depth.view, depth: Some(ops), stencil: None });
        recorder.render_pass(&RenderPassDesc { depth_stencil, ..one_color("scene", &colors) }, scene)?;
        let place = |texture| TexturePlace::mip(texture, 0);
        let (from, to) = (place(*image.texture), place(*canvas.texture));
        recorder.copy_texture(&from, &to, extent([SIDE, SIDE, 1]))?;
        let colors = [load(*canvas.view)];
        recorder.render_pass(&one_color("layer", &colors), |pass| painter.paint(pass, flat, 3))?;
        Ok(())
    })?;
    let direct = canvas.bytes(device)?;
    // The one in front, the one behind it, the one behind all, the layer, and nothing.
    let at = |x: u32, y: u32| &direct[((y * SIDE + x) * 4) as usize..][..4];
    equal("front", at(20, 10), &[0, 255, 0, 255])?;
    equal("behind", at(6, 20), &[255, 0, 0, 255])?;
    equal("last", at(1, 30), &[0, 0, 255, 255])?;
    equal("layer", at(10, 3), &[255, 255, 0, 255])?;
    equal("background", at(31, 0), &[0, 0, 0, 255])?;

    for switches in 0..16u32 {
        let is = |bit: u32| switches & (1 << bit) != 0;
        device.set_hazard_mode(if is(0) { HazardMode::Fine } else { HazardMode::Conservative });
        let mut arena = GraphArena::new();
        arena.options().merge = is(1);
        arena.options().alias = is(2);
        arena.options().cull = is(3);
        for frame in 0..2 {
            let mut graph = Graph::new("frame", &mut arena);
            let mut shown = graph.import_texture("canvas", *canvas.texture);
            let mut image = graph.texture("image", TransientTexture::d2(RGBA8, SIDE, SIDE));
            let mut depth = graph.texture("depth", TransientTexture::d2(DEPTH, SIDE, SIDE));
            let mut unseen = graph.texture("unseen", TransientTexture::d2(RGBA8, SIDE, SIDE));
            let scene = &scene;
            let painter = &painter;
            graph
                .render("scene")
                .color(0, &mut image, black)
                .depth(&mut depth, LoadOp::Clear(1.0))
                .record(move |pass| scene(pass));
            graph
                .render("unseen")
                .color(0, &mut unseen, black)
                .record(move |pass| painter.paint(pass, flat, 3));
            graph.copy_texture("copy", &image, &mut shown);
            graph
                .render("layer")
                .color(0, &mut shown, LoadOp::Load)
                .record(move |pass| painter.paint(pass, flat, 3));
            let submitted = graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
            finish(device, submitted.token)?;
            equal(format!("switches {switches:04b}, frame {frame}"), &canvas.bytes(device)?, &direct)?;
        }
    }
    device.set_hazard_mode(HazardMode::default());
    Ok(Outcome::Passed)
}

/// Every texel of a made mip is the mean of what it covers of the next finer one, on odd sides too, in every layer.
pub(crate) fn mips_are_the_means_of_their_texels<B: Backend>(device: &mut Device<B>) -> Answer {
    const SIZE: [u32; 2] = [13, 6];
    const MIPS: u32 = 4;
    let mut mips = Mips::new(device)?;
    let layers = if device.capabilities().features.contains(Features::LAYER_VIEWS) { 2 } else { 1 };
    for (format, layers) in [(RGBA8, 1), (TextureFormat::Rgba8UnormSrgb, 1), (RGBA8, layers)] {
        let usage = TextureUsages::RENDER_ATTACHMENT
            | TextureUsages::TEXTURE_BINDING
            | TextureUsages::COPY_SRC
            | TextureUsages::COPY_DST;
        let mut desc = TextureDesc::d2("mips", SIZE[0], SIZE[1], format, usage).with_mips(MIPS);
        desc.size = extent([SIZE[0], SIZE[1], layers]);
        let texture = device.create_texture(&desc)?;
        let texels: Vec<u8> = (0..SIZE[0] * SIZE[1] * layers * 4).map(|i| (i * 37 % 251) as u8).collect();
        let layout = rows(SIZE[0] * 4, SIZE[1]);
        device.write_texture(&TexturePlace::mip(*texture, 0), desc.size, &layout, &texels)?;
        let pipeline = mips.pipeline(device, format)?;
        let mut arena = GraphArena::new();
        let mut graph = Graph::new("mips", &mut arena);
        let import = ImportTexture::new().mips(MIPS).layers(layers);
        let mut imported = graph.import_texture_with("texture", *texture, import);
        mips.generate(&mut graph, "mip", pipeline, &mut imported);
        let submitted = graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
        finish(device, submitted.token)?;
        let is_srgb = format == TextureFormat::Rgba8UnormSrgb;
        let mut finer = (SIZE, texels);
        for mip in 1..MIPS {
            let size = [(SIZE[0] >> mip).max(1), (SIZE[1] >> mip).max(1)];
            let found = read_mip(device, *texture, mip, TextureAspect::All, [size[0], size[1], layers])?;
            let wanted = means(&finer.1, finer.0, size, layers, is_srgb);
            let off = found.iter().zip(&wanted).position(|(a, b)| (f64::from(*a) - b).abs() > 1.01);
            if let Some(at) = off {
                let what = format!("{format:?}, {layers} layers, mip {mip}, byte {at}");
                return Err(wrong(what, format!("about {:.2}", wanted[at]), found[at]));
            }
            // The next from what is there, so that roundings do not add up.
            finer = (size, found);
        }
    }
    Ok(Outcome::Passed)
}

/// The mean of each texel's part of a finer image, by area.
fn means(texels: &[u8], from: [u32; 2], to: [u32; 2], layers: u32, srgb: bool) -> Vec<f64> {
    let light = |value: f64| match value / 255.0 {
        value if value <= 0.04045 => value / 12.92,
        value => ((value + 0.055) / 1.055).powf(2.4),
    };
    let encoded = |value: f64| match value {
        value if value <= 0.003_130_8 => value * 12.92 * 255.0,
        value => (1.055 * value.powf(1.0 / 2.4) - 0.055) * 255.0,
    };
    // How much of texel `i` of the finer side lies in texel `at` of the coarser one.
    let share = |at: u32, i: u32, from: u32, to: u32| {
        let step = f64::from(from) / f64::from(to);
        let (begin, end) = (f64::from(at) * step, f64::from(at + 1) * step);
        (end.min(f64::from(i + 1)) - begin.max(f64::from(i))).max(0.0) / step
    };
    let mut out = Vec::new();
    for layer in 0..layers {
        for (y, x) in (0..to[1]).flat_map(|y| (0..to[0]).map(move |x| (y, x))) {
            for channel in 0..4 {
                let is_light = srgb && channel < 3;
                let mut sum = 0.0;
                for (j, i) in (0..from[1]).flat_map(|j| (0..from[0]).map(move |i| (j, i))) {
                    let value =
                        f64::from(texels[(((layer * from[1] + j) * from[0] + i) * 4 + channel) as usize]);
                    let value = if is_light { light(value) } else { value };
                    sum += value * share(x, i, from[0], to[0]) * share(y, j, from[1], to[1]);
                }
                out.push(if is_light { encoded(sum) } else { sum });
            }
        }
    }
    out
}

/// A rectangle whose sides go through the middle of pixels, by four samples: the graph's resolve and a direct pass's.
pub(crate) fn samples_are_averaged_by_the_graph<B: Backend>(device: &mut Device<B>) -> Answer {
    let inset = 0.5 / SIDE as f32 * 2.0;
    let rect = [-0.5 + inset, -0.5 + inset, 0.5 + inset, 0.5 + inset];
    let painter = Painter::new(device, &[Paint::new(rect, [1.0; 4], 0.5, 0.0)])?;
    let targets = [Some(RGBA8.into())];
    let multisample = MultisampleDesc { count: 4, ..Default::default() };
    let pipeline =
        painter.pipeline(device, &Raster { targets: &targets, multisample, ..Default::default() })?;
    let pipeline = *pipeline;
    let black = [0.0, 0.0, 0.0, 1.0];

    let (canvas, direct) = (Canvas::new(device, SIDE, SIDE, RGBA8)?, Canvas::new(device, SIDE, SIDE, RGBA8)?);
    let flat = TextureDesc::d2("samples", SIDE, SIDE, RGBA8, TextureUsages::RENDER_ATTACHMENT);
    let samples = device.create_texture(&TextureDesc { samples: 4, ..flat })?;
    let samples = device.create_texture_view(*samples, &Default::default())?;
    perform(device, |recorder| {
        let load = LoadOp::Clear(ClearValue::Float(black));
        let store = StoreOp::Discard;
        let colors = [Some(ColorAttachment { view: *samples, load, store, resolve: Some(*direct.view) })];
        recorder.render_pass(&one_color("direct", &colors), |pass| painter.paint(pass, pipeline, 0))?;
        Ok(())
    })?;
    let image = direct.image(device)?;
    let edge = image.at(SIDE / 4, SIDE / 2);
    if edge[0] == 0 || edge[0] == 255 || image.at(SIDE / 2, SIDE / 2) != [255; 4] {
        return Err(wrong("a side through pixels", "a shade between", format!("{edge:?}")));
    }
    let mut arena = GraphArena::new();
    for frame in 0..2 {
        let mut graph = Graph::new("samples", &mut arena);
        let mut shown = graph.import_texture("canvas", *canvas.texture);
        let mut samples = graph.texture("samples", TransientTexture::d2(RGBA8, SIDE, SIDE).samples(4));
        let painter = &painter;
        graph
            .render("scene")
            .color(0, &mut samples, LoadOp::Clear(ClearValue::Float(black)))
            .resolve(0, &mut shown)
            .record(move |pass| painter.paint(pass, pipeline, 0));
        let submitted = graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
        finish(device, submitted.token)?;
        equal(format!("frame {frame}"), &canvas.bytes(device)?, &direct.bytes(device)?)?;
    }
    Ok(Outcome::Passed)
}
