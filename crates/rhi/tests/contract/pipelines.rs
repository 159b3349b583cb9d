//! Requested pipelines (P8): checked at once, shared, compiled elsewhere, published between frames, kept by tickets.

use purlin_rhi::null::{NullConfig, NullControl};
use purlin_rhi::services::MAX_PENDING;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

/// A device whose requests compile on a worker, which waits for the test.
fn held() -> (Gpu, NullControl) {
    let (gpu, control) = device(NullConfig { pipeline_jobs: true, ..NullConfig::executing() });
    control.hold_jobs(true);
    (gpu, control)
}

struct Parts {
    module: Owned<kind::ShaderModule>,
    layout: Owned<kind::PipelineLayout>,
}

fn parts(gpu: &mut Gpu) -> Parts {
    Parts { module: gpu.create_shader_module(&SIMPLE).unwrap(), layout: pipeline_layout(gpu, &[]) }
}

impl Parts {
    /// A request that differs from others by its stride.
    fn request(&self, gpu: &mut Gpu, stride: u64) -> Result<PipelineTicket<kind::RenderPipeline>> {
        let targets = [Some(COLOR.into())];
        let buffers = [VertexBufferLayout { stride, step: VertexStepMode::Vertex, attributes: &[] }];
        let desc =
            RenderPipelineDesc { vertex_buffers: &buffers, ..raster(*self.module, *self.layout, &targets) };
        gpu.request_render_pipeline(&desc)
    }

    fn compute(&self, gpu: &mut Gpu, label: &str) -> Result<PipelineTicket<kind::ComputePipeline>> {
        let compute = ShaderStageDesc { module: *self.module, entry: "cs" };
        gpu.request_compute_pipeline(&ComputePipelineDesc { label, layout: *self.layout, compute })
    }
}

fn pending<K: kind::Kind>(gpu: &Gpu, ticket: &PipelineTicket<K>) -> bool {
    matches!(gpu.pipeline_state(ticket), Ok(PipelineState::Pending))
}

/// Waits until the worker has begun its `n`-th job.
fn begun(control: &NullControl, n: u64) {
    while control.jobs_begun() < n {
        std::thread::yield_now();
    }
}

#[test]
fn a_request_is_checked_as_a_creation_is() {
    let mut gpu = plain();
    let parts = parts(&mut gpu);
    let compute = ShaderStageDesc { module: *parts.module, entry: "vs" };
    let desc = ComputePipelineDesc { label: "wrong", layout: *parts.layout, compute };
    invalid(
        gpu.checked(|gpu| gpu.request_compute_pipeline(&desc)),
        "entry",
        &["compute pipeline \"wrong\"", "stage ShaderStages(COMPUTE)"],
    );
    let layout = *parts.layout;
    drop(parts.layout);
    gpu.maintain().unwrap();
    let compute = ShaderStageDesc { module: *parts.module, entry: "cs" };
    let desc = ComputePipelineDesc { label: "late", layout, compute };
    bad_handle(gpu.checked(|gpu| gpu.request_compute_pipeline(&desc)), HandleProblem::Stale);
    assert_eq!(gpu.pipeline_counts(), PipelineCounts::default());
}

#[test]
fn equal_requests_share_one_pipeline() {
    for jobs in [false, true] {
        let (mut gpu, control) = device(NullConfig { pipeline_jobs: jobs, ..NullConfig::executing() });
        let parts = parts(&mut gpu);
        // The same code in another module, the same description under another name, before and after it is ready.
        let twin = Parts {
            module: gpu.create_shader_module(&SIMPLE).unwrap(),
            layout: pipeline_layout(&mut gpu, &[]),
        };
        let first = parts.compute(&mut gpu, "first").unwrap();
        let second = parts.compute(&mut gpu, "second").unwrap();
        assert!(gpu.wait_for_pipelines(SECOND).unwrap());
        let third = parts.compute(&mut gpu, "third").unwrap();
        assert!(first.is_same(&second) && first.is_same(&third));
        assert_eq!(gpu.pipeline(&first), gpu.pipeline(&third));
        let other = twin.compute(&mut gpu, "layouts count by their handles").unwrap();
        assert!(!other.is_same(&first));
        let (a, b) = (parts.request(&mut gpu, 16).unwrap(), parts.request(&mut gpu, 16).unwrap());
        let c = parts.request(&mut gpu, 32).unwrap();
        assert!(a.is_same(&b) && !a.is_same(&c));
        assert!(gpu.wait_for_pipelines(SECOND).unwrap());
        assert_eq!(control.live(ResourceKind::ComputePipeline), 2);
        assert_eq!(control.live(ResourceKind::RenderPipeline), 2);
        let counts = gpu.pipeline_counts();
        assert_eq!((counts.shared, counts.ready, counts.pending, counts.compiled()), (3, 4, 0, 4));
        assert_eq!((counts.in_background, counts.on_thread), if jobs { (4, 0) } else { (0, 4) });
        // The pipeline lives as long as the last of its tickets, clones included.
        let clone = first.clone();
        drop((first, second, third));
        gpu.maintain().unwrap();
        assert_eq!(control.live(ResourceKind::ComputePipeline), 2);
        drop((clone, other));
        gpu.maintain().unwrap();
        assert_eq!(control.live(ResourceKind::ComputePipeline), 0);
    }
}

