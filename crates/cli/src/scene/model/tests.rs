//! Models: small documents written here, and real ones with and without damage.

use std::path::{Path, PathBuf};

use glam::Vec3;

use super::source::Source;
use super::*;
use crate::scene::hash::bits;
use crate::scene::tests::check;
use crate::scene::{AlphaMode, FLAT_NORMAL, WHITE};

fn parse(json: &str) -> Result<Scene, DemoError> {
    build(&Source::parse(Path::new("t.gltf"), json.as_bytes())?, &SceneOptions::default())
}

/// A document with one triangle in the XY plane, an index accessor, and the given further members.
fn triangle(indices: [u8; 4], primitive: &str, nodes: &str, more: &str) -> String {
    let mut bytes = Vec::new();
    for corner in [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
        corner.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
    }
    bytes.extend(indices);
    let data: String = bytes.chunks(3).map(encode).collect();
    format!(
        r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":40,"uri":"data:application/octet-stream;base64,{data}"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":4}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
        {{"bufferView":1,"componentType":5121,"count":3,"type":"SCALAR"}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1{primitive}}}]}}],
        "nodes":[{nodes}]{more}}}"#
    )
}

fn encode(group: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = group.iter().fold(0u32, |sum, b| sum << 8 | u32::from(*b)) << (8 * (3 - group.len()));
    (0..=group.len()).map(|i| char::from(digits[(bits >> (18 - 6 * i) & 63) as usize])).collect()
}

const NODE: &str = r#"{"mesh":0}"#;

