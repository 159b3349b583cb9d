//! Raster passes: orientation, winding, attachments with a layout for each aspect, state that passes start with.

mod common;

use common::{FIRST_DRAW, Gpu, entry, memory, open, range, shader, state, transition, whole};
use purlin_rhi::backend::{
    Backend, BoundBuffer, ClearValue, Dirty, Draw, Encoder, NativeAspect, NativeBinding, NativeColor,
    NativeDepthStencil, NativeLoad, NativeRenderPass, StoreOp, bare_handle,
};
use purlin_rhi::caps::{Features, FormatUses};
use purlin_rhi::desc::{
    ColorTarget, DepthStencilDesc, MemoryClass, MultisampleDesc, PrimitiveDesc, RenderPipelineDesc,
    SamplerDesc, ShaderStageDesc, TextureDesc, VertexBufferLayout,
};
use purlin_rhi::plan::{Aspects, BufferUse, Layout, Scope, TextureUse};
use purlin_rhi::types::{
    BindingType, BlendComponent, BlendFactor, BlendOperation, BlendState, BufferUsages, ColorWrites,
    CompareFunction, Face, SamplerBindingType, ShaderStages, StencilFaceState, StencilOperation,
    StencilState, TextureAspect, TextureFormat, TextureSampleType, TextureUsages, TextureViewDimension,
    VertexAttribute, VertexFormat, VertexStepMode,
};
use purlin_vulkan::VulkanEncoder;

const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;
const TARGET: u32 = 0;
const READBACK: u32 = 0;

const DRAW: TextureUse = TextureUse::Color { load: false };

fn target(gpu: &mut Gpu) {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    gpu.texture(TARGET, &TextureDesc::d2("target", 64, 64, COLOR, usage));
    gpu.buffer(READBACK, 64 * 256, BufferUsages::COPY_DST, MemoryClass::Readback);
}

fn prepare(encoder: &mut VulkanEncoder, gpu: &Gpu) {
    let new = (DRAW.scope(), Layout::ColorAttachment);
    transition(encoder, gpu, TARGET, range(Aspects::COLOR), (Scope::NONE, Layout::Undefined), new);
}

fn color(load: NativeLoad<ClearValue>) -> [Option<NativeColor>; 1] {
    [Some(NativeColor { view: TARGET, load, store: StoreOp::Store, resolve: None })]
}

const BLUE: NativeLoad<ClearValue> = NativeLoad::Clear(ClearValue::Float([0.0, 0.0, 1.0, 1.0]));

fn pass<'a>(
    colors: &'a [Option<NativeColor>],
    depth_stencil: Option<NativeDepthStencil>,
) -> NativeRenderPass<'a> {
    NativeRenderPass {
        label: "pass",
        extent: (64, 64),
        layers: 1,
        colors,
        depth_stencil,
        sections: false,
        queries: None,
    }
}

/// Ends the recording with a copy of the target; its texels, row by row from the top.
fn texels(mut encoder: VulkanEncoder, gpu: &mut Gpu) -> Vec<[u8; 4]> {
    let source = (TextureUse::CopySrc.scope(), Layout::CopySrc);
    transition(
        &mut encoder,
        gpu,
        TARGET,
        range(Aspects::COLOR),
        (DRAW.scope(), Layout::ColorAttachment),
        source,
    );
    encoder.copy_texture_to_buffer(gpu, &whole(READBACK, TARGET, COLOR));
    memory(&mut encoder, gpu, BufferUse::CopyDst, BufferUse::HostRead);
    gpu.finish(encoder);
    gpu.read(READBACK, 64 * 256).chunks_exact(4).map(|t| [t[0], t[1], t[2], t[3]]).collect()
}

fn at(texels: &[[u8; 4]], x: usize, y: usize) -> [u8; 4] {
    texels[y * 64 + x]
}

fn pipeline<'a>(label: &'a str, module: u32, targets: &'a [Option<ColorTarget>]) -> RenderPipelineDesc<'a> {
    RenderPipelineDesc {
        label,
        layout: bare_handle(0),
        vertex: ShaderStageDesc { module: bare_handle(module), entry: "vertex" },
        fragment: (!targets.is_empty())
            .then_some(ShaderStageDesc { module: bare_handle(module), entry: "fragment" }),
        vertex_buffers: &[],
        primitive: PrimitiveDesc::default(),
        depth_stencil: None,
        targets,
        multisample: MultisampleDesc::default(),
    }
}

