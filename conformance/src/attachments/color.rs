//! Color attachments: several at once, gaps and masks, clears of every class, mips and layers, loads.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{ColorWrites, TextureAspect, TextureFormat, TextureUsages};
use purlin_rhi::{
    ClearValue, ColorAttachment, ColorTarget, Device, Features, LoadOp, StoreOp, TextureDesc, TextureViewDesc,
};

use crate::kit::{
    Canvas, Checked, FULL, Paint, Painter, Program, Raster, clear, close, equal, load, numbers, one_color,
    perform, read_mip, refused, wrong,
};
use crate::shaders::attachments;
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const MASKED: ColorWrites = ColorWrites::empty();

fn independent<B: Backend>(device: &Device<B>) -> Option<Outcome> {
    let has = device.capabilities().features.contains(Features::INDEPENDENT_BLEND);
    (!has).then(|| Outcome::Unsupported("INDEPENDENT_BLEND".into()))
}

pub(crate) fn four_colors_of_different_formats<B: Backend>(device: &mut Device<B>) -> Answer {
    let formats = [RGBA8, TextureFormat::R32Uint, TextureFormat::Rgba16Float, TextureFormat::Rg32Sint];
    let names = [attachments::entries::FULLSCREEN, attachments::entries::MIXED];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let mut canvases = Vec::new();
    for format in formats {
        canvases.push(Canvas::new(device, 4, 4, format)?);
    }
    let targets = formats.map(|format| Some(format.into()));
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    perform(device, |recorder| {
        let colors: Vec<_> = canvases
            .iter()
            .map(|canvas| {
                Some(ColorAttachment {
                    view: *canvas.view,
                    load: LoadOp::DontCare,
                    store: StoreOp::Store,
                    resolve: None,
                })
            })
            .collect();
        recorder.render_pass(&one_color("four", &colors), |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    canvases[0].image(device)?.expect("normalized", 0, |_, _| [255, 0, 51, 255])?;
    equal("unsigned", &numbers::<u32>(&canvases[1].bytes(device)?), &[4_000_000_000; 16])?;
    // -2.5, 1000, 0.125 and 3 as halves.
    let halves: Vec<u16> = [0xC100, 0x63D0, 0x3000, 0x4200].repeat(16);
    equal("half floats", &numbers::<u16>(&canvases[2].bytes(device)?), &halves)?;
    equal("signed", &numbers::<i32>(&canvases[3].bytes(device)?), &[-7, 300].repeat(16))?;
    Ok(Outcome::Passed)
}

pub(crate) fn a_gap_between_colors<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [attachments::entries::FULLSCREEN, attachments::entries::ONE_AND_THREE];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let (first, third) = (Canvas::new(device, 2, 2, RGBA8)?, Canvas::new(device, 2, 2, RGBA8)?);
    let targets = [None, Some(RGBA8.into()), None, Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    perform(device, |recorder| {
        let colors = [None, clear(*first.view, [0.2; 4]), None, clear(*third.view, [0.2; 4])];
        recorder.render_pass(&one_color("gaps", &colors), |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    first.image(device)?.expect("location 1", 0, |_, _| [255, 0, 0, 255])?;
    third.image(device)?.expect("location 3", 0, |_, _| [0, 0, 255, 51])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c045_masked_first_target<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(outcome) = independent(device) {
        return Ok(outcome);
    }
    let formats = [RGBA8, RGBA8, TextureFormat::Rgba16Float, TextureFormat::Rg8Unorm];
    let names = [attachments::entries::FULLSCREEN, attachments::entries::FROM_ONE];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let mut canvases = Vec::new();
    for format in formats {
        canvases.push(Canvas::new(device, 2, 2, format)?);
    }
    let mut targets = formats.map(|format| Some(ColorTarget::from(format)));
    targets[0] = Some(ColorTarget { write_mask: MASKED, ..RGBA8.into() });
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    perform(device, |recorder| {
        let colors: Vec<_> = canvases.iter().map(|canvas| clear(*canvas.view, [0.2; 4])).collect();
        recorder.render_pass(&one_color("masked", &colors), |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    canvases[0].image(device)?.expect("target 0 keeps its clear", 0, |_, _| [51; 4])?;
    canvases[1].image(device)?.expect("target 1", 0, |_, _| [255, 0, 0, 255])?;
    let green: Vec<u16> = [0, 0x3C00, 0, 0x3C00].repeat(4);
    equal("target 2", &numbers::<u16>(&canvases[2].bytes(device)?), &green)?;
    equal("target 3", &canvases[3].bytes(device)?, &[0; 8])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c046_target_without_an_output<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [attachments::entries::FULLSCREEN, attachments::entries::WHITE];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let open = [Some(RGBA8.into()), Some(RGBA8.into())];
    let raster = Raster { targets: &open, ..Default::default() };
    let desc = program.describe(names[0], Some(names[1]), &raster);
    refused("a written target without an output", "@location(1)", device.create_render_pipeline(&desc))?;
    if let Some(outcome) = independent(device) {
        return Ok(outcome);
    }
    let masked = [Some(RGBA8.into()), Some(ColorTarget { write_mask: MASKED, ..RGBA8.into() })];
    let raster = Raster { targets: &masked, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    let canvases = [Canvas::new(device, 2, 2, RGBA8)?, Canvas::new(device, 2, 2, RGBA8)?];
    perform(device, |recorder| {
        let blue = [0.0, 0.0, 1.0, 1.0];
        let colors = [clear(*canvases[0].view, blue), clear(*canvases[1].view, blue)];
        recorder.render_pass(&one_color("one output", &colors), |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    canvases[0].image(device)?.expect("target 0", 0, |_, _| [255; 4])?;
    canvases[1].image(device)?.expect("target 1 keeps its clear", 0, |_, _| [0, 0, 255, 255])?;
    Ok(Outcome::Passed)
}

pub(crate) fn write_masks_by_channel<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = Painter::new(device, &[Paint::new(FULL, [1.0; 4], 0.0, 0.0)])?;
    for mask in
        [ColorWrites::RED, ColorWrites::GREEN, ColorWrites::BLUE, ColorWrites::ALPHA, ColorWrites::COLOR]
    {
        let canvas = Canvas::new(device, 2, 2, RGBA8)?;
        let targets = [Some(ColorTarget { write_mask: mask, ..RGBA8.into() })];
        let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, [0.0; 4])];
            recorder.render_pass(&one_color("mask", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
            Ok(())
        })?;
        let channels = [ColorWrites::RED, ColorWrites::GREEN, ColorWrites::BLUE, ColorWrites::ALPHA];
        let expected = channels.map(|channel| if mask.contains(channel) { 255 } else { 0 });
        canvas.image(device)?.expect(format!("{mask:?}"), 0, |_, _| expected)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c060_integer_clears<B: Backend>(device: &mut Device<B>) -> Answer {
    let clear_to = |device: &mut Device<B>, format, value| -> Checked<Vec<u8>> {
        let canvas = Canvas::new(device, 3, 1, format)?;
        perform(device, |recorder| {
            let colors = [Some(ColorAttachment {
                view: *canvas.view,
                load: LoadOp::Clear(value),
                store: StoreOp::Store,
                resolve: None,
            })];
            recorder.render_pass(&one_color("clear", &colors), |_| {})?;
            Ok(())
        })?;
        canvas.bytes(device)
    };
    let bytes = clear_to(device, TextureFormat::R8Uint, ClearValue::Uint([255, 0, 0, 0]))?;
    equal("R8Uint to 255", &bytes, &[255; 3])?;
    for value in [u32::MAX, 16_777_217] {
        let bytes = clear_to(device, TextureFormat::R32Uint, ClearValue::Uint([value, 0, 0, 0]))?;
        equal(format!("R32Uint to {value}"), &numbers::<u32>(&bytes), &[value; 3])?;
    }
    let bytes = clear_to(device, TextureFormat::R32Sint, ClearValue::Sint([-5, 0, 0, 0]))?;
    equal("R32Sint to -5", &numbers::<i32>(&bytes), &[-5; 3])?;
    let cases = [
        (TextureFormat::R8Uint, ClearValue::Sint([-1, 0, 0, 0]), "a Uint clear value"),
        (TextureFormat::R8Uint, ClearValue::Uint([256, 0, 0, 0]), "values up to"),
        (TextureFormat::R8Sint, ClearValue::Sint([-129, 0, 0, 0]), "values from"),
        (TextureFormat::R32Uint, ClearValue::Float([1.0; 4]), "a Uint clear value"),
        (RGBA8, ClearValue::Uint([1; 4]), "a Float clear value"),
    ];
    for (format, value, says) in cases {
        match clear_to(device, format, value) {
            Err(crate::Failure::Device(error)) => {
                refused::<()>(format!("{value:?} for {format:?}"), says, Err(error))?
            }
            _ => return Err(wrong(format!("{value:?} for {format:?}"), "an error", "success")),
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn loads_keep_and_discards_forget<B: Backend>(device: &mut Device<B>) -> Answer {
    let canvas = Canvas::new(device, 4, 1, RGBA8)?;
    let painter = Painter::new(device, &[Paint::new([-1.0, -1.0, 0.0, 1.0], [1.0; 4], 0.0, 0.0)])?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    // Several passes in one recording: what each loads, the one before stored.
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0, 1.0, 0.0, 1.0])];
        recorder.render_pass(&one_color("clear", &colors), |_| {})?;
        let colors = [load(*canvas.view)];
        recorder.render_pass(&one_color("load", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        recorder.render_pass(&one_color("load again", &colors), |_| {})?;
        Ok(())
    })?;
    let expected = |x: u32| if x < 2 { [255; 4] } else { [0, 255, 0, 255] };
    canvas.image(device)?.expect("loaded", 0, |x, _| expected(x))?;
    // After a discard the contents are undefined: to load or read them is refused, to clear them is not.
    let attachment =
        ColorAttachment { view: *canvas.view, load: LoadOp::Load, store: StoreOp::Discard, resolve: None };
    perform(device, |recorder| {
        recorder.render_pass(&one_color("discard", &[Some(attachment)]), |_| {})?;
        Ok(())
    })?;
    let colors = [load(*canvas.view)];
    let mut recorder = device.record("load undefined")?;
    refused("load after discard", "undefined", recorder.render_pass(&one_color("load", &colors), |_| {}))?;
    drop(recorder);
    match canvas.bytes(device) {
        Err(crate::Failure::Device(error)) => refused::<()>("read after discard", "undefined", Err(error))?,
        _ => return Err(wrong("read after discard", "an error", "success")),
    }
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0; 4])];
        recorder.render_pass(&one_color("clear", &colors), |_| {})?;
        Ok(())
    })?;
    canvas.image(device)?.expect("cleared again", 0, |_, _| [0; 4])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c064_mips_and_layers_as_attachments<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let mut desc = TextureDesc::d2("mips", 1600, 1600, RGBA8, usage).with_mips(3);
    desc.size.depth_or_array_layers = 2;
    let texture = device.create_texture(&desc)?;
    let painter = Painter::new(device, &[Paint::new(FULL, [1.0, 0.0, 0.0, 1.0], 0.0, 0.0)])?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    for (base_mip, base_layer) in [(1, 1), (2, 0)] {
        let desc = TextureViewDesc { base_mip, mips: 1, base_layer, layers: 1, ..Default::default() };
        let view = device.create_texture_view(*texture, &desc)?;
        let mut extent = (0, 0);
        perform(device, |recorder| {
            let colors = [clear(*view, [0.0, 0.0, 1.0, 1.0])];
            recorder.render_pass(&one_color("mip", &colors), |pass| {
                extent = pass.extent();
                painter.paint(pass, *pipeline, 0);
            })?;
            Ok(())
        })?;
        let side = 1600 >> base_mip;
        equal("extent of the pass", &[extent], &[(side, side)])?;
        let place = purlin_rhi::TexturePlace {
            origin: crate::kit::origin([0, 0, base_layer]),
            ..purlin_rhi::TexturePlace::mip(*texture, base_mip)
        };
        let bytes = crate::kit::fetch(device, |recorder| {
            Ok(recorder.read_texture(&place, crate::kit::extent([side, side, 1]))?)
        })?;
        let image = crate::kit::Image::from_bytes(side, &bytes);
        image.expect(format!("mip {base_mip} of layer {base_layer}"), 0, |_, _| [255, 0, 0, 255])?;
    }
    // What was never written stays undefined.
    match read_mip(device, *texture, 0, TextureAspect::All, [1600, 1600, 2]) {
        Err(crate::Failure::Device(error)) => refused::<()>("mip 0", "undefined", Err(error))?,
        _ => return Err(wrong("reading a mip that nobody wrote", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn eight_colors_at_once<B: Backend>(device: &mut Device<B>) -> Answer {
    if device.limits().max_color_attachments < 8 {
        return Ok(Outcome::Unsupported("limit max_color_attachments".into()));
    }
    let mut canvases = Vec::new();
    for _ in 0..8 {
        canvases.push(Canvas::new(device, 2, 2, TextureFormat::R32Float)?);
    }
    perform(device, |recorder| {
        let colors: Vec<_> =
            canvases.iter().enumerate().map(|(i, canvas)| clear(*canvas.view, [i as f32; 4])).collect();
        recorder.render_pass(&one_color("eight", &colors), |_| {})?;
        Ok(())
    })?;
    for (index, canvas) in canvases.iter().enumerate() {
        close("its own clear", &numbers(&canvas.bytes(device)?), &[index as f32; 4], 0.5)?;
    }
    Ok(Outcome::Passed)
}
