//! What the page calls.

use std::collections::VecDeque;
use std::fmt::Write as _;

use purlin::choose::{self, Choice, OnCanvas};
use purlin::graph::{FrameStats, GraphReport};
use purlin::rhi::{PassTime, ReadTicket, StorageCeilings, SubmissionToken, TimestampQuery};
use purlin::wgpu::Wgpu;
use purlin::{DeviceRequest, Limits};
use purlin_cli::renderer::{self, PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::{Scene, SceneOptions};
use purlin_cli::size::Size;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::orbit::Orbit;

/// The demo on one device. Freeing it ends the device; what the browser still tells of it later finds nobody.
#[wasm_bindgen]
pub struct Demo {
    renderer: Renderer<Wgpu>,
    scene: Scene,
    orbit: Orbit,
    size: Size,
    /// Pictures that have not come yet.
    coming: VecDeque<Coming>,
    pixels: Vec<u8>,
    pixels_size: Size,
    stats: FrameStats,
    times: Vec<PassTime>,
    report_wanted: bool,
    report: Option<(SubmissionToken, Box<GraphReport>)>,
    opened: OnCanvas,
}

struct Coming {
    token: SubmissionToken,
    picture: ReadTicket,
    size: Size,
}

/// Text for JavaScript's `JSON.parse`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[wasm_bindgen]
impl Demo {
    /// Opens a device by `auto`, `webgpu` or `webgl` for a canvas and uploads the scene. The error is one line.
    pub async fn open(
        backend: String,
        canvas: HtmlCanvasElement,
        width: u32,
        height: u32,
    ) -> Result<Demo, String> {
        let size = Size { width: width.max(1), height: height.max(1) };
        let choice = Choice::named(&backend).map_err(text)?;
        let options = SceneOptions { aspect: size.aspect(), ..Default::default() };
        let scene = Scene::procedural(&options);
        // Nothing can wait for room in the ring, so all of the scene fits.
        let upload_ring = (renderer::upload_bytes(&scene) * 5 / 4).next_multiple_of(1 << 20);
        let request = DeviceRequest {
            label: "demo",
            preferred_features: PREFERRED_FEATURES | REQUIRED_FEATURES,
            // The renderer does without what WebGL 2 lacks.
            required_limits: Limits::webgl2(),
            storage: StorageCeilings { upload_ring, frame_arena_page: 1 << 20, ..Default::default() },
            ..Default::default()
        };
        let mut opened = choose::open_on_canvas(&choice, &request, canvas).await.map_err(text)?;
        let device = &mut opened.device;
        let renderer = Renderer::new(device, &scene, size, &mut |_| {}).map_err(text)?;
        if let Some(timestamps) = device.capability::<TimestampQuery>() {
            device.enable_timings(timestamps, true);
        }
        let orbit = Orbit::of(&scene.camera);
        Ok(Self {
            renderer,
            scene,
            orbit,
            size,
            coming: VecDeque::new(),
            pixels: Vec::new(),
            pixels_size: size,
            stats: FrameStats::default(),
            times: Vec::new(),
            report_wanted: false,
            report: None,
            opened,
        })
    }

    /// The backend, the adapter, and what was tried before, as JSON.
    pub fn about(&self) -> String {
        let adapter = self.opened.device.adapter();
        let refused: Vec<String> = self
            .opened
            .refused
            .iter()
            .map(|(name, error)| {
                format!("{{\"backend\":{},\"reason\":{}}}", quoted(name), quoted(&text(error)))
            })
            .collect();
        format!(
            "{{\"backend\":{},\"adapter\":{},\"driver\":{},\"refused\":[{}]}}",
            quoted(self.opened.backend),
            quoted(&adapter.name),
            quoted(&adapter.driver),
            refused.join(",")
        )
    }

    /// The canvas that is in the page now.
    pub fn canvas(&self) -> HtmlCanvasElement {
        self.opened.canvas.clone()
    }

    /// Turns the camera around the scene, in radians.
    pub fn turn(&mut self, yaw: f32, pitch: f32) {
        self.orbit.turn(yaw, pitch);
        self.look();
    }

    /// Brings the camera nearer (below one) or farther.
    pub fn zoom(&mut self, factor: f32) {
        self.orbit.zoom(factor);
        self.look();
    }

    fn look(&mut self) {
        self.orbit.place(&mut self.scene.camera);
        self.renderer.look(&self.scene);
    }

    /// Takes what has come, and renders a frame when the GPU is not too far behind. Whether a new picture is there. A canvas
    /// without a side renders nothing.
    pub fn frame(&mut self, width: u32, height: u32) -> Result<bool, String> {
        let come = self.take()?;
        if width == 0 || height == 0 {
            return Ok(come);
        }
        let size = Size { width, height };
        let device = &mut self.opened.device;
        if size != self.size {
            self.renderer.resize(device, &self.scene, size).map_err(text)?;
            self.size = size;
        }
        self.renderer.set_report(self.report_wanted);
        let Some((frame, picture)) = self.renderer.try_render(device).map_err(text)? else {
            return Ok(come);
        };
        self.stats = frame.stats;
        if let Some(report) = frame.report {
            self.report_wanted = false;
            self.report = Some((frame.token, report));
        }
        if let Some(picture) = picture {
            self.coming.push_back(Coming { token: frame.token, picture, size });
        }
        Ok(come)
    }

    fn take(&mut self) -> Result<bool, String> {
        let device = &mut self.opened.device;
        let mut come = false;
        while let Some(first) = self.coming.front() {
            if !device.is_complete(first.token).map_err(text)? {
                break;
            }
            let Some(Coming { picture, size, .. }) = self.coming.pop_front() else { break };
            self.pixels.resize(size.width as usize * size.height as usize * 4, 0);
            device.read(&picture, &mut self.pixels).map_err(text)?;
            self.pixels_size = size;
            come = true;
        }
        if let Some(times) = device.pass_times().map_err(text)? {
            self.times = times;
        }
        Ok(come)
    }

    /// Pictures that were asked for and have not come.
    pub fn pending(&self) -> usize {
        self.coming.len()
    }

    /// The newest picture: RGBA, rows from the top.
    pub fn pixels(&self) -> js_sys::Uint8ClampedArray {
        js_sys::Uint8ClampedArray::from(&self.pixels[..])
    }

    /// The newest picture's width and height.
    pub fn picture_size(&self) -> Vec<u32> {
        vec![self.pixels_size.width, self.pixels_size.height]
    }

    /// Milliseconds of the GPU's passes, or of the CPU's phases where the GPU has no clock, as JSON.
    pub fn timings(&self) -> String {
        let mut rows = String::new();
        let mut row = |label: &str, nanoseconds: f64| {
            let comma = if rows.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(rows, "{comma}{{\"label\":{},\"ms\":{:.4}}}", quoted(label), nanoseconds / 1e6);
        };
        let gpu = self.opened.device.capability::<TimestampQuery>().is_some();
        if gpu {
            for time in &self.times {
                row(&time.label, time.time.nanoseconds().unwrap_or(0.0));
            }
        } else {
            let stats = &self.stats;
            for (label, nanoseconds) in [
                ("declare", stats.declare_ns),
                ("compile", stats.compile_ns),
                ("record", stats.record_ns),
                ("submit", stats.submit_ns),
            ] {
                row(label, nanoseconds as f64);
            }
        }
        let visible = self.renderer.visible().map_or(0, |visible| visible.camera);
        format!(
            "{{\"clock\":{},\"passes\":{},\"barriers\":{},\"visible\":{visible},\"instances\":{},\"rows\":[{rows}]}}",
            if gpu { "\"gpu\"" } else { "\"cpu\"" },
            self.stats.passes,
            self.stats.memory_barriers + self.stats.texture_barriers,
            self.scene.instances.len(),
        )
    }

    /// Asks for the report of the next frame.
    pub fn want_report(&mut self) {
        self.report_wanted = true;
        self.report = None;
    }

    /// The report that was asked for, as a page of its own; nothing while its frame is under way.
    pub fn report(&mut self) -> Result<Option<String>, String> {
        let Some((token, report)) = &mut self.report else { return Ok(None) };
        if !self.opened.device.is_complete(*token).map_err(text)? {
            return Ok(None);
        }
        report.set_gpu_times(&self.times);
        Ok(Some(report.to_html()))
    }

    /// Loses the device, as a driver's reset does: later frames fail with the reason.
    pub fn lose(&self) {
        self.opened.device.backend().device().destroy();
    }
}
