//! The finished picture: its PNG and its fingerprint.

use image::{ExtendedColorType, ImageEncoder};

use crate::size::Size;

/// Encodes RGBA pixels, rows from the top, as a PNG file.
///
/// # Errors
/// What the encoder says.
pub fn encode_png(size: Size, pixels: &[u8]) -> Result<Vec<u8>, String> {
    let mut png = Vec::new();
    image::codecs::png::PngEncoder::new(&mut png)
        .write_image(pixels, size.width, size.height, ExtendedColorType::Rgba8)
        .map_err(|error| error.to_string())?;
    Ok(png)
}

/// The 64-bit FNV-1a hash of the pixels: equal pictures have equal fingerprints, whatever their files' encoding.
pub fn fingerprint(pixels: &[u8]) -> u64 {
    pixels.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The signal-to-noise ratio from which two pictures count as the same: rounding and edges of a pixel's width may
/// differ between drivers, a missing texture or a shifted shadow may not.
pub const SAME: u32 = 40;

/// How far two pictures are apart, over red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean of the absolute differences, of 255.
    pub mean: f64,
    /// The greatest difference, of 255.
    pub worst: u8,
    /// The share of pixels that differ by more than 8 of 255 in some channel.
    pub visible: f64,
    /// The peak signal-to-noise ratio in decibels; infinite for equal pictures.
    pub psnr: f64,
}

impl Difference {
    /// Compares RGBA pixels of equal length; alpha does not count.
    pub fn of(a: &[u8], b: &[u8]) -> Self {
        let (mut sum, mut squares, mut worst, mut visible) = (0u64, 0u64, 0u8, 0u64);
        for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
            let mut most = 0;
            for channel in 0..3 {
                let apart = a[channel].abs_diff(b[channel]);
                sum += u64::from(apart);
                squares += u64::from(apart) * u64::from(apart);
                most = most.max(apart);
            }
            worst = worst.max(most);
            visible += u64::from(most > 8);
        }
        let pixels = (a.len().min(b.len()) / 4).max(1) as f64;
        let mean_square = squares as f64 / (pixels * 3.0);
        Self {
            mean: sum as f64 / (pixels * 3.0),
            worst,
            visible: visible as f64 / pixels,
            psnr: if squares == 0 { f64::INFINITY } else { 10.0 * (255.0 * 255.0 / mean_square).log10() },
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mean, worst, visible, psnr } = self;
        let visible = visible * 100.0;
        write!(f, "{psnr:.1} dB, mean {mean:.3} and worst {worst} of 255, {visible:.2} % of pixels over 8")
    }
}

/// Reads a PNG file of this size as RGBA pixels.
///
/// # Errors
/// What is wrong with the file, in words.
pub fn decode_png(file: &[u8], size: Size) -> Result<Vec<u8>, String> {
    let picture = image::load_from_memory(file).map_err(|error| error.to_string())?.into_rgba8();
    if picture.dimensions() != (size.width, size.height) {
        let (width, height) = picture.dimensions();
        return Err(format!("it is {width}x{height}, the picture is {size}"));
    }
    Ok(picture.into_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_what_arithmetic_says() {
        let black = [0, 0, 0, 255].repeat(4);
        let mut other = black.clone();
        assert_eq!(Difference::of(&black, &other).psnr, f64::INFINITY);
        other[0] = 12;
        other[3] = 0;
        let difference = Difference::of(&black, &other);
        assert_eq!((difference.mean, difference.worst, difference.visible), (1.0, 12, 0.25));
        assert!((difference.psnr - 10.0 * (255.0f64 * 255.0 / 12.0).log10()).abs() < 1e-9);
    }

    #[test]
    fn a_reference_of_another_size_is_refused() {
        let png = encode_png(Size { width: 3, height: 2 }, &[0; 24]).unwrap();
        let error = decode_png(&png, Size { width: 2, height: 3 }).unwrap_err();
        assert_eq!(error, "it is 3x2, the picture is 2x3");
        assert!(decode_png(b"not a picture", Size { width: 2, height: 3 }).is_err());
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let pixels: Vec<u8> = (0..24).collect();
        let png = encode_png(Size { width: 3, height: 2 }, &pixels).unwrap();
        let decoded = image::load_from_memory(&png).unwrap().into_rgba8();
        assert_eq!((decoded.dimensions(), decoded.into_raw()), ((3, 2), pixels));
    }

    #[test]
    fn fingerprints_are_the_published_ones() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
