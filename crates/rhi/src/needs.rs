//! What a device request needs of formats, and a need that is not met, as data.

use crate::caps::{Features, FormatUses, UnmetLimit};
use crate::formats::{FormatCapabilities, FormatShape};
use crate::types::{Extent3d, TextureDimension, TextureFormat};

/// A format with the uses that a program needs of it, and the least shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRequirement {
    /// The format.
    pub format: TextureFormat,
    /// The uses that it must have.
    pub uses: FormatUses,
    /// The dimension that `extent`, `mips` and `layers` are of.
    pub dimension: TextureDimension,
    /// The least texels on each side that a texture may have; zero for any.
    pub extent: [u32; 3],
    /// The least mips that a texture may have.
    pub mips: u32,
    /// The least layers that a texture may have.
    pub layers: u32,
}

impl FormatRequirement {
    /// The uses, of a flat texture of any size.
    pub const fn new(format: TextureFormat, uses: FormatUses) -> Self {
        Self { format, uses, dimension: TextureDimension::D2, extent: [0; 3], mips: 0, layers: 0 }
    }

    /// The same with textures of a dimension and at least this size.
    pub const fn with_extent(self, dimension: TextureDimension, extent: [u32; 3]) -> Self {
        Self { dimension, extent, ..self }
    }

    /// The first part that a row of the format table does not meet.
    pub fn first_unmet(&self, row: &FormatCapabilities) -> Option<Unmet> {
        if !row.uses.contains(self.uses) {
            let (format, requested, available) = (self.format, self.uses, row.uses);
            return Some(Unmet::FormatUse { format, requested, available });
        }
        let shape = row.shape(self.dimension);
        let least = [self.extent[0], self.extent[1], self.extent[2], self.mips, self.layers];
        let most = shape.map_or(
            [0; 5],
            |FormatShape { extent: Extent3d { width, height, depth_or_array_layers }, mips, layers }| {
                [width, height, depth_or_array_layers, mips, layers]
            },
        );
        let axes = [Axis::Width, Axis::Height, Axis::Depth, Axis::Mips, Axis::Layers];
        let over = (0..5).find(|index| least[*index] > most[*index]);
        // A dimension that the format does not have at all is too small on every side.
        let index = over.or_else(|| shape.is_none().then_some(0))?;
        Some(Unmet::FormatShape {
            format: self.format,
            dimension: self.dimension,
            axis: axes[index],
            requested: least[index].max(1),
            available: most[index],
        })
    }
}

/// What is counted of a texture's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Texels of a row.
    Width,
    /// Texels of a column.
    Height,
    /// Slices of a volume.
    Depth,
    /// Mips.
    Mips,
    /// Array layers.
    Layers,
}

/// A need that is not met, as data: what was asked for and what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unmet {
    /// The first feature that the adapter lacks.
    Feature(Features),
    /// The first limit that the adapter does not reach.
    Limit(UnmetLimit),
    /// A format lacks some of the uses.
    FormatUse {
        /// The format.
        format: TextureFormat,
        /// All the uses that were asked for.
        requested: FormatUses,
        /// All that are there.
        available: FormatUses,
    },
    /// Textures of a format are smaller than was asked for.
    FormatShape {
        /// The format.
        format: TextureFormat,
        /// The dimension.
        dimension: TextureDimension,
        /// The first side or count that is too small.
        axis: Axis,
        /// The least that was asked for.
        requested: u32,
        /// The most that is there; zero where the format has no textures of the dimension.
        available: u32,
    },
}

impl Unmet {
    /// The capability by name: the feature, the limit, or the first missing use of the format.
    pub fn capability(&self) -> String {
        match self {
            Unmet::Feature(feature) => format!("feature {}", feature.names()),
            Unmet::Limit(limit) => format!("limit {}", limit.field),
            Unmet::FormatUse { format, requested, available } => {
                let first = (*requested - *available).iter_names().next().map_or("no", |(name, _)| name);
                format!("{first} use of {format:?}")
            }
            Unmet::FormatShape { format, dimension, axis, .. } => {
                format!("{dimension:?} {axis:?} of {format:?}")
            }
        }
    }

    /// Both values in words.
    pub fn detail(&self) -> String {
        match self {
            Unmet::Feature(feature) => format!("{} required", feature.names()),
            Unmet::Limit(UnmetLimit { requested, available, .. }) => {
                format!("{requested} required, {available} available")
            }
            Unmet::FormatUse { requested, available, .. } => {
                format!("{} required, {} available", requested.names(), available.names())
            }
            Unmet::FormatShape { requested, available, .. } => {
                format!("{requested} required, {available} available")
            }
        }
    }
}
