//! Raster passes: state, draws, and the checks that each draw needs and no more.

mod indirect;

use std::ops::Range;

use crate::backend::{Backend, BoundBuffer, Dirty, Draw, MAX_VERTEX_BUFFERS};
use crate::desc::BufferSlice;
use crate::error::{Error, Result, invalid, state, unsupported};
use crate::handle::{BindGroup, RenderPipeline};
use crate::record::PassEnd;
use crate::record::attachments::{ResolvedPass, show_targets};
use crate::record::bind::{Bindings, Kept, Point};
use crate::record::declared::Declared;
use crate::record::queries::Queries;
use crate::record::sink::{DrawSink, PassEncoder};
use crate::record::slice::{VERTICES, indices};
use crate::registry::{Registry, RenderPipelineRecord};
use crate::types::IndexFormat;

/// Records draws. A mistake is kept and answered at the pass's end; later commands are ignored.
///
/// `E` is where the commands go: the pass's encoder, or a [`BatchRecorder`](crate::BatchRecorder)'s batch.
#[derive(Debug)]
pub struct RenderPass<'p, B: Backend, E = PassEncoder<'p, B>> {
    pub(super) backend: &'p B,
    pub(super) encoder: E,
    pub(super) bindings: Bindings<'p>,
    pub(super) queries: &'p mut Queries,
    /// Batches that the recording executes.
    pub(super) executed: &'p mut Vec<u32>,
    pub(super) target: &'p ResolvedPass,
    pipeline: Option<(RenderPipeline, &'p RenderPipelineRecord)>,
    bound_vertex_buffers: u32,
    max_vertex_buffers: u32,
    index_bound: bool,
    /// The index format is none that the pipeline's strips forbid; only when `counted`.
    index_fits: bool,
    /// Indices that the bound buffer holds.
    indices: u64,
    /// Vertices and instances that the bound buffers hold for the pipeline, when `counted`.
    vertices: u64,
    instances: u64,
    counted: bool,
    /// The scissor or viewport is empty: draws are checked and then dropped.
    pub(super) empty_scissor: bool,
    pub(super) empty_viewport: bool,
    labels: u32,
    /// Whether a part of the pass, which is not its first, has a label open.
    part: bool,
}

impl<'p, B: Backend, E: DrawSink<B>> RenderPass<'p, B, E> {
    #[inline(always)]
    pub(super) fn new(
        registry: &'p Registry,
        backend: &'p B,
        encoder: E,
        kept: &'p mut Kept,
        declared: Declared<'p>,
        label: &'p str,
        target: &'p ResolvedPass,
    ) -> Self {
        if !encoder.keeps_state() {
            kept.forget();
        }
        let Kept { render, queries, executed, .. } = kept;
        let bindings = Bindings::new(registry, render, declared, label);
        set_fixed_state(bindings.point, target.extent);
        Self {
            backend,
            encoder,
            bindings,
            queries,
            executed,
            target,
            pipeline: None,
            bound_vertex_buffers: 0,
            max_vertex_buffers: backend
                .capabilities()
                .limits
                .max_vertex_buffers
                .min(MAX_VERTEX_BUFFERS as u32),
            index_bound: false,
            index_fits: false,
            indices: 0,
            vertices: 0,
            instances: 0,
            counted: false,
            empty_scissor: false,
            empty_viewport: false,
            labels: 0,
            part: false,
        }
    }

    /// Forgets pipeline, groups, buffers and immediates: nothing of them is set.
    pub(super) fn unset(&mut self) {
        self.bindings.unset();
        self.pipeline = None;
        self.bound_vertex_buffers = 0;
        (self.index_bound, self.counted) = (false, false);
    }

    /// Closes the debug groups of a part, and the part's own.
    pub(super) fn close_part(&mut self) {
        if self.labels > 0 {
            close_labels(self.backend, &mut self.encoder, &mut self.labels, &mut self.bindings);
        }
        if std::mem::take(&mut self.part) {
            self.encoder.pop_label(self.backend);
        }
    }

