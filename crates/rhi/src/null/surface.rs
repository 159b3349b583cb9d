//! Windows that follow a script: each native call is logged, and answers what a test has planned for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Null;
use crate::backend::{Backend, NativeResult};
use crate::desc::TextureDesc;
use crate::error::{Error, unsupported};
use crate::surface::{
    FrameUse, NativeAcquire, NativePresented, NativeSwapchain, Skip, SurfaceBackend, SurfaceCapabilities,
    SurfaceFailure, SurfaceImage, SurfaceTarget,
};
use crate::types::{CompositeAlphaMode, PresentMode, TextureFormat, TextureUsages};

/// A window of the null backend, and the handle by which tests steer it. Clones are one window; give one to
/// [`SurfaceTarget::custom`](crate::surface::SurfaceTarget::custom).
///
/// Without a plan, images come in turn and everything is shown.
#[derive(Debug, Clone)]
pub struct NullWindow {
    shared: Arc<Mutex<State>>,
}

/// What acquiring or presenting is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullAnswer {
    /// This image; when presenting, the number does not matter.
    Image(u32),
    /// This image, and it fits badly.
    Suboptimal(u32),
    /// None, for this reason. When presenting, any reason counts as outdated.
    Skip(Skip),
    /// The surface is lost.
    Lost,
}

/// A native call about a surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NullSurfaceCall {
    /// `configure_surface`: generation, extent, format and least images.
    Configure(u32, (u32, u32), TextureFormat, u32),
    /// `acquire`: the semaphore, and the image if there was one.
    Acquire(u32, Option<u32>),
    /// `submit` with an image of the surface: its ordinal.
    Submit(u64, FrameUse),
    /// `present`: the image, whose semaphore it waits for.
    Present(u32),
    /// `destroy_swapchain`: generation, and whether presentation was known to be done.
    DestroySwapchain(u32, bool),
    /// `destroy_surface`.
    Destroy,
}

#[derive(Debug)]
struct State {
    capabilities: SurfaceCapabilities,
    presentable: bool,
    fences: bool,
    keeps_images: bool,
    shown: u64,
    acquires: VecDeque<NullAnswer>,
    presents: VecDeque<NullAnswer>,
    fail_configure: Option<SurfaceFailure>,
    log: Vec<NullSurfaceCall>,
    images: u32,
    next: u32,
    /// By generation, how many presents the test has not let finish.
    pending: Vec<(u32, u64)>,
    generation: u32,
    presented: u64,
}

