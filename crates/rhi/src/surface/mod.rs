//! Surfaces: windows to present to.
//!
//! A [`Surface`] is an owner of its own beside the device that it was made on. A device has any number of them, or none;
//! a surface that is lost takes nothing with it.
//!
//! # The life of a frame
//! 1. [`Surface::configure`] says size, format and mode, checked against what [`Surface::capabilities`] offers.
//! 2. [`Surface::acquire`] answers a [`SurfaceFrame`], or why there is none now: [`Skip`] is a value and not an error,
//!    and says what to do.
//! 3. Passes draw to [`SurfaceFrame::view`]. The image is an ordinary tracked texture with undefined contents: the first
//!    submission that uses it waits until it can be written.
//! 4. [`Recorder::present`](crate::Recorder::present) declares the last use. When that recording is submitted, the image
//!    goes to the screen; what that comes to is known at the next acquisition.
//!
//! ```
//! use purlin_rhi::null::{Null, NullWindow};
//! use purlin_rhi::surface::{Acquired, Skip, SurfaceConfig, SurfaceTarget};
//! use purlin_rhi::{ClearValue, ColorAttachment, Device, DeviceRequest, LoadOp, RenderPassDesc, StoreOp};
//! # use std::time::Duration;
//! # pollster::block_on(async {
//! let window = SurfaceTarget::custom(NullWindow::new(640, 480)); // a real one: SurfaceTarget::new(window)
//! let request = DeviceRequest { surface: Some(&window), ..DeviceRequest::default() };
//! let mut device = Device::<Null>::request(&request).await?;
//! let surface = device.create_surface("main", &window)?;
//! let format = surface.capabilities(&device)?.formats[0];
//! surface.configure(&mut device, &SurfaceConfig::new(640, 480, format))?;
//!
//! match surface.acquire(&mut device, Duration::from_secs(1))? {
//!     Acquired::Frame(frame) => {
//!         let mut recorder = device.record("frame")?;
//!         let load = LoadOp::Clear(ClearValue::Float([0.1, 0.2, 0.3, 1.0]));
//!         let color = ColorAttachment { view: frame.view(), load, store: StoreOp::Store, resolve: None };
//!         recorder.render_pass(
//!             &RenderPassDesc { label: "picture", colors: &[Some(color)], ..Default::default() },
//!             |_pass| {},
//!         )?;
//!         recorder.present(frame)?;
//!         recorder.submit()?;
//!     }
//!     Acquired::Skipped(Skip::Timeout | Skip::Occluded) => {} // try again later
//!     Acquired::Skipped(_) => {}                              // configure again, with the window's size
//! }
//! # Ok::<(), purlin_rhi::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Errors
//! [`Error::SurfaceLost`] is final for the surface and for nothing else: drop it and make
//! another of the same [`SurfaceTarget`]. A surface or frame of another device is a foreign handle; a frame from before
//! the last configuration is a stale one.

mod config;
mod frame;
mod native;
mod notes;
mod present;
mod state;
mod target;

use std::fmt;
use std::time::Duration;

pub use config::{Configured, MAX_FRAMES_IN_FLIGHT, SurfaceCapabilities, SurfaceConfig};
pub use frame::{Acquired, Skip, SurfaceFrame};
pub use native::{
    FrameUse, NativeAcquire, NativePresented, NativeSwapchain, SurfaceBackend, SurfaceFailure, SurfaceImage,
};
pub(crate) use present::{FrameUses, Frames};
pub(crate) use state::Surfaces;
pub use target::{SurfaceTarget, WindowHandles};

use crate::backend::Backend;
use crate::clock::Instant;
use crate::desc::{Contents, TextureDesc, TextureViewDesc};
use crate::device::Device;
use crate::error::{BackendError, Error, HandleProblem, Result, state as wrong_state};
use crate::handle::{DeviceTag, ResourceKind, Texture, TextureView};
use crate::plan::{Aspects, Layout, Scope, TextureRange, TextureState};
use crate::registry::TextureRecord;
use crate::types::{Extent3d, TextureDimension};
use crate::written::Written;
use config::Resolved;
use notes::{Note, Notes};
use state::{Chain, Held, Status, SurfaceRecord};

