//! State across the passes of one recording: a pass starts with nothing set, and what the backend has is not told again.

use purlin_rhi::backend::{Dirty, Draw};
use purlin_rhi::null::{Null, NullCommand, NullConfig, NullState, Submission};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const VS: ShaderStages = ShaderStages::VERTEX;
const FLOAT: VertexAttribute =
    VertexAttribute { format: VertexFormat::Float32, offset: 0, shader_location: 0 };

type Body<'a> = &'a dyn Fn(&mut RenderPass<'_, Null>);

/// Two targets of different sizes, pipelines of four layouts, and what they bind.
struct Scene {
    gpu: Gpu,
    control: null::NullControl,
    targets: [Owned<kind::TextureView>; 2],
    /// Two that use both groups, one that uses nothing, one that reads vertex buffer 0.
    pipelines: [Pipeline; 4],
    kernel: Owned<kind::ComputePipeline>,
    /// Two for group 0, then two for group 1.
    groups: [Owned<kind::BindGroup>; 4],
    data: Owned<kind::Buffer>,
    _kept: (Vec<Owned<kind::Texture>>, Owned<kind::Buffer>, [Owned<kind::BindGroupLayout>; 2]),
}

const SIZES: [u32; 2] = [64, 32];

impl Scene {
    fn new(keeps_state: bool) -> Self {
        Self::with(NullConfig { keeps_state, ..NullConfig::executing() })
    }

    fn with(config: NullConfig) -> Self {
        let (mut gpu, control) = device(config);
        let textures: Vec<_> = SIZES
            .map(|size| texture(&mut gpu, "target", size, size, TextureUsages::RENDER_ATTACHMENT))
            .into_iter()
            .collect();
        let targets = [0, 1].map(|index| view(&mut gpu, *textures[index]));
        let shapes = [(); 2].map(|()| group_layout(&mut gpu, &[entry(0, VS, dynamic_uniform(16))]));
        let both = [*shapes[0], *shapes[1]];
        let fed = VertexBufferLayout { stride: 4, step: VertexStepMode::Vertex, attributes: &[FLOAT] };
        let pipelines = [
            pipeline_of(&mut gpu, &BOUND, &both, &[]),
            pipeline_of(&mut gpu, &BOUND, &both, &[]),
            simple_pipeline(&mut gpu),
            pipeline_of(&mut gpu, &SIMPLE, &[], &[fed]),
        ];
        let kernel = kernel(&mut gpu, &PUSHES, &[]);
        let uniforms = uploaded(&mut gpu, "uniforms", 1024, BufferUsages::UNIFORM);
        let entries = [BindGroupEntry::buffer_range(0, *uniforms, 0, 256)];
        let groups = [0, 0, 1, 1].map(|shape: usize| group(&mut gpu, *shapes[shape], &entries));
        let data = uploaded(&mut gpu, "data", 256, BufferUsages::VERTEX | BufferUsages::INDEX);
        control.take_log();
        Self { gpu, control, targets, pipelines, kernel, groups, data, _kept: (textures, uniforms, shapes) }
    }

    fn pipeline(&self, index: usize) -> RenderPipeline {
        *self.pipelines[index].pipeline
    }

    /// One recording with a pass for each body, all into the first target.
    fn passes(&mut self, bodies: &[Body<'_>]) -> Result<()> {
        let colors = [cleared(*self.targets[0])];
        self.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            for body in bodies {
                recorder.render_pass(&pass(&colors, &[]), |pass| body(pass))?;
            }
            recorder.submit().map(|_| ())
        })
    }

    /// What the logged draws were told.
    fn told(&self) -> Vec<(Dirty, NullState)> {
        let told = |command| match command {
            NullCommand::Draw { dirty, changed, .. } | NullCommand::Dispatch { dirty, changed, .. } => {
                (dirty, *changed)
            }
            other => panic!("{other:?}"),
        };
        draws(&self.control).into_iter().map(told).collect()
    }
}

/// Sets everything that a pass can have, and draws.
fn full(scene: &Scene) -> impl Fn(&mut RenderPass<'_, Null>) + Sync + use<> {
    let (pipeline, groups, data) = (scene.pipeline(0), [*scene.groups[0], *scene.groups[2]], *scene.data);
    move |pass| {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, groups[0], &[256]);
        pass.set_bind_group(1, groups[1], &[0]);
        pass.set_vertex_buffer(0, slice(data, 0, 64));
        pass.set_index_buffer(slice(data, 0, 64), IndexFormat::Uint16);
        pass.draw_indexed(0..3, 0, 0..1);
    }
}

