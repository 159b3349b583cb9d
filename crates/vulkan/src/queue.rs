//! Submission and completion on the one queue, and the loss of the device.

use std::time::Duration;

use ash::vk;
use purlin_rhi::backend::NativeResult;
use purlin_rhi::error::BackendError;
use purlin_rhi::surface::FrameUse;
use smallvec::SmallVec;

use crate::barrier;
use crate::command::VulkanEncoder;
use crate::device::Vulkan;
use crate::memory::failed;

/// How far the queue is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Carries the ordinal of the last complete submission.
    pub timeline: vk::Semaphore,
    submitted: u64,
    completed: u64,
    /// What the driver said when it lost the device.
    lost: Option<String>,
}

impl Vulkan {
    /// Turns a native result into an error, and remembers a loss.
    pub(crate) fn note(&mut self, call: &'static str, error: vk::Result) -> BackendError {
        let error = failed(call, error);
        if let BackendError::DeviceLost(detail) = &error {
            tracing::error!(adapter = self.physical.info.name, detail, "the device is lost");
            self.progress.lost.get_or_insert_with(|| detail.clone());
        }
        error
    }

    pub(crate) fn alive(&self) -> NativeResult {
        match &self.progress.lost {
            None => Ok(()),
            Some(detail) => Err(BackendError::DeviceLost(detail.clone())),
        }
    }

    pub(crate) fn submit_encoders(
        &mut self,
        encoders: &mut Vec<VulkanEncoder>,
        ordinal: u64,
        frames: &[FrameUse],
    ) -> NativeResult {
        let result = self.try_submit(encoders, ordinal, frames);
        for encoder in encoders.drain(..) {
            match result {
                Ok(()) => self.encoder_submitted(encoder, ordinal),
                Err(_) => self.recycle_encoder(encoder),
            }
        }
        result
    }

    fn try_submit(&mut self, encoders: &[VulkanEncoder], ordinal: u64, frames: &[FrameUse]) -> NativeResult {
        self.alive()?;
        debug_assert!(ordinal > self.progress.submitted, "ordinals increase");
        let mut buffers = SmallVec::<[vk::CommandBufferSubmitInfo<'_>; 16]>::new();
        for encoder in encoders {
            // SAFETY: the encoder was given up by its thread, and its passes are ended.
            if let Err(error) = unsafe { self.raw.end_command_buffer(encoder.buffer) } {
                return Err(self.note("vkEndCommandBuffer", error));
            }
            buffers.push(vk::CommandBufferSubmitInfo::default().command_buffer(encoder.buffer));
        }
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let at =
            |semaphore, stages| vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(stages);
        let mut waits = SmallVec::<[vk::SemaphoreSubmitInfo<'_>; 2]>::new();
        let mut signals = SmallVec::<[vk::SemaphoreSubmitInfo<'_>; 3]>::new();
        signals.push(at(self.progress.timeline, all).value(ordinal));
        for frame in frames {
            let (acquired, ready) = self.semaphores(frame.image, frame.wait.map(|(semaphore, _)| semaphore));
            if let (Some(acquired), Some((_, stages))) = (acquired, frame.wait) {
                waits.push(at(acquired, barrier::stages(stages)));
            }
            if frame.present {
                signals.push(at(ready, all));
            }
        }
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&buffers)
            .wait_semaphore_infos(&waits)
            .signal_semaphore_infos(&signals);
        // SAFETY: `&mut self` is the queue's external synchronization; the command buffers are executable and
        // pending nowhere; the ordinal is above the semaphore's value.
        match unsafe { self.raw.queue_submit2(self.queue, &[info], vk::Fence::null()) } {
            Ok(()) => {
                self.progress.submitted = ordinal;
                Ok(())
            }
            Err(error) => Err(self.note("vkQueueSubmit2", error)),
        }
    }

    pub(crate) fn poll(&mut self) -> Result<u64, BackendError> {
        self.alive()?;
        if self.progress.completed == self.progress.submitted {
            return Ok(self.progress.completed);
        }
        let mut value = self.progress.completed;
        // SAFETY: the semaphore is live and a timeline. Called directly, for `ash` would hand out what a driver that
        // only pretends left unwritten.
        let result = unsafe {
            (self.raw.fp_v1_2().get_semaphore_counter_value)(
                self.raw.handle(),
                self.progress.timeline,
                &mut value,
            )
        };
        if let Err(error) = result.result() {
            return Err(self.note("vkGetSemaphoreCounterValue", error));
        }
        if value > self.progress.submitted {
            // Some drivers answer a lost device's counter with the largest number instead of an error.
            return Err(self.note("vkGetSemaphoreCounterValue", vk::Result::ERROR_DEVICE_LOST));
        }
        self.complete(value);
        Ok(self.progress.completed)
    }

    fn complete(&mut self, ordinal: u64) {
        self.progress.completed = self.progress.completed.max(ordinal);
        self.pools.retire(&self.raw, self.progress.completed);
        self.section_pools.retire(&self.raw, self.progress.completed);
    }

    pub(crate) fn wait_for(&mut self, ordinal: u64, timeout: Duration) -> Result<bool, BackendError> {
        self.alive()?;
        if ordinal <= self.progress.completed {
            return Ok(true);
        }
        match self.wait_native(ordinal, timeout) {
            Ok(()) => {
                self.complete(ordinal);
                Ok(true)
            }
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(error) => Err(self.note("vkWaitSemaphores", error)),
        }
    }

    fn wait_native(&self, ordinal: u64, timeout: Duration) -> Result<(), vk::Result> {
        let semaphores = [self.progress.timeline];
        let values = [ordinal];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the semaphore is live and a timeline.
        unsafe { self.raw.wait_semaphores(&info, nanoseconds) }
    }

    /// Waits until no submission runs; false when that takes too long. A lost device runs none.
    pub(crate) fn settle(&self, timeout: Duration) -> bool {
        self.progress.submitted == self.progress.completed
            || self.wait_native(self.progress.submitted, timeout) != Err(vk::Result::TIMEOUT)
    }
}
