//! Recording: passes and copies for one submission.
//!
//! A recorder borrows the device until it is submitted or dropped. Every pass declares what it uses; the planner
//! turns that into barriers; the pass body records natively through one validated call a command. A mistake inside a
//! pass body is kept and answered at the pass's end, and a recorder with a mistake cannot be submitted: nothing of it
//! has happened. Pending uploads run at the front of the recording.

mod attachments;
pub(crate) mod batch;
mod bind;
mod by_pass;
mod compute;
pub(crate) mod declared;
mod parallel;
mod queries;
mod render;
mod sink;
mod slice;
mod transfer;

use crate::backend::{Backend, Encoder, NativeQueries};
use crate::desc::{BufferSlice, TexelLayout, TexturePlace};
use crate::device::{Device, SubmissionToken};
use crate::error::{Error, Result, invalid, named, state};
use crate::handle::{BindGroup, Buffer, QuerySet, ResourceKind, Texture};
use crate::plan::{
    BarrierBatch, BufferUse, DeclaredGroups, Pass, PassList, Plan, ResourceUse, TextureRange, TextureUse,
};
use crate::record::declared::{
    Declared, check_groups, check_list, check_use, failed_pass, is_empty_use, plan_error,
};
use crate::services::row_pitch;
use crate::services::{Footprint, ReadTicket};
use crate::surface::{FrameUses, Frames};
use crate::types::{Extent3d, TextureDimension};

pub use attachments::{AspectOps, ColorAttachment, DepthStencilAttachment, RenderPassDesc};
use attachments::{AttachmentUses, ResolvedPass};
pub use batch::{BatchRecorder, BatchState, CommandBatchDesc};
pub use compute::ComputePass;
use queries::DeclaredQueries;
pub use queries::PassTimestampWrites;
pub use render::RenderPass;
use sink::PassEncoder;
pub use transfer::TransferPass;

/// What a recording needs and keeps from frame to frame, so that warm recordings allocate nothing.
#[derive(Debug)]
pub(crate) struct Scratch<B: Backend> {
    pub uses: Vec<ResourceUse>,
    pub groups: Vec<BindGroup>,
    pub part: batch::Part,
    pub plan: Plan,
    pub kept: bind::Kept,
    pub sections: parallel::Sections<B>,
    pub encoders: Vec<B::Encoder>,
}

impl<B: Backend> Default for Scratch<B> {
    fn default() -> Self {
        Self {
            uses: Vec::new(),
            groups: Vec::new(),
            part: batch::Part::default(),
            plan: Plan::default(),
            kept: bind::Kept::default(),
            sections: parallel::Sections::default(),
            encoders: Vec::new(),
        }
    }
}

/// Describes a compute pass. Every use of a tracked resource in the pass is in `uses`, or of a group in `groups`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ComputePassDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Uses of tracked resources, one by one.
    pub uses: &'a [ResourceUse],
    /// Groups, each of which declares what it binds: a binding with a dynamic offset all that any offset reaches. They
    /// cost less than their uses, least when a group is declared again and nothing else used its resources since.
    pub groups: &'a [BindGroup],
    /// The set of the pass's statistics queries.
    pub pipeline_statistics_query_set: Option<QuerySet>,
    /// Timestamps at its begin and end.
    pub timestamp_writes: Option<PassTimestampWrites>,
}

/// What a pass came to, made only by ending it: a body that owns its pass cannot lose its mistakes.
#[derive(Debug)]
#[must_use]
pub struct PassEnd(Result<()>);

/// Records one submission.
#[derive(Debug)]
pub struct Recorder<'d, B: Backend> {
    pub(crate) device: &'d mut Device<B>,
    encoder: Option<B::Encoder>,
    /// The first mistake; everything after it is ignored.
    mistake: Option<Error>,
    /// What the submission presents.
    pub(crate) frames: Frames,
}

