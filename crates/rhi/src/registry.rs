//! One registry per device: the slots of every kind, and the dependencies between their records.
//!
//! Dependents retain what they are made of: a view its texture, a group its resources and layout, a pipeline its
//! layout and modules, a command batch what its commands use. A destroyed resource retires when nothing retains it and
//! every submission made before the destruction was read has completed; nothing recorded later can name it, so no use has
//! to be noted per draw.

use std::collections::VecDeque;

use crate::backend::{Backend, NativeBinding};
use crate::handle::{DeviceTag, ResourceKind};
use crate::plan::{Ledger, TextureRange};
use crate::record::batch::CommandBatchRecord;
pub(crate) use crate::records::{
    BindGroupLayoutRecord, BindGroupRecord, BufferRecord, BufferRule, ComputePipelineRecord, DynamicBinding,
    HeapRecord, HotGroup, PipelineInterface, PipelineLayoutRecord, QuerySetRecord, RenderPipelineRecord,
    SamplerRecord, ShaderModuleRecord, TextureRecord, TextureViewRecord, TrackedBinding, VertexNeed,
};
use crate::request::ObjectCeilings;
use crate::table::{Held, Table};

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
    pub batches: Table<CommandBatchRecord>,
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
    /// What descriptions asked for, without rounding, also of what lies in heaps.
    pub requested: u64,
    pub requested_peak: u64,
    /// The part of `memory` that was destroyed.
    pub retiring_bytes: u64,
    /// The most of it that had to wait.
    pub retiring_peak: u64,
}

/// The kinds in an order in which each comes after all that retain it.
const DEPENDENTS_FIRST: [ResourceKind; 13] = [
    ResourceKind::CommandBatch,
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
            ResourceKind::CommandBatch => {
                let $table = &mut $self.batches;
                $body
            }
        }
    };
}

impl Registry {
    pub(crate) fn new(tag: DeviceTag, ceilings: &ObjectCeilings) -> Self {
        Self {
            buffers: Table::new(tag, ResourceKind::Buffer, ceilings.of(ResourceKind::Buffer)),
            textures: Table::new(tag, ResourceKind::Texture, ceilings.of(ResourceKind::Texture)),
            views: Table::new(tag, ResourceKind::TextureView, ceilings.of(ResourceKind::TextureView)),
            samplers: Table::new(tag, ResourceKind::Sampler, ceilings.of(ResourceKind::Sampler)),
            group_layouts: Table::new(
                tag,
                ResourceKind::BindGroupLayout,
                ceilings.of(ResourceKind::BindGroupLayout),
            ),
            groups: Table::new(tag, ResourceKind::BindGroup, ceilings.of(ResourceKind::BindGroup)),
            pipeline_layouts: Table::new(
                tag,
                ResourceKind::PipelineLayout,
                ceilings.of(ResourceKind::PipelineLayout),
            ),
            modules: Table::new(tag, ResourceKind::ShaderModule, ceilings.of(ResourceKind::ShaderModule)),
            render_pipelines: Table::new(
                tag,
                ResourceKind::RenderPipeline,
                ceilings.of(ResourceKind::RenderPipeline),
            ),
            compute_pipelines: Table::new(
                tag,
                ResourceKind::ComputePipeline,
                ceilings.of(ResourceKind::ComputePipeline),
            ),
            query_sets: Table::new(tag, ResourceKind::QuerySet, ceilings.of(ResourceKind::QuerySet)),
            heaps: Table::new(tag, ResourceKind::Heap, ceilings.of(ResourceKind::Heap)),
            batches: Table::new(tag, ResourceKind::CommandBatch, ceilings.of(ResourceKind::CommandBatch)),
            retiring: VecDeque::new(),
            released: Vec::new(),
            waiting: 0,
            memory: 0,
            memory_peak: 0,
            requested: 0,
            requested_peak: 0,
            retiring_bytes: 0,
            retiring_peak: 0,
        }
    }

    pub(crate) fn charge(&mut self, bytes: u64) {
        self.memory += bytes;
        self.memory_peak = self.memory_peak.max(self.memory);
    }

    /// Notes what a description asks for.
    pub(crate) fn request(&mut self, bytes: u64) {
        self.requested += bytes;
        self.requested_peak = self.requested_peak.max(self.requested);
    }

    /// Notes that what a slot was charged is given up. It is refunded when the slot is removed.
    #[inline]
    fn give_up(&mut self, kind: ResourceKind, slot: u32) {
        self.retiring_bytes += match kind {
            ResourceKind::Buffer => self.buffers.at(slot).map_or(0, |record| record.padded_size),
            ResourceKind::Texture => self.textures.at(slot).map_or(0, TextureRecord::charged),
            ResourceKind::Heap => self.heaps.at(slot).map_or(0, |record| record.size),
            _ => return,
        };
    }

    fn refund(&mut self, charged: u64, requested: u64) {
        self.memory -= charged;
        self.retiring_bytes -= charged;
        self.requested -= requested;
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
            let before = record.written.is_whole();
            record.written.insert(range);
            if record.written.is_whole() != before {
                self.textures.refresh(texture);
            }
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

    /// How many of a kind have a live handle, and the most that there may be.
    pub(crate) fn live(&mut self, kind: ResourceKind) -> (u32, u32) {
        with_table!(self, kind, table => (table.live(), table.ceiling()))
    }

    /// The most occupied slots of a kind so far.
    pub(crate) fn peak(&mut self, kind: ResourceKind) -> u32 {
        with_table!(self, kind, table => table.peak())
    }

    /// Destroys logically: the handle goes stale now, the slot retires after submission `after`.
    pub(crate) fn destroy(&mut self, kind: ResourceKind, slot: u32, generation: u32, after: u64) -> bool {
        let was_live = with_table!(self, kind, table => table.destroy(slot, generation));
        if was_live {
            self.give_up(kind, slot);
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
        } else if kind == ResourceKind::BindGroup && !self.groups.is_retained(slot) {
            // What comes and goes most, on a short way: only batches retain a group.
            if self.groups.destroy(slot, generation) {
                self.remove_group(backend, slot);
                self.remove_released(backend, ledger, completed);
            }
        } else if with_table!(self, kind, table => table.destroy(slot, generation)) {
            self.give_up(kind, slot);
            self.remove_unless_held(backend, ledger, kind, slot, completed);
        }
    }

    /// Queues what goes after a submission.
    fn queue(&mut self, kind: ResourceKind, slot: u32, after: u64) {
        self.retiring_peak = self.retiring_peak.max(self.retiring_bytes);
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
        self.retiring_bytes = self.memory;
        self.retiring_peak = self.retiring_peak.max(self.memory);
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
            Held::Retained => {
                self.waiting += 1;
                self.retiring_peak = self.retiring_peak.max(self.retiring_bytes);
            }
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
                    self.refund(record.padded_size, record.size);
                }
            }
            ResourceKind::Texture => {
                if let Some(record) = self.textures.remove(slot) {
                    backend.destroy_texture(slot);
                    ledger.remove_texture(slot);
                    self.refund(record.charged(), record.bytes);
                    if let Some(heap) = record.heap {
                        self.release(ResourceKind::Heap, heap);
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
                    self.refund(record.size, 0);
                }
            }
            ResourceKind::QuerySet => {
                if self.query_sets.remove(slot).is_some() {
                    backend.destroy_query_set(slot);
                }
            }
            ResourceKind::CommandBatch => {
                if let Some(record) = self.batches.remove(slot) {
                    for &(kind, slot) in record.leases() {
                        self.release(kind, slot);
                    }
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
