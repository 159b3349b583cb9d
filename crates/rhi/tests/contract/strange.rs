//! Handles that mean nothing (R2, D6): of every kind, in every call that takes one, stale and of another device.

use purlin_rhi::null::Null;
use purlin_rhi::plan::{BufferUse, ResourceUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::handles::Zoo;
use crate::support::*;

/// One handle of each kind.
#[derive(Clone, Copy)]
struct Handles {
    buffer: Buffer,
    texture: Texture,
    view: TextureView,
    sampler: Sampler,
    shape: BindGroupLayout,
    group: BindGroup,
    layout: PipelineLayout,
    module: ShaderModule,
    raster: RenderPipeline,
    compute: ComputePipeline,
}

impl Handles {
    fn of(zoo: &Zoo) -> Self {
        Self {
            buffer: *zoo.buffer,
            texture: *zoo.texture,
            view: *zoo.view,
            sampler: *zoo.sampler,
            shape: *zoo.shape,
            group: *zoo.group,
            layout: *zoo.layout,
            module: *zoo.module,
            raster: *zoo.raster,
            compute: *zoo.compute,
        }
    }
}

type Call = (&'static str, Box<dyn Fn(&mut Gpu) -> Result<()>>);

fn call<T>(name: &'static str, make: impl Fn(&mut Gpu) -> Result<T> + 'static) -> Call {
    (name, Box::new(move |gpu| make(gpu).map(|_| ())))
}

/// A call of a recorder.
fn recorded<T>(name: &'static str, make: impl Fn(&mut Recorder<'_, Null>) -> Result<T> + 'static) -> Call {
    call(name, move |gpu| {
        let mut recorder = gpu.record("frame")?;
        make(&mut recorder)?;
        recorder.submit()
    })
}

/// A command in a raster pass over `view`.
fn drawn(name: &'static str, view: TextureView, make: impl Fn(&mut RenderPass<'_, Null>) + 'static) -> Call {
    recorded(name, move |recorder| recorder.render_pass(&pass(&[cleared(view)], &[]), |pass| make(pass)))
}

fn computed(name: &'static str, make: impl Fn(&mut ComputePass<'_, Null>) + 'static) -> Call {
    recorded(name, move |recorder| recorder.compute_pass(&ComputePassDesc::default(), |pass| make(pass)))
}

fn used(name: &'static str, usage: ResourceUse) -> Call {
    recorded(name, move |recorder| {
        recorder.compute_pass(&ComputePassDesc { uses: &[usage], ..Default::default() }, |_| {})
    })
}

