//! What a workload makes before it is timed, and its end.

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use purlin_rhi::shader::ShaderSource;

use super::gpu::Gpu;
use crate::case::{Failure, Outcome};

/// A buffer with its memory.
pub struct Buffer {
    pub raw: vk::Buffer,
    pub memory: Option<Allocation>,
}

/// An image with its memory and a view of all of it.
pub struct Image {
    pub raw: vk::Image,
    pub view: vk::ImageView,
    memory: Option<Allocation>,
}

/// From this size on, a resource has memory of its own: as in Purlin's backend.
const DEDICATED_FROM: u64 = 64 << 20;

impl Gpu {
    fn allocate(
        &mut self,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
        scheme: AllocationScheme,
    ) -> Outcome<Allocation> {
        let Some(allocator) = &mut self.allocator else {
            return Err(Failure::Failed("the device is torn down".into()));
        };
        let scheme =
            if requirements.size >= DEDICATED_FROM { scheme } else { AllocationScheme::GpuAllocatorManaged };
        let desc =
            AllocationCreateDesc { name: "", requirements, location, linear, allocation_scheme: scheme };
        Ok(allocator.allocate(&desc)?)
    }

    pub fn new_buffer(
        &mut self,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Outcome<Buffer> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is live; the memory is made for the buffer's requirements.
        unsafe {
            let raw = self.device.create_buffer(&info, None)?;
            let requirements = self.device.get_buffer_memory_requirements(raw);
            let memory =
                self.allocate(requirements, location, true, AllocationScheme::DedicatedBuffer(raw))?;
            self.device.bind_buffer_memory(raw, memory.memory(), memory.offset())?;
            Ok(Buffer { raw, memory: Some(memory) })
        }
    }

    pub fn free_buffer(&mut self, mut buffer: Buffer) {
        // SAFETY: the GPU is idle or never used it.
        unsafe { self.device.destroy_buffer(buffer.raw, None) };
        if let (Some(allocator), Some(memory)) = (&mut self.allocator, buffer.memory.take()) {
            let _ = allocator.free(memory);
        }
    }

    pub fn new_image(
        &mut self,
        format: vk::Format,
        (width, height): (u32, u32),
        usage: vk::ImageUsageFlags,
    ) -> Outcome<Image> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: the device is live; the memory is made for the image's requirements.
        unsafe {
            let raw = self.device.create_image(&info, None)?;
            let requirements = self.device.get_image_memory_requirements(raw);
            let scheme = AllocationScheme::DedicatedImage(raw);
            let memory = self.allocate(requirements, MemoryLocation::GpuOnly, false, scheme)?;
            self.device.bind_image_memory(raw, memory.memory(), memory.offset())?;
            let info = vk::ImageViewCreateInfo::default()
                .image(raw)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(COLOR);
            let view = self.device.create_image_view(&info, None)?;
            Ok(Image { raw, view, memory: Some(memory) })
        }
    }

    pub fn free_image(&mut self, mut image: Image) {
        // SAFETY: the GPU is idle or never used it.
        unsafe {
            self.device.destroy_image_view(image.view, None);
            self.device.destroy_image(image.raw, None);
        }
        if let (Some(allocator), Some(memory)) = (&mut self.allocator, image.memory.take()) {
            let _ = allocator.free(memory);
        }
    }
}

/// The one mip and layer of a color image.
pub const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// One descriptor, for updates.
#[derive(Clone, Copy)]
pub enum Bind {
    Uniform(vk::Buffer, u64, u64),
    UniformDynamic(vk::Buffer, u64),
    Storage(vk::Buffer),
    Sampled(vk::ImageView),
    StorageImage(vk::ImageView),
    Sampler(vk::Sampler),
}

impl Bind {
    pub fn ty(self) -> vk::DescriptorType {
        match self {
            Bind::Uniform(..) => vk::DescriptorType::UNIFORM_BUFFER,
            Bind::UniformDynamic(..) => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
            Bind::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
            Bind::Sampled(_) => vk::DescriptorType::SAMPLED_IMAGE,
            Bind::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
            Bind::Sampler(_) => vk::DescriptorType::SAMPLER,
        }
    }
}

/// How a raster pipeline is assembled.
pub struct Raster<'a> {
    pub vertex: &'a std::ffi::CStr,
    pub fragment: &'a std::ffi::CStr,
    pub format: vk::Format,
    /// Whether outputs are added to what is there.
    pub add: bool,
    /// Vertex buffers of one `vec4<f32>` each.
    pub vertex_buffers: u32,
}

