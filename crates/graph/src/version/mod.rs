//! Versions: what a pass borrows.
//!
//! A graph resource is held as a version, which is neither `Copy` nor `Clone`. A pass that reads it borrows `&version`,
//! a pass that writes it borrows `&mut version`; so sampling what the same pass writes, or two writes of one part in one
//! pass, does not compile. A version splits into parts like a slice does: mips, layers, byte ranges. Parts of one
//! version can be read and written side by side, and the borrow checker keeps them apart.
//!
//! Behind a version is only an index, so none of this costs anything. What borrows cannot prove (contents that nothing
//! has written, a part that the resource does not have) is checked when the graph compiles.

mod buffer;
mod texture;

pub use buffer::{AsBuffer, AsBufferMut, BufferId, BufferPart, BufferRange, BufferVersion};
pub(crate) use buffer::{BufferRef, REST};
pub(crate) use texture::TextureRef;
pub use texture::{
    AsTexture, AsTextureMut, TextureId, TexturePart, TextureParts, TextureSlice, TextureVersion,
};

/// A texture or a buffer that a pass reads.
pub trait AsResource: sealed::Sealed {
    #[doc(hidden)]
    fn resource_ref(&self) -> sealed::ResourceRef;
}

/// A texture or a buffer that a pass writes.
pub trait AsResourceMut: AsResource {}

pub(crate) mod sealed {
    use super::{BufferRef, TextureRef};

    /// Keeps the traits of this module to its types.
    pub trait Sealed {}

    /// What a version or part names.
    #[derive(Debug, Clone, Copy)]
    #[allow(unreachable_pub)] // Named by hidden trait methods.
    pub enum ResourceRef {
        /// A texture.
        Texture(TextureRef),
        /// A buffer.
        Buffer(BufferRef),
    }
}
