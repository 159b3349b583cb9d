//! Creation of layouts and groups (P3): kinds, counts, stages, ranges.

use std::num::{NonZeroU32, NonZeroU64};

use purlin_rhi::null::NullConfig;
use purlin_rhi::plan::{ResourceUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const FS: ShaderStages = ShaderStages::FRAGMENT;

fn shape(entries: &[BindGroupLayoutEntry]) -> Result<Owned<kind::BindGroupLayout>> {
    plain().checked(|gpu| gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries }))
}

fn make(
    gpu: &mut Gpu,
    layout: BindGroupLayout,
    entries: &[BindGroupEntry<'_>],
) -> Result<Owned<kind::BindGroup>> {
    gpu.checked(|gpu| gpu.create_bind_group(&BindGroupDesc { label: "g", layout, entries }))
}

#[test]
fn layout_entries_are_checked_one_by_one() {
    let twice = [entry(3, FS, uniform(0)), entry(3, FS, sampled())];
    invalid(
        shape(&twice),
        "entries",
        &["bind group layout \"shape\"", "each binding once", "binding 3 twice"],
    );
    let texts = ["binding 1000 requested, 1000 available"];
    unsupported(shape(&[entry(1000, FS, uniform(0))]), "limit max_bindings_per_group", &texts);
    for stages in [ShaderStages::NONE, ShaderStages::MESH] {
        invalid(
            shape(&[entry(0, stages, uniform(0))]),
            "visibility",
            &["binding 0", "vertex, fragment and compute"],
        );
    }
    for ty in [uniform(16), storage(true)] {
        let array = array(1, 4, ty);
        unsupported(shape(&[array]), "arrays of this kind of binding", &["binding 1", "Buffer"]);
    }
}

/// C108, without the capability: an array of bindings is a typed error at layout creation.
#[test]
fn c108_binding_arrays_are_refused_where_there_are_none() {
    let features = Features::all() - Features::BINDING_ARRAYS;
    let mut gpu = device(NullConfig { features, ..NullConfig::default() }).0;
    let entries = [array(0, 2, sampled()), entry(1, FS, filtering())];
    let desc = BindGroupLayoutDesc { label: "shape", entries: &entries };
    let refused = gpu.checked(|gpu| gpu.create_bind_group_layout(&desc));
    unsupported(refused, "feature BINDING_ARRAYS", &["binding 0", "an array of 2 requested"]);
}

fn filtering() -> BindingType {
    BindingType::Sampler(SamplerBindingType::Filtering)
}

fn array(binding: u32, count: u32, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry { count: NonZeroU32::new(count), ..entry(binding, FS, ty) }
}

/// C108, the counts: each element is a resource that the stage sees.
#[test]
fn c108_elements_of_arrays_count_for_their_stage() {
    let most = plain().limits().max_sampled_textures_per_stage;
    assert!(shape(&[array(0, most - 1, sampled()), entry(1, FS, sampled())]).is_ok());
    let over = shape(&[array(0, most, sampled()), entry(1, FS, sampled())]);
    let texts = [&*format!("{} requested in the fragment stage, {most} available", most + 1)];
    unsupported(over, "limit max_sampled_textures_per_stage", &texts);
    unsupported(
        shape(&[array(0, u32::MAX, filtering())]),
        "limit max_samplers_per_stage",
        &["4294967295 requested"],
    );
    let both = [array(0, u32::MAX, filtering()), array(1, u32::MAX, filtering())];
    unsupported(shape(&both), "limit max_samplers_per_stage", &["8589934590 requested"]);
}

#[test]
fn arrays_have_a_first_element_and_no_more_than_the_layout() {
    let mut gpu = plain();
    let layout =
        group_layout(&mut gpu, &[array(0, 4, sampled()), array(1, 2, filtering()), entry(2, FS, sampled())]);
    let usage = TextureUsages::TEXTURE_BINDING;
    let texture = gpu.create_texture(&TextureDesc::d2("t", 4, 4, COLOR, usage)).unwrap();
    let wrong = gpu.create_texture(&TextureDesc::d2("wrong", 4, 4, TextureFormat::Rgba8Uint, usage)).unwrap();
    let (a, b, wrong) = (view(&mut gpu, *texture), view(&mut gpu, *texture), view(&mut gpu, *wrong));
    let sampler = gpu.create_sampler(&SamplerDesc::linear("linear")).unwrap();
    let mut bind = |views: &[Option<TextureView>], samplers: &[Option<Sampler>]| {
        let entries = [
            BindGroupEntry::texture_array(0, views),
            BindGroupEntry::sampler_array(1, samplers),
            BindGroupEntry::texture(2, *a),
        ];
        make(&mut gpu, *layout, &entries)
    };
    let one = [Some(*sampler)];
    assert!(bind(&[Some(*a)], &one).is_ok());
    assert!(bind(&[Some(*a), None, Some(*b), None], &[Some(*sampler), None]).is_ok());
    let first = "a first element, which fills the holes";
    invalid(bind(&[], &one), "entries", &["bind group \"g\"", first, "binding 0: none"]);
    invalid(bind(&[None, Some(*a)], &one), "entries", &[first]);
    invalid(bind(&[Some(*a)], &[]), "entries", &[first, "binding 1"]);
    invalid(bind(&[Some(*a); 5], &one), "entries", &["at most 4 elements", "binding 0: 5"]);
    let found = ["element 2", "sample type Float", "Uint of Rgba8Uint"];
    invalid(bind(&[Some(*a), None, Some(*wrong)], &one), "entries", &found);
    drop(b);
    let mut bind = |entries: &[BindGroupEntry<'_>]| make(&mut gpu, *layout, entries);
    let rest = [BindGroupEntry::sampler_array(1, &one), BindGroupEntry::texture(2, *a)];
    let single = bind(&[BindGroupEntry::texture(0, *a), rest[0], rest[1]]);
    invalid(single, "entries", &["an array of 4 texture views at binding 0", "found a texture view"]);
    let views = [Some(*a)];
    let samplers = bind(&[BindGroupEntry::sampler_array(0, &one), rest[0], rest[1]]);
    invalid(samplers, "entries", &["an array of 4 texture views at binding 0", "an array of 1 samplers"]);
    let many = [BindGroupEntry::texture_array(0, &views), rest[0], BindGroupEntry::texture_array(2, &views)];
    invalid(bind(&many), "entries", &["a texture view at binding 2", "an array of 1 texture views"]);
}

/// A group keeps all elements alive, each hole's fallback too, and a stale one is named.
#[test]
fn arrays_keep_their_elements_alive() {
    let mut gpu = plain();
    let layout = group_layout(&mut gpu, &[array(0, 8, sampled())]);
    let baseline = gpu.object_count(ResourceKind::TextureView);
    let mut owned = Vec::new();
    for _ in 0..3 {
        let texture = gpu.create_texture(&TextureDesc::uploaded("t", 4, 4, 1, COLOR)).unwrap();
        owned.push(view(&mut gpu, *texture));
    }
    let views = [Some(*owned[0]), None, Some(*owned[1]), Some(*owned[2])];
    let group = make(&mut gpu, *layout, &[BindGroupEntry::texture_array(0, &views)]).unwrap();
    owned.clear();
    gpu.maintain().unwrap();
    assert_eq!(gpu.object_count(ResourceKind::TextureView), baseline + 3);
    let again = make(&mut gpu, *layout, &[BindGroupEntry::texture_array(0, &views)]);
    assert!(err(again).to_string().contains("binding 0"));
    drop(group);
    gpu.maintain().unwrap();
    assert_eq!(gpu.object_count(ResourceKind::TextureView), baseline);
    assert_eq!(gpu.object_count(ResourceKind::Texture), 0);
}

/// Images that passes write are uses of the pass that binds the table, each by itself.
#[test]
fn tracked_elements_are_declared_by_the_pass() {
    let mut gpu = plain();
    let cs = ShaderStages::COMPUTE;
    let layout = group_layout(&mut gpu, &[BindGroupLayoutEntry { visibility: cs, ..array(0, 4, sampled()) }]);
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST;
    let textures = [0, 1].map(|_| gpu.create_texture(&TextureDesc::d2("t", 4, 4, COLOR, usage)).unwrap());
    let views = textures.each_ref().map(|texture| view(&mut gpu, **texture));
    let elements = [Some(*views[0]), None, Some(*views[1])];
    let group = make(&mut gpu, *layout, &[BindGroupEntry::texture_array(0, &elements)]).unwrap();
    for texture in &textures {
        gpu.write_texture(&TexturePlace::mip(**texture, 0), extent(4, 4, 1), &rows(16, 4), &[9; 64]).unwrap();
    }
    let uses =
        textures.each_ref().map(|texture| texture_use(**texture, color_range(0), TextureUse::Sampled(cs)));
    let mut run = |uses: &[ResourceUse]| {
        let mut recorder = gpu.record("table").unwrap();
        let desc = ComputePassDesc { label: "read", uses, ..Default::default() };
        recorder.compute_pass(&desc, |pass| pass.set_bind_group(0, *group, &[]))
    };
    assert!(run(&uses).is_ok());
    refused(run(&uses[..1]), &["binding 0 declared by the pass"]);
}

#[test]
fn storage_textures_have_a_storage_format_and_no_cube() {
    let with = |format, view_dimension, access| {
        shape(&[entry(
            0,
            ShaderStages::COMPUTE,
            BindingType::StorageTexture { access, format, view_dimension },
        )])
    };
    use StorageTextureAccess::{Atomic, WriteOnly};
    use TextureViewDimension::{Cube, D2};
    assert!(with(COLOR, D2, WriteOnly).is_ok());
    unsupported(
        with(TextureFormat::Rgba8UnormSrgb, D2, WriteOnly),
        "STORAGE use of Rgba8UnormSrgb",
        &["binding 0"],
    );
    invalid(with(COLOR, Cube, WriteOnly), "view_dimension", &["no cube", "Cube"]);
    unsupported(with(TextureFormat::R32Uint, D2, Atomic), "storage texture atomics", &[]);
}

#[test]
fn storage_writes_in_the_vertex_stage_need_the_feature() {
    let entries = [entry(2, ShaderStages::VERTEX, storage(false))];
    assert!(shape(&entries).is_ok());
    let (mut poor, _control) = device(NullConfig { features: Features::empty(), ..NullConfig::default() });
    let desc = BindGroupLayoutDesc { label: "shape", entries: &entries };
    unsupported(poor.create_bind_group_layout(&desc), "feature VERTEX_STORAGE", &["binding 2"]);
    let read = [entry(2, ShaderStages::VERTEX, storage(true))];
    assert!(poor.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries: &read }).is_ok());
}

