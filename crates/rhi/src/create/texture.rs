//! Textures and their views.

use crate::backend::{Backend, NativeView};
use crate::caps::{Features, FormatUses, UnmetLimit};
use crate::desc::{Contents, TextureDesc, TextureViewDesc, full_mip_count};
use crate::device::Device;
use crate::error::{Error, Result, invalid, named, over_limit, unsupported};
use crate::formats::volume_feature;
use crate::handle::{ResourceKind, Texture, TextureView, kind};
use crate::needs::Unmet;
use crate::owned::Owned;
use crate::plan::{Aspects, TextureRange};
use crate::registry::{TextureRecord, TextureViewRecord};
use crate::types::{
    Extent3d, TextureAspect, TextureDimension, TextureFormat, TextureSampleType, TextureUsages,
    TextureViewDimension,
};
use crate::written::Written;

const KNOWN: TextureUsages = TextureUsages::COPY_SRC
    .union(TextureUsages::COPY_DST)
    .union(TextureUsages::TEXTURE_BINDING)
    .union(TextureUsages::STORAGE_BINDING)
    .union(TextureUsages::RENDER_ATTACHMENT);

impl<B: Backend> Device<B> {
    /// Creates a texture with undefined contents.
    ///
    /// # Errors
    /// Zero or over-limit sizes, too many mips, a format use that the device lacks, an unknown usage, multisampling of
    /// what is no flat attachment, the memory budget, the slot ceiling, or memory.
    pub fn create_texture(&mut self, desc: &TextureDesc<'_>) -> Result<Owned<kind::Texture>> {
        let what = || named(ResourceKind::Texture, desc.label);
        self.check_lost("create_texture")?;
        self.check_texture(desc)?;
        let bytes = texture_bytes(desc);
        self.make_room(ResourceKind::Texture, bytes.unwrap_or(0))?;
        let bytes = known_bytes(desc, bytes)?;
        self.check_budget(bytes, what)?;
        let slot = self.registry.textures.next_slot()?;
        if let Err(error) = self.backend.create_texture(slot, desc) {
            return Err(self.backend_error(error, what()));
        }
        self.registry.charge(bytes);
        Ok(self.enter_texture(slot, desc, bytes, None))
    }

    /// Enters a texture that the backend has made.
    pub(super) fn enter_texture(
        &mut self,
        slot: u32,
        desc: &TextureDesc<'_>,
        bytes: u64,
        heap: Option<u32>,
    ) -> Owned<kind::Texture> {
        let record = TextureRecord {
            label: desc.label.into(),
            size: desc.size,
            mips: desc.mips,
            samples: desc.samples,
            dimension: desc.dimension,
            format: desc.format,
            usage: desc.usage,
            contents: desc.contents,
            view_formats: desc.view_formats.into(),
            written: Written::new(desc),
            bytes,
            surface: false,
            heap,
        };
        self.ledger.add_texture(slot, record.aspects(), record.mips, record.layers());
        let handle = self.registry.textures.insert(slot, record);
        self.registry.request(bytes);
        self.own(handle)
    }

