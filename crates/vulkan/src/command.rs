//! Encoders, their pools, and passes.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use ash::vk;
use purlin_rhi::backend::{
    BindState, Dirty, Dispatch, Draw, Encoder, NativeAspect, NativeBufferTextureCopy, NativeColor,
    NativeLoad, NativeQuery, NativeRenderPass, NativeResult, NativeTargets, NativeTextureCopy,
    NativeTimestamps,
};
use purlin_rhi::error::BackendError;
use purlin_rhi::plan::{BarrierBatch, Layout};

use crate::adapter::MAX_COLORS;
use crate::binding::PipelineLayout;
use crate::device::Vulkan;
use crate::draw::{COMPUTE, RENDER};
use crate::memory::failed;
use crate::{barrier, convert};

/// Records one command buffer. It names its pool by index, so that a forgotten encoder leaks nothing for good: the
/// pool dies with the device.
#[derive(Debug)]
pub struct VulkanEncoder {
    pub(crate) buffer: vk::CommandBuffer,
    index: u32,
    /// Whether it is a section of a raster pass, with a pool among those of sections.
    pub(crate) is_section: bool,
    /// The pools of the sections that it executed.
    pub(crate) sections: Vec<u32>,
    /// The layouts of the raster and the compute pipeline that are bound.
    pub(crate) layouts: [PipelineLayout; 2],
    /// The timestamp that the end of the pass writes.
    pub(crate) stamp: Option<(u32, u32)>,
}

impl VulkanEncoder {
    pub(crate) fn index(&self) -> u32 {
        self.index
    }
}

/// A pool with its one command buffer.
#[derive(Debug)]
struct Pool {
    raw: vk::CommandPool,
    buffer: vk::CommandBuffer,
    /// The encoder's list of sections, empty while it lies here.
    sections: Vec<u32>,
}

/// Every pool of one level of a device.
#[derive(Debug, Default)]
pub(crate) struct CommandPools {
    level: vk::CommandBufferLevel,
    pools: Vec<Pool>,
    /// Reset and ready.
    free: Vec<u32>,
    /// Submitted, in order, with the ordinal that frees each.
    in_flight: VecDeque<(u64, u32)>,
}

impl CommandPools {
    pub fn new(level: vk::CommandBufferLevel) -> Self {
        Self { level, ..Self::default() }
    }

    pub fn take(&mut self, device: &ash::Device, family: u32) -> Result<VulkanEncoder, BackendError> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.add(device, family)?,
        };
        let pool = &mut self.pools[index as usize];
        Ok(VulkanEncoder {
            buffer: pool.buffer,
            index,
            is_section: self.level == vk::CommandBufferLevel::SECONDARY,
            sections: std::mem::take(&mut pool.sections),
            layouts: [PipelineLayout::default(); 2],
            stamp: None,
        })
    }

    fn add(&mut self, device: &ash::Device, family: u32) -> Result<u32, BackendError> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(family);
        // SAFETY: the device has a queue of this family.
        let raw = unsafe { device.create_command_pool(&info, None) }
            .map_err(|error| failed("vkCreateCommandPool", error))?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(raw)
            .level(self.level)
            .command_buffer_count(1);
        // SAFETY: the pool was just made.
        let buffer = match unsafe { device.allocate_command_buffers(&info) } {
            Ok(buffers) => buffers.first().copied().unwrap_or_default(),
            Err(error) => {
                // SAFETY: made above and used by nobody.
                unsafe { device.destroy_command_pool(raw, None) };
                return Err(failed("vkAllocateCommandBuffers", error));
            }
        };
        self.pools.push(Pool { raw, buffer, sections: Vec::new() });
        Ok(self.pools.len() as u32 - 1)
    }

    /// Resets a pool that no submission uses.
    pub fn recycle(&mut self, device: &ash::Device, index: u32) {
        let pool = self.pools[index as usize].raw;
        // SAFETY: its command buffer is not pending, and its encoder is gone.
        match unsafe { device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) } {
            Ok(()) => self.free.push(index),
            // Out of memory. The pool is not used again, and dies with the device.
            Err(error) => tracing::warn!(%error, "a command pool could not be reset"),
        }
    }

    /// Takes back what an encoder keeps from frame to frame. Its pool is not free by that.
    pub fn give_back(&mut self, mut encoder: VulkanEncoder) {
        encoder.sections.clear();
        self.pools[encoder.index as usize].sections = encoder.sections;
    }

    /// Keeps a pool until its submission is complete.
    pub fn submitted(&mut self, index: u32, ordinal: u64) {
        self.in_flight.push_back((ordinal, index));
    }

    /// Recycles what is complete.
    pub fn retire(&mut self, device: &ash::Device, completed: u64) {
        while let Some(&(ordinal, index)) = self.in_flight.front() {
            if ordinal > completed {
                break;
            }
            self.in_flight.pop_front();
            self.recycle(device, index);
        }
    }

    /// # Safety
    /// No command buffer is pending, and no encoder records.
    pub unsafe fn destroy(&mut self, device: &ash::Device) {
        for pool in self.pools.drain(..) {
            // SAFETY: by this function's contract nothing uses the pool.
            unsafe { device.destroy_command_pool(pool.raw, None) };
        }
        self.free.clear();
        self.in_flight.clear();
    }
}

