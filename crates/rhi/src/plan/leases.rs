//! Groups whose resources nothing else uses: planned by a look at one line.
//!
//! A pass may declare whole bind groups. When the same group uses the same resources again, nothing else has touched
//! them in between, and planning left every state as it was, then planning once more would come to the same barrier
//! and the same states: the group is at rest. It then *leases* its resources: their records say whose they are, and
//! until someone else touches one of them a use of the group is its barrier and a count.
//!
//! **Invariant.** While a lease holds, the state in each of its records is the state before and after any use by the
//! group. Only when they were last used and how often they changed is kept here, and [`Ledger::committed`] adds it.
//!
//! Whoever touches a leased record in a call does not end the lease there: what a call does can be taken back, and the
//! end of a lease cannot. The call is taken back, the lease ended, and the call made again.

use super::barrier::MemoryBarrier;
use super::extent::Resource;
use super::ledger::{Ledger, Record};
use crate::handle::BindGroup;

/// Who used a record last: nothing in particular, a group, or the group that leases it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Owner(u32);

impl Owner {
    const LEASE: u32 = 1 << 31;
    /// No group.
    pub(super) const NONE: Owner = Owner(0);

    /// A group.
    #[inline]
    pub(super) fn group(group: BindGroup) -> Self {
        Owner(group.slot() + 1)
    }

    #[inline]
    fn leasing(self) -> Self {
        Owner(self.0 | Self::LEASE)
    }

    /// The lease, if there is one.
    #[inline]
    pub(super) fn lease(self) -> Option<u32> {
        if self.0 & Self::LEASE != 0 { Some((self.0 & !Self::LEASE) - 1) } else { None }
    }
}

/// The lease of the group in a slot.
#[derive(Debug, Clone, Copy, Default)]
struct Lease {
    /// Which of the slot's groups; zero for none.
    generation: u32,
    /// How often the group was used since the lease began, and how often by the last commit.
    uses: u64,
    committed_uses: u64,
    /// The barrier before each use, if any.
    barrier: Option<MemoryBarrier>,
    /// The last submission that used the group, and the last by the last commit; zero for none.
    stamp: u64,
    committed_stamp: u64,
}

/// A leased resource, and how many times each use changes it.
#[derive(Debug, Clone, Copy)]
struct Held {
    resource: Resource,
    changes: u32,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Began(u32),
    /// Used; for the first time since the last commit or not.
    Used(u32, bool),
}

/// All leases of a ledger, by the groups' slots.
#[derive(Debug, Default)]
pub(super) struct Leases {
    leases: Vec<Lease>,
    held: Vec<Vec<Held>>,
    events: Vec<Event>,
    /// Where the call begins in `events`.
    call: usize,
    /// Leases that the call has come across, to be ended.
    met: Vec<u32>,
}

impl Leases {
    /// Begins a call.
    #[inline]
    pub(super) fn begin_call(&mut self) {
        self.call = self.events.len();
        self.met.clear();
    }

    /// Notes that a lease stands in the way.
    #[cold]
    pub(super) fn meet(&mut self, lease: u32) {
        self.met.push(lease);
    }

    /// Whether a lease stands in the way.
    #[inline]
    pub(super) fn has_met(&self) -> bool {
        !self.met.is_empty()
    }

    /// Uses the group if it leases its resources: whether it does, and its barrier.
    #[inline]
    pub(super) fn use_group(&mut self, group: BindGroup, next: u64) -> Option<Option<MemoryBarrier>> {
        let lease = self.leases.get_mut(group.slot() as usize)?;
        if lease.generation != group.generation() {
            return None;
        }
        let first = lease.stamp != next;
        if first {
            lease.committed_stamp = lease.stamp;
            lease.committed_uses = lease.uses;
            lease.stamp = next;
        }
        lease.uses += 1;
        self.events.push(Event::Used(group.slot(), first));
        Some(lease.barrier)
    }

    /// What the last commit's uses add to a record: the ordinal, and the changes.
    pub(super) fn committed(&self, resource: Resource, owner: Owner, next: u64) -> (u64, u64) {
        let Some(slot) = owner.lease() else { return (0, 0) };
        let lease = &self.leases[slot as usize];
        let (stamp, uses) = lease.committed(next);
        let held = self.held[slot as usize].iter().find(|held| held.resource == resource);
        (stamp, held.map_or(0, |held| u64::from(held.changes) * uses))
    }

