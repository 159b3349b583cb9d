//! Pipelines whose layouts come from the reflection of the entry points they use.

use std::num::NonZeroU32;

use purlin_rhi::backend::Backend;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{BindGroupLayoutEntry, BindingType};
use purlin_rhi::{
    BindGroupDesc, BindGroupEntry, BindGroupLayoutDesc, ColorTarget, ComputePipelineDesc, DepthStencilDesc,
    Device, MultisampleDesc, Owned, PipelineLayoutDesc, PrimitiveDesc, RenderPipelineDesc, ShaderStageDesc,
    VertexBufferLayout, kind,
};

use super::{Checked, wrong};

/// A module with the layout that some of its entry points need.
pub(crate) struct Program {
    /// The module.
    pub module: Owned<kind::ShaderModule>,
    /// The group layouts.
    pub groups: Vec<Owned<kind::BindGroupLayout>>,
    /// The pipeline layout.
    pub layout: Owned<kind::PipelineLayout>,
    name: &'static str,
}

/// The fixed state of a raster pipeline.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raster<'a> {
    /// Color targets.
    pub targets: &'a [Option<ColorTarget>],
    /// Depth and stencil.
    pub depth_stencil: Option<DepthStencilDesc>,
    /// Assembly and rasterization.
    pub primitive: PrimitiveDesc,
    /// Vertex buffers.
    pub vertex_buffers: &'a [VertexBufferLayout<'a>],
    /// Samples.
    pub multisample: MultisampleDesc,
}

impl Program {
    /// A layout without dynamic offsets.
    pub fn new<B: Backend>(
        device: &mut Device<B>,
        source: &'static ShaderSource,
        entries: &[&str],
    ) -> Checked<Self> {
        Self::with_dynamic(device, source, entries, &[])
    }

    /// A layout whose buffers at these groups and bindings have dynamic offsets.
    pub fn with_dynamic<B: Backend>(
        device: &mut Device<B>,
        source: &'static ShaderSource,
        entries: &[&str],
        dynamic: &[(u32, u32)],
    ) -> Checked<Self> {
        let mut layouts: Vec<Vec<BindGroupLayoutEntry>> = Vec::new();
        let mut immediate_size = 0;
        for name in entries {
            let entry =
                source.entry(name).ok_or_else(|| wrong(source.label, format!("entry {name}"), "none"))?;
            immediate_size = immediate_size.max(entry.immediate_size);
            for binding in entry.bindings {
                let index = binding.group as usize;
                layouts.resize_with(layouts.len().max(index + 1), Vec::new);
                let mut ty = binding.ty;
                if let BindingType::Buffer { has_dynamic_offset, .. } = &mut ty {
                    *has_dynamic_offset = dynamic.contains(&(binding.group, binding.binding));
                }
                match layouts[index].iter_mut().find(|other| other.binding == binding.binding) {
                    Some(other) => other.visibility |= entry.stage,
                    None => layouts[index].push(BindGroupLayoutEntry {
                        binding: binding.binding,
                        visibility: entry.stage,
                        ty,
                        count: NonZeroU32::new(binding.count),
                    }),
                }
            }
        }
        let module = device.create_shader_module(source)?;
        let mut groups = Vec::new();
        for entries in &layouts {
            groups.push(
                device.create_bind_group_layout(&BindGroupLayoutDesc { label: source.label, entries })?,
            );
        }
        let handles: Vec<_> = groups.iter().map(Owned::handle).collect();
        let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
            label: source.label,
            groups: &handles,
            immediate_size,
        })?;
        Ok(Self { module, groups, layout, name: source.label })
    }

    /// A compute pipeline.
    pub fn compute<B: Backend>(
        &self,
        device: &mut Device<B>,
        entry: &str,
    ) -> Checked<Owned<kind::ComputePipeline>> {
        let compute = ShaderStageDesc { module: *self.module, entry };
        Ok(device.create_compute_pipeline(&ComputePipelineDesc {
            label: entry,
            layout: *self.layout,
            compute,
        })?)
    }

    /// What a raster pipeline of these entry points would be created with.
    pub fn describe<'a>(
        &self,
        vertex: &'a str,
        fragment: Option<&'a str>,
        raster: &Raster<'a>,
    ) -> RenderPipelineDesc<'a> {
        RenderPipelineDesc {
            label: self.name,
            layout: *self.layout,
            vertex: ShaderStageDesc { module: *self.module, entry: vertex },
            fragment: fragment.map(|entry| ShaderStageDesc { module: *self.module, entry }),
            vertex_buffers: raster.vertex_buffers,
            primitive: raster.primitive,
            depth_stencil: raster.depth_stencil.clone(),
            targets: raster.targets,
            multisample: raster.multisample,
        }
    }

    /// A raster pipeline.
    pub fn raster<B: Backend>(
        &self,
        device: &mut Device<B>,
        vertex: &str,
        fragment: Option<&str>,
        raster: &Raster<'_>,
    ) -> Checked<Owned<kind::RenderPipeline>> {
        Ok(device.create_render_pipeline(&self.describe(vertex, fragment, raster))?)
    }

    /// A bind group.
    pub fn group<B: Backend>(
        &self,
        device: &mut Device<B>,
        index: usize,
        entries: &[BindGroupEntry<'_>],
    ) -> Checked<Owned<kind::BindGroup>> {
        let layout = *self.groups[index];
        Ok(device.create_bind_group(&BindGroupDesc { label: self.name, layout, entries })?)
    }
}
