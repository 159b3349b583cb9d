//! Passes that declare groups, and the leases that come of it: always the plans of their uses one by one.

use super::direct::pass;
use super::*;
use crate::handle::BindGroup;
use crate::plan::{DeclaredGroups, GroupUses};
use proptest::prelude::*;

/// What the group in each slot uses.
#[derive(Debug, Clone, Default)]
struct Groups(Vec<Vec<ResourceUse>>);

impl GroupUses for Groups {
    fn uses(&self, group: BindGroup) -> impl Iterator<Item = ResourceUse> {
        self.0[group.slot() as usize].iter().copied()
    }
}

fn group(slot: u32) -> BindGroup {
    BindGroup::new(DeviceTag(1), slot, 1)
}

const BUFFERS: u32 = 5;
const TEXTURES: u32 = 2;

fn all() -> impl Iterator<Item = Resource> {
    (0..BUFFERS).map(Resource::Buffer).chain((0..TEXTURES).map(Resource::Texture))
}

/// A ledger whose buffers are defined and whose textures are fresh.
fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    for resource in all() {
        add(&mut ledger, resource);
    }
    ledger
}

fn add(ledger: &mut Ledger, resource: Resource) {
    match resource {
        Resource::Buffer(slot) => {
            ledger.add_buffer(slot, SIZE);
            ledger.define_buffer(slot, 0, SIZE);
        }
        Resource::Texture(slot) => ledger.add_texture(slot, Aspects::COLOR, 1, 1),
    }
}

/// Whether the resource belongs to a lease.
fn leased(ledger: &Ledger, resource: Resource) -> bool {
    ledger.record(resource).is_some_and(|record| record.owner.lease().is_some())
}

/// Everything that a ledger answers.
fn answers(ledger: &Ledger) -> Vec<(Resource, bool, u64, u64, Option<Layout>)> {
    let answer = |resource| match resource {
        Resource::Buffer(slot) => {
            let defined = ledger.buffer_defined(slot, 0, SIZE);
            (resource, defined, ledger.buffer_revision(slot), ledger.buffer_ordinal(slot), None)
        }
        Resource::Texture(slot) => {
            let defined = ledger.texture_defined(slot, &color(0..1, 0..1));
            let layout = ledger.texture_layout(slot, Aspects::COLOR, 0, 0);
            (resource, defined, ledger.texture_revision(slot), ledger.texture_ordinal(slot), layout)
        }
    };
    all().map(answer).collect()
}

fn storage_use(pick: (u32, u8)) -> ResourceUse {
    let (resource, how) = pick;
    if resource >= BUFFERS {
        let usage = match how % 4 {
            0 => TextureUse::Sampled(CS),
            1 => TextureUse::StorageRead(CS),
            _ => TextureUse::StorageWrite(CS),
        };
        return t(resource - BUFFERS, usage);
    }
    match how % 8 {
        0 => b(resource, BufferUse::StorageRead(CS)),
        1 => b(resource, BufferUse::StorageRead(FS)),
        2 => b(resource, BufferUse::Uniform(CS | FS)),
        3 => bytes(resource, 16, 32, BufferUse::StorageWrite(CS)),
        _ => b(resource, BufferUse::StorageWrite(CS)),
    }
}

fn any_storage_use() -> impl Strategy<Value = ResourceUse> {
    (0..BUFFERS + TEXTURES, any::<u8>()).prop_map(storage_use)
}

#[derive(Debug, Clone)]
enum Step {
    /// A direct pass with these uses and groups.
    Pass(Vec<ResourceUse>, Vec<u32>),
    /// The same in a list of two passes.
    List(Vec<ResourceUse>, Vec<u32>),
    Commit(u64),
    Discard,
    Replace(u32),
    Define(u32),
}

