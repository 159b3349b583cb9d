//! Edges: who depends on whom, and why.
//!
//! A walk over all passes in authored order, with the history of every part of every resource ([`crate::runs`]):
//!
//! - a read depends on the write before it (RAW);
//! - a write depends on the reads since the last write (WAR), or, where there are none, on that write (WAW);
//! - nothing depends on what an edge between already orders, so a chain has exactly its links.
//!
//! Beside the edges stand the *feeds*: whose contents a pass uses, because it reads them or changes only some of them.
//! Culling follows feeds and not edges, so work that is overwritten unread is not kept for being in order.
//!
//! The same walk finds what borrows cannot: contents that nothing has written, and two uses of one part in one pass
//! that exclude each other.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Effect, Hazard, Part, TextureUse};
use purlin_rhi::{Device, StoreOp};

use super::{origin_words, part_words};
use crate::context::{Context, Edge, NONE, Origin, Physical, Resource, Usage, Use};
use crate::error::GraphError;
use crate::runs::{Run, Runs, intervals, part_at};

/// Fills `edges`, `feeds` and `exported`.
pub(crate) fn run(context: &mut Context) -> Result<(), GraphError> {
    context.edges.clear();
    context.feeds.clear();
    context.exported.clear();
    context.readers.clear();
    if context.runs.len() < context.resources.len() {
        context.runs.resize_with(context.resources.len(), Runs::default);
    }
    for (runs, resource) in context.runs.iter_mut().zip(&context.resources) {
        // What an import holds is the ledger's to know; the device's planner checks it.
        runs.reset(&resource.shape, resource.imported);
    }
    for pass in 0..context.declared.passes.len() as u32 {
        walk(context, pass)?;
    }
    exports(context)
}

/// What one pass has added so far; duplicates are looked for only there.
#[derive(Clone, Copy)]
struct Mark {
    edges: usize,
    feeds: usize,
}

fn walk(context: &mut Context, pass: u32) -> Result<(), GraphError> {
    let mark = Mark { edges: context.edges.len(), feeds: context.feeds.len() };
    let uses = context.uses_of(pass);
    for index in uses.clone() {
        let usage = context.uses[index];
        check_export(context, &usage)?;
        let shape = context.resources[usage.resource as usize].shape;
        for (start, end) in intervals(&shape, &usage.part) {
            let mut runs = std::mem::take(&mut context.runs[usage.resource as usize]);
            let mut from = start;
            let mut result = Ok(());
            for run in runs.isolate(start, end) {
                let cells = (from, run.end);
                from = run.end;
                result = meet(context, mark, index as u32, &usage, run, cells);
                if result.is_err() {
                    break;
                }
            }
            context.runs[usage.resource as usize] = runs;
            result?;
        }
    }
    for index in uses {
        settle(context, index);
    }
    Ok(())
}

/// A use meets one run of its part.
fn meet(
    context: &mut Context,
    mark: Mark,
    index: u32,
    usage: &Use,
    run: &mut Run,
    cells: (u64, u64),
) -> Result<(), GraphError> {
    let pass = usage.pass;
    let effect = usage.usage.effect();
    let part = part_at(&context.resources[usage.resource as usize].shape, cells.0, cells.1);
    if let Some(other) = context.uses.get(run.touched as usize)
        && other.pass == pass
        && !compatible(other, usage)
    {
        return Err(conflict(context, &other.clone(), usage, &part));
    }
    run.touched = index;
    if matches!(effect, Effect::Read | Effect::ReadWrite) && !run.defined {
        return Err(undefined(context, usage, &part));
    }
    let own = run.writer == pass;
    if run.writer != NONE && !own {
        if effect.keeps() {
            feed(context, mark, run.writer, pass);
        }
        match effect {
            Effect::Read | Effect::ReadWrite => {
                edge(context, mark, run.writer, usage, part, Hazard::ReadAfterWrite)
            }
            _ if run.readers == NONE => edge(context, mark, run.writer, usage, part, Hazard::WriteAfterWrite),
            _ => {}
        }
    }
    if effect.writes() {
        let mut reader = run.readers;
        while let Some(&(from, next)) = context.readers.get(reader as usize) {
            if from != pass {
                edge(context, mark, from, usage, part, Hazard::WriteAfterRead);
            }
            reader = next;
        }
        run.writer = pass;
        run.readers = NONE;
        run.defined = true;
    } else if context.readers.get(run.readers as usize).is_none_or(|&(from, _)| from != pass) {
        context.readers.push((pass, run.readers));
        run.readers = context.readers.len() as u32 - 1;
    }
    Ok(())
}

