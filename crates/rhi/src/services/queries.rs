//! Reading queries back: through the readbacks' staging, with a state for each query.

use std::ops::Range;

use smallvec::SmallVec;

use super::readback::{Progress, ReadTicket, StagedRows};
use crate::backend::{Backend, Encoder};
use crate::desc::BufferSlice;
use crate::device::Device;
use crate::error::{Result, invalid, named, state};
use crate::handle::{QuerySet, ResourceKind};
use crate::record::Recorder;
use crate::types::{PipelineStatisticsTypes, QueryType};

const WORD: u64 = size_of::<u64>() as u64;

/// What pipelines did between the begin and the end of a query. What the set does not count is `None`.
///
/// Vulkan lets a driver count more than is necessary, and less where the outcome is the same: helper invocations,
/// vertices that are shaded twice or not again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PipelineStatistics {
    /// Runs of vertex shaders.
    pub vertex_shader_invocations: Option<u64>,
    /// Primitives that reached the clipper.
    pub clipper_invocations: Option<u64>,
    /// Primitives that came out of it.
    pub clipper_primitives_out: Option<u64>,
    /// Runs of fragment shaders.
    pub fragment_shader_invocations: Option<u64>,
    /// Runs of compute shaders.
    pub compute_shader_invocations: Option<u64>,
}

impl PipelineStatistics {
    /// From the counted words, in the order of their bits.
    fn new(counted: PipelineStatisticsTypes, words: &[u64]) -> Self {
        let mut words = words.iter().copied();
        let mut next = |bit| if counted.contains(bit) { words.next() } else { None };
        Self {
            vertex_shader_invocations: next(PipelineStatisticsTypes::VERTEX_SHADER_INVOCATIONS),
            clipper_invocations: next(PipelineStatisticsTypes::CLIPPER_INVOCATIONS),
            clipper_primitives_out: next(PipelineStatisticsTypes::CLIPPER_PRIMITIVES_OUT),
            fragment_shader_invocations: next(PipelineStatisticsTypes::FRAGMENT_SHADER_INVOCATIONS),
            compute_shader_invocations: next(PipelineStatisticsTypes::COMPUTE_SHADER_INVOCATIONS),
        }
    }
}

/// What a query found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryValue {
    /// Whether any sample passed. How many, no two APIs agree to say.
    Occlusion(bool),
    /// The GPU's clock, in ticks of [`Capabilities::timestamp_period`](crate::Capabilities::timestamp_period) nanoseconds.
    /// Only differences mean anything, and only within
    /// [`Capabilities::timestamp_valid_bits`](crate::Capabilities::timestamp_valid_bits).
    Timestamp(u64),
    /// What was counted.
    PipelineStatistics(PipelineStatistics),
}

/// What there is to say of a query that was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryState {
    /// The recording that reads it is not submitted.
    NotSubmitted,
    /// The GPU is not done with it.
    Pending,
    /// The recording never wrote it, so there is no value. That is not zero.
    Unavailable,
    /// What it found.
    Value(QueryValue),
}

/// Claims the results of queries. Dropping it gives them up.
#[derive(Debug)]
#[must_use = "dropping the ticket gives up the results"]
pub struct QueryTicket {
    read: ReadTicket,
    ty: QueryType,
    count: u32,
    /// A bit for each query that was written.
    written: SmallVec<[u64; 4]>,
}

impl QueryTicket {
    /// How many queries are read.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether none is read; never so.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn is_written(&self, index: usize) -> bool {
        self.written.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 != 0)
    }
}

/// Words of a query's result.
pub(crate) fn words(ty: QueryType) -> u32 {
    match ty {
        QueryType::Occlusion | QueryType::Timestamp => 1,
        QueryType::PipelineStatistics(counted) => counted.bits().count_ones(),
    }
}

/// The runs of ones among the first `count` bits.
fn runs(bits: &[u64], count: u32) -> impl Iterator<Item = Range<u32>> {
    let is_set = |index: u32| bits.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 != 0);
    let mut next = 0;
    std::iter::from_fn(move || {
        let first = (next..count).find(|&index| is_set(index))?;
        next = (first..count).find(|&index| !is_set(index)).unwrap_or(count);
        Some(first..next)
    })
}

