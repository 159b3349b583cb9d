//! The contender wgpu, with the fastest settings that it documents: only the Vulkan backend, no instance flags (no
//! validation layers, no labels, no checks of indirect calls), trusted shaders without runtime checks, memory hints for
//! performance. Its own validation of the API cannot be turned off.

mod compute;
mod groups;
mod lifetimes;
mod make;
mod overlays;
mod raster;
mod threads;

use ::wgpu::hal::vulkan::Api as Vulkan;

use crate::case::{Case, Contender, Failure, Outcome};
use crate::hardware::Choice;
use crate::workloads::{Workload, thread_draws};

/// The contender `wgpu`.
pub struct Wgpu {
    gpu: make::Gpu,
    /// Draws of `threads`.
    thread_draws: u32,
}

impl Wgpu {
    pub fn new(choice: &Choice) -> Outcome<Self> {
        let mut desc = ::wgpu::InstanceDescriptor::new_without_display_handle();
        desc.backends = ::wgpu::Backends::VULKAN;
        desc.flags = ::wgpu::InstanceFlags::empty();
        if choice.mock {
            // It claims no conformance at all; the flag only lists such adapters.
            desc.flags |= ::wgpu::InstanceFlags::ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER;
        }
        let instance = ::wgpu::Instance::new(desc);
        let adapter = if choice.mock { patched(&instance, choice)? } else { found(&instance, choice)? };
        let needed = ::wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES | ARRAYS;
        let features = adapter.features() & needed;
        let desc = ::wgpu::DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: adapter.limits(),
            memory_hints: ::wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&desc))
            .map_err(|error| Failure::failed("wgpu device", error))?;
        Ok(Self { gpu: make::Gpu::new(device, queue), thread_draws: thread_draws(choice.software) })
    }
}

/// What workloads with arrays of bindings need.
const ARRAYS: ::wgpu::Features = ::wgpu::Features::TEXTURE_BINDING_ARRAY
    .union(::wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING);

fn found(instance: &::wgpu::Instance, choice: &Choice) -> Outcome<::wgpu::Adapter> {
    let adapters = pollster::block_on(instance.enumerate_adapters(::wgpu::Backends::VULKAN));
    adapters
        .into_iter()
        .find(|adapter| adapter.get_info().name == choice.name)
        .ok_or_else(|| Failure::Unsupported(format!("wgpu does not list \"{}\"", choice.name)))
}

/// The mock driver reports limits below any real one's, such as a maximum buffer size of zero. wgpu holds every call to
/// them, so they are raised to what WebGPU asks of an adapter.
fn patched(instance: &::wgpu::Instance, choice: &Choice) -> Outcome<::wgpu::Adapter> {
    // SAFETY: the adapters are used only through this instance.
    unsafe {
        let Some(native) = instance.as_hal::<Vulkan>() else {
            return Err(Failure::Unsupported("wgpu has no Vulkan instance".into()));
        };
        let exposed = ::wgpu::hal::Instance::enumerate_adapters(native, None);
        let Some(mut exposed) = exposed.into_iter().find(|exposed| exposed.info.name == choice.name) else {
            return Err(Failure::Unsupported(format!("wgpu does not list \"{}\"", choice.name)));
        };
        let limits = std::mem::take(&mut exposed.capabilities.limits);
        exposed.capabilities.limits = limits.or_better_values_from(&::wgpu::Limits::default());
        Ok(instance.create_adapter_from_hal(exposed))
    }
}

impl Contender for Wgpu {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn prepare<'c>(&'c mut self, workload: Workload) -> Outcome<Box<dyn Case + 'c>> {
        let gpu = &self.gpu;
        // wgpu answers mistakes through callbacks; the first one fails the workload.
        gpu.first_error()?;
        if workload.has_arrays() && !gpu.device.features().contains(ARRAYS) {
            return Err(Failure::Unsupported("the device has no arrays of bindings".into()));
        }
        let case: Box<dyn Case + 'c> = match workload {
            Workload::Draws { switching } => Box::new(raster::Draws::new(gpu, switching)),
            Workload::RenderPass { passes } => Box::new(raster::RenderPass::new(gpu, passes)),
            Workload::Bindless => Box::new(raster::Bindless::new(gpu)),
            Workload::ComputePass => Box::new(compute::ComputePass::new(gpu)?),
            Workload::Chain | Workload::ChainGraph => Box::new(compute::Steps::chain(gpu)),
            Workload::Independent => Box::new(compute::Steps::independent(gpu)),
            Workload::Overlays { count } | Workload::OverlaysGraph { count, .. } => {
                Box::new(overlays::Overlays::new(gpu, count))
            }
            Workload::Compile { .. } | Workload::Alias(_) => {
                return Err(Failure::Unsupported("it compiles no graph".into()));
            }
            Workload::Demo => return Err(Failure::Unsupported("the demo is Purlin's own".into())),
            Workload::Slices | Workload::Dynamic | Workload::Sampled | Workload::Arrays { .. } => {
                Box::new(groups::Groups::new(gpu, workload))
            }
            Workload::Buffers | Workload::LargeBuffers => Box::new(lifetimes::Buffers::new(gpu, workload)),
            Workload::Threads { threads } => Box::new(threads::Threads::new(gpu, threads, self.thread_draws)),
            Workload::Textures => Box::new(lifetimes::Textures::new(gpu)),
        };
        gpu.first_error()?;
        Ok(case)
    }
}
