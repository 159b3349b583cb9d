//! The null backend: no GPU, no pixels, but every contract of [`crate::backend`] held and, in debug builds, checked.
//!
//! It is what everything above the [`Backend`] trait is tested with. It can keep a **log** of what was submitted,
//! whole and comparable. It can **execute**: memory is then real, and copies, clears and layout changes happen at
//! the moment when their submission completes, which a test chooses, so staging memory that is written too early or
//! reused too soon shows as wrong bytes. It **fails** on demand: allocations, submissions, the device. And when it
//! neither logs nor executes it costs next to nothing, so that a bench on it measures the layers above.
//!
//! A breach of contract by the device is a panic here in debug builds, with the call, the slot and the label: an
//! empty slot used, a slot filled twice, a resource destroyed in flight, a copy in a pass, a draw out of one, a pitch
//! out of alignment, a texture in the wrong layout.
//!
//! ```
//! use purlin_rhi::backend::Backend;
//! use purlin_rhi::null::{Null, NullConfig};
//!
//! let mut null = Null::new(NullConfig::manual());
//! let control = null.control();
//! let encoder = null.begin("frame")?;
//! null.submit(&mut vec![encoder], 1, &[])?;
//! assert_eq!(null.completed(), Ok(0));
//! control.complete_all();
//! assert_eq!(null.completed(), Ok(1));
//! assert_eq!(control.take_log()[0].encoders[0].label, "frame");
//! # Ok::<(), purlin_rhi::error::BackendError>(())
//! ```

mod bound;
mod check;
mod config;
mod control;
mod encoder;
mod execute;
mod faults;
mod jobs;
mod log;
mod memory;
mod surface;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use config::{NullConfig, null_format_uses};
pub use control::NullControl;
pub use encoder::NullEncoder;
pub use jobs::NullPipeline;
pub use log::{EncoderLog, NullBuffer, NullCommand, NullGroup, NullRenderPass, NullState, Submission};
pub use memory::POISON;
pub use surface::{NullAnswer, NullSurfaceCall, NullWindow};

use crate::backend::{
    Backend, NativeBinding, NativeMemory, NativeResult, NativeView, PipelineCacheIdentity, PipelineJob,
};
use crate::caps::{AdapterInfo, Capabilities, Features, FormatUses};
use crate::desc::{
    BufferDesc, ComputePipelineDesc, HeapClass, HeapDesc, MemoryClass, MemoryNeeds, QuerySetDesc,
    RenderPipelineDesc, SamplerDesc, TextureDesc,
};
use crate::error::{BackendError, Error};
use crate::formats::{FormatCapabilities, FormatShape};
use crate::handle::ResourceKind;
use crate::plan::{Aspects, TextureRange};
use crate::request::{DeviceRequest, negotiate, select};
use crate::shader::ShaderSource;
use crate::surface::FrameUse;
use crate::types::{BindGroupLayoutEntry, TextureAspect, TextureFormat};
use control::Shared;
use memory::{Memory, QueryMemory, TextureMemory, ViewMemory, bytes, get, get_mut, put};
use tables::{CHECK, Info, Tables};

/// A device without a GPU.
#[derive(Debug)]
pub struct Null {
    config: NullConfig,
    adapter: AdapterInfo,
    capabilities: Capabilities,
    tables: Tables,
    allocated: u64,
    allocated_peak: u64,
    surfaces: Vec<Option<NullWindow>>,
    shared: Arc<Shared>,
}

impl Null {
    /// A device with every feature and limit of the configuration enabled.
    pub fn new(config: NullConfig) -> Self {
        let features = config.features;
        Self::with_features(config, features)
    }

