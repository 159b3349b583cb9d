//! Binding state that raster and compute passes share: groups, offsets, immediates, and what has changed.

use crate::backend::{
    BindState, BoundBuffer, BoundGroup, Dirty, MAX_DYNAMIC_OFFSETS, MAX_GROUPS, MAX_IMMEDIATES,
    MAX_VERTEX_BUFFERS, NOT_BOUND, NativeBinding, VertexBuffers,
};
use crate::error::{Error, Result, invalid, state, unsupported};
use crate::handle::BindGroup;
use crate::plan::ResourceUse;
use crate::record::declared::Declared;
use crate::record::queries::Queries;
use crate::registry::{BindGroupRecord, HotGroup, PipelineInterface, Registry};
use crate::types::IndexFormat;

/// What a command buffer has bound, apart for the two kinds of pass. It outlives the passes: what the next one sets
/// and the command buffer already has is not bound again. Slots and native handles are enough to tell, for nothing is destroyed while a
/// recording is open.
#[derive(Debug)]
pub(crate) struct Kept {
    pub render: Point,
    pub compute: Point,
    pub queries: Queries,
    /// Slots of the command batches that the recording executes; some may be there twice.
    pub executed: Vec<u32>,
}

/// One kind of pass.
#[derive(Debug)]
pub(crate) struct Point {
    pub state: BindState,
    /// What the pass has set and no draw or dispatch has brought to the command buffer yet.
    pub dirty: Dirty,
    /// What else the command buffer may not have as `state` says; buffers and groups that it may not have are
    /// [`NOT_BOUND`].
    pub unknown: Dirty,
    /// One past the last byte of immediates that is not zero.
    immediates_end: u32,
}

const NO_LAYOUT: u32 = u32::MAX;

impl Default for Kept {
    fn default() -> Self {
        Self {
            render: Point::new(),
            compute: Point::new(),
            queries: Queries::default(),
            executed: Vec::new(),
        }
    }
}

impl Kept {
    /// For a new command buffer, or a pass that finds nothing of the one before: nothing is known.
    pub(crate) fn forget(&mut self) {
        self.render.forget();
        self.compute.forget();
    }
}

impl Point {
    fn new() -> Self {
        let group = BoundGroup { native: NOT_BOUND, offset_count: 0, offsets: [0; MAX_DYNAMIC_OFFSETS] };
        let state = BindState {
            pipeline: 0,
            layout: NO_LAYOUT,
            groups: [group; MAX_GROUPS],
            vertex_buffers: VertexBuffers::default(),
            dirty_vertex_buffers: 0,
            index_buffer: BoundBuffer::default(),
            index_format: IndexFormat::Uint16,
            viewport: [0.0; 6],
            scissor: [0; 4],
            blend_constant: [0.0; 4],
            stencil_reference: 0,
            immediates: [0; MAX_IMMEDIATES],
            dirty_immediates: (0, 0),
        };
        Self { state, dirty: Dirty::empty(), unknown: Dirty::all(), immediates_end: 0 }
    }

    pub(super) fn forget(&mut self) {
        self.state.layout = NO_LAYOUT;
        self.unknown = Dirty::all();
        self.state.vertex_buffers.natives.fill(NOT_BOUND);
        self.state.index_buffer.native = NOT_BOUND;
        for group in &mut self.state.groups {
            group.native = NOT_BOUND;
        }
    }

    /// A pass begins, with nothing set. What the one before set and did not use is unknown natively.
    #[inline]
    fn begin(&mut self) {
        if !self.dirty.is_empty() {
            self.give_up_dirty();
        }
        // Both kinds of pass write the same native immediates, so nothing of them is kept.
        self.state.immediates[..self.immediates_end as usize].fill(0);
        self.immediates_end = 0;
    }

