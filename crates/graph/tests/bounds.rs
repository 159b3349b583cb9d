//! What `IndirectBounds` refuses and what it costs, on the null backend. What it does to arguments is in the conformance
//! fixtures.
#![cfg(feature = "bounds")]

mod common;

use common::Fixture;
use purlin_graph::{ArgumentBounds, Graph, GraphArena, IndirectBounds, TransientBuffer};
use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::{Device, DeviceRequest, Error, Features, Limits, ResourceKind};

fn open(config: NullConfig) -> Device<Null> {
    let request = DeviceRequest { required_limits: config.limits.clone(), ..Default::default() };
    Device::from_backend(Null::new(config), &request).unwrap()
}

/// The capability that a device lacks for the service; nothing is left behind.
fn lacking(config: NullConfig) -> String {
    let mut device = open(config);
    let error = IndirectBounds::new(&mut device).unwrap_err();
    for kind in [ResourceKind::BindGroupLayout, ResourceKind::PipelineLayout, ResourceKind::ShaderModule] {
        assert_eq!(device.object_count(kind), 0);
    }
    match error {
        Error::Unsupported { capability, .. } => capability,
        other => panic!("{other}"),
    }
}

#[test]
fn devices_without_compute_are_told_so() {
    let config = NullConfig { limits: Limits::webgl2(), ..NullConfig::default() };
    assert_eq!(lacking(config), "limit max_storage_buffers_per_stage");
    let features = Features::all() - Features::INDIRECT_EXECUTION;
    assert_eq!(lacking(NullConfig { features, ..NullConfig::default() }), "feature INDIRECT_EXECUTION");
}

#[test]
fn impossible_bounds_are_refused() {
    let mut device = open(NullConfig::default());
    let service = IndirectBounds::new(&mut device).unwrap();
    let most = device.limits().max_workgroups_per_dimension;
    let binding = device.limits().max_storage_binding_size;
    let draw = ArgumentBounds::draw(3, 1);
    let cases = [
        (ArgumentBounds::dispatch(most + 1), "limit max_workgroups_per_dimension"),
        (draw.at(2), "invalid offset: expected a multiple of 4, found 2"),
        (draw.at(u64::MAX - 3), "invalid offset"),
        (draw.at(binding - 12), "invalid offset"),
        (draw.many(0, 16), "invalid count: expected 1 to"),
        (draw.many(u32::MAX, 16), "invalid count: expected 1 to"),
        (draw.many(2, 18), "invalid stride: expected a multiple of 4, at least 16, found 18"),
        (draw.many(2, 12), "invalid stride: expected a multiple of 4, at least 16, found 12"),
        (ArgumentBounds::draw_indexed(3, 1).many(2, 16), "at least 20, found 16"),
    ];
    for (bounds, expected) in cases {
        let error = service.limits(&mut device, bounds).unwrap_err().to_string();
        assert!(error.contains(expected) && error.starts_with("indirect bounds"), "{error}");
    }
    assert_eq!(device.frame_arena().pages(), 0, "a refused call has used frame memory");
    let _ = service.limits(&mut device, draw.at(binding - 16)).unwrap();
    assert_eq!(device.frame_arena().pages(), 1);
}

#[test]
fn warm_frames_create_nothing() {
    let mut fixture = Fixture::new(NullConfig::default());
    let handles = fixture.handles();
    let service = IndirectBounds::new(&mut fixture.device).unwrap();
    let mut arena = GraphArena::new();
    let mut created = Vec::new();
    for frame in 1..=5 {
        // Other bounds at another offset of the frame arena: no other bind group.
        let _ = fixture.device.push_frame_data(&vec![0; 256 * frame], 16).unwrap();
        let bounds = ArgumentBounds::dispatch(frame as u32);
        let limits = service.limits(&mut fixture.device, bounds).unwrap();
        let mut graph = Graph::new("frame", &mut arena);
        let mut arguments = graph.buffer("arguments", TransientBuffer::new(12));
        graph.clear_buffer("write", &mut arguments);
        service.hold(&mut graph, "hold", limits, &mut arguments);
        graph.compute("work").side_effect().dispatch_indirect(handles.compute, &arguments, 0);
        let submitted = graph.submit(&mut fixture.device).unwrap();
        assert_eq!((submitted.stats.passes, submitted.stats.culled), (3, 0));
        // Clear to storage, and storage to arguments.
        assert_eq!(submitted.stats.memory_barriers, if frame == 1 { 2 } else { 3 });
        created.push(submitted.stats.created);
    }
    // The frame arena's two pages take turns, and each has its group.
    assert_eq!(created[2..], [0; 3]);
    assert!(created[0] > 0);
}
