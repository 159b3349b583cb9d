//! What a pass binds: the entries of [`RenderBuilder::bind`](crate::RenderBuilder::bind) and
//! [`ComputeBuilder::bind`](crate::ComputeBuilder::bind), in the order of the layout's bindings.
//!
//! The layout, which shader reflection has checked, says in which stages and how each binding is accessed; a pass
//! cannot forget or overstate it. A storage binding that the shader may write asks for `&mut`.

use std::marker::PhantomData;

use purlin_rhi::{BufferSlice, Sampler, TextureView};

use crate::declare::{BindingDecl, Bound};
use crate::version::{AsBuffer, AsBufferMut, AsTexture, AsTextureMut};

/// One binding of a pass. Borrows what it binds until the pass is declared.
#[derive(Debug)]
#[must_use]
pub struct Binding<'p> {
    pub(crate) decl: BindingDecl,
    borrowed: PhantomData<&'p ()>,
}

#[track_caller]
fn bound<'p>(bound: Bound) -> Binding<'p> {
    Binding { decl: BindingDecl { bound, at: std::panic::Location::caller() }, borrowed: PhantomData }
}

/// A texture or part of one, sampled.
#[track_caller]
pub fn texture<'p>(texture: &'p impl AsTexture) -> Binding<'p> {
    bound(Bound::Texture(texture.texture_ref()))
}

/// One mip of a texture that the shader may write.
#[track_caller]
pub fn storage_texture<'p>(texture: &'p mut impl AsTextureMut) -> Binding<'p> {
    bound(Bound::StorageTexture(texture.texture_ref()))
}

/// One mip of a texture that the shader reads as a storage texture.
#[track_caller]
pub fn storage_texture_read<'p>(texture: &'p impl AsTexture) -> Binding<'p> {
    bound(Bound::StorageTextureRead(texture.texture_ref()))
}

/// A buffer or range of one, as a uniform or a read-only storage binding: the layout says which.
#[track_caller]
pub fn buffer<'p>(buffer: &'p impl AsBuffer) -> Binding<'p> {
    bound(Bound::Buffer(buffer.buffer_ref()))
}

/// `size` bytes of a buffer from `offset` on, as [`buffer`].
#[track_caller]
pub fn buffer_range<'p>(buffer: &'p impl AsBuffer, offset: u64, size: u64) -> Binding<'p> {
    let range = buffer.buffer_ref().range(offset..offset.saturating_add(size));
    bound(Bound::Buffer(range))
}

/// A buffer or range of one that the shader may write.
#[track_caller]
pub fn storage<'p>(buffer: &'p mut impl AsBufferMut) -> Binding<'p> {
    bound(Bound::Storage(buffer.buffer_ref()))
}

/// A sampler.
#[track_caller]
pub fn sampler<'p>(sampler: Sampler) -> Binding<'p> {
    bound(Bound::Sampler(sampler))
}

/// A view of a texture with uploaded contents, which needs no declaration.
#[track_caller]
pub fn view<'p>(view: TextureView) -> Binding<'p> {
    bound(Bound::View(view))
}

/// A range of a buffer with uploaded contents, such as a slice of the device's frame arena.
///
/// Where the layout's entry has a dynamic offset, the slice's offset becomes it: one bind group then serves every slice
/// of this size in the buffer. Elsewhere each offset needs a group of its own.
#[track_caller]
pub fn uploaded<'p>(slice: BufferSlice) -> Binding<'p> {
    bound(Bound::Uploaded(slice))
}