    pub(super) fn check_texture(&self, desc: &TextureDesc<'_>) -> Result<()> {
        let what = || named(ResourceKind::Texture, desc.label);
        let limits = self.limits();
        let Extent3d { width, height, depth_or_array_layers: depth } = desc.size;
        if width == 0 || height == 0 || depth == 0 {
            return Err(invalid(
                what(),
                "size",
                "at least 1 on every side",
                format!("{width}x{height}x{depth}"),
            ));
        }
        let (side, side_limit, depth_limit, depth_name) = match desc.dimension {
            TextureDimension::D1 => {
                return Err(unsupported(what(), "one-dimensional textures", "D1 requested, not implemented"));
            }
            TextureDimension::D2 => (
                "max_texture_dimension_2d",
                limits.max_texture_dimension_2d,
                limits.max_texture_array_layers,
                "max_texture_array_layers",
            ),
            TextureDimension::D3 => (
                "max_texture_dimension_3d",
                limits.max_texture_dimension_3d,
                limits.max_texture_dimension_3d,
                "max_texture_dimension_3d",
            ),
        };
        let limit = |field, requested: u32, available: u32| UnmetLimit {
            field,
            requested: requested.into(),
            available: available.into(),
        };
        if width.max(height) > side_limit {
            let detail = format!("{width}x{height} requested, {side_limit} available");
            return Err(over_limit(what(), limit(side, width.max(height), side_limit), detail));
        }
        if depth > depth_limit {
            let detail = format!("{depth} requested, {depth_limit} available");
            return Err(over_limit(what(), limit(depth_name, depth, depth_limit), detail));
        }
        if desc.dimension == TextureDimension::D3 {
            self.check_volume_format(desc.format, what)?;
        }
        let most = full_mip_count(desc.size, desc.dimension);
        if desc.mips == 0 || desc.mips > most {
            return Err(invalid(
                what(),
                "mips",
                format!("1 to {most} for {width}x{height}x{depth}"),
                desc.mips,
            ));
        }
        if desc.samples != 1 {
            check_multisampled(desc, what)?;
            if desc.usage.contains(TextureUsages::TEXTURE_BINDING)
                && !self.capabilities().features.contains(Features::MULTISAMPLED_TEXTURES)
            {
                let detail = format!("usage TEXTURE_BINDING of {} samples requested", desc.samples);
                return Err(unsupported(what(), "feature MULTISAMPLED_TEXTURES", detail));
            }
        }
        if desc.usage.is_empty() {
            return Err(invalid(what(), "usage", "at least one usage", "none"));
        }
        if !KNOWN.contains(desc.usage) {
            let found = format!("{:?}", desc.usage - KNOWN);
            return Err(invalid(what(), "usage", "usages that are implemented", found));
        }
        let written = TextureUsages::STORAGE_BINDING | TextureUsages::RENDER_ATTACHMENT;
        if desc.contents == Contents::Uploaded && desc.usage.intersects(written) {
            let found = format!("{:?} with contents Uploaded", desc.usage & written);
            return Err(invalid(what(), "contents", "Tracked for what GPU work writes", found));
        }
        let features = self.capabilities().features;
        if desc.dimension == TextureDimension::D3
            && desc.usage.contains(TextureUsages::COPY_SRC)
            && !features.contains(Features::VOLUME_COPIES)
        {
            return Err(unsupported(what(), "feature VOLUME_COPIES", "usage COPY_SRC of a volume requested"));
        }
        self.check_format(what, desc)?;
        let (block_width, block_height) = desc.format.block_dimensions();
        if (width % block_width != 0 || height % block_height != 0)
            && !features.contains(Features::UNALIGNED_BLOCK_EXTENTS)
        {
            let block = format!("the {block_width}x{block_height} block of {:?}", desc.format);
            let detail = format!("{width}x{height} requested, no multiples of {block}");
            return Err(unsupported(what(), "feature UNALIGNED_BLOCK_EXTENTS", detail));
        }
        if desc.view_formats.iter().any(|format| *format != desc.format)
            && !features.contains(Features::VIEW_FORMATS)
        {
            let detail = format!("views of {:?} requested", desc.view_formats);
            return Err(unsupported(what(), "feature VIEW_FORMATS", detail));
        }
        for &format in desc.view_formats {
            if format.remove_srgb_suffix() != desc.format.remove_srgb_suffix() {
                let expected = format!("{:?} or its sRGB sibling", desc.format.remove_srgb_suffix());
                return Err(invalid(what(), "view_formats", expected, format!("{format:?}")));
            }
        }
        Ok(())
    }

    /// Refuses volumes of what has no third dimension.
    fn check_volume_format(&self, format: TextureFormat, what: impl Fn() -> String) -> Result<()> {
        let detail = || format!("{format:?} with dimension D3 requested");
        let Some(needed) = volume_feature(format) else {
            return Err(unsupported(what(), "volumes of depth, stencil, ETC2 and EAC formats", detail()));
        };
        if !self.capabilities().features.contains(needed) {
            return Err(unsupported(what(), format!("feature {}", needed.names()), detail()));
        }
        Ok(())
    }

