//! The hazard shapes of public render graph suites.

use super::*;
use BufferUse as B;
use TextureUse as T;

#[test]
fn buffer_chain_is_exactly_its_dependencies() {
    let mut world = World::buffers(1);
    for usage in [
        B::StorageWrite(CS),
        B::StorageWrite(CS),
        B::StorageRead(CS),
        B::StorageWrite(CS),
        B::StorageRead(CS),
        B::StorageWrite(CS),
    ] {
        world.pass([b(0, usage)]);
    }
    assert_plan!(world,
        1 => ["M CS/SW -> CS/SR,SW"],
        2 => ["M CS/SW -> CS/SR"],
        3 => ["M CS/0 -> CS/0"],
        4 => ["M CS/SW -> CS/SR"],
        5 => ["M CS/0 -> CS/0"],
    );
    let hazards: Vec<_> = (0..6).flat_map(|pass| world.plan.reasons(pass)).collect();
    let expected = [
        (Hazard::WriteAfterWrite, 0),
        (Hazard::ReadAfterWrite, 1),
        (Hazard::WriteAfterRead, 2),
        (Hazard::ReadAfterWrite, 3),
        (Hazard::WriteAfterRead, 4),
    ];
    assert_eq!(hazards.len(), expected.len());
    for (reason, (hazard, pass)) in hazards.iter().zip(expected) {
        assert_eq!((reason.hazard, reason.previous), (hazard, Previous::Pass(pass)));
        assert_eq!((reason.resource, reason.barrier), (Resource::Buffer(0), BarrierIndex::Memory(0)));
        assert_eq!(reason.part, Part::Bytes { offset: 0, size: SIZE });
    }
    assert_eq!(world.plan.counts(), PlanCounts { batches: 5, memory: 5, textures: 0 });
}

#[test]
fn read_after_read_is_nothing() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::Vertex)]).pass([b(0, B::Index)]).pass([b(0, B::Vertex)]);
    assert_plan!(world);
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::CopyDst { whole: true })]).pass([t(0, T::Sampled(FS))]).pass([t(0, T::Sampled(FS))]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> X/TW : U>TD"], 1 => ["I t0 : X/TW -> FS/SS : TD>RO"]);
}

#[test]
fn undefined_read_is_an_error() {
    let mut world = World::texture(Aspects::COLOR, 2, 2);
    world.pass([sub(0, color(1..2, 0..1), T::Color { load: false })]);
    world.pass([sub(0, color(1..2, 0..2), T::Sampled(FS))]);
    let part = Part::Subresources(color(1..2, 1..2));
    assert_eq!(world.try_plan(), Err(PlanError::Undefined { pass: 1, usage: 0, part }));
    world.ledger.add_buffer(0, SIZE);
    world.pass([bytes(0, 0, 16, B::CopyDst)]).pass([bytes(0, 8, 16, B::Vertex)]);
    let part = Part::Bytes { offset: 16, size: 8 };
    assert_eq!(world.try_plan(), Err(PlanError::Undefined { pass: 1, usage: 0, part }));
    assert!(world.ledger.is_idle() && world.plan.is_empty());
}

#[test]
fn two_attachments_on_one_subresource_are_an_error() {
    let mut world = World::texture(Aspects::COLOR, 1, 2);
    let attach = |layer: u32| sub(0, color(0..1, layer..layer + 1), T::Color { load: false });
    world.pass([attach(0), attach(1)]);
    assert!(world.try_plan().is_ok());
    world.pass([]).pass([attach(0), attach(1), attach(1)]);
    assert_eq!(world.try_plan(), Err(PlanError::Conflict { pass: 1, first: 1, second: 2 }));
}

#[test]
fn feedback_is_an_error() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::Color { load: false })]);
    world.pass([t(0, T::Color { load: true }), t(0, T::Sampled(FS))]);
    assert_eq!(world.try_plan(), Err(PlanError::Conflict { pass: 1, first: 0, second: 1 }));
    world.pass([t(0, T::Color { load: false })]).pass([t(0, T::Sampled(FS)), t(0, T::CopySrc)]);
    assert_eq!(world.try_plan(), Err(PlanError::Conflict { pass: 1, first: 0, second: 1 }));
}