#[test]
fn what_the_next_pass_sets_again_is_not_told_again() {
    let mut scene = Scene::new(true);
    let body = full(&scene);
    scene.passes(&[&body, &body]).unwrap();
    scene.passes(&[&body]).unwrap();
    let told = scene.told();
    assert_eq!(told[1], (Dirty::empty(), NullState::default()));
    assert!(told[0].0.contains(Dirty::PIPELINE | Dirty::GROUPS.difference(Dirty::GROUP2 | Dirty::GROUP3)));
    assert_eq!(told[2], told[0], "another recording starts with nothing");
}

#[test]
fn a_backend_that_keeps_nothing_is_told_everything() {
    let mut scene = Scene::new(false);
    let body = full(&scene);
    scene.passes(&[&body, &body]).unwrap();
    let told = scene.told();
    assert_eq!(told[1], told[0]);
}

/// Sections with encoders of their own begin with nothing, and leave nothing; others are told only what differs.
#[test]
fn sections_are_told_what_their_encoder_has_not() {
    for sections in [true, false] {
        let mut scene = Scene::with(NullConfig { sections, ..NullConfig::executing() });
        let body = full(&scene);
        let colors = [cleared(*scene.targets[0])];
        let desc = pass(&colors, &[]);
        let mut recorder = scene.gpu.record("frame").unwrap();
        recorder.render_pass(&desc, |pass| body(pass)).unwrap();
        recorder.render_pass_parallel(&desc, 2, |_, pass| body(pass)).unwrap();
        recorder.render_pass(&desc, |pass| body(pass)).unwrap();
        recorder.submit().unwrap();
        let told = scene.told();
        let again = if sections { told[0].clone() } else { Default::default() };
        assert_eq!(told[1..], [again.clone(), again.clone(), again], "sections: {sections}");
    }
}

#[test]
fn a_pass_starts_with_nothing_set() {
    let mut scene = Scene::new(true);
    let body = full(&scene);
    let (bound, fed) = (scene.pipeline(0), scene.pipeline(3));
    let (group, other) = (*scene.groups[0], *scene.groups[2]);
    wrong_state(scene.passes(&[&body, &|pass| pass.draw(0..3, 0..1)]), &["a pipeline", "none"]);
    let no_groups = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(bound);
        pass.draw(0..3, 0..1);
    };
    wrong_state(scene.passes(&[&body, &no_groups]), &["at group 0", "none"]);
    let one_group = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(bound);
        pass.set_bind_group(0, group, &[256]);
        pass.draw(0..3, 0..1);
    };
    wrong_state(scene.passes(&[&body, &one_group]), &["at group 1", "none"]);
    let no_vertices = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(fed);
        pass.draw(0..3, 0..1);
    };
    wrong_state(scene.passes(&[&body, &no_vertices]), &["a vertex buffer at slot 0"]);
    let no_indices = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(bound);
        pass.set_bind_group(0, group, &[256]);
        pass.set_bind_group(1, other, &[0]);
        pass.draw_indexed(0..3, 0, 0..1);
    };
    wrong_state(scene.passes(&[&body, &no_indices]), &["an index buffer", "none"]);
}

#[test]
fn what_a_pass_starts_with_is_told_where_the_one_before_left_something_else() {
    let mut scene = Scene::new(true);
    let simple = scene.pipeline(2);
    let plain = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(simple);
        pass.draw(0..3, 0..1);
    };
    let changed = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(simple);
        pass.set_viewport(1.0, 2.0, 3.0, 4.0, (0.0, 1.0));
        pass.set_scissor(1, 2, 3, 4);
        pass.set_blend_constant([1.0; 4]);
        pass.set_stencil_reference(7);
        pass.draw(0..3, 0..1);
    };
    scene.passes(&[&plain, &changed, &plain, &plain]).unwrap();
    let told = scene.told();
    let all = Dirty::VIEWPORT | Dirty::SCISSOR | Dirty::BLEND_CONSTANT | Dirty::STENCIL_REFERENCE;
    assert_eq!(told[1].0, all);
    assert_eq!(told[2].0, all);
    let NullState { viewport, scissor, blend_constant, stencil_reference, .. } = told[2].1;
    assert_eq!(viewport, Some([0.0, 0.0, 64.0, 64.0, 0.0, 1.0]));
    assert_eq!(scissor, Some([0, 0, 64, 64]));
    assert_eq!((blend_constant, stencil_reference), (Some([0.0; 4]), Some(0)));
    assert_eq!(told[3].0, Dirty::empty());
}

