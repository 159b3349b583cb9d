//! Textures from KTX2 files: parsed and checked first, then uploaded.
//!
//! A file holds texels as a device takes them, of any format that Vulkan and [`TextureFormat`] both name, with mips,
//! layers and faces; Zstandard supercompression is undone. Nothing is transcoded and no mip is made: a device that lacks
//! the format says so when the texture is created.
//!
//! ```no_run
//! use purlin::ktx2::{Ktx2, Ktx2Error};
//! use purlin::{Owned, Texture, kind, rhi};
//!
//! fn load<B: rhi::backend::Backend>(
//!     device: &mut rhi::Device<B>,
//!     file: &[u8],
//! ) -> Result<(Owned<kind::Texture>, Owned<kind::TextureView>), Ktx2Error> {
//!     let ktx2 = Ktx2::parse(file)?;
//!     let texture = ktx2.upload(device, "sky")?;
//!     let view = device.create_texture_view(*texture, &ktx2.view())?;
//!     Ok((texture, view))
//! }
//! ```

mod format;

use std::borrow::Cow;
use std::io::Read;
use std::time::Duration;

use ktx2::{Header, Reader, SupercompressionScheme};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    Extent3d, Origin3d, TextureDimension, TextureFormat, TextureUsages, TextureViewDimension,
};
use purlin_rhi::{
    Contents, Device, Error, Owned, TexelLayout, Texture, TextureDesc, TexturePlace, TextureViewDesc,
    full_mip_count, kind, mip_size,
};

/// Why a KTX2 file is no texture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Ktx2Error {
    /// The file breaks the container's rules, or ends too early.
    #[error("damaged KTX2 file: {0}")]
    Damaged(String),
    /// The file is as it should be, and of a kind that is not loaded.
    #[error("unsupported KTX2 file: {field} is {found}; {expected}")]
    Unsupported {
        /// The field of the header.
        field: &'static str,
        /// What it says.
        found: String,
        /// What is loaded.
        expected: &'static str,
    },
    /// A mip has another length than its texels.
    #[error("damaged KTX2 file: mip {mip}: expected {expected} bytes, found {found}")]
    Length {
        /// The mip.
        mip: u32,
        /// The bytes of its texels.
        expected: u64,
        /// The bytes that are there.
        found: u64,
    },
    /// The device refused the texture.
    #[error(transparent)]
    Device(#[from] Error),
}

/// A parsed file: the texture's shape, and its texels ready for upload.
#[derive(Debug, Clone)]
pub struct Ktx2<'f> {
    format: TextureFormat,
    size: Extent3d,
    dimension: TextureDimension,
    view: TextureViewDimension,
    /// Largest first; all layers of a mip follow one another.
    mips: Vec<Cow<'f, [u8]>>,
}

impl<'f> Ktx2<'f> {
    /// Parses a file and undoes its supercompression.
    ///
    /// # Errors
    /// [`Ktx2Error::Damaged`] and [`Ktx2Error::Length`] for a file that breaks the container's rules;
    /// [`Ktx2Error::Unsupported`] for universal formats, formats that [`TextureFormat`] lacks, one-dimensional textures,
    /// arrays of volumes, and supercompression other than Zstandard.
    pub fn parse(file: &'f [u8]) -> Result<Self, Ktx2Error> {
        let reader = Reader::new(file).map_err(|error| Ktx2Error::Damaged(error.to_string()))?;
        let header = reader.header();
        let format = header
            .format
            .ok_or_else(|| unsupported("vkFormat", "undefined", "universal formats are not transcoded"))?;
        let format = format::texture_format(format).ok_or_else(|| {
            unsupported("vkFormat", format!("{format:?}"), "a format of TextureFormat is needed")
        })?;
        let (size, dimension, view) = shape(&header)?;
        let count = header.level_count.max(1);
        let most = full_mip_count(size, dimension);
        if count > most {
            return Err(Ktx2Error::Damaged(format!("{count} mips, and {most} is the most for {size:?}")));
        }
        let index: Vec<_> = levels(file, count);
        let mut mips = Vec::with_capacity(count as usize);
        for (mip, (data, declared)) in (0..).zip(index) {
            let expected = bytes_of(format, mip_size(size, dimension, mip))
                .ok_or_else(|| Ktx2Error::Damaged(format!("mip {mip} has more bytes than 64 bits count")))?;
            let bytes = match header.supercompression_scheme {
                None => Cow::Borrowed(data),
                Some(SupercompressionScheme::Zstandard) => {
                    if declared != expected {
                        return Err(Ktx2Error::Length { mip, expected, found: declared });
                    }
                    Cow::Owned(inflate(mip, data, expected)?)
                }
                Some(other) => {
                    let expected = "no supercompression but Zstandard is undone";
                    return Err(unsupported("supercompressionScheme", format!("{other:?}"), expected));
                }
            };
            if bytes.len() as u64 != expected {
                return Err(Ktx2Error::Length { mip, expected, found: bytes.len() as u64 });
            }
            mips.push(bytes);
        }
        Ok(Self { format, size, dimension, view, mips })
    }

