//! The scene's data as the shaders read it.
//!
//! Each type mirrors a structure of `shaders/common.wgsl` (or the shader named beside it) field by field.
//! They hold only four-component vectors and matrices, so Rust's layout is WGSL's.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3};

use super::{AlphaMode, Frustum, Instance, Material, Scene, ShadowView};

/// `FrameUniforms` of `common.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct FrameUniforms {
    /// World space to clip space.
    pub view_projection: Mat4,
    /// Clip space to world space.
    pub inverse_view_projection: Mat4,
    /// World space to the shadow map's clip space.
    pub light_view_projection: Mat4,
    /// The eye's position, then the exposure.
    pub eye: [f32; 4],
    /// The direction towards the sun, then the shadow map's texel in world units.
    pub sun_direction: [f32; 4],
    /// The sun's irradiance, then one over the shadow map's side.
    pub sun_color: [f32; 4],
    /// The sky's zenith, then the distance at which fog begins.
    pub sky_zenith: [f32; 4],
    /// The sky's horizon, then the distance at which fog is complete.
    pub sky_horizon: [f32; 4],
    /// The light from below; the last component is free.
    pub sky_ground: [f32; 4],
    /// The picture's size in pixels, then one over it.
    pub viewport: [f32; 4],
}

/// `Instance` of `common.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuInstance {
    /// Mesh space to world space.
    pub model: Mat4,
    /// The bounding sphere in world space: center, radius.
    pub sphere: [f32; 4],
    /// Index count, first index, base vertex, flags ([`GpuInstance::CASTS_SHADOW`],
    /// [`GpuInstance::VISIBLE`]).
    pub draw: [u32; 4],
}

/// `CullUniforms` of `cull.wgsl`: one view to cull for.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct CullUniforms {
    /// The view's planes; see [`Frustum`].
    pub planes: [[f32; 4]; 6],
    /// Instance count, the flags that an instance needs, the view's counter, and zero.
    pub params: [u32; 4],
}

/// `MaterialUniforms` of `common.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuMaterial {
    /// Linear color and alpha.
    pub base_color: [f32; 4],
    /// Emitted light, then the occlusion's strength.
    pub emissive: [f32; 4],
    /// Metallic, roughness, normal scale, alpha cutoff (below zero: no mask).
    pub params: [f32; 4],
    /// `u' = x * u + y * v + z`, then 1 for an unlit material.
    pub uv_row0: [f32; 4],
    /// `v' = x * u + y * v + z`.
    pub uv_row1: [f32; 4],
}

/// `PostUniforms` of `post.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct PostUniforms {
    /// Exposure, bloom threshold, the threshold's soft knee, bloom intensity.
    pub params: [f32; 4],
}

/// `OverlayUniforms` of `overlay.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct OverlayUniforms {
    /// The picture's size in pixels, then one over it.
    pub viewport: [f32; 4],
}

fn with(v: Vec3, w: f32) -> [f32; 4] {
    v.extend(w).into()
}

impl FrameUniforms {
    /// The uniforms of a scene for a picture and a shadow map of these sizes in pixels.
    pub fn new(scene: &Scene, width: u32, height: u32, shadow: &ShadowView, shadow_side: u32) -> Self {
        let (w, h) = (width.max(1) as f32, height.max(1) as f32);
        let view_projection = scene.camera.view_projection(w / h);
        let sky = &scene.sky;
        Self {
            view_projection,
            inverse_view_projection: view_projection.inverse(),
            light_view_projection: shadow.view_projection,
            eye: with(scene.camera.eye, sky.exposure),
            sun_direction: with(scene.sun.direction, shadow.texel),
            sun_color: with(scene.sun.color, 1.0 / shadow_side.max(1) as f32),
            sky_zenith: with(sky.zenith, sky.fog_start),
            sky_horizon: with(sky.horizon, sky.fog_end),
            sky_ground: with(sky.ground, 0.0),
            viewport: [w, h, 1.0 / w, 1.0 / h],
        }
    }
}

impl GpuInstance {
    /// Set for every instance: what the camera's view asks for.
    pub const VISIBLE: u32 = 1;
    /// Set for what is drawn into the shadow map.
    pub const CASTS_SHADOW: u32 = 2;

    /// An instance of a scene.
    pub fn new(scene: &Scene, instance: &Instance) -> Self {
        let mesh = &scene.meshes[instance.mesh as usize];
        let flags = Self::VISIBLE | if instance.casts_shadow { Self::CASTS_SHADOW } else { 0 };
        Self {
            model: instance.transform,
            sphere: with(instance.sphere.center, instance.sphere.radius),
            draw: [mesh.index_count, mesh.first_index, mesh.base_vertex, flags],
        }
    }
}

impl CullUniforms {
    /// A view that keeps instances with all of `flags` and counts them in `counter`.
    pub fn new(frustum: &Frustum, instances: u32, flags: u32, counter: u32) -> Self {
        Self { planes: frustum.planes.map(Into::into), params: [instances, flags, counter, 0] }
    }
}

impl GpuMaterial {
    /// A material's factors.
    pub fn new(material: &Material) -> Self {
        let cutoff = match material.alpha_mode {
            AlphaMode::Mask { cutoff } => cutoff,
            AlphaMode::Opaque | AlphaMode::Blend => -1.0,
        };
        let [[a, b, c], [d, e, f]] = material.uv_transform;
        Self {
            base_color: material.base_color,
            emissive: with(material.emissive.into(), material.occlusion_strength),
            params: [material.metallic, material.roughness, material.normal_scale, cutoff],
            uv_row0: [a, b, c, if material.unlit { 1.0 } else { 0.0 }],
            uv_row1: [d, e, f, 0.0],
        }
    }
}

impl PostUniforms {
    /// The bloom and exposure of a scene.
    pub fn new(scene: &Scene) -> Self {
        Self { params: [scene.sky.exposure, 1.6, 0.8, 0.05] }
    }
}

impl OverlayUniforms {
    /// For a picture of this size in pixels.
    pub fn new(width: u32, height: u32) -> Self {
        let (w, h) = (width.max(1) as f32, height.max(1) as f32);
        Self { viewport: [w, h, 1.0 / w, 1.0 / h] }
    }
}