/// How long a configuration waits for the GPU to be done with a former surface of the same window.
const LONGEST_FAREWELL: Duration = Duration::from_secs(1);

/// All of a surface's image.
pub(crate) const WHOLE: TextureRange =
    TextureRange { aspects: Aspects::COLOR, base_mip: 0, mips: 1, base_layer: 0, layers: 1 };

/// A surface of one device. Dropping it destroys it once the GPU and the screen are done with its images.
#[must_use = "dropping the surface destroys it"]
pub struct Surface {
    device: DeviceTag,
    slot: u32,
    serial: u64,
    notes: Notes,
}

impl Drop for Surface {
    fn drop(&mut self) {
        self.notes.push(Note::Surface(self.serial));
    }
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "surface {} of device {}", self.slot, self.device.0)
    }
}

impl Surface {
    /// What the surface offers now.
    ///
    /// # Errors
    /// A surface of another device, a lost surface or device.
    pub fn capabilities<B: Backend>(&self, device: &Device<B>) -> Result<SurfaceCapabilities> {
        let what = "surface capabilities";
        let record = self.record(device, what)?;
        match device.backend.surface_capabilities(self.slot) {
            Ok(capabilities) => Ok(capabilities),
            Err(SurfaceFailure::Lost(detail)) => Err(lost(record, what, &detail)),
            Err(SurfaceFailure::Backend(error)) => Err(error.at(named(record, what))),
        }
    }

    /// Sets how the surface presents, from the next acquisition on. A frame acquired before is stale then.
    ///
    /// Call it at first, when the window's size changes, and when an acquisition is skipped as outdated; between two
    /// frames it may be called at any time. With a side of zero nothing is made natively: frames are skipped until a
    /// configuration with a size. A window that dictates the size of its images may make it another than asked:
    /// [`Configured::extent`] says.
    ///
    /// # Errors
    /// A format, usage, mode or number that the surface does not offer, a surface of another device, a lost surface or
    /// device. Where the driver refuses, the surface has no images, and acquisitions are skipped as outdated.
    pub fn configure<B: Backend>(
        &self,
        device: &mut Device<B>,
        config: &SurfaceConfig<'_>,
    ) -> Result<Configured> {
        let call = "configuration";
        let record = self.record(device, call)?;
        let what = || named(record, call);
        config::check(config, what)?;
        if config.width == 0 || config.height == 0 {
            let extent = (config.width, config.height);
            return Ok(self.pause(device, config, extent, Status::Zero));
        }
        let capabilities = match device.backend.surface_capabilities(self.slot) {
            Ok(capabilities) => capabilities,
            Err(failure) => return Err(self.failed(device, failure, call)),
        };
        let resolved = config::resolve(config, &capabilities, device.limits(), what)?;
        if resolved.is_paused() {
            return Ok(self.pause(device, config, (0, 0), Status::Minimized));
        }
        self.await_former(device)?;
        self.rebuild(device, resolved, call)
    }

    /// A window has one swapchain at a time: one of a surface that was dropped must be gone.
    fn await_former<B: Backend>(&self, device: &mut Device<B>) -> Result<()> {
        let has_former = |device: &Device<B>| {
            let mine = device.surfaces.get(self.slot);
            let others = device.surfaces.records.iter().flatten().filter(|other| other.dropped);
            mine.is_some_and(|mine| others.into_iter().any(|other| other.target.is_same(&mine.target)))
        };
        device.maintain()?;
        if has_former(device) {
            // An image that it acquired for nothing needs a submission to wait for it.
            device.record("former surface")?.submit()?;
            device.wait_idle(LONGEST_FAREWELL)?;
            device.maintain()?;
        }
        Ok(())
    }

