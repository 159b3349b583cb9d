//! What borrows cannot prove is an error that names pass, resource and line, and changes nothing.

use purlin_rhi::types::BufferUsages;
use purlin_rhi::{BufferDesc, Contents};

use super::*;

/// Submits a graph that must fail; nothing was submitted, and the next graph works.
fn reject(declare: impl FnOnce(&mut Graph<'_, Null>, &Handles)) -> GraphError {
    let (mut fixture, handles, mut arena) = setup();
    let before = fixture.device.last_submission();
    let mut graph = Graph::new("frame", &mut arena);
    declare(&mut graph, &handles);
    let error = graph.submit(&mut fixture.device).expect_err("the graph is wrong");
    assert_eq!(fixture.device.last_submission(), before);
    assert_eq!(fixture.control.open_encoders(), 0);
    let line = error.location().expect("errors know their line");
    assert!(line.file().ends_with("errors.rs"), "{error} at {line}");
    let mut graph = Graph::new("next", &mut arena);
    let mut buffer = graph.buffer("fine", TransientBuffer::new(16));
    graph.clear_buffer("clear", &mut buffer);
    graph.read_buffer(&buffer);
    graph.submit(&mut fixture.device).unwrap();
    error
}

#[test]
fn undefined_contents() {
    let error = reject(|graph, handles| {
        let never = target(graph, "never");
        let mut out = target(graph, "out");
        graph
            .render("use")
            .color(0, &mut out, BLACK)
            .bind(0, handles.sample, [bind::texture(&never), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
    });
    assert!(matches!(error, GraphError::Undefined { .. }), "{error}");
    assert_eq!((error.pass(), error.resource()), (Some("use"), Some("never")));
}

#[test]
fn undefined_parts_name_the_prior_writer() {
    let error = reject(|graph, _| {
        let mut data = graph.buffer("data", TransientBuffer::new(32));
        graph.clear_buffer("half", &mut data.range_mut(0..16));
        graph.read_buffer(&data);
    });
    let text = error.to_string();
    assert!(
        text.contains("bytes 16..32") && text.contains("pass \"half\" writes only bytes 0..16"),
        "{text}"
    );
}

#[test]
fn loads_of_nothing() {
    let error = reject(|graph, handles| {
        let mut color = target(graph, "color");
        graph.render("draw").color(0, &mut color, LoadOp::Load).draw(handles.color, 0..3, 0..1);
    });
    assert!(matches!(error, GraphError::Undefined { .. }), "{error}");
}

#[test]
fn discarded_contents() {
    let error = reject(|graph, _| {
        let mut depth = graph.texture("depth", TransientTexture::d2(common::BOTH, 8, 8));
        let clear = purlin_rhi::AspectOps::clear(1.0).discarded();
        graph.render("gone").depth_stencil(&mut depth, clear, purlin_rhi::AspectOps::clear(0)).clear();
        graph.read_texture(&depth.aspect(purlin_rhi::types::TextureAspect::DepthOnly));
    });
    assert!(error.to_string().contains("pass \"gone\" writes it and discards it"), "{error}");
}

#[test]
fn one_subresource_attached_twice() {
    let (mut fixture, _, mut arena) = setup();
    let image = fixture.texture("image", 8, 8);
    let mut graph = Graph::new("frame", &mut arena);
    let mut a = graph.import_texture("a", *image);
    let mut b = graph.import_texture("b", *image);
    graph.render("twice").color(0, &mut a, BLACK).color(1, &mut b, BLACK).clear();
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::Conflict { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("color attachment 0") && text.contains("color attachment 1"), "{text}");
}

#[test]
fn feedback_through_two_imports() {
    let (mut fixture, handles, mut arena) = setup();
    let image = fixture.texture("image", 8, 8);
    let mut graph = Graph::new("frame", &mut arena);
    let mut a = graph.import_texture("a", *image);
    let b = graph.import_texture("b", *image);
    graph
        .render("feedback")
        .color(0, &mut a, BLACK)
        .bind(0, handles.sample, [bind::texture(&b), bind::sampler(handles.linear)])
        .fullscreen(handles.color);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::Feedback { .. }), "{error}");
    assert_eq!((error.pass(), error.resource()), (Some("feedback"), Some("a")));
}

#[test]
fn foreign_versions() {
    let (mut fixture, _, mut arena) = setup();
    let mut other_arena = GraphArena::new();
    let mut other: Graph<'_, Null> = Graph::new("other", &mut other_arena);
    let mut foreign = other.buffer("foreign", TransientBuffer::new(16));
    let mut graph = Graph::new("frame", &mut arena);
    graph.clear_buffer("clear", &mut foreign);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::ForeignVersion { kind: "buffer", .. }), "{error}");
    assert!(error.to_string().contains("pass \"clear\""));
}

