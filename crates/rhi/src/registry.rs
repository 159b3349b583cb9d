//! One registry per device: the slots of every kind, their records, and the dependencies between them.
//!
//! Dependents retain what they are made of: a view its texture, a group its resources and layout, a pipeline its
//! layout and modules. A destroyed resource retires when nothing retains it and every submission made before the
//! destruction was read has completed; nothing recorded later can name it, so no use has to be noted per draw.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::backend::{Backend, MAX_GROUPS, MAX_VERTEX_BUFFERS, NativeBinding};
use crate::caps::Limits;
use crate::desc::{Contents, HeapClass, MemoryClass};
use crate::handle::{BindGroupLayout, DeviceTag, ResourceKind};
use crate::label::Label;
use crate::plan::{Aspects, BufferUse, Ledger, ResourceUse, TextureRange};
use crate::shader::ShaderSource;
use crate::table::{Held, Record, Table};
use crate::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, Extent3d, IndexFormat, TextureAspect,
    TextureDimension, TextureFormat, TextureSampleType, TextureUsages, TextureViewDimension,
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
    pub source: ShaderSource,
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
}

#[derive(Debug)]
pub(crate) struct ComputePipelineRecord {
    pub label: Label,
    pub interface: PipelineInterface,
    pub module: u32,
}

#[derive(Debug)]
pub(crate) struct QuerySetRecord {
    pub label: Label,
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
    TextureRecord,
    TextureViewRecord,
    SamplerRecord,
    BindGroupLayoutRecord,
    PipelineLayoutRecord,
    ShaderModuleRecord,
    RenderPipelineRecord,
    ComputePipelineRecord,
    QuerySetRecord,
    HeapRecord,
);

#[derive(Debug, Clone, Copy)]
struct Retiring {
    kind: ResourceKind,
    slot: u32,
    /// The submission that must have completed.
    after: u64,
}

#[derive(Debug)]
pub(crate) struct Registry {
    pub buffers: Table<BufferRecord>,
    pub textures: Table<TextureRecord>,
    pub views: Table<TextureViewRecord>,
    pub samplers: Table<SamplerRecord>,
    pub group_layouts: Table<BindGroupLayoutRecord>,
    pub groups: Table<BindGroupRecord>,
    pub pipeline_layouts: Table<PipelineLayoutRecord>,
    pub modules: Table<ShaderModuleRecord>,
    pub render_pipelines: Table<RenderPipelineRecord>,
    pub compute_pipelines: Table<ComputePipelineRecord>,
    pub query_sets: Table<QuerySetRecord>,
    pub heaps: Table<HeapRecord>,
    /// What was destroyed, in the order of the submissions that it waits for.
    retiring: VecDeque<Retiring>,
    /// What only its dependents kept, and they are gone.
    released: Vec<(ResourceKind, u32)>,
    /// How many destroyed resources wait for dependents or leases.
    waiting: usize,
    /// Bytes of buffers and textures, retiring ones included.
    pub memory: u64,
    /// The most that `memory` has been.
    pub memory_peak: u64,
}

/// The kinds in an order in which each comes after all that retain it.
const DEPENDENTS_FIRST: [ResourceKind; 12] = [
    ResourceKind::BindGroup,
    ResourceKind::RenderPipeline,
    ResourceKind::ComputePipeline,
    ResourceKind::PipelineLayout,
    ResourceKind::BindGroupLayout,
    ResourceKind::ShaderModule,
    ResourceKind::Sampler,
    ResourceKind::TextureView,
    ResourceKind::Texture,
    ResourceKind::Buffer,
    ResourceKind::QuerySet,
    ResourceKind::Heap,
];

