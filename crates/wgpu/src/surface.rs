//! Surfaces. wgpu keeps swapchains, their semaphores and the end of presentation to itself: what the boundary numbers
//! has no meaning here, and every acquisition answers image zero, made anew.

use purlin_rhi::backend::NativeResult;
use purlin_rhi::error::{BackendError, Error};
use purlin_rhi::surface::{
    NativeAcquire, NativePresented, NativeSwapchain, Skip, SurfaceCapabilities, SurfaceFailure, SurfaceTarget,
};
use wgpu::CurrentSurfaceTexture as Current;

#[cfg(target_arch = "wasm32")]
use crate::canvas::Canvas;
use crate::device::Wgpu;

/// A surface of wgpu.
pub(crate) struct Surface {
    /// The acquired image; dropped before its surface.
    held: Option<wgpu::SurfaceTexture>,
    raw: wgpu::Surface<'static>,
    /// Its canvas, and the size that its configuration gave that.
    #[cfg(target_arch = "wasm32")]
    canvas: Option<(Canvas, (u32, u32))>,
}

/// Makes wgpu's surface of a target.
pub(crate) fn make(
    instance: &wgpu::Instance,
    target: &SurfaceTarget,
    what: &str,
) -> Result<wgpu::Surface<'static>, Error> {
    #[cfg(target_arch = "wasm32")]
    if let Some(canvas) = target.custom_as::<Canvas>() {
        return canvas.surface(instance, what);
    }
    instance.create_surface(target.clone()).map_err(|error| {
        let detail = format!("{target:?} was given: {error}");
        Error::unsupported(what, "its window system", detail)
    })
}

impl Wgpu {
    pub(crate) fn new_surface(
        &mut self,
        slot: u32,
        label: &str,
        target: &SurfaceTarget,
    ) -> Result<(), Error> {
        let what = format!("surface \"{label}\"");
        self.errors.loss.check().map_err(|error| error.at(&what))?;
        let (Some(instance), Some(adapter)) = (&self.instance, &self.adapter) else {
            let detail = "surfaces of an adopted device are its owner's to make";
            return Err(Error::unsupported(what, "surfaces", detail));
        };
        #[cfg(target_arch = "wasm32")]
        if let (Some(own), Some(other)) = (&self.canvas, target.custom_as::<Canvas>())
            && !own.is_same(other)
        {
            let detail = "a WebGL 2 device is the context of the canvas that its request named";
            return Err(Error::unsupported(what, "presentation to other canvases", detail));
        }
        let raw = match self.asked_for.take_if(|(one, _)| one.is_same(target)) {
            Some((_, raw)) => raw,
            None => make(instance, target, &what)?,
        };
        if !adapter.is_surface_supported(&raw) {
            let detail = format!("\"{}\" cannot present to {target:?}", self.info().name);
            return Err(Error::unsupported(what, "presentation", detail));
        }
        #[cfg(target_arch = "wasm32")]
        let canvas = target.custom_as::<Canvas>().map(|canvas| (canvas.clone(), (0, 0)));
        let surface = Surface {
            held: None,
            raw,
            #[cfg(target_arch = "wasm32")]
            canvas,
        };
        self.surfaces.insert(slot, surface);
        Ok(())
    }

    pub(crate) fn capabilities_of(&self, slot: u32) -> Result<SurfaceCapabilities, SurfaceFailure> {
        self.errors.loss.check()?;
        let Some(adapter) = &self.adapter else { unreachable!("surface {slot} has no adapter") };
        let offered = self.surfaces.get(slot).raw.get_capabilities(adapter);
        if offered.formats.is_empty() {
            return Err(SurfaceFailure::Lost("it offers no format any more".into()));
        }
        let flags = adapter.get_downlevel_capabilities().flags;
        let side = self.enabled().limits.max_texture_dimension_2d;
        Ok(SurfaceCapabilities {
            formats: offered.formats,
            present_modes: offered.present_modes,
            alpha_modes: offered.alpha_modes,
            usages: offered.usages,
            view_formats: flags.contains(wgpu::DownlevelFlags::SURFACE_VIEW_FORMATS),
            current_extent: None,
            min_extent: (1, 1),
            max_extent: (side, side),
            min_images: 0,
            max_images: 0,
        })
    }

