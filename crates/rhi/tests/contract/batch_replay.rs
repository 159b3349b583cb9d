//! Executed batches against direct draws: the same native calls with the same state, barriers and order, and nothing that
//! goes into a batch or comes out of it.

use purlin_rhi::backend::Dirty;
use purlin_rhi::null::{Null, NullCommand, NullConfig};
use purlin_rhi::plan::BufferUse;
use purlin_rhi::shader::{EntryPoint, ShaderBinding, ShaderSource};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::batches::DESC;
use crate::support::*;

const VS: ShaderStages = ShaderStages::VERTEX;
const FLOAT: VertexAttribute =
    VertexAttribute { format: VertexFormat::Float32, offset: 0, shader_location: 0 };

const FRAME: ShaderBinding =
    ShaderBinding { group: 0, binding: 0, name: "frame", ty: dynamic_uniform(16), count: 0 };

/// `vs` reads group 0 and eight bytes of immediates.
static PUSHED: ShaderSource = source(&[
    EntryPoint { name: "vs", stage: VS, bindings: &[FRAME], immediate_size: 8, ..NO_STAGE },
    EntryPoint { name: "fs", stage: ShaderStages::FRAGMENT, outputs: &[OUT_COLOR], ..NO_STAGE },
]);

type Body<'a> = &'a dyn Fn(&mut RenderPass<'_, Null>);

struct Scene {
    gpu: Gpu,
    control: null::NullControl,
    target: Owned<kind::TextureView>,
    /// Of both groups, of both again, of nothing, of vertices, of group 0 and immediates.
    pipelines: [RenderPipeline; 5],
    /// Two for each number.
    groups: [Owned<kind::BindGroup>; 4],
    data: Owned<kind::Buffer>,
    arguments: Owned<kind::Buffer>,
    _kept: Owned<kind::Texture>,
}

impl Scene {
    fn new(keeps_state: bool) -> Self {
        let (mut gpu, control) = device(NullConfig { keeps_state, ..NullConfig::executing() });
        let texture = texture(&mut gpu, "target", 64, 64, TextureUsages::RENDER_ATTACHMENT);
        let target = view(&mut gpu, *texture);
        let shapes = [(); 2].map(|()| group_layout(&mut gpu, &[entry(0, VS, dynamic_uniform(16))]));
        let both = [*shapes[0], *shapes[1]];
        let fed = VertexBufferLayout { stride: 4, step: VertexStepMode::Vertex, attributes: &[FLOAT] };
        let module = gpu.create_shader_module(&PUSHED).unwrap();
        let layout = PipelineLayoutDesc { label: "pushed", groups: &both[..1], immediate_size: 16 };
        let layout = gpu.create_pipeline_layout(&layout).unwrap();
        let targets = [Some(COLOR.into())];
        let pushed = gpu.create_render_pipeline(&raster(*module, *layout, &targets)).unwrap();
        let leak = |pipeline: Pipeline| pipeline.pipeline.leak();
        let pipelines = [
            leak(pipeline_of(&mut gpu, &BOUND, &both, &[])),
            leak(pipeline_of(&mut gpu, &BOUND, &both, &[])),
            leak(simple_pipeline(&mut gpu)),
            leak(pipeline_of(&mut gpu, &SIMPLE, &[], &[fed])),
            pushed.leak(),
        ];
        let uniforms = uploaded(&mut gpu, "uniforms", 1024, BufferUsages::UNIFORM);
        let entries = [BindGroupEntry::buffer_range(0, *uniforms, 0, 256)];
        let groups = [0, 0, 1, 1].map(|shape: usize| group(&mut gpu, *shapes[shape], &entries));
        let data = uploaded(&mut gpu, "data", 256, BufferUsages::VERTEX | BufferUsages::INDEX);
        let arguments = uploaded(&mut gpu, "arguments", 256, BufferUsages::INDIRECT);
        let mut scene = Self { gpu, control, target, pipelines, groups, data, arguments, _kept: texture };
        // From now on the target is found alike.
        scene.log(&[&|_| {}]);
        scene
    }

    fn batch(&mut self, parts: &[&[Command]]) -> Owned<kind::CommandBatch> {
        let batch = self.gpu.create_batch(&DESC).unwrap();
        let things = Things::of(self);
        for part in parts {
            self.gpu.record_batch(*batch, |recorder| play!(recorder, things, part)).unwrap();
        }
        self.gpu.finish_batch(*batch).unwrap();
        batch
    }

    /// The commands of a recording of one pass for each body.
    fn log(&mut self, passes: &[Body<'_>]) -> Vec<NullCommand> {
        let colors = [cleared(*self.target)];
        let mut recorder = self.gpu.record("frame").unwrap();
        for body in passes {
            recorder.render_pass(&pass(&colors, &[]), |pass| body(pass)).unwrap();
        }
        recorder.submit().unwrap();
        commands(&self.control)
    }
}

/// What commands name.
#[derive(Clone, Copy)]
struct Things {
    pipelines: [RenderPipeline; 5],
    groups: [BindGroup; 4],
    data: Buffer,
    arguments: Buffer,
    counts: MultiDrawIndirectCount,
}

impl Things {
    fn of(scene: &Scene) -> Self {
        Self {
            pipelines: scene.pipelines,
            groups: scene.groups.each_ref().map(|group| **group),
            data: *scene.data,
            arguments: *scene.arguments,
            counts: scene.gpu.capability().unwrap(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Command {
    Pipeline(usize),
    Group(u32, usize, u32),
    Vertices(u32, u64),
    Indices(u64, IndexFormat),
    Immediates(u32, u8),
    Draw(u32),
    DrawIndexed(u32),
    Indirect(u64, u32),
    IndexedIndirect(u64, u32),
    IndirectCount(u64),
    IndexedIndirectCount(u64),
    Push,
    Pop,
}

/// Plays commands into a pass or into a batch.
macro_rules! play {
    ($to:expr, $things:expr, $commands:expr) => {{
        let things: Things = $things;
        for command in $commands.iter().copied() {
            match command {
                Command::Pipeline(index) => $to.set_pipeline(things.pipelines[index]),
                Command::Group(index, which, offset) => {
                    $to.set_bind_group(index, things.groups[index as usize * 2 + which], &[offset]);
                }
                Command::Vertices(index, offset) => {
                    $to.set_vertex_buffer(index, slice(things.data, offset, 64));
                }
                Command::Indices(offset, format) => {
                    $to.set_index_buffer(slice(things.data, offset, 64), format)
                }
                Command::Immediates(offset, value) => $to.set_immediates(offset, &[value; 8]),
                Command::Draw(first) => $to.draw(first..first + 3, 0..1),
                Command::DrawIndexed(first) => $to.draw_indexed(first..first + 3, 1, 0..2),
                Command::Indirect(offset, count) => {
                    $to.multi_draw_indirect(things.arguments, offset, count, 16);
                }
                Command::IndexedIndirect(offset, count) => {
                    $to.multi_draw_indexed_indirect(things.arguments, offset, count, 24);
                }
                Command::IndirectCount(offset) => {
                    let from = things.arguments;
                    $to.multi_draw_indirect_count(things.counts, (from, offset), (from, 128), 2, 16);
                }
                Command::IndexedIndirectCount(offset) => {
                    let from = things.arguments;
                    $to.multi_draw_indexed_indirect_count(things.counts, (from, offset), (from, 128), 2, 20);
                }
                Command::Push => $to.push_debug_group("part"),
                Command::Pop => $to.pop_debug_group(),
            }
        }
    }};
}
use play;

struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as u32) % end
    }
}

/// Commands that begin with nothing set, make no mistake, and close their labels. Whatever is set is used before it is set
/// again: a batch keeps only what was used, and direct draws may tell the other again.
fn program(random: &mut Random) -> Vec<Command> {
    let mut all = Vec::new();
    let (mut groups, mut vertices, mut indices, mut immediates) = ([false; 2], false, false, false);
    let mut labels = 0;
    // Groups, vertex buffers and indices that were set and not used.
    let mut unused = [false; 5];
    for _ in 0..random.below(24) + 1 {
        for _ in 0..random.below(4) {
            match random.below(7) {
                0 => {
                    let index = random.below(2);
                    let group = Command::Group(index, random.below(2) as usize, random.below(3) * 256);
                    if !std::mem::replace(&mut unused[index as usize], true) {
                        all.push(group);
                        groups[index as usize] = true;
                    }
                }
                1 => {
                    let index = random.below(2);
                    let buffer = Command::Vertices(index, u64::from(random.below(2) * 64));
                    if !std::mem::replace(&mut unused[2 + index as usize], true) {
                        all.push(buffer);
                        vertices |= index == 0;
                    }
                }
                2 => {
                    let format = [IndexFormat::Uint16, IndexFormat::Uint32][random.below(2) as usize];
                    if !std::mem::replace(&mut unused[4], true) {
                        all.push(Command::Indices(u64::from(random.below(2) * 64), format));
                        indices = true;
                    }
                }
                3 => {
                    all.push(Command::Immediates(random.below(3) * 4, random.below(3) as u8 + 1));
                    immediates = true;
                }
                4 => {
                    all.push(Command::Push);
                    labels += 1;
                }
                5 if labels > 0 => {
                    all.push(Command::Pop);
                    labels -= 1;
                }
                _ => {}
            }
        }
        let pipeline = random.below(5) as usize;
        let bound = match pipeline {
            0 | 1 => groups == [true; 2],
            2 => true,
            3 => vertices,
            _ => groups[0] && immediates,
        };
        if !bound {
            continue;
        }
        all.push(Command::Pipeline(pipeline));
        unused = match pipeline {
            0 | 1 => [false; 5],
            4 => [false, unused[1], false, false, false],
            _ => [unused[0], unused[1], false, false, false],
        };
        let first = random.below(3);
        all.push(match random.below(7) {
            0 | 1 if indices => Command::DrawIndexed(first),
            2 => Command::Indirect(u64::from(first * 4), random.below(2) + 1),
            3 if indices => Command::IndexedIndirect(u64::from(first * 4), random.below(2) + 1),
            4 => Command::IndirectCount(u64::from(first * 4)),
            5 if indices => Command::IndexedIndirectCount(u64::from(first * 4)),
            _ => Command::Draw(first),
        });
    }
    let group = |index: u32| (!groups[index as usize]).then_some(Command::Group(index, 0, 256));
    all.extend([0, 1].into_iter().filter_map(group));
    all.extend([
        Command::Immediates(0, 1),
        Command::Pipeline(4),
        Command::Draw(0),
        Command::Pipeline(0),
        Command::Draw(0),
    ]);
    all.extend(std::iter::repeat_n(Command::Pop, labels));
    all
}

/// Compares logs, and shows where they part.
#[track_caller]
fn same(found: &[NullCommand], expected: &[NullCommand], at: &str) {
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{at}, command {index}");
    }
    assert_eq!(found.len(), expected.len(), "{at}");
}

/// Labels tell parts of a pass from each other, which batches do not need.
fn without_labels(mut log: Vec<NullCommand>) -> Vec<NullCommand> {
    log.retain(|command| !matches!(command, NullCommand::PushLabel(_) | NullCommand::PopLabel));
    log
}

#[test]
fn a_batch_comes_to_the_calls_of_direct_draws() {
    let mut count = 0;
    for seed in 0..200 {
        let mut random = Random(seed * 7919 + 1);
        let mut scene = Scene::new(seed % 3 != 0);
        let things = Things::of(&scene);
        let programs = [(); 3].map(|()| program(&mut random));
        let batches = programs.each_ref().map(|program| scene.batch(&[program]));
        let order = [(); 6].map(|()| random.below(3) as usize);
        // A pass for each, with a direct one before and in between: what the encoder has is not told again.
        let direct = |index: usize| {
            let program = &programs[index];
            move |pass: &mut RenderPass<'_, Null>| play!(pass, things, program)
        };
        let batched = |index: usize| {
            let batch = *batches[index];
            move |pass: &mut RenderPass<'_, Null>| pass.execute_batch(batch)
        };
        let expected = scene.log(&order.map(direct).each_ref().map(|body| body as _));
        let found = scene.log(&order.map(batched).each_ref().map(|body| body as _));
        same(&found, &expected, &format!("seed {seed}"));
        let (even, odd) = (order.map(batched), order.map(direct));
        let mut mixed: Vec<Body<'_>> = Vec::new();
        for index in 0..order.len() {
            mixed.push(if index % 2 == 0 { &even[index] } else { &odd[index] });
        }
        same(&scene.log(&mixed), &expected, &format!("seed {seed}, taking turns"));
        // All of them in one pass: each begins with nothing, as a part does.
        let parts = scene.log(&[&|pass| {
            for index in order {
                pass.next_part("part");
                play!(pass, things, programs[index]);
            }
        }]);
        let found = scene.log(&[&|pass| {
            for index in order {
                pass.execute_batch(*batches[index]);
            }
        }]);
        let (found, parts) = (without_labels(found), without_labels(parts));
        same(&found, &parts, &format!("seed {seed}, in one pass"));
        // One batch of several recordings.
        let joined = scene.batch(&order.map(|index| &programs[index][..]));
        let once = scene.log(&[&|pass| pass.execute_batch(*joined)]);
        let found = scene.log(&[&|pass| {
            for index in order {
                pass.execute_batch(*batches[index]);
            }
        }]);
        same(&once, &found, &format!("seed {seed}, recorded one after the other"));
        count += expected.iter().filter(|command| matches!(command, NullCommand::Draw { .. })).count();
    }
    assert!(count > 2000, "{count} draws");
}

#[test]
fn a_second_execution_tells_only_what_changed_between() {
    let mut scene = Scene::new(true);
    let batch = scene.batch(&[&[
        Command::Pipeline(0),
        Command::Group(0, 0, 0),
        Command::Group(1, 0, 0),
        Command::Draw(0),
        Command::Group(1, 1, 256),
        Command::Draw(1),
        // Of nothing.
        Command::Pipeline(2),
        Command::Indirect(0, 0),
        Command::Push,
    ]]);
    let log = scene.log(&[&|pass| {
        pass.execute_batch(*batch);
        pass.execute_batch(*batch);
    }]);
    let dirty: Vec<Dirty> = log
        .iter()
        .filter_map(|command| match command {
            NullCommand::Draw { dirty, .. } => Some(*dirty),
            _ => None,
        })
        .collect();
    assert_eq!(dirty[0], Dirty::FIXED | Dirty::PIPELINE | Dirty::GROUP0 | Dirty::GROUP1);
    assert_eq!(dirty[1..], [Dirty::GROUP1; 3]);
}

#[test]
fn nothing_goes_into_a_batch() {
    // What the pass has set is not there for the batch: it would be a mistake in its recording.
    let mut scene = Scene::new(true);
    let things = Things::of(&scene);
    let batch = scene.gpu.create_batch(&DESC).unwrap();
    let refused = scene.gpu.record_batch(*batch, |recorder| {
        play!(recorder, things, [Command::Pipeline(0), Command::Group(0, 0, 0), Command::Draw(0)]);
    });
    wrong_state(refused, &["pass \"crowd\", draw", "at group 1", "none"]);
    // Nor do offsets, buffers and immediates that were set and not drawn with change what it draws.
    let program = [
        Command::Pipeline(4),
        Command::Group(0, 0, 256),
        Command::Vertices(0, 64),
        Command::Immediates(0, 3),
        Command::Draw(0),
    ];
    let batch = scene.batch(&[&program]);
    let alone = scene.log(&[&|pass| pass.execute_batch(*batch)]);
    let after = scene.log(&[&|pass| {
        let set = [
            Command::Pipeline(3),
            Command::Group(0, 0, 256),
            Command::Group(1, 1, 512),
            Command::Vertices(0, 64),
            Command::Vertices(1, 0),
            Command::Indices(0, IndexFormat::Uint32),
            Command::Immediates(8, 9),
        ];
        play!(pass, things, set);
        pass.execute_batch(*batch);
    }]);
    same(&after, &alone, "after what the pass had set");
}

#[test]
fn nothing_comes_out_of_a_batch() {
    let mut scene = Scene::new(true);
    let things = Things::of(&scene);
    let all = [
        Command::Pipeline(4),
        Command::Group(0, 0, 0),
        Command::Group(1, 0, 0),
        Command::Vertices(0, 0),
        Command::Indices(0, IndexFormat::Uint16),
        Command::Immediates(0, 3),
        Command::DrawIndexed(0),
    ];
    let batch = scene.batch(&[&all]);
    let leftovers: [(&[Command], &str); 5] = [
        (&[Command::Draw(0)], "a pipeline"),
        (&[Command::Pipeline(0), Command::Draw(0)], "a bind group of layout \"shape\" at group 0"),
        (&[Command::Pipeline(3), Command::Draw(0)], "a vertex buffer at slot 0"),
        (&[Command::Pipeline(2), Command::DrawIndexed(0)], "an index buffer"),
        (&[Command::Pipeline(4), Command::Group(0, 0, 0), Command::Draw(0)], "8 bytes of immediates"),
    ];
    let colors = [cleared(*scene.target)];
    for (after, missing) in leftovers {
        let refused = scene.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass(&pass(&colors, &[]), |pass| {
                play!(pass, things, all);
                pass.execute_batch(*batch);
                play!(pass, things, after);
            })
        });
        wrong_state(refused, &["(after 2 draws", missing]);
    }
    // What is set again is told only if the batch had other: the encoder has the batch's.
    let log = scene.log(&[&|pass| {
        pass.execute_batch(*batch);
        play!(pass, things, all);
    }]);
    let last = log.iter().rev().find_map(|command| match command {
        NullCommand::Draw { dirty, changed, .. } => Some((*dirty, changed.immediates.clone())),
        _ => None,
    });
    assert_eq!(last, Some((Dirty::IMMEDIATES, Some((0, vec![3; 8])))), "immediates always come again");
}

