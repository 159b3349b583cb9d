//! Reports: complete, bounded, and safe to open whatever labels say.

use purlin_rhi::{GpuTime, PassTime};

use super::*;
use crate::PassKind;

/// A frame like a renderer's, with a culled pass.
fn renderer(fixture: &mut Fixture, arena: &mut GraphArena<Null>) -> Box<crate::GraphReport> {
    let handles = fixture.handles();
    let screen = fixture.texture("screen", 1920, 1080);
    let objects = fixture.buffer("objects", 65536);
    fixture.device.write_buffer(*objects, 0, &[1; 65536]).unwrap();
    let mut graph = Graph::new("frame", arena);
    let mut visible = graph.buffer("visible draws", TransientBuffer::new(65536));
    let mut shadow = graph.texture("shadow map", TransientTexture::d2(common::DEPTH, 2048, 2048));
    let mut depth = graph.texture("scene depth", TransientTexture::d2(common::DEPTH, 1920, 1080));
    let mut albedo = graph.texture("albedo", TransientTexture::d2(COLOR, 1920, 1080));
    let mut normals = graph.texture("normals", TransientTexture::d2(COLOR, 1920, 1080));
    let mut lit = graph.texture("lit", TransientTexture::d2(COLOR, 1920, 1080));
    let mut debug = graph.texture("debug view", TransientTexture::d2(COLOR, 1920, 1080));
    let mut bloom = graph.texture("bloom", TransientTexture::d2(COLOR, 960, 540).mips(5));
    let mut ldr = graph.texture("ldr", TransientTexture::d2(COLOR, 1920, 1080));
    let mut screen = graph.import_texture("screen", *screen);
    let objects = graph.import_buffer("objects", *objects);
    graph.clear_buffer("reset", &mut visible);
    graph
        .compute("cull")
        .bind(0, handles.read_write, [bind::buffer(&objects), bind::storage(&mut visible)])
        .dispatch(handles.compute, [64, 1, 1]);
    graph.render("shadows").depth(&mut shadow, LoadOp::Clear(1.0)).indirect(&visible).record(|_| {});
    graph
        .render("g-buffer")
        .color(0, &mut albedo, BLACK)
        .color(1, &mut normals, BLACK)
        .depth(&mut depth, LoadOp::Clear(1.0))
        .indirect(&visible)
        .record(|_| {});
    let sampler = || bind::sampler(handles.linear);
    graph
        .render("lighting")
        .color(0, &mut lit, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&albedo), sampler()])
        .bind(1, handles.sample, [bind::texture(&normals), sampler()])
        .sampled(&shadow, FRAGMENT)
        .sampled(&depth, FRAGMENT)
        .fullscreen(handles.color);
    graph
        .render("debug normals")
        .color(0, &mut debug, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&normals), sampler()])
        .fullscreen(handles.color);
    graph.render("transparent").color(0, &mut lit, LoadOp::Load).depth_read(&depth).record(|_| {});
    graph
        .render("bloom down 0")
        .color(0, &mut bloom.mip_mut(0), LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&lit), sampler()])
        .fullscreen(handles.color);
    let mut mips = bloom.split_mips();
    for (n, label) in (1..5).zip(["bloom down 1", "bloom down 2", "bloom down 3", "bloom down 4"]) {
        let (above, below) = mips.split_at_mut(n);
        graph
            .render(label)
            .color(0, &mut below[0], LoadOp::DontCare)
            .bind(0, handles.sample, [bind::texture(&above[n - 1]), sampler()])
            .fullscreen(handles.color);
    }
    for (n, label) in [3, 2, 1, 0].into_iter().zip(["bloom up 3", "bloom up 2", "bloom up 1", "bloom up 0"]) {
        let (above, below) = mips.split_at_mut(n + 1);
        graph
            .render(label)
            .color(0, &mut above[n], LoadOp::Load)
            .bind(0, handles.sample, [bind::texture(&below[0]), sampler()])
            .fullscreen(handles.color);
    }
    graph
        .render("tonemap")
        .color(0, &mut ldr, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&lit), sampler()])
        .bind(1, handles.sample, [bind::texture(&bloom), sampler()])
        .fullscreen(handles.color);
    graph
        .render("antialias")
        .color(0, &mut screen, LoadOp::DontCare)
        .bind(0, handles.sample, [bind::texture(&ldr), sampler()])
        .fullscreen(handles.color);
    graph.render("overlay").color(0, &mut screen, LoadOp::Load).record(|_| {});
    graph.read_buffer(&visible.range(0..256));
    graph.submit(&mut fixture.device).unwrap().take_report().unwrap()
}