    /// The first mistake so far; the pass will answer it.
    pub fn mistake(&self) -> Option<&Error> {
        self.bindings.mistake.as_ref()
    }

    /// Width and height of the attachments.
    pub fn extent(&self) -> (u32, u32) {
        self.target.extent
    }

    /// Sets the pipeline of the following draws.
    #[inline]
    pub fn set_pipeline(&mut self, pipeline: RenderPipeline) {
        if self.pipeline.is_some_and(|(current, _)| current == pipeline) || self.bindings.mistake.is_some() {
            return;
        }
        if let Err(error) = self.try_set_pipeline(pipeline) {
            self.bindings.fail(error);
        }
    }

    fn try_set_pipeline(&mut self, pipeline: RenderPipeline) -> Result<()> {
        let Some(record) = self.bindings.registry.render_pipelines.get(pipeline) else {
            let what = self.bindings.what("set_pipeline");
            return Err(self.bindings.registry.render_pipelines.problem(pipeline, what));
        };
        let target = self.target;
        // Trailing gaps do not matter: a pipeline with fewer targets than the pass has is another layout natively.
        if record.colors != target.formats
            || record.depth_stencil != target.depth_format
            || record.samples != target.samples
        {
            let what = self.bindings.what(&format!("set_pipeline of \"{}\"", record.label));
            let expected = show_targets(&target.formats, target.depth_format, target.samples);
            let found = show_targets(&record.colors, record.depth_stencil, record.samples);
            return Err(invalid(what, "targets", expected, found));
        }
        if let Some(attachment) = &target.depth_stencil
            && let Some(aspect) = attachment.first_read_only((record.writes_depth, record.writes_stencil))
        {
            let what = self.bindings.what(&format!("set_pipeline of \"{}\"", record.label));
            let expected = format!("no {aspect} writes: the aspect is read-only in this pass");
            return Err(invalid(what, "depth_stencil", expected, format!("{aspect} writes")));
        }
        self.pipeline = Some((pipeline, record));
        self.bindings.set_pipeline(pipeline.slot(), &record.interface);
        self.counted = false;
        Ok(())
    }

    /// Binds a group with its dynamic offsets, in binding order.
    #[inline]
    pub fn set_bind_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        self.bindings.set_group(index, group, offsets);
    }

