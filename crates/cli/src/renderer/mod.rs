//! The renderer: what lives from frame to frame, and the life of one frame.
//!
//! [`Renderer::new`] uploads the scene and creates every pipeline; nothing of that happens later. A frame is then the
//! small data of the frame, one graph (see `frame.rs`), and a submission. It creates nothing and allocates nothing once
//! warm, on any backend: the renderer is generic over it.

mod direct;
mod frame;
mod layouts;
mod models;
mod overlay;
mod pipelines;
mod upload;

use std::collections::VecDeque;
use std::time::Duration;

use purlin::graph::{FrameStats, Graph, GraphArena, GraphOptions, GraphReport};
use purlin::rhi::backend::Backend;
use purlin::rhi::surface::SurfaceFrame;
use purlin::rhi::types::{CompareFunction, TextureFormat, TextureUsages};
use purlin::rhi::{
    Device, Error, Features, Owned, ReadTicket, SamplerDesc, SubmissionToken, TextureDesc, kind,
};

use self::frame::{Inputs, Samplers, Uniforms};
use self::layouts::Layouts;
use self::models::Models;
use self::overlay::{Figures, Overlay};
use self::pipelines::Pipelines;
use self::upload::Uploader;
use crate::error::DemoError;
use crate::scene::{CullUniforms, FrameUniforms, Frustum, GpuInstance, PostUniforms, Scene};
use crate::size::Size;

/// Linear light, brighter than white included.
const HDR_FORMAT: TextureFormat = TextureFormat::Rgba16Float;
const DEPTH_FORMAT: TextureFormat = TextureFormat::Depth32Float;
/// The picture's texels hold sRGB, which the tonemapping shader writes itself: hence no `Srgb` format, on surfaces neither.
const PICTURE_FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
/// Columns and rows of the shadow map.
const SHADOW_SIDE: u32 = 2048;
/// Frames that the CPU may be ahead of the GPU.
const FRAMES_AHEAD: usize = 2;
/// How long a frame may take before the GPU counts as hung. A software driver at a large size needs long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Features without which the GPU cannot cull: each indirect command names its instance.
pub const REQUIRED_FEATURES: Features = Features::INDIRECT_FIRST_INSTANCE;
/// Features that make it faster, sharper, or measured.
pub const PREFERRED_FEATURES: Features =
    Features::MULTI_DRAW_INDIRECT.union(Features::ANISOTROPY).union(Features::TIMESTAMP_QUERY);

/// How many instances passed the GPU's culling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visible {
    /// In the camera's view.
    pub camera: u32,
    /// In the sun's view, and casting shadows.
    pub sun: u32,
}

/// A frame that was handed to the GPU.
#[derive(Debug)]
pub struct Frame {
    /// Complete when the GPU has rendered it.
    pub token: SubmissionToken,
    /// What the graph came to.
    pub stats: FrameStats,
    /// The graph's report, when [`Renderer::set_report`] asked for it.
    pub report: Option<Box<GraphReport>>,
}

/// Draws one scene at one size.
#[derive(Debug)]
pub struct Renderer<B: Backend> {
    arena: GraphArena<B>,
    layouts: Layouts,
    pipelines: Pipelines,
    models: Models,
    overlay: Overlay,
    view: View,
    shadow_sampler: Owned<kind::Sampler>,
    linear_sampler: Owned<kind::Sampler>,
    /// What frames end in that no surface shows.
    picture: Option<Owned<kind::Texture>>,
    size: Size,
    in_flight: VecDeque<InFlight>,
    visible: Option<Visible>,
    passes: u32,
}

/// The small data of a frame. Camera and light do not move by themselves, so that every frame is the same picture.
#[derive(Debug)]
struct View {
    frame: FrameUniforms,
    camera: CullUniforms,
    sun: CullUniforms,
    post: PostUniforms,
    frustums: [Frustum; 2],
}

#[derive(Debug)]
struct InFlight {
    token: SubmissionToken,
    passes: u32,
    visible: Drawn,
}

/// What a frame ends in.
#[derive(Debug)]
enum Output {
    /// The renderer's own picture, which may be read.
    Picture { read: bool },
    /// An image of a surface.
    Shown(SurfaceFrame),
}

/// How many instances a frame draws.
#[derive(Debug)]
enum Drawn {
    /// The GPU counts them.
    Counted(ReadTicket),
    /// The CPU has counted them.
    Known(Visible),
}

impl View {
    fn new(scene: &Scene, size: Size) -> Self {
        let shadow = scene.shadow_view(SHADOW_SIDE);
        let count = scene.instances.len() as u32;
        let camera = Frustum::from_view_projection(&scene.camera.view_projection(size.aspect()));
        let sun = Frustum::from_view_projection(&shadow.view_projection);
        Self {
            frame: FrameUniforms::new(scene, size.width, size.height, &shadow, SHADOW_SIDE),
            camera: CullUniforms::new(&camera, count, GpuInstance::VISIBLE, 0),
            sun: CullUniforms::new(&sun, count, GpuInstance::CASTS_SHADOW, 1),
            post: PostUniforms::new(scene),
            frustums: [camera, sun],
        }
    }

