//! Frames of a graph under failure and loss: every allocation, recording and submission fails, the device is lost at
//! every call. Afterwards the arena and the device work on, or another device does, and nothing is left.

mod common;

use std::time::Duration;

use common::{COLOR, DEPTH, Fixture};
use purlin_graph::{Graph, GraphArena, GraphError, TransientBuffer, TransientTexture, bind};
use purlin_rhi::null::{Null, NullConfig, NullControl};
use purlin_rhi::{ClearValue, Error, LoadOp, ResourceKind};

const WHITE: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([1.0; 4]));

/// A frame with transients, groups, a dispatch, draws, sections, copies and readbacks; what the readbacks deliver.
fn frame(
    fixture: &mut Fixture,
    arena: &mut GraphArena<Null>,
    screen: purlin_rhi::Texture,
) -> Result<Vec<u8>, GraphError> {
    let handles = fixture.handles();
    let slice = fixture.device.push_frame_data(&[1; 64], 16).map_err(graph_error)?;
    let mut graph = Graph::new("frame", arena);
    let mut depth = graph.texture("depth", TransientTexture::d2(DEPTH, 4, 4));
    let mut color = graph.texture("color", TransientTexture::d2(COLOR, 4, 4));
    let mut cells = graph.buffer("cells", TransientBuffer::new(256));
    let mut copy = graph.buffer("copy", TransientBuffer::new(256));
    let mut screen = graph.import_texture("screen", screen);
    graph.clear_buffer("reset", &mut cells);
    graph
        .compute("fill")
        .bind(0, handles.write, [bind::storage(&mut cells)])
        .bind(1, handles.frame, [bind::uploaded(slice)])
        .dispatch(handles.compute, [4, 1, 1]);
    graph.render("scene").color(0, &mut color, WHITE).depth(&mut depth, LoadOp::Clear(1.0)).record_parallel(
        3,
        move |section, pass| {
            pass.set_pipeline(handles.color_depth);
            pass.draw(0..3, section..section + 1);
        },
    );
    graph
        .render("screen")
        .color(0, &mut screen, WHITE)
        .bind(0, handles.sample, [bind::texture(&color), bind::sampler(handles.linear)])
        .fullscreen(handles.color);
    graph.copy_buffer("keep", &cells, &mut copy);
    let bytes = graph.read_buffer(&copy.range(0..64));
    let texels = graph.read_texture(&screen);
    let mut submitted = graph.submit(&mut fixture.device)?;
    let mut result = Vec::new();
    for read in [bytes, texels] {
        let ticket = submitted.take_read(read).expect("the graph was submitted");
        let last = fixture.device.last_submission();
        fixture.device.wait(last, Duration::from_secs(1)).map_err(graph_error)?;
        result.extend(fixture.device.read_vec(&ticket).map_err(graph_error)?);
    }
    Ok(result)
}

/// What the device itself answers, in the graph's terms, so that a frame has one kind of error.
fn graph_error(source: Error) -> GraphError {
    GraphError::Device { graph: "frame".into(), source: Box::new(source) }
}

fn cause(error: GraphError) -> Error {
    match error {
        GraphError::Pass { source, .. }
        | GraphError::Transient { source, .. }
        | GraphError::Device { source, .. } => *source,
        other => panic!("not the device's error: {other:?}"),
    }
}

struct World {
    fixture: Fixture,
    arena: GraphArena<Null>,
    screen: purlin_rhi::Owned<purlin_rhi::kind::Texture>,
    control: NullControl,
}

impl World {
    fn new(pace: Option<u64>) -> Self {
        let config = NullConfig { auto_complete: false, log: false, ..NullConfig::executing() };
        let mut fixture = Fixture::new(config);
        let screen = fixture.texture("screen", 4, 4);
        let control = fixture.control.clone();
        control.set_pace(pace);
        Self { fixture, arena: GraphArena::new(), screen, control }
    }

    fn frame(&mut self) -> Result<Vec<u8>, GraphError> {
        frame(&mut self.fixture, &mut self.arena, *self.screen)
    }

    /// Two frames: one that creates its transients and one that finds them.
    fn frames(&mut self) -> Result<Vec<u8>, GraphError> {
        let mut bytes = self.frame()?;
        bytes.extend(self.frame()?);
        Ok(bytes)
    }

    /// That nothing is open, and that all goes with its owners.
    fn end(mut self, at: &str) {
        assert_eq!(self.control.open_encoders(), 0, "{at}");
        self.arena.clear();
        drop(self.screen);
        if self.fixture.device.lost().is_none() {
            self.control.complete_all();
            self.fixture.device.maintain().unwrap();
            assert_eq!(self.fixture.device.retiring(), 0, "{at}");
            // What the graph made of them is gone; groups of its cache went with what they bind.
            for kind in [ResourceKind::Texture, ResourceKind::TextureView, ResourceKind::BindGroup] {
                assert_eq!(self.control.live(kind), 0, "{at}: {kind}");
            }
        }
        drop(self.arena);
        drop(self.fixture);
        assert_eq!((self.control.live_total(), self.control.held()), (0, 0), "{at}");
    }
}

const PACES: [Option<u64>; 3] = [None, Some(1), Some(2)];

fn each_failure(plan: impl Fn(&NullControl, u64), is_expected: impl Fn(&Error) -> bool) -> u64 {
    let expected = World::new(None).frames().unwrap();
    for n in 1.. {
        for pace in PACES {
            let at = format!("failure {n}, pace {pace:?}");
            let mut world = World::new(pace);
            plan(&world.control, n);
            let result = world.frames();
            if world.control.planned_failures() > 0 {
                assert_eq!(result.unwrap(), expected, "{at}");
                return n - 1;
            }
            let error = cause(result.unwrap_err());
            assert!(is_expected(&error), "{at}: {error:?}");
            assert_eq!(world.frames().unwrap(), expected, "{at}: again");
            world.end(&at);
        }
    }
    unreachable!("a frame ends")
}

#[test]
fn every_failure_of_a_frame_leaves_the_arena_usable() {
    let memory = |error: &Error| matches!(error, Error::OutOfMemory { .. });
    let submit = |error: &Error| matches!(error, Error::Backend { call: "submit", .. });
    let section = |error: &Error| memory(error) || matches!(error, Error::Backend { .. });
    assert!(each_failure(NullControl::fail_allocation, memory) >= 10);
    assert_eq!(each_failure(NullControl::fail_recording, memory), 2);
    assert_eq!(each_failure(NullControl::fail_section, section), 6);
    assert_eq!(each_failure(NullControl::fail_submission, submit), 2);
}

#[test]
fn a_loss_at_every_call_of_a_frame_is_an_error_and_another_device_works() {
    let expected = World::new(None).frames().unwrap();
    for n in 1.. {
        for pace in PACES {
            let at = format!("loss at call {n}, pace {pace:?}");
            let mut world = World::new(pace);
            world.control.lose_device_at(n);
            let result = world.frames();
            if world.control.planned_failures() > 0 {
                assert_eq!(result.unwrap(), expected, "{at}");
                assert!(n > 30, "only {n} calls");
                return;
            }
            let error = cause(result.unwrap_err());
            assert!(matches!(error, Error::DeviceLost { .. }), "{at}: {error:?}");
            let again = cause(world.frame().unwrap_err());
            assert!(matches!(again, Error::DeviceLost { .. }), "{at}: {again:?}");
            world.end(&at);
        }
    }
}
