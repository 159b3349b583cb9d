//! Bind groups.
//!
//! A group is filled in the slot where it will live, with the lists that the slot's last group left there. What is in
//! order is found out by comparisons alone; the long way that names the mistake is taken only when there is one.

use crate::backend::{Backend, NativeBinding};
use crate::caps::{FormatUses, Limits};
use crate::desc::{BindGroupDesc, BindGroupEntry, BindingResource, Contents};
use crate::device::Device;
use crate::error::{Error, Result, invalid, named, unsupported};
use crate::handle::{Buffer, ResourceKind, Sampler, TextureView, kind};
use crate::owned::Owned;
use crate::plan::{Aspects, BufferUse, ResourceUse, TextureUse};
use crate::registry::{
    BindGroupLayoutRecord, BindGroupRecord, BufferRecord, DynamicBinding, Registry, SamplerRecord,
    TextureRecord, TextureViewRecord, TrackedBinding,
};
use crate::table::Table;
use crate::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, SamplerBindingType,
    StorageTextureAccess, TextureSampleType, TextureUsages,
};

impl<B: Backend> Device<B> {
    /// Creates a bind group: an immutable snapshot of its bindings, which it keeps alive.
    ///
    /// # Errors
    /// Bindings missing, extra or of the wrong kind; stale resources; a resource without the usage that the binding
    /// needs; ranges that are empty, misaligned, too small for the layout, over a limit or outside the buffer.
    pub fn create_bind_group(&mut self, desc: &BindGroupDesc<'_>) -> Result<Owned<kind::BindGroup>> {
        self.check_lost("create_bind_group")?;
        self.make_room(ResourceKind::BindGroup, 0)?;
        let slot = self.registry.groups.next_slot()?;
        let Registry { groups, group_layouts, buffers, textures, views, samplers, .. } = &mut self.registry;
        let group = groups.spare(slot, || BindGroupRecord::new(desc.layout));
        group.clear();
        let layout = match group_layouts.get(desc.layout) {
            Some(layout) => layout,
            None => {
                return Err(group_layouts.problem(desc.layout, named(ResourceKind::BindGroup, desc.label)));
            }
        };
        let binder = Binder { label: desc.label, backend: &self.backend, buffers, textures, views, samplers };
        binder.bind(layout, desc.entries, group)?;
        let layout = desc.layout.slot();
        if let Err(error) = self.backend.create_bind_group(slot, desc.label, layout, &group.bindings) {
            return Err(self.backend_error(error, named(ResourceKind::BindGroup, desc.label)));
        }
        group.label.set(desc.label);
        group.layout = desc.layout;
        group_layouts.retain(layout);
        for binding in &group.bindings {
            match *binding {
                NativeBinding::Buffer { buffer, .. } => buffers.retain(buffer),
                NativeBinding::Texture { view, .. } => views.retain(view),
                NativeBinding::Sampler { sampler } => samplers.retain(sampler),
            }
        }
        let handle = groups.insert_spare(slot);
        Ok(self.own(handle))
    }
}

/// Checks a description and fills a record.
struct Binder<'a, B> {
    label: &'a str,
    backend: &'a B,
    buffers: &'a Table<BufferRecord>,
    textures: &'a Table<TextureRecord>,
    views: &'a Table<TextureViewRecord>,
    samplers: &'a Table<SamplerRecord>,
}

/// What the kind of a buffer binding asks of a range.
struct BufferRule {
    usage: BufferUsages,
    alignment: u32,
    most: u64,
    least: u64,
    /// Whole words only.
    words: bool,
    writes: bool,
}

impl BufferRule {
    fn new(ty: BufferBindingType, least: Option<std::num::NonZeroU64>, limits: &Limits) -> Self {
        let least = least.map_or(1, |least| least.get());
        match ty {
            BufferBindingType::Uniform => Self {
                usage: BufferUsages::UNIFORM,
                alignment: limits.min_uniform_offset_alignment,
                most: limits.max_uniform_binding_size,
                least,
                words: false,
                writes: false,
            },
            BufferBindingType::Storage { read_only } => Self {
                usage: BufferUsages::STORAGE,
                alignment: limits.min_storage_offset_alignment,
                most: limits.max_storage_binding_size,
                least,
                words: true,
                writes: !read_only,
            },
        }
    }

