//! Copies: validation, declared uses, and the native calls.

use arrayvec::ArrayVec;

use crate::backend::{Backend, Encoder, NativeBufferTextureCopy, NativeTextureCopy};
use crate::desc::{BufferSlice, Contents, TexelLayout, TexturePlace};
use crate::error::{Error, Result, invalid, named};
use crate::handle::{Buffer, ResourceKind};
use crate::plan::{BufferUse, ResourceUse, TextureUse};
use crate::registry::{BufferRecord, Registry, TextureRecord};
use crate::services::{Footprint, TextureRegion, align_up, check_depth_write};
use crate::types::{BufferUsages, Extent3d, TextureDimension, TextureUsages};

/// Records copies whose uses the pass declared. A mistake is kept and answered at the pass's end.
///
/// Copies of one pass are not ordered among themselves.
#[derive(Debug)]
pub struct TransferPass<'p, B: Backend> {
    registry: &'p Registry,
    backend: &'p B,
    encoder: &'p mut B::Encoder,
    declared: &'p [ResourceUse],
    label: &'p str,
    mistake: Option<Error>,
}

impl<'p, B: Backend> TransferPass<'p, B> {
    pub(super) fn new(
        registry: &'p Registry,
        backend: &'p B,
        encoder: &'p mut B::Encoder,
        declared: &'p [ResourceUse],
        label: &'p str,
    ) -> Self {
        Self { registry, backend, encoder, declared, label, mistake: None }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.mistake {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// The first mistake so far; the pass will answer it.
    pub fn mistake(&self) -> Option<&Error> {
        self.mistake.as_ref()
    }

    fn what(&self, call: &str) -> String {
        format!("pass \"{}\", {call}", self.label)
    }

    fn attempt(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) {
        if self.mistake.is_none() {
            self.mistake = body(self).err();
        }
    }

    fn check_declared(&self, uses: &[ResourceUse], call: &str) -> Result<()> {
        for wanted in uses {
            let tracked = match wanted {
                ResourceUse::Buffer { buffer, .. } => self
                    .registry
                    .buffers
                    .get(*buffer)
                    .is_none_or(|record| record.contents == Contents::Tracked),
                ResourceUse::Texture { texture, .. } => self
                    .registry
                    .textures
                    .get(*texture)
                    .is_none_or(|record| record.contents == Contents::Tracked),
            };
            if tracked && !super::declared::Declared::new(self.declared, &[]).covers(wanted) {
                let expected = format!("{wanted:?} declared by the pass");
                return Err(invalid(self.what(call), "uses", expected, "no such declaration"));
            }
        }
        Ok(())
    }

    fn buffer(&self, buffer: Buffer, usage: BufferUsages, call: &str) -> Result<&'p BufferRecord> {
        let record = self.registry.buffers.check(buffer, || self.what(call))?;
        if !record.usage.contains(usage) {
            let found = format!("{:?} of \"{}\"", record.usage, record.label);
            return Err(invalid(self.what(call), "buffer", format!("usage {usage:?}"), found));
        }
        Ok(record)
    }

    /// Copies bytes between buffers, or within one when the ranges do not overlap. Offsets and size are multiples of
    /// four; an empty copy does nothing.
    pub fn copy_buffer(&mut self, src: BufferSlice, dst: Buffer, dst_offset: u64) {
        let call = "copy_buffer";
        self.attempt(|pass| {
            let source = pass.buffer(src.buffer, BufferUsages::COPY_SRC, call)?;
            let target = pass.buffer(dst, BufferUsages::COPY_DST, call)?;
            pass.not_uploaded(target, call)?;
            pass.check_bytes(source, src.offset, src.size, source.padded_size, call)?;
            pass.check_bytes(target, dst_offset, src.size, target.padded_size, call)?;
            let overlaps =
                src.buffer == dst && src.offset < dst_offset + src.size && dst_offset < src.offset + src.size;
            if overlaps {
                let found = format!(
                    "bytes {}..{} to {dst_offset}..{} of \"{}\"",
                    src.offset,
                    src.offset + src.size,
                    dst_offset + src.size,
                    source.label
                );
                return Err(invalid(pass.what(call), "dst_offset", "ranges that do not overlap", found));
            }
            pass.check_declared(&buffer_copy_uses(src, dst, dst_offset), call)?;
            if src.size > 0 {
                let (from, to) = (src.buffer.slot(), dst.slot());
                pass.encoder.copy_buffer(pass.backend, from, src.offset, to, dst_offset, src.size);
            }
            Ok(())
        });
    }

    /// Fills a buffer range with zeros. Offset and size are multiples of four.
    pub fn clear_buffer(&mut self, range: BufferSlice) {
        let call = "clear_buffer";
        self.attempt(|pass| {
            let record = pass.buffer(range.buffer, BufferUsages::COPY_DST, call)?;
            pass.not_uploaded(record, call)?;
            pass.check_bytes(record, range.offset, range.size, record.padded_size, call)?;
            pass.check_declared(&[buffer_use(range, BufferUse::CopyDst)], call)?;
            if range.size > 0 {
                pass.encoder.clear_buffer(pass.backend, range.buffer.slot(), range.offset, range.size);
            }
            Ok(())
        });
    }

    fn not_uploaded(&self, record: &BufferRecord, call: &str) -> Result<()> {
        if record.contents == Contents::Uploaded {
            let found = format!("contents Uploaded of \"{}\"", record.label);
            return Err(invalid(self.what(call), "dst", "a buffer with contents Tracked", found));
        }
        Ok(())
    }

    fn check_bytes(
        &self,
        record: &BufferRecord,
        offset: u64,
        size: u64,
        available: u64,
        call: &str,
    ) -> Result<()> {
        if !offset.is_multiple_of(4) || !size.is_multiple_of(4) {
            let found = format!("{size} bytes from {offset} of \"{}\"", record.label);
            return Err(invalid(self.what(call), "range", "offset and size multiples of 4", found));
        }
        if offset.checked_add(size).is_none_or(|end| end > available) {
            let expected = format!("a range within the {available} bytes of \"{}\"", record.label);
            return Err(invalid(self.what(call), "range", expected, format!("{size} bytes from {offset}")));
        }
        Ok(())
    }

    /// Copies texels from a buffer. Needs `bytes_per_row` a multiple of the backend's row alignment.
    pub fn copy_buffer_to_texture(
        &mut self,
        buffer: Buffer,
        layout: &TexelLayout,
        place: &TexturePlace,
        extent: Extent3d,
    ) {
        self.attempt(|pass| {
            let copy = pass.buffer_texture(buffer, layout, place, extent, true)?;
            if let Some(copy) = copy {
                pass.encoder.copy_buffer_to_texture(pass.backend, &copy);
            }
            Ok(())
        });
    }

    /// Copies texels to a buffer. Needs `bytes_per_row` a multiple of the backend's row alignment.
    pub fn copy_texture_to_buffer(
        &mut self,
        place: &TexturePlace,
        extent: Extent3d,
        buffer: Buffer,
        layout: &TexelLayout,
    ) {
        self.attempt(|pass| {
            let copy = pass.buffer_texture(buffer, layout, place, extent, false)?;
            if let Some(copy) = copy {
                pass.encoder.copy_texture_to_buffer(pass.backend, &copy);
            }
            Ok(())
        });
    }

    fn buffer_texture(
        &self,
        buffer: Buffer,
        layout: &TexelLayout,
        place: &TexturePlace,
        extent: Extent3d,
        to_texture: bool,
    ) -> Result<Option<NativeBufferTextureCopy>> {
        let call = if to_texture { "copy_buffer_to_texture" } else { "copy_texture_to_buffer" };
        let what = || self.what(call);
        let (buffer_usage, texture_usage) = if to_texture {
            (BufferUsages::COPY_SRC, TextureUsages::COPY_DST)
        } else {
            (BufferUsages::COPY_DST, TextureUsages::COPY_SRC)
        };
        let bytes = self.buffer(buffer, buffer_usage, call)?;
        if !to_texture {
            self.not_uploaded(bytes, call)?;
        }
        let texture = self.texture(place, texture_usage, to_texture, call)?;
        let region = TextureRegion::check(texture, place, extent, what)?;
        let Some(footprint) = Footprint::of(texture.format, region.aspect, extent) else {
            let found = format!("{:?} of {:?}", region.aspect, texture.format);
            return Err(invalid(what(), "aspect", "an aspect with a linear layout", found));
        };
        let capabilities = self.backend.capabilities();
        if to_texture {
            check_depth_write(texture.format, region.aspect, capabilities.features, what)?;
        }
        let (row, offset) = (capabilities.copy_row_alignment, capabilities.copy_offset_alignment);
        let (row, offset) = (row.max(footprint.block), offset.max(footprint.block).max(4));
        footprint.check(layout, bytes.padded_size, row, offset, what)?;
        let uses = buffer_texture_uses(self.registry, buffer, layout, place, extent, to_texture, call)?;
        self.check_declared(&uses, call)?;
        if footprint.tight_bytes() == Some(0) {
            return Ok(None);
        }
        // A single row or image has no next one, so its pitch says nothing and may be anything; natively it is checked.
        let single_row = footprint.rows == 1 && footprint.images == 1;
        let pitch = align_up(u64::from(footprint.row_bytes), u64::from(row)) as u32;
        Ok(Some(NativeBufferTextureCopy {
            buffer: buffer.slot(),
            offset: layout.offset,
            bytes_per_row: if single_row { pitch } else { layout.bytes_per_row },
            rows_per_image: if footprint.images == 1 { footprint.rows } else { layout.rows_per_image },
            texture: place.texture.slot(),
            format: texture.format,
            aspect: region.aspect,
            mip: place.mip,
            origin: place.origin,
            extent,
            volume: texture.dimension == TextureDimension::D3,
        }))
    }

    fn texture(
        &self,
        place: &TexturePlace,
        usage: TextureUsages,
        written: bool,
        call: &str,
    ) -> Result<&'p TextureRecord> {
        let record = self.registry.textures.check(place.texture, || self.what(call))?;
        if !record.usage.contains(usage) {
            let found = format!("{:?} of \"{}\"", record.usage, record.label);
            return Err(invalid(self.what(call), "texture", format!("usage {usage:?}"), found));
        }
        if written && record.contents == Contents::Uploaded {
            let found = format!("contents Uploaded of \"{}\"", record.label);
            return Err(invalid(self.what(call), "dst", "a texture with contents Tracked", found));
        }
        Ok(record)
    }

