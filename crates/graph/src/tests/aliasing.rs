//! G7: textures lie over each other where their lives allow it, and what takes memory over waits for what had it.

use purlin_rhi::plan::Stages;

use super::reference_frames::{self, HDR, filter};
use super::*;
use crate::FrameStats;
use crate::context::NONE;

fn aliasing() -> (Fixture, Handles, GraphArena<Null>) {
    let (fixture, handles, mut arena) = setup();
    arena.options().alias = true;
    (fixture, handles, arena)
}

/// Three frames, of which the first also makes the history.
fn deferred(fixture: &mut Fixture, arena: &mut GraphArena<Null>, width: u32, height: u32) -> FrameStats {
    let usage = purlin_rhi::types::TextureUsages::RENDER_ATTACHMENT
        | purlin_rhi::types::TextureUsages::TEXTURE_BINDING;
    let images = [("history", HDR), ("next", HDR), ("screen", COLOR)].map(|(label, format)| {
        let desc = purlin_rhi::TextureDesc::d2(label, width, height, format, usage);
        fixture.device.create_texture(&desc).unwrap()
    });
    let mut stats = FrameStats::default();
    for frame in 0..3 {
        let mut graph = Graph::new("deferred", arena);
        let mut imports = images.each_ref().map(|image| graph.import_texture("image", **image));
        if frame == 0 {
            graph.render("first history").color(0, &mut imports[0], BLACK).clear();
        }
        reference_frames::deferred(&mut graph, (width, height), &mut imports);
        stats = graph.submit(&mut fixture.device).unwrap().stats;
    }
    stats
}

fn post_chain(fixture: &mut Fixture, arena: &mut GraphArena<Null>) -> FrameStats {
    let mut graph = Graph::new("post", arena);
    let mut out = graph.texture("out", TransientTexture::d2(COLOR, 4, 4));
    reference_frames::post_chain(&mut graph, (1280, 720), &mut out);
    graph.read_texture(&out);
    graph.submit(&mut fixture.device).unwrap().stats
}

fn check(name: &str, stats: &FrameStats, most_of_virtual: f64) {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{name}: virtual {:.1} MiB, physical {:.1}, bound {:.1}",
        mib(stats.transient_bytes),
        mib(stats.physical_bytes),
        mib(stats.peak_bytes)
    );
    let [all, physical, bound] =
        [stats.transient_bytes, stats.physical_bytes, stats.peak_bytes].map(|bytes| bytes as f64);
    assert!(physical <= bound * 1.05, "{name}: more than 5 % over the bound");
    assert!(physical <= all * most_of_virtual, "{name}: saves too little");
}

#[test]
fn reference_frames_are_close_to_the_bound() {
    for (width, height) in [(1280, 720), (3840, 2160)] {
        let (mut fixture, _, mut arena) = aliasing();
        let stats = deferred(&mut fixture, &mut arena, width, height);
        check(&format!("deferred {height}p"), &stats, 0.55);
    }
    let (mut fixture, _, mut arena) = aliasing();
    let stats = post_chain(&mut fixture, &mut arena);
    check("post chain", &stats, 0.2);
}

