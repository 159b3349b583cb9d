//! Recording into a batch: a pass whose commands are kept, with a note of all that they use.

use std::ops::Range;

use super::stream::Capture;
use super::{CommandBatchRecord, Part};
use crate::backend::Backend;
use crate::capability::MultiDrawIndirectCount;
use crate::desc::BufferSlice;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{BindGroup, Buffer, CommandBatch, RenderPipeline};
use crate::plan::BufferUse;
use crate::record::RenderPass;
use crate::record::attachments::ResolvedPass;
use crate::record::declared::Declared;
use crate::types::IndexFormat;

/// Records draws into a command batch. It has the calls of a [`RenderPass`] that depend on nothing of the pass: viewport,
/// scissor, blend constant, stencil reference and queries are the executing pass's. A mistake is kept and answered when the
/// recording ends; later commands are ignored.
#[derive(Debug)]
pub struct BatchRecorder<'p, B: Backend> {
    pass: RenderPass<'p, B, Capture<'p>>,
    notes: &'p mut super::Notes,
    writes: &'p mut (bool, bool),
}

impl<B: Backend> Device<B> {
    /// Runs `body` and answers its first mistake. The part is then worth nothing.
    pub(super) fn record_part(
        &mut self,
        batch: CommandBatch,
        part: &mut Part,
        body: impl FnOnce(&mut BatchRecorder<'_, B>),
    ) -> Result<()> {
        let capacity = self.storage.batch_commands;
        let Device { registry, backend, scratch, .. } = self;
        let record = registry.batches.check(batch, || "record_batch".into())?;
        let CommandBatchRecord { targets, stream, .. } = record;
        let target = ResolvedPass {
            formats: targets.colors.clone(),
            depth_format: targets.depth_stencil,
            samples: targets.samples,
            ..ResolvedPass::default()
        };
        let Part { stream: kept, notes, writes_depth, writes_stencil } = part;
        let mut writes = (false, false);
        let sink = Capture { stream: kept, room: capacity.saturating_sub(stream.commands) };
        let (declared, label) = (Declared::everything(), &*record.label);
        let pass = RenderPass::new(registry, backend, sink, &mut scratch.kept, declared, label, &target);
        let mut recorder = BatchRecorder { pass, notes, writes: &mut writes };
        body(&mut recorder);
        recorder.pass.close_part();
        let mistake = recorder.pass.bindings.mistake.take();
        (*writes_depth, *writes_stencil) = writes;
        if let Some(error) = mistake {
            return Err(error);
        }
        let requested = u64::from(stream.commands) + u64::from(part.stream.commands);
        if requested > u64::from(capacity) {
            let what = format!("{}, commands", record.name());
            return Err(Error::CapacityExceeded { what, requested, capacity: capacity.into() });
        }
        Ok(())
    }
}

impl<B: Backend> BatchRecorder<'_, B> {
    fn note_buffer(&mut self, buffer: Buffer, offset: u64, size: u64, usage: BufferUse) {
        self.notes.buffer(self.pass.bindings.registry, BufferSlice { buffer, offset, size }, usage);
    }

    /// Notes the arguments of indirect draws.
    fn note_arguments(&mut self, buffer: Buffer, offset: u64, count: u32, stride: u32, size: u32) {
        let all = match count.checked_sub(1) {
            Some(before) => u64::from(before) * u64::from(stride) + u64::from(size),
            None => 0,
        };
        self.note_buffer(buffer, offset, all, BufferUse::Indirect);
    }

    /// As [`RenderPass::set_pipeline`].
    pub fn set_pipeline(&mut self, pipeline: RenderPipeline) {
        self.pass.set_pipeline(pipeline);
        if let Some(record) = self.pass.bindings.registry.render_pipelines.get(pipeline) {
            self.notes.pipeline(pipeline);
            self.writes.0 |= record.writes_depth;
            self.writes.1 |= record.writes_stencil;
        }
    }

