//! Surfaces on windows that follow a script: what is answered, what is made natively, and when it goes.

use purlin_rhi::null::{NullAnswer, NullConfig, NullControl, NullSurfaceCall, NullWindow};
use purlin_rhi::plan::{Layout, Stages};
use purlin_rhi::surface::{
    Acquired, FrameUse, Skip, Surface, SurfaceConfig, SurfaceFailure, SurfaceFrame, SurfaceImage,
    SurfaceTarget,
};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const FORMAT: TextureFormat = TextureFormat::Bgra8UnormSrgb;

/// A device with a window and its surface, not configured.
struct Shown {
    // Dropped first: an owner may go before or after its device.
    surface: Surface,
    gpu: Gpu,
    control: NullControl,
    window: NullWindow,
    target: SurfaceTarget,
}

fn shown(config: NullConfig) -> Shown {
    let (mut gpu, control) = device(config);
    let window = NullWindow::new(800, 600);
    let target = SurfaceTarget::custom(window.clone());
    let surface = gpu.create_surface("main", &target).unwrap();
    Shown { surface, gpu, control, window, target }
}

fn manually() -> Shown {
    shown(NullConfig { wait_completes: false, ..NullConfig::manual() })
}

/// Three images and two frames in flight.
fn config(width: u32, height: u32) -> SurfaceConfig<'static> {
    SurfaceConfig { images: 3, ..SurfaceConfig::new(width, height, FORMAT) }
}

impl Shown {
    fn configured(mut self) -> Self {
        self.configure(800, 600);
        self.window.take_log();
        self
    }

    fn configure(&mut self, width: u32, height: u32) {
        self.surface.configure(&mut self.gpu, &config(width, height)).unwrap();
    }

    fn acquire(&mut self) -> Acquired {
        self.surface.acquire(&mut self.gpu, SECOND).unwrap()
    }

    fn frame(&mut self) -> SurfaceFrame {
        match self.acquire() {
            Acquired::Frame(frame) => frame,
            Acquired::Skipped(reason) => panic!("skipped: {reason:?}"),
        }
    }

    #[track_caller]
    fn skipped(&mut self, wanted: Skip) {
        match self.acquire() {
            Acquired::Skipped(reason) => assert_eq!(reason, wanted),
            Acquired::Frame(frame) => panic!("got {frame:?}"),
        }
    }

    fn show(&mut self) {
        let frame = self.frame();
        present(&mut self.gpu, frame).unwrap();
    }

    /// The calls since the last time, without submissions.
    fn calls(&self) -> Vec<NullSurfaceCall> {
        let log = self.window.take_log();
        log.into_iter().filter(|call| !matches!(call, NullSurfaceCall::Submit(..))).collect()
    }
}

fn clear(recorder: &mut Recorder<'_, purlin_rhi::null::Null>, view: TextureView) -> Result<()> {
    let load = LoadOp::Clear(ClearValue::Float([1.0; 4]));
    let color = ColorAttachment { view, load, store: StoreOp::Store, resolve: None };
    let desc = RenderPassDesc {
        label: "clear",
        colors: &[Some(color)],
        depth_stencil: None,
        uses: &[],
        groups: &[],
        ..Default::default()
    };
    recorder.render_pass(&desc, |_| {})
}

fn present(gpu: &mut Gpu, frame: SurfaceFrame) -> Result<SubmissionToken> {
    let mut recorder = gpu.record("frame")?;
    clear(&mut recorder, frame.view())?;
    recorder.present(frame)?;
    recorder.submit()
}

use NullSurfaceCall::{Acquire, Configure, Destroy, DestroySwapchain, Present, Submit};

#[test]
fn a_frame_waits_for_its_image_and_its_present_waits_for_the_frame() {
    let mut shown = manually().configured();
    shown.show();
    let image = SurfaceImage { surface: 0, generation: 0, image: 0 };
    let usage = FrameUse { image, wait: Some((0, Stages::COLOR_OUTPUT)), present: true };
    assert_eq!(shown.window.take_log(), [Acquire(0, Some(0)), Submit(1, usage), Present(0)]);
    shown.control.complete_all();
    let log = shown.control.take_log();
    let barriers: Vec<_> = log[0].commands().filter_map(texture_barriers).flatten().collect();
    assert_eq!(barriers.len(), 2);
    assert_eq!((barriers[0].old, barriers[0].new), (Layout::Undefined, Layout::ColorAttachment));
    assert_eq!(barriers[0].src.stages, Stages::COLOR_OUTPUT, "the transition waits for the acquisition");
    assert_eq!((barriers[1].old, barriers[1].new), (Layout::ColorAttachment, Layout::Present));
}

