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
use crate::context::{Context, Edge, NONE, Origin, Physical, Resource, Shape, Usage, Use};
use crate::error::GraphError;
use crate::runs::{Run, Runs, interval, intervals, part_at};

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
    let Context { uses, pass_ends, resources, runs, edges, feeds, readers, declared, .. } = context;
    let mut walk = Walk { uses, edges, feeds, readers, mark: Mark { edges: 0, feeds: 0 } };
    let mut start = 0;
    let mut problem = None;
    for &end in pass_ends.iter() {
        walk.mark = Mark { edges: walk.edges.len(), feeds: walk.feeds.len() };
        problem = (start..end).find_map(|index| {
            let usage = &walk.uses[index as usize];
            let resource = &resources[usage.resource as usize];
            let export = declared.exports.get(resource.exported as usize);
            if export.is_some_and(|export| usage.pass >= export.after) && usage.usage.effect().writes() {
                return Some(Problem::Exported(index));
            }
            walk.step(index, &resource.shape, &mut runs[usage.resource as usize]).err()
        });
        if problem.is_some() {
            break;
        }
        for usage in &walk.uses[start as usize..end as usize] {
            settle(usage, resources, runs);
        }
        start = end;
    }
    if let Some(problem) = problem {
        return Err(problem.error(context));
    }
    exports(context)
}

/// What one pass has added so far; duplicates are looked for only there.
#[derive(Clone, Copy)]
struct Mark {
    edges: usize,
    feeds: usize,
}

/// The walk over all passes.
struct Walk<'a> {
    uses: &'a [Use],
    edges: &'a mut Vec<Edge>,
    feeds: &'a mut Vec<(u32, u32)>,
    readers: &'a mut Vec<(u32, u32)>,
    mark: Mark,
}

/// What is wrong, by the use that shows it.
enum Problem {
    Exported(u32),
    Undefined(u32, Part),
    Conflict(u32, u32, Part),
}

impl Walk<'_> {
    /// A use meets the runs of its part.
    fn step(&mut self, index: u32, shape: &Shape, runs: &mut Runs) -> Result<(), Problem> {
        let part = &self.uses[index as usize].part;
        if let Some((start, end)) = interval(shape, part) {
            return self.meet_all(index, shape, runs, start, end);
        }
        for (start, end) in intervals(shape, part) {
            self.meet_all(index, shape, runs, start, end)?;
        }
        Ok(())
    }

    #[inline]
    fn meet_all(
        &mut self,
        index: u32,
        shape: &Shape,
        runs: &mut Runs,
        start: u64,
        end: u64,
    ) -> Result<(), Problem> {
        if start == end {
            return Ok(());
        }
        let mut from = start;
        for run in runs.isolate(start, end) {
            let cells = (from, run.end);
            from = run.end;
            self.meet(index, shape, run, cells)?;
        }
        Ok(())
    }

    /// A use meets one run of its part.
    #[inline]
    fn meet(&mut self, index: u32, shape: &Shape, run: &mut Run, cells: (u64, u64)) -> Result<(), Problem> {
        let usage = &self.uses[index as usize];
        let pass = usage.pass;
        let effect = usage.usage.effect();
        let part = || part_at(shape, cells.0, cells.1);
        if let Some(other) = self.uses.get(run.touched as usize)
            && other.pass == pass
            && !compatible(other, usage)
        {
            return Err(Problem::Conflict(run.touched, index, part()));
        }
        run.touched = index;
        if matches!(effect, Effect::Read | Effect::ReadWrite) && !run.defined {
            return Err(Problem::Undefined(index, part()));
        }
        if run.writer != NONE && run.writer != pass {
            if effect.keeps() {
                self.feed(run.writer, pass);
            }
            match effect {
                Effect::Read | Effect::ReadWrite => {
                    self.edge(run.writer, usage, part, Hazard::ReadAfterWrite);
                }
                _ if run.readers == NONE => self.edge(run.writer, usage, part, Hazard::WriteAfterWrite),
                _ => {}
            }
        }
        if effect.writes() {
            let mut reader = run.readers;
            while let Some(&(from, next)) = self.readers.get(reader as usize) {
                if from != pass {
                    self.edge(from, usage, part, Hazard::WriteAfterRead);
                }
                reader = next;
            }
            run.writer = pass;
            run.readers = NONE;
            run.defined = true;
        } else if self.readers.get(run.readers as usize).is_none_or(|&(from, _)| from != pass) {
            self.readers.push((pass, run.readers));
            run.readers = self.readers.len() as u32 - 1;
        }
        Ok(())
    }

    #[inline]
    fn edge(&mut self, from: u32, usage: &Use, part: impl Fn() -> Part, hazard: Hazard) {
        let resource = usage.resource;
        let same = |edge: &Edge| edge.from == from && edge.resource == resource && edge.hazard == hazard;
        if !self.edges[self.mark.edges..].iter().any(same) {
            self.edges.push(Edge { from, to: usage.pass, resource, part: part(), hazard });
        }
    }

    #[inline]
    fn feed(&mut self, from: u32, to: u32) {
        if !self.feeds[self.mark.feeds..].iter().any(|feed| feed.0 == from) {
            self.feeds.push((from, to));
        }
    }
}

impl Problem {
    #[cold]
    fn error(self, context: &Context) -> GraphError {
        let uses = &context.uses;
        match self {
            Problem::Exported(usage) => written_after_export(context, &uses[usage as usize]),
            Problem::Undefined(usage, part) => undefined(context, &uses[usage as usize], &part),
            Problem::Conflict(first, second, part) => {
                conflict(context, &uses[first as usize], &uses[second as usize], &part)
            }
        }
    }
}

/// What a pass's discards leave, and runs that have become equal.
#[inline]
fn settle(usage: &Use, resources: &[Resource], runs: &mut [Runs]) {
    let runs = &mut runs[usage.resource as usize];
    if usage.store == StoreOp::Discard {
        for (start, end) in intervals(&resources[usage.resource as usize].shape, &usage.part) {
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

#[cold]
fn written_after_export(context: &Context, usage: &Use) -> GraphError {
    let resource = &context.resources[usage.resource as usize];
    GraphError::WrittenAfterExport {
        pass: context.declared.pass_name(usage.pass).into(),
        resource: context.declared.resource_name(usage.resource).into(),
        at: usage.at,
        exported: context.declared.exports[resource.exported as usize].at,
    }
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
