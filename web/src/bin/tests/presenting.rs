//! Canvases that show a pattern, frame by frame, as the page's tests ask for it.

use std::time::Duration;

use purlin::choose::{self, Choice, InBrowser};
use purlin::graph::{Graph, GraphArena};
use purlin::rhi::surface::{Acquired, Surface, SurfaceConfig, SurfaceFrame, SurfaceTarget};
use purlin::rhi::{Error, ReadTicket};
use purlin::types::TextureUsages;
use purlin::wgpu::{Canvas, Wgpu};
use purlin::{
    BindGroupLayoutDesc, ColorTarget, DeviceRequest, Limits, LoadOp, Owned, PipelineLayoutDesc,
    RenderPipelineDesc, ShaderStageDesc, SubmissionToken, TextureDesc, bind, kind,
};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::shaders::pattern;

/// A device and the canvases that it shows a pattern on. Freeing it ends it.
#[wasm_bindgen]
pub struct Presenter {
    shown: Vec<Shown>,
    group: Owned<kind::BindGroupLayout>,
    layout: Owned<kind::PipelineLayout>,
    module: Owned<kind::ShaderModule>,
    arena: GraphArena<Wgpu>,
    read: Option<(SubmissionToken, ReadTicket)>,
    opened: InBrowser,
    canvas: Canvas,
}

struct Shown {
    surface: Surface,
    /// The pattern's, for the configured format.
    pipeline: Option<Owned<kind::RenderPipeline>>,
    /// What is drawn as the surface's image is, to be read.
    copy: Option<Owned<kind::Texture>>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Opens a device by `auto`, `webgpu` or `webgl`, with a surface of the canvas.
#[wasm_bindgen]
pub async fn open_presenter(backend: String, canvas: HtmlCanvasElement) -> Result<Presenter, String> {
    Presenter::open(&backend, Canvas::new(canvas)).await
}

#[wasm_bindgen]
impl Presenter {
    async fn open(backend: &str, canvas: Canvas) -> Result<Self, String> {
        let target = SurfaceTarget::custom(canvas.clone());
        let request = DeviceRequest {
            label: "presenting",
            surface: Some(&target),
            required_limits: Limits::webgl2(),
            ..Default::default()
        };
        let choice = Choice::named(backend).map_err(text)?;
        let mut opened = choose::open_in_browser(&choice, &request).await.map_err(text)?;
        let device = &mut opened.device;
        let made = (|| {
            let entries = pattern::GROUP0;
            let group =
                device.create_bind_group_layout(&BindGroupLayoutDesc { label: "pattern", entries })?;
            let groups = &[*group];
            let layout = PipelineLayoutDesc { label: "pattern", groups, immediate_size: 0 };
            let layout = device.create_pipeline_layout(&layout)?;
            Ok::<_, Error>((group, layout, device.create_shader_module(&pattern::SHADER)?))
        })();
        let (group, layout, module) = made.map_err(text)?;
        let (shown, arena) = (Vec::new(), GraphArena::new());
        let mut presenter = Self { shown, group, layout, module, arena, read: None, opened, canvas };
        presenter.add_target(&target).map_err(text)?;
        Ok(presenter)
    }

    /// Ends the device, and opens another on the first canvas.
    pub async fn reopen(self, backend: String) -> Result<Presenter, String> {
        let canvas = self.canvas.clone();
        drop(self);
        Self::open(&backend, canvas).await
    }

    /// The first canvas, as it is in the page now.
    pub fn canvas(&self) -> HtmlCanvasElement {
        self.canvas.element()
    }

    /// Makes a surface of another canvas; its number.
    pub fn add(&mut self, canvas: HtmlCanvasElement) -> Result<usize, String> {
        self.add_target(&SurfaceTarget::custom(Canvas::new(canvas))).map_err(text)
    }

    fn add_target(&mut self, target: &SurfaceTarget) -> Result<usize, Error> {
        let surface = self.opened.device.create_surface("canvas", target)?;
        self.shown.push(Shown { surface, pipeline: None, copy: None });
        Ok(self.shown.len() - 1)
    }

