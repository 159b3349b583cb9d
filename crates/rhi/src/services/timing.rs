//! GPU time of passes, by timestamps around each, delivered when the submission has completed.

use std::collections::VecDeque;

use crate::backend::Backend;
use crate::capability::TimestampQuery;
use crate::device::Device;
use crate::error::{Result, named};
use crate::handle::{QuerySet, ResourceKind};
use crate::registry::QuerySetRecord;

/// Passes of one submission that can be timed; later ones are not.
const MAX_PASSES: u32 = 512;

/// The GPU time of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTime {
    /// The pass's label.
    pub label: String,
    /// Nanoseconds from its first to its last command, or `None` where the driver has no value.
    pub nanoseconds: Option<f64>,
}

#[derive(Debug)]
struct Frame {
    set: QuerySet,
    names: String,
    ends: Vec<usize>,
    ordinal: u64,
}

/// Timestamps of the passes of recent submissions.
#[derive(Debug, Default)]
pub struct Timings {
    enabled: bool,
    current: Option<Frame>,
    in_flight: VecDeque<Frame>,
    free: Vec<Frame>,
}

impl Timings {
    /// Names the next pass; where its two timestamps go.
    #[inline]
    pub(crate) fn pass(&mut self, label: &str) -> Option<(u32, u32)> {
        if self.current.is_some() { self.name(label) } else { None }
    }

    #[cold]
    fn name(&mut self, label: &str) -> Option<(u32, u32)> {
        let frame = self.current.as_mut()?;
        let index = frame.ends.len() as u32;
        if index >= MAX_PASSES {
            return None;
        }
        frame.names.push_str(label);
        frame.ends.push(frame.names.len());
        Some((frame.set.slot(), index * 2))
    }

    pub(crate) fn submitted(&mut self, ordinal: u64) {
        if let Some(mut frame) = self.current.take() {
            frame.ordinal = ordinal;
            self.in_flight.push_back(frame);
        }
    }

    pub(crate) fn discard(&mut self) {
        self.free.extend(self.current.take());
    }
}

impl<B: Backend> Device<B> {
    /// Times the passes of all submissions from now on. The token proves that the device can.
    pub fn enable_timings(&mut self, _capability: TimestampQuery, enabled: bool) {
        self.timings.enabled = enabled;
    }

    /// Takes a query set for a recording, if timings are on.
    pub(crate) fn begin_timings(&mut self) -> Result<()> {
        if !self.timings.enabled {
            return Ok(());
        }
        // Old frames that nobody asked for come back, so that sets do not pile up.
        while self.timings.in_flight.len() > 4
            && self.timings.in_flight.front().is_some_and(|frame| frame.ordinal <= self.completed)
        {
            self.timings.free.extend(self.timings.in_flight.pop_front());
        }
        let mut frame = match self.timings.free.pop() {
            Some(frame) => frame,
            None => {
                let label = "pass timings";
                let slot = self.registry.query_sets.next_slot()?;
                if let Err(error) = self.backend.create_query_set(slot, label, MAX_PASSES * 2) {
                    return Err(self.backend_error(error, named(ResourceKind::QuerySet, label)));
                }
                let record = QuerySetRecord { label: label.into() };
                let set = self.registry.query_sets.insert(slot, record);
                Frame { set, names: String::new(), ends: Vec::new(), ordinal: 0 }
            }
        };
        frame.names.clear();
        frame.ends.clear();
        self.backend.reset_queries(frame.set.slot(), 0, MAX_PASSES * 2);
        self.timings.current = Some(frame);
        Ok(())
    }

    /// The pass times of the newest completed submission whose times were not read yet; `None` when there is none.
    pub fn pass_times(&mut self) -> Result<Option<Vec<PassTime>>> {
        self.poll()?;
        let mut newest = None;
        while self.timings.in_flight.front().is_some_and(|frame| frame.ordinal <= self.completed) {
            let frame = self.timings.in_flight.pop_front();
            self.timings.free.extend(std::mem::replace(&mut newest, frame));
        }
        let Some(frame) = newest else { return Ok(None) };
        let mut ticks = vec![None; frame.ends.len() * 2];
        self.backend.read_timestamps(frame.set.slot(), 0, &mut ticks);
        let period = f64::from(self.capabilities().timestamp_period);
        let mut start = 0;
        let times = frame
            .ends
            .iter()
            .zip(ticks.chunks_exact(2))
            .map(|(&end, pair)| {
                let label = frame.names[start..end].to_string();
                start = end;
                let nanoseconds = elapsed(pair[0], pair[1], period);
                PassTime { label, nanoseconds }
            })
            .collect();
        self.timings.free.push(frame);
        Ok(Some(times))
    }
}

/// Nanoseconds between two timestamps. There is no value when one is missing, or when the clock went back in between:
/// it was reset or is disjoint.
fn elapsed(begin: Option<u64>, end: Option<u64>, period: f64) -> Option<f64> {
    Some(end?.checked_sub(begin?)? as f64 * period)
}

#[cfg(test)]
mod tests {
    use super::elapsed;

    #[test]
    fn missing_and_disjoint_timestamps_have_no_value() {
        assert_eq!(elapsed(Some(10), Some(14), 2.5), Some(10.0));
        assert_eq!(elapsed(Some(10), Some(10), 2.5), Some(0.0));
        assert_eq!(elapsed(Some(14), Some(10), 2.5), None);
        assert_eq!(elapsed(None, Some(10), 2.5), None);
        assert_eq!(elapsed(Some(10), None, 2.5), None);
    }
}
