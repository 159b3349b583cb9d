//! Formats of compressed blocks: every one that the device claims, against decoders of other origin; and the rules that
//! blocks bring to sizes, pitches and boxes.

mod blocks;
mod rules;
mod shapes;

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{TextureAspect, TextureDimension, TextureFormat, TextureUsages};
use purlin_rhi::{
    BindGroupEntry, Device, Features, FormatUses, SamplerDesc, TexelLayout, Texture, TextureDesc,
    TexturePlace, TextureView, TextureViewDesc, full_mip_count, mip_size,
};

use crate::kit::{Checked, Kernel, equal, extent, numbers, read_mip, wrong};
use crate::shaders::texels;
use crate::{Answer, Outcome};
use blocks::{BC, ETC2, Texel, astc, decode, sample, tolerance};

pub(crate) use rules::*;
pub(crate) use shapes::*;

/// The compressed formats that the device samples and uploads.
fn claimed<B: Backend>(device: &Device<B>, formats: &[TextureFormat]) -> Vec<TextureFormat> {
    let uses = FormatUses::SAMPLED | FormatUses::COPY_DST;
    formats.iter().copied().filter(|format| device.format_uses(*format).contains(uses)).collect()
}

/// Whether the fixtures here go through a format.
pub(crate) fn is_tested(format: TextureFormat) -> bool {
    BC.contains(&format) || ETC2.contains(&format) || astc().contains(&format)
}

/// All of them.
fn all_claimed<B: Backend>(device: &Device<B>) -> Vec<TextureFormat> {
    [claimed(device, &BC), claimed(device, &ETC2), claimed(device, &astc())].concat()
}

/// What a fixture answers where the device has no compressed format at all.
fn none() -> Answer {
    Ok(Outcome::Unsupported(
        "TEXTURE_COMPRESSION_BC, TEXTURE_COMPRESSION_ETC2 or TEXTURE_COMPRESSION_ASTC".into(),
    ))
}

/// Blocks for a box of texels, and how they lie.
pub(crate) struct Blocks {
    bytes: Vec<u8>,
    layout: TexelLayout,
    /// Width, height, and layers or slices of the box.
    size: [u32; 3],
    format: TextureFormat,
}

impl Blocks {
    /// Blocks of their own for every seed, rows without padding.
    pub(crate) fn new(format: TextureFormat, size: [u32; 3], seed: u32) -> Self {
        let (width, height) = format.block_dimensions();
        let (columns, rows) = (size[0].div_ceil(width), size[1].div_ceil(height));
        let count = columns * rows * size[2];
        let bytes: Vec<u8> = (0..count).flat_map(|index| sample(format, seed * 1000 + index)).collect();
        let layout = TexelLayout {
            offset: 0,
            bytes_per_row: columns * block_bytes(format) as u32,
            rows_per_image: rows,
        };
        Self { bytes, layout, size, format }
    }

    /// The texels of a layer or slice.
    pub(crate) fn texels(&self, image: u32) -> Vec<Texel> {
        self.texels_as(self.format, image)
    }

    /// The same, seen as the sRGB or linear sibling.
    pub(crate) fn texels_as(&self, format: TextureFormat, image: u32) -> Vec<Texel> {
        decoded(format, self.size, &self.bytes, image)
    }

    pub(crate) fn write<B: Backend>(&self, device: &mut Device<B>, place: &TexturePlace) -> Checked {
        device.write_texture(place, extent(self.size), &self.layout, &self.bytes)?;
        Ok(())
    }
}

/// The texels of a layer or slice of a box of blocks, those beyond the box's edge left out.
pub(crate) fn decoded(format: TextureFormat, size: [u32; 3], bytes: &[u8], image: u32) -> Vec<Texel> {
    let (width, height) = format.block_dimensions();
    let (columns, rows) = (size[0].div_ceil(width), size[1].div_ceil(height));
    let block = block_bytes(format);
    let count = (columns * rows) as usize;
    let blocks: Vec<Vec<Texel>> = bytes[image as usize * count * block..][..count * block]
        .chunks_exact(block)
        .map(|block| decode(format, block))
        .collect();
    let mut texels = Vec::new();
    for y in 0..size[1] {
        for x in 0..size[0] {
            let block = &blocks[(y / height * columns + x / width) as usize];
            texels.push(block[(y % height * width + x % width) as usize]);
        }
    }
    texels
}