fn texture_barriers(
    command: &purlin_rhi::null::NullCommand,
) -> Option<Vec<purlin_rhi::plan::TextureBarrier>> {
    match command {
        purlin_rhi::null::NullCommand::Barriers { textures, .. } => Some(textures.clone()),
        _ => None,
    }
}

#[test]
fn only_the_first_submission_waits_and_only_the_last_signals() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    let mut recorder = shown.gpu.record("first").unwrap();
    clear(&mut recorder, frame.view()).unwrap();
    recorder.submit().unwrap();
    shown.gpu.record("unrelated").unwrap().submit().unwrap();
    let mut recorder = shown.gpu.record("second").unwrap();
    recorder.present(frame).unwrap();
    recorder.submit().unwrap();
    let image = SurfaceImage { surface: 0, generation: 0, image: 0 };
    assert_eq!(
        shown.window.take_log(),
        [
            Acquire(0, Some(0)),
            Submit(1, FrameUse { image, wait: Some((0, Stages::COLOR_OUTPUT)), present: false }),
            Submit(3, FrameUse { image, wait: None, present: true }),
            Present(0),
        ]
    );
}

#[test]
fn c074_a_side_of_zero_makes_nothing() {
    let mut shown = shown(NullConfig::executing());
    let mut skips = Vec::new();
    for (width, height) in [(1024, 640), (0, 0), (120, 0), (0, 480), (800, 600)] {
        shown.configure(width, height);
        match shown.acquire() {
            Acquired::Frame(frame) => {
                assert_eq!(frame.extent(), (width, height));
                present(&mut shown.gpu, frame).unwrap();
            }
            Acquired::Skipped(reason) => skips.push(reason),
        }
    }
    assert_eq!(skips, [Skip::ZeroExtent; 3]);
    assert_eq!(
        shown.calls(),
        [
            Configure(0, (1024, 640), FORMAT, 3),
            Acquire(0, Some(0)),
            Present(0),
            Configure(1, (800, 600), FORMAT, 3),
            Acquire(0, Some(0)),
            Present(0),
        ],
        "either side counts, not both"
    );
}

#[test]
fn c074_a_window_without_content_is_minimized() {
    let mut shown = manually();
    shown.window.set_capabilities(|caps| (caps.current_extent, caps.max_extent) = (Some((0, 0)), (0, 0)));
    let configured = shown.surface.configure(&mut shown.gpu, &config(800, 600)).unwrap();
    assert_eq!((configured.extent, configured.images), ((0, 0), 0));
    shown.skipped(Skip::Minimized);
    assert_eq!(shown.calls(), []);
}

#[test]
fn c076_a_present_semaphore_belongs_to_its_image() {
    let mut shown = shown(NullConfig::executing()).configured();
    let answers = [0, 1, 2, 0].map(NullAnswer::Image);
    shown.window.plan_acquires(&answers);
    for _ in 0..4 {
        shown.show();
    }
    let log = shown.window.take_log();
    let presents: Vec<_> =
        log.iter().filter_map(|call| if let Present(image) = call { Some(*image) } else { None }).collect();
    assert_eq!(presents, [0, 1, 2, 0], "by image");
    let acquires: Vec<_> =
        log.iter().filter_map(|call| if let Acquire(one, _) = call { Some(*one) } else { None }).collect();
    assert_eq!(acquires, [0, 1, 0, 1], "by frame in flight");
    for call in &log {
        if let Submit(_, usage) = call {
            assert!(usage.present, "each frame signals the semaphore of its image: {usage:?}");
        }
    }
}

#[test]
fn c076_one_image_may_come_again_and_again() {
    let mut shown = shown(NullConfig::executing()).configured();
    shown.window.plan_acquires(&[1, 0, 0, 0, 0].map(NullAnswer::Image));
    for _ in 0..5 {
        shown.show();
    }
    let log = shown.calls();
    let presents: Vec<_> = log.iter().filter(|call| matches!(call, Present(_))).cloned().collect();
    assert_eq!(presents, [Present(1), Present(0), Present(0), Present(0), Present(0)]);
}

