//! Barriers of direct passes (C1): what the null log shows is what the ledger asks for, exactly.

use purlin_rhi::null::{Null, NullCommand, NullControl};
use purlin_rhi::plan::{
    Access, Aspects, BufferUse, Layout, MemoryBarrier, Plan, ResourceUse, Scope, Stages, TextureBarrier,
    TextureUse,
};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const CS: ShaderStages = ShaderStages::COMPUTE;

fn scope(stages: Stages, access: Access) -> Scope {
    Scope::new(stages, access)
}

const WRITTEN: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);

fn memory(src: Scope, dst: Scope) -> NullCommand {
    NullCommand::Barriers { memory: vec![MemoryBarrier { src, dst }], textures: vec![] }
}

/// The logged barriers, and a name for everything else that moves or begins.
fn shape(control: &NullControl) -> Vec<String> {
    let name = |command: NullCommand| match command {
        NullCommand::Barriers { memory, textures } => {
            let memory = memory.iter().map(|b| format!("{:?}->{:?}", b.src.access, b.dst.access));
            let textures = textures.iter().map(|b| format!("{:?}->{:?}", b.old, b.new));
            Some(memory.chain(textures).collect::<Vec<_>>().join(" "))
        }
        NullCommand::CopyBuffer { .. } => Some("copy".into()),
        NullCommand::ClearBuffer { .. } => Some("clear".into()),
        NullCommand::BeginRenderPass(_) => Some("render".into()),
        NullCommand::BeginComputePass(_) => Some("compute".into()),
        NullCommand::CopyTextureToBuffer(_) => Some("texture to buffer".into()),
        NullCommand::CopyBufferToTexture(_) => Some("buffer to texture".into()),
        _ => None,
    };
    commands(control).into_iter().filter_map(name).collect()
}

/// C090 (a): a write over a write waits for it, and the second value wins.
#[test]
fn c090_copy_over_copy() {
    let (mut gpu, control) = executing();
    let a = buffer(&mut gpu, "a", 16, BufferUsages::empty());
    let b = buffer(&mut gpu, "b", 16, BufferUsages::empty());
    let target = buffer(&mut gpu, "target", 16, BufferUsages::empty());
    gpu.write_buffer(*a, 0, &[1; 16]).unwrap();
    gpu.write_buffer(*b, 0, &[2; 16]).unwrap();
    gpu.flush_uploads().unwrap();
    control.take_log();
    let mut recorder = gpu.record("frame").unwrap();
    recorder.copy_buffer(slice(*a, 0, 16), *target, 0).unwrap();
    recorder.copy_buffer(slice(*b, 0, 16), *target, 0).unwrap();
    recorder.submit().unwrap();
    let all: Vec<_> = commands(&control)
        .into_iter()
        .filter(|command| !matches!(command, NullCommand::PushLabel(_) | NullCommand::PopLabel))
        .collect();
    let copy = |src: &Owned<kind::Buffer>| NullCommand::CopyBuffer {
        src: src.slot(),
        src_offset: 0,
        dst: target.slot(),
        dst_offset: 0,
        size: 16,
    };
    let read = scope(Stages::TRANSFER, Access::TRANSFER_READ);
    let again = NullCommand::Barriers {
        memory: vec![MemoryBarrier { src: WRITTEN, dst: read }, MemoryBarrier { src: WRITTEN, dst: WRITTEN }],
        textures: vec![],
    };
    // The planner may merge the two into one that says exactly both.
    let merged = memory(WRITTEN, read.union(WRITTEN));
    assert_eq!(all[0], memory(WRITTEN, read));
    assert_eq!(all[1], copy(&a));
    assert!(all[2] == again || all[2] == merged, "{:?}", all[2]);
    assert_eq!(all[3], copy(&b));
    assert_eq!(all.len(), 4);
    assert_eq!(bytes_of(&mut gpu, *target), [2; 16]);
}

