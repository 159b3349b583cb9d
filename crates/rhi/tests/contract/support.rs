//! What the tests share: devices, hand-made shader sources, and short ways to say long things.

use std::num::NonZeroU64;
use std::time::Duration;

use purlin_rhi::null::{Null, NullCommand, NullConfig, NullControl};
use purlin_rhi::plan::{Aspects, BufferUse, ResourceUse, TextureRange, TextureUse};
use purlin_rhi::shader::{EntryPoint, ShaderBinding, ShaderIo, ShaderSource};
use purlin_rhi::types::*;
use purlin_rhi::*;

pub type Gpu = Device<Null>;

pub const SECOND: Duration = Duration::from_secs(1);
pub const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;
pub const BOTH_COPIES: BufferUsages = BufferUsages::COPY_SRC.union(BufferUsages::COPY_DST);

/// A device of this configuration, all features enabled.
pub fn device(config: NullConfig) -> (Gpu, NullControl) {
    device_with(config, StorageCeilings::default())
}

/// A device with these ceilings.
pub fn device_with(config: NullConfig, storage: StorageCeilings) -> (Gpu, NullControl) {
    let null = Null::new(config);
    let control = null.control();
    let request = DeviceRequest { label: "test", storage, ..DeviceRequest::default() };
    (Device::from_backend(null, &request).unwrap(), control)
}

/// A device that executes and completes at once.
pub fn executing() -> (Gpu, NullControl) {
    device(NullConfig::executing())
}

/// A device that executes, and completes by hand only.
pub fn manual() -> (Gpu, NullControl) {
    device(NullConfig { wait_completes: false, ..NullConfig::manual() })
}

/// A device that checks and keeps nothing.
pub fn plain() -> Gpu {
    device(NullConfig::default()).0
}

/// What a refused call must leave as it was: objects, bytes, uploads, readbacks, submissions, and what the ledger knows.
/// Room that services found stays theirs, and does not count.
#[derive(Debug, PartialEq, Eq)]
pub struct Digest {
    objects: Vec<(u32, usize)>,
    retiring: usize,
    bytes: u64,
    uploads: (usize, u64),
    outstanding: u64,
    submission: u64,
    encoders: usize,
    /// Of the first slots, revisions and last submissions.
    buffers: Vec<(u64, u64)>,
    textures: Vec<(u64, u64)>,
    is_lost: bool,
}

pub trait Checked {
    fn digest(&mut self) -> Digest;

    /// Makes a call, and sees that it has changed nothing if it is refused.
    fn checked<T>(&mut self, call: impl FnOnce(&mut Gpu) -> Result<T>) -> Result<T>;
}

impl Checked for Gpu {
    fn digest(&mut self) -> Digest {
        // What waits to be taken back is not of the call. A lost device takes nothing back.
        let _ = self.maintain();
        let control = self.backend().control();
        let ((staging, staged), arena) = (self.readbacks().staging(), self.frame_arena());
        let services = (staging + arena.pages(), staged + u64::from(arena.pages()) * arena.page_size());
        let objects = ResourceKind::ALL.map(|kind| {
            let services = if kind == ResourceKind::Buffer { services.0 } else { 0 };
            (self.object_count(kind) - services, control.live(kind) - services as usize)
        });
        let (uploads, ledger) = (self.uploads(), self.ledger());
        Digest {
            objects: objects.to_vec(),
            retiring: self.retiring(),
            bytes: self.memory().logical - services.1,
            uploads: (uploads.pending(), uploads.in_use()),
            outstanding: self.readbacks().outstanding(),
            submission: self.last_submission().ordinal(),
            encoders: control.open_encoders(),
            buffers: (0..32)
                .map(|slot| (ledger.buffer_revision(slot), ledger.buffer_ordinal(slot)))
                .collect(),
            textures: (0..32)
                .map(|slot| (ledger.texture_revision(slot), ledger.texture_ordinal(slot)))
                .collect(),
            is_lost: self.lost().is_some(),
        }
    }

    #[track_caller]
    fn checked<T>(&mut self, call: impl FnOnce(&mut Gpu) -> Result<T>) -> Result<T> {
        let before = self.digest();
        let result = call(self);
        if let Err(error) = &result {
            assert_eq!(self.digest(), before, "changed by a call that was refused: {error}");
        }
        result
    }
}

