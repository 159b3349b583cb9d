//! The vocabulary of synchronization: stages, access, layouts, and what a declared use means in them.
//!
//! A pass says *how* it uses a resource ([`BufferUse`], [`TextureUse`]); this file alone says which stages, access
//! and layout that is. Backends translate the result bit by bit and decide nothing.

use crate::handle::{Buffer, Texture};
use crate::types::{ShaderStages, TextureAspect};

bitflags::bitflags! {
    /// Where in the pipeline an access happens. The names follow Vulkan's synchronization2 stages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Stages: u16 {
        /// Reading indirect arguments.
        const DRAW_INDIRECT = 1 << 0;
        /// Fetching indices.
        const INDEX_INPUT = 1 << 1;
        /// Fetching vertex attributes.
        const VERTEX_INPUT = 1 << 2;
        /// Vertex shaders.
        const VERTEX_SHADER = 1 << 3;
        /// Fragment shaders.
        const FRAGMENT_SHADER = 1 << 4;
        /// Depth and stencil tests before the fragment shader; loads and clears of depth and stencil.
        const EARLY_TESTS = 1 << 5;
        /// Depth and stencil tests after the fragment shader; stores of depth and stencil.
        const LATE_TESTS = 1 << 6;
        /// Blending, and loads, clears and stores of color attachments.
        const COLOR_OUTPUT = 1 << 7;
        /// Compute shaders.
        const COMPUTE_SHADER = 1 << 8;
        /// Copies, fills and blits.
        const TRANSFER = 1 << 9;
        /// The CPU, after the submission's completion was observed.
        const HOST = 1 << 10;
    }
}

bitflags::bitflags! {
    /// The kind of memory access, in Vulkan's synchronization2 vocabulary.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Access: u16 {
        /// Indirect arguments.
        const INDIRECT_READ = 1 << 0;
        /// Indices.
        const INDEX_READ = 1 << 1;
        /// Vertex attributes.
        const VERTEX_READ = 1 << 2;
        /// Uniform buffers.
        const UNIFORM_READ = 1 << 3;
        /// Sampled textures.
        const SAMPLED_READ = 1 << 4;
        /// Storage buffers and textures.
        const STORAGE_READ = 1 << 5;
        /// Storage buffers and textures.
        const STORAGE_WRITE = 1 << 6;
        /// Color attachments: load and blend.
        const COLOR_READ = 1 << 7;
        /// Color attachments: clear and store.
        const COLOR_WRITE = 1 << 8;
        /// Depth and stencil: load and test.
        const DEPTH_STENCIL_READ = 1 << 9;
        /// Depth and stencil: clear, write and store.
        const DEPTH_STENCIL_WRITE = 1 << 10;
        /// Copy sources.
        const TRANSFER_READ = 1 << 11;
        /// Copy destinations.
        const TRANSFER_WRITE = 1 << 12;
        /// CPU reads.
        const HOST_READ = 1 << 13;
    }
}

impl Access {
    /// The accesses that write.
    pub const WRITES: Access = Access::STORAGE_WRITE
        .union(Access::COLOR_WRITE)
        .union(Access::DEPTH_STENCIL_WRITE)
        .union(Access::TRANSFER_WRITE);

    /// Only the writing part.
    #[inline]
    pub fn writes(self) -> Access {
        self & Access::WRITES
    }

    /// Only the reading part.
    #[inline]
    pub fn reads(self) -> Access {
        self - Access::WRITES
    }
}

/// Stages with the accesses they make: one side of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scope {
    /// Where.
    pub stages: Stages,
    /// What.
    pub access: Access,
}

impl Scope {
    /// No stage and no access.
    pub const NONE: Scope = Scope { stages: Stages::empty(), access: Access::empty() };

    /// The scope of these stages and accesses.
    pub const fn new(stages: Stages, access: Access) -> Self {
        Self { stages, access }
    }

