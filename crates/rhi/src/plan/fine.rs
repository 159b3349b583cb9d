//! Barriers by byte range and by subresource.
//!
//! Works on one run at a time, for the use that marked it first and all others of the pass that overlap it.

use super::access::{Effect, Layout, Scope, Stages};
use super::barrier::TextureBarrier;
use super::batches::{BarrierIndex, Reason};
use super::extent::{Extent, Part, Resource};
use super::pairs::Pairs;
use super::planner::{Context, Resolved};
use super::reasons;
use super::runs::{Run, State};
use super::undo::NONE;

/// How many later uses of a resource a barrier looks at. Beyond it, later reads get barriers of their own.
const LOOKAHEAD: u32 = 64;

/// Plans the barriers and effects of the context's pass.
pub(super) fn plan_pass(context: &mut Context<'_>) {
    for index in context.start..context.end {
        let usage = context.uses[index as usize];
        let part = Part::of(&context.declared[index as usize]);
        let extent = context.record(index).extent();
        for (start, end) in extent.intervals(part) {
            for position in context.record(index).runs.isolate(start, end) {
                let runs = &context.record(index).runs;
                let run = runs.all()[position];
                if !run.mark.is(index) {
                    continue;
                }
                let cells = Cells { resource: usage.resource, extent, start: runs.start(position), run };
                let state = if usage.effect.writes() {
                    before_write(context, index, &usage, &cells)
                } else {
                    before_read(context, index, &usage, &cells)
                };
                context.record(index).runs.all_mut()[position].state = state;
            }
        }
    }
    for index in context.start..context.end {
        leave_trace(context, index);
    }
}

/// A run to be used.
struct Cells {
    resource: Resource,
    extent: Extent,
    start: u64,
    run: Run,
}

impl Cells {
    fn overlap(&self, context: &Context<'_>, usage: u32) -> bool {
        self.extent.overlap(self.start, self.run.end, Part::of(&context.declared[usage as usize]))
    }
}

/// Emits what the reads of this pass need, and serves later reads with it. Returns the state that they find.
fn before_read(context: &mut Context<'_>, index: u32, usage: &Resolved, cells: &Cells) -> State {
    let mut state = cells.run.state;
    let transition = usage.layout != state.layout;
    if !transition && state.write.stages.is_empty() {
        return state;
    }
    let src = if transition { state.source() } else { state.write };
    let mut dst = Scope::NONE;
    let mut served = Pairs::NONE;
    let mut budget = LOOKAHEAD;
    let mut at = index;
    while at != NONE {
        let in_pass = at < context.end;
        if !in_pass && !transition && dst == Scope::NONE {
            // Later needs ride along with a barrier; they do not make one here.
            break;
        }
        if at != index && !(in_pass && cells.run.mark.is_shared()) {
            // All uses of a shared run in this pass must be seen; any other may be left to itself.
            if budget == 0 {
                break;
            }
            budget -= 1;
        }
        let later = context.uses[at as usize];
        if at == index || cells.overlap(context, at) {
            if later.effect.writes() || later.layout != usage.layout {
                break;
            }
            if transition || !state.visible.union(served).contains(later.pairs) {
                dst = dst.union(later.scope);
                served = served.union(later.pairs);
                if !transition {
                    emit_memory(context, index, cells, src, later.scope);
                }
            }
        }
        at = later.next;
    }
    if transition {
        let dst = emit_texture(context, index, cells, src, dst, state.layout, usage.layout);
        state =
            State { write: dst, visible: served, readers: Stages::empty(), layout: usage.layout, ..state };
    } else {
        state.visible = state.visible.union(served);
    }
    state
}

