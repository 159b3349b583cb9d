//! Culling on the CPU and draws without arguments from buffers, for APIs below WebGPU's level.

use std::ops::Range;

use super::Visible;
use crate::scene::{Frustum, MeshRange, Scene, Sphere};

/// What the CPU knows of the instances.
#[derive(Debug)]
pub(super) struct Direct {
    meshes: Vec<MeshRange>,
    instances: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    mesh: u32,
    sphere: Sphere,
    casts_shadow: bool,
    by_camera: bool,
    by_sun: bool,
}

impl Direct {
    pub fn new(scene: &Scene) -> Self {
        let instances = scene.instances.iter().map(|instance| Seen {
            mesh: instance.mesh,
            sphere: instance.sphere,
            casts_shadow: instance.casts_shadow,
            by_camera: false,
            by_sun: false,
        });
        Self { meshes: scene.meshes.clone(), instances: instances.collect() }
    }

    /// Decides what both views see.
    pub fn cull(&mut self, camera: &Frustum, sun: &Frustum) -> Visible {
        let mut visible = Visible { camera: 0, sun: 0 };
        for instance in &mut self.instances {
            instance.by_camera = camera.touches(&instance.sphere);
            instance.by_sun = instance.casts_shadow && sun.touches(&instance.sphere);
            visible.camera += u32::from(instance.by_camera);
            visible.sun += u32::from(instance.by_sun);
        }
        visible
    }

    /// Whether the camera sees an instance.
    pub fn in_view(&self, index: usize) -> bool {
        self.instances[index].by_camera
    }

    /// Whether the sun sees an instance that casts a shadow.
    pub fn in_sun(&self, index: usize) -> bool {
        self.instances[index].by_sun
    }

    /// Neighbors in this range that are seen and share a mesh.
    pub fn runs(
        &self,
        range: Range<u32>,
        seen: fn(&Self, usize) -> bool,
    ) -> impl Iterator<Item = (&MeshRange, Range<u32>)> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            while at < range.end && !seen(self, at as usize) {
                at += 1;
            }
            let first = at;
            let mesh = self.instances.get(first as usize).filter(|_| first < range.end)?.mesh;
            while at < range.end && seen(self, at as usize) && self.instances[at as usize].mesh == mesh {
                at += 1;
            }
            Some((&self.meshes[mesh as usize], first..at))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    #[test]
    fn runs_hold_exactly_what_is_seen() {
        let scene = Scene::procedural(&SceneOptions::default());
        let mut direct = Direct::new(&scene);
        let camera = Frustum::from_view_projection(&scene.camera.view_projection(16.0 / 9.0));
        let sun = Frustum::from_view_projection(&scene.shadow_view(2048).view_projection);
        let visible = direct.cull(&camera, &sun);
        let count = scene.instances.len() as u32;
        assert!(visible.camera > 0 && visible.camera < count);
        for seen in [Direct::in_view as fn(&Direct, usize) -> bool, Direct::in_sun] {
            let mut found = Vec::new();
            for (mesh, run) in direct.runs(0..count, seen) {
                for index in run {
                    let instance = &scene.instances[index as usize];
                    assert_eq!(*mesh, scene.meshes[instance.mesh as usize]);
                    found.push(index);
                }
            }
            let expected: Vec<u32> = (0..count).filter(|index| seen(&direct, *index as usize)).collect();
            assert_eq!(found, expected);
        }
        assert_eq!(direct.runs(0..0, Direct::in_view).count(), 0);
    }
}
