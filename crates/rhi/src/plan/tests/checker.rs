//! A second opinion on plans, naive on purpose: it knows nothing of the planner's states.
//!
//! Every cell (a byte, or a subresource of one aspect) is looked at alone. Its accesses are listed in order: the uses of
//! each step, and layout transitions, which write. From every access by every stage that it makes, the checker walks
//! all later batches and keeps what they have done so far for this one access: to which stages its execution is
//! chained, whether its write is available, and to which (stage, access) it is visible. Every later access of the cell
//! is held against that.

use super::*;
use std::collections::BTreeSet;

/// One pass with the barriers before it.
#[derive(Debug, Clone, Default)]
pub struct Step {
    pub memory: Vec<MemoryBarrier>,
    pub textures: Vec<TextureBarrier>,
    pub uses: Vec<ResourceUse>,
    pub discards: Vec<TextureRange>,
    /// The texture of all the discards.
    pub discarded: u32,
}

/// One byte or subresource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Byte(u32, u64),
    Sub(u32, u8, u32, u32),
}

impl Cell {
    pub fn in_range(self, slot: u32, range: &TextureRange) -> bool {
        let Cell::Sub(texture, aspect, mip, layer) = self else { return false };
        texture == slot
            && range.aspects.bits() & aspect != 0
            && (range.base_mip..range.base_mip + range.mips).contains(&mip)
            && (range.base_layer..range.base_layer + range.layers).contains(&layer)
    }

    pub fn in_use(self, usage: &ResourceUse) -> bool {
        match (self, usage) {
            (Cell::Byte(slot, byte), ResourceUse::Buffer { buffer, offset, size, .. }) => {
                buffer.slot() == slot && (*offset..offset + size).contains(&byte)
            }
            (_, ResourceUse::Texture { texture, range, .. }) => self.in_range(texture.slot(), range),
            _ => false,
        }
    }

    fn in_resource(self, usage: &ResourceUse) -> bool {
        match (self, usage) {
            (Cell::Byte(slot, _), ResourceUse::Buffer { buffer, .. }) => buffer.slot() == slot,
            (Cell::Sub(slot, ..), ResourceUse::Texture { texture, .. }) => texture.slot() == slot,
            _ => false,
        }
    }
}

pub fn use_layout(usage: &ResourceUse) -> Layout {
    match usage {
        ResourceUse::Buffer { .. } => Layout::Undefined,
        ResourceUse::Texture { range, usage, .. } => usage.layout(range.aspects),
    }
}

/// What a cell looks like at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    pub layout: Layout,
    pub defined: bool,
}

/// An access of a cell.
#[derive(Debug, Clone, Copy)]
struct Event {
    step: usize,
    /// The stages with what each does; of a transition, what it was handed to.
    scope: Scope,
    transition: bool,
    writes: bool,
}

/// Checks a history of steps on one cell.
pub fn check_cell(cell: Cell, steps: &[Step]) -> Result<Last, String> {
    let last = check_contents(cell, steps)?;
    let mut events = Vec::new();
    for (step, at) in steps.iter().enumerate() {
        for barrier in at.textures.iter().filter(|barrier| cell.in_range(barrier.texture, &barrier.range)) {
            events.push(Event { step, scope: barrier.dst, transition: true, writes: true });
        }
        for usage in at.uses.iter().filter(|usage| cell.in_use(usage)) {
            events.push(Event {
                step,
                scope: usage.scope(),
                transition: false,
                writes: usage.effect().writes(),
            });
        }
    }
    for index in 0..events.len() {
        let event = events[index];
        if event.transition {
            follow(cell, steps, &events, index, event.scope.stages, Access::empty())?;
        } else {
            for stage in event.scope.stages.iter() {
                follow(cell, steps, &events, index, stage, of_stage(stage, event.scope.access.writes()))?;
            }
        }
    }
    Ok(last)
}

/// Layouts and contents.
fn check_contents(cell: Cell, steps: &[Step]) -> Result<Last, String> {
    let mut last = Last { layout: Layout::Undefined, defined: false };
    let mut lost = false;
    for (step, at) in steps.iter().enumerate() {
        let fail = |what: &str| Err(format!("step {step}, {cell:?}: {what}"));
        let barriers: Vec<_> =
            at.textures.iter().filter(|barrier| cell.in_range(barrier.texture, &barrier.range)).collect();
        if barriers.len() > 1 {
            return fail("two transitions at once");
        }
        for barrier in barriers {
            if barrier.old == Layout::Undefined {
                lost |= last.defined;
                last.defined = false;
            } else if barrier.old != last.layout {
                return fail("transition from a layout that it is not in");
            }
            last.layout = barrier.new;
        }
        let uses: Vec<_> = at.uses.iter().filter(|usage| cell.in_use(usage)).collect();
        for usage in &uses {
            if use_layout(usage) != last.layout {
                return fail("used in another layout");
            }
            match usage.effect() {
                Effect::Read | Effect::ReadWrite if !last.defined => return fail("undefined contents read"),
                Effect::Write if lost => return fail("contents lost that were to be kept"),
                _ => {}
            }
        }
        if uses.iter().any(|usage| usage.effect().writes()) {
            (last.defined, lost) = (true, false);
        }
        if at.discards.iter().any(|range| cell.in_range(at.discarded, range)) {
            (last.defined, lost) = (false, false);
        }
    }
    Ok(last)
}

