//! The graph: resources, passes and sinks of one frame, declared in the order of execution.

use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};

use bumpalo::Bump;
use purlin_rhi::backend::Backend;
use purlin_rhi::{Buffer, Device, QuerySet, SurfaceFrame, TexelLayout, Texture};
use smallvec::SmallVec;

use crate::arena::GraphArena;
use crate::clock::Moment;
use crate::context::Context;
use crate::declare::{At, ExportDecl, Name, PassKind, QueryReadDecl, Source, Transfer, Work};
use crate::error::GraphError;
use crate::pass::open;
use crate::pass::{Body, ComputeBuilder, RenderBuilder};
use crate::stats::{ExportId, QueryReadId, ReadId, Submitted};
use crate::transient::{ImportTexture, TransientBuffer, TransientTexture};
use crate::version::sealed::ResourceRef;
use crate::version::{
    AsBuffer, AsBufferMut, AsTexture, AsTextureMut, BufferId, BufferVersion, TextureId, TextureVersion,
};

static NEXT_GRAPH: AtomicU32 = AtomicU32::new(1);

/// One frame's passes, to be compiled and submitted. See the [crate's front page](crate).
pub struct Graph<'f, B: Backend> {
    pub(crate) label: &'f str,
    pub(crate) bump: &'f Bump,
    pub(crate) context: &'f mut Context,
    pub(crate) bodies: bumpalo::collections::Vec<'f, Body<'f, B>>,
    pub(crate) reads: u32,
    pub(crate) frames: SmallVec<[SurfaceFrame; 1]>,
    pub(crate) begun: Moment,
}

impl<B: Backend> std::fmt::Debug for Graph<'_, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let declared = &self.context.declared;
        f.debug_struct("Graph")
            .field("label", &self.label)
            .field("passes", &declared.passes.len())
            .field("resources", &declared.resources.len())
            .finish_non_exhaustive()
    }
}

impl<'f, B: Backend> Graph<'f, B> {
    /// Begins a frame. The graph borrows the arena, and no device until it is submitted.
    pub fn new(label: &'f str, arena: &'f mut GraphArena<B>) -> Self {
        let begun = Moment::now();
        let GraphArena { bump, context, .. } = arena;
        bump.reset();
        let bump: &'f Bump = bump;
        context.begin(NEXT_GRAPH.fetch_add(1, Ordering::Relaxed));
        let bodies = bumpalo::collections::Vec::new_in(bump);
        Self { label, bump, context, bodies, reads: 0, frames: SmallVec::new(), begun }
    }

    /// Declares a texture that lives within the frame. Passes that write it make it; nothing is read that no pass has
    /// written.
    #[track_caller]
    pub fn texture(&mut self, label: &str, desc: TransientTexture) -> TextureVersion {
        let index = self.resource(label, Source::Texture(desc), Location::caller());
        TextureVersion::new(self.texture_id(index), desc.mips, desc.array_layers())
    }

    /// Declares a buffer that lives within the frame.
    #[track_caller]
    pub fn buffer(&mut self, label: &str, desc: TransientBuffer) -> BufferVersion {
        let index = self.resource(label, Source::Buffer(desc), Location::caller());
        BufferVersion::new(self.buffer_id(index))
    }

    /// Makes a texture of the device a resource of the graph. Its contents are what the device's ledger says they are.
    /// Passes that write it are always live.
    #[track_caller]
    pub fn import_texture(&mut self, label: &str, texture: Texture) -> TextureVersion {
        let index = self.resource(label, Source::ImportTexture(texture), Location::caller());
        TextureVersion::new(self.texture_id(index), 1, 1)
    }

    /// As [`import_texture`](Self::import_texture), for a texture whose version is to be split into mips or layers.
    #[track_caller]
    pub fn import_texture_with(
        &mut self,
        label: &str,
        texture: Texture,
        desc: ImportTexture,
    ) -> TextureVersion {
        let index = self.resource(label, Source::ImportTexture(texture), Location::caller());
        TextureVersion::new(self.texture_id(index), desc.mips, desc.layers)
    }

    /// Makes a buffer of the device a resource of the graph, as [`import_texture`](Self::import_texture) does.
    #[track_caller]
    pub fn import_buffer(&mut self, label: &str, buffer: Buffer) -> BufferVersion {
        let index = self.resource(label, Source::ImportBuffer(buffer), Location::caller());
        BufferVersion::new(self.buffer_id(index))
    }

