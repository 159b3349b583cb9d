//! Hazards: `oracles/graph_shapes.md`, Hazards, and the cases beside them.

use super::*;
use crate::HazardMode;

/// A buffer that compute passes write (`w`), read (`r`) or both, in the order of the text.
fn sequence(accesses: &str) -> (Vec<String>, Vec<String>) {
    let (mut fixture, handles, mut arena) = setup();
    let seen = fixture.buffer("seen", 64);
    let labels: Vec<String> = accesses.chars().enumerate().map(|(n, c)| format!("{c}{n}")).collect();
    let mut graph = Graph::new("frame", &mut arena);
    let mut data = graph.buffer("data", TransientBuffer::new(64));
    let mut seen = graph.import_buffer("seen", *seen);
    graph.clear_buffer("clear", &mut data);
    for (label, access) in labels.iter().zip(accesses.chars()) {
        match access {
            'w' => graph
                .compute(label)
                .bind(0, handles.write, [bind::storage(&mut data)])
                .side_effect()
                .dispatch(handles.compute, [1, 1, 1]),
            _ => graph
                .compute(label)
                .bind(0, handles.read_write, [bind::buffer(&data), bind::storage(&mut seen)])
                .dispatch(handles.compute, [1, 1, 1]),
        }
    }
    graph.submit(&mut fixture.device).unwrap();
    let about_data = |edge: &&crate::context::Edge| edge.resource == 0 && edge.from > 0;
    let count = arena.context.edges.iter().filter(about_data).count();
    let names = edges(&arena);
    let picked: Vec<String> = arena
        .context
        .edges
        .iter()
        .zip(&names)
        .filter(|(edge, _)| about_data(edge))
        .map(|(_, name)| name.clone())
        .collect();
    assert_eq!(picked.len(), count);
    let plan = plan_words(&arena.context)
        .into_iter()
        .skip(1)
        .map(|line| {
            let parts: Vec<&str> = line.split(" | ").filter(|part| !part.contains("seen")).collect();
            parts.join(" | ")
        })
        .collect();
    (picked, plan)
}

#[test]
fn pairs_of_accesses() {
    let (edges, plan) = sequence("rr");
    assert!(edges.is_empty());
    assert_eq!(plan, ["r0 | RAW data", "r1"], "the second read rides along");
    let (edges, plan) = sequence("ww");
    assert_eq!((edges, &plan[1]), (vec!["w0>w1 WAW".to_string()], &"w1 | WAW data".to_string()));
    let (edges, plan) = sequence("wr");
    assert_eq!((edges, &plan[1]), (vec!["w0>r1 RAW".to_string()], &"r1 | RAW data".to_string()));
    let (edges, plan) = sequence("rw");
    assert_eq!((edges, &plan[1]), (vec!["r0>w1 WAR".to_string()], &"w1 | WAR data".to_string()));
}

#[test]
fn a_chain_of_accesses_has_exactly_its_links() {
    let (edges, _) = sequence("wwrwrw");
    assert_eq!(edges, ["w0>w1 WAW", "w1>r2 RAW", "r2>w3 WAR", "w3>r4 RAW", "r4>w5 WAR"]);
}