    fn pause<B: Backend>(
        &self,
        device: &mut Device<B>,
        config: &SurfaceConfig<'_>,
        extent: (u32, u32),
        status: Status,
    ) -> Configured {
        if let Some(record) = device.surfaces.at(self.slot) {
            record.status = status;
        }
        Configured {
            extent,
            format: config.format,
            present_mode: config.present_mode,
            alpha_mode: config.alpha_mode,
            frames_in_flight: config.frames_in_flight,
            images: 0,
        }
    }

    fn rebuild<B: Backend>(
        &self,
        device: &mut Device<B>,
        mut resolved: Resolved,
        call: &str,
    ) -> Result<Configured> {
        let generation = match device.surfaces.at(self.slot) {
            Some(record) => record.next_generation,
            None => return Err(self.stale(call)),
        };
        let native = NativeSwapchain {
            generation,
            extent: resolved.info.extent,
            format: resolved.info.format,
            view_formats: &resolved.view_formats,
            usage: resolved.usage,
            present_mode: resolved.info.present_mode,
            alpha_mode: resolved.info.alpha_mode,
            frames_in_flight: resolved.info.frames_in_flight,
            images: resolved.info.images,
        };
        let made = device.backend.configure_surface(self.slot, &native);
        device.retire_images(self.slot);
        let Some(record) = device.surfaces.at(self.slot) else { return Err(self.stale(call)) };
        record.next_generation += 1;
        // Whatever came of it, the system has given the old images up.
        record.replace();
        match made {
            Ok(images) => {
                resolved.info.images = images;
                let info = resolved.info.clone();
                record.chain = Some(Chain::new(generation, resolved, images));
                record.status = Status::Ready;
                Ok(info)
            }
            Err(failure) => {
                record.status = Status::Outdated;
                Err(self.failed(device, failure, call))
            }
        }
    }

    /// Takes the next image, or says why there is none. Waits at most `timeout` for an image and for a frame in flight
    /// to complete.
    ///
    /// # Errors
    /// A surface that was not configured, or whose last frame is still held; one of another device; a lost surface or
    /// device.
    pub fn acquire<B: Backend>(&self, device: &mut Device<B>, timeout: Duration) -> Result<Acquired> {
        let call = "acquire";
        self.record(device, call)?;
        device.maintain()?;
        let Some(record) = device.surfaces.at(self.slot) else { return Err(self.stale(call)) };
        match record.status {
            Status::Ready => {}
            Status::Zero => return Ok(Acquired::Skipped(Skip::ZeroExtent)),
            Status::Minimized => return Ok(Acquired::Skipped(Skip::Minimized)),
            Status::Outdated => return Ok(Acquired::Skipped(Skip::Outdated)),
            Status::Unconfigured => {
                return Err(wrong_state(named(record, call), "a configured surface", "one that never was"));
            }
        }
        let Some(chain) = &record.chain else { return Ok(Acquired::Skipped(Skip::Outdated)) };
        match chain.held {
            Some(held) if held.out => {
                let found = format!("frame {}, neither presented nor dropped", held.acquisition);
                return Err(wrong_state(named(record, call), "no frame of the surface in use", found));
            }
            Some(held) if device.backend.keeps_image(self.slot) => return self.hand_out(device, held, call),
            Some(held) => device.forget_image(self.slot, held.image),
            None => {}
        }
        let Some(chain) = device.surfaces.at(self.slot).and_then(|record| record.chain.as_mut()) else {
            return Err(self.stale(call));
        };
        chain.held = None;

        // The CPU may be so many frames ahead, and the semaphore is free again with the frame that had it.
        let begun = Instant::now();
        let (semaphore, last) = (chain.next as u32, chain.ring[chain.next]);
        if last > device.completed {
            match device.backend.wait(last, timeout) {
                Ok(true) => device.poll()?,
                Ok(false) => return Ok(Acquired::Skipped(Skip::Timeout)),
                Err(error) => return Err(device.backend_error(error, "acquire")),
            }
        }
        let left = timeout.saturating_sub(begun.elapsed());
        let (image, fresh, suboptimal) = match device.backend.acquire(self.slot, semaphore, left) {
            Ok(NativeAcquire::Image { image, fresh, suboptimal }) => (image, fresh, suboptimal),
            Ok(NativeAcquire::Skipped(reason)) => {
                if let (Skip::Outdated, Some(record)) = (reason, device.surfaces.at(self.slot)) {
                    record.status = Status::Outdated;
                }
                return Ok(Acquired::Skipped(reason));
            }
            Err(failure) => return Err(self.failed(device, failure, call)),
        };
        if fresh {
            device.forget_image(self.slot, image);
        }
        let Device { surfaces, .. } = device;
        surfaces.last_acquisition += 1;
        let acquisition = surfaces.last_acquisition;
        let chain = surfaces.at(self.slot).and_then(|record| record.chain.as_mut());
        let Some(chain) = chain else { return Err(self.stale(call)) };
        if chain.images.len() <= image as usize {
            chain.images.resize(image as usize + 1, state::Image::default());
        }
        let seen = chain.images[image as usize].presented;
        let suboptimal = suboptimal || chain.suboptimal;
        let held = Held { acquisition, image, semaphore, waited: false, out: false, suboptimal, seen };
        chain.next = (chain.next + 1) % chain.ring.len();
        chain.held = Some(held);
        let stages = chain.wait_stages();
        let (texture, _) = device.image_handles(self.slot, image)?;
        let after = Scope::new(stages, Default::default());
        let acquired = TextureState { layout: Layout::Undefined, after, defined: false };
        device.ledger.set_texture_state(texture.slot(), &WHOLE, acquired);
        self.hand_out(device, held, call)
    }