    /// Sets bytes of immediates; offset and length are multiples of four.
    pub fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        self.bindings.set_immediates(offset, data);
    }

    /// Binds vertices at a slot.
    #[inline]
    pub fn set_vertex_buffer(&mut self, index: u32, slice: BufferSlice) {
        if index < self.max_vertex_buffers
            && let Some(bound) = self.bindings.accepts(&slice, &VERTICES)
        {
            return self.put_vertex_buffer(index, bound);
        }
        self.set_vertex_buffer_after_all(index, &slice);
    }

    #[inline(never)]
    fn set_vertex_buffer_after_all(&mut self, index: u32, slice: &BufferSlice) {
        if index >= self.max_vertex_buffers {
            let detail = format!("slot {index} requested, {} available", self.max_vertex_buffers);
            let what = self.bindings.what("set_vertex_buffer");
            return self.bindings.fail(unsupported(what, "limit max_vertex_buffers", detail));
        }
        if let Some(bound) = self.bindings.accepts_after_all(slice, &VERTICES) {
            self.put_vertex_buffer(index, bound);
        }
    }

    #[inline(always)]
    fn put_vertex_buffer(&mut self, index: u32, bound: BoundBuffer) {
        let slot = index as usize & (MAX_VERTEX_BUFFERS - 1);
        self.bound_vertex_buffers |= 1 << index;
        // What a buffer holds for the pipeline is a matter of its size alone. A draw that was checked had all it needs.
        if self.bindings.point.state.vertex_buffers.sizes[slot] != bound.size {
            (self.counted, self.bindings.ready) = (false, false);
        }
        self.bindings.point.put_vertex_buffer(index, bound);
    }

    /// Binds indices.
    #[inline]
    pub fn set_index_buffer(&mut self, slice: BufferSlice, format: IndexFormat) {
        if let Some(bound) = self.bindings.accepts(&slice, indices(format)) {
            return self.put_index_buffer(bound, format);
        }
        self.set_index_buffer_after_all(&slice, format);
    }

    #[inline(never)]
    fn set_index_buffer_after_all(&mut self, slice: &BufferSlice, format: IndexFormat) {
        if let Some(bound) = self.bindings.accepts_after_all(slice, indices(format)) {
            self.put_index_buffer(bound, format);
        }
    }

    #[inline(always)]
    fn put_index_buffer(&mut self, bound: BoundBuffer, format: IndexFormat) {
        if !self.index_bound || self.bindings.point.state.index_format != format {
            (self.counted, self.bindings.ready) = (false, false);
        }
        self.index_bound = true;
        self.indices = bound.size / indices(format).alignment;
        self.bindings.point.put_index_buffer(bound, format);
    }

    /// Sets the viewport in pixels from the top left; depth goes from `depth.0` to `depth.1`.
    ///
    /// The rectangle may reach beyond the attachments, by up to twice the largest texture size; nothing is drawn
    /// outside them. Depths lie in 0 to 1, the first not above the second; equal ones are legal.
    pub fn set_viewport(&mut self, x: f32, y: f32, width: f32, height: f32, depth: (f32, f32)) {
        if self.bindings.mistake.is_some() {
            return;
        }
        let most = self.target.limit as f32;
        let sides = (0.0..=most).contains(&width) && (0.0..=most).contains(&height);
        let bounds = -2.0 * most..=2.0 * most - 1.0;
        let placed = bounds.contains(&x)
            && bounds.contains(&y)
            && bounds.contains(&(x + width))
            && bounds.contains(&(y + height));
        if !sides || !placed {
            let expected = format!("sides of 0 to {most} within {} to {}", -2.0 * most, 2.0 * most - 1.0);
            let found = format!("{width}x{height} at {x},{y}");
            let error = invalid(self.bindings.what("set_viewport"), "viewport", expected, found);
            return self.bindings.fail(error);
        }
        let unit = 0.0..=1.0;
        if !unit.contains(&depth.0) || !unit.contains(&depth.1) || depth.0 > depth.1 {
            let found = format!("{} to {}", depth.0, depth.1);
            let expected = "0 <= minimum <= maximum <= 1";
            let error = invalid(self.bindings.what("set_viewport"), "depth", expected, found);
            return self.bindings.fail(error);
        }
        self.empty_viewport = width == 0.0 || height == 0.0;
        self.bindings.ready &= !self.empty_viewport;
        let viewport = [x, y, width, height, depth.0, depth.1];
        self.bindings.point.set(Dirty::VIEWPORT, |state| &mut state.viewport, viewport);
    }

    /// Sets the scissor in pixels from the top left. It lies within the attachments; an empty one draws nothing.
    pub fn set_scissor(&mut self, x: u32, y: u32, width: u32, height: u32) {
        if self.bindings.mistake.is_some() {
            return;
        }
        let (target_width, target_height) = self.target.extent;
        let inside = x.checked_add(width).is_some_and(|end| end <= target_width)
            && y.checked_add(height).is_some_and(|end| end <= target_height);
        if !inside {
            let expected = format!("a rectangle within {target_width}x{target_height}");
            let found = format!("{width}x{height} at {x},{y}");
            let error = invalid(self.bindings.what("set_scissor"), "scissor", expected, found);
            return self.bindings.fail(error);
        }
        self.empty_scissor = width == 0 || height == 0;
        self.bindings.ready &= !self.empty_scissor;
        let scissor = [x, y, width, height];
        self.bindings.point.set(Dirty::SCISSOR, |state| &mut state.scissor, scissor);
    }

    /// Sets the constant of blend factors that name it.
    pub fn set_blend_constant(&mut self, color: [f32; 4]) {
        self.bindings.point.set(Dirty::BLEND_CONSTANT, |state| &mut state.blend_constant, color);
    }

    /// Sets the reference of stencil tests.
    pub fn set_stencil_reference(&mut self, reference: u32) {
        self.bindings.point.set(Dirty::STENCIL_REFERENCE, |state| &mut state.stencil_reference, reference);
    }

    /// Draws vertices. Nothing is drawn when there are no vertices or no instances.
    #[inline(always)]
    pub fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        // Each way ends in one call, so that the shortest saves no registers for the longest.
        if !(self.bindings.ready && fits(&vertices, self.vertices) && fits(&instances, self.instances)) {
            return self.draw_unready(vertices, instances);
        }
        let dirty = self.bindings.take_dirty();
        if !dirty.is_empty() {
            return self.draw_dirty(dirty, vertices, instances);
        }
        self.encoder.draw(self.backend, dirty, &self.bindings.point.state, direct(&vertices, &instances));
    }

    #[inline(never)]
    fn draw_unready(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        self.issue("draw", direct(&vertices, &instances));
    }

    #[inline(never)]
    fn draw_dirty(&mut self, dirty: Dirty, vertices: Range<u32>, instances: Range<u32>) {
        self.emit(dirty, direct(&vertices, &instances));
    }

    #[inline(always)]
    fn emit(&mut self, dirty: Dirty, draw: Draw) {
        let state = &mut self.bindings.point.state;
        self.encoder.draw(self.backend, dirty, state, draw);
        state.dirty_vertex_buffers = 0;
    }

    /// Draws by indices; `base_vertex` is added to each. Index values are not checked: what they fetch outside the
    /// vertex buffers is undefined but stays on the device.
    #[inline]
    pub fn draw_indexed(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        if !(self.bindings.ready
            && self.index_fits
            && fits(&indices, self.indices)
            && fits(&instances, self.instances))
        {
            return self.draw_indexed_unready(indices, base_vertex, instances);
        }
        let dirty = self.bindings.take_dirty();
        if !dirty.is_empty() {
            return self.draw_indexed_dirty(dirty, indices, base_vertex, instances);
        }
        let draw = indexed(&indices, base_vertex, &instances);
        self.encoder.draw(self.backend, dirty, &self.bindings.point.state, draw);
    }

    #[inline(never)]
    fn draw_indexed_unready(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        self.issue("draw_indexed", indexed(&indices, base_vertex, &instances));
    }

    #[inline(never)]
    fn draw_indexed_dirty(&mut self, dirty: Dirty, indices: Range<u32>, base: i32, instances: Range<u32>) {
        self.emit(dirty, indexed(&indices, base, &instances));
    }

    /// Draws one triangle that covers the attachments: three vertices without buffers, by a pipeline made for it.
    pub fn fullscreen(&mut self, pipeline: RenderPipeline) {
        self.set_pipeline(pipeline);
        self.draw(0..3, 0..1);
    }

    /// The long way of a draw: what was not checked is, and nothing may be left to draw.
    fn issue(&mut self, call: &'static str, draw: Draw) {
        if self.bindings.mistake.is_some() {
            return;
        }
        let Some((_, record)) = self.pipeline else {
            let error = state(self.bindings.what(call), "a pipeline", "none");
            return self.bindings.fail(error);
        };
        match self.check_draw(record, call, draw) {
            Ok(empty) => {
                let hidden = self.empty_scissor || self.empty_viewport;
                self.bindings.ready = !hidden;
                if empty || hidden {
                    self.bindings.count += 1;
                } else {
                    let dirty = self.bindings.take_dirty();
                    self.emit(dirty, draw);
                }
            }
            Err(error) => self.bindings.fail(error),
        }
    }

    /// Checks one draw in full; whether it draws nothing.
    fn check_draw(&mut self, record: &RenderPipelineRecord, call: &'static str, draw: Draw) -> Result<bool> {
        if !self.bindings.is_checked() {
            self.bindings.check(&record.interface, call)?;
        }
        if !self.counted {
            self.count_vertices(record, call)?;
            let format = self.bindings.point.state.index_format;
            self.index_fits =
                self.index_bound && record.strip_index_format.is_none_or(|strip| strip == format);
            self.counted = true;
        }
        match draw {
            Draw::Direct { vertices, instances, first_vertex, first_instance } => {
                if vertices == 0 || instances == 0 {
                    return Ok(true);
                }
                self.check_range(
                    "vertices",
                    u64::from(first_vertex) + u64::from(vertices),
                    self.vertices,
                    call,
                )?;
                let end = u64::from(first_instance) + u64::from(instances);
                self.check_range("instances", end, self.instances, call)?;
                Ok(false)
            }
            Draw::Indexed { indices, instances, first_index, first_instance, .. } => {
                self.check_index_buffer(record, call)?;
                if indices == 0 || instances == 0 {
                    return Ok(true);
                }
                let end = u64::from(first_index) + u64::from(indices);
                self.check_range("indices", end, self.indices, call)?;
                let end = u64::from(first_instance) + u64::from(instances);
                self.check_range("instances", end, self.instances, call)?;
                Ok(false)
            }
            Draw::Indirect { count, .. } | Draw::IndirectCount { most: count, .. } => Ok(count == 0),
            Draw::IndexedIndirect { count, .. } | Draw::IndexedIndirectCount { most: count, .. } => {
                self.check_index_buffer(record, call)?;
                Ok(count == 0)
            }
        }
    }

    #[inline(always)]
    fn check_range(&self, what: &'static str, end: u64, available: u64, call: &str) -> Result<()> {
        if end <= available { Ok(()) } else { Err(self.bad_range(what, end, available, call)) }
    }

    #[cold]
    #[inline(never)]
    fn bad_range(&self, what: &'static str, end: u64, available: u64, call: &str) -> Error {
        let expected = format!("{what} up to {available}, which the bound buffers hold");
        invalid(self.bindings.what(call), what, expected, format!("up to {end}"))
    }

    fn check_index_buffer(&self, record: &RenderPipelineRecord, call: &str) -> Result<()> {
        if !self.index_bound {
            return Err(state(self.bindings.what(call), "an index buffer", "none"));
        }
        let format = self.bindings.point.state.index_format;
        match record.strip_index_format {
            Some(strip) if strip != format => {
                let expected = format!("indices of {strip:?}, the strip format of \"{}\"", record.label);
                Err(state(self.bindings.what(call), expected, format!("{format:?}")))
            }
            _ => Ok(()),
        }
    }

    /// How many vertices and instances the bound buffers hold. The last element needs no full stride.
    fn count_vertices(&mut self, record: &RenderPipelineRecord, call: &str) -> Result<()> {
        (self.vertices, self.instances) = (u64::MAX, u64::MAX);
        for (index, need) in record.vertex_buffers.iter().enumerate() {
            if !need.used {
                continue;
            }
            if self.bound_vertex_buffers & (1 << index) == 0 {
                let expected = format!("a vertex buffer at slot {index}, which \"{}\" reads", record.label);
                return Err(state(self.bindings.what(call), expected, "none"));
            }
            let size = self.bindings.point.state.vertex_buffers.sizes[index];
            let held = if size < need.last_end {
                0
            } else {
                (size - need.last_end).checked_div(need.stride).map_or(u64::MAX, |n| n + 1)
            };
            let count = if need.instanced { &mut self.instances } else { &mut self.vertices };
            *count = held.min(*count);
        }
        Ok(())
    }

    /// Opens a labeled region in captures; the pass closes what is left open.
    pub fn push_debug_group(&mut self, label: &str) {
        self.encoder.push_label(self.backend, label);
        self.labels += 1;
    }

    /// Closes the innermost region.
    pub fn pop_debug_group(&mut self) {
        pop_label(self.backend, &mut self.encoder, &mut self.labels, &mut self.bindings);
    }
}

