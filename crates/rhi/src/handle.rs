//! Typed generational handles: eight bytes that name a resource and can never name another one.
//!
//! A handle packs the device's tag, the slot and the slot's generation. Generations do not wrap: a slot whose
//! generations are used up retires for good, and device tags are never given out twice, so a stale or foreign
//! handle is always recognized. `Option<Handle>` is eight bytes too.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU64;

const SLOT_BITS: u32 = 22;
const GENERATION_BITS: u32 = 26;

/// The most slots a kind can have on one device.
pub const MAX_SLOTS: u32 = (1 << SLOT_BITS) - 1;
/// The last generation of a slot; after it the slot retires.
pub const MAX_GENERATION: u32 = (1 << GENERATION_BITS) - 1;

/// Which device a handle belongs to. Unique in the process for the process's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceTag(pub(crate) u16);

/// The kinds of resource that handles name.
pub mod kind {
    /// A marker type that names a kind of resource in a handle's type.
    pub trait Kind: Copy + Send + Sync + 'static {
        /// The kind as a value.
        const KIND: super::ResourceKind;
    }
    macro_rules! kinds {
        ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum $name {}
            impl Kind for $name { const KIND: super::ResourceKind = super::ResourceKind::$name; }
        )*};
    }
    kinds!(
        /// A range of GPU memory.
        Buffer,
        /// An image with mips and layers.
        Texture,
        /// A typed selection of a texture's mips, layers and aspects.
        TextureView,
        /// How a texture is filtered and addressed.
        Sampler,
        /// The shape of a bind group.
        BindGroupLayout,
        /// An immutable set of bound resources.
        BindGroup,
        /// The bind group layouts and immediates of a pipeline.
        PipelineLayout,
        /// Compiled shader code with its reflection.
        ShaderModule,
        /// A complete raster pipeline.
        RenderPipeline,
        /// A complete compute pipeline.
        ComputePipeline,
        /// A set of queries: of occlusion, timestamps or pipeline statistics.
        QuerySet,
        /// Memory that textures are placed in.
        Heap,
        /// Draws that are recorded once and executed many times.
        CommandBatch,
    );
}

/// The kind of a resource as a value, for errors and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // Each is the kind of the same name in `kind`.
pub enum ResourceKind {
    Buffer,
    Texture,
    TextureView,
    Sampler,
    BindGroupLayout,
    BindGroup,
    PipelineLayout,
    ShaderModule,
    RenderPipeline,
    ComputePipeline,
    QuerySet,
    Heap,
    CommandBatch,
}

impl ResourceKind {
    /// Every kind, in declaration order.
    pub const ALL: [ResourceKind; 13] = [
        ResourceKind::Buffer,
        ResourceKind::Texture,
        ResourceKind::TextureView,
        ResourceKind::Sampler,
        ResourceKind::BindGroupLayout,
        ResourceKind::BindGroup,
        ResourceKind::PipelineLayout,
        ResourceKind::ShaderModule,
        ResourceKind::RenderPipeline,
        ResourceKind::ComputePipeline,
        ResourceKind::QuerySet,
        ResourceKind::Heap,
        ResourceKind::CommandBatch,
    ];

    /// The kind in words, as errors print it.
    pub fn name(self) -> &'static str {
        match self {
            ResourceKind::Buffer => "buffer",
            ResourceKind::Texture => "texture",
            ResourceKind::TextureView => "texture view",
            ResourceKind::Sampler => "sampler",
            ResourceKind::BindGroupLayout => "bind group layout",
            ResourceKind::BindGroup => "bind group",
            ResourceKind::PipelineLayout => "pipeline layout",
            ResourceKind::ShaderModule => "shader module",
            ResourceKind::RenderPipeline => "render pipeline",
            ResourceKind::ComputePipeline => "compute pipeline",
            ResourceKind::QuerySet => "query set",
            ResourceKind::Heap => "heap",
            ResourceKind::CommandBatch => "command batch",
        }
    }
}

impl fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A copyable name of a resource of kind `K`. Costs nothing to copy and keeps nothing alive: see [`crate::Owned`].
pub struct Handle<K> {
    bits: NonZeroU64,
    kind: PhantomData<fn() -> K>,
}