/// The error, which must come.
#[track_caller]
pub fn err<T>(result: Result<T>) -> Error {
    match result {
        Ok(_) => panic!("the call was accepted"),
        Err(error) => error,
    }
}

/// Asserts that the call failed and that the message has all these parts.
#[track_caller]
pub fn refused<T>(result: Result<T>, parts: &[&str]) {
    let text = err(result).to_string();
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is not in: {text}");
    }
}

/// As [`refused`], and the error is [`Error::InvalidDescription`] of this field.
#[track_caller]
pub fn invalid<T>(result: Result<T>, wanted: &str, parts: &[&str]) {
    let error = err(result);
    match &error {
        Error::InvalidDescription { field, .. } => assert_eq!(*field, wanted, "{error}"),
        other => panic!("not an invalid description: {other:?}"),
    }
    refused(Err::<(), _>(error), parts);
}

/// As [`refused`], and the error is [`Error::Unsupported`] for this capability.
#[track_caller]
pub fn unsupported<T>(result: Result<T>, wanted: &str, parts: &[&str]) {
    let error = err(result);
    match &error {
        Error::Unsupported { capability, .. } => assert_eq!(capability, wanted, "{error}"),
        other => panic!("not unsupported: {other:?}"),
    }
    refused(Err::<(), _>(error), parts);
}

/// As [`refused`], and the error is [`Error::InvalidState`].
#[track_caller]
pub fn wrong_state<T>(result: Result<T>, parts: &[&str]) {
    let error = err(result);
    assert!(matches!(error, Error::InvalidState { .. }), "not an invalid state: {error:?}");
    refused(Err::<(), _>(error), parts);
}

/// Asserts that a handle was refused for this reason.
#[track_caller]
pub fn bad_handle<T>(result: Result<T>, wanted: HandleProblem) -> String {
    match err(result) {
        Error::InvalidHandle { problem, handle, .. } => {
            assert_eq!(problem, wanted);
            handle
        }
        other => panic!("not an invalid handle: {other:?}"),
    }
}

pub fn extent(width: u32, height: u32, depth_or_array_layers: u32) -> Extent3d {
    Extent3d { width, height, depth_or_array_layers }
}

pub fn slice(buffer: Buffer, offset: u64, size: u64) -> BufferSlice {
    BufferSlice { buffer, offset, size }
}

pub fn at(texture: Texture, mip: u32, x: u32, y: u32, z: u32) -> TexturePlace {
    TexturePlace { origin: Origin3d { x, y, z }, ..TexturePlace::mip(texture, mip) }
}

pub fn rows(bytes_per_row: u32, rows_per_image: u32) -> TexelLayout {
    TexelLayout { offset: 0, bytes_per_row, rows_per_image }
}

pub fn buffer(gpu: &mut Gpu, label: &str, size: u64, usage: BufferUsages) -> Owned<kind::Buffer> {
    gpu.create_buffer(&BufferDesc::new(label, size, usage | BOTH_COPIES)).unwrap()
}

/// A buffer to which zeros were uploaded.
pub fn uploaded(gpu: &mut Gpu, label: &str, size: u64, usage: BufferUsages) -> Owned<kind::Buffer> {
    let made = gpu.create_buffer_with(label, usage, &vec![0; size as usize]).unwrap();
    gpu.flush_uploads().unwrap();
    made
}

pub fn texture(
    gpu: &mut Gpu,
    label: &str,
    width: u32,
    height: u32,
    usage: TextureUsages,
) -> Owned<kind::Texture> {
    let usage = usage | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    gpu.create_texture(&TextureDesc::d2(label, width, height, COLOR, usage)).unwrap()
}

pub fn view(gpu: &mut Gpu, texture: Texture) -> Owned<kind::TextureView> {
    gpu.create_texture_view(texture, &TextureViewDesc { label: "view", ..Default::default() }).unwrap()
}

/// The one color subresource of a mip.
pub fn color_range(mip: u32) -> TextureRange {
    TextureRange { aspects: Aspects::COLOR, base_mip: mip, mips: 1, base_layer: 0, layers: 1 }
}

pub fn buffer_use(buffer: Buffer, size: u64, usage: BufferUse) -> ResourceUse {
    ResourceUse::Buffer { buffer, offset: 0, size, usage }
}

