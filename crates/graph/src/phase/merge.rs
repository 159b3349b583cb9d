//! Merge: which raster passes are recorded as one.
//!
//! A raster pass that continues the one before costs a native pass for nothing: its attachments are stored and loaded
//! again as they are. Where the switch is on, such passes become one *scope*: attachments are loaded as the first pass
//! says and stored as the last one does, and in between nothing ends. Draws of one native pass reach the attachments in
//! their order, so the image is the same.
//!
//! A pass continues the one before if
//! - both are raster passes, declared one right after the other, with no culled one between and no side effect;
//! - they have the same attachments in the same places, the former stores all that it writes, and the latter loads all
//!   of it and writes the same aspects;
//! - everything else that they use is read, and both read the same parts in the same way and order: so no barrier is
//!   due between them, and nothing's life begins or ends there;
//! - neither is recorded in sections by several threads, and neither resolves samples when it ends;
//! - both have the same query sets, and no timestamps: a native pass has one set of occlusion queries, and each query ends
//!   in the pass that begins it, merged or not.
//!
//! Every pass keeps its name, its edges and its own state: each begins with nothing set but what it binds.

use purlin_rhi::StoreOp;
use purlin_rhi::plan::TextureUse;

use super::lifetimes::is_written_attachment;
use crate::context::{Context, Scope, Usage, Use};
use crate::declare::{AttachmentDecl, PassKind, Work};

/// Fills `scopes`, and `scope` of every live pass.
pub(crate) fn run(context: &mut Context) {
    context.scopes.clear();
    for position in 0..context.order.len() as u32 {
        if context.options.merge && position > 0 && continues(context, position) {
            if let Some(scope) = context.scopes.last_mut() {
                scope.end = position + 1;
            }
        } else {
            context.scopes.push(Scope { first: position, end: position + 1 });
        }
    }
    context.stats.merged = (context.order.len() - context.scopes.len()) as u32;
}

/// Whether the live pass at this position continues the one before.
fn continues(context: &Context, position: u32) -> bool {
    let [former, latter] = [position - 1, position].map(|position| context.order[position as usize]);
    let plain = |pass: u32| {
        let decl = &context.declared.passes[pass as usize];
        decl.kind == PassKind::Render && !decl.side_effect && !matches!(decl.work, Work::Sections(_))
    };
    if latter != former + 1 || !plain(former) || !plain(latter) {
        return false;
    }
    let queries = |pass: u32| context.declared.queries_of(&context.declared.passes[pass as usize]);
    match (queries(former), queries(latter)) {
        (None, None) => {}
        (Some(before), Some(after)) if before == after && before.timestamps.is_none() => {}
        _ => return false,
    }
    let resolves = |pass: u32| {
        let decls = context.declared.passes[pass as usize].attachments();
        let decls = &context.declared.attachments[decls.start as usize..decls.end as usize];
        decls.iter().any(|decl| matches!(decl, AttachmentDecl::Resolve { .. }))
    };
    if resolves(former) || resolves(latter) {
        return false;
    }
    let places = |pass: u32| {
        let decls = context.declared.passes[pass as usize].attachments();
        context.declared.attachments[decls.start as usize..decls.end as usize].iter().map(place)
    };
    let [before, after] = [former, latter].map(|pass| &context.uses[context.uses_of(pass)]);
    places(former).eq(places(latter))
        && before.len() == after.len()
        && before.iter().zip(after).all(|(before, after)| follows(before, after))
}

/// Where an attachment is, and whether as one that is only tested.
fn place(decl: &AttachmentDecl) -> (u32, bool) {
    const DEPTH: u32 = u32::MAX;
    match *decl {
        AttachmentDecl::Color { index, .. } | AttachmentDecl::Resolve { index, .. } => (index, false),
        AttachmentDecl::DepthStencil { .. } => (DEPTH, false),
        AttachmentDecl::DepthRead { .. } => (DEPTH, true),
    }
}

/// Whether nothing has to happen between two uses in the same place of two passes.
fn follows(before: &Use, after: &Use) -> bool {
    if before.resource != after.resource || before.part != after.part || before.origin != after.origin {
        return false;
    }
    if !is_written_attachment(before) {
        return before.usage == after.usage && !before.usage.effect().writes();
    }
    let loads = match (before.usage, after.usage) {
        (Usage::Texture(TextureUse::Color { .. }), Usage::Texture(TextureUse::Color { load })) => load,
        (
            Usage::Texture(TextureUse::DepthStencil { .. }),
            Usage::Texture(TextureUse::DepthStencil { load }),
        ) => load,
        _ => false,
    };
    loads && before.store == StoreOp::Store
}