/// Every call, with one strange handle among good ones.
fn calls(good: Handles, bad: Handles) -> Vec<Call> {
    let (size, place) = (extent(1, 1, 1), |texture| TexturePlace::mip(texture, 0));
    let bind = move |gpu: &mut Gpu, layout, buffer, view, sampler| {
        let entries = [
            BindGroupEntry::buffer(0, buffer),
            BindGroupEntry::texture(1, view),
            BindGroupEntry::sampler(2, sampler),
        ];
        gpu.create_bind_group(&BindGroupDesc { label: "g", layout, entries: &entries })
    };
    let raster_of = |gpu: &mut Gpu, layout, vertex, fragment| {
        let targets = [Some(COLOR.into())];
        let fragment = Some(ShaderStageDesc { module: fragment, entry: "fs" });
        gpu.create_render_pipeline(&RenderPipelineDesc { fragment, ..raster(vertex, layout, &targets) })
    };
    let compute_of = |gpu: &mut Gpu, layout, module| {
        let compute = ShaderStageDesc { module, entry: "cs" };
        gpu.create_compute_pipeline(&ComputePipelineDesc { label: "c", layout, compute })
    };
    vec![
        call("buffer_size", move |gpu| gpu.buffer_size(bad.buffer)),
        call("describe_buffer", move |gpu| gpu.describe_buffer(bad.buffer).map(|_| ())),
        call("write_buffer", move |gpu| gpu.write_buffer(bad.buffer, 0, &[0; 4])),
        call("texture_size", move |gpu| gpu.texture_size(bad.texture)),
        call("texture_bytes", move |gpu| gpu.texture_bytes(bad.texture)),
        call("texture_format", move |gpu| gpu.texture_format(bad.texture)),
        call("describe_texture", move |gpu| gpu.describe_texture(bad.texture).map(|_| ())),
        call("write_texture", move |gpu| gpu.write_texture(&place(bad.texture), size, &rows(4, 1), &[0; 4])),
        call("create_texture_view", move |gpu| {
            gpu.create_texture_view(bad.texture, &TextureViewDesc::default())
        }),
        call("group of a layout", move |gpu| bind(gpu, bad.shape, good.buffer, good.view, good.sampler)),
        call("group of a buffer", move |gpu| bind(gpu, good.shape, bad.buffer, good.view, good.sampler)),
        call("group of a view", move |gpu| bind(gpu, good.shape, good.buffer, bad.view, good.sampler)),
        call("group of a sampler", move |gpu| bind(gpu, good.shape, good.buffer, good.view, bad.sampler)),
        call("create_pipeline_layout", move |gpu| {
            let groups = [good.shape, bad.shape];
            gpu.create_pipeline_layout(&PipelineLayoutDesc { label: "l", groups: &groups, immediate_size: 0 })
        }),
        call("raster of a layout", move |gpu| raster_of(gpu, bad.layout, good.module, good.module)),
        call("raster of a vertex module", move |gpu| raster_of(gpu, good.layout, bad.module, good.module)),
        call("raster of a fragment module", move |gpu| raster_of(gpu, good.layout, good.module, bad.module)),
        call("compute of a layout", move |gpu| compute_of(gpu, bad.layout, good.module)),
        call("compute of a module", move |gpu| compute_of(gpu, good.layout, bad.module)),
        call("destroy buffer", move |gpu| gpu.destroy(bad.buffer)),
        call("destroy texture", move |gpu| gpu.destroy(bad.texture)),
        call("destroy view", move |gpu| gpu.destroy(bad.view)),
        call("destroy sampler", move |gpu| gpu.destroy(bad.sampler)),
        call("destroy shape", move |gpu| gpu.destroy(bad.shape)),
        call("destroy group", move |gpu| gpu.destroy(bad.group)),
        call("destroy layout", move |gpu| gpu.destroy(bad.layout)),
        call("destroy module", move |gpu| gpu.destroy(bad.module)),
        call("destroy raster", move |gpu| gpu.destroy(bad.raster)),
        call("destroy compute", move |gpu| gpu.destroy(bad.compute)),
        recorded("clear_buffer", move |recorder| recorder.clear_buffer(slice(bad.buffer, 0, 4))),
        recorded("copy_buffer from", move |recorder| {
            recorder.copy_buffer(slice(bad.buffer, 0, 4), good.buffer, 64)
        }),
        recorded("copy_buffer to", move |recorder| {
            recorder.copy_buffer(slice(good.buffer, 0, 4), bad.buffer, 64)
        }),
        recorded("copy_buffer_to_texture from", move |recorder| {
            recorder.copy_buffer_to_texture(bad.buffer, &rows(256, 1), &place(good.texture), size)
        }),
        recorded("copy_buffer_to_texture to", move |recorder| {
            recorder.copy_buffer_to_texture(good.buffer, &rows(256, 1), &place(bad.texture), size)
        }),
        recorded("copy_texture_to_buffer from", move |recorder| {
            recorder.copy_texture_to_buffer(&place(bad.texture), size, good.buffer, &rows(256, 1))
        }),
        recorded("copy_texture_to_buffer to", move |recorder| {
            recorder.copy_texture_to_buffer(&place(good.texture), size, bad.buffer, &rows(256, 1))
        }),
        recorded("copy_texture from", move |recorder| {
            recorder.copy_texture(&place(bad.texture), &place(good.texture), size)
        }),
        recorded("copy_texture to", move |recorder| {
            recorder.copy_texture(&place(good.texture), &place(bad.texture), size)
        }),
        recorded("read_buffer", move |recorder| recorder.read_buffer(slice(bad.buffer, 0, 4))),
        recorded("read_texture", move |recorder| recorder.read_texture(&place(bad.texture), size)),
        used("use of a buffer", buffer_use(bad.buffer, 4, BufferUse::CopySrc)),
        used("use of a texture", texture_use(bad.texture, color_range(0), TextureUse::CopySrc)),
        recorded("group of a pass", move |recorder| {
            let groups = [good.group, bad.group];
            recorder.compute_pass(&ComputePassDesc { groups: &groups, ..Default::default() }, |_| {})
        }),
        recorded("color attachment", move |recorder| {
            recorder.render_pass(&pass(&[cleared(bad.view)], &[]), |_| {})
        }),
        recorded("depth attachment", move |recorder| {
            let depth = Some(AspectOps::clear(1.0));
            let attached = DepthStencilAttachment { view: bad.view, depth, stencil: None };
            let desc = RenderPassDesc { depth_stencil: Some(attached), ..RenderPassDesc::default() };
            recorder.render_pass(&desc, |_| {})
        }),
        recorded("section", move |recorder| {
            recorder.render_pass_parallel(&pass(&[cleared(good.view)], &[]), 2, |index, pass| {
                pass.set_pipeline(if index == 1 { bad.raster } else { good.raster });
            })
        }),
        drawn("raster set_pipeline", good.view, move |pass| pass.set_pipeline(bad.raster)),
        drawn("fullscreen", good.view, move |pass| pass.fullscreen(bad.raster)),
        drawn("raster set_bind_group", good.view, move |pass| pass.set_bind_group(0, bad.group, &[])),
        drawn("set_vertex_buffer", good.view, move |pass| pass.set_vertex_buffer(0, slice(bad.buffer, 0, 4))),
        drawn("set_index_buffer", good.view, move |pass| {
            pass.set_index_buffer(slice(bad.buffer, 0, 4), IndexFormat::Uint16);
        }),
        drawn("draw_indirect", good.view, move |pass| {
            pass.set_pipeline(good.raster);
            pass.draw_indirect(bad.buffer, 0);
        }),
        computed("compute set_pipeline", move |pass| pass.set_pipeline(bad.compute)),
        computed("compute set_bind_group", move |pass| pass.set_bind_group(0, bad.group, &[])),
        computed("dispatch_indirect", move |pass| {
            pass.set_pipeline(good.compute);
            pass.dispatch_indirect(bad.buffer, 0);
        }),
    ]
}

