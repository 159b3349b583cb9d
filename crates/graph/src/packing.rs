//! Packing: blocks that live for a while, at offsets in one heap, so that those alive at one time do not overlap.
//!
//! Finding the smallest heap is hard, and frames are small: so several orders and two ways to choose a gap are tried, and
//! the best result is kept. What stands on top of it is then tried first, a few times. Nothing here is random: the same
//! blocks always lie in the same places. No packing needs less than the most bytes that are alive at one time, and one
//! that needs no more ends the search.

use std::cmp::Reverse;

/// A block to be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub bytes: u64,
    /// A power of two.
    pub alignment: u64,
    /// The first and the last moment of its life.
    pub first: u32,
    pub last: u32,
}

impl Block {
    fn meets(&self, other: &Block) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// How long it lives.
    fn span(&self) -> u64 {
        u64::from(self.last.saturating_sub(self.first)) + 1
    }
}

/// In which order blocks are placed. Ties go by index.
#[derive(Debug, Clone, Copy)]
enum Order {
    Size,
    Span,
    Area,
    Begin,
}

/// Which gap a block takes.
#[derive(Debug, Clone, Copy)]
enum Fit {
    Lowest,
    Tightest,
}

const TRIALS: [(Order, Fit); 7] = [
    (Order::Size, Fit::Lowest),
    (Order::Size, Fit::Tightest),
    (Order::Area, Fit::Lowest),
    (Order::Area, Fit::Tightest),
    (Order::Span, Fit::Lowest),
    (Order::Begin, Fit::Lowest),
    (Order::Begin, Fit::Tightest),
];

/// With more blocks than this, one trial is all: each takes the square of their number.
const MANY: usize = 512;

/// How often what stands on top is tried first.
const REPAIRS: usize = 24;

/// Where blocks lie. Keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Packing {
    /// The offset of each block.
    pub offsets: Vec<u64>,
    /// The size of the heap.
    pub bytes: u64,
    order: Vec<u32>,
    best_order: Vec<u32>,
    trial: Vec<u64>,
    /// The placed blocks that the next one meets, as ranges of bytes by offset.
    taken: Vec<(u64, u64)>,
    changes: Vec<(u32, i128)>,
}

impl Packing {
    /// Places the blocks, and returns the least that any placement needs.
    pub(crate) fn run(&mut self, blocks: &[Block]) -> u64 {
        let bound = self.bound(blocks);
        self.bytes = u64::MAX;
        self.offsets.clear();
        self.offsets.resize(blocks.len(), 0);
        let trials = if blocks.len() > MANY { 1 } else { TRIALS.len() };
        let mut best_fit = Fit::Lowest;
        for (order, fit) in TRIALS.into_iter().take(trials) {
            self.sort(blocks, order);
            if self.attempt(blocks, fit) {
                best_fit = fit;
            }
            if self.bytes <= bound {
                return bound;
            }
        }
        if trials > 1 {
            self.repair(blocks, best_fit, bound);
        }
        bound
    }

    /// The most bytes alive at one moment.
    fn bound(&mut self, blocks: &[Block]) -> u64 {
        self.changes.clear();
        for block in blocks {
            self.changes.push((block.first, i128::from(block.bytes)));
            self.changes.push((block.last.saturating_add(1), -i128::from(block.bytes)));
        }
        // What ends at a moment has gone before anything begins there.
        self.changes.sort_unstable();
        let mut alive = 0;
        let most = self.changes.iter().map(|(_, change)| {
            alive += change;
            alive
        });
        u64::try_from(most.max().unwrap_or(0)).unwrap_or(u64::MAX)
    }

    fn sort(&mut self, blocks: &[Block], order: Order) {
        self.order.clear();
        self.order.extend(0..blocks.len() as u32);
        self.order.sort_unstable_by_key(|&index| {
            let block = &blocks[index as usize];
            let (first, second) = match order {
                Order::Size => (Reverse(block.bytes), Reverse(block.span())),
                Order::Span => (Reverse(block.span()), Reverse(block.bytes)),
                Order::Area => (Reverse(block.bytes.saturating_mul(block.span())), Reverse(block.bytes)),
                Order::Begin => (Reverse(u64::from(u32::MAX - block.first)), Reverse(block.bytes)),
            };
            (first, second, index)
        });
    }

    /// Places the blocks in the present order and keeps the result if it is the best; whether it is.
    fn attempt(&mut self, blocks: &[Block], fit: Fit) -> bool {
        let mut top = 0;
        self.trial.clear();
        self.trial.resize(blocks.len(), 0);
        for position in 0..self.order.len() {
            let index = self.order[position] as usize;
            let block = &blocks[index];
            self.taken.clear();
            for &other in &self.order[..position] {
                let other = other as usize;
                if blocks[other].meets(block) {
                    self.taken.push((self.trial[other], self.trial[other] + blocks[other].bytes));
                }
            }
            self.taken.sort_unstable();
            let offset = gap(&self.taken, block, fit);
            self.trial[index] = offset;
            top = top.max(offset + block.bytes);
            if top >= self.bytes {
                return false;
            }
        }
        self.bytes = top;
        self.offsets.clone_from(&self.trial);
        self.best_order.clone_from(&self.order);
        true
    }

