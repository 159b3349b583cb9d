//! Swapchains: their images, semaphores and fences.
//!
//! Which semaphore an acquisition signals and when a swapchain can go is decided above. Here each image has the
//! semaphore that its present waits for, since only the next acquisition of the *image* says that the wait is over;
//! each frame in flight has the semaphore that its acquisition signals. With `VK_EXT_swapchain_maintenance1` every
//! present signals a fence, and a swapchain goes when all of its fences have been; without it, what is not known to be
//! presented is waited for with the queue.

use std::time::Duration;

use ash::{khr, vk};
use purlin_rhi::backend::NativeResult;
use purlin_rhi::desc::TextureDesc;
use purlin_rhi::surface::{
    NativeAcquire, NativePresented, NativeSwapchain, Skip, SurfaceFailure, SurfaceImage,
};
use smallvec::SmallVec;

use crate::convert;
use crate::device::{TEARDOWN_TIMEOUT, Vulkan};
use crate::memory::failed;
use crate::resource::Texture;
use crate::surface::{surface_failed, to_alpha, to_mode};

/// The device's functions for swapchains.
pub(crate) struct Presenter {
    pub functions: khr::swapchain::Device,
    /// Whether presents signal fences.
    pub fences: bool,
}

/// A swapchain.
#[derive(Default)]
pub(crate) struct Swapchain {
    raw: vk::SwapchainKHR,
    pub generation: u32,
    images: Vec<vk::Image>,
    /// Signaled when an image was acquired, by frame in flight.
    acquired: SmallVec<[vk::Semaphore; 4]>,
    /// Signaled when an image is ready to be presented, by image.
    ready: Vec<vk::Semaphore>,
    /// Fences of presents that may not be done.
    presents: Vec<vk::Fence>,
    /// Unsignaled fences.
    fences: Vec<vk::Fence>,
    /// Whether a later swapchain has replaced it.
    retired: bool,
}

impl Vulkan {
    fn presenter(&self) -> Result<&Presenter, SurfaceFailure> {
        self.presenter.as_ref().ok_or_else(|| SurfaceFailure::Lost("the device has no swapchains".into()))
    }

    pub(crate) fn new_swapchain(
        &mut self,
        slot: u32,
        wanted: &NativeSwapchain<'_>,
    ) -> Result<u32, SurfaceFailure> {
        let surface = self.surfaces.get(slot);
        let former = surface.swapchains.last().filter(|swapchain| !swapchain.retired);
        let former = former.map_or(vk::SwapchainKHR::null(), |swapchain| swapchain.raw);
        let raw = self.make_swapchain(surface.raw, former, wanted);
        // The former one gives no more images, even when the new one could not be made.
        if let Some(surface) = self.surfaces.get_mut(slot) {
            surface.swapchains.iter_mut().for_each(|swapchain| swapchain.retired = true);
        }
        let mut swapchain = Swapchain { raw: raw?, generation: wanted.generation, ..Default::default() };
        match self.fill_swapchain(&mut swapchain, wanted) {
            Ok(()) => {
                let images = swapchain.images.len() as u32;
                if let Some(surface) = self.surfaces.get_mut(slot) {
                    surface.swapchains.push(swapchain);
                }
                Ok(images)
            }
            Err(failure) => {
                self.free_swapchain(swapchain, true);
                Err(failure)
            }
        }
    }

