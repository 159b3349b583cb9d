//! Vulkan's names of formats, in WebGPU's spelling.

use ktx2::Format as F;
use purlin_rhi::types::TextureFormat as T;
use purlin_rhi::types::{AstcBlock, AstcChannel};

/// The same format, where both have it.
pub(super) fn texture_format(format: F) -> Option<T> {
    if let Some(astc) = astc(format) {
        return Some(astc);
    }
    let found = FORMATS.iter().find(|(theirs, _)| *theirs == format)?;
    Some(found.1)
}

const FORMATS: &[(F, T)] = &[
    (F::R8_UNORM, T::R8Unorm),
    (F::R8_SNORM, T::R8Snorm),
    (F::R8_UINT, T::R8Uint),
    (F::R8_SINT, T::R8Sint),
    (F::R8G8_UNORM, T::Rg8Unorm),
    (F::R8G8_SNORM, T::Rg8Snorm),
    (F::R8G8_UINT, T::Rg8Uint),
    (F::R8G8_SINT, T::Rg8Sint),
    (F::R8G8B8A8_UNORM, T::Rgba8Unorm),
    (F::R8G8B8A8_SNORM, T::Rgba8Snorm),
    (F::R8G8B8A8_UINT, T::Rgba8Uint),
    (F::R8G8B8A8_SINT, T::Rgba8Sint),
    (F::R8G8B8A8_SRGB, T::Rgba8UnormSrgb),
    (F::B8G8R8A8_UNORM, T::Bgra8Unorm),
    (F::B8G8R8A8_SRGB, T::Bgra8UnormSrgb),
    (F::A2B10G10R10_UNORM_PACK32, T::Rgb10a2Unorm),
    (F::A2B10G10R10_UINT_PACK32, T::Rgb10a2Uint),
    (F::R16_UNORM, T::R16Unorm),
    (F::R16_SNORM, T::R16Snorm),
    (F::R16_UINT, T::R16Uint),
    (F::R16_SINT, T::R16Sint),
    (F::R16_SFLOAT, T::R16Float),
    (F::R16G16_UNORM, T::Rg16Unorm),
    (F::R16G16_SNORM, T::Rg16Snorm),
    (F::R16G16_UINT, T::Rg16Uint),
    (F::R16G16_SINT, T::Rg16Sint),
    (F::R16G16_SFLOAT, T::Rg16Float),
    (F::R16G16B16A16_UNORM, T::Rgba16Unorm),
    (F::R16G16B16A16_SNORM, T::Rgba16Snorm),
    (F::R16G16B16A16_UINT, T::Rgba16Uint),
    (F::R16G16B16A16_SINT, T::Rgba16Sint),
    (F::R16G16B16A16_SFLOAT, T::Rgba16Float),
    (F::R32_UINT, T::R32Uint),
    (F::R32_SINT, T::R32Sint),
    (F::R32_SFLOAT, T::R32Float),
    (F::R32G32_UINT, T::Rg32Uint),
    (F::R32G32_SINT, T::Rg32Sint),
    (F::R32G32_SFLOAT, T::Rg32Float),
    (F::R32G32B32A32_UINT, T::Rgba32Uint),
    (F::R32G32B32A32_SINT, T::Rgba32Sint),
    (F::R32G32B32A32_SFLOAT, T::Rgba32Float),
    (F::B10G11R11_UFLOAT_PACK32, T::Rg11b10Ufloat),
    (F::E5B9G9R9_UFLOAT_PACK32, T::Rgb9e5Ufloat),
    (F::BC1_RGBA_UNORM_BLOCK, T::Bc1RgbaUnorm),
    (F::BC1_RGBA_SRGB_BLOCK, T::Bc1RgbaUnormSrgb),
    (F::BC2_UNORM_BLOCK, T::Bc2RgbaUnorm),
    (F::BC2_SRGB_BLOCK, T::Bc2RgbaUnormSrgb),
    (F::BC3_UNORM_BLOCK, T::Bc3RgbaUnorm),
    (F::BC3_SRGB_BLOCK, T::Bc3RgbaUnormSrgb),
    (F::BC4_UNORM_BLOCK, T::Bc4RUnorm),
    (F::BC4_SNORM_BLOCK, T::Bc4RSnorm),
    (F::BC5_UNORM_BLOCK, T::Bc5RgUnorm),
    (F::BC5_SNORM_BLOCK, T::Bc5RgSnorm),
    (F::BC6H_UFLOAT_BLOCK, T::Bc6hRgbUfloat),
    (F::BC6H_SFLOAT_BLOCK, T::Bc6hRgbFloat),
    (F::BC7_UNORM_BLOCK, T::Bc7RgbaUnorm),
    (F::BC7_SRGB_BLOCK, T::Bc7RgbaUnormSrgb),
    (F::ETC2_R8G8B8_UNORM_BLOCK, T::Etc2Rgb8Unorm),
    (F::ETC2_R8G8B8_SRGB_BLOCK, T::Etc2Rgb8UnormSrgb),
    (F::ETC2_R8G8B8A1_UNORM_BLOCK, T::Etc2Rgb8A1Unorm),
    (F::ETC2_R8G8B8A1_SRGB_BLOCK, T::Etc2Rgb8A1UnormSrgb),
    (F::ETC2_R8G8B8A8_UNORM_BLOCK, T::Etc2Rgba8Unorm),
    (F::ETC2_R8G8B8A8_SRGB_BLOCK, T::Etc2Rgba8UnormSrgb),
    (F::EAC_R11_UNORM_BLOCK, T::EacR11Unorm),
    (F::EAC_R11_SNORM_BLOCK, T::EacR11Snorm),
    (F::EAC_R11G11_UNORM_BLOCK, T::EacRg11Unorm),
    (F::EAC_R11G11_SNORM_BLOCK, T::EacRg11Snorm),
];

/// Vulkan's order of blocks: each unorm, then sRGB, the first at [`F::ASTC_4x4_UNORM_BLOCK`].
const BLOCKS: [AstcBlock; 14] = [
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

fn astc(format: F) -> Option<T> {
    let index = format.value().checked_sub(F::ASTC_4x4_UNORM_BLOCK.value())?;
    let block = *BLOCKS.get(index as usize / 2)?;
    let channel = if index.is_multiple_of(2) { AstcChannel::Unorm } else { AstcChannel::UnormSrgb };
    Some(T::Astc { block, channel })
}
