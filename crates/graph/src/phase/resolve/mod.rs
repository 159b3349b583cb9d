//! Resolve: what every declaration means on this device.
//!
//! Imports are looked up, parts become exact ranges, and bindings become accesses and stages by the entries of their
//! layouts. The result is one flat list of uses, linked by resource; from here on no phase looks at declarations for
//! anything but names and places. Usages of transients collect on the way.

mod attachments;
mod bindings;
mod resources;
mod transfers;

pub(crate) use resources::import;
pub(crate) use transfers::Image;

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{BufferUse, Part, TextureRange, TextureUse};
use purlin_rhi::types::{BufferUsages, ShaderStages, TextureUsages};
use purlin_rhi::{Device, StoreOp};

use super::{extent_words, part_words};
use crate::context::{Context, NONE, Origin, Resource, Shape, Usage, Use, padded};
use crate::declare::{At, DeclaredAccess, Work};
use crate::error::GraphError;
use crate::version::sealed::ResourceRef;
use crate::version::{BufferRef, REST, TextureRef};

/// Fills `resources`, `uses`, `pass_ends`, `attachments` and `bindings`.
pub(crate) fn run<B: Backend>(context: &mut Context, device: &Device<B>) -> Result<(), GraphError> {
    context.uses.clear();
    context.pass_ends.clear();
    context.attachments.clear();
    context.bindings.clear();
    context.layouts.clear();
    resources::run(context, device)?;
    for pass in 0..context.declared.passes.len() as u32 {
        attachments::run(context, pass)?;
        bindings::run(context, device, pass)?;
        declared_uses(context, pass)?;
        match context.declared.passes[pass as usize].work {
            Work::Transfer(transfer) => transfers::run(context, pass, transfer)?,
            Work::ReadTexture(target) => transfers::read_texture(context, pass, target)?,
            Work::ReadBuffer(target) => transfers::read_buffer(context, pass, target)?,
            _ => {}
        }
        context.pass_ends.push(context.uses.len() as u32);
    }
    Ok(())
}

fn declared_uses(context: &mut Context, pass: u32) -> Result<(), GraphError> {
    for index in context.declared.passes[pass as usize].uses() {
        let declared = context.declared.uses[index as usize];
        let at = declared.at;
        match declared.target {
            ResourceRef::Texture(target) => {
                let (usage, word) = texture_access(declared.access);
                let range = texture_range(context, pass, target, at)?;
                push_texture(context, pass, target.id.index, range, usage, Origin::Declared(word), at)?;
            }
            ResourceRef::Buffer(target) => {
                let (usage, word) = buffer_access(declared.access);
                let (offset, size) = buffer_range(context, pass, target, false, at)?;
                push_buffer(
                    context,
                    pass,
                    target.id.index,
                    (offset, size),
                    usage,
                    Origin::Declared(word),
                    at,
                )?;
            }
        }
    }
    Ok(())
}

// The builders offer each access only for what has it; the fallbacks are the nearest read.
fn texture_access(access: DeclaredAccess) -> (TextureUse, &'static str) {
    match access {
        DeclaredAccess::StorageRead(stages) => (TextureUse::StorageRead(stages), "storage_read"),
        DeclaredAccess::Storage(stages) => (TextureUse::StorageWrite(stages), "storage"),
        DeclaredAccess::Sampled(stages) => (TextureUse::Sampled(stages), "sampled"),
        _ => (TextureUse::Sampled(ShaderStages::NONE), "sampled"),
    }
}

fn buffer_access(access: DeclaredAccess) -> (BufferUse, &'static str) {
    match access {
        DeclaredAccess::Vertex => (BufferUse::Vertex, "vertex"),
        DeclaredAccess::Index => (BufferUse::Index, "index"),
        DeclaredAccess::Indirect => (BufferUse::Indirect, "indirect"),
        DeclaredAccess::Uniform(stages) | DeclaredAccess::Sampled(stages) => {
            (BufferUse::Uniform(stages), "uniform")
        }
        DeclaredAccess::StorageRead(stages) => (BufferUse::StorageRead(stages), "storage_read"),
        DeclaredAccess::Storage(stages) => (BufferUse::StorageWrite(stages), "storage"),
    }
}

/// Offset and size of a range that was resolved before; copies reach to the end of the last word.
pub(crate) fn buffer_bytes(context: &Context, target: BufferRef) -> Option<(u64, u64)> {
    let at = context.declared.resources.get(target.id.index as usize)?.at;
    buffer_range(context, NONE, target, true, at).ok()
}

/// The exact range of a texture part that was resolved before.
pub(crate) fn texture_part(context: &Context, target: TextureRef) -> Option<TextureRange> {
    let at = context.declared.resources.get(target.id.index as usize)?.at;
    texture_range(context, NONE, target, at).ok()
}

/// The exact part that an export names.
pub(super) fn export_part(context: &Context, target: ResourceRef, at: At) -> Result<Part, GraphError> {
    let nowhere = context.passes();
    match target {
        ResourceRef::Texture(target) => texture_range(context, nowhere, target, at).map(Part::Subresources),
        ResourceRef::Buffer(target) => {
            let (offset, size) = buffer_range(context, nowhere, target, false, at)?;
            Ok(Part::Bytes { offset, size })
        }
    }
}

