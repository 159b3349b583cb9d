//! Declares raster passes.

use std::panic::Location;

use purlin_rhi::backend::Backend;
use purlin_rhi::types::ShaderStages;
use purlin_rhi::{AspectOps, ClearValue, LoadOp, QuerySet, RenderPipeline, StoreOp};

use super::body::{Body, Once, RenderBody};
use super::builder::{Open, common_uses};
use crate::declare::{At, AttachmentDecl, DeclaredAccess, PassKind, Work};
use crate::error::GraphError;
use crate::version::{AsBuffer, AsResource, AsResourceMut, AsTexture, AsTextureMut};

/// Declares a raster pass. It becomes part of the graph with one of [`record`](Self::record),
/// [`record_parallel`](Self::record_parallel), [`fullscreen`](Self::fullscreen), [`draw`](Self::draw) and [`clear`](Self::clear).
///
/// Whether an attachment is stored follows from the passes after it: contents that nothing reads are discarded.
#[must_use = "a pass becomes part of the graph with record, fullscreen, draw or clear"]
pub struct RenderBuilder<'p, 'f, B: Backend> {
    open: Open<'p, 'f, B>,
}

impl<'p, 'f, B: Backend> RenderBuilder<'p, 'f, B> {
    pub(crate) fn new(open: Open<'p, 'f, B>) -> Self {
        Self { open }
    }

    /// Attaches a color target: a texture with one mip, or one mip of one.
    #[track_caller]
    pub fn color(mut self, index: u32, target: &'p mut impl AsTextureMut, load: LoadOp<ClearValue>) -> Self {
        let at = Location::caller();
        let same =
            |decl: &&AttachmentDecl| matches!(decl, AttachmentDecl::Color { index: i, .. } if *i == index);
        let most = 8;
        if self.open.attachments().iter().any(|decl| same(&decl)) {
            self.reject(format!("color {index}"), "each color index once", "it is attached twice".into(), at);
        } else if index >= most {
            self.reject(format!("color {index}"), "a color index below 8", index.to_string(), at);
        }
        let target = target.texture_ref();
        self.attach(AttachmentDecl::Color { index, target, load, at }, at);
        self
    }

    /// Averages the samples of a color target, attached before, into a texture of the same size and format when the pass
    /// ends. If nothing reads the samples afterwards, they are not stored.
    ///
    /// ```
    /// # use purlin_graph::{Graph, GraphArena, TransientTexture};
    /// # use purlin_rhi::{ClearValue, LoadOp, null::Null, types::TextureFormat::Rgba8Unorm};
    /// # let mut arena = GraphArena::<Null>::new();
    /// # let mut graph = Graph::new("frame", &mut arena);
    /// let mut samples = graph.texture("samples", TransientTexture::d2(Rgba8Unorm, 64, 64).samples(4));
    /// let mut image = graph.texture("image", TransientTexture::d2(Rgba8Unorm, 64, 64));
    /// let black = LoadOp::Clear(ClearValue::Float([0.0; 4]));
    /// graph.render("scene").color(0, &mut samples, black).resolve(0, &mut image).clear();
    /// ```
    #[track_caller]
    pub fn resolve(mut self, index: u32, target: &'p mut impl AsTextureMut) -> Self {
        let at = Location::caller();
        let is_color =
            |decl: &AttachmentDecl| matches!(decl, AttachmentDecl::Color { index: i, .. } if *i == index);
        let is_same =
            |decl: &AttachmentDecl| matches!(decl, AttachmentDecl::Resolve { index: i, .. } if *i == index);
        let slot = || format!("resolve of color {index}");
        if !self.open.attachments().iter().any(is_color) {
            self.reject(slot(), "a color target of this index before", "none".into(), at);
        } else if self.open.attachments().iter().any(is_same) {
            self.reject(slot(), "each color index once", "it is resolved twice".into(), at);
        }
        let target = target.texture_ref();
        self.attach(AttachmentDecl::Resolve { index, target, at }, at);
        self
    }

    /// Attaches a depth target that the pass may write. For a format with stencil, see
    /// [`depth_stencil`](Self::depth_stencil).
    #[track_caller]
    pub fn depth(self, target: &'p mut impl AsTextureMut, load: LoadOp<f32>) -> Self {
        let ops = AspectOps { load, store: StoreOp::Store, read_only: false };
        self.depth_stencil_at(target, Some(ops), None, Location::caller())
    }

    /// Attaches a depth target that the pass only tests against; it may sample it too.
    #[track_caller]
    pub fn depth_read(mut self, target: &'p impl AsTexture) -> Self {
        let at = Location::caller();
        self.one_depth(at);
        let target = target.texture_ref();
        self.attach(AttachmentDecl::DepthRead { target, at }, at);
        self
    }