    /// Whether every stage and access of `other` is in this scope.
    #[inline]
    pub fn contains(self, other: Scope) -> bool {
        self.stages.contains(other.stages) && self.access.contains(other.access)
    }

    /// Both scopes in one.
    #[inline]
    pub fn union(self, other: Scope) -> Scope {
        Scope { stages: self.stages | other.stages, access: self.access | other.access }
    }
}

/// How a texture's memory is arranged for a use. A backend without layouts ignores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Layout {
    /// The contents are not needed.
    #[default]
    Undefined,
    /// Storage access.
    General,
    /// A color attachment.
    ColorAttachment,
    /// A depth or stencil attachment that is written.
    DepthStencilAttachment,
    /// A depth or stencil attachment that is only tested, and may be sampled in the same pass.
    DepthStencilReadOnly,
    /// Sampled in shaders.
    ShaderRead,
    /// The source of a copy.
    CopySrc,
    /// The destination of a copy.
    CopyDst,
    /// Ready for the presentation engine.
    Present,
}

/// What a use does to the contents that it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads them; they must be defined.
    Read,
    /// Reads and changes them; they must be defined (an attachment that loads).
    ReadWrite,
    /// Changes some and keeps the rest; they need not be defined (storage writes, partial copies).
    Write,
    /// Replaces all of the range; what was there is lost (clears, discards, whole copies).
    Overwrite,
}

impl Effect {
    /// Whether the use changes contents.
    #[inline]
    pub fn writes(self) -> bool {
        self != Effect::Read
    }

    /// Whether earlier contents can be seen by the use or survive it.
    #[inline]
    pub fn keeps(self) -> bool {
        self != Effect::Overwrite
    }
}

/// How a pass uses a range of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BufferUse {
    /// Indirect draw or dispatch arguments.
    Indirect,
    /// Indices.
    Index,
    /// Vertex attributes.
    Vertex,
    /// A uniform binding in these stages.
    Uniform(ShaderStages),
    /// A read-only storage binding in these stages.
    StorageRead(ShaderStages),
    /// A read-write storage binding in these stages.
    StorageWrite(ShaderStages),
    /// The source of a copy.
    CopySrc,
    /// The destination of a copy that fills the whole declared range.
    CopyDst,
    /// Read by the CPU after completion.
    HostRead,
}

/// How a pass uses a range of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextureUse {
    /// A sampled binding in these stages.
    Sampled(ShaderStages),
    /// A read-only storage binding in these stages.
    StorageRead(ShaderStages),
    /// A write-only or read-write storage binding in these stages.
    StorageWrite(ShaderStages),
    /// A color attachment; `load` keeps the contents, otherwise they are cleared or undefined at first.
    Color {
        /// Whether earlier contents are loaded.
        load: bool,
    },
    /// A depth or stencil attachment that is written; `load` as for color.
    DepthStencil {
        /// Whether earlier contents are loaded.
        load: bool,
    },
    /// A depth or stencil attachment that is only tested; also sampled in these stages, if any.
    DepthStencilReadOnly(ShaderStages),
    /// The source of a copy.
    CopySrc,
    /// The destination of a copy; `whole` when it fills the entire declared range.
    CopyDst {
        /// Whether nothing of the earlier contents remains.
        whole: bool,
    },
    /// Handed to the presentation engine.
    Present,
}

#[inline]
fn shader_stages(stages: ShaderStages) -> Stages {
    let mut out = Stages::empty();
    if stages.contains(ShaderStages::VERTEX) {
        out |= Stages::VERTEX_SHADER;
    }
    if stages.contains(ShaderStages::FRAGMENT) {
        out |= Stages::FRAGMENT_SHADER;
    }
    if stages.contains(ShaderStages::COMPUTE) {
        out |= Stages::COMPUTE_SHADER;
    }
    out
}

const DEPTH_STAGES: Stages = Stages::EARLY_TESTS.union(Stages::LATE_TESTS);