/// The exact range of a texture part, which must exist.
fn texture_range(
    context: &Context,
    pass: u32,
    target: TextureRef,
    at: At,
) -> Result<TextureRange, GraphError> {
    let shape = context.resources[target.id.index as usize].shape;
    let Shape::Texture { format, mips, layers, .. } = shape else {
        return Err(out_of_range(context, pass, target.id.index, &shape.whole(), at));
    };
    let open = |base: u32, count: u32, all: u32| if count == 0 { all.saturating_sub(base) } else { count };
    let range = TextureRange {
        aspects: purlin_rhi::plan::Aspects::of(format, target.aspect),
        base_mip: target.base_mip,
        mips: open(target.base_mip, target.mips, mips),
        base_layer: target.base_layer,
        layers: open(target.base_layer, target.layers, layers),
    };
    let fits =
        |base: u32, count: u32, all: u32| count > 0 && base.checked_add(count).is_some_and(|end| end <= all);
    let exists = fits(range.base_mip, range.mips, mips) && fits(range.base_layer, range.layers, layers);
    if !exists || range.aspects.is_empty() {
        return Err(out_of_range(context, pass, target.id.index, &Part::Subresources(range), at));
    }
    Ok(range)
}

/// Offset and size of a buffer range, which must exist. Copies may reach to the end of the last word.
fn buffer_range(
    context: &Context,
    pass: u32,
    target: BufferRef,
    to_padding: bool,
    at: At,
) -> Result<(u64, u64), GraphError> {
    let shape = context.resources[target.id.index as usize].shape;
    let Shape::Buffer { size } = shape else {
        return Err(out_of_range(context, pass, target.id.index, &shape.whole(), at));
    };
    let end = if to_padding { padded(size) } else { size };
    let count = if target.size == REST { end.saturating_sub(target.offset) } else { target.size };
    if target.offset > size || target.offset.checked_add(count).is_none_or(|last| last > end) {
        let part = Part::Bytes { offset: target.offset, size: count };
        return Err(out_of_range(context, pass, target.id.index, &part, at));
    }
    Ok((target.offset, count))
}

#[cold]
fn out_of_range(context: &Context, pass: u32, resource: u32, part: &Part, at: At) -> GraphError {
    let shape = context.resources[resource as usize].shape;
    GraphError::OutOfRange {
        pass: context.declared.pass_name(pass).into(),
        resource: context.declared.resource_name(resource).into(),
        part: part_words(&shape, part).into(),
        extent: extent_words(&shape).into(),
        at,
        declared: context.declared.resources[resource as usize].at,
    }
}

fn push_texture(
    context: &mut Context,
    pass: u32,
    resource: u32,
    range: TextureRange,
    usage: TextureUse,
    origin: Origin,
    at: At,
) -> Result<u32, GraphError> {
    let needed = match usage {
        TextureUse::Sampled(_) => TextureUsages::TEXTURE_BINDING,
        TextureUse::StorageRead(_) | TextureUse::StorageWrite(_) => TextureUsages::STORAGE_BINDING,
        TextureUse::Color { .. } | TextureUse::DepthStencil { .. } | TextureUse::DepthStencilReadOnly(_) => {
            TextureUsages::RENDER_ATTACHMENT
        }
        TextureUse::CopySrc => TextureUsages::COPY_SRC,
        TextureUse::CopyDst { .. } => TextureUsages::COPY_DST,
        TextureUse::Present => TextureUsages::empty(),
    };
    context.resources[resource as usize].texture_usage |= needed;
    push(context, pass, resource, Part::Subresources(range), Usage::Texture(usage), origin, at)
}

fn push_buffer(
    context: &mut Context,
    pass: u32,
    resource: u32,
    (offset, size): (u64, u64),
    usage: BufferUse,
    origin: Origin,
    at: At,
) -> Result<u32, GraphError> {
    let needed = match usage {
        BufferUse::Indirect => BufferUsages::INDIRECT,
        BufferUse::Index => BufferUsages::INDEX,
        BufferUse::Vertex => BufferUsages::VERTEX,
        BufferUse::Uniform(_) => BufferUsages::UNIFORM,
        BufferUse::StorageRead(_) | BufferUse::StorageWrite(_) => BufferUsages::STORAGE,
        BufferUse::CopySrc => BufferUsages::COPY_SRC,
        BufferUse::CopyDst => BufferUsages::COPY_DST,
        BufferUse::HostRead => BufferUsages::empty(),
    };
    context.resources[resource as usize].buffer_usage |= needed;
    push(context, pass, resource, Part::Bytes { offset, size }, Usage::Buffer(usage), origin, at)
}

/// Adds a use and links it, unless the resource needs no tracking. Returns its index.
fn push(
    context: &mut Context,
    pass: u32,
    resource: u32,
    part: Part,
    usage: Usage,
    origin: Origin,
    at: At,
) -> Result<u32, GraphError> {
    let index = context.uses.len() as u32;
    let entry: &mut Resource = &mut context.resources[resource as usize];
    if entry.uploaded {
        if usage.effect().writes() {
            return Err(GraphError::ReadOnlyImport {
                pass: context.declared.pass_name(pass).into(),
                resource: context.declared.resource_name(resource).into(),
                at,
                declared: context.declared.resources[resource as usize].at,
            });
        }
        return Ok(NONE);
    }
    if entry.head == NONE {
        entry.head = index;
    } else if let Some(last) = context.uses.get_mut(entry.tail as usize) {
        last.next = index;
    }
    entry.tail = index;
    context.uses.push(Use { resource, pass, part, usage, origin, at, next: NONE, store: StoreOp::Store });
    Ok(index)
}
