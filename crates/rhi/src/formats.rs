//! The format table: for each format, what it may be used for on a device and in which shapes.
//!
//! Uses come from the driver, shapes from the driver and the enabled limits; [`crate::Device::create_texture`] refuses
//! what the table does not say. `Device::format_table` goes through every format.

use crate::caps::{Features, FormatUses, Limits};
use crate::types::{AstcBlock, AstcChannel, Extent3d, TextureDimension, TextureFormat, TextureFormat as T};

/// The most that a texture of a format and a dimension may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatShape {
    /// Texels on each side; the third number is one for a flat texture.
    pub extent: Extent3d,
    /// Mips; fewer where the texture's own size has fewer.
    pub mips: u32,
    /// Layers; one for a volume.
    pub layers: u32,
}

impl FormatShape {
    /// What the limits alone allow, with mips down to one texel.
    pub fn of_limits(limits: &Limits, dimension: TextureDimension) -> Self {
        let (extent, layers) = match dimension {
            TextureDimension::D1 => ((limits.max_texture_dimension_2d, 1, 1), 1),
            TextureDimension::D2 => {
                let side = limits.max_texture_dimension_2d;
                ((side, side, 1), limits.max_texture_array_layers)
            }
            TextureDimension::D3 => {
                let side = limits.max_texture_dimension_3d;
                ((side, side, side), 1)
            }
        };
        let (width, height, depth_or_array_layers) = extent;
        let extent = Extent3d { width, height, depth_or_array_layers };
        Self { extent, mips: crate::desc::full_mip_count(extent, dimension), layers }
    }

    /// No more than both.
    pub fn min(self, other: Self) -> Self {
        Self {
            extent: Extent3d {
                width: self.extent.width.min(other.extent.width),
                height: self.extent.height.min(other.extent.height),
                depth_or_array_layers: self
                    .extent
                    .depth_or_array_layers
                    .min(other.extent.depth_or_array_layers),
            },
            mips: self.mips.min(other.mips),
            layers: self.layers.min(other.layers),
        }
    }
}

/// A row of the format table, as [`crate::Device::format_capabilities`] answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatCapabilities {
    /// The format.
    pub format: TextureFormat,
    /// What it may be used for; empty for a format that the device does not have.
    pub uses: FormatUses,
    /// Texels of a block, width and height; one by one unless compressed.
    pub block: (u32, u32),
    /// Bytes of a block in buffers; `None` where no copy reaches the texels, and for formats of two aspects.
    pub block_bytes: Option<u32>,
    /// Flat textures and arrays of them.
    pub d2: Option<FormatShape>,
    /// Volumes.
    pub d3: Option<FormatShape>,
    /// Six square layers viewed as a cube.
    pub cubes: bool,
    /// Cubes in arrays; [`Features::CUBE_ARRAYS`].
    pub cube_arrays: bool,
    /// Views of some layers only, for shaders; [`Features::LAYER_VIEWS`]. Views of some mips are there on every device.
    pub partial_views: bool,
    /// The sRGB or linear sibling that views may have instead; [`Features::VIEW_FORMATS`].
    pub view_format: Option<TextureFormat>,
    /// Sizes that are no multiples of the block; [`Features::UNALIGNED_BLOCK_EXTENTS`]. True where a block is a texel.
    pub unaligned: bool,
}

impl FormatCapabilities {
    /// The shape that textures of a dimension may have; `None` where there are none.
    pub fn shape(&self, dimension: TextureDimension) -> Option<FormatShape> {
        match dimension {
            TextureDimension::D1 => None,
            TextureDimension::D2 => self.d2,
            TextureDimension::D3 => self.d3,
        }
    }

