//! Descriptions of resources: plain data, borrowed, with constructors for the common cases.

use crate::handle::{BindGroupLayout, Buffer, PipelineLayout, Sampler, ShaderModule, Texture, TextureView};
use crate::types::{
    AddressMode, BindGroupLayoutEntry, BlendState, BufferUsages, ColorWrites, CompareFunction,
    DepthBiasState, Extent3d, Face, FilterMode, FrontFace, IndexFormat, PolygonMode, PrimitiveTopology,
    QueryType, SamplerBorderColor, StencilState, TextureAspect, TextureDimension, TextureFormat,
    TextureUsages, TextureViewDimension, VertexAttribute, VertexStepMode,
};

/// How a resource's contents change, and so who keeps them in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Contents {
    /// GPU work may write it. The ledger tracks it, and every pass that uses it declares the use.
    #[default]
    Tracked,
    /// Only uploads write it, and the device orders them against every use. Passes need not declare it and pay
    /// nothing for it. Storage-write bindings and attachments of such a resource are errors, and so is a command that
    /// reads one before its first upload: of a texture, before an upload to each mip and layer that it shows; of a buffer,
    /// before any. Bytes of a buffer that no upload has reached are undefined.
    Uploaded,
}

/// Where a buffer's memory lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MemoryClass {
    /// Fast for the GPU; the CPU reaches it by uploads and readbacks.
    #[default]
    Device,
    /// Written by the CPU, read by the GPU: staging and per-frame data.
    Upload,
    /// Written by the GPU, read by the CPU.
    Readback,
}

/// Describes a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Bytes. Zero is legal: such a buffer binds nowhere but as an empty vertex or index buffer.
    pub size: u64,
    /// What the buffer may be used for. `MAP_*` bits are refused: the services own mapped memory.
    pub usage: BufferUsages,
    /// Who writes it.
    pub contents: Contents,
}

impl<'a> BufferDesc<'a> {
    /// A buffer that GPU work may write.
    pub const fn new(label: &'a str, size: u64, usage: BufferUsages) -> Self {
        Self { label, size, usage, contents: Contents::Tracked }
    }

    /// A buffer that only uploads write.
    pub const fn uploaded(label: &'a str, size: u64, usage: BufferUsages) -> Self {
        Self { label, size, usage: usage.union(BufferUsages::COPY_DST), contents: Contents::Uploaded }
    }
}

/// Which memory a heap is made of: the backend's own number. Textures whose class is that of a heap can lie in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeapClass(pub u32);

/// What a texture takes in a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryNeeds {
    /// Bytes.
    pub size: u64,
    /// What its offset is a multiple of; a power of two.
    pub alignment: u64,
    /// Which heaps it can lie in.
    pub class: HeapClass,
}

/// Describes a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapDesc<'a> {
    /// The name in errors and reports.
    pub label: &'a str,
    /// Bytes.
    pub size: u64,
    /// The largest alignment of what will lie there; a power of two.
    pub alignment: u64,
    /// Which memory.
    pub class: HeapClass,
}

/// Describes a set of queries.
#[derive(Debug, Clone, Copy)]
pub struct QuerySetDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// What they find out.
    pub ty: QueryType,
    /// How many: 1 to 4096.
    pub count: u32,
}

/// Describes a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Texels of mip zero; `depth_or_array_layers` counts layers of a 2D texture.
    pub size: Extent3d,
    /// Mips; at least one and at most [`full_mip_count`].
    pub mips: u32,
    /// Samples a texel; one unless multisampled.
    pub samples: u32,
    /// One, two or three dimensions.
    pub dimension: TextureDimension,
    /// The texel format.
    pub format: TextureFormat,
    /// What the texture may be used for.
    pub usage: TextureUsages,
    /// Who writes it.
    pub contents: Contents,
    /// Formats, besides its own, that views may have: the sRGB or linear sibling.
    pub view_formats: &'a [TextureFormat],
}

impl<'a> TextureDesc<'a> {
    /// A 2D texture with one mip and one layer that GPU work may write.
    pub const fn d2(
        label: &'a str,
        width: u32,
        height: u32,
        format: TextureFormat,
        usage: TextureUsages,
    ) -> Self {
        Self {
            label,
            size: Extent3d { width, height, depth_or_array_layers: 1 },
            mips: 1,
            samples: 1,
            dimension: TextureDimension::D2,
            format,
            usage,
            contents: Contents::Tracked,
            view_formats: &[],
        }
    }