    /// Attaches a target with depth and stencil. Contents whose operations say [`StoreOp::Discard`] are gone after the
    /// pass; those that say [`StoreOp::Store`] are kept if anything reads them.
    #[track_caller]
    pub fn depth_stencil(
        self,
        target: &'p mut impl AsTextureMut,
        depth: AspectOps<f32>,
        stencil: AspectOps<u32>,
    ) -> Self {
        self.depth_stencil_at(target, Some(depth), Some(stencil), Location::caller())
    }

    fn depth_stencil_at(
        mut self,
        target: &'p mut impl AsTextureMut,
        depth: Option<AspectOps<f32>>,
        stencil: Option<AspectOps<u32>>,
        at: At,
    ) -> Self {
        self.one_depth(at);
        let target = target.texture_ref();
        self.attach(AttachmentDecl::DepthStencil { target, depth, stencil, at }, at);
        self
    }

    fn one_depth(&mut self, at: At) {
        let is_depth = |decl: &AttachmentDecl| {
            matches!(decl, AttachmentDecl::DepthStencil { .. } | AttachmentDecl::DepthRead { .. })
        };
        if self.open.attachments().iter().any(is_depth) {
            self.reject("depth".into(), "one depth-stencil attachment", "it is attached twice".into(), at);
        }
    }

    fn attach(&mut self, decl: AttachmentDecl, at: At) {
        self.open.check(crate::version::sealed::ResourceRef::Texture(decl.target()), at);
        self.open.graph.context.declared.attach(decl);
    }

    #[cold]
    fn reject(&mut self, slot: String, expected: &str, found: String, at: At) {
        let pass = self.open.label();
        let (slot, expected, found) = (slot.into(), expected.into(), found.into());
        let resource = "".into();
        self.open.graph.reject(GraphError::Attachment { pass, slot, resource, expected, found, at });
    }

    /// Declares that the pass fetches vertices from a buffer.
    #[track_caller]
    pub fn vertex(mut self, buffer: &'p impl AsBuffer) -> Self {
        self.open.push_use(buffer.resource_ref(), DeclaredAccess::Vertex, Location::caller());
        self
    }

    /// Declares that the pass fetches indices from a buffer.
    #[track_caller]
    pub fn index(mut self, buffer: &'p impl AsBuffer) -> Self {
        self.open.push_use(buffer.resource_ref(), DeclaredAccess::Index, Location::caller());
        self
    }

    common_uses!();

    /// Declares the set of the pass's occlusion queries. The pass is live if the graph reads queries of the set. Passes of
    /// one set may be recorded as one; a query ends in the pass that begins it all the same.
    pub fn occlusion_queries(mut self, set: QuerySet) -> Self {
        self.open.queries().occlusion = Some(set);
        self
    }

    /// A body that records draws. It runs once, only if the pass is live.
    pub fn record(self, body: impl FnOnce(&mut RenderBody<'_, B>) + Send + 'f) {
        let body = Body::Render(self.open.graph.bump.alloc(Once(Some(body))));
        let index = self.open.graph.keep_body(body);
        self.open.finish(PassKind::Render, Work::Body(index));
    }

    /// A body that several threads call, once for each section with the section's index, only if the pass is live.
    /// Sections execute in the order of their indices, and each starts with nothing set but what the pass bound; see
    /// [`Recorder::render_pass_parallel`](purlin_rhi::Recorder::render_pass_parallel).
    pub fn record_parallel(
        self,
        sections: u32,
        body: impl Fn(u32, &mut RenderBody<'_, B>) + Send + Sync + 'f,
    ) {
        let body = Body::Sections(self.open.graph.bump.alloc(Once(Some(body))), sections);
        let index = self.open.graph.keep_body(body);
        self.open.finish(PassKind::Render, Work::Sections(index));
    }

    /// One triangle that covers the attachments.
    pub fn fullscreen(self, pipeline: RenderPipeline) {
        self.draw(pipeline, 0..3, 0..1);
    }

    /// One draw without vertex buffers.
    pub fn draw(
        self,
        pipeline: RenderPipeline,
        vertices: std::ops::Range<u32>,
        instances: std::ops::Range<u32>,
    ) {
        let vertices = (vertices.start, vertices.end);
        let instances = (instances.start, instances.end);
        self.open.finish(PassKind::Render, Work::Draw { pipeline, vertices, instances });
    }

    /// No draws: only what the attachments' operations do.
    pub fn clear(self) {
        self.open.finish(PassKind::Render, Work::Nothing);
    }
}
