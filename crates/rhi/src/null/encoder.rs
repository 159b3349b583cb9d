//! Records what a log or an execution needs, and nothing otherwise.
//!
//! Without log and execution only timestamps are recorded, and a call costs a count; debug builds also check it.

use rustc_hash::FxHashSet;

use super::bound::Bound;
use super::log::{EncoderLog, NullCommand, NullRenderPass, NullState};
use super::memory::Part;
use super::tables::{CHECK, Entry, Info};
use super::{Null, NullConfig, check, execute};
use crate::backend::{
    BindState, Dirty, Dispatch, Draw, Encoder, MAX_GROUPS, MAX_VERTEX_BUFFERS, NativeBufferTextureCopy,
    NativeQuery, NativeRenderPass, NativeResult, NativeTargets, NativeTextureCopy, NativeTimestamps,
};
use crate::error::BackendError;
use crate::handle::ResourceKind;
use crate::plan::BarrierBatch;

/// Where in its commands an encoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    RenderPass,
    /// A raster pass whose draws come from sections.
    Sections,
    /// A section of a raster pass.
    Section,
    ComputePass,
}

/// What the current pass has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pass {
    place: Place,
    /// Open labels when the pass began.
    labels: u32,
    /// The set of its occlusion queries.
    occlusion: Option<u32>,
    /// The queries that are open: of occlusion, and of statistics.
    open: [Option<(u32, u32)>; 2],
    /// The timestamp that its end writes.
    stamp: Option<(u32, u32)>,
}

impl Pass {
    const OUTSIDE: Pass = Pass::new(Place::Outside, 0);

    const fn new(place: Place, labels: u32) -> Self {
        Self { place, labels, occlusion: None, open: [None; 2], stamp: None }
    }
}

/// Records commands for a [`Null`] device.
#[derive(Debug)]
pub struct NullEncoder {
    pub(super) label: String,
    pub(super) commands: Vec<NullCommand>,
    /// Whether commands are recorded: for a log or for execution.
    record: bool,
    /// What the commands use, with generations; only in debug builds that record.
    uses: FxHashSet<(ResourceKind, u32, u32)>,
    calls: u64,
    /// Open labels.
    labels: u32,
    pass: Pass,
    /// Whether the section that begins next fails.
    pub(super) fails: bool,
    keeps_state: bool,
    /// What raster and compute passes have bound; only in debug builds.
    render: Bound,
    compute: Bound,
}

impl NullEncoder {
    pub(super) fn new(config: &NullConfig) -> Self {
        Self {
            label: String::new(),
            commands: Vec::new(),
            record: config.log || config.execute,
            uses: FxHashSet::default(),
            calls: 0,
            labels: 0,
            pass: Pass::OUTSIDE,
            fails: false,
            keeps_state: config.keeps_state,
            render: Bound::default(),
            compute: Bound::default(),
        }
    }

    /// Makes it as new, keeping what it allocated.
    pub(super) fn clear(&mut self) {
        self.label.clear();
        self.commands.clear();
        self.uses.clear();
        self.calls = 0;
        self.labels = 0;
        self.pass = Pass::OUTSIDE;
        self.fails = false;
        self.forget();
    }

