//! Command batches (T6): their states, what each call needs, what they keep alive, and what they refuse.

use purlin_rhi::null::{Null, NullConfig, NullControl};
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const VS: ShaderStages = ShaderStages::VERTEX;

pub const DESC: CommandBatchDesc<'static> =
    CommandBatchDesc { label: "crowd", colors: &[Some(COLOR)], depth_stencil: None, samples: 1 };

struct Scene {
    gpu: Gpu,
    control: NullControl,
    pipeline: Pipeline,
    target: Owned<kind::TextureView>,
    _texture: Owned<kind::Texture>,
}

impl Scene {
    fn with(config: NullConfig) -> Self {
        let (mut gpu, control) = device(config);
        let pipeline = simple_pipeline(&mut gpu);
        let texture = texture(&mut gpu, "target", 64, 64, TextureUsages::RENDER_ATTACHMENT);
        let target = view(&mut gpu, *texture);
        control.take_log();
        Self { gpu, control, pipeline, target, _texture: texture }
    }

    fn new() -> Self {
        Self::with(NullConfig::executing())
    }

    /// Whose submissions complete by hand.
    fn manual() -> Self {
        Self::with(NullConfig { wait_completes: false, ..NullConfig::manual() })
    }

    /// A batch that is recording, with one draw.
    fn recording(&mut self) -> Owned<kind::CommandBatch> {
        let batch = self.gpu.create_batch(&DESC).unwrap();
        self.draw_into(*batch).unwrap();
        batch
    }

    fn draw_into(&mut self, batch: CommandBatch) -> Result<()> {
        let pipeline = *self.pipeline.pipeline;
        self.gpu.checked(|gpu| {
            gpu.record_batch(batch, |recorder| {
                recorder.set_pipeline(pipeline);
                recorder.draw(0..3, 0..1);
            })
        })
    }

    fn finished(&mut self) -> Owned<kind::CommandBatch> {
        let batch = self.recording();
        self.gpu.finish_batch(*batch).unwrap();
        batch
    }

    fn pass(
        &mut self,
        batches: &[CommandBatch],
        body: impl FnOnce(&mut RenderPass<'_, Null>),
    ) -> Result<SubmissionToken> {
        let colors = [cleared(*self.target)];
        self.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass(&RenderPassDesc { batches, ..pass(&colors, &[]) }, body)?;
            recorder.submit()
        })
    }

    fn execute(&mut self, batch: CommandBatch) -> Result<SubmissionToken> {
        self.pass(&[], |pass| pass.execute_batch(batch))
    }

    fn state(&mut self, batch: CommandBatch) -> BatchState {
        self.gpu.batch_state(batch).unwrap()
    }

    /// A batch in this state; others may be in flight.
    fn in_state(&mut self, wanted: BatchState) -> Owned<kind::CommandBatch> {
        let batch = if wanted == BatchState::Recording { self.recording() } else { self.finished() };
        if matches!(wanted, BatchState::Submitted | BatchState::Discarded) {
            self.execute(*batch).unwrap();
        }
        if matches!(wanted, BatchState::Discarded | BatchState::Retired) {
            self.gpu.discard_batch(*batch).unwrap();
        }
        assert_eq!(self.state(*batch), wanted);
        batch
    }
}

const STATES: [BatchState; 5] = [
    BatchState::Recording,
    BatchState::Finished,
    BatchState::Submitted,
    BatchState::Discarded,
    BatchState::Retired,
];

/// The state after a call that a state allows.
type After = fn(BatchState) -> Option<BatchState>;
type Call = fn(&mut Scene, CommandBatch) -> Result<()>;

/// Each call, the states that it needs as errors say it, whether a state is one of them, and the state after it.
const CALLS: [(&str, &str, Call, After); 4] = [
    ("record_batch", "recording", Scene::draw_into, |state| {
        (state == BatchState::Recording).then_some(BatchState::Recording)
    }),
    (
        "finish_batch",
        "recording",
        |scene, batch| scene.gpu.checked(|gpu| gpu.finish_batch(batch)),
        |state| (state == BatchState::Recording).then_some(BatchState::Finished),
    ),
    (
        "execute_batch",
        "finished or submitted",
        |scene, batch| scene.execute(batch).map(|_| ()),
        |state| {
            matches!(state, BatchState::Finished | BatchState::Submitted).then_some(BatchState::Submitted)
        },
    ),
    (
        "discard_batch",
        "recording, finished or submitted",
        |scene, batch| scene.gpu.checked(|gpu| gpu.discard_batch(batch)),
        |state| match state {
            BatchState::Recording | BatchState::Finished => Some(BatchState::Retired),
            BatchState::Submitted => Some(BatchState::Discarded),
            BatchState::Discarded | BatchState::Retired => None,
        },
    ),
];

