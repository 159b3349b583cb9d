//! Purlin's vocabulary in Vulkan's. Tables only: nothing here decides.

use ash::vk;
use purlin_rhi::backend::{ClearValue, NativeLoad, StoreOp};
use purlin_rhi::plan::Aspects;
use purlin_rhi::types::{
    AddressMode, BindingType, BlendComponent, BlendFactor, BlendOperation, BufferBindingType, BufferUsages,
    ColorWrites, CompareFunction, Extent3d, FilterMode, FrontFace, IndexFormat, Origin3d, PolygonMode,
    PrimitiveTopology, SamplerBorderColor, ShaderStages, StencilFaceState, StencilOperation,
    TextureDimension, TextureFormat, TextureUsages, TextureViewDimension, VertexFormat,
};

/// Which native formats stand for the depth and stencil formats that Vulkan leaves to the driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DepthFormats {
    depth24: vk::Format,
    depth24_stencil8: vk::Format,
    stencil8: vk::Format,
}

impl DepthFormats {
    /// Prefers the 24-bit formats; one of each pair is always there.
    pub fn new(instance: &ash::Instance, device: vk::PhysicalDevice) -> Self {
        let pick = |formats: &[vk::Format]| {
            let wanted =
                vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT | vk::FormatFeatureFlags::SAMPLED_IMAGE;
            let found = formats.iter().copied().find(|&format| {
                // SAFETY: the physical device is of this instance.
                let properties = unsafe { instance.get_physical_device_format_properties(device, format) };
                properties.optimal_tiling_features.contains(wanted)
            });
            found.unwrap_or(formats[formats.len() - 1])
        };
        let combined = [vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT];
        Self {
            depth24: pick(&[vk::Format::X8_D24_UNORM_PACK32, vk::Format::D32_SFLOAT]),
            depth24_stencil8: pick(&combined),
            stencil8: pick(&[vk::Format::S8_UINT, combined[0], combined[1]]),
        }
    }
}

