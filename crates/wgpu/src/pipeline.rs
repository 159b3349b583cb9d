//! Shader modules and pipelines.

use purlin_rhi::backend::NativeResult;
use purlin_rhi::desc::{ComputePipelineDesc, DepthStencilDesc, RenderPipelineDesc};
use purlin_rhi::error::BackendError;
use purlin_rhi::shader::ShaderSource;
use smallvec::SmallVec;

use crate::device::Wgpu;

impl Wgpu {
    pub(crate) fn new_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult {
        const CALL: &str = "create_shader_module";
        if source.wgsl.is_empty() {
            return Err(BackendError::Failed {
                call: CALL,
                detail: format!("the shader package of \"{}\" has no WGSL target", source.label),
            });
        }
        let native = wgpu::ShaderModuleDescriptor {
            label: Some(source.label),
            source: wgpu::ShaderSource::Wgsl(source.wgsl.into()),
        };
        let make = || self.device.create_shader_module(native);
        let raw = self.errors.catch(&self.device, CALL, make)?;
        self.shader_modules.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn new_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult {
        let native = wgpu::ComputePipelineDescriptor {
            label: Some(desc.label),
            layout: Some(self.pipeline_layouts.get(desc.layout.slot())),
            module: self.shader_modules.get(desc.compute.module.slot()),
            entry_point: Some(desc.compute.entry),
            compilation_options: Default::default(),
            cache: None,
        };
        let make = || self.device.create_compute_pipeline(&native);
        let raw = self.errors.catch(&self.device, "create_compute_pipeline", make)?;
        self.compute_pipelines.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn new_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult {
        let buffers: SmallVec<[Option<wgpu::VertexBufferLayout<'_>>; 8]> = desc
            .vertex_buffers
            .iter()
            .map(|buffer| {
                Some(wgpu::VertexBufferLayout {
                    array_stride: buffer.stride,
                    step_mode: buffer.step,
                    attributes: buffer.attributes,
                })
            })
            .collect();
        let targets: SmallVec<[Option<wgpu::ColorTargetState>; 8]> = desc
            .targets
            .iter()
            .map(|target| {
                target.map(|target| wgpu::ColorTargetState {
                    format: target.format,
                    blend: target.blend,
                    write_mask: target.write_mask,
                })
            })
            .collect();
        let native = wgpu::RenderPipelineDescriptor {
            label: Some(desc.label),
            layout: Some(self.pipeline_layouts.get(desc.layout.slot())),
            vertex: wgpu::VertexState {
                module: self.shader_modules.get(desc.vertex.module.slot()),
                entry_point: Some(desc.vertex.entry),
                compilation_options: Default::default(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: desc.primitive.topology,
                strip_index_format: desc.primitive.strip_index_format,
                front_face: desc.primitive.front_face,
                cull_mode: desc.primitive.cull,
                unclipped_depth: desc.primitive.unclipped_depth,
                polygon_mode: desc.primitive.polygon_mode,
                conservative: false,
            },
            depth_stencil: desc.depth_stencil.as_ref().map(depth_stencil),
            multisample: wgpu::MultisampleState {
                count: desc.multisample.count,
                mask: u64::from(desc.multisample.mask),
                alpha_to_coverage_enabled: desc.multisample.alpha_to_coverage,
            },
            fragment: desc.fragment.as_ref().map(|stage| wgpu::FragmentState {
                module: self.shader_modules.get(stage.module.slot()),
                entry_point: Some(stage.entry),
                compilation_options: Default::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        };
        let make = || self.device.create_render_pipeline(&native);
        let raw = self.errors.catch(&self.device, "create_render_pipeline", make)?;
        drop(buffers);
        self.render_pipelines.insert(slot, raw);
        Ok(())
    }
}

fn depth_stencil(state: &DepthStencilDesc) -> wgpu::DepthStencilState {
    let has_depth = state.format.has_depth_aspect();
    wgpu::DepthStencilState {
        format: state.format,
        depth_write_enabled: has_depth.then_some(state.depth_write),
        depth_compare: has_depth.then_some(state.depth_compare),
        stencil: state.stencil.clone(),
        bias: state.bias,
    }
}
