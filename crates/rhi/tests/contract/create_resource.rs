//! Creation of buffers, textures, views and samplers (R1, R4, R5, R9): one assertion for each rule.

use purlin_rhi::null::{NullConfig, null_format_uses};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const SAMPLED: TextureUsages = TextureUsages::TEXTURE_BINDING;

fn d2(width: u32, height: u32) -> TextureDesc<'static> {
    TextureDesc::d2("albedo", width, height, COLOR, SAMPLED)
}

/// Creates a texture after one change to a legal description.
fn texture_with(change: impl Fn(&mut TextureDesc<'_>)) -> Result<Owned<kind::Texture>> {
    let mut desc = d2(8, 8);
    change(&mut desc);
    plain().checked(|gpu| gpu.create_texture(&desc))
}

fn view_with(texture: &TextureDesc<'_>, view: &TextureViewDesc<'_>) -> Result<Owned<kind::TextureView>> {
    let mut gpu = plain();
    let texture = gpu.create_texture(texture).unwrap();
    gpu.checked(|gpu| gpu.create_texture_view(*texture, view))
}

#[test]
fn buffers_have_a_usage_that_is_implemented() {
    let mut gpu = plain();
    let mut create = |usage| gpu.checked(|gpu| gpu.create_buffer(&BufferDesc::new("mesh", 16, usage)));
    invalid(create(BufferUsages::empty()), "usage", &["buffer \"mesh\"", "at least one usage", "none"]);
    invalid(
        create(BufferUsages::MAP_WRITE | BufferUsages::VERTEX),
        "usage",
        &["buffer \"mesh\"", "MAP_WRITE"],
    );
    invalid(create(BufferUsages::QUERY_RESOLVE), "usage", &["QUERY_RESOLVE"]);
}

#[test]
fn buffers_are_at_most_as_large_as_the_limit() {
    let mut gpu = plain();
    let most = gpu.limits().max_buffer_size;
    let usage = BufferUsages::STORAGE;
    let mut create = |size| gpu.checked(|gpu| gpu.create_buffer(&BufferDesc::new("big", size, usage)));
    assert!(create(most).is_ok());
    let texts = ["buffer \"big\"", "17179869185 bytes requested, 17179869184 available"];
    unsupported(create(most + 1), "limit max_buffer_size", &texts);
    unsupported(create(u64::MAX), "limit max_buffer_size", &["18446744073709551615"]);
}

#[test]
fn a_limit_of_all_bits_does_not_overflow_the_padding() {
    let limits = Limits { max_buffer_size: u64::MAX, ..Limits::default() };
    let (mut gpu, _control) = device(NullConfig { limits, ..NullConfig::default() });
    let desc = BufferDesc::new("endless", u64::MAX, BufferUsages::STORAGE);
    invalid(
        gpu.checked(|gpu| gpu.create_buffer(&desc)),
        "size",
        &["buffer \"endless\"", "18446744073709551615"],
    );
}

/// C010: a size that is no multiple of four is padded; exactly the size that was asked for is writable.
#[test]
fn c010_sizes_round_up_to_words_and_writes_do_not() {
    let (mut gpu, control) = executing();
    let desc = BufferDesc::uploaded("indices", 162, BufferUsages::INDEX);
    let buffer = gpu.create_buffer(&desc).unwrap();
    assert_eq!(gpu.buffer_size(*buffer), Ok(162));
    assert_eq!(gpu.memory().logical, 164);
    gpu.write_buffer(*buffer, 0, &[3; 162]).unwrap();
    let texts = ["buffer \"indices\"", "a range within 162 bytes", "163 bytes from 0"];
    invalid(gpu.checked(|gpu| gpu.write_buffer(*buffer, 0, &[3; 163])), "offset", &texts);
    gpu.flush_uploads().unwrap();
    let mut expected = vec![3; 162];
    expected.extend([0, 0]);
    assert_eq!(control.buffer_bytes(buffer.slot()), Some(expected));
}

/// C019: buffers of no bytes exist, and bind where nothing is read.
#[test]
fn c019_zero_sized_buffers() {
    let mut gpu = plain();
    let usage = BufferUsages::VERTEX | BufferUsages::INDEX | BufferUsages::INDIRECT | BufferUsages::UNIFORM;
    let empty = buffer(&mut gpu, "empty", 0, usage);
    assert_eq!(gpu.buffer_size(*empty), Ok(0));
    assert!(gpu.write_buffer(*empty, 0, &[]).is_ok());
    let shape = group_layout(&mut gpu, &[entry(0, ShaderStages::VERTEX, uniform(0))]);
    let entries = [BindGroupEntry::buffer(0, *empty)];
    let desc = BindGroupDesc { label: "g", layout: *shape, entries: &entries };
    invalid(
        gpu.checked(|gpu| gpu.create_bind_group(&desc)),
        "size",
        &["bind group \"g\"", "at least one byte", "\"empty\""],
    );
    let target = texture(&mut gpu, "t", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *target);
    let attributes = [VertexAttribute { format: VertexFormat::Float32, offset: 0, shader_location: 0 }];
    let layout = VertexBufferLayout { stride: 4, step: VertexStepMode::Vertex, attributes: &attributes };
    let pipeline = pipeline_of(&mut gpu, &SIMPLE, &[], &[layout]);
    let mut draw = |vertices: u32| {
        let mut recorder = gpu.record("frame").unwrap();
        recorder.render_pass(&pass(&[cleared(*target)], &[]), |pass| {
            pass.set_pipeline(*pipeline.pipeline);
            pass.set_vertex_buffer(0, slice(*empty, 0, 0));
            pass.set_index_buffer(slice(*empty, 0, 0), IndexFormat::Uint16);
            pass.draw(0..vertices, 0..1);
            pass.multi_draw_indirect(*empty, 0, 0, 16);
        })
    };
    assert_eq!(draw(0), Ok(()));
    invalid(draw(3), "vertices", &["draw", "up to 0", "up to 3"]);
}

#[test]
fn textures_have_texels_on_every_side() {
    for size in [extent(0, 8, 1), extent(8, 0, 1), extent(8, 8, 0)] {
        invalid(
            texture_with(|desc| desc.size = size),
            "size",
            &["texture \"albedo\"", "at least 1 on every side"],
        );
    }
}

#[test]
fn textures_are_at_most_as_large_as_the_limits() {
    let limits = plain().limits().clone();
    let side = limits.max_texture_dimension_2d;
    assert!(texture_with(|desc| desc.size = extent(side, 1, 1)).is_ok());
    let texts = ["16385x1 requested, 16384 available"];
    unsupported(
        texture_with(|desc| desc.size = extent(side + 1, 1, 1)),
        "limit max_texture_dimension_2d",
        &texts,
    );
    unsupported(
        texture_with(|desc| desc.size = extent(1, u32::MAX, 1)),
        "limit max_texture_dimension_2d",
        &[],
    );
    let layers = limits.max_texture_array_layers;
    assert!(texture_with(|desc| desc.size = extent(1, 1, layers)).is_ok());
    let texts = ["2049 requested, 2048 available"];
    unsupported(
        texture_with(|desc| desc.size = extent(1, 1, layers + 1)),
        "limit max_texture_array_layers",
        &texts,
    );
    let volume =
        |size: Extent3d| texture_with(move |desc| (desc.size, desc.dimension) = (size, TextureDimension::D3));
    assert!(volume(extent(1, 1, limits.max_texture_dimension_3d)).is_ok());
    unsupported(volume(extent(1, 1, 2049)), "limit max_texture_dimension_3d", &texts);
    unsupported(volume(extent(2049, 1, 1)), "limit max_texture_dimension_3d", &[]);
}

/// C069 and C070: mips floor and never reach zero; depth counts for volumes, layers never.
#[test]
fn c069_c070_mip_counts_and_sizes() {
    use TextureDimension::{D2, D3};
    assert_eq!(full_mip_count(extent(1, 1, 8), D3), 4);
    assert_eq!(full_mip_count(extent(8, 1, 1), D3), 4);
    assert_eq!(full_mip_count(extent(8, 8, 32), D2), 4);
    assert_eq!(full_mip_count(extent(256, 1553, 1), D2), 11);
    assert_eq!(full_mip_count(extent(u32::MAX, 1, 1), D2), 32);
    let chain = |width, height| -> Vec<(u32, u32)> {
        let size = extent(width, height, 1);
        (1..full_mip_count(size, D2))
            .map(|mip| mip_size(size, D2, mip))
            .map(|e| (e.width, e.height))
            .collect()
    };
    assert_eq!(chain(5, 3), [(2, 1), (1, 1)]);
    assert_eq!(chain(192, 256), [(96, 128), (48, 64), (24, 32), (12, 16), (6, 8), (3, 4), (1, 2), (1, 1)]);
    assert_eq!(chain(2, 1), [(1, 1)]);
    assert_eq!(chain(256, 1553)[7..], [(1, 6), (1, 3), (1, 1)]);
    assert_eq!(mip_size(extent(4, 4, 8), D3, 2), extent(1, 1, 2));
    assert_eq!(mip_size(extent(4, 4, 8), D2, 2), extent(1, 1, 8));
    assert_eq!(mip_size(extent(4, 4, 8), D3, 40), extent(1, 1, 1));
    assert!(texture_with(|desc| desc.mips = 4).is_ok());
    for mips in [0, 5, u32::MAX] {
        invalid(texture_with(|desc| desc.mips = mips), "mips", &["texture \"albedo\"", "1 to 4 for 8x8x1"]);
    }
}

#[test]
fn textures_of_no_use_or_an_unknown_one_are_refused() {
    invalid(texture_with(|desc| desc.usage = TextureUsages::empty()), "usage", &["at least one usage"]);
    invalid(texture_with(|desc| desc.usage |= TextureUsages::STORAGE_ATOMIC), "usage", &["STORAGE_ATOMIC"]);
    unsupported(texture_with(|desc| desc.dimension = TextureDimension::D1), "one-dimensional textures", &[]);
}

#[test]
fn uploaded_contents_are_not_written_by_gpu_work() {
    for usage in [TextureUsages::STORAGE_BINDING, TextureUsages::RENDER_ATTACHMENT] {
        let result = texture_with(|desc| (desc.usage, desc.contents) = (usage, Contents::Uploaded));
        invalid(result, "contents", &["texture \"albedo\"", "Tracked", "with contents Uploaded"]);
    }
}

#[test]
fn format_uses_are_asked_of_the_device() {
    let with = |format, usage| texture_with(move |desc| (desc.format, desc.usage) = (format, usage));
    unsupported(
        with(TextureFormat::Rgb9e5Ufloat, TextureUsages::RENDER_ATTACHMENT),
        "COLOR use of Rgb9e5Ufloat",
        &["texture \"albedo\"", "COLOR requested", "available"],
    );
    unsupported(
        with(TextureFormat::Rgba8UnormSrgb, TextureUsages::STORAGE_BINDING),
        "STORAGE use of Rgba8UnormSrgb",
        &[],
    );
    // A format that the device does not have at all is refused for copies too.
    unsupported(
        with(TextureFormat::NV12, TextureUsages::COPY_DST),
        "COPY_DST use of NV12",
        &["none available"],
    );
    assert!(with(TextureFormat::Depth32Float, TextureUsages::RENDER_ATTACHMENT).is_ok());
}

#[test]
fn c073_a_format_that_the_backend_lacks_is_unsupported_not_silent() {
    let without_bgra = |format| match format {
        TextureFormat::Bgra8Unorm => FormatUses::empty(),
        other => null_format_uses(other, Features::empty()),
    };
    let (mut gpu, _control) = device(NullConfig { format_uses: Some(without_bgra), ..NullConfig::default() });
    assert!(gpu.format_uses(TextureFormat::Bgra8Unorm).is_empty());
    let desc = TextureDesc { format: TextureFormat::Bgra8Unorm, ..d2(4, 4) };
    unsupported(gpu.checked(|gpu| gpu.create_texture(&desc)), "SAMPLED use of Bgra8Unorm", &[]);
}

#[test]
fn compressed_formats_need_their_feature_and_whole_blocks() {
    let create = |features, format, size| {
        let (mut gpu, _control) = device(NullConfig { features, ..NullConfig::default() });
        gpu.create_texture(&TextureDesc { format, size, ..d2(8, 8) })
    };
    let astc =
        TextureFormat::Astc { block: wgpu_types::AstcBlock::B4x4, channel: wgpu_types::AstcChannel::Unorm };
    for (format, name) in [
        (TextureFormat::Bc7RgbaUnorm, "feature TEXTURE_COMPRESSION_BC"),
        (TextureFormat::Etc2Rgb8Unorm, "feature TEXTURE_COMPRESSION_ETC2"),
        (astc, "feature TEXTURE_COMPRESSION_ASTC"),
    ] {
        unsupported(create(Features::empty(), format, extent(8, 8, 1)), name, &["requested"]);
        assert!(create(Features::all(), format, extent(8, 8, 1)).is_ok());
        assert!(create(Features::all(), format, extent(8, 6, 1)).is_ok());
        unsupported(
            create(Features::all() - Features::UNALIGNED_BLOCK_EXTENTS, format, extent(8, 6, 1)),
            "feature UNALIGNED_BLOCK_EXTENTS",
            &["no multiples of the 4x4 block", "8x6"],
        );
    }
}

#[test]
fn compressed_volumes_have_features_of_their_own() {
    let create = |features, format| {
        let (mut gpu, _control) = device(NullConfig { features, ..NullConfig::default() });
        gpu.create_texture(&TextureDesc { format, dimension: TextureDimension::D3, ..d2(8, 8) }).map(drop)
    };
    let astc =
        TextureFormat::Astc { block: wgpu_types::AstcBlock::B4x4, channel: wgpu_types::AstcChannel::Unorm };
    for (format, feature) in [
        (TextureFormat::Bc7RgbaUnorm, Features::TEXTURE_COMPRESSION_BC_SLICED_3D),
        (astc, Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D),
    ] {
        assert_eq!(create(Features::all(), format), Ok(()));
        let name = format!("feature {}", feature.names());
        unsupported(create(Features::all() - feature, format), &name, &["dimension D3 requested"]);
    }
}

#[test]
fn volumes_hold_plain_color_only() {
    for format in [TextureFormat::Depth32Float, TextureFormat::Etc2Rgb8Unorm] {
        let result = texture_with(|desc| (desc.format, desc.dimension) = (format, TextureDimension::D3));
        unsupported(result, "volumes of depth, stencil, ETC2 and EAC formats", &["D3 requested"]);
    }
}

#[test]
fn view_formats_are_srgb_siblings() {
    assert!(texture_with(|desc| desc.view_formats = &[TextureFormat::Rgba8UnormSrgb]).is_ok());
    let result = texture_with(|desc| desc.view_formats = &[TextureFormat::Rgba8Uint]);
    invalid(result, "view_formats", &["Rgba8Unorm or its sRGB sibling", "Rgba8Uint"]);
    let srgb =
        TextureViewDesc { label: "v", format: Some(TextureFormat::Rgba8UnormSrgb), ..Default::default() };
    invalid(view_with(&d2(4, 4), &srgb), "format", &["texture view \"v\"", "Rgba8Unorm", "Rgba8UnormSrgb"]);
    let declared = TextureDesc { view_formats: &[TextureFormat::Rgba8UnormSrgb], ..d2(4, 4) };
    assert!(view_with(&declared, &srgb).is_ok());
}

#[test]
fn views_lie_in_their_texture() {
    let texture = TextureDesc { size: extent(8, 8, 6), mips: 4, ..d2(8, 8) };
    let view = |base_mip, mips, base_layer, layers| {
        let desc = TextureViewDesc { label: "v", base_mip, mips, base_layer, layers, ..Default::default() };
        view_with(&texture, &desc)
    };
    assert!(view(0, 0, 0, 0).is_ok());
    assert!(view(3, 1, 5, 1).is_ok());
    invalid(view(0, 5, 0, 0), "mips", &["texture view \"v\"", "within 0..4", "0..5"]);
    invalid(view(4, 0, 0, 0), "mips", &["within 0..4"]);
    invalid(view(u32::MAX, u32::MAX, 0, 0), "mips", &["within 0..4"]);
    invalid(view(0, 0, 1, 6), "layers", &["within 0..6", "1..7"]);
    invalid(view(0, 0, u32::MAX, u32::MAX), "layers", &["within 0..6"]);
}

#[test]
fn views_have_aspects_that_the_format_has() {
    let depth = TextureViewDesc { label: "v", aspect: TextureAspect::DepthOnly, ..Default::default() };
    invalid(view_with(&d2(4, 4), &depth), "aspect", &["an aspect of Rgba8Unorm", "DepthOnly"]);
    let texture = TextureDesc { format: TextureFormat::Depth32Float, ..d2(4, 4) };
    let stencil = TextureViewDesc { aspect: TextureAspect::StencilOnly, ..depth };
    invalid(view_with(&texture, &stencil), "aspect", &["an aspect of Depth32Float", "StencilOnly"]);
    assert!(view_with(&texture, &depth).is_ok());
}

/// C066, above the backends: a view's dimension is what was asked for, never guessed from the layer count.
#[test]
fn c066_view_dimensions_are_declared_and_checked() {
    let layered = |layers| TextureDesc { size: extent(8, 8, layers), ..d2(8, 8) };
    let as_dimension = |dimension, layers| TextureViewDesc {
        label: "v",
        dimension: Some(dimension),
        layers,
        ..Default::default()
    };
    use TextureViewDimension::{Cube, CubeArray, D1, D2, D2Array, D3};
    for layers in [1, 6, 12] {
        assert!(view_with(&layered(layers), &as_dimension(D2Array, layers)).is_ok());
    }
    assert!(view_with(&layered(6), &as_dimension(Cube, 6)).is_ok());
    let third = TextureViewDesc { base_layer: 3, ..as_dimension(D2, 1) };
    assert!(view_with(&layered(4), &third).is_ok());
    for (dimension, layers) in [(D2, 6), (Cube, 5), (D3, 6), (D1, 1)] {
        let text = format!("{dimension:?}");
        let view = as_dimension(dimension, layers);
        invalid(view_with(&layered(6), &view), "dimension", &["texture view \"v\"", "8x8", &text]);
    }
    let oblong = TextureDesc { size: extent(8, 4, 6), ..d2(8, 4) };
    invalid(view_with(&oblong, &as_dimension(Cube, 6)), "dimension", &["8x4"]);
    for layers in [6, 12] {
        assert!(view_with(&layered(12), &as_dimension(CubeArray, layers)).is_ok());
    }
    invalid(view_with(&layered(12), &as_dimension(CubeArray, 8)), "dimension", &["8 layers", "8x8"]);
    let volume = TextureDesc { size: extent(4, 4, 4), dimension: TextureDimension::D3, ..d2(4, 4) };
    assert!(view_with(&volume, &as_dimension(D3, 1)).is_ok());
    invalid(view_with(&volume, &as_dimension(D2, 1)), "dimension", &["D3"]);
}

#[test]
fn cube_arrays_are_a_feature() {
    let features = Features::all() - Features::CUBE_ARRAYS;
    let (mut gpu, _control) = device(NullConfig { features, ..NullConfig::default() });
    let texture = gpu.create_texture(&TextureDesc { size: extent(8, 8, 12), ..d2(8, 8) }).unwrap();
    let desc = TextureViewDesc { dimension: Some(TextureViewDimension::CubeArray), ..Default::default() };
    let result = gpu.checked(|gpu| gpu.create_texture_view(*texture, &desc));
    unsupported(result, "feature CUBE_ARRAYS", &["12 layers"]);
}

#[test]
fn samplers_have_a_sane_lod_range() {
    let mut gpu = plain();
    let base = SamplerDesc::linear("linear");
    for (lod_min, lod_max) in
        [(-1.0, 2.0), (3.0, 2.0), (0.0, f32::INFINITY), (f32::NAN, 1.0), (0.0, f32::NAN)]
    {
        let result = gpu.create_sampler(&SamplerDesc { lod_min, lod_max, ..base });
        invalid(result, "lod_min, lod_max", &["sampler \"linear\"", "finite"]);
    }
    assert!(gpu.create_sampler(&SamplerDesc { lod_min: 2.0, lod_max: 2.0, ..base }).is_ok());
}

#[test]
fn anisotropy_needs_linear_filters_the_feature_and_the_limit() {
    let mut gpu = plain();
    let base = SamplerDesc::linear("aniso");
    let sixteen = SamplerDesc { anisotropy: 16, ..base };
    assert!(gpu.create_sampler(&sixteen).is_ok());
    invalid(
        gpu.checked(|gpu| gpu.create_sampler(&SamplerDesc { anisotropy: 0, ..base })),
        "anisotropy",
        &["sampler \"aniso\"", "0"],
    );
    let nearest = SamplerDesc { min_filter: FilterMode::Nearest, ..sixteen };
    invalid(
        gpu.checked(|gpu| gpu.create_sampler(&nearest)),
        "anisotropy",
        &["all filters linear", "Nearest"],
    );
    let over = SamplerDesc { anisotropy: 17, ..base };
    unsupported(
        gpu.checked(|gpu| gpu.create_sampler(&over)),
        "limit max_anisotropy",
        &["17 requested, 16 available"],
    );
    let (mut poor, _control) = device(NullConfig { features: Features::empty(), ..NullConfig::default() });
    unsupported(poor.create_sampler(&sixteen), "feature ANISOTROPY", &["anisotropy 16 requested"]);
    let border = base.with_address(AddressMode::ClampToBorder);
    unsupported(poor.create_sampler(&border), "feature ADDRESS_MODE_CLAMP_TO_BORDER", &["requested"]);
    assert!(gpu.create_sampler(&border).is_ok());
    let zero = SamplerDesc { border: SamplerBorderColor::Zero, ..border };
    unsupported(gpu.checked(|gpu| gpu.create_sampler(&zero)), "feature ADDRESS_MODE_CLAMP_TO_ZERO", &[]);
}

#[test]
fn unlabeled_objects_are_named_by_kind() {
    let desc = TextureDesc { label: "", ..d2(0, 1) };
    refused(plain().create_texture(&desc), &["unlabeled texture: invalid size"]);
}