    /// Refuses a format whose features are off or whose uses the device lacks.
    fn check_format(&self, what: impl Fn() -> String, desc: &TextureDesc<'_>) -> Result<()> {
        let (format, usage) = (desc.format, desc.usage);
        let needed = compression_feature(format);
        if !self.capabilities().features.contains(needed) {
            return Err(unsupported(
                what(),
                format!("feature {}", needed.names()),
                format!("{format:?} requested"),
            ));
        }
        let mut uses = FormatUses::empty();
        uses.set(FormatUses::COPY_SRC, usage.contains(TextureUsages::COPY_SRC));
        uses.set(FormatUses::COPY_DST, usage.contains(TextureUsages::COPY_DST));
        if usage.contains(TextureUsages::TEXTURE_BINDING) {
            uses |= FormatUses::SAMPLED;
        }
        if usage.contains(TextureUsages::STORAGE_BINDING) {
            uses |= FormatUses::STORAGE;
        }
        if usage.contains(TextureUsages::RENDER_ATTACHMENT) {
            uses |=
                if format.is_depth_stencil_format() { FormatUses::DEPTH_STENCIL } else { FormatUses::COLOR };
        }
        uses |= FormatUses::samples(desc.samples).unwrap_or_default();
        let available = self.backend.format_uses(format);
        if available.contains(uses) {
            return Ok(());
        }
        let need = Unmet::FormatUse { format, requested: uses, available };
        let detail = format!("{} requested, {} available", uses.names(), available.names());
        let (capability, unmet) = (need.capability(), Some(Box::new(need)));
        Err(Error::Unsupported { what: what(), capability, detail, unmet })
    }

    /// Creates a view. The view keeps its texture's memory; it does not keep the texture's handle live.
    ///
    /// # Errors
    /// A stale texture, a range outside it, an aspect that the format lacks, a format that is not among the
    /// texture's view formats, or a dimension that the selected layers cannot have.
    pub fn create_texture_view(
        &mut self,
        texture: Texture,
        desc: &TextureViewDesc<'_>,
    ) -> Result<Owned<kind::TextureView>> {
        let what = || named(ResourceKind::TextureView, desc.label);
        self.check_lost("create_texture_view")?;
        self.make_room(ResourceKind::TextureView, 0)?;
        let record = self.registry.textures.check(texture, what)?;
        let range = view_range(record, desc, what)?;
        let format = desc.format.unwrap_or(record.format);
        if format != record.format && !record.view_formats.contains(&format) {
            let expected = format!("{:?} or one of {:?}", record.format, record.view_formats.as_slice());
            return Err(invalid(what(), "format", expected, format!("{format:?}")));
        }
        let dimension = view_dimension(record, desc, range, what)?;
        let features = self.capabilities().features;
        let cubes = record.size.width == record.size.height && record.layers().is_multiple_of(6);
        if cubes && dimension == TextureViewDimension::D2Array && !features.contains(Features::CUBE_AS_ARRAY)
        {
            let detail =
                format!("an array view of the {} square layers of \"{}\"", record.layers(), record.label);
            return Err(unsupported(what(), "feature CUBE_AS_ARRAY", detail));
        }
        if dimension == TextureViewDimension::CubeArray && !features.contains(Features::CUBE_ARRAYS) {
            let detail = format!("{} layers of \"{}\" as CubeArray requested", range.layers, record.label);
            return Err(unsupported(what(), "feature CUBE_ARRAYS", detail));
        }
        let flat = matches!(dimension, TextureViewDimension::D2 | TextureViewDimension::D2Array);
        let attachable = record.usage.contains(TextureUsages::RENDER_ATTACHMENT) && range.mips == 1 && flat;
        let native = NativeView {
            label: desc.label,
            texture: texture.slot(),
            format,
            dimension,
            aspect: desc.aspect,
            range,
            attachable,
        };
        let view = TextureViewRecord {
            label: desc.label.into(),
            texture: texture.slot(),
            format,
            dimension,
            range,
            sample_type: self.sample_type(format, desc.aspect, range.aspects),
            extent: record.mip_size(range.base_mip),
            samples: record.samples,
            usage: if attachable { record.usage } else { record.usage - TextureUsages::RENDER_ATTACHMENT },
            contents: record.contents,
            partial: range.layers != record.layers()
                && !self.capabilities().features.contains(Features::LAYER_VIEWS),
        };
        let slot = self.registry.views.next_slot()?;
        if let Err(error) = self.backend.create_texture_view(slot, &native) {
            return Err(self.backend_error(error, what()));
        }
        let handle: TextureView = self.registry.views.insert(slot, view);
        self.registry.textures.retain(texture.slot());
        Ok(self.own(handle))
    }

