//! Declares compute passes.

use std::panic::Location;

use purlin_rhi::ComputePipeline;
use purlin_rhi::backend::Backend;
use purlin_rhi::types::ShaderStages;

use super::body::{Body, ComputeBody, Once};
use super::builder::{Open, common_uses};
use crate::declare::{DeclaredAccess, PassKind, Work};
use crate::version::{AsBuffer, AsResource, AsResourceMut, AsTexture};

/// Declares a compute pass. It becomes part of the graph with one of [`dispatch`](Self::dispatch),
/// [`dispatch_indirect`](Self::dispatch_indirect) and [`record`](Self::record).
#[must_use = "a pass becomes part of the graph with dispatch, dispatch_indirect or record"]
pub struct ComputeBuilder<'p, 'f, B: Backend> {
    open: Open<'p, 'f, B>,
}

impl<'p, 'f, B: Backend> ComputeBuilder<'p, 'f, B> {
    pub(crate) fn new(open: Open<'p, 'f, B>) -> Self {
        Self { open }
    }

    common_uses!();

    /// One dispatch of this many workgroups.
    pub fn dispatch(self, pipeline: ComputePipeline, groups: [u32; 3]) {
        self.open.finish(PassKind::Compute, Work::Dispatch { pipeline, groups });
    }

    /// One dispatch by 12 bytes of arguments in a buffer, counted from the version's or part's start. Declares the
    /// buffer's use.
    #[track_caller]
    pub fn dispatch_indirect(mut self, pipeline: ComputePipeline, buffer: &'p impl AsBuffer, offset: u64) {
        let part = buffer.buffer_ref();
        self.open.push_use(buffer.resource_ref(), DeclaredAccess::Indirect, Location::caller());
        let offset = part.offset.saturating_add(offset);
        let buffer = part.id.index;
        self.open.finish(PassKind::Compute, Work::DispatchIndirect { pipeline, buffer, offset });
    }

    /// A body that records dispatches. It runs once, only if the pass is live.
    pub fn record(self, body: impl FnOnce(&mut ComputeBody<'_, B>) + Send + 'f) {
        let body = Body::Compute(self.open.graph.bump.alloc(Once(Some(body))));
        let index = self.open.graph.keep_body(body);
        self.open.finish(PassKind::Compute, Work::Body(index));
    }
}
