//! Procedural meshes, each around the origin with a size near one.
//!
//! Round things are lathes: a profile of points and normals turned around Y. All triangles are
//! counter-clockwise from outside, and all vertices have tangents that fit their texture coordinates.

use std::f32::consts::{PI, TAU};

use glam::{Vec2, Vec3};

use super::geometry::{self, Vertex};

/// Vertices and triangles.
pub type Shape = (Vec<Vertex>, Vec<u32>);

/// Triangles over a grid of `columns + 1` by `rows + 1` vertices, stored row by row; `v` grows with the row.
///
/// Front is where columns run right and rows run down.
fn grid(columns: u32, rows: u32, mut vertex: impl FnMut(f32, f32) -> Vertex) -> Shape {
    let mut vertices = Vec::new();
    for row in 0..=rows {
        for column in 0..=columns {
            vertices.push(vertex(column as f32 / columns as f32, row as f32 / rows as f32));
        }
    }
    let mut indices = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let (b, c, d) = (a + 1, a + columns + 1, a + columns + 2);
            // At the poles of a lathe one of both triangles has no area.
            for triangle in [[a, c, d], [a, d, b]] {
                let [p, q, r] = triangle.map(|i| Vec3::from(vertices[i as usize].position));
                if (q - p).cross(r - p).length() > 1e-9 {
                    indices.extend(triangle);
                }
            }
        }
    }
    geometry::generate_tangents(&mut vertices, &indices);
    (vertices, indices)
}

/// Turns a profile around Y: `profile(t)` gives (radius, height) and their outward normal for `t` from top to
/// bottom.
fn lathe(segments: u32, rings: u32, repeat: Vec2, profile: impl Fn(f32) -> (Vec2, Vec2)) -> Shape {
    grid(segments, rings, |u, v| {
        let (point, normal) = profile(v);
        let (sin, cos) = (u * TAU).sin_cos();
        // From +X over -Z: to the right when seen from outside with Y up.
        let around = Vec3::new(cos, 0.0, -sin);
        let place = |p: Vec2| around * p.x + Vec3::Y * p.y;
        Vertex {
            uv: [u * repeat.x, v * repeat.y],
            ..Vertex::new(place(point), place(normal).normalize_or(Vec3::Y))
        }
    })
}

/// A sphere of radius 1.
pub fn sphere(segments: u32, rings: u32) -> Shape {
    lathe(segments, rings, Vec2::new(2.0, 1.0), |t| {
        let (sin, cos) = (t * PI).sin_cos();
        // The sine of a rounded half turn is not quite zero, and a pole must be one point.
        (Vec2::new(sin.max(0.0), cos), Vec2::new(sin.max(0.0), cos))
    })
}

/// A ring around Y: `major` to the middle of the tube, whose radius is `minor`.
pub fn torus(major: f32, minor: f32, segments: u32, rings: u32) -> Shape {
    lathe(segments, rings, Vec2::new(6.0, 2.0), |t| {
        // From the inside over the top, so that rows run down on the outside.
        let (sin, cos) = (PI - t * TAU).sin_cos();
        (Vec2::new(major + minor * cos, minor * sin), Vec2::new(cos, sin))
    })
}

/// A standing cylinder of radius 1 and height 2 whose rims are rounded with radius `bevel`.
pub fn pillar(bevel: f32, segments: u32) -> Shape {
    const ARC: usize = 6;
    let mut profile: Vec<(Vec2, Vec2)> = vec![(Vec2::new(0.0, 1.0), Vec2::Y)];
    for half in [1.0f32, -1.0] {
        for step in 0..=ARC {
            let share = step as f32 / ARC as f32;
            let angle = if half > 0.0 { 1.0 - share } else { -share } * PI * 0.5;
            let normal = Vec2::from_angle(angle);
            profile.push((Vec2::new(1.0 - bevel, half * (1.0 - bevel)) + normal * bevel, normal));
        }
    }
    profile.push((Vec2::new(0.0, -1.0), Vec2::NEG_Y));
    let last = profile.len() - 1;
    let (mut vertices, indices) =
        lathe(segments, last as u32, Vec2::new(3.0, 1.0), |t| profile[(t * last as f32).round() as usize]);
    // The rims have many rows and the sides one: texture coordinates follow the length, not the row.
    let mut length = 0.0;
    for row in 1..=last {
        length += profile[row].0.distance(profile[row - 1].0);
        let columns = segments as usize + 1;
        vertices[row * columns..][..columns].iter_mut().for_each(|vertex| vertex.uv[1] = length * 0.5);
    }
    geometry::generate_tangents(&mut vertices, &indices);
    (vertices, indices)
}