    fn resource(&mut self, label: &str, source: Source, at: At) -> u32 {
        self.context.declared.resource(label, source, at)
    }

    fn texture_id(&self, index: u32) -> TextureId {
        TextureId { graph: self.context.graph, index }
    }

    fn buffer_id(&self, index: u32) -> BufferId {
        BufferId { graph: self.context.graph, index }
    }

    /// Begins a raster pass.
    #[track_caller]
    pub fn render<'p>(&'p mut self, label: &str) -> RenderBuilder<'p, 'f, B> {
        RenderBuilder::new(open(self, label, Location::caller()))
    }

    /// Begins a compute pass.
    #[track_caller]
    pub fn compute<'p>(&'p mut self, label: &str) -> ComputeBuilder<'p, 'f, B> {
        ComputeBuilder::new(open(self, label, Location::caller()))
    }

    /// Fills a buffer or range with zeros. Ends on a multiple of four bytes or at the buffer's end.
    #[track_caller]
    pub fn clear_buffer(&mut self, label: &str, dst: &mut impl AsBufferMut) {
        let dst = dst.buffer_ref();
        self.transfer(label, &[ResourceRef::Buffer(dst)], Transfer::ClearBuffer { dst }, Location::caller());
    }

    /// Copies a buffer or range to another of the same size.
    #[track_caller]
    pub fn copy_buffer(&mut self, label: &str, src: &impl AsBuffer, dst: &mut impl AsBufferMut) {
        let (src, dst) = (src.buffer_ref(), dst.buffer_ref());
        let targets = [ResourceRef::Buffer(src), ResourceRef::Buffer(dst)];
        self.transfer(label, &targets, Transfer::CopyBuffer { src, dst }, Location::caller());
    }

    /// Copies a texture or part to another with the same mips, layers, sizes and format (an sRGB sibling counts).
    #[track_caller]
    pub fn copy_texture(&mut self, label: &str, src: &impl AsTexture, dst: &mut impl AsTextureMut) {
        let (src, dst) = (src.texture_ref(), dst.texture_ref());
        let targets = [ResourceRef::Texture(src), ResourceRef::Texture(dst)];
        self.transfer(label, &targets, Transfer::CopyTexture { src, dst }, Location::caller());
    }

    /// Copies texels from a buffer to one whole mip of a texture. The layout's offset counts from the range's start.
    #[track_caller]
    pub fn copy_buffer_to_texture(
        &mut self,
        label: &str,
        src: &impl AsBuffer,
        layout: TexelLayout,
        dst: &mut impl AsTextureMut,
    ) {
        let (src, dst) = (src.buffer_ref(), dst.texture_ref());
        let targets = [ResourceRef::Buffer(src), ResourceRef::Texture(dst)];
        self.transfer(label, &targets, Transfer::BufferToTexture { src, layout, dst }, Location::caller());
    }

    /// Copies one whole mip of a texture to a buffer. The layout's offset counts from the range's start.
    #[track_caller]
    pub fn copy_texture_to_buffer(
        &mut self,
        label: &str,
        src: &impl AsTexture,
        dst: &mut impl AsBufferMut,
        layout: TexelLayout,
    ) {
        let (src, dst) = (src.texture_ref(), dst.buffer_ref());
        let targets = [ResourceRef::Texture(src), ResourceRef::Buffer(dst)];
        self.transfer(label, &targets, Transfer::TextureToBuffer { src, dst, layout }, Location::caller());
    }

    fn transfer(&mut self, label: &str, targets: &[ResourceRef], transfer: Transfer, at: At) {
        let mut open = open(self, label, at);
        for target in targets {
            open.check(*target, at);
        }
        open.finish(PassKind::Transfer, Work::Transfer(transfer));
    }

    /// Copies a texture or part to the CPU as it is now: mip zero of a whole texture, or the one mip of a part. The
    /// ticket is in [`Submitted::take_read`].
    #[track_caller]
    pub fn read_texture(&mut self, texture: &impl AsTexture) -> ReadId {
        let mut part = texture.texture_ref();
        if part.mips == 0 {
            part.mips = 1;
        }
        self.read(ResourceRef::Texture(part), Work::ReadTexture(part), Location::caller())
    }

    /// Copies a buffer or range to the CPU as it is now. A whole buffer is read up to the next multiple of four bytes.
    #[track_caller]
    pub fn read_buffer(&mut self, buffer: &impl AsBuffer) -> ReadId {
        let part = buffer.buffer_ref();
        self.read(ResourceRef::Buffer(part), Work::ReadBuffer(part), Location::caller())
    }

    fn read(&mut self, target: ResourceRef, work: Work, at: At) -> ReadId {
        let mut open = open(self, "read ", at);
        open.check(target, at);
        if open.graph.context.mistake.is_none() {
            open.name = open.graph.context.declared.extend_name(open.name, target.index());
        }
        open.finish(PassKind::Readback, work);
        let index = self.reads;
        self.reads += 1;
        ReadId { graph: self.context.graph, index }
    }

    /// Reads queries of a set when all passes are done. Passes that write queries of the set are live. The ticket is in
    /// [`Submitted::take_queries`].
    pub fn read_queries(&mut self, set: QuerySet, range: Range<u32>) -> QueryReadId {
        let declared = &mut self.context.declared;
        let index = declared.query_reads.len() as u32;
        declared.read_queries(QueryReadDecl { set, first: range.start, end: range.end });
        QueryReadId { graph: self.context.graph, index }
    }

    /// Keeps a texture's contents beyond the frame. What makes them is live; no later pass may write the texture. A
    /// transient stays readable through [`GraphArena::exported_texture`] until the next frame begins.
    #[track_caller]
    pub fn export_texture(&mut self, texture: &impl AsTexture) -> ExportId {
        self.export(ResourceRef::Texture(texture.texture_ref()), Location::caller())
    }

    /// Keeps a buffer's contents beyond the frame, as [`export_texture`](Self::export_texture) does.
    #[track_caller]
    pub fn export_buffer(&mut self, buffer: &impl AsBuffer) -> ExportId {
        self.export(ResourceRef::Buffer(buffer.buffer_ref()), Location::caller())
    }

    fn export(&mut self, target: ResourceRef, at: At) -> ExportId {
        self.check_version(target, None, at);
        let declared = &mut self.context.declared;
        let first = declared.exports.iter().position(|export| export.target.index() == target.index());
        let index = first.unwrap_or(declared.exports.len()) as u32;
        let after = declared.passes.len() as u32;
        declared.export(ExportDecl { target, after, at });
        ExportId { graph: self.context.graph, index }
    }

    /// Presents a frame of a surface after all passes. What they leave in its texture, which is imported with
    /// [`import_texture`](Self::import_texture), is what the window shows. A graph that is dropped or refused gives the
    /// frame back to its surface.
    pub fn present(&mut self, frame: SurfaceFrame) {
        self.frames.push(frame);
    }

    /// Compiles the graph, records its live passes and submits them.
    ///
    /// # Errors
    /// The first thing wrong with the graph, by pass, resource and source line; see [`GraphError`]. Nothing was then
    /// submitted and neither the ledger nor any ticket has changed. Bodies may have run.
    pub fn submit(mut self, device: &mut Device<B>) -> Result<Submitted, GraphError> {
        crate::record::submit(&mut self, device)
    }

    pub(crate) fn check_version(&mut self, target: ResourceRef, pass: Option<Name>, at: At) {
        if target.graph() == self.context.graph {
            return;
        }
        let user = match pass {
            Some(name) => format!("pass \"{}\"", self.context.declared.text(name)),
            None => "an export".into(),
        };
        let kind = if matches!(target, ResourceRef::Texture(_)) { "texture" } else { "buffer" };
        self.reject(GraphError::ForeignVersion { user: user.into(), kind, at });
    }

    /// Keeps the first mistake; submission answers it.
    #[cold]
    pub(crate) fn reject(&mut self, error: GraphError) {
        if self.context.mistake.is_none() {
            self.context.mistake = Some(error);
        }
    }

    pub(crate) fn keep_body(&mut self, body: Body<'f, B>) -> u32 {
        self.bodies.push(body);
        self.bodies.len() as u32 - 1
    }
}

impl<B: Backend> Drop for Graph<'_, B> {
    fn drop(&mut self) {
        // Bump memory runs no destructors: what closures captured is dropped here, unless they ran.
        self.bodies.iter_mut().for_each(Body::discard);
    }
}