#[test]
fn every_call_in_every_state() {
    let mut refusals = 0;
    for before in STATES {
        for (name, needs, call, after) in CALLS {
            let mut scene = Scene::manual();
            let batch = scene.in_state(before);
            let draws = scene.gpu.batch_draws(*batch).unwrap();
            let result = call(&mut scene, *batch);
            let Some(after) = after(before) else {
                refusals += 1;
                let found = match before {
                    BatchState::Recording => "one that is recording",
                    BatchState::Finished => "one that is finished",
                    BatchState::Submitted => "one that is submitted",
                    BatchState::Discarded | BatchState::Retired => "one that is discarded",
                };
                let expected = format!("a batch that is {needs}");
                wrong_state(result, &[name, "command batch \"crowd\"", &expected, found]);
                assert_eq!(scene.state(*batch), before, "{name}");
                assert_eq!(scene.gpu.batch_draws(*batch), Ok(draws), "{name}");
                continue;
            };
            assert_eq!(result, Ok(()), "{name} of one that is {before:?}");
            assert_eq!(scene.state(*batch), after, "{name} of one that is {before:?}");
        }
    }
    assert_eq!(
        refusals,
        20 - (2 + 2 + 2 + 3 - 2),
        "2 calls need a recording, 2 states execute, 3 are discarded"
    );
}

/// Random calls, against a model of a few lines.
#[test]
fn random_calls_follow_the_model() {
    let mut random = 9u64;
    let mut below = move |end: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % end
    };
    for _ in 0..40 {
        let mut scene = Scene::manual();
        let batch = scene.gpu.create_batch(&DESC).unwrap();
        let (mut model, mut draws, mut executed) = (BatchState::Recording, 0, 0);
        for _ in 0..30 {
            let which = below(6) as usize;
            if which >= CALLS.len() {
                scene.control.complete_all();
                model = match model {
                    BatchState::Submitted => BatchState::Finished,
                    BatchState::Discarded => BatchState::Retired,
                    state => state,
                };
            } else {
                // A discard ends everything, so it comes seldom.
                let (name, _, call, after) = CALLS[if which == 3 && below(8) > 0 { 2 } else { which }];
                let result = call(&mut scene, *batch);
                assert_eq!(result.is_ok(), after(model).is_some(), "{name} of one that is {model:?}");
                if let Some(after) = after(model) {
                    model = after;
                    draws += u32::from(name == "record_batch");
                    executed += if name == "execute_batch" { draws } else { 0 };
                }
            }
            assert_eq!(scene.state(*batch), model);
            let kept = if matches!(model, BatchState::Discarded | BatchState::Retired) { 0 } else { draws };
            assert_eq!(scene.gpu.batch_draws(*batch), Ok(kept));
        }
        assert_eq!(crate::support::draws(&scene.control).len(), executed as usize);
    }
}

#[test]
fn a_batch_is_submitted_until_the_last_of_its_submissions_is_complete() {
    let mut scene = Scene::manual();
    let batch = scene.finished();
    let first = scene.execute(*batch).unwrap();
    let second = scene.execute(*batch).unwrap();
    scene.pass(&[], |_| {}).unwrap();
    scene.control.complete_to(first.ordinal());
    assert_eq!(scene.state(*batch), BatchState::Submitted);
    scene.control.complete_to(second.ordinal());
    assert_eq!(scene.state(*batch), BatchState::Finished, "what executes no batch is not waited for");
}

#[test]
fn a_recording_that_is_not_submitted_is_no_submission() {
    let mut scene = Scene::manual();
    let batch = scene.finished();
    let colors = [cleared(*scene.target)];
    let mut recorder = scene.gpu.record("dropped").unwrap();
    recorder.render_pass(&pass(&colors, &[]), |pass| pass.execute_batch(*batch)).unwrap();
    drop(recorder);
    assert_eq!(scene.state(*batch), BatchState::Finished);
    scene.control.fail_submission(1);
    assert!(scene.execute(*batch).is_err());
    assert_eq!(scene.state(*batch), BatchState::Finished);
    scene.pass(&[], |_| {}).unwrap();
    assert_eq!(scene.state(*batch), BatchState::Finished, "nor does the next one take it for its own");
}

