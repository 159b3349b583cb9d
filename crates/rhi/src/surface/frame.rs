//! An acquired image, and why there is none.

use std::fmt;

use crate::handle::{DeviceTag, Texture, TextureView};
use crate::surface::notes::{Note, Notes};
use crate::types::TextureFormat;

/// What [`Surface::acquire`](super::Surface::acquire) answers.
#[derive(Debug)]
#[must_use]
pub enum Acquired {
    /// An image to draw to.
    Frame(SurfaceFrame),
    /// There is no image now. Nothing is wrong and nothing is lost: do what the reason says, and go on.
    Skipped(Skip),
}

impl Acquired {
    /// The frame, if there is one.
    pub fn frame(self) -> Option<SurfaceFrame> {
        match self {
            Acquired::Frame(frame) => Some(frame),
            Acquired::Skipped(_) => None,
        }
    }
}

/// Why there is no image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Skip {
    /// The surface was configured with a side of zero. Configure it again when the window has a size.
    ZeroExtent,
    /// The window has no content area now, as when it is minimized. Configure it again when it has.
    Minimized,
    /// The surface is no longer what it was configured for: configure it again.
    Outdated,
    /// Neither an image nor a frame in flight became free in time. Try again.
    Timeout,
    /// The window cannot be seen, and the system gives no image. Try again later.
    Occluded,
}

/// An acquired image of a surface. Draw to [`view`](Self::view), or import [`texture`](Self::texture) into a graph, then
/// hand it to [`Recorder::present`](crate::Recorder::present). Its contents are undefined at first.
///
/// A frame that is dropped instead is not lost: the next [`acquire`](super::Surface::acquire) answers the same image
/// again, or another where the system has taken it back, as browsers do. A frame that the surface's next configuration has made stale can only be dropped.
#[must_use = "a frame that is not presented is answered again by the next acquire"]
pub struct SurfaceFrame {
    pub(super) device: DeviceTag,
    pub(super) surface: u32,
    pub(super) acquisition: u64,
    pub(super) texture: Texture,
    pub(super) view: TextureView,
    pub(super) extent: (u32, u32),
    pub(super) format: TextureFormat,
    pub(super) suboptimal: bool,
    /// Taken when the frame is presented.
    pub(super) notes: Option<Notes>,
}

impl SurfaceFrame {
    /// The image. It belongs to the surface: it cannot be destroyed, and no pass may use it once it was presented.
    pub fn texture(&self) -> Texture {
        self.texture
    }

    /// A view of the image in its own format; it belongs to the surface too.
    pub fn view(&self) -> TextureView {
        self.view
    }

    /// Pixels.
    pub fn extent(&self) -> (u32, u32) {
        self.extent
    }

    /// The image's format.
    pub fn format(&self) -> TextureFormat {
        self.format
    }

    /// Whether the surface still presents but no longer fits the window well. Configure it again after this frame.
    pub fn is_suboptimal(&self) -> bool {
        self.suboptimal
    }
}

impl Drop for SurfaceFrame {
    fn drop(&mut self) {
        if let Some(notes) = &self.notes {
            notes.push(Note::Frame(self.acquisition));
        }
    }
}

impl fmt::Debug for SurfaceFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = self.extent;
        write!(f, "frame {} of surface {}, {width}x{height}", self.acquisition, self.surface)
    }
}
