//! Ceilings and budgets (D9): checked, refunded, reported; and the sizes that real programs reach.

use purlin_rhi::null::{NullCommand, NullConfig, NullControl};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::handles::Zoo;
use crate::support::*;

fn limited(storage: StorageCeilings) -> (Gpu, NullControl) {
    device_with(NullConfig::executing(), storage)
}

#[test]
fn the_memory_budget_holds_and_is_refunded() {
    let (mut gpu, control) = limited(StorageCeilings { memory_budget: 1000, ..StorageCeilings::default() });
    let usage = BufferUsages::VERTEX;
    let first = gpu.create_buffer(&BufferDesc::new("first", 601, usage)).unwrap();
    let error = err(gpu.checked(|gpu| gpu.create_buffer(&BufferDesc::new("second", 400, usage))));
    let expected = Error::BudgetExceeded {
        what: "buffer \"second\"".into(),
        requested: 400,
        available: 396,
        budget: 1000,
    };
    assert_eq!(error, expected);
    let texture = TextureDesc::d2("image", 10, 10, COLOR, TextureUsages::TEXTURE_BINDING);
    refused(
        gpu.checked(|gpu| gpu.create_texture(&texture)),
        &["texture \"image\": budget exceeded: 400 bytes asked for, 396 of 1000"],
    );
    assert!(
        gpu.create_texture(&TextureDesc { size: extent(9, 11, 1), ..texture }).is_ok(),
        "exactly the rest"
    );
    control.fail_allocation(1);
    gpu.maintain().unwrap();
    assert!(gpu.create_buffer(&BufferDesc::new("fails", 396, usage)).is_err());
    assert_eq!(gpu.memory().logical, 604, "what failed costs nothing");
    // Dropped, but not yet read: the creation that needs the room reads it.
    drop(first);
    assert!(gpu.create_buffer(&BufferDesc::new("all", 1000, usage)).is_ok());
    assert_eq!(gpu.memory().logical_peak, 1000);
}

#[test]
fn room_is_made_for_what_is_charged() {
    let storage = StorageCeilings { memory_budget: 15, ..StorageCeilings::default() };
    let (mut gpu, _control) = limited(storage);
    let usage = BufferUsages::VERTEX;
    drop(gpu.create_buffer(&BufferDesc::new("first", 8, usage)).unwrap());
    // Five bytes would fit beside what was dropped, the eight that they are charged as would not.
    assert!(gpu.create_buffer(&BufferDesc::new("second", 5, usage)).is_ok());
}

#[test]
fn the_budget_counts_what_the_gpu_still_holds() {
    let storage = StorageCeilings { memory_budget: 100, ..StorageCeilings::default() };
    let config = NullConfig { wait_completes: false, ..NullConfig::manual() };
    let (mut gpu, control) = device_with(config, storage);
    let first = gpu.create_buffer(&BufferDesc::new("first", 100, BufferUsages::COPY_DST)).unwrap();
    let mut recorder = gpu.record("frame").unwrap();
    recorder.clear_buffer(slice(*first, 0, 100)).unwrap();
    recorder.submit().unwrap();
    drop(first);
    let desc = BufferDesc::new("second", 100, BufferUsages::COPY_DST);
    assert!(matches!(
        err(gpu.checked(|gpu| gpu.create_buffer(&desc))),
        Error::BudgetExceeded { available: 0, .. }
    ));
    control.complete_all();
    assert!(gpu.create_buffer(&desc).is_ok());
}