#[test]
fn a_mip_chain_takes_one_barrier_of_one_mip_a_step() {
    let (mut fixture, handles, mut arena) = setup();
    let labels = ["to 1", "to 2", "to 3", "to 4"];
    let mut graph = Graph::new("frame", &mut arena);
    let mut bloom = graph.texture("bloom", TransientTexture::d2(COLOR, 16, 16).mips(5));
    graph.render("to 0").color(0, &mut bloom.mip_mut(0), BLACK).clear();
    let mut mips = bloom.split_mips();
    for (n, label) in (1..5).zip(labels) {
        let (above, below) = mips.split_at_mut(n);
        graph
            .render(label)
            .color(0, &mut below[0], LoadOp::DontCare)
            .bind(0, handles.sample, [bind::texture(&above[n - 1]), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
    }
    graph.read_texture(&bloom.mip(4));
    graph.submit(&mut fixture.device).unwrap();
    assert_plan!(
        arena,
        "to 0 | init bloom mip 0 none>color",
        "to 1 | init bloom mip 1 none>color | RAW bloom mip 0 color>sampled",
        "to 2 | init bloom mip 2 none>color | RAW bloom mip 1 color>sampled",
        "to 3 | init bloom mip 3 none>color | RAW bloom mip 2 color>sampled",
        "to 4 | init bloom mip 4 none>color | RAW bloom mip 3 color>sampled",
        "read \"bloom\" | RAW bloom mip 4 color>src",
    );
}

#[test]
fn a_mip_chain_down_and_up_reconverges_for_a_whole_sample() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut bloom = graph.texture("bloom", TransientTexture::d2(COLOR, 8, 8).mips(3));
    let mut out = target(&mut graph, "out");
    graph.render("to 0").color(0, &mut bloom.mip_mut(0), BLACK).clear();
    let mut mips = bloom.split_mips();
    for n in 1..3 {
        let (above, below) = mips.split_at_mut(n);
        graph
            .render("down")
            .color(0, &mut below[0], LoadOp::DontCare)
            .bind(0, handles.sample, [bind::texture(&above[n - 1]), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
    }
    for n in [1, 0] {
        let (above, below) = mips.split_at_mut(n + 1);
        graph
            .render("up")
            .color(0, &mut above[n], LoadOp::Load)
            .bind(0, handles.sample, [bind::texture(&below[0]), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
    }
    graph
        .render("use")
        .color(0, &mut out, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&bloom), bind::sampler(handles.linear)])
        .fullscreen(handles.color);
    graph.read_texture(&out);
    graph.submit(&mut fixture.device).unwrap();
    assert_plan!(
        arena,
        "to 0 | init bloom mip 0 none>color",
        "down | init bloom mip 1 none>color | RAW bloom mip 0 color>sampled",
        "down | init bloom mip 2 none>color | RAW bloom mip 1 color>sampled",
        "up | WAR bloom mip 1 sampled>color | RAW bloom mip 2 color>sampled",
        "up | WAR bloom mip 0 sampled>color | RAW bloom mip 1 color>sampled",
        "use | init out none>color | RAW bloom mip 0 color>sampled",
        "read \"out\" | RAW out color>src",
    );
}

#[test]
fn disjoint_ranges_are_independent_in_fine_mode_only() {
    for (mode, expected) in [(HazardMode::Fine, 0), (HazardMode::Conservative, 1)] {
        let (mut fixture, handles, mut arena) = setup();
        arena.options().hazards = mode;
        let data = fixture.buffer("data", 1024);
        let mut graph = Graph::new("frame", &mut arena);
        let mut data = graph.import_buffer("data", *data);
        let (mut low, mut high) = data.split_at_mut(512);
        graph
            .compute("low")
            .bind(0, handles.write, [bind::storage(&mut low)])
            .dispatch(handles.compute, [1, 1, 1]);
        graph
            .compute("high")
            .bind(0, handles.write, [bind::storage(&mut high)])
            .dispatch(handles.compute, [1, 1, 1]);
        let submitted = graph.submit(&mut fixture.device).unwrap();
        assert_eq!(submitted.stats.memory_barriers, expected, "{mode:?}");
        assert_eq!(fixture.device.hazard_mode(), HazardMode::Fine, "the device's own mode is as before");
        assert!(arena.context.edges.is_empty());
    }
}

/// C086: the reader of a whole texture and the writer of one layer.
#[test]
fn a_layer_writer_waits_for_the_reader_of_the_whole() {
    let (mut fixture, handles, mut arena) = setup();
    let array = common::layout(
        &mut fixture.device,
        FRAGMENT,
        &[
            purlin_rhi::types::BindingType::Texture {
                sample_type: purlin_rhi::types::TextureSampleType::Float { filterable: true },
                view_dimension: purlin_rhi::types::TextureViewDimension::D2Array,
                multisampled: false,
            },
            common::filtering(),
        ],
    );
    let mut graph = Graph::new("frame", &mut arena);
    let mut layers = graph.texture("layers", TransientTexture::d2(COLOR, 8, 8).layers(8));
    let mut out = target(&mut graph, "out");
    graph.render("clear").color(0, &mut layers, BLACK).clear();
    let sampler = || bind::sampler(handles.linear);
    graph
        .render("1")
        .color(0, &mut out, BLACK)
        .bind(0, *array, [bind::texture(&layers), sampler()])
        .fullscreen(handles.color);
    graph.render("2").color(0, &mut layers.layer_mut(3), BLACK).clear();
    graph
        .render("3")
        .color(0, &mut out, LoadOp::Load)
        .bind(0, handles.sample, [bind::texture(&layers.layer(3)), sampler()])
        .fullscreen(handles.color);
    graph
        .render("4")
        .color(0, &mut out, LoadOp::Load)
        .bind(0, *array, [bind::texture(&layers), sampler()])
        .fullscreen(handles.color);
    graph.read_texture(&out);
    graph.submit(&mut fixture.device).unwrap();
    let about_layers: Vec<String> = arena
        .context
        .edges
        .iter()
        .zip(edges(&arena))
        .filter(|(edge, _)| edge.resource == 0)
        .map(|(_, words)| words)
        .collect();
    assert_eq!(about_layers, ["clear>1 RAW", "1>2 WAR", "2>3 RAW", "clear>4 RAW", "2>4 RAW"]);
    assert_plan!(
        arena,
        "clear | init layers none>color",
        "1 | init out none>color | RAW layers color>sampled",
        "2 | WAR layers layer 3 none>color",
        "3 | RAW out | RAW layers layer 3 color>sampled",
        "4 | RAW out",
        "read \"out\" | RAW out color>src",
    );
}

/// C084: writing only through parts begins the whole texture's life.
#[test]
fn writes_by_parts_begin_the_life_of_the_whole() {
    let (mut fixture, handles, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut t = graph.texture("t", TransientTexture::d2(COLOR, 8, 8).layers(2));
    let mut u = graph.texture("u", TransientTexture::d2(COLOR, 8, 8).layers(2));
    let mut out = target(&mut graph, "out");
    graph
        .render("a")
        .color(0, &mut t.layer_mut(0), BLACK)
        .color(1, &mut u.layer_mut(0), BLACK)
        .side_effect()
        .clear();
    graph.render("b").color(0, &mut t.layer_mut(1), BLACK).clear();
    graph
        .render("c")
        .color(0, &mut out, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&t.layer(1)), bind::sampler(handles.linear)])
        .sampled(&t.layer(0), FRAGMENT)
        .fullscreen(handles.color);
    graph.read_texture(&out);
    graph.submit(&mut fixture.device).unwrap();
    let resources = &arena.context.resources;
    assert_eq!((resources[0].first, resources[0].last), (0, 2));
    assert_eq!((resources[1].first, resources[1].last), (0, 0));
    assert_ne!(arena.context.physical[0], arena.context.physical[1]);
}

#[test]
fn depth_can_be_tested_and_sampled_in_one_pass() {
    let (mut fixture, _, mut arena) = setup();
    let depth_layout = common::layout(
        &mut fixture.device,
        FRAGMENT,
        &[purlin_rhi::types::BindingType::Texture {
            sample_type: purlin_rhi::types::TextureSampleType::Depth,
            view_dimension: purlin_rhi::types::TextureViewDimension::D2,
            multisampled: false,
        }],
    );
    let mut graph = Graph::new("frame", &mut arena);
    let mut depth = graph.texture("depth", TransientTexture::d2(common::DEPTH, 8, 8));
    let mut color = target(&mut graph, "color");
    graph.render("prepass").depth(&mut depth, LoadOp::Clear(1.0)).clear();
    graph
        .render("soft")
        .color(0, &mut color, BLACK)
        .depth_read(&depth)
        .bind(0, *depth_layout, [bind::texture(&depth)])
        .record(|_| {});
    graph.read_texture(&color);
    graph.submit(&mut fixture.device).unwrap();
    assert_plan!(
        arena,
        "prepass | init depth none>depth",
        "soft | init color none>color | RAW depth depth>depth-read",
        "read \"color\" | RAW color color>src",
    );
}

/// Discard and load per subresource of an array of 10 slices with 5 mips, depth and stencil.
#[test]
fn store_operations_are_found_per_subresource() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let desc = TransientTexture::d2(common::BOTH, 16, 16).layers(10).mips(5);
    let mut shadow = graph.texture("shadow", desc);
    let clear = (purlin_rhi::AspectOps::clear(1.0), purlin_rhi::AspectOps::clear(0));
    for mut layer in shadow.split_layers() {
        for mip in &mut layer.split_mips() {
            graph.render("clear").depth_stencil(mip, clear.0, clear.1).side_effect().clear();
        }
    }
    graph.read_texture(&shadow.part(2..3, 7..8).aspect(purlin_rhi::types::TextureAspect::StencilOnly));
    graph.submit(&mut fixture.device).unwrap();
    let context = &arena.context;
    let stored: Vec<_> = context
        .uses
        .iter()
        .filter(|usage| usage.store == purlin_rhi::StoreOp::Store && usage.usage.effect().writes())
        .map(|usage| part_words(&context.resources[0].shape, &usage.part))
        .collect();
    assert_eq!(stored, ["stencil, mip 2, layer 7"]);
    assert_eq!(context.uses.len(), 10 * 5 * 2 + 1);
}
