//! Depth and stencil formats: cleared, tested, written, sampled by aspect, copied by aspect.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Aspects, TextureUse};
use purlin_rhi::types::{
    CompareFunction, ShaderStages, StencilFaceState, StencilOperation, StencilState, TextureAspect,
    TextureFormat as T, TextureUsages,
};
use purlin_rhi::{
    AspectOps, BindGroupEntry, DepthStencilAttachment, DepthStencilDesc, Device, Features, FormatUses,
    RenderPassDesc, TextureDesc, TexturePlace, TextureViewDesc,
};

use super::DEPTH_STENCILS;
use crate::kit::{
    Canvas, Checked, Kernel, Paint, Painter, Raster, close, equal, extent, numbers, only, perform, read_mip,
    refused, rows, texture_use, wrong,
};
use crate::shaders::texels;
use crate::{Answer, Outcome};

const SIZE: [u32; 3] = [4, 2, 1];

fn claimed<B: Backend>(device: &Device<B>, uses: FormatUses) -> Vec<T> {
    DEPTH_STENCILS.into_iter().filter(|format| device.format_uses(*format).contains(uses)).collect()
}

/// The step of the depth aspect near one, at the coarsest that the format may be.
fn step(format: T) -> f32 {
    match format {
        T::Depth16Unorm => 1.0 / 65535.0,
        _ => 1.0 / 16_777_215.0,
    }
}

/// Depth 0.75 with 0.25 drawn over the left half, and stencil 3 with 7 over the left half, of a new texture.
fn drawn<B: Backend>(device: &mut Device<B>, format: T, usage: TextureUsages) -> Checked<Canvas> {
    let canvas =
        Canvas::with_usage(device, SIZE[0], SIZE[1], format, TextureUsages::RENDER_ATTACHMENT | usage)?;
    let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, 0.0, 1.0], [0.0; 4], 0.25, 0.0)])?;
    let (has_depth, has_stencil) = (format.has_depth_aspect(), format.has_stencil_aspect());
    let compare = if has_depth { CompareFunction::Less } else { CompareFunction::Always };
    let mut state = DepthStencilDesc::depth(format, has_depth, compare);
    if has_stencil {
        let face = StencilFaceState {
            compare: CompareFunction::Always,
            fail_op: StencilOperation::Keep,
            depth_fail_op: StencilOperation::Keep,
            pass_op: StencilOperation::Replace,
        };
        state.stencil = StencilState { front: face, back: face, read_mask: 0xFF, write_mask: 0xFF };
    }
    let pipeline = painter.colorless(device, &Raster { depth_stencil: Some(state), ..Default::default() })?;
    perform(device, |recorder| {
        let depth_stencil = Some(DepthStencilAttachment {
            view: *canvas.view,
            depth: has_depth.then(|| AspectOps::clear(0.75)),
            stencil: has_stencil.then(|| AspectOps::clear(3)),
        });
        let desc = RenderPassDesc {
            label: "depth-stencil",
            colors: &[],
            depth_stencil,
            uses: &[],
            ..Default::default()
        };
        recorder.render_pass(&desc, |pass| {
            pass.set_stencil_reference(7);
            painter.paint(pass, *pipeline, 0);
        })?;
        Ok(())
    })?;
    Ok(canvas)
}

pub(crate) fn depth_and_stencil_attachments<B: Backend>(device: &mut Device<B>) -> Answer {
    for format in claimed(device, FormatUses::DEPTH_STENCIL | FormatUses::SAMPLED) {
        let canvas = drawn(device, format, TextureUsages::TEXTURE_BINDING)?;
        let usage = TextureUse::Sampled(ShaderStages::COMPUTE);
        let all = texture_use(*canvas.texture, format, 0..1, 0..1, usage);
        for (has, aspect, aspects, entry) in [
            (
                format.has_depth_aspect(),
                TextureAspect::DepthOnly,
                Aspects::DEPTH,
                texels::entries::LOAD_DEPTH,
            ),
            (
                format.has_stencil_aspect(),
                TextureAspect::StencilOnly,
                Aspects::STENCIL,
                texels::entries::LOAD_UINT,
            ),
        ] {
            if !has {
                continue;
            }
            let desc = TextureViewDesc { aspect, ..Default::default() };
            let view = device.create_texture_view(*canvas.texture, &desc)?;
            let bytes = Kernel {
                source: &texels::SHADER,
                entry,
                bytes: 8 * 16,
                groups: SIZE,
                inputs: &[BindGroupEntry::texture(1, *view)],
                uses: &[only(aspects, all)],
            }
            .run(device)?;
            let what = format!("{aspect:?} of {format:?}");
            if aspects == Aspects::DEPTH {
                let found: Vec<f32> = numbers::<[f32; 4]>(&bytes).iter().map(|texel| texel[0]).collect();
                close(what, &found, &[0.25, 0.25, 0.75, 0.75].repeat(2), step(format))?;
            } else {
                // Only the first channel means anything.
                let found: Vec<u32> = numbers::<[u32; 4]>(&bytes).iter().map(|texel| texel[0]).collect();
                equal(what, &found, &[7, 7, 3, 3].repeat(2))?;
            }
        }
    }
    Ok(Outcome::Passed)
}

/// Depth as copies hold it.
fn depths(format: T, bytes: &[u8]) -> Vec<f32> {
    match format {
        T::Depth16Unorm => numbers::<u16>(bytes).iter().map(|word| f32::from(*word) / 65535.0).collect(),
        _ => numbers::<f32>(bytes),
    }
}