    /// A sampled 2D texture that only uploads write.
    pub const fn uploaded(label: &'a str, width: u32, height: u32, mips: u32, format: TextureFormat) -> Self {
        Self {
            mips,
            contents: Contents::Uploaded,
            ..Self::d2(
                label,
                width,
                height,
                format,
                TextureUsages::TEXTURE_BINDING.union(TextureUsages::COPY_DST),
            )
        }
    }

    /// The same with this many mips.
    pub const fn with_mips(self, mips: u32) -> Self {
        Self { mips, ..self }
    }

    /// The texels of a mip: halved and rounded down for each level, never below one.
    pub fn mip_size(&self, mip: u32) -> Extent3d {
        mip_size(self.size, self.dimension, mip)
    }

    /// Array layers: one for a volume.
    pub fn layers(&self) -> u32 {
        match self.dimension {
            TextureDimension::D3 => 1,
            _ => self.size.depth_or_array_layers,
        }
    }
}

/// The texels of a mip: halved and rounded down for each level, never below one. Layers do not shrink; depth does.
pub fn mip_size(size: Extent3d, dimension: TextureDimension, mip: u32) -> Extent3d {
    let shrink = |n: u32| n.checked_shr(mip).unwrap_or(0).max(1);
    Extent3d {
        width: shrink(size.width),
        height: if dimension == TextureDimension::D1 { size.height } else { shrink(size.height) },
        depth_or_array_layers: if dimension == TextureDimension::D3 {
            shrink(size.depth_or_array_layers)
        } else {
            size.depth_or_array_layers
        },
    }
}

/// The most mips that a texture of this size can have: down to one texel on the longest side. Depth counts for
/// volumes only, layers never do, and a one-dimensional texture has one mip.
pub fn full_mip_count(size: Extent3d, dimension: TextureDimension) -> u32 {
    let longest = match dimension {
        TextureDimension::D1 => return 1,
        TextureDimension::D2 => size.width.max(size.height),
        TextureDimension::D3 => size.width.max(size.height).max(size.depth_or_array_layers),
    };
    32 - longest.max(1).leading_zeros()
}

/// Describes a view of a texture. Zero counts mean "the rest".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextureViewDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// The view's format; the texture's own when `None`.
    pub format: Option<TextureFormat>,
    /// The view's dimension; derived from the texture when `None` (2D, or 2D array when it has several layers).
    pub dimension: Option<TextureViewDimension>,
    /// Which aspects.
    pub aspect: TextureAspect,
    /// The first mip.
    pub base_mip: u32,
    /// How many mips; zero for the rest.
    pub mips: u32,
    /// The first layer.
    pub base_layer: u32,
    /// How many layers; zero for the rest.
    pub layers: u32,
}

/// Describes a sampler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplerDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Addressing in u, v and w.
    pub address: [AddressMode; 3],
    /// Filtering when enlarged.
    pub mag_filter: FilterMode,
    /// Filtering when shrunk.
    pub min_filter: FilterMode,
    /// Filtering between mips.
    pub mipmap_filter: FilterMode,
    /// The least level of detail.
    pub lod_min: f32,
    /// The greatest level of detail.
    pub lod_max: f32,
    /// Makes it a comparison sampler.
    pub compare: Option<CompareFunction>,
    /// The most samples of an anisotropic filter; one turns it off. Needs all filters linear when above one.
    pub anisotropy: u16,
    /// What lies outside of the texture on axes with [`AddressMode::ClampToBorder`], which needs
    /// [`Features::ADDRESS_MODE_CLAMP_TO_BORDER`](crate::Features::ADDRESS_MODE_CLAMP_TO_BORDER).
    pub border: SamplerBorderColor,
}

impl<'a> SamplerDesc<'a> {
    /// Trilinear and clamped to the edge.
    pub const fn linear(label: &'a str) -> Self {
        Self {
            label,
            address: [AddressMode::ClampToEdge; 3],
            mag_filter: FilterMode::Linear,
            min_filter: FilterMode::Linear,
            mipmap_filter: FilterMode::Linear,
            lod_min: 0.0,
            lod_max: 32.0,
            compare: None,
            anisotropy: 1,
            border: SamplerBorderColor::TransparentBlack,
        }
    }