#[test]
fn sections_execute_batches() {
    for sections in [true, false] {
        let mut scene = Scene::with(NullConfig { sections, ..NullConfig::manual() });
        let batches = [(); 3].map(|()| scene.finished());
        let handles = batches.each_ref().map(|batch| **batch);
        let colors = [cleared(*scene.target)];
        let mut recorder = scene.gpu.record("frame").unwrap();
        recorder
            .render_pass_parallel(&pass(&colors, &[]), 3, |section, pass| {
                pass.execute_batch(handles[section as usize]);
            })
            .unwrap();
        recorder.submit().unwrap();
        for batch in handles {
            assert_eq!(scene.state(batch), BatchState::Submitted);
        }
        scene.control.complete_all();
        assert_eq!(draws(&scene.control).len(), 3);
    }
}

#[test]
fn stale_and_foreign_batches() {
    let mut scene = Scene::new();
    let mut other = Scene::new();
    let foreign = other.finished();
    let stale = {
        let batch = scene.finished();
        *batch
    };
    for (batch, problem) in [(stale, HandleProblem::Stale), (*foreign, HandleProblem::Foreign)] {
        bad_handle(scene.draw_into(batch), problem);
        bad_handle(scene.gpu.checked(|gpu| gpu.finish_batch(batch)), problem);
        bad_handle(scene.gpu.checked(|gpu| gpu.discard_batch(batch)), problem);
        bad_handle(scene.gpu.checked(|gpu| gpu.batch_state(batch)), problem);
        bad_handle(scene.gpu.checked(|gpu| gpu.batch_draws(batch)), problem);
        bad_handle(scene.execute(batch), problem);
        bad_handle(scene.pass(&[batch], |_| {}), problem);
        refused(scene.execute(batch), &["pass \"pass\", execute_batch (after 0 draws", "command batch #"]);
        refused(scene.pass(&[batch], |_| {}), &["pass \"pass\", batches"]);
    }
    assert_eq!(other.state(*foreign), BatchState::Finished);
    let batch = scene.finished();
    scene.gpu.destroy(*batch).unwrap();
    bad_handle(scene.execute(*batch), HandleProblem::Stale);
}

#[test]
fn a_batch_must_be_finished_to_be_declared() {
    let mut scene = Scene::new();
    let batch = scene.recording();
    let texts = ["pass \"pass\", batches: command batch \"crowd\"", "finished or submitted", "recording"];
    wrong_state(scene.pass(&[*batch], |_| {}), &texts);
    scene.gpu.finish_batch(*batch).unwrap();
    scene.pass(&[*batch], |_| {}).unwrap();
    scene.gpu.discard_batch(*batch).unwrap();
    wrong_state(scene.pass(&[*batch], |_| {}), &["batches", "discarded"]);
}

#[test]
fn descriptions_are_checked() {
    let mut gpu = plain();
    let mut create = |desc: CommandBatchDesc<'_>| gpu.checked(|gpu| gpu.create_batch(&desc).map(|_| ()));
    let depth = Some(TextureFormat::Depth32Float);
    let name = "command batch \"crowd\"";
    invalid(create(CommandBatchDesc { colors: &[depth], ..DESC }), "colors", &[name, "Depth32Float"]);
    invalid(create(CommandBatchDesc { depth_stencil: Some(COLOR), ..DESC }), "depth_stencil", &[name]);
    invalid(create(CommandBatchDesc { colors: &[None], ..DESC }), "attachments", &[name, "none"]);
    invalid(create(CommandBatchDesc { samples: 3, ..DESC }), "samples", &[name, "a power of two", "3"]);
    let nine = [Some(COLOR); 9];
    let texts = [name, "9 requested, 8 available"];
    unsupported(create(CommandBatchDesc { colors: &nine, ..DESC }), "limit max_color_attachments", &texts);
    create(CommandBatchDesc { colors: &[], depth_stencil: depth, ..DESC }).unwrap();
}

