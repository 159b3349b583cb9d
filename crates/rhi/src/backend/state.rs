//! The state that draws and dispatches are given, and what of it has changed.

use crate::types::IndexFormat;

bitflags::bitflags! {
    /// What changed since the last draw or dispatch.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Dirty: u32 {
        /// The pipeline.
        const PIPELINE = 1 << 0;
        /// Group 0 or its offsets; groups 1 to 3 are the next bits.
        const GROUP0 = 1 << 1;
        /// Group 1.
        const GROUP1 = 1 << 2;
        /// Group 2.
        const GROUP2 = 1 << 3;
        /// Group 3.
        const GROUP3 = 1 << 4;
        /// Some vertex buffers: `BindState::dirty_vertex_buffers` says which.
        const VERTEX_BUFFERS = 1 << 5;
        /// The index buffer.
        const INDEX_BUFFER = 1 << 6;
        /// The viewport.
        const VIEWPORT = 1 << 7;
        /// The scissor.
        const SCISSOR = 1 << 8;
        /// The blend constant.
        const BLEND_CONSTANT = 1 << 9;
        /// The stencil reference.
        const STENCIL_REFERENCE = 1 << 10;
        /// The immediates.
        const IMMEDIATES = 1 << 11;
    }
}

impl Dirty {
    /// The bit of a group.
    #[inline]
    pub const fn group(index: u32) -> Dirty {
        Dirty::from_bits_retain(Dirty::GROUP0.bits() << index)
    }

    /// Every group.
    pub const GROUPS: Dirty = Dirty::GROUP0.union(Dirty::GROUP1).union(Dirty::GROUP2).union(Dirty::GROUP3);

    /// What every raster pass begins with: viewport, scissor, blend constant and stencil reference.
    pub const FIXED: Dirty =
        Dirty::VIEWPORT.union(Dirty::SCISSOR).union(Dirty::BLEND_CONSTANT).union(Dirty::STENCIL_REFERENCE);
}

/// In place of what binds a buffer or group: the encoder has none there, or it is not known which.
pub const NOT_BOUND: u64 = u64::MAX;
/// Bind groups of a pass.
pub const MAX_GROUPS: usize = 4;
/// Vertex buffers of a pass.
pub const MAX_VERTEX_BUFFERS: usize = 16;
/// Dynamic offsets of a group.
pub const MAX_DYNAMIC_OFFSETS: usize = 12;
/// Bytes of immediates.
pub const MAX_IMMEDIATES: usize = 256;

/// A bound group with its dynamic offsets.
#[derive(Debug, Clone, Copy)]
pub struct BoundGroup {
    /// What [`native_group`](super::Backend::native_group) answered.
    pub native: u64,
    /// How many offsets are in use.
    pub offset_count: u32,
    /// Offsets in bytes, in binding order.
    pub offsets: [u32; MAX_DYNAMIC_OFFSETS],
}

/// A bound vertex or index buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundBuffer {
    /// What [`native_buffer`](super::Backend::native_buffer) answered.
    pub native: u64,
    /// The first byte; zero when there are none.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
}

/// The vertex buffers by slot, each part in a list of its own, as native calls take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VertexBuffers {
    /// What [`native_buffer`](super::Backend::native_buffer) answered.
    pub natives: [u64; MAX_VERTEX_BUFFERS],
    /// The first bytes; zero where there are none.
    pub offsets: [u64; MAX_VERTEX_BUFFERS],
    /// How many bytes.
    pub sizes: [u64; MAX_VERTEX_BUFFERS],
}

impl Default for BoundBuffer {
    fn default() -> Self {
        Self { native: NOT_BOUND, offset: 0, size: 0 }
    }
}

impl Default for VertexBuffers {
    fn default() -> Self {
        let none = [0; MAX_VERTEX_BUFFERS];
        Self { natives: [NOT_BOUND; MAX_VERTEX_BUFFERS], offsets: none, sizes: none }
    }
}

impl VertexBuffers {
    /// The buffer at a slot.
    #[inline]
    pub fn get(&self, index: usize) -> BoundBuffer {
        BoundBuffer { native: self.natives[index], offset: self.offsets[index], size: self.sizes[index] }
    }

    /// Puts a buffer at a slot.
    #[inline]
    pub fn set(&mut self, index: usize, buffer: BoundBuffer) {
        (self.natives[index], self.offsets[index], self.sizes[index]) =
            (buffer.native, buffer.offset, buffer.size);
    }
}

/// The state that draws and dispatches read; only what [`Dirty`] names has changed.
#[derive(Debug, Clone)]
pub struct BindState {
    /// The pipeline's slot.
    pub pipeline: u32,
    /// The pipeline layout's slot.
    pub layout: u32,
    /// The groups.
    pub groups: [BoundGroup; MAX_GROUPS],
    /// The vertex buffers.
    pub vertex_buffers: VertexBuffers,
    /// Which vertex buffers changed, a bit for each; none without [`Dirty::VERTEX_BUFFERS`].
    pub dirty_vertex_buffers: u32,
    /// The index buffer.
    pub index_buffer: BoundBuffer,
    /// The index format.
    pub index_format: IndexFormat,
    /// x, y, width, height, minimum and maximum depth, from the top left.
    pub viewport: [f32; 6],
    /// x, y, width and height, from the top left; never empty when a draw arrives.
    pub scissor: [u32; 4],
    /// The blend constant.
    pub blend_constant: [f32; 4],
    /// The stencil reference.
    pub stencil_reference: u32,
    /// The immediates.
    pub immediates: [u8; MAX_IMMEDIATES],
    /// The bytes of immediates that changed: first and one past the last.
    pub dirty_immediates: (u32, u32),
}
