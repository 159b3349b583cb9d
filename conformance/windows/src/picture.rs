//! The picture that is drawn, and what each of its pixels must be, computed apart from the shader.

use std::collections::HashMap;
use std::time::Duration;

use purlin::graph::{Graph, GraphArena};
use purlin::rhi::backend::Backend;
use purlin::rhi::surface::SurfaceFrame;
use purlin::rhi::{Device, ReadTicket};
use purlin::types::{TextureFormat, TextureUsages};
use purlin::{
    BindGroupLayoutDesc, ColorTarget, LoadOp, Owned, PipelineLayoutDesc, RenderPipelineDesc, ShaderStageDesc,
    SubmissionToken, TextureDesc, bind, kind,
};

use crate::Outcome;
use crate::shaders::pattern;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// What the pixel must be; `tint` is a bit for each of red, green and blue.
pub fn expected((width, height): (u32, u32), x: u32, y: u32, tint: u32) -> Rgb {
    let edge = x == 0 || y == 0 || x + 1 == width || y + 1 == height;
    let middle = |at: u32, size: u32| at * 3 >= size && at * 3 < size * 2;
    let (left, top) = (x * 2 < width, y * 2 < height);
    let bits = match (left, top) {
        _ if edge => 7,
        _ if middle(x, width) && middle(y, height) => tint,
        (true, true) => 2,
        (true, false) => 1,
        (false, true) => 4,
        (false, false) => 6,
    };
    [bits & 1, bits >> 1 & 1, bits >> 2 & 1].map(|bit| if bit == 1 { 255 } else { 0 })
}

/// Compares a whole picture; the first pixel that differs is the error.
pub fn compare(extent: (u32, u32), tint: u32, pixel: impl Fn(u32, u32) -> Rgb) -> Result<(), String> {
    for y in 0..extent.1 {
        for x in 0..extent.0 {
            let (found, wanted) = (pixel(x, y), expected(extent, x, y, tint));
            if found != wanted {
                return Err(format!("pixel {x}, {y} of {extent:?} is {found:?}, not {wanted:?}"));
            }
        }
    }
    Ok(())
}

/// Draws the picture.
pub struct Painter<B: Backend> {
    group: Owned<kind::BindGroupLayout>,
    layout: Owned<kind::PipelineLayout>,
    module: Owned<kind::ShaderModule>,
    pipelines: HashMap<TextureFormat, Owned<kind::RenderPipeline>>,
    /// Keeps the GPU busy.
    busy: Owned<kind::Texture>,
    arena: GraphArena<B>,
}

const BUSY: (u32, u32) = (96, 96);
const BUSY_FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

impl<B: Backend> Painter<B> {
    pub fn new(device: &mut Device<B>) -> Outcome<Self> {
        let group = device
            .create_bind_group_layout(&BindGroupLayoutDesc { label: "pattern", entries: pattern::GROUP0 })?;
        let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
            label: "pattern",
            groups: &[*group],
            immediate_size: 0,
        })?;
        let module = device.create_shader_module(&pattern::SHADER)?;
        let usage = TextureUsages::RENDER_ATTACHMENT;
        let busy = device.create_texture(&TextureDesc::d2("busy", BUSY.0, BUSY.1, BUSY_FORMAT, usage))?;
        let (pipelines, arena) = (HashMap::new(), GraphArena::new());
        Ok(Self { group, layout, module, pipelines, busy, arena })
    }

    fn pipeline(&mut self, device: &mut Device<B>, format: TextureFormat) -> Outcome<purlin::RenderPipeline> {
        if let Some(pipeline) = self.pipelines.get(&format) {
            return Ok(**pipeline);
        }
        let pipeline = device.create_render_pipeline(&RenderPipelineDesc {
            label: "pattern",
            layout: *self.layout,
            vertex: ShaderStageDesc { module: *self.module, entry: pattern::entries::VERTEX },
            fragment: Some(ShaderStageDesc { module: *self.module, entry: pattern::entries::FRAGMENT }),
            vertex_buffers: &[],
            primitive: Default::default(),
            depth_stencil: None,
            targets: &[Some(ColorTarget::from(format))],
            multisample: Default::default(),
        })?;
        let handle = *pipeline;
        self.pipelines.insert(format, pipeline);
        Ok(handle)
    }

    /// Draws to a frame and presents it; `work` loops a pixel beside it keep the GPU busy.
    pub fn present(
        &mut self,
        device: &mut Device<B>,
        frame: SurfaceFrame,
        (tint, work): (u32, u32),
        read: bool,
    ) -> Outcome<(SubmissionToken, Option<ReadTicket>)> {
        let shown = self.pipeline(device, frame.format())?;
        let hidden = self.pipeline(device, BUSY_FORMAT)?;
        let (width, height) = frame.extent();
        let of_frame = pattern::Pattern::new([width, height], tint, 0);
        let of_busy = pattern::Pattern::new([BUSY.0, BUSY.1], tint, work);
        let of_frame = device.push_frame_data(bytemuck::bytes_of(&of_frame), 16)?;
        let of_busy = device.push_frame_data(bytemuck::bytes_of(&of_busy), 16)?;
        let mut graph = Graph::new("frame", &mut self.arena);
        let mut busy = graph.import_texture("busy", *self.busy);
        let mut surface = graph.import_texture("surface", frame.texture());
        graph
            .render("busy")
            .color(0, &mut busy, LoadOp::DontCare)
            .bind(0, *self.group, [bind::uploaded(of_busy)])
            .fullscreen(hidden);
        graph
            .render("picture")
            .color(0, &mut surface, LoadOp::DontCare)
            .bind(0, *self.group, [bind::uploaded(of_frame)])
            .fullscreen(shown);
        let read = read.then(|| graph.read_texture(&surface));
        graph.present(frame);
        let mut done = graph.submit(device)?;
        Ok((done.token, read.and_then(|read| done.take_read(read))))
    }
}

/// The pixels of a read frame.
pub fn pixels<B: Backend>(
    device: &mut Device<B>,
    format: TextureFormat,
    extent: (u32, u32),
    (token, ticket): (SubmissionToken, ReadTicket),
) -> Outcome<Vec<Rgb>> {
    if !device.wait(token, Duration::from_secs(20))? {
        return Err("the GPU hangs".into());
    }
    let bytes = device.read_vec(&ticket)?;
    let swapped = matches!(format, TextureFormat::Bgra8Unorm | TextureFormat::Bgra8UnormSrgb);
    let pixels: Vec<Rgb> = bytes
        .chunks_exact(4)
        .map(|texel| if swapped { [texel[2], texel[1], texel[0]] } else { [texel[0], texel[1], texel[2]] })
        .collect();
    if pixels.len() as u32 != extent.0 * extent.1 {
        return Err(format!("{} pixels of {extent:?}", pixels.len()).into());
    }
    Ok(pixels)
}
