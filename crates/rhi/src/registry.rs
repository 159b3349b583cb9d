//! One registry per device: the slots of every kind, their records, and the dependencies between them.
//!
//! Dependents retain what they are made of: a view its texture, a group its resources and layout, a pipeline its
//! layout and modules. A destroyed resource retires when nothing retains it and every submission made before the
//! destruction was read has completed; nothing recorded later can name it, so no use has to be noted per draw.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::backend::{Backend, MAX_GROUPS, MAX_VERTEX_BUFFERS, NativeBinding};
use crate::desc::{Contents, MemoryClass};
use crate::handle::{BindGroupLayout, DeviceTag, ResourceKind};
use crate::plan::{Aspects, ResourceUse, TextureRange};
use crate::shader::ShaderSource;
use crate::table::{Record, Table};
use crate::types::{
    BindGroupLayoutEntry, BufferUsages, Extent3d, IndexFormat, TextureAspect, TextureDimension,
    TextureFormat, TextureUsages, TextureViewDimension,
};
use crate::written::Written;

#[derive(Debug)]
pub(crate) struct BufferRecord {
    pub label: Box<str>,
    /// The size that was asked for.
    pub size: u64,
    /// Rounded up to four bytes; the tail is zeroed by uploads that reach it.
    pub padded_size: u64,
    pub usage: BufferUsages,
    pub contents: Contents,
    pub memory: MemoryClass,
}

#[derive(Debug)]
pub(crate) struct TextureRecord {
    pub label: Box<str>,
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
pub(crate) struct TextureViewRecord {
    pub label: Box<str>,
    pub texture: u32,
    pub format: TextureFormat,
    pub dimension: TextureViewDimension,
    pub aspect: TextureAspect,
    pub range: TextureRange,
    /// Texels of the first mip.
    pub extent: Extent3d,
    pub samples: u32,
    pub usage: TextureUsages,
    pub contents: Contents,
}

#[derive(Debug)]
pub(crate) struct SamplerRecord {
    pub label: Box<str>,
    pub compare: bool,
    pub filtering: bool,
}

#[derive(Debug)]
pub(crate) struct BindGroupLayoutRecord {
    pub label: Box<str>,
    /// Sorted by binding.
    pub entries: Box<[BindGroupLayoutEntry]>,
    pub dynamic_uniform: u32,
    pub dynamic_storage: u32,
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
    pub label: Box<str>,
    pub layout: BindGroupLayout,
    pub bindings: Box<[NativeBinding]>,
    pub dynamic: SmallVec<[DynamicBinding; 2]>,
    /// Uses of tracked resources, which a pass must have declared.
    pub tracked: Box<[TrackedBinding]>,
    /// Views with uploaded contents that were not all uploaded when the group was made; mostly none.
    pub unwritten: SmallVec<[u32; 1]>,
}

#[derive(Debug)]
pub(crate) struct PipelineLayoutRecord {
    pub label: Box<str>,
    pub groups: ArrayVec<BindGroupLayout, MAX_GROUPS>,
    pub immediate_size: u32,
}

#[derive(Debug)]
pub(crate) struct ShaderModuleRecord {
    pub label: Box<str>,
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
    pub label: Box<str>,
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
    pub label: Box<str>,
    pub interface: PipelineInterface,
    pub module: u32,
}

#[derive(Debug)]
pub(crate) struct QuerySetRecord {
    pub label: Box<str>,
}

/// What binding a buffer asks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HotBuffer {
    pub size: u64,
    /// Bits of [`BufferUsages`].
    pub usage: u32,
    pub tracked: bool,
}

/// What binding a group asks. Its layout lives as long as it, so the slot says which.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HotGroup {
    pub layout: u32,
    /// The first dynamic offset: the greatest value, and the bits that must be zero.
    pub most: u32,
    pub unaligned: u32,
    /// How many dynamic offsets.
    pub offsets: u8,
    /// Whether the pass or the uploads decide too: see the record.
    pub depends: bool,
}

impl Record for BufferRecord {
    type Hot = HotBuffer;
    fn label(&self) -> &str {
        &self.label
    }
    fn hot(&self) -> HotBuffer {
        HotBuffer { size: self.size, usage: self.usage.bits(), tracked: self.contents == Contents::Tracked }
    }
}

