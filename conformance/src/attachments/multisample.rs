//! Multisampled attachments: coverage, masks, samples read by shaders, and what a resolve writes and keeps.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{ResourceUse, TextureUse};
use purlin_rhi::types::{
    CompareFunction, Extent3d, ShaderStages, TextureAspect, TextureFormat, TextureUsages,
    TextureViewDimension,
};
use purlin_rhi::{
    AspectOps, BindGroupEntry, ClearValue, ColorAttachment, DepthStencilAttachment, DepthStencilDesc, Device,
    Features, LoadOp, MultisampleDesc, Owned, RenderPassDesc, StoreOp, TextureDesc, TextureViewDesc, kind,
};

use crate::kit::{
    Canvas, Checked, FULL, Image, Paint, Painter, Program, Raster, clear, one_color, perform, read_mip,
    refused, texture_use, wrong,
};
use crate::shaders::multisample;
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SIDE: u32 = 8;
const SAMPLES: u32 = 4;
const WHITE: [f32; 4] = [1.0; 4];
const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const FOUR: MultisampleDesc = MultisampleDesc { count: SAMPLES, mask: !0, alpha_to_coverage: false };

/// An attachment of four samples a texel, readable where shaders read samples.
struct Samples {
    texture: Owned<kind::Texture>,
    view: Owned<kind::TextureView>,
}

impl Samples {
    fn new<B: Backend>(device: &mut Device<B>, format: TextureFormat, side: u32) -> Checked<Self> {
        let mut usage = TextureUsages::RENDER_ATTACHMENT;
        usage.set(TextureUsages::TEXTURE_BINDING, unreadable(device).is_none());
        let flat = TextureDesc::d2("samples", side, side, format, usage);
        let texture = device.create_texture(&TextureDesc { samples: SAMPLES, ..flat })?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        Ok(Self { texture, view })
    }

    fn resolved(&self, to: &Canvas, store: StoreOp) -> Option<ColorAttachment> {
        let load = LoadOp::Clear(ClearValue::Float(BLACK));
        Some(ColorAttachment { view: *self.view, load, store, resolve: Some(*to.view) })
    }
}

fn unreadable<B: Backend>(device: &Device<B>) -> Option<Outcome> {
    let has = device.capabilities().features.contains(Features::MULTISAMPLED_TEXTURES);
    (!has).then(|| Outcome::Unsupported("MULTISAMPLED_TEXTURES".into()))
}

/// The average of four samples, so many of them white on black.
fn gray(white: u32) -> [u8; 4] {
    let value = ((white * 255 + SAMPLES / 2) / SAMPLES) as u8;
    [value, value, value, 255]
}

