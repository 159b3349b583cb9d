//! Fixed state that needs a feature, and clears outside of passes.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{CompareFunction, PolygonMode, TextureAspect, TextureFormat, TextureUsages};
use purlin_rhi::{
    AspectOps, ClearValue, DepthStencilAttachment, DepthStencilDesc, Device, Features, LoadOp, PrimitiveDesc,
    RenderPassDesc, StoreOp, TextureDesc, TextureViewDesc,
};

use crate::kit::{
    Canvas, Checked, FULL, Paint, Painter, Raster, clear, close, equal, numbers, one_color, perform,
    read_mip, refused, wrong,
};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SIDE: u32 = 16;
const WHITE: [u8; 4] = [255; 4];
const BLACK: [u8; 4] = [0, 0, 0, 255];

fn lacks<B: Backend>(device: &Device<B>, needed: Features) -> Option<Outcome> {
    let missing = needed - device.capabilities().features;
    (!missing.is_empty()).then(|| Outcome::Unsupported(missing.names()))
}

/// The sides and the diagonal of a rectangle of two triangles, and nothing between them.
pub(crate) fn lines_instead_of_faces<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::POLYGON_MODE_LINE) {
        return Ok(lacks);
    }
    // Through the centers of the third and the fourteenth pixels.
    let at = |pixel: f32| (pixel + 0.5) / SIDE as f32 * 2.0 - 1.0;
    let paint = Paint::new([at(2.0), at(2.0), at(13.0), at(13.0)], [1.0; 4], 0.5, 0.0);
    let painter = Painter::new(device, &[paint])?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let targets = [Some(RGBA8.into())];
    for (polygon_mode, inside) in [(PolygonMode::Fill, WHITE), (PolygonMode::Line, BLACK)] {
        let primitive = PrimitiveDesc { polygon_mode, ..Default::default() };
        let raster = Raster { targets: &targets, primitive, ..Default::default() };
        let pipeline = painter.pipeline(device, &raster)?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
            recorder.render_pass(&one_color("lines", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
            Ok(())
        })?;
        let image = canvas.image(device)?;
        // The left and the upper side, the diagonal from the upper left, and what no line comes near.
        for (x, y, color) in [
            (2, 7, WHITE),
            (7, 2, WHITE),
            (7, 7, WHITE),
            (4, 10, inside),
            (10, 4, inside),
            (0, 0, BLACK),
            (15, 8, BLACK),
        ] {
            if image.at(x, y) != color {
                let what = format!("{polygon_mode:?}, pixel {x}, {y}");
                return Err(wrong(what, format!("{color:?}"), format!("{:?}", image.at(x, y))));
            }
        }
    }
    Ok(Outcome::Passed)
}

/// What lies before the near plane and behind the far one is clipped, or it is drawn with its depth clamped.
pub(crate) fn unclipped_depth_is_clamped<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::DEPTH_CLIP_CONTROL) {
        return Ok(lacks);
    }
    let near = Paint::new([-1.0, -1.0, 0.0, 1.0], [1.0; 4], -0.5, 0.0);
    let far = Paint::new([0.0, -1.0, 1.0, 1.0], [1.0; 4], 1.5, 0.0);
    let painter = Painter::new(device, &[near, far])?;
    let canvas = Canvas::new(device, 2, 1, RGBA8)?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let depth = Canvas::with_usage(device, 2, 1, DEPTH, usage)?;
    let targets = [Some(RGBA8.into())];
    for (unclipped_depth, color, depths) in [(false, BLACK, [0.5, 0.5]), (true, WHITE, [0.0, 1.0])] {
        let raster = Raster {
            targets: &targets,
            depth_stencil: Some(DepthStencilDesc::depth(DEPTH, true, CompareFunction::Always)),
            primitive: PrimitiveDesc { unclipped_depth, ..Default::default() },
            ..Default::default()
        };
        let pipeline = painter.pipeline(device, &raster)?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
            let load = LoadOp::Clear(0.5);
            let ops = AspectOps { load, store: StoreOp::Store, read_only: false };
            let depth_stencil =
                Some(DepthStencilAttachment { view: *depth.view, depth: Some(ops), stencil: None });
            let desc = RenderPassDesc { depth_stencil, ..one_color("depths", &colors) };
            recorder.render_pass(&desc, |pass| {
                painter.paint(pass, *pipeline, 0);
                painter.paint(pass, *pipeline, 1);
            })?;
            Ok(())
        })?;
        let what = format!("unclipped {unclipped_depth}");
        canvas.image(device)?.expect(&what, 0, |_, _| color)?;
        if device.format_uses(DEPTH).contains(purlin_rhi::FormatUses::COPY_SRC) {
            let found: Vec<f32> =
                numbers(&read_mip(device, *depth.texture, 0, TextureAspect::DepthOnly, [2, 1, 1])?);
            close(format!("{what}, depths"), &found, &depths, 1e-6)?;
        }
    }
    Ok(Outcome::Passed)
}

