//! Which parts of a texture have contents: a query, so that a program can show mips while others are still to come.

use smallvec::SmallVec;

use crate::backend::Backend;
use crate::create::mip_bytes;
use crate::desc::{Contents, mip_size};
use crate::device::Device;
use crate::error::Result;
use crate::handle::Texture;
use crate::plan::TextureRange;

/// The mips and layers of a texture that have contents, as the next recording finds them: what submitted work and queued
/// uploads write counts, whether the GPU is done with it or not (see [`Device::upload_state`]).
///
/// Contents are a matter of what may be read, not of memory: all of a texture's memory is there from its creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextureResidency {
    mips: u32,
    layers: u32,
    /// A bit for each mip and layer, in that order.
    bits: SmallVec<[u64; 2]>,
    bytes: u64,
}

impl TextureResidency {
    /// Mips of the texture, with contents or without.
    pub fn mips(&self) -> u32 {
        self.mips
    }

    /// Array layers of the texture; one for a volume.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// Whether a mip of a layer has contents, in all its aspects. False for one that the texture does not have.
    pub fn contains(&self, mip: u32, layer: u32) -> bool {
        let cell = mip as usize * self.layers as usize + layer as usize;
        mip < self.mips && layer < self.layers && self.bits[cell / 64] >> (cell % 64) & 1 == 1
    }

    /// A bit for each mip that has contents in every layer, mip zero lowest.
    pub fn mask(&self) -> u32 {
        let whole = |mip: &u32| (0..self.layers).all(|layer| self.contains(*mip, layer));
        (0..self.mips).filter(whole).fold(0, |mask, mip| mask | 1 << mip)
    }

    /// Whether everything has contents, so that a view of the whole texture may be sampled.
    pub fn is_complete(&self) -> bool {
        (0..self.mips).all(|mip| self.mask() >> mip & 1 == 1)
    }

    /// The bytes of the parts that have contents, without alignment.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<B: Backend> Device<B> {
    /// Which mips and layers of a texture have contents.
    ///
    /// A view of only those may be sampled while the others wait for theirs.
    ///
    /// # Errors
    /// A stale or foreign handle.
    pub fn texture_residency(&self, texture: Texture) -> Result<TextureResidency> {
        let record = self.registry.textures.check(texture, || "texture_residency".into())?;
        let (mips, layers) = (record.mips, record.layers());
        let mut found = TextureResidency {
            mips,
            layers,
            bits: SmallVec::from_elem(0, (mips as usize * layers as usize).div_ceil(64)),
            bytes: 0,
        };
        for mip in 0..mips {
            let size = mip_size(record.size, record.dimension, mip);
            let bytes =
                mip_bytes(record.format, record.dimension, size).unwrap_or(0) * u64::from(record.samples);
            for layer in 0..layers {
                let range = TextureRange {
                    aspects: record.aspects(),
                    base_mip: mip,
                    mips: 1,
                    base_layer: layer,
                    layers: 1,
                };
                let there = match record.contents {
                    Contents::Uploaded => record.written.contains(&range),
                    // One upload writes one aspect.
                    Contents::Tracked => record.aspects().iter().all(|aspects| {
                        let range = TextureRange { aspects, ..range };
                        self.ledger.texture_defined(texture.slot(), &range)
                            || self.uploads.carries(texture, &range)
                    }),
                };
                if there {
                    let cell = mip as usize * layers as usize + layer as usize;
                    found.bits[cell / 64] |= 1 << (cell % 64);
                    found.bytes += bytes;
                }
            }
        }
        Ok(found)
    }
}
