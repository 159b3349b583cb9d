//! Frames of one structure take over the last one's answers, and those are what compiling again would find.

use proptest::prelude::*;
use purlin_rhi::handle::ResourceKind;
use purlin_rhi::{Buffer, BufferDesc, Owned, Texture, kind};

use super::*;
use crate::GraphOptions;
use crate::context::Context;

/// Everything that the phases have found out, in words.
fn answers(context: &Context) -> String {
    let list: Vec<_> = context.list.iter().collect();
    let stats = crate::FrameStats {
        created: 0,
        reused: false,
        declare_ns: 0,
        compile_ns: 0,
        ..context.structure_stats
    };
    format!(
        "{:#?}",
        (
            (&context.resources, &context.uses, &context.pass_ends, &context.attachments, &context.bindings),
            (&context.layouts, &context.edges, &context.feeds, &context.exported, &context.liveness),
            (&context.order, &context.physical, &context.placed, &context.byte_changes, &context.views),
            (&context.groups, &context.scopes, &context.handovers, list, stats),
        )
    )
}

/// Compiles the frame that was just submitted once more, from nothing.
fn compile_again(fixture: &mut Fixture, context: &mut Context) -> Result<(), GraphError> {
    // Not in a frame that gives things up, after which places in the pool are others.
    context.frame += if context.frame % 4 == 3 { 2 } else { 1 };
    context.pool.take_back_exports();
    context.stats = crate::FrameStats::default();
    context.declared.same = false;
    crate::record::compile(context, &mut fixture.device)
}

const WORDS: u64 = 8;

/// A frame, as far as it is structure.
#[derive(Debug, Clone, PartialEq)]
struct Frame {
    /// The sides of textures 0 to 2; texture 3 is an import.
    sides: [u32; 3],
    mips: u32,
    /// Words of buffers 0 to 2; buffer 3 is an import.
    words: [u64; 3],
    steps: Vec<Step>,
    exported: Option<usize>,
    options: GraphOptions,
    /// Whether the imports are the larger ones.
    large: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    /// Clears a texture, loads it or leaves it open.
    Target {
        texture: usize,
        load: u8,
        effect: bool,
    },
    Sample {
        from: usize,
        to: usize,
    },
    /// Tests against a depth texture that the step before it clears.
    Depth {
        stencil: bool,
        write: bool,
    },
    /// Reads words of one buffer and writes another.
    Compute {
        from: usize,
        to: usize,
        start: u64,
    },
    /// Binds uploaded data at an offset of the frame, and writes a buffer.
    Uniform {
        to: usize,
    },
    Declared {
        buffer: usize,
        write: bool,
    },
    Copy {
        from: usize,
        to: usize,
        start: u64,
    },
    Read {
        buffer: usize,
    },
    ReadTexture {
        texture: usize,
    },
    /// Begins a pass and gives it up.
    Abandoned {
        buffer: usize,
    },
}

/// What a frame binds and draws without being another structure.
#[derive(Debug, Clone, Copy, Default)]
struct Outside {
    import: usize,
    slice: usize,
    shade: u8,
    label: usize,
    groups: u32,
}

/// A change of one thing.
#[derive(Debug, Clone, Copy)]
struct Mutation {
    what: u8,
    a: usize,
    b: usize,
    step: Step,
}