    /// Copies texels between textures of one format (sRGB and linear siblings count as one), or between different
    /// subresources of one texture. A depth-stencil copy takes all aspects.
    pub fn copy_texture(&mut self, src: &TexturePlace, dst: &TexturePlace, extent: Extent3d) {
        let call = "copy_texture";
        self.attempt(|pass| {
            let source = pass.texture(src, TextureUsages::COPY_SRC, false, call)?;
            let target = pass.texture(dst, TextureUsages::COPY_DST, true, call)?;
            if source.format.remove_srgb_suffix() != target.format.remove_srgb_suffix() {
                let expected = format!("{:?} or its sRGB sibling", source.format);
                return Err(invalid(pass.what(call), "format", expected, format!("{:?}", target.format)));
            }
            let uses = texture_copy_uses(pass.registry, src, dst, extent, call)?;
            let overlap = match (&uses[0], &uses[1]) {
                (ResourceUse::Texture { range: a, .. }, ResourceUse::Texture { range: b, .. }) => {
                    src.texture == dst.texture && a.overlaps(b)
                }
                _ => false,
            };
            if overlap {
                let found = format!("mip {} to mip {} of \"{}\"", src.mip, dst.mip, source.label);
                return Err(invalid(pass.what(call), "dst", "different subresources", found));
            }
            pass.check_declared(&uses, call)?;
            if extent.width == 0 || extent.height == 0 || extent.depth_or_array_layers == 0 {
                return Ok(());
            }
            let copy = NativeTextureCopy {
                src: (src.texture.slot(), src.mip, src.origin),
                dst: (dst.texture.slot(), dst.mip, dst.origin),
                aspect: crate::types::TextureAspect::All,
                format: source.format,
                extent,
                volume: (source.dimension == TextureDimension::D3, target.dimension == TextureDimension::D3),
            };
            pass.encoder.copy_texture(pass.backend, &copy);
            Ok(())
        });
    }
}

