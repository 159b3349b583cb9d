//! The CPU side of the demo: what is drawn, before any GPU is involved.
//!
//! A [`Scene`] is plain data in the shape that the renderer uploads: one vertex buffer, one index buffer,
//! images with their mips, materials, and instances in draw order. It comes from a glTF file
//! ([`Scene::load`]) or from nothing ([`Scene::procedural`]), and is the same on every run.
//!
//! Invariants, whatever the input: every index stays inside its mesh's vertices, every mesh, material and
//! texture number is valid, positions and transforms are finite, front faces are counter-clockwise, normals
//! and tangents have unit length, and instances are sorted so that each [`Batch`] is one contiguous range.

mod bounds;
mod camera;
mod font;
mod geometry;
mod gpu;
mod hash;
mod image;
mod material;
#[cfg(feature = "program")]
mod model;
mod procedural;
mod shapes;
#[cfg(feature = "program")]
mod stage;
mod textures;

#[cfg(feature = "program")]
use std::path::Path;

use glam::{Mat4, Vec3};

pub use self::bounds::{Aabb, Sphere};
pub use self::camera::{Camera, Frustum, ShadowView, Sun};
pub use self::font::{FontAtlas, GlyphQuad, TextPen};
pub use self::geometry::Vertex;
pub use self::gpu::{CullUniforms, FrameUniforms, GpuInstance, GpuMaterial, OverlayUniforms, PostUniforms};
pub use self::image::{ImageData, ImageKind, MipLevel};
pub use self::material::{AlphaMode, FLAT_NORMAL, Material, MipFilter, SamplerDesc, WHITE, Wrap};

#[cfg(feature = "program")]
use crate::error::DemoError;

/// What a scene is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SceneOptions {
    /// The largest width or height of a texture; larger images are scaled down with a warning.
    pub max_texture_side: u32,
    /// Width over height of the picture, for framing.
    pub aspect: f32,
}

impl Default for SceneOptions {
    fn default() -> Self {
        Self { max_texture_side: 4096, aspect: 16.0 / 9.0 }
    }
}

/// A range of the scene's index buffer: one draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshRange {
    /// The first index.
    pub first_index: u32,
    /// The number of indices, three for each triangle.
    pub index_count: u32,
    /// What is added to each index.
    pub base_vertex: u32,
    /// The box around the range's vertices, in mesh space.
    pub bounds: Aabb,
}

/// One object: a mesh with a material at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Mesh space to world space.
    pub transform: Mat4,
    /// An index into [`Scene::meshes`].
    pub mesh: u32,
    /// An index into [`Scene::materials`].
    pub material: u32,
    /// A sphere around it in world space.
    pub sphere: Sphere,
    /// Whether it is drawn into the shadow map.
    pub casts_shadow: bool,
}

/// A contiguous range of instances that share a material, and so pipeline state and bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// An index into [`Scene::materials`].
    pub material: u32,
    /// The first instance.
    pub first: u32,
    /// The number of instances.
    pub count: u32,
    /// Whether it belongs to the transparent pass. Opaque batches come first.
    pub blended: bool,
    /// Whether back faces are drawn.
    pub double_sided: bool,
}

/// The analytic sky, the fog towards it, and the exposure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sky {
    /// Linear radiance straight up.
    pub zenith: Vec3,
    /// Linear radiance at the horizon.
    pub horizon: Vec3,
    /// Linear radiance from below: what the ground reflects.
    pub ground: Vec3,
    /// The distance at which fog begins.
    pub fog_start: f32,
    /// The distance at which only sky is left.
    pub fog_end: f32,
    /// The multiplier before tone mapping.
    pub exposure: f32,
}

/// Everything that is drawn.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The file's name or `procedural`.
    pub name: String,
    /// All vertices.
    pub vertices: Vec<Vertex>,
    /// All indices, relative to their mesh's base vertex.
    pub indices: Vec<u32>,
    /// The drawable ranges.
    pub meshes: Vec<MeshRange>,
    /// The materials.
    pub materials: Vec<Material>,
    /// The images; the first two are [`WHITE`] and [`FLAT_NORMAL`].
    pub textures: Vec<ImageData>,
    /// The objects in draw order: opaque by state, then blended from back to front.
    pub instances: Vec<Instance>,
    /// The view.
    pub camera: Camera,
    /// The light.
    pub sun: Sun,
    /// What is behind and around.
    pub sky: Sky,
    /// The box around all instances.
    pub bounds: Aabb,
    /// The part whose shadows matter: what the shadow map covers.
    pub shadow_focus: Aabb,
    /// What was left out or changed while loading, one line each.
    pub warnings: Vec<String>,
}

impl Scene {
    /// Loads a glTF or GLB file.
    #[cfg(feature = "program")]
    pub fn load(path: &Path, options: &SceneOptions) -> Result<Self, DemoError> {
        model::load(path, options)
    }

    /// Builds the scene that needs no file.
    pub fn procedural(options: &SceneOptions) -> Self {
        procedural::build(options)
    }

