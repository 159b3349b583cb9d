//! What the log says, and that it says nothing when it is off.

use super::*;
use crate::backend::{Dirty, Dispatch, Draw};
use crate::plan::{Access, MemoryBarrier, Stages};

#[test]
fn the_log_is_exact() {
    let mut null = Null::new(NullConfig { log: true, ..NullConfig::default() });
    let control = null.control();
    pipelines(&mut null);
    for slot in 0..4 {
        buffer(&mut null, slot, 64, MemoryClass::Device);
    }
    null.create_bind_group_layout(0, "gl", &[]).unwrap();
    null.create_bind_group(5, "g", 0, &[]).unwrap();
    let mut state = bind_state();
    state.groups[1].native = 5;
    state.groups[1].offset_count = 2;
    state.groups[1].offsets[..2].copy_from_slice(&[256, 512]);
    state.vertex_buffers.set(3, BoundBuffer { native: 2, offset: 16, size: 48 });
    state.dirty_vertex_buffers = 1 << 3;
    state.index_buffer = BoundBuffer { native: 1, offset: 4, size: 12 };
    state.immediates[8..12].copy_from_slice(&[1, 2, 3, 4]);
    state.dirty_immediates = (8, 12);
    let dirty = Dirty::PIPELINE
        | Dirty::VIEWPORT
        | Dirty::SCISSOR
        | Dirty::group(1)
        | Dirty::VERTEX_BUFFERS
        | Dirty::INDEX_BUFFER
        | Dirty::IMMEDIATES;
    let draw = Draw::Indexed { indices: 6, instances: 1, first_index: 0, base_vertex: 0, first_instance: 0 };
    let again = Draw::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0 };
    let memory = MemoryBarrier {
        src: Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE),
        dst: Scope::new(Stages::VERTEX_INPUT, Access::VERTEX_READ),
    };
    submit(&mut null, |encoder, null| {
        encoder.push_label(null, "frame");
        encoder.clear_buffer(null, 0, 0, 64);
        encoder.copy_buffer(null, 0, 0, 2, 32, 16);
        encoder.barriers(null, BarrierBatch { memory: &[memory], textures: &[] });
        encoder.begin_render_pass(null, &empty_pass());
        encoder.draw(null, dirty, &state, draw);
        encoder.draw(null, Dirty::empty(), &state, again);
        encoder.end_render_pass(null);
        encoder.begin_compute_pass(null, "c", None);
        encoder.dispatch(null, Dirty::PIPELINE, &state, Dispatch::Direct([1, 2, 3]));
        encoder.end_compute_pass(null);
        encoder.pop_label(null);
    });
    let log = control.take_log();
    let first = NullState {
        layout: Some(0),
        groups: vec![NullGroup { index: 1, slot: 5, offsets: vec![256, 512] }],
        vertex_buffers: vec![NullBuffer { index: 3, slot: 2, offset: 16, size: 48 }],
        index_buffer: Some((NullBuffer { index: 0, slot: 1, offset: 4, size: 12 }, IndexFormat::Uint16)),
        viewport: Some(state.viewport),
        scissor: Some(state.scissor),
        immediates: Some((8, vec![1, 2, 3, 4])),
        ..NullState::default()
    };
    let pipeline_only = NullState { layout: Some(0), ..NullState::default() };
    let commands = vec![
        NullCommand::PushLabel("frame".into()),
        NullCommand::ClearBuffer { buffer: 0, offset: 0, size: 64 },
        NullCommand::CopyBuffer { src: 0, src_offset: 0, dst: 2, dst_offset: 32, size: 16 },
        NullCommand::Barriers { memory: vec![memory], textures: vec![] },
        NullCommand::BeginRenderPass((&empty_pass()).into()),
        NullCommand::Draw { dirty, pipeline: 0, changed: Box::new(first), draw },
        NullCommand::Draw { dirty: Dirty::empty(), pipeline: 0, changed: Box::default(), draw: again },
        NullCommand::EndRenderPass,
        NullCommand::BeginComputePass("c".into()),
        NullCommand::Dispatch {
            dirty: Dirty::PIPELINE,
            pipeline: 0,
            changed: Box::new(pipeline_only),
            dispatch: Dispatch::Direct([1, 2, 3]),
        },
        NullCommand::EndComputePass,
        NullCommand::PopLabel,
    ];
    let encoders = vec![EncoderLog { label: "e".into(), commands }];
    assert_eq!(log, [Submission { ordinal: 1, encoders }]);
    assert_eq!(log[0].commands().count(), 12);
    assert!(control.take_log().is_empty());
    assert_eq!(control.submitted(), [1]);
}

#[test]
fn without_a_log_calls_are_counted_and_encoders_reused() {
    let mut null = Null::new(NullConfig::default());
    let control = null.control();
    buffer(&mut null, 0, 64, MemoryClass::Device);
    let before = control.calls();
    for _ in 0..3 {
        let mut encoder = null.begin("e").unwrap();
        assert_eq!(control.open_encoders(), 1);
        assert_eq!(encoder.calls(), 0);
        encoder.clear_buffer(&null, 0, 0, 64);
        encoder.push_label(&null, "l");
        encoder.pop_label(&null);
        let ordinal = control.last_submitted() + 1;
        null.submit(&mut vec![encoder], ordinal, &[]).unwrap();
    }
    let encoder = null.begin("e").unwrap();
    null.discard(encoder);
    assert_eq!(control.calls() - before, 3 * 5 + 2);
    assert_eq!((control.open_encoders(), control.completed(), control.last_submitted()), (0, 3, 3));
    assert!(control.take_log().is_empty() && control.submitted().is_empty());
    assert_eq!(null.shared.lock().pool.len(), 1);
}
