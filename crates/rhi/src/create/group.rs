//! Bind groups.
//!
//! A group is filled in the slot where it will live, with the lists that the slot's last group left there. What is in
//! order is found out by comparisons alone; the long way that names the mistake is taken only when there is one.

use std::num::NonZeroU32;

use crate::backend::{Backend, NativeBinding};
use crate::desc::{BindGroupDesc, BindGroupEntry, BindingResource, Contents};
use crate::device::Device;
use crate::error::{Error, Result, invalid, named, unsupported};
use crate::handle::{Buffer, Handle, ResourceKind, Sampler, TextureView, kind, kind::Kind};
use crate::owned::Owned;
use crate::plan::{ResourceUse, TextureUse};
use crate::registry::{
    BindGroupLayoutRecord, BindGroupRecord, BufferRecord, BufferRule, DynamicBinding, Registry,
    SamplerRecord, TextureRecord, TextureViewRecord, TrackedBinding,
};
use crate::sampled::{Classes, samples_as};
use crate::table::{Record, Table};
use crate::types::{
    BindGroupLayoutEntry, BindingType, SamplerBindingType, StorageTextureAccess, TextureUsages,
};

impl<B: Backend> Device<B> {
    /// Creates a bind group: an immutable snapshot of its bindings, which it keeps alive.
    ///
    /// # Errors
    /// Bindings missing, extra or of the wrong kind; stale resources; a resource without the usage that the binding
    /// needs; ranges that are empty, misaligned, too small for the layout, over a limit or outside the buffer; arrays
    /// longer than the layout's or without a first element.
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
        let binder = Binder { label: desc.label, buffers, textures, views, samplers };
        binder.bind(layout, desc.entries, group)?;
        // Cut to the length that it has: the list's own was stored just now, and to load it with the pointer, as one,
        // would wait for that.
        let bindings = &group.bindings[..layout.elements as usize];
        let layout = desc.layout.slot();
        if let Err(error) = self.backend.create_bind_group(slot, desc.label, layout, bindings) {
            return Err(self.backend_error(error, named(ResourceKind::BindGroup, desc.label)));
        }
        group_layouts.retain(layout);
        for binding in bindings {
            match *binding {
                NativeBinding::Buffer { buffer, .. } => buffers.retain(buffer),
                NativeBinding::Texture { view, .. } => views.retain(view),
                NativeBinding::Sampler { sampler } => samplers.retain(sampler),
            }
        }
        group.label.set(desc.label);
        group.layout = desc.layout;
        group.native = self.backend.native_group(slot);
        let handle = groups.insert_spare(slot);
        Ok(self.own(handle))
    }
}

/// Checks a description and fills a record.
struct Binder<'a> {
    label: &'a str,
    buffers: &'a Table<BufferRecord>,
    textures: &'a Table<TextureRecord>,
    views: &'a Table<TextureViewRecord>,
    samplers: &'a Table<SamplerRecord>,
}

