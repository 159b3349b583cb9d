//! Remembered plans: a frame like the last one is not planned again.
//!
//! What a call plans depends on two things only: the passes, and the states that their resources are in. A memo keeps
//! both, with the barriers and the states that came out. When they are the same again, the outcome is copied. A frame
//! loop comes back to the same states after a frame or two, so a few memos are enough.
//!
//! Short lists are cheaper to plan than to compare, and plans with reasons are for looking at: neither is remembered.

use super::barrier::{MemoryBarrier, TextureBarrier};
use super::batches::{Mark, Plan};
use super::extent::{Extent, Resource};
use super::ledger::Ledger;
use super::overlay::Overlay;
use super::passes::PassList;
use super::runs::Runs;

/// Lists with fewer uses are planned each time.
pub(super) const LEAST_USES: usize = if cfg!(test) { 1 } else { 12 };
/// How many plans are kept. The one made longest ago gives way.
const KEPT: usize = 4;

/// A resource of a memo.
#[derive(Debug)]
struct Remembered {
    resource: Resource,
    extent: Extent,
    before: Runs,
    after: Runs,
    /// Whether the passes change its contents.
    written: bool,
}

#[derive(Debug, Default)]
struct Memo {
    list: PassList,
    /// The entries in use come first; the rest is kept for its memory.
    resources: Vec<Remembered>,
    used: usize,
    memory: Vec<MemoryBarrier>,
    textures: Vec<TextureBarrier>,
    ends: Vec<Mark>,
    /// Whether the outcome is there.
    complete: bool,
}

/// The plans of recent calls.
#[derive(Debug, Default)]
pub(super) struct Memos {
    memos: Vec<Memo>,
    /// The next to be replaced.
    oldest: usize,
    /// The one being made.
    open: usize,
}

impl Memos {
    /// Applies the memo of these passes from these states, if there is one; whether there is.
    pub(super) fn apply(
        &self,
        ledger: &Ledger,
        overlay: &mut Overlay,
        passes: &PassList,
        plan: &mut Plan,
    ) -> bool {
        for memo in &self.memos {
            if memo.complete && memo.list == *passes && memo.fits(ledger, overlay) {
                for known in &memo.resources[..memo.used] {
                    let Some(index) = overlay.find(known.resource) else { continue };
                    let entry = overlay.entry(index);
                    entry.now.copy_from(&known.after);
                    entry.written |= known.written;
                }
                plan.append(&memo.memory, &memo.textures, &memo.ends);
                return true;
            }
        }
        false
    }

    /// Begins a memo of these passes, from the states that the call's entries are in.
    pub(super) fn begin(&mut self, overlay: &mut Overlay, passes: &PassList) {
        if self.memos.len() < KEPT {
            self.open = self.memos.len();
            self.memos.push(Memo::default());
        } else {
            self.open = self.oldest;
            self.oldest = (self.oldest + 1) % KEPT;
        }
        let memo = &mut self.memos[self.open];
        memo.complete = false;
        memo.list.copy_from(passes);
        memo.used = 0;
        for entry in overlay.touched() {
            if memo.used == memo.resources.len() {
                let (before, after) = (Runs::default(), Runs::default());
                let (resource, extent) = (entry.resource, entry.extent);
                memo.resources.push(Remembered { resource, extent, before, after, written: false });
            }
            let known = &mut memo.resources[memo.used];
            known.resource = entry.resource;
            known.extent = entry.extent;
            known.before.copy_from(&entry.now);
            // Set again at the end, together with what the passes write.
            known.written = std::mem::replace(&mut entry.written, false);
            memo.used += 1;
        }
    }

    /// Ends the memo with what the call planned since `mark`, if it `succeeded`.
    pub(super) fn end(&mut self, overlay: &mut Overlay, plan: &Plan, mark: Mark, succeeded: bool) {
        let memo = &mut self.memos[self.open];
        for (known, entry) in memo.resources.iter_mut().zip(overlay.touched()) {
            let before = std::mem::replace(&mut known.written, entry.written);
            entry.written |= before;
            known.after.copy_from(&entry.now);
            known.after.clear_marks();
        }
        plan.copy_since(mark, &mut memo.memory, &mut memo.textures, &mut memo.ends);
        memo.complete = succeeded;
    }
}

impl Memo {
    /// Whether all resources are in the states that the memo starts from.
    fn fits(&self, ledger: &Ledger, overlay: &mut Overlay) -> bool {
        self.resources[..self.used].iter().all(|known| {
            let Some(index) = overlay.touch(ledger, known.resource) else { return false };
            let entry = overlay.entry(index);
            entry.extent == known.extent && entry.now.same_states(&known.before)
        })
    }
}