#[test]
fn a_stage_sees_only_so_many_of_a_kind() {
    let limits = Limits { max_sampled_textures_per_stage: 2, ..Limits::default() };
    let (mut gpu, _control) = device(NullConfig { limits, ..NullConfig::default() });
    let entries: Vec<_> = (0..3).map(|binding| entry(binding, FS, sampled())).collect();
    let two =
        gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "two", entries: &entries[..2] }).unwrap();
    let texts = ["3 requested in the fragment stage, 2 available"];
    let desc = BindGroupLayoutDesc { label: "three", entries: &entries };
    unsupported(
        gpu.checked(|gpu| gpu.create_bind_group_layout(&desc)),
        "limit max_sampled_textures_per_stage",
        &texts,
    );
    let groups = [*two, *two];
    let desc = PipelineLayoutDesc { label: "layout", groups: &groups, immediate_size: 0 };
    let texts = ["pipeline layout \"layout\"", "4 requested in the fragment stage, 2 available"];
    unsupported(
        gpu.checked(|gpu| gpu.create_pipeline_layout(&desc)),
        "limit max_sampled_textures_per_stage",
        &texts,
    );
}

#[test]
fn dynamic_offsets_are_counted_for_groups_and_for_pipelines() {
    let entries: Vec<_> = (0..13).map(|binding| entry(binding, FS, dynamic_uniform(0))).collect();
    unsupported(shape(&entries), "dynamic offsets of a group", &["13 requested, 12 available"]);
    let mut gpu = plain();
    let five = group_layout(&mut gpu, &entries[..5]);
    let groups = [*five, *five];
    let desc = PipelineLayoutDesc { label: "l", groups: &groups, immediate_size: 0 };
    let texts = ["10 requested, 8 available"];
    unsupported(
        gpu.checked(|gpu| gpu.create_pipeline_layout(&desc)),
        "limit max_dynamic_uniform_buffers",
        &texts,
    );
}

