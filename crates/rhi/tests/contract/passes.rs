//! Attachments, declared uses, debug groups and the recorder after a mistake (R6, C1, C5).

use purlin_rhi::null::{NullCommand, NullRenderPass};
use purlin_rhi::plan::{Aspects, BufferUse, ResourceUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const TARGET: TextureUsages = TextureUsages::RENDER_ATTACHMENT.union(TextureUsages::COPY_SRC);

fn target(
    gpu: &mut Gpu,
    format: TextureFormat,
    width: u32,
) -> (Owned<kind::Texture>, Owned<kind::TextureView>) {
    let desc = TextureDesc::d2("target", width, 4, format, TARGET | TextureUsages::TEXTURE_BINDING);
    let texture = gpu.create_texture(&desc).unwrap();
    let view = view(gpu, *texture);
    (texture, view)
}

fn color(view: TextureView, load: LoadOp<ClearValue>) -> Option<ColorAttachment> {
    Some(ColorAttachment { view, load, store: StoreOp::Store, resolve: None })
}

fn depth_pass(
    view: TextureView,
    depth: Option<AspectOps<f32>>,
    stencil: Option<AspectOps<u32>>,
) -> RenderPassDesc<'static> {
    RenderPassDesc {
        label: "depth",
        colors: &[],
        depth_stencil: Some(DepthStencilAttachment { view, depth, stencil }),
        uses: &[],
        ..Default::default()
    }
}

/// Records one pass alone and submits it.
fn run(gpu: &mut Gpu, desc: &RenderPassDesc<'_>) -> Result<()> {
    gpu.checked(|gpu| {
        let mut recorder = gpu.record("frame")?;
        recorder.render_pass(desc, |_| {})?;
        recorder.submit().map(|_| ())
    })
}

fn begun(control: &null::NullControl) -> NullRenderPass {
    let begins = |command| match command {
        NullCommand::BeginRenderPass(pass) => Some(pass),
        _ => None,
    };
    commands(control).into_iter().find_map(begins).expect("a render pass")
}

#[test]
fn attachments_agree_with_each_other() {
    let mut gpu = plain();
    let (_a, a) = target(&mut gpu, COLOR, 4);
    let (_b, b) = target(&mut gpu, COLOR, 8);
    let result = run(&mut gpu, &pass(&[cleared(*a), None, cleared(*b)], &[]));
    let texts =
        ["pass \"pass\"", "attachments of 4x4, 1 layers", "8x4, 1 layers, 1 samples of view \"view\""];
    invalid(result, "attachments", &texts);
    invalid(run(&mut gpu, &pass(&[None], &[])), "attachments", &["at least one attachment"]);
    let nine = [cleared(*a); 9];
    unsupported(
        run(&mut gpu, &pass(&nine, &[])),
        "limit max_color_attachments",
        &["9 requested, 8 available"],
    );
    invalid(
        run(&mut gpu, &pass(&[cleared(*a), cleared(*a)], &[])),
        "uses",
        &["do not write what another use", "Color"],
    );
}

#[test]
fn attachments_are_attachable_views_of_the_right_kind() {
    let (mut gpu, control) = executing();
    let plain = texture(&mut gpu, "plain", 4, 4, TextureUsages::TEXTURE_BINDING);
    let plain_view = view(&mut gpu, *plain);
    control.take_log();
    let texts = ["2D views of one mip with RENDER_ATTACHMENT", "view \"view\""];
    invalid(run(&mut gpu, &pass(&[cleared(*plain_view)], &[])), "attachments", &texts);
    let chain = gpu.create_texture(&TextureDesc::d2("chain", 4, 4, COLOR, TARGET).with_mips(2)).unwrap();
    let both = view(&mut gpu, *chain);
    invalid(run(&mut gpu, &pass(&[cleared(*both)], &[])), "attachments", &["2 mips"]);
    let (_d, depth) = target(&mut gpu, TextureFormat::Depth32Float, 4);
    invalid(run(&mut gpu, &pass(&[cleared(*depth)], &[])), "colors", &["a color format", "Depth32Float"]);
    let (_c, color) = target(&mut gpu, COLOR, 4);
    invalid(
        run(&mut gpu, &depth_pass(*color, Some(AspectOps::clear(1.0)), None)),
        "depth_stencil",
        &["of Rgba8Unorm"],
    );
    assert!(commands(&control).is_empty());
}

