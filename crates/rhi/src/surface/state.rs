//! What the device knows of its surfaces, and when what they leave behind can go.
//!
//! A surface has one *chain*, the images of its current configuration, and *old* ones that wait. An old chain goes when
//!
//! 1. the textures of its images are gone, which waits for the GPU and for everything made of them;
//! 2. each of its acquire semaphores was waited for: one that was signaled for nothing joins the next submission;
//! 3. presentation is done with its images. That is not what the GPU's completion says. Where the backend has present
//!    fences it knows. Elsewhere it follows from a newer chain: when an image of it was presented, acquired again and
//!    used by a submission that has completed, everything presented before is off the screen.

use smallvec::SmallVec;

use super::config::{MAX_FRAMES_IN_FLIGHT, Resolved};
use super::notes::{Note, Notes};
use super::target::SurfaceTarget;
use crate::handle::{Texture, TextureView};
use crate::plan::Stages;
use crate::registry::TextureRecord;
use crate::table::Table;
use crate::types::TextureUsages;

/// Old chains that wait for presentation without fences. One more, and the backend must wait instead.
const MOST_UNPROVEN: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Unconfigured,
    /// A side of the configuration was zero.
    Zero,
    /// The window has no content area.
    Minimized,
    Ready,
    Outdated,
}

/// One surface.
#[derive(Debug)]
pub(super) struct SurfaceRecord {
    pub label: Box<str>,
    /// Tells the slot's occupants apart.
    pub serial: u64,
    /// The owner was dropped.
    pub dropped: bool,
    pub lost: Option<String>,
    pub status: Status,
    pub chain: Option<Chain>,
    pub old: Vec<OldChain>,
    pub next_generation: u32,
    /// Keeps the window; the backend's objects are gone before it.
    pub target: SurfaceTarget,
}

/// The images of the current configuration.
#[derive(Debug)]
pub(super) struct Chain {
    pub generation: u32,
    pub config: Resolved,
    pub images: Vec<Image>,
    /// By acquire semaphore, the last submission of the frame that it was for.
    pub ring: SmallVec<[u64; MAX_FRAMES_IN_FLIGHT as usize]>,
    pub next: usize,
    pub held: Option<Held>,
    pub suboptimal: bool,
    pub presented: bool,
    /// Textures of its images, those that still retire included.
    pub textures: SmallVec<[Texture; 8]>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Image {
    /// Its texture and view, once it was acquired.
    pub handles: Option<(Texture, TextureView)>,
    pub presented: bool,
}

/// The acquired image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub acquisition: u64,
    pub image: u32,
    pub semaphore: u32,
    /// Whether a submission waited for the semaphore.
    pub waited: bool,
    /// Whether the program has the frame.
    pub out: bool,
    pub suboptimal: bool,
    /// Whether the image had been presented before.
    pub seen: bool,
}

/// A chain that was replaced.
#[derive(Debug)]
pub(super) struct OldChain {
    pub generation: u32,
    pub textures: SmallVec<[Texture; 8]>,
    /// Whether anything was presented.
    pub presented: bool,
    /// An acquired image that no submission waited for, and its semaphore.
    pub undrained: Option<(u32, u32)>,
    /// The submission that waits for the semaphore of such an image.
    pub drained: u64,
    /// The submission whose completion says that presentation is done.
    pub proof: Option<u64>,
}

impl Chain {
    pub(super) fn new(generation: u32, config: Resolved, images: u32) -> Self {
        Self {
            generation,
            images: vec![Image::default(); images as usize],
            ring: SmallVec::from_elem(0, config.info.frames_in_flight as usize),
            config,
            next: 0,
            held: None,
            suboptimal: false,
            presented: false,
            textures: SmallVec::new(),
        }
    }

    /// The stages at which the first use waits for the image; barriers chain the real ones to them.
    pub(super) fn wait_stages(&self) -> Stages {
        let usage = self.config.usage;
        if usage.contains(TextureUsages::RENDER_ATTACHMENT) {
            Stages::COLOR_OUTPUT
        } else if usage.contains(TextureUsages::COPY_DST) {
            Stages::TRANSFER
        } else {
            Stages::COMPUTE_SHADER
        }
    }

    fn retire(self) -> OldChain {
        OldChain {
            generation: self.generation,
            textures: self.textures,
            presented: self.presented,
            undrained: self.held.filter(|held| !held.waited).map(|held| (held.image, held.semaphore)),
            drained: 0,
            proof: None,
        }
    }
}

impl SurfaceRecord {
    /// Puts the current chain with the old ones.
    pub(super) fn replace(&mut self) {
        if let Some(chain) = self.chain.take() {
            self.old.push(chain.retire());
        }
    }

    /// A submission has waited for an acquired image.
    pub(super) fn waited(&mut self, seen: bool, ordinal: u64) {
        if seen {
            for old in &mut self.old {
                old.proof.get_or_insert(ordinal);
            }
        }
    }

    /// Forgets the textures that are gone from the registry.
    pub(super) fn forget_textures(&mut self, table: &Table<TextureRecord>) {
        let old = self.old.iter_mut().map(|old| &mut old.textures);
        for textures in old.chain(self.chain.as_mut().map(|chain| &mut chain.textures)) {
            textures.retain(|texture| table.is_there(*texture));
        }
    }

    /// Gives the old chains that can go to `destroy`, with whether presentation is known to be done.
    ///
    /// `is_presented` is what the backend's fences say, `None` without fences.
    pub(super) fn take_old(
        &mut self,
        completed: u64,
        mut is_presented: impl FnMut(u32) -> Option<bool>,
        mut destroy: impl FnMut(u32, bool),
    ) {
        let mut crowd = self.old.len();
        let dropped = self.dropped;
        self.old.retain(|old| {
            if !old.textures.is_empty() || old.undrained.is_some() || old.drained > completed {
                return true;
            }
            let known = if old.presented { is_presented(old.generation) } else { Some(true) };
            let proven = known.unwrap_or(old.proof.is_some_and(|proof| proof <= completed));
            let must_wait = known.is_none() && (dropped || crowd > MOST_UNPROVEN);
            if !proven && !must_wait {
                return true;
            }
            crowd -= 1;
            destroy(old.generation, proven);
            false
        });
    }
}

/// Every surface of a device, by slot.
#[derive(Debug, Default)]
pub(crate) struct Surfaces {
    pub(super) records: Vec<Option<SurfaceRecord>>,
    pub(super) last_serial: u64,
    pub(super) last_acquisition: u64,
    pub(super) notes: Notes,
    /// Notes while they are read. Kept for its memory.
    pub(super) dropped: Vec<Note>,
}

impl Surfaces {
    /// Whether there is no surface, not even one that retires.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// A frame was dropped: the next acquisition answers it again.
    pub(super) fn give_back(&mut self, acquisition: u64) {
        let chains = self.records.iter_mut().flatten().filter_map(|record| record.chain.as_mut());
        for held in chains.filter_map(|chain| chain.held.as_mut()) {
            held.out &= held.acquisition != acquisition;
        }
    }

    /// Whether a view belongs to a surface.
    pub(crate) fn owns_view(&self, slot: u32) -> bool {
        let chains = self.records.iter().flatten().filter_map(|record| record.chain.as_ref());
        let handles = chains.flat_map(|chain| &chain.images).filter_map(|image| image.handles);
        handles.into_iter().any(|(_, view)| view.slot() == slot)
    }
}
