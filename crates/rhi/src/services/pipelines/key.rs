//! The canonical key of a request: every field that makes a pipeline what it is, and nothing else.
//!
//! A key is an owned copy of the description. It leaves out labels; modules stand in it by what they contain, the layout by
//! its handle, attributes in the order of their locations, numbers with a fraction by their bits. Two requests are one when
//! their keys are equal field by field; hashes only find candidates.

use std::hash::{Hash, Hasher};

use crate::desc::{
    ColorTarget, ComputePipelineDesc, DepthStencilDesc, MultisampleDesc, PrimitiveDesc, RenderPipelineDesc,
    ShaderStageDesc, VertexBufferLayout,
};
use crate::handle::{PipelineLayout, ShaderModule};
use crate::shader::ShaderSource;
use crate::types::{VertexAttribute, VertexStepMode};

/// What a module contains, and the hash that was taken of it when the module was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Content {
    source: ShaderSource,
    hash: u64,
}

impl Content {
    pub(crate) fn new(source: &ShaderSource) -> Self {
        let mut hasher = rustc_hash::FxHasher::default();
        source.spirv.hash(&mut hasher);
        source.wgsl.hash(&mut hasher);
        source.entries.len().hash(&mut hasher);
        Self { source: *source, hash: hasher.finish() }
    }

    pub(crate) fn source(&self) -> &ShaderSource {
        &self.source
    }

    #[cfg(test)]
    pub(super) fn with_hash(source: &ShaderSource, hash: u64) -> Self {
        Self { source: *source, hash }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.source, &other.source);
        let same = std::ptr::eq(a.spirv, b.spirv)
            && std::ptr::eq(a.wgsl, b.wgsl)
            && std::ptr::eq(a.entries, b.entries);
        self.hash == other.hash
            && (same || (a.spirv == b.spirv && a.wgsl == b.wgsl && a.entries == b.entries))
    }
}
impl Eq for Content {}
impl Hash for Content {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct StageKey {
    content: Content,
    entry: Box<str>,
}

impl StageKey {
    fn new(stage: &ShaderStageDesc<'_>, content: Content) -> Self {
        Self { content, entry: stage.entry.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct VertexKey {
    stride: u64,
    step: VertexStepMode,
    attributes: Box<[VertexAttribute]>,
}

/// The description of a raster pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RenderKey {
    layout: PipelineLayout,
    vertex: StageKey,
    fragment: Option<StageKey>,
    vertex_buffers: Box<[VertexKey]>,
    primitive: PrimitiveDesc,
    depth_stencil: Option<DepthStencilDesc>,
    targets: Box<[Option<ColorTarget>]>,
    multisample: MultisampleDesc,
}

impl RenderKey {
    /// The key of a description whose modules have these contents.
    pub fn new(desc: &RenderPipelineDesc<'_>, vertex: Content, fragment: Option<Content>) -> Self {
        let buffer = |buffer: &VertexBufferLayout<'_>| {
            let mut attributes: Box<[_]> = buffer.attributes.into();
            attributes.sort_by_key(|attribute: &VertexAttribute| attribute.shader_location);
            VertexKey { stride: buffer.stride, step: buffer.step, attributes }
        };
        Self {
            layout: desc.layout,
            vertex: StageKey::new(&desc.vertex, vertex),
            fragment: desc
                .fragment
                .as_ref()
                .zip(fragment)
                .map(|(stage, content)| StageKey::new(stage, content)),
            vertex_buffers: desc.vertex_buffers.iter().map(buffer).collect(),
            primitive: desc.primitive,
            depth_stencil: desc.depth_stencil.clone(),
            targets: desc.targets.into(),
            multisample: desc.multisample,
        }
    }

    /// The description again, of these modules.
    fn with_desc<R>(
        &self,
        label: &str,
        modules: &[ShaderModule],
        call: impl FnOnce(&RenderPipelineDesc<'_>) -> Option<R>,
    ) -> Option<R> {
        let buffers: Vec<VertexBufferLayout<'_>> = self
            .vertex_buffers
            .iter()
            .map(|buffer| VertexBufferLayout {
                stride: buffer.stride,
                step: buffer.step,
                attributes: &buffer.attributes,
            })
            .collect();
        let mut modules = modules.iter();
        let vertex = ShaderStageDesc { module: *modules.next()?, entry: &self.vertex.entry };
        let fragment = match &self.fragment {
            Some(stage) => Some(ShaderStageDesc { module: *modules.next()?, entry: &stage.entry }),
            None => None,
        };
        call(&RenderPipelineDesc {
            label,
            layout: self.layout,
            vertex,
            fragment,
            vertex_buffers: &buffers,
            primitive: self.primitive,
            depth_stencil: self.depth_stencil.clone(),
            targets: &self.targets,
            multisample: self.multisample,
        })
    }
}

/// The description of a compute pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ComputeKey {
    layout: PipelineLayout,
    compute: StageKey,
}

/// The description of either.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Render(Box<RenderKey>),
    Compute(ComputeKey),
}

/// A description of either, borrowed.
pub(super) enum AnyDesc<'a> {
    Render(&'a RenderPipelineDesc<'a>),
    Compute(&'a ComputePipelineDesc<'a>),
}

impl Key {
    pub fn render(desc: &RenderPipelineDesc<'_>, vertex: Content, fragment: Option<Content>) -> Self {
        Self::Render(Box::new(RenderKey::new(desc, vertex, fragment)))
    }

    pub fn compute(desc: &ComputePipelineDesc<'_>, content: Content) -> Self {
        Self::Compute(ComputeKey { layout: desc.layout, compute: StageKey::new(&desc.compute, content) })
    }

    pub fn hash(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }

    /// Calls with the description again, of these modules in the order of stages.
    pub fn with_desc<R>(
        &self,
        label: &str,
        modules: &[ShaderModule],
        call: impl FnOnce(AnyDesc<'_>) -> R,
    ) -> Option<R> {
        match self {
            Self::Render(key) => key.with_desc(label, modules, |desc| Some(call(AnyDesc::Render(desc)))),
            Self::Compute(key) => {
                let compute = ShaderStageDesc { module: *modules.first()?, entry: &key.compute.entry };
                let desc = ComputePipelineDesc { label, layout: key.layout, compute };
                Some(call(AnyDesc::Compute(&desc)))
            }
        }
    }
}