impl NullWindow {
    /// A window with a content area of this size, which follows what is presented.
    pub fn new(width: u32, height: u32) -> Self {
        let capabilities = SurfaceCapabilities {
            formats: vec![TextureFormat::Bgra8UnormSrgb, TextureFormat::Bgra8Unorm],
            present_modes: vec![PresentMode::Fifo, PresentMode::Mailbox],
            alpha_modes: vec![CompositeAlphaMode::Opaque],
            usages: TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
            view_formats: true,
            current_extent: Some((width, height)),
            min_extent: (1, 1),
            max_extent: (4096, 4096),
            min_images: 2,
            max_images: 8,
        };
        let state = State {
            capabilities,
            presentable: true,
            fences: false,
            keeps_images: true,
            shown: u64::MAX,
            acquires: VecDeque::new(),
            presents: VecDeque::new(),
            fail_configure: None,
            log: Vec::new(),
            images: 0,
            next: 0,
            pending: Vec::new(),
            generation: 0,
            presented: 0,
        };
        Self { shared: Arc::new(Mutex::new(state)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what the surface offers.
    pub fn set_capabilities(&self, change: impl FnOnce(&mut SurfaceCapabilities)) {
        change(&mut self.lock().capabilities);
    }

    /// Whether the adapter can present to the window; at first it can.
    pub fn set_presentable(&self, on: bool) {
        self.lock().presentable = on;
    }

    /// Whether the backend has present fences. With them, presentation is done only as [`Self::finish_presents`] says.
    pub fn set_fences(&self, on: bool) {
        let mut state = self.lock();
        state.fences = on;
        state.shown = if on { state.presented } else { u64::MAX };
    }

    /// Whether acquired images stay until they are presented, as they do at first. A browser takes them back.
    pub fn set_keeps_images(&self, on: bool) {
        self.lock().keeps_images = on;
    }

    /// Lets every present so far be done.
    pub fn finish_presents(&self) {
        let mut state = self.lock();
        state.shown = state.presented;
    }

    /// Plans the answers of the next acquisitions, after those that are planned already.
    pub fn plan_acquires(&self, answers: &[NullAnswer]) {
        self.lock().acquires.extend(answers);
    }

    /// Plans the answers of the next presents.
    pub fn plan_presents(&self, answers: &[NullAnswer]) {
        self.lock().presents.extend(answers);
    }

    /// Makes the next configuration fail.
    pub fn fail_configure(&self, failure: SurfaceFailure) {
        self.lock().fail_configure = Some(failure);
    }

    /// Takes the calls logged since the last time.
    pub fn take_log(&self) -> Vec<NullSurfaceCall> {
        std::mem::take(&mut self.lock().log)
    }

    pub(super) fn is_presentable(&self) -> bool {
        self.lock().presentable
    }

    pub(super) fn capabilities(&self) -> SurfaceCapabilities {
        self.lock().capabilities.clone()
    }

    pub(super) fn configure(&self, swapchain: &NativeSwapchain<'_>) -> Result<u32, SurfaceFailure> {
        let mut state = self.lock();
        let &NativeSwapchain { generation, extent, format, images, .. } = swapchain;
        assert!(extent.0 > 0 && extent.1 > 0, "null backend: configure_surface: extent {extent:?}");
        state.log.push(NullSurfaceCall::Configure(generation, extent, format, images));
        if let Some(failure) = state.fail_configure.take() {
            return Err(failure);
        }
        state.images = images;
        state.next = 0;
        state.generation = generation;
        Ok(images)
    }

    pub(super) fn acquire(&self, semaphore: u32) -> Result<NativeAcquire, SurfaceFailure> {
        let mut state = self.lock();
        let turn = state.next % state.images.max(1);
        let answer = state.acquires.pop_front().unwrap_or(NullAnswer::Image(turn));
        let (image, suboptimal) = match answer {
            NullAnswer::Image(image) => (image, false),
            NullAnswer::Suboptimal(image) => (image, true),
            NullAnswer::Skip(reason) => {
                state.log.push(NullSurfaceCall::Acquire(semaphore, None));
                return Ok(NativeAcquire::Skipped(reason));
            }
            NullAnswer::Lost => {
                state.log.push(NullSurfaceCall::Acquire(semaphore, None));
                return Err(SurfaceFailure::Lost("lost by the test".into()));
            }
        };
        assert!(image < state.images, "null backend: acquire: image {image} of {}", state.images);
        state.next = image + 1;
        state.log.push(NullSurfaceCall::Acquire(semaphore, Some(image)));
        Ok(NativeAcquire::Image { image, fresh: false, suboptimal })
    }

    pub(super) fn submit(&self, ordinal: u64, usage: FrameUse) {
        self.lock().log.push(NullSurfaceCall::Submit(ordinal, usage));
    }

    pub(super) fn present(&self, image: u32) -> Result<NativePresented, SurfaceFailure> {
        let mut state = self.lock();
        state.log.push(NullSurfaceCall::Present(image));
        state.presented += 1;
        let (generation, presented) = (state.generation, state.presented);
        match state.pending.iter_mut().find(|(of, _)| *of == generation) {
            Some((_, last)) => *last = presented,
            None => state.pending.push((generation, presented)),
        }
        match state.presents.pop_front().unwrap_or(NullAnswer::Image(image)) {
            NullAnswer::Image(_) => Ok(NativePresented::Shown { suboptimal: false }),
            NullAnswer::Suboptimal(_) => Ok(NativePresented::Shown { suboptimal: true }),
            NullAnswer::Skip(_) => Ok(NativePresented::Outdated),
            NullAnswer::Lost => Err(SurfaceFailure::Lost("lost by the test".into())),
        }
    }

    pub(super) fn is_presented(&self, generation: u32) -> Option<bool> {
        let state = self.lock();
        let last = state.pending.iter().find(|(of, _)| *of == generation).map_or(0, |(_, last)| *last);
        state.fences.then_some(last <= state.shown)
    }

    pub(super) fn destroy_swapchain(&self, generation: u32, presented: bool) {
        self.lock().log.push(NullSurfaceCall::DestroySwapchain(generation, presented));
    }

    pub(super) fn destroy(&self) {
        self.lock().log.push(NullSurfaceCall::Destroy);
    }
}

impl Null {
    /// The window of a surface. Panics when there is none.
    pub(super) fn window(&self, call: &str, slot: u32) -> &NullWindow {
        match self.surfaces.get(slot as usize) {
            Some(Some(window)) => window,
            _ => panic!("null backend: {call}: surface slot {slot} is empty"),
        }
    }
}

impl SurfaceBackend for Null {
    fn create_surface(&mut self, slot: u32, label: &str, target: &SurfaceTarget) -> Result<(), Error> {
        self.shared.count(1);
        let what = || format!("surface \"{label}\"");
        self.shared.lock().step().map_err(|error| error.at(what()))?;
        let window = target.custom_as::<NullWindow>().filter(|window| window.is_presentable());
        let Some(window) = window else {
            let detail = format!("{target:?} was given");
            return Err(unsupported(what(), "a window of the null backend", detail));
        };
        let slot = slot as usize;
        if self.surfaces.len() <= slot {
            self.surfaces.resize(slot + 1, None);
        }
        assert!(self.surfaces[slot].is_none(), "null backend: create_surface: slot {slot} is taken");
        self.surfaces[slot] = Some(window.clone());
        Ok(())
    }

    fn destroy_surface(&mut self, slot: u32) {
        self.shared.count(1);
        self.window("destroy_surface", slot).destroy();
        self.surfaces[slot as usize] = None;
    }

    fn surface_capabilities(&self, slot: u32) -> Result<SurfaceCapabilities, SurfaceFailure> {
        self.shared.count(1);
        self.shared.lock().step()?;
        Ok(self.window("surface_capabilities", slot).capabilities())
    }

    fn configure_surface(
        &mut self,
        slot: u32,
        swapchain: &NativeSwapchain<'_>,
    ) -> Result<u32, SurfaceFailure> {
        self.shared.count(1);
        self.shared.lock().step()?;
        self.window("configure_surface", slot).configure(swapchain)
    }

    fn destroy_swapchain(&mut self, slot: u32, generation: u32, presented: bool) {
        self.shared.count(1);
        self.window("destroy_swapchain", slot).destroy_swapchain(generation, presented);
    }

    fn is_presented(&mut self, slot: u32, generation: u32) -> Option<bool> {
        self.shared.count(1);
        self.window("is_presented", slot).is_presented(generation)
    }

    fn acquire(
        &mut self,
        slot: u32,
        semaphore: u32,
        _timeout: Duration,
    ) -> Result<NativeAcquire, SurfaceFailure> {
        self.shared.count(1);
        self.shared.lock().step()?;
        self.window("acquire", slot).acquire(semaphore)
    }

    fn keeps_image(&self, slot: u32) -> bool {
        self.window("keeps_image", slot).lock().keeps_images
    }

    fn create_surface_texture(
        &mut self,
        slot: u32,
        image: SurfaceImage,
        desc: &TextureDesc<'_>,
    ) -> NativeResult {
        self.window("create_surface_texture", image.surface);
        self.create_texture(slot, desc)
    }

    fn present(&mut self, slot: u32, image: u32) -> Result<NativePresented, SurfaceFailure> {
        self.shared.count(1);
        self.shared.lock().step()?;
        self.window("present", slot).present(image)
    }
}
