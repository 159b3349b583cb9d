//! C5: passes with queries. What is read keeps them alive, and merging keeps their boundaries.

use purlin_rhi::null::NullCommand;
use purlin_rhi::types::{PipelineStatisticsTypes, QueryType};
use purlin_rhi::{
    Owned, PassTimestampWrites, PipelineStatistics, QuerySet, QuerySetDesc, QueryState, QueryTicket,
    QueryValue, ResourceKind, kind,
};

use super::*;
use crate::TextureVersion;

fn set(fixture: &mut Fixture, ty: QueryType, count: u32) -> Owned<kind::QuerySet> {
    fixture.device.create_query_set(&QuerySetDesc { label: "set", ty, count }).unwrap()
}

fn seen(any: bool) -> QueryState {
    QueryState::Value(QueryValue::Occlusion(any))
}

/// Declares passes over a scene that is read back; the merged passes, and what was drawn natively.
fn merged(
    declare: impl FnOnce(&mut Graph<'_, Null>, &mut TextureVersion, &mut Fixture, Handles),
) -> (u32, usize) {
    let (mut fixture, handles, mut arena) = setup();
    arena.options().merge = true;
    fixture.control.take_log();
    let mut graph = Graph::new("frame", &mut arena);
    let mut scene = target(&mut graph, "scene");
    declare(&mut graph, &mut scene, &mut fixture, handles);
    graph.read_texture(&scene);
    let merged = graph.submit(&mut fixture.device).unwrap().stats.merged;
    let log = fixture.control.take_log();
    let commands = log.iter().flat_map(|submission| submission.commands());
    (merged, commands.filter(|command| matches!(command, NullCommand::BeginRenderPass(_))).count())
}

#[test]
fn c080_balanced_queries_merge_and_each_counts_its_own() {
    let (mut fixture, handles, mut arena) = setup();
    arena.options().merge = true;
    let queries = set(&mut fixture, QueryType::Occlusion, 4);
    for reused in [false, true] {
        let mut graph = Graph::new("frame", &mut arena);
        let mut scene = target(&mut graph, "scene");
        for (index, draws) in [(0, 1), (1, 0), (2, 3)] {
            let load = if index == 0 { BLACK } else { LoadOp::Load };
            let pass = graph.render("layer").color(0, &mut scene, load).occlusion_queries(*queries);
            pass.record(move |pass| {
                pass.set_pipeline(handles.color);
                pass.begin_occlusion_query(index);
                (0..draws).for_each(|_| pass.draw(0..3, 0..1));
                pass.end_occlusion_query();
                pass.draw(0..3, 0..1);
            });
        }
        let read = graph.read_queries(*queries, 0..4);
        let mut submitted = graph.submit(&mut fixture.device).unwrap();
        assert_eq!((submitted.stats.merged, submitted.stats.reused), (2, reused));
        let ticket: QueryTicket = submitted.take_queries(read).unwrap();
        assert!(submitted.take_queries(read).is_none(), "taken once");
        let expected = vec![seen(true), seen(false), seen(true), QueryState::Unavailable];
        assert_eq!(fixture.device.read_queries(&ticket), Ok(expected));
    }
}

#[test]
fn c080_a_query_ends_in_the_pass_that_begins_it() {
    let (mut fixture, _handles, mut arena) = setup();
    let queries = set(&mut fixture, QueryType::Occlusion, 4);
    for merge in [false, true] {
        arena.options().merge = merge;
        let mut graph = Graph::new("frame", &mut arena);
        let mut scene = target(&mut graph, "scene");
        let first = graph.render("first").color(0, &mut scene, BLACK).occlusion_queries(*queries);
        first.record(|pass| pass.begin_occlusion_query(0));
        let second = graph.render("second").color(0, &mut scene, LoadOp::Load).occlusion_queries(*queries);
        second.record(|pass| pass.end_occlusion_query());
        graph.read_queries(*queries, 0..1);
        let error = graph.submit(&mut fixture.device).unwrap_err();
        let text = format!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string));
        assert!(text.contains("ended in the pass that begins it") && text.contains("first"), "{text}");
    }
}

#[test]
fn passes_of_other_sets_are_not_merged() {
    let layer =
        |graph: &mut Graph<'_, Null>, scene: &mut TextureVersion, load, sets: [Option<QuerySet>; 2]| {
            let mut pass = graph.render("layer").color(0, scene, load);
            if let Some(set) = sets[0] {
                pass = pass.occlusion_queries(set);
            }
            if let Some(set) = sets[1] {
                pass = pass.pipeline_statistics_queries(set);
            }
            pass.clear();
        };
    let of = |first: [usize; 2], second: [usize; 2]| {
        merged(|graph, scene, fixture, _| {
            let statistics = QueryType::PipelineStatistics(PipelineStatisticsTypes::all());
            let all = [
                [None, None],
                [QueryType::Occlusion, statistics].map(|ty| Some(set(fixture, ty, 1).leak())),
                [QueryType::Occlusion, statistics].map(|ty| Some(set(fixture, ty, 1).leak())),
            ];
            let sets = |which: [usize; 2]| [all[which[0]][0], all[which[1]][1]];
            layer(graph, scene, BLACK, sets(first));
            layer(graph, scene, LoadOp::Load, sets(second));
        })
    };
    assert_eq!(of([0, 0], [0, 0]), (1, 1));
    assert_eq!(of([1, 0], [1, 0]), (1, 1), "the same set");
    assert_eq!(of([1, 1], [1, 1]), (1, 1), "the same sets");
    assert_eq!(of([1, 0], [0, 0]), (0, 2), "a set and none");
    assert_eq!(of([0, 0], [1, 0]), (0, 2), "none and a set");
    assert_eq!(of([1, 0], [2, 0]), (0, 2), "another set");
    assert_eq!(of([1, 1], [1, 2]), (0, 2), "other statistics");
}

