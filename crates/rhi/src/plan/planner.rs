//! The planner: declared uses in, the least barriers that make them safe out.
//!
//! A call walks its passes once, in order, over the ledger's states, which it changes in place. It first resolves every
//! use: its scope, and the next use of the same resource, so that looking ahead is a walk along a chain. Each pass then goes through four steps:
//!
//! 1. *Admit.* The runs under each use are isolated and marked with the use. A run that is already marked in this pass
//!    has two uses, which must be compatible. What is read must be defined.
//! 2. *Barriers.* Each run is compared with its uses, once, by the use that marked it first: [`super::fine`] range by
//!    range, [`super::whole`] resource by resource. Layouts change here.
//! 3. *Effects.* Each use leaves its trace: it becomes a reader, or the last write.
//! 4. *Settle.* Discards take effect and equal neighbours join again.
//!
//! **Rules**, in one place:
//! - A read waits for the last write unless that write is visible to exactly this stage and access. Reads never wait
//!   for reads, except through a layout transition, which is a write of its own.
//! - A write waits for the readers since the last write, by execution alone; without readers it waits for that write
//!   and for its memory. It sees earlier contents if it reads them.
//! - Only a change of layout is a texture barrier. It starts from `Undefined` when the old contents do not matter.
//! - A barrier for a read also serves the later reads of the same call that would need it, up to the next write or
//!   layout change of its range.
//! - In one pass, overlapping uses must all read in one layout or all be storage writes; their scopes unite.
//!
//! A call with the passes and the states of a recent one is not planned again: see [`super::memo`].
//!
//! **Atomicity.** A call that fails leaves the ledger and the plan as they were ([`super::undo`]). The ledger's queries
//! notice nothing before [`Planner::commit`].

use super::access::{Effect, Layout, ResourceUse, Scope};
use super::batches::Plan;
use super::extent::{Part, Resource};
use super::ledger::{Ledger, Record};
use super::memo::{self, Memos};
use super::pairs::Pairs;
use super::passes::{DeclaredGroups, GroupUses, Pass, PassList};
use super::runs::{Mark, State};
use super::undo::{NONE, Touched};
use super::{batches, direct, fine, whole};
use crate::handle::BindGroup;
use crate::plan::Access;

/// How precisely dependencies are found. Layouts, definedness and conflicts are always exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HazardMode {
    /// By byte range and by subresource.
    #[default]
    Fine,
    /// By whole resource, and without looking ahead: the reference that fine plans are compared with.
    Conservative,
}

/// What an error is about, as an index into its pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A use.
    Use(u32),
    /// A discard.
    Discard(u32),
    /// An alias.
    Alias(u32),
}

/// Why passes cannot be planned. Passes are indices into the list, uses are indices into their pass; who declared
/// them knows the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two uses of one pass overlap and cannot hold at once.
    #[error("pass {pass}: uses {first} and {second} conflict")]
    Conflict {
        /// The pass.
        pass: u32,
        /// The earlier use.
        first: u32,
        /// The later use.
        second: u32,
    },
    /// Contents are read that nothing has written.
    #[error("pass {pass}: use {usage} reads undefined contents: {part:?}")]
    Undefined {
        /// The pass.
        pass: u32,
        /// The use.
        usage: u32,
        /// The first part that is not defined.
        part: Part,
    },
    /// A range reaches beyond its resource, or is an empty range of a texture.
    #[error("pass {pass}: {item:?} is out of its resource's range")]
    OutOfRange {
        /// The pass.
        pass: u32,
        /// What was declared.
        item: Item,
    },
    /// The ledger knows no such resource.
    #[error("pass {pass}: {item:?} names a resource that is not there")]
    Unknown {
        /// The pass.
        pass: u32,
        /// What was declared.
        item: Item,
    },
}

/// A use, resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    pub resource: Resource,
    /// Its resource's entry in what the call touched.
    pub entry: u32,
    /// The next use of the same resource in the list, or [`NONE`].
    pub next: u32,
    pub scope: Scope,
    pub pairs: Pairs,
    pub layout: Layout,
    pub effect: Effect,
}

