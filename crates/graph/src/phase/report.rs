//! Report: what the other phases found out, in words.

use purlin_rhi::StoreOp;
use purlin_rhi::plan::{BarrierIndex, Hazard, Layout, Previous, Scope};

use super::edges::describe;
use super::part_words;
use crate::context::{Context, Liveness, NONE, Shape, Usage, Use};
use crate::report::{
    BarrierReport, EdgeReport, GraphReport, MAX_EDGES, MAX_PASSES, MAX_PER_PASS, MAX_RESOURCES, Omitted,
    PassReport, ReasonReport, ResourceReport, UseReport,
};

/// Captures the frame that was just recorded.
pub(crate) fn run(context: &Context, label: &str) -> GraphReport {
    let mut omitted = Omitted::default();
    let passes = context.declared.passes.len();
    let resources = context.resources.len();
    omitted.passes = passes.saturating_sub(MAX_PASSES);
    omitted.resources = resources.saturating_sub(MAX_RESOURCES);
    let positions = positions(context);
    let passes: Vec<PassReport> = (0..passes.min(MAX_PASSES))
        .map(|index| pass(context, index as u32, &positions, &mut omitted))
        .collect();
    let resources: Vec<ResourceReport> =
        (0..resources.min(MAX_RESOURCES)).map(|index| resource(context, index)).collect();
    let described = |edge: &&crate::context::Edge| {
        (edge.to as usize) < MAX_PASSES && (edge.resource as usize) < MAX_RESOURCES
    };
    let edges: Vec<EdgeReport> = context
        .edges
        .iter()
        .filter(described)
        .take(MAX_EDGES)
        .map(|edge| EdgeReport {
            from: edge.from,
            to: edge.to,
            resource: edge.resource,
            part: part_words(&context.resources[edge.resource as usize].shape, &edge.part),
            hazard: hazard(edge.hazard),
        })
        .collect();
    omitted.edges = context.edges.len() - edges.len();
    let live_bytes = live_bytes(context, passes.len(), &positions);
    GraphReport {
        label: label.into(),
        frame: context.frame,
        stats: context.stats,
        passes,
        resources,
        edges,
        live_bytes,
        omitted,
    }
}

/// The position of each pass among the live ones, or [`NONE`].
fn positions(context: &Context) -> Vec<u32> {
    let mut positions = vec![NONE; context.declared.passes.len()];
    for (position, pass) in context.order.iter().enumerate() {
        positions[*pass as usize] = position as u32;
    }
    positions
}

fn live_bytes(context: &Context, passes: usize, positions: &[u32]) -> Vec<u64> {
    let mut at_position = vec![0u64; context.order.len()];
    let mut alive = 0i64;
    for (bytes, change) in at_position.iter_mut().zip(&context.byte_changes) {
        alive = alive.saturating_add(*change);
        *bytes = u64::try_from(alive).unwrap_or(0);
    }
    positions
        .iter()
        .take(passes)
        .map(|position| at_position.get(*position as usize).copied().unwrap_or(0))
        .collect()
}

fn pass(context: &Context, index: u32, positions: &[u32], omitted: &mut Omitted) -> PassReport {
    let decl = &context.declared.passes[index as usize];
    let position = positions[index as usize];
    let all = context.uses_of(index);
    let described = |usage: &&Use| (usage.resource as usize) < MAX_RESOURCES;
    let uses: Vec<UseReport> = context.uses[all.clone()]
        .iter()
        .filter(described)
        .take(MAX_PER_PASS)
        .map(|usage| use_report(context, usage))
        .collect();
    omitted.details += all.len() - uses.len();
    let scope = if position == NONE { None } else { context.scope_at(position as usize) };
    let barriers = scope.map_or(Vec::new(), |scope| barriers(context, scope, omitted));
    let (live, why) = why(context, index);
    PassReport {
        label: context.declared.text(decl.name).into(),
        kind: decl.kind,
        location: decl.at.to_string(),
        live,
        why,
        merged: position != NONE && scope.is_none(),
        queue: "graphics",
        uses,
        barriers,
        cpu_ns: context.pass_ns.get(position as usize).copied(),
        gpu_ns: None,
    }
}

fn why(context: &Context, pass: u32) -> (bool, String) {
    let name = |index: u32| context.declared.resource_name(index);
    let words = match context.liveness[pass as usize] {
        Liveness::Culled => return (false, "nothing that is wanted uses what it makes".into()),
        Liveness::Kept => "culling is off".into(),
        Liveness::SideEffect => "it has a side effect".into(),
        Liveness::Readback => "it reads back to the CPU".into(),
        Liveness::Queried => "its queries are read".into(),
        Liveness::WritesImport(resource) => format!("it writes the import \"{}\"", name(resource)),
        Liveness::Exported(export) => {
            let resource =
                context.declared.exports.get(export as usize).map_or(NONE, |export| export.target.index());
            format!("it makes the export \"{}\"", name(resource))
        }
        Liveness::Feeds(user) => format!("\"{}\" uses what it makes", context.declared.pass_name(user)),
    };
    (true, words)
}

