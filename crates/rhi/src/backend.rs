//! The boundary: what a backend must do, and all that it may do.
//!
//! A backend **translates**. Above this trait every decision has been made; below it nothing is validated,
//! reordered, dropped or invented. The contracts, one a line:
//!
//! - **Validated.** Every argument has been checked against the enabled limits and features. A backend may
//!   `debug_assert`, but reports errors only for what the native API refuses.
//! - **Slots.** Resources are named by slot. A slot is created once, destroyed once, and then may be created again.
//!   Backends keep [tables indexed by slot](SlotTable): no maps and no hashing. Slots stay below `handle::MAX_SLOTS` and are dense.
//! - **Lifetime.** `destroy_*` is called only when no submission uses the resource any more. It destroys at once.
//! - **Failed creation leaves nothing.** After an error the slot is empty, as before the call.
//! - **Synchronization** comes only from [`Encoder::barriers`], exactly where it is called. Backends emit nothing
//!   of their own and drop nothing; where the native API synchronizes by itself, `barriers` is empty.
//! - **Order.** Submissions execute in call order on the one queue. Ordinals passed to `submit` strictly increase
//!   from one. When `completed` returns `n`, every submission up to `n` has finished and its memory is visible.
//! - **Failed submission signals nothing.** After an error from `submit`, `completed` never reports that ordinal.
//! - **Encoders** are owned by one thread at a time and record natively. They come from a pool of the backend and go
//!   back to it by `submit` (when the GPU is done) or by `discard`.
//! - **Sections** of a raster pass are encoders too, where [`Backend::has_sections`] says so: begun and ended by the threads
//!   that record them, executed by the pass's encoder in order, and the pass's from then on. A section that was not
//!   executed goes back by `discard`.
//! - **State** that draws and dispatches are given stays as it was last told until the encoder ends: across passes, apart
//!   for raster and compute, where [`Encoder::keeps_state`] says so, and otherwise from a pass's begin to its end. After
//!   sections were executed, everything is told again.
//! - **Coordinates.** Clip space has Y up and depth 0 to 1; framebuffer and texture row 0 is the top. A backend
//!   whose native API differs hides it (Vulkan: a viewport of negative height).
//! - **Pipeline jobs** run on another thread at any time between the call that made them and the end of the device, one
//!   at a time, beside every other call.
//! - **Panics** are defects.

mod state;

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use crate::caps::{AdapterInfo, Capabilities, FormatUses};
use crate::desc::{
    BufferDesc, ComputePipelineDesc, HeapDesc, MemoryClass, MemoryNeeds, QuerySetDesc, RenderPipelineDesc,
    SamplerDesc, TextureDesc,
};
use crate::error::{BackendError, Error};
use crate::formats::FormatShape;
use crate::handle::{DeviceTag, Handle};
pub use crate::natives::{NativeMemory, NativeQueries, NativeQuery, NativeTimestamps};
use crate::plan::{BarrierBatch, TextureRange};
use crate::request::DeviceRequest;
use crate::shader::ShaderSource;
pub use crate::slots::SlotTable;
use crate::surface::{FrameUse, SurfaceBackend};
use crate::types::{
    BindGroupLayoutEntry, Extent3d, Origin3d, TextureAspect, TextureDimension, TextureFormat,
    TextureViewDimension,
};
pub use state::{
    BindState, BoundBuffer, BoundGroup, Dirty, MAX_DYNAMIC_OFFSETS, MAX_GROUPS, MAX_IMMEDIATES,
    MAX_VERTEX_BUFFERS, NOT_BOUND, VertexBuffers,
};

