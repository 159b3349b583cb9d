//! Queries: what passes the tests, when, and how much was done.

use purlin_graph::{Graph, GraphArena};
use purlin_rhi::backend::Backend;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::{
    CompareFunction, PipelineStatisticsTypes, QueryType, ShaderStages, TextureFormat, TextureUsages,
};
use purlin_rhi::{
    AspectOps, BindGroupEntry, Capability, ClearValue, ColorTarget, ComputePassDesc, DepthStencilAttachment,
    DepthStencilDesc, Device, LoadOp, Owned, PassTimestampWrites, PipelineStatistics,
    PipelineStatisticsQuery, QuerySetDesc, QueryState, QueryTicket, QueryValue, RenderPassDesc,
    RenderPipeline, TimestampQuery, kind,
};

use crate::kit::{
    Canvas, Checked, FULL, Paint, Painter, Program, Raster, buffer_use, clear, equal, finish, load,
    one_color, perform, refused, result_buffer, wrong,
};
use crate::shaders::compute::{SHADER, entries};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SIDE: u32 = 16;
/// The lower left texel in clip space.
const TEXEL: [f32; 4] = [-1.0, -1.0, -1.0 + 2.0 / SIDE as f32, -1.0 + 2.0 / SIDE as f32];

const UNAVAILABLE: QueryState = QueryState::Unavailable;

fn seen(any: bool) -> QueryState {
    QueryState::Value(QueryValue::Occlusion(any))
}

fn query_set<B: Backend>(
    device: &mut Device<B>,
    ty: QueryType,
    count: u32,
) -> Checked<Owned<kind::QuerySet>> {
    Ok(device.create_query_set(&QuerySetDesc { label: "queries", ty, count })?)
}

/// Rectangles, the pipeline that paints them by depth, and what they are painted on.
struct Scene {
    painter: Painter,
    pipeline: Owned<kind::RenderPipeline>,
    canvas: Canvas,
    depth: Canvas,
}

impl Scene {
    fn new<B: Backend>(device: &mut Device<B>, paints: &[Paint]) -> Checked<Self> {
        let painter = Painter::new(device, paints)?;
        let targets = [Some(ColorTarget::from(RGBA8))];
        let depth_stencil = Some(DepthStencilDesc::depth(DEPTH, true, CompareFunction::Less));
        let raster = Raster { targets: &targets, depth_stencil, ..Default::default() };
        let pipeline = painter.pipeline(device, &raster)?;
        let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
        let depth = Canvas::with_usage(device, SIDE, SIDE, DEPTH, TextureUsages::RENDER_ATTACHMENT)?;
        Ok(Self { painter, pipeline, canvas, depth })
    }

    fn depth(&self, ops: AspectOps<f32>) -> Option<DepthStencilAttachment> {
        Some(DepthStencilAttachment { view: *self.depth.view, depth: Some(ops), stencil: None })
    }
}

fn rectangle(area: [f32; 4], depth: f32) -> Paint {
    Paint::new(area, [1.0; 4], depth, 0.0)
}

