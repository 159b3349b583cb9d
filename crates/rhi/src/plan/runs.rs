//! What is known about every part of one resource: a line of cells, held as runs of equal state.
//!
//! A buffer's cells are its bytes; a texture's cells are its subresources in the order that [`super::extent`] gives
//! them. Runs are sorted, touch each other and cover the whole line, so a run stores only where it ends. A resource
//! that is used as one thing is one run, stored inline in half a cache line. [`Runs::isolate`] makes a range consist of whole runs before
//! it is changed; [`Runs::coalesce`] joins equal neighbours again afterwards.
//!
//! **Invariants** of a [`State`]:
//! - `write` is what later uses must wait for: the last write, or the stages that a layout transition was handed to
//!   (then its access is empty, since a transition makes itself available).
//! - `visible` is where `write` has been made visible. Anything in it is ordered after `write`.
//! - `readers` have read since `write`, and each is ordered after it. So whoever waits for the readers also waits for
//!   the write, which is then available. The CPU is no reader here: no barrier can wait for it.

use super::access::{Layout, Scope, Stages};
use super::pairs::Pairs;

/// What is known about a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// What a later use must wait for; only the writing accesses.
    pub write: Scope,
    /// Where that write is visible.
    pub visible: Pairs,
    /// Who has read since.
    pub readers: Stages,
    /// The layout; always `Undefined` for buffers.
    pub layout: Layout,
    /// Whether the contents may be read.
    pub defined: bool,
}

impl State {
    /// Fresh memory: nothing to wait for, nothing to read.
    pub(super) const FRESH: State = State {
        write: Scope::NONE,
        visible: Pairs::NONE,
        readers: Stages::empty(),
        layout: Layout::Undefined,
        defined: false,
    };

    /// What a write or a layout transition must wait for.
    #[inline]
    pub(super) fn source(&self) -> Scope {
        if self.readers.is_empty() { self.write } else { Scope::new(self.readers, Default::default()) }
    }
}

/// Cells of one state, up to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// The first cell after the run.
    pub end: u64,
    /// The state of all its cells.
    pub state: State,
    /// The first use of the planner's call that touched the run in its pass. Scratch of the planner.
    pub mark: Mark,
}

/// A use that touched a run, counted from one, and whether another one of its pass did as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Mark(u32);

impl Mark {
    const SHARED: u32 = 1 << 31;
    /// No use.
    pub(super) const NONE: Mark = Mark(0);

    /// The mark of a use.
    #[inline]
    pub(super) fn of(usage: u32) -> Self {
        Mark(usage + 1)
    }

    /// The use, if it is none before `first`.
    #[inline]
    pub(super) fn since(self, first: u32) -> Option<u32> {
        (self.0 & !Self::SHARED).checked_sub(first + 1).map(|usage| usage + first)
    }

    /// Whether it is this use.
    #[inline]
    pub(super) fn is(self, usage: u32) -> bool {
        self.0 & !Self::SHARED == usage + 1
    }

    /// Notes another use.
    #[inline]
    pub(super) fn share(&mut self) {
        self.0 |= Self::SHARED;
    }

    /// Whether another use was noted.
    #[inline]
    pub(super) fn is_shared(self) -> bool {
        self.0 & Self::SHARED != 0
    }
}

/// A whole resource. `one` ends where the resource ends and counts while there is but one run; otherwise all runs are
/// in `many`, which keeps its memory.
#[derive(Debug)]
pub(super) struct Runs {
    one: Run,
    many: Option<Box<Many>>,
}

#[derive(Debug, Default)]
struct Many(Vec<Run>);

impl Default for Runs {
    fn default() -> Self {
        Self { one: Run { end: 0, state: State::FRESH, mark: Mark::NONE }, many: None }
    }
}

impl Runs {
    /// Makes all of `len` cells be in one state.
    #[inline]
    pub(super) fn reset(&mut self, len: u64, state: State) {
        self.one = Run { end: len, state, mark: Mark::NONE };
        if let Some(many) = &mut self.many {
            many.0.clear();
        }
    }

    /// How many cells there are.
    #[inline]
    pub(super) fn cells(&self) -> u64 {
        self.one.end
    }

    /// The state of the only run.
    #[inline]
    pub(super) fn single(&self) -> Option<&State> {
        if self.is_single() { Some(&self.one.state) } else { None }
    }

    /// The state of the only run, to change it.
    #[inline]
    pub(super) fn single_mut(&mut self) -> Option<&mut State> {
        if self.is_single() { Some(&mut self.one.state) } else { None }
    }

    #[inline]
    fn is_single(&self) -> bool {
        self.many.as_ref().is_none_or(|many| many.0.is_empty())
    }

    /// Becomes these runs, of as many cells, keeping the allocation.
    #[inline]
    pub(super) fn copy_from(&mut self, runs: &[Run]) {
        if let [one] = runs {
            self.reset(one.end, one.state);
            return;
        }
        let many = &mut self.many.get_or_insert_default().0;
        many.clear();
        many.extend_from_slice(runs);
        self.one.end = many.last().map_or(0, |run| run.end);
    }