    /// Tries what stands on top first.
    fn repair(&mut self, blocks: &[Block], fit: Fit, bound: u64) {
        self.order.clone_from(&self.best_order);
        for _ in 0..REPAIRS {
            let on_top =
                |&index: &u32| self.offsets[index as usize] + blocks[index as usize].bytes == self.bytes;
            let Some(position) = self.order.iter().position(on_top) else { return };
            if position == 0 {
                return;
            }
            self.order[..=position].rotate_right(1);
            self.attempt(blocks, fit);
            if self.bytes <= bound {
                return;
            }
        }
    }
}

/// The offset of a gap between taken ranges, which are sorted and may overlap, or of what is above them.
fn gap(taken: &[(u64, u64)], block: &Block, fit: Fit) -> u64 {
    let align = |offset: u64| offset.next_multiple_of(block.alignment.max(1));
    let mut best: Option<(u64, u64)> = None;
    let mut free = 0;
    for &(start, end) in taken {
        let offset = align(free);
        if offset + block.bytes <= start {
            match fit {
                Fit::Lowest => return offset,
                Fit::Tightest => {
                    let rest = start - free - block.bytes;
                    if best.is_none_or(|(least, _)| rest < least) {
                        best = Some((rest, offset));
                    }
                }
            }
        }
        free = free.max(end);
    }
    best.map_or(align(free), |(_, offset)| offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn block(bytes: u64, first: u32, last: u32) -> Block {
        Block { bytes, alignment: 1, first, last }
    }

    /// The heap's size and the bound, after a check that the packing is one.
    fn packed(blocks: &[Block]) -> (u64, u64) {
        let mut packing = Packing::default();
        let bound = packing.run(blocks);
        for (index, (block, &offset)) in blocks.iter().zip(&packing.offsets).enumerate() {
            assert_eq!(offset % block.alignment, 0, "block {index}");
            assert!(offset + block.bytes <= packing.bytes, "block {index}");
            for (other, &at) in blocks.iter().zip(&packing.offsets).take(index) {
                let apart = offset + block.bytes <= at || at + other.bytes <= offset;
                assert!(apart || !block.meets(other), "{block:?} at {offset}, {other:?} at {at}");
            }
        }
        assert!(packing.bytes >= bound);
        (packing.bytes, bound)
    }

    #[test]
    fn one_after_the_other_is_as_large_as_the_largest() {
        assert_eq!(packed(&[]), (0, 0));
        assert_eq!(packed(&[block(4, 0, 1), block(8, 2, 3), block(2, 4, 9)]), (8, 8));
        // Passes 2..5 use A, 6..9 use B; and A is read once more after B begins.
        assert_eq!(packed(&[block(4, 2, 5), block(4, 6, 9)]), (4, 4));
        assert_eq!(packed(&[block(4, 2, 6), block(4, 6, 9)]), (8, 8));
    }

    #[test]
    fn alignment_is_kept() {
        let aligned = |bytes, alignment| Block { bytes, alignment, first: 0, last: 0 };
        assert_eq!(packed(&[aligned(100, 256), aligned(100, 256), aligned(100, 64)]).0, 356);
    }

    #[test]
    fn a_chain_needs_two_neighbours() {
        let chain: Vec<_> = (0..40).map(|n| block((8 * MIB) >> (n % 5), n, n + 1)).collect();
        let (bytes, bound) = packed(&chain);
        assert_eq!((bytes, bound), (12 * MIB, 12 * MIB));
    }

    #[test]
    fn many_blocks_are_packed_too() {
        let many: Vec<_> = (0..2000u32).map(|n| block(u64::from(n % 7 + 1), n, n + n % 5)).collect();
        let (bytes, bound) = packed(&many);
        assert!(bytes <= bound * 2, "{bytes} of {bound}");
    }

    proptest! {
        #[test]
        fn any_blocks_are_apart_and_close_to_the_bound(
            blocks in proptest::collection::vec((1..64u64, 0..5u32, 0..24u32, 0..12u32), 0..40),
        ) {
            let blocks: Vec<_> = blocks
                .into_iter()
                .map(|(bytes, shift, first, span)| Block { bytes, alignment: 1 << shift, first, last: first + span })
                .collect();
            let (bytes, _) = packed(&blocks);
            prop_assert!(bytes <= blocks.iter().map(|block| block.bytes + block.alignment).sum());
            prop_assert_eq!(packed(&blocks).0, bytes, "the same every time");
        }
    }
}
