//! Tests of the null backend itself: it holds its contracts and notices when they are broken.

mod bytes;
mod contract;
mod faults;
mod log;

use super::*;
use crate::backend::{
    BindState, BoundBuffer, BoundGroup, Encoder, MAX_DYNAMIC_OFFSETS, MAX_GROUPS, MAX_IMMEDIATES,
    NativeBufferTextureCopy, NativeRenderPass, VertexBuffers,
};
use crate::plan::{BarrierBatch, Layout, Scope, TextureBarrier};
use crate::types::{
    BufferUsages, Extent3d, IndexFormat, Origin3d, QueryType, TextureUsages, TextureViewDimension,
};

const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;

fn buffer(null: &mut Null, slot: u32, size: u64, memory: MemoryClass) {
    null.create_buffer(slot, &BufferDesc::new("b", size, BufferUsages::COPY_DST), memory).unwrap();
}

fn desc(format: TextureFormat, width: u32, height: u32) -> TextureDesc<'static> {
    TextureDesc::d2("t", width, height, format, TextureUsages::COPY_DST)
}

fn whole(desc: &TextureDesc<'_>) -> TextureRange {
    TextureRange {
        aspects: Aspects::of(desc.format, TextureAspect::All),
        base_mip: 0,
        mips: desc.mips,
        base_layer: 0,
        layers: desc.layers(),
    }
}

fn view(null: &mut Null, slot: u32, texture: u32, desc: &TextureDesc<'_>) {
    let view = NativeView {
        label: "v",
        texture,
        format: desc.format,
        dimension: TextureViewDimension::D2,
        aspect: TextureAspect::All,
        range: whole(desc),
        attachable: true,
    };
    null.create_texture_view(slot, &view).unwrap();
}

fn barrier(texture: u32, range: TextureRange, old: Layout, new: Layout) -> TextureBarrier {
    TextureBarrier { texture, range, src: Scope::NONE, dst: Scope::NONE, old, new }
}

fn transition(encoder: &mut NullEncoder, null: &Null, textures: &[TextureBarrier]) {
    encoder.barriers(null, BarrierBatch { memory: &[], textures });
}

/// Records and submits; the ordinal is one past the last.
fn submit(null: &mut Null, record: impl FnOnce(&mut NullEncoder, &Null)) -> u64 {
    let mut encoder = null.begin("e").unwrap();
    record(&mut encoder, null);
    let ordinal = null.control().last_submitted() + 1;
    null.submit(&mut vec![encoder], ordinal, &[]).unwrap();
    ordinal
}

fn read(null: &Null, slot: u32, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    null.read_mapped(slot, 0, &mut out);
    out
}

fn extent(width: u32, height: u32, depth_or_array_layers: u32) -> Extent3d {
    Extent3d { width, height, depth_or_array_layers }
}

/// A copy between buffer 0 and texture 0 with the least pitches.
fn texels(format: TextureFormat, origin: [u32; 3], extent: Extent3d) -> NativeBufferTextureCopy {
    NativeBufferTextureCopy {
        buffer: 0,
        offset: 0,
        bytes_per_row: 256,
        rows_per_image: extent.height.div_ceil(format.block_dimensions().1),
        texture: 0,
        format,
        aspect: TextureAspect::All,
        mip: 0,
        origin: Origin3d { x: origin[0], y: origin[1], z: origin[2] },
        extent,
        volume: false,
    }
}

fn bind_state() -> BindState {
    BindState {
        pipeline: 0,
        layout: 0,
        groups: [BoundGroup { native: 0, offset_count: 0, offsets: [0; MAX_DYNAMIC_OFFSETS] }; MAX_GROUPS],
        vertex_buffers: VertexBuffers::default(),
        dirty_vertex_buffers: 0,
        index_buffer: BoundBuffer::default(),
        index_format: IndexFormat::Uint16,
        viewport: [0.0, 0.0, 4.0, 4.0, 0.0, 1.0],
        scissor: [0, 0, 4, 4],
        blend_constant: [0.0; 4],
        stencil_reference: 0,
        immediates: [0; MAX_IMMEDIATES],
        dirty_immediates: (0, 0),
    }
}

/// Makes pipeline layout 0, module 0, render pipeline 0 and compute pipeline 0.
fn pipelines(null: &mut Null) {
    use crate::handle::{DeviceTag, Handle};
    let source = ShaderSource { label: "s", spirv: &[], wgsl: "", entries: &[] };
    let stage = crate::desc::ShaderStageDesc { module: Handle::new(DeviceTag(0), 0, 1), entry: "main" };
    let layout = Handle::new(DeviceTag(0), 0, 1);
    null.create_pipeline_layout(0, "l", &[], 0).unwrap();
    null.create_shader_module(0, &source).unwrap();
    null.create_compute_pipeline(0, &ComputePipelineDesc { label: "c", layout, compute: stage }).unwrap();
    let render = RenderPipelineDesc {
        label: "r",
        layout,
        vertex: stage,
        fragment: None,
        vertex_buffers: &[],
        primitive: Default::default(),
        depth_stencil: None,
        targets: &[],
        multisample: Default::default(),
    };
    null.create_render_pipeline(0, &render).unwrap();
}

fn timestamps(count: u32) -> QuerySetDesc<'static> {
    QuerySetDesc { label: "q", ty: QueryType::Timestamp, count }
}

fn empty_pass() -> NativeRenderPass<'static> {
    NativeRenderPass {
        label: "p",
        extent: (4, 4),
        layers: 1,
        colors: &[],
        depth_stencil: None,
        sections: false,
        queries: None,
    }
}

