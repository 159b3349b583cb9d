//! Barriers: the live passes in physical terms, as the device's planner takes them.
//!
//! The planner is the one place that decides on barriers; the graph only says what each pass uses and what it leaves
//! undefined.

use purlin_rhi::StoreOp;
use purlin_rhi::plan::{Part, Resource, ResourceUse};

use super::materialize::range_of;
use crate::context::{Context, Physical, Usage};

/// Fills `list`, one pass for each of `scopes`: it uses what its first pass does, and leaves what its last one leaves.
pub(crate) fn run(context: &mut Context) {
    context.list.begin();
    let mut next_handover = 0;
    for index in 0..context.scopes.len() {
        let passes = context.passes_of(context.scopes[index]);
        let (Some(&first), Some(&last)) = (passes.first(), passes.last()) else { continue };
        while let Some(handover) = context.handovers.get(next_handover)
            && handover.position < context.scopes[index].end
        {
            next_handover += 1;
            let [from, to] = [handover.from, handover.to].map(|index| context.physical[index as usize]);
            if let (Physical::Texture(from), Physical::Texture(to)) = (from, to) {
                context.list.push_alias(Resource::Texture(from.slot()), Resource::Texture(to.slot()));
            }
        }
        for index in context.uses_of(first) {
            let usage = &context.uses[index];
            let physical = context.physical[usage.resource as usize];
            match (usage.usage, usage.part, physical) {
                (Usage::Texture(how), Part::Subresources(range), Physical::Texture(texture)) => {
                    context.list.push_use(ResourceUse::Texture { texture, range, usage: how });
                }
                (Usage::Buffer(how), Part::Bytes { offset, size }, Physical::Buffer(buffer)) => {
                    context.list.push_use(ResourceUse::Buffer { buffer, offset, size, usage: how });
                }
                _ => {}
            }
        }
        for index in context.uses_of(last) {
            let usage = &context.uses[index];
            if usage.store == StoreOp::Discard
                && let Some(range) = range_of(&usage.part)
                && let Physical::Texture(texture) = context.physical[usage.resource as usize]
            {
                context.list.push_discard(texture, range);
            }
        }
        context.list.end_pass();
    }
    context.list.name();
}
