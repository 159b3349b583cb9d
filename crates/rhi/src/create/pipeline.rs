//! Shader modules and pipelines: reflection against layouts, once, at creation.

use std::num::NonZeroU32;

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::backend::{Backend, MAX_VERTEX_BUFFERS};
use crate::caps::{Features, FormatUses};
use crate::desc::{ColorTarget, ComputePipelineDesc, RenderPipelineDesc, ShaderStageDesc};
use crate::device::Device;
use crate::error::{Result, invalid, named, unsupported};
use crate::handle::{PipelineLayout, ResourceKind, kind};
use crate::owned::Owned;
use crate::registry::{
    ComputePipelineRecord, PipelineInterface, PipelineLayoutRecord, RenderPipelineRecord, ShaderModuleRecord,
    VertexNeed,
};
use crate::services::Content;
use crate::shader::{EntryPoint, ShaderBinding, ShaderSource};
use crate::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, ColorWrites, PolygonMode, PrimitiveTopology,
    ShaderStages, StencilFaceState, StencilOperation, TextureFormat, TextureSampleType, VertexFormat,
    VertexStepMode,
};

impl<B: Backend> Device<B> {
    /// Creates a shader module from a compiled package.
    ///
    /// # Errors
    /// A package without entry points, code that declares what the device does not have enabled, or that the driver
    /// refuses.
    pub fn create_shader_module(&mut self, source: &ShaderSource) -> Result<Owned<kind::ShaderModule>> {
        let what = || named(ResourceKind::ShaderModule, source.label);
        self.check_lost("create_shader_module")?;
        self.make_room(ResourceKind::ShaderModule, 0)?;
        if source.entries.is_empty() {
            return Err(invalid(what(), "entries", "at least one entry point", "none"));
        }
        let missing = source.needs() - self.capabilities().features;
        if let Some((name, _)) = missing.iter_names().next() {
            return Err(unsupported(what(), format!("feature {name}"), "the compiled shader declares it"));
        }
        let slot = self.registry.modules.next_slot()?;
        if let Err(error) = self.backend.create_shader_module(slot, source) {
            return Err(self.backend_error(error, what()));
        }
        let record = ShaderModuleRecord { label: source.label.into(), content: Content::new(source) };
        let handle = self.registry.modules.insert(slot, record);
        Ok(self.own(handle))
    }

