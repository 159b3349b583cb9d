//! Draws (C2, C3): state that changes, bounds, zero work, indirect ranges, viewports and scissors.

use purlin_rhi::backend::{Dirty, Draw};
use purlin_rhi::null::{Null, NullCommand, NullConfig, NullState};
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

struct Scene {
    gpu: Gpu,
    control: null::NullControl,
    pipeline: Pipeline,
    target: Owned<kind::TextureView>,
    _texture: Owned<kind::Texture>,
}

impl Scene {
    fn of(width: u32, height: u32) -> Self {
        let (mut gpu, control) = executing();
        let pipeline = simple_pipeline(&mut gpu);
        let texture = texture(&mut gpu, "target", width, height, TextureUsages::RENDER_ATTACHMENT);
        let target = view(&mut gpu, *texture);
        control.take_log();
        Self { gpu, control, pipeline, target, _texture: texture }
    }

    fn new() -> Self {
        Self::of(64, 64)
    }

    fn pass(
        &mut self,
        uses: &[plan::ResourceUse],
        body: impl FnOnce(&mut RenderPass<'_, Null>),
    ) -> Result<()> {
        let colors = [cleared(*self.target)];
        self.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass(&pass(&colors, uses), body)?;
            recorder.submit().map(|_| ())
        })
    }

    /// One pass with the simple pipeline set.
    fn drawn(&mut self, body: impl FnOnce(&mut RenderPass<'_, Null>)) -> Result<()> {
        let pipeline = *self.pipeline.pipeline;
        self.pass(&[], |pass| {
            pass.set_pipeline(pipeline);
            body(pass);
        })
    }

    /// What the logged draws found changed.
    fn changes(&self) -> Vec<(Dirty, NullState, Draw)> {
        let draw = |command| match command {
            NullCommand::Draw { dirty, changed, draw, .. } => (dirty, *changed, draw),
            other => panic!("{other:?}"),
        };
        draws(&self.control).into_iter().map(draw).collect()
    }
}

const FLOAT: VertexAttribute =
    VertexAttribute { format: VertexFormat::Float32, offset: 0, shader_location: 0 };

fn fed(gpu: &mut Gpu, stride: u64, step: VertexStepMode) -> Pipeline {
    pipeline_of(gpu, &SIMPLE, &[], &[VertexBufferLayout { stride, step, attributes: &[FLOAT] }])
}

#[test]
fn the_first_draw_finds_all_defaults_and_the_second_nothing() {
    let mut scene = Scene::new();
    scene
        .drawn(|pass| {
            assert_eq!(pass.extent(), (64, 64));
            pass.draw(0..3, 0..1);
            pass.draw(3..6, 1..3);
        })
        .unwrap();
    let changes = scene.changes();
    let (dirty, state, draw) = &changes[0];
    let all =
        Dirty::PIPELINE | Dirty::VIEWPORT | Dirty::SCISSOR | Dirty::BLEND_CONSTANT | Dirty::STENCIL_REFERENCE;
    assert_eq!(*dirty, all);
    assert_eq!(state.viewport, Some([0.0, 0.0, 64.0, 64.0, 0.0, 1.0]));
    assert_eq!(state.scissor, Some([0, 0, 64, 64]));
    assert_eq!(*draw, Draw::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0 });
    assert_eq!(changes[1].0, Dirty::empty());
    assert_eq!(changes[1].2, Draw::Direct { vertices: 3, instances: 2, first_vertex: 3, first_instance: 1 });
}