    fn sample_type(
        &self,
        format: TextureFormat,
        aspect: TextureAspect,
        aspects: Aspects,
    ) -> TextureSampleType {
        if aspects == Aspects::DEPTH {
            return TextureSampleType::Depth;
        }
        if aspects == Aspects::STENCIL {
            return TextureSampleType::Uint;
        }
        match format.sample_type(Some(aspect), None) {
            Some(TextureSampleType::Float { .. }) => TextureSampleType::Float {
                filterable: self.backend.format_uses(format).contains(FormatUses::FILTERABLE),
            },
            Some(other) => other,
            None => TextureSampleType::Float { filterable: false },
        }
    }

    /// What the texture was created with.
    pub fn describe_texture(&self, texture: Texture) -> Result<TextureDesc<'_>> {
        let record = self.registry.textures.check(texture, || "describe_texture".into())?;
        Ok(TextureDesc {
            label: &record.label,
            size: record.size,
            mips: record.mips,
            samples: record.samples,
            dimension: record.dimension,
            format: record.format,
            usage: record.usage,
            contents: record.contents,
            view_formats: &record.view_formats,
        })
    }

    /// The bytes that the texture's description comes to, without alignment.
    pub fn texture_bytes(&self, texture: Texture) -> Result<u64> {
        Ok(self.registry.textures.check(texture, || "texture_bytes".into())?.bytes)
    }

    /// Texels of mip zero, with layers or depth third.
    pub fn texture_size(&self, texture: Texture) -> Result<Extent3d> {
        Ok(self.registry.textures.check(texture, || "texture_size".into())?.size)
    }

    /// The texture's format.
    pub fn texture_format(&self, texture: Texture) -> Result<TextureFormat> {
        Ok(self.registry.textures.check(texture, || "texture_format".into())?.format)
    }
}

/// Multisampled textures are flat attachments that shaders may read; WebGPU's rules.
fn check_multisampled(desc: &TextureDesc<'_>, what: impl Fn() -> String) -> Result<()> {
    let allowed = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    let refuse = |field, expected: &str, found: String| {
        let found = format!("{found} with {} samples", desc.samples);
        Err(invalid(what(), field, expected, found))
    };
    if FormatUses::samples(desc.samples).is_none() {
        return Err(invalid(what(), "samples", "1, 2, 4, 8 or 16", desc.samples));
    }
    if desc.dimension != TextureDimension::D2 || desc.size.depth_or_array_layers != 1 {
        let found = format!("{:?} of {} layers", desc.dimension, desc.size.depth_or_array_layers);
        return refuse("dimension", "D2 of one layer", found);
    }
    if desc.mips != 1 {
        return refuse("mips", "1", desc.mips.to_string());
    }
    if !desc.usage.contains(TextureUsages::RENDER_ATTACHMENT) || !allowed.contains(desc.usage) {
        return refuse(
            "usage",
            "RENDER_ATTACHMENT, and TEXTURE_BINDING at most",
            format!("{:?}", desc.usage),
        );
    }
    Ok(())
}

fn view_range(
    record: &TextureRecord,
    desc: &TextureViewDesc<'_>,
    what: impl Fn() -> String,
) -> Result<TextureRange> {
    let resolve = |field, base: u32, count: u32, all: u32| -> Result<u32> {
        let rest = all.saturating_sub(base);
        let count = if count == 0 { rest } else { count };
        if count == 0 || count > rest {
            let expected = format!("a range within 0..{all}");
            return Err(invalid(
                what(),
                field,
                expected,
                format!("{base}..{}", u64::from(base) + u64::from(count)),
            ));
        }
        Ok(count)
    };
    let aspects = Aspects::of(record.format, desc.aspect);
    if aspects.is_empty() {
        let expected = format!("an aspect of {:?}", record.format);
        return Err(invalid(what(), "aspect", expected, format!("{:?}", desc.aspect)));
    }
    Ok(TextureRange {
        aspects,
        base_mip: desc.base_mip,
        mips: resolve("mips", desc.base_mip, desc.mips, record.mips)?,
        base_layer: desc.base_layer,
        layers: resolve("layers", desc.base_layer, desc.layers, record.layers())?,
    })
}