/// An occluder over the left half, and what is before, behind and beside it.
pub(crate) fn occlusion<B: Backend>(device: &mut Device<B>) -> Answer {
    let left = [-1.0, -1.0, 0.0, 1.0];
    let scene = Scene::new(
        device,
        &[
            rectangle(left, 0.5),
            rectangle(left, 0.75),
            rectangle(FULL, 0.75),
            rectangle(TEXEL, 0.25),
            rectangle([2.0, 2.0, 3.0, 3.0], 0.25),
        ],
    )?;
    let set = query_set(device, QueryType::Occlusion, 130)?;
    let colors = [clear(*scene.canvas.view, [0.0; 4])];
    let desc = RenderPassDesc {
        depth_stencil: scene.depth(AspectOps::clear(1.0)),
        occlusion_query_set: Some(*set),
        ..one_color("occlusion", &colors)
    };
    let pipeline = *scene.pipeline;
    let mut recorder = device.record("occlusion")?;
    recorder.render_pass(&desc, |pass| {
        scene.painter.paint(pass, pipeline, 0);
        for (query, paint) in [(0, 1), (64, 2), (3, 3), (4, 4)] {
            pass.begin_occlusion_query(query);
            scene.painter.paint(pass, pipeline, paint);
            pass.end_occlusion_query();
        }
        pass.begin_occlusion_query(129);
        pass.end_occlusion_query();
        // The second of two draws is enough.
        pass.begin_occlusion_query(6);
        scene.painter.paint(pass, pipeline, 1);
        pass.set_scissor(0, 0, 0, 0);
        scene.painter.paint(pass, pipeline, 3);
        pass.end_occlusion_query();
    })?;
    let first = recorder.read_queries(*set, 0..7)?;
    let last = recorder.read_queries(*set, 63..130)?;
    let token = recorder.submit()?;
    finish(device, token)?;
    let expected = [seen(false), UNAVAILABLE, UNAVAILABLE, seen(true), seen(false), UNAVAILABLE, seen(false)];
    equal("behind, ..., a texel before, outside, ..., cut off", &device.read_queries(&first)?, &expected)?;
    let mut expected = vec![UNAVAILABLE; 67];
    (expected[1], expected[66]) = (seen(true), seen(false));
    equal("partly behind, ..., nothing", &device.read_queries(&last)?, &expected)?;
    refused("values are delivered once", "delivered already", device.read_queries(&first))?;
    Ok(Outcome::Passed)
}

/// One set for many recordings that overlap, and several passes of one recording: each ticket has what its own recording
/// found.
pub(crate) fn one_set_for_every_recording<B: Backend>(device: &mut Device<B>) -> Answer {
    let scene = Scene::new(device, &[rectangle(FULL, 0.5), rectangle(TEXEL, 0.25), rectangle(TEXEL, 0.75)])?;
    let set = query_set(device, QueryType::Occlusion, 4)?;
    let pipeline = *scene.pipeline;
    let mut tickets: Vec<(u32, QueryTicket)> = Vec::new();
    let mut token = device.last_submission();
    for frame in 0..6u32 {
        let mut recorder = device.record("frame")?;
        for part in 0..2 {
            let colors =
                [if part == 0 { clear(*scene.canvas.view, [0.0; 4]) } else { load(*scene.canvas.view) }];
            let ops = if part == 0 { AspectOps::clear(1.0) } else { AspectOps::load() };
            let desc = RenderPassDesc {
                depth_stencil: scene.depth(ops),
                occlusion_query_set: Some(*set),
                ..one_color("part", &colors)
            };
            recorder.render_pass(&desc, |pass| {
                if part == 0 {
                    scene.painter.paint(pass, pipeline, 0);
                }
                pass.begin_occlusion_query(part * 2 + frame % 2);
                // Behind in even frames, before in odd ones.
                scene.painter.paint(pass, pipeline, if frame % 2 == 0 { 2 } else { 1 });
                pass.end_occlusion_query();
            })?;
        }
        tickets.push((frame, recorder.read_queries(*set, 0..4)?));
        token = recorder.submit()?;
    }
    finish(device, token)?;
    for (frame, ticket) in tickets {
        // The second time the texel is equally near, and not nearer.
        let expected = match frame % 2 {
            0 => [seen(false), UNAVAILABLE, seen(false), UNAVAILABLE],
            _ => [UNAVAILABLE, seen(true), UNAVAILABLE, seen(false)],
        };
        equal(format!("frame {frame}"), &device.read_queries(&ticket)?, &expected)?;
    }
    Ok(Outcome::Passed)
}