#[test]
fn setting_what_is_set_changes_nothing() {
    let mut scene = Scene::new();
    let vertices = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::VERTEX | BufferUsages::INDEX);
    let set = |pass: &mut RenderPass<'_, Null>, x: f32, reference: u32| {
        pass.set_viewport(x, 0.0, 32.0, 32.0, (0.0, 0.5));
        pass.set_scissor(x as u32, 0, 32, 32);
        pass.set_blend_constant([x; 4]);
        pass.set_stencil_reference(reference);
        pass.set_vertex_buffer(1, slice(*vertices, x as u64, 32));
        pass.set_index_buffer(slice(*vertices, 0, 32), IndexFormat::Uint16);
        pass.draw(0..3, 0..1);
    };
    scene
        .drawn(|pass| {
            set(pass, 4.0, 7);
            set(pass, 4.0, 7);
            set(pass, 8.0, 7);
        })
        .unwrap();
    let changes = scene.changes();
    assert_eq!(changes[1].0, Dirty::empty());
    let moved = Dirty::VIEWPORT | Dirty::SCISSOR | Dirty::BLEND_CONSTANT | Dirty::VERTEX_BUFFERS;
    assert_eq!(changes[2].0, moved);
    assert_eq!(changes[2].1.blend_constant, Some([8.0; 4]));
    assert_eq!(
        changes[2].1.vertex_buffers,
        [null::NullBuffer { index: 1, slot: vertices.slot(), offset: 8, size: 32 }]
    );
}

#[test]
fn draws_need_a_pipeline_that_fits_the_pass() {
    let mut scene = Scene::new();
    wrong_state(
        scene.pass(&[], |pass| pass.draw(0..3, 0..1)),
        &["pass \"pass\", draw", "a pipeline", "none"],
    );
    let targets = [Some(TextureFormat::Rgba16Float.into())];
    let module = scene.gpu.create_shader_module(&SIMPLE).unwrap();
    let layout = pipeline_layout(&mut scene.gpu, &[]);
    let other = scene.gpu.create_render_pipeline(&raster(*module, *layout, &targets)).unwrap();
    let result = scene.pass(&[], |pass| pass.set_pipeline(*other));
    invalid(result, "targets", &["set_pipeline of \"raster\"", "[Some(Rgba8Unorm)]", "[Some(Rgba16Float)]"]);
    let handle = *other;
    drop(other);
    bad_handle(scene.pass(&[], |pass| pass.set_pipeline(handle)), HandleProblem::Stale);
}

/// C036: the last vertex needs its attributes, not a full stride; stride zero repeats the first.
#[test]
fn c036_the_last_vertex_needs_no_full_stride() {
    let mut scene = Scene::new();
    let data = uploaded(&mut scene.gpu, "uploaded", 28, BufferUsages::VERTEX);
    let strided = fed(&mut scene.gpu, 8, VertexStepMode::Vertex);
    let repeated = fed(&mut scene.gpu, 0, VertexStepMode::Vertex);
    let mut draw = |pipeline: RenderPipeline, bytes, vertices| {
        scene.pass(&[], |pass| {
            pass.set_pipeline(pipeline);
            pass.set_vertex_buffer(0, slice(*data, 0, bytes));
            pass.draw(vertices, 0..1);
        })
    };
    assert_eq!(draw(*strided.pipeline, 28, 0..4), Ok(()));
    assert_eq!(draw(*strided.pipeline, 28, 3..4), Ok(()));
    invalid(
        draw(*strided.pipeline, 28, 0..5),
        "vertices",
        &["up to 4, which the bound buffers hold", "up to 5"],
    );
    invalid(draw(*strided.pipeline, 28, u32::MAX - 1..u32::MAX), "vertices", &["up to 4294967295"]);
    assert_eq!(draw(*repeated.pipeline, 4, 0..100), Ok(()));
    invalid(draw(*repeated.pipeline, 3, 0..1), "vertices", &["up to 0"]);
}

#[test]
fn instances_are_bounded_by_instance_buffers() {
    let mut scene = Scene::new();
    let data = uploaded(&mut scene.gpu, "uploaded", 16, BufferUsages::VERTEX | BufferUsages::INDEX);
    let pipeline = fed(&mut scene.gpu, 4, VertexStepMode::Instance);
    let mut draw = |instances: std::ops::Range<u32>, indexed: bool| {
        scene.pass(&[], |pass| {
            pass.set_pipeline(*pipeline.pipeline);
            pass.set_vertex_buffer(0, slice(*data, 0, 16));
            pass.set_index_buffer(slice(*data, 0, 16), IndexFormat::Uint32);
            if indexed {
                pass.draw_indexed(0..4, i32::MIN, instances);
            } else {
                pass.draw(0..u32::MAX, instances);
            }
        })
    };
    for indexed in [false, true] {
        assert_eq!(draw(2..4, indexed), Ok(()));
        invalid(draw(2..5, indexed), "instances", &["up to 4", "up to 5"]);
    }
}