/// The native format; `None` for those that this backend refuses.
pub(crate) fn format(format: TextureFormat, depth: DepthFormats) -> Option<vk::Format> {
    use TextureFormat as T;
    use vk::Format as F;
    Some(match format {
        T::R8Unorm => F::R8_UNORM,
        T::R8Snorm => F::R8_SNORM,
        T::R8Uint => F::R8_UINT,
        T::R8Sint => F::R8_SINT,
        T::R16Uint => F::R16_UINT,
        T::R16Sint => F::R16_SINT,
        T::R16Unorm => F::R16_UNORM,
        T::R16Snorm => F::R16_SNORM,
        T::R16Float => F::R16_SFLOAT,
        T::Rg8Unorm => F::R8G8_UNORM,
        T::Rg8Snorm => F::R8G8_SNORM,
        T::Rg8Uint => F::R8G8_UINT,
        T::Rg8Sint => F::R8G8_SINT,
        T::Rg16Unorm => F::R16G16_UNORM,
        T::Rg16Snorm => F::R16G16_SNORM,
        T::R32Uint => F::R32_UINT,
        T::R32Sint => F::R32_SINT,
        T::R32Float => F::R32_SFLOAT,
        T::Rg16Uint => F::R16G16_UINT,
        T::Rg16Sint => F::R16G16_SINT,
        T::Rg16Float => F::R16G16_SFLOAT,
        T::Rgba8Unorm => F::R8G8B8A8_UNORM,
        T::Rgba8UnormSrgb => F::R8G8B8A8_SRGB,
        T::Bgra8UnormSrgb => F::B8G8R8A8_SRGB,
        T::Rgba8Snorm => F::R8G8B8A8_SNORM,
        T::Bgra8Unorm => F::B8G8R8A8_UNORM,
        T::Rgba8Uint => F::R8G8B8A8_UINT,
        T::Rgba8Sint => F::R8G8B8A8_SINT,
        T::Rgb10a2Uint => F::A2B10G10R10_UINT_PACK32,
        T::Rgb10a2Unorm => F::A2B10G10R10_UNORM_PACK32,
        T::Rg11b10Ufloat => F::B10G11R11_UFLOAT_PACK32,
        T::Rg32Uint => F::R32G32_UINT,
        T::Rg32Sint => F::R32G32_SINT,
        T::Rg32Float => F::R32G32_SFLOAT,
        T::Rgba16Uint => F::R16G16B16A16_UINT,
        T::Rgba16Sint => F::R16G16B16A16_SINT,
        T::Rgba16Unorm => F::R16G16B16A16_UNORM,
        T::Rgba16Snorm => F::R16G16B16A16_SNORM,
        T::Rgba16Float => F::R16G16B16A16_SFLOAT,
        T::Rgba32Uint => F::R32G32B32A32_UINT,
        T::Rgba32Sint => F::R32G32B32A32_SINT,
        T::Rgba32Float => F::R32G32B32A32_SFLOAT,
        T::Rgb9e5Ufloat => F::E5B9G9R9_UFLOAT_PACK32,
        T::Bc1RgbaUnorm => F::BC1_RGBA_UNORM_BLOCK,
        T::Bc1RgbaUnormSrgb => F::BC1_RGBA_SRGB_BLOCK,
        T::Bc2RgbaUnorm => F::BC2_UNORM_BLOCK,
        T::Bc2RgbaUnormSrgb => F::BC2_SRGB_BLOCK,
        T::Bc3RgbaUnorm => F::BC3_UNORM_BLOCK,
        T::Bc3RgbaUnormSrgb => F::BC3_SRGB_BLOCK,
        T::Bc4RUnorm => F::BC4_UNORM_BLOCK,
        T::Bc4RSnorm => F::BC4_SNORM_BLOCK,
        T::Bc5RgUnorm => F::BC5_UNORM_BLOCK,
        T::Bc5RgSnorm => F::BC5_SNORM_BLOCK,
        T::Bc6hRgbUfloat => F::BC6H_UFLOAT_BLOCK,
        T::Bc6hRgbFloat => F::BC6H_SFLOAT_BLOCK,
        T::Bc7RgbaUnorm => F::BC7_UNORM_BLOCK,
        T::Bc7RgbaUnormSrgb => F::BC7_SRGB_BLOCK,
        T::Etc2Rgb8Unorm => F::ETC2_R8G8B8_UNORM_BLOCK,
        T::Etc2Rgb8UnormSrgb => F::ETC2_R8G8B8_SRGB_BLOCK,
        T::Etc2Rgb8A1Unorm => F::ETC2_R8G8B8A1_UNORM_BLOCK,
        T::Etc2Rgb8A1UnormSrgb => F::ETC2_R8G8B8A1_SRGB_BLOCK,
        T::Etc2Rgba8Unorm => F::ETC2_R8G8B8A8_UNORM_BLOCK,
        T::Etc2Rgba8UnormSrgb => F::ETC2_R8G8B8A8_SRGB_BLOCK,
        T::EacR11Unorm => F::EAC_R11_UNORM_BLOCK,
        T::EacR11Snorm => F::EAC_R11_SNORM_BLOCK,
        T::EacRg11Unorm => F::EAC_R11G11_UNORM_BLOCK,
        T::EacRg11Snorm => F::EAC_R11G11_SNORM_BLOCK,
        T::Depth16Unorm => F::D16_UNORM,
        T::Depth24Plus => depth.depth24,
        T::Depth24PlusStencil8 => depth.depth24_stencil8,
        T::Depth32Float => F::D32_SFLOAT,
        T::Depth32FloatStencil8 => F::D32_SFLOAT_S8_UINT,
        T::Stencil8 => depth.stencil8,
        T::Astc { block, channel } => return astc(block, channel),
        T::R64Uint | T::NV12 | T::P010 => return None,
    })
}

fn astc(block: wgpu_types::AstcBlock, channel: wgpu_types::AstcChannel) -> Option<vk::Format> {
    use wgpu_types::{AstcBlock as B, AstcChannel};
    let unorm = match block {
        B::B4x4 => vk::Format::ASTC_4X4_UNORM_BLOCK,
        B::B5x4 => vk::Format::ASTC_5X4_UNORM_BLOCK,
        B::B5x5 => vk::Format::ASTC_5X5_UNORM_BLOCK,
        B::B6x5 => vk::Format::ASTC_6X5_UNORM_BLOCK,
        B::B6x6 => vk::Format::ASTC_6X6_UNORM_BLOCK,
        B::B8x5 => vk::Format::ASTC_8X5_UNORM_BLOCK,
        B::B8x6 => vk::Format::ASTC_8X6_UNORM_BLOCK,
        B::B8x8 => vk::Format::ASTC_8X8_UNORM_BLOCK,
        B::B10x5 => vk::Format::ASTC_10X5_UNORM_BLOCK,
        B::B10x6 => vk::Format::ASTC_10X6_UNORM_BLOCK,
        B::B10x8 => vk::Format::ASTC_10X8_UNORM_BLOCK,
        B::B10x10 => vk::Format::ASTC_10X10_UNORM_BLOCK,
        B::B12x10 => vk::Format::ASTC_12X10_UNORM_BLOCK,
        B::B12x12 => vk::Format::ASTC_12X12_UNORM_BLOCK,
    };
    match channel {
        AstcChannel::Unorm => Some(unorm),
        // Each sRGB format follows its linear one in Vulkan's enumeration.
        AstcChannel::UnormSrgb => Some(vk::Format::from_raw(unorm.as_raw() + 1)),
        AstcChannel::Hdr => None,
    }
}

