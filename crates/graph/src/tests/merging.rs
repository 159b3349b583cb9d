//! G5: raster passes that continue the one before are recorded as one, and all others are not.

use purlin_rhi::backend::NativeLoad;
use purlin_rhi::null::NullCommand;
use purlin_rhi::{AspectOps, StoreOp};

use super::*;
use crate::TextureVersion;

const STORE: AspectOps<f32> = AspectOps { load: LoadOp::Load, store: StoreOp::Store, read_only: false };

fn merging() -> (Fixture, Handles, GraphArena<Null>) {
    let (fixture, handles, mut arena) = setup();
    arena.options().merge = true;
    (fixture, handles, arena)
}

/// Declares with a scene and a screen, then shows the scene. Returns the merged passes.
fn show(
    fixture: &mut Fixture,
    arena: &mut GraphArena<Null>,
    declare: impl FnOnce(&mut Graph<'_, Null>, &mut TextureVersion),
) -> u32 {
    let handles = fixture.handles();
    let mut graph = Graph::new("frame", arena);
    let mut scene = target(&mut graph, "scene");
    let mut screen = target(&mut graph, "screen");
    graph.render("scene").color(0, &mut scene, BLACK).draw(handles.color, 0..3, 0..1);
    declare(&mut graph, &mut scene);
    graph
        .render("composite")
        .color(0, &mut screen, BLACK)
        .bind(0, handles.sample, [bind::texture(&scene), bind::sampler(handles.linear)])
        .fullscreen(handles.color);
    graph.read_texture(&screen);
    graph.submit(&mut fixture.device).unwrap().stats.merged
}

#[test]
fn overlays_become_one_pass() {
    for layers in [0, 1, 8, 16, 31] {
        let (mut fixture, handles, mut arena) = merging();
        fixture.control.take_log();
        let merged = show(&mut fixture, &mut arena, |graph, scene| {
            for layer in 0..layers {
                graph.render("overlay").color(0, scene, LoadOp::Load).draw(
                    handles.color,
                    0..6,
                    layer..layer + 1,
                );
            }
        });
        assert_eq!(merged, layers);
        let log = fixture.control.take_log();
        let commands: Vec<_> = log.iter().flat_map(|submission| submission.commands()).collect();
        let count = |is: fn(&NullCommand) -> bool| commands.iter().filter(|command| is(command)).count();
        assert_eq!(count(|command| matches!(command, NullCommand::BeginRenderPass(_))), 2);
        assert_eq!(count(|command| matches!(command, NullCommand::Draw { .. })), layers as usize + 2);
    }
}

#[test]
fn a_scope_has_the_barriers_of_its_first_pass() {
    let (mut fixture, handles, mut arena) = merging();
    show(&mut fixture, &mut arena, |graph, scene| {
        for label in ["one", "two"] {
            graph.render(label).color(0, scene, LoadOp::Load).draw(handles.color, 0..6, 0..1);
        }
    });
    assert_plan!(
        arena,
        "scene | init scene none>color",
        "one | merged",
        "two | merged",
        "composite | init screen none>color | RAW scene color>sampled",
        "read \"screen\" | RAW screen color>src",
    );
    arena.options().merge = false;
    show(&mut fixture, &mut arena, |graph, scene| {
        for label in ["one", "two"] {
            graph.render(label).color(0, scene, LoadOp::Load).draw(handles.color, 0..6, 0..1);
        }
    });
    assert_eq!(plan_words(&arena.context)[1..3], ["one | RAW scene", "two | RAW scene"]);
}

/// Declares two passes after the scene and says how many of the three are merged into another.
fn merged_of(declare: impl FnOnce(&mut Graph<'_, Null>, &mut TextureVersion, Handles)) -> u32 {
    let (mut fixture, handles, mut arena) = merging();
    show(&mut fixture, &mut arena, |graph, scene| declare(graph, scene, handles))
}

#[test]
fn boundaries_are_kept() {
    let overlay = |graph: &mut Graph<'_, Null>, scene: &mut TextureVersion, load| {
        graph.render("overlay").color(0, scene, load).clear();
    };
    assert_eq!(merged_of(|graph, scene, _| overlay(graph, scene, LoadOp::Load)), 1);
    assert_eq!(merged_of(|graph, scene, _| overlay(graph, scene, BLACK)), 0, "a clear");
    assert_eq!(merged_of(|graph, scene, _| overlay(graph, scene, LoadOp::DontCare)), 0, "a discard");
    let side_effect = merged_of(|graph, scene, _| {
        graph.render("effect").color(0, scene, LoadOp::Load).side_effect().clear();
        overlay(graph, scene, LoadOp::Load);
    });
    assert_eq!(side_effect, 0, "a side effect ends what is before it and begins what is after it");
    let compute = merged_of(|graph, scene, handles| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        let write = graph.compute("write").bind(0, handles.write, [bind::storage(&mut data)]);
        write.dispatch(handles.compute, [1, 1, 1]);
        graph.render("reader").color(0, scene, LoadOp::Load).storage_read(&data, FRAGMENT).clear();
    });
    assert_eq!(compute, 0, "other work between");
    let culled = merged_of(|graph, scene, _| {
        let mut unseen = target(graph, "unseen");
        graph.render("unseen").color(0, &mut unseen, BLACK).clear();
        overlay(graph, scene, LoadOp::Load);
    });
    assert_eq!(culled, 0, "a culled gap");
    let read = merged_of(|graph, scene, _| {
        graph.read_texture(scene);
        overlay(graph, scene, LoadOp::Load);
    });
    assert_eq!(read, 0, "a readback of what was stored");
    let sections = merged_of(|graph, scene, _| {
        graph.render("sections").color(0, scene, LoadOp::Load).record_parallel(2, |_, _| ());
        overlay(graph, scene, LoadOp::Load);
    });
    assert_eq!(sections, 0, "sections");
}

