//! Remembered plans: a frame like the last one is not planned again.
//!
//! What a call plans depends on two things only: the passes, and the states that their resources are in. A memo keeps
//! both, with the barriers and the states that came out. When they are the same again, the outcome is copied. A frame
//! loop comes back to the same states after a frame or two, so a few memos are enough.
//!
//! A list that was [named](PassList::name) is known by its name: neither its passes nor their handles are looked at again,
//! only one use of each resource.
//!
//! Short lists are cheaper to plan than to compare, and plans with reasons are for looking at: neither is remembered.

use super::access::ResourceUse;
use super::barrier::{MemoryBarrier, TextureBarrier};
use super::batches::{Mark, Plan};
use super::extent::{Extent, Resource};
use super::ledger::Ledger;
use super::passes::PassList;
use super::runs::Runs;
use super::undo::Touched;

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
    /// How many uses change its contents.
    changes: u64,
}

#[derive(Debug, Default)]
struct Memo {
    list: PassList,
    /// One use of each resource of the list; empty if a discard or an alias names one that no use names.
    uses: Vec<ResourceUse>,
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
    pub(super) fn apply(&self, ledger: &mut Ledger, passes: &PassList, plan: &mut Plan) -> bool {
        for memo in &self.memos {
            let equal = |list: &PassList| list.is_called_as(passes) || list == passes;
            if memo.complete && equal(&memo.list) && memo.fits(ledger) {
                for known in &memo.resources[..memo.used] {
                    let record = ledger.at(known.resource);
                    record.runs.copy_from(known.after.all());
                    record.revision += known.changes;
                }
                plan.append(&memo.memory, &memo.textures, &memo.ends);
                return true;
            }
        }
        false
    }

    /// One use of each resource of a list that is known by name: if they can be, all others of the list can.
    pub(super) fn known_uses(&self, passes: &PassList) -> Option<&[ResourceUse]> {
        let known = |memo: &&Memo| memo.complete && !memo.uses.is_empty() && memo.list.is_called_as(passes);
        self.memos.iter().find(known).map(|memo| &memo.uses[..])
    }

    /// Begins a memo of these passes, from the states that the call's entries are in.
    pub(super) fn begin(&mut self, ledger: &mut Ledger, passes: &PassList) {
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
        memo.uses.clear();
        for entry in ledger.undo.of_call() {
            let Touched { resource, head, .. } = *ledger.undo.entry(entry);
            memo.uses.extend(passes.uses().get(head as usize));
            let record = ledger.at(resource);
            let extent = record.extent();
            if memo.used == memo.resources.len() {
                let (before, after) = (Runs::default(), Runs::default());
                memo.resources.push(Remembered { resource, extent, before, after, changes: 0 });
            }
            let known = &mut memo.resources[memo.used];
            known.resource = resource;
            known.extent = extent;
            known.before.copy_from(record.runs.all());
            memo.used += 1;
        }
        if memo.uses.len() != memo.used {
            memo.uses.clear();
        }
    }

    /// Ends the memo with what the call planned since `mark`, if it `succeeded`.
    pub(super) fn end(&mut self, ledger: &mut Ledger, plan: &Plan, mark: Mark, succeeded: bool) {
        let memo = &mut self.memos[self.open];
        for (known, entry) in memo.resources.iter_mut().zip(ledger.undo.of_call()) {
            let before = ledger.undo.entry(entry).revision;
            let record = ledger.at(known.resource);
            known.changes = record.revision - before;
            known.after.copy_from(record.runs.all());
            known.after.clear_marks();
        }
        plan.copy_since(mark, &mut memo.memory, &mut memo.textures, &mut memo.ends);
        memo.complete = succeeded;
    }
}

impl Memo {
    /// Whether all resources are in the states that the memo starts from.
    fn fits(&self, ledger: &mut Ledger) -> bool {
        self.resources[..self.used].iter().all(|known| {
            if ledger.touch(known.resource).is_none() {
                return false;
            }
            let record = ledger.at(known.resource);
            record.extent() == known.extent && record.runs.same_states(&known.before)
        })
    }
}
