//! Stencil attachments: tests and operations, and what each aspect's load and store mean for the other.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    ColorWrites, CompareFunction as C, StencilFaceState, StencilOperation as S, StencilState, TextureAspect,
    TextureFormat, TextureUsages,
};
use purlin_rhi::{
    AspectOps, ColorTarget, DepthStencilAttachment, DepthStencilDesc, Device, LoadOp, Owned, RenderPassDesc,
    StoreOp, kind,
};

use crate::kit::{
    Canvas, Checked, FULL, Image, Paint, Painter, Program, Raster, clear, equal, one_color, perform,
    read_mip, refused, wrong,
};
use crate::shaders::attachments;
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const BOTH: TextureFormat = TextureFormat::Depth24PlusStencil8;
const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const SIDE: u32 = 8;

/// Both faces alike.
fn faces(compare: C, pass_op: S) -> StencilState {
    let face = StencilFaceState { compare, fail_op: S::Keep, depth_fail_op: S::Keep, pass_op };
    StencilState { front: face, back: face, read_mask: 0xFF, write_mask: 0xFF }
}

/// Writes the reference everywhere.
pub(super) fn replace() -> StencilState {
    faces(C::Always, S::Replace)
}

/// A target with depth and stencil, one for color, and rectangles to draw.
struct Stage {
    both: Canvas,
    canvas: Canvas,
    painter: Painter,
}

/// Rectangles: the left half at depth 0.5, and everything at depth 0.25.
const LEFT: usize = 0;
const ALL: usize = 1;

impl Stage {
    fn new<B: Backend>(device: &mut Device<B>) -> Checked<Self> {
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let both = Canvas::with_usage(device, SIDE, SIDE, BOTH, usage)?;
        let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
        let left = Paint::new([-1.0, -1.0, 0.0, 1.0], [1.0; 4], 0.5, 0.0);
        let painter = Painter::new(device, &[left, Paint::new(FULL, [1.0; 4], 0.25, 0.0)])?;
        Ok(Self { both, canvas, painter })
    }

    /// A pipeline; `write` is whether color is written.
    fn pipeline<B: Backend>(
        &self,
        device: &mut Device<B>,
        write: bool,
        depth_stencil: DepthStencilDesc,
    ) -> Checked<Owned<kind::RenderPipeline>> {
        let write_mask = if write { ColorWrites::ALL } else { ColorWrites::empty() };
        let targets = [Some(ColorTarget { write_mask, ..RGBA8.into() })];
        let raster = Raster { targets: &targets, depth_stencil: Some(depth_stencil), ..Default::default() };
        self.painter.pipeline(device, &raster)
    }

    /// One draw over black; the depth and stencil operations and the reference as given.
    fn pass<B: Backend>(
        &self,
        device: &mut Device<B>,
        (depth, stencil): (AspectOps<f32>, AspectOps<u32>),
        pipeline: &Owned<kind::RenderPipeline>,
        reference: u32,
        paint: usize,
    ) -> Checked {
        perform(device, |recorder| {
            let colors = [clear(*self.canvas.view, BLACK)];
            let depth_stencil = Some(DepthStencilAttachment {
                view: *self.both.view,
                depth: Some(depth),
                stencil: Some(stencil),
            });
            recorder.render_pass(
                &RenderPassDesc { depth_stencil, ..one_color("stencil", &colors) },
                |pass| {
                    pass.set_stencil_reference(reference);
                    self.painter.paint(pass, **pipeline, paint);
                },
            )?;
            Ok(())
        })
    }

    fn image<B: Backend>(&self, device: &mut Device<B>) -> Checked<Image> {
        self.canvas.image(device)
    }

    fn stencil<B: Backend>(&self, device: &mut Device<B>) -> Checked<Vec<u8>> {
        read_mip(device, *self.both.texture, 0, TextureAspect::StencilOnly, [SIDE, SIDE, 1])
    }
}

fn stencil_only(state: StencilState) -> DepthStencilDesc {
    DepthStencilDesc { stencil: state, ..DepthStencilDesc::depth(BOTH, false, C::Always) }
}