/// Plans passes against a ledger. One planner belongs to one ledger.
///
/// ```ignore
/// planner.plan(&mut ledger, &passes, &mut plan)?;      // as often as needed, before one commit
/// for (index, pass) in recorded.iter().enumerate() {
///     encoder.barriers(&backend, plan.batch(index));
///     pass.record(&mut encoder);
/// }
/// match backend.submit(&mut encoders, ordinal, &[]) {
///     Ok(()) => planner.commit(&mut ledger, ordinal),
///     Err(_) => planner.discard(&mut ledger),
/// }
/// ```
#[derive(Debug, Default)]
pub struct Planner {
    mode: HazardMode,
    uses: Vec<Resolved>,
    memos: Memos,
    /// A pass that is planned by itself, when it takes the long way.
    single: PassList,
}

/// What the steps of one pass work on.
pub(super) struct Context<'a> {
    pub ledger: &'a mut Ledger,
    pub uses: &'a [Resolved],
    pub declared: &'a [ResourceUse],
    pub plan: &'a mut Plan,
    pub list: &'a PassList,
    /// The pass, and where its uses begin and end.
    pub pass: u32,
    pub start: u32,
    pub end: u32,
}

/// What a pass is that declares one thing only.
#[derive(Clone, Copy)]
enum Alone<'a> {
    No,
    Group(BindGroup),
    Use(&'a ResourceUse),
}

impl<'a> Alone<'a> {
    #[inline]
    fn of(pass: &Pass<'a>, groups: &[BindGroup]) -> Self {
        match (pass.uses, groups) {
            _ if !pass.discards.is_empty() => Self::No,
            ([], [group]) => Self::Group(*group),
            ([usage], []) => Self::Use(usage),
            _ => Self::No,
        }
    }
}

impl Planner {
    /// A planner with nothing planned.
    pub fn new(mode: HazardMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// How precisely it finds dependencies.
    pub fn mode(&self) -> HazardMode {
        self.mode
    }

    /// Changes how precisely it finds dependencies, from the next call on.
    pub fn set_mode(&mut self, mode: HazardMode) {
        self.mode = mode;
    }

    /// Plans the passes after all that was planned since the last commit or discard, and appends a batch for each to
    /// `plan`.
    ///
    /// # Errors
    /// [`PlanError`], and then neither the ledger nor the plan has changed.
    pub fn plan(&mut self, ledger: &mut Ledger, passes: &PassList, plan: &mut Plan) -> Result<(), PlanError> {
        let remember =
            self.mode == HazardMode::Fine && !plan.wants_reasons() && passes.uses().len() >= memo::LEAST_USES;
        self.plan_list(ledger, passes, plan, remember)
    }

    /// One use of each resource of a list that was planned before under its name. The others were checked with it then,
    /// and are of the same resources.
    pub(crate) fn known_uses(&self, passes: &PassList) -> Option<&[ResourceUse]> {
        self.memos.known_uses(passes)
    }

    /// The same for one pass that is planned by itself. Its groups' uses count after its own.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), about [`failed_pass`](Self::failed_pass), with the index zero.
    pub(crate) fn plan_pass<G: GroupUses>(
        &mut self,
        ledger: &mut Ledger,
        pass: &Pass<'_>,
        groups: &DeclaredGroups<'_, G>,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        if self.mode == HazardMode::Fine && !plan.wants_reasons() && pass.aliases.is_empty() {
            let alone = Alone::of(pass, groups.groups);
            let planned = match alone {
                Alone::Group(group) => {
                    ledger.leases.use_group(group, ledger.next).or_else(|| ledger.plan_group_again(group))
                }
                Alone::Use(usage) => ledger.plan_use_again(usage),
                Alone::No => None,
            };
            if let Some(barrier) = planned {
                plan.push_lone(barrier);
                return Ok(());
            }
            let mark = plan.mark();
            let mut lease = true;
            loop {
                ledger.begin_call();
                let usual = direct::plan_pass(ledger, pass, groups, plan, lease);
                if usual && !ledger.leases.has_met() {
                    match (alone, plan.lone()) {
                        (Alone::Group(group), Some(barrier)) => ledger.keep_group(group, barrier),
                        (Alone::Use(usage), Some(barrier)) => ledger.keep_use(usage, barrier),
                        _ => {}
                    }
                    return Ok(());
                }
                ledger.roll_back();
                plan.truncate(mark);
                ledger.end_met_leases();
                if !usual {
                    break;
                }
                lease = false;
            }
        }
        let mut list = std::mem::take(&mut self.single);
        list.set(pass, groups);
        let result = self.plan_list(ledger, &list, plan, false);
        self.single = list;
        result
    }

