//! Submission: the phases in order, then one recording of the live passes.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use arrayvec::ArrayVec;
use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Plan, ResourceUse};
use purlin_rhi::types::Origin3d;
use purlin_rhi::{
    AspectOps, BufferSlice, ColorAttachment, ComputePassDesc, DepthStencilAttachment, Device, QueryTicket,
    ReadTicket, Recorder, RenderPass, RenderPassDesc, StoreOp, TexelLayout, TexturePlace,
};
use smallvec::SmallVec;

use crate::clock::Moment;
use crate::context::{Context, NONE, Physical};
use crate::declare::{AttachmentDecl, PassDecl, PassKind, QueryReadDecl, Transfer, Work};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::pass::{Body, ComputeBody, Missing, RenderBody, Resolver, SectionWork};
use crate::phase;
use crate::phase::resolve::{Image, buffer_bytes};
use crate::stats::Submitted;

/// How often the arena looks for what it can give up.
const EVICT_EVERY: u64 = 4;

pub(crate) fn submit<B: Backend>(
    graph: &mut Graph<'_, B>,
    device: &mut Device<B>,
) -> Result<Submitted, GraphError> {
    graph.context.stats.declare_ns = graph.begun.elapsed();
    if let Some(mistake) = graph.context.mistake.take() {
        return Err(mistake);
    }
    let begun = Moment::now();
    compile(graph.context, device)?;
    graph.context.stats.compile_ns = begun.elapsed();
    let before = device.hazard_mode();
    device.set_hazard_mode(graph.context.options.hazards);
    let submitted = record(graph, device);
    device.set_hazard_mode(before);
    submitted
}

/// Takes over what the last frame has found out, or runs the phases.
pub(crate) fn compile<B: Backend>(context: &mut Context, device: &mut Device<B>) -> Result<(), GraphError> {
    context.declared.end();
    let mut tidy = false;
    if context.device != Some(device.tag()) {
        // Nothing of another device is of use here.
        context.device = Some(device.tag());
        context.cache.clear();
        context.pool.clear();
    } else if context.frame.is_multiple_of(EVICT_EVERY) {
        let oldest = context.frame.saturating_sub(u64::from(context.options.keep_frames).max(1));
        context.cache.evict(device, oldest);
        context.pool.evict(oldest);
        tidy = true;
    }
    if phase::reuse::run(context, device, tidy)? {
        context.stats.reused = true;
        return Ok(());
    }
    context.declared.same = false;
    phase::resolve::run(context, device)?;
    phase::edges::run(context)?;
    phase::cull::run(context);
    phase::lifetimes::run(context);
    phase::merge::run(context);
    phase::place::run(context, device)?;
    phase::materialize::run(context, device)?;
    phase::barriers::run(context);
    let stats = &mut context.stats;
    stats.passes = context.declared.passes.len() as u32;
    stats.culled = stats.passes - context.order.len() as u32;
    stats.edges = context.edges.len() as u32;
    context.structure_stats = crate::FrameStats { created: 0, ..*stats };
    context.compiled_with = context.options;
    context.placed_at = context.pool.removals();
    context.declared.rebound.clear();
    context.declared.same = true;
    Ok(())
}

fn device_error<B: Backend>(graph: &Graph<'_, B>, source: purlin_rhi::Error) -> GraphError {
    GraphError::Device { graph: graph.label.into(), source: Box::new(source) }
}