/// Emits what the writes of this pass need. Returns the state that they find.
fn before_write(context: &mut Context<'_>, index: u32, usage: &Resolved, cells: &Cells) -> State {
    let mut state = cells.run.state;
    let transition = usage.layout != state.layout;
    let src = state.source();
    if !transition && src.stages.is_empty() {
        return state;
    }
    let mut all = Scope::NONE;
    let mut at = index;
    while at < context.end {
        if at == index || cells.overlap(context, at) {
            let writer = context.uses[at as usize];
            if transition {
                all = all.union(writer.scope);
            } else {
                emit_memory(
                    context,
                    index,
                    cells,
                    src,
                    write_destination(&state, writer.scope, writer.effect),
                );
            }
        }
        if !cells.run.mark.is_shared() {
            break;
        }
        at = context.uses[at as usize].next;
    }
    if transition {
        let old = if usage.effect.keeps() && state.defined { state.layout } else { Layout::Undefined };
        emit_texture(context, index, cells, src, all, old, usage.layout);
        state.layout = usage.layout;
    }
    state
}

/// What of a write waits, where no layout changes: all of it for a write, after reads only the execution and what it
/// reads itself and cannot see yet.
#[inline]
pub(super) fn write_destination(state: &State, scope: Scope, effect: Effect) -> Scope {
    if state.readers.is_empty() {
        return scope;
    }
    let reads = Scope::new(scope.stages, scope.access.reads());
    let unseen = !state.write.stages.is_empty() && !state.visible.contains(Pairs::of(reads));
    if effect.keeps() && unseen { reads } else { Scope::new(reads.stages, Default::default()) }
}

/// Records what a use did, in every run of its range.
fn leave_trace(context: &mut Context<'_>, index: u32) {
    let usage = context.uses[index as usize];
    let part = Part::of(&context.declared[index as usize]);
    let record = context.record(index);
    record.revision += u64::from(usage.effect.writes());
    for (start, end) in record.extent().intervals(part) {
        let range = record.runs.isolate(start, end);
        for run in &mut record.runs.all_mut()[range] {
            let state = &mut run.state;
            if usage.effect == Effect::Read {
                state.readers |= usage.scope.stages - Stages::HOST;
                continue;
            }
            let write = Scope::new(usage.scope.stages, usage.scope.access.writes());
            state.write = if run.mark.is(index) { write } else { state.write.union(write) };
            state.visible = Pairs::NONE;
            state.readers = Stages::empty();
            state.defined = true;
        }
    }
}

fn emit_memory(context: &mut Context<'_>, index: u32, cells: &Cells, src: Scope, dst: Scope) {
    context.plan.push_memory(src, dst);
    if context.plan.wants_reasons() {
        let Cells { extent, start, run, .. } = *cells;
        extent.parts(start, run.end, |part| {
            let barrier = BarrierIndex::Memory(0);
            let reason = explain(context, index, cells, part, barrier, src, dst);
            context.plan.push_reason(reason);
        });
    }
}

/// Emits the transition and returns the stages that wait for it, which later uses can wait for in turn.
fn emit_texture(
    context: &mut Context<'_>,
    index: u32,
    cells: &Cells,
    src: Scope,
    mut dst: Scope,
    old: Layout,
    new: Layout,
) -> Scope {
    if dst.stages.is_empty() {
        // Presentation waits by semaphore. Naming the source again lets later barriers wait for the transition.
        dst.stages = src.stages;
    }
    let Resource::Texture(texture) = cells.resource else { return dst };
    let Cells { extent, start, run, .. } = *cells;
    extent.parts(start, run.end, |part| {
        let Part::Subresources(range) = part else { return };
        context.plan.push_texture(TextureBarrier { texture, range, src, dst, old, new });
        if context.plan.wants_reasons() {
            let reason = explain(context, index, cells, part, BarrierIndex::Texture(0), src, dst);
            context.plan.push_reason(reason);
        }
    });
    Scope::new(dst.stages, Default::default())
}

fn explain(
    context: &mut Context<'_>,
    index: u32,
    cells: &Cells,
    part: Part,
    barrier: BarrierIndex,
    src: Scope,
    dst: Scope,
) -> Reason {
    let usage = context.uses[index as usize];
    let hazard = reasons::hazard(&cells.run.state, usage.effect, usage.layout != cells.run.state.layout);
    let previous = reasons::previous(context, index, part, hazard);
    Reason {
        barrier,
        resource: cells.resource,
        part,
        hazard,
        previous,
        usage: index - context.start,
        src,
        dst,
    }
}
