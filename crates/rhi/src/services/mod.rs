//! Device services: uploads, readbacks, results of queries, per-frame data, requested pipelines and GPU timings.
//!
//! All of them use the one registry and the one ledger, and none ever waits for the GPU: a service that has no room
//! answers [`crate::Error::Pending`] or [`crate::Error::CapacityExceeded`] and works again once the GPU has moved on.

mod frame_arena;
mod pipelines;
mod queries;
mod readback;
mod region;
mod texels;
mod timing;
mod upload;

pub use frame_arena::FrameArena;
pub use pipelines::{
    CacheFileError, CacheLoad, CacheRejection, LivePipeline, LiveUpdate, MAX_CACHE_BYTES, MAX_PENDING,
    PipelineCacheFile, PipelineCounts, PipelineState, PipelineTicket,
};
pub(crate) use pipelines::{Content, Pipelines};
pub(crate) use queries::words;
pub use queries::{PipelineStatistics, QueryState, QueryTicket, QueryValue};
pub(crate) use readback::StagedRows;
pub use readback::{ReadTicket, ReadbackRing};
pub(crate) use region::TextureRegion;
pub(crate) use texels::{Footprint, aspect_of, check_depth_write};
pub use texels::{align_up, row_pitch};
pub use timing::{FrameTime, GpuTime, PassTime, TimestampPrecision, Timing, Timings};
pub(crate) use upload::published;
pub use upload::{UploadRing, UploadState, UploadTicket};
