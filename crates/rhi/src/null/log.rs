//! What was submitted, as plain owned values that tests compare whole.

use crate::backend::{
    BindState, BoundBuffer, Dirty, Dispatch, Draw, MAX_GROUPS, MAX_VERTEX_BUFFERS, NativeBufferTextureCopy,
    NativeColor, NativeDepthStencil, NativeQuery, NativeRenderPass, NativeTextureCopy,
};
use crate::plan::{MemoryBarrier, TextureBarrier};
use crate::types::IndexFormat;

/// One accepted submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The ordinal that it signals.
    pub ordinal: u64,
    /// Its encoders in order.
    pub encoders: Vec<EncoderLog>,
}

impl Submission {
    /// The commands of all encoders in execution order.
    pub fn commands(&self) -> impl Iterator<Item = &NullCommand> {
        self.encoders.iter().flat_map(|encoder| &encoder.commands)
    }
}

/// What one encoder recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderLog {
    /// The label of `begin`.
    pub label: String,
    /// The commands in order.
    pub commands: Vec<NullCommand>,
}

/// One call of [`Encoder`](crate::backend::Encoder). Resources are slots.
#[derive(Debug, Clone, PartialEq)]
pub enum NullCommand {
    /// `barriers`.
    Barriers {
        /// Memory barriers.
        memory: Vec<MemoryBarrier>,
        /// Texture barriers.
        textures: Vec<TextureBarrier>,
    },
    /// `push_label`.
    PushLabel(String),
    /// `pop_label`.
    PopLabel,
    /// `begin_render_pass`.
    BeginRenderPass(NullRenderPass),
    /// `end_render_pass`.
    EndRenderPass,
    /// `begin_section` with its label; its commands follow where the pass executed it.
    Section(String),
    /// `draw`.
    Draw {
        /// What changed.
        dirty: Dirty,
        /// The pipeline in use, changed or not.
        pipeline: u32,
        /// The state that `dirty` names.
        changed: Box<NullState>,
        /// The draw.
        draw: Draw,
    },
    /// `begin_compute_pass` with its label.
    BeginComputePass(String),
    /// `end_compute_pass`.
    EndComputePass,
    /// `dispatch`.
    Dispatch {
        /// What changed.
        dirty: Dirty,
        /// The pipeline in use, changed or not.
        pipeline: u32,
        /// The state that `dirty` names.
        changed: Box<NullState>,
        /// The dispatch.
        dispatch: Dispatch,
    },
    /// `copy_buffer`.
    CopyBuffer {
        /// The source's slot.
        src: u32,
        /// The first byte read.
        src_offset: u64,
        /// The destination's slot.
        dst: u32,
        /// The first byte written.
        dst_offset: u64,
        /// How many bytes.
        size: u64,
    },
    /// `clear_buffer`.
    ClearBuffer {
        /// The buffer's slot.
        buffer: u32,
        /// The first byte.
        offset: u64,
        /// How many bytes.
        size: u64,
    },
    /// `copy_buffer_to_texture`.
    CopyBufferToTexture(NativeBufferTextureCopy),
    /// `copy_texture_to_buffer`.
    CopyTextureToBuffer(NativeBufferTextureCopy),
    /// `copy_texture`.
    CopyTexture(NativeTextureCopy),
    /// `write_timestamp`.
    WriteTimestamp {
        /// The query set's slot.
        query_set: u32,
        /// The query.
        index: u32,
    },
    /// `reset_queries`.
    ResetQueries {
        /// The query set's slot.
        query_set: u32,
        /// The first query.
        first: u32,
        /// How many.
        count: u32,
    },
    /// `begin_query`.
    BeginQuery {
        /// What it finds out.
        query: NativeQuery,
        /// The query set's slot.
        query_set: u32,
        /// The query.
        index: u32,
    },
    /// `end_query`.
    EndQuery {
        /// What it finds out.
        query: NativeQuery,
        /// The query set's slot.
        query_set: u32,
        /// The query.
        index: u32,
    },
    /// `copy_queries`.
    CopyQueries {
        /// The query set's slot.
        query_set: u32,
        /// The first query.
        first: u32,
        /// How many.
        count: u32,
        /// The buffer's slot.
        buffer: u32,
        /// The first byte written.
        offset: u64,
    },
}

