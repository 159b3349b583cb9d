//! Device memory: blocks from `gpu-allocator`, and the count of what was given out.

use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};
use purlin_rhi::backend::NativeMemory;
use purlin_rhi::desc::{HeapClass, HeapDesc, MemoryClass, MemoryNeeds};
use purlin_rhi::error::BackendError;

const MIB: u64 = 1 << 20;

/// Resources of this size get memory of their own: a block holds few of them, and strands the rest when they go.
const DEDICATED_FROM: u64 = 64 * MIB;

/// The allocator of a device.
pub(crate) struct Memory {
    allocator: Allocator,
    allocated: u64,
    allocated_peak: u64,
    /// What reports have seen: adding up the blocks looks at all of them.
    blocks_peak: AtomicU64,
}

/// What needs memory.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Buffer(vk::Buffer),
    Image(vk::Image),
}

impl Memory {
    /// Starts without any block.
    pub fn new(
        instance: &ash::Instance,
        device: &ash::Device,
        physical: vk::PhysicalDevice,
    ) -> Result<Self, BackendError> {
        // What is left when a device is dropped is freed by the device, so it is no leak to report.
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: physical,
            debug_settings,
            buffer_device_address: false,
            // Small programs take little; large ones reach the large blocks after a few.
            allocation_sizes: AllocationSizes::new(16 * MIB, 8 * MIB)
                .with_max_device_memblock_size(256 * MIB)
                .with_max_host_memblock_size(64 * MIB),
        })
        .map_err(|error| allocation_failed(error, 0))?;
        Ok(Self { allocator, allocated: 0, allocated_peak: 0, blocks_peak: AtomicU64::new(0) })
    }

    /// What an image would take in a heap. `None` if it is to have memory of its own.
    pub fn needs(&self, device: &ash::Device, image: vk::Image) -> Option<MemoryNeeds> {
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut found = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        // SAFETY: the image is live.
        unsafe {
            device.get_image_memory_requirements2(
                &vk::ImageMemoryRequirementsInfo2::default().image(image),
                &mut found,
            );
        }
        let vk::MemoryRequirements { size, alignment, memory_type_bits } = found.memory_requirements;
        let needs = MemoryNeeds { size, alignment, class: HeapClass(memory_type_bits) };
        (dedicated.requires_dedicated_allocation == vk::FALSE).then_some(needs)
    }

    /// Allocates a heap for images.
    pub fn heap(&mut self, desc: &HeapDesc<'_>) -> Result<Allocation, BackendError> {
        let HeapDesc { size, alignment, class: HeapClass(memory_type_bits), .. } = *desc;
        let allocation = self
            .allocator
            .allocate(&AllocationCreateDesc {
                name: "",
                requirements: vk::MemoryRequirements { size, alignment, memory_type_bits },
                location: MemoryLocation::GpuOnly,
                linear: false,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| allocation_failed(error, size))?;
        self.count(allocation.size());
        Ok(allocation)
    }

    /// Allocates for a resource and binds it.
    pub fn bind(
        &mut self,
        device: &ash::Device,
        owner: Owner,
        class: MemoryClass,
    ) -> Result<Allocation, BackendError> {
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut requirements = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        // SAFETY: the resource is live and has no memory yet.
        unsafe {
            match owner {
                Owner::Buffer(buffer) => device.get_buffer_memory_requirements2(
                    &vk::BufferMemoryRequirementsInfo2::default().buffer(buffer),
                    &mut requirements,
                ),
                Owner::Image(image) => device.get_image_memory_requirements2(
                    &vk::ImageMemoryRequirementsInfo2::default().image(image),
                    &mut requirements,
                ),
            }
        }
        let requirements = requirements.memory_requirements;
        let alone = dedicated.requires_dedicated_allocation == vk::TRUE
            || dedicated.prefers_dedicated_allocation == vk::TRUE
            || requirements.size >= DEDICATED_FROM;
        let allocation = self
            .allocator
            .allocate(&AllocationCreateDesc {
                // Nobody asks the allocator for names, and it would keep two copies of each.
                name: "",
                requirements,
                location: match class {
                    MemoryClass::Device => MemoryLocation::GpuOnly,
                    MemoryClass::Upload => MemoryLocation::CpuToGpu,
                    MemoryClass::Readback => MemoryLocation::GpuToCpu,
                },
                linear: matches!(owner, Owner::Buffer(_)),
                allocation_scheme: match owner {
                    _ if !alone => AllocationScheme::GpuAllocatorManaged,
                    Owner::Buffer(buffer) => AllocationScheme::DedicatedBuffer(buffer),
                    Owner::Image(image) => AllocationScheme::DedicatedImage(image),
                },
            })
            .map_err(|error| allocation_failed(error, requirements.size))?;
        // SAFETY: the allocation was made for this resource's requirements, and nothing else lies in its range.
        let bound = unsafe {
            match owner {
                Owner::Buffer(buffer) => {
                    device.bind_buffer_memory(buffer, allocation.memory(), allocation.offset())
                }
                Owner::Image(image) => {
                    device.bind_image_memory(image, allocation.memory(), allocation.offset())
                }
            }
        };
        self.count(allocation.size());
        if let Err(error) = bound {
            self.free(allocation);
            return Err(failed("vkBindBufferMemory or vkBindImageMemory", error));
        }
        Ok(allocation)
    }

    /// Gives memory back; the resource that lay there is already destroyed.
    pub fn free(&mut self, allocation: Allocation) {
        self.allocated -= allocation.size();
        if let Err(error) = self.allocator.free(allocation) {
            tracing::error!(%error, "gpu-allocator could not free an allocation of its own");
        }
    }

    fn count(&mut self, bytes: u64) {
        self.allocated += bytes;
        self.allocated_peak = self.allocated_peak.max(self.allocated);
    }

    pub fn stats(&self) -> NativeMemory {
        let blocks = self.allocator.capacity();
        NativeMemory {
            allocated: self.allocated,
            allocated_peak: self.allocated_peak,
            blocks,
            blocks_peak: self.blocks_peak.fetch_max(blocks, Ordering::Relaxed).max(blocks),
        }
    }
}

fn allocation_failed(error: AllocationError, bytes: u64) -> BackendError {
    match error {
        AllocationError::OutOfMemory => BackendError::OutOfMemory { bytes },
        error => BackendError::Failed { call: "vkAllocateMemory", detail: error.to_string() },
    }
}

/// Sorts a native result into the kinds of error that the device tells apart.
pub(crate) fn failed(call: &'static str, error: vk::Result) -> BackendError {
    match error {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
            BackendError::OutOfMemory { bytes: 0 }
        }
        vk::Result::ERROR_DEVICE_LOST => BackendError::DeviceLost(format!("{call} said so")),
        error => BackendError::Failed { call, detail: error.to_string() },
    }
}
