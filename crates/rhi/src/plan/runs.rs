//! What is known about every part of one resource: a line of cells, held as runs of equal state.
//!
//! A buffer's cells are its bytes; a texture's cells are its subresources in the order that [`super::extent`] gives
//! them. Runs are sorted, touch each other and cover the whole line, so a run stores only where it ends. A resource
//! that is used as one thing is one run, stored inline. [`Runs::isolate`] makes a range consist of whole runs before
//! it is changed; [`Runs::coalesce`] joins equal neighbours again afterwards.
//!
//! **Invariants** of a [`State`]:
//! - `write` is what later uses must wait for: the last write, or the stages that a layout transition was handed to
//!   (then its access is empty, since a transition makes itself available).
//! - `visible` is where `write` has been made visible. Anything in it is ordered after `write`.
//! - `readers` have read since `write`, and each is ordered after it. So whoever waits for the readers also waits for
//!   the write, which is then available. The CPU is no reader here: no barrier can wait for it.

use smallvec::SmallVec;

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
    /// The serial of the first use that touched the run in its last pass. Scratch of the planner.
    pub mark: u32,
    /// Whether a second use touched it in that pass. Scratch of the planner.
    pub shared: bool,
}

/// A whole resource.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    runs: SmallVec<[Run; 1]>,
}

impl Runs {
    /// Makes all of `len` cells be in one state.
    pub(super) fn reset(&mut self, len: u64, state: State) {
        self.runs.clear();
        if len > 0 {
            self.runs.push(Run { end: len, state, mark: 0, shared: false });
        }
    }

    /// Becomes a copy of `other`, keeping the allocation.
    pub(super) fn copy_from(&mut self, other: &Runs) {
        self.runs.clear();
        self.runs.extend_from_slice(&other.runs);
    }

    /// Whether every cell is in the same state as in `other`.
    pub(super) fn same_states(&self, other: &Runs) -> bool {
        self.runs.len() == other.runs.len()
            && self.runs.iter().zip(&other.runs).all(|(a, b)| a.end == b.end && a.state == b.state)
    }

    /// The runs, in order.
    pub(super) fn all(&self) -> &[Run] {
        &self.runs
    }

    /// The runs, in order, to change their states.
    pub(super) fn all_mut(&mut self) -> &mut [Run] {
        &mut self.runs
    }

    /// Where the run begins.
    pub(super) fn start(&self, index: usize) -> u64 {
        if index == 0 { 0 } else { self.runs[index - 1].end }
    }

    /// The run that holds the cell.
    fn at(&self, cell: u64) -> usize {
        if self.runs.len() == 1 { 0 } else { self.runs.partition_point(|run| run.end <= cell) }
    }

    /// The runs that share a cell with `start..end`, which is not empty.
    pub(super) fn covering(&self, start: u64, end: u64) -> &[Run] {
        &self.runs[self.at(start)..self.at(end - 1) + 1]
    }

    /// The indices of the runs that make up exactly `start..end`, splitting those that reach beyond it.
    pub(super) fn isolate(&mut self, start: u64, end: u64) -> std::ops::Range<usize> {
        let mut first = self.at(start);
        if self.start(first) < start {
            let head = Run { end: start, ..self.runs[first] };
            self.runs.insert(first, head);
            first += 1;
        }
        let mut last = first;
        while self.runs[last].end < end {
            last += 1;
        }
        if self.runs[last].end > end {
            let head = Run { end, ..self.runs[last] };
            self.runs.insert(last, head);
        }
        first..last + 1
    }

    /// Joins neighbours of equal state in and around `start..end`.
    pub(super) fn coalesce(&mut self, start: u64, end: u64) {
        if self.runs.len() < 2 {
            return;
        }
        let first = self.at(start).saturating_sub(1);
        let last = (self.at(end - 1) + 1).min(self.runs.len() - 1);
        let mut kept = first;
        for index in first + 1..=last {
            if self.runs[index].state == self.runs[kept].state {
                self.runs[kept].end = self.runs[index].end;
            } else {
                kept += 1;
                self.runs[kept] = self.runs[index];
            }
        }
        self.runs.drain(kept + 1..last + 1);
    }

    /// Forgets the planner's scratch.
    pub(super) fn clear_marks(&mut self) {
        for run in &mut self.runs {
            run.mark = 0;
        }
    }
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
        assert_eq!(runs.covering(29, 31).len(), 2);
        assert_eq!(runs.covering(20, 30).len(), 1);
        runs.all_mut()[1].state.defined = false;
        runs.coalesce(20, 30);
        assert_eq!(ends(&runs), [100]);
    }
}
