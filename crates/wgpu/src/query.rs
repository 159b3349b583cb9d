//! Timestamp query sets: resolved at the end of the recording that wrote them, read like any readback.

use std::sync::Mutex;

use purlin_rhi::backend::NativeResult;

use crate::buffer::copy_mapped;
use crate::device::Wgpu;
use crate::errors::lock;

const SIZE: u64 = wgpu::QUERY_SIZE as u64;

/// A set with where its values go.
#[derive(Debug)]
pub(crate) struct QuerySet {
    pub raw: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    pub staging: wgpu::Buffer,
    pub mapped: bool,
    /// The queries that a submission has written since they were reset.
    written: Mutex<Vec<bool>>,
}

impl Wgpu {
    pub(crate) fn new_query_set(&mut self, slot: u32, label: &str, count: u32) -> NativeResult {
        let bytes = u64::from(count) * SIZE;
        let set = self.errors.catch(&self.device, "create_query_set", || {
            let buffer = |usage| {
                self.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size: bytes,
                    usage,
                    mapped_at_creation: false,
                })
            };
            QuerySet {
                raw: self.device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some(label),
                    ty: wgpu::QueryType::Timestamp,
                    count,
                }),
                resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
                staging: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
                mapped: false,
                written: Mutex::new(vec![false; count as usize]),
            }
        })?;
        self.query_sets.insert(slot, set);
        Ok(())
    }

    pub(crate) fn reset_set(&mut self, slot: u32, first: u32, count: u32) {
        if let Some(set) = self.query_sets.get_mut(slot) {
            let written = set.written.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
            written[first as usize..][..count as usize].fill(false);
        }
    }

    /// Ends a recording: brings what it wrote to where the CPU can read it. `written` are sets and queries.
    pub(crate) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, written: &mut [(u32, u32)]) {
        written.sort_unstable();
        for run in written.chunk_by(|(a, i), (b, j)| a == b && *j <= *i + 1) {
            let (Some(&(slot, first)), Some(&(_, last))) = (run.first(), run.last()) else { continue };
            let set = self.query_sets.get(slot);
            // Resolving begins at multiples of 256 bytes only, so it goes through the beginning of a second buffer.
            encoder.resolve_query_set(&set.raw, first..last + 1, &set.resolved, 0);
            let (to, bytes) = (u64::from(first) * SIZE, u64::from(last + 1 - first) * SIZE);
            encoder.copy_buffer_to_buffer(&set.resolved, 0, &set.staging, to, bytes);
            lock(&set.written)[first as usize..=last as usize].fill(true);
        }
    }

    pub(crate) fn timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]) {
        let set = self.query_sets.get(slot);
        if !set.mapped {
            out.fill(None);
            return;
        }
        let mut bytes = vec![0; out.len() * SIZE as usize];
        copy_mapped(&set.staging, u64::from(first) * SIZE, &mut bytes);
        let written = lock(&set.written);
        let values = bytes.as_chunks::<{ SIZE as usize }>().0;
        for (index, (out, value)) in out.iter_mut().zip(values).enumerate() {
            *out = written[first as usize + index].then(|| u64::from_le_bytes(*value));
        }
    }
}
