//! The catalog: what each physical device has, and what keeps it from being usable.

use std::ffi::CStr;
use std::sync::OnceLock;

use ash::{ext, khr, vk};
use purlin_rhi::backend::{MAX_GROUPS, MAX_IMMEDIATES, MAX_VERTEX_BUFFERS};
use purlin_rhi::caps::{AdapterInfo, Features, FormatUses, Limits};
use purlin_rhi::formats::FormatShape;
use purlin_rhi::types::{DeviceType, Extent3d, TextureDimension, TextureFormat, TextureSampleType};
use smallvec::SmallVec;

use crate::convert::{self, DepthFormats};
use crate::instance::{API_VERSION, Instance};

/// Color attachments that a pass gathers on the stack.
pub(crate) const MAX_COLORS: usize = 8;
/// The last of the formats whose numbers follow one another.
const CORE_FORMATS: i32 = vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw();
/// Vertex attributes that a pipeline gathers on the stack.
pub(crate) const MAX_ATTRIBUTES: usize = 32;

/// The Khronos mock driver, which does nothing: our own cost is measured on it. It answers most feature queries with
/// nothing, and takes all that Vulkan 1.3 makes mandatory.
const MOCK: &str = "Vulkan Mock Device";

/// A physical device with what the device will need of it.
pub(crate) struct Physical {
    pub raw: vk::PhysicalDevice,
    pub info: AdapterInfo,
    /// Whose pipeline caches it reads.
    pub driver_version: u32,
    pub cache_uuid: [u8; 16],
    /// The family with graphics and compute; meaningless when the adapter is not usable.
    pub queue_family: u32,
    /// Which bits of a timestamp count; zero without timestamps.
    pub timestamp_mask: u64,
    /// Nanoseconds of a tick.
    pub timestamp_period: f32,
    /// The most draws of one indirect call.
    pub max_indirect_draws: u32,
    /// Samples of color and of depth-stencil attachments.
    color_samples: vk::SampleCountFlags,
    depth_samples: vk::SampleCountFlags,
    /// What the native formats of depth 24 are.
    pub depth_formats: DepthFormats,
    /// What core formats can do, by number; asked for once.
    formats: OnceLock<Box<[(vk::FormatFeatureFlags, vk::SampleCountFlags)]>>,
    /// Shader abilities that are enabled wherever they are; see [`shader_features`].
    pub shader_features: vk::PhysicalDeviceFeatures,
    /// Descriptors that a set can always have; with more, the driver must be asked.
    pub max_per_set_descriptors: u32,
    /// Whether it has swapchains.
    pub swapchains: bool,
    /// Whether images of swapchains can have views of other formats.
    pub mutable_swapchains: bool,
    /// Whether presents can signal fences.
    pub present_fences: bool,
}

/// What an adopted device has enabled.
#[derive(Clone, Copy)]
pub(crate) struct Enabled<'a> {
    pub core: &'a vk::PhysicalDeviceFeatures,
    pub v12: &'a vk::PhysicalDeviceVulkan12Features<'a>,
    pub v13: &'a vk::PhysicalDeviceVulkan13Features<'a>,
    pub queue_family: u32,
    pub extensions: &'a [&'a CStr],
}

/// Lists the physical devices; empty when there are none.
pub(crate) fn catalog(instance: &Instance) -> Result<Vec<Physical>, vk::Result> {
    // SAFETY: the instance is live.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }?;
    Ok(devices.into_iter().map(|device| Physical::new(instance, device, None)).collect())
}

