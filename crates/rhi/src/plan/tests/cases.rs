//! Public bugs of other renderers, what careful implementations got wrong, and the ledger's own promises.

use super::*;
use BufferUse as B;
use TextureUse as T;

#[test]
fn c086_reader_of_the_whole_then_writer_of_a_slice() {
    let mut world = World::texture(Aspects::COLOR, 1, 8);
    let whole = color(0..1, 0..8);
    world.pass([sub(0, whole, T::CopyDst { whole: true })]).pass([sub(0, whole, T::Sampled(FS))]);
    world.run();
    world.pass([sub(0, whole, T::Sampled(VS))]);
    world.pass([sub(0, color(0..1, 3..4), T::Color { load: false })]);
    world.pass([sub(0, color(0..1, 3..4), T::Sampled(FS))]);
    world.pass([sub(0, whole, T::Sampled(CS))]);
    assert_plan!(world,
        0 => ["M FS/0 -> VS/SS"],
        // Both earlier readers are waited for, and only the slice changes its layout.
        1 => ["I t0 layer 3 : VS,FS/0 -> CAO/CR,CW : U>CA"],
        2 => ["I t0 layer 3 : CAO/CW -> FS,CS/SS : CA>RO"],
        3 => ["M FS/0 -> CS/SS"],
    );
    let reason = world.plan.reasons(1)[0];
    assert_eq!((reason.hazard, reason.previous), (Hazard::WriteAfterRead, Previous::Pass(0)));
    assert_eq!(world.plan.reasons(2)[0].previous, Previous::Pass(1));
}

#[test]
fn c087_first_use_and_last_use_of_a_mip() {
    let mut world = World::texture(Aspects::COLOR, 4, 1);
    let mip = |mip: u32, usage| sub(0, color(mip..mip + 1, 0..1), usage);
    world.pass([mip(0, T::StorageWrite(CS))]);
    world.pass([mip(0, T::Sampled(CS)), mip(1, T::StorageWrite(CS))]);
    world.pass([mip(2, T::StorageWrite(CS))]);
    world.pass([mip(2, T::Sampled(CS)), mip(3, T::StorageWrite(CS))]);
    assert_plan!(world,
        0 => ["I t0 : 0/0 -> CS/SR,SW : U>G"],
        1 => ["I t0 : CS/SW -> CS/SS : G>RO", "I t0 mip 1 : 0/0 -> CS/SR,SW : U>G"],
        2 => ["I t0 mip 2 : 0/0 -> CS/SR,SW : U>G"],
        3 => ["I t0 mip 2 : CS/SW -> CS/SS : G>RO", "I t0 mip 3 : 0/0 -> CS/SR,SW : U>G"],
    );
    world.commit(1);
    assert_eq!(world.ledger.texture_layout(0, Aspects::COLOR, 2, 0), Some(Layout::ShaderRead));
}

#[test]
fn c089_one_barrier_for_every_kind_of_reader() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::Uniform(VS))]).pass([b(0, B::Vertex)]);
    assert_plan!(world, 1 => ["M X/TW -> VAI,VS/VR,UR"]);

    // Planned apart, the second reader gets its own.
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::Uniform(VS))]);
    assert_plan!(world, 1 => ["M X/TW -> VS/UR"]);
    world.pass([b(0, B::Vertex)]);
    assert_plan!(world, 0 => ["M X/TW -> VAI/VR"]);

    // The layout stays, the dependency does not vanish.
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::StorageWrite(FS))]).pass([t(0, T::StorageRead(VS))]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> FS/SR,SW : U>G"], 1 => ["M FS/SW -> VS/SR"]);
}

#[test]
fn sources_are_united_only_where_that_is_exact() {
    let mut world = World::buffers(2);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::Uniform(VS)), b(1, B::StorageWrite(FS))]);
    world.pass([b(0, B::StorageWrite(CS)), b(1, B::StorageRead(CS))]);
    // (VS, SW) would be new.
    assert_plan!(world, 1 => ["M X/TW -> VS/UR"], 2 => ["M VS/0 -> CS/SR", "M FS/SW -> CS/SR"]);
    let mut world = World::buffers(2);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::Vertex), b(1, B::StorageWrite(FS))]);
    world.pass([b(0, B::StorageWrite(CS)), b(1, B::StorageRead(CS))]);
    assert_plan!(world, 1 => ["M X/TW -> VAI/VR"], 2 => ["M VAI,FS/SW -> CS/SR"]);
}

