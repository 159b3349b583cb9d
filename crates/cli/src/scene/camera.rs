//! Where the scene is seen from and lit from: camera, frustum and the sun's shadow view.
//!
//! The world is right-handed with Y up, as in glTF. Clip space has Y up and depth 0 at the near plane to 1 at
//! the far plane, which glam calls the DirectX convention.

use glam::camera::rh::{proj::directx, view};
use glam::{Mat4, Vec3, Vec4};

use super::bounds::{Aabb, Sphere};

/// A perspective camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// The eye's position.
    pub eye: Vec3,
    /// The point in the middle of the picture.
    pub target: Vec3,
    /// The vertical field of view in radians.
    pub fov_y: f32,
    /// The distance of the near plane.
    pub near: f32,
    /// The distance of the far plane.
    pub far: f32,
}

impl Camera {
    /// A camera that looks along `-direction` at the middle of `bounds`, just far enough to show the whole
    /// box.
    ///
    /// `margin` is the share of the picture left free around it, from 0 to below 1.
    pub fn framing(bounds: &Aabb, direction: Vec3, fov_y: f32, aspect: f32, margin: f32) -> Self {
        let target = bounds.center();
        let direction = direction.normalize_or(Vec3::Z);
        let right = Vec3::Y.cross(direction).normalize_or(Vec3::X);
        let up = direction.cross(right);
        let tangent_y = (fov_y * 0.5).tan() * (1.0 - margin);
        let tangent_x = tangent_y * aspect;
        // A corner is inside the picture when its offset is below its depth times the tangent: solve for the
        // eye.
        let distance = bounds
            .corners()
            .into_iter()
            .map(|corner| {
                let offset = corner - target;
                let sideways = (offset.dot(right).abs() / tangent_x).max(offset.dot(up).abs() / tangent_y);
                offset.dot(direction) + sideways
            })
            .fold(0.0, f32::max);
        let radius = bounds.radius().max(f32::MIN_POSITIVE);
        let distance = distance.max(radius * 0.1);
        Self {
            eye: target + direction * distance,
            target,
            fov_y,
            near: ((distance - radius) * 0.5).max(distance * 0.02),
            far: distance + radius * 14.0,
        }
    }

    /// World space to view space: the eye at the origin, looking along -Z.
    pub fn view(&self) -> Mat4 {
        view::look_at_mat4(self.eye, self.target, Vec3::Y)
    }

    /// View space to clip space.
    pub fn projection(&self, aspect: f32) -> Mat4 {
        directx::perspective(self.fov_y, aspect, self.near, self.far)
    }

    /// World space to clip space.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        self.projection(aspect) * self.view()
    }
}

/// Six planes around what a view sees.
///
/// A plane is `(normal, offset)` with a unit normal that points inside, so `normal . p + offset` is the
/// distance of `p` and is negative outside. The order is left, right, bottom, top, near, far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    /// The planes.
    pub planes: [Vec4; 6],
}

impl Frustum {
    /// The planes of a clip transform with depth 0 to 1, perspective or orthographic.
    pub fn from_view_projection(matrix: &Mat4) -> Self {
        // Each clip inequality, such as -w <= x, is linear in the point: its coefficients are sums of rows.
        let [x, y, z, w] = [matrix.row(0), matrix.row(1), matrix.row(2), matrix.row(3)];
        let planes = [w + x, w - x, w + y, w - y, z, w - z];
        Self { planes: planes.map(|plane| plane / plane.truncate().length()) }
    }

    /// Whether a sphere touches the inside. May say yes just outside of an edge, never no for a visible one.
    pub fn touches(&self, sphere: &Sphere) -> bool {
        self.planes.iter().all(|plane| plane.dot(sphere.center.extend(1.0)) >= -sphere.radius)
    }
}

/// A distant light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// The unit vector from the scene towards the light.
    pub direction: Vec3,
    /// Linear irradiance at a surface that faces the light.
    pub color: Vec3,
}

/// The sun's view of the scene, for its shadow map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShadowView {
    /// World space to the shadow map's clip space.
    pub view_projection: Mat4,
    /// The side of one texel in world units, the larger of both axes.
    pub texel: f32,
}

