//! Random histories: every plan must satisfy the [checker](super::checker), the final states must be those that a
//! recount gives, and what the checker accepts must not be accepted any more once a needed barrier is damaged.

use super::checker::{Cell, Last, Step, check_cell, check_whole_order, use_layout};
use super::*;
use proptest::prelude::*;

pub(super) const BYTES: u64 = 12;
const DEPTH_STENCIL: Aspects = Aspects::DEPTH.union(Aspects::STENCIL);

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for slot in 0..2 {
        cells.extend((0..BYTES).map(|byte| Cell::Byte(slot, byte)));
    }
    for mip in 0..3 {
        cells.extend((0..2).map(|layer| Cell::Sub(0, Aspects::COLOR.bits(), mip, layer)));
    }
    for aspect in DEPTH_STENCIL.iter() {
        for mip in 0..2 {
            cells.extend((0..3).map(|layer| Cell::Sub(1, aspect.bits(), mip, layer)));
        }
    }
    cells
}

pub(super) fn fresh_ledger() -> Ledger {
    let mut ledger = Ledger::new();
    ledger.add_buffer(0, BYTES);
    ledger.add_buffer(1, BYTES);
    ledger.add_texture(0, Aspects::COLOR, 3, 2);
    ledger.add_texture(1, DEPTH_STENCIL, 2, 3);
    ledger
}

fn buffer_usage(pick: u8) -> BufferUse {
    match pick % 10 {
        0 => BufferUse::Indirect,
        1 => BufferUse::Index,
        2 => BufferUse::Vertex,
        3 => BufferUse::Uniform(CS),
        4 => BufferUse::StorageRead(FS),
        5 => BufferUse::StorageRead(CS | VS),
        6 => BufferUse::StorageWrite(CS),
        7 => BufferUse::StorageWrite(FS | VS),
        8 => BufferUse::CopySrc,
        _ => BufferUse::CopyDst,
    }
}

fn texture_usage(slot: u32, pick: u8) -> TextureUse {
    match (slot, pick % 10) {
        (0, 0) => TextureUse::Color { load: true },
        (0, 1) => TextureUse::Color { load: false },
        (0, 2) => TextureUse::StorageWrite(CS),
        (0, 3) => TextureUse::StorageRead(FS),
        (1, 0) => TextureUse::DepthStencil { load: true },
        (1, 1) => TextureUse::DepthStencil { load: false },
        (1, 2) => TextureUse::DepthStencilReadOnly(FS),
        (1, 3) => TextureUse::DepthStencilReadOnly(ShaderStages::NONE),
        (_, 4) => TextureUse::Sampled(FS),
        (_, 5) => TextureUse::Sampled(CS),
        (_, 6) => TextureUse::Sampled(VS | FS),
        (_, 7) => TextureUse::CopySrc,
        (_, 8) => TextureUse::CopyDst { whole: false },
        _ => TextureUse::CopyDst { whole: true },
    }
}

prop_compose! {
    fn any_range(slot: u32)(a in 0u8..2, mip in 0u32..3, mips in 1u32..4, layer in 0u32..3, layers in 1u32..4, whole in 0u8..3)
        -> TextureRange {
        let (aspects, all_mips, all_layers) = if slot == 0 {
            (Aspects::COLOR, 3, 2)
        } else {
            ([Aspects::DEPTH, DEPTH_STENCIL][usize::from(a)], 2, 3)
        };
        if whole == 0 {
            return range(aspects, 0..all_mips, 0..all_layers);
        }
        let (base_mip, base_layer) = (mip % all_mips, layer % all_layers);
        let (mips, layers) = (mips.min(all_mips - base_mip), layers.min(all_layers - base_layer));
        TextureRange { aspects, base_mip, mips, base_layer, layers }
    }
}

fn any_use() -> impl Strategy<Value = ResourceUse> {
    let bytes_use = (0u32..2, 0..BYTES, 1..=BYTES, 0u8..11).prop_map(|(slot, offset, size, pick)| {
        let usage = if pick == 10 { BufferUse::HostRead } else { buffer_usage(pick) };
        bytes(slot, offset, size.min(BYTES - offset), usage)
    });
    let texture_use = |slot: u32| {
        (any_range(slot), any::<u8>())
            .prop_map(move |(range, pick)| sub(slot, range, texture_usage(slot, pick)))
    };
    prop_oneof![bytes_use, texture_use(0), texture_use(1)]
}

/// What comes after a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Then {
    Go,
    Plan,
    Commit,
}

impl Then {
    pub(super) fn commits(self) -> bool {
        self == Then::Commit
    }
}

pub(super) type AnyPass = (Vec<ResourceUse>, Option<TextureRange>, Then);

