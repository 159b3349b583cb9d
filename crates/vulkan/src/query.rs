//! Query sets.

use ash::vk;
use purlin_rhi::backend::{NativeResult, NativeTimestamps};
use purlin_rhi::desc::QuerySetDesc;
use purlin_rhi::types::{PipelineStatisticsTypes, QueryType};

use crate::command::VulkanEncoder;
use crate::device::Vulkan;
use crate::memory::failed;

/// Queries that one call reads, on the stack.
const CHUNK: usize = 32;

/// A pool, with the bytes of a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuerySet {
    pub raw: vk::QueryPool,
    bytes: u64,
}

/// Statistics by their names here and there, in the order of both.
const STATISTICS: [(PipelineStatisticsTypes, vk::QueryPipelineStatisticFlags); 5] = [
    (
        PipelineStatisticsTypes::VERTEX_SHADER_INVOCATIONS,
        vk::QueryPipelineStatisticFlags::VERTEX_SHADER_INVOCATIONS,
    ),
    (PipelineStatisticsTypes::CLIPPER_INVOCATIONS, vk::QueryPipelineStatisticFlags::CLIPPING_INVOCATIONS),
    (PipelineStatisticsTypes::CLIPPER_PRIMITIVES_OUT, vk::QueryPipelineStatisticFlags::CLIPPING_PRIMITIVES),
    (
        PipelineStatisticsTypes::FRAGMENT_SHADER_INVOCATIONS,
        vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS,
    ),
    (
        PipelineStatisticsTypes::COMPUTE_SHADER_INVOCATIONS,
        vk::QueryPipelineStatisticFlags::COMPUTE_SHADER_INVOCATIONS,
    ),
];

impl Vulkan {
    pub(crate) fn new_query_set(&mut self, slot: u32, desc: &QuerySetDesc<'_>) -> NativeResult {
        let info = vk::QueryPoolCreateInfo::default().query_count(desc.count);
        let (info, words) = match desc.ty {
            QueryType::Occlusion => (info.query_type(vk::QueryType::OCCLUSION), 1),
            QueryType::Timestamp => (info.query_type(vk::QueryType::TIMESTAMP), 1),
            QueryType::PipelineStatistics(counted) => {
                let mut flags = vk::QueryPipelineStatisticFlags::empty();
                for (ours, theirs) in STATISTICS {
                    if counted.contains(ours) {
                        flags |= theirs;
                    }
                }
                let info = info.query_type(vk::QueryType::PIPELINE_STATISTICS).pipeline_statistics(flags);
                (info, u64::from(counted.bits().count_ones()))
            }
        };
        // SAFETY: the count was validated to be positive, and the feature that the type needs is enabled.
        let raw = unsafe { self.raw.create_query_pool(&info, None) }
            .map_err(|error| failed("vkCreateQueryPool", error))?;
        // SAFETY: the pool was just made and nobody uses it; host query reset is enabled.
        unsafe { self.raw.reset_query_pool(raw, 0, desc.count) };
        self.name(raw, desc.label);
        self.query_sets.insert(slot, QuerySet { raw, bytes: words * 8 });
        Ok(())
    }

    pub(crate) fn timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]) {
        let pool = self.query_sets.get(slot).raw;
        let mut first = first;
        for chunk in out.chunks_mut(CHUNK) {
            let mut values = [[0u64; 2]; CHUNK];
            let values = &mut values[..chunk.len()];
            // SAFETY: the range lies in the set; each element takes a value and its availability. Not waiting, the
            // call answers NOT_READY where any is missing, and writes the others all the same.
            let _ = unsafe {
                self.raw.get_query_pool_results(
                    pool,
                    first,
                    values,
                    vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY,
                )
            };
            for (out, [value, available]) in chunk.iter_mut().zip(values) {
                *out = (*available != 0).then_some(*value & self.physical.timestamp_mask);
            }
            first += chunk.len() as u32;
        }
    }
}

impl VulkanEncoder {
    /// Writes the first timestamp of a pass, and keeps the last for its end.
    #[cold]
    pub(crate) fn stamp_begin(&mut self, backend: &Vulkan, timestamps: &NativeTimestamps) {
        if let Some(index) = timestamps.begin {
            self.emit_timestamp(backend, timestamps.query_set, index);
        }
        self.stamp = timestamps.end.map(|index| (timestamps.query_set, index));
    }

    #[inline]
    pub(crate) fn stamp_end(&mut self, backend: &Vulkan) {
        if let Some((set, index)) = self.stamp.take() {
            self.emit_timestamp(backend, set, index);
        }
    }

    pub(crate) fn emit_timestamp(&mut self, backend: &Vulkan, set: u32, index: u32) {
        let pool = backend.query_sets.get(set).raw;
        // SAFETY: the command buffer is recording, and the query was reset since it was last written.
        unsafe {
            backend.raw.cmd_write_timestamp2(self.buffer, vk::PipelineStageFlags2::ALL_COMMANDS, pool, index)
        };
    }

    /// Query commands order themselves: this one waits for all earlier ones on its queries, and later ones for it.
    pub(crate) fn emit_reset(&mut self, backend: &Vulkan, set: u32, first: u32, count: u32) {
        let pool = backend.query_sets.get(set).raw;
        // SAFETY: the command buffer is recording outside a pass, and the range lies in the set.
        unsafe { backend.raw.cmd_reset_query_pool(self.buffer, pool, first, count) };
    }

    pub(crate) fn emit_begin_query(&mut self, backend: &Vulkan, set: u32, index: u32) {
        let pool = backend.query_sets.get(set).raw;
        // SAFETY: the command buffer is recording in the pass in which the query ends; the query was reset since it was
        // last written, and none of its type is open. Without PRECISE a count of samples is no more than zero or not.
        unsafe { backend.raw.cmd_begin_query(self.buffer, pool, index, vk::QueryControlFlags::empty()) };
    }

    pub(crate) fn emit_end_query(&mut self, backend: &Vulkan, set: u32, index: u32) {
        let pool = backend.query_sets.get(set).raw;
        // SAFETY: the query was begun in the same pass of the same command buffer.
        unsafe { backend.raw.cmd_end_query(self.buffer, pool, index) };
    }

    pub(crate) fn emit_copy_queries(
        &mut self,
        backend: &Vulkan,
        set: u32,
        (first, count): (u32, u32),
        (buffer, offset): (u32, u64),
    ) {
        let set = backend.query_sets.get(set);
        let buffer = backend.buffers.get(buffer).raw;
        // All of them were written, so the wait ends; without it the copy would not be ordered after the writes.
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the command buffer is recording outside a pass; the queries lie in the set and their results in the
        // buffer, at a multiple of eight bytes.
        unsafe {
            backend.raw.cmd_copy_query_pool_results(
                self.buffer,
                set.raw,
                first,
                count,
                buffer,
                offset,
                set.bytes,
                flags,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_come_in_the_same_order() {
        assert!(STATISTICS.is_sorted_by_key(|(ours, _)| ours.bits()));
        assert!(STATISTICS.is_sorted_by_key(|(_, theirs)| theirs.as_raw()));
        let all = STATISTICS.iter().fold(PipelineStatisticsTypes::empty(), |all, (ours, _)| all | *ours);
        assert_eq!(all, PipelineStatisticsTypes::all());
    }
}
