//! Texels by the definition of their formats: what bytes mean, and how exactly a value can be stored.
//!
//! Written from the formats' definitions, and apart from the library's own tables on purpose.

use purlin_rhi::types::TextureFormat as T;

/// What the bits of a channel mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Float,
}

/// Where the channels lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Channels of equal width, red first.
    Even,
    /// Eight bits each, blue first.
    Bgra,
    /// Ten, ten, ten and two bits of one word, red lowest.
    Rgb10a2,
    /// Unsigned floats of 11, 11 and 10 bits.
    Rg11b10,
    /// Mantissas of nine bits with one exponent of five.
    Rgb9e5,
}

/// The definition of a color format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Codec {
    pub kind: Kind,
    pub channels: usize,
    bits: u32,
    srgb: bool,
    form: Form,
}

/// Every color format that is neither compressed nor planar nor of 64 bits.
pub(super) const COLORS: [T; 43] = [
    T::R8Unorm,
    T::R8Snorm,
    T::R8Uint,
    T::R8Sint,
    T::R16Uint,
    T::R16Sint,
    T::R16Unorm,
    T::R16Snorm,
    T::R16Float,
    T::Rg8Unorm,
    T::Rg8Snorm,
    T::Rg8Uint,
    T::Rg8Sint,
    T::R32Uint,
    T::R32Sint,
    T::R32Float,
    T::Rg16Uint,
    T::Rg16Sint,
    T::Rg16Unorm,
    T::Rg16Snorm,
    T::Rg16Float,
    T::Rgba8Unorm,
    T::Rgba8UnormSrgb,
    T::Rgba8Snorm,
    T::Rgba8Uint,
    T::Rgba8Sint,
    T::Bgra8Unorm,
    T::Bgra8UnormSrgb,
    T::Rgb9e5Ufloat,
    T::Rgb10a2Uint,
    T::Rgb10a2Unorm,
    T::Rg11b10Ufloat,
    T::Rg32Uint,
    T::Rg32Sint,
    T::Rg32Float,
    T::Rgba16Uint,
    T::Rgba16Sint,
    T::Rgba16Unorm,
    T::Rgba16Snorm,
    T::Rgba16Float,
    T::Rgba32Uint,
    T::Rgba32Sint,
    T::Rgba32Float,
];

/// Every format with depth or stencil.
pub(super) const DEPTH_STENCILS: [T; 6] = [
    T::Depth16Unorm,
    T::Depth24Plus,
    T::Depth24PlusStencil8,
    T::Depth32Float,
    T::Depth32FloatStencil8,
    T::Stencil8,
];

impl Codec {
    /// The definition of a color format.
    pub fn of(format: T) -> Option<Self> {
        use Kind::{Float, Sint, Snorm, Uint, Unorm};
        let even = |channels, bits, kind| Some(Self { kind, channels, bits, srgb: false, form: Form::Even });
        match format {
            T::R8Unorm => even(1, 8, Unorm),
            T::R8Snorm => even(1, 8, Snorm),
            T::R8Uint => even(1, 8, Uint),
            T::R8Sint => even(1, 8, Sint),
            T::R16Unorm => even(1, 16, Unorm),
            T::R16Snorm => even(1, 16, Snorm),
            T::R16Uint => even(1, 16, Uint),
            T::R16Sint => even(1, 16, Sint),
            T::R16Float => even(1, 16, Float),
            T::R32Uint => even(1, 32, Uint),
            T::R32Sint => even(1, 32, Sint),
            T::R32Float => even(1, 32, Float),
            T::Rg8Unorm => even(2, 8, Unorm),
            T::Rg8Snorm => even(2, 8, Snorm),
            T::Rg8Uint => even(2, 8, Uint),
            T::Rg8Sint => even(2, 8, Sint),
            T::Rg16Unorm => even(2, 16, Unorm),
            T::Rg16Snorm => even(2, 16, Snorm),
            T::Rg16Uint => even(2, 16, Uint),
            T::Rg16Sint => even(2, 16, Sint),
            T::Rg16Float => even(2, 16, Float),
            T::Rg32Uint => even(2, 32, Uint),
            T::Rg32Sint => even(2, 32, Sint),
            T::Rg32Float => even(2, 32, Float),
            T::Rgba8Unorm => even(4, 8, Unorm),
            T::Rgba8UnormSrgb => even(4, 8, Unorm).map(|codec| Self { srgb: true, ..codec }),
            T::Rgba8Snorm => even(4, 8, Snorm),
            T::Rgba8Uint => even(4, 8, Uint),
            T::Rgba8Sint => even(4, 8, Sint),
            T::Bgra8Unorm => even(4, 8, Unorm).map(|codec| Self { form: Form::Bgra, ..codec }),
            T::Bgra8UnormSrgb => {
                even(4, 8, Unorm).map(|codec| Self { form: Form::Bgra, srgb: true, ..codec })
            }
            T::Rgba16Unorm => even(4, 16, Unorm),
            T::Rgba16Snorm => even(4, 16, Snorm),
            T::Rgba16Uint => even(4, 16, Uint),
            T::Rgba16Sint => even(4, 16, Sint),
            T::Rgba16Float => even(4, 16, Float),
            T::Rgba32Uint => even(4, 32, Uint),
            T::Rgba32Sint => even(4, 32, Sint),
            T::Rgba32Float => even(4, 32, Float),
            T::Rgb10a2Unorm => even(4, 10, Unorm).map(|codec| Self { form: Form::Rgb10a2, ..codec }),
            T::Rgb10a2Uint => even(4, 10, Uint).map(|codec| Self { form: Form::Rgb10a2, ..codec }),
            T::Rg11b10Ufloat => even(3, 11, Float).map(|codec| Self { form: Form::Rg11b10, ..codec }),
            T::Rgb9e5Ufloat => even(3, 9, Float).map(|codec| Self { form: Form::Rgb9e5, ..codec }),
            _ => None,
        }
    }