/// Slots that nobody wrote have no value, and nothing waits for them: not with some written, and not with none.
pub(crate) fn c078_slots_never_written<B: Backend>(device: &mut Device<B>) -> Answer {
    if device.capability::<TimestampQuery>().is_none() {
        return Ok(Outcome::Unsupported(TimestampQuery::NAME.into()));
    }
    let set = query_set(device, QueryType::Timestamp, 4)?;
    let untouched = query_set(device, QueryType::Timestamp, 3)?;
    let program = Program::new(device, &SHADER, &[entries::COUNT_GROUPS])?;
    let pipeline = program.compute(device, entries::COUNT_GROUPS)?;
    let result = result_buffer(device, 4)?;
    let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *result)])?;
    let uses = [buffer_use(*result, 4, BufferUse::StorageWrite(ShaderStages::COMPUTE))];
    let timestamp_writes = Some(PassTimestampWrites {
        query_set: *set,
        beginning_of_pass_write_index: Some(0),
        end_of_pass_write_index: Some(2),
    });
    let mut recorder = device.record("timestamps")?;
    recorder.compute_pass(
        &ComputePassDesc { label: "stamped", uses: &uses, timestamp_writes, ..Default::default() },
        |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, *group, &[]);
            pass.dispatch([1000, 1, 1]);
        },
    )?;
    let written = recorder.read_queries(*set, 0..4)?;
    let nothing = recorder.read_queries(*untouched, 0..3)?;
    let token = recorder.submit()?;
    finish(device, token)?;
    equal("a set that nobody wrote", &device.read_queries(&nothing)?, &[UNAVAILABLE; 3])?;
    let states = device.read_queries(&written)?;
    equal("between and after", &[states[1], states[3]], &[UNAVAILABLE; 2])?;
    match (states[0], states[2]) {
        (QueryState::Value(QueryValue::Timestamp(begin)), QueryState::Value(QueryValue::Timestamp(end)))
            if begin <= end =>
        {
            Ok(Outcome::Passed)
        }
        other => Err(wrong("begin and end", "two timestamps in order", format!("{other:?}"))),
    }
}

fn counted<B: Backend>(device: &mut Device<B>, ticket: &QueryTicket) -> Checked<Vec<PipelineStatistics>> {
    let states = device.read_queries(ticket)?;
    let counts = states.iter().map(|state| match state {
        QueryState::Value(QueryValue::PipelineStatistics(counts)) => Ok(*counts),
        other => Err(wrong("statistics", "a value", format!("{other:?}"))),
    });
    counts.collect()
}

/// The count lies in the range; Vulkan calls these counts approximate, and lets a driver do more than it must.
fn within(what: &str, count: Option<u64>, range: std::ops::RangeInclusive<u64>) -> Checked {
    match count {
        Some(count) if range.contains(&count) => Ok(()),
        other => Err(wrong(what, format!("{range:?}"), format!("{other:?}"))),
    }
}

