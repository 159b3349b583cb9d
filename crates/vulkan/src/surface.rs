//! Surfaces: their creation on each window system, and what they offer.

use std::ffi::CStr;

use ash::{ext, khr, vk};
use purlin_rhi::error::{BackendError, Error};
use purlin_rhi::surface::{SurfaceCapabilities, SurfaceFailure, SurfaceTarget};
use purlin_rhi::types::{CompositeAlphaMode, PresentMode, TextureFormat, TextureUsages};
use raw_window_handle::{HandleError, HasDisplayHandle, HasWindowHandle};
use smallvec::SmallVec;

use crate::adapter::Physical;
use crate::convert;
use crate::device::Vulkan;
use crate::instance::Instance;
use crate::memory::failed;
use crate::swapchain::Swapchain;

/// The instance extensions of every window system, and those that tell more about a surface.
pub(crate) const INSTANCE_EXTENSIONS: [&CStr; 9] = [
    khr::surface::NAME,
    khr::xlib_surface::NAME,
    khr::xcb_surface::NAME,
    khr::wayland_surface::NAME,
    khr::win32_surface::NAME,
    khr::android_surface::NAME,
    ext::metal_surface::NAME,
    khr::get_surface_capabilities2::NAME,
    ext::surface_maintenance1::NAME,
];

/// What an instance can do with surfaces.
pub(crate) struct WindowSystems {
    pub functions: khr::surface::Instance,
    /// For what maintenance tells; `None` where the instance does not have it.
    pub maintenance: Option<khr::get_surface_capabilities2::Instance>,
    enabled: SmallVec<[&'static CStr; 9]>,
}

impl WindowSystems {
    /// `None` when the instance has no surfaces.
    pub fn new(entry: &ash::Entry, instance: &ash::Instance, enabled: &[&'static CStr]) -> Option<Self> {
        let has = |name| enabled.contains(&name);
        let maintained = has(khr::get_surface_capabilities2::NAME) && has(ext::surface_maintenance1::NAME);
        has(khr::surface::NAME).then(|| Self {
            functions: khr::surface::Instance::new(entry, instance),
            maintenance: maintained.then(|| khr::get_surface_capabilities2::Instance::new(entry, instance)),
            enabled: enabled.into(),
        })
    }
}

impl Instance {
    /// Makes a native surface of a window.
    pub fn create_surface(&self, target: &SurfaceTarget, what: &str) -> Result<vk::SurfaceKHR, Error> {
        let unsupported = |capability: String, detail: String| Error::unsupported(what, capability, detail);
        let Some(systems) = &self.windows else {
            return Err(unsupported("VK_KHR_surface".into(), "the Vulkan loader or driver lacks it".into()));
        };
        let gone = |error| match error {
            HandleError::NotSupported => unsupported("a window".into(), format!("{target:?} was given")),
            error => Error::InvalidDescription {
                what: what.into(),
                field: "target",
                expected: "a window that has its handles now".into(),
                found: error.to_string(),
            },
        };
        let display = target.display_handle().map_err(gone)?.as_raw();
        let window = target.window_handle().map_err(gone)?.as_raw();
        let needed = ash_window::enumerate_required_extensions(display)
            .map_err(|_| unsupported("its window system".into(), format!("{display:?} was given")))?;
        for &name in needed {
            // SAFETY: the crate answers names that are constants.
            let name = unsafe { CStr::from_ptr(name) };
            if !systems.enabled.contains(&name) {
                let name = name.to_string_lossy().into_owned();
                return Err(unsupported(name, "the Vulkan loader or driver lacks it".into()));
            }
        }
        // SAFETY: the instance has the extension of this window system. The target keeps window and display alive,
        // and whoever keeps the surface keeps the target.
        unsafe { ash_window::create_surface(&self.entry, &self.raw, display, window, None) }.map_err(
            |error| match error {
                vk::Result::ERROR_EXTENSION_NOT_PRESENT => {
                    unsupported("its window system".into(), format!("{window:?} on {display:?} was given"))
                }
                error => failed("vkCreate*SurfaceKHR", error).at(what),
            },
        )
    }

    /// Destroys a native surface, which has no swapchain any more.
    pub fn destroy_surface(&self, surface: vk::SurfaceKHR) {
        if let Some(systems) = &self.windows {
            // SAFETY: made by this instance, destroyed once, and no swapchain of it is left.
            unsafe { systems.functions.destroy_surface(surface, None) };
        }
    }