/// The format of a vertex attribute.
pub(crate) fn vertex_format(format: VertexFormat) -> vk::Format {
    use VertexFormat as V;
    use vk::Format as F;
    match format {
        V::Uint8 => F::R8_UINT,
        V::Uint8x2 => F::R8G8_UINT,
        V::Uint8x4 => F::R8G8B8A8_UINT,
        V::Sint8 => F::R8_SINT,
        V::Sint8x2 => F::R8G8_SINT,
        V::Sint8x4 => F::R8G8B8A8_SINT,
        V::Unorm8 => F::R8_UNORM,
        V::Unorm8x2 => F::R8G8_UNORM,
        V::Unorm8x4 => F::R8G8B8A8_UNORM,
        V::Snorm8 => F::R8_SNORM,
        V::Snorm8x2 => F::R8G8_SNORM,
        V::Snorm8x4 => F::R8G8B8A8_SNORM,
        V::Uint16 => F::R16_UINT,
        V::Uint16x2 => F::R16G16_UINT,
        V::Uint16x4 => F::R16G16B16A16_UINT,
        V::Sint16 => F::R16_SINT,
        V::Sint16x2 => F::R16G16_SINT,
        V::Sint16x4 => F::R16G16B16A16_SINT,
        V::Unorm16 => F::R16_UNORM,
        V::Unorm16x2 => F::R16G16_UNORM,
        V::Unorm16x4 => F::R16G16B16A16_UNORM,
        V::Snorm16 => F::R16_SNORM,
        V::Snorm16x2 => F::R16G16_SNORM,
        V::Snorm16x4 => F::R16G16B16A16_SNORM,
        V::Float16 => F::R16_SFLOAT,
        V::Float16x2 => F::R16G16_SFLOAT,
        V::Float16x4 => F::R16G16B16A16_SFLOAT,
        V::Float32 => F::R32_SFLOAT,
        V::Float32x2 => F::R32G32_SFLOAT,
        V::Float32x3 => F::R32G32B32_SFLOAT,
        V::Float32x4 => F::R32G32B32A32_SFLOAT,
        V::Uint32 => F::R32_UINT,
        V::Uint32x2 => F::R32G32_UINT,
        V::Uint32x3 => F::R32G32B32_UINT,
        V::Uint32x4 => F::R32G32B32A32_UINT,
        V::Sint32 => F::R32_SINT,
        V::Sint32x2 => F::R32G32_SINT,
        V::Sint32x3 => F::R32G32B32_SINT,
        V::Sint32x4 => F::R32G32B32A32_SINT,
        V::Float64 => F::R64_SFLOAT,
        V::Float64x2 => F::R64G64_SFLOAT,
        V::Float64x3 => F::R64G64B64_SFLOAT,
        V::Float64x4 => F::R64G64B64A64_SFLOAT,
        V::Unorm10_10_10_2 => F::A2B10G10R10_UNORM_PACK32,
        V::Unorm8x4Bgra => F::B8G8R8A8_UNORM,
    }
}

pub(crate) fn aspects(aspects: Aspects) -> vk::ImageAspectFlags {
    let mut flags = vk::ImageAspectFlags::empty();
    if aspects.contains(Aspects::COLOR) {
        flags |= vk::ImageAspectFlags::COLOR;
    }
    if aspects.contains(Aspects::DEPTH) {
        flags |= vk::ImageAspectFlags::DEPTH;
    }
    if aspects.contains(Aspects::STENCIL) {
        flags |= vk::ImageAspectFlags::STENCIL;
    }
    flags
}

