//! Bind group layouts, bind groups and pipeline layouts.

use purlin_rhi::backend::{NativeBinding, NativeResult};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::BindGroupLayoutEntry;
use smallvec::SmallVec;

use crate::adapter;
use crate::device::Wgpu;

/// A layout with the binding numbers of its entries, sorted.
#[derive(Debug)]
pub(crate) struct GroupLayout {
    pub raw: wgpu::BindGroupLayout,
    bindings: Box<[u32]>,
}

/// A pipeline layout.
#[derive(Debug)]
pub(crate) struct PipelineLayout {
    pub raw: wgpu::PipelineLayout,
    /// The group that stands for immediates.
    pub immediates: Option<u32>,
}

impl Wgpu {
    pub(crate) fn new_group_layout(
        &mut self,
        slot: u32,
        label: &str,
        entries: &[BindGroupLayoutEntry],
    ) -> NativeResult {
        let native = wgpu::BindGroupLayoutDescriptor { label: Some(label), entries };
        let make = || self.device.create_bind_group_layout(&native);
        let raw = self.errors.catch(&self.device, "create_bind_group_layout", make)?;
        let bindings = entries.iter().map(|entry| entry.binding).collect();
        self.group_layouts.insert(slot, GroupLayout { raw, bindings });
        Ok(())
    }

    pub(crate) fn new_group(
        &mut self,
        slot: u32,
        label: &str,
        layout: u32,
        bindings: &[NativeBinding],
    ) -> NativeResult {
        let layout = self.group_layouts.get(layout);
        let entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = layout
            .bindings
            .iter()
            .zip(bindings)
            .map(|(&binding, resource)| wgpu::BindGroupEntry { binding, resource: self.resource(resource) })
            .collect();
        let native = wgpu::BindGroupDescriptor { label: Some(label), layout: &layout.raw, entries: &entries };
        let make = || self.device.create_bind_group(&native);
        let raw = self.errors.catch(&self.device, "create_bind_group", make)?;
        drop(entries);
        self.groups.insert(slot, raw);
        Ok(())
    }

    fn resource(&self, binding: &NativeBinding) -> wgpu::BindingResource<'_> {
        match *binding {
            NativeBinding::Buffer { buffer, offset, size } => {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &self.buffers.get(buffer).raw,
                    offset,
                    size: wgpu::BufferSize::new(size),
                })
            }
            NativeBinding::Texture { view, .. } => wgpu::BindingResource::TextureView(self.views.get(view)),
            NativeBinding::Sampler { sampler } => wgpu::BindingResource::Sampler(self.samplers.get(sampler)),
        }
    }

    pub(crate) fn new_pipeline_layout(
        &mut self,
        slot: u32,
        label: &str,
        groups: &[u32],
        immediate_size: u32,
    ) -> NativeResult {
        let mut groups: SmallVec<[Option<&wgpu::BindGroupLayout>; 4]> =
            groups.iter().map(|&group| Some(&self.group_layouts.get(group).raw)).collect();
        let emulated = immediate_size > 0 && adapter::emulates_immediates(self.native);
        let immediates = emulated.then_some(groups.len() as u32);
        if let Some(group) = immediates {
            let most = self.device.limits().max_bind_groups;
            if group >= most {
                return Err(BackendError::Unsupported {
                    capability: "a bind group for immediates",
                    detail: format!("the layout names {group} groups of {most}, and immediates take one"),
                });
            }
            groups.push(Some(self.immediates.layout(&self.device)));
        }
        let native = wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &groups,
            immediate_size: if emulated { 0 } else { immediate_size },
        };
        let make = || self.device.create_pipeline_layout(&native);
        let raw = self.errors.catch(&self.device, "create_pipeline_layout", make)?;
        drop(groups);
        self.pipeline_layouts.insert(slot, PipelineLayout { raw, immediates });
        Ok(())
    }
}
