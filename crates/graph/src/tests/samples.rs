//! Multisampled targets: what is averaged, what is kept, and what is refused.

use purlin_rhi::StoreOp;
use purlin_rhi::backend::NativeColor;
use purlin_rhi::null::NullCommand;

use super::*;

fn samples(graph: &mut Graph<'_, Null>) -> crate::TextureVersion {
    graph.texture("samples", TransientTexture::d2(COLOR, 8, 8).samples(4))
}

/// The first color attachment of each raster pass that was recorded.
fn colors(fixture: &Fixture) -> Vec<NativeColor> {
    let log = fixture.control.take_log();
    let pass = |command: &NullCommand| match command {
        NullCommand::BeginRenderPass(pass) => pass.colors.first().copied().flatten(),
        _ => None,
    };
    log.iter().flat_map(|submission| submission.commands()).filter_map(pass).collect()
}

#[test]
fn samples_that_nobody_reads_are_averaged_and_gone() {
    let (mut fixture, _, mut arena) = setup();
    for keeps in [false, true] {
        fixture.control.take_log();
        let mut graph = Graph::new("frame", &mut arena);
        let (mut four, mut image) = (samples(&mut graph), target(&mut graph, "image"));
        graph.render("scene").color(0, &mut four, BLACK).resolve(0, &mut image).clear();
        graph.read_texture(&image);
        if keeps {
            let mut later = target(&mut graph, "later");
            graph.render("more").color(0, &mut four, LoadOp::Load).resolve(0, &mut later).clear();
            graph.read_texture(&later);
        }
        graph.submit(&mut fixture.device).unwrap();
        let colors = colors(&fixture);
        assert_eq!(colors.len(), 1 + usize::from(keeps));
        assert!(colors.iter().all(|color| color.resolve.is_some()));
        let stores: Vec<_> = colors.iter().map(|color| color.store).collect();
        let first = if keeps { StoreOp::Store } else { StoreOp::Discard };
        assert_eq!(stores.first(), Some(&first));
        assert_eq!(stores.last(), Some(&StoreOp::Discard));
    }
}

#[test]
fn an_average_that_nobody_reads_is_not_made() {
    let (mut fixture, _, mut arena) = setup();
    let mut graph = Graph::new("frame", &mut arena);
    let (mut four, mut image) = (samples(&mut graph), target(&mut graph, "image"));
    graph.render("scene").color(0, &mut four, BLACK).resolve(0, &mut image).side_effect().clear();
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(colors(&fixture).pop().map(|color| color.resolve), Some(None));
    let mut graph = Graph::new("frame", &mut arena);
    let (mut four, mut image, mut other) =
        (samples(&mut graph), target(&mut graph, "image"), target(&mut graph, "other"));
    graph.render("unseen").color(0, &mut four, BLACK).resolve(0, &mut image).clear();
    graph.render("seen").color(0, &mut other, BLACK).clear();
    graph.read_texture(&other);
    graph.submit(&mut fixture.device).unwrap();
    assert_eq!(live(&arena), ["seen", "read \"other\""]);
}

#[test]
fn resolves_are_checked() {
    let (mut fixture, _, mut arena) = setup();
    let mut check = |body: &dyn Fn(&mut Graph<'_, Null>), says: &[&str]| {
        let mut graph = Graph::new("frame", &mut arena);
        body(&mut graph);
        let error = graph.submit(&mut fixture.device).unwrap_err().to_string();
        for part in says {
            assert!(error.contains(part), "\"{part}\" is not in: {error}");
        }
    };
    check(
        &|graph| {
            let (mut four, mut image) = (samples(graph), target(graph, "image"));
            graph.render("scene").color(0, &mut four, BLACK).resolve(1, &mut image).side_effect().clear();
        },
        &["scene", "resolve of color 1", "a color target of this index before", "samples.rs"],
    );
    check(
        &|graph| {
            let (mut four, mut image, mut again) =
                (samples(graph), target(graph, "image"), target(graph, "again"));
            let pass = graph.render("scene").color(0, &mut four, BLACK);
            pass.resolve(0, &mut image).resolve(0, &mut again).side_effect().clear();
        },
        &["scene", "resolve of color 0", "it is resolved twice"],
    );
    check(
        &|graph| {
            let (mut flat, mut image) = (target(graph, "flat"), target(graph, "image"));
            graph.render("scene").color(0, &mut flat, BLACK).resolve(0, &mut image).clear();
            graph.read_texture(&image);
        },
        &["scene", "colors.resolve"],
    );
}