pub(crate) fn buffer_usage(usage: BufferUsages) -> vk::BufferUsageFlags {
    // Copies cost no placement on any driver, and the services copy to and from whatever they are given.
    let mut flags = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    for (bit, of) in [
        (BufferUsages::INDEX, vk::BufferUsageFlags::INDEX_BUFFER),
        (BufferUsages::VERTEX, vk::BufferUsageFlags::VERTEX_BUFFER),
        (BufferUsages::UNIFORM, vk::BufferUsageFlags::UNIFORM_BUFFER),
        (BufferUsages::STORAGE, vk::BufferUsageFlags::STORAGE_BUFFER),
        (BufferUsages::INDIRECT, vk::BufferUsageFlags::INDIRECT_BUFFER),
    ] {
        if usage.contains(bit) {
            flags |= of;
        }
    }
    flags
}

pub(crate) fn image_usage(usage: TextureUsages, format: TextureFormat) -> vk::ImageUsageFlags {
    let attachment = if format.has_depth_aspect() || format.has_stencil_aspect() {
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
    } else {
        vk::ImageUsageFlags::COLOR_ATTACHMENT
    };
    let mut flags = vk::ImageUsageFlags::empty();
    for (bit, of) in [
        (TextureUsages::COPY_SRC, vk::ImageUsageFlags::TRANSFER_SRC),
        (TextureUsages::COPY_DST, vk::ImageUsageFlags::TRANSFER_DST),
        (TextureUsages::TEXTURE_BINDING, vk::ImageUsageFlags::SAMPLED),
        (TextureUsages::STORAGE_BINDING, vk::ImageUsageFlags::STORAGE),
        (TextureUsages::RENDER_ATTACHMENT, attachment),
    ] {
        if usage.contains(bit) {
            flags |= of;
        }
    }
    flags
}

pub(crate) fn image_type(dimension: TextureDimension) -> vk::ImageType {
    match dimension {
        TextureDimension::D1 => vk::ImageType::TYPE_1D,
        TextureDimension::D2 => vk::ImageType::TYPE_2D,
        TextureDimension::D3 => vk::ImageType::TYPE_3D,
    }
}

pub(crate) fn view_type(dimension: TextureViewDimension) -> vk::ImageViewType {
    match dimension {
        TextureViewDimension::D1 => vk::ImageViewType::TYPE_1D,
        TextureViewDimension::D2 => vk::ImageViewType::TYPE_2D,
        TextureViewDimension::D2Array => vk::ImageViewType::TYPE_2D_ARRAY,
        TextureViewDimension::Cube => vk::ImageViewType::CUBE,
        TextureViewDimension::CubeArray => vk::ImageViewType::CUBE_ARRAY,
        TextureViewDimension::D3 => vk::ImageViewType::TYPE_3D,
    }
}

pub(crate) fn samples(count: u32) -> vk::SampleCountFlags {
    // Vulkan numbers each count by itself.
    vk::SampleCountFlags::from_raw(count)
}

pub(crate) fn address_mode(mode: AddressMode) -> vk::SamplerAddressMode {
    match mode {
        AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        AddressMode::MirrorRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        AddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    }
}

/// For formats of floats and normalized integers alone: those that samplers with addresses of this kind meet in WebGPU.
pub(crate) fn border(color: SamplerBorderColor) -> vk::BorderColor {
    match color {
        SamplerBorderColor::TransparentBlack | SamplerBorderColor::Zero => {
            vk::BorderColor::FLOAT_TRANSPARENT_BLACK
        }
        SamplerBorderColor::OpaqueBlack => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        SamplerBorderColor::OpaqueWhite => vk::BorderColor::FLOAT_OPAQUE_WHITE,
    }
}

pub(crate) fn filter(mode: FilterMode) -> vk::Filter {
    match mode {
        FilterMode::Nearest => vk::Filter::NEAREST,
        FilterMode::Linear => vk::Filter::LINEAR,
    }
}

pub(crate) fn mipmap_mode(mode: FilterMode) -> vk::SamplerMipmapMode {
    match mode {
        FilterMode::Nearest => vk::SamplerMipmapMode::NEAREST,
        FilterMode::Linear => vk::SamplerMipmapMode::LINEAR,
    }
}

pub(crate) fn compare(function: CompareFunction) -> vk::CompareOp {
    match function {
        CompareFunction::Never => vk::CompareOp::NEVER,
        CompareFunction::Less => vk::CompareOp::LESS,
        CompareFunction::Equal => vk::CompareOp::EQUAL,
        CompareFunction::LessEqual => vk::CompareOp::LESS_OR_EQUAL,
        CompareFunction::Greater => vk::CompareOp::GREATER,
        CompareFunction::NotEqual => vk::CompareOp::NOT_EQUAL,
        CompareFunction::GreaterEqual => vk::CompareOp::GREATER_OR_EQUAL,
        CompareFunction::Always => vk::CompareOp::ALWAYS,
    }
}

