//! Frames of a surface as imports that are presented.

use std::time::Duration;

use purlin_rhi::null::{NullSurfaceCall, NullWindow};
use purlin_rhi::{Surface, SurfaceConfig, SurfaceFrame, SurfaceTarget};

use super::*;

fn window(fixture: &mut Fixture) -> (NullWindow, Surface) {
    let window = NullWindow::new(64, 64);
    let target = SurfaceTarget::custom(window.clone());
    let surface = fixture.device.create_surface("main", &target).unwrap();
    let format = surface.capabilities(&fixture.device).unwrap().formats[0];
    surface.configure(&mut fixture.device, &SurfaceConfig::new(64, 64, format)).unwrap();
    (window, surface)
}

fn acquire(fixture: &mut Fixture, surface: &Surface) -> SurfaceFrame {
    surface.acquire(&mut fixture.device, Duration::from_secs(1)).unwrap().frame().expect("a frame")
}

fn presents(window: &NullWindow) -> usize {
    window.take_log().iter().filter(|call| matches!(call, NullSurfaceCall::Present(_))).count()
}

#[test]
fn a_frame_is_an_import_that_is_presented() {
    let (mut fixture, _, mut arena) = setup();
    let (window, surface) = window(&mut fixture);
    let mut made = 0;
    for number in 0..9 {
        let frame = acquire(&mut fixture, &surface);
        let mut graph = Graph::new("frame", &mut arena);
        let mut picture = graph.import_texture("window", frame.texture());
        graph.render("picture").color(0, &mut picture, BLACK).clear();
        graph.present(frame);
        let stats = graph.submit(&mut fixture.device).unwrap().stats;
        made += if number < 3 { 0 } else { stats.created };
        assert_eq!(plan_words(&arena.context), ["picture | layout window none>color"]);
    }
    assert_eq!(presents(&window), 9);
    assert_eq!(made, 0, "the views of three images are kept");
}

#[test]
fn a_graph_that_is_refused_gives_its_frame_back() {
    let (mut fixture, _, mut arena) = setup();
    let (window, surface) = window(&mut fixture);
    let frame = acquire(&mut fixture, &surface);
    let texture = frame.texture();
    let mut graph = Graph::new("empty", &mut arena);
    graph.present(frame);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(error.to_string().contains("defined contents"), "nothing was drawn: {error}");
    let frame = acquire(&mut fixture, &surface);
    assert_eq!(frame.texture(), texture);
    let mut graph = Graph::new("dropped", &mut arena);
    graph.present(frame);
    drop(graph);
    assert_eq!(acquire(&mut fixture, &surface).texture(), texture);
    assert_eq!(presents(&window), 0);
}