fn step() -> impl Strategy<Value = Step> {
    let (texture, buffer) = (0..4usize, 0..4usize);
    prop_oneof![
        (texture.clone(), 0..3u8, any::<bool>()).prop_map(|(texture, load, effect)| Step::Target {
            texture,
            load,
            effect
        }),
        (texture.clone(), texture.clone()).prop_map(|(from, to)| Step::Sample { from, to }),
        (any::<bool>(), any::<bool>()).prop_map(|(stencil, write)| Step::Depth { stencil, write }),
        (buffer.clone(), buffer.clone(), 0..4u64).prop_map(|(from, to, start)| Step::Compute {
            from,
            to,
            start
        }),
        buffer.clone().prop_map(|to| Step::Uniform { to }),
        (buffer.clone(), any::<bool>()).prop_map(|(buffer, write)| Step::Declared { buffer, write }),
        (buffer.clone(), buffer.clone(), 0..4u64).prop_map(|(from, to, start)| Step::Copy {
            from,
            to,
            start
        }),
        buffer.clone().prop_map(|buffer| Step::Read { buffer }),
        texture.prop_map(|texture| Step::ReadTexture { texture }),
        buffer.prop_map(|buffer| Step::Abandoned { buffer }),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    (0..24u8, any::<usize>(), any::<usize>(), step()).prop_map(|(what, a, b, step)| Mutation {
        what,
        a,
        b,
        step,
    })
}

fn mutate(frame: &mut Frame, outside: &mut Outside, Mutation { what, a, b, step }: Mutation) {
    let steps = frame.steps.len();
    match what {
        0 => frame.sides[a % 3] = [8, 16][b % 2],
        1 => frame.mips = 1 + b as u32 % 2,
        2 => frame.words[a % 3] = [WORDS, WORDS + 4][b % 2],
        3 => frame.steps.insert(a % (steps + 1), step),
        4 if steps > 0 => drop(frame.steps.remove(a % steps)),
        5 if steps > 0 => frame.steps[a % steps] = step,
        6 if steps > 1 => frame.steps.swap(a % steps, b % steps),
        7 => frame.exported = [None, Some(0), Some(1)][a % 3],
        8 => frame.options.cull ^= true,
        9 => frame.options.transient_reuse ^= true,
        10 => frame.large ^= true,
        18 => frame.options.merge ^= true,
        19 => frame.options.alias ^= true,
        // The rest is not structure.
        11 | 12 => outside.import = a % 2,
        13 | 14 => outside.slice = a % 3,
        15 => outside.shade = a as u8,
        16 => outside.label = a % 3,
        17 => outside.groups = a as u32 % 3,
        _ => {}
    }
}

/// A device and what frames import.
struct World {
    fixture: Fixture,
    arena: GraphArena<Null>,
    buffers: Vec<Owned<kind::Buffer>>,
    textures: Vec<Owned<kind::Texture>>,
    slices: [purlin_rhi::BufferSlice; 3],
}

impl World {
    fn new() -> Self {
        let mut fixture = Fixture::new(NullConfig::default());
        let arena = GraphArena::new();
        let buffers = [WORDS, WORDS, WORDS + 4, WORDS + 4].map(|words| fixture.buffer("import", words * 4));
        for buffer in &buffers {
            fixture.device.write_buffer(**buffer, 0, &[0; WORDS as usize * 4]).unwrap();
        }
        let textures = [8, 8, 16, 16].map(|side| fixture.texture("import", side, side));
        let usage = purlin_rhi::types::BufferUsages::UNIFORM | purlin_rhi::types::BufferUsages::COPY_DST;
        let mut uploaded = || {
            let desc = BufferDesc {
                contents: purlin_rhi::Contents::Uploaded,
                ..BufferDesc::new("data", 1024, usage)
            };
            let buffer = fixture.device.create_buffer(&desc).unwrap();
            fixture.device.write_buffer(*buffer, 0, &[0; 1024]).unwrap();
            buffer.leak()
        };
        let (one, other) = (uploaded(), uploaded());
        let slice = |buffer, offset| purlin_rhi::BufferSlice { buffer, offset, size: 16 };
        let slices = [slice(one, 0), slice(one, 256), slice(other, 256)];
        Self { fixture, arena, buffers: buffers.into(), textures: textures.into(), slices }
    }

    fn imports(&self, frame: &Frame, outside: &Outside) -> (Buffer, Texture) {
        let index = outside.import + if frame.large { 2 } else { 0 };
        (*self.buffers[index], *self.textures[index])
    }

    fn run(&mut self, frame: &Frame, outside: &Outside) -> Result<crate::FrameStats, GraphError> {
        let handles = self.fixture.handles();
        let (buffer, texture) = self.imports(frame, outside);
        let slice = self.slices[outside.slice];
        let groups = [outside.groups, 1, 1];
        *self.arena.options() = frame.options;
        let mut graph = Graph::new("frame", &mut self.arena);
        let shade = ClearValue::Float([f32::from(outside.shade) / 255.0; 4]);
        let label = ["a", "bb", "ccc"][outside.label];
        let mut transient = |index: usize| {
            let side = frame.sides[index];
            graph.texture(label, TransientTexture::d2(COLOR, side, side).mips(frame.mips))
        };
        let [t0, t1, t2] = [0, 1, 2].map(&mut transient);
        let mut textures = [t0, t1, t2, graph.import_texture(label, texture)];
        let [b0, b1, b2] = frame.words.map(|words| graph.buffer(label, TransientBuffer::new(words * 4)));
        let mut buffers = [b0, b1, b2, graph.import_buffer(label, buffer)];
        let depth = TransientTexture::d2(common::BOTH, 8, 8);
        let mut depth = graph.texture("depth", depth);
        for texture in &mut textures {
            let mut first = texture.mip_mut(0);
            graph.render(label).color(0, &mut first, LoadOp::Clear(shade)).clear();
        }
        if frame.mips > 1 {
            for texture in &mut textures[..3] {
                graph.render(label).color(0, &mut texture.mip_mut(1), LoadOp::Clear(shade)).clear();
            }
        }
        buffers.iter_mut().for_each(|buffer| graph.clear_buffer(label, buffer));
        let store =
            |load| purlin_rhi::AspectOps { load, store: purlin_rhi::StoreOp::Store, read_only: false };
        let stencil = purlin_rhi::AspectOps {
            load: LoadOp::Clear(u32::from(outside.shade)),
            store: purlin_rhi::StoreOp::Store,
            read_only: false,
        };
        graph.render(label).depth_stencil(&mut depth, store(LoadOp::Clear(1.0)), stencil).clear();
        for &step in &frame.steps {
            match step {
                Step::Target { texture, load, effect } => {
                    let load = [LoadOp::Clear(shade), LoadOp::Load, LoadOp::DontCare][usize::from(load)];
                    let mut part = textures[texture].mip_mut(0);
                    let pass = graph.render(label).color(0, &mut part, load);
                    if effect { pass.side_effect().clear() } else { pass.clear() }
                }
                Step::Sample { from, to } => {
                    let Ok([from, to]) = textures.get_disjoint_mut([from, to]) else { continue };
                    graph
                        .render(label)
                        .color(0, &mut to.mip_mut(0), LoadOp::Load)
                        .bind(0, handles.sample, [bind::texture(from), bind::sampler(handles.linear)])
                        .fullscreen(handles.color);
                }
                Step::Depth { stencil, write } => {
                    let ops = |write: bool| purlin_rhi::AspectOps {
                        load: LoadOp::Load,
                        store: if stencil {
                            purlin_rhi::StoreOp::Store
                        } else {
                            purlin_rhi::StoreOp::Discard
                        },
                        read_only: !write,
                    };
                    let stencil = purlin_rhi::AspectOps {
                        load: LoadOp::Clear(0),
                        store: purlin_rhi::StoreOp::Store,
                        read_only: false,
                    };
                    graph.render(label).depth_stencil(&mut depth, ops(write), stencil).side_effect().clear();
                }
                Step::Compute { from, to, start } => {
                    let Ok([from, to]) = buffers.get_disjoint_mut([from, to]) else { continue };
                    let bindings = [bind::buffer_range(from, start * 4, 16), bind::storage(to)];
                    graph
                        .compute(label)
                        .bind(0, handles.read_write, bindings)
                        .dispatch(handles.compute, groups);
                }
                Step::Uniform { to } => graph
                    .compute(label)
                    .bind(0, handles.frame, [bind::uploaded(slice)])
                    .bind(1, handles.write, [bind::storage(&mut buffers[to])])
                    .dispatch(handles.compute, groups),
                Step::Declared { buffer, write } => {
                    let pass = graph.compute(label);
                    if write {
                        pass.storage(&mut buffers[buffer], ShaderStages::COMPUTE).record(|_| ());
                    } else {
                        pass.storage_read(&buffers[buffer], ShaderStages::COMPUTE).record(|_| ());
                    }
                }
                Step::Copy { from, to, start } => {
                    let Ok([from, to]) = buffers.get_disjoint_mut([from, to]) else { continue };
                    let range = start * 4..start * 4 + 16;
                    graph.copy_buffer(label, &from.range(range.clone()), &mut to.range_mut(range));
                }
                Step::Read { buffer } => drop(graph.read_buffer(&buffers[buffer])),
                Step::ReadTexture { texture } => drop(graph.read_texture(&textures[texture].mip(0))),
                Step::Abandoned { buffer } => {
                    drop(graph.compute(label).bind(0, handles.frame, [bind::uploaded(slice)]).bind(
                        1,
                        handles.write,
                        [bind::storage(&mut buffers[buffer])],
                    ))
                }
            }
        }
        if let Some(buffer) = frame.exported {
            graph.export_buffer(&buffers[buffer]);
        }
        let submitted = graph.submit(&mut self.fixture.device)?;
        Ok(submitted.stats)
    }
}

fn first() -> Frame {
    Frame {
        sides: [8; 3],
        mips: 1,
        words: [WORDS; 3],
        steps: Vec::new(),
        exported: None,
        options: GraphOptions::default(),
        large: false,
    }
}

/// Steps as far as they come to something.
fn structure(frame: &Frame) -> Frame {
    let same = |step: &Step| match *step {
        Step::Sample { from, to } | Step::Compute { from, to, .. } | Step::Copy { from, to, .. } => {
            from == to
        }
        Step::Abandoned { .. } => true,
        _ => false,
    };
    let steps = frame.steps.iter().filter(|step| !same(step)).copied().collect();
    Frame { steps, ..frame.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 192 }))]

    /// A frame is taken over exactly if its structure is that of the last one that succeeded, and then nothing differs
    /// from what compiling it anew finds.
    #[test]
    fn what_is_taken_over_is_what_compiling_finds(
        steps in proptest::collection::vec(step(), 0..12),
        frames in proptest::collection::vec((mutation(), 0..3u8), 1..24),
    ) {
        let mut world = World::new();
        let mut frame = Frame { steps, ..first() };
        let mut outside = Outside::default();
        let mut last: Option<Frame> = None;
        for (mutation, check) in frames {
            mutate(&mut frame, &mut outside, mutation);
            let structure = structure(&frame);
            let removals = world.arena.context.pool.removals();
            match world.run(&frame, &outside) {
                Ok(stats) => {
                    let equal = last.as_ref() == Some(&structure);
                    // A pass that was given up midway is enough of a difference, and so are other places in the pool.
                    let abandoned = frame.steps.iter().any(|step| matches!(step, Step::Abandoned { .. }));
                    let gone = world.arena.context.pool.removals() != removals;
                    prop_assert!(stats.reused == equal || (equal && (abandoned || gone)), "{mutation:?}");
                    last = Some(structure);
                    if check == 0 {
                        let context = &mut world.arena.context;
                        let taken_over = answers(context);
                        compile_again(&mut world.fixture, context).unwrap();
                        let anew = answers(context);
                        let other = taken_over.lines().zip(anew.lines()).enumerate().find(|(_, (a, b))| a != b);
                        prop_assert!(taken_over == anew, "{other:?} of\n{taken_over}");
                    }
                }
                Err(error) => {
                    prop_assert!(last.as_ref() != Some(&structure), "{}", error);
                    last = None;
                }
            }
            world.fixture.device.maintain().unwrap();
        }
    }
}

