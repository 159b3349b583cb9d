//! Culling: `oracles/graph_shapes.md`, Culling and Order.

use super::*;

#[test]
fn an_unread_debug_pass_and_only_it_is_culled() {
    let (mut fixture, handles, mut arena) = setup();
    let screen = fixture.texture("screen", 8, 8);
    let mut graph = Graph::new("frame", &mut arena);
    let mut depth = graph.texture("depth", TransientTexture::d2(common::DEPTH, 8, 8));
    let mut albedo = target(&mut graph, "albedo");
    let mut lit = target(&mut graph, "lit");
    let mut debug = target(&mut graph, "debug");
    let mut screen = graph.import_texture("screen", *screen);
    graph.render("depth").depth(&mut depth, LoadOp::Clear(1.0)).clear();
    graph.render("gbuffer").color(0, &mut albedo, BLACK).depth(&mut depth, LoadOp::Load).draw(
        handles.color_depth,
        0..3,
        0..1,
    );
    let sample = |texture| [texture, bind::sampler(handles.linear)];
    graph
        .render("lighting")
        .color(0, &mut lit, LoadOp::DontCare)
        .bind(0, handles.sample, sample(bind::texture(&albedo)))
        .fullscreen(handles.color);
    graph
        .render("debug")
        .color(0, &mut debug, LoadOp::DontCare)
        .bind(0, handles.sample, sample(bind::texture(&lit)))
        .fullscreen(handles.color);
    graph
        .render("post")
        .color(0, &mut screen, LoadOp::DontCare)
        .bind(0, handles.sample, sample(bind::texture(&lit)))
        .fullscreen(handles.color);
    let submitted = graph.submit(&mut fixture.device).unwrap();
    assert_eq!((submitted.stats.passes, submitted.stats.culled), (5, 1));
    assert_plan!(
        arena,
        "depth | init depth none>depth",
        "gbuffer | init albedo none>color | RAW depth",
        "lighting | init lit none>color | RAW albedo color>sampled",
        "post | init screen none>color | RAW lit color>sampled",
    );
}

/// A chain a to b to c of copies; what is exported is up to the caller.
fn chain(export_b: bool) -> Vec<String> {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut buffers = ["a", "b", "c"].map(|label| graph.buffer(label, TransientBuffer::new(16)));
    let [a, b, c] = &mut buffers;
    graph.clear_buffer("a", a);
    graph.copy_buffer("b", a, b);
    graph.copy_buffer("c", b, c);
    if export_b {
        graph.export_buffer(b);
    }
    graph.submit(&mut fixture.device).unwrap();
    live(&arena).iter().map(|name| name.to_string()).collect()
}

#[test]
fn a_chain_is_culled_from_its_end() {
    assert!(chain(false).is_empty());
    assert_eq!(chain(true), ["a", "b"]);
}

/// Two producers and a consumer that reads what is switched on.
fn switched(on: [bool; 2], cull: bool) -> Vec<String> {
    let (mut fixture, _, mut arena) = setup();
    arena.options().cull = cull;
    let sink = fixture.buffer("sink", 32);
    let mut graph = Graph::new("frame", &mut arena);
    let mut t0 = graph.buffer("t0", TransientBuffer::new(16));
    let mut t1 = graph.buffer("t1", TransientBuffer::new(16));
    let mut sink = graph.import_buffer("sink", *sink);
    graph.clear_buffer("make t0", &mut t0);
    graph.clear_buffer("make t1", &mut t1);
    if on[0] {
        graph.copy_buffer("use t0", &t0, &mut sink.range_mut(0..16));
    }
    if on[1] {
        graph.copy_buffer("use t1", &t1, &mut sink.range_mut(16..32));
    }
    graph.submit(&mut fixture.device).unwrap();
    live(&arena).iter().map(|name| name.to_string()).collect()
}

#[test]
fn inputs_switched_off_take_their_producers_along() {
    assert_eq!(switched([true, true], true).len(), 4);
    assert_eq!(switched([false, true], true), ["make t1", "use t1"]);
    assert!(switched([false, false], true).is_empty());
    assert_eq!(switched([false, false], false), ["make t0", "make t1"]);
}

