//! Vertices, and the attributes that a mesh may leave out: normals and tangents.
//!
//! Tangents come from the accumulated method: each triangle's derivative of position by texture coordinate,
//! summed at its vertices and made orthogonal to the normal. MikkTSpace, which glTF names for models without
//! tangents, differs in how it splits vertices and weighs angles; it matters for maps baked from a
//! high-polygon mesh, and such models ship their tangents. For tiling maps the two agree, so a new dependency
//! would buy nothing here.

use glam::{Vec2, Vec3, Vec4};

/// One vertex as the vertex buffer holds it: 52 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Vertex {
    /// Location 0: position.
    pub position: [f32; 3],
    /// Location 1: unit normal.
    pub normal: [f32; 3],
    /// Location 2: unit tangent and, in the last component, the sign of the bitangent `cross(normal, tangent)
    /// * w`.
    pub tangent: [f32; 4],
    /// Location 3: texture coordinates; (0, 0) is the corner of the first texel of the first row.
    pub uv: [f32; 2],
    /// Location 4, as `Unorm8x4`: linear color and alpha that multiply the material's.
    pub color: [u8; 4],
}

impl Vertex {
    /// A white vertex without texture coordinates and tangent.
    pub fn new(position: Vec3, normal: Vec3) -> Self {
        Self {
            position: position.into(),
            normal: normal.into(),
            tangent: any_tangent(normal).into(),
            uv: [0.0; 2],
            color: [255; 4],
        }
    }
}

/// Some unit tangent at right angles to a normal.
pub fn any_tangent(normal: Vec3) -> Vec4 {
    let axis = if normal.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
    (axis - normal * normal.dot(axis)).normalize_or(Vec3::X).extend(1.0)
}

/// Gives each triangle three vertices of its own with the triangle's normal.
///
/// glTF asks for flat normals where a primitive has none. A triangle without area faces up.
pub fn flatten(vertices: &mut Vec<Vertex>, indices: &mut [u32]) {
    let mut flat = Vec::with_capacity(indices.len());
    for triangle in indices.chunks_exact_mut(3) {
        let mut corners = [0, 1, 2].map(|i| vertices[triangle[i] as usize]);
        let [a, b, c] = corners.map(|v| Vec3::from(v.position));
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        for (corner, index) in corners.iter_mut().zip(triangle) {
            corner.normal = normal.into();
            corner.tangent = any_tangent(normal).into();
            *index = flat.len() as u32;
            flat.push(*corner);
        }
    }
    *vertices = flat;
}

/// Computes tangents from positions, normals and texture coordinates.
///
/// The bitangent `cross(normal, tangent) * w` points to smaller `v`, which is up in a texture: glTF's
/// convention.
pub fn generate_tangents(vertices: &mut [Vertex], indices: &[u32]) {
    let mut sums = vec![(Vec3::ZERO, Vec3::ZERO); vertices.len()];
    for triangle in indices.chunks_exact(3) {
        let corners = [0, 1, 2].map(|i| vertices[triangle[i] as usize]);
        let [p0, p1, p2] = corners.map(|v| Vec3::from(v.position));
        let [t0, t1, t2] = corners.map(|v| Vec2::from(v.uv));
        let (e1, e2, d1, d2) = (p1 - p0, p2 - p0, t1 - t0, t2 - t0);
        let area = d1.perp_dot(d2);
        if area == 0.0 || !area.is_finite() {
            continue;
        }
        // Without the division by the area each triangle weighs by its size in the texture and in space; only
        // the sign of the area matters for the directions.
        let along_u = (e1 * d2.y - e2 * d1.y) * area.signum();
        let along_v = (e2 * d1.x - e1 * d2.x) * area.signum();
        for index in triangle {
            let sum = &mut sums[*index as usize];
            sum.0 += along_u;
            sum.1 += along_v;
        }
    }
    for (vertex, (along_u, along_v)) in vertices.iter_mut().zip(sums) {
        let normal = Vec3::from(vertex.normal);
        let tangent = (along_u - normal * normal.dot(along_u)).normalize_or_zero();
        vertex.tangent = if tangent == Vec3::ZERO || !tangent.is_finite() {
            any_tangent(normal).into()
        } else {
            let sign = if normal.cross(tangent).dot(along_v) > 0.0 { -1.0 } else { 1.0 };
            tangent.extend(sign).into()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad() -> (Vec<Vertex>, Vec<u32>) {
        let corners =
            [(-1.0, 1.0, 0.0, 0.0), (-1.0, -1.0, 0.0, 1.0), (1.0, -1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.0)];
        let vertices = corners
            .map(|(x, y, u, v)| Vertex { uv: [u, v], ..Vertex::new(Vec3::new(x, y, 0.0), Vec3::Z) })
            .to_vec();
        (vertices, vec![0, 1, 2, 0, 2, 3])
    }

    #[test]
    fn a_plain_quad_has_tangent_x_and_bitangent_y() {
        let (mut vertices, indices) = quad();
        generate_tangents(&mut vertices, &indices);
        assert!(vertices.iter().all(|v| v.tangent == [1.0, 0.0, 0.0, 1.0]));
    }

    #[test]
    fn a_mirrored_quad_has_a_negative_sign() {
        let (mut vertices, indices) = quad();
        vertices.iter_mut().for_each(|v| v.uv[0] = -v.uv[0]);
        generate_tangents(&mut vertices, &indices);
        assert!(vertices.iter().all(|v| v.tangent == [-1.0, 0.0, 0.0, -1.0]));
    }

    #[test]
    fn degenerate_coordinates_still_give_unit_tangents() {
        let (mut vertices, indices) = quad();
        vertices.iter_mut().for_each(|v| v.uv = [0.5, 0.5]);
        generate_tangents(&mut vertices, &indices);
        for v in &vertices {
            let t = Vec4::from(v.tangent).truncate();
            assert!((t.length() - 1.0).abs() < 1e-5 && t.dot(Vec3::from(v.normal)).abs() < 1e-5);
        }
    }

    #[test]
    fn flat_normals_face_the_counter_clockwise_side() {
        let (mut vertices, mut indices) = quad();
        vertices.iter_mut().for_each(|v| v.normal = [0.0; 3]);
        flatten(&mut vertices, &mut indices);
        assert_eq!(vertices.len(), 6);
        assert_eq!(indices, [0, 1, 2, 3, 4, 5]);
        assert!(vertices.iter().all(|v| v.normal == [0.0, 0.0, 1.0]));
    }
}
