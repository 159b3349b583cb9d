//! What was declared: the frame as authored, in flat arrays that keep their memory from frame to frame.
//!
//! Nothing here borrows anything. Labels are copied into one text, parts are indices, and the closures of passes lie in
//! the graph's bump memory under the numbers that [`Work`] holds.
//!
//! Declaring compares: the lists still hold the last frame, and [`Declared::same`] stays true for as long as this one has
//! the same structure ([`crate::kept`]). Structure is whatever a phase looks at, source lines included, since errors and
//! reports speak of them.

use std::ops::Range;
use std::panic::Location;

use purlin_rhi::types::ShaderStages;
use purlin_rhi::{
    AspectOps, BindGroupLayout, Buffer, BufferSlice, ClearValue, ComputePipeline, LoadOp,
    PassTimestampWrites, QuerySet, RenderPipeline, Sampler, TexelLayout, Texture, TextureView,
};
use rustc_hash::FxHashMap;

use crate::kept::{Entry, Kept};
use crate::transient::{TransientBuffer, TransientTexture};
use crate::version::sealed::ResourceRef;
use crate::version::{BufferRef, TextureRef};

/// Where something was declared.
pub(crate) type At = &'static Location<'static>;

/// A label in [`Declared::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Name {
    start: u32,
    end: u32,
}

/// Where a resource comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Texture(TransientTexture),
    Buffer(TransientBuffer),
    ImportTexture(Texture),
    ImportBuffer(Buffer),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceDecl {
    pub name: Name,
    pub at: At,
    pub source: Source,
}

/// What kind of pass it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PassKind {
    /// Draws to attachments.
    Render,
    /// Dispatches.
    Compute,
    /// Copies and clears.
    Transfer,
    /// Copies to the CPU.
    Readback,
}

/// What a pass does when it is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// Only what its attachments do.
    Nothing,
    /// Runs the closure with this number.
    Body(u32),
    /// Runs the closure with this number once for each section.
    Sections(u32),
    Draw {
        pipeline: RenderPipeline,
        vertices: (u32, u32),
        instances: (u32, u32),
    },
    Dispatch {
        pipeline: ComputePipeline,
        groups: [u32; 3],
    },
    DispatchIndirect {
        pipeline: ComputePipeline,
        buffer: u32,
        offset: u64,
    },
    Transfer(Transfer),
    ReadTexture(TextureRef),
    ReadBuffer(BufferRef),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Transfer {
    ClearBuffer { dst: BufferRef },
    CopyBuffer { src: BufferRef, dst: BufferRef },
    CopyTexture { src: TextureRef, dst: TextureRef },
    BufferToTexture { src: BufferRef, layout: TexelLayout, dst: TextureRef },
    TextureToBuffer { src: TextureRef, dst: BufferRef, layout: TexelLayout },
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AttachmentDecl {
    Color {
        index: u32,
        target: TextureRef,
        load: LoadOp<ClearValue>,
        at: At,
    },
    /// What the samples of a color target are averaged into when the pass ends.
    Resolve {
        index: u32,
        target: TextureRef,
        at: At,
    },
    /// `None` for depth alone: the format must then have no stencil.
    DepthStencil {
        target: TextureRef,
        depth: Option<AspectOps<f32>>,
        stencil: Option<AspectOps<u32>>,
        at: At,
    },
    /// Tested and not written.
    DepthRead {
        target: TextureRef,
        at: At,
    },
}

/// A use that is not an attachment, a binding or a transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeclaredUse {
    pub target: ResourceRef,
    pub access: DeclaredAccess,
    pub at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclaredAccess {
    Vertex,
    Index,
    Indirect,
    Uniform(ShaderStages),
    Sampled(ShaderStages),
    StorageRead(ShaderStages),
    Storage(ShaderStages),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupDecl {
    pub index: u32,
    pub layout: BindGroupLayout,
    pub bindings: (u32, u32),
    pub at: At,
}

/// What is bound at one binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Texture(TextureRef),
    StorageTexture(TextureRef),
    StorageTextureRead(TextureRef),
    Buffer(BufferRef),
    Storage(BufferRef),
    Sampler(Sampler),
    View(TextureView),
    Uploaded(BufferSlice),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BindingDecl {
    pub bound: Bound,
    pub at: At,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PassDecl {
    pub name: Name,
    pub at: At,
    pub kind: PassKind,
    pub work: Work,
    pub side_effect: bool,
    /// Its part of [`Declared::queries`], counted from one; zero of nearly all passes.
    queries: u32,
    attachments: (u32, u32),
    groups: (u32, u32),
    uses: (u32, u32),
}

impl PassDecl {
    /// Its part of [`Declared::attachments`].
    pub(crate) fn attachments(&self) -> Range<u32> {
        self.attachments.0..self.attachments.1
    }

    /// Its part of [`Declared::groups`].
    pub(crate) fn groups(&self) -> Range<u32> {
        self.groups.0..self.groups.1
    }

    /// Its part of [`Declared::uses`].
    pub(crate) fn uses(&self) -> Range<u32> {
        self.uses.0..self.uses.1
    }
}

/// The queries of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct QueryDecl {
    pub occlusion: Option<QuerySet>,
    pub statistics: Option<QuerySet>,
    pub timestamps: Option<PassTimestampWrites>,
}

impl QueryDecl {
    /// Whether the pass writes queries of a set.
    pub(crate) fn writes(&self, set: QuerySet) -> bool {
        let timestamps = self.timestamps.map(|writes| writes.query_set);
        [self.occlusion, self.statistics, timestamps].contains(&Some(set))
    }
}

/// Queries that are read when all passes are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueryReadDecl {
    pub set: QuerySet,
    pub first: u32,
    pub end: u32,
}

/// A resource whose contents are wanted after the frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExportDecl {
    pub target: ResourceRef,
    /// Passes declared before it. Later ones must not write the resource.
    pub after: u32,
    pub at: At,
}

