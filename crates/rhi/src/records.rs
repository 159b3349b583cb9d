//! What the registry keeps of each kind, and the part of it that commands ask.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::backend::{MAX_GROUPS, MAX_VERTEX_BUFFERS, NativeBinding};
use crate::caps::Limits;
use crate::desc::{Contents, HeapClass, MemoryClass};
use crate::handle::BindGroupLayout;
use crate::label::Label;
use crate::plan::{Aspects, BufferUse, Layout, ResourceUse, TextureRange, TextureUse};
use crate::sampled::{Class, Classes};
use crate::services::Content;
use crate::table::Record;
use crate::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, Extent3d, IndexFormat, QueryType,
    ShaderStages, TextureAspect, TextureDimension, TextureFormat, TextureSampleType, TextureUsages,
    TextureViewDimension,
};
use crate::written::Written;

#[derive(Debug)]
pub(crate) struct BufferRecord {
    pub label: Label,
    /// What the backend binds it by.
    pub native: u64,
    /// The size that was asked for.
    pub size: u64,
    /// Rounded up to four bytes; the tail is zeroed by uploads that reach it.
    pub padded_size: u64,
    pub usage: BufferUsages,
    pub contents: Contents,
    pub memory: MemoryClass,
    /// With uploaded contents, and nothing was uploaded yet.
    pub unwritten: bool,
}

#[derive(Debug)]
pub(crate) struct TextureRecord {
    pub label: Label,
    pub size: Extent3d,
    pub mips: u32,
    pub samples: u32,
    pub dimension: TextureDimension,
    pub format: TextureFormat,
    pub usage: TextureUsages,
    pub contents: Contents,
    pub view_formats: SmallVec<[TextureFormat; 2]>,
    /// Which subresources uploads have reached; only with uploaded contents.
    pub written: Written,
    pub bytes: u64,
    /// Whether it is an image of a surface.
    pub surface: bool,
    /// The heap that it lies in, whose bytes are charged instead of its own.
    pub heap: Option<u32>,
}

impl TextureRecord {
    /// Bytes that count against the budget; those of a texture in a heap are the heap's.
    pub(crate) fn charged(&self) -> u64 {
        if self.heap.is_some() { 0 } else { self.bytes }
    }

    pub(crate) fn layers(&self) -> u32 {
        if self.dimension == TextureDimension::D3 { 1 } else { self.size.depth_or_array_layers }
    }

    pub(crate) fn mip_size(&self, mip: u32) -> Extent3d {
        crate::desc::mip_size(self.size, self.dimension, mip)
    }

    pub(crate) fn aspects(&self) -> Aspects {
        Aspects::of(self.format, TextureAspect::All)
    }
}

#[derive(Debug)]
pub(crate) struct HeapRecord {
    pub label: Label,
    pub size: u64,
    pub class: HeapClass,
}

#[derive(Debug)]
pub(crate) struct TextureViewRecord {
    pub label: Label,
    pub texture: u32,
    pub format: TextureFormat,
    pub dimension: TextureViewDimension,
    pub range: TextureRange,
    /// What a shader reads.
    pub sample_type: TextureSampleType,
    /// Texels of the first mip.
    pub extent: Extent3d,
    pub samples: u32,
    pub usage: TextureUsages,
    pub contents: Contents,
    /// Shaders cannot sample it on this device: it shows some of the layers.
    pub partial: bool,
}

#[derive(Debug)]
pub(crate) struct SamplerRecord {
    pub label: Label,
    pub compare: bool,
    pub filtering: bool,
}

#[derive(Debug)]
pub(crate) struct BindGroupLayoutRecord {
    pub label: Label,
    /// Sorted by binding.
    pub entries: Box<[BindGroupLayoutEntry]>,
    /// What each entry that is a buffer asks.
    pub rules: Box<[Option<BufferRule>]>,
    /// What each entry that is a sampled texture takes.
    pub sampled: Box<[Classes]>,
    /// What a group of this layout binds, each element of an array counted.
    pub elements: u32,
    pub dynamic_uniform: u32,
    pub dynamic_storage: u32,
}

/// What a buffer binding asks of a range, with the device's limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferRule {
    pub usage: BufferUsages,
    /// A power of two.
    pub alignment: u32,
    pub least: u64,
    pub most: u64,
    /// Whole words only.
    pub words: bool,
    pub writes: bool,
    pub dynamic: bool,
    /// The use that a pass declares.
    pub used: BufferUse,
}

