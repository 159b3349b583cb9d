//! The hot path: applying what is dirty, then one draw or dispatch.
//!
//! Runs of neighboring groups and vertex buffers go into one call each. Everything is gathered on the stack.

use arrayvec::ArrayVec;
use ash::vk::{self, Handle};
use purlin_rhi::backend::{BindState, Dirty, Dispatch, Draw, MAX_DYNAMIC_OFFSETS, MAX_GROUPS};
use purlin_rhi::caps::Features;

use crate::binding::IMMEDIATE_STAGES;
use crate::command::VulkanEncoder;
use crate::convert;
use crate::device::Vulkan;

/// Takes the lowest run of ones: its first bit and its length.
#[inline]
fn take_run(bits: &mut u32) -> Option<(usize, usize)> {
    if *bits == 0 {
        return None;
    }
    let first = bits.trailing_zeros();
    let length = (*bits >> first).trailing_ones();
    // Adding the lowest one carries through the run and clears it; what the carry sets was zero before.
    *bits &= bits.wrapping_add(1 << first);
    Some((first as usize, length as usize))
}

/// A kind of pass: where its layout is kept, and where it binds.
pub(crate) type Point = (usize, vk::PipelineBindPoint);
pub(crate) const RENDER: Point = (0, vk::PipelineBindPoint::GRAPHICS);
pub(crate) const COMPUTE: Point = (1, vk::PipelineBindPoint::COMPUTE);

impl VulkanEncoder {
    /// What most draws need: one group, with other offsets or another one. Whether it was all.
    #[inline(always)]
    pub(crate) fn bind_one_group(
        &mut self,
        backend: &Vulkan,
        dirty: Dirty,
        state: &BindState,
        (kind, point): Point,
    ) -> bool {
        let bits = dirty.bits();
        if !Dirty::GROUPS.contains(dirty) || bits & (bits - 1) != 0 {
            return false;
        }
        let first = (bits / Dirty::GROUP0.bits()).trailing_zeros();
        let group = &state.groups[first as usize % MAX_GROUPS];
        let sets = [vk::DescriptorSet::from_raw(group.native)];
        // SAFETY: the command buffer is recording; the set is live and of the layout; as many offsets as the group has,
        // never more than there is room for, are aligned, in range, and in binding order.
        unsafe {
            (backend.raw.fp_v1_0().cmd_bind_descriptor_sets)(
                self.buffer,
                point,
                self.layouts[kind].raw,
                first,
                1,
                sets.as_ptr(),
                group.offset_count,
                group.offsets.as_ptr(),
            );
        }
        true
    }

    /// Groups and immediates, whatever of them is dirty.
    #[inline(always)]
    fn apply_common(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState, point: Point) {
        let groups = dirty & Dirty::GROUPS;
        if !groups.is_empty() && !self.bind_one_group(backend, groups, state, point) {
            self.bind_groups(backend, groups, state, point);
        }
        if dirty.contains(Dirty::IMMEDIATES) {
            self.push_immediates(backend, state, point);
        }
    }

    #[inline(never)]
    fn bind_groups(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState, (kind, point): Point) {
        let mut groups = dirty.bits() / Dirty::GROUP0.bits();
        while let Some((first, length)) = take_run(&mut groups) {
            let mut sets = ArrayVec::<vk::DescriptorSet, MAX_GROUPS>::new();
            let mut offsets = ArrayVec::<u32, { MAX_GROUPS * MAX_DYNAMIC_OFFSETS }>::new();
            for group in &state.groups[first..first + length] {
                sets.push(vk::DescriptorSet::from_raw(group.native));
                offsets.extend(group.offsets[..group.offset_count as usize].iter().copied());
            }
            let layout = self.layouts[kind].raw;
            // SAFETY: the command buffer is recording; sets are live and of the layout; offsets are aligned, in
            // range, and in binding order.
            unsafe {
                backend.raw.cmd_bind_descriptor_sets(
                    self.buffer,
                    point,
                    layout,
                    first as u32,
                    &sets,
                    &offsets,
                );
            }
        }
    }

    #[inline(never)]
    fn push_immediates(&mut self, backend: &Vulkan, state: &BindState, (kind, _): Point) {
        let layout = self.layouts[kind];
        let first = state.dirty_immediates.0 & !3;
        let end = state.dirty_immediates.1.next_multiple_of(4).min(layout.immediate_size);
        if first < end {
            let bytes = &state.immediates[first as usize..end as usize];
            // SAFETY: the command buffer is recording; the range lies in the layout's one range.
            unsafe {
                backend.raw.cmd_push_constants(self.buffer, layout.raw, IMMEDIATE_STAGES, first, bytes)
            };
        }
    }

