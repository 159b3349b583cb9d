//! Reuse: a frame with the structure of the last one takes over what was found out about it.
//!
//! Declaring has compared the two ([`crate::kept`]). What declarations do not show is compared here: the switches, that
//! imports are of the same description, that layouts are still there, and that the pool has kept its places. Then only
//! what is outside the structure can differ: imports in other places, and what groups bind from outside the graph.

use purlin_rhi::Device;
use purlin_rhi::backend::Backend;

use super::resolve::import;
use super::{barriers, materialize, place};
use crate::context::{Context, NONE, Physical};
use crate::declare::Source;
use crate::error::GraphError;

/// Whether the frame takes over the last one's answers. Then they are its own, with everything bound that differs.
/// `tidy` has all objects in use looked up if some were made meanwhile.
pub(crate) fn run<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    tidy: bool,
) -> Result<bool, GraphError> {
    if !context.declared.same
        || !context.options.structure_reuse
        || context.options != context.compiled_with
        || context.pool.removals() != context.placed_at
        || !context.layouts.iter().all(|layout| device.bind_group_layout_entries(*layout).is_ok())
        || !imports_fit(context, device)
    {
        return Ok(false);
    }
    // Until all is bound, nothing is to be taken over.
    context.declared.same = false;
    let declare_ns = context.stats.declare_ns;
    context.stats = context.structure_stats;
    context.stats.declare_ns = declare_ns;
    place::renew(context);
    if move_imports(context, device, tidy && context.cache.has_grown())? {
        barriers::run(context);
    }
    materialize::rebound(context, device)?;
    context.declared.rebound.clear();
    context.declared.same = true;
    Ok(true)
}

/// Whether all imports are there and of the description that they had.
fn imports_fit<B: Backend>(context: &Context, device: &Device<B>) -> bool {
    context.declared.resources.iter().zip(&context.resources).all(|(decl, resource)| {
        !resource.imported || import(device, &decl.source).ok() == Some((resource.shape, resource.uploaded))
    })
}

/// Puts imports in their places and binds them anew, or `all` there is; whether any was elsewhere.
fn move_imports<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    mut all: bool,
) -> Result<bool, GraphError> {
    let mut moved = false;
    for index in 0..context.declared.resources.len() {
        let now = match context.declared.resources[index].source {
            Source::ImportTexture(texture) => Physical::Texture(texture),
            Source::ImportBuffer(buffer) => Physical::Buffer(buffer),
            Source::Texture(_) | Source::Buffer(_) => continue,
        };
        if context.physical[index] != now {
            context.physical[index] = now;
            moved = true;
            // What is not tracked has no uses to find its groups by.
            all |= context.resources[index].uploaded;
        } else if !all {
            continue;
        }
        if !all {
            bind_users(context, device, index)?;
        }
    }
    if all {
        materialize::run(context, device)?;
    }
    Ok(moved)
}

/// Binds everything in the live passes that use a resource.
fn bind_users<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    resource: usize,
) -> Result<(), GraphError> {
    let mut next = context.resources[resource].head;
    let mut last = NONE;
    while let Some(usage) = context.uses.get(next as usize) {
        next = usage.next;
        let pass = usage.pass;
        if pass != last && context.is_live(pass) {
            materialize::pass(context, device, pass)?;
        }
        last = pass;
    }
    Ok(())
}
