//! Every pipeline with its whole fixed state, created before the first frame.

use std::mem::{offset_of, size_of};

use purlin::rhi::backend::Backend;
use purlin::rhi::shader::ShaderSource;
use purlin::rhi::types::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, CompareFunction, Face, TextureFormat,
    VertexAttribute, VertexFormat, VertexStepMode,
};
use purlin::rhi::{
    BindGroupLayout, ColorTarget, ComputePipelineDesc, DepthStencilDesc, Device, MultisampleDesc, Owned,
    PipelineLayoutDesc, PrimitiveDesc, RenderPipeline, RenderPipelineDesc, Result, ShaderStageDesc,
    VertexBufferLayout, kind,
};

use super::layouts::Layouts;
use super::{DEPTH_FORMAT, HDR_FORMAT};
use crate::scene::{GlyphQuad, GpuInstance, Vertex};
use crate::shaders::{bloom_down, bloom_up, cull, opaque, overlay, shadow, sky, tonemap, transparent};

type Raster = Owned<kind::RenderPipeline>;
type Compute = Owned<kind::ComputePipeline>;

/// The pipelines of the frame. A pair is for single-sided surfaces, then for double-sided ones.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub cull: Option<CullPipelines>,
    pub shadow: Raster,
    pub opaque: [Raster; 2],
    pub sky: Raster,
    pub transparent: [Raster; 2],
    pub prefilter: Raster,
    pub downsample: Raster,
    pub upsample: Raster,
    pub tonemap: Raster,
    pub overlay: Raster,
}

/// Culling on the GPU.
#[derive(Debug)]
pub(super) struct CullPipelines {
    pub reset: Compute,
    pub view: Compute,
}

impl Pipelines {
    pub fn new<B: Backend>(
        device: &mut Device<B>,
        layouts: &Layouts,
        picture: TextureFormat,
    ) -> Result<Self> {
        let surface = [*layouts.frame, *layouts.objects, *layouts.material];
        let (vertex, vertices): (_, &[VertexBufferLayout<'_>]) = match layouts.cull {
            Some(_) => (opaque::entries::VS_MAIN, &[VERTICES]),
            None => (opaque::entries::VS_DIRECT, &[VERTICES, TRANSFORMS]),
        };
        let sides = [Some(Face::Back), None];

        let opaque = sides.map(|cull| State {
            vertex,
            vertices,
            cull,
            depth: Some(DepthStencilDesc::depth(DEPTH_FORMAT, true, CompareFunction::Less)),
            ..State::color("opaque", HDR_FORMAT, opaque::entries::FS_MAIN)
        });
        let transparent = sides.map(|cull| State {
            vertex,
            vertices,
            cull,
            depth: Some(DepthStencilDesc::depth(DEPTH_FORMAT, false, CompareFunction::Less)),
            blend: Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING),
            ..State::color("transparent", HDR_FORMAT, transparent::entries::FS_MAIN)
        });
        let sky = State {
            depth: Some(DepthStencilDesc::depth(DEPTH_FORMAT, false, CompareFunction::LessEqual)),
            ..State::color("sky", HDR_FORMAT, sky::entries::FS_MAIN)
        };
        let prefilter = State::color("bloom prefilter", HDR_FORMAT, bloom_down::entries::FS_PREFILTER);
        let downsample = State::color("bloom downsample", HDR_FORMAT, bloom_down::entries::FS_MAIN);
        let upsample = State {
            blend: Some(BlendState { color: ADD, alpha: ADD }),
            ..State::color("bloom upsample", HDR_FORMAT, bloom_up::entries::FS_MAIN)
        };
        let tonemap = State::color("tonemap", picture, tonemap::entries::FS_MAIN);
        let overlay = State {
            vertices: &[QUADS],
            blend: Some(BlendState::ALPHA_BLENDING),
            cull: Some(Face::Back),
            ..State::color("overlay", picture, overlay::entries::FS_MAIN)
        };

        let mut maker = Maker { device };
        let cull = match &layouts.cull {
            Some(layouts) => Some(CullPipelines {
                reset: maker.compute("reset counters", cull::entries::CS_RESET, *layouts.reset)?,
                view: maker.compute("cull", cull::entries::CS_MAIN, *layouts.view)?,
            }),
            None => None,
        };
        Ok(Self {
            cull,
            shadow: maker.raster(
                &shadow::SHADER,
                &[*layouts.view, *layouts.objects],
                &shadow_state(vertex, vertices),
            )?,
            opaque: maker.pair(&opaque::SHADER, &surface, &opaque)?,
            sky: maker.raster(&sky::SHADER, &[*layouts.view], &sky)?,
            transparent: maker.pair(&transparent::SHADER, &surface, &transparent)?,
            prefilter: maker.raster(&bloom_down::SHADER, &[*layouts.prefilter], &prefilter)?,
            downsample: maker.raster(&bloom_down::SHADER, &[*layouts.filter], &downsample)?,
            upsample: maker.raster(&bloom_up::SHADER, &[*layouts.filter], &upsample)?,
            tonemap: maker.raster(&tonemap::SHADER, &[*layouts.tonemap], &tonemap)?,
            overlay: maker.raster(&overlay::SHADER, &[*layouts.overlay], &overlay)?,
        })
    }
}

/// What differs between the raster pipelines. All draw triangle lists.
#[derive(Debug, Clone)]
struct State<'a> {
    label: &'a str,
    vertex: &'a str,
    fragment: Option<&'a str>,
    vertices: &'a [VertexBufferLayout<'a>],
    cull: Option<Face>,
    depth: Option<DepthStencilDesc>,
    target: Option<TextureFormat>,
    blend: Option<BlendState>,
}