    fn forget(&mut self) {
        self.render.forget();
        self.compute.forget();
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    pub(super) fn uses(&self) -> impl Iterator<Item = &(ResourceKind, u32, u32)> {
        self.uses.iter()
    }

    pub(super) fn to_log(&self) -> EncoderLog {
        EncoderLog { label: self.label.clone(), commands: self.commands.clone() }
    }

    /// Panics unless all passes and labels are closed.
    pub(super) fn check_balanced(&self) {
        let Self { label, labels, pass, .. } = self;
        let place = pass.place;
        assert!(place == Place::Outside, "null backend: submit: encoder \"{label}\" is still in a {place:?}");
        assert!(*labels == 0, "null backend: submit: encoder \"{label}\" has {labels} open labels");
    }

    #[inline]
    fn push(&mut self, command: impl FnOnce() -> NullCommand) {
        self.calls += 1;
        if self.record {
            self.commands.push(command());
        }
    }

    /// Panics unless the encoder is where the call is allowed.
    fn at(&self, call: &str, place: Place) {
        let now = self.pass.place;
        let label = &self.label;
        assert!(
            now == place,
            "null backend: {call}: expected {place:?}, found {now:?} in encoder \"{label}\""
        );
    }

    fn enter(&mut self, call: &str, place: Place) {
        if CHECK {
            self.at(call, Place::Outside);
            self.pass = Pass::new(place, self.labels);
            if !self.keeps_state {
                self.forget();
            }
        }
    }

    fn leave(&mut self, call: &str, place: Place) {
        if CHECK {
            self.at(call, place);
            let (now, then, label) = (self.labels, self.pass.labels, &self.label);
            assert!(
                now == then,
                "null backend: {call}: {now} labels are open in encoder \"{label}\", the pass began with {then}"
            );
            let open = self.pass.open;
            assert!(open == [None; 2], "null backend: {call}: queries are open: {open:?}");
            self.pass = Pass::OUTSIDE;
        }
    }

    /// Checks that queries are there and notes their use.
    fn uses_queries(&mut self, backend: &Null, call: &str, set: u32, first: u32, count: u32) {
        if CHECK {
            self.uses_slot(backend, call, ResourceKind::QuerySet, set);
            backend.check_queries(call, set, first, count);
        }
    }

    /// Writes the first timestamp of a pass; the last, for its end.
    #[cold]
    fn stamp(&mut self, backend: &Null, timestamps: &NativeTimestamps) -> Option<(u32, u32)> {
        let NativeTimestamps { query_set, begin, end } = *timestamps;
        if let Some(index) = begin {
            self.write_timestamp(backend, query_set, index);
        }
        end.map(|index| (query_set, index))
    }

    /// Checks that a resource is there and notes its use.
    fn uses_slot<'a>(&mut self, backend: &'a Null, call: &str, kind: ResourceKind, slot: u32) -> &'a Entry {
        let entry = backend.tables.live(call, kind, slot);
        if self.record {
            self.uses.insert((kind, slot, entry.generation));
        }
        entry
    }

    fn uses_buffer(&mut self, backend: &Null, call: &str, slot: u32, offset: u64, size: u64) {
        self.uses_slot(backend, call, ResourceKind::Buffer, slot);
        check::buffer(&backend.tables, call, slot, offset, size);
    }

    fn uses_attachment(&mut self, backend: &Null, call: &str, view: u32) {
        let entry = self.uses_slot(backend, call, ResourceKind::TextureView, view);
        if let Info::View { texture, attachable } = entry.info {
            let label = &entry.label;
            assert!(attachable, "null backend: {call}: view slot {view} \"{label}\" is not attachable");
            self.uses_slot(backend, call, ResourceKind::Texture, texture);
        }
    }

    fn uses_state(
        &mut self,
        backend: &Null,
        call: &str,
        kind: ResourceKind,
        dirty: Dirty,
        state: &BindState,
    ) {
        let (bound, needed) = if kind == ResourceKind::RenderPipeline {
            (&mut self.render, Dirty::PIPELINE | Dirty::VIEWPORT | Dirty::SCISSOR)
        } else {
            (&mut self.compute, Dirty::PIPELINE)
        };
        bound.apply(call, &self.label, needed, dirty, state);
        if dirty.contains(Dirty::PIPELINE) {
            self.uses_slot(backend, call, kind, state.pipeline);
            backend.tables.live(call, ResourceKind::PipelineLayout, state.layout);
        }
        for index in 0..MAX_GROUPS {
            if dirty.contains(Dirty::group(index as u32)) {
                self.uses_slot(backend, call, ResourceKind::BindGroup, state.groups[index].native as u32);
            }
        }
        if dirty.contains(Dirty::VERTEX_BUFFERS) {
            for index in 0..MAX_VERTEX_BUFFERS {
                if state.dirty_vertex_buffers >> index & 1 == 1 {
                    let buffer = state.vertex_buffers.get(index);
                    self.uses_buffer(backend, call, buffer.native as u32, buffer.offset, buffer.size);
                }
            }
        }
        if dirty.contains(Dirty::INDEX_BUFFER) {
            let buffer = state.index_buffer;
            self.uses_buffer(backend, call, buffer.native as u32, buffer.offset, buffer.size);
        }
        let (first, end) = state.dirty_immediates;
        assert!(
            !dirty.contains(Dirty::IMMEDIATES) || (first < end && end as usize <= state.immediates.len()),
            "null backend: {call}: immediates {first} to {end} are dirty"
        );
    }

    fn check_draw(&mut self, backend: &Null, dirty: Dirty, state: &BindState, draw: Draw) {
        const CALL: &str = "draw";
        let section = self.pass.place == Place::Section;
        self.at(CALL, if section { Place::Section } else { Place::RenderPass });
        self.uses_state(backend, CALL, ResourceKind::RenderPipeline, dirty, state);
        let [_, _, width, height] = state.scissor;
        assert!(width > 0 && height > 0, "null backend: draw: the scissor is empty");
        let indexed = matches!(
            draw,
            Draw::Indexed { .. } | Draw::IndexedIndirect { .. } | Draw::IndexedIndirectCount { .. }
        );
        assert!(
            !indexed || self.render.has_indices(state),
            "null backend: draw: an indexed draw without an index buffer"
        );
        let (Draw::Indirect { buffer, offset, count, stride }
        | Draw::IndexedIndirect { buffer, offset, count, stride }
        | Draw::IndirectCount { buffer, offset, most: count, stride, .. }
        | Draw::IndexedIndirectCount { buffer, offset, most: count, stride, .. }) = draw
        else {
            return;
        };
        if let Draw::IndirectCount { count_buffer, count_offset, .. }
        | Draw::IndexedIndirectCount { count_buffer, count_offset, .. } = draw
        {
            self.uses_buffer(backend, CALL, count_buffer, u64::from(count_offset), 4);
        }
        assert!(count > 0, "null backend: draw: an indirect draw of nothing");
        let arguments = if indexed { 20 } else { 16 };
        let size = u64::from(count - 1) * u64::from(stride) + arguments;
        self.uses_buffer(backend, CALL, buffer, offset, size);
    }

    fn check_texel_copy(&mut self, backend: &Null, call: &str, copy: &NativeBufferTextureCopy) {
        self.at(call, Place::Outside);
        self.uses_slot(backend, call, ResourceKind::Buffer, copy.buffer);
        check::texels_in_buffer(&backend.tables, &backend.capabilities, call, copy);
        let part = execute::part_of(copy);
        self.uses_part(backend, call, copy.texture, copy.format, &part);
    }

    fn uses_part(
        &mut self,
        backend: &Null,
        call: &str,
        slot: u32,
        format: crate::types::TextureFormat,
        part: &Part,
    ) {
        self.uses_slot(backend, call, ResourceKind::Texture, slot);
        check::part(&backend.tables, call, slot, format, part);
    }
}