/// A GPU API, or something that behaves like one.
pub trait Backend: SurfaceBackend + Sized + Send + Sync + 'static {
    /// Records commands natively.
    type Encoder: Encoder<Backend = Self>;

    /// What [a job](Self::render_pipeline_job) makes: a native pipeline in no slot yet.
    /// [`Infallible`](std::convert::Infallible) where there are no jobs.
    type Compiled: Debug + Send + 'static;

    /// The backend's name, lower case: `vulkan`, `null`.
    const NAME: &'static str;

    /// Lists what the system has, without making a device.
    fn adapters(request: &DeviceRequest<'_>) -> Result<Vec<AdapterInfo>, Error>;

    /// Opens the adapter that the request selects. The negotiation ([`crate::request::negotiate`]) is shared:
    /// a backend reports what an adapter has, calls it, and enables exactly what it answers.
    fn request(request: &DeviceRequest<'_>) -> impl Future<Output = Result<Self, Error>>;

    /// The adapter behind the device.
    fn adapter(&self) -> &AdapterInfo;

    /// What is enabled.
    fn capabilities(&self) -> &Capabilities;

    /// What a format may be used for.
    fn format_uses(&self, format: TextureFormat) -> FormatUses;

    /// The most that textures of a format and a dimension may be, for all of the format's uses. `None` where there are
    /// none; what the features say of volumes is known without asking.
    fn format_shape(&self, format: TextureFormat, dimension: TextureDimension) -> Option<FormatShape> {
        let _ = format;
        Some(FormatShape::of_limits(&self.capabilities().limits, dimension))
    }

    /// Validation messages counted since the device was made; zero when validation is off.
    fn validation_messages(&self) -> u64 {
        0
    }

    /// Creates a buffer. A size of zero must work.
    fn create_buffer(&mut self, slot: u32, desc: &BufferDesc<'_>, memory: MemoryClass) -> NativeResult;
    /// Destroys a buffer.
    fn destroy_buffer(&mut self, slot: u32);
    /// What draws are given of a live buffer: what binds it natively without a look at a table, or else its slot.
    /// No two live buffers have the same, and none has [`NOT_BOUND`].
    #[inline]
    fn native_buffer(&self, slot: u32) -> u64 {
        slot.into()
    }
    /// Copies bytes into an [`MemoryClass::Upload`] buffer; visible to submissions made afterwards.
    fn write_mapped(&self, slot: u32, offset: u64, data: &[u8]);
    /// Copies bytes out of a [`MemoryClass::Readback`] buffer whose writer has completed.
    fn read_mapped(&self, slot: u32, offset: u64, out: &mut [u8]);

    /// Creates a texture, its contents undefined.
    fn create_texture(&mut self, slot: u32, desc: &TextureDesc<'_>) -> NativeResult;
    /// Destroys a texture.
    fn destroy_texture(&mut self, slot: u32);

    /// What a texture would take in a heap. `None` if it must have memory of its own, and on a backend without heaps.
    fn texture_memory(&mut self, desc: &TextureDesc<'_>) -> Result<Option<MemoryNeeds>, BackendError> {
        let _ = desc;
        Ok(None)
    }
    /// Creates a heap of a class that [`Self::texture_memory`] named.
    fn create_heap(&mut self, slot: u32, desc: &HeapDesc<'_>) -> NativeResult {
        let _ = slot;
        Err(BackendError::Failed { call: "create_heap", detail: format!("{} has no heaps", desc.label) })
    }
    /// Destroys a heap in which nothing lies any more.
    fn destroy_heap(&mut self, slot: u32) {
        let _ = slot;
    }
    /// Creates a texture in a heap, where it fits. Others may lie in the same bytes: whoever records says when they change
    /// hands.
    fn create_placed_texture(
        &mut self,
        slot: u32,
        desc: &TextureDesc<'_>,
        heap: u32,
        offset: u64,
    ) -> NativeResult {
        let _ = (slot, heap, offset);
        Err(BackendError::Failed { call: "create_placed_texture", detail: desc.label.into() })
    }

    /// Creates a view.
    fn create_texture_view(&mut self, slot: u32, view: &NativeView<'_>) -> NativeResult;
    /// Destroys a view.
    fn destroy_texture_view(&mut self, slot: u32);

    /// Creates a sampler.
    fn create_sampler(&mut self, slot: u32, desc: &SamplerDesc<'_>) -> NativeResult;
    /// Destroys a sampler.
    fn destroy_sampler(&mut self, slot: u32);

    /// Creates a bind group layout; entries are sorted by binding.
    fn create_bind_group_layout(
        &mut self,
        slot: u32,
        label: &str,
        entries: &[BindGroupLayoutEntry],
    ) -> NativeResult;
    /// Destroys a bind group layout.
    fn destroy_bind_group_layout(&mut self, slot: u32);

    /// Creates a bind group; bindings are sorted as the layout's entries and match them one to one.
    fn create_bind_group(
        &mut self,
        slot: u32,
        label: &str,
        layout: u32,
        bindings: &[NativeBinding],
    ) -> NativeResult;
    /// Destroys a bind group.
    fn destroy_bind_group(&mut self, slot: u32);
    /// The same of a live bind group.
    #[inline]
    fn native_group(&self, slot: u32) -> u64 {
        slot.into()
    }

    /// Creates a pipeline layout from group layout slots.
    fn create_pipeline_layout(
        &mut self,
        slot: u32,
        label: &str,
        groups: &[u32],
        immediate_size: u32,
    ) -> NativeResult;
    /// Destroys a pipeline layout.
    fn destroy_pipeline_layout(&mut self, slot: u32);

    /// Creates a shader module.
    fn create_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult;
    /// Destroys a shader module.
    fn destroy_shader_module(&mut self, slot: u32);

    /// A raster pipeline's compilation as a job for another thread, or `None` where pipelines compile only on the
    /// device's own: then none is ever asked for again. The device keeps layout and modules until the job has ended and
    /// what it made was adopted or discarded, and does all that before the backend goes. A job that is dropped leaves nothing.
    fn render_pipeline_job(
        &self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<Option<PipelineJob<Self::Compiled>>, BackendError> {
        let _ = desc;
        Ok(None)
    }
    /// The same of a compute pipeline.
    fn compute_pipeline_job(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<Option<PipelineJob<Self::Compiled>>, BackendError> {
        let _ = desc;
        Ok(None)
    }
    /// Puts what a job made into an empty slot.
    fn adopt_render_pipeline(&mut self, slot: u32, label: &str, compiled: Self::Compiled);
    /// The same of a compute pipeline.
    fn adopt_compute_pipeline(&mut self, slot: u32, label: &str, compiled: Self::Compiled);
    /// Destroys what a job made and nobody wants.
    fn discard_compiled(&mut self, compiled: Self::Compiled);

    /// Creates a raster pipeline. The handles in `desc` are live; use their slots.
    fn create_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult;
    /// Destroys a raster pipeline.
    fn destroy_render_pipeline(&mut self, slot: u32);

    /// Creates a compute pipeline. The handles in `desc` are live; use their slots.
    fn create_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult;
    /// Destroys a compute pipeline.
    fn destroy_compute_pipeline(&mut self, slot: u32);

    /// Whose the driver's pipeline cache is; `None` on a backend without one.
    fn pipeline_cache_identity(&self) -> Option<PipelineCacheIdentity> {
        None
    }
    /// What the driver keeps of compiled pipelines. Pipeline jobs may run meanwhile.
    fn pipeline_cache_data(&self) -> Result<Vec<u8>, BackendError> {
        Err(no_cache())
    }
    /// Adds what [`Self::pipeline_cache_data`] gave to what the driver keeps. It is of the same identity and unchanged; no
    /// pipeline job exists.
    fn add_pipeline_cache(&mut self, data: &[u8]) -> NativeResult {
        let _ = data;
        Err(no_cache())
    }

    /// Creates a set of queries, all reset.
    fn create_query_set(&mut self, slot: u32, desc: &QuerySetDesc<'_>) -> NativeResult;
    /// Destroys a query set.
    fn destroy_query_set(&mut self, slot: u32);
    /// Resets queries that no submission uses, from the CPU.
    fn reset_queries(&mut self, slot: u32, first: u32, count: u32);
    /// Reads timestamps in ticks without waiting; `None` where the value is not available.
    fn read_timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]);

    /// Takes an encoder from the pool and begins recording.
    fn begin(&mut self, label: &str) -> Result<Self::Encoder, BackendError>;
    /// Whether sections of a raster pass have encoders of their own, which record on any thread at the same time.
    /// Where not, sections record one after the other into the pass's encoder, and no call on sections comes.
    fn has_sections(&self) -> bool {
        false
    }
    /// Takes an encoder for a section of a raster pass; [`Encoder::begin_section`] begins it.
    fn section(&mut self) -> Result<Self::Encoder, BackendError> {
        Err(no_sections())
    }
    /// Gives up what an encoder recorded.
    fn discard(&mut self, encoder: Self::Encoder);
    /// Submits encoders in order, leaving the vector empty, and signals `ordinal` when all of them are done. `frames`
    /// are the acquired images that the work uses. On an error nothing was submitted and the encoders are discarded.
    fn submit(
        &mut self,
        encoders: &mut Vec<Self::Encoder>,
        ordinal: u64,
        frames: &[FrameUse],
    ) -> NativeResult;
    /// The last ordinal that is complete. Never waits. Recycles encoders.
    fn completed(&mut self) -> Result<u64, BackendError>;
    /// Waits until `ordinal` is complete or the time is over; whether it is complete.
    fn wait(&mut self, ordinal: u64, timeout: Duration) -> Result<bool, BackendError>;

    /// The bytes of device memory that the backend's allocator holds, in use and reserved; `None` where nothing says so, for
    /// not knowing is not zero.
    fn memory(&self) -> Option<NativeMemory> {
        None
    }
}

/// A handle of no device, for tests that drive a backend directly: backends look only at the slot.
#[doc(hidden)]
pub fn bare_handle<K>(slot: u32) -> Handle<K> {
    Handle::new(DeviceTag(u16::MAX), slot, 1)
}

/// What a backend without [`Backend::has_sections`] answers to calls that it never gets.
#[cold]
fn no_sections() -> BackendError {
    BackendError::Failed { call: "section", detail: "this backend has no sections".into() }
}

/// Compiles a pipeline, on whichever thread calls it. It shares nothing with the backend that needs its borrow.
pub type PipelineJob<C> = Box<dyn FnOnce() -> Result<C, BackendError> + Send>;

/// What a backend without a pipeline cache answers to calls that it never gets.
#[cold]
fn no_cache() -> BackendError {
    BackendError::Failed { call: "pipeline cache", detail: "this backend has none".into() }
}

/// What must be the same for a driver's pipeline cache to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineCacheIdentity {
    /// [`Backend::NAME`], at most sixteen bytes of it.
    pub backend: &'static str,
    /// The adapter's vendor, as the driver numbers it.
    pub vendor: u32,
    /// The adapter.
    pub device: u32,
    /// The driver's version, in its own form.
    pub driver_version: u32,
    /// The driver's name for the form of its caches.
    pub uuid: [u8; 16],
}

/// The result of creating something natively.
pub type NativeResult = Result<(), BackendError>;

/// A view with everything resolved.
#[derive(Debug, Clone, Copy)]
pub struct NativeView<'a> {
    /// The name.
    pub label: &'a str,
    /// The texture's slot.
    pub texture: u32,
    /// The view's format.
    pub format: TextureFormat,
    /// The view's dimension.
    pub dimension: TextureViewDimension,
    /// The aspect that was asked for.
    pub aspect: TextureAspect,
    /// The subresources.
    pub range: TextureRange,
    /// Whether the view may be attached; such a view has one mip.
    pub attachable: bool,
}

/// A binding with everything resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeBinding {
    /// A buffer range.
    Buffer {
        /// The buffer's slot.
        buffer: u32,
        /// The first byte.
        offset: u64,
        /// How many bytes.
        size: u64,
    },
    /// A sampled or storage texture.
    Texture {
        /// The view's slot.
        view: u32,
        /// The layout that every use of this binding will find.
        layout: crate::plan::Layout,
    },
    /// A sampler.
    Sampler {
        /// The sampler's slot.
        sampler: u32,
    },
}

/// What an attachment holds when the pass begins.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum NativeLoad<T> {
    /// What it held before.
    #[default]
    Load,
    /// This value.
    Clear(T),
    /// Anything.
    DontCare,
}

/// A clear value in the class of the attachment's format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClearValue {
    /// For float, normalized and sRGB formats.
    Float([f32; 4]),
    /// For unsigned integer formats.
    Uint([u32; 4]),
    /// For signed integer formats.
    Sint([i32; 4]),
}

/// What happens to an attachment when the pass ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StoreOp {
    /// Keep the contents.
    #[default]
    Store,
    /// The contents become undefined.
    Discard,
}