/// C090 (b): depth that was sampled is bound read-only without a barrier, and is natively read-only.
#[test]
fn c090_depth_store_after_sample() {
    let (mut gpu, control) = executing();
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    let desc = TextureDesc::d2("depth", 4, 4, TextureFormat::Depth32Float, usage);
    let depth = gpu.create_texture(&desc).unwrap();
    let seen = view(&mut gpu, *depth);
    let pass = |ops| RenderPassDesc {
        label: "depth",
        colors: &[],
        depth_stencil: Some(DepthStencilAttachment { view: *seen, depth: Some(ops), stencil: None }),
        uses: &[],
        ..Default::default()
    };
    let range = plan::TextureRange { aspects: Aspects::DEPTH, ..color_range(0) };
    let sampled = [texture_use(*depth, range, TextureUse::Sampled(ShaderStages::FRAGMENT | CS))];
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass(&pass(AspectOps::clear(1.0)), |_| {}).unwrap();
    recorder
        .compute_pass(&ComputePassDesc { label: "samples", uses: &sampled, ..Default::default() }, |_| {})
        .unwrap();
    recorder.render_pass(&pass(AspectOps::read_only()), |_| {}).unwrap();
    recorder.submit().unwrap();
    let all = commands(&control);
    let native = all.iter().rev().find_map(|command| match command {
        NullCommand::BeginRenderPass(pass) => pass.depth_stencil.and_then(|d| d.depth),
        _ => None,
    });
    assert!(native.is_some_and(|ops| ops.read_only), "a store that writes nothing");
    let writes_later =
        all.iter().skip_while(|c| !matches!(c, NullCommand::EndComputePass)).any(|command| match command {
            NullCommand::Barriers { memory, textures } => {
                memory.iter().any(|b| !b.dst.access.writes().is_empty()) || !textures.is_empty()
            }
            _ => false,
        });
    assert!(!writes_later, "the read-only pass waits as a reader at most");
}

/// C089: one write, then two kinds of readers: each is covered by a barrier after the write.
#[test]
fn c089_every_kind_of_reader_waits_for_the_write() {
    let (mut gpu, control) = executing();
    let source = buffer(&mut gpu, "source", 64, BufferUsages::empty());
    let v = buffer(&mut gpu, "v", 64, BufferUsages::UNIFORM | BufferUsages::VERTEX);
    gpu.write_buffer(*source, 0, &[1; 64]).unwrap();
    let target = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *target);
    gpu.flush_uploads().unwrap();
    control.take_log();
    let mut recorder = gpu.record("frame").unwrap();
    recorder.copy_buffer(slice(*source, 0, 64), *v, 0).unwrap();
    let colors = [cleared(*target)];
    for usage in [BufferUse::Uniform(ShaderStages::VERTEX), BufferUse::Vertex] {
        recorder.render_pass(&pass(&colors, &[buffer_use(*v, 64, usage)]), |_| {}).unwrap();
    }
    recorder.submit().unwrap();
    let mut covered = Scope::NONE;
    for command in commands(&control).iter().skip_while(|c| !matches!(c, NullCommand::CopyBuffer { .. })) {
        if let NullCommand::Barriers { memory, .. } = command {
            for barrier in memory.iter().filter(|barrier| barrier.src.contains(WRITTEN)) {
                covered = covered.union(barrier.dst);
            }
        }
    }
    let uniform = scope(Stages::VERTEX_SHADER, Access::UNIFORM_READ);
    assert!(covered.contains(uniform) && covered.contains(scope(Stages::VERTEX_INPUT, Access::VERTEX_READ)));
}

#[test]
fn each_pass_gets_its_own_barriers_and_reads_after_reads_none() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::STORAGE);
    let write = [buffer_use(*data, 64, BufferUse::StorageWrite(CS))];
    let read = [buffer_use(*data, 64, BufferUse::StorageRead(CS))];
    let mut recorder = gpu.record("frame").unwrap();
    for uses in [&write, &read, &read, &write] {
        recorder.compute_pass(&ComputePassDesc { label: "p", uses, ..Default::default() }, |_| {}).unwrap();
    }
    recorder.submit().unwrap();
    let mut recorder = gpu.record("next").unwrap();
    recorder
        .compute_pass(&ComputePassDesc { label: "p", uses: &read, ..Default::default() }, |_| {})
        .unwrap();
    recorder.submit().unwrap();
    let raw = "Access(STORAGE_WRITE)->Access(STORAGE_READ)";
    // The last write waits for the readers by execution alone.
    let war = "Access(0x0)->Access(0x0)";
    assert_eq!(shape(&control), ["compute", raw, "compute", "compute", war, "compute", raw, "compute"]);
}

