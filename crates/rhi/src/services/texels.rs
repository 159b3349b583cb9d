//! Arithmetic of texel rows in linear memory: blocks, pitches and footprints, all of it checked for overflow.

use crate::caps::Features;
use crate::desc::TexelLayout;
use crate::error::{Result, invalid, unsupported};
use crate::types::{Extent3d, TextureAspect, TextureFormat};

/// Rounds up to a multiple of a power of two, or to the greatest one that fits; an aligned value stays as it is.
///
/// ```
/// use purlin_rhi::services::align_up;
/// assert_eq!([0, 1, 255, 256, 257, 512].map(|n| align_up(n, 256)), [0, 256, 256, 256, 512, 512]);
/// ```
pub const fn align_up(value: u64, alignment: u64) -> u64 {
    debug_assert!(alignment.is_power_of_two());
    value.saturating_add(alignment - 1) & !(alignment - 1)
}

/// Bytes from one row of texel blocks to the next: the row's own bytes, rounded up after the multiplication.
///
/// `None` when the aspect has no linear layout, the alignment is no power of two, or the pitch does not fit.
///
/// ```
/// use purlin_rhi::{services::row_pitch, types::{TextureAspect, TextureFormat}};
/// assert_eq!(row_pitch(TextureFormat::Rgba8Unorm, TextureAspect::All, 128, 256), Some(512));
/// assert_eq!(row_pitch(TextureFormat::Rgba8Unorm, TextureAspect::All, 64, 256), Some(256));
/// ```
pub fn row_pitch(format: TextureFormat, aspect: TextureAspect, width: u32, alignment: u32) -> Option<u32> {
    let bytes = u64::from(width.div_ceil(format.block_dimensions().0))
        * u64::from(format.block_copy_size(Some(aspect))?);
    if !alignment.is_power_of_two() {
        return None;
    }
    u32::try_from(align_up(bytes, u64::from(alignment))).ok()
}

/// The one aspect that a copy names, for a format where `All` is unambiguous; `None` where it is not.
pub(crate) fn aspect_of(format: TextureFormat, aspect: TextureAspect) -> Option<TextureAspect> {
    match aspect {
        TextureAspect::All if format.is_combined_depth_stencil_format() => None,
        TextureAspect::All if format.has_depth_aspect() => Some(TextureAspect::DepthOnly),
        TextureAspect::All if format.has_stencil_aspect() => Some(TextureAspect::StencilOnly),
        TextureAspect::DepthOnly if !format.has_depth_aspect() => None,
        TextureAspect::StencilOnly if !format.has_stencil_aspect() => None,
        other => Some(other),
    }
}

/// Refuses to write depth from linear memory where the device cannot.
pub(crate) fn check_depth_write(
    format: TextureFormat,
    aspect: TextureAspect,
    features: Features,
    what: impl Fn() -> String,
) -> Result<()> {
    let float = matches!(format, TextureFormat::Depth32Float | TextureFormat::Depth32FloatStencil8);
    if float && aspect == TextureAspect::DepthOnly && !features.contains(Features::DEPTH_UPLOADS) {
        let detail = format!("{aspect:?} of {format:?} written from a buffer");
        return Err(unsupported(what(), "feature DEPTH_UPLOADS", detail));
    }
    Ok(())
}

/// The linear memory that a box of texels takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Bytes of one texel block.
    pub block: u32,
    /// Bytes of one row of blocks, unpadded.
    pub row_bytes: u32,
    /// Rows of blocks in a layer or slice.
    pub rows: u32,
    /// Layers or slices.
    pub images: u32,
}

impl Footprint {
    pub(crate) fn of(format: TextureFormat, aspect: TextureAspect, extent: Extent3d) -> Option<Self> {
        let (width, height) = format.block_dimensions();
        let block = format.block_copy_size(Some(aspect))?;
        Some(Self {
            block,
            row_bytes: extent.width.div_ceil(width).checked_mul(block)?,
            rows: extent.height.div_ceil(height),
            images: extent.depth_or_array_layers,
        })
    }

    /// Bytes when rows and layers follow one another without padding.
    pub(crate) fn tight_bytes(&self) -> Option<u64> {
        u64::from(self.row_bytes).checked_mul(u64::from(self.rows))?.checked_mul(u64::from(self.images))
    }

    /// One past the last byte that a layout touches, the final row unpadded.
    pub(crate) fn end(&self, layout: &TexelLayout) -> Option<u64> {
        if self.rows == 0 || self.images == 0 || self.row_bytes == 0 {
            return Some(layout.offset);
        }
        let image = u64::from(layout.bytes_per_row).checked_mul(u64::from(layout.rows_per_image))?;
        let last_image = image.checked_mul(u64::from(self.images - 1))?;
        let last_row = u64::from(layout.bytes_per_row) * u64::from(self.rows - 1);
        layout.offset.checked_add(last_image)?.checked_add(last_row)?.checked_add(u64::from(self.row_bytes))
    }

    /// Checks a caller's layout against the box and the bytes that there are. Both alignments are powers of two.
    pub(crate) fn check(
        &self,
        layout: &TexelLayout,
        available: u64,
        row_alignment: u32,
        offset_alignment: u32,
        what: impl Fn() -> String,
    ) -> Result<()> {
        let several_rows = self.rows > 1 || self.images > 1;
        if several_rows && layout.bytes_per_row < self.row_bytes {
            let expected = format!("at least the {} bytes of a row", self.row_bytes);
            return Err(invalid(what(), "bytes_per_row", expected, layout.bytes_per_row));
        }
        if several_rows && !layout.bytes_per_row.is_multiple_of(row_alignment) {
            let expected = format!("a multiple of {row_alignment}");
            return Err(invalid(what(), "bytes_per_row", expected, layout.bytes_per_row));
        }
        if self.images > 1 && layout.rows_per_image < self.rows {
            let expected = format!("at least the {} rows of a layer", self.rows);
            return Err(invalid(what(), "rows_per_image", expected, layout.rows_per_image));
        }
        if !layout.offset.is_multiple_of(u64::from(offset_alignment)) {
            let expected = format!("a multiple of {offset_alignment}");
            return Err(invalid(what(), "offset", expected, layout.offset));
        }
        match self.end(layout) {
            Some(end) if end <= available => Ok(()),
            end => {
                let found = end.map_or("more than 64 bits hold".into(), |end| format!("{end} needed"));
                Err(invalid(what(), "layout", format!("texels within {available} bytes"), found))
            }
        }
    }
}