impl Encoder for NullEncoder {
    type Backend = Null;

    fn barriers(&mut self, backend: &Null, batch: BarrierBatch<'_>) {
        if CHECK {
            // Compute passes may order their own dispatches; raster passes cannot be interrupted.
            assert!(
                matches!(self.pass.place, Place::Outside | Place::ComputePass),
                "null backend: barriers inside a render pass of encoder \"{}\"",
                self.label
            );
            for barrier in batch.textures {
                self.uses_slot(backend, "barriers", ResourceKind::Texture, barrier.texture);
                check::range(&backend.tables, "barriers", barrier.texture, barrier.range);
            }
        }
        let BarrierBatch { memory, textures } = batch;
        self.push(|| NullCommand::Barriers { memory: memory.to_vec(), textures: textures.to_vec() });
    }

    fn push_label(&mut self, _: &Null, label: &str) {
        self.labels += 1;
        self.push(|| NullCommand::PushLabel(label.into()));
    }

    fn pop_label(&mut self, _: &Null) {
        if CHECK {
            let label = &self.label;
            assert!(self.labels > 0, "null backend: pop_label: no label is open in encoder \"{label}\"");
        }
        self.labels = self.labels.saturating_sub(1);
        self.push(|| NullCommand::PopLabel);
    }

    fn keeps_state(&self) -> bool {
        self.keeps_state
    }

    fn begin_render_pass(&mut self, backend: &Null, pass: &NativeRenderPass<'_>) {
        const CALL: &str = "begin_render_pass";
        let timestamps = pass.queries.and_then(|queries| queries.timestamps.as_ref());
        let stamp = timestamps.and_then(|timestamps| self.stamp(backend, timestamps));
        self.enter(CALL, if pass.sections { Place::Sections } else { Place::RenderPass });
        if let Some(queries) = pass.queries {
            (self.pass.stamp, self.pass.occlusion) = (stamp, queries.occlusion);
            if let Some(set) = queries.occlusion {
                self.uses_queries(backend, CALL, set, 0, 0);
            }
        }
        if CHECK {
            for color in pass.colors.iter().flatten() {
                self.uses_attachment(backend, CALL, color.view);
                if let Some(target) = color.resolve {
                    self.uses_attachment(backend, CALL, target);
                }
            }
            if let Some(target) = &pass.depth_stencil {
                self.uses_attachment(backend, CALL, target.view);
            }
        }
        self.push(|| NullCommand::BeginRenderPass(NullRenderPass::from(pass)));
    }