    /// As [`RenderPass::set_bind_group`]. What the group shows of uploaded contents was uploaded before.
    pub fn set_bind_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        self.pass.set_bind_group(index, group, offsets);
        self.notes.group(self.pass.bindings.registry, group, offsets);
    }

    /// As [`RenderPass::set_immediates`].
    pub fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        self.pass.set_immediates(offset, data);
    }

    /// As [`RenderPass::set_vertex_buffer`].
    pub fn set_vertex_buffer(&mut self, index: u32, slice: BufferSlice) {
        self.pass.set_vertex_buffer(index, slice);
        self.note_buffer(slice.buffer, slice.offset, slice.size, BufferUse::Vertex);
    }

    /// As [`RenderPass::set_index_buffer`].
    pub fn set_index_buffer(&mut self, slice: BufferSlice, format: IndexFormat) {
        self.pass.set_index_buffer(slice, format);
        self.note_buffer(slice.buffer, slice.offset, slice.size, BufferUse::Index);
    }

    /// As [`RenderPass::draw`].
    pub fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        self.pass.draw(vertices, instances);
    }

    /// As [`RenderPass::draw_indexed`].
    pub fn draw_indexed(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        self.pass.draw_indexed(indices, base_vertex, instances);
    }

    /// As [`RenderPass::draw_indirect`].
    pub fn draw_indirect(&mut self, buffer: Buffer, offset: u64) {
        self.multi_draw_indirect(buffer, offset, 1, 16);
    }

    /// As [`RenderPass::draw_indexed_indirect`].
    pub fn draw_indexed_indirect(&mut self, buffer: Buffer, offset: u64) {
        self.multi_draw_indexed_indirect(buffer, offset, 1, 20);
    }

    /// As [`RenderPass::multi_draw_indirect`].
    pub fn multi_draw_indirect(&mut self, buffer: Buffer, offset: u64, count: u32, stride: u32) {
        self.pass.multi_draw_indirect(buffer, offset, count, stride);
        self.note_arguments(buffer, offset, count, stride, 16);
    }

    /// As [`RenderPass::multi_draw_indexed_indirect`].
    pub fn multi_draw_indexed_indirect(&mut self, buffer: Buffer, offset: u64, count: u32, stride: u32) {
        self.pass.multi_draw_indexed_indirect(buffer, offset, count, stride);
        self.note_arguments(buffer, offset, count, stride, 20);
    }

    /// As [`RenderPass::multi_draw_indirect_count`].
    pub fn multi_draw_indirect_count(
        &mut self,
        capability: MultiDrawIndirectCount,
        (buffer, offset): (Buffer, u64),
        counts: (Buffer, u64),
        most: u32,
        stride: u32,
    ) {
        self.pass.multi_draw_indirect_count(capability, (buffer, offset), counts, most, stride);
        self.note_arguments(buffer, offset, most, stride, 16);
        self.note_arguments(counts.0, counts.1, 1, 4, 4);
    }

    /// As [`RenderPass::multi_draw_indexed_indirect_count`].
    pub fn multi_draw_indexed_indirect_count(
        &mut self,
        capability: MultiDrawIndirectCount,
        (buffer, offset): (Buffer, u64),
        counts: (Buffer, u64),
        most: u32,
        stride: u32,
    ) {
        self.pass.multi_draw_indexed_indirect_count(capability, (buffer, offset), counts, most, stride);
        self.note_arguments(buffer, offset, most, stride, 20);
        self.note_arguments(counts.0, counts.1, 1, 4, 4);
    }

    /// Opens a labeled region in captures; the recording closes what is left open.
    pub fn push_debug_group(&mut self, label: &str) {
        self.pass.push_debug_group(label);
    }

    /// Closes the innermost region.
    pub fn pop_debug_group(&mut self) {
        self.pass.pop_debug_group();
    }

    /// The first mistake so far; the recording will answer it.
    pub fn mistake(&self) -> Option<&Error> {
        self.pass.mistake()
    }
}