impl<B: Backend> Device<B> {
    /// Begins a recording. Pending uploads are recorded first.
    ///
    /// # Errors
    /// Device loss, or no memory for a command buffer.
    pub fn record(&mut self, label: &str) -> Result<Recorder<'_, B>> {
        // A recorder that was forgotten instead of dropped must not leak its plan into this one.
        self.discard_recording();
        self.maintain()?;
        let mut encoder = match self.backend.begin(label) {
            Ok(encoder) => encoder,
            Err(error) => return Err(self.backend_error(error, format!("recording \"{label}\""))),
        };
        self.scratch.kept.forget();
        self.scratch.kept.queries.begin();
        let begun = self.begin_timings(&mut encoder).and_then(|()| self.encode_uploads(&mut encoder));
        if let Err(error) = begun {
            self.discard_recording();
            self.backend.discard(encoder);
            return Err(error);
        }
        Ok(Recorder { device: self, encoder: Some(encoder), mistake: None, frames: Frames::new() })
    }

    /// Forgets what a recording has planned and asked for. After a submission it finds nothing.
    fn discard_recording(&mut self) {
        self.scratch.sections.discard(&mut self.backend);
        self.scratch.executed(|_| {});
        self.planner.discard(&mut self.ledger);
        self.readbacks.discard_recorded();
        self.timings.discard();
    }
}

