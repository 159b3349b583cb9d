//! GPU time of frames and passes, by timestamps around each, delivered when the submission has completed.
//!
//! Times are of the GPU's clock alone: what the CPU's clock says never stands in for them. It only bounds how long a frame
//! can have taken, so that a counter of few bits that came round is told from one that may have come round twice.

use std::collections::VecDeque;
use std::time::Duration;

use crate::backend::{Backend, Encoder};
use crate::capability::TimestampQuery;
use crate::clock::Instant;
use crate::desc::QuerySetDesc;
use crate::device::{Device, SubmissionToken};
use crate::error::Result;
use crate::handle::QuerySet;
use crate::types::QueryType;

/// Passes of one submission that can be timed; later ones are not.
const MAX_PASSES: u32 = 512;
/// Two timestamps for each, and two for the frame, which are the first.
const QUERIES: u32 = MAX_PASSES * 2 + 2;

/// How long something took on the GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GpuTime {
    /// Nanoseconds, in steps of the clock's tick; zero when it took less than one.
    Elapsed(f64),
    /// The driver has no value.
    Unavailable,
    /// The clock went back in between, or may have come round more often than it can tell.
    Disjoint,
}

impl GpuTime {
    /// The nanoseconds, where there are some to trust.
    pub fn nanoseconds(self) -> Option<f64> {
        match self {
            GpuTime::Elapsed(nanoseconds) => Some(nanoseconds),
            GpuTime::Unavailable | GpuTime::Disjoint => None,
        }
    }
}

/// The GPU time of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTime {
    /// The pass's label.
    pub label: String,
    /// From its first to its last command.
    pub time: GpuTime,
}

/// How fine the GPU's clock is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimestampPrecision {
    /// Nanoseconds of a tick. Browsers round to more than that, and do not say to what.
    pub tick: f32,
    /// Bits of the counter, after which it comes round; `None` where the API does not say.
    pub valid_bits: Option<u32>,
}

/// The GPU times of one submission.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameTime {
    /// The submission.
    pub token: SubmissionToken,
    /// From its first to its last command: passes and all that lies between them, but not the wait for the GPU to begin,
    /// nor presentation.
    pub time: GpuTime,
    /// The passes in order.
    pub passes: Vec<PassTime>,
    /// Passes beyond the first 512, which have no times.
    pub untimed: u32,
    /// How fine all of these are.
    pub precision: TimestampPrecision,
}

/// What there is to say of the GPU's times.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// Nothing is timed: timings are off, and all earlier ones were taken.
    Off,
    /// Timings are on, and nothing was submitted since times were last taken.
    NotSubmitted,
    /// The GPU is not done with what was submitted.
    Pending,
    /// The newest completed submission whose times were not taken yet.
    Ready(FrameTime),
}

#[derive(Debug)]
struct Frame {
    set: QuerySet,
    names: String,
    ends: Vec<usize>,
    untimed: u32,
    ordinal: u64,
    /// When its recording began; `None` where there is no clock to ask.
    begun: Option<Instant>,
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
            frame.untimed += 1;
            return None;
        }
        frame.names.push_str(label);
        frame.ends.push(frame.names.len());
        Some((frame.set.slot(), index * 2 + 2))
    }

    /// Where the frame's last timestamp goes.
    #[inline]
    pub(crate) fn end(&self) -> Option<(u32, u32)> {
        self.current.as_ref().map(|frame| (frame.set.slot(), 1))
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

/// The CPU's clock, where there is one that does not panic.
fn now() -> Option<Instant> {
    if cfg!(target_family = "wasm") { None } else { Some(Instant::now()) }
}

impl<B: Backend> Device<B> {
    /// Times all submissions and their passes from now on. The token proves that the device can.
    pub fn enable_timings(&mut self, _capability: TimestampQuery, enabled: bool) {
        self.timings.enabled = enabled;
    }

    /// How fine the GPU's clock is; `None` without [`Features::TIMESTAMP_QUERY`](crate::Features::TIMESTAMP_QUERY).
    pub fn timestamp_precision(&self) -> Option<TimestampPrecision> {
        self.capability::<TimestampQuery>()?;
        let capabilities = self.capabilities();
        Some(TimestampPrecision {
            tick: capabilities.timestamp_period,
            valid_bits: capabilities.timestamp_valid_bits,
        })
    }

    /// Takes a query set for a recording, if timings are on, and writes its first timestamp.
    pub(crate) fn begin_timings(&mut self, encoder: &mut B::Encoder) -> Result<()> {
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
                let desc = QuerySetDesc { label: "pass timings", ty: QueryType::Timestamp, count: QUERIES };
                let set = self.new_query_set(&desc)?;
                let (names, ends) = (String::new(), Vec::new());
                Frame { set, names, ends, untimed: 0, ordinal: 0, begun: None }
            }
        };
        frame.names.clear();
        frame.ends.clear();
        frame.untimed = 0;
        frame.begun = now();
        self.backend.reset_queries(frame.set.slot(), 0, QUERIES);
        encoder.write_timestamp(&self.backend, frame.set.slot(), 0);
        self.timings.current = Some(frame);
        Ok(())
    }

    /// The GPU times of the newest completed submission that were not taken yet, or why there are none. Never waits.
    pub fn frame_time(&mut self) -> Result<Timing> {
        self.poll()?;
        let mut newest = None;
        while self.timings.in_flight.front().is_some_and(|frame| frame.ordinal <= self.completed) {
            let frame = self.timings.in_flight.pop_front();
            self.timings.free.extend(std::mem::replace(&mut newest, frame));
        }
        let Some(frame) = newest else {
            return Ok(match (self.timings.in_flight.is_empty(), self.timings.enabled) {
                (false, _) => Timing::Pending,
                (true, true) => Timing::NotSubmitted,
                (true, false) => Timing::Off,
            });
        };
        let capabilities = self.capabilities();
        let precision = TimestampPrecision {
            tick: capabilities.timestamp_period,
            valid_bits: capabilities.timestamp_valid_bits,
        };
        let bound = frame.begun.map(|begun| begun.elapsed());
        let mut ticks = vec![None; frame.ends.len() * 2 + 2];
        self.backend.read_timestamps(frame.set.slot(), 0, &mut ticks);
        let mut times = ticks.chunks_exact(2).map(|pair| elapsed(pair[0], pair[1], precision, bound));
        let time = times.next().unwrap_or(GpuTime::Unavailable);
        let mut start = 0;
        let passes = frame.ends.iter().zip(times).map(|(&end, time)| {
            let label = frame.names[start..end].to_string();
            start = end;
            PassTime { label, time }
        });
        let ready = FrameTime {
            token: SubmissionToken { device: self.tag, ordinal: frame.ordinal },
            time,
            passes: passes.collect(),
            untimed: frame.untimed,
            precision,
        };
        self.timings.free.push(frame);
        Ok(Timing::Ready(ready))
    }

    /// The pass times of [`Self::frame_time`] when they are ready; `None` when there are none.
    pub fn pass_times(&mut self) -> Result<Option<Vec<PassTime>>> {
        Ok(match self.frame_time()? {
            Timing::Ready(frame) => Some(frame.passes),
            Timing::Off | Timing::NotSubmitted | Timing::Pending => None,
        })
    }
}

