//! Loss and failure (D8): every scenario with every failure of every call, at any pace of the GPU. Afterwards nothing
//! is left, nothing is half done, the same device works if it lives, and a new one works beside it.

use std::time::{Duration, Instant};

use purlin_rhi::null::{NullConfig, NullControl};
use purlin_rhi::*;

use crate::handles::Zoo;
use crate::scenarios::{ALL, Kept, STORAGE, Scenario};
use crate::support::*;

/// How the GPU gets on.
#[derive(Debug, Clone, Copy)]
enum Pace {
    /// Each submission completes as it is made.
    AtOnce,
    /// Nothing completes before it is waited for.
    Late,
    /// Submissions complete at calls that the seed chooses.
    Random(u64),
}

const PACES: [Pace; 4] = [Pace::AtOnce, Pace::Late, Pace::Random(1), Pace::Random(2)];

fn device_at(pace: Pace) -> (Gpu, NullControl) {
    let auto_complete = matches!(pace, Pace::AtOnce);
    let config = NullConfig { log: false, auto_complete, ..NullConfig::executing() };
    let (gpu, control) = device_with(config, STORAGE);
    if let Pace::Random(seed) = pace {
        control.set_pace(Some(seed));
    }
    (gpu, control)
}

/// What a scenario reads when nothing fails.
fn undisturbed(scenario: Scenario) -> Vec<u8> {
    let (mut gpu, _control) = device_at(Pace::AtOnce);
    let mut kept = Kept::default();
    assert_eq!(scenario(&mut gpu, &mut kept), Ok(()));
    kept.bytes
}

/// The same scenario again, on a device on which it failed before.
#[track_caller]
fn works(gpu: &mut Gpu, scenario: Scenario, expected: &[u8], at: &str) {
    let mut kept = Kept::default();
    assert_eq!(scenario(gpu, &mut kept), Ok(()), "{at}: again");
    assert_eq!(kept.bytes, expected, "{at}: again");
}

/// That a device without owners holds what its services keep for its life, and nothing else.
#[track_caller]
fn at_baseline(gpu: &mut Gpu, control: &NullControl, at: &str) {
    assert_eq!(control.open_encoders(), 0, "{at}: open encoders");
    gpu.flush_uploads().unwrap();
    control.complete_all();
    gpu.maintain().unwrap();
    assert_eq!(gpu.retiring(), 0, "{at}: retiring");
    assert_eq!((gpu.uploads().pending(), gpu.uploads().in_use()), (0, 0), "{at}: uploads");
    assert_eq!(gpu.readbacks().outstanding(), 0, "{at}: readbacks");
    let (staging, staged) = gpu.readbacks().staging();
    let arena = gpu.frame_arena();
    let (mut buffers, mut bytes) =
        (staging + arena.pages(), staged + u64::from(arena.pages()) * arena.page_size());
    if gpu.memory().logical > bytes {
        buffers += 1;
        bytes += gpu.uploads().capacity();
    }
    let memory = gpu.memory();
    assert_eq!((memory.logical, memory.native.unwrap().allocated), (bytes, bytes), "{at}: bytes");
    for kind in ResourceKind::ALL {
        let counts = (gpu.object_count(kind) as usize, control.live(kind));
        match kind {
            ResourceKind::Buffer => assert_eq!(counts, (buffers as usize, buffers as usize), "{at}"),
            // Timings keep their sets.
            ResourceKind::QuerySet => assert!(counts.0 == counts.1 && counts.0 <= 6, "{at}: {counts:?}"),
            _ => assert_eq!(counts, (0, 0), "{at}: {kind}"),
        }
    }
    let services = buffers as usize + control.live(ResourceKind::QuerySet);
    assert_eq!(control.held(), services, "{at}: memory of the null device");
}