/// Executes a batch made for `desc` in a pass of one color, and perhaps depth.
fn executed_with(desc: &CommandBatchDesc<'_>, depth: Option<AspectOps<f32>>) -> Result<()> {
    let mut scene = Scene::new();
    let format = TextureFormat::Depth32Float;
    let usage = TextureUsages::RENDER_ATTACHMENT;
    let texture = scene.gpu.create_texture(&TextureDesc::d2("depth", 64, 64, format, usage)).unwrap();
    let attached = view(&mut scene.gpu, *texture);
    let module = scene.gpu.create_shader_module(&SIMPLE).unwrap();
    let layout = pipeline_layout(&mut scene.gpu, &[]);
    let state = DepthStencilDesc::depth(format, true, CompareFunction::Less);
    let targets = [Some(COLOR.into())];
    let writes = RenderPipelineDesc { depth_stencil: Some(state), ..raster(*module, *layout, &targets) };
    let writes = scene.gpu.create_render_pipeline(&writes).unwrap();
    let batch = scene.gpu.create_batch(desc).unwrap();
    if desc.depth_stencil == Some(format) {
        scene.gpu.record_batch(*batch, |recorder| {
            recorder.set_pipeline(*writes);
            recorder.draw(0..3, 0..1);
        })?;
    }
    scene.gpu.finish_batch(*batch).unwrap();
    let colors = [cleared(*scene.target)];
    let attachment = |depth| DepthStencilAttachment { view: *attached, depth: Some(depth), stencil: None };
    scene.gpu.checked(|gpu| {
        let mut recorder = gpu.record("frame")?;
        let cleared = RenderPassDesc {
            label: "before",
            depth_stencil: Some(attachment(AspectOps::clear(1.0))),
            ..Default::default()
        };
        recorder.render_pass(&cleared, |_| {})?;
        let desc = RenderPassDesc { depth_stencil: depth.map(attachment), ..pass(&colors, &[]) };
        recorder.render_pass(&desc, |pass| {
            pass.execute_batch(*batch);
            assert_eq!(pass.mistake().is_some(), depth.is_none_or(|ops| ops.read_only));
        })?;
        recorder.submit().map(|_| ())
    })
}

#[test]
fn a_batch_fits_passes_of_its_attachments() {
    let depth = Some(TextureFormat::Depth32Float);
    let texts = |found: &'static str| ["pass \"pass\", execute_batch of command batch \"crowd\"", found];
    let other = CommandBatchDesc { colors: &[Some(TextureFormat::Rgba16Float)], ..DESC };
    invalid(executed_with(&other, None), "targets", &texts("colors [Some(Rgba16Float)]"));
    let two = CommandBatchDesc { colors: &[Some(COLOR), None], ..DESC };
    invalid(executed_with(&two, None), "targets", &texts("[Some(Rgba8Unorm), None]"));
    let samples = CommandBatchDesc { samples: 4, ..DESC };
    invalid(executed_with(&samples, None), "targets", &texts("4 samples"));
    let with_depth = CommandBatchDesc { depth_stencil: depth, ..DESC };
    invalid(executed_with(&with_depth, None), "targets", &texts("depth-stencil Some(Depth32Float)"));
    assert_eq!(executed_with(&with_depth, Some(AspectOps::load())), Ok(()));
    let read_only = executed_with(&with_depth, Some(AspectOps::read_only()));
    invalid(read_only, "depth_stencil", &texts("no depth writes: the aspect is read-only in this pass"));
}

#[test]
fn what_is_recorded_is_checked_as_in_a_pass() {
    let mut scene = Scene::new();
    let batch = scene.recording();
    let module = scene.gpu.create_shader_module(&SIMPLE).unwrap();
    let layout = pipeline_layout(&mut scene.gpu, &[]);
    let targets = [Some(TextureFormat::Rgba16Float.into())];
    let other = scene.gpu.create_render_pipeline(&raster(*module, *layout, &targets)).unwrap();
    let bytes = scene.gpu.create_buffer(&BufferDesc::uploaded("mesh", 64, BufferUsages::VERTEX)).unwrap();
    let mut record = |body: &dyn Fn(&mut BatchRecorder<'_, Null>)| {
        scene.gpu.checked(|gpu| gpu.record_batch(*batch, |recorder| body(recorder)))
    };
    let pipeline = *scene.pipeline.pipeline;
    let refused = record(&|recorder| {
        recorder.set_pipeline(pipeline);
        recorder.draw(0..3, 0..1);
        assert!(recorder.mistake().is_none());
        recorder.set_pipeline(*other);
        assert!(recorder.mistake().is_some());
    });
    invalid(
        refused,
        "targets",
        &["pass \"crowd\", set_pipeline of \"raster\" (after 1 draws", "Rgba16Float"],
    );
    wrong_state(record(&|recorder| recorder.draw(0..3, 0..1)), &["draw", "a pipeline", "none"]);
    let unwritten = record(&|recorder| recorder.set_vertex_buffer(0, slice(*bytes, 0, 64)));
    wrong_state(unwritten, &["buffer \"mesh\", to which nothing was uploaded"]);
    let beyond = record(&|recorder| recorder.set_vertex_buffer(0, slice(*bytes, 32, 64)));
    invalid(beyond, "slice", &["64 bytes from 32"]);
    wrong_state(record(&|recorder| recorder.pop_debug_group()), &["an open debug group", "none"]);
    // Each recording begins with nothing set, and leaves the batch as it was when it is refused.
    assert_eq!(scene.gpu.batch_draws(*batch), Ok(1));
    scene.gpu.finish_batch(*batch).unwrap();
    scene.execute(*batch).unwrap();
    assert_eq!(draws(&scene.control).len(), 1);
}

