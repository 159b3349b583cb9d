//! The scene without a file: a sunflower field of 1,024 objects around a golden knot.
//!
//! Objects stand where a sunflower puts its seeds: the n-th at the golden angle times n, at a distance that
//! grows with the square root of n. That fills the plane evenly and shows spiral arms, which shape, size and
//! color follow. The camera stands inside the field, so a good part of it is behind the eye and has to be
//! culled; the sun stands low at the left, so shadows are long; glass floats in front, so blending has
//! something to do.

use std::f32::consts::TAU;

use glam::{Mat4, Quat, Vec3};

use super::bounds::Aabb;
use super::camera::{Camera, Sun};
use super::hash::{bits, unit};
use super::material::{AlphaMode, Material};
use super::textures::{self, TextureSet};
use super::{Scene, SceneOptions, Sky, shapes};

/// All objects, the ground among them.
const OBJECTS: u32 = 1024;
/// Floating glass spheres.
const GLASS: u32 = 40;
/// Seeds left out in the middle, where the knot stands.
const CLEARING: u32 = 22;
/// The radians between two seeds: a full turn divided by the golden ratio, twice.
const GOLDEN_ANGLE: f32 = 2.399_963_2;
/// The side of a floor tile.
const TILE: f32 = 2.0;
/// The radius of the ground.
const GROUND: f32 = 300.0;

/// Colors from the middle of the field outwards, linear.
const PALETTE: [[f32; 3]; 7] = [
    [0.74, 0.045, 0.035],
    [0.86, 0.17, 0.03],
    [0.92, 0.46, 0.05],
    [0.80, 0.72, 0.56],
    [0.10, 0.46, 0.38],
    [0.015, 0.22, 0.36],
    [0.05, 0.05, 0.26],
];

/// Builds the scene.
pub(super) fn build(options: &SceneOptions) -> Scene {
    let mut scene = Scene::empty("procedural");
    scene.camera = Camera {
        eye: Vec3::new(7.4, 5.9, 19.0),
        target: Vec3::new(-1.1, 2.75, 0.0),
        // Narrow pictures look wider, so that the knot stays inside.
        fov_y: if options.aspect < 1.3 { 0.9 } else { 0.62 },
        near: 0.3,
        far: 400.0,
    };
    scene.sun = Sun { direction: Vec3::new(-0.80, 0.44, 0.16).normalize(), color: Vec3::new(5.2, 4.2, 3.0) };
    scene.sky = Sky {
        zenith: Vec3::new(0.05, 0.17, 0.46),
        horizon: Vec3::new(0.86, 0.50, 0.30),
        ground: Vec3::new(0.22, 0.18, 0.16),
        fog_start: 26.0,
        fog_end: 150.0,
        exposure: 0.85,
    };
    let floor = add_textures(&mut scene, textures::floor());
    let hammered = add_textures(&mut scene, textures::hammered());
    let meshes = Meshes::add(&mut scene);
    let paints = Paints::add(&mut scene, hammered);

    let ground = textured(floor, [1.0; 3], 0.0, 1.0, GROUND / (TILE * 4.0));
    let ground = scene.add_material(Material { name: "floor".to_owned(), ..ground });
    scene.add_instance(meshes.disc, ground, Mat4::from_scale(Vec3::splat(GROUND)));
    if let Some(ground) = scene.instances.last_mut() {
        ground.casts_shadow = false;
    }
    add_centerpiece(&mut scene, &meshes, &paints);
    let field = OBJECTS - GLASS - scene.instances.len() as u32;
    for seed in 0..field {
        add_seed(&mut scene, &meshes, &paints, seed);
    }
    for number in 0..GLASS {
        add_glass(&mut scene, &meshes, &paints, number);
    }

    let reach = ((field + CLEARING) as f32).sqrt() + 1.0;
    scene.shadow_focus = Aabb { min: Vec3::new(-reach, 0.0, -reach), max: Vec3::new(reach, 6.0, reach) };
    scene.sort_instances();
    scene
}

/// The textures' numbers: color, metallic-roughness, normal.
type TextureNumbers = [u32; 3];

fn add_textures(scene: &mut Scene, set: TextureSet) -> TextureNumbers {
    [set.color, set.metallic_roughness, set.normal].map(|image| scene.add_texture(image))
}