pub fn texture_use(texture: Texture, range: TextureRange, usage: TextureUse) -> ResourceUse {
    ResourceUse::Texture { texture, range, usage }
}

/// The bytes of a buffer, copied and read at once; needs a device that completes at once.
pub fn bytes_of(gpu: &mut Gpu, buffer: Buffer) -> Vec<u8> {
    let size = gpu.buffer_size(buffer).unwrap();
    let mut recorder = gpu.record("read back").unwrap();
    let ticket = recorder.read_buffer(slice(buffer, 0, size)).unwrap();
    recorder.submit().unwrap();
    gpu.read_vec(&ticket).unwrap()
}

/// The tight texels of a whole mip and layer.
pub fn texels_of(gpu: &mut Gpu, place: TexturePlace, size: Extent3d) -> Vec<u8> {
    let mut recorder = gpu.record("read back").unwrap();
    let ticket = recorder.read_texture(&place, size).unwrap();
    recorder.submit().unwrap();
    gpu.read_vec(&ticket).unwrap()
}

/// A color attachment that is cleared to black and stored.
pub fn cleared(view: TextureView) -> Option<ColorAttachment> {
    let load = LoadOp::Clear(ClearValue::Float([0.0; 4]));
    Some(ColorAttachment { view, load, store: StoreOp::Store, resolve: None })
}

pub fn pass<'a>(colors: &'a [Option<ColorAttachment>], uses: &'a [ResourceUse]) -> RenderPassDesc<'a> {
    RenderPassDesc { label: "pass", colors, depth_stencil: None, uses, ..Default::default() }
}

/// Every command of the submissions logged since the last call.
pub fn commands(control: &NullControl) -> Vec<NullCommand> {
    control
        .take_log()
        .iter()
        .flat_map(|submission| submission.commands().cloned().collect::<Vec<_>>())
        .collect()
}

/// The draws among logged commands.
pub fn draws(control: &NullControl) -> Vec<NullCommand> {
    let mut all = commands(control);
    all.retain(|command| matches!(command, NullCommand::Draw { .. } | NullCommand::Dispatch { .. }));
    all
}

pub const fn uniform(least: u64) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: NonZeroU64::new(least),
    }
}

pub const fn dynamic_uniform(least: u64) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset: true,
        min_binding_size: NonZeroU64::new(least),
    }
}

pub const fn storage(read_only: bool) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

pub const fn sampled() -> BindingType {
    BindingType::Texture {
        sample_type: TextureSampleType::Float { filterable: true },
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    }
}

pub fn entry(binding: u32, visibility: ShaderStages, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

pub fn group_layout(gpu: &mut Gpu, entries: &[BindGroupLayoutEntry]) -> Owned<kind::BindGroupLayout> {
    gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries }).unwrap()
}

