//! Bind group layouts, the descriptor sets of each, bind groups and pipeline layouts.
//!
//! A layout owns its descriptor pools. A pool is made for a whole number of its sets and gives all of them out at
//! once, so it can neither fragment nor run out half way. A destroyed group's set goes back to the layout's free list
//! and is rewritten by the next group: creating one is a pop and one call with the layout's update template.

use std::num::NonZeroU32;

use ash::vk;
use purlin_rhi::backend::{NativeBinding, NativeResult};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::BindGroupLayoutEntry;
use smallvec::SmallVec;

use crate::barrier;
use crate::convert;
use crate::device::Vulkan;
use crate::memory::failed;

/// Sets of a layout's first pool; each further pool has four times as many, up to the second figure.
const POOL_SETS: (u32, u32) = (16, 1024);

/// Descriptors of a pool, unless one set has more: drivers take their memory at once.
const POOL_DESCRIPTORS: u32 = 32 << 10;

/// How many sets a pool may have, of as many as are wished.
fn pool_sets(wished: u32, descriptors: u32) -> u32 {
    wished.min(POOL_SETS.1).min(POOL_DESCRIPTORS / descriptors.max(1)).max(1)
}

/// The stages of every immediate range: one range for all, so that pushes always name what the layout names.
pub(crate) const IMMEDIATE_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw()
        | vk::ShaderStageFlags::FRAGMENT.as_raw()
        | vk::ShaderStageFlags::COMPUTE.as_raw(),
);

/// A bind group layout with its sets.
pub(crate) struct GroupLayout {
    raw: vk::DescriptorSetLayout,
    /// Null for an empty layout.
    template: vk::DescriptorUpdateTemplate,
    /// What one set takes.
    per_set: SmallVec<[vk::DescriptorPoolSize; 4]>,
    pools: SmallVec<[vk::DescriptorPool; 2]>,
    next_pool_sets: u32,
    free: Vec<vk::DescriptorSet>,
    /// What the template reads, one element for each descriptor; written anew for each group.
    data: Box<[Descriptor]>,
}

/// A bind group.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub set: vk::DescriptorSet,
    layout: u32,
}

/// A pipeline layout.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PipelineLayout {
    pub raw: vk::PipelineLayout,
    pub immediate_size: u32,
}

/// One binding as the update template reads it.
#[derive(Clone, Copy)]
#[repr(C)]
union Descriptor {
    buffer: vk::DescriptorBufferInfo,
    image: vk::DescriptorImageInfo,
}