impl Physical {
    /// What it has, or of an adopted device what is enabled.
    pub fn new(owner: &Instance, raw: vk::PhysicalDevice, enabled: Option<Enabled<'_>>) -> Self {
        let instance = &owner.raw;
        // SAFETY: the physical device is of this instance.
        let base = unsafe { instance.get_physical_device_properties(raw) };
        let modern = base.api_version >= API_VERSION;

        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        // SAFETY: as above.
        let mut core = unsafe { instance.get_physical_device_features(raw) };
        if modern {
            let mut properties = vk::PhysicalDeviceProperties2::default()
                .push_next(&mut driver)
                .push_next(&mut maintenance3)
                .push_next(&mut maintenance4);
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
            // SAFETY: as above; the device has Vulkan 1.3, so it knows every structure of the chains.
            unsafe {
                instance.get_physical_device_properties2(raw, &mut properties);
                instance.get_physical_device_features2(raw, &mut features);
            }
            core = features.features;
        }

        if let Some(enabled) = enabled {
            (core, v12, v13) = (*enabled.core, *enabled.v12, *enabled.v13);
        }

        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(raw) };
        let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let fits = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(wanted);
        let family = match enabled.map(|enabled| enabled.queue_family as usize) {
            None => families.iter().position(fits),
            Some(index) => families.get(index).is_some_and(fits).then_some(index),
        };
        let valid_bits = family.map_or(0, |index| families[index].timestamp_valid_bits);
        let timestamps = valid_bits > 0 && base.limits.timestamp_compute_and_graphics == vk::TRUE;
        let timestamp_mask = match valid_bits {
            _ if !timestamps => 0,
            64.. => u64::MAX,
            bits => (1 << bits) - 1,
        };

        if modern && enabled.is_none() && text(&base.device_name) == MOCK {
            v12 = v12.timeline_semaphore(true).host_query_reset(true).separate_depth_stencil_layouts(true);
            v13 = v13.synchronization2(true).dynamic_rendering(true).maintenance4(true);
        }

