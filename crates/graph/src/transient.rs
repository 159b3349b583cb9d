//! Descriptions of what the graph makes and imports.

use purlin_rhi::TextureDesc;
use purlin_rhi::types::{BufferUsages, Extent3d, TextureDimension, TextureFormat, TextureUsages};

/// A texture that lives within the frame. The graph derives its usages from the passes that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransientTexture {
    pub(crate) format: TextureFormat,
    pub(crate) size: Extent3d,
    pub(crate) dimension: TextureDimension,
    pub(crate) mips: u32,
    pub(crate) samples: u32,
    pub(crate) usage: TextureUsages,
}

impl TransientTexture {
    /// A 2D texture with one mip and one layer.
    pub const fn d2(format: TextureFormat, width: u32, height: u32) -> Self {
        Self {
            format,
            size: Extent3d { width, height, depth_or_array_layers: 1 },
            dimension: TextureDimension::D2,
            mips: 1,
            samples: 1,
            usage: TextureUsages::empty(),
        }
    }

    /// A volume with one mip.
    pub const fn d3(format: TextureFormat, width: u32, height: u32, depth: u32) -> Self {
        Self {
            size: Extent3d { width, height, depth_or_array_layers: depth },
            dimension: TextureDimension::D3,
            ..Self::d2(format, width, height)
        }
    }

    /// The same with this many mips.
    pub const fn mips(self, mips: u32) -> Self {
        Self { mips, ..self }
    }

    /// The same with all mips down to one texel.
    pub fn all_mips(self) -> Self {
        Self { mips: purlin_rhi::full_mip_count(self.size, self.dimension), ..self }
    }

    /// The same with this many array layers; only of a 2D texture.
    pub const fn layers(self, layers: u32) -> Self {
        Self { size: Extent3d { depth_or_array_layers: layers, ..self.size }, ..self }
    }

    /// The same with this many samples a texel: an attachment that a pass [resolves](crate::RenderBuilder::resolve), or that
    /// shaders read by sample.
    pub const fn samples(self, samples: u32) -> Self {
        Self { samples, ..self }
    }

    /// The same with usages beyond those that the passes show: for a texture that is exported and used elsewhere.
    pub const fn usage(self, usage: TextureUsages) -> Self {
        Self { usage: self.usage.union(usage), ..self }
    }

    pub(crate) fn array_layers(&self) -> u32 {
        match self.dimension {
            TextureDimension::D3 => 1,
            _ => self.size.depth_or_array_layers,
        }
    }

    pub(crate) fn desc<'a>(&self, label: &'a str, usage: TextureUsages) -> TextureDesc<'a> {
        let Extent3d { width, height, .. } = self.size;
        let mut desc = TextureDesc::d2(label, width, height, self.format, usage);
        desc.size = self.size;
        desc.dimension = self.dimension;
        desc.mips = self.mips;
        desc.samples = self.samples;
        desc
    }
}

/// A buffer that lives within the frame. The graph derives its usages from the passes that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransientBuffer {
    pub(crate) size: u64,
    pub(crate) usage: BufferUsages,
}

impl TransientBuffer {
    /// A buffer of this many bytes.
    pub const fn new(size: u64) -> Self {
        Self { size, usage: BufferUsages::empty() }
    }

    /// The same with usages beyond those that the passes show: for a buffer that is exported and used elsewhere.
    pub const fn usage(self, usage: BufferUsages) -> Self {
        Self { usage: self.usage.union(usage), ..self }
    }
}

/// What is known of an imported texture when it is declared, where the graph has no device to ask. Only
/// [`split_mips`](crate::TextureVersion::split_mips) and `split_layers` need it; everything else is read from the
/// device when the graph compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportTexture {
    pub(crate) mips: u32,
    pub(crate) layers: u32,
}

impl Default for ImportTexture {
    fn default() -> Self {
        Self { mips: 1, layers: 1 }
    }
}

impl ImportTexture {
    /// A texture with one mip and one layer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with this many mips.
    pub const fn mips(self, mips: u32) -> Self {
        Self { mips, ..self }
    }

    /// The same with this many array layers.
    pub const fn layers(self, layers: u32) -> Self {
        Self { layers, ..self }
    }
}
