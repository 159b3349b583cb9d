//! Cull: which passes contribute to anything.
//!
//! The roots are passes with a side effect, readbacks, passes whose queries are read, writers of imports and makers of exports. From them the feeds
//! lead back to everything that is needed. Order alone keeps nothing alive.

use crate::context::{Context, Liveness};
use crate::declare::PassKind;

/// Fills `liveness` and `order`.
pub(crate) fn run(context: &mut Context) {
    context.liveness.clear();
    context.order.clear();
    let passes = context.passes();
    context.liveness.resize(passes as usize, Liveness::Culled);
    for pass in 0..passes {
        let root = root(context, pass);
        context.liveness[pass as usize] = root;
    }
    for &(maker, export) in &context.exported {
        mark(&mut context.liveness, maker, Liveness::Exported(export));
    }
    // Feeds ascend by user, and makers come before users: one walk backwards reaches everything.
    for &(maker, user) in context.feeds.iter().rev() {
        if context.liveness[user as usize] != Liveness::Culled {
            mark(&mut context.liveness, maker, Liveness::Feeds(user));
        }
    }
    if !context.options.cull {
        for pass in 0..passes {
            mark(&mut context.liveness, pass, Liveness::Kept);
        }
    }
    for pass in 0..passes {
        if context.is_live(pass) {
            context.order.push(pass);
        }
    }
}

fn mark(liveness: &mut [Liveness], pass: u32, why: Liveness) {
    let entry = &mut liveness[pass as usize];
    if *entry == Liveness::Culled {
        *entry = why;
    }
}

fn root(context: &Context, pass: u32) -> Liveness {
    let decl = &context.declared.passes[pass as usize];
    if decl.kind == PassKind::Readback {
        return Liveness::Readback;
    }
    if decl.side_effect {
        return Liveness::SideEffect;
    }
    if let Some(queries) = context.declared.queries_of(decl)
        && context.declared.query_reads.iter().any(|read| queries.writes(read.set))
    {
        return Liveness::Queried;
    }
    let uses = &context.uses[context.uses_of(pass)];
    let import = uses
        .iter()
        .find(|usage| context.resources[usage.resource as usize].imported && usage.usage.effect().writes());
    import.map_or(Liveness::Culled, |usage| Liveness::WritesImport(usage.resource))
}