fn textured(
    textures: TextureNumbers,
    color: [f32; 3],
    metallic: f32,
    roughness: f32,
    repeat: f32,
) -> Material {
    let [base_color_texture, metallic_roughness_texture, normal_texture] = textures;
    Material {
        base_color: [color[0], color[1], color[2], 1.0],
        base_color_texture,
        metallic,
        roughness,
        metallic_roughness_texture,
        normal_texture,
        uv_transform: [[repeat, 0.0, 0.0], [0.0, repeat, 0.0]],
        ..Material::default()
    }
}

fn plain(name: impl Into<String>, color: [f32; 3], metallic: f32, roughness: f32) -> Material {
    let base_color = [color[0], color[1], color[2], 1.0];
    Material { name: name.into(), base_color, metallic, roughness, ..Material::default() }
}

struct Meshes {
    sphere: u32,
    cube: u32,
    torus: u32,
    pillar: u32,
    gem: u32,
    knot: u32,
    disc: u32,
}

impl Meshes {
    fn add(scene: &mut Scene) -> Self {
        let mut add = |(vertices, indices): shapes::Shape| scene.add_mesh(&vertices, &indices);
        Self {
            sphere: add(shapes::sphere(40, 20)),
            cube: add(shapes::rounded_cube(0.16, 12)),
            torus: add(shapes::torus(0.68, 0.32, 40, 20)),
            pillar: add(shapes::pillar(0.16, 40)),
            gem: add(shapes::gem(10)),
            knot: add(shapes::knot(0.15, 320, 24)),
            disc: add(shapes::disc(128, 40)),
        }
    }
}

struct Paints {
    /// For each color of the palette: matte, satin and glossy.
    colors: Vec<[u32; 3]>,
    gold: u32,
    copper: u32,
    steel: u32,
    dark: u32,
    lanterns: [u32; 2],
    core: u32,
    glass: [u32; 4],
}

impl Paints {
    fn add(scene: &mut Scene, hammered: TextureNumbers) -> Self {
        let glow =
            |name: &str, light: [f32; 3]| Material { emissive: light, ..plain(name, [0.02; 3], 0.0, 0.6) };
        let glass = |name: &str, color: [f32; 3], alpha: f32| Material {
            base_color: [color[0], color[1], color[2], alpha],
            alpha_mode: AlphaMode::Blend,
            ..plain(name, color, 0.0, 0.04)
        };
        let metal = |name: &str, color, roughness| Material {
            name: name.to_owned(),
            ..textured(hammered, color, 1.0, roughness, 1.0)
        };
        let colors = PALETTE.iter().enumerate().map(|(i, color)| {
            [("matte", 0.0, 0.85), ("satin", 0.0, 0.42), ("metallic", 0.75, 0.30)].map(
                |(finish, metallic, rough)| {
                    scene.add_material(plain(format!("{finish} {i}"), *color, metallic, rough))
                },
            )
        });
        Self {
            colors: colors.collect(),
            gold: scene.add_material(metal("gold", [1.0, 0.70, 0.27], 0.26)),
            copper: scene.add_material(metal("copper", [0.94, 0.50, 0.34], 0.34)),
            steel: scene.add_material(plain("steel", [0.60, 0.62, 0.65], 1.0, 0.12)),
            dark: scene.add_material(plain("basalt", [0.022, 0.024, 0.03], 0.0, 0.28)),
            lanterns: [
                scene.add_material(glow("warm lantern", [5.0, 1.5, 0.25])),
                scene.add_material(glow("cool lantern", [0.25, 1.7, 4.0])),
            ],
            core: scene.add_material(glow("core", [11.0, 3.6, 0.7])),
            glass: [
                scene.add_material(glass("clear glass", [0.85, 0.92, 0.95], 0.12)),
                scene.add_material(glass("blue glass", [0.06, 0.36, 0.80], 0.36)),
                scene.add_material(glass("rose glass", [0.85, 0.10, 0.22], 0.34)),
                scene.add_material(glass("amber glass", [0.95, 0.46, 0.04], 0.36)),
            ],
        }
    }
}

fn at(place: Vec3, rotation: Quat, scale: Vec3) -> Mat4 {
    Mat4::from_scale_rotation_translation(scale, rotation, place)
}

