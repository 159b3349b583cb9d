//! A small pass that comes again and finds its resources as they were: planned by comparison.
//!
//! What a pass of one group, or of one use, comes to depends on the group or use and on the states that it finds, and on
//! nothing else. So the last such pass is kept: which records it touched, what they were, what they became, and its
//! barrier. A pass that finds the same takes the same. Two groups that pass the same resources to and fro never rest,
//! and never lease ([`super::leases`]); they are planned here. So are passes that draw into one texture over and over.
//!
//! Only small passes are kept, each in the place that the slot of its group or resource falls on.

use arrayvec::ArrayVec;

use super::access::ResourceUse;
use super::barrier::MemoryBarrier;
use super::extent::Resource;
use super::leases::Owner;
use super::ledger::{Ledger, Record};
use super::runs::State;
use super::undo::{NONE, Undo};
use crate::handle::BindGroup;

/// How many groups and how many uses are kept.
const PLACES: usize = 64;

/// How many records a kept pass may touch.
const MOST: usize = 4;

/// What the pass does with one record.
#[derive(Debug, Clone, Copy)]
struct Step {
    resource: Resource,
    birth: u32,
    before: State,
    after: State,
    /// By how much its revision grows.
    changes: u32,
}

/// The last pass of a group or use.
#[derive(Debug, Clone)]
struct Kept<K> {
    of: K,
    barrier: Option<MemoryBarrier>,
    steps: ArrayVec<Step, MOST>,
    /// Whether a state changes. If none does, a group may come to rest.
    moves: bool,
}

/// The last passes of some groups and uses.
#[derive(Debug, Default)]
pub(super) struct Again {
    groups: Vec<Option<Kept<BindGroup>>>,
    uses: Vec<Option<Kept<ResourceUse>>>,
}

fn place(slot: u32) -> usize {
    slot as usize % PLACES
}

fn slot_of(resource: Resource) -> u32 {
    match resource {
        Resource::Buffer(slot) | Resource::Texture(slot) => slot,
    }
}

/// Keeps a pass, in memory that is made once.
fn keep<K>(kept: &mut Vec<Option<Kept<K>>>, slot: u32, pass: Kept<K>) {
    if kept.is_empty() {
        kept.resize_with(PLACES, || None);
    }
    kept[place(slot)] = Some(pass);
}

impl<K> Kept<K> {
    /// Whether every record is as the pass found it, and whether one of them was last used by someone else.
    #[inline]
    fn fits(&self, buffers: &[Record], textures: &[Record], owner: Owner) -> Option<bool> {
        let mut others = false;
        for step in &self.steps {
            let record = match step.resource {
                Resource::Buffer(slot) => buffers.get(slot as usize)?,
                Resource::Texture(slot) => textures.get(slot as usize)?,
            };
            if record.birth != step.birth
                || !record.is_occupied()
                || record.owner.lease().is_some()
                || record.runs.single() != Some(&step.before)
            {
                return None;
            }
            others |= record.owner != owner;
        }
        Some(others)
    }

    #[inline]
    fn apply(
        &self,
        buffers: &mut [Record],
        textures: &mut [Record],
        undo: &mut Undo,
        (next, owner): (u64, Owner),
    ) {
        for step in &self.steps {
            let record = match step.resource {
                Resource::Buffer(slot) => &mut buffers[slot as usize],
                Resource::Texture(slot) => &mut textures[slot as usize],
            };
            let earlier = if record.stamp == next { record.touched } else { NONE };
            record.touched = undo.push(step.resource, record, earlier);
            record.stamp = next;
            record.revision += u64::from(step.changes);
            record.owner = owner;
            if let Some(state) = record.runs.single_mut() {
                *state = step.after;
            }
        }
    }
}

impl Ledger {
    /// Plans a pass of this group alone, if it finds what the last one found: its barrier. Nothing has changed if not.
    #[inline]
    pub(super) fn plan_group_again(&mut self, group: BindGroup) -> Option<Option<MemoryBarrier>> {
        let Ledger { buffers, textures, undo, again, next, .. } = self;
        let kept = again.groups.get(place(group.slot()))?.as_ref().filter(|kept| kept.of == group)?;
        let owner = Owner::group(group);
        let others = kept.fits(buffers, textures, owner)?;
        if !(others || kept.moves) {
            // Perhaps the group rests now: whoever plans it at length will see.
            return None;
        }
        kept.apply(buffers, textures, undo, (*next, owner));
        Some(kept.barrier)
    }

    /// The same for a pass of one use.
    #[inline]
    pub(super) fn plan_use_again(&mut self, usage: &ResourceUse) -> Option<Option<MemoryBarrier>> {
        let Ledger { buffers, textures, undo, again, next, .. } = self;
        let kept = again.uses.get(place(slot_of(Resource::of(usage))))?.as_ref();
        let kept = kept.filter(|kept| kept.of == *usage)?;
        kept.fits(buffers, textures, Owner::NONE)?;
        kept.apply(buffers, textures, undo, (*next, Owner::NONE));
        Some(kept.barrier)
    }

    /// Keeps what the call was: a pass of this group alone, with this barrier.
    pub(super) fn keep_group(&mut self, group: BindGroup, barrier: Option<MemoryBarrier>) {
        if let Some(pass) = self.call_as_kept(group, barrier) {
            keep(&mut self.again.groups, group.slot(), pass);
        }
    }

    /// The same for a pass of one use.
    pub(super) fn keep_use(&mut self, usage: &ResourceUse, barrier: Option<MemoryBarrier>) {
        if let Some(pass) = self.call_as_kept(*usage, barrier) {
            keep(&mut self.again.uses, slot_of(Resource::of(usage)), pass);
        }
    }

    fn call_as_kept<K>(&self, of: K, barrier: Option<MemoryBarrier>) -> Option<Kept<K>> {
        let mut kept = Kept { of, barrier, steps: ArrayVec::new(), moves: false };
        for entry in self.undo.entries_of_call() {
            let record = match entry.resource {
                Resource::Buffer(slot) => &self.buffers[slot as usize],
                Resource::Texture(slot) => &self.textures[slot as usize],
            };
            let (before, after) = (entry.single()?, record.runs.single()?);
            if record.owner.lease().is_some() || kept.steps.is_full() {
                return None;
            }
            kept.moves |= before != after;
            kept.steps.push(Step {
                resource: entry.resource,
                birth: record.birth,
                before: *before,
                after: *after,
                changes: (record.revision - entry.revision) as u32,
            });
        }
        Some(kept)
    }
}