/// The zoo, and contents for what its texture and buffer are read for.
fn filled(gpu: &mut Gpu) -> Zoo {
    let zoo = Zoo::new(gpu).unwrap();
    gpu.write_buffer(*zoo.buffer, 0, &[0; 256]).unwrap();
    gpu.flush_uploads().unwrap();
    zoo
}

#[test]
fn handles_of_another_device_are_foreign_in_every_call() {
    let ((mut gpu, _control), (mut other, _other)) = (executing(), executing());
    // The same slots and generations: only the tag tells them apart.
    let (good, strange) = (filled(&mut gpu), filled(&mut other));
    assert_eq!(good.buffer.slot(), strange.buffer.slot());
    for (name, call) in calls(Handles::of(&good), Handles::of(&strange)) {
        let text = bad_handle(gpu.checked(|gpu| call(gpu)), HandleProblem::Foreign);
        assert!(text.contains('@'), "{name}: {text}");
    }
}

#[test]
fn stale_handles_are_refused_in_every_call() {
    let (mut gpu, _control) = executing();
    let gone = filled(&mut gpu);
    let strange = Handles::of(&gone);
    drop(gone);
    gpu.maintain().unwrap();
    // In the slots of what is gone.
    let good = filled(&mut gpu);
    assert_eq!((good.group.slot(), good.view.slot()), (strange.group.slot(), strange.view.slot()));
    for (name, call) in calls(Handles::of(&good), strange) {
        let error = err(gpu.checked(|gpu| call(gpu)));
        assert!(
            matches!(error, Error::InvalidHandle { problem: HandleProblem::Stale, .. }),
            "{name}: {error:?}"
        );
    }
    // And every call is one that good handles pass, or would for another reason than a handle's.
    for (name, call) in calls(Handles::of(&good), Handles::of(&good)) {
        let answer = if name.starts_with("destroy") { Ok(()) } else { call(&mut gpu) };
        assert!(!matches!(answer, Err(Error::InvalidHandle { .. })), "{name}: {answer:?}");
    }
}
