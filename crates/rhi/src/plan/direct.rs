//! The usual direct pass, in one step a use: whole resources, each in one state and used once.
//!
//! There is nothing to look ahead to and nothing to compare, so a use is admitted, ordered and traced at once. What is
//! not of this kind, errors included, is given up here and planned by [`super::planner`], whose rules these are.

use super::access::{Effect, Layout, ResourceUse, Scope, Stages};
use super::barrier::TextureBarrier;
use super::batches::Plan;
use super::extent::Resource;
use super::ledger::Ledger;
use super::pairs::Pairs;
use super::passes::Pass;
use super::runs::State;

/// Plans the pass and appends its batch; whether it is of the usual kind. If not, the call must be taken back.
pub(super) fn plan_pass(ledger: &mut Ledger, pass: &Pass<'_>, plan: &mut Plan) -> bool {
    for usage in pass.uses {
        if !plan_use(ledger, usage, plan) {
            return false;
        }
    }
    for (texture, range) in pass.discards {
        let resource = Resource::Texture(texture.slot());
        if ledger.touch(resource).is_none() {
            return false;
        }
        let record = ledger.at(resource);
        let whole = record.extent().is_whole_texture(range);
        let Some(state) = record.runs.single_mut().filter(|_| whole) else { return false };
        state.defined = false;
        record.revision += 1;
    }
    plan.close_batch();
    true
}

#[inline]
fn plan_use(ledger: &mut Ledger, usage: &ResourceUse, plan: &mut Plan) -> bool {
    match *usage {
        ResourceUse::Buffer { buffer, offset, size, usage } => {
            let Some(record) = ledger.touch_once(Resource::Buffer(buffer.slot())) else { return false };
            let whole = offset == 0 && size == record.runs.cells() && size > 0;
            let Some(state) = record.runs.single_mut().filter(|_| whole) else { return false };
            let (scope, effect) = (usage.scope(), usage.effect());
            if !state.defined && reads(effect) {
                return false;
            }
            match order(state, scope, effect, Layout::Undefined) {
                None => {}
                Some(Need { src, dst, .. }) => plan.push_memory(src, dst),
            }
            record.revision += u64::from(effect.writes());
        }
        ResourceUse::Texture { texture, range, usage } => {
            let Some(record) = ledger.touch_once(Resource::Texture(texture.slot())) else { return false };
            let whole = record.extent().is_whole_texture(&range);
            let Some(state) = record.runs.single_mut().filter(|_| whole) else { return false };
            let (scope, effect, new) = (usage.scope(), usage.effect(), usage.layout(range.aspects));
            if !state.defined && reads(effect) {
                return false;
            }
            match order(state, scope, effect, new) {
                None => {}
                Some(Need { src, dst, old: None }) => plan.push_memory(src, dst),
                Some(Need { src, dst, old: Some(old) }) => {
                    plan.push_texture(TextureBarrier { texture: texture.slot(), range, src, dst, old, new });
                }
            }
            record.revision += u64::from(effect.writes());
        }
    }
    true
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
#[inline]
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
