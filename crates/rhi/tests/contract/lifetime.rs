//! Deferred destruction (R3): what is destroyed goes when dependents and the GPU are done, and not before.

use purlin_rhi::null::NullConfig;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::handles::Zoo;
use crate::support::*;

/// Memory and native objects, after what can go is gone.
fn held(gpu: &mut Gpu, control: &null::NullControl) -> (u64, u64, usize) {
    gpu.maintain().unwrap();
    (gpu.memory().logical, gpu.memory().native.unwrap().allocated, control.live_total())
}

#[test]
fn dependents_keep_what_they_are_made_of_in_any_order() {
    for order in 0..10 {
        let (mut gpu, control) = executing();
        let Zoo { buffer, texture, view, sampler, shape, group, layout, module, raster, compute } =
            Zoo::new(&mut gpu).unwrap();
        let mut drops: Vec<Box<dyn FnOnce()>> = vec![
            Box::new(|| drop(buffer)),
            Box::new(|| drop(texture)),
            Box::new(|| drop(view)),
            Box::new(|| drop(sampler)),
            Box::new(|| drop(shape)),
            Box::new(|| drop(group)),
            Box::new(|| drop(layout)),
            Box::new(|| drop(module)),
            Box::new(|| drop(raster)),
            Box::new(|| drop(compute)),
        ];
        drops.rotate_left(order);
        for drop in drops {
            drop();
            gpu.maintain().unwrap();
        }
        assert_eq!(held(&mut gpu, &control), (0, 0, 0), "rotation {order}");
        assert_eq!(gpu.retiring(), 0);
    }
}

#[test]
fn a_view_keeps_its_textures_memory_and_no_more() {
    let (mut gpu, control) = executing();
    let owner = texture(&mut gpu, "t", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let kept = view(&mut gpu, *owner);
    drop(owner);
    assert_eq!(held(&mut gpu, &control), (64, 64, 2));
    let mut recorder = gpu.record("frame").unwrap();
    // Tracked contents cannot be followed without the texture's handle.
    let result = recorder.render_pass(&pass(&[cleared(*kept)], &[]), |_| {});
    wrong_state(result, &["\"pass\"", "view \"view\" was destroyed"]);
    drop(recorder);
    drop(kept);
    assert_eq!(held(&mut gpu, &control), (0, 0, 0));
}

#[test]
fn a_view_of_an_uploaded_texture_outlives_its_owner_in_groups() {
    let (mut gpu, control) = executing();
    let owner = gpu.create_texture(&TextureDesc::uploaded("t", 4, 4, 1, COLOR)).unwrap();
    gpu.write_texture(&TexturePlace::mip(*owner, 0), extent(4, 4, 1), &rows(16, 4), &[9; 64]).unwrap();
    let seen = view(&mut gpu, *owner);
    drop(owner);
    gpu.maintain().unwrap();
    let shape = group_layout(&mut gpu, &[entry(0, ShaderStages::COMPUTE, sampled())]);
    let bound = group(&mut gpu, *shape, &[BindGroupEntry::texture(0, *seen)]);
    let kernel = kernel(&mut gpu, &SAMPLES, &[*shape]);
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .compute_pass(&ComputePassDesc { label: "p", uses: &[], ..Default::default() }, |pass| {
            pass.set_pipeline(*kernel);
            pass.set_bind_group(0, *bound, &[]);
            pass.dispatch([1, 1, 1]);
        })
        .unwrap();
    // The executor checks the layout that the group finds.
    recorder.submit().unwrap();
    drop((seen, shape, bound, kernel));
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::Texture), 0);
}

/// Drops the owners at one point of a frame. Memory stays until the submissions that use it are complete, and the
/// null backend panics if anything is destroyed in flight or used after destruction.
#[test]
fn destruction_at_every_point_of_a_frame_returns_to_the_baseline() {
    const POINTS: usize = 7;
    for point in 0..POINTS {
        let (mut gpu, control) = manual();
        // The services' own buffers stay for the device's life: make them first.
        let warm = buffer(&mut gpu, "warm", 16, BufferUsages::empty());
        gpu.write_buffer(*warm, 0, &[0; 16]).unwrap();
        gpu.flush_uploads().unwrap();
        control.complete_all();
        let before = held(&mut gpu, &control);

        let target = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
        let target_view = view(&mut gpu, *target);
        let data = buffer(&mut gpu, "data", 256, BufferUsages::VERTEX);
        let pipeline = simple_pipeline(&mut gpu);
        let (data_handle, view_handle, pipeline_handle) = (*data, *target_view, *pipeline.pipeline);
        let mut owners = Some((target, target_view, data, pipeline));
        let mut drop_at = |now: usize| {
            if now == point {
                owners = None;
            }
        };
        gpu.write_buffer(data_handle, 0, &[5; 256]).unwrap();
        let mut recorder = gpu.record("frame").unwrap();
        drop_at(0);
        let uses = [buffer_use(data_handle, 256, BufferUse::Vertex)];
        recorder
            .render_pass(&pass(&[cleared(view_handle)], &uses), |pass| {
                pass.set_pipeline(pipeline_handle);
                drop_at(1);
                pass.set_vertex_buffer(0, slice(data_handle, 0, 256));
                pass.draw(0..3, 0..1);
            })
            .unwrap();
        drop_at(2);
        recorder.submit().unwrap();
        drop_at(3);
        gpu.maintain().unwrap();
        drop_at(4);
        gpu.maintain().unwrap();
        assert_eq!(control.live(ResourceKind::RenderPipeline), 1, "point {point}: still in flight");
        let mut next = gpu.record("next").unwrap();
        drop_at(5);
        next.clear_buffer(slice(*warm, 0, 16)).unwrap();
        next.submit().unwrap();
        control.complete_all();
        drop_at(6);
        assert_eq!(held(&mut gpu, &control), before, "point {point}");
        assert_eq!(gpu.retiring(), 0);
    }
}