    #[inline(never)]
    fn give_up_dirty(&mut self) {
        let dirty = std::mem::take(&mut self.dirty);
        self.unknown |= dirty;
        for (index, native) in self.state.vertex_buffers.natives.iter_mut().enumerate() {
            if self.state.dirty_vertex_buffers >> index & 1 != 0 {
                *native = NOT_BOUND;
            }
        }
        self.state.dirty_vertex_buffers = 0;
        if dirty.contains(Dirty::INDEX_BUFFER) {
            self.state.index_buffer.native = NOT_BOUND;
        }
        for (index, group) in (0..).zip(&mut self.state.groups) {
            if dirty.contains(Dirty::group(index)) {
                group.native = NOT_BOUND;
            }
        }
    }

    /// Binds a group that fits; dirty unless the command buffer has it.
    #[inline(always)]
    pub(super) fn put_group(&mut self, index: u32, native: u64, offsets: &[u32]) {
        let bound = &mut self.state.groups[index as usize];
        if bound.native != native || bound.offsets[..offsets.len()] != *offsets {
            bound.native = native;
            bound.offset_count = offsets.len() as u32;
            // A call to copy a few bytes would cost more than the bytes.
            for (bound, offset) in bound.offsets.iter_mut().zip(offsets) {
                *bound = *offset;
            }
            self.dirty |= Dirty::group(index);
        }
    }

    /// Binds vertices at a slot below [`MAX_VERTEX_BUFFERS`]; the same.
    #[inline(always)]
    pub(super) fn put_vertex_buffer(&mut self, index: u32, bound: BoundBuffer) {
        let slot = index as usize & (MAX_VERTEX_BUFFERS - 1);
        if self.state.vertex_buffers.get(slot) != bound {
            self.state.vertex_buffers.set(slot, bound);
            self.state.dirty_vertex_buffers |= 1 << index;
            self.dirty |= Dirty::VERTEX_BUFFERS;
        }
    }

    /// Binds indices; the same.
    #[inline(always)]
    pub(super) fn put_index_buffer(&mut self, bound: BoundBuffer, format: IndexFormat) {
        if self.state.index_buffer != bound || self.state.index_format != format {
            self.state.index_buffer = bound;
            self.state.index_format = format;
            self.dirty |= Dirty::INDEX_BUFFER;
        }
    }

    /// Sets bytes of immediates that lie within [`MAX_IMMEDIATES`].
    pub(super) fn put_immediates(&mut self, offset: u32, data: &[u8]) {
        let end = offset + data.len() as u32;
        self.state.immediates[offset as usize..end as usize].copy_from_slice(data);
        // Bytes before the first ones set are zero, and the shader must find them so.
        let offset = offset.min(self.immediates_end);
        self.immediates_end = self.immediates_end.max(end);
        let range = &mut self.state.dirty_immediates;
        *range = if self.dirty.contains(Dirty::IMMEDIATES) {
            (range.0.min(offset), range.1.max(end))
        } else {
            (offset, end)
        };
        self.dirty |= Dirty::IMMEDIATES;
    }

    /// Sets a part of the state; dirty unless the command buffer has it.
    #[inline]
    pub(super) fn set<T: PartialEq>(&mut self, part: Dirty, field: fn(&mut BindState) -> &mut T, value: T) {
        let current = field(&mut self.state);
        if *current != value || self.unknown.intersects(part) {
            *current = value;
            self.unknown -= part;
            self.dirty |= part;
        }
    }
}

/// A group that the pass has set.
#[derive(Debug, Clone, Copy)]
struct SetGroup {
    /// The handle's bits; zero when none is set.
    bits: u64,
    /// The same when one dynamic offset is all that can change, and nothing but these two limits it.
    moving: u64,
    most: u32,
    unaligned: u32,
    layout: u32,
}

impl SetGroup {
    const NONE: Self = Self { bits: 0, moving: 0, most: 0, unaligned: 0, layout: NO_LAYOUT };
}

/// State of one pass.
#[derive(Debug)]
pub(super) struct Bindings<'p> {
    pub registry: &'p Registry,
    pub declared: Declared<'p>,
    pub label: &'p str,
    pub point: &'p mut Point,
    groups: [SetGroup; MAX_GROUPS],
    /// Groups and immediates fit the pipeline, and nothing went wrong.
    checked: bool,
    /// So does everything else that is not a draw's or dispatch's own.
    pub ready: bool,
    /// Without the groups that the pipeline does not use: they stay dirty for a later one.
    applies: Dirty,
    immediate_size: u32,
    pub mistake: Option<Error>,
    /// Draws or dispatches so far, for errors.
    pub count: u32,
}