#[test]
fn attachments_of_the_wrong_kind() {
    let error = reject(|graph, _| {
        let mut depth = graph.texture("depth", TransientTexture::d2(common::DEPTH, 8, 8));
        graph.render("draw").color(0, &mut depth, BLACK).clear();
    });
    assert!(matches!(error, GraphError::Attachment { .. }) && error.resource() == Some("depth"), "{error}");
    let error = reject(|graph, _| {
        let mut color = target(graph, "color");
        graph.render("draw").depth(&mut color, LoadOp::Clear(1.0)).clear();
    });
    assert!(error.to_string().contains("a depth or stencil format"), "{error}");
    let error = reject(|graph, _| {
        let mut both = graph.texture("both", TransientTexture::d2(common::BOTH, 8, 8));
        graph.render("draw").depth(&mut both, LoadOp::Clear(1.0)).clear();
    });
    assert!(error.to_string().contains("no stencil operations"), "{error}");
    let error = reject(|graph, _| {
        let mut mips = graph.texture("mips", TransientTexture::d2(COLOR, 8, 8).mips(2));
        graph.render("draw").color(0, &mut mips, BLACK).clear();
    });
    assert!(error.to_string().contains("one mip"), "{error}");
    let error = reject(|graph, _| graph.render("nothing").side_effect().clear());
    assert!(matches!(error, GraphError::Attachment { .. }), "{error}");
}

#[test]
fn attachment_slots() {
    let error = reject(|graph, _| {
        let (mut a, mut b) = (target(graph, "a"), target(graph, "b"));
        graph.render("draw").color(0, &mut a, BLACK).color(0, &mut b, BLACK).clear();
    });
    assert!(error.to_string().contains("color 0"), "{error}");
    let error = reject(|graph, _| {
        let mut a = target(graph, "a");
        graph.render("draw").color(8, &mut a, BLACK).clear();
    });
    assert!(error.to_string().contains("below 8"), "{error}");
}

#[test]
fn bindings_that_do_not_fit_their_layout() {
    let error = reject(|graph, handles| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        graph.clear_buffer("clear", &mut data);
        graph
            .compute("write")
            .bind(0, handles.write, [bind::buffer(&data)])
            .dispatch(handles.compute, [1, 1, 1]);
    });
    assert!(matches!(error, GraphError::Binding { group: 0, binding: 0, .. }), "{error}");
    assert!(
        error.to_string().contains("bind::storage(&mut v)") && error.resource() == Some("data"),
        "{error}"
    );
    let error = reject(|graph, handles| {
        let mut image = target(graph, "image");
        let mut out = graph.buffer("out", TransientBuffer::new(16));
        graph.render("clear").color(0, &mut image, BLACK).clear();
        graph
            .compute("read")
            .bind(0, handles.read_write, [bind::texture(&image), bind::storage(&mut out)])
            .dispatch(handles.compute, [1, 1, 1]);
    });
    assert!(error.to_string().contains("bind::texture"), "{error}");
    let error = reject(|graph, handles| {
        graph.compute("few").bind(0, handles.read_write, []).dispatch(handles.compute, [1, 1, 1]);
    });
    assert!(matches!(error, GraphError::Group { .. }), "{error}");
    let error = reject(|graph, handles| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        graph
            .compute("far")
            .bind(4, handles.write, [bind::storage(&mut data)])
            .dispatch(handles.compute, [1, 1, 1]);
    });
    assert!(error.to_string().contains("a group below 4"), "{error}");
}

#[test]
fn parts_that_are_not_there() {
    let error = reject(|graph, _| {
        let mut image = target(graph, "image");
        graph.render("draw").color(0, &mut image.mip_mut(3), BLACK).clear();
    });
    assert!(matches!(error, GraphError::OutOfRange { .. }), "{error}");
    assert!(error.to_string().contains("mip 3") && error.to_string().contains("1 mip"), "{error}");
    let error = reject(|graph, _| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        graph.clear_buffer("clear", &mut data.range_mut(8..24));
    });
    assert!(matches!(error, GraphError::OutOfRange { .. }), "{error}");
    let error = reject(|graph, _| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        let (mut low, _) = data.split_at_mut(8);
        let (mut beyond, _) = low.split_at_mut(12);
        graph.clear_buffer("clear", &mut beyond);
    });
    assert!(matches!(error, GraphError::OutOfRange { .. }), "{error}");
}

#[test]
fn resources_that_cannot_be() {
    for (desc, field) in [
        (TransientTexture::d2(COLOR, 0, 8), "size"),
        (TransientTexture::d2(COLOR, 8, 8).layers(0), "size"),
        (TransientTexture::d2(COLOR, 8, 8).mips(0), "mips"),
        (TransientTexture::d2(COLOR, 8, 8).mips(5), "mips"),
    ] {
        let error = reject(|graph, _| drop(graph.texture("bad", desc)));
        assert!(matches!(error, GraphError::Description { field: found, .. } if found == field), "{error}");
    }
    let error = reject(|graph, _| drop(graph.buffer("bad", TransientBuffer::new(0))));
    assert_eq!(error.resource(), Some("bad"));
}

