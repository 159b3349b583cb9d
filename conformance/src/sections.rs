//! Raster passes whose sections several threads record: their order, what each begins with, and what is around them.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, ColorWrites, CompareFunction, TextureFormat,
    TextureUsages,
};
use purlin_rhi::{
    AspectOps, ColorTarget, DepthStencilAttachment, DepthStencilDesc, Device, Owned, RenderPassDesc, kind,
};

use crate::kit::{Canvas, Checked, FULL, Paint, Painter, Raster, clear, finish, load, one_color, perform};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const SIDE: u32 = 16;
const SECTIONS: u32 = 8;
const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Red counts up from one in steps of twenty.
fn shade(index: u32) -> u8 {
    (20 * (index + 1)) as u8
}

/// Over all of the target from a column on.
fn from_column(column: u32, index: u32, depth: f32) -> Paint {
    let left = column as f32 / SIDE as f32 * 2.0 - 1.0;
    let red = f32::from(shade(index)) / 255.0;
    Paint::new([left, -1.0, 1.0, 1.0], [red, 0.0, 0.0, 1.0], depth, 0.0)
}

/// One rectangle a section, each over the right part of those before it.
fn stairs<B: Backend>(device: &mut Device<B>) -> Checked<Painter> {
    let paints: Vec<_> = (0..SECTIONS).map(|index| from_column(index, index, 0.5)).collect();
    Painter::new(device, &paints)
}

/// What the stairs look like when they are painted in order: each column has the last rectangle that reaches it.
fn expect_stairs(what: &str, canvas: &Canvas, device: &mut Device<impl Backend>) -> Checked {
    canvas.image(device)?.expect(what, 0, |x, _| [shade(x.min(SECTIONS - 1)), 0, 0, 255])
}

/// Adds the blend constant wherever it paints.
fn adding<B: Backend>(device: &mut Device<B>, painter: &Painter) -> Checked<Owned<kind::RenderPipeline>> {
    let component = BlendComponent {
        src_factor: BlendFactor::Constant,
        dst_factor: BlendFactor::One,
        operation: BlendOperation::Add,
    };
    let blend = Some(BlendState { color: component, alpha: component });
    let targets = [Some(ColorTarget { format: RGBA8, blend, write_mask: ColorWrites::ALL })];
    painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })
}

pub(crate) fn sections_draw_in_order<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = stairs(device)?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let colors = [clear(*canvas.view, BLACK)];
    let desc = one_color("stairs", &colors);
    perform(device, |recorder| {
        recorder.render_pass(&desc, |pass| {
            (0..SECTIONS).for_each(|index| painter.paint(pass, *pipeline, index as usize));
        })?;
        Ok(())
    })?;
    expect_stairs("one pass", &canvas, device)?;
    for sections in [2, SECTIONS] {
        let each = SECTIONS / sections;
        perform(device, |recorder| {
            recorder.render_pass_parallel(&desc, sections, |section, pass| {
                for index in section * each..(section + 1) * each {
                    painter.paint(pass, *pipeline, index as usize);
                }
            })?;
            Ok(())
        })?;
        expect_stairs(&format!("{sections} sections"), &canvas, device)?;
    }
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0, 1.0, 0.0, 1.0])];
        recorder.render_pass_parallel(&one_color("nothing", &colors), 0, |_, _| {})?;
        Ok(())
    })?;
    canvas.image(device)?.expect("no sections", 0, |_, _| [0, 255, 0, 255])?;
    Ok(Outcome::Passed)
}

pub(crate) fn sections_begin_without_state<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = Painter::new(device, &[Paint::new(FULL, [1.0; 4], 0.5, 0.0)])?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let targets = [Some(RGBA8.into())];
    let white = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let adding = adding(device, &painter)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, BLACK)];
        recorder.render_pass_parallel(&one_color("state", &colors), 3, |section, pass| match section {
            // Green in the upper left quarter.
            0 => {
                pass.set_scissor(0, 0, SIDE / 2, SIDE / 2);
                pass.set_blend_constant([0.0, 1.0, 0.0, 0.0]);
                painter.paint(pass, *adding, 0);
            }
            // Nothing anywhere: the constant is zero again.
            1 => painter.paint(pass, *adding, 0),
            // White in the right half.
            _ => {
                pass.set_viewport((SIDE / 2) as f32, 0.0, (SIDE / 2) as f32, SIDE as f32, (0.0, 1.0));
                painter.paint(pass, *white, 0);
            }
        })?;
        Ok(())
    })?;
    canvas.image(device)?.expect("state", 0, |x, y| match (x < SIDE / 2, y < SIDE / 2) {
        (false, _) => [255; 4],
        (true, true) => [0, 255, 0, 255],
        (true, false) => [0, 0, 0, 255],
    })?;
    Ok(Outcome::Passed)
}

