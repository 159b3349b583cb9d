//! Queries of passes: which ones the recording has written, and which the pass has open.
//!
//! A set is reset where a recording first uses it, before the pass, and each of its queries is written at most once from
//! then on. So nobody has to say beforehand which ones a pass will write, and what was not written is known without
//! asking the GPU, which would wait for it.

use crate::backend::{Backend, Encoder, NativeQueries, NativeQuery, NativeTimestamps};
use crate::error::{Error, Result, invalid, named, state};
use crate::handle::{QuerySet, ResourceKind};
use crate::record::{ComputePass, ComputePassDesc, RenderPass, RenderPassDesc};
use crate::registry::Registry;
use crate::types::QueryType;

/// Timestamps at a pass's begin and end. At least one is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassTimestampWrites {
    /// A set of timestamps.
    pub query_set: QuerySet,
    /// The query that is written when the pass begins, after all earlier commands.
    pub beginning_of_pass_write_index: Option<u32>,
    /// The query that is written when the pass is done.
    pub end_of_pass_write_index: Option<u32>,
}

/// What a pass declares of queries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeclaredQueries {
    occlusion: Option<QuerySet>,
    statistics: Option<QuerySet>,
    timestamps: Option<PassTimestampWrites>,
}

impl DeclaredQueries {
    pub(super) fn of_render(desc: &RenderPassDesc<'_>) -> Self {
        Self {
            occlusion: desc.occlusion_query_set,
            statistics: desc.pipeline_statistics_query_set,
            timestamps: desc.timestamp_writes,
        }
    }

    pub(super) fn of_compute(desc: &ComputePassDesc<'_>) -> Self {
        let (statistics, timestamps) = (desc.pipeline_statistics_query_set, desc.timestamp_writes);
        Self { occlusion: None, statistics, timestamps }
    }
}

impl RenderPassDesc<'_> {
    /// Whether the pass has queries, as few have.
    #[inline]
    pub(super) fn has_queries(&self) -> bool {
        self.occlusion_query_set.is_some()
            | self.pipeline_statistics_query_set.is_some()
            | self.timestamp_writes.is_some()
    }
}

impl ComputePassDesc<'_> {
    /// The same of a compute pass.
    #[inline]
    pub(super) fn has_queries(&self) -> bool {
        self.pipeline_statistics_query_set.is_some() | self.timestamp_writes.is_some()
    }
}

/// A set that the recording uses.
#[derive(Debug)]
struct UsedSet {
    set: QuerySet,
    count: u32,
    /// A bit for each query.
    written: Vec<u64>,
}

/// A set that the pass has declared, and its query that is open.
#[derive(Debug, Clone, Copy, Default)]
struct Declared {
    /// In [`Queries::sets`].
    used: Option<usize>,
    open: Option<u32>,
}

/// The queries of a recording and of its current pass.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    /// The first `count` are of this recording; the others keep their memory.
    sets: Vec<UsedSet>,
    count: usize,
    occlusion: Declared,
    statistics: Declared,
    /// Whether a query is open.
    pub(super) is_open: bool,
}

