//! Memory that is really there: bytes for buffers, and bytes for each mip, layer and aspect of textures.
//!
//! Fresh memory and contents that became undefined hold [`POISON`], so that a read of something nobody wrote shows.

use crate::backend::NativeBinding;
use crate::desc::{TextureDesc, mip_size};
use crate::plan::{Aspects, Layout, TextureRange};
use crate::types::{Extent3d, Origin3d, TextureAspect, TextureDimension, TextureFormat};

/// What fresh and undefined memory is filled with.
pub const POISON: u8 = 0xCD;

/// What slots name when memory is real; tables by slot.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub buffers: Vec<Option<Vec<u8>>>,
    pub textures: Vec<Option<TextureMemory>>,
    pub views: Vec<Option<ViewMemory>>,
    /// The views of each group, with the layout that was promised.
    pub groups: Vec<Option<Vec<(u32, Layout)>>>,
    pub queries: Vec<Option<QueryMemory>>,
}

/// A query set's values, so many words for each query. What was not written has none.
#[derive(Debug)]
pub(super) struct QueryMemory {
    pub words: usize,
    pub values: Vec<Option<u64>>,
}

impl QueryMemory {
    /// The words of some queries.
    pub fn of(&mut self, first: u32, count: u32) -> &mut [Option<u64>] {
        let range = first as usize * self.words..(first as usize + count as usize) * self.words;
        self.values.get_mut(range).unwrap_or_default()
    }
}

impl Memory {
    /// How many slots hold something.
    pub fn held(&self) -> usize {
        fn of<T>(table: &[Option<T>]) -> usize {
            table.iter().flatten().count()
        }
        let Self { buffers, textures, views, groups, queries } = self;
        of(buffers) + of(textures) + of(views) + of(groups) + of(queries)
    }
}

/// Puts a value into a table, which grows as needed.
pub(super) fn put<T>(table: &mut Vec<Option<T>>, slot: u32, value: Option<T>) {
    let slot = slot as usize;
    if table.len() <= slot {
        table.resize_with(slot + 1, || None);
    }
    table[slot] = value;
}

/// The value in a slot.
pub(super) fn get<T>(table: &[Option<T>], slot: u32) -> Option<&T> {
    table.get(slot as usize)?.as_ref()
}

/// The value in a slot.
pub(super) fn get_mut<T>(table: &mut [Option<T>], slot: u32) -> Option<&mut T> {
    table.get_mut(slot as usize)?.as_mut()
}

/// A byte range as slices want it. What does not fit the address space is out of every slice's range.
pub(super) fn bytes(offset: u64, size: u64) -> std::ops::Range<usize> {
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    at(offset)..at(offset.saturating_add(size))
}

/// The views among a group's bindings.
pub(super) fn bound_views(bindings: &[NativeBinding]) -> Vec<(u32, Layout)> {
    let view = |binding: &NativeBinding| match *binding {
        NativeBinding::Texture { view, layout } => Some((view, layout)),
        _ => None,
    };
    bindings.iter().filter_map(view).collect()
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ViewMemory {
    pub texture: u32,
    pub format: TextureFormat,
    pub range: TextureRange,
}

/// One aspect of one mip and layer, or of all slices of a volume's mip.
#[derive(Debug)]
pub(super) struct Image {
    pub bytes: Vec<u8>,
    pub layout: Layout,
}

#[derive(Debug)]
struct Plane {
    aspect: Aspects,
    /// Bytes of a texel block, all its samples together.
    block: usize,
    /// By mip, then by layer.
    images: Vec<Image>,
}

#[derive(Debug)]
pub(super) struct TextureMemory {
    pub size: Extent3d,
    pub dimension: TextureDimension,
    pub format: TextureFormat,
    planes: Vec<Plane>,
}

/// A box of texels in one mip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub aspects: Aspects,
    pub mip: u32,
    pub origin: Origin3d,
    pub extent: Extent3d,
    pub volume: bool,
}

impl Part {
    /// The subresources that the part touches.
    pub fn range(&self) -> TextureRange {
        let (base_layer, layers) =
            if self.volume { (0, 1) } else { (self.origin.z, self.extent.depth_or_array_layers) };
        TextureRange { aspects: self.aspects, base_mip: self.mip, mips: 1, base_layer, layers }
    }
}

/// The bytes of a texel block in one aspect. Depth that no copy may touch takes four.
pub(super) fn block_bytes(format: TextureFormat, aspect: Aspects) -> u32 {
    let aspect = match aspect {
        Aspects::DEPTH => TextureAspect::DepthOnly,
        Aspects::STENCIL => TextureAspect::StencilOnly,
        _ => TextureAspect::All,
    };
    format.block_copy_size(Some(aspect)).unwrap_or(4)
}