/// The accesses of a scope that this stage can make.
fn of_stage(stage: Stages, access: Access) -> Access {
    let shader = Access::UNIFORM_READ | Access::SAMPLED_READ | Access::STORAGE_READ | Access::STORAGE_WRITE;
    access
        & match stage {
            Stages::DRAW_INDIRECT => Access::INDIRECT_READ,
            Stages::INDEX_INPUT => Access::INDEX_READ,
            Stages::VERTEX_INPUT => Access::VERTEX_READ,
            Stages::VERTEX_SHADER | Stages::FRAGMENT_SHADER | Stages::COMPUTE_SHADER => shader,
            Stages::EARLY_TESTS | Stages::LATE_TESTS => {
                Access::DEPTH_STENCIL_READ | Access::DEPTH_STENCIL_WRITE
            }
            Stages::COLOR_OUTPUT => Access::COLOR_READ | Access::COLOR_WRITE,
            Stages::TRANSFER => Access::TRANSFER_READ | Access::TRANSFER_WRITE,
            Stages::HOST => Access::HOST_READ,
            _ => Access::empty(),
        }
}

/// Walks all that happens after one access by one stage.
fn follow(
    cell: Cell,
    steps: &[Step],
    events: &[Event],
    index: usize,
    stages: Stages,
    written: Access,
) -> Result<(), String> {
    let from = events[index];
    // The CPU reads after the submission is complete, so whatever is submitted later waits anyway.
    if stages == Stages::HOST {
        return Ok(());
    }
    // Where later barriers can pick up the chain, and what is ordered after the access.
    let mut chain = stages;
    let mut ordered = if from.transition { stages } else { Stages::empty() };
    let mut available = from.transition;
    let mut visible: BTreeSet<(u16, u16)> = BTreeSet::new();
    let see = |visible: &mut BTreeSet<(u16, u16)>, scope: Scope| {
        for stage in scope.stages.iter() {
            for access in of_stage(stage, scope.access).iter() {
                visible.insert((stage.bits(), access.bits()));
            }
        }
    };
    if from.transition {
        see(&mut visible, from.scope);
    }
    for (step, at) in steps.iter().enumerate().skip(from.step) {
        let fail = |what: &str| {
            let begin = if from.transition { "transition" } else { "use" };
            Err(format!("step {step}, {cell:?}: {what} the {begin} of step {} in {stages:?}", from.step))
        };
        if step > from.step {
            let (old_chain, old_available) = (chain, available);
            let memory = at.memory.iter().map(|barrier| (barrier.src, barrier.dst, None));
            let textures = at.textures.iter().map(|barrier| {
                (barrier.src, barrier.dst, Some(cell.in_range(barrier.texture, &barrier.range)))
            });
            for (src, dst, covers) in memory.chain(textures) {
                let transition = covers == Some(true);
                if !src.stages.intersects(old_chain) {
                    if transition {
                        return fail("a transition does not wait for");
                    }
                    continue;
                }
                let own = src.stages.contains(stages) && src.access.contains(written);
                if transition && from.writes && !(old_available || own) {
                    return fail("a transition does not find the write available of");
                }
                chain |= dst.stages;
                ordered |= dst.stages;
                if covers != Some(false) && (old_available || own) {
                    available = true;
                    see(&mut visible, dst);
                }
            }
        }
        for (other, to) in events.iter().enumerate().skip(index + 1) {
            let later = to.step > from.step || (from.transition && to.step == from.step);
            if to.step != step || to.transition || !later || !(from.writes || to.writes) {
                continue;
            }
            if !ordered.contains(to.scope.stages) {
                return fail("a use does not wait for");
            }
            let between = &events[index + 1..other];
            let newest =
                !between.iter().any(|event| event.writes && event.step < step && event.step > from.step)
                    && !between.iter().any(|event| event.transition);
            if !from.writes || !newest {
                continue;
            }
            let gpu_read =
                |event: &Event| !event.writes && event.step < step && event.scope.stages != Stages::HOST;
            let read_between = between.iter().any(gpu_read);
            for stage in to.scope.stages.iter() {
                for access in of_stage(stage, to.scope.access).iter() {
                    if visible.contains(&(stage.bits(), access.bits())) {
                        continue;
                    }
                    // A write after reads of that write needs the execution only.
                    if !(Access::WRITES.contains(access) && read_between && available) {
                        return fail("a use does not see");
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether any two uses of one resource in different steps, at least one of which writes, are ordered.
pub fn check_whole_order(cell: Cell, steps: &[Step]) -> Result<(), String> {
    for (first, at) in steps.iter().enumerate() {
        for usage in at.uses.iter().filter(|usage| cell.in_resource(usage)) {
            for stage in usage.scope().stages.iter().filter(|stage| *stage != Stages::HOST) {
                let (mut chain, mut ordered) = (stage, Stages::empty());
                for (step, later) in steps.iter().enumerate().skip(first + 1) {
                    let memory = later.memory.iter().map(|barrier| (barrier.src, barrier.dst));
                    let textures = later.textures.iter().map(|barrier| (barrier.src, barrier.dst));
                    let reached = memory
                        .chain(textures)
                        .filter(|(src, _)| src.stages.intersects(chain))
                        .fold(Stages::empty(), |reached, (_, dst)| reached | dst.stages);
                    (chain, ordered) = (chain | reached, ordered | reached);
                    for other in later.uses.iter().filter(|other| cell.in_resource(other)) {
                        let conflict = usage.effect().writes() || other.effect().writes();
                        if conflict && !ordered.contains(other.scope().stages) {
                            return Err(format!("{cell:?}: step {step} is not ordered after step {first}"));
                        }
                    }
                }
            }
        }
    }
    Ok(())
}
