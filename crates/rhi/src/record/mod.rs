//! Recording: passes and copies for one submission.
//!
//! A recorder borrows the device until it is submitted or dropped. Every pass declares what it uses; the planner
//! turns that into barriers; the pass body records natively through one validated call a command. A mistake inside a
//! pass body is kept and answered at the pass's end, and a recorder with a mistake cannot be submitted: nothing of it
//! has happened. Pending uploads run at the front of the recording.

mod attachments;
mod bind;
mod compute;
mod render;
mod transfer;

use crate::backend::{Backend, Encoder};
use crate::desc::{BufferSlice, TexelLayout, TexturePlace};
use crate::device::{Device, SubmissionToken};
use crate::error::{Error, Result, invalid, named, state};
use crate::handle::{Buffer, ResourceKind};
use crate::plan::{BarrierBatch, BufferUse, Item, PassList, Plan, PlanError, ResourceUse, Scope};
use crate::registry::Registry;
use crate::services::row_pitch;
use crate::services::{Footprint, ReadTicket};
use crate::types::{Extent3d, TextureDimension};

pub use attachments::{AspectOps, ColorAttachment, DepthStencilAttachment, RenderPassDesc};
pub use compute::ComputePass;
pub use render::RenderPass;
pub use transfer::TransferPass;

/// What a recording needs and keeps from frame to frame, so that warm recordings allocate nothing.
#[derive(Debug)]
pub(crate) struct Scratch<B: Backend> {
    pub passes: PassList,
    pub plan: Plan,
    pub encoders: Vec<B::Encoder>,
}

impl<B: Backend> Default for Scratch<B> {
    fn default() -> Self {
        Self { passes: PassList::default(), plan: Plan::default(), encoders: Vec::new() }
    }
}

/// Describes a compute pass.
#[derive(Debug, Clone, Copy)]
pub struct ComputePassDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Every use of a tracked resource in the pass.
    pub uses: &'a [ResourceUse],
}

/// Records one submission. See the [module](self).
#[derive(Debug)]
pub struct Recorder<'d, B: Backend> {
    device: &'d mut Device<B>,
    encoder: Option<B::Encoder>,
    /// The first mistake; everything after it is ignored.
    mistake: Option<Error>,
}

impl<B: Backend> Device<B> {
    /// Begins a recording. Pending uploads are recorded first.
    ///
    /// # Errors
    /// Device loss, or no memory for a command buffer.
    pub fn record(&mut self, label: &str) -> Result<Recorder<'_, B>> {
        self.maintain()?;
        let mut encoder = match self.backend.begin(label) {
            Ok(encoder) => encoder,
            Err(error) => return Err(self.backend_error(error, format!("recording \"{label}\""))),
        };
        let begun = self.begin_timings().and_then(|()| self.encode_uploads(&mut encoder));
        if let Err(error) = begun {
            self.planner.discard();
            self.timings.discard();
            self.backend.discard(encoder);
            return Err(error);
        }
        Ok(Recorder { device: self, encoder: Some(encoder), mistake: None })
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

    fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result
            && self.mistake.is_none()
        {
            self.mistake = Some(error.clone());
        }
        result
    }

    fn check(&self, what: &str) -> Result<()> {
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
        let planned = device.planner.plan(&device.ledger, list, plan).map_err(|error| {
            let label = pass_label(failed_pass(&error));
            plan_error(&device.registry, list, error, &label)
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

    /// Plans one pass whose uses are in the scratch list, and emits its barriers.
    fn plan_scratch(&mut self, label: &str) -> Result<()> {
        let device = &mut *self.device;
        let scratch = &mut device.scratch;
        device
            .planner
            .plan(&device.ledger, &scratch.passes, &mut scratch.plan)
            .map_err(|error| plan_error(&device.registry, &scratch.passes, error, label))?;
        if let Some(encoder) = &mut self.encoder
            && !scratch.plan.batch(0).is_empty()
        {
            encoder.barriers(&device.backend, scratch.plan.batch(0));
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
        let scratch = &mut self.device.scratch;
        scratch.passes.begin();
        attachments::declare(&self.device.registry, desc, &mut scratch.passes)?;
        for usage in desc.uses {
            scratch.passes.push_use(*usage);
        }
        scratch.passes.end_pass();
        self.plan_scratch(desc.label)?;
        self.render_pass_body(desc, desc.uses, body)
    }

    /// Records a raster pass whose barriers were planned and emitted before. `declared` are its uses.
    pub fn render_pass_planned(
        &mut self,
        desc: &RenderPassDesc<'_>,
        declared: &[ResourceUse],
        body: impl FnOnce(&mut RenderPass<'_, B>),
    ) -> Result<()> {
        self.check(desc.label)?;
        let result = self.render_pass_body(desc, declared, body);
        self.keep(result)
    }

    fn render_pass_body(
        &mut self,
        desc: &RenderPassDesc<'_>,
        declared: &[ResourceUse],
        body: impl FnOnce(&mut RenderPass<'_, B>),
    ) -> Result<()> {
        let device = &mut *self.device;
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let resolved = attachments::resolve(&device.registry, device.backend.capabilities(), desc)?;
        let times = device.timings.pass(desc.label);
        encoder.push_label(&device.backend, desc.label);
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index);
        }
        encoder.begin_render_pass(&device.backend, &resolved.native(desc.label));
        let mut pass =
            RenderPass::new(&device.registry, &device.backend, encoder, declared, desc.label, &resolved);
        body(&mut pass);
        let result = pass.finish();
        encoder.end_render_pass(&device.backend);
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index + 1);
        }
        encoder.pop_label(&device.backend);
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
        let result = self
            .declare(desc.uses, desc.label)
            .and_then(|()| self.compute_pass_body(desc.label, desc.uses, body));
        self.keep(result)
    }

    /// Records a compute pass whose barriers were planned and emitted before. `declared` are its uses.
    pub fn compute_pass_planned(
        &mut self,
        label: &str,
        declared: &[ResourceUse],
        body: impl FnOnce(&mut ComputePass<'_, B>),
    ) -> Result<()> {
        self.check(label)?;
        let result = self.compute_pass_body(label, declared, body);
        self.keep(result)
    }

    fn declare(&mut self, uses: &[ResourceUse], label: &str) -> Result<()> {
        let scratch = &mut self.device.scratch;
        scratch.passes.begin();
        for usage in uses {
            check_use(&self.device.registry, usage, label)?;
            scratch.passes.push_use(*usage);
        }
        scratch.passes.end_pass();
        self.plan_scratch(label)
    }

    fn compute_pass_body(
        &mut self,
        label: &str,
        declared: &[ResourceUse],
        body: impl FnOnce(&mut ComputePass<'_, B>),
    ) -> Result<()> {
        let device = &mut *self.device;
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let times = device.timings.pass(label);
        if let Some((set, index)) = times {
            encoder.write_timestamp(&device.backend, set, index);
        }
        encoder.begin_compute_pass(&device.backend, label);
        let mut pass = ComputePass::new(&device.registry, &device.backend, encoder, declared, label);
        body(&mut pass);
        let result = pass.finish();
        encoder.end_compute_pass(&device.backend);
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
        let result = self.declare(uses, label).and_then(|()| self.transfer_pass_body(label, uses, body));
        self.keep(result)
    }

    /// Copies a buffer range to the CPU; the ticket is readable once the submission has completed.
    ///
    /// # Errors
    /// As [`Self::copy_buffer`]; [`Error::Pending`] or [`Error::CapacityExceeded`] when there is no staging.
    pub fn read_buffer(&mut self, range: BufferSlice) -> Result<ReadTicket> {
        let uses = [transfer::buffer_use(range, BufferUse::CopySrc)];
        self.check("read_buffer")?;
        let declared = self.declare(&uses, "read_buffer");
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
        self.declare(&uses[1..], "read_buffer")?;
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
        let declared = self.declare(&uses, "read_texture");
        self.keep(declared)?;
        self.read_texture_planned(place, extent)
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
        let bytes = u64::from(pitch) * rows.rows.saturating_sub(1) + rows.row_bytes;
        let target =
            transfer::buffer_use(BufferSlice { buffer: staging, offset: 0, size: bytes }, BufferUse::CopyDst);
        self.declare(&[target], label)?;
        self.transfer_pass_body(label, &[source, target], |pass| {
            pass.copy_texture_to_buffer(place, extent, staging, &layout);
        })?;
        self.publish_to_host(staging, bytes)?;
        Ok(ticket)
    }

    fn publish_to_host(&mut self, staging: Buffer, size: u64) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        let range = BufferSlice { buffer: staging, offset: 0, size };
        self.declare(&[transfer::buffer_use(range, BufferUse::HostRead)], "readback")
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
        let Some(encoder) = self.encoder.take() else {
            return Err(state("submit", "an open recording", "one that was submitted"));
        };
        let device = &mut *self.device;
        let ordinal = device.submitted + 1;
        device.scratch.encoders.clear();
        device.scratch.encoders.push(encoder);
        if let Err(error) = device.backend.submit(&mut device.scratch.encoders, ordinal) {
            let error = device.backend_error(error, format!("submission {ordinal}"));
            return Err(error);
        }
        device.submitted = ordinal;
        device.planner.commit(&mut device.ledger, ordinal);
        device.uploads_submitted(ordinal);
        device.readbacks.submitted(ordinal);
        device.frame_arena.submitted(ordinal);
        device.timings.submitted(ordinal);
        Ok(SubmissionToken { device: device.tag, ordinal })
    }
}

impl<B: Backend> Drop for Recorder<'_, B> {
    fn drop(&mut self) {
        if let Some(encoder) = self.encoder.take() {
            self.device.backend.discard(encoder);
        }
        // After a submission these find nothing.
        self.device.planner.discard();
        self.device.readbacks.discard_recorded();
        self.device.timings.discard();
    }
}

/// Checks that a declared use names a live resource with the usage for it.
pub(crate) fn check_use(registry: &Registry, usage: &ResourceUse, label: &str) -> Result<()> {
    match *usage {
        ResourceUse::Buffer { buffer, .. } => {
            registry.buffers.check(buffer, || format!("pass \"{label}\""))?;
        }
        ResourceUse::Texture { texture, .. } => {
            registry.textures.check(texture, || format!("pass \"{label}\""))?;
        }
    }
    Ok(())
}

/// Which pass of the list a planner's error is about.
fn failed_pass(error: &PlanError) -> usize {
    match *error {
        PlanError::Conflict { pass, .. }
        | PlanError::Undefined { pass, .. }
        | PlanError::OutOfRange { pass, .. }
        | PlanError::Unknown { pass, .. } => pass as usize,
    }
}

/// Names the pass and the resources of a planner's error.
pub(crate) fn plan_error(registry: &Registry, list: &PassList, error: PlanError, label: &str) -> Error {
    let name = |usage: &ResourceUse| match usage {
        ResourceUse::Buffer { buffer, offset, size, usage } => {
            let label = registry.buffers.at(buffer.slot()).map_or("", |record| &record.label);
            format!(
                "{:?} of bytes {offset}..{} of {}",
                usage,
                offset + size,
                named(ResourceKind::Buffer, label)
            )
        }
        ResourceUse::Texture { texture, range, usage } => {
            let label = registry.textures.at(texture.slot()).map_or("", |record| &record.label);
            format!(
                "{:?} of mips {}..{}, layers {}..{} ({:?}) of {}",
                usage,
                range.base_mip,
                range.base_mip + range.mips,
                range.base_layer,
                range.base_layer + range.layers,
                range.aspects,
                named(ResourceKind::Texture, label)
            )
        }
    };
    let pass = list.pass(failed_pass(&error));
    let at = |index: u32| pass.uses.get(index as usize).map_or_else(|| format!("use {index}"), name);
    let item = |item: Item| match item {
        Item::Use(index) => at(index),
        Item::Discard(index) => match pass.discards.get(index as usize) {
            Some((texture, range)) => format!("a discard of {range:?} of {texture}"),
            None => format!("discard {index}"),
        },
        Item::Alias(index) => format!("alias {index}"),
    };
    let what = format!("pass \"{label}\"");
    match error {
        PlanError::Conflict { first, second, .. } => invalid(
            what,
            "uses",
            "uses that do not write what another use of the pass touches",
            format!("{} and {}", at(first), at(second)),
        ),
        PlanError::Undefined { usage, part, .. } => state(
            what,
            "defined contents: written, cleared or uploaded before",
            format!("{}, undefined at {part:?}", at(usage)),
        ),
        PlanError::OutOfRange { item: found, .. } => {
            invalid(what, "uses", "a range within the resource", item(found))
        }
        PlanError::Unknown { item: found, .. } => {
            invalid(what, "uses", "a resource of this device", item(found))
        }
    }
}

/// Whether a pass declared a use that covers `wanted`.
pub(crate) fn is_declared(declared: &[ResourceUse], wanted: &ResourceUse) -> bool {
    let covers = |have: Scope, want: Scope| have.contains(want);
    declared.iter().any(|have| match (have, wanted) {
        (
            ResourceUse::Buffer { buffer: a, offset: a0, size: an, usage: au },
            ResourceUse::Buffer { buffer: b, offset: b0, size: bn, usage: bu },
        ) => {
            a == b
                && a0 <= b0
                && b0.saturating_add(*bn) <= a0.saturating_add(*an)
                && covers(au.scope(), bu.scope())
        }
        (
            ResourceUse::Texture { texture: a, range: ar, usage: au },
            ResourceUse::Texture { texture: b, range: br, usage: bu },
        ) => {
            a == b
                && ar.contains(br)
                && au.layout(ar.aspects) == bu.layout(br.aspects)
                && covers(au.scope(), bu.scope())
        }
        _ => false,
    })
}
