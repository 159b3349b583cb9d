//! The boundary of surfaces: what a backend is told and what it answers.
//!
//! Nothing here is decided by a backend: which semaphore an acquisition signals, which submission waits for it, what a
//! present waits for, and when an old swapchain can go. An API that synchronizes presentation by itself ignores the
//! numbers. The contracts:
//!
//! - **Swapchains** of a surface have generations, which count up. A new one is made while the old one is still there,
//!   and replaces it for `acquire` and `present`; the old one lives until `destroy_swapchain`.
//! - **Acquire semaphores** are numbered below [`NativeSwapchain::frames_in_flight`], per generation. A number is used
//!   again only after the submission that waited for it has completed.
//! - **Present semaphores** belong to images: the submission with [`FrameUse::present`] signals the image's, and
//!   `present` of the image waits for it. It comes before any other use of the image.
//! - **Textures** of images are created with `create_surface_texture` and destroyed with `destroy_texture`, which leaves
//!   the image itself alone. All textures of a generation are gone before its `destroy_swapchain`.

use std::time::Duration;

use super::{Skip, SurfaceCapabilities, SurfaceTarget};
use crate::backend::NativeResult;
use crate::desc::TextureDesc;
use crate::error::{BackendError, Error};
use crate::plan::Stages;
use crate::types::{CompositeAlphaMode, PresentMode, TextureFormat, TextureUsages};

/// A swapchain to make, checked against what the surface offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeSwapchain<'a> {
    /// Its number; the surface's current one is the one made last.
    pub generation: u32,
    /// Pixels, neither side zero.
    pub extent: (u32, u32),
    /// The format of the images.
    pub format: TextureFormat,
    /// Other formats of views.
    pub view_formats: &'a [TextureFormat],
    /// What the images are used for.
    pub usage: TextureUsages,
    /// Never an `Auto` mode.
    pub present_mode: PresentMode,
    /// Never `Auto`.
    pub alpha_mode: CompositeAlphaMode,
    /// How many acquire semaphores there are.
    pub frames_in_flight: u32,
    /// The least number of images; a backend raises it to what the present mode needs.
    pub images: u32,
}

/// What acquiring came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeAcquire {
    /// An image, by its index in the swapchain.
    Image {
        /// The index.
        image: u32,
        /// Whether the index names another native image than before, so that textures and views of the old one must
        /// be made anew.
        fresh: bool,
        /// Whether the image no longer fits the window well.
        suboptimal: bool,
    },
    /// None, for this reason.
    Skipped(Skip),
}

/// What presenting came to. Whatever it is, the image is the system's and the semaphore is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativePresented {
    /// On its way to the screen.
    Shown {
        /// Whether the image no longer fits the window well.
        suboptimal: bool,
    },
    /// Not shown: the swapchain no longer fits the window at all.
    Outdated,
}

/// Why a surface failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SurfaceFailure {
    /// The surface is lost; its device is not.
    Lost(String),
    /// Something else, which is the device's matter.
    Backend(BackendError),
}

impl From<BackendError> for SurfaceFailure {
    fn from(error: BackendError) -> Self {
        SurfaceFailure::Backend(error)
    }
}

/// An image of a swapchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SurfaceImage {
    /// The surface's slot.
    pub surface: u32,
    /// The swapchain.
    pub generation: u32,
    /// The index of the image.
    pub image: u32,
}

/// How a submission uses an acquired image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameUse {
    /// The image.
    pub image: SurfaceImage,
    /// The acquire semaphore that these stages of the submission wait for; `None` when an earlier one has.
    pub wait: Option<(u32, Stages)>,
    /// Whether the submission signals the image's present semaphore; `present` follows.
    pub present: bool,
}

/// What a backend does for surfaces; the contracts are in the types that it speaks in.
pub trait SurfaceBackend {
    /// Makes a surface.
    fn create_surface(&mut self, slot: u32, label: &str, target: &SurfaceTarget) -> Result<(), Error>;
    /// Destroys a surface; its swapchains are gone.
    fn destroy_surface(&mut self, slot: u32);
    /// What the surface offers now.
    fn surface_capabilities(&self, slot: u32) -> Result<SurfaceCapabilities, SurfaceFailure>;
    /// Makes the surface's next swapchain and answers how many images it has, zero when that is not known. The former
    /// one stays until it is destroyed; it gives no more images, even when this fails.
    fn configure_surface(
        &mut self,
        slot: u32,
        swapchain: &NativeSwapchain<'_>,
    ) -> Result<u32, SurfaceFailure>;
    /// Destroys a swapchain: the GPU is done with it. `presented` says that presentation is too; otherwise the backend
    /// sees to it, by waiting where nothing better is known.
    fn destroy_swapchain(&mut self, slot: u32, generation: u32, presented: bool);
    /// Whether presentation is done with all that was presented of a swapchain; `None` when the API does not say.
    fn is_presented(&mut self, slot: u32, generation: u32) -> Option<bool>;
    /// Takes an image of the current swapchain, and lets its readiness signal an acquire semaphore. An API may wait
    /// longer or shorter than `timeout`, where it does not let one choose.
    fn acquire(
        &mut self,
        slot: u32,
        semaphore: u32,
        timeout: Duration,
    ) -> Result<NativeAcquire, SurfaceFailure>;
    /// Whether an acquired image that was not presented is still there to be drawn to. An API that takes such images back
    /// by itself says no, and is asked for another.
    fn keeps_image(&self, _slot: u32) -> bool {
        true
    }
    /// Enters an image of a swapchain, acquired now, as a texture.
    fn create_surface_texture(
        &mut self,
        slot: u32,
        image: SurfaceImage,
        desc: &TextureDesc<'_>,
    ) -> NativeResult;
    /// Presents an image of the current swapchain after the submission that said so.
    fn present(&mut self, slot: u32, image: u32) -> Result<NativePresented, SurfaceFailure>;
}