impl BufferUse {
    /// The stages and accesses of this use.
    #[inline]
    pub fn scope(self) -> Scope {
        match self {
            BufferUse::Indirect => Scope::new(Stages::DRAW_INDIRECT, Access::INDIRECT_READ),
            BufferUse::Index => Scope::new(Stages::INDEX_INPUT, Access::INDEX_READ),
            BufferUse::Vertex => Scope::new(Stages::VERTEX_INPUT, Access::VERTEX_READ),
            BufferUse::Uniform(s) => Scope::new(shader_stages(s), Access::UNIFORM_READ),
            BufferUse::StorageRead(s) => Scope::new(shader_stages(s), Access::STORAGE_READ),
            BufferUse::StorageWrite(s) => {
                Scope::new(shader_stages(s), Access::STORAGE_READ | Access::STORAGE_WRITE)
            }
            BufferUse::CopySrc => Scope::new(Stages::TRANSFER, Access::TRANSFER_READ),
            BufferUse::CopyDst => Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE),
            BufferUse::HostRead => Scope::new(Stages::HOST, Access::HOST_READ),
        }
    }

    /// What the use does to contents.
    #[inline]
    pub fn effect(self) -> Effect {
        match self {
            BufferUse::StorageWrite(_) => Effect::Write,
            BufferUse::CopyDst => Effect::Overwrite,
            _ => Effect::Read,
        }
    }
}

impl TextureUse {
    /// The stages and accesses of this use.
    #[inline]
    pub fn scope(self) -> Scope {
        match self {
            TextureUse::Sampled(s) => Scope::new(shader_stages(s), Access::SAMPLED_READ),
            TextureUse::StorageRead(s) => Scope::new(shader_stages(s), Access::STORAGE_READ),
            TextureUse::StorageWrite(s) => {
                Scope::new(shader_stages(s), Access::STORAGE_READ | Access::STORAGE_WRITE)
            }
            // Reads are in the scope even after a clear: a pipeline of the pass may blend, and the pass is
            // declared before its pipelines are known.
            TextureUse::Color { .. } => {
                Scope::new(Stages::COLOR_OUTPUT, Access::COLOR_READ | Access::COLOR_WRITE)
            }
            TextureUse::DepthStencil { .. } => {
                Scope::new(DEPTH_STAGES, Access::DEPTH_STENCIL_READ | Access::DEPTH_STENCIL_WRITE)
            }
            TextureUse::DepthStencilReadOnly(s) => {
                let sampled = if s.is_empty() { Access::empty() } else { Access::SAMPLED_READ };
                Scope::new(DEPTH_STAGES | shader_stages(s), Access::DEPTH_STENCIL_READ | sampled)
            }
            TextureUse::CopySrc => Scope::new(Stages::TRANSFER, Access::TRANSFER_READ),
            TextureUse::CopyDst { .. } => Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE),
            TextureUse::Present => Scope::NONE,
        }
    }

    /// The layout of this use on these aspects. Depth and stencil are always sampled in the read-only attachment
    /// layout, so that one descriptor serves whether or not the pass also tests against them.
    #[inline]
    pub fn layout(self, aspects: Aspects) -> Layout {
        match self {
            TextureUse::Sampled(_) if aspects.intersects(Aspects::DEPTH | Aspects::STENCIL) => {
                Layout::DepthStencilReadOnly
            }
            TextureUse::Sampled(_) => Layout::ShaderRead,
            TextureUse::StorageRead(_) | TextureUse::StorageWrite(_) => Layout::General,
            TextureUse::Color { .. } => Layout::ColorAttachment,
            TextureUse::DepthStencil { .. } => Layout::DepthStencilAttachment,
            TextureUse::DepthStencilReadOnly(_) => Layout::DepthStencilReadOnly,
            TextureUse::CopySrc => Layout::CopySrc,
            TextureUse::CopyDst { .. } => Layout::CopyDst,
            TextureUse::Present => Layout::Present,
        }
    }

    /// What the use does to contents.
    #[inline]
    pub fn effect(self) -> Effect {
        match self {
            TextureUse::StorageWrite(_) => Effect::Write,
            TextureUse::Color { load } | TextureUse::DepthStencil { load } => {
                if load {
                    Effect::ReadWrite
                } else {
                    Effect::Overwrite
                }
            }
            TextureUse::CopyDst { whole } => {
                if whole {
                    Effect::Overwrite
                } else {
                    Effect::Write
                }
            }
            _ => Effect::Read,
        }
    }
}

