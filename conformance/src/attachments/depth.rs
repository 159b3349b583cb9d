//! Depth attachments: comparisons, loads and discards, bias, depth from the shader, read-only depth that is sampled.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Aspects, TextureUse};
use purlin_rhi::types::{
    CompareFunction as C, DepthBiasState, ShaderStages, TextureAspect, TextureFormat, TextureUsages,
};
use purlin_rhi::{
    AspectOps, BindGroupEntry, DepthStencilAttachment, DepthStencilDesc, Device, LoadOp, Owned,
    RenderPassDesc, StoreOp, TextureView, TextureViewDesc, kind,
};

use crate::kit::{
    Canvas, Checked, FULL, Image, Paint, Painter, Program, Raster, clear, close, equal, numbers, one_color,
    only, perform, refused, texture_use, wrong,
};
use crate::shaders::attachments;
use crate::{Answer, Outcome};

const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const WHITE: [f32; 4] = [1.0; 4];
const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

fn attachment(view: TextureView, depth: AspectOps<f32>) -> Option<DepthStencilAttachment> {
    Some(DepthStencilAttachment { view, depth: Some(depth), stencil: None })
}

fn depth_canvas<B: Backend>(device: &mut Device<B>, side: u32) -> Checked<Canvas> {
    Canvas::sampled(device, side, side, DEPTH)
}

pub(crate) fn depth_comparisons<B: Backend>(device: &mut Device<B>) -> Answer {
    // Three columns below, at and above the depth that is there.
    let columns = [-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0];
    let paints: Vec<Paint> = (0..3)
        .map(|i| Paint::new([columns[i], -1.0, columns[i + 1], 1.0], WHITE, 0.25 + 0.25 * i as f32, 0.0))
        .collect();
    let painter = Painter::new(device, &paints)?;
    let depth = depth_canvas(device, 3)?;
    let canvas = Canvas::new(device, 3, 3, RGBA8)?;
    let cases = [
        (C::Never, [false, false, false]),
        (C::Less, [true, false, false]),
        (C::Equal, [false, true, false]),
        (C::LessEqual, [true, true, false]),
        (C::Greater, [false, false, true]),
        (C::NotEqual, [true, false, true]),
        (C::GreaterEqual, [false, true, true]),
        (C::Always, [true, true, true]),
    ];
    for (compare, passes) in cases {
        let targets = [Some(RGBA8.into())];
        let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, true, compare));
        let pipeline =
            painter.pipeline(device, &Raster { targets: &targets, depth_stencil, ..Default::default() })?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, BLACK)];
            let depth_stencil = attachment(*depth.view, AspectOps::clear(0.5));
            recorder.render_pass(
                &RenderPassDesc { depth_stencil, ..one_color("compare", &colors) },
                |pass| {
                    (0..3).for_each(|index| painter.paint(pass, *pipeline, index));
                },
            )?;
            Ok(())
        })?;
        let expected = |x: u32| if passes[x as usize] { [255; 4] } else { [0, 0, 0, 255] };
        canvas.image(device)?.expect(format!("{compare:?}"), 0, |x, _| expected(x))?;
        // What passed was written, except that nothing changed where nothing passed.
        let row: Vec<f32> = (0..3).map(|i| if passes[i] { 0.25 + 0.25 * i as f32 } else { 0.5 }).collect();
        close(format!("depth of {compare:?}"), &numbers::<f32>(&depth.bytes(device)?)[..3], &row, 1e-6)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn depth_test_without_write<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = Painter::new(device, &[Paint::new(FULL, WHITE, 0.25, 0.0)])?;
    let depth = depth_canvas(device, 2)?;
    let canvas = Canvas::new(device, 2, 2, RGBA8)?;
    let targets = [Some(RGBA8.into())];
    let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, false, C::Less));
    let pipeline =
        painter.pipeline(device, &Raster { targets: &targets, depth_stencil, ..Default::default() })?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, BLACK)];
        let depth_stencil = attachment(*depth.view, AspectOps::clear(0.5));
        recorder.render_pass(
            &RenderPassDesc { depth_stencil, ..one_color("no write", &colors) },
            |pass| {
                painter.paint(pass, *pipeline, 0);
            },
        )?;
        Ok(())
    })?;
    canvas.image(device)?.expect("drawn", 0, |_, _| [255; 4])?;
    close("depth is kept", &numbers(&depth.bytes(device)?), &[0.5; 4], 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn depth_loads_and_discards<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = Painter::new(
        device,
        &[Paint::new([-1.0, -1.0, 0.0, 1.0], WHITE, 0.25, 0.0), Paint::new(FULL, WHITE, 0.5, 0.0)],
    )?;
    let depth = depth_canvas(device, 4)?;
    let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, true, C::Less));
    let pipeline = painter.colorless(device, &Raster { depth_stencil, ..Default::default() })?;
    let pass = |device: &mut Device<B>, ops: AspectOps<f32>, paint: usize| -> Checked {
        perform(device, |recorder| {
            let desc = RenderPassDesc {
                label: "depth",
                colors: &[],
                depth_stencil: attachment(*depth.view, ops),
                uses: &[],
                ..Default::default()
            };
            recorder.render_pass(&desc, |pass| painter.paint(pass, *pipeline, paint))?;
            Ok(())
        })
    };
    pass(device, AspectOps::clear(0.75), 0)?;
    pass(device, AspectOps::load(), 1)?;
    let row = [0.25, 0.25, 0.5, 0.5];
    close("loaded", &numbers(&depth.bytes(device)?), &row.repeat(4), 1e-6)?;
    pass(device, AspectOps::load().discarded(), 1)?;
    match pass(device, AspectOps::load(), 1) {
        Err(crate::Failure::Device(error)) => refused::<()>("load after discard", "undefined", Err(error))?,
        _ => return Err(wrong("load after discard", "an error", "success")),
    }
    // Whatever was there, a clear begins anew; so does a pass that does not care and writes everything.
    pass(device, AspectOps::clear(1.0), 1)?;
    close("cleared anew", &numbers(&depth.bytes(device)?), &[0.5; 16], 1e-6)?;
    let always = Some(DepthStencilDesc::depth(DEPTH, true, C::Always));
    let always = painter.colorless(device, &Raster { depth_stencil: always, ..Default::default() })?;
    perform(device, |recorder| {
        let ops = AspectOps { load: LoadOp::DontCare, store: StoreOp::Store, read_only: false };
        let desc = RenderPassDesc {
            label: "any",
            colors: &[],
            depth_stencil: attachment(*depth.view, ops),
            uses: &[],
            ..Default::default()
        };
        recorder.render_pass(&desc, |pass| painter.paint(pass, *always, 1))?;
        Ok(())
    })?;
    close("written over anything", &numbers(&depth.bytes(device)?), &[0.5; 16], 1e-6)?;
    Ok(Outcome::Passed)
}

