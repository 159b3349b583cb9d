//! Checks of commands against the resources they name. Debug builds only; a breach panics.

use super::execute::row_offset;
use super::memory::{Part, block_bytes};
use super::tables::{Info, Tables};
use crate::backend::NativeBufferTextureCopy;
use crate::caps::Capabilities;
use crate::desc::mip_size;
use crate::handle::ResourceKind;
use crate::plan::{Aspects, TextureRange};
use crate::types::{TextureAspect, TextureDimension, TextureFormat};

/// Panics unless the bytes lie in the buffer.
pub(super) fn buffer(tables: &Tables, call: &str, slot: u32, offset: u64, size: u64) {
    let entry = tables.live(call, ResourceKind::Buffer, slot);
    let Info::Buffer { size: have, .. } = entry.info else { return };
    let end = offset.saturating_add(size);
    assert!(
        end <= have,
        "null backend: {call}: buffer slot {slot} \"{}\" has {have} bytes; {offset} to {end} were asked",
        entry.label,
    );
}

/// Panics unless the subresources are there and some are meant.
pub(super) fn range(tables: &Tables, call: &str, slot: u32, asked: TextureRange) {
    let entry = tables.live(call, ResourceKind::Texture, slot);
    let Info::Texture { range: have, .. } = entry.info else { return };
    let some = !asked.aspects.is_empty() && asked.mips > 0 && asked.layers > 0;
    assert!(
        some && have.contains(&asked),
        "null backend: {call}: texture slot {slot} \"{}\" has {have:?}, asked was {asked:?}",
        entry.label,
    );
}

/// Panics unless the texels are there and the box lies on whole blocks.
pub(super) fn part(tables: &Tables, call: &str, slot: u32, format: TextureFormat, part: &Part) {
    let entry = tables.live(call, ResourceKind::Texture, slot);
    let Info::Texture { size, dimension, format: have, .. } = entry.info else { return };
    let label = &entry.label;
    let complain =
        |what: &str| panic!("null backend: {call}: texture slot {slot} \"{label}\": {what}; {part:?}");
    if have.remove_srgb_suffix() != format.remove_srgb_suffix() {
        complain(&format!("the copy says {format:?}, the texture is {have:?}"));
    }
    if part.volume != (dimension == TextureDimension::D3) {
        complain("`volume` contradicts the texture's dimension");
    }
    range(tables, call, slot, part.range());
    let mip = mip_size(size, dimension, part.mip);
    let (width, height) = format.block_dimensions();
    let sides = [
        (part.origin.x, part.extent.width, mip.width, width),
        (part.origin.y, part.extent.height, mip.height, height),
        (part.origin.z, part.extent.depth_or_array_layers, mip.depth_or_array_layers, 1),
    ];
    for (origin, extent, have, block) in sides {
        let end = origin.saturating_add(extent);
        if extent == 0 || end > have {
            complain(&format!("{origin} to {end} of {have} texels were asked"));
        }
        if origin % block != 0 || (end % block != 0 && end != have) {
            complain(&format!("{origin} to {end} is not on whole blocks of {block} texels"));
        }
    }
}

/// Panics unless the pitches and the offset are what the device asks for and all rows lie in the buffer.
pub(super) fn texels_in_buffer(
    tables: &Tables,
    capabilities: &Capabilities,
    call: &str,
    copy: &NativeBufferTextureCopy,
) {
    let aspects = Aspects::of(copy.format, copy.aspect);
    let one = aspects.bits().count_ones() == 1;
    let aspect = match copy.aspect {
        TextureAspect::All if aspects == Aspects::DEPTH => TextureAspect::DepthOnly,
        aspect => aspect,
    };
    let copyable = one && copy.format.block_copy_size(Some(aspect)).is_some();
    assert!(copyable, "null backend: {call}: {:?} of {:?} cannot be copied", copy.aspect, copy.format);
    let block = block_bytes(copy.format, aspects);
    let (width, height) = copy.format.block_dimensions();
    let row = copy.extent.width.div_ceil(width) * block;
    let rows = copy.extent.height.div_ceil(height);
    let pitch = capabilities.copy_row_alignment.max(1);
    let start = capabilities.copy_offset_alignment.max(1);
    assert!(
        copy.bytes_per_row >= row && copy.bytes_per_row.is_multiple_of(pitch) && copy.rows_per_image >= rows,
        "null backend: {call}: pitches are {} bytes and {} rows, expected at least {row} bytes, a multiple of {pitch}, \
         and at least {rows} rows",
        copy.bytes_per_row,
        copy.rows_per_image,
    );
    assert!(
        copy.offset.is_multiple_of(start.into()) && copy.offset.is_multiple_of(block.into()),
        "null backend: {call}: buffer offset {} is not a multiple of {start} and of the block's {block} bytes",
        copy.offset,
    );
    let last_layer = u64::from(copy.extent.depth_or_array_layers.saturating_sub(1));
    let end = row_offset(copy, last_layer, u64::from(rows.saturating_sub(1))) + u64::from(row);
    buffer(tables, call, copy.buffer, copy.offset, end - copy.offset);
}