    fn push<B: Backend>(&self, device: &mut Device<B>) -> Result<Uniforms, Error> {
        Ok(Uniforms {
            frame: device.push_frame_data(bytemuck::bytes_of(&self.frame), 16)?,
            cull_camera: device.push_frame_data(bytemuck::bytes_of(&self.camera), 16)?,
            cull_sun: device.push_frame_data(bytemuck::bytes_of(&self.sun), 16)?,
            post: device.push_frame_data(bytemuck::bytes_of(&self.post), 16)?,
        })
    }
}

fn title(scene: &Scene, size: Size) -> String {
    format!("Purlin  {}  {size}", scene.name)
}

/// Whether the device can hold pictures of the size.
fn check<B: Backend>(device: &Device<B>, size: Size) -> Result<(), DemoError> {
    let limit = device.limits().max_texture_dimension_2d;
    if size.width > limit || size.height > limit {
        return Err(DemoError::Size { width: size.width, height: size.height, limit });
    }
    Ok(())
}

/// The texture that frames end in.
fn picture_of<B: Backend>(device: &mut Device<B>, size: Size) -> Result<Owned<kind::Texture>, DemoError> {
    check(device, size)?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let picture = TextureDesc::d2("picture", size.width, size.height, PICTURE_FORMAT, usage);
    Ok(device.create_texture(&picture)?)
}

/// About how many bytes [`Renderer::new`] uploads for a scene.
pub fn upload_bytes(scene: &Scene) -> u64 {
    Models::upload_bytes(scene)
}

impl<B: Backend> Renderer<B> {
    /// Uploads a scene and creates everything that its frames need, which end in a picture. `uploaded` is told the bytes of
    /// each write.
    ///
    /// # Errors
    /// A picture that the device cannot hold ([`DemoError::Size`]), or what the device says.
    pub fn new(
        device: &mut Device<B>,
        scene: &Scene,
        size: Size,
        uploaded: &mut dyn FnMut(u64),
    ) -> Result<Self, DemoError> {
        let picture = picture_of(device, size)?;
        let renderer = Self::for_surface(device, scene, size, PICTURE_FORMAT, uploaded)?;
        Ok(Self { picture: Some(picture), ..renderer })
    }