    /// The row of a format with these uses and shapes on a device with these features.
    pub fn new(
        format: TextureFormat,
        uses: FormatUses,
        features: Features,
        shape: impl Fn(TextureDimension) -> Option<FormatShape>,
    ) -> Self {
        let there = !uses.is_empty();
        let block = format.block_dimensions();
        let sibling = sibling(format).filter(|_| there && features.contains(Features::VIEW_FORMATS));
        let d2 = there.then(|| shape(TextureDimension::D2)).flatten();
        let volumes = there && has_volumes(format, features);
        let sampled = d2.is_some() && uses.contains(FormatUses::SAMPLED);
        Self {
            format,
            uses,
            block,
            block_bytes: format.block_copy_size(None),
            d2,
            d3: volumes.then(|| shape(TextureDimension::D3)).flatten(),
            cubes: sampled,
            cube_arrays: sampled && features.contains(Features::CUBE_ARRAYS),
            partial_views: d2.is_some() && features.contains(Features::LAYER_VIEWS),
            view_format: sibling,
            unaligned: block == (1, 1) || features.contains(Features::UNALIGNED_BLOCK_EXTENTS),
        }
    }
}

/// The sRGB sibling of a linear format, or the linear one of an sRGB format.
fn sibling(format: TextureFormat) -> Option<TextureFormat> {
    let linear = format.remove_srgb_suffix();
    let other = if linear == format { format.add_srgb_suffix() } else { linear };
    (other != format).then_some(other)
}

/// The feature without which a format has no volumes; `None` where no feature helps.
pub(crate) fn volume_feature(format: TextureFormat) -> Option<Features> {
    if format.is_bcn() {
        Some(Features::TEXTURE_COMPRESSION_BC_SLICED_3D)
    } else if format.is_astc() {
        Some(Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D)
    } else if format.is_depth_stencil_format() || format.is_compressed() {
        None
    } else {
        Some(Features::empty())
    }
}

fn has_volumes(format: TextureFormat, features: Features) -> bool {
    volume_feature(format).is_some_and(|needed| features.contains(needed))
}

const PLAIN: [TextureFormat; 76] = [
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
    T::R64Uint,
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
    T::Stencil8,
    T::Depth16Unorm,
    T::Depth24Plus,
    T::Depth24PlusStencil8,
    T::Depth32Float,
    T::Depth32FloatStencil8,
    T::NV12,
    T::P010,
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

const ASTC: [AstcBlock; 14] = [
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

/// Every format: those of plain texels, then depth and stencil, then blocks.
pub fn all() -> impl Iterator<Item = TextureFormat> {
    let channels = [AstcChannel::Unorm, AstcChannel::UnormSrgb, AstcChannel::Hdr];
    let astc = channels.into_iter().flat_map(|channel| ASTC.map(|block| T::Astc { block, channel }));
    PLAIN.into_iter().chain(astc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_listed_once() {
        let listed: Vec<_> = all().collect();
        for (index, format) in listed.iter().enumerate() {
            assert!(!listed[..index].contains(format), "{format:?} twice");
        }
        // Each block of ASTC has three channels; the rest is counted by the type's own documentation.
        assert_eq!(listed.len(), 76 + 14 * 3);
    }

    #[test]
    fn siblings_go_both_ways() {
        assert_eq!(sibling(T::Rgba8Unorm), Some(T::Rgba8UnormSrgb));
        assert_eq!(sibling(T::Rgba8UnormSrgb), Some(T::Rgba8Unorm));
        assert_eq!(sibling(T::R8Unorm), None);
        for format in all() {
            assert!(sibling(format).is_none_or(|other| sibling(other) == Some(format)), "{format:?}");
        }
    }

    #[test]
    fn volumes_take_features_or_none() {
        let all = Features::all();
        assert!(has_volumes(T::R8Unorm, Features::empty()) && !has_volumes(T::Depth32Float, all));
        assert!(has_volumes(T::Bc1RgbaUnorm, all) && !has_volumes(T::Etc2Rgb8Unorm, all));
        assert!(!has_volumes(T::Bc1RgbaUnorm, Features::TEXTURE_COMPRESSION_BC));
    }
}
