//! A pipeline that is replaced while the program runs.

use super::{PipelineState, PipelineTicket};
use crate::backend::Backend;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, kind::Kind};

/// A pipeline in use, and the one that takes over when it is there. A replacement that fails takes nothing away.
#[derive(Debug)]
pub struct LivePipeline<K: Kind> {
    current: PipelineTicket<K>,
    next: Option<PipelineTicket<K>>,
}

/// What [`LivePipeline::update`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveUpdate {
    /// Nothing new.
    Unchanged,
    /// The replacement is in use from now on.
    Replaced,
    /// The replacement failed, with this error; the one before stays.
    Failed(Error),
}

impl<K: Kind> LivePipeline<K> {
    /// Begins with a requested pipeline.
    pub fn new(ticket: PipelineTicket<K>) -> Self {
        Self { current: ticket, next: None }
    }

    /// Lets another request take over once it is ready. One that was to take over before is dropped.
    pub fn replace(&mut self, ticket: PipelineTicket<K>) {
        self.next = Some(ticket);
    }

    /// Whether a replacement is pending.
    pub fn is_replacing(&self) -> bool {
        self.next.is_some()
    }

    /// Takes over a replacement that is ready. Call it between frames.
    ///
    /// # Errors
    /// A ticket of another device; device loss.
    pub fn update<B: Backend>(&mut self, device: &Device<B>) -> Result<LiveUpdate> {
        let Some(next) = self.next.take() else { return Ok(LiveUpdate::Unchanged) };
        Ok(match device.pipeline_state(&next)? {
            PipelineState::Pending => {
                self.next = Some(next);
                LiveUpdate::Unchanged
            }
            PipelineState::Ready(_) => {
                self.current = next;
                LiveUpdate::Replaced
            }
            PipelineState::Failed(error) => LiveUpdate::Failed(error),
        })
    }

    /// The pipeline in use; see [`Device::pipeline`].
    pub fn get<B: Backend>(&self, device: &Device<B>) -> Result<Handle<K>> {
        device.pipeline(&self.current)
    }

    /// The pipeline in use, or the fallback; see [`Device::pipeline_or`].
    pub fn get_or<B: Backend>(&self, device: &Device<B>, fallback: Handle<K>) -> Result<Handle<K>> {
        device.pipeline_or(&self.current, fallback)
    }
}