#[test]
fn c076_old_semaphores_stay_until_a_new_image_came_again() {
    let mut shown = manually().configured();
    shown.show();
    shown.control.complete_all();
    shown.configure(640, 480);
    shown.gpu.maintain().unwrap();
    assert_eq!(shown.calls(), [Acquire(0, Some(0)), Present(0), Configure(1, (640, 480), FORMAT, 3)]);
    shown.window.plan_acquires(&[0, 1, 0].map(NullAnswer::Image));
    for _ in 0..3 {
        shown.show();
        assert!(!shown.calls().contains(&DestroySwapchain(0, true)));
        shown.control.complete_all();
    }
    shown.gpu.maintain().unwrap();
    assert_eq!(shown.calls(), [DestroySwapchain(0, true)], "image 0 was shown, came again and was used");
}

#[test]
fn presentation_is_not_the_gpus_completion() {
    let mut shown = manually().configured();
    shown.window.set_fences(true);
    shown.show();
    shown.configure(640, 480);
    shown.control.complete_all();
    shown.gpu.maintain().unwrap();
    assert!(!shown.calls().contains(&DestroySwapchain(0, true)), "the screen still has the image");
    shown.window.finish_presents();
    shown.gpu.maintain().unwrap();
    assert_eq!(shown.calls(), [DestroySwapchain(0, true)]);

    shown.show();
    shown.configure(320, 240);
    shown.window.finish_presents();
    shown.gpu.maintain().unwrap();
    assert!(!shown.calls().contains(&DestroySwapchain(1, true)), "the GPU still has the image");
    shown.control.complete_all();
    shown.gpu.maintain().unwrap();
    assert_eq!(shown.calls(), [DestroySwapchain(1, true)]);
}

#[test]
fn a_view_that_the_program_made_keeps_an_old_chain() {
    let mut shown = shown(NullConfig::executing()).configured();
    shown.window.set_fences(true);
    let frame = shown.frame();
    let desc = TextureViewDesc { label: "mine", ..Default::default() };
    let view = shown.gpu.create_texture_view(frame.texture(), &desc).unwrap();
    present(&mut shown.gpu, frame).unwrap();
    shown.window.finish_presents();
    shown.configure(640, 480);
    shown.gpu.maintain().unwrap();
    assert!(!shown.calls().contains(&DestroySwapchain(0, true)));
    drop(view);
    shown.gpu.maintain().unwrap();
    assert_eq!(shown.calls(), [DestroySwapchain(0, true)]);
}

#[test]
fn rapid_configurations_do_not_pile_up() {
    let mut shown = shown(NullConfig::executing()).configured();
    for size in 1..=40 {
        shown.show();
        shown.configure(size * 10, size * 7);
    }
    shown.gpu.maintain().unwrap();
    let log = shown.calls();
    let gone = log.iter().filter(|call| matches!(call, DestroySwapchain(..))).count();
    assert!(gone >= 34, "{gone} of 40 are gone");
    shown.window.set_fences(true);
    for size in 1..=40 {
        shown.show();
        shown.window.finish_presents();
        shown.configure(size * 10, size * 7);
        shown.gpu.maintain().unwrap();
    }
    let log = shown.calls();
    let unproven = log.iter().filter(|call| matches!(call, DestroySwapchain(_, false))).count();
    assert_eq!(unproven, 0, "with fences nothing is waited for");
}

#[test]
fn a_frame_that_is_dropped_comes_again() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    let (texture, view) = (frame.texture(), frame.view());
    drop(frame);
    let frame = shown.frame();
    assert_eq!((frame.texture(), frame.view()), (texture, view));
    let mut recorder = shown.gpu.record("given up").unwrap();
    clear(&mut recorder, view).unwrap();
    recorder.present(frame).unwrap();
    drop(recorder);
    let frame = shown.frame();
    shown.control.fail_next_submit();
    assert!(present(&mut shown.gpu, frame).is_err());
    shown.show();
    assert_eq!(shown.calls(), [Acquire(0, Some(0)), Present(0)], "acquired once, presented once");
}

