//! Vertex formats: each attribute format as the shader sees it, against its definition.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat, VertexAttribute, VertexFormat as V, VertexStepMode};
use purlin_rhi::{ClearValue, ColorAttachment, Device, LoadOp, StoreOp, VertexBufferLayout};

use crate::kit::{Canvas, Checked, Program, Raster, all_of, close, equal, numbers, one_color, perform};
use crate::shaders::vertex_formats::{SHADER, entries};
use crate::{Answer, Outcome};

/// Elements in a buffer: as many as the target is wide.
const COUNT: usize = 8;

/// Feeds eight elements of a format and answers the bytes of the four words that the shader saw of each.
fn fetched<B: Backend>(
    device: &mut Device<B>,
    format: V,
    names: (&str, &str, TextureFormat),
    stride: u64,
    data: &[u8],
) -> Checked<Vec<u8>> {
    let program = Program::new(device, &SHADER, &[names.0, names.1])?;
    let attributes = [VertexAttribute { format, offset: 0, shader_location: 0 }];
    let buffers = [VertexBufferLayout { stride, step: VertexStepMode::Instance, attributes: &attributes }];
    let targets = [Some(names.2.into())];
    let raster = Raster { targets: &targets, vertex_buffers: &buffers, ..Default::default() };
    let pipeline = program.raster(device, names.0, Some(names.1), &raster)?;
    let canvas = Canvas::new(device, COUNT as u32, 1, names.2)?;
    let buffer = device.create_buffer_with("elements", BufferUsages::VERTEX, data)?;
    perform(device, |recorder| {
        let value = match names.2 {
            TextureFormat::Rgba32Uint => ClearValue::Uint([77; 4]),
            TextureFormat::Rgba32Sint => ClearValue::Sint([77; 4]),
            _ => ClearValue::Float([77.0; 4]),
        };
        let colors = [Some(ColorAttachment {
            view: *canvas.view,
            load: LoadOp::Clear(value),
            store: StoreOp::Store,
            resolve: None,
        })];
        recorder.render_pass(&one_color("fetch", &colors), |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_vertex_buffer(0, all_of(*buffer, data.len() as u64));
            pass.draw(0..6, 0..COUNT as u32);
        })?;
        Ok(())
    })?;
    canvas.bytes(device)
}

const FLOATS: (&str, &str, TextureFormat) =
    (entries::FLOAT_ATTRIBUTE, entries::SHOW_FLOATS, TextureFormat::Rgba32Float);
const WORDS: (&str, &str, TextureFormat) =
    (entries::UINT_ATTRIBUTE, entries::SHOW_WORDS, TextureFormat::Rgba32Uint);
const INTEGERS: (&str, &str, TextureFormat) =
    (entries::SINT_ATTRIBUTE, entries::SHOW_INTEGERS, TextureFormat::Rgba32Sint);

/// Elements of `channels` numbers of `width` bytes, padded to a stride that is a multiple of four. The third element
/// is `third`, the others are extremes and a mixture.
fn elements(width: usize, channels: usize, third: u32) -> (u64, Vec<u8>, Vec<Vec<u32>>) {
    let stride = (width * channels).next_multiple_of(4);
    let mut bytes = vec![0xEE; stride * COUNT];
    let mut raw = Vec::new();
    for element in 0..COUNT {
        // Extremes first, then a mixture.
        let number = |channel: usize| -> u32 {
            match element {
                0 => 0,
                1 => u32::MAX,
                2 => third,
                3 => 0x7FFF_FFFF >> (32 - width * 8),
                _ => ((element * 7919 + channel * 104_729) as u32).wrapping_mul(2_654_435_761),
            }
        };
        let mask = u32::MAX >> (32 - width * 8);
        let numbers: Vec<u32> = (0..channels).map(|channel| number(channel) & mask).collect();
        for (channel, number) in numbers.iter().enumerate() {
            let at = element * stride + channel * width;
            bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        }
        raw.push(numbers);
    }
    (stride as u64, bytes, raw)
}

fn signed(value: u32, width: usize) -> i64 {
    let bits = width as u32 * 8;
    i64::from(value) - if value >> (bits - 1) == 1 { 1i64 << bits } else { 0 }
}