/// Drops owners and device in either order, and sees that it takes no time and leaves nothing.
fn tear_down(gpu: Gpu, control: &NullControl, mut kept: Kept, owners_first: bool, at: &str) {
    let start = Instant::now();
    if owners_first {
        kept.drop_owners(true);
        drop(gpu);
        drop(kept);
    } else {
        drop(gpu);
        kept.drop_owners(false);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{at}: teardown took {:?}", start.elapsed());
    assert_eq!((control.live_total(), control.open_encoders(), control.held()), (0, 0, 0), "{at}");
}

/// Plans the `n`-th failure of one sort for all `n`, until a run meets no more; how many there were.
fn each_failure(
    (name, scenario): (&str, Scenario),
    sort: &str,
    plan: impl Fn(&NullControl, u64),
    is_expected: impl Fn(&Error) -> bool,
) -> u64 {
    let expected = undisturbed(scenario);
    for n in 1.. {
        for pace in PACES {
            let at = format!("{name}, {sort} {n}, {pace:?}");
            let (mut gpu, control) = device_at(pace);
            plan(&control, n);
            let mut kept = Kept::default();
            let result = scenario(&mut gpu, &mut kept);
            if control.planned_failures() > 0 {
                assert_eq!((result, &kept.bytes), (Ok(()), &expected), "{at}: nothing failed");
                return n - 1;
            }
            let error = err(result);
            assert!(is_expected(&error), "{at}: {error:?}");
            assert_eq!(gpu.lost(), None, "{at}");
            // The owners of what was made so far, and nothing of what was not.
            kept.drop_owners(n.is_multiple_of(2));
            kept.reads.clear();
            at_baseline(&mut gpu, &control, &at);
            works(&mut gpu, scenario, &expected, &at);
            at_baseline(&mut gpu, &control, &at);
            tear_down(gpu, &control, kept, true, &at);
        }
    }
    unreachable!("a scenario ends")
}

#[test]
fn every_allocation_of_every_scenario_fails_cleanly() {
    let memory = |error: &Error| matches!(error, Error::OutOfMemory { .. });
    let mut total = 0;
    for &scenario in ALL {
        let failed = each_failure(scenario, "allocation", NullControl::fail_allocation, memory);
        assert!(failed > 0, "{} creates nothing", scenario.0);
        total += failed;
    }
    assert!(total > 150, "only {total} allocations");
}

#[test]
fn every_recording_section_and_submission_of_every_scenario_fails_cleanly() {
    let memory = |error: &Error| matches!(error, Error::OutOfMemory { .. });
    let refused = |error: &Error| matches!(error, Error::Backend { call: "submit", .. });
    let section = |error: &Error| memory(error) || matches!(error, Error::Backend { .. });
    let mut totals = [0; 3];
    for &scenario in ALL {
        totals[0] += each_failure(scenario, "recording", NullControl::fail_recording, memory);
        totals[1] += each_failure(scenario, "section", NullControl::fail_section, section);
        totals[2] += each_failure(scenario, "submission", NullControl::fail_submission, refused);
    }
    assert!(totals[0] >= 40 && totals[1] >= 10 && totals[2] >= 40, "{totals:?}");
}

#[test]
fn the_pace_of_completion_changes_no_result() {
    for &(name, scenario) in ALL {
        let expected = undisturbed(scenario);
        for seed in 0..64 {
            let at = format!("{name}, pace {seed}");
            let (mut gpu, control) = device_at(Pace::Random(seed));
            let mut kept = Kept::default();
            assert_eq!(scenario(&mut gpu, &mut kept), Ok(()), "{at}");
            assert_eq!(kept.bytes, expected, "{at}");
            kept.drop_owners(seed % 2 == 0);
            kept.reads.clear();
            at_baseline(&mut gpu, &control, &at);
        }
    }
}

/// Everything that a lost device is asked answers so, and nothing panics.
fn check_lost(gpu: &mut Gpu, kept: &Kept, at: &str) {
    let lost = |result: Result<()>| {
        assert!(matches!(result, Err(Error::DeviceLost { .. })), "{at}: {result:?}");
    };
    assert!(gpu.lost().is_some_and(|why| why.contains("lost by the test")), "{at}");
    for token in &kept.tokens {
        lost(gpu.is_complete(*token).map(|_| ()));
        lost(gpu.wait(*token, SECOND).map(|_| ()));
    }
    for ticket in &kept.uploads {
        lost(gpu.upload_state(*ticket).map(|_| ()));
    }
    for ticket in &kept.reads {
        let mut out = vec![7; ticket.len() as usize];
        lost(gpu.read(ticket, &mut out));
        assert!(out.iter().all(|byte| *byte == 7), "{at}: untouched");
    }
    lost(gpu.wait_idle(SECOND).map(|_| ()));
    lost(gpu.maintain());
    lost(gpu.record("frame").map(|_| ()));
    lost(gpu.flush_uploads().map(|_| ()));
    lost(gpu.push_frame_data(&[0; 4], 4).map(|_| ()));
    lost(gpu.pass_times().map(|_| ()));
    lost(Zoo::new(gpu).map(|_| ()));
}

/// What one device gave out means nothing to another.
fn check_foreign(other: &mut Gpu, kept: &Kept) {
    for token in &kept.tokens {
        bad_handle(other.wait(*token, SECOND), HandleProblem::Foreign);
        bad_handle(other.is_complete(*token), HandleProblem::Foreign);
    }
    for ticket in &kept.uploads {
        bad_handle(other.upload_state(*ticket), HandleProblem::Foreign);
    }
    for ticket in &kept.reads {
        bad_handle(other.read_vec(ticket), HandleProblem::Foreign);
    }
}

#[test]
fn loss_at_every_call_of_every_scenario() {
    let mut total = 0;
    for &(name, scenario) in ALL {
        let expected = undisturbed(scenario);
        let (mut other, _other_control) = device_at(Pace::AtOnce);
        'calls: for n in 1.. {
            for pace in PACES {
                let at = format!("{name}, loss at call {n}, {pace:?}");
                let (mut gpu, control) = device_at(pace);
                control.lose_device_at(n);
                let mut kept = Kept::default();
                let result = scenario(&mut gpu, &mut kept);
                if control.planned_failures() > 0 {
                    assert_eq!((result, &kept.bytes), (Ok(()), &expected), "{at}: nothing failed");
                    total += n - 1;
                    break 'calls;
                }
                let error = err(result);
                assert!(matches!(error, Error::DeviceLost { .. }), "{at}: {error:?}");
                check_lost(&mut gpu, &kept, &at);
                check_foreign(&mut other, &kept);
                // What would have come late does not come.
                control.complete_all();
                tear_down(gpu, &control, kept, n.is_multiple_of(2), &at);
            }
            if n.is_multiple_of(8) {
                let (mut fresh, _control) = device_at(Pace::Late);
                works(&mut fresh, scenario, &expected, name);
            }
        }
        works(&mut other, scenario, &expected, name);
    }
    assert!(total > 400, "only {total} calls");
}

