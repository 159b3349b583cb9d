//! One convention of coordinates on every backend: clip space Y up, depth 0 to 1, pixels from the top left, texture
//! row 0 first. Each scene is asymmetric in the axis that it proves, and is kept as a picture.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{CompareFunction, Face, FrontFace, ShaderStages, TextureFormat, TextureUsages};
use purlin_rhi::{
    AspectOps, BindGroupEntry, DepthStencilAttachment, DepthStencilDesc, Device, PrimitiveDesc,
    RenderPassDesc, SamplerDesc, TextureDesc, TexturePlace, TextureViewDesc,
};

use crate::kit::{
    Canvas, Checked, FULL, Image, Paint, Painter, Program, Raster, clear, close, extent, keep_picture,
    numbers, one_color, perform, refused, rows, texture_use,
};
use crate::shaders::{attachments, sampling};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const BLACK: [u8; 4] = [0, 0, 0, 255];
const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const WHITE: [u8; 4] = [255; 4];
const SIDE: u32 = 16;

fn float([r, g, b, a]: [u8; 4]) -> [f32; 4] {
    [r, g, b, a].map(|channel| f32::from(channel) / 255.0)
}

fn flat(rect: [f32; 4], color: [u8; 4]) -> Paint {
    Paint::new(rect, float(color), 0.5, 0.0)
}

/// Paints rectangles one over the other.
fn scene<B: Backend>(
    device: &mut Device<B>,
    name: &str,
    primitive: PrimitiveDesc,
    paints: &[Paint],
) -> Checked<Image> {
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let painter = Painter::new(device, paints)?;
    let targets = [Some(RGBA8.into())];
    let pipeline =
        painter.pipeline(device, &Raster { targets: &targets, primitive, ..Default::default() })?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, float(BLACK))];
        recorder.render_pass(&one_color(name, &colors), |pass| {
            (0..paints.len()).for_each(|index| painter.paint(pass, *pipeline, index));
        })?;
        Ok(())
    })?;
    let image = canvas.image(device)?;
    keep_picture(device.adapter().backend, name, &image)?;
    Ok(image)
}

pub(crate) fn clip_space_y_is_up<B: Backend>(device: &mut Device<B>) -> Answer {
    // Upper left quarter red, lower right quarter blue.
    let paints = [flat([-1.0, 0.0, 0.0, 1.0], RED), flat([0.0, -1.0, 1.0, 0.0], BLUE)];
    let image = scene(device, "clip_space_y_is_up", PrimitiveDesc::default(), &paints)?;
    image.expect("quarters", 0, |x, y| match (x < SIDE / 2, y < SIDE / 2) {
        (true, true) => RED,
        (false, false) => BLUE,
        _ => BLACK,
    })?;
    Ok(Outcome::Passed)
}

pub(crate) fn counterclockwise_is_front<B: Backend>(device: &mut Device<B>) -> Answer {
    // The rectangle's triangles are counterclockwise with Y up; mirrored in x they are clockwise.
    let front = flat([-1.0, -1.0, 0.0, 1.0], GREEN);
    let back = flat([1.0, -1.0, 0.0, 1.0], RED);
    let cases = [
        (FrontFace::Ccw, None, GREEN, RED),
        (FrontFace::Ccw, Some(Face::Back), GREEN, BLACK),
        (FrontFace::Ccw, Some(Face::Front), BLACK, RED),
        (FrontFace::Cw, Some(Face::Back), BLACK, RED),
        (FrontFace::Cw, Some(Face::Front), GREEN, BLACK),
    ];
    for (front_face, cull, left, right) in cases {
        let primitive = PrimitiveDesc { front_face, cull, ..Default::default() };
        let name = format!("winding_{front_face:?}_cull_{cull:?}").to_lowercase().replace(['(', ')'], "_");
        let image = scene(device, &name, primitive, &[front, back])?;
        image.expect(&name, 0, |x, _| if x < SIDE / 2 { left } else { right })?;
    }
    Ok(Outcome::Passed)
}

