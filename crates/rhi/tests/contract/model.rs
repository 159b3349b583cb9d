//! Property test: random lives of resources of every kind with dependents, against a model that only counts.
//!
//! The model knows who depends on whom and which submissions are in flight, and from that which objects must exist
//! natively after maintenance: exactly those that are live, needed by a dependent that exists, or in flight.

use proptest::prelude::*;
use purlin_rhi::null::{NullConfig, NullControl};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

#[derive(Debug, Clone)]
enum Step {
    Create(u8, usize, usize),
    Destroy(usize),
    Submit,
    Complete(u64),
    Maintain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..10, any::<usize>(), any::<usize>()).prop_map(|(kind, a, b)| Step::Create(kind, a, b)),
        5 => any::<usize>().prop_map(Step::Destroy),
        2 => Just(Step::Submit),
        2 => (0u64..3).prop_map(Step::Complete),
        1 => Just(Step::Maintain),
    ]
}

enum Any {
    Buffer(Owned<kind::Buffer>),
    Texture(Owned<kind::Texture>),
    #[expect(dead_code, reason = "held, not read")]
    View(Owned<kind::TextureView>),
    Sampler(Owned<kind::Sampler>),
    Shape(Owned<kind::BindGroupLayout>),
    #[expect(dead_code, reason = "held, not read")]
    Group(Owned<kind::BindGroup>),
    Layout(Owned<kind::PipelineLayout>),
    Module(Owned<kind::ShaderModule>),
    #[expect(dead_code, reason = "held, not read")]
    Raster(Owned<kind::RenderPipeline>),
    #[expect(dead_code, reason = "held, not read")]
    Compute(Owned<kind::ComputePipeline>),
}

struct Object {
    kind: ResourceKind,
    owner: Option<Any>,
    needs: Vec<usize>,
    /// When its destruction was read: the submission it waits for.
    dies_after: Option<u64>,
    exists: bool,
}

struct World {
    gpu: Gpu,
    control: NullControl,
    objects: Vec<Object>,
    submitted: u64,
    completed: u64,
}

macro_rules! live {
    ($world:expr, $pick:expr, $variant:ident) => {{
        let found: Vec<(usize, _)> = $world
            .objects
            .iter()
            .enumerate()
            .filter_map(|(index, object)| match &object.owner {
                Some(Any::$variant(owner)) => Some((index, owner.handle())),
                _ => None,
            })
            .collect();
        if found.is_empty() { None } else { Some(found[$pick % found.len()]) }
    }};
}

impl World {
    fn new() -> Self {
        let config = NullConfig { auto_complete: false, wait_completes: false, ..NullConfig::default() };
        let (gpu, control) = device(config);
        Self { gpu, control, objects: Vec::new(), submitted: 0, completed: 0 }
    }

    fn add(&mut self, kind: ResourceKind, owner: Any, needs: Vec<usize>) {
        self.objects.push(Object { kind, owner: Some(owner), needs, dies_after: None, exists: true });
    }

