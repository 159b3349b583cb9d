//! The hand-written contender: Vulkan 1.3 through `ash`, as somebody who knows what the workload needs would write it.
//!
//! Synchronization2, dynamic rendering, one command pool that is reset as a whole, no state set twice, the barriers
//! that correctness needs and no others. `cargo xtask bench` under the validation layer with synchronization
//! validation reports nothing for it (docs/performance.md says how to check).

mod bindless;
mod chain;
mod computepass;
mod draws;
mod gpu;
mod groups;
mod make;
mod overlays;
mod renderpass;
mod resources;
mod threads;
mod transfer;

use ash::vk;

use gpu::Gpu;

use crate::case::{Case, Contender, Failure, Outcome};
use crate::hardware::Choice;
use crate::workloads::{Workload, thread_draws};

/// The contender `ash`.
pub struct Ash {
    gpu: Gpu,
    /// Draws of `threads`.
    thread_draws: u32,
}

impl Ash {
    pub fn new(choice: &Choice) -> Outcome<Self> {
        Ok(Self { gpu: Gpu::new(choice)?, thread_draws: thread_draws(choice.software) })
    }
}

impl Contender for Ash {
    fn name(&self) -> &'static str {
        "ash"
    }

    fn prepare<'c>(&'c mut self, workload: Workload) -> Outcome<Box<dyn Case + 'c>> {
        let gpu = &mut self.gpu;
        if workload.has_arrays() && !gpu.arrays {
            return Err(Failure::Unsupported("the device has no arrays of bindings".into()));
        }
        Ok(match workload {
            Workload::Draws { switching } => Box::new(draws::Draws::new(gpu, switching)?),
            Workload::RenderPass { passes } => Box::new(renderpass::RenderPass::new(gpu, passes)?),
            Workload::Bindless => Box::new(bindless::Bindless::new(gpu)?),
            Workload::ComputePass => Box::new(computepass::ComputePass::new(gpu)?),
            Workload::Chain | Workload::ChainGraph => Box::new(chain::Chain::new(gpu)?),
            Workload::Independent => Box::new(chain::Independent::new(gpu)?),
            Workload::Overlays { count } | Workload::OverlaysGraph { count, .. } => {
                Box::new(overlays::Overlays::new(gpu, count)?)
            }
            Workload::Compile { .. } | Workload::Alias(_) => {
                return Err(Failure::Unsupported("it compiles no graph".into()));
            }
            Workload::Demo => return Err(Failure::Unsupported("the demo is Purlin's own".into())),
            Workload::Slices | Workload::Dynamic | Workload::Sampled | Workload::Arrays { .. } => {
                Box::new(groups::Groups::new(gpu, workload)?)
            }
            Workload::Buffers | Workload::LargeBuffers => Box::new(resources::Buffers::new(gpu, workload)),
            Workload::Threads { threads } => {
                Box::new(threads::Threads::new(gpu, threads, self.thread_draws)?)
            }
            Workload::Textures => Box::new(resources::Textures::new(gpu)),
        })
    }
}

impl From<vk::Result> for Failure {
    fn from(error: vk::Result) -> Self {
        Failure::failed("Vulkan", error)
    }
}

impl From<gpu_allocator::AllocationError> for Failure {
    fn from(error: gpu_allocator::AllocationError) -> Self {
        Failure::failed("gpu-allocator", error)
    }
}
