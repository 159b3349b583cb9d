//! The format table: what it says of shapes holds, at its ends and one beyond, and fixtures go through all of it.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};
use purlin_rhi::{
    BindGroupEntry, Contents, Device, Features, FormatCapabilities, FormatUses, TextureDesc, TexturePlace,
    TextureViewDesc, full_mip_count,
};

use super::{COLORS, Codec, DEPTH_STENCILS, Kind, expect_texel};
use crate::kit::{Checked, Kernel, equal, extent, numbers, refused, rows, wrong};
use crate::shaders::texels;
use crate::{Answer, Outcome};

/// The usages that the uses of a format allow together.
fn usages(row: &FormatCapabilities, dimension: TextureDimension) -> TextureUsages {
    let mut usages = TextureUsages::empty();
    for (of, usage) in [
        (FormatUses::SAMPLED, TextureUsages::TEXTURE_BINDING),
        (FormatUses::STORAGE, TextureUsages::STORAGE_BINDING),
        (FormatUses::COPY_SRC, TextureUsages::COPY_SRC),
        (FormatUses::COPY_DST, TextureUsages::COPY_DST),
    ] {
        usages.set(usage, row.uses.contains(of));
    }
    if dimension == TextureDimension::D3 {
        // Copies from volumes are a feature apart.
        usages -= TextureUsages::COPY_SRC;
    }
    let attached = row.uses.intersects(FormatUses::COLOR | FormatUses::DEPTH_STENCIL);
    usages.set(TextureUsages::RENDER_ATTACHMENT, attached && dimension == TextureDimension::D2);
    usages
}

/// Uses that only make sense beside others are claimed beside them.
fn consistent(row: &FormatCapabilities) -> Checked {
    let access =
        FormatUses::STORAGE_READ_ONLY | FormatUses::STORAGE_WRITE_ONLY | FormatUses::STORAGE_READ_WRITE;
    for (of, needs) in [
        (FormatUses::FILTERABLE, FormatUses::SAMPLED),
        (FormatUses::BLENDABLE, FormatUses::COLOR),
        (access, FormatUses::STORAGE),
        (FormatUses::STORAGE, access),
        (FormatUses::SAMPLE_COUNTS, FormatUses::COLOR | FormatUses::DEPTH_STENCIL),
        (FormatUses::MULTISAMPLE_RESOLVE, FormatUses::SAMPLE_COUNTS),
    ] {
        if row.uses.intersects(of) && !row.uses.intersects(needs) {
            let what = format!("uses of {:?}", row.format);
            return Err(wrong(
                what,
                format!("one of {} beside {}", needs.names(), of.names()),
                row.uses.names(),
            ));
        }
    }
    Ok(())
}

pub(crate) fn shapes_hold_to_their_ends<B: Backend>(device: &mut Device<B>) -> Answer {
    let mut tested = 0;
    for row in device.format_table() {
        consistent(&row)?;
        let (block_width, block_height) = row.block;
        for dimension in [TextureDimension::D2, TextureDimension::D3] {
            let Some(most) = row.shape(dimension) else { continue };
            let small = Extent3d { width: block_width, height: block_height, depth_or_array_layers: 1 };
            // Whole blocks, for those who need them.
            let whole = |side: u32, block: u32| side / block * block;
            let (width, height) =
                (whole(most.extent.width, block_width), whole(most.extent.height, block_height));
            let deep = match dimension {
                TextureDimension::D3 => most.extent.depth_or_array_layers,
                _ => most.layers,
            };
            let ends = [
                Extent3d { width, ..small },
                Extent3d { height, ..small },
                Extent3d { depth_or_array_layers: deep, ..small },
            ];
            let beyond = [
                Extent3d { width: width + block_width, ..small },
                Extent3d { height: height + block_height, ..small },
                Extent3d { depth_or_array_layers: deep + 1, ..small },
            ];
            for (end, over) in ends.into_iter().zip(beyond) {
                let describe = |size, mips| TextureDesc {
                    size,
                    mips,
                    dimension,
                    ..TextureDesc::d2("end", 1, 1, row.format, usages(&row, dimension))
                };
                let mips = full_mip_count(end, dimension);
                if mips > most.mips {
                    let what = format!("mips of {:?} as {dimension:?}", row.format);
                    return Err(wrong(what, format!("at least the {mips} of {end:?}"), most.mips));
                }
                drop(device.create_texture(&describe(end, mips))?);
                let result = device.create_texture(&describe(over, 1));
                if !matches!(
                    result,
                    Err(purlin_rhi::Error::Unsupported { .. } | purlin_rhi::Error::Backend { .. })
                ) {
                    let what = format!("{over:?} of {:?}, whose most is {most:?}", row.format);
                    return Err(wrong(what, "an error", format!("{result:?}")));
                }
                tested += 1;
            }
        }
    }
    equal("ends that were tested", &[tested > 100], &[true])?;
    Ok(Outcome::Passed)
}

