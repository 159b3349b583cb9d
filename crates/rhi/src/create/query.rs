//! Query sets.

use crate::backend::Backend;
use crate::caps::Features;
use crate::desc::QuerySetDesc;
use crate::device::Device;
use crate::error::{Result, invalid, named, unsupported};
use crate::handle::{QuerySet, ResourceKind, kind};
use crate::owned::Owned;
use crate::registry::QuerySetRecord;
use crate::types::{PipelineStatisticsTypes, QueryType};

/// The most queries of a set, as in WebGPU.
pub(crate) const MAX_QUERIES: u32 = 4096;

impl<B: Backend> Device<B> {
    /// Creates a set of queries. Passes that name it write them, [`Recorder::read_queries`](crate::Recorder::read_queries)
    /// brings them back. One set does for every frame: each recording resets it, in the GPU's order.
    ///
    /// # Errors
    /// No queries or more than 4096; no statistics to count; [`Features::TIMESTAMP_QUERY`] or
    /// [`Features::PIPELINE_STATISTICS_QUERY`] that is not enabled; occlusion queries in WebGL 2; the slot ceiling, or
    /// memory.
    pub fn create_query_set(&mut self, desc: &QuerySetDesc<'_>) -> Result<Owned<kind::QuerySet>> {
        let what = || named(ResourceKind::QuerySet, desc.label);
        self.check_lost("create_query_set")?;
        if !(1..=MAX_QUERIES).contains(&desc.count) {
            return Err(invalid(what(), "count", format!("1 to {MAX_QUERIES}"), desc.count));
        }
        let needed = match desc.ty {
            QueryType::Occlusion => Features::empty(),
            QueryType::Timestamp => Features::TIMESTAMP_QUERY,
            QueryType::PipelineStatistics(counted) => {
                if counted.is_empty() || !PipelineStatisticsTypes::all().contains(counted) {
                    return Err(invalid(what(), "ty", "statistics that are known", format!("{counted:?}")));
                }
                Features::PIPELINE_STATISTICS_QUERY
            }
        };
        if !self.capabilities().features.contains(needed) {
            let detail = format!("{:?} requested", desc.ty);
            return Err(unsupported(what(), format!("feature {}", needed.names()), detail));
        }
        self.make_room(ResourceKind::QuerySet, 0)?;
        let handle = self.new_query_set(desc)?;
        Ok(self.own(handle))
    }

    /// Creates a set that was checked.
    pub(crate) fn new_query_set(&mut self, desc: &QuerySetDesc<'_>) -> Result<QuerySet> {
        let slot = self.registry.query_sets.next_slot()?;
        if let Err(error) = self.backend.create_query_set(slot, desc) {
            return Err(self.backend_error(error, named(ResourceKind::QuerySet, desc.label)));
        }
        let record = QuerySetRecord { label: desc.label.into(), ty: desc.ty, count: desc.count };
        Ok(self.registry.query_sets.insert(slot, record))
    }
}