fn draw(vertices: u32) -> Draw {
    Draw::Direct { vertices, instances: 1, first_vertex: 0, first_instance: 0 }
}

const TRIANGLE: &str = "
    struct Out { @builtin(position) position: vec4<f32>, @location(0) color: vec4<f32> }
    @vertex fn vertex(@location(0) position: vec2<f32>, @location(1) color: vec4<f32>) -> Out {
        return Out(vec4(position, 0.5, 1.0), color);
    }
    @fragment fn fragment(in: Out) -> @location(0) vec4<f32> { return in.color; }";

/// A quad over the upper half in two counterclockwise triangles, red, as four vertices of twelve bytes.
fn upper_half() -> Vec<u8> {
    let mut bytes = Vec::new();
    for [x, y] in [[-1.0f32, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]] {
        bytes.extend(x.to_le_bytes());
        bytes.extend(y.to_le_bytes());
        bytes.extend([255, 0, 0, 255]);
    }
    bytes
}

#[test]
fn clip_space_y_is_up_and_counterclockwise_is_front() {
    let Some(mut gpu) = open("orientation", Features::MULTI_DRAW_INDIRECT) else { return };
    target(&mut gpu);
    gpu.create_shader_module(0, &shader(TRIANGLE)).expect("module");
    gpu.create_pipeline_layout(0, "none", &[], 0).expect("pipeline layout");
    let attribute = |format, offset, shader_location| VertexAttribute { format, offset, shader_location };
    let attributes = [attribute(VertexFormat::Float32x2, 0, 0), attribute(VertexFormat::Unorm8x4, 8, 1)];
    let vertices = [VertexBufferLayout { stride: 12, step: VertexStepMode::Vertex, attributes: &attributes }];
    let targets = [Some(ColorTarget::from(COLOR))];
    for (slot, cull) in [(0, Face::Back), (1, Face::Front)] {
        let desc = RenderPipelineDesc {
            vertex_buffers: &vertices,
            primitive: PrimitiveDesc { cull: Some(cull), ..Default::default() },
            ..pipeline("triangle", 0, &targets)
        };
        gpu.create_render_pipeline(slot, &desc).expect("pipeline");
    }
    gpu.uploaded(1, &upper_half(), BufferUsages::VERTEX);
    let indices: Vec<u8> = [0u16, 1, 2, 0, 2, 3].iter().flat_map(|i| i.to_le_bytes()).collect();
    gpu.uploaded(2, &indices, BufferUsages::INDEX);
    // Two indexed draws of a triangle each.
    let arguments: Vec<u8> =
        [[3u32, 1, 0, 0, 0], [3, 1, 3, 0, 0]].as_flattened().iter().flat_map(|i| i.to_le_bytes()).collect();
    gpu.uploaded(3, &arguments, BufferUsages::INDIRECT);

    let direct =
        Draw::Indexed { indices: 6, instances: 1, first_index: 0, base_vertex: 0, first_instance: 0 };
    let indirect = Draw::IndexedIndirect { buffer: 3, offset: 0, count: 2, stride: 20 };
    for (pipeline, draw, covered) in [(0, direct, true), (0, indirect, true), (1, direct, false)] {
        let mut encoder = gpu.begin("orientation").expect("encoder");
        prepare(&mut encoder, &gpu);
        encoder.begin_render_pass(&gpu, &pass(&color(BLUE), None));
        let mut state = state();
        state.pipeline = pipeline;
        state.vertex_buffers.set(0, BoundBuffer { native: gpu.native_buffer(1), offset: 0, size: 48 });
        state.dirty_vertex_buffers = 1;
        state.index_buffer = BoundBuffer { native: gpu.native_buffer(2), offset: 0, size: 12 };
        encoder.draw(&gpu, FIRST_DRAW | Dirty::VERTEX_BUFFERS | Dirty::INDEX_BUFFER, &state, draw);
        encoder.end_render_pass(&gpu);
        let texels = texels(encoder, &mut gpu);
        let upper = if covered { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
        for (x, y) in [(0, 0), (63, 0), (0, 31), (63, 31)] {
            assert_eq!(at(&texels, x, y), upper, "{x}, {y} of {draw:?}");
        }
        for (x, y) in [(0, 32), (63, 32), (0, 63), (63, 63)] {
            assert_eq!(at(&texels, x, y), [0, 0, 255, 255], "{x}, {y} of {draw:?}");
        }
    }
}

const FULLSCREEN: &str = "
    @vertex fn vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
        return vec4(f32(i & 1) * 4.0 - 1.0, f32(i >> 1) * 4.0 - 1.0, 0.25, 1.0);
    }
    @fragment fn fragment() -> @location(0) vec4<f32> { return vec4(1.0); }";

