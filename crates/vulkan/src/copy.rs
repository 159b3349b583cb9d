//! Copies and clears.

use ash::vk;
use purlin_rhi::backend::{NativeBufferTextureCopy, NativeTextureCopy};
use purlin_rhi::plan::Aspects;
use purlin_rhi::types::TextureAspect;

use crate::command::VulkanEncoder;
use crate::convert;
use crate::device::Vulkan;

impl VulkanEncoder {
    pub(crate) fn emit_copy_buffer(
        &mut self,
        backend: &Vulkan,
        (src, src_offset): (u32, u64),
        (dst, dst_offset): (u32, u64),
        size: u64,
    ) {
        if size == 0 {
            return;
        }
        let region = vk::BufferCopy { src_offset, dst_offset, size };
        let (src, dst) = (backend.buffers.get(src).raw, backend.buffers.get(dst).raw);
        // SAFETY: the command buffer is recording outside a pass; both ranges lie in live buffers and do not overlap.
        unsafe { backend.raw.cmd_copy_buffer(self.buffer, src, dst, &[region]) };
    }

    pub(crate) fn emit_clear_buffer(&mut self, backend: &Vulkan, buffer: u32, offset: u64, size: u64) {
        if size == 0 {
            return;
        }
        let raw = backend.buffers.get(buffer).raw;
        // SAFETY: the command buffer is recording outside a pass; the range lies in a live buffer, in fours.
        unsafe { backend.raw.cmd_fill_buffer(self.buffer, raw, offset, size, 0) };
    }

    pub(crate) fn emit_upload(&mut self, backend: &Vulkan, copy: &NativeBufferTextureCopy) {
        let image = backend.textures.get(copy.texture).raw;
        let buffer = backend.buffers.get(copy.buffer).raw;
        // SAFETY: the command buffer is recording outside a pass; the region lies in both, and the subresource is in
        // the layout of a copy destination.
        unsafe {
            backend.raw.cmd_copy_buffer_to_image(
                self.buffer,
                buffer,
                image,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &[region(copy)],
            )
        };
    }

    pub(crate) fn emit_download(&mut self, backend: &Vulkan, copy: &NativeBufferTextureCopy) {
        let image = backend.textures.get(copy.texture).raw;
        let buffer = backend.buffers.get(copy.buffer).raw;
        // SAFETY: as for `emit_upload`, with the layout of a copy source.
        unsafe {
            backend.raw.cmd_copy_image_to_buffer(
                self.buffer,
                image,
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                buffer,
                &[region(copy)],
            )
        };
    }

    pub(crate) fn emit_copy_texture(&mut self, backend: &Vulkan, copy: &NativeTextureCopy) {
        let aspect_mask = convert::aspects(Aspects::of(copy.format, copy.aspect));
        let side = |(_, mip_level, origin), volume| {
            let (offset, base_array_layer) = convert::place(origin, volume);
            let (_, layer_count) = convert::extent(copy.extent, volume);
            let layers = vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer, layer_count };
            (layers, offset)
        };
        let (src_subresource, src_offset) = side(copy.src, copy.volume.0);
        let (dst_subresource, dst_offset) = side(copy.dst, copy.volume.1);
        // Slices of a volume copy to layers and back: then the extent counts them as depth.
        let (extent, _) = convert::extent(copy.extent, copy.volume.0 || copy.volume.1);
        let region = vk::ImageCopy { src_subresource, src_offset, dst_subresource, dst_offset, extent };
        let (src, dst) = (backend.textures.get(copy.src.0).raw, backend.textures.get(copy.dst.0).raw);
        // SAFETY: the command buffer is recording outside a pass; the region lies in both textures, of one format,
        // in the layouts of a copy.
        unsafe {
            backend.raw.cmd_copy_image(
                self.buffer,
                src,
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                dst,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &[region],
            )
        };
    }
}

/// A region in Vulkan's counting: pitches in texels, not bytes and block rows.
fn region(copy: &NativeBufferTextureCopy) -> vk::BufferImageCopy {
    let aspect = match copy.aspect {
        // A format with one aspect copies that; the size of its block is asked for by name.
        TextureAspect::All if copy.format.has_depth_aspect() => TextureAspect::DepthOnly,
        TextureAspect::All if copy.format.has_stencil_aspect() => TextureAspect::StencilOnly,
        aspect => aspect,
    };
    let (block_width, block_height) = copy.format.block_dimensions();
    let block_bytes = copy.format.block_copy_size(Some(aspect)).unwrap_or(4).max(1);
    let (image_offset, base_array_layer) = convert::place(copy.origin, copy.volume);
    let (image_extent, layer_count) = convert::extent(copy.extent, copy.volume);
    vk::BufferImageCopy {
        buffer_offset: copy.offset,
        buffer_row_length: copy.bytes_per_row / block_bytes * block_width,
        buffer_image_height: copy.rows_per_image * block_height,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: convert::aspects(Aspects::of(copy.format, aspect)),
            mip_level: copy.mip,
            base_array_layer,
            layer_count,
        },
        image_offset,
        image_extent,
    }
}

#[cfg(test)]
mod tests {
    use purlin_rhi::types::{Extent3d, Origin3d, TextureFormat};

    use super::*;

    fn copy(format: TextureFormat, volume: bool) -> NativeBufferTextureCopy {
        NativeBufferTextureCopy {
            buffer: 0,
            offset: 512,
            bytes_per_row: 256,
            rows_per_image: 8,
            texture: 0,
            format,
            aspect: TextureAspect::All,
            mip: 1,
            origin: Origin3d { x: 4, y: 8, z: 2 },
            extent: Extent3d { width: 20, height: 16, depth_or_array_layers: 3 },
            volume,
        }
    }

    #[test]
    fn pitches_count_texels_and_z_counts_layers_or_slices() {
        let flat = region(&copy(TextureFormat::Rgba8Unorm, false));
        assert_eq!((flat.buffer_row_length, flat.buffer_image_height), (64, 8));
        assert_eq!((flat.image_subresource.base_array_layer, flat.image_subresource.layer_count), (2, 3));
        assert_eq!((flat.image_offset.z, flat.image_extent.depth), (0, 1));
        let volume = region(&copy(TextureFormat::Bc1RgbaUnorm, true));
        assert_eq!((volume.buffer_row_length, volume.buffer_image_height), (128, 32));
        assert_eq!((volume.image_subresource.base_array_layer, volume.image_subresource.layer_count), (0, 1));
        assert_eq!((volume.image_offset.z, volume.image_extent.depth), (2, 3));
        let stencil = NativeBufferTextureCopy {
            aspect: TextureAspect::StencilOnly,
            ..copy(TextureFormat::Depth24PlusStencil8, false)
        };
        assert_eq!(region(&stencil).buffer_row_length, 256);
        assert_eq!(region(&stencil).image_subresource.aspect_mask, vk::ImageAspectFlags::STENCIL);
    }
}