#[test]
fn depth_attachments_give_operations_for_exactly_their_aspects() {
    let mut gpu = plain();
    let (texture, whole) = target(&mut gpu, TextureFormat::Depth24PlusStencil8, 4);
    let (depth, stencil) = (Some(AspectOps::clear(1.0)), Some(AspectOps::clear(0)));
    assert_eq!(run(&mut gpu, &depth_pass(*whole, depth, stencil)), Ok(()));
    for (depth, stencil) in [(depth, None), (None, stencil), (None, None)] {
        let result = run(&mut gpu, &depth_pass(*whole, depth, stencil));
        invalid(result, "depth_stencil", &["pass \"depth\"", "DEPTH | STENCIL", "Depth24PlusStencil8"]);
    }
    let desc = TextureViewDesc { label: "half", aspect: TextureAspect::DepthOnly, ..Default::default() };
    let half = gpu.create_texture_view(*texture, &desc).unwrap();
    invalid(
        run(&mut gpu, &depth_pass(*half, depth, None)),
        "depth_stencil.view",
        &["DEPTH | STENCIL", "\"half\""],
    );
    let (_d, only) = target(&mut gpu, TextureFormat::Depth32Float, 4);
    invalid(run(&mut gpu, &depth_pass(*only, depth, stencil)), "depth_stencil", &["exactly Aspects(DEPTH)"]);
}

#[test]
fn depth_and_stencil_clears_are_in_range() {
    let mut gpu = plain();
    let (_t, whole) = target(&mut gpu, TextureFormat::Depth24PlusStencil8, 4);
    let mut clear = |depth, stencil| {
        run(&mut gpu, &depth_pass(*whole, Some(AspectOps::clear(depth)), Some(AspectOps::clear(stencil))))
    };
    assert_eq!(clear(0.0, 255), Ok(()));
    for depth in [-0.5, 1.5, f32::NAN] {
        invalid(clear(depth, 0), "depth_stencil.depth.load", &["a depth from 0 to 1"]);
    }
    invalid(clear(1.0, 256), "depth_stencil.stencil.load", &["a stencil from 0 to 255", "256"]);
}

#[test]
fn a_read_only_aspect_is_loaded_and_kept() {
    let mut gpu = plain();
    let (_t, view) = target(&mut gpu, TextureFormat::Depth32Float, 4);
    run(&mut gpu, &depth_pass(*view, Some(AspectOps::clear(1.0)), None)).unwrap();
    let cleared = AspectOps { read_only: true, ..AspectOps::clear(1.0) };
    for ops in [cleared, AspectOps::read_only().discarded()] {
        invalid(run(&mut gpu, &depth_pass(*view, Some(ops), None)), "depth_stencil", &["loaded and kept"]);
    }
    let mut pipeline = |depth_write| {
        let module = gpu.create_shader_module(&SIMPLE).unwrap();
        let layout = pipeline_layout(&mut gpu, &[]);
        let depth = DepthStencilDesc::depth(TextureFormat::Depth32Float, depth_write, CompareFunction::Less);
        let desc = RenderPipelineDesc {
            fragment: None,
            depth_stencil: Some(depth),
            ..raster(*module, *layout, &[])
        };
        let pipeline = gpu.create_render_pipeline(&desc).unwrap();
        let mut recorder = gpu.record("frame").unwrap();
        recorder.render_pass(&depth_pass(*view, Some(AspectOps::read_only()), None), |pass| {
            pass.fullscreen(*pipeline)
        })
    };
    assert_eq!(pipeline(false), Ok(()));
    invalid(pipeline(true), "depth_stencil", &["no depth writes", "read-only in this pass"]);
}

