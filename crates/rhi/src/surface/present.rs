//! Presenting: the last use of a frame, what the submission waits for and signals, and what comes after it.

use smallvec::SmallVec;

use super::native::{FrameUse, NativePresented, SurfaceFailure, SurfaceImage};
use super::state::{Status, SurfaceRecord, Surfaces};
use super::{SurfaceFrame, WHOLE, named};
use crate::backend::Backend;
use crate::device::Device;
use crate::error::{Error, HandleProblem, Result, state};
use crate::plan::{Layout, Ledger, ResourceUse, TextureUse};
use crate::record::Recorder;

/// Frames of one recording. Almost always one.
pub(crate) type Frames = SmallVec<[SurfaceFrame; 1]>;

/// What a submission does with acquired images.
pub(crate) type FrameUses = SmallVec<[FrameUse; 2]>;

impl<B: Backend> Recorder<'_, B> {
    /// Declares the last use of a frame: it goes to the screen when this recording is submitted. No later pass of the
    /// recording may use the image.
    ///
    /// The outcome is known later: the surface's next acquisition is skipped as outdated, or fails as lost, when this
    /// frame was not shown. A recording that is dropped or refused gives its frames back to their surfaces.
    ///
    /// # Errors
    /// A frame that its surface's configuration or destruction has made stale, one of another device, and one that
    /// nothing was drawn to.
    pub fn present(&mut self, frame: SurfaceFrame) -> Result<()> {
        self.check("present")?;
        let result = self.present_inner(&frame);
        let result = self.keep(result);
        if result.is_ok() {
            self.frames.push(frame);
        }
        result
    }

    fn present_inner(&mut self, frame: &SurfaceFrame) -> Result<()> {
        let device = &*self.device;
        let problem = if frame.device != device.tag {
            Some(HandleProblem::Foreign)
        } else if !device.surfaces.holds(frame) {
            Some(HandleProblem::Stale)
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(Error::InvalidHandle {
                what: "present".into(),
                handle: format!("{frame:?}"),
                problem,
            });
        }
        let usage = ResourceUse::Texture { texture: frame.texture, range: WHOLE, usage: TextureUse::Present };
        self.declare(&[usage], &[], "present")
    }
}

impl Surfaces {
    /// Whether the frame is what its surface has acquired last.
    fn holds(&self, frame: &SurfaceFrame) -> bool {
        let chain = self.get(frame.surface).and_then(|record| record.chain.as_ref());
        chain.and_then(|chain| chain.held).is_some_and(|held| held.acquisition == frame.acquisition)
    }

    /// What the planned recording does with the images of surfaces.
    pub(crate) fn frame_uses(&self, ledger: &Ledger, frames: &Frames) -> Result<FrameUses> {
        let mut uses = FrameUses::new();
        for (slot, record) in self.records.iter().enumerate() {
            let Some(record) = record else { continue };
            let surface = slot as u32;
            for old in &record.old {
                if let Some((image, semaphore)) = old.undrained {
                    let image = SurfaceImage { surface, generation: old.generation, image };
                    let wait = Some((semaphore, crate::plan::Stages::COLOR_OUTPUT));
                    uses.push(FrameUse { image, wait, present: false });
                }
            }
            let Some(chain) = &record.chain else { continue };
            for (index, image) in chain.images.iter().enumerate() {
                let Some((texture, _)) = image.handles else { continue };
                let Some(layout) = ledger.planned_layout(texture.slot()) else { continue };
                let held = chain.held.filter(|held| held.image as usize == index);
                let Some(held) = held else {
                    return Err(escaped(
                        record,
                        "an acquired image",
                        format!("image {index}, presented before"),
                    ));
                };
                let present = frames.iter().any(|frame| frame.acquisition == held.acquisition);
                if present && layout != Layout::Present {
                    let found = format!("image {index} used after it was presented");
                    return Err(escaped(record, "no use after the presentation", found));
                }
                let image = SurfaceImage { surface, generation: chain.generation, image: held.image };
                let wait = (!held.waited).then(|| (held.semaphore, chain.wait_stages()));
                uses.push(FrameUse { image, wait, present });
            }
        }
        Ok(uses)
    }
}

#[cold]
fn escaped(record: &SurfaceRecord, expected: &str, found: String) -> Error {
    state(named(record, "submission with images"), expected, found)
}

impl<B: Backend> Device<B> {
    /// The submission was accepted: notes what it waits for, and presents.
    pub(crate) fn frames_submitted(&mut self, uses: &FrameUses, frames: &mut Frames, ordinal: u64) {
        for usage in uses {
            let SurfaceImage { surface, generation, image } = usage.image;
            let Some(record) = self.surfaces.at(surface) else { continue };
            if let Some(old) = record.old.iter_mut().find(|old| old.generation == generation) {
                old.undrained = None;
                old.drained = ordinal;
                continue;
            }
            let Some(chain) = &mut record.chain else { continue };
            let Some(held) = &mut chain.held else { continue };
            let first = !std::mem::replace(&mut held.waited, true);
            let seen = held.seen;
            chain.ring[held.semaphore as usize] = ordinal;
            if usage.present {
                chain.held = None;
                chain.presented = true;
                chain.images[image as usize].presented = true;
            }
            if first {
                record.waited(seen, ordinal);
            }
            if usage.present {
                self.present_image(surface, image);
            }
        }
        frames.iter_mut().for_each(|frame| frame.notes = None);
        frames.clear();
    }

    fn present_image(&mut self, surface: u32, image: u32) {
        let outcome = self.backend.present(surface, image);
        let Some(record) = self.surfaces.at(surface) else { return };
        match outcome {
            Ok(NativePresented::Shown { suboptimal }) => {
                if let Some(chain) = &mut record.chain {
                    chain.suboptimal |= suboptimal;
                }
            }
            Ok(NativePresented::Outdated) => record.status = Status::Outdated,
            Err(SurfaceFailure::Lost(detail)) => record.lost = Some(detail),
            Err(SurfaceFailure::Backend(error)) => {
                // The submission stands. A lost device says so at the next call; anything else, at the next frame.
                let what = named(record, "presentation");
                record.status = Status::Outdated;
                let error = self.backend_error(error, what);
                tracing::warn!(%error, "a frame was not shown");
            }
        }
    }
}
