//! The trait, call by call: each goes to the file that owns the object.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use purlin_rhi::backend::{Backend, NativeBinding, NativeMemory, NativeResult, NativeView};
use purlin_rhi::caps::{AdapterInfo, Capabilities, FormatUses};
use purlin_rhi::desc::{
    BufferDesc, ComputePipelineDesc, MemoryClass, QuerySetDesc, RenderPipelineDesc, SamplerDesc, TextureDesc,
};
use purlin_rhi::error::{BackendError, Error};
use purlin_rhi::request::DeviceRequest;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::surface::{
    FrameUse, NativeAcquire, NativePresented, NativeSwapchain, SurfaceBackend, SurfaceCapabilities,
    SurfaceFailure, SurfaceImage, SurfaceTarget,
};
use purlin_rhi::types::{BindGroupLayoutEntry, TextureFormat};

use crate::command::WgpuEncoder;
use crate::device::{Wgpu, WgpuOptions};
use crate::errors::now;

impl Backend for Wgpu {
    type Encoder = WgpuEncoder;
    /// Requests compile on the thread of the device, as in browsers they must.
    type Compiled = Infallible;

    const NAME: &'static str = "wgpu";

    /// Natively; a browser answers later, so there [`Wgpu::catalog`] is the way.
    fn adapters(request: &DeviceRequest<'_>) -> Result<Vec<AdapterInfo>, Error> {
        now(Wgpu::catalog(request, &WgpuOptions::default())).unwrap_or_else(|| {
            Err(Error::NoAdapter { detail: "a browser lists adapters only asynchronously".into() })
        })
    }

    async fn request(request: &DeviceRequest<'_>) -> Result<Self, Error> {
        Self::open(request, &WgpuOptions::default()).await
    }

    fn adapter(&self) -> &AdapterInfo {
        self.info()
    }

    fn capabilities(&self) -> &Capabilities {
        self.enabled()
    }

    fn format_uses(&self, format: TextureFormat) -> FormatUses {
        self.uses_of(format)
    }

    fn create_buffer(&mut self, slot: u32, desc: &BufferDesc<'_>, memory: MemoryClass) -> NativeResult {
        self.new_buffer(slot, desc, memory)
    }

    fn destroy_buffer(&mut self, slot: u32) {
        self.free_buffer(slot);
    }

    fn write_mapped(&self, slot: u32, offset: u64, data: &[u8]) {
        self.write_shadow(slot, offset, data);
    }

    fn read_mapped(&self, slot: u32, offset: u64, out: &mut [u8]) {
        self.read_mapping(slot, offset, out);
    }

    fn create_texture(&mut self, slot: u32, desc: &TextureDesc<'_>) -> NativeResult {
        self.new_texture(slot, desc)
    }

    fn destroy_texture(&mut self, slot: u32) {
        self.free_texture(slot);
    }

    fn create_texture_view(&mut self, slot: u32, view: &NativeView<'_>) -> NativeResult {
        self.new_view(slot, view)
    }

    fn destroy_texture_view(&mut self, slot: u32) {
        self.views.take(slot);
    }

    fn create_sampler(&mut self, slot: u32, desc: &SamplerDesc<'_>) -> NativeResult {
        self.new_sampler(slot, desc)
    }

    fn destroy_sampler(&mut self, slot: u32) {
        self.samplers.take(slot);
    }

    fn create_bind_group_layout(
        &mut self,
        slot: u32,
        label: &str,
        entries: &[BindGroupLayoutEntry],
    ) -> NativeResult {
        self.new_group_layout(slot, label, entries)
    }

    fn destroy_bind_group_layout(&mut self, slot: u32) {
        self.group_layouts.take(slot);
    }

    fn create_bind_group(
        &mut self,
        slot: u32,
        label: &str,
        layout: u32,
        bindings: &[NativeBinding],
    ) -> NativeResult {
        self.new_group(slot, label, layout, bindings)
    }

    fn destroy_bind_group(&mut self, slot: u32) {
        self.groups.take(slot);
    }

    fn create_pipeline_layout(
        &mut self,
        slot: u32,
        label: &str,
        groups: &[u32],
        immediate_size: u32,
    ) -> NativeResult {
        self.new_pipeline_layout(slot, label, groups, immediate_size)
    }

    fn destroy_pipeline_layout(&mut self, slot: u32) {
        self.pipeline_layouts.take(slot);
    }

    fn create_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult {
        self.new_shader_module(slot, source)
    }