/// What is missing of four channels is 0, 0, 0 and 1.
fn filled<T: Copy>(found: &[T], zero: T, one: T) -> [T; 4] {
    std::array::from_fn(|channel| {
        found.get(channel).copied().unwrap_or(if channel == 3 { one } else { zero })
    })
}

pub(crate) fn unsigned_integers<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = [
        (V::Uint8, 1, 1),
        (V::Uint8x2, 1, 2),
        (V::Uint8x4, 1, 4),
        (V::Uint16, 2, 1),
        (V::Uint16x2, 2, 2),
        (V::Uint16x4, 2, 4),
        (V::Uint32, 4, 1),
        (V::Uint32x2, 4, 2),
        (V::Uint32x3, 4, 3),
        (V::Uint32x4, 4, 4),
    ];
    for (format, width, channels) in formats {
        let (stride, bytes, raw) = elements(width, channels, lowest(width));
        let found: Vec<u32> = numbers(&fetched(device, format, WORDS, stride, &bytes)?);
        let expected: Vec<u32> = raw.iter().flat_map(|element| filled(element, 0, 1)).collect();
        equal(format!("{format:?}"), &found, &expected)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn signed_integers<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = [
        (V::Sint8, 1, 1),
        (V::Sint8x2, 1, 2),
        (V::Sint8x4, 1, 4),
        (V::Sint16, 2, 1),
        (V::Sint16x2, 2, 2),
        (V::Sint16x4, 2, 4),
        (V::Sint32, 4, 1),
        (V::Sint32x2, 4, 2),
        (V::Sint32x3, 4, 3),
        (V::Sint32x4, 4, 4),
    ];
    for (format, width, channels) in formats {
        let (stride, bytes, raw) = elements(width, channels, lowest(width));
        let found: Vec<i32> = numbers(&fetched(device, format, INTEGERS, stride, &bytes)?);
        let expected: Vec<i32> = raw
            .iter()
            .flat_map(|element| {
                let signed: Vec<i32> = element.iter().map(|value| signed(*value, width) as i32).collect();
                filled(&signed, 0, 1)
            })
            .collect();
        equal(format!("{format:?}"), &found, &expected)?;
    }
    Ok(Outcome::Passed)
}

/// The most negative number of so many bytes.
fn lowest(width: usize) -> u32 {
    0x8000_0000 >> (32 - width * 8)
}

const NORMALIZED: [(V, usize, usize, bool); 12] = [
    (V::Unorm8, 1, 1, false),
    (V::Unorm8x2, 1, 2, false),
    (V::Unorm8x4, 1, 4, false),
    (V::Unorm16, 2, 1, false),
    (V::Unorm16x2, 2, 2, false),
    (V::Unorm16x4, 2, 4, false),
    (V::Snorm8, 1, 1, true),
    (V::Snorm8x2, 1, 2, true),
    (V::Snorm8x4, 1, 4, true),
    (V::Snorm16, 2, 1, true),
    (V::Snorm16x2, 2, 2, true),
    (V::Snorm16x4, 2, 4, true),
];