impl<'p> Bindings<'p> {
    #[inline]
    pub(super) fn new(
        registry: &'p Registry,
        point: &'p mut Point,
        declared: Declared<'p>,
        label: &'p str,
    ) -> Self {
        point.begin();
        Self {
            registry,
            declared,
            label,
            point,
            groups: [SetGroup::NONE; MAX_GROUPS],
            checked: false,
            ready: false,
            applies: Dirty::empty(),
            immediate_size: 0,
            mistake: None,
            count: 0,
        }
    }

    /// Forgets the pipeline, groups and immediates that the pass has set, and its buffers; not its viewport and the like.
    pub(super) fn unset(&mut self) {
        let fixed = self.point.dirty & Dirty::FIXED;
        self.point.dirty -= fixed;
        self.point.begin();
        self.point.dirty = fixed;
        self.groups = [SetGroup::NONE; MAX_GROUPS];
        (self.checked, self.ready) = (false, false);
        self.applies = Dirty::empty();
        self.immediate_size = 0;
    }

    /// Goes on under another name, with nothing counted.
    pub(super) fn restart(&mut self, label: &'p str) {
        self.label = label;
        self.count = 0;
    }

    #[cold]
    pub(super) fn fail(&mut self, error: Error) {
        (self.checked, self.ready) = (false, false);
        for group in &mut self.groups {
            group.moving = 0;
        }
        if self.mistake.is_none() {
            self.mistake = Some(error);
        }
    }

    #[cold]
    pub(super) fn what(&self, call: &str) -> String {
        format!("pass \"{}\", {call} (after {} draws or dispatches)", self.label, self.count)
    }

    pub(super) fn set_pipeline(&mut self, slot: u32, interface: &PipelineInterface) {
        (self.checked, self.ready) = (false, false);
        self.point.set(Dirty::PIPELINE, |state| &mut state.pipeline, slot);
        let used = u32::from(interface.used_groups) * Dirty::GROUP0.bits();
        self.applies = Dirty::GROUPS.complement() | Dirty::from_bits_truncate(used);
        self.immediate_size = interface.immediate_size;
        let point = &mut *self.point;
        if point.state.layout != interface.layout {
            point.state.layout = interface.layout;
            // Another layout may disturb what is bound natively, so all of it is bound again.
            for (index, group) in self.groups.iter().enumerate() {
                if group.bits != 0 {
                    point.dirty |= Dirty::group(index as u32);
                } else {
                    point.state.groups[index].native = NOT_BOUND;
                }
            }
            if point.immediates_end > 0 {
                point.state.dirty_immediates = (0, point.immediates_end);
                point.dirty |= Dirty::IMMEDIATES;
            }
        }
    }