fn any_step() -> impl Strategy<Value = Step> {
    let uses = || prop::collection::vec(any_storage_use(), 0..2);
    let groups = prop::collection::vec(0u32..4, 0..3);
    prop_oneof![
        6 => groups.clone().prop_map(|groups| Step::Pass(Vec::new(), groups)),
        2 => (uses(), groups.clone()).prop_map(|(uses, groups)| Step::Pass(uses, groups)),
        1 => (uses(), groups).prop_map(|(uses, groups)| Step::List(uses, groups)),
        3 => (0u64..2).prop_map(Step::Commit),
        1 => Just(Step::Discard),
        1 => (0..BUFFERS + TEXTURES).prop_map(Step::Replace),
        1 => (0..BUFFERS).prop_map(Step::Define),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn groups_are_planned_as_their_uses(
        uses in prop::collection::vec(prop::collection::vec(any_storage_use(), 0..3), 4),
        steps in prop::collection::vec(any_step(), 1..12),
        rounds in 1usize..5,
    ) {
        let groups = Groups(uses);
        let (mut ours, mut reference) = (ledger(), ledger());
        let (mut planner, mut anew) = (Planner::default(), Planner::default());
        let (mut plan, mut expected, mut list) = (Plan::new(), Plan::with_reasons(), PassList::new());
        let mut ordinal = 0;
        for step in std::iter::repeat_n(&steps, rounds).flatten() {
            match step {
                Step::Pass(own, declared) | Step::List(own, declared) => {
                    list.begin();
                    own.iter().for_each(|usage| list.push_use(*usage));
                    declared.iter().flat_map(|slot| &groups.0[*slot as usize]).for_each(|usage| list.push_use(*usage));
                    list.end_pass();
                    plan.clear();
                    expected.clear();
                    let result = if matches!(step, Step::List(..)) {
                        list.push_use(b(0, BufferUse::StorageRead(CS)));
                        list.end_pass();
                        planner.plan(&mut ours, &list, &mut plan)
                    } else {
                        let handles: Vec<_> = declared.iter().map(|slot| group(*slot)).collect();
                        let declared = DeclaredGroups { groups: &handles, of: &groups };
                        planner.plan_pass(&mut ours, &pass(own, &[]), &declared, &mut plan)
                    };
                    prop_assert_eq!(result, anew.plan(&mut reference, &list, &mut expected));
                    prop_assert_eq!(plan.len(), expected.len());
                    for index in 0..plan.len() {
                        prop_assert_eq!(lines(plan.batch(index)), lines(expected.batch(index)));
                    }
                }
                Step::Commit(skipped) => {
                    ordinal += 1 + skipped;
                    planner.commit(&mut ours, ordinal);
                    anew.commit(&mut reference, ordinal);
                }
                Step::Discard => {
                    planner.discard(&mut ours);
                    anew.discard(&mut reference);
                }
                Step::Replace(index) => {
                    for ledger in [&mut ours, &mut reference] {
                        let resource = all().nth(*index as usize).unwrap();
                        match resource {
                            Resource::Buffer(slot) => ledger.remove_buffer(slot),
                            Resource::Texture(slot) => ledger.remove_texture(slot),
                        }
                        add(ledger, resource);
                    }
                }
                Step::Define(slot) => {
                    // Between recordings only, as the ledger asks.
                    planner.discard(&mut ours);
                    anew.discard(&mut reference);
                    ours.define_buffer(*slot, 0, SIZE);
                    reference.define_buffer(*slot, 0, SIZE);
                }
            }
            prop_assert_eq!(answers(&ours), answers(&reference));
            for resource in all() {
                let states = |ledger: &Ledger| -> Vec<_> {
                    let runs = ledger.record(resource).unwrap().runs.all();
                    runs.iter().map(|run| (run.end, run.state)).collect()
                };
                prop_assert_eq!(states(&ours), states(&reference));
            }
        }
    }
}

/// A world with groups that write two buffers each, and one pass of all of them.
struct Resting {
    world: World,
    groups: Groups,
    handles: Vec<BindGroup>,
}

impl Resting {
    fn new(count: u32) -> Self {
        let write = |slot| b(slot, BufferUse::StorageWrite(CS));
        let groups = (0..count).map(|index| vec![write(index * 2), write(index * 2 + 1)]).collect();
        let handles = (0..count).map(group).collect();
        let mut world = World::buffers(count * 2);
        world.plan = Plan::new();
        Resting { world, groups: Groups(groups), handles }
    }

    fn pass(&mut self, uses: &[ResourceUse]) -> Result<Vec<String>, PlanError> {
        let World { ledger, planner, plan, .. } = &mut self.world;
        plan.clear();
        let declared = DeclaredGroups { groups: &self.handles, of: &self.groups };
        planner.plan_pass(ledger, &pass(uses, &[]), &declared, plan)?;
        Ok(lines(plan.batch(0)))
    }
}

const AGAIN: &str = "M CS/SW -> CS/SR,SW";

#[test]
fn a_group_at_rest_leases_and_gives_back() {
    let mut resting = Resting::new(2);
    assert_eq!(resting.pass(&[]).unwrap(), [""; 0]);
    for ordinal in 1..5 {
        assert_eq!(resting.pass(&[]).unwrap(), [AGAIN]);
        resting.world.commit(ordinal);
        let ledger = &resting.world.ledger;
        assert!((0..4).all(|slot| leased(ledger, Resource::Buffer(slot))));
        assert_eq!((ledger.buffer_ordinal(3), ledger.buffer_revision(3)), (ordinal, ordinal + 2));
    }
    // Someone else reads what the second group writes, and the group must wait for that.
    resting.world.pass([b(3, BufferUse::CopySrc)]);
    assert_plan!(resting.world, 0 => ["M CS/SW -> X/TR"]);
    assert!(
        leased(&resting.world.ledger, Resource::Buffer(0))
            && !leased(&resting.world.ledger, Resource::Buffer(2))
    );
    resting.world.plan = Plan::new();
    assert_eq!(resting.pass(&[]).unwrap(), [AGAIN, "M X/0 -> CS/SR"]);
    resting.world.commit(5);
    assert_eq!((resting.world.ledger.buffer_ordinal(3), resting.world.ledger.buffer_revision(3)), (5, 7));
}

#[test]
fn a_failed_pass_leaves_ten_thousand_groups_at_rest() {
    let mut resting = Resting::new(10_000);
    for ordinal in 1..4 {
        resting.pass(&[]).unwrap();
        resting.world.commit(ordinal);
    }
    let last = 2 * 10_000 - 1;
    let before = (resting.world.ledger.buffer_ordinal(last), resting.world.ledger.buffer_revision(last));
    let conflict = PlanError::Conflict { pass: 0, first: 0, second: last + 1 };
    assert_eq!(resting.pass(&[b(last, BufferUse::Vertex)]), Err(conflict));
    assert_eq!(resting.pass(&[b(last, BufferUse::Vertex)]), Err(conflict));
    // The long way, which names the conflict, ends the leases; nothing else remains of it.
    assert!(resting.world.ledger.is_idle() && !leased(&resting.world.ledger, Resource::Buffer(0)));
    let after = |world: &World| (world.ledger.buffer_ordinal(last), world.ledger.buffer_revision(last));
    assert_eq!(after(&resting.world), before);
    assert_eq!(resting.pass(&[]).unwrap(), [AGAIN]);
    resting.world.planner.discard(&mut resting.world.ledger);
    assert_eq!(after(&resting.world), before);
    assert_eq!(resting.pass(&[]).unwrap(), [AGAIN]);
    resting.world.commit(4);
    assert_eq!(after(&resting.world), (4, before.1 + 1));
}

#[test]
fn groups_that_share_a_written_resource_conflict_with_readers_only() {
    let mut resting = Resting::new(2);
    // Storage writes of one range share a pass, and neither group may lease it.
    resting.groups.0[1][0] = b(0, BufferUse::StorageWrite(CS));
    for _ in 0..4 {
        resting.pass(&[]).unwrap();
    }
    assert!(!leased(&resting.world.ledger, Resource::Buffer(0)));
    resting.groups.0[1][0] = b(0, BufferUse::StorageRead(CS));
    assert_eq!(resting.pass(&[]), Err(PlanError::Conflict { pass: 0, first: 0, second: 2 }));
}

#[test]
fn the_next_group_in_a_slot_is_not_its_predecessor() {
    let mut resting = Resting::new(1);
    for _ in 0..3 {
        resting.pass(&[]).unwrap();
    }
    assert!(leased(&resting.world.ledger, Resource::Buffer(0)));
    resting.handles = vec![BindGroup::new(DeviceTag(1), 0, 2)];
    resting.groups.0[0] = vec![b(1, BufferUse::StorageRead(CS))];
    assert_eq!(resting.pass(&[]).unwrap(), ["M CS/SW -> CS/SR"]);
    assert!(!leased(&resting.world.ledger, Resource::Buffer(0)));
    for _ in 0..3 {
        assert_eq!(resting.pass(&[]).unwrap(), [""; 0]);
    }
    resting.world.commit(1);
    assert_eq!((resting.world.ledger.buffer_revision(0), resting.world.ledger.buffer_revision(1)), (4, 4));
}

#[test]
fn resources_may_go_while_they_are_leased_and_planned_with() {
    let mut resting = Resting::new(1);
    for _ in 0..3 {
        resting.pass(&[]).unwrap();
    }
    resting.world.ledger.remove_buffer(0);
    assert!(!leased(&resting.world.ledger, Resource::Buffer(1)));
    assert_eq!(resting.pass(&[]), Err(PlanError::Unknown { pass: 0, item: Item::Use(0) }));
    resting.world.commit(2);
    assert_eq!((resting.world.ledger.buffer_ordinal(0), resting.world.ledger.buffer_ordinal(1)), (0, 2));
    assert_eq!(resting.world.ledger.buffer_revision(1), 4);
}

#[test]
fn groups_that_pass_their_resources_to_and_fro_are_planned_by_comparison() {
    let (read, write) = (BufferUse::StorageRead(CS), BufferUse::StorageWrite(CS));
    let groups = Groups(vec![vec![b(0, read), b(1, write)], vec![b(1, read), b(0, write)]]);
    let mut world = World::buffers(2);
    let plan_pass = |world: &mut World, slot| {
        world.plan = Plan::new();
        let declared = DeclaredGroups { groups: &[group(slot)], of: &groups };
        world.planner.plan_pass(&mut world.ledger, &pass(&[], &[]), &declared, &mut world.plan).unwrap();
        lines(world.plan.batch(0))
    };
    for slot in [0, 1, 0, 1] {
        plan_pass(&mut world, slot);
    }
    world.commit(1);
    let revision = world.ledger.buffer_revision(0);
    assert_eq!(world.ledger.plan_group_again(group(1)), None, "its own pass was the last");
    let found = world.ledger.plan_group_again(group(0)).flatten().map(|barrier| (barrier.src, barrier.dst));
    let scope = |access| Scope::new(Stages::COMPUTE_SHADER, access);
    assert_eq!(found, Some((scope(Access::STORAGE_WRITE), scope(Access::STORAGE_READ))));
    world.planner.discard(&mut world.ledger);
    assert_eq!(plan_pass(&mut world, 0), ["M CS/SW -> CS/SR"]);
    assert_eq!(plan_pass(&mut world, 1), ["M CS/SW -> CS/SR"]);
    world.commit(2);
    assert_eq!(world.ledger.buffer_revision(0), revision + 1);
    // Someone else reads the first buffer: what is found is no more what was kept.
    world.plan = Plan::new();
    let other = [b(0, BufferUse::Uniform(FS))];
    world
        .planner
        .plan_pass(
            &mut world.ledger,
            &pass(&other, &[]),
            &DeclaredGroups { groups: &[], of: &groups },
            &mut world.plan,
        )
        .unwrap();
    assert_eq!(world.ledger.plan_group_again(group(0)), None);
}