pub(crate) fn c007_aspects_are_copied_apart<B: Backend>(device: &mut Device<B>) -> Answer {
    let mut tested = 0;
    for format in claimed(device, FormatUses::DEPTH_STENCIL | FormatUses::COPY_SRC) {
        let canvas = drawn(device, format, TextureUsages::COPY_SRC)?;
        let read = |device: &mut Device<B>, aspect| read_mip(device, *canvas.texture, 0, aspect, SIZE);
        // The depth of the 24-bit formats has no layout that all backends share, so its copy is refused.
        let opaque = matches!(format, T::Depth24Plus | T::Depth24PlusStencil8);
        if format.has_depth_aspect() {
            match (opaque, read(device, TextureAspect::DepthOnly)) {
                (false, found) => {
                    close(
                        format!("depth of {format:?}"),
                        &depths(format, &found?),
                        &[0.25, 0.25, 0.75, 0.75].repeat(2),
                        step(format),
                    )?;
                }
                (true, Err(crate::Failure::Device(error))) => {
                    refused::<()>("24-bit depth", "linear layout", Err(error))?
                }
                (true, _) => {
                    return Err(wrong(format!("copy of the depth of {format:?}"), "an error", "success"));
                }
            }
            tested += 1;
        }
        if format.has_stencil_aspect() {
            // One byte a texel, whatever the texture holds.
            let found = read(device, TextureAspect::StencilOnly)?;
            equal(format!("stencil of {format:?}"), &found, &[7, 7, 3, 3].repeat(2))?;
            tested += 1;
        }
        if format.is_combined_depth_stencil_format() {
            match read(device, TextureAspect::All) {
                Err(crate::Failure::Device(error)) => {
                    refused::<()>("both aspects", "one aspect", Err(error))?
                }
                _ => return Err(wrong("a copy of both aspects", "an error", "success")),
            }
        }
    }
    if tested == 0 {
        return Ok(Outcome::Unsupported("COPY_SRC use of a depth or stencil format".into()));
    }
    Ok(Outcome::Passed)
}

pub(crate) fn aspects_are_written_from_buffers<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::COPY_DST | TextureUsages::COPY_SRC | TextureUsages::RENDER_ATTACHMENT;
    let uploads = device.capabilities().features.contains(Features::DEPTH_UPLOADS);
    for format in claimed(device, FormatUses::DEPTH_STENCIL | FormatUses::COPY_SRC | FormatUses::COPY_DST) {
        let texture = device.create_texture(&TextureDesc::d2("written", SIZE[0], SIZE[1], format, usage))?;
        let mut write = |aspect, texel: u32, data: &[u8]| -> Checked {
            let place = TexturePlace { aspect, ..TexturePlace::mip(*texture, 0) };
            device.write_texture(&place, extent(SIZE), &rows(SIZE[0] * texel, SIZE[1]), data)?;
            let found = read_mip(device, *texture, 0, aspect, SIZE)?;
            equal(format!("{aspect:?} of {format:?}"), &found, data)
        };
        if format == T::Depth16Unorm {
            let data: Vec<u16> = (0..8).map(|i| i * 9000).collect();
            write(TextureAspect::DepthOnly, 2, bytemuck::cast_slice(&data))?;
        }
        if format.has_stencil_aspect() {
            write(TextureAspect::StencilOnly, 1, &[0, 1, 2, 3, 252, 253, 254, 255])?;
        }
        if matches!(format, T::Depth32Float | T::Depth32FloatStencil8) {
            let data: Vec<f32> = (0..8).map(|i| i as f32 / 8.0).collect();
            match (uploads, write(TextureAspect::DepthOnly, 4, bytemuck::cast_slice(&data))) {
                (true, written) => written?,
                (false, Err(crate::Failure::Device(error))) => {
                    refused::<()>("a depth of floats", "feature DEPTH_UPLOADS", Err(error))?;
                }
                (false, _) => {
                    return Err(wrong("an upload of depth without its feature", "an error", "success"));
                }
            }
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn combined_formats_are_copied_whole<B: Backend>(device: &mut Device<B>) -> Answer {
    for format in claimed(device, FormatUses::DEPTH_STENCIL | FormatUses::COPY_SRC | FormatUses::COPY_DST) {
        if !format.has_stencil_aspect() {
            continue;
        }
        let source = drawn(device, format, TextureUsages::COPY_SRC)?;
        let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
        let target = device.create_texture(&TextureDesc::d2("whole", SIZE[0], SIZE[1], format, usage))?;
        perform(device, |recorder| {
            recorder.copy_texture(
                &TexturePlace::mip(*source.texture, 0),
                &TexturePlace::mip(*target, 0),
                extent(SIZE),
            )?;
            Ok(())
        })?;
        let found = read_mip(device, *target, 0, TextureAspect::StencilOnly, SIZE)?;
        equal(format!("stencil of {format:?}"), &found, &[7, 7, 3, 3].repeat(2))?;
        if format == T::Depth32FloatStencil8 {
            let found = read_mip(device, *target, 0, TextureAspect::DepthOnly, SIZE)?;
            close("depth", &numbers(&found), &[0.25, 0.25, 0.75, 0.75].repeat(2), 1e-6)?;
        }
    }
    Ok(Outcome::Passed)
}
