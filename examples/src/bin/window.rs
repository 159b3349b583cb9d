//! A spinning triangle in a window. Keys: `M` the next present mode, `F` the next number of frames in flight, `C` the
//! next format, `Escape` ends. `--frames N` ends after so many frames. `PURLIN_BACKEND` names the backend.

use std::sync::Arc;
use std::time::{Duration, Instant};

use purlin::choose::{Choice, Program, run};
use purlin::graph::{Graph, GraphArena};
use purlin::rhi::Device;
use purlin::rhi::backend::{Backend, ClearValue};
use purlin::types::{PresentMode, TextureFormat, VertexStepMode};
use purlin::{
    Acquired, BufferSlice, ColorTarget, DeviceRequest, Error, LoadOp, Owned, PipelineLayoutDesc,
    RenderPipeline, RenderPipelineDesc, ShaderStageDesc, Skip, Surface, SurfaceConfig, SurfaceTarget,
    VertexBufferLayout, kind,
};
use purlin_examples::shaders::triangle;
use winit::application::ApplicationHandler;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let mut args = std::env::args().skip(1);
    let frames = match (args.next().as_deref(), args.next()) {
        (None, _) => u64::MAX,
        (Some("--frames"), Some(count)) => count.parse()?,
        _ => return Err("usage: window [--frames N]".into()),
    };
    let event_loop = EventLoop::new()?;
    event_loop.set_control_flow(ControlFlow::Poll);
    let mut app = App { window: None, view: None, frames, problem: None };
    event_loop.run_app(&mut app)?;
    app.problem.map_or(Ok(()), Err)
}

/// The window, and what draws to it once it is there.
struct App {
    window: Option<Arc<Window>>,
    view: Option<Box<dyn Show>>,
    frames: u64,
    problem: Option<Box<dyn std::error::Error>>,
}