/// Many frames of one structure give nothing up that they use, and all that they do not.
#[test]
fn long_runs_keep_what_they_use() {
    let mut world = World::new();
    let steps = vec![
        Step::Sample { from: 0, to: 3 },
        Step::Uniform { to: 3 },
        Step::Compute { from: 3, to: 1, start: 0 },
    ];
    let frame = Frame { steps, exported: Some(1), ..first() };
    let large = Frame { sides: [16; 3], ..frame.clone() };
    let (mut counts, mut compiled) = (Vec::new(), Vec::new());
    for round in 0..200usize {
        let outside = Outside { import: round % 2, slice: round % 3, ..Outside::default() };
        let stats = world.run(if round < 4 { &large } else { &frame }, &outside).unwrap();
        if !stats.reused {
            compiled.push(round);
        }
        world.fixture.device.maintain().unwrap();
        let kinds = [ResourceKind::Texture, ResourceKind::TextureView, ResourceKind::BindGroup];
        counts.push(kinds.map(|kind| world.fixture.device.object_count(kind)));
    }
    // The third time is when the pool has given up the textures of the first structure.
    assert!(compiled.len() == 3 && compiled[..2] == [0, 4], "{compiled:?}");
    assert!(counts[40..].iter().all(|count| *count == counts[40]), "{:?}", &counts[40..]);
    assert!(counts[40][0] < counts[5][0], "the textures of the first structure are gone");
}

