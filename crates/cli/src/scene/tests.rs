//! What every scene must hold, whatever it came from.

use super::*;

/// Asserts the invariants of the module's page.
pub(super) fn check(scene: &Scene) {
    for mesh in &scene.meshes {
        let (first, count) = (mesh.first_index as usize, mesh.index_count as usize);
        assert!(count > 0 && count.is_multiple_of(3));
        let vertices = scene.vertices.len() as u64;
        for index in &scene.indices[first..first + count] {
            assert!(u64::from(*index) + u64::from(mesh.base_vertex) < vertices);
        }
        assert!(!mesh.bounds.is_empty());
    }
    for v in &scene.vertices {
        let (p, n) = (Vec3::from(v.position), Vec3::from(v.normal));
        let t = Vec3::new(v.tangent[0], v.tangent[1], v.tangent[2]);
        assert!(p.is_finite() && (n.length() - 1.0).abs() < 1e-3 && (t.length() - 1.0).abs() < 1e-3);
        assert!(v.tangent[3].abs() == 1.0);
    }
    for material in &scene.materials {
        assert!(material.textures().iter().all(|t| (*t as usize) < scene.textures.len()));
    }
    for instance in &scene.instances {
        assert!((instance.mesh as usize) < scene.meshes.len());
        assert!((instance.material as usize) < scene.materials.len());
        assert!(instance.transform.is_finite());
        assert!(instance.sphere.center.is_finite() && instance.sphere.radius.is_finite());
    }
    let batches = scene.batches();
    let mut next = 0;
    for batch in &batches {
        assert_eq!(batch.first, next);
        next += batch.count;
        let range = &scene.instances[batch.first as usize..next as usize];
        assert!(range.iter().all(|instance| instance.material == batch.material));
    }
    assert_eq!(next as usize, scene.instances.len());
    assert!(batches.is_sorted_by_key(|batch| batch.blended));
    assert!(scene.warnings.iter().all(|line| !line.contains('\n')));
    assert!(
        scene.camera.view_projection(1.5).is_finite() && scene.shadow_view(1024).view_projection.is_finite()
    );
}

#[test]
fn the_procedural_scene_is_whole_and_repeatable() {
    let scene = Scene::procedural(&SceneOptions::default());
    check(&scene);
    assert_eq!(scene.instances.len(), 1024);
    let blended = scene.instances.iter().filter(|i| scene.materials[i.material as usize].is_blended());
    assert_eq!(blended.count(), 40);
    let again = Scene::procedural(&SceneOptions::default());
    assert_eq!(scene.instances, again.instances);
    assert_eq!(scene.vertices, again.vertices);
    assert_eq!(scene.textures, again.textures);
}

#[test]
fn the_procedural_scene_gives_culling_work() {
    let scene = Scene::procedural(&SceneOptions::default());
    let frustum = Frustum::from_view_projection(&scene.camera.view_projection(16.0 / 9.0));
    let seen = scene.instances.iter().filter(|i| frustum.touches(&i.sphere)).count();
    assert!((300..900).contains(&seen), "{seen} of 1024 are in view");
}

#[test]
fn gpu_structures_have_the_shaders_sizes() {
    assert_eq!(size_of::<FrameUniforms>(), 304);
    assert_eq!(size_of::<GpuInstance>(), 96);
    assert_eq!(size_of::<CullUniforms>(), 112);
    assert_eq!(size_of::<GpuMaterial>(), 80);
    assert_eq!(size_of::<Vertex>(), 52);
    assert_eq!(size_of::<GlyphQuad>(), 36);
}
