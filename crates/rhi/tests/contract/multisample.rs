//! Multisampled attachments and what becomes of their samples (R6).

use purlin_rhi::null::NullCommand;
use purlin_rhi::plan::{ResourceUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const ATTACHED: TextureUsages = TextureUsages::RENDER_ATTACHMENT.union(TextureUsages::TEXTURE_BINDING);

fn samples(
    gpu: &mut Gpu,
    count: u32,
    format: TextureFormat,
) -> (Owned<kind::Texture>, Owned<kind::TextureView>) {
    let desc = TextureDesc { samples: count, ..TextureDesc::d2("samples", 4, 4, format, ATTACHED) };
    let texture = gpu.create_texture(&desc).unwrap();
    let view = view(gpu, *texture);
    (texture, view)
}

fn flat(
    gpu: &mut Gpu,
    width: u32,
    format: TextureFormat,
) -> (Owned<kind::Texture>, Owned<kind::TextureView>) {
    let usage = ATTACHED | TextureUsages::COPY_SRC;
    let texture = gpu.create_texture(&TextureDesc::d2("flat", width, 4, format, usage)).unwrap();
    let view = view(gpu, *texture);
    (texture, view)
}

fn green(view: TextureView, resolve: TextureView, store: StoreOp) -> Option<ColorAttachment> {
    let load = LoadOp::Clear(ClearValue::Float([0.0, 1.0, 0.0, 1.0]));
    Some(ColorAttachment { view, load, store, resolve: Some(resolve) })
}

#[test]
fn multisampled_textures_are_flat_attachments() {
    let mut gpu = plain();
    let before = gpu.object_count(ResourceKind::Texture);
    let base = TextureDesc { samples: 4, ..TextureDesc::d2("msaa", 8, 8, COLOR, ATTACHED) };
    let mut create = |change: fn(&mut TextureDesc<'_>)| {
        let mut desc = base;
        change(&mut desc);
        gpu.create_texture(&desc).map(|_| ())
    };
    assert!(create(|_| {}).is_ok());
    let counts: [fn(&mut TextureDesc<'_>); 3] =
        [|desc| desc.samples = 0, |desc| desc.samples = 3, |desc| desc.samples = 64];
    for bad in counts {
        invalid(create(bad), "samples", &["texture \"msaa\"", "1, 2, 4, 8 or 16"]);
    }
    unsupported(create(|desc| desc.samples = 8), "MULTISAMPLE_X8 use of Rgba8Unorm", &["MULTISAMPLE_X4"]);
    invalid(create(|desc| desc.mips = 2), "mips", &["2 with 4 samples"]);
    invalid(
        create(|desc| desc.size.depth_or_array_layers = 2),
        "dimension",
        &["D2 of one layer", "2 layers"],
    );
    invalid(create(|desc| desc.dimension = TextureDimension::D3), "dimension", &["D3"]);
    invalid(create(|desc| desc.usage = TextureUsages::TEXTURE_BINDING), "usage", &["RENDER_ATTACHMENT"]);
    for usage in [TextureUsages::COPY_SRC, TextureUsages::COPY_DST, TextureUsages::STORAGE_BINDING] {
        let desc = TextureDesc { usage: ATTACHED | usage, ..base };
        invalid(gpu.create_texture(&desc).map(|_| ()), "usage", &["TEXTURE_BINDING at most", "4 samples"]);
    }
    gpu.maintain().unwrap();
    assert_eq!(gpu.object_count(ResourceKind::Texture), before);
}

#[test]
fn a_texture_of_four_samples_takes_four_times_the_bytes() {
    let mut gpu = plain();
    let before = gpu.memory().logical;
    let (_texture, _view) = samples(&mut gpu, 4, COLOR);
    assert_eq!(gpu.memory().logical - before, 4 * 4 * 4 * 4);
}

#[test]
fn multisampled_bindings_take_multisampled_textures_only() {
    let mut gpu = plain();
    let entry = |multisampled, sample_type, view_dimension| BindGroupLayoutEntry {
        binding: 0,
        visibility: ShaderStages::FRAGMENT,
        ty: BindingType::Texture { sample_type, view_dimension, multisampled },
        count: None,
    };
    let float = TextureSampleType::Float { filterable: false };
    let d2 = TextureViewDimension::D2;
    let mut layout =
        |entry| gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "layout", entries: &[entry] });
    let filterable = TextureSampleType::Float { filterable: true };
    invalid(layout(entry(true, filterable, d2)).map(|_| ()), "sample_type", &["binding 0", "not filterable"]);
    let array = TextureViewDimension::D2Array;
    invalid(
        layout(entry(true, float, array)).map(|_| ()),
        "view_dimension",
        &["D2 for a multisampled", "D2Array"],
    );
    let many = layout(entry(true, float, d2)).unwrap();
    let one = layout(entry(false, float, d2)).unwrap();
    let (_a, msaa) = samples(&mut gpu, 4, COLOR);
    let (_b, flat) = flat(&mut gpu, 4, COLOR);
    let mut group = |layout, view| {
        let entries = [BindGroupEntry::texture(0, view)];
        gpu.create_bind_group(&BindGroupDesc { label: "group", layout, entries: &entries }).map(|_| ())
    };
    assert!(group(*many, *msaa).is_ok() && group(*one, *flat).is_ok());
    invalid(group(*many, *flat), "entries", &["a multisampled texture", "1 samples (view"]);
    invalid(group(*one, *msaa), "entries", &["one sample a texel", "4 samples (view"]);
}

#[test]
fn where_shaders_cannot_read_samples_the_feature_is_named() {
    let config = null::NullConfig {
        features: Features::all() - Features::MULTISAMPLED_TEXTURES,
        ..Default::default()
    };
    let (mut gpu, _control) = device(config);
    let ty = BindingType::Texture {
        sample_type: TextureSampleType::Uint,
        view_dimension: TextureViewDimension::D2,
        multisampled: true,
    };
    let entries = [BindGroupLayoutEntry { binding: 3, visibility: ShaderStages::FRAGMENT, ty, count: None }];
    let refused = gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "layout", entries: &entries });
    unsupported(refused.map(|_| ()), "feature MULTISAMPLED_TEXTURES", &["binding 3"]);
    let desc = TextureDesc { samples: 4, ..TextureDesc::d2("read", 4, 4, COLOR, ATTACHED) };
    unsupported(
        gpu.create_texture(&desc).map(|_| ()),
        "feature MULTISAMPLED_TEXTURES",
        &["TEXTURE_BINDING of 4"],
    );
    assert!(gpu.create_texture(&TextureDesc { usage: TextureUsages::RENDER_ATTACHMENT, ..desc }).is_ok());
}

