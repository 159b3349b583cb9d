//! Texture versions, their parts, and the traits by which both are bound.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

use purlin_rhi::types::TextureAspect;

use super::sealed::{ResourceRef, Sealed};
use super::{AsResource, AsResourceMut};

/// Names a texture of one graph. It borrows nothing, so bodies keep it to find the physical texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextureId {
    pub(crate) graph: u32,
    pub(crate) index: u32,
}

/// A texture or a part of one. Counts of zero mean "the rest".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureRef {
    pub(crate) id: TextureId,
    pub(crate) base_mip: u32,
    pub(crate) mips: u32,
    pub(crate) base_layer: u32,
    pub(crate) layers: u32,
    pub(crate) aspect: TextureAspect,
}

impl TextureRef {
    /// Whether it is the same part, if of another graph.
    #[inline]
    pub(crate) fn same(&self, new: &Self) -> bool {
        Self { id: new.id, ..*self } == *new && self.id.index == new.id.index
    }

    fn mips(self, range: Range<u32>) -> Self {
        let (base, count) = narrow(self.base_mip, self.mips, range);
        Self { base_mip: base, mips: count, ..self }
    }

    fn layers(self, range: Range<u32>) -> Self {
        let (base, count) = narrow(self.base_layer, self.layers, range);
        Self { base_layer: base, layers: count, ..self }
    }
}

/// A part of a range whose count may be open. An empty or overlong part keeps a count that the compile step refuses.
fn narrow(base: u32, count: u32, part: Range<u32>) -> (u32, u32) {
    let length = part.end.saturating_sub(part.start);
    let inside = count == 0 || part.end <= count;
    let count = if length == 0 || !inside { u32::MAX } else { length };
    (base.saturating_add(part.start), count)
}

/// Something that a pass can read as a texture.
pub trait AsTexture: AsResource {
    #[doc(hidden)]
    fn texture_ref(&self) -> TextureRef;
}

/// Something that a pass can write as a texture.
pub trait AsTextureMut: AsTexture + AsResourceMut {}

/// A texture of the graph as of the last pass that borrowed it mutably. See the [module](super).
#[derive(Debug)]
#[must_use = "a version that no pass borrows is never made"]
pub struct TextureVersion {
    whole: TextureRef,
    /// As far as they are known at declaration: one of an import that does not say.
    mips: u32,
    layers: u32,
}

impl TextureVersion {
    pub(crate) fn new(id: TextureId, mips: u32, layers: u32) -> Self {
        let aspect = TextureAspect::All;
        let whole = TextureRef { id, base_mip: 0, mips: 0, base_layer: 0, layers: 0, aspect };
        Self { whole, mips, layers }
    }

    /// The texture's name, for bodies.
    pub fn id(&self) -> TextureId {
        self.whole.id
    }

    /// One mip, to read.
    pub fn mip(&self, mip: u32) -> TextureSlice<'_> {
        TextureSlice::new(self.whole.mips(mip..mip.saturating_add(1)))
    }

    /// One array layer, to read.
    pub fn layer(&self, layer: u32) -> TextureSlice<'_> {
        TextureSlice::new(self.whole.layers(layer..layer.saturating_add(1)))
    }

    /// Some mips and layers, to read.
    pub fn part(&self, mips: Range<u32>, layers: Range<u32>) -> TextureSlice<'_> {
        TextureSlice::new(self.whole.mips(mips).layers(layers))
    }

    /// One aspect of a depth-stencil texture, to read.
    pub fn aspect(&self, aspect: TextureAspect) -> TextureSlice<'_> {
        TextureSlice::new(TextureRef { aspect, ..self.whole })
    }

    /// One mip, to write.
    pub fn mip_mut(&mut self, mip: u32) -> TexturePart<'_> {
        TexturePart::new(self.whole.mips(mip..mip.saturating_add(1)), 1, self.layers)
    }

    /// One array layer, to write.
    pub fn layer_mut(&mut self, layer: u32) -> TexturePart<'_> {
        TexturePart::new(self.whole.layers(layer..layer.saturating_add(1)), self.mips, 1)
    }

    /// Every mip as a part of its own, so that a pass can read one and write another. An import has the mips that its
    /// [`ImportTexture`](crate::ImportTexture) says, else one. Sixteen are more than any device's textures have.
    ///
    /// ```
    /// # use purlin_graph::{Graph, GraphArena, TransientTexture, bind};
    /// # use purlin_rhi::{LoadOp, null::Null, types::TextureFormat};
    /// # let mut arena = GraphArena::<Null>::new();
    /// # let mut graph = Graph::new("frame", &mut arena);
    /// let mut bloom = graph.texture("bloom", TransientTexture::d2(TextureFormat::Rgba16Float, 64, 64).mips(5));
    /// let mut mips = bloom.split_mips();
    /// for n in 1..mips.len() {
    ///     let (above, below) = mips.split_at_mut(n);
    ///     let _pass = graph.render("downsample")
    ///         .color(0, &mut below[0], LoadOp::DontCare)
    ///         .sampled(&above[n - 1], purlin_rhi::types::ShaderStages::FRAGMENT);
    /// }
    /// ```
    pub fn split_mips(&mut self) -> TextureParts<'_> {
        split_mips(self.whole, self.mips, self.layers)
    }

    /// Every array layer as a part of its own.
    pub fn split_layers(&mut self) -> impl ExactSizeIterator<Item = TexturePart<'_>> {
        split_layers(self.whole, self.mips, self.layers)
    }
}