/// Each row of the table is one that the fixtures here or those of blocks go through.
pub(crate) fn every_row_has_fixtures<B: Backend>(device: &mut Device<B>) -> Answer {
    for row in device.format_table() {
        let plain = COLORS.contains(&row.format) || DEPTH_STENCILS.contains(&row.format);
        if !plain && !crate::compressed::is_tested(row.format) {
            return Err(wrong(
                format!("{:?}", row.format),
                "no use of a format without fixtures",
                row.uses.names(),
            ));
        }
    }
    for format in purlin_rhi::formats::all() {
        let row = device.format_capabilities(format);
        if row.uses.is_empty() && (row.d2.is_some() || row.d3.is_some() || row.view_format.is_some()) {
            return Err(wrong(format!("{format:?}"), "no shape without a use", format!("{row:?}")));
        }
        if row.uses.is_empty() {
            let (width, height) = row.block;
            let usage = TextureUsages::COPY_DST;
            let desc = TextureDesc::d2("none", width, height, format, usage);
            let says = if format.is_compressed() { "needs" } else { "use of" };
            refused(format!("{format:?}"), says, device.create_texture(&desc))?;
        }
    }
    Ok(Outcome::Passed)
}

/// Runs the kernel that reads every texel of a volume or a flat view.
fn load<B: Backend>(
    device: &mut Device<B>,
    codec: &Codec,
    view: purlin_rhi::TextureView,
    volume: bool,
    size: [u32; 3],
) -> Checked<Vec<[f64; 4]>> {
    let entry = match (codec.kind, volume) {
        (Kind::Uint, false) => texels::entries::LOAD_UINT,
        (Kind::Sint, false) => texels::entries::LOAD_SINT,
        (_, false) => texels::entries::LOAD_FLOAT,
        (Kind::Uint, true) => texels::entries::LOAD_VOLUME_UINT,
        (Kind::Sint, true) => texels::entries::LOAD_VOLUME_SINT,
        (_, true) => texels::entries::LOAD_VOLUME,
    };
    let bytes = Kernel {
        source: &texels::SHADER,
        entry,
        bytes: u64::from(size[0] * size[1] * size[2]) * 16,
        groups: size,
        inputs: &[BindGroupEntry::texture(1, view)],
        uses: &[],
    }
    .run(device)?;
    Ok(match codec.kind {
        Kind::Uint => numbers::<[u32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
        Kind::Sint => numbers::<[i32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
        _ => numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
    })
}

/// Texels of a box, of their own for each mark.
fn texels_of(codec: &Codec, size: [u32; 3], mark: u32) -> Vec<Vec<u8>> {
    (0..size[0] * size[1] * size[2]).map(|seed| codec.sample(mark * 100 + seed)).collect()
}

fn compare(what: &str, codec: &Codec, found: Vec<[f64; 4]>, data: &[Vec<u8>]) -> Checked {
    equal(format!("texels of {what}"), &[found.len()], &[data.len()])?;
    for (index, (found, texel)) in found.into_iter().zip(data).enumerate() {
        expect_texel(&format!("{what}, texel {index}"), codec, found, codec.decode(texel))?;
    }
    Ok(())
}

fn sampled_rows<B: Backend>(device: &Device<B>) -> Vec<(FormatCapabilities, Codec)> {
    let uses = FormatUses::SAMPLED | FormatUses::COPY_DST;
    let rows = COLORS.into_iter().map(|format: TextureFormat| device.format_capabilities(format));
    rows.filter(|row| row.uses.contains(uses)).filter_map(|row| Some((row, Codec::of(row.format)?))).collect()
}

/// Volumes of every color format that has them.
pub(crate) fn volumes<B: Backend>(device: &mut Device<B>) -> Answer {
    let size = [3, 2, 2];
    for (row, codec) in sampled_rows(device).into_iter().filter(|(row, _)| row.d3.is_some()) {
        let desc = TextureDesc {
            size: extent(size),
            dimension: TextureDimension::D3,
            contents: Contents::Uploaded,
            ..TextureDesc::uploaded("volume", 1, 1, 1, row.format)
        };
        let texture = device.create_texture(&desc)?;
        let data = texels_of(&codec, size, 1);
        let layout = rows(size[0] * codec.bytes() as u32, size[1]);
        device.write_texture(&TexturePlace::mip(*texture, 0), extent(size), &layout, &data.concat())?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let found = load(device, &codec, *view, true, size)?;
        compare(&format!("a volume of {:?}", row.format), &codec, found, &data)?;
    }
    Ok(Outcome::Passed)
}

/// A view of one mip of one layer, while the others have no contents, of every color format that has partial views.
pub(crate) fn partial_views<B: Backend>(device: &mut Device<B>) -> Answer {
    let (size, within) = ([6, 4, 1], [3, 2, 1]);
    if !device.capabilities().features.contains(Features::LAYER_VIEWS) {
        return Ok(Outcome::Unsupported("LAYER_VIEWS".into()));
    }
    for (row, codec) in sampled_rows(device).into_iter().filter(|(row, _)| row.partial_views) {
        let desc = TextureDesc {
            size: extent([size[0], size[1], 3]),
            ..TextureDesc::uploaded("parts", 1, 1, 2, row.format)
        };
        let texture = device.create_texture(&desc)?;
        let data = texels_of(&codec, within, 2);
        let place = TexturePlace { origin: crate::kit::origin([0, 0, 2]), ..TexturePlace::mip(*texture, 1) };
        let layout = rows(within[0] * codec.bytes() as u32, within[1]);
        device.write_texture(&place, extent(within), &layout, &data.concat())?;
        let desc = TextureViewDesc { base_mip: 1, mips: 1, base_layer: 2, layers: 1, ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        let found = load(device, &codec, *view, false, within)?;
        compare(&format!("mip 1 of layer 2 of {:?}", row.format), &codec, found, &data)?;
    }
    Ok(Outcome::Passed)
}