#[test]
fn pipeline_layouts_check_groups_and_immediates() {
    let mut gpu = plain();
    let shape = group_layout(&mut gpu, &[]);
    let groups = [*shape; 5];
    let mut layout = |groups: &[BindGroupLayout], immediate_size| {
        gpu.create_pipeline_layout(&PipelineLayoutDesc { label: "l", groups, immediate_size })
    };
    assert!(layout(&groups[..4], 256).is_ok());
    unsupported(layout(&groups, 0), "limit max_bind_groups", &["5 requested, 4 available"]);
    invalid(layout(&[], 6), "immediate_size", &["pipeline layout \"l\"", "a multiple of 4", "6"]);
    unsupported(layout(&[], 260), "limit max_immediate_size", &["260 bytes requested, 256 available"]);
    let stale = *shape;
    drop(shape);
    gpu.maintain().unwrap();
    let desc = PipelineLayoutDesc { label: "l", groups: &[stale], immediate_size: 0 };
    refused(
        gpu.checked(|gpu| gpu.create_pipeline_layout(&desc)),
        &["pipeline layout \"l\", group 0", "stale"],
    );
}

#[test]
fn groups_have_exactly_their_layouts_bindings() {
    let mut gpu = plain();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::UNIFORM);
    let layout = group_layout(&mut gpu, &[entry(0, FS, uniform(0)), entry(4, FS, uniform(0))]);
    let (a, b) = (BindGroupEntry::buffer(0, *data), BindGroupEntry::buffer(4, *data));
    assert!(make(&mut gpu, *layout, &[b, a]).is_ok(), "any order");
    invalid(make(&mut gpu, *layout, &[a]), "entries", &["bind group \"g\"", "binding 4 of layout \"shape\""]);
    invalid(make(&mut gpu, *layout, &[a, a, b]), "entries", &["each binding once", "binding 0 twice"]);
    let extra = BindGroupEntry::buffer(7, *data);
    invalid(
        make(&mut gpu, *layout, &[a, b, extra]),
        "entries",
        &["only bindings of layout \"shape\"", "extra binding 7"],
    );
    invalid(
        make(&mut gpu, *layout, &[a, extra]),
        "entries",
        &["binding 4 of layout \"shape\"", "no such binding"],
    );
}