pub(super) fn any_passes() -> impl Strategy<Value = Vec<AnyPass>> {
    let then = prop_oneof![4 => Just(Then::Go), 1 => Just(Then::Plan), 1 => Just(Then::Commit)];
    let discard = prop_oneof![5 => Just(None), 1 => any_range(1).prop_map(Some)];
    prop::collection::vec((prop::collection::vec(any_use(), 1..4), discard, then), 1..12)
}

/// A first pass that writes everything, so that not every read is an error.
pub(super) fn prologue() -> AnyPass {
    let uses = vec![
        bytes(0, 0, BYTES, BufferUse::CopyDst),
        bytes(1, 0, BYTES, BufferUse::StorageWrite(CS)),
        sub(0, color(0..3, 0..2), TextureUse::Color { load: false }),
        sub(1, range(DEPTH_STENCIL, 0..2, 0..3), TextureUse::DepthStencil { load: false }),
    ];
    (uses, None, Then::Go)
}

/// Whether the error is one that a look at the passes confirms.
fn confirmed(error: PlanError, group: &[AnyPass], steps: &[Step]) -> bool {
    match error {
        PlanError::Conflict { pass, first, second } => {
            let uses = &group[pass as usize].0;
            let (a, b) = (&uses[first as usize], &uses[second as usize]);
            first < second && cells().iter().any(|cell| cell.in_use(a) && cell.in_use(b)) && !together(a, b)
        }
        PlanError::Undefined { pass, usage, part } => {
            let mut history = steps.to_vec();
            history.extend(group[..pass as usize].iter().map(unplanned));
            let reads = group[pass as usize].0[usage as usize];
            part.overlaps(&Part::of(&reads))
                && cells().iter().any(|cell| cell.in_use(&reads) && !defined(*cell, &history))
        }
        _ => false,
    }
}

fn unplanned((uses, discard, _): &AnyPass) -> Step {
    Step { uses: uses.clone(), discards: discard.iter().copied().collect(), discarded: 1, ..Step::default() }
}

fn together(a: &ResourceUse, b: &ResourceUse) -> bool {
    let storage = |usage: &ResourceUse| {
        matches!(
            usage,
            ResourceUse::Buffer { usage: BufferUse::StorageWrite(_), .. }
                | ResourceUse::Texture { usage: TextureUse::StorageWrite(_), .. }
        )
    };
    let read = |usage: &ResourceUse| usage.effect() == Effect::Read;
    use_layout(a) == use_layout(b) && ((read(a) && read(b)) || (storage(a) && storage(b)))
}

fn defined(cell: Cell, steps: &[Step]) -> bool {
    let mut defined = false;
    for step in steps {
        defined |= step.uses.iter().any(|usage| cell.in_use(usage) && usage.effect().writes());
        defined &= !step.discards.iter().any(|range| cell.in_range(step.discarded, range));
    }
    defined
}

/// Plans everything, dropping passes that are refused, and returns what was planned.
fn play(passes: &[AnyPass], mode: impl Fn(usize) -> HazardMode) -> (Vec<Step>, Ledger) {
    let (mut ledger, mut planner, mut plan, mut list) =
        (fresh_ledger(), Planner::new(mode(0)), Plan::with_reasons(), PassList::new());
    let mut steps: Vec<Step> = Vec::new();
    let mut group: Vec<AnyPass> = Vec::new();
    for (index, pass) in std::iter::once(&prologue()).chain(passes).enumerate() {
        group.push(pass.clone());
        if pass.2 == Then::Go && index != passes.len() {
            continue;
        }
        planner.set_mode(mode(index));
        loop {
            list.begin();
            for (uses, discard, _) in &group {
                uses.iter().for_each(|usage| list.push_use(*usage));
                discard.iter().for_each(|range| list.push_discard(texture(1), *range));
                list.end_pass();
            }
            let before = plan.len();
            match planner.plan(&mut ledger, &list, &mut plan) {
                Ok(()) => break,
                Err(error) => {
                    assert_eq!(plan.len(), before);
                    assert!(confirmed(error, &group, &steps), "{error}: {group:?}");
                    let (PlanError::Conflict { pass, .. } | PlanError::Undefined { pass, .. }) = error else {
                        panic!("{error}");
                    };
                    group.remove(pass as usize);
                }
            }
        }
        for pass in group.drain(..) {
            let batch = plan.batch(steps.len());
            let mut step = unplanned(&pass);
            step.memory = batch.memory.to_vec();
            step.textures = batch.textures.to_vec();
            for reason in plan.reasons(steps.len()) {
                match reason.barrier {
                    BarrierIndex::Memory(at) => assert!(step.memory[at as usize].dst.contains(reason.dst)),
                    BarrierIndex::Texture(at) => assert!(step.textures[at as usize].dst.contains(reason.dst)),
                }
            }
            steps.push(step);
        }
        if pass.2 == Then::Commit || index == passes.len() {
            planner.commit(&mut ledger, 1);
        }
    }
    (steps, ledger)
}