/// The time between two timestamps. No more than `bound` has gone by between them.
fn elapsed(
    begin: Option<u64>,
    end: Option<u64>,
    precision: TimestampPrecision,
    bound: Option<Duration>,
) -> GpuTime {
    let (Some(begin), Some(end)) = (begin, end) else { return GpuTime::Unavailable };
    let tick = f64::from(precision.tick);
    let ticks = match precision.valid_bits {
        Some(bits) if bits < 64 => {
            let round = (1u64 << bits) as f64 * tick;
            // Only in less than a round the difference is the one that the counter shows.
            let once = bound.is_some_and(|bound| (bound.as_nanos() as f64) < round);
            once.then_some(end.wrapping_sub(begin) & ((1 << bits) - 1))
        }
        _ => end.checked_sub(begin),
    };
    ticks.map_or(GpuTime::Disjoint, |ticks| GpuTime::Elapsed(ticks as f64 * tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: TimestampPrecision = TimestampPrecision { tick: 2.5, valid_bits: None };
    const SHORT: Option<Duration> = Some(Duration::from_millis(1));

    #[test]
    fn missing_and_disjoint_timestamps_have_no_value() {
        let of = |begin, end| elapsed(begin, end, WIDE, None);
        assert_eq!(of(Some(10), Some(14)), GpuTime::Elapsed(10.0));
        assert_eq!(of(Some(10), Some(10)), GpuTime::Elapsed(0.0));
        assert_eq!(of(Some(14), Some(10)), GpuTime::Disjoint);
        assert_eq!(of(None, Some(10)), GpuTime::Unavailable);
        assert_eq!(of(Some(10), None), GpuTime::Unavailable);
        let full = TimestampPrecision { valid_bits: Some(64), ..WIDE };
        assert_eq!(elapsed(Some(14), Some(10), full, SHORT), GpuTime::Disjoint);
        assert_eq!(elapsed(Some(0), Some(4), full, SHORT), GpuTime::Elapsed(10.0));
    }

    #[test]
    fn a_counter_that_came_round_once_is_trusted_and_no_other() {
        // 65,536 ticks of 100 nanoseconds: 6.5 milliseconds.
        let narrow = TimestampPrecision { tick: 100.0, valid_bits: Some(16) };
        let of = |begin, end, bound| elapsed(Some(begin), Some(end), narrow, bound);
        assert_eq!(of(0xfffe, 3, SHORT), GpuTime::Elapsed(500.0));
        assert_eq!(of(3, 8, SHORT), GpuTime::Elapsed(500.0));
        let long = Some(Duration::from_millis(7));
        assert_eq!(of(0xfffe, 3, long), GpuTime::Disjoint);
        assert_eq!(of(3, 8, long), GpuTime::Disjoint, "it may have come round without a trace");
        assert_eq!(of(3, 8, None), GpuTime::Disjoint, "nobody knows how long it took");
    }
}
