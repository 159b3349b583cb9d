//! Shader modules and pipelines.
//!
//! A pipeline is compiled in two steps: its state is gathered from the description and the tables, and owned; then it is
//! compiled from the state alone, at once or by a job on another thread.

use std::ffi::CString;

use arrayvec::ArrayVec;
use ash::vk;
use purlin_rhi::backend::{NativeResult, PipelineJob};
use purlin_rhi::caps::Features;
use purlin_rhi::desc::{
    ColorTarget, ComputePipelineDesc, DepthStencilDesc, MultisampleDesc, PrimitiveDesc, RenderPipelineDesc,
    ShaderStageDesc,
};
use purlin_rhi::error::BackendError;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{CompareFunction, Face, PolygonMode, PrimitiveTopology, VertexStepMode};
use smallvec::SmallVec;

use crate::adapter::{MAX_ATTRIBUTES, MAX_COLORS};
use crate::convert;
use crate::device::Vulkan;
use crate::memory::failed;

/// State that passes set; all else is fixed in the pipeline.
const DYNAMIC: [vk::DynamicState; 4] = [
    vk::DynamicState::VIEWPORT,
    vk::DynamicState::SCISSOR,
    vk::DynamicState::BLEND_CONSTANTS,
    vk::DynamicState::STENCIL_REFERENCE,
];

const COMPUTE: &str = "vkCreateComputePipelines";
const GRAPHICS: &str = "vkCreateGraphicsPipelines";