pub(crate) fn depth_bias<B: Backend>(device: &mut Device<B>) -> Answer {
    let sloped = Paint::new(FULL, WHITE, 0.25, 0.5);
    let flat = Paint::new(FULL, WHITE, 0.5, 0.0);
    let painter = Painter::new(device, &[flat, sloped])?;
    let depth = depth_canvas(device, 8)?;
    let stored = |device: &mut Device<B>, bias: DepthBiasState, paint: usize| -> Checked<Vec<f32>> {
        let depth_stencil =
            Some(DepthStencilDesc { bias, ..DepthStencilDesc::depth(DEPTH, true, C::Always) });
        let pipeline = painter.colorless(device, &Raster { depth_stencil, ..Default::default() })?;
        perform(device, |recorder| {
            let depth_stencil = attachment(*depth.view, AspectOps::clear(0.0));
            let desc =
                RenderPassDesc { label: "bias", colors: &[], depth_stencil, uses: &[], ..Default::default() };
            recorder.render_pass(&desc, |pass| painter.paint(pass, *pipeline, paint))?;
            Ok(())
        })?;
        Ok(numbers(&depth.bytes(device)?))
    };
    let none = DepthBiasState { constant: 0, slope_scale: 0.0, clamp: 0.0 };
    let plain = stored(device, none, 1)?;
    // For floats a unit is the exponent's: 2^(-1 - 23) at 0.5. Drivers may take twice that, so bounds are compared.
    let unit = 2f32.powi(-24);
    let found = stored(device, DepthBiasState { constant: 1024, ..none }, 0)?;
    let moved = found[0] - 0.5;
    if !(1024.0 * unit * 0.5..=1024.0 * unit * 4.0).contains(&moved) {
        return Err(wrong("constant bias of 1024", format!("about {}", 1024.0 * unit), moved));
    }
    // Depth grows by 0.5 over 8 pixels: a slope of 1/16, so twice the slope moves it by 1/8.
    let found = stored(device, DepthBiasState { slope_scale: 2.0, ..none }, 1)?;
    let expected: Vec<f32> = plain.iter().map(|depth| depth + 0.125).collect();
    close("slope bias of 2", &found, &expected, 1e-4)?;
    let found = stored(device, DepthBiasState { slope_scale: 2.0, clamp: 0.03125, ..none }, 1)?;
    let expected: Vec<f32> = plain.iter().map(|depth| depth + 0.03125).collect();
    close("bias clamped to 1/32", &found, &expected, 1e-4)?;
    let found = stored(device, DepthBiasState { slope_scale: -2.0, ..none }, 1)?;
    let expected: Vec<f32> = plain.iter().map(|depth| depth - 0.125).collect();
    close("slope bias of -2", &found, &expected, 1e-4)?;
    Ok(Outcome::Passed)
}

