//! A box of texels in one mip, checked against its texture.

use crate::desc::TexturePlace;
use crate::error::{Result, invalid};
use crate::plan::{Aspects, TextureRange};
use crate::registry::TextureRecord;
use crate::services::aspect_of;
use crate::types::{Extent3d, TextureDimension};

/// A checked box of texels in one mip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextureRegion {
    pub aspect: crate::types::TextureAspect,
    pub range: TextureRange,
    /// Whether the box is all of the range.
    pub whole: bool,
}

impl TextureRegion {
    pub(crate) fn check(
        record: &TextureRecord,
        place: &TexturePlace,
        extent: Extent3d,
        what: impl Fn() -> String,
    ) -> Result<Self> {
        if place.mip >= record.mips {
            return Err(invalid(what(), "mip", format!("below {}", record.mips), place.mip));
        }
        let Some(aspect) = aspect_of(record.format, place.aspect) else {
            let expected = format!("one aspect of {:?}", record.format);
            return Err(invalid(what(), "aspect", expected, format!("{:?}", place.aspect)));
        };
        let size = record.mip_size(place.mip);
        let fits =
            |origin: u32, extent: u32, size: u32| origin.checked_add(extent).is_some_and(|end| end <= size);
        let inside = fits(place.origin.x, extent.width, size.width)
            && fits(place.origin.y, extent.height, size.height)
            && fits(place.origin.z, extent.depth_or_array_layers, size.depth_or_array_layers);
        let show = |e: Extent3d| format!("{}x{}x{}", e.width, e.height, e.depth_or_array_layers);
        if !inside {
            let expected = format!("a box within {} of mip {}", show(size), place.mip);
            let found =
                format!("{} at {},{},{}", show(extent), place.origin.x, place.origin.y, place.origin.z);
            return Err(invalid(what(), "extent", expected, found));
        }
        let (block_width, block_height) = record.format.block_dimensions();
        let on_grid = |origin: u32, extent: u32, size: u32, block: u32| {
            origin.is_multiple_of(block) && (extent.is_multiple_of(block) || origin + extent == size)
        };
        if !on_grid(place.origin.x, extent.width, size.width, block_width)
            || !on_grid(place.origin.y, extent.height, size.height, block_height)
        {
            let expected = format!("a box on the {block_width}x{block_height} block grid or up to the edge");
            let found = format!("{} at {},{}", show(extent), place.origin.x, place.origin.y);
            return Err(invalid(what(), "extent", expected, found));
        }
        let volume = record.dimension == TextureDimension::D3;
        let flat = extent.width == size.width && extent.height == size.height;
        let empty = extent.width == 0 || extent.height == 0 || extent.depth_or_array_layers == 0;
        let range = TextureRange {
            aspects: Aspects::of(record.format, aspect),
            base_mip: place.mip,
            mips: 1,
            base_layer: if volume { 0 } else { place.origin.z },
            // A box of no texels touches nothing.
            layers: if empty {
                0
            } else if volume {
                1
            } else {
                extent.depth_or_array_layers
            },
        };
        Ok(Self {
            aspect,
            range,
            whole: flat && (!volume || extent.depth_or_array_layers == size.depth_or_array_layers),
        })
    }
}
