//! Pipelines that compile on another thread, when and as a test chooses; and a pipeline cache that notes what it is given.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::Null;
use super::control::{NullControl, Shared};
use super::tables::{CHECK, Info};
use crate::backend::{NativeResult, PipelineCacheIdentity, PipelineJob};
use crate::error::BackendError;
use crate::handle::ResourceKind;

/// What a null device's pipeline job made.
#[derive(Debug)]
pub struct NullPipeline {
    kind: ResourceKind,
}

impl Null {
    /// The job of a pipeline, if the configuration has jobs.
    pub(super) fn pipeline_job(&self, kind: ResourceKind) -> Option<PipelineJob<NullPipeline>> {
        if !self.config.pipeline_jobs {
            return None;
        }
        let shared = self.shared.clone();
        Some(Box::new(move || run(&shared, kind)))
    }

    pub(super) fn adopt(&mut self, kind: ResourceKind, slot: u32, label: &str, compiled: NullPipeline) {
        self.shared.count(1);
        if CHECK {
            self.tables.check_empty(kind, slot);
            assert_eq!(compiled.kind, kind, "null backend: a job's pipeline goes to a slot of its kind");
        }
        self.tables.insert(kind, slot, label, 0, Info::Other);
    }

    pub(super) fn give_up(&mut self, compiled: &NullPipeline) {
        self.shared.count(1);
        self.shared.live(compiled.kind).fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the null driver keeps: bytes of no meaning.
fn first_cache() -> Vec<u8> {
    (0..4096_u32).map(|index| (index * 7 + index / 256) as u8).collect()
}

impl Null {
    pub(super) fn cache_identity(&self) -> Option<PipelineCacheIdentity> {
        let uuid = *b"null cache, v. 1";
        let identity =
            PipelineCacheIdentity { backend: "null", vendor: 0x10de, device: 7, driver_version: 3, uuid };
        self.config.pipeline_cache.then_some(identity)
    }

    pub(super) fn cache_data(&self) -> Result<Vec<u8>, BackendError> {
        self.shared.count(1);
        self.shared.lock().step()?;
        Ok(first_cache())
    }

    pub(super) fn add_cache(&mut self, data: &[u8]) -> NativeResult {
        self.shared.count(1);
        let mut state = self.shared.lock();
        state.step()?;
        state.caches.push(data.into());
        Ok(())
    }
}

fn run(shared: &Arc<Shared>, kind: ResourceKind) -> Result<NullPipeline, BackendError> {
    let mut state = shared.lock();
    state.jobs_begun += 1;
    state = shared
        .gate
        .wait_while(state, |state| state.jobs_held && !state.is_lost())
        .unwrap_or_else(PoisonError::into_inner);
    state.step()?;
    if state.faults.creation(kind) {
        return Err(BackendError::OutOfMemory { bytes: 0 });
    }
    shared.live(kind).fetch_add(1, Ordering::Relaxed);
    Ok(NullPipeline { kind })
}

impl NullControl {
    /// Whether pipeline jobs wait before they do anything, until they are let go or the device is lost.
    pub fn hold_jobs(&self, on: bool) {
        self.shared.lock().jobs_held = on;
        self.shared.gate.notify_all();
    }

    /// The pipeline caches that the driver was given so far, oldest first.
    pub fn caches(&self) -> Vec<Vec<u8>> {
        self.shared.lock().caches.clone()
    }

    /// Pipeline jobs that have begun so far.
    pub fn jobs_begun(&self) -> u64 {
        self.shared.lock().jobs_begun
    }
}