    /// Makes a frame of the acquired image.
    fn hand_out<B: Backend>(&self, device: &mut Device<B>, held: Held, call: &str) -> Result<Acquired> {
        let (texture, view) = device.image_handles(self.slot, held.image)?;
        let chain = device.surfaces.at(self.slot).and_then(|record| record.chain.as_mut());
        let Some((chain, held)) = chain.and_then(|chain| {
            let info = chain.config.info.clone();
            Some((info, chain.held.as_mut()?))
        }) else {
            return Err(self.stale(call));
        };
        held.out = true;
        Ok(Acquired::Frame(SurfaceFrame {
            device: self.device,
            surface: self.slot,
            acquisition: held.acquisition,
            texture,
            view,
            extent: chain.extent,
            format: chain.format,
            suboptimal: held.suboptimal,
            notes: Some(self.notes.clone()),
        }))
    }

    /// The surface's record, when the device made it and it is not lost.
    fn record<'d, B: Backend>(&self, device: &'d Device<B>, call: &str) -> Result<&'d SurfaceRecord> {
        device.check_lost(call)?;
        if self.device != device.tag {
            return Err(Error::InvalidHandle {
                what: call.into(),
                handle: format!("{self:?}"),
                problem: HandleProblem::Foreign,
            });
        }
        let record = device.surfaces.get(self.slot).filter(|record| record.serial == self.serial);
        let record = record.ok_or_else(|| self.stale(call))?;
        match &record.lost {
            None => Ok(record),
            Some(detail) => Err(lost(record, call, detail)),
        }
    }

    /// Turns a failure into an error, and remembers a loss.
    #[cold]
    fn failed<B: Backend>(&self, device: &mut Device<B>, failure: SurfaceFailure, call: &str) -> Error {
        let Some(record) = device.surfaces.at(self.slot) else { return self.stale(call) };
        match failure {
            SurfaceFailure::Lost(detail) => {
                let error = lost(record, call, &detail);
                record.lost = Some(detail);
                error
            }
            SurfaceFailure::Backend(error) => {
                let what = named(record, call);
                device.backend_error(error, what)
            }
        }
    }

    fn stale(&self, call: &str) -> Error {
        Error::InvalidHandle { what: call.into(), handle: format!("{self:?}"), problem: HandleProblem::Stale }
    }
}

fn named(record: &SurfaceRecord, call: &str) -> String {
    if record.label.is_empty() {
        format!("{call} of an unlabeled surface")
    } else {
        format!("{call} of surface \"{}\"", record.label)
    }
}