#[test]
fn an_image_that_the_system_takes_back_does_not_come_again() {
    let mut shown = shown(NullConfig::default()).configured();
    shown.window.set_keeps_images(false);
    let frame = shown.frame();
    let (texture, view) = (frame.texture(), frame.view());
    drop(frame);
    let frame = shown.frame();
    assert_ne!((frame.texture(), frame.view()), (texture, view));
    let mut recorder = shown.gpu.record("too late").unwrap();
    let stale = HandleProblem::Stale;
    let error = clear(&mut recorder, view).unwrap_err();
    assert!(matches!(error, Error::InvalidHandle { problem, .. } if problem == stale), "{error}");
    drop(recorder);
    present(&mut shown.gpu, frame).unwrap();
    assert_eq!(shown.calls(), [Acquire(0, Some(0)), Acquire(1, Some(1)), Present(1)]);
}

#[test]
fn an_image_that_nobody_drew_to_is_drained_after_a_configuration() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    shown.configure(640, 480);
    shown.gpu.maintain().unwrap();
    drop(frame);
    shown.show();
    let log = shown.window.take_log();
    let drain = FrameUse {
        image: SurfaceImage { surface: 0, generation: 0, image: 0 },
        wait: Some((0, Stages::COLOR_OUTPUT)),
        present: false,
    };
    assert!(log.contains(&Submit(1, drain)), "{log:?}");
    assert!(!log.contains(&DestroySwapchain(0, true)));
    shown.control.complete_all();
    shown.gpu.maintain().unwrap();
    assert_eq!(shown.calls(), [DestroySwapchain(0, true)], "nothing of it was ever presented");
}

#[test]
fn stale_frames_are_refused() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    let view = frame.view();
    shown.configure(640, 480);
    let mut recorder = shown.gpu.record("frame").unwrap();
    bad_handle(clear(&mut recorder, view), HandleProblem::Stale);
    drop(recorder);
    let mut recorder = shown.gpu.record("frame").unwrap();
    bad_handle(recorder.present(frame), HandleProblem::Stale);
    drop(recorder);
    shown.show();
}

#[test]
fn images_do_not_escape_their_frame() {
    let mut shown = shown(NullConfig::executing()).configured();
    let frame = shown.frame();
    let (texture, view) = (frame.texture(), frame.view());
    present(&mut shown.gpu, frame).unwrap();
    let mut recorder = shown.gpu.record("late").unwrap();
    clear(&mut recorder, view).unwrap();
    wrong_state(recorder.submit(), &["surface \"main\"", "acquired", "presented before"]);

    let frame = shown.frame();
    let mut recorder = shown.gpu.record("after").unwrap();
    clear(&mut recorder, frame.view()).unwrap();
    let view = frame.view();
    recorder.present(frame).unwrap();
    clear(&mut recorder, view).unwrap();
    wrong_state(recorder.submit(), &["surface \"main\"", "used after it was presented"]);

    wrong_state(shown.gpu.destroy(texture), &["destroy", "surface"]);
    wrong_state(shown.gpu.destroy(view), &["destroy", "surface"]);
    shown.show();
}

#[test]
fn a_frame_must_be_drawn_to() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    let mut recorder = shown.gpu.record("empty").unwrap();
    wrong_state(recorder.present(frame), &["present", "defined contents", "main image 0"]);
    drop(recorder);
    shown.show();
}

#[test]
fn one_frame_at_a_time() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    let again = shown.surface.acquire(&mut shown.gpu, SECOND);
    wrong_state(again, &["surface \"main\"", "neither presented nor dropped"]);
    present(&mut shown.gpu, frame).unwrap();
    shown.show();
}

#[test]
fn the_cpu_is_ahead_by_the_frames_in_flight() {
    let mut shown = manually().configured();
    shown.show();
    shown.show();
    shown.skipped(Skip::Timeout);
    shown.control.complete_to(1);
    shown.show();
    shown.skipped(Skip::Timeout);
    let one = SurfaceConfig { frames_in_flight: 1, ..config(800, 600) };
    shown.surface.configure(&mut shown.gpu, &one).unwrap();
    shown.show();
    shown.skipped(Skip::Timeout);
    shown.control.complete_all();
    shown.show();
}

