//! Handles (R2): stale, foreign and twice destroyed are typed errors, for every kind.

use purlin_rhi::handle::kind::Kind;
use purlin_rhi::null::NullConfig;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

/// One of each kind that programs can make, with what it needs.
pub struct Zoo {
    pub buffer: Owned<kind::Buffer>,
    pub texture: Owned<kind::Texture>,
    pub view: Owned<kind::TextureView>,
    pub sampler: Owned<kind::Sampler>,
    pub shape: Owned<kind::BindGroupLayout>,
    pub group: Owned<kind::BindGroup>,
    pub layout: Owned<kind::PipelineLayout>,
    pub module: Owned<kind::ShaderModule>,
    pub raster: Owned<kind::RenderPipeline>,
    pub compute: Owned<kind::ComputePipeline>,
}

impl Zoo {
    pub fn new(gpu: &mut Gpu) -> Result<Self> {
        let usage = BufferUsages::UNIFORM | BOTH_COPIES;
        let buffer = gpu.create_buffer(&BufferDesc::new("buffer", 256, usage))?;
        let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT;
        let texture = gpu.create_texture(&TextureDesc::d2("texture", 4, 4, COLOR, usage))?;
        let view =
            gpu.create_texture_view(*texture, &TextureViewDesc { label: "view", ..Default::default() })?;
        let sampler = gpu.create_sampler(&SamplerDesc::linear("sampler"))?;
        let entries = [
            entry(0, ShaderStages::FRAGMENT, uniform(16)),
            entry(1, ShaderStages::FRAGMENT, sampled()),
            entry(2, ShaderStages::FRAGMENT, BindingType::Sampler(SamplerBindingType::Filtering)),
        ];
        let shape =
            gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "shape", entries: &entries })?;
        let entries = [
            BindGroupEntry::buffer(0, *buffer),
            BindGroupEntry::texture(1, *view),
            BindGroupEntry::sampler(2, *sampler),
        ];
        let group =
            gpu.create_bind_group(&BindGroupDesc { label: "group", layout: *shape, entries: &entries })?;
        let groups = [*shape];
        let desc = PipelineLayoutDesc { label: "layout", groups: &groups, immediate_size: 0 };
        let layout = gpu.create_pipeline_layout(&desc)?;
        let module = gpu.create_shader_module(&SIMPLE)?;
        let targets = [Some(COLOR.into())];
        let raster = gpu.create_render_pipeline(&raster(*module, *layout, &targets))?;
        let compute = ShaderStageDesc { module: *module, entry: "cs" };
        let desc = ComputePipelineDesc { label: "compute", layout: *layout, compute };
        let compute = gpu.create_compute_pipeline(&desc)?;
        Ok(Self { buffer, texture, view, sampler, shape, group, layout, module, raster, compute })
    }
}

/// Destroys by handle, then again, then with another device.
fn twice<K: Kind>(gpu: &mut Gpu, other: &mut Gpu, owner: Owned<K>) {
    let handle = owner.leak();
    let text = bad_handle(other.checked(|gpu| gpu.destroy(handle)), HandleProblem::Foreign);
    assert!(text.starts_with(K::KIND.name()), "{text}");
    gpu.destroy(handle).unwrap();
    bad_handle(gpu.checked(|gpu| gpu.destroy(handle)), HandleProblem::Stale);
}

#[test]
fn every_kind_is_destroyed_once_and_only_by_its_device() {
    let (mut gpu, control) = device(NullConfig::manual());
    let mut other = plain();
    // The other device has the same slots and generations: only the tag tells them apart.
    let _same = Zoo::new(&mut other).unwrap();
    let zoo = Zoo::new(&mut gpu).unwrap();
    let Zoo { buffer, texture, view, sampler, shape, group, layout, module, raster, compute } = zoo;
    twice(&mut gpu, &mut other, buffer);
    twice(&mut gpu, &mut other, texture);
    twice(&mut gpu, &mut other, view);
    twice(&mut gpu, &mut other, sampler);
    twice(&mut gpu, &mut other, shape);
    twice(&mut gpu, &mut other, layout);
    twice(&mut gpu, &mut other, module);
    assert_eq!((control.live_total(), gpu.retiring()), (10, 7), "dependents keep all of them");
    twice(&mut gpu, &mut other, group);
    twice(&mut gpu, &mut other, raster);
    twice(&mut gpu, &mut other, compute);
    gpu.maintain().unwrap();
    assert_eq!((control.live_total(), gpu.retiring()), (0, 0));
}

#[test]
fn a_dropped_owner_is_not_destroyed_again_by_handle() {
    let mut gpu = plain();
    let owner = buffer(&mut gpu, "b", 4, BufferUsages::VERTEX);
    let handle = *owner;
    drop(owner);
    bad_handle(gpu.checked(|gpu| gpu.destroy(handle)), HandleProblem::Stale);
    let kept = buffer(&mut gpu, "c", 4, BufferUsages::VERTEX);
    let handle = kept.handle();
    gpu.destroy(handle).unwrap();
    drop(kept);
    gpu.maintain().unwrap();
    let next = buffer(&mut gpu, "d", 4, BufferUsages::VERTEX);
    assert_eq!(next.slot(), handle.slot());
    gpu.maintain().unwrap();
    assert_eq!(gpu.buffer_size(*next), Ok(4), "the late drop of the old owner leaves the new occupant alone");
}