/// A pass with a depth attachment cleared to `cleared`; the color image.
fn depth_scene<B: Backend>(
    device: &mut Device<B>,
    name: &str,
    compare: CompareFunction,
    cleared: f32,
    paints: &[Paint],
) -> Checked<(Image, Vec<f32>)> {
    let format = TextureFormat::Depth32Float;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let depth = Canvas::new(device, SIDE, SIDE, format)?;
    let painter = Painter::new(device, paints)?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster {
        targets: &targets,
        depth_stencil: Some(DepthStencilDesc::depth(format, true, compare)),
        ..Default::default()
    };
    let pipeline = painter.pipeline(device, &raster)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, float(BLACK))];
        let depth_stencil = Some(DepthStencilAttachment {
            view: *depth.view,
            depth: Some(AspectOps::clear(cleared)),
            stencil: None,
        });
        recorder.render_pass(
            &RenderPassDesc { label: name, colors: &colors, depth_stencil, uses: &[], ..Default::default() },
            |pass| {
                (0..paints.len()).for_each(|index| painter.paint(pass, *pipeline, index));
            },
        )?;
        Ok(())
    })?;
    let image = canvas.image(device)?;
    keep_picture(device.adapter().backend, name, &image)?;
    Ok((image, numbers(&depth.bytes(device)?)))
}

pub(crate) fn depth_zero_is_near<B: Backend>(device: &mut Device<B>) -> Answer {
    let near = Paint::new([-1.0, -1.0, 0.5, 1.0], float(GREEN), 0.25, 0.0);
    let far = Paint::new([-0.5, -1.0, 1.0, 1.0], float(RED), 0.75, 0.0);
    let outside = Paint::new(FULL, float(WHITE), 1.5, 0.0);
    let behind = Paint::new(FULL, float(WHITE), -0.5, 0.0);
    let expected = |x: u32| {
        if x < 12 { GREEN } else { RED }
    };
    let paints = [near, far, outside, behind];
    let (image, depth) = depth_scene(device, "depth_zero_is_near", CompareFunction::Less, 1.0, &paints)?;
    image.expect("near over far, and nothing outside 0 to 1", 0, |x, _| expected(x))?;
    // Depth is stored as it left the vertex shader: 0.25 and 0.75 have exact floats.
    let row: Vec<f32> = (0..SIDE).map(|x| if x < 12 { 0.25 } else { 0.75 }).collect();
    close("stored depth", &depth[..SIDE as usize], &row, 1e-6)?;
    let (image, _) = depth_scene(device, "depth_reversed", CompareFunction::Greater, 0.0, &[near, far])?;
    image.expect("far over near when reversed", 0, |x, _| if x < 4 { GREEN } else { RED })?;
    Ok(Outcome::Passed)
}

pub(crate) fn texture_row_0_is_first<B: Backend>(device: &mut Device<B>) -> Answer {
    let texels = [RED, GREEN, BLUE, WHITE];
    let texture = device.create_texture(&TextureDesc::uploaded("quarters", 2, 2, 1, RGBA8))?;
    let place = TexturePlace::mip(*texture, 0);
    device.write_texture(&place, extent([2, 2, 1]), &rows(8, 2), bytemuck::cast_slice(&texels))?;
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    let image = cover(device, "texture_row_0_is_first", *view, &[])?;
    image.expect("row 0 on top", 0, |x, y| texels[(x / 8 + y / 8 * 2) as usize])?;
    Ok(Outcome::Passed)
}

/// Draws a texture over all of a canvas.
fn cover<B: Backend>(
    device: &mut Device<B>,
    name: &str,
    view: purlin_rhi::TextureView,
    uses: &[purlin_rhi::plan::ResourceUse],
) -> Checked<Image> {
    let names = [sampling::entries::COVER, sampling::entries::TEXTURED];
    let program = Program::new(device, &sampling::SHADER, &names)?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let sampler = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
    let group = program.group(
        device,
        0,
        &[BindGroupEntry::sampler(2, *sampler), BindGroupEntry::texture(3, view)],
    )?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, float(BLACK))];
        recorder.render_pass(&RenderPassDesc { uses, ..one_color(name, &colors) }, |pass| {
            pass.set_bind_group(0, *group, &[]);
            pass.fullscreen(*pipeline);
        })?;
        Ok(())
    })?;
    let image = canvas.image(device)?;
    keep_picture(device.adapter().backend, name, &image)?;
    Ok(image)
}

