//! From a request to a pipeline: what the worker made is put into slots, what waits goes to the worker, and where there is
//! none the device compiles. Each step leaves a request queued, with the worker, ready or failed; nothing in between.

use std::time::Duration;

use super::key::AnyDesc;
use super::table::{Checked, Stage};
use super::worker::Worker;
use crate::backend::{Backend, PipelineJob};
use crate::clock::Instant;
use crate::device::Device;
use crate::error::{BackendError, Result, named};
use crate::handle::ResourceKind;

impl<B: Backend> Device<B> {
    /// Waits until no request is pending, at most this long and a compilation; whether none is. For loading screens, not
    /// for frames.
    pub fn wait_for_pipelines(&mut self, timeout: Duration) -> Result<bool> {
        let begun = Instant::now();
        loop {
            self.maintain()?;
            if !self.pipelines.is_busy() {
                return Ok(true);
            }
            let left = timeout.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            if let Some(worker) = &self.pipelines.worker {
                worker.wait(left);
            }
        }
    }

    /// Publishes what has been compiled and sees that compilation goes on.
    pub(crate) fn publish_pipelines(&mut self) -> Result<()> {
        while let Some((id, made)) = self.pipelines.worker.as_ref().and_then(Worker::take) {
            self.publish(id, made)?;
        }
        self.feed_worker()?;
        if self.pipelines.alone { self.compile_one() } else { Ok(()) }
    }

    /// Takes what the worker made of a request.
    fn publish(&mut self, id: u64, made: std::result::Result<B::Compiled, BackendError>) -> Result<()> {
        let Some(Stage::Compiling(checked)) = self.pipelines.take_stage(id) else {
            debug_assert!(false, "a job ended that no request had sent");
            if let Ok(compiled) = made {
                self.backend.discard_compiled(compiled);
            }
            return Ok(());
        };
        let compiled = match made {
            Ok(compiled) => compiled,
            Err(error) => return self.failed(id, checked, error),
        };
        self.pipelines.counts.in_background += 1;
        if !self.pipelines.is_wanted(id) {
            self.backend.discard_compiled(compiled);
            checked.release(&mut self.registry);
            self.pipelines.forget(id);
            return Ok(());
        }
        match self.next_pipeline_slot(&checked) {
            Ok(slot) => {
                match checked.kind() {
                    ResourceKind::ComputePipeline => {
                        self.backend.adopt_compute_pipeline(slot, checked.label(), compiled);
                    }
                    _ => self.backend.adopt_render_pipeline(slot, checked.label(), compiled),
                }
                self.ready(id, slot, checked);
            }
            Err(error) => {
                self.backend.discard_compiled(compiled);
                checked.release(&mut self.registry);
                self.pipelines.set_stage(id, Stage::Failed(error));
            }
        }
        Ok(())
    }

    fn next_pipeline_slot(&mut self, checked: &Checked) -> Result<u32> {
        match checked {
            Checked::Render(_) => self.registry.render_pipelines.next_slot(),
            Checked::Compute(_) => self.registry.compute_pipelines.next_slot(),
        }
    }

    /// Gives the slot its record, to which the request's leases go over.
    fn ready(&mut self, id: u64, slot: u32, checked: Checked) {
        let kind = checked.kind();
        let generation = match checked {
            Checked::Render(record) => self
                .registry
                .render_pipelines
                .insert::<crate::handle::kind::RenderPipeline>(slot, *record)
                .generation(),
            Checked::Compute(record) => self
                .registry
                .compute_pipelines
                .insert::<crate::handle::kind::ComputePipeline>(slot, record)
                .generation(),
        };
        self.pipelines.set_stage(id, Stage::Ready(kind, slot, generation));
    }

    /// Keeps why a request failed. The loss of the device is the caller's error.
    fn failed(&mut self, id: u64, checked: Checked, error: BackendError) -> Result<()> {
        let lost = matches!(error, BackendError::DeviceLost(_));
        let error = self.backend_error(error, named(checked.kind(), checked.label()));
        checked.release(&mut self.registry);
        if !lost {
            tracing::warn!(%error, "a pipeline could not be compiled");
        }
        if self.pipelines.is_wanted(id) {
            self.pipelines.set_stage(id, Stage::Failed(error.clone()));
        } else {
            self.pipelines.forget(id);
        }
        if lost { Err(error) } else { Ok(()) }
    }

    /// Hands queued requests to the worker while it has room, and finds out whether the backend has jobs at all.
    pub(super) fn feed_worker(&mut self) -> Result<()> {
        while !self.pipelines.alone
            && let Some(&id) = self.pipelines.queued.front()
        {
            if self.pipelines.worker.as_ref().is_some_and(|worker| !worker.has_room()) {
                break;
            }
            match self.job(id) {
                Ok(Some(job)) => {
                    if self.pipelines.worker.is_none() {
                        self.pipelines.worker = Worker::start();
                    }
                    let Some(worker) = &self.pipelines.worker else {
                        self.pipelines.alone = true;
                        break;
                    };
                    worker.send(id, job);
                    self.pipelines.queued.pop_front();
                    if let Some(Stage::Queued(checked)) = self.pipelines.take_stage(id) {
                        self.pipelines.set_stage(id, Stage::Compiling(checked));
                    }
                }
                Ok(None) => self.pipelines.alone = true,
                Err(error) => {
                    self.pipelines.queued.pop_front();
                    if let Some(Stage::Queued(checked)) = self.pipelines.take_stage(id) {
                        self.failed(id, checked, error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The job of a queued request, if the backend has jobs.
    fn job(&self, id: u64) -> std::result::Result<Option<PipelineJob<B::Compiled>>, BackendError> {
        let Some(request) = self.pipelines.get(id) else { return Ok(None) };
        let Stage::Queued(checked) = &request.stage else { return Ok(None) };
        let call = |desc: AnyDesc<'_>| match desc {
            AnyDesc::Render(desc) => self.backend.render_pipeline_job(desc),
            AnyDesc::Compute(desc) => self.backend.compute_pipeline_job(desc),
        };
        request.key.with_desc(checked.label(), &request.modules, call).unwrap_or(Ok(None))
    }

    /// Compiles the oldest queued request here and now.
    fn compile_one(&mut self) -> Result<()> {
        let Some(id) = self.pipelines.queued.pop_front() else { return Ok(()) };
        let Some(Stage::Queued(checked)) = self.pipelines.take_stage(id) else { return Ok(()) };
        let slot = match self.next_pipeline_slot(&checked) {
            Ok(slot) => slot,
            Err(error) => {
                checked.release(&mut self.registry);
                self.pipelines.set_stage(id, Stage::Failed(error));
                return Ok(());
            }
        };
        let Self { pipelines, backend, .. } = self;
        let made = pipelines.get(id).and_then(|request| {
            request.key.with_desc(checked.label(), &request.modules, |desc| match desc {
                AnyDesc::Render(desc) => backend.create_render_pipeline(slot, desc),
                AnyDesc::Compute(desc) => backend.create_compute_pipeline(slot, desc),
            })
        });
        match made {
            Some(Ok(())) => {
                self.pipelines.counts.on_thread += 1;
                self.ready(id, slot, checked);
                Ok(())
            }
            Some(Err(error)) => self.failed(id, checked, error),
            None => Ok(()),
        }
    }

    /// Ends the worker, and gives back what it made and nobody took. At the device's end.
    pub(crate) fn stop_pipelines(&mut self) {
        let Some(worker) = self.pipelines.worker.take() else { return };
        for (_, made) in worker.stop() {
            if let Ok(compiled) = made {
                self.backend.discard_compiled(compiled);
            }
        }
    }
}
