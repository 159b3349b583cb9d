//! Views of textures: other formats, other dimensions, parts, and what outlives what.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{TextureFormat, TextureViewDimension};
use purlin_rhi::{Device, Features, SamplerDesc, TextureDesc, TexturePlace, TextureViewDesc};

use crate::compressed::{Blocks, expect, loaded};
use crate::kit::{Checked, close, equal, extent, origin, refused, rows, wrong};
use crate::samplers::probe_texels;
use crate::shaders::cube_arrays;
use crate::shaders::sampling::{Probe, entries};
use crate::{Answer, Outcome};

const R8: TextureFormat = TextureFormat::R8Unorm;

/// Each format with a sibling, as itself and as its sibling: the same bytes, read as linear or as sRGB.
pub(crate) fn srgb_pairs<B: Backend>(device: &mut Device<B>) -> Answer {
    if !device.capabilities().features.contains(Features::VIEW_FORMATS) {
        return Ok(Outcome::Unsupported("VIEW_FORMATS".into()));
    }
    let mut tested = Vec::new();
    for row in device.format_table() {
        let Some(sibling) = row.view_format else { continue };
        let (width, height) = row.block;
        let size = [width * 3, height * 2, 1];
        let desc = TextureDesc {
            view_formats: &[sibling],
            ..TextureDesc::uploaded("pair", size[0], size[1], 1, row.format)
        };
        let texture = device.create_texture(&desc)?;
        let blocks = Blocks::new(row.format, size, 12);
        blocks.write(device, &TexturePlace::mip(*texture, 0))?;
        for format in [row.format, sibling] {
            let desc = TextureViewDesc { format: Some(format), ..Default::default() };
            let view = device.create_texture_view(*texture, &desc)?;
            let found = loaded(device, *view, size)?;
            expect(&format!("{:?} viewed", row.format), format, &found, &blocks.texels_as(format, 0))?;
        }
        let other = TextureViewDesc { format: Some(TextureFormat::Rgba8Uint), ..Default::default() };
        refused("a view of no sibling", "invalid format", device.create_texture_view(*texture, &other))?;
        tested.push(row.format);
    }
    equal("pairs of eight bits are there", &[tested.contains(&TextureFormat::Rgba8Unorm)], &[true])?;
    Ok(Outcome::Passed)
}

/// Parts of 255 from one layer to the next.
const STEP: u8 = 20;

/// Twelve square layers as a layer, an array, a cube and an array of cubes.
pub(crate) fn one_texture_in_every_dimension<B: Backend>(device: &mut Device<B>) -> Answer {
    let needed = Features::CUBE_AS_ARRAY | Features::CUBE_ARRAYS | Features::LAYER_VIEWS;
    let missing = needed - device.capabilities().features;
    if !missing.is_empty() {
        return Ok(Outcome::Unsupported(missing.names()));
    }
    let desc = TextureDesc { size: extent([2, 2, 12]), ..TextureDesc::uploaded("twelve", 1, 1, 1, R8) };
    let texture = device.create_texture(&desc)?;
    let data: Vec<u8> = (0..12).flat_map(|layer| [layer * STEP; 4]).collect();
    device.write_texture(&TexturePlace::mip(*texture, 0), desc.size, &rows(2, 2), &data)?;
    use TextureViewDimension::{Cube, CubeArray, D2, D2Array};
    // The -Y face is the fourth of a cube.
    let down = [0.0, -1.0, 0.0];
    for (dimension, base_layer, layers, entry, probe, layer) in [
        (D2, 7, 1, entries::SAMPLE_FLAT, Probe::new([0.5, 0.5, 0.0], 0.0), 7),
        (D2Array, 3, 6, entries::SAMPLE_LAYERED, Probe::new([0.5, 0.5, 2.0], 0.0), 5),
        (Cube, 4, 6, entries::SAMPLE_CUBE, Probe::new(down, 0.0), 7),
        (CubeArray, 0, 12, cube_arrays::entries::SAMPLE_CUBES, Probe::new(down, 1.0), 9),
    ] {
        let desc = TextureViewDesc { dimension: Some(dimension), base_layer, layers, ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        let found = probe_texels(device, entry, *view, &SamplerDesc::nearest("nearest"), &[probe], &[])?;
        close(format!("{dimension:?}"), &[found[0][0]], &[f32::from(layer * STEP) / 255.0], 1e-6)?;
    }
    Ok(Outcome::Passed)
}

/// A part with contents is sampled while the rest has none, also after the texture's owner is gone; the rest is not.
pub(crate) fn parts_before_the_whole<B: Backend>(device: &mut Device<B>) -> Answer {
    if device.limits().max_storage_buffers_per_stage < 2 {
        return Ok(Outcome::Unsupported("limit max_storage_buffers_per_stage".into()));
    }
    let texture = device.create_texture(&TextureDesc::uploaded("coming", 8, 4, 3, R8))?;
    let write = |device: &mut Device<B>, mip: u32| -> Checked {
        let (width, height) = (8 >> mip, 4 >> mip);
        let data = vec![40 * (mip as u8 + 1); width as usize * height as usize];
        let size = extent([width, height, 1]);
        device.write_texture(&TexturePlace::mip(*texture, mip), size, &rows(width, height), &data)?;
        Ok(())
    };
    let sample = |device: &mut Device<B>, view, level: f32| -> Checked<f32> {
        let probes = [Probe::new([0.5, 0.5, 0.0], level)];
        let sampler = SamplerDesc::nearest("nearest");
        Ok(probe_texels(device, entries::SAMPLE_FLAT, view, &sampler, &probes, &[])?[0][0])
    };
    let whole = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let part = |mip| TextureViewDesc { base_mip: mip, mips: 1, ..Default::default() };
    let mut parts = Vec::new();
    // The last mip first, as streaming does; masks 4, 6 and 7.
    for (mip, mask) in [(2, 0b100), (1, 0b110), (0, 0b111)] {
        match sample(device, *whole, 0.0) {
            Err(crate::Failure::Device(error)) => {
                refused::<()>("a view of more than there is", "upload", Err(error))?;
            }
            _ => return Err(wrong("a sampled view of more than there is", "an error", "success")),
        }
        write(device, mip)?;
        equal("the mask", &[device.texture_residency(*texture)?.mask()], &[mask])?;
        let view = device.create_texture_view(*texture, &part(mip))?;
        close(
            format!("mip {mip}"),
            &[sample(device, *view, 0.0)?],
            &[40.0 * (mip + 1) as f32 / 255.0],
            1e-6,
        )?;
        parts.push(view);
    }
    equal("nothing is missing", &[device.texture_residency(*texture)?.is_complete()], &[true])?;
    // Both kinds of views keep what they show.
    device.destroy(*texture)?;
    device.maintain()?;
    refused("a view of a stale texture", "stale", device.create_texture_view(*texture, &part(0)))?;
    close("the whole", &[sample(device, *whole, 1.0)?], &[80.0 / 255.0], 1e-6)?;
    close("its last mip", &[sample(device, *parts[0], 0.0)?], &[120.0 / 255.0], 1e-6)?;
    let beyond = TexturePlace { origin: origin([0, 0, 0]), ..TexturePlace::mip(*texture, 0) };
    let late = device.write_texture(&beyond, extent([8, 4, 1]), &rows(8, 4), &[0; 32]);
    refused("an upload to a stale texture", "stale", late)?;
    Ok(Outcome::Passed)
}
