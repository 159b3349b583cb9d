//! The compiler: a row of phases over one [`Context`](crate::context::Context), each a file with a `run`.
//!
//! | phase | finds out |
//! |---|---|
//! | `reuse` | whether the last frame's answers hold for this one, and what must only be bound anew |
//! | `resolve` | what every declared part and binding means on this device: ranges, accesses, stages |
//! | `edges` | who depends on whom and why; that nothing undefined is read and no pass fights itself |
//! | `cull` | which passes contribute to anything |
//! | `lifetimes` | from which live pass to which each resource is used, and which attachments are stored |
//! | `merge` | which raster passes are recorded as one |
//! | `alias` | which textures lie over each other, and when their memory changes hands |
//! | `place` | which physical texture or buffer each transient lies in |
//! | `materialize` | views and bind groups of what was placed |
//! | `barriers` | the list for the device's planner, and its plan |
//! | `report` | all of that, for people |
//!
//! The phases from `resolve` to `barriers` run only for a frame that is not like the last one.
//!
//! A phase reads what earlier ones wrote and writes only its own part, so each can be run and looked at alone.

pub(crate) mod alias;
pub(crate) mod barriers;
pub(crate) mod cull;
pub(crate) mod edges;
pub(crate) mod lifetimes;
pub(crate) mod materialize;
pub(crate) mod merge;
pub(crate) mod place;
pub(crate) mod report;
pub(crate) mod resolve;
pub(crate) mod reuse;
mod words;

pub(crate) use words::{extent_words, origin_words, part_words};