fn left_half(x: u32) -> [u8; 4] {
    if x < SIDE / 2 { [255; 4] } else { [0, 0, 0, 255] }
}

pub(crate) fn stencil_operations<B: Backend>(device: &mut Device<B>) -> Answer {
    let stage = Stage::new(device)?;
    // The reference is 7; what is there, the operation, and what must be there after.
    let cases = [
        (5, S::Keep, 5),
        (5, S::Zero, 0),
        (5, S::Replace, 7),
        (5, S::Invert, 0xFA),
        (5, S::IncrementClamp, 6),
        (255, S::IncrementClamp, 255),
        (5, S::DecrementClamp, 4),
        (0, S::DecrementClamp, 0),
        (255, S::IncrementWrap, 0),
        (0, S::DecrementWrap, 255),
    ];
    for (before, operation, after) in cases {
        let pipeline = stage.pipeline(device, true, stencil_only(faces(C::Always, operation)))?;
        stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(before)), &pipeline, 7, ALL)?;
        equal(
            format!("{operation:?} of {before}"),
            &stage.stencil(device)?,
            &[after; (SIDE * SIDE) as usize],
        )?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn stencil_comparisons_and_masks<B: Backend>(device: &mut Device<B>) -> Answer {
    let stage = Stage::new(device)?;
    // The reference is compared with what is there: reference first.
    let cases = [
        (C::Less, 3, true),
        (C::Less, 1, false),
        (C::Greater, 1, true),
        (C::NotEqual, 2, false),
        (C::GreaterEqual, 2, true),
    ];
    for (compare, there, passes) in cases {
        let pipeline = stage.pipeline(device, true, stencil_only(faces(compare, S::Keep)))?;
        stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(there)), &pipeline, 2, ALL)?;
        let expected = if passes { [255; 4] } else { [0, 0, 0, 255] };
        stage.image(device)?.expect(format!("2 {compare:?} {there}"), 0, |_, _| expected)?;
    }
    let state = StencilState { read_mask: 0x0F, ..faces(C::Equal, S::Keep) };
    let pipeline = stage.pipeline(device, true, stencil_only(state))?;
    stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(0xA5)), &pipeline, 0x35, ALL)?;
    stage.image(device)?.expect("equal in the low half", 0, |_, _| [255; 4])?;
    let state = StencilState { write_mask: 0xF0, ..replace() };
    let pipeline = stage.pipeline(device, true, stencil_only(state))?;
    stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(0x0A)), &pipeline, 0x55, ALL)?;
    equal("written in the high half", &stage.stencil(device)?, &[0x5A; (SIDE * SIDE) as usize])?;
    Ok(Outcome::Passed)
}

