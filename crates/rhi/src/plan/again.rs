//! A pass of one group that comes again and finds its resources as they were: planned by comparison.
//!
//! What such a pass comes to depends on the group and on the states that it finds, and on nothing else. So the last
//! pass of a group is kept: which records it touched, what they were, what they became, and its barrier. A pass that
//! finds the same takes the same. Two groups that pass the same resources to and fro never rest, and never lease
//! ([`super::leases`]); they are planned here.
//!
//! Only small passes are kept, each in the place that its group's slot falls on.

use arrayvec::ArrayVec;

use super::barrier::MemoryBarrier;
use super::extent::Resource;
use super::leases::Owner;
use super::ledger::{Ledger, Record};
use super::runs::State;
use super::undo::NONE;
use crate::handle::BindGroup;

/// How many groups are kept.
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

/// The last pass of a group.
#[derive(Debug, Clone, Default)]
struct Kept {
    /// The group's bits; zero for none.
    group: u64,
    barrier: Option<MemoryBarrier>,
    steps: ArrayVec<Step, MOST>,
    /// Whether a state changes. If none does, the group may come to rest.
    moves: bool,
}

/// The last passes of some groups.
#[derive(Debug, Default)]
pub(super) struct Again {
    kept: Vec<Kept>,
}

fn place(group: BindGroup) -> usize {
    group.slot() as usize % PLACES
}

impl Ledger {
    /// Plans a pass of this group alone, if it finds what the last one found: its barrier. Nothing has changed if not.
    pub(super) fn plan_again(&mut self, group: BindGroup) -> Option<Option<MemoryBarrier>> {
        let Ledger { buffers, textures, undo, again, next, .. } = self;
        let kept = again.kept.get(place(group)).filter(|kept| kept.group == group.to_bits())?;
        let owner = Owner::group(group);
        let mut moves = kept.moves;
        for step in &kept.steps {
            let record: &Record = match step.resource {
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
            moves |= record.owner != owner;
        }
        if !moves {
            // Perhaps the group rests now: whoever plans it at length will see.
            return None;
        }
        for step in &kept.steps {
            let record = match step.resource {
                Resource::Buffer(slot) => &mut buffers[slot as usize],
                Resource::Texture(slot) => &mut textures[slot as usize],
            };
            let earlier = if record.stamp == *next { record.touched } else { NONE };
            record.touched = undo.push(step.resource, record, earlier);
            record.stamp = *next;
            record.revision += u64::from(step.changes);
            record.owner = owner;
            if let Some(state) = record.runs.single_mut() {
                *state = step.after;
            }
        }
        Some(kept.barrier)
    }

    /// Keeps what the call was: a pass of this group alone, with this barrier.
    pub(super) fn keep_for_again(&mut self, group: BindGroup, barrier: Option<MemoryBarrier>) {
        let Ledger { buffers, textures, undo, again, .. } = self;
        let mut kept = Kept { group: group.to_bits(), barrier, ..Kept::default() };
        for entry in undo.entries_of_call() {
            let record = match entry.resource {
                Resource::Buffer(slot) => &buffers[slot as usize],
                Resource::Texture(slot) => &textures[slot as usize],
            };
            let (Some(before), Some(after)) = (entry.single(), record.runs.single()) else { return };
            if record.owner.lease().is_some() || kept.steps.is_full() {
                return;
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
        if again.kept.is_empty() {
            again.kept.resize_with(PLACES, Kept::default);
        }
        again.kept[place(group)] = kept;
    }
}
