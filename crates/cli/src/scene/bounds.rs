//! Boxes and spheres around geometry.

use glam::{Mat4, Vec3};

/// An axis-aligned box; [`Aabb::EMPTY`] holds nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// The smallest corner.
    pub min: Vec3,
    /// The largest corner.
    pub max: Vec3,
}

impl Aabb {
    /// The box that holds nothing; the identity of [`Aabb::union`].
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The smallest box around points.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self { min: b.min.min(p), max: b.max.max(p) })
    }

    /// Whether the box holds no point.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The middle point.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Half of the diagonal: the radius of the sphere around the box.
    pub fn radius(&self) -> f32 {
        if self.is_empty() { 0.0 } else { (self.max - self.min).length() * 0.5 }
    }

    /// The eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
            Vec3::new(
                pick(0, self.min.x, self.max.x),
                pick(1, self.min.y, self.max.y),
                pick(2, self.min.z, self.max.z),
            )
        })
    }

    /// The box around this box after a transform.
    pub fn transformed(&self, transform: &Mat4) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        Self::around(self.corners().map(|corner| transform.transform_point3(corner)))
    }
}

/// A sphere in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sphere {
    /// The middle.
    pub center: Vec3,
    /// The radius.
    pub radius: f32,
}

impl Sphere {
    /// A sphere around a local box after a transform.
    ///
    /// The farthest of the eight corners gives the radius. A transform is affine, so this holds under shear
    /// too, and unlike a box around the rotated box it does not grow under rotation.
    pub fn around(bounds: &Aabb, transform: &Mat4) -> Self {
        let center = transform.transform_point3(bounds.center());
        let radius = bounds
            .corners()
            .into_iter()
            .map(|corner| transform.transform_point3(corner).distance(center))
            .fold(0.0, f32::max);
        Self { center, radius }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sphere_holds_the_sheared_corners() {
        let bounds = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
        let mut shear = Mat4::from_scale(Vec3::new(1.0, 2.0, 0.5));
        shear.y_axis.x = 0.7;
        let sphere = Sphere::around(&bounds, &shear);
        for corner in bounds.corners() {
            assert!(shear.transform_point3(corner).distance(sphere.center) <= sphere.radius + 1e-5);
        }
    }

    #[test]
    fn empty_boxes_vanish_in_unions() {
        let unit = Aabb { min: Vec3::ZERO, max: Vec3::ONE };
        assert_eq!(Aabb::EMPTY.union(unit), unit);
        assert!(Aabb::EMPTY.is_empty() && !unit.is_empty());
        assert!(Aabb::EMPTY.transformed(&Mat4::IDENTITY).is_empty());
    }
}
