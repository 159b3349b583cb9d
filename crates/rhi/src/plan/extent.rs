//! The shape of a resource: how its parts map to a line of cells, and back.
//!
//! A texture's subresources are numbered by aspect, then mip, then layer. Layers come last because a texture may have
//! thousands of them but only a handful of mips and aspects: any range is then a few intervals, most often one.

use super::access::{Aspects, ResourceUse, TextureRange};

/// A buffer or a texture of a device, by slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// The buffer in this slot.
    Buffer(u32),
    /// The texture in this slot.
    Texture(u32),
}

impl Resource {
    /// The resource that a use names.
    #[inline]
    pub fn of(usage: &ResourceUse) -> Resource {
        match usage {
            ResourceUse::Buffer { buffer, .. } => Resource::Buffer(buffer.slot()),
            ResourceUse::Texture { texture, .. } => Resource::Texture(texture.slot()),
        }
    }
}

/// A part of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Bytes of a buffer.
    Bytes {
        /// The first byte.
        offset: u64,
        /// How many bytes.
        size: u64,
    },
    /// Subresources of a texture.
    Subresources(TextureRange),
}

impl Part {
    /// The part that a use names.
    #[inline]
    pub fn of(usage: &ResourceUse) -> Part {
        match *usage {
            ResourceUse::Buffer { offset, size, .. } => Part::Bytes { offset, size },
            ResourceUse::Texture { range, .. } => Part::Subresources(range),
        }
    }

    /// Whether the two parts share a byte or a subresource.
    pub fn overlaps(&self, other: &Part) -> bool {
        match (*self, *other) {
            (Part::Bytes { offset: a, size: n }, Part::Bytes { offset: b, size: m }) => {
                a < b.saturating_add(m) && b < a.saturating_add(n)
            }
            (Part::Subresources(a), Part::Subresources(b)) => a.overlaps(&b),
            _ => false,
        }
    }
}

/// How large a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// So many bytes.
    Bytes(u64),
    /// So many subresources.
    Subresources { aspects: Aspects, mips: u32, layers: u32 },
}

impl Extent {
    /// How many cells there are.
    #[inline]
    pub(super) fn cells(self) -> u64 {
        match self {
            Extent::Bytes(size) => size,
            Extent::Subresources { aspects, mips, layers } => {
                u64::from(aspects.bits().count_ones()) * u64::from(mips) * u64::from(layers)
            }
        }
    }

    /// Whether the part lies in the resource. An empty range of bytes may, an empty range of subresources does not.
    #[inline]
    pub(super) fn contains(self, part: &Part) -> bool {
        match (self, *part) {
            (Extent::Bytes(total), Part::Bytes { offset, size }) => {
                offset.checked_add(size).is_some_and(|end| end <= total)
            }
            (Extent::Subresources { aspects, mips, layers }, Part::Subresources(range)) => {
                let fits = |base: u32, count: u32, total: u32| {
                    count > 0 && base.checked_add(count).is_some_and(|end| end <= total)
                };
                !range.aspects.is_empty()
                    && aspects.contains(range.aspects)
                    && fits(range.base_mip, range.mips, mips)
                    && fits(range.base_layer, range.layers, layers)
            }
            _ => false,
        }
    }

    /// Whether the range is all of a texture.
    #[inline]
    pub(super) fn is_whole_texture(self, range: &TextureRange) -> bool {
        match self {
            Extent::Subresources { aspects, mips, layers } => {
                *range == TextureRange { aspects, base_mip: 0, mips, base_layer: 0, layers }
            }
            Extent::Bytes(_) => false,
        }
    }

    /// The part as intervals of cells, in order. The part lies in the resource.
    #[inline]
    pub(super) fn intervals(self, part: Part) -> Intervals {
        match (self, part) {
            (Extent::Subresources { aspects, mips, layers }, Part::Subresources(range)) => {
                let plane = u64::from(mips) * u64::from(layers);
                let row = u64::from(layers);
                let first = u64::from(range.base_mip) * row + u64::from(range.base_layer);
                // Whole rows follow each other without a gap, and so do whole planes.
                let (length, rows) = if range.layers == layers {
                    (u64::from(range.mips) * row, 1)
                } else {
                    (u64::from(range.layers), range.mips)
                };
                if length == plane && range.aspects == aspects {
                    return Intervals::one(0, self.cells());
                }
                let planes = planes_of(aspects, range.aspects);
                Intervals { first, length, row, rows, next_row: 0, plane, planes }
            }
            (_, Part::Bytes { offset, size }) => Intervals::one(offset, size),
            _ => Intervals::one(0, 0),
        }
    }