/// Data at another place in each frame needs a group of its own each time, and the old ones go.
#[test]
fn groups_of_moving_data_do_not_pile_up() {
    let (mut fixture, _, mut arena) = setup();
    let layout = common::layout(&mut fixture.device, ShaderStages::COMPUTE, &[common::uniform(false)]);
    let handles = fixture.handles();
    let mut most = 0;
    for round in 0..100u64 {
        let slice = fixture.device.push_frame_data(&[round as u8; 16], 256).unwrap();
        let slice = purlin_rhi::BufferSlice { offset: slice.offset, ..slice };
        let mut graph = Graph::new("frame", &mut arena);
        graph
            .compute("use")
            .bind(0, *layout, [bind::uploaded(slice)])
            .side_effect()
            .dispatch(handles.compute, [1, 1, 1]);
        let stats = graph.submit(&mut fixture.device).unwrap().stats;
        assert_eq!(stats.reused, round > 0);
        fixture.device.maintain().unwrap();
        most = most.max(fixture.device.object_count(ResourceKind::BindGroup));
    }
    assert!(most < 20, "{most} groups");
}

/// An arena that lost its exported texture places again.
#[test]
fn what_left_the_pool_is_made_again() {
    let (mut fixture, _, mut arena) = setup();
    let mut frame = |take: bool, expected: bool| {
        let mut graph = Graph::new("frame", &mut arena);
        let mut image = target(&mut graph, "image");
        let white = LoadOp::Clear(ClearValue::Float([1.0; 4]));
        graph.render("white").color(0, &mut image, white).clear();
        let export = graph.export_texture(&image);
        let stats = graph.submit(&mut fixture.device).unwrap().stats;
        assert_eq!(stats.reused, expected);
        let texture = arena.exported_texture(export).expect("exported");
        let taken = take.then(|| arena.take_texture(export).expect("exported"));
        assert!(taken.as_ref().is_none_or(|taken| **taken == texture));
        (texture, taken)
    };
    let (first, _) = frame(false, false);
    let (second, kept) = frame(true, true);
    assert_eq!(first, second);
    let (third, _) = frame(false, false);
    assert_ne!(second, third);
    drop(kept);
    assert_eq!(frame(false, true).0, third);
}

