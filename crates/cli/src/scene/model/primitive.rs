//! One glTF primitive to checked vertices and triangles.

use glam::{Mat3, Mat4, Vec3};
use gltf::{Semantic, mesh::Mode};

use super::accessor::{floats, integers};
use super::source::Source;
use crate::error::DemoError;
use crate::scene::geometry::{self, Vertex};

/// Vertices and triangles whose indices are inside them.
#[derive(Debug)]
pub(super) struct Geometry {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three for each triangle.
    pub indices: Vec<u32>,
}

/// Reads a primitive. `joints` poses it: the matrix of each joint, from bind space to world space.
///
/// Gives nothing for points, lines and primitives without a triangle.
pub(super) fn read(
    source: &Source,
    primitive: &gltf::Primitive<'_>,
    name: &str,
    joints: Option<&[Mat4]>,
    needs_tangents: bool,
    warnings: &mut Vec<String>,
) -> Result<Option<Geometry>, DemoError> {
    let mode = primitive.mode();
    if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
        warnings.push(format!("{name} is made of {mode:?} and is not drawn"));
        return Ok(None);
    }
    let Some(positions) = primitive.get(&Semantic::Positions) else {
        warnings.push(format!("{name} has no positions and is not drawn"));
        return Ok(None);
    };
    let positions = floats::<3>(source, &positions, &format!("{name} POSITION"))?;
    let mut vertices: Vec<Vertex> = positions.iter().map(|p| Vertex::new(Vec3::from(*p), Vec3::Y)).collect();
    let has = Attributes { source, primitive, name, count: vertices.len() };

    let normals = has.floats::<3>(Semantic::Normals, "NORMAL")?;
    for (vertex, normal) in vertices.iter_mut().zip(normals.iter().flatten()) {
        vertex.normal = Vec3::from(*normal).normalize_or(Vec3::Y).into();
    }
    // Tangents only mean something beside the normals that they were made for.
    let tangents = if normals.is_some() { has.floats::<4>(Semantic::Tangents, "TANGENT")? } else { None };
    for (vertex, t) in vertices.iter_mut().zip(tangents.iter().flatten()) {
        let fallback = geometry::any_tangent(vertex.normal.into()).truncate();
        let direction = Vec3::new(t[0], t[1], t[2]).normalize_or(fallback);
        vertex.tangent = direction.extend(if t[3] < 0.0 { -1.0 } else { 1.0 }).into();
    }
    let uvs = has.floats::<2>(Semantic::TexCoords(0), "TEXCOORD_0")?;
    for (vertex, uv) in vertices.iter_mut().zip(uvs.iter().flatten()) {
        vertex.uv = *uv;
    }
    for (vertex, color) in vertices.iter_mut().zip(has.colors()?.iter().flatten()) {
        vertex.color = color.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
    }
    if let Some(joints) = joints {
        pose(&has, &mut vertices, joints)?;
    }

    let mut indices = triangles(mode, has.indices()?);
    if let Some(bad) = indices.iter().find(|index| **index as usize >= vertices.len()) {
        return Err(source.fault(format!("{name}: index {bad} is beyond its {} vertices", vertices.len())));
    }
    if indices.is_empty() {
        warnings.push(format!("{name} has no triangle and is not drawn"));
        return Ok(None);
    }
    if primitive.morph_targets().len() > 0 {
        warnings.push(format!("{name} has morph targets, which are ignored"));
    }
    if normals.is_none() {
        geometry::flatten(&mut vertices, &mut indices);
    }
    if needs_tangents && tangents.is_none() {
        if uvs.is_none() {
            warnings.push(format!("{name} has a normal map but no texture coordinates"));
        }
        geometry::generate_tangents(&mut vertices, &indices);
    }
    Ok(Some(Geometry { vertices, indices }))
}

/// The attributes of a primitive, checked against its number of vertices.
struct Attributes<'a, 'd> {
    source: &'a Source,
    primitive: &'a gltf::Primitive<'d>,
    name: &'a str,
    count: usize,
}

impl Attributes<'_, '_> {
    fn checked<T>(&self, semantic: &str, values: Vec<T>) -> Result<Vec<T>, DemoError> {
        if values.len() == self.count {
            return Ok(values);
        }
        let (name, got, count) = (self.name, values.len(), self.count);
        Err(self.source.fault(format!("{name} {semantic} has {got} elements for {count} vertices")))
    }

    fn floats<const N: usize>(
        &self,
        semantic: Semantic,
        label: &str,
    ) -> Result<Option<Vec<[f32; N]>>, DemoError> {
        let Some(accessor) = self.primitive.get(&semantic) else { return Ok(None) };
        let values = floats::<N>(self.source, &accessor, &format!("{} {label}", self.name))?;
        self.checked(label, values).map(Some)
    }