impl Vulkan {
    pub(crate) fn new_group_layout(
        &mut self,
        slot: u32,
        label: &str,
        entries: &[BindGroupLayoutEntry],
    ) -> NativeResult {
        let mut bindings = SmallVec::<[vk::DescriptorSetLayoutBinding<'_>; 16]>::new();
        let mut updates = SmallVec::<[vk::DescriptorUpdateTemplateEntry; 16]>::new();
        let mut per_set = SmallVec::<[vk::DescriptorPoolSize; 4]>::new();
        let mut elements = 0;
        for entry in entries {
            let Some(ty) = convert::descriptor_type(&entry.ty) else {
                return Err(BackendError::Failed {
                    call: "vkCreateDescriptorSetLayout",
                    detail: format!("binding {} has a kind that is not built", entry.binding),
                });
            };
            let count = entry.count.map_or(1, NonZeroU32::get);
            bindings.push(
                vk::DescriptorSetLayoutBinding::default()
                    .binding(entry.binding)
                    .descriptor_type(ty)
                    .descriptor_count(count)
                    .stage_flags(convert::shader_stages(entry.visibility)),
            );
            // Consecutive bindings that are alike are one update, which drivers take at once.
            let alike = bindings.len().checked_sub(2).is_some_and(|last| {
                let last = &bindings[last];
                last.descriptor_type == ty
                    && last.stage_flags == convert::shader_stages(entry.visibility)
                    && last.binding + 1 == entry.binding
            });
            match updates.last_mut() {
                Some(update) if alike => update.descriptor_count += count,
                _ => updates.push(vk::DescriptorUpdateTemplateEntry {
                    dst_binding: entry.binding,
                    dst_array_element: 0,
                    descriptor_count: count,
                    descriptor_type: ty,
                    offset: elements as usize * size_of::<Descriptor>(),
                    stride: size_of::<Descriptor>(),
                }),
            }
            match per_set.iter_mut().find(|size| size.ty == ty) {
                Some(size) => size.descriptor_count += count,
                None => per_set.push(vk::DescriptorPoolSize { ty, descriptor_count: count }),
            }
            elements += count;
        }
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        self.check_layout_support(&info, elements)?;
        // SAFETY: binding numbers are distinct and within limits; immutable samplers are not used.
        let raw = unsafe { self.raw.create_descriptor_set_layout(&info, None) }
            .map_err(|error| failed("vkCreateDescriptorSetLayout", error))?;
        let mut template = vk::DescriptorUpdateTemplate::null();
        if !updates.is_empty() {
            let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                .descriptor_update_entries(&updates)
                .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
                .descriptor_set_layout(raw);
            // SAFETY: the entries name exactly the layout's bindings.
            match unsafe { self.raw.create_descriptor_update_template(&info, None) } {
                Ok(made) => template = made,
                Err(error) => {
                    // SAFETY: made above and used by nobody.
                    unsafe { self.raw.destroy_descriptor_set_layout(raw, None) };
                    return Err(failed("vkCreateDescriptorUpdateTemplate", error));
                }
            }
        }
        self.name(raw, label);
        let layout = GroupLayout {
            raw,
            template,
            per_set,
            pools: SmallVec::new(),
            next_pool_sets: pool_sets(POOL_SETS.0, elements),
            free: Vec::new(),
            data: vec![Descriptor { image: vk::DescriptorImageInfo::default() }; elements as usize].into(),
        };
        self.group_layouts.insert(slot, layout);
        Ok(())
    }

    /// A set of so many descriptors is always supported, up to a limit; beyond it the driver must be asked.
    fn check_layout_support(
        &self,
        info: &vk::DescriptorSetLayoutCreateInfo<'_>,
        descriptors: u32,
    ) -> NativeResult {
        let most = self.physical.max_per_set_descriptors;
        if descriptors <= most {
            return Ok(());
        }
        let mut support = vk::DescriptorSetLayoutSupport::default();
        // SAFETY: the structure is the one that a layout would be made of.
        unsafe { self.raw.get_descriptor_set_layout_support(info, &mut support) };
        if support.supported == vk::TRUE {
            return Ok(());
        }
        Err(BackendError::Unsupported {
            capability: "bind groups of this many resources",
            detail: format!("{descriptors} requested; maxPerSetDescriptors is {most}"),
        })
    }

    pub(crate) fn free_group_layout(&mut self, layout: GroupLayout) {
        // SAFETY: groups retain their layout, so none of the sets is in use any more.
        unsafe {
            for pool in layout.pools {
                self.raw.destroy_descriptor_pool(pool, None);
            }
            self.raw.destroy_descriptor_update_template(layout.template, None);
            self.raw.destroy_descriptor_set_layout(layout.raw, None);
        }
    }

    pub(crate) fn new_group(
        &mut self,
        slot: u32,
        label: &str,
        layout: u32,
        bindings: &[NativeBinding],
    ) -> NativeResult {
        let Some(native) = self.group_layouts.get_mut(layout) else {
            unreachable!("group \"{label}\" has a dead layout")
        };
        if native.free.is_empty() {
            native.grow(&self.raw)?;
        }
        // `grow` leaves at least one.
        let Some(set) = native.free.pop() else { unreachable!("a pool without sets") };
        debug_assert_eq!(native.data.len(), bindings.len());
        if !bindings.is_empty() {
            for (descriptor, binding) in native.data.iter_mut().zip(bindings) {
                *descriptor = match *binding {
                    NativeBinding::Buffer { buffer, offset, size } => Descriptor {
                        buffer: vk::DescriptorBufferInfo {
                            buffer: self.buffers.get(buffer).raw,
                            offset,
                            range: size,
                        },
                    },
                    NativeBinding::Texture { view, layout } => {
                        let view = self.views.get(view);
                        let image_layout = barrier::image_layout(layout, view.aspects);
                        let sampler = vk::Sampler::null();
                        let image_view = view.raw;
                        Descriptor { image: vk::DescriptorImageInfo { sampler, image_view, image_layout } }
                    }
                    NativeBinding::Sampler { sampler } => {
                        let sampler = *self.samplers.get(sampler);
                        Descriptor { image: vk::DescriptorImageInfo { sampler, ..Default::default() } }
                    }
                };
            }
            let data = native.data.as_ptr().cast();
            // SAFETY: the set is on no submission; `data` has an element for each descriptor of the template, of the
            // member that the binding's type reads, and both lists are sorted by binding and array element.
            unsafe { self.raw.update_descriptor_set_with_template(set, native.template, data) };
        }
        self.name(set, label);
        self.groups.insert(slot, Group { set, layout });
        Ok(())
    }

    pub(crate) fn free_group(&mut self, group: Group) {
        if let Some(layout) = self.group_layouts.get_mut(group.layout) {
            layout.free.push(group.set);
        }
    }

    pub(crate) fn new_pipeline_layout(
        &mut self,
        slot: u32,
        label: &str,
        groups: &[u32],
        immediate_size: u32,
    ) -> NativeResult {
        let layouts: SmallVec<[vk::DescriptorSetLayout; 4]> =
            groups.iter().map(|&group| self.group_layouts.get(group).raw).collect();
        let ranges =
            [vk::PushConstantRange { stage_flags: IMMEDIATE_STAGES, offset: 0, size: immediate_size }];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        if immediate_size > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: the group layouts are live, and counts and sizes were validated against the limits.
        let raw = unsafe { self.raw.create_pipeline_layout(&info, None) }
            .map_err(|error| failed("vkCreatePipelineLayout", error))?;
        self.name(raw, label);
        self.pipeline_layouts.insert(slot, PipelineLayout { raw, immediate_size });
        Ok(())
    }
}

impl GroupLayout {
    /// Adds a pool, and all of its sets to the free list.
    fn grow(&mut self, device: &ash::Device) -> NativeResult {
        let sets = self.next_pool_sets;
        let sizes: SmallVec<[vk::DescriptorPoolSize; 4]> = self
            .per_set
            .iter()
            .map(|size| vk::DescriptorPoolSize {
                ty: size.ty,
                descriptor_count: size.descriptor_count.saturating_mul(sets),
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(sets).pool_sizes(&sizes);
        // SAFETY: sizes and counts are positive.
        let pool = unsafe { device.create_descriptor_pool(&info, None) }
            .map_err(|error| failed("vkCreateDescriptorPool", error))?;
        let layouts = vec![self.raw; sets as usize];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool was sized for exactly these sets.
        match unsafe { device.allocate_descriptor_sets(&info) } {
            // The list gives its last first. Sets that were made in a row are bound in a row, mostly, and drivers keep
            // them in that order.
            Ok(made) => self.free.extend(made.into_iter().rev()),
            Err(error) => {
                // SAFETY: made above and used by nobody.
                unsafe { device.destroy_descriptor_pool(pool, None) };
                return Err(failed("vkAllocateDescriptorSets", error));
            }
        }
        self.pools.push(pool);
        self.next_pool_sets = pool_sets(sets.saturating_mul(4), self.data.len() as u32);
        Ok(())
    }
}
