//! GPU timing (Q1): each state, the counter that comes round, and what the driver does not have.

use purlin_rhi::null::NullConfig;
use purlin_rhi::*;

use crate::support::*;

fn timed(valid_bits: Option<u32>, tick: f32) -> (Gpu, null::NullControl) {
    let config = NullConfig {
        timestamp_valid_bits: valid_bits,
        timestamp_period: tick,
        wait_completes: false,
        ..NullConfig::manual()
    };
    let (mut gpu, control) = device(config);
    let token = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(token, true);
    (gpu, control)
}

/// Submits a frame of passes of these labels.
fn frame(gpu: &mut Gpu, labels: &[&str]) -> SubmissionToken {
    let mut recorder = gpu.record("frame").unwrap();
    for label in labels {
        recorder.compute_pass(&ComputePassDesc { label, ..Default::default() }, |_| {}).unwrap();
    }
    recorder.submit().unwrap()
}

fn ready(gpu: &mut Gpu) -> FrameTime {
    match gpu.frame_time().unwrap() {
        Timing::Ready(frame) => frame,
        other => panic!("no time is ready: {other:?}"),
    }
}

#[test]
fn frames_have_a_state_at_every_time() {
    let (mut gpu, control) = timed(Some(64), 2.5);
    assert_eq!(gpu.frame_time(), Ok(Timing::NotSubmitted));
    control.set_clock(0, 10);
    let token = frame(&mut gpu, &["first", "second"]);
    assert_eq!(gpu.frame_time(), Ok(Timing::Pending));
    control.complete_all();
    let time = |ticks: f64| GpuTime::Elapsed(ticks * 2.5);
    let pass = |label: &str| PassTime { label: label.into(), time: time(10.0) };
    let expected = FrameTime {
        token,
        time: time(50.0),
        passes: vec![pass("first"), pass("second")],
        untimed: 0,
        precision: TimestampPrecision { tick: 2.5, valid_bits: Some(64) },
    };
    assert_eq!(gpu.frame_time(), Ok(Timing::Ready(expected)));
    assert_eq!(gpu.frame_time(), Ok(Timing::NotSubmitted), "taken once");
    // The newest of those that are complete; a later one is still pending.
    frame(&mut gpu, &["older"]);
    let newer = frame(&mut gpu, &["newer"]);
    frame(&mut gpu, &["pending"]);
    control.complete_to(newer.ordinal());
    assert_eq!(ready(&mut gpu).passes[0].label, "newer");
    assert_eq!(gpu.frame_time(), Ok(Timing::Pending));
    let capability = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(capability, false);
    control.complete_all();
    assert_eq!(ready(&mut gpu).passes[0].label, "pending", "what was timed is answered after the end of it");
    assert_eq!(gpu.frame_time(), Ok(Timing::Off));
    frame(&mut gpu, &["untimed"]);
    assert_eq!(gpu.frame_time(), Ok(Timing::Off));
    control.lose_now();
    assert!(matches!(gpu.frame_time(), Err(Error::DeviceLost { .. })));
}

#[test]
fn timestamps_that_never_come_are_unavailable_and_not_zero() {
    let (mut gpu, control) = timed(Some(64), 1.0);
    // The frame's begin, three passes, the frame's end.
    control.script_timestamps([None, Some(5), Some(9), Some(10), None, Some(20), Some(20), Some(30)]);
    frame(&mut gpu, &["whole", "half", "nothing"]);
    control.complete_all();
    let frame = ready(&mut gpu);
    assert_eq!(frame.time, GpuTime::Unavailable);
    let times: Vec<_> = frame.passes.iter().map(|pass| pass.time).collect();
    assert_eq!(times, [GpuTime::Elapsed(4.0), GpuTime::Unavailable, GpuTime::Elapsed(0.0)]);
    assert_eq!(times[1].nanoseconds(), None);
}

#[test]
fn a_clock_that_goes_back_is_disjoint() {
    for valid_bits in [Some(64), None] {
        let (mut gpu, control) = timed(valid_bits, 1.0);
        control.script_timestamps([Some(100), Some(200), Some(150), Some(300)]);
        frame(&mut gpu, &["reset"]);
        control.complete_all();
        let frame = ready(&mut gpu);
        assert_eq!((frame.time, frame.passes[0].time), (GpuTime::Elapsed(200.0), GpuTime::Disjoint));
        assert_eq!(frame.precision.valid_bits, valid_bits);
    }
}

#[test]
fn a_counter_of_few_bits_comes_round() {
    // 2^36 ticks of 100 nanoseconds are almost two hours: no test takes that long.
    let (mut gpu, control) = timed(Some(36), 100.0);
    let last = (1u64 << 36) - 1;
    control.script_timestamps([Some(last - 4), Some(last), Some(2), Some(3)]);
    frame(&mut gpu, &["over the end"]);
    control.complete_all();
    let times = ready(&mut gpu);
    assert_eq!((times.time, times.passes[0].time), (GpuTime::Elapsed(800.0), GpuTime::Elapsed(300.0)));
    // 2^8 ticks of a nanosecond: any frame may have come round, and nobody can tell how often.
    let (mut gpu, control) = timed(Some(8), 1.0);
    control.script_timestamps([Some(1), Some(10), Some(20), Some(30)]);
    frame(&mut gpu, &["ambiguous"]);
    control.complete_all();
    let times = ready(&mut gpu);
    assert_eq!((times.time, times.passes[0].time), (GpuTime::Disjoint, GpuTime::Disjoint));
}

#[test]
fn passes_beyond_the_last_that_is_timed_are_counted() {
    let (mut gpu, control) = timed(Some(64), 1.0);
    frame(&mut gpu, &["pass"; 515]);
    control.complete_all();
    let frame = ready(&mut gpu);
    assert_eq!((frame.passes.len(), frame.untimed), (512, 3));
    assert!(frame.time.nanoseconds().is_some());
}

#[test]
fn a_discarded_recording_is_not_timed() {
    let (mut gpu, control) = timed(Some(64), 1.0);
    drop(gpu.record("discarded").unwrap());
    assert_eq!(gpu.frame_time(), Ok(Timing::NotSubmitted));
    control.fail_next_submit();
    assert!(gpu.record("refused").unwrap().submit().is_err());
    assert_eq!(gpu.frame_time(), Ok(Timing::NotSubmitted));
    assert!(control.live(ResourceKind::QuerySet) <= 1);
}
