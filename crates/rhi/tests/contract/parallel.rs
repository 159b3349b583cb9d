//! Raster passes in sections (G9): order, state, mistakes, failures, and nothing left behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use purlin_rhi::backend::{Dirty, Draw};
use purlin_rhi::null::{Null, NullCommand, NullConfig};
use purlin_rhi::plan::{BufferUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

struct Scene {
    gpu: Gpu,
    control: null::NullControl,
    pipeline: Pipeline,
    target: Owned<kind::TextureView>,
    texture: Owned<kind::Texture>,
}

impl Scene {
    fn new() -> Self {
        Self::with(NullConfig::executing())
    }

    fn with(config: NullConfig) -> Self {
        let (mut gpu, control) = device(config);
        let pipeline = simple_pipeline(&mut gpu);
        let texture = texture(&mut gpu, "target", 64, 32, TextureUsages::RENDER_ATTACHMENT);
        let target = view(&mut gpu, *texture);
        control.take_log();
        Self { gpu, control, pipeline, target, texture }
    }

    fn sections(
        &mut self,
        count: u32,
        body: impl Fn(u32, &mut RenderPass<'_, Null>) + Sync,
    ) -> Result<SubmissionToken> {
        let colors = [cleared(*self.target)];
        self.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass_parallel(&pass(&colors, &[]), count, body)?;
            recorder.submit()
        })
    }

    /// What the pass left in the log.
    fn commands(&self) -> Vec<NullCommand> {
        let mut all = commands(&self.control);
        all.retain(|command| !matches!(command, NullCommand::Barriers { .. }));
        all
    }

    /// That nothing of a failed recording is left, and that the next one is as any.
    fn still_works(&mut self) {
        assert_eq!(self.control.open_encoders(), 0);
        self.control.take_log();
        let pipeline = *self.pipeline.pipeline;
        self.sections(3, |index, pass| {
            pass.set_pipeline(pipeline);
            pass.draw(0..3, index..index + 1);
        })
        .unwrap();
        assert_eq!(first_instances(&self.commands()), [0, 1, 2]);
        assert_eq!(self.control.open_encoders(), 0);
    }
}

fn first_instances(commands: &[NullCommand]) -> Vec<u32> {
    let first = |command: &NullCommand| match command {
        NullCommand::Draw { draw: Draw::Direct { first_instance, .. }, .. } => Some(*first_instance),
        _ => None,
    };
    commands.iter().filter_map(first).collect()
}

#[test]
fn sections_execute_in_order_and_each_is_like_a_pass_of_its_own() {
    let mut scene = Scene::new();
    let pipeline = *scene.pipeline.pipeline;
    for _ in 0..50 {
        scene
            .sections(5, |index, pass| {
                // The first ones take longest, so that they are recorded last where there are threads.
                std::thread::sleep(std::time::Duration::from_micros(u64::from(5 - index) * 50));
                assert_eq!(pass.extent(), (64, 32));
                pass.set_pipeline(pipeline);
                for draw in 0..3 {
                    pass.draw(0..3, index * 10 + draw..index * 10 + draw + 1);
                }
                pass.set_scissor(0, 0, 1 + index, 1);
                pass.draw(0..3, index * 10 + 3..index * 10 + 4);
            })
            .unwrap();
        let commands = scene.commands();
        let expected: Vec<u32> =
            (0..5).flat_map(|section| (0..4).map(move |draw| section * 10 + draw)).collect();
        assert_eq!(first_instances(&commands), expected);
        let mut expects_state = false;
        let mut names = Vec::new();
        for command in &commands {
            match command {
                NullCommand::Section(name) => {
                    names.push(name.as_str());
                    expects_state = true;
                }
                NullCommand::Draw { dirty, changed, .. } if std::mem::take(&mut expects_state) => {
                    assert!(dirty.contains(Dirty::PIPELINE | Dirty::VIEWPORT | Dirty::SCISSOR), "{dirty:?}");
                    assert_eq!(changed.scissor, Some([0, 0, 64, 32]));
                }
                _ => {}
            }
        }
        let of = |index| format!("pass, section {index}");
        assert_eq!(names, (0..5).map(of).collect::<Vec<_>>());
    }
}

#[test]
fn the_same_sections_are_the_same_submission() {
    let mut scene = Scene::new();
    let pipeline = *scene.pipeline.pipeline;
    let record = |scene: &mut Scene| {
        scene
            .sections(7, |index, pass| {
                pass.set_pipeline(pipeline);
                pass.push_debug_group("part");
                pass.draw(0..3, index..index + 1);
            })
            .unwrap();
        commands(&scene.control)
    };
    record(&mut scene);
    let first = record(&mut scene);
    for _ in 0..20 {
        assert_eq!(record(&mut scene), first);
    }
    let begins = first.iter().filter(|command| matches!(command, NullCommand::BeginRenderPass(_))).count();
    assert_eq!(begins, 1);
}