impl Queries {
    /// A recording begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.count = 0;
        self.end_pass();
    }

    /// Enters the sets of a pass that is about to begin, and resets those that the recording has not used yet.
    #[cold]
    pub(super) fn begin_pass<B: Backend>(
        &mut self,
        registry: &Registry,
        backend: &B,
        encoder: &mut B::Encoder,
        declared: &DeclaredQueries,
        label: &str,
    ) -> Result<NativeQueries> {
        let mut enter = |set, field| {
            let used = self.enter(registry, set, field, label)?;
            if used == self.count {
                self.count += 1;
                encoder.reset_queries(backend, set.slot(), 0, self.sets[used].count);
            }
            Ok::<_, Error>(used)
        };
        let occlusion = declared.occlusion.map(|set| enter(set, "occlusion_query_set")).transpose()?;
        let statistics =
            declared.statistics.map(|set| enter(set, "pipeline_statistics_query_set")).transpose()?;
        let mut native =
            NativeQueries { occlusion: declared.occlusion.map(|set| set.slot()), timestamps: None };
        if let Some(writes) = &declared.timestamps {
            let used = enter(writes.query_set, "timestamp_writes")?;
            let (begin, end) = (writes.beginning_of_pass_write_index, writes.end_of_pass_write_index);
            let what = || format!("pass \"{label}\"");
            if begin.is_none() && end.is_none() {
                return Err(invalid(what(), "timestamp_writes", "a timestamp at the begin or end", "none"));
            }
            for index in [begin, end].into_iter().flatten() {
                self.sets[used].write(registry, index, "timestamp_writes", what)?;
            }
            native.timestamps = Some(NativeTimestamps { query_set: writes.query_set.slot(), begin, end });
        }
        self.occlusion = Declared { used: occlusion, open: None };
        self.statistics = Declared { used: statistics, open: None };
        Ok(native)
    }

    /// The place of a set that fits its field; at the end for one that the recording has not used yet.
    fn enter(
        &mut self,
        registry: &Registry,
        set: QuerySet,
        field: &'static str,
        label: &str,
    ) -> Result<usize> {
        let what = || format!("pass \"{label}\", {field}");
        let record = registry.query_sets.check(set, what)?;
        let (expected, fits) = match field {
            "occlusion_query_set" => ("occlusion queries", matches!(record.ty, QueryType::Occlusion)),
            "timestamp_writes" => ("timestamps", matches!(record.ty, QueryType::Timestamp)),
            _ => ("pipeline statistics", matches!(record.ty, QueryType::PipelineStatistics(_))),
        };
        if !fits {
            let found = format!("{:?} of {}", record.ty, named(ResourceKind::QuerySet, &record.label));
            return Err(invalid(format!("pass \"{label}\""), field, format!("a set of {expected}"), found));
        }
        if let Some(used) = self.sets[..self.count].iter().position(|used| used.set == set) {
            return Ok(used);
        }
        if self.count == self.sets.len() {
            self.sets.push(UsedSet { set, count: 0, written: Vec::new() });
        }
        let used = &mut self.sets[self.count];
        (used.set, used.count) = (set, record.count);
        used.written.clear();
        used.written.resize(record.count.div_ceil(64) as usize, 0);
        Ok(self.count)
    }

    /// The pass is over, whatever became of it.
    #[inline]
    pub(super) fn end_pass(&mut self) {
        (self.occlusion, self.statistics) = (Declared::default(), Declared::default());
        self.is_open = false;
    }

    fn declared(&mut self, query: NativeQuery) -> &mut Declared {
        match query {
            NativeQuery::Occlusion => &mut self.occlusion,
            NativeQuery::PipelineStatistics => &mut self.statistics,
        }
    }

    fn open(
        &mut self,
        registry: &Registry,
        query: NativeQuery,
        index: u32,
        what: impl Fn() -> String,
    ) -> Result<u32> {
        let (name, field) = words(query);
        let declared = *self.declared(query);
        if let Some(open) = declared.open {
            let found = format!("query {open} is open");
            return Err(state(what(), format!("no open {name}: they do not nest"), found));
        }
        let Some(used) = declared.used else {
            return Err(state(what(), format!("a pass with {field}"), "a pass without, or a section"));
        };
        let used = &mut self.sets[used];
        used.write(registry, index, "index", what)?;
        let slot = used.set.slot();
        self.declared(query).open = Some(index);
        self.is_open = true;
        Ok(slot)
    }

    /// Closes the open query, if there is one: its set and number.
    fn close(&mut self, query: NativeQuery) -> Option<(u32, u32)> {
        let declared = self.declared(query);
        let (used, index) = (declared.used?, declared.open.take()?);
        self.is_open = self.occlusion.open.is_some() || self.statistics.open.is_some();
        Some((self.sets[used].set.slot(), index))
    }

    /// The queries of a set that this recording has written, a bit for each; none of a set that it does not use.
    pub(crate) fn written(&self, set: QuerySet) -> &[u64] {
        let used = self.sets[..self.count].iter().find(|used| used.set == set);
        used.map_or(&[], |used| &used.written)
    }
}