impl<'a> State<'a> {
    /// Replaces a color target, without vertices and depth.
    fn color(label: &'a str, target: TextureFormat, fragment: &'a str) -> Self {
        Self {
            label,
            vertex: "vs_main",
            fragment: Some(fragment),
            vertices: &[],
            cull: None,
            depth: None,
            target: Some(target),
            blend: None,
        }
    }
}

/// Both sides of a caster throw its shadow, so that open meshes do too; the bias grows with the slope to the sun.
fn shadow_state<'a>(vertex: &'a str, vertices: &'a [VertexBufferLayout<'a>]) -> State<'a> {
    let mut depth = DepthStencilDesc::depth(DEPTH_FORMAT, true, CompareFunction::Less);
    depth.bias.slope_scale = 1.5;
    State {
        label: "shadow",
        vertex,
        fragment: None,
        vertices,
        cull: None,
        depth: Some(depth),
        target: None,
        blend: None,
    }
}

const ADD: BlendComponent = BlendComponent {
    src_factor: BlendFactor::One,
    dst_factor: BlendFactor::One,
    operation: BlendOperation::Add,
};

const fn attribute(shader_location: u32, offset: usize, format: VertexFormat) -> VertexAttribute {
    VertexAttribute { shader_location, offset: offset as u64, format }
}

const VERTICES: VertexBufferLayout<'static> = VertexBufferLayout {
    stride: size_of::<Vertex>() as u64,
    step: VertexStepMode::Vertex,
    attributes: &[
        attribute(0, offset_of!(Vertex, position), VertexFormat::Float32x3),
        attribute(1, offset_of!(Vertex, normal), VertexFormat::Float32x3),
        attribute(2, offset_of!(Vertex, tangent), VertexFormat::Float32x4),
        attribute(3, offset_of!(Vertex, uv), VertexFormat::Float32x2),
        attribute(4, offset_of!(Vertex, color), VertexFormat::Unorm8x4),
    ],
};

const TRANSFORMS: VertexBufferLayout<'static> = VertexBufferLayout {
    stride: size_of::<GpuInstance>() as u64,
    step: VertexStepMode::Instance,
    attributes: &[
        attribute(5, offset_of!(GpuInstance, model), VertexFormat::Float32x4),
        attribute(6, offset_of!(GpuInstance, model) + 16, VertexFormat::Float32x4),
        attribute(7, offset_of!(GpuInstance, model) + 32, VertexFormat::Float32x4),
        attribute(8, offset_of!(GpuInstance, model) + 48, VertexFormat::Float32x4),
    ],
};

const QUADS: VertexBufferLayout<'static> = VertexBufferLayout {
    stride: size_of::<GlyphQuad>() as u64,
    step: VertexStepMode::Instance,
    attributes: &[
        attribute(0, offset_of!(GlyphQuad, position), VertexFormat::Float32x2),
        attribute(1, offset_of!(GlyphQuad, size), VertexFormat::Float32x2),
        attribute(2, offset_of!(GlyphQuad, uv), VertexFormat::Float32x4),
        attribute(3, offset_of!(GlyphQuad, color), VertexFormat::Unorm8x4),
    ],
};

struct Maker<'d, B: Backend> {
    device: &'d mut Device<B>,
}

impl<B: Backend> Maker<'_, B> {
    // Modules and pipeline layouts are dropped at the end of each call: the pipeline keeps what it needs of them.
    fn layout(&mut self, label: &str, groups: &[BindGroupLayout]) -> Result<Owned<kind::PipelineLayout>> {
        self.device.create_pipeline_layout(&PipelineLayoutDesc { label, groups, immediate_size: 0 })
    }

    fn compute(&mut self, label: &str, entry: &str, group: BindGroupLayout) -> Result<Compute> {
        let module = self.device.create_shader_module(&cull::SHADER)?;
        let layout = self.layout(label, &[group])?;
        let compute = ShaderStageDesc { module: *module, entry };
        self.device.create_compute_pipeline(&ComputePipelineDesc { label, layout: *layout, compute })
    }

    fn pair(
        &mut self,
        source: &ShaderSource,
        groups: &[BindGroupLayout],
        states: &[State<'_>; 2],
    ) -> Result<[Raster; 2]> {
        let [single, double] = states;
        Ok([self.raster(source, groups, single)?, self.raster(source, groups, double)?])
    }

    fn raster(
        &mut self,
        source: &ShaderSource,
        groups: &[BindGroupLayout],
        state: &State<'_>,
    ) -> Result<Raster> {
        let module = self.device.create_shader_module(source)?;
        let layout = self.layout(state.label, groups)?;
        let color = |format: TextureFormat| Some(ColorTarget { blend: state.blend, ..format.into() });
        self.device.create_render_pipeline(&RenderPipelineDesc {
            label: state.label,
            layout: *layout,
            vertex: ShaderStageDesc { module: *module, entry: state.vertex },
            fragment: state.fragment.map(|entry| ShaderStageDesc { module: *module, entry }),
            vertex_buffers: state.vertices,
            primitive: PrimitiveDesc { cull: state.cull, ..Default::default() },
            depth_stencil: state.depth.clone(),
            targets: state.target.map(color).as_slice(),
            multisample: MultisampleDesc::default(),
        })
    }
}

/// The handles of a pair.
pub(super) fn sides(pair: &[Raster; 2]) -> [RenderPipeline; 2] {
    pair.each_ref().map(|pipeline| **pipeline)
}