#[test]
fn copies_that_do_not_match() {
    let error = reject(|graph, _| {
        let mut a = graph.buffer("a", TransientBuffer::new(16));
        let mut b = graph.buffer("b", TransientBuffer::new(32));
        graph.clear_buffer("clear", &mut a);
        graph.copy_buffer("copy", &a, &mut b);
    });
    assert!(
        matches!(error, GraphError::Copy { .. }) && error.to_string().contains("\"a\" to \"b\""),
        "{error}"
    );
    let error = reject(|graph, _| {
        let mut a = target(graph, "a");
        let mut b = graph.texture("b", TransientTexture::d2(COLOR, 4, 4));
        graph.render("clear").color(0, &mut a, BLACK).clear();
        graph.copy_texture("copy", &a, &mut b);
    });
    assert!(matches!(error, GraphError::Copy { .. }), "{error}");
    let error = reject(|graph, _| {
        let mut a = graph.buffer("a", TransientBuffer::new(16));
        let mut b = target(graph, "b");
        graph.clear_buffer("clear", &mut a);
        let layout = purlin_rhi::TexelLayout { offset: 0, bytes_per_row: 256, rows_per_image: 8 };
        graph.copy_buffer_to_texture("copy", &a, layout, &mut b);
    });
    assert!(matches!(error, GraphError::Copy { .. }), "{error}");
    let error = reject(|graph, _| {
        let mut both = graph.texture("both", TransientTexture::d2(common::BOTH, 8, 8));
        let ops = (purlin_rhi::AspectOps::clear(1.0), purlin_rhi::AspectOps::clear(0));
        graph.render("clear").depth_stencil(&mut both, ops.0, ops.1).clear();
        graph.read_texture(&both);
    });
    assert!(error.to_string().contains("one aspect"), "{error}");
}

#[test]
fn writes_after_an_export() {
    let error = reject(|graph, _| {
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        graph.clear_buffer("first", &mut data);
        graph.export_buffer(&data);
        graph.clear_buffer("late", &mut data);
    });
    assert!(matches!(error, GraphError::WrittenAfterExport { .. }), "{error}");
    assert_eq!((error.pass(), error.resource()), (Some("late"), Some("data")));
}

#[test]
fn exports_of_nothing() {
    let error = reject(|graph, _| {
        let data = graph.buffer("data", TransientBuffer::new(16));
        graph.export_buffer(&data);
    });
    assert!(matches!(error, GraphError::Undefined { .. }) && error.pass() == Some("export"), "{error}");
}

#[test]
fn writes_to_uploaded_contents() {
    let (mut fixture, _, mut arena) = setup();
    let desc = BufferDesc {
        contents: Contents::Uploaded,
        ..BufferDesc::new("mesh", 16, BufferUsages::VERTEX | BufferUsages::COPY_DST)
    };
    let mesh = fixture.device.create_buffer(&desc).unwrap();
    let mut graph = Graph::new("frame", &mut arena);
    let mut mesh = graph.import_buffer("mesh", *mesh);
    graph.clear_buffer("clear", &mut mesh);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::ReadOnlyImport { .. }), "{error}");
}

#[test]
fn a_persistent_group_must_be_declared() {
    let (mut fixture, handles, mut arena) = setup();
    let image = fixture.texture("image", 8, 8);
    let view = fixture.device.create_texture_view(*image, &Default::default()).unwrap();
    let entries = [
        purlin_rhi::BindGroupEntry::texture(0, *view),
        purlin_rhi::BindGroupEntry::sampler(1, handles.linear),
    ];
    let desc = purlin_rhi::BindGroupDesc { label: "persistent", layout: handles.sample, entries: &entries };
    let group = fixture.device.create_bind_group(&desc).unwrap();
    for declared in [false, true] {
        let group = *group;
        let mut graph = Graph::new("frame", &mut arena);
        let mut imported = graph.import_texture("image", *image);
        let mut out = target(&mut graph, "out");
        graph.render("clear").color(0, &mut imported, BLACK).clear();
        let pass = graph.render("draw").color(0, &mut out, BLACK).side_effect();
        let pass = if declared { pass.sampled(&imported, FRAGMENT) } else { pass };
        pass.record(move |pass| {
            pass.set_bind_group(0, group, &[]);
            pass.set_pipeline(handles.color);
            pass.draw(0..3, 0..1);
        });
        let result = graph.submit(&mut fixture.device);
        match result {
            Ok(_) => assert!(declared),
            Err(error) => assert!(!declared && error.pass() == Some("draw"), "{error}"),
        }
    }
}
