//! Barriers by whole resource: the reference that fine planning is compared with.
//!
//! Every use counts as a use of all of its resource, and all uses that a pass makes of a resource count as one. What
//! must be waited for is therefore a single answer per resource: the last write is written to all of its runs, readers
//! are collected from all of them. Nothing looks ahead.
//!
//! Only dependencies are widened. A layout change, a discard and definedness keep their exact range: a texture whose
//! mips are read and written in one pass has no single layout, and widening a transition from `Undefined` would
//! destroy contents. So data stays the same, and any order that fine planning demands of two uses is demanded here too.

use super::access::{Access, Layout, Scope, Stages};
use super::barrier::TextureBarrier;
use super::batches::{BarrierIndex, Hazard, Reason};
use super::extent::{Part, Resource};
use super::pairs::Pairs;
use super::planner::Context;
use super::reasons;
use super::runs::State;
use super::undo::NONE;

/// Plans the barriers and effects of the context's pass.
pub(super) fn plan_pass(context: &mut Context<'_>) {
    let pass = context.pass + 1;
    for index in context.start..context.end {
        let touched = context.touched(index);
        if touched.pass != pass {
            touched.pass = pass;
            plan_resource(context, index);
        }
    }
}

/// What a pass does with a resource, all uses taken together.
struct Together {
    scope: Scope,
    writes: bool,
}

/// Plans one resource, from its first use in the pass.
fn plan_resource(context: &mut Context<'_>, first: u32) {
    let before = widened(context, first);
    let together = together(context, first);
    let src = Scope::new(before.write.stages | before.readers, before.write.access);

    let waits = !src.stages.is_empty();
    let unseen = |pairs: Pairs| !before.write.stages.is_empty() && !before.visible.contains(pairs);
    let mut served = Pairs::NONE;
    each_use(context, first, |context, at| {
        let usage = context.uses[at as usize];
        if waits && (together.writes || unseen(usage.pairs)) {
            served = served.union(usage.pairs);
            context.plan.push_memory(src, usage.scope);
            let part = Part::of(&context.declared[at as usize]);
            explain(context, at, &before, part, BarrierIndex::Memory(0), src, usage.scope);
        }
    });
    let mut handed = Stages::empty();
    each_use(context, first, |context, at| handed |= transitions(context, at, &before, src));

    // The dependency state of the whole resource after the pass. Reads in a writing pass are part of the write, so
    // that readers always follow the write.
    let gpu = together.scope.stages - Stages::HOST;
    let reset = together.writes || !handed.is_empty();
    let write = if together.writes {
        Scope::new(gpu | handed, together.scope.access.writes())
    } else {
        Scope::new(before.write.stages | handed, before.write.access)
    };
    let visible = if reset { Pairs::NONE } else { before.visible.union(served) };
    let record = context.record(first);
    record.revision += u64::from(together.writes);
    for run in record.runs.all_mut() {
        let state = &mut run.state;
        (state.write, state.visible) = (write, visible);
        if reset {
            state.readers = Stages::empty();
        }
    }
    let cells = record.runs.cells();
    each_use(context, first, |context, at| leave_trace(context, at, together.writes));
    if cells > 0 {
        context.record(first).runs.coalesce(0, cells);
    }
}

/// The dependency state of all runs as one.
fn widened(context: &mut Context<'_>, first: u32) -> State {
    let mut all = State { visible: Pairs::of(Scope::new(Stages::all(), Access::all())), ..State::FRESH };
    for run in context.record(first).runs.all() {
        all.write = all.write.union(run.state.write);
        all.readers |= run.state.readers;
        if !run.state.write.stages.is_empty() {
            all.visible = all.visible.intersection(run.state.visible);
        }
    }
    if all.write.stages.is_empty() {
        all.visible = Pairs::NONE;
    }
    all
}

fn together(context: &mut Context<'_>, first: u32) -> Together {
    let mut all = Together { scope: Scope::NONE, writes: false };
    each_use(context, first, |context, at| {
        let usage = &context.uses[at as usize];
        all.scope = all.scope.union(usage.scope);
        all.writes |= usage.effect.writes();
    });
    all
}