#[test]
fn another_layout_lets_groups_be_told_again() {
    let mut scene = Scene::new(true);
    let body = full(&scene);
    let simple = scene.pipeline(2);
    let between = |pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(simple);
        pass.draw(0..3, 0..1);
    };
    scene.passes(&[&body, &between, &body]).unwrap();
    let told = scene.told();
    assert_eq!(told[1].0, Dirty::PIPELINE);
    assert_eq!(told[2].0, Dirty::PIPELINE | Dirty::GROUP0 | Dirty::GROUP1);
    assert_eq!(told[2].1.groups, told[0].1.groups);
}

#[test]
fn immediates_are_told_in_each_pass() {
    let mut scene = Scene::new(true);
    let kernel = *scene.kernel;
    let mut recorder = scene.gpu.record("frame").unwrap();
    for value in [1u8, 1, 2] {
        let desc = ComputePassDesc { label: "push", uses: &[], groups: &[], ..Default::default() };
        let body = |pass: &mut ComputePass<'_, Null>| {
            pass.set_pipeline(kernel);
            pass.set_immediates(8, &[value; 8]);
            pass.dispatch([1, 1, 1]);
        };
        recorder.compute_pass(&desc, body).unwrap();
    }
    recorder.submit().unwrap();
    let told = scene.told();
    let bytes = |value: u8| Some((0, [[0; 8], [value; 8]].concat()));
    assert_eq!(told[0].1.immediates, bytes(1));
    assert_eq!((told[1].0, &told[1].1.immediates), (Dirty::IMMEDIATES, &bytes(1)));
    assert_eq!((told[2].0, &told[2].1.immediates), (Dirty::IMMEDIATES, &bytes(2)));
}

/// What a draw must find bound; `None` where its pipeline does not look.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    pipeline: u32,
    groups: [Option<(u32, u32)>; 2],
    vertices: Option<(u32, u64)>,
    indices: Option<(u64, IndexFormat)>,
    viewport: [f32; 6],
    scissor: [u32; 4],
    blend_constant: [f32; 4],
    stencil_reference: u32,
}

/// Follows a log as a driver would: what was bound with another layout is gone.
fn followed(log: &[Submission], keeps_state: bool, wanted: &[Wanted]) {
    let mut wanted = wanted.iter();
    for submission in log {
        let mut bound = NullState::default();
        let mut groups = [None; 2];
        let mut vertices = None;
        for command in submission.commands() {
            let NullCommand::Draw { dirty, pipeline, changed, draw } = command else {
                if matches!(command, NullCommand::BeginRenderPass(_)) && !keeps_state {
                    (bound, groups, vertices) = (NullState::default(), [None; 2], None);
                }
                continue;
            };
            let told = (**changed).clone();
            if told.layout.is_some() && told.layout != bound.layout {
                groups = [None; 2];
            }
            assert!(bound.layout.is_some() || dirty.contains(Dirty::PIPELINE));
            bound.layout = told.layout.or(bound.layout);
            for group in told.groups {
                groups[group.index as usize] = Some((group.slot, group.offsets[0]));
            }
            for buffer in told.vertex_buffers {
                assert_eq!(buffer.index, 0);
                vertices = Some((buffer.slot, buffer.offset));
            }
            bound.index_buffer = told.index_buffer.or(bound.index_buffer);
            bound.viewport = told.viewport.or(bound.viewport);
            bound.scissor = told.scissor.or(bound.scissor);
            bound.blend_constant = told.blend_constant.or(bound.blend_constant);
            bound.stencil_reference = told.stencil_reference.or(bound.stencil_reference);
            let want = wanted.next().expect("a draw that was not asked for");
            let look = |wanted: bool| move |value: &_| wanted.then_some(*value);
            let indexed = matches!(draw, Draw::Indexed { .. });
            let found = Wanted {
                pipeline: *pipeline,
                groups: [0, 1].map(|index| groups[index].filter(|_| want.groups[index].is_some())),
                vertices: vertices.filter(|_| want.vertices.is_some()),
                indices: bound
                    .index_buffer
                    .as_ref()
                    .and_then(look(indexed))
                    .map(|(buffer, format)| (buffer.offset, format)),
                viewport: bound.viewport.expect("a viewport"),
                scissor: bound.scissor.expect("a scissor"),
                blend_constant: bound.blend_constant.expect("a blend constant"),
                stencil_reference: bound.stencil_reference.expect("a stencil reference"),
            };
            assert_eq!(&found, want);
        }
    }
    assert_eq!(wanted.count(), 0, "draws that were asked for are missing");
}