impl Vulkan {
    pub(crate) fn new_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult {
        const CALL: &str = "vkCreateShaderModule";
        if source.spirv.is_empty() {
            return Err(BackendError::Failed {
                call: CALL,
                detail: format!("the shader package of \"{}\" has no SPIR-V target", source.label),
            });
        }
        let info = vk::ShaderModuleCreateInfo::default().code(source.spirv);
        // SAFETY: the package holds SPIR-V that the offline compiler validated for this target.
        let raw =
            unsafe { self.raw.create_shader_module(&info, None) }.map_err(|error| failed(CALL, error))?;
        self.name(raw, source.label);
        self.shader_modules.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn new_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult {
        let made = self.compute_state(desc)?.compile(&self.raw, self.pipeline_cache)?;
        self.put_compute_pipeline(slot, desc.label, made);
        Ok(())
    }

    pub(crate) fn new_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult {
        let made = self.render_state(desc)?.compile(&self.raw, self.pipeline_cache)?;
        self.put_render_pipeline(slot, desc.label, made);
        Ok(())
    }

    pub(crate) fn compute_job(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<PipelineJob<CompiledPipeline>, BackendError> {
        let (state, device, cache) = (self.compute_state(desc)?, self.raw.clone(), self.pipeline_cache);
        Ok(Box::new(move || state.compile(&device, cache)))
    }

    pub(crate) fn render_job(
        &self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<PipelineJob<CompiledPipeline>, BackendError> {
        let (state, device, cache) = (self.render_state(desc)?, self.raw.clone(), self.pipeline_cache);
        Ok(Box::new(move || state.compile(&device, cache)))
    }

    pub(crate) fn put_compute_pipeline(&mut self, slot: u32, label: &str, made: CompiledPipeline) {
        self.name(made.0, label);
        self.compute_pipelines.insert(slot, made.0);
    }

    pub(crate) fn put_render_pipeline(&mut self, slot: u32, label: &str, made: CompiledPipeline) {
        self.name(made.0, label);
        self.render_pipelines.insert(slot, made.0);
    }

    pub(crate) fn drop_compiled(&mut self, made: CompiledPipeline) {
        // SAFETY: a job made it, and it was never in a slot, so nothing uses it.
        unsafe { self.raw.destroy_pipeline(made.0, None) };
    }

    fn compute_state(&self, desc: &ComputePipelineDesc<'_>) -> Result<ComputeState, BackendError> {
        Ok(ComputeState {
            stage: self.stage(COMPUTE, vk::ShaderStageFlags::COMPUTE, &desc.compute)?,
            layout: self.pipeline_layouts.get(desc.layout.slot()).raw,
        })
    }

    fn render_state(&self, desc: &RenderPipelineDesc<'_>) -> Result<RenderState, BackendError> {
        let mut stages = ArrayVec::new();
        stages.push(self.stage(GRAPHICS, vk::ShaderStageFlags::VERTEX, &desc.vertex)?);
        if let Some(fragment) = &desc.fragment {
            stages.push(self.stage(GRAPHICS, vk::ShaderStageFlags::FRAGMENT, fragment)?);
        }

        let mut bindings = SmallVec::new();
        let mut attributes = SmallVec::new();
        for (binding, buffer) in (0..).zip(desc.vertex_buffers) {
            bindings.push(vk::VertexInputBindingDescription {
                binding,
                stride: buffer.stride as u32,
                input_rate: match buffer.step {
                    VertexStepMode::Vertex => vk::VertexInputRate::VERTEX,
                    VertexStepMode::Instance => vk::VertexInputRate::INSTANCE,
                },
            });
            for attribute in buffer.attributes {
                attributes.push(vk::VertexInputAttributeDescription {
                    location: attribute.shader_location,
                    binding,
                    format: convert::vertex_format(attribute.format),
                    offset: attribute.offset as u32,
                });
            }
        }

        // Without independent blending all attachments must agree, and gaps take part in that.
        let independent = self.capabilities.features.contains(Features::INDEPENDENT_BLEND);
        let gap =
            desc.targets.iter().flatten().next().filter(|_| !independent).map(blend).unwrap_or_default();
        let mut formats = ArrayVec::new();
        let mut blends = ArrayVec::new();
        for target in desc.targets {
            formats.push(match target {
                Some(target) => self.native_format(target.format)?,
                None => vk::Format::UNDEFINED,
            });
            blends.push(target.as_ref().map_or(gap, blend));
        }

        let (mut depth_format, mut stencil_format) = (vk::Format::UNDEFINED, vk::Format::UNDEFINED);
        if let Some(state) = &desc.depth_stencil {
            let native = self.native_format(state.format)?;
            if state.format.has_depth_aspect() {
                depth_format = native;
            }
            if state.format.has_stencil_aspect() {
                stencil_format = native;
            }
        }
        Ok(RenderState {
            stages,
            bindings,
            attributes,
            primitive: desc.primitive,
            multisample: desc.multisample,
            depth_stencil: desc.depth_stencil.clone(),
            formats,
            blends,
            depth_format,
            stencil_format,
            layout: self.pipeline_layouts.get(desc.layout.slot()).raw,
        })
    }

    fn stage(
        &self,
        call: &'static str,
        flags: vk::ShaderStageFlags,
        desc: &ShaderStageDesc<'_>,
    ) -> Result<Stage, BackendError> {
        let entry = CString::new(desc.entry).map_err(|_| BackendError::Failed {
            call,
            detail: format!("the entry point name {:?} contains a NUL", desc.entry),
        })?;
        Ok(Stage { flags, module: *self.shader_modules.get(desc.module.slot()), entry })
    }
}

/// A native pipeline that is in no slot yet.
#[derive(Debug)]
pub struct CompiledPipeline(vk::Pipeline);

/// A stage with its entry point's name, owned.
struct Stage {
    flags: vk::ShaderStageFlags,
    module: vk::ShaderModule,
    entry: CString,
}

impl Stage {
    fn info(&self) -> vk::PipelineShaderStageCreateInfo<'_> {
        vk::PipelineShaderStageCreateInfo::default().stage(self.flags).module(self.module).name(&self.entry)
    }
}

/// What a compute pipeline is compiled from, on any thread: module and layout are kept until that has happened.
struct ComputeState {
    stage: Stage,
    layout: vk::PipelineLayout,
}

impl ComputeState {
    fn compile(
        &self,
        device: &ash::Device,
        cache: vk::PipelineCache,
    ) -> Result<CompiledPipeline, BackendError> {
        let info = vk::ComputePipelineCreateInfo::default().stage(self.stage.info()).layout(self.layout);
        // SAFETY: module and layout exist, and the layout was checked against the module's reflection. The cache
        // synchronizes itself.
        let made = unsafe { device.create_compute_pipelines(cache, &[info], None) };
        only_pipeline(device, COMPUTE, made)
    }
}

/// What a raster pipeline is compiled from, on any thread: modules and layout are kept until that has happened.
struct RenderState {
    stages: ArrayVec<Stage, 2>,
    bindings: SmallVec<[vk::VertexInputBindingDescription; 8]>,
    attributes: SmallVec<[vk::VertexInputAttributeDescription; MAX_ATTRIBUTES]>,
    primitive: PrimitiveDesc,
    multisample: MultisampleDesc,
    depth_stencil: Option<DepthStencilDesc>,
    formats: ArrayVec<vk::Format, MAX_COLORS>,
    blends: ArrayVec<vk::PipelineColorBlendAttachmentState, MAX_COLORS>,
    depth_format: vk::Format,
    stencil_format: vk::Format,
    layout: vk::PipelineLayout,
}

impl RenderState {
    fn compile(
        &self,
        device: &ash::Device,
        cache: vk::PipelineCache,
    ) -> Result<CompiledPipeline, BackendError> {
        let stages: ArrayVec<_, 2> = self.stages.iter().map(Stage::info).collect();
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&self.bindings)
            .vertex_attribute_descriptions(&self.attributes);
        let primitive = &self.primitive;
        let strip =
            matches!(primitive.topology, PrimitiveTopology::LineStrip | PrimitiveTopology::TriangleStrip);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(convert::topology(primitive.topology))
            .primitive_restart_enable(strip && primitive.strip_index_format.is_some());
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let bias = self.depth_stencil.as_ref().map(|state| state.bias).unwrap_or_default();
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .depth_clamp_enable(primitive.unclipped_depth)
            .polygon_mode(convert::polygon_mode(primitive.polygon_mode))
            .cull_mode(match primitive.cull {
                None => vk::CullModeFlags::NONE,
                Some(Face::Front) => vk::CullModeFlags::FRONT,
                Some(Face::Back) => vk::CullModeFlags::BACK,
            })
            .front_face(convert::front_face(primitive.front_face))
            .depth_bias_enable(bias.is_enabled())
            .depth_bias_constant_factor(bias.constant as f32)
            .depth_bias_slope_factor(bias.slope_scale)
            .depth_bias_clamp(bias.clamp)
            .line_width(1.0);
        debug_assert!(primitive.polygon_mode != PolygonMode::Point);
        let mask = [self.multisample.mask];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(convert::samples(self.multisample.count))
            .sample_mask(&mask)
            .alpha_to_coverage_enable(self.multisample.alpha_to_coverage);
        let depth_stencil = self.depth_stencil.as_ref().map(depth_stencil).unwrap_or_default();
        let color_blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&self.blends);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&self.formats)
            .depth_attachment_format(self.depth_format)
            .stencil_attachment_format(self.stencil_format);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&DYNAMIC);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .push_next(&mut rendering)
            .stages(&stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth_stencil)
            .color_blend_state(&color_blend)
            .dynamic_state(&dynamic)
            .layout(self.layout);
        // SAFETY: modules and layout exist, everything that `info` points to is on this stack or in `self`, and the
        // description was validated against the limits and the modules' reflection. The cache synchronizes itself.
        let made = unsafe { device.create_graphics_pipelines(cache, &[info], None) };
        only_pipeline(device, GRAPHICS, made)
    }
}