pub(crate) fn a_rendered_texture_is_sampled_upright<B: Backend>(device: &mut Device<B>) -> Answer {
    let source = Canvas::sampled(device, 8, 8, RGBA8)?;
    // The upper left quarter, by clip space.
    let painter = Painter::new(device, &[flat([-1.0, 0.0, 0.0, 1.0], RED)])?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    perform(device, |recorder| {
        let colors = [clear(*source.view, float(BLUE))];
        recorder.render_pass(&one_color("source", &colors), |pass| painter.paint(pass, *pipeline, 0))?;
        Ok(())
    })?;
    let usage = purlin_rhi::plan::TextureUse::Sampled(ShaderStages::FRAGMENT);
    let uses = [texture_use(*source.texture, RGBA8, 0..1, 0..1, usage)];
    let image = cover(device, "a_rendered_texture_is_sampled_upright", *source.view, &uses)?;
    image.expect("red in the upper left", 0, |x, y| if x < 8 && y < 8 { RED } else { BLUE })?;
    Ok(Outcome::Passed)
}

pub(crate) fn fragments_count_from_the_top_left<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [attachments::entries::FULLSCREEN, attachments::entries::SHOW_POSITION];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let format = TextureFormat::Rgba32Float;
    let canvas = Canvas::new(device, SIDE, SIDE, format)?;
    let targets = [Some(format.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0; 4])];
        recorder.render_pass(&one_color("positions", &colors), |pass| pass.fullscreen(*pipeline))?;
        Ok(())
    })?;
    let found: Vec<f32> = numbers(&canvas.bytes(device)?);
    let expected: Vec<f32> = (0..SIDE * SIDE)
        .flat_map(|i| {
            [(i % SIDE) as f32 + 0.5, (i / SIDE) as f32 + 0.5]
                .map(|at| at / 16.0)
                .into_iter()
                .chain([0.5, 1.0])
        })
        .collect();
    // Pixel centers and sixteenths are exact; depth 0.5 may be interpolated.
    close("pixel centers", &found, &expected, 1e-5)?;
    Ok(Outcome::Passed)
}

pub(crate) fn viewport_and_scissor_count_from_the_top_left<B: Backend>(device: &mut Device<B>) -> Answer {
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    // The viewport's own upper half, to show that it keeps Y up.
    let painter = Painter::new(device, &[flat([-1.0, 0.0, 1.0, 1.0], RED), flat(FULL, GREEN)])?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, float(BLACK))];
        recorder.render_pass(&one_color("viewport", &colors), |pass| {
            pass.set_viewport(2.0, 1.0, 8.0, 4.0, (0.0, 1.0));
            painter.paint(pass, *pipeline, 0);
            pass.set_viewport(0.0, 0.0, 16.0, 16.0, (0.0, 1.0));
            pass.set_scissor(1, 10, 3, 4);
            painter.paint(pass, *pipeline, 1);
        })?;
        Ok(())
    })?;
    let image = canvas.image(device)?;
    keep_picture(device.adapter().backend, "viewport_and_scissor", &image)?;
    image.expect("viewport 8x4 at 2,1 and scissor 3x4 at 1,10", 0, |x, y| {
        if (2..10).contains(&x) && (1..3).contains(&y) {
            RED
        } else if (1..4).contains(&x) && (10..14).contains(&y) {
            GREEN
        } else {
            BLACK
        }
    })?;
    Ok(Outcome::Passed)
}