#[test]
fn reasons_are_values() {
    let mut shown = manually().configured();
    for reason in [Skip::Timeout, Skip::Occluded] {
        shown.window.plan_acquires(&[NullAnswer::Skip(reason)]);
        shown.skipped(reason);
    }
    shown.show();
    shown.window.plan_acquires(&[NullAnswer::Skip(Skip::Outdated)]);
    shown.window.take_log();
    shown.skipped(Skip::Outdated);
    shown.skipped(Skip::Outdated);
    assert_eq!(shown.calls(), [Acquire(1, None)], "an outdated surface is not asked again");
    shown.configure(800, 600);
    shown.show();
    // What presenting came to is known at the next frame.
    shown.window.plan_presents(&[NullAnswer::Suboptimal(0)]);
    shown.show();
    shown.control.complete_all();
    let frame = shown.frame();
    assert!(frame.is_suboptimal());
    shown.window.plan_presents(&[NullAnswer::Skip(Skip::Outdated)]);
    present(&mut shown.gpu, frame).unwrap();
    shown.skipped(Skip::Outdated);
    shown.configure(800, 600);
    shown.control.complete_all();
    assert!(!shown.frame().is_suboptimal());
}

#[test]
fn a_lost_surface_takes_nothing_with_it() {
    let mut shown = manually().configured();
    let other_window = NullWindow::new(320, 200);
    let other = shown.gpu.create_surface("other", &SurfaceTarget::custom(other_window.clone())).unwrap();
    other.configure(&mut shown.gpu, &config(320, 200)).unwrap();
    shown.window.plan_acquires(&[NullAnswer::Lost]);
    let lost = |result: Result<()>| match err(result) {
        Error::SurfaceLost { what, .. } => assert!(what.contains("\"main\""), "{what}"),
        other => panic!("{other}"),
    };
    lost(shown.surface.acquire(&mut shown.gpu, SECOND).map(|_| ()));
    lost(shown.surface.acquire(&mut shown.gpu, SECOND).map(|_| ()));
    lost(shown.surface.configure(&mut shown.gpu, &config(1, 1)).map(|_| ()));
    lost(shown.surface.capabilities(&shown.gpu).map(|_| ()));
    assert_eq!(shown.gpu.lost(), None);
    let frame = other.acquire(&mut shown.gpu, SECOND).unwrap().frame().unwrap();
    present(&mut shown.gpu, frame).unwrap();
    // The way back: another surface of the same target.
    shown.surface = shown.gpu.create_surface("again", &shown.target).unwrap();
    shown.configure(800, 600);
    shown.show();
    shown.control.complete_all();
    shown.gpu.maintain().unwrap();
    assert_eq!(other_window.take_log().len(), 4, "its own four calls");
}

#[test]
fn another_surface_of_the_window_takes_the_place_of_a_dropped_one() {
    for acquired in [false, true] {
        let mut shown = shown(NullConfig::executing()).configured();
        shown.show();
        if acquired {
            drop(shown.frame());
        }
        let target = shown.target.clone();
        shown.surface = shown.gpu.create_surface("again", &target).unwrap();
        shown.calls();
        shown.configure(640, 480);
        let calls = shown.calls();
        let at = |wanted: fn(&NullSurfaceCall) -> bool| calls.iter().position(wanted);
        let gone = at(|call| *call == Destroy);
        let made = at(|call| matches!(call, Configure(..)));
        assert!(gone.is_some() && gone < made, "{calls:?}");
        shown.show();
    }
}

#[test]
fn a_loss_while_presenting_is_told_at_the_next_frame() {
    let mut shown = manually().configured();
    shown.window.plan_presents(&[NullAnswer::Lost]);
    shown.show();
    assert!(matches!(shown.surface.acquire(&mut shown.gpu, SECOND), Err(Error::SurfaceLost { .. })));
}

#[test]
fn a_lost_device_loses_its_surfaces_calls() {
    let mut shown = manually().configured();
    let frame = shown.frame();
    shown.control.lose_now();
    assert!(matches!(present(&mut shown.gpu, frame), Err(Error::DeviceLost { .. })));
    assert!(matches!(shown.surface.acquire(&mut shown.gpu, SECOND), Err(Error::DeviceLost { .. })));
    let configured = shown.surface.configure(&mut shown.gpu, &config(1, 1));
    assert!(matches!(configured, Err(Error::DeviceLost { .. })));
    let Shown { surface, gpu, window, .. } = shown;
    drop(gpu);
    drop(surface);
    assert_eq!(window.take_log().last(), Some(&Destroy));
}

