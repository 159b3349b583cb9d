//! Texture contents: uploads with pitches and sub-rectangles, copies of every shape, readbacks.

use purlin_rhi::backend::Backend;
use purlin_rhi::services::{align_up, row_pitch};
use purlin_rhi::types::{BufferUsages, TextureAspect, TextureDimension, TextureFormat, TextureUsages};
use purlin_rhi::{
    BufferDesc, Device, FormatUses, Owned, TexelLayout, Texture, TextureDesc, TexturePlace, full_mip_count,
    kind, mip_size,
};

use crate::kit::{
    Checked, equal, extent, fetch, origin, perform, read_buffer, read_mip, refused, rows, wrong,
};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const COPIES: TextureUsages = TextureUsages::COPY_SRC.union(TextureUsages::COPY_DST);

fn texture<B: Backend>(
    device: &mut Device<B>,
    format: TextureFormat,
    size: [u32; 3],
    mips: u32,
) -> Checked<Owned<kind::Texture>> {
    let mut desc = TextureDesc::d2("copied", size[0], size[1], format, COPIES).with_mips(mips);
    desc.size = extent(size);
    Ok(device.create_texture(&desc)?)
}

fn volume<B: Backend>(device: &mut Device<B>, size: [u32; 3], mips: u32) -> Checked<Owned<kind::Texture>> {
    let mut desc = TextureDesc::d2("volume", size[0], size[1], RGBA8, COPIES).with_mips(mips);
    desc.size = extent(size);
    desc.dimension = TextureDimension::D3;
    Ok(device.create_texture(&desc)?)
}

/// Each texel says where it is.
fn numbered([width, height, depth]: [u32; 3], mark: u8) -> Vec<u8> {
    let mut out = Vec::new();
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                out.extend_from_slice(&[x as u8, y as u8, z as u8, mark]);
            }
        }
    }
    out
}

fn texel(x: u32, y: u32, z: u32, mark: u8) -> [u8; 4] {
    [x as u8, y as u8, z as u8, mark]
}

fn write<B: Backend>(device: &mut Device<B>, target: Texture, mip: u32, size: [u32; 3], mark: u8) -> Checked {
    let place = TexturePlace::mip(target, mip);
    device.write_texture(&place, extent(size), &rows(size[0] * 4, size[1]), &numbered(size, mark))?;
    Ok(())
}

/// Reads all of a mip of four-byte texels.
fn texels<B: Backend>(
    device: &mut Device<B>,
    source: Texture,
    mip: u32,
    size: [u32; 3],
) -> Checked<Vec<[u8; 4]>> {
    let bytes = read_mip(device, source, mip, TextureAspect::All, size)?;
    Ok(bytes.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect())
}

/// Every texel of a box, in order.
fn boxed([width, height, depth]: [u32; 3], f: impl Fn(u32, u32, u32) -> [u8; 4]) -> Vec<[u8; 4]> {
    let mut out = Vec::new();
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                out.push(f(x, y, z));
            }
        }
    }
    out
}

pub(crate) fn odd_sizes<B: Backend>(device: &mut Device<B>) -> Answer {
    for size in [[1, 1, 1], [3, 5, 1], [7, 1, 1], [1, 9, 1], [65, 3, 1], [255, 2, 1], [5, 3, 4]] {
        let target = texture(device, RGBA8, size, 1)?;
        write(device, *target, 0, size, 9)?;
        let found = read_mip(device, *target, 0, TextureAspect::All, size)?;
        equal(format!("{size:?}"), &found, &numbered(size, 9))?;
    }
    // One byte a texel, and rows that are no multiple of four.
    for (format, bytes) in
        [(TextureFormat::R8Unorm, 1), (TextureFormat::Rg8Unorm, 2), (TextureFormat::Rgba16Float, 8)]
    {
        for width in [1, 2, 3, 5, 459] {
            let size = [width, 3, 1];
            let target = texture(device, format, size, 1)?;
            let data: Vec<u8> = (0..width * bytes * 3).map(|i| i as u8 & 0x3F).collect();
            let layout = rows(width * bytes, 3);
            device.write_texture(&TexturePlace::mip(*target, 0), extent(size), &layout, &data)?;
            let found = read_mip(device, *target, 0, TextureAspect::All, size)?;
            equal(format!("{format:?} of width {width}"), &found, &data)?;
        }
    }
    Ok(Outcome::Passed)
}

