//! What the tests share: a device under validation, shaders from WGSL, and short names for the trait's structures.
#![allow(dead_code)] // Each test file uses a part.

use std::time::Duration;

use purlin_rhi::backend::{
    Backend, BindState, BoundBuffer, BoundGroup, Dirty, Encoder, MAX_DYNAMIC_OFFSETS, MAX_IMMEDIATES,
    NativeBufferTextureCopy, NativeView, VertexBuffers, bare_handle,
};
use purlin_rhi::caps::Features;
use purlin_rhi::desc::{BufferDesc, ComputePipelineDesc, MemoryClass, ShaderStageDesc, TextureDesc};
use purlin_rhi::error::Error;
use purlin_rhi::plan::{
    Aspects, BarrierBatch, BufferUse, Layout, MemoryBarrier, Scope, TextureBarrier, TextureRange,
};
use purlin_rhi::request::{DeviceRequest, Validation};
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, Extent3d, IndexFormat, Origin3d,
    ShaderStages, TextureAspect, TextureFormat, TextureViewDimension,
};
use purlin_vulkan::{ValidationMessages, Vulkan, VulkanEncoder};

/// A device for one test. Dropping it destroys the device and fails the test if validation had anything to say,
/// teardown included.
pub struct Gpu {
    device: Option<Vulkan>,
    pub messages: ValidationMessages,
    pub validated: bool,
    expect_messages: bool,
    next: u64,
}

