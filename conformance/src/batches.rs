//! Command batches: the pixels of direct draws, execution after execution, and nothing that goes in or comes out.

use purlin_graph::{Graph, GraphArena};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::TextureFormat;
use purlin_rhi::{BatchState, ClearValue, CommandBatchDesc, Device, LoadOp};

use crate::kit::{
    Canvas, Checked, Image, Paint, Painter, Raster, clear, equal, finish, one_color, perform, refused, wrong,
};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const SIDE: u32 = 16;
const LAYERS: u32 = 8;
const DESC: CommandBatchDesc<'static> =
    CommandBatchDesc { label: "stairs", colors: &[Some(RGBA8)], depth_stencil: None, samples: 1 };

/// Red counts up from one in steps of twenty.
fn shade(index: u32) -> u8 {
    (20 * (index + 1)) as u8
}

/// Each over the target from a column on, so that order shows.
fn stairs<B: Backend>(device: &mut Device<B>) -> Checked<Painter> {
    let paint = |index: u32| {
        let left = index as f32 / SIDE as f32 * 2.0 - 1.0;
        Paint::new([left, -1.0, 1.0, 1.0], [f32::from(shade(index)) / 255.0, 0.0, 0.0, 1.0], 0.5, 0.0)
    };
    Painter::new(device, &(0..LAYERS).map(paint).collect::<Vec<_>>())
}

fn expect_stairs(what: &str, image: &Image) -> Checked {
    image.expect(what, 0, |x, _| [shade(x.min(LAYERS - 1)), 0, 0, 255])
}

/// In passes, sections and graphs, again and again, also when the owners of all that it uses are gone.
pub(crate) fn a_batch_paints_what_direct_draws_do<B: Backend>(device: &mut Device<B>) -> Answer {
    let painter = stairs(device)?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let targets = [Some(RGBA8.into())];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
    perform(device, |recorder| {
        recorder.render_pass(&one_color("direct", &colors), |pass| {
            (0..LAYERS).for_each(|index| painter.paint(pass, *pipeline, index as usize));
        })?;
        Ok(())
    })?;
    expect_stairs("direct", &canvas.image(device)?)?;
    let batch = device.create_batch(&DESC)?;
    // In two recordings, which come one after the other.
    for half in [0..LAYERS / 2, LAYERS / 2..LAYERS] {
        device.record_batch(*batch, |recorder| {
            recorder.set_pipeline(*pipeline);
            for index in half {
                painter.record(recorder, index as usize);
            }
        })?;
    }
    device.finish_batch(*batch)?;
    drop((painter, pipeline));
    device.maintain()?;
    for what in ["first", "second", "third"] {
        perform(device, |recorder| {
            recorder.render_pass(&one_color(what, &colors), |pass| pass.execute_batch(*batch))?;
            Ok(())
        })?;
        expect_stairs(what, &canvas.image(device)?)?;
    }
    perform(device, |recorder| {
        recorder.render_pass_parallel(&one_color("sections", &colors), 2, |_, pass| {
            pass.set_scissor(0, 0, SIDE, SIDE);
            pass.execute_batch(*batch);
        })?;
        Ok(())
    })?;
    expect_stairs("sections", &canvas.image(device)?)?;
    let mut arena = GraphArena::new();
    let mut graph = Graph::new("graph", &mut arena);
    let mut target = graph.import_texture("target", *canvas.texture);
    let handle = *batch;
    graph
        .render("stairs")
        .color(0, &mut target, LoadOp::Clear(ClearValue::Float([0.0, 0.0, 0.0, 1.0])))
        .record(move |pass| pass.execute_batch(handle));
    graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
    expect_stairs("graph", &canvas.image(device)?)?;
    let last = device.last_submission();
    finish(device, last)?;
    equal("state", &[device.batch_state(*batch)?], &[BatchState::Finished])?;
    device.discard_batch(*batch)?;
    equal("state", &[device.batch_state(*batch)?], &[BatchState::Retired])?;
    let colors = [clear(*canvas.view, [0.0, 1.0, 0.0, 1.0])];
    let mut recorder = device.record("discarded")?;
    let result = recorder.render_pass(&one_color("discarded", &colors), |pass| pass.execute_batch(*batch));
    refused("a discarded batch", "one that is discarded", result)?;
    drop(recorder);
    expect_stairs("after the refusal", &canvas.image(device)?)?;
    Ok(Outcome::Passed)
}