/// The same with a worker, whose calls come in between the others': what fails is not always the same call, and whatever it is,
/// nothing is left.
#[test]
fn requests_in_flight_fail_cleanly_with_a_worker() {
    let &(name, scenario) = ALL.iter().find(|(name, _)| *name == "requested").unwrap();
    let expected = undisturbed(scenario);
    let config = NullConfig { log: false, pipeline_jobs: true, ..NullConfig::executing() };
    for n in 1..60 {
        for lost in [false, true] {
            let at = format!("{name} with a worker, {n}, loss {lost}");
            let (mut gpu, control) = device_with(config.clone(), STORAGE);
            if lost {
                control.lose_device_at(n)
            } else {
                control.fail_allocation(n)
            }
            let mut kept = Kept::default();
            let result = scenario(&mut gpu, &mut kept);
            match &result {
                Ok(()) => assert_eq!(kept.bytes, expected, "{at}"),
                Err(Error::DeviceLost { .. }) => assert!(lost, "{at}"),
                Err(Error::OutOfMemory { .. }) => assert!(!lost, "{at}"),
                Err(error) => panic!("{at}: {error}"),
            }
            if gpu.lost().is_none() && !lost {
                control.clear_failures();
                kept.drop_owners(n.is_multiple_of(2));
                kept.reads.clear();
                gpu.wait_for_pipelines(SECOND).unwrap();
                at_baseline(&mut gpu, &control, &at);
                works(&mut gpu, scenario, &expected, &at);
            }
            tear_down(gpu, &control, kept, n.is_multiple_of(2), &at);
        }
    }
}

