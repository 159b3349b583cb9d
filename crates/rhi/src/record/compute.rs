//! Compute passes.

use crate::backend::{Backend, Dispatch, Encoder};
use crate::error::{Error, Result, invalid, state, unsupported};
use crate::handle::{BindGroup, ComputePipeline};
use crate::plan::{Access, BarrierBatch, BufferUse, MemoryBarrier, ResourceUse, Scope, Stages};
use crate::record::PassEnd;
use crate::record::bind::{Bindings, Kept};
use crate::record::declared::Declared;
use crate::record::queries::Queries;
use crate::record::sink::PassEncoder;
use crate::registry::{ComputePipelineRecord, Registry};
use crate::types::BufferUsages;

/// Records dispatches. A mistake is kept and answered at the pass's end; later commands are ignored.
#[derive(Debug)]
pub struct ComputePass<'p, B: Backend> {
    pub(super) backend: &'p B,
    pub(super) encoder: &'p mut B::Encoder,
    pub(super) bindings: Bindings<'p>,
    pub(super) queries: &'p mut Queries,
    pipeline: Option<(ComputePipeline, &'p ComputePipelineRecord)>,
    labels: u32,
}

impl<'p, B: Backend> ComputePass<'p, B> {
    #[inline(always)]
    pub(super) fn new(
        registry: &'p Registry,
        backend: &'p B,
        encoder: &'p mut B::Encoder,
        kept: &'p mut Kept,
        declared: Declared<'p>,
        label: &'p str,
    ) -> Self {
        if !encoder.keeps_state() {
            kept.forget();
        }
        let Kept { compute, queries, .. } = kept;
        Self {
            backend,
            encoder,
            bindings: Bindings::new(registry, compute, declared, label),
            queries,
            pipeline: None,
            labels: 0,
        }
    }

    /// Ends the pass: closes open debug groups and hands over the first mistake.
    pub fn end(mut self) -> PassEnd {
        self.close()
    }

    /// The same where the pass stands: it is large, and moving it costs.
    #[inline]
    pub(super) fn close(&mut self) -> PassEnd {
        if self.queries.is_open {
            self.close_queries();
        }
        if self.labels > 0 {
            let encoder = &mut PassEncoder::<B>(self.encoder);
            super::render::close_labels(self.backend, encoder, &mut self.labels, &mut self.bindings);
        }
        PassEnd(self.bindings.mistake.take().map_or(Ok(()), Err))
    }

    /// The first mistake so far; the pass will answer it.
    pub fn mistake(&self) -> Option<&Error> {
        self.bindings.mistake.as_ref()
    }

    /// Sets the pipeline of the following dispatches.
    pub fn set_pipeline(&mut self, pipeline: ComputePipeline) {
        if self.bindings.mistake.is_some() || self.pipeline.is_some_and(|(current, _)| current == pipeline) {
            return;
        }
        match self.bindings.registry.compute_pipelines.get(pipeline) {
            Some(record) => {
                self.pipeline = Some((pipeline, record));
                self.bindings.set_pipeline(pipeline.slot(), &record.interface);
            }
            None => {
                let what = self.bindings.what("set_pipeline");
                let error = self.bindings.registry.compute_pipelines.problem(pipeline, what);
                self.bindings.fail(error);
            }
        }
    }