#[test]
fn stale_and_foreign_handles_are_refused_wherever_they_are_given() {
    let mut gpu = plain();
    let mut other = plain();
    let zoo = Zoo::new(&mut gpu).unwrap();
    let gone = buffer(&mut gpu, "gone", 64, BufferUsages::UNIFORM).leak();
    gpu.destroy(gone).unwrap();
    let strange = buffer(&mut other, "strange", 64, BufferUsages::UNIFORM);
    for (handle, problem) in [(gone, HandleProblem::Stale), (*strange, HandleProblem::Foreign)] {
        bad_handle(gpu.checked(|gpu| gpu.write_buffer(handle, 0, &[1; 4])), problem);
        bad_handle(gpu.buffer_size(handle), problem);
        bad_handle(gpu.describe_buffer(handle), problem);
        let entries = [
            BindGroupEntry::buffer(0, handle),
            BindGroupEntry::texture(1, *zoo.view),
            BindGroupEntry::sampler(2, *zoo.sampler),
        ];
        let desc = BindGroupDesc { label: "g", layout: *zoo.shape, entries: &entries };
        bad_handle(gpu.checked(|gpu| gpu.create_bind_group(&desc)), problem);
        let uses = [buffer_use(handle, 64, BufferUse::Uniform(ShaderStages::COMPUTE))];
        let mut recorder = gpu.record("frame").unwrap();
        bad_handle(
            recorder.compute_pass(&ComputePassDesc { label: "p", uses: &uses, ..Default::default() }, |_| {}),
            problem,
        );
        drop(recorder);
        let mut list = plan::PassList::new();
        list.push_use(uses[0]);
        list.end_pass();
        let mut recorder = gpu.record("frame").unwrap();
        let planned = recorder.plan(&list, &mut plan::Plan::new(), |_| "planned".into());
        bad_handle(planned, problem);
    }
    let retiring = buffer(&mut gpu, "retiring", 64, BufferUsages::UNIFORM).leak();
    gpu.destroy(retiring).unwrap();
    let text = bad_handle(gpu.write_buffer(retiring, 0, &[1; 4]), HandleProblem::Stale);
    assert!(text.contains("\"retiring\""), "the label is known while the slot retires: {text}");
}

#[test]
fn a_stale_handle_does_not_reach_the_slots_next_occupant() {
    let mut gpu = plain();
    let first = texture(&mut gpu, "first", 4, 4, TextureUsages::TEXTURE_BINDING).leak();
    gpu.destroy(first).unwrap();
    gpu.maintain().unwrap();
    let second = texture(&mut gpu, "second", 8, 8, TextureUsages::TEXTURE_BINDING);
    assert_eq!(first.slot(), second.slot());
    assert_eq!(second.generation(), first.generation() + 1);
    bad_handle(gpu.texture_size(first), HandleProblem::Stale);
    assert_eq!(gpu.texture_size(*second), Ok(extent(8, 8, 1)));
}

/// C020: a cache keyed by the old handle cannot hit what came into its slot.
#[test]
fn c020_a_groups_view_replaced_in_its_slot_is_a_stale_handle() {
    let mut gpu = plain();
    let shape = group_layout(&mut gpu, &[entry(0, ShaderStages::FRAGMENT, sampled())]);
    let red = texture(&mut gpu, "red", 4, 4, TextureUsages::TEXTURE_BINDING);
    let a = view(&mut gpu, *red).leak();
    let cached = group(&mut gpu, *shape, &[BindGroupEntry::texture(0, a)]);
    gpu.destroy(a).unwrap();
    gpu.maintain().unwrap();
    let b = view(&mut gpu, *red);
    assert_ne!(a.slot(), b.slot(), "the group keeps the old view in its slot");
    drop(cached);
    gpu.maintain().unwrap();
    let c = view(&mut gpu, *red);
    assert_eq!(a.slot(), c.slot());
    assert_ne!(a, *c, "the same slot is another handle, so a key made of it misses");
    let desc = BindGroupDesc { label: "g", layout: *shape, entries: &[BindGroupEntry::texture(0, a)] };
    bad_handle(gpu.checked(|gpu| gpu.create_bind_group(&desc)), HandleProblem::Stale);
}

#[test]
fn pages_of_the_frame_arena_are_not_the_programs_to_destroy() {
    let (mut gpu, _control) = executing();
    let page = gpu.push_frame_data(&[1; 16], 16).unwrap().buffer;
    wrong_state(
        gpu.checked(|gpu| gpu.destroy(page)),
        &["a buffer that the program made", "\"frame arena page\""],
    );
    assert_eq!(gpu.push_frame_data(&[2; 16], 16).unwrap().buffer, page);
}

#[test]
fn a_stale_handle_is_stale_also_where_a_service_has_its_slot_now() {
    let (mut gpu, _control) = executing();
    let gone = buffer(&mut gpu, "gone", 16, BufferUsages::empty()).leak();
    gpu.destroy(gone).unwrap();
    gpu.maintain().unwrap();
    let page = gpu.push_frame_data(&[1; 16], 16).unwrap().buffer;
    assert_eq!(page.slot(), gone.slot());
    bad_handle(gpu.checked(|gpu| gpu.destroy(gone)), HandleProblem::Stale);
}

#[test]
fn handles_tell_themselves_apart_in_print() {
    let mut gpu = plain();
    let a = buffer(&mut gpu, "a", 4, BufferUsages::VERTEX);
    let t = texture(&mut gpu, "t", 4, 4, TextureUsages::TEXTURE_BINDING);
    assert!(format!("{:?}", *a).starts_with("buffer #0.1@"));
    assert!(format!("{:?}", *t).starts_with("texture #0.1@"));
    assert_eq!(format!("{a:?}"), format!("owned {:?}", *a));
}