    fn colors(&self) -> Result<Option<Vec<[f32; 4]>>, DemoError> {
        let Some(accessor) = self.primitive.get(&Semantic::Colors(0)) else { return Ok(None) };
        let what = format!("{} COLOR_0", self.name);
        let values = if accessor.dimensions() == gltf::accessor::Dimensions::Vec3 {
            let opaque = |[r, g, b]: [f32; 3]| [r, g, b, 1.0];
            floats::<3>(self.source, &accessor, &what)?.into_iter().map(opaque).collect()
        } else {
            floats::<4>(self.source, &accessor, &what)?
        };
        self.checked("COLOR_0", values).map(Some)
    }

    fn indices(&self) -> Result<Vec<u32>, DemoError> {
        match self.primitive.indices() {
            Some(accessor) => {
                let values = integers::<1>(self.source, &accessor, &format!("{} indices", self.name))?;
                Ok(values.into_iter().map(|[index]| index).collect())
            }
            None => Ok((0..self.count as u32).collect()),
        }
    }
}

/// The triangles of a list, strip or fan; an incomplete last triangle is left out.
fn triangles(mode: Mode, mut indices: Vec<u32>) -> Vec<u32> {
    match mode {
        // Every second triangle of a strip has its winding turned.
        Mode::TriangleStrip => indices
            .windows(3)
            .enumerate()
            .flat_map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] })
            .collect(),
        Mode::TriangleFan => {
            let Some((hub, rim)) = indices.split_first() else { return Vec::new() };
            rim.windows(2).flat_map(|w| [w[0], w[1], *hub]).collect()
        }
        _ => {
            indices.truncate(indices.len() / 3 * 3);
            indices
        }
    }
}

/// Moves vertices by the weighted sum of their joints' matrices.
fn pose(has: &Attributes<'_, '_>, vertices: &mut [Vertex], joints: &[Mat4]) -> Result<(), DemoError> {
    let (name, source) = (has.name, has.source);
    let numbers = has.primitive.get(&Semantic::Joints(0));
    let Some(numbers) = numbers else {
        return Err(source.fault(format!("{name} is skinned but has no JOINTS_0")));
    };
    let numbers = has.checked("JOINTS_0", integers::<4>(source, &numbers, &format!("{name} JOINTS_0"))?)?;
    let Some(weights) = has.floats::<4>(Semantic::Weights(0), "WEIGHTS_0")? else {
        return Err(source.fault(format!("{name} is skinned but has no WEIGHTS_0")));
    };
    for ((vertex, numbers), weights) in vertices.iter_mut().zip(numbers).zip(weights) {
        let mut matrix = Mat4::ZERO;
        let mut total = 0.0;
        for (number, weight) in numbers.into_iter().zip(weights) {
            if weight == 0.0 {
                continue;
            }
            let Some(joint) = joints.get(number as usize) else {
                let count = joints.len();
                return Err(
                    source.fault(format!("{name} JOINTS_0: joint {number} is beyond the skin's {count}"))
                );
            };
            matrix += *joint * weight;
            total += weight;
        }
        // Exporters round weights, so the sum is near one and is made exact. Without any weight the vertex
        // stays.
        if total <= 0.0 {
            continue;
        }
        matrix *= 1.0 / total;
        let linear = Mat3::from_mat4(matrix);
        vertex.position = matrix.transform_point3(vertex.position.into()).into();
        // The cofactor matrix: the inverse transpose up to a scale, defined for singular matrices too.
        let cofactor = Mat3::from_cols(
            linear.y_axis.cross(linear.z_axis),
            linear.z_axis.cross(linear.x_axis),
            linear.x_axis.cross(linear.y_axis),
        ) * if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
        let normal = (cofactor * Vec3::from(vertex.normal)).normalize_or(Vec3::Y);
        let [x, y, z, sign] = vertex.tangent;
        let tangent = (linear * Vec3::new(x, y, z)).normalize_or(geometry::any_tangent(normal).truncate());
        vertex.normal = normal.into();
        vertex.tangent = tangent.extend(sign).into();
        if !Vec3::from(vertex.position).is_finite() {
            return Err(source.fault(format!("{name}: its pose is not finite")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_become_triangles_of_one_winding() {
        assert_eq!(triangles(Mode::TriangleStrip, vec![0, 1, 2, 3]), [0, 1, 2, 2, 1, 3]);
        assert_eq!(triangles(Mode::TriangleFan, vec![0, 1, 2, 3]), [1, 2, 0, 2, 3, 0]);
        assert_eq!(triangles(Mode::Triangles, vec![0, 1, 2, 3]), [0, 1, 2]);
        assert!(triangles(Mode::TriangleStrip, vec![0, 1]).is_empty());
        assert!(triangles(Mode::TriangleFan, vec![]).is_empty());
    }
}
