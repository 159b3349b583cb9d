//! What the workloads make, and the frame.

use std::time::{Duration, Instant};

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Aspects, BufferUse, ResourceUse, TextureRange};
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{
    BindGroupLayoutEntry, BindingType, BlendComponent, BlendFactor, BlendOperation, BlendState, BufferUsages,
    ColorWrites, Extent3d, ShaderStages, TextureFormat, TextureUsages, VertexAttribute, VertexFormat,
    VertexStepMode,
};
use purlin_rhi::{
    BindGroupDesc, BindGroupEntry, BindGroupLayoutDesc, Buffer, BufferDesc, BufferSlice, ClearValue,
    ColorAttachment, ColorTarget, ComputePipelineDesc, Device, Error, LoadOp, MultisampleDesc, Owned,
    PipelineLayoutDesc, PrimitiveDesc, Recorder, RenderPipelineDesc, ShaderStageDesc, StoreOp, TexelLayout,
    Texture, TextureDesc, TexturePlace, TextureView, TextureViewDesc, VertexBufferLayout, kind,
};

use crate::case::{Failure, FrameTimes, Outcome};

/// Longer than any frame of a software driver.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Gpu<B: Backend> {
    pub device: Device<B>,
}

/// Layouts and module of a shader.
pub struct Program {
    pub groups: Vec<Owned<kind::BindGroupLayout>>,
    layout: Owned<kind::PipelineLayout>,
    module: Owned<kind::ShaderModule>,
}

/// How a raster pipeline is assembled.
pub struct Raster<'a> {
    pub vertex: &'a str,
    pub fragment: &'a str,
    pub format: TextureFormat,
    /// Whether outputs are added to what is there.
    pub add: bool,
    /// Vertex buffers of one `vec4<f32>` each.
    pub vertex_buffers: u32,
}

/// A texture with a view of all of it.
pub struct Image {
    pub texture: Owned<kind::Texture>,
    pub view: Owned<kind::TextureView>,
}

