//! Clears and resolves outside of passes: raster passes without draws, which every backend has.

use super::Recorder;
use super::attachments::{AspectOps, ColorAttachment, DepthStencilAttachment, RenderPassDesc};
use crate::backend::{Backend, ClearValue, NativeLoad as LoadOp, StoreOp};
use crate::error::Result;
use crate::handle::TextureView;

impl<B: Backend> Recorder<'_, B> {
    /// Clears all that a view of one mip shows. The texture has the usage `RENDER_ATTACHMENT`, and the value is of the
    /// format's class. In a pass a [`LoadOp::Clear`] does the same for less.
    ///
    /// # Errors
    /// Those of a raster pass with this attachment.
    pub fn clear_color(&mut self, view: TextureView, value: ClearValue) -> Result<()> {
        let load = LoadOp::Clear(value);
        let colors = [Some(ColorAttachment { view, load, store: StoreOp::Store, resolve: None })];
        self.render_pass(
            &RenderPassDesc { label: "clear color", colors: &colors, ..Default::default() },
            |_| (),
        )
    }

    /// Clears the aspects that are given of what a view shows. The other aspect stays as it is, and must be defined.
    ///
    /// # Errors
    /// Those of a raster pass with this attachment; a value for an aspect that the format lacks.
    pub fn clear_depth_stencil(
        &mut self,
        view: TextureView,
        depth: Option<f32>,
        stencil: Option<u32>,
    ) -> Result<()> {
        let format = self.device.registry.views.check(view, || "clear_depth_stencil".into())?.format;
        let depth_stencil = Some(DepthStencilAttachment {
            view,
            depth: (depth.is_some() || format.has_depth_aspect()).then(|| cleared(depth)),
            stencil: (stencil.is_some() || format.has_stencil_aspect()).then(|| cleared(stencil)),
        });
        let desc = RenderPassDesc { label: "clear depth and stencil", depth_stencil, ..Default::default() };
        self.render_pass(&desc, |_| ())
    }

    /// Averages the samples of one view into another of the same size and format, and keeps both. At the end of the pass
    /// that draws the samples, [`ColorAttachment::resolve`] does the same for less.
    ///
    /// # Errors
    /// Those of a raster pass with this attachment: a source with one sample or undefined contents, a target with
    /// several, sizes or formats that differ, formats without the use `MULTISAMPLE_RESOLVE`.
    pub fn resolve_texture(&mut self, from: TextureView, to: TextureView) -> Result<()> {
        let attachment =
            ColorAttachment { view: from, load: LoadOp::Load, store: StoreOp::Store, resolve: Some(to) };
        let colors = [Some(attachment)];
        self.render_pass(&RenderPassDesc { label: "resolve", colors: &colors, ..Default::default() }, |_| ())
    }
}

fn cleared<T>(value: Option<T>) -> AspectOps<T> {
    let load = value.map_or(LoadOp::Load, LoadOp::Clear);
    AspectOps { load, store: StoreOp::Store, read_only: false }
}