pub(crate) fn stencil_by_face_and_by_depth<B: Backend>(device: &mut Device<B>) -> Answer {
    let stage = Stage::new(device)?;
    let face = |fail_op, depth_fail_op, pass_op| StencilFaceState {
        compare: C::Always,
        fail_op,
        depth_fail_op,
        pass_op,
    };
    // The rectangle faces front; the back's operations must not be seen. Its depth of 0.25 fails over 0.
    let state = StencilState {
        front: face(S::Zero, S::Invert, S::IncrementClamp),
        back: face(S::Replace, S::Replace, S::Replace),
        read_mask: 0xFF,
        write_mask: 0xFF,
    };
    let desc = DepthStencilDesc { stencil: state.clone(), ..DepthStencilDesc::depth(BOTH, false, C::Less) };
    let pipeline = stage.pipeline(device, true, desc)?;
    stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(1)), &pipeline, 9, ALL)?;
    equal("passed", &stage.stencil(device)?, &[2; 64])?;
    stage.pass(device, (AspectOps::clear(0.0), AspectOps::clear(1)), &pipeline, 9, ALL)?;
    equal("failed by depth", &stage.stencil(device)?, &[0xFE; 64])?;
    let fails = StencilState { front: StencilFaceState { compare: C::Never, ..state.front }, ..state };
    let desc = DepthStencilDesc { stencil: fails, ..DepthStencilDesc::depth(BOTH, false, C::Less) };
    let pipeline = stage.pipeline(device, true, desc)?;
    stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(1)), &pipeline, 9, ALL)?;
    equal("failed by stencil", &stage.stencil(device)?, &[0; 64])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c053_stencil_mask_and_test<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [attachments::entries::TRIANGLES, attachments::entries::WHITE];
    let program = Program::new(device, &attachments::SHADER, &names)?;
    let side = 32;
    let canvas = Canvas::new(device, side, side, RGBA8)?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let both = Canvas::with_usage(device, side, side, BOTH, usage)?;
    let mut pipeline = |write_mask, stencil| {
        let targets = [Some(ColorTarget { write_mask, ..RGBA8.into() })];
        let raster =
            Raster { targets: &targets, depth_stencil: Some(stencil_only(stencil)), ..Default::default() };
        program.raster(device, names[0], Some(names[1]), &raster)
    };
    let mask = pipeline(ColorWrites::empty(), replace())?;
    let test = pipeline(ColorWrites::ALL, faces(C::Equal, S::Keep))?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, BLACK)];
        let depth_stencil = Some(DepthStencilAttachment {
            view: *both.view,
            depth: Some(AspectOps::clear(1.0)),
            stencil: Some(AspectOps::clear(0)),
        });
        recorder.render_pass(&RenderPassDesc { depth_stencil, ..one_color("diamond", &colors) }, |pass| {
            pass.set_stencil_reference(1);
            pass.set_pipeline(*mask);
            pass.draw(0..3, 0..1);
            pass.set_pipeline(*test);
            pass.draw(3..6, 0..1);
        })?;
        Ok(())
    })?;
    let image = canvas.image(device)?;
    crate::kit::keep_picture(device.adapter().backend, "c053_diamond", &image)?;
    // Distance from the middle column, in half pixels, against what both triangles hold in this row. Pixels whose
    // centers lie on an edge belong to whichever side the fill rule says and are not compared.
    image.expect("the overlap of both triangles", 0, |x, y| {
        let across = (2 * x + 1).abs_diff(side);
        let (from_top, from_bottom) = (2 * y + 1, 2 * side - (2 * y + 1));
        // A triangle's half width in a row is half the distance to its point.
        let half = from_top.min(from_bottom);
        match (2 * across).cmp(&half) {
            std::cmp::Ordering::Less => [255; 4],
            std::cmp::Ordering::Equal => image.at(x, y),
            std::cmp::Ordering::Greater => [0, 0, 0, 255],
        }
    })?;
    Ok(Outcome::Passed)
}

/// Keeps or forgets, by `store`.
fn stored<T>(ops: AspectOps<T>, store: StoreOp) -> AspectOps<T> {
    AspectOps { store, ..ops }
}

