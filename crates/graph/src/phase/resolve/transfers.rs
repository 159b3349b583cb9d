//! Copies, clears and readbacks: sizes that match, and the exact ranges that they touch.

use purlin_rhi::TexelLayout;
use purlin_rhi::plan::{BufferUse, TextureRange, TextureUse};
use purlin_rhi::types::{Extent3d, TextureAspect, TextureDimension, TextureFormat};

use super::{buffer_range, push_buffer, push_texture, texture_range};
use crate::context::{Context, Origin, Shape};
use crate::declare::{At, Transfer};
use crate::error::GraphError;
use crate::version::{BufferRef, TextureRef};

pub(super) fn run(context: &mut Context, pass: u32, transfer: Transfer) -> Result<(), GraphError> {
    let at = context.declared.passes[pass as usize].at;
    match transfer {
        Transfer::ClearBuffer { dst } => {
            let range = buffer_range(context, pass, dst, true, at)?;
            write_buffer(context, pass, dst, range, at)
        }
        Transfer::CopyBuffer { src, dst } => {
            let from = buffer_range(context, pass, src, true, at)?;
            let to = buffer_range(context, pass, dst, true, at)?;
            if from.1 != to.1 {
                let names = (src.id.index, dst.id.index);
                let expected = format!("a range of {} bytes", from.1);
                return Err(mismatch(context, pass, names, &expected, to.1.to_string(), at));
            }
            read_buffer_range(context, pass, src, from, at)?;
            write_buffer(context, pass, dst, to, at)
        }
        Transfer::CopyTexture { src, dst } => copy_texture(context, pass, src, dst, at),
        Transfer::BufferToTexture { src, layout, dst } => {
            let range = texture_range(context, pass, dst, at)?;
            let names = (src.id.index, dst.id.index);
            let part = texels(context, pass, src, names, (dst, range), &layout, at)?;
            read_buffer_range(context, pass, src, part, at)?;
            let usage = TextureUse::CopyDst { whole: true };
            push_texture(context, pass, dst.id.index, range, usage, Origin::Destination, at)?;
            Ok(())
        }
        Transfer::TextureToBuffer { src, dst, layout } => {
            let range = texture_range(context, pass, src, at)?;
            let names = (src.id.index, dst.id.index);
            let part = texels(context, pass, dst, names, (src, range), &layout, at)?;
            push_texture(context, pass, src.id.index, range, TextureUse::CopySrc, Origin::Source, at)?;
            write_buffer(context, pass, dst, part, at)
        }
    }
}

pub(super) fn read_texture(context: &mut Context, pass: u32, target: TextureRef) -> Result<(), GraphError> {
    let at = context.declared.passes[pass as usize].at;
    let range = texture_range(context, pass, target, at)?;
    if range.mips != 1 || range.aspects.iter().count() != 1 {
        let found = format!("{} mips, {:?}", range.mips, range.aspects);
        let names = (target.id.index, u32::MAX);
        return Err(mismatch(context, pass, names, "one mip and one aspect", found, at));
    }
    push_texture(context, pass, target.id.index, range, TextureUse::CopySrc, Origin::Source, at)?;
    Ok(())
}

pub(super) fn read_buffer(context: &mut Context, pass: u32, target: BufferRef) -> Result<(), GraphError> {
    let at = context.declared.passes[pass as usize].at;
    let range = buffer_range(context, pass, target, true, at)?;
    read_buffer_range(context, pass, target, range, at)
}

fn read_buffer_range(
    context: &mut Context,
    pass: u32,
    target: BufferRef,
    range: (u64, u64),
    at: At,
) -> Result<(), GraphError> {
    push_buffer(context, pass, target.id.index, range, BufferUse::CopySrc, Origin::Source, at)?;
    Ok(())
}

fn write_buffer(
    context: &mut Context,
    pass: u32,
    target: BufferRef,
    range: (u64, u64),
    at: At,
) -> Result<(), GraphError> {
    push_buffer(context, pass, target.id.index, range, BufferUse::CopyDst, Origin::Destination, at)?;
    Ok(())
}