    /// Keeps what was done, as done by submission `ordinal`, where `next` was expected.
    pub(super) fn keep(&mut self, ordinal: u64, next: u64) {
        if ordinal != next {
            for event in &self.events {
                let (Event::Began(slot) | Event::Used(slot, _)) = *event;
                let lease = &mut self.leases[slot as usize];
                if lease.stamp == next {
                    lease.stamp = ordinal;
                }
            }
        }
        self.events.clear();
        self.call = 0;
    }
}

impl Lease {
    fn committed(&self, next: u64) -> (u64, u64) {
        if self.stamp == next { (self.committed_stamp, self.committed_uses) } else { (self.stamp, self.uses) }
    }
}

impl Ledger {
    /// Begins the lease of a group whose use came to rest. Each resource was touched by the call, once.
    pub(super) fn begin_lease(
        &mut self,
        group: BindGroup,
        barrier: Option<MemoryBarrier>,
        resources: impl Iterator<Item = (Resource, bool)>,
    ) {
        let slot = group.slot() as usize;
        if self.leases.leases.len() <= slot {
            self.leases.leases.resize(slot + 1, Lease::default());
            self.leases.held.resize_with(slot + 1, Vec::new);
        }
        if self.leases.leases[slot].generation != 0 {
            // What the slot's last group leased is still leased.
            self.leases.meet(group.slot());
            return;
        }
        let mut held = std::mem::take(&mut self.leases.held[slot]);
        held.extend(resources.map(|(resource, changes)| {
            self.at(resource).owner = Owner::group(group).leasing();
            Held { resource, changes: u32::from(changes) }
        }));
        self.leases.held[slot] = held;
        self.leases.leases[slot] = Lease { generation: group.generation(), barrier, ..Lease::default() };
        self.leases.events.push(Event::Began(group.slot()));
    }

    /// Takes back what the call did with leases, or everything since the last commit.
    pub(super) fn take_back_leases(&mut self, everything: bool) {
        let from = if everything { 0 } else { self.leases.call };
        while self.leases.events.len() > from {
            match self.leases.events.pop() {
                Some(Event::Used(slot, first)) => {
                    let lease = &mut self.leases.leases[slot as usize];
                    // One that has ended since has left its count to its records.
                    if lease.generation != 0 {
                        lease.uses -= 1;
                        if first {
                            lease.stamp = lease.committed_stamp;
                        }
                    }
                }
                Some(Event::Began(slot)) => self.release(slot, |_, _| {}),
                None => {}
            }
        }
    }

    /// Ends the leases that the call has come across. No call is under way.
    #[cold]
    pub(super) fn end_met_leases(&mut self) {
        while let Some(slot) = self.leases.met.pop() {
            self.end_lease(slot);
        }
    }

    /// Ends a lease: its records say again all that is known of them. No call is under way.
    #[cold]
    pub(super) fn end_lease(&mut self, slot: u32) {
        let next = self.next;
        let lease = self.leases.leases[slot as usize];
        let (stamp, uses) = lease.committed(next);
        let recent = lease.uses - uses;
        self.release(slot, |ledger, held| {
            let Some(record) = ledger.record_mut(held.resource) else { return };
            record.revision += u64::from(held.changes) * uses;
            if record.stamp != next {
                record.stamp = record.stamp.max(stamp);
            }
            if recent > 0 {
                ledger.touch_between_calls(held.resource);
                ledger.at(held.resource).revision += u64::from(held.changes) * recent;
            }
        });
    }

    fn release(&mut self, slot: u32, mut each: impl FnMut(&mut Self, Held)) {
        let index = slot as usize;
        if self.leases.leases[index].generation == 0 {
            return;
        }
        self.leases.leases[index].generation = 0;
        let mut held = std::mem::take(&mut self.leases.held[index]);
        for held in held.drain(..) {
            let record: &mut Record = self.at(held.resource);
            if record.owner.lease() == Some(slot) {
                record.owner = Owner::NONE;
                each(self, held);
            }
        }
        self.leases.held[index] = held;
    }
}
