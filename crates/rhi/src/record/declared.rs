//! Declared uses: checked against the registry, compared with what commands do, and named in the planner's errors.

use crate::error::{Error, Result, invalid, named, state};
use crate::handle::{BindGroup, CommandBatch, ResourceKind};
use crate::plan::{BufferUse, GroupUses, Item, Pass, PassList, PlanError, ResourceUse, Scope, TextureUse};
use crate::record::RenderPassDesc;
use crate::registry::{BindGroupRecord, Registry, TrackedBinding};
use crate::types::{BufferUsages, TextureUsages};

/// Checks that a declared use names a live resource with the usage for it.
#[inline]
pub(crate) fn check_use(registry: &Registry, usage: &ResourceUse, label: &str) -> Result<()> {
    match *usage {
        ResourceUse::Buffer { buffer, usage, .. } => {
            let record = registry.buffers.check(buffer, || format!("pass \"{label}\""))?;
            let needed = buffer_usage(usage);
            if !record.usage.contains(needed) {
                let found = format!("{:?} of {}", record.usage, named(ResourceKind::Buffer, &record.label));
                return Err(invalid(format!("pass \"{label}\""), "uses", format!("usage {needed:?}"), found));
            }
        }
        ResourceUse::Texture { texture, usage, .. } => {
            let record = registry.textures.check(texture, || format!("pass \"{label}\""))?;
            let needed = texture_usage(usage);
            if !record.usage.contains(needed) {
                let found = format!("{:?} of {}", record.usage, named(ResourceKind::Texture, &record.label));
                return Err(invalid(format!("pass \"{label}\""), "uses", format!("usage {needed:?}"), found));
            }
        }
    }
    Ok(())
}

/// Checks every handle and usage of a list; the planner looks only at slots and ranges.
pub(super) fn check_list(
    registry: &Registry,
    list: &PassList,
    label: &impl Fn(usize) -> String,
) -> Result<()> {
    for (index, pass) in list.iter().enumerate() {
        let uses = pass.uses.iter().try_for_each(|usage| check_use(registry, usage, ""));
        let mut discards = pass.discards.iter();
        let checked = uses.and_then(|()| {
            discards.try_for_each(|(texture, _)| registry.textures.check(*texture, String::new).map(|_| ()))
        });
        if let Err(mut error) = checked {
            // Only now the name of the pass is worth its text.
            if let Error::InvalidHandle { what, .. } | Error::InvalidDescription { what, .. } = &mut error {
                *what = format!("pass \"{}\"", label(index));
            }
            return Err(error);
        }
    }
    Ok(())
}

/// The usage that a buffer needs for a declared use.
fn buffer_usage(usage: BufferUse) -> BufferUsages {
    match usage {
        BufferUse::Indirect => BufferUsages::INDIRECT,
        BufferUse::Index => BufferUsages::INDEX,
        BufferUse::Vertex => BufferUsages::VERTEX,
        BufferUse::Uniform(_) => BufferUsages::UNIFORM,
        BufferUse::StorageRead(_) | BufferUse::StorageWrite(_) => BufferUsages::STORAGE,
        BufferUse::CopySrc => BufferUsages::COPY_SRC,
        BufferUse::CopyDst => BufferUsages::COPY_DST,
        BufferUse::HostRead => BufferUsages::empty(),
    }
}

/// The usage that a texture needs for a declared use.
fn texture_usage(usage: TextureUse) -> TextureUsages {
    match usage {
        TextureUse::Sampled(_) => TextureUsages::TEXTURE_BINDING,
        TextureUse::StorageRead(_) | TextureUse::StorageWrite(_) => TextureUsages::STORAGE_BINDING,
        TextureUse::Color { .. } | TextureUse::DepthStencil { .. } => TextureUsages::RENDER_ATTACHMENT,
        TextureUse::DepthStencilReadOnly(stages) if stages.is_empty() => TextureUsages::RENDER_ATTACHMENT,
        TextureUse::DepthStencilReadOnly(_) => {
            TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING
        }
        TextureUse::CopySrc => TextureUsages::COPY_SRC,
        TextureUse::CopyDst { .. } => TextureUsages::COPY_DST,
        TextureUse::Present => TextureUsages::empty(),
    }
}