#[test]
fn one_section_is_a_plain_pass_and_none_only_clears() {
    let mut scene = Scene::new();
    let pipeline = *scene.pipeline.pipeline;
    let thread = std::thread::current().id();
    scene
        .sections(1, |index, pass| {
            assert_eq!((index, std::thread::current().id()), (0, thread));
            pass.set_pipeline(pipeline);
            pass.draw(0..3, 0..1);
        })
        .unwrap();
    let commands = scene.commands();
    assert!(!commands.iter().any(|command| matches!(command, NullCommand::Section(_))));
    assert_eq!(first_instances(&commands), [0]);

    let mut recorder = scene.gpu.record("fill").unwrap();
    let colors = [Some(ColorAttachment {
        view: *scene.target,
        load: LoadOp::Clear(ClearValue::Float([1.0; 4])),
        store: StoreOp::Store,
        resolve: None,
    })];
    recorder.render_pass_parallel(&pass(&colors, &[]), 0, |_, _| panic!("there is no section")).unwrap();
    recorder.submit().unwrap();
    let texels = texels_of(&mut scene.gpu, TexturePlace::mip(*scene.texture, 0), extent(64, 32, 1));
    assert!(texels.iter().all(|byte| *byte == 255));
}

#[test]
fn the_first_mistake_is_that_of_the_lowest_section() {
    let mut scene = Scene::new();
    let pipeline = *scene.pipeline.pipeline;
    let ran = AtomicU32::new(0);
    for _ in 0..50 {
        let result = scene.sections(6, |index, pass| {
            ran.fetch_add(1, Ordering::Relaxed);
            pass.set_pipeline(pipeline);
            pass.draw(0..3, 0..1);
            if index >= 2 {
                // Later sections fail sooner.
                std::thread::sleep(std::time::Duration::from_micros(u64::from(6 - index) * 50));
                pass.set_scissor(index, 0, 64, 1);
            }
        });
        invalid(result, "scissor", &["pass \"pass, section 2\"", "after 1 draws", "64x1 at 2,0"]);
    }
    assert_eq!(ran.into_inner(), 300, "every section runs");
    assert!(scene.control.take_log().is_empty(), "nothing was submitted");
    scene.still_works();
}

#[test]
fn a_mistake_in_a_section_ends_the_recording() {
    let mut scene = Scene::new();
    let colors = [cleared(*scene.target)];
    let mut recorder = scene.gpu.record("frame").unwrap();
    let result = recorder.render_pass_parallel(&pass(&colors, &[]), 2, |_, pass| pass.draw(0..3, 0..1));
    wrong_state(result, &["pass \"pass, section 0\"", "a pipeline"]);
    wrong_state(recorder.render_pass(&pass(&colors, &[]), |_| {}), &["an earlier one"]);
    wrong_state(recorder.submit(), &["a pipeline"]);
    scene.still_works();
}

#[test]
fn a_section_that_cannot_begin_leaves_nothing() {
    let mut scene = Scene::new();
    for failing in 1..=4 {
        scene.control.fail_section(failing);
        let result = scene.sections(4, |_, _| {});
        refused(result, &["pass \"pass\", 4 sections", "begin_section", "failed by the test"]);
        scene.still_works();
    }
    // The failure of a lower section comes before the mistake of a higher one.
    scene.control.fail_section(2);
    let result = scene.sections(4, |index, pass| {
        if index > 1 {
            pass.draw(0..3, 0..1);
        }
    });
    refused(result, &["begin_section"]);
    scene.still_works();
}

#[test]
fn a_device_lost_while_sections_are_taken_says_so() {
    for step in 1..=4 {
        let mut scene = Scene::new();
        let colors = [cleared(*scene.target)];
        let mut recorder = scene.gpu.record("frame").unwrap();
        scene.control.lose_device_at(step);
        let result = recorder.render_pass_parallel(&pass(&colors, &[]), 4, |_, _| panic!("not recorded"));
        assert!(matches!(err(result), Error::DeviceLost { .. }));
        drop(recorder);
        assert_eq!(scene.control.open_encoders(), 0, "step {step}");
    }
}

#[test]
fn a_recording_dropped_after_its_sections_leaves_nothing() {
    let mut scene = Scene::new();
    let colors = [cleared(*scene.target)];
    let mut recorder = scene.gpu.record("frame").unwrap();
    recorder.render_pass_parallel(&pass(&colors, &[]), 4, |_, _| {}).unwrap();
    drop(recorder);
    assert!(scene.control.take_log().is_empty());
    scene.still_works();
    scene.control.fail_next_submit();
    refused(scene.sections(4, |_, _| {}), &["failed by the test"]);
    scene.still_works();
}