fn use_report(context: &Context, usage: &Use) -> UseReport {
    let scope = match usage.usage {
        Usage::Texture(how) => how.scope(),
        Usage::Buffer(how) => how.scope(),
    };
    UseReport {
        resource: usage.resource,
        part: part_words(&context.resources[usage.resource as usize].shape, &usage.part),
        how: describe(usage),
        scope: scope_words(scope),
        writes: usage.usage.effect().writes(),
        stored: super::lifetimes::is_written_attachment(usage).then_some(usage.store == StoreOp::Store),
        location: usage.at.to_string(),
    }
}

fn barriers(context: &Context, scope: usize, omitted: &mut Omitted) -> Vec<BarrierReport> {
    let batch = context.plan.batch(scope);
    let memory = batch
        .memory
        .iter()
        .enumerate()
        .map(|(index, barrier)| (BarrierIndex::Memory(index as u32), barrier.src, barrier.dst, None));
    let textures = batch.textures.iter().enumerate().map(|(index, barrier)| {
        let layouts = (layout_words(barrier.old).to_string(), layout_words(barrier.new).to_string());
        (BarrierIndex::Texture(index as u32), barrier.src, barrier.dst, Some(layouts))
    });
    let all: Vec<BarrierReport> = memory
        .chain(textures)
        .take(MAX_PER_PASS)
        .map(|(index, src, dst, layouts)| BarrierReport {
            src: scope_words(src),
            dst: scope_words(dst),
            layouts,
            reasons: reasons(context, scope, index),
        })
        .collect();
    omitted.details += batch.memory.len() + batch.textures.len() - all.len();
    all
}

fn reasons(context: &Context, scope: usize, barrier: BarrierIndex) -> Vec<ReasonReport> {
    let first = |scope: usize| {
        let position = context.scopes.get(scope)?.first;
        context.order.get(position as usize).copied()
    };
    let start = first(scope).map_or(0, |pass| context.uses_of(pass).start);
    let of_barrier = context.plan.reasons(scope).iter().filter(|reason| reason.barrier == barrier);
    of_barrier
        .take(16)
        .filter_map(|reason| {
            let usage = context.uses.get(start + reason.usage as usize)?;
            let shape = context.resources.get(usage.resource as usize)?.shape;
            let after = match reason.previous {
                Previous::Before => None,
                Previous::Pass(scope) => first(scope as usize),
            };
            let part = part_words(&shape, &reason.part);
            Some(ReasonReport { resource: usage.resource, part, hazard: hazard(reason.hazard), after })
        })
        .collect()
}

fn resource(context: &Context, index: usize) -> ResourceReport {
    let resource = &context.resources[index];
    let decl = &context.declared.resources[index];
    let (kind, description) = match resource.shape {
        Shape::Texture { format, size, mips, .. } => {
            let mut words = format!("{format:?} {}x{}", size.width, size.height);
            if size.depth_or_array_layers > 1 {
                words.push_str(&format!("x{}", size.depth_or_array_layers));
            }
            if mips > 1 {
                words.push_str(&format!(", {mips} mips"));
            }
            ("texture", words)
        }
        Shape::Buffer { size } => ("buffer", format!("{size} bytes")),
    };
    let origin = match (resource.imported, resource.uploaded) {
        (_, true) => "uploaded",
        (true, false) => "import",
        _ => "transient",
    };
    let pass_at = |position: u32| context.order.get(position as usize).or(context.order.last()).copied();
    let lifetime =
        if resource.first == NONE { None } else { pass_at(resource.first).zip(pass_at(resource.last)) };
    ResourceReport {
        label: context.declared.text(decl.name).into(),
        kind,
        origin,
        location: decl.at.to_string(),
        description,
        bytes: resource.bytes,
        lifetime,
        placement: (resource.slot != NONE).then_some(resource.slot),
        heap: (resource.heap != NONE).then_some((resource.heap, resource.offset)),
        exported: resource.exported != NONE,
    }
}

fn hazard(hazard: Hazard) -> &'static str {
    match hazard {
        Hazard::ReadAfterWrite => "RAW",
        Hazard::WriteAfterRead => "WAR",
        Hazard::WriteAfterWrite => "WAW",
        Hazard::Layout => "layout",
        Hazard::Init => "init",
    }
}

fn layout_words(layout: Layout) -> &'static str {
    match layout {
        Layout::Undefined => "undefined",
        Layout::General => "general",
        Layout::ColorAttachment => "color attachment",
        Layout::DepthStencilAttachment => "depth-stencil attachment",
        Layout::DepthStencilReadOnly => "depth-stencil read-only",
        Layout::ShaderRead => "shader read",
        Layout::CopySrc => "copy source",
        Layout::CopyDst => "copy destination",
        Layout::Present => "present",
    }
}

/// `compute shader: storage write`.
fn scope_words(scope: Scope) -> String {
    fn words<'a>(names: impl Iterator<Item = &'a str>) -> String {
        let parts: Vec<String> = names.map(|name| name.to_ascii_lowercase().replace('_', " ")).collect();
        parts.join(" + ")
    }
    if scope.stages.is_empty() {
        return "nothing".into();
    }
    let stages = words(scope.stages.iter_names().map(|(name, _)| name));
    let access = words(scope.access.iter_names().map(|(name, _)| name));
    if access.is_empty() { stages } else { format!("{stages}: {access}") }
}
