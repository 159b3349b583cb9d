//! Plain vocabulary, spelled as WebGPU spells it: formats, usages, fixed state. Re-exported from `wgpu-types`
//! so that a program which also speaks wgpu shares the very same types.

pub use wgpu_types::{
    AddressMode, AstcBlock, AstcChannel, BindGroupLayoutEntry, BindingType, BlendComponent, BlendFactor,
    BlendOperation, BlendState, BufferBindingType, BufferUsages, Color, ColorWrites, CompareFunction,
    CompositeAlphaMode, DepthBiasState, DeviceType, Extent3d, Face, FilterMode, FrontFace, IndexFormat,
    Origin3d, PipelineStatisticsTypes, PolygonMode, PresentMode, PrimitiveTopology, QueryType,
    SamplerBindingType, SamplerBorderColor, ShaderStages, StencilFaceState, StencilOperation, StencilState,
    StorageTextureAccess, TextureAspect, TextureDimension, TextureFormat, TextureSampleType, TextureUsages,
    TextureViewDimension, VertexAttribute, VertexFormat, VertexStepMode,
};
