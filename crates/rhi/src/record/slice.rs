//! Vertex and index buffers: whether a slice may be bound.

use crate::backend::BoundBuffer;
use crate::desc::BufferSlice;
use crate::error::{Result, invalid};
use crate::plan::{BufferUse, ResourceUse};
use crate::record::bind::Bindings;
use crate::record::compute::tracked_buffer;
use crate::types::{BufferUsages, IndexFormat};

/// What a call needs of the slice that it binds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    pub usage: BufferUsages,
    pub declared: BufferUse,
    /// A power of two.
    pub alignment: u64,
    pub call: &'static str,
}

pub(super) const VERTICES: Needs = Needs {
    usage: BufferUsages::VERTEX,
    declared: BufferUse::Vertex,
    alignment: 4,
    call: "set_vertex_buffer",
};

const INDICES: Needs =
    Needs { usage: BufferUsages::INDEX, declared: BufferUse::Index, alignment: 4, call: "set_index_buffer" };

/// What indices of a format need.
#[inline]
pub(super) const fn indices(format: IndexFormat) -> &'static Needs {
    match format {
        IndexFormat::Uint16 => &const { Needs { alignment: 2, ..INDICES } },
        IndexFormat::Uint32 => &INDICES,
    }
}

impl Bindings<'_> {
    /// What is bound of a slice, if comparisons alone say that it may be.
    #[inline(always)]
    pub(super) fn accepts(&self, slice: &BufferSlice, needs: &'static Needs) -> Option<BoundBuffer> {
        let hot = self.registry.buffers.hot(slice.buffer)?;
        let fits = hot.usage & needs.usage.bits() != 0
            && slice.offset & (needs.alignment - 1) == 0
            && slice.size.wrapping_sub(1) < hot.size
            && slice.offset <= hot.size - slice.size
            && !hot.guarded;
        fits.then_some(BoundBuffer { native: hot.native, offset: slice.offset, size: slice.size })
    }

    /// The long way: tracked buffers, buffers before their first upload, empty slices, and everything that is wrong, which is kept.
    pub(super) fn accepts_after_all(
        &mut self,
        slice: &BufferSlice,
        needs: &'static Needs,
    ) -> Option<BoundBuffer> {
        if self.mistake.is_some() {
            return None;
        }
        if let Err(error) = self.check_slice(slice, needs) {
            self.fail(error);
            return None;
        }
        let native = self.registry.buffers.hot(slice.buffer)?.native;
        // An empty slice may begin at the buffer's end, which native APIs refuse.
        let offset = if slice.size == 0 { 0 } else { slice.offset };
        Some(BoundBuffer { native, offset, size: slice.size })
    }

    fn check_slice(&self, slice: &BufferSlice, needs: &'static Needs) -> Result<()> {
        let BufferSlice { buffer, offset, size } = *slice;
        let Needs { usage, declared, alignment, call } = *needs;
        let Some(record) = self.registry.buffers.get(buffer) else {
            return Err(self.registry.buffers.problem(buffer, self.what(call)));
        };
        if !record.usage.contains(usage) {
            let found = format!("{:?} of \"{}\"", record.usage, record.label);
            return Err(invalid(self.what(call), "buffer", format!("usage {usage:?}"), found));
        }
        if !offset.is_multiple_of(alignment) {
            return Err(invalid(self.what(call), "offset", format!("a multiple of {alignment}"), offset));
        }
        if offset.checked_add(size).is_none_or(|end| end > record.size) {
            let expected = format!("a range within the {} bytes of \"{}\"", record.size, record.label);
            return Err(invalid(self.what(call), "slice", expected, format!("{size} bytes from {offset}")));
        }
        tracked_buffer(self, record, ResourceUse::Buffer { buffer, offset, size, usage: declared }, call)
    }
}