/// Takes the one pipeline of a call, or cleans up after it.
fn only_pipeline(
    device: &ash::Device,
    call: &'static str,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
) -> Result<CompiledPipeline, BackendError> {
    match made {
        Ok(pipelines) => pipelines.first().copied().map(CompiledPipeline).ok_or_else(|| {
            BackendError::Failed { call, detail: "the driver made no pipeline and reported no error".into() }
        }),
        Err((pipelines, error)) => {
            for pipeline in pipelines {
                // SAFETY: null, or made by the failed call and used by nobody.
                unsafe { device.destroy_pipeline(pipeline, None) };
            }
            Err(failed(call, error))
        }
    }
}

fn depth_stencil(state: &DepthStencilDesc) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    let has_depth = state.format.has_depth_aspect();
    let tests = state.depth_write || state.depth_compare != CompareFunction::Always;
    let stencil = &state.stencil;
    vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(has_depth && tests)
        .depth_write_enable(has_depth && state.depth_write)
        .depth_compare_op(convert::compare(state.depth_compare))
        .stencil_test_enable(state.format.has_stencil_aspect() && stencil.is_enabled())
        .front(convert::stencil_face(&stencil.front, stencil.read_mask, stencil.write_mask))
        .back(convert::stencil_face(&stencil.back, stencil.read_mask, stencil.write_mask))
}

fn blend(target: &ColorTarget) -> vk::PipelineColorBlendAttachmentState {
    let mut state = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(convert::color_writes(target.write_mask));
    if let Some(blend) = &target.blend {
        let (color_op, src_color, dst_color) = convert::blend(blend.color);
        let (alpha_op, src_alpha, dst_alpha) = convert::blend(blend.alpha);
        state = state
            .blend_enable(true)
            .color_blend_op(color_op)
            .src_color_blend_factor(src_color)
            .dst_color_blend_factor(dst_color)
            .alpha_blend_op(alpha_op)
            .src_alpha_blend_factor(src_alpha)
            .dst_alpha_blend_factor(dst_alpha);
    }
    state
}