pub(crate) fn passes_around_sections<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = Painter::new(device, &[Paint::new(FULL, [1.0; 4], 0.5, 0.0)])?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let pipeline = adding(device, &painter)?;
    let left = |pass: &mut purlin_rhi::RenderPass<'_, B>| pass.set_scissor(0, 0, SIDE / 2, SIDE);
    perform(device, |recorder| {
        let (cleared, loaded) = ([clear(*canvas.view, BLACK)], [load(*canvas.view)]);
        recorder.render_pass(&one_color("before", &cleared), |pass| {
            left(pass);
            pass.set_blend_constant([1.0, 0.0, 0.0, 0.0]);
            painter.paint(pass, *pipeline, 0);
        })?;
        recorder.render_pass_parallel(&one_color("sections", &loaded), 2, |section, pass| {
            if section == 0 {
                pass.set_blend_constant([0.0, 1.0, 0.0, 0.0]);
            }
            painter.paint(pass, *pipeline, 0);
        })?;
        // Everything is set anew, and the constant is zero.
        recorder.render_pass(&one_color("nothing", &loaded), |pass| painter.paint(pass, *pipeline, 0))?;
        recorder.render_pass(&one_color("after", &loaded), |pass| {
            left(pass);
            pass.set_blend_constant([0.0, 0.0, 1.0, 0.0]);
            painter.paint(pass, *pipeline, 0);
        })?;
        Ok(())
    })?;
    canvas.image(device)?.expect(
        "around",
        0,
        |x, _| {
            if x < SIDE / 2 { [255; 4] } else { [0, 255, 0, 255] }
        },
    )?;
    Ok(Outcome::Passed)
}

pub(crate) fn sections_share_depth<B: Backend>(device: &mut Device<B>) -> Answer {
    // The nearer, the further left it begins: whatever is painted first, the first section's is seen everywhere.
    let paints: Vec<_> = (0..SECTIONS).map(|i| from_column(i, i, 0.1 + 0.1 * i as f32)).collect();
    let painter = Painter::new(device, &paints)?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    for format in [TextureFormat::Depth32Float, TextureFormat::Depth24PlusStencil8] {
        let depth = Canvas::with_usage(device, SIDE, SIDE, format, TextureUsages::RENDER_ATTACHMENT)?;
        let targets = [Some(RGBA8.into())];
        let depth_stencil = Some(DepthStencilDesc::depth(format, true, CompareFunction::Less));
        let raster = Raster { targets: &targets, depth_stencil, ..Default::default() };
        let pipeline = painter.pipeline(device, &raster)?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, BLACK)];
            let stencil = format.has_stencil_aspect().then(|| AspectOps::clear(0));
            let depth_stencil = Some(DepthStencilAttachment {
                view: *depth.view,
                depth: Some(AspectOps::clear(1.0)),
                stencil,
            });
            let desc = RenderPassDesc { depth_stencil, ..one_color("depth", &colors) };
            recorder.render_pass_parallel(&desc, SECTIONS, |section, pass| {
                painter.paint(pass, *pipeline, section as usize);
            })?;
            Ok(())
        })?;
        canvas.image(device)?.expect(format!("{format:?}"), 0, |_, _| [shade(0), 0, 0, 255])?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c030_sections_of_many_submissions<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = stairs(device)?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let colors = [clear(*canvas.view, BLACK)];
    let mut last = None;
    for frame in 0..24 {
        let mut recorder = device.record("frame")?;
        recorder.render_pass_parallel(&one_color("stairs", &colors), SECTIONS, |section, pass| {
            painter.paint(pass, *pipeline, section as usize);
        })?;
        if frame % 3 == 0 {
            // Given up: what its sections recorded goes back while earlier submissions run.
            drop(recorder);
        } else {
            last = Some(recorder.submit()?);
        }
    }
    if let Some(token) = last {
        finish(device, token)?;
    }
    expect_stairs("the last of many", &canvas, device)?;
    Ok(Outcome::Passed)
}