#[test]
fn an_upload_is_published_to_every_use_that_needs_no_declaration() {
    let (mut gpu, control) = executing();
    let usage = BufferUsages::VERTEX | BufferUsages::UNIFORM;
    let mesh = gpu.create_buffer_with("mesh", usage, &[1; 64]).unwrap();
    gpu.flush_uploads().unwrap();
    let all = ShaderStages::VERTEX | ShaderStages::FRAGMENT | CS;
    let barriers: Vec<_> = commands(&control)
        .into_iter()
        .filter(|command| matches!(command, NullCommand::Barriers { .. }))
        .collect();
    let [NullCommand::Barriers { memory, textures }] = &barriers[..] else { panic!("{barriers:?}") };
    assert!(textures.is_empty() && memory.iter().all(|barrier| barrier.src == WRITTEN));
    let covered = memory.iter().fold(Scope::NONE, |all, barrier| all.union(barrier.dst));
    assert_eq!(covered, BufferUse::Vertex.scope().union(BufferUse::Uniform(all).scope()));
    // The next upload waits for all of them, though no pass ever said that it reads.
    gpu.write_buffer(*mesh, 0, &[2; 64]).unwrap();
    gpu.flush_uploads().unwrap();
    let barriers = commands(&control);
    let first = barriers.iter().find_map(|command| match command {
        NullCommand::Barriers { memory, .. } => Some(memory[0]),
        _ => None,
    });
    assert!(first.is_some_and(
        |barrier| barrier.src.stages.contains(covered.stages) && barrier.dst.stages == Stages::TRANSFER
    ));
}

#[test]
fn an_uploaded_texture_comes_back_to_its_layout_after_a_copy_from_it() {
    let (mut gpu, control) = executing();
    let desc = TextureDesc::uploaded("image", 4, 4, 1, COLOR);
    let desc = TextureDesc { usage: desc.usage | TextureUsages::COPY_SRC, ..desc };
    let image = gpu.create_texture(&desc).unwrap();
    let place = TexturePlace::mip(*image, 0);
    gpu.write_texture(&place, extent(4, 4, 1), &rows(16, 4), &[9; 64]).unwrap();
    let shape_of = group_layout(&mut gpu, &[entry(0, CS, sampled())]);
    let seen = view(&mut gpu, *image);
    let bound = group(&mut gpu, *shape_of, &[BindGroupEntry::texture(0, *seen)]);
    let kernel = kernel(&mut gpu, &SAMPLES, &[*shape_of]);
    let other = texture(&mut gpu, "other", 4, 4, TextureUsages::empty());
    gpu.flush_uploads().unwrap();
    control.take_log();
    let mut recorder = gpu.record("frame").unwrap();
    let ticket = recorder.read_texture(&place, extent(4, 4, 1)).unwrap();
    recorder.copy_texture(&place, &TexturePlace::mip(*other, 0), extent(4, 4, 1)).unwrap();
    recorder
        .compute_pass(&ComputePassDesc { label: "p", uses: &[], ..Default::default() }, |pass| {
            pass.set_pipeline(*kernel);
            pass.set_bind_group(0, *bound, &[]);
            pass.dispatch([1, 1, 1]);
        })
        .unwrap();
    // The executor checks the layout that the group finds.
    recorder.submit().unwrap();
    assert_eq!(gpu.read_vec(&ticket), Ok(vec![9; 64]));
    let layouts: Vec<_> = commands(&control)
        .into_iter()
        .filter_map(|command| match command {
            NullCommand::Barriers { textures, .. } => {
                textures.into_iter().find(|barrier| barrier.texture == image.slot())
            }
            _ => None,
        })
        .map(|TextureBarrier { old, new, .. }| (old, new))
        .collect();
    let (there, back) = ((Layout::ShaderRead, Layout::CopySrc), (Layout::CopySrc, Layout::ShaderRead));
    assert_eq!(layouts, [there, back, there, back]);
}