    /// The cells `start..end` as parts, fewest first come.
    pub(super) fn parts(self, mut start: u64, end: u64, mut each: impl FnMut(Part)) {
        let Extent::Subresources { aspects, mips, layers } = self else {
            each(Part::Bytes { offset: start, size: end - start });
            return;
        };
        let row = u64::from(layers);
        while start < end {
            let plane = (start / row / u64::from(mips)) as u32;
            let mip = (start / row % u64::from(mips)) as u32;
            let layer = (start % row) as u32;
            let rows = (end - start) / row;
            let (planes, mip_count, layer_count) = if layer != 0 || rows == 0 {
                (1, 1, (end - start).min(row - u64::from(layer)) as u32)
            } else if mip != 0 || rows < u64::from(mips) {
                (1, rows.min(u64::from(mips - mip)) as u32, layers)
            } else {
                ((rows / u64::from(mips)) as u32, mips, layers)
            };
            each(Part::Subresources(TextureRange {
                aspects: aspects_of(aspects, plane, planes),
                base_mip: mip,
                mips: mip_count,
                base_layer: layer,
                layers: layer_count,
            }));
            start += u64::from(planes) * u64::from(mip_count) * u64::from(layer_count);
        }
    }

    /// Whether the cells `start..end` share one with the part.
    #[inline]
    pub(super) fn overlap(self, start: u64, end: u64, part: Part) -> bool {
        self.intervals(part).any(|(a, b)| start < b && a < end)
    }
}

/// A bit for each plane (the aspects of the texture in order) that `selected` has.
fn planes_of(all: Aspects, selected: Aspects) -> u8 {
    let mut planes = 0;
    for (plane, aspect) in all.iter().enumerate() {
        planes |= u8::from(selected.contains(aspect)) << plane;
    }
    planes
}

/// The aspects of `count` planes from `first` on.
fn aspects_of(all: Aspects, first: u32, count: u32) -> Aspects {
    all.iter().skip(first as usize).take(count as usize).collect()
}

/// Intervals of cells, in order.
pub(super) struct Intervals {
    first: u64,
    length: u64,
    row: u64,
    rows: u32,
    next_row: u32,
    plane: u64,
    planes: u8,
}

impl Intervals {
    #[inline]
    fn one(first: u64, length: u64) -> Self {
        Intervals { first, length, row: 0, rows: 1, next_row: 0, plane: 0, planes: u8::from(length > 0) }
    }
}

impl Iterator for Intervals {
    type Item = (u64, u64);

    #[inline]
    fn next(&mut self) -> Option<(u64, u64)> {
        if self.planes == 0 {
            return None;
        }
        let plane = u64::from(self.planes.trailing_zeros());
        let start = self.first + plane * self.plane + u64::from(self.next_row) * self.row;
        self.next_row += 1;
        if self.next_row == self.rows {
            self.next_row = 0;
            self.planes &= self.planes - 1;
        }
        Some((start, start + self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_intervals_agree_with_counting() {
        let all = Aspects::DEPTH | Aspects::STENCIL;
        let extent = Extent::Subresources { aspects: all, mips: 3, layers: 4 };
        let cell = |aspect: u64, mip: u64, layer: u64| (aspect * 3 + mip) * 4 + layer;
        for aspects in [Aspects::DEPTH, Aspects::STENCIL, all] {
            for (base_mip, mips) in [(0, 3), (0, 1), (1, 2), (2, 1)] {
                for (base_layer, layers) in [(0, 4), (1, 2), (3, 1)] {
                    let range = TextureRange { aspects, base_mip, mips, base_layer, layers };
                    let mut expected = Vec::new();
                    for (plane, aspect) in all.iter().enumerate() {
                        for mip in base_mip..base_mip + mips {
                            for layer in base_layer..base_layer + layers {
                                if aspects.contains(aspect) {
                                    expected.push(cell(plane as u64, u64::from(mip), u64::from(layer)));
                                }
                            }
                        }
                    }
                    let found: Vec<u64> =
                        extent.intervals(Part::Subresources(range)).flat_map(|(a, b)| a..b).collect();
                    assert_eq!(found, expected, "{range:?}");
                }
            }
        }
        for start in 0..24 {
            for end in start + 1..=24 {
                let mut found = Vec::new();
                extent.parts(start, end, |part| {
                    found.extend(extent.intervals(part).flat_map(|(a, b)| a..b));
                });
                assert_eq!(found, (start..end).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_whole_texture_is_one_interval_and_one_part() {
        let all = Aspects::DEPTH | Aspects::STENCIL;
        let extent = Extent::Subresources { aspects: all, mips: 3, layers: 4 };
        let range = TextureRange { aspects: all, base_mip: 0, mips: 3, base_layer: 0, layers: 4 };
        assert_eq!(extent.intervals(Part::Subresources(range)).collect::<Vec<_>>(), [(0, 24)]);
        let mut parts = Vec::new();
        extent.parts(0, 24, |part| parts.push(part));
        assert_eq!(parts, [Part::Subresources(range)]);
    }
}