#[test]
fn commands_and_batches_have_ceilings() {
    let objects = ObjectCeilings::default().with(ResourceKind::CommandBatch, 2);
    let storage = StorageCeilings { objects, batch_commands: 5, ..StorageCeilings::default() };
    let (mut gpu, _control) = device_with(NullConfig::executing(), storage);
    let pipeline = simple_pipeline(&mut gpu);
    let batch = gpu.create_batch(&DESC).unwrap();
    let record = |gpu: &mut Gpu, draws: u32| {
        gpu.checked(|gpu| {
            gpu.record_batch(*batch, |recorder| {
                recorder.set_pipeline(*pipeline.pipeline);
                recorder.push_debug_group("part");
                for draw in 0..draws {
                    recorder.draw(0..3, draw..draw + 1);
                }
            })
        })
    };
    record(&mut gpu, 2).unwrap();
    let full = |requested, result| {
        let what = "command batch \"crowd\", commands".into();
        assert_eq!(result, Err(Error::CapacityExceeded { what, requested, capacity: 5 }));
    };
    full(6, record(&mut gpu, 2));
    full(104, record(&mut gpu, 100));
    assert_eq!(gpu.batch_draws(*batch), Ok(2));
    record(&mut gpu, 1).unwrap();
    full(6, record(&mut gpu, 0));
    assert_eq!(gpu.batch_draws(*batch), Ok(3));
    let second = gpu.create_batch(&DESC).unwrap();
    let third = gpu.checked(|gpu| gpu.create_batch(&DESC).map(|_| ()));
    refused(third, &["command batch slots", "3 asked for, 2 is the most"]);
    drop(second);
    drop(gpu.create_batch(&DESC).unwrap());
}

/// What a batch over an uploaded mesh and a group is made of.
struct Parts {
    pipeline: Pipeline,
    mesh: Owned<kind::Buffer>,
    group: Owned<kind::BindGroup>,
    layout: Owned<kind::BindGroupLayout>,
    data: Owned<kind::Buffer>,
}

fn parts(gpu: &mut Gpu) -> Parts {
    let layout = group_layout(gpu, &[entry(0, VS, uniform(16))]);
    let pipeline = pipeline_of(gpu, &BOUND, &[*layout, *layout], &[]);
    let mesh = uploaded(gpu, "mesh", 64, BufferUsages::VERTEX | BufferUsages::INDEX);
    let data = uploaded(gpu, "data", 16, BufferUsages::UNIFORM);
    let group = group(gpu, *layout, &[BindGroupEntry::buffer(0, *data)]);
    Parts { pipeline, mesh, group, layout, data }
}

fn batch_of(gpu: &mut Gpu, parts: &Parts) -> Owned<kind::CommandBatch> {
    let batch = gpu.create_batch(&DESC).unwrap();
    gpu.record_batch(*batch, |recorder| {
        recorder.set_pipeline(*parts.pipeline.pipeline);
        recorder.set_bind_group(0, *parts.group, &[]);
        recorder.set_bind_group(1, *parts.group, &[]);
        recorder.set_vertex_buffer(0, slice(*parts.mesh, 0, 64));
        recorder.set_index_buffer(slice(*parts.mesh, 0, 64), IndexFormat::Uint16);
        recorder.draw_indexed(0..3, 0, 0..1);
    })
    .unwrap();
    gpu.finish_batch(*batch).unwrap();
    batch
}