#[test]
fn the_ceiling_of_objects_holds_for_every_kind() {
    let (mut gpu, control) =
        limited(StorageCeilings { objects: ObjectCeilings::each(3), ..StorageCeilings::default() });
    let mut zoos: Vec<_> = (0..3).map(|_| Zoo::new(&mut gpu).unwrap()).collect();
    let zoo = &zoos[0];
    let (texture, shape, layout, module) = (*zoo.texture, *zoo.shape, *zoo.layout, *zoo.module);
    let full = |result: Result<()>, name: &str| {
        let error = err(result);
        let expected = Error::CapacityExceeded { what: format!("{name} slots"), requested: 4, capacity: 3 };
        assert_eq!(error, expected);
    };
    let usage = BufferUsages::VERTEX;
    full(gpu.create_buffer(&BufferDesc::new("b", 4, usage)).map(|_| ()), "buffer");
    let desc = TextureDesc::d2("t", 4, 4, COLOR, TextureUsages::TEXTURE_BINDING);
    full(gpu.create_texture(&desc).map(|_| ()), "texture");
    full(gpu.create_texture_view(texture, &TextureViewDesc::default()).map(|_| ()), "texture view");
    full(gpu.create_sampler(&SamplerDesc::linear("s")).map(|_| ()), "sampler");
    let desc = BindGroupLayoutDesc { label: "l", entries: &[] };
    full(gpu.create_bind_group_layout(&desc).map(|_| ()), "bind group layout");
    let entries = [
        BindGroupEntry::buffer(0, *zoo.buffer),
        BindGroupEntry::texture(1, *zoo.view),
        BindGroupEntry::sampler(2, *zoo.sampler),
    ];
    let desc = BindGroupDesc { label: "g", layout: shape, entries: &entries };
    full(gpu.create_bind_group(&desc).map(|_| ()), "bind group");
    let desc = PipelineLayoutDesc { label: "l", groups: &[], immediate_size: 0 };
    full(gpu.create_pipeline_layout(&desc).map(|_| ()), "pipeline layout");
    full(gpu.create_shader_module(&SIMPLE).map(|_| ()), "shader module");
    let targets = [Some(COLOR.into())];
    full(gpu.create_render_pipeline(&raster(module, layout, &targets)).map(|_| ()), "render pipeline");
    let compute = ShaderStageDesc { module, entry: "cs" };
    let desc = ComputePipelineDesc { label: "c", layout, compute };
    full(gpu.create_compute_pipeline(&desc).map(|_| ()), "compute pipeline");
    let desc = QuerySetDesc { label: "q", ty: QueryType::Timestamp, count: 1 };
    let _sets: Vec<_> = (0..3).map(|_| gpu.create_query_set(&desc).unwrap()).collect();
    full(gpu.create_query_set(&desc).map(|_| ()), "query set");
    let desc = HeapDesc { label: "h", size: 4, alignment: 1, class: HeapClass(0) };
    let _heaps: Vec<_> = (0..3).map(|_| gpu.create_heap(&desc).unwrap()).collect();
    full(gpu.create_heap(&desc).map(|_| ()), "heap");
    assert_eq!(control.live_total(), 36);
    // What was dropped makes room without maintenance by hand.
    zoos.pop();
    zoos.push(Zoo::new(&mut gpu).unwrap());
    assert_eq!(gpu.object_peak(ResourceKind::BindGroup), 3);
}

#[test]
fn each_kind_has_a_ceiling_of_its_own() {
    let objects = ObjectCeilings::each(4).with(ResourceKind::Buffer, 2).with(ResourceKind::Sampler, 1);
    let (mut gpu, control) = limited(StorageCeilings { objects, ..StorageCeilings::default() });
    let buffer = BufferDesc::new("buffer", 6, BufferUsages::VERTEX);
    let mut buffers: Vec<_> = (0..2).map(|_| gpu.create_buffer(&buffer).unwrap()).collect();
    let _sampler = gpu.create_sampler(&SamplerDesc::linear("sampler")).unwrap();
    let full = |kind: &str, capacity| Error::CapacityExceeded {
        what: format!("{kind} slots"),
        requested: capacity + 1,
        capacity,
    };
    assert_eq!(err(gpu.checked(|gpu| gpu.create_buffer(&buffer))), full("buffer", 2));
    let sampler = SamplerDesc::linear("another");
    assert_eq!(err(gpu.checked(|gpu| gpu.create_sampler(&sampler))), full("sampler", 1));
    let desc = BindGroupLayoutDesc { label: "layout", entries: &[] };
    let _layouts: Vec<_> = (0..4).map(|_| gpu.create_bind_group_layout(&desc).unwrap()).collect();
    assert_eq!(err(gpu.create_bind_group_layout(&desc)), full("bind group layout", 4));
    // What failed natively is refunded, and the slot is free for the next.
    buffers.pop();
    gpu.maintain().unwrap();
    control.fail_allocation(1);
    assert!(matches!(err(gpu.checked(|gpu| gpu.create_buffer(&buffer))), Error::OutOfMemory { .. }));
    buffers.push(gpu.create_buffer(&buffer).unwrap());
    assert_eq!(gpu.objects(ResourceKind::Buffer), ObjectReport { live: 2, retiring: 0, peak: 2, ceiling: 2 });
}