#[test]
fn owners_are_told_apart() {
    let mut first = manually().configured();
    let mut second = manually().configured();
    let (a, b) = (&first.surface, &mut second.gpu);
    bad_handle(a.capabilities(b), HandleProblem::Foreign);
    bad_handle(a.configure(b, &config(1, 1)), HandleProblem::Foreign);
    bad_handle(a.acquire(b, SECOND), HandleProblem::Foreign);
    let frame = first.frame();
    let mut recorder = second.gpu.record("frame").unwrap();
    bad_handle(clear(&mut recorder, frame.view()), HandleProblem::Foreign);
    drop(recorder);
    let mut recorder = second.gpu.record("frame").unwrap();
    bad_handle(recorder.present(frame), HandleProblem::Foreign);
    drop(recorder);
    first.show();
    second.show();
}

#[test]
fn two_surfaces_in_one_submission() {
    let mut shown = manually().configured();
    let window = NullWindow::new(320, 200);
    let other = shown.gpu.create_surface("other", &SurfaceTarget::custom(window.clone())).unwrap();
    other.configure(&mut shown.gpu, &config(320, 200)).unwrap();
    let (a, b) = (shown.frame(), other.acquire(&mut shown.gpu, SECOND).unwrap().frame().unwrap());
    let mut recorder = shown.gpu.record("both").unwrap();
    clear(&mut recorder, a.view()).unwrap();
    clear(&mut recorder, b.view()).unwrap();
    recorder.present(b).unwrap();
    recorder.present(a).unwrap();
    recorder.submit().unwrap();
    assert_eq!(shown.calls(), [Acquire(0, Some(0)), Present(0)]);
    assert!(window.take_log().contains(&Present(0)));
}

#[test]
fn what_a_surface_does_not_offer_is_refused_by_name() {
    let mut shown = manually();
    let not_yet = shown.surface.acquire(&mut shown.gpu, SECOND);
    wrong_state(not_yet, &["surface \"main\"", "a configured surface"]);
    let gpu = &mut shown.gpu;
    let base = config(800, 600);
    let mut refuse = |config: SurfaceConfig<'_>| shown.surface.configure(gpu, &config).map(|_| ());
    unsupported(
        refuse(SurfaceConfig { format: TextureFormat::R8Unorm, ..base }),
        "presentation of R8Unorm",
        &["surface \"main\"", "Bgra8UnormSrgb"],
    );
    unsupported(
        refuse(SurfaceConfig { present_mode: PresentMode::Immediate, ..base }),
        "present mode Immediate",
        &["Mailbox"],
    );
    let alpha_mode = CompositeAlphaMode::PreMultiplied;
    unsupported(refuse(SurfaceConfig { alpha_mode, ..base }), "alpha mode PreMultiplied", &["Opaque"]);
    let usage = TextureUsages::STORAGE_BINDING;
    refused(refuse(SurfaceConfig { usage, ..base }), &["STORAGE_BINDING", "presented images"]);
    invalid(refuse(SurfaceConfig { images: 9, ..base }), "images", &["2 to 8", "9"]);
    invalid(refuse(SurfaceConfig { frames_in_flight: 0, ..base }), "frames_in_flight", &["1 to 8"]);
    invalid(refuse(SurfaceConfig { usage: TextureUsages::empty(), ..base }), "usage", &["at least one"]);
    let view_formats = &[TextureFormat::Rgba8Unorm][..];
    invalid(refuse(SurfaceConfig { view_formats, ..base }), "view_formats", &["Bgra8Unorm"]);
    unsupported(refuse(SurfaceConfig { width: 20000, ..base }), "limit max_texture_dimension_2d", &["20000"]);
    assert_eq!(shown.calls(), [], "nothing was made");
    shown.configure(800, 600);
    shown.show();
}

#[test]
fn a_window_may_dictate_the_extent_or_take_it() {
    let mut shown = manually();
    shown.window.set_capabilities(|caps| {
        (caps.current_extent, caps.min_extent, caps.max_extent) = (Some((801, 599)), (801, 599), (801, 599));
    });
    let configured = shown.surface.configure(&mut shown.gpu, &config(800, 600)).unwrap();
    assert_eq!(configured.extent, (801, 599));
    assert_eq!(shown.frame().extent(), (801, 599));
    shown.window.set_capabilities(|caps| (caps.current_extent, caps.max_extent) = (None, (1000, 1000)));
    let refusal = shown.surface.configure(&mut shown.gpu, &config(1200, 600));
    invalid(refusal, "width", &["1000x1000", "1200x600"]);
}

