//! What the passes so far did to every part of a resource: a line of cells, held as runs of equal history.
//!
//! A buffer's cells are its bytes. A texture's are its subresources by aspect, then mip, then layer. The readers since
//! the last write are a chain of links that runs share, so splitting a run copies one index.

use purlin_rhi::plan::{Aspects, Part, TextureRange};
use smallvec::SmallVec;

use crate::context::{NONE, Shape};

/// Cells of one history, up to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub end: u64,
    /// The pass that wrote last, or [`NONE`].
    pub writer: u32,
    /// The chain of passes that have read since, or [`NONE`].
    pub readers: u32,
    /// The last use that touched it, or [`NONE`].
    pub touched: u32,
    /// Whether there is anything to read.
    pub defined: bool,
}

/// A whole resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs {
    runs: SmallVec<[Run; 2]>,
}

impl Runs {
    /// Makes it one run.
    pub(crate) fn reset(&mut self, shape: &Shape, defined: bool) {
        self.runs.clear();
        let end = cells(shape);
        if end > 0 {
            self.runs.push(Run { end, writer: NONE, readers: NONE, touched: NONE, defined });
        }
    }

    /// The runs that make up exactly `start..end`, which lies in the resource and is not empty.
    #[inline]
    pub(crate) fn isolate(&mut self, start: u64, end: u64) -> &mut [Run] {
        if let [run] = self.runs.as_mut_slice()
            && (start, end) == (0, run.end)
        {
            return &mut self.runs;
        }
        self.isolate_part(start, end)
    }