/// Compares all normalized formats; the third element is the lowest number plus `third`.
fn compare_normalized<B: Backend>(device: &mut Device<B>, third: u32) -> Answer {
    for (format, width, channels, is_signed) in NORMALIZED {
        let (stride, bytes, raw) = elements(width, channels, lowest(width) + third);
        let most = (1i64 << (width * 8 - usize::from(is_signed))) - 1;
        let value = |raw: &u32| {
            let number = if is_signed { signed(*raw, width) } else { i64::from(*raw) };
            (number as f32 / most as f32).max(-1.0)
        };
        let found: Vec<f32> = numbers(&fetched(device, format, FLOATS, stride, &bytes)?);
        let expected: Vec<f32> = raw
            .iter()
            .flat_map(|element| filled(&element.iter().map(value).collect::<Vec<_>>(), 0.0, 1.0))
            .collect();
        // A division in 32-bit floats.
        close(format!("{format:?}"), &found, &expected, 1e-6)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn normalized<B: Backend>(device: &mut Device<B>) -> Answer {
    compare_normalized(device, 1)
}

pub(crate) fn the_lowest_normalized_number_is_minus_one<B: Backend>(device: &mut Device<B>) -> Answer {
    // There are two numbers for -1: -127 and -128 of eight bits.
    compare_normalized(device, 0)
}

pub(crate) fn floats<B: Backend>(device: &mut Device<B>) -> Answer {
    for (format, channels) in [(V::Float32, 1), (V::Float32x2, 2), (V::Float32x3, 3), (V::Float32x4, 4)] {
        let data: Vec<f32> = (0..COUNT * channels).map(|i| i as f32 * 1.37 - 5.0).collect();
        let found: Vec<f32> =
            numbers(&fetched(device, format, FLOATS, channels as u64 * 4, bytemuck::cast_slice(&data))?);
        let expected: Vec<f32> =
            data.chunks_exact(channels).flat_map(|element| filled(element, 0.0, 1.0)).collect();
        equal(format!("{format:?}"), &found, &expected)?;
    }
    // 0, 1, -2.5, 1000, 65504, 2^-14, 0.333251953125 and -0.
    let halves: [(u16, f32); 8] = [
        (0, 0.0),
        (0x3C00, 1.0),
        (0xC100, -2.5),
        (0x63D0, 1000.0),
        (0x7BFF, 65504.0),
        (0x0400, 6.103_515_6e-5),
        (0x3555, 0.333_251_95),
        (0x8000, -0.0),
    ];
    for (format, channels) in [(V::Float16, 1usize), (V::Float16x2, 2), (V::Float16x4, 4)] {
        let stride = (channels * 2).next_multiple_of(4);
        let mut bytes = vec![0; stride * COUNT];
        let mut expected = Vec::new();
        for element in 0..COUNT {
            let chosen: Vec<(u16, f32)> =
                (0..channels).map(|channel| halves[(element + channel) % 8]).collect();
            for (channel, (half, _)) in chosen.iter().enumerate() {
                bytes[element * stride + channel * 2..][..2].copy_from_slice(&half.to_le_bytes());
            }
            let values: Vec<f32> = chosen.iter().map(|(_, value)| *value).collect();
            expected.extend(filled(&values, 0.0, 1.0));
        }
        let found: Vec<f32> = numbers(&fetched(device, format, FLOATS, stride as u64, &bytes)?);
        equal(format!("{format:?}"), &found, &expected)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c041_unorm10_10_10_2<B: Backend>(device: &mut Device<B>) -> Answer {
    let words: [u32; 8] =
        [0x0000_03FF, 0x000F_FC00, 0x3FF0_0000, 0xC000_0000, 0x4000_0200, 0, u32::MAX, 0x8000_0000];
    let found: Vec<f32> =
        numbers(&fetched(device, V::Unorm10_10_10_2, FLOATS, 4, bytemuck::cast_slice(&words))?);
    let third = 1.0 / 3.0;
    #[rustfmt::skip]
    let expected = [
        1.0, 0.0, 0.0, 0.0,
        0.0, 1.0, 0.0, 0.0,
        0.0, 0.0, 1.0, 0.0,
        0.0, 0.0, 0.0, 1.0,
        512.0 / 1023.0, 0.0, 0.0, third,
        0.0, 0.0, 0.0, 0.0,
        1.0, 1.0, 1.0, 1.0,
        0.0, 0.0, 0.0, 2.0 * third,
    ];
    close("unorm10-10-10-2", &found, &expected, 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn unorm8x4_bgra<B: Backend>(device: &mut Device<B>) -> Answer {
    let bytes: Vec<u8> = (0..32).map(|i| i * 8).collect();
    let found: Vec<f32> = numbers(&fetched(device, V::Unorm8x4Bgra, FLOATS, 4, &bytes)?);
    let expected: Vec<f32> = bytes
        .chunks_exact(4)
        .flat_map(|texel| [texel[2], texel[1], texel[0], texel[3]].map(|byte| f32::from(byte) / 255.0))
        .collect();
    close("unorm8x4-bgra", &found, &expected, 1e-6)?;
    Ok(Outcome::Passed)
}
