//! Bind group layouts, bind groups and pipeline layouts.

use std::num::NonZeroU32;

use purlin_rhi::backend::{NativeBinding, NativeResult};
use purlin_rhi::desc::ShaderStageDesc;
use purlin_rhi::error::BackendError;
use purlin_rhi::types::{BindGroupLayoutEntry, BindingType, BufferBindingType};
use smallvec::SmallVec;

use crate::adapter;
use crate::device::Wgpu;

/// A layout with the binding numbers of its entries, sorted, and the elements of those that are arrays.
#[derive(Debug)]
pub(crate) struct GroupLayout {
    pub raw: wgpu::BindGroupLayout,
    bindings: Box<[(u32, Option<NonZeroU32>)]>,
}

/// A pipeline layout, and what layouts that leave out some of its groups are made of.
#[derive(Debug)]
pub(crate) struct PipelineLayout {
    raw: wgpu::PipelineLayout,
    groups: SmallVec<[wgpu::BindGroupLayout; 4]>,
    /// Bytes of native immediates.
    immediate_size: u32,
    /// The group that stands for immediates, the last of the groups.
    pub immediates: Option<u32>,
}

/// Takes the first elements off a list.
fn split<'l, T>(list: &mut &'l [T], count: usize) -> &'l [T] {
    let (first, rest) = list.split_at(count);
    *list = rest;
    first
}

impl Wgpu {
    pub(crate) fn new_group_layout(
        &mut self,
        slot: u32,
        label: &str,
        entries: &[BindGroupLayoutEntry],
    ) -> NativeResult {
        // wgpu makes groups with arrays updatable after binding, which uniform buffers and dynamic offsets are not.
        let is_fixed = |entry: &BindGroupLayoutEntry| match entry.ty {
            BindingType::Buffer { ty, has_dynamic_offset, .. } => {
                has_dynamic_offset || ty == BufferBindingType::Uniform
            }
            _ => false,
        };
        if entries.iter().any(|entry| entry.count.is_some())
            && let Some(fixed) = entries.iter().find(|entry| is_fixed(entry))
        {
            return Err(BackendError::Unsupported {
                capability: "uniform buffers and dynamic offsets in one group with an array",
                detail: format!("binding {} is one; wgpu wants it in another group", fixed.binding),
            });
        }
        let native = wgpu::BindGroupLayoutDescriptor { label: Some(label), entries };
        let make = || self.device.create_bind_group_layout(&native);
        let raw = self.errors.catch(&self.device, "create_bind_group_layout", make)?;
        let bindings = entries.iter().map(|entry| (entry.binding, entry.count)).collect();
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
        // wgpu takes an array as a list of references, which must lie somewhere; groups without arrays make none.
        let (mut views, mut samplers) = (Vec::new(), Vec::new());
        let mut rest = bindings;
        for (_, count) in &layout.bindings {
            let (of_entry, after) = rest.split_at(count.map_or(1, |count| count.get() as usize));
            rest = after;
            if count.is_some() {
                for binding in of_entry {
                    match *binding {
                        NativeBinding::Texture { view, .. } => views.push(self.views.get(view)),
                        NativeBinding::Sampler { sampler } => samplers.push(self.samplers.get(sampler)),
                        NativeBinding::Buffer { .. } => unreachable!("an array of buffers has no layout"),
                    }
                }
            }
        }
        let (mut views, mut samplers, mut rest) = (&views[..], &samplers[..], bindings);
        let mut entries = SmallVec::<[wgpu::BindGroupEntry<'_>; 8]>::new();
        for &(binding, count) in &layout.bindings {
            let count = count.map(|count| count.get() as usize);
            let (of_entry, after) = rest.split_at(count.unwrap_or(1));
            rest = after;
            let resource = match (count, &of_entry[0]) {
                (Some(count), NativeBinding::Texture { .. }) => {
                    wgpu::BindingResource::TextureViewArray(split(&mut views, count))
                }
                (Some(count), NativeBinding::Sampler { .. }) => {
                    wgpu::BindingResource::SamplerArray(split(&mut samplers, count))
                }
                (_, one) => self.resource(one),
            };
            entries.push(wgpu::BindGroupEntry { binding, resource });
        }
        let native =
            wgpu::BindGroupDescriptor { label: self.label(label), layout: &layout.raw, entries: &entries };
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
        let mut groups: SmallVec<[wgpu::BindGroupLayout; 4]> =
            groups.iter().map(|&group| self.group_layouts.get(group).raw.clone()).collect();
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
            groups.push(self.immediates.layout(&self.device).clone());
        }
        let immediate_size = if emulated { 0 } else { immediate_size };
        let raw = self.native_layout(label, groups.iter().map(Some), immediate_size)?;
        self.pipeline_layouts.insert(slot, PipelineLayout { raw, groups, immediate_size, immediates });
        Ok(())
    }

    fn native_layout<'g>(
        &self,
        label: &str,
        groups: impl Iterator<Item = Option<&'g wgpu::BindGroupLayout>>,
        immediate_size: u32,
    ) -> Result<wgpu::PipelineLayout, BackendError> {
        let groups: SmallVec<[Option<&wgpu::BindGroupLayout>; 4]> = groups.collect();
        let native = wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &groups,
            immediate_size,
        };
        let make = || self.device.create_pipeline_layout(&native);
        self.errors.catch(&self.device, "create_pipeline_layout", make)
    }

    /// The layout for a pipeline of these entry points. Draws need not set a group that no shader of theirs uses, and
    /// WebGPU wants every group of the layout set: so the pipeline's own layout leaves such groups out. Groups that are
    /// set stay set from pipeline to pipeline, whatever their layouts leave out.
    pub(crate) fn layout_of<'d>(
        &self,
        slot: u32,
        label: &str,
        stages: impl Iterator<Item = ShaderStageDesc<'d>>,
    ) -> Result<wgpu::PipelineLayout, BackendError> {
        let layout = self.pipeline_layouts.get(slot);
        let mut used = 0u32;
        for stage in stages {
            let entry = self.shader_modules.get(stage.module.slot()).source.entry(stage.entry);
            used |= entry.map_or(u32::MAX, |entry| {
                let immediates =
                    layout.immediates.filter(|_| entry.immediate_size > 0).map_or(0, |group| 1 << group);
                entry.bindings.iter().fold(immediates, |used, binding| used | 1 << binding.group)
            });
        }
        let groups =
            (0..).zip(&layout.groups).map(|(index, group)| (used >> index & 1 != 0).then_some(group));
        if groups.clone().all(|group| group.is_some()) {
            return Ok(layout.raw.clone());
        }
        self.native_layout(label, groups, layout.immediate_size)
    }
}