impl Record for BindGroupRecord {
    type Hot = HotGroup;
    fn label(&self) -> &str {
        &self.label
    }
    fn hot(&self) -> HotGroup {
        let first = self.dynamic.first();
        HotGroup {
            layout: self.layout.slot(),
            most: first.map_or(0, |dynamic| dynamic.most.try_into().unwrap_or(u32::MAX)),
            unaligned: first.map_or(0, |dynamic| dynamic.alignment.wrapping_sub(1)),
            offsets: self.dynamic.len() as u8,
            depends: !self.tracked.is_empty() || !self.unwritten.is_empty(),
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
    retiring: Vec<Retiring>,
    /// Bytes of buffers and textures, retiring ones included.
    pub memory: u64,
    /// The most that `memory` has been.
    pub memory_peak: u64,
}

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
            retiring: Vec::new(),
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

    pub(crate) fn release(&mut self, kind: ResourceKind, slot: u32) {
        with_table!(self, kind, table => table.release(slot));
    }

    /// Releases a lease whose GPU use ends with submission `ordinal`.
    pub(crate) fn release_after(&mut self, kind: ResourceKind, slot: u32, ordinal: u64) {
        self.release(kind, slot);
        // Only a resource destroyed in the meantime is in the list; a live one is covered by its later destruction.
        for entry in &mut self.retiring {
            if entry.kind == kind && entry.slot == slot {
                entry.after = entry.after.max(ordinal);
            }
        }
    }

    /// Notes an upload to a texture.
    pub(crate) fn written(&mut self, texture: u32, range: &TextureRange) {
        if let Some(record) = self.textures.at_mut(texture) {
            record.written.insert(range);
        }
    }

    /// Whether uploads have reached all that a view shows; always, where the ledger knows the contents.
    pub(crate) fn is_written(&self, view: u32) -> bool {
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
            self.retiring.push(Retiring { kind, slot, after });
        }
        was_live
    }

    /// Makes every handle of the device stale.
    pub(crate) fn destroy_all(&mut self) {
        for kind in ResourceKind::ALL {
            with_table!(self, kind, table => table.destroy_all());
        }
    }

    /// Releases whatever can go. Releasing a dependent can free what it retained, so it runs until nothing moves.
    pub(crate) fn retire<B: Backend>(
        &mut self,
        backend: &mut B,
        completed: u64,
        mut gone: impl FnMut(ResourceKind, u32),
    ) {
        loop {
            let mut moved = false;
            let mut index = 0;
            while index < self.retiring.len() {
                let Retiring { kind, slot, after } = self.retiring[index];
                let retained = with_table!(self, kind, table => table.is_retained(slot));
                if after > completed || retained {
                    index += 1;
                    continue;
                }
                self.retiring.swap_remove(index);
                self.remove(backend, kind, slot);
                gone(kind, slot);
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }

    fn remove<B: Backend>(&mut self, backend: &mut B, kind: ResourceKind, slot: u32) {
        match kind {
            ResourceKind::Buffer => {
                if let Some(record) = self.buffers.remove(slot) {
                    backend.destroy_buffer(slot);
                    self.memory -= record.padded_size;
                }
            }
            ResourceKind::Texture => {
                if let Some(record) = self.textures.remove(slot) {
                    backend.destroy_texture(slot);
                    self.memory -= record.bytes;
                }
            }
            ResourceKind::TextureView => {
                if let Some(record) = self.views.remove(slot) {
                    backend.destroy_texture_view(slot);
                    self.textures.release(record.texture);
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
            ResourceKind::BindGroup => {
                if let Some(record) = self.groups.remove(slot) {
                    backend.destroy_bind_group(slot);
                    self.group_layouts.release(record.layout.slot());
                    for binding in &record.bindings {
                        match *binding {
                            NativeBinding::Buffer { buffer, .. } => self.buffers.release(buffer),
                            NativeBinding::Texture { view, .. } => self.views.release(view),
                            NativeBinding::Sampler { sampler } => self.samplers.release(sampler),
                        }
                    }
                }
            }
            ResourceKind::PipelineLayout => {
                if let Some(record) = self.pipeline_layouts.remove(slot) {
                    backend.destroy_pipeline_layout(slot);
                    for group in &record.groups {
                        self.group_layouts.release(group.slot());
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
                    self.pipeline_layouts.release(record.interface.layout);
                    for module in record.modules {
                        self.modules.release(module);
                    }
                }
            }
            ResourceKind::ComputePipeline => {
                if let Some(record) = self.compute_pipelines.remove(slot) {
                    backend.destroy_compute_pipeline(slot);
                    self.pipeline_layouts.release(record.interface.layout);
                    self.modules.release(record.module);
                }
            }
            ResourceKind::QuerySet => {
                if self.query_sets.remove(slot).is_some() {
                    backend.destroy_query_set(slot);
                }
            }
        }
    }

    /// Destroys all that is left, at the device's end.
    pub(crate) fn destroy_everything<B: Backend>(&mut self, backend: &mut B) {
        for kind in ResourceKind::ALL {
            with_table!(self, kind, table => {
                for (slot, _) in table.occupied() {
                    self.retiring.push(Retiring { kind, slot, after: 0 });
                }
                table.destroy_all();
            });
        }
        self.retiring.sort_unstable_by_key(|entry| (entry.kind, entry.slot));
        self.retiring.dedup_by_key(|entry| (entry.kind, entry.slot));
        // Leases of services do not count any more: nothing of the device survives it.
        for entry in &mut self.retiring {
            entry.after = 0;
        }
        self.retire(backend, u64::MAX, |_, _| {});
        let left = std::mem::take(&mut self.retiring);
        for Retiring { kind, slot, .. } in left {
            self.remove(backend, kind, slot);
        }
    }

    /// How many resources wait for the GPU or for dependents.
    pub(crate) fn retiring(&self) -> usize {
        self.retiring.len()
    }
}