/// Paints one rectangle over black with this state, and answers what the resolve wrote.
fn resolve_one<B: Backend>(
    device: &mut Device<B>,
    paint: Paint,
    multisample: MultisampleDesc,
) -> Checked<Image> {
    let painter = Painter::new(device, &[paint])?;
    let (samples, canvas) = (Samples::new(device, RGBA8, SIDE)?, Canvas::new(device, SIDE, SIDE, RGBA8)?);
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, multisample, ..Default::default() };
    let pipeline = painter.pipeline(device, &raster)?;
    perform(device, |recorder| {
        let colors = [samples.resolved(&canvas, StoreOp::Discard)];
        recorder.render_pass(&one_color("samples", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        Ok(())
    })?;
    canvas.image(device)
}

/// An edge through the middle of texels covers two of four samples, whatever way it runs.
pub(crate) fn edges_are_averaged<B: Backend>(device: &mut Device<B>) -> Answer {
    // To x = 3.5, and then from y = 2.5 on.
    let upright = Paint::new([-1.0, -1.0, -0.125, 1.0], WHITE, 0.0, 0.0);
    let level = Paint::new([-1.0, -1.0, 1.0, 0.375], WHITE, 0.0, 0.0);
    let side = |at: u32, edge: u32| match at.cmp(&edge) {
        std::cmp::Ordering::Less => 4,
        std::cmp::Ordering::Equal => 2,
        std::cmp::Ordering::Greater => 0,
    };
    resolve_one(device, upright, FOUR)?.expect("an upright edge", 1, |x, _| gray(side(x, 3)))?;
    resolve_one(device, level, FOUR)?.expect("a level edge", 1, |_, y| gray(4 - side(y, 2)))?;
    Ok(Outcome::Passed)
}

/// Samples outside the mask keep what they had.
pub(crate) fn sample_masks<B: Backend>(device: &mut Device<B>) -> Answer {
    if !device.capabilities().features.contains(Features::SAMPLE_MASKS) {
        return Ok(Outcome::Unsupported("SAMPLE_MASKS".into()));
    }
    for (mask, white) in [(0, 0), (0b0001, 1), (0b0110, 2), (0b1101, 3), (!0, 4)] {
        let multisample = MultisampleDesc { mask, ..FOUR };
        let image = resolve_one(device, Paint::new(FULL, WHITE, 0.0, 0.0), multisample)?;
        image.expect(format!("mask {mask:#x}"), 1, |_, _| gray(white))?;
    }
    Ok(Outcome::Passed)
}

/// Alpha decides how many samples are covered: none at zero, all at one, some between. Which, and how many, is the
/// device's own.
pub(crate) fn alpha_to_coverage<B: Backend>(device: &mut Device<B>) -> Answer {
    let multisample = MultisampleDesc { alpha_to_coverage: true, ..FOUR };
    let red = |device: &mut Device<B>, alpha: f32| -> Checked<u32> {
        let image = resolve_one(device, Paint::new(FULL, [1.0, 0.0, 0.0, alpha], 0.0, 0.0), multisample)?;
        Ok(image.texels.iter().map(|texel| u32::from(texel[0])).sum::<u32>() / image.texels.len() as u32)
    };
    let found = [red(device, 0.0)?, red(device, 0.5)?, red(device, 1.0)?];
    if found[0] != 0 || found[2] != 255 || !(32..224).contains(&found[1]) {
        return Err(wrong("red by alpha 0, 0.5 and 1", "0, something between, 255", format!("{found:?}")));
    }
    Ok(Outcome::Passed)
}

/// Draws what a shader reads of each sample: rows of the first sample, then of the second, and so on.
fn show<B: Backend>(
    device: &mut Device<B>,
    samples: &Samples,
    entry: &'static str,
    side: u32,
    usage: ResourceUse,
) -> Checked<Image> {
    let names = [multisample::entries::FULLSCREEN, entry];
    let program = Program::new(device, &multisample::SHADER, &names)?;
    let group = program.group(device, 0, &[BindGroupEntry::texture(0, *samples.view)])?;
    let targets = [Some(RGBA8.into())];
    let pipeline = program.raster(
        device,
        names[0],
        Some(names[1]),
        &Raster { targets: &targets, ..Default::default() },
    )?;
    let canvas = Canvas::new(device, side, side * SAMPLES, RGBA8)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, BLACK)];
        let uses = [usage];
        recorder.render_pass(&RenderPassDesc { uses: &uses, ..one_color("show", &colors) }, |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, *group, &[]);
            pass.draw(0..3, 0..1);
        })?;
        Ok(())
    })?;
    canvas.image(device)
}

fn sampled(samples: &Samples, format: TextureFormat) -> ResourceUse {
    texture_use(*samples.texture, format, 0..1, 0..1, TextureUse::Sampled(ShaderStages::FRAGMENT))
}

