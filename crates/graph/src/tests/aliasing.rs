//! G7: textures lie over each other where their lives allow it, and what takes memory over waits for what had it.

use purlin_rhi::plan::Stages;
use purlin_rhi::types::TextureFormat;

use super::*;
use crate::context::NONE;
use crate::{FrameStats, TextureVersion};

const HDR: TextureFormat = TextureFormat::Rgba16Float;
const ONE: TextureFormat = TextureFormat::R8Unorm;

fn aliasing() -> (Fixture, Handles, GraphArena<Null>) {
    let (fixture, handles, mut arena) = setup();
    arena.options().alias = true;
    (fixture, handles, arena)
}

/// A pass that samples textures and fills another.
fn filter(graph: &mut Graph<'_, Null>, label: &str, from: &[&TextureVersion], to: &mut TextureVersion) {
    let mut pass = graph.render(label).color(0, to, LoadOp::DontCare);
    for from in from {
        pass = pass.sampled(*from, FRAGMENT);
    }
    pass.clear();
}

/// A deferred frame: shadows, a G-buffer, ambient occlusion, lighting, temporal antialiasing with an imported history, depth
/// of field, bloom, grading, sharpening, and a screen.
fn deferred(fixture: &mut Fixture, arena: &mut GraphArena<Null>, width: u32, height: u32) -> FrameStats {
    let usage = purlin_rhi::types::TextureUsages::RENDER_ATTACHMENT
        | purlin_rhi::types::TextureUsages::TEXTURE_BINDING;
    let desc = |label, format| purlin_rhi::TextureDesc::d2(label, width, height, format, usage);
    let history = fixture.device.create_texture(&desc("history", HDR)).unwrap();
    let next = fixture.device.create_texture(&desc("next", HDR)).unwrap();
    let screen = fixture.device.create_texture(&desc("screen", COLOR)).unwrap();
    let mut stats = FrameStats::default();
    for frame in 0..3 {
        let mut graph = Graph::new("deferred", arena);
        let mut make = |label: &str, format, shift: u32| {
            graph.texture(
                label,
                TransientTexture::d2(format, (width >> shift).max(1), (height >> shift).max(1)),
            )
        };
        let [mut depth, mut albedo, mut normal, mut material, mut motion] = [
            ("depth", DEPTH),
            ("albedo", COLOR),
            ("normal", HDR),
            ("material", COLOR),
            ("motion", TextureFormat::Rg16Float),
        ]
        .map(|(label, format)| make(label, format, 0));
        let [mut occlusion, mut blurred] =
            ["occlusion", "occlusion blurred"].map(|label| make(label, ONE, 1));
        let [mut lit, mut resolved, mut focused, mut combined] =
            ["lit", "resolved", "focused", "combined"].map(|label| make(label, HDR, 0));
        let mut bloom: Vec<_> = (1..7).map(|shift| make("bloom", HDR, shift)).collect();
        let mut up: Vec<_> = (1..6).map(|shift| make("bloom up", HDR, shift)).collect();
        let [mut graded, mut sharpened] = ["graded", "sharpened"].map(|label| make(label, COLOR, 0));
        let mut shadow = graph.texture("shadow", TransientTexture::d2(DEPTH, width, width));
        let mut history = graph.import_texture("history", *history);
        let mut next = graph.import_texture("next", *next);
        let mut screen = graph.import_texture("screen", *screen);
        if frame == 0 {
            graph.render("first history").color(0, &mut history, BLACK).clear();
        }
        graph.render("shadow").depth(&mut shadow, LoadOp::Clear(1.0)).clear();
        graph
            .render("gbuffer")
            .color(0, &mut albedo, BLACK)
            .color(1, &mut normal, BLACK)
            .color(2, &mut material, BLACK)
            .color(3, &mut motion, BLACK)
            .depth(&mut depth, LoadOp::Clear(1.0))
            .clear();
        filter(&mut graph, "occlusion", &[&depth, &normal], &mut occlusion);
        filter(&mut graph, "occlusion blur", &[&occlusion], &mut blurred);
        filter(&mut graph, "lighting", &[&albedo, &normal, &material, &depth, &blurred, &shadow], &mut lit);
        filter(&mut graph, "resolve", &[&lit, &history, &motion], &mut resolved);
        filter(&mut graph, "keep", &[&resolved], &mut next);
        filter(&mut graph, "focus", &[&resolved, &depth], &mut focused);
        filter(&mut graph, "bloom", &[&focused], &mut bloom[0]);
        for mip in 1..bloom.len() {
            let (larger, smaller) = bloom.split_at_mut(mip);
            filter(&mut graph, "bloom down", &[&larger[mip - 1]], &mut smaller[0]);
        }
        for mip in (0..up.len()).rev() {
            let (larger, smaller) = up.split_at_mut(mip + 1);
            let below = smaller.first().unwrap_or(&bloom[mip + 1]);
            filter(&mut graph, "bloom up", &[below, &bloom[mip]], &mut larger[mip]);
        }
        filter(&mut graph, "combine", &[&focused, &up[0]], &mut combined);
        filter(&mut graph, "grade", &[&combined], &mut graded);
        filter(&mut graph, "sharpen", &[&graded], &mut sharpened);
        filter(&mut graph, "present", &[&sharpened], &mut screen);
        stats = graph.submit(&mut fixture.device).unwrap().stats;
    }
    stats
}

/// Passes that each filter the last one's picture, at changing sizes.
fn post_chain(fixture: &mut Fixture, arena: &mut GraphArena<Null>) -> FrameStats {
    let mut graph = Graph::new("post", arena);
    let mut last = graph.texture("scene", TransientTexture::d2(HDR, 1280, 720));
    graph.render("scene").color(0, &mut last, BLACK).clear();
    for step in 0..40u32 {
        let (format, shift) = [(HDR, 0), (COLOR, 0), (HDR, 1), (ONE, 0), (HDR, 2)][step as usize % 5];
        let mut next = graph.texture("step", TransientTexture::d2(format, 1280 >> shift, 720 >> shift));
        filter(&mut graph, "step", &[&last], &mut next);
        last = next;
    }
    let mut out = graph.texture("out", TransientTexture::d2(COLOR, 4, 4));
    filter(&mut graph, "out", &[&last], &mut out);
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