    pub(crate) fn configure(
        &mut self,
        slot: u32,
        wanted: &NativeSwapchain<'_>,
    ) -> Result<u32, SurfaceFailure> {
        let Some(surface) = self.surfaces.get_mut(slot) else { unreachable!("surface {slot} is not live") };
        surface.held = None;
        #[cfg(target_arch = "wasm32")]
        if let Some((_, extent)) = &mut surface.canvas {
            *extent = wanted.extent;
        }
        let config = wgpu::SurfaceConfiguration {
            usage: wanted.usage,
            format: wanted.format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: wanted.extent.0,
            height: wanted.extent.1,
            present_mode: wanted.present_mode,
            desired_maximum_frame_latency: wanted.frames_in_flight,
            alpha_mode: wanted.alpha_mode,
            view_formats: wanted.view_formats.to_vec(),
        };
        let configure = || surface.raw.configure(&self.device, &config);
        self.errors.catch(&self.device, "configure", configure)?;
        Ok(0)
    }

    pub(crate) fn acquire_image(&mut self, slot: u32) -> Result<NativeAcquire, SurfaceFailure> {
        const CALL: &str = "get_current_texture";
        let Some(surface) = self.surfaces.get_mut(slot) else { unreachable!("surface {slot} is not live") };
        #[cfg(target_arch = "wasm32")]
        if surface.canvas.as_ref().is_some_and(|(canvas, extent)| canvas.extent() != *extent) {
            // The page has set its size, and with it that of its images.
            return Ok(NativeAcquire::Skipped(Skip::Outdated));
        }
        let current = self.errors.catch(&self.device, CALL, || surface.raw.get_current_texture())?;
        let (texture, suboptimal) = match current {
            Current::Success(texture) => (texture, false),
            Current::Suboptimal(texture) => (texture, true),
            Current::Timeout => return Ok(NativeAcquire::Skipped(Skip::Timeout)),
            Current::Occluded => return Ok(NativeAcquire::Skipped(Skip::Occluded)),
            Current::Outdated => return Ok(NativeAcquire::Skipped(Skip::Outdated)),
            failed @ (Current::Lost | Current::Validation) => {
                // A lost device says so too, by a callback that comes when it is polled and its work is done.
                let _ = self.device.poll(wgpu::PollType::Poll);
                self.errors.loss.check()?;
                return Err(match failed {
                    Current::Lost => SurfaceFailure::Lost(format!("{CALL} said so")),
                    // Of all errors, this is the one that comes by that callback alone.
                    _ => {
                        self.errors.loss.report(format!("{CALL} said so"));
                        BackendError::DeviceLost(format!("{CALL} said so")).into()
                    }
                });
            }
        };
        surface.held = Some(texture);
        Ok(NativeAcquire::Image { image: 0, fresh: true, suboptimal })
    }

    pub(crate) fn new_surface_texture(&mut self, slot: u32, surface: u32) -> NativeResult {
        let Some(held) = &self.surfaces.get(surface).held else {
            unreachable!("surface {surface} has no acquired image")
        };
        self.textures.insert(slot, held.texture.clone());
        self.surface_textures.push(slot);
        Ok(())
    }

    pub(crate) fn present_image(&mut self, slot: u32) -> Result<NativePresented, SurfaceFailure> {
        let held = self.surfaces.get_mut(slot).and_then(|surface| surface.held.take());
        let Some(held) = held else { unreachable!("surface {slot} has no acquired image") };
        // What comes of it the next acquisition tells.
        self.errors.catch(&self.device, "present", || self.queue.present(held))?;
        Ok(NativePresented::Shown { suboptimal: false })
    }
}