pub(crate) fn buffer_use(range: BufferSlice, usage: BufferUse) -> ResourceUse {
    ResourceUse::Buffer { buffer: range.buffer, offset: range.offset, size: range.size, usage }
}

pub(crate) fn buffer_copy_uses(src: BufferSlice, dst: Buffer, dst_offset: u64) -> [ResourceUse; 2] {
    let target = BufferSlice { buffer: dst, offset: dst_offset, size: src.size };
    [buffer_use(src, BufferUse::CopySrc), buffer_use(target, BufferUse::CopyDst)]
}

/// The uses of a copy between a buffer and a texture: the buffer's, then the texture's.
pub(crate) fn buffer_texture_uses(
    registry: &Registry,
    buffer: Buffer,
    layout: &TexelLayout,
    place: &TexturePlace,
    extent: Extent3d,
    to_texture: bool,
    label: &str,
) -> Result<ArrayVec<ResourceUse, 2>> {
    let record = registry.textures.check(place.texture, || label.into())?;
    let what = || format!("{label} with {}", named(ResourceKind::Texture, &record.label));
    let region = TextureRegion::check(record, place, extent, what)?;
    let end = Footprint::of(record.format, region.aspect, extent).and_then(|footprint| footprint.end(layout));
    let Some(end) = end else {
        return Err(invalid(what(), "layout", "texels that 64 bits can address", format!("{layout:?}")));
    };
    // Rows may have gaps that keep what is there, so a padded write is not a whole one.
    let (buffer_usage, texture_usage) = if to_texture {
        (BufferUse::CopySrc, TextureUse::CopyDst { whole: region.whole })
    } else {
        (BufferUse::CopyDst, TextureUse::CopySrc)
    };
    let size = end.saturating_sub(layout.offset);
    let range = BufferSlice { buffer, offset: layout.offset, size };
    let texture = ResourceUse::Texture { texture: place.texture, range: region.range, usage: texture_usage };
    Ok(ArrayVec::from([buffer_use(range, buffer_usage), texture]))
}