    fn bind_vertex_buffers(&mut self, backend: &Vulkan, state: &BindState) {
        let mut bits = state.dirty_vertex_buffers;
        while let Some((first, length)) = take_run(&mut bits) {
            let bound = &state.vertex_buffers;
            // A buffer's native handle is a number of 64 bits, as it lies in the list.
            let buffers = bound.natives[first..first + length].as_ptr().cast::<vk::Buffer>();
            let offsets = bound.offsets[first..first + length].as_ptr();
            let call = backend.raw.fp_v1_0().cmd_bind_vertex_buffers;
            // SAFETY: the command buffer is recording; both lists have `length` elements; `vk::Buffer` is a transparent
            // `u64`, and each is one that `native_buffer` answered; the buffers are live and the offsets inside them.
            unsafe { call(self.buffer, first as u32, length as u32, buffers, offsets) };
        }
    }

    #[inline(never)]
    pub(crate) fn apply_dispatch_state(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState) {
        if dirty.contains(Dirty::PIPELINE) {
            let pipeline = *backend.compute_pipelines.get(state.pipeline);
            // SAFETY: the command buffer is recording, and the pipeline is live.
            unsafe { backend.raw.cmd_bind_pipeline(self.buffer, vk::PipelineBindPoint::COMPUTE, pipeline) };
            self.layouts[COMPUTE.0] = *backend.pipeline_layouts.get(state.layout);
        }
        self.apply_common(backend, dirty, state, COMPUTE);
    }

    #[inline(never)]
    pub(crate) fn apply_draw_state(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState) {
        if dirty.contains(Dirty::PIPELINE) {
            let pipeline = *backend.render_pipelines.get(state.pipeline);
            // SAFETY: the command buffer is recording, and the pipeline is live.
            unsafe { backend.raw.cmd_bind_pipeline(self.buffer, vk::PipelineBindPoint::GRAPHICS, pipeline) };
            self.layouts[RENDER.0] = *backend.pipeline_layouts.get(state.layout);
        }
        self.apply_common(backend, dirty, state, RENDER);
        if dirty.contains(Dirty::VERTEX_BUFFERS) {
            self.bind_vertex_buffers(backend, state);
        }
        if dirty.contains(Dirty::INDEX_BUFFER) {
            let bound = &state.index_buffer;
            let raw = vk::Buffer::from_raw(bound.native);
            let ty = convert::index_type(state.index_format);
            // SAFETY: the command buffer is recording; the buffer is live and the offset aligned and inside it.
            unsafe { backend.raw.cmd_bind_index_buffer(self.buffer, raw, bound.offset, ty) };
        }
        if dirty
            .intersects(Dirty::VIEWPORT | Dirty::SCISSOR | Dirty::BLEND_CONSTANT | Dirty::STENCIL_REFERENCE)
        {
            self.apply_dynamic_state(backend, dirty, state);
        }
    }

    fn apply_dynamic_state(&mut self, backend: &Vulkan, dirty: Dirty, state: &BindState) {
        if dirty.contains(Dirty::VIEWPORT) {
            let [x, y, width, height, min_depth, max_depth] = state.viewport;
            // Upside down, so that clip space Y is up.
            let viewport = vk::Viewport { x, y: y + height, width, height: -height, min_depth, max_depth };
            // SAFETY: the command buffer is recording, and the viewport is within the limits.
            unsafe { backend.raw.cmd_set_viewport(self.buffer, 0, &[viewport]) };
        }
        if dirty.contains(Dirty::SCISSOR) {
            let [x, y, width, height] = state.scissor;
            let scissor = vk::Rect2D {
                offset: vk::Offset2D { x: x as i32, y: y as i32 },
                extent: vk::Extent2D { width, height },
            };
            // SAFETY: the command buffer is recording, and the scissor lies in the pass's extent.
            unsafe { backend.raw.cmd_set_scissor(self.buffer, 0, &[scissor]) };
        }
        if dirty.contains(Dirty::BLEND_CONSTANT) {
            // SAFETY: the command buffer is recording.
            unsafe { backend.raw.cmd_set_blend_constants(self.buffer, &state.blend_constant) };
        }
        if dirty.contains(Dirty::STENCIL_REFERENCE) {
            let faces = vk::StencilFaceFlags::FRONT_AND_BACK;
            // SAFETY: the command buffer is recording.
            unsafe { backend.raw.cmd_set_stencil_reference(self.buffer, faces, state.stencil_reference) };
        }
    }