#[test]
fn overwritten_work_is_not_kept_for_being_in_order() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    graph.render("lost").color(0, &mut color, BLACK).draw(handles.color, 0..3, 0..1);
    graph.render("kept").color(0, &mut color, BLACK).draw(handles.color, 0..3, 0..1);
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(live(&arena), ["kept", "read \"color\""]);
    assert_eq!(edges(&arena), ["lost>kept WAW", "kept>read \"color\" RAW"]);
}

#[test]
fn a_partial_writer_keeps_the_writer_of_the_rest() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut data = graph.buffer("data", TransientBuffer::new(64));
    graph.clear_buffer("clear", &mut data);
    graph
        .compute("scatter")
        .bind(0, handles.write, [bind::storage(&mut data)])
        .dispatch(handles.compute, [1, 1, 1]);
    graph.read_buffer(&data);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(live(&arena), ["clear", "scatter", "read \"data\""]);
}

/// C081: a pass with only a side effect keeps its input, and the input lives until it runs.
#[test]
fn c081_a_side_effect_keeps_its_input_alive() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut image = target(&mut graph, "image");
    let mut scratch = target(&mut graph, "scratch");
    graph.render("p").color(0, &mut image, BLACK).clear();
    graph
        .render("q")
        .color(0, &mut scratch, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&image), bind::sampler(handles.linear)])
        .side_effect()
        .fullscreen(handles.color);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(live(&arena), ["p", "q"]);
    let resources = &arena.context.resources;
    assert_eq!((resources[0].first, resources[0].last), (0, 1));
    assert_ne!(resources[0].slot, resources[1].slot);
}

#[test]
fn a_sink_of_twelve_passes_comes_last() {
    let (mut fixture, _, mut arena) = setup();
    let sink = fixture.buffer("sink", 12 * 4);
    let mut graph = Graph::new("frame", &mut arena);
    let labels: Vec<String> = (0..12).map(|n| format!("part {n}")).collect();
    let mut sink = graph.import_buffer("sink", *sink);
    for (n, label) in labels.iter().enumerate() {
        let start = n as u64 * 4;
        graph.clear_buffer(label, &mut sink.range_mut(start..start + 4));
    }
    graph.read_buffer(&sink);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(live(&arena).len(), 13);
    assert_eq!(live(&arena)[12], "read \"sink\"");
    assert_eq!(arena.context.edges.len(), 12, "the parts do not depend on each other");
}

#[test]
fn authored_order_is_kept() {
    let (mut fixture, handles, mut arena) = setup();
    let labels: Vec<String> = (0..24).map(|n| n.to_string()).collect();
    let sink = fixture.buffer("sink", 16);
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    let mut source = graph.buffer("source", TransientBuffer::new(16));
    let mut sink = graph.import_buffer("sink", *sink);
    graph.render("clear").color(0, &mut color, BLACK).clear();
    graph.clear_buffer("zero", &mut source);
    let draws = |n: usize| n < 6 || (n >= 12 && n.is_multiple_of(2));
    for (n, label) in labels.iter().enumerate() {
        if draws(n) {
            graph.render(label).color(0, &mut color, LoadOp::Load).draw(handles.color, 0..3, 0..1);
        } else {
            graph.copy_buffer(label, &source, &mut sink);
        }
    }
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
    let names = live(&arena);
    assert_eq!(names[2..26], labels.iter().map(String::as_str).collect::<Vec<_>>());
}

/// C083, as far as it goes without merging: a clear, a loop of loads, and a culled pass in between.
#[test]
fn a_culled_pass_between_loads_changes_nothing() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut color = target(&mut graph, "color");
    let mut other = target(&mut graph, "other");
    graph.render("clear").color(0, &mut color, BLACK).clear();
    for label in ["one", "two", "three"] {
        graph.render(label).color(0, &mut color, LoadOp::Load).draw(handles.color, 0..3, 0..1);
        graph.render("culled").color(0, &mut other, BLACK).clear();
    }
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
    assert_plan!(
        arena,
        "clear | init color none>color",
        "one | RAW color",
        "two | RAW color",
        "three | RAW color",
        "read \"color\" | RAW color color>src",
    );
}