impl UsedSet {
    /// Notes that a query is written.
    fn write(
        &mut self,
        registry: &Registry,
        index: u32,
        field: &'static str,
        what: impl Fn() -> String,
    ) -> Result<()> {
        let set = || {
            let record = registry.query_sets.get(self.set);
            named(ResourceKind::QuerySet, record.map_or("", |record| &record.label))
        };
        if index >= self.count {
            let expected = format!("below {}, the queries of {}", self.count, set());
            return Err(invalid(what(), field, expected, index));
        }
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        if self.written[word] & bit != 0 {
            let expected = format!("each query of {} once in a recording", set());
            return Err(state(what(), expected, format!("query {index} twice")));
        }
        self.written[word] |= bit;
        Ok(())
    }
}

fn words(query: NativeQuery) -> (&'static str, &'static str) {
    match query {
        NativeQuery::Occlusion => ("occlusion query", "occlusion_query_set"),
        NativeQuery::PipelineStatistics => ("statistics query", "pipeline_statistics_query_set"),
    }
}

macro_rules! query_calls {
    ($pass:ident) => {
        impl<B: Backend> $pass<'_, B> {
            #[cold]
            fn begin_query(&mut self, query: NativeQuery, index: u32, call: &str) {
                if self.bindings.mistake.is_some() {
                    return;
                }
                let what = || self.bindings.what(call);
                match self.queries.open(self.bindings.registry, query, index, what) {
                    Ok(set) => self.encoder.begin_query(self.backend, query, set, index),
                    Err(error) => self.bindings.fail(error),
                }
            }

            #[cold]
            fn end_query(&mut self, query: NativeQuery, call: &str) {
                if self.bindings.mistake.is_some() {
                    return;
                }
                match self.queries.close(query) {
                    Some((set, index)) => self.encoder.end_query(self.backend, query, set, index),
                    None => {
                        let expected = format!("an open {}", words(query).0);
                        let error = state(self.bindings.what(call), expected, "none");
                        self.bindings.fail(error);
                    }
                }
            }

            /// Ends natively what the body left open, which is a mistake.
            #[cold]
            pub(super) fn close_queries(&mut self) {
                for query in [NativeQuery::PipelineStatistics, NativeQuery::Occlusion] {
                    let Some((set, index)) = self.queries.close(query) else { continue };
                    self.encoder.end_query(self.backend, query, set, index);
                    let expected = format!("each {} ended in the pass that begins it", words(query).0);
                    let error = state(self.bindings.what("end"), expected, format!("query {index} is open"));
                    self.bindings.fail(error);
                }
            }

            /// Counts what the following commands do, in a query of the set that the pass declares.
            ///
            /// A mistake: an index beyond the set, one that the recording has written already, a query that is open, a
            /// pass that declares no set.
            pub fn begin_pipeline_statistics_query(&mut self, index: u32) {
                self.begin_query(NativeQuery::PipelineStatistics, index, "begin_pipeline_statistics_query");
            }

            /// Ends the open statistics query.
            pub fn end_pipeline_statistics_query(&mut self) {
                self.end_query(NativeQuery::PipelineStatistics, "end_pipeline_statistics_query");
            }
        }
    };
}

query_calls!(RenderPass);
query_calls!(ComputePass);

impl<B: Backend> RenderPass<'_, B> {
    /// Finds out whether any sample of the following draws passes the depth and stencil tests, in a query of the set that
    /// the pass declares.
    ///
    /// A mistake: as for [`Self::begin_pipeline_statistics_query`].
    pub fn begin_occlusion_query(&mut self, index: u32) {
        self.begin_query(NativeQuery::Occlusion, index, "begin_occlusion_query");
    }

    /// Ends the open occlusion query.
    pub fn end_occlusion_query(&mut self) {
        self.end_query(NativeQuery::Occlusion, "end_occlusion_query");
    }
}