    /// The texel format.
    pub fn format(&self) -> TextureFormat {
        self.format
    }

    /// Texels of mip zero; the third number counts layers, six for a cube, or slices.
    pub fn size(&self) -> Extent3d {
        self.size
    }

    /// Mips in the file.
    pub fn mips(&self) -> u32 {
        self.mips.len() as u32
    }

    /// The texels of a mip, or nothing where the file has no such mip: rows of blocks without padding, then layers or
    /// slices; faces in the order +X, -X, +Y, -Y, +Z, -Z.
    pub fn texels(&self, mip: u32) -> Option<&[u8]> {
        self.mips.get(mip as usize).map(AsRef::as_ref)
    }

    /// The texture that [`Self::upload`] creates: sampled, and written by uploads only.
    pub fn desc<'a>(&self, label: &'a str) -> TextureDesc<'a> {
        TextureDesc {
            label,
            size: self.size,
            mips: self.mips(),
            samples: 1,
            dimension: self.dimension,
            format: self.format,
            usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
            contents: Contents::Uploaded,
            view_formats: &[],
        }
    }

    /// A view of everything: a cube for six faces, a cube array for more, else as the file says.
    pub fn view(&self) -> TextureViewDesc<'static> {
        TextureViewDesc { dimension: Some(self.view), ..TextureViewDesc::default() }
    }

    /// Creates the texture and uploads every mip, in pieces that fit the upload ring. A full ring is flushed and waited for.
    ///
    /// # Errors
    /// What creating the texture or an upload answers, among it [`Error::Unsupported`] for a format that the device lacks;
    /// [`Error::Pending`] when the ring stays full for ten seconds, and in browsers at once.
    pub fn upload<B: Backend>(
        &self,
        device: &mut Device<B>,
        label: &str,
    ) -> Result<Owned<kind::Texture>, Ktx2Error> {
        let texture = device.create_texture(&self.desc(label))?;
        self.write(device, *texture)?;
        Ok(texture)
    }

    /// Uploads every mip into a texture of the same format and at least this shape, as [`Self::upload`] does.
    ///
    /// # Errors
    /// What an upload answers. Mips before the one that failed may have been written.
    pub fn write<B: Backend>(&self, device: &mut Device<B>, texture: Texture) -> Result<(), Ktx2Error> {
        // Half the ring: one piece may be copied while the last is still read.
        let piece = (device.uploads().capacity() / 2).max(1);
        let (_, block_height) = self.format.block_dimensions();
        for (mip, texels) in (0..).zip(&self.mips) {
            let size = mip_size(self.size, self.dimension, mip);
            let (pitch, rows) = (self.pitch(size), size.height.div_ceil(block_height));
            let at_once = u32::try_from(piece / u64::from(pitch).max(1)).unwrap_or(u32::MAX).max(1);
            for image in 0..size.depth_or_array_layers {
                for row in (0..rows).step_by(at_once as usize) {
                    let count = at_once.min(rows - row);
                    let y = row * block_height;
                    let height = (count * block_height).min(size.height - y);
                    let extent = Extent3d { height, depth_or_array_layers: 1, ..size };
                    let place = TexturePlace {
                        origin: Origin3d { x: 0, y, z: image },
                        ..TexturePlace::mip(texture, mip)
                    };
                    let offset = (u64::from(image) * u64::from(rows) + u64::from(row)) * u64::from(pitch);
                    let layout = TexelLayout { offset, bytes_per_row: pitch, rows_per_image: count };
                    write(device, &place, extent, &layout, texels)?;
                }
            }
        }
        Ok(())
    }

    /// Bytes of a row of blocks.
    fn pitch(&self, size: Extent3d) -> u32 {
        let (width, _) = self.format.block_dimensions();
        size.width.div_ceil(width) * self.format.block_copy_size(None).unwrap_or(0)
    }
}