#[test]
fn samples_are_resolved_into_what_fits_them() {
    let mut gpu = plain();
    let (_a, msaa) = samples(&mut gpu, 4, COLOR);
    let (_b, target) = flat(&mut gpu, 4, COLOR);
    let (_c, wide) = flat(&mut gpu, 8, COLOR);
    let (_d, other) = flat(&mut gpu, 4, TextureFormat::Rgba16Float);
    let (_e, words) = samples(&mut gpu, 4, TextureFormat::Rgba8Uint);
    let (_f, word_target) = flat(&mut gpu, 4, TextureFormat::Rgba8Uint);
    let (_g, second) = samples(&mut gpu, 4, COLOR);
    let mut run = |colors: &[Option<ColorAttachment>]| {
        let mut recorder = gpu.record("frame").unwrap();
        let result = recorder.render_pass(&pass(colors, &[]), |_| {});
        drop(recorder);
        result
    };
    assert!(run(&[green(*msaa, *target, StoreOp::Store)]).is_ok());
    let from_flat = run(&[green(*target, *wide, StoreOp::Store)]);
    invalid(from_flat, "colors.resolve", &["none without multisampling", "1 samples"]);
    let expected = "a view of one sample with RENDER_ATTACHMENT";
    invalid(run(&[green(*msaa, *wide, StoreOp::Store)]), "colors.resolve", &[expected, "8x4"]);
    invalid(run(&[green(*msaa, *other, StoreOp::Store)]), "colors.resolve", &[expected, "Rgba16Float"]);
    invalid(run(&[green(*msaa, *second, StoreOp::Store)]), "colors.resolve", &[expected, "4 samples"]);
    // Both into one target: two uses of it that write.
    let both = [green(*msaa, *target, StoreOp::Store), green(*second, *target, StoreOp::Store)];
    invalid(run(&both), "uses", &["do not write what another use", "flat"]);
    let integers = Some(ColorAttachment {
        view: *words,
        load: LoadOp::Clear(ClearValue::Uint([1; 4])),
        store: StoreOp::Store,
        resolve: Some(*word_target),
    });
    unsupported(run(&[integers]), "MULTISAMPLE_RESOLVE use of Rgba8Uint", &["of view"]);
    let stale = target.handle();
    drop(target);
    gpu.maintain().unwrap();
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.render_pass(&pass(&[green(*msaa, stale, StoreOp::Store)], &[]), |_| {});
    assert!(matches!(result, Err(Error::InvalidHandle { .. })), "{result:?}");
}

