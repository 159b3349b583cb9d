//! The hot path: applying what is dirty, then one draw or dispatch.

use purlin_rhi::backend::{BindState, Dirty, Dispatch, Draw};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::Color;

use crate::adapter;
use crate::device::Wgpu;

/// Bytes of one draw's arguments.
const INDIRECT: u32 = 16;
const INDEXED_INDIRECT: u32 = 20;

/// Groups and immediates, which raster and compute passes set alike.
macro_rules! apply_common {
    ($pass:expr, $backend:expr, $dirty:expr, $state:expr) => {
        let mut groups = ($dirty & Dirty::GROUPS).bits() / Dirty::GROUP0.bits();
        while groups != 0 {
            let index = groups.trailing_zeros();
            groups &= groups - 1;
            let group = &$state.groups[index as usize];
            let offsets = &group.offsets[..group.offset_count as usize];
            $pass.set_bind_group(index, $backend.groups.get(group.native as u32), offsets);
        }
        if $dirty.contains(Dirty::IMMEDIATES) && !adapter::emulates_immediates($backend.native) {
            let (first, end) = $state.dirty_immediates;
            let (first, end) = (first & !3, end.next_multiple_of(4));
            if first < end {
                $pass.set_immediates(first, &$state.immediates[first as usize..end as usize]);
            }
        }
    };
}

#[inline]
pub(crate) fn apply_draw_state(
    pass: &mut wgpu::RenderPass<'static>,
    backend: &Wgpu,
    dirty: Dirty,
    state: &BindState,
) {
    if dirty.is_empty() {
        return;
    }
    if dirty.contains(Dirty::PIPELINE) {
        pass.set_pipeline(&backend.render_pipelines.get(state.pipeline).raw);
    }
    apply_common!(pass, backend, dirty, state);
    if dirty.contains(Dirty::VERTEX_BUFFERS) {
        let mut bits = state.dirty_vertex_buffers;
        while bits != 0 {
            let index = bits.trailing_zeros();
            bits &= bits - 1;
            let bound = state.vertex_buffers.get(index as usize);
            let buffer = &backend.buffers.get(bound.native as u32).raw;
            pass.set_vertex_buffer(index, buffer.slice(bound.offset..bound.offset + bound.size));
        }
    }
    if dirty.contains(Dirty::INDEX_BUFFER) {
        let bound = &state.index_buffer;
        let buffer = &backend.buffers.get(bound.native as u32).raw;
        pass.set_index_buffer(buffer.slice(bound.offset..bound.offset + bound.size), state.index_format);
    }
    if dirty.contains(Dirty::VIEWPORT) {
        let [x, y, width, height, near, far] = state.viewport;
        pass.set_viewport(x, y, width, height, near, far);
    }
    if dirty.contains(Dirty::SCISSOR) {
        let [x, y, width, height] = state.scissor;
        pass.set_scissor_rect(x, y, width, height);
    }
    if dirty.contains(Dirty::BLEND_CONSTANT) {
        let [r, g, b, a] = state.blend_constant.map(f64::from);
        pass.set_blend_constant(Color { r, g, b, a });
    }
    if dirty.contains(Dirty::STENCIL_REFERENCE) {
        pass.set_stencil_reference(state.stencil_reference);
    }
}