/// A color attachment with everything resolved; its layout is `ColorAttachment`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NativeColor {
    /// The view's slot.
    pub view: u32,
    /// At the beginning.
    pub load: NativeLoad<ClearValue>,
    /// At the end.
    pub store: StoreOp,
    /// The view that the average of the samples is written to at the end, in the layout `ColorAttachment`.
    pub resolve: Option<u32>,
}

/// One aspect of a depth-stencil attachment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NativeAspect<T> {
    /// At the beginning.
    pub load: NativeLoad<T>,
    /// At the end.
    pub store: StoreOp,
    /// Whether it is only tested: nothing is written, not even by the store.
    pub read_only: bool,
}

/// A depth-stencil attachment with everything resolved. An aspect that the format lacks is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NativeDepthStencil {
    /// The view's slot.
    pub view: u32,
    /// The depth aspect.
    pub depth: Option<NativeAspect<f32>>,
    /// The stencil aspect.
    pub stencil: Option<NativeAspect<u32>>,
}

/// A raster pass with everything resolved.
#[derive(Debug, Clone, Copy)]
pub struct NativeRenderPass<'a> {
    /// The name.
    pub label: &'a str,
    /// The render area: the attachments' common extent.
    pub extent: (u32, u32),
    /// Layers rendered to.
    pub layers: u32,
    /// Color attachments by index.
    pub colors: &'a [Option<NativeColor>],
    /// The depth-stencil attachment.
    pub depth_stencil: Option<NativeDepthStencil>,
    /// Whether the pass's draws come from sections that it executes, and none from its own encoder.
    pub sections: bool,
    /// Its queries; mostly none.
    pub queries: Option<&'a NativeQueries>,
}

