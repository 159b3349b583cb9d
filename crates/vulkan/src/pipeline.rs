//! Shader modules and pipelines.

use std::ffi::{CStr, CString};

use arrayvec::ArrayVec;
use ash::vk;
use purlin_rhi::backend::NativeResult;
use purlin_rhi::caps::Features;
use purlin_rhi::desc::{ColorTarget, ComputePipelineDesc, DepthStencilDesc, RenderPipelineDesc};
use purlin_rhi::error::BackendError;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{CompareFunction, PolygonMode, PrimitiveTopology, VertexStepMode};
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
        const CALL: &str = "vkCreateComputePipelines";
        let entry = entry_name(CALL, desc.compute.entry)?;
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(self.stage(vk::ShaderStageFlags::COMPUTE, desc.compute.module.slot(), &entry))
            .layout(self.pipeline_layouts.get(desc.layout.slot()).raw);
        // SAFETY: module and layout are live, and the layout was checked against the module's reflection.
        let made = unsafe { self.raw.create_compute_pipelines(self.pipeline_cache, &[info], None) };
        let raw = self.only_pipeline(CALL, made)?;
        self.name(raw, desc.label);
        self.compute_pipelines.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn new_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult {
        const CALL: &str = "vkCreateGraphicsPipelines";
        let vertex_entry = entry_name(CALL, desc.vertex.entry)?;
        let fragment_entry;
        let mut stages = ArrayVec::<_, 2>::new();
        stages.push(self.stage(vk::ShaderStageFlags::VERTEX, desc.vertex.module.slot(), &vertex_entry));
        if let Some(fragment) = &desc.fragment {
            fragment_entry = entry_name(CALL, fragment.entry)?;
            stages.push(self.stage(vk::ShaderStageFlags::FRAGMENT, fragment.module.slot(), &fragment_entry));
        }

        let mut bindings = SmallVec::<[vk::VertexInputBindingDescription; 8]>::new();
        let mut attributes = SmallVec::<[vk::VertexInputAttributeDescription; MAX_ATTRIBUTES]>::new();
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
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);

        let primitive = &desc.primitive;
        let strip =
            matches!(primitive.topology, PrimitiveTopology::LineStrip | PrimitiveTopology::TriangleStrip);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(convert::topology(primitive.topology))
            .primitive_restart_enable(strip && primitive.strip_index_format.is_some());
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let bias = desc.depth_stencil.as_ref().map(|state| state.bias).unwrap_or_default();
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .depth_clamp_enable(primitive.unclipped_depth)
            .polygon_mode(convert::polygon_mode(primitive.polygon_mode))
            .cull_mode(match primitive.cull {
                None => vk::CullModeFlags::NONE,
                Some(purlin_rhi::types::Face::Front) => vk::CullModeFlags::FRONT,
                Some(purlin_rhi::types::Face::Back) => vk::CullModeFlags::BACK,
            })
            .front_face(convert::front_face(primitive.front_face))
            .depth_bias_enable(bias.is_enabled())
            .depth_bias_constant_factor(bias.constant as f32)
            .depth_bias_slope_factor(bias.slope_scale)
            .depth_bias_clamp(bias.clamp)
            .line_width(1.0);
        debug_assert!(primitive.polygon_mode != PolygonMode::Point);

        let mask = [desc.multisample.mask];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(convert::samples(desc.multisample.count))
            .sample_mask(&mask)
            .alpha_to_coverage_enable(desc.multisample.alpha_to_coverage);
        let depth_stencil = desc.depth_stencil.as_ref().map(depth_stencil).unwrap_or_default();

        // Without independent blending all attachments must agree, and gaps take part in that.
        let independent = self.capabilities.features.contains(Features::INDEPENDENT_BLEND);
        let gap =
            desc.targets.iter().flatten().next().filter(|_| !independent).map(blend).unwrap_or_default();
        let mut formats = ArrayVec::<vk::Format, MAX_COLORS>::new();
        let mut blends = ArrayVec::<vk::PipelineColorBlendAttachmentState, MAX_COLORS>::new();
        for target in desc.targets {
            formats.push(match target {
                Some(target) => self.native_format(target.format)?,
                None => vk::Format::UNDEFINED,
            });
            blends.push(target.as_ref().map_or(gap, blend));
        }
        let color_blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);

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
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(depth_format)
            .stencil_attachment_format(stencil_format);
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
            .layout(self.pipeline_layouts.get(desc.layout.slot()).raw);
        // SAFETY: modules and layout are live, everything that `info` points to is on this stack, and the
        // description was validated against the limits and the modules' reflection.
        let made = unsafe { self.raw.create_graphics_pipelines(self.pipeline_cache, &[info], None) };
        let raw = self.only_pipeline(CALL, made)?;
        self.name(raw, desc.label);
        self.render_pipelines.insert(slot, raw);
        Ok(())
    }

    fn stage<'a>(
        &self,
        stage: vk::ShaderStageFlags,
        module: u32,
        entry: &'a CStr,
    ) -> vk::PipelineShaderStageCreateInfo<'a> {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(*self.shader_modules.get(module))
            .name(entry)
    }

    /// Takes the one pipeline of a call, or cleans up after it.
    fn only_pipeline(
        &self,
        call: &'static str,
        made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    ) -> Result<vk::Pipeline, BackendError> {
        match made {
            Ok(pipelines) => pipelines.first().copied().ok_or_else(|| BackendError::Failed {
                call,
                detail: "the driver made no pipeline and reported no error".into(),
            }),
            Err((pipelines, error)) => {
                for pipeline in pipelines {
                    // SAFETY: null, or made by the failed call and used by nobody.
                    unsafe { self.raw.destroy_pipeline(pipeline, None) };
                }
                Err(failed(call, error))
            }
        }
    }
}

fn entry_name(call: &'static str, name: &str) -> Result<CString, BackendError> {
    CString::new(name).map_err(|_| BackendError::Failed {
        call,
        detail: format!("the entry point name {name:?} contains a NUL"),
    })
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