#[test]
fn vertex_buffers_that_the_pipeline_reads_are_bound() {
    let mut scene = Scene::new();
    let pipeline = fed(&mut scene.gpu, 4, VertexStepMode::Vertex);
    let result = scene.pass(&[], |pass| {
        pass.set_pipeline(*pipeline.pipeline);
        pass.draw(0..0, 0..0);
    });
    wrong_state(result, &["a vertex buffer at slot 0, which \"raster\" reads"]);
}

#[test]
fn slices_have_the_usage_the_alignment_and_the_range() {
    let mut scene = Scene::new();
    let data = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::VERTEX | BufferUsages::INDEX);
    let other = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::UNIFORM);
    let mut vertex = |index, slice| scene.pass(&[], |pass| pass.set_vertex_buffer(index, slice));
    assert_eq!(vertex(15, slice(*data, 64, 0)), Ok(()));
    unsupported(
        vertex(16, slice(*data, 0, 4)),
        "limit max_vertex_buffers",
        &["slot 16 requested, 16 available"],
    );
    invalid(
        vertex(0, slice(*other, 0, 4)),
        "buffer",
        &["set_vertex_buffer", "usage BufferUsages(VERTEX)", "UNIFORM"],
    );
    invalid(vertex(0, slice(*data, 2, 4)), "offset", &["a multiple of 4"]);
    for (offset, size) in [(0, 65), (64, 1), (u64::MAX - 3, 8), (4, u64::MAX)] {
        invalid(vertex(0, slice(*data, offset, size)), "slice", &["within the 64 bytes of \"uploaded\""]);
    }
    let mut index =
        |offset, format| scene.pass(&[], |pass| pass.set_index_buffer(slice(*data, offset, 4), format));
    assert_eq!(index(2, IndexFormat::Uint16), Ok(()));
    invalid(index(2, IndexFormat::Uint32), "offset", &["set_index_buffer", "a multiple of 4"]);
    invalid(index(1, IndexFormat::Uint16), "offset", &["a multiple of 2"]);
}

#[test]
fn slots_beyond_the_enabled_limit_are_refused() {
    let limits = Limits { max_vertex_buffers: 8, ..Limits::default() };
    let (mut gpu, _control) = device(NullConfig { limits, ..NullConfig::default() });
    let data = uploaded(&mut gpu, "uploaded", 64, BufferUsages::VERTEX);
    let texture = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *texture);
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.render_pass(&pass(&[cleared(*target)], &[]), |pass| {
        pass.set_vertex_buffer(8, slice(*data, 0, 4));
    });
    unsupported(result, "limit max_vertex_buffers", &["slot 8 requested, 8 available"]);
}

