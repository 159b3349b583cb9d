//! Buffers, textures, views and samplers.

use std::ptr::NonNull;

use ash::vk;
use gpu_allocator::vulkan::Allocation;
use purlin_rhi::backend::{NativeResult, NativeView};
use purlin_rhi::caps::FormatUses;
use purlin_rhi::desc::{BufferDesc, MemoryClass, MemoryNeeds, SamplerDesc, TextureDesc};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::{TextureDimension, TextureFormat};
use smallvec::SmallVec;

use crate::convert;
use crate::device::Vulkan;
use crate::memory::{Owner, failed};

/// A buffer with its memory.
pub(crate) struct Buffer {
    pub raw: vk::Buffer,
    size: u64,
    allocation: Allocation,
}

/// An image with its memory, or one of a swapchain, which has the memory.
pub(crate) struct Texture {
    pub raw: vk::Image,
    format: TextureFormat,
    usage: vk::ImageUsageFlags,
    home: Home,
}

/// Where the memory of an image is.
enum Home {
    Own(Allocation),
    Heap,
    /// It belongs to a swapchain, and the image with it.
    Swapchain,
}

impl Texture {
    /// An image that belongs to a swapchain.
    pub fn borrowed(raw: vk::Image, format: TextureFormat, usage: vk::ImageUsageFlags) -> Self {
        Self { raw, format, usage, home: Home::Swapchain }
    }
}

/// An image view.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub raw: vk::ImageView,
    /// The aspects that a descriptor reads.
    pub aspects: vk::ImageAspectFlags,
}

/// What the driver's limits of an image depend on; tiling is always optimal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageKind {
    format: vk::Format,
    ty: vk::ImageType,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
}

/// How many kinds of image are remembered; they are searched one by one.
const IMAGE_KINDS: usize = 64;

const IMAGE_LIMITS: &str = "vkGetPhysicalDeviceImageFormatProperties";

impl Buffer {
    /// Where mapped bytes begin. None for device memory, and for a range that leaves the buffer.
    fn mapped(&self, offset: u64, bytes: usize) -> Option<NonNull<u8>> {
        let end = offset.checked_add(bytes as u64)?;
        let base = self.allocation.mapped_ptr()?;
        // SAFETY: the range lies in the buffer, and the buffer in its mapped allocation.
        (end <= self.size).then(|| unsafe { base.cast::<u8>().add(offset as usize) })
    }
}

impl Vulkan {
    pub(crate) fn new_buffer(
        &mut self,
        slot: u32,
        desc: &BufferDesc<'_>,
        class: MemoryClass,
    ) -> NativeResult {
        // Vulkan has no empty buffers, and fills go by four.
        let size = desc.size.max(4);
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(convert::buffer_usage(desc.usage))
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the description was validated against the enabled limits.
        let raw = unsafe { self.raw.create_buffer(&info, None) }
            .map_err(|error| with_bytes(failed("vkCreateBuffer", error), size))?;
        match self.memory.bind(&self.raw, Owner::Buffer(raw), class) {
            Ok(allocation) => {
                self.name(raw, desc.label);
                self.buffers.insert(slot, Buffer { raw, size, allocation });
                Ok(())
            }
            Err(error) => {
                // SAFETY: made above and used by nobody.
                unsafe { self.raw.destroy_buffer(raw, None) };
                Err(error)
            }
        }
    }

    pub(crate) fn free_buffer(&mut self, buffer: Buffer) {
        // SAFETY: no submission uses it any more.
        unsafe { self.raw.destroy_buffer(buffer.raw, None) };
        self.memory.free(buffer.allocation);
    }

    pub(crate) fn write_buffer(&self, slot: u32, offset: u64, data: &[u8]) {
        let Some(to) = self.buffers.get(slot).mapped(offset, data.len()) else {
            unreachable!("slot {slot}: {} bytes at {offset} are not mapped", data.len())
        };
        // SAFETY: `mapped` checked the range; the caller alone writes it, and no submission reads it yet.
        // The memory is coherent, and submitting makes host writes visible.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
    }