/// Runs an expression with the table of a kind.
macro_rules! with_table {
    ($self:expr, $kind:expr, $table:ident => $body:expr) => {
        match $kind {
            ResourceKind::Buffer => {
                let $table = &mut $self.buffers;
                $body
            }
            ResourceKind::Texture => {
                let $table = &mut $self.textures;
                $body
            }
            ResourceKind::TextureView => {
                let $table = &mut $self.views;
                $body
            }
            ResourceKind::Sampler => {
                let $table = &mut $self.samplers;
                $body
            }
            ResourceKind::BindGroupLayout => {
                let $table = &mut $self.group_layouts;
                $body
            }
            ResourceKind::BindGroup => {
                let $table = &mut $self.groups;
                $body
            }
            ResourceKind::PipelineLayout => {
                let $table = &mut $self.pipeline_layouts;
                $body
            }
            ResourceKind::ShaderModule => {
                let $table = &mut $self.modules;
                $body
            }
            ResourceKind::RenderPipeline => {
                let $table = &mut $self.render_pipelines;
                $body
            }
            ResourceKind::ComputePipeline => {
                let $table = &mut $self.compute_pipelines;
                $body
            }
            ResourceKind::QuerySet => {
                let $table = &mut $self.query_sets;
                $body
            }
            ResourceKind::Heap => {
                let $table = &mut $self.heaps;
                $body
            }
        }
    };
}

impl Registry {
    pub(crate) fn new(tag: DeviceTag, ceiling: u32) -> Self {
        Self {
            buffers: Table::new(tag, ResourceKind::Buffer, ceiling),
            textures: Table::new(tag, ResourceKind::Texture, ceiling),
            views: Table::new(tag, ResourceKind::TextureView, ceiling),
            samplers: Table::new(tag, ResourceKind::Sampler, ceiling),
            group_layouts: Table::new(tag, ResourceKind::BindGroupLayout, ceiling),
            groups: Table::new(tag, ResourceKind::BindGroup, ceiling),
            pipeline_layouts: Table::new(tag, ResourceKind::PipelineLayout, ceiling),
            modules: Table::new(tag, ResourceKind::ShaderModule, ceiling),
            render_pipelines: Table::new(tag, ResourceKind::RenderPipeline, ceiling),
            compute_pipelines: Table::new(tag, ResourceKind::ComputePipeline, ceiling),
            query_sets: Table::new(tag, ResourceKind::QuerySet, ceiling),
            heaps: Table::new(tag, ResourceKind::Heap, ceiling),
            retiring: VecDeque::new(),
            released: Vec::new(),
            waiting: 0,
            memory: 0,
            memory_peak: 0,
        }
    }

    pub(crate) fn charge(&mut self, bytes: u64) {
        self.memory += bytes;
        self.memory_peak = self.memory_peak.max(self.memory);
    }

    pub(crate) fn retain(&mut self, kind: ResourceKind, slot: u32) {
        with_table!(self, kind, table => table.retain(slot));
    }

    /// Releases a lease whose GPU use ends with submission `ordinal`.
    pub(crate) fn release_after(&mut self, kind: ResourceKind, slot: u32, ordinal: u64) {
        let was_waited_for = with_table!(self, kind, table => {
            table.hold_until(slot, ordinal);
            table.release(slot)
        });
        if was_waited_for {
            self.waiting -= 1;
            self.queue(kind, slot, ordinal);
        }
    }

    /// Notes an upload to a texture.
    pub(crate) fn written(&mut self, texture: u32, range: &TextureRange) {
        if let Some(record) = self.textures.at_mut(texture) {
            record.written.insert(range);
        }
    }

    /// Notes an upload to a buffer.
    #[inline]
    pub(crate) fn buffer_written(&mut self, buffer: u32) {
        if let Some(record) = self.buffers.at_mut(buffer)
            && std::mem::take(&mut record.unwritten)
        {
            self.buffers.refresh(buffer);
        }
    }

    /// Whether uploads have reached all that a view shows, or anything of a buffer; always, where the ledger knows the
    /// contents.
    pub(crate) fn is_written(&self, binding: &NativeBinding) -> bool {
        let view = match *binding {
            NativeBinding::Buffer { buffer, .. } => {
                return self.buffers.at(buffer).is_none_or(|record| !record.unwritten);
            }
            NativeBinding::Texture { view, .. } => view,
            NativeBinding::Sampler { .. } => return true,
        };
        let Some(record) = self.views.at(view) else { return true };
        self.textures.at(record.texture).is_none_or(|texture| texture.written.contains(&record.range))
    }

    /// Occupied slots of a kind, live or retiring.
    pub(crate) fn count(&mut self, kind: ResourceKind) -> u32 {
        with_table!(self, kind, table => table.count())
    }