bitflags::bitflags! {
    /// The aspects of a texture that carry state of their own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Aspects: u8 {
        /// Color.
        const COLOR = 1;
        /// Depth.
        const DEPTH = 2;
        /// Stencil.
        const STENCIL = 4;
    }
}

impl Aspects {
    /// The aspects of `format` that `aspect` selects.
    pub fn of(format: crate::types::TextureFormat, aspect: TextureAspect) -> Aspects {
        let mut all = Aspects::empty();
        if format.has_depth_aspect() {
            all |= Aspects::DEPTH;
        }
        if format.has_stencil_aspect() {
            all |= Aspects::STENCIL;
        }
        if all.is_empty() {
            all = Aspects::COLOR;
        }
        match aspect {
            TextureAspect::DepthOnly => all & Aspects::DEPTH,
            TextureAspect::StencilOnly => all & Aspects::STENCIL,
            _ => all,
        }
    }
}

/// A range of a texture's subresources. Counts are exact: no "the rest" values are left at this level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextureRange {
    /// The aspects.
    pub aspects: Aspects,
    /// The first mip.
    pub base_mip: u32,
    /// How many mips.
    pub mips: u32,
    /// The first array layer.
    pub base_layer: u32,
    /// How many array layers.
    pub layers: u32,
}

impl TextureRange {
    /// Whether the two ranges share a subresource.
    pub fn overlaps(&self, other: &TextureRange) -> bool {
        self.aspects.intersects(other.aspects)
            && self.base_mip < other.mip_end()
            && other.base_mip < self.mip_end()
            && self.base_layer < other.layer_end()
            && other.base_layer < self.layer_end()
    }

    /// Whether `other` lies in this range.
    #[inline]
    pub fn contains(&self, other: &TextureRange) -> bool {
        self.aspects.contains(other.aspects)
            && self.base_mip <= other.base_mip
            && other.mip_end() <= self.mip_end()
            && self.base_layer <= other.base_layer
            && other.layer_end() <= self.layer_end()
    }

    // Declared ranges come from outside and may reach anywhere; the planner refuses those that leave the texture.
    fn mip_end(&self) -> u32 {
        self.base_mip.saturating_add(self.mips)
    }

    fn layer_end(&self) -> u32 {
        self.base_layer.saturating_add(self.layers)
    }
}

/// One declared use of one range of one resource in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceUse {
    /// A buffer's byte range.
    Buffer {
        /// Which buffer.
        buffer: Buffer,
        /// The first byte.
        offset: u64,
        /// How many bytes; never "the rest".
        size: u64,
        /// How.
        usage: BufferUse,
    },
    /// A texture's subresource range.
    Texture {
        /// Which texture.
        texture: Texture,
        /// Which part.
        range: TextureRange,
        /// How.
        usage: TextureUse,
    },
}

impl ResourceUse {
    /// The stages and accesses of this use.
    #[inline]
    pub fn scope(&self) -> Scope {
        match self {
            ResourceUse::Buffer { usage, .. } => usage.scope(),
            ResourceUse::Texture { usage, .. } => usage.scope(),
        }
    }

    /// What the use does to contents.
    #[inline]
    pub fn effect(&self) -> Effect {
        match self {
            ResourceUse::Buffer { usage, .. } => usage.effect(),
            ResourceUse::Texture { usage, .. } => usage.effect(),
        }
    }
}