    fn make_swapchain(
        &self,
        surface: vk::SurfaceKHR,
        former: vk::SwapchainKHR,
        wanted: &NativeSwapchain<'_>,
    ) -> Result<vk::SwapchainKHR, SurfaceFailure> {
        let presenter = self.presenter()?;
        let format = self.native_format(wanted.format)?;
        let present_mode = to_mode(wanted.present_mode);
        let transform = self.transform(surface)?;
        let mut formats = SmallVec::<[vk::Format; 3]>::new();
        let mut flags = vk::SwapchainCreateFlagsKHR::empty();
        if !wanted.view_formats.is_empty() {
            flags |= vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT;
            formats.push(format);
            for &other in wanted.view_formats {
                formats.push(self.native_format(other)?);
            }
        }
        let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
        let of_mode = self.of_mode(surface, present_mode);
        let mut scaling = of_mode.and_then(|(_, scaling)| scaling);
        let least = of_mode.map_or(0, |(least, _)| least);
        let mut info = vk::SwapchainCreateInfoKHR::default()
            .flags(flags)
            .surface(surface)
            .min_image_count(wanted.images.max(least))
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(vk::Extent2D { width: wanted.extent.0, height: wanted.extent.1 })
            .image_array_layers(1)
            .image_usage(convert::image_usage(wanted.usage, wanted.format))
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(transform)
            .composite_alpha(to_alpha(wanted.alpha_mode))
            .present_mode(present_mode)
            .clipped(true)
            .old_swapchain(former);
        if !formats.is_empty() {
            info = info.push_next(&mut list);
        }
        if let Some(scaling) = &mut scaling {
            info = info.push_next(scaling);
        }
        // SAFETY: the surface is live and was asked about every part of the description; the former swapchain is of
        // it and was not retired before. `&mut self` of the callers is the external synchronization of both.
        unsafe { presenter.functions.create_swapchain(&info, None) }
            .map_err(|error| surface_failed("vkCreateSwapchainKHR", error))
    }

    /// Upright where the surface lets the system turn the picture; otherwise as it hangs.
    fn transform(&self, surface: vk::SurfaceKHR) -> Result<vk::SurfaceTransformFlagsKHR, SurfaceFailure> {
        let Some(systems) = &self.instance.windows else { return Ok(vk::SurfaceTransformFlagsKHR::IDENTITY) };
        // SAFETY: adapter and surface are of this instance.
        let native =
            unsafe { systems.functions.get_physical_device_surface_capabilities(self.physical.raw, surface) }
                .map_err(|error| surface_failed("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", error))?;
        let upright = vk::SurfaceTransformFlagsKHR::IDENTITY;
        let has = native.supported_transforms.contains(upright);
        Ok(if has { upright } else { native.current_transform })
    }