/// Whether a use is of no bytes or no subresources.
pub(super) fn is_empty_use(usage: &ResourceUse) -> bool {
    match usage {
        ResourceUse::Buffer { size, .. } => *size == 0,
        ResourceUse::Texture { range, .. } => range.layers == 0 || range.mips == 0,
    }
}

/// Which pass of the list a planner's error is about.
pub(crate) fn failed_pass(error: &PlanError) -> usize {
    match *error {
        PlanError::Conflict { pass, .. }
        | PlanError::Undefined { pass, .. }
        | PlanError::OutOfRange { pass, .. }
        | PlanError::Unknown { pass, .. } => pass as usize,
    }
}

/// Names the pass and the resources of a planner's error. The uses of `groups` are the pass's last.
pub(crate) fn plan_error(
    registry: &Registry,
    pass: &Pass<'_>,
    groups: &[BindGroup],
    error: PlanError,
    label: &str,
) -> Error {
    let name = |usage: &ResourceUse| match usage {
        ResourceUse::Buffer { buffer, offset, size, usage } => {
            let label = registry.buffers.at(buffer.slot()).map_or("", |record| &record.label);
            format!(
                "{:?} of bytes {offset}..{} of {}",
                usage,
                offset.saturating_add(*size),
                named(ResourceKind::Buffer, label)
            )
        }
        ResourceUse::Texture { texture, range, usage } => {
            let label = registry.textures.at(texture.slot()).map_or("", |record| &record.label);
            format!(
                "{:?} of mips {}..{}, layers {}..{} ({:?}) of {}",
                usage,
                range.base_mip,
                range.base_mip.saturating_add(range.mips),
                range.base_layer,
                range.base_layer.saturating_add(range.layers),
                range.aspects,
                named(ResourceKind::Texture, label)
            )
        }
    };
    let at = |index: u32| {
        let usage = pass.uses.get(index as usize).map_or_else(|| format!("use {index}"), name);
        let from_last = pass.uses.len().checked_sub(index as usize + 1);
        match from_last.and_then(|from_last| group_of(registry, groups, from_last)) {
            Some(group) => format!("{usage} by {}", named(ResourceKind::BindGroup, &group.label)),
            None => usage,
        }
    };
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

/// The group whose use is this one, counted from the last use of the last group.
fn group_of<'r>(
    registry: &'r Registry,
    groups: &[BindGroup],
    mut from_last: usize,
) -> Option<&'r BindGroupRecord> {
    for record in groups.iter().rev().filter_map(|group| registry.groups.get(*group)) {
        match from_last.checked_sub(record.tracked.len()) {
            Some(rest) => from_last = rest,
            None => return Some(record),
        }
    }
    None
}

/// What a pass has declared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared<'p> {
    uses: &'p [ResourceUse],
    groups: &'p [BindGroup],
    batches: &'p [CommandBatch],
    /// Whether whatever is asked for counts as declared.
    everything: bool,
    /// Where the last use, the last group and the last batch were found.
    near_use: usize,
    near_group: usize,
    near_batch: usize,
}

/// How far back of the last find the next search begins: groups and declarations list the same things, but seldom in
/// quite the same order.
const SLACK: usize = 8;

impl<'p> Declared<'p> {
    #[inline]
    pub(super) fn new(uses: &'p [ResourceUse], groups: &'p [BindGroup]) -> Self {
        Self { uses, groups, batches: &[], everything: false, near_use: 0, near_group: 0, near_batch: 0 }
    }

    /// What a pass that is planned with its description declares.
    #[inline]
    pub(super) fn of_render(desc: &RenderPassDesc<'p>) -> Self {
        Self { batches: desc.batches, ..Self::new(desc.uses, desc.groups) }
    }

    /// For the recording of a batch, whose uses are noted instead.
    pub(super) fn everything() -> Self {
        Self { everything: true, ..Self::new(&[], &[]) }
    }