impl Vulkan {
    pub(crate) fn begin_encoder(&mut self, label: &str) -> Result<VulkanEncoder, BackendError> {
        self.alive()?;
        let encoder = self.pools.take(&self.raw, self.physical.queue_family)?;
        self.name(encoder.buffer, label);
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: free pools are reset, so the command buffer is in its initial state.
        match unsafe { self.raw.begin_command_buffer(encoder.buffer, &info) } {
            Ok(()) => Ok(encoder),
            Err(error) => {
                self.recycle_encoder(encoder);
                Err(failed("vkBeginCommandBuffer", error))
            }
        }
    }

    fn color_attachment(&self, color: &NativeColor) -> vk::RenderingAttachmentInfo<'static> {
        let clear_value = match color.load {
            NativeLoad::Clear(value) => vk::ClearValue { color: convert::clear_color(value) },
            _ => vk::ClearValue::default(),
        };
        let info = vk::RenderingAttachmentInfo::default()
            .image_view(self.views.get(color.view).raw)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(convert::load_op(color.load))
            .store_op(convert::store_op(color.store))
            .clear_value(clear_value);
        match color.resolve {
            None => info,
            Some(target) => info
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(self.views.get(target).raw)
                .resolve_image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL),
        }
    }

    fn aspect_attachment<T: Copy>(
        &self,
        view: u32,
        aspect: &NativeAspect<T>,
        flags: vk::ImageAspectFlags,
        clear: impl Fn(T) -> vk::ClearDepthStencilValue,
    ) -> vk::RenderingAttachmentInfo<'static> {
        let clear_value = match aspect.load {
            NativeLoad::Clear(value) => vk::ClearValue { depth_stencil: clear(value) },
            _ => vk::ClearValue::default(),
        };
        let (layout, store) = if aspect.read_only {
            // Storing is a write even where nothing changed, and the layout allows none.
            (Layout::DepthStencilReadOnly, vk::AttachmentStoreOp::NONE)
        } else {
            (Layout::DepthStencilAttachment, convert::store_op(aspect.store))
        };
        vk::RenderingAttachmentInfo::default()
            .image_view(self.views.get(view).raw)
            .image_layout(barrier::image_layout(layout, flags))
            .load_op(convert::load_op(aspect.load))
            .store_op(store)
            .clear_value(clear_value)
    }
}

impl Encoder for VulkanEncoder {
    type Backend = Vulkan;

    fn barriers(&mut self, backend: &Vulkan, batch: BarrierBatch<'_>) {
        barrier::emit(backend, self.buffer, batch);
    }

    fn push_label(&mut self, backend: &Vulkan, label: &str) {
        if let Some(labels) = &backend.labels {
            labels.begin(self.buffer, label);
        }
    }

    fn pop_label(&mut self, backend: &Vulkan) {
        if let Some(labels) = &backend.labels {
            labels.end(self.buffer);
        }
    }

    /// Neither passes nor barriers nor copies touch what is bound.
    #[inline]
    fn keeps_state(&self) -> bool {
        true
    }

