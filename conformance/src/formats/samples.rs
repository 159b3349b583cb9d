//! Every count of samples that a format claims: drawn, resolved or tested, and averaged where it resolves.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{CompareFunction, TextureFormat, TextureUsages};
use purlin_rhi::{
    AspectOps, ClearValue, ColorAttachment, ColorTarget, DepthStencilAttachment, DepthStencilDesc, Device,
    FormatUses, LoadOp, MultisampleDesc, Owned, RenderPassDesc, StoreOp, TextureDesc, TextureViewDesc, kind,
};

use super::{DEPTH_STENCILS, colors_with, expect_texel};
use crate::kit::{Canvas, Checked, Paint, Painter, Raster, one_color, perform, wrong};
use crate::shaders::paint;
use crate::{Answer, Outcome};

const COUNTS: [u32; 4] = [2, 4, 8, 16];
const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;

fn claims(uses: FormatUses, count: u32) -> bool {
    FormatUses::samples(count).is_some_and(|samples| uses.contains(samples))
}

fn samples<B: Backend>(
    device: &mut Device<B>,
    format: TextureFormat,
    count: u32,
) -> Checked<(Owned<kind::Texture>, Owned<kind::TextureView>)> {
    let desc = TextureDesc::d2("samples", 4, 1, format, TextureUsages::RENDER_ATTACHMENT);
    let texture = device.create_texture(&TextureDesc { samples: count, ..desc })?;
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    Ok((texture, view))
}

/// The left half drawn over what the rest was cleared to, and both resolved.
pub(crate) fn resolved_samples<B: Backend>(device: &mut Device<B>) -> Answer {
    let mut tested = 0;
    let uses = FormatUses::COLOR | FormatUses::MULTISAMPLE_RESOLVE | FormatUses::COPY_SRC;
    for (format, codec) in colors_with(device, uses) {
        let found = device.format_uses(format);
        for count in COUNTS.into_iter().filter(|count| claims(found, *count)) {
            let (_texture, view) = samples(device, format, count)?;
            let canvas = Canvas::new(device, 4, 1, format)?;
            let (below, above) = ([0.25, 0.5, 0.75, 1.0], [0.75, 0.25, 0.5, 1.0]);
            let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, 0.0, 1.0], above, 0.0, 0.0)])?;
            let targets = [Some(ColorTarget::from(format))];
            let multisample = MultisampleDesc { count, ..Default::default() };
            let raster = Raster { targets: &targets, multisample, ..Default::default() };
            let pipeline = painter.program.raster(
                device,
                paint::entries::RECTANGLE,
                Some(paint::entries::COLOR),
                &raster,
            )?;
            let load = LoadOp::Clear(ClearValue::Float(below));
            let colors = [Some(ColorAttachment {
                view: *view,
                load,
                store: StoreOp::Discard,
                resolve: Some(*canvas.view),
            })];
            perform(device, |recorder| {
                recorder
                    .render_pass(&one_color("samples", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
                Ok(())
            })?;
            let bytes = canvas.bytes(device)?;
            for (index, texel) in bytes.chunks_exact(codec.bytes()).enumerate() {
                let value = if index < 2 { above } else { below };
                let kept = std::array::from_fn(|channel| match channel {
                    _ if channel < codec.channels => f64::from(value[channel]),
                    3 => 1.0,
                    _ => 0.0,
                });
                let what = format!("{format:?} of {count} samples, texel {index}");
                expect_texel(&what, &codec, codec.decode(texel), kept)?;
                tested += 1;
            }
        }
    }
    if tested == 0 {
        return Ok(Outcome::Unsupported("MULTISAMPLE_RESOLVE use of a color format".into()));
    }
    Ok(Outcome::Passed)
}

/// Depth of every count: what lies behind the left half is not drawn there.
pub(crate) fn depth_samples<B: Backend>(device: &mut Device<B>) -> Answer {
    let color_uses = device.format_uses(RGBA8);
    let mut tested = 0;
    for format in DEPTH_STENCILS.into_iter().filter(TextureFormat::has_depth_aspect) {
        let uses = device.format_uses(format);
        for count in COUNTS.into_iter().filter(|count| claims(uses, *count) && claims(color_uses, *count)) {
            let (_depth, depth_view) = samples(device, format, count)?;
            let (_color, color_view) = samples(device, RGBA8, count)?;
            let canvas = Canvas::new(device, 4, 1, RGBA8)?;
            let paints = [
                Paint::new([-1.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], 0.25, 0.0),
                Paint::new([-1.0, -1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0], 0.5, 0.0),
            ];
            let painter = Painter::new(device, &paints)?;
            let targets = [Some(ColorTarget::from(RGBA8))];
            let raster = Raster {
                targets: &targets,
                depth_stencil: Some(DepthStencilDesc::depth(format, true, CompareFunction::Less)),
                multisample: MultisampleDesc { count, ..Default::default() },
                ..Default::default()
            };
            let pipeline = painter.pipeline(device, &raster)?;
            let colors = [Some(ColorAttachment {
                view: *color_view,
                load: LoadOp::Clear(ClearValue::Float([0.0; 4])),
                store: StoreOp::Discard,
                resolve: Some(*canvas.view),
            })];
            let depth_stencil = Some(DepthStencilAttachment {
                view: *depth_view,
                depth: Some(AspectOps::clear(1.0)),
                stencil: format.has_stencil_aspect().then(|| AspectOps::clear(0)),
            });
            perform(device, |recorder| {
                let desc = RenderPassDesc {
                    label: "samples",
                    colors: &colors,
                    depth_stencil,
                    uses: &[],
                    ..Default::default()
                };
                recorder.render_pass(&desc, |pass| {
                    painter.paint(pass, *pipeline, 0);
                    painter.paint(pass, *pipeline, 1);
                })?;
                Ok(())
            })?;
            let (red, green) = ([255, 0, 0, 255], [0, 255, 0, 255]);
            let found = canvas.bytes(device)?;
            let expected = [red, red, green, green].concat();
            if found != expected {
                let what = format!("{format:?} of {count} samples");
                return Err(wrong(what, format!("{expected:?}"), format!("{found:?}")));
            }
            tested += 1;
        }
    }
    if tested == 0 {
        return Ok(Outcome::Unsupported("a count of samples of a depth format".into()));
    }
    Ok(Outcome::Passed)
}
