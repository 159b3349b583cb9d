//! What blocks of compressed texels mean, by the formats' definitions.
//!
//! BC1 to BC5 and EAC are decoded here, in numbers rather than bytes. Formats of many modes are left to decoders that
//! other projects keep: `bcdec_rs` for BC6H and BC7, `texture2ddecoder` for ETC2 and ASTC.

use purlin_rhi::types::TextureFormat as T;
use wgpu_types::{AstcBlock, AstcChannel};

/// A texel as a shader reads it.
pub(crate) type Texel = [f64; 4];

/// Every format of BC.
pub(super) const BC: [T; 14] = [
    T::Bc1RgbaUnorm,
    T::Bc1RgbaUnormSrgb,
    T::Bc2RgbaUnorm,
    T::Bc2RgbaUnormSrgb,
    T::Bc3RgbaUnorm,
    T::Bc3RgbaUnormSrgb,
    T::Bc4RUnorm,
    T::Bc4RSnorm,
    T::Bc5RgUnorm,
    T::Bc5RgSnorm,
    T::Bc6hRgbUfloat,
    T::Bc6hRgbFloat,
    T::Bc7RgbaUnorm,
    T::Bc7RgbaUnormSrgb,
];

/// Every format of ETC2 and EAC.
pub(super) const ETC2: [T; 10] = [
    T::Etc2Rgb8Unorm,
    T::Etc2Rgb8UnormSrgb,
    T::Etc2Rgb8A1Unorm,
    T::Etc2Rgb8A1UnormSrgb,
    T::Etc2Rgba8Unorm,
    T::Etc2Rgba8UnormSrgb,
    T::EacR11Unorm,
    T::EacR11Snorm,
    T::EacRg11Unorm,
    T::EacRg11Snorm,
];

const ASTC_BLOCKS: [AstcBlock; 14] = [
    AstcBlock::B4x4,
    AstcBlock::B5x4,
    AstcBlock::B5x5,
    AstcBlock::B6x5,
    AstcBlock::B6x6,
    AstcBlock::B8x5,
    AstcBlock::B8x6,
    AstcBlock::B8x8,
    AstcBlock::B10x5,
    AstcBlock::B10x6,
    AstcBlock::B10x8,
    AstcBlock::B10x10,
    AstcBlock::B12x10,
    AstcBlock::B12x12,
];

/// Every format of ASTC but those of high dynamic range.
pub(super) fn astc() -> Vec<T> {
    let channels = [AstcChannel::Unorm, AstcChannel::UnormSrgb];
    channels.into_iter().flat_map(|channel| ASTC_BLOCKS.map(|block| T::Astc { block, channel })).collect()
}

/// The texels of a block, row by row.
pub(super) fn decode(format: T, block: &[u8]) -> Vec<Texel> {
    let texels = match format.remove_srgb_suffix() {
        // A texel is a block of one.
        T::Rgba8Unorm => vec![unorm([block[0], block[1], block[2], block[3]])],
        T::Bgra8Unorm => vec![unorm([block[2], block[1], block[0], block[3]])],
        T::Bc1RgbaUnorm => color(block, true).to_vec(),
        T::Bc2RgbaUnorm => with_alpha(color(&block[8..], false), explicit_alpha(block)),
        T::Bc3RgbaUnorm => with_alpha(color(&block[8..], false), ramp(block, false)),
        T::Bc4RUnorm => red(ramp(block, false)),
        T::Bc4RSnorm => red(ramp(block, true)),
        T::Bc5RgUnorm => red_green(ramp(block, false), ramp(&block[8..], false)),
        T::Bc5RgSnorm => red_green(ramp(block, true), ramp(&block[8..], true)),
        T::Bc6hRgbUfloat => floats(block, false),
        T::Bc6hRgbFloat => floats(block, true),
        T::Bc7RgbaUnorm => {
            let mut bytes = [0; 64];
            bcdec_rs::bc7(block, &mut bytes, 16);
            bytes.chunks_exact(4).map(|texel| unorm([texel[0], texel[1], texel[2], texel[3]])).collect()
        }
        T::Etc2Rgb8Unorm => packed(4, 4, |out| texture2ddecoder::decode_etc2_rgb_block(block, out)),
        T::Etc2Rgb8A1Unorm => packed(4, 4, |out| texture2ddecoder::decode_etc2_rgba1_block(block, out)),
        T::Etc2Rgba8Unorm => packed(4, 4, |out| texture2ddecoder::decode_etc2_rgba8_block(block, out)),
        T::EacR11Unorm => red(eac(block, false)),
        T::EacR11Snorm => red(eac(block, true)),
        T::EacRg11Unorm => red_green(eac(block, false), eac(&block[8..], false)),
        T::EacRg11Snorm => red_green(eac(block, true), eac(&block[8..], true)),
        other => {
            let (width, height) = other.block_dimensions();
            let (width, height) = (width as usize, height as usize);
            packed(width, height, |out| texture2ddecoder::decode_astc_block(block, width, height, out))
        }
    };
    if !format.is_srgb() {
        return texels;
    }
    texels.into_iter().map(|[r, g, b, a]| [from_srgb(r), from_srgb(g), from_srgb(b), a]).collect()
}