impl Binder<'_> {
    #[cold]
    #[inline(never)]
    fn what(&self) -> String {
        named(ResourceKind::BindGroup, self.label)
    }

    fn bind(
        &self,
        layout: &BindGroupLayoutRecord,
        entries: &[BindGroupEntry<'_>],
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        if entries.len() != layout.entries.len() {
            return Err(self.mismatch(layout, entries));
        }
        let wanted = layout.entries.iter().zip(&layout.rules).zip(&layout.sampled);
        for (((wanted, rule), classes), mut given) in wanted.zip(entries) {
            // Mostly in the layout's order. As many entries as the layout has, and each of its bindings found: then
            // none is there twice.
            if given.binding != wanted.binding {
                given = match entries.iter().find(|entry| entry.binding == wanted.binding) {
                    Some(entry) => entry,
                    None => return Err(self.mismatch(layout, entries)),
                };
            }
            match given.resource {
                // No array is one of buffers.
                BindingResource::Buffer { buffer, offset, size } => {
                    self.bind_buffer(wanted, rule.as_ref(), (buffer, offset, size), group)?;
                }
                BindingResource::Texture(view) if wanted.count.is_none() => {
                    self.bind_view(wanted, *classes, view, group)?;
                }
                BindingResource::Sampler(sampler) if wanted.count.is_none() => {
                    self.bind_sampler(wanted, sampler, group)?;
                }
                _ => self.bind_list(wanted, *classes, &given.resource, group)?,
            }
        }
        Ok(())
    }

    /// Binds an array, or says that it is none, or that one was wanted.
    #[inline(never)]
    fn bind_list(
        &self,
        wanted: &BindGroupLayoutEntry,
        classes: Classes,
        given: &BindingResource<'_>,
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        match (given, wanted.ty, wanted.count) {
            (BindingResource::TextureArray(views), BindingType::Texture { .. }, Some(count)) => {
                let bind = |binder: &Self, wanted: &_, view, group: &mut _| {
                    binder.bind_view(wanted, classes, view, group)
                };
                self.bind_array(wanted, views, count, group, bind)
            }
            (BindingResource::SamplerArray(samplers), BindingType::Sampler(_), Some(count)) => {
                self.bind_array(wanted, samplers, count, group, Self::bind_sampler)
            }
            _ => Err(self.wrong_shape(wanted, given)),
        }
    }

    /// Binds the elements of an array, and the first one in place of each that is not there.
    fn bind_array<K: Kind>(
        &self,
        wanted: &BindGroupLayoutEntry,
        elements: &[Option<Handle<K>>],
        count: NonZeroU32,
        group: &mut BindGroupRecord,
        bind: impl Fn(&Self, &BindGroupLayoutEntry, Handle<K>, &mut BindGroupRecord) -> Result<()>,
    ) -> Result<()> {
        let most = count.get() as usize;
        let Some(Some(first)) = elements.first() else {
            let found = format!("binding {}: none", wanted.binding);
            return Err(invalid(self.what(), "entries", "a first element, which fills the holes", found));
        };
        if elements.len() > most {
            let found = format!("binding {}: {}", wanted.binding, elements.len());
            return Err(invalid(self.what(), "entries", format!("at most {most} elements"), found));
        }
        let start = group.bindings.len();
        group.bindings.reserve(most);
        bind(self, wanted, *first, group)?;
        let fallback = group.bindings[start];
        for (index, element) in elements.iter().enumerate().skip(1) {
            match element {
                None => group.bindings.push(fallback),
                Some(element) => {
                    bind(self, wanted, *element, group).map_err(|error| at_element(error, index))?
                }
            }
        }
        group.bindings.resize(start + most, fallback);
        Ok(())
    }

    /// Says that one resource was given for an array, or the other way round, or the wrong kind.
    #[cold]
    #[inline(never)]
    fn wrong_shape(&self, wanted: &BindGroupLayoutEntry, given: &BindingResource<'_>) -> Error {
        let found = match given {
            BindingResource::Buffer { .. } => "a buffer".into(),
            BindingResource::Texture(_) => "a texture view".into(),
            BindingResource::Sampler(_) => "a sampler".into(),
            BindingResource::TextureArray(views) => format!("an array of {} texture views", views.len()),
            BindingResource::SamplerArray(samplers) => format!("an array of {} samplers", samplers.len()),
        };
        self.wrong_kind(wanted, &found)
    }

    #[cold]
    #[inline(never)]
    fn stale<R: Record, K: Kind>(&self, table: &Table<R>, handle: Handle<K>, binding: u32) -> Error {
        table.problem(handle, format!("{}, binding {binding}", self.what()))
    }

    /// Says which binding is extra, missing or there twice.
    #[cold]
    #[inline(never)]
    fn mismatch(&self, layout: &BindGroupLayoutRecord, entries: &[BindGroupEntry<'_>]) -> Error {
        let label = &layout.label;
        let is_wanted =
            |entry: &&BindGroupEntry<'_>| layout.entries.iter().any(|wanted| wanted.binding == entry.binding);
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
        rule: Option<&BufferRule>,
        (buffer, offset, size): (Buffer, u64, Option<u64>),
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        let binding = wanted.binding;
        let Some(rule) = rule else {
            return Err(self.wrong_kind(wanted, "a buffer"));
        };
        let Some(hot) = self.buffers.hot(buffer) else {
            return Err(self.stale(self.buffers, buffer, binding));
        };
        let size = size.unwrap_or(hot.size.saturating_sub(offset));
        if !rule.holds(hot, offset, size) {
            return Err(self.bad_range(wanted, rule, buffer, offset, size));
        }
        group.bindings.push(NativeBinding::Buffer { buffer: buffer.slot(), offset, size });
        let dynamic = rule.dynamic.then_some(group.dynamic.len() as u8);
        if rule.dynamic {
            group.dynamic.push(DynamicBinding {
                binding,
                alignment: rule.alignment,
                most: hot.size - offset - size,
                size,
                buffer: buffer.slot(),
            });
        }
        if hot.tracked {
            let usage = ResourceUse::Buffer { buffer, offset, size, usage: rule.used };
            group.tracked.push(TrackedBinding { usage, binding, dynamic });
        } else if hot.guarded {
            group.unwritten.push(NativeBinding::Buffer { buffer: buffer.slot(), offset, size });
        }
        Ok(())
    }

    /// Says which part of the rule a range breaks.
    #[cold]
    #[inline(never)]
    fn bad_range(
        &self,
        wanted: &BindGroupLayoutEntry,
        rule: &BufferRule,
        buffer: Buffer,
        offset: u64,
        size: u64,
    ) -> Error {
        let what = self.what();
        let Some(record) = self.buffers.get(buffer) else {
            return self.stale(self.buffers, buffer, wanted.binding);
        };
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

    /// A view of contents that are all uploaded, of the right kind: two rows say so. All else is looked at in full.
    #[inline]
    fn bind_view(
        &self,
        wanted: &BindGroupLayoutEntry,
        classes: Classes,
        view: TextureView,
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        if let Some(hot) = self.views.hot(view)
            && classes.take(hot.class)
            && self.textures.hot_at(hot.texture).is_some_and(|whole| *whole)
        {
            group.bindings.push(NativeBinding::Texture { view: view.slot(), layout: hot.layout });
            return Ok(());
        }
        self.bind_texture(wanted, view, group)
    }

    #[inline(never)]
    fn bind_texture(
        &self,
        wanted: &BindGroupLayoutEntry,
        view: TextureView,
        group: &mut BindGroupRecord,
    ) -> Result<()> {
        let binding = wanted.binding;
        let Some(record) = self.views.get(view) else {
            return Err(self.stale(self.views, view, binding));
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
            BindingType::Texture { sample_type, multisampled, .. } => {
                if multisampled != (record.samples > 1) {
                    let expected = if multisampled { "a multisampled texture" } else { "one sample a texel" };
                    return refuse(expected.into(), format!("{} samples", record.samples));
                }
                if !samples_as(record.sample_type, sample_type) {
                    let found = format!("{:?} of {:?}", record.sample_type, record.format);
                    return refuse(format!("sample type {sample_type:?}"), found);
                }
                if record.partial {
                    let detail = format!(
                        "binding {binding}: {} of the texture's layers (view \"{}\")",
                        record.range.layers, record.label
                    );
                    return Err(unsupported(self.what(), "feature LAYER_VIEWS", detail));
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
        }
        let native = NativeBinding::Texture { view: view.slot(), layout: usage.layout(record.range.aspects) };
        group.bindings.push(native);
        let unwritten = record.contents == Contents::Uploaded
            && self
                .textures
                .at(record.texture)
                .is_some_and(|texture| !texture.written.contains(&record.range));
        if unwritten {
            group.unwritten.push(native);
        }
        Ok(())
    }

    #[inline(never)]
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
            return Err(self.stale(self.samplers, sampler, binding));
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
    #[inline(never)]
    fn wrong_kind(&self, wanted: &BindGroupLayoutEntry, found: &str) -> Error {
        let (one, many) = match wanted.ty {
            BindingType::Buffer { .. } => ("a buffer", "buffers"),
            BindingType::Sampler(_) => ("a sampler", "samplers"),
            _ => ("a texture view", "texture views"),
        };
        let expected = match wanted.count {
            None => format!("{one} at binding {}", wanted.binding),
            Some(count) => format!("an array of {count} {many} at binding {}", wanted.binding),
        };
        invalid(self.what(), "entries", expected, found)
    }
}

/// Says which element of an array an error is about.
#[cold]
fn at_element(mut error: Error, index: usize) -> Error {
    if let Error::InvalidDescription { what, .. } | Error::InvalidHandle { what, .. } = &mut error {
        what.push_str(&format!(", element {index}"));
    }
    error
}

impl BindGroupEntry<'_> {
    /// The resource's kind, or that of an array's elements.
    pub fn kind(&self) -> ResourceKind {
        match self.resource {
            BindingResource::Buffer { .. } => ResourceKind::Buffer,
            BindingResource::Texture(_) | BindingResource::TextureArray(_) => ResourceKind::TextureView,
            BindingResource::Sampler(_) | BindingResource::SamplerArray(_) => ResourceKind::Sampler,
        }
    }
}
