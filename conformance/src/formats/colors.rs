//! Color formats: uploaded and sampled, filtered, cleared and drawn to, blended, copied.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, TextureAspect, TextureFormat, TextureUsages,
};
use purlin_rhi::{
    BindGroupEntry, ClearValue, ColorAttachment, ColorTarget, Device, FormatUses, LoadOp, SamplerDesc,
    StoreOp, TextureDesc, TexturePlace, TextureViewDesc,
};

use super::{Codec, Kind, colors_with, expect_texel};
use crate::kit::{
    Canvas, Checked, Kernel, Paint, Painter, Raster, equal, extent, numbers, one_color, perform, read_mip,
    rows,
};
use crate::shaders::{paint, texels};
use crate::{Answer, Outcome};

/// Texels of the little textures here.
const SIZE: [u32; 3] = [5, 3, 1];
const COUNT: usize = 15;

/// Runs the kernel that reads texels of this kind, over a texture view.
fn load_texels<B: Backend>(
    device: &mut Device<B>,
    codec: &Codec,
    view: purlin_rhi::TextureView,
    uses: &[purlin_rhi::plan::ResourceUse],
) -> Checked<Vec<[f64; 4]>> {
    let entry = match codec.kind {
        Kind::Uint => texels::entries::LOAD_UINT,
        Kind::Sint => texels::entries::LOAD_SINT,
        _ => texels::entries::LOAD_FLOAT,
    };
    let bytes = Kernel {
        source: &texels::SHADER,
        entry,
        bytes: COUNT as u64 * 16,
        groups: SIZE,
        inputs: &[BindGroupEntry::texture(1, view)],
        uses,
    }
    .run(device)?;
    Ok(match codec.kind {
        Kind::Uint => numbers::<[u32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
        Kind::Sint => numbers::<[i32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
        _ => numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
    })
}

pub(crate) fn sampled<B: Backend>(device: &mut Device<B>) -> Answer {
    for (format, codec) in colors_with(device, FormatUses::SAMPLED | FormatUses::COPY_DST) {
        let texture =
            device.create_texture(&TextureDesc::uploaded("sampled", SIZE[0], SIZE[1], 1, format))?;
        let data: Vec<Vec<u8>> = (0..COUNT as u32).map(|seed| codec.sample(seed)).collect();
        let layout = rows(SIZE[0] * codec.bytes() as u32, SIZE[1]);
        device.write_texture(&TexturePlace::mip(*texture, 0), extent(SIZE), &layout, &data.concat())?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let found = load_texels(device, &codec, *view, &[])?;
        for (index, (found, texel)) in found.into_iter().zip(&data).enumerate() {
            let what = format!("{format:?}, texel {index} of bytes {texel:02X?}");
            expect_texel(&what, &codec, found, codec.decode(texel))?;
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn filterable<B: Backend>(device: &mut Device<B>) -> Answer {
    let uses = FormatUses::SAMPLED | FormatUses::FILTERABLE | FormatUses::COPY_DST;
    for (format, codec) in colors_with(device, uses) {
        if matches!(codec.kind, Kind::Uint | Kind::Sint) {
            let what = format!("{format:?}: integers are claimed to be filterable");
            return Err(crate::kit::wrong(what, "only floats and normalized formats", "FILTERABLE"));
        }
        let texture = device.create_texture(&TextureDesc::uploaded("filtered", 2, 1, 1, format))?;
        let data = [codec.sample(7), codec.sample(8)];
        let layout = rows(2 * codec.bytes() as u32, 1);
        device.write_texture(&TexturePlace::mip(*texture, 0), extent([2, 1, 1]), &layout, &data.concat())?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let sampler = device.create_sampler(&SamplerDesc::linear("linear"))?;
        let bytes = Kernel {
            source: &texels::SHADER,
            entry: texels::entries::FILTER_FLOAT,
            bytes: 16,
            groups: [1, 1, 1],
            inputs: &[BindGroupEntry::texture(1, *view), BindGroupEntry::sampler(2, *sampler)],
            uses: &[],
        }
        .run(device)?;
        let found = numbers::<[f32; 4]>(&bytes)[0].map(f64::from);
        let (a, b) = (codec.decode(&data[0]), codec.decode(&data[1]));
        for channel in 0..4 {
            let expected = (a[channel] + b[channel]) / 2.0;
            // Weights have at least 8 bits: one of 256 parts of the difference, and what storage loses.
            let most = (a[channel] - b[channel]).abs() / 256.0 + codec.tolerance(channel, expected) + 1e-6;
            let distance = (found[channel] - expected).abs();
            if distance.is_nan() || distance > most {
                let what = format!("{format:?}, channel {channel} halfway between {a:?} and {b:?}");
                return Err(crate::kit::wrong(what, format!("{expected} within {most}"), found[channel]));
            }
        }
    }
    Ok(Outcome::Passed)
}

/// A value that the kind can hold, different for each channel.
fn values(codec: &Codec, format: TextureFormat, scale: f32) -> [f32; 4] {
    match codec.kind {
        Kind::Unorm | Kind::Float => [0.25, 0.5, 0.75, 1.0].map(|value| value * scale),
        Kind::Snorm => [0.25, -0.5, 0.75, -1.0].map(|value| value * scale),
        // Small enough for two bits of alpha, and whole after halving.
        Kind::Uint if format == TextureFormat::Rgb10a2Uint => {
            [200.0, 100.0, 40.0, 2.0].map(|value| value * scale)
        }
        Kind::Uint => [200.0, 100.0, 40.0, 20.0].map(|value| value * scale),
        Kind::Sint => [-100.0, 100.0, -40.0, 20.0].map(|value| value * scale),
    }
}

fn clear_value(codec: &Codec, values: [f32; 4]) -> ClearValue {
    match codec.kind {
        Kind::Uint => ClearValue::Uint(values.map(|value| value as u32)),
        Kind::Sint => ClearValue::Sint(values.map(|value| value as i32)),
        _ => ClearValue::Float(values),
    }
}

/// What stays of a value: channels that the format lacks read as 0 and 1.
fn kept(codec: &Codec, values: [f32; 4]) -> [f64; 4] {
    std::array::from_fn(|channel| match channel {
        _ if channel < codec.channels => f64::from(values[channel]),
        3 => 1.0,
        _ => 0.0,
    })
}

/// Clears four texels to one value and paints the left two with another; the texels as read back.
fn paint_over<B: Backend>(
    device: &mut Device<B>,
    format: TextureFormat,
    codec: &Codec,
    (below, above): ([f32; 4], [f32; 4]),
    blend: Option<BlendState>,
) -> Checked<Vec<[f64; 4]>> {
    let canvas = Canvas::new(device, 4, 1, format)?;
    let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, 0.0, 1.0], above, 0.0, 0.0)])?;
    let targets = [Some(ColorTarget { blend, ..format.into() })];
    let raster = Raster { targets: &targets, ..Default::default() };
    let fragment = match codec.kind {
        Kind::Uint => paint::entries::COLOR_UINT,
        Kind::Sint => paint::entries::COLOR_SINT,
        _ => paint::entries::COLOR,
    };
    let pipeline = painter.program.raster(device, paint::entries::RECTANGLE, Some(fragment), &raster)?;
    perform(device, |recorder| {
        let load = LoadOp::Clear(clear_value(codec, below));
        let colors =
            [Some(ColorAttachment { view: *canvas.view, load, store: StoreOp::Store, resolve: None })];
        recorder.render_pass(&one_color("paint over", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        Ok(())
    })?;
    let bytes = canvas.bytes(device)?;
    equal(format!("bytes of four texels of {format:?}"), &[bytes.len()], &[4 * codec.bytes()])?;
    Ok(bytes.chunks_exact(codec.bytes()).map(|texel| codec.decode(texel)).collect())
}

pub(crate) fn color_attachments<B: Backend>(device: &mut Device<B>) -> Answer {
    for (format, codec) in colors_with(device, FormatUses::COLOR | FormatUses::COPY_SRC) {
        let (below, above) = (values(&codec, format, 1.0), values(&codec, format, 0.5));
        let found = paint_over(device, format, &codec, (below, above), None)?;
        for (index, texel) in found.into_iter().enumerate() {
            let (what, value) = if index < 2 { ("drawn", above) } else { ("cleared", below) };
            expect_texel(&format!("{format:?}, {what} texel {index}"), &codec, texel, kept(&codec, value))?;
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn blendable<B: Backend>(device: &mut Device<B>) -> Answer {
    let sum = BlendComponent {
        src_factor: BlendFactor::One,
        dst_factor: BlendFactor::One,
        operation: BlendOperation::Add,
    };
    for (format, codec) in colors_with(device, FormatUses::BLENDABLE | FormatUses::COPY_SRC) {
        if matches!(codec.kind, Kind::Uint | Kind::Sint) {
            let what = format!("{format:?}: integers are claimed to be blendable");
            return Err(crate::kit::wrong(what, "only floats and normalized formats", "BLENDABLE"));
        }
        let (below, above) = (values(&codec, format, 0.5), values(&codec, format, 0.25));
        let blend = Some(BlendState { color: sum, alpha: sum });
        let found = paint_over(device, format, &codec, (below, above), blend)?;
        for (index, texel) in found.into_iter().enumerate() {
            let value = if index < 2 { values(&codec, format, 0.75) } else { below };
            // The value below was rounded once already.
            let what = format!("{format:?}, blended texel {index}");
            let expected = kept(&codec, value);
            for channel in 0..4 {
                let most = 2.0 * codec.tolerance(channel, expected[channel]);
                let distance = (texel[channel] - expected[channel]).abs();
                if distance.is_nan() || distance > most {
                    return Err(crate::kit::wrong(
                        what,
                        format!("{expected:?} within {most}"),
                        format!("{texel:?}"),
                    ));
                }
            }
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn copied_bit_by_bit<B: Backend>(device: &mut Device<B>) -> Answer {
    for (format, codec) in
        colors_with(device, FormatUses::SAMPLED | FormatUses::COPY_SRC | FormatUses::COPY_DST)
    {
        let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
        let desc = TextureDesc::d2("copied", SIZE[0], SIZE[1], format, usage);
        let (first, second) = (device.create_texture(&desc)?, device.create_texture(&desc)?);
        // Any bits at all: copies do not interpret them.
        let data: Vec<u8> = (0..COUNT * codec.bytes()).map(|i| (i * 37 + 11) as u8).collect();
        let layout = rows(SIZE[0] * codec.bytes() as u32, SIZE[1]);
        device.write_texture(&TexturePlace::mip(*first, 0), extent(SIZE), &layout, &data)?;
        perform(device, |recorder| {
            recorder.copy_texture(
                &TexturePlace::mip(*first, 0),
                &TexturePlace::mip(*second, 0),
                extent(SIZE),
            )?;
            Ok(())
        })?;
        let found = read_mip(device, *second, 0, TextureAspect::All, SIZE)?;
        equal(format!("{format:?}"), &found, &data)?;
    }
    Ok(Outcome::Passed)
}