    /// The most occupied slots of a kind so far.
    pub(crate) fn peak(&mut self, kind: ResourceKind) -> u32 {
        with_table!(self, kind, table => table.peak())
    }

    /// Destroys logically: the handle goes stale now, the slot retires after submission `after`.
    pub(crate) fn destroy(&mut self, kind: ResourceKind, slot: u32, generation: u32, after: u64) -> bool {
        let was_live = with_table!(self, kind, table => table.destroy(slot, generation));
        if was_live {
            self.queue(kind, slot, after);
        }
        was_live
    }

    /// Destroys logically, and at once also natively when nothing is to be waited for.
    pub(crate) fn discard<B: Backend>(
        &mut self,
        backend: &mut B,
        ledger: &mut Ledger,
        (kind, slot, generation): (ResourceKind, u32, u32),
        after: u64,
        completed: u64,
    ) {
        if after > completed || !self.retiring.is_empty() {
            self.destroy(kind, slot, generation, after);
        } else if kind == ResourceKind::BindGroup {
            // What comes and goes most, on a short way: nothing retains a group.
            if self.groups.destroy(slot, generation) {
                self.remove_group(backend, slot);
                self.remove_released(backend, ledger, completed);
            }
        } else if with_table!(self, kind, table => table.destroy(slot, generation)) {
            self.remove_unless_held(backend, ledger, kind, slot, completed);
        }
    }

    /// Queues what goes after a submission.
    fn queue(&mut self, kind: ResourceKind, slot: u32, after: u64) {
        let entry = Retiring { kind, slot, after };
        match self.retiring.back() {
            Some(last) if last.after > after => self.queue_between(entry),
            _ => self.retiring.push_back(entry),
        }
    }

    /// Queues what a lease kept a while longer, whose destruction was read before that of what is there.
    #[cold]
    #[inline(never)]
    fn queue_between(&mut self, entry: Retiring) {
        let place = self.retiring.partition_point(|earlier| earlier.after <= entry.after);
        self.retiring.insert(place, entry);
    }

    /// Makes every handle of the device stale.
    pub(crate) fn destroy_all(&mut self) {
        for kind in ResourceKind::ALL {
            with_table!(self, kind, table => table.destroy_all());
        }
    }

    /// Releases whatever can go, oldest destruction first. What a removed dependent retained goes with it.
    pub(crate) fn retire<B: Backend>(&mut self, backend: &mut B, ledger: &mut Ledger, completed: u64) {
        while let Some(&Retiring { kind, slot, after }) = self.retiring.front()
            && after <= completed
        {
            self.retiring.pop_front();
            self.remove_unless_held(backend, ledger, kind, slot, completed);
        }
    }

    /// Removes what nothing holds, and then whatever only it held.
    fn remove_unless_held<B: Backend>(
        &mut self,
        backend: &mut B,
        ledger: &mut Ledger,
        kind: ResourceKind,
        slot: u32,
        completed: u64,
    ) {
        self.try_remove(backend, ledger, kind, slot, completed);
        self.remove_released(backend, ledger, completed);
    }

    #[inline]
    fn remove_released<B: Backend>(&mut self, backend: &mut B, ledger: &mut Ledger, completed: u64) {
        while let Some((kind, slot)) = self.released.pop() {
            self.waiting -= 1;
            self.try_remove(backend, ledger, kind, slot, completed);
        }
    }

    fn try_remove<B: Backend>(
        &mut self,
        backend: &mut B,
        ledger: &mut Ledger,
        kind: ResourceKind,
        slot: u32,
        completed: u64,
    ) {
        match with_table!(self, kind, table => table.held(slot, completed)) {
            Held::No => self.remove(backend, ledger, kind, slot),
            Held::Until(ordinal) => self.queue(kind, slot, ordinal),
            Held::Retained => self.waiting += 1,
        }
    }

    fn release(&mut self, kind: ResourceKind, slot: u32) {
        if with_table!(self, kind, table => table.release(slot)) {
            self.released.push((kind, slot));
        }
    }