#[test]
fn timestamps_keep_a_pass_by_itself() {
    let (count, passes) = merged(|graph, scene, fixture, _| {
        let times = set(fixture, QueryType::Timestamp, 2).leak();
        let writes = PassTimestampWrites {
            query_set: times,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        };
        graph.render("before").color(0, scene, BLACK).clear();
        graph.render("timed").color(0, scene, LoadOp::Load).timestamp_writes(writes).clear();
        graph.render("after").color(0, scene, LoadOp::Load).clear();
    });
    assert_eq!((count, passes), (0, 3));
}

#[test]
fn what_is_read_keeps_its_passes_alive() {
    let (mut fixture, handles, mut arena) = setup();
    let read = set(&mut fixture, QueryType::Occlusion, 1);
    let unread = set(&mut fixture, QueryType::Occlusion, 1);
    let mut frame = |reads: bool| {
        let mut graph = Graph::new("frame", &mut arena);
        let mut scene = target(&mut graph, "scene");
        let mut other = target(&mut graph, "other");
        graph.render("read").color(0, &mut scene, BLACK).occlusion_queries(*read).clear();
        graph.render("unread").color(0, &mut other, BLACK).occlusion_queries(*unread).clear();
        if reads {
            graph.read_queries(*read, 0..1);
        }
        let submitted = graph.submit(&mut fixture.device).unwrap();
        let reused = submitted.stats.reused;
        drop(submitted);
        (live(&arena).join(" "), reused)
    };
    assert_eq!(frame(false), (String::new(), false));
    assert_eq!(frame(true), ("read".into(), false), "another structure");
    assert_eq!(frame(true), ("read".into(), true));
    assert_eq!(frame(false), (String::new(), false));
    let report = {
        let mut graph = Graph::new("frame", &mut arena);
        let mut scene = target(&mut graph, "scene");
        graph.render("read").color(0, &mut scene, BLACK).occlusion_queries(*read).draw(
            handles.color,
            0..3,
            0..1,
        );
        graph.read_queries(*read, 0..1);
        graph.submit(&mut fixture.device).unwrap().take_report().unwrap()
    };
    assert_eq!(report.passes[0].why, "its queries are read");
}

#[test]
fn compute_passes_have_statistics_and_timestamps() {
    let (mut fixture, handles, mut arena) = setup();
    let counted = PipelineStatisticsTypes::COMPUTE_SHADER_INVOCATIONS;
    let statistics = set(&mut fixture, QueryType::PipelineStatistics(counted), 1);
    let times = set(&mut fixture, QueryType::Timestamp, 1);
    fixture.control.set_clock(0, 5);
    let mut graph = Graph::new("frame", &mut arena);
    let mut data = graph.buffer("data", TransientBuffer::new(16));
    let writes = PassTimestampWrites {
        query_set: *times,
        beginning_of_pass_write_index: None,
        end_of_pass_write_index: Some(0),
    };
    graph
        .compute("counted")
        .bind(0, handles.write, [bind::storage(&mut data)])
        .pipeline_statistics_queries(*statistics)
        .timestamp_writes(writes)
        .record(move |pass| {
            pass.set_pipeline(handles.compute);
            pass.begin_pipeline_statistics_query(0);
            pass.dispatch([1, 1, 1]);
            pass.dispatch([2, 1, 1]);
            pass.end_pipeline_statistics_query();
        });
    let counts = graph.read_queries(*statistics, 0..1);
    let stamps = graph.read_queries(*times, 0..1);
    let mut submitted = graph.submit(&mut fixture.device).unwrap();
    let ticket = submitted.take_queries(counts).unwrap();
    let statistics =
        PipelineStatistics { compute_shader_invocations: Some(2), ..PipelineStatistics::default() };
    let expected = vec![QueryState::Value(QueryValue::PipelineStatistics(statistics))];
    assert_eq!(fixture.device.read_queries(&ticket), Ok(expected));
    let ticket = submitted.take_queries(stamps).unwrap();
    let expected = vec![QueryState::Value(QueryValue::Timestamp(5))];
    assert_eq!(fixture.device.read_queries(&ticket), Ok(expected));
}

#[test]
fn a_range_that_cannot_be_read_refuses_the_graph() {
    let (mut fixture, _handles, mut arena) = setup();
    let queries = set(&mut fixture, QueryType::Occlusion, 1);
    let mut graph: Graph<'_, Null> = Graph::new("frame", &mut arena);
    graph.read_queries(*queries, 0..2);
    let error = graph.submit(&mut fixture.device).unwrap_err();
    assert!(matches!(&error, GraphError::Device { .. }), "{error:?}");
    assert_eq!(fixture.device.readbacks().outstanding(), 0);
    assert_eq!(fixture.control.live(ResourceKind::QuerySet), 1);
}
