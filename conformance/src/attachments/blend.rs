//! Blending against the equations of the specification, evaluated here in plain arithmetic.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BlendComponent, BlendFactor as F, BlendOperation as Op, BlendState, TextureFormat, TextureUsages,
};
use purlin_rhi::{ColorTarget, Device, TextureDesc, TextureViewDesc};

use crate::kit::{Canvas, Checked, FULL, Paint, Painter, Raster, clear, close, numbers, one_color, perform};
use crate::{Answer, Outcome};

const SOURCE: [f32; 4] = [0.75, 0.5, 0.25, 0.5];
const TARGET: [f32; 4] = [0.125, 0.25, 0.5, 0.75];
const CONSTANT: [f32; 4] = [0.25, 0.5, 0.75, 0.375];

/// The factor for one channel, from the table in the specification of WebGPU.
fn factor(factor: F, channel: usize) -> f32 {
    let (s, d, c) = (SOURCE[channel], TARGET[channel], CONSTANT[channel]);
    let (sa, da) = (SOURCE[3], TARGET[3]);
    match factor {
        F::Zero => 0.0,
        F::One => 1.0,
        F::Src => s,
        F::OneMinusSrc => 1.0 - s,
        F::SrcAlpha => sa,
        F::OneMinusSrcAlpha => 1.0 - sa,
        F::Dst => d,
        F::OneMinusDst => 1.0 - d,
        F::DstAlpha => da,
        F::OneMinusDstAlpha => 1.0 - da,
        F::SrcAlphaSaturated if channel == 3 => 1.0,
        F::SrcAlphaSaturated => sa.min(1.0 - da),
        F::Constant => c,
        F::OneMinusConstant => 1.0 - c,
        _ => f32::NAN,
    }
}

fn blended(state: BlendState) -> [f32; 4] {
    std::array::from_fn(|channel| {
        let component = if channel == 3 { state.alpha } else { state.color };
        let s = SOURCE[channel] * factor(component.src_factor, channel);
        let d = TARGET[channel] * factor(component.dst_factor, channel);
        match component.operation {
            Op::Add => s + d,
            Op::Subtract => s - d,
            Op::ReverseSubtract => d - s,
            // Factors have no part in these.
            Op::Min => SOURCE[channel].min(TARGET[channel]),
            Op::Max => SOURCE[channel].max(TARGET[channel]),
        }
    })
}

fn check<B: Backend>(
    device: &mut Device<B>,
    painter: &Painter,
    canvas: &Canvas,
    state: BlendState,
) -> Checked {
    let targets = [Some(ColorTarget { blend: Some(state), ..canvas.format.into() })];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, TARGET)];
        recorder.render_pass(&one_color("blend", &colors), |pass| {
            pass.set_blend_constant(CONSTANT);
            painter.paint(pass, *pipeline, 0);
        })?;
        Ok(())
    })?;
    // 32-bit floats, so what is left is the order of rounding.
    close(format!("{state:?}"), &numbers(&canvas.bytes(device)?), &blended(state), 1e-5)
}

fn stage<B: Backend>(device: &mut Device<B>) -> Checked<Option<(Painter, Canvas)>> {
    let format = TextureFormat::Rgba32Float;
    if !device.format_uses(format).contains(purlin_rhi::FormatUses::BLENDABLE) {
        return Ok(None);
    }
    let canvas = Canvas::new(device, 1, 1, format)?;
    Ok(Some((Painter::new(device, &[Paint::new(FULL, SOURCE, 0.0, 0.0)])?, canvas)))
}