/// C060: integer clears are exact, and what does not fit is a typed error.
#[test]
fn c060_integer_clear_values() {
    let (mut gpu, _control) = executing();
    use TextureFormat as F;
    let mut clear = |format, value| {
        let (texture, view) = target(&mut gpu, format, 1);
        run(&mut gpu, &pass(&[color(*view, LoadOp::Clear(value))], &[]))?;
        Ok(texels_of(&mut gpu, TexturePlace::mip(*texture, 0), extent(1, 1, 1)))
    };
    let uint = |value| ClearValue::Uint([value, 0, 0, 0]);
    assert_eq!(clear(F::R8Uint, uint(255)), Ok(vec![255]));
    assert_eq!(clear(F::R32Uint, uint(u32::MAX)), Ok(vec![255; 4]));
    assert_eq!(clear(F::R32Uint, uint(16_777_217)), Ok(16_777_217u32.to_le_bytes().to_vec()));
    assert_eq!(clear(F::R32Sint, ClearValue::Sint([-5, 0, 0, 0])), Ok((-5i32).to_le_bytes().to_vec()));
    let texts = ["pass \"pass\"", "a Uint clear value", "R8Uint of view \"view\""];
    invalid(clear(F::R8Uint, ClearValue::Sint([-1, 0, 0, 0])), "colors.load", &texts);
    invalid(clear(F::R8Uint, uint(256)), "colors.load", &["values up to [255]"]);
    invalid(clear(F::Rg16Sint, ClearValue::Sint([0, -32769, 0, 0])), "colors.load", &["-32768 to 32767"]);
    invalid(
        clear(F::Rgb10a2Uint, ClearValue::Uint([1023, 1023, 1023, 4])),
        "colors.load",
        &["[1023, 1023, 1023, 3]"],
    );
    invalid(clear(COLOR, uint(0)), "colors.load", &["a Float clear value"]);
    invalid(clear(F::R32Uint, ClearValue::Float([0.0; 4])), "colors.load", &["a Uint clear value"]);
}

/// C064: the render area of a mip is the mip's.
#[test]
fn c064_rendering_into_a_mip_uses_its_size() {
    let (mut gpu, control) = executing();
    let chain =
        gpu.create_texture(&TextureDesc::d2("chain", 1600, 1600, COLOR, TARGET).with_mips(2)).unwrap();
    let desc = TextureViewDesc { label: "mip 1", base_mip: 1, mips: 1, ..Default::default() };
    let mip = gpu.create_texture_view(*chain, &desc).unwrap();
    let pipeline = simple_pipeline(&mut gpu);
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass(&pass(&[cleared(*mip)], &[]), |pass| pass.fullscreen(*pipeline.pipeline)).unwrap();
    recorder.submit().unwrap();
    let all = commands(&control);
    let area = all.iter().find_map(|command| match command {
        NullCommand::BeginRenderPass(pass) => Some(pass.extent),
        _ => None,
    });
    assert_eq!(area, Some((800, 800)));
    let state = all.iter().find_map(|command| match command {
        NullCommand::Draw { changed, .. } => Some((changed.viewport, changed.scissor)),
        _ => None,
    });
    assert_eq!(state, Some((Some([0.0, 0.0, 800.0, 800.0, 0.0, 1.0]), Some([0, 0, 800, 800]))));
    assert!(gpu.ledger().texture_defined(chain.slot(), &color_range(1)));
    assert!(!gpu.ledger().texture_defined(chain.slot(), &color_range(0)));
}

#[test]
fn what_was_discarded_cannot_be_loaded() {
    let mut gpu = plain();
    let (texture, view) = target(&mut gpu, COLOR, 4);
    let load = [color(*view, LoadOp::Load)];
    let texts = ["pass \"pass\"", "defined contents", "Color { load: true }", "texture \"target\""];
    wrong_state(run(&mut gpu, &pass(&load, &[])), &texts);
    run(&mut gpu, &pass(&[cleared(*view)], &[])).unwrap();
    assert_eq!(run(&mut gpu, &pass(&load, &[])), Ok(()));
    let discard = [Some(ColorAttachment { store: StoreOp::Discard, ..load[0].unwrap() })];
    run(&mut gpu, &pass(&discard, &[])).unwrap();
    wrong_state(run(&mut gpu, &pass(&load, &[])), &texts);
    let mut recorder = gpu.record("frame").unwrap();
    wrong_state(recorder.read_texture(&TexturePlace::mip(*texture, 0), extent(4, 4, 1)), &["CopySrc"]);
}