        let usable = if !modern {
            Err(format!("it has Vulkan {}, and 1.3 is needed", version(base.api_version)))
        } else if family.is_none() {
            Err("it has no queue family with graphics and compute".into())
        } else {
            let missing = missing(&core, &v12, &v13);
            if missing.is_empty() { Ok(()) } else { Err(format!("it lacks {}", missing.join(", "))) }
        };
        let mut features = from_native(&core);
        features.set(Features::TIMESTAMP_QUERY, timestamps);
        features |= Features::CORE
            | Features::DEPTH_UPLOADS
            | Features::UNALIGNED_BLOCK_EXTENTS
            | Features::ADDRESS_MODE_CLAMP_TO_BORDER;
        for (compression, sliced, sample) in [
            (
                Features::TEXTURE_COMPRESSION_BC,
                Features::TEXTURE_COMPRESSION_BC_SLICED_3D,
                [vk::Format::BC1_RGBA_UNORM_BLOCK, vk::Format::BC7_SRGB_BLOCK],
            ),
            (
                Features::TEXTURE_COMPRESSION_ASTC,
                Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D,
                [vk::Format::ASTC_4X4_UNORM_BLOCK, vk::Format::ASTC_12X12_SRGB_BLOCK],
            ),
        ] {
            let volumes = || sample.into_iter().all(|format| has_volumes(instance, raw, format));
            features.set(sliced, features.contains(compression) && volumes());
        }
        features.set(Features::MULTI_DRAW_INDIRECT_COUNT, v12.draw_indirect_count == vk::TRUE);
        features.set(
            Features::NON_UNIFORM_INDEXING,
            features.contains(Features::BINDING_ARRAYS)
                && v12.shader_sampled_image_array_non_uniform_indexing == vk::TRUE,
        );
        let presentation = match enabled {
            Some(enabled) => {
                let has = |name| owner.windows.is_some() && enabled.extensions.contains(&name);
                let swapchains = has(khr::swapchain::NAME);
                // Fences need a feature besides the extension, and nobody says that it is enabled.
                (swapchains, swapchains && has(khr::swapchain_mutable_format::NAME), false)
            }
            None if modern => presentation(owner, raw),
            None => Default::default(),
        };
        let driver_name = text(&driver.driver_name);
        let info = AdapterInfo {
            backend: "vulkan",
            name: text(&base.device_name),
            device_type: match base.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => DeviceType::DiscreteGpu,
                vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceType::IntegratedGpu,
                vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceType::VirtualGpu,
                vk::PhysicalDeviceType::CPU => DeviceType::Cpu,
                _ => DeviceType::Other,
            },
            driver: if driver_name.is_empty() {
                format!("version {:#x}", base.driver_version)
            } else {
                format!("{driver_name} {}", text(&driver.driver_info)).trim_end().to_string()
            },
            api_version: version(base.api_version),
            vendor: base.vendor_id,
            device: base.device_id,
            usable,
            features,
            limits: limits(&base.limits, &maintenance3, &maintenance4),
        };
        Self {
            raw,
            info,
            driver_version: base.driver_version,
            cache_uuid: base.pipeline_cache_uuid,
            queue_family: family.unwrap_or(0) as u32,
            timestamp_mask,
            timestamp_period: base.limits.timestamp_period,
            max_indirect_draws: base.limits.max_draw_indirect_count.max(1),
            color_samples: base.limits.framebuffer_color_sample_counts,
            depth_samples: base.limits.framebuffer_depth_sample_counts
                & base.limits.framebuffer_stencil_sample_counts,
            depth_formats: DepthFormats::new(instance, raw),
            formats: OnceLock::new(),
            shader_features: shader_features(&core),
            max_per_set_descriptors: maintenance3.max_per_set_descriptors,
            swapchains: presentation.0,
            mutable_swapchains: presentation.1,
            present_fences: presentation.2,
        }
    }

    /// The counts of samples that an attachment of a format may have, and be read with.
    fn sample_counts(
        &self,
        instance: &ash::Instance,
        format: vk::Format,
        uses: vk::FormatFeatureFlags,
    ) -> vk::SampleCountFlags {
        let (usage, most) = if uses.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT) {
            (vk::ImageUsageFlags::COLOR_ATTACHMENT, self.color_samples)
        } else if uses.contains(vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT) {
            (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, self.depth_samples)
        } else {
            return vk::SampleCountFlags::TYPE_1;
        };
        let sampled = if uses.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE) {
            vk::ImageUsageFlags::SAMPLED
        } else {
            vk::ImageUsageFlags::empty()
        };
        // SAFETY: the physical device is of this instance.
        let found = unsafe {
            instance.get_physical_device_image_format_properties(
                self.raw,
                format,
                vk::ImageType::TYPE_2D,
                vk::ImageTiling::OPTIMAL,
                usage | sampled,
                vk::ImageCreateFlags::empty(),
            )
        };
        found.map_or(vk::SampleCountFlags::TYPE_1, |found| found.sample_counts & most)
    }

    /// What a format may be used for when these features are enabled.
    pub fn format_uses(
        &self,
        instance: &ash::Instance,
        features: Features,
        format: TextureFormat,
    ) -> FormatUses {
        let Some(native) = convert::format(format, self.depth_formats) else { return FormatUses::empty() };
        let needed = match format {
            TextureFormat::Astc { .. } => Features::TEXTURE_COMPRESSION_ASTC,
            _ if (vk::Format::BC1_RGB_UNORM_BLOCK..=vk::Format::BC7_SRGB_BLOCK).contains(&native) => {
                Features::TEXTURE_COMPRESSION_BC
            }
            _ if (vk::Format::ETC2_R8G8B8_UNORM_BLOCK..=vk::Format::EAC_R11G11_SNORM_BLOCK)
                .contains(&native) =>
            {
                Features::TEXTURE_COMPRESSION_ETC2
            }
            _ => Features::empty(),
        };
        if !features.contains(needed) {
            return FormatUses::empty();
        }
        let ask = |native| {
            // SAFETY: the physical device is of this instance.
            let uses = unsafe { instance.get_physical_device_format_properties(self.raw, native) }
                .optimal_tiling_features;
            (uses, self.sample_counts(instance, native, uses))
        };
        let core = || (0..=CORE_FORMATS).map(|number| ask(vk::Format::from_raw(number))).collect();
        let known = self.formats.get_or_init(core).get(native.as_raw() as usize).copied();
        let (found, samples) = known.unwrap_or_else(|| ask(native));
        let mut uses = FormatUses::empty();
        for (bit, of) in [
            (vk::FormatFeatureFlags::SAMPLED_IMAGE, FormatUses::SAMPLED),
            (vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR, FormatUses::FILTERABLE),
            (vk::FormatFeatureFlags::COLOR_ATTACHMENT, FormatUses::COLOR),
            (vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND, FormatUses::BLENDABLE),
            (vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT, FormatUses::DEPTH_STENCIL),
            (vk::FormatFeatureFlags::STORAGE_IMAGE, FormatUses::STORAGE),
            (vk::FormatFeatureFlags::TRANSFER_SRC, FormatUses::COPY_SRC),
            (vk::FormatFeatureFlags::TRANSFER_DST, FormatUses::COPY_DST),
        ] {
            uses.set(of, found.contains(bit));
        }
        for (bit, of) in [
            (vk::SampleCountFlags::TYPE_2, FormatUses::MULTISAMPLE_X2),
            (vk::SampleCountFlags::TYPE_4, FormatUses::MULTISAMPLE_X4),
            (vk::SampleCountFlags::TYPE_8, FormatUses::MULTISAMPLE_X8),
            (vk::SampleCountFlags::TYPE_16, FormatUses::MULTISAMPLE_X16),
        ] {
            uses.set(of, samples.contains(bit));
        }
        let averaged = matches!(format.sample_type(None, None), Some(TextureSampleType::Float { .. }));
        let resolved =
            averaged && uses.contains(FormatUses::COLOR) && uses.intersects(FormatUses::SAMPLE_COUNTS);
        uses.set(FormatUses::MULTISAMPLE_RESOLVE, resolved);
        if uses.contains(FormatUses::STORAGE) {
            uses |= FormatUses::STORAGE_WRITE_ONLY;
            // Shaders cannot name it, and reading without a name is a feature of its own.
            let read = FormatUses::STORAGE_READ_ONLY | FormatUses::STORAGE_READ_WRITE;
            uses.set(read, format != TextureFormat::Bgra8Unorm);
        }
        if format == TextureFormat::Depth24Plus {
            // Its texels are of a size that the program cannot know.
            uses -= FormatUses::COPY_SRC | FormatUses::COPY_DST;
        }
        uses
    }
}

