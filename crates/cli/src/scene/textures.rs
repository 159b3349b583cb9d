//! Procedural textures. All of them tile.

use glam::Vec3;

use super::hash::{unit, value_noise};
use super::image::{ImageData, ImageKind, encode_srgb};

const SIDE: u32 = 512;
/// Floor tiles along one side of the texture.
const TILES: u32 = 4;

/// The three textures of a surface.
pub struct TextureSet {
    /// sRGB color.
    pub color: ImageData,
    /// Roughness in green, metallic in blue.
    pub metallic_roughness: ImageData,
    /// Tangent-space normals.
    pub normal: ImageData,
}

/// What a height field's slopes mean as a normal, with `scale` texels of height for a height of one.
fn normal_map(name: &str, scale: f32, height: impl Fn(u32, u32) -> f32) -> ImageData {
    let heights: Vec<f32> = (0..SIDE * SIDE).map(|i| height(i % SIDE, i / SIDE)).collect();
    let at = |x: u32, y: u32| heights[((y % SIDE) * SIDE + x % SIDE) as usize];
    ImageData::generate(name, ImageKind::Normal, SIDE, |x, y| {
        let dx = (at(x + 1, y) - at(x + SIDE - 1, y)) * 0.5 * scale;
        let dy = (at(x, y + 1) - at(x, y + SIDE - 1)) * 0.5 * scale;
        // Rows run down and the normal's y runs up.
        let n = Vec3::new(-dx, dy, 1.0).normalize() * 0.5 + 0.5;
        let byte = |v: f32| (v * 255.0 + 0.5) as u8;
        [byte(n.x), byte(n.y), byte(n.z), 255]
    })
}

/// Noise over several octaves, in `0.0..1.0`.
fn fractal(x: u32, y: u32, cells: u32, salt: u32) -> f32 {
    let (u, v) = (x as f32 / SIDE as f32, y as f32 / SIDE as f32);
    let mut sum = 0.0;
    let (mut cells, mut weight) = (cells, 0.5);
    for octave in 0..4 {
        sum += weight * value_noise(u * cells as f32, v * cells as f32, cells, salt + octave);
        cells *= 2;
        weight *= 0.5;
    }
    sum / 0.9375
}

/// A floor of large stone tiles with narrow, bevelled joints.
pub fn floor() -> TextureSet {
    let size = SIDE / TILES;
    let tile = |x: u32, y: u32| (x / size) + (y / size) * TILES;
    // The distance to the nearest joint in texels.
    let edge = |x: u32, y: u32| {
        let inside = |t: u32| (t % size).min(size - 1 - t % size) as f32;
        inside(x).min(inside(y))
    };
    let raised = |x: u32, y: u32| {
        let t = ((edge(x, y) - 0.5) / 3.0).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    TextureSet {
        color: ImageData::generate("floor color", ImageKind::Color, SIDE, |x, y| {
            let shade = 0.25 + 0.06 * unit(tile(x, y), 11) + 0.08 * (fractal(x, y, 8, 21) - 0.5);
            let shade = shade * (0.42 + 0.58 * raised(x, y));
            let warm = 0.96 + 0.08 * unit(tile(x, y), 12);
            [encode_srgb(shade * warm), encode_srgb(shade), encode_srgb(shade / warm * 1.02), 255]
        }),
        metallic_roughness: ImageData::generate("floor roughness", ImageKind::Linear, SIDE, |x, y| {
            let polished = 0.30 + 0.25 * unit(tile(x, y), 13) + 0.25 * fractal(x, y, 16, 31);
            let roughness = 0.95 + (polished - 0.95) * raised(x, y);
            [255, (roughness * 255.0) as u8, 0, 255]
        }),
        normal: normal_map("floor normal", 1.0, |x, y| {
            let (u, v) = (x % size, y % size);
            // Each tile lies a little askew.
            let lean = |salt| (unit(tile(x, y), salt) - 0.5) * 0.02;
            let slope = lean(14) * (u as f32 - size as f32 * 0.5) + lean(15) * (v as f32 - size as f32 * 0.5);
            raised(x, y) * (1.6 + slope) + fractal(x, y, 32, 41) * 0.5
        }),
    }
}

/// Metal beaten with a round hammer: dents over dents.
pub fn hammered() -> TextureSet {
    const DENTS: u32 = 16;
    let cell = SIDE / DENTS;
    // Each cell has one dent somewhere in it; the lowest of the nine nearest ones shows.
    let height = |x: u32, y: u32| {
        let mut lowest = 1.0f32;
        for neighbor in 0..9 {
            let wrap = |i: u32, d: u32| (i + DENTS + d - 1) % DENTS;
            let (cx, cy) = (wrap(x / cell, neighbor % 3), wrap(y / cell, neighbor / 3));
            let id = cx + cy * DENTS;
            let center = |c: u32, salt| (c as f32 + 0.2 + 0.6 * unit(id, salt)) * cell as f32;
            let apart = |a: f32, b: f32| {
                let d = (a - b).abs();
                d.min(SIDE as f32 - d)
            };
            let (dx, dy) = (apart(x as f32, center(cx, 51)), apart(y as f32, center(cy, 52)));
            let distance = (dx * dx + dy * dy).sqrt() / (cell as f32 * (0.8 + 0.4 * unit(id, 53)));
            lowest = lowest.min(distance * distance);
        }
        lowest
    };
    TextureSet {
        color: ImageData::generate("hammered color", ImageKind::Color, SIDE, |x, y| {
            let shade = 0.86 + 0.14 * height(x, y).sqrt();
            [encode_srgb(shade), encode_srgb(shade), encode_srgb(shade), 255]
        }),
        metallic_roughness: ImageData::generate("hammered roughness", ImageKind::Linear, SIDE, |x, y| {
            let roughness = 0.75 + 0.25 * fractal(x, y, 16, 61);
            [255, (roughness * 255.0) as u8, 255, 255]
        }),
        normal: normal_map("hammered normal", cell as f32 * 0.35, height),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_are_deterministic_and_whole() {
        for (a, b) in [(floor(), floor()), (hammered(), hammered())] {
            assert_eq!(a.normal, b.normal);
            for image in [&a.color, &a.metallic_roughness, &a.normal] {
                assert_eq!(image.mips.len(), 10);
            }
            // The average of a tiling height field's normals points up.
            let last = &a.normal.mips[9].data;
            assert!(last[0].abs_diff(128) < 4 && last[1].abs_diff(128) < 4 && last[2] > 250, "{last:?}");
        }
    }
}