    /// Unfiltered and clamped to the edge.
    pub const fn nearest(label: &'a str) -> Self {
        Self {
            mag_filter: FilterMode::Nearest,
            min_filter: FilterMode::Nearest,
            mipmap_filter: FilterMode::Nearest,
            ..Self::linear(label)
        }
    }

    /// The same with one addressing mode for all axes.
    pub const fn with_address(self, mode: AddressMode) -> Self {
        Self { address: [mode; 3], ..self }
    }
}

/// Describes the shape of a bind group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BindGroupLayoutDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// One entry for each binding number, in any order, without repeats.
    pub entries: &'a [BindGroupLayoutEntry],
}

/// What is bound at one binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingResource<'a> {
    /// A byte range of a buffer; `size` of `None` is the rest of the buffer.
    Buffer {
        /// Which buffer.
        buffer: Buffer,
        /// The first byte; a multiple of the layout kind's alignment limit.
        offset: u64,
        /// How many bytes, the dynamic offset not counted.
        size: Option<u64>,
    },
    /// A sampled or storage texture.
    Texture(TextureView),
    /// A sampler.
    Sampler(Sampler),
    /// The sampled textures of an array by index; at most as many as the layout has, which may have holes. The first
    /// must be there: it is what shaders find in the holes and past the end, and the group keeps it alive like the rest.
    TextureArray(&'a [Option<TextureView>]),
    /// The samplers of an array, by the same rules.
    SamplerArray(&'a [Option<Sampler>]),
}

/// One binding of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindGroupEntry<'a> {
    /// The `@binding`.
    pub binding: u32,
    /// What is bound.
    pub resource: BindingResource<'a>,
}

impl<'a> BindGroupEntry<'a> {
    /// Binds all of a buffer.
    pub const fn buffer(binding: u32, buffer: Buffer) -> Self {
        Self { binding, resource: BindingResource::Buffer { buffer, offset: 0, size: None } }
    }

    /// Binds a range of a buffer.
    pub const fn buffer_range(binding: u32, buffer: Buffer, offset: u64, size: u64) -> Self {
        Self { binding, resource: BindingResource::Buffer { buffer, offset, size: Some(size) } }
    }

    /// Binds a texture view.
    pub const fn texture(binding: u32, view: TextureView) -> Self {
        Self { binding, resource: BindingResource::Texture(view) }
    }

    /// Binds a sampler.
    pub const fn sampler(binding: u32, sampler: Sampler) -> Self {
        Self { binding, resource: BindingResource::Sampler(sampler) }
    }

    /// Binds an array of texture views, with holes where there is none; see [`BindingResource::TextureArray`].
    pub const fn texture_array(binding: u32, views: &'a [Option<TextureView>]) -> Self {
        Self { binding, resource: BindingResource::TextureArray(views) }
    }

    /// Binds an array of samplers, with holes where there is none; see [`BindingResource::SamplerArray`].
    pub const fn sampler_array(binding: u32, samplers: &'a [Option<Sampler>]) -> Self {
        Self { binding, resource: BindingResource::SamplerArray(samplers) }
    }
}

/// Describes a bind group: an immutable snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BindGroupDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// The shape.
    pub layout: BindGroupLayout,
    /// Exactly the layout's bindings, in any order.
    pub entries: &'a [BindGroupEntry<'a>],
}

/// Describes a pipeline layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PipelineLayoutDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// The group layouts by group number; by convention frame, pass, material, draw.
    pub groups: &'a [BindGroupLayout],
    /// Bytes of immediates, a multiple of four and at most the limit.
    pub immediate_size: u32,
}

/// One vertex buffer of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VertexBufferLayout<'a> {
    /// Bytes from one element to the next; zero repeats the first.
    pub stride: u64,
    /// Whether elements advance with the vertex or the instance.
    pub step: VertexStepMode,
    /// The attributes in each element.
    pub attributes: &'a [VertexAttribute],
}

/// Input assembly and rasterization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PrimitiveDesc {
    /// How vertices form primitives.
    pub topology: PrimitiveTopology,
    /// The index format of strips, whose largest value restarts them; `None` for lists.
    pub strip_index_format: Option<IndexFormat>,
    /// Which winding is the front, as seen with clip space Y up.
    pub front_face: FrontFace,
    /// Which faces are dropped.
    pub cull: Option<Face>,
    /// Filled, or lines (capability).
    pub polygon_mode: PolygonMode,
    /// Whether depth is clamped instead of clipped (capability).
    pub unclipped_depth: bool,
}

