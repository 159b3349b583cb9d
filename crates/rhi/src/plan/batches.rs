//! The planner's output: a batch of barriers before each pass, and on request the reason of each.
//!
//! Barriers are merged as they arrive, within their batch only. Two memory barriers become one when one barrier says
//! exactly what the two say: their union must not speak of a stage and access that neither names. Texture barriers
//! that differ only in their range become one when the ranges form a rectangle.

use super::access::{Scope, TextureRange};
use super::barrier::{BarrierBatch, MemoryBarrier, TextureBarrier};
use super::extent::{Part, Resource};
use super::pairs::exact_union;

/// How many earlier barriers of a batch a texture barrier is compared with.
const MERGE_WINDOW: usize = 32;

/// Why a barrier is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hazard {
    /// A read must see a write.
    ReadAfterWrite,
    /// A write must wait for reads.
    WriteAfterRead,
    /// A write must land after a write.
    WriteAfterWrite,
    /// A read needs another layout than the reads before it, or follows the transition for them.
    Layout,
    /// The first use of fresh, discarded or imported contents.
    Init,
}

/// Where the other end of a dependency lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Previous {
    /// Before the passes of this call.
    Before,
    /// In the pass with this index in the list.
    Pass(u32),
}

/// Which barrier of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BarrierIndex {
    /// An index into [`BarrierBatch::memory`].
    Memory(u32),
    /// An index into [`BarrierBatch::textures`].
    Texture(u32),
}

/// One dependency that a barrier serves. A merged barrier has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The barrier that serves it.
    pub barrier: BarrierIndex,
    /// The resource.
    pub resource: Resource,
    /// The part of it.
    pub part: Part,
    /// The kind of dependency.
    pub hazard: Hazard,
    /// The pass that it depends on.
    pub previous: Previous,
    /// The use that asks for it, as an index into its pass.
    pub usage: u32,
    /// What is waited for.
    pub src: Scope,
    /// What waits.
    pub dst: Scope,
}

/// How many barriers a plan has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanCounts {
    /// Batches that are not empty.
    pub batches: usize,
    /// Memory barriers.
    pub memory: usize,
    /// Texture barriers.
    pub textures: usize,
}

/// Barriers for a row of passes. Kept and reused: [`Plan::clear`] keeps its memory.
#[derive(Debug, Default)]
pub struct Plan {
    memory: Vec<MemoryBarrier>,
    textures: Vec<TextureBarrier>,
    reasons: Vec<Reason>,
    ends: Vec<Mark>,
    with_reasons: bool,
}

/// A position in a plan.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    memory: usize,
    textures: usize,
    reasons: usize,
    batches: usize,
}

impl Plan {
    /// An empty plan that keeps no reasons.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty plan that keeps the reason of every barrier.
    pub fn with_reasons() -> Self {
        Self { with_reasons: true, ..Self::default() }
    }