/// What changed in a group whose structure is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Nothing,
    /// Where a range of a buffer begins, and nothing else.
    Offset,
    /// What is bound.
    Bound,
}

/// The frame as authored.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// Whether the frame so far has the structure of the last one that was compiled. At the end of a frame it also means
    /// that there is nothing more in the last one.
    pub same: bool,
    text: String,
    pub resources: Kept<ResourceDecl>,
    /// Imports by kind and handle: two imports of one resource are one, so that its hazards meet.
    imports: FxHashMap<(bool, u64), u32>,
    pub passes: Kept<PassDecl>,
    pub attachments: Kept<AttachmentDecl>,
    pub groups: Kept<GroupDecl>,
    pub bindings: Kept<BindingDecl>,
    pub uses: Kept<DeclaredUse>,
    pub exports: Kept<ExportDecl>,
    pub queries: Kept<QueryDecl>,
    pub query_reads: Kept<QueryReadDecl>,
    /// The queries of the pass being declared.
    pub open_queries: Option<QueryDecl>,
    /// The groups that bind something else than in the last frame, while the structure is the same, until they do. An
    /// abandoned builder may leave too many behind.
    pub rebound: Vec<(u32, Change)>,
}

impl Declared {
    /// Begins a frame.
    pub(crate) fn begin(&mut self) {
        self.text.clear();
        self.imports.clear();
        // What the last frame would have bound was taken over here, and nothing came of it.
        self.same &= self.rebound.is_empty();
        self.rebound.clear();
        self.resources.begin();
        self.passes.begin();
        self.attachments.begin();
        self.groups.begin();
        self.bindings.begin();
        self.uses.begin();
        self.exports.begin();
        self.queries.begin();
        self.query_reads.begin();
    }

    /// Ends the frame.
    pub(crate) fn end(&mut self) {
        self.drop_unfinished();
        let ends = [
            self.resources.end(),
            self.passes.end(),
            self.attachments.end(),
            self.groups.end(),
            self.bindings.end(),
            self.uses.end(),
            self.exports.end(),
            self.queries.end(),
            self.query_reads.end(),
        ];
        self.same &= ends == [true; 9];
    }

    /// Adds a resource, or finds the import that there is already.
    pub(crate) fn resource(&mut self, label: &str, source: Source, at: At) -> u32 {
        let next = self.resources.len() as u32;
        let import = match source {
            Source::ImportTexture(texture) => Some((true, texture.to_bits())),
            Source::ImportBuffer(buffer) => Some((false, buffer.to_bits())),
            Source::Texture(_) | Source::Buffer(_) => None,
        };
        if let Some(key) = import {
            let index = *self.imports.entry(key).or_insert(next);
            if index != next {
                return index;
            }
        }
        let name = self.name(label);
        self.resources.push(ResourceDecl { name, at, source }, &mut self.same);
        next
    }

    /// Adds an attachment to the pass being declared.
    #[inline]
    pub(crate) fn attach(&mut self, attachment: AttachmentDecl) {
        self.attachments.push(attachment, &mut self.same);
    }

    /// Adds a binding to the group being declared; what is other than in the last frame.
    #[inline]
    pub(crate) fn bind(&mut self, binding: BindingDecl) -> Change {
        let change = match self.bindings.next() {
            Some(kept) if self.same => kept.bound.change(&binding.bound),
            _ => Change::Nothing,
        };
        self.bindings.push(binding, &mut self.same);
        change
    }

