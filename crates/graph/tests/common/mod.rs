//! What the tests share: a null device with a few layouts and pipelines.
#![allow(dead_code)] // Each test crate uses its part.

use std::num::NonZeroU64;

use purlin_rhi::null::{Null, NullConfig, NullControl};
use purlin_rhi::shader::{EntryPoint, ShaderIo, ShaderSource};
use purlin_rhi::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, SamplerBindingType, ShaderStages,
    StorageTextureAccess, TextureFormat, TextureSampleType, TextureUsages, TextureViewDimension,
    VertexFormat,
};
use purlin_rhi::{
    BindGroupLayout, BindGroupLayoutDesc, BufferDesc, ComputePipeline, ComputePipelineDesc, DepthStencilDesc,
    Device, DeviceRequest, Owned, PipelineLayout, PipelineLayoutDesc, RenderPipeline, RenderPipelineDesc,
    Sampler, SamplerDesc, ShaderModule, ShaderStageDesc, TextureDesc, kind,
};

pub const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;
pub const DEPTH: TextureFormat = TextureFormat::Depth32Float;
pub const BOTH: TextureFormat = TextureFormat::Depth24PlusStencil8;

const fn entry(
    name: &'static str,
    stage: ShaderStages,
    group: [u32; 3],
    outputs: &'static [ShaderIo],
) -> EntryPoint {
    EntryPoint {
        name,
        stage,
        workgroup_size: group,
        bindings: &[],
        inputs: &[],
        outputs,
        immediate_size: 0,
        writes_depth: false,
    }
}

static SHADER: ShaderSource = ShaderSource {
    label: "test",
    spirv: &[],
    wgsl: "",
    entries: &[
        entry("vs", ShaderStages::VERTEX, [0; 3], &[]),
        entry(
            "fs",
            ShaderStages::FRAGMENT,
            [0; 3],
            &[ShaderIo { location: 0, name: "color", format: VertexFormat::Float32x4 }],
        ),
        entry("cs", ShaderStages::COMPUTE, [8, 8, 1], &[]),
    ],
};

pub fn sampled() -> BindingType {
    BindingType::Texture {
        sample_type: TextureSampleType::Float { filterable: true },
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    }
}

pub fn uniform(dynamic: bool) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset: dynamic,
        min_binding_size: NonZeroU64::new(16),
    }
}

pub fn storage(read_only: bool) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

pub fn storage_texture() -> BindingType {
    BindingType::StorageTexture {
        access: StorageTextureAccess::WriteOnly,
        format: COLOR,
        view_dimension: TextureViewDimension::D2,
    }
}

pub fn filtering() -> BindingType {
    BindingType::Sampler(SamplerBindingType::Filtering)
}

/// A device with everything that graphs of tests use.
pub struct Fixture {
    pub device: Device<Null>,
    pub control: NullControl,
    pub module: Owned<kind::ShaderModule>,
    pub plain: Owned<kind::PipelineLayout>,
    pub color: Owned<kind::RenderPipeline>,
    pub color_depth: Owned<kind::RenderPipeline>,
    pub compute: Owned<kind::ComputePipeline>,
    pub linear: Owned<kind::Sampler>,
    /// Texture and sampler in the fragment stage.
    pub sample: Owned<kind::BindGroupLayout>,
    /// A storage buffer that compute writes.
    pub write: Owned<kind::BindGroupLayout>,
    /// A storage buffer that compute reads, and one that it writes.
    pub read_write: Owned<kind::BindGroupLayout>,
    /// A storage texture that compute writes.
    pub image: Owned<kind::BindGroupLayout>,
    /// A uniform buffer with a dynamic offset.
    pub frame: Owned<kind::BindGroupLayout>,
}

