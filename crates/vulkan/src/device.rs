//! The device: how it is opened, what it holds, and how all of it goes away again.

use std::mem::ManuallyDrop;
use std::time::Duration;

use arrayvec::ArrayVec;
use ash::{ext, khr, vk};
use purlin_rhi::backend::{NativeResult, SlotTable};
use purlin_rhi::caps::{AdapterInfo, Capabilities, Features, FormatUses};
use purlin_rhi::error::Error;
use purlin_rhi::formats::{FormatCapabilities, FormatShape};
use purlin_rhi::request::{DeviceRequest, negotiate, select};
use purlin_rhi::types::{TextureDimension, TextureFormat};

use crate::adapter::{self, Physical};
use crate::binding::{Group, GroupLayout, PipelineLayout};
use crate::command::CommandPools;
use crate::instance::{Instance, no_driver};
use crate::label::Labels;
use crate::memory::{Memory, failed};
use crate::messages::ValidationMessages;
use crate::query::QuerySet;
use crate::queue::Progress;
use crate::resource::{Buffer, ImageKind, Texture, View};
use crate::surface::Surface;
use crate::swapchain::Presenter;

/// How long dropping a device waits for the GPU before it gives the device up and leaks it.
pub const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// A Vulkan device. See the crate's page for its contracts.
pub struct Vulkan {
    pub(crate) raw: ash::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) physical: Physical,
    pub(crate) capabilities: Capabilities,
    pub(crate) labels: Option<Labels>,
    pub(crate) memory: ManuallyDrop<Memory>,
    pub(crate) pipeline_cache: vk::PipelineCache,
    pub(crate) progress: Progress,
    pub(crate) pools: CommandPools,
    /// Those of sections, whose command buffers are secondary.
    pub(crate) section_pools: CommandPools,
    /// `None` when the adapter has no swapchains.
    pub(crate) presenter: Option<Presenter>,

    pub(crate) buffers: SlotTable<Buffer>,
    pub(crate) textures: SlotTable<Texture>,
    pub(crate) image_kinds: Vec<(ImageKind, vk::ImageFormatProperties)>,
    pub(crate) views: SlotTable<View>,
    pub(crate) samplers: SlotTable<vk::Sampler>,
    /// Heaps are allocations that images are bound into.
    pub(crate) heaps: SlotTable<gpu_allocator::vulkan::Allocation>,
    pub(crate) group_layouts: SlotTable<GroupLayout>,
    pub(crate) groups: SlotTable<Group>,
    pub(crate) pipeline_layouts: SlotTable<PipelineLayout>,
    pub(crate) shader_modules: SlotTable<vk::ShaderModule>,
    pub(crate) render_pipelines: SlotTable<vk::Pipeline>,
    pub(crate) compute_pipelines: SlotTable<vk::Pipeline>,
    pub(crate) query_sets: SlotTable<QuerySet>,
    pub(crate) surfaces: SlotTable<Surface>,

    pub(crate) instance: ManuallyDrop<Instance>,
}

/// The catalog of the system.
pub(crate) fn adapters(request: &DeviceRequest<'_>) -> Result<Vec<AdapterInfo>, Error> {
    let instance = Instance::new(request.label, request.validation)?;
    Ok(candidates(&instance, request)?.into_iter().map(|physical| physical.info).collect())
}

fn physicals(instance: &Instance) -> Result<Vec<Physical>, Error> {
    match adapter::catalog(instance) {
        Ok(list) if list.is_empty() => Err(no_driver("no Vulkan driver found a device")),
        Ok(list) => Ok(list),
        Err(vk::Result::ERROR_INITIALIZATION_FAILED) => {
            Err(no_driver("the Vulkan drivers found no device they could start"))
        }
        Err(error) => Err(failed("vkEnumeratePhysicalDevices", error).at("adapter catalog")),
    }
}

/// The catalog, where adapters that cannot present to the requested surface are not usable.
fn candidates(instance: &Instance, request: &DeviceRequest<'_>) -> Result<Vec<Physical>, Error> {
    let mut found = physicals(instance)?;
    if let Some(target) = request.surface {
        let surface = instance.create_surface(target, &format!("device request \"{}\"", request.label))?;
        for physical in &mut found {
            if physical.info.usable.is_ok() && !instance.presents(physical, surface) {
                physical.info.usable = Err("it cannot present to the requested surface".into());
            }
        }
        instance.destroy_surface(surface);
    }
    Ok(found)
}