    /// The pass that [`plan_pass`](Self::plan_pass) failed to plan, with the uses of its groups.
    pub(crate) fn failed_pass(&self) -> Pass<'_> {
        self.single.pass(0)
    }

    fn plan_list(
        &mut self,
        ledger: &mut Ledger,
        passes: &PassList,
        plan: &mut Plan,
        remember: bool,
    ) -> Result<(), PlanError> {
        let mark = plan.mark();
        loop {
            ledger.begin_call();
            let result = self.try_plan(ledger, passes, plan, mark, remember);
            if result.is_err() || ledger.leases.has_met() {
                ledger.roll_back();
                plan.truncate(mark);
            }
            // What the call came across must be ended before it counts.
            if !ledger.leases.has_met() {
                return result;
            }
            ledger.end_met_leases();
        }
    }

    fn try_plan(
        &mut self,
        ledger: &mut Ledger,
        passes: &PassList,
        plan: &mut Plan,
        mark: batches::Mark,
        remember: bool,
    ) -> Result<(), PlanError> {
        if remember && self.memos.apply(ledger, passes, plan) {
            return Ok(());
        }
        self.resolve(ledger, passes)?;
        if ledger.leases.has_met() {
            return Ok(());
        }
        if remember {
            self.memos.begin(ledger, passes);
        }
        let result = self.walk(ledger, passes, plan);
        if remember {
            self.memos.end(ledger, plan, mark, result.is_ok());
        }
        result
    }

    /// Makes everything planned the ledger's last word, as done by the submission with this ordinal.
    pub fn commit(&mut self, ledger: &mut Ledger, ordinal: u64) {
        ledger.keep(ordinal);
    }

    /// Forgets everything planned.
    pub fn discard(&mut self, ledger: &mut Ledger) {
        ledger.take_back_all();
    }

    /// Finds every resource, checks every range, and links the uses of each resource.
    fn resolve(&mut self, ledger: &mut Ledger, passes: &PassList) -> Result<(), PlanError> {
        self.uses.clear();
        for (index, pass) in passes.iter().enumerate() {
            let pass_index = index as u32;
            let unknown = |item| PlanError::Unknown { pass: pass_index, item };
            let beyond = |item| PlanError::OutOfRange { pass: pass_index, item };
            for (position, &(from, to)) in pass.aliases.iter().enumerate() {
                for resource in [from, to] {
                    let item = Item::Alias(position as u32);
                    ledger.touch(resource).ok_or(unknown(item))?;
                }
            }
            for (position, declared) in pass.uses.iter().enumerate() {
                let item = Item::Use(position as u32);
                let resource = Resource::of(declared);
                let entry = ledger.touch(resource).ok_or(unknown(item))?;
                if !ledger.at(resource).extent().contains(&Part::of(declared)) {
                    return Err(beyond(item));
                }
                self.link(ledger.undo.entry(entry), entry, resource, declared);
            }
            for (position, (texture, range)) in pass.discards.iter().enumerate() {
                let item = Item::Discard(position as u32);
                let resource = Resource::Texture(texture.slot());
                ledger.touch(resource).ok_or(unknown(item))?;
                if !ledger.at(resource).extent().contains(&Part::Subresources(*range)) {
                    return Err(beyond(item));
                }
            }
        }
        Ok(())
    }

    fn link(&mut self, touched: &mut Touched, entry: u32, resource: Resource, declared: &ResourceUse) {
        let this = self.uses.len() as u32;
        if touched.head == NONE {
            touched.head = this;
        } else if let Some(last) = self.uses.get_mut(touched.tail as usize) {
            last.next = this;
        }
        touched.tail = this;
        let scope = declared.scope();
        let layout = match declared {
            ResourceUse::Buffer { .. } => Layout::Undefined,
            ResourceUse::Texture { range, usage, .. } => usage.layout(range.aspects),
        };
        self.uses.push(Resolved {
            resource,
            entry,
            next: NONE,
            scope,
            pairs: Pairs::of(scope),
            layout,
            effect: declared.effect(),
        });
    }

    fn walk(&mut self, ledger: &mut Ledger, passes: &PassList, plan: &mut Plan) -> Result<(), PlanError> {
        for (index, pass) in passes.iter().enumerate() {
            let start = pass.first_use as u32;
            let mut context = Context {
                ledger: &mut *ledger,
                uses: &self.uses,
                declared: passes.uses(),
                plan: &mut *plan,
                list: passes,
                pass: index as u32,
                start,
                end: start + pass.uses.len() as u32,
            };
            context.hand_over(pass.aliases);
            context.admit()?;
            match self.mode {
                HazardMode::Fine => fine::plan_pass(&mut context),
                HazardMode::Conservative => whole::plan_pass(&mut context),
            }
            context.settle();
            plan.close_batch();
        }
        Ok(())
    }
}

