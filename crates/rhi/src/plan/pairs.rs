//! Sets of (stage, access) pairs: what a scope really says.
//!
//! A [`Scope`] is two masks, and a dependency holds for every *meaningful* combination of the two: a vertex fetch in
//! an index stage does not exist, a uniform read in a fragment stage does. Two scopes must therefore not be
//! compared or united mask by mask: (compute, uniform) and (fragment, sampled) have a union that also speaks of
//! (compute, sampled). Every meaningful pair has one bit here, so unions are exact.

use super::access::{Access, Scope, Stages};

/// A set of (stage, access) pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pairs(u32);

/// For each stage bit, in order: the shift and mask of its accesses in [`Access`], and where its pairs start.
const FIELDS: [(u32, u32, u32); 11] = [
    (0, 0b1, 0),     // DRAW_INDIRECT
    (1, 0b1, 1),     // INDEX_INPUT
    (2, 0b1, 2),     // VERTEX_INPUT
    (3, 0b1111, 3),  // VERTEX_SHADER: uniform, sampled, storage read, storage write
    (3, 0b1111, 7),  // FRAGMENT_SHADER
    (9, 0b11, 11),   // EARLY_TESTS
    (9, 0b11, 13),   // LATE_TESTS
    (7, 0b11, 15),   // COLOR_OUTPUT
    (3, 0b1111, 17), // COMPUTE_SHADER
    (11, 0b11, 21),  // TRANSFER
    (13, 0b1, 23),   // HOST
];

impl Pairs {
    /// No pair.
    pub(super) const NONE: Pairs = Pairs(0);

    /// Every meaningful pair of the scope.
    #[inline]
    pub(super) fn of(scope: Scope) -> Pairs {
        let access = u32::from(scope.access.bits());
        let mut stages = scope.stages.bits();
        let mut pairs = 0;
        while stages != 0 {
            let (shift, mask, to) = FIELDS[stages.trailing_zeros() as usize];
            pairs |= ((access >> shift) & mask) << to;
            stages &= stages - 1;
        }
        Pairs(pairs)
    }

    /// Whether every pair of `other` is in the set.
    #[inline]
    pub(super) fn contains(self, other: Pairs) -> bool {
        self.0 & other.0 == other.0
    }

    /// The pairs of both sets.
    #[inline]
    pub(super) fn union(self, other: Pairs) -> Pairs {
        Pairs(self.0 | other.0)
    }

    /// The pairs common to both sets.
    pub(super) fn intersection(self, other: Pairs) -> Pairs {
        Pairs(self.0 & other.0)
    }
}

/// The union of two scopes when two masks can express it exactly.
pub(super) fn exact_union(a: Scope, b: Scope) -> Option<Scope> {
    let both = a.union(b);
    (Pairs::of(both) == Pairs::of(a).union(Pairs::of(b))).then_some(both)
}

// A new stage or access must be given its pairs above.
const _: () = assert!(Stages::all().bits() == (1 << 11) - 1 && Access::all().bits() == (1 << 14) - 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_the_meaningful_combinations() {
        let shader =
            Access::UNIFORM_READ | Access::SAMPLED_READ | Access::STORAGE_READ | Access::STORAGE_WRITE;
        let tests = Access::DEPTH_STENCIL_READ | Access::DEPTH_STENCIL_WRITE;
        let meaningful = [
            (Stages::DRAW_INDIRECT, Access::INDIRECT_READ),
            (Stages::INDEX_INPUT, Access::INDEX_READ),
            (Stages::VERTEX_INPUT, Access::VERTEX_READ),
            (Stages::VERTEX_SHADER, shader),
            (Stages::FRAGMENT_SHADER, shader),
            (Stages::COMPUTE_SHADER, shader),
            (Stages::EARLY_TESTS, tests),
            (Stages::LATE_TESTS, tests),
            (Stages::COLOR_OUTPUT, Access::COLOR_READ | Access::COLOR_WRITE),
            (Stages::TRANSFER, Access::TRANSFER_READ | Access::TRANSFER_WRITE),
            (Stages::HOST, Access::HOST_READ),
        ];
        let mut seen = 0;
        for (stage, accesses) in meaningful {
            for access in Access::all().iter() {
                let pair = Pairs::of(Scope::new(stage, access));
                assert_eq!(pair.0.count_ones(), u32::from(accesses.contains(access)), "{stage:?} {access:?}");
                assert_eq!(seen & pair.0, 0);
                seen |= pair.0;
            }
        }
        assert_eq!(Pairs::of(Scope::new(Stages::all(), Access::all())).0, seen);
    }

    #[test]
    fn unions_that_would_say_more_are_refused() {
        let uniform = Scope::new(Stages::COMPUTE_SHADER, Access::UNIFORM_READ);
        let sampled = Scope::new(Stages::FRAGMENT_SHADER, Access::SAMPLED_READ);
        let index = Scope::new(Stages::INDEX_INPUT, Access::INDEX_READ);
        assert_eq!(exact_union(uniform, sampled), None);
        assert_eq!(exact_union(uniform, index), Some(uniform.union(index)));
    }
}