    /// Whether a range of a buffer keeps the rule. Alignments are powers of two.
    #[inline]
    fn holds(&self, record: &BufferRecord, offset: u64, size: u64) -> bool {
        record.usage.contains(self.usage)
            && offset & u64::from(self.alignment).wrapping_sub(1) == 0
            && offset <= record.size
            && size <= record.size - offset
            && (self.least..=self.most).contains(&size)
            && (!self.words || size.is_multiple_of(4))
            && (!self.writes || record.contents == Contents::Tracked)
    }
}

impl<B: Backend> Binder<'_, B> {
    #[cold]
    fn what(&self) -> String {
        named(ResourceKind::BindGroup, self.label)
    }

    fn bind(
        &self,
        layout: &BindGroupLayoutRecord,
        entries: &[BindGroupEntry],
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        if entries.len() != layout.entries.len() {
            return Err(self.mismatch(layout, entries));
        }
        for (index, wanted) in layout.entries.iter().enumerate() {
            // Mostly in the layout's order. As many entries as the layout has, and each of its bindings found: then
            // none is there twice.
            let mut entry = &entries[index];
            if entry.binding != wanted.binding {
                entry = match entries.iter().find(|entry| entry.binding == wanted.binding) {
                    Some(entry) => entry,
                    None => return Err(self.mismatch(layout, entries)),
                };
            }
            match entry.resource {
                BindingResource::Buffer { buffer, offset, size } => {
                    self.bind_buffer(wanted, buffer, offset, size, group)?;
                }
                BindingResource::Texture(view) => self.bind_texture(wanted, view, group)?,
                BindingResource::Sampler(sampler) => self.bind_sampler(wanted, sampler, group)?,
            }
        }
        Ok(())
    }

    /// Says which binding is extra, missing or there twice.
    #[cold]
    fn mismatch(&self, layout: &BindGroupLayoutRecord, entries: &[BindGroupEntry]) -> Error {
        let label = &layout.label;
        let is_wanted =
            |entry: &&BindGroupEntry| layout.entries.iter().any(|wanted| wanted.binding == entry.binding);
        if entries.len() > layout.entries.len()
            && let Some(extra) = entries.iter().find(|entry| !is_wanted(entry))
        {
            let expected = format!("only bindings of layout \"{label}\"");
            return invalid(self.what(), "entries", expected, format!("an extra binding {}", extra.binding));
        }
        for wanted in &layout.entries {
            match entries.iter().filter(|entry| entry.binding == wanted.binding).count() {
                0 => {
                    let expected = format!("binding {} of layout \"{label}\"", wanted.binding);
                    return invalid(self.what(), "entries", expected, "no such binding");
                }
                1 => {}
                _ => {
                    let found = format!("binding {} twice", wanted.binding);
                    return invalid(self.what(), "entries", "each binding once", found);
                }
            }
        }
        let expected = format!("the {} bindings of layout \"{label}\"", layout.entries.len());
        invalid(self.what(), "entries", expected, entries.len())
    }

    #[inline]
    fn bind_buffer(
        &self,
        wanted: &BindGroupLayoutEntry,
        buffer: Buffer,
        offset: u64,
        size: Option<u64>,
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        let binding = wanted.binding;
        let BindingType::Buffer { ty, has_dynamic_offset, min_binding_size } = wanted.ty else {
            return Err(self.wrong_kind(wanted, "a buffer"));
        };
        let Some(record) = self.buffers.get(buffer) else {
            return Err(self.buffers.problem(buffer, format!("{}, binding {binding}", self.what())));
        };
        let rule = BufferRule::new(ty, min_binding_size, &self.backend.capabilities().limits);
        let size = size.unwrap_or(record.size.saturating_sub(offset));
        if !rule.holds(record, offset, size) {
            return Err(self.bad_range(wanted, &rule, record, offset, size));
        }
        group.bindings.push(NativeBinding::Buffer { buffer: buffer.slot(), offset, size });
        let mut dynamic = None;
        if has_dynamic_offset {
            dynamic = Some(group.dynamic.len() as u8);
            group.dynamic.push(DynamicBinding {
                binding,
                alignment: rule.alignment,
                most: record.size - offset - size,
                size,
                buffer: buffer.slot(),
            });
        }
        if record.contents == Contents::Tracked {
            let usage = match ty {
                BufferBindingType::Uniform => BufferUse::Uniform(wanted.visibility),
                BufferBindingType::Storage { read_only: true } => BufferUse::StorageRead(wanted.visibility),
                BufferBindingType::Storage { read_only: false } => BufferUse::StorageWrite(wanted.visibility),
            };
            let usage = ResourceUse::Buffer { buffer, offset, size, usage };
            group.tracked.push(TrackedBinding { usage, binding, dynamic });
        }
        Ok(())
    }

    /// Says which part of the rule a range breaks.
    #[cold]
    fn bad_range(
        &self,
        wanted: &BindGroupLayoutEntry,
        rule: &BufferRule,
        record: &BufferRecord,
        offset: u64,
        size: u64,
    ) -> Error {
        let what = self.what();
        let at = |found: String| format!("binding {}: {found} (buffer \"{}\")", wanted.binding, record.label);
        let (kind, alignment) = (if rule.words { "storage" } else { "uniform" }, u64::from(rule.alignment));
        if !record.usage.contains(rule.usage) {
            let expected = format!("a buffer with usage {:?}", rule.usage);
            return invalid(what, "entries", expected, at(format!("{:?}", record.usage)));
        }
        if !offset.is_multiple_of(alignment) {
            let expected = format!("a multiple of min_{kind}_offset_alignment ({alignment})");
            return invalid(what, "offset", expected, at(offset.to_string()));
        }
        if size == 0 || offset > record.size || size > record.size - offset {
            let expected = format!("a range of at least one byte within {} bytes", record.size);
            return invalid(what, "size", expected, at(format!("{size} bytes from {offset}")));
        }
        if rule.words && !size.is_multiple_of(4) {
            return invalid(what, "size", "a multiple of 4 for a storage binding", at(size.to_string()));
        }
        if size > rule.most {
            let detail = at(format!("{size} bytes requested, {} available", rule.most));
            return unsupported(what, format!("limit max_{kind}_binding_size"), detail);
        }
        if size < rule.least {
            let expected = format!("at least {} bytes, which the shader reads", rule.least);
            return invalid(what, "size", expected, at(size.to_string()));
        }
        let expected = "a buffer with contents Tracked for a storage write";
        invalid(what, "entries", expected, at(format!("contents {:?}", record.contents)))
    }

    fn bind_texture(
        &self,
        wanted: &BindGroupLayoutEntry,
        view: TextureView,
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        let binding = wanted.binding;
        let Some(record) = self.views.get(view) else {
            return Err(self.views.problem(view, format!("{}, binding {binding}", self.what())));
        };
        let (needed, dimension) = match wanted.ty {
            BindingType::Texture { view_dimension, .. } => (TextureUsages::TEXTURE_BINDING, view_dimension),
            BindingType::StorageTexture { view_dimension, .. } => {
                (TextureUsages::STORAGE_BINDING, view_dimension)
            }
            _ => return Err(self.wrong_kind(wanted, "a texture view")),
        };
        let refuse = |expected: String, found: String| {
            let found = format!("binding {binding}: {found} (view \"{}\")", record.label);
            Err(invalid(self.what(), "entries", expected, found))
        };
        if !record.usage.contains(needed) {
            return refuse(format!("a texture with usage {needed:?}"), format!("{:?}", record.usage));
        }
        if record.dimension != dimension {
            return refuse(format!("a {dimension:?} view"), format!("{:?}", record.dimension));
        }
        if !record.range.aspects.bits().is_power_of_two() {
            return refuse("a view of one aspect".into(), format!("{:?}", record.range.aspects));
        }
        let usage = match wanted.ty {
            BindingType::Texture { sample_type, .. } => {
                let found = self.sample_type(record);
                if !samples_as(found, sample_type) {
                    let found = format!("{found:?} of {:?}", record.format);
                    return refuse(format!("sample type {sample_type:?}"), found);
                }
                TextureUse::Sampled(wanted.visibility)
            }
            BindingType::StorageTexture { access, format, .. } => {
                if record.format != format {
                    return refuse(format!("format {format:?}"), format!("{:?}", record.format));
                }
                if record.range.mips != 1 {
                    let found = format!("{} mips", record.range.mips);
                    return refuse("a view of one mip for storage".into(), found);
                }
                match access {
                    StorageTextureAccess::ReadOnly => TextureUse::StorageRead(wanted.visibility),
                    _ => TextureUse::StorageWrite(wanted.visibility),
                }
            }
            _ => return Err(self.wrong_kind(wanted, "a texture view")),
        };
        if record.contents == Contents::Tracked {
            let Some(texture) = self.textures.handle_at(record.texture) else {
                // The view keeps the memory, but nothing may be tracked by a dead handle.
                let expected = "a view whose texture is alive (its contents are tracked)";
                let found =
                    format!("binding {binding}: the texture of view \"{}\" was destroyed", record.label);
                return Err(invalid(self.what(), "entries", expected, found));
            };
            let usage = ResourceUse::Texture { texture, range: record.range, usage };
            group.tracked.push(TrackedBinding { usage, binding, dynamic: None });
        } else if self
            .textures
            .at(record.texture)
            .is_some_and(|texture| !texture.written.contains(&record.range))
        {
            group.unwritten.push(view.slot());
        }
        let layout = usage.layout(record.range.aspects);
        group.bindings.push(NativeBinding::Texture { view: view.slot(), layout });
        Ok(())
    }

    /// What a shader reads of a view.
    fn sample_type(&self, record: &TextureViewRecord) -> TextureSampleType {
        if record.range.aspects == Aspects::DEPTH {
            return TextureSampleType::Depth;
        }
        if record.range.aspects == Aspects::STENCIL {
            return TextureSampleType::Uint;
        }
        match record.format.sample_type(Some(record.aspect), None) {
            Some(TextureSampleType::Float { .. }) => TextureSampleType::Float {
                filterable: self.backend.format_uses(record.format).contains(FormatUses::FILTERABLE),
            },
            Some(other) => other,
            None => TextureSampleType::Float { filterable: false },
        }
    }

    fn bind_sampler(
        &self,
        wanted: &BindGroupLayoutEntry,
        sampler: Sampler,
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        let binding = wanted.binding;
        let BindingType::Sampler(kind) = wanted.ty else {
            return Err(self.wrong_kind(wanted, "a sampler"));
        };
        let Some(record) = self.samplers.get(sampler) else {
            return Err(self.samplers.problem(sampler, format!("{}, binding {binding}", self.what())));
        };
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
            return Err(invalid(self.what(), "entries", expected, found));
        }
        group.bindings.push(NativeBinding::Sampler { sampler: sampler.slot() });
        Ok(())
    }

    #[cold]
    fn wrong_kind(&self, wanted: &BindGroupLayoutEntry, found: &str) -> Error {
        let expected = match wanted.ty {
            BindingType::Buffer { .. } => "a buffer",
            BindingType::Sampler(_) => "a sampler",
            _ => "a texture view",
        };
        let expected = format!("{expected} at binding {}", wanted.binding);
        invalid(self.what(), "entries", expected, found)
    }
}

/// Whether a binding of one sample type takes what a view has.
fn samples_as(found: TextureSampleType, wanted: TextureSampleType) -> bool {
    match wanted {
        TextureSampleType::Float { filterable: false } => {
            matches!(found, TextureSampleType::Float { .. } | TextureSampleType::Depth)
        }
        other => other == found,
    }
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
