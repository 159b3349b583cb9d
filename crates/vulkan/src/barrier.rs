//! Lowering of the planner's dependencies, bit by bit.

use ash::vk;
use purlin_rhi::plan::{Access, BarrierBatch, Layout, MemoryBarrier, Scope, Stages, TextureBarrier};
use smallvec::SmallVec;

use crate::convert;
use crate::device::Vulkan;

/// Stages by bit number of [`Stages`].
const STAGES: [vk::PipelineStageFlags2; 11] = [
    vk::PipelineStageFlags2::DRAW_INDIRECT,
    vk::PipelineStageFlags2::INDEX_INPUT,
    vk::PipelineStageFlags2::VERTEX_ATTRIBUTE_INPUT,
    vk::PipelineStageFlags2::VERTEX_SHADER,
    vk::PipelineStageFlags2::FRAGMENT_SHADER,
    vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS,
    vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS,
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::PipelineStageFlags2::ALL_TRANSFER,
    vk::PipelineStageFlags2::HOST,
];

/// Accesses by bit number of [`Access`].
const ACCESS: [vk::AccessFlags2; 14] = [
    vk::AccessFlags2::INDIRECT_COMMAND_READ,
    vk::AccessFlags2::INDEX_READ,
    vk::AccessFlags2::VERTEX_ATTRIBUTE_READ,
    vk::AccessFlags2::UNIFORM_READ,
    vk::AccessFlags2::SHADER_SAMPLED_READ,
    vk::AccessFlags2::SHADER_STORAGE_READ,
    vk::AccessFlags2::SHADER_STORAGE_WRITE,
    vk::AccessFlags2::COLOR_ATTACHMENT_READ,
    vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
    vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ,
    vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE,
    vk::AccessFlags2::TRANSFER_READ,
    vk::AccessFlags2::TRANSFER_WRITE,
    vk::AccessFlags2::HOST_READ,
];

// A stage or access that is added to the vocabulary must be added here.
const _: () = assert!(Stages::all().bits() == (1 << STAGES.len()) - 1);
const _: () = assert!(Access::all().bits() == (1 << ACCESS.len()) - 1);

// Neighbours are neighbours natively too, so a few shifts do for all bits. The tables say what they must come to.
const fn native_stages(bits: u64) -> u64 {
    (bits & 0x1) << 1 | (bits & 0x6) << 35 | bits & 0x8 | (bits & 0x3f0) << 3 | (bits & 0x400) << 4
}

const fn native_access(bits: u64) -> u64 {
    bits & !0x70 | (bits & 0x70) << 28
}

const _: () = {
    let mut bit = 0;
    while bit < STAGES.len() {
        assert!(native_stages(1 << bit) == STAGES[bit].as_raw());
        bit += 1;
    }
    bit = 0;
    while bit < ACCESS.len() {
        assert!(native_access(1 << bit) == ACCESS[bit].as_raw());
        bit += 1;
    }
};

#[inline]
pub(crate) fn stages(stages: Stages) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(native_stages(stages.bits().into()))
}

#[inline]
fn access(access: Access) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(native_access(access.bits().into()))
}

#[inline]
fn scope(scope: Scope) -> (vk::PipelineStageFlags2, vk::AccessFlags2) {
    (stages(scope.stages), access(scope.access))
}

/// The native layout of these aspects. Depth and stencil have names of their own; both together use the combined
/// name, which means the same state of each.
pub(crate) fn image_layout(layout: Layout, aspects: vk::ImageAspectFlags) -> vk::ImageLayout {
    let depth = aspects.contains(vk::ImageAspectFlags::DEPTH);
    let stencil = aspects.contains(vk::ImageAspectFlags::STENCIL);
    match layout {
        Layout::Undefined => vk::ImageLayout::UNDEFINED,
        Layout::General => vk::ImageLayout::GENERAL,
        Layout::ColorAttachment => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        Layout::DepthStencilAttachment => match (depth, stencil) {
            (true, false) => vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
            (false, true) => vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
            _ => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        },
        Layout::DepthStencilReadOnly => match (depth, stencil) {
            (true, false) => vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
            (false, true) => vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
            _ => vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        },
        Layout::ShaderRead => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        Layout::CopySrc => vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
        Layout::CopyDst => vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        Layout::Present => vk::ImageLayout::PRESENT_SRC_KHR,
    }
}

