//! Passes planned one by one: the short way must be the long way.

use super::properties::{any_passes, fresh_ledger, prologue, same_ledgers};
use super::*;
use crate::handle::BindGroup;
use crate::plan::{DeclaredGroups, GroupUses};
use proptest::prelude::*;

pub(super) fn pass<'a>(uses: &'a [ResourceUse], discards: &'a [(Texture, TextureRange)]) -> Pass<'a> {
    Pass { first_use: 0, uses, discards, aliases: &[] }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    /// The same barriers, states and errors, whether or not a pass takes the short way.
    #[test]
    fn a_pass_by_itself_is_a_list_of_one(
        passes in any_passes(),
        whole in any::<bool>(),
        keep in any::<bool>(),
        times in 1..4usize,
    ) {
        let (mut ledger, mut reference) = (fresh_ledger(), fresh_ledger());
        let (mut short, mut long) = (Planner::default(), Planner::default());
        let (mut plan, mut expected, mut list) = (Plan::new(), Plan::with_reasons(), PassList::new());
        for (uses, discard, then) in std::iter::once(&prologue()).chain(passes.iter().flat_map(|pass| std::iter::repeat_n(pass, times))) {
            let uses: Vec<_> = uses.iter().map(|usage| if whole { widen(usage) } else { *usage }).collect();
            let discards: Vec<_> = discard.iter().map(|range| (texture(1), *range)).collect();
            list.begin();
            uses.iter().for_each(|usage| list.push_use(*usage));
            discards.iter().for_each(|(texture, range)| list.push_discard(*texture, *range));
            list.end_pass();
            plan.clear();
            expected.clear();
            let result = short.plan_pass(&mut ledger, &pass(&uses, &discards), &no_groups(), &mut plan);
            prop_assert_eq!(result, long.plan(&mut reference, &list, &mut expected));
            prop_assert_eq!(plan.len(), expected.len());
            if result.is_ok() {
                prop_assert_eq!(plan.batch(0).memory, expected.batch(0).memory);
                prop_assert_eq!(plan.batch(0).textures, expected.batch(0).textures);
            }
            if then.commits() {
                if keep {
                    short.commit(&mut ledger, 3);
                    long.commit(&mut reference, 3);
                } else {
                    short.discard(&mut ledger);
                    long.discard(&mut reference);
                }
            }
            same_ledgers(&ledger, &reference)?;
        }
    }
}

struct NoGroups;

impl GroupUses for NoGroups {
    fn uses(&self, _: BindGroup) -> impl Iterator<Item = ResourceUse> {
        std::iter::empty()
    }
}

fn no_groups() -> DeclaredGroups<'static, NoGroups> {
    DeclaredGroups { groups: &[], of: &NoGroups }
}

/// The use, of all of its resource.
fn widen(usage: &ResourceUse) -> ResourceUse {
    match *usage {
        ResourceUse::Buffer { buffer, usage, .. } => bytes(buffer.slot(), 0, super::properties::BYTES, usage),
        ResourceUse::Texture { texture, usage, .. } if texture.slot() == 0 => {
            sub(0, color(0..3, 0..2), usage)
        }
        ResourceUse::Texture { usage, .. } => {
            sub(1, range(Aspects::DEPTH | Aspects::STENCIL, 0..2, 0..3), usage)
        }
    }
}

