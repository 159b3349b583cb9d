//! The stage for a loaded model: ground, sun, sky and a camera that fits.
//!
//! Models come in any unit (a fox of 150, a cake of 1), so every length here is a multiple of the model's
//! radius.

use glam::{Mat4, Vec3};

use super::bounds::Aabb;
use super::camera::Camera;
use super::material::Material;
use super::{Scene, Sky, Sun, shapes};

/// Completes a scene that holds only the model's instances.
pub(super) fn around_model(scene: &mut Scene, aspect: f32) {
    // A model that is a point, or so far out that floats cannot tell its sides apart, still gets a stage.
    let center = scene.bounds.center();
    let least = (center.abs().max_element() * 1e-4).max(1e-6);
    let point = Aabb { min: center - least, max: center + least };
    let model = if scene.bounds.radius() < least { point } else { scene.bounds };
    let radius = model.radius();

    // glTF's front is +Z: look from there, a quarter to the side and from above.
    scene.camera = Camera::framing(&model, Vec3::new(0.62, 0.36, 1.0), 0.6, aspect, 0.06);
    let distance = scene.camera.eye.distance(scene.camera.target);
    scene.sun = Sun { direction: Vec3::new(-0.62, 0.68, 0.52).normalize(), color: Vec3::new(3.5, 3.25, 2.9) };
    scene.sky = Sky {
        zenith: Vec3::new(0.36, 0.47, 0.66),
        horizon: Vec3::new(0.80, 0.82, 0.85),
        ground: Vec3::new(0.42, 0.41, 0.40),
        fog_start: distance + radius * 1.5,
        fog_end: distance + radius * 9.0,
        exposure: 1.0,
    };

    let (vertices, indices) = shapes::disc(96, 12);
    let disc = scene.add_mesh(&vertices, &indices);
    let grey = scene.add_material(Material {
        name: "ground".to_owned(),
        base_color: [0.34, 0.345, 0.355, 1.0],
        roughness: 0.85,
        ..Material::default()
    });
    // Just below the lowest point, so that a flat underside does not flicker with it.
    let place = Vec3::new(center.x, model.min.y - radius * 0.002, center.z);
    scene.add_instance(
        disc,
        grey,
        Mat4::from_translation(place) * Mat4::from_scale(Vec3::splat(radius * 10.0)),
    );
    if let Some(ground) = scene.instances.last_mut() {
        ground.casts_shadow = false;
    }

    // The model and its shadow on the ground.
    let slope = scene.sun.direction / scene.sun.direction.y;
    let shadow = Aabb::around(model.corners().map(|corner| corner - slope * (corner.y - place.y)));
    scene.shadow_focus = model.union(shadow);
    scene.sort_instances();
}