impl Context<'_> {
    /// The record that a use is about.
    #[inline]
    pub(super) fn record(&mut self, usage: u32) -> &mut Record {
        self.ledger.at(self.uses[usage as usize].resource)
    }

    /// The call's notes about the resource of a use.
    #[inline]
    pub(super) fn touched(&mut self, usage: u32) -> &mut Touched {
        self.ledger.undo.entry(self.uses[usage as usize].entry)
    }

    /// Gives memory to its next owners. The former owner keeps its dependencies, since it may have several heirs.
    fn hand_over(&mut self, aliases: &[(Resource, Resource)]) {
        for &(from, to) in aliases {
            let mut source = Scope::NONE;
            for resource in [from, to] {
                for run in self.ledger.at(resource).runs.all() {
                    source = source.union(run.state.source());
                }
            }
            let former = self.ledger.at(from);
            former.revision += 1;
            for run in former.runs.all_mut() {
                run.state.defined = false;
                run.state.layout = Layout::Undefined;
            }
            let cells = former.runs.cells();
            if cells > 0 {
                former.runs.coalesce(0, cells);
            }
            let heir = self.ledger.at(to);
            heir.revision += 1;
            heir.runs.reset(heir.runs.cells(), State { write: source, ..State::FRESH });
        }
    }

    /// Step 1: marks what the pass touches, and refuses what cannot be.
    fn admit(&mut self) -> Result<(), PlanError> {
        for index in self.start..self.end {
            let usage = self.uses[index as usize];
            let part = Part::of(&self.declared[index as usize]);
            let record = self.ledger.at(usage.resource);
            let extent = record.extent();
            for (start, end) in extent.intervals(part) {
                let range = record.runs.isolate(start, end);
                let mut from = start;
                for run in &mut record.runs.all_mut()[range] {
                    if let Some(other) = run.mark.since(self.start) {
                        if !compatible(&self.uses[other as usize], &usage) {
                            let first = other - self.start;
                            let second = index - self.start;
                            return Err(PlanError::Conflict { pass: self.pass, first, second });
                        }
                        run.mark.share();
                    } else {
                        run.mark = Mark::of(index);
                    }
                    if matches!(usage.effect, Effect::Read | Effect::ReadWrite) && !run.state.defined {
                        let mut undefined = None;
                        extent.parts(from, run.end, |part| undefined = undefined.or(Some(part)));
                        let part = undefined.unwrap_or(part);
                        return Err(PlanError::Undefined {
                            pass: self.pass,
                            usage: index - self.start,
                            part,
                        });
                    }
                    from = run.end;
                }
            }
        }
        Ok(())
    }

    /// Step 4: discards, and equal neighbours.
    fn settle(&mut self) {
        let pass = self.list.pass(self.pass as usize);
        for (texture, range) in pass.discards {
            let record = self.ledger.at(Resource::Texture(texture.slot()));
            record.revision += 1;
            for (start, end) in record.extent().intervals(Part::Subresources(*range)) {
                let runs = record.runs.isolate(start, end);
                for run in &mut record.runs.all_mut()[runs] {
                    run.state.defined = false;
                }
                record.runs.coalesce(start, end);
            }
        }
        for index in self.start..self.end {
            let part = Part::of(&self.declared[index as usize]);
            let record = self.record(index);
            if record.runs.single().is_some() {
                continue;
            }
            for (start, end) in record.extent().intervals(part) {
                record.runs.coalesce(start, end);
            }
        }
    }
}

/// Whether two overlapping uses can hold in one pass: reads in one layout, or storage writes.
fn compatible(a: &Resolved, b: &Resolved) -> bool {
    let storage = |usage: &Resolved| {
        usage.effect == Effect::Write && usage.scope.access.contains(Access::STORAGE_WRITE)
    };
    let reads = a.effect == Effect::Read && b.effect == Effect::Read;
    a.layout == b.layout && (reads || (storage(a) && storage(b)))
}