/// Known draws: triangles, each half of the canvas or outside of it.
pub(crate) fn statistics_of_draws<B: Backend>(device: &mut Device<B>) -> Answer {
    if device.capability::<PipelineStatisticsQuery>().is_none() {
        return Ok(Outcome::Unsupported(PipelineStatisticsQuery::NAME.into()));
    }
    let painter = Painter::new(device, &[rectangle(FULL, 0.5), rectangle([2.0, 2.0, 3.0, 3.0], 0.5)])?;
    let targets = [Some(ColorTarget::from(RGBA8))];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let all = query_set(device, QueryType::PipelineStatistics(PipelineStatisticsTypes::all()), 4)?;
    let some = PipelineStatisticsTypes::CLIPPER_PRIMITIVES_OUT
        | PipelineStatisticsTypes::FRAGMENT_SHADER_INVOCATIONS;
    let some = query_set(device, QueryType::PipelineStatistics(some), 1)?;
    let mut recorder = device.record("statistics")?;
    let colors = [clear(*canvas.view, [0.0; 4])];
    let counting =
        |set| RenderPassDesc { pipeline_statistics_query_set: Some(set), ..one_color("counted", &colors) };
    recorder.render_pass(&counting(*all), |pass| {
        for (query, paint, draws) in [(0, 0, 1), (1, 0, 3), (2, 1, 2), (3, 0, 0)] {
            // All but the first half is not counted.
            painter.paint(pass, *pipeline, paint);
            pass.begin_pipeline_statistics_query(query);
            (0..draws).for_each(|_| pass.draw(0..3, 0..1));
            pass.end_pipeline_statistics_query();
        }
    })?;
    recorder.render_pass(&counting(*some), |pass| {
        pass.begin_pipeline_statistics_query(0);
        painter.paint(pass, *pipeline, 0);
        pass.end_pipeline_statistics_query();
    })?;
    let (all, some) = (recorder.read_queries(*all, 0..4)?, recorder.read_queries(*some, 0..1)?);
    let token = recorder.submit()?;
    finish(device, token)?;
    // Texels whose centers a triangle has inside, not counting those on its edge.
    let texels = u64::from(SIDE * (SIDE - 1) / 2);
    let counts = counted(device, &all)?;
    for (query, triangles, visible) in [(0, 1, 1), (1, 3, 3), (2, 2, 0), (3, 0, 0)] {
        let counts = counts[query];
        let at_least = |count: u64| count..=count * 16 + if triangles > 0 { 64 } else { 0 };
        // Instances whose vertices come out the same may share their invocations, as on an NVIDIA H200.
        let vertices = triangles.min(1)..=*at_least(3 * triangles).end();
        within("vertex invocations", counts.vertex_shader_invocations, vertices)?;
        within("clipper invocations", counts.clipper_invocations, at_least(triangles))?;
        within("clipper primitives", counts.clipper_primitives_out, at_least(visible))?;
        within("fragment invocations", counts.fragment_shader_invocations, at_least(visible * texels))?;
        within("compute invocations", counts.compute_shader_invocations, 0..=0)?;
    }
    let counts = counted(device, &some)?[0];
    let texels = u64::from(SIDE * SIDE);
    within("fragment invocations alone", counts.fragment_shader_invocations, texels..=texels * 16)?;
    let others =
        [counts.vertex_shader_invocations, counts.clipper_invocations, counts.compute_shader_invocations];
    equal("what is not counted", &others, &[None; 3])?;
    Ok(Outcome::Passed)
}

/// A known dispatch.
pub(crate) fn statistics_of_dispatches<B: Backend>(device: &mut Device<B>) -> Answer {
    if device.capability::<PipelineStatisticsQuery>().is_none() {
        return Ok(Outcome::Unsupported(PipelineStatisticsQuery::NAME.into()));
    }
    let compute = PipelineStatisticsTypes::COMPUTE_SHADER_INVOCATIONS;
    let set = query_set(device, QueryType::PipelineStatistics(compute), 2)?;
    let program = Program::new(device, &SHADER, &[entries::COUNT_GROUPS])?;
    let pipeline = program.compute(device, entries::COUNT_GROUPS)?;
    let result = result_buffer(device, 4)?;
    let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *result)])?;
    let uses = [buffer_use(*result, 4, BufferUse::StorageWrite(ShaderStages::COMPUTE))];
    let desc = ComputePassDesc {
        label: "counted",
        uses: &uses,
        pipeline_statistics_query_set: Some(*set),
        ..Default::default()
    };
    let mut recorder = device.record("statistics")?;
    recorder.compute_pass(&desc, |pass| {
        pass.set_pipeline(*pipeline);
        pass.set_bind_group(0, *group, &[]);
        pass.dispatch([5, 1, 1]);
        for (query, groups) in [(0, 7), (1, 0)] {
            pass.begin_pipeline_statistics_query(query);
            pass.dispatch([groups, 3, 1]);
            pass.end_pipeline_statistics_query();
        }
    })?;
    let ticket = recorder.read_queries(*set, 0..2)?;
    let token = recorder.submit()?;
    finish(device, token)?;
    let counts = counted(device, &ticket)?;
    let invocations = 21 * u64::from(GROUP_SIZE);
    within("compute invocations", counts[0].compute_shader_invocations, invocations..=invocations * 2)?;
    within("compute invocations of nothing", counts[1].compute_shader_invocations, 0..=0)?;
    Ok(Outcome::Passed)
}

/// Invocations of a workgroup of `count_groups`.
const GROUP_SIZE: u32 = 1;