pub(crate) fn readback_rows_start_at_the_top<B: Backend>(device: &mut Device<B>) -> Answer {
    // Odd width, so that rows have padding on the way. Each row is one gray, darker upward.
    let canvas = Canvas::new(device, 5, 7, RGBA8)?;
    let paints: Vec<Paint> = (0..7u8)
        .map(|row| {
            let top = 1.0 - f32::from(row) * 2.0 / 7.0;
            flat([-1.0, top - 2.0 / 7.0, 1.0, top], [row * 30, row * 30, row * 30, 255])
        })
        .collect();
    let painter = Painter::new(device, &paints)?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, float(RED))];
        recorder.render_pass(&one_color("rows", &colors), |pass| {
            (0..7).for_each(|index| painter.paint(pass, *pipeline, index));
        })?;
        Ok(())
    })?;
    let image = canvas.image(device)?;
    keep_picture(device.adapter().backend, "readback_rows", &image)?;
    image.expect("gray rows", 0, |_, y| [y as u8 * 30, y as u8 * 30, y as u8 * 30, 255])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c048_viewport_of_one_depth<B: Backend>(device: &mut Device<B>) -> Answer {
    let format = TextureFormat::Depth32Float;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let depth = Canvas::with_usage(device, 8, 1, format, usage)?;
    let painter = Painter::new(device, &[Paint::new(FULL, [0.0; 4], 0.25, 0.5)])?;
    let depth_stencil = Some(DepthStencilDesc::depth(format, true, CompareFunction::Always));
    let pipeline = painter.colorless(device, &Raster { depth_stencil, ..Default::default() })?;
    let pass = |device: &mut Device<B>, place: [f32; 4], range: (f32, f32)| -> Checked {
        perform(device, |recorder| {
            let attachment = DepthStencilAttachment {
                view: *depth.view,
                depth: Some(AspectOps::clear(1.0)),
                stencil: None,
            };
            let desc = RenderPassDesc {
                label: "constant",
                colors: &[],
                depth_stencil: Some(attachment),
                uses: &[],
                ..Default::default()
            };
            recorder.render_pass(&desc, |pass| {
                let [x, y, width, height] = place;
                pass.set_viewport(x, y, width, height, range);
                painter.paint(pass, *pipeline, 0);
            })?;
            Ok(())
        })
    };
    for constant in [0.0, 0.5, 1.0] {
        pass(device, [0.0, 0.0, 8.0, 1.0], (constant, constant))?;
        close("constant depth", &numbers(&depth.bytes(device)?), &[constant; 8], 1e-6)?;
    }
    // Partly and far outside the target: only pixels inside are drawn.
    pass(device, [-4.0, 0.0, 8.0, 1.0], (0.5, 0.5))?;
    let expected = [0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0];
    close("viewport from -4", &numbers(&depth.bytes(device)?), &expected, 1e-6)?;
    pass(device, [4.0, -16.0, 128.0, 128.0], (0.5, 0.5))?;
    let expected = [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5];
    close("viewport past the target", &numbers(&depth.bytes(device)?), &expected, 1e-6)?;
    match pass(device, [0.0, 0.0, 8.0, 1.0], (1.0, 0.0)) {
        Err(crate::Failure::Device(error)) => {
            refused::<()>("depths 1 to 0", "minimum <= maximum", Err(error))?
        }
        _ => return Err(crate::kit::wrong("depths 1 to 0", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c049_empty_scissor<B: Backend>(device: &mut Device<B>) -> Answer {
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let painter = Painter::new(device, &[flat(FULL, RED)])?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let pass = |device: &mut Device<B>, [x, y, width, height]: [u32; 4]| -> Checked<Image> {
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, float(BLACK))];
            recorder.render_pass(&one_color("scissor", &colors), |pass| {
                pass.set_scissor(x, y, width, height);
                painter.paint(pass, *pipeline, 0);
            })?;
            Ok(())
        })?;
        canvas.image(device)
    };
    for empty in [[0, 0, 0, 0], [16, 16, 0, 0], [3, 3, 0, 5], [3, 3, 5, 0]] {
        pass(device, empty)?.expect("nothing drawn", 0, |_, _| BLACK)?;
    }
    pass(device, [0, 0, 16, 16])?.expect("everything drawn", 0, |_, _| RED)?;
    for outside in [[16, 16, 1, 1], [10, 0, 20, 20]] {
        match pass(device, outside) {
            Err(crate::Failure::Device(error)) => {
                refused::<()>("a scissor outside", "a rectangle within 16x16", Err(error))?;
            }
            _ => return Err(crate::kit::wrong("a scissor outside", "an error", "success")),
        }
    }
    Ok(Outcome::Passed)
}
