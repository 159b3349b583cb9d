//! A null device, and short ways to make what the units need.

use std::num::NonZeroU64;

use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::shader::{EntryPoint, ShaderIo, ShaderSource};
use purlin_rhi::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, CompareFunction, Extent3d,
    SamplerBindingType, ShaderStages, StorageTextureAccess, TextureFormat, TextureSampleType, TextureUsages,
    TextureViewDimension, VertexAttribute, VertexFormat, VertexStepMode,
};
use purlin_rhi::{
    BindGroupDesc, BindGroupEntry, BindGroupLayout, BindGroupLayoutDesc, Buffer, BufferDesc, ClearValue,
    ColorAttachment, ComputePipelineDesc, DepthStencilDesc, Device, DeviceRequest, LoadOp, Owned,
    PipelineLayoutDesc, RenderPipelineDesc, Result, ShaderModule, ShaderStageDesc, StoreOp, TexelLayout,
    TextureDesc, TexturePlace, TextureView, TextureViewDesc, VertexBufferLayout, kind,
};

pub const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;
pub const DEPTH: TextureFormat = TextureFormat::Depth32Float;

const fn entry(
    name: &'static str,
    stage: ShaderStages,
    inputs: &'static [ShaderIo],
    outputs: &'static [ShaderIo],
) -> EntryPoint {
    let workgroup_size = if stage.contains(ShaderStages::COMPUTE) { [64, 1, 1] } else { [0; 3] };
    EntryPoint {
        name,
        stage,
        workgroup_size,
        bindings: &[],
        inputs,
        outputs,
        immediate_size: 0,
        writes_depth: false,
    }
}

const fn vec4(location: u32, name: &'static str) -> ShaderIo {
    ShaderIo { location, name, format: VertexFormat::Float32x4 }
}

static SHADER: ShaderSource = ShaderSource {
    label: "units",
    spirv: &[],
    wgsl: "",
    entries: &[
        entry("no inputs", ShaderStages::VERTEX, &[], &[]),
        entry("two inputs", ShaderStages::VERTEX, &[vec4(0, "a"), vec4(1, "b")], &[]),
        entry("color", ShaderStages::FRAGMENT, &[], &[vec4(0, "color")]),
        entry("work", ShaderStages::COMPUTE, &[], &[]),
    ],
};

pub const TEXTURE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};

pub const DEPTH_TEXTURE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Depth,
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};

pub const SAMPLER: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);

pub const STORED: BindingType = BindingType::StorageTexture {
    access: StorageTextureAccess::WriteOnly,
    format: TextureFormat::R32Float,
    view_dimension: TextureViewDimension::D2,
};

pub const fn uniform(has_dynamic_offset: bool) -> BindingType {
    let min_binding_size = NonZeroU64::new(16);
    BindingType::Buffer { ty: BufferBindingType::Uniform, has_dynamic_offset, min_binding_size }
}