fn view_dimension(
    record: &TextureRecord,
    desc: &TextureViewDesc<'_>,
    range: TextureRange,
    what: impl Fn() -> String,
) -> Result<TextureViewDimension> {
    let natural = match record.dimension {
        TextureDimension::D1 => TextureViewDimension::D1,
        TextureDimension::D3 => TextureViewDimension::D3,
        TextureDimension::D2 if range.layers > 1 => TextureViewDimension::D2Array,
        TextureDimension::D2 => TextureViewDimension::D2,
    };
    let dimension = desc.dimension.unwrap_or(natural);
    let flat = record.dimension == TextureDimension::D2;
    let square = record.size.width == record.size.height;
    let ok = match dimension {
        TextureViewDimension::D1 => false,
        TextureViewDimension::D2 => flat && range.layers == 1,
        TextureViewDimension::D2Array => flat,
        TextureViewDimension::Cube => flat && square && range.layers == 6,
        TextureViewDimension::CubeArray => flat && square && range.layers.is_multiple_of(6),
        TextureViewDimension::D3 => record.dimension == TextureDimension::D3,
    };
    if !ok {
        let expected = format!(
            "a dimension that {} layers of a {:?} texture of {}x{} can have, such as {natural:?}",
            range.layers, record.dimension, record.size.width, record.size.height
        );
        return Err(invalid(what(), "dimension", expected, format!("{dimension:?}")));
    }
    Ok(dimension)
}

fn compression_feature(format: TextureFormat) -> Features {
    if format.is_bcn() {
        Features::TEXTURE_COMPRESSION_BC
    } else if format.is_astc() {
        Features::TEXTURE_COMPRESSION_ASTC
    } else if format.is_compressed() {
        Features::TEXTURE_COMPRESSION_ETC2
    } else {
        Features::empty()
    }
}

/// Bytes of one texel block of an aspect as buffers and uploads see it.
pub(crate) fn block_bytes(format: TextureFormat, aspect: crate::types::TextureAspect) -> Option<u32> {
    format.block_copy_size(Some(aspect)).or(match format {
        // The depth aspect of these has no portable copy; its size still counts for memory.
        TextureFormat::Depth24Plus | TextureFormat::Depth24PlusStencil8 => Some(4),
        _ => None,
    })
}

/// The bytes, which fit in 64 bits.
pub(super) fn known_bytes(desc: &TextureDesc<'_>, bytes: Option<u64>) -> Result<u64> {
    bytes.ok_or_else(|| {
        let what = named(ResourceKind::Texture, desc.label);
        invalid(what, "size", "a size whose bytes fit in 64 bits", format!("{:?}", desc.size))
    })
}

pub(super) fn texture_bytes(desc: &TextureDesc<'_>) -> Option<u64> {
    let mut total = 0u64;
    for mip in 0..desc.mips {
        let bytes = mip_bytes(desc.format, desc.dimension, desc.mip_size(mip))?;
        total = total.checked_add(bytes.checked_mul(u64::from(desc.layers()))?)?;
    }
    total.checked_mul(u64::from(desc.samples))
}

/// Bytes of a mip of one layer, or of all slices of a volume, one sample a texel and all aspects together.
pub(crate) fn mip_bytes(format: TextureFormat, dimension: TextureDimension, size: Extent3d) -> Option<u64> {
    let block = if format.is_combined_depth_stencil_format() {
        block_bytes(format, TextureAspect::DepthOnly)? + block_bytes(format, TextureAspect::StencilOnly)?
    } else {
        block_bytes(format, TextureAspect::All)?
    };
    let (block_width, block_height) = format.block_dimensions();
    let blocks = u64::from(size.width.div_ceil(block_width)) * u64::from(size.height.div_ceil(block_height));
    let slices = if dimension == TextureDimension::D3 { size.depth_or_array_layers } else { 1 };
    blocks.checked_mul(u64::from(block))?.checked_mul(u64::from(slices))
}
