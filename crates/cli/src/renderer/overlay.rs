//! The text in the picture's corner.
//!
//! It says only what is the same on every run and machine, so that pictures can be compared.

use std::fmt::Write;

use purlin::rhi::backend::Backend;
use purlin::rhi::types::{BufferUsages, TextureFormat};
use purlin::rhi::{
    BindGroupDesc, BindGroupEntry, Device, Error, Owned, SamplerDesc, TextureDesc, TextureViewDesc, kind,
};

use super::Visible;
use super::frame::Quads;
use super::layouts::Layouts;
use super::upload::Uploader;
use crate::error::DemoError;
use crate::scene::{FontAtlas, MipLevel, OverlayUniforms, TextPen};
use crate::size::Size;

const PANEL: [u8; 4] = [12, 14, 20, 150];
const WHITE: [u8; 4] = [255, 255, 255, 255];
const AMBER: [u8; 4] = [255, 210, 140, 255];

/// The figures that the overlay shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Figures {
    pub passes: u32,
    pub visible: Visible,
    pub instances: u32,
}

/// Two lines of text, laid out again only when they change.
#[derive(Debug)]
pub(super) struct Overlay {
    group: Owned<kind::BindGroup>,
    title: String,
    scale: f32,
    shown: Option<Figures>,
    line: String,
    pen: TextPen,
}

impl Overlay {
    pub fn new<B: Backend>(
        uploader: &mut Uploader<'_, B>,
        layouts: &Layouts,
        title: String,
        size: Size,
    ) -> Result<Self, DemoError> {
        let FontAtlas { width, height, data } = FontAtlas::new();
        let desc = TextureDesc::uploaded("font", width, height, 1, TextureFormat::R8Unorm);
        let atlas = uploader.texture(&desc, [&MipLevel { width, height, data }])?;
        let uniforms = OverlayUniforms::new(size.width, size.height);
        let uniforms = uploader.buffer("overlay", BufferUsages::UNIFORM, bytemuck::bytes_of(&uniforms))?;
        let device = uploader.device();
        let view =
            device.create_texture_view(*atlas, &TextureViewDesc { label: "font", ..Default::default() })?;
        let sampler = device.create_sampler(&SamplerDesc::nearest("font"))?;
        let group = device.create_bind_group(&BindGroupDesc {
            label: "overlay",
            layout: *layouts.overlay,
            entries: &[
                BindGroupEntry::buffer(0, *uniforms),
                BindGroupEntry::texture(1, *view),
                BindGroupEntry::sampler(2, *sampler),
            ],
        })?;
        // Text that fills a third of a large picture, and whole pixels in any.
        let scale = (size.width / 640).clamp(1, 4) as f32;
        let mut overlay =
            Self { group, title, scale, shown: None, line: String::new(), pen: TextPen::default() };
        overlay.lay_out();
        Ok(overlay)
    }

    /// This frame's copy of the text.
    pub fn push<B: Backend>(&self, device: &mut Device<B>) -> Result<Quads, Error> {
        let quads = &self.pen.quads;
        let slice = device.push_frame_data(bytemuck::cast_slice(quads), 4)?;
        Ok(Quads { group: *self.group, slice, count: quads.len() as u32 })
    }

    /// Shows other figures.
    pub fn show(&mut self, figures: Option<Figures>) {
        if self.shown == figures {
            return;
        }
        self.shown = figures;
        self.line.clear();
        if let Some(Figures { passes, visible, instances }) = figures {
            // Writing to a string cannot fail.
            let _ = write!(
                self.line,
                "{passes} passes  {}/{instances} visible  {} cast shadows",
                visible.camera, visible.sun
            );
        }
        self.lay_out();
    }

    fn lay_out(&mut self) {
        let Self { title, scale, line, pen, .. } = self;
        let scale = *scale;
        let (margin, padding, step) = (8.0 * scale, 6.0 * scale, TextPen::line_height(scale));
        let lines = if line.is_empty() { 1.0 } else { 2.0 };
        // The last column and the last rows of each cell are space, which is not padding.
        let width = TextPen::width(title, scale).max(TextPen::width(line, scale)) - scale;
        let height = lines * step - 3.0 * scale;
        let left = margin + padding;
        pen.quads.clear();
        pen.rect([margin, margin], [width + 2.0 * padding, height + 2.0 * padding], PANEL);
        pen.line([left, left], scale, WHITE, title);
        pen.line([left, left + step], scale, AMBER, line);
    }
}