fn copy_texture(
    context: &mut Context,
    pass: u32,
    src: TextureRef,
    dst: TextureRef,
    at: At,
) -> Result<(), GraphError> {
    let from = texture_range(context, pass, src, at)?;
    let to = texture_range(context, pass, dst, at)?;
    let names = (src.id.index, dst.id.index);
    let (Some(a), Some(b)) = (Image::of(context, src.id.index), Image::of(context, dst.id.index)) else {
        return Err(mismatch(context, pass, names, "textures", "a buffer".into(), at));
    };
    let show = |image: &Image, range: &TextureRange| {
        let size = image.extent(range);
        format!(
            "{:?}, {} mips from {}x{}x{}",
            image.format, range.mips, size.width, size.height, size.depth_or_array_layers
        )
    };
    let sizes = (0..from.mips.min(to.mips)).all(|mip| {
        let at_mip = |range: &TextureRange| TextureRange { base_mip: range.base_mip + mip, ..*range };
        a.extent(&at_mip(&from)) == b.extent(&at_mip(&to))
    });
    let formats = a.format.remove_srgb_suffix() == b.format.remove_srgb_suffix();
    if from.mips != to.mips || !sizes || !formats || from.aspects != a.aspects() || to.aspects != b.aspects()
    {
        return Err(mismatch(context, pass, names, &show(&a, &from), show(&b, &to), at));
    }
    push_texture(context, pass, src.id.index, from, TextureUse::CopySrc, Origin::Source, at)?;
    let usage = TextureUse::CopyDst { whole: true };
    push_texture(context, pass, dst.id.index, to, usage, Origin::Destination, at)?;
    Ok(())
}

/// What copies need of a texture's shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image {
    pub format: TextureFormat,
    pub size: Extent3d,
    pub dimension: TextureDimension,
}

impl Image {
    pub(crate) fn of(context: &Context, resource: u32) -> Option<Self> {
        match context.resources.get(resource as usize)?.shape {
            Shape::Texture { format, size, dimension, .. } => Some(Self { format, size, dimension }),
            Shape::Buffer { .. } => None,
        }
    }

    fn aspects(&self) -> purlin_rhi::plan::Aspects {
        purlin_rhi::plan::Aspects::of(self.format, TextureAspect::All)
    }

    /// Texels of the range's first mip, with its layers or all of its depth.
    pub(crate) fn extent(&self, range: &TextureRange) -> Extent3d {
        let size = purlin_rhi::mip_size(self.size, self.dimension, range.base_mip);
        match self.dimension {
            TextureDimension::D3 => size,
            _ => Extent3d { depth_or_array_layers: range.layers, ..size },
        }
    }
}

/// The bytes of a buffer that a copy to or from texels touches: offset and size.
fn texels(
    context: &Context,
    pass: u32,
    buffer: BufferRef,
    names: (u32, u32),
    (texture, range): (TextureRef, TextureRange),
    layout: &TexelLayout,
    at: At,
) -> Result<(u64, u64), GraphError> {
    let (base, size) = buffer_range(context, pass, buffer, true, at)?;
    if range.mips != 1 || range.aspects.iter().count() != 1 {
        let found = format!("{} mips, {:?}", range.mips, range.aspects);
        return Err(mismatch(context, pass, names, "one mip and one aspect", found, at));
    }
    let bytes = Image::of(context, texture.id.index)
        .and_then(|image| texel_bytes(&image, &range, texture.aspect, layout));
    match bytes {
        Some(bytes) if layout.offset.checked_add(bytes).is_some_and(|end| end <= size) => {
            Ok((base + layout.offset, bytes))
        }
        bytes => {
            let found = bytes.map_or("a layout that no memory has".into(), |bytes| {
                format!("{bytes} bytes from {} on", layout.offset)
            });
            Err(mismatch(context, pass, names, &format!("texels within {size} bytes"), found, at))
        }
    }
}

fn texel_bytes(
    image: &Image,
    range: &TextureRange,
    aspect: TextureAspect,
    layout: &TexelLayout,
) -> Option<u64> {
    let extent = image.extent(range);
    let (width, height) = image.format.block_dimensions();
    let aspect = match aspect {
        TextureAspect::All if image.format.has_depth_aspect() => TextureAspect::DepthOnly,
        TextureAspect::All if image.format.has_stencil_aspect() => TextureAspect::StencilOnly,
        other => other,
    };
    let block = u64::from(image.format.block_copy_size(Some(aspect))?);
    let row = u64::from(extent.width.div_ceil(width)) * block;
    let rows = u64::from(extent.height.div_ceil(height));
    let images = u64::from(extent.depth_or_array_layers);
    let pitch = u64::from(layout.bytes_per_row);
    let per_image = pitch.checked_mul(u64::from(layout.rows_per_image))?;
    let before = per_image.checked_mul(images.checked_sub(1)?)?;
    before.checked_add(pitch.checked_mul(rows.checked_sub(1)?)?)?.checked_add(row)
}

#[cold]
fn mismatch(
    context: &Context,
    pass: u32,
    (from, to): (u32, u32),
    expected: &str,
    found: String,
    at: At,
) -> GraphError {
    let name = |index: u32| if index == u32::MAX { "the CPU" } else { context.declared.resource_name(index) };
    GraphError::Copy {
        pass: context.declared.pass_name(pass).into(),
        from: name(from).into(),
        to: name(to).into(),
        expected: expected.into(),
        found: found.into(),
        at,
    }
}
