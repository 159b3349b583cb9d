//! Synchronization: declared uses in, dependencies out.
//!
//! A pass says what it uses and how ([`ResourceUse`]). The [`Ledger`] knows the state that every part of every resource
//! is in. The [`Planner`] compares the two and writes a [`Plan`]: before each pass, the barriers that it needs and no
//! more. When the work has been accepted, the planner commits; until then everything can be taken back.
//!
//! | file | its idea |
//! |---|---|
//! | `access` | what a use means: stages, access, layout, effect |
//! | `barrier` | what a backend lowers |
//! | `pairs` | sets of (stage, access), where unions are exact |
//! | `extent` | parts of a resource as intervals of cells |
//! | `runs` | the state of every cell, as runs |
//! | `leases` | groups at rest, planned by a look |
//! | `ledger` | all resources of a device |
//! | `undo` | what planning changed, until it is committed |
//! | `passes` | the input |
//! | `planner` | the rules, and the steps of a pass |
//! | `direct` | one plain pass, at once |
//! | `again` | a pass that comes again, by comparison |
//! | `fine`, `whole` | barriers by range, and by resource |
//! | `batches` | the output, merged |
//! | `reasons` | why a barrier is there, for reports |

mod access;
mod again;
mod barrier;
mod batches;
mod direct;
mod extent;
mod fine;
mod leases;
mod ledger;
mod memo;
mod pairs;
mod passes;
mod planner;
mod reasons;
mod runs;
#[cfg(test)]
mod tests;
mod undo;
mod whole;

pub use access::{
    Access, Aspects, BufferUse, Effect, Layout, ResourceUse, Scope, Stages, TextureRange, TextureUse,
};
pub use barrier::{BarrierBatch, MemoryBarrier, TextureBarrier};
pub use batches::{BarrierIndex, Hazard, Plan, PlanCounts, Previous, Reason};
pub use extent::{Part, Resource};
pub use ledger::{Ledger, TextureState};
pub(crate) use passes::{DeclaredGroups, GroupUses};
pub use passes::{Pass, PassList};
pub use planner::{HazardMode, Item, PlanError, Planner};
