//! Encoders and passes.

use arrayvec::ArrayVec;
use purlin_rhi::backend::{
    BindState, ClearValue, Dirty, Dispatch, Draw, Encoder, NativeAspect, NativeBufferTextureCopy, NativeLoad,
    NativeQuery, NativeRenderPass, NativeTextureCopy, NativeTimestamps, StoreOp,
};
use purlin_rhi::plan::BarrierBatch;
use purlin_rhi::types::Color;
use smallvec::SmallVec;

use crate::adapter::{self, MAX_COLORS};
use crate::device::Wgpu;
use crate::draw;
use crate::immediates::Written;

/// The pass that is open. An encoder has one place for it, so its size costs less than a box for each pass would.
#[derive(Debug, Default)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Pass {
    #[default]
    None,
    Render(wgpu::RenderPass<'static>),
    Compute(wgpu::ComputePass<'static>),
}

/// Records one command buffer. Passes are freed of their borrow of it, and ended before anything else is recorded.
#[derive(Debug)]
pub struct WgpuEncoder {
    /// First, so that it is dropped before what it records into.
    pub(crate) pass: Pass,
    pub(crate) raw: wgpu::CommandEncoder,
    /// Readback buffers that were copied to; some may be named twice.
    pub(crate) readbacks: SmallVec<[u32; 4]>,
    /// Timestamps that were written: set and query.
    pub(crate) timestamps: Vec<(u32, u32)>,
    /// The timestamp before what is recorded next, where only passes carry timestamps.
    due: Option<(u32, u32)>,
    /// The timestamp that the last pass carried at its end.
    carried: Option<(u32, u32)>,
    pub(crate) immediates: Written,
}

impl WgpuEncoder {
    pub(crate) fn new(device: &wgpu::Device, label: &str) -> Self {
        let native = wgpu::CommandEncoderDescriptor { label: Some(label) };
        Self {
            pass: Pass::None,
            raw: device.create_command_encoder(&native),
            readbacks: SmallVec::new(),
            timestamps: Vec::new(),
            due: None,
            carried: None,
            immediates: Written::default(),
        }
    }

    /// Ends the recording.
    pub(crate) fn finish(mut self, backend: &Wgpu) -> wgpu::CommandBuffer {
        self.pass = Pass::None;
        self.stamp_what_is_due(backend);
        self.immediates.send(&backend.immediates, &backend.queue);
        backend.resolve(&mut self.raw, &mut self.timestamps);
        self.raw.finish()
    }

    /// The group and the offset that stand for immediates in the next draw or dispatch, when they must be bound.
    #[inline]
    fn emulated<'a>(
        immediates: &'a mut Written,
        backend: &Wgpu,
        dirty: Dirty,
        state: &BindState,
    ) -> Option<(u32, &'a wgpu::BindGroup, u32)> {
        if dirty.is_empty() || !adapter::emulates_immediates(backend.native) {
            return None;
        }
        let Some(group) = backend.pipeline_layouts.get(state.layout).immediates else {
            if dirty.contains(Dirty::IMMEDIATES) {
                immediates.forget();
            }
            return None;
        };
        let (bind_group, offset) = immediates.bind(&backend.immediates, &backend.device, dirty, state)?;
        Some((group, bind_group, offset))
    }

    /// The timestamps of a pass that begins: its own, or the one that is due and its successor.
    fn carry(&mut self, backend: &Wgpu, own: Option<NativeTimestamps>) -> Option<NativeTimestamps> {
        if own.is_some() {
            // A pass carries one pair, and its own comes first.
            self.stamp_what_is_due(backend);
            return own;
        }
        let (query_set, first) = self.due.take()?;
        self.timestamps.extend([(query_set, first), (query_set, first + 1)]);
        self.carried = Some((query_set, first + 1));
        Some(NativeTimestamps { query_set, begin: Some(first), end: Some(first + 1) })
    }

    /// Writes the timestamp before something that carries none.
    pub(crate) fn stamp_what_is_due(&mut self, backend: &Wgpu) {
        if let Some((set, index)) = self.due.take() {
            self.stamp(backend, set, index);
        }
    }

    fn stamp(&mut self, backend: &Wgpu, set: u32, index: u32) {
        let writes = wgpu::ComputePassTimestampWrites {
            query_set: &backend.query_sets.get(set).raw,
            beginning_of_pass_write_index: Some(index),
            end_of_pass_write_index: None,
        };
        let pass = wgpu::ComputePassDescriptor { label: Some("timestamp"), timestamp_writes: Some(writes) };
        drop(self.raw.begin_compute_pass(&pass));
        self.timestamps.push((set, index));
    }
}