#[test]
fn mip_chain_is_one_barrier_of_one_mip_per_step() {
    let mut world = World::texture(Aspects::COLOR, 5, 1);
    let mip = |mip: u32, usage| sub(0, color(mip..mip + 1, 0..1), usage);
    world.pass([sub(0, color(0..5, 0..1), T::StorageWrite(CS))]);
    for step in 1..5 {
        world.pass([mip(step - 1, T::Sampled(CS)), mip(step, T::StorageWrite(CS))]);
    }
    world.pass([sub(0, color(0..5, 0..1), T::Sampled(FS))]);
    assert_plan!(world,
        0 => ["I t0 mip 0..5 : 0/0 -> CS/SR,SW : U>G"],
        1 => ["M CS/SW -> CS/SR,SW", "I t0 : CS/SW -> FS,CS/SS : G>RO"],
        2 => ["M CS/SW -> CS/SR,SW", "I t0 mip 1 : CS/SW -> FS,CS/SS : G>RO"],
        3 => ["M CS/SW -> CS/SR,SW", "I t0 mip 2 : CS/SW -> FS,CS/SS : G>RO"],
        4 => ["M CS/SW -> CS/SR,SW", "I t0 mip 3 : CS/SW -> FS,CS/SS : G>RO"],
        5 => ["I t0 mip 4 : CS/SW -> FS/SS : G>RO"],
    );
}

#[test]
fn raster_mip_chain_touches_one_mip_per_step() {
    let mut world = World::texture(Aspects::COLOR, 5, 1);
    let mip = |mip: u32, usage| sub(0, color(mip..mip + 1, 0..1), usage);
    world.pass([mip(0, T::Color { load: false })]);
    for step in 1..5 {
        world.pass([mip(step - 1, T::Sampled(FS)), mip(step, T::Color { load: false })]);
    }
    assert_plan!(world,
        0 => ["I t0 : 0/0 -> CAO/CR,CW : U>CA"],
        1 => ["I t0 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 1 : 0/0 -> CAO/CR,CW : U>CA"],
        2 => ["I t0 mip 1 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 2 : 0/0 -> CAO/CR,CW : U>CA"],
        3 => ["I t0 mip 2 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 3 : 0/0 -> CAO/CR,CW : U>CA"],
        4 => ["I t0 mip 3 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 4 : 0/0 -> CAO/CR,CW : U>CA"],
    );
}

#[test]
fn mip_chain_down_and_up_reconverges() {
    let mut world = World::texture(Aspects::COLOR, 5, 1);
    let mip = |mip: u32, usage| sub(0, color(mip..mip + 1, 0..1), usage);
    world.pass([mip(0, T::Color { load: false })]);
    for step in 1..5 {
        world.pass([mip(step - 1, T::Sampled(FS)), mip(step, T::Color { load: false })]);
    }
    for step in (0..4).rev() {
        world.pass([mip(step + 1, T::Sampled(FS)), mip(step, T::Color { load: true })]);
    }
    world.pass([mip(0, T::Sampled(FS))]);
    let planned = world.planned();
    assert_eq!(
        planned[5..],
        [
            ["I t0 mip 4 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 3 : FS/0 -> CAO/CR,CW : RO>CA"].as_slice(),
            &["I t0 mip 3 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 2 : FS/0 -> CAO/CR,CW : RO>CA"],
            &["I t0 mip 2 : CAO/CW -> FS/SS : CA>RO", "I t0 mip 1 : FS/0 -> CAO/CR,CW : RO>CA"],
            &["I t0 mip 1 : CAO/CW -> FS/SS : CA>RO", "I t0 : FS/0 -> CAO/CR,CW : RO>CA"],
            &["I t0 : CAO/CW -> FS/SS : CA>RO"],
        ]
    );
    world.commit(1);
    assert_eq!(world.ledger.record(Resource::Texture(0)).unwrap().runs.all().len(), 1);
    world.pass([sub(0, color(0..5, 0..1), T::Sampled(FS))]);
    assert_plan!(world);
    world.pass([sub(0, color(0..5, 0..1), T::CopySrc)]);
    assert_plan!(world, 0 => ["I t0 mip 0..5 : FS/0 -> X/TR : RO>TS"]);
}