#[test]
fn indices_are_counted_and_of_the_strips_format() {
    let mut scene = Scene::new();
    let data = uploaded(&mut scene.gpu, "uploaded", 6, BufferUsages::INDEX);
    let pipeline = *scene.pipeline.pipeline;
    let draw = |scene: &mut Scene, pipeline, indices, format: Option<IndexFormat>| {
        scene.pass(&[], |pass| {
            pass.set_pipeline(pipeline);
            if let Some(format) = format {
                pass.set_index_buffer(slice(*data, 0, 6), format);
            }
            pass.draw_indexed(indices, 0, 0..1);
        })
    };
    let short = Some(IndexFormat::Uint16);
    assert_eq!(draw(&mut scene, pipeline, 0..3, short), Ok(()));
    invalid(draw(&mut scene, pipeline, 1..4, short), "indices", &["up to 3", "up to 4"]);
    invalid(draw(&mut scene, pipeline, 0..2, Some(IndexFormat::Uint32)), "indices", &["up to 1", "up to 2"]);
    wrong_state(draw(&mut scene, pipeline, 0..3, None), &["an index buffer", "none"]);
    let strip = {
        let module = scene.gpu.create_shader_module(&SIMPLE).unwrap();
        let layout = pipeline_layout(&mut scene.gpu, &[]);
        let targets = [Some(COLOR.into())];
        let mut desc = raster(*module, *layout, &targets);
        desc.primitive.topology = PrimitiveTopology::TriangleStrip;
        desc.primitive.strip_index_format = Some(IndexFormat::Uint32);
        scene.gpu.create_render_pipeline(&desc).unwrap()
    };
    wrong_state(draw(&mut scene, *strip, 0..1, short), &["Uint32, the strip format of \"raster\"", "Uint16"]);
}

#[test]
fn no_work_reaches_no_backend_but_is_checked() {
    let mut scene = Scene::new();
    let arguments = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::INDIRECT);
    let backwards = std::ops::Range { start: 5, end: 2 };
    scene
        .drawn(|pass| {
            pass.draw(0..0, 0..1);
            pass.draw(0..3, 4..4);
            pass.draw(backwards, 0..1);
            pass.multi_draw_indirect(*arguments, 0, 0, 16);
            pass.multi_draw_indirect(*arguments, 64, 0, 0);
        })
        .unwrap();
    assert!(scene.changes().is_empty());
}

/// C037: a count of zero draws nothing, one draws one, two draw two.
#[test]
fn c037_multi_draw_counts() {
    let mut scene = Scene::new();
    let arguments = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::INDIRECT | BufferUsages::INDEX);
    let buffer = arguments.slot();
    scene
        .drawn(|pass| {
            pass.set_index_buffer(slice(*arguments, 0, 64), IndexFormat::Uint16);
            for count in 0..3 {
                pass.multi_draw_indirect(*arguments, 0, count, 16);
                pass.multi_draw_indexed_indirect(*arguments, 4, count, 20);
            }
        })
        .unwrap();
    let drawn: Vec<_> = scene.changes().into_iter().map(|(_, _, draw)| draw).collect();
    let expected = [
        Draw::Indirect { buffer, offset: 0, count: 1, stride: 16 },
        Draw::IndexedIndirect { buffer, offset: 4, count: 1, stride: 20 },
        Draw::Indirect { buffer, offset: 0, count: 2, stride: 16 },
        Draw::IndexedIndirect { buffer, offset: 4, count: 2, stride: 20 },
    ];
    assert_eq!(drawn, expected);
}

#[test]
fn indirect_arguments_lie_in_their_buffer() {
    let mut scene = Scene::new();
    let arguments = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::INDIRECT);
    let other = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::UNIFORM);
    let mut draw = |buffer, offset, count, stride| {
        scene.drawn(|pass| pass.multi_draw_indirect(buffer, offset, count, stride))
    };
    assert_eq!(draw(*arguments, 48, 1, 16), Ok(()));
    assert_eq!(draw(*arguments, 0, 3, 24), Ok(()));
    assert_eq!(draw(*arguments, 0, 1, 3), Ok(()), "the stride of one draw is not read");
    invalid(draw(*other, 0, 1, 16), "buffer", &["multi_draw_indirect", "usage INDIRECT"]);
    invalid(draw(*arguments, 2, 1, 16), "offset", &["a multiple of 4"]);
    invalid(draw(*arguments, 52, 1, 16), "offset", &["within the 64 bytes", "16 bytes from 52"]);
    invalid(draw(*arguments, 0, 4, 20), "offset", &["76 bytes from 0"]);
    invalid(draw(*arguments, 0, u32::MAX, u32::MAX - 3), "offset", &["within the 64 bytes"]);
    invalid(draw(*arguments, u64::MAX - 3, 1, 16), "offset", &["within the 64 bytes"]);
    for stride in [12, 18] {
        invalid(draw(*arguments, 0, 2, stride), "stride", &["a multiple of 4 of at least 16"]);
    }
}