#[test]
fn groups_bind_the_kind_that_the_layout_has() {
    let mut gpu = plain();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::UNIFORM);
    let image = texture(&mut gpu, "t", 4, 4, TextureUsages::TEXTURE_BINDING);
    let image = view(&mut gpu, *image);
    let sampler = gpu.create_sampler(&SamplerDesc::linear("s")).unwrap();
    let sampler_type = BindingType::Sampler(SamplerBindingType::Filtering);
    let resources = [
        (BindGroupEntry::buffer(0, *data), "a buffer", uniform(0)),
        (BindGroupEntry::texture(0, *image), "a texture view", sampled()),
        (BindGroupEntry::sampler(0, *sampler), "a sampler", sampler_type),
    ];
    for (wanted, (_, expected, ty)) in resources.iter().enumerate() {
        let layout = group_layout(&mut gpu, &[entry(0, FS, *ty)]);
        for (given, (entry, found, _)) in resources.iter().enumerate() {
            let result = make(&mut gpu, *layout, &[*entry]);
            if wanted == given {
                assert!(result.is_ok());
            } else {
                let expected = format!("{expected} at binding 0");
                invalid(result, "entries", &[&expected, &format!("found {found}")]);
            }
        }
    }
}

#[test]
fn bound_ranges_are_aligned_inside_and_large_enough() {
    let mut gpu = plain();
    let data = buffer(&mut gpu, "data", 1024, BufferUsages::UNIFORM | BufferUsages::STORAGE);
    let layout = group_layout(&mut gpu, &[entry(0, FS, uniform(80))]);
    let mut range =
        |offset, size| make(&mut gpu, *layout, &[BindGroupEntry::buffer_range(0, *data, offset, size)]);
    assert!(range(256, 80).is_ok());
    assert!(range(768, 256).is_ok());
    invalid(range(128, 80), "offset", &["min_uniform_offset_alignment (256)", "binding 0: 128", "\"data\""]);
    invalid(range(768, 257), "size", &["within 1024 bytes", "257 bytes from 768"]);
    invalid(range(0, u64::MAX), "size", &["within 1024 bytes"]);
    invalid(range(1024, 0), "size", &["at least one byte"]);
    invalid(range(u64::MAX - 255, 80), "size", &["within 1024 bytes"]);
    invalid(range(0, 79), "size", &["at least 80 bytes, which the shader reads", "binding 0: 79"]);
}

