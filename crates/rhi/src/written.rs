//! Which parts of a texture with uploaded contents were uploaded.

use smallvec::SmallVec;

use crate::desc::{Contents, TextureDesc};
use crate::plan::{Aspects, TextureRange};
use crate::types::TextureAspect;

/// The subresources of a texture with uploaded contents that some upload was queued for.
///
/// No pass declares such a texture, so the ledger is not asked whether what is bound was ever written. This is: it
/// runs ahead of the ledger by the uploads that the next recording begins with.
#[derive(Debug)]
pub(crate) struct Written {
    /// A bit for each aspect, mip and layer, in that order; empty for tracked contents.
    bits: SmallVec<[u64; 1]>,
    mips: u32,
    layers: u32,
    aspects: Aspects,
    missing: u32,
}

impl Written {
    pub(crate) fn new(desc: &TextureDesc<'_>) -> Self {
        let (aspects, layers) = (Aspects::of(desc.format, TextureAspect::All), desc.layers());
        if desc.contents == Contents::Tracked {
            return Self { bits: SmallVec::new(), mips: desc.mips, layers, aspects, missing: 0 };
        }
        let count = aspects.bits().count_ones() * desc.mips * layers;
        let bits = SmallVec::from_elem(0, count.div_ceil(64) as usize);
        Self { bits, mips: desc.mips, layers, aspects, missing: count }
    }

    /// Whether every subresource was written, or the ledger knows.
    pub(crate) fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// Whether every subresource of the range was written.
    pub(crate) fn contains(&self, range: &TextureRange) -> bool {
        self.missing == 0 || self.cells(range).all(|(word, bit)| self.bits[word] & bit != 0)
    }

    pub(crate) fn insert(&mut self, range: &TextureRange) {
        if self.missing == 0 {
            return;
        }
        let (mut bits, mut added) = (std::mem::take(&mut self.bits), 0);
        for (word, bit) in self.cells(range) {
            added += u32::from(bits[word] & bit == 0);
            bits[word] |= bit;
        }
        self.missing -= added;
        self.bits = bits;
    }

    fn cells(&self, range: &TextureRange) -> impl Iterator<Item = (usize, u64)> {
        let (range, mips, layers) = (*range, self.mips, self.layers);
        self.aspects.iter().enumerate().filter(move |(_, aspect)| range.aspects.contains(*aspect)).flat_map(
            move |(plane, _)| {
                (range.base_mip..range.base_mip + range.mips).flat_map(move |mip| {
                    (range.base_layer..range.base_layer + range.layers).map(move |layer| {
                        let cell = (plane as u32 * mips + mip) * layers + layer;
                        ((cell / 64) as usize, 1 << (cell % 64))
                    })
                })
            },
        )
    }
}