/// How far a texel may be off: decoders may interpolate and keep results with no more bits than the format asks for.
pub(super) fn tolerance(format: T, value: f64) -> f64 {
    match format.remove_srgb_suffix() {
        // Direct3D allows 3 % of the ends' difference besides a step of eight bits, and hardware uses it: an NVIDIA H200 is
        // off by five steps of 255.
        T::Bc1RgbaUnorm | T::Bc2RgbaUnorm | T::Bc3RgbaUnorm => steps(format, 1.1 + 0.03 * 255.0),
        T::Bc4RUnorm | T::Bc5RgUnorm => 1.1 / 255.0 + 0.03,
        T::Bc4RSnorm | T::Bc5RgSnorm => 1.1 / 127.0 + 0.06,
        T::Bc6hRgbUfloat | T::Bc6hRgbFloat => value.abs() / 512.0 + 1e-6,
        T::EacR11Unorm | T::EacRg11Unorm | T::EacR11Snorm | T::EacRg11Snorm => 1.1 / 1023.0,
        T::Astc { .. } => steps(format, 1.6),
        _ => steps(format, 0.6),
    }
}

/// So many parts of 255, more of them where sRGB is steep.
fn steps(format: T, count: f64) -> f64 {
    count * if format.is_srgb() { 2.5 } else { 1.0 } / 255.0
}

