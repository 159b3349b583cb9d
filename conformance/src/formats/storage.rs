//! Storage textures: written by a kernel of their own format, read back.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::TextureUse;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{BufferUsages, ShaderStages, TextureAspect, TextureFormat as T, TextureUsages};
use purlin_rhi::{BindGroupEntry, ComputePassDesc, Device, FormatUses, TextureDesc, TextureViewDesc};

use super::{Codec, Kind, colors_with, expect_texel};
use crate::kit::{Program, perform, read_mip, texture_use, wrong};
use crate::shaders as s;
use crate::{Answer, Outcome};

/// The kernel that stores in each format that WGSL can name.
fn kernel(format: T) -> Option<&'static ShaderSource> {
    Some(match format {
        T::R8Unorm => &s::storage_r8unorm::SHADER,
        T::R8Snorm => &s::storage_r8snorm::SHADER,
        T::R8Uint => &s::storage_r8uint::SHADER,
        T::R8Sint => &s::storage_r8sint::SHADER,
        T::R16Unorm => &s::storage_r16unorm::SHADER,
        T::R16Snorm => &s::storage_r16snorm::SHADER,
        T::R16Uint => &s::storage_r16uint::SHADER,
        T::R16Sint => &s::storage_r16sint::SHADER,
        T::R16Float => &s::storage_r16float::SHADER,
        T::Rg8Unorm => &s::storage_rg8unorm::SHADER,
        T::Rg8Snorm => &s::storage_rg8snorm::SHADER,
        T::Rg8Uint => &s::storage_rg8uint::SHADER,
        T::Rg8Sint => &s::storage_rg8sint::SHADER,
        T::Rg16Unorm => &s::storage_rg16unorm::SHADER,
        T::Rg16Snorm => &s::storage_rg16snorm::SHADER,
        T::Rg16Uint => &s::storage_rg16uint::SHADER,
        T::Rg16Sint => &s::storage_rg16sint::SHADER,
        T::Rg16Float => &s::storage_rg16float::SHADER,
        T::R32Uint => &s::storage_r32uint::SHADER,
        T::R32Sint => &s::storage_r32sint::SHADER,
        T::R32Float => &s::storage_r32float::SHADER,
        T::Rgba8Unorm => &s::storage_rgba8unorm::SHADER,
        T::Rgba8Snorm => &s::storage_rgba8snorm::SHADER,
        T::Rgba8Uint => &s::storage_rgba8uint::SHADER,
        T::Rgba8Sint => &s::storage_rgba8sint::SHADER,
        T::Bgra8Unorm => &s::storage_bgra8unorm::SHADER,
        T::Rgb10a2Uint => &s::storage_rgb10a2uint::SHADER,
        T::Rgb10a2Unorm => &s::storage_rgb10a2unorm::SHADER,
        T::Rg11b10Ufloat => &s::storage_rg11b10ufloat::SHADER,
        T::Rg32Uint => &s::storage_rg32uint::SHADER,
        T::Rg32Sint => &s::storage_rg32sint::SHADER,
        T::Rg32Float => &s::storage_rg32float::SHADER,
        T::Rgba16Unorm => &s::storage_rgba16unorm::SHADER,
        T::Rgba16Snorm => &s::storage_rgba16snorm::SHADER,
        T::Rgba16Uint => &s::storage_rgba16uint::SHADER,
        T::Rgba16Sint => &s::storage_rgba16sint::SHADER,
        T::Rgba16Float => &s::storage_rgba16float::SHADER,
        T::Rgba32Uint => &s::storage_rgba32uint::SHADER,
        T::Rgba32Sint => &s::storage_rgba32sint::SHADER,
        T::Rgba32Float => &s::storage_rgba32float::SHADER,
        _ => return None,
    })
}

/// Four texels that the kind can hold, as bytes and as numbers.
fn texels(codec: &Codec, format: T) -> (Vec<u8>, Vec<[f64; 4]>) {
    let floats: [[f32; 4]; 4] =
        [[0.0, 0.25, 0.5, 1.0], [1.0, 0.75, 0.125, 0.0], [0.5, 0.5, 0.0, 0.25], [0.25, 1.0, 1.0, 0.75]];
    // Small enough for the two bits of alpha in one format.
    let words: [[u32; 4]; 4] = [[1, 2, 3, 3], [100, 90, 80, 2], [0, 127, 1, 0], [5, 50, 101, 1]];
    let integers: [[i32; 4]; 4] = [[-1, 2, -3, 4], [-100, 90, -128, 127], [0, -127, 1, 0], [5, -50, 101, -1]];
    match codec.kind {
        Kind::Uint => {
            (bytemuck::cast_slice(&words).to_vec(), words.map(|texel| texel.map(f64::from)).to_vec())
        }
        Kind::Sint => {
            (bytemuck::cast_slice(&integers).to_vec(), integers.map(|texel| texel.map(f64::from)).to_vec())
        }
        _ => {
            let sign =
                if codec.kind == Kind::Snorm || (codec.kind == Kind::Float && format != T::Rg11b10Ufloat) {
                    -1.0
                } else {
                    1.0
                };
            let signed = floats.map(|[r, g, b, a]| [r, g * sign, b, a * sign]);
            (bytemuck::cast_slice(&signed).to_vec(), signed.map(|texel| texel.map(f64::from)).to_vec())
        }
    }
}

pub(crate) fn storage_writes<B: Backend>(device: &mut Device<B>) -> Answer {
    for (format, codec) in colors_with(device, FormatUses::STORAGE | FormatUses::COPY_SRC) {
        let Some(source) = kernel(format) else {
            return Err(wrong(
                format!("{format:?}"),
                "no STORAGE use of a format that WGSL cannot name",
                "STORAGE",
            ));
        };
        let (bytes, expected) = texels(&codec, format);
        let program = Program::new(device, source, &["store"])?;
        let pipeline = program.compute(device, "store")?;
        let values = device.create_buffer_with("values", BufferUsages::STORAGE, &bytes)?;
        let usage = TextureUsages::STORAGE_BINDING | TextureUsages::COPY_SRC;
        let texture = device.create_texture(&TextureDesc::d2("stored", 4, 1, format, usage))?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let group = program.group(
            device,
            0,
            &[BindGroupEntry::buffer(0, *values), BindGroupEntry::texture(1, *view)],
        )?;
        let written = TextureUse::StorageWrite(ShaderStages::COMPUTE);
        let uses = [texture_use(*texture, format, 0..1, 0..1, written)];
        perform(device, |recorder| {
            recorder.compute_pass(
                &ComputePassDesc { label: "store", uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*pipeline);
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch([1, 1, 1]);
                },
            )?;
            Ok(())
        })?;
        let found = read_mip(device, *texture, 0, TextureAspect::All, [4, 1, 1])?;
        for (index, (texel, value)) in found.chunks_exact(codec.bytes()).zip(expected).enumerate() {
            let kept = std::array::from_fn(|channel| match channel {
                _ if channel < codec.channels => value[channel],
                3 => 1.0,
                _ => 0.0,
            });
            expect_texel(&format!("{format:?}, texel {index}"), &codec, codec.decode(texel), kept)?;
        }
    }
    Ok(Outcome::Passed)
}