pub(crate) fn depth_from_the_fragment_shader<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [attachments::entries::FULLSCREEN, attachments::entries::OWN_DEPTH];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let depth = depth_canvas(device, 8)?;
    let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, true, C::Always));
    let pipeline =
        program.raster(device, names[0], Some(names[1]), &Raster { depth_stencil, ..Default::default() })?;
    perform(device, |recorder| {
        let depth_stencil = attachment(*depth.view, AspectOps::clear(0.0));
        let desc = RenderPassDesc {
            label: "own depth",
            colors: &[],
            depth_stencil,
            uses: &[],
            ..Default::default()
        };
        recorder.render_pass(&desc, |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    let row: Vec<f32> = (0..8).map(|x| (x as f32 + 0.5) / 8.0).collect();
    close("depth by column", &numbers(&depth.bytes(device)?), &row.repeat(8), 1e-6)?;
    Ok(Outcome::Passed)
}

/// The pass of C063: depth is attached as `ops` says and sampled by the same draw.
struct Sampling {
    depth: Canvas,
    canvas: Canvas,
    group: Owned<kind::BindGroup>,
    pipeline: Owned<kind::RenderPipeline>,
}

impl Sampling {
    fn new<B: Backend>(device: &mut Device<B>) -> Checked<Self> {
        let depth = depth_canvas(device, 8)?;
        let canvas = Canvas::new(device, 8, 8, RGBA8)?;
        let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, 0.0, 1.0], WHITE, 0.25, 0.0)])?;
        let write = Some(DepthStencilDesc::depth(DEPTH, true, C::Always));
        let write = painter.colorless(device, &Raster { depth_stencil: write, ..Default::default() })?;
        perform(device, |recorder| {
            let depth_stencil = attachment(*depth.view, AspectOps::clear(0.75));
            let desc = RenderPassDesc {
                label: "write",
                colors: &[],
                depth_stencil,
                uses: &[],
                ..Default::default()
            };
            recorder.render_pass(&desc, |pass| painter.paint(pass, *write, 0))?;
            Ok(())
        })?;
        // The draw is at 0.5: it passes over 0.75, on the right, and fails over 0.25.
        let names = [attachments::entries::FULLSCREEN, attachments::entries::SHOW_DEPTH];
        let program = Program::new(device, &attachments::SHADER, &names)?;
        let group = program.group(device, 0, &[BindGroupEntry::texture(0, *depth.view)])?;
        let targets = [Some(RGBA8.into())];
        let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, false, C::Less));
        let raster = Raster { targets: &targets, depth_stencil, ..Default::default() };
        let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
        Ok(Self { depth, canvas, group, pipeline })
    }

    fn pass<B: Backend>(
        &self,
        device: &mut Device<B>,
        ops: AspectOps<f32>,
        usage: TextureUse,
    ) -> Checked<Image> {
        let uses = [texture_use(*self.depth.texture, DEPTH, 0..1, 0..1, usage)];
        perform(device, |recorder| {
            let colors = [clear(*self.canvas.view, BLACK)];
            let depth_stencil = attachment(*self.depth.view, ops);
            let desc = RenderPassDesc { depth_stencil, uses: &uses, ..one_color("sample", &colors) };
            recorder.render_pass(&desc, |pass| {
                pass.set_bind_group(0, *self.group, &[]);
                pass.fullscreen(*self.pipeline);
            })?;
            Ok(())
        })?;
        self.canvas.image(device)
    }
}

