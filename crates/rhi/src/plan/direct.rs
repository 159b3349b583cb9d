//! The usual direct pass, in one step a use: every resource used once, or whole and in one way.
//!
//! There is nothing to look ahead to and nothing to compare, so a use is admitted, ordered and traced at once. What is
//! not of this kind, errors included, is given up here and planned by [`super::planner`], whose rules these are.

use super::access::{Access, Effect, Layout, ResourceUse, Scope, Stages};
use super::barrier::{MemoryBarrier, TextureBarrier};
use super::batches::Plan;
use super::extent::{Part, Resource};
use super::leases::Owner;
use super::ledger::{Ledger, Record};
use super::pairs::Pairs;
use super::passes::{DeclaredGroups, GroupUses, Pass};
use super::runs::State;
use crate::handle::BindGroup;

/// Plans the pass and appends its batch; whether it is of the usual kind. If not, the call must be taken back. Groups
/// may begin to lease their resources if `lease`.
pub(super) fn plan_pass<G: GroupUses>(
    ledger: &mut Ledger,
    pass: &Pass<'_>,
    groups: &DeclaredGroups<'_, G>,
    plan: &mut Plan,
    lease: bool,
) -> bool {
    for usage in pass.uses {
        if !plan_use(ledger, usage, Owner::NONE, plan, &mut Rest::default()) {
            return false;
        }
    }
    let mut last = None;
    for group in groups.groups {
        match ledger.leases.use_group(*group, ledger.next) {
            // Most groups of a pass need the barrier of the one before.
            Some(barrier) if barrier == last => {}
            Some(None) => {}
            Some(Some(barrier)) => {
                plan.push_memory(barrier.src, barrier.dst);
                last = Some(barrier);
            }
            None if !plan_group(ledger, *group, groups.of, plan, lease) => return false,
            None => {}
        }
    }
    for (texture, range) in pass.discards {
        let resource = Resource::Texture(texture.slot());
        let Some((record, _)) = ledger.touch_by(resource, Owner::NONE) else { return false };
        let (part, extent) = (Part::Subresources(*range), record.extent());
        if !extent.contains(&part) {
            return false;
        }
        for (start, end) in extent.intervals(part) {
            let runs = record.runs.isolate(start, end);
            for run in &mut record.runs.all_mut()[runs] {
                run.state.defined = false;
            }
            record.runs.coalesce(start, end);
        }
        record.revision += 1;
    }
    plan.close_batch();
    true
}

/// Plans the uses of a group, and notices when it has come to rest.
fn plan_group<G: GroupUses>(
    ledger: &mut Ledger,
    group: BindGroup,
    of: &G,
    plan: &mut Plan,
    lease: bool,
) -> bool {
    let owner = Owner::group(group);
    let mut rest = Rest { restless: !lease, barrier: None };
    for usage in of.uses(group) {
        if !plan_use(ledger, &usage, owner, plan, &mut rest) {
            return false;
        }
    }
    if !rest.restless {
        let changes = |usage: ResourceUse| (Resource::of(&usage), usage.effect().writes());
        ledger.begin_lease(group, rest.barrier, of.uses(group).map(changes));
    }
    true
}

/// What the uses of an owner came to so far.
#[derive(Default)]
struct Rest {
    /// Whether someone else used one of the resources last, a state has changed, or one barrier is not enough.
    restless: bool,
    barrier: Option<MemoryBarrier>,
}

/// Plans a use; whether it is of the usual kind.
fn plan_use(
    ledger: &mut Ledger,
    usage: &ResourceUse,
    owner: Owner,
    plan: &mut Plan,
    rest: &mut Rest,
) -> bool {
    let resource = Resource::of(usage);
    let Some((record, last)) = ledger.touch_by(resource, owner) else { return false };
    let (whole, layout) = match usage {
        ResourceUse::Buffer { offset, size, .. } => {
            (*offset == 0 && *size == record.runs.cells() && *size > 0, Layout::Undefined)
        }
        ResourceUse::Texture { range, usage, .. } => {
            (record.extent().is_whole_texture(range), usage.layout(range.aspects))
        }
    };
    let (scope, effect) = (usage.scope(), usage.effect());
    let Some(state) = record.runs.single_mut().filter(|_| whole) else {
        rest.restless = true;
        return last.is_some() && plan_part(record, usage, layout, plan);
    };
    if !state.defined && reads(effect) || effect.writes() && scope.stages.is_empty() {
        return false;
    }
    let Some(last) = last else {
        rest.restless = true;
        let repeats = repeats(state, scope, effect, layout);
        record.revision += u64::from(effect.writes());
        return repeats;
    };
    let before = *state;
    let need = order(state, scope, effect, layout);
    rest.restless |= last != owner || *state != before;
    record.revision += u64::from(effect.writes());
    match need {
        None => {}
        Some(Need { src, dst, old: None }) => {
            plan.push_memory(src, dst);
            let barrier = MemoryBarrier { src, dst };
            rest.restless |= *rest.barrier.get_or_insert(barrier) != barrier;
        }
        Some(Need { src, dst, old: Some(old) }) => {
            if let ResourceUse::Texture { texture, range, .. } = usage {
                let (texture, range) = (texture.slot(), *range);
                plan.push_texture(TextureBarrier { texture, range, src, dst, old, new: layout });
            }
        }
    }
    true
}