/// The descriptor type; `None` for kinds outside the core tier.
pub(crate) fn descriptor_type(ty: &BindingType) -> Option<vk::DescriptorType> {
    Some(match ty {
        BindingType::Buffer { ty: BufferBindingType::Uniform, has_dynamic_offset: false, .. } => {
            vk::DescriptorType::UNIFORM_BUFFER
        }
        BindingType::Buffer { ty: BufferBindingType::Uniform, has_dynamic_offset: true, .. } => {
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
        }
        BindingType::Buffer { ty: BufferBindingType::Storage { .. }, has_dynamic_offset: false, .. } => {
            vk::DescriptorType::STORAGE_BUFFER
        }
        BindingType::Buffer { ty: BufferBindingType::Storage { .. }, has_dynamic_offset: true, .. } => {
            vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
        }
        BindingType::Sampler(_) => vk::DescriptorType::SAMPLER,
        BindingType::Texture { .. } => vk::DescriptorType::SAMPLED_IMAGE,
        BindingType::StorageTexture { .. } => vk::DescriptorType::STORAGE_IMAGE,
        _ => return None,
    })
}

pub(crate) fn shader_stages(stages: ShaderStages) -> vk::ShaderStageFlags {
    let mut flags = vk::ShaderStageFlags::empty();
    if stages.contains(ShaderStages::VERTEX) {
        flags |= vk::ShaderStageFlags::VERTEX;
    }
    if stages.contains(ShaderStages::FRAGMENT) {
        flags |= vk::ShaderStageFlags::FRAGMENT;
    }
    if stages.contains(ShaderStages::COMPUTE) {
        flags |= vk::ShaderStageFlags::COMPUTE;
    }
    flags
}

pub(crate) fn topology(topology: PrimitiveTopology) -> vk::PrimitiveTopology {
    match topology {
        PrimitiveTopology::PointList => vk::PrimitiveTopology::POINT_LIST,
        PrimitiveTopology::LineList => vk::PrimitiveTopology::LINE_LIST,
        PrimitiveTopology::LineStrip => vk::PrimitiveTopology::LINE_STRIP,
        PrimitiveTopology::TriangleList => vk::PrimitiveTopology::TRIANGLE_LIST,
        PrimitiveTopology::TriangleStrip => vk::PrimitiveTopology::TRIANGLE_STRIP,
    }
}

pub(crate) fn polygon_mode(mode: PolygonMode) -> vk::PolygonMode {
    match mode {
        PolygonMode::Fill => vk::PolygonMode::FILL,
        PolygonMode::Line => vk::PolygonMode::LINE,
        PolygonMode::Point => vk::PolygonMode::POINT,
    }
}

/// The winding, unchanged: the negative viewport height has already turned the picture the right way up.
pub(crate) fn front_face(face: FrontFace) -> vk::FrontFace {
    match face {
        FrontFace::Ccw => vk::FrontFace::COUNTER_CLOCKWISE,
        FrontFace::Cw => vk::FrontFace::CLOCKWISE,
    }
}

pub(crate) fn stencil_face(face: &StencilFaceState, read: u32, write: u32) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: stencil_operation(face.fail_op),
        pass_op: stencil_operation(face.pass_op),
        depth_fail_op: stencil_operation(face.depth_fail_op),
        compare_op: compare(face.compare),
        compare_mask: read,
        write_mask: write,
        reference: 0,
    }
}

fn stencil_operation(operation: StencilOperation) -> vk::StencilOp {
    match operation {
        StencilOperation::Keep => vk::StencilOp::KEEP,
        StencilOperation::Zero => vk::StencilOp::ZERO,
        StencilOperation::Replace => vk::StencilOp::REPLACE,
        StencilOperation::Invert => vk::StencilOp::INVERT,
        StencilOperation::IncrementClamp => vk::StencilOp::INCREMENT_AND_CLAMP,
        StencilOperation::DecrementClamp => vk::StencilOp::DECREMENT_AND_CLAMP,
        StencilOperation::IncrementWrap => vk::StencilOp::INCREMENT_AND_WRAP,
        StencilOperation::DecrementWrap => vk::StencilOp::DECREMENT_AND_WRAP,
    }
}