    /// Empties the plan, keeping its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.truncate(Mark::default());
    }

    /// How many passes were planned into it since it was cleared.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no pass was planned into it.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The barriers before the pass with this index, counted over all calls since the plan was cleared.
    ///
    /// # Panics
    /// If there is no such pass.
    #[inline]
    pub fn batch(&self, index: usize) -> BarrierBatch<'_> {
        let (start, end) = self.bounds(index);
        BarrierBatch {
            memory: &self.memory[start.memory..end.memory],
            textures: &self.textures[start.textures..end.textures],
        }
    }

    /// The reasons of the barriers in a batch; empty unless made by [`Plan::with_reasons`].
    ///
    /// # Panics
    /// If there is no such pass.
    pub fn reasons(&self, index: usize) -> &[Reason] {
        let (start, end) = self.bounds(index);
        &self.reasons[start.reasons..end.reasons]
    }

    /// How many barriers there are.
    pub fn counts(&self) -> PlanCounts {
        let full = |index: &usize| !self.batch(*index).is_empty();
        PlanCounts {
            batches: (0..self.len()).filter(full).count(),
            memory: self.memory.len(),
            textures: self.textures.len(),
        }
    }

    #[inline]
    fn bounds(&self, index: usize) -> (Mark, Mark) {
        let start = if index == 0 { Mark::default() } else { self.ends[index - 1] };
        (start, self.ends[index])
    }

    /// Whether reasons are wanted.
    pub(super) fn wants_reasons(&self) -> bool {
        self.with_reasons
    }

    /// The end of the plan.
    #[inline]
    pub(super) fn mark(&self) -> Mark {
        Mark {
            memory: self.memory.len(),
            textures: self.textures.len(),
            reasons: self.reasons.len(),
            batches: self.ends.len(),
        }
    }

    /// Appends batches that [`copy_since`](Self::copy_since) took from a plan.
    pub(super) fn append(&mut self, memory: &[MemoryBarrier], textures: &[TextureBarrier], ends: &[Mark]) {
        let start = self.mark();
        self.memory.extend_from_slice(memory);
        self.textures.extend_from_slice(textures);
        self.ends.extend(ends.iter().map(|end| Mark {
            memory: start.memory + end.memory,
            textures: start.textures + end.textures,
            reasons: start.reasons,
            batches: start.batches + end.batches,
        }));
    }

    /// Copies the batches since the mark, counted from it.
    pub(super) fn copy_since(
        &self,
        mark: Mark,
        memory: &mut Vec<MemoryBarrier>,
        textures: &mut Vec<TextureBarrier>,
        ends: &mut Vec<Mark>,
    ) {
        memory.clear();
        memory.extend_from_slice(&self.memory[mark.memory..]);
        textures.clear();
        textures.extend_from_slice(&self.textures[mark.textures..]);
        ends.clear();
        ends.extend(self.ends[mark.batches..].iter().map(|end| Mark {
            memory: end.memory - mark.memory,
            textures: end.textures - mark.textures,
            reasons: 0,
            batches: end.batches - mark.batches,
        }));
    }

    /// Takes back all that was planned since the mark.
    #[inline]
    pub(super) fn truncate(&mut self, mark: Mark) {
        self.memory.truncate(mark.memory);
        self.textures.truncate(mark.textures);
        self.reasons.truncate(mark.reasons);
        self.ends.truncate(mark.batches);
    }

    /// Adds a memory barrier to the open batch.
    #[inline]
    pub(super) fn push_memory(&mut self, src: Scope, dst: Scope) {
        let new = MemoryBarrier { src, dst };
        let first = self.open().memory;
        // What the last one was merged with when it came is no different now.
        if self.memory.len() > first && self.memory.last() == Some(&new) {
            return;
        }
        self.merge_memory(first, new);
    }

    fn merge_memory(&mut self, first: usize, mut new: MemoryBarrier) {
        let mut index = first;
        while index < self.memory.len() {
            match merge_memory(self.memory[index], new) {
                Some(merged) if merged == self.memory[index] => return,
                Some(merged) => {
                    // The larger barrier may swallow others in turn.
                    self.memory.remove(index);
                    new = merged;
                    index = first;
                }
                None => index += 1,
            }
        }
        self.memory.push(new);
    }

    /// Adds a batch of at most one memory barrier, after a closed one.
    #[inline]
    pub(super) fn push_lone(&mut self, barrier: Option<MemoryBarrier>) {
        self.memory.extend(barrier);
        let mut mark = self.mark();
        mark.batches += 1;
        self.ends.push(mark);
    }

    /// The only memory barrier of the batch that was closed last, if it has one; `None` if it has more.
    pub(super) fn lone(&self) -> Option<Option<MemoryBarrier>> {
        let last = self.batch(self.len().checked_sub(1)?);
        match (last.memory, last.textures) {
            ([], []) => Some(None),
            ([barrier], []) => Some(Some(*barrier)),
            _ => None,
        }
    }

    /// Adds a texture barrier to the open batch.
    pub(super) fn push_texture(&mut self, mut new: TextureBarrier) {
        let first = self.open().textures;
        'again: loop {
            let recent = self.textures.len().saturating_sub(MERGE_WINDOW).max(first);
            for index in (recent..self.textures.len()).rev() {
                if let Some(merged) = merge_textures(&self.textures[index], &new) {
                    self.textures.remove(index);
                    new = merged;
                    continue 'again;
                }
            }
            break;
        }
        self.textures.push(new);
    }

    /// Adds a reason to the open batch; its barrier is found when the batch closes.
    pub(super) fn push_reason(&mut self, reason: Reason) {
        self.reasons.push(reason);
    }

    /// Closes the open batch and opens the next.
    #[inline]
    pub(super) fn close_batch(&mut self) {
        let open = self.open();
        let (memory, textures) = (&self.memory[open.memory..], &self.textures[open.textures..]);
        for reason in &mut self.reasons[open.reasons..] {
            let serves = |src: Scope, dst: Scope| src.contains(reason.src) && dst.contains(reason.dst);
            let found = match reason.barrier {
                BarrierIndex::Memory(_) => memory
                    .iter()
                    .position(|barrier| serves(barrier.src, barrier.dst))
                    .map(|index| BarrierIndex::Memory(index as u32)),
                BarrierIndex::Texture(_) => textures
                    .iter()
                    .position(|barrier| {
                        Resource::Texture(barrier.texture) == reason.resource
                            && serves(barrier.src, barrier.dst)
                            && Part::Subresources(barrier.range).overlaps(&reason.part)
                    })
                    .map(|index| BarrierIndex::Texture(index as u32)),
            };
            reason.barrier = found.unwrap_or(reason.barrier);
        }
        let mut mark = self.mark();
        mark.batches += 1;
        self.ends.push(mark);
    }

    #[inline]
    fn open(&self) -> Mark {
        self.ends.last().copied().unwrap_or_default()
    }
}