impl Physical {
    /// The most that textures of a format may be for all of its uses, within the limits.
    pub fn format_shape(
        &self,
        instance: &ash::Instance,
        uses: FormatUses,
        format: TextureFormat,
        dimension: TextureDimension,
    ) -> Option<FormatShape> {
        let native = convert::format(format, self.depth_formats)?;
        let flat = dimension == TextureDimension::D2;
        let mut usages = SmallVec::<[vk::ImageUsageFlags; 4]>::new();
        let mut plain = vk::ImageUsageFlags::empty();
        for (of, bit) in [
            (FormatUses::SAMPLED, vk::ImageUsageFlags::SAMPLED),
            (FormatUses::COPY_SRC, vk::ImageUsageFlags::TRANSFER_SRC),
            (FormatUses::COPY_DST, vk::ImageUsageFlags::TRANSFER_DST),
        ] {
            if uses.contains(of) {
                plain |= bit;
            }
        }
        for (of, bit) in [
            (FormatUses::COLOR, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            (FormatUses::DEPTH_STENCIL, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
            (FormatUses::STORAGE, vk::ImageUsageFlags::STORAGE),
        ] {
            if uses.contains(of) && (flat || of == FormatUses::STORAGE) {
                usages.push(plain | bit);
            }
        }
        if usages.is_empty() {
            usages.push(plain);
        }
        if usages.iter().any(|usage| usage.is_empty()) {
            return None;
        }
        let mut most = FormatShape::of_limits(&self.info.limits, dimension);
        for usage in usages {
            // SAFETY: the physical device is of this instance.
            let found = unsafe {
                instance.get_physical_device_image_format_properties(
                    self.raw,
                    native,
                    convert::image_type(dimension),
                    vk::ImageTiling::OPTIMAL,
                    usage,
                    vk::ImageCreateFlags::empty(),
                )
            };
            let vk::ImageFormatProperties {
                max_extent, max_mip_levels: mips, max_array_layers: layers, ..
            } = found.ok()?;
            let vk::Extent3D { width, height, depth } = max_extent;
            let extent = Extent3d { width, height, depth_or_array_layers: depth };
            most = most.min(FormatShape { extent, mips, layers });
        }
        Some(most)
    }
}

/// Whether a compressed format can be sampled in volumes; no feature of Vulkan's says so.
fn has_volumes(instance: &ash::Instance, raw: vk::PhysicalDevice, format: vk::Format) -> bool {
    // SAFETY: the physical device is of this instance.
    let found = unsafe {
        instance.get_physical_device_image_format_properties(
            raw,
            format,
            vk::ImageType::TYPE_3D,
            vk::ImageTiling::OPTIMAL,
            vk::ImageUsageFlags::SAMPLED
                | vk::ImageUsageFlags::TRANSFER_DST
                | vk::ImageUsageFlags::TRANSFER_SRC,
            vk::ImageCreateFlags::empty(),
        )
    };
    found.is_ok()
}

/// Whether the device has swapchains, those of several view formats, and present fences.
fn presentation(instance: &Instance, raw: vk::PhysicalDevice) -> (bool, bool, bool) {
    let Some(systems) = &instance.windows else { return Default::default() };
    // SAFETY: the physical device is of this instance.
    let offered = unsafe { instance.raw.enumerate_device_extension_properties(raw) }.unwrap_or_default();
    let has = |name: &CStr| {
        offered.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
            && offered.iter().any(|extension| extension.extension_name_as_c_str() == Ok(khr::swapchain::NAME))
    };
    let mut maintained = vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default();
    if systems.maintenance.is_some() && has(ext::swapchain_maintenance1::NAME) {
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut maintained);
        // SAFETY: as above; the device has the extension of the chain.
        unsafe { instance.raw.get_physical_device_features2(raw, &mut features) };
    }
    (
        has(khr::swapchain::NAME),
        has(khr::swapchain_mutable_format::NAME),
        maintained.swapchain_maintenance1 == vk::TRUE,
    )
}

/// What the baseline needs and the device lacks, by Vulkan's names.
pub(crate) fn missing(
    core: &vk::PhysicalDeviceFeatures,
    v12: &vk::PhysicalDeviceVulkan12Features<'_>,
    v13: &vk::PhysicalDeviceVulkan13Features<'_>,
) -> Vec<&'static str> {
    [
        ("timelineSemaphore", v12.timeline_semaphore),
        ("hostQueryReset", v12.host_query_reset),
        ("separateDepthStencilLayouts", v12.separate_depth_stencil_layouts),
        ("synchronization2", v13.synchronization2),
        ("dynamicRendering", v13.dynamic_rendering),
        ("maintenance4", v13.maintenance4),
        // The rest is what the core tier promises without a feature to ask for.
        ("fragmentStoresAndAtomics", core.fragment_stores_and_atomics),
        ("fullDrawIndexUint32", core.full_draw_index_uint32),
        ("imageCubeArray", core.image_cube_array),
        ("depthBiasClamp", core.depth_bias_clamp),
        ("sampleRateShading", core.sample_rate_shading),
    ]
    .into_iter()
    .filter(|(_, has)| *has == vk::FALSE)
    .map(|(name, _)| name)
    .collect()
}

