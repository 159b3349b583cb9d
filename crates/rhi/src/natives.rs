//! What backends are told of queries, and what they tell of memory. Part of [`crate::backend`].

/// What a backend's allocator holds, in bytes. It is not what is resident: no API here says that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NativeMemory {
    /// Given to resources, with alignment.
    pub allocated: u64,
    /// The most that `allocated` has been, as far as anybody looked: at each allocation, or else at each report.
    pub allocated_peak: u64,
    /// The blocks that those lie in.
    pub blocks: u64,
    /// The most that `blocks` has been at a report.
    pub blocks_peak: u64,
}

/// The queries of a raster pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NativeQueries {
    /// The set of its occlusion queries.
    pub occlusion: Option<u32>,
    /// Timestamps before its first and after its last command.
    pub timestamps: Option<NativeTimestamps>,
}

/// Timestamps of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeTimestamps {
    /// The set's slot.
    pub query_set: u32,
    /// The query that is written when the pass begins.
    pub begin: Option<u32>,
    /// The query that is written when it is done.
    pub end: Option<u32>,
}

/// What a query within a pass finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeQuery {
    /// Whether any sample passes; only in raster passes that name the set.
    Occlusion,
    /// What its set counts.
    PipelineStatistics,
}