    /// The device that a request makes of an adapter of this configuration, as [`Backend::request`] does of the
    /// default one.
    pub fn open(config: NullConfig, request: &DeviceRequest<'_>) -> Result<Self, Error> {
        request.check()?;
        let mut catalog = [config.adapter()];
        if let Some(target) = request.surface {
            let window = target.custom_as::<NullWindow>();
            if !window.is_some_and(NullWindow::is_presentable) {
                catalog[0].usable = Err("it cannot present to the requested surface".into());
            }
        }
        let adapter = &catalog[select(&catalog, request.adapter)?];
        let wanted = request.required_features | request.preferred_features | Features::CORE;
        let enabled = wanted.with_needs() & adapter.features;
        let row = |format| {
            let shape = |dimension| Some(FormatShape::of_limits(&adapter.limits, dimension));
            FormatCapabilities::new(format, config.uses(format, enabled), enabled, shape)
        };
        let negotiated = negotiate(request, adapter, row)?;
        Ok(Self::with_features(config, negotiated.features))
    }

    fn with_features(config: NullConfig, features: Features) -> Self {
        let timed = features.contains(Features::TIMESTAMP_QUERY);
        let capabilities = Capabilities {
            features,
            limits: config.limits.clone(),
            timestamp_period: if timed { config.timestamp_period } else { 0.0 },
            timestamp_valid_bits: config.timestamp_valid_bits.filter(|_| timed),
            copy_row_alignment: config.copy_row_alignment,
            copy_offset_alignment: config.copy_offset_alignment,
        };
        let shared = Arc::new(Shared::new(&config));
        let adapter = config.adapter();
        Self {
            config,
            adapter,
            capabilities,
            tables: Tables::default(),
            allocated: 0,
            allocated_peak: 0,
            surfaces: Vec::new(),
            shared,
        }
    }

    /// The handle by which tests steer and observe the device.
    pub fn control(&self) -> NullControl {
        NullControl::new(self.shared.clone())
    }

    /// Takes back an encoder of which nothing is pending.
    fn put_back(&self, mut encoder: NullEncoder) {
        encoder.clear();
        let mut state = self.shared.lock();
        state.open_encoders -= 1;
        state.pool.push(encoder);
    }

    /// Whether uses are tracked, so that destruction in flight is noticed.
    fn tracks(&self) -> bool {
        CHECK && (self.config.log || self.config.execute)
    }

    fn create(
        &mut self,
        kind: ResourceKind,
        slot: u32,
        label: &str,
        bytes: u64,
        info: Info,
        real: impl FnOnce(&mut Memory),
    ) -> NativeResult {
        self.shared.count(1);
        if CHECK {
            self.tables.check_empty(kind, slot);
        }
        let mut state = self.shared.lock();
        state.step()?;
        if state.faults.creation(kind) {
            return Err(BackendError::OutOfMemory { bytes });
        }
        if self.config.execute || kind == ResourceKind::QuerySet {
            real(&mut state.memory);
        }
        drop(state);
        self.allocated += bytes;
        self.allocated_peak = self.allocated_peak.max(self.allocated);
        self.shared.live(kind).fetch_add(1, Ordering::Relaxed);
        self.tables.insert(kind, slot, label, bytes, info);
        Ok(())
    }

    /// A texture that takes these bytes of the device's memory.
    fn new_texture(&mut self, slot: u32, desc: &TextureDesc<'_>, bytes: u64) -> NativeResult {
        let range = TextureRange {
            aspects: Aspects::of(desc.format, TextureAspect::All),
            base_mip: 0,
            mips: desc.mips,
            base_layer: 0,
            layers: desc.layers(),
        };
        let (size, dimension, format) = (desc.size, desc.dimension, desc.format);
        let info = Info::Texture { size, dimension, format, range };
        self.create(ResourceKind::Texture, slot, desc.label, bytes, info, |memory| {
            put(&mut memory.textures, slot, Some(TextureMemory::new(desc)));
        })
    }