#[test]
fn the_passs_viewport_and_the_like_are_the_batchs_too() {
    let mut scene = Scene::new(true);
    let things = Things::of(&scene);
    let program = [Command::Pipeline(2), Command::Draw(0), Command::Draw(1)];
    let batch = scene.batch(&[&program]);
    let set = |pass: &mut RenderPass<'_, Null>| {
        pass.set_viewport(4.0, 0.0, 8.0, 8.0, (0.0, 0.5));
        pass.set_scissor(1, 2, 3, 4);
        pass.set_blend_constant([0.5; 4]);
        pass.set_stencil_reference(7);
    };
    let expected = scene.log(&[&|pass| {
        set(pass);
        play!(pass, things, program);
        pass.set_scissor(0, 0, 8, 8);
        play!(pass, things, program);
    }]);
    let found = scene.log(&[&|pass| {
        set(pass);
        pass.execute_batch(*batch);
        pass.set_scissor(0, 0, 8, 8);
        play!(pass, things, program);
    }]);
    same(&found, &expected, "with the pass's viewport");
    // An empty one draws nothing, as with direct draws.
    let none = scene.log(&[&|pass| {
        pass.set_scissor(1, 1, 0, 5);
        pass.execute_batch(*batch);
        pass.set_scissor(0, 0, 64, 64);
        pass.set_viewport(0.0, 0.0, 0.0, 4.0, (0.0, 1.0));
        pass.execute_batch(*batch);
    }]);
    assert!(!none.iter().any(|command| matches!(command, NullCommand::Draw { .. })));
}

