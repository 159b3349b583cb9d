//! Purlin: an explicit GPU device layer and a compiled render graph.
//!
//! This crate is the face: add it, and the crates below come along under short names. With the `vulkan` feature (on by
//! default) [`Device`], [`Graph`] and [`GraphArena`] name the Vulkan backend, so that no type parameter is left to write.
//!
//! - [`rhi`]: the device, resources, passes, services, and the [null backend](rhi::null) for tests.
//! - [`graph`]: the render graph.
//! - `vulkan`: the Vulkan backend.
//! - `wgpu`: the backend on wgpu, with the `wgpu` feature.
//! - `ktx2`: textures from KTX2 files, with the `ktx2` feature.
//! - [`choose`]: for programs that pick among the compiled backends when they start.
//! - [`prewarm`]: pipelines of the last run, compiled before the first frame.
//! - `reload`: shaders that change while the program runs, with the `hot-reload` feature.
#![forbid(unsafe_code)]

pub mod choose;
#[cfg(feature = "ktx2")]
pub mod ktx2;
pub mod prewarm;
#[cfg(feature = "hot-reload")]
pub mod reload;

pub use purlin_graph as graph;
pub use purlin_rhi as rhi;
#[cfg(feature = "vulkan")]
pub use purlin_vulkan as vulkan;
#[cfg(feature = "any-wgpu")]
pub use purlin_wgpu as wgpu;

pub use purlin_graph::{GraphError, TransientBuffer, TransientTexture, bind};
pub use purlin_rhi::{
    Acquired, AdapterSelector, BindGroup, BindGroupDesc, BindGroupEntry, BindGroupLayout,
    BindGroupLayoutDesc, Buffer, BufferDesc, BufferSlice, ClearValue, ColorTarget, ComputePipeline,
    ComputePipelineDesc, Contents, DepthStencilDesc, DeviceRequest, Error, Features, Limits, LoadOp, Owned,
    PipelineLayoutDesc, PrimitiveDesc, RenderPipeline, RenderPipelineDesc, Result, Sampler, SamplerDesc,
    ShaderStageDesc, Skip, StoreOp, SubmissionToken, Surface, SurfaceConfig, SurfaceFrame, SurfaceTarget,
    Texture, TextureDesc, TextureViewDesc, Validation, VertexBufferLayout, kind, types,
};

/// A device of the usual backend.
#[cfg(feature = "vulkan")]
pub type Device = purlin_rhi::Device<purlin_vulkan::Vulkan>;
/// A render graph for the usual backend.
#[cfg(feature = "vulkan")]
pub type Graph<'f> = purlin_graph::Graph<'f, purlin_vulkan::Vulkan>;
/// What a render graph keeps from frame to frame, for the usual backend.
#[cfg(feature = "vulkan")]
pub type GraphArena = purlin_graph::GraphArena<purlin_vulkan::Vulkan>;

/// The README's code, compiled.
#[cfg(all(doctest, feature = "vulkan"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