    fn end_render_pass(&mut self, backend: &Null) {
        let sections = self.pass.place == Place::Sections;
        let stamp = self.pass.stamp.take();
        self.leave("end_render_pass", if sections { Place::Sections } else { Place::RenderPass });
        self.push(|| NullCommand::EndRenderPass);
        if let Some((set, index)) = stamp {
            self.write_timestamp(backend, set, index);
        }
    }

    fn begin_section(&mut self, _: &Null, label: &str, _: &NativeTargets<'_>) -> NativeResult {
        self.enter("begin_section", Place::Section);
        if std::mem::take(&mut self.fails) {
            return Err(BackendError::Failed { call: "begin_section", detail: "failed by the test".into() });
        }
        if CHECK || self.record {
            self.label.push_str(label);
        }
        self.push(|| NullCommand::Section(label.into()));
        Ok(())
    }

    fn end_section(&mut self, _: &Null) -> NativeResult {
        self.leave("end_section", Place::Section);
        self.calls += 1;
        Ok(())
    }

    fn execute_sections(&mut self, backend: &Null, sections: &mut Vec<Self>) {
        self.calls += 1;
        if CHECK {
            self.at("execute_sections", Place::Sections);
            sections.iter().for_each(NullEncoder::check_balanced);
        }
        for mut section in sections.drain(..) {
            self.calls += section.calls;
            self.commands.append(&mut section.commands);
            self.uses.extend(section.uses.drain());
            backend.put_back(section);
        }
        self.forget();
    }

    #[inline]
    fn draw(&mut self, backend: &Null, dirty: Dirty, state: &BindState, draw: Draw) {
        if CHECK {
            self.check_draw(backend, dirty, state, draw);
        }
        self.push(|| NullCommand::Draw {
            dirty,
            pipeline: state.pipeline,
            changed: Box::new(NullState::new(dirty, state)),
            draw,
        });
    }

    fn begin_compute_pass(&mut self, backend: &Null, label: &str, timestamps: Option<&NativeTimestamps>) {
        let stamp = timestamps.and_then(|timestamps| self.stamp(backend, timestamps));
        self.enter("begin_compute_pass", Place::ComputePass);
        if stamp.is_some() {
            self.pass.stamp = stamp;
        }
        self.push(|| NullCommand::BeginComputePass(label.into()));
    }

    fn end_compute_pass(&mut self, backend: &Null) {
        let stamp = self.pass.stamp.take();
        self.leave("end_compute_pass", Place::ComputePass);
        self.push(|| NullCommand::EndComputePass);
        if let Some((set, index)) = stamp {
            self.write_timestamp(backend, set, index);
        }
    }

    #[inline]
    fn dispatch(&mut self, backend: &Null, dirty: Dirty, state: &BindState, dispatch: Dispatch) {
        if CHECK {
            self.at("dispatch", Place::ComputePass);
            self.uses_state(backend, "dispatch", ResourceKind::ComputePipeline, dirty, state);
            if let Dispatch::Indirect { buffer, offset } = dispatch {
                self.uses_buffer(backend, "dispatch", buffer, offset, 12);
            }
        }
        self.push(|| NullCommand::Dispatch {
            dirty,
            pipeline: state.pipeline,
            changed: Box::new(NullState::new(dirty, state)),
            dispatch,
        });
    }

    fn copy_buffer(
        &mut self,
        backend: &Null,
        src: u32,
        src_offset: u64,
        dst: u32,
        dst_offset: u64,
        size: u64,
    ) {
        if CHECK {
            const CALL: &str = "copy_buffer";
            self.at(CALL, Place::Outside);
            self.uses_buffer(backend, CALL, src, src_offset, size);
            self.uses_buffer(backend, CALL, dst, dst_offset, size);
            let apart = src_offset + size <= dst_offset || dst_offset + size <= src_offset;
            assert!(src != dst || apart, "null backend: copy_buffer: the regions of slot {src} overlap");
        }
        self.push(|| NullCommand::CopyBuffer { src, src_offset, dst, dst_offset, size });
    }