/// A history as text, a line for each barrier and use.
fn show(steps: &[Step]) -> String {
    let mut text = String::new();
    for (index, step) in steps.iter().enumerate() {
        let batch = BarrierBatch { memory: &step.memory, textures: &step.textures };
        let uses = step.uses.iter().map(|usage| format!("    {usage:?}"));
        text +=
            &format!("{index}:\n{}\n", lines(batch).into_iter().chain(uses).collect::<Vec<_>>().join("\n"));
    }
    text
}

fn check(steps: &[Step]) -> Result<Vec<Last>, String> {
    cells().into_iter().map(|cell| check_cell(cell, steps)).collect()
}

fn check_ledger(ledger: &Ledger, last: &[Last]) {
    for (cell, last) in cells().into_iter().zip(last) {
        match cell {
            Cell::Byte(slot, byte) => assert_eq!(ledger.buffer_defined(slot, byte, 1), last.defined),
            Cell::Sub(slot, aspect, mip, layer) => {
                let aspect = Aspects::from_bits_truncate(aspect);
                let one = range(aspect, mip..mip + 1, layer..layer + 1);
                assert_eq!(ledger.texture_defined(slot, &one), last.defined);
                assert_eq!(ledger.texture_layout(slot, aspect, mip, layer), Some(last.layout));
            }
        }
    }
    for slot in 0..2 {
        for resource in [Resource::Buffer(slot), Resource::Texture(slot)] {
            let record = ledger.record(resource).unwrap();
            let runs = record.runs.all();
            assert_eq!(runs.last().unwrap().end, record.extent().cells());
            for pair in runs.windows(2) {
                assert!(pair[0].end < pair[1].end && pair[0].state != pair[1].state, "not coalesced");
            }
        }
    }
}

/// Every way to damage one barrier by one bit, or to take it out.
fn damaged(steps: &[Step]) -> Vec<(String, Vec<Step>)> {
    fn scopes(scope: Scope) -> Vec<Scope> {
        let stages = scope.stages.iter().map(|bit| Scope { stages: scope.stages - bit, ..scope });
        let access = scope.access.iter().map(|bit| Scope { access: scope.access - bit, ..scope });
        stages.chain(access).collect()
    }
    let mut all = Vec::new();
    let mut put = |what: String, change: &dyn Fn(&mut Vec<Step>)| {
        let mut copy = steps.to_vec();
        change(&mut copy);
        all.push((what, copy));
    };
    for (step, at) in steps.iter().enumerate() {
        for (index, barrier) in at.memory.iter().enumerate() {
            put(format!("{step}: no {barrier:?}"), &|steps| {
                steps[step].memory.remove(index);
            });
            for src in scopes(barrier.src) {
                put(format!("{step}: {barrier:?} from {src:?}"), &|steps| {
                    steps[step].memory[index].src = src
                });
            }
            for dst in scopes(barrier.dst) {
                put(format!("{step}: {barrier:?} to {dst:?}"), &|steps| steps[step].memory[index].dst = dst);
            }
        }
        for (index, barrier) in at.textures.iter().enumerate() {
            put(format!("{step}: no {barrier:?}"), &|steps| {
                steps[step].textures.remove(index);
            });
            for src in scopes(barrier.src) {
                put(format!("{step}: {barrier:?} from {src:?}"), &|steps| {
                    steps[step].textures[index].src = src
                });
            }
            for dst in scopes(barrier.dst) {
                put(format!("{step}: {barrier:?} to {dst:?}"), &|steps| {
                    steps[step].textures[index].dst = dst
                });
            }
            for new in [Layout::Undefined, Layout::Present] {
                put(format!("{step}: {barrier:?} to {new:?}"), &|steps| {
                    steps[step].textures[index].new = new
                });
            }
        }
    }
    all
}

