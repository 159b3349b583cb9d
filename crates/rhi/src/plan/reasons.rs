//! Why a barrier is there. Found only for plans that keep reasons, by walking back what the normal path never needs.

use super::access::Effect;
use super::batches::{Hazard, Previous};
use super::extent::Part;
use super::planner::Context;
use super::runs::State;
use super::undo::NONE;

/// The kind of dependency that a use with this effect has on the state.
pub(super) fn hazard(state: &State, effect: Effect, transition: bool) -> Hazard {
    let written = !state.write.access.is_empty();
    let read = !state.readers.is_empty();
    match effect {
        Effect::Read if written && !(transition && read) => Hazard::ReadAfterWrite,
        Effect::ReadWrite | Effect::Write | Effect::Overwrite if read => Hazard::WriteAfterRead,
        Effect::ReadWrite if written => Hazard::ReadAfterWrite,
        Effect::Write | Effect::Overwrite if written => Hazard::WriteAfterWrite,
        _ if state.write.stages.is_empty() && !read => Hazard::Init,
        _ => Hazard::Layout,
    }
}

/// The last pass of the call before this use that touched the part in the way that the hazard is about.
pub(super) fn previous(context: &mut Context<'_>, index: u32, part: Part, hazard: Hazard) -> Previous {
    let mut last = None;
    let mut at = context.touched(index).head;
    while at != NONE && at < context.start {
        let usage = &context.uses[at as usize];
        let counts = match hazard {
            Hazard::ReadAfterWrite | Hazard::WriteAfterWrite => usage.effect.writes(),
            Hazard::WriteAfterRead => usage.effect == Effect::Read,
            Hazard::Layout | Hazard::Init => true,
        };
        if counts && part.overlaps(&Part::of(&context.declared[at as usize])) {
            last = Some(at as usize);
        }
        at = usage.next;
    }
    match last {
        Some(usage) => Previous::Pass(context.list.pass_of(usage) as u32),
        None => Previous::Before,
    }
}
