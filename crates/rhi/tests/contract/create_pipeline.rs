//! Creation of modules and pipelines (P3, P12): reflection against layouts, and fixed state against the device.

use purlin_rhi::null::NullConfig;
use purlin_rhi::shader::{EntryPoint, ShaderBinding, ShaderIo, ShaderSource};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const VS: EntryPoint = EntryPoint { name: "vs", stage: ShaderStages::VERTEX, ..NO_STAGE };
const FS: EntryPoint =
    EntryPoint { name: "fs", stage: ShaderStages::FRAGMENT, outputs: &[OUT_COLOR], ..NO_STAGE };

/// A raster pipeline of a source and one layout entry at group 0, after a change to the description.
fn raster_with(
    gpu: &mut Gpu,
    source: &ShaderSource,
    groups: &[BindGroupLayout],
    change: impl FnOnce(&mut RenderPipelineDesc<'_>),
) -> Result<Owned<kind::RenderPipeline>> {
    let module = gpu.create_shader_module(source)?;
    let layout = pipeline_layout(gpu, groups);
    let targets = [Some(COLOR.into())];
    let mut desc = raster(*module, *layout, &targets);
    change(&mut desc);
    gpu.checked(|gpu| gpu.create_render_pipeline(&desc))
}

fn simple(change: impl FnOnce(&mut RenderPipelineDesc<'_>)) -> Result<Owned<kind::RenderPipeline>> {
    raster_with(&mut plain(), &SIMPLE, &[], change)
}

#[test]
fn modules_have_entry_points() {
    invalid(
        plain().checked(|gpu| gpu.create_shader_module(&source(&[]))),
        "entries",
        &["shader module \"shader\"", "at least one"],
    );
}

#[test]
fn entry_points_exist_and_are_of_the_stage() {
    let module = |desc: &mut RenderPipelineDesc<'_>, entry| desc.vertex.entry = entry;
    let texts = ["render pipeline \"raster\"", "an entry point of \"shader\": vs, fs, cs", "\"main\""];
    invalid(simple(|desc| module(desc, "main")), "entry", &texts);
    invalid(
        simple(|desc| module(desc, "fs")),
        "entry",
        &["stage ShaderStages(VERTEX)", "\"fs\"", "FRAGMENT"],
    );
}

/// The error of a pipeline whose fragment stage uses `binding`, over a layout with this entry at group 0.
fn bound(
    binding: ShaderBinding,
    entry_of_layout: BindGroupLayoutEntry,
) -> Result<Owned<kind::RenderPipeline>> {
    // Reflection is static data; a test's worth of it may leak.
    let bindings: &'static [ShaderBinding] = Box::leak(Box::new([binding]));
    let entries: &'static [EntryPoint] = Box::leak(Box::new([VS, EntryPoint { bindings, ..FS }]));
    let mut gpu = plain();
    let shape = group_layout(&mut gpu, &[entry_of_layout]);
    raster_with(&mut gpu, &source(entries), &[*shape], |_| {})
}

#[test]
fn layouts_serve_what_the_shader_uses() {
    let fs = ShaderStages::FRAGMENT;
    let uses = |ty| ShaderBinding { group: 0, binding: 2, name: "item", ty, count: 0 };
    let place = "@group(0) @binding(2) item";
    assert!(bound(uses(uniform(16)), entry(2, fs, uniform(16))).is_ok());
    assert!(bound(uses(uniform(16)), entry(2, fs, dynamic_uniform(32))).is_ok());
    let array = ShaderBinding { count: 4, ..uses(sampled()) };
    let refused = bound(array, entry(2, fs, sampled()));
    invalid(refused, "layout", &["\"raster\"", "an array of 4 or more", place, "one resource"]);
    let of =
        |count| BindGroupLayoutEntry { count: std::num::NonZeroU32::new(count), ..entry(2, fs, sampled()) };
    invalid(bound(array, of(3)), "layout", &["an array of 4 or more", place, "an array of 3"]);
    invalid(bound(uses(sampled()), of(4)), "layout", &["one resource", place, "an array of 4"]);
    // An index is clamped to the shader's own length.
    assert!(bound(array, of(4)).is_ok() && bound(array, of(5)).is_ok());
    let missing = bound(uses(uniform(16)), entry(1, fs, uniform(16)));
    invalid(
        missing,
        "layout",
        &["render pipeline \"raster\"", place, "\"fs\" uses", "group layout \"shape\""],
    );
    let stage = bound(uses(uniform(16)), entry(2, ShaderStages::VERTEX, uniform(16)));
    invalid(stage, "layout", &["visibility in ShaderStages(FRAGMENT)", place, "VERTEX"]);
    let small = bound(uses(uniform(80)), entry(2, fs, uniform(16)));
    invalid(small, "layout", &["min_binding_size of at least 80", place, "found 16"]);
    let none = bound(uses(uniform(80)), entry(2, fs, uniform(0)));
    invalid(none, "layout", &["min_binding_size of at least 80", "found none"]);
    let kind = bound(uses(uniform(16)), entry(2, fs, storage(true)));
    invalid(kind, "layout", &["Uniform", place, "Storage"]);
    let access = bound(uses(storage(false)), entry(2, fs, storage(true)));
    invalid(access, "layout", &["read_only: false", "read_only: true"]);
    let group = bound(ShaderBinding { group: 3, ..uses(uniform(16)) }, entry(2, fs, uniform(16)));
    invalid(group, "layout", &["@group(3) @binding(2) item", "1 groups in layout \"layout\""]);
    let far = bound(ShaderBinding { group: u32::MAX, ..uses(uniform(16)) }, entry(2, fs, uniform(16)));
    invalid(far, "layout", &["@group(4294967295)"]);
}

/// A device is not given code that declares what was not enabled.
#[test]
fn modules_declare_no_more_than_the_device_has() {
    // Header, two capabilities (Shader, ShaderNonUniform), and an instruction that is none.
    const CODE: &[u32] =
        &[0x0723_0203, 0x1_0300, 0, 9, 0, 2 << 16 | 17, 1, 2 << 16 | 17, 5301, 3 << 16 | 14, 0, 1];
    let source = ShaderSource { spirv: CODE, ..source(&[VS, FS]) };
    assert!(plain().create_shader_module(&source).is_ok());
    let features = Features::all() - Features::NON_UNIFORM_INDEXING;
    let mut gpu = device(NullConfig { features, ..NullConfig::default() }).0;
    let refused = gpu.checked(|gpu| gpu.create_shader_module(&source));
    unsupported(refused, "feature NON_UNIFORM_INDEXING", &["shader module \"shader\"", "declares it"]);
    // Code that is cut short declares what can be read of it.
    for end in 0..CODE.len() {
        let source = ShaderSource { spirv: &CODE[..end], ..source };
        assert_eq!(gpu.create_shader_module(&source).is_ok(), end < 9, "{end} words");
    }
}

#[test]
fn texture_bindings_match_dimension_and_sample_type() {
    let fs = ShaderStages::FRAGMENT;
    let texture = |sample_type, view_dimension| BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled: false,
    };
    let uses = |ty| ShaderBinding { group: 0, binding: 0, name: "image", ty, count: 0 };
    let float = |filterable| TextureSampleType::Float { filterable };
    use TextureViewDimension::{Cube, D2};
    assert!(bound(uses(texture(float(true), D2)), entry(0, fs, texture(float(true), D2))).is_ok());
    // A shader that does not filter takes what filters, and depth.
    assert!(bound(uses(texture(float(false), D2)), entry(0, fs, texture(float(true), D2))).is_ok());
    assert!(
        bound(uses(texture(float(false), D2)), entry(0, fs, texture(TextureSampleType::Depth, D2))).is_ok()
    );
    for have in [texture(float(false), D2), texture(float(true), Cube), texture(TextureSampleType::Uint, D2)]
    {
        invalid(bound(uses(texture(float(true), D2)), entry(0, fs, have)), "layout", &["image"]);
    }
    let compare = BindingType::Sampler(SamplerBindingType::Comparison);
    let filter = BindingType::Sampler(SamplerBindingType::Filtering);
    invalid(bound(uses(compare), entry(0, fs, filter)), "layout", &["Comparison", "Filtering"]);
}

#[test]
fn immediates_that_the_shader_reads_are_in_the_layout() {
    static PUSH: ShaderSource = source(&[EntryPoint { immediate_size: 16, ..VS }, FS]);
    let mut gpu = plain();
    let result = raster_with(&mut gpu, &PUSH, &[], |_| {});
    invalid(result, "layout.immediate_size", &["at least 16 bytes, which \"vs\" reads", "found 0"]);
}

#[test]
fn workgroups_fit_the_limits() {
    static WIDE: ShaderSource = source(&[
        EntryPoint { name: "x", stage: ShaderStages::COMPUTE, workgroup_size: [1025, 1, 1], ..NO_STAGE },
        EntryPoint { name: "z", stage: ShaderStages::COMPUTE, workgroup_size: [1, 1, 65], ..NO_STAGE },
        EntryPoint { name: "all", stage: ShaderStages::COMPUTE, workgroup_size: [32, 32, 2], ..NO_STAGE },
        EntryPoint { name: "huge", stage: ShaderStages::COMPUTE, workgroup_size: [u32::MAX; 3], ..NO_STAGE },
        EntryPoint { name: "fits", stage: ShaderStages::COMPUTE, workgroup_size: [32, 32, 1], ..NO_STAGE },
    ]);
    let mut gpu = plain();
    let module = gpu.create_shader_module(&WIDE).unwrap();
    let layout = pipeline_layout(&mut gpu, &[]);
    let mut create = |entry| {
        let compute = ShaderStageDesc { module: *module, entry };
        gpu.create_compute_pipeline(&ComputePipelineDesc { label: "kernel", layout: *layout, compute })
    };
    assert!(create("fits").is_ok());
    let texts = ["compute pipeline \"kernel\"", "1025 requested by \"x\", 1024 available"];
    unsupported(create("x"), "limit max_workgroup_size_x", &texts);
    unsupported(create("z"), "limit max_workgroup_size_z", &["65 requested"]);
    unsupported(create("all"), "limit max_workgroup_invocations", &["2048 requested"]);
    unsupported(create("huge"), "limit max_workgroup_size_x", &["4294967295 requested"]);
}

const POSITION: ShaderIo = ShaderIo { location: 0, name: "position", format: VertexFormat::Float32x3 };
static MESH: ShaderSource = source(&[EntryPoint { inputs: &[POSITION], ..VS }, FS]);

fn attribute(shader_location: u32, offset: u64, format: VertexFormat) -> VertexAttribute {
    VertexAttribute { format, offset, shader_location }
}

fn mesh(stride: u64, attributes: &[VertexAttribute]) -> Result<Owned<kind::RenderPipeline>> {
    let buffers = [VertexBufferLayout { stride, step: VertexStepMode::Vertex, attributes }];
    // The description borrows what only this function has.
    let mut gpu = plain();
    let module = gpu.create_shader_module(&MESH).unwrap();
    let layout = pipeline_layout(&mut gpu, &[]);
    let targets = [Some(COLOR.into())];
    let desc = RenderPipelineDesc { vertex_buffers: &buffers, ..raster(*module, *layout, &targets) };
    gpu.checked(|gpu| gpu.create_render_pipeline(&desc))
}

#[test]
fn vertex_inputs_are_fed_by_attributes_that_fit() {
    use VertexFormat::{Float32x2, Float32x3, Uint8, Uint32x3, Unorm8x4};
    assert!(mesh(12, &[attribute(0, 0, Float32x3)]).is_ok());
    assert!(mesh(8, &[attribute(0, 4, Unorm8x4)]).is_ok(), "components fill up");
    let needs = "an attribute for @location(0) position (Float32x3)";
    invalid(mesh(12, &[attribute(1, 0, Float32x3)]), "vertex_buffers", &["\"raster\"", needs, "none"]);
    invalid(mesh(12, &[attribute(0, 0, Uint32x3)]), "vertex_buffers", &[needs, "Uint32x3"]);
    invalid(mesh(14, &[attribute(0, 0, Float32x3)]), "stride", &["a multiple of 4", "14 of vertex buffer 0"]);
    let text = ["within 12 bytes", "bytes 4..16", "location 0, vertex buffer 0"];
    invalid(mesh(12, &[attribute(0, 4, Float32x3)]), "attributes", &text);
    invalid(mesh(12, &[attribute(0, u64::MAX, Float32x3)]), "attributes", &["within 12 bytes"]);
    invalid(mesh(16, &[attribute(0, 2, Float32x3)]), "attributes", &["a multiple of 4", "2 (location 0"]);
    assert!(mesh(16, &[attribute(0, 0, Float32x3), attribute(1, 13, Uint8)]).is_ok(), "bytes lie anywhere");
    let twice = [attribute(0, 0, Float32x3), attribute(0, 0, Float32x2)];
    invalid(mesh(12, &twice), "attributes", &["each location once"]);
    invalid(mesh(12, &[attribute(32, 0, Float32x3)]), "attributes", &["a location below 32", "location 32"]);
    unsupported(
        mesh(4096, &[attribute(0, 0, Float32x3)]),
        "limit max_vertex_stride",
        &["4096 bytes", "2048"],
    );
}

#[test]
fn vertex_buffers_and_attributes_are_counted() {
    let none = VertexBufferLayout { stride: 4, step: VertexStepMode::Vertex, attributes: &[] };
    let buffers = vec![none; 17];
    let result = {
        let mut gpu = plain();
        let module = gpu.create_shader_module(&SIMPLE).unwrap();
        let layout = pipeline_layout(&mut gpu, &[]);
        let targets = [Some(COLOR.into())];
        gpu.create_render_pipeline(&RenderPipelineDesc {
            vertex_buffers: &buffers,
            ..raster(*module, *layout, &targets)
        })
    };
    unsupported(result, "limit max_vertex_buffers", &["17 requested, 16 available"]);
    let many: Vec<_> = (0..33).map(|location| attribute(location, 0, VertexFormat::Float32)).collect();
    unsupported(mesh(4, &many), "limit max_vertex_attributes", &["33 requested, 32 available"]);
}

/// C040, at creation: strips restart by their index format, lists have none.
#[test]
fn c040_a_strip_index_format_on_a_list_is_refused() {
    let with = |topology| {
        simple(move |desc| {
            desc.primitive.topology = topology;
            desc.primitive.strip_index_format = Some(IndexFormat::Uint16);
        })
    };
    use PrimitiveTopology::*;
    for topology in [TriangleList, LineList, PointList] {
        let text = format!("Some(Uint16) with {topology:?}");
        invalid(with(topology), "primitive.strip_index_format", &["none on a list topology", &text]);
    }
    assert!(with(TriangleStrip).is_ok() && with(LineStrip).is_ok());
}

/// C046: a target that is written needs an output; one with an empty mask needs none.
#[test]
fn c046_a_target_without_a_shader_output() {
    let with = |write_mask| {
        let second = ColorTarget { format: COLOR, blend: None, write_mask };
        let targets = [Some(COLOR.into()), Some(second)];
        let mut gpu = plain();
        let module = gpu.create_shader_module(&SIMPLE).unwrap();
        let layout = pipeline_layout(&mut gpu, &[]);
        gpu.checked(|gpu| gpu.create_render_pipeline(&raster(*module, *layout, &targets)))
    };
    assert!(with(ColorWrites::empty()).is_ok());
    let texts = ["@location(1) among the fragment outputs", "target 1, Rgba8Unorm"];
    invalid(with(ColorWrites::ALL), "targets", &texts);
}

fn target(target: ColorTarget) -> Result<Owned<kind::RenderPipeline>> {
    let targets = [Some(target)];
    let mut gpu = plain();
    let module = gpu.create_shader_module(&SIMPLE).unwrap();
    let layout = pipeline_layout(&mut gpu, &[]);
    gpu.checked(|gpu| gpu.create_render_pipeline(&raster(*module, *layout, &targets)))
}

#[test]
fn targets_are_attachable_blendable_and_of_the_outputs_kind() {
    let blend = Some(BlendState::ALPHA_BLENDING);
    let of = |format: TextureFormat| ColorTarget::from(format);
    unsupported(target(of(TextureFormat::Depth32Float)), "COLOR use of Depth32Float", &["target 0"]);
    let float = ColorTarget { blend, ..of(TextureFormat::Rgba32Float) };
    unsupported(target(float), "BLENDABLE use of Rgba32Float", &["target 0"]);
    assert!(target(of(TextureFormat::Rgba32Float)).is_ok());
    let texts = ["the kind of @location(0) Float32x4", "target 0, Rgba8Uint"];
    invalid(target(of(TextureFormat::Rgba8Uint)), "targets", &texts);
}

#[test]
fn differing_blend_needs_the_feature() {
    static TWO: ShaderSource =
        source(&[VS, EntryPoint { outputs: &[OUT_COLOR, ShaderIo { location: 1, ..OUT_COLOR }], ..FS }]);
    let blended = ColorTarget { blend: Some(BlendState::ALPHA_BLENDING), ..COLOR.into() };
    let targets = [Some(COLOR.into()), Some(blended)];
    let create = |features| {
        let (mut gpu, _control) = device(NullConfig { features, ..NullConfig::default() });
        let module = gpu.create_shader_module(&TWO).unwrap();
        let layout = pipeline_layout(&mut gpu, &[]);
        gpu.checked(|gpu| gpu.create_render_pipeline(&raster(*module, *layout, &targets)))
    };
    assert!(create(Features::INDEPENDENT_BLEND).is_ok());
    unsupported(create(Features::empty()), "feature INDEPENDENT_BLEND", &["target 1", "differs"]);
}

#[test]
fn pipelines_draw_to_something_and_to_no_more_than_the_limit() {
    invalid(simple(|desc| desc.targets = &[]), "targets", &["a color target or depth_stencil", "neither"]);
    invalid(simple(|desc| desc.targets = &[None, None]), "targets", &["neither"]);
    unsupported(
        simple(|desc| desc.targets = &[None; 9]),
        "limit max_color_attachments",
        &["9 requested, 8 available"],
    );
}

fn depth(format: TextureFormat) -> DepthStencilDesc {
    DepthStencilDesc::depth(format, true, CompareFunction::Less)
}

#[test]
fn depth_and_stencil_state_fit_the_format() {
    let with = |state: DepthStencilDesc| simple(move |desc| desc.depth_stencil = Some(state));
    assert!(with(depth(TextureFormat::Depth24PlusStencil8)).is_ok());
    unsupported(with(depth(COLOR)), "DEPTH_STENCIL use of Rgba8Unorm", &["\"raster\""]);
    invalid(with(depth(TextureFormat::Stencil8)), "depth_stencil.format", &["a depth aspect", "Stencil8"]);
    let face = StencilFaceState { pass_op: StencilOperation::Replace, ..StencilFaceState::default() };
    let stencil = StencilState { front: face, back: face, read_mask: !0, write_mask: !0 };
    let state = DepthStencilDesc { stencil, ..depth(TextureFormat::Depth32Float) };
    invalid(with(state), "depth_stencil.format", &["a stencil aspect", "Depth32Float"]);
}

#[test]
fn a_shader_that_writes_depth_has_a_depth_attachment() {
    static WRITES: ShaderSource = source(&[VS, EntryPoint { writes_depth: true, ..FS }]);
    let mut gpu = plain();
    let result = raster_with(&mut gpu, &WRITES, &[], |_| {});
    invalid(result, "depth_stencil", &["a depth attachment, which \"fs\" writes"]);
    let result = raster_with(&mut gpu, &WRITES, &[], |desc| {
        desc.depth_stencil = Some(depth(TextureFormat::Depth32Float))
    });
    assert!(result.is_ok());
}

/// C047: depth bias is for triangles.
#[test]
fn c047_depth_bias_on_lines_and_points() {
    let with = |topology, bias: DepthBiasState| {
        simple(move |desc| {
            desc.primitive.topology = topology;
            desc.depth_stencil = Some(DepthStencilDesc { bias, ..depth(TextureFormat::Depth32Float) });
        })
    };
    let constant = DepthBiasState { constant: 2, ..DepthBiasState::default() };
    let slope = DepthBiasState { slope_scale: 1.5, ..DepthBiasState::default() };
    let clamp = DepthBiasState { clamp: 0.5, ..DepthBiasState::default() };
    use PrimitiveTopology::*;
    for bias in [constant, slope, clamp] {
        for topology in [LineList, LineStrip, PointList] {
            let text = format!("{topology:?}");
            invalid(with(topology, bias), "depth_stencil.bias", &["no bias on lines and points", &text]);
        }
        assert!(with(TriangleList, bias).is_ok() && with(TriangleStrip, bias).is_ok());
    }
    assert!(with(LineList, DepthBiasState::default()).is_ok());
    for slope_scale in [f32::NAN, f32::INFINITY] {
        let bias = DepthBiasState { slope_scale, ..DepthBiasState::default() };
        invalid(with(TriangleList, bias), "depth_stencil.bias", &["finite numbers"]);
    }
}

#[test]
fn state_beyond_the_core_needs_its_feature() {
    let create = |features, change: fn(&mut RenderPipelineDesc<'_>)| {
        let (mut gpu, _control) = device(NullConfig { features, ..NullConfig::default() });
        raster_with(&mut gpu, &SIMPLE, &[], change)
    };
    let lines: fn(&mut RenderPipelineDesc<'_>) = |desc| desc.primitive.polygon_mode = PolygonMode::Line;
    assert!(create(Features::POLYGON_MODE_LINE, lines).is_ok());
    unsupported(create(Features::empty(), lines), "feature POLYGON_MODE_LINE", &["Line requested"]);
    let clamped: fn(&mut RenderPipelineDesc<'_>) = |desc| desc.primitive.unclipped_depth = true;
    assert!(create(Features::DEPTH_CLIP_CONTROL, clamped).is_ok());
    unsupported(create(Features::empty(), clamped), "feature DEPTH_CLIP_CONTROL", &["unclipped_depth"]);
    unsupported(
        create(Features::all(), |desc| desc.primitive.polygon_mode = PolygonMode::Point),
        "polygon mode Point",
        &[],
    );
    assert!(create(Features::all(), |desc| desc.multisample.count = 4).is_ok());
    let masked: fn(&mut RenderPipelineDesc<'_>) =
        |desc| desc.multisample = MultisampleDesc { count: 4, mask: 0b1011, ..desc.multisample };
    assert!(create(Features::all(), masked).is_ok());
    let without = Features::all() - Features::SAMPLE_MASKS;
    unsupported(create(without, masked), "feature SAMPLE_MASKS", &["mask 0xb of 4 samples"]);
    let high: fn(&mut RenderPipelineDesc<'_>) =
        |desc| desc.multisample = MultisampleDesc { count: 4, mask: 0xF, ..desc.multisample };
    assert!(create(without, high).is_ok(), "bits beyond the samples do not matter");
    for count in [0, 3, 64] {
        let mut gpu = plain();
        let result = raster_with(&mut gpu, &SIMPLE, &[], |desc| desc.multisample.count = count);
        invalid(result, "multisample.count", &["1, 2, 4, 8 or 16", &count.to_string()]);
    }
    unsupported(
        create(Features::all(), |desc| desc.multisample.count = 16),
        "MULTISAMPLE_X16 use of Rgba8Unorm",
        &["MULTISAMPLE_X4"],
    );
    invalid(
        create(Features::all(), |desc| desc.multisample.alpha_to_coverage = true),
        "multisample.alpha_to_coverage",
        &["true with 1 sample"],
    );
}