#[test]
fn what_was_touched_twice_is_taken_back_to_the_commit() {
    let mut world = World::buffers(3);
    let (write, read) = (b(0, BufferUse::StorageWrite(CS)), b(0, BufferUse::StorageRead(CS)));
    let part = bytes(1, 16, 32, BufferUse::CopyDst);
    let plan_pass = |world: &mut World, uses: &[ResourceUse]| {
        world.plan = Plan::new();
        world.planner.plan_pass(&mut world.ledger, &pass(uses, &[]), &no_groups(), &mut world.plan)
    };
    plan_pass(&mut world, &[write]).unwrap();
    world.commit(1);
    let before = (world.ledger.buffer_revision(0), world.ledger.buffer_revision(1));
    for _ in 0..3 {
        plan_pass(&mut world, &[write, part]).unwrap();
        plan_pass(&mut world, &[read]).unwrap();
    }
    // A call that fails late leaves what the calls before it planned.
    let conflict = [read, b(1, BufferUse::Vertex), b(1, BufferUse::CopyDst)];
    assert!(plan_pass(&mut world, &conflict).is_err());
    plan_pass(&mut world, &[write]).unwrap();
    assert_eq!(lines(world.plan.batch(0)), ["M CS/0 -> CS/0"], "after the read, not after the write");
    assert_eq!((world.ledger.buffer_revision(0), world.ledger.buffer_ordinal(0)), (before.0, 1));
    world.planner.discard(&mut world.ledger);
    assert_eq!((world.ledger.buffer_revision(0), world.ledger.buffer_revision(1)), before);
    assert!(world.ledger.is_idle());
    plan_pass(&mut world, &[read, b(1, BufferUse::Vertex)]).unwrap();
    assert_eq!(lines(world.plan.batch(0)), ["M CS/SW -> CS/SR"]);
}

#[test]
fn ordinals_may_skip() {
    let mut world = World::buffers(2);
    for (ordinal, slot) in [(1, 0), (5, 1), (6, 0), (9, 0)] {
        world.pass([b(slot, BufferUse::Vertex)]);
        world.try_plan().unwrap();
        world.commit(ordinal);
        assert_eq!(world.ledger.buffer_ordinal(slot), ordinal);
    }
    assert_eq!((world.ledger.buffer_ordinal(0), world.ledger.buffer_ordinal(1)), (9, 5));
}

#[test]
fn removal_wins_over_taking_back() {
    let mut world = World::buffers(2);
    world.pass([b(0, BufferUse::StorageWrite(CS)), b(1, BufferUse::StorageWrite(CS))]);
    world.try_plan().unwrap();
    world.ledger.remove_buffer(0);
    world.ledger.remove_buffer(1);
    world.ledger.add_buffer(1, 8);
    world.planner.discard(&mut world.ledger);
    assert!(!world.ledger.buffer_defined(0, 0, 0), "there is no such buffer any more");
    assert!(world.ledger.buffer_defined(1, 0, 0) && !world.ledger.buffer_defined(1, 0, 8));
    assert!(!world.ledger.buffer_defined(1, 0, SIZE), "the new one keeps its own size");
}

#[test]
fn a_use_that_comes_again_is_planned_by_comparison() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    let draw = |load| t(0, TextureUse::Color { load });
    let plan_pass = |world: &mut World, usage: ResourceUse| {
        world.plan = Plan::new();
        world
            .planner
            .plan_pass(&mut world.ledger, &pass(&[usage], &[]), &no_groups(), &mut world.plan)
            .unwrap();
        lines(world.plan.batch(0))
    };
    assert_eq!(plan_pass(&mut world, draw(false)).len(), 1, "a transition, which is not kept");
    let first = plan_pass(&mut world, draw(true));
    let revision = world.ledger.texture_revision(0);
    assert_eq!(plan_pass(&mut world, draw(true)), first);
    assert_eq!(world.ledger.texture_revision(0), revision, "nothing is committed yet");
    assert!(world.ledger.plan_use_again(&draw(true)).is_some());
    assert!(world.ledger.plan_use_again(&draw(false)).is_none(), "another use");
    world.planner.discard(&mut world.ledger);
    assert!(world.ledger.plan_use_again(&draw(true)).is_none(), "another state: the texture is fresh again");
    plan_pass(&mut world, draw(false));
    plan_pass(&mut world, draw(true));
    plan_pass(&mut world, draw(true));
    world.commit(7);
    assert_eq!((world.ledger.texture_ordinal(0), world.ledger.texture_revision(0)), (7, 3));
    plan_pass(&mut world, t(0, TextureUse::Sampled(FS)));
    assert!(world.ledger.plan_use_again(&draw(true)).is_none(), "another layout");
}