/// C057 and C058: each aspect has its own load and store, and its own contents.
#[test]
fn c057_c058_aspects_are_loaded_and_stored_apart() {
    for (depth_kept, stencil_kept) in [(true, true), (true, false), (false, true), (false, false)] {
        let (mut gpu, control) = executing();
        let (_t, view) = target(&mut gpu, TextureFormat::Depth24PlusStencil8, 4);
        let store = |kept| if kept { StoreOp::Store } else { StoreOp::Discard };
        let depth = AspectOps { store: store(depth_kept), ..AspectOps::clear(1.0) };
        let stencil = AspectOps { store: store(stencil_kept), ..AspectOps::clear(1) };
        run(&mut gpu, &depth_pass(*view, Some(depth), Some(stencil))).unwrap();
        let native = begun(&control).depth_stencil.unwrap();
        assert_eq!((native.depth, native.stencil), (Some(depth), Some(stencil)));
        let any_depth = AspectOps { load: LoadOp::DontCare, ..AspectOps::load() };
        let loads_stencil = run(&mut gpu, &depth_pass(*view, Some(any_depth), Some(AspectOps::load())));
        assert_eq!(loads_stencil.is_ok(), stencil_kept, "stencil is kept by its own store alone");
        if depth_kept {
            let native = depth_pass(*view, Some(AspectOps::load()), Some(AspectOps::clear(0)));
            assert_eq!(run(&mut gpu, &native), Ok(()), "depth survives what happens to stencil");
        }
    }
}

/// C063: depth that is only tested may be sampled in the same pass; depth that is written may not.
#[test]
fn c063_read_only_depth_is_also_sampled() {
    let (mut gpu, _control) = executing();
    let (texture, view) = target(&mut gpu, TextureFormat::Depth24PlusStencil8, 4);
    run(&mut gpu, &depth_pass(*view, Some(AspectOps::clear(0.5)), Some(AspectOps::clear(3)))).unwrap();
    let range = plan::TextureRange { aspects: Aspects::DEPTH, ..color_range(0) };
    let uses = [texture_use(*texture, range, TextureUse::Sampled(ShaderStages::FRAGMENT))];
    let mut with = |depth, stencil| {
        let desc = depth_pass(*view, Some(depth), Some(stencil));
        run(&mut gpu, &RenderPassDesc { uses: &uses, ..desc })
    };
    assert_eq!(with(AspectOps::read_only(), AspectOps::read_only()), Ok(()));
    invalid(
        with(AspectOps::load(), AspectOps::read_only()),
        "uses",
        &["DepthStencil { load: true }", "Sampled"],
    );
    assert_eq!(with(AspectOps::read_only(), AspectOps::load()), Ok(()), "stencil is another aspect");
}

#[test]
fn declared_uses_need_the_usage_and_the_range() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::UNIFORM);
    gpu.write_buffer(*data, 0, &[0; 64]).unwrap();
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::empty());
    gpu.flush_uploads().unwrap();
    control.take_log();
    let mut with = |usage: ResourceUse| {
        let mut recorder = gpu.record("frame").unwrap();
        let uses = [usage];
        recorder.compute_pass(&ComputePassDesc { label: "p", uses: &uses, ..Default::default() }, |_| {})
    };
    let bytes = |offset, size, usage| ResourceUse::Buffer { buffer: *data, offset, size, usage };
    assert_eq!(with(bytes(0, 64, BufferUse::Uniform(ShaderStages::COMPUTE))), Ok(()));
    invalid(with(bytes(0, 64, BufferUse::Vertex)), "uses", &["pass \"p\"", "VERTEX", "buffer \"data\""]);
    let sampled = TextureUse::Sampled(ShaderStages::COMPUTE);
    invalid(
        with(texture_use(*image, color_range(0), sampled)),
        "uses",
        &["TEXTURE_BINDING", "texture \"image\""],
    );
    for (offset, size) in [(0, 65), (u64::MAX, 8), (8, u64::MAX), (u64::MAX, u64::MAX)] {
        invalid(
            with(bytes(offset, size, BufferUse::CopySrc)),
            "uses",
            &["a range within the resource", "buffer \"data\""],
        );
    }
    let far = plan::TextureRange {
        base_mip: u32::MAX,
        mips: u32::MAX,
        base_layer: u32::MAX,
        layers: 9,
        ..color_range(0)
    };
    invalid(with(texture_use(*image, far, TextureUse::CopySrc)), "uses", &["a range within the resource"]);
    let texts = ["CopySrc of bytes", "undefined at"];
    let fresh = buffer(&mut gpu, "fresh", 8, BufferUsages::UNIFORM);
    let uses = [buffer_use(*fresh, 8, BufferUse::CopySrc)];
    let mut recorder = gpu.record("frame").unwrap();
    wrong_state(
        recorder.compute_pass(&ComputePassDesc { label: "p", uses: &uses, ..Default::default() }, |_| {}),
        &texts,
    );
}

