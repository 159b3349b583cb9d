//! Bind groups: each binding meets its layout entry, which says how and in which stages it is used.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{BufferUse, TextureUse};
use purlin_rhi::types::{BindGroupLayoutEntry, BindingType, BufferBindingType, StorageTextureAccess};
use purlin_rhi::{Buffer, Device};

use super::{buffer_range, push_buffer, push_texture, texture_range};
use crate::context::{Context, Origin, ResolvedBinding, ResolvedBound};
use crate::declare::{At, BindingDecl, Bound, GroupDecl};
use crate::error::GraphError;
use crate::version::{BufferRef, TextureRef};

/// Among so many of the last layouts duplicates are looked for.
const RECENT_LAYOUTS: usize = 8;

/// A binding on its way.
struct Slot<'a> {
    pass: u32,
    group: u32,
    entry: &'a BindGroupLayoutEntry,
    decl: BindingDecl,
}

pub(super) fn run<B: Backend>(
    context: &mut Context,
    device: &Device<B>,
    pass: u32,
) -> Result<(), GraphError> {
    for index in context.declared.passes[pass as usize].groups() {
        let group = context.declared.groups[index as usize];
        let entries = device.bind_group_layout_entries(group.layout).map_err(|source| GraphError::Pass {
            pass: context.declared.pass_name(pass).into(),
            at: group.at,
            source: Box::new(source),
        })?;
        check_count(context, pass, &group, entries.len())?;
        let recent = context.layouts.len().saturating_sub(RECENT_LAYOUTS);
        if !context.layouts[recent..].contains(&group.layout) {
            context.layouts.push(group.layout);
        }
        for (entry, binding) in entries.iter().zip(group.bindings.0..group.bindings.1) {
            let decl = context.declared.bindings[binding as usize];
            let slot = Slot { pass, group: group.index, entry, decl };
            let what = resolve(context, device, &slot)?;
            let dynamic = matches!(entry.ty, BindingType::Buffer { has_dynamic_offset: true, .. });
            context.bindings.push(ResolvedBinding { binding: entry.binding, dynamic, what });
        }
    }
    Ok(())
}

fn check_count(context: &Context, pass: u32, group: &GroupDecl, wanted: usize) -> Result<(), GraphError> {
    let given = (group.bindings.1 - group.bindings.0) as usize;
    if given == wanted {
        return Ok(());
    }
    Err(GraphError::Group {
        pass: context.declared.pass_name(pass).into(),
        group: group.index,
        expected: format!("{wanted} bindings, as its layout has").into(),
        found: given.to_string().into(),
        at: group.at,
    })
}

fn resolve<B: Backend>(
    context: &mut Context,
    device: &Device<B>,
    slot: &Slot<'_>,
) -> Result<ResolvedBound, GraphError> {
    let stages = slot.entry.visibility;
    match (slot.entry.ty, slot.decl.bound) {
        (BindingType::Texture { view_dimension, .. }, Bound::Texture(part)) => {
            texture(context, slot, part, TextureUse::Sampled(stages), view_dimension)
        }
        (BindingType::StorageTexture { access, view_dimension, .. }, bound) => match (access, bound) {
            (StorageTextureAccess::ReadOnly, Bound::StorageTextureRead(part)) => {
                texture(context, slot, part, TextureUse::StorageRead(stages), view_dimension)
            }
            (
                StorageTextureAccess::WriteOnly | StorageTextureAccess::ReadWrite,
                Bound::StorageTexture(part),
            ) => texture(context, slot, part, TextureUse::StorageWrite(stages), view_dimension),
            (StorageTextureAccess::ReadOnly, Bound::View(_)) => Ok(ResolvedBound::Outside),
            _ => Err(mismatch(context, device, slot)),
        },
        (BindingType::Texture { .. }, Bound::View(_)) => Ok(ResolvedBound::Outside),
        (BindingType::Buffer { ty, .. }, bound) => match (ty, bound) {
            (BufferBindingType::Uniform, Bound::Buffer(part)) => {
                buffer(context, slot, part, BufferUse::Uniform(stages))
            }
            (BufferBindingType::Storage { read_only: true }, Bound::Buffer(part)) => {
                buffer(context, slot, part, BufferUse::StorageRead(stages))
            }
            (BufferBindingType::Storage { read_only: false }, Bound::Storage(part)) => {
                buffer(context, slot, part, BufferUse::StorageWrite(stages))
            }
            (
                BufferBindingType::Uniform | BufferBindingType::Storage { read_only: true },
                Bound::Uploaded(_),
            ) => Ok(ResolvedBound::Outside),
            _ => Err(mismatch(context, device, slot)),
        },
        (BindingType::Sampler(_), Bound::Sampler(_)) => Ok(ResolvedBound::Outside),
        _ => Err(mismatch(context, device, slot)),
    }
}

