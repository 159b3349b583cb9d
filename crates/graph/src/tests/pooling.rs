//! Transients across frames: reuse, keys, eviction, and nothing made when warm.

use purlin_rhi::handle::ResourceKind;

use super::*;

/// A frame of three targets in a row; each is over when the next begins, but for the neighbours.
fn ping(fixture: &mut Fixture, arena: &mut GraphArena<Null>, count: usize) -> crate::FrameStats {
    let handles = fixture.handles();
    let mut graph = Graph::new("frame", arena);
    let mut last = target(&mut graph, "t");
    graph.render("first").color(0, &mut last, BLACK).clear();
    for _ in 0..count {
        let mut next = target(&mut graph, "t");
        graph
            .render("step")
            .color(0, &mut next, LoadOp::DontCare)
            .bind(0, handles.sample, [bind::texture(&last), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
        last = next;
    }
    graph.read_texture(&last);
    graph.submit(&mut fixture.device).unwrap().stats
}

#[test]
fn equal_transients_take_turns() {
    let (mut fixture, _, mut arena) = setup();
    let stats = ping(&mut fixture, &mut arena, 5);
    // The last target is read back and so has another usage than the rest.
    assert_eq!((stats.transients, stats.physical), (6, 3));
    assert_eq!(stats.transient_bytes, 6 * 256);
    assert_eq!(stats.peak_bytes, 2 * 256);
    arena.options().transient_reuse = false;
    let stats = ping(&mut fixture, &mut arena, 5);
    assert_eq!((stats.transients, stats.physical), (6, 6));
}

#[test]
fn warm_frames_make_nothing() {
    let (mut fixture, _, mut arena) = setup();
    let cold = ping(&mut fixture, &mut arena, 4);
    assert!(cold.created > 0);
    for _ in 0..20 {
        assert_eq!(ping(&mut fixture, &mut arena, 4).created, 0);
    }
}

/// G1: passes that come and go leave nothing behind.
#[test]
fn toggled_passes_leak_nothing() {
    let (mut fixture, _, mut arena) = setup();
    let mut counts = Vec::new();
    for frame in 0..64usize {
        ping(&mut fixture, &mut arena, [1, 7, 3, 0][frame % 4]);
        if frame >= 32 {
            counts.push(
                [ResourceKind::Texture, ResourceKind::TextureView, ResourceKind::BindGroup]
                    .map(|kind| fixture.device.object_count(kind)),
            );
        }
    }
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    for _ in 0..16 {
        ping(&mut fixture, &mut arena, 0);
    }
    fixture.device.maintain().unwrap();
    let textures = fixture.device.object_count(ResourceKind::Texture);
    assert!(textures <= 2, "{textures} textures are kept for one");
    arena.clear();
    fixture.device.maintain().unwrap();
    assert_eq!(fixture.device.object_count(ResourceKind::Texture), 0);
    assert_eq!(fixture.device.object_count(ResourceKind::BindGroup), 0);
}

/// C095: a key that misses a property would hand out the wrong texture.
#[test]
fn c095_every_property_tells_pool_entries_apart() {
    let (mut fixture, _, mut arena) = setup();
    let base = TransientTexture::d2(COLOR, 8, 8);
    let variants = [
        base,
        base.mips(2),
        base.layers(2),
        base.usage(purlin_rhi::types::TextureUsages::STORAGE_BINDING),
        TransientTexture::d2(purlin_rhi::types::TextureFormat::Rgba16Float, 8, 8),
        TransientTexture::d2(COLOR, 8, 4),
        TransientTexture::d2(COLOR, 4, 8),
        base.samples(4),
    ];
    let mut seen = Vec::new();
    for desc in variants {
        let mut graph = Graph::new("frame", &mut arena);
        let mut texture = graph.texture("t", desc);
        let id = texture.id();
        graph.render("clear").color(0, &mut texture.split_mips()[0], BLACK).side_effect().clear();
        graph.submit(&mut fixture.device).unwrap();
        seen.push(arena.context.physical[id.index as usize]);
    }
    for (n, physical) in seen.iter().enumerate() {
        assert!(!seen[..n].contains(physical), "variant {n} shares an entry");
    }
}

#[test]
fn persistent_contents_survive_transients_of_their_shape() {
    let (mut fixture, _, mut arena) = setup();
    let history = fixture.buffer("history", 64);
    fixture.device.write_buffer(*history, 0, &[9; 64]).unwrap();
    for frame in 0..6 {
        let mut graph = Graph::new("frame", &mut arena);
        let imported = graph.import_buffer("history", *history);
        if frame % 2 == 0 {
            let mut scratch = graph.buffer("scratch", TransientBuffer::new(64));
            graph.clear_buffer("scratch", &mut scratch);
            graph.read_buffer(&scratch);
        }
        graph.read_buffer(&imported);
        graph.submit(&mut fixture.device).unwrap();
        assert_eq!(fixture.control.buffer_bytes(history.slot()).unwrap(), [9; 64]);
    }
}

#[test]
fn frame_arena_slices_share_one_group() {
    let (mut fixture, handles, mut arena) = setup();
    let mut made = 0;
    for frame in 0..8u8 {
        let slices = [0, 1].map(|n| fixture.device.push_frame_data(&[frame + n; 16], 16).unwrap());
        let mut graph = Graph::new("frame", &mut arena);
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        for slice in slices {
            graph
                .compute("use")
                .bind(0, handles.frame, [bind::uploaded(slice)])
                .bind(1, handles.write, [bind::storage(&mut data)])
                .side_effect()
                .dispatch(handles.compute, [1, 1, 1]);
        }
        let created = graph.submit(&mut fixture.device).unwrap().stats.created;
        if frame > 2 {
            made += created;
        }
    }
    assert_eq!(made, 0);
}

#[test]
fn another_device_gets_its_own_resources() {
    let (mut fixture, _, mut arena) = setup();
    ping(&mut fixture, &mut arena, 2);
    let mut other = Fixture::new(NullConfig::executing());
    assert!(ping(&mut other, &mut arena, 2).created > 0);
    assert_eq!(ping(&mut other, &mut arena, 2).created, 0);
}

#[test]
fn a_failed_allocation_is_named_and_the_next_frame_works() {
    let (mut fixture, _, mut arena) = setup();
    fixture.control.fail_allocation_of(ResourceKind::Texture, 2);
    let handles = fixture.handles();
    let mut graph = Graph::new("frame", &mut arena);
    let mut a = target(&mut graph, "a");
    let mut b = target(&mut graph, "b");
    graph.render("a").color(0, &mut a, BLACK).clear();
    graph
        .render("b")
        .color(0, &mut b, BLACK)
        .bind(0, handles.sample, [bind::texture(&a), bind::sampler(handles.linear)])
        .fullscreen(handles.color);
    graph.read_texture(&b);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::Transient { .. }), "{error}");
    assert_eq!(error.resource(), Some("b"));
    ping(&mut fixture, &mut arena, 2);
}

/// G16: after a resize the transients of the new size are made once, and the old ones go.
#[test]
fn a_resize_rebuilds_once() {
    let (mut fixture, handles, mut arena) = setup();
    let mut frame = |side: u32| {
        let mut graph = Graph::new("frame", &mut arena);
        let mut color = graph.texture("color", TransientTexture::d2(COLOR, side, side));
        let mut out = target(&mut graph, "out");
        graph.render("color").color(0, &mut color, BLACK).clear();
        graph
            .render("out")
            .color(0, &mut out, BLACK)
            .bind(0, handles.sample, [bind::texture(&color), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
        graph.read_texture(&out);
        let created = graph.submit(&mut fixture.device).unwrap().stats.created;
        (created, fixture.device.object_count(ResourceKind::Texture))
    };
    assert!(frame(8).0 > 0);
    assert_eq!(frame(8).0, 0);
    assert_eq!(frame(16).0, 3, "a texture, its view, attached and sampled, and a group");
    for _ in 0..16 {
        assert_eq!(frame(16).0, 0);
    }
    assert_eq!(frame(16).1, 2);
}
