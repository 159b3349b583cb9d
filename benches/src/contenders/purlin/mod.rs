//! The contender Purlin, on its Vulkan backend or on wgpu: direct passes, every use of what the GPU writes declared and tracked.
//! What only uploads write has uploaded contents, which is how Purlin asks programs to say so.

mod alias;
mod compile;
mod compute;
mod demo;
mod graphs;
mod groups;
mod lifetimes;
mod make;
mod overlays;
mod raster;
#[path = "../../../../crates/graph/tests/reference_frames/mod.rs"]
mod reference_frames;
mod threads;

use purlin_rhi::backend::Backend;
use purlin_rhi::{AdapterSelector, Device, DeviceRequest, Features, Limits, StorageCeilings};

use purlin_vulkan::Vulkan;
use purlin_wgpu::{Wgpu, WgpuOptions};

use crate::case::{Case, Contender, Failure, Outcome};
use crate::hardware::Choice;
use crate::workloads::{Workload, thread_draws};

/// The contender `purlin`.
pub struct Purlin<B: Backend> {
    gpu: make::Gpu<B>,
    /// Draws of `threads`.
    thread_draws: u32,
}

impl Purlin<Vulkan> {
    /// Opens the device with the features of the workload.
    pub fn new(choice: &Choice, workload: Workload) -> Outcome<Self> {
        Self::of(choice, workload, |request| pollster::block_on(Device::request(request)))
    }
}

impl Purlin<Wgpu> {
    /// The same on wgpu, as wgpu itself opens it.
    pub fn on_wgpu(choice: &Choice, workload: Workload) -> Outcome<Self> {
        Self::of(choice, workload, |request| {
            let request = DeviceRequest { adapter: AdapterSelector::Name(&choice.name), ..request.clone() };
            let options = WgpuOptions { backends: Some(::wgpu::Backends::VULKAN) };
            Device::from_backend(pollster::block_on(Wgpu::open(&request, &options))?, &request)
        })
    }
}

impl<B: Backend> Purlin<B> {
    fn of(
        choice: &Choice,
        workload: Workload,
        open: impl FnOnce(&DeviceRequest<'_>) -> purlin_rhi::Result<Device<B>>,
    ) -> Outcome<Self> {
        let limits = Limits::default();
        // The mock driver reports less than any driver has; nothing of it is needed.
        let required_limits = if choice.mock { nothing(limits) } else { limits };
        let request = DeviceRequest {
            label: "purlin-benches",
            adapter: AdapterSelector::Index(choice.index),
            required_features: if workload == Workload::Demo { demo::REQUIRED } else { Features::empty() },
            preferred_features: Features::empty(),
            required_limits,
            storage: StorageCeilings { upload_ring: 16 << 20, ..StorageCeilings::default() },
            ..DeviceRequest::default()
        };
        let request = match workload {
            Workload::Demo => DeviceRequest { preferred_features: demo::PREFERRED, ..request },
            _ if workload.has_arrays() => DeviceRequest { required_features: ARRAYS, ..request },
            _ => request,
        };
        let device = open(&request)?;
        if device.adapter().name != choice.name {
            let found = &device.adapter().name;
            return Err(Failure::Failed(format!("Purlin opened \"{found}\" instead of \"{}\"", choice.name)));
        }
        Ok(Self { gpu: make::Gpu { device }, thread_draws: thread_draws(choice.software) })
    }
}

/// What workloads with arrays of bindings need.
const ARRAYS: Features = Features::BINDING_ARRAYS.union(Features::NON_UNIFORM_INDEXING);

/// Limits that every adapter meets.
fn nothing(limits: Limits) -> Limits {
    Limits {
        max_texture_dimension_2d: 0,
        max_texture_dimension_3d: 0,
        max_texture_array_layers: 0,
        max_bind_groups: 0,
        max_bindings_per_group: 0,
        max_dynamic_uniform_buffers: 0,
        max_dynamic_storage_buffers: 0,
        max_sampled_textures_per_stage: 0,
        max_samplers_per_stage: 0,
        max_storage_buffers_per_stage: 0,
        max_storage_textures_per_stage: 0,
        max_uniform_buffers_per_stage: 0,
        max_uniform_binding_size: 0,
        max_storage_binding_size: 0,
        max_buffer_size: 0,
        max_vertex_buffers: 0,
        max_vertex_attributes: 0,
        max_vertex_stride: 0,
        max_color_attachments: 0,
        max_workgroup_invocations: 0,
        max_workgroup_size_x: 0,
        max_workgroup_size_y: 0,
        max_workgroup_size_z: 0,
        max_workgroups_per_dimension: 0,
        max_immediate_size: 0,
        max_anisotropy: 0,
        ..limits
    }
}

impl<B: Backend> Contender for Purlin<B> {
    fn name(&self) -> &'static str {
        "purlin"
    }

    fn prepare<'c>(&'c mut self, workload: Workload) -> Outcome<Box<dyn Case + 'c>> {
        let gpu = &mut self.gpu;
        let case: Box<dyn Case + 'c> = match workload {
            Workload::Draws { switching } => Box::new(raster::Draws::new(gpu, switching)?),
            Workload::RenderPass { passes } => Box::new(raster::RenderPass::new(gpu, passes)?),
            Workload::Bindless => Box::new(raster::Bindless::new(gpu)?),
            Workload::ComputePass => Box::new(compute::ComputePass::new(gpu)?),
            Workload::Chain => Box::new(compute::Steps::chain(gpu)?),
            Workload::ChainGraph => Box::new(graphs::Chain::new(gpu)?),
            Workload::Independent => Box::new(compute::Steps::independent(gpu)?),
            Workload::Overlays { count } => Box::new(overlays::Overlays::new(gpu, count)?),
            Workload::OverlaysGraph { count, merge } => Box::new(graphs::Overlays::new(gpu, count, merge)?),
            Workload::Compile { passes, reuse } => Box::new(compile::Compile::new(passes, reuse)?),
            Workload::Alias(frame) => Box::new(alias::Alias::new(gpu, frame)?),
            Workload::Demo => Box::new(demo::Demo::new(gpu)?),
            Workload::Slices | Workload::Dynamic | Workload::Sampled | Workload::Arrays { .. } => {
                Box::new(groups::Groups::new(gpu, workload)?)
            }
            Workload::Buffers | Workload::LargeBuffers => Box::new(lifetimes::Buffers::new(gpu, workload)),
            Workload::Threads { threads } => {
                Box::new(threads::Threads::new(gpu, threads, self.thread_draws)?)
            }
            Workload::Textures => Box::new(lifetimes::Textures::new(gpu)),
        };
        Ok(case)
    }
}

impl From<purlin_graph::GraphError> for Failure {
    fn from(error: purlin_graph::GraphError) -> Self {
        Failure::failed("graph", error)
    }
}

impl From<purlin_rhi::Error> for Failure {
    fn from(error: purlin_rhi::Error) -> Self {
        match error {
            purlin_rhi::Error::Unsupported { .. } => Failure::Unsupported(error.to_string()),
            error => Failure::Failed(error.to_string()),
        }
    }
}