/// A raster pass as it was begun.
#[derive(Debug, Clone, PartialEq)]
pub struct NullRenderPass {
    /// The name.
    pub label: String,
    /// The render area.
    pub extent: (u32, u32),
    /// Layers rendered to.
    pub layers: u32,
    /// Color attachments by index.
    pub colors: Vec<Option<NativeColor>>,
    /// The depth-stencil attachment.
    pub depth_stencil: Option<NativeDepthStencil>,
    /// The set of occlusion queries. Timestamps are commands of their own.
    pub occlusion_query_set: Option<u32>,
}

impl From<&NativeRenderPass<'_>> for NullRenderPass {
    fn from(pass: &NativeRenderPass<'_>) -> Self {
        Self {
            label: pass.label.into(),
            extent: pass.extent,
            layers: pass.layers,
            colors: pass.colors.to_vec(),
            depth_stencil: pass.depth_stencil,
            occlusion_query_set: pass.queries.and_then(|queries| queries.occlusion),
        }
    }
}

/// A bound group that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullGroup {
    /// The group number.
    pub index: u32,
    /// The group's slot.
    pub slot: u32,
    /// Its dynamic offsets.
    pub offsets: Vec<u32>,
}

/// A bound buffer that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NullBuffer {
    /// The binding point; zero for index buffers.
    pub index: u32,
    /// The buffer's slot.
    pub slot: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
}

impl NullBuffer {
    fn new(index: usize, buffer: BoundBuffer) -> Self {
        Self { index: index as u32, slot: buffer.native as u32, offset: buffer.offset, size: buffer.size }
    }
}

/// The part of [`BindState`] that a draw or dispatch found dirty; the rest is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NullState {
    /// The pipeline layout's slot, when the pipeline changed.
    pub layout: Option<u32>,
    /// The groups that changed.
    pub groups: Vec<NullGroup>,
    /// The vertex buffers that changed.
    pub vertex_buffers: Vec<NullBuffer>,
    /// The index buffer.
    pub index_buffer: Option<(NullBuffer, IndexFormat)>,
    /// The viewport.
    pub viewport: Option<[f32; 6]>,
    /// The scissor.
    pub scissor: Option<[u32; 4]>,
    /// The blend constant.
    pub blend_constant: Option<[f32; 4]>,
    /// The stencil reference.
    pub stencil_reference: Option<u32>,
    /// The first byte of immediates that changed, and the bytes.
    pub immediates: Option<(u32, Vec<u8>)>,
}

impl NullState {
    pub(super) fn new(dirty: Dirty, state: &BindState) -> Self {
        let when = |bit| dirty.contains(bit);
        let groups = state.groups.iter().enumerate().filter(|(index, _)| when(Dirty::group(*index as u32)));
        let (first, end) = state.dirty_immediates;
        let bytes = || state.immediates.get(first as usize..end as usize).unwrap_or_default().to_vec();
        Self {
            layout: when(Dirty::PIPELINE).then_some(state.layout),
            groups: groups
                .take(MAX_GROUPS)
                .map(|(index, group)| NullGroup {
                    index: index as u32,
                    slot: group.native as u32,
                    offsets: group.offsets.iter().copied().take(group.offset_count as usize).collect(),
                })
                .collect(),
            vertex_buffers: (0..MAX_VERTEX_BUFFERS)
                .filter(|index| when(Dirty::VERTEX_BUFFERS) && state.dirty_vertex_buffers >> index & 1 == 1)
                .map(|index| NullBuffer::new(index, state.vertex_buffers.get(index)))
                .collect(),
            index_buffer: when(Dirty::INDEX_BUFFER)
                .then(|| (NullBuffer::new(0, state.index_buffer), state.index_format)),
            viewport: when(Dirty::VIEWPORT).then_some(state.viewport),
            scissor: when(Dirty::SCISSOR).then_some(state.scissor),
            blend_constant: when(Dirty::BLEND_CONSTANT).then_some(state.blend_constant),
            stencil_reference: when(Dirty::STENCIL_REFERENCE).then_some(state.stencil_reference),
            immediates: when(Dirty::IMMEDIATES).then(|| (first, bytes())),
        }
    }
}