#[test]
fn formats_and_views_change_with_the_configuration() {
    let mut shown = shown(NullConfig::executing()).configured();
    shown.show();
    let view_formats = &[TextureFormat::Bgra8UnormSrgb][..];
    let unorm = SurfaceConfig { format: TextureFormat::Bgra8Unorm, view_formats, ..config(800, 600) };
    shown.surface.configure(&mut shown.gpu, &unorm).unwrap();
    let frame = shown.frame();
    assert_eq!(frame.format(), TextureFormat::Bgra8Unorm);
    assert_eq!(shown.gpu.texture_format(frame.texture()).unwrap(), TextureFormat::Bgra8Unorm);
    let format = Some(TextureFormat::Bgra8UnormSrgb);
    let desc = TextureViewDesc { label: "srgb", format, ..Default::default() };
    let view = shown.gpu.create_texture_view(frame.texture(), &desc).unwrap();
    let mut recorder = shown.gpu.record("frame").unwrap();
    clear(&mut recorder, *view).unwrap();
    recorder.present(frame).unwrap();
    recorder.submit().unwrap();
}

#[test]
fn a_driver_that_refuses_leaves_no_images() {
    let mut shown = manually().configured();
    shown.show();
    let failure = BackendError::Failed { call: "make", detail: "no".into() };
    shown.window.fail_configure(SurfaceFailure::Backend(failure));
    let refusal = shown.surface.configure(&mut shown.gpu, &config(640, 480));
    refused(refusal, &["surface \"main\"", "make failed"]);
    shown.skipped(Skip::Outdated);
    shown.configure(640, 480);
    shown.show();
    shown.window.fail_configure(SurfaceFailure::Lost("gone".into()));
    let lost = shown.surface.configure(&mut shown.gpu, &config(640, 480));
    assert!(matches!(lost, Err(Error::SurfaceLost { .. })));
}

#[test]
fn a_request_may_name_its_surface() {
    let window = NullWindow::new(800, 600);
    let target = SurfaceTarget::custom(window.clone());
    let request = DeviceRequest { surface: Some(&target), ..Default::default() };
    assert!(pollster::block_on(Device::<purlin_rhi::null::Null>::request(&request)).is_ok());
    window.set_presentable(false);
    let refusal = pollster::block_on(Device::<purlin_rhi::null::Null>::request(&request));
    assert!(err(refusal).to_string().contains("cannot present"));
    let (mut gpu, _) = manual();
    refused(gpu.create_surface("main", &target), &["surface \"main\"", "a window of the null backend"]);
    refused(gpu.create_surface("main", &SurfaceTarget::custom(7)), &["surface \"main\""]);
}

#[test]
fn c025_surfaces_and_frames_go_in_any_order() {
    for order in 0..4 {
        let mut shown = manually().configured();
        shown.show();
        let frame = shown.frame();
        let Shown { surface, gpu, window, control, target } = shown;
        if order < 3 {
            control.complete_all();
        }
        match order {
            0 => drop((frame, surface, gpu)),
            1 => drop((gpu, frame, surface)),
            2 => drop((surface, frame, gpu)),
            _ => {
                // The surface goes while its device lives, and the window with it.
                let mut gpu = gpu;
                drop((surface, frame, target));
                gpu.maintain().unwrap();
                assert!(!window.take_log().contains(&Destroy), "the GPU still draws");
                control.complete_all();
                gpu.record("drain").unwrap().submit().unwrap();
                control.complete_all();
                gpu.maintain().unwrap();
                assert_eq!(window.take_log().last(), Some(&Destroy));
                continue;
            }
        }
        let log = window.take_log();
        assert_eq!(log.last(), Some(&Destroy), "{order}: {log:?}");
        assert!(log.contains(&DestroySwapchain(0, false)), "{order}: what is shown is waited for");
    }
}

#[test]
fn memory_of_images_is_the_systems() {
    let mut shown = shown(NullConfig::executing()).configured();
    let before = shown.gpu.memory().logical;
    for _ in 0..3 {
        shown.show();
    }
    assert_eq!(shown.gpu.memory().logical, before);
    assert_eq!(shown.gpu.object_count(ResourceKind::Texture), 3);
}