impl BufferRule {
    /// `None` when the entry is no buffer.
    pub(crate) fn new(entry: &BindGroupLayoutEntry, limits: &Limits) -> Option<Self> {
        let BindingType::Buffer { ty, has_dynamic_offset, min_binding_size } = entry.ty else { return None };
        let stages = entry.visibility;
        let (usage, alignment, most) = match ty {
            BufferBindingType::Uniform => {
                (BufferUsages::UNIFORM, limits.min_uniform_offset_alignment, limits.max_uniform_binding_size)
            }
            BufferBindingType::Storage { .. } => {
                (BufferUsages::STORAGE, limits.min_storage_offset_alignment, limits.max_storage_binding_size)
            }
        };
        Some(Self {
            usage,
            alignment,
            least: min_binding_size.map_or(1, |least| least.get()),
            most,
            words: ty != BufferBindingType::Uniform,
            writes: ty == BufferBindingType::Storage { read_only: false },
            dynamic: has_dynamic_offset,
            used: match ty {
                BufferBindingType::Uniform => BufferUse::Uniform(stages),
                BufferBindingType::Storage { read_only: true } => BufferUse::StorageRead(stages),
                BufferBindingType::Storage { read_only: false } => BufferUse::StorageWrite(stages),
            },
        })
    }

    /// Whether a range of a buffer keeps the rule.
    #[inline]
    pub(crate) fn holds(&self, buffer: &HotBuffer, offset: u64, size: u64) -> bool {
        self.usage.bits() & !buffer.usage == 0
            && offset & u64::from(self.alignment).wrapping_sub(1) == 0
            && offset <= buffer.size
            && size <= buffer.size - offset
            && (self.least..=self.most).contains(&size)
            && (!self.words || size.is_multiple_of(4))
            && (!self.writes || buffer.tracked)
    }
}

/// What a dynamic offset of a group may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DynamicBinding {
    pub binding: u32,
    pub alignment: u32,
    /// The greatest offset at which the bound range still lies in the buffer.
    pub most: u64,
    /// The range's size, for errors.
    pub size: u64,
    pub buffer: u32,
}

impl DynamicBinding {
    /// Alignments are powers of two, so this needs no division.
    #[inline]
    pub(crate) fn is_aligned(&self, offset: u32) -> bool {
        debug_assert!(self.alignment.is_power_of_two());
        offset & self.alignment.wrapping_sub(1) == 0
    }
}

/// A use of a tracked resource by a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrackedBinding {
    /// The use at dynamic offset zero.
    pub usage: ResourceUse,
    pub binding: u32,
    /// Which dynamic offset moves it.
    pub dynamic: Option<u8>,
}

#[derive(Debug)]
pub(crate) struct BindGroupRecord {
    pub label: Label,
    /// What the backend binds it by.
    pub native: u64,
    pub layout: BindGroupLayout,
    pub bindings: Vec<NativeBinding>,
    pub dynamic: Vec<DynamicBinding>,
    /// Uses of tracked resources, which a pass must have declared.
    pub tracked: Vec<TrackedBinding>,
    /// Bindings of uploaded contents that were not all uploaded when the group was made; mostly none.
    pub unwritten: Vec<NativeBinding>,
}

impl BindGroupRecord {
    /// Nothing bound yet.
    pub(crate) fn new(layout: BindGroupLayout) -> Self {
        Self {
            label: Label::default(),
            native: 0,
            layout,
            bindings: Vec::new(),
            dynamic: Vec::new(),
            tracked: Vec::new(),
            unwritten: Vec::new(),
        }
    }

    /// Forgets the group before, and keeps the lists.
    pub(crate) fn clear(&mut self) {
        self.bindings.clear();
        self.dynamic.clear();
        self.tracked.clear();
        self.unwritten.clear();
    }
}

#[derive(Debug)]
pub(crate) struct PipelineLayoutRecord {
    pub label: Label,
    pub groups: ArrayVec<BindGroupLayout, MAX_GROUPS>,
    pub immediate_size: u32,
}

#[derive(Debug)]
pub(crate) struct ShaderModuleRecord {
    pub label: Label,
    pub content: Content,
}

/// What one vertex buffer of a pipeline must hold for a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct VertexNeed {
    pub stride: u64,
    /// One past the last byte that an element's attributes reach.
    pub last_end: u64,
    pub instanced: bool,
    pub used: bool,
}

/// Group layouts and immediates, copied from the pipeline layout so that binding looks in one place.
#[derive(Debug, Clone)]
pub(crate) struct PipelineInterface {
    pub layout: u32,
    pub groups: ArrayVec<BindGroupLayout, MAX_GROUPS>,
    /// Groups that the shaders use, a bit for each.
    pub used_groups: u8,
    pub immediate_size: u32,
    /// Bytes of immediates that the shaders read.
    pub used_immediates: u32,
}

