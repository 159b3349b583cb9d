//! Attachments: formats that fit their slot, one mip each, and the uses of every aspect.

use purlin_rhi::plan::{Aspects, TextureRange, TextureUse};
use purlin_rhi::types::{ShaderStages, TextureFormat};
use purlin_rhi::{AspectOps, LoadOp, StoreOp};

use super::{push_texture, texture_range};
use crate::context::{Attachment, Context, NONE, Origin, Shape};
use crate::declare::{At, AttachmentDecl, PassKind};
use crate::error::GraphError;

pub(super) fn run(context: &mut Context, pass: u32) -> Result<(), GraphError> {
    let decls = context.declared.passes[pass as usize].attachments();
    if decls.is_empty() && context.declared.passes[pass as usize].kind == PassKind::Render {
        let at = context.declared.passes[pass as usize].at;
        return Err(reject(context, pass, "attachments", None, "at least one", "none".into(), at));
    }
    for index in decls {
        let attachment = match context.declared.attachments[index as usize] {
            AttachmentDecl::Color { index, target, load, at } => {
                let loads = matches!(load, LoadOp::Load);
                color(context, pass, target, loads, Origin::Color(index), at)?
            }
            // All of it is written at the end, whatever it held.
            AttachmentDecl::Resolve { index, target, at } => {
                color(context, pass, target, false, Origin::Resolve(index), at)?
            }
            AttachmentDecl::DepthStencil { target, depth, stencil, at } => {
                let (range, format) = checked(context, pass, target, Origin::Depth, at)?;
                check_aspects(
                    context,
                    pass,
                    target.id.index,
                    format,
                    depth.is_some(),
                    stencil.is_some(),
                    at,
                )?;
                let mut attachment =
                    Attachment { resource: target.id.index, range, first: NONE, second: NONE };
                if let Some(ops) = depth {
                    attachment.first =
                        aspect(context, pass, &attachment, Aspects::DEPTH, Origin::Depth, ops, at)?;
                }
                if let Some(ops) = stencil {
                    attachment.second =
                        aspect(context, pass, &attachment, Aspects::STENCIL, Origin::Stencil, ops, at)?;
                }
                attachment
            }
            AttachmentDecl::DepthRead { target, at } => {
                let (range, format) = checked(context, pass, target, Origin::Depth, at)?;
                let (depth, stencil) = (format.has_depth_aspect(), format.has_stencil_aspect());
                check_aspects(context, pass, target.id.index, format, depth, stencil, at)?;
                let usage = TextureUse::DepthStencilReadOnly(ShaderStages::NONE);
                let first = push_texture(context, pass, target.id.index, range, usage, Origin::Depth, at)?;
                Attachment { resource: target.id.index, range, first, second: NONE }
            }
        };
        context.attachments.push(attachment);
    }
    Ok(())
}

fn color(
    context: &mut Context,
    pass: u32,
    target: crate::version::TextureRef,
    load: bool,
    slot: Origin,
    at: At,
) -> Result<Attachment, GraphError> {
    let (range, format) = checked(context, pass, target, slot, at)?;
    if format.is_depth_stencil_format() {
        let name = super::super::origin_words(slot);
        let found = format!("{format:?}");
        let resource = Some(target.id.index);
        return Err(reject(context, pass, &name, resource, "a color format", found, at));
    }
    let usage = TextureUse::Color { load };
    let first = push_texture(context, pass, target.id.index, range, usage, slot, at)?;
    Ok(Attachment { resource: target.id.index, range, first, second: NONE })
}

fn aspect<T>(
    context: &mut Context,
    pass: u32,
    attachment: &Attachment,
    aspects: Aspects,
    origin: Origin,
    ops: AspectOps<T>,
    at: At,
) -> Result<u32, GraphError> {
    let range = TextureRange { aspects, ..attachment.range };
    let usage = if ops.read_only {
        TextureUse::DepthStencilReadOnly(ShaderStages::NONE)
    } else {
        TextureUse::DepthStencil { load: matches!(ops.load, LoadOp::Load) }
    };
    let index = push_texture(context, pass, attachment.resource, range, usage, origin, at)?;
    if let Some(entry) = context.uses.get_mut(index as usize)
        && !ops.read_only
        && ops.store == StoreOp::Discard
    {
        entry.store = StoreOp::Discard;
    }
    Ok(index)
}

/// The range of an attachment, which has one mip, and the texture's format.
fn checked(
    context: &Context,
    pass: u32,
    target: crate::version::TextureRef,
    slot: Origin,
    at: At,
) -> Result<(TextureRange, TextureFormat), GraphError> {
    let range = texture_range(context, pass, target, at)?;
    let resource = target.id.index;
    let name = || super::super::origin_words(slot);
    if range.mips != 1 {
        let found = format!("{} mips (split_mips or mip_mut give one)", range.mips);
        return Err(reject(context, pass, &name(), Some(resource), "one mip", found, at));
    }
    let Shape::Texture { format, aspects, .. } = context.resources[resource as usize].shape else {
        return Err(reject(context, pass, &name(), Some(resource), "a texture", "a buffer".into(), at));
    };
    if range.aspects != aspects {
        let found = format!("{:?}", range.aspects);
        return Err(reject(context, pass, &name(), Some(resource), "all aspects", found, at));
    }
    Ok((range, format))
}

fn check_aspects(
    context: &Context,
    pass: u32,
    resource: u32,
    format: TextureFormat,
    depth: bool,
    stencil: bool,
    at: At,
) -> Result<(), GraphError> {
    let slot = "depth-stencil attachment";
    if !format.is_depth_stencil_format() {
        let expected = "a depth or stencil format";
        return Err(reject(context, pass, slot, Some(resource), expected, format!("{format:?}"), at));
    }
    if depth != format.has_depth_aspect() || stencil != format.has_stencil_aspect() {
        let yes = |on: bool, word: &str| {
            if on { format!("{word} operations") } else { format!("no {word} operations") }
        };
        let expected = format!(
            "{} and {} for {format:?}",
            yes(format.has_depth_aspect(), "depth"),
            yes(format.has_stencil_aspect(), "stencil")
        );
        let found = format!("{} and {}", yes(depth, "depth"), yes(stencil, "stencil"));
        return Err(reject(context, pass, slot, Some(resource), &expected, found, at));
    }
    Ok(())
}

#[cold]
fn reject(
    context: &Context,
    pass: u32,
    slot: &str,
    resource: Option<u32>,
    expected: &str,
    found: String,
    at: At,
) -> GraphError {
    GraphError::Attachment {
        pass: context.declared.pass_name(pass).into(),
        slot: slot.into(),
        resource: resource.map_or("", |index| context.declared.resource_name(index)).into(),
        expected: expected.into(),
        found: found.into(),
        at,
    }
}