fn origin(slot: &Slot<'_>) -> Origin {
    Origin::Binding { group: slot.group, binding: slot.entry.binding }
}

fn texture(
    context: &mut Context,
    slot: &Slot<'_>,
    part: TextureRef,
    usage: TextureUse,
    dimension: purlin_rhi::types::TextureViewDimension,
) -> Result<ResolvedBound, GraphError> {
    let at = slot.decl.at;
    let range = texture_range(context, slot.pass, part, at)?;
    push_texture(context, slot.pass, part.id.index, range, usage, origin(slot), at)?;
    Ok(ResolvedBound::Texture { resource: part.id.index, range, aspect: part.aspect, dimension })
}

fn buffer(
    context: &mut Context,
    slot: &Slot<'_>,
    part: BufferRef,
    usage: BufferUse,
) -> Result<ResolvedBound, GraphError> {
    let at = slot.decl.at;
    let (offset, size) = buffer_range(context, slot.pass, part, false, at)?;
    push_buffer(context, slot.pass, part.id.index, (offset, size), usage, origin(slot), at)?;
    Ok(ResolvedBound::Buffer { resource: part.id.index, offset, size })
}

/// Says what the layout wants and by which function it is given.
#[cold]
fn mismatch<B: Backend>(context: &Context, device: &Device<B>, slot: &Slot<'_>) -> GraphError {
    let expected = match slot.entry.ty {
        BindingType::Buffer { ty: BufferBindingType::Uniform, .. } => {
            "a uniform buffer: bind::buffer(&v) or bind::uploaded"
        }
        BindingType::Buffer { ty: BufferBindingType::Storage { read_only: true }, .. } => {
            "a read-only storage buffer: bind::buffer(&v) or bind::uploaded"
        }
        BindingType::Buffer { .. } => "a storage buffer that the shader writes: bind::storage(&mut v)",
        BindingType::Sampler(_) => "a sampler: bind::sampler",
        BindingType::Texture { .. } => "a sampled texture: bind::texture(&v) or bind::view",
        BindingType::StorageTexture { access: StorageTextureAccess::ReadOnly, .. } => {
            "a read-only storage texture: bind::storage_texture_read(&v)"
        }
        BindingType::StorageTexture { .. } => {
            "a storage texture that the shader writes: bind::storage_texture(&mut v)"
        }
        _ => "a kind of binding that the graph knows",
    };
    let found = match slot.decl.bound {
        Bound::Texture(_) => "bind::texture",
        Bound::StorageTexture(_) => "bind::storage_texture",
        Bound::StorageTextureRead(_) => "bind::storage_texture_read",
        Bound::Buffer(_) => "bind::buffer",
        Bound::Storage(_) => "bind::storage",
        Bound::Sampler(_) => "bind::sampler",
        Bound::View(_) => "bind::view",
        Bound::Uploaded(_) => "bind::uploaded",
    };
    let label = |buffer: Buffer| device.describe_buffer(buffer).map_or("", |desc| desc.label);
    let resource = match (slot.decl.bound, slot.decl.bound.target()) {
        (_, Some(target)) => context.declared.resource_name(target.index()),
        (Bound::Uploaded(slice), _) => label(slice.buffer),
        _ => "",
    };
    let at: At = slot.decl.at;
    GraphError::Binding {
        pass: context.declared.pass_name(slot.pass).into(),
        group: slot.group,
        binding: slot.entry.binding,
        resource: resource.into(),
        expected: expected.into(),
        found: found.into(),
        at,
    }
}