    /// An empty scene with the two built-in textures.
    fn empty(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            vertices: Vec::new(),
            indices: Vec::new(),
            meshes: Vec::new(),
            materials: Vec::new(),
            textures: vec![
                ImageData::solid("white", ImageKind::Linear, [255; 4]),
                ImageData::solid("flat normal", ImageKind::Normal, [128, 128, 255, 255]),
            ],
            instances: Vec::new(),
            camera: Camera { eye: Vec3::Z, target: Vec3::ZERO, fov_y: 0.7, near: 0.1, far: 100.0 },
            sun: Sun { direction: Vec3::Y, color: Vec3::ONE },
            sky: Sky {
                zenith: Vec3::ZERO,
                horizon: Vec3::ZERO,
                ground: Vec3::ZERO,
                fog_start: 1e6,
                fog_end: 2e6,
                exposure: 1.0,
            },
            bounds: Aabb::EMPTY,
            shadow_focus: Aabb::EMPTY,
            warnings: Vec::new(),
        }
    }

    /// Appends a mesh and returns its number. The caller has checked the indices.
    fn add_mesh(&mut self, vertices: &[Vertex], indices: &[u32]) -> u32 {
        let range = MeshRange {
            first_index: self.indices.len() as u32,
            index_count: indices.len() as u32,
            base_vertex: self.vertices.len() as u32,
            bounds: Aabb::around(vertices.iter().map(|v| Vec3::from(v.position))),
        };
        self.vertices.extend_from_slice(vertices);
        self.indices.extend_from_slice(indices);
        self.meshes.push(range);
        (self.meshes.len() - 1) as u32
    }

    /// Appends the same triangles with reversed winding, for transforms that mirror.
    #[cfg(feature = "program")]
    fn add_mirrored_mesh(&mut self, mesh: u32) -> u32 {
        let range = self.meshes[mesh as usize];
        let first = range.first_index as usize;
        let reversed: Vec<u32> = self.indices[first..first + range.index_count as usize]
            .chunks_exact(3)
            .flat_map(|triangle| [triangle[0], triangle[2], triangle[1]])
            .collect();
        self.meshes.push(MeshRange { first_index: self.indices.len() as u32, ..range });
        self.indices.extend_from_slice(&reversed);
        (self.meshes.len() - 1) as u32
    }

    fn add_material(&mut self, material: Material) -> u32 {
        self.materials.push(material);
        (self.materials.len() - 1) as u32
    }

    fn add_texture(&mut self, image: ImageData) -> u32 {
        self.textures.push(image);
        (self.textures.len() - 1) as u32
    }

    fn add_instance(&mut self, mesh: u32, material: u32, transform: Mat4) {
        let bounds = self.meshes[mesh as usize].bounds;
        let casts_shadow = !self.materials[material as usize].is_blended();
        let sphere = Sphere::around(&bounds, &transform);
        self.bounds = self.bounds.union(bounds.transformed(&transform));
        self.instances.push(Instance { transform, mesh, material, sphere, casts_shadow });
    }

    /// Brings the instances into draw order. The camera must be set.
    fn sort_instances(&mut self) {
        let materials = &self.materials;
        let eye = self.camera.eye;
        // Sorting is stable, so equal keys keep the order of creation and the scene stays deterministic.
        self.instances.sort_by(|a, b| {
            let [ma, mb] = [a, b].map(|i| &materials[i.material as usize]);
            ma.is_blended().cmp(&mb.is_blended()).then_with(|| {
                if ma.is_blended() {
                    let [da, db] = [a, b].map(|i| i.sphere.center.distance_squared(eye));
                    db.total_cmp(&da)
                } else {
                    (ma.double_sided, a.material, a.mesh).cmp(&(mb.double_sided, b.material, b.mesh))
                }
            })
        });
    }

    /// The draw order in ranges of equal material, opaque ones first.
    pub fn batches(&self) -> Vec<Batch> {
        let mut batches: Vec<Batch> = Vec::new();
        for (index, instance) in self.instances.iter().enumerate() {
            match batches.last_mut() {
                Some(batch) if batch.material == instance.material => batch.count += 1,
                _ => {
                    let material = &self.materials[instance.material as usize];
                    batches.push(Batch {
                        material: instance.material,
                        first: index as u32,
                        count: 1,
                        blended: material.is_blended(),
                        double_sided: material.double_sided,
                    });
                }
            }
        }
        batches
    }

    /// The sun's view for a shadow map of this resolution.
    pub fn shadow_view(&self, resolution: u32) -> ShadowView {
        let casters = self.instances.iter().filter(|instance| instance.casts_shadow).map(|instance| {
            let Sphere { center, radius } = instance.sphere;
            Aabb { min: center - radius, max: center + radius }
        });
        self.sun.shadow_view(&self.shadow_focus, &casters.fold(Aabb::EMPTY, Aabb::union), resolution)
    }

    /// The number of triangles over all instances, before culling.
    pub fn triangle_count(&self) -> u64 {
        self.instances.iter().map(|i| u64::from(self.meshes[i.mesh as usize].index_count / 3)).sum()
    }
}

#[cfg(all(test, feature = "program"))]
mod tests;