fn memory_barrier(barrier: &MemoryBarrier) -> vk::MemoryBarrier2<'static> {
    let (src_stages, src_access) = scope(barrier.src);
    let (dst_stages, dst_access) = scope(barrier.dst);
    vk::MemoryBarrier2::default()
        .src_stage_mask(src_stages)
        .src_access_mask(src_access)
        .dst_stage_mask(dst_stages)
        .dst_access_mask(dst_access)
}

fn image_barrier(backend: &Vulkan, barrier: &TextureBarrier) -> vk::ImageMemoryBarrier2<'static> {
    let (src_stages, src_access) = scope(barrier.src);
    let (dst_stages, dst_access) = scope(barrier.dst);
    let aspects = convert::aspects(barrier.range.aspects);
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(src_stages)
        .src_access_mask(src_access)
        .dst_stage_mask(dst_stages)
        .dst_access_mask(dst_access)
        .old_layout(image_layout(barrier.old, aspects))
        .new_layout(image_layout(barrier.new, aspects))
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(backend.textures.get(barrier.texture).raw)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: aspects,
            base_mip_level: barrier.range.base_mip,
            level_count: barrier.range.mips,
            base_array_layer: barrier.range.base_layer,
            layer_count: barrier.range.layers,
        })
}

/// Emits a batch as one native call.
pub(crate) fn emit(backend: &Vulkan, buffer: vk::CommandBuffer, batch: BarrierBatch<'_>) {
    let send = |memory: &[vk::MemoryBarrier2<'_>], images: &[vk::ImageMemoryBarrier2<'_>]| {
        let info = vk::DependencyInfo::default().memory_barriers(memory).image_memory_barriers(images);
        // SAFETY: the command buffer is recording, outside a pass; textures are live and ranges exact.
        unsafe { backend.raw.cmd_pipeline_barrier2(buffer, &info) };
    };
    match (batch.memory, batch.textures) {
        ([], []) => {}
        // Nearly every batch is one barrier, and needs no list.
        ([memory], []) => send(&[memory_barrier(memory)], &[]),
        ([], [texture]) => send(&[], &[image_barrier(backend, texture)]),
        (memory, textures) => {
            let memory: SmallVec<[vk::MemoryBarrier2<'_>; 8]> = memory.iter().map(memory_barrier).collect();
            let images: SmallVec<[vk::ImageMemoryBarrier2<'_>; 8]> =
                textures.iter().map(|barrier| image_barrier(backend, barrier)).collect();
            send(&memory, &images);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_has_its_own_native_bit() {
        let mut seen = vk::PipelineStageFlags2::NONE;
        for bit in Stages::all().iter() {
            assert!(!seen.intersects(stages(bit)), "{bit:?}");
            seen |= stages(bit);
        }
        let mut seen = vk::AccessFlags2::NONE;
        for bit in Access::all().iter() {
            assert!(!seen.intersects(access(bit)), "{bit:?}");
            seen |= access(bit);
        }
        // The tables go by bit number: one of each end and the middle is checked by name.
        assert_eq!(stages(Stages::HOST), vk::PipelineStageFlags2::HOST);
        assert_eq!(stages(Stages::VERTEX_INPUT), vk::PipelineStageFlags2::VERTEX_ATTRIBUTE_INPUT);
        assert_eq!(stages(Stages::COLOR_OUTPUT), vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        assert_eq!(stages(Stages::TRANSFER), vk::PipelineStageFlags2::ALL_TRANSFER);
        assert_eq!(access(Access::INDIRECT_READ), vk::AccessFlags2::INDIRECT_COMMAND_READ);
        assert_eq!(access(Access::STORAGE_WRITE), vk::AccessFlags2::SHADER_STORAGE_WRITE);
        assert_eq!(access(Access::TRANSFER_WRITE), vk::AccessFlags2::TRANSFER_WRITE);
        assert_eq!(access(Access::HOST_READ), vk::AccessFlags2::HOST_READ);
        assert_eq!(scope(Scope::NONE), (vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE));
    }

    #[test]
    fn depth_and_stencil_have_layouts_of_their_own() {
        let depth = vk::ImageAspectFlags::DEPTH;
        let stencil = vk::ImageAspectFlags::STENCIL;
        let of = |aspects| image_layout(Layout::DepthStencilReadOnly, aspects);
        assert_eq!(of(depth), vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL);
        assert_eq!(of(stencil), vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL);
        assert_eq!(of(depth | stencil), vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL);
    }
}