#[test]
fn figures_of_memory_are_never_mixed() {
    let (mut gpu, control) = manual();
    let odd = gpu.create_buffer(&BufferDesc::new("odd", 5, BufferUsages::COPY_DST)).unwrap();
    let image = gpu.create_texture(&TextureDesc::d2("i", 4, 4, COLOR, TextureUsages::COPY_DST)).unwrap();
    let heap = HeapDesc { label: "heap", size: 1024, alignment: 256, class: HeapClass(0) };
    let heap = gpu.create_heap(&heap).unwrap();
    let placed = TextureDesc::d2("placed", 8, 8, COLOR, TextureUsages::COPY_DST);
    let placed: Vec<_> = (0..3).map(|_| gpu.create_placed_texture(&placed, *heap, 0).unwrap()).collect();
    let memory = gpu.memory();
    // Three textures in one place are three that were asked for, and one heap.
    assert_eq!((memory.requested, memory.logical, memory.retiring), (5 + 64 + 3 * 256, 8 + 64 + 1024, 0));
    let native = memory.native.unwrap();
    assert_eq!((native.allocated, native.allocated_peak), (8 + 64 + 1024, 8 + 64 + 1024));

    let mut recorder = gpu.record("frame").unwrap();
    recorder.clear_buffer(slice(*odd, 0, 4)).unwrap();
    recorder.submit().unwrap();
    drop((odd, heap));
    gpu.maintain().unwrap();
    let memory = gpu.memory();
    assert_eq!((memory.logical, memory.retiring, memory.retiring_peak), (1096, 8 + 1024, 8 + 1024));
    assert_eq!(
        gpu.objects(ResourceKind::Buffer),
        ObjectReport { live: 0, retiring: 1, peak: 1, ceiling: handle::MAX_SLOTS }
    );
    control.complete_all();
    gpu.maintain().unwrap();
    let memory = gpu.memory();
    assert_eq!((memory.requested, memory.logical, memory.retiring), (64 + 3 * 256, 64 + 1024, 1024));
    drop((placed, image));
    gpu.maintain().unwrap();
    let memory = gpu.memory();
    assert_eq!((memory.requested, memory.logical, memory.retiring), (0, 0, 0));
    assert_eq!((memory.requested_peak, memory.logical_peak), (5 + 64 + 3 * 256, 1096));
    assert_eq!((memory.retiring_peak, memory.native.unwrap().allocated_peak), (1032, 1096));
    // What goes at once has not waited.
    drop(gpu.create_buffer(&BufferDesc::new("large", 4096, BufferUsages::COPY_DST)).unwrap());
    gpu.maintain().unwrap();
    assert_eq!((gpu.memory().logical_peak, gpu.memory().retiring_peak), (4096, 1032));
}

#[test]
fn a_lost_device_retires_all_of_its_memory() {
    let (mut gpu, control) = manual();
    let buffer = gpu.create_buffer(&BufferDesc::new("buffer", 16, BufferUsages::COPY_DST)).unwrap();
    control.lose_now();
    assert!(gpu.maintain().is_err());
    drop(buffer);
    assert_eq!((gpu.memory().logical, gpu.memory().retiring), (16, 16));
    drop(gpu);
    assert_eq!(control.live_total(), 0);
}