impl Vulkan {
    pub(crate) fn open(request: &DeviceRequest<'_>) -> Result<Self, Error> {
        request.check()?;
        let instance = Instance::new(request.label, request.validation)?;
        let mut found = candidates(&instance, request)?;
        let catalog: Vec<_> = found.iter().map(|physical| physical.info.clone()).collect();
        let physical = found.swap_remove(select(&catalog, request.adapter)?);
        let negotiated = negotiate(request, &physical.info, |format| {
            let uses = physical.format_uses(&instance.raw, physical.info.features, format);
            let shape = |dimension| physical.format_shape(&instance.raw, uses, format, dimension);
            FormatCapabilities::new(format, uses, physical.info.features, shape)
        })?;
        if !negotiated.missing_preferred.is_empty() {
            let missing = negotiated.missing_preferred.names();
            tracing::info!(adapter = physical.info.name, missing, "preferred features are not there");
        }
        let what = format!("device request \"{}\" on \"{}\"", request.label, physical.info.name);

        let raw = create_device(&instance, &physical, negotiated.features)
            .map_err(|error| failed("vkCreateDevice", error).at(&*what))?;
        // SAFETY: the device was made with one queue of this family.
        let queue = unsafe { raw.get_device_queue(physical.queue_family, 0) };
        Self::assemble(instance, physical, (raw, queue), negotiated.features, &what)
    }

    /// Puts a device together around a native one. On an error the native device is destroyed, unless it is adopted.
    pub(crate) fn assemble(
        instance: Instance,
        physical: Physical,
        (raw, queue): (ash::Device, vk::Queue),
        features: Features,
        what: &str,
    ) -> Result<Self, Error> {
        let memory = match Memory::new(&instance.raw, &raw, physical.raw) {
            Ok(memory) => memory,
            Err(error) => {
                if !instance.adopted {
                    // SAFETY: made by the caller; it has no children yet.
                    unsafe { raw.destroy_device(None) };
                }
                return Err(error.at(what));
            }
        };
        let timestamps = features.contains(Features::TIMESTAMP_QUERY);
        let capabilities = Capabilities {
            features,
            limits: physical.info.limits.clone(),
            timestamp_period: if timestamps { physical.timestamp_period } else { 0.0 },
            timestamp_valid_bits: timestamps.then_some(physical.timestamp_mask.count_ones()),
            copy_row_alignment: 1,
            // Depth and stencil copies begin at multiples of four.
            copy_offset_alignment: 4,
        };
        let presenter = physical.swapchains.then(|| Presenter {
            functions: khr::swapchain::Device::new(&instance.raw, &raw),
            fences: physical.present_fences,
        });
        let labels = Labels::new(&instance, physical.raw, &raw);
        // From here on dropping the device cleans up, whatever of it was made.
        let mut device = Self {
            raw,
            queue,
            physical,
            capabilities,
            labels,
            memory: ManuallyDrop::new(memory),
            pipeline_cache: vk::PipelineCache::null(),
            progress: Progress::default(),
            pools: CommandPools::new(vk::CommandBufferLevel::PRIMARY),
            section_pools: CommandPools::new(vk::CommandBufferLevel::SECONDARY),
            presenter,
            buffers: SlotTable::default(),
            textures: SlotTable::default(),
            image_kinds: Vec::new(),
            views: SlotTable::default(),
            samplers: SlotTable::default(),
            heaps: SlotTable::default(),
            group_layouts: SlotTable::default(),
            groups: SlotTable::default(),
            pipeline_layouts: SlotTable::default(),
            shader_modules: SlotTable::default(),
            render_pipelines: SlotTable::default(),
            compute_pipelines: SlotTable::default(),
            query_sets: SlotTable::default(),
            surfaces: SlotTable::default(),
            instance: ManuallyDrop::new(instance),
        };
        device.finish().map_err(|error| error.at(what))?;
        Ok(device)
    }

