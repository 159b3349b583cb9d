//! Synchronization: declared uses in, dependencies out.

mod access;
mod barrier;

pub use access::{
    Access, Aspects, BufferUse, Effect, Layout, ResourceUse, Scope, Stages, TextureRange, TextureUse,
};
pub use barrier::{BarrierBatch, MemoryBarrier, TextureBarrier};
