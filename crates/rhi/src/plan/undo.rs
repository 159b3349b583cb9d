//! What planning changed in the ledger, so that it can be taken back.
//!
//! Planning works on the ledger's own records. The first time that a call touches a record, what it was is written
//! here, one after the other; a failed call and a discarded recording put it back, newest first. A commit has nothing
//! left to do: records are stamped with the coming submission's ordinal as they are touched.
//!
//! Until the commit the ledger's readers are answered from here: the oldest entry of a record is what it was at the
//! last commit.

use super::extent::Resource;
use super::leases::Owner;
use super::ledger::{Ledger, Parts, Record};
use super::runs::{Mark, Run, State};

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// A record as it was before a call touched it, and the call's notes about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touched {
    pub resource: Resource,
    /// The first use in the call, and the last so far.
    pub head: u32,
    pub tail: u32,
    /// The pass that whole-resource planning handled last, counted from one.
    pub pass: u32,
    /// The entry of an earlier call for the same record, or [`NONE`].
    earlier: u32,
    birth: u32,
    /// The state of all cells, unless there are runs in `spilled`.
    state: State,
    spilled: (u32, u32),
    stamp: u64,
    pub revision: u64,
}

impl Touched {
    /// The state of all cells, if they were in one.
    pub(super) fn single(&self) -> Option<&State> {
        (self.spilled.1 == 0).then_some(&self.state)
    }
}

/// What was touched since the last commit or discard.
#[derive(Debug, Default)]
pub(super) struct Undo {
    touched: Vec<Touched>,
    spilled: Vec<Run>,
    /// Where the call begins.
    call: u32,
}

impl Undo {
    pub(super) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    #[inline]
    pub(super) fn entry(&mut self, index: u32) -> &mut Touched {
        &mut self.touched[index as usize]
    }

    /// The call's entries, in the order in which it touched them.
    pub(super) fn of_call(&self) -> impl Iterator<Item = u32> + use<> {
        self.call..self.touched.len() as u32
    }

    /// The same with what they hold.
    pub(super) fn entries_of_call(&self) -> &[Touched] {
        &self.touched[self.call as usize..]
    }

    #[inline]
    pub(super) fn push(&mut self, resource: Resource, record: &Record, earlier: u32) -> u32 {
        let state = record.runs.single();
        let mut spilled = (0, 0);
        if state.is_none() {
            let runs = record.runs.all();
            spilled = (self.spilled.len() as u32, runs.len() as u32);
            self.spilled.extend_from_slice(runs);
        }
        self.touched.push(Touched {
            resource,
            head: NONE,
            tail: NONE,
            pass: 0,
            earlier,
            birth: record.birth,
            state: state.copied().unwrap_or(State::FRESH),
            spilled,
            stamp: record.stamp,
            revision: record.revision,
        });
        (self.touched.len() - 1) as u32
    }

    fn runs(&self, entry: &Touched) -> &[Run] {
        let (start, count) = entry.spilled;
        &self.spilled[start as usize..][..count as usize]
    }

    /// The runs of the entry, its stamp and its revision.
    fn show<T>(&self, entry: &Touched, cells: u64, look: impl FnOnce(&[Run], u64, u64) -> T) -> T {
        let one = [Run { end: cells, state: entry.state, mark: Mark::NONE }];
        let runs = if entry.spilled.1 == 0 { &one } else { self.runs(entry) };
        look(runs, entry.stamp, entry.revision)
    }
}

impl Ledger {
    /// Whether nothing is planned that waits for a commit or a discard.
    pub fn is_idle(&self) -> bool {
        self.undo.is_empty()
    }

    /// Begins a call, which can be taken back.
    #[inline]
    pub(super) fn begin_call(&mut self) {
        self.undo.call = self.undo.touched.len() as u32;
        self.leases.begin_call();
    }

    /// The call's entry of a resource; `None` if there is no such resource.
    #[inline]
    pub(super) fn touch(&mut self, resource: Resource) -> Option<u32> {
        let (record, last) = self.touch_by(resource, Owner::NONE)?;
        if last.is_some() {
            record.runs.clear_marks();
        }
        Some(record.touched)
    }