#[test]
fn a_pass_finds_what_the_one_before_was_told() {
    let Some(mut gpu) = open("blend constant", Features::empty()) else { return };
    target(&mut gpu);
    gpu.create_shader_module(0, &shader(FULLSCREEN)).expect("module");
    gpu.create_pipeline_layout(0, "none", &[], 0).expect("pipeline layout");
    let component = BlendComponent {
        src_factor: BlendFactor::Constant,
        dst_factor: BlendFactor::One,
        operation: BlendOperation::Add,
    };
    let blend = Some(BlendState { color: component, alpha: component });
    let targets = [Some(ColorTarget { format: COLOR, blend, write_mask: ColorWrites::ALL })];
    gpu.create_render_pipeline(0, &pipeline("blend", 0, &targets)).expect("pipeline");

    let mut encoder = gpu.begin("blend").expect("encoder");
    prepare(&mut encoder, &gpu);
    let mut state = state();
    state.blend_constant = [0.0, 1.0, 0.0, 1.0];
    encoder.begin_render_pass(&gpu, &pass(&color(BLUE), None));
    encoder.draw(&gpu, FIRST_DRAW, &state, draw(3));
    encoder.end_render_pass(&gpu);
    let written = (DRAW.scope(), Layout::ColorAttachment);
    let again = (TextureUse::Color { load: true }.scope(), Layout::ColorAttachment);
    transition(&mut encoder, &gpu, TARGET, range(Aspects::COLOR), written, again);
    encoder.begin_render_pass(&gpu, &pass(&color(BLUE), None));
    encoder.draw(&gpu, Dirty::empty(), &state, draw(3));
    encoder.end_render_pass(&gpu);
    let texels = texels(encoder, &mut gpu);
    assert_eq!(at(&texels, 5, 5), [0, 255, 255, 255]);
}

const SAMPLE_DEPTH: &str = "
    @group(0) @binding(0) var depth: texture_depth_2d;
    @group(0) @binding(1) var nearest: sampler;
    @vertex fn vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
        return vec4(f32(i & 1) * 4.0 - 1.0, f32(i >> 1) * 4.0 - 1.0, 0.1, 1.0);
    }
    @fragment fn fragment(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
        return vec4(textureSample(depth, nearest, p.xy / 64.0), 1.0, 0.0, 1.0);
    }";