#[test]
fn without_a_worker_each_frame_compiles_one() {
    let (mut gpu, control) = device(NullConfig::executing());
    let parts = parts(&mut gpu);
    let tickets: Vec<_> = (0..3).map(|i| parts.request(&mut gpu, 16 * i).unwrap()).collect();
    for ready in 0..3 {
        assert_eq!(control.live(ResourceKind::RenderPipeline), ready);
        assert!((0..3).all(|i| pending(&gpu, &tickets[i]) == (i >= ready)), "in the order of requests");
        gpu.record("frame").unwrap().submit().unwrap();
    }
    assert!(tickets.iter().all(|ticket| gpu.pipeline(ticket).is_ok()));
}

#[test]
fn what_is_compiled_appears_at_a_frame_boundary_and_the_fallback_until_then() {
    let (mut gpu, control) = held();
    let fallback = simple_pipeline(&mut gpu);
    let fallback = *fallback.pipeline;
    let parts = parts(&mut gpu);
    let ticket = parts.request(&mut gpu, 16).unwrap();
    for _ in 0..3 {
        gpu.record("frame").unwrap().submit().unwrap();
        assert!(pending(&gpu, &ticket));
        refused(gpu.pipeline(&ticket), &["pending", "being compiled"]);
        assert_eq!(gpu.pipeline_or(&ticket, fallback), Ok(fallback));
    }
    assert!(!gpu.wait_for_pipelines(std::time::Duration::from_millis(1)).unwrap());
    control.hold_jobs(false);
    while control.live(ResourceKind::RenderPipeline) < 2 {
        std::thread::yield_now();
    }
    assert!(pending(&gpu, &ticket), "compiled, and not published yet");
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    let ready = gpu.pipeline(&ticket).unwrap();
    assert_eq!(gpu.pipeline_or(&ticket, fallback), Ok(ready));
    assert_ne!(ready, fallback);
    wrong_state(gpu.destroy(ready), &["destroy", "one of a request"]);
    // It draws.
    let usage = TextureUsages::RENDER_ATTACHMENT;
    let target = gpu.create_texture(&TextureDesc::d2("target", 4, 4, COLOR, usage)).unwrap();
    let view = view(&mut gpu, *target);
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&pass(&[cleared(*view)], &[]), |pass| {
            pass.set_pipeline(ready);
            pass.draw(0..3, 0..1);
        })
        .unwrap();
    recorder.submit().unwrap();
}

#[test]
fn a_request_keeps_its_layout_and_modules() {
    let (mut gpu, control) = held();
    let parts = parts(&mut gpu);
    let (a, b) = (parts.request(&mut gpu, 16).unwrap(), parts.compute(&mut gpu, "kernel").unwrap());
    drop(parts);
    gpu.maintain().unwrap();
    assert_eq!(
        (control.live(ResourceKind::ShaderModule), control.live(ResourceKind::PipelineLayout)),
        (1, 1)
    );
    control.hold_jobs(false);
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    assert!(gpu.pipeline(&a).is_ok() && gpu.pipeline(&b).is_ok());
    assert_eq!(control.live(ResourceKind::ShaderModule), 1);
    drop((a, b));
    gpu.maintain().unwrap();
    assert_eq!((control.live_total(), gpu.retiring()), (0, 0));
}

