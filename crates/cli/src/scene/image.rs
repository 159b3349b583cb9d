//! Images on the CPU: decoding, size limits and mip chains.
//!
//! Every image becomes RGBA8 with a full chain down to 1x1. A mip's size is the floor of half its parent's,
//! never below one. Each texel of a mip is the exact area average of its parent (a box filter with fractional
//! weights where a side is odd), taken in the space where averaging means something: linear light for colors,
//! direction for normals, plain values for everything else.

use std::sync::LazyLock;

/// What an image's numbers mean, which decides how they are averaged and which format holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImageKind {
    /// sRGB-encoded color with linear alpha: upload as `Rgba8UnormSrgb`.
    Color,
    /// Plain values such as roughness: upload as `Rgba8Unorm`.
    Linear,
    /// A tangent-space normal in red, green and blue, 0.5 meaning zero: upload as `Rgba8Unorm`.
    Normal,
}

/// One level of an image: rows from the top, tightly packed RGBA8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MipLevel {
    /// Columns, at least one.
    pub width: u32,
    /// Rows, at least one.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub data: Vec<u8>,
}

/// An image with its mip chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageData {
    /// A name for labels.
    pub name: String,
    /// What the numbers mean.
    pub kind: ImageKind,
    /// The chain, from full size to 1x1.
    pub mips: Vec<MipLevel>,
}

impl ImageData {
    /// An image from full-size RGBA8 texels, with its whole chain.
    ///
    /// A side beyond `max_side` is first brought down to it by the same box filter, keeping the aspect ratio.
    pub fn new(name: impl Into<String>, kind: ImageKind, level: MipLevel, max_side: u32) -> Self {
        let max_side = max_side.max(1);
        let longest = level.width.max(level.height);
        let mut current = level;
        if longest > max_side {
            let side = |s: u32| ((u64::from(s) * u64::from(max_side) / u64::from(longest)) as u32).max(1);
            current = resample(&current, kind, side(current.width), side(current.height));
        }
        let mut mips = Vec::new();
        while current.width > 1 || current.height > 1 {
            let (width, height) = ((current.width / 2).max(1), (current.height / 2).max(1));
            let next = resample(&current, kind, width, height);
            mips.push(std::mem::replace(&mut current, next));
        }
        mips.push(current);
        Self { name: name.into(), kind, mips }
    }

    /// A single texel.
    pub fn solid(name: &str, kind: ImageKind, texel: [u8; 4]) -> Self {
        let level = MipLevel { width: 1, height: 1, data: texel.to_vec() };
        Self { name: name.to_owned(), kind, mips: vec![level] }
    }

    /// An image whose texel at column and row comes from a function.
    pub fn generate(
        name: &str,
        kind: ImageKind,
        side: u32,
        mut texel: impl FnMut(u32, u32) -> [u8; 4],
    ) -> Self {
        let data = (0..side).flat_map(|y| (0..side).map(move |x| (x, y))).flat_map(|(x, y)| texel(x, y));
        let level = MipLevel { width: side, height: side, data: data.collect() };
        Self::new(name, kind, level, side)
    }

    /// Full-size columns.
    pub fn width(&self) -> u32 {
        self.mips[0].width
    }

    /// Full-size rows.
    pub fn height(&self) -> u32 {
        self.mips[0].height
    }

    /// Bytes of all levels.
    pub fn byte_len(&self) -> usize {
        self.mips.iter().map(|mip| mip.data.len()).sum()
    }
}

/// Decodes a PNG or JPEG file image to RGBA8.
///
/// Sixteen-bit channels are rounded to eight. Sizes beyond 16384 and decodings beyond 1 GiB are refused, so
/// that a small file cannot claim all memory.
#[cfg(feature = "program")]
pub fn decode(bytes: &[u8]) -> Result<MipLevel, String> {
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(16384);
    limits.max_image_height = Some(16384);
    limits.max_alloc = Some(1 << 30);
    let mut reader = image::ImageReader::new(std::io::Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    match reader.format() {
        Some(image::ImageFormat::Png | image::ImageFormat::Jpeg) => {}
        Some(other) => return Err(format!("{other:?} images are not supported, only PNG and JPEG")),
        None => return Err("the bytes are neither PNG nor JPEG".to_owned()),
    }
    reader.limits(limits);
    let image = reader.decode().map_err(|error| error.to_string())?.into_rgba8();
    let (width, height) = image.dimensions();
    if width == 0 || height == 0 {
        return Err(format!("the image has no texels ({width}x{height})"));
    }
    Ok(MipLevel { width, height, data: image.into_raw() })
}

/// sRGB bytes to linear light.
static TO_LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        let s = i as f32 / 255.0;
        if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
    })
});

/// Linear light in `0.0..=1.0` to an sRGB byte.
pub fn encode_srgb(linear: f32) -> u8 {
    let s = if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (s.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// The `encode_srgb` of every 1/8191: fine enough that averages of equal bytes come back unchanged.
static FROM_LINEAR: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..8192).map(|i| encode_srgb(i as f32 / 8191.0)).collect());

fn unpack(kind: ImageKind, texel: &[u8]) -> [f32; 4] {
    let unorm = |i: usize| f32::from(texel[i]) / 255.0;
    match kind {
        ImageKind::Color => {
            let linear = |i: usize| TO_LINEAR[usize::from(texel[i])];
            [linear(0), linear(1), linear(2), unorm(3)]
        }
        ImageKind::Linear | ImageKind::Normal => [unorm(0), unorm(1), unorm(2), unorm(3)],
    }
}