fn objects(scene: &Scene) -> Vec<usize> {
    ResourceKind::ALL.map(|kind| scene.control.live(kind)).to_vec()
}

#[test]
fn a_batch_keeps_what_it_uses() {
    // Dropped by its owner at once, or discarded first; before the GPU is done with it, or after.
    for (discard, complete_first) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut scene = Scene::manual();
        let before = objects(&scene);
        let parts = parts(&mut scene.gpu);
        scene.control.complete_all();
        let with_parts = objects(&scene);
        let batch = batch_of(&mut scene.gpu, &parts);
        drop(parts);
        scene.gpu.maintain().unwrap();
        let kept = objects(&scene);
        assert_eq!(kept, with_parts, "the batch is all that keeps them");
        scene.execute(*batch).unwrap();
        if complete_first {
            scene.control.complete_all();
        }
        if discard {
            scene.gpu.discard_batch(*batch).unwrap();
            let state = if complete_first { BatchState::Retired } else { BatchState::Discarded };
            assert_eq!(scene.state(*batch), state);
        } else {
            drop(batch);
        }
        scene.gpu.maintain().unwrap();
        if !complete_first {
            assert_eq!(objects(&scene), kept, "the GPU still uses all of it");
            scene.control.complete_all();
            scene.gpu.maintain().unwrap();
        }
        let ring = ResourceKind::Buffer as usize;
        let mut after = objects(&scene);
        // The upload ring is the device's.
        after[ring] -= 1;
        assert_eq!(after, before);
        assert_eq!(scene.gpu.retiring(), 0);
    }
}

#[test]
fn a_batch_of_what_was_destroyed_draws_as_before() {
    let mut scene = Scene::new();
    let parts = parts(&mut scene.gpu);
    let batch = batch_of(&mut scene.gpu, &parts);
    scene.execute(*batch).unwrap();
    let first = draws(&scene.control);
    let mesh = *parts.mesh;
    let Parts { pipeline, mesh: owner, group, layout, data } = parts;
    drop((pipeline, owner, group, layout, data));
    scene.gpu.maintain().unwrap();
    bad_handle(scene.gpu.buffer_size(mesh), HandleProblem::Stale);
    // Others may not get the slots meanwhile.
    let others = self::parts(&mut scene.gpu);
    scene.control.take_log();
    scene.execute(*batch).unwrap();
    assert_eq!(draws(&scene.control), first);
    drop((others, batch));
    scene.gpu.maintain().unwrap();
    assert_eq!(scene.gpu.retiring(), 0);
}

#[test]
fn a_refused_recording_keeps_nothing_alive() {
    let mut scene = Scene::new();
    let batch = scene.recording();
    let mesh = uploaded(&mut scene.gpu, "mesh", 64, BufferUsages::VERTEX);
    let refused = scene.gpu.record_batch(*batch, |recorder| {
        recorder.set_vertex_buffer(0, slice(*mesh, 0, 64));
        recorder.draw(0..3, 0..1);
    });
    wrong_state(refused, &["a pipeline"]);
    let before = scene.control.live(ResourceKind::Buffer);
    drop(mesh);
    scene.gpu.maintain().unwrap();
    assert_eq!(scene.control.live(ResourceKind::Buffer), before - 1);
}