impl Fixture {
    pub fn new(config: NullConfig) -> Self {
        let null = Null::new(config);
        let control = null.control();
        let mut device = Device::from_backend(null, &DeviceRequest::default()).unwrap();
        let module: Owned<kind::ShaderModule> = device.create_shader_module(&SHADER).unwrap();
        let plain = device
            .create_pipeline_layout(&PipelineLayoutDesc { label: "plain", groups: &[], immediate_size: 0 })
            .unwrap();
        let color = render_pipeline(&mut device, *plain, *module, None);
        let depth = DepthStencilDesc::depth(DEPTH, true, purlin_rhi::types::CompareFunction::Less);
        let color_depth = render_pipeline(&mut device, *plain, *module, Some(depth));
        let compute = device
            .create_compute_pipeline(&ComputePipelineDesc {
                label: "compute",
                layout: *plain,
                compute: ShaderStageDesc { module: *module, entry: "cs" },
            })
            .unwrap();
        let linear = device.create_sampler(&SamplerDesc::linear("linear")).unwrap();
        let fragment = ShaderStages::FRAGMENT;
        let work = ShaderStages::COMPUTE;
        let sample = layout(&mut device, fragment, &[sampled(), filtering()]);
        let write = layout(&mut device, work, &[storage(false)]);
        let read_write = layout(&mut device, work, &[storage(true), storage(false)]);
        let image = layout(&mut device, work, &[storage_texture()]);
        let frame = layout(&mut device, fragment | work | ShaderStages::VERTEX, &[uniform(true)]);
        Self {
            device,
            control,
            module,
            plain,
            color,
            color_depth,
            compute,
            linear,
            sample,
            write,
            read_write,
            image,
            frame,
        }
    }

    /// A buffer that lives outside graphs.
    pub fn buffer(&mut self, label: &str, size: u64) -> Owned<kind::Buffer> {
        let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST | BufferUsages::STORAGE;
        self.device.create_buffer(&BufferDesc::new(label, size, usage)).unwrap()
    }

    /// A texture that lives outside graphs.
    pub fn texture(&mut self, label: &str, width: u32, height: u32) -> Owned<kind::Texture> {
        let usage = TextureUsages::COPY_SRC
            | TextureUsages::COPY_DST
            | TextureUsages::TEXTURE_BINDING
            | TextureUsages::RENDER_ATTACHMENT;
        self.device.create_texture(&TextureDesc::d2(label, width, height, COLOR, usage)).unwrap()
    }
}

pub fn layout(
    device: &mut Device<Null>,
    stages: ShaderStages,
    types: &[BindingType],
) -> Owned<kind::BindGroupLayout> {
    let entries: Vec<_> = types
        .iter()
        .enumerate()
        .map(|(binding, ty)| BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: stages,
            ty: *ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&BindGroupLayoutDesc { label: "layout", entries: &entries }).unwrap()
}

fn render_pipeline(
    device: &mut Device<Null>,
    layout: PipelineLayout,
    module: ShaderModule,
    depth_stencil: Option<DepthStencilDesc>,
) -> Owned<kind::RenderPipeline> {
    device
        .create_render_pipeline(&RenderPipelineDesc {
            label: "render",
            layout,
            vertex: ShaderStageDesc { module, entry: "vs" },
            fragment: Some(ShaderStageDesc { module, entry: "fs" }),
            vertex_buffers: &[],
            primitive: Default::default(),
            depth_stencil,
            targets: &[Some(COLOR.into())],
            multisample: Default::default(),
        })
        .unwrap()
}

/// Copies of the handles, so that a graph can be declared while the device is free.
#[derive(Clone, Copy)]
pub struct Handles {
    pub color: RenderPipeline,
    pub color_depth: RenderPipeline,
    pub compute: ComputePipeline,
    pub linear: Sampler,
    pub sample: BindGroupLayout,
    pub write: BindGroupLayout,
    pub read_write: BindGroupLayout,
    pub image: BindGroupLayout,
    pub frame: BindGroupLayout,
}

impl Fixture {
    pub fn handles(&self) -> Handles {
        Handles {
            color: *self.color,
            color_depth: *self.color_depth,
            compute: *self.compute,
            linear: *self.linear,
            sample: *self.sample,
            write: *self.write,
            read_write: *self.read_write,
            image: *self.image,
            frame: *self.frame,
        }
    }
}