    /// Creates an object of a kind over live ones, when there are any it can be made of.
    fn create(&mut self, kind: u8, a: usize, b: usize) {
        match kind {
            0 => {
                let made = buffer(&mut self.gpu, "buffer", 64, BufferUsages::UNIFORM);
                self.add(ResourceKind::Buffer, Any::Buffer(made), vec![]);
            }
            1 => {
                let made = texture(&mut self.gpu, "texture", 4, 4, TextureUsages::TEXTURE_BINDING);
                self.add(ResourceKind::Texture, Any::Texture(made), vec![]);
            }
            2 => {
                let Some((index, texture)) = live!(self, a, Texture) else { return };
                let made = view(&mut self.gpu, texture);
                self.add(ResourceKind::TextureView, Any::View(made), vec![index]);
            }
            3 => {
                let made = self.gpu.create_sampler(&SamplerDesc::linear("sampler")).unwrap();
                self.add(ResourceKind::Sampler, Any::Sampler(made), vec![]);
            }
            4 => {
                let ty = BindingType::Sampler(SamplerBindingType::Filtering);
                let entries =
                    [entry(0, ShaderStages::COMPUTE, uniform(4)), entry(1, ShaderStages::COMPUTE, ty)];
                let made = group_layout(&mut self.gpu, &entries);
                self.add(ResourceKind::BindGroupLayout, Any::Shape(made), vec![]);
            }
            5 => {
                let Some((shape, shape_handle)) = live!(self, a, Shape) else { return };
                let Some((buffer, buffer_handle)) = live!(self, b, Buffer) else { return };
                let Some((sampler, sampler_handle)) = live!(self, a ^ b, Sampler) else { return };
                let entries =
                    [BindGroupEntry::buffer(0, buffer_handle), BindGroupEntry::sampler(1, sampler_handle)];
                let made = group(&mut self.gpu, shape_handle, &entries);
                self.add(ResourceKind::BindGroup, Any::Group(made), vec![shape, buffer, sampler]);
            }
            6 => {
                let Some((shape, handle)) = live!(self, a, Shape) else { return };
                let made = pipeline_layout(&mut self.gpu, &[handle, handle]);
                self.add(ResourceKind::PipelineLayout, Any::Layout(made), vec![shape]);
            }
            7 => {
                let made = self.gpu.create_shader_module(&SIMPLE).unwrap();
                self.add(ResourceKind::ShaderModule, Any::Module(made), vec![]);
            }
            8 => {
                let Some((layout, layout_handle)) = live!(self, a, Layout) else { return };
                let Some((module, module_handle)) = live!(self, b, Module) else { return };
                let targets = [Some(COLOR.into())];
                let desc = raster(module_handle, layout_handle, &targets);
                let made = self.gpu.create_render_pipeline(&desc).unwrap();
                self.add(ResourceKind::RenderPipeline, Any::Raster(made), vec![layout, module]);
            }
            _ => {
                let Some((layout, layout_handle)) = live!(self, a, Layout) else { return };
                let Some((module, module_handle)) = live!(self, b, Module) else { return };
                let compute = ShaderStageDesc { module: module_handle, entry: "cs" };
                let desc = ComputePipelineDesc { label: "compute", layout: layout_handle, compute };
                let made = self.gpu.create_compute_pipeline(&desc).unwrap();
                self.add(ResourceKind::ComputePipeline, Any::Compute(made), vec![layout, module]);
            }
        }
    }

    /// Reads the drops: whoever lost its owner waits for what is submitted now.
    fn note_drops(&mut self) {
        for object in &mut self.objects {
            if object.owner.is_none() && object.dies_after.is_none() {
                object.dies_after = Some(self.submitted);
            }
        }
    }

    /// What maintenance must come to.
    fn settle(&mut self) {
        self.note_drops();
        loop {
            let needed: Vec<usize> =
                self.objects.iter().filter(|o| o.exists).flat_map(|o| o.needs.clone()).collect();
            let completed = self.completed;
            let mut moved = false;
            for (index, object) in self.objects.iter_mut().enumerate() {
                let done = object.dies_after.is_some_and(|after| after <= completed);
                if object.exists && done && !needed.contains(&index) {
                    object.exists = false;
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        self.gpu.maintain().unwrap();
        self.settle();
        for kind in ResourceKind::ALL {
            let expected = self.objects.iter().filter(|o| o.exists && o.kind == kind).count();
            prop_assert_eq!(self.control.live(kind), expected, "{}", kind);
            prop_assert_eq!(self.gpu.object_count(kind) as usize, expected);
        }
        let bytes = self.objects.iter().filter(|o| o.exists).map(|o| match o.kind {
            ResourceKind::Buffer | ResourceKind::Texture => 64,
            _ => 0,
        });
        prop_assert_eq!(self.gpu.memory().logical, bytes.sum::<u64>());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lives_of_resources_follow_the_model(steps in prop::collection::vec(step(), 1..80)) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::Create(kind, a, b) => world.create(kind, a, b),
                Step::Destroy(pick) => {
                    let count = world.objects.len().max(1);
                    if let Some(object) = world.objects.get_mut(pick % count) {
                        object.owner = None;
                    }
                }
                Step::Submit => {
                    // Recording reads the drops before the submission gets its number.
                    world.note_drops();
                    let token = world.gpu.record("frame").unwrap().submit().unwrap();
                    world.submitted = token.ordinal();
                }
                Step::Complete(back) => {
                    world.completed = world.completed.max(world.submitted.saturating_sub(back));
                    world.control.complete_to(world.completed);
                }
                Step::Maintain => world.compare()?,
            }
        }
        world.objects.iter_mut().for_each(|object| object.owner = None);
        world.completed = world.submitted;
        world.control.complete_all();
        world.compare()?;
        prop_assert_eq!(world.control.live_total(), 0);
    }
}