/// Opens a device with these features where the adapter has them; `None`, with the reason printed, where the machine
/// cannot run the test. With `PURLIN_REQUIRE_GPU` set, that fails instead.
pub fn open(test: &str, features: Features) -> Option<Gpu> {
    let mut request = DeviceRequest {
        label: test,
        preferred_features: features,
        validation: Validation::Synchronization,
        ..Default::default()
    };
    let required = std::env::var_os("PURLIN_REQUIRE_GPU").is_some();
    let mut result = pollster::block_on(Vulkan::request(&request));
    if let Err(Error::Unsupported { capability, detail, .. }) = &result
        && capability.starts_with("VK_LAYER")
    {
        assert!(!required, "{test}: {capability}: {detail}");
        println!("{test}: runs without validation: {detail}");
        request.validation = Validation::Off;
        result = pollster::block_on(Vulkan::request(&request));
    }
    match result {
        Ok(device) => Some(Gpu {
            messages: device.messages(),
            device: Some(device),
            validated: request.validation != Validation::Off,
            expect_messages: false,
            next: 1,
        }),
        Err(error @ Error::NoAdapter { .. }) if !required => {
            println!("{test}: skipped: {error}");
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

impl std::ops::Deref for Gpu {
    type Target = Vulkan;
    fn deref(&self) -> &Vulkan {
        self.device.as_ref().expect("open until dropped")
    }
}

impl std::ops::DerefMut for Gpu {
    fn deref_mut(&mut self) -> &mut Vulkan {
        self.device.as_mut().expect("open until dropped")
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.device = None;
        if !self.expect_messages && !std::thread::panicking() {
            let texts = self.messages.take();
            assert_eq!(self.messages.count(), 0, "validation said:\n{}", texts.join("\n"));
        }
    }
}

impl Gpu {
    /// Takes the messages that a test provoked, and lets it end with them.
    pub fn provoked(&mut self) -> Vec<String> {
        self.expect_messages = true;
        self.messages.take()
    }

    /// Submits one encoder and waits for it.
    pub fn finish(&mut self, encoder: VulkanEncoder) {
        let ordinal = self.next;
        self.next += 1;
        self.submit(&mut vec![encoder], ordinal, &[]).expect("submit");
        assert!(self.wait(ordinal, Duration::from_secs(60)).expect("wait"), "submission {ordinal} hangs");
        assert_eq!(self.completed(), Ok(ordinal));
    }

    pub fn buffer(&mut self, slot: u32, size: u64, usage: BufferUsages, memory: MemoryClass) {
        self.create_buffer(slot, &BufferDesc::new("buffer", size, usage), memory).expect("buffer");
    }

    /// An upload buffer with these bytes.
    pub fn uploaded(&mut self, slot: u32, bytes: &[u8], usage: BufferUsages) {
        self.buffer(slot, bytes.len() as u64, usage, MemoryClass::Upload);
        self.write_mapped(slot, 0, bytes);
    }

    pub fn read(&self, slot: u32, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        self.read_mapped(slot, 0, &mut out);
        out
    }

    pub fn read_u32(&self, slot: u32, count: usize) -> Vec<u32> {
        let bytes = self.read(slot, count * 4);
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    /// A texture and an attachable view of all of it, in the same slot.
    pub fn texture(&mut self, slot: u32, desc: &TextureDesc<'_>) {
        self.create_texture(slot, desc).expect("texture");
        self.view(slot, slot, desc.format, TextureAspect::All, true);
    }

    pub fn view(
        &mut self,
        slot: u32,
        texture: u32,
        format: TextureFormat,
        aspect: TextureAspect,
        attachable: bool,
    ) {
        let view = NativeView {
            label: "view",
            texture,
            format,
            dimension: TextureViewDimension::D2,
            aspect,
            range: range(Aspects::of(format, aspect)),
            attachable,
        };
        self.create_texture_view(slot, &view).expect("view");
    }

    pub fn compute_pipeline(&mut self, slot: u32, layout: u32, module: u32, entry: &str) {
        let desc = ComputePipelineDesc {
            label: entry,
            layout: bare_handle(layout),
            compute: ShaderStageDesc { module: bare_handle(module), entry },
        };
        self.create_compute_pipeline(slot, &desc).expect("compute pipeline");
    }
}

/// The first mip and layer.
pub fn range(aspects: Aspects) -> TextureRange {
    TextureRange { aspects, base_mip: 0, mips: 1, base_layer: 0, layers: 1 }
}

/// Compiles WGSL as the shader package does: no flip, for the backend's viewport has it.
pub fn shader(wgsl: &str) -> ShaderSource {
    let module = naga::front::wgsl::parse_str(wgsl).expect("WGSL");
    let info =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
            .validate(&module)
            .expect("valid WGSL");
    let options =
        naga::back::spv::Options { flags: naga::back::spv::WriterFlags::empty(), ..Default::default() };
    let spirv = naga::back::spv::write_vec(&module, &info, &options, None).expect("SPIR-V");
    ShaderSource { label: "test", spirv: Vec::leak(spirv), wgsl: "", entries: &[] }
}

pub fn entry(binding: u32, visibility: ShaderStages, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

pub fn storage(binding: u32, read_only: bool, has_dynamic_offset: bool) -> BindGroupLayoutEntry {
    let ty = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only },
        has_dynamic_offset,
        min_binding_size: None,
    };
    entry(binding, ShaderStages::COMPUTE, ty)
}

/// Nothing bound.
pub fn state() -> BindState {
    BindState {
        pipeline: 0,
        layout: 0,
        groups: [BoundGroup { native: 0, offset_count: 0, offsets: [0; MAX_DYNAMIC_OFFSETS] }; 4],
        vertex_buffers: VertexBuffers::default(),
        dirty_vertex_buffers: 0,
        index_buffer: BoundBuffer::default(),
        index_format: IndexFormat::Uint16,
        viewport: [0.0, 0.0, 64.0, 64.0, 0.0, 1.0],
        scissor: [0, 0, 64, 64],
        blend_constant: [0.0; 4],
        stencil_reference: 0,
        immediates: [0; MAX_IMMEDIATES],
        dirty_immediates: (0, 0),
    }
}

/// What the first draw of an encoder without bindings finds dirty.
pub const FIRST_DRAW: Dirty = Dirty::PIPELINE
    .union(Dirty::VIEWPORT)
    .union(Dirty::SCISSOR)
    .union(Dirty::BLEND_CONSTANT)
    .union(Dirty::STENCIL_REFERENCE);

pub fn memory(encoder: &mut VulkanEncoder, gpu: &Vulkan, src: BufferUse, dst: BufferUse) {
    let barrier = MemoryBarrier { src: src.scope(), dst: dst.scope() };
    encoder.barriers(gpu, BarrierBatch { memory: &[barrier], textures: &[] });
}

pub fn transition(
    encoder: &mut VulkanEncoder,
    gpu: &Vulkan,
    texture: u32,
    range: TextureRange,
    (src, old): (Scope, Layout),
    (dst, new): (Scope, Layout),
) {
    let barrier = TextureBarrier { texture, range, src, dst, old, new };
    encoder.barriers(gpu, BarrierBatch { memory: &[], textures: &[barrier] });
}

/// A copy of the whole 64 by 64 texture, four bytes a texel.
pub fn whole(buffer: u32, texture: u32, format: TextureFormat) -> NativeBufferTextureCopy {
    NativeBufferTextureCopy {
        buffer,
        offset: 0,
        bytes_per_row: 256,
        rows_per_image: 64,
        texture,
        format,
        aspect: TextureAspect::All,
        mip: 0,
        origin: Origin3d::ZERO,
        extent: Extent3d { width: 64, height: 64, depth_or_array_layers: 1 },
        volume: false,
    }
}
