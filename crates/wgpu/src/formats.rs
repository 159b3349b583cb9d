//! What formats may be used for, in Purlin's words.

use purlin_rhi::caps::FormatUses;
use purlin_rhi::types::{TextureFormat, TextureSampleType, TextureUsages};
use wgpu::{Features as Native, TextureFormatFeatureFlags as Flags, TextureFormatFeatures};

use crate::depth;

/// Native features that only widen what formats and shaders may do; enabled wherever they are.
pub(crate) const WIDENING: Native = Native::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES
    .union(Native::TEXTURE_FORMAT_16BIT_NORM)
    .union(Native::DEPTH32FLOAT_STENCIL8)
    .union(Native::RG11B10UFLOAT_RENDERABLE)
    .union(Native::BGRA8UNORM_STORAGE)
    .union(Native::FLOAT32_FILTERABLE)
    .union(Native::FLOAT32_BLENDABLE)
    .union(Native::SHADER_F16)
    .union(Native::CLIP_DISTANCES)
    .union(Native::PRIMITIVE_INDEX)
    .union(Native::IMMEDIATES);

const SNORM: &[TextureFormat] = &[
    TextureFormat::R8Snorm,
    TextureFormat::Rg8Snorm,
    TextureFormat::Rgba8Snorm,
    TextureFormat::R16Snorm,
    TextureFormat::Rg16Snorm,
    TextureFormat::Rgba16Snorm,
];

/// The uses of a format on a device with these native features.
pub(crate) fn uses(
    adapter: Option<&wgpu::Adapter>,
    backend: wgpu::Backend,
    enabled: Native,
    format: TextureFormat,
) -> FormatUses {
    if matches!(format, TextureFormat::NV12 | TextureFormat::P010 | TextureFormat::R64Uint)
        || !enabled.contains(format.required_features())
    {
        return FormatUses::empty();
    }
    let found: TextureFormatFeatures = match adapter {
        Some(adapter) if enabled.contains(Native::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES) => {
            adapter.get_texture_format_features(format)
        }
        _ => format.guaranteed_format_features(enabled),
    };
    let is_depth = format.is_depth_stencil_format();
    let attached = if is_depth { FormatUses::DEPTH_STENCIL } else { FormatUses::COLOR };
    let mut uses = FormatUses::empty();
    for (usage, of) in [
        (TextureUsages::TEXTURE_BINDING, FormatUses::SAMPLED),
        (TextureUsages::RENDER_ATTACHMENT, attached),
        (TextureUsages::COPY_SRC, FormatUses::COPY_SRC),
        (TextureUsages::COPY_DST, FormatUses::COPY_DST),
    ] {
        uses.set(of, found.allowed_usages.contains(usage));
    }
    let stored = Flags::STORAGE_READ_ONLY | Flags::STORAGE_WRITE_ONLY | Flags::STORAGE_READ_WRITE;
    let storage = found.allowed_usages.contains(TextureUsages::STORAGE_BINDING);
    uses.set(FormatUses::STORAGE, storage && found.flags.intersects(stored));
    for (flag, of) in [
        (Flags::STORAGE_READ_ONLY, FormatUses::STORAGE_READ_ONLY),
        (Flags::STORAGE_WRITE_ONLY, FormatUses::STORAGE_WRITE_ONLY),
        (Flags::STORAGE_READ_WRITE, FormatUses::STORAGE_READ_WRITE),
    ] {
        uses.set(of, storage && found.flags.contains(flag));
    }
    let filterable = uses.contains(FormatUses::SAMPLED) && found.flags.contains(Flags::FILTERABLE);
    uses.set(FormatUses::FILTERABLE, filterable);
    let blendable = uses.contains(FormatUses::COLOR) && found.flags.contains(Flags::BLENDABLE);
    uses.set(FormatUses::BLENDABLE, blendable);
    for (flag, of) in [
        (Flags::MULTISAMPLE_X2, FormatUses::MULTISAMPLE_X2),
        (Flags::MULTISAMPLE_X4, FormatUses::MULTISAMPLE_X4),
        (Flags::MULTISAMPLE_X8, FormatUses::MULTISAMPLE_X8),
        (Flags::MULTISAMPLE_X16, FormatUses::MULTISAMPLE_X16),
        (Flags::MULTISAMPLE_RESOLVE, FormatUses::MULTISAMPLE_RESOLVE),
    ] {
        uses.set(of, uses.contains(attached) && found.flags.contains(flag));
    }
    if !matches!(format.sample_type(None, None), Some(TextureSampleType::Float { .. })) {
        // There is no average of integers.
        uses -= FormatUses::MULTISAMPLE_RESOLVE;
    }
    if format == TextureFormat::Depth24Plus {
        // Its texels are of a size that the program cannot know.
        uses -= FormatUses::COPY_SRC | FormatUses::COPY_DST;
    }
    if backend == wgpu::Backend::Gl {
        if format.is_compressed() {
            // See the features of the same backend.
            return FormatUses::empty();
        }
        if cfg!(target_arch = "wasm32")
            && matches!(format, TextureFormat::Bgra8Unorm | TextureFormat::Bgra8UnormSrgb)
        {
            // WebGL 2 has no such texels, and wgpu takes red for blue.
            return FormatUses::empty();
        }
        if is_depth {
            // Neither buffers nor other textures: wgpu copies through color attachments.
            uses -= FormatUses::COPY_DST;
            if !depth::by_pass(backend, format) {
                uses -= FormatUses::COPY_SRC;
            }
        }
        if SNORM.contains(&format) {
            // Read as colors, negative texels become zero.
            uses -= FormatUses::COPY_SRC;
        }
    }
    uses
}
