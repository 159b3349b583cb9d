//! Storage textures: written, read, and changed in place by a kernel of their own format.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::TextureUse;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{BufferUsages, ShaderStages, TextureAspect, TextureFormat as T, TextureUsages};
use purlin_rhi::{
    BindGroupEntry, ComputePassDesc, Device, FormatUses, Owned, TextureDesc, TexturePlace, TextureViewDesc,
    kind,
};

use super::{Codec, Kind, colors_with, expect_texel};
use crate::kit::{Checked, Kernel, Program, extent, numbers, perform, read_mip, rows, texture_use, wrong};
use crate::shaders as s;
use crate::{Answer, Outcome};

macro_rules! kernels {
    ($($format:ident: $write:ident, $read:ident;)*) => {
        /// The kernel that stores in each format that WGSL can name.
        fn kernel(format: T) -> Option<&'static ShaderSource> {
            match format {
                $(T::$format => Some(&s::$write::SHADER),)*
                _ => None,
            }
        }

        /// The kernels that read in each format.
        fn reading(format: T) -> Option<&'static ShaderSource> {
            match format {
                $(T::$format => Some(&s::$read::SHADER),)*
                _ => None,
            }
        }
    };
}

kernels! {
    R8Unorm: storage_r8unorm, storage_read_r8unorm;
    R8Snorm: storage_r8snorm, storage_read_r8snorm;
    R8Uint: storage_r8uint, storage_read_r8uint;
    R8Sint: storage_r8sint, storage_read_r8sint;
    R16Unorm: storage_r16unorm, storage_read_r16unorm;
    R16Snorm: storage_r16snorm, storage_read_r16snorm;
    R16Uint: storage_r16uint, storage_read_r16uint;
    R16Sint: storage_r16sint, storage_read_r16sint;
    R16Float: storage_r16float, storage_read_r16float;
    Rg8Unorm: storage_rg8unorm, storage_read_rg8unorm;
    Rg8Snorm: storage_rg8snorm, storage_read_rg8snorm;
    Rg8Uint: storage_rg8uint, storage_read_rg8uint;
    Rg8Sint: storage_rg8sint, storage_read_rg8sint;
    Rg16Unorm: storage_rg16unorm, storage_read_rg16unorm;
    Rg16Snorm: storage_rg16snorm, storage_read_rg16snorm;
    Rg16Uint: storage_rg16uint, storage_read_rg16uint;
    Rg16Sint: storage_rg16sint, storage_read_rg16sint;
    Rg16Float: storage_rg16float, storage_read_rg16float;
    R32Uint: storage_r32uint, storage_read_r32uint;
    R32Sint: storage_r32sint, storage_read_r32sint;
    R32Float: storage_r32float, storage_read_r32float;
    Rgba8Unorm: storage_rgba8unorm, storage_read_rgba8unorm;
    Rgba8Snorm: storage_rgba8snorm, storage_read_rgba8snorm;
    Rgba8Uint: storage_rgba8uint, storage_read_rgba8uint;
    Rgba8Sint: storage_rgba8sint, storage_read_rgba8sint;
    Bgra8Unorm: storage_bgra8unorm, storage_read_bgra8unorm;
    Rgb10a2Uint: storage_rgb10a2uint, storage_read_rgb10a2uint;
    Rgb10a2Unorm: storage_rgb10a2unorm, storage_read_rgb10a2unorm;
    Rg11b10Ufloat: storage_rg11b10ufloat, storage_read_rg11b10ufloat;
    Rg32Uint: storage_rg32uint, storage_read_rg32uint;
    Rg32Sint: storage_rg32sint, storage_read_rg32sint;
    Rg32Float: storage_rg32float, storage_read_rg32float;
    Rgba16Unorm: storage_rgba16unorm, storage_read_rgba16unorm;
    Rgba16Snorm: storage_rgba16snorm, storage_read_rgba16snorm;
    Rgba16Uint: storage_rgba16uint, storage_read_rgba16uint;
    Rgba16Sint: storage_rgba16sint, storage_read_rgba16sint;
    Rgba16Float: storage_rgba16float, storage_read_rgba16float;
    Rgba32Uint: storage_rgba32uint, storage_read_rgba32uint;
    Rgba32Sint: storage_rgba32sint, storage_read_rgba32sint;
    Rgba32Float: storage_rgba32float, storage_read_rgba32float;
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

/// A texture with its view, and what its texels are.
type Stored = (Owned<kind::Texture>, Owned<kind::TextureView>, Vec<[f64; 4]>);

/// Texels of the kind in a texture that storage bindings use.
fn stored<B: Backend>(device: &mut Device<B>, format: T, codec: &Codec) -> Checked<Stored> {
    let usage = TextureUsages::STORAGE_BINDING | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let texture = device.create_texture(&TextureDesc::d2("stored", 4, 1, format, usage))?;
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let data: Vec<Vec<u8>> = (0..4).map(|seed| codec.sample(seed + 20)).collect();
    let layout = rows(4 * codec.bytes() as u32, 1);
    device.write_texture(&TexturePlace::mip(*texture, 0), extent([4, 1, 1]), &layout, &data.concat())?;
    Ok((texture, view, data.iter().map(|texel| codec.decode(texel)).collect()))
}

fn unnamed(format: T) -> crate::Failure {
    wrong(format!("{format:?}"), "no STORAGE use of a format that WGSL cannot name", "STORAGE")
}

pub(crate) fn storage_reads<B: Backend>(device: &mut Device<B>) -> Answer {
    let uses = FormatUses::STORAGE_READ_ONLY | FormatUses::COPY_DST | FormatUses::COPY_SRC;
    for (format, codec) in colors_with(device, uses) {
        let Some(source) = reading(format) else { return Err(unnamed(format)) };
        let (texture, view, expected) = stored(device, format, &codec)?;
        let read = TextureUse::StorageRead(ShaderStages::COMPUTE);
        let bytes = Kernel {
            source,
            entry: "load",
            bytes: 4 * 16,
            groups: [1, 1, 1],
            inputs: &[BindGroupEntry::texture(1, *view)],
            uses: &[texture_use(*texture, format, 0..1, 0..1, read)],
        }
        .run(device)?;
        let found: Vec<[f64; 4]> = match codec.kind {
            Kind::Uint => numbers::<[u32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
            Kind::Sint => numbers::<[i32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
            _ => numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel.map(f64::from)).collect(),
        };
        for (index, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            expect_texel(&format!("{format:?}, read texel {index}"), &codec, found, expected)?;
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn storage_reads_and_writes<B: Backend>(device: &mut Device<B>) -> Answer {
    let uses = FormatUses::STORAGE_READ_WRITE | FormatUses::COPY_DST | FormatUses::COPY_SRC;
    let formats = colors_with(device, uses);
    if formats.is_empty() {
        return Ok(Outcome::Unsupported("STORAGE_READ_WRITE use of a color format".into()));
    }
    for (format, codec) in formats {
        let Some(source) = reading(format) else { return Err(unnamed(format)) };
        let (texture, view, before) = stored(device, format, &codec)?;
        let program = Program::new(device, source, &["swap"])?;
        let pipeline = program.compute(device, "swap")?;
        let group = program.group(device, 0, &[BindGroupEntry::texture(0, *view)])?;
        let written = TextureUse::StorageWrite(ShaderStages::COMPUTE);
        let uses = [texture_use(*texture, format, 0..1, 0..1, written)];
        perform(device, |recorder| {
            recorder.compute_pass(
                &ComputePassDesc { label: "swap", uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*pipeline);
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch([1, 1, 1]);
                },
            )?;
            Ok(())
        })?;
        let found = read_mip(device, *texture, 0, TextureAspect::All, [4, 1, 1])?;
        for (index, (texel, [r, g, b, a])) in found.chunks_exact(codec.bytes()).zip(before).enumerate() {
            let swapped = [g, r, a, b];
            let kept = std::array::from_fn(|channel| match channel {
                _ if channel < codec.channels => codec.clamped(channel, swapped[channel]),
                3 => 1.0,
                _ => 0.0,
            });
            let what = format!("{format:?}, texel {index} with its channels changed about");
            expect_texel(&what, &codec, codec.decode(texel), kept)?;
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn storage_writes<B: Backend>(device: &mut Device<B>) -> Answer {
    for (format, codec) in colors_with(device, FormatUses::STORAGE_WRITE_ONLY | FormatUses::COPY_SRC) {
        let Some(source) = kernel(format) else {
            return Err(unnamed(format));
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