pub fn group(
    gpu: &mut Gpu,
    layout: BindGroupLayout,
    entries: &[BindGroupEntry<'_>],
) -> Owned<kind::BindGroup> {
    gpu.create_bind_group(&BindGroupDesc { label: "group", layout, entries }).unwrap()
}

pub const NO_STAGE: EntryPoint = EntryPoint {
    name: "",
    stage: ShaderStages::NONE,
    workgroup_size: [0; 3],
    bindings: &[],
    inputs: &[],
    outputs: &[],
    immediate_size: 0,
    writes_depth: false,
};

pub const OUT_COLOR: ShaderIo = ShaderIo { location: 0, name: "color", format: VertexFormat::Float32x4 };

/// `vs` and `fs` without bindings, `cs` with 64 invocations.
pub static SIMPLE: ShaderSource = source(&[
    EntryPoint { name: "vs", stage: ShaderStages::VERTEX, ..NO_STAGE },
    EntryPoint { name: "fs", stage: ShaderStages::FRAGMENT, outputs: &[OUT_COLOR], ..NO_STAGE },
    EntryPoint { name: "cs", stage: ShaderStages::COMPUTE, workgroup_size: [64, 1, 1], ..NO_STAGE },
]);

const FRAME: ShaderBinding = ShaderBinding { group: 0, binding: 0, name: "frame", ty: uniform(16), count: 0 };
const ITEM: ShaderBinding = ShaderBinding { group: 1, binding: 0, name: "item", ty: uniform(16), count: 0 };

/// `vs` reads a uniform in group 0 and one in group 1; `fs` reads nothing.
pub static BOUND: ShaderSource = source(&[
    EntryPoint { name: "vs", stage: ShaderStages::VERTEX, bindings: &[FRAME, ITEM], ..NO_STAGE },
    EntryPoint { name: "fs", stage: ShaderStages::FRAGMENT, outputs: &[OUT_COLOR], ..NO_STAGE },
]);

pub const fn source(entries: &'static [EntryPoint]) -> ShaderSource {
    ShaderSource { label: "shader", spirv: &[], wgsl: "", entries }
}

/// A raster pipeline over [`COLOR`] with everything it is made of.
pub struct Pipeline {
    pub pipeline: Owned<kind::RenderPipeline>,
    _layout: Owned<kind::PipelineLayout>,
    _module: Owned<kind::ShaderModule>,
}

/// A raster description with entries `vs` and `fs` and one [`COLOR`] target.
pub fn raster<'a>(
    module: ShaderModule,
    layout: PipelineLayout,
    targets: &'a [Option<ColorTarget>],
) -> RenderPipelineDesc<'a> {
    RenderPipelineDesc {
        label: "raster",
        layout,
        vertex: ShaderStageDesc { module, entry: "vs" },
        fragment: Some(ShaderStageDesc { module, entry: "fs" }),
        vertex_buffers: &[],
        primitive: PrimitiveDesc::default(),
        depth_stencil: None,
        targets,
        multisample: MultisampleDesc::default(),
    }
}

pub fn pipeline_layout(gpu: &mut Gpu, groups: &[BindGroupLayout]) -> Owned<kind::PipelineLayout> {
    gpu.create_pipeline_layout(&PipelineLayoutDesc { label: "layout", groups, immediate_size: 0 }).unwrap()
}

pub fn pipeline_of(
    gpu: &mut Gpu,
    source: &ShaderSource,
    groups: &[BindGroupLayout],
    vertex_buffers: &[VertexBufferLayout<'_>],
) -> Pipeline {
    let module = gpu.create_shader_module(source).unwrap();
    let layout = pipeline_layout(gpu, groups);
    let targets = [Some(COLOR.into())];
    let desc = RenderPipelineDesc { vertex_buffers, ..raster(*module, *layout, &targets) };
    Pipeline { pipeline: gpu.create_render_pipeline(&desc).unwrap(), _layout: layout, _module: module }
}

/// Draws without buffers and bindings.
pub fn simple_pipeline(gpu: &mut Gpu) -> Pipeline {
    pipeline_of(gpu, &SIMPLE, &[], &[])
}

const IMAGE: ShaderBinding = ShaderBinding { group: 0, binding: 0, name: "image", ty: sampled(), count: 0 };
const CELLS: ShaderBinding =
    ShaderBinding { group: 0, binding: 0, name: "cells", ty: storage(false), count: 0 };

/// `cs` samples a texture at group 0, binding 0.
pub static SAMPLES: ShaderSource = source(&[EntryPoint { bindings: &[IMAGE], ..KERNEL }]);
/// `cs` writes a storage buffer at group 0, binding 0.
pub static STORES: ShaderSource = source(&[EntryPoint { bindings: &[CELLS], ..KERNEL }]);
/// `cs` reads 16 bytes of immediates.
pub static PUSHES: ShaderSource = source(&[EntryPoint { immediate_size: 16, ..KERNEL }]);

const KERNEL: EntryPoint =
    EntryPoint { name: "cs", stage: ShaderStages::COMPUTE, workgroup_size: [64, 1, 1], ..NO_STAGE };

/// The compute pipeline of a source's `cs` with these groups.
pub fn kernel(
    gpu: &mut Gpu,
    source: &ShaderSource,
    groups: &[BindGroupLayout],
) -> Owned<kind::ComputePipeline> {
    let module = gpu.create_shader_module(source).unwrap();
    let layout = PipelineLayoutDesc { label: "layout", groups, immediate_size: 16 };
    let layout = gpu.create_pipeline_layout(&layout).unwrap();
    let compute = ShaderStageDesc { module: *module, entry: "cs" };
    gpu.create_compute_pipeline(&ComputePipelineDesc { label: "compute", layout: *layout, compute }).unwrap()
}
