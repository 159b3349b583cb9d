//! Bind group layouts and pipeline layouts.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use crate::backend::{Backend, MAX_DYNAMIC_OFFSETS, MAX_GROUPS, MAX_IMMEDIATES};
use crate::caps::{Features, FormatUses};
use crate::desc::{BindGroupLayoutDesc, PipelineLayoutDesc};
use crate::device::Device;
use crate::error::{Result, invalid, named, unsupported};
use crate::handle::{ResourceKind, kind};
use crate::owned::Owned;
use crate::registry::{BindGroupLayoutRecord, BufferRule, PipelineLayoutRecord};
use crate::sampled::Classes;
use crate::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages, StorageTextureAccess,
    TextureSampleType, TextureViewDimension,
};

const STAGES: [(ShaderStages, &str); 3] = [
    (ShaderStages::VERTEX, "vertex"),
    (ShaderStages::FRAGMENT, "fragment"),
    (ShaderStages::COMPUTE, "compute"),
];

/// How many resources an entry binds.
fn count(entry: &BindGroupLayoutEntry) -> u32 {
    entry.count.map_or(1, NonZeroU32::get)
}

impl<B: Backend> Device<B> {
    /// Creates the shape of a bind group.
    ///
    /// # Errors
    /// A binding number twice or over the limit, no or unknown stages, more resources than a stage may see, a kind
    /// that is not implemented, a storage write where the device has none, or an array of anything but sampled textures
    /// and samplers or without [`Features::BINDING_ARRAYS`].
    pub fn create_bind_group_layout(
        &mut self,
        desc: &BindGroupLayoutDesc<'_>,
    ) -> Result<Owned<kind::BindGroupLayout>> {
        let what = || named(ResourceKind::BindGroupLayout, desc.label);
        self.check_lost("create_bind_group_layout")?;
        self.make_room(ResourceKind::BindGroupLayout, 0)?;
        let mut entries: Box<[BindGroupLayoutEntry]> = desc.entries.into();
        entries.sort_unstable_by_key(|entry| entry.binding);
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].binding == pair[1].binding) {
            return Err(invalid(
                what(),
                "entries",
                "each binding once",
                format!("binding {} twice", pair[0].binding),
            ));
        }
        let (mut dynamic_uniform, mut dynamic_storage) = (0, 0);
        for entry in &entries {
            self.check_layout_entry(entry, what)?;
            if let BindingType::Buffer { ty, has_dynamic_offset: true, .. } = entry.ty {
                match ty {
                    BufferBindingType::Uniform => dynamic_uniform += 1,
                    BufferBindingType::Storage { .. } => dynamic_storage += 1,
                }
            }
        }
        if dynamic_uniform + dynamic_storage > MAX_DYNAMIC_OFFSETS as u32 {
            let detail =
                format!("{} requested, {MAX_DYNAMIC_OFFSETS} available", dynamic_uniform + dynamic_storage);
            return Err(unsupported(what(), "dynamic offsets of a group", detail));
        }
        self.check_stage_counts(entries.iter(), what)?;
        // Within the limits of a stage, so within range.
        let elements = entries.iter().map(count).sum();
        let sampled = entries.iter().map(Classes::of).collect();
        let rules = entries.iter().map(|entry| BufferRule::new(entry, self.limits())).collect();
        let slot = self.registry.group_layouts.next_slot()?;
        if let Err(error) = self.backend.create_bind_group_layout(slot, desc.label, &entries) {
            return Err(self.backend_error(error, what()));
        }
        let handle = self.registry.group_layouts.insert(
            slot,
            BindGroupLayoutRecord {
                label: desc.label.into(),
                entries,
                rules,
                sampled,
                elements,
                dynamic_uniform,
                dynamic_storage,
            },
        );
        Ok(self.own(handle))
    }

    fn check_layout_entry(&self, entry: &BindGroupLayoutEntry, what: impl Fn() -> String) -> Result<()> {
        let at = |problem: &str| format!("binding {}: {problem}", entry.binding);
        let most = self.limits().max_bindings_per_group;
        if entry.binding >= most {
            let detail = format!("binding {} requested, {most} available", entry.binding);
            return Err(unsupported(what(), "limit max_bindings_per_group", detail));
        }
        let known = ShaderStages::VERTEX | ShaderStages::FRAGMENT | ShaderStages::COMPUTE;
        if entry.visibility.is_empty() || !known.contains(entry.visibility) {
            let found = at(&format!("{:?}", entry.visibility));
            return Err(invalid(what(), "visibility", "some of vertex, fragment and compute", found));
        }
        if let Some(count) = entry.count {
            match entry.ty {
                BindingType::Texture { multisampled: false, .. } | BindingType::Sampler(_) => {}
                _ => {
                    return Err(unsupported(
                        what(),
                        "arrays of this kind of binding",
                        at(&format!("{:?}", entry.ty)),
                    ));
                }
            }
            if !self.capabilities().features.contains(Features::BINDING_ARRAYS) {
                return Err(unsupported(
                    what(),
                    "feature BINDING_ARRAYS",
                    at(&format!("an array of {count} requested")),
                ));
            }
        }
        let writes = match entry.ty {
            BindingType::Buffer { ty: BufferBindingType::Storage { read_only }, .. } => !read_only,
            BindingType::StorageTexture { access, .. } => access != StorageTextureAccess::ReadOnly,
            BindingType::Buffer { .. } | BindingType::Sampler(_) => false,
            BindingType::Texture { multisampled, sample_type, view_dimension } => {
                if multisampled {
                    self.check_multisampled_entry(sample_type, view_dimension, at, &what)?;
                }
                false
            }
            _ => return Err(unsupported(what(), "this kind of binding", at(&format!("{:?}", entry.ty)))),
        };
        if let BindingType::StorageTexture { access: StorageTextureAccess::Atomic, .. } = entry.ty {
            return Err(unsupported(what(), "storage texture atomics", at("requested, not implemented")));
        }
        if let BindingType::StorageTexture { format, view_dimension, access } = entry.ty {
            let uses = self.backend.format_uses(format);
            let wanted = FormatUses::STORAGE | FormatUses::of_access(access);
            if let Some((name, _)) = (wanted - uses).iter_names().next() {
                let detail = at(&format!("{} available", uses.names()));
                return Err(unsupported(what(), format!("{name} use of {format:?}"), detail));
            }
            if matches!(view_dimension, TextureViewDimension::Cube | TextureViewDimension::CubeArray) {
                let found = at(&format!("{view_dimension:?}"));
                return Err(invalid(what(), "view_dimension", "no cube for a storage texture", found));
            }
        }
        if writes
            && entry.visibility.contains(ShaderStages::VERTEX)
            && !self.capabilities().features.contains(Features::VERTEX_STORAGE)
        {
            return Err(unsupported(
                what(),
                "feature VERTEX_STORAGE",
                at("storage write in the vertex stage"),
            ));
        }
        Ok(())
    }

    fn check_multisampled_entry(
        &self,
        sample_type: TextureSampleType,
        dimension: TextureViewDimension,
        at: impl Fn(&str) -> String,
        what: impl Fn() -> String,
    ) -> Result<()> {
        if !self.capabilities().features.contains(Features::MULTISAMPLED_TEXTURES) {
            return Err(unsupported(what(), "feature MULTISAMPLED_TEXTURES", at("requested")));
        }
        if dimension != TextureViewDimension::D2 {
            let found = at(&format!("{dimension:?}"));
            return Err(invalid(what(), "view_dimension", "D2 for a multisampled texture", found));
        }
        if sample_type == (TextureSampleType::Float { filterable: true }) {
            let expected = "a sample type that is not filterable for a multisampled texture";
            return Err(invalid(what(), "sample_type", expected, at("Float, filterable")));
        }
        Ok(())
    }

    /// Refuses more resources of a kind than one stage may see.
    fn check_stage_counts<'e>(
        &self,
        entries: impl Iterator<Item = &'e BindGroupLayoutEntry> + Clone,
        what: impl Fn() -> String,
    ) -> Result<()> {
        let limits = self.limits();
        for (stage, stage_name) in STAGES {
            let mut counts = [0u64; 5];
            for entry in entries.clone().filter(|entry| entry.visibility.contains(stage)) {
                let index = match entry.ty {
                    BindingType::Buffer { ty: BufferBindingType::Uniform, .. } => 0,
                    BindingType::Buffer { .. } => 1,
                    BindingType::Texture { .. } => 2,
                    BindingType::StorageTexture { .. } => 3,
                    _ => 4,
                };
                counts[index] += u64::from(count(entry));
            }
            let ceilings = [
                ("max_uniform_buffers_per_stage", limits.max_uniform_buffers_per_stage),
                ("max_storage_buffers_per_stage", limits.max_storage_buffers_per_stage),
                ("max_sampled_textures_per_stage", limits.max_sampled_textures_per_stage),
                ("max_storage_textures_per_stage", limits.max_storage_textures_per_stage),
                ("max_samplers_per_stage", limits.max_samplers_per_stage),
            ];
            for (count, (name, most)) in counts.into_iter().zip(ceilings) {
                if count > u64::from(most) {
                    let detail = format!("{count} requested in the {stage_name} stage, {most} available");
                    return Err(unsupported(what(), format!("limit {name}"), detail));
                }
            }
        }
        Ok(())
    }

    /// Creates the layout of a pipeline: its groups by number, and its immediates.
    ///
    /// # Errors
    /// Too many groups, stale layouts, too many dynamic offsets or resources for a stage over all groups, or
    /// immediates that are misaligned or over the limit.
    pub fn create_pipeline_layout(
        &mut self,
        desc: &PipelineLayoutDesc<'_>,
    ) -> Result<Owned<kind::PipelineLayout>> {
        let what = || named(ResourceKind::PipelineLayout, desc.label);
        self.check_lost("create_pipeline_layout")?;
        self.make_room(ResourceKind::PipelineLayout, 0)?;
        let limits = self.limits();
        let most = limits.max_bind_groups.min(MAX_GROUPS as u32);
        if desc.groups.len() > most as usize {
            let detail = format!("{} requested, {most} available", desc.groups.len());
            return Err(unsupported(what(), "limit max_bind_groups", detail));
        }
        let immediates = limits.max_immediate_size.min(MAX_IMMEDIATES as u32);
        if !desc.immediate_size.is_multiple_of(4) {
            return Err(invalid(what(), "immediate_size", "a multiple of 4", desc.immediate_size));
        }
        if desc.immediate_size > immediates {
            let detail = format!("{} bytes requested, {immediates} available", desc.immediate_size);
            return Err(unsupported(what(), "limit max_immediate_size", detail));
        }
        let mut records: SmallVec<[&BindGroupLayoutRecord; MAX_GROUPS]> = SmallVec::new();
        for (index, group) in desc.groups.iter().enumerate() {
            records.push(self.registry.group_layouts.check(*group, || format!("{}, group {index}", what()))?);
        }
        let uniform: u32 = records.iter().map(|record| record.dynamic_uniform).sum();
        let storage: u32 = records.iter().map(|record| record.dynamic_storage).sum();
        for (count, most, name) in [
            (uniform, limits.max_dynamic_uniform_buffers, "limit max_dynamic_uniform_buffers"),
            (storage, limits.max_dynamic_storage_buffers, "limit max_dynamic_storage_buffers"),
        ] {
            if count > most {
                return Err(unsupported(what(), name, format!("{count} requested, {most} available")));
            }
        }
        self.check_stage_counts(records.iter().flat_map(|record| record.entries.iter()), what)?;
        drop(records);
        let slots: SmallVec<[u32; MAX_GROUPS]> = desc.groups.iter().map(|group| group.slot()).collect();
        let slot = self.registry.pipeline_layouts.next_slot()?;
        let made = self.backend.create_pipeline_layout(slot, desc.label, &slots, desc.immediate_size);
        if let Err(error) = made {
            return Err(self.backend_error(error, what()));
        }
        for &group in &slots {
            self.registry.group_layouts.retain(group);
        }
        let handle = self.registry.pipeline_layouts.insert(
            slot,
            PipelineLayoutRecord {
                label: desc.label.into(),
                groups: desc.groups.iter().copied().collect(),
                immediate_size: desc.immediate_size,
            },
        );
        Ok(self.own(handle))
    }

    /// The entries of a bind group layout, sorted by binding.
    pub fn bind_group_layout_entries(
        &self,
        layout: crate::handle::BindGroupLayout,
    ) -> Result<&[BindGroupLayoutEntry]> {
        Ok(&self.registry.group_layouts.check(layout, || "bind_group_layout_entries".into())?.entries)
    }
}