#[test]
fn a_report_says_what_was_planned_and_why() {
    let (mut fixture, _, mut arena) = setup();
    let mut report = renderer(&mut fixture, &mut arena);
    assert_eq!((report.passes.len(), report.stats.culled), (20, 1));
    let find = |label: &str| report.passes.iter().position(|pass| pass.label == label).unwrap();
    let debug = &report.passes[find("debug normals")];
    assert!(!debug.live && debug.barriers.is_empty() && debug.cpu_ns.is_none());
    let lighting = &report.passes[find("lighting")];
    assert_eq!(lighting.why, "\"transparent\" uses what it makes");
    assert!(lighting.location.contains("report.rs"));
    let shadow = report.resources.iter().position(|resource| resource.label == "shadow map").unwrap() as u32;
    let reason =
        lighting.barriers.iter().flat_map(|barrier| &barrier.reasons).find(|r| r.resource == shadow).unwrap();
    assert_eq!((reason.hazard, reason.after), ("RAW", Some(find("shadows") as u32)));
    let gbuffer = &report.passes[find("g-buffer")];
    assert_eq!(gbuffer.uses[0].stored, Some(true));
    let peak = report.live_bytes.iter().max().copied();
    assert_eq!(peak, Some(report.stats.peak_bytes));
    assert!(report.stats.peak_bytes <= report.stats.physical_bytes);
    assert!(report.stats.physical_bytes <= report.stats.transient_bytes);
    let times: Vec<PassTime> = report
        .passes
        .iter()
        .filter(|pass| pass.live)
        .enumerate()
        .map(|(n, pass)| {
            let label =
                if pass.kind == PassKind::Readback { "read_buffer".into() } else { pass.label.clone() };
            PassTime { label, time: GpuTime::Elapsed(50_000.0 + (n * n % 7) as f64 * 90_000.0) }
        })
        .collect();
    report.set_gpu_times(&times);
    assert!(report.passes.iter().all(|pass| pass.gpu_ns.is_some() == pass.live));
    let dot = report.to_dot();
    assert!(
        dot.contains("[label=\"debug normals\"") && dot.contains("dashed") && dot.contains("RAW shadow map")
    );
    let parsed: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(parsed["passes"][0]["label"], "reset");
    let html = report.to_html();
    assert!(
        !html.contains("http://") || html.matches("http://").count() == 1,
        "only the SVG namespace is named"
    );
    assert!(!html.contains("{{"), "no placeholder is left");
    if let Some(path) = std::env::var_os("PURLIN_REPORT") {
        std::fs::write(path, html).unwrap();
    }
}

#[test]
fn labels_cannot_break_out_of_the_page() {
    let (mut fixture, _, mut arena) = setup();
    let evil = "</script><script>alert(1)</script> {{data}} <!-- \" \\ \n";
    let mut graph = Graph::new(evil, &mut arena);
    let mut data = graph.buffer(evil, TransientBuffer::new(16));
    graph.clear_buffer(evil, &mut data);
    graph.read_buffer(&data);
    let report = graph.submit(&mut fixture.device).unwrap().take_report().unwrap();
    let html = report.to_html();
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(html.matches("<!--").count(), 0);
    assert_eq!(html.matches("<script>alert").count(), 0);
    assert!(report.to_dot().contains("\\\""));
}

#[test]
fn a_report_of_ten_thousand_passes_is_bounded() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let mut data = graph.buffer("data", TransientBuffer::new(16));
    for _ in 0..10_000 {
        graph.clear_buffer("clear", &mut data);
    }
    graph.read_buffer(&data);
    let report = graph.submit(&mut fixture.device).unwrap().take_report().unwrap();
    assert_eq!((report.passes.len(), report.omitted.passes), (2000, 8001));
    assert!(report.omitted.edges > 0);
    assert!(report.to_html().len() < 2_000_000, "{}", report.to_html().len());
}

#[test]
fn there_is_no_report_unless_asked_for() {
    let (mut fixture, _, mut arena) = setup();
    arena.set_report(false);
    let graph = Graph::new("frame", &mut arena);
    assert!(graph.submit(&mut fixture.device).unwrap().report().is_none());
}