/// Blocks of any bits that the format allows, different for each seed.
pub(super) fn sample(format: T, seed: u32) -> Vec<u8> {
    let bytes = format.block_copy_size(None).unwrap_or(16) as usize;
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let mut block: Vec<u8> = (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        })
        .collect();
    match format.remove_srgb_suffix() {
        // The eight modes in turn: the mode is the number of zeros below the first one.
        T::Bc7RgbaUnorm => {
            let mode = seed % 8;
            block[0] = (u32::from(block[0]) << (mode + 1)) as u8 | 1 << mode;
        }
        // The fourteen modes in turn, two of them of two bits.
        T::Bc6hRgbUfloat | T::Bc6hRgbFloat => {
            const MODES: [u8; 14] = [0, 1, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15];
            let mode = MODES[seed as usize % 14];
            let kept = if mode < 2 { !3 } else { !31 };
            block[0] = block[0] & kept | mode;
        }
        T::Astc { .. } if seed.is_multiple_of(4) => {
            // One color for the whole block: sixteen bits a channel, no extent, low dynamic range.
            block[..8].copy_from_slice(&[0xFC, 0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        }
        T::Astc { .. } => {
            // Four by four weights of three bits in one plane, one partition, and endpoints of luminance, color, or color
            // and alpha: whatever other bits there are, such a block is legal.
            let endpoints = [0, 8, 12][seed as usize % 4 - 1];
            let head = 0x053 | endpoints << 13;
            block[0] = head as u8;
            block[1] = (head >> 8) as u8;
            block[2] = block[2] & 0xFE | (head >> 16) as u8;
        }
        _ => {}
    }
    block
}

fn unorm(texel: [u8; 4]) -> Texel {
    texel.map(|byte| f64::from(byte) / 255.0)
}

/// The electro-optical function of sRGB.
fn from_srgb(encoded: f64) -> f64 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// Colors of eight bits as one word a texel, blue lowest.
fn packed(width: usize, height: usize, decode: impl FnOnce(&mut [u32])) -> Vec<Texel> {
    let mut out = vec![0; width * height];
    decode(&mut out);
    out.into_iter().map(|word| word.to_le_bytes()).map(|[b, g, r, a]| unorm([r, g, b, a])).collect()
}

fn red(values: [f64; 16]) -> Vec<Texel> {
    values.map(|value| [value, 0.0, 0.0, 1.0]).to_vec()
}

fn red_green(red: [f64; 16], green: [f64; 16]) -> Vec<Texel> {
    std::array::from_fn::<_, 16, _>(|i| [red[i], green[i], 0.0, 1.0]).to_vec()
}

fn with_alpha(colors: [Texel; 16], alpha: [f64; 16]) -> Vec<Texel> {
    std::array::from_fn::<_, 16, _>(|i| [colors[i][0], colors[i][1], colors[i][2], alpha[i]]).to_vec()
}

fn floats(block: &[u8], signed: bool) -> Vec<Texel> {
    let mut out = [0f32; 48];
    bcdec_rs::bc6h_float(block, &mut out, 12, signed);
    out.chunks_exact(3).map(|texel| [texel[0], texel[1], texel[2], 1.0].map(f64::from)).collect()
}

/// Two colors of 5, 6 and 5 bits, and an index of two bits a texel into the line between them.
///
/// In BC1 the order of the colors chooses the palette: two colors between them, or the middle and transparent black.
fn color(block: &[u8], may_be_transparent: bool) -> [Texel; 16] {
    let words = [u16::from_le_bytes([block[0], block[1]]), u16::from_le_bytes([block[2], block[3]])];
    let [a, b] = words.map(|word| {
        let part =
            |shift: u32, bits: u32| f64::from(word >> shift & ((1 << bits) - 1)) / f64::from((1 << bits) - 1);
        [part(11, 5), part(5, 6), part(0, 5)]
    });
    let mix = |part: f64| -> Texel {
        let channel = |c: usize| a[c] + (b[c] - a[c]) * part;
        [channel(0), channel(1), channel(2), 1.0]
    };
    let palette = if words[0] > words[1] || !may_be_transparent {
        [mix(0.0), mix(1.0), mix(1.0 / 3.0), mix(2.0 / 3.0)]
    } else {
        [mix(0.0), mix(1.0), mix(0.5), [0.0; 4]]
    };
    std::array::from_fn(|i| palette[usize::from(block[4 + i / 4] >> (i % 4 * 2) & 3)])
}

/// Four bits a texel.
fn explicit_alpha(block: &[u8]) -> [f64; 16] {
    std::array::from_fn(|i| f64::from(block[i / 2] >> (i % 2 * 4) & 15) / 15.0)
}

/// Two values of eight bits, and an index of three bits a texel: six values between them, or four, the least and the
/// greatest.
fn ramp(block: &[u8], signed: bool) -> [f64; 16] {
    let value = |byte: u8| match signed {
        false => f64::from(byte) / 255.0,
        true => (f64::from(byte as i8) / 127.0).max(-1.0),
    };
    let longer = if signed { block[0] as i8 > block[1] as i8 } else { block[0] > block[1] };
    let (a, b) = (value(block[0]), value(block[1]));
    let mix = |part: f64| a + (b - a) * part;
    let least = if signed { -1.0 } else { 0.0 };
    let palette: [f64; 8] = std::array::from_fn(|i| match (longer, i) {
        (_, 0) => a,
        (_, 1) => b,
        (true, i) => mix((i - 1) as f64 / 7.0),
        (false, 6) => least,
        (false, 7) => 1.0,
        (false, i) => mix((i - 1) as f64 / 5.0),
    });
    let indices = block[2..8].iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    std::array::from_fn(|i| palette[(indices >> (i * 3) & 7) as usize])
}

/// How far from the base each index of a table goes.
const EAC_TABLES: [[i32; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// A base of eight bits, a multiplier, a table, and an index of three bits a texel, column by column.
fn eac(block: &[u8], signed: bool) -> [f64; 16] {
    let multiplier = i32::from(block[1] >> 4);
    let table = EAC_TABLES[usize::from(block[1] & 15)];
    let scale = if multiplier == 0 { 1 } else { multiplier * 8 };
    let indices = block[2..8].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    std::array::from_fn(|i| {
        let (x, y) = (i % 4, i / 4);
        let step = table[(indices >> (45 - (x * 4 + y) * 3) & 7) as usize] * scale;
        match signed {
            false => f64::from((i32::from(block[0]) * 8 + 4 + step).clamp(0, 2047)) / 2047.0,
            true => {
                let base = i32::from(block[0] as i8).max(-127);
                f64::from((base * 8 + step).clamp(-1023, 1023)) / 1023.0
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texels 0 to 3 have the indices 0 to 3, or the first eight of three bits 0 to 7.
    const TWO_BITS: [u8; 4] = [0b1110_0100, 0, 0, 0];
    const THREE_BITS: [u8; 6] = [0b1000_1000, 0b1100_0110, 0b1111_1010, 0, 0, 0];

    fn near(found: &[Texel], expected: &[Texel]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}, {expected:?}");
        }
    }

    #[test]
    fn bc1_has_two_palettes() {
        // Red above blue: thirds between them. Blue above red: the middle, and nothing.
        let block = |words: [u16; 2]| [&words.map(u16::to_le_bytes).concat()[..], &TWO_BITS].concat();
        let (red, blue) = ([1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]);
        let third = 1.0 / 3.0;
        let thirds = [[1.0 - third, 0.0, third, 1.0], [third, 0.0, 1.0 - third, 1.0]];
        near(&decode(T::Bc1RgbaUnorm, &block([0xF800, 0x001F])), &[red, blue, thirds[0], thirds[1]]);
        let half = [0.5, 0.0, 0.5, 1.0];
        near(&decode(T::Bc1RgbaUnorm, &block([0x001F, 0xF800])), &[blue, red, half, [0.0; 4]]);
        // BC2 and BC3 have the first palette only.
        let opaque = [&[0xFF; 8][..], &block([0x001F, 0xF800])].concat();
        near(&decode(T::Bc2RgbaUnorm, &opaque)[2..], &[thirds[1], thirds[0]]);
    }

    #[test]
    fn ramps_have_two_palettes() {
        let block = |a, b| [&[a, b][..], &THREE_BITS].concat();
        let first = |format, block: &[u8]| {
            decode(format, block).into_iter().map(|texel| texel[0]).collect::<Vec<_>>()
        };
        let close = |found: Vec<f64>, expected: [f64; 8]| {
            let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(near, "{found:?}, {expected:?}");
        };
        let sevenths = [1.0, 0.0, 6.0 / 7.0, 5.0 / 7.0, 4.0 / 7.0, 3.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0];
        close(first(T::Bc4RUnorm, &block(255, 0)), sevenths);
        close(first(T::Bc4RUnorm, &block(0, 255)), [0.0, 1.0, 0.2, 0.4, 0.6, 0.8, 0.0, 1.0]);
        // -128 and -127 both mean -1, and the shorter palette ends with -1 and 1.
        close(first(T::Bc4RSnorm, &block(0x80, 0x7F)), [-1.0, 1.0, -0.6, -0.2, 0.2, 0.6, -1.0, 1.0]);
    }

    #[test]
    fn eac_goes_column_by_column() {
        // Base 128, multiplier 1, table 13. The first index, of column 0 and row 0, is 7; the second, of row 1, is 3.
        let block = [128, 0x1D, 0b1110_1100, 0, 0, 0, 0, 0];
        let found = decode(T::EacR11Unorm, &block);
        let at = |value: i32| f64::from(value) / 2047.0;
        assert_eq!((found[0][0], found[4][0], found[1][0]), (at(1028 + 72), at(1028 - 80), at(1028 - 8)));
        // Without a multiplier the steps are single ones.
        assert_eq!(decode(T::EacR11Snorm, &[0, 0x0D, 0xE0, 0, 0, 0, 0, 0])[0][0], 9.0 / 1023.0);
    }

    #[test]
    fn our_decoders_agree_with_others() {
        for seed in 0..200 {
            for format in [T::Bc1RgbaUnorm, T::Bc2RgbaUnorm, T::Bc3RgbaUnorm] {
                let block = sample(format, seed);
                let mut bytes = [0; 64];
                match format {
                    T::Bc1RgbaUnorm => bcdec_rs::bc1(&block, &mut bytes, 16),
                    T::Bc2RgbaUnorm => bcdec_rs::bc2(&block, &mut bytes, 16),
                    _ => bcdec_rs::bc3(&block, &mut bytes, 16),
                }
                for (found, theirs) in decode(format, &block).iter().zip(bytes.chunks_exact(4)) {
                    let theirs = unorm([theirs[0], theirs[1], theirs[2], theirs[3]]);
                    let near = (0..4).all(|c| (found[c] - theirs[c]).abs() <= tolerance(format, found[c]));
                    assert!(near, "{format:?}, {block:02X?}: {found:?}, {theirs:?}");
                }
            }
        }
    }

    #[test]
    fn samples_of_astc_are_legal() {
        // What no decoder understands is magenta.
        let magenta = [1.0, 0.0, 1.0, 1.0];
        for format in astc() {
            for seed in 0..32 {
                let texels = decode(format, &sample(format, seed));
                assert!(!texels.iter().all(|texel| *texel == magenta), "{format:?}, seed {seed}");
            }
        }
    }
}