/// Mips and layers are cleared by their views, one of two aspects alone, and what a view does not show stays.
pub(crate) fn clears_outside_of_passes<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let desc = TextureDesc::d2("cleared", 4, 4, RGBA8, usage).with_mips(2);
    let texture = device.create_texture(&desc)?;
    let mut views = Vec::new();
    for base_mip in 0..2 {
        let desc = TextureViewDesc { base_mip, mips: 1, ..Default::default() };
        views.push(device.create_texture_view(*texture, &desc)?);
    }
    let float = |texel: [u8; 4]| ClearValue::Float(texel.map(|channel| f32::from(channel) / 255.0));
    let (a, b, c) = ([10, 20, 30, 40], [50, 60, 70, 80], [90, 100, 110, 120]);
    perform(device, |recorder| {
        recorder.clear_color(*views[0], float(a))?;
        recorder.clear_color(*views[1], float(b))?;
        recorder.clear_color(*views[1], float(c))?;
        Ok(())
    })?;
    for (mip, side, texel) in [(0, 4, a), (1, 2, c)] {
        let found = read_mip(device, *texture, mip, TextureAspect::All, [side, side, 1])?;
        equal(format!("mip {mip}"), &found, &texel.repeat((side * side) as usize))?;
    }
    let mut recorder = device.record("refused")?;
    let wrong_class = recorder.clear_color(*views[0], ClearValue::Uint([1; 4]));
    drop(recorder);
    refused("a whole number for a normalized format", "invalid", wrong_class)?;
    clear_aspects(device)?;
    Ok(Outcome::Passed)
}

/// Depth and stencil apart, by what a draw that tests both lets through.
fn clear_aspects<B: Backend>(device: &mut Device<B>) -> Checked {
    let format = TextureFormat::Depth24PlusStencil8;
    let both = Canvas::with_usage(device, 2, 2, format, TextureUsages::RENDER_ATTACHMENT)?;
    let canvas = Canvas::new(device, 2, 2, RGBA8)?;
    let painter = Painter::new(device, &[Paint::new(FULL, [1.0; 4], 0.5, 0.0)])?;
    let mut state = DepthStencilDesc::depth(format, false, CompareFunction::Less);
    let face = purlin_rhi::types::StencilFaceState {
        compare: CompareFunction::Equal,
        ..purlin_rhi::types::StencilFaceState::IGNORE
    };
    state.stencil =
        purlin_rhi::types::StencilState { front: face, back: face, read_mask: 0xFF, write_mask: 0 };
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, depth_stencil: Some(state), ..Default::default() };
    let pipeline = painter.pipeline(device, &raster)?;
    // Each step clears what it names; the draw passes where 0.5 is less than the depth and the stencil is 3.
    for (depth, stencil, passes) in [
        (Some(1.0), Some(3), true),
        (Some(0.25), None, false),
        (Some(1.0), None, true),
        (None, Some(4), false),
        (None, Some(3), true),
    ] {
        perform(device, |recorder| {
            recorder.clear_depth_stencil(*both.view, depth, stencil)?;
            let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
            let depth_stencil = Some(DepthStencilAttachment {
                view: *both.view,
                depth: Some(AspectOps { load: LoadOp::Load, store: StoreOp::Store, read_only: true }),
                stencil: Some(AspectOps { load: LoadOp::Load, store: StoreOp::Store, read_only: true }),
            });
            let desc = RenderPassDesc { depth_stencil, ..one_color("aspects", &colors) };
            recorder.render_pass(&desc, |pass| {
                pass.set_stencil_reference(3);
                painter.paint(pass, *pipeline, 0);
            })?;
            Ok(())
        })?;
        let color = if passes { WHITE } else { BLACK };
        canvas.image(device)?.expect(format!("depth {depth:?}, stencil {stencil:?}"), 0, |_, _| color)?;
    }
    Ok(())
}
