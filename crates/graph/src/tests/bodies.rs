//! Closures run once or are dropped, and find what their pass uses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use purlin_rhi::backend::Draw;
use purlin_rhi::null::NullCommand;

use super::*;

#[test]
fn live_bodies_run_once_and_culled_ones_are_dropped() {
    let (mut fixture, _, mut arena) = setup();
    let runs = AtomicU32::new(0);
    let owner = Arc::new(());
    for submit in [true, false] {
        let mut graph = Graph::new("frame", &mut arena);
        let mut color = target(&mut graph, "color");
        let mut unseen = target(&mut graph, "unseen");
        let (live, culled) = (owner.clone(), owner.clone());
        graph.render("live").color(0, &mut color, BLACK).record(|_| {
            runs.fetch_add(1, Ordering::Relaxed);
            drop(live);
        });
        graph.render("culled").color(0, &mut unseen, BLACK).record(move |_| {
            let _kept = &culled;
            unreachable!("a culled pass runs");
        });
        graph.read_texture(&color);
        assert_eq!(Arc::strong_count(&owner), 3);
        if submit {
            graph.submit(&mut fixture.device).unwrap();
        } else {
            drop(graph);
        }
        assert_eq!(Arc::strong_count(&owner), 1);
    }
    assert_eq!(runs.into_inner(), 1);
}

#[test]
fn a_body_finds_the_physical_resources_of_its_pass() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut arguments = graph.buffer("arguments", TransientBuffer::new(16));
    let mut color = target(&mut graph, "color");
    let (buffer, texture) = (arguments.id(), color.id());
    graph.clear_buffer("clear", &mut arguments);
    let color_pipeline = fixture.handles().color;
    graph.render("draw").color(0, &mut color, BLACK).indirect(&arguments).record(move |pass| {
        pass.set_pipeline(color_pipeline);
        let arguments = pass.buffer(buffer);
        pass.draw_indirect(arguments, 0);
        assert_eq!(pass.texture(texture).device(), arguments.device());
        assert_eq!(pass.extent(), (8, 8));
    });
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
}

#[test]
fn a_resource_that_no_live_pass_uses_is_an_error_in_a_body() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let unused = graph.buffer("unused", TransientBuffer::new(16));
    let mut color = target(&mut graph, "color");
    let id = unused.id();
    graph.render("draw").color(0, &mut color, BLACK).record(move |pass| {
        pass.buffer(id);
    });
    graph.read_texture(&color);
    let before = fixture.device.last_submission();
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::Undeclared { .. }), "{error}");
    assert_eq!((error.pass(), error.resource()), (Some("draw"), Some("unused")));
    assert_eq!(fixture.device.last_submission(), before);
}

#[test]
fn a_mistake_in_a_body_rejects_the_graph_with_the_pass() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    graph.render("draw").color(0, &mut color, BLACK).record(|pass| pass.draw(0..3, 0..1));
    graph.read_texture(&color);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert_eq!(error.pass(), Some("draw"));
    assert!(error.device_error().is_some() && error.to_string().contains("pipeline"), "{error}");
    assert_eq!(fixture.control.open_encoders(), 0);
}

#[test]
fn an_abandoned_builder_leaves_nothing() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    let _ = graph.render("abandoned").color(0, &mut color, BLACK).bind(1, handles.write, []);
    graph.render("kept").color(0, &mut color, BLACK).clear();
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(live(&arena), ["kept", "read \"color\""]);
    assert!(arena.context.groups.is_empty());
}

#[test]
fn sections_are_recorded_in_order_with_what_the_pass_bound() {
    let (mut fixture, _, mut arena) = setup();
    let pipeline = fixture.handles().color;
    let control = fixture.control.clone();
    let owner = Arc::new(());
    control.take_log();
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    let mut unseen = target(&mut graph, "unseen");
    let (live, culled) = (owner.clone(), owner.clone());
    graph.render("live").color(0, &mut color, BLACK).record_parallel(4, move |section, pass| {
        let _kept = &live;
        pass.set_pipeline(pipeline);
        pass.draw(0..3, section..section + 1);
    });
    graph.render("culled").color(0, &mut unseen, BLACK).record_parallel(4, move |_, _| {
        let _kept = &culled;
        unreachable!("a culled pass runs");
    });
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(Arc::strong_count(&owner), 1);
    let log = control.take_log();
    let drawn = log.iter().flat_map(|submission| submission.commands()).filter_map(|command| match command {
        NullCommand::Draw { draw: Draw::Direct { first_instance, .. }, .. } => Some(*first_instance),
        _ => None,
    });
    assert_eq!(drawn.collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn what_a_section_asks_in_vain_is_an_error() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let unused: Vec<_> = ["u0", "u1", "u2"].map(|name| graph.buffer(name, TransientBuffer::new(16))).into();
    let ids: Vec<_> = unused.iter().map(|buffer| buffer.id()).collect();
    let mut color = target(&mut graph, "color");
    graph.render("draw").color(0, &mut color, BLACK).record_parallel(4, move |section, pass| {
        if let Some(id) = section.checked_sub(1).and_then(|index| ids.get(index as usize)) {
            pass.buffer(*id);
        }
    });
    graph.read_texture(&color);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert_eq!((error.pass(), error.resource()), (Some("draw"), Some("u0")), "{error}");
}