impl<'p, B: Backend> RenderPass<'p, B> {
    /// Begins the next of several passes that are recorded as one. As at the beginning of a pass, nothing is set; errors
    /// and captures know it by its own label. A mistake before it stays.
    pub fn next_part(&mut self, label: &'p str) {
        if self.queries.is_open {
            self.close_queries();
        }
        self.close_part();
        self.unset();
        self.bindings.restart(label);
        set_fixed_state(self.bindings.point, self.target.extent);
        (self.empty_scissor, self.empty_viewport) = (false, false);
        self.encoder.push_label(self.backend, label);
        self.part = true;
    }

    /// Ends the pass: closes open debug groups and hands over the first mistake.
    pub fn end(mut self) -> PassEnd {
        self.close()
    }

    /// The same where the pass stands: it is large, and moving it costs.
    #[inline]
    pub(super) fn close(&mut self) -> PassEnd {
        if self.queries.is_open {
            self.close_queries();
        }
        if self.labels > 0 || self.part {
            self.close_part();
        }
        PassEnd(self.bindings.mistake.take().map_or(Ok(()), Err))
    }
}

#[inline(always)]
fn direct(vertices: &Range<u32>, instances: &Range<u32>) -> Draw {
    Draw::Direct {
        vertices: vertices.end.saturating_sub(vertices.start),
        instances: instances.end.saturating_sub(instances.start),
        first_vertex: vertices.start,
        first_instance: instances.start,
    }
}