/// C024: a resource whose owner goes while it is recorded lives until the GPU is done; nothing native goes wrong.
#[test]
fn c024_destroy_between_record_and_end() {
    let (mut gpu, control) = executing();
    let source = buffer(&mut gpu, "source", 64, BufferUsages::empty());
    gpu.write_buffer(*source, 0, &[7; 64]).unwrap();
    let doomed = texture(&mut gpu, "doomed", 4, 4, TextureUsages::TEXTURE_BINDING);
    let handle = *doomed;
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .copy_buffer_to_texture(*source, &rows(0, 0), &TexturePlace::mip(handle, 0), extent(4, 1, 1))
        .unwrap();
    drop(doomed);
    recorder.submit().unwrap();
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::Texture), 0);
    // What comes later says by name what it misses, and the device goes on.
    let mut recorder = gpu.record("later").unwrap();
    let result = recorder.read_texture(&TexturePlace::mip(handle, 0), extent(4, 1, 1));
    bad_handle(result, HandleProblem::Stale);
    drop(recorder);
    assert_eq!(bytes_of(&mut gpu, *source), [7; 64]);
}

/// What a lease keeps is found to be kept only when its turn comes, and then waits for no later submission than its own.
#[test]
fn a_lease_ends_with_its_own_submission() {
    let (mut gpu, control) = manual();
    let submit = |gpu: &mut Gpu| gpu.record("frame").unwrap().submit().unwrap();
    let written = buffer(&mut gpu, "written", 16, BufferUsages::empty());
    submit(&mut gpu);
    gpu.write_buffer(*written, 0, &[1; 16]).unwrap();
    drop(written);
    // Its destruction is read before submission 2, which carries the upload.
    submit(&mut gpu);
    let later = buffer(&mut gpu, "later", 16, BufferUsages::empty());
    submit(&mut gpu);
    drop(later);
    gpu.maintain().unwrap();
    control.complete_to(1);
    gpu.maintain().unwrap();
    assert_eq!(gpu.retiring(), 2);
    control.complete_to(2);
    gpu.maintain().unwrap();
    assert_eq!(gpu.retiring(), 1, "only what submission 3 may use");
    control.complete_all();
    gpu.maintain().unwrap();
    assert_eq!(gpu.retiring(), 0);
}

struct DeviceFirst {
    _gpu: Gpu,
    _zoo: Zoo,
}

struct DeviceLast {
    _zoo: Zoo,
    _gpu: Gpu,
}

/// C025: owners may outlive their device, and the other way round.
#[test]
fn c025_drop_order_of_device_and_owners() {
    for round in 0..100 {
        let (mut gpu, control) = device(NullConfig::default());
        let zoo = Zoo::new(&mut gpu).unwrap();
        assert_eq!(control.live_total(), 10);
        if round % 2 == 0 {
            drop(DeviceFirst { _gpu: gpu, _zoo: zoo });
        } else {
            drop(DeviceLast { _zoo: zoo, _gpu: gpu });
        }
        assert_eq!(control.live_total(), 0, "round {round}");
    }
}

#[test]
fn an_owner_that_outlives_its_device_does_not_reach_the_next_one() {
    let (mut first, _control) = executing();
    let old = buffer(&mut first, "old", 16, BufferUsages::empty());
    drop(first);
    let (mut next, _control) = executing();
    let new = buffer(&mut next, "new", 16, BufferUsages::empty());
    assert_eq!((old.slot(), old.generation()), (new.slot(), new.generation()), "only the device differs");
    drop(old);
    next.maintain().unwrap();
    assert_eq!(next.buffer_size(*new), Ok(16));
    assert_eq!(next.retiring(), 0);
}

