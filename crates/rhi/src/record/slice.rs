//! Vertex and index buffers: whether a slice may be bound.

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
    /// Whether a slice may be bound; if not, the mistake is kept.
    #[inline(always)]
    pub(super) fn accepts(&mut self, slice: &BufferSlice, needs: &'static Needs) -> bool {
        if self.mistake.is_none()
            && let Some(hot) = self.registry.buffers.hot(slice.buffer)
            && hot.usage & needs.usage.bits() != 0
            && slice.offset & (needs.alignment - 1) == 0
            && slice.size <= hot.size
            && slice.offset <= hot.size - slice.size
            && !hot.tracked
        {
            return true;
        }
        self.accepts_after_all(slice, needs)
    }

    /// The long way: tracked buffers, and everything that is wrong.
    #[inline(never)]
    fn accepts_after_all(&mut self, slice: &BufferSlice, needs: &'static Needs) -> bool {
        if self.mistake.is_some() {
            return false;
        }
        let checked = self.check_slice(slice, needs);
        checked.map_err(|error| self.fail(error)).is_ok()
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
