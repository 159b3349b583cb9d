//! Pictures that are right, and the same in every mode of the graph.

mod common;

use std::path::Path;
use std::sync::OnceLock;

use common::{Gpu, Picture, gpu, model};
use purlin::graph::{GraphOptions, HazardMode};
use purlin_cli::renderer::Renderer;
use purlin_cli::scene::{Frustum, Scene, SceneOptions, Sphere};
use purlin_cli::size::Size;

const SMALL: Size = Size { width: 320, height: 180 };

fn procedural() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| Scene::procedural(&SceneOptions::default()))
}

fn load(path: &Path) -> Scene {
    Scene::load(path, &SceneOptions { max_texture_side: 512, ..Default::default() }).expect("a model")
}

/// A model of the shared data as a picture; `None` where there is no model or no adapter.
fn shown(test: &str, path: &str) -> Option<(Gpu, Picture)> {
    let path = model(path)?;
    let mut gpu = gpu(test)?;
    let picture = gpu.picture(&load(&path), SMALL);
    // On every stage, a light sky is above a darker ground.
    let (sky, ground) = (picture.brightness(0.95, 0.05), picture.brightness(0.25, 0.85));
    assert!(sky > ground + 15.0, "sky {sky}, ground {ground}");
    Some((gpu, picture))
}

/// The picture was looked at before it was accepted. Software and hardware round differently: edges may differ.
#[test]
fn the_procedural_scene_looks_as_it_did() {
    let Some(mut gpu) = gpu("procedural") else { return };
    let picture = gpu.picture(procedural(), SMALL);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/procedural.png");
    if std::env::var_os("PURLIN_UPDATE_GOLDEN").is_some() {
        let png = purlin_cli::picture::encode_png(SMALL, &picture.pixels).expect("a PNG");
        std::fs::write(&golden, png).expect("the golden picture is writable");
    }
    let (mean, far) = picture.difference(&Picture::load(&golden));
    assert!(
        mean < 1.0 && far < 0.02,
        "differs by {mean:.3} of 255 in the mean, {:.2} % of pixels far",
        far * 100.0
    );
    assert!(picture.pixels.chunks_exact(4).all(|pixel| pixel[3] == 255), "the picture is opaque");
}

#[test]
fn culling_on_the_gpu_agrees_with_the_cpu() {
    let Some(mut gpu) = gpu("culling") else { return };
    let device = gpu.device();
    let scene = procedural();
    let mut renderer = Renderer::new(device, scene, SMALL, &mut |_| {}).expect("a renderer");
    renderer.render(device).expect("a frame");
    renderer.finish(device).expect("a finished frame");
    let visible = renderer.visible().expect("counts");

    // The GPU may round a touching sphere to either side.
    let count = |frustum: Frustum, casters: bool, slack: f32| {
        let instances = scene.instances.iter().filter(|instance| instance.casts_shadow || !casters);
        let touches = |sphere: &Sphere| {
            let radius = sphere.radius + slack * sphere.center.abs().max_element().max(1.0);
            frustum.touches(&Sphere { radius, ..*sphere })
        };
        instances.filter(|instance| touches(&instance.sphere)).count() as u32
    };
    let camera = Frustum::from_view_projection(&scene.camera.view_projection(SMALL.aspect()));
    let sun = Frustum::from_view_projection(&scene.shadow_view(2048).view_projection);
    for (found, frustum, casters) in [(visible.camera, camera, false), (visible.sun, sun, true)] {
        let (least, most) = (count(frustum, casters, -1e-5), count(frustum, casters, 1e-5));
        assert!((least..=most).contains(&found), "{found} is not within {least}..={most}");
    }
    let total = scene.instances.len() as u32;
    assert!(visible.camera > 0 && visible.camera < total, "some are seen, some are not");
}