#[test]
fn storage_ranges_are_whole_words_and_within_the_limits() {
    let limits = Limits { max_storage_binding_size: 512, max_uniform_binding_size: 256, ..Limits::default() };
    let (mut gpu, _control) = device(NullConfig { limits, ..NullConfig::default() });
    let data = buffer(&mut gpu, "data", 1024, BufferUsages::UNIFORM | BufferUsages::STORAGE);
    let layout = group_layout(&mut gpu, &[entry(0, FS, storage(true))]);
    let range = |size| [BindGroupEntry::buffer_range(0, *data, 0, size)];
    assert!(make(&mut gpu, *layout, &range(512)).is_ok());
    invalid(make(&mut gpu, *layout, &range(510)), "size", &["a multiple of 4 for a storage binding", "510"]);
    let texts = ["516 bytes requested, 512 available"];
    unsupported(make(&mut gpu, *layout, &range(516)), "limit max_storage_binding_size", &texts);
    let layout = group_layout(&mut gpu, &[entry(0, FS, uniform(0))]);
    let texts = ["257 bytes requested, 256 available"];
    unsupported(make(&mut gpu, *layout, &range(257)), "limit max_uniform_binding_size", &texts);
}

#[test]
fn bound_buffers_have_the_usage_and_the_contents() {
    let mut gpu = plain();
    let vertices = buffer(&mut gpu, "vertices", 64, BufferUsages::VERTEX);
    let layout = group_layout(&mut gpu, &[entry(0, FS, uniform(0))]);
    let result = make(&mut gpu, *layout, &[BindGroupEntry::buffer(0, *vertices)]);
    invalid(result, "entries", &["usage BufferUsages(UNIFORM)", "\"vertices\""]);
    let desc = BufferDesc::uploaded("table", 64, BufferUsages::STORAGE);
    let table = gpu.create_buffer(&desc).unwrap();
    let writable = group_layout(&mut gpu, &[entry(0, FS, storage(false))]);
    let result = make(&mut gpu, *writable, &[BindGroupEntry::buffer(0, *table)]);
    invalid(result, "entries", &["contents Tracked for a storage write", "contents Uploaded", "\"table\""]);
    let readable = group_layout(&mut gpu, &[entry(0, FS, storage(true))]);
    assert!(make(&mut gpu, *readable, &[BindGroupEntry::buffer(0, *table)]).is_ok());
}

#[test]
fn bound_views_have_usage_dimension_aspect_and_sample_type() {
    let mut gpu = plain();
    let layout = group_layout(&mut gpu, &[entry(0, FS, sampled())]);
    let mut bind = |format, usage, layers: u32| {
        let desc = TextureDesc { size: extent(4, 4, layers), ..TextureDesc::d2("t", 4, 4, format, usage) };
        let texture = gpu.create_texture(&desc).unwrap();
        let view = view(&mut gpu, *texture);
        make(&mut gpu, *layout, &[BindGroupEntry::texture(0, *view)])
    };
    const SAMPLED: TextureUsages = TextureUsages::TEXTURE_BINDING;
    assert!(bind(COLOR, SAMPLED, 1).is_ok());
    invalid(
        bind(COLOR, TextureUsages::COPY_DST, 1),
        "entries",
        &["usage TextureUsages(TEXTURE_BINDING)", "\"view\""],
    );
    invalid(bind(COLOR, SAMPLED, 2), "entries", &["a D2 view", "D2Array"]);
    invalid(
        bind(TextureFormat::Rgba8Uint, SAMPLED, 1),
        "entries",
        &["sample type Float", "Uint of Rgba8Uint"],
    );
    invalid(
        bind(TextureFormat::Rgba32Float, SAMPLED, 1),
        "entries",
        &["filterable: true", "filterable: false"],
    );
    invalid(bind(TextureFormat::Depth32Float, SAMPLED, 1), "entries", &["Depth of Depth32Float"]);
    let combined = TextureFormat::Depth24PlusStencil8;
    invalid(bind(combined, SAMPLED, 1), "entries", &["a view of one aspect", "DEPTH | STENCIL"]);
}