/// Abilities that only widen which SPIR-V is legal: naga declares their capabilities where a shader needs them, and
/// they cost nothing where none does.
fn shader_features(core: &vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        shader_storage_image_extended_formats: core.shader_storage_image_extended_formats,
        shader_image_gather_extended: core.shader_image_gather_extended,
        shader_clip_distance: core.shader_clip_distance,
        ..Default::default()
    }
}

macro_rules! features {
    ($($flag:ident: $($field:ident)+;)*) => {
        fn from_native(core: &vk::PhysicalDeviceFeatures) -> Features {
            let mut features = Features::empty();
            $(features.set(Features::$flag, $(core.$field == vk::TRUE)&&+);)*
            features
        }

        /// The native features to enable: the baseline, the shader abilities, and what was asked for.
        pub(crate) fn to_native(features: Features, shader: vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
            let mut core = vk::PhysicalDeviceFeatures {
                fragment_stores_and_atomics: vk::TRUE,
                full_draw_index_uint32: vk::TRUE,
                image_cube_array: vk::TRUE,
                depth_bias_clamp: vk::TRUE,
                sample_rate_shading: vk::TRUE,
                ..shader
            };
            $(if features.contains(Features::$flag) { $(core.$field = vk::TRUE;)+ })*
            core
        }
    };
}