#[test]
fn a_panic_in_a_section_reaches_the_caller_and_leaves_nothing() {
    let mut scene = Scene::new();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _ = scene.sections(4, |index, _| assert!(index != 2, "the body's own"));
    }));
    assert!(caught.is_err());
    scene.still_works();
}

#[test]
fn uses_are_declared_for_all_sections() {
    let mut scene = Scene::new();
    let arguments = buffer(&mut scene.gpu, "arguments", 64, BufferUsages::INDIRECT);
    let mut recorder = scene.gpu.record("clear").unwrap();
    recorder.clear_buffer(slice(*arguments, 0, 64)).unwrap();
    recorder.submit().unwrap();
    let (pipeline, arguments) = (*scene.pipeline.pipeline, *arguments);
    let body = |index: u32, pass: &mut RenderPass<'_, Null>| {
        pass.set_pipeline(pipeline);
        pass.draw_indirect(arguments, u64::from(index) * 16);
    };
    let result = scene.sections(4, body);
    invalid(result, "uses", &["pass \"pass, section 0\"", "no such declaration"]);

    let uses = [buffer_use(arguments, 64, BufferUse::Indirect)];
    let colors = [cleared(*scene.target)];
    let mut recorder = scene.gpu.record("frame").unwrap();
    recorder.render_pass_parallel(&pass(&colors, &uses), 4, body).unwrap();
    recorder.submit().unwrap();
    scene.still_works();
}

#[test]
fn passes_around_sections_are_planned_as_always() {
    let mut scene = Scene::new();
    let (pipeline, target, texture) = (*scene.pipeline.pipeline, *scene.target, *scene.texture);
    let (cleared, loaded) = (
        [cleared(target)],
        [Some(ColorAttachment { view: target, load: LoadOp::Load, store: StoreOp::Store, resolve: None })],
    );
    let barriers = |scene: &mut Scene, sections: u32| {
        let mut recorder = scene.gpu.record("frame").unwrap();
        for colors in [&cleared, &loaded] {
            let draw = |_, pass: &mut RenderPass<'_, Null>| {
                pass.set_pipeline(pipeline);
                pass.draw(0..3, 0..1);
            };
            recorder.render_pass_parallel(&pass(colors, &[]), sections, draw).unwrap();
        }
        let ticket = recorder.read_texture(&TexturePlace::mip(texture, 0), extent(64, 32, 1)).unwrap();
        recorder.submit().unwrap();
        scene.gpu.read_vec(&ticket).unwrap();
        let mut all = commands(&scene.control);
        all.retain(|command| matches!(command, NullCommand::Barriers { .. }));
        all
    };
    barriers(&mut scene, 1);
    let serial = barriers(&mut scene, 1);
    assert!(serial.len() >= 3, "{serial:?}");
    assert_eq!(barriers(&mut scene, 3), serial);
    // A pass that is sampled while it is drawn to stays refused.
    let uses = [texture_use(texture, color_range(0), TextureUse::Color { load: false })];
    let mut recorder = scene.gpu.record("frame").unwrap();
    let result = recorder.render_pass_parallel(&pass(&cleared, &uses), 3, |_, _| {});
    invalid(result, "uses", &["do not write what another use"]);
}

#[test]
fn a_backend_without_sections_records_them_one_after_the_other() {
    let record = |scene: &mut Scene| {
        let pipeline = *scene.pipeline.pipeline;
        scene.control.take_log();
        scene
            .sections(4, |index, pass| {
                pass.set_pipeline(pipeline);
                pass.set_scissor(0, 0, 1, 1);
                pass.push_debug_group("left open");
                pass.draw(0..3, index..index + 1);
            })
            .unwrap();
        let mut commands = scene.commands();
        commands.retain(|command| !matches!(command, NullCommand::Section(_)));
        commands
    };
    // It keeps no state either, or the later sections would be told only what differs.
    let config = NullConfig { sections: false, keeps_state: false, ..NullConfig::executing() };
    let mut serial = Scene::with(config);
    let commands = record(&mut serial);
    assert_eq!(first_instances(&commands), [0, 1, 2, 3]);
    assert_eq!(commands, record(&mut Scene::new()), "the state of each section included");

    let result = serial.sections(4, |index, pass| {
        if index > 1 {
            pass.draw(0..3, index..index + 1);
        }
    });
    wrong_state(result, &["pass \"pass, section 2\"", "a pipeline"]);
    serial.still_works();
}