/// What a pass's discards leave, and runs that have become equal.
fn settle(context: &mut Context, index: usize) {
    let usage = context.uses[index];
    let shape = context.resources[usage.resource as usize].shape;
    let runs = &mut context.runs[usage.resource as usize];
    if usage.store == StoreOp::Discard {
        for (start, end) in intervals(&shape, &usage.part) {
            runs.isolate(start, end).iter_mut().for_each(|run| run.defined = false);
        }
    }
    if runs.all().len() > 16 {
        runs.coalesce();
    }
}

/// Whether two overlapping uses can hold in one pass: reads in one layout, or storage writes.
fn compatible(a: &Use, b: &Use) -> bool {
    let layouts = a.usage.layout(&a.part) == b.usage.layout(&b.part);
    let reads = !a.usage.effect().writes() && !b.usage.effect().writes();
    layouts && (reads || (a.usage.is_storage_write() && b.usage.is_storage_write()))
}

fn edge(context: &mut Context, mark: Mark, from: u32, usage: &Use, part: Part, hazard: Hazard) {
    let resource = usage.resource;
    let same = |edge: &Edge| edge.from == from && edge.resource == resource && edge.hazard == hazard;
    if !context.edges[mark.edges..].iter().any(same) {
        context.edges.push(Edge { from, to: usage.pass, resource, part, hazard });
    }
}

fn feed(context: &mut Context, mark: Mark, from: u32, to: u32) {
    if !context.feeds[mark.feeds..].iter().any(|feed| feed.0 == from) {
        context.feeds.push((from, to));
    }
}

fn check_export(context: &Context, usage: &Use) -> Result<(), GraphError> {
    let resource = &context.resources[usage.resource as usize];
    if resource.exported == NONE || !usage.usage.effect().writes() {
        return Ok(());
    }
    let export = context.declared.exports[resource.exported as usize];
    if usage.pass < export.after {
        return Ok(());
    }
    Err(GraphError::WrittenAfterExport {
        pass: context.declared.pass_name(usage.pass).into(),
        resource: context.declared.resource_name(usage.resource).into(),
        at: usage.at,
        exported: export.at,
    })
}

/// Who made what is exported. All of it must have been made.
fn exports(context: &mut Context) -> Result<(), GraphError> {
    for index in 0..context.declared.exports.len() {
        let export = context.declared.exports[index];
        let resource = export.target.index();
        let Resource { shape, .. } = context.resources[resource as usize];
        let part = super::resolve::export_part(context, export.target, export.at)?;
        for (start, end) in intervals(&shape, &part) {
            let mut from = start;
            let mut runs = std::mem::take(&mut context.runs[resource as usize]);
            let mut hole = None;
            for run in runs.isolate(start, end) {
                if !run.defined {
                    hole = hole.or(Some(part_at(&shape, from, run.end)));
                } else if run.writer != NONE {
                    context.exported.push((run.writer, index as u32));
                }
                from = run.end;
            }
            context.runs[resource as usize] = runs;
            if let Some(part) = hole {
                return Err(undefined_at(context, "export", resource, &part, export.at, context.passes()));
            }
        }
    }
    Ok(())
}

