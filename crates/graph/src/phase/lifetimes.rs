//! Lifetimes: from which live pass to which each resource is used, and which attachments are worth storing.

use purlin_rhi::StoreOp;
use purlin_rhi::plan::Effect;

use crate::context::{Context, NONE, Usage, Use};
use crate::runs::covers;

/// Fills `first` and `last` of resources, as positions in `order`, and `store` of attachment uses.
pub(crate) fn run(context: &mut Context) {
    for resource in &mut context.resources {
        (resource.first, resource.last) = (NONE, NONE);
    }
    for (position, pass) in context.order.iter().enumerate() {
        for index in context.uses_of(*pass) {
            let resource = &mut context.resources[context.uses[index].resource as usize];
            if resource.first == NONE {
                resource.first = position as u32;
            }
            resource.last = position as u32;
        }
    }
    let end = context.order.len() as u32;
    for resource in &mut context.resources {
        if resource.exported != NONE && resource.first != NONE {
            resource.last = end;
        }
    }
    for position in 0..context.order.len() {
        for index in context.uses_of(context.order[position]) {
            if is_written_attachment(&context.uses[index]) && !is_wanted(context, index) {
                context.uses[index].store = StoreOp::Discard;
            }
        }
    }
}

pub(crate) fn is_written_attachment(usage: &Use) -> bool {
    use purlin_rhi::plan::TextureUse;
    matches!(usage.usage, Usage::Texture(TextureUse::Color { .. } | TextureUse::DepthStencil { .. }))
}

/// Whether anything may see what an attachment holds after its pass.
fn is_wanted(context: &Context, index: usize) -> bool {
    let usage = &context.uses[index];
    let resource = &context.resources[usage.resource as usize];
    if usage.store == StoreOp::Discard {
        return false;
    }
    if resource.imported || resource.exported != NONE {
        return true;
    }
    let mut next = usage.next;
    while let Some(later) = context.uses.get(next as usize) {
        next = later.next;
        if later.pass == usage.pass || !context.is_live(later.pass) || !later.part.overlaps(&usage.part) {
            continue;
        }
        if later.usage.effect() != Effect::Overwrite {
            return true;
        }
        if covers(&later.part, &usage.part) {
            return false;
        }
    }
    false
}
