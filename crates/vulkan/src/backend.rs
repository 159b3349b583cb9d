//! The trait, call by call: each goes to the file that owns the object.

use std::time::Duration;

use ash::vk;
use purlin_rhi::backend::{
    Backend, NativeBinding, NativeMemory, NativeResult, NativeView, PipelineCacheIdentity, PipelineJob,
};
use purlin_rhi::caps::{AdapterInfo, Capabilities, FormatUses};
use purlin_rhi::desc::{
    BufferDesc, ComputePipelineDesc, HeapDesc, MemoryClass, MemoryNeeds, QuerySetDesc, RenderPipelineDesc,
    SamplerDesc, TextureDesc,
};
use purlin_rhi::error::{BackendError, Error};
use purlin_rhi::formats::FormatShape;
use purlin_rhi::request::DeviceRequest;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::surface::{
    FrameUse, NativeAcquire, NativePresented, NativeSwapchain, SurfaceBackend, SurfaceCapabilities,
    SurfaceFailure, SurfaceImage, SurfaceTarget,
};
use purlin_rhi::types::{BindGroupLayoutEntry, TextureDimension, TextureFormat};

use crate::command::VulkanEncoder;
use crate::device::{self, Vulkan};
use crate::pipeline::CompiledPipeline;

impl Backend for Vulkan {
    type Encoder = VulkanEncoder;
    type Compiled = CompiledPipeline;

    const NAME: &'static str = "vulkan";

    fn adapters(request: &DeviceRequest<'_>) -> Result<Vec<AdapterInfo>, Error> {
        device::adapters(request)
    }

    async fn request(request: &DeviceRequest<'_>) -> Result<Self, Error> {
        Self::open(request)
    }