#[cold]
fn undefined(context: &Context, usage: &Use, part: &Part) -> GraphError {
    let pass = context.declared.pass_name(usage.pass);
    undefined_at(context, pass, usage.resource, part, usage.at, usage.pass)
}

#[cold]
fn undefined_at(
    context: &Context,
    pass: &str,
    resource: u32,
    part: &Part,
    at: crate::declare::At,
    before: u32,
) -> GraphError {
    let shape = context.resources[resource as usize].shape;
    let earlier =
        |usage: &&Use| usage.resource == resource && usage.pass < before && usage.usage.effect().writes();
    let writers = || context.uses.iter().rev().filter(earlier);
    let nearest = writers().find(|writer| writer.part.overlaps(part)).or_else(|| writers().next());
    let why = match nearest {
        None => "no pass before it writes the resource".to_string(),
        Some(writer) if writer.part.overlaps(part) => {
            format!("pass \"{}\" writes it and discards it", context.declared.pass_name(writer.pass))
        }
        Some(writer) => format!(
            "pass \"{}\" writes only {} (at {})",
            context.declared.pass_name(writer.pass),
            part_words(&shape, &writer.part),
            writer.at
        ),
    };
    GraphError::Undefined {
        pass: pass.into(),
        resource: context.declared.resource_name(resource).into(),
        part: part_words(&shape, part).into(),
        why: why.into(),
        at,
        declared: context.declared.resources[resource as usize].at,
    }
}

/// Whether the ledger knows contents for a use of an import.
pub(crate) fn import_defined<B: Backend>(context: &Context, device: &Device<B>, usage: &Use) -> bool {
    match (context.physical[usage.resource as usize], usage.part) {
        (Physical::Texture(texture), Part::Subresources(range)) => {
            device.ledger().texture_defined(texture.slot(), &range)
        }
        (Physical::Buffer(buffer), Part::Bytes { offset, size }) => {
            device.ledger().buffer_defined(buffer.slot(), offset, size)
        }
        _ => true,
    }
}

#[cold]
fn conflict(context: &Context, first: &Use, second: &Use, part: &Part) -> GraphError {
    let shape = context.resources[second.resource as usize].shape;
    let pass = context.declared.pass_name(second.pass).into();
    let resource = context.declared.resource_name(second.resource).into();
    let part = part_words(&shape, part).into();
    let words = |usage: &Use| describe(usage).into();
    let (first_words, second_words) = (words(first), words(second));
    let (first_at, second_at) = (first.at, second.at);
    if first.usage.effect().writes() && second.usage.effect().writes() {
        return GraphError::Conflict {
            pass,
            resource,
            part,
            first: first_words,
            second: second_words,
            first_at,
            second_at,
        };
    }
    GraphError::Feedback {
        pass,
        resource,
        part,
        first: first_words,
        second: second_words,
        first_at,
        second_at,
    }
}

/// A use in words: how, and where in its pass.
pub(crate) fn describe(usage: &Use) -> String {
    let how = match usage.usage {
        Usage::Texture(TextureUse::Sampled(_)) => "sampled",
        Usage::Texture(TextureUse::StorageRead(_)) => "read as storage",
        Usage::Texture(TextureUse::StorageWrite(_)) => "written as storage",
        Usage::Texture(TextureUse::Color { .. } | TextureUse::DepthStencil { .. }) => "written",
        Usage::Texture(TextureUse::DepthStencilReadOnly(_)) => "tested",
        Usage::Buffer(purlin_rhi::plan::BufferUse::StorageWrite(_)) => "written as storage",
        _ if usage.usage.effect().writes() => "written",
        _ => "read",
    };
    match usage.origin {
        Origin::Declared(_) | Origin::Source | Origin::Destination => {
            format!("{how} ({})", origin_words(usage.origin))
        }
        _ => format!("{how} as {}", origin_words(usage.origin)),
    }
}