#[test]
fn c089_readers_beyond_the_lookahead_get_their_own() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]);
    for _ in 0..100 {
        world.pass([b(0, B::Uniform(VS))]);
    }
    world.pass([b(0, B::Vertex)]);
    assert_plan!(world, 1 => ["M X/TW -> VS/UR"], 101 => ["M X/TW -> VAI/VR"]);

    // In one pass every reader counts: a transition cannot be made twice.
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::CopyDst { whole: true })]);
    for _ in 0..100 {
        world.passes.push_use(t(0, T::Sampled(FS)));
    }
    world.pass([t(0, T::Sampled(VS))]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> X/TW : U>TD"], 1 => ["I t0 : X/TW -> VS,FS/SS : TD>RO"]);
}

#[test]
fn c089_masks_are_not_widened_across_kinds() {
    // One barrier to both would also speak of (CS, SR) and (FS, UR), which nobody asked for and a later read would miss.
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::Uniform(CS))]).pass([b(0, B::StorageRead(FS))]);
    assert_plan!(world, 1 => ["M X/TW -> CS/UR", "M X/TW -> FS/SR"]);
    world.pass([b(0, B::StorageRead(CS))]);
    assert_plan!(world, 0 => ["M X/TW -> CS/SR"]);
}

#[test]
fn c090_copy_over_copy() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::CopyDst)]);
    assert_plan!(world, 1 => ["M X/TW -> X/TW"]);
}

#[test]
fn c090_read_only_depth_after_sampling_has_no_store() {
    let mut world = World::texture(Aspects::DEPTH, 1, 1);
    world.pass([d(0, T::DepthStencil { load: false })]).pass([d(0, T::Sampled(CS))]);
    world.pass([d(0, T::DepthStencilReadOnly(FS))]).pass([d(0, T::DepthStencil { load: true })]);
    assert_plan!(world,
        0 => ["I t0 depth : 0/0 -> E,L/DR,DW : U>DA"],
        1 => ["I t0 depth : E,L/DW -> FS,E,L,CS/SS,DR : DA>DRO"],
        3 => ["I t0 depth : FS,E,L,CS/0 -> E,L/DR,DW : DRO>DA"],
    );
}

#[test]
fn c092_an_import_states_what_it_is() {
    let mut world = World::new(HazardMode::Fine);
    let after = Scope::NONE;
    let unknown = TextureState { layout: Layout::Undefined, after, defined: true };
    world.ledger.import_texture(0, Aspects::COLOR, 1, 1, unknown);
    world.pass([t(0, T::CopySrc)]);
    let part = Part::Subresources(color(0..1, 0..1));
    assert_eq!(world.try_plan(), Err(PlanError::Undefined { pass: 0, usage: 0, part }));
    // Only what replaces everything may start from there.
    world.pass([t(0, T::Color { load: false })]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> CAO/CR,CW : U>CA"]);

    let known = TextureState { layout: Layout::ShaderRead, after, defined: true };
    world.ledger.import_texture(1, Aspects::COLOR, 1, 1, known);
    world.pass([t(1, T::CopySrc)]);
    assert_plan!(world, 0 => ["I t1 : 0/0 -> X/TR : RO>TS"]);
}

#[test]
fn depth_writes_wait_in_early_and_late_tests() {
    let mut world = World::texture(Aspects::DEPTH, 1, 1);
    world.pass([d(0, T::DepthStencil { load: false })]).pass([d(0, T::DepthStencil { load: true })]);
    assert_plan!(world,
        0 => ["I t0 depth : 0/0 -> E,L/DR,DW : U>DA"],
        1 => ["M E,L/DW -> E,L/DR,DW"],
    );
}

#[test]
fn loaded_attachments_read() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::CopyDst { whole: true })]).pass([t(0, T::Color { load: true })]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> X/TW : U>TD"], 1 => ["I t0 : X/TW -> CAO/CR,CW : TD>CA"]);
}