features! {
    INDIRECT_FIRST_INSTANCE: draw_indirect_first_instance;
    MULTI_DRAW_INDIRECT: multi_draw_indirect;
    POLYGON_MODE_LINE: fill_mode_non_solid;
    DEPTH_CLIP_CONTROL: depth_clamp;
    ANISOTROPY: sampler_anisotropy;
    VERTEX_STORAGE: vertex_pipeline_stores_and_atomics;
    TEXTURE_COMPRESSION_BC: texture_compression_bc;
    TEXTURE_COMPRESSION_ETC2: texture_compression_etc2;
    TEXTURE_COMPRESSION_ASTC: texture_compression_astc_ldr;
    INDEPENDENT_BLEND: independent_blend;
    BINDING_ARRAYS: shader_sampled_image_array_dynamic_indexing;
    PIPELINE_STATISTICS_QUERY: pipeline_statistics_query;
}

/// The adapter's limits, cut to what this backend's and the recorder's arrays hold.
fn limits(
    native: &vk::PhysicalDeviceLimits,
    maintenance3: &vk::PhysicalDeviceMaintenance3Properties<'_>,
    maintenance4: &vk::PhysicalDeviceMaintenance4Properties<'_>,
) -> Limits {
    let side = native
        .max_image_dimension2_d
        .min(native.max_image_dimension_cube)
        .min(native.max_framebuffer_width)
        .min(native.max_framebuffer_height)
        .min(native.max_viewport_dimensions[0])
        .min(native.max_viewport_dimensions[1]);
    // A driver that reports nothing (the mock does) has at least what the specification asks of every one.
    let or_least = |bytes: u64| if bytes == 0 { 1 << 30 } else { bytes };
    let buffer =
        or_least(maintenance4.max_buffer_size).min(or_least(maintenance3.max_memory_allocation_size));
    let colors =
        native.max_color_attachments.min(native.max_fragment_output_attachments).min(MAX_COLORS as u32);
    let least = Limits::default();
    let of_stage = PerStage::new(native, colors);
    let [group_x, group_y, group_z] = native.max_compute_work_group_size;
    Limits {
        max_texture_dimension_2d: side,
        max_texture_dimension_3d: native.max_image_dimension3_d,
        max_texture_array_layers: native.max_image_array_layers,
        max_bind_groups: native.max_bound_descriptor_sets.min(MAX_GROUPS as u32),
        max_bindings_per_group: maintenance3.max_per_set_descriptors.clamp(1, 1000),
        // Together no more than `MAX_DYNAMIC_OFFSETS`, for all of them may be in one group.
        max_dynamic_uniform_buffers: native
            .max_descriptor_set_uniform_buffers_dynamic
            .min(least.max_dynamic_uniform_buffers),
        max_dynamic_storage_buffers: native
            .max_descriptor_set_storage_buffers_dynamic
            .min(least.max_dynamic_storage_buffers),
        max_sampled_textures_per_stage: of_stage.cut(
            native.max_per_stage_descriptor_sampled_images,
            native.max_descriptor_set_sampled_images,
            least.max_sampled_textures_per_stage,
        ),
        // Samplers are no resources: they have no share.
        max_samplers_per_stage: native
            .max_per_stage_descriptor_samplers
            .min(native.max_descriptor_set_samplers),
        max_storage_buffers_per_stage: of_stage.cut(
            native.max_per_stage_descriptor_storage_buffers,
            native.max_descriptor_set_storage_buffers,
            least.max_storage_buffers_per_stage,
        ),
        max_storage_textures_per_stage: of_stage.cut(
            native.max_per_stage_descriptor_storage_images,
            native.max_descriptor_set_storage_images,
            least.max_storage_textures_per_stage,
        ),
        max_uniform_buffers_per_stage: of_stage.cut(
            native.max_per_stage_descriptor_uniform_buffers,
            native.max_descriptor_set_uniform_buffers,
            least.max_uniform_buffers_per_stage,
        ),
        max_uniform_binding_size: u64::from(native.max_uniform_buffer_range),
        max_storage_binding_size: u64::from(native.max_storage_buffer_range & !3),
        max_buffer_size: buffer,
        min_uniform_offset_alignment: alignment(native.min_uniform_buffer_offset_alignment),
        min_storage_offset_alignment: alignment(native.min_storage_buffer_offset_alignment),
        max_vertex_buffers: native.max_vertex_input_bindings.min(MAX_VERTEX_BUFFERS as u32),
        max_vertex_attributes: native.max_vertex_input_attributes.min(MAX_ATTRIBUTES as u32),
        max_vertex_stride: native
            .max_vertex_input_binding_stride
            .min(native.max_vertex_input_attribute_offset.saturating_add(1)),
        max_color_attachments: colors,
        max_workgroup_invocations: native.max_compute_work_group_invocations,
        max_workgroup_size_x: group_x,
        max_workgroup_size_y: group_y,
        max_workgroup_size_z: group_z,
        max_workgroups_per_dimension: native.max_compute_work_group_count.into_iter().min().unwrap_or(0),
        max_immediate_size: native.max_push_constants_size.min(MAX_IMMEDIATES as u32),
        max_anisotropy: (native.max_sampler_anisotropy as u32).max(1),
    }
}