    /// The formats of a surface whose texels are four bytes.
    pub fn formats(&self, index: usize) -> Result<Vec<String>, String> {
        let offered = self.shown[index].surface.capabilities(&self.opened.device).map_err(text)?;
        let formats = offered.formats.into_iter().filter(|format| format.block_copy_size(None) == Some(4));
        Ok(formats.map(|format| format!("{format:?}")).collect())
    }

    /// Configures a surface by one of [`Self::formats`].
    pub fn configure(&mut self, index: usize, width: u32, height: u32, format: String) -> Result<(), String> {
        self.configure_inner(index, (width, height), &format).map_err(text)
    }

    fn configure_inner(
        &mut self,
        index: usize,
        (width, height): (u32, u32),
        name: &str,
    ) -> Result<(), Error> {
        let device = &mut self.opened.device;
        let shown = &mut self.shown[index];
        let formats = shown.surface.capabilities(device)?.formats;
        let format = formats.iter().copied().find(|format| format!("{format:?}") == name);
        let format = format.unwrap_or(formats[0]);
        shown.surface.configure(device, &SurfaceConfig::new(width, height, format))?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        let stage = |entry| ShaderStageDesc { module: *self.module, entry };
        shown.pipeline = Some(device.create_render_pipeline(&RenderPipelineDesc {
            label: "pattern",
            layout: *self.layout,
            vertex: stage(pattern::entries::VERTEX),
            fragment: Some(stage(pattern::entries::FRAGMENT)),
            vertex_buffers: &[],
            primitive: Default::default(),
            depth_stencil: None,
            targets: &[Some(ColorTarget::from(format))],
            multisample: Default::default(),
        })?);
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        shown.copy = Some(device.create_texture(&TextureDesc::d2("copy", width, height, format, usage))?);
        Ok(())
    }

    /// Shows a frame of the pattern on a surface, and draws it once more to be read. `tint` has a bit each for red, green and
    /// blue of its middle, `work` is how many loops a pixel take meanwhile. Answers why there was no frame.
    pub fn show(&mut self, index: usize, tint: u32, work: u32) -> Result<Option<String>, String> {
        match self.acquire(index)? {
            Acquired::Frame(frame) => self.draw(index, frame, tint, work).map_err(text).map(|()| None),
            Acquired::Skipped(reason) => Ok(Some(format!("{reason:?}"))),
        }
    }

    fn acquire(&mut self, index: usize) -> Result<Acquired, String> {
        self.shown[index].surface.acquire(&mut self.opened.device, Duration::ZERO).map_err(text)
    }

    /// Acquires a frame and gives it up; whether there was one.
    pub fn give_up(&mut self, index: usize) -> Result<bool, String> {
        Ok(self.acquire(index)?.frame().is_some())
    }

    fn draw(
        &mut self,
        index: usize,
        frame: SurfaceFrame,
        tint: u32,
        work: u32,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let (device, shown) = (&mut self.opened.device, &self.shown[index]);
        let (Some(pipeline), Some(copy)) = (&shown.pipeline, &shown.copy) else { return Ok(()) };
        let (width, height) = frame.extent();
        let mut graph = Graph::new("frame", &mut self.arena);
        let mut copy = graph.import_texture("copy", **copy);
        let mut image = graph.import_texture("canvas", frame.texture());
        for (label, target, work) in [("copy", &mut copy, work), ("picture", &mut image, 0)] {
            let values = pattern::Pattern::new([width, height], tint, work);
            let values = device.push_frame_data(bytemuck::bytes_of(&values), 16)?;
            let pass = graph.render(label).color(0, target, LoadOp::DontCare);
            pass.bind(0, *self.group, [bind::uploaded(values)]).fullscreen(**pipeline);
        }
        let read = graph.read_texture(&copy);
        graph.present(frame);
        let mut done = graph.submit(device)?;
        self.read = done.take_read(read).map(|read| (done.token, read));
        Ok(())
    }

    /// The bytes of the newest frame, when they have come.
    pub fn picture(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some((token, read)) = &self.read else { return Ok(None) };
        if !self.opened.device.is_complete(*token).map_err(text)? {
            return Ok(None);
        }
        self.opened.device.read_vec(read).map(Some).map_err(text)
    }

    /// Loses the device, as a driver's reset does.
    pub fn lose(&self) {
        self.opened.device.backend().device().destroy();
    }
}