fn store(op: StoreOp) -> wgpu::StoreOp {
    match op {
        StoreOp::Store => wgpu::StoreOp::Store,
        StoreOp::Discard => wgpu::StoreOp::Discard,
    }
}

fn color(value: ClearValue) -> Color {
    let [r, g, b, a] = match value {
        ClearValue::Float(channels) => channels.map(f64::from),
        ClearValue::Uint(channels) => channels.map(f64::from),
        ClearValue::Sint(channels) => channels.map(f64::from),
    };
    Color { r, g, b, a }
}

fn aspect<T: Copy + Default>(aspect: &NativeAspect<T>) -> Option<wgpu::Operations<T>> {
    // Without operations an aspect is only read.
    (!aspect.read_only).then(|| wgpu::Operations {
        load: match aspect.load {
            NativeLoad::Load => wgpu::LoadOp::Load,
            NativeLoad::Clear(value) => wgpu::LoadOp::Clear(value),
            NativeLoad::DontCare => wgpu::LoadOp::Clear(T::default()),
        },
        store: store(aspect.store),
    })
}

impl Encoder for WgpuEncoder {
    type Backend = Wgpu;

    fn barriers(&mut self, _backend: &Wgpu, _batch: BarrierBatch<'_>) {}

    fn push_label(&mut self, backend: &Wgpu, label: &str) {
        if !backend.labels {
            return;
        }
        match &mut self.pass {
            Pass::None => self.raw.push_debug_group(label),
            Pass::Render(pass) => pass.push_debug_group(label),
            Pass::Compute(pass) => pass.push_debug_group(label),
        }
    }

    fn pop_label(&mut self, backend: &Wgpu) {
        if !backend.labels {
            return;
        }
        match &mut self.pass {
            Pass::None => self.raw.pop_debug_group(),
            Pass::Render(pass) => pass.pop_debug_group(),
            Pass::Compute(pass) => pass.pop_debug_group(),
        }
    }

    fn begin_render_pass(&mut self, backend: &Wgpu, pass: &NativeRenderPass<'_>) {
        let colors: ArrayVec<Option<wgpu::RenderPassColorAttachment<'_>>, MAX_COLORS> = pass
            .colors
            .iter()
            .map(|attachment| {
                attachment.as_ref().map(|attachment| wgpu::RenderPassColorAttachment {
                    view: backend.views.get(attachment.view),
                    depth_slice: None,
                    resolve_target: attachment.resolve.map(|target| backend.views.get(target)),
                    ops: wgpu::Operations {
                        load: match attachment.load {
                            NativeLoad::Load => wgpu::LoadOp::Load,
                            NativeLoad::Clear(value) => wgpu::LoadOp::Clear(color(value)),
                            NativeLoad::DontCare => wgpu::LoadOp::Clear(Color::TRANSPARENT),
                        },
                        store: store(attachment.store),
                    },
                })
            })
            .collect();
        let depth_stencil_attachment =
            pass.depth_stencil.as_ref().map(|attachment| wgpu::RenderPassDepthStencilAttachment {
                view: backend.views.get(attachment.view),
                depth_ops: attachment.depth.as_ref().and_then(aspect),
                stencil_ops: attachment.stencil.as_ref().and_then(aspect),
            });
        let queries = pass.queries.copied().unwrap_or_default();
        let times = self.carry(backend, queries.timestamps);
        self.immediates.forget();
        let native = wgpu::RenderPassDescriptor {
            label: backend.label(pass.label),
            color_attachments: &colors,
            depth_stencil_attachment,
            timestamp_writes: times.map(|times| wgpu::RenderPassTimestampWrites {
                query_set: &backend.query_sets.get(times.query_set).raw,
                beginning_of_pass_write_index: times.begin,
                end_of_pass_write_index: times.end,
            }),
            occlusion_query_set: queries.occlusion.map(|set| &backend.query_sets.get(set).raw),
            multiview_mask: None,
        };
        self.pass = Pass::Render(self.raw.begin_render_pass(&native).forget_lifetime());
    }

    fn end_render_pass(&mut self, _backend: &Wgpu) {
        self.pass = Pass::None;
    }

    #[inline]
    fn draw(&mut self, backend: &Wgpu, dirty: Dirty, state: &BindState, draw: Draw) {
        let Pass::Render(pass) = &mut self.pass else { unreachable!("a draw comes inside a raster pass") };
        draw::apply_draw_state(pass, backend, dirty, state);
        if let Some((group, values, offset)) = Self::emulated(&mut self.immediates, backend, dirty, state) {
            pass.set_bind_group(group, values, &[offset]);
        }
        draw::emit_draw(pass, backend, state, draw);
    }

    fn begin_compute_pass(&mut self, backend: &Wgpu, label: &str, timestamps: Option<&NativeTimestamps>) {
        let times = self.carry(backend, timestamps.copied());
        self.immediates.forget();
        let native = wgpu::ComputePassDescriptor {
            label: Some(label),
            timestamp_writes: times.map(|times| wgpu::ComputePassTimestampWrites {
                query_set: &backend.query_sets.get(times.query_set).raw,
                beginning_of_pass_write_index: times.begin,
                end_of_pass_write_index: times.end,
            }),
        };
        self.pass = Pass::Compute(self.raw.begin_compute_pass(&native).forget_lifetime());
    }

    fn end_compute_pass(&mut self, _backend: &Wgpu) {
        self.pass = Pass::None;
    }

    #[inline]
    fn dispatch(&mut self, backend: &Wgpu, dirty: Dirty, state: &BindState, dispatch: Dispatch) {
        let Pass::Compute(pass) = &mut self.pass else {
            unreachable!("a dispatch comes inside a compute pass")
        };
        draw::apply_dispatch_state(pass, backend, dirty, state);
        if let Some((group, values, offset)) = Self::emulated(&mut self.immediates, backend, dirty, state) {
            pass.set_bind_group(group, values, &[offset]);
        }
        draw::emit_dispatch(pass, backend, dispatch);
    }

    fn copy_buffer(
        &mut self,
        backend: &Wgpu,
        src: u32,
        src_offset: u64,
        dst: u32,
        dst_offset: u64,
        size: u64,
    ) {
        self.stamp_what_is_due(backend);
        self.emit_copy_buffer(backend, (src, src_offset), (dst, dst_offset), size);
    }

    fn clear_buffer(&mut self, backend: &Wgpu, buffer: u32, offset: u64, size: u64) {
        self.stamp_what_is_due(backend);
        self.raw.clear_buffer(&backend.buffers.get(buffer).raw, offset, Some(size));
    }

    fn copy_buffer_to_texture(&mut self, backend: &Wgpu, copy: &NativeBufferTextureCopy) {
        self.stamp_what_is_due(backend);
        self.emit_upload(backend, copy);
    }

    fn copy_texture_to_buffer(&mut self, backend: &Wgpu, copy: &NativeBufferTextureCopy) {
        self.stamp_what_is_due(backend);
        self.emit_download(backend, copy);
    }

    fn copy_texture(&mut self, backend: &Wgpu, copy: &NativeTextureCopy) {
        self.stamp_what_is_due(backend);
        self.emit_copy_texture(backend, copy);
    }

    /// wgpu resets by itself.
    fn reset_queries(&mut self, _: &Wgpu, _: u32, _: u32, _: u32) {}

    fn begin_query(&mut self, backend: &Wgpu, query: NativeQuery, query_set: u32, index: u32) {
        self.open_query(backend, query, query_set, index);
    }

    fn end_query(&mut self, _: &Wgpu, query: NativeQuery, _: u32, _: u32) {
        self.close_query(query);
    }

    fn copy_queries(
        &mut self,
        backend: &Wgpu,
        query_set: u32,
        first: u32,
        count: u32,
        buffer: u32,
        offset: u64,
    ) {
        self.emit_copy_queries(backend, query_set, (first, count), (buffer, offset));
    }

    fn write_timestamp(&mut self, backend: &Wgpu, query_set: u32, index: u32) {
        if cfg!(target_arch = "wasm32") {
            // Pairs begin at even numbers. The first waits for a pass that carries both.
            let stamp = (query_set, index);
            if self.carried.take() == Some(stamp) {
                return;
            }
            self.stamp_what_is_due(backend);
            if index.is_multiple_of(2) {
                self.due = Some(stamp);
            } else {
                self.stamp(backend, query_set, index);
            }
            return;
        }
        self.raw.write_timestamp(&backend.query_sets.get(query_set).raw, index);
        self.timestamps.push((query_set, index));
    }
}