    fn begin_render_pass(&mut self, backend: &Vulkan, pass: &NativeRenderPass<'_>) {
        self.push_label(backend, pass.label);
        if let Some(timestamps) = pass.queries.and_then(|queries| queries.timestamps.as_ref()) {
            self.stamp_begin(backend, timestamps);
        }
        let one;
        let several: ArrayVec<vk::RenderingAttachmentInfo<'_>, MAX_COLORS>;
        let colors = match pass.colors {
            // Nearly every pass, and needs no list.
            [Some(color)] => {
                one = backend.color_attachment(color);
                std::slice::from_ref(&one)
            }
            colors => {
                // A gap is an attachment without a view.
                let color = |color: &Option<NativeColor>| {
                    color.as_ref().map_or_else(Default::default, |color| backend.color_attachment(color))
                };
                several = colors.iter().map(color).collect();
                &several
            }
        };
        let mut depth = None;
        let mut stencil = None;
        if let Some(attachment) = &pass.depth_stencil {
            depth = attachment.depth.as_ref().map(|aspect| {
                backend.aspect_attachment(attachment.view, aspect, vk::ImageAspectFlags::DEPTH, |depth| {
                    vk::ClearDepthStencilValue { depth, stencil: 0 }
                })
            });
            stencil = attachment.stencil.as_ref().map(|aspect| {
                backend.aspect_attachment(attachment.view, aspect, vk::ImageAspectFlags::STENCIL, |stencil| {
                    vk::ClearDepthStencilValue { depth: 0.0, stencil }
                })
            });
        }
        let mut info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: vk::Extent2D { width: pass.extent.0, height: pass.extent.1 },
            })
            .layer_count(pass.layers.max(1))
            .color_attachments(colors);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        if pass.sections {
            info = info.flags(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS);
        }
        // SAFETY: the command buffer is recording outside a pass; the views are live, of the extent, and in the
        // layouts named here.
        unsafe { backend.raw.cmd_begin_rendering(self.buffer, &info) };
    }

    fn end_render_pass(&mut self, backend: &Vulkan) {
        // SAFETY: the command buffer is recording inside a raster pass.
        unsafe { backend.raw.cmd_end_rendering(self.buffer) };
        self.stamp_end(backend);
        self.pop_label(backend);
    }

    fn begin_section(&mut self, backend: &Vulkan, label: &str, targets: &NativeTargets<'_>) -> NativeResult {
        self.begin_secondary(backend, label, targets)
    }

    fn end_section(&mut self, backend: &Vulkan) -> NativeResult {
        self.end_secondary(backend)
    }

    fn execute_sections(&mut self, backend: &Vulkan, sections: &mut Vec<Self>) {
        self.execute_secondaries(backend, sections);
    }

    #[inline(always)]
    fn draw(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState, draw: Draw) {
        if !dirty.is_empty() && !self.bind_one_group(backend, dirty, state, RENDER) {
            self.apply_draw_state(backend, dirty, state);
        }
        self.emit_draw(backend, draw);
    }

    fn begin_compute_pass(&mut self, backend: &Vulkan, label: &str, timestamps: Option<&NativeTimestamps>) {
        self.push_label(backend, label);
        if let Some(timestamps) = timestamps {
            self.stamp_begin(backend, timestamps);
        }
    }

    fn end_compute_pass(&mut self, backend: &Vulkan) {
        self.stamp_end(backend);
        self.pop_label(backend);
    }

    #[inline(always)]
    fn dispatch(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState, dispatch: Dispatch) {
        if !dirty.is_empty() && !self.bind_one_group(backend, dirty, state, COMPUTE) {
            self.apply_dispatch_state(backend, dirty, state);
        }
        self.emit_dispatch(backend, dispatch);
    }

    fn copy_buffer(
        &mut self,
        backend: &Vulkan,
        src: u32,
        src_offset: u64,
        dst: u32,
        dst_offset: u64,
        size: u64,
    ) {
        self.emit_copy_buffer(backend, (src, src_offset), (dst, dst_offset), size);
    }

    fn clear_buffer(&mut self, backend: &Vulkan, buffer: u32, offset: u64, size: u64) {
        self.emit_clear_buffer(backend, buffer, offset, size);
    }

    fn copy_buffer_to_texture(&mut self, backend: &Vulkan, copy: &NativeBufferTextureCopy) {
        self.emit_upload(backend, copy);
    }

    fn copy_texture_to_buffer(&mut self, backend: &Vulkan, copy: &NativeBufferTextureCopy) {
        self.emit_download(backend, copy);
    }

    fn copy_texture(&mut self, backend: &Vulkan, copy: &NativeTextureCopy) {
        self.emit_copy_texture(backend, copy);
    }

    fn reset_queries(&mut self, backend: &Vulkan, query_set: u32, first: u32, count: u32) {
        self.emit_reset(backend, query_set, first, count);
    }

    fn begin_query(&mut self, backend: &Vulkan, _: NativeQuery, query_set: u32, index: u32) {
        self.emit_begin_query(backend, query_set, index);
    }

    fn end_query(&mut self, backend: &Vulkan, _: NativeQuery, query_set: u32, index: u32) {
        self.emit_end_query(backend, query_set, index);
    }

    fn copy_queries(
        &mut self,
        backend: &Vulkan,
        query_set: u32,
        first: u32,
        count: u32,
        buffer: u32,
        offset: u64,
    ) {
        self.emit_copy_queries(backend, query_set, (first, count), (buffer, offset));
    }

    fn write_timestamp(&mut self, backend: &Vulkan, query_set: u32, index: u32) {
        self.emit_timestamp(backend, query_set, index);
    }
}