    fn entry(
        &self,
        stage: &ShaderStageDesc<'_>,
        wanted: ShaderStages,
        what: impl Fn() -> String,
    ) -> Result<&'static EntryPoint> {
        let module = self.registry.modules.check(stage.module, &what)?;
        let source = module.content.source();
        let Some(entry) = source.entry(stage.entry) else {
            let names: Vec<_> = source.entries.iter().map(|entry| entry.name).collect();
            let expected = format!("an entry point of \"{}\": {}", module.label, names.join(", "));
            return Err(invalid(what(), "entry", expected, format!("\"{}\"", stage.entry)));
        };
        if entry.stage != wanted {
            let found = format!("\"{}\" of stage {:?}", entry.name, entry.stage);
            return Err(invalid(what(), "entry", format!("an entry point of stage {wanted:?}"), found));
        }
        Ok(entry)
    }

    /// Checks what the entries use against the layout; the result is what passes need to know.
    fn interface(
        &self,
        handle: PipelineLayout,
        entries: &[&EntryPoint],
        what: impl Fn() -> String,
    ) -> Result<PipelineInterface> {
        let layout = self.registry.pipeline_layouts.check(handle, &what)?;
        let mut used_groups = 0u8;
        let mut used_immediates = 0;
        for entry in entries {
            for binding in entry.bindings {
                let wanted = self.layout_entry(layout, entry, binding, &what)?;
                if let Err((expected, found)) = binding_matches(wanted, binding, entry.stage) {
                    let at = |text: String| {
                        format!(
                            "{text} at @group({}) @binding({}) {}",
                            binding.group, binding.binding, binding.name
                        )
                    };
                    return Err(invalid(what(), "layout", at(expected), found));
                }
                used_groups |= 1 << binding.group;
            }
            if entry.immediate_size > layout.immediate_size {
                let expected =
                    format!("at least {} bytes, which \"{}\" reads", entry.immediate_size, entry.name);
                return Err(invalid(what(), "layout.immediate_size", expected, layout.immediate_size));
            }
            used_immediates = used_immediates.max(entry.immediate_size);
        }
        Ok(PipelineInterface {
            layout: handle.slot(),
            groups: layout.groups.clone(),
            used_groups,
            immediate_size: layout.immediate_size,
            used_immediates,
        })
    }

    fn layout_entry(
        &self,
        layout: &PipelineLayoutRecord,
        entry: &EntryPoint,
        binding: &ShaderBinding,
        what: impl Fn() -> String,
    ) -> Result<BindGroupLayoutEntry> {
        let place = || {
            format!(
                "@group({}) @binding({}) {}, which \"{}\" uses",
                binding.group, binding.binding, binding.name, entry.name
            )
        };
        let Some(group) = layout.groups.get(binding.group as usize) else {
            let found = format!("{} groups in layout \"{}\"", layout.groups.len(), layout.label);
            return Err(invalid(what(), "layout", place(), found));
        };
        // The pipeline layout retains its group layouts, so the slot is occupied even when the handle is stale.
        let found =
            self.registry.group_layouts.at(group.slot()).and_then(|group| {
                group.entries.iter().find(|wanted| wanted.binding == binding.binding).copied()
            });
        found.ok_or_else(|| {
            let label = self.registry.group_layouts.at(group.slot()).map_or("", |group| &group.label);
            invalid(what(), "layout", place(), format!("no such binding in group layout \"{label}\""))
        })
    }

    /// Creates a compute pipeline. Compiles now; not for the frame path.
    ///
    /// # Errors
    /// A missing entry point or one of another stage, a binding that the layout lacks or has otherwise, a workgroup
    /// over the limits, or a driver that refuses.
    pub fn create_compute_pipeline(
        &mut self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<Owned<kind::ComputePipeline>> {
        self.check_lost("create_compute_pipeline")?;
        self.make_room(ResourceKind::ComputePipeline, 0)?;
        let record = self.check_compute_pipeline(desc)?;
        let slot = self.registry.compute_pipelines.next_slot()?;
        if let Err(error) = self.backend.create_compute_pipeline(slot, desc) {
            return Err(self.backend_error(error, named(ResourceKind::ComputePipeline, desc.label)));
        }
        self.pipelines.created();
        self.registry.pipeline_layouts.retain(record.interface.layout);
        self.registry.modules.retain(record.module);
        let handle = self.registry.compute_pipelines.insert(slot, record);
        Ok(self.own(handle))
    }

    /// Checks a description; what the registry will keep of it.
    pub(crate) fn check_compute_pipeline(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<ComputePipelineRecord> {
        let what = || named(ResourceKind::ComputePipeline, desc.label);
        let entry = self.entry(&desc.compute, ShaderStages::COMPUTE, what)?;
        let limits = self.limits();
        let [x, y, z] = entry.workgroup_size;
        let invocations = (u64::from(x) * u64::from(y)).saturating_mul(u64::from(z));
        for (value, most, name) in [
            (u64::from(x), limits.max_workgroup_size_x, "max_workgroup_size_x"),
            (u64::from(y), limits.max_workgroup_size_y, "max_workgroup_size_y"),
            (u64::from(z), limits.max_workgroup_size_z, "max_workgroup_size_z"),
            (invocations, limits.max_workgroup_invocations, "max_workgroup_invocations"),
        ] {
            if value > u64::from(most) {
                let detail = format!("{value} requested by \"{}\", {most} available", entry.name);
                return Err(unsupported(what(), format!("limit {name}"), detail));
            }
        }
        let interface = self.interface(desc.layout, &[entry], what)?;
        let module = desc.compute.module.slot();
        Ok(ComputePipelineRecord { label: desc.label.into(), interface, module, requested: false })
    }

    /// Creates a raster pipeline. Compiles now; not for the frame path.
    ///
    /// # Errors
    /// As [`Self::create_compute_pipeline`], and: vertex inputs that no attribute feeds or of another scalar kind,
    /// attributes outside their stride, written targets that the shader does not output or of another scalar kind,
    /// formats that cannot be attached or blended, strip state on a list, depth bias on lines or points, state that
    /// needs a feature.
    pub fn create_render_pipeline(
        &mut self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<Owned<kind::RenderPipeline>> {
        self.check_lost("create_render_pipeline")?;
        self.make_room(ResourceKind::RenderPipeline, 0)?;
        let record = self.check_render_pipeline(desc)?;
        let slot = self.registry.render_pipelines.next_slot()?;
        if let Err(error) = self.backend.create_render_pipeline(slot, desc) {
            return Err(self.backend_error(error, named(ResourceKind::RenderPipeline, desc.label)));
        }
        self.pipelines.created();
        self.registry.pipeline_layouts.retain(record.interface.layout);
        for &module in &record.modules {
            self.registry.modules.retain(module);
        }
        let handle = self.registry.render_pipelines.insert(slot, record);
        Ok(self.own(handle))
    }

    /// Checks a description; what the registry will keep of it.
    pub(crate) fn check_render_pipeline(
        &self,
        desc: &RenderPipelineDesc<'_>,
    ) -> Result<RenderPipelineRecord> {
        let what = || named(ResourceKind::RenderPipeline, desc.label);
        let vertex = self.entry(&desc.vertex, ShaderStages::VERTEX, what)?;
        let fragment = match &desc.fragment {
            Some(stage) => Some(self.entry(stage, ShaderStages::FRAGMENT, what)?),
            None => None,
        };
        let mut entries: ArrayVec<&EntryPoint, 2> = ArrayVec::new();
        entries.push(vertex);
        entries.extend(fragment);
        let interface = self.interface(desc.layout, &entries, what)?;
        let vertex_buffers = self.vertex_needs(desc, vertex, what)?;
        self.check_primitive(desc, what)?;
        let depth_tested = desc.depth_stencil.as_ref().is_some_and(|state| state.format.has_depth_aspect());
        if let Some(writer) = fragment.filter(|entry| entry.writes_depth && !depth_tested) {
            let expected = format!("a depth attachment, which \"{}\" writes", writer.name);
            return Err(invalid(what(), "depth_stencil", expected, "none"));
        }
        self.check_targets(desc, fragment, what)?;
        let (writes_depth, writes_stencil) = self.check_depth_stencil(desc, what)?;
        let mut modules: SmallVec<[u32; 2]> = SmallVec::new();
        modules.push(desc.vertex.module.slot());
        modules.extend(desc.fragment.iter().map(|stage| stage.module.slot()));
        Ok(RenderPipelineRecord {
            label: desc.label.into(),
            interface,
            modules,
            vertex_buffers,
            strip_index_format: desc.primitive.strip_index_format,
            colors: desc.targets.iter().map(|target| target.as_ref().map(|target| target.format)).collect(),
            depth_stencil: desc.depth_stencil.as_ref().map(|state| state.format),
            writes_depth,
            writes_stencil,
            samples: desc.multisample.count,
            requested: false,
        })
    }

    fn vertex_needs(
        &self,
        desc: &RenderPipelineDesc<'_>,
        vertex: &EntryPoint,
        what: impl Fn() -> String,
    ) -> Result<ArrayVec<VertexNeed, MAX_VERTEX_BUFFERS>> {
        let limits = self.limits();
        let most = limits.max_vertex_buffers.min(MAX_VERTEX_BUFFERS as u32);
        if desc.vertex_buffers.len() > most as usize {
            let detail = format!("{} requested, {most} available", desc.vertex_buffers.len());
            return Err(unsupported(what(), "limit max_vertex_buffers", detail));
        }
        let count: usize = desc.vertex_buffers.iter().map(|buffer| buffer.attributes.len()).sum();
        if count > limits.max_vertex_attributes as usize {
            let detail = format!("{count} requested, {} available", limits.max_vertex_attributes);
            return Err(unsupported(what(), "limit max_vertex_attributes", detail));
        }
        let mut needs = ArrayVec::new();
        let mut fed: SmallVec<[(u32, VertexFormat); 16]> = SmallVec::new();
        for (index, buffer) in desc.vertex_buffers.iter().enumerate() {
            if buffer.stride > u64::from(limits.max_vertex_stride) {
                let detail = format!(
                    "{} bytes requested by vertex buffer {index}, {} available",
                    buffer.stride, limits.max_vertex_stride
                );
                return Err(unsupported(what(), "limit max_vertex_stride", detail));
            }
            if !buffer.stride.is_multiple_of(4) {
                let found = format!("{} of vertex buffer {index}", buffer.stride);
                return Err(invalid(what(), "stride", "a multiple of 4", found));
            }
            let mut last_end = 0;
            for attribute in buffer.attributes {
                let at = |text: String| {
                    format!("{text} (location {}, vertex buffer {index})", attribute.shader_location)
                };
                let size = attribute.format.size();
                let end = attribute.offset.saturating_add(size);
                let bound =
                    if buffer.stride == 0 { u64::from(limits.max_vertex_stride) } else { buffer.stride };
                if end > bound {
                    let expected = format!("an attribute within {bound} bytes");
                    return Err(invalid(
                        what(),
                        "attributes",
                        expected,
                        at(format!("bytes {}..{end}", attribute.offset)),
                    ));
                }
                let alignment = size.min(4);
                if !attribute.offset.is_multiple_of(alignment) {
                    let expected = format!("an offset that is a multiple of {alignment}");
                    return Err(invalid(what(), "attributes", expected, at(attribute.offset.to_string())));
                }
                if attribute.shader_location >= limits.max_vertex_attributes {
                    let expected = format!("a location below {}", limits.max_vertex_attributes);
                    return Err(invalid(what(), "attributes", expected, at(String::new())));
                }
                if fed.iter().any(|(location, _)| *location == attribute.shader_location) {
                    return Err(invalid(what(), "attributes", "each location once", at("a repeat".into())));
                }
                fed.push((attribute.shader_location, attribute.format));
                last_end = last_end.max(end);
            }
            needs.push(VertexNeed {
                stride: buffer.stride,
                last_end,
                instanced: buffer.step == VertexStepMode::Instance,
                used: !buffer.attributes.is_empty(),
            });
        }
        for input in vertex.inputs {
            let expected = || {
                format!("an attribute for @location({}) {} ({:?})", input.location, input.name, input.format)
            };
            match fed.iter().find(|(location, _)| *location == input.location) {
                None => return Err(invalid(what(), "vertex_buffers", expected(), "none")),
                Some((_, format)) if scalar(*format) != scalar(input.format) => {
                    return Err(invalid(what(), "vertex_buffers", expected(), format!("{format:?}")));
                }
                Some(_) => {}
            }
        }
        Ok(needs)
    }

    fn check_primitive(&self, desc: &RenderPipelineDesc<'_>, what: impl Fn() -> String) -> Result<()> {
        let primitive = &desc.primitive;
        let strip =
            matches!(primitive.topology, PrimitiveTopology::LineStrip | PrimitiveTopology::TriangleStrip);
        if primitive.strip_index_format.is_some() && !strip {
            let found = format!("{:?} with {:?}", primitive.strip_index_format, primitive.topology);
            return Err(invalid(what(), "primitive.strip_index_format", "none on a list topology", found));
        }
        let features = self.capabilities().features;
        if primitive.strip_index_format.is_some() && !features.contains(Features::PRIMITIVE_RESTART) {
            return Err(unsupported(what(), "feature PRIMITIVE_RESTART", "strip_index_format requested"));
        }
        match primitive.polygon_mode {
            PolygonMode::Fill => {}
            PolygonMode::Line if features.contains(Features::POLYGON_MODE_LINE) => {}
            PolygonMode::Line => {
                return Err(unsupported(what(), "feature POLYGON_MODE_LINE", "polygon mode Line requested"));
            }
            PolygonMode::Point => {
                return Err(unsupported(what(), "polygon mode Point", "requested, not implemented"));
            }
        }
        if primitive.unclipped_depth && !features.contains(Features::DEPTH_CLIP_CONTROL) {
            return Err(unsupported(what(), "feature DEPTH_CLIP_CONTROL", "unclipped_depth requested"));
        }
        let multisample = &desc.multisample;
        if FormatUses::samples(multisample.count).is_none() {
            return Err(invalid(what(), "multisample.count", "1, 2, 4, 8 or 16", multisample.count));
        }
        let all = u32::MAX.checked_shr(32 - multisample.count).unwrap_or(0);
        if multisample.mask & all != all && !features.contains(Features::SAMPLE_MASKS) {
            let detail =
                format!("mask {:#x} of {} samples requested", multisample.mask & all, multisample.count);
            return Err(unsupported(what(), "feature SAMPLE_MASKS", detail));
        }
        if multisample.alpha_to_coverage {
            let first = desc.targets.first().copied().flatten();
            let alpha = first.is_some_and(|target| target.format.components() == 4);
            if multisample.count == 1 || !alpha {
                let found = format!(
                    "true with {} samples and {:?} as the first target",
                    multisample.count,
                    first.map(|target| target.format)
                );
                let expected = "false without multisampling and alpha in the first target";
                return Err(invalid(what(), "multisample.alpha_to_coverage", expected, found));
            }
        }
        Ok(())
    }

    /// Refuses a count of samples that the attachment's format lacks.
    fn check_samples(
        &self,
        format: TextureFormat,
        uses: FormatUses,
        count: u32,
        what: impl Fn() -> String,
    ) -> Result<()> {
        let needed = FormatUses::samples(count).unwrap_or_default();
        if uses.contains(needed) {
            return Ok(());
        }
        let detail = format!("{} available", uses.names());
        Err(unsupported(what(), format!("{} use of {format:?}", needed.names()), detail))
    }

    fn check_targets(
        &self,
        desc: &RenderPipelineDesc<'_>,
        fragment: Option<&EntryPoint>,
        what: impl Fn() -> String,
    ) -> Result<()> {
        let most = self.limits().max_color_attachments.min(8);
        if desc.targets.len() > most as usize {
            let detail = format!("{} requested, {most} available", desc.targets.len());
            return Err(unsupported(what(), "limit max_color_attachments", detail));
        }
        let targets =
            || desc.targets.iter().enumerate().filter_map(|(i, target)| Some((i, target.as_ref()?)));
        if targets().next().is_none() && desc.depth_stencil.is_none() {
            return Err(invalid(what(), "targets", "a color target or depth_stencil", "neither"));
        }
        let mut first: Option<&ColorTarget> = None;
        for (index, target) in targets() {
            let at = |text: String| format!("{text} (target {index}, {:?})", target.format);
            let uses = self.backend.format_uses(target.format);
            if !uses.contains(FormatUses::COLOR) {
                let detail = at(format!("{} available", uses.names()));
                return Err(unsupported(what(), format!("COLOR use of {:?}", target.format), detail));
            }
            self.check_samples(target.format, uses, desc.multisample.count, &what)?;
            if target.blend.is_some() && !uses.contains(FormatUses::BLENDABLE) {
                let detail = at(format!("{} available", uses.names()));
                return Err(unsupported(what(), format!("BLENDABLE use of {:?}", target.format), detail));
            }
            let output = fragment
                .and_then(|entry| entry.outputs.iter().find(|output| output.location as usize == index));
            match output {
                None if target.write_mask != ColorWrites::empty() => {
                    let expected =
                        format!("@location({index}) among the fragment outputs, or an empty write mask");
                    return Err(invalid(what(), "targets", expected, at("no output".into())));
                }
                Some(output) if scalar(output.format) != texel_scalar(target.format) => {
                    let expected = format!("a format of the kind of @location({index}) {:?}", output.format);
                    return Err(invalid(what(), "targets", expected, at(String::new())));
                }
                _ => {}
            }
            match first {
                None => first = Some(target),
                Some(first) => {
                    let differs = first.blend != target.blend || first.write_mask != target.write_mask;
                    if differs && !self.capabilities().features.contains(Features::INDEPENDENT_BLEND) {
                        let detail = at("blend or write mask differs from an earlier target's".into());
                        return Err(unsupported(what(), "feature INDEPENDENT_BLEND", detail));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether depth and stencil are written.
    fn check_depth_stencil(
        &self,
        desc: &RenderPipelineDesc<'_>,
        what: impl Fn() -> String,
    ) -> Result<(bool, bool)> {
        let Some(state) = &desc.depth_stencil else { return Ok((false, false)) };
        let uses = self.backend.format_uses(state.format);
        if !uses.contains(FormatUses::DEPTH_STENCIL) {
            let detail = format!("{} available", uses.names());
            return Err(unsupported(what(), format!("DEPTH_STENCIL use of {:?}", state.format), detail));
        }
        self.check_samples(state.format, uses, desc.multisample.count, &what)?;
        let tests_depth = state.depth_write || state.depth_compare != crate::types::CompareFunction::Always;
        if tests_depth && !state.format.has_depth_aspect() {
            let found = format!("{:?}", state.format);
            return Err(invalid(what(), "depth_stencil.format", "a format with a depth aspect", found));
        }
        let stencil = state.stencil.is_enabled();
        if stencil && !state.format.has_stencil_aspect() {
            let found = format!("{:?}", state.format);
            return Err(invalid(what(), "depth_stencil.format", "a format with a stencil aspect", found));
        }
        let bias = &state.bias;
        if !bias.slope_scale.is_finite() || !bias.clamp.is_finite() {
            return Err(invalid(what(), "depth_stencil.bias", "finite numbers", format!("{bias:?}")));
        }
        let triangles = matches!(
            desc.primitive.topology,
            PrimitiveTopology::TriangleList | PrimitiveTopology::TriangleStrip
        );
        if (bias.constant != 0 || bias.slope_scale != 0.0 || bias.clamp != 0.0) && !triangles {
            let found = format!("{bias:?} with {:?}", desc.primitive.topology);
            return Err(invalid(what(), "depth_stencil.bias", "no bias on lines and points", found));
        }
        let keeps = |face: &StencilFaceState| {
            [face.fail_op, face.depth_fail_op, face.pass_op].iter().all(|op| *op == StencilOperation::Keep)
        };
        let writes_stencil = stencil
            && state.stencil.write_mask != 0
            && !(keeps(&state.stencil.front) && keeps(&state.stencil.back));
        Ok((state.depth_write, writes_stencil))
    }
}

/// Whether a layout's entry serves what a shader does; otherwise what was expected and found.
fn binding_matches(
    wanted: BindGroupLayoutEntry,
    binding: &ShaderBinding,
    stage: ShaderStages,
) -> std::result::Result<(), (String, String)> {
    if !wanted.visibility.contains(stage) {
        return Err((format!("visibility in {stage:?}"), format!("{:?}", wanted.visibility)));
    }
    let count = wanted.count.map_or(0, NonZeroU32::get);
    // An index is clamped to the length that the shader names, so that the layout's array may be longer.
    if (binding.count == 0) != (count == 0) || binding.count > count {
        let shown = |count| if count == 0 { "one resource".into() } else { format!("an array of {count}") };
        let expected = shown(binding.count);
        return Err((if binding.count > 0 { format!("{expected} or more") } else { expected }, shown(count)));
    }
    let differs = || Err((format!("{:?}", binding.ty), format!("{:?}", wanted.ty)));
    match (wanted.ty, binding.ty) {
        (
            BindingType::Buffer { ty, min_binding_size: have, .. },
            BindingType::Buffer { ty: needed_ty, min_binding_size: needed, .. },
        ) => {
            let same = match (ty, needed_ty) {
                (BufferBindingType::Uniform, BufferBindingType::Uniform) => true,
                (
                    BufferBindingType::Storage { read_only: a },
                    BufferBindingType::Storage { read_only: b },
                ) => a == b,
                _ => false,
            };
            if !same {
                return differs();
            }
            // Checked here and at group creation, so that no draw has to.
            match (have, needed) {
                (_, None) => Ok(()),
                (Some(have), Some(needed)) if have >= needed => Ok(()),
                (have, Some(needed)) => Err((
                    format!("min_binding_size of at least {needed}"),
                    have.map_or("none".into(), |have| have.to_string()),
                )),
            }
        }
        (
            BindingType::Texture { sample_type, view_dimension, multisampled },
            BindingType::Texture {
                sample_type: needed,
                view_dimension: needed_dimension,
                multisampled: needed_multisampled,
            },
        ) => {
            let unfiltered = TextureSampleType::Float { filterable: false };
            let fits = sample_type == needed
                || (needed == unfiltered
                    && matches!(sample_type, TextureSampleType::Float { .. } | TextureSampleType::Depth));
            if fits && view_dimension == needed_dimension && multisampled == needed_multisampled {
                Ok(())
            } else {
                differs()
            }
        }
        (have, needed) if have == needed => Ok(()),
        _ => differs(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Float,
    Uint,
    Sint,
}

/// The scalar kind that a shader sees of a vertex format.
fn scalar(format: VertexFormat) -> Scalar {
    use VertexFormat as F;
    match format {
        F::Uint8 | F::Uint8x2 | F::Uint8x4 | F::Uint16 | F::Uint16x2 | F::Uint16x4 => Scalar::Uint,
        F::Uint32 | F::Uint32x2 | F::Uint32x3 | F::Uint32x4 => Scalar::Uint,
        F::Sint8 | F::Sint8x2 | F::Sint8x4 | F::Sint16 | F::Sint16x2 | F::Sint16x4 => Scalar::Sint,
        F::Sint32 | F::Sint32x2 | F::Sint32x3 | F::Sint32x4 => Scalar::Sint,
        _ => Scalar::Float,
    }
}

/// The scalar kind of a color format's texels.
fn texel_scalar(format: TextureFormat) -> Scalar {
    match format.sample_type(None, None) {
        Some(TextureSampleType::Uint) => Scalar::Uint,
        Some(TextureSampleType::Sint) => Scalar::Sint,
        _ => Scalar::Float,
    }
}
