//! What the planner says and a backend lowers: memory and texture barriers, batched per pass boundary.

use super::access::{Layout, Scope, TextureRange};

/// A dependency that needs no layout change. Covers every resource; buffers always use this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryBarrier {
    /// What must have happened.
    pub src: Scope,
    /// What waits for it.
    pub dst: Scope,
}

/// A dependency with a layout change of one texture range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextureBarrier {
    /// The texture's slot.
    pub texture: u32,
    /// The subresources.
    pub range: TextureRange,
    /// What must have happened.
    pub src: Scope,
    /// What waits for it.
    pub dst: Scope,
    /// The layout before; `Undefined` discards the contents.
    pub old: Layout,
    /// The layout after.
    pub new: Layout,
}

/// The barriers at one pass boundary, lowered together in one native call.
#[derive(Debug, Clone, Copy, Default)]
pub struct BarrierBatch<'a> {
    /// Memory barriers; no two that one barrier could express exactly.
    pub memory: &'a [MemoryBarrier],
    /// Texture barriers.
    pub textures: &'a [TextureBarrier],
}

impl BarrierBatch<'_> {
    /// Whether there is nothing to emit.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.textures.is_empty()
    }
}