fn block_bytes(format: TextureFormat) -> usize {
    format.block_copy_size(None).unwrap_or(16) as usize
}

/// What a shader loads from every texel of a view's first mip and layer.
pub(crate) fn loaded<B: Backend>(
    device: &mut Device<B>,
    view: TextureView,
    [width, height, _]: [u32; 3],
) -> Checked<Vec<Texel>> {
    let bytes = Kernel {
        source: &texels::SHADER,
        entry: texels::entries::LOAD_FLOAT,
        bytes: u64::from(width * height) * 16,
        groups: [width, height, 1],
        inputs: &[BindGroupEntry::texture(1, view)],
        uses: &[],
    }
    .run(device)?;
    Ok(numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect())
}

/// Each texel is what the decoder made of its block.
pub(crate) fn expect(what: &str, format: TextureFormat, found: &[Texel], expected: &[Texel]) -> Checked {
    equal(format!("texels of {what}"), &[found.len()], &[expected.len()])?;
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let far = |c: usize| {
            let distance = (found[c] - expected[c]).abs();
            distance.is_nan() || distance > tolerance(format, expected[c])
        };
        if let Some(channel) = (0..4).find(|channel| far(*channel)) {
            let most = tolerance(format, expected[channel]);
            let what = format!("{format:?}, {what}, texel {index}, channel {channel}");
            return Err(wrong(what, format!("{expected:?} within {most}"), format!("{found:?}")));
        }
    }
    Ok(())
}