#[test]
fn slices_and_mips_of_depth_and_stencil_keep_their_own_contents() {
    let all = Aspects::DEPTH | Aspects::STENCIL;
    let mut world = World::texture(all, 5, 10);
    let at = |aspects, mip: u32, layer: u32| range(aspects, mip..mip + 1, layer..layer + 1);
    // Odd slices drop their stencil, even ones their depth.
    let dropped = |layer: u32| if layer % 2 == 1 { Aspects::STENCIL } else { Aspects::DEPTH };
    for mip in 0..5 {
        for layer in 0..10 {
            world.passes.push_use(sub(0, at(all, mip, layer), T::DepthStencil { load: false }));
            world.passes.push_discard(texture(0), at(dropped(layer), mip, layer));
            world.passes.end_pass();
        }
    }
    let planned = world.planned();
    for mip in 0..5 {
        for layer in 0..10 {
            let mut expected = format!("I t0 both mip {mip} layer {layer} : 0/0 -> E,L/DR,DW : U>DA");
            if mip == 0 {
                expected = expected.replace(" mip 0", "");
            }
            if layer == 0 {
                expected = expected.replace(" layer 0", "");
            }
            assert_eq!(planned[(mip * 10 + layer) as usize], [expected]);
        }
    }
    world.commit(1);
    for mip in 0..5 {
        for layer in 0..10 {
            for aspects in [Aspects::DEPTH, Aspects::STENCIL] {
                let range = at(aspects, mip, layer);
                assert_eq!(world.ledger.texture_defined(0, &range), aspects != dropped(layer));
                let layout = world.ledger.texture_layout(0, aspects, mip, layer);
                assert_eq!(layout, Some(Layout::DepthStencilAttachment));
                world.pass([sub(0, range, T::DepthStencil { load: true })]);
                assert_eq!(world.try_plan().is_ok(), aspects != dropped(layer));
                world.planner.discard(&mut world.ledger);
            }
        }
    }
    // Depth can be sampled while stencil, which was dropped, is cleared.
    world.pass([
        sub(0, at(Aspects::DEPTH, 0, 1), T::Sampled(FS)),
        sub(0, at(Aspects::STENCIL, 0, 1), T::DepthStencil { load: false }),
    ]);
    assert_plan!(world, 0 => ["M E,L/DW -> E,L/DR,DW", "I t0 depth layer 1 : E,L/DW -> FS/SS : DA>DRO"]);
    world.planner.discard(&mut world.ledger);
    // What was dropped may start from undefined, what was kept may not.
    world.pass([sub(0, at(all, 0, 1), T::CopyDst { whole: false })]);
    assert_plan!(world, 0 => [
        "I t0 depth layer 1 : E,L/DW -> X/TW : DA>TD",
        "I t0 stencil layer 1 : E,L/DW -> X/TW : U>TD",
    ]);
}

#[test]
fn disjoint_buffer_ranges_fine_and_conservative() {
    for mode in [HazardMode::Fine, HazardMode::Conservative] {
        let mut world = World::buffers(1);
        world.planner.set_mode(mode);
        world.pass([bytes(0, 0, 64, B::StorageWrite(CS))]).pass([bytes(0, 64, 64, B::StorageWrite(CS))]);
        match mode {
            HazardMode::Fine => assert_plan!(world),
            HazardMode::Conservative => assert_plan!(world, 1 => ["M CS/SW -> CS/SR,SW"]),
        }
    }
}

#[test]
fn conservative_mip_chain_orders_all_and_keeps_contents() {
    let mut world = World::texture(Aspects::COLOR, 3, 1);
    world.planner.set_mode(HazardMode::Conservative);
    let mip = |mip: u32, usage| sub(0, color(mip..mip + 1, 0..1), usage);
    world.pass([mip(0, T::Color { load: false })]);
    world.pass([mip(0, T::Sampled(FS)), mip(1, T::Color { load: false })]);
    world.pass([mip(1, T::Sampled(FS)), mip(2, T::Color { load: false })]);
    assert_plan!(world,
        0 => ["I t0 : 0/0 -> CAO/CR,CW : U>CA"],
        1 => [
            "M CAO/CW -> FS,CAO/SS,CR,CW",
            "I t0 : CAO/CW -> FS/SS : CA>RO",
            "I t0 mip 1 : CAO/CW -> CAO/CR,CW : U>CA",
        ],
        2 => [
            "M FS,CAO/CW -> FS,CAO/SS,CR,CW",
            "I t0 mip 1 : FS,CAO/CW -> FS/SS : CA>RO",
            "I t0 mip 2 : FS,CAO/CW -> CAO/CR,CW : U>CA",
        ],
    );
}
