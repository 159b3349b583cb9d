//! Shader modules and pipelines.

use std::borrow::Cow;

use purlin_rhi::backend::NativeResult;
use purlin_rhi::desc::{
    ComputePipelineDesc, DepthStencilDesc, RenderPipelineDesc, ShaderStageDesc, VertexBufferLayout,
};
use purlin_rhi::error::BackendError;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{VertexAttribute, VertexFormat, VertexStepMode};
use smallvec::SmallVec;

use crate::device::Wgpu;
use crate::{adapter, wgsl};

const CREATE_MODULE: &str = "create_shader_module";

/// A module, or its text while the group of its immediates is not known.
#[derive(Debug)]
pub(crate) struct ShaderModule {
    pub source: ShaderSource,
    raw: Option<wgpu::ShaderModule>,
    /// The module for each group that stood for its immediates.
    variants: SmallVec<[(u32, wgpu::ShaderModule); 1]>,
    /// Uniforms that OpenGL would read wrongly.
    narrow: Vec<String>,
}

/// A raster pipeline.
#[derive(Debug)]
pub(crate) struct RenderPipeline {
    pub raw: wgpu::RenderPipeline,
    /// Bytes from vertex to vertex for each buffer, zero where a buffer advances by instance. Only where draws have no base
    /// vertex, and not when the shader would notice that the vertices moved.
    pub strides: Option<SmallVec<[u64; 8]>>,
}

impl Wgpu {
    pub(crate) fn new_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult {
        if source.wgsl.is_empty() {
            return Err(BackendError::Failed {
                call: CREATE_MODULE,
                detail: format!("the shader package of \"{}\" has no WGSL target", source.label),
            });
        }
        let later = adapter::emulates_immediates(self.native) && wgsl::has_immediates(source.wgsl);
        let raw = if later { None } else { Some(self.compile(source.label, source.wgsl.into())?) };
        let gl = self.native == wgpu::Backend::Gl;
        let module = ShaderModule {
            source: *source,
            raw,
            variants: SmallVec::new(),
            narrow: if gl { wgsl::narrow_uniforms(source.wgsl) } else { Vec::new() },
        };
        self.shader_modules.insert(slot, module);
        Ok(())
    }

    fn compile(&self, label: &str, wgsl: Cow<'_, str>) -> Result<wgpu::ShaderModule, BackendError> {
        let native =
            wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(wgsl) };
        self.errors.catch(&self.device, CREATE_MODULE, || self.device.create_shader_module(native))
    }

    /// A stage's module, as this layout needs it.
    fn stage(
        &mut self,
        stage: &ShaderStageDesc<'_>,
        layout: u32,
    ) -> Result<wgpu::ShaderModule, BackendError> {
        let slot = stage.module.slot();
        let module = self.shader_modules.get(slot);
        let entry = module.source.entry(stage.entry);
        let narrow = entry.and_then(|entry| {
            entry.bindings.iter().find(|binding| module.narrow.iter().any(|name| name == binding.name))
        });
        if let Some(binding) = narrow {
            return Err(BackendError::Unsupported {
                capability: "matCx2 in uniform buffers",
                detail: format!(
                    "\"{}\" of shader \"{}\": naga's GLSL lays its columns 16 bytes apart (gfx-rs/wgpu#4371)",
                    binding.name, module.source.label
                ),
            });
        }
        if let Some(raw) = &module.raw {
            return Ok(raw.clone());
        }
        // A layout without immediates belongs to an entry point that reads none.
        let group = self.pipeline_layouts.get(layout).immediates.unwrap_or(0);
        if let Some((_, raw)) = module.variants.iter().find(|(other, _)| *other == group) {
            return Ok(raw.clone());
        }
        let text = wgsl::with_uniform_immediates(module.source.wgsl, group);
        let raw = self.compile(module.source.label, text.into())?;
        if let Some(module) = self.shader_modules.get_mut(slot) {
            module.variants.push((group, raw.clone()));
        }
        Ok(raw)
    }

    pub(crate) fn new_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult {
        let module = self.stage(&desc.compute, desc.layout.slot())?;
        let layout = self.layout_of(desc.layout.slot(), desc.label, std::iter::once(desc.compute))?;
        let native = wgpu::ComputePipelineDescriptor {
            label: Some(desc.label),
            layout: Some(&layout),
            module: &module,
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
        if self.native == wgpu::Backend::Gl && cfg!(target_arch = "wasm32") {
            check_vertices(desc.vertex_buffers)?;
        }
        if let Some(state) = &desc.depth_stencil
            && state.bias.clamp != 0.0
            && !self.bias_clamp
        {
            return Err(BackendError::Unsupported {
                capability: "a limit of the depth bias",
                detail: format!("a clamp of {}", state.bias.clamp),
            });
        }
        let vertex = self.stage(&desc.vertex, desc.layout.slot())?;
        let fragment =
            desc.fragment.as_ref().map(|stage| self.stage(stage, desc.layout.slot())).transpose()?;
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
        let stages = std::iter::once(desc.vertex).chain(desc.fragment);
        let layout = self.layout_of(desc.layout.slot(), desc.label, stages)?;
        let native = wgpu::RenderPipelineDescriptor {
            label: Some(desc.label),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &vertex,
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
            fragment: desc.fragment.as_ref().zip(fragment.as_ref()).map(|(stage, module)| {
                wgpu::FragmentState {
                    module,
                    entry_point: Some(stage.entry),
                    compilation_options: Default::default(),
                    targets: &targets,
                }
            }),
            multiview_mask: None,
            cache: None,
        };
        let make = || self.device.create_render_pipeline(&native);
        let raw = self.errors.catch(&self.device, "create_render_pipeline", make)?;
        let source = self.shader_modules.get(desc.vertex.module.slot()).source;
        let moves = !self.base_vertex && !wgsl::asks_for_vertex_index(source.wgsl, desc.vertex.entry);
        let strides = moves.then(|| {
            let stride = |buffer: &VertexBufferLayout<'_>| match buffer.step {
                VertexStepMode::Vertex => buffer.stride,
                VertexStepMode::Instance => 0,
            };
            desc.vertex_buffers.iter().map(stride).collect()
        });
        self.render_pipelines.insert(slot, RenderPipeline { raw, strides });
        Ok(())
    }
}

/// What WebGL 2 would read otherwise than the others.
fn check_vertices(buffers: &[VertexBufferLayout<'_>]) -> NativeResult {
    for (at, buffer) in buffers.iter().enumerate() {
        if buffer.stride == 0 {
            return Err(BackendError::Unsupported {
                capability: "vertex stride 0",
                detail: format!("vertex buffer {at}: WebGL 2 takes a stride of zero for tightly packed"),
            });
        }
        let bgra = |attribute: &&VertexAttribute| attribute.format == VertexFormat::Unorm8x4Bgra;
        if let Some(attribute) = buffer.attributes.iter().find(bgra) {
            return Err(BackendError::Unsupported {
                capability: "vertex format Unorm8x4Bgra",
                detail: format!("vertex buffer {at}, location {}", attribute.shader_location),
            });
        }
    }
    Ok(())
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