impl App {
    fn try_event(&mut self, event_loop: &ActiveEventLoop, event: WindowEvent) -> Outcome {
        let (Some(window), Some(view)) = (&self.window, &mut self.view) else { return Ok(()) };
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => {
                view.resize((size.width, size.height))?;
            }
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, .. },
                ..
            } => match logical_key.as_ref() {
                Key::Named(NamedKey::Escape) => event_loop.exit(),
                Key::Character(key) => view.press(key)?,
                _ => {}
            },
            WindowEvent::RedrawRequested => {
                let size = window.inner_size();
                if view.draw((size.width, size.height))? >= self.frames {
                    event_loop.exit();
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let attributes = Window::default_attributes().with_title("Purlin: a triangle");
        let opened = event_loop.create_window(attributes).map_err(Into::into).and_then(|window| {
            let window = Arc::new(window);
            let view = open(&window)?;
            (self.window, self.view) = (Some(window), Some(view));
            Ok(())
        });
        if let Err(error) = opened {
            self.problem = Some(error);
            event_loop.exit();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let Err(error) = self.try_event(event_loop, event) {
            self.problem = Some(error);
            event_loop.exit();
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(window) = &self.window {
            window.request_redraw();
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        self.view = None;
    }
}

/// What the window asks for, whichever backend draws.
trait Show {
    /// Draws a frame to a window of this size, when there is one to draw to; answers how many were drawn so far.
    fn draw(&mut self, size: (u32, u32)) -> Outcome<u64>;
    /// The window has another size.
    fn resize(&mut self, size: (u32, u32)) -> Outcome;
    /// A key was pressed.
    fn press(&mut self, key: &str) -> Outcome;
}

/// Opens a device that can present to the window.
fn open(window: &Arc<Window>) -> Outcome<Box<dyn Show>> {
    let target = SurfaceTarget::new(Arc::clone(window));
    let request = DeviceRequest { label: "window", surface: Some(&target), ..Default::default() };
    let size = window.inner_size();
    let program = Open { target: target.clone(), size: (size.width, size.height) };
    let opened = pollster::block_on(run(&Choice::from_env()?, &request, program))?;
    println!("on {}", opened.backend);
    opened.output
}

struct Open {
    target: SurfaceTarget,
    size: (u32, u32),
}

impl Program for Open {
    type Output = Outcome<Box<dyn Show>>;

    fn run<B: Backend>(self, device: Device<B>) -> Self::Output {
        Ok(Box::new(View::new(device, self)?))
    }
}

/// The device and its surface, with what the picture needs.
struct View<B: Backend> {
    surface: Surface,
    target: SurfaceTarget,
    config: SurfaceConfig<'static>,
    layout: Owned<kind::PipelineLayout>,
    module: Owned<kind::ShaderModule>,
    pipeline: Option<(TextureFormat, Owned<kind::RenderPipeline>)>,
    arena: GraphArena<B>,
    begun: Instant,
    drawn: u64,
    device: Device<B>,
}

impl<B: Backend> View<B> {
    fn new(mut device: Device<B>, Open { target, size }: Open) -> Outcome<Self> {
        let surface = device.create_surface("window", &target)?;
        let offered = surface.capabilities(&device)?;
        println!("{}: {:?}, {:?}", device.adapter().name, offered.formats, offered.present_modes);
        let srgb = offered.formats.iter().find(|format| format.is_srgb());
        let format = *srgb.or(offered.formats.first()).ok_or("the surface has no format")?;
        let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
            label: "none",
            groups: &[],
            immediate_size: 0,
        })?;
        let module = device.create_shader_module(&triangle::SHADER)?;
        let mut view = Self {
            surface,
            target,
            config: SurfaceConfig::new(size.0, size.1, format),
            layout,
            module,
            pipeline: None,
            arena: GraphArena::new(),
            begun: Instant::now(),
            drawn: 0,
            device,
        };
        view.configure()?;
        Ok(view)
    }

    /// Makes the surface what `config` says. A surface that is lost is made anew, of the same window.
    fn configure(&mut self) -> Outcome {
        let configured = match self.surface.configure(&mut self.device, &self.config) {
            Err(Error::SurfaceLost { .. }) => {
                self.surface = self.device.create_surface("window", &self.target)?;
                self.surface.configure(&mut self.device, &self.config)?
            }
            other => other?,
        };
        let (width, height) = configured.extent;
        println!(
            "{width}x{height} {:?}, {:?}, {} images, {} frames in flight",
            configured.format, configured.present_mode, configured.images, configured.frames_in_flight
        );
        Ok(())
    }

    fn next_mode(&mut self) -> Outcome {
        let mut modes = self.surface.capabilities(&self.device)?.present_modes;
        modes.extend([PresentMode::AutoVsync, PresentMode::AutoNoVsync]);
        let now = modes.iter().position(|mode| *mode == self.config.present_mode).unwrap_or(0);
        self.config.present_mode = modes[(now + 1) % modes.len()];
        self.configure()
    }

    fn next_frames_in_flight(&mut self) -> Outcome {
        self.config.frames_in_flight = self.config.frames_in_flight % 3 + 1;
        self.configure()
    }

    fn next_format(&mut self) -> Outcome {
        let formats = self.surface.capabilities(&self.device)?.formats;
        let now = formats.iter().position(|format| *format == self.config.format).unwrap_or(0);
        self.config.format = formats[(now + 1) % formats.len()];
        self.configure()
    }

    fn pipeline(&mut self, format: TextureFormat) -> Outcome<RenderPipeline> {
        if let Some((of, pipeline)) = &self.pipeline
            && *of == format
        {
            return Ok(**pipeline);
        }
        let vertex = VertexBufferLayout {
            stride: triangle::vertex::VERTEX_STRIDE,
            step: VertexStepMode::Vertex,
            attributes: triangle::vertex::VERTEX,
        };
        let pipeline = self.device.create_render_pipeline(&RenderPipelineDesc {
            label: "triangle",
            layout: *self.layout,
            vertex: ShaderStageDesc { module: *self.module, entry: triangle::entries::VERTEX },
            fragment: Some(ShaderStageDesc { module: *self.module, entry: triangle::entries::FRAGMENT }),
            vertex_buffers: &[vertex],
            primitive: Default::default(),
            depth_stencil: None,
            targets: &[Some(ColorTarget::from(format))],
            multisample: Default::default(),
        })?;
        Ok(*self.pipeline.insert((format, pipeline)).1)
    }
}

impl<B: Backend> Show for View<B> {
    fn draw(&mut self, size: (u32, u32)) -> Outcome<u64> {
        let frame = match self.surface.acquire(&mut self.device, Duration::from_secs(1))? {
            Acquired::Frame(frame) => frame,
            // Minimized, hidden or busy: nothing to draw to now, and no reason to ask without pause.
            Acquired::Skipped(Skip::ZeroExtent | Skip::Occluded | Skip::Timeout) => {
                std::thread::sleep(Duration::from_millis(20));
                return Ok(self.drawn);
            }
            Acquired::Skipped(Skip::Outdated | Skip::Minimized) => {
                self.resize(size)?;
                return Ok(self.drawn);
            }
        };
        let suboptimal = frame.is_suboptimal();
        let pipeline = self.pipeline(frame.format())?;
        let corners = corners(self.begun.elapsed().as_secs_f32(), frame.extent());
        let vertices = self.device.push_frame_data(bytemuck::cast_slice(&corners), 16)?;
        let vertices = BufferSlice { size: std::mem::size_of_val(&corners) as u64, ..vertices };

        let mut graph = Graph::new("window", &mut self.arena);
        let mut picture = graph.import_texture("window", frame.texture());
        graph
            .render("triangle")
            .color(0, &mut picture, LoadOp::Clear(ClearValue::Float([0.04, 0.04, 0.06, 1.0])))
            .record(move |pass| {
                pass.set_pipeline(pipeline);
                pass.set_vertex_buffer(0, vertices);
                pass.draw(0..3, 0..1);
            });
        graph.present(frame);
        graph.submit(&mut self.device)?;
        self.drawn += 1;
        if suboptimal {
            self.resize(size)?;
        }
        Ok(self.drawn)
    }

    fn resize(&mut self, size: (u32, u32)) -> Outcome {
        (self.config.width, self.config.height) = size;
        self.configure()
    }

    fn press(&mut self, key: &str) -> Outcome {
        match key {
            "m" | "M" => self.next_mode(),
            "f" | "F" => self.next_frames_in_flight(),
            "c" | "C" => self.next_format(),
            _ => Ok(()),
        }
    }
}

/// Position and color of each corner, turned with the time.
fn corners(seconds: f32, (width, height): (u32, u32)) -> [[f32; 5]; 3] {
    let side = width.min(height) as f32;
    let scale = (0.8 * side / width as f32, 0.8 * side / height as f32);
    let colors = [[1.0, 0.3, 0.2], [0.2, 0.9, 0.4], [0.3, 0.4, 1.0]];
    std::array::from_fn(|corner| {
        let angle = seconds + std::f32::consts::FRAC_PI_2 + corner as f32 * std::f32::consts::TAU / 3.0;
        let [red, green, blue] = colors[corner];
        [angle.cos() * scale.0, angle.sin() * scale.1, red, green, blue]
    })
}
