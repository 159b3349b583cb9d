//! The device, and the frame: one command buffer, one timeline semaphore.

use ash::vk;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};

use crate::case::{Failure, Outcome};
use crate::hardware::Choice;

const MIB: u64 = 1 << 20;

/// Everything that outlives a workload.
pub struct Gpu {
    pub device: ash::Device,
    /// Whether arrays of sampled images take any index.
    pub arrays: bool,
    pub queue: vk::Queue,
    pub family: u32,
    /// `None` only while the device is torn down.
    pub allocator: Option<Allocator>,
    pub commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    submitted: u64,
    instance: ash::Instance,
    _entry: ash::Entry,
}

/// The physical device that the choice names, with a queue family for graphics and compute.
fn choose(instance: &ash::Instance, choice: &Choice) -> Outcome<(vk::PhysicalDevice, u32)> {
    // SAFETY: the instance is live, and so are the physical devices that it lists.
    unsafe {
        let physical = instance
            .enumerate_physical_devices()?
            .into_iter()
            .nth(choice.index)
            .ok_or_else(|| Failure::Failed(format!("the adapter \"{}\" is gone", choice.name)))?;
        let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let family = instance
            .get_physical_device_queue_family_properties(physical)
            .iter()
            .position(|family| family.queue_flags.contains(wanted))
            .ok_or_else(|| Failure::Unsupported("no queue for graphics and compute".into()))?;
        Ok((physical, family as u32))
    }
}

/// Whether arrays of sampled images take any index.
fn has_arrays(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut vulkan12);
    // SAFETY: the device has Vulkan 1.3, and so knows the structure.
    unsafe { instance.get_physical_device_features2(physical, &mut all) };
    all.features.shader_sampled_image_array_dynamic_indexing == vk::TRUE
        && vulkan12.shader_sampled_image_array_non_uniform_indexing == vk::TRUE
}

impl Gpu {
    pub fn new(choice: &Choice) -> Outcome<Self> {
        // SAFETY: the system's Vulkan loader is trusted to be one.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Failure::failed("Vulkan loader", error))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: no extensions and no layers are asked for.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        // A device that cannot be opened is reported once; what was made until then goes with the process.
        Self::open(&instance, choice, entry)
    }

    fn open(instance: &ash::Instance, choice: &Choice, entry: ash::Entry) -> Outcome<Self> {
        let (physical, family) = choose(instance, choice)?;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let arrays = has_arrays(instance, physical);
        let core = vk::PhysicalDeviceFeatures::default().shader_sampled_image_array_dynamic_indexing(arrays);
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default()
            .timeline_semaphore(true)
            .shader_sampled_image_array_non_uniform_indexing(arrays);
        let mut vulkan13 =
            vk::PhysicalDeviceVulkan13Features::default().synchronization2(true).dynamic_rendering(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_features(&core)
            .push_next(&mut vulkan12)
            .push_next(&mut vulkan13);
        // SAFETY: Vulkan 1.3 has these features, and the family exists.
        let device = unsafe { instance.create_device(physical, &info, None) }?;
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        // The same sizes as Purlin's backend, so that `resources` compares the code around one allocator.
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: physical,
            debug_settings,
            buffer_device_address: false,
            allocation_sizes: AllocationSizes::new(16 * MIB, 8 * MIB)
                .with_max_device_memblock_size(256 * MIB)
                .with_max_host_memblock_size(64 * MIB),
        })?;
        // SAFETY: the device is live and has one queue of the family.
        unsafe {
            let queue = device.get_device_queue(family, 0);
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::TRANSIENT)
                .queue_family_index(family);
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::PRIMARY)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            let timeline = device.create_semaphore(&info, None)?;
            Ok(Self {
                device,
                arrays,
                queue,
                family,
                allocator: Some(allocator),
                commands,
                pool,
                timeline,
                submitted: 0,
                instance: instance.clone(),
                _entry: entry,
            })
        }
    }

    /// Begins the frame's command buffer.
    pub fn begin(&self) -> Outcome<vk::CommandBuffer> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool was reset when the last frame was complete.
        unsafe { self.device.begin_command_buffer(self.commands, &info) }?;
        Ok(self.commands)
    }

    /// Ends recording.
    pub fn end(&self) -> Outcome<()> {
        // SAFETY: the command buffer is recording, outside a pass.
        Ok(unsafe { self.device.end_command_buffer(self.commands) }?)
    }

    /// Submits what was recorded.
    pub fn submit(&mut self) -> Outcome<()> {
        let value = self.submitted + 1;
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(self.commands)];
        let signals = [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.timeline)
            .value(value)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let info =
            vk::SubmitInfo2::default().command_buffer_infos(&commands).signal_semaphore_infos(&signals);
        // SAFETY: the command buffer is executable and not pending; the value is above the semaphore's.
        unsafe { self.device.queue_submit2(self.queue, &[info], vk::Fence::null()) }?;
        self.submitted = value;
        Ok(())
    }

    /// Waits for what was submitted and resets the pool.
    pub fn finish(&self) -> Outcome<()> {
        let semaphores = [self.timeline];
        let values = [self.submitted];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is a live timeline; the command buffer is not pending after the wait.
        unsafe {
            self.device.wait_semaphores(&info, u64::MAX)?;
            self.device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
        }
        Ok(())
    }

    /// Records, submits and waits.
    pub fn run(&mut self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Outcome<()> {
        let commands = self.begin()?;
        record(&self.device, commands);
        self.end()?;
        self.submit()?;
        self.finish()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: after the wait nothing is in use; workloads destroyed what they made.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.allocator = None;
            self.device.destroy_semaphore(self.timeline, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