    /// Whether every cell is in the same state as in `other`.
    pub(super) fn same_states(&self, other: &Runs) -> bool {
        let (ours, others) = (self.all(), other.all());
        ours.len() == others.len()
            && ours.iter().zip(others).all(|(a, b)| a.end == b.end && a.state == b.state)
    }

    /// The runs, in order; never none, but one without cells is there for a resource without cells.
    #[inline]
    pub(super) fn all(&self) -> &[Run] {
        match &self.many {
            Some(many) if !many.0.is_empty() => &many.0,
            _ => std::slice::from_ref(&self.one),
        }
    }

    /// The runs, in order, to change their states.
    #[inline]
    pub(super) fn all_mut(&mut self) -> &mut [Run] {
        match &mut self.many {
            Some(many) if !many.0.is_empty() => &mut many.0,
            _ => std::slice::from_mut(&mut self.one),
        }
    }

    /// Where the run begins.
    #[inline]
    pub(super) fn start(&self, index: usize) -> u64 {
        if index == 0 { 0 } else { self.all()[index - 1].end }
    }

    /// The indices of the runs that make up exactly `start..end`, splitting those that reach beyond it.
    #[inline]
    pub(super) fn isolate(&mut self, start: u64, end: u64) -> std::ops::Range<usize> {
        if self.is_single() {
            if start == 0 && end == self.one.end {
                return 0..1;
            }
            self.many.get_or_insert_default().0.push(self.one);
        }
        match &mut self.many {
            Some(many) => isolate(&mut many.0, start, end),
            None => 0..1,
        }
    }

    /// Joins neighbours of equal state in and around `start..end`.
    #[inline]
    pub(super) fn coalesce(&mut self, start: u64, end: u64) {
        let Some(many) = &mut self.many else { return };
        if !many.0.is_empty() {
            coalesce(&mut many.0, start, end);
            if let [one] = many.0[..] {
                self.one = one;
                many.0.clear();
            }
        }
    }

    /// Forgets the planner's scratch.
    #[inline]
    pub(super) fn clear_marks(&mut self) {
        for run in self.all_mut() {
            run.mark = Mark::NONE;
        }
    }
}

/// The run that holds the cell.
fn at(runs: &[Run], cell: u64) -> usize {
    if runs.len() == 1 { 0 } else { runs.partition_point(|run| run.end <= cell) }
}

/// The runs that share a cell with `start..end`, which is not empty.
pub(super) fn covering(runs: &[Run], start: u64, end: u64) -> &[Run] {
    &runs[at(runs, start)..at(runs, end - 1) + 1]
}

fn isolate(runs: &mut Vec<Run>, start: u64, end: u64) -> std::ops::Range<usize> {
    let mut first = at(runs, start);
    if first.checked_sub(1).map_or(0, |before| runs[before].end) < start {
        let head = Run { end: start, ..runs[first] };
        runs.insert(first, head);
        first += 1;
    }
    let mut last = first;
    while runs[last].end < end {
        last += 1;
    }
    if runs[last].end > end {
        let head = Run { end, ..runs[last] };
        runs.insert(last, head);
    }
    first..last + 1
}

fn coalesce(runs: &mut Vec<Run>, start: u64, end: u64) {
    if runs.len() < 2 {
        return;
    }
    let first = at(runs, start).saturating_sub(1);
    let last = (at(runs, end - 1) + 1).min(runs.len() - 1);
    let mut kept = first;
    for index in first + 1..=last {
        if runs[index].state == runs[kept].state {
            runs[kept].end = runs[index].end;
        } else {
            kept += 1;
            runs[kept] = runs[index];
        }
    }
    runs.drain(kept + 1..last + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(runs: &Runs) -> Vec<u64> {
        runs.all().iter().map(|run| run.end).collect()
    }

    #[test]
    fn ranges_split_and_join() {
        let mut runs = Runs::default();
        runs.reset(100, State::FRESH);
        assert_eq!(runs.isolate(20, 40), 1..2);
        assert_eq!(ends(&runs), [20, 40, 100]);
        assert_eq!(runs.isolate(20, 100), 1..3);
        assert_eq!(runs.isolate(0, 30), 0..2);
        assert_eq!(ends(&runs), [20, 30, 40, 100]);
        runs.coalesce(20, 100);
        assert_eq!(ends(&runs), [100]);
        runs.isolate(20, 30);
        runs.all_mut()[1].state.defined = true;
        runs.coalesce(20, 30);
        assert_eq!(ends(&runs), [20, 30, 100]);
        assert_eq!(covering(runs.all(), 29, 31).len(), 2);
        assert_eq!(covering(runs.all(), 20, 30).len(), 1);
        runs.all_mut()[1].state.defined = false;
        runs.coalesce(20, 30);
        assert_eq!(ends(&runs), [100]);
    }
}