/// A golden knot around a glowing core, on a dark plinth with a steel rim.
fn add_centerpiece(scene: &mut Scene, meshes: &Meshes, paints: &Paints) {
    let level = Quat::IDENTITY;
    scene.add_instance(meshes.pillar, paints.dark, at(Vec3::Y * 0.45, level, Vec3::new(3.2, 0.45, 3.2)));
    scene.add_instance(meshes.torus, paints.steel, at(Vec3::Y * 0.86, level, Vec3::new(2.9, 0.35, 2.9)));
    let tilt = Quat::from_rotation_x(1.18) * Quat::from_rotation_y(0.35);
    scene.add_instance(meshes.knot, paints.gold, at(Vec3::Y * 3.35, tilt, Vec3::splat(2.55)));
    scene.add_instance(meshes.sphere, paints.core, at(Vec3::Y * 3.35, level, Vec3::splat(0.5)));
}

/// One object of the field.
fn add_seed(scene: &mut Scene, meshes: &Meshes, paints: &Paints, seed: u32) {
    let number = (seed + CLEARING) as f32;
    let (distance, angle) = (number.sqrt(), number * GOLDEN_ANGLE);
    let (x, z) = (distance * angle.cos(), distance * angle.sin());
    let outwards = Quat::from_rotation_y(-angle);
    // Two waves run over the field: one outwards, one around.
    let swell = 0.5 + 0.5 * (distance * 0.62 - 1.0).sin();
    let around = 0.5 + 0.5 * (angle.rem_euclid(TAU) * 3.0 + distance * 0.28).sin();
    let size = 0.42 + 0.24 * swell + 0.08 * unit(seed, 1);

    let share = (distance / 31.0 * PALETTE.len() as f32 + (unit(seed, 2) - 0.5) * 1.5).max(0.0);
    let color = (share as usize).min(PALETTE.len() - 1);
    let finish = (seed % 3) as usize;
    let mut material = paints.colors[color][finish];
    // Every 13th and every 21st seed form arms of their own.
    if seed.is_multiple_of(13) {
        material = paints.gold;
    } else if seed % 21 == 8 {
        material = paints.copper;
    }
    if unit(seed, 9) < 0.035 {
        let lantern = paints.lanterns[(bits(seed, 10) % 2) as usize];
        scene.add_instance(meshes.sphere, lantern, at(Vec3::new(x, 0.3, z), outwards, Vec3::splat(0.3)));
        return;
    }
    let lean = Quat::from_rotation_z((unit(seed, 3) - 0.5) * 0.5);
    match seed % 8 {
        0 | 3 => {
            scene.add_instance(
                meshes.sphere,
                material,
                at(Vec3::new(x, size, z), outwards, Vec3::splat(size)),
            );
        }
        1 | 6 => {
            let half = size * 0.85;
            scene.add_instance(meshes.cube, material, at(Vec3::new(x, half, z), outwards, Vec3::splat(half)));
        }
        2 => {
            // A ring that stands on its rim and faces the middle.
            let upright = outwards * Quat::from_rotation_z(TAU / 4.0);
            scene.add_instance(meshes.torus, material, at(Vec3::new(x, size, z), upright, Vec3::splat(size)));
        }
        5 => {
            let place = Vec3::new(x, size * 1.25, z);
            scene.add_instance(meshes.gem, material, at(place, outwards * lean, Vec3::splat(size * 1.05)));
        }
        _ => {
            let height = 0.25 + 0.95 * around * (0.4 + 0.6 * swell);
            let scale = Vec3::new(size * 0.8, height, size * 0.8);
            scene.add_instance(meshes.pillar, material, at(Vec3::new(x, height, z), outwards, scale));
        }
    }
}

/// A glass sphere that floats between the eye and the middle.
fn add_glass(scene: &mut Scene, meshes: &Meshes, paints: &Paints, number: u32) {
    // Spread over the sector that the camera sees, evenly by number and a little by chance.
    let share = (number as f32 + 0.5) / GLASS as f32;
    let angle = 1.19 + (share - 0.5) * 2.1 + (unit(number, 4) - 0.5) * 0.15;
    let distance = 5.6 + 7.4 * unit(number, 5);
    let size = 0.28 + 0.5 * unit(number, 6) * unit(number, 7);
    let height = 1.7 + size + 2.6 * unit(number, 8) * (1.0 - 0.5 * (distance - 5.6) / 7.4);
    let place = Vec3::new(distance * angle.cos(), height, distance * angle.sin());
    let glass = paints.glass[(number % 4) as usize];
    scene.add_instance(meshes.sphere, glass, at(place, Quat::IDENTITY, Vec3::splat(size)));
}