fn pack(kind: ImageKind, value: [f32; 4]) -> [u8; 4] {
    let unorm = |v: f32| (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    match kind {
        ImageKind::Color => {
            let srgb = |v: f32| FROM_LINEAR[(v.clamp(0.0, 1.0) * 8191.0 + 0.5) as usize];
            [srgb(value[0]), srgb(value[1]), srgb(value[2]), unorm(value[3])]
        }
        ImageKind::Linear => value.map(unorm),
        ImageKind::Normal => {
            // Averages of unit vectors are shorter than one; opposite ones may cancel, which then means
            // "flat".
            let n = glam::Vec3::new(value[0], value[1], value[2]) * 2.0 - 1.0;
            let n = n.normalize_or(glam::Vec3::Z) * 0.5 + 0.5;
            [unorm(n.x), unorm(n.y), unorm(n.z), unorm(value[3])]
        }
    }
}

/// For each output index: the first input index and the weights of the inputs that it covers, which sum to
/// one.
fn box_weights(from: u32, to: u32) -> Vec<(usize, Vec<f32>)> {
    let scale = f64::from(from) / f64::from(to);
    (0..to)
        .map(|i| {
            let (start, end) = (f64::from(i) * scale, f64::from(i + 1) * scale);
            let first = start.floor() as u32;
            // Rounding must not reach one input past the end.
            let last = ((end - 1e-9).ceil() as u32).clamp(first + 1, from);
            let weights = (first..last)
                .map(|j| ((end.min(f64::from(j + 1)) - start.max(f64::from(j))) / scale) as f32)
                .collect();
            (first as usize, weights)
        })
        .collect()
}

/// The exact area average of `level` at a smaller size.
fn resample(level: &MipLevel, kind: ImageKind, width: u32, height: u32) -> MipLevel {
    let columns = box_weights(level.width, width);
    let rows = box_weights(level.height, height);
    let pitch = level.width as usize * 4;
    let mut data = Vec::with_capacity(width as usize * height as usize * 4);
    for (first_row, row_weights) in &rows {
        for (first_column, column_weights) in &columns {
            let mut sum = [0.0f32; 4];
            for (dy, wy) in row_weights.iter().enumerate() {
                let row = (first_row + dy) * pitch + first_column * 4;
                for (dx, wx) in column_weights.iter().enumerate() {
                    let at = row + dx * 4;
                    let texel = unpack(kind, &level.data[at..at + 4]);
                    for (s, t) in sum.iter_mut().zip(texel) {
                        *s += t * wx * wy;
                    }
                }
            }
            data.extend_from_slice(&pack(kind, sum));
        }
    }
    MipLevel { width, height, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(width: u32, height: u32) -> Vec<(u32, u32)> {
        let data = vec![128; (width * height * 4) as usize];
        let image = ImageData::new("t", ImageKind::Linear, MipLevel { width, height, data }, 4096);
        image
            .mips
            .iter()
            .map(|mip| {
                assert_eq!(mip.data.len(), (mip.width * mip.height * 4) as usize);
                (mip.width, mip.height)
            })
            .collect()
    }

    /// Case C070.
    #[test]
    fn mip_sizes_floor_and_never_reach_zero() {
        assert_eq!(sizes(5, 3), [(5, 3), (2, 1), (1, 1)]);
        assert_eq!(
            sizes(192, 256)[1..],
            [(96, 128), (48, 64), (24, 32), (12, 16), (6, 8), (3, 4), (1, 2), (1, 1)]
        );
        assert_eq!(sizes(2, 1), [(2, 1), (1, 1)]);
        let tall = sizes(256, 1553);
        assert_eq!((tall.len(), tall[8..].to_vec()), (11, vec![(1, 6), (1, 3), (1, 1)]));
        assert_eq!(sizes(1, 1), [(1, 1)]);
    }

    #[test]
    fn a_flat_image_stays_flat_in_every_kind() {
        for kind in [ImageKind::Color, ImageKind::Linear] {
            for byte in 0..=255 {
                let level = MipLevel { width: 3, height: 5, data: vec![byte; 60] };
                let image = ImageData::new("t", kind, level, 64);
                assert_eq!(image.mips.last().unwrap().data, [byte; 4], "{kind:?} {byte}");
            }
        }
    }

    #[test]
    fn colors_average_in_linear_light() {
        let level = MipLevel { width: 2, height: 1, data: vec![0, 0, 0, 0, 255, 255, 255, 255] };
        let image = ImageData::new("t", ImageKind::Color, level, 64);
        assert_eq!(
            image.mips[1].data,
            [188, 188, 188, 128],
            "half the light is sRGB 188, half the alpha is 128"
        );
    }

    #[test]
    fn normals_stay_unit_length() {
        let level = MipLevel { width: 2, height: 1, data: vec![255, 128, 128, 255, 128, 128, 255, 255] };
        let image = ImageData::new("t", ImageKind::Normal, level, 64);
        assert_eq!(image.mips[1].data[..3], [218, 128, 218]);
    }

    #[test]
    fn an_odd_side_weighs_every_texel_equally() {
        let level =
            MipLevel { width: 3, height: 1, data: [0u8, 90, 240].iter().flat_map(|v| [*v; 4]).collect() };
        let image = ImageData::new("t", ImageKind::Linear, level, 64);
        assert_eq!(image.mips[1].data[0], 110);
    }

    #[test]
    fn too_large_images_shrink_in_proportion() {
        let level = MipLevel { width: 64, height: 16, data: vec![7; 64 * 16 * 4] };
        let image = ImageData::new("t", ImageKind::Linear, level, 20);
        assert_eq!((image.width(), image.height()), (20, 5));
        assert!(image.mips[0].data.iter().all(|b| *b == 7));
    }

    #[test]
    fn broken_files_are_errors() {
        assert!(decode(b"").is_err());
        assert!(decode(b"\x89PNG\r\n\x1a\n").is_err());
        assert!(decode(b"GIF89a").is_err());
    }
}