#[test]
fn attachments_begin_undefined_when_cleared_and_keep_when_loaded() {
    let (mut gpu, control) = executing();
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *image);
    let load =
        [Some(ColorAttachment { view: *target, load: LoadOp::Load, store: StoreOp::Store, resolve: None })];
    let mut recorder = gpu.record("frame").unwrap();
    recorder.render_pass(&pass(&[cleared(*target)], &[]), |_| {}).unwrap();
    let ticket = recorder.read_texture(&TexturePlace::mip(*image, 0), extent(4, 4, 1)).unwrap();
    recorder.render_pass(&pass(&load, &[]), |_| {}).unwrap();
    recorder.submit().unwrap();
    let found = shape(&control);
    let textures: Vec<_> = found.iter().filter(|text| !text.starts_with("Access")).collect();
    let expected = [
        "Undefined->ColorAttachment",
        "render",
        "ColorAttachment->CopySrc",
        "texture to buffer",
        "CopySrc->ColorAttachment",
        "render",
    ];
    assert_eq!(textures, expected);
    assert_eq!(gpu.read_vec(&ticket), Ok(vec![0; 64]));
}

/// C087: within one recording, each pass sees a mip in the layout of its own use.
#[test]
fn c087_first_and_last_use_of_a_mip() {
    let (mut gpu, control) = executing();
    let usage = TextureUsages::STORAGE_BINDING | TextureUsages::TEXTURE_BINDING;
    let desc = TextureDesc::d2("chain", 16, 16, COLOR, usage).with_mips(4);
    let chain = gpu.create_texture(&desc).unwrap();
    let write = |mip| texture_use(*chain, color_range(mip), TextureUse::StorageWrite(CS));
    let read = |mip| texture_use(*chain, color_range(mip), TextureUse::Sampled(CS));
    let mut recorder = gpu.record("frame").unwrap();
    for uses in [&[write(0)][..], &[read(0), write(1)], &[write(2)], &[read(2), write(3)]] {
        recorder.compute_pass(&ComputePassDesc { label: "p", uses, ..Default::default() }, |_| {}).unwrap();
    }
    recorder.submit().unwrap();
    let of_mip_2: Vec<_> = commands(&control)
        .into_iter()
        .filter_map(|command| match command {
            NullCommand::Barriers { textures, .. } => textures.into_iter().find(|b| b.range.base_mip == 2),
            _ => None,
        })
        .map(|barrier| (barrier.old, barrier.new))
        .collect();
    assert_eq!(of_mip_2, [(Layout::Undefined, Layout::General), (Layout::General, Layout::ShaderRead)]);
    assert_eq!(gpu.ledger().texture_layout(chain.slot(), Aspects::COLOR, 2, 0), Some(Layout::ShaderRead));
}

/// C067: a volume has one subresource a mip, whatever its depth.
#[test]
fn c067_a_volume_is_tracked_by_mips() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let desc = TextureDesc {
        size: extent(16, 16, 8),
        dimension: TextureDimension::D3,
        ..TextureDesc::d2("volume", 16, 16, COLOR, usage).with_mips(3)
    };
    let volume = gpu.create_texture(&desc).unwrap();
    for (mip, side, depth) in [(0, 16, 8), (1, 8, 4), (2, 4, 2)] {
        let place = TexturePlace::mip(*volume, mip);
        let mut recorder = gpu.record("undefined").unwrap();
        // Memory that nobody wrote is not read, rather than cleared behind the program's back.
        wrong_state(recorder.read_texture(&place, extent(side, side, depth)), &["texture \"volume\""]);
        drop(recorder);
        let bytes = vec![mip as u8 + 1; (side * side * depth * 4) as usize];
        gpu.write_texture(&place, extent(side, side, depth), &rows(side * 4, side), &bytes).unwrap();
        assert_eq!(texels_of(&mut gpu, place, extent(side, side, depth)), bytes);
        assert!(gpu.ledger().texture_defined(volume.slot(), &color_range(mip)));
    }
}

