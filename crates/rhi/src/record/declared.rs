//! Declared uses: checked against the registry, compared with what commands do, and named in the planner's errors.

use crate::error::{Error, Result, invalid, named, state};
use crate::handle::ResourceKind;
use crate::plan::{BufferUse, Item, Pass, PassList, PlanError, ResourceUse, Scope, TextureUse};
use crate::registry::Registry;
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

/// Names the pass and the resources of a planner's error.
pub(crate) fn plan_error(registry: &Registry, pass: &Pass<'_>, error: PlanError, label: &str) -> Error {
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
    declared.iter().any(|have| covers(have, wanted))
}

/// How far back of the last find the next search begins: groups and declarations list the same things, but seldom in
/// quite the same order.
const SLACK: usize = 8;

/// The same for many questions in a row, where each begins near the answer of the one before: a pass of thousands of
/// uses would otherwise be searched from its beginning for each.
pub(super) fn is_declared_near(declared: &[ResourceUse], wanted: &ResourceUse, near: &mut usize) -> bool {
    let (before, after) = declared.split_at((*near).saturating_sub(SLACK).min(declared.len()));
    let find = |part: &[ResourceUse]| part.iter().position(|have| covers(have, wanted));
    let found = find(after).map(|index| index + before.len()).or_else(|| find(before));
    *near = found.unwrap_or(*near);
    found.is_some()
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