    fn destroy(&mut self, kind: ResourceKind, slot: u32, real: impl FnOnce(&mut Memory)) {
        self.shared.count(1);
        let mut state = self.shared.lock();
        // A lost device finishes nothing, and nothing of it is in use either.
        let completed = if state.is_lost() { u64::MAX } else { state.completed };
        if let Some(bytes) = self.tables.remove(kind, slot, completed) {
            real(&mut state.memory);
            self.allocated -= bytes;
            self.shared.live(kind).fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Panics unless the bytes lie in a buffer of this class.
    fn check_mapped(&self, call: &str, slot: u32, class: MemoryClass, offset: u64, len: usize) {
        if !CHECK {
            return;
        }
        let entry = self.tables.live(call, ResourceKind::Buffer, slot);
        let Info::Buffer { size, memory } = entry.info else { return };
        let label = &entry.label;
        assert!(
            memory == class,
            "null backend: {call}: \"{label}\" is {memory:?} memory, expected {class:?}"
        );
        let end = offset.saturating_add(len as u64);
        assert!(
            end <= size,
            "null backend: {call}: \"{label}\" has {size} bytes; {offset} to {end} were asked"
        );
    }

    /// Panics unless the queries are there.
    fn check_queries(&self, call: &str, slot: u32, first: u32, count: u32) {
        if !CHECK {
            return;
        }
        let entry = self.tables.live(call, ResourceKind::QuerySet, slot);
        let Info::Queries(have) = entry.info else { return };
        let end = first.saturating_add(count);
        let label = &entry.label;
        assert!(
            end <= have,
            "null backend: {call}: \"{label}\" has {have} queries; {first} to {end} were asked"
        );
    }

    /// Checks what encoders used and notes that a submission uses it.
    fn mark_uses(&mut self, encoders: &[NullEncoder], ordinal: u64) {
        for encoder in encoders {
            for &(kind, slot, generation) in encoder.uses() {
                let entry = self.tables.live("submit", kind, slot);
                assert!(
                    entry.generation == generation,
                    "null backend: submit: encoder \"{}\" uses {kind} slot {slot}, which was destroyed and filled \
                     again with \"{}\" since",
                    encoder.label,
                    entry.label,
                );
                self.tables.mark(kind, slot, ordinal);
            }
        }
    }
}

macro_rules! destroys {
    ($($name:ident, $kind:ident $(, $table:ident)?;)*) => {$(
        fn $name(&mut self, slot: u32) {
            self.destroy(ResourceKind::$kind, slot, |_memory| {
                $(if get(&_memory.$table, slot).is_some() { put(&mut _memory.$table, slot, None); })?
            });
        }
    )*};
}

impl Backend for Null {
    type Encoder = NullEncoder;
    type Compiled = NullPipeline;

    const NAME: &'static str = "null";

    fn adapters(_request: &DeviceRequest<'_>) -> Result<Vec<AdapterInfo>, Error> {
        Ok(vec![NullConfig::default().adapter()])
    }

    async fn request(request: &DeviceRequest<'_>) -> Result<Self, Error> {
        Self::open(NullConfig::default(), request)
    }

    fn adapter(&self) -> &AdapterInfo {
        &self.adapter
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn format_uses(&self, format: TextureFormat) -> FormatUses {
        self.config.uses(format, self.capabilities.features)
    }

    fn create_buffer(&mut self, slot: u32, desc: &BufferDesc<'_>, memory: MemoryClass) -> NativeResult {
        let size = desc.size;
        self.create(ResourceKind::Buffer, slot, desc.label, size, Info::Buffer { size, memory }, |memory| {
            put(&mut memory.buffers, slot, Some(vec![POISON; bytes(0, size).end]));
        })
    }

    fn write_mapped(&self, slot: u32, offset: u64, data: &[u8]) {
        self.shared.count(1);
        self.check_mapped("write_mapped", slot, MemoryClass::Upload, offset, data.len());
        if self.config.execute {
            let mut state = self.shared.lock();
            let buffer = get_mut(&mut state.memory.buffers, slot);
            if let Some(to) = buffer.and_then(|buffer| buffer.get_mut(bytes(offset, data.len() as u64))) {
                to.copy_from_slice(data);
            }
        }
    }

    fn read_mapped(&self, slot: u32, offset: u64, out: &mut [u8]) {
        self.shared.count(1);
        self.check_mapped("read_mapped", slot, MemoryClass::Readback, offset, out.len());
        let state = self.shared.lock();
        let buffer = get(&state.memory.buffers, slot);
        match buffer.and_then(|buffer| buffer.get(bytes(offset, out.len() as u64))) {
            Some(from) => out.copy_from_slice(from),
            None => out.fill(POISON),
        }
    }

    fn create_texture(&mut self, slot: u32, desc: &TextureDesc<'_>) -> NativeResult {
        self.new_texture(slot, desc, memory::texture_bytes(desc))
    }

    fn texture_memory(&mut self, desc: &TextureDesc<'_>) -> Result<Option<MemoryNeeds>, BackendError> {
        let alignment = 256;
        let size = memory::texture_bytes(desc).next_multiple_of(alignment);
        Ok(Some(MemoryNeeds { size, alignment, class: HeapClass(0) }))
    }

    fn create_heap(&mut self, slot: u32, desc: &HeapDesc<'_>) -> NativeResult {
        self.create(ResourceKind::Heap, slot, desc.label, desc.size, Info::Other, |_| {})
    }

    /// Each texture has its own bytes here: what memory held before is poison.
    fn create_placed_texture(
        &mut self,
        slot: u32,
        desc: &TextureDesc<'_>,
        heap: u32,
        _offset: u64,
    ) -> NativeResult {
        if CHECK {
            self.tables.live("create_placed_texture", ResourceKind::Heap, heap);
        }
        self.new_texture(slot, desc, 0)
    }

    fn create_texture_view(&mut self, slot: u32, view: &NativeView<'_>) -> NativeResult {
        let &NativeView { texture, format, range, attachable, .. } = view;
        if CHECK {
            check::range(&self.tables, "create_texture_view", texture, range);
        }
        let info = Info::View { texture, attachable };
        self.create(ResourceKind::TextureView, slot, view.label, 0, info, |memory| {
            put(&mut memory.views, slot, Some(ViewMemory { texture, format, range }));
        })
    }

    fn create_sampler(&mut self, slot: u32, desc: &SamplerDesc<'_>) -> NativeResult {
        self.create(ResourceKind::Sampler, slot, desc.label, 0, Info::Other, |_| {})
    }

    fn create_bind_group_layout(
        &mut self,
        slot: u32,
        label: &str,
        entries: &[BindGroupLayoutEntry],
    ) -> NativeResult {
        debug_assert!(
            entries.is_sorted_by(|a, b| a.binding < b.binding),
            "null backend: create_bind_group_layout: the entries of \"{label}\" are not sorted by binding"
        );
        self.create(ResourceKind::BindGroupLayout, slot, label, 0, Info::Other, |_| {})
    }

    fn create_bind_group(
        &mut self,
        slot: u32,
        label: &str,
        layout: u32,
        bindings: &[NativeBinding],
    ) -> NativeResult {
        const CALL: &str = "create_bind_group";
        let part = |binding: &NativeBinding| match *binding {
            NativeBinding::Buffer { buffer, .. } => (ResourceKind::Buffer, buffer),
            NativeBinding::Texture { view, .. } => (ResourceKind::TextureView, view),
            NativeBinding::Sampler { sampler } => (ResourceKind::Sampler, sampler),
        };
        if CHECK {
            self.tables.live(CALL, ResourceKind::BindGroupLayout, layout);
            for (kind, slot) in bindings.iter().map(part) {
                self.tables.live(CALL, kind, slot);
            }
        }
        let parts = if self.tracks() { bindings.iter().map(part).collect() } else { Box::default() };
        self.create(ResourceKind::BindGroup, slot, label, 0, Info::Group(parts), |memory| {
            put(&mut memory.groups, slot, Some(memory::bound_views(bindings)));
        })
    }

    fn create_pipeline_layout(&mut self, slot: u32, label: &str, groups: &[u32], _: u32) -> NativeResult {
        if CHECK {
            for &group in groups {
                self.tables.live("create_pipeline_layout", ResourceKind::BindGroupLayout, group);
            }
        }
        self.create(ResourceKind::PipelineLayout, slot, label, 0, Info::Other, |_| {})
    }

    fn create_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult {
        self.create(ResourceKind::ShaderModule, slot, source.label, 0, Info::Other, |_| {})
    }

    fn render_pipeline_job(
        &self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<Option<PipelineJob<NullPipeline>>, BackendError> {
        if CHECK {
            const CALL: &str = "render_pipeline_job";
            self.tables.live(CALL, ResourceKind::PipelineLayout, desc.layout.slot());
            for stage in std::iter::once(&desc.vertex).chain(&desc.fragment) {
                self.tables.live(CALL, ResourceKind::ShaderModule, stage.module.slot());
            }
        }
        Ok(self.pipeline_job(ResourceKind::RenderPipeline))
    }

    fn compute_pipeline_job(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<Option<PipelineJob<NullPipeline>>, BackendError> {
        if CHECK {
            const CALL: &str = "compute_pipeline_job";
            self.tables.live(CALL, ResourceKind::PipelineLayout, desc.layout.slot());
            self.tables.live(CALL, ResourceKind::ShaderModule, desc.compute.module.slot());
        }
        Ok(self.pipeline_job(ResourceKind::ComputePipeline))
    }

    fn adopt_render_pipeline(&mut self, slot: u32, label: &str, compiled: NullPipeline) {
        self.adopt(ResourceKind::RenderPipeline, slot, label, compiled);
    }

    fn adopt_compute_pipeline(&mut self, slot: u32, label: &str, compiled: NullPipeline) {
        self.adopt(ResourceKind::ComputePipeline, slot, label, compiled);
    }

    fn discard_compiled(&mut self, compiled: NullPipeline) {
        self.give_up(&compiled);
    }

    fn create_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult {
        if CHECK {
            const CALL: &str = "create_render_pipeline";
            self.tables.live(CALL, ResourceKind::PipelineLayout, desc.layout.slot());
            for stage in std::iter::once(&desc.vertex).chain(&desc.fragment) {
                self.tables.live(CALL, ResourceKind::ShaderModule, stage.module.slot());
            }
        }
        self.create(ResourceKind::RenderPipeline, slot, desc.label, 0, Info::Other, |_| {})
    }

    fn create_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult {
        if CHECK {
            const CALL: &str = "create_compute_pipeline";
            self.tables.live(CALL, ResourceKind::PipelineLayout, desc.layout.slot());
            self.tables.live(CALL, ResourceKind::ShaderModule, desc.compute.module.slot());
        }
        self.create(ResourceKind::ComputePipeline, slot, desc.label, 0, Info::Other, |_| {})
    }

    fn pipeline_cache_identity(&self) -> Option<PipelineCacheIdentity> {
        self.cache_identity()
    }

    fn pipeline_cache_data(&self) -> Result<Vec<u8>, BackendError> {
        self.cache_data()
    }

    fn add_pipeline_cache(&mut self, data: &[u8]) -> NativeResult {
        self.add_cache(data)
    }

    fn create_query_set(&mut self, slot: u32, desc: &QuerySetDesc<'_>) -> NativeResult {
        let (count, words) = (desc.count, crate::services::words(desc.ty) as usize);
        self.create(ResourceKind::QuerySet, slot, desc.label, 0, Info::Queries(count), |memory| {
            let values = vec![None; count as usize * words];
            put(&mut memory.queries, slot, Some(QueryMemory { words, values }));
        })
    }

    destroys! {
        destroy_buffer, Buffer, buffers;
        destroy_texture, Texture, textures;
        destroy_texture_view, TextureView, views;
        destroy_sampler, Sampler;
        destroy_bind_group_layout, BindGroupLayout;
        destroy_bind_group, BindGroup, groups;
        destroy_pipeline_layout, PipelineLayout;
        destroy_shader_module, ShaderModule;
        destroy_render_pipeline, RenderPipeline;
        destroy_compute_pipeline, ComputePipeline;
        destroy_query_set, QuerySet, queries;
        destroy_heap, Heap;
    }

    fn reset_queries(&mut self, slot: u32, first: u32, count: u32) {
        self.shared.count(1);
        self.check_queries("reset_queries", slot, first, count);
        let mut state = self.shared.lock();
        if let Some(set) = get_mut(&mut state.memory.queries, slot) {
            set.of(first, count).fill(None);
        }
    }

    fn read_timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]) {
        self.shared.count(1);
        self.check_queries("read_timestamps", slot, first, out.len() as u32);
        let mut state = self.shared.lock();
        match get_mut(&mut state.memory.queries, slot) {
            Some(set) => out.copy_from_slice(set.of(first, out.len() as u32)),
            None => out.fill(None),
        }
    }

    fn begin(&mut self, label: &str) -> Result<NullEncoder, BackendError> {
        self.shared.count(1);
        let mut state = self.shared.lock();
        state.step()?;
        if state.faults.recording() {
            return Err(BackendError::OutOfMemory { bytes: 0 });
        }
        state.open_encoders += 1;
        let mut encoder = state.pool.pop().unwrap_or_else(|| NullEncoder::new(&self.config));
        if CHECK || self.config.log {
            encoder.label.push_str(label);
        }
        Ok(encoder)
    }

    fn has_sections(&self) -> bool {
        self.config.sections
    }

    fn section(&mut self) -> Result<NullEncoder, BackendError> {
        self.shared.count(1);
        let mut state = self.shared.lock();
        state.step()?;
        state.open_encoders += 1;
        let fails = state.faults.section();
        let mut encoder = state.pool.pop().unwrap_or_else(|| NullEncoder::new(&self.config));
        encoder.fails = fails;
        Ok(encoder)
    }

    fn discard(&mut self, encoder: NullEncoder) {
        self.shared.count(1 + encoder.calls());
        self.put_back(encoder);
    }

    fn submit(&mut self, encoders: &mut Vec<NullEncoder>, ordinal: u64, frames: &[FrameUse]) -> NativeResult {
        self.shared.count(1);
        let mut state = self.shared.lock();
        let answer = match state.step() {
            Ok(()) if state.faults.submission() => {
                Err(BackendError::Failed { call: "submit", detail: "failed by the test".into() })
            }
            answer => answer,
        };
        let last = state.submitted;
        drop(state);
        if let Err(error) = answer {
            encoders.drain(..).for_each(|encoder| self.discard(encoder));
            return Err(error);
        }
        if CHECK {
            assert!(ordinal > last, "null backend: submit: ordinal {ordinal} comes after {last}");
            encoders.iter().for_each(NullEncoder::check_balanced);
            self.mark_uses(encoders, ordinal);
        }
        let shared = self.shared.clone();
        let mut state = shared.lock();
        if self.config.log {
            let encoders = encoders.iter().map(NullEncoder::to_log).collect();
            state.log.push(Submission { ordinal, encoders });
        }
        if self.config.log || self.config.execute {
            state.ordinals.push(ordinal);
        }
        for encoder in encoders.drain(..) {
            shared.count(encoder.calls());
            state.open_encoders -= 1;
            state.pending.push_back(control::Pending { ordinal, encoder });
        }
        state.submitted = ordinal;
        if state.auto_complete {
            state.complete_to(ordinal);
        }
        drop(state);
        for &usage in frames {
            self.window("submit", usage.image.surface).submit(ordinal, usage);
        }
        Ok(())
    }

    fn completed(&mut self) -> Result<u64, BackendError> {
        self.shared.count(1);
        let mut state = self.shared.lock();
        state.step()?;
        Ok(state.completed)
    }

    fn wait(&mut self, ordinal: u64, timeout: Duration) -> Result<bool, BackendError> {
        self.shared.count(1);
        let mut state = self.shared.lock();
        state.step()?;
        if state.wait_completes && !timeout.is_zero() {
            state.complete_to(ordinal);
        }
        Ok(state.completed >= ordinal)
    }

    fn memory(&self) -> Option<NativeMemory> {
        let (allocated, peak) = (self.allocated, self.allocated_peak);
        Some(NativeMemory { allocated, allocated_peak: peak, blocks: allocated, blocks_peak: peak })
    }
}
