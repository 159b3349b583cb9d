//! Query sets. Timestamps between passes are resolved at the end of the recording that wrote them, and read like any
//! readback; all other queries are resolved where they are read.

use std::sync::Mutex;

use purlin_rhi::backend::{NativeQuery, NativeResult};
use purlin_rhi::desc::QuerySetDesc;
use purlin_rhi::error::BackendError;
use purlin_rhi::types::QueryType;

use crate::buffer::copy_mapped;
use crate::command::{Pass, WgpuEncoder};
use crate::device::Wgpu;
use crate::errors::lock;

const SIZE: u64 = wgpu::QUERY_SIZE as u64;

/// A set with where its values go.
#[derive(Debug)]
pub(crate) struct QuerySet {
    pub raw: wgpu::QuerySet,
    /// Bytes of a result.
    bytes: u64,
    resolved: wgpu::Buffer,
    pub staging: wgpu::Buffer,
    pub mapped: bool,
    /// The queries that a submission has written since they were reset.
    written: Mutex<Vec<bool>>,
}

impl Wgpu {
    pub(crate) fn new_query_set(&mut self, slot: u32, desc: &QuerySetDesc<'_>) -> NativeResult {
        let label = Some(desc.label);
        let bytes = match desc.ty {
            // WebGL 2's results come to light between tasks only, and wgpu asks for them at once. To WebGPU it gives no
            // pass its set.
            QueryType::Occlusion if cfg!(target_arch = "wasm32") => {
                let detail = match self.native {
                    wgpu::Backend::Gl => "WebGL 2 has no results within a task".into(),
                    _ => "wgpu 30 gives passes of WebGPU no query set".into(),
                };
                return Err(BackendError::Unsupported { capability: "occlusion queries", detail });
            }
            QueryType::Occlusion | QueryType::Timestamp => SIZE,
            QueryType::PipelineStatistics(counted) => SIZE * u64::from(counted.bits().count_ones()),
        };
        let set = self.errors.catch(&self.device, "create_query_set", || {
            let buffer = |size, usage| {
                self.device.create_buffer(&wgpu::BufferDescriptor {
                    label,
                    size,
                    usage,
                    mapped_at_creation: false,
                })
            };
            let all = u64::from(desc.count) * bytes;
            let staged = if matches!(desc.ty, QueryType::Timestamp) { all } else { SIZE };
            QuerySet {
                raw: self.device.create_query_set(&wgpu::QuerySetDescriptor {
                    label,
                    ty: desc.ty,
                    count: desc.count,
                }),
                bytes,
                resolved: buffer(all, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
                staging: buffer(staged, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
                mapped: false,
                written: Mutex::new(vec![false; desc.count as usize]),
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

impl WgpuEncoder {
    pub(crate) fn open_query(&mut self, backend: &Wgpu, query: NativeQuery, set: u32, index: u32) {
        let set = &backend.query_sets.get(set).raw;
        match (&mut self.pass, query) {
            (Pass::Render(pass), NativeQuery::Occlusion) => pass.begin_occlusion_query(index),
            (Pass::Render(pass), NativeQuery::PipelineStatistics) => {
                pass.begin_pipeline_statistics_query(set, index);
            }
            (Pass::Compute(pass), NativeQuery::PipelineStatistics) => {
                pass.begin_pipeline_statistics_query(set, index);
            }
            _ => unreachable!("a query begins inside a pass of its kind"),
        }
    }

    pub(crate) fn close_query(&mut self, query: NativeQuery) {
        match (&mut self.pass, query) {
            (Pass::Render(pass), NativeQuery::Occlusion) => pass.end_occlusion_query(),
            (Pass::Render(pass), NativeQuery::PipelineStatistics) => pass.end_pipeline_statistics_query(),
            (Pass::Compute(pass), NativeQuery::PipelineStatistics) => pass.end_pipeline_statistics_query(),
            _ => unreachable!("a query ends inside a pass of its kind"),
        }
    }

    /// Brings results to a readback buffer. Resolving begins at multiples of 256 bytes only, so it goes through the
    /// beginning of another buffer.
    pub(crate) fn emit_copy_queries(
        &mut self,
        backend: &Wgpu,
        set: u32,
        (first, count): (u32, u32),
        (buffer, offset): (u32, u64),
    ) {
        self.stamp_what_is_due(backend);
        self.writes(backend, buffer);
        let set = backend.query_sets.get(set);
        self.raw.resolve_query_set(&set.raw, first..first + count, &set.resolved, 0);
        let to = &backend.buffers.get(buffer).raw;
        self.raw.copy_buffer_to_buffer(&set.resolved, 0, to, offset, u64::from(count) * set.bytes);
    }
}