    /// Whether a declared use covers `wanted`.
    pub(super) fn covers(&self, wanted: &ResourceUse) -> bool {
        self.everything || self.uses.iter().any(|have| covers(have, wanted))
    }

    /// The same for many questions in a row, where each begins near the answer of the one before: a pass of thousands
    /// of uses would otherwise be searched from its beginning for each.
    pub(super) fn covers_near(&mut self, wanted: &ResourceUse) -> bool {
        find_near(self.uses, &mut self.near_use, |have| covers(have, wanted))
    }

    /// Whether the group is the next one declared: mostly groups are bound in the order of their declaration.
    #[inline]
    pub(super) fn is_next_group(&mut self, group: BindGroup) -> bool {
        let is_next = self.groups.get(self.near_group) == Some(&group);
        self.near_group += usize::from(is_next);
        is_next
    }

    /// Whether the group is declared, and all that it uses with it.
    pub(super) fn has_group(&mut self, group: BindGroup) -> bool {
        if self.everything {
            return true;
        }
        let found = find_near(self.groups, &mut self.near_group, |have| *have == group);
        self.near_group += usize::from(found);
        found
    }

    /// Whether the batch is declared, and all that it uses with it.
    pub(super) fn has_batch(&mut self, batch: CommandBatch) -> bool {
        let found = find_near(self.batches, &mut self.near_batch, |have| *have == batch);
        self.near_batch += usize::from(found);
        found
    }
}

fn find_near<T>(all: &[T], near: &mut usize, is_it: impl Fn(&T) -> bool) -> bool {
    let (before, after) = all.split_at((*near).saturating_sub(SLACK).min(all.len()));
    let found = after.iter().position(&is_it).map(|index| index + before.len());
    let found = found.or_else(|| before.iter().position(&is_it));
    *near = found.unwrap_or(*near);
    found.is_some()
}

impl GroupUses for Registry {
    fn uses(&self, group: BindGroup) -> impl Iterator<Item = ResourceUse> {
        self.groups.get(group).into_iter().flat_map(group_uses)
    }
}

/// What the bindings of a group can reach.
pub(super) fn group_uses(record: &BindGroupRecord) -> impl Iterator<Item = ResourceUse> {
    record.tracked.iter().map(|tracked| reach(record, tracked))
}

/// What a binding can reach, whatever its dynamic offset.
#[inline]
fn reach(record: &BindGroupRecord, tracked: &TrackedBinding) -> ResourceUse {
    let mut usage = tracked.usage;
    if let (ResourceUse::Buffer { size, .. }, Some(index)) = (&mut usage, tracked.dynamic) {
        *size += record.dynamic[usize::from(index)].most;
    }
    usage
}

/// Checks that the groups of a pass are alive. What they use is, then, and was checked when they were made.
#[inline]
pub(super) fn check_groups(registry: &Registry, groups: &[BindGroup], label: &str) -> Result<()> {
    match groups.iter().find(|group| !registry.groups.is_live(**group)) {
        None => Ok(()),
        Some(group) => Err(registry.groups.problem(*group, format!("pass \"{label}\", groups"))),
    }
}

/// Whether one use covers another: the same resource, all of the range, every stage and access, the same layout.
#[inline]
fn covers(have: &ResourceUse, wanted: &ResourceUse) -> bool {
    let scope = |have: Scope, wanted: Scope| have.contains(wanted);
    match (have, wanted) {
        (
            ResourceUse::Buffer { buffer: a, offset: a0, size: an, usage: au },
            ResourceUse::Buffer { buffer: b, offset: b0, size: bn, usage: bu },
        ) => {
            a == b
                && a0 <= b0
                && b0.saturating_add(*bn) <= a0.saturating_add(*an)
                && (au == bu || scope(au.scope(), bu.scope()))
        }
        (
            ResourceUse::Texture { texture: a, range: ar, usage: au },
            ResourceUse::Texture { texture: b, range: br, usage: bu },
        ) => {
            a == b
                && ar.contains(br)
                && au.layout(ar.aspects) == bu.layout(br.aspects)
                && (au == bu || scope(au.scope(), bu.scope()))
        }
        _ => false,
    }
}