    /// The record of a resource, touched by this owner; and who used it last, if the call had not touched it before.
    #[inline]
    pub(super) fn touch_by(
        &mut self,
        resource: Resource,
        owner: Owner,
    ) -> Option<(&mut Record, Option<Owner>)> {
        let next = self.next;
        let Parts { record, undo, leases } = self.parts(resource)?;
        let last = record.owner;
        match last.lease() {
            Some(lease) => leases.meet(lease),
            None => record.owner = owner,
        }
        let touched = record.stamp == next;
        if touched && record.touched >= undo.call {
            return Some((record, None));
        }
        record.touched = undo.push(resource, record, if touched { record.touched } else { NONE });
        record.stamp = next;
        Some((record, Some(last)))
    }

    /// Saves a record that was used in the coming submission, while no call is under way.
    pub(super) fn touch_between_calls(&mut self, resource: Resource) {
        let next = self.next;
        let Some(Parts { record, undo, .. }) = self.parts(resource) else { return };
        let earlier = if record.stamp == next { record.touched } else { NONE };
        record.touched = undo.push(resource, record, earlier);
        record.stamp = next;
    }

    /// Takes back the call.
    pub(super) fn roll_back(&mut self) {
        self.take_back_leases(false);
        self.take_back(self.undo.call as usize);
    }

    /// Takes back everything since the last commit.
    pub(super) fn take_back_all(&mut self) {
        self.take_back_leases(true);
        self.undo.call = 0;
        self.take_back(0);
    }

    fn take_back(&mut self, from: usize) {
        let Ledger { buffers, textures, undo, .. } = self;
        for entry in undo.touched[from..].iter().rev() {
            let record = match entry.resource {
                Resource::Buffer(slot) => buffers.get_mut(slot as usize),
                Resource::Texture(slot) => textures.get_mut(slot as usize),
            };
            // Another occupant of the slot has nothing to take back.
            let Some(record) = record.filter(|record| record.birth == entry.birth) else { continue };
            if entry.spilled.1 == 0 {
                record.runs.reset(record.runs.cells(), entry.state);
            } else {
                record.runs.copy_from(undo.runs(entry));
            }
            record.stamp = entry.stamp;
            record.revision = entry.revision;
            record.touched = entry.earlier;
        }
        if let Some(first) =
            undo.touched.get(from..).and_then(|entries| entries.iter().find(|entry| entry.spilled.1 > 0))
        {
            undo.spilled.truncate(first.spilled.0 as usize);
        }
        undo.touched.truncate(from);
    }

    /// Makes everything planned count, as done by the submission with this ordinal.
    pub(super) fn keep(&mut self, ordinal: u64) {
        let next = self.next;
        self.leases.keep(ordinal, next);
        if ordinal == next {
            self.next += 1;
        } else {
            // Not the submission that was expected: the stamps are wrong.
            let Ledger { buffers, textures, undo, .. } = self;
            for entry in &undo.touched {
                let record = match entry.resource {
                    Resource::Buffer(slot) => buffers.get_mut(slot as usize),
                    Resource::Texture(slot) => textures.get_mut(slot as usize),
                };
                if let Some(record) = record.filter(|record| record.stamp == next) {
                    record.stamp = ordinal;
                }
            }
            self.next = next.max(ordinal.saturating_add(1));
        }
        self.undo.touched.clear();
        self.undo.spilled.clear();
        self.undo.call = 0;
    }

    /// The runs of a record as of the last commit, the last submission that used it, and how often it changed.
    pub(super) fn committed<T>(
        &self,
        resource: Resource,
        record: &Record,
        look: impl FnOnce(&[Run], u64, u64) -> T,
    ) -> T {
        let (stamp, changes) = self.leases.committed(resource, record.owner, self.next);
        if record.stamp != self.next {
            return look(record.runs.all(), record.stamp.max(stamp), record.revision + changes);
        }
        let mut entry = &self.undo.touched[record.touched as usize];
        while entry.earlier != NONE {
            entry = &self.undo.touched[entry.earlier as usize];
        }
        self.undo.show(entry, record.runs.cells(), look)
    }
}