    #[inline(always)]
    pub(crate) fn emit_draw(&mut self, backend: &Vulkan, draw: Draw) {
        let raw = &backend.raw;
        match draw {
            // SAFETY: the command buffer is recording in a raster pass with all state applied.
            Draw::Direct { vertices, instances, first_vertex, first_instance } => unsafe {
                raw.cmd_draw(self.buffer, vertices, instances, first_vertex, first_instance)
            },
            // SAFETY: as above; the indices lie in the index buffer.
            Draw::Indexed { indices, instances, first_index, base_vertex, first_instance } => unsafe {
                raw.cmd_draw_indexed(
                    self.buffer,
                    indices,
                    instances,
                    first_index,
                    base_vertex,
                    first_instance,
                )
            },
            Draw::Indirect { buffer, offset, count, stride } => {
                self.emit_indirect(backend, buffer, offset, count, stride, raw.fp_v1_0().cmd_draw_indirect);
            }
            Draw::IndexedIndirect { buffer, offset, count, stride } => {
                let call = raw.fp_v1_0().cmd_draw_indexed_indirect;
                self.emit_indirect(backend, buffer, offset, count, stride, call);
            }
            Draw::IndirectCount { buffer, offset, count_buffer, count_offset, most, stride } => {
                let call = raw.fp_v1_2().cmd_draw_indirect_count;
                self.emit_counted(
                    backend,
                    (buffer, offset),
                    (count_buffer, count_offset),
                    most,
                    stride,
                    call,
                );
            }
            Draw::IndexedIndirectCount { buffer, offset, count_buffer, count_offset, most, stride } => {
                let call = raw.fp_v1_2().cmd_draw_indexed_indirect_count;
                self.emit_counted(
                    backend,
                    (buffer, offset),
                    (count_buffer, count_offset),
                    most,
                    stride,
                    call,
                );
            }
        }
    }

    #[inline(never)]
    fn emit_counted(
        &mut self,
        backend: &Vulkan,
        (buffer, offset): (u32, u64),
        (count_buffer, count_offset): (u32, u32),
        most: u32,
        stride: u32,
        call: vk::PFN_vkCmdDrawIndirectCount,
    ) {
        let (arguments, counts) = (backend.buffers.get(buffer).raw, backend.buffers.get(count_buffer).raw);
        // The most that a call may draw; a count beyond it is the driver's to cut.
        let most = most.min(backend.physical.max_indirect_draws);
        // SAFETY: the command buffer is recording in a raster pass with all state applied; arguments and count lie in
        // their buffers, and the feature is enabled.
        unsafe { call(self.buffer, arguments, offset, counts, u64::from(count_offset), most, stride) };
    }

    /// Splits a multi-draw into what one call may draw: one, unless the feature is enabled.
    #[inline(never)]
    fn emit_indirect(
        &mut self,
        backend: &Vulkan,
        buffer: u32,
        offset: u64,
        count: u32,
        stride: u32,
        call: vk::PFN_vkCmdDrawIndirect,
    ) {
        let arguments = backend.buffers.get(buffer).raw;
        let most = if backend.capabilities.features.contains(Features::MULTI_DRAW_INDIRECT) {
            backend.physical.max_indirect_draws
        } else {
            1
        };
        let mut done = 0;
        while done < count {
            let now = most.min(count - done);
            // SAFETY: the command buffer is recording in a raster pass with all state applied; the arguments lie in
            // the buffer, and the count is within the limit.
            unsafe {
                call(self.buffer, arguments, offset + u64::from(done) * u64::from(stride), now, stride);
            }
            done += now;
        }
    }

    #[inline(always)]
    pub(crate) fn emit_dispatch(&mut self, backend: &Vulkan, dispatch: Dispatch) {
        match dispatch {
            // SAFETY: the command buffer is recording outside a raster pass with all state applied; the counts are
            // within the limits.
            Dispatch::Direct([x, y, z]) => unsafe { backend.raw.cmd_dispatch(self.buffer, x, y, z) },
            Dispatch::Indirect { buffer, offset } => {
                let arguments = backend.buffers.get(buffer).raw;
                // SAFETY: as above; the arguments lie in the buffer.
                unsafe { backend.raw.cmd_dispatch_indirect(self.buffer, arguments, offset) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::take_run;

    #[test]
    fn runs_come_lowest_first() {
        let mut bits = 0b1011_0110;
        let mut runs = Vec::new();
        while let Some(run) = take_run(&mut bits) {
            runs.push(run);
        }
        assert_eq!(runs, [(1, 2), (4, 2), (7, 1)]);
        let mut all = u32::MAX;
        assert_eq!(take_run(&mut all), Some((0, 32)));
        assert_eq!(all, 0);
    }
}