/// Writes depth 0.25 over the left half; then, in one pass, samples depth, tests against it read-only, and (where the
/// format has stencil) writes stencil 3 there; then draws where stencil is 3, read-only.
fn depth_and_stencil(format: TextureFormat, one_barrier: bool) {
    let Some(mut gpu) = open("depth", Features::empty()) else { return };
    if !gpu.format_uses(format).contains(FormatUses::DEPTH_STENCIL | FormatUses::SAMPLED) {
        return println!("depth: skipped: the adapter has no {format:?}");
    }
    let has_stencil = format.has_stencil_aspect();
    target(&mut gpu);
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    gpu.texture(1, &TextureDesc::d2("depth", 64, 64, format, usage));
    gpu.view(2, 1, format, TextureAspect::DepthOnly, false);
    gpu.create_sampler(0, &SamplerDesc::nearest("nearest")).expect("sampler");
    gpu.create_shader_module(0, &shader(FULLSCREEN)).expect("module");
    gpu.create_shader_module(1, &shader(SAMPLE_DEPTH)).expect("module");
    let texture = BindingType::Texture {
        sample_type: TextureSampleType::Depth,
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    };
    let sampler = BindingType::Sampler(SamplerBindingType::NonFiltering);
    let entries = [entry(0, ShaderStages::FRAGMENT, texture), entry(1, ShaderStages::FRAGMENT, sampler)];
    gpu.create_bind_group_layout(0, "depth", &entries).expect("layout");
    let bindings = [
        NativeBinding::Texture { view: 2, layout: Layout::DepthStencilReadOnly },
        NativeBinding::Sampler { sampler: 0 },
    ];
    gpu.create_bind_group(0, "depth", 0, &bindings).expect("group");
    gpu.create_pipeline_layout(0, "depth", &[0], 0).expect("pipeline layout");

    let stencil = |compare, pass_op| {
        let face = StencilFaceState { compare, pass_op, ..StencilFaceState::IGNORE };
        StencilState { front: face, back: face, read_mask: 0xff, write_mask: 0xff }
    };
    let targets = [Some(ColorTarget::from(COLOR))];
    let write = RenderPipelineDesc {
        depth_stencil: Some(DepthStencilDesc::depth(format, true, CompareFunction::Less)),
        ..pipeline("write depth", 0, &[])
    };
    gpu.create_render_pipeline(0, &write).expect("pipeline");
    let sample = RenderPipelineDesc {
        depth_stencil: Some(DepthStencilDesc {
            stencil: if has_stencil {
                stencil(CompareFunction::Always, StencilOperation::Replace)
            } else {
                StencilState::default()
            },
            ..DepthStencilDesc::depth(format, false, CompareFunction::Less)
        }),
        ..pipeline("sample depth", 1, &targets)
    };
    gpu.create_render_pipeline(1, &sample).expect("pipeline");
    let where_three = RenderPipelineDesc {
        depth_stencil: Some(DepthStencilDesc {
            stencil: stencil(CompareFunction::Equal, StencilOperation::Keep),
            ..DepthStencilDesc::depth(format, false, CompareFunction::Always)
        }),
        ..pipeline("where three", 0, &targets)
    };
    if has_stencil {
        gpu.create_render_pipeline(2, &where_three).expect("pipeline");
    }

    let all = Aspects::of(format, TextureAspect::All);
    let attached = |depth_load, depth_read_only, stencil_load, stencil_read_only| {
        Some(NativeDepthStencil {
            view: 1,
            depth: Some(NativeAspect { load: depth_load, store: StoreOp::Store, read_only: depth_read_only }),
            stencil: has_stencil.then_some(NativeAspect {
                load: stencil_load,
                store: StoreOp::Store,
                read_only: stencil_read_only,
            }),
        })
    };
    let written = |load| (TextureUse::DepthStencil { load }.scope(), Layout::DepthStencilAttachment);
    let tested = |stages| (TextureUse::DepthStencilReadOnly(stages).scope(), Layout::DepthStencilReadOnly);
    let nothing = (Scope::NONE, Layout::Undefined);

    let mut encoder = gpu.begin("depth").expect("encoder");
    if one_barrier {
        transition(&mut encoder, &gpu, 1, range(all), nothing, written(false));
    } else {
        for aspect in all.iter() {
            transition(&mut encoder, &gpu, 1, range(aspect), nothing, written(false));
        }
    }
    let clear = attached(NativeLoad::Clear(1.0), false, NativeLoad::Clear(0), false);
    encoder.begin_render_pass(&gpu, &pass(&[], clear));
    let mut state = state();
    state.groups[0].native = gpu.native_group(0);
    state.scissor = [0, 0, 32, 64];
    encoder.draw(&gpu, FIRST_DRAW, &state, draw(3));
    encoder.end_render_pass(&gpu);

    let read = tested(ShaderStages::FRAGMENT);
    transition(&mut encoder, &gpu, 1, range(Aspects::DEPTH), written(false), read);
    if has_stencil {
        transition(&mut encoder, &gpu, 1, range(Aspects::STENCIL), written(false), written(true));
    }
    prepare(&mut encoder, &gpu);
    let mixed = attached(NativeLoad::Load, true, NativeLoad::Load, false);
    encoder.begin_render_pass(&gpu, &pass(&color(BLUE), mixed));
    state.pipeline = 1;
    state.scissor = [0, 0, 64, 32];
    state.stencil_reference = 3;
    encoder.draw(&gpu, FIRST_DRAW | Dirty::GROUP0 | Dirty::STENCIL_REFERENCE, &state, draw(3));
    encoder.end_render_pass(&gpu);

    if has_stencil {
        let again = (TextureUse::Color { load: true }.scope(), Layout::ColorAttachment);
        let before = (DRAW.scope(), Layout::ColorAttachment);
        transition(&mut encoder, &gpu, TARGET, range(Aspects::COLOR), before, again);
        if one_barrier {
            // Both aspects go back to one layout, and then to another together.
            transition(&mut encoder, &gpu, 1, range(Aspects::DEPTH), read, written(true));
            let after = (written(true).0, written(true).1);
            transition(&mut encoder, &gpu, 1, range(all), after, tested(ShaderStages::NONE));
        } else {
            let after = tested(ShaderStages::NONE);
            transition(&mut encoder, &gpu, 1, range(Aspects::STENCIL), written(true), after);
        }
        let only = attached(NativeLoad::Load, true, NativeLoad::Load, true);
        encoder.begin_render_pass(&gpu, &pass(&color(NativeLoad::Load), only));
        state.pipeline = 2;
        state.scissor = [0, 0, 16, 64];
        encoder.draw(&gpu, FIRST_DRAW | Dirty::STENCIL_REFERENCE, &state, draw(3));
        encoder.end_render_pass(&gpu);
    }
    let texels = texels(encoder, &mut gpu);
    let near = |texel: [u8; 4], red: u8| texel[0].abs_diff(red) <= 1 && texel[1..] == [255, 0, 255];
    assert!(near(at(&texels, 20, 10), 64), "{:?}", at(&texels, 20, 10));
    assert!(near(at(&texels, 50, 10), 255), "{:?}", at(&texels, 50, 10));
    assert_eq!(at(&texels, 5, 50), [0, 0, 255, 255], "stencil is zero below");
    if has_stencil {
        assert_eq!(at(&texels, 5, 10), [255; 4], "stencil is three above");
    }
}