/// Passes of a graph with queries, merged or not: each finds what it draws itself.
pub(crate) fn c080_queries_of_merged_passes<B: Backend>(device: &mut Device<B>) -> Answer {
    let left = [-1.0, -1.0, 0.0, 1.0];
    let scene = Scene::new(device, &[rectangle(left, 0.5), rectangle(left, 0.75), rectangle(TEXEL, 0.25)])?;
    let set = query_set(device, QueryType::Occlusion, 3)?;
    let (painter, pipeline): (_, RenderPipeline) = (&scene.painter, *scene.pipeline);
    let mut arena = GraphArena::new();
    for merge in [false, true] {
        arena.options().merge = merge;
        for reused in [false, true] {
            let mut graph = Graph::new("queries", &mut arena);
            let mut color = graph.import_texture("canvas", *scene.canvas.texture);
            let mut depth = graph.import_texture("depth", *scene.depth.texture);
            let black = LoadOp::Clear(ClearValue::Float([0.0; 4]));
            for (index, paint) in [0, 1, 2].into_iter().enumerate() {
                let (color_load, depth_load) = match index {
                    0 => (black, LoadOp::Clear(1.0)),
                    _ => (LoadOp::Load, LoadOp::Load),
                };
                let pass =
                    graph.render("layer").color(0, &mut color, color_load).depth(&mut depth, depth_load);
                pass.occlusion_queries(*set).record(move |pass| {
                    pass.begin_occlusion_query(index as u32);
                    painter.paint(pass, pipeline, paint);
                    pass.end_occlusion_query();
                });
            }
            let read = graph.read_queries(*set, 0..3);
            let mut submitted =
                graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
            let stats = submitted.stats;
            finish(device, submitted.token)?;
            let merged = if merge { 2 } else { 0 };
            if (stats.merged, stats.reused) != (merged, reused) {
                let found = format!("{} merged, reused {}", stats.merged, stats.reused);
                return Err(wrong("passes", format!("{merged} merged, reused {reused}"), found));
            }
            let ticket = submitted.take_queries(read).ok_or_else(|| wrong("queries", "a ticket", "none"))?;
            let expected = [seen(true), seen(false), seen(true)];
            equal(format!("merge {merge}, reused {reused}"), &device.read_queries(&ticket)?, &expected)?;
        }
    }
    Ok(Outcome::Passed)
}

/// What no device accepts.
pub(crate) fn mistakes_are_refused<B: Backend>(device: &mut Device<B>) -> Answer {
    let scene = Scene::new(device, &[rectangle(FULL, 0.5)])?;
    let set = query_set(device, QueryType::Occlusion, 2)?;
    let colors = [clear(*scene.canvas.view, [0.0; 4])];
    let mut attempt = |says: &str, body: fn(&mut purlin_rhi::RenderPass<'_, B>)| -> Checked {
        let desc = RenderPassDesc { occlusion_query_set: Some(*set), ..one_color("mistake", &colors) };
        let mut recorder = device.record("mistake")?;
        let result = recorder.render_pass(&desc, body);
        drop(recorder);
        refused(says, says, result)
    };
    attempt("index", |pass| pass.begin_occlusion_query(2))?;
    attempt("once in a recording", |pass| {
        for _ in 0..2 {
            pass.begin_occlusion_query(1);
            pass.end_occlusion_query();
        }
    })?;
    attempt("query 1 is open", |pass| pass.begin_occlusion_query(1))?;
    attempt("they do not nest", |pass| {
        pass.begin_occlusion_query(0);
        pass.begin_occlusion_query(1);
    })?;
    attempt("an open occlusion query", |pass| pass.end_occlusion_query())?;
    attempt("pipeline_statistics_query_set", |pass| pass.begin_pipeline_statistics_query(0))?;
    refused(
        "too many",
        "count",
        device.create_query_set(&QuerySetDesc { label: "large", ty: QueryType::Occlusion, count: 4097 }),
    )?;
    // Nothing of it is left.
    perform(device, |recorder| {
        let desc = RenderPassDesc { occlusion_query_set: Some(*set), ..one_color("right", &colors) };
        Ok(recorder.render_pass(&desc, |pass| {
            pass.begin_occlusion_query(1);
            pass.end_occlusion_query();
        })?)
    })?;
    Ok(Outcome::Passed)
}
