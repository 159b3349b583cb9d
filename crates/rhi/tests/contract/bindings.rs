//! Binding in passes (P4): dynamic offsets, groups against pipelines, and what counts as a change.

use purlin_rhi::backend::Dirty;
use purlin_rhi::null::{NullCommand, NullGroup};
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const VS: ShaderStages = ShaderStages::VERTEX;

/// A device with a target, and the pipeline of [`BOUND`] over two dynamic uniforms.
struct Scene {
    gpu: Gpu,
    control: null::NullControl,
    shapes: [Owned<kind::BindGroupLayout>; 2],
    pipeline: Pipeline,
    target: Owned<kind::TextureView>,
    _texture: Owned<kind::Texture>,
}

impl Scene {
    fn new() -> Self {
        let (mut gpu, control) = executing();
        let shapes = [(); 2].map(|()| group_layout(&mut gpu, &[entry(0, VS, dynamic_uniform(16))]));
        let pipeline = pipeline_of(&mut gpu, &BOUND, &[*shapes[0], *shapes[1]], &[]);
        let texture = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
        let target = view(&mut gpu, *texture);
        Self { gpu, control, shapes, pipeline, target, _texture: texture }
    }

    /// A group over bytes of an uploaded buffer.
    fn group(
        &mut self,
        shape: usize,
        size: u64,
        bound: Option<u64>,
    ) -> (Owned<kind::BindGroup>, Owned<kind::Buffer>) {
        let data = uploaded(&mut self.gpu, "frame data", size, BufferUsages::UNIFORM);
        let resource = BindingResource::Buffer { buffer: *data, offset: 0, size: bound };
        let made = group(&mut self.gpu, *self.shapes[shape], &[BindGroupEntry { binding: 0, resource }]);
        (made, data)
    }

    fn pass(&mut self, body: impl FnOnce(&mut RenderPass<'_, null::Null>)) -> Result<()> {
        self.gpu.maintain()?;
        let colors = [cleared(*self.target)];
        self.gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass(&pass(&colors, &[]), body)?;
            recorder.submit().map(|_| ())
        })
    }
}

/// The groups that each draw found changed.
fn groups(control: &null::NullControl) -> Vec<Vec<NullGroup>> {
    let groups = |command: &NullCommand| match command {
        NullCommand::Draw { changed, .. } => changed.groups.clone(),
        _ => Vec::new(),
    };
    draws(control).iter().map(groups).collect()
}

/// C032, first variant: the whole buffer is bound, so only offset 0 fits, and the message says what to do.
#[test]
fn c032_a_dynamic_offset_over_a_whole_buffer_binding() {
    let mut scene = Scene::new();
    let (group, _data) = scene.group(0, 2560, None);
    assert_eq!(scene.pass(|pass| pass.set_bind_group(0, *group, &[0])), Ok(()));
    let result = scene.pass(|pass| pass.set_bind_group(0, *group, &[256]));
    let texts = [
        "set_bind_group of \"group\"",
        "offset 0: the 2560 bound bytes",
        "explicit smaller size",
        "256 at binding 0",
    ];
    invalid(result, "offsets", &texts);
}

/// C032, second variant: offsets up to the exact end.
#[test]
fn c032_dynamic_offsets_to_the_exact_end() {
    let mut scene = Scene::new();
    let (group, _data) = scene.group(0, 2560, Some(256));
    for offset in [0, 256, 2304] {
        assert_eq!(scene.pass(|pass| pass.set_bind_group(0, *group, &[offset])), Ok(()), "{offset}");
    }
    let mut offset = |offset| scene.pass(|pass| pass.set_bind_group(0, *group, &[offset]));
    invalid(offset(2560), "offsets", &["at most 2304, where 256 bytes still fit", "2560 at binding 0"]);
    invalid(offset(2308), "offsets", &["a multiple of 256", "2308 at binding 0"]);
    invalid(offset(u32::MAX), "offsets", &["a multiple of 256"]);
    invalid(offset(u32::MAX - 255), "offsets", &["at most 2304"]);
}

#[test]
fn there_is_an_offset_for_each_dynamic_binding() {
    let mut scene = Scene::new();
    let (group, _data) = scene.group(0, 2560, Some(256));
    for offsets in [&[][..], &[0, 0]] {
        let result = scene.pass(|pass| pass.set_bind_group(0, *group, offsets));
        invalid(result, "offsets", &["1 dynamic offsets for \"group\""]);
    }
}