    /// The same for frames that end in images of a surface: see [`Self::show`]. The format is no `Srgb` one.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn for_surface(
        device: &mut Device<B>,
        scene: &Scene,
        size: Size,
        format: TextureFormat,
        uploaded: &mut dyn FnMut(u64),
    ) -> Result<Self, DemoError> {
        check(device, size)?;
        let (features, limits) = (device.capabilities().features, device.limits());
        let culls = features.contains(REQUIRED_FEATURES | Features::INDIRECT_EXECUTION)
            && limits.max_storage_buffers_per_stage >= 4;
        let layouts = Layouts::new(device, culls)?;
        let pipelines = Pipelines::new(device, &layouts, format)?;
        let shadow_sampler =
            SamplerDesc { compare: Some(CompareFunction::LessEqual), ..SamplerDesc::linear("shadow map") };
        let shadow_sampler = device.create_sampler(&shadow_sampler)?;
        let linear_sampler = device.create_sampler(&SamplerDesc::linear("linear"))?;

        let mut uploader = Uploader::new(device, uploaded);
        let overlay = Overlay::new(&mut uploader, &layouts, title(scene, size), size)?;
        let models = Models::new(&mut uploader, &layouts, scene)?;
        Ok(Self {
            arena: GraphArena::new(),
            layouts,
            pipelines,
            models,
            overlay,
            view: View::new(scene, size),
            shadow_sampler,
            linear_sampler,
            picture: None,
            size,
            in_flight: VecDeque::with_capacity(FRAMES_AHEAD + 1),
            visible: None,
            passes: 0,
        })
    }

    /// Shows the scene from where its camera is now.
    pub fn look(&mut self, scene: &Scene) {
        self.view = View::new(scene, self.size);
    }

    /// Renders at another size from now on.
    ///
    /// # Errors
    /// As [`Self::new`]; the renderer keeps its size then.
    pub fn resize(&mut self, device: &mut Device<B>, scene: &Scene, size: Size) -> Result<(), DemoError> {
        check(device, size)?;
        let picture = match &self.picture {
            Some(_) => Some(picture_of(device, size)?),
            None => None,
        };
        let mut untold = |_| {};
        let mut uploader = Uploader::new(device, &mut untold);
        self.overlay = Overlay::new(&mut uploader, &self.layouts, title(scene, size), size)?;
        self.picture = picture;
        self.size = size;
        self.look(scene);
        Ok(())
    }

    /// The graph's switches: the reference modes must give the same picture.
    pub fn options(&mut self) -> &mut GraphOptions {
        self.arena.options()
    }

    /// Whether frames carry a report.
    pub fn set_report(&mut self, report: bool) {
        self.arena.set_report(report);
    }

    /// How many instances the newest finished frame drew.
    pub fn visible(&self) -> Option<Visible> {
        self.visible
    }

    /// Bytes of a captured picture: four a pixel, rows from the top.
    pub fn picture_bytes(&self) -> usize {
        self.size.width as usize * self.size.height as usize * 4
    }

    /// Renders a frame. Waits for the GPU only when it is two frames behind.
    ///
    /// # Errors
    /// What the device or the graph says.
    pub fn render(&mut self, device: &mut Device<B>) -> Result<Frame, DemoError> {
        while self.in_flight.len() >= FRAMES_AHEAD {
            self.finish_oldest(device)?;
        }
        let (frame, _) = self.submit(device, Output::Picture { read: false })?;
        Ok(frame)
    }

    /// Renders a frame into a surface's image, of the renderer's size and format, and presents it. Never waits.
    ///
    /// # Errors
    /// What the device or the graph says; the surface has its frame back then.
    pub fn show(&mut self, device: &mut Device<B>, frame: SurfaceFrame) -> Result<Frame, DemoError> {
        let (frame, _) = self.submit(device, Output::Shown(frame))?;
        Ok(frame)
    }

    /// Learns what finished frames drew. Whether the GPU is less than two frames behind: before, another frame would only make
    /// it later. Never waits, as a browser cannot.
    ///
    /// # Errors
    /// What the device says.
    pub fn is_ready(&mut self, device: &mut Device<B>) -> Result<bool, DemoError> {
        while let Some(oldest) = self.in_flight.front() {
            if !device.is_complete(oldest.token)? {
                break;
            }
            self.finish_oldest(device)?;
        }
        Ok(self.in_flight.len() < FRAMES_AHEAD)
    }

    /// Waits for every frame and learns what it drew.
    ///
    /// # Errors
    /// What the device says.
    pub fn finish(&mut self, device: &mut Device<B>) -> Result<(), DemoError> {
        while !self.in_flight.is_empty() {
            self.finish_oldest(device)?;
        }
        Ok(())
    }

    /// Renders a frame and waits for its picture: RGBA, sRGB-encoded. The text shows what the frame before drew.
    ///
    /// # Errors
    /// What the device or the graph says.
    pub fn capture(&mut self, device: &mut Device<B>) -> Result<(Frame, Vec<u8>), DemoError> {
        self.finish(device)?;
        let (frame, ticket) = self.submit(device, Output::Picture { read: true })?;
        self.finish(device)?;
        let ticket = ticket.ok_or_else(|| DemoError::graph("the picture was not read"))?;
        Ok((frame, device.read_vec(&ticket)?))
    }

    fn submit(
        &mut self,
        device: &mut Device<B>,
        output: Output,
    ) -> Result<(Frame, Option<ReadTicket>), DemoError> {
        let (picture, read) = match (&output, &self.picture) {
            (Output::Picture { read }, Some(picture)) => (**picture, *read),
            (Output::Picture { .. }, None) => {
                return Err(DemoError::graph("frames of this renderer end in a surface"));
            }
            (Output::Shown(frame), _) => (frame.texture(), false),
        };
        let Self { arena, layouts, pipelines, models, overlay, view, passes, .. } = self;
        let [camera, sun] = &view.frustums;
        let known = models.cull(camera, sun);
        let models = &*models;
        let (passes, instances) = (*passes, models.count());
        overlay.show(self.visible.map(|visible| Figures { passes, visible, instances }));
        let inputs = Inputs {
            size: self.size,
            models,
            layouts,
            pipelines,
            samplers: Samplers { shadow: *self.shadow_sampler, linear: *self.linear_sampler },
            uniforms: view.push(device)?,
            overlay: overlay.push(device)?,
            picture,
            read,
        };

        let mut graph = Graph::new("frame", arena);
        let reads = frame::declare(&mut graph, &inputs);
        if let Output::Shown(frame) = output {
            graph.present(frame);
        }
        let mut submitted = graph.submit(device)?;

        let frame = Frame { token: submitted.token, stats: submitted.stats, report: submitted.take_report() };
        let counted = reads.visible.and_then(|read| submitted.take_read(read)).map(Drawn::Counted);
        if let Some(visible) = counted.or(known.map(Drawn::Known)) {
            // The text counts the frame's own passes, whether somebody reads its picture or not.
            let passes = frame.stats.passes - u32::from(read);
            self.in_flight.push_back(InFlight { token: frame.token, passes, visible });
        }
        let picture = reads.picture.and_then(|read| submitted.take_read(read));
        Ok((frame, picture))
    }

    fn finish_oldest(&mut self, device: &mut Device<B>) -> Result<(), DemoError> {
        let Some(InFlight { token, passes, visible }) = self.in_flight.pop_front() else { return Ok(()) };
        if !device.wait(token, PATIENCE)? {
            return Err(DemoError::Rhi(format!("a frame did not finish in {} s", PATIENCE.as_secs())));
        }
        self.visible = Some(match visible {
            Drawn::Known(visible) => visible,
            Drawn::Counted(ticket) => {
                let mut counts = [0u32; 4];
                device.read(&ticket, bytemuck::bytes_of_mut(&mut counts))?;
                Visible { camera: counts[0], sun: counts[1] }
            }
        });
        self.passes = passes;
        Ok(())
    }
}