fn write<B: Backend>(
    device: &mut Device<B>,
    place: &TexturePlace,
    extent: Extent3d,
    layout: &TexelLayout,
    texels: &[u8],
) -> Result<(), Error> {
    match device.write_texture(place, extent, layout, texels) {
        Err(Error::Pending { .. }) => {
            let token = device.flush_uploads()?;
            device.wait(token, Duration::from_secs(10))?;
            device.write_texture(place, extent, layout, texels).map(drop)
        }
        other => other.map(drop),
    }
}

fn unsupported(field: &'static str, found: impl Into<String>, expected: &'static str) -> Ktx2Error {
    Ktx2Error::Unsupported { field, found: found.into(), expected }
}

/// The size, the dimension and how the whole is viewed.
fn shape(header: &Header) -> Result<(Extent3d, TextureDimension, TextureViewDimension), Ktx2Error> {
    let Header { pixel_width: width, pixel_height: height, pixel_depth: depth, .. } = *header;
    let (layers, faces) = (header.layer_count, header.face_count);
    if height == 0 {
        return Err(unsupported("pixelHeight", "0", "one-dimensional textures are not loaded"));
    }
    if faces != 1 && faces != 6 {
        return Err(Ktx2Error::Damaged(format!("{faces} faces, and a texture has one or six")));
    }
    if faces == 6 && (width != height || depth != 0) {
        return Err(Ktx2Error::Damaged(format!("a cube of {width}x{height}x{depth}")));
    }
    if depth != 0 && layers != 0 {
        return Err(unsupported("layerCount", layers.to_string(), "arrays of volumes are not loaded"));
    }
    if depth != 0 {
        let size = Extent3d { width, height, depth_or_array_layers: depth };
        return Ok((size, TextureDimension::D3, TextureViewDimension::D3));
    }
    let Some(all) = layers.max(1).checked_mul(faces) else {
        return Err(Ktx2Error::Damaged(format!("{layers} layers of {faces} faces")));
    };
    let view = match (faces, layers) {
        (6, 0 | 1) => TextureViewDimension::Cube,
        (6, _) => TextureViewDimension::CubeArray,
        (_, 0) => TextureViewDimension::D2,
        _ => TextureViewDimension::D2Array,
    };
    Ok((Extent3d { width, height, depth_or_array_layers: all }, TextureDimension::D2, view))
}

/// The bytes of a mip with all its layers or slices.
fn bytes_of(format: TextureFormat, size: Extent3d) -> Option<u64> {
    let (width, height) = format.block_dimensions();
    let blocks = u64::from(size.width.div_ceil(width)) * u64::from(size.height.div_ceil(height));
    blocks
        .checked_mul(u64::from(format.block_copy_size(None)?))?
        .checked_mul(u64::from(size.depth_or_array_layers))
}

/// The bytes of each mip as they lie in the file, and the length that they are declared to have in the end.
fn levels(file: &[u8], count: u32) -> Vec<(&[u8], u64)> {
    let number = |at: usize| {
        file.get(at..at + 8).map_or(0, |bytes| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    };
    (0..count as usize)
        .map(|level| {
            // The reader checked that each entry lies in the file, and that what it names does.
            let entry = Header::LENGTH + level * 24;
            let (offset, length) = (number(entry) as usize, number(entry + 8) as usize);
            (file.get(offset..offset + length).unwrap_or_default(), number(entry + 16))
        })
        .collect()
}

/// Undoes Zstandard. What goes on after the expected end is not decoded.
fn inflate(mip: u32, data: &[u8], expected: u64) -> Result<Vec<u8>, Ktx2Error> {
    let damaged = |error: &dyn std::fmt::Display| Ktx2Error::Damaged(format!("mip {mip}: {error}"));
    let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(|error| damaged(&error))?;
    let mut bytes = Vec::new();
    decoder.take(expected.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
