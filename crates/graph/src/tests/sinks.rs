//! Readbacks, exports and imports.

use std::time::Duration;

use super::*;

#[test]
fn a_readback_delivers_once_and_what_was_there_when_it_was_declared() {
    let (mut fixture, _, mut arena) = setup();
    let source = fixture.buffer("source", 16);
    fixture.device.write_buffer(*source, 0, &[7; 16]).unwrap();
    let mut graph = Graph::new("frame", &mut arena);
    let source = graph.import_buffer("source", *source);
    let mut data = graph.buffer("data", TransientBuffer::new(16));
    graph.copy_buffer("copy", &source, &mut data);
    let first = graph.read_buffer(&data);
    graph.clear_buffer("clear", &mut data);
    let second = graph.read_buffer(&data.range(4..12));
    let mut submitted = graph.submit(&mut fixture.device).unwrap();
    assert!(fixture.device.wait(submitted.token, Duration::from_secs(1)).unwrap());
    let first_ticket = submitted.take_read(first).unwrap();
    assert!(submitted.take_read(first).is_none());
    let second_ticket = submitted.take_read(second).unwrap();
    assert_eq!(fixture.device.read_vec(&first_ticket).unwrap(), [7; 16]);
    assert_eq!(fixture.device.read_vec(&second_ticket).unwrap(), [0; 8]);
    assert!(fixture.device.read_vec(&first_ticket).is_err(), "delivered once");
}

#[test]
fn a_texture_reads_back_by_mip_and_layer() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut image = graph.texture("image", TransientTexture::d2(COLOR, 8, 8).mips(2).layers(2));
    let white = LoadOp::Clear(ClearValue::Float([1.0; 4]));
    for mip in &mut image.split_mips() {
        graph.render("black").color(0, mip, BLACK).clear();
    }
    graph.render("white").color(0, &mut image.layer_mut(1).split_mips()[1], white).clear();
    let small = graph.read_texture(&image.part(1..2, 1..2));
    let all = graph.read_texture(&image);
    let mut submitted = graph.submit(&mut fixture.device).unwrap();
    let small = submitted.take_read(small).unwrap();
    let all = submitted.take_read(all).unwrap();
    assert_eq!(fixture.device.read_vec(&small).unwrap(), [255; 4 * 4 * 4]);
    assert_eq!(all.len(), 8 * 8 * 4 * 2, "mip zero with both layers");
}

/// C092: what was never written cannot be read, and says so before anything is recorded.
#[test]
fn an_undefined_import_cannot_be_read() {
    let (mut fixture, _, mut arena) = setup();
    let image = fixture.texture("image", 8, 8);
    let before = fixture.device.last_submission();
    let mut graph = Graph::new("frame", &mut arena);
    let imported = graph.import_texture("history", *image);
    graph.read_texture(&imported);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::Undefined { .. }), "{error}");
    assert_eq!(error.resource(), Some("history"));
    assert_eq!(fixture.device.last_submission(), before);
    // Clearing it is what a first frame does; later frames read what the one before left.
    for first in [true, false] {
        let mut graph = Graph::new("frame", &mut arena);
        let mut imported = graph.import_texture("history", *image);
        if first {
            graph.render("clear").color(0, &mut imported, BLACK).clear();
        }
        graph.read_texture(&imported);
        graph.submit(&mut fixture.device).unwrap();
    }
}

#[test]
fn a_stale_import_is_named() {
    let (mut fixture, _, mut arena) = setup();
    let image = fixture.texture("image", 8, 8);
    let handle = *image;
    drop(image);
    fixture.device.maintain().unwrap();
    let mut graph = Graph::new("frame", &mut arena);
    let image = graph.import_texture("gone", handle);
    graph.read_texture(&image);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(error, GraphError::Import { .. }), "{error}");
    assert_eq!(error.resource(), Some("gone"));
}

/// Three-slice temporal history: the first frame reads a defined clear, later frames the frame before.
#[test]
fn history_rotates_through_three_slices() {
    let (mut fixture, handles, mut arena) = setup();
    let slices = ["h0", "h1", "h2"].map(|label| fixture.texture(label, 8, 8));
    for frame in 0..6 {
        let (write, read) = (frame % 3, (frame + 2) % 3);
        let mut graph = Graph::new("frame", &mut arena);
        let mut current = graph.import_texture("current", *slices[write]);
        let mut history = graph.import_texture("history", *slices[read]);
        if frame == 0 {
            graph.render("first").color(0, &mut history, BLACK).clear();
        }
        graph
            .render("accumulate")
            .color(0, &mut current, LoadOp::DontCare)
            .bind(0, handles.sample, [bind::texture(&history), bind::sampler(handles.linear)])
            .fullscreen(handles.color);
        graph.submit(&mut fixture.device).unwrap();
        assert_eq!(live(&arena).len(), if frame == 0 { 2 } else { 1 });
    }
}

#[test]
fn an_export_keeps_its_contents_until_the_next_graph() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let copied = purlin_rhi::types::BufferUsages::COPY_SRC;
    let mut kept = graph.buffer("kept", TransientBuffer::new(16).usage(copied));
    let mut other = graph.buffer("other", TransientBuffer::new(16));
    graph.clear_buffer("kept", &mut kept);
    let export = graph.export_buffer(&kept);
    graph.clear_buffer("other", &mut other);
    graph.read_buffer(&other);
    graph.submit(&mut fixture.device).unwrap();
    assert_ne!(arena.context.physical[0], arena.context.physical[1], "an export is never reused");
    let buffer = arena.exported_buffer(export).unwrap();
    assert_eq!(fixture.control.buffer_bytes(buffer.slot()).unwrap(), [0; 16]);
    let owner = arena.take_buffer(export).unwrap();
    assert_eq!(*owner, buffer);
    let mut graph = Graph::new("frame", &mut arena);
    let again = graph.import_buffer("again", *owner);
    graph.read_buffer(&again);
    graph.submit(&mut fixture.device).unwrap();
    assert!(arena.exported_buffer(export).is_none());
}

/// Forward one resource name to an imported target: the producer writes the import directly.
#[test]
fn a_producer_writes_the_import_itself() {
    let (mut fixture, handles, mut arena) = setup();
    let screen = fixture.texture("screen", 8, 8);
    let mut graph = Graph::new("frame", &mut arena);
    let mut screen_version = graph.import_texture("screen", *screen);
    graph.render("draw").color(0, &mut screen_version, BLACK).draw(handles.color, 0..3, 0..1);
    let submitted = graph.submit(&mut fixture.device).unwrap();
    assert_eq!(submitted.stats.transients, 0);
    assert_eq!(arena.context.physical, [crate::context::Physical::Texture(*screen)]);
}

#[test]
fn one_resource_imported_twice_is_one_resource() {
    let (mut fixture, _, mut arena) = setup();
    let data = fixture.buffer("data", 16);
    let mut graph = Graph::new("frame", &mut arena);
    let mut a = graph.import_buffer("a", *data);
    let b = graph.import_buffer("b", *data);
    graph.clear_buffer("clear", &mut a);
    graph.read_buffer(&b);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(edges(&arena), ["clear>read \"a\" RAW"]);
}
