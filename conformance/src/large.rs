//! Large things: wide textures, uploads longer than the ring, far layers and slices, the end of a large range.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BufferUsages, Extent3d, TextureDimension, TextureFormat, TextureUsages, TextureViewDimension,
};
use purlin_rhi::{
    BindGroupEntry, BufferDesc, Device, Error, SamplerDesc, TextureDesc, TexturePlace, TextureViewDesc,
    full_mip_count, mip_size,
};

use crate::kit::{Checked, Kernel, close, equal, extent, fetch, finish, numbers, origin, rows};
use crate::samplers::probe_texels;
use crate::shaders::large;
use crate::shaders::sampling::{Probe, entries};
use crate::{Answer, Outcome};

/// A texture this wide, or as wide as the device has them.
const WIDTH: u32 = 8240;
/// Rows that are uploaded at once.
const BAND: u32 = 256;

/// The bytes of a row of texels, another for each row.
fn row(width: u32, y: u32) -> Vec<u8> {
    (0..width)
        .flat_map(|x| (x.wrapping_mul(0x9E37_79B9) ^ y.wrapping_mul(0x85EB_CA6B)).to_le_bytes())
        .collect()
}

/// Writes some rows; where the ring is full, once the GPU has moved on.
fn write<B: Backend>(
    device: &mut Device<B>,
    place: &TexturePlace,
    size: Extent3d,
    bytes_per_row: u32,
    data: &[u8],
) -> Checked<bool> {
    let layout = rows(bytes_per_row, size.height);
    match device.write_texture(place, size, &layout, data) {
        Err(Error::Pending { .. }) => {
            let token = device.flush_uploads()?;
            finish(device, token)?;
            device.write_texture(place, size, &layout, data)?;
            Ok(true)
        }
        result => result.map(|_| false).map_err(Into::into),
    }
}

/// A texture of more than 64 MiB: more than the ring holds at once, so that it fills and is waited for.
pub(crate) fn wide_uploads_of_many_bytes<B: Backend>(device: &mut Device<B>) -> Answer {
    let width = WIDTH.min(device.limits().max_texture_dimension_2d);
    let height = (64u32 << 20).div_ceil(width * 4) + 3;
    let usage = TextureUsages::COPY_DST | TextureUsages::COPY_SRC;
    let texture =
        device.create_texture(&TextureDesc::d2("wide", width, height, TextureFormat::Rgba8Unorm, usage))?;
    let mut waited = false;
    for y in (0..height).step_by(BAND as usize) {
        let count = BAND.min(height - y);
        let data: Vec<u8> = (y..y + count).flat_map(|y| row(width, y)).collect();
        let place = TexturePlace { origin: origin([0, y, 0]), ..TexturePlace::mip(*texture, 0) };
        waited |= write(device, &place, extent([width, count, 1]), width * 4, &data)?;
    }
    equal("uploads of more than the ring waited", &[waited], &[true])?;
    for y in [0, 1, BAND - 1, BAND, height / 2, height - 1] {
        let place = TexturePlace { origin: origin([0, y, 0]), ..TexturePlace::mip(*texture, 0) };
        let found = fetch(device, |recorder| Ok(recorder.read_texture(&place, extent([width, 1, 1]))?))?;
        equal(format!("row {y} of {width}x{height}"), &found, &row(width, y))?;
    }
    Ok(Outcome::Passed)
}