/// The GPU says how many of at most so many: both buffers are checked, and no driver is asked for none.
#[test]
fn counted_draws_are_checked_like_others() {
    let mut scene = Scene::new();
    let arguments = uploaded(&mut scene.gpu, "uploaded", 64, BufferUsages::INDIRECT | BufferUsages::INDEX);
    let counts = uploaded(&mut scene.gpu, "uploaded", 8, BufferUsages::INDIRECT);
    let other = uploaded(&mut scene.gpu, "uploaded", 8, BufferUsages::UNIFORM);
    let count = scene.gpu.capability::<MultiDrawIndirectCount>().unwrap();
    scene
        .drawn(|pass| {
            pass.set_index_buffer(slice(*arguments, 0, 64), IndexFormat::Uint16);
            pass.multi_draw_indirect_count(count, (*arguments, 0), (*counts, 4), 0, 16);
            pass.multi_draw_indirect_count(count, (*arguments, 16), (*counts, 4), 3, 16);
            pass.multi_draw_indexed_indirect_count(count, (*arguments, 4), (*counts, 0), 2, 28);
        })
        .unwrap();
    let drawn: Vec<_> = scene.changes().into_iter().map(|(_, _, draw)| draw).collect();
    let (buffer, count_buffer) = (arguments.slot(), counts.slot());
    let expected = [
        Draw::IndirectCount { buffer, offset: 16, count_buffer, count_offset: 4, most: 3, stride: 16 },
        Draw::IndexedIndirectCount { buffer, offset: 4, count_buffer, count_offset: 0, most: 2, stride: 28 },
    ];
    assert_eq!(drawn, expected);
    let mut draw = |from, counts, most, stride| {
        scene.drawn(|pass| pass.multi_draw_indirect_count(count, from, counts, most, stride))
    };
    let (from, at) = ((*arguments, 0), (*counts, 0));
    assert_eq!(draw(from, at, 4, 16), Ok(()));
    invalid(draw(from, at, 5, 16), "offset", &["multi_draw_indirect_count", "80 bytes from 0"]);
    invalid(draw(from, at, 2, 12), "stride", &["a multiple of 4 of at least 16"]);
    invalid(draw((*other, 0), at, 1, 16), "buffer", &["usage INDIRECT"]);
    invalid(draw(from, (*other, 0), 1, 16), "buffer", &["usage INDIRECT"]);
    invalid(draw(from, (*counts, 8), 1, 16), "offset", &["within the 8 bytes", "4 bytes from 8"]);
    invalid(draw(from, (*counts, 2), 1, 16), "offset", &["a multiple of 4"]);
}