    /// Whether the adapter's queue can present to the surface.
    pub fn presents(&self, physical: &Physical, surface: vk::SurfaceKHR) -> bool {
        let Some(systems) = &self.windows else { return false };
        // SAFETY: adapter and surface are of this instance, and the family is one of the adapter's.
        let supported = unsafe {
            systems.functions.get_physical_device_surface_support(
                physical.raw,
                physical.queue_family,
                surface,
            )
        };
        physical.swapchains && supported == Ok(true)
    }
}

/// A surface with its swapchains.
pub(crate) struct Surface {
    pub raw: vk::SurfaceKHR,
    /// In order of generation. The last one is current.
    pub swapchains: SmallVec<[Swapchain; 2]>,
    /// Keeps the window until the native surface is gone.
    _target: SurfaceTarget,
}

impl Vulkan {
    pub(crate) fn new_surface(
        &mut self,
        slot: u32,
        label: &str,
        target: &SurfaceTarget,
    ) -> Result<(), Error> {
        let what = format!("surface \"{label}\"");
        let raw = self.instance.create_surface(target, &what)?;
        if !self.instance.presents(&self.physical, raw) {
            self.instance.destroy_surface(raw);
            let detail = format!("\"{}\" cannot present to {target:?}", self.physical.info.name);
            return Err(Error::unsupported(what, "presentation", detail));
        }
        self.name(raw, label);
        let surface = Surface { raw, swapchains: SmallVec::new(), _target: target.clone() };
        self.surfaces.insert(slot, surface);
        Ok(())
    }

    pub(crate) fn free_surface(&mut self, mut surface: Surface) {
        for swapchain in surface.swapchains.drain(..) {
            self.free_swapchain(swapchain, false);
        }
        self.instance.destroy_surface(surface.raw);
    }

    pub(crate) fn capabilities_of(&self, slot: u32) -> Result<SurfaceCapabilities, SurfaceFailure> {
        let surface = self.surfaces.get(slot).raw;
        let physical = self.physical.raw;
        let Some(systems) = &self.instance.windows else {
            return Err(SurfaceFailure::Lost("the instance has no surfaces".into()));
        };
        let functions = &systems.functions;
        // SAFETY: adapter and surface are of this instance.
        let (native, formats, modes) = unsafe {
            let failed = surface_failed;
            (
                functions
                    .get_physical_device_surface_capabilities(physical, surface)
                    .map_err(|error| failed("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", error))?,
                functions
                    .get_physical_device_surface_formats(physical, surface)
                    .map_err(|error| failed("vkGetPhysicalDeviceSurfaceFormatsKHR", error))?,
                functions
                    .get_physical_device_surface_present_modes(physical, surface)
                    .map_err(|error| failed("vkGetPhysicalDeviceSurfacePresentModesKHR", error))?,
            )
        };
        let (current, least, most) = extents(&native);
        Ok(SurfaceCapabilities {
            formats: formats.iter().filter_map(|format| self.presented_format(format)).collect(),
            present_modes: modes.iter().filter_map(|&mode| from_mode(mode)).collect(),
            alpha_modes: ALPHA
                .iter()
                .filter(|(_, flag)| native.supported_composite_alpha.contains(*flag))
                .map(|&(mode, _)| mode)
                .collect(),
            usages: from_usage(native.supported_usage_flags),
            view_formats: self.physical.mutable_swapchains,
            current_extent: current,
            min_extent: least,
            max_extent: most,
            min_images: native.min_image_count.max(1),
            max_images: if native.max_image_count == 0 { u32::MAX } else { native.max_image_count },
        })
    }