#[test]
fn a_mistake_ends_the_recording_and_the_first_one_is_told() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    let (_t, view) = target(&mut gpu, COLOR, 4);
    let mut recorder = gpu.record("frame").unwrap();
    recorder.clear_buffer(slice(*data, 0, 16)).unwrap();
    let first = err(recorder.clear_buffer(slice(*data, 0, 64)));
    let later = recorder.render_pass(&pass(&[cleared(*view)], &[]), |_| panic!("the body does not run"));
    wrong_state(later, &["a recording without mistakes", &first.to_string()]);
    wrong_state(recorder.read_buffer(slice(*data, 0, 16)), &["an earlier one"]);
    assert_eq!(err(recorder.submit()), first);
    assert!(control.take_log().is_empty());
    assert!(!gpu.ledger().buffer_defined(data.slot(), 0, 16), "nothing of it has happened");
    assert_eq!(control.open_encoders(), 0);
    assert!(gpu.record("next").unwrap().submit().is_ok());
}

#[test]
fn a_pass_ignores_what_follows_its_first_mistake() {
    let (mut gpu, control) = executing();
    let (_t, view) = target(&mut gpu, COLOR, 4);
    let pipeline = simple_pipeline(&mut gpu);
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.render_pass(&pass(&[cleared(*view)], &[]), |pass| {
        pass.set_pipeline(*pipeline.pipeline);
        pass.draw(0..3, 0..1);
        pass.set_scissor(0, 0, 99, 99);
        assert!(pass.mistake().is_some());
        pass.set_viewport(0.0, 0.0, -1.0, 0.0, (0.0, 1.0));
        pass.draw(0..3, 0..1);
    });
    invalid(result, "scissor", &["after 1 draws or dispatches", "99x99"]);
    assert!(recorder.submit().is_err());
    assert!(control.take_log().is_empty());
}

#[test]
fn debug_groups_are_closed_by_the_pass_and_never_below_it() {
    let (mut gpu, control) = executing();
    let (_t, view) = target(&mut gpu, COLOR, 4);
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&pass(&[cleared(*view)], &[]), |pass| {
            pass.push_debug_group("outer");
            pass.push_debug_group("inner");
            pass.pop_debug_group();
        })
        .unwrap();
    recorder
        .compute_pass(&ComputePassDesc { label: "c", uses: &[], ..Default::default() }, |pass| {
            pass.push_debug_group("open")
        })
        .unwrap();
    // The null backend refuses a submission with open labels.
    recorder.submit().unwrap();
    let labels: Vec<_> = commands(&control)
        .into_iter()
        .filter(|command| matches!(command, NullCommand::PushLabel(_) | NullCommand::PopLabel))
        .collect();
    let push = |label: &str| NullCommand::PushLabel(label.into());
    let pop = || NullCommand::PopLabel;
    // The passes themselves are named by what begins them.
    let expected = [push("outer"), push("inner"), pop(), pop(), push("open"), pop()];
    assert_eq!(labels, expected);
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.render_pass(&pass(&[cleared(*view)], &[]), |pass| pass.pop_debug_group());
    wrong_state(result, &["pop_debug_group", "an open debug group", "none"]);
}

#[test]
fn a_panic_in_a_pass_leaves_the_device_usable() {
    let (mut gpu, control) = executing();
    let (_t, view) = target(&mut gpu, COLOR, 4);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut recorder = gpu.record("frame").unwrap();
        let _ = recorder.render_pass(&pass(&[cleared(*view)], &[]), |_| panic!("the program's own"));
    }));
    assert!(caught.is_err());
    assert_eq!(control.open_encoders(), 0);
    assert_eq!(run(&mut gpu, &pass(&[cleared(*view)], &[])), Ok(()));
}