/// The blocks of a mip: a row, the rows of a slice, and the slices (one where layers are images of their own).
fn blocks(format: TextureFormat, size: Extent3d, dimension: TextureDimension, mip: u32) -> [usize; 3] {
    let (width, height) = format.block_dimensions();
    let mip = mip_size(size, dimension, mip);
    let slices = if dimension == TextureDimension::D3 { mip.depth_or_array_layers } else { 1 };
    [mip.width.div_ceil(width) as usize, mip.height.div_ceil(height) as usize, slices as usize]
}

/// The bytes that a texture takes, all mips, layers, aspects and samples together.
pub(super) fn texture_bytes(desc: &TextureDesc<'_>) -> u64 {
    let mut total = 0;
    for aspect in Aspects::of(desc.format, TextureAspect::All).iter() {
        let block = u64::from(block_bytes(desc.format, aspect)) * u64::from(desc.samples.max(1));
        for mip in 0..desc.mips {
            let [columns, rows, slices] = blocks(desc.format, desc.size, desc.dimension, mip);
            total += columns as u64 * rows as u64 * slices as u64 * block * u64::from(desc.layers());
        }
    }
    total
}

impl TextureMemory {
    pub fn new(desc: &TextureDesc<'_>) -> Self {
        let plane = |aspect| {
            let block = (block_bytes(desc.format, aspect) * desc.samples.max(1)) as usize;
            let mut images = Vec::with_capacity((desc.mips * desc.layers()) as usize);
            for mip in 0..desc.mips {
                let [columns, rows, slices] = blocks(desc.format, desc.size, desc.dimension, mip);
                for _ in 0..desc.layers() {
                    let bytes = vec![POISON; columns * rows * slices * block];
                    images.push(Image { bytes, layout: Layout::Undefined });
                }
            }
            Plane { aspect, block, images }
        };
        Self {
            size: desc.size,
            dimension: desc.dimension,
            format: desc.format,
            planes: Aspects::of(desc.format, TextureAspect::All).iter().map(plane).collect(),
        }
    }

    fn layers(&self) -> u32 {
        if self.dimension == TextureDimension::D3 { 1 } else { self.size.depth_or_array_layers }
    }

    /// Visits the images of a range: aspect, mip, layer and image.
    pub fn each_image(&mut self, range: TextureRange, mut visit: impl FnMut(Aspects, u32, u32, &mut Image)) {
        let stride = self.layers();
        for plane in self.planes.iter_mut().filter(|plane| range.aspects.contains(plane.aspect)) {
            for mip in range.base_mip..range.base_mip + range.mips {
                for layer in range.base_layer..range.base_layer + range.layers {
                    if let Some(image) = plane.images.get_mut((mip * stride + layer) as usize) {
                        visit(plane.aspect, mip, layer, image);
                    }
                }
            }
        }
    }

    /// Fills a range with a repeated pattern.
    pub fn fill(&mut self, range: TextureRange, pattern: &[u8]) {
        self.each_image(range, |_, _, _, image| {
            for chunk in image.bytes.chunks_mut(pattern.len().max(1)) {
                chunk.copy_from_slice(&pattern[..chunk.len()]);
            }
        });
    }

    /// Visits the block rows of a part: layer or slice, row and bytes, both counted from the part's own first.
    pub fn each_row(&mut self, part: &Part, mut visit: impl FnMut(u64, u64, &mut [u8])) {
        let (block_width, block_height) = self.format.block_dimensions();
        let [columns, rows, _] = blocks(self.format, self.size, self.dimension, part.mip);
        let (x, y) = ((part.origin.x / block_width) as usize, (part.origin.y / block_height) as usize);
        let width = part.extent.width.div_ceil(block_width) as usize;
        let height = part.extent.height.div_ceil(block_height) as usize;
        let stride = self.layers();
        for plane in self.planes.iter_mut().filter(|plane| part.aspects.contains(plane.aspect)) {
            let block = plane.block;
            for layer in 0..part.extent.depth_or_array_layers {
                let z = part.origin.z + layer;
                let (image, slice) = if part.volume { (part.mip, z) } else { (part.mip * stride + z, 0) };
                let Some(image) = plane.images.get_mut(image as usize) else { continue };
                for row in 0..height {
                    let start = ((slice as usize * rows + y + row) * columns + x) * block;
                    if let Some(bytes) = image.bytes.get_mut(start..start + width * block) {
                        visit(u64::from(layer), row as u64, bytes);
                    }
                }
            }
        }
    }
}