/// Layer 256 where there is one, else the last; and the last slice of a volume 512 deep, or as deep as there are, and of
/// its mips.
pub(crate) fn far_layers_and_slices<B: Backend>(device: &mut Device<B>) -> Answer {
    let nearest = SamplerDesc::nearest("nearest");
    let layers = device.limits().max_texture_array_layers.min(257);
    let desc = TextureDesc {
        size: extent([2, 1, layers]),
        ..TextureDesc::uploaded("layers", 1, 1, 1, TextureFormat::R8Unorm)
    };
    let texture = device.create_texture(&desc)?;
    let texels: Vec<u8> = (0..layers).flat_map(|layer| [(layer % 251) as u8; 2]).collect();
    device.write_texture(&TexturePlace::mip(*texture, 0), desc.size, &rows(2, 1), &texels)?;
    let desc = TextureViewDesc { dimension: Some(TextureViewDimension::D2Array), ..Default::default() };
    let view = device.create_texture_view(*texture, &desc)?;
    let probes = [0, layers / 2, layers - 1];
    let places = probes.map(|layer| Probe::new([0.5, 0.5, layer as f32], 0.0));
    let found = probe_texels(device, entries::SAMPLE_LAYERED, *view, &nearest, &places, &[])?;
    let expected = probes.map(|layer| (layer % 251) as f32 / 255.0);
    close("far layers", &found.iter().map(|texel| texel[0]).collect::<Vec<_>>(), &expected, 1e-6)?;

    let depth = device.limits().max_texture_dimension_3d.min(512);
    let size = extent([2, 2, depth]);
    let mips = full_mip_count(size, TextureDimension::D3);
    let desc = TextureDesc {
        size,
        dimension: TextureDimension::D3,
        ..TextureDesc::uploaded("volume", 1, 1, mips, TextureFormat::R8Unorm)
    };
    let texture = device.create_texture(&desc)?;
    let shade = |mip: u32, slice: u32| ((slice * 3 + mip * 40) % 251) as u8;
    let mut probes = Vec::new();
    let mut expected = Vec::new();
    for mip in 0..mips {
        let size = mip_size(size, TextureDimension::D3, mip);
        let texels: Vec<u8> = (0..size.depth_or_array_layers)
            .flat_map(|slice| vec![shade(mip, slice); (size.width * size.height) as usize])
            .collect();
        let layout = rows(size.width, size.height);
        device.write_texture(&TexturePlace::mip(*texture, mip), size, &layout, &texels)?;
        let last = size.depth_or_array_layers - 1;
        let place = (last as f32 + 0.5) / size.depth_or_array_layers as f32;
        probes.push(Probe::new([0.5, 0.5, place], mip as f32));
        expected.push(f32::from(shade(mip, last)) / 255.0);
    }
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let found = probe_texels(device, entries::SAMPLE_VOLUME, *view, &nearest, &probes, &[])?;
    close("far slices", &found.iter().map(|texel| texel[0]).collect::<Vec<_>>(), &expected, 1e-6)?;
    Ok(Outcome::Passed)
}

/// The bytes of a storage buffer, and of the range of it that a kernel sees.
const BUFFER: u64 = 67_109_120;
const RANGE: u64 = 16_777_472;

pub(crate) fn the_last_element_of_a_large_range<B: Backend>(device: &mut Device<B>) -> Answer {
    let limits = device.limits();
    if limits.max_buffer_size < BUFFER || limits.max_storage_binding_size < RANGE {
        return Ok(Outcome::Unsupported("limit max_buffer_size or max_storage_binding_size".into()));
    }
    let buffer = device.create_buffer(&BufferDesc::uploaded("large", BUFFER, BufferUsages::STORAGE))?;
    // At the beginning, and at the very end, each with the bytes before it as another value.
    for (offset, value) in [(0, 20u32), (BUFFER - RANGE, 21)] {
        let end = offset + RANGE;
        device.write_buffer(*buffer, end - 8, bytemuck::cast_slice(&[7, value]))?;
        let bytes = Kernel {
            source: &large::SHADER,
            entry: large::entries::LAST,
            bytes: 8,
            groups: [1, 1, 1],
            inputs: &[BindGroupEntry::buffer_range(1, *buffer, offset, RANGE)],
            uses: &[],
        }
        .run(device)?;
        equal(
            format!("the last of the range at {offset}"),
            &numbers::<u32>(&bytes),
            &[value, (RANGE / 4) as u32],
        )?;
    }
    Ok(Outcome::Passed)
}