/// Every format of a family: 24 blocks, each of its own bits, loaded texel by texel.
fn family<B: Backend>(device: &mut Device<B>, feature: Features, formats: &[TextureFormat]) -> Answer {
    if !device.capabilities().features.contains(feature) {
        for format in formats {
            equal(format!("uses of {format:?}"), &[device.format_uses(*format)], &[FormatUses::empty()])?;
        }
        return Ok(Outcome::Unsupported(feature.names()));
    }
    let found = claimed(device, formats);
    equal(format!("formats that {} brings", feature.names()), &found, formats)?;
    for format in found {
        let (width, height) = format.block_dimensions();
        let size = [width * 6, height * 4, 1];
        let texture = device.create_texture(&TextureDesc::uploaded("blocks", size[0], size[1], 1, format))?;
        let blocks = Blocks::new(format, size, 1);
        blocks.write(device, &TexturePlace::mip(*texture, 0))?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        expect("sampled", format, &loaded(device, *view, size)?, &blocks.texels(0))?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn bc_sampled<B: Backend>(device: &mut Device<B>) -> Answer {
    family(device, Features::TEXTURE_COMPRESSION_BC, &BC)
}

pub(crate) fn etc2_sampled<B: Backend>(device: &mut Device<B>) -> Answer {
    family(device, Features::TEXTURE_COMPRESSION_ETC2, &ETC2)
}

pub(crate) fn astc_sampled<B: Backend>(device: &mut Device<B>) -> Answer {
    family(device, Features::TEXTURE_COMPRESSION_ASTC, &astc())
}

/// Mips of every format of blocks down to one texel, loaded and read back.
pub(crate) fn tail_mips<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = all_claimed(device);
    if formats.is_empty() {
        return none();
    }
    for format in formats {
        let (width, height) = format.block_dimensions();
        let size = extent([width * 3, height * 2, 1]);
        let mips = full_mip_count(size, TextureDimension::D2);
        let desc = TextureDesc::uploaded("tail", size.width, size.height, mips, format);
        let readable = device.format_uses(format).contains(FormatUses::COPY_SRC);
        let copied = if readable { TextureUsages::COPY_SRC } else { TextureUsages::empty() };
        let texture = device.create_texture(&TextureDesc { usage: desc.usage | copied, ..desc })?;
        let chain: Vec<Blocks> = (0..mips)
            .map(|mip| {
                let size = mip_size(size, TextureDimension::D2, mip);
                Blocks::new(format, [size.width, size.height, 1], mip + 2)
            })
            .collect();
        for (mip, blocks) in chain.iter().enumerate() {
            blocks.write(device, &TexturePlace::mip(*texture, mip as u32))?;
        }
        for (mip, blocks) in chain.iter().enumerate() {
            let desc = TextureViewDesc { base_mip: mip as u32, mips: 1, ..Default::default() };
            let view = device.create_texture_view(*texture, &desc)?;
            let what = format!("mip {mip} of {mips}");
            expect(&what, format, &loaded(device, *view, blocks.size)?, &blocks.texels(0))?;
            if readable {
                let bytes = read_mip(device, *texture, mip as u32, TextureAspect::All, blocks.size)?;
                equal(format!("bytes of {what} of {format:?}"), &bytes, &blocks.bytes)?;
            }
        }
    }
    Ok(Outcome::Passed)
}

/// Filters look at texels, not blocks: halfway between two blocks is the mean of their texels there.
pub(crate) fn filtered_over_block_edges<B: Backend>(device: &mut Device<B>) -> Answer {
    let linear: Vec<TextureFormat> = all_claimed(device)
        .into_iter()
        .filter(|format| device.format_uses(*format).contains(FormatUses::FILTERABLE))
        // Two texels of any bits: halves of infinities and of steps too large for a filter say nothing.
        .filter(|format| !matches!(format, TextureFormat::Bc6hRgbUfloat | TextureFormat::Bc6hRgbFloat))
        .collect();
    if linear.is_empty() {
        return none();
    }
    for format in linear {
        let (width, height) = format.block_dimensions();
        let size = [width * 2, height, 1];
        let texture = device.create_texture(&TextureDesc::uploaded("edge", size[0], size[1], 1, format))?;
        let blocks = Blocks::new(format, size, 3);
        blocks.write(device, &TexturePlace::mip(*texture, 0))?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let sampler = device.create_sampler(&SamplerDesc::linear("linear"))?;
        let bytes = Kernel {
            source: &texels::SHADER,
            entry: texels::entries::FILTER_MIDDLE,
            bytes: 16,
            groups: [1, 1, 1],
            inputs: &[BindGroupEntry::texture(1, *view), BindGroupEntry::sampler(2, *sampler)],
            uses: &[],
        }
        .run(device)?;
        let found = numbers::<[f32; 4]>(&bytes)[0].map(f64::from);
        let texels = blocks.texels(0);
        let (left, right) = (texels[width as usize - 1], texels[width as usize]);
        for channel in 0..4 {
            let expected = (left[channel] + right[channel]) / 2.0;
            // Weights have eight bits at least, and a driver may keep the result in eight bits.
            let most =
                tolerance(format, expected) + (left[channel] - right[channel]).abs() / 256.0 + 0.6 / 255.0;
            let distance = (found[channel] - expected).abs();
            if distance.is_nan() || distance > most {
                let what = format!("{format:?}, channel {channel} between {left:?} and {right:?}");
                return Err(wrong(what, format!("{expected} within {most}"), found[channel]));
            }
        }
    }
    Ok(Outcome::Passed)
}

/// A texture that copies read and write.
fn copied<B: Backend>(
    device: &mut Device<B>,
    format: TextureFormat,
    size: [u32; 3],
) -> Checked<purlin_rhi::Owned<purlin_rhi::kind::Texture>> {
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING;
    let desc = TextureDesc { size: extent(size), ..TextureDesc::d2("copied", 1, 1, format, usage) };
    Ok(device.create_texture(&desc)?)
}

/// All bytes of the texture's first mip.
fn bytes_of<B: Backend>(device: &mut Device<B>, texture: Texture, size: [u32; 3]) -> Checked<Vec<u8>> {
    read_mip(device, texture, 0, TextureAspect::All, size)
}