#[test]
fn eighty_objects_of_every_kind() {
    let (mut gpu, control) = executing();
    let zoos: Vec<_> = (0..80).map(|_| Zoo::new(&mut gpu).unwrap()).collect();
    let heap = HeapDesc { label: "heap", size: 128, alignment: 1, class: HeapClass(0) };
    let heaps: Vec<_> = (0..80).map(|_| gpu.create_heap(&heap).unwrap()).collect();
    let queries = QuerySetDesc { label: "queries", ty: QueryType::Occlusion, count: 4 };
    let queries: Vec<_> = (0..80).map(|_| gpu.create_query_set(&queries).unwrap()).collect();
    let batches: Vec<_> = (0..80).map(|_| gpu.create_batch(&crate::batches::DESC).unwrap()).collect();
    for kind in ResourceKind::ALL {
        // Batches have no native counterpart.
        let native = if kind == ResourceKind::CommandBatch { 0 } else { 80 };
        assert_eq!(
            (gpu.object_count(kind), gpu.object_peak(kind), control.live(kind)),
            (80, 80, native),
            "{kind}"
        );
    }
    drop((zoos, heaps, queries, batches));
    gpu.maintain().unwrap();
    assert_eq!(control.live_total(), 0);
    assert_eq!(gpu.object_count(ResourceKind::BindGroup), 0);
    assert_eq!(gpu.object_peak(ResourceKind::BindGroup), 80, "the peak stays");
    assert_eq!(gpu.memory().logical_peak, 80 * (256 + 64 + 128));
}

#[test]
fn seventy_two_small_textures_keep_apart() {
    let (mut gpu, _control) = executing();
    let made: Vec<_> = (0..72u8)
        .map(|value| {
            let image = texture(&mut gpu, "small", 4, 4, TextureUsages::TEXTURE_BINDING);
            gpu.write_texture(&TexturePlace::mip(*image, 0), extent(4, 4, 1), &rows(16, 4), &[value; 64])
                .unwrap();
            image
        })
        .collect();
    let mut recorder = gpu.record("read back").unwrap();
    let tickets: Vec<_> = made
        .iter()
        .map(|image| recorder.read_texture(&TexturePlace::mip(**image, 0), extent(4, 4, 1)).unwrap())
        .collect();
    recorder.submit().unwrap();
    for (value, ticket) in tickets.iter().enumerate() {
        assert_eq!(gpu.read_vec(ticket), Ok(vec![value as u8; 64]));
    }
}

/// Draws in each of so many passes; the draws and passes that arrive.
fn drawn(draws_of_pass: &[u32]) -> (usize, usize) {
    let (mut gpu, control) = executing();
    let pipeline = simple_pipeline(&mut gpu);
    let target = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *target);
    let colors = [cleared(*target)];
    let mut recorder = gpu.record("frame").unwrap();
    for count in draws_of_pass {
        recorder
            .render_pass(&pass(&colors, &[]), |pass| {
                pass.set_pipeline(*pipeline.pipeline);
                for index in 0..*count {
                    pass.draw(0..3, index..index + 1);
                }
            })
            .unwrap();
    }
    recorder.submit().unwrap();
    let all = commands(&control);
    let count = |is: fn(&NullCommand) -> bool| all.iter().filter(|command| is(command)).count();
    (
        count(|c| matches!(c, NullCommand::Draw { .. })),
        count(|c| matches!(c, NullCommand::BeginRenderPass(_))),
    )
}

#[test]
fn four_hundred_and_five_draws_over_forty_passes() {
    // Ten in each, and the rest in the last.
    let mut counts = [10; 40];
    counts[39] = 15;
    assert_eq!(drawn(&counts), (405, 40));
}

#[test]
fn a_pass_of_eleven_hundred_draws() {
    assert_eq!(drawn(&[1100]), (1100, 1));
}
