//! Samplers: addressing, filters, levels of detail, comparison, and the kinds of textures.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{ResourceUse, TextureUse};
use purlin_rhi::types::{
    AddressMode, BufferUsages, CompareFunction, FilterMode, SamplerBorderColor, ShaderStages,
    TextureDimension, TextureFormat, TextureUsages, TextureViewDimension,
};
use purlin_rhi::{
    AspectOps, BindGroupEntry, Contents, DepthStencilAttachment, Device, Features, Owned, RenderPassDesc,
    SamplerDesc, TextureDesc, TexturePlace, TextureView, TextureViewDesc, kind,
};

use crate::kit::{Canvas, Checked, Kernel, close, extent, numbers, perform, refused, rows, texture_use};
use crate::shaders::cube_arrays;
use crate::shaders::sampling::{Probe, SHADER, entries};
use crate::{Answer, Outcome};

const R8: TextureFormat = TextureFormat::R8Unorm;

/// Samples at each place; the first channel of each result.
fn probe<B: Backend>(
    device: &mut Device<B>,
    entry: &str,
    view: TextureView,
    sampler: &SamplerDesc<'_>,
    probes: &[Probe],
    uses: &[ResourceUse],
) -> Checked<Vec<f32>> {
    let texels = probe_texels(device, entry, view, sampler, probes, uses)?;
    Ok(texels.into_iter().map(|texel| texel[0]).collect())
}

/// Samples at each place.
pub(crate) fn probe_texels<B: Backend>(
    device: &mut Device<B>,
    entry: &str,
    view: TextureView,
    sampler: &SamplerDesc<'_>,
    probes: &[Probe],
    uses: &[ResourceUse],
) -> Checked<Vec<[f32; 4]>> {
    let sampler = device.create_sampler(sampler)?;
    let places = device.create_buffer_with("probes", BufferUsages::STORAGE, bytemuck::cast_slice(probes))?;
    // WebGL 2 would refuse all of a module with a cube array.
    let source = if entry == cube_arrays::entries::SAMPLE_CUBES { &cube_arrays::SHADER } else { &SHADER };
    let bytes = Kernel {
        source,
        entry,
        bytes: probes.len() as u64 * 16,
        groups: [probes.len() as u32, 1, 1],
        inputs: &[
            BindGroupEntry::buffer(1, *places),
            BindGroupEntry::sampler(2, *sampler),
            BindGroupEntry::texture(3, view),
        ],
        uses,
    }
    .run(device)?;
    Ok(numbers(&bytes))
}

fn at(x: f32, y: f32, level: f32) -> Probe {
    Probe::new([x, y, 0.0], level)
}

/// A row of four texels of 0, 51, 102 and 204 parts of 255.
const ROW: [f32; 4] = [0.0, 0.2, 0.4, 0.8];

/// How far a filtered value may be off between texels this far apart: weights have 8 bits, and a driver may keep the
/// result in the texels' own 8 bits.
fn filtered(apart: f32) -> f32 {
    apart / 256.0 + 0.5 / 255.0 + 1e-5
}

fn row<B: Backend>(device: &mut Device<B>) -> Checked<Owned<kind::TextureView>> {
    let texture = device.create_texture(&TextureDesc::uploaded("row", 4, 1, 1, R8))?;
    device.write_texture(
        &TexturePlace::mip(*texture, 0),
        extent([4, 1, 1]),
        &rows(4, 1),
        &[0, 51, 102, 204],
    )?;
    // The view keeps the texture's memory; its contents are uploaded, so it may be bound without the texture's handle.
    Ok(device.create_texture_view(*texture, &TextureViewDesc::default())?)
}

