//! Bind group layouts, bind groups and pipeline layouts.

use smallvec::SmallVec;

use crate::backend::{Backend, MAX_DYNAMIC_OFFSETS, MAX_GROUPS, MAX_IMMEDIATES, NativeBinding};
use crate::caps::{Features, FormatUses};
use crate::desc::{
    BindGroupDesc, BindGroupEntry, BindGroupLayoutDesc, BindingResource, Contents, PipelineLayoutDesc,
};
use crate::device::Device;
use crate::error::{Result, invalid, named, unsupported};
use crate::handle::{Buffer, ResourceKind, Sampler, TextureView, kind};
use crate::owned::Owned;
use crate::plan::{Aspects, BufferUse, ResourceUse, TextureUse};
use crate::registry::{
    BindGroupLayoutRecord, BindGroupRecord, DynamicBinding, PipelineLayoutRecord, TrackedBinding,
};
use crate::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, SamplerBindingType, ShaderStages,
    StorageTextureAccess, TextureSampleType, TextureUsages, TextureViewDimension,
};

const STAGES: [(ShaderStages, &str); 3] = [
    (ShaderStages::VERTEX, "vertex"),
    (ShaderStages::FRAGMENT, "fragment"),
    (ShaderStages::COMPUTE, "compute"),
];