impl<B: Backend> Recorder<'_, B> {
    /// The device, for reading.
    pub fn device(&self) -> &Device<B> {
        self.device
    }

    /// Copies per-frame data; see [`Device::push_frame_data`].
    pub fn push_frame_data(&mut self, data: &[u8], alignment: u64) -> Result<BufferSlice> {
        self.device.push_frame_data(data, alignment)
    }

    #[inline]
    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.keep_mistake(error)),
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_mistake(&mut self, error: Error) -> Error {
        if self.mistake.is_none() {
            self.mistake = Some(error.clone());
        }
        error
    }

    #[inline]
    pub(crate) fn check(&self, what: &str) -> Result<()> {
        if self.mistake.is_none() && !self.device.is_lost() { Ok(()) } else { self.refuse(what) }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, what: &str) -> Result<()> {
        match &self.mistake {
            None => self.device.check_lost(what),
            Some(first) => {
                Err(state(what, "a recording without mistakes", format!("an earlier one: {first}")))
            }
        }
    }

    /// Plans the passes of `list` after everything recorded so far. For layers that plan a whole frame at once; their
    /// `*_planned` passes then take the barriers from the plan.
    ///
    /// # Errors
    /// Conflicting uses within a pass, undefined contents read, ranges outside a resource: named by pass and resource.
    pub fn plan(
        &mut self,
        list: &PassList,
        plan: &mut Plan,
        pass_label: impl Fn(usize) -> String,
    ) -> Result<()> {
        let device = &mut *self.device;
        let known = device
            .planner
            .known_uses(list)
            .is_some_and(|uses| uses.iter().all(|usage| check_use(&device.registry, usage, "").is_ok()));
        let checked = if known { Ok(()) } else { check_list(&device.registry, list, &pass_label) };
        let planned = checked.and_then(|()| {
            device.planner.plan(&mut device.ledger, list, plan).map_err(|error| {
                let failed = failed_pass(&error);
                plan_error(&device.registry, &list.pass(failed), &[], error, &pass_label(failed))
            })
        });
        self.keep(planned)
    }

    /// Emits a batch of planned barriers.
    pub fn barriers(&mut self, batch: BarrierBatch<'_>) {
        if let Some(encoder) = &mut self.encoder
            && !batch.is_empty()
        {
            encoder.barriers(&self.device.backend, batch);
        }
    }

    /// Plans one pass and emits its barriers.
    fn plan_pass(
        &mut self,
        uses: &[ResourceUse],
        discards: &[(Texture, TextureRange)],
        groups: &[BindGroup],
        label: &str,
    ) -> Result<()> {
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let Device { registry, backend, planner, ledger, scratch, .. } = &mut *self.device;
        check_groups(registry, groups, label)?;
        let pass = Pass { first_use: 0, uses, discards, aliases: &[] };
        // A plan grows by a batch for each pass; this one is about one pass.
        let plan = &mut scratch.plan;
        plan.clear();
        let declared = DeclaredGroups { groups, of: &*registry };
        if let Err(error) = planner.plan_pass(ledger, &pass, &declared, plan) {
            return Err(plan_error(registry, &planner.failed_pass(), groups, error, label));
        }
        let batch = plan.batch(0);
        if !batch.is_empty() {
            encoder.barriers(backend, batch);
        }
        Ok(())
    }

    /// Records a raster pass: plans its attachments and declared uses, then runs `body`.
    ///
    /// # Errors
    /// Attachments that do not fit each other or the pass, uses in conflict, undefined contents loaded or read, and
    /// the first mistake inside `body`.
    pub fn render_pass(
        &mut self,
        desc: &RenderPassDesc<'_>,
        body: impl FnOnce(&mut RenderPass<'_, B>),
    ) -> Result<()> {
        self.check(desc.label)?;
        let result = self.render_pass_inner(desc, body);
        self.keep(result)
    }

    fn render_pass_inner(
        &mut self,
        desc: &RenderPassDesc<'_>,
        body: impl FnOnce(&mut RenderPass<'_, B>),
    ) -> Result<()> {
        let mut resolved = ResolvedPass::default();
        self.plan_render_pass(desc, &mut resolved)?;
        let declared = Declared::of_render(desc);
        self.in_render_pass(desc, &resolved, false, |device, encoder| {
            let Device { registry, backend, scratch, .. } = device;
            let (kept, encoder) = (&mut scratch.kept, PassEncoder(encoder));
            let mut pass = RenderPass::new(registry, backend, encoder, kept, declared, desc.label, &resolved);
            body(&mut pass);
            pass.close().0
        })
    }

    /// Checks a raster pass, plans it, and emits its barriers.
    fn plan_render_pass(&mut self, desc: &RenderPassDesc<'_>, resolved: &mut ResolvedPass) -> Result<()> {
        let mut declared = AttachmentUses::default();
        let device = &mut *self.device;
        attachments::resolve(&device.registry, &device.backend, desc, resolved, Some(&mut declared))?;
        let AttachmentUses { uses, discards } = &declared;
        if desc.uses.is_empty() && desc.batches.is_empty() {
            return self.plan_pass(uses, discards, desc.groups, desc.label);
        }
        for usage in desc.uses {
            check_use(&device.registry, usage, desc.label)?;
        }
        let mut all = std::mem::take(&mut device.scratch.uses);
        all.clear();
        all.extend_from_slice(uses);
        all.extend_from_slice(desc.uses);
        let planned = if desc.batches.is_empty() {
            self.plan_pass(&all, discards, desc.groups, desc.label)
        } else {
            self.plan_with_batches(desc, &mut all, discards)
        };
        self.device.scratch.uses = all;
        planned
    }

    /// Checks the attachments, before any barrier speaks of them.
    fn resolve(&self, desc: &RenderPassDesc<'_>, resolved: &mut ResolvedPass) -> Result<()> {
        attachments::resolve(&self.device.registry, &self.device.backend, desc, resolved, None)
    }

    /// Records a raster pass whose barriers were planned and emitted before. `declared` are its uses. The body owns the
    /// pass, so that a layer above can wrap it, and gives it back through [`RenderPass::end`]. `desc` declares nothing.
    pub fn render_pass_planned(
        &mut self,
        desc: &RenderPassDesc<'_>,
        declared: &[ResourceUse],
        body: impl FnOnce(RenderPass<'_, B>) -> PassEnd,
    ) -> Result<()> {
        self.check(desc.label)?;
        let mut resolved = ResolvedPass::default();
        let result = match self.resolve(desc, &mut resolved) {
            Ok(()) => self.render_pass_body(desc, &resolved, Declared::new(declared, &[]), body),
            Err(error) => Err(error),
        };
        self.keep(result)
    }

    fn render_pass_body(
        &mut self,
        desc: &RenderPassDesc<'_>,
        resolved: &ResolvedPass,
        declared: Declared<'_>,
        body: impl FnOnce(RenderPass<'_, B>) -> PassEnd,
    ) -> Result<()> {
        self.in_render_pass(desc, resolved, false, |device, encoder| {
            let pass = RenderPass::new(
                &device.registry,
                &device.backend,
                PassEncoder(encoder),
                &mut device.scratch.kept,
                declared,
                desc.label,
                resolved,
            );
            body(pass).0
        })
    }

    /// Records something between the begin and the end of a raster pass, within its timestamps. The backend names the
    /// pass natively.
    #[inline]
    fn in_render_pass(
        &mut self,
        desc: &RenderPassDesc<'_>,
        resolved: &ResolvedPass,
        sections: bool,
        record: impl FnOnce(&mut Device<B>, &mut B::Encoder) -> Result<()>,
    ) -> Result<()> {
        let device = &mut *self.device;
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let queries = match desc.has_queries() {
            false => None,
            true => Some(begin_queries(device, encoder, &DeclaredQueries::of_render(desc), desc.label)?),
        };
        let times = device.timings.pass(desc.label);
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index);
        }
        encoder.begin_render_pass(&device.backend, &resolved.native(desc.label, sections, queries.as_ref()));
        let result = record(device, encoder);
        encoder.end_render_pass(&device.backend);
        if queries.is_some() {
            device.scratch.kept.queries.end_pass();
        }
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index + 1);
        }
        result
    }

    /// Records a compute pass: plans its declared uses, then runs `body`.
    ///
    /// Dispatches of one pass are not ordered among themselves; see [`ComputePass::barrier`].
    ///
    /// # Errors
    /// Uses in conflict, undefined contents read, and the first mistake inside `body`.
    pub fn compute_pass(
        &mut self,
        desc: &ComputePassDesc<'_>,
        body: impl FnOnce(&mut ComputePass<'_, B>),
    ) -> Result<()> {
        self.check(desc.label)?;
        let result = self.compute_pass_inner(desc, body);
        self.keep(result)
    }

    fn compute_pass_inner(
        &mut self,
        desc: &ComputePassDesc<'_>,
        body: impl FnOnce(&mut ComputePass<'_, B>),
    ) -> Result<()> {
        self.declare(desc.uses, desc.groups, desc.label)?;
        let declared = Declared::new(desc.uses, desc.groups);
        self.in_compute_pass(desc, |device, encoder| {
            let Device { registry, backend, scratch, .. } = device;
            let mut pass =
                ComputePass::new(registry, backend, encoder, &mut scratch.kept, declared, desc.label);
            body(&mut pass);
            pass.close().0
        })
    }

    /// Records a compute pass whose barriers were planned and emitted before. `declared` are its uses. The body owns the
    /// pass and gives it back through [`ComputePass::end`]. `desc` declares no uses.
    pub fn compute_pass_planned(
        &mut self,
        desc: &ComputePassDesc<'_>,
        declared: &[ResourceUse],
        body: impl FnOnce(ComputePass<'_, B>) -> PassEnd,
    ) -> Result<()> {
        self.check(desc.label)?;
        let result = self.compute_pass_body(desc, Declared::new(declared, &[]), body);
        self.keep(result)
    }

    pub(crate) fn declare(&mut self, uses: &[ResourceUse], groups: &[BindGroup], label: &str) -> Result<()> {
        for usage in uses {
            check_use(&self.device.registry, usage, label)?;
        }
        self.plan_pass(uses, &[], groups, label)
    }

    fn compute_pass_body(
        &mut self,
        desc: &ComputePassDesc<'_>,
        declared: Declared<'_>,
        body: impl FnOnce(ComputePass<'_, B>) -> PassEnd,
    ) -> Result<()> {
        self.in_compute_pass(desc, |device, encoder| {
            let Device { registry, backend, scratch, .. } = device;
            body(ComputePass::new(registry, backend, encoder, &mut scratch.kept, declared, desc.label)).0
        })
    }

    /// Records something between the begin and the end of a compute pass, within its timestamps.
    #[inline]
    fn in_compute_pass(
        &mut self,
        desc: &ComputePassDesc<'_>,
        record: impl FnOnce(&mut Device<B>, &mut B::Encoder) -> Result<()>,
    ) -> Result<()> {
        let device = &mut *self.device;
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let queries = match desc.has_queries() {
            false => None,
            true => Some(begin_queries(device, encoder, &DeclaredQueries::of_compute(desc), desc.label)?),
        };
        let times = device.timings.pass(desc.label);
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index);
        }
        let timestamps = queries.as_ref().and_then(|queries| queries.timestamps.as_ref());
        encoder.begin_compute_pass(&device.backend, desc.label, timestamps);
        let result = record(device, encoder);
        encoder.end_compute_pass(&device.backend);
        if queries.is_some() {
            device.scratch.kept.queries.end_pass();
        }
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index + 1);
        }
        result
    }

    /// Records copies whose barriers were planned and emitted before. `declared` are their uses.
    pub fn transfer_pass_planned(
        &mut self,
        label: &str,
        declared: &[ResourceUse],
        body: impl FnOnce(&mut TransferPass<'_, B>),
    ) -> Result<()> {
        self.check(label)?;
        let result = self.transfer_pass_body(label, declared, body);
        self.keep(result)
    }

    fn transfer_pass_body(
        &mut self,
        label: &str,
        declared: &[ResourceUse],
        body: impl FnOnce(&mut TransferPass<'_, B>),
    ) -> Result<()> {
        let device = &mut *self.device;
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let times = device.timings.pass(label);
        encoder.push_label(&device.backend, label);
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index);
        }
        let mut pass = TransferPass::new(&device.registry, &device.backend, encoder, declared, label);
        body(&mut pass);
        let result = pass.finish();
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index + 1);
        }
        encoder.pop_label(&device.backend);
        result
    }

    /// Copies bytes between buffers, or within one when the ranges do not overlap.
    ///
    /// # Errors
    /// Usages, alignment to four bytes, ranges outside the buffers, an overlap, undefined source contents.
    pub fn copy_buffer(&mut self, src: BufferSlice, dst: Buffer, dst_offset: u64) -> Result<()> {
        let uses = transfer::buffer_copy_uses(src, dst, dst_offset);
        self.transfer("copy_buffer", &uses, |pass| pass.copy_buffer(src, dst, dst_offset))
    }

    /// Fills a buffer range with zeros; offset and size are multiples of four.
    pub fn clear_buffer(&mut self, range: BufferSlice) -> Result<()> {
        let uses = [transfer::buffer_use(range, BufferUse::CopyDst)];
        self.transfer("clear_buffer", &uses, |pass| pass.clear_buffer(range))
    }

    /// Copies texels from a buffer.
    pub fn copy_buffer_to_texture(
        &mut self,
        buffer: Buffer,
        layout: &TexelLayout,
        place: &TexturePlace,
        extent: Extent3d,
    ) -> Result<()> {
        let label = "copy_buffer_to_texture";
        let uses =
            transfer::buffer_texture_uses(&self.device.registry, buffer, layout, place, extent, true, label);
        let uses = self.keep(uses)?;
        self.transfer(label, &uses, |pass| pass.copy_buffer_to_texture(buffer, layout, place, extent))
    }

    /// Copies texels to a buffer.
    pub fn copy_texture_to_buffer(
        &mut self,
        place: &TexturePlace,
        extent: Extent3d,
        buffer: Buffer,
        layout: &TexelLayout,
    ) -> Result<()> {
        let label = "copy_texture_to_buffer";
        let uses =
            transfer::buffer_texture_uses(&self.device.registry, buffer, layout, place, extent, false, label);
        let uses = self.keep(uses)?;
        self.transfer(label, &uses, |pass| pass.copy_texture_to_buffer(place, extent, buffer, layout))
    }

    /// Copies texels between textures of one format, or between different subresources of one texture.
    pub fn copy_texture(&mut self, src: &TexturePlace, dst: &TexturePlace, extent: Extent3d) -> Result<()> {
        let label = "copy_texture";
        let uses = transfer::texture_copy_uses(&self.device.registry, src, dst, extent, label);
        let uses = self.keep(uses)?;
        self.transfer(label, &uses, |pass| pass.copy_texture(src, dst, extent))
    }

    fn transfer(
        &mut self,
        label: &str,
        uses: &[ResourceUse],
        body: impl FnOnce(&mut TransferPass<'_, B>),
    ) -> Result<()> {
        self.check(label)?;
        // A copy of nothing writes nothing, so it must not count as a use.
        let planned = if uses.iter().any(is_empty_use) { &[][..] } else { uses };
        let result = self
            .declare(planned, &[], label)
            .and_then(|()| self.transfer_pass_body(label, uses, body))
            .and_then(|()| self.publish_again(planned));
        self.keep(result)
    }

    /// A copy from a texture with uploaded contents leaves it in the layout of copies, and no pass declares what it
    /// samples of it. So it goes back at once.
    fn publish_again(&mut self, uses: &[ResourceUse]) -> Result<()> {
        for usage in uses {
            if let ResourceUse::Texture { texture, range, usage: TextureUse::CopySrc } = *usage
                && let Some(sampled) = crate::services::published(&self.device.registry, texture, range)
            {
                self.declare(&[sampled], &[], "publish")?;
            }
        }
        Ok(())
    }

    /// Copies a buffer range to the CPU; the ticket is readable once the submission has completed.
    ///
    /// # Errors
    /// As [`Self::copy_buffer`]; [`Error::Pending`] or [`Error::CapacityExceeded`] when there is no staging.
    pub fn read_buffer(&mut self, range: BufferSlice) -> Result<ReadTicket> {
        let uses = [transfer::buffer_use(range, BufferUse::CopySrc)];
        self.check("read_buffer")?;
        let declared = self.declare(&uses, &[], "read_buffer");
        self.keep(declared)?;
        self.read_buffer_planned(range)
    }

    /// As [`Self::read_buffer`], when the source's barriers were planned and emitted before.
    pub fn read_buffer_planned(&mut self, range: BufferSlice) -> Result<ReadTicket> {
        self.check("read_buffer")?;
        let result = self.stage_buffer(range);
        self.keep(result)
    }

    fn stage_buffer(&mut self, range: BufferSlice) -> Result<ReadTicket> {
        let rows = crate::services::StagedRows::bytes(range.size);
        let (staging, ticket) = self.device.stage_readback(rows, "read_buffer")?;
        let uses = transfer::buffer_copy_uses(range, staging, 0);
        self.declare(&uses[1..], &[], "read_buffer")?;
        self.transfer_pass_body("read_buffer", &uses, |pass| pass.copy_buffer(range, staging, 0))?;
        self.publish_to_host(staging, range.size)?;
        Ok(ticket)
    }

    /// Copies texels to the CPU, rows without padding; the ticket is readable once the submission has completed.
    ///
    /// # Errors
    /// As [`Self::copy_texture_to_buffer`]; [`Error::Pending`] or [`Error::CapacityExceeded`] without staging.
    pub fn read_texture(&mut self, place: &TexturePlace, extent: Extent3d) -> Result<ReadTicket> {
        self.check("read_texture")?;
        let uses = transfer::texture_read_use(&self.device.registry, place, extent, "read_texture");
        let uses = [self.keep(uses)?];
        let planned = if uses.iter().any(is_empty_use) { &[][..] } else { &uses };
        let declared = self.declare(planned, &[], "read_texture");
        self.keep(declared)?;
        let ticket = self.read_texture_planned(place, extent)?;
        let published = self.publish_again(planned);
        self.keep(published)?;
        Ok(ticket)
    }

    /// As [`Self::read_texture`], when the source's barriers were planned and emitted before.
    pub fn read_texture_planned(&mut self, place: &TexturePlace, extent: Extent3d) -> Result<ReadTicket> {
        self.check("read_texture")?;
        let result = self.stage_texture(place, extent);
        self.keep(result)
    }

    fn stage_texture(&mut self, place: &TexturePlace, extent: Extent3d) -> Result<ReadTicket> {
        let label = "read_texture";
        let source = transfer::texture_read_use(&self.device.registry, place, extent, label)?;
        let record = self.device.registry.textures.check(place.texture, || label.into())?;
        let what = || format!("read_texture of {}", named(ResourceKind::Texture, &record.label));
        let aspect = crate::services::aspect_of(record.format, place.aspect);
        let alignment = self.device.capabilities().copy_row_alignment.max(1);
        let laid = aspect.and_then(|aspect| {
            let footprint = Footprint::of(record.format, aspect, extent)?;
            Some((footprint, row_pitch(record.format, aspect, extent.width, alignment)?))
        });
        let Some((footprint, pitch)) = laid else {
            let found = format!("{:?} of {:?}", place.aspect, record.format);
            return Err(invalid(what(), "aspect", "one aspect with a linear layout", found));
        };
        debug_assert!(record.dimension != TextureDimension::D1);
        let rows = crate::services::StagedRows {
            row_bytes: u64::from(footprint.row_bytes),
            pitch: u64::from(pitch),
            rows: u64::from(footprint.rows) * u64::from(footprint.images),
        };
        let layout = TexelLayout { offset: 0, bytes_per_row: pitch, rows_per_image: footprint.rows };
        let (staging, ticket) = self.device.stage_readback(rows, label)?;
        let bytes = rows.staged();
        let target =
            transfer::buffer_use(BufferSlice { buffer: staging, offset: 0, size: bytes }, BufferUse::CopyDst);
        self.declare(&[target], &[], label)?;
        self.transfer_pass_body(label, &[source, target], |pass| {
            pass.copy_texture_to_buffer(place, extent, staging, &layout);
        })?;
        self.publish_to_host(staging, bytes)?;
        Ok(ticket)
    }

    /// Has `write` fill a part of a staging buffer, and shows it to the CPU.
    pub(crate) fn write_staging(
        &mut self,
        range: BufferSlice,
        write: impl FnOnce(&B, &mut B::Encoder),
    ) -> Result<()> {
        self.declare(&[transfer::buffer_use(range, BufferUse::CopyDst)], &[], "readback")?;
        if let Some(encoder) = &mut self.encoder {
            write(&self.device.backend, encoder);
        }
        self.declare(&[transfer::buffer_use(range, BufferUse::HostRead)], &[], "readback")
    }

    fn publish_to_host(&mut self, staging: Buffer, size: u64) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        let range = BufferSlice { buffer: staging, offset: 0, size };
        self.declare(&[transfer::buffer_use(range, BufferUse::HostRead)], &[], "readback")
    }

    /// Submits the recording. The token completes when the GPU has done all of it.
    ///
    /// # Errors
    /// The first mistake of the recording, device loss, or a driver that refuses. On an error nothing was submitted
    /// and neither the ledger nor any ticket has changed.
    pub fn submit(mut self) -> Result<SubmissionToken> {
        if let Some(error) = self.mistake.take() {
            return Err(error);
        }
        self.device.check_lost("submit")?;
        let uses = if self.device.surfaces.is_empty() {
            FrameUses::new()
        } else {
            self.device.surfaces.frame_uses(&self.device.ledger, &self.frames)?
        };
        let Some(mut encoder) = self.encoder.take() else {
            return Err(state("submit", "an open recording", "one that was submitted"));
        };
        let device = &mut *self.device;
        if let Some((set, index)) = device.timings.end() {
            encoder.write_timestamp(&device.backend, set, index);
        }
        let ordinal = device.submitted + 1;
        device.scratch.encoders.clear();
        device.scratch.encoders.push(encoder);
        if let Err(error) = device.backend.submit(&mut device.scratch.encoders, ordinal, &uses) {
            let error = device.backend_error(error, format!("submission {ordinal}"));
            return Err(error);
        }
        device.submitted = ordinal;
        device.planner.commit(&mut device.ledger, ordinal);
        device.uploads_submitted(ordinal);
        device.readbacks.submitted(ordinal);
        device.batches_submitted(ordinal);
        device.frame_arena.submitted(ordinal);
        device.timings.submitted(ordinal);
        if !uses.is_empty() {
            device.frames_submitted(&uses, &mut self.frames, ordinal);
        }
        Ok(SubmissionToken { device: device.tag, ordinal })
    }
}

/// Enters the query sets of a pass that is about to begin.
#[cold]
fn begin_queries<B: Backend>(
    device: &mut Device<B>,
    encoder: &mut B::Encoder,
    declared: &DeclaredQueries,
    label: &str,
) -> Result<NativeQueries> {
    let Device { registry, backend, scratch, .. } = device;
    scratch.kept.queries.begin_pass(registry, backend, encoder, declared, label)
}

impl<B: Backend> Drop for Recorder<'_, B> {
    fn drop(&mut self) {
        if let Some(encoder) = self.encoder.take() {
            self.device.backend.discard(encoder);
        }
        self.device.discard_recording();
    }
}