/// A fragment shader that runs for each sample writes each by its index, and another reads them apart.
pub(crate) fn samples_are_read_apart<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(outcome) = unreadable(device) {
        return Ok(outcome);
    }
    let names = [multisample::entries::FULLSCREEN, multisample::entries::BY_SAMPLE];
    let program = Program::new(device, &multisample::SHADER, &names)?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, multisample: FOUR, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    let samples = Samples::new(device, RGBA8, 2)?;
    perform(device, |recorder| {
        let colors = [clear(*samples.view, BLACK)];
        recorder.render_pass(&one_color("by sample", &colors), |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    let use_of = sampled(&samples, RGBA8);
    let image = show(device, &samples, multisample::entries::SHOW_SAMPLES, 2, use_of)?;
    image.expect("samples by index", 1, |_, y| [[0, 64, 128, 191][(y / 2) as usize], 255, 0, 255])?;
    Ok(Outcome::Passed)
}

/// Depth is tested and kept sample by sample.
pub(crate) fn depth_by_sample<B: Backend>(device: &mut Device<B>) -> Answer {
    // The left half near, up to the middle of column 3; then all, a little farther.
    let near = Paint::new([-1.0, -1.0, -0.125, 1.0], [1.0, 0.0, 0.0, 1.0], 0.25, 0.0);
    let far = Paint::new(FULL, [0.0, 1.0, 0.0, 1.0], 0.5, 0.0);
    let painter = Painter::new(device, &[near, far])?;
    let targets = [Some(RGBA8.into())];
    let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, true, CompareFunction::Less));
    let raster = Raster { targets: &targets, depth_stencil, multisample: FOUR, ..Default::default() };
    let pipeline = painter.pipeline(device, &raster)?;
    let (samples, depth) = (Samples::new(device, RGBA8, SIDE)?, Samples::new(device, DEPTH, SIDE)?);
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    perform(device, |recorder| {
        let colors = [samples.resolved(&canvas, StoreOp::Discard)];
        let attachment =
            DepthStencilAttachment { view: *depth.view, depth: Some(AspectOps::clear(1.0)), stencil: None };
        let desc = RenderPassDesc { depth_stencil: Some(attachment), ..one_color("depth", &colors) };
        recorder.render_pass(&desc, |pass| (0..2).for_each(|index| painter.paint(pass, *pipeline, index)))?;
        Ok(())
    })?;
    canvas.image(device)?.expect("colors", 1, |x, _| match x {
        0..3 => [255, 0, 0, 255],
        3 => [128, 128, 0, 255],
        _ => [0, 255, 0, 255],
    })?;
    if unreadable(device).is_some() {
        return Ok(Outcome::Passed);
    }
    let use_of = sampled(&depth, DEPTH);
    let image = show(device, &depth, multisample::entries::SHOW_DEPTHS, SIDE, use_of)?;
    let count =
        |x: u32, red: u8| (0..SAMPLES).filter(|s| image.at(x, s * SIDE)[0].abs_diff(red) <= 1).count();
    for (x, near) in [(0, 4), (2, 4), (3, 2), (4, 0), (7, 0)] {
        if (count(x, 64), count(x, 128)) != (near, 4 - near) {
            let found = format!("{} near and {} far", count(x, 64), count(x, 128));
            return Err(wrong(format!("depths of column {x}"), format!("{near} near of 4"), found));
        }
    }
    Ok(Outcome::Passed)
}

