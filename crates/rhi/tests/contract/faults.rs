//! Loss and failure (D8): at every step, with nothing left behind, and a new device beside the lost one.

use purlin_rhi::null::{NullConfig, NullControl};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::handles::Zoo;
use crate::support::*;

/// What a frame came to, as far as it got.
#[derive(Default)]
struct Outcome {
    zoo: Option<Zoo>,
    uploads: Vec<UploadTicket>,
    reads: Vec<ReadTicket>,
    tokens: Vec<SubmissionToken>,
}

/// Two frames that touch every service; the first error ends it.
fn script(gpu: &mut Gpu, outcome: &mut Outcome) -> Result<()> {
    if let Some(token) = gpu.capability::<TimestampQuery>() {
        gpu.enable_timings(token, true);
    }
    outcome.zoo = Some(Zoo::new(gpu)?);
    let zoo = outcome.zoo.as_ref().unwrap();
    let image = gpu.create_texture(&TextureDesc::uploaded("image", 4, 4, 1, COLOR))?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let target = gpu.create_texture(&TextureDesc::d2("target", 4, 4, COLOR, usage))?;
    let target_view = gpu.create_texture_view(*target, &TextureViewDesc::default())?;
    for _ in 0..2 {
        outcome.uploads.push(gpu.write_buffer(*zoo.buffer, 0, &[1; 256])?);
        let place = TexturePlace::mip(*image, 0);
        outcome.uploads.push(gpu.write_texture(&place, extent(4, 4, 1), &rows(16, 4), &[2; 64])?);
        gpu.push_frame_data(&[3; 64], 16)?;
        let mut recorder = gpu.record("frame")?;
        recorder.push_frame_data(&[4; 64], 16)?;
        recorder.render_pass(&pass(&[cleared(*target_view)], &[]), |_| {})?;
        outcome.reads.push(recorder.read_texture(&TexturePlace::mip(*target, 0), extent(4, 4, 1))?);
        outcome.reads.push(recorder.read_buffer(slice(*zoo.buffer, 0, 256))?);
        outcome.tokens.push(recorder.submit()?);
        let last = gpu.last_submission();
        gpu.wait(last, SECOND)?;
        for ticket in &outcome.reads {
            match gpu.read_vec(ticket) {
                Ok(_) | Err(Error::InvalidState { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        gpu.pass_times()?;
        gpu.flush_uploads()?;
        gpu.maintain()?;
    }
    Ok(())
}

fn steps_of(run: impl Fn(&mut Gpu) -> Result<()>) -> u64 {
    let (mut gpu, control) = executing();
    run(&mut gpu).unwrap();
    control.steps()
}

/// Everything that a lost device is asked answers so, and nothing panics.
fn check_lost(gpu: &mut Gpu, outcome: &Outcome) {
    let lost = |result: Result<()>| matches!(result, Err(Error::DeviceLost { .. }));
    assert!(gpu.lost().is_some_and(|why| why.contains("lost by the test")));
    for token in &outcome.tokens {
        assert!(lost(gpu.is_complete(*token).map(|_| ())));
        assert!(lost(gpu.wait(*token, SECOND).map(|_| ())));
    }
    for ticket in &outcome.uploads {
        assert!(lost(gpu.upload_state(*ticket).map(|_| ())));
    }
    for ticket in &outcome.reads {
        let mut out = vec![7; ticket.len() as usize];
        assert!(lost(gpu.read(ticket, &mut out)));
        assert!(out.iter().all(|byte| *byte == 7), "untouched");
    }
    assert!(lost(gpu.wait_idle(SECOND).map(|_| ())));
    assert!(lost(gpu.maintain()));
    assert!(lost(gpu.record("frame").map(|_| ())));
    assert!(lost(gpu.flush_uploads().map(|_| ())));
    assert!(lost(gpu.push_frame_data(&[0; 4], 4).map(|_| ())));
    assert!(lost(gpu.pass_times().map(|_| ())));
    assert!(lost(Zoo::new(gpu).map(|_| ())));
    if let Some(zoo) = &outcome.zoo {
        bad_handle(gpu.buffer_size(*zoo.buffer), HandleProblem::Stale);
        bad_handle(gpu.texture_size(*zoo.texture), HandleProblem::Stale);
        assert!(lost(gpu.write_buffer(*zoo.buffer, 0, &[0; 4]).map(|_| ())));
        assert!(lost(gpu.destroy(*zoo.buffer)));
        assert!(lost(gpu.create_texture_view(*zoo.texture, &TextureViewDesc::default()).map(|_| ())));
    }
}

fn lose_at(step: u64, auto_complete: bool) {
    let (mut gpu, control) = device(NullConfig { auto_complete, ..NullConfig::executing() });
    control.lose_device_at(step);
    let mut outcome = Outcome::default();
    let error = err(script(&mut gpu, &mut outcome));
    assert!(matches!(error, Error::DeviceLost { .. }), "step {step}: {error:?}");
    assert_eq!(control.open_encoders(), 0, "step {step}");
    check_lost(&mut gpu, &outcome);
    // Late callbacks are harmless, and owners may go before or after the device.
    control.complete_all();
    if step.is_multiple_of(2) {
        drop(outcome);
        drop(gpu);
    } else {
        drop(gpu);
        drop(outcome);
    }
    assert_eq!(control.live_total(), 0, "step {step}");
}

#[test]
fn loss_at_every_step_of_a_frame() {
    let steps = steps_of(|gpu| script(gpu, &mut Outcome::default()));
    assert!(steps > 40, "the script has {steps} steps");
    for step in 1..=steps {
        lose_at(step, true);
        lose_at(step, false);
    }
}

#[test]
fn a_lost_device_leaves_others_alone_and_a_new_one_works() {
    let (mut lost, control) = executing();
    let (mut other, _control) = executing();
    let kept = buffer(&mut other, "kept", 16, BufferUsages::empty());
    other.write_buffer(*kept, 0, &[6; 16]).unwrap();
    control.lose_now();
    assert!(script(&mut lost, &mut Outcome::default()).is_err());
    assert_eq!(bytes_of(&mut other, *kept), [6; 16]);
    let (mut fresh, _control) = executing();
    assert_ne!(fresh.tag(), lost.tag());
    assert_eq!(script(&mut fresh, &mut Outcome::default()), Ok(()));
    drop(lost);
}

#[test]
fn a_loss_in_the_middle_of_a_recording_is_noticed_at_its_end() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    let mut recorder = gpu.record("frame").unwrap();
    recorder.clear_buffer(slice(*data, 0, 16)).unwrap();
    control.lose_now();
    let error = err(recorder.submit());
    assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
    assert_eq!(control.open_encoders(), 0);
    assert!(gpu.lost().is_some());
}

/// Memory and objects as the device and the backend count them.
fn baseline(gpu: &mut Gpu, control: &NullControl) -> (MemoryReport, usize, usize) {
    gpu.maintain().unwrap();
    let memory = MemoryReport { logical_peak: 0, ..gpu.memory() };
    (memory, control.live_total(), gpu.retiring())
}

#[test]
fn a_failed_creation_leaves_nothing_and_can_be_tried_again() {
    // The services' buffers come first and stay; then everything the zoo is made of fails in turn.
    for n in 1..=10 {
        let (mut gpu, control) = executing();
        let warm = buffer(&mut gpu, "warm", 16, BufferUsages::empty());
        gpu.write_buffer(*warm, 0, &[0; 16]).unwrap();
        gpu.flush_uploads().unwrap();
        let before = baseline(&mut gpu, &control);
        control.fail_allocation(n);
        let error = err(Zoo::new(&mut gpu).map(|_| ()));
        assert!(matches!(error, Error::OutOfMemory { .. }), "creation {n}: {error:?}");
        assert_eq!(baseline(&mut gpu, &control), before, "creation {n}");
        let zoo = Zoo::new(&mut gpu).unwrap();
        drop(zoo);
        assert_eq!(baseline(&mut gpu, &control), before);
    }
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
fn services_that_find_no_memory_say_so_and_work_later() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    control.fail_allocation(1);
    refused(gpu.write_buffer(*data, 0, &[1; 16]), &["buffer \"upload ring\"", "out of memory"]);
    gpu.write_buffer(*data, 0, &[1; 16]).unwrap();
    gpu.flush_uploads().unwrap();
    control.fail_allocation(1);
    let mut recorder = gpu.record("frame").unwrap();
    refused(recorder.read_buffer(slice(*data, 0, 16)), &["buffer \"readback staging\"", "out of memory"]);
    drop(recorder);
    assert_eq!(gpu.readbacks().outstanding(), 0);
    assert_eq!(bytes_of(&mut gpu, *data), [1; 16]);
    let token = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(token, true);
    control.fail_allocation_of(ResourceKind::QuerySet, 1);
    refused(gpu.record("frame").map(|_| ()), &["query set \"pass timings\"", "out of memory"]);
    assert_eq!(control.open_encoders(), 0);
    assert!(gpu.record("frame").unwrap().submit().is_ok());
}