fn record<B: Backend>(graph: &mut Graph<'_, B>, device: &mut Device<B>) -> Result<Submitted, GraphError> {
    let begun = Moment::now();
    let mut recorder = device.record(graph.label).map_err(|source| device_error(graph, source))?;
    plan(graph.context, &mut recorder)?;
    let mut reads: SmallVec<[Option<ReadTicket>; 4]> = SmallVec::new();
    graph.context.pass_ns.clear();
    for index in 0..graph.context.scopes.len() {
        let scope = graph.context.scopes[index];
        let scope_begun = graph.context.with_report.then(Moment::now);
        recorder.barriers(graph.context.plan.batch(index));
        let mut at = Place { position: scope.first, missing: None };
        let result = record_scope(graph, &mut recorder, index, &mut reads, &mut at);
        if result.is_err() || at.missing.is_some() {
            return Err(pass_failed(graph.context, &at, result));
        }
        if let Some(begun) = scope_begun {
            // What is recorded as one has one time.
            graph.context.pass_ns.push(begun.elapsed());
            graph.context.pass_ns.resize(scope.end as usize, 0);
        }
    }
    let mut queries: SmallVec<[Option<QueryTicket>; 1]> = SmallVec::new();
    for index in 0..graph.context.declared.query_reads.len() {
        let QueryReadDecl { set, first, end } = graph.context.declared.query_reads[index];
        let ticket = recorder.read_queries(set, first..end).map_err(|source| device_error(graph, source))?;
        queries.push(Some(ticket));
    }
    for frame in std::mem::take(&mut graph.frames) {
        recorder.present(frame).map_err(|source| device_error(graph, source))?;
    }
    graph.context.stats.record_ns = begun.elapsed();
    let begun = Moment::now();
    let token = recorder.submit().map_err(|source| device_error(graph, source))?;
    let context = &mut *graph.context;
    let counts = context.plan.counts();
    context.stats.submit_ns = begun.elapsed();
    context.stats.barrier_batches = counts.batches as u32;
    context.stats.memory_barriers = counts.memory as u32;
    context.stats.texture_barriers = counts.textures as u32;
    let report = context.with_report.then(|| Box::new(phase::report::run(context, graph.label)));
    Ok(Submitted { token, stats: context.stats, graph: context.graph, reads, queries, report })
}

/// Where recording is, and what a body there asked for in vain.
struct Place {
    position: u32,
    missing: Missing,
}

#[cold]
fn pass_failed(context: &Context, at: &Place, result: purlin_rhi::Result<()>) -> GraphError {
    let decl = &context.declared.passes[context.order[at.position as usize] as usize];
    let pass = context.declared.text(decl.name).into();
    match (at.missing, result) {
        (None, Err(source)) => GraphError::Pass { pass, at: decl.at, source: Box::new(source) },
        (missing, _) => {
            let name = match missing {
                Some(resource) if resource != u32::MAX => context.declared.resource_name(resource),
                _ => "a resource of another graph",
            };
            GraphError::Undeclared { pass, resource: name.into(), at: decl.at }
        }
    }
}

/// Asks the device for the barriers. What it refuses is named by pass, and undefined imports by their declaration.
fn plan<B: Backend>(context: &mut Context, recorder: &mut Recorder<'_, B>) -> Result<(), GraphError> {
    if context.with_report != context.plan_has_reasons {
        context.plan_has_reasons = context.with_report;
        context.plan = if context.with_report { Plan::with_reasons() } else { Plan::new() };
    }
    context.plan.clear();
    let failed = Cell::new(0usize);
    let Context { list, plan, declared, order, scopes, .. } = context;
    let pass_of = |scope: usize| {
        let position = scopes.get(scope).map_or(NONE, |scope| scope.first);
        order.get(position as usize).copied().unwrap_or(NONE)
    };
    let name = |scope: usize| {
        failed.set(scope);
        declared.pass_name(pass_of(scope)).to_string()
    };
    let Err(source) = recorder.plan(list, plan, name) else { return Ok(()) };
    let pass = pass_of(failed.get());
    Err(plan_error(context, recorder.device(), pass, source))
}

#[cold]
fn plan_error<B: Backend>(
    context: &Context,
    device: &Device<B>,
    pass: u32,
    source: purlin_rhi::Error,
) -> GraphError {
    let Some(decl) = context.declared.passes.get(pass as usize) else {
        return GraphError::Device { graph: "".into(), source: Box::new(source) };
    };
    let pass_label: Box<str> = context.declared.text(decl.name).into();
    if let purlin_rhi::Error::InvalidState { .. } = source {
        for usage in &context.uses[context.uses_of(pass)] {
            let resource = &context.resources[usage.resource as usize];
            let keeps = usage.usage.effect().keeps() && !usage.usage.is_storage_write();
            if resource.imported && keeps && !phase::edges::import_defined(context, device, usage) {
                return GraphError::Undefined {
                    pass: pass_label,
                    resource: context.declared.resource_name(usage.resource).into(),
                    part: phase::part_words(&resource.shape, &usage.part).into(),
                    why: "the import was never written, cleared or uploaded".into(),
                    at: usage.at,
                    declared: context.declared.resources[usage.resource as usize].at,
                };
            }
        }
    }
    GraphError::Pass { pass: pass_label, at: decl.at, source: Box::new(source) }
}