/// Plans a use of a part, or of a resource in several states, that is the pass's only one of the resource; whether it
/// can be.
fn plan_part(record: &mut Record, usage: &ResourceUse, layout: Layout, plan: &mut Plan) -> bool {
    let (resource, part, extent) = (Resource::of(usage), Part::of(usage), record.extent());
    let (scope, effect) = (usage.scope(), usage.effect());
    if !extent.contains(&part) {
        return false;
    }
    for (start, end) in extent.intervals(part) {
        let mut from = start;
        let range = record.runs.isolate(start, end);
        for run in &mut record.runs.all_mut()[range] {
            if !run.state.defined && reads(effect) {
                return false;
            }
            match (order(&mut run.state, scope, effect, layout), resource) {
                (Some(Need { src, dst, old: Some(old) }), Resource::Texture(texture)) => {
                    extent.parts(from, run.end, |part| {
                        let Part::Subresources(range) = part else { return };
                        plan.push_texture(TextureBarrier { texture, range, src, dst, old, new: layout });
                    });
                }
                (Some(Need { src, dst, .. }), _) => plan.push_memory(src, dst),
                (None, _) => {}
            }
            from = run.end;
        }
    }
    for (start, end) in extent.intervals(part) {
        record.runs.coalesce(start, end);
    }
    record.revision += u64::from(effect.writes());
    true
}

/// Whether another use of the resource in the same pass asks for nothing that the first has not brought about: it
/// reads where the first read, or writes storage as the first did. Readers are noted.
#[inline]
fn repeats(state: &mut State, scope: Scope, effect: Effect, layout: Layout) -> bool {
    if layout != state.layout || scope.stages.is_empty() {
        return false;
    }
    match effect {
        // A write of this pass is visible nowhere yet, so no read passes here after one.
        Effect::Read if state.write.stages.is_empty() || state.visible.contains(Pairs::of(scope)) => {
            state.readers |= scope.stages - Stages::HOST;
            true
        }
        // Neither is a use before this pass mistaken for one in it: the first has left its own trace.
        Effect::Write if scope.access.contains(Access::STORAGE_WRITE) => {
            state.readers.is_empty()
                && state.visible == Pairs::NONE
                && state.write == Scope::new(scope.stages, scope.access.writes())
        }
        _ => false,
    }
}

#[inline]
fn reads(effect: Effect) -> bool {
    matches!(effect, Effect::Read | Effect::ReadWrite)
}

/// The barrier before a use.
struct Need {
    src: Scope,
    dst: Scope,
    /// The layout before, where it changes.
    old: Option<Layout>,
}

/// What the use must wait for; the state becomes the one after it.
#[inline(always)]
fn order(state: &mut State, scope: Scope, effect: Effect, layout: Layout) -> Option<Need> {
    let transition = layout != state.layout;
    if effect == Effect::Read {
        let need = if transition {
            let src = state.source();
            // Presentation waits by semaphore. Naming the source again lets later barriers wait for the transition.
            let stages = if scope.stages.is_empty() { src.stages } else { scope.stages };
            let need = Need { src, dst: Scope::new(stages, scope.access), old: Some(state.layout) };
            state.write = Scope::new(stages, Default::default());
            state.visible = Pairs::of(scope);
            state.readers = Stages::empty();
            state.layout = layout;
            Some(need)
        } else if state.write.stages.is_empty() {
            None
        } else {
            let pairs = Pairs::of(scope);
            let seen = state.visible.contains(pairs);
            state.visible = state.visible.union(pairs);
            if seen { None } else { Some(Need { src: state.write, dst: scope, old: None }) }
        };
        state.readers |= scope.stages - Stages::HOST;
        return need;
    }
    let src = state.source();
    let need = if transition {
        let old = if effect.keeps() && state.defined { state.layout } else { Layout::Undefined };
        Some(Need { src, dst: scope, old: Some(old) })
    } else if src.stages.is_empty() {
        None
    } else {
        Some(Need { src, dst: super::fine::write_destination(state, scope, effect), old: None })
    };
    *state = State {
        write: Scope::new(scope.stages, scope.access.writes()),
        visible: Pairs::NONE,
        readers: Stages::empty(),
        layout,
        defined: true,
    };
    need
}