pub(crate) fn texture_read_use(
    registry: &Registry,
    place: &TexturePlace,
    extent: Extent3d,
    label: &str,
) -> Result<ResourceUse> {
    let record = registry.textures.check(place.texture, || label.into())?;
    let what = || format!("{label} of {}", named(ResourceKind::Texture, &record.label));
    let region = TextureRegion::check(record, place, extent, what)?;
    Ok(ResourceUse::Texture { texture: place.texture, range: region.range, usage: TextureUse::CopySrc })
}

/// The uses of a copy between textures: the source's, then the destination's.
pub(crate) fn texture_copy_uses(
    registry: &Registry,
    src: &TexturePlace,
    dst: &TexturePlace,
    extent: Extent3d,
    label: &str,
) -> Result<[ResourceUse; 2]> {
    let side = |place: &TexturePlace, written: bool| -> Result<ResourceUse> {
        let record = registry.textures.check(place.texture, || label.into())?;
        let what = || format!("{label} with {}", named(ResourceKind::Texture, &record.label));
        // A combined format is copied whole; a region is checked by one of its aspects.
        let aspect = if record.format.is_combined_depth_stencil_format() {
            crate::types::TextureAspect::DepthOnly
        } else {
            place.aspect
        };
        let region = TextureRegion::check(record, &TexturePlace { aspect, ..*place }, extent, what)?;
        let range = crate::plan::TextureRange { aspects: record.aspects(), ..region.range };
        let usage = if written { TextureUse::CopyDst { whole: region.whole } } else { TextureUse::CopySrc };
        Ok(ResourceUse::Texture { texture: place.texture, range, usage })
    };
    Ok([side(src, false)?, side(dst, true)?])
}