fn record_scope<B: Backend>(
    graph: &mut Graph<'_, B>,
    recorder: &mut Recorder<'_, B>,
    index: usize,
    reads: &mut SmallVec<[Option<ReadTicket>; 4]>,
    at: &mut Place,
) -> purlin_rhi::Result<()> {
    let Graph { context, bodies, .. } = graph;
    let context: &Context = context;
    let pass = context.order[at.position as usize];
    let decl = &context.declared.passes[pass as usize];
    let uses = context.list.pass(index).uses;
    let label = context.declared.text(decl.name);
    match (decl.kind, decl.work) {
        (PassKind::Render, Work::Sections(body)) => match bodies.get(body as usize) {
            Some(Body::Sections(work, sections)) => {
                record_sections(context, recorder, (pass, uses), &**work, *sections, at)
            }
            _ => Ok(()),
        },
        (PassKind::Render, _) => record_raster(context, bodies, recorder, index, at),
        (PassKind::Compute, work) => {
            let mut desc = ComputePassDesc { label, ..Default::default() };
            if let Some(queries) = context.declared.queries_of(decl) {
                desc.pipeline_statistics_query_set = queries.statistics;
                desc.timestamp_writes = queries.timestamps;
            }
            recorder.compute_pass_planned(&desc, uses, |mut pass| {
                for index in decl.groups() {
                    let bound = &context.groups[index as usize];
                    if let Some(group) = bound.group {
                        let number = context.declared.groups[index as usize].index;
                        pass.set_bind_group(number, group, bound.offsets());
                    }
                }
                // A pass is large, so it is wrapped, and with that moved, only for a body.
                match work {
                    Work::Dispatch { pipeline, groups } => {
                        pass.set_pipeline(pipeline);
                        pass.dispatch(groups);
                        pass.end()
                    }
                    Work::DispatchIndirect { pipeline, buffer, offset } => {
                        pass.set_pipeline(pipeline);
                        if let Some(&Physical::Buffer(buffer)) = context.physical.get(buffer as usize) {
                            pass.dispatch_indirect(buffer, offset);
                        }
                        pass.end()
                    }
                    Work::Body(index) => {
                        let mut body =
                            ComputeBody::new(pass, Resolver::new(context.graph, &context.physical));
                        if let Some(Body::Compute(work)) = bodies.get_mut(index as usize) {
                            work.run(&mut body);
                        }
                        let (end, lost) = body.end();
                        at.missing = lost;
                        end
                    }
                    _ => pass.end(),
                }
            })
        }
        (PassKind::Transfer, Work::Transfer(transfer)) => {
            record_transfer(context, recorder, label, uses, transfer)
        }
        (PassKind::Transfer, _) => Ok(()),
        (PassKind::Readback, _) => {
            let ticket = record_read(context, recorder, pass)?;
            reads.push(ticket);
            Ok(())
        }
    }
}

/// Adds a pass's queries to its description.
#[inline]
fn add_queries(context: &Context, decl: &PassDecl, desc: &mut RenderPassDesc<'_>) {
    if let Some(queries) = context.declared.queries_of(decl) {
        desc.occlusion_query_set = queries.occlusion;
        desc.pipeline_statistics_query_set = queries.statistics;
        desc.timestamp_writes = queries.timestamps;
    }
}

/// Sets the groups that a pass has declared.
fn bind<B: Backend>(context: &Context, decl: &PassDecl, pass: &mut RenderPass<'_, B>) {
    for index in decl.groups() {
        let bound = &context.groups[index as usize];
        if let Some(group) = bound.group {
            pass.set_bind_group(context.declared.groups[index as usize].index, group, bound.offsets());
        }
    }
}