    /// Ends the group of the bindings from `first` on. `change` is the greatest among them.
    #[inline]
    pub(crate) fn group(&mut self, index: u32, layout: BindGroupLayout, first: u32, change: Change, at: At) {
        if change != Change::Nothing {
            self.rebound.push((self.groups.len() as u32, change));
        }
        let bindings = (first, self.bindings.len() as u32);
        self.groups.push(GroupDecl { index, layout, bindings, at }, &mut self.same);
    }

    /// Adds a use to the pass being declared.
    #[inline]
    pub(crate) fn push_use(&mut self, usage: DeclaredUse) {
        self.uses.push(usage, &mut self.same);
    }

    /// Ends the pass whose parts begin at `start`.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        (name, at): (Name, At),
        kind: PassKind,
        work: Work,
        side_effect: bool,
        start: [u32; 3],
    ) {
        let ends = self.ends();
        let queries = match self.open_queries {
            None => 0,
            Some(_) => self.end_queries(),
        };
        let pass = PassDecl {
            name,
            at,
            kind,
            work,
            side_effect,
            queries,
            attachments: (start[0], ends[0]),
            groups: (start[1], ends[1]),
            uses: (start[2], ends[2]),
        };
        self.passes.push(pass, &mut self.same);
    }

    /// Ends the queries of the pass being declared; their number, counted from one.
    #[cold]
    fn end_queries(&mut self) -> u32 {
        if let Some(queries) = self.open_queries.take() {
            self.queries.push(queries, &mut self.same);
        }
        self.queries.len() as u32
    }

    /// The queries of a pass; mostly none.
    #[inline]
    pub(crate) fn queries_of(&self, pass: &PassDecl) -> Option<&QueryDecl> {
        match pass.queries {
            0 => None,
            number => self.queries.get(number as usize - 1),
        }
    }

    /// Adds queries that are read at the end.
    pub(crate) fn read_queries(&mut self, read: QueryReadDecl) {
        self.query_reads.push(read, &mut self.same);
    }

    /// Adds an export.
    pub(crate) fn export(&mut self, export: ExportDecl) {
        self.exports.push(export, &mut self.same);
    }

    pub(crate) fn name(&mut self, label: &str) -> Name {
        let start = self.text.len() as u32;
        self.text.push_str(label);
        Name { start, end: self.text.len() as u32 }
    }

    /// The name with a resource's label in quotes after it.
    pub(crate) fn extend_name(&mut self, name: Name, resource: u32) -> Name {
        let start = self.text.len() as u32;
        self.text.extend_from_within(name.start as usize..name.end as usize);
        self.text.push('"');
        if let Some(decl) = self.resources.get(resource as usize) {
            self.text.extend_from_within(decl.name.start as usize..decl.name.end as usize);
        }
        self.text.push('"');
        Name { start, end: self.text.len() as u32 }
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        self.text.get(name.start as usize..name.end as usize).unwrap_or_default()
    }

    pub(crate) fn pass_name(&self, pass: u32) -> &str {
        self.passes.get(pass as usize).map_or("", |pass| self.text(pass.name))
    }

    pub(crate) fn resource_name(&self, resource: u32) -> &str {
        self.resources.get(resource as usize).map_or("", |resource| self.text(resource.name))
    }

    /// The ends of the flat arrays: where the next pass's parts begin.
    pub(crate) fn ends(&self) -> [u32; 3] {
        [self.attachments.len() as u32, self.groups.len() as u32, self.uses.len() as u32]
    }

    /// Forgets what an abandoned builder left behind.
    pub(crate) fn drop_unfinished(&mut self) {
        let (attachments, groups, uses) = match self.passes.last() {
            Some(pass) => (pass.attachments.1, pass.groups.1, pass.uses.1),
            None => (0, 0, 0),
        };
        self.attachments.rewind(attachments as usize);
        self.groups.rewind(groups as usize);
        self.uses.rewind(uses as usize);
        let bindings = self.groups.last().map_or(0, |group| group.bindings.1);
        self.bindings.rewind(bindings as usize);
        self.open_queries = None;
    }
}

#[inline]
fn same_place(a: At, b: At) -> bool {
    std::ptr::eq(a, b)
}

impl Entry for ResourceDecl {
    fn same(&self, new: &Self) -> bool {
        same_place(self.at, new.at)
            && match (&self.source, &new.source) {
                (Source::Texture(a), Source::Texture(b)) => a == b,
                (Source::Buffer(a), Source::Buffer(b)) => a == b,
                (Source::ImportTexture(_), Source::ImportTexture(_))
                | (Source::ImportBuffer(_), Source::ImportBuffer(_)) => true,
                _ => false,
            }
    }