pub const fn storage(read_only: bool) -> BindingType {
    let ty = BufferBindingType::Storage { read_only };
    BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

pub struct World {
    pub device: Device<Null>,
    pub module: Owned<kind::ShaderModule>,
}

/// A texture with a view of all of it.
pub struct Image {
    pub texture: Owned<kind::Texture>,
    pub view: Owned<kind::TextureView>,
}

impl Image {
    /// The view, with the whole image borrowed: a closure that asks keeps the texture too.
    pub fn view(&self) -> TextureView {
        *self.view
    }
}

impl World {
    pub fn new() -> Result<Self> {
        let null = Null::new(NullConfig::default());
        let mut device = Device::from_backend(null, &DeviceRequest::default())?;
        let module = device.create_shader_module(&SHADER)?;
        Ok(Self { device, module })
    }

    pub fn layout(
        &mut self,
        visibility: ShaderStages,
        types: &[BindingType],
    ) -> Result<Owned<kind::BindGroupLayout>> {
        let entries: Vec<_> = (0..)
            .zip(types)
            .map(|(binding, ty)| BindGroupLayoutEntry { binding, visibility, ty: *ty, count: None })
            .collect();
        self.device.create_bind_group_layout(&BindGroupLayoutDesc { label: "layout", entries: &entries })
    }

    pub fn group(
        &mut self,
        layout: BindGroupLayout,
        entries: &[BindGroupEntry<'_>],
    ) -> Result<Owned<kind::BindGroup>> {
        self.device.create_bind_group(&BindGroupDesc { label: "group", layout, entries })
    }

    pub fn pipeline_layout(&mut self, groups: &[BindGroupLayout]) -> Result<Owned<kind::PipelineLayout>> {
        self.device.create_pipeline_layout(&PipelineLayoutDesc { label: "units", groups, immediate_size: 0 })
    }

    pub fn compute(&mut self, groups: &[BindGroupLayout]) -> Result<Owned<kind::ComputePipeline>> {
        let layout = self.pipeline_layout(groups)?;
        let compute = ShaderStageDesc { module: *self.module, entry: "work" };
        self.device.create_compute_pipeline(&ComputePipelineDesc { label: "work", layout: *layout, compute })
    }

    /// Draws into one color target, with or without depth and two vertex buffers.
    pub fn raster(
        &mut self,
        groups: &[BindGroupLayout],
        color: bool,
        depth: bool,
        vertex_buffers: bool,
    ) -> Result<Owned<kind::RenderPipeline>> {
        let layout = self.pipeline_layout(groups)?;
        let module: ShaderModule = *self.module;
        let attributes = [0, 1].map(|shader_location| {
            [VertexAttribute { format: VertexFormat::Float32x4, offset: 0, shader_location }]
        });
        let buffers: [_; 2] = std::array::from_fn(|index| VertexBufferLayout {
            stride: 16,
            step: VertexStepMode::Vertex,
            attributes: &attributes[index],
        });
        let targets = [Some(COLOR.into())];
        self.device.create_render_pipeline(&RenderPipelineDesc {
            label: "raster",
            layout: *layout,
            vertex: ShaderStageDesc {
                module,
                entry: if vertex_buffers { "two inputs" } else { "no inputs" },
            },
            fragment: color.then_some(ShaderStageDesc { module, entry: "color" }),
            vertex_buffers: if vertex_buffers { &buffers } else { &[] },
            primitive: Default::default(),
            depth_stencil: depth.then(|| DepthStencilDesc::depth(DEPTH, true, CompareFunction::Less)),
            targets: if color { &targets } else { &[] },
            multisample: Default::default(),
        })
    }

    /// A buffer that only this upload writes.
    pub fn uploaded(&mut self, usage: BufferUsages, size: u64) -> Result<Owned<kind::Buffer>> {
        let buffer = self.device.create_buffer(&BufferDesc::uploaded("data", size, usage))?;
        self.device.write_buffer(*buffer, 0, &vec![0; size as usize])?;
        Ok(buffer)
    }

    /// A storage buffer that the device tracks.
    pub fn tracked(&mut self, size: u64) -> Result<Owned<kind::Buffer>> {
        self.device.create_buffer(&BufferDesc::new(
            "storage",
            size,
            BufferUsages::STORAGE | BufferUsages::COPY_DST,
        ))
    }

    pub fn image(&mut self, desc: &TextureDesc<'_>) -> Result<Image> {
        let texture = self.device.create_texture(desc)?;
        let view = self.device.create_texture_view(*texture, &TextureViewDesc::default())?;
        Ok(Image { texture, view })
    }

    /// A texel that only uploads write.
    pub fn texel(&mut self) -> Result<Image> {
        let image = self.image(&TextureDesc::uploaded("texel", 1, 1, 1, COLOR))?;
        let layout = TexelLayout { offset: 0, bytes_per_row: 4, rows_per_image: 1 };
        let one = Extent3d { width: 1, height: 1, depth_or_array_layers: 1 };
        self.device.write_texture(&TexturePlace::mip(*image.texture, 0), one, &layout, &[0; 4])?;
        Ok(image)
    }

    pub fn target(&mut self) -> Result<Image> {
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        self.image(&TextureDesc::d2("target", 96, 64, COLOR, usage))
    }

    /// Sends off what was uploaded, and retires.
    pub fn settle(&mut self) -> Result<()> {
        self.device.flush_uploads()?;
        self.device.maintain()
    }
}

/// A color attachment that is stored.
pub fn attachment(view: TextureView, load: LoadOp<ClearValue>) -> [Option<ColorAttachment>; 1] {
    [Some(ColorAttachment { view, load, store: StoreOp::Store, resolve: None })]
}

pub const BLACK: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([0.0; 4]));

/// All of a buffer, as storage of compute shaders.
pub fn storage_use(buffer: Buffer, size: u64, write: bool) -> ResourceUse {
    let stages = ShaderStages::COMPUTE;
    let usage = if write { BufferUse::StorageWrite(stages) } else { BufferUse::StorageRead(stages) };
    ResourceUse::Buffer { buffer, offset: 0, size, usage }
}