    /// Bytes of a texel.
    pub fn bytes(&self) -> usize {
        match self.form {
            Form::Even | Form::Bgra => self.channels * self.bits as usize / 8,
            Form::Rgb10a2 | Form::Rg11b10 | Form::Rgb9e5 => 4,
        }
    }

    fn width_of(&self, channel: usize) -> u32 {
        match (self.form, channel) {
            (Form::Rgb10a2, 3) => 2,
            (Form::Rg11b10, 2) => 10,
            _ => self.bits,
        }
    }

    /// The raw bits of each channel.
    fn raw(&self, texel: &[u8]) -> [u32; 4] {
        let little = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let word = little(&texel[..texel.len().min(4)]);
        let field = |shift: u32, bits: u32| word >> shift & ((1 << bits) - 1);
        match self.form {
            Form::Even => {
                let width = self.bits as usize / 8;
                std::array::from_fn(
                    |c| if c < self.channels { little(&texel[c * width..][..width]) } else { 0 },
                )
            }
            Form::Bgra => [texel[2], texel[1], texel[0], texel[3]].map(u32::from),
            Form::Rgb10a2 => [field(0, 10), field(10, 10), field(20, 10), field(30, 2)],
            Form::Rg11b10 => [field(0, 11), field(11, 11), field(22, 10), 0],
            Form::Rgb9e5 => [field(0, 9), field(9, 9), field(18, 9), field(27, 5)],
        }
    }

    /// What a shader reads: absent channels are 0, and alpha 1.
    pub fn decode(&self, texel: &[u8]) -> [f64; 4] {
        let raw = self.raw(texel);
        if self.form == Form::Rgb9e5 {
            let scale = 2f64.powi(raw[3] as i32 - 15 - 9);
            return [f64::from(raw[0]) * scale, f64::from(raw[1]) * scale, f64::from(raw[2]) * scale, 1.0];
        }
        std::array::from_fn(|channel| {
            if channel >= self.channels {
                return if channel == 3 { 1.0 } else { 0.0 };
            }
            let bits = self.width_of(channel);
            let value = raw[channel];
            let signed = i64::from(value) - if value >> (bits - 1) == 1 { 1i64 << bits } else { 0 };
            match self.kind {
                Kind::Unorm => {
                    let linear = f64::from(value) / ((1u64 << bits) - 1) as f64;
                    if self.srgb && channel < 3 { from_srgb(linear) } else { linear }
                }
                Kind::Snorm => (signed as f64 / ((1u64 << (bits - 1)) - 1) as f64).max(-1.0),
                Kind::Uint => f64::from(value),
                Kind::Sint => signed as f64,
                Kind::Float => float(value, bits),
            }
        })
    }

    /// What is stored of a value that the channel may be too narrow for.
    pub fn clamped(&self, channel: usize, value: f64) -> f64 {
        let most = ((1u64 << self.width_of(channel)) - 1) as f64;
        match self.kind {
            Kind::Uint => value.min(most),
            Kind::Float if matches!(self.form, Form::Rg11b10 | Form::Rgb9e5) => value.max(0.0),
            _ => value,
        }
    }