/// Random passes, checked against what each draw was given by hand.
#[test]
fn every_draw_finds_what_its_pass_set() {
    for seed in 0..60 {
        let keeps_state = seed % 3 != 0;
        let mut random = Random(seed * 7919 + 1);
        let mut scene = Scene::new(keeps_state);
        let mut wanted = Vec::new();
        for _ in 0..3 {
            random_recording(&mut scene, &mut random, &mut wanted);
        }
        followed(&scene.control.take_log(), keeps_state, &wanted);
        assert!(wanted.len() > 10);
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as u32) % end
    }

    fn often(&mut self) -> bool {
        self.below(4) != 0
    }
}

fn random_recording(scene: &mut Scene, random: &mut Random, wanted: &mut Vec<Wanted>) {
    let pipelines = [0, 1, 2, 3].map(|index| scene.pipeline(index));
    let groups = [0, 1, 2, 3].map(|index| *scene.groups[index]);
    let (data, kernel) = (*scene.data, *scene.kernel);
    let targets = [0, 1].map(|index| [cleared(*scene.targets[index])]);
    let mut recorder = scene.gpu.record("frame").unwrap();
    for _ in 0..8 {
        if random.below(5) == 0 {
            let desc = ComputePassDesc { label: "between", uses: &[], groups: &[], ..Default::default() };
            let body = |pass: &mut ComputePass<'_, Null>| {
                pass.set_pipeline(kernel);
                pass.set_immediates(0, &[0; 16]);
                pass.dispatch([1, 1, 1]);
            };
            recorder.compute_pass(&desc, body).unwrap();
            continue;
        }
        let target = random.below(2) as usize;
        let body = |pass: &mut RenderPass<'_, Null>| {
            let size = SIZES[target];
            let (mut set, mut vertices, mut indices) = ([None; 2], None, None);
            let mut want = Wanted {
                pipeline: 0,
                groups: [None; 2],
                vertices: None,
                indices: None,
                viewport: [0.0, 0.0, size as f32, size as f32, 0.0, 1.0],
                scissor: [0, 0, size, size],
                blend_constant: [0.0; 4],
                stencil_reference: 0,
            };
            for _ in 0..6 {
                if random.often() {
                    let (index, which) = (random.below(2), random.below(2));
                    let (group, offset) = (groups[(index * 2 + which) as usize], random.below(3) * 256);
                    pass.set_bind_group(index, group, &[offset]);
                    set[index as usize] = Some((group.slot(), offset));
                }
                if random.often() {
                    let offset = u64::from(random.below(2) * 64);
                    pass.set_vertex_buffer(0, slice(data, offset, 64));
                    vertices = Some((data.slot(), offset));
                }
                if random.often() {
                    let offset = u64::from(random.below(2) * 64);
                    let format = [IndexFormat::Uint16, IndexFormat::Uint32][random.below(2) as usize];
                    pass.set_index_buffer(slice(data, offset, 64), format);
                    indices = Some((offset, format));
                }
                match random.below(8) {
                    0 => {
                        let x = random.below(2);
                        pass.set_viewport(x as f32, 0.0, 8.0, 8.0, (0.0, 1.0));
                        want.viewport = [x as f32, 0.0, 8.0, 8.0, 0.0, 1.0];
                    }
                    1 => {
                        let x = random.below(2);
                        pass.set_scissor(x, 0, 8, 8);
                        want.scissor = [x, 0, 8, 8];
                    }
                    2 => {
                        want.blend_constant = [random.below(2) as f32; 4];
                        pass.set_blend_constant(want.blend_constant);
                    }
                    3 => {
                        want.stencil_reference = random.below(2);
                        pass.set_stencil_reference(want.stencil_reference);
                    }
                    _ => {}
                }
                let pipeline = random.below(4) as usize;
                pass.set_pipeline(pipelines[pipeline]);
                let bound = pipeline > 1 || set.iter().all(Option::is_some);
                if !bound || (pipeline == 3 && vertices.is_none()) {
                    continue;
                }
                want.pipeline = pipelines[pipeline].slot();
                want.groups = if pipeline > 1 { [None; 2] } else { set };
                want.vertices = vertices.filter(|_| pipeline == 3);
                want.indices = indices.filter(|_| random.below(2) == 0);
                match want.indices {
                    Some(_) => pass.draw_indexed(0..3, 0, 0..1),
                    None => pass.draw(0..3, 0..1),
                }
                wanted.push(want.clone());
            }
        };
        recorder.render_pass(&pass(&targets[target], &[]), body).unwrap();
    }
    recorder.submit().unwrap();
}