#[test]
fn a_batch_is_planned_like_direct_draws() {
    let mut scene = Scene::new(true);
    let gpu = &mut scene.gpu;
    let shape = group_layout(gpu, &[entry(0, VS, uniform(16))]);
    let pipeline = pipeline_of(gpu, &BOUND, &[*shape, *shape], &[]);
    let data = buffer(gpu, "data", 256, BufferUsages::UNIFORM);
    let mesh = buffer(gpu, "mesh", 256, BufferUsages::VERTEX | BufferUsages::INDEX);
    let bound = group(gpu, *shape, &[BindGroupEntry::buffer(0, *data)]);
    let batch = gpu.create_batch(&DESC).unwrap();
    macro_rules! draw {
        ($to:expr) => {
            $to.set_pipeline(*pipeline.pipeline);
            $to.set_bind_group(0, *bound, &[]);
            $to.set_bind_group(1, *bound, &[]);
            $to.set_vertex_buffer(0, slice(*mesh, 0, 128));
            $to.set_index_buffer(slice(*mesh, 128, 128), IndexFormat::Uint16);
            $to.draw_indexed(0..3, 0, 0..1);
        };
    }
    gpu.record_batch(*batch, |recorder| {
        draw!(recorder);
    })
    .unwrap();
    gpu.finish_batch(*batch).unwrap();
    let colors = [cleared(*scene.target)];
    let uses = [
        plan::ResourceUse::Buffer { buffer: *mesh, offset: 0, size: 128, usage: BufferUse::Vertex },
        plan::ResourceUse::Buffer { buffer: *mesh, offset: 128, size: 128, usage: BufferUse::Index },
    ];
    let groups = [*bound];
    let mut frame = |desc: &RenderPassDesc<'_>, batched: bool| {
        let mut recorder = scene.gpu.record("frame").unwrap();
        for buffer in [*data, *mesh] {
            recorder.clear_buffer(slice(buffer, 0, 256)).unwrap();
        }
        for _ in 0..2 {
            recorder
                .render_pass(desc, |pass| {
                    if batched {
                        pass.execute_batch(*batch);
                    } else {
                        draw!(pass);
                    }
                })
                .unwrap();
        }
        recorder.copy_buffer(slice(*data, 0, 64), *mesh, 64).unwrap();
        recorder.submit().unwrap();
        (commands(&scene.control), scene.gpu.ledger().buffer_revision(mesh.slot()))
    };
    let declared = RenderPassDesc { groups: &groups, ..pass(&colors, &uses) };
    // The first frame finds another state than the second, and from then on they are alike.
    frame(&declared, false);
    let (expected, before) = frame(&declared, false);
    let barriers = |log: &[NullCommand]| {
        log.iter().filter(|command| matches!(command, NullCommand::Barriers { .. })).count()
    };
    assert!(barriers(&expected) >= 2, "{expected:?}");
    let batches = [*batch];
    let desc = RenderPassDesc { batches: &batches, ..pass(&colors, &[]) };
    for (desc, what) in [(desc, "declared by the batch"), (declared, "declared by the pass")] {
        let (found, after) = frame(&desc, true);
        same(&found, &expected, what);
        assert!(after > before);
    }
    // Parallel passes declare in the same way.
    let mut recorder = scene.gpu.record("frame").unwrap();
    recorder.render_pass_parallel(&desc, 2, |_, pass| pass.execute_batch(*batch)).unwrap();
    recorder.submit().unwrap();
}