pub(crate) fn blend_factors<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some((painter, canvas)) = stage(device)? else {
        return Ok(Outcome::Unsupported("BLENDABLE use of Rgba32Float".into()));
    };
    let factors = [
        F::Zero,
        F::One,
        F::Src,
        F::OneMinusSrc,
        F::SrcAlpha,
        F::OneMinusSrcAlpha,
        F::Dst,
        F::OneMinusDst,
        F::DstAlpha,
        F::OneMinusDstAlpha,
        F::SrcAlphaSaturated,
        F::Constant,
        F::OneMinusConstant,
    ];
    for (index, factor) in factors.into_iter().enumerate() {
        // Each factor once on either side, and another one for alpha.
        let other = factors[(index + 5) % factors.len()];
        let component =
            |src_factor, dst_factor| BlendComponent { src_factor, dst_factor, operation: Op::Add };
        let state = BlendState { color: component(factor, F::One), alpha: component(other, F::Zero) };
        check(device, &painter, &canvas, state)?;
        let state = BlendState { color: component(F::One, factor), alpha: component(F::One, other) };
        check(device, &painter, &canvas, state)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn blend_operations<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some((painter, canvas)) = stage(device)? else {
        return Ok(Outcome::Unsupported("BLENDABLE use of Rgba32Float".into()));
    };
    let operations = [Op::Add, Op::Subtract, Op::ReverseSubtract, Op::Min, Op::Max];
    for (index, operation) in operations.into_iter().enumerate() {
        let one = |operation| BlendComponent { src_factor: F::One, dst_factor: F::One, operation };
        let state = BlendState { color: one(operation), alpha: one(operations[(index + 2) % 5]) };
        check(device, &painter, &canvas, state)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn usual_blend_states<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some((painter, canvas)) = stage(device)? else {
        return Ok(Outcome::Unsupported("BLENDABLE use of Rgba32Float".into()));
    };
    for state in [BlendState::REPLACE, BlendState::ALPHA_BLENDING, BlendState::PREMULTIPLIED_ALPHA_BLENDING] {
        check(device, &painter, &canvas, state)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn the_blend_constant_starts_at_zero<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some((painter, canvas)) = stage(device)? else {
        return Ok(Outcome::Unsupported("BLENDABLE use of Rgba32Float".into()));
    };
    let component = BlendComponent { src_factor: F::Constant, dst_factor: F::Zero, operation: Op::Add };
    let targets = [Some(ColorTarget {
        blend: Some(BlendState { color: component, alpha: component }),
        ..canvas.format.into()
    })];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    // The first pass leaves a constant behind; the second must not see it.
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, TARGET)];
        recorder.render_pass(&one_color("set", &colors), |pass| {
            pass.set_blend_constant([1.0; 4]);
            painter.paint(pass, *pipeline, 0);
        })?;
        recorder.render_pass(&one_color("unset", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        Ok(())
    })?;
    close("without a constant", &numbers(&canvas.bytes(device)?), &[0.0; 4], 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c071_srgb_views_and_blending<B: Backend>(device: &mut Device<B>) -> Answer {
    let (linear, srgb) = (TextureFormat::Rgba8Unorm, TextureFormat::Rgba8UnormSrgb);
    // 0.5 of 255 is 127.5; encoded it is 1.055 * 0.5^(1/2.4) - 0.055 = 0.7354, which is 187.5.
    let cases = [
        (linear, linear, 127..=128),
        (srgb, srgb, 187..=188),
        (linear, srgb, 187..=188),
        (srgb, linear, 127..=128),
    ];
    for (own, view_format, expected) in cases {
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let desc =
            TextureDesc { view_formats: &[view_format], ..TextureDesc::d2("encoded", 1, 1, own, usage) };
        let texture = device.create_texture(&desc)?;
        let desc = TextureViewDesc { format: Some(view_format), ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        let read = |device: &mut Device<B>| -> Checked<Vec<u8>> {
            crate::kit::read_mip(device, *texture, 0, purlin_rhi::types::TextureAspect::All, [1, 1, 1])
        };
        let what = format!("{own:?} through {view_format:?}");
        perform(device, |recorder| {
            let colors = [clear(*view, [0.5, 0.5, 0.5, 0.5])];
            recorder.render_pass(&one_color("clear", &colors), |_| {})?;
            Ok(())
        })?;
        let cleared = read(device)?;
        // Alpha is never encoded.
        if !cleared[..3].iter().all(|byte| expected.contains(byte)) || !(127..=128).contains(&cleared[3]) {
            return Err(crate::kit::wrong(
                format!("clear of {what}"),
                format!("{expected:?}"),
                format!("{cleared:?}"),
            ));
        }
        let painter = Painter::new(device, &[Paint::new(FULL, [1.0, 1.0, 1.0, 0.5], 0.0, 0.0)])?;
        let targets = [Some(ColorTarget { blend: Some(BlendState::ALPHA_BLENDING), ..view_format.into() })];
        let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
        perform(device, |recorder| {
            let colors = [clear(*view, [0.0, 0.0, 0.0, 1.0])];
            recorder.render_pass(&one_color("blend", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
            Ok(())
        })?;
        let blended = read(device)?;
        if !blended[..3].iter().all(|byte| expected.contains(byte)) {
            return Err(crate::kit::wrong(
                format!("blend of {what}"),
                format!("{expected:?}"),
                format!("{blended:?}"),
            ));
        }
    }
    Ok(Outcome::Passed)
}
