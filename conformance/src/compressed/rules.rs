//! Copies of blocks, and what they refuse.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat, TextureUsages};
use purlin_rhi::{BufferDesc, Device, FormatUses, TexelLayout, TextureDesc, TexturePlace};

use super::{BC, Blocks, all_claimed, astc, block_bytes, bytes_of, copied, none};
use crate::kit::{Checked, equal, extent, fetch, origin, perform, refused};
use crate::{Answer, Outcome};

/// The formats that copies read as well.
fn readable<B: Backend>(device: &Device<B>) -> Vec<TextureFormat> {
    all_claimed(device)
        .into_iter()
        .filter(|format| device.format_uses(*format).contains(FormatUses::COPY_SRC))
        .collect()
}

/// Rows of blocks further apart than they are long, through a buffer, a texture and another buffer.
pub(crate) fn block_pitches<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = readable(device);
    if formats.is_empty() {
        return none();
    }
    for format in formats {
        let (width, height) = format.block_dimensions();
        let size = [width * 3, height * 2, 2];
        let blocks = Blocks::new(format, size, 8);
        let row = 3 * block_bytes(format);
        let pitch =
            (row as u32 + 16).next_multiple_of(device.capabilities().copy_row_alignment.max(16)) as usize;
        let layout = TexelLayout { offset: 256, bytes_per_row: pitch as u32, rows_per_image: 3 };
        let mut data = vec![0xEE; 256 + pitch * 3 * 2];
        for (index, bytes) in blocks.bytes.chunks_exact(row).enumerate() {
            data[256 + (index / 2 * 3 + index % 2) * pitch..][..row].copy_from_slice(bytes);
        }
        // By an upload.
        let uploaded = copied(device, format, size)?;
        device.write_texture(&TexturePlace::mip(*uploaded, 0), extent(size), &layout, &data)?;
        equal(format!("padded upload of {format:?}"), &bytes_of(device, *uploaded, size)?, &blocks.bytes)?;
        // Between buffers and textures.
        let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let source = device.create_buffer_with("blocks", usage, &data)?;
        let target = device.create_buffer(&BufferDesc::new("blocks back", data.len() as u64, usage))?;
        device.write_buffer(*target, 0, &vec![0xEE; data.len()])?;
        let through = copied(device, format, size)?;
        perform(device, |recorder| {
            recorder.copy_buffer_to_texture(
                *source,
                &layout,
                &TexturePlace::mip(*through, 0),
                extent(size),
            )?;
            recorder.copy_texture_to_buffer(
                &TexturePlace::mip(*through, 0),
                extent(size),
                *target,
                &layout,
            )?;
            Ok(())
        })?;
        equal(format!("{format:?} in a texture"), &bytes_of(device, *through, size)?, &blocks.bytes)?;
        let back = crate::kit::read_buffer(device, *target, data.len() as u64)?;
        equal(format!("{format:?} back in a buffer"), &back, &data)?;
    }
    Ok(Outcome::Passed)
}

/// Boxes on the grid of blocks: uploaded over others, copied to another place, read back.
pub(crate) fn boxes_of_blocks<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = readable(device);
    if formats.is_empty() {
        return none();
    }
    for format in formats {
        let (width, height) = format.block_dimensions();
        let bytes = block_bytes(format);
        let size = [width * 3, height * 3, 1];
        let texture = copied(device, format, size)?;
        let all = Blocks::new(format, size, 9);
        all.write(device, &TexturePlace::mip(*texture, 0))?;
        let at = |texture, x: u32, y: u32| TexturePlace {
            origin: origin([x * width, y * height, 0]),
            ..TexturePlace::mip(texture, 0)
        };
        let small = Blocks::new(format, [width * 2, height, 1], 10);
        small.write(device, &at(*texture, 1, 2))?;
        let mut expected = all.bytes.clone();
        expected[(2 * 3 + 1) * bytes..][..2 * bytes].copy_from_slice(&small.bytes);
        equal(format!("two blocks of {format:?}"), &bytes_of(device, *texture, size)?, &expected)?;

        let other = copied(device, format, size)?;
        Blocks::new(format, size, 11).write(device, &TexturePlace::mip(*other, 0))?;
        perform(device, |recorder| {
            recorder.copy_texture(
                &at(*texture, 1, 1),
                &at(*other, 0, 0),
                extent([width * 2, height * 2, 1]),
            )?;
            Ok(())
        })?;
        let mut moved = Blocks::new(format, size, 11).bytes;
        for row in 0..2 {
            moved[row * 3 * bytes..][..2 * bytes]
                .copy_from_slice(&expected[((row + 1) * 3 + 1) * bytes..][..2 * bytes]);
        }
        equal(format!("four blocks of {format:?}, copied"), &bytes_of(device, *other, size)?, &moved)?;
        let one = fetch(device, |recorder| {
            Ok(recorder.read_texture(&at(*other, 1, 1), extent([width, height, 1]))?)
        })?;
        equal(format!("a block of {format:?}, read"), &one, &moved[4 * bytes..][..bytes])?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn blocks_are_whole<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = all_claimed(device);
    if formats.is_empty() {
        return none();
    }
    for format in formats {
        let (width, height) = format.block_dimensions();
        let bytes = block_bytes(format) as u32;
        let desc = TextureDesc::uploaded("blocks", width * 2, height * 2, 1, format);
        let texture = device.create_texture(&desc)?;
        let data = vec![0; bytes as usize * 4];
        let tight = TexelLayout { offset: 0, bytes_per_row: bytes * 2, rows_per_image: 2 };
        let mut refuse =
            |what: &str, says: &str, place: [u32; 2], size: [u32; 2], layout: &TexelLayout| -> Checked {
                let place = TexturePlace {
                    origin: origin([place[0], place[1], 0]),
                    ..TexturePlace::mip(*texture, 0)
                };
                let result = device.write_texture(&place, extent([size[0], size[1], 1]), layout, &data);
                refused(format!("{what} of {format:?}"), says, result)
            };
        refuse("a box beside the grid", "block grid", [1, 0], [width, height], &tight)?;
        refuse("a part of a block", "block grid", [0, 0], [width - 1, height], &tight)?;
        refuse("a part of a block's rows", "block grid", [0, 0], [width, height + 1], &tight)?;
        let short = TexelLayout { bytes_per_row: bytes * 2 - 1, ..tight };
        refuse("rows too short", "bytes_per_row", [0, 0], [width * 2, height * 2], &short)?;
        let late = TexelLayout { offset: 1, ..tight };
        refuse("a byte too little", "texels within", [0, 0], [width * 2, height * 2], &late)?;
        refuse("a box over the edge", "a box within", [width, 0], [width * 2, height], &tight)?;
        for (usage, says) in
            [(TextureUsages::RENDER_ATTACHMENT, "COLOR use"), (TextureUsages::STORAGE_BINDING, "STORAGE use")]
        {
            let desc = TextureDesc::d2("blocks", width, height, format, usage);
            refused(format!("{usage:?} of {format:?}"), says, device.create_texture(&desc))?;
        }
    }
    // A format whose feature is off is refused by the feature's name.
    for format in BC.iter().copied().chain(astc()) {
        if device.format_uses(format).is_empty() {
            let (width, height) = format.block_dimensions();
            let desc = TextureDesc::uploaded("none", width, height, 1, format);
            refused(format!("{format:?}"), "feature TEXTURE_COMPRESSION", device.create_texture(&desc))?;
        }
    }
    Ok(Outcome::Passed)
}
