//! Dispatches, barriers between them, and the canary that shows that a missing barrier is seen.

mod common;

use common::{Gpu, memory, open, shader, state, storage};
use purlin_rhi::backend::{Backend, Dirty, Dispatch, Encoder, NativeBinding};
use purlin_rhi::caps::Features;
use purlin_rhi::desc::{MemoryClass, QuerySetDesc};
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::{BufferUsages, QueryType, ShaderStages};

const CHAIN: &str = "
    struct Immediates { factor: u32, bias: u32 }
    var<immediate> immediates: Immediates;
    @group(0) @binding(0) var<storage, read> input: array<u32>;
    @group(0) @binding(1) var<storage, read_write> output: array<u32>;
    @compute @workgroup_size(64)
    fn step(@builtin(global_invocation_id) id: vec3<u32>) {
        output[id.x] = input[id.x] * immediates.factor + immediates.bias;
    }";

const A: u32 = 0;
const B: u32 = 1;
const READBACK: u32 = 2;
const ARGUMENTS: u32 = 3;
/// Half of each storage buffer, so that the second half is reached by a dynamic offset.
const HALF: u64 = 1024;

fn set_up(gpu: &mut Gpu) {
    gpu.create_shader_module(0, &shader(CHAIN)).expect("module");
    gpu.create_bind_group_layout(0, "chain", &[storage(0, true, true), storage(1, false, true)])
        .expect("layout");
    gpu.create_pipeline_layout(0, "chain", &[0], 8).expect("pipeline layout");
    gpu.compute_pipeline(0, 0, 0, "step");
    for slot in [A, B] {
        gpu.buffer(slot, 2 * HALF, BufferUsages::STORAGE, MemoryClass::Device);
    }
    gpu.buffer(READBACK, 2 * HALF, BufferUsages::COPY_DST, MemoryClass::Readback);
    gpu.uploaded(ARGUMENTS, &[0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], BufferUsages::INDIRECT);
    for (slot, from, to) in [(0, A, B), (1, B, A)] {
        let bind = |buffer| NativeBinding::Buffer { buffer, offset: 0, size: HALF };
        gpu.create_bind_group(slot, "chain", 0, &[bind(from), bind(to)]).expect("group");
    }
}

/// B = A * 0 + 7 by a direct dispatch, then the second half of A = B * 3 + 1 by an indirect one.
fn run(gpu: &mut Gpu, barrier_between: bool) -> Vec<u32> {
    set_up(gpu);
    let mut encoder = gpu.begin("chain").expect("encoder");
    let write = BufferUse::StorageWrite(ShaderStages::COMPUTE);
    encoder.clear_buffer(gpu, A, 0, 2 * HALF);
    memory(&mut encoder, gpu, BufferUse::CopyDst, write);
    encoder.begin_compute_pass(gpu, "pass", None);
    let mut state = state();
    state.groups[0].native = gpu.native_group(0);
    state.groups[0].offset_count = 2;
    state.immediates[4] = 7;
    state.dirty_immediates = (0, 8);
    let all = Dirty::PIPELINE | Dirty::GROUP0 | Dirty::IMMEDIATES;
    encoder.dispatch(gpu, all, &state, Dispatch::Direct([4, 1, 1]));
    if barrier_between {
        memory(&mut encoder, gpu, write, write);
    }
    state.groups[0].native = gpu.native_group(1);
    state.groups[0].offsets[1] = HALF as u32;
    state.immediates[0] = 3;
    state.immediates[4] = 1;
    state.dirty_immediates = (0, 5);
    let changed = Dirty::GROUP0 | Dirty::IMMEDIATES;
    encoder.dispatch(gpu, changed, &state, Dispatch::Indirect { buffer: ARGUMENTS, offset: 4 });
    encoder.end_compute_pass(gpu);
    memory(&mut encoder, gpu, write, BufferUse::CopySrc);
    encoder.copy_buffer(gpu, A, 0, READBACK, 0, 2 * HALF);
    memory(&mut encoder, gpu, BufferUse::CopyDst, BufferUse::HostRead);
    gpu.finish(encoder);
    gpu.read_u32(READBACK, 512)
}

#[test]
fn a_chain_of_dispatches_gives_the_values() {
    let Some(mut gpu) = open("chain", Features::empty()) else { return };
    let values = run(&mut gpu, true);
    assert!(values[..256].iter().all(|&value| value == 0));
    assert!(values[256..].iter().all(|&value| value == 22), "{:?}", &values[256..264]);
}

/// Without this, the silence of every other test would prove nothing.
#[test]
fn canary_a_missing_barrier_is_reported() {
    let Some(mut gpu) = open("canary", Features::empty()) else { return };
    if !gpu.validated {
        return println!("canary: skipped: no validation layer");
    }
    run(&mut gpu, false);
    let texts = gpu.provoked();
    assert!(
        texts.iter().any(|text| text.contains("SYNC-HAZARD")),
        "synchronization validation is blind: {texts:?}"
    );
}

#[test]
fn encoders_come_back_and_ordinals_advance() {
    let Some(mut gpu) = open("encoders", Features::empty()) else { return };
    set_up(&mut gpu);
    assert_eq!(gpu.completed(), Ok(0));
    let wait = std::time::Duration::from_secs(60);
    for ordinal in 1..=50 {
        let given_up = gpu.begin("given up").expect("encoder");
        let mut encoders = Vec::new();
        for _ in 0..ordinal % 3 {
            let mut encoder = gpu.begin("fill").expect("encoder");
            encoder.push_label(&gpu, "region");
            encoder.pop_label(&gpu);
            encoders.push(encoder);
        }
        gpu.discard(given_up);
        gpu.submit(&mut encoders, ordinal, &[]).expect("submit");
        assert!(encoders.is_empty());
        assert!(gpu.completed().expect("alive") <= ordinal);
    }
    assert_eq!(gpu.wait(50, wait), Ok(true));
    assert_eq!(gpu.completed(), Ok(50));
    // An ordinal that was never submitted does not come.
    assert_eq!(gpu.wait(51, std::time::Duration::from_millis(1)), Ok(false));
}

#[test]
fn timestamps_rise_and_are_absent_before_they_are_written() {
    let Some(mut gpu) = open("timestamps", Features::TIMESTAMP_QUERY) else { return };
    if !gpu.capabilities().features.contains(Features::TIMESTAMP_QUERY) {
        assert_eq!(gpu.capabilities().timestamp_period, 0.0);
        return println!("timestamps: skipped: the adapter has none");
    }
    assert!(gpu.capabilities().timestamp_period > 0.0);
    gpu.create_query_set(0, &QuerySetDesc { label: "times", ty: QueryType::Timestamp, count: 40 })
        .expect("query set");
    let mut out = [Some(1); 40];
    gpu.read_timestamps(0, 0, &mut out);
    assert_eq!(out, [None; 40]);
    for _ in 0..2 {
        let mut encoder = gpu.begin("times").expect("encoder");
        for index in 0..39 {
            encoder.write_timestamp(&gpu, 0, index);
        }
        gpu.finish(encoder);
        gpu.read_timestamps(0, 0, &mut out);
        assert!(out[..39].iter().all(Option::is_some));
        assert!(out[..39].is_sorted());
        assert_eq!(out[39], None);
        gpu.reset_queries(0, 0, 40);
    }
}