pub(crate) fn c063_read_only_depth_is_sampled<B: Backend>(device: &mut Device<B>) -> Answer {
    let sampling = Sampling::new(device)?;
    for usage in [
        TextureUse::DepthStencilReadOnly(ShaderStages::FRAGMENT),
        TextureUse::Sampled(ShaderStages::FRAGMENT),
    ] {
        let image = sampling.pass(device, AspectOps::read_only(), usage)?;
        // 0.75 of 255 is 191.25.
        image.expect(
            "tested and sampled",
            1,
            |x, _| if x < 4 { [0, 0, 0, 255] } else { [191, 0, 0, 255] },
        )?;
    }
    match sampling.pass(device, AspectOps::load(), TextureUse::Sampled(ShaderStages::FRAGMENT)) {
        Err(crate::Failure::Device(error)) => {
            refused::<()>("writable and sampled", "do not write what another use", Err(error))?;
        }
        _ => return Err(wrong("a writable depth attachment that is sampled", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c063_depth_is_sampled_while_stencil_is_written<B: Backend>(device: &mut Device<B>) -> Answer {
    let format = TextureFormat::Depth24PlusStencil8;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC;
    let both = Canvas::with_usage(device, 4, 4, format, usage)?;
    let canvas = Canvas::new(device, 4, 4, RGBA8)?;
    let depth_view = device.create_texture_view(
        *both.texture,
        &TextureViewDesc { aspect: TextureAspect::DepthOnly, ..Default::default() },
    )?;
    let names = [attachments::entries::FULLSCREEN, attachments::entries::SHOW_DEPTH];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let group = program.group(device, 0, &[BindGroupEntry::texture(0, *depth_view)])?;
    let targets = [Some(RGBA8.into())];
    let depth_stencil = Some(DepthStencilDesc {
        stencil: super::stencil::replace(),
        ..DepthStencilDesc::depth(format, false, C::Less)
    });
    let pipeline = program.raster(
        device,
        names[0],
        Some(names[1]),
        &Raster { targets: &targets, depth_stencil, ..Default::default() },
    )?;
    let sampled = TextureUse::DepthStencilReadOnly(ShaderStages::FRAGMENT);
    let uses = [only(Aspects::DEPTH, texture_use(*both.texture, format, 0..1, 0..1, sampled))];
    perform(device, |recorder| {
        let depth_stencil = Some(DepthStencilAttachment {
            view: *both.view,
            depth: Some(AspectOps::clear(0.75)),
            stencil: Some(AspectOps::clear(0)),
        });
        let desc =
            RenderPassDesc { label: "clear", colors: &[], depth_stencil, uses: &[], ..Default::default() };
        recorder.render_pass(&desc, |_| {})?;
        let colors = [clear(*canvas.view, BLACK)];
        let depth_stencil = Some(DepthStencilAttachment {
            view: *both.view,
            depth: Some(AspectOps::read_only()),
            stencil: Some(AspectOps::load()),
        });
        let desc = RenderPassDesc { depth_stencil, uses: &uses, ..one_color("both", &colors) };
        recorder.render_pass(&desc, |pass| {
            pass.set_stencil_reference(9);
            pass.set_bind_group(0, *group, &[]);
            pass.fullscreen(*pipeline);
        })?;
        Ok(())
    })?;
    canvas.image(device)?.expect("sampled depth", 1, |_, _| [191, 0, 0, 255])?;
    let stencil = crate::kit::read_mip(device, *both.texture, 0, TextureAspect::StencilOnly, [4, 4, 1])?;
    equal("written stencil", &stencil, &[9; 16])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c090_depth_written_after_it_was_sampled<B: Backend>(device: &mut Device<B>) -> Answer {
    // Sampled in one pass, then tested read-only in the next, then written: each after the other, one recording.
    let sampling = Sampling::new(device)?;
    let painter = Painter::new(device, &[Paint::new(FULL, WHITE, 0.125, 0.0)])?;
    let write = Some(DepthStencilDesc::depth(DEPTH, true, C::Less));
    let write = painter.colorless(device, &Raster { depth_stencil: write, ..Default::default() })?;
    let usage = TextureUse::Sampled(ShaderStages::FRAGMENT);
    let uses = [texture_use(*sampling.depth.texture, DEPTH, 0..1, 0..1, usage)];
    perform(device, |recorder| {
        for _ in 0..2 {
            let colors = [clear(*sampling.canvas.view, BLACK)];
            let depth_stencil = attachment(*sampling.depth.view, AspectOps::read_only());
            let desc = RenderPassDesc { depth_stencil, uses: &uses, ..one_color("sample", &colors) };
            recorder.render_pass(&desc, |pass| {
                pass.set_bind_group(0, *sampling.group, &[]);
                pass.fullscreen(*sampling.pipeline);
            })?;
        }
        let depth_stencil = attachment(*sampling.depth.view, AspectOps::load());
        let desc =
            RenderPassDesc { label: "write", colors: &[], depth_stencil, uses: &[], ..Default::default() };
        recorder.render_pass(&desc, |pass| painter.paint(pass, *write, 0))?;
        Ok(())
    })?;
    let image = sampling.canvas.image(device)?;
    image.expect(
        "sampled before the write",
        1,
        |x, _| if x < 4 { [0, 0, 0, 255] } else { [191, 0, 0, 255] },
    )?;
    close("written after", &numbers(&sampling.depth.bytes(device)?), &[0.125; 64], 1e-6)?;
    Ok(Outcome::Passed)
}