pub(crate) fn c057_each_aspect_stores_for_itself<B: Backend>(device: &mut Device<B>) -> Answer {
    let stage = Stage::new(device)?;
    let mask = stage.pipeline(
        device,
        false,
        DepthStencilDesc { stencil: replace(), ..DepthStencilDesc::depth(BOTH, true, C::Always) },
    )?;
    let by_stencil = stage.pipeline(device, true, stencil_only(faces(C::Equal, S::Keep)))?;
    // The rectangle at 0.25 passes over 1 on the right, and over 0.5 on the left: all of it.
    let by_depth = stage.pipeline(device, true, DepthStencilDesc::depth(BOTH, false, C::Less))?;
    for depth_store in [StoreOp::Store, StoreOp::Discard] {
        for stencil_store in [StoreOp::Store, StoreOp::Discard] {
            let what = format!("depth {depth_store:?}, stencil {stencil_store:?}");
            let ops =
                (stored(AspectOps::clear(1.0), depth_store), stored(AspectOps::clear(0), stencil_store));
            stage.pass(device, ops, &mask, 1, LEFT)?;
            let any = AspectOps { load: LoadOp::DontCare, store: StoreOp::Store, read_only: false };
            let drawn = stage.pass(device, (any, AspectOps::load()), &by_stencil, 1, ALL);
            match (stencil_store, drawn) {
                (StoreOp::Store, Ok(())) => {
                    stage
                        .image(device)?
                        .expect(format!("stencil test after {what}"), 0, |x, _| left_half(x))?;
                }
                (StoreOp::Discard, Err(crate::Failure::Device(error))) => {
                    refused::<()>(format!("stencil load after {what}"), "undefined", Err(error))?;
                }
                (_, Err(other)) => return Err(other),
                (_, Ok(())) => {
                    return Err(wrong(format!("stencil load after {what}"), "an error", "success"));
                }
            }
            stage.pass(device, ops, &mask, 1, LEFT)?;
            let any = AspectOps { load: LoadOp::DontCare, store: StoreOp::Store, read_only: false };
            let drawn = stage.pass(device, (AspectOps::load(), any), &by_depth, 0, ALL);
            match (depth_store, drawn) {
                (StoreOp::Store, Ok(())) => {
                    stage.image(device)?.expect(format!("depth test after {what}"), 0, |_, _| [255; 4])?;
                }
                (StoreOp::Discard, Err(crate::Failure::Device(error))) => {
                    refused::<()>(format!("depth load after {what}"), "undefined", Err(error))?;
                }
                (_, Err(other)) => return Err(other),
                (_, Ok(())) => return Err(wrong(format!("depth load after {what}"), "an error", "success")),
            }
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c058_one_aspect_loads_while_the_other_does_not<B: Backend>(device: &mut Device<B>) -> Answer {
    let stage = Stage::new(device)?;
    let mask = stage.pipeline(
        device,
        false,
        DepthStencilDesc { stencil: replace(), ..DepthStencilDesc::depth(BOTH, true, C::Always) },
    )?;
    let by_stencil = stage.pipeline(device, true, stencil_only(faces(C::Equal, S::Keep)))?;
    stage.pass(device, (AspectOps::clear(0.125), AspectOps::clear(0)), &mask, 1, LEFT)?;
    let any = AspectOps { load: LoadOp::DontCare, store: StoreOp::Discard, read_only: false };
    stage.pass(device, (any, AspectOps::load()), &by_stencil, 1, ALL)?;
    stage.image(device)?.expect("the mask holds", 0, |x, _| left_half(x))?;
    // The other way: stencil cleared, depth loaded. 0.5 on the left passes, 0.125 on the right does not.
    stage.pass(device, (AspectOps::clear(0.125), AspectOps::clear(0)), &mask, 1, LEFT)?;
    let both = DepthStencilDesc {
        stencil: faces(C::Equal, S::Keep),
        ..DepthStencilDesc::depth(BOTH, false, C::Less)
    };
    let both = stage.pipeline(device, true, both)?;
    stage.pass(device, (AspectOps::load(), AspectOps::clear(0)), &both, 0, ALL)?;
    stage.image(device)?.expect("depth intact", 0, |x, _| left_half(x))?;
    equal("stencil cleared", &stage.stencil(device)?, &[0; 64])?;
    Ok(Outcome::Passed)
}

pub(crate) fn read_only_stencil_refuses_writes<B: Backend>(device: &mut Device<B>) -> Answer {
    let stage = Stage::new(device)?;
    let write = stage.pipeline(device, true, stencil_only(replace()))?;
    let test = stage.pipeline(device, true, stencil_only(faces(C::Equal, S::Keep)))?;
    stage.pass(device, (AspectOps::clear(1.0), AspectOps::clear(3)), &test, 3, ALL)?;
    stage.pass(device, (AspectOps::read_only(), AspectOps::read_only()), &test, 3, ALL)?;
    stage.image(device)?.expect("tested read-only", 0, |_, _| [255; 4])?;
    match stage.pass(device, (AspectOps::read_only(), AspectOps::read_only()), &write, 3, ALL) {
        Err(crate::Failure::Device(error)) => refused::<()>("a write", "no stencil writes", Err(error))?,
        _ => return Err(wrong("a write to read-only stencil", "an error", "success")),
    }
    Ok(Outcome::Passed)
}
