//! A cubemap from a file, sampled face by face and compared with decoded blocks.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat};
use purlin_rhi::{BindGroupEntry, Device, SamplerDesc, TextureView};

use crate::Failure;
use crate::compressed::{decoded, expect};
use crate::kit::{Kernel, numbers};
use crate::shaders::sampling::{Probe, SHADER, entries};

/// How many texels of a side are looked at; a prime, so that they lie everywhere within their blocks.
const PLACES: u32 = 37;

/// Samples texels of every face of a cube view by directions, each at a texel's center, and compares them with what the
/// blocks decode to. `blocks` are those of the six faces; `side` is the texels of a face's side.
///
/// # Errors
/// A refused call, and the first texel that is another.
pub fn faces_are_sampled<B: Backend>(
    device: &mut Device<B>,
    view: TextureView,
    format: TextureFormat,
    side: u32,
    blocks: &[u8],
) -> Result<(), Failure> {
    for face in 0..6 {
        let mut probes = Vec::new();
        let mut expected = Vec::new();
        let texels = decoded(format, [side, side, 6], blocks, face);
        for row in 0..PLACES {
            for column in 0..PLACES {
                let (x, y) = (column * side / PLACES, row * side / PLACES);
                probes.push(Probe::new(direction(face, center(x, side), center(y, side)), 0.0));
                expected.push(texels[(y * side + x) as usize]);
            }
        }
        let places =
            device.create_buffer_with("probes", BufferUsages::STORAGE, bytemuck::cast_slice(&probes))?;
        let sampler = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
        let bytes = Kernel {
            source: &SHADER,
            entry: entries::SAMPLE_CUBE,
            bytes: probes.len() as u64 * 16,
            groups: [probes.len() as u32, 1, 1],
            inputs: &[
                BindGroupEntry::buffer(1, *places),
                BindGroupEntry::sampler(2, *sampler),
                BindGroupEntry::texture(3, view),
            ],
            uses: &[],
        }
        .run(device)?;
        let found: Vec<[f64; 4]> =
            numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect();
        expect(&format!("face {face}"), format, &found, &expected)?;
    }
    Ok(())
}

/// The texels of a face as eight bits a channel, sRGB formats as they are encoded, row 0 first.
pub fn face_bytes(format: TextureFormat, side: u32, blocks: &[u8], face: u32) -> Vec<[u8; 4]> {
    let encoded = format.remove_srgb_suffix();
    let texels = decoded(encoded, [side, side, 6], blocks, face);
    texels.into_iter().map(|texel| texel.map(|value| (value * 255.0).round() as u8)).collect()
}

/// From -1 to 1, right or down.
fn center(texel: u32, side: u32) -> f32 {
    (texel as f32 + 0.5) / side as f32 * 2.0 - 1.0
}

/// The direction of a place on a face: its faces in order +X, -X, +Y, -Y, +Z, -Z, seen from inside.
fn direction(face: u32, right: f32, down: f32) -> [f32; 3] {
    match face {
        0 => [1.0, -down, -right],
        1 => [-1.0, -down, right],
        2 => [right, 1.0, down],
        3 => [right, -1.0, -down],
        4 => [right, -down, 1.0],
        _ => [-right, -down, -1.0],
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn directions_are_those_of_cube_maps() {
        let corner = |face| super::direction(face, -1.0, -1.0);
        let expected = [
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, -1.0],
            [-1.0, 1.0, -1.0],
            [-1.0, -1.0, 1.0],
            [-1.0, 1.0, 1.0],
            [1.0, 1.0, -1.0],
        ];
        assert_eq!([0, 1, 2, 3, 4, 5].map(corner), expected);
    }
}
