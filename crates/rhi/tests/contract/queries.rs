//! Queries (C5): mistakes named, resets and copies where they belong, and a state for each result.

use purlin_rhi::backend::NativeQuery;
use purlin_rhi::null::{NullCommand, NullConfig};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const UNAVAILABLE: QueryState = QueryState::Unavailable;

fn seen(any: bool) -> QueryState {
    QueryState::Value(QueryValue::Occlusion(any))
}

fn set(gpu: &mut Gpu, ty: QueryType, count: u32) -> Owned<kind::QuerySet> {
    gpu.create_query_set(&QuerySetDesc { label: "set", ty, count }).unwrap()
}

/// A target and a pipeline that draws to it.
struct Scene {
    pipeline: Pipeline,
    _target: Owned<kind::Texture>,
    view: Owned<kind::TextureView>,
}

impl Scene {
    fn new(gpu: &mut Gpu) -> Self {
        let pipeline = simple_pipeline(gpu);
        let target = texture(gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
        let view = view(gpu, *target);
        Self { pipeline, _target: target, view }
    }

    fn colors(&self) -> [Option<ColorAttachment>; 1] {
        [cleared(*self.view)]
    }
}

/// Records one pass of a set with a body; what it answers.
fn attempt(
    gpu: &mut Gpu,
    scene: &Scene,
    set: QuerySet,
    body: impl FnOnce(&mut RenderPass<'_, null::Null>),
) -> Result<()> {
    let colors = scene.colors();
    let desc = RenderPassDesc { occlusion_query_set: Some(set), ..pass(&colors, &[]) };
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass(&desc, body)
}

#[test]
fn sets_are_checked_when_they_are_made() {
    let mut gpu = plain();
    let desc = |ty, count| QuerySetDesc { label: "set", ty, count };
    let mut make = |ty, count| gpu.checked(|gpu| gpu.create_query_set(&desc(ty, count)).map(|_| ()));
    invalid(make(QueryType::Occlusion, 0), "count", &["query set \"set\"", "1 to 4096"]);
    invalid(make(QueryType::Occlusion, 4097), "count", &["4097"]);
    let nothing = PipelineStatisticsTypes::empty();
    invalid(make(QueryType::PipelineStatistics(nothing), 1), "ty", &["statistics"]);
    assert_eq!(make(QueryType::Occlusion, 4096), Ok(()));
    let (mut poor, _) = device(NullConfig { features: Features::empty(), ..NullConfig::default() });
    let mut make = |ty| poor.checked(|gpu| gpu.create_query_set(&desc(ty, 1)).map(|_| ()));
    unsupported(make(QueryType::Timestamp), "feature TIMESTAMP_QUERY", &["query set \"set\""]);
    let all = QueryType::PipelineStatistics(PipelineStatisticsTypes::all());
    unsupported(make(all), "feature PIPELINE_STATISTICS_QUERY", &["query set \"set\""]);
    assert_eq!(make(QueryType::Occlusion), Ok(()), "what every device has");
    assert_eq!(poor.timestamp_precision(), None);
}

#[test]
fn a_set_that_fails_natively_leaves_nothing() {
    let (mut gpu, control) = executing();
    control.fail_allocation_of(ResourceKind::QuerySet, 1);
    let desc = QuerySetDesc { label: "set", ty: QueryType::Occlusion, count: 1 };
    let error = err(gpu.checked(|gpu| gpu.create_query_set(&desc)));
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    assert!(gpu.create_query_set(&desc).is_ok());
}

#[test]
fn mistakes_with_queries_are_named() {
    let (mut gpu, _control) = executing();
    let scene = Scene::new(&mut gpu);
    let queries = set(&mut gpu, QueryType::Occlusion, 2);
    type Body = fn(&mut RenderPass<'_, null::Null>);
    let mut wrong = |body: Body| attempt(&mut gpu, &scene, *queries, body);
    invalid(
        wrong(|pass| pass.begin_occlusion_query(2)),
        "index",
        &["below 2", "query set \"set\"", "found 2"],
    );
    wrong_state(
        wrong(|pass| {
            pass.begin_occlusion_query(1);
            pass.end_occlusion_query();
            pass.begin_occlusion_query(1);
        }),
        &["pass \"pass\", begin_occlusion_query", "once in a recording", "query 1 twice"],
    );
    wrong_state(wrong(|pass| pass.begin_occlusion_query(1)), &["pass \"pass\", end", "query 1 is open"]);
    wrong_state(
        wrong(|pass| {
            pass.begin_occlusion_query(0);
            pass.begin_occlusion_query(1);
        }),
        &["begin_occlusion_query", "do not nest", "query 0 is open"],
    );
    wrong_state(wrong(|pass| pass.end_occlusion_query()), &["an open occlusion query, found none"]);
    wrong_state(
        wrong(|pass| pass.begin_pipeline_statistics_query(0)),
        &["a pass with pipeline_statistics_query_set"],
    );
    // The first mistake is the one that counts, and what comes after it does nothing.
    wrong_state(
        wrong(|pass| {
            pass.end_occlusion_query();
            pass.begin_occlusion_query(9);
            pass.end_occlusion_query();
        }),
        &["an open occlusion query"],
    );
}

#[test]
fn passes_are_told_what_is_wrong_with_their_sets() {
    let (mut gpu, _control) = executing();
    let mut other = plain();
    let scene = Scene::new(&mut gpu);
    let timestamps = set(&mut gpu, QueryType::Timestamp, 4);
    let foreign = set(&mut other, QueryType::Occlusion, 4);
    let stale = set(&mut gpu, QueryType::Occlusion, 4).leak();
    gpu.destroy(stale).unwrap();
    bad_handle(attempt(&mut gpu, &scene, stale, |_| {}), HandleProblem::Stale);
    bad_handle(attempt(&mut gpu, &scene, *foreign, |_| {}), HandleProblem::Foreign);
    invalid(
        attempt(&mut gpu, &scene, *timestamps, |_| {}),
        "occlusion_query_set",
        &["pass \"pass\"", "a set of occlusion queries", "Timestamp of query set \"set\""],
    );
    let occlusion = set(&mut gpu, QueryType::Occlusion, 4);
    let mut stamped = |set, begin, end| {
        let writes = PassTimestampWrites {
            query_set: set,
            beginning_of_pass_write_index: begin,
            end_of_pass_write_index: end,
        };
        let desc = ComputePassDesc { label: "c", timestamp_writes: Some(writes), ..Default::default() };
        gpu.record("frame").unwrap().compute_pass(&desc, |_| {})
    };
    invalid(stamped(*occlusion, Some(0), None), "timestamp_writes", &["a set of timestamps", "Occlusion"]);
    invalid(stamped(*timestamps, None, None), "timestamp_writes", &["a timestamp at the begin or end"]);
    invalid(stamped(*timestamps, Some(0), Some(4)), "timestamp_writes", &["below 4", "found 4"]);
    wrong_state(stamped(*timestamps, Some(3), Some(3)), &["once in a recording", "query 3 twice"]);
    assert_eq!(stamped(*timestamps, None, Some(3)), Ok(()));
    let desc = ComputePassDesc {
        label: "c",
        pipeline_statistics_query_set: Some(*timestamps),
        ..Default::default()
    };
    let result = gpu.record("frame").unwrap().compute_pass(&desc, |_| {});
    invalid(result, "pipeline_statistics_query_set", &["a set of pipeline statistics"]);
}

#[test]
fn sections_have_no_queries_but_timestamps() {
    let (mut gpu, control) = executing();
    let scene = Scene::new(&mut gpu);
    let occlusion = set(&mut gpu, QueryType::Occlusion, 1);
    let times = set(&mut gpu, QueryType::Timestamp, 2);
    let colors = scene.colors();
    for sections in [1, 3] {
        let desc = RenderPassDesc { occlusion_query_set: Some(*occlusion), ..pass(&colors, &[]) };
        let result = gpu.record("frame").unwrap().render_pass_parallel(&desc, sections, |_, _| {});
        unsupported(result, "queries in a pass of sections", &["pass \"pass\""]);
    }
    let writes = PassTimestampWrites {
        query_set: *times,
        beginning_of_pass_write_index: Some(0),
        end_of_pass_write_index: Some(1),
    };
    let desc = RenderPassDesc { timestamp_writes: Some(writes), ..pass(&colors, &[]) };
    control.set_clock(0, 5);
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass_parallel(&desc, 3, |_, _| {}).unwrap();
    let ticket = recorder.read_queries(*times, 0..2).unwrap();
    recorder.submit().unwrap();
    let value = |ticks| QueryState::Value(QueryValue::Timestamp(ticks));
    assert_eq!(gpu.read_queries(&ticket), Ok(vec![value(5), value(10)]));
}

#[test]
fn a_set_is_reset_once_in_each_recording_before_the_pass() {
    let (mut gpu, control) = executing();
    let scene = Scene::new(&mut gpu);
    let queries = set(&mut gpu, QueryType::Occlusion, 8);
    let slot = queries.slot();
    let colors = scene.colors();
    let desc = RenderPassDesc { occlusion_query_set: Some(*queries), ..pass(&colors, &[]) };
    for _ in 0..2 {
        control.take_log();
        let mut recorder = gpu.record("frame").unwrap();
        for index in [5, 2] {
            recorder
                .render_pass(&desc, |pass| {
                    pass.begin_occlusion_query(index);
                    pass.end_occlusion_query();
                })
                .unwrap();
        }
        recorder.submit().unwrap();
        let words: Vec<_> = commands(&control)
            .into_iter()
            .filter_map(|command| match command {
                NullCommand::ResetQueries { query_set, first, count } => {
                    Some(format!("reset {query_set}: {first}, {count}"))
                }
                NullCommand::BeginRenderPass(pass) => {
                    assert_eq!(pass.occlusion_query_set, Some(slot));
                    Some("pass".into())
                }
                NullCommand::BeginQuery { query, index, .. } => Some(format!("begin {query:?} {index}")),
                NullCommand::EndQuery { query, index, .. } => Some(format!("end {query:?} {index}")),
                _ => None,
            })
            .collect();
        let occlusion = NativeQuery::Occlusion;
        let expected = [
            format!("reset {slot}: 0, 8"),
            "pass".into(),
            format!("begin {occlusion:?} 5"),
            format!("end {occlusion:?} 5"),
            "pass".into(),
            format!("begin {occlusion:?} 2"),
            format!("end {occlusion:?} 2"),
        ];
        assert_eq!(words, expected);
    }
    control.take_log();
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass(&pass(&colors, &[]), |_| {}).unwrap();
    recorder.submit().unwrap();
    let reset = commands(&control).iter().any(|command| matches!(command, NullCommand::ResetQueries { .. }));
    assert!(!reset, "a pass without queries has nothing to do with them");
}

#[test]
fn what_a_body_leaves_open_is_ended_natively() {
    // The null backend panics on a pass that ends with an open query.
    let (mut gpu, _control) = executing();
    let scene = Scene::new(&mut gpu);
    let occlusion = set(&mut gpu, QueryType::Occlusion, 2);
    let statistics = QueryType::PipelineStatistics(PipelineStatisticsTypes::all());
    let statistics = set(&mut gpu, statistics, 2);
    let colors = scene.colors();
    let desc = RenderPassDesc {
        occlusion_query_set: Some(*occlusion),
        pipeline_statistics_query_set: Some(*statistics),
        ..pass(&colors, &[])
    };
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.render_pass(&desc, |pass| {
        pass.begin_occlusion_query(0);
        pass.begin_pipeline_statistics_query(1);
    });
    wrong_state(result, &["each statistics query ended in the pass that begins it"]);
    drop(recorder);
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.render_pass_planned(&desc, &[], |mut pass| {
        pass.begin_occlusion_query(0);
        pass.next_part("second");
        pass.end_occlusion_query();
        pass.end()
    });
    wrong_state(result, &["pass \"pass\"", "each occlusion query ended in the pass that begins it"]);
    drop(recorder);
    let desc = ComputePassDesc {
        label: "compute",
        pipeline_statistics_query_set: Some(*statistics),
        ..Default::default()
    };
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.compute_pass(&desc, |pass| pass.begin_pipeline_statistics_query(0));
    wrong_state(result, &["pass \"compute\", end", "query 0 is open"]);
}

#[test]
fn results_have_a_state_at_every_time() {
    let (mut gpu, control) = manual();
    let scene = Scene::new(&mut gpu);
    let queries = set(&mut gpu, QueryType::Occlusion, 4);
    let colors = scene.colors();
    let desc = RenderPassDesc { occlusion_query_set: Some(*queries), ..pass(&colors, &[]) };
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&desc, |pass| {
            pass.begin_occlusion_query(3);
            pass.set_pipeline(*scene.pipeline.pipeline);
            pass.draw(0..3, 0..1);
            pass.end_occlusion_query();
            pass.begin_occlusion_query(1);
            pass.end_occlusion_query();
        })
        .unwrap();
    let ticket = recorder.read_queries(*queries, 1..4).unwrap();
    let submitted = recorder.submit().unwrap();
    assert_eq!(gpu.read_queries(&ticket), Ok(vec![QueryState::Pending; 3]));
    assert_eq!(gpu.is_complete(submitted), Ok(false));
    let mut short = [UNAVAILABLE; 2];
    invalid(gpu.read_queries_into(&ticket, &mut short), "out", &["3 states", "found 2"]);
    control.complete_all();
    assert_eq!(gpu.read_queries(&ticket), Ok(vec![seen(false), UNAVAILABLE, seen(true)]));
    wrong_state(gpu.read_queries(&ticket), &["delivered already"]);
    assert_eq!(gpu.readbacks().outstanding(), 0);

    // Two recordings: an open one hides its device, so the state before submission is seen with one that was forgotten.
    let mut other = plain();
    bad_handle(other.read_queries(&ticket), HandleProblem::Foreign);
    let mut recorder = gpu.record("given up").unwrap();
    let ticket = recorder.read_queries(*queries, 0..1).unwrap();
    std::mem::forget(recorder);
    assert_eq!(gpu.read_queries(&ticket), Ok(vec![QueryState::NotSubmitted]));
    drop(gpu.record("next").unwrap());
    wrong_state(gpu.read_queries(&ticket), &["its recording was discarded"]);
    control.lose_now();
    assert!(matches!(gpu.read_queries(&ticket), Err(Error::DeviceLost { .. })));
}

#[test]
fn c078_what_was_never_written_is_not_waited_for() {
    // The null backend panics on a copy of a query without a value, where a GPU would wait for ever.
    let (mut gpu, control) = executing();
    let times = set(&mut gpu, QueryType::Timestamp, 4);
    let untouched = set(&mut gpu, QueryType::Timestamp, 3);
    control.set_clock(100, 7);
    let writes = PassTimestampWrites {
        query_set: *times,
        beginning_of_pass_write_index: Some(0),
        end_of_pass_write_index: Some(2),
    };
    let desc = ComputePassDesc { label: "c", timestamp_writes: Some(writes), ..Default::default() };
    let mut recorder = gpu.record("frame").unwrap();
    recorder.compute_pass(&desc, |_| {}).unwrap();
    let some = recorder.read_queries(*times, 0..4).unwrap();
    let none = recorder.read_queries(*untouched, 0..3).unwrap();
    recorder.submit().unwrap();
    let value = |ticks| QueryState::Value(QueryValue::Timestamp(ticks));
    assert_eq!(gpu.read_queries(&some), Ok(vec![value(107), UNAVAILABLE, value(114), UNAVAILABLE]));
    assert_eq!(gpu.read_queries(&none), Ok(vec![UNAVAILABLE; 3]));
    // Values are of the recording that wrote them.
    let mut recorder = gpu.record("later").unwrap();
    let later = recorder.read_queries(*times, 0..1).unwrap();
    recorder.submit().unwrap();
    assert_eq!(gpu.read_queries(&later), Ok(vec![UNAVAILABLE]));
}

#[test]
fn ranges_that_are_read_lie_in_the_set() {
    let (mut gpu, _control) = executing();
    let queries = set(&mut gpu, QueryType::Occlusion, 4);
    let stale = set(&mut gpu, QueryType::Occlusion, 4).leak();
    gpu.destroy(stale).unwrap();
    #[allow(clippy::reversed_empty_ranges)]
    for range in [0..0, 3..5, 4..5, 2..1, u32::MAX..u32::MAX] {
        let result = gpu.checked(|gpu| gpu.record("frame")?.read_queries(*queries, range).map(|_| ()));
        invalid(result, "range", &["read_queries", "some of the 4 queries of query set \"set\""]);
    }
    let result = gpu.checked(|gpu| gpu.record("frame")?.read_queries(stale, 0..1).map(|_| ()));
    bad_handle(result, HandleProblem::Stale);
}

#[test]
fn results_need_staging_like_any_readback() {
    let storage = StorageCeilings { readback: 256, ..StorageCeilings::default() };
    let (mut gpu, control) = device_with(NullConfig::manual(), storage);
    control.set_wait_completes(false);
    let queries = set(&mut gpu, QueryType::Occlusion, 64);
    let result = gpu.checked(|gpu| gpu.record("frame")?.read_queries(*queries, 0..64).map(|_| ()));
    assert!(
        matches!(&result, Err(Error::CapacityExceeded { requested: 512, capacity: 256, .. })),
        "{result:?}"
    );
    let mut recorder = gpu.record("frame").unwrap();
    let ticket = recorder.read_queries(*queries, 0..4).unwrap();
    recorder.submit().unwrap();
    let result = gpu.checked(|gpu| gpu.record("frame")?.read_queries(*queries, 0..4).map(|_| ()));
    assert!(matches!(&result, Err(Error::Pending { .. })), "{result:?}");
    // Given up, the staging is free when the GPU is done.
    drop(ticket);
    control.complete_all();
    gpu.maintain().unwrap();
    assert_eq!(gpu.readbacks().outstanding(), 0);
    assert!(gpu.record("frame").unwrap().read_queries(*queries, 0..4).is_ok());
}

#[test]
fn statistics_count_what_is_between_begin_and_end() {
    let (mut gpu, _control) = executing();
    let scene = Scene::new(&mut gpu);
    let counted = PipelineStatisticsTypes::VERTEX_SHADER_INVOCATIONS
        | PipelineStatisticsTypes::FRAGMENT_SHADER_INVOCATIONS;
    let statistics = set(&mut gpu, QueryType::PipelineStatistics(counted), 70);
    let colors = scene.colors();
    let desc = RenderPassDesc { pipeline_statistics_query_set: Some(*statistics), ..pass(&colors, &[]) };
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&desc, |pass| {
            pass.set_pipeline(*scene.pipeline.pipeline);
            pass.draw(0..3, 0..1);
            for (query, draws) in [(68, 2), (0, 5), (1, 0)] {
                pass.begin_pipeline_statistics_query(query);
                (0..draws).for_each(|_| pass.draw(0..3, 0..1));
                pass.end_pipeline_statistics_query();
            }
        })
        .unwrap();
    let ticket = recorder.read_queries(*statistics, 0..70).unwrap();
    recorder.submit().unwrap();
    let states = gpu.read_queries(&ticket).unwrap();
    // This backend counts draws, whatever is asked for.
    let value = |draws| {
        QueryState::Value(QueryValue::PipelineStatistics(PipelineStatistics {
            vertex_shader_invocations: Some(draws),
            fragment_shader_invocations: Some(draws),
            ..Default::default()
        }))
    };
    assert_eq!((states[0], states[1], states[68]), (value(5), value(0), value(2)));
    let unavailable = states.iter().filter(|state| **state == UNAVAILABLE).count();
    assert_eq!((states.len(), unavailable), (70, 67));
}

#[test]
fn a_set_may_go_while_its_results_are_awaited() {
    let (mut gpu, control) = manual();
    let scene = Scene::new(&mut gpu);
    let queries = set(&mut gpu, QueryType::Occlusion, 1);
    let colors = scene.colors();
    let desc = RenderPassDesc { occlusion_query_set: Some(*queries), ..pass(&colors, &[]) };
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&desc, |pass| {
            pass.begin_occlusion_query(0);
            pass.end_occlusion_query();
        })
        .unwrap();
    let ticket = recorder.read_queries(*queries, 0..1).unwrap();
    drop(queries);
    recorder.submit().unwrap();
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::QuerySet), 1, "the GPU still uses it");
    control.complete_all();
    assert_eq!(gpu.read_queries(&ticket), Ok(vec![seen(false)]));
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::QuerySet), 0);
}