    fn finish(&mut self) -> NativeResult {
        let mut timeline = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut timeline);
        // SAFETY: timeline semaphores are enabled.
        self.progress.timeline = unsafe { self.raw.create_semaphore(&info, None) }
            .map_err(|error| failed("vkCreateSemaphore", error))?;
        self.name(self.progress.timeline, "submissions");
        // SAFETY: an empty cache has no data to be valid.
        self.pipeline_cache =
            unsafe { self.raw.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }
                .map_err(|error| failed("vkCreatePipelineCache", error))?;
        Ok(())
    }

    pub(crate) fn uses_of(&self, format: TextureFormat) -> FormatUses {
        self.physical.format_uses(&self.instance.raw, self.capabilities.features, format)
    }

    pub(crate) fn shape_of(&self, format: TextureFormat, dimension: TextureDimension) -> Option<FormatShape> {
        self.physical.format_shape(&self.instance.raw, self.uses_of(format), format, dimension)
    }

    /// Names an object where somebody reads names.
    pub(crate) fn name(&self, object: impl vk::Handle, name: &str) {
        if let Some(labels) = &self.labels {
            labels.name(object, name);
        }
    }

    /// The messages of this device's instance; a clone outlives the device and sees its teardown too.
    pub fn messages(&self) -> ValidationMessages {
        self.instance.messages.clone()
    }

    /// Takes the validation texts that were kept, oldest first: at most the last 64.
    pub fn take_validation_messages(&self) -> Vec<String> {
        self.instance.messages.take()
    }

    /// Destroys what is left in the tables, dependents first.
    fn destroy_contents(&mut self) {
        for buffer in self.buffers.take_all() {
            self.free_buffer(buffer);
        }
        for layout in self.group_layouts.take_all() {
            self.free_group_layout(layout);
        }
        let textures = self.textures.take_all();
        // SAFETY: the GPU is idle or lost, and the handles were taken from the tables, so nothing uses them again.
        unsafe {
            for pipeline in self.render_pipelines.take_all().chain(self.compute_pipelines.take_all()) {
                self.raw.destroy_pipeline(pipeline, None);
            }
            for module in self.shader_modules.take_all() {
                self.raw.destroy_shader_module(module, None);
            }
            for layout in self.pipeline_layouts.take_all() {
                self.raw.destroy_pipeline_layout(layout.raw, None);
            }
            for view in self.views.take_all() {
                self.raw.destroy_image_view(view.raw, None);
            }
            for sampler in self.samplers.take_all() {
                self.raw.destroy_sampler(sampler, None);
            }
            for set in self.query_sets.take_all() {
                self.raw.destroy_query_pool(set.raw, None);
            }
            self.pools.destroy(&self.raw);
            self.section_pools.destroy(&self.raw);
            self.raw.destroy_pipeline_cache(self.pipeline_cache, None);
            self.raw.destroy_semaphore(self.progress.timeline, None);
        }
        for texture in textures {
            self.free_texture(texture);
        }
        for heap in self.heaps.take_all() {
            self.memory.free(heap);
        }
        for surface in self.surfaces.take_all() {
            self.free_surface(surface);
        }
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        if !self.settle(TEARDOWN_TIMEOUT) {
            // Memory, windows and instance stay, for the device still uses them.
            std::mem::forget(std::mem::take(&mut self.surfaces));
            tracing::error!(
                adapter = self.physical.info.name,
                "the GPU did not finish within {TEARDOWN_TIMEOUT:?}: the device is leaked"
            );
            return;
        }
        self.destroy_contents();
        // SAFETY: each is dropped once, here; the blocks before the device, the device before the instance.
        unsafe {
            ManuallyDrop::drop(&mut self.memory);
            if !self.instance.adopted {
                self.raw.destroy_device(None);
            }
            ManuallyDrop::drop(&mut self.instance);
        }
    }
}

impl std::fmt::Debug for Vulkan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vulkan")
            .field("adapter", &self.physical.info.name)
            .field("features", &self.capabilities.features)
            .finish_non_exhaustive()
    }
}

fn create_device(
    instance: &Instance,
    physical: &Physical,
    features: Features,
) -> Result<ash::Device, vk::Result> {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(physical.queue_family)
        .queue_priorities(&priorities)];
    let core = adapter::to_native(features, physical.shader_features);
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .timeline_semaphore(true)
        .host_query_reset(true)
        .separate_depth_stencil_layouts(true)
        .draw_indirect_count(features.contains(Features::MULTI_DRAW_INDIRECT_COUNT))
        .shader_sampled_image_array_non_uniform_indexing(features.contains(Features::NON_UNIFORM_INDEXING));
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .dynamic_rendering(true)
        .maintenance4(true);
    let mut all = vk::PhysicalDeviceFeatures2::default().features(core);
    let info =
        vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut v12).push_next(&mut v13);
    let mut extensions = ArrayVec::<_, 3>::new();
    for (has, name) in [
        (physical.swapchains, khr::swapchain::NAME),
        (physical.mutable_swapchains, khr::swapchain_mutable_format::NAME),
        (physical.present_fences, ext::swapchain_maintenance1::NAME),
    ] {
        if has {
            extensions.push(name.as_ptr());
        }
    }
    let mut maintained =
        vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default().swapchain_maintenance1(true);
    let mut info = info.push_next(&mut all).enabled_extension_names(&extensions);
    if physical.present_fences {
        info = info.push_next(&mut maintained);
    }
    // SAFETY: the queue family exists, and the adapter was found to have every feature of the chain.
    unsafe { instance.raw.create_device(physical.raw, &info, None) }
}