    #[inline]
    pub(super) fn set_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        // What most draws do: move the one dynamic offset of the group that is bound.
        if let (Some(bound), [offset]) = (self.groups.get(index as usize), offsets)
            && bound.moving == group.to_bits()
            && *offset <= bound.most
            && offset & bound.unaligned == 0
        {
            let current = &mut self.point.state.groups[index as usize].offsets[0];
            if *current != *offset {
                *current = *offset;
                self.point.dirty |= Dirty::group(index);
            }
            return;
        }
        self.set_another_group(index, group, offsets);
    }

    #[inline(never)]
    fn set_another_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        let registry = self.registry;
        if let Some(hot) = registry.groups.hot(group)
            && (index as usize) < MAX_GROUPS
            && usize::from(hot.offsets) == offsets.len()
            && (!hot.guarded || !hot.unwritten && self.declared.is_next_group(group))
        {
            match offsets {
                [] => return self.put_group(index, group, hot, &[]),
                [offset] if *offset <= hot.most && offset & hot.unaligned == 0 => {
                    return self.put_group(index, group, hot, &[*offset]);
                }
                _ => {}
            }
        }
        self.set_group_after_all(index, group, offsets);
    }

    /// The long way: several offsets, groups with something to check, and everything that is wrong.
    #[inline(never)]
    fn set_group_after_all(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        if self.mistake.is_some() {
            return;
        }
        if let Err(error) = self.check_group(index, group, offsets) {
            return self.fail(error);
        }
        if let Some(hot) = self.registry.groups.hot(group) {
            self.put_group(index, group, hot, offsets);
        }
    }

    /// Sets a group that was checked.
    #[inline(always)]
    fn put_group(&mut self, index: u32, group: BindGroup, hot: &HotGroup, offsets: &[u32]) {
        let set = &mut self.groups[index as usize];
        // Another group of the same layout fits every pipeline that the one before fitted.
        if set.layout != hot.layout {
            (self.checked, self.ready) = (false, false);
        }
        let moving = if hot.offsets == 1 && !hot.guarded { group.to_bits() } else { 0 };
        *set = SetGroup {
            bits: group.to_bits(),
            moving,
            most: hot.most,
            unaligned: hot.unaligned,
            layout: hot.layout,
        };
        self.point.put_group(index, hot.native, offsets);
    }

    /// Checks in full what a group and its offsets are.
    fn check_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) -> Result<()> {
        let Some(set) = self.groups.get(index as usize) else {
            let detail = format!("group {index} requested, {MAX_GROUPS} available");
            return Err(unsupported(self.what("set_bind_group"), "limit max_bind_groups", detail));
        };
        let bound = &self.point.state.groups[index as usize];
        if set.bits == group.to_bits() && bound.offsets[..bound.offset_count as usize] == *offsets {
            return Ok(());
        }
        let Some(record) = self.registry.groups.get(group) else {
            let what = self.what("set_bind_group");
            return Err(self.registry.groups.problem(group, what));
        };
        if offsets.len() != record.dynamic.len() {
            let expected = format!("{} dynamic offsets for \"{}\"", record.dynamic.len(), record.label);
            return Err(invalid(self.what("set_bind_group"), "offsets", expected, offsets.len()));
        }
        for (offset, dynamic) in offsets.iter().zip(&record.dynamic) {
            if u64::from(*offset) > dynamic.most || !dynamic.is_aligned(*offset) {
                return Err(self.bad_offset(*offset, dynamic, &record.label));
            }
        }
        if !record.tracked.is_empty() && !self.declared.has_group(group) {
            self.check_tracked(record, offsets)?;
        }
        if !record.unwritten.is_empty() {
            self.check_written(record)?;
        }
        Ok(())
    }

    #[cold]
    fn bad_offset(&self, offset: u32, dynamic: &crate::registry::DynamicBinding, label: &str) -> Error {
        let what = self.what(&format!("set_bind_group of \"{label}\""));
        let found = format!("{offset} at binding {}", dynamic.binding);
        if !offset.is_multiple_of(dynamic.alignment) {
            return invalid(what, "offsets", format!("a multiple of {}", dynamic.alignment), found);
        }
        let expected = if dynamic.most == 0 {
            format!(
                "offset 0: the {} bound bytes reach the buffer's end (bind an explicit smaller size to move it)",
                dynamic.size
            )
        } else {
            format!("at most {}, where {} bytes still fit", dynamic.most, dynamic.size)
        };
        invalid(what, "offsets", expected, found)
    }

    /// Every tracked resource of a group that is not declared itself must be among the pass's declared uses.
    fn check_tracked(&mut self, record: &BindGroupRecord, offsets: &[u32]) -> Result<()> {
        for tracked in &record.tracked {
            let mut wanted = tracked.usage;
            if let (Some(index), ResourceUse::Buffer { offset, .. }) = (tracked.dynamic, &mut wanted) {
                *offset += u64::from(offsets[usize::from(index)]);
            }
            if !self.declared.covers_near(&wanted) {
                let what = self.what(&format!("set_bind_group of \"{}\"", record.label));
                let expected = format!(
                    "the group among the pass's groups, or binding {} declared by the pass as {wanted:?}",
                    tracked.binding
                );
                return Err(invalid(what, "uses", expected, "no such declaration"));
            }
        }
        Ok(())
    }

    /// What a group shows of uploaded contents must have been uploaded: of a buffer, something.
    fn check_written(&self, record: &crate::registry::BindGroupRecord) -> Result<()> {
        let missing = record.unwritten.iter().find(|binding| !self.registry.is_written(binding));
        let Some(binding) = missing else { return Ok(()) };
        let what = self.what(&format!("set_bind_group of \"{}\"", record.label));
        let found = match *binding {
            NativeBinding::Texture { view, .. } => {
                let label = self.registry.views.at(view).map_or("", |view| &view.label);
                format!("view \"{label}\" with mips or layers that nothing was uploaded to")
            }
            NativeBinding::Buffer { buffer, .. } => {
                let label = self.registry.buffers.at(buffer).map_or("", |buffer| &buffer.label);
                format!("buffer \"{label}\", to which nothing was uploaded")
            }
            NativeBinding::Sampler { .. } => return Ok(()),
        };
        Err(state(what, "defined contents: uploaded before", found))
    }

    pub(super) fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        if self.mistake.is_some() {
            return;
        }
        let size = data.len();
        let inside = (offset as usize).checked_add(size).is_some_and(|end| end <= MAX_IMMEDIATES);
        let aligned = offset.is_multiple_of(4) && size.is_multiple_of(4);
        if !inside || !aligned {
            let expected = format!("offset and size multiples of 4 within {MAX_IMMEDIATES} bytes");
            let found = format!("{size} bytes from {offset}");
            return self.fail(invalid(self.what("set_immediates"), "data", expected, found));
        }
        if size > 0 {
            self.point.put_immediates(offset, data);
        }
    }

    /// Whether groups and immediates were checked against the pipeline since either changed, and nothing went wrong.
    #[inline]
    pub(super) fn is_checked(&self) -> bool {
        self.checked
    }

    /// Checks groups and immediates against the pipeline. Immediates only grow in a pass, so they stay checked.
    #[inline(never)]
    pub(super) fn check(&mut self, interface: &PipelineInterface, call: &str) -> Result<()> {
        for (index, layout) in interface.groups.iter().enumerate() {
            let set = &self.groups[index];
            let unused = interface.used_groups & (1 << index) == 0;
            if !unused && (set.bits == 0 || set.layout != layout.slot()) {
                return Err(self.bad_group(index, layout.slot(), call));
            }
        }
        if self.point.immediates_end < interface.used_immediates {
            let expected =
                format!("{} bytes of immediates, which the shader reads", interface.used_immediates);
            let found = format!("{} set", self.point.immediates_end);
            return Err(state(self.what(call), expected, found));
        }
        self.checked = self.mistake.is_none();
        Ok(())
    }

    #[cold]
    fn bad_group(&self, index: usize, layout: u32, call: &str) -> Error {
        let set = &self.groups[index];
        let layout_label = |slot| self.registry.group_layouts.at(slot).map_or("", |record| &record.label);
        let found = if set.bits == 0 {
            "none".into()
        } else {
            let slot = crate::handle::split(set.bits).1;
            let label = self.registry.groups.at(slot).map_or("", |record| &record.label);
            format!("\"{label}\" of layout \"{}\"", layout_label(set.layout))
        };
        let expected = format!("a bind group of layout \"{}\" at group {index}", layout_label(layout));
        state(self.what(call), expected, found)
    }

    /// Counts a draw or dispatch, and takes what the backend must apply for it.
    #[inline]
    pub(super) fn take_dirty(&mut self) -> Dirty {
        self.count += 1;
        let mut dirty = self.point.dirty & self.applies;
        if dirty.is_empty() {
            return dirty;
        }
        self.point.dirty -= dirty;
        if dirty.contains(Dirty::IMMEDIATES) {
            let range = &mut self.point.state.dirty_immediates;
            range.1 = range.1.min(self.immediate_size);
            if range.0 >= range.1 {
                dirty -= Dirty::IMMEDIATES;
            }
        }
        dirty
    }
}