/// Passes 2..5 use A, 6..9 use B: B takes A's memory with a hand-off and an undefined start.
#[test]
fn memory_is_handed_over_with_what_was_written() {
    let (mut fixture, handles, mut arena) = aliasing();
    for frame in 0..2 {
        let mut graph = Graph::new("frame", &mut arena);
        let mut out = target(&mut graph, "out");
        let mut a = graph.texture("a", TransientTexture::d2(HDR, 8, 8));
        let mut b = graph.texture("b", TransientTexture::d2(COLOR, 16, 8));
        graph.render("make a").color(0, &mut a, BLACK).clear();
        filter(&mut graph, "use a", &[&a], &mut out);
        graph.render("make b").color(0, &mut b, BLACK).clear();
        graph
            .render("use b")
            .color(0, &mut out, LoadOp::Load)
            .bind(0, handles.sample, [bind::texture(&b), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
        graph.read_texture(&out);
        let stats = graph.submit(&mut fixture.device).unwrap().stats;
        assert_eq!(stats.reused, frame > 0);
        let context = &arena.context;
        let of = |name: &str| {
            let named = |index: &usize| context.declared.resource_name(*index as u32) == name;
            context.resources[(0..context.resources.len()).find(named).unwrap()]
        };
        let (a, b) = (of("a"), of("b"));
        assert_eq!((a.heap, a.offset, a.bytes), (b.heap, b.offset, b.bytes), "one place");
        let barriers = context.plan.batch(2).textures;
        let b_barrier = barriers.iter().find(|barrier| barrier.old == Layout::Undefined).unwrap();
        assert!(b_barrier.src.stages.contains(Stages::FRAGMENT_SHADER), "waits for the reader of a");
        let first = context.plan.batch(0).textures[0];
        // In the next frame a waits for what was done with b.
        assert_eq!(first.src.stages.contains(Stages::FRAGMENT_SHADER), frame > 0);
        assert_eq!(first.old, Layout::Undefined);
    }
}

#[test]
fn what_must_not_share_does_not() {
    let (mut fixture, _, mut arena) = aliasing();
    let import = fixture.texture("import", 8, 8);
    let mut graph = Graph::new("frame", &mut arena);
    let mut early = target(&mut graph, "early");
    let mut late = target(&mut graph, "late");
    let mut exported = target(&mut graph, "exported");
    let mut import = graph.import_texture("import", *import);
    graph.render("import").color(0, &mut import, BLACK).clear();
    graph.render("early").color(0, &mut early, BLACK).clear();
    // Early is read after late begins.
    graph.render("late").color(0, &mut late, BLACK).clear();
    filter(&mut graph, "both", &[&early, &late, &import], &mut exported);
    graph.export_texture(&exported);
    graph.submit(&mut fixture.device).unwrap();
    let context = &arena.context;
    let [early, late, exported, import] = [0, 1, 2, 3].map(|index| context.resources[index]);
    assert!(early.heap != NONE && early.heap == late.heap);
    assert!(early.offset + early.bytes <= late.offset || late.offset + late.bytes <= early.offset);
    assert_eq!((exported.heap, import.heap), (NONE, NONE));
    assert!(context.handovers.is_empty());
}

/// C084: a texture lives from the first pass that writes any part of it, and not from the first that takes all of it.
#[test]
fn c084_writing_a_part_begins_a_textures_life() {
    let (mut fixture, _, mut arena) = aliasing();
    let mut graph = Graph::new("frame", &mut arena);
    let desc = TransientTexture::d2(COLOR, 8, 8).mips(2);
    let (mut whole, mut short, mut out) =
        (graph.texture("whole", desc), graph.texture("short", desc), target(&mut graph, "out"));
    // Both are written in the first pass, and the short one by nobody else.
    {
        let mut parts = whole.split_mips();
        let mut short = short.split_mips();
        graph
            .render("first")
            .color(0, &mut parts[0], BLACK)
            .color(1, &mut short[0], BLACK)
            .side_effect()
            .clear();
        graph.render("second").color(0, &mut parts[1], BLACK).clear();
    }
    filter(&mut graph, "reads", &[&whole], &mut out);
    graph.export_texture(&out);
    graph.submit(&mut fixture.device).unwrap();
    let context = &arena.context;
    let [whole, short] = [0, 1].map(|index| context.resources[index]);
    assert_eq!((whole.first, whole.last), (0, 2));
    assert!(whole.heap != NONE && whole.heap == short.heap);
    let apart = whole.offset + whole.bytes <= short.offset || short.offset + short.bytes <= whole.offset;
    assert!(apart, "they share memory, and the first pass writes both");
}

/// A texture between two others has waited for the former, so only bytes that it does not have are waited for twice.
#[test]
fn handovers_are_not_more_than_needed() {
    let (mut fixture, _, mut arena) = aliasing();
    post_chain(&mut fixture, &mut arena);
    let context = &arena.context;
    let handovers = context.handovers.len();
    assert!(handovers < 4 * context.resources.len(), "{handovers} hand-overs");
    for (index, resource) in context.resources.iter().enumerate() {
        for (other, earlier) in context.resources.iter().enumerate() {
            let meets = resource.heap != NONE
                && resource.heap == earlier.heap
                && resource.offset < earlier.offset + earlier.bytes
                && earlier.offset < resource.offset + resource.bytes;
            if !meets || index == other {
                continue;
            }
            assert!(
                resource.last < earlier.first || earlier.last < resource.first,
                "{index} and {other} at one time"
            );
            if earlier.last < resource.first {
                // A chain of hand-overs leads from the earlier one.
                let mut reached = vec![other as u32];
                for handover in &context.handovers {
                    if reached.contains(&handover.from) && handover.position <= resource.first {
                        reached.push(handover.to);
                    }
                }
                assert!(reached.contains(&(index as u32)), "{index} does not wait for {other}");
            }
        }
    }
}

/// A heap that cannot be had is no reason to fail.
#[test]
fn without_a_heap_each_has_its_own_place() {
    let (mut fixture, _, mut arena) = aliasing();
    fixture.control.fail_allocation_of(purlin_rhi::ResourceKind::Heap, 1);
    let stats = post_chain(&mut fixture, &mut arena);
    assert!(stats.physical > 1 && arena.context.heaps.is_empty());
}