    fn renew(&mut self, new: &Self) {
        *self = *new;
    }
}

impl Entry for PassDecl {
    #[inline]
    fn same(&self, new: &Self) -> bool {
        // Parts begin where those of the pass before end.
        same_place(self.at, new.at)
            && self.kind == new.kind
            && self.side_effect == new.side_effect
            && self.queries == new.queries
            && self.attachments.1 == new.attachments.1
            && self.groups.1 == new.groups.1
            && self.uses.1 == new.uses.1
            && self.work.same(&new.work)
    }

    #[inline]
    fn renew(&mut self, new: &Self) {
        self.name = new.name;
        self.work = new.work;
    }
}

impl Work {
    /// Whether the same is used. Pipelines, bodies and the numbers of draws are not structure.
    #[inline]
    fn same(&self, new: &Self) -> bool {
        match (self, new) {
            (Work::Transfer(a), Work::Transfer(b)) => a.same(b),
            (Work::ReadTexture(a), Work::ReadTexture(b)) => a.same(b),
            (Work::ReadBuffer(a), Work::ReadBuffer(b)) => a.same(b),
            (a, b) => {
                let sections = |work: &Work| matches!(work, Work::Sections(_));
                !a.copies() && !b.copies() && sections(a) == sections(b)
            }
        }
    }

    #[inline]
    fn copies(&self) -> bool {
        matches!(self, Work::Transfer(_) | Work::ReadTexture(_) | Work::ReadBuffer(_))
    }
}

impl Transfer {
    fn same(&self, new: &Self) -> bool {
        match (self, new) {
            (Transfer::ClearBuffer { dst: a }, Transfer::ClearBuffer { dst: b }) => a.same(b),
            (Transfer::CopyBuffer { src, dst }, Transfer::CopyBuffer { src: new_src, dst: new_dst }) => {
                src.same(new_src) && dst.same(new_dst)
            }
            (Transfer::CopyTexture { src, dst }, Transfer::CopyTexture { src: new_src, dst: new_dst }) => {
                src.same(new_src) && dst.same(new_dst)
            }
            (
                Transfer::BufferToTexture { src, layout, dst },
                Transfer::BufferToTexture { src: new_src, layout: new_layout, dst: new_dst },
            ) => src.same(new_src) && layout == new_layout && dst.same(new_dst),
            (
                Transfer::TextureToBuffer { src, dst, layout },
                Transfer::TextureToBuffer { src: new_src, dst: new_dst, layout: new_layout },
            ) => src.same(new_src) && layout == new_layout && dst.same(new_dst),
            _ => false,
        }
    }
}

impl Entry for AttachmentDecl {
    fn same(&self, new: &Self) -> bool {
        fn ops<T>(a: &Option<AspectOps<T>>, b: &Option<AspectOps<T>>) -> bool {
            match (a, b) {
                (Some(a), Some(b)) => {
                    same_load(&a.load, &b.load) && a.store == b.store && a.read_only == b.read_only
                }
                (None, None) => true,
                _ => false,
            }
        }
        match (self, new) {
            (
                AttachmentDecl::Color { index, target, load, at },
                AttachmentDecl::Color { index: new_index, target: new_target, load: new_load, at: new_at },
            ) => {
                index == new_index
                    && target.same(new_target)
                    && same_load(load, new_load)
                    && same_place(at, new_at)
            }
            (
                AttachmentDecl::DepthStencil { target, depth, stencil, at },
                AttachmentDecl::DepthStencil {
                    target: new_target,
                    depth: new_depth,
                    stencil: new_stencil,
                    at: new_at,
                },
            ) => {
                target.same(new_target)
                    && ops(depth, new_depth)
                    && ops(stencil, new_stencil)
                    && same_place(at, new_at)
            }
            (
                AttachmentDecl::Resolve { index, target, at },
                AttachmentDecl::Resolve { index: new_index, target: new_target, at: new_at },
            ) => index == new_index && target.same(new_target) && same_place(at, new_at),
            (
                AttachmentDecl::DepthRead { target, at },
                AttachmentDecl::DepthRead { target: new_target, at: new_at },
            ) => target.same(new_target) && same_place(at, new_at),
            _ => false,
        }
    }

    fn renew(&mut self, new: &Self) {
        *self = *new;
    }
}

/// Whether both keep the contents, or both do not. What is cleared to is not structure.
fn same_load<T>(a: &LoadOp<T>, b: &LoadOp<T>) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