impl<B: Backend> Recorder<'_, B> {
    /// Reads queries of a set as they are now; the ticket has states at once and values once the submission has completed.
    /// Queries that this recording has not written so far are [`QueryState::Unavailable`], and nothing waits for them.
    ///
    /// # Errors
    /// A stale or foreign set, an empty range, one beyond the set;
    /// [`Error::Pending`](crate::Error::Pending) or [`Error::CapacityExceeded`](crate::Error::CapacityExceeded) when there
    /// is no staging.
    pub fn read_queries(&mut self, set: QuerySet, range: Range<u32>) -> Result<QueryTicket> {
        self.check("read_queries")?;
        let result = self.read_queries_inner(set, range);
        self.keep(result)
    }

    fn read_queries_inner(&mut self, set: QuerySet, range: Range<u32>) -> Result<QueryTicket> {
        let what = || "read_queries".to_string();
        let record = self.device.registry.query_sets.check(set, what)?;
        let (ty, count) = (record.ty, range.end.saturating_sub(range.start));
        if count == 0 || range.end > record.count {
            let set = named(ResourceKind::QuerySet, &record.label);
            let expected = format!("some of the {} queries of {set}", record.count);
            return Err(invalid(what(), "range", expected, format!("{range:?}")));
        }
        let all = self.device.scratch.kept.queries.written(set);
        let mut written: SmallVec<[u64; 4]> = SmallVec::from_elem(0, count.div_ceil(64) as usize);
        for index in 0..count {
            let at = range.start + index;
            let word = all.get(at as usize / 64).map_or(0, |word| word >> (at % 64) & 1);
            written[index as usize / 64] |= word << (index % 64);
        }
        let bytes = WORD * u64::from(words(ty));
        let rows = StagedRows::bytes(bytes * u64::from(count));
        let (staging, read) = self.device.stage_readback(rows, "read_queries")?;
        let ticket = QueryTicket { read, ty, count, written };
        for run in runs(&ticket.written, count) {
            let (offset, size) = (bytes * u64::from(run.start), bytes * u64::from(run.end - run.start));
            let part = BufferSlice { buffer: staging, offset, size };
            self.write_staging(part, |backend, encoder| {
                let first = range.start + run.start;
                encoder.copy_queries(backend, set.slot(), first, run.end - run.start, staging.slot(), offset);
            })?;
        }
        Ok(ticket)
    }
}

impl<B: Backend> Device<B> {
    /// The states of queries that were read back, in their order. Values are delivered once; until then it may be asked as
    /// often as one likes. Never waits.
    ///
    /// # Errors
    /// As [`Self::read_queries_into`].
    pub fn read_queries(&mut self, ticket: &QueryTicket) -> Result<Vec<QueryState>> {
        let mut out = vec![QueryState::NotSubmitted; ticket.count as usize];
        self.read_queries_into(ticket, &mut out)?;
        Ok(out)
    }

    /// As [`Self::read_queries`], into a list of as many states as [`QueryTicket::len`] says.
    ///
    /// # Errors
    /// Another length, a recording that was discarded, values that were delivered already, a foreign ticket, device loss.
    /// On an error `out` is untouched.
    pub fn read_queries_into(&mut self, ticket: &QueryTicket, out: &mut [QueryState]) -> Result<()> {
        let what = "read_queries";
        if out.len() != ticket.count as usize {
            return Err(invalid(what, "out", format!("{} states", ticket.count), out.len()));
        }
        let Some((progress, slot)) = self.find_read(&ticket.read, what)? else {
            let found = "delivered already, or its recording was discarded";
            return Err(state(what, "queries that were read and not yet delivered", found));
        };
        match progress {
            Progress::Recorded => out.fill(QueryState::NotSubmitted),
            Progress::Submitted(ordinal) if ordinal > self.completed => out.fill(QueryState::Pending),
            Progress::Submitted(_) => {
                for (index, out) in out.iter_mut().enumerate() {
                    *out = if ticket.is_written(index) {
                        QueryState::Value(self.query_value(ticket.ty, slot, index))
                    } else {
                        QueryState::Unavailable
                    };
                }
                self.deliver(&ticket.read);
            }
        }
        Ok(())
    }

    fn query_value(&self, ty: QueryType, staging: u32, index: usize) -> QueryValue {
        const MOST: usize = PipelineStatisticsTypes::all().bits().count_ones() as usize;
        let count = words(ty) as usize;
        let mut values = [0u64; MOST];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values[..count]);
        self.backend.read_mapped(staging, (index * count) as u64 * WORD, bytes);
        match ty {
            QueryType::Occlusion => QueryValue::Occlusion(values[0] != 0),
            QueryType::Timestamp => QueryValue::Timestamp(values[0]),
            QueryType::PipelineStatistics(counted) => {
                QueryValue::PipelineStatistics(PipelineStatistics::new(counted, &values[..count]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_written_queries() {
        let all = |bits: &[u64], count| runs(bits, count).map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(all(&[], 9), []);
        assert_eq!(all(&[0b1101], 4), [(0, 1), (2, 4)]);
        assert_eq!(all(&[0b1101], 3), [(0, 1), (2, 3)], "no further than was asked");
        assert_eq!(all(&[1 << 63, 1], 66), [(63, 65)], "across words");
    }

    #[test]
    fn statistics_come_in_the_order_of_their_bits() {
        let counted = PipelineStatisticsTypes::CLIPPER_PRIMITIVES_OUT
            | PipelineStatisticsTypes::COMPUTE_SHADER_INVOCATIONS;
        let expected = PipelineStatistics {
            clipper_primitives_out: Some(7),
            compute_shader_invocations: Some(9),
            ..Default::default()
        };
        assert_eq!(PipelineStatistics::new(counted, &[7, 9]), expected);
        assert_eq!(words(QueryType::PipelineStatistics(counted)), 2);
    }
}
