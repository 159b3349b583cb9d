//! What was declared: the frame as authored, in flat arrays that keep their memory from frame to frame.
//!
//! Nothing here borrows anything. Labels are copied into one text, parts are indices, and the closures of passes lie in
//! the graph's bump memory under the numbers that [`Work`] holds.

use std::ops::Range;
use std::panic::Location;

use purlin_rhi::types::ShaderStages;
use purlin_rhi::{
    AspectOps, BindGroupLayout, Buffer, BufferSlice, ClearValue, ComputePipeline, LoadOp, RenderPipeline,
    Sampler, TexelLayout, Texture, TextureView,
};
use rustc_hash::FxHashMap;

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

#[derive(Debug, Clone)]
pub(crate) struct PassDecl {
    pub name: Name,
    pub at: At,
    pub kind: PassKind,
    pub work: Work,
    pub side_effect: bool,
    pub attachments: Range<u32>,
    pub groups: Range<u32>,
    pub uses: Range<u32>,
}

/// A resource whose contents are wanted after the frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExportDecl {
    pub target: ResourceRef,
    /// Passes declared before it. Later ones must not write the resource.
    pub after: u32,
    pub at: At,
}

/// The frame as authored.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    text: String,
    pub resources: Vec<ResourceDecl>,
    /// Imports by kind and handle: two imports of one resource are one, so that its hazards meet.
    imports: FxHashMap<(bool, u64), u32>,
    pub passes: Vec<PassDecl>,
    pub attachments: Vec<AttachmentDecl>,
    pub groups: Vec<GroupDecl>,
    pub bindings: Vec<BindingDecl>,
    pub uses: Vec<DeclaredUse>,
    pub exports: Vec<ExportDecl>,
}

impl Declared {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.resources.clear();
        self.imports.clear();
        self.passes.clear();
        self.attachments.clear();
        self.groups.clear();
        self.bindings.clear();
        self.uses.clear();
        self.exports.clear();
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
        self.resources.push(ResourceDecl { name, at, source });
        next
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
            Some(pass) => (pass.attachments.end, pass.groups.end, pass.uses.end),
            None => (0, 0, 0),
        };
        self.attachments.truncate(attachments as usize);
        self.groups.truncate(groups as usize);
        self.uses.truncate(uses as usize);
        let bindings = self.groups.last().map_or(0, |group| group.bindings.1);
        self.bindings.truncate(bindings as usize);
    }
}

impl AttachmentDecl {
    pub(crate) fn target(&self) -> TextureRef {
        match *self {
            AttachmentDecl::Color { target, .. }
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