#[test]
fn tickets_dropped_early_leave_nothing() {
    let (mut gpu, control) = held();
    let parts = parts(&mut gpu);
    let tickets: Vec<_> = (0..100).map(|i| parts.request(&mut gpu, 4 * i).unwrap()).collect();
    begun(&control, 1);
    drop((tickets, parts));
    gpu.maintain().unwrap();
    // What the worker has is waited for, what it has not is forgotten.
    assert!((1..100).contains(&gpu.pipeline_counts().pending));
    control.hold_jobs(false);
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    gpu.maintain().unwrap();
    assert_eq!((control.live_total(), gpu.retiring()), (0, 0));
    assert_eq!(gpu.pipeline_counts().ready, 0);
}

#[test]
fn a_request_that_was_given_up_in_the_worker_is_taken_up_again() {
    let (mut gpu, control) = held();
    let parts = parts(&mut gpu);
    drop(parts.request(&mut gpu, 16).unwrap());
    begun(&control, 1);
    gpu.maintain().unwrap();
    let again = parts.request(&mut gpu, 16).unwrap();
    control.hold_jobs(false);
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    assert!(gpu.pipeline(&again).is_ok());
    assert_eq!(gpu.pipeline_counts().compiled(), 1);
}

#[test]
fn a_failure_is_kept_and_tried_again_when_nobody_holds_it() {
    for jobs in [false, true] {
        let (mut gpu, control) = device(NullConfig { pipeline_jobs: jobs, ..NullConfig::executing() });
        let parts = parts(&mut gpu);
        let fallback = simple_pipeline(&mut gpu);
        control.fail_allocation_of(ResourceKind::RenderPipeline, 1);
        let ticket = parts.request(&mut gpu, 16).unwrap();
        assert!(gpu.wait_for_pipelines(SECOND).unwrap());
        refused(gpu.pipeline(&ticket), &["render pipeline \"raster\"", "out of memory"]);
        let shared = parts.request(&mut gpu, 16).unwrap();
        assert!(matches!(gpu.pipeline_state(&shared), Ok(PipelineState::Failed(Error::OutOfMemory { .. }))));
        assert_eq!(gpu.pipeline_or(&shared, *fallback.pipeline), Ok(*fallback.pipeline));
        assert_eq!((gpu.pipeline_counts().failed, gpu.lost()), (1, None));
        drop((ticket, shared));
        let again = parts.request(&mut gpu, 16).unwrap();
        assert!(gpu.wait_for_pipelines(SECOND).unwrap());
        assert!(gpu.pipeline(&again).is_ok());
        assert_eq!(gpu.pipeline_counts().failed, 0);
    }
}

#[test]
fn a_live_pipeline_keeps_the_old_one_until_the_new_one_is_there() {
    let (mut gpu, control) = held();
    let parts = parts(&mut gpu);
    let old = parts.request(&mut gpu, 16).unwrap();
    control.hold_jobs(false);
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    let first = gpu.pipeline(&old).unwrap();
    let mut live = LivePipeline::new(old);
    assert_eq!(live.update(&gpu), Ok(LiveUpdate::Unchanged));
    // One that fails.
    control.fail_allocation_of(ResourceKind::RenderPipeline, 1);
    live.replace(parts.request(&mut gpu, 32).unwrap());
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    assert!(matches!(live.update(&gpu), Ok(LiveUpdate::Failed(Error::OutOfMemory { .. }))));
    assert_eq!(live.update(&gpu), Ok(LiveUpdate::Unchanged), "said once");
    assert_eq!(live.get(&gpu), Ok(first));
    // One that takes its time.
    control.hold_jobs(true);
    live.replace(parts.request(&mut gpu, 48).unwrap());
    gpu.maintain().unwrap();
    assert_eq!((live.update(&gpu), live.get(&gpu)), (Ok(LiveUpdate::Unchanged), Ok(first)));
    assert!(live.is_replacing());
    control.hold_jobs(false);
    assert!(gpu.wait_for_pipelines(SECOND).unwrap());
    assert_eq!(live.get(&gpu), Ok(first), "only when it is asked to");
    assert_eq!(live.update(&gpu), Ok(LiveUpdate::Replaced));
    assert_ne!(live.get(&gpu), Ok(first));
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::RenderPipeline), 1, "the old one goes");
}