/// C033: both groups are bound again, each with its own offset.
#[test]
fn c033_the_second_group_keeps_its_dynamic_offset_on_rebind() {
    let mut scene = Scene::new();
    let (a, _a) = scene.group(0, 1024, Some(256));
    let (b, _b) = scene.group(1, 1024, Some(256));
    let pipeline = *scene.pipeline.pipeline;
    scene.control.take_log();
    scene
        .pass(|pass| {
            pass.set_pipeline(pipeline);
            for (first, second) in [(0, 0), (256, 512), (256, 768)] {
                pass.set_bind_group(0, *a, &[first]);
                pass.set_bind_group(1, *b, &[second]);
                pass.draw(0..3, 0..1);
            }
        })
        .unwrap();
    let bound =
        |index, group: BindGroup, offset| NullGroup { index, slot: group.slot(), offsets: vec![offset] };
    let expected = [
        vec![bound(0, *a, 0), bound(1, *b, 0)],
        vec![bound(0, *a, 256), bound(1, *b, 512)],
        vec![bound(1, *b, 768)],
    ];
    assert_eq!(groups(&scene.control), expected);
}

/// C022: a group is a snapshot; repointing means another group, and the draw sees it whatever else stayed the same.
#[test]
fn c022_a_repointed_buffer_is_another_group() {
    for with_texture in [true, false] {
        let (mut gpu, control) = executing();
        let image = gpu.create_texture(&TextureDesc::uploaded("image", 4, 4, 1, COLOR)).unwrap();
        gpu.write_texture(&TexturePlace::mip(*image, 0), extent(4, 4, 1), &rows(16, 4), &[1; 64]).unwrap();
        let seen = view(&mut gpu, *image);
        let p = buffer(&mut gpu, "p", 64, BufferUsages::STORAGE);
        let q = buffer(&mut gpu, "q", 64, BufferUsages::STORAGE);
        let mut shape = vec![entry(0, ShaderStages::COMPUTE, storage(false))];
        if with_texture {
            shape.push(entry(1, ShaderStages::COMPUTE, sampled()));
        }
        let shape = group_layout(&mut gpu, &shape);
        let kernel = kernel(&mut gpu, &STORES, &[*shape]);
        let mut over = |buffer| {
            let mut entries = vec![BindGroupEntry::buffer(0, buffer)];
            if with_texture {
                entries.push(BindGroupEntry::texture(1, *seen));
            }
            group(&mut gpu, *shape, &entries)
        };
        let (first, second) = (over(*p), over(*q));
        let stages = ShaderStages::COMPUTE;
        let uses = [*p, *q].map(|buffer| buffer_use(buffer, 64, BufferUse::StorageWrite(stages)));
        let mut recorder = gpu.record("frame").unwrap();
        let desc = ComputePassDesc { label: "p", uses: &uses, ..Default::default() };
        recorder
            .compute_pass(&desc, |pass| {
                pass.set_pipeline(*kernel);
                for group in [*first, *second] {
                    pass.set_bind_group(0, group, &[]);
                    pass.dispatch([1, 1, 1]);
                }
            })
            .unwrap();
        recorder.submit().unwrap();
        let bound: Vec<_> = draws(&control)
            .iter()
            .map(|command| match command {
                NullCommand::Dispatch { changed, .. } => changed.groups[0].slot,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(bound, [first.slot(), second.slot()]);
    }
}

/// C035: A, B, A binds three times.
#[test]
fn c035_bind_a_b_a() {
    let mut scene = Scene::new();
    let attributes = [VertexAttribute { format: VertexFormat::Float32, offset: 0, shader_location: 0 }];
    let layout = VertexBufferLayout { stride: 4, step: VertexStepMode::Vertex, attributes: &attributes };
    let pipeline = pipeline_of(&mut scene.gpu, &SIMPLE, &[], &[layout]);
    let made = |scene: &mut Scene, label| uploaded(&mut scene.gpu, label, 12, BufferUsages::VERTEX);
    let (a, b) = (made(&mut scene, "a"), made(&mut scene, "b"));
    scene.control.take_log();
    scene
        .pass(|pass| {
            pass.set_pipeline(*pipeline.pipeline);
            for buffer in [*a, *b, *a] {
                pass.set_vertex_buffer(0, slice(buffer, 0, 12));
                pass.draw(0..3, 0..1);
            }
        })
        .unwrap();
    let bound: Vec<_> = draws(&scene.control)
        .iter()
        .map(|command| match command {
            NullCommand::Draw { changed, .. } => changed.vertex_buffers[0].slot,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bound, [a.slot(), b.slot(), a.slot()]);
}

#[test]
fn draws_need_every_group_that_the_shaders_use() {
    let mut scene = Scene::new();
    let (a, _a) = scene.group(0, 256, None);
    let (b, _b) = scene.group(1, 256, None);
    let pipeline = *scene.pipeline.pipeline;
    let mut draw = |first: Option<BindGroup>, second: Option<BindGroup>| {
        scene.pass(|pass| {
            pass.set_pipeline(pipeline);
            for (index, group) in [(0, first), (1, second)] {
                if let Some(group) = group {
                    pass.set_bind_group(index, group, &[0]);
                }
            }
            pass.draw(0..3, 0..1);
        })
    };
    assert_eq!(draw(Some(*a), Some(*b)), Ok(()));
    wrong_state(draw(Some(*a), None), &["pass \"pass\", draw", "layout \"shape\" at group 1", "none"]);
    // The same shape is not the same layout: layouts are told apart by identity.
    wrong_state(draw(Some(*b), Some(*b)), &["at group 0", "\"group\" of layout \"shape\""]);
}

#[test]
fn groups_beyond_the_last_and_destroyed_ones_are_refused() {
    let mut scene = Scene::new();
    let (a, _a) = scene.group(0, 256, None);
    let result = scene.pass(|pass| pass.set_bind_group(4, *a, &[0]));
    unsupported(result, "limit max_bind_groups", &["group 4 requested, 4 available"]);
    let handle = *a;
    drop(a);
    bad_handle(scene.pass(|pass| pass.set_bind_group(0, handle, &[0])), HandleProblem::Stale);
}

#[test]
fn what_is_bound_already_is_not_bound_again() {
    let mut scene = Scene::new();
    let (a, _a) = scene.group(0, 512, Some(256));
    let (b, _b) = scene.group(1, 512, Some(256));
    let pipeline = *scene.pipeline.pipeline;
    scene.control.take_log();
    scene
        .pass(|pass| {
            for _ in 0..2 {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, *a, &[0]);
                pass.set_bind_group(1, *b, &[256]);
                pass.draw(0..3, 0..1);
            }
        })
        .unwrap();
    let dirty: Vec<Dirty> = draws(&scene.control)
        .iter()
        .map(|command| match command {
            NullCommand::Draw { dirty, .. } => *dirty,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(dirty[0].contains(Dirty::PIPELINE | Dirty::GROUP0 | Dirty::GROUP1));
    assert_eq!(dirty[1], Dirty::empty());
}

#[test]
fn another_pipeline_layout_binds_everything_again() {
    let mut scene = Scene::new();
    let (a, _a) = scene.group(0, 512, Some(256));
    let (b, _b) = scene.group(1, 512, Some(256));
    let other = pipeline_of(&mut scene.gpu, &BOUND, &[*scene.shapes[0], *scene.shapes[1]], &[]);
    let pipeline = *scene.pipeline.pipeline;
    scene.control.take_log();
    scene
        .pass(|pass| {
            pass.set_bind_group(0, *a, &[0]);
            pass.set_bind_group(1, *b, &[256]);
            for pipeline in [pipeline, *other.pipeline] {
                pass.set_pipeline(pipeline);
                pass.draw(0..3, 0..1);
            }
        })
        .unwrap();
    let groups = groups(&scene.control);
    assert_eq!(groups[0].len(), 2);
    assert_eq!(groups[1], groups[0]);
}

#[test]
fn tracked_resources_of_a_group_are_declared_with_the_moved_range() {
    let mut scene = Scene::new();
    let data = buffer(&mut scene.gpu, "tracked", 1024, BufferUsages::UNIFORM);
    scene.gpu.write_buffer(*data, 0, &[0; 1024]).unwrap();
    let bound = group(&mut scene.gpu, *scene.shapes[0], &[BindGroupEntry::buffer_range(0, *data, 0, 256)]);
    let mut with = |uses: &[plan::ResourceUse], offset: u32| {
        let colors = [cleared(*scene.target)];
        let mut recorder = scene.gpu.record("frame").unwrap();
        recorder.render_pass(&pass(&colors, uses), |pass| pass.set_bind_group(0, *bound, &[offset]))
    };
    let declared = |offset, size, stages| {
        [plan::ResourceUse::Buffer { buffer: *data, offset, size, usage: BufferUse::Uniform(stages) }]
    };
    assert_eq!(with(&declared(0, 1024, VS), 768), Ok(()));
    assert_eq!(with(&declared(256, 256, VS | ShaderStages::FRAGMENT), 256), Ok(()));
    let texts = ["set_bind_group of \"group\"", "binding 0 declared by the pass", "no such declaration"];
    invalid(with(&[], 0), "uses", &texts);
    invalid(with(&declared(0, 512, VS), 512), "uses", &texts);
    invalid(with(&declared(0, 1024, ShaderStages::FRAGMENT), 0), "uses", &texts);
}

#[test]
fn a_buffer_is_not_read_before_its_first_upload() {
    let (mut gpu, _control) = executing();
    let target = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *target);
    let usage = BufferUsages::UNIFORM | BufferUsages::VERTEX | BufferUsages::INDEX | BufferUsages::INDIRECT;
    let data = gpu.create_buffer(&BufferDesc::uploaded("data", 64, usage)).unwrap();
    let shape = group_layout(&mut gpu, &[entry(0, VS, uniform(16))]);
    let bound = group(&mut gpu, *shape, &[BindGroupEntry::buffer(0, *data)]);
    let pipeline = simple_pipeline(&mut gpu);
    let (data, bound, pipeline) = (*data, *bound, *pipeline.pipeline);
    let whole = slice(data, 0, 64);
    type Command<'a> = &'a dyn Fn(&mut RenderPass<'_, null::Null>);
    let commands: [Command<'_>; 4] = [
        &|pass| pass.set_bind_group(0, bound, &[]),
        &|pass| pass.set_vertex_buffer(0, whole),
        &|pass| pass.set_index_buffer(whole, IndexFormat::Uint16),
        &|pass| {
            pass.set_pipeline(pipeline);
            pass.draw_indirect(data, 0);
        },
    ];
    let run = |gpu: &mut Gpu, command: Command<'_>| {
        gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass(&pass(&[cleared(*target)], &[]), |pass| command(pass))?;
            recorder.submit()
        })
    };
    for command in commands {
        wrong_state(
            run(&mut gpu, command),
            &["uploaded before", "buffer \"data\", to which nothing was uploaded"],
        );
    }
    // Nothing is read of an empty slice.
    assert!(run(&mut gpu, &|pass| pass.set_vertex_buffer(0, slice(data, 64, 0))).is_ok());
    gpu.write_buffer(data, 0, &[0; 4]).unwrap();
    for command in commands {
        assert!(run(&mut gpu, command).is_ok());
    }
}

#[test]
fn a_group_over_mips_that_were_never_uploaded_is_refused_until_they_are() {
    let (mut gpu, _control) = executing();
    let desc = TextureDesc::uploaded("streamed", 4, 4, 3, COLOR);
    let image = gpu.create_texture(&desc).unwrap();
    let shape = group_layout(&mut gpu, &[entry(0, ShaderStages::COMPUTE, sampled())]);
    let mips = |gpu: &mut Gpu, base_mip| {
        let desc = TextureViewDesc { label: "mips", base_mip, ..Default::default() };
        gpu.create_texture_view(*image, &desc).unwrap()
    };
    let (all, tail) = (mips(&mut gpu, 0), mips(&mut gpu, 2));
    let whole = group(&mut gpu, *shape, &[BindGroupEntry::texture(0, *all)]);
    let rest = group(&mut gpu, *shape, &[BindGroupEntry::texture(0, *tail)]);
    let kernel = kernel(&mut gpu, &SAMPLES, &[*shape]);
    let dispatch = |gpu: &mut Gpu, group: BindGroup| {
        gpu.checked(|gpu| {
            let mut recorder = gpu.record("frame")?;
            recorder.compute_pass(
                &ComputePassDesc { label: "p", uses: &[], ..Default::default() },
                |pass| {
                    pass.set_pipeline(*kernel);
                    pass.set_bind_group(0, group, &[]);
                    pass.dispatch([1, 1, 1]);
                },
            )?;
            // The executor checks the layout of what is bound.
            recorder.submit()
        })
    };
    let texts = ["set_bind_group of \"group\"", "view \"mips\"", "nothing was uploaded to"];
    wrong_state(dispatch(&mut gpu, *rest), &texts);
    for (mip, side) in [(2, 1), (1, 2), (0, 4)] {
        wrong_state(dispatch(&mut gpu, *whole), &texts);
        let data = vec![7; (side * side * 4) as usize];
        gpu.write_texture(
            &TexturePlace::mip(*image, mip),
            extent(side, side, 1),
            &rows(side * 4, side),
            &data,
        )
        .unwrap();
        dispatch(&mut gpu, *rest).unwrap();
    }
    dispatch(&mut gpu, *whole).unwrap();
}