    fn clear_buffer(&mut self, backend: &Null, buffer: u32, offset: u64, size: u64) {
        if CHECK {
            self.at("clear_buffer", Place::Outside);
            self.uses_buffer(backend, "clear_buffer", buffer, offset, size);
            assert!(
                offset.is_multiple_of(4) && size.is_multiple_of(4),
                "null backend: clear_buffer: {size} bytes from {offset} are not whole words"
            );
        }
        self.push(|| NullCommand::ClearBuffer { buffer, offset, size });
    }

    fn copy_buffer_to_texture(&mut self, backend: &Null, copy: &NativeBufferTextureCopy) {
        if CHECK {
            self.check_texel_copy(backend, "copy_buffer_to_texture", copy);
        }
        self.push(|| NullCommand::CopyBufferToTexture(*copy));
    }

    fn copy_texture_to_buffer(&mut self, backend: &Null, copy: &NativeBufferTextureCopy) {
        if CHECK {
            self.check_texel_copy(backend, "copy_texture_to_buffer", copy);
        }
        self.push(|| NullCommand::CopyTextureToBuffer(*copy));
    }

    fn copy_texture(&mut self, backend: &Null, copy: &NativeTextureCopy) {
        if CHECK {
            const CALL: &str = "copy_texture";
            self.at(CALL, Place::Outside);
            let [src, dst] = execute::parts_of(copy);
            self.uses_part(backend, CALL, copy.src.0, copy.format, &src);
            self.uses_part(backend, CALL, copy.dst.0, copy.format, &dst);
        }
        self.push(|| NullCommand::CopyTexture(*copy));
    }

    fn reset_queries(&mut self, backend: &Null, query_set: u32, first: u32, count: u32) {
        if CHECK {
            self.at("reset_queries", Place::Outside);
        }
        self.uses_queries(backend, "reset_queries", query_set, first, count);
        self.push(|| NullCommand::ResetQueries { query_set, first, count });
    }

    fn begin_query(&mut self, backend: &Null, query: NativeQuery, query_set: u32, index: u32) {
        const CALL: &str = "begin_query";
        if CHECK {
            let Pass { place, occlusion, open, .. } = self.pass;
            let inside = matches!(place, Place::RenderPass | Place::ComputePass);
            assert!(inside, "null backend: {CALL}: expected a pass, found {place:?}");
            let of_pass = query != NativeQuery::Occlusion || occlusion == Some(query_set);
            assert!(
                of_pass,
                "null backend: {CALL}: the pass has occlusion set {occlusion:?}, not {query_set}"
            );
            assert!(open[query as usize].is_none(), "null backend: {CALL}: {query:?} is open: {open:?}");
            self.pass.open[query as usize] = Some((query_set, index));
        }
        self.uses_queries(backend, CALL, query_set, index, 1);
        self.push(|| NullCommand::BeginQuery { query, query_set, index });
    }

    fn end_query(&mut self, _: &Null, query: NativeQuery, query_set: u32, index: u32) {
        if CHECK {
            let open = self.pass.open[query as usize].take();
            let this = Some((query_set, index));
            assert!(open == this, "null backend: end_query: {open:?} is open, not {this:?}");
        }
        self.push(|| NullCommand::EndQuery { query, query_set, index });
    }

    fn copy_queries(
        &mut self,
        backend: &Null,
        query_set: u32,
        first: u32,
        count: u32,
        buffer: u32,
        offset: u64,
    ) {
        if CHECK {
            self.at("copy_queries", Place::Outside);
            assert!(
                offset.is_multiple_of(8),
                "null backend: copy_queries: offset {offset} is not of 8 bytes"
            );
            self.uses_buffer(backend, "copy_queries", buffer, offset, 8 * u64::from(count));
        }
        self.uses_queries(backend, "copy_queries", query_set, first, count);
        self.push(|| NullCommand::CopyQueries { query_set, first, count, buffer, offset });
    }

    fn write_timestamp(&mut self, backend: &Null, query_set: u32, index: u32) {
        if CHECK {
            self.at("write_timestamp", Place::Outside);
        }
        self.uses_queries(backend, "write_timestamp", query_set, index, 1);
        self.calls += 1;
        // Recorded even when nothing else is, so that timing services see answers.
        self.commands.push(NullCommand::WriteTimestamp { query_set, index });
    }
}
