//! Blocks in layers, cubes and volumes, and at edges that no block ends at.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{TextureDimension, TextureFormat, TextureViewDimension};
use purlin_rhi::{
    BindGroupEntry, Contents, Device, Features, SamplerDesc, TextureDesc, TexturePlace, TextureViewDesc,
};

use super::{BC, Blocks, all_claimed, astc, claimed, expect, loaded, none};
use crate::kit::{Kernel, extent, numbers, refused};
use crate::shaders::texels;
use crate::{Answer, Outcome};

/// Base sizes that end within a block, where the device takes them; the rest of the block is nowhere to be seen.
pub(crate) fn unaligned_edges<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = all_claimed(device);
    if formats.is_empty() {
        return none();
    }
    let taken = device.capabilities().features.contains(Features::UNALIGNED_BLOCK_EXTENTS);
    for format in formats {
        let (width, height) = format.block_dimensions();
        let size = [width + 1, height * 2 - 1, 1];
        let desc = TextureDesc::uploaded("unaligned", size[0], size[1], 1, format);
        if !taken {
            let name = "feature UNALIGNED_BLOCK_EXTENTS";
            refused(format!("{size:?} of {format:?}"), name, device.create_texture(&desc))?;
            continue;
        }
        let texture = device.create_texture(&desc)?;
        let blocks = Blocks::new(format, size, 5);
        blocks.write(device, &TexturePlace::mip(*texture, 0))?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        expect("unaligned", format, &loaded(device, *view, size)?, &blocks.texels(0))?;
    }
    Ok(if taken { Outcome::Passed } else { Outcome::Unsupported("UNALIGNED_BLOCK_EXTENTS".into()) })
}