/// One barrier that says exactly what the two say.
fn merge_memory(a: MemoryBarrier, b: MemoryBarrier) -> Option<MemoryBarrier> {
    if a.src.contains(b.src) && a.dst.contains(b.dst) {
        Some(a)
    } else if b.src.contains(a.src) && b.dst.contains(a.dst) {
        Some(b)
    } else if a.src == b.src {
        exact_union(a.dst, b.dst).map(|dst| MemoryBarrier { src: a.src, dst })
    } else if a.dst == b.dst {
        exact_union(a.src, b.src).map(|src| MemoryBarrier { src, dst: a.dst })
    } else {
        None
    }
}

/// One barrier for the range of both.
fn merge_textures(a: &TextureBarrier, b: &TextureBarrier) -> Option<TextureBarrier> {
    let same = TextureBarrier { range: a.range, ..*b } == *a;
    if same { join_ranges(&a.range, &b.range).map(|range| TextureBarrier { range, ..*a }) } else { None }
}

/// The range that is exactly both ranges, which share nothing.
fn join_ranges(a: &TextureRange, b: &TextureRange) -> Option<TextureRange> {
    let mips = (a.base_mip, a.mips) == (b.base_mip, b.mips);
    let layers = (a.base_layer, a.layers) == (b.base_layer, b.layers);
    let adjacent =
        |base: u32, count: u32, other: u32, others: u32| base + count == other || other + others == base;
    if mips && layers {
        Some(TextureRange { aspects: a.aspects | b.aspects, ..*a })
    } else if a.aspects != b.aspects {
        None
    } else if layers && adjacent(a.base_mip, a.mips, b.base_mip, b.mips) {
        Some(TextureRange { base_mip: a.base_mip.min(b.base_mip), mips: a.mips + b.mips, ..*a })
    } else if mips && adjacent(a.base_layer, a.layers, b.base_layer, b.layers) {
        Some(TextureRange { base_layer: a.base_layer.min(b.base_layer), layers: a.layers + b.layers, ..*a })
    } else {
        None
    }
}