    fn presented_format(&self, format: &vk::SurfaceFormatKHR) -> Option<TextureFormat> {
        const FORMATS: [TextureFormat; 6] = [
            TextureFormat::Bgra8UnormSrgb,
            TextureFormat::Bgra8Unorm,
            TextureFormat::Rgba8UnormSrgb,
            TextureFormat::Rgba8Unorm,
            TextureFormat::Rgb10a2Unorm,
            TextureFormat::Rgba16Float,
        ];
        if format.color_space != vk::ColorSpaceKHR::SRGB_NONLINEAR {
            return None;
        }
        let depth = self.physical.depth_formats;
        FORMATS.into_iter().find(|&known| convert::format(known, depth) == Some(format.format))
    }
}

/// The extent that the window dictates, if it does, and the least and the greatest.
#[allow(clippy::type_complexity)]
pub(crate) fn extents(native: &vk::SurfaceCapabilitiesKHR) -> (Option<(u32, u32)>, (u32, u32), (u32, u32)) {
    let pair = |extent: vk::Extent2D| (extent.width, extent.height);
    let current = pair(native.current_extent);
    let dictated = current != (u32::MAX, u32::MAX);
    (
        dictated.then_some(current),
        pair(native.min_image_extent),
        // A driver may answer a minimized window with a current extent of zero alone.
        if dictated && (current.0 == 0 || current.1 == 0) { (0, 0) } else { pair(native.max_image_extent) },
    )
}

/// Tells the loss of a surface from everything else.
pub(crate) fn surface_failed(call: &'static str, error: vk::Result) -> SurfaceFailure {
    match error {
        vk::Result::ERROR_SURFACE_LOST_KHR => SurfaceFailure::Lost(format!("{call} said so")),
        vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR => SurfaceFailure::Backend(BackendError::Failed {
            call,
            detail: "another swapchain or API presents to the window".into(),
        }),
        error => SurfaceFailure::Backend(failed(call, error)),
    }
}

const ALPHA: [(CompositeAlphaMode, vk::CompositeAlphaFlagsKHR); 4] = [
    (CompositeAlphaMode::Opaque, vk::CompositeAlphaFlagsKHR::OPAQUE),
    (CompositeAlphaMode::PreMultiplied, vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED),
    (CompositeAlphaMode::PostMultiplied, vk::CompositeAlphaFlagsKHR::POST_MULTIPLIED),
    (CompositeAlphaMode::Inherit, vk::CompositeAlphaFlagsKHR::INHERIT),
];

pub(crate) fn to_alpha(mode: CompositeAlphaMode) -> vk::CompositeAlphaFlagsKHR {
    let found = ALPHA.iter().find(|(known, _)| *known == mode);
    found.map_or(vk::CompositeAlphaFlagsKHR::OPAQUE, |(_, flag)| *flag)
}

const MODES: [(PresentMode, vk::PresentModeKHR); 4] = [
    (PresentMode::Fifo, vk::PresentModeKHR::FIFO),
    (PresentMode::FifoRelaxed, vk::PresentModeKHR::FIFO_RELAXED),
    (PresentMode::Mailbox, vk::PresentModeKHR::MAILBOX),
    (PresentMode::Immediate, vk::PresentModeKHR::IMMEDIATE),
];

fn from_mode(mode: vk::PresentModeKHR) -> Option<PresentMode> {
    MODES.iter().find(|(_, native)| *native == mode).map(|(known, _)| *known)
}

pub(crate) fn to_mode(mode: PresentMode) -> vk::PresentModeKHR {
    MODES.iter().find(|(known, _)| *known == mode).map_or(vk::PresentModeKHR::FIFO, |(_, native)| *native)
}

fn from_usage(flags: vk::ImageUsageFlags) -> TextureUsages {
    let mut usages = TextureUsages::empty();
    for (usage, flag) in [
        (TextureUsages::COPY_SRC, vk::ImageUsageFlags::TRANSFER_SRC),
        (TextureUsages::COPY_DST, vk::ImageUsageFlags::TRANSFER_DST),
        (TextureUsages::TEXTURE_BINDING, vk::ImageUsageFlags::SAMPLED),
        (TextureUsages::STORAGE_BINDING, vk::ImageUsageFlags::STORAGE),
        (TextureUsages::RENDER_ATTACHMENT, vk::ImageUsageFlags::COLOR_ATTACHMENT),
    ] {
        usages.set(usage, flags.contains(flag));
    }
    usages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_go_both_ways() {
        for (mode, native) in MODES {
            assert_eq!(from_mode(native), Some(mode));
            assert_eq!(to_mode(mode), native);
        }
        for (mode, flag) in ALPHA {
            assert_eq!(to_alpha(mode), flag);
        }
    }

    #[test]
    fn a_minimized_window_has_no_greatest_extent() {
        let extent = |width, height| vk::Extent2D { width, height };
        let mut native = vk::SurfaceCapabilitiesKHR {
            current_extent: extent(640, 0),
            max_image_extent: extent(16, 16),
            ..Default::default()
        };
        assert_eq!(extents(&native).2, (0, 0));
        native.current_extent = extent(u32::MAX, u32::MAX);
        assert_eq!(extents(&native), (None, (0, 0), (16, 16)));
    }
}
