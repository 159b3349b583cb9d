//! Requests for pipelines: checked at once, compiled elsewhere, published between frames.
//!
//! A request is checked as a creation is, against reflection, limits and formats; a mistake is an error of the call. What is
//! left is the driver's compilation. Where the backend can, one worker thread a device does it, in the order of requests;
//! where it cannot (`null` as a rule, `wgpu`, browsers), [`Device::maintain`] compiles one request each time, on the
//! device's own thread. Either way a pipeline appears only in `maintain`, which every recording begins with: within a
//! recording nothing changes.
//!
//! - **One for equal requests.** Descriptions are compared field by field (`key`); labels and the identity of modules do not
//!   count, the identity of the layout does. The first label stays.
//! - **A pending pipeline has no handle**, so nothing can bind it. [`Device::pipeline_or`] gives another meanwhile.
//! - **A failure is kept** with its error, and takes nothing away: whoever drew with another pipeline goes on to
//!   ([`LivePipeline`]).
//! - **Lifetime.** A request keeps its layout and modules, whatever their owners do. Its pipeline lives while a ticket does,
//!   then as any other until the GPU is done.
//! - **Bounds.** At most [`MAX_PENDING`] requests wait; more are [`Error::Pending`]. A finished request finds its place
//!   among the device's pipelines or fails with [`Error::CapacityExceeded`].
//! - **The end.** A device that goes waits for the one compilation that runs, and drops the others.

mod cache;
mod cache_file;
mod key;
mod live;
mod publish;
mod table;
#[cfg(test)]
mod tests;
mod ticket;
mod worker;

use smallvec::SmallVec;

pub use cache::{CacheLoad, CacheRejection, MAX_CACHE_BYTES};
pub use cache_file::{CacheFileError, PipelineCacheFile};
pub(crate) use key::Content;
pub use live::{LivePipeline, LiveUpdate};
pub(crate) use table::Pipelines;
pub use ticket::{PipelineCounts, PipelineState, PipelineTicket};

use crate::backend::Backend;
use crate::desc::{ComputePipelineDesc, RenderPipelineDesc};
use crate::device::Device;
use crate::error::{Error, HandleProblem, Result, named};
use crate::handle::{Handle, ResourceKind, ShaderModule, kind, kind::Kind};
use key::Key;
use table::{Checked, Request, Stage};

/// Requests of a device that may wait at once.
pub const MAX_PENDING: usize = 1024;