/// C061: the average is written whether or not the samples are kept; what was not kept cannot be loaded.
#[test]
fn c061_resolved_for_store_and_for_discard() {
    for store in [StoreOp::Store, StoreOp::Discard] {
        let (mut gpu, _control) = executing();
        let (_a, msaa) = samples(&mut gpu, 4, COLOR);
        let (texture, target) = flat(&mut gpu, 4, COLOR);
        let mut recorder = gpu.record("frame").unwrap();
        recorder.render_pass(&pass(&[green(*msaa, *target, store)], &[]), |_| {}).unwrap();
        let place = TexturePlace::mip(*texture, 0);
        let ticket = recorder
            .read_texture(&place, Extent3d { width: 4, height: 4, depth_or_array_layers: 1 })
            .unwrap();
        let token = recorder.submit().unwrap();
        assert!(gpu.wait(token, std::time::Duration::ZERO).unwrap());
        assert_eq!(gpu.read_vec(&ticket).unwrap(), [0, 255, 0, 255].repeat(16), "{store:?}");
        let mut recorder = gpu.record("again").unwrap();
        let again = [Some(ColorAttachment { view: *msaa, load: LoadOp::Load, store, resolve: None })];
        let loaded = recorder.render_pass(&pass(&again, &[]), |_| {});
        match store {
            StoreOp::Store => loaded.unwrap(),
            StoreOp::Discard => wrong_state(loaded, &["defined contents", "Color { load: true }"]),
        }
    }
}

/// C093, for resolves at the end of a pass: the samples become an attachment, so does the target, and then the target is
/// sampled. Exactly these three, in this order.
#[test]
fn c093_a_resolve_is_an_attachment_write_before_it_is_sampled() {
    let (mut gpu, control) = executing();
    let (_a, msaa) = samples(&mut gpu, 4, COLOR);
    let (texture, target) = flat(&mut gpu, 4, COLOR);
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass(&pass(&[green(*msaa, *target, StoreOp::Discard)], &[]), |_| {}).unwrap();
    let range =
        plan::TextureRange { aspects: plan::Aspects::COLOR, base_mip: 0, mips: 1, base_layer: 0, layers: 1 };
    let sampled =
        ResourceUse::Texture { texture: *texture, range, usage: TextureUse::Sampled(ShaderStages::COMPUTE) };
    let uses = [sampled];
    recorder
        .compute_pass(&ComputePassDesc { label: "sample", uses: &uses, ..Default::default() }, |_| {})
        .unwrap();
    recorder.submit().unwrap();
    let barriers: Vec<_> = commands(&control)
        .into_iter()
        .filter_map(|command| match command {
            NullCommand::Barriers { memory, textures } => Some((memory.len(), textures)),
            _ => None,
        })
        .collect();
    let layouts = |index: usize| -> Vec<_> { barriers[index].1.iter().map(|b| (b.old, b.new)).collect() };
    use plan::Layout::{ColorAttachment as Color, ShaderRead, Undefined};
    assert_eq!((barriers.len(), barriers[0].0, barriers[1].0), (2, 0, 0));
    assert_eq!(layouts(0), [(Undefined, Color), (Undefined, Color)]);
    assert_eq!(layouts(1), [(Color, ShaderRead)]);
}