#[test]
fn a_group_in_flight_keeps_its_slot() {
    let (mut gpu, control) = manual();
    let zoo = Zoo::new(&mut gpu).unwrap();
    let mut recorder = gpu.record("frame").unwrap();
    recorder.clear_buffer(slice(*zoo.buffer, 0, 16)).unwrap();
    recorder.submit().unwrap();
    let (slot, live) = (zoo.group.slot(), control.live(ResourceKind::BindGroup));
    drop(zoo);
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::BindGroup), live, "the GPU may still read it");
    let next = Zoo::new(&mut gpu).unwrap();
    assert_ne!(next.group.slot(), slot);
    control.complete_all();
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::BindGroup), live);
    let third = Zoo::new(&mut gpu).unwrap();
    assert_eq!(third.group.slot(), slot, "now it is free");
}

/// C027: a submission that failed takes no number, so nobody waits for it.
#[test]
fn c027_wait_after_a_failed_submit_returns_at_once() {
    let (mut gpu, control) = manual();
    let target = buffer(&mut gpu, "b", 16, BufferUsages::empty());
    let before = gpu.last_submission();
    let mut recorder = gpu.record("fails").unwrap();
    recorder.clear_buffer(slice(*target, 0, 16)).unwrap();
    control.fail_next_submit();
    let error = err(recorder.submit());
    assert!(matches!(error, Error::Backend { call: "submit", .. }), "{error:?}");
    assert_eq!(gpu.last_submission(), before);
    assert_eq!(gpu.wait_idle(SECOND), Ok(true));
    assert!(!gpu.ledger().buffer_defined(target.slot(), 0, 16), "a rejected submission wrote nothing");
    let mut recorder = gpu.record("works").unwrap();
    recorder.clear_buffer(slice(*target, 0, 16)).unwrap();
    let token = recorder.submit().unwrap();
    assert_eq!(token.ordinal(), 1);
    assert_eq!(gpu.is_complete(token), Ok(false));
    control.complete_all();
    assert_eq!(gpu.is_complete(token), Ok(true));
    assert_eq!(control.open_encoders(), 0);
}

/// C027, as it was found: what one device recorded cannot reach another.
#[test]
fn c027_tokens_of_another_device_are_foreign() {
    let (mut a, mut b) = (plain(), plain());
    let token = a.record("frame").unwrap().submit().unwrap();
    bad_handle(b.wait(token, SECOND), HandleProblem::Foreign);
    bad_handle(b.is_complete(token), HandleProblem::Foreign);
    assert_eq!(b.wait_idle(SECOND), Ok(true));
}

#[test]
fn tokens_are_ordered_and_a_later_one_covers_earlier_ones() {
    let (mut gpu, control) = manual();
    let tokens: Vec<_> = (0..3).map(|_| gpu.record("frame").unwrap().submit().unwrap()).collect();
    assert!(tokens[0] < tokens[1] && tokens[1] < tokens[2]);
    control.complete_to(tokens[1].ordinal());
    let complete: Vec<_> = tokens.iter().map(|token| gpu.is_complete(*token).unwrap()).collect();
    assert_eq!(complete, [true, true, false]);
    assert_eq!(gpu.wait(tokens[2], std::time::Duration::ZERO), Ok(false));
    control.set_wait_completes(true);
    assert_eq!(gpu.wait(tokens[2], SECOND), Ok(true));
}

#[test]
fn a_device_that_ends_under_a_gpu_that_hangs_destroys_nothing_in_use() {
    let (mut gpu, control) = manual();
    let target = buffer(&mut gpu, "b", 16, BufferUsages::empty());
    let mut recorder = gpu.record("hangs").unwrap();
    recorder.clear_buffer(slice(*target, 0, 16)).unwrap();
    recorder.submit().unwrap();
    drop(target);
    drop(gpu);
    assert_eq!(control.live(ResourceKind::Buffer), 1, "left to the backend's own end");
}

#[test]
fn a_forgotten_recorder_leaves_no_plan_behind() {
    let (mut gpu, _control) = executing();
    let source = buffer(&mut gpu, "source", 16, BufferUsages::empty());
    let mut recorder = gpu.record("forgotten").unwrap();
    recorder.clear_buffer(slice(*source, 0, 16)).unwrap();
    let ticket = recorder.read_buffer(slice(*source, 0, 16)).unwrap();
    std::mem::forget(recorder);
    let mut recorder = gpu.record("next").unwrap();
    let result = recorder.read_buffer(slice(*source, 0, 16));
    wrong_state(result, &["defined contents", "buffer \"source\""]);
    drop(recorder);
    gpu.record("third").unwrap().submit().unwrap();
    wrong_state(gpu.checked(|gpu| gpu.read_vec(&ticket)), &["its recording was discarded"]);
}