impl<B: Backend> Device<B> {
    /// Asks for a raster pipeline without waiting for the driver. Equal requests share one pipeline.
    ///
    /// # Errors
    /// As [`Self::create_render_pipeline`] but for what the driver refuses, which [`Self::pipeline_state`] tells later;
    /// [`Error::Pending`] while [`MAX_PENDING`] requests wait.
    pub fn request_render_pipeline(
        &mut self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<PipelineTicket<kind::RenderPipeline>> {
        let what = || named(ResourceKind::RenderPipeline, desc.label);
        self.check_lost("request_render_pipeline")?;
        let record = self.check_render_pipeline(desc)?;
        let vertex = self.registry.modules.check(desc.vertex.module, what)?.content;
        let mut modules: SmallVec<[ShaderModule; 2]> = SmallVec::new();
        modules.push(desc.vertex.module);
        let mut fragment = None;
        if let Some(stage) = &desc.fragment {
            fragment = Some(self.registry.modules.check(stage.module, what)?.content);
            modules.push(stage.module);
        }
        let key = Key::render(desc, vertex, fragment);
        let record =
            Checked::Render(Box::new(crate::registry::RenderPipelineRecord { requested: true, ..record }));
        self.request_pipeline(key, modules, record)
    }

    /// The same for a compute pipeline.
    ///
    /// # Errors
    /// As [`Self::create_compute_pipeline`] but for what the driver refuses; [`Error::Pending`] while [`MAX_PENDING`]
    /// requests wait.
    pub fn request_compute_pipeline(
        &mut self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<PipelineTicket<kind::ComputePipeline>> {
        let what = || named(ResourceKind::ComputePipeline, desc.label);
        self.check_lost("request_compute_pipeline")?;
        let record = self.check_compute_pipeline(desc)?;
        let content = self.registry.modules.check(desc.compute.module, what)?.content;
        let key = Key::compute(desc, content);
        let modules = SmallVec::from_slice(&[desc.compute.module]);
        let record = Checked::Compute(crate::registry::ComputePipelineRecord { requested: true, ..record });
        self.request_pipeline(key, modules, record)
    }

    fn request_pipeline<K: Kind>(
        &mut self,
        key: Key,
        modules: SmallVec<[ShaderModule; 2]>,
        checked: Checked,
    ) -> Result<PipelineTicket<K>> {
        // What was dropped is read first: a failure that nobody holds any more is tried anew.
        self.collect_drops();
        let shared = self.pipelines.share(&key);
        let id = match shared {
            Some(id) => id,
            None => {
                let what = || named(K::KIND, checked.label());
                if self.pipelines.counts.pending >= MAX_PENDING {
                    let detail = format!("{MAX_PENDING} requests wait for compilation, the most");
                    return Err(Error::Pending { what: what(), detail });
                }
                let full = Error::CapacityExceeded {
                    what: format!("{}: pipeline requests", what()),
                    requested: u64::from(crate::handle::MAX_SLOTS) + 1,
                    capacity: u64::from(crate::handle::MAX_SLOTS),
                };
                checked.retain(&mut self.registry);
                self.pipelines.insert(key, modules, checked).ok_or(full)?
            }
        };
        let ticket = PipelineTicket::new(self.tag, id, self.drops);
        if shared.is_none() {
            self.feed_worker()?;
        }
        Ok(ticket)
    }

    /// What a request has come to. Changes only in [`Self::maintain`].
    ///
    /// # Errors
    /// A ticket of another device; device loss.
    pub fn pipeline_state<K: Kind>(&self, ticket: &PipelineTicket<K>) -> Result<PipelineState<K>> {
        Ok(match &self.request_of(ticket)?.stage {
            Stage::Queued(_) | Stage::Compiling(_) | Stage::Moving => PipelineState::Pending,
            &Stage::Ready(_, slot, generation) => {
                PipelineState::Ready(Handle::new(self.tag, slot, generation))
            }
            Stage::Failed(error) => PipelineState::Failed(error.clone()),
        })
    }

    /// The pipeline of a request.
    ///
    /// # Errors
    /// [`Error::Pending`] until it is there; what the driver refused it with; a ticket of another device; device loss.
    pub fn pipeline<K: Kind>(&self, ticket: &PipelineTicket<K>) -> Result<Handle<K>> {
        match self.pipeline_state(ticket)? {
            PipelineState::Ready(handle) => Ok(handle),
            PipelineState::Failed(error) => Err(error),
            PipelineState::Pending => {
                Err(Error::Pending { what: format!("{ticket:?}"), detail: "it is being compiled".into() })
            }
        }
    }

    /// The pipeline of a request, or the fallback technique while it is pending and when it failed. The fallback is a
    /// pipeline that is there; that it draws to the same attachments is checked where it is bound. Allocates nothing.
    ///
    /// # Errors
    /// A ticket of another device; device loss.
    pub fn pipeline_or<K: Kind>(&self, ticket: &PipelineTicket<K>, fallback: Handle<K>) -> Result<Handle<K>> {
        Ok(match self.request_of(ticket)?.stage {
            Stage::Ready(_, slot, generation) => Handle::new(self.tag, slot, generation),
            _ => fallback,
        })
    }

    /// What has been compiled so far and by whom, and what the requests have come to.
    pub fn pipeline_counts(&self) -> PipelineCounts {
        self.pipelines.counts
    }

    fn request_of<K: Kind>(&self, ticket: &PipelineTicket<K>) -> Result<&Request> {
        self.check_lost("pipeline ticket")?;
        let problem = |problem| Error::InvalidHandle {
            what: "pipeline ticket".into(),
            handle: format!("{ticket:?}"),
            problem,
        };
        if ticket.device() != self.tag {
            return Err(problem(HandleProblem::Foreign));
        }
        self.pipelines.get(ticket.id()).ok_or_else(|| problem(HandleProblem::Stale))
    }
}