#[test]
fn a_planned_list_is_refused_by_the_pass_and_the_resource() {
    let (mut gpu, _control) = executing();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::STORAGE);
    let mut list = plan::PassList::new();
    list.push_use(buffer_use(*data, 64, BufferUse::StorageWrite(CS)));
    list.end_pass();
    list.push_use(ResourceUse::Buffer {
        buffer: *data,
        offset: 60,
        size: 8,
        usage: BufferUse::StorageRead(CS),
    });
    list.end_pass();
    let mut plan = Plan::new();
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.plan(&list, &mut plan, |index| format!("number {index}"));
    invalid(result, "uses", &["pass \"number 1\"", "bytes 60..68 of buffer \"data\""]);
    assert!(plan.is_empty());
    drop(recorder);
    list.begin();
    list.push_use(buffer_use(*data, 64, BufferUse::Vertex));
    list.end_pass();
    let mut recorder = gpu.record("frame").unwrap();
    let result = recorder.plan(&list, &mut plan, |index| format!("number {index}"));
    invalid(result, "uses", &["pass \"number 0\"", "VERTEX"]);
}

#[test]
fn a_compute_barrier_orders_dispatches_of_one_pass() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::STORAGE);
    let shape_of = group_layout(&mut gpu, &[entry(0, CS, storage(false))]);
    let bound = group(&mut gpu, *shape_of, &[BindGroupEntry::buffer(0, *data)]);
    let kernel = kernel(&mut gpu, &STORES, &[*shape_of]);
    let uses = [buffer_use(*data, 64, BufferUse::StorageWrite(CS))];
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .compute_pass(&ComputePassDesc { label: "chain", uses: &uses, ..Default::default() }, |pass| {
            pass.set_pipeline(*kernel);
            pass.set_bind_group(0, *bound, &[]);
            for _ in 0..1000 {
                pass.dispatch([1, 1, 1]);
                pass.barrier();
            }
        })
        .unwrap();
    recorder.submit().unwrap();
    let all = commands(&control);
    let barriers = all.iter().filter(|command| matches!(command, NullCommand::Barriers { .. })).count();
    let dispatches = all.iter().filter(|command| matches!(command, NullCommand::Dispatch { .. })).count();
    assert_eq!((dispatches, barriers), (1000, 1000));
    let storage = Access::STORAGE_READ | Access::STORAGE_WRITE;
    let expected =
        memory(scope(Stages::COMPUTE_SHADER, Access::STORAGE_WRITE), scope(Stages::COMPUTE_SHADER, storage));
    assert!(all.contains(&expected));
}

/// A name spares comparisons, not checks.
#[test]
fn a_named_list_is_known_and_its_handles_still_count() {
    let (mut gpu, _control) = executing();
    let kept = buffer(&mut gpu, "kept", 64, BufferUsages::STORAGE);
    let gone = buffer(&mut gpu, "gone", 64, BufferUsages::STORAGE);
    let mut list = plan::PassList::new();
    for round in 0..16 {
        let buffer = if round % 2 == 0 { *kept } else { *gone };
        list.push_use(buffer_use(buffer, 64, BufferUse::StorageWrite(CS)));
        list.end_pass();
    }
    list.name();
    let planned = |gpu: &mut Device<Null>, list: &plan::PassList| {
        let mut plan = Plan::new();
        let mut recorder = gpu.record("frame").unwrap();
        recorder.plan(list, &mut plan, |index| format!("number {index}"))?;
        let barriers = (0..plan.len()).map(|pass| plan.batch(pass).memory.to_vec()).collect::<Vec<_>>();
        recorder.submit().unwrap();
        Ok::<_, Error>(barriers)
    };
    let first = planned(&mut gpu, &list).unwrap();
    let second = planned(&mut gpu, &list).unwrap();
    assert!(first[0].is_empty() && second[0].len() == 1);
    for _ in 0..3 {
        assert_eq!(planned(&mut gpu, &list).unwrap(), second);
    }
    // What is added after naming is not overlooked.
    list.push_use(buffer_use(*kept, 64, BufferUse::StorageWrite(CS)));
    list.end_pass();
    assert_eq!(planned(&mut gpu, &list).unwrap().len(), 17);
    drop(gone);
    gpu.maintain().unwrap();
    let error = planned(&mut gpu, &list).unwrap_err();
    assert!(matches!(&error, Error::InvalidHandle { what, .. } if what == "pass \"number 1\""), "{error}");
}