#[inline(always)]
fn indexed(indices: &Range<u32>, base_vertex: i32, instances: &Range<u32>) -> Draw {
    Draw::Indexed {
        indices: indices.end.saturating_sub(indices.start),
        instances: instances.end.saturating_sub(instances.start),
        first_index: indices.start,
        base_vertex,
        first_instance: instances.start,
    }
}

/// Whether a range is of something, all of it available.
#[inline]
fn fits(range: &Range<u32>, available: u64) -> bool {
    range.start < range.end && u64::from(range.end) <= available
}

/// The state that every pass begins with.
#[inline]
fn set_fixed_state(point: &mut Point, (width, height): (u32, u32)) {
    let viewport = [0.0, 0.0, width as f32, height as f32, 0.0, 1.0];
    point.set(Dirty::VIEWPORT, |state| &mut state.viewport, viewport);
    point.set(Dirty::SCISSOR, |state| &mut state.scissor, [0, 0, width, height]);
    point.set(Dirty::BLEND_CONSTANT, |state| &mut state.blend_constant, [0.0; 4]);
    point.set(Dirty::STENCIL_REFERENCE, |state| &mut state.stencil_reference, 0);
}

pub(super) fn pop_label<B: Backend>(
    backend: &B,
    encoder: &mut impl DrawSink<B>,
    labels: &mut u32,
    bindings: &mut Bindings<'_>,
) {
    match labels.checked_sub(1) {
        Some(left) => {
            *labels = left;
            encoder.pop_label(backend);
        }
        None => {
            let error = state(bindings.what("pop_debug_group"), "an open debug group", "none");
            bindings.fail(error);
        }
    }
}

pub(super) fn close_labels<B: Backend>(
    backend: &B,
    encoder: &mut impl DrawSink<B>,
    labels: &mut u32,
    bindings: &mut Bindings<'_>,
) {
    while *labels > 0 {
        pop_label(backend, encoder, labels, bindings);
    }
}