#[inline]
pub(crate) fn emit_draw(pass: &mut wgpu::RenderPass<'static>, backend: &Wgpu, state: &BindState, draw: Draw) {
    match draw {
        Draw::Direct { vertices, instances, first_vertex, first_instance } => {
            pass.draw(first_vertex..first_vertex + vertices, first_instance..first_instance + instances);
        }
        Draw::Indexed { indices, instances, first_index, base_vertex, first_instance }
            if base_vertex != 0 && !backend.base_vertex =>
        {
            let moved = move_vertices(pass, backend, state, i64::from(base_vertex));
            if moved {
                let instances = first_instance..first_instance + instances;
                pass.draw_indexed(first_index..first_index + indices, 0, instances);
                move_vertices(pass, backend, state, 0);
            }
        }
        Draw::Indexed { indices, instances, first_index, base_vertex, first_instance } => pass.draw_indexed(
            first_index..first_index + indices,
            base_vertex,
            first_instance..first_instance + instances,
        ),
        Draw::Indirect { buffer, offset, count, stride } => {
            let arguments = &backend.buffers.get(buffer).raw;
            if count > 1 && stride == INDIRECT {
                pass.multi_draw_indirect(arguments, offset, count);
            } else {
                for index in 0..u64::from(count) {
                    pass.draw_indirect(arguments, offset + index * u64::from(stride));
                }
            }
        }
        Draw::IndexedIndirect { buffer, offset, count, stride } => {
            let arguments = &backend.buffers.get(buffer).raw;
            if count > 1 && stride == INDEXED_INDIRECT {
                pass.multi_draw_indexed_indirect(arguments, offset, count);
            } else {
                for index in 0..u64::from(count) {
                    pass.draw_indexed_indirect(arguments, offset + index * u64::from(stride));
                }
            }
        }
        Draw::IndirectCount { buffer, offset, count_buffer, count_offset, most, stride } => {
            let (arguments, counts) =
                (&backend.buffers.get(buffer).raw, &backend.buffers.get(count_buffer).raw);
            if is_close(backend, most, stride, INDIRECT) {
                pass.multi_draw_indirect_count(arguments, offset, counts, u64::from(count_offset), most);
            }
        }
        Draw::IndexedIndirectCount { buffer, offset, count_buffer, count_offset, most, stride } => {
            let (arguments, counts) =
                (&backend.buffers.get(buffer).raw, &backend.buffers.get(count_buffer).raw);
            if is_close(backend, most, stride, INDEXED_INDIRECT) {
                pass.multi_draw_indexed_indirect_count(
                    arguments,
                    offset,
                    counts,
                    u64::from(count_offset),
                    most,
                );
            }
        }
    }
}

/// Whether arguments lie next to each other, as wgpu wants those whose number it does not know; otherwise it is noted.
fn is_close(backend: &Wgpu, most: u32, stride: u32, size: u32) -> bool {
    let close = most <= 1 || stride == size;
    if !close {
        let detail = format!("{stride} requested; wgpu wants {size}");
        let capability = "a stride of counted draws beyond their arguments";
        backend.errors.loss.note(BackendError::Unsupported { capability, detail });
    }
    close
}

/// Binds the vertex buffers from this vertex on, for an API whose draws have no base vertex. Whether that can be.
fn move_vertices(pass: &mut wgpu::RenderPass<'static>, backend: &Wgpu, state: &BindState, base: i64) -> bool {
    let refuse = |detail: &str| {
        let detail = format!("base vertex {base}: {detail}");
        backend.errors.loss.note(BackendError::Unsupported { capability: "a base vertex", detail });
        false
    };
    let Some(strides) = &backend.render_pipelines.get(state.pipeline).strides else {
        return refuse("the shader asks for the vertex index, which would count from zero");
    };
    for (index, &stride) in (0..).zip(strides) {
        let bound = state.vertex_buffers.get(index as usize);
        let by = stride as i64 * base;
        let (Some(offset), Some(size)) =
            (bound.offset.checked_add_signed(by), bound.size.checked_add_signed(-by))
        else {
            return refuse("the vertices begin outside of their buffer");
        };
        if stride > 0 {
            pass.set_vertex_buffer(
                index,
                backend.buffers.get(bound.native as u32).raw.slice(offset..offset + size),
            );
        }
    }
    true
}

#[inline]
pub(crate) fn apply_dispatch_state(
    pass: &mut wgpu::ComputePass<'static>,
    backend: &Wgpu,
    dirty: Dirty,
    state: &BindState,
) {
    if dirty.contains(Dirty::PIPELINE) {
        pass.set_pipeline(backend.compute_pipelines.get(state.pipeline));
    }
    apply_common!(pass, backend, dirty, state);
}

#[inline]
pub(crate) fn emit_dispatch(pass: &mut wgpu::ComputePass<'static>, backend: &Wgpu, dispatch: Dispatch) {
    match dispatch {
        Dispatch::Direct([x, y, z]) => pass.dispatch_workgroups(x, y, z),
        Dispatch::Indirect { buffer, offset } => {
            pass.dispatch_workgroups_indirect(&backend.buffers.get(buffer).raw, offset);
        }
    }
}