/// What a section knows of its pass's attachments.
#[derive(Debug, Clone, Copy)]
pub struct NativeTargets<'a> {
    /// Formats of the color attachments by index.
    pub colors: &'a [Option<TextureFormat>],
    /// The depth-stencil attachment's format.
    pub depth_stencil: Option<TextureFormat>,
    /// Samples of all of them.
    pub samples: u32,
}

/// One draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Without indices.
    Direct {
        /// How many vertices.
        vertices: u32,
        /// How many instances.
        instances: u32,
        /// The first vertex.
        first_vertex: u32,
        /// The first instance.
        first_instance: u32,
    },
    /// With indices.
    Indexed {
        /// How many indices.
        indices: u32,
        /// How many instances.
        instances: u32,
        /// The first index.
        first_index: u32,
        /// Added to every index.
        base_vertex: i32,
        /// The first instance.
        first_instance: u32,
    },
    /// 16-byte arguments from a buffer.
    Indirect {
        /// The buffer's slot.
        buffer: u32,
        /// The first byte.
        offset: u64,
        /// How many draws, at least one.
        count: u32,
        /// Bytes from one to the next.
        stride: u32,
    },
    /// 20-byte arguments from a buffer.
    IndexedIndirect {
        /// The buffer's slot.
        buffer: u32,
        /// The first byte.
        offset: u64,
        /// How many draws, at least one.
        count: u32,
        /// Bytes from one to the next.
        stride: u32,
    },
    /// 16-byte arguments from a buffer, as many as another says.
    IndirectCount {
        /// The slot of the arguments' buffer.
        buffer: u32,
        /// The first byte of the arguments.
        offset: u64,
        /// The slot of the count's buffer.
        count_buffer: u32,
        /// The count's first byte.
        count_offset: u32,
        /// The most draws, at least one.
        most: u32,
        /// Bytes from one to the next.
        stride: u32,
    },
    /// 20-byte arguments from a buffer, as many as another says.
    IndexedIndirectCount {
        /// The slot of the arguments' buffer.
        buffer: u32,
        /// The first byte of the arguments.
        offset: u64,
        /// The slot of the count's buffer.
        count_buffer: u32,
        /// The count's first byte.
        count_offset: u32,
        /// The most draws, at least one.
        most: u32,
        /// Bytes from one to the next.
        stride: u32,
    },
}