#[test]
fn handles_of_a_lost_device_are_stale() {
    let (mut gpu, control) = executing();
    let zoo = Zoo::new(&mut gpu).unwrap();
    control.lose_now();
    let lost = |result: Result<()>| assert!(matches!(result, Err(Error::DeviceLost { .. })), "{result:?}");
    lost(gpu.maintain());
    bad_handle(gpu.buffer_size(*zoo.buffer), HandleProblem::Stale);
    bad_handle(gpu.texture_size(*zoo.texture), HandleProblem::Stale);
    lost(gpu.write_buffer(*zoo.buffer, 0, &[0; 4]).map(|_| ()));
    lost(gpu.destroy(*zoo.buffer));
    lost(gpu.create_texture_view(*zoo.texture, &TextureViewDesc::default()).map(|_| ()));
}

#[test]
fn a_lost_device_leaves_others_alone() {
    let (mut lost, control) = executing();
    let (mut other, _control) = executing();
    let kept = buffer(&mut other, "kept", 16, types::BufferUsages::empty());
    other.write_buffer(*kept, 0, &[6; 16]).unwrap();
    control.lose_now();
    assert!(lost.maintain().is_err());
    assert_eq!(bytes_of(&mut other, *kept), [6; 16]);
    drop(lost);
    assert_eq!(bytes_of(&mut other, *kept), [6; 16]);
}

#[test]
fn a_loss_in_the_middle_of_a_recording_is_noticed_at_its_end() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 16, types::BufferUsages::empty());
    let mut recorder = gpu.record("frame").unwrap();
    recorder.clear_buffer(slice(*data, 0, 16)).unwrap();
    control.lose_now();
    let error = err(recorder.submit());
    assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
    assert_eq!(control.open_encoders(), 0);
    assert!(gpu.lost().is_some());
}

#[test]
fn every_kind_names_itself_when_memory_is_out() {
    let kinds = [
        (ResourceKind::Buffer, "buffer \"buffer\""),
        (ResourceKind::Texture, "texture \"texture\""),
        (ResourceKind::TextureView, "texture view \"view\""),
        (ResourceKind::Sampler, "sampler \"sampler\""),
        (ResourceKind::BindGroupLayout, "bind group layout \"shape\""),
        (ResourceKind::BindGroup, "bind group \"group\""),
        (ResourceKind::PipelineLayout, "pipeline layout \"layout\""),
        (ResourceKind::ShaderModule, "shader module \"shader\""),
        (ResourceKind::RenderPipeline, "render pipeline \"raster\""),
        (ResourceKind::ComputePipeline, "compute pipeline \"compute\""),
    ];
    for (kind, name) in kinds {
        let (mut gpu, control) = executing();
        control.fail_allocation_of(kind, 1);
        refused(Zoo::new(&mut gpu).map(|_| ()), &[name, "out of memory"]);
    }
}

#[test]
fn services_that_find_no_memory_say_so() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 16, types::BufferUsages::empty());
    control.fail_allocation(1);
    refused(gpu.write_buffer(*data, 0, &[1; 16]), &["buffer \"upload ring\"", "out of memory"]);
    gpu.write_buffer(*data, 0, &[1; 16]).unwrap();
    control.fail_allocation(1);
    let mut recorder = gpu.record("frame").unwrap();
    refused(recorder.read_buffer(slice(*data, 0, 16)), &["buffer \"readback staging\"", "out of memory"]);
    drop(recorder);
    control.fail_recording(1);
    refused(gpu.record("frame").map(|_| ()), &["recording \"frame\"", "out of memory"]);
    let token = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(token, true);
    control.fail_allocation_of(ResourceKind::QuerySet, 1);
    refused(gpu.record("frame").map(|_| ()), &["query set \"pass timings\"", "out of memory"]);
    assert_eq!(bytes_of(&mut gpu, *data), [1; 16]);
}
