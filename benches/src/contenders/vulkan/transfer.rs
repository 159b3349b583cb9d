//! Barriers, uploads and readbacks.

use ash::vk;
use gpu_allocator::MemoryLocation;

use super::gpu::Gpu;
use super::make::COLOR;
use crate::case::{Failure, Outcome};

type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

/// Nothing before.
pub const NONE: Scope = (vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE);
/// Color attachments, loaded or blended.
pub const TARGET: Scope = (
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::COLOR_ATTACHMENT_READ.as_raw() | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE.as_raw(),
    ),
);
/// Textures of fragment shaders.
pub const SAMPLED: Scope = (vk::PipelineStageFlags2::FRAGMENT_SHADER, vk::AccessFlags2::SHADER_SAMPLED_READ);
/// Storage of compute shaders.
pub const STORAGE: Scope = (
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::SHADER_STORAGE_READ.as_raw() | vk::AccessFlags2::SHADER_STORAGE_WRITE.as_raw(),
    ),
);
const COPY_READ: Scope = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ);
const COPY_WRITE: Scope = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE);
const ANY: Scope = (
    vk::PipelineStageFlags2::ALL_COMMANDS,
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::MEMORY_READ.as_raw() | vk::AccessFlags2::MEMORY_WRITE.as_raw(),
    ),
);
const HOST: Scope = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);

/// A transition of an image.
pub fn transition(
    image: vk::Image,
    (src, src_layout): (Scope, vk::ImageLayout),
    (dst, dst_layout): (Scope, vk::ImageLayout),
) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(src.0)
        .src_access_mask(src.1)
        .dst_stage_mask(dst.0)
        .dst_access_mask(dst.1)
        .old_layout(src_layout)
        .new_layout(dst_layout)
        .image(image)
        .subresource_range(COLOR)
}

/// A dependency of memory without layouts.
pub fn memory(src: Scope, dst: Scope) -> vk::MemoryBarrier2<'static> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(src.0)
        .src_access_mask(src.1)
        .dst_stage_mask(dst.0)
        .dst_access_mask(dst.1)
}