fn split_mips<'v>(whole: TextureRef, mips: u32, layers: u32) -> TextureParts<'v> {
    let part = |mip: usize| TexturePart::new(whole.mips(mip as u32..mip as u32 + 1), 1, layers);
    TextureParts { parts: std::array::from_fn(part), len: mips.min(MOST_MIPS as u32) as usize }
}

fn split_layers<'v>(
    whole: TextureRef,
    mips: u32,
    layers: u32,
) -> impl ExactSizeIterator<Item = TexturePart<'v>> {
    (0..layers).map(move |layer| TexturePart::new(whole.layers(layer..layer + 1), mips, 1))
}

/// The most mips that a split has; no device's textures have more.
const MOST_MIPS: usize = 16;

/// Parts of one texture, as a slice of them. It has no destructor, so the version is whole again after the last use.
#[derive(Debug)]
pub struct TextureParts<'v> {
    parts: [TexturePart<'v>; MOST_MIPS],
    len: usize,
}

impl<'v> Deref for TextureParts<'v> {
    type Target = [TexturePart<'v>];

    fn deref(&self) -> &Self::Target {
        &self.parts[..self.len]
    }
}

impl DerefMut for TextureParts<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.parts[..self.len]
    }
}

impl<'v> IntoIterator for TextureParts<'v> {
    type Item = TexturePart<'v>;
    type IntoIter = std::iter::Take<std::array::IntoIter<TexturePart<'v>, MOST_MIPS>>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_iter().take(self.len)
    }
}

impl<'a, 'v> IntoIterator for &'a mut TextureParts<'v> {
    type Item = &'a mut TexturePart<'v>;
    type IntoIter = std::slice::IterMut<'a, TexturePart<'v>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// A part of a texture that a pass may write. Works wherever a [`TextureVersion`] does.
#[derive(Debug)]
pub struct TexturePart<'v> {
    part: TextureRef,
    mips: u32,
    layers: u32,
    version: PhantomData<&'v mut TextureVersion>,
}

impl<'v> TexturePart<'v> {
    fn new(part: TextureRef, mips: u32, layers: u32) -> Self {
        Self { part, mips, layers, version: PhantomData }
    }

    /// The texture's name, for bodies.
    pub fn id(&self) -> TextureId {
        self.part.id
    }

    /// Every mip of the part as a part of its own.
    pub fn split_mips(&mut self) -> TextureParts<'_> {
        split_mips(self.part, self.mips, self.layers)
    }

    /// Every layer of the part as a part of its own.
    pub fn split_layers(&mut self) -> impl ExactSizeIterator<Item = TexturePart<'_>> {
        split_layers(self.part, self.mips, self.layers)
    }
}

/// A part of a texture that passes may read.
#[derive(Debug, Clone, Copy)]
pub struct TextureSlice<'v> {
    part: TextureRef,
    version: PhantomData<&'v TextureVersion>,
}

impl TextureSlice<'_> {
    fn new(part: TextureRef) -> Self {
        Self { part, version: PhantomData }
    }

    /// The texture's name, for bodies.
    pub fn id(&self) -> TextureId {
        self.part.id
    }

    /// The same with one aspect of a depth-stencil texture.
    pub fn aspect(self, aspect: TextureAspect) -> Self {
        Self { part: TextureRef { aspect, ..self.part }, ..self }
    }
}

macro_rules! textures {
    ($($type:ty => $field:ident),* $(,)?) => {$(
        impl Sealed for $type {}
        impl AsResource for $type {
            fn resource_ref(&self) -> ResourceRef { ResourceRef::Texture(self.$field) }
        }
        impl AsTexture for $type {
            fn texture_ref(&self) -> TextureRef { self.$field }
        }
    )*};
}
textures!(TextureVersion => whole, TexturePart<'_> => part, TextureSlice<'_> => part);

impl AsResourceMut for TextureVersion {}
impl AsResourceMut for TexturePart<'_> {}
impl AsTextureMut for TextureVersion {}
impl AsTextureMut for TexturePart<'_> {}