/// A frame that was declared and dropped has taken nothing over for the next one.
#[test]
fn a_dropped_frame_changes_nothing() {
    let (mut fixture, handles, mut arena) = setup();
    let other = fixture.device.create_sampler(&purlin_rhi::SamplerDesc::linear("other")).unwrap();
    let samplers = [handles.linear, *other];
    let mut bound = Vec::new();
    for (submitted, sampler) in [(true, 0), (false, 1), (true, 1), (false, 0), (true, 1)] {
        let mut graph = Graph::new("frame", &mut arena);
        let mut image = target(&mut graph, "image");
        let mut source = target(&mut graph, "source");
        graph.render("source").color(0, &mut source, BLACK).clear();
        graph
            .render("sample")
            .color(0, &mut image, BLACK)
            .bind(0, handles.sample, [bind::texture(&source), bind::sampler(samplers[sampler])])
            .side_effect()
            .fullscreen(handles.color);
        if submitted {
            graph.submit(&mut fixture.device).unwrap();
            bound.push(arena.context.groups[0].group);
        }
    }
    assert_ne!(bound[0], bound[1]);
    assert_eq!(bound[1], bound[2]);
}

/// A layout that is gone is an error, however often the frame worked before.
#[test]
fn a_stale_layout_is_refused() {
    let (mut fixture, handles, mut arena) = setup();
    let mut layout =
        Some(common::layout(&mut fixture.device, ShaderStages::COMPUTE, &[common::storage(false)]));
    let stale = **layout.as_ref().unwrap();
    for round in 0..4 {
        if round == 3 {
            layout = None;
            fixture.device.maintain().unwrap();
        }
        let mut graph = Graph::new("frame", &mut arena);
        let mut data = graph.buffer("data", TransientBuffer::new(16));
        graph
            .compute("write")
            .bind(0, stale, [bind::storage(&mut data)])
            .side_effect()
            .dispatch(handles.compute, [1, 1, 1]);
        let result = graph.submit(&mut fixture.device);
        assert_eq!(result.is_ok(), round < 3, "frame {round}");
    }
    assert!(layout.is_none());
}