impl<B: Backend> Gpu<B> {
    /// Records and submits a frame.
    pub fn frame(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_, B>) -> purlin_rhi::Result<()>,
    ) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut recorder = self.device.record("frame")?;
        record(&mut recorder)?;
        let recorded = Instant::now();
        recorder.submit()?;
        Ok(FrameTimes::recorded(begin, recorded, Instant::now()))
    }

    /// Waits until the GPU is idle, and retires.
    pub fn finish(&mut self) -> Outcome<()> {
        if !self.device.wait_idle(PATIENCE)? {
            return Err(Failure::Failed("the GPU does not finish".into()));
        }
        Ok(self.device.maintain()?)
    }

    /// Uploads something; when the ring is full, sends it off and tries again.
    fn upload(
        &mut self,
        mut write: impl FnMut(&mut Device<B>) -> purlin_rhi::Result<purlin_rhi::UploadTicket>,
    ) -> Outcome<()> {
        if let Err(Error::Pending { .. }) = write(&mut self.device) {
            self.device.flush_uploads()?;
            self.finish()?;
            write(&mut self.device)?;
        }
        Ok(())
    }

    /// A buffer that only this upload writes.
    pub fn uploaded(&mut self, usage: BufferUsages, bytes: &[u8]) -> Outcome<Owned<kind::Buffer>> {
        let buffer = self.device.create_buffer(&BufferDesc::uploaded("data", bytes.len() as u64, usage))?;
        self.fill(*buffer, bytes)?;
        Ok(buffer)
    }

    /// A tracked buffer with these contents.
    pub fn tracked(&mut self, usage: BufferUsages, bytes: &[u8]) -> Outcome<Owned<kind::Buffer>> {
        let usage = usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let buffer = self.device.create_buffer(&BufferDesc::new("storage", bytes.len() as u64, usage))?;
        self.fill(*buffer, bytes)?;
        Ok(buffer)
    }

    pub fn fill(&mut self, buffer: Buffer, bytes: &[u8]) -> Outcome<()> {
        // A piece of the ring at a time, so that large contents fit.
        for (index, piece) in (0u64..).zip(bytes.chunks(1 << 20)) {
            self.upload(|device| device.write_buffer(buffer, index << 20, piece))?;
        }
        Ok(())
    }

    /// A sampled texture that only this upload writes.
    pub fn texture(&mut self, (width, height): (u32, u32), texels: &[u8]) -> Outcome<Image> {
        let desc = TextureDesc::uploaded("texture", width, height, 1, TextureFormat::Rgba8Unorm);
        let image = self.image(&desc)?;
        self.fill_texture(*image.texture, (width, height), texels)?;
        Ok(image)
    }

    pub fn fill_texture(
        &mut self,
        texture: Texture,
        (width, height): (u32, u32),
        texels: &[u8],
    ) -> Outcome<()> {
        let extent = Extent3d { width, height, depth_or_array_layers: 1 };
        let bytes_per_row = texels.len() as u32 / height;
        let layout = TexelLayout { offset: 0, bytes_per_row, rows_per_image: height };
        let place = TexturePlace::mip(texture, 0);
        self.upload(|device| device.write_texture(&place, extent, &layout, texels))
    }

    pub fn image(&mut self, desc: &TextureDesc<'_>) -> Outcome<Image> {
        let texture = self.device.create_texture(desc)?;
        let view = self.device.create_texture_view(*texture, &TextureViewDesc::default())?;
        Ok(Image { texture, view })
    }

    /// A render target.
    pub fn target(
        &mut self,
        format: TextureFormat,
        (width, height): (u32, u32),
        more: TextureUsages,
    ) -> Outcome<Image> {
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC | more;
        self.image(&TextureDesc::d2("target", width, height, format, usage))
    }

    /// A program with these group layouts; `dynamic` gives the first binding of group 0 a dynamic offset.
    pub fn program(
        &mut self,
        source: &ShaderSource,
        groups: &[&[BindGroupLayoutEntry]],
        dynamic: bool,
    ) -> Outcome<Program> {
        let mut made = Vec::new();
        for (index, entries) in groups.iter().enumerate() {
            let mut entries = entries.to_vec();
            if let (0, BindingType::Buffer { has_dynamic_offset, .. }) = (index, &mut entries[0].ty) {
                *has_dynamic_offset = dynamic;
            }
            let desc = BindGroupLayoutDesc { label: source.label, entries: &entries };
            made.push(self.device.create_bind_group_layout(&desc)?);
        }
        let handles: Vec<_> = made.iter().map(Owned::handle).collect();
        let desc = PipelineLayoutDesc { label: source.label, groups: &handles, immediate_size: 0 };
        let layout = self.device.create_pipeline_layout(&desc)?;
        let module = self.device.create_shader_module(source)?;
        Ok(Program { groups: made, layout, module })
    }

    pub fn group(
        &mut self,
        program: &Program,
        index: usize,
        entries: &[BindGroupEntry<'_>],
    ) -> Outcome<Owned<kind::BindGroup>> {
        let desc = BindGroupDesc { label: "group", layout: *program.groups[index], entries };
        Ok(self.device.create_bind_group(&desc)?)
    }

    pub fn compute(&mut self, program: &Program, entry: &str) -> Outcome<Owned<kind::ComputePipeline>> {
        let compute = ShaderStageDesc { module: *program.module, entry };
        let desc = ComputePipelineDesc { label: entry, layout: *program.layout, compute };
        Ok(self.device.create_compute_pipeline(&desc)?)
    }

    pub fn raster(&mut self, program: &Program, raster: &Raster<'_>) -> Outcome<Owned<kind::RenderPipeline>> {
        let attributes: Vec<_> = (0..raster.vertex_buffers)
            .map(|location| {
                [VertexAttribute { format: VertexFormat::Float32x4, offset: 0, shader_location: location }]
            })
            .collect();
        let vertex_buffers: Vec<_> = attributes
            .iter()
            .map(|attributes| VertexBufferLayout { stride: 16, step: VertexStepMode::Vertex, attributes })
            .collect();
        let one = BlendComponent {
            src_factor: BlendFactor::One,
            dst_factor: BlendFactor::One,
            operation: BlendOperation::Add,
        };
        let target = ColorTarget {
            format: raster.format,
            blend: raster.add.then_some(BlendState { color: one, alpha: one }),
            write_mask: ColorWrites::ALL,
        };
        Ok(self.device.create_render_pipeline(&RenderPipelineDesc {
            label: raster.vertex,
            layout: *program.layout,
            vertex: ShaderStageDesc { module: *program.module, entry: raster.vertex },
            fragment: Some(ShaderStageDesc { module: *program.module, entry: raster.fragment }),
            vertex_buffers: &vertex_buffers,
            primitive: PrimitiveDesc::default(),
            depth_stencil: None,
            targets: &[Some(target)],
            multisample: MultisampleDesc::default(),
        })?)
    }

    /// Reads the beginnings of buffers, one after the other.
    pub fn read_buffers(&mut self, buffers: &[Buffer], size: u32) -> Outcome<Vec<u8>> {
        let mut recorder = self.device.record("read")?;
        let mut tickets = Vec::new();
        for buffer in buffers {
            tickets.push(recorder.read_buffer(BufferSlice {
                buffer: *buffer,
                offset: 0,
                size: u64::from(size),
            })?);
        }
        recorder.submit()?;
        self.finish()?;
        let mut bytes = Vec::new();
        for ticket in tickets {
            bytes.extend(self.device.read_vec(&ticket)?);
        }
        Ok(bytes)
    }

    /// Reads a texture, rows without padding.
    pub fn read_texture(&mut self, texture: Texture, (width, height): (u32, u32)) -> Outcome<Vec<u8>> {
        let mut recorder = self.device.record("read")?;
        let extent = Extent3d { width, height, depth_or_array_layers: 1 };
        let ticket = recorder.read_texture(&TexturePlace::mip(texture, 0), extent)?;
        recorder.submit()?;
        self.finish()?;
        Ok(self.device.read_vec(&ticket)?)
    }
}

/// A color attachment that is stored.
pub fn attachment(view: TextureView, clear: bool) -> [Option<ColorAttachment>; 1] {
    let load = if clear { LoadOp::Clear(ClearValue::Float([0.0; 4])) } else { LoadOp::Load };
    [Some(ColorAttachment { view, load, store: StoreOp::Store, resolve: None })]
}

/// All of a buffer, as storage of compute shaders.
pub fn storage(buffer: Buffer, size: u64, write: bool) -> ResourceUse {
    let stages = ShaderStages::COMPUTE;
    let usage = if write { BufferUse::StorageWrite(stages) } else { BufferUse::StorageRead(stages) };
    ResourceUse::Buffer { buffer, offset: 0, size, usage }
}

/// The one mip and layer of a color texture.
pub const COLOR: TextureRange =
    TextureRange { aspects: Aspects::COLOR, base_mip: 0, mips: 1, base_layer: 0, layers: 1 };