/// The operation and the source and destination factors.
pub(crate) fn blend(component: BlendComponent) -> (vk::BlendOp, vk::BlendFactor, vk::BlendFactor) {
    let operation = match component.operation {
        BlendOperation::Add => vk::BlendOp::ADD,
        BlendOperation::Subtract => vk::BlendOp::SUBTRACT,
        BlendOperation::ReverseSubtract => vk::BlendOp::REVERSE_SUBTRACT,
        BlendOperation::Min => vk::BlendOp::MIN,
        BlendOperation::Max => vk::BlendOp::MAX,
    };
    (operation, blend_factor(component.src_factor), blend_factor(component.dst_factor))
}

fn blend_factor(factor: BlendFactor) -> vk::BlendFactor {
    match factor {
        BlendFactor::Zero => vk::BlendFactor::ZERO,
        BlendFactor::One => vk::BlendFactor::ONE,
        BlendFactor::Src => vk::BlendFactor::SRC_COLOR,
        BlendFactor::OneMinusSrc => vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        BlendFactor::SrcAlpha => vk::BlendFactor::SRC_ALPHA,
        BlendFactor::OneMinusSrcAlpha => vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        BlendFactor::Dst => vk::BlendFactor::DST_COLOR,
        BlendFactor::OneMinusDst => vk::BlendFactor::ONE_MINUS_DST_COLOR,
        BlendFactor::DstAlpha => vk::BlendFactor::DST_ALPHA,
        BlendFactor::OneMinusDstAlpha => vk::BlendFactor::ONE_MINUS_DST_ALPHA,
        BlendFactor::SrcAlphaSaturated => vk::BlendFactor::SRC_ALPHA_SATURATE,
        BlendFactor::Constant => vk::BlendFactor::CONSTANT_COLOR,
        BlendFactor::OneMinusConstant => vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR,
        BlendFactor::Src1 => vk::BlendFactor::SRC1_COLOR,
        BlendFactor::OneMinusSrc1 => vk::BlendFactor::ONE_MINUS_SRC1_COLOR,
        BlendFactor::Src1Alpha => vk::BlendFactor::SRC1_ALPHA,
        BlendFactor::OneMinusSrc1Alpha => vk::BlendFactor::ONE_MINUS_SRC1_ALPHA,
    }
}

pub(crate) fn color_writes(mask: ColorWrites) -> vk::ColorComponentFlags {
    // Both number red, green, blue and alpha from bit zero.
    vk::ColorComponentFlags::from_raw(mask.bits() & 0xf)
}

pub(crate) fn index_type(format: IndexFormat) -> vk::IndexType {
    match format {
        IndexFormat::Uint16 => vk::IndexType::UINT16,
        IndexFormat::Uint32 => vk::IndexType::UINT32,
    }
}

pub(crate) fn load_op<T>(load: NativeLoad<T>) -> vk::AttachmentLoadOp {
    match load {
        NativeLoad::Load => vk::AttachmentLoadOp::LOAD,
        NativeLoad::Clear(_) => vk::AttachmentLoadOp::CLEAR,
        NativeLoad::DontCare => vk::AttachmentLoadOp::DONT_CARE,
    }
}

pub(crate) fn store_op(store: StoreOp) -> vk::AttachmentStoreOp {
    match store {
        StoreOp::Store => vk::AttachmentStoreOp::STORE,
        StoreOp::Discard => vk::AttachmentStoreOp::DONT_CARE,
    }
}

pub(crate) fn clear_color(value: ClearValue) -> vk::ClearColorValue {
    match value {
        ClearValue::Float(float32) => vk::ClearColorValue { float32 },
        ClearValue::Uint(uint32) => vk::ClearColorValue { uint32 },
        ClearValue::Sint(int32) => vk::ClearColorValue { int32 },
    }
}

/// Splits a place into the offset in texels and the first layer.
pub(crate) fn place(origin: Origin3d, volume: bool) -> (vk::Offset3D, u32) {
    let z = if volume { origin.z as i32 } else { 0 };
    (vk::Offset3D { x: origin.x as i32, y: origin.y as i32, z }, if volume { 0 } else { origin.z })
}

/// Splits an extent into texels and layers.
pub(crate) fn extent(extent: Extent3d, volume: bool) -> (vk::Extent3D, u32) {
    let depth = if volume { extent.depth_or_array_layers } else { 1 };
    let native = vk::Extent3D { width: extent.width, height: extent.height, depth };
    (native, if volume { 1 } else { extent.depth_or_array_layers })
}