impl Sun {
    /// An orthographic view that covers `focus` across and all of `casters` in depth.
    ///
    /// `focus` is the part of the scene whose shadows matter; `casters` may reach beyond it towards the sun.
    /// `resolution` is the shadow map's side in texels.
    pub fn shadow_view(&self, focus: &Aabb, casters: &Aabb, resolution: u32) -> ShadowView {
        let up = if self.direction.y.abs() > 0.99 { Vec3::Z } else { Vec3::Y };
        let view = view::look_to_mat4(focus.center(), -self.direction, up);
        let across = focus.transformed(&view);
        let along = casters.union(*focus).transformed(&view);
        // View space looks along -Z: the nearest thing has the largest z. A little slack keeps casters that
        // touch the planes from being clipped.
        let slack = (along.max.z - along.min.z).max(1e-6) * 0.01;
        let (near, far) = (-along.max.z - slack, -along.min.z + slack);
        let size = (across.max - across.min).max(Vec3::splat(1e-6));
        let half = size * 0.5;
        let middle = across.center();
        let projection = directx::orthographic(
            middle.x - half.x,
            middle.x + half.x,
            middle.y - half.y,
            middle.y + half.y,
            near,
            far,
        );
        ShadowView {
            view_projection: projection * view,
            texel: size.x.max(size.y) / resolution.max(1) as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO, fov_y: 1.0, near: 1.0, far: 9.0 }
    }

    #[test]
    fn clip_space_has_y_up_and_depth_zero_to_one() {
        let m = camera().view_projection(2.0);
        assert!((m.project_point3(Vec3::new(0.0, 0.0, 4.0)).z - 0.0).abs() < 1e-5);
        assert!((m.project_point3(Vec3::new(0.0, 0.0, -4.0)).z - 1.0).abs() < 1e-5);
        assert!(m.project_point3(Vec3::Y).y > 0.0);
        assert!(m.project_point3(Vec3::X).x > 0.0);
    }

    #[test]
    fn the_frustum_agrees_with_clip_space() {
        let m = camera().view_projection(1.5);
        let frustum = Frustum::from_view_projection(&m);
        for i in 0..1000u32 {
            let unit = |salt| super::super::hash::unit(i, salt) * 16.0 - 8.0;
            let point = Vec3::new(unit(0), unit(1), unit(2));
            let clip = m * point.extend(1.0);
            let margin = [clip.w - clip.x.abs(), clip.w - clip.y.abs(), clip.z, clip.w - clip.z]
                .into_iter()
                .fold(f32::INFINITY, f32::min);
            if margin.abs() > 1e-3 {
                let seen = frustum.touches(&Sphere { center: point, radius: 0.0 });
                assert_eq!(seen, margin > 0.0, "{point}");
            }
        }
    }

    #[test]
    fn framing_shows_every_corner() {
        let bounds = Aabb { min: Vec3::new(-3.0, 0.0, -1.0), max: Vec3::new(1.0, 2.0, 9.0) };
        for aspect in [0.5, 1.0, 16.0 / 9.0] {
            let camera = Camera::framing(&bounds, Vec3::new(1.0, 0.5, 1.5), 0.6, aspect, 0.1);
            let m = camera.view_projection(aspect);
            let most = bounds
                .corners()
                .into_iter()
                .map(|corner| {
                    let p = m.project_point3(corner);
                    assert!(p.z > 0.0 && p.z < 1.0);
                    p.x.abs().max(p.y.abs())
                })
                .fold(0.0, f32::max);
            assert!((most - 0.9).abs() < 1e-3, "the picture is used up to its margin: {most}");
        }
    }

    #[test]
    fn the_shadow_view_holds_focus_and_casters() {
        let focus = Aabb { min: Vec3::new(-5.0, 0.0, -5.0), max: Vec3::new(5.0, 2.0, 5.0) };
        let casters = focus.union(Aabb { min: Vec3::splat(-9.0), max: Vec3::splat(9.0) });
        for direction in [Vec3::new(-0.7, 0.4, 0.2).normalize(), Vec3::Y] {
            let sun = Sun { direction, color: Vec3::ONE };
            let shadow = sun.shadow_view(&focus, &casters, 1024);
            for corner in focus.corners() {
                let p = shadow.view_projection.project_point3(corner);
                assert!(p.abs().max_element() <= 1.0 + 1e-4 && p.z >= 0.0, "{p}");
            }
            let toward = shadow.view_projection.project_point3(direction);
            let away = shadow.view_projection.project_point3(-direction);
            assert!(toward.z < away.z, "nearer to the sun is nearer in depth");
        }
    }
}
