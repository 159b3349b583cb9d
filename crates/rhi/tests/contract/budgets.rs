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
    let (mut gpu, control) = limited(StorageCeilings { objects_per_kind: 3, ..StorageCeilings::default() });
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
    assert_eq!(control.live_total(), 30);
    // What was dropped makes room without maintenance by hand.
    zoos.pop();
    zoos.push(Zoo::new(&mut gpu).unwrap());
    assert_eq!(gpu.object_peak(ResourceKind::BindGroup), 3);
}

#[test]
fn eighty_objects_of_every_kind() {
    let (mut gpu, control) = executing();
    let zoos: Vec<_> = (0..80).map(|_| Zoo::new(&mut gpu).unwrap()).collect();
    let heap = HeapDesc { label: "heap", size: 128, alignment: 1, class: HeapClass(0) };
    let heaps: Vec<_> = (0..80).map(|_| gpu.create_heap(&heap).unwrap()).collect();
    for kind in ResourceKind::ALL.into_iter().filter(|kind| *kind != ResourceKind::QuerySet) {
        assert_eq!(
            (gpu.object_count(kind), gpu.object_peak(kind), control.live(kind)),
            (80, 80, 80),
            "{kind}"
        );
    }
    drop((zoos, heaps));
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
