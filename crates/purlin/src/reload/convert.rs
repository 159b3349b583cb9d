//! A compiled shader as the constants that a build script would have generated of it.

use std::num::NonZeroU64;

use purlin_rhi::shader::{EntryPoint, ShaderBinding, ShaderIo, ShaderSource};
use purlin_rhi::types::{
    BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess, TextureFormat,
    TextureSampleType, TextureViewDimension, VertexFormat,
};
use purlin_shader::Shader;
use purlin_shader::reflect::{
    Binding, BindingKind, Entry, Io, SampleKind, SamplerKind, Stage, StorageAccess, ViewKind,
};

/// For the rest of the program's life: see the module's page.
fn list<T>(items: impl Iterator<Item = Result<T, String>>) -> Result<&'static [T], String> {
    Ok(Box::leak(items.collect::<Result<Box<[T]>, String>>()?))
}

fn text(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// The constants, or what of the shader this build has no word for.
pub(super) fn source(shader: &Shader) -> Result<ShaderSource, String> {
    Ok(ShaderSource {
        entries: list(shader.reflection.entries.iter().map(entry))?,
        label: text(&shader.name),
        spirv: Box::leak(shader.spirv.as_slice().into()),
        wgsl: text(&shader.wgsl),
    })
}

fn entry(entry: &Entry) -> Result<EntryPoint, String> {
    Ok(EntryPoint {
        name: text(&entry.name),
        stage: match entry.stage {
            Stage::Vertex => ShaderStages::VERTEX,
            Stage::Fragment => ShaderStages::FRAGMENT,
            Stage::Compute => ShaderStages::COMPUTE,
        },
        workgroup_size: entry.workgroup_size,
        bindings: list(entry.bindings.iter().map(binding))?,
        inputs: list(entry.inputs.iter().map(io))?,
        outputs: list(entry.outputs.iter().map(io))?,
        immediate_size: entry.immediate_size,
        writes_depth: entry.writes_depth,
    })
}

fn io(io: &Io) -> Result<ShaderIo, String> {
    Ok(ShaderIo { location: io.location, name: text(&io.name), format: vertex_format(io.format)? })
}

fn binding(binding: &Binding) -> Result<ShaderBinding, String> {
    Ok(ShaderBinding {
        group: binding.group,
        binding: binding.binding,
        name: text(&binding.name),
        ty: binding_type(binding.kind)?,
        count: binding.count,
    })
}

fn binding_type(kind: BindingKind) -> Result<BindingType, String> {
    let buffer = |ty, min_size| BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: NonZeroU64::new(min_size),
    };
    Ok(match kind {
        BindingKind::Uniform { min_size } => buffer(BufferBindingType::Uniform, min_size),
        BindingKind::Storage { read_only, min_size } => {
            buffer(BufferBindingType::Storage { read_only }, min_size)
        }
        BindingKind::Sampler { sampler } => BindingType::Sampler(match sampler {
            SamplerKind::Filtering => SamplerBindingType::Filtering,
            SamplerKind::NonFiltering => SamplerBindingType::NonFiltering,
            SamplerKind::Comparison => SamplerBindingType::Comparison,
        }),
        BindingKind::Texture { sample, view, multisampled } => BindingType::Texture {
            sample_type: match sample {
                SampleKind::Float => TextureSampleType::Float { filterable: true },
                SampleKind::UnfilterableFloat => TextureSampleType::Float { filterable: false },
                SampleKind::Depth => TextureSampleType::Depth,
                SampleKind::Sint => TextureSampleType::Sint,
                SampleKind::Uint => TextureSampleType::Uint,
            },
            view_dimension: view_dimension(view),
            multisampled,
        },
        BindingKind::StorageTexture { access, format, view } => BindingType::StorageTexture {
            access: match access {
                StorageAccess::ReadOnly => StorageTextureAccess::ReadOnly,
                StorageAccess::WriteOnly => StorageTextureAccess::WriteOnly,
                StorageAccess::ReadWrite => StorageTextureAccess::ReadWrite,
                StorageAccess::Atomic => StorageTextureAccess::Atomic,
            },
            format: storage_format(format)?,
            view_dimension: view_dimension(view),
        },
    })
}

fn view_dimension(view: ViewKind) -> TextureViewDimension {
    match view {
        ViewKind::D1 => TextureViewDimension::D1,
        ViewKind::D2 => TextureViewDimension::D2,
        ViewKind::D2Array => TextureViewDimension::D2Array,
        ViewKind::Cube => TextureViewDimension::Cube,
        ViewKind::CubeArray => TextureViewDimension::CubeArray,
        ViewKind::D3 => TextureViewDimension::D3,
    }
}

/// Formats by the names that reflection gives them, which are those of the generated code.
macro_rules! by_name {
    ($name:ident, $ty:ident: $($format:ident)*) => {
        fn $name(name: &str) -> Result<$ty, String> {
            match name {
                $(stringify!($format) => Ok($ty::$format),)*
                _ => Err(format!("format `{name}` is not known here")),
            }
        }
    };
}

by_name! { vertex_format, VertexFormat:
    Float32 Float32x2 Float32x3 Float32x4 Sint32 Sint32x2 Sint32x3 Sint32x4 Uint32 Uint32x2 Uint32x3 Uint32x4
    Float64 Float64x2 Float64x3 Float64x4
}

by_name! { storage_format, TextureFormat:
    R8Unorm R8Snorm R8Uint R8Sint R16Uint R16Sint R16Float Rg8Unorm Rg8Snorm Rg8Uint Rg8Sint R32Uint R32Sint
    R32Float Rg16Uint Rg16Sint Rg16Float Rgba8Unorm Rgba8Snorm Rgba8Uint Rgba8Sint Bgra8Unorm Rgb10a2Uint
    Rgb10a2Unorm Rg11b10Ufloat R64Uint Rg32Uint Rg32Sint Rg32Float Rgba16Uint Rgba16Sint Rgba16Float Rgba32Uint
    Rgba32Sint Rgba32Float R16Unorm R16Snorm Rg16Unorm Rg16Snorm Rgba16Unorm Rgba16Snorm
}