#[test]
fn copies_in_one_scope_need_a_barrier_between() {
    let mut world = World::buffers(3);
    world.pass([b(0, B::CopySrc), b(1, B::CopyDst)]).pass([b(1, B::CopySrc), b(2, B::CopyDst)]);
    assert_plan!(world, 1 => ["M X/TW -> X/TR"]);
}

#[test]
fn depth_and_stencil_carry_separate_states() {
    let all = Aspects::DEPTH | Aspects::STENCIL;
    let mut world = World::texture(all, 1, 1);
    let (depth, stencil) = (range(Aspects::DEPTH, 0..1, 0..1), range(Aspects::STENCIL, 0..1, 0..1));
    world.pass([sub(0, range(all, 0..1, 0..1), T::DepthStencil { load: false })]);
    world.pass([sub(0, depth, T::DepthStencilReadOnly(FS)), sub(0, stencil, T::DepthStencil { load: true })]);
    assert_plan!(world,
        0 => ["I t0 both : 0/0 -> E,L/DR,DW : U>DA"],
        1 => ["M E,L/DW -> E,L/DR,DW", "I t0 depth : E,L/DW -> FS,E,L/SS,DR : DA>DRO"],
    );
}

#[test]
fn tested_and_sampled_depth_share_a_pass() {
    let mut world = World::texture(Aspects::DEPTH, 1, 1);
    world.pass([d(0, T::DepthStencil { load: false })]);
    world.pass([d(0, T::DepthStencilReadOnly(ShaderStages::NONE)), d(0, T::Sampled(FS))]);
    assert_plan!(world,
        0 => ["I t0 depth : 0/0 -> E,L/DR,DW : U>DA"],
        1 => ["I t0 depth : E,L/DW -> FS,E,L/SS,DR : DA>DRO"],
    );
}

#[test]
fn storage_writes_of_one_range_share_a_pass() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]);
    world.pass([b(0, B::StorageWrite(VS)), bytes(0, 0, 16, B::StorageWrite(FS))]);
    world.pass([bytes(0, 0, 16, B::CopySrc)]).pass([bytes(0, 16, 16, B::CopySrc)]);
    assert_plan!(world,
        1 => ["M X/TW -> VS,FS/SR,SW"],
        2 => ["M VS,FS/SW -> X/TR"],
        3 => ["M VS/SW -> X/TR"],
    );
}

#[test]
fn a_write_after_reads_sees_the_write_before_them() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::Vertex)]).pass([b(0, B::StorageWrite(CS))]);
    assert_plan!(world, 1 => ["M X/TW -> VAI/VR"], 2 => ["M VAI/0 -> CS/SR"]);
}

#[test]
fn a_second_reader_waits_for_the_transition() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::CopyDst { whole: true })]).pass([t(0, T::Sampled(FS))]);
    world.run();
    world.pass([t(0, T::Sampled(VS))]);
    assert_plan!(world, 0 => ["M FS/0 -> VS/SS"]);
    assert_eq!(world.plan.reasons(0)[0].hazard, Hazard::Layout);
}

#[test]
fn an_alias_makes_earlier_writes_available_and_starts_undefined() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.ledger.add_texture(1, Aspects::COLOR, 1, 1);
    world.ledger.add_buffer(0, SIZE);
    world.pass([t(0, T::StorageWrite(CS))]);
    world.passes.push_alias(Resource::Texture(0), Resource::Texture(1));
    world.pass([t(1, T::Color { load: false })]).pass([t(1, T::Sampled(FS))]);
    world.passes.push_alias(Resource::Texture(1), Resource::Buffer(0));
    world.pass([b(0, B::StorageWrite(CS))]);
    assert_plan!(world,
        0 => ["I t0 : 0/0 -> CS/SR,SW : U>G"],
        1 => ["I t1 : CS/SW -> CAO/CR,CW : U>CA"],
        2 => ["I t1 : CAO/CW -> FS/SS : CA>RO"],
        3 => ["M FS/0 -> CS/SR,SW"],
    );
    for unread in [t(0, T::Sampled(FS)), t(1, T::Sampled(FS))] {
        world.pass([unread]);
        assert!(matches!(world.try_plan(), Err(PlanError::Undefined { .. })));
    }
}