#[test]
fn a_triangle_gets_flat_normals_and_a_stage() {
    let scene = parse(&triangle([0, 1, 2, 0], "", NODE, "")).unwrap();
    check(&scene);
    assert_eq!(scene.instances.len(), 2, "the triangle and the ground");
    assert!(scene.vertices[..3].iter().all(|v| v.normal == [0.0, 0.0, 1.0]));
    assert_eq!(scene.materials[0].textures(), [WHITE, WHITE, FLAT_NORMAL, WHITE, WHITE]);
    assert_eq!(scene.materials[0].metallic, 1.0, "the format's default");
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn nodes_multiply_down_and_mirrors_turn_the_winding() {
    let nodes = r#"{"children":[1],"translation":[1,2,3]},{"mesh":0,"scale":[-2,1,1]}"#;
    let scene = parse(&triangle([0, 1, 2, 0], "", nodes, "")).unwrap();
    check(&scene);
    let instance = scene.instances.iter().find(|i| i.transform.determinant() < 0.0).unwrap();
    assert_eq!(instance.transform.transform_point3(Vec3::X), Vec3::new(-1.0, 2.0, 3.0));
    let first = scene.meshes[instance.mesh as usize].first_index as usize;
    assert_eq!(scene.indices[first..first + 3], [0, 2, 1]);
}

#[test]
fn alpha_modes_and_factors_arrive() {
    let more = r#","materials":[{"alphaMode":"MASK","alphaCutoff":0.25,"doubleSided":true,
        "emissiveFactor":[0.5,0,0],"extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":4}},
        "pbrMetallicRoughness":{"baseColorFactor":[0.1,0.2,0.3,0.4],"metallicFactor":0.5,"roughnessFactor":0.6}}]"#;
    let scene = parse(&triangle([0, 1, 2, 0], r#","material":0"#, NODE, more)).unwrap();
    let material = &scene.materials[0];
    assert_eq!(material.alpha_mode, AlphaMode::Mask { cutoff: 0.25 });
    assert!(material.double_sided);
    assert_eq!(material.emissive, [2.0, 0.0, 0.0]);
    assert_eq!(
        (material.base_color, material.metallic, material.roughness),
        ([0.1, 0.2, 0.3, 0.4], 0.5, 0.6)
    );
}

#[test]
fn faults_are_one_line_that_names_them() {
    let cases: &[(String, &str)] = &[
        ("{".to_owned(), "the JSON is broken"),
        ("[]".to_owned(), "the JSON is broken"),
        (r#"{"asset":{"version":"2.0"}}"#.to_owned(), "no triangle"),
        (triangle([0, 1, 3, 0], "", NODE, ""), "index 3 is beyond its 3 vertices"),
        (triangle([0, 1, 255, 0], "", NODE, ""), "index 255 is beyond its 3 vertices"),
        (triangle([0, 1, 2, 0], "", r#"{"mesh":7}"#, ""), "nodes[0].mesh"),
        (
            triangle([0, 1, 2, 0], "", r#"{"mesh":0,"children":[0]}"#, r#","scenes":[{"nodes":[0]}]"#),
            "its own ancestor",
        ),
        (
            triangle([0, 1, 2, 0], "", NODE, "")
                .replace("\"count\":3,\"type\":\"VEC3\"", "\"count\":30,\"type\":\"VEC3\""),
            "30 elements do not fit",
        ),
        (
            triangle([0, 1, 2, 0], "", NODE, "").replace("\"byteLength\":36", "\"byteLength\":360"),
            "buffer view 0",
        ),
        (
            triangle([0, 1, 2, 0], "", NODE, "").replace("[{\"byteLength\":40", "[{\"byteLength\":41"),
            "declares 41 bytes",
        ),
        (triangle([0, 1, 2, 0], "", NODE, "").replace("SCALAR", "VEC4"), "4 components where 1"),
        (triangle([0, 1, 2, 0], "", NODE, "").replace("base64,", "base64,*"), "not base64"),
        (triangle([0, 1, 2, 0], "", NODE, "").replace("data:", "https://"), "only relative paths"),
        (
            triangle([0, 1, 2, 0], "", NODE, r#","extensionsRequired":["KHR_draco_mesh_compression"]"#),
            "KHR_draco_mesh_compression",
        ),
        (
            triangle(
                [0, 1, 2, 0],
                "",
                r#"{"mesh":0,"scale":[1e38,1e38,1e38],"children":[1]},{"scale":[1e38,1,1]}"#,
                "",
            ),
            "not finite",
        ),
        (triangle([0, 1, 2, 0], r#","mode":1"#, NODE, ""), "no triangle"),
        (
            triangle(
                [0, 1, 2, 0],
                r#","material":0"#,
                NODE,
                r#","materials":[{"normalTexture":{"index":0}}],"textures":[{"source":0}],"images":[{"bufferView":0}]"#,
            ),
            "image 0: the bytes are neither",
        ),
        (
            triangle(
                [0, 1, 2, 0],
                r#","material":0"#,
                NODE,
                r#","materials":[{"normalTexture":{"index":0}}],"textures":[{"source":0}],"images":[{}]"#,
            ),
            "neither a URI",
        ),
    ];
    for (json, expected) in cases {
        let line = parse(json).map(|_| ()).expect_err(expected).to_string();
        assert!(line.contains(expected), "{expected:?} is not in {line:?}");
        assert!(!line.contains('\n'), "{line:?}");
    }
}

#[test]
fn extreme_places_and_sizes_still_get_a_camera() {
    for transform in [
        r#""translation":[1e11,0,-1e11]"#,
        r#""scale":[1e-9,1e-9,1e-9]"#,
        r#""scale":[0,0,0]"#,
        r#""scale":[1e11,1e11,1e11]"#,
        r#""scale":[1e6,1e-6,1]"#,
    ] {
        let scene = parse(&triangle([0, 1, 2, 0], "", &format!(r#"{{"mesh":0,{transform}}}"#), "")).unwrap();
        check(&scene);
    }
    let far = parse(&triangle([0, 1, 2, 0], "", r#"{"mesh":0,"scale":[1e13,1,1]}"#, "")).unwrap_err();
    assert!(far.to_string().contains("units from the origin"), "{far}");
}

#[test]
fn missing_files_are_named() {
    let error = load(Path::new("no/such/model.glb"), &SceneOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot read 'no/such/model.glb'"), "{error}");
    let json =
        triangle([0, 1, 2, 0], "", NODE, "").replace("data:application/octet-stream;base64,", "no%20such/");
    let error = parse(&json).unwrap_err();
    assert!(error.to_string().starts_with("cannot read 'no such/"), "{error}");
}

/// The folder of real models, or nothing with a note.
fn models() -> Option<PathBuf> {
    let data = std::env::var_os("PURLIN_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let models = data.join("models");
    if models.is_dir() {
        return Some(models);
    }
    println!("skipped: no models in {} (set PURLIN_DATA)", data.display());
    None
}

#[test]
fn real_models_load() {
    let Some(models) = models() else { return };
    for (file, instances, vertices, textures) in [
        ("FlightHelmet/FlightHelmet.gltf", 6, 56_000, 15),
        ("AlienCake/alien.glb", 0, 0, 0),
        ("AlienCake/cakeBirthday.glb", 0, 0, 0),
        ("AlienCake/tile.glb", 2, 0, 0),
        ("animated/Fox.glb", 1, 1728, 1),
        ("sphere/sphere.gltf", 1, 0, 0),
    ] {
        let scene = load(&models.join(file), &SceneOptions::default()).unwrap();
        check(&scene);
        println!(
            "{file}: {} instances, {} meshes, {} vertices, {} triangles, {} materials, {} textures, {:?}, {:?}",
            scene.instances.len() - 1,
            scene.meshes.len() - 1,
            scene.vertices.len(),
            scene.triangle_count(),
            scene.materials.len() - 1,
            scene.textures.len() - 2,
            scene.bounds,
            scene.warnings
        );
        assert!(instances == 0 || scene.instances.len() == instances + 1);
        assert!(scene.vertices.len() >= vertices);
        assert_eq!(scene.textures.len(), textures + 2);
        assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    }
}

#[test]
fn the_fox_stands_on_its_feet_in_its_bind_pose() {
    let Some(models) = models() else { return };
    let scene = load(&models.join("animated/Fox.glb"), &SceneOptions::default()).unwrap();
    let fox = scene.instances.iter().find(|i| i.casts_shadow).unwrap();
    let size = fox.sphere.radius;
    let bounds = scene.meshes[fox.mesh as usize].bounds;
    // About 80 high and 150 long, along Z, with its feet on the ground.
    let extent = bounds.max - bounds.min;
    assert!((70.0..90.0).contains(&extent.y) && (140.0..170.0).contains(&extent.z), "{bounds:?}");
    assert!(bounds.min.y.abs() < 2.0 && extent.x < 40.0 && size < 100.0, "{bounds:?}");
}

/// Damaged copies of each model; raise it to search for longer.
const ROUNDS: u32 = 300;

/// Every damaged model must load or fail with one line; a panic or a hang fails the test.
#[test]
fn damaged_models_never_panic() {
    let Some(models) = models() else { return };
    for file in ["AlienCake/tile.glb", "AlienCake/alien.glb", "animated/Fox.glb", "sphere/sphere.gltf"] {
        let path = models.join(file);
        let original = std::fs::read(&path).unwrap();
        // Most damage should hit the structure, which is at the start.
        let head = original.len().min(6000) as u32;
        for round in 0..ROUNDS {
            let mut bytes = original.clone();
            if round % 4 == 0 {
                bytes.truncate(bits(round, 1) as usize % bytes.len());
            }
            for hit in 0..=round % 5 {
                let reach = if round % 3 == 0 { bytes.len() as u32 } else { head.min(bytes.len() as u32) };
                if reach == 0 {
                    continue;
                }
                let at = (bits(round, 10 + hit) % reach) as usize;
                bytes[at] = match bits(round, 20 + hit) % 4 {
                    0 => bits(round, 30 + hit) as u8,
                    1 => bytes[at] ^ 1 << (bits(round, 40 + hit) % 8),
                    // A digit for a digit keeps the JSON valid and its numbers wrong.
                    _ if bytes[at].is_ascii_digit() => b'0' + (bits(round, 50 + hit) % 10) as u8,
                    _ => bytes[at],
                };
            }
            let result = Source::parse(&path, &bytes).and_then(|s| build(&s, &SceneOptions::default()));
            match result {
                Ok(scene) => check(&scene),
                Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
            }
        }
    }
}
