//! Executing a batch in a pass, and declaring what it uses.

use super::{CommandBatchRecord, check_executable};
use crate::backend::Backend;
use crate::device::Device;
use crate::error::{Error, Result, invalid, named};
use crate::handle::{BindGroup, CommandBatch, ResourceKind, Texture};
use crate::plan::{ResourceUse, TextureRange};
use crate::record::attachments::{ResolvedPass, show_targets};
use crate::record::declared::group_uses;
use crate::record::{Recorder, RenderPass, RenderPassDesc, Scratch};
use crate::registry::Registry;

/// Adds what a pass's batches use to its own uses and groups. Each was checked when it was recorded, and lives as long as the
/// batch, whoever destroyed its handle; of a destroyed group only its uses can be named.
fn declare(
    registry: &Registry,
    desc: &RenderPassDesc<'_>,
    uses: &mut Vec<ResourceUse>,
    groups: &mut Vec<BindGroup>,
) -> Result<()> {
    groups.clear();
    groups.extend_from_slice(desc.groups);
    for &batch in desc.batches {
        let what = |name: &str| match name {
            "" => format!("pass \"{}\", batches", desc.label),
            name => format!("pass \"{}\", batches: {name}", desc.label),
        };
        let record = check_executable(registry, batch, what)?;
        uses.extend(record.notes.uses());
        for &group in &record.notes.groups {
            match registry.groups.is_live(group) {
                true => groups.push(group),
                false => uses.extend(registry.groups.at(group.slot()).into_iter().flat_map(group_uses)),
            }
        }
    }
    Ok(())
}

impl<B: Backend> Scratch<B> {
    /// Takes the slots of the batches that the recording executes; some come twice.
    pub(crate) fn executed(&mut self, mut each: impl FnMut(u32)) {
        self.kept.executed.drain(..).for_each(&mut each);
        self.sections.executed(each);
    }
}

impl<B: Backend> Device<B> {
    /// Notes what a submission executes.
    pub(crate) fn batches_submitted(&mut self, ordinal: u64) {
        let Self { registry, scratch, .. } = self;
        scratch.executed(|slot| {
            if let Some(record) = registry.batches.at_mut(slot) {
                record.last = ordinal;
            }
        });
    }
}

impl<B: Backend> Recorder<'_, B> {
    /// Plans a pass with what its batches use.
    pub(in crate::record) fn plan_with_batches(
        &mut self,
        desc: &RenderPassDesc<'_>,
        uses: &mut Vec<ResourceUse>,
        discards: &[(Texture, TextureRange)],
    ) -> Result<()> {
        let mut groups = std::mem::take(&mut self.device.scratch.groups);
        let planned = match declare(&self.device.registry, desc, uses, &mut groups) {
            Ok(()) => self.plan_pass(uses, discards, &groups, desc.label),
            Err(error) => Err(error),
        };
        self.device.scratch.groups = groups;
        planned
    }
}

impl<B: Backend> RenderPass<'_, B> {
    /// Executes a finished command batch. Nothing is checked for each of its draws, and nothing of what they are is looked
    /// up.
    ///
    /// The batch begins without pipeline, groups, buffers and immediates, whatever the pass has set, and leaves none of its
    /// own: what is drawn next sets its own again. Viewport, scissor, blend constant and stencil reference are the pass's,
    /// before and after; open queries count its draws. What of its uses is tracked, the pass has declared: by naming the batch
    /// in [`RenderPassDesc::batches`], or each use or group.
    ///
    /// A mistake: a batch that is recording or discarded, a stale or foreign handle, other attachments than it was made for,
    /// writes to an aspect that is read-only, an undeclared use. Nothing is drawn then, and the pass has set what it had.
    pub fn execute_batch(&mut self, batch: CommandBatch) {
        if self.bindings.mistake.is_some() {
            return;
        }
        let registry = self.bindings.registry;
        let record = match check_executable(registry, batch, |name| self.call(name)) {
            Ok(record) => record,
            Err(error) => return self.bindings.fail(error),
        };
        if let Err(error) = self.check_batch(batch, record) {
            return self.bindings.fail(error);
        }
        if self.executed.last() != Some(&batch.slot()) {
            self.executed.push(batch.slot());
        }
        self.unset();
        self.bindings.count += record.stream.draws;
        if !self.empty_scissor && !self.empty_viewport {
            record.stream.replay(self.backend, self.encoder.0, self.bindings.point);
            self.bindings.unset();
        }
    }

    #[cold]
    fn call(&self, name: &str) -> String {
        match name {
            "" => self.bindings.what("execute_batch"),
            name => self.bindings.what(&format!("execute_batch of {name}")),
        }
    }

    /// Checks what only the pass knows.
    fn check_batch(&mut self, batch: CommandBatch, record: &CommandBatchRecord) -> Result<()> {
        let ResolvedPass { formats, depth_format, samples, depth_stencil, .. } = self.target;
        let targets = &record.targets;
        if targets.colors != *formats || targets.depth_stencil != *depth_format || targets.samples != *samples
        {
            let expected = show_targets(formats, *depth_format, *samples);
            let found = show_targets(&targets.colors, targets.depth_stencil, targets.samples);
            return Err(invalid(self.call(&record.name()), "targets", expected, found));
        }
        if let Some(attachment) = depth_stencil {
            let writes = (record.writes_depth, record.writes_stencil);
            if let Some(aspect) = attachment.first_read_only(writes) {
                let expected = format!("no {aspect} writes: the aspect is read-only in this pass");
                return Err(invalid(
                    self.call(&record.name()),
                    "depth_stencil",
                    expected,
                    format!("{aspect} writes"),
                ));
            }
        }
        let declared = &mut self.bindings.declared;
        if !declared.has_batch(batch)
            && let Some((group, usage)) = record.notes.undeclared(declared)
        {
            return Err(self.undeclared(record, group, usage));
        }
        Ok(())
    }

    #[cold]
    fn undeclared(&self, record: &CommandBatchRecord, group: Option<BindGroup>, usage: ResourceUse) -> Error {
        let registry = self.bindings.registry;
        let found = match group {
            Some(group) => {
                let label = registry.groups.at(group.slot()).map_or("", |record| &record.label);
                format!("no such declaration, for {}", named(ResourceKind::BindGroup, label))
            }
            None => "no such declaration".into(),
        };
        let expected = format!("the batch among the pass's batches, or {usage:?} declared by the pass");
        invalid(self.call(&record.name()), "uses", expected, found)
    }
}