#[test]
fn what_is_committed_and_what_is_not() {
    let mut world = World::buffers(1);
    world.ledger.add_texture(0, Aspects::COLOR, 1, 1);
    let revision = world.ledger.buffer_revision(0);
    world.pass([b(0, B::CopySrc), t(0, T::CopyDst { whole: true })]);
    world.try_plan().unwrap();
    assert!(!world.ledger.texture_defined(0, &color(0..1, 0..1)));
    world.commit(7);
    assert!(world.ledger.texture_defined(0, &color(0..1, 0..1)));
    assert_eq!((world.ledger.buffer_revision(0), world.ledger.buffer_ordinal(0)), (revision, 7));
    assert_eq!((world.ledger.texture_revision(0), world.ledger.texture_ordinal(0)), (1, 7));

    world.pass([t(0, T::Sampled(FS))]);
    world.try_plan().unwrap();
    world.planner.discard(&mut world.ledger);
    assert_eq!(world.ledger.texture_layout(0, Aspects::COLOR, 0, 0), Some(Layout::CopyDst));
    assert_eq!(world.ledger.texture_ordinal(0), 7);

    // A slot's next occupant is not touched by what was planned for the last one.
    world.pass([t(0, T::Sampled(FS))]);
    world.try_plan().unwrap();
    world.ledger.remove_texture(0);
    world.ledger.add_texture(0, Aspects::COLOR, 1, 1);
    world.commit(8);
    assert_eq!(world.ledger.texture_layout(0, Aspects::COLOR, 0, 0), Some(Layout::Undefined));
    assert!(world.ledger.discard_texture(0, &color(0..1, 0..1)));
    assert!(!world.ledger.discard_texture(0, &color(0..2, 0..1)));
}

#[test]
fn a_failed_call_changes_nothing() {
    let mut world = World::buffers(2);
    world.pass([b(0, B::CopyDst)]);
    world.try_plan().unwrap();
    world.pass([b(0, B::StorageRead(CS)), b(1, B::CopyDst)]).pass([b(0, B::CopyDst), b(0, B::Vertex)]);
    assert_eq!(world.try_plan(), Err(PlanError::Conflict { pass: 1, first: 0, second: 1 }));
    assert!(world.plan.is_empty());
    world.pass([b(1, B::CopyDst)]).pass([b(0, B::Vertex)]);
    assert_plan!(world, 1 => ["M X/TW -> VAI/VR"]);
}

#[test]
fn ranges_and_slots_are_checked() {
    let mut world = World::buffers(1);
    world.ledger.add_texture(0, Aspects::COLOR, 2, 2);
    for beyond in [
        bytes(0, SIZE, 1, B::Vertex),
        bytes(0, u64::MAX, 2, B::Vertex),
        sub(0, color(1..3, 0..1), T::CopyDst { whole: true }),
        sub(0, color(0..1, 2..3), T::CopyDst { whole: true }),
        sub(0, color(0..0, 0..1), T::CopyDst { whole: true }),
        sub(0, range(Aspects::DEPTH, 0..1, 0..1), T::CopyDst { whole: true }),
    ] {
        world.pass([]).pass([b(0, B::Vertex), beyond]);
        assert_eq!(world.try_plan(), Err(PlanError::OutOfRange { pass: 1, item: Item::Use(1) }));
    }
    world.pass([b(1, B::Vertex)]);
    assert_eq!(world.try_plan(), Err(PlanError::Unknown { pass: 0, item: Item::Use(0) }));
    world.passes.push_discard(texture(0), color(0..1, 0..3));
    world.pass([]);
    assert_eq!(world.try_plan(), Err(PlanError::OutOfRange { pass: 0, item: Item::Discard(0) }));
    world.pass([bytes(0, SIZE, 0, B::Vertex)]);
    assert_plan!(world);
}
