//! Creating and dropping resources in a steady state allocates nothing on the heap: groups of every kind of binding,
//! buffers, textures, views and samplers, with labels of ordinary length.
//!
//! The count is of the test's thread.

mod counting_alloc;

use std::num::NonZeroU64;

use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::types::*;
use purlin_rhi::*;

const fn entry(binding: u32, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry { binding, visibility: ShaderStages::COMPUTE, ty, count: None }
}

const fn buffer(ty: BufferBindingType, has_dynamic_offset: bool) -> BindingType {
    BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: NonZeroU64::new(16) }
}

const SHAPE: [BindGroupLayoutEntry; 5] = [
    entry(0, buffer(BufferBindingType::Uniform, false)),
    entry(1, buffer(BufferBindingType::Uniform, true)),
    entry(2, buffer(BufferBindingType::Storage { read_only: false }, false)),
    entry(
        3,
        BindingType::Texture {
            sample_type: TextureSampleType::Float { filterable: true },
            view_dimension: TextureViewDimension::D2,
            multisampled: false,
        },
    ),
    entry(4, BindingType::Sampler(SamplerBindingType::Filtering)),
];

/// Creates one of each, drops them all, and lets the device forget them.
fn round(gpu: &mut Device<Null>, shape: BindGroupLayout) -> Result<()> {
    let usage = BufferUsages::UNIFORM | BufferUsages::STORAGE;
    for _ in 0..8 {
        let uploaded = gpu.create_buffer(&BufferDesc::uploaded("table of materials", 1024, usage))?;
        let tracked = gpu.create_buffer(&BufferDesc::new("visible instances", 1024, usage))?;
        let texture =
            gpu.create_texture(&TextureDesc::uploaded("albedo", 16, 16, 5, TextureFormat::Rgba8Unorm))?;
        let view =
            gpu.create_texture_view(*texture, &TextureViewDesc { label: "albedo", ..Default::default() })?;
        let sampler = gpu.create_sampler(&SamplerDesc::linear("smooth"))?;
        let entries = [
            BindGroupEntry::buffer(0, *uploaded),
            BindGroupEntry::buffer_range(1, *uploaded, 0, 256),
            BindGroupEntry::buffer(2, *tracked),
            BindGroupEntry::texture(3, *view),
            BindGroupEntry::sampler(4, *sampler),
        ];
        let _group =
            gpu.create_bind_group(&BindGroupDesc { label: "material", layout: shape, entries: &entries })?;
    }
    gpu.maintain()
}

#[test]
fn resources_come_and_go_without_the_heap() {
    counting_alloc::count_this_thread();
    let mut gpu = Device::from_backend(Null::new(NullConfig::default()), &DeviceRequest::default()).unwrap();
    let shape =
        gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries: &SHAPE }).unwrap();
    let mut first = None;
    for index in 1..=20 {
        let before = counting_alloc::allocations();
        round(&mut gpu, *shape).unwrap();
        let made = counting_alloc::allocations() - before;
        first.get_or_insert(made);
        assert_eq!(gpu.object_count(ResourceKind::BindGroup), 0);
        assert_eq!((gpu.retiring(), gpu.memory().logical), (0, 0));
        assert!(index < 5 || made == 0, "round {index} made {made} allocations");
    }
    assert!(first.is_some_and(|made| made > 0), "the count is at work: the first round allocates");
}
