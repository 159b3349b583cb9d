//! What the page calls.

use std::fmt::Write as _;
use std::time::Duration;

use purlin::choose::{self, Choice, InBrowser};
use purlin::graph::{FrameStats, GraphReport};
use purlin::rhi::surface::{Acquired, Skip, Surface, SurfaceConfig, SurfaceTarget};
use purlin::rhi::{PassTime, StorageCeilings, SubmissionToken, TimestampQuery};
use purlin::types::TextureFormat;
use purlin::wgpu::{Canvas, Wgpu};
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
    /// What the surface was configured for; nothing when it must be again.
    configured: Option<(u32, u32)>,
    format: TextureFormat,
    stats: FrameStats,
    times: Vec<PassTime>,
    report_wanted: bool,
    report: Option<(SubmissionToken, Box<GraphReport>)>,
    surface: Surface,
    opened: InBrowser,
    canvas: Canvas,
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
        let canvas = Canvas::new(canvas);
        let target = SurfaceTarget::custom(canvas.clone());
        let request = DeviceRequest {
            label: "demo",
            surface: Some(&target),
            preferred_features: PREFERRED_FEATURES | REQUIRED_FEATURES,
            // The renderer does without what WebGL 2 lacks.
            required_limits: Limits::webgl2(),
            storage: StorageCeilings { upload_ring, frame_arena_page: 1 << 20, ..Default::default() },
            ..Default::default()
        };
        let mut opened = choose::open_in_browser(&choice, &request).await.map_err(text)?;
        let device = &mut opened.device;
        let surface = device.create_surface("canvas", &target).map_err(text)?;
        let formats = surface.capabilities(device).map_err(text)?.formats;
        // The renderer encodes by itself.
        let plain = [TextureFormat::Rgba8Unorm, TextureFormat::Bgra8Unorm];
        let format = formats.into_iter().find(|format| plain.contains(format));
        let format = format.ok_or("the canvas shows no format of eight bits")?;
        let renderer = Renderer::for_surface(device, &scene, size, format, &mut |_| {}).map_err(text)?;
        if let Some(timestamps) = device.capability::<TimestampQuery>() {
            device.enable_timings(timestamps, true);
        }
        let orbit = Orbit::of(&scene.camera);
        Ok(Self {
            renderer,
            scene,
            orbit,
            size,
            configured: None,
            format,
            stats: FrameStats::default(),
            times: Vec::new(),
            report_wanted: false,
            report: None,
            surface,
            opened,
            canvas,
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
        self.canvas.element()
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

    /// Shows a frame when the GPU is not too far behind, and says whether it did. A canvas without a side shows none.
    pub fn frame(&mut self, width: u32, height: u32) -> Result<bool, String> {
        let device = &mut self.opened.device;
        if let Some(times) = device.pass_times().map_err(text)? {
            self.times = times;
        }
        if !self.renderer.is_ready(device).map_err(text)? {
            return Ok(false);
        }
        if self.configured != Some((width, height)) {
            let config = SurfaceConfig::new(width, height, self.format);
            self.surface.configure(device, &config).map_err(text)?;
            self.configured = Some((width, height));
        }
        let frame = match self.surface.acquire(device, Duration::ZERO).map_err(text)? {
            Acquired::Frame(frame) => frame,
            Acquired::Skipped(reason) => {
                if reason == Skip::Outdated {
                    self.configured = None;
                }
                return Ok(false);
            }
        };
        let size = Size { width, height };
        if size != self.size {
            self.renderer.resize(device, &self.scene, size).map_err(text)?;
            self.size = size;
        }
        self.renderer.set_report(self.report_wanted);
        let frame = self.renderer.show(device, frame).map_err(text)?;
        self.stats = frame.stats;
        if let Some(report) = frame.report {
            self.report_wanted = false;
            self.report = Some((frame.token, report));
        }
        Ok(true)
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