    fn isolate_part(&mut self, start: u64, end: u64) -> &mut [Run] {
        let mut first = self.runs.partition_point(|run| run.end <= start);
        let begins = if first == 0 { 0 } else { self.runs[first - 1].end };
        if begins < start {
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
        &mut self.runs[first..last + 1]
    }

    /// All runs in order.
    pub(crate) fn all(&self) -> &[Run] {
        &self.runs
    }

    /// Joins equal neighbours, so that a resource used as one thing again is one run again.
    pub(crate) fn coalesce(&mut self) {
        self.runs.dedup_by(|next, kept| {
            let equal = Run { end: kept.end, touched: kept.touched, ..*next } == *kept;
            if equal {
                kept.end = next.end;
            }
            equal
        });
    }
}

fn cells(shape: &Shape) -> u64 {
    match (shape, shape.whole()) {
        (_, Part::Bytes { size, .. }) => size,
        (Shape::Texture { mips, layers, aspects, .. }, _) => {
            u64::from(aspects.bits().count_ones()) * u64::from(*mips) * u64::from(*layers)
        }
        _ => 0,
    }
}

/// The part as one interval of cells, possibly empty, where it obviously is one.
#[inline]
pub(crate) fn interval(shape: &Shape, part: &Part) -> Option<(u64, u64)> {
    match (shape, *part) {
        (_, Part::Bytes { offset, size }) => Some((offset, offset + size)),
        (&Shape::Texture { mips, layers, aspects, .. }, Part::Subresources(range)) => {
            if range.aspects != aspects || range.layers != layers {
                return None;
            }
            let row = u64::from(layers);
            let one_plane = aspects.bits().is_power_of_two();
            if one_plane {
                let start = u64::from(range.base_mip) * row;
                return Some((start, start + u64::from(range.mips) * row));
            }
            let planes = u64::from(aspects.bits().count_ones());
            (range.mips == mips).then_some((0, planes * u64::from(mips) * row))
        }
        _ => None,
    }
}

/// The part as intervals of cells, few and in order.
pub(crate) fn intervals(shape: &Shape, part: &Part) -> SmallVec<[(u64, u64); 32]> {
    let mut out = SmallVec::new();
    match (shape, *part) {
        (_, Part::Bytes { size: 0, .. }) => {}
        (_, Part::Bytes { offset, size }) => out.push((offset, offset + size)),
        (&Shape::Texture { mips, layers, aspects, .. }, Part::Subresources(range)) => {
            let row = u64::from(layers);
            for (plane, aspect) in aspects.iter().enumerate() {
                if !range.aspects.contains(aspect) {
                    continue;
                }
                for mip in range.base_mip..range.base_mip + range.mips {
                    let row_start = (plane as u64 * u64::from(mips) + u64::from(mip)) * row;
                    let start = row_start + u64::from(range.base_layer);
                    let end = start + u64::from(range.layers);
                    match out.last_mut() {
                        Some((_, last)) if *last == start => *last = end,
                        _ => out.push((start, end)),
                    }
                }
            }
        }
        _ => {}
    }
    out
}

/// The part that the cells `start..end` belong to, as precisely as one part can say it.
pub(crate) fn part_at(shape: &Shape, start: u64, end: u64) -> Part {
    match *shape {
        Shape::Buffer { .. } => Part::Bytes { offset: start, size: end - start },
        Shape::Texture { mips, layers, aspects, .. } => {
            let row = u64::from(layers).max(1);
            let plane = start / row / u64::from(mips).max(1);
            let base_mip = (start / row % u64::from(mips).max(1)) as u32;
            let base_layer = (start % row) as u32;
            let count = (end - start).min(row - u64::from(base_layer)) as u32;
            let whole_rows = base_layer == 0 && end - start >= row;
            let mip_count =
                if whole_rows { ((end - start) / row).min(u64::from(mips - base_mip)) as u32 } else { 1 };
            let aspects: Aspects = aspects.iter().skip(plane as usize).take(1).collect();
            Part::Subresources(TextureRange { aspects, base_mip, mips: mip_count, base_layer, layers: count })
        }
    }
}

/// Whether every cell of `inner` is one of `outer`.
pub(crate) fn covers(outer: &Part, inner: &Part) -> bool {
    match (outer, inner) {
        (Part::Bytes { offset: a, size: n }, Part::Bytes { offset: b, size: m }) => a <= b && b + m <= a + n,
        (Part::Subresources(a), Part::Subresources(b)) => a.contains(b),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use purlin_rhi::types::{Extent3d, TextureDimension, TextureFormat};

    use super::*;

    fn shape() -> Shape {
        Shape::Texture {
            format: TextureFormat::Depth24PlusStencil8,
            size: Extent3d { width: 8, height: 8, depth_or_array_layers: 4 },
            dimension: TextureDimension::D2,
            mips: 3,
            layers: 4,
            aspects: Aspects::DEPTH | Aspects::STENCIL,
        }
    }

    #[test]
    fn parts_are_intervals_and_back() {
        let shape = shape();
        assert_eq!(intervals(&shape, &shape.whole()).as_slice(), [(0, 24)]);
        assert_eq!(interval(&shape, &shape.whole()), Some((0, 24)));
        let stencil =
            TextureRange { aspects: Aspects::STENCIL, base_mip: 1, mips: 2, base_layer: 1, layers: 2 };
        assert_eq!(intervals(&shape, &Part::Subresources(stencil)).as_slice(), [(17, 19), (21, 23)]);
        let found = part_at(&shape, 17, 19);
        assert_eq!(found, Part::Subresources(TextureRange { mips: 1, ..stencil }));
        let whole_mips = TextureRange { base_layer: 0, layers: 4, ..stencil };
        assert_eq!(part_at(&shape, 16, 24), Part::Subresources(whole_mips));
        assert_eq!(interval(&shape, &Part::Subresources(whole_mips)), None);
    }

    #[test]
    fn what_is_one_interval_is_the_same_one() {
        let whole = shape();
        let Shape::Texture { format, size, dimension, mips, layers, .. } = whole else { unreachable!() };
        let color = Shape::Texture { format, size, dimension, mips, layers, aspects: Aspects::COLOR };
        for shape in [whole, color] {
            let Shape::Texture { aspects, .. } = shape else { unreachable!() };
            for base_mip in 0..mips {
                for mips in 1..=mips - base_mip {
                    for (base_layer, layers) in [(0, 4), (0, 1), (2, 2)] {
                        let range = TextureRange { aspects, base_mip, mips, base_layer, layers };
                        let part = Part::Subresources(range);
                        let all = intervals(&shape, &part);
                        if let Some(one) = interval(&shape, &part) {
                            assert_eq!(all.as_slice(), [one]);
                        } else {
                            assert!(aspects != Aspects::COLOR || layers != 4, "{range:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn runs_split_and_join() {
        let mut runs = Runs::default();
        runs.reset(&Shape::Buffer { size: 100 }, false);
        assert_eq!(runs.isolate(20, 40).len(), 1);
        assert_eq!(runs.isolate(0, 100).len(), 3);
        runs.coalesce();
        assert_eq!(runs.all().len(), 1);
        runs.isolate(20, 40)[0].defined = true;
        runs.coalesce();
        assert_eq!(runs.all().len(), 3);
    }
}