#[test]
fn depth_is_written_then_sampled_while_tested() {
    depth_and_stencil(TextureFormat::Depth32Float, true);
    depth_and_stencil(TextureFormat::Depth24Plus, false);
}

#[test]
fn depth_and_stencil_go_their_own_ways() {
    for format in [TextureFormat::Depth24PlusStencil8, TextureFormat::Depth32FloatStencil8] {
        depth_and_stencil(format, true);
        depth_and_stencil(format, false);
    }
}

#[test]
fn a_stencil_only_target_is_attached_without_depth() {
    let Some(mut gpu) = open("stencil", Features::empty()) else { return };
    let format = TextureFormat::Stencil8;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    gpu.texture(1, &TextureDesc::d2("stencil", 64, 64, format, usage));
    gpu.buffer(READBACK, 64 * 64, BufferUsages::COPY_DST, MemoryClass::Readback);
    let mut encoder = gpu.begin("stencil").expect("encoder");
    let written = (TextureUse::DepthStencil { load: false }.scope(), Layout::DepthStencilAttachment);
    let nothing = (Scope::NONE, Layout::Undefined);
    transition(&mut encoder, &gpu, 1, range(Aspects::STENCIL), nothing, written);
    let stencil = NativeAspect { load: NativeLoad::Clear(9), store: StoreOp::Store, read_only: false };
    let attachment = NativeDepthStencil { view: 1, depth: None, stencil: Some(stencil) };
    encoder.begin_render_pass(&gpu, &pass(&[], Some(attachment)));
    encoder.end_render_pass(&gpu);
    let source = (TextureUse::CopySrc.scope(), Layout::CopySrc);
    transition(&mut encoder, &gpu, 1, range(Aspects::STENCIL), written, source);
    let mut copy = whole(READBACK, 1, format);
    copy.bytes_per_row = 64;
    encoder.copy_texture_to_buffer(&gpu, &copy);
    memory(&mut encoder, &gpu, BufferUse::CopyDst, BufferUse::HostRead);
    gpu.finish(encoder);
    assert!(gpu.read(READBACK, 64 * 64).iter().all(|&value| value == 9));
}
