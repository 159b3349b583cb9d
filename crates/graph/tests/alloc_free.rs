//! Warm frames allocate nothing: not to declare, compile, record or submit.
//!
//! A global allocator counts, so the one test of this file is alone in it.

mod common;
#[path = "../../rhi/tests/counting_alloc/mod.rs"]
mod counting_alloc;

use common::{COLOR, DEPTH, Fixture};
use purlin_graph::{FrameStats, Graph, GraphArena, TransientBuffer, TransientTexture, bind};
use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::types::ShaderStages;
use purlin_rhi::{ClearValue, LoadOp};

const BLACK: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([0.0; 4]));

/// Fourteen passes of every kind: shadows, culling, a G-buffer, a mip chain, blends, copies and a readback.
fn frame(fixture: &mut Fixture, arena: &mut GraphArena<Null>, screen: purlin_rhi::Texture) -> FrameStats {
    let handles = fixture.handles();
    let slice = fixture.device.push_frame_data(&[1; 64], 16).unwrap();
    let mut graph = Graph::new("frame", arena);
    let mut shadow = graph.texture("shadow", TransientTexture::d2(DEPTH, 64, 64));
    let mut depth = graph.texture("depth", TransientTexture::d2(DEPTH, 64, 64));
    let mut color = graph.texture("color", TransientTexture::d2(COLOR, 64, 64));
    let mut bloom = graph.texture("bloom", TransientTexture::d2(COLOR, 32, 32).mips(4));
    let mut visible = graph.buffer("visible", TransientBuffer::new(1024));
    let mut staging = graph.buffer("staging", TransientBuffer::new(1024));
    let mut screen = graph.import_texture("screen", screen);
    let arguments = visible.id();

    graph.clear_buffer("reset", &mut visible);
    graph
        .compute("cull")
        .bind(0, handles.write, [bind::storage(&mut visible)])
        .bind(1, handles.frame, [bind::uploaded(slice)])
        .dispatch(handles.compute, [4, 1, 1]);
    graph.render("shadow").depth(&mut shadow, LoadOp::Clear(1.0)).clear();
    graph.render("prepass").depth(&mut depth, LoadOp::Clear(1.0)).clear();
    graph
        .render("scene")
        .color(0, &mut color, BLACK)
        .depth(&mut depth, LoadOp::Load)
        .sampled(&shadow, ShaderStages::FRAGMENT)
        .indirect(&visible)
        .record(move |pass| {
            pass.set_pipeline(handles.color_depth);
            let arguments = pass.buffer(arguments);
            for draw in 0..8 {
                pass.draw_indirect(arguments, draw * 16);
            }
        });
    let sampler = || bind::sampler(handles.linear);
    graph
        .render("bloom 0")
        .color(0, &mut bloom.mip_mut(0), LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&color), sampler()])
        .fullscreen(handles.color);
    let mut mips = bloom.split_mips();
    for (n, label) in (1..4).zip(["bloom 1", "bloom 2", "bloom 3"]) {
        let (above, below) = mips.split_at_mut(n);
        graph
            .render(label)
            .color(0, &mut below[0], LoadOp::DontCare)
            .bind(0, handles.sample, [bind::texture(&above[n - 1]), sampler()])
            .fullscreen(handles.color);
    }
    graph
        .render("combine")
        .color(0, &mut color, LoadOp::Load)
        .bind(0, handles.sample, [bind::texture(&bloom), sampler()])
        .fullscreen(handles.color);
    graph
        .render("tonemap")
        .color(0, &mut screen, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&color), sampler()])
        .fullscreen(handles.color);
    graph.render("overlay").color(0, &mut screen, LoadOp::Load).draw(handles.color, 0..6, 0..1);
    graph.copy_buffer("keep", &visible, &mut staging);
    let read = graph.read_buffer(&staging.range(0..256));
    let mut submitted = graph.submit(&mut fixture.device).unwrap();
    let ticket = submitted.take_read(read).unwrap();
    let mut out = [0; 256];
    fixture.device.read(&ticket, &mut out).unwrap();
    assert_eq!((submitted.stats.passes, submitted.stats.culled), (14, 0));
    submitted.stats
}

#[test]
fn warm_frames_allocate_nothing() {
    counting_alloc::count_this_thread();
    for reuse in [true, false] {
        let mut fixture = Fixture::new(NullConfig::default());
        let screen = fixture.texture("screen", 64, 64);
        let mut arena = GraphArena::new();
        arena.options().structure_reuse = reuse;
        for _ in 0..9 {
            frame(&mut fixture, &mut arena, *screen);
        }
        for warm in 10..100 {
            let before = counting_alloc::allocations();
            let stats = frame(&mut fixture, &mut arena, *screen);
            let allocations = counting_alloc::allocations() - before;
            assert_eq!((allocations, stats.created, stats.reused), (0, 0, reuse), "frame {warm}");
        }
    }
}