/// Where shaders cannot sample some of the layers, a view of them is refused, and still attached.
#[test]
fn views_of_some_layers_need_their_feature() {
    let features = Features::all() - Features::LAYER_VIEWS;
    let mut gpu = device(NullConfig { features, ..NullConfig::default() }).0;
    let layout = group_layout(&mut gpu, &[entry(0, FS, sampled())]);
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT;
    let mut bind = |layers, shown| {
        let desc = TextureDesc { size: extent(4, 4, layers), ..TextureDesc::d2("t", 4, 4, COLOR, usage) };
        let texture = gpu.create_texture(&desc).unwrap();
        let desc = TextureViewDesc { label: "view", base_layer: layers - shown, ..Default::default() };
        let view = gpu.create_texture_view(*texture, &desc).unwrap();
        let mut recorder = gpu.record("clear").unwrap();
        recorder.clear_color(*view, ClearValue::Float([0.0; 4])).unwrap();
        drop(recorder);
        make(&mut gpu, *layout, &[BindGroupEntry::texture(0, *view)])
    };
    assert!(bind(1, 1).is_ok());
    unsupported(bind(3, 1), "feature LAYER_VIEWS", &["binding 0: 1 of the texture's layers", "\"view\""]);
}

#[test]
fn storage_views_have_the_layouts_format_and_one_mip() {
    let mut gpu = plain();
    let ty = BindingType::StorageTexture {
        access: StorageTextureAccess::WriteOnly,
        format: COLOR,
        view_dimension: TextureViewDimension::D2,
    };
    let layout = group_layout(&mut gpu, &[entry(0, ShaderStages::COMPUTE, ty)]);
    let mut bind = |format, mips| {
        let usage = TextureUsages::STORAGE_BINDING;
        let texture = gpu.create_texture(&TextureDesc::d2("t", 4, 4, format, usage).with_mips(mips)).unwrap();
        let view = view(&mut gpu, *texture);
        make(&mut gpu, *layout, &[BindGroupEntry::texture(0, *view)])
    };
    assert!(bind(COLOR, 1).is_ok());
    invalid(bind(TextureFormat::Rgba8Uint, 1), "entries", &["format Rgba8Unorm", "Rgba8Uint"]);
    invalid(bind(COLOR, 2), "entries", &["a view of one mip for storage", "2 mips"]);
}

#[test]
fn bound_samplers_match_comparison_and_filtering() {
    let mut gpu = plain();
    let linear = gpu.create_sampler(&SamplerDesc::linear("linear")).unwrap();
    let nearest = gpu.create_sampler(&SamplerDesc::nearest("nearest")).unwrap();
    let compare = Some(CompareFunction::Less);
    let shadow = gpu.create_sampler(&SamplerDesc { compare, ..SamplerDesc::linear("shadow") }).unwrap();
    use SamplerBindingType::{Comparison, Filtering, NonFiltering};
    for (ty, sampler, fits) in [
        (Filtering, *linear, true),
        (Filtering, *nearest, true),
        (Filtering, *shadow, false),
        (NonFiltering, *linear, false),
        (NonFiltering, *nearest, true),
        (Comparison, *shadow, true),
        (Comparison, *linear, false),
    ] {
        let layout = group_layout(&mut gpu, &[entry(0, FS, BindingType::Sampler(ty))]);
        let result = make(&mut gpu, *layout, &[BindGroupEntry::sampler(0, sampler)]);
        if fits {
            assert!(result.is_ok(), "{ty:?}");
        } else {
            invalid(result, "entries", &["binding 0: sampler \"", "comparison"]);
        }
    }
}

#[test]
fn layout_entries_can_be_read_back_sorted() {
    let mut gpu = plain();
    let least = BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: NonZeroU64::new(12),
    };
    let layout = group_layout(&mut gpu, &[entry(9, FS, sampled()), entry(2, FS, least)]);
    let bindings: Vec<_> =
        gpu.bind_group_layout_entries(*layout).unwrap().iter().map(|entry| entry.binding).collect();
    assert_eq!(bindings, [2, 9]);
}
