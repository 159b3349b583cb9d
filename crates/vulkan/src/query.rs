//! Timestamp query sets.

use ash::vk;
use purlin_rhi::backend::NativeResult;

use crate::device::Vulkan;
use crate::memory::failed;

/// Queries that one call reads, on the stack.
const CHUNK: usize = 32;

impl Vulkan {
    pub(crate) fn new_query_set(&mut self, slot: u32, label: &str, count: u32) -> NativeResult {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the count was validated to be positive.
        let raw = unsafe { self.raw.create_query_pool(&info, None) }
            .map_err(|error| failed("vkCreateQueryPool", error))?;
        // SAFETY: the pool was just made and nobody uses it; host query reset is enabled.
        unsafe { self.raw.reset_query_pool(raw, 0, count) };
        self.name(raw, label);
        self.query_sets.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]) {
        let pool = *self.query_sets.get(slot);
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