impl Default for PrimitiveDesc {
    fn default() -> Self {
        Self {
            topology: PrimitiveTopology::TriangleList,
            strip_index_format: None,
            front_face: FrontFace::Ccw,
            cull: None,
            polygon_mode: PolygonMode::Fill,
            unclipped_depth: false,
        }
    }
}

/// Depth and stencil tests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DepthStencilDesc {
    /// The attachment's format.
    pub format: TextureFormat,
    /// Whether depth is written.
    pub depth_write: bool,
    /// The depth comparison.
    pub depth_compare: CompareFunction,
    /// The stencil test.
    pub stencil: StencilState,
    /// The depth bias; only for triangles.
    pub bias: DepthBiasState,
}

impl DepthStencilDesc {
    /// A depth test without stencil and bias.
    pub fn depth(format: TextureFormat, write: bool, compare: CompareFunction) -> Self {
        Self {
            format,
            depth_write: write,
            depth_compare: compare,
            stencil: StencilState::default(),
            bias: DepthBiasState::default(),
        }
    }
}

/// One color target of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColorTarget {
    /// The attachment's format.
    pub format: TextureFormat,
    /// How the shader's output meets what is there; `None` replaces it.
    pub blend: Option<BlendState>,
    /// Which channels are written.
    pub write_mask: ColorWrites,
}

impl From<TextureFormat> for ColorTarget {
    fn from(format: TextureFormat) -> Self {
        Self { format, blend: None, write_mask: ColorWrites::ALL }
    }
}

/// A shader entry point of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderStageDesc<'a> {
    /// The module.
    pub module: ShaderModule,
    /// The entry point's name.
    pub entry: &'a str,
}

/// Samples and their mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MultisampleDesc {
    /// Samples a pixel.
    pub count: u32,
    /// Which samples are written.
    pub mask: u32,
    /// Whether the first output's alpha makes a sample mask.
    pub alpha_to_coverage: bool,
}

impl Default for MultisampleDesc {
    fn default() -> Self {
        Self { count: 1, mask: !0, alpha_to_coverage: false }
    }
}

/// Describes a raster pipeline, all of its state fixed.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderPipelineDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Group layouts and immediates.
    pub layout: PipelineLayout,
    /// The vertex stage.
    pub vertex: ShaderStageDesc<'a>,
    /// The fragment stage; `None` writes only depth and stencil.
    pub fragment: Option<ShaderStageDesc<'a>>,
    /// The vertex buffers by slot.
    pub vertex_buffers: &'a [VertexBufferLayout<'a>],
    /// Assembly and rasterization.
    pub primitive: PrimitiveDesc,
    /// Depth and stencil; `None` when the passes have no such attachment.
    pub depth_stencil: Option<DepthStencilDesc>,
    /// Color targets by attachment index; `None` leaves a gap.
    pub targets: &'a [Option<ColorTarget>],
    /// Multisampling.
    pub multisample: MultisampleDesc,
}

/// Describes a compute pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputePipelineDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Group layouts and immediates.
    pub layout: PipelineLayout,
    /// The compute stage.
    pub compute: ShaderStageDesc<'a>,
}

/// A byte range of a buffer, as vertex, index and indirect binding points take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferSlice {
    /// Which buffer.
    pub buffer: Buffer,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
}

/// A place in a texture that a copy begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexturePlace {
    /// Which texture.
    pub texture: Texture,
    /// The mip.
    pub mip: u32,
    /// The first texel, and the first layer (or slice of a volume) in `z`.
    pub origin: crate::types::Origin3d,
    /// Which aspect; a copy names exactly one.
    pub aspect: TextureAspect,
}

impl TexturePlace {
    /// The first texel of a mip.
    pub const fn mip(texture: Texture, mip: u32) -> Self {
        Self { texture, mip, origin: crate::types::Origin3d::ZERO, aspect: TextureAspect::All }
    }
}

/// How texel rows lie in a buffer or a byte slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelLayout {
    /// The first byte.
    pub offset: u64,
    /// Bytes from one row of texel blocks to the next.
    pub bytes_per_row: u32,
    /// Rows of texel blocks from one layer or slice to the next.
    pub rows_per_image: u32,
}