/// The text of the panic, which must come.
fn panic_of(act: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).expect_err("no panic came");
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    payload.downcast_ref::<String>().cloned().or(text).unwrap_or_default()
}

/// Polls a future that is ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the future waits"),
    }
}

#[test]
fn formats_have_what_webgpu_guarantees() {
    let null = Null::new(NullConfig { features: Features::empty(), ..NullConfig::default() });
    let uses = |format| null.format_uses(format);
    let other_counts = FormatUses::SAMPLE_COUNTS - FormatUses::MULTISAMPLE_X4;
    let others = FormatUses::DEPTH_STENCIL | FormatUses::STORAGE_READ_WRITE;
    assert_eq!(uses(COLOR), FormatUses::all() - others - other_counts);
    assert!(uses(TextureFormat::R32Uint).contains(FormatUses::STORAGE_READ_WRITE));
    assert!(!uses(TextureFormat::Rgba32Float).intersects(FormatUses::FILTERABLE | FormatUses::BLENDABLE));
    assert!(uses(TextureFormat::Rgba32Float).contains(FormatUses::COLOR | FormatUses::STORAGE));
    assert!(!uses(TextureFormat::R32Uint).intersects(FormatUses::FILTERABLE | FormatUses::BLENDABLE));
    assert!(uses(TextureFormat::Rgba16Float).contains(FormatUses::FILTERABLE | FormatUses::BLENDABLE));
    let depth = uses(TextureFormat::Depth32Float);
    assert!(
        depth.contains(FormatUses::DEPTH_STENCIL | FormatUses::SAMPLED) && !depth.contains(FormatUses::COLOR)
    );
    assert!(uses(TextureFormat::Bc7RgbaUnorm).is_empty());
    let all = Null::new(NullConfig::default());
    assert!(
        all.format_uses(TextureFormat::Bc7RgbaUnorm).contains(FormatUses::FILTERABLE | FormatUses::COPY_DST)
    );
    let fixed = NullConfig { format_uses: Some(|_| FormatUses::COPY_SRC), ..NullConfig::default() };
    assert_eq!(Null::new(fixed).format_uses(COLOR), FormatUses::COPY_SRC);
}

#[test]
fn a_request_is_negotiated() {
    let request = DeviceRequest { required_features: Features::ANISOTROPY, ..DeviceRequest::default() };
    let null = now(Null::request(&request)).unwrap();
    assert_eq!(null.capabilities().features, Features::ANISOTROPY | Features::CORE);
    assert_eq!(null.capabilities().timestamp_period, 0.0);
    assert_eq!(null.adapter(), &Null::adapters(&request).unwrap()[0]);
    let poor = NullConfig { features: Features::empty(), ..NullConfig::default() };
    let error = Null::open(poor.clone(), &request).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { capability, .. } if capability == "feature ANISOTROPY"));
    let preferred = DeviceRequest { preferred_features: Features::ANISOTROPY, ..DeviceRequest::default() };
    assert!(Null::open(poor, &preferred).unwrap().capabilities().features.is_empty());
}

fn allocated(null: &Null) -> u64 {
    null.memory().map_or(0, |memory| memory.allocated)
}

#[test]
fn live_objects_and_bytes_are_counted() {
    let mut null = Null::new(NullConfig::default());
    let control = null.control();
    buffer(&mut null, 0, 100, MemoryClass::Device);
    null.create_texture(3, &desc(COLOR, 4, 4).with_mips(3)).unwrap();
    assert_eq!((control.live(ResourceKind::Buffer), control.live(ResourceKind::Texture)), (1, 1));
    assert_eq!(allocated(&null), 100 + 64 + 16 + 4);
    null.destroy_buffer(0);
    null.destroy_texture(3);
    assert_eq!((control.live_total(), allocated(&null)), (0, 0));
}

#[test]
fn timestamps_count_ticks_without_log_or_execution() {
    let mut null = Null::new(NullConfig { auto_complete: false, ..NullConfig::default() });
    let control = null.control();
    control.set_clock(50, 10);
    null.create_query_set(0, &timestamps(3)).unwrap();
    submit(&mut null, |encoder, null| {
        encoder.write_timestamp(null, 0, 0);
        encoder.write_timestamp(null, 0, 2);
    });
    let mut out = [Some(7); 3];
    null.read_timestamps(0, 0, &mut out);
    assert_eq!(out, [None; 3]);
    control.complete_all();
    null.read_timestamps(0, 0, &mut out);
    assert_eq!(out, [Some(60), None, Some(70)]);
    null.reset_queries(0, 0, 2);
    null.read_timestamps(0, 0, &mut out);
    assert_eq!(out, [None, None, Some(70)]);
}

#[test]
fn waits_complete_unless_they_are_told_not_to() {
    let mut null = Null::new(NullConfig::manual());
    let control = null.control();
    control.set_wait_completes(false);
    let first = submit(&mut null, |_, _| {});
    let second = submit(&mut null, |_, _| {});
    assert_eq!(null.wait(first, Duration::MAX), Ok(false));
    control.set_wait_completes(true);
    assert_eq!(null.wait(first, Duration::ZERO), Ok(false));
    assert_eq!(null.wait(first, Duration::MAX), Ok(true));
    assert_eq!(null.completed(), Ok(first));
    control.complete_to(second + 10);
    assert_eq!(null.completed(), Ok(second));
}