    fn destroy_shader_module(&mut self, slot: u32) {
        self.shader_modules.take(slot);
    }

    fn adopt_render_pipeline(&mut self, _: u32, _: &str, compiled: Infallible) {
        match compiled {}
    }

    fn adopt_compute_pipeline(&mut self, _: u32, _: &str, compiled: Infallible) {
        match compiled {}
    }

    fn discard_compiled(&mut self, compiled: Infallible) {
        match compiled {}
    }

    fn create_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult {
        self.new_render_pipeline(slot, desc)
    }

    fn destroy_render_pipeline(&mut self, slot: u32) {
        self.render_pipelines.take(slot);
    }

    fn create_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult {
        self.new_compute_pipeline(slot, desc)
    }

    fn destroy_compute_pipeline(&mut self, slot: u32) {
        self.compute_pipelines.take(slot);
    }

    fn create_query_set(&mut self, slot: u32, desc: &QuerySetDesc<'_>) -> NativeResult {
        self.new_query_set(slot, desc)
    }

    fn destroy_query_set(&mut self, slot: u32) {
        self.query_sets.take(slot);
    }

    fn reset_queries(&mut self, slot: u32, first: u32, count: u32) {
        self.reset_set(slot, first, count);
    }

    fn read_timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]) {
        self.timestamps(slot, first, out);
    }

    fn begin(&mut self, label: &str) -> Result<WgpuEncoder, BackendError> {
        self.errors.loss.check()?;
        Ok(WgpuEncoder::new(&self.device, label))
    }

    fn discard(&mut self, encoder: WgpuEncoder) {
        drop(encoder);
    }

    fn submit(
        &mut self,
        encoders: &mut Vec<WgpuEncoder>,
        ordinal: u64,
        _frames: &[FrameUse],
    ) -> NativeResult {
        self.submit_encoders(encoders, ordinal)
    }

    fn completed(&mut self) -> Result<u64, BackendError> {
        self.poll()
    }

    fn wait(&mut self, ordinal: u64, timeout: Duration) -> Result<bool, BackendError> {
        self.wait_for(ordinal, timeout)
    }

    fn memory(&self) -> Option<NativeMemory> {
        // Where wgpu has no allocator of its own, the driver's is nobody's to look into.
        let report = self.device.generate_allocator_report()?;
        let (allocated, blocks) = (report.total_allocated_bytes, report.total_reserved_bytes);
        let seen = |peak: &AtomicU64, now: u64| peak.fetch_max(now, Ordering::Relaxed).max(now);
        Some(NativeMemory {
            allocated,
            allocated_peak: seen(&self.memory_peaks[0], allocated),
            blocks,
            blocks_peak: seen(&self.memory_peaks[1], blocks),
        })
    }
}

impl SurfaceBackend for Wgpu {
    fn create_surface(&mut self, slot: u32, label: &str, target: &SurfaceTarget) -> Result<(), Error> {
        self.new_surface(slot, label, target)
    }

    fn destroy_surface(&mut self, slot: u32) {
        self.surfaces.take(slot);
    }

    fn surface_capabilities(&self, slot: u32) -> Result<SurfaceCapabilities, SurfaceFailure> {
        self.capabilities_of(slot)
    }

    fn configure_surface(
        &mut self,
        slot: u32,
        swapchain: &NativeSwapchain<'_>,
    ) -> Result<u32, SurfaceFailure> {
        self.configure(slot, swapchain)
    }

    /// wgpu destroyed it when it was replaced.
    fn destroy_swapchain(&mut self, _slot: u32, _generation: u32, _presented: bool) {}

    fn is_presented(&mut self, _slot: u32, _generation: u32) -> Option<bool> {
        Some(true)
    }

    fn acquire(
        &mut self,
        slot: u32,
        _semaphore: u32,
        _timeout: Duration,
    ) -> Result<NativeAcquire, SurfaceFailure> {
        self.acquire_image(slot)
    }

    /// A canvas of WebGPU has another image in each task of the event loop.
    fn keeps_image(&self, _slot: u32) -> bool {
        self.native != wgpu::Backend::BrowserWebGpu
    }

    fn create_surface_texture(
        &mut self,
        slot: u32,
        image: SurfaceImage,
        _desc: &TextureDesc<'_>,
    ) -> NativeResult {
        self.new_surface_texture(slot, image.surface)
    }

    fn present(&mut self, slot: u32, _image: u32) -> Result<NativePresented, SurfaceFailure> {
        self.present_image(slot)
    }
}