/// Records the raster passes of a scope as one.
fn record_raster<B: Backend>(
    context: &Context,
    bodies: &mut [Body<'_, B>],
    recorder: &mut Recorder<'_, B>,
    index: usize,
    at: &mut Place,
) -> purlin_rhi::Result<()> {
    let scope = context.scopes[index];
    let passes = context.passes_of(scope);
    let (Some(&first), Some(&last)) = (passes.first(), passes.last()) else { return Ok(()) };
    let decl = |pass: u32| &context.declared.passes[pass as usize];
    let mut colors = ArrayVec::new();
    let depth_stencil = attachments(context, first, last, &mut colors);
    let label = context.declared.text(decl(first).name);
    let mut desc = RenderPassDesc { label, colors: &colors, depth_stencil, ..Default::default() };
    // Passes that are recorded as one have the same.
    add_queries(context, decl(first), &mut desc);
    let mut run = |body: &mut RenderBody<'_, B>, work: Work| match work {
        Work::Draw { pipeline, vertices, instances } => {
            body.set_pipeline(pipeline);
            body.draw(vertices.0..vertices.1, instances.0..instances.1);
        }
        Work::Body(index) => {
            if let Some(Body::Render(work)) = bodies.get_mut(index as usize) {
                work.run(body);
            }
        }
        _ => {}
    };
    recorder.render_pass_planned(&desc, context.list.pass(index).uses, |mut pass| {
        bind(context, decl(first), &mut pass);
        let mut body = RenderBody::new(pass, Resolver::new(context.graph, &context.physical));
        run(&mut body, decl(first).work);
        for &pass in &passes[1..] {
            if body.has_failed() {
                break;
            }
            at.position += 1;
            body.next_part(context.declared.text(decl(pass).name));
            bind(context, decl(pass), &mut body);
            run(&mut body, decl(pass).work);
        }
        let (end, lost) = body.end();
        at.missing = lost;
        end
    })
}