/// Nothing can be taken from the plan without the checker noticing.
fn check_tight(uses: Vec<ResourceUse>) {
    let passes: Vec<AnyPass> = uses.into_iter().map(|usage| (vec![usage], None, Then::Go)).collect();
    let (steps, _) = play(&passes, |_| HazardMode::Fine);
    check(&steps).unwrap();
    // The first step belongs to every resource and is followed by what one of them needs only.
    for (what, damaged) in damaged(&steps).into_iter().filter(|(what, _)| !what.starts_with("0: ")) {
        assert!(check(&damaged).is_err(), "not needed: {what}\n{}", show(&steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fine_plans_hold(passes in any_passes()) {
        let (steps, ledger) = play(&passes, |_| HazardMode::Fine);
        match check(&steps) {
            Ok(last) => check_ledger(&ledger, &last),
            Err(error) => prop_assert!(false, "{error}\n{}", show(&steps)),
        }
    }

    #[test]
    fn conservative_plans_hold_and_order_whole_resources(passes in any_passes()) {
        let (steps, ledger) = play(&passes, |_| HazardMode::Conservative);
        match check(&steps) {
            Ok(last) => check_ledger(&ledger, &last),
            Err(error) => prop_assert!(false, "{error}\n{}", show(&steps)),
        }
        for cell in cells() {
            if let Err(error) = check_whole_order(cell, &steps) {
                prop_assert!(false, "{error}\n{}", show(&steps));
            }
        }
    }

    #[test]
    fn modes_can_change_between_calls(passes in any_passes(), odd in 0usize..2) {
        let (steps, ledger) = play(&passes, |index| {
            if index % 2 == odd { HazardMode::Fine } else { HazardMode::Conservative }
        });
        match check(&steps) {
            Ok(last) => check_ledger(&ledger, &last),
            Err(error) => prop_assert!(false, "{error}\n{}", show(&steps)),
        }
    }

    #[test]
    fn buffer_chains_are_tight(picks in prop::collection::vec(0u8..10, 1..7)) {
        check_tight(picks.into_iter().map(|pick| bytes(0, 0, BYTES, buffer_usage(pick))).collect());
    }

    #[test]
    fn texture_chains_are_tight(slot in 0u32..2, picks in prop::collection::vec(0u8..10, 1..7)) {
        let whole = [color(0..3, 0..2), range(DEPTH_STENCIL, 0..2, 0..3)][slot as usize];
        check_tight(picks.into_iter().map(|pick| sub(slot, whole, texture_usage(slot, pick))).collect());
    }

    #[test]
    fn a_missing_transition_is_always_noticed(passes in any_passes()) {
        let (steps, _) = play(&passes, |_| HazardMode::Fine);
        for (what, damaged) in damaged(&steps) {
            if what.contains("no TextureBarrier") {
                prop_assert!(check(&damaged).is_err(), "not needed: {what}\n{}", show(&steps));
            }
        }
    }
}

proptest! {
    /// Frames that repeat are planned from memory; the barriers and the states are those of planning anew.
    #[test]
    fn remembered_plans_are_the_plans(
        frames in prop::collection::vec(any_passes(), 1..3),
        rounds in 2usize..5,
    ) {
        let (mut ledger, mut anew) = (fresh_ledger(), fresh_ledger());
        let mut planner = Planner::new(HazardMode::Fine);
        let (mut plan, mut expected) = (Plan::new(), Plan::new());
        let mut list = PassList::new();
        for round in 0..rounds {
            for frame in &frames {
                list.begin();
                for (uses, discard, _) in std::iter::once(&prologue()).chain(frame) {
                    uses.iter().for_each(|usage| list.push_use(*usage));
                    if let Some(range) = discard {
                        list.push_discard(texture(1), *range);
                    }
                    list.end_pass();
                }
                let mut fresh = Planner::new(HazardMode::Fine);
                plan.clear();
                expected.clear();
                // The second call begins where the first one ended.
                for _ in 0..2 {
                    let result = planner.plan(&mut ledger, &list, &mut plan);
                    prop_assert_eq!(result, fresh.plan(&mut anew, &list, &mut expected));
                }
                prop_assert_eq!(plan.len(), expected.len());
                for index in 0..plan.len() {
                    prop_assert_eq!(plan.batch(index).memory, expected.batch(index).memory);
                    prop_assert_eq!(plan.batch(index).textures, expected.batch(index).textures);
                }
                if round % 2 == 0 {
                    planner.commit(&mut ledger, 1);
                    fresh.commit(&mut anew, 1);
                } else {
                    planner.discard(&mut ledger);
                    fresh.discard(&mut anew);
                }
                same_ledgers(&ledger, &anew)?;
            }
        }
    }
}

/// Whether two ledgers answer every question alike.
pub(super) fn same_ledgers(ledger: &Ledger, anew: &Ledger) -> Result<(), TestCaseError> {
    for cell in cells() {
        let look = |ledger: &Ledger| match cell {
            Cell::Byte(slot, byte) => {
                let defined = ledger.buffer_defined(slot, byte, 1);
                (defined, ledger.buffer_revision(slot), ledger.buffer_ordinal(slot), None)
            }
            Cell::Sub(slot, aspect, mip, layer) => {
                let aspects = Aspects::from_bits_retain(aspect);
                let defined = ledger.texture_defined(slot, &range(aspects, mip..mip + 1, layer..layer + 1));
                let layout = ledger.texture_layout(slot, aspects, mip, layer);
                (defined, ledger.texture_revision(slot), ledger.texture_ordinal(slot), layout)
            }
        };
        prop_assert_eq!(look(ledger), look(anew), "{:?}", cell);
    }
    Ok(())
}