/// Records transitions.
pub fn images(device: &ash::Device, commands: vk::CommandBuffer, barriers: &[vk::ImageMemoryBarrier2<'_>]) {
    let info = vk::DependencyInfo::default().image_memory_barriers(barriers);
    // SAFETY: the command buffer is recording outside a pass.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

/// Records a memory dependency.
pub fn barrier(device: &ash::Device, commands: vk::CommandBuffer, src: Scope, dst: Scope) {
    let barriers = [memory(src, dst)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the command buffer is recording outside a pass.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

/// The whole of an image's one mip, in a copy.
pub fn region(offset: u64, (width, height): (u32, u32)) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default()
        .buffer_offset(offset)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(vk::Extent3D { width, height, depth: 1 })
}

impl Gpu {
    /// Fills buffers from their start, and makes that visible to everything after.
    pub fn upload_buffers(&mut self, writes: &[(vk::Buffer, Vec<u8>)]) -> Outcome<()> {
        let all: Vec<u8> = writes.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        self.staged(&all, |device, commands, staging| {
            let mut offset = 0;
            for (buffer, bytes) in writes {
                let size = bytes.len() as u64;
                let copy = vk::BufferCopy { src_offset: offset, dst_offset: 0, size };
                offset += size;
                // SAFETY: the command buffer is recording; the range lies in both buffers.
                unsafe { device.cmd_copy_buffer(commands, staging, *buffer, &[copy]) };
            }
            barrier(device, commands, COPY_WRITE, ANY);
        })
    }

    /// Fills images, and leaves them in a layout.
    pub fn upload_images(
        &mut self,
        size: (u32, u32),
        layout: vk::ImageLayout,
        writes: &[(vk::Image, Vec<u8>)],
    ) -> Outcome<()> {
        let all: Vec<u8> = writes.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        self.staged(&all, |device, commands, staging| {
            let copied = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            let to = |(image, _): &(vk::Image, Vec<u8>)| {
                transition(*image, (NONE, vk::ImageLayout::UNDEFINED), (COPY_WRITE, copied))
            };
            images(device, commands, &writes.iter().map(to).collect::<Vec<_>>());
            let mut offset = 0;
            for (image, bytes) in writes {
                let regions = [region(offset, size)];
                offset += bytes.len() as u64;
                // SAFETY: the command buffer is recording; the image is in this layout.
                unsafe { device.cmd_copy_buffer_to_image(commands, staging, *image, copied, &regions) };
            }
            let from =
                |(image, _): &(vk::Image, Vec<u8>)| transition(*image, (COPY_WRITE, copied), (ANY, layout));
            images(device, commands, &writes.iter().map(from).collect::<Vec<_>>());
        })
    }

    /// Clears images to zero, and leaves them in `GENERAL`.
    pub fn clear_images(&mut self, list: &[vk::Image]) -> Outcome<()> {
        self.run(|device, commands| {
            let general = vk::ImageLayout::GENERAL;
            let clear = (vk::PipelineStageFlags2::CLEAR, vk::AccessFlags2::TRANSFER_WRITE);
            let to =
                |image: &vk::Image| transition(*image, (NONE, vk::ImageLayout::UNDEFINED), (clear, general));
            images(device, commands, &list.iter().map(to).collect::<Vec<_>>());
            for image in list {
                let zero = vk::ClearColorValue::default();
                // SAFETY: the command buffer is recording; the image is in this layout.
                unsafe { device.cmd_clear_color_image(commands, *image, general, &zero, &[COLOR]) };
            }
            barrier(device, commands, clear, ANY);
        })
    }

    fn staged(
        &mut self,
        bytes: &[u8],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::Buffer),
    ) -> Outcome<()> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let mut staging = self.new_buffer(bytes.len() as u64, usage, MemoryLocation::CpuToGpu)?;
        let mapped = staging.memory.as_mut().and_then(|memory| memory.mapped_slice_mut());
        let Some(mapped) = mapped else { return Err(Failure::Failed("staging is not mapped".into())) };
        mapped[..bytes.len()].copy_from_slice(bytes);
        let raw = staging.raw;
        let done = self.run(|device, commands| record(device, commands, raw));
        self.free_buffer(staging);
        done
    }

    fn fetched(
        &mut self,
        bytes: usize,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::Buffer),
    ) -> Outcome<Vec<u8>> {
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let staging = self.new_buffer(bytes as u64, usage, MemoryLocation::GpuToCpu)?;
        let raw = staging.raw;
        let done = self.run(|device, commands| {
            record(device, commands, raw);
            barrier(device, commands, COPY_WRITE, HOST);
        });
        let mapped = staging.memory.as_ref().and_then(|memory| memory.mapped_slice());
        let out = mapped.map(|mapped| mapped[..bytes].to_vec());
        self.free_buffer(staging);
        done?;
        out.ok_or_else(|| Failure::Failed("staging is not mapped".into()))
    }

    /// Reads the beginnings of buffers, one after the other.
    pub fn read_buffers(&mut self, buffers: &[vk::Buffer], size: u32) -> Outcome<Vec<u8>> {
        self.fetched(buffers.len() * size as usize, |device, commands, staging| {
            barrier(device, commands, ANY, COPY_READ);
            for (index, buffer) in (0u64..).zip(buffers) {
                let size = u64::from(size);
                let copy = vk::BufferCopy { src_offset: 0, dst_offset: index * size, size };
                // SAFETY: the command buffer is recording; the range lies in both buffers.
                unsafe { device.cmd_copy_buffer(commands, *buffer, staging, &[copy]) };
            }
            barrier(device, commands, COPY_READ, ANY);
        })
    }

    /// Reads an image and leaves it in the layout that it was in.
    pub fn read_image(
        &mut self,
        image: vk::Image,
        layout: vk::ImageLayout,
        size: (u32, u32),
        texel_bytes: u32,
    ) -> Outcome<Vec<u8>> {
        self.fetched((size.0 * size.1 * texel_bytes) as usize, |device, commands, staging| {
            let copied = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            images(device, commands, &[transition(image, (ANY, layout), (COPY_READ, copied))]);
            // SAFETY: the command buffer is recording; the image is in this layout.
            unsafe { device.cmd_copy_image_to_buffer(commands, image, copied, staging, &[region(0, size)]) };
            images(device, commands, &[transition(image, (COPY_READ, copied), (ANY, layout))]);
        })
    }
}