impl<K> Handle<K> {
    pub(crate) fn new(tag: DeviceTag, slot: u32, generation: u32) -> Self {
        debug_assert!(slot <= MAX_SLOTS && generation != 0 && generation <= MAX_GENERATION);
        let bits = (u64::from(tag.0) << (SLOT_BITS + GENERATION_BITS))
            | (u64::from(slot) << GENERATION_BITS)
            | u64::from(generation);
        // The generation is never zero, so the bits are not; the fallback keeps this free of panics.
        Self { bits: NonZeroU64::new(bits).unwrap_or(NonZeroU64::MIN), kind: PhantomData }
    }

    /// The device that made the resource.
    #[inline]
    pub fn device(self) -> DeviceTag {
        DeviceTag((self.bits.get() >> (SLOT_BITS + GENERATION_BITS)) as u16)
    }

    /// The slot in the device's tables. Backends index their parallel tables with it.
    #[inline]
    pub fn slot(self) -> u32 {
        (self.bits.get() >> GENERATION_BITS) as u32 & MAX_SLOTS
    }

    /// Which of the resources that have lived in the slot this one is, counted from one.
    #[inline]
    pub fn generation(self) -> u32 {
        self.bits.get() as u32 & MAX_GENERATION
    }

    /// All of the handle in one number, for keys and for printing.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.bits.get()
    }
}

/// The device, slot and generation in a handle's bits.
#[inline]
pub(crate) fn split(bits: u64) -> (DeviceTag, u32, u32) {
    let device = DeviceTag((bits >> (SLOT_BITS + GENERATION_BITS)) as u16);
    (device, (bits >> GENERATION_BITS) as u32 & MAX_SLOTS, bits as u32 & MAX_GENERATION)
}

impl<K> Clone for Handle<K> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Handle<K> {}
impl<K> PartialEq for Handle<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}
impl<K> Eq for Handle<K> {}
impl<K> PartialOrd for Handle<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Handle<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bits.cmp(&other.bits)
    }
}
impl<K> Hash for Handle<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}
impl<K: kind::Kind> fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{}.{}@{}", K::KIND, self.slot(), self.generation(), self.device().0)
    }
}
impl<K: kind::Kind> fmt::Display for Handle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Names a buffer.
pub type Buffer = Handle<kind::Buffer>;
/// Names a texture.
pub type Texture = Handle<kind::Texture>;
/// Names a texture view.
pub type TextureView = Handle<kind::TextureView>;
/// Names a sampler.
pub type Sampler = Handle<kind::Sampler>;
/// Names a bind group layout.
pub type BindGroupLayout = Handle<kind::BindGroupLayout>;
/// Names a bind group.
pub type BindGroup = Handle<kind::BindGroup>;
/// Names a pipeline layout.
pub type PipelineLayout = Handle<kind::PipelineLayout>;
/// Names a shader module.
pub type ShaderModule = Handle<kind::ShaderModule>;
/// Names a render pipeline.
pub type RenderPipeline = Handle<kind::RenderPipeline>;
/// Names a compute pipeline.
pub type ComputePipeline = Handle<kind::ComputePipeline>;
/// Names a query set.
pub type QuerySet = Handle<kind::QuerySet>;
/// Names memory that textures are placed in.
pub type Heap = Handle<kind::Heap>;
/// Names a command batch.
pub type CommandBatch = Handle<kind::CommandBatch>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_eight_bytes_with_a_niche() {
        assert_eq!(size_of::<Buffer>(), 8);
        assert_eq!(size_of::<Option<Buffer>>(), 8);
    }

    #[test]
    fn the_parts_come_back() {
        for (tag, slot, generation) in [(0, 0, 1), (u16::MAX, MAX_SLOTS, MAX_GENERATION), (7, 1000, 3)] {
            let handle = Buffer::new(DeviceTag(tag), slot, generation);
            assert_eq!((handle.device().0, handle.slot(), handle.generation()), (tag, slot, generation));
        }
    }
}