/// T4: an update is ordered. Executions before it read what was there, later ones read the new contents.
#[test]
fn updates_of_what_a_batch_uses_are_ordered() {
    let mut scene = Scene::manual();
    let parts = parts(&mut scene.gpu);
    scene.control.complete_all();
    scene.control.take_log();
    let batch = batch_of(&mut scene.gpu, &parts);
    scene.execute(*batch).unwrap();
    scene.gpu.write_buffer(*parts.data, 0, &[7; 16]).unwrap();
    assert_eq!(scene.state(*batch), BatchState::Submitted, "an update neither waits nor ends a batch");
    scene.execute(*batch).unwrap();
    let log = scene.control.take_log();
    let order: Vec<_> = log
        .iter()
        .flat_map(|submission| submission.commands())
        .filter_map(|command| match command {
            null::NullCommand::Draw { .. } => Some("draw"),
            null::NullCommand::CopyBuffer { dst, .. } if *dst == parts.data.slot() => Some("update"),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["draw", "update", "draw"]);
}

#[test]
fn tracked_uses_are_declared_by_the_pass() {
    let mut scene = Scene::new();
    let gpu = &mut scene.gpu;
    let layout = group_layout(gpu, &[entry(0, VS, dynamic_uniform(16))]);
    let pipeline = pipeline_of(gpu, &BOUND, &[*layout, *layout], &[]);
    let data = buffer(gpu, "data", 1024, BufferUsages::UNIFORM);
    let usage = BufferUsages::VERTEX | BufferUsages::INDEX | BufferUsages::INDIRECT;
    let mesh = buffer(gpu, "mesh", 256, usage);
    let bound = group(gpu, *layout, &[BindGroupEntry::buffer_range(0, *data, 0, 256)]);
    let batch = gpu.create_batch(&DESC).unwrap();
    gpu.record_batch(*batch, |recorder| {
        recorder.set_pipeline(*pipeline.pipeline);
        recorder.set_bind_group(0, *bound, &[512]);
        recorder.set_bind_group(1, *bound, &[256]);
        recorder.set_vertex_buffer(0, slice(*mesh, 64, 64));
        recorder.draw_indirect(*mesh, 32);
        recorder.set_vertex_buffer(0, slice(*mesh, 192, 64));
        recorder.draw_indirect(*mesh, 16);
    })
    .unwrap();
    gpu.finish_batch(*batch).unwrap();
    let execute = |scene: &mut Scene, uses: &[plan::ResourceUse], groups: &[BindGroup], batches: &[_]| {
        let colors = [cleared(*scene.target)];
        scene.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            let desc = RenderPassDesc { groups, batches, ..pass(&colors, uses) };
            recorder.render_pass(&desc, |pass| pass.execute_batch(*batch))?;
            recorder.submit().map(|_| ())
        })
    };
    // Contents that nobody wrote, as for direct draws.
    let undefined = execute(&mut scene, &[], &[], &[*batch]);
    wrong_state(undefined, &["pass \"pass\"", "defined contents", "buffer \"mesh\""]);
    scene.gpu.write_buffer(*data, 0, &[0; 1024]).unwrap();
    scene.gpu.write_buffer(*mesh, 0, &[0; 256]).unwrap();
    let part = |buffer, offset, size, usage| plan::ResourceUse::Buffer { buffer, offset, size, usage };
    let read = part(*data, 256, 512, BufferUse::Uniform(VS));
    let vertices = part(*mesh, 64, 192, BufferUse::Vertex);
    let arguments = part(*mesh, 16, 32, BufferUse::Indirect);
    // In full, in each of the ways.
    assert_eq!(execute(&mut scene, &[], &[], &[*batch]), Ok(()));
    assert_eq!(execute(&mut scene, &[vertices, arguments], &[*bound], &[]), Ok(()));
    assert_eq!(execute(&mut scene, &[read, vertices, arguments], &[], &[]), Ok(()));
    // And less.
    let texts = ["execute_batch of command batch \"crowd\"", "the batch among the pass's batches, or"];
    for missing in [
        [part(*data, 256, 256, BufferUse::Uniform(VS)), vertices, arguments],
        [read, part(*mesh, 128, 128, BufferUse::Vertex), arguments],
        [read, vertices, part(*mesh, 32, 16, BufferUse::Indirect)],
        [read, vertices, part(*mesh, 0, 256, BufferUse::Index)],
    ] {
        invalid(execute(&mut scene, &missing, &[], &[]), "uses", &texts);
    }
    invalid(execute(&mut scene, &[vertices, arguments], &[], &[]), "uses", &["for bind group \"group\""]);
    assert_eq!(scene.gpu.ledger().buffer_ordinal(mesh.slot()), 3, "refused passes are no uses");
    // What a pass declares by handle must live. What the batch declares need not: the batch keeps it.
    drop((mesh, data));
    scene.gpu.maintain().unwrap();
    bad_handle(execute(&mut scene, &[read, vertices, arguments], &[], &[]), HandleProblem::Stale);
    assert_eq!(execute(&mut scene, &[], &[], &[*batch]), Ok(()));
    let group = *bound;
    drop(bound);
    scene.gpu.maintain().unwrap();
    bad_handle(execute(&mut scene, &[], &[group], &[*batch]), HandleProblem::Stale);
    assert_eq!(execute(&mut scene, &[], &[], &[*batch]), Ok(()));
    drop(batch);
    scene.gpu.maintain().unwrap();
    assert_eq!(scene.gpu.retiring(), 0);
}
