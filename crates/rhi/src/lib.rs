//! Purlin's rendering hardware interface.
//!
//! The RHI knows hardware and nothing above it: a device, its resources, the ledger of who wrote what, the planner
//! that turns declared uses into barriers, recorders that validate each command once, and the services that every
//! renderer needs. What it does not have: a graph (see `purlin-graph`), materials, scenes, and opinions.
//!
//! # The life of a frame
//! 1. [`Device::request`] opens a backend once; everything is created through [`Device`] and owned by [`Owned`].
//! 2. Uploads ([`Device::write_buffer`], [`Device::write_texture`]) copy bytes on the call and travel with the next
//!    recording. Per-frame data goes straight to mapped memory ([`Device::push_frame_data`]).
//! 3. [`Device::record`] begins a recording. Each pass declares its uses of tracked resources; the planner works out
//!    the barriers from the ledger; the body issues validated commands that the backend records natively at once.
//! 4. [`Recorder::submit`] hands everything over and answers a [`SubmissionToken`]. Only now the ledger changes.
//! 5. Dropped owners retire when the GPU and all dependents are done. [`Device::read`] delivers readbacks.
//!
//! ```
//! use purlin_rhi::{null::Null, types::BufferUsages, BufferDesc, BufferSlice, Device, DeviceRequest};
//!
//! # pollster::block_on(async {
//! let mut device = Device::<Null>::request(&DeviceRequest::default()).await?;
//! let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
//! let source = device.create_buffer(&BufferDesc::new("source", 16, usage))?;
//! let target = device.create_buffer(&BufferDesc::new("target", 16, usage))?;
//! device.write_buffer(*source, 0, &[7; 16])?;
//!
//! let mut recorder = device.record("copy")?;
//! recorder.copy_buffer(BufferSlice { buffer: *source, offset: 0, size: 16 }, *target, 0)?;
//! let ticket = recorder.read_buffer(BufferSlice { buffer: *target, offset: 0, size: 16 })?;
//! let token = recorder.submit()?;
//!
//! assert!(device.wait(token, std::time::Duration::from_secs(1))?);
//! assert_eq!(device.read_vec(&ticket)?.len(), 16);
//! # Ok::<(), purlin_rhi::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Tracked and uploaded contents
//! GPU work may write a resource with [`Contents::Tracked`]: the ledger follows it, and a pass that uses it says so,
//! also for what a bind group holds. Only uploads write one with [`Contents::Uploaded`]: it needs no declaration and
//! costs nothing per pass. Choose the second for meshes, textures and tables.
//!
//! # Errors
//! A call that fails has changed nothing, and says what, where, expected and found. A mistake inside a pass body is
//! answered at the pass's end; the recording cannot be submitted after it.
#![forbid(unsafe_code)]

pub mod backend;
mod capability;
pub mod caps;
mod clock;
mod create;
pub mod desc;
mod device;
pub mod error;
pub mod formats;
pub mod handle;
mod label;
mod natives;
mod needs;
pub mod null;
mod owned;
pub mod plan;
mod record;
mod records;
mod registry;
pub mod request;
mod residency;
mod sampled;
pub mod services;
pub mod shader;
mod slots;
pub mod surface;
mod table;
pub mod types;
mod written;

pub use backend::{ClearValue, NativeLoad as LoadOp, StoreOp};
pub use capability::{
    AddressModeClampToBorder, Anisotropy, Capability, DepthClipControl, DepthUploads, IndependentBlend,
    IndirectFirstInstance, MultiDrawIndirect, MultiDrawIndirectCount, PipelineStatisticsQuery,
    PolygonModeLine, TextureCompressionAstc, TextureCompressionAstcSliced3d, TextureCompressionBc,
    TextureCompressionBcSliced3d, TextureCompressionEtc2, TimestampQuery, UnalignedBlockExtents,
    VertexStorage,
};
pub use caps::{AdapterInfo, Capabilities, Features, FormatUses, Limits, UnmetLimit};
pub use desc::{
    BindGroupDesc, BindGroupEntry, BindGroupLayoutDesc, BindingResource, BufferDesc, BufferSlice,
    ColorTarget, ComputePipelineDesc, Contents, DepthStencilDesc, HeapClass, HeapDesc, MemoryClass,
    MemoryNeeds, MultisampleDesc, PipelineLayoutDesc, PrimitiveDesc, QuerySetDesc, RenderPipelineDesc,
    SamplerDesc, ShaderStageDesc, TexelLayout, TextureDesc, TexturePlace, TextureViewDesc,
    VertexBufferLayout, full_mip_count, mip_size,
};
pub use device::{Device, MemoryReport, ObjectReport, SubmissionToken};
pub use error::{BackendError, Error, HandleProblem, Result};
pub use formats::{FormatCapabilities, FormatShape};
pub use handle::{
    BindGroup, BindGroupLayout, Buffer, CommandBatch, ComputePipeline, DeviceTag, Handle, Heap,
    PipelineLayout, QuerySet, RenderPipeline, ResourceKind, Sampler, ShaderModule, Texture, TextureView,
    kind,
};
pub use needs::{Axis, FormatRequirement, Unmet};
pub use owned::Owned;
pub use record::{
    AspectOps, BatchRecorder, BatchState, ColorAttachment, CommandBatchDesc, ComputePass, ComputePassDesc,
    DepthStencilAttachment, PassEnd, PassTimestampWrites, Recorder, RenderPass, RenderPassDesc, TransferPass,
};
pub use request::{AdapterSelector, DeviceRequest, ObjectCeilings, StorageCeilings, Validation};
pub use residency::TextureResidency;
pub use services::{
    CacheFileError, CacheLoad, CacheRejection, FrameTime, GpuTime, LivePipeline, LiveUpdate, PassTime,
    PipelineCacheFile, PipelineCounts, PipelineState, PipelineStatistics, PipelineTicket, QueryState,
    QueryTicket, QueryValue, ReadTicket, TimestampPrecision, Timing, UploadState, UploadTicket,
};
pub use surface::{Acquired, Skip, Surface, SurfaceConfig, SurfaceFrame, SurfaceTarget};

/// The guide's code, run.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/lifetime.md")]
    pub struct Lifetime;
    #[doc = include_str!("../../../docs/guide/budgets.md")]
    pub struct Budgets;
    #[doc = include_str!("../../../docs/guide/transfers.md")]
    pub struct Transfers;
    #[doc = include_str!("../../../docs/guide/attachments.md")]
    pub struct Attachments;
    #[doc = include_str!("../../../docs/guide/bindings.md")]
    pub struct Bindings;
    #[doc = include_str!("../../../docs/guide/batches.md")]
    pub struct Batches;
    #[doc = include_str!("../../../docs/guide/pipelines.md")]
    pub struct Pipelines;
    #[doc = include_str!("../../../docs/guide/queries.md")]
    pub struct Queries;
    #[doc = include_str!("../../../docs/guide/windows.md")]
    pub struct Windows;
}
