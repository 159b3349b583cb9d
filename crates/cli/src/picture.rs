//! The finished picture: its PNG and its fingerprint.

use image::{ExtendedColorType, ImageEncoder};

use crate::args::Size;

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

#[cfg(test)]
mod tests {
    use super::*;

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