#[derive(Debug)]
pub(crate) struct RenderPipelineRecord {
    pub label: Label,
    pub interface: PipelineInterface,
    pub modules: SmallVec<[u32; 2]>,
    pub vertex_buffers: ArrayVec<VertexNeed, MAX_VERTEX_BUFFERS>,
    pub strip_index_format: Option<IndexFormat>,
    pub colors: ArrayVec<Option<TextureFormat>, 8>,
    pub depth_stencil: Option<TextureFormat>,
    pub writes_depth: bool,
    pub writes_stencil: bool,
    pub samples: u32,
    /// Whether a request owns it.
    pub requested: bool,
}

#[derive(Debug)]
pub(crate) struct ComputePipelineRecord {
    pub label: Label,
    pub interface: PipelineInterface,
    pub module: u32,
    /// Whether a request owns it.
    pub requested: bool,
}

#[derive(Debug)]
pub(crate) struct QuerySetRecord {
    pub label: Label,
    pub ty: QueryType,
    pub count: u32,
}

/// What binding a buffer asks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HotBuffer {
    pub size: u64,
    pub native: u64,
    /// Bits of [`BufferUsages`].
    pub usage: u32,
    pub tracked: bool,
    /// Whether there is something to check in the record: the pass must have declared the use, or an upload must have
    /// come.
    pub guarded: bool,
}

/// What binding a group asks. Its layout lives as long as it, so the slot says which.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HotGroup {
    pub native: u64,
    pub layout: u32,
    /// The first dynamic offset: the greatest value, and the bits that must be zero.
    pub most: u32,
    pub unaligned: u32,
    /// How many dynamic offsets.
    pub offsets: u8,
    /// Whether there is something to check in the record: the pass must have declared the group or what it uses, or
    /// uploads must have come.
    pub guarded: bool,
    /// The latter of the two.
    pub unwritten: bool,
}

impl Record for BufferRecord {
    type Hot = HotBuffer;
    fn label(&self) -> &str {
        &self.label
    }
    fn hot(&self) -> HotBuffer {
        HotBuffer {
            size: self.size,
            native: self.native,
            usage: self.usage.bits(),
            tracked: self.contents == Contents::Tracked,
            guarded: self.contents == Contents::Tracked || self.unwritten,
        }
    }
}

/// Whether uploads have reached all of it.
impl Record for TextureRecord {
    type Hot = bool;
    fn label(&self) -> &str {
        &self.label
    }
    fn hot(&self) -> bool {
        self.written.is_whole()
    }
}

/// What binding a view of uploaded contents asks, to be sampled.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HotView {
    pub texture: u32,
    /// None for what has to be looked at in full.
    pub class: Class,
    /// Where the texture rests.
    pub layout: Layout,
}

impl Record for TextureViewRecord {
    type Hot = HotView;
    fn label(&self) -> &str {
        &self.label
    }
    fn hot(&self) -> HotView {
        let aspects = self.range.aspects;
        let plain = self.contents == Contents::Uploaded
            && self.usage.contains(TextureUsages::TEXTURE_BINDING)
            && aspects.bits().is_power_of_two()
            && !self.partial;
        HotView {
            texture: self.texture,
            class: match plain {
                true => Class::new(self.dimension, self.sample_type, self.samples > 1),
                false => Class::NONE,
            },
            layout: TextureUse::Sampled(ShaderStages::FRAGMENT).layout(aspects),
        }
    }
}

impl Record for BindGroupRecord {
    type Hot = HotGroup;
    fn label(&self) -> &str {
        &self.label
    }
    #[inline]
    fn hot(&self) -> HotGroup {
        let first = self.dynamic.first();
        HotGroup {
            native: self.native,
            layout: self.layout.slot(),
            most: first.map_or(0, |dynamic| dynamic.most.try_into().unwrap_or(u32::MAX)),
            unaligned: first.map_or(0, |dynamic| dynamic.alignment.wrapping_sub(1)),
            offsets: self.dynamic.len() as u8,
            guarded: !self.tracked.is_empty() || !self.unwritten.is_empty(),
            unwritten: !self.unwritten.is_empty(),
        }
    }
}

macro_rules! records {
    ($($record:ident),* $(,)?) => {$(
        impl Record for $record {
            type Hot = ();
            fn label(&self) -> &str { &self.label }
            fn hot(&self) {}
        }
    )*};
}
records!(
    SamplerRecord,
    BindGroupLayoutRecord,
    PipelineLayoutRecord,
    ShaderModuleRecord,
    RenderPipelineRecord,
    ComputePipelineRecord,
    QuerySetRecord,
    HeapRecord,
);