impl<B: Backend> Device<B> {
    /// Creates the shape of a bind group.
    ///
    /// # Errors
    /// A binding number twice or over the limit, no or unknown stages, more resources than a stage may see, a kind
    /// that is not implemented, or a storage write where the device has none.
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
        let slot = self.registry.group_layouts.next_slot()?;
        if let Err(error) = self.backend.create_bind_group_layout(slot, desc.label, &entries) {
            return Err(self.backend_error(error, what()));
        }
        let handle = self.registry.group_layouts.insert(BindGroupLayoutRecord {
            label: desc.label.into(),
            entries,
            dynamic_uniform,
            dynamic_storage,
        });
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
        if entry.count.is_some() {
            let detail = at("an array requested, not implemented");
            return Err(unsupported(what(), "binding arrays", detail));
        }
        let writes = match entry.ty {
            BindingType::Buffer { ty: BufferBindingType::Storage { read_only }, .. } => !read_only,
            BindingType::StorageTexture { access, .. } => access != StorageTextureAccess::ReadOnly,
            BindingType::Buffer { .. } | BindingType::Sampler(_) => false,
            BindingType::Texture { multisampled, .. } => {
                if multisampled {
                    return Err(unsupported(what(), "multisampled textures", at("requested")));
                }
                false
            }
            _ => return Err(unsupported(what(), "this kind of binding", at(&format!("{:?}", entry.ty)))),
        };
        if let BindingType::StorageTexture { access: StorageTextureAccess::Atomic, .. } = entry.ty {
            return Err(unsupported(what(), "storage texture atomics", at("requested, not implemented")));
        }
        if let BindingType::StorageTexture { format, view_dimension, .. } = entry.ty {
            let uses = self.backend.format_uses(format);
            if !uses.contains(FormatUses::STORAGE) {
                let detail = at(&format!("{} available", uses.names()));
                return Err(unsupported(what(), format!("STORAGE use of {format:?}"), detail));
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

    /// Refuses more resources of a kind than one stage may see.
    fn check_stage_counts<'e>(
        &self,
        entries: impl Iterator<Item = &'e BindGroupLayoutEntry> + Clone,
        what: impl Fn() -> String,
    ) -> Result<()> {
        let limits = self.limits();
        for (stage, stage_name) in STAGES {
            let mut counts = [0u32; 5];
            for entry in entries.clone().filter(|entry| entry.visibility.contains(stage)) {
                let index = match entry.ty {
                    BindingType::Buffer { ty: BufferBindingType::Uniform, .. } => 0,
                    BindingType::Buffer { .. } => 1,
                    BindingType::Texture { .. } => 2,
                    BindingType::StorageTexture { .. } => 3,
                    _ => 4,
                };
                counts[index] += 1;
            }
            let ceilings = [
                ("max_uniform_buffers_per_stage", limits.max_uniform_buffers_per_stage),
                ("max_storage_buffers_per_stage", limits.max_storage_buffers_per_stage),
                ("max_sampled_textures_per_stage", limits.max_sampled_textures_per_stage),
                ("max_storage_textures_per_stage", limits.max_storage_textures_per_stage),
                ("max_samplers_per_stage", limits.max_samplers_per_stage),
            ];
            for (count, (name, most)) in counts.into_iter().zip(ceilings) {
                if count > most {
                    let detail = format!("{count} requested in the {stage_name} stage, {most} available");
                    return Err(unsupported(what(), format!("limit {name}"), detail));
                }
            }
        }
        Ok(())
    }

    /// Creates a bind group: an immutable snapshot of its bindings, which it keeps alive.
    ///
    /// # Errors
    /// Bindings missing, extra or of the wrong kind; stale resources; a resource without the usage that the binding
    /// needs; ranges that are empty, misaligned, too small for the layout, over a limit or outside the buffer.
    pub fn create_bind_group(&mut self, desc: &BindGroupDesc<'_>) -> Result<Owned<kind::BindGroup>> {
        let what = || named(ResourceKind::BindGroup, desc.label);
        self.check_lost("create_bind_group")?;
        self.make_room(ResourceKind::BindGroup, 0)?;
        let layout = self.registry.group_layouts.check(desc.layout, what)?;
        let mut bindings: SmallVec<[NativeBinding; 16]> = SmallVec::new();
        let mut dynamic: SmallVec<[DynamicBinding; 2]> = SmallVec::new();
        let mut tracked: SmallVec<[TrackedBinding; 8]> = SmallVec::new();
        if desc.entries.len() > layout.entries.len()
            && let Some(extra) = desc
                .entries
                .iter()
                .find(|entry| !layout.entries.iter().any(|wanted| wanted.binding == entry.binding))
        {
            let expected = format!("only bindings of layout \"{}\"", layout.label);
            return Err(invalid(what(), "entries", expected, format!("an extra binding {}", extra.binding)));
        }
        for wanted in &layout.entries {
            let mut given = desc.entries.iter().filter(|entry| entry.binding == wanted.binding);
            let Some(entry) = given.next() else {
                let expected = format!("binding {} of layout \"{}\"", wanted.binding, layout.label);
                return Err(invalid(what(), "entries", expected, "no such binding"));
            };
            if given.next().is_some() {
                let found = format!("binding {} twice", wanted.binding);
                return Err(invalid(what(), "entries", "each binding once", found));
            }
            let bound = match entry.resource {
                BindingResource::Buffer { buffer, offset, size } => {
                    self.bind_buffer(wanted, buffer, offset, size, what)?
                }
                BindingResource::Texture(view) => self.bind_texture(wanted, view, what)?,
                BindingResource::Sampler(sampler) => self.bind_sampler(wanted, sampler, what)?,
            };
            bindings.push(bound.native);
            let dynamic_index = bound.dynamic.map(|binding| {
                dynamic.push(binding);
                (dynamic.len() - 1) as u8
            });
            if let Some(usage) = bound.tracked {
                tracked.push(TrackedBinding { usage, binding: wanted.binding, dynamic: dynamic_index });
            }
        }
        if desc.entries.len() != layout.entries.len() {
            let expected = format!("the {} bindings of layout \"{}\"", layout.entries.len(), layout.label);
            return Err(invalid(what(), "entries", expected, desc.entries.len()));
        }
        let slot = self.registry.groups.next_slot()?;
        if let Err(error) = self.backend.create_bind_group(slot, desc.label, desc.layout.slot(), &bindings) {
            return Err(self.backend_error(error, what()));
        }
        self.registry.group_layouts.retain(desc.layout.slot());
        for binding in &bindings {
            match *binding {
                NativeBinding::Buffer { buffer, .. } => self.registry.buffers.retain(buffer),
                NativeBinding::Texture { view, .. } => self.registry.views.retain(view),
                NativeBinding::Sampler { sampler } => self.registry.samplers.retain(sampler),
            }
        }
        let handle = self.registry.groups.insert(BindGroupRecord {
            label: desc.label.into(),
            layout: desc.layout,
            unwritten: bindings
                .iter()
                .filter_map(|binding| match *binding {
                    NativeBinding::Texture { view, .. } if !self.registry.is_written(view) => Some(view),
                    _ => None,
                })
                .collect(),
            bindings: bindings.into_vec().into_boxed_slice(),
            dynamic,
            tracked: tracked.into_vec().into_boxed_slice(),
        });
        Ok(self.own(handle))
    }

    fn bind_buffer(
        &self,
        wanted: &BindGroupLayoutEntry,
        buffer: Buffer,
        offset: u64,
        size: Option<u64>,
        what: impl Fn() -> String,
    ) -> Result<Bound> {
        let binding = wanted.binding;
        let BindingType::Buffer { ty, has_dynamic_offset, min_binding_size } = wanted.ty else {
            return Err(wrong_kind(wanted, "a buffer", what));
        };
        let record = self.registry.buffers.check(buffer, || format!("{}, binding {binding}", what()))?;
        let at = |found: String| format!("binding {binding}: {found} (buffer \"{}\")", record.label);
        let limits = self.limits();
        let (usage, alignment, alignment_name, most, most_name) = match ty {
            BufferBindingType::Uniform => (
                BufferUsages::UNIFORM,
                limits.min_uniform_offset_alignment,
                "a multiple of min_uniform_offset_alignment",
                limits.max_uniform_binding_size,
                "limit max_uniform_binding_size",
            ),
            BufferBindingType::Storage { .. } => (
                BufferUsages::STORAGE,
                limits.min_storage_offset_alignment,
                "a multiple of min_storage_offset_alignment",
                limits.max_storage_binding_size,
                "limit max_storage_binding_size",
            ),
        };
        if !record.usage.contains(usage) {
            return Err(invalid(
                what(),
                "entries",
                format!("a buffer with usage {usage:?}"),
                at(format!("{:?}", record.usage)),
            ));
        }
        if !offset.is_multiple_of(u64::from(alignment)) {
            return Err(invalid(
                what(),
                "offset",
                format!("{alignment_name} ({alignment})"),
                at(offset.to_string()),
            ));
        }
        let rest = record.size.saturating_sub(offset);
        let size = size.unwrap_or(rest);
        if size == 0 || offset > record.size || size > rest {
            let expected = format!("a range of at least one byte within {} bytes", record.size);
            return Err(invalid(what(), "size", expected, at(format!("{size} bytes from {offset}"))));
        }
        if let BufferBindingType::Storage { .. } = ty
            && !size.is_multiple_of(4)
        {
            return Err(invalid(
                what(),
                "size",
                "a multiple of 4 for a storage binding",
                at(size.to_string()),
            ));
        }
        if size > most {
            return Err(unsupported(
                what(),
                most_name,
                at(format!("{size} bytes requested, {most} available")),
            ));
        }
        if let Some(least) = min_binding_size
            && size < least.get()
        {
            let expected = format!("at least {least} bytes, which the shader reads");
            return Err(invalid(what(), "size", expected, at(size.to_string())));
        }
        let writes = matches!(ty, BufferBindingType::Storage { read_only: false });
        if writes && record.contents == Contents::Uploaded {
            let expected = "a buffer with contents Tracked for a storage write";
            return Err(invalid(what(), "entries", expected, at("contents Uploaded".into())));
        }
        let usage = match ty {
            BufferBindingType::Uniform => BufferUse::Uniform(wanted.visibility),
            BufferBindingType::Storage { read_only: true } => BufferUse::StorageRead(wanted.visibility),
            BufferBindingType::Storage { read_only: false } => BufferUse::StorageWrite(wanted.visibility),
        };
        Ok(Bound {
            native: NativeBinding::Buffer { buffer: buffer.slot(), offset, size },
            dynamic: has_dynamic_offset.then_some(DynamicBinding {
                binding,
                alignment,
                most: record.size - offset - size,
                size,
                buffer: buffer.slot(),
            }),
            tracked: (record.contents == Contents::Tracked).then_some(ResourceUse::Buffer {
                buffer,
                offset,
                size,
                usage,
            }),
        })
    }

    fn bind_texture(
        &self,
        wanted: &BindGroupLayoutEntry,
        view: TextureView,
        what: impl Fn() -> String,
    ) -> Result<Bound> {
        let binding = wanted.binding;
        let record = self.registry.views.check(view, || format!("{}, binding {binding}", what()))?;
        let at = |found: String| format!("binding {binding}: {found} (view \"{}\")", record.label);
        let (needed, dimension) = match wanted.ty {
            BindingType::Texture { view_dimension, .. } => (TextureUsages::TEXTURE_BINDING, view_dimension),
            BindingType::StorageTexture { view_dimension, .. } => {
                (TextureUsages::STORAGE_BINDING, view_dimension)
            }
            _ => return Err(wrong_kind(wanted, "a texture view", what)),
        };
        if !record.usage.contains(needed) {
            let expected = format!("a texture with usage {needed:?}");
            return Err(invalid(what(), "entries", expected, at(format!("{:?}", record.usage))));
        }
        if record.dimension != dimension {
            let expected = format!("a {dimension:?} view");
            return Err(invalid(what(), "entries", expected, at(format!("{:?}", record.dimension))));
        }
        if record.range.aspects.iter().count() != 1 {
            return Err(invalid(
                what(),
                "entries",
                "a view of one aspect",
                at(format!("{:?}", record.range.aspects)),
            ));
        }
        let usage = match wanted.ty {
            BindingType::Texture { sample_type, .. } => {
                self.check_sample_type(sample_type, record, |expected, found| {
                    invalid(what(), "entries", expected, at(found))
                })?;
                TextureUse::Sampled(wanted.visibility)
            }
            BindingType::StorageTexture { access, format, .. } => {
                if record.format != format {
                    return Err(invalid(
                        what(),
                        "entries",
                        format!("format {format:?}"),
                        at(format!("{:?}", record.format)),
                    ));
                }
                if record.range.mips != 1 {
                    let found = at(format!("{} mips", record.range.mips));
                    return Err(invalid(what(), "entries", "a view of one mip for storage", found));
                }
                match access {
                    StorageTextureAccess::ReadOnly => TextureUse::StorageRead(wanted.visibility),
                    _ => TextureUse::StorageWrite(wanted.visibility),
                }
            }
            _ => return Err(wrong_kind(wanted, "a texture view", what)),
        };
        let Some(texture) = self.registry.textures.handle_at(record.texture) else {
            // The texture's owner is gone; the view keeps the memory, but nothing may be tracked by a dead handle.
            return self.bind_orphan(record, view, usage, what, binding);
        };
        Ok(Bound {
            native: NativeBinding::Texture { view: view.slot(), layout: usage.layout(record.range.aspects) },
            dynamic: None,
            tracked: (record.contents == Contents::Tracked).then_some(ResourceUse::Texture {
                texture,
                range: record.range,
                usage,
            }),
        })
    }

    fn bind_orphan(
        &self,
        record: &crate::registry::TextureViewRecord,
        view: TextureView,
        usage: TextureUse,
        what: impl Fn() -> String,
        binding: u32,
    ) -> Result<Bound> {
        if record.contents == Contents::Uploaded {
            let layout = usage.layout(record.range.aspects);
            return Ok(Bound {
                native: NativeBinding::Texture { view: view.slot(), layout },
                dynamic: None,
                tracked: None,
            });
        }
        let expected = "a view whose texture is alive (its contents are tracked)";
        let found = format!("binding {binding}: the texture of view \"{}\" was destroyed", record.label);
        Err(invalid(what(), "entries", expected, found))
    }

    fn check_sample_type(
        &self,
        wanted: TextureSampleType,
        record: &crate::registry::TextureViewRecord,
        error: impl Fn(String, String) -> crate::Error,
    ) -> Result<()> {
        let found = if record.range.aspects == Aspects::DEPTH {
            TextureSampleType::Depth
        } else if record.range.aspects == Aspects::STENCIL {
            TextureSampleType::Uint
        } else {
            match record.format.sample_type(Some(record.aspect), None) {
                Some(TextureSampleType::Float { .. }) => TextureSampleType::Float {
                    filterable: self.backend.format_uses(record.format).contains(FormatUses::FILTERABLE),
                },
                Some(other) => other,
                None => TextureSampleType::Float { filterable: false },
            }
        };
        let ok = match wanted {
            TextureSampleType::Float { filterable: false } => {
                matches!(found, TextureSampleType::Float { .. } | TextureSampleType::Depth)
            }
            other => other == found,
        };
        if ok {
            Ok(())
        } else {
            Err(error(format!("sample type {wanted:?}"), format!("{found:?} of {:?}", record.format)))
        }
    }

    fn bind_sampler(
        &self,
        wanted: &BindGroupLayoutEntry,
        sampler: Sampler,
        what: impl Fn() -> String,
    ) -> Result<Bound> {
        let binding = wanted.binding;
        let BindingType::Sampler(kind) = wanted.ty else {
            return Err(wrong_kind(wanted, "a sampler", what));
        };
        let record = self.registry.samplers.check(sampler, || format!("{}, binding {binding}", what()))?;
        let (ok, expected) = match kind {
            SamplerBindingType::Filtering => (!record.compare, "a sampler without comparison"),
            SamplerBindingType::NonFiltering => {
                (!record.compare && !record.filtering, "a sampler without comparison and linear filters")
            }
            SamplerBindingType::Comparison => (record.compare, "a comparison sampler"),
        };
        if !ok {
            let found = format!(
                "binding {binding}: sampler \"{}\" (comparison {}, linear filters {})",
                record.label, record.compare, record.filtering
            );
            return Err(invalid(what(), "entries", expected, found));
        }
        Ok(Bound { native: NativeBinding::Sampler { sampler: sampler.slot() }, dynamic: None, tracked: None })
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
        let handle = self.registry.pipeline_layouts.insert(PipelineLayoutRecord {
            label: desc.label.into(),
            groups: desc.groups.iter().copied().collect(),
            immediate_size: desc.immediate_size,
        });
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

/// A checked binding.
struct Bound {
    native: NativeBinding,
    dynamic: Option<DynamicBinding>,
    tracked: Option<ResourceUse>,
}

fn wrong_kind(wanted: &BindGroupLayoutEntry, found: &str, what: impl Fn() -> String) -> crate::Error {
    let expected = match wanted.ty {
        BindingType::Buffer { .. } => "a buffer",
        BindingType::Sampler(_) => "a sampler",
        _ => "a texture view",
    };
    invalid(what(), "entries", format!("{expected} at binding {}", wanted.binding), found)
}

impl BindGroupEntry {
    /// The resource's kind.
    pub fn kind(&self) -> ResourceKind {
        match self.resource {
            BindingResource::Buffer { .. } => ResourceKind::Buffer,
            BindingResource::Texture(_) => ResourceKind::TextureView,
            BindingResource::Sampler(_) => ResourceKind::Sampler,
        }
    }
}