/// Vulkan also limits the sum of a stage's resources. Where the sum of the single limits could pass it, each keeps
/// what every device has and an equal share of the rest.
struct PerStage {
    share: Option<u32>,
}

impl PerStage {
    fn new(native: &vk::PhysicalDeviceLimits, colors: u32) -> Self {
        let sum = [
            native.max_per_stage_descriptor_sampled_images,
            native.max_per_stage_descriptor_storage_buffers,
            native.max_per_stage_descriptor_storage_images,
            native.max_per_stage_descriptor_uniform_buffers,
            colors,
        ]
        .into_iter()
        .map(u64::from)
        .sum::<u64>();
        if sum <= u64::from(native.max_per_stage_resources) {
            return Self { share: None };
        }
        let least = Limits::default();
        let kept = least.max_sampled_textures_per_stage
            + least.max_storage_buffers_per_stage
            + least.max_storage_textures_per_stage
            + least.max_uniform_buffers_per_stage
            + colors;
        Self { share: Some(native.max_per_stage_resources.saturating_sub(kept) / 4) }
    }

    /// The limit of one kind. A set may hold what one stage sees, so the limit of a whole layout counts too.
    fn cut(&self, stage: u32, layout: u32, least: u32) -> u32 {
        let most = stage.min(layout);
        self.share.map_or(most, |share| most.min(least.saturating_add(share)))
    }
}

/// An offset alignment; copies and clears want four.
fn alignment(bytes: u64) -> u32 {
    bytes.clamp(4, 1 << 30).next_power_of_two() as u32
}

fn version(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

fn text(bytes: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map_or(String::new(), |text| text.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_go_both_ways() {
        let without_native = Features::CORE
            | Features::DEPTH_UPLOADS
            | Features::TIMESTAMP_QUERY
            | Features::UNALIGNED_BLOCK_EXTENTS
            | Features::ADDRESS_MODE_CLAMP_TO_BORDER
            | Features::TEXTURE_COMPRESSION_BC_SLICED_3D
            | Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D
            | Features::NON_UNIFORM_INDEXING
            | Features::MULTI_DRAW_INDIRECT_COUNT;
        for feature in (Features::all() - without_native).iter() {
            let native = to_native(feature, Default::default());
            assert_eq!(from_native(&native), feature);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let all = missing(&Default::default(), &Default::default(), &Default::default());
        assert_eq!(all.len(), 11);
        let v13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        assert!(!missing(&Default::default(), &Default::default(), &v13).contains(&"synchronization2"));
    }

    #[test]
    fn a_tight_stage_still_has_what_every_device_has() {
        let native = vk::PhysicalDeviceLimits {
            max_per_stage_descriptor_sampled_images: 1000,
            max_per_stage_descriptor_uniform_buffers: 14,
            max_per_stage_resources: 128,
            ..Default::default()
        };
        let stage = PerStage::new(&native, 8);
        assert_eq!(stage.cut(1000, 1000, 16), 16 + (128 - 48) / 4);
        assert_eq!(stage.cut(14, 100, 12), 14);
    }
}