/// Records a raster pass in sections.
fn record_sections<B: Backend>(
    context: &Context,
    recorder: &mut Recorder<'_, B>,
    (pass, uses): (u32, &[ResourceUse]),
    work: &(dyn SectionWork<B> + '_),
    sections: u32,
    at: &mut Place,
) -> purlin_rhi::Result<()> {
    let decl = &context.declared.passes[pass as usize];
    let mut colors = ArrayVec::new();
    let depth_stencil = attachments(context, pass, pass, &mut colors);
    let label = context.declared.text(decl.name);
    let mut desc = RenderPassDesc { label, colors: &colors, depth_stencil, ..Default::default() };
    add_queries(context, decl, &mut desc);
    // The lowest section that asked in vain.
    let first = Mutex::new(None);
    let recorded = recorder.render_pass_parallel_planned(&desc, uses, sections, |section, mut pass| {
        bind(context, decl, &mut pass);
        let mut body = RenderBody::new(pass, Resolver::new(context.graph, &context.physical));
        work.run(section, &mut body);
        let (end, lost) = body.end();
        if let Some(lost) = lost {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            *first = first.into_iter().chain([(section, lost)]).min();
        }
        end
    });
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    at.missing = first.map(|(_, lost)| lost);
    recorded
}

/// The attachments with their views: loaded as the first of passes that are recorded as one says, stored as the last.
fn attachments(
    context: &Context,
    first: u32,
    last: u32,
    colors: &mut ArrayVec<Option<ColorAttachment>, 8>,
) -> Option<DepthStencilAttachment> {
    let mut depth_stencil = None;
    let store = |index: u32| context.uses.get(index as usize).map_or(StoreOp::Store, |usage| usage.store);
    let stored = context.declared.passes[last as usize].attachments();
    for (index, stored) in context.declared.passes[first as usize].attachments().zip(stored) {
        let attachment = &context.attachments[stored as usize];
        let Some(view) = context.views[index as usize] else { continue };
        match context.declared.attachments[index as usize] {
            AttachmentDecl::Color { index, load, .. } => {
                while colors.len() <= index as usize {
                    colors.push(None);
                }
                colors[index as usize] =
                    Some(ColorAttachment { view, load, store: store(attachment.first), resolve: None });
            }
            // Nobody wants an average that is not stored.
            AttachmentDecl::Resolve { index, .. } if store(attachment.first) == StoreOp::Store => {
                if let Some(Some(color)) = colors.get_mut(index as usize) {
                    color.resolve = Some(view);
                }
            }
            AttachmentDecl::Resolve { .. } => {}
            AttachmentDecl::DepthStencil { depth, stencil, .. } => {
                let depth = depth.map(|ops| AspectOps { store: store(attachment.first), ..ops });
                let stencil = stencil.map(|ops| AspectOps { store: store(attachment.second), ..ops });
                depth_stencil = Some(DepthStencilAttachment { view, depth, stencil });
            }
            AttachmentDecl::DepthRead { .. } => {
                use purlin_rhi::plan::Aspects;
                let has = |aspect: Aspects| attachment.range.aspects.contains(aspect);
                depth_stencil = Some(DepthStencilAttachment {
                    view,
                    depth: has(Aspects::DEPTH).then(AspectOps::read_only),
                    stencil: has(Aspects::STENCIL).then(AspectOps::read_only),
                });
            }
        }
    }
    depth_stencil
}

fn record_transfer<B: Backend>(
    context: &Context,
    recorder: &mut Recorder<'_, B>,
    label: &str,
    uses: &[ResourceUse],
    transfer: Transfer,
) -> purlin_rhi::Result<()> {
    let slice = |part| buffer_slice(context, part);
    match transfer {
        Transfer::ClearBuffer { dst } => match slice(dst) {
            Some(dst) => recorder.transfer_pass_planned(label, uses, |pass| pass.clear_buffer(dst)),
            None => Ok(()),
        },
        Transfer::CopyBuffer { src, dst } => match (slice(src), slice(dst)) {
            (Some(src), Some(dst)) => recorder
                .transfer_pass_planned(label, uses, |pass| pass.copy_buffer(src, dst.buffer, dst.offset)),
            _ => Ok(()),
        },
        Transfer::CopyTexture { src, dst } => {
            let (Some(from), Some(to)) = (texture_box(context, src), texture_box(context, dst)) else {
                return Ok(());
            };
            recorder.transfer_pass_planned(label, uses, |pass| {
                for mip in 0..from.mips {
                    let from_place = TexturePlace { mip: from.place.mip + mip, ..from.place };
                    let to_place = TexturePlace { mip: to.place.mip + mip, ..to.place };
                    pass.copy_texture(&from_place, &to_place, from.extent(mip));
                }
            })
        }
        Transfer::BufferToTexture { src, layout, dst } => {
            let (Some(src), Some(to)) = (slice(src), texture_box(context, dst)) else { return Ok(()) };
            let layout = TexelLayout { offset: src.offset.saturating_add(layout.offset), ..layout };
            recorder.transfer_pass_planned(label, uses, |pass| {
                pass.copy_buffer_to_texture(src.buffer, &layout, &to.place, to.extent(0));
            })
        }
        Transfer::TextureToBuffer { src, dst, layout } => {
            let (Some(from), Some(dst)) = (texture_box(context, src), slice(dst)) else { return Ok(()) };
            let layout = TexelLayout { offset: dst.offset.saturating_add(layout.offset), ..layout };
            recorder.transfer_pass_planned(label, uses, |pass| {
                pass.copy_texture_to_buffer(&from.place, from.extent(0), dst.buffer, &layout);
            })
        }
    }
}

fn record_read<B: Backend>(
    context: &Context,
    recorder: &mut Recorder<'_, B>,
    pass: u32,
) -> purlin_rhi::Result<Option<ReadTicket>> {
    match context.declared.passes[pass as usize].work {
        Work::ReadTexture(target) => match texture_box(context, target) {
            Some(from) => recorder.read_texture_planned(&from.place, from.extent(0)).map(Some),
            None => Ok(None),
        },
        Work::ReadBuffer(target) => match buffer_slice(context, target) {
            Some(range) => recorder.read_buffer_planned(range).map(Some),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

fn buffer_slice(context: &Context, part: crate::version::BufferRef) -> Option<BufferSlice> {
    let Physical::Buffer(buffer) = *context.physical.get(part.id.index as usize)? else { return None };
    let (offset, size) = buffer_bytes(context, part)?;
    Some(BufferSlice { buffer, offset, size })
}

/// Texels of a part: where they begin, and how many in each mip.
struct TextureBox {
    place: TexturePlace,
    range: purlin_rhi::plan::TextureRange,
    image: Image,
    mips: u32,
}

impl TextureBox {
    fn extent(&self, mip: u32) -> purlin_rhi::types::Extent3d {
        let range = purlin_rhi::plan::TextureRange { base_mip: self.range.base_mip + mip, ..self.range };
        self.image.extent(&range)
    }
}

fn texture_box(context: &Context, part: crate::version::TextureRef) -> Option<TextureBox> {
    let Physical::Texture(texture) = *context.physical.get(part.id.index as usize)? else { return None };
    let range = phase::resolve::texture_part(context, part)?;
    let place = TexturePlace {
        texture,
        mip: range.base_mip,
        origin: Origin3d { x: 0, y: 0, z: range.base_layer },
        aspect: part.aspect,
    };
    Some(TextureBox { place, range, image: Image::of(context, part.id.index)?, mips: range.mips })
}
