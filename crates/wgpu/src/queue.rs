//! Submission and completion on the one queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use purlin_rhi::backend::NativeResult;
use purlin_rhi::error::BackendError;
use smallvec::SmallVec;

use crate::buffer::Memory;
use crate::command::WgpuEncoder;
use crate::device::Wgpu;

/// wgpu counts a wait's nanoseconds; this is longer than anyone waits.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A submission whose callbacks have not all come.
#[derive(Debug)]
pub(crate) struct Flight {
    ordinal: u64,
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    index: wgpu::SubmissionIndex,
    /// Callbacks that are still to come: one for the work, one for each readback.
    open: Arc<AtomicU32>,
}

impl Wgpu {
    pub(crate) fn submit_encoders(&mut self, encoders: &mut Vec<WgpuEncoder>, ordinal: u64) -> NativeResult {
        // On an error, what is left of them is dropped here.
        let encoders = std::mem::take(encoders);
        self.errors.loss.check()?;
        let mut readbacks = SmallVec::<[u32; 8]>::new();
        let mut sets = SmallVec::<[u32; 4]>::new();
        for encoder in &encoders {
            readbacks.extend_from_slice(&encoder.readbacks);
            sets.extend(encoder.timestamps.iter().map(|(set, _)| *set));
        }
        readbacks.sort_unstable();
        readbacks.dedup();
        sets.sort_unstable();
        sets.dedup();
        for &slot in &readbacks {
            if let Some(buffer) = self.buffers.get_mut(slot) {
                buffer.unmap();
            }
        }
        for &slot in &sets {
            if let Some(set) = self.query_sets.get_mut(slot)
                && std::mem::take(&mut set.mapped)
            {
                set.staging.unmap();
            }
        }
        let index = self.errors.catch(&self.device, "submit", || {
            self.flush_shadows();
            let buffers: SmallVec<[wgpu::CommandBuffer; 4]> =
                encoders.into_iter().map(|encoder| encoder.finish(self)).collect();
            self.queue.submit(buffers)
        })?;

        let open = Arc::new(AtomicU32::new(1 + (readbacks.len() + sets.len()) as u32));
        for &slot in &readbacks {
            if let Some(buffer) = self.buffers.get_mut(slot) {
                buffer.memory = Memory::Readback { mapped: true };
                map(&buffer.raw, &open, &self.errors.loss);
            }
        }
        for &slot in &sets {
            if let Some(set) = self.query_sets.get_mut(slot) {
                set.mapped = true;
                map(&set.staging, &open, &self.errors.loss);
            }
        }
        let done = Arc::clone(&open);
        self.queue.on_submitted_work_done(move || {
            done.fetch_sub(1, Ordering::Release);
        });
        self.in_flight.push_back(Flight { ordinal, index, open });
        self.submitted = ordinal;
        Ok(())
    }

    pub(crate) fn poll(&mut self) -> Result<u64, BackendError> {
        #[cfg(target_arch = "wasm32")]
        if self.canvas.as_ref().is_some_and(crate::Canvas::is_lost) {
            self.errors.loss.report("the browser has taken the canvas's context away");
        }
        self.errors.loss.check()?;
        if !self.in_flight.is_empty() {
            if let Err(error) = self.device.poll(wgpu::PollType::Poll) {
                return Err(BackendError::Failed { call: "poll", detail: error.to_string() });
            }
            self.land();
            self.errors.loss.check()?;
        }
        Ok(self.completed)
    }

    /// Takes what is complete, in order.
    fn land(&mut self) {
        while let Some(flight) = self.in_flight.front()
            && flight.open.load(Ordering::Acquire) == 0
        {
            self.completed = flight.ordinal;
            self.in_flight.pop_front();
        }
    }

    pub(crate) fn wait_for(&mut self, ordinal: u64, timeout: Duration) -> Result<bool, BackendError> {
        self.poll()?;
        #[cfg(not(target_arch = "wasm32"))]
        if self.completed < ordinal
            && let Some(flight) = self.in_flight.iter().find(|flight| flight.ordinal >= ordinal)
        {
            let wait = wgpu::PollType::Wait {
                submission_index: Some(flight.index.clone()),
                timeout: Some(timeout.min(LONGEST_WAIT)),
            };
            match self.device.poll(wait) {
                Ok(_) | Err(wgpu::PollError::Timeout) => {}
                Err(error) => {
                    return Err(BackendError::Failed { call: "poll", detail: error.to_string() });
                }
            }
            self.land();
            self.errors.loss.check()?;
        }
        #[cfg(target_arch = "wasm32")]
        if let Some(pause) = self.pause {
            let begin = js_sys::Date::now();
            let longest = timeout.min(LONGEST_WAIT).as_secs_f64() * 1000.0;
            while self.completed < ordinal && js_sys::Date::now() - begin < longest {
                pause();
                self.poll()?;
            }
        }
        Ok(self.completed >= ordinal)
    }
}

/// Asks for a mapping; its arrival is one of the submission's callbacks.
fn map(buffer: &wgpu::Buffer, open: &Arc<AtomicU32>, loss: &crate::errors::Loss) {
    let open = Arc::clone(open);
    let loss = loss.clone();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        if let Err(error) = result {
            // The device is lost, or out of memory. A browser maps what is its own memory already, so there it is lost; it
            // says so itself only after this.
            if cfg!(target_arch = "wasm32") {
                loss.report(format!("a readback could not be mapped: {error}"));
            } else {
                loss.note(BackendError::Failed { call: "map_async", detail: error.to_string() });
            }
        }
        open.fetch_sub(1, Ordering::Release);
    });
}