    fn remove<B: Backend>(&mut self, backend: &mut B, ledger: &mut Ledger, kind: ResourceKind, slot: u32) {
        match kind {
            ResourceKind::Buffer => {
                if let Some(record) = self.buffers.remove(slot) {
                    backend.destroy_buffer(slot);
                    ledger.remove_buffer(slot);
                    self.memory -= record.padded_size;
                }
            }
            ResourceKind::Texture => {
                if let Some(record) = self.textures.remove(slot) {
                    backend.destroy_texture(slot);
                    ledger.remove_texture(slot);
                    match record.heap {
                        Some(heap) => self.release(ResourceKind::Heap, heap),
                        None => self.memory -= record.bytes,
                    }
                }
            }
            ResourceKind::TextureView => {
                if let Some(record) = self.views.remove(slot) {
                    backend.destroy_texture_view(slot);
                    self.release(ResourceKind::Texture, record.texture);
                }
            }
            ResourceKind::Sampler => {
                if self.samplers.remove(slot).is_some() {
                    backend.destroy_sampler(slot);
                }
            }
            ResourceKind::BindGroupLayout => {
                if self.group_layouts.remove(slot).is_some() {
                    backend.destroy_bind_group_layout(slot);
                }
            }
            ResourceKind::BindGroup => self.remove_group(backend, slot),
            ResourceKind::PipelineLayout => {
                if let Some(record) = self.pipeline_layouts.remove(slot) {
                    backend.destroy_pipeline_layout(slot);
                    for group in &record.groups {
                        self.release(ResourceKind::BindGroupLayout, group.slot());
                    }
                }
            }
            ResourceKind::ShaderModule => {
                if self.modules.remove(slot).is_some() {
                    backend.destroy_shader_module(slot);
                }
            }
            ResourceKind::RenderPipeline => {
                if let Some(record) = self.render_pipelines.remove(slot) {
                    backend.destroy_render_pipeline(slot);
                    self.release(ResourceKind::PipelineLayout, record.interface.layout);
                    for module in record.modules {
                        self.release(ResourceKind::ShaderModule, module);
                    }
                }
            }
            ResourceKind::ComputePipeline => {
                if let Some(record) = self.compute_pipelines.remove(slot) {
                    backend.destroy_compute_pipeline(slot);
                    self.release(ResourceKind::PipelineLayout, record.interface.layout);
                    self.release(ResourceKind::ShaderModule, record.module);
                }
            }
            ResourceKind::Heap => {
                if let Some(record) = self.heaps.remove(slot) {
                    backend.destroy_heap(slot);
                    self.memory -= record.size;
                }
            }
            ResourceKind::QuerySet => {
                if self.query_sets.remove(slot).is_some() {
                    backend.destroy_query_set(slot);
                }
            }
        }
    }

    /// A group's record stays in its slot: the next group there needs no lists of its own.
    #[inline]
    fn remove_group<B: Backend>(&mut self, backend: &mut B, slot: u32) {
        let Self { groups, group_layouts, buffers, views, samplers, released, .. } = self;
        let Some(record) = groups.remove_spare(slot) else { return };
        backend.destroy_bind_group(slot);
        let layout = record.layout.slot();
        if group_layouts.release(layout) {
            released.push((ResourceKind::BindGroupLayout, layout));
        }
        for binding in &record.bindings {
            let (kind, slot, free) = match *binding {
                NativeBinding::Buffer { buffer, .. } => {
                    (ResourceKind::Buffer, buffer, buffers.release(buffer))
                }
                NativeBinding::Texture { view, .. } => (ResourceKind::TextureView, view, views.release(view)),
                NativeBinding::Sampler { sampler } => {
                    (ResourceKind::Sampler, sampler, samplers.release(sampler))
                }
            };
            if free {
                released.push((kind, slot));
            }
        }
    }

    /// Destroys all that is left, at the device's end: dependents first, whoever holds a lease.
    pub(crate) fn destroy_everything<B: Backend>(&mut self, backend: &mut B, ledger: &mut Ledger) {
        self.destroy_all();
        for kind in DEPENDENTS_FIRST {
            let slots: Vec<u32> =
                with_table!(self, kind, table => table.occupied().map(|(slot, _)| slot).collect());
            for slot in slots {
                self.remove(backend, ledger, kind, slot);
            }
        }
        self.retiring.clear();
        self.released.clear();
        self.waiting = 0;
    }

    /// How many resources wait for the GPU or for dependents.
    pub(crate) fn retiring(&self) -> usize {
        self.retiring.len() + self.waiting
    }
}