    /// How far a stored value may be from what was given: half a step of the channel and a little for arithmetic.
    pub fn tolerance(&self, channel: usize, value: f64) -> f64 {
        if channel >= self.channels {
            return 0.0;
        }
        let bits = self.width_of(channel);
        match self.kind {
            Kind::Uint | Kind::Sint => 0.0,
            // A step of the encoded value is up to 2.4 steps of the linear one near white.
            Kind::Unorm if self.srgb && channel < 3 => 1.5 / 255.0,
            Kind::Unorm => 0.6 / ((1u64 << bits) - 1) as f64 + 1e-7,
            Kind::Snorm => 0.6 / ((1u64 << (bits - 1)) - 1) as f64 + 1e-7,
            // Small floats may be rounded towards zero: a whole step of the mantissa.
            Kind::Float => {
                let mantissa = match (self.form, bits) {
                    (Form::Rgb9e5, _) => 7,
                    (_, 10) => 5,
                    (_, 11) => 6,
                    (_, 16) => 10,
                    _ => 22,
                };
                value.abs() * 2f64.powi(-mantissa) + 1e-7
            }
        }
    }

    /// Bytes of a texel that mean a finite value, different for each seed.
    pub fn sample(&self, seed: u32) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
        let mut texel: Vec<u8> = (0..self.bytes())
            .map(|_| {
                // Xorshift: any sequence of differing bytes would do.
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                (state >> 24) as u8
            })
            .collect();
        if self.kind == Kind::Float {
            // Without the highest bit of the exponent there are neither infinities nor NaNs; with one below it
            // there are no denormals, which drivers may flush.
            match (self.form, self.bits) {
                (Form::Even, 16) => {
                    texel.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = *byte & 0xBF | 0x20)
                }
                (Form::Even, _) => {
                    texel.iter_mut().skip(3).step_by(4).for_each(|byte| *byte = *byte & 0xBF | 0x30)
                }
                (Form::Rg11b10, _) => {
                    let word = u32::from_le_bytes([texel[0], texel[1], texel[2], texel[3]]);
                    let high = 1 << 10 | 1 << 21 | 1 << 31;
                    texel = (word & !high | high >> 1).to_le_bytes().to_vec();
                }
                _ => {}
            }
        }
        texel
    }
}

/// An unsigned or signed float of this many bits: sign, five or eight bits of exponent, mantissa.
fn float(value: u32, bits: u32) -> f64 {
    if bits == 32 {
        return f64::from(f32::from_bits(value));
    }
    let (mantissa_bits, signed) = match bits {
        16 => (10, true),
        11 => (6, false),
        _ => (5, false),
    };
    let mantissa = f64::from(value & ((1 << mantissa_bits) - 1)) / f64::from(1u32 << mantissa_bits);
    let exponent = (value >> mantissa_bits & 31) as i32;
    let sign = if signed && value >> 15 == 1 { -1.0 } else { 1.0 };
    sign * if exponent == 0 { mantissa * 2f64.powi(-14) } else { (1.0 + mantissa) * 2f64.powi(exponent - 15) }
}

/// The electro-optical function of sRGB.
fn from_srgb(encoded: f64) -> f64 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texels() {
        let decode = |format, bytes: &[u8]| Codec::of(format).expect("a color").decode(bytes);
        assert_eq!(decode(T::Rgba8Snorm, &[0x80, 0x81, 0x7F, 0]), [-1.0, -1.0, 1.0, 0.0]);
        assert_eq!(decode(T::Bgra8Unorm, &[255, 0, 51, 255]), [0.2, 0.0, 1.0, 1.0]);
        assert_eq!(decode(T::R16Float, &[0x00, 0xC1]), [-2.5, 0.0, 0.0, 1.0]);
        assert_eq!(decode(T::Rg11b10Ufloat, &0x8080_83C0u32.to_le_bytes()[..])[0], 1.0);
        // 1.0 is the mantissa 256 of 512 with the exponent 16: 256 / 512 * 2.
        assert_eq!(decode(T::Rgb9e5Ufloat, &(16u32 << 27 | 256).to_le_bytes()[..])[0], 1.0);
        assert_eq!(decode(T::Rgb10a2Uint, &0xC010_0003u32.to_le_bytes()[..]), [3.0, 0.0, 1.0, 3.0]);
        assert!((decode(T::Rgba8UnormSrgb, &[188, 0, 0, 0])[0] - 0.5).abs() < 0.005);
    }
}