/// The case's own figures, for texels of one byte in tight rows that are no multiple of four (WebGPU has none of three).
pub(crate) fn c011_tight_rows_of_one_byte_texels<B: Backend>(device: &mut Device<B>) -> Answer {
    for [width, height] in [[459, 239], [390, 449], [1, 2], [3, 2]] {
        let size = [width, height, 1];
        let target = texture(device, TextureFormat::R8Unorm, size, 1)?;
        let data: Vec<u8> = (0..width * height).map(|i| (i % 251) as u8).collect();
        device.write_texture(&TexturePlace::mip(*target, 0), extent(size), &rows(width, height), &data)?;
        let found = read_mip(device, *target, 0, TextureAspect::All, size)?;
        equal(format!("{width} by {height}"), &found, &data)?;
        // One byte less is too few, and changes nothing.
        let short = device.write_texture(
            &TexturePlace::mip(*target, 0),
            extent(size),
            &rows(width, height),
            &vec![0; data.len() - 1],
        );
        refused("a byte too few", "bytes", short)?;
        let found = read_mip(device, *target, 0, TextureAspect::All, size)?;
        equal(format!("{width} by {height}, after a refused write"), &found, &data)?;
    }
    Ok(Outcome::Passed)
}

/// The order of channels is never wrong in silence: a device without the format refuses it.
pub(crate) fn c073_bgra_is_refused_or_exact<B: Backend>(device: &mut Device<B>) -> Answer {
    let format = TextureFormat::Bgra8Unorm;
    let needed = FormatUses::COPY_DST | FormatUses::COPY_SRC;
    let desc = TextureDesc::d2("bgra", 3, 2, format, COPIES);
    if !device.format_uses(format).contains(needed) {
        refused("a format that the device lacks", "Bgra8Unorm", device.create_texture(&desc))?;
        return Ok(Outcome::Unsupported(format!("{} use of Bgra8Unorm", needed.names())));
    }
    let target = device.create_texture(&desc)?;
    let data = numbered([3, 2, 1], 77);
    device.write_texture(&TexturePlace::mip(*target, 0), extent([3, 2, 1]), &rows(12, 2), &data)?;
    let found = read_mip(device, *target, 0, TextureAspect::All, [3, 2, 1])?;
    equal("the bytes that were written", &found, &data)?;
    Ok(Outcome::Passed)
}

pub(crate) fn padded_rows_and_layers<B: Backend>(device: &mut Device<B>) -> Answer {
    let size = [3, 2, 2];
    let target = texture(device, RGBA8, size, 1)?;
    // 20 bytes a row instead of 12, three rows a layer instead of two, 8 bytes before the first.
    let layout = TexelLayout { offset: 8, bytes_per_row: 20, rows_per_image: 3 };
    let mut data = vec![0xEE; 8 + 20 * 3 * 2];
    let tight = numbered(size, 1);
    for layer in 0..2 {
        for row in 0..2 {
            data[8 + layer * 60 + row * 20..][..12].copy_from_slice(&tight[(layer * 2 + row) * 12..][..12]);
        }
    }
    device.write_texture(&TexturePlace::mip(*target, 0), extent(size), &layout, &data)?;
    equal("padded upload", &read_mip(device, *target, 0, TextureAspect::All, size)?, &tight)?;
    // The last row needs no padding after it; a byte less is refused.
    let end = 8 + 60 + 20 + 12;
    device.write_texture(&TexturePlace::mip(*target, 0), extent(size), &layout, &data[..end])?;
    let short = device.write_texture(&TexturePlace::mip(*target, 0), extent(size), &layout, &data[..end - 1]);
    refused("a byte too little", "texels within", short)?;
    let narrow = TexelLayout { bytes_per_row: 8, ..layout };
    let short = device.write_texture(&TexturePlace::mip(*target, 0), extent(size), &narrow, &data);
    refused("rows too short", "bytes_per_row", short)?;
    Ok(Outcome::Passed)
}