    /// What the surface says of one present mode: the least number of images, which some modes raise, and how pictures
    /// can be scaled. Those that the window has outgrown stay in the corner, texel by texel, where the system can do
    /// that: a window that is resized while its swapchain is made is then no error.
    fn of_mode(
        &self,
        surface: vk::SurfaceKHR,
        mode: vk::PresentModeKHR,
    ) -> Option<(u32, Option<vk::SwapchainPresentScalingCreateInfoEXT<'static>>)> {
        let functions = self.instance.windows.as_ref()?.maintenance.as_ref()?;
        if !self.presenter.as_ref()?.fences {
            return None;
        }
        let mut of_mode = vk::SurfacePresentModeEXT::default().present_mode(mode);
        let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface).push_next(&mut of_mode);
        let mut offered = vk::SurfacePresentScalingCapabilitiesEXT::default();
        let mut answer = vk::SurfaceCapabilities2KHR::default().push_next(&mut offered);
        // SAFETY: adapter and surface are of this instance, which has the extensions of both chains.
        unsafe { functions.get_physical_device_surface_capabilities2(self.physical.raw, &info, &mut answer) }
            .ok()?;
        let least = answer.surface_capabilities.min_image_count;
        let one_to_one = vk::PresentScalingFlagsEXT::ONE_TO_ONE;
        let corner = vk::PresentGravityFlagsEXT::MIN;
        let has = offered.supported_present_scaling.contains(one_to_one)
            && offered.supported_present_gravity_x.contains(corner)
            && offered.supported_present_gravity_y.contains(corner);
        let scaling = has.then(|| {
            vk::SwapchainPresentScalingCreateInfoEXT::default()
                .scaling_behavior(one_to_one)
                .present_gravity_x(corner)
                .present_gravity_y(corner)
        });
        Some((least, scaling))
    }

    fn fill_swapchain(
        &self,
        swapchain: &mut Swapchain,
        wanted: &NativeSwapchain<'_>,
    ) -> Result<(), SurfaceFailure> {
        // SAFETY: the swapchain was just made.
        swapchain.images = unsafe { self.presenter()?.functions.get_swapchain_images(swapchain.raw) }
            .map_err(|error| surface_failed("vkGetSwapchainImagesKHR", error))?;
        for frame in 0..wanted.frames_in_flight {
            swapchain.acquired.push(self.semaphore(&format!("acquired by frame {frame}"))?);
        }
        for image in 0..swapchain.images.len() {
            swapchain.ready.push(self.semaphore(&format!("image {image} is ready"))?);
        }
        Ok(())
    }

    fn semaphore(&self, name: &str) -> Result<vk::Semaphore, SurfaceFailure> {
        // SAFETY: a binary semaphore needs nothing.
        let semaphore = unsafe { self.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
            .map_err(|error| failed("vkCreateSemaphore", error))?;
        self.name(semaphore, name);
        Ok(semaphore)
    }

    pub(crate) fn destroy_chain(&mut self, slot: u32, generation: u32, presented: bool) {
        let swapchain = self.surfaces.get_mut(slot).and_then(|surface| {
            let index = surface.swapchains.iter().position(|chain| chain.generation == generation)?;
            Some(surface.swapchains.remove(index))
        });
        if let Some(swapchain) = swapchain {
            self.free_swapchain(swapchain, presented);
        }
    }

    /// Destroys a swapchain that the GPU is done with. `presented`: the screen is too.
    pub(crate) fn free_swapchain(&self, swapchain: Swapchain, presented: bool) {
        let Some(presenter) = &self.presenter else { return };
        // SAFETY: the fences and the queue are live. Then nothing uses the semaphores: submissions are complete, and
        // presents are known to be done, or waited for as well as this device can.
        unsafe {
            if !swapchain.presents.is_empty() {
                let nanoseconds = TEARDOWN_TIMEOUT.as_nanos() as u64;
                let waited = self.raw.wait_for_fences(&swapchain.presents, true, nanoseconds);
                if waited == Err(vk::Result::TIMEOUT) {
                    tracing::error!("presentation does not finish: a swapchain is leaked");
                    return;
                }
            } else if !presented && !presenter.fences {
                // A queue that cannot be waited for is lost, and uses nothing.
                let _ = self.raw.queue_wait_idle(self.queue);
            }
            for semaphore in swapchain.acquired.into_iter().chain(swapchain.ready) {
                self.raw.destroy_semaphore(semaphore, None);
            }
            for fence in swapchain.fences.into_iter().chain(swapchain.presents) {
                self.raw.destroy_fence(fence, None);
            }
            presenter.functions.destroy_swapchain(swapchain.raw, None);
        }
    }

    /// What the fences say.
    pub(crate) fn presented(&mut self, slot: u32, generation: u32) -> Option<bool> {
        if !self.presenter.as_ref()?.fences {
            return None;
        }
        let Self { raw, surfaces, .. } = self;
        let mut chains = surfaces.get_mut(slot)?.swapchains.iter_mut();
        let swapchain = chains.find(|swapchain| swapchain.generation == generation)?;
        swapchain.collect(raw);
        Some(swapchain.presents.is_empty())
    }

    pub(crate) fn acquire_image(
        &mut self,
        slot: u32,
        semaphore: u32,
        timeout: Duration,
    ) -> Result<NativeAcquire, SurfaceFailure> {
        const CALL: &str = "vkAcquireNextImageKHR";
        self.alive()?;
        let presenter = self.presenter()?;
        let Some(swapchain) = self.surfaces.get(slot).swapchains.last().filter(|chain| !chain.retired) else {
            return Ok(NativeAcquire::Skipped(Skip::Outdated));
        };
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let semaphore = swapchain.acquired[semaphore as usize];
        // SAFETY: the swapchain is current and no image of it is acquired; the semaphore is unsignaled, for the
        // submission that waited for it is complete.
        let result = unsafe {
            presenter.functions.acquire_next_image(swapchain.raw, nanoseconds, semaphore, vk::Fence::null())
        };
        match result {
            Ok((image, suboptimal)) => Ok(NativeAcquire::Image { image, fresh: false, suboptimal }),
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => Ok(NativeAcquire::Skipped(Skip::Timeout)),
            Err(error) if is_outdated(error) => Ok(NativeAcquire::Skipped(Skip::Outdated)),
            Err(vk::Result::ERROR_SURFACE_LOST_KHR) => {
                Err(surface_failed(CALL, vk::Result::ERROR_SURFACE_LOST_KHR))
            }
            Err(error) => Err(self.note(CALL, error).into()),
        }
    }

    pub(crate) fn new_surface_texture(
        &mut self,
        slot: u32,
        image: SurfaceImage,
        desc: &TextureDesc<'_>,
    ) -> NativeResult {
        let Some(chain) = self.chain(image) else { unreachable!("{image:?} is of no live swapchain") };
        let raw = chain.images[image.image as usize];
        self.name(raw, desc.label);
        let usage = convert::image_usage(desc.usage, desc.format);
        self.textures.insert(slot, Texture::borrowed(raw, desc.format, usage));
        Ok(())
    }

    fn chain(&self, image: SurfaceImage) -> Option<&Swapchain> {
        let mut chains = self.surfaces.get(image.surface).swapchains.iter();
        chains.find(|chain| chain.generation == image.generation)
    }

    /// The semaphore that an acquisition signals, and the one that the image's present waits for.
    pub(crate) fn semaphores(
        &self,
        image: SurfaceImage,
        acquired: Option<u32>,
    ) -> (Option<vk::Semaphore>, vk::Semaphore) {
        let Some(chain) = self.chain(image) else { unreachable!("{image:?} is of no live swapchain") };
        (acquired.map(|index| chain.acquired[index as usize]), chain.ready[image.image as usize])
    }

    pub(crate) fn present_image(&mut self, slot: u32, image: u32) -> Result<NativePresented, SurfaceFailure> {
        const CALL: &str = "vkQueuePresentKHR";
        let Self { raw, surfaces, presenter, queue, .. } = self;
        let Some(presenter) = presenter else { return Err(SurfaceFailure::Lost("no swapchains".into())) };
        let Some(swapchain) = surfaces.get_mut(slot).and_then(|surface| surface.swapchains.last_mut()) else {
            return Ok(NativePresented::Outdated);
        };
        let fence = if presenter.fences { swapchain.take_fence(raw) } else { None };
        let waits = [swapchain.ready[image as usize]];
        let (chains, images, fences) = ([swapchain.raw], [image], [fence.unwrap_or_default()]);
        let mut signaled = vk::SwapchainPresentFenceInfoEXT::default().fences(&fences);
        let mut info =
            vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&chains).image_indices(&images);
        if fence.is_some() {
            info = info.push_next(&mut signaled);
        }
        // SAFETY: the image is acquired and in its present layout, and the semaphore's signal was submitted.
        // `&mut self` is the external synchronization of queue and swapchain.
        let result = unsafe { presenter.functions.queue_present(*queue, &info) };
        swapchain.presents.extend(fence);
        match result {
            Ok(suboptimal) => Ok(NativePresented::Shown { suboptimal }),
            Err(error) if is_outdated(error) => Ok(NativePresented::Outdated),
            Err(vk::Result::ERROR_SURFACE_LOST_KHR) => {
                Err(surface_failed(CALL, vk::Result::ERROR_SURFACE_LOST_KHR))
            }
            Err(error) => Err(self.note(CALL, error).into()),
        }
    }
}

fn is_outdated(error: vk::Result) -> bool {
    matches!(error, vk::Result::ERROR_OUT_OF_DATE_KHR | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT)
}

impl Swapchain {
    /// Takes back the fences of presents that are done.
    fn collect(&mut self, device: &ash::Device) {
        let fences = &mut self.fences;
        self.presents.retain(|&fence| {
            // SAFETY: the fence is live; a signaled one is used by nothing.
            let done = unsafe { device.get_fence_status(fence) } != Ok(false);
            // SAFETY: as above.
            if done && unsafe { device.reset_fences(&[fence]) }.is_ok() {
                fences.push(fence);
                return false;
            }
            true
        });
    }

    /// A fence that is not signaled; `None` when the driver has none left, and then the present goes without.
    fn take_fence(&mut self, device: &ash::Device) -> Option<vk::Fence> {
        self.collect(device);
        if let Some(fence) = self.fences.pop() {
            return Some(fence);
        }
        // SAFETY: a fence needs nothing.
        unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.ok()
    }
}