impl Entry for GroupDecl {
    #[inline]
    fn same(&self, new: &Self) -> bool {
        same_place(self.at, new.at)
            && self.index == new.index
            && self.layout == new.layout
            && self.bindings.1 == new.bindings.1
    }

    #[inline]
    fn renew(&mut self, _: &Self) {}
}

impl Entry for BindingDecl {
    #[inline]
    fn same(&self, new: &Self) -> bool {
        same_place(self.at, new.at) && self.bound.same(&new.bound)
    }

    #[inline]
    fn renew(&mut self, new: &Self) {
        self.bound = new.bound;
    }
}

impl Bound {
    /// Whether the same part of the graph's resources is bound in the same way. What lies outside is not structure.
    #[inline]
    fn same(&self, new: &Self) -> bool {
        match (self, new) {
            (Bound::Texture(a), Bound::Texture(b))
            | (Bound::StorageTexture(a), Bound::StorageTexture(b))
            | (Bound::StorageTextureRead(a), Bound::StorageTextureRead(b)) => a.same(b),
            (Bound::Buffer(a), Bound::Buffer(b)) | (Bound::Storage(a), Bound::Storage(b)) => a.same(b),
            (Bound::Sampler(_), Bound::Sampler(_))
            | (Bound::View(_), Bound::View(_))
            | (Bound::Uploaded(_), Bound::Uploaded(_)) => true,
            _ => false,
        }
    }

    /// What is other in `new`, which is the same.
    #[inline]
    fn change(&self, new: &Self) -> Change {
        let unless = |equal: bool, change| if equal { Change::Nothing } else { change };
        match (self, new) {
            (Bound::Sampler(a), Bound::Sampler(b)) => unless(a == b, Change::Bound),
            (Bound::View(a), Bound::View(b)) => unless(a == b, Change::Bound),
            (Bound::Uploaded(a), Bound::Uploaded(b)) if a.buffer == b.buffer && a.size == b.size => {
                unless(a.offset == b.offset, Change::Offset)
            }
            (Bound::Uploaded(_), Bound::Uploaded(_)) => Change::Bound,
            _ => Change::Nothing,
        }
    }
}

impl Entry for DeclaredUse {
    #[inline]
    fn same(&self, new: &Self) -> bool {
        same_place(self.at, new.at) && self.access == new.access && self.target.same(&new.target)
    }

    #[inline]
    fn renew(&mut self, _: &Self) {}
}

impl Entry for QueryDecl {
    fn same(&self, new: &Self) -> bool {
        self == new
    }

    fn renew(&mut self, _: &Self) {}
}

impl Entry for QueryReadDecl {
    fn same(&self, new: &Self) -> bool {
        self == new
    }

    fn renew(&mut self, _: &Self) {}
}

impl Entry for ExportDecl {
    fn same(&self, new: &Self) -> bool {
        same_place(self.at, new.at) && self.after == new.after && self.target.same(&new.target)
    }

    fn renew(&mut self, _: &Self) {}
}

impl AttachmentDecl {
    pub(crate) fn target(&self) -> TextureRef {
        match *self {
            AttachmentDecl::Color { target, .. }
            | AttachmentDecl::Resolve { target, .. }
            | AttachmentDecl::DepthStencil { target, .. }
            | AttachmentDecl::DepthRead { target, .. } => target,
        }
    }
}

impl Bound {
    /// The graph resource, if it is one.
    pub(crate) fn target(&self) -> Option<ResourceRef> {
        match *self {
            Bound::Texture(part) | Bound::StorageTexture(part) | Bound::StorageTextureRead(part) => {
                Some(ResourceRef::Texture(part))
            }
            Bound::Buffer(part) | Bound::Storage(part) => Some(ResourceRef::Buffer(part)),
            Bound::Sampler(_) | Bound::View(_) | Bound::Uploaded(_) => None,
        }
    }
}

impl ResourceRef {
    /// Whether it is the same part, if of another graph.
    #[inline]
    pub(crate) fn same(&self, new: &Self) -> bool {
        match (self, new) {
            (ResourceRef::Texture(a), ResourceRef::Texture(b)) => a.same(b),
            (ResourceRef::Buffer(a), ResourceRef::Buffer(b)) => a.same(b),
            _ => false,
        }
    }

    pub(crate) fn graph(&self) -> u32 {
        match self {
            ResourceRef::Texture(part) => part.id.graph,
            ResourceRef::Buffer(part) => part.id.graph,
        }
    }

    pub(crate) fn index(&self) -> u32 {
        match self {
            ResourceRef::Texture(part) => part.id.index,
            ResourceRef::Buffer(part) => part.id.index,
        }
    }
}
