//! Opening a device for a canvas, as the page's tests ask for it.

use std::time::Duration;

use purlin::choose::{self, Choice, InBrowser};
use purlin_rhi::surface::SurfaceTarget;
use purlin_rhi::types::{TextureFormat, TextureUsages};
use purlin_rhi::{
    ClearValue, ColorAttachment, DeviceRequest, Limits, LoadOp, ReadTicket, RenderPassDesc, StoreOp,
    SubmissionToken, TextureDesc, TexturePlace, TextureViewDesc, types::Extent3d,
};
use purlin_wgpu::Canvas;
use serde_json::json;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

/// A device that was selected. Freeing it ends it.
#[wasm_bindgen]
pub struct Selected {
    opened: InBrowser,
    canvas: Canvas,
    work: Option<(SubmissionToken, ReadTicket)>,
}

/// Opens by `auto`, `webgpu` or `webgl`.
#[wasm_bindgen]
pub async fn select(backend: String, canvas: HtmlCanvasElement) -> Result<Selected, String> {
    let choice = Choice::named(&backend).map_err(|error| error.to_string())?;
    let canvas = Canvas::new(canvas);
    let target = SurfaceTarget::custom(canvas.clone());
    let request = DeviceRequest {
        label: "selection",
        surface: Some(&target),
        required_limits: Limits::webgl2(),
        ..Default::default()
    };
    let opened = choose::open_in_browser(&choice, &request).await.map_err(|error| error.to_string())?;
    Ok(Selected { opened, canvas, work: None })
}

#[wasm_bindgen]
impl Selected {
    /// The backend and what was tried before, as JSON.
    pub fn about(&self) -> String {
        let refused: Vec<_> = self
            .opened
            .refused
            .iter()
            .map(|(backend, error)| json!({ "backend": backend, "reason": error.to_string() }))
            .collect();
        json!({ "backend": self.opened.backend, "refused": refused }).to_string()
    }

    /// The canvas that is in the page now.
    pub fn canvas(&self) -> HtmlCanvasElement {
        self.canvas.element()
    }

    /// Submits a cleared texture and its readback.
    pub fn begin_work(&mut self) -> Result<(), String> {
        self.record().map_err(|error| error.to_string())
    }

    fn record(&mut self) -> purlin_rhi::Result<()> {
        let device = &mut self.opened.device;
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let texture =
            device.create_texture(&TextureDesc::d2("work", 1, 1, TextureFormat::Rgba8Unorm, usage))?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let mut recorder = device.record("work")?;
        let load = LoadOp::Clear(ClearValue::Float([1.0, 0.0, 1.0, 1.0]));
        let colors = [Some(ColorAttachment { view: *view, load, store: StoreOp::Store, resolve: None })];
        recorder
            .render_pass(&RenderPassDesc { label: "work", colors: &colors, ..Default::default() }, |_| {})?;
        let one = Extent3d { width: 1, height: 1, depth_or_array_layers: 1 };
        let ticket = recorder.read_texture(&TexturePlace::mip(*texture, 0), one)?;
        let token = recorder.submit()?;
        self.work = Some((token, ticket));
        Ok(())
    }

    /// The texel of the work, when it has come. A wait of a browser is a look.
    pub fn end_work(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some((token, ticket)) = &self.work else { return Ok(None) };
        let device = &mut self.opened.device;
        match device.wait(*token, Duration::from_secs(1)) {
            Ok(true) => device.read_vec(ticket).map(Some).map_err(|error| error.to_string()),
            Ok(false) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Loses the device, as a driver's reset does.
    pub fn lose(&self) {
        self.opened.device.backend().device().destroy();
    }
}