/// C083: what is merged is decided on the passes that run, in the order in which they run, whatever is culled around.
#[test]
fn c083_a_culled_last_pass_changes_no_scope() {
    let mut seen = Vec::new();
    for unrelated in [false, true] {
        let (mut fixture, handles, mut arena) = merging();
        fixture.control.take_log();
        let mut graph = Graph::new("frame", &mut arena);
        let mut color = target(&mut graph, "color");
        let mut unseen = target(&mut graph, "unseen");
        graph.render("clear").color(0, &mut color, BLACK).clear();
        for _ in 0..3 {
            graph.render("draw").color(0, &mut color, LoadOp::Load).draw(handles.color, 0..3, 0..1);
        }
        graph.read_texture(&color);
        if unrelated {
            graph.render("unrelated").color(0, &mut unseen, BLACK).clear();
        }
        let merged = graph.submit(&mut fixture.device).unwrap().stats.merged;
        assert_eq!(merged, 3, "the clear and three draws are one scope");
        let log = fixture.control.take_log();
        let (mut open, mut scopes, mut clears, mut draws) = (false, 0, 0, 0);
        for command in log.iter().flat_map(|submission| submission.commands()) {
            match command {
                NullCommand::BeginRenderPass(pass) => {
                    assert!(!open, "a scope in a scope");
                    (open, scopes) = (true, scopes + 1);
                    let is_clear =
                        |color: &purlin_rhi::backend::NativeColor| matches!(color.load, NativeLoad::Clear(_));
                    clears += pass.colors.iter().flatten().filter(|color| is_clear(color)).count();
                }
                NullCommand::EndRenderPass => {
                    assert!(open, "an end without a beginning");
                    open = false;
                }
                NullCommand::Draw { .. } => {
                    assert!(open, "a draw outside of any scope");
                    draws += 1;
                }
                _ => {}
            }
        }
        assert!(!open, "a scope that does not end");
        seen.push((scopes, clears, draws));
    }
    assert_eq!(seen, [(1, 1, 3), (1, 1, 3)]);
}

/// A resolve is what a native pass ends with, so passes that resolve are passes of their own.
#[test]
fn resolves_are_boundaries() {
    for (before, after) in [(false, false), (true, false), (false, true), (true, true)] {
        let merged = merged_of(|graph, scene, _| {
            let mut samples = graph.texture("samples", TransientTexture::d2(COLOR, 8, 8).samples(4));
            let first = graph.render("first").color(0, &mut samples, BLACK);
            let first = if before { first.resolve(0, scene) } else { first };
            first.clear();
            let second = graph.render("second").color(0, &mut samples, LoadOp::Load);
            let second = if after { second.resolve(0, scene) } else { second };
            second.clear();
            graph.render("last").color(0, &mut samples, LoadOp::Load).resolve(0, scene).clear();
        });
        assert_eq!(merged, u32::from(!before && !after), "{before}, {after}");
    }
}

#[test]
fn reads_must_be_the_same() {
    let reading = |order: [usize; 2], again: [usize; 2], parts: bool| {
        merged_of(|graph, scene, _| {
            let mut sources = [target(graph, "a"), target(graph, "b")];
            for source in &mut sources {
                graph.render("source").color(0, source, BLACK).clear();
            }
            for (label, [first, second]) in [("one", order), ("two", again)] {
                let pass = graph.render(label).color(0, scene, LoadOp::Load);
                let stages = if parts && label == "two" { ShaderStages::VERTEX } else { FRAGMENT };
                pass.sampled(&sources[first], stages).sampled(&sources[second], FRAGMENT).clear();
            }
        })
    };
    assert_eq!(reading([0, 1], [0, 1], false), 1);
    assert_eq!(reading([0, 1], [1, 0], false), 0, "in the same order");
    assert_eq!(reading([0, 1], [0, 0], false), 0, "of the same resources");
    assert_eq!(reading([0, 1], [0, 1], true), 0, "in the same stages");
    let writing = merged_of(|graph, scene, _| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        for label in ["one", "two"] {
            graph.render(label).color(0, scene, LoadOp::Load).storage(&mut data, FRAGMENT).clear();
        }
        graph.read_buffer(&data);
    });
    assert_eq!(writing, 0, "writes need a barrier");
}