#[test]
fn tracked_buffers_are_declared_for_what_they_are() {
    let mut scene = Scene::new();
    let usage = BufferUsages::VERTEX | BufferUsages::INDEX | BufferUsages::INDIRECT;
    let data = buffer(&mut scene.gpu, "tracked", 64, usage);
    scene.gpu.write_buffer(*data, 0, &[0; 64]).unwrap();
    type Body<'a> = &'a dyn Fn(&mut RenderPass<'_, Null>);
    let whole = slice(*data, 0, 64);
    let calls: [(BufferUse, Body<'_>); 3] = [
        (BufferUse::Vertex, &|pass| pass.set_vertex_buffer(0, whole)),
        (BufferUse::Index, &|pass| pass.set_index_buffer(whole, IndexFormat::Uint16)),
        (BufferUse::Indirect, &|pass| pass.draw_indirect(*data, 48)),
    ];
    for (usage, call) in calls {
        assert_eq!(scene.drawn(|_| {}), Ok(()));
        let uses = [buffer_use(*data, 64, usage)];
        let pipeline = *scene.pipeline.pipeline;
        let body = |pass: &mut RenderPass<'_, Null>| {
            pass.set_pipeline(pipeline);
            call(pass);
        };
        assert_eq!(scene.pass(&uses, body), Ok(()));
        invalid(
            scene.pass(&[], body),
            "uses",
            &["\"tracked\" declared by the pass as", "no such declaration"],
        );
        let half = [buffer_use(*data, 60, usage)];
        invalid(scene.pass(&half, body), "uses", &["no such declaration"]);
    }
}

/// C048: equal depths are legal, and rectangles may reach beyond the target within one documented bound.
#[test]
fn c048_viewports() {
    let mut scene = Scene::new();
    let most = scene.gpu.limits().max_texture_dimension_2d as f32;
    let mut set = |rect: [f32; 4], depth| {
        scene.drawn(|pass| {
            pass.set_viewport(rect[0], rect[1], rect[2], rect[3], depth);
            pass.draw(0..3, 0..1);
        })
    };
    for depth in [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.0, 1.0)] {
        assert_eq!(set([0.0, 0.0, 64.0, 64.0], depth), Ok(()), "{depth:?}");
    }
    for depth in [(1.0, 0.0), (-0.1, 1.0), (0.0, 1.1), (f32::NAN, 1.0)] {
        invalid(set([0.0, 0.0, 64.0, 64.0], depth), "depth", &["0 <= minimum <= maximum <= 1"]);
    }
    for rect in [[-16.0, 0.0, 32.0, 64.0], [0.0, 0.0, 128.0, 128.0], [-2.0 * most, 0.0, most, most]] {
        assert_eq!(set(rect, (0.0, 1.0)), Ok(()), "{rect:?}");
    }
    for rect in [
        [0.0, 0.0, most + 1.0, 1.0],
        [0.0, 0.0, -1.0, 1.0],
        [-2.0 * most - 1.0, 0.0, 1.0, 1.0],
        [2.0 * most - 1.0, 0.0, 1.0, 1.0],
        [f32::NAN, 0.0, 1.0, 1.0],
        [0.0, 0.0, f32::INFINITY, 1.0],
    ] {
        invalid(set(rect, (0.0, 1.0)), "viewport", &["set_viewport", "sides of 0 to 16384"]);
    }
}

#[test]
fn an_empty_viewport_draws_nothing_until_it_is_set_again() {
    let mut scene = Scene::new();
    scene
        .drawn(|pass| {
            pass.set_viewport(0.0, 0.0, 0.0, 10.0, (0.0, 1.0));
            pass.draw(0..3, 0..1);
            pass.set_viewport(1.0, 2.0, 3.0, 4.0, (0.0, 1.0));
            pass.draw(0..3, 0..1);
        })
        .unwrap();
    let changes = scene.changes();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].1.viewport, Some([1.0, 2.0, 3.0, 4.0, 0.0, 1.0]));
}

/// C049: an empty scissor is legal and draws nothing; one outside the target is a typed error.
#[test]
fn c049_scissors() {
    let mut scene = Scene::of(1280, 720);
    scene
        .drawn(|pass| {
            for [x, y, width, height] in
                [[0, 0, 0, 0], [1280, 720, 0, 0], [0, 0, 1280, 720], [10, 20, 30, 40]]
            {
                pass.set_scissor(x, y, width, height);
                pass.draw(0..3, 0..1);
            }
        })
        .unwrap();
    let scissors: Vec<_> = scene.changes().iter().map(|(_, state, _)| state.scissor).collect();
    assert_eq!(scissors, [Some([0, 0, 1280, 720]), Some([10, 20, 30, 40])]);
    for [x, y, width, height] in [[1280, 720, 1, 1], [1270, 0, 20, 20], [u32::MAX, 0, 2, 1]] {
        let result = scene.drawn(|pass| pass.set_scissor(x, y, width, height));
        invalid(result, "scissor", &["set_scissor", "within 1280x720"]);
    }
    let mut shrunk = Scene::of(640, 360);
    let result = shrunk.drawn(|pass| pass.set_scissor(0, 0, 1280, 720));
    invalid(result, "scissor", &["within 640x360", "1280x720 at 0,0"]);
}