/// Calls for every use that the pass makes of the resource, from the first.
fn each_use(context: &mut Context<'_>, first: u32, mut each: impl FnMut(&mut Context<'_>, u32)) {
    let mut at = first;
    while at != NONE && at < context.end {
        each(context, at);
        at = context.uses[at as usize].next;
    }
}

/// Emits the layout changes of a use, and returns the stages that they were handed to.
fn transitions(context: &mut Context<'_>, at: u32, before: &State, src: Scope) -> Stages {
    let usage = context.uses[at as usize];
    let part = Part::of(&context.declared[at as usize]);
    let extent = context.record(at).extent();
    let Resource::Texture(texture) = usage.resource else { return Stages::empty() };
    let mut handed = Stages::empty();
    for (start, end) in extent.intervals(part) {
        let mut from = start;
        for position in context.record(at).runs.isolate(start, end) {
            let run = context.record(at).runs.all()[position];
            if run.state.layout != usage.layout {
                // A transition serves every use of the run in this pass.
                let mut dst = Scope::NONE;
                each_use(context, at, |context, other| {
                    let declared = Part::of(&context.declared[other as usize]);
                    if other == at || extent.overlap(from, run.end, declared) {
                        dst = dst.union(context.uses[other as usize].scope);
                    }
                });
                if dst.stages.is_empty() {
                    dst.stages = src.stages;
                }
                handed |= dst.stages;
                let keeps = usage.effect.keeps() && run.state.defined;
                let old = if keeps { run.state.layout } else { Layout::Undefined };
                extent.parts(from, run.end, |part| {
                    let Part::Subresources(range) = part else { return };
                    let new = usage.layout;
                    context.plan.push_texture(TextureBarrier { texture, range, src, dst, old, new });
                    explain(context, at, before, part, BarrierIndex::Texture(0), src, dst);
                });
                context.record(at).runs.all_mut()[position].state.layout = usage.layout;
            }
            from = run.end;
        }
    }
    handed
}

/// Records what a use did in every run of its range. Readers keep their exact range, so that fine planning can take
/// over: a run that nobody read must not look as if its readers had seen the write.
fn leave_trace(context: &mut Context<'_>, at: u32, writing_pass: bool) {
    let usage = context.uses[at as usize];
    let part = Part::of(&context.declared[at as usize]);
    let record = context.record(at);
    for (start, end) in record.extent().intervals(part) {
        let range = record.runs.isolate(start, end);
        for run in &mut record.runs.all_mut()[range] {
            if usage.effect.writes() {
                run.state.defined = true;
            } else if !writing_pass {
                run.state.readers |= usage.scope.stages - Stages::HOST;
            }
        }
    }
}

fn explain(
    context: &mut Context<'_>,
    at: u32,
    before: &State,
    part: Part,
    barrier: BarrierIndex,
    src: Scope,
    dst: Scope,
) {
    if !context.plan.wants_reasons() {
        return;
    }
    let usage = context.uses[at as usize];
    let resource = usage.resource;
    let hazard = match barrier {
        BarrierIndex::Memory(_) => reasons::hazard(before, usage.effect, false),
        BarrierIndex::Texture(_) if before.write.stages.is_empty() && before.readers.is_empty() => {
            Hazard::Init
        }
        BarrierIndex::Texture(_) => reasons::hazard(before, usage.effect, true),
    };
    let everything = match part {
        Part::Bytes { .. } => Part::Bytes { offset: 0, size: u64::MAX / 2 },
        Part::Subresources(_) => {
            let mut whole = part;
            let extent = context.record(at).extent();
            extent.parts(0, extent.cells(), |part| whole = part);
            whole
        }
    };
    let previous = reasons::previous(context, at, everything, hazard);
    let usage = at - context.start;
    context.plan.push_reason(Reason { barrier, resource, part, hazard, previous, usage, src, dst });
}