    fn adapter(&self) -> &AdapterInfo {
        &self.physical.info
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn format_uses(&self, format: TextureFormat) -> FormatUses {
        self.uses_of(format)
    }

    fn format_shape(&self, format: TextureFormat, dimension: TextureDimension) -> Option<FormatShape> {
        self.shape_of(format, dimension)
    }

    fn validation_messages(&self) -> u64 {
        self.instance.messages.count()
    }

    fn create_buffer(&mut self, slot: u32, desc: &BufferDesc<'_>, memory: MemoryClass) -> NativeResult {
        self.new_buffer(slot, desc, memory)
    }

    fn destroy_buffer(&mut self, slot: u32) {
        if let Some(buffer) = self.buffers.take(slot) {
            self.free_buffer(buffer);
        }
    }

    #[inline]
    fn native_buffer(&self, slot: u32) -> u64 {
        vk::Handle::as_raw(self.buffers.get(slot).raw)
    }

    fn write_mapped(&self, slot: u32, offset: u64, data: &[u8]) {
        self.write_buffer(slot, offset, data);
    }

    fn read_mapped(&self, slot: u32, offset: u64, out: &mut [u8]) {
        self.read_buffer(slot, offset, out);
    }

    fn create_texture(&mut self, slot: u32, desc: &TextureDesc<'_>) -> NativeResult {
        self.new_texture(slot, desc)
    }

    fn destroy_texture(&mut self, slot: u32) {
        if let Some(texture) = self.textures.take(slot) {
            self.free_texture(texture);
        }
    }

    fn texture_memory(&mut self, desc: &TextureDesc<'_>) -> Result<Option<MemoryNeeds>, BackendError> {
        self.needs_of_texture(desc)
    }

    fn create_heap(&mut self, slot: u32, desc: &HeapDesc<'_>) -> NativeResult {
        let allocation = self.memory.heap(desc)?;
        self.heaps.insert(slot, allocation);
        Ok(())
    }

    fn destroy_heap(&mut self, slot: u32) {
        if let Some(allocation) = self.heaps.take(slot) {
            self.memory.free(allocation);
        }
    }

    fn create_placed_texture(
        &mut self,
        slot: u32,
        desc: &TextureDesc<'_>,
        heap: u32,
        offset: u64,
    ) -> NativeResult {
        self.new_placed_texture(slot, desc, heap, offset)
    }

    fn create_texture_view(&mut self, slot: u32, view: &NativeView<'_>) -> NativeResult {
        self.new_view(slot, view)
    }

    fn destroy_texture_view(&mut self, slot: u32) {
        if let Some(view) = self.views.take(slot) {
            // SAFETY: no submission and no group uses it any more.
            unsafe { self.raw.destroy_image_view(view.raw, None) };
        }
    }

    fn create_sampler(&mut self, slot: u32, desc: &SamplerDesc<'_>) -> NativeResult {
        self.new_sampler(slot, desc)
    }

    fn destroy_sampler(&mut self, slot: u32) {
        if let Some(sampler) = self.samplers.take(slot) {
            // SAFETY: no submission and no group uses it any more.
            unsafe { self.raw.destroy_sampler(sampler, None) };
        }
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
        if let Some(layout) = self.group_layouts.take(slot) {
            self.free_group_layout(layout);
        }
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
        if let Some(group) = self.groups.take(slot) {
            self.free_group(group);
        }
    }

    #[inline]
    fn native_group(&self, slot: u32) -> u64 {
        vk::Handle::as_raw(self.groups.get(slot).set)
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
        if let Some(layout) = self.pipeline_layouts.take(slot) {
            // SAFETY: no recording uses it any more; pipelines that were made with it do not need it.
            unsafe { self.raw.destroy_pipeline_layout(layout.raw, None) };
        }
    }

    fn create_shader_module(&mut self, slot: u32, source: &ShaderSource) -> NativeResult {
        self.new_shader_module(slot, source)
    }

    fn destroy_shader_module(&mut self, slot: u32) {
        if let Some(module) = self.shader_modules.take(slot) {
            // SAFETY: pipelines that were made of it do not need it.
            unsafe { self.raw.destroy_shader_module(module, None) };
        }
    }

    fn render_pipeline_job(
        &self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<Option<PipelineJob<CompiledPipeline>>, BackendError> {
        self.render_job(desc).map(Some)
    }

    fn compute_pipeline_job(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<Option<PipelineJob<CompiledPipeline>>, BackendError> {
        self.compute_job(desc).map(Some)
    }

    fn adopt_render_pipeline(&mut self, slot: u32, label: &str, compiled: CompiledPipeline) {
        self.put_render_pipeline(slot, label, compiled);
    }

    fn adopt_compute_pipeline(&mut self, slot: u32, label: &str, compiled: CompiledPipeline) {
        self.put_compute_pipeline(slot, label, compiled);
    }

    fn discard_compiled(&mut self, compiled: CompiledPipeline) {
        self.drop_compiled(compiled);
    }

    fn create_render_pipeline(&mut self, slot: u32, desc: &RenderPipelineDesc<'_>) -> NativeResult {
        self.new_render_pipeline(slot, desc)
    }

    fn destroy_render_pipeline(&mut self, slot: u32) {
        if let Some(pipeline) = self.render_pipelines.take(slot) {
            // SAFETY: no submission uses it any more.
            unsafe { self.raw.destroy_pipeline(pipeline, None) };
        }
    }

    fn create_compute_pipeline(&mut self, slot: u32, desc: &ComputePipelineDesc<'_>) -> NativeResult {
        self.new_compute_pipeline(slot, desc)
    }

    fn destroy_compute_pipeline(&mut self, slot: u32) {
        if let Some(pipeline) = self.compute_pipelines.take(slot) {
            // SAFETY: no submission uses it any more.
            unsafe { self.raw.destroy_pipeline(pipeline, None) };
        }
    }

    fn pipeline_cache_identity(&self) -> Option<PipelineCacheIdentity> {
        Some(self.cache_identity())
    }

    fn pipeline_cache_data(&self) -> Result<Vec<u8>, BackendError> {
        self.cache_data()
    }

    fn add_pipeline_cache(&mut self, data: &[u8]) -> NativeResult {
        self.add_cache(data)
    }

    fn create_query_set(&mut self, slot: u32, desc: &QuerySetDesc<'_>) -> NativeResult {
        self.new_query_set(slot, desc)
    }

    fn destroy_query_set(&mut self, slot: u32) {
        if let Some(set) = self.query_sets.take(slot) {
            // SAFETY: no submission uses it any more.
            unsafe { self.raw.destroy_query_pool(set.raw, None) };
        }
    }

    fn reset_queries(&mut self, slot: u32, first: u32, count: u32) {
        let pool = self.query_sets.get(slot).raw;
        // SAFETY: no submission uses the range, which lies in the set; host query reset is enabled.
        unsafe { self.raw.reset_query_pool(pool, first, count) };
    }

    fn read_timestamps(&self, slot: u32, first: u32, out: &mut [Option<u64>]) {
        self.timestamps(slot, first, out);
    }

    fn begin(&mut self, label: &str) -> Result<VulkanEncoder, BackendError> {
        self.begin_encoder(label)
    }

    fn has_sections(&self) -> bool {
        true
    }

    fn section(&mut self) -> Result<VulkanEncoder, BackendError> {
        self.take_section()
    }

    fn discard(&mut self, encoder: VulkanEncoder) {
        self.recycle_encoder(encoder);
    }

    fn submit(
        &mut self,
        encoders: &mut Vec<VulkanEncoder>,
        ordinal: u64,
        frames: &[FrameUse],
    ) -> NativeResult {
        self.submit_encoders(encoders, ordinal, frames)
    }

    fn completed(&mut self) -> Result<u64, BackendError> {
        self.poll()
    }

    fn wait(&mut self, ordinal: u64, timeout: Duration) -> Result<bool, BackendError> {
        self.wait_for(ordinal, timeout)
    }

    fn memory(&self) -> Option<NativeMemory> {
        Some(self.memory.stats())
    }
}

impl SurfaceBackend for Vulkan {
    fn create_surface(&mut self, slot: u32, label: &str, target: &SurfaceTarget) -> Result<(), Error> {
        self.new_surface(slot, label, target)
    }

    fn destroy_surface(&mut self, slot: u32) {
        if let Some(surface) = self.surfaces.take(slot) {
            self.free_surface(surface);
        }
    }

    fn surface_capabilities(&self, slot: u32) -> Result<SurfaceCapabilities, SurfaceFailure> {
        self.capabilities_of(slot)
    }

    fn configure_surface(
        &mut self,
        slot: u32,
        swapchain: &NativeSwapchain<'_>,
    ) -> Result<u32, SurfaceFailure> {
        self.new_swapchain(slot, swapchain)
    }

    fn destroy_swapchain(&mut self, slot: u32, generation: u32, presented: bool) {
        self.destroy_chain(slot, generation, presented);
    }

    fn is_presented(&mut self, slot: u32, generation: u32) -> Option<bool> {
        self.presented(slot, generation)
    }

    fn acquire(
        &mut self,
        slot: u32,
        semaphore: u32,
        timeout: Duration,
    ) -> Result<NativeAcquire, SurfaceFailure> {
        self.acquire_image(slot, semaphore, timeout)
    }

    fn create_surface_texture(
        &mut self,
        slot: u32,
        image: SurfaceImage,
        desc: &TextureDesc<'_>,
    ) -> NativeResult {
        self.new_surface_texture(slot, image, desc)
    }

    fn present(&mut self, slot: u32, image: u32) -> Result<NativePresented, SurfaceFailure> {
        self.present_image(slot, image)
    }
}