/// A cube of half side 1 whose edges are rounded with radius `bevel`.
pub fn rounded_cube(bevel: f32, steps: u32) -> Shape {
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    for (right, down) in [
        (Vec3::X, Vec3::NEG_Y),
        (Vec3::NEG_X, Vec3::NEG_Y),
        (Vec3::Z, Vec3::NEG_Y),
        (Vec3::NEG_Z, Vec3::NEG_Y),
        (Vec3::X, Vec3::Z),
        (Vec3::X, Vec3::NEG_Z),
    ] {
        let out = right.cross(-down);
        let (face, triangles) = grid(steps, steps, |u, v| {
            // Half of the steps go into the rounded rims.
            let spread = |t: f32| {
                let s = t * 2.0 - 1.0;
                s.signum()
                    * if s.abs() < 0.5 {
                        s.abs() * 2.0 * (1.0 - bevel)
                    } else {
                        1.0 - (1.0 - s.abs()) * 2.0 * bevel
                    }
            };
            let cube = out + right * spread(u) + down * spread(v);
            let core = cube.clamp(Vec3::splat(bevel - 1.0), Vec3::splat(1.0 - bevel));
            let normal = (cube - core).normalize_or(out);
            Vertex { uv: [u, v], ..Vertex::new(core + normal * bevel, normal) }
        });
        let base = vertices.len() as u32;
        vertices.extend(face);
        indices.extend(triangles.into_iter().map(|index| index + base));
    }
    (vertices, indices)
}

/// A cut stone: a flat-shaded solid of two rings of `sides` facets, radius 1.
pub fn gem(sides: u32) -> Shape {
    let rings = [(0.0, 0.62), (0.62, 0.55), (1.0, 0.18), (0.78, -0.35), (0.0, -1.0)];
    let last = rings.len() - 1;
    let (mut vertices, mut indices) = lathe(sides, last as u32, Vec2::ONE, |t| {
        let (radius, height) = rings[(t * last as f32).round() as usize];
        (Vec2::new(radius, height), Vec2::X)
    });
    geometry::flatten(&mut vertices, &mut indices);
    (vertices, indices)
}

/// A tube of radius `thickness` along a (2, 3) torus knot that fits into radius 1.
pub fn knot(thickness: f32, segments: u32, rings: u32) -> Shape {
    let path = |t: f32| {
        let angle = t * TAU;
        let radius = 0.66 + 0.27 * (3.0 * angle).cos();
        Vec3::new(radius * (2.0 * angle).cos(), 0.36 * (3.0 * angle).sin(), radius * (2.0 * angle).sin())
    };
    // Rows go along the path and columns around it; the frame comes from the radial direction, which the path
    // never runs along.
    grid(rings, segments, |u, v| {
        let center = path(v);
        let forward = (path(v + 1e-3) - path(v - 1e-3)).normalize();
        let side = forward.cross(Vec3::new(center.x, center.y * 0.5, center.z)).normalize();
        let up = side.cross(forward);
        let (sin, cos) = (u * TAU).sin_cos();
        let normal = side * cos + up * sin;
        Vertex { uv: [u * 2.0, v * 24.0], ..Vertex::new(center + normal * thickness, normal) }
    })
}

/// A horizontal disc of radius 1 that faces up, with texture coordinates `x` and `z`.
///
/// Rings are denser near the middle, so that interpolation stays precise there when the disc is very large.
pub fn disc(segments: u32, rings: u32) -> Shape {
    let (mut vertices, indices) = lathe(segments, rings, Vec2::ONE, |t| (Vec2::new(t * t, 0.0), Vec2::Y));
    for vertex in &mut vertices {
        vertex.uv = [vertex.position[0], vertex.position[2]];
    }
    geometry::generate_tangents(&mut vertices, &indices);
    (vertices, indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_whole_and_face_outwards() {
        for (name, (vertices, indices)) in [
            ("sphere", sphere(24, 12)),
            ("torus", torus(0.7, 0.3, 24, 12)),
            ("pillar", pillar(0.2, 24)),
            ("cube", rounded_cube(0.2, 8)),
            ("gem", gem(9)),
            ("knot", knot(0.15, 160, 12)),
            ("disc", disc(24, 4)),
        ] {
            assert!(indices.len() % 3 == 0 && !indices.is_empty(), "{name}");
            for triangle in indices.chunks_exact(3) {
                let [a, b, c] = [0, 1, 2].map(|i| vertices[triangle[i] as usize]);
                let [p, q, r] = [a, b, c].map(|v| Vec3::from(v.position));
                let face = (q - p).cross(r - p);
                let normal = Vec3::from(a.normal) + Vec3::from(b.normal) + Vec3::from(c.normal);
                assert!(face.dot(normal) > 0.0, "{name}: a triangle faces inwards at {p}");
            }
            for v in &vertices {
                let [n, t] = [Vec3::from(v.normal), Vec3::new(v.tangent[0], v.tangent[1], v.tangent[2])];
                assert!((n.length() - 1.0).abs() < 1e-3, "{name}: normal {n}");
                assert!((t.length() - 1.0).abs() < 1e-3 && n.dot(t).abs() < 1e-2, "{name}: tangent {t}");
            }
            let volume: f32 = indices
                .chunks_exact(3)
                .map(|t| {
                    let [p, q, r] = [0, 1, 2].map(|i| Vec3::from(vertices[t[i] as usize].position));
                    p.dot(q.cross(r)) / 6.0
                })
                .sum();
            assert!(name == "disc" || volume > 0.1, "{name} has volume {volume}");
        }
    }
}