pub(crate) fn sub_rectangles<B: Backend>(device: &mut Device<B>) -> Answer {
    let size = [8, 8, 1];
    let target = texture(device, RGBA8, size, 1)?;
    write(device, *target, 0, size, 1)?;
    let place = TexturePlace { origin: origin([2, 3, 0]), ..TexturePlace::mip(*target, 0) };
    device.write_texture(&place, extent([3, 4, 1]), &rows(12, 4), &numbered([3, 4, 1], 2))?;
    // Over the first rectangle and beyond it, in the same recording.
    let place = TexturePlace { origin: origin([4, 6, 0]), ..place };
    device.write_texture(&place, extent([4, 2, 1]), &rows(16, 2), &numbered([4, 2, 1], 3))?;
    let expected = boxed(size, |x, y, _| {
        if x >= 4 && y >= 6 {
            texel(x - 4, y - 6, 0, 3)
        } else if (2..5).contains(&x) && (3..7).contains(&y) {
            texel(x - 2, y - 3, 0, 2)
        } else {
            texel(x, y, 0, 1)
        }
    });
    equal("two rectangles", &texels(device, *target, 0, size)?, &expected)?;
    let place = TexturePlace { origin: origin([2, 3, 0]), ..TexturePlace::mip(*target, 0) };
    let found = fetch(device, |recorder| Ok(recorder.read_texture(&place, extent([3, 3, 1]))?))?;
    equal("a rectangle read back", &found, &numbered([3, 4, 1], 2)[..36])?;
    let over = device.write_texture(&place, extent([7, 1, 1]), &rows(28, 1), &[0; 28]);
    refused("a rectangle over the edge", "a box within", over)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c070_every_mip_of_odd_sizes<B: Backend>(device: &mut Device<B>) -> Answer {
    let chains: [([u32; 2], &[[u32; 2]]); 4] = [
        ([5, 3], &[[5, 3], [2, 1], [1, 1]]),
        ([192, 256], &[[192, 256], [96, 128], [48, 64], [24, 32], [12, 16], [6, 8], [3, 4], [1, 2], [1, 1]]),
        ([2, 1], &[[2, 1], [1, 1]]),
        ([1, 7], &[[1, 7], [1, 3], [1, 1]]),
    ];
    for ([width, height], chain) in chains {
        let size = extent([width, height, 1]);
        equal("mips", &[full_mip_count(size, TextureDimension::D2)], &[chain.len() as u32])?;
        let target = texture(device, RGBA8, [width, height, 1], chain.len() as u32)?;
        for (mip, [w, h]) in chain.iter().enumerate() {
            equal(
                "size of a mip",
                &[mip_size(size, TextureDimension::D2, mip as u32)],
                &[extent([*w, *h, 1])],
            )?;
            write(device, *target, mip as u32, [*w, *h, 1], mip as u8)?;
        }
        for (mip, [w, h]) in chain.iter().enumerate() {
            let found = read_mip(device, *target, mip as u32, TextureAspect::All, [*w, *h, 1])?;
            equal(format!("mip {mip} of {width}x{height}"), &found, &numbered([*w, *h, 1], mip as u8))?;
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn volume_mips<B: Backend>(device: &mut Device<B>) -> Answer {
    let sizes = [[16, 16, 8], [8, 8, 4], [4, 4, 2]];
    let target = volume(device, sizes[0], 3)?;
    for (mip, size) in sizes.into_iter().enumerate() {
        write(device, *target, mip as u32, size, mip as u8)?;
    }
    for (mip, size) in sizes.into_iter().enumerate() {
        let found = read_mip(device, *target, mip as u32, TextureAspect::All, size)?;
        equal(format!("mip {mip}"), &found, &numbered(size, mip as u8))?;
    }
    equal("mips of a deep volume", &[full_mip_count(extent([1, 1, 8]), TextureDimension::D3)], &[4])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c004_volume_to_volume<B: Backend>(device: &mut Device<B>) -> Answer {
    let (small, large) = ([4, 4, 4], [8, 8, 8]);
    let source = volume(device, small, 1)?;
    write(device, *source, 0, small, 1)?;
    for (from, depth) in [(0u32, 4u32), (1, 2)] {
        let target = volume(device, large, 1)?;
        write(device, *target, 0, large, 2)?;
        let src = TexturePlace { origin: origin([0, 0, from]), ..TexturePlace::mip(*source, 0) };
        let dst = TexturePlace { origin: origin([4, 4, 3]), ..TexturePlace::mip(*target, 0) };
        perform(device, |recorder| {
            recorder.copy_texture(&src, &dst, extent([4, 4, depth]))?;
            Ok(())
        })?;
        let expected = boxed(large, |x, y, z| {
            if x >= 4 && y >= 4 && (3..3 + depth).contains(&z) {
                texel(x - 4, y - 4, z - 3 + from, 1)
            } else {
                texel(x, y, z, 2)
            }
        });
        equal(format!("{depth} slices from {from}"), &texels(device, *target, 0, large)?, &expected)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c004_layers_to_slices_and_back<B: Backend>(device: &mut Device<B>) -> Answer {
    let size = [4, 4, 6];
    let layers = texture(device, RGBA8, size, 1)?;
    write(device, *layers, 0, size, 1)?;
    let slices = volume(device, size, 1)?;
    write(device, *slices, 0, size, 2)?;
    let back = texture(device, RGBA8, size, 1)?;
    write(device, *back, 0, size, 3)?;
    let at = |texture: Texture, place: [u32; 3]| TexturePlace {
        origin: origin(place),
        ..TexturePlace::mip(texture, 0)
    };
    perform(device, |recorder| {
        // Layers 2 and 3 (a face of a cube is such a layer) become slices 1 and 2.
        recorder.copy_texture(&at(*layers, [0, 0, 2]), &at(*slices, [0, 0, 1]), extent([4, 4, 2]))?;
        recorder.copy_texture(&at(*slices, [1, 0, 0]), &at(*back, [0, 2, 3]), extent([3, 2, 3]))?;
        Ok(())
    })?;
    let in_slices =
        |x, y, z: u32| if (1..3).contains(&z) { texel(x, y, z + 1, 1) } else { texel(x, y, z, 2) };
    equal("layers in slices", &texels(device, *slices, 0, size)?, &boxed(size, in_slices))?;
    let expected = boxed(size, |x, y, z| {
        if x < 3 && y >= 2 && z >= 3 { in_slices(x + 1, y - 2, z - 3) } else { texel(x, y, z, 3) }
    });
    equal("slices in layers", &texels(device, *back, 0, size)?, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn copies_between_mips_and_layers<B: Backend>(device: &mut Device<B>) -> Answer {
    let one = texture(device, RGBA8, [8, 8, 3], 2)?;
    write(device, *one, 0, [8, 8, 3], 1)?;
    write(device, *one, 1, [4, 4, 3], 2)?;
    let at = |mip, place: [u32; 3]| TexturePlace { origin: origin(place), ..TexturePlace::mip(*one, mip) };
    perform(device, |recorder| {
        // From mip 0 to mip 1 of another layer, then from that layer to a third.
        recorder.copy_texture(&at(0, [4, 4, 0]), &at(1, [0, 0, 1]), extent([4, 4, 1]))?;
        recorder.copy_texture(&at(1, [0, 0, 1]), &at(0, [1, 2, 2]), extent([4, 4, 1]))?;
        Ok(())
    })?;
    let mip1 = boxed([4, 4, 3], |x, y, z| if z == 1 { texel(x + 4, y + 4, 0, 1) } else { texel(x, y, z, 2) });
    equal("mip 1", &texels(device, *one, 1, [4, 4, 3])?, &mip1)?;
    let mip0 = boxed([8, 8, 3], |x, y, z| {
        if z == 2 && (1..5).contains(&x) && (2..6).contains(&y) {
            texel(x + 3, y + 2, 0, 1)
        } else {
            texel(x, y, z, 1)
        }
    });
    equal("mip 0", &texels(device, *one, 0, [8, 8, 3])?, &mip0)?;
    let mut recorder = device.record("overlap")?;
    let same = recorder.copy_texture(&at(0, [0, 0, 0]), &at(0, [4, 4, 0]), extent([4, 4, 1]));
    // Refused as an overlap of subresources, or before that as a read and a write of one.
    if same.is_ok() {
        return Err(wrong("a copy within one subresource", "an error", "success"));
    }
    drop(recorder);
    Ok(Outcome::Passed)
}

pub(crate) fn buffers_to_textures_and_back<B: Backend>(device: &mut Device<B>) -> Answer {
    let size = [5, 3, 2];
    let alignment = device.capabilities().copy_row_alignment.max(4);
    let pitch = 20u32.next_multiple_of(alignment);
    let layout = TexelLayout { offset: 256, bytes_per_row: pitch, rows_per_image: 4 };
    let bytes = u64::from(256 + pitch * 4 * 2);
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let (source, target) = (
        device.create_buffer(&BufferDesc::new("rows", bytes, usage))?,
        device.create_buffer(&BufferDesc::new("rows back", bytes, usage))?,
    );
    let mut data = vec![0xEE; bytes as usize];
    let tight = numbered(size, 7);
    for (index, row) in tight.chunks_exact(20).enumerate() {
        let (layer, row_index) = (index / 3, index % 3);
        data[256 + (layer * 4 + row_index) * pitch as usize..][..20].copy_from_slice(row);
    }
    device.write_buffer(*source, 0, &data)?;
    device.write_buffer(*target, 0, &vec![0xEE; bytes as usize])?;
    let through = texture(device, RGBA8, size, 1)?;
    perform(device, |recorder| {
        recorder.copy_buffer_to_texture(*source, &layout, &TexturePlace::mip(*through, 0), extent(size))?;
        recorder.copy_texture_to_buffer(&TexturePlace::mip(*through, 0), extent(size), *target, &layout)?;
        Ok(())
    })?;
    equal("through a texture", &read_mip(device, *through, 0, TextureAspect::All, size)?, &tight)?;
    // Gaps between rows and layers keep what was there.
    equal("back in a buffer", &read_buffer(device, *target, bytes)?, &data)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c001_aligned_rows_need_no_padding<B: Backend>(device: &mut Device<B>) -> Answer {
    let found = [0, 1, 255, 256, 257, 512].map(|bytes| align_up(bytes, 256));
    equal("aligned to 256", &found, &[0, 256, 256, 256, 512, 512])?;
    equal("128 texels of 4 bytes", &[row_pitch(RGBA8, TextureAspect::All, 128, 256)], &[Some(512)])?;
    let size = [128, 128, 1];
    let target = texture(device, RGBA8, size, 1)?;
    write(device, *target, 0, size, 5)?;
    let mut recorder = device.record("readback")?;
    let ticket = recorder.read_texture(&TexturePlace::mip(*target, 0), extent(size))?;
    let token = recorder.submit()?;
    crate::kit::finish(device, token)?;
    equal("bytes of the result", &[ticket.len()], &[65_536])?;
    equal("texels", &device.read_vec(&ticket)?, &numbered(size, 5))?;
    Ok(Outcome::Passed)
}

pub(crate) fn c002_pitch_is_aligned_after_multiplying<B: Backend>(device: &mut Device<B>) -> Answer {
    equal("64 texels of 4 bytes", &[row_pitch(RGBA8, TextureAspect::All, 64, 256)], &[Some(256)])?;
    let size = [64, 64, 1];
    let target = texture(device, RGBA8, size, 1)?;
    write(device, *target, 0, size, 6)?;
    let found = read_mip(device, *target, 0, TextureAspect::All, size)?;
    equal("tight bytes", &[found.len()], &[16_384])?;
    equal("texels", &found, &numbered(size, 6))?;
    Ok(Outcome::Passed)
}

pub(crate) fn c090_upload_over_upload<B: Backend>(device: &mut Device<B>) -> Answer {
    let size = [4, 4, 1];
    let target = texture(device, RGBA8, size, 1)?;
    for mark in 0..10 {
        write(device, *target, 0, size, mark)?;
    }
    let found = read_mip(device, *target, 0, TextureAspect::All, size)?;
    equal("the last upload wins", &found, &numbered(size, 9))?;
    Ok(Outcome::Passed)
}

pub(crate) fn undefined_texels_are_not_read<B: Backend>(device: &mut Device<B>) -> Answer {
    let target = texture(device, RGBA8, [4, 4, 2], 2)?;
    write(device, *target, 1, [2, 2, 2], 1)?;
    read_mip(device, *target, 1, TextureAspect::All, [2, 2, 2])?;
    match read_mip(device, *target, 0, TextureAspect::All, [4, 4, 2]) {
        Err(crate::Failure::Device(error)) => refused::<()>("mip 0", "undefined", Err(error))?,
        _ => return Err(wrong("a read of undefined texels", "an error", "success")),
    }
    let bytes = 64;
    let buffer = device.create_buffer(&BufferDesc::new("texels", bytes, BufferUsages::COPY_DST))?;
    let mut recorder = device.record("copy")?;
    let copied = recorder.copy_texture_to_buffer(
        &TexturePlace::mip(*target, 0),
        extent([4, 4, 1]),
        *buffer,
        &rows(16, 4),
    );
    refused("a copy of undefined texels", "undefined", copied)?;
    drop(recorder);
    Ok(Outcome::Passed)
}