#[test]
fn a_device_that_goes_waits_for_what_runs_and_leaves_nothing() {
    for wait in [false, true] {
        let (mut gpu, control) = held();
        let parts = parts(&mut gpu);
        let tickets: Vec<_> = (0..200).map(|i| parts.request(&mut gpu, 4 * i).unwrap()).collect();
        begun(&control, 1);
        control.hold_jobs(false);
        if wait {
            while control.live(ResourceKind::RenderPipeline) < 5 {
                std::thread::yield_now();
            }
        }
        drop(gpu);
        assert_eq!(control.live_total(), 0, "made and not taken, layouts and modules");
        assert!(control.jobs_begun() < 200);
        drop((tickets, parts));
    }
}

#[test]
fn loss_with_requests_in_flight() {
    let (mut gpu, control) = held();
    let parts = parts(&mut gpu);
    let tickets: Vec<_> = (0..100).map(|i| parts.request(&mut gpu, 4 * i).unwrap()).collect();
    begun(&control, 1);
    control.lose_now();
    let lost = |result: Result<()>| assert!(matches!(result, Err(Error::DeviceLost { .. })), "{result:?}");
    lost(gpu.wait_for_pipelines(SECOND).map(|_| ()));
    for ticket in &tickets {
        lost(gpu.pipeline_state(ticket).map(|_| ()));
        lost(gpu.pipeline(ticket).map(|_| ()));
    }
    lost(parts.request(&mut gpu, 4).map(|_| ()));
    drop(tickets);
    drop(gpu);
    assert_eq!(control.live_total(), 0);
}

#[test]
fn a_loss_that_a_job_meets_is_the_devices() {
    let (mut gpu, control) = held();
    let parts = parts(&mut gpu);
    let _ticket = parts.request(&mut gpu, 16).unwrap();
    begun(&control, 1);
    // The job's own step is the first one from here.
    control.lose_device_at(1);
    control.hold_jobs(false);
    while !control.is_lost() {
        std::thread::yield_now();
    }
    assert!(matches!(gpu.wait_for_pipelines(SECOND), Err(Error::DeviceLost { .. })));
    assert!(gpu.lost().is_some());
    drop(gpu);
    assert_eq!(control.live_total(), 0);
}

#[test]
fn tickets_are_of_one_device() {
    let (mut gpu, mut other) = (plain(), plain());
    let (parts, theirs) = (parts(&mut gpu), parts(&mut other));
    let ticket = parts.request(&mut gpu, 16).unwrap();
    let fallback = simple_pipeline(&mut other);
    bad_handle(other.pipeline_state(&ticket), HandleProblem::Foreign);
    bad_handle(other.pipeline_or(&ticket, *fallback.pipeline), HandleProblem::Foreign);
    assert!(!theirs.request(&mut other, 16).unwrap().is_same(&ticket));
    // A ticket that outlives its device says nothing to the next one, which may get its drop queue.
    drop(gpu);
    let mut next = plain();
    drop(ticket);
    next.maintain().unwrap();
}

#[test]
fn requests_are_bounded() {
    let storage = StorageCeilings { objects: ObjectCeilings::each(2), ..StorageCeilings::default() };
    let (mut gpu, _control) = device_with(NullConfig::default(), storage);
    let parts = parts(&mut gpu);
    let most: Vec<_> = (0..MAX_PENDING as u64)
        .map(|i| {
            let targets = [Some(COLOR.into())];
            let layers =
                VertexBufferLayout { stride: 4 * (i % 512), step: VertexStepMode::Vertex, attributes: &[] };
            let buffers = vec![layers; 1 + (i / 512) as usize];
            let desc = raster(*parts.module, *parts.layout, &targets);
            gpu.request_render_pipeline(&RenderPipelineDesc { vertex_buffers: &buffers, ..desc }).unwrap()
        })
        .collect();
    let one_more = parts.compute(&mut gpu, "one more");
    refused(one_more, &["compute pipeline \"one more\"", "pending", "1024 requests"]);
    assert!(most[0].is_same(&parts.request(&mut gpu, 0).unwrap()), "one that is there is no more");
    gpu.maintain().unwrap();
    assert!(parts.compute(&mut gpu, "later").is_ok());
    // The table of pipelines has its own ceiling.
    assert!(gpu.wait_for_pipelines(10 * SECOND).unwrap());
    assert!(gpu.pipeline(&most[1]).is_ok());
    refused(gpu.pipeline(&most[2]), &["render pipeline slots", "capacity exceeded", "2"]);
    assert_eq!(gpu.pipeline_counts().ready, 2);
}