    /// Binds a group with its dynamic offsets, in binding order.
    #[inline]
    pub fn set_bind_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        self.bindings.set_group(index, group, offsets);
    }

    /// Sets bytes of immediates; offset and length are multiples of four.
    pub fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        self.bindings.set_immediates(offset, data);
    }

    /// Dispatches workgroups. A zero in any dimension does nothing.
    pub fn dispatch(&mut self, groups: [u32; 3]) {
        let most = self.backend.capabilities().limits.max_workgroups_per_dimension;
        // None is zero, and none is over the limit.
        if self.bindings.is_checked() && groups.iter().all(|count| count.wrapping_sub(1) < most) {
            let dirty = self.bindings.take_dirty();
            let dispatch = Dispatch::Direct(groups);
            return self.encoder.dispatch(self.backend, dirty, &self.bindings.point.state, dispatch);
        }
        self.dispatch_after_all(groups, most);
    }

    /// The long way: what was not checked is, and nothing may be left to dispatch.
    #[inline(never)]
    fn dispatch_after_all(&mut self, groups: [u32; 3], most: u32) {
        if let Some(over) = groups.iter().find(|count| **count > most) {
            let what = self.bindings.what("dispatch");
            let error = unsupported(
                what,
                "limit max_workgroups_per_dimension",
                format!("{over} requested, {most} available"),
            );
            return self.bindings.fail(error);
        }
        self.issue("dispatch", (!groups.contains(&0)).then_some(Dispatch::Direct(groups)));
    }

    /// Dispatches workgroups by 12 bytes of arguments in a buffer, which the pass declares as `Indirect` when its
    /// contents are tracked. Arguments over the device's limit are the caller's to avoid; a graph holds those that the GPU
    /// wrote to it with `purlin_graph::IndirectBounds`.
    pub fn dispatch_indirect(&mut self, buffer: crate::handle::Buffer, offset: u64) {
        match indirect(&self.bindings, buffer, offset, 12, "dispatch_indirect") {
            Ok(()) => {
                self.issue("dispatch_indirect", Some(Dispatch::Indirect { buffer: buffer.slot(), offset }));
            }
            Err(error) => self.bindings.fail(error),
        }
    }

    fn issue(&mut self, call: &str, dispatch: Option<Dispatch>) {
        if self.bindings.mistake.is_some() {
            return;
        }
        let Some((_, record)) = self.pipeline else {
            let error = state(self.bindings.what(call), "a pipeline", "none");
            return self.bindings.fail(error);
        };
        if !self.bindings.is_checked()
            && let Err(error) = self.bindings.check(&record.interface, call)
        {
            return self.bindings.fail(error);
        }
        if let Some(dispatch) = dispatch {
            let dirty = self.bindings.take_dirty();
            self.encoder.dispatch(self.backend, dirty, &self.bindings.point.state, dispatch);
        } else {
            self.bindings.count += 1;
        }
    }

    /// Orders the dispatches before against those after: storage that the former wrote, the latter see.
    pub fn barrier(&mut self) {
        if self.bindings.mistake.is_some() {
            return;
        }
        let storage = Access::STORAGE_READ | Access::STORAGE_WRITE;
        let memory = [MemoryBarrier {
            src: Scope::new(Stages::COMPUTE_SHADER, Access::STORAGE_WRITE),
            dst: Scope::new(Stages::COMPUTE_SHADER, storage),
        }];
        self.encoder.barriers(self.backend, BarrierBatch { memory: &memory, textures: &[] });
    }

    /// Opens a labeled region in captures; the pass closes what is left open.
    pub fn push_debug_group(&mut self, label: &str) {
        self.encoder.push_label(self.backend, label);
        self.labels += 1;
    }

    /// Closes the innermost region.
    pub fn pop_debug_group(&mut self) {
        let encoder = &mut PassEncoder::<B>(self.encoder);
        super::render::pop_label(self.backend, encoder, &mut self.labels, &mut self.bindings);
    }
}

/// Checks an indirect argument range.
pub(super) fn indirect(
    bindings: &Bindings<'_>,
    buffer: crate::handle::Buffer,
    offset: u64,
    size: u64,
    call: &str,
) -> Result<()> {
    let record = bindings.registry.buffers.check(buffer, || bindings.what(call))?;
    if !record.usage.contains(BufferUsages::INDIRECT) {
        let found = format!("{:?} of \"{}\"", record.usage, record.label);
        return Err(invalid(bindings.what(call), "buffer", "usage INDIRECT", found));
    }
    if !offset.is_multiple_of(4) {
        return Err(invalid(bindings.what(call), "offset", "a multiple of 4", offset));
    }
    if offset.checked_add(size).is_none_or(|end| end > record.size) {
        let expected = format!("arguments within the {} bytes of \"{}\"", record.size, record.label);
        return Err(invalid(bindings.what(call), "offset", expected, format!("{size} bytes from {offset}")));
    }
    tracked_buffer(
        bindings,
        record,
        ResourceUse::Buffer { buffer, offset, size, usage: BufferUse::Indirect },
        call,
    )
}

/// A tracked buffer must be declared; one with uploaded contents need not be, once something was uploaded.
#[inline]
pub(super) fn tracked_buffer(
    bindings: &Bindings<'_>,
    record: &crate::registry::BufferRecord,
    usage: ResourceUse,
    call: &str,
) -> Result<()> {
    // Nothing is read of an empty range, so there is nothing to order.
    if record.contents == crate::desc::Contents::Tracked
        && !super::declared::is_empty_use(&usage)
        && !bindings.declared.covers(&usage)
    {
        let expected = format!("\"{}\" declared by the pass as {usage:?}", record.label);
        return Err(invalid(bindings.what(call), "uses", expected, "no such declaration"));
    }
    if record.unwritten && !super::declared::is_empty_use(&usage) {
        let found = format!("buffer \"{}\", to which nothing was uploaded", record.label);
        return Err(state(bindings.what(call), "defined contents: uploaded before", found));
    }
    Ok(())
}