#[test]
fn every_mode_of_the_graph_gives_the_same_picture() {
    type Change = fn(&mut GraphOptions);
    let Some(mut gpu) = gpu("modes") else { return };
    let device = gpu.device();
    let mut renderer = Renderer::new(device, procedural(), SMALL, &mut |_| {}).expect("a renderer");
    let mut capture = |change: Change| {
        *renderer.options() = GraphOptions::default();
        change(renderer.options());
        // The text shows the figures of the frame before.
        renderer.render(device).expect("a frame");
        renderer.capture(device).expect("a picture").1
    };
    let reference = capture(|_| {});
    let modes: [(&str, Change); 4] = [
        ("no culling", |options| options.cull = false),
        ("conservative hazards", |options| options.hazards = HazardMode::Conservative),
        ("no reuse of transients", |options| options.transient_reuse = false),
        ("all of them", |options| {
            options.cull = false;
            options.hazards = HazardMode::Conservative;
            options.transient_reuse = false;
        }),
    ];
    for (mode, change) in modes {
        assert!(capture(change) == reference, "{mode} changes the picture");
    }
}

#[test]
fn any_size_works() {
    let Some(mut gpu) = gpu("sizes") else { return };
    for (width, height) in [(1, 1), (2, 1), (3, 7), (1, 64), (333, 5)] {
        let size = Size { width, height };
        let picture = gpu.picture(procedural(), size);
        assert_eq!(picture.pixels.len(), (width * height * 4) as usize);
        assert!(picture.pixels.chunks_exact(4).all(|pixel| pixel[3] == 255), "{size}");
    }
}

#[test]
fn the_flight_helmet() {
    let Some((_gpu, picture)) = shown("helmet", "FlightHelmet/FlightHelmet.gltf") else { return };
    // Wood below, leather above, a pale face between: upright, textured, and front to the left.
    let [r, g, b] = picture.mean(0.42, 0.82);
    assert!(r > g + 25.0 && g > b, "the wooden base is {r} {g} {b}");
    assert!(picture.brightness(0.48, 0.26) > picture.brightness(0.51, 0.2) + 60.0, "face and leather");
    // The red plug hangs at the right; its texture is not mirrored.
    let [r, g, b] = picture.mean(0.567, 0.54);
    assert!(r > g + 30.0 && r > b + 30.0, "the plug is {r} {g} {b}");
    let (shadow, ground) = (picture.brightness(0.86, 0.78), picture.brightness(0.86, 0.95));
    assert!(shadow < ground - 30.0, "shadow {shadow}, ground {ground}");
}

#[test]
fn the_fox() {
    let Some((_gpu, picture)) = shown("fox", "animated/Fox.glb") else { return };
    let [r, g, b] = picture.mean(0.51, 0.47);
    assert!(r > g + 40.0 && g > b + 40.0, "the body is {r} {g} {b}");
    assert!(picture.brightness(0.42, 0.7) < 60.0, "the legs are dark");
    assert!(picture.brightness(0.425, 0.58) > 140.0, "the breast is white");
    let (shadow, ground) = (picture.brightness(0.69, 0.72), picture.brightness(0.25, 0.83));
    assert!(shadow < ground - 30.0, "shadow {shadow}, ground {ground}");
}

#[test]
fn the_cake() {
    let Some((_gpu, picture)) = shown("cake", "AlienCake/cakeBirthday.glb") else { return };
    let [r, g, b] = picture.mean(0.53, 0.455);
    assert!(r > g + 5.0 && b > g, "the icing is {r} {g} {b}");
    let [r, g, b] = picture.mean(0.44, 0.765);
    assert!(r > g + 25.0 && g > b + 10.0, "the lowest layer is {r} {g} {b}");
    let [r, g, b] = picture.mean(0.496, 0.39);
    assert!(r > b + 40.0 && g > b + 20.0, "the nearest flame is {r} {g} {b}");
    let (shadow, ground) = (picture.brightness(0.74, 0.67), picture.brightness(0.25, 0.83));
    assert!(shadow < ground - 30.0, "shadow {shadow}, ground {ground}");
}
