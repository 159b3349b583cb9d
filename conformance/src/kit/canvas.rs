//! A color target that is read back.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{TextureAspect, TextureFormat, TextureUsages};
use purlin_rhi::{
    ClearValue, ColorAttachment, Device, LoadOp, Owned, RenderPassDesc, StoreOp, TextureDesc, TextureView,
    TextureViewDesc, kind,
};

use super::{Checked, Image, read_mip};

/// A texture with one mip and its view.
pub(crate) struct Canvas {
    /// The texture.
    pub texture: Owned<kind::Texture>,
    /// A view of all of it.
    pub view: Owned<kind::TextureView>,
    /// Texels in a row.
    pub width: u32,
    /// Texels in a column.
    pub height: u32,
    /// The format.
    pub format: TextureFormat,
}

impl Canvas {
    /// A target that is also copied from and, where `sampled`, sampled.
    pub fn new<B: Backend>(
        device: &mut Device<B>,
        width: u32,
        height: u32,
        format: TextureFormat,
    ) -> Checked<Self> {
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        Self::with_usage(device, width, height, format, usage)
    }

    /// A target that shaders sample too.
    pub fn sampled<B: Backend>(
        device: &mut Device<B>,
        width: u32,
        height: u32,
        format: TextureFormat,
    ) -> Checked<Self> {
        let usage =
            TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC | TextureUsages::TEXTURE_BINDING;
        Self::with_usage(device, width, height, format, usage)
    }

    /// A target with exactly this usage.
    pub fn with_usage<B: Backend>(
        device: &mut Device<B>,
        width: u32,
        height: u32,
        format: TextureFormat,
        usage: TextureUsages,
    ) -> Checked<Self> {
        let texture = device.create_texture(&TextureDesc::d2("canvas", width, height, format, usage))?;
        let view = device
            .create_texture_view(*texture, &TextureViewDesc { label: "canvas", ..Default::default() })?;
        Ok(Self { texture, view, width, height, format })
    }

    /// Reads the texels, rows without padding.
    pub fn bytes<B: Backend>(&self, device: &mut Device<B>) -> Checked<Vec<u8>> {
        read_mip(device, *self.texture, 0, TextureAspect::All, [self.width, self.height, 1])
    }

    /// Reads the texels of a format of four bytes.
    pub fn image<B: Backend>(&self, device: &mut Device<B>) -> Checked<Image> {
        Ok(Image::from_bytes(self.width, &self.bytes(device)?))
    }
}

/// An attachment that is cleared and kept.
pub(crate) fn clear(view: TextureView, color: [f32; 4]) -> Option<ColorAttachment> {
    Some(ColorAttachment {
        view,
        load: LoadOp::Clear(ClearValue::Float(color)),
        store: StoreOp::Store,
        resolve: None,
    })
}

/// An attachment that is loaded and kept.
pub(crate) fn load(view: TextureView) -> Option<ColorAttachment> {
    Some(ColorAttachment { view, load: LoadOp::Load, store: StoreOp::Store, resolve: None })
}

/// A pass over color attachments that uses nothing tracked.
pub(crate) fn one_color<'a>(label: &'a str, colors: &'a [Option<ColorAttachment>]) -> RenderPassDesc<'a> {
    RenderPassDesc { label, colors, depth_stencil: None, uses: &[], ..Default::default() }
}