/// What a workload made; it goes when the workload does.
pub struct Stage<'g> {
    pub gpu: &'g mut Gpu,
    buffers: Vec<Buffer>,
    images: Vec<Image>,
    samplers: Vec<vk::Sampler>,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    pipeline_layouts: Vec<vk::PipelineLayout>,
    pools: Vec<vk::DescriptorPool>,
    pipelines: Vec<vk::Pipeline>,
    modules: Vec<vk::ShaderModule>,
}

impl<'g> Stage<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Self {
        Self {
            gpu,
            buffers: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            set_layouts: Vec::new(),
            pipeline_layouts: Vec::new(),
            pools: Vec::new(),
            pipelines: Vec::new(),
            modules: Vec::new(),
        }
    }

    /// A buffer in device memory that can be copied to and from.
    pub fn buffer(&mut self, size: u64, usage: vk::BufferUsageFlags) -> Outcome<vk::Buffer> {
        let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = self.gpu.new_buffer(size, usage | copies, MemoryLocation::GpuOnly)?;
        let raw = buffer.raw;
        self.buffers.push(buffer);
        Ok(raw)
    }

    /// An image that can be copied to and from, with its view.
    pub fn image(
        &mut self,
        format: vk::Format,
        size: (u32, u32),
        usage: vk::ImageUsageFlags,
    ) -> Outcome<(vk::Image, vk::ImageView)> {
        let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let image = self.gpu.new_image(format, size, usage | copies)?;
        let raw = (image.raw, image.view);
        self.images.push(image);
        Ok(raw)
    }

    /// An unfiltered sampler.
    pub fn sampler(&mut self) -> Outcome<vk::Sampler> {
        // SAFETY: the device is live.
        let sampler = unsafe { self.gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
        self.samplers.push(sampler);
        Ok(sampler)
    }

    /// A set layout with these types at bindings from zero.
    pub fn set_layout(
        &mut self,
        types: &[vk::DescriptorType],
        stages: vk::ShaderStageFlags,
    ) -> Outcome<vk::DescriptorSetLayout> {
        let bindings: Vec<_> = (0u32..)
            .zip(types)
            .map(|(binding, ty)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(*ty)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        self.set_layout_of(&bindings)
    }

    /// A set layout whose first binding is an array of sampled images.
    pub fn array_layout(
        &mut self,
        count: u32,
        stages: vk::ShaderStageFlags,
    ) -> Outcome<vk::DescriptorSetLayout> {
        self.set_layout_of(&[vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
            .descriptor_count(count)
            .stage_flags(stages)])
    }

    fn set_layout_of(
        &mut self,
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    ) -> Outcome<vk::DescriptorSetLayout> {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
        // SAFETY: the device is live.
        let layout = unsafe { self.gpu.device.create_descriptor_set_layout(&info, None) }?;
        self.set_layouts.push(layout);
        Ok(layout)
    }

    pub fn pipeline_layout(&mut self, sets: &[vk::DescriptorSetLayout]) -> Outcome<vk::PipelineLayout> {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets);
        // SAFETY: the set layouts are live.
        let layout = unsafe { self.gpu.device.create_pipeline_layout(&info, None) }?;
        self.pipeline_layouts.push(layout);
        Ok(layout)
    }

    /// A pool for `sets` sets with these types each.
    pub fn pool(&mut self, sets: u32, types: &[vk::DescriptorType]) -> Outcome<vk::DescriptorPool> {
        let sizes: Vec<_> =
            types.iter().map(|ty| vk::DescriptorPoolSize { ty: *ty, descriptor_count: sets }).collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(sets).pool_sizes(&sizes);
        // SAFETY: the device is live.
        let pool = unsafe { self.gpu.device.create_descriptor_pool(&info, None) }?;
        self.pools.push(pool);
        Ok(pool)
    }

    /// Sets of one layout, each with its bindings from zero.
    pub fn sets(
        &mut self,
        layout: vk::DescriptorSetLayout,
        contents: &[Vec<Bind>],
    ) -> Outcome<Vec<vk::DescriptorSet>> {
        let types: Vec<_> = contents[0].iter().map(|bind| bind.ty()).collect();
        let pool = self.pool(contents.len() as u32, &types)?;
        let layouts = vec![layout; contents.len()];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for exactly these.
        let sets = unsafe { self.gpu.device.allocate_descriptor_sets(&info) }?;
        for (set, binds) in sets.iter().zip(contents) {
            for (binding, bind) in (0..).zip(binds) {
                self.write(*set, binding, *bind);
            }
        }
        Ok(sets)
    }

    fn write(&self, set: vk::DescriptorSet, binding: u32, bind: Bind) {
        let mut buffer = vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE);
        let mut image = vk::DescriptorImageInfo::default();
        match bind {
            Bind::Uniform(raw, offset, range) => buffer = buffer.buffer(raw).offset(offset).range(range),
            Bind::UniformDynamic(raw, range) => buffer = buffer.buffer(raw).range(range),
            Bind::Storage(raw) => buffer = buffer.buffer(raw),
            Bind::Sampled(view) => {
                image = image.image_view(view).image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
            }
            Bind::StorageImage(view) => image = image.image_view(view).image_layout(vk::ImageLayout::GENERAL),
            Bind::Sampler(sampler) => image = image.sampler(sampler),
        }
        let (buffers, images) = ([buffer], [image]);
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(bind.ty());
        let write = match bind {
            Bind::Uniform(..) | Bind::UniformDynamic(..) | Bind::Storage(_) => write.buffer_info(&buffers),
            _ => write.image_info(&images),
        };
        // SAFETY: the set is used by no submission; what it names is live.
        unsafe { self.gpu.device.update_descriptor_sets(&[write], &[]) };
    }

    pub fn module(&mut self, source: &ShaderSource) -> Outcome<vk::ShaderModule> {
        let info = vk::ShaderModuleCreateInfo::default().code(source.spirv);
        // SAFETY: the shader compiler validated the code.
        let module = unsafe { self.gpu.device.create_shader_module(&info, None) }?;
        self.modules.push(module);
        Ok(module)
    }

    pub fn compute(
        &mut self,
        module: vk::ShaderModule,
        entry: &std::ffi::CStr,
        layout: vk::PipelineLayout,
    ) -> Outcome<vk::Pipeline> {
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(entry);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        // SAFETY: module and layout are live and fit.
        let made =
            unsafe { self.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipeline = made.map_err(|(_, error)| error)?[0];
        self.pipelines.push(pipeline);
        Ok(pipeline)
    }

    pub fn raster(
        &mut self,
        module: vk::ShaderModule,
        layout: vk::PipelineLayout,
        raster: &Raster<'_>,
    ) -> Outcome<vk::Pipeline> {
        let stage =
            |stage, name| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(name);
        let stages = [
            stage(vk::ShaderStageFlags::VERTEX, raster.vertex),
            stage(vk::ShaderStageFlags::FRAGMENT, raster.fragment),
        ];
        let range = 0..raster.vertex_buffers;
        let buffers: Vec<_> = range
            .clone()
            .map(|index| vk::VertexInputBindingDescription::default().binding(index).stride(16))
            .collect();
        let attributes: Vec<_> = range
            .map(|index| {
                vk::VertexInputAttributeDescription::default()
                    .binding(index)
                    .location(index)
                    .format(vk::Format::R32G32B32A32_SFLOAT)
            })
            .collect();
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&buffers)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let blend = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(raster.add)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE)
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let formats = [raster.format];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering);
        // SAFETY: module and layout are live and fit.
        let made =
            unsafe { self.gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipeline = made.map_err(|(_, error)| error)?[0];
        self.pipelines.push(pipeline);
        Ok(pipeline)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // SAFETY: after the wait the GPU uses nothing of this workload.
        unsafe {
            let device = &self.gpu.device;
            let _ = device.device_wait_idle();
            self.pipelines.iter().for_each(|raw| device.destroy_pipeline(*raw, None));
            self.modules.iter().for_each(|raw| device.destroy_shader_module(*raw, None));
            self.pools.iter().for_each(|raw| device.destroy_descriptor_pool(*raw, None));
            self.pipeline_layouts.iter().for_each(|raw| device.destroy_pipeline_layout(*raw, None));
            self.set_layouts.iter().for_each(|raw| device.destroy_descriptor_set_layout(*raw, None));
            self.samplers.iter().for_each(|raw| device.destroy_sampler(*raw, None));
        }
        for image in self.images.drain(..) {
            self.gpu.free_image(image);
        }
        for buffer in self.buffers.drain(..) {
            self.gpu.free_buffer(buffer);
        }
    }
}
