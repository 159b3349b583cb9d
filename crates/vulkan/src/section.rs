//! Sections of raster passes: secondary command buffers, each with a pool of its own.
//!
//! A section is begun, recorded and ended by one thread. From its execution on it belongs to the pass's encoder, and its
//! pool is reset when that one's is.

use arrayvec::ArrayVec;
use ash::vk;
use purlin_rhi::backend::{NativeResult, NativeTargets};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::TextureFormat;

use crate::adapter::MAX_COLORS;
use crate::command::VulkanEncoder;
use crate::convert;
use crate::device::Vulkan;
use crate::memory::failed;

/// Sections that one call executes.
const EXECUTED_AT_ONCE: usize = 32;

impl Vulkan {
    pub(crate) fn take_section(&mut self) -> Result<VulkanEncoder, BackendError> {
        self.alive()?;
        self.section_pools.take(&self.raw, self.physical.queue_family)
    }

    /// Resets the pools of an encoder that no submission uses, and of the sections that it executed.
    pub(crate) fn recycle_encoder(&mut self, encoder: VulkanEncoder) {
        for &section in &encoder.sections {
            self.section_pools.recycle(&self.raw, section);
        }
        let (index, is_section) = (encoder.index(), encoder.is_section);
        let pools = if is_section { &mut self.section_pools } else { &mut self.pools };
        pools.give_back(encoder);
        pools.recycle(&self.raw, index);
    }

    /// Keeps an encoder's pool, and those of its sections, until its submission is complete.
    pub(crate) fn encoder_submitted(&mut self, encoder: VulkanEncoder, ordinal: u64) {
        for &section in &encoder.sections {
            self.section_pools.submitted(section, ordinal);
        }
        self.pools.submitted(encoder.index(), ordinal);
        self.pools.give_back(encoder);
    }

    /// The format of an attachment; a gap has none.
    fn attachment_format(&self, format: Option<TextureFormat>) -> vk::Format {
        format.and_then(|format| self.native_format(format).ok()).unwrap_or(vk::Format::UNDEFINED)
    }
}

impl VulkanEncoder {
    pub(crate) fn begin_secondary(
        &mut self,
        backend: &Vulkan,
        label: &str,
        targets: &NativeTargets<'_>,
    ) -> NativeResult {
        backend.name(self.buffer, label);
        let colors: ArrayVec<vk::Format, MAX_COLORS> =
            targets.colors.iter().map(|format| backend.attachment_format(*format)).collect();
        let aspect =
            |has: fn(&TextureFormat) -> bool| backend.attachment_format(targets.depth_stencil.filter(has));
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&colors)
            .depth_attachment_format(aspect(TextureFormat::has_depth_aspect))
            .stencil_attachment_format(aspect(TextureFormat::has_stencil_aspect))
            .rasterization_samples(convert::samples(targets.samples));
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
        let usage =
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        let info = vk::CommandBufferBeginInfo::default().flags(usage).inheritance_info(&inheritance);
        // SAFETY: free pools are reset, so the command buffer is in its initial state, and it is this encoder's.
        unsafe { backend.raw.begin_command_buffer(self.buffer, &info) }
            .map_err(|error| failed("vkBeginCommandBuffer", error))
    }

    pub(crate) fn end_secondary(&mut self, backend: &Vulkan) -> NativeResult {
        // SAFETY: the command buffer is recording, and its labels are closed.
        unsafe { backend.raw.end_command_buffer(self.buffer) }
            .map_err(|error| failed("vkEndCommandBuffer", error))
    }

    pub(crate) fn execute_secondaries(&mut self, backend: &Vulkan, sections: &mut Vec<VulkanEncoder>) {
        for some in sections.chunks(EXECUTED_AT_ONCE) {
            let buffers: ArrayVec<vk::CommandBuffer, EXECUTED_AT_ONCE> =
                some.iter().map(|section| section.buffer).collect();
            // SAFETY: the command buffer is recording in a pass that was begun for secondary ones; these were begun
            // for its formats, are ended, and are executed once.
            unsafe { backend.raw.cmd_execute_commands(self.buffer, &buffers) };
        }
        self.sections.extend(sections.drain(..).map(|section| section.index()));
    }
}