/// One dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// This many workgroups.
    Direct([u32; 3]),
    /// 12-byte arguments from a buffer.
    Indirect {
        /// The buffer's slot.
        buffer: u32,
        /// The first byte.
        offset: u64,
    },
}

/// A copy between a buffer and a texture with everything resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeBufferTextureCopy {
    /// The buffer's slot.
    pub buffer: u32,
    /// The first byte.
    pub offset: u64,
    /// Bytes from one row of blocks to the next.
    pub bytes_per_row: u32,
    /// Rows of blocks from one layer or slice to the next.
    pub rows_per_image: u32,
    /// The texture's slot.
    pub texture: u32,
    /// The texture's format.
    pub format: TextureFormat,
    /// The one aspect that is copied.
    pub aspect: TextureAspect,
    /// The mip.
    pub mip: u32,
    /// The first texel; `z` is the first layer, or the first slice of a volume.
    pub origin: Origin3d,
    /// Texels, by the logical size of the mip (not rounded up to blocks); layers or slices in the third.
    pub extent: Extent3d,
    /// Whether `z` counts slices of a volume.
    pub volume: bool,
}

/// A copy between textures with everything resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeTextureCopy {
    /// The source's slot, mip and first texel.
    pub src: (u32, u32, Origin3d),
    /// The destination's slot, mip and first texel.
    pub dst: (u32, u32, Origin3d),
    /// The aspects, all of them.
    pub aspect: TextureAspect,
    /// The format of both.
    pub format: TextureFormat,
    /// Texels, by the logical size of the mip.
    pub extent: Extent3d,
    /// Whether each side's `z` counts slices of a volume.
    pub volume: (bool, bool),
}

