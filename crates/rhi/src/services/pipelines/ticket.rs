//! Tickets, and what they say.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::Error;
use crate::handle::{DeviceTag, Handle, kind::Kind};
use crate::owned::{DropNote, DropQueue};

/// Names a requested pipeline. Clones name the same one; when the last ticket of a request is dropped, the pipeline goes.
pub struct PipelineTicket<K: Kind> {
    lease: Arc<Lease>,
    kind: PhantomData<fn() -> K>,
}

/// One ticket with its clones, as the request counts it.
struct Lease {
    device: DeviceTag,
    id: u64,
    drops: &'static DropQueue,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.drops.push(DropNote::Pipeline { device: self.device, id: self.id });
    }
}

impl<K: Kind> PipelineTicket<K> {
    pub(super) fn new(device: DeviceTag, id: u64, drops: &'static DropQueue) -> Self {
        Self { lease: Arc::new(Lease { device, id, drops }), kind: PhantomData }
    }

    pub(super) fn id(&self) -> u64 {
        self.lease.id
    }

    pub(super) fn device(&self) -> DeviceTag {
        self.lease.device
    }

    /// Whether both name the same request: their descriptions are equal, and one pipeline serves both.
    pub fn is_same(&self, other: &Self) -> bool {
        self.lease.device == other.lease.device && self.lease.id == other.lease.id
    }
}

impl<K: Kind> Clone for PipelineTicket<K> {
    fn clone(&self) -> Self {
        Self { lease: self.lease.clone(), kind: PhantomData }
    }
}

impl<K: Kind> fmt::Debug for PipelineTicket<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} request {} of device {}", K::KIND, self.lease.id, self.lease.device.0)
    }
}

/// What a request has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipelineState<K: Kind> {
    /// It waits, or is being compiled. There is no handle, so nothing can bind it.
    Pending,
    /// It is there, until the last ticket is dropped.
    Ready(Handle<K>),
    /// The driver refused it, and why. It stays so: the same request is tried anew when all its tickets were dropped.
    Failed(Error),
}

/// What a device's pipelines have come to. The first four only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PipelineCounts {
    /// Compiled by `create_render_pipeline` and `create_compute_pipeline`, while the caller waited.
    pub created: u64,
    /// Compiled for requests by the device's worker.
    pub in_background: u64,
    /// Compiled for requests on the device's own thread.
    pub on_thread: u64,
    /// Requests that an equal one before answered.
    pub shared: u64,
    /// Requests that wait or are being compiled, those that nobody wants any more included.
    pub pending: usize,
    /// Requests whose pipeline is there.
    pub ready: usize,
    /// Requests that failed.
    pub failed: usize,
}

impl PipelineCounts {
    /// Every compilation so far, whoever did it.
    pub fn compiled(&self) -> u64 {
        self.created + self.in_background + self.on_thread
    }
}