/// C061: the target is green whether or not the samples are kept; kept ones load in a later pass, others do not.
pub(crate) fn c061_resolve_for_store_and_for_discard<B: Backend>(device: &mut Device<B>) -> Answer {
    let green = [0.0, 1.0, 0.0, 1.0];
    let half = Paint::new([-1.0, -1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], 0.0, 0.0);
    let painter = Painter::new(device, &[Paint::new(FULL, green, 0.0, 0.0), half])?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, multisample: FOUR, ..Default::default() };
    let pipeline = painter.pipeline(device, &raster)?;
    for store in [StoreOp::Discard, StoreOp::Store] {
        let (samples, canvas) = (Samples::new(device, RGBA8, SIDE)?, Canvas::new(device, SIDE, SIDE, RGBA8)?);
        let later = Canvas::new(device, SIDE, SIDE, RGBA8)?;
        perform(device, |recorder| {
            let magenta = [clear(*canvas.view, [1.0, 0.0, 1.0, 1.0])];
            recorder.render_pass(&one_color("magenta", &magenta), |_| {})?;
            let colors = [samples.resolved(&canvas, store)];
            recorder.render_pass(&one_color("green", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
            Ok(())
        })?;
        canvas.image(device)?.expect(format!("{store:?}"), 0, |_, _| [0, 255, 0, 255])?;
        let (view, resolve) = (*samples.view, Some(*later.view));
        let again = [Some(ColorAttachment { view, load: LoadOp::Load, store: StoreOp::Store, resolve })];
        let desc = one_color("again", &again);
        if store == StoreOp::Discard {
            let mut recorder = device.record("discarded")?;
            refused("loading what was discarded", "defined contents", recorder.render_pass(&desc, |_| {}))?;
            continue;
        }
        perform(device, |recorder| {
            recorder.render_pass(&desc, |pass| painter.paint(pass, *pipeline, 1))?;
            Ok(())
        })?;
        let expected = |x: u32| if x < SIDE / 2 { [0, 0, 255, 255] } else { [0, 255, 0, 255] };
        later.image(device)?.expect("loaded and drawn over", 0, |x, _| expected(x))?;
    }
    Ok(Outcome::Passed)
}

/// A resolve writes the mip and layer that its view names, and nothing beside it.
pub(crate) fn resolves_into_mips_and_layers<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let desc = TextureDesc {
        size: Extent3d { width: 2 * SIDE, height: 2 * SIDE, depth_or_array_layers: 2 },
        mips: 2,
        ..TextureDesc::d2("array", 2 * SIDE, 2 * SIDE, RGBA8, usage)
    };
    let array = device.create_texture(&desc)?;
    let mut views = Vec::new();
    for layer in 0..2 {
        views.push(device.create_texture_view(
            *array,
            &TextureViewDesc {
                dimension: Some(TextureViewDimension::D2),
                base_mip: 1,
                mips: 1,
                base_layer: layer,
                layers: 1,
                ..Default::default()
            },
        )?);
    }
    let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, -0.125, 1.0], WHITE, 0.0, 0.0)])?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, multisample: FOUR, ..Default::default() };
    let pipeline = painter.pipeline(device, &raster)?;
    let samples = Samples::new(device, RGBA8, SIDE)?;
    perform(device, |recorder| {
        recorder.render_pass(&one_color("layer 0", &[clear(*views[0], [0.2; 4])]), |_| {})?;
        let load = LoadOp::Clear(ClearValue::Float(BLACK));
        let colors = [Some(ColorAttachment {
            view: *samples.view,
            load,
            store: StoreOp::Discard,
            resolve: Some(*views[1]),
        })];
        recorder.render_pass(&one_color("layer 1", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        Ok(())
    })?;
    let bytes = read_mip(device, *array, 1, TextureAspect::All, [SIDE, SIDE, 2])?;
    let (first, second) = bytes.split_at(bytes.len() / 2);
    Image::from_bytes(SIDE, first).expect("layer 0 keeps its clear", 0, |_, _| [51; 4])?;
    Image::from_bytes(SIDE, second).expect("layer 1", 1, |x, _| {
        gray(match x {
            0..3 => 4,
            3 => 2,
            _ => 0,
        })
    })?;
    Ok(Outcome::Passed)
}

/// Samples that a pass has stored are averaged later, and stay what they are: they can be resolved again.
pub(crate) fn samples_are_resolved_outside_of_a_pass<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, 0.0, 1.0], WHITE, 0.5, 0.0)])?;
    let samples = Samples::new(device, RGBA8, SIDE)?;
    let canvases = [Canvas::new(device, SIDE, SIDE, RGBA8)?, Canvas::new(device, SIDE, SIDE, RGBA8)?];
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, multisample: FOUR, ..Default::default() };
    let pipeline = painter.pipeline(device, &raster)?;
    perform(device, |recorder| {
        let colors = [clear(*samples.view, BLACK)];
        recorder.render_pass(&one_color("samples", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        recorder.resolve_texture(*samples.view, *canvases[0].view)?;
        recorder.resolve_texture(*samples.view, *canvases[1].view)?;
        Ok(())
    })?;
    for canvas in &canvases {
        let half = |x, _| if x < SIDE / 2 { gray(SAMPLES) } else { gray(0) };
        canvas.image(device)?.expect("resolved", 1, half)?;
    }
    let mut recorder = device.record("refused")?;
    let flat = recorder.resolve_texture(*canvases[0].view, *canvases[1].view);
    drop(recorder);
    refused("a source of one sample", "invalid", flat)?;
    Ok(Outcome::Passed)
}