/// Records commands natively, for one queue, by one thread at a time.
pub trait Encoder: Send + Debug + Sized {
    /// The backend whose tables the commands refer to.
    type Backend: Backend<Encoder = Self>;

    /// Emits dependencies: at a pass boundary, or between the dispatches of a compute pass; never in a raster pass.
    fn barriers(&mut self, backend: &Self::Backend, batch: BarrierBatch<'_>);

    /// Opens a labeled region in captures.
    fn push_label(&mut self, backend: &Self::Backend, label: &str);
    /// Closes it.
    fn pop_label(&mut self, backend: &Self::Backend);

    /// Whether what a pass bound is still bound in the next one: the pipeline, groups, buffers, viewport, scissor, blend
    /// constant and stencil reference, apart for raster and compute passes. Immediates always come again. Where it is
    /// not kept, all that a pass sets is dirty at its first use.
    fn keeps_state(&self) -> bool {
        false
    }

    /// Begins a raster pass. The viewport, the scissor, the blend constant and the stencil reference that it starts with
    /// come with the first draw, if they are not what the encoder has.
    fn begin_render_pass(&mut self, backend: &Self::Backend, pass: &NativeRenderPass<'_>);
    /// Ends it.
    fn end_render_pass(&mut self, backend: &Self::Backend);

    /// Begins a section, on the thread that records it. Then come draws and labels, which begin without any state.
    fn begin_section(
        &mut self,
        backend: &Self::Backend,
        label: &str,
        targets: &NativeTargets<'_>,
    ) -> NativeResult {
        let _ = (backend, label, targets);
        Err(no_sections())
    }
    /// Ends it, on the same thread.
    fn end_section(&mut self, backend: &Self::Backend) -> NativeResult {
        let _ = backend;
        Err(no_sections())
    }
    /// Executes ended sections in order within a pass that was begun for sections, and takes them over, leaving the
    /// vector empty.
    fn execute_sections(&mut self, backend: &Self::Backend, sections: &mut Vec<Self>) {
        let _ = backend;
        debug_assert!(sections.is_empty(), "this backend has no sections");
    }

    /// Applies what is dirty, then draws.
    fn draw(&mut self, backend: &Self::Backend, dirty: Dirty, state: &BindState, draw: Draw);

    /// Begins a compute pass, with timestamps before its first and after its last command.
    fn begin_compute_pass(
        &mut self,
        backend: &Self::Backend,
        label: &str,
        timestamps: Option<&NativeTimestamps>,
    );
    /// Ends it.
    fn end_compute_pass(&mut self, backend: &Self::Backend);
    /// Applies what is dirty, then dispatches.
    fn dispatch(&mut self, backend: &Self::Backend, dirty: Dirty, state: &BindState, dispatch: Dispatch);

    /// Copies between buffers; the regions do not overlap.
    fn copy_buffer(
        &mut self,
        backend: &Self::Backend,
        src: u32,
        src_offset: u64,
        dst: u32,
        dst_offset: u64,
        size: u64,
    );
    /// Fills a buffer range with zeros; offset and size are multiples of four.
    fn clear_buffer(&mut self, backend: &Self::Backend, buffer: u32, offset: u64, size: u64);
    /// Copies texels from a buffer.
    fn copy_buffer_to_texture(&mut self, backend: &Self::Backend, copy: &NativeBufferTextureCopy);
    /// Copies texels to a buffer.
    fn copy_texture_to_buffer(&mut self, backend: &Self::Backend, copy: &NativeBufferTextureCopy);
    /// Copies texels between textures.
    fn copy_texture(&mut self, backend: &Self::Backend, copy: &NativeTextureCopy);

    /// Resets queries, after all that wrote or read them before. Called outside passes. Each query is written once until it
    /// is reset again.
    fn reset_queries(&mut self, backend: &Self::Backend, query_set: u32, first: u32, count: u32);
    /// Begins a query, inside the pass in which it ends; one of a kind at a time.
    fn begin_query(&mut self, backend: &Self::Backend, query: NativeQuery, query_set: u32, index: u32);
    /// Ends it.
    fn end_query(&mut self, backend: &Self::Backend, query: NativeQuery, query_set: u32, index: u32);
    /// Copies the results of queries, all of which were written before, to a [`MemoryClass::Readback`] buffer: one after the
    /// other, each as words of 64 bits, one for each statistic. A copy like any other. Called outside passes.
    fn copy_queries(
        &mut self,
        backend: &Self::Backend,
        query_set: u32,
        first: u32,
        count: u32,
        buffer: u32,
        offset: u64,
    );

    /// Writes the GPU clock when all earlier commands are done. Called outside passes.
    fn write_timestamp(&mut self, backend: &Self::Backend, query_set: u32, index: u32);
}