    pub(crate) fn read_buffer(&self, slot: u32, offset: u64, out: &mut [u8]) {
        let Some(from) = self.buffers.get(slot).mapped(offset, out.len()) else {
            unreachable!("slot {slot}: {} bytes at {offset} are not mapped", out.len())
        };
        // SAFETY: `mapped` checked the range, and its writer has completed. The memory is coherent.
        unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len()) };
    }

    /// Makes an image without memory.
    fn new_image(
        &mut self,
        desc: &TextureDesc<'_>,
    ) -> Result<(vk::Image, vk::ImageUsageFlags), BackendError> {
        let format = self.native_format(desc.format)?;
        let volume = desc.dimension == TextureDimension::D3;
        let layers = desc.layers();
        let mut flags = vk::ImageCreateFlags::empty();
        if desc.dimension == TextureDimension::D2
            && desc.size.width == desc.size.height
            && layers >= 6
            && desc.samples == 1
        {
            flags |= vk::ImageCreateFlags::CUBE_COMPATIBLE;
        }
        let mut formats = SmallVec::<[vk::Format; 4]>::new();
        if !desc.view_formats.is_empty() {
            flags |= vk::ImageCreateFlags::MUTABLE_FORMAT;
            formats.push(format);
            for &other in desc.view_formats {
                formats.push(self.native_format(other)?);
            }
        }
        let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
        let usage = convert::image_usage(desc.usage, desc.format);
        let mut info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(convert::image_type(desc.dimension))
            .format(format)
            .extent(vk::Extent3D {
                width: desc.size.width,
                height: desc.size.height,
                depth: if volume { desc.size.depth_or_array_layers } else { 1 },
            })
            .mip_levels(desc.mips)
            .array_layers(layers)
            .samples(convert::samples(desc.samples))
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        if !formats.is_empty() {
            info = info.push_next(&mut list);
        }
        self.check_image(&info)?;
        // SAFETY: the description was validated, and the driver was asked about this very combination.
        let raw =
            unsafe { self.raw.create_image(&info, None) }.map_err(|error| failed("vkCreateImage", error))?;
        Ok((raw, usage))
    }

    pub(crate) fn new_texture(&mut self, slot: u32, desc: &TextureDesc<'_>) -> NativeResult {
        let (raw, usage) = self.new_image(desc)?;
        match self.memory.bind(&self.raw, Owner::Image(raw), MemoryClass::Device) {
            Ok(allocation) => {
                self.name(raw, desc.label);
                let home = Home::Own(allocation);
                self.textures.insert(slot, Texture { raw, format: desc.format, usage, home });
                Ok(())
            }
            Err(error) => {
                // SAFETY: made above and used by nobody.
                unsafe { self.raw.destroy_image(raw, None) };
                Err(error)
            }
        }
    }

    /// What a texture would take in a heap: an image is made, asked and destroyed.
    pub(crate) fn needs_of_texture(
        &mut self,
        desc: &TextureDesc<'_>,
    ) -> Result<Option<MemoryNeeds>, BackendError> {
        let (raw, _) = self.new_image(desc)?;
        let needs = self.memory.needs(&self.raw, raw);
        // SAFETY: made above and used by nobody.
        unsafe { self.raw.destroy_image(raw, None) };
        Ok(needs)
    }

    pub(crate) fn new_placed_texture(
        &mut self,
        slot: u32,
        desc: &TextureDesc<'_>,
        heap: u32,
        offset: u64,
    ) -> NativeResult {
        let (raw, usage) = self.new_image(desc)?;
        let heap = self.heaps.get(heap);
        // SAFETY: the image has no memory yet. It needs no memory of its own, the heap is of its class, and it fits there at
        // this offset. The heap's own offset is aligned for all that it was made for.
        let bound = unsafe { self.raw.bind_image_memory(raw, heap.memory(), heap.offset() + offset) };
        if let Err(error) = bound {
            // SAFETY: made above and used by nobody.
            unsafe { self.raw.destroy_image(raw, None) };
            return Err(failed("vkBindImageMemory", error));
        }
        self.name(raw, desc.label);
        self.textures.insert(slot, Texture { raw, format: desc.format, usage, home: Home::Heap });
        Ok(())
    }

    /// Sample counts, and sizes of single formats, are limits that only the driver knows.
    fn check_image(&mut self, info: &vk::ImageCreateInfo<'_>) -> NativeResult {
        let found = self.image_limits(info)?;
        let least = found.max_extent;
        let refused = if !found.sample_counts.contains(info.samples) {
            format!("{:?} has {:?}, not {:?}", info.format, found.sample_counts, info.samples)
        } else if info.extent.width > least.width
            || info.extent.height > least.height
            || info.extent.depth > least.depth
        {
            format!("{:?} has at most {least:?}, not {:?}", info.format, info.extent)
        } else if info.array_layers > found.max_array_layers || info.mip_levels > found.max_mip_levels {
            format!(
                "{:?} has at most {} layers and {} mips, not {} and {}",
                info.format, found.max_array_layers, found.max_mip_levels, info.array_layers, info.mip_levels
            )
        } else {
            return Ok(());
        };
        Err(BackendError::Failed { call: IMAGE_LIMITS, detail: refused })
    }

    /// Asks the driver once for each kind of image; a program has few.
    fn image_limits(
        &mut self,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<vk::ImageFormatProperties, BackendError> {
        let kind =
            ImageKind { format: info.format, ty: info.image_type, usage: info.usage, flags: info.flags };
        if let Some((_, known)) = self.image_kinds.iter().find(|(known, _)| *known == kind) {
            return Ok(*known);
        }
        // SAFETY: the physical device is of this instance.
        let found = unsafe {
            self.instance.raw.get_physical_device_image_format_properties(
                self.physical.raw,
                info.format,
                info.image_type,
                info.tiling,
                info.usage,
                info.flags,
            )
        }
        .map_err(|error| match error {
            vk::Result::ERROR_FORMAT_NOT_SUPPORTED => BackendError::Failed {
                call: IMAGE_LIMITS,
                detail: format!("{:?} cannot be an image with usage {:?}", info.format, info.usage),
            },
            error => failed(IMAGE_LIMITS, error),
        })?;
        if self.image_kinds.len() == IMAGE_KINDS {
            self.image_kinds.clear();
        }
        self.image_kinds.push((kind, found));
        Ok(found)
    }

    pub(crate) fn free_texture(&mut self, texture: Texture) {
        if matches!(texture.home, Home::Swapchain) {
            return;
        }
        // SAFETY: no submission and no view uses it any more.
        unsafe { self.raw.destroy_image(texture.raw, None) };
        if let Home::Own(allocation) = texture.home {
            self.memory.free(allocation);
        }
    }

    pub(crate) fn new_view(&mut self, slot: u32, view: &NativeView<'_>) -> NativeResult {
        let texture = self.textures.get(view.texture);
        let format = self.native_format(view.format)?;
        let attachments =
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let viewed = attachments | vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
        let mut usage = texture.usage & viewed;
        if view.format != texture.format {
            // A view inherits every usage of its image, and the sRGB sibling of a storage texture has no storage.
            let uses = self.uses_of(view.format);
            for (bit, of) in [
                (FormatUses::SAMPLED, vk::ImageUsageFlags::SAMPLED),
                (FormatUses::STORAGE, vk::ImageUsageFlags::STORAGE),
                (FormatUses::COLOR, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            ] {
                if !uses.contains(bit) {
                    usage &= !of;
                }
            }
        }
        if !view.attachable && usage.intersects(!attachments) {
            usage &= !attachments;
        }
        let aspects = convert::aspects(view.range.aspects);
        let mut usage_info = vk::ImageViewUsageCreateInfo::default().usage(usage);
        let mut info = vk::ImageViewCreateInfo::default()
            .image(texture.raw)
            .view_type(convert::view_type(view.dimension))
            .format(format)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: aspects,
                base_mip_level: view.range.base_mip,
                level_count: view.range.mips,
                base_array_layer: view.range.base_layer,
                layer_count: view.range.layers,
            });
        if usage != texture.usage & viewed {
            info = info.push_next(&mut usage_info);
        }
        // SAFETY: the texture is live, and the range and format were validated against it.
        let raw = unsafe { self.raw.create_image_view(&info, None) }
            .map_err(|error| failed("vkCreateImageView", error))?;
        self.name(raw, view.label);
        self.views.insert(slot, View { raw, aspects });
        Ok(())
    }

    pub(crate) fn new_sampler(&mut self, slot: u32, desc: &SamplerDesc<'_>) -> NativeResult {
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(convert::filter(desc.mag_filter))
            .min_filter(convert::filter(desc.min_filter))
            .mipmap_mode(convert::mipmap_mode(desc.mipmap_filter))
            .address_mode_u(convert::address_mode(desc.address[0]))
            .address_mode_v(convert::address_mode(desc.address[1]))
            .address_mode_w(convert::address_mode(desc.address[2]))
            .border_color(convert::border(desc.border))
            .min_lod(desc.lod_min)
            .max_lod(desc.lod_max)
            .anisotropy_enable(desc.anisotropy > 1)
            .max_anisotropy(f32::from(desc.anisotropy))
            .compare_enable(desc.compare.is_some())
            .compare_op(desc.compare.map_or(vk::CompareOp::NEVER, convert::compare));
        // SAFETY: the description was validated against the enabled features and limits.
        let raw = unsafe { self.raw.create_sampler(&info, None) }
            .map_err(|error| failed("vkCreateSampler", error))?;
        self.name(raw, desc.label);
        self.samplers.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn native_format(&self, format: TextureFormat) -> Result<vk::Format, BackendError> {
        convert::format(format, self.physical.depth_formats).ok_or_else(|| BackendError::Failed {
            call: "format conversion",
            detail: format!("{format:?} has no native format here"),
        })
    }
}

fn with_bytes(error: BackendError, size: u64) -> BackendError {
    match error {
        BackendError::OutOfMemory { .. } => BackendError::OutOfMemory { bytes: size },
        error => error,
    }
}