pub(crate) fn address_modes<B: Backend>(device: &mut Device<B>) -> Answer {
    let view = row(device)?;
    // Texel centers from two widths to the left to two widths to the right.
    let texels: Vec<i32> = (-8..12).collect();
    let probes: Vec<Probe> = texels.iter().map(|i| at((*i as f32 + 0.5) / 4.0, 0.5, 0.0)).collect();
    let texel = |mode: AddressMode, i: i32| match mode {
        AddressMode::Repeat => i.rem_euclid(4),
        AddressMode::MirrorRepeat => i.rem_euclid(8).min(7 - i.rem_euclid(8)),
        _ => i.clamp(0, 3),
    };
    for mode in [AddressMode::ClampToEdge, AddressMode::Repeat, AddressMode::MirrorRepeat] {
        let sampler = SamplerDesc::nearest("address").with_address(mode);
        let found = probe(device, entries::SAMPLE_FLAT, *view, &sampler, &probes, &[])?;
        let expected: Vec<f32> = texels.iter().map(|i| ROW[texel(mode, *i) as usize]).collect();
        close(format!("{mode:?}"), &found, &expected, 1e-6)?;
    }
    // Each axis has its own.
    let texture = device.create_texture(&TextureDesc::uploaded("square", 2, 2, 1, R8))?;
    device.write_texture(
        &TexturePlace::mip(*texture, 0),
        extent([2, 2, 1]),
        &rows(2, 2),
        &[0, 51, 102, 204],
    )?;
    let square = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let sampler = SamplerDesc {
        address: [AddressMode::Repeat, AddressMode::ClampToEdge, AddressMode::ClampToEdge],
        ..SamplerDesc::nearest("axes")
    };
    let found = probe(
        device,
        entries::SAMPLE_FLAT,
        *square,
        &sampler,
        &[at(1.25, 1.25, 0.0), at(-0.25, -0.75, 0.0)],
        &[],
    )?;
    close("repeat in x, clamp in y", &found, &[0.4, 0.2], 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn border_addressing<B: Backend>(device: &mut Device<B>) -> Answer {
    let desc = SamplerDesc::nearest("border").with_address(AddressMode::ClampToBorder);
    if !device.capabilities().features.contains(Features::ADDRESS_MODE_CLAMP_TO_BORDER) {
        let name = "feature ADDRESS_MODE_CLAMP_TO_BORDER";
        refused("border addressing", name, device.create_sampler(&desc))?;
        return Ok(Outcome::Unsupported("ADDRESS_MODE_CLAMP_TO_BORDER".into()));
    }
    let zero = SamplerDesc { border: SamplerBorderColor::Zero, ..desc };
    refused("a border of zeros", "ADDRESS_MODE_CLAMP_TO_ZERO", device.create_sampler(&zero))?;
    // Two texels in a row, half red and half green, both half transparent.
    let texture =
        device.create_texture(&TextureDesc::uploaded("pair", 2, 1, 1, TextureFormat::Rgba8Unorm))?;
    let texels = [[51, 0, 0, 102], [0, 51, 0, 102]].concat();
    device.write_texture(&TexturePlace::mip(*texture, 0), extent([2, 1, 1]), &rows(8, 1), &texels)?;
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let (left, right) = ([0.2, 0.0, 0.0, 0.4], [0.0, 0.2, 0.0, 0.4]);
    for (border, color) in [
        (SamplerBorderColor::TransparentBlack, [0.0; 4]),
        (SamplerBorderColor::OpaqueBlack, [0.0, 0.0, 0.0, 1.0]),
        (SamplerBorderColor::OpaqueWhite, [1.0; 4]),
    ] {
        let nearest = SamplerDesc { border, ..desc };
        let places = [(-0.25, 0.5), (0.25, 0.5), (0.75, 0.5), (1.25, 0.5), (0.25, 1.5), (9.0, -7.0)];
        let probes = places.map(|(x, y)| at(x, y, 0.0));
        let found = probe_texels(device, entries::SAMPLE_FLAT, *view, &nearest, &probes, &[])?;
        let expected = [color, left, right, color, color, color];
        close(format!("{border:?}"), found.as_flattened(), expected.as_flattened(), 1e-6)?;
        // On the edge itself a filter takes half of the border. The other axis has its own mode.
        let linear = SamplerDesc {
            border,
            address: [AddressMode::ClampToBorder, AddressMode::ClampToEdge, AddressMode::ClampToEdge],
            ..SamplerDesc::linear("border")
        };
        let probes = [at(0.0, 0.5, 0.0), at(1.0, 0.0, 0.0)];
        let found = probe_texels(device, entries::SAMPLE_FLAT, *view, &linear, &probes, &[])?;
        let half = |texel: [f32; 4]| std::array::from_fn(|c| (texel[c] + color[c]) / 2.0);
        let expected: [[f32; 4]; 2] = [half(left), half(right)];
        close(format!("{border:?}, filtered"), found.as_flattened(), expected.as_flattened(), filtered(1.0))?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn filters<B: Backend>(device: &mut Device<B>) -> Answer {
    let view = row(device)?;
    let probes = [
        at(0.125, 0.5, 0.0),
        at(0.25, 0.5, 0.0),
        at(0.3125, 0.5, 0.0),
        at(0.75, 0.5, 0.0),
        at(1.0, 0.5, 0.0),
    ];
    let linear = probe(device, entries::SAMPLE_FLAT, *view, &SamplerDesc::linear("linear"), &probes, &[])?;
    // Weights by distance of centers; at the edge the last texel alone.
    close("linear", &linear, &[0.0, 0.1, 0.15, 0.6, 0.8], filtered(0.4))?;
    // At a center of two texels nearest may take either, so probes lie beside it.
    let probes = [at(0.24, 0.5, 0.0), at(0.26, 0.5, 0.0), at(0.99, 0.5, 0.0)];
    let nearest = probe(device, entries::SAMPLE_FLAT, *view, &SamplerDesc::nearest("nearest"), &probes, &[])?;
    close("nearest", &nearest, &[0.0, 0.2, 0.8], 1e-6)?;
    Ok(Outcome::Passed)
}

/// A texture with three mips of 0.25, 0.5 and 0.75.
fn mips<B: Backend>(device: &mut Device<B>) -> Checked<Owned<kind::TextureView>> {
    let texture = device.create_texture(&TextureDesc::uploaded("mips", 4, 4, 3, TextureFormat::R16Float))?;
    for (mip, half) in [0x3400u16, 0x3800, 0x3A00].into_iter().enumerate() {
        let side = 4 >> mip;
        let data = vec![half; side * side];
        let layout = rows(side as u32 * 2, side as u32);
        let size = extent([side as u32, side as u32, 1]);
        device.write_texture(
            &TexturePlace::mip(*texture, mip as u32),
            size,
            &layout,
            bytemuck::cast_slice(&data),
        )?;
    }
    Ok(device.create_texture_view(*texture, &TextureViewDesc::default())?)
}

pub(crate) fn mip_selection<B: Backend>(device: &mut Device<B>) -> Answer {
    let view = mips(device)?;
    let levels = [0.0, 0.4, 0.6, 1.0, 1.5, 2.0, 9.0, -3.0];
    let probes = levels.map(|level| at(0.5, 0.5, level));
    let nearest = probe(device, entries::SAMPLE_FLAT, *view, &SamplerDesc::nearest("nearest"), &probes, &[])?;
    // Halfway a driver may take either, so that one is not compared.
    close("nearest mip", &nearest[..4], &[0.25, 0.25, 0.5, 0.5], 1e-6)?;
    close("nearest mip, ends", &nearest[5..], &[0.75, 0.75, 0.25], 1e-6)?;
    let linear = probe(device, entries::SAMPLE_FLAT, *view, &SamplerDesc::linear("linear"), &probes, &[])?;
    // Fractions of a level have at least 6 bits; a level is 0.25.
    let expected = [0.25, 0.35, 0.4, 0.5, 0.625, 0.75, 0.75, 0.25];
    close("linear between mips", &linear, &expected, 0.25 / 64.0 + 1e-4)?;
    Ok(Outcome::Passed)
}

pub(crate) fn lod_clamp<B: Backend>(device: &mut Device<B>) -> Answer {
    let view = mips(device)?;
    let probes = [0.0, 1.0, 2.0].map(|level| at(0.5, 0.5, level));
    let sampler = SamplerDesc { lod_min: 1.0, lod_max: 1.0, ..SamplerDesc::linear("one") };
    let found = probe(device, entries::SAMPLE_FLAT, *view, &sampler, &probes, &[])?;
    close("only mip 1", &found, &[0.5; 3], 1e-5)?;
    let sampler = SamplerDesc { lod_max: 0.5, ..SamplerDesc::linear("up to a half") };
    let found = probe(device, entries::SAMPLE_FLAT, *view, &sampler, &probes, &[])?;
    close("up to 0.5", &found, &[0.25, 0.375, 0.375], 0.25 / 64.0 + 1e-4)?;
    for (lod_min, lod_max) in [(2.0, 1.0), (-1.0, 1.0), (0.0, f32::INFINITY), (f32::NAN, 1.0)] {
        let desc = SamplerDesc { lod_min, lod_max, ..SamplerDesc::linear("bad") };
        refused("a bad range", "lod_min", device.create_sampler(&desc))?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn views_select_mips<B: Backend>(device: &mut Device<B>) -> Answer {
    let texture = device.create_texture(&TextureDesc::uploaded("mips", 4, 4, 3, R8))?;
    for mip in 0..3 {
        let side = 4 >> mip;
        let data = vec![51 * (mip as u8 + 1); side as usize * side as usize];
        device.write_texture(
            &TexturePlace::mip(*texture, mip),
            extent([side, side, 1]),
            &rows(side, side),
            &data,
        )?;
    }
    let desc = TextureViewDesc { base_mip: 1, mips: 1, ..Default::default() };
    let view = device.create_texture_view(*texture, &desc)?;
    // The view's first mip is level 0 of it, and its last.
    let probes = [at(0.5, 0.5, 0.0), at(0.5, 0.5, 2.0)];
    let found = probe(device, entries::SAMPLE_FLAT, *view, &SamplerDesc::nearest("nearest"), &probes, &[])?;
    close("mip 1 only", &found, &[0.4, 0.4], 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn anisotropy<B: Backend>(device: &mut Device<B>) -> Answer {
    let desc = SamplerDesc { anisotropy: 4, ..SamplerDesc::linear("anisotropic") };
    if !device.capabilities().features.contains(Features::ANISOTROPY) {
        refused("anisotropy", "ANISOTROPY", device.create_sampler(&desc))?;
        return Ok(Outcome::Unsupported("ANISOTROPY".into()));
    }
    // Each mip has one shade, so that a result says which it came from.
    let (mips, side) = (7, 64);
    let texture = device.create_texture(&TextureDesc::uploaded("shades", side, side, mips, R8))?;
    for mip in 0..mips {
        let side = side >> mip;
        let shades = vec![25 * mip as u8; (side * side) as usize];
        device.write_texture(
            &TexturePlace::mip(*texture, mip),
            extent([side, side, 1]),
            &rows(side, side),
            &shades,
        )?;
    }
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    // A pixel that spans 16 texels by 4: one sample of level 4, or up to four samples of the sharper level 2.
    let stretched = [at(0.5, 0.5, 0.25)];
    let mut level = |desc: &SamplerDesc<'_>| -> Checked<f32> {
        let found = probe(device, entries::SAMPLE_STRETCHED, *view, desc, &stretched, &[])?;
        Ok(found[0] * 255.0 / 25.0)
    };
    close("isotropic", &[level(&SamplerDesc::linear("isotropic"))?], &[4.0], 0.1)?;
    let anisotropic = level(&desc)?;
    let desc = SamplerDesc { anisotropy: 4, ..SamplerDesc::nearest("nearest") };
    refused("anisotropy without linear filters", "anisotropy", device.create_sampler(&desc))?;
    let most = device.limits().max_anisotropy;
    if let Ok(over) = u16::try_from(most + 1) {
        let desc = SamplerDesc { anisotropy: over, ..SamplerDesc::linear("too much") };
        refused("anisotropy over the limit", "max_anisotropy", device.create_sampler(&desc))?;
    }
    // Some drivers claim the feature and filter given gradients as if they had it not.
    if close("filtered isotropically", &[anisotropic], &[4.0], 0.1).is_ok() {
        return Ok(Outcome::Unsupported("anisotropic filtering along given gradients".into()));
    }
    // How a device measures the footprint is its own matter, within a level.
    close("anisotropic", &[anisotropic], &[2.0], 1.0)?;
    Ok(Outcome::Passed)
}

pub(crate) fn comparison<B: Backend>(device: &mut Device<B>) -> Answer {
    let format = TextureFormat::Depth32Float;
    let depth = Canvas::sampled(device, 4, 4, format)?;
    perform(device, |recorder| {
        let depth_stencil = Some(DepthStencilAttachment {
            view: *depth.view,
            depth: Some(AspectOps::clear(0.5)),
            stencil: None,
        });
        recorder.render_pass(
            &RenderPassDesc { label: "depth", colors: &[], depth_stencil, uses: &[], ..Default::default() },
            |_| {},
        )?;
        Ok(())
    })?;
    let uses = [texture_use(*depth.texture, format, 0..1, 0..1, TextureUse::Sampled(ShaderStages::COMPUTE))];
    // The reference is compared with the texel: reference first.
    let probes = [0.25, 0.5, 0.75].map(|reference| at(0.5, 0.5, reference));
    let cases = [
        (CompareFunction::Less, [1.0, 0.0, 0.0]),
        (CompareFunction::LessEqual, [1.0, 1.0, 0.0]),
        (CompareFunction::Equal, [0.0, 1.0, 0.0]),
        (CompareFunction::Greater, [0.0, 0.0, 1.0]),
        (CompareFunction::GreaterEqual, [0.0, 1.0, 1.0]),
        (CompareFunction::NotEqual, [1.0, 0.0, 1.0]),
        (CompareFunction::Always, [1.0, 1.0, 1.0]),
        (CompareFunction::Never, [0.0, 0.0, 0.0]),
    ];
    for (compare, expected) in cases {
        for mag_filter in [FilterMode::Nearest, FilterMode::Linear] {
            let desc = SamplerDesc { compare: Some(compare), mag_filter, ..SamplerDesc::nearest("compare") };
            let found = probe(device, entries::SAMPLE_COMPARED, *depth.view, &desc, &probes, &uses)?;
            close(format!("{compare:?}, {mag_filter:?}"), &found, &expected, 1e-6)?;
        }
    }
    Ok(Outcome::Passed)
}

/// Parts of 255 from one layer to the next.
const STEP: u8 = 20;

/// What a layer's texels read as.
fn of_layer(layer: f32) -> f32 {
    layer * f32::from(STEP) / 255.0
}

/// A texture of layers or slices, 2 by 2 texels each, each layer a step brighter than the one before.
fn layers<B: Backend>(
    device: &mut Device<B>,
    dimension: TextureDimension,
    layers: u32,
) -> Checked<Owned<kind::Texture>> {
    let mut desc = TextureDesc {
        dimension,
        contents: Contents::Uploaded,
        ..TextureDesc::d2("layers", 2, 2, R8, TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST)
    };
    desc.size.depth_or_array_layers = layers;
    let texture = device.create_texture(&desc)?;
    let data: Vec<u8> = (0..layers).flat_map(|layer| [layer as u8 * STEP; 4]).collect();
    device.write_texture(&TexturePlace::mip(*texture, 0), extent([2, 2, layers]), &rows(2, 2), &data)?;
    Ok(texture)
}

pub(crate) fn c066_arrays_of_any_length<B: Backend>(device: &mut Device<B>) -> Answer {
    // One, six and twelve layers are arrays when the view says so, and a layer of an array is flat.
    for count in [1, 6, 12] {
        let texture = layers(device, TextureDimension::D2, count)?;
        let desc = TextureViewDesc { dimension: Some(TextureViewDimension::D2Array), ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        let probes: Vec<Probe> = (0..count).map(|layer| Probe::new([0.5, 0.5, layer as f32], 0.0)).collect();
        let found =
            probe(device, entries::SAMPLE_LAYERED, *view, &SamplerDesc::nearest("nearest"), &probes, &[])?;
        let expected: Vec<f32> = (0..count).map(|layer| of_layer(layer as f32)).collect();
        close(format!("{count} layers"), &found, &expected, 1e-6)?;
    }
    let texture = layers(device, TextureDimension::D2, 4)?;
    let desc = TextureViewDesc { base_layer: 3, layers: 1, ..Default::default() };
    let view = device.create_texture_view(*texture, &desc)?;
    let found =
        probe(device, entries::SAMPLE_FLAT, *view, &SamplerDesc::nearest("n"), &[at(0.5, 0.5, 0.0)], &[])?;
    close("layer 3 of 4", &found, &[of_layer(3.0)], 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn cube_faces_in_order<B: Backend>(device: &mut Device<B>) -> Answer {
    let texture = layers(device, TextureDimension::D2, 6)?;
    let desc = TextureViewDesc { dimension: Some(TextureViewDimension::Cube), ..Default::default() };
    let view = device.create_texture_view(*texture, &desc)?;
    // +X, -X, +Y, -Y, +Z, -Z.
    let axes = [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let probes = axes.map(|axis| Probe::new(axis, 0.0));
    let found = probe(device, entries::SAMPLE_CUBE, *view, &SamplerDesc::nearest("nearest"), &probes, &[])?;
    close("faces", &found, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(of_layer), 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn cube_arrays<B: Backend>(device: &mut Device<B>) -> Answer {
    let texture = layers(device, TextureDimension::D2, 12)?;
    let desc = TextureViewDesc { dimension: Some(TextureViewDimension::CubeArray), ..Default::default() };
    if !device.capabilities().features.contains(Features::CUBE_ARRAYS) {
        refused("a cube array", "CUBE_ARRAYS", device.create_texture_view(*texture, &desc))?;
        return Ok(Outcome::Unsupported("CUBE_ARRAYS".into()));
    }
    let view = device.create_texture_view(*texture, &desc)?;
    let axes = [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let probes: Vec<Probe> =
        [0.0, 1.0].iter().flat_map(|cube| axes.map(|axis| Probe::new(axis, *cube))).collect();
    let found = probe(
        device,
        cube_arrays::entries::SAMPLE_CUBES,
        *view,
        &SamplerDesc::nearest("nearest"),
        &probes,
        &[],
    )?;
    let expected: Vec<f32> = (0..12).map(|layer| of_layer(layer as f32)).collect();
    close("faces of two cubes", &found, &expected, 1e-6)?;
    let odd = TextureViewDesc { layers: 8, ..desc };
    refused("eight faces", "dimension", device.create_texture_view(*texture, &odd))?;
    if !device.capabilities().features.contains(Features::LAYER_VIEWS) {
        return Ok(Outcome::Passed);
    }
    // The second cube alone, as one cube and as an array of one.
    for dimension in [TextureViewDimension::Cube, TextureViewDimension::CubeArray] {
        let desc =
            TextureViewDesc { dimension: Some(dimension), base_layer: 6, layers: 6, ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        let entry = if dimension == TextureViewDimension::Cube {
            entries::SAMPLE_CUBE
        } else {
            cube_arrays::entries::SAMPLE_CUBES
        };
        let found = probe(
            device,
            entry,
            *view,
            &SamplerDesc::nearest("n"),
            &axes.map(|axis| Probe::new(axis, 0.0)),
            &[],
        )?;
        close(format!("the second of two as {dimension:?}"), &found, &expected[6..], 1e-6)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn volume_slices<B: Backend>(device: &mut Device<B>) -> Answer {
    let texture = layers(device, TextureDimension::D3, 4)?;
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let probes: Vec<Probe> =
        (0..4).map(|slice| Probe::new([0.5, 0.5, (slice as f32 + 0.5) / 4.0], 0.0)).collect();
    let found = probe(device, entries::SAMPLE_VOLUME, *view, &SamplerDesc::nearest("nearest"), &probes, &[])?;
    close("slices", &found, &[0.0, 1.0, 2.0, 3.0].map(of_layer), 1e-6)?;
    let between = [Probe::new([0.5, 0.5, 0.5], 0.0)];
    let found = probe(device, entries::SAMPLE_VOLUME, *view, &SamplerDesc::linear("linear"), &between, &[])?;
    close("between slices", &found, &[of_layer(1.5)], filtered(of_layer(1.0)))?;
    Ok(Outcome::Passed)
}

/// One layer of an array, and the last two, are sampled as what they are, or refused by name.
pub(crate) fn some_layers_of_a_texture<B: Backend>(device: &mut Device<B>) -> Answer {
    if device.limits().max_storage_buffers_per_stage < 2 {
        return Ok(Outcome::Unsupported("limit max_storage_buffers_per_stage".into()));
    }
    let mut desc = TextureDesc::uploaded("layers", 1, 1, 1, R8);
    desc.size = extent([1, 1, 5]);
    let texture = device.create_texture(&desc)?;
    device.write_texture(&TexturePlace::mip(*texture, 0), desc.size, &rows(1, 1), &[10, 20, 30, 40, 50])?;
    let view = TextureViewDesc { base_layer: 3, layers: 1, ..Default::default() };
    let dimension = Some(TextureViewDimension::D2);
    let face = device.create_texture_view(*texture, &TextureViewDesc { dimension, ..view })?;
    let dimension = Some(TextureViewDimension::D2Array);
    let some = device.create_texture_view(*texture, &TextureViewDesc { dimension, layers: 2, ..view })?;
    let nearest = SamplerDesc::nearest("nearest");
    let probes = [Probe::new([0.5, 0.5, 0.0], 0.0), Probe::new([0.5, 0.5, 1.0], 0.0)];
    let has = device.capabilities().features.contains(Features::LAYER_VIEWS);
    for (entry, view, probes, wanted) in [
        (entries::SAMPLE_FLAT, *face, &probes[..1], &[40.0f32][..]),
        (entries::SAMPLE_LAYERED, *some, &probes[..], &[40.0, 50.0]),
    ] {
        let found = probe(device, entry, view, &nearest, probes, &[]);
        if has {
            let wanted: Vec<f32> = wanted.iter().map(|value| value / 255.0).collect();
            close(entry, &found?, &wanted, 1e-3)?;
        } else {
            match found {
                Err(crate::Failure::Device(error)) => {
                    refused::<()>(entry, "feature LAYER_VIEWS", Err(error))?
                }
                _ => return Err(crate::kit::wrong(entry, "an error that names LAYER_VIEWS", "success")),
            }
        }
    }
    Ok(if has { Outcome::Passed } else { Outcome::Unsupported("LAYER_VIEWS".into()) })
}