/// One format of each family that the device has.
fn of_each_family<B: Backend>(device: &Device<B>) -> Vec<TextureFormat> {
    let all = all_claimed(device);
    let first = |of: fn(&TextureFormat) -> bool| all.iter().copied().find(of);
    [
        first(|format| *format == TextureFormat::Bc1RgbaUnorm),
        first(|format| *format == TextureFormat::Bc5RgUnorm),
        first(|format| *format == TextureFormat::Etc2Rgba8Unorm),
        first(|format| format.is_astc() && format.block_dimensions() == (8, 5)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn layers_of_blocks<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = of_each_family(device);
    if formats.is_empty() {
        return none();
    }
    for format in formats {
        let (width, height) = format.block_dimensions();
        let size = [width * 2, height, 3];
        let desc = TextureDesc { size: extent(size), ..TextureDesc::uploaded("layers", 1, 1, 1, format) };
        let texture = device.create_texture(&desc)?;
        let blocks = Blocks::new(format, size, 6);
        blocks.write(device, &TexturePlace::mip(*texture, 0))?;
        for layer in 0..3 {
            let desc = TextureViewDesc { base_layer: layer, layers: 1, ..Default::default() };
            let view = device.create_texture_view(*texture, &desc)?;
            let found = loaded(device, *view, size)?;
            expect(&format!("layer {layer}"), format, &found, &blocks.texels(layer))?;
        }
    }
    Ok(Outcome::Passed)
}

/// The centers of a cube's faces: between the four texels in the middle, all of one color.
pub(crate) fn cubes_of_blocks<B: Backend>(device: &mut Device<B>) -> Answer {
    use crate::shaders::sampling::{Probe, SHADER, entries};
    let formats: Vec<TextureFormat> = of_each_family(device)
        .into_iter()
        .filter(|format| format.block_dimensions().0 == format.block_dimensions().1)
        .collect();
    if formats.is_empty() {
        return none();
    }
    for format in formats {
        let (side, _) = format.block_dimensions();
        // One texel of each face, the last of its first block, is looked at.
        let size = [side * 2, side * 2, 6];
        let desc = TextureDesc { size: extent(size), ..TextureDesc::uploaded("cube", 1, 1, 1, format) };
        let texture = device.create_texture(&desc)?;
        let blocks = Blocks::new(format, size, 7);
        blocks.write(device, &TexturePlace::mip(*texture, 0))?;
        let desc = TextureViewDesc { dimension: Some(TextureViewDimension::Cube), ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        // Right of each axis' end by half a texel of a face, and below it: the coordinates within a face by the tables of
        // cube maps, solved for the texel left of and above the center.
        let e = 1.0 / (2.0 * side as f32);
        let places = [[1.0, e, e], [-1.0, e, -e], [-e, 1.0, -e], [-e, -1.0, e], [-e, e, 1.0], [e, e, -1.0]];
        let probes = places.map(|place| Probe::new(place, 0.0));
        let places = device.create_buffer_with(
            "probes",
            purlin_rhi::types::BufferUsages::STORAGE,
            bytemuck::cast_slice(&probes),
        )?;
        let sampler = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
        let bytes = Kernel {
            source: &SHADER,
            entry: entries::SAMPLE_CUBE,
            bytes: 6 * 16,
            groups: [6, 1, 1],
            inputs: &[
                BindGroupEntry::buffer(1, *places),
                BindGroupEntry::sampler(2, *sampler),
                BindGroupEntry::texture(3, *view),
            ],
            uses: &[],
        }
        .run(device)?;
        let found: Vec<[f64; 4]> =
            numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect();
        let texel = (side - 1) * size[0] + side - 1;
        let expected: Vec<[f64; 4]> = (0..6).map(|face| blocks.texels(face)[texel as usize]).collect();
        expect("faces", format, &found, &expected)?;
    }
    Ok(Outcome::Passed)
}

/// Slices of volumes of blocks, and a mip of theirs.
pub(crate) fn volumes_of_blocks<B: Backend>(device: &mut Device<B>) -> Answer {
    let features = device.capabilities().features;
    let mut formats = Vec::new();
    for (feature, of) in [
        (Features::TEXTURE_COMPRESSION_BC_SLICED_3D, claimed(device, &BC)),
        (Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D, claimed(device, &astc())),
    ] {
        if features.contains(feature) {
            formats.extend(of);
        } else if let Some(&format) = of.first() {
            let (width, height) = format.block_dimensions();
            let desc = TextureDesc {
                dimension: TextureDimension::D3,
                size: extent([width, height, 2]),
                ..TextureDesc::uploaded("volume", 1, 1, 1, format)
            };
            refused(format!("a volume of {format:?}"), &feature.names(), device.create_texture(&desc))?;
        }
    }
    if formats.is_empty() {
        return Ok(Outcome::Unsupported(
            "TEXTURE_COMPRESSION_BC_SLICED_3D or TEXTURE_COMPRESSION_ASTC_SLICED_3D".into(),
        ));
    }
    for format in formats {
        let (width, height) = format.block_dimensions();
        let sizes = [[width * 2, height * 2, 4], [width, height, 2]];
        let desc = TextureDesc {
            dimension: TextureDimension::D3,
            size: extent(sizes[0]),
            contents: Contents::Uploaded,
            ..TextureDesc::uploaded("volume", 1, 1, 2, format)
        };
        let texture = device.create_texture(&desc)?;
        let chain = sizes.map(|size| Blocks::new(format, size, size[2]));
        for (mip, blocks) in chain.iter().enumerate() {
            blocks.write(device, &TexturePlace::mip(*texture, mip as u32))?;
        }
        for (mip, blocks) in chain.iter().enumerate() {
            let desc = TextureViewDesc { base_mip: mip as u32, mips: 1, ..Default::default() };
            let view = device.create_texture_view(*texture, &desc)?;
            let [width, height, depth] = blocks.size;
            let bytes = Kernel {
                source: &texels::SHADER,
                entry: texels::entries::LOAD_VOLUME,
                bytes: u64::from(width * height * depth) * 16,
                groups: blocks.size,
                inputs: &[BindGroupEntry::texture(1, *view)],
                uses: &[],
            }
            .run(device)?;
            let found: Vec<[f64; 4]> =
                numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect();
            let expected: Vec<[f64; 4]> = (0..depth).flat_map(|slice| blocks.texels(slice)).collect();
            expect(&format!("mip {mip} of a volume"), format, &found, &expected)?;
        }
    }
    Ok(Outcome::Passed)
}