#[test]
fn depth_must_be_used_alike() {
    let depths = |first: u8, second: u8| {
        merged_of(|graph, scene, _| {
            let mut depth = graph.texture("depth", TransientTexture::d2(common::BOTH, 8, 8));
            let clear = AspectOps { load: LoadOp::Clear(1.0), ..STORE };
            let stencil = |load, store| AspectOps { load, store, read_only: false };
            let cleared = stencil(LoadOp::Clear(0), StoreOp::Store);
            graph.render("prepass").depth_stencil(&mut depth, clear, cleared).clear();
            for (label, how) in [("one", first), ("two", second)] {
                let pass = graph.render(label).color(0, scene, LoadOp::Load);
                let pass = match how {
                    0 => pass.depth_read(&depth),
                    1 => pass.depth_stencil(&mut depth, STORE, stencil(LoadOp::Load, StoreOp::Store)),
                    2 => pass.depth_stencil(&mut depth, STORE, stencil(LoadOp::Clear(0), StoreOp::Store)),
                    _ => {
                        let read_only = AspectOps { read_only: true, ..STORE };
                        pass.depth_stencil(&mut depth, read_only, stencil(LoadOp::Load, StoreOp::Store))
                    }
                };
                pass.clear();
            }
        })
    };
    assert_eq!([depths(0, 0), depths(1, 1), depths(3, 3)], [1; 3]);
    assert_eq!(depths(2, 1), 1, "the first may clear");
    assert_eq!([depths(0, 1), depths(1, 0), depths(1, 3), depths(3, 1)], [0; 4], "tested or written alike");
    assert_eq!(depths(1, 2), 0, "a cleared stencil");
}

/// Each pass begins with nothing set, also inside another's native pass.
#[test]
fn state_does_not_leak_from_pass_to_pass() {
    let (mut fixture, handles, mut arena) = merging();
    let mut declare = |set_in_both: bool| {
        let mut graph = Graph::new("frame", &mut arena);
        let mut scene = target(&mut graph, "scene");
        graph.render("first").color(0, &mut scene, BLACK).record(move |pass| {
            pass.set_pipeline(handles.color);
            pass.set_scissor(0, 0, 1, 1);
            pass.draw(0..3, 0..1);
        });
        graph.render("second").color(0, &mut scene, LoadOp::Load).record(move |pass| {
            if set_in_both {
                pass.set_pipeline(handles.color);
            }
            pass.draw(0..3, 0..1);
        });
        graph.read_texture(&scene);
        graph.submit(&mut fixture.device).map(|submitted| submitted.stats.merged)
    };
    let error = declare(false).unwrap_err();
    assert!(matches!(&error, GraphError::Pass { pass, .. } if &**pass == "second"), "{error}");
    assert!(error.to_string().contains("a pipeline"), "{error}");
    assert_eq!(declare(true).unwrap(), 1);
    let log = fixture.control.take_log();
    let scissors: Vec<_> = log
        .iter()
        .flat_map(|submission| submission.commands())
        .filter_map(|command| match command {
            NullCommand::Draw { changed, .. } => Some(changed.scissor),
            _ => None,
        })
        .collect();
    assert_eq!(scissors, [Some([0, 0, 1, 1]), Some([0, 0, 8, 8])]);
}

/// What the last pass leaves is what the scope leaves.
#[test]
fn a_scope_stores_what_its_last_pass_stores() {
    let (mut fixture, handles, mut arena) = merging();
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    let mut depth = graph.texture("depth", TransientTexture::d2(common::DEPTH, 8, 8));
    graph.render("one").color(0, &mut color, BLACK).depth(&mut depth, LoadOp::Clear(1.0)).clear();
    graph.render("two").color(0, &mut color, LoadOp::Load).depth(&mut depth, LoadOp::Load).draw(
        handles.color_depth,
        0..3,
        0..1,
    );
    graph.read_texture(&color);
    let mut submitted = graph.submit(&mut fixture.device).unwrap();
    assert_eq!(submitted.stats.merged, 1);
    let report = submitted.take_report().unwrap();
    assert_eq!([report.passes[0].merged, report.passes[1].merged], [false, true]);
    let log = fixture.control.take_log();
    let stores: Vec<_> = log
        .iter()
        .flat_map(|submission| submission.commands())
        .filter_map(|command| match command {
            NullCommand::BeginRenderPass(pass) => {
                let color = pass.colors[0].map(|color| (color.load, color.store));
                let depth = pass.depth_stencil.and_then(|target| target.depth);
                Some((color, depth.map(|ops| (ops.load, ops.store))))
            }
            _ => None,
        })
        .collect();
    let cleared = (NativeLoad::Clear(ClearValue::Float([0.0; 4])), StoreOp::Store);
    assert_eq!(stores, [(Some(cleared), Some((NativeLoad::Clear(1.0), StoreOp::Discard)))]);
}