fn lost(record: &SurfaceRecord, call: &str, detail: &str) -> Error {
    Error::SurfaceLost { what: named(record, call), detail: detail.into() }
}

impl Surfaces {
    fn get(&self, slot: u32) -> Option<&SurfaceRecord> {
        self.records.get(slot as usize)?.as_ref()
    }

    fn at(&mut self, slot: u32) -> Option<&mut SurfaceRecord> {
        self.records.get_mut(slot as usize)?.as_mut()
    }
}

impl<B: Backend> Device<B> {
    /// Makes a surface of a window, to be configured before frames are acquired.
    ///
    /// # Errors
    /// A window system that the backend does not know or the adapter cannot present to, and what the driver refuses.
    pub fn create_surface(&mut self, label: &str, target: &SurfaceTarget) -> Result<Surface> {
        self.check_lost("create_surface")?;
        self.maintain()?;
        let free = self.surfaces.records.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.surfaces.records.len()) as u32;
        if let Err(error) = self.backend.create_surface(slot, label, target) {
            // A loss is the device's matter, and every later call's.
            return Err(match error {
                Error::DeviceLost { what, detail } => {
                    self.backend_error(BackendError::DeviceLost(detail), what)
                }
                other => other,
            });
        }
        self.surfaces.last_serial += 1;
        let serial = self.surfaces.last_serial;
        let record = SurfaceRecord {
            label: label.into(),
            serial,
            dropped: false,
            lost: None,
            status: Status::Unconfigured,
            chain: None,
            old: Vec::new(),
            next_generation: 0,
            target: target.clone(),
        };
        match free {
            Some(free) => self.surfaces.records[free] = Some(record),
            None => self.surfaces.records.push(Some(record)),
        }
        Ok(Surface { device: self.tag, slot, serial, notes: self.surfaces.notes.clone() })
    }

    /// The owner was dropped.
    fn drop_surface(&mut self, serial: u64) {
        let is_it =
            |entry: &Option<SurfaceRecord>| entry.as_ref().is_some_and(|entry| entry.serial == serial);
        let Some(slot) = self.surfaces.records.iter().position(is_it) else { return };
        let slot = slot as u32;
        self.retire_images(slot);
        if let Some(record) = self.surfaces.at(slot) {
            record.dropped = true;
            record.replace();
        }
    }

    /// Reads what was dropped of surfaces.
    pub(crate) fn collect_surface_drops(&mut self) {
        let mut dropped = std::mem::take(&mut self.surfaces.dropped);
        self.surfaces.notes.take(&mut dropped);
        for note in dropped.drain(..) {
            match note {
                Note::Surface(serial) => self.drop_surface(serial),
                Note::Frame(acquisition) => self.surfaces.give_back(acquisition),
            }
        }
        self.surfaces.dropped = dropped;
    }

    /// Destroys what surfaces have left behind as far as it can go.
    pub(crate) fn retire_surfaces(&mut self) {
        let Self { surfaces, registry, backend, completed, .. } = self;
        for (slot, entry) in surfaces.records.iter_mut().enumerate() {
            let Some(record) = entry else { continue };
            let slot = slot as u32;
            record.forget_textures(&registry.textures);
            if !record.old.is_empty() {
                let mut going = smallvec::SmallVec::<[(u32, bool); 4]>::new();
                record.take_old(
                    *completed,
                    |generation| backend.is_presented(slot, generation),
                    |generation, proven| going.push((generation, proven)),
                );
                for (generation, proven) in going {
                    backend.destroy_swapchain(slot, generation, proven);
                }
            }
            if record.dropped && record.old.is_empty() {
                backend.destroy_surface(slot);
                *entry = None;
            }
        }
    }

    /// Destroys every surface at once; the GPU is idle and the textures are gone.
    pub(crate) fn destroy_surfaces(&mut self) {
        for (slot, entry) in self.surfaces.records.iter_mut().enumerate() {
            let Some(record) = entry else { continue };
            record.replace();
            for old in record.old.drain(..) {
                self.backend.destroy_swapchain(slot as u32, old.generation, !old.presented);
            }
            self.backend.destroy_surface(slot as u32);
            *entry = None;
        }
    }

    /// Makes the handles of a surface's images stale.
    fn retire_images(&mut self, surface: u32) {
        let Self { surfaces, registry, submitted, .. } = self;
        let Some(chain) = surfaces.at(surface).and_then(|record| record.chain.as_mut()) else { return };
        for image in &mut chain.images {
            retire_image(registry, image, *submitted);
        }
    }

    /// Makes the handles of one image stale; it gets new ones when it is used.
    fn forget_image(&mut self, surface: u32, image: u32) {
        let Self { surfaces, registry, submitted, .. } = self;
        let chain = surfaces.at(surface).and_then(|record| record.chain.as_mut());
        if let Some(image) = chain.and_then(|chain| chain.images.get_mut(image as usize)) {
            retire_image(registry, image, *submitted);
        }
    }

    /// The texture and view of an image, made when it is acquired for the first time.
    fn image_handles(&mut self, surface: u32, image: u32) -> Result<(Texture, TextureView)> {
        let record = self.surfaces.get(surface);
        let Some((record, chain)) = record.and_then(|record| Some((record, record.chain.as_ref()?))) else {
            return Err(wrong_state("acquire", "a configured surface", "none"));
        };
        if let Some(handles) = chain.images.get(image as usize).and_then(|image| image.handles) {
            return Ok(handles);
        }
        let label = format!("{} image {image}", record.label);
        let (width, height) = chain.config.info.extent;
        let view_formats = chain.config.view_formats.clone();
        let desc = TextureDesc {
            label: &label,
            size: Extent3d { width, height, depth_or_array_layers: 1 },
            mips: 1,
            samples: 1,
            dimension: TextureDimension::D2,
            format: chain.config.info.format,
            usage: chain.config.usage,
            contents: Contents::Tracked,
            view_formats: &view_formats,
        };
        let place = SurfaceImage { surface, generation: chain.generation, image };
        self.make_room(ResourceKind::Texture, 0)?;
        self.make_room(ResourceKind::TextureView, 0)?;
        let slot = self.registry.textures.next_slot()?;
        if let Err(error) = self.backend.create_surface_texture(slot, place, &desc) {
            return Err(self.backend_error(error, label));
        }
        let state = TextureState { layout: Layout::Undefined, after: Scope::NONE, defined: false };
        self.ledger.import_texture(slot, Aspects::COLOR, 1, 1, state);
        let texture: Texture = self.registry.textures.insert(
            slot,
            TextureRecord {
                label: desc.label.into(),
                size: desc.size,
                mips: 1,
                samples: 1,
                dimension: desc.dimension,
                format: desc.format,
                usage: desc.usage,
                contents: desc.contents,
                view_formats: desc.view_formats.into(),
                written: Written::new(&desc),
                bytes: 0,
                surface: true,
                heap: None,
            },
        );
        let view =
            self.create_texture_view(texture, &TextureViewDesc { label: &label, ..Default::default() });
        let chain = self.surfaces.at(surface).and_then(|record| record.chain.as_mut());
        if let Some(chain) = chain {
            chain.textures.push(texture);
            match view {
                Ok(view) => {
                    let handles = (texture, view.leak());
                    chain.images[image as usize].handles = Some(handles);
                    return Ok(handles);
                }
                Err(error) => {
                    self.registry.destroy(ResourceKind::Texture, slot, texture.generation(), self.submitted);
                    return Err(error);
                }
            }
        }
        Err(wrong_state("acquire", "a configured surface", "none"))
    }
}

fn retire_image(registry: &mut crate::registry::Registry, image: &mut state::Image, submitted: u64) {
    if let Some((texture, view)) = image.handles.take() {
        registry.destroy(ResourceKind::TextureView, view.slot(), view.generation(), submitted);
        registry.destroy(ResourceKind::Texture, texture.slot(), texture.generation(), submitted);
    }
}
