//! Binding state that raster and compute passes share: groups, offsets, immediates, and what has changed.

use crate::backend::{
    BindState, BoundBuffer, BoundGroup, Dirty, MAX_DYNAMIC_OFFSETS, MAX_GROUPS, MAX_IMMEDIATES,
    MAX_VERTEX_BUFFERS,
};
use crate::error::{Error, Result, invalid, state, unsupported};
use crate::handle::BindGroup;
use crate::plan::ResourceUse;
use crate::record::declared::Declared;
use crate::registry::{BindGroupRecord, PipelineInterface, Registry};
use crate::types::IndexFormat;

/// State of one pass.
#[derive(Debug)]
pub(super) struct Bindings<'p> {
    pub registry: &'p Registry,
    pub declared: Declared<'p>,
    pub label: &'p str,
    /// Kept from pass to pass: a kilobyte that is neither built nor moved. What says whether a part of it counts, such
    /// as `groups` here, starts afresh.
    pub state: &'p mut BindState,
    pub dirty: Dirty,
    groups: [Option<(BindGroup, &'p BindGroupRecord)>; MAX_GROUPS],
    /// The layouts of the bound groups.
    layouts: [u64; MAX_GROUPS],
    immediates_end: u32,
    /// Groups or pipeline changed since they were last checked against each other.
    unchecked: bool,
    pub mistake: Option<Error>,
    /// Draws or dispatches so far, for errors.
    pub count: u32,
}

const NO_LAYOUT: u32 = u32::MAX;

/// State of nothing, for the first pass.
pub(super) fn blank() -> BindState {
    let group = BoundGroup { slot: 0, offset_count: 0, offsets: [0; MAX_DYNAMIC_OFFSETS] };
    BindState {
        pipeline: 0,
        layout: NO_LAYOUT,
        groups: [group; MAX_GROUPS],
        vertex_buffers: [BoundBuffer::default(); MAX_VERTEX_BUFFERS],
        dirty_vertex_buffers: 0,
        index_buffer: BoundBuffer::default(),
        index_format: IndexFormat::Uint16,
        viewport: [0.0; 6],
        scissor: [0; 4],
        blend_constant: [0.0; 4],
        stencil_reference: 0,
        immediates: [0; MAX_IMMEDIATES],
        dirty_immediates: (0, 0),
    }
}

impl<'p> Bindings<'p> {
    #[inline]
    pub(super) fn new(
        registry: &'p Registry,
        state: &'p mut BindState,
        declared: Declared<'p>,
        label: &'p str,
    ) -> Self {
        state.layout = NO_LAYOUT;
        state.dirty_vertex_buffers = 0;
        state.blend_constant = [0.0; 4];
        state.stencil_reference = 0;
        state.immediates = [0; MAX_IMMEDIATES];
        state.dirty_immediates = (0, 0);
        Self {
            registry,
            declared,
            label,
            state,
            dirty: Dirty::empty(),
            groups: [None; MAX_GROUPS],
            layouts: [0; MAX_GROUPS],
            immediates_end: 0,
            unchecked: false,
            mistake: None,
            count: 0,
        }
    }

    #[cold]
    pub(super) fn fail(&mut self, error: Error) {
        if self.mistake.is_none() {
            self.mistake = Some(error);
        }
    }

    #[cold]
    pub(super) fn what(&self, call: &str) -> String {
        format!("pass \"{}\", {call} (after {} draws or dispatches)", self.label, self.count)
    }

    pub(super) fn set_pipeline(&mut self, slot: u32, interface: &PipelineInterface) {
        self.state.pipeline = slot;
        self.dirty |= Dirty::PIPELINE;
        self.unchecked = true;
        if self.state.layout != interface.layout {
            self.state.layout = interface.layout;
            // Another layout may disturb what is bound natively, so all of it is bound again.
            for (index, group) in self.groups.iter().enumerate() {
                if group.is_some() {
                    self.dirty |= Dirty::group(index as u32);
                }
            }
            if self.immediates_end > 0 {
                self.state.dirty_immediates = (0, self.immediates_end);
                self.dirty |= Dirty::IMMEDIATES;
            }
        }
    }

    #[inline]
    pub(super) fn set_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) {
        if self.mistake.is_some() {
            return;
        }
        // What most draws do: move the one dynamic offset of the group that is bound.
        if let Some(Some((current, record))) = self.groups.get(index as usize)
            && *current == group
            && let ([offset], [dynamic]) = (offsets, &record.dynamic[..])
            && record.tracked.is_empty()
            && u64::from(*offset) <= dynamic.most
            && dynamic.is_aligned(*offset)
        {
            let bound = &mut self.state.groups[index as usize];
            if bound.offsets[0] != *offset {
                bound.offsets[0] = *offset;
                self.dirty |= Dirty::group(index);
            }
            return;
        }
        if let Err(error) = self.try_set_group(index, group, offsets) {
            self.fail(error);
        }
    }

    fn try_set_group(&mut self, index: u32, group: BindGroup, offsets: &[u32]) -> Result<()> {
        let Some(bound) = self.state.groups.get(index as usize) else {
            let detail = format!("group {index} requested, {MAX_GROUPS} available");
            return Err(unsupported(self.what("set_bind_group"), "limit max_bind_groups", detail));
        };
        let same = self.groups[index as usize].is_some_and(|(current, _)| current == group);
        if same && bound.offsets[..bound.offset_count as usize] == *offsets {
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
        let bound = &mut self.state.groups[index as usize];
        bound.slot = group.slot();
        bound.offset_count = offsets.len() as u32;
        // A call to copy a few bytes would cost more than the bytes.
        for (bound, offset) in bound.offsets.iter_mut().zip(offsets) {
            *bound = *offset;
        }
        if !same {
            // Another group of the same layout fits every pipeline that the one before fitted.
            let layout = record.layout.to_bits();
            let fits = self.groups[index as usize].is_some() && self.layouts[index as usize] == layout;
            self.unchecked |= !fits;
            self.groups[index as usize] = Some((group, record));
            self.layouts[index as usize] = layout;
        }
        self.dirty |= Dirty::group(index);
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

    /// What a group shows of textures with uploaded contents must have been uploaded.
    fn check_written(&self, record: &crate::registry::BindGroupRecord) -> Result<()> {
        match record.unwritten.iter().find(|view| !self.registry.is_written(**view)) {
            None => Ok(()),
            Some(view) => {
                let label = self.registry.views.at(*view).map_or("", |view| &view.label);
                let what = self.what(&format!("set_bind_group of \"{}\"", record.label));
                let found = format!("view \"{label}\" with mips or layers that nothing was uploaded to");
                Err(state(what, "defined contents: uploaded before", found))
            }
        }
    }

    pub(super) fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        if self.mistake.is_some() {
            return;
        }
        let size = data.len();
        let end = (offset as usize).checked_add(size).filter(|end| *end <= MAX_IMMEDIATES);
        let aligned = offset.is_multiple_of(4) && size.is_multiple_of(4);
        let (Some(end), true) = (end, aligned) else {
            let expected = format!("offset and size multiples of 4 within {MAX_IMMEDIATES} bytes");
            let found = format!("{size} bytes from {offset}");
            return self.fail(invalid(self.what("set_immediates"), "data", expected, found));
        };
        if size == 0 {
            return;
        }
        self.state.immediates[offset as usize..end].copy_from_slice(data);
        // Bytes before the first ones set are zero, and the shader must find them so.
        let offset = offset.min(self.immediates_end);
        self.immediates_end = self.immediates_end.max(end as u32);
        let range = &mut self.state.dirty_immediates;
        *range = if self.dirty.contains(Dirty::IMMEDIATES) {
            (range.0.min(offset), range.1.max(end as u32))
        } else {
            (offset, end as u32)
        };
        self.dirty |= Dirty::IMMEDIATES;
    }

    /// Whether groups and immediates were checked against the pipeline since either changed.
    #[inline]
    pub(super) fn is_checked(&self) -> bool {
        !self.unchecked
    }

    /// Checks groups and immediates against the pipeline. Immediates only grow in a pass, so they stay checked.
    #[inline(never)]
    pub(super) fn check(&mut self, interface: &PipelineInterface, call: &str) -> Result<()> {
        self.check_groups(interface, call)?;
        if self.immediates_end < interface.used_immediates {
            let expected =
                format!("{} bytes of immediates, which the shader reads", interface.used_immediates);
            let found = format!("{} set", self.immediates_end);
            return Err(state(self.what(call), expected, found));
        }
        self.unchecked = false;
        Ok(())
    }

    fn check_groups(&self, interface: &PipelineInterface, call: &str) -> Result<()> {
        for (index, layout) in interface.groups.iter().enumerate() {
            if interface.used_groups & (1 << index) == 0 {
                continue;
            }
            if self.groups[index].is_none() {
                let name = self.registry.group_layouts.at(layout.slot()).map_or("", |record| &record.label);
                let expected = format!("a bind group of layout \"{name}\" at group {index}");
                return Err(state(self.what(call), expected, "none"));
            }
            if self.layouts[index] != layout.to_bits() {
                let name = |slot: u32| {
                    self.registry
                        .group_layouts
                        .at(slot)
                        .map_or_else(String::new, |record| record.label.to_string())
                };
                let found = self.groups[index].map_or_else(String::new, |(_, group)| {
                    format!("\"{}\" of layout \"{}\"", group.label, name(group.layout.slot()))
                });
                let expected = format!("a bind group of layout \"{}\" at group {index}", name(layout.slot()));
                return Err(state(self.what(call), expected, found));
            }
        }
        Ok(())
    }

    /// Takes what the backend must apply now. Groups that the pipeline does not use stay dirty for a later one.
    #[inline]
    pub(super) fn take_dirty(&mut self, interface: &PipelineInterface) -> Dirty {
        let mut dirty = self.dirty;
        if dirty.is_empty() {
            return dirty;
        }
        let unused = Dirty::from_bits_retain(
            (!u32::from(interface.used_groups) << Dirty::GROUP0.bits().trailing_zeros())
                & Dirty::GROUPS.bits(),
        );
        let mut kept = dirty & unused;
        dirty -= unused;
        if dirty.contains(Dirty::IMMEDIATES) {
            let range = &mut self.state.dirty_immediates;
            range.1 = range.1.min(interface.immediate_size);
            if range.0 >= range.1 {
                dirty -= Dirty::IMMEDIATES;
            }
        }
        kept -= Dirty::IMMEDIATES;
        self.dirty = kept;
        dirty
    }
}
