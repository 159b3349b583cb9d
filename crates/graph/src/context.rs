//! The frame being compiled: what was declared, and what each phase found out. All of it keeps its memory.

use purlin_rhi::plan::{
    Aspects, BufferUse, Effect, Hazard, HazardMode, Layout, Part, PassList, Plan, TextureRange, TextureUse,
};
use purlin_rhi::types::{
    BufferUsages, Extent3d, TextureAspect, TextureDimension, TextureFormat, TextureUsages,
    TextureViewDimension,
};
use purlin_rhi::{BindGroupLayout, Buffer, StoreOp, Texture, TextureView};

use crate::cache::{BoundGroup, Cache};
use crate::declare::{At, Declared};
use crate::error::GraphError;
use crate::packing::{Block, Packing};
use crate::pool::Pool;
use crate::runs::Runs;
use crate::stats::FrameStats;

/// No index.
pub(crate) const NONE: u32 = u32::MAX;

/// Switches of the graph. The defaults are for shipping; the others are for finding out what went wrong, and must give
/// the same image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphOptions {
    /// Whether passes that contribute nothing are left out.
    pub cull: bool,
    /// How precisely dependencies are found.
    pub hazards: HazardMode,
    /// Whether a raster pass that only continues the one before, in the same attachments and with the same reads, is
    /// recorded into its native pass. Off at first.
    pub merge: bool,
    /// Whether a transient may take the place of an equal one whose last use is over.
    pub transient_reuse: bool,
    /// Whether textures of the frame, of any size and format, lie over each other in a heap where their lives allow it.
    /// Where the device has no heaps, and for what is exported, `transient_reuse` is what is left. Off at first.
    pub alias: bool,
    /// Whether a frame with the structure of the last one takes over all that was found out about it. Labels, pipelines,
    /// bodies, draws, clear values, uploaded data and the handles of imports of one description are not structure.
    pub structure_reuse: bool,
    /// After how many frames without use the arena gives up a texture, buffer, view or bind group.
    pub keep_frames: u32,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self {
            cull: true,
            hazards: HazardMode::Fine,
            merge: false,
            transient_reuse: true,
            alias: false,
            structure_reuse: true,
            keep_frames: 8,
        }
    }
}

/// What a resource is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Texture {
        format: TextureFormat,
        size: Extent3d,
        dimension: TextureDimension,
        mips: u32,
        layers: u32,
        aspects: Aspects,
    },
    Buffer {
        size: u64,
    },
}

impl Shape {
    /// Everything of it. A buffer counts up to the next four bytes, as it does in memory.
    pub(crate) fn whole(&self) -> Part {
        match *self {
            Shape::Texture { mips, layers, aspects, .. } => {
                Part::Subresources(TextureRange { aspects, base_mip: 0, mips, base_layer: 0, layers })
            }
            Shape::Buffer { size } => Part::Bytes { offset: 0, size: padded(size) },
        }
    }
}

/// Buffers occupy whole words.
pub(crate) fn padded(size: u64) -> u64 {
    size.checked_next_multiple_of(4).unwrap_or(size)
}

/// A resource with everything known that compiling needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resource {
    pub shape: Shape,
    pub imported: bool,
    /// An import that only uploads write: not tracked, and never written.
    pub uploaded: bool,
    pub texture_usage: TextureUsages,
    pub buffer_usage: BufferUsages,
    /// The first and last use in [`Context::uses`].
    pub head: u32,
    pub tail: u32,
    /// The export in [`Declared::exports`].
    pub exported: u32,
    /// The live passes, as positions in [`Context::order`], from its first to its last use.
    pub first: u32,
    pub last: u32,
    /// Where it lives in the pool; a number past all of those in a heap.
    pub slot: u32,
    /// The heap that it lies in, or [`NONE`], and where.
    pub heap: u32,
    pub offset: u64,
    /// Bytes of a placed transient.
    pub bytes: u64,
}

/// How a pass uses a part of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    Texture(TextureUse),
    Buffer(BufferUse),
}

impl Usage {
    pub(crate) fn effect(&self) -> Effect {
        match self {
            Usage::Texture(usage) => usage.effect(),
            Usage::Buffer(usage) => usage.effect(),
        }
    }

    pub(crate) fn layout(&self, part: &Part) -> Layout {
        match (self, part) {
            (Usage::Texture(usage), Part::Subresources(range)) => usage.layout(range.aspects),
            _ => Layout::Undefined,
        }
    }

    pub(crate) fn is_storage_write(&self) -> bool {
        matches!(
            self,
            Usage::Texture(TextureUse::StorageWrite(_)) | Usage::Buffer(BufferUse::StorageWrite(_))
        )
    }
}

/// Where in a pass a use was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Color(u32),
    Resolve(u32),
    Depth,
    Stencil,
    Binding {
        group: u32,
        binding: u32,
    },
    /// `vertex`, `sampled` and their like.
    Declared(&'static str),
    Source,
    Destination,
}

/// One use of one part of one resource.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    pub resource: u32,
    pub pass: u32,
    pub part: Part,
    pub usage: Usage,
    pub origin: Origin,
    pub at: At,
    /// The next use of the same resource.
    pub next: u32,
    /// What becomes of an attachment after the pass.
    pub store: StoreOp,
}

/// An attachment's uses: one for color, one for each aspect of depth and stencil.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachment {
    pub resource: u32,
    pub range: TextureRange,
    pub first: u32,
    pub second: u32,
}

/// A binding with everything known but the physical resource.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResolvedBinding {
    pub binding: u32,
    pub dynamic: bool,
    pub what: ResolvedBound,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ResolvedBound {
    Texture {
        resource: u32,
        range: TextureRange,
        aspect: TextureAspect,
        dimension: TextureViewDimension,
    },
    Buffer {
        resource: u32,
        offset: u64,
        size: u64,
    },
    /// Something outside the graph. The declaration says what, and each frame may say something else.
    Outside,
}

/// A dependency between two passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub resource: u32,
    pub part: Part,
    pub hazard: Hazard,
}

/// Why a pass is recorded, or that it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Culled,
    /// Culling is off.
    Kept,
    SideEffect,
    Readback,
    /// Its queries are read.
    Queried,
    WritesImport(u32),
    Exported(u32),
    /// It makes contents that this pass uses.
    Feeds(u32),
}

/// Live passes that are recorded as one, as positions in [`Context::order`]. Most are alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    pub first: u32,
    pub end: u32,
}

/// Memory of a heap that changes hands before the live pass at a position: from one resource to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handover {
    pub position: u32,
    pub to: u32,
    pub from: u32,
}

/// Where a resource lies on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Physical {
    None,
    Texture(Texture),
    Buffer(Buffer),
}

/// The frame being compiled.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub options: GraphOptions,
    pub with_report: bool,
    /// Counts graphs of the arena; also what the pool and the caches measure age in.
    pub frame: u64,
    /// Tells versions of different graphs apart.
    pub graph: u32,
    /// The device that the pool and the caches belong to.
    pub device: Option<purlin_rhi::DeviceTag>,
    pub declared: Declared,
    /// The first mistake of declaration.
    pub mistake: Option<GraphError>,

    /// The switches that the rest was found out under.
    pub compiled_with: GraphOptions,

    /// From `resolve`.
    pub resources: Vec<Resource>,
    pub uses: Vec<Use>,
    /// Where the uses of each pass end.
    pub pass_ends: Vec<u32>,
    pub attachments: Vec<Attachment>,
    /// One for each of `declared.bindings`.
    pub bindings: Vec<ResolvedBinding>,
    /// The layouts of all groups, each at least once.
    pub layouts: Vec<BindGroupLayout>,

    /// From `edges`.
    pub edges: Vec<Edge>,
    /// Whose contents a pass uses: (maker, user), ascending by user.
    pub feeds: Vec<(u32, u32)>,
    /// Makers of exported contents, with the export.
    pub exported: Vec<(u32, u32)>,
    pub runs: Vec<Runs>,
    pub readers: Vec<(u32, u32)>,

    /// From `cull`.
    pub liveness: Vec<Liveness>,
    /// The live passes in order.
    pub order: Vec<u32>,

    /// From `merge`.
    pub scopes: Vec<Scope>,

    /// From `place`.
    pub physical: Vec<Physical>,
    /// Transients in the order in which they were placed.
    pub placed: Vec<u32>,
    /// The heaps in use.
    pub heaps: Vec<u32>,
    /// By position.
    pub handovers: Vec<Handover>,
    pub packing: Packing,
    pub blocks: Vec<Block>,
    /// The pool's removals when everything was placed.
    pub placed_at: u64,
    /// How many bytes of transients begin and end at each live pass.
    pub byte_changes: Vec<i64>,

    /// From `materialize`.
    pub views: Vec<Option<TextureView>>,
    pub groups: Vec<BoundGroup>,

    /// From `barriers`.
    pub list: PassList,
    pub plan: Plan,
    pub plan_has_reasons: bool,

    /// Nanoseconds of each live pass's recording, for reports.
    pub pass_ns: Vec<u64>,
    pub stats: FrameStats,
    /// What a frame of this structure counts.
    pub structure_stats: FrameStats,
    pub pool: Pool,
    pub cache: Cache,
}

impl Context {
    /// Begins a frame.
    pub(crate) fn begin(&mut self, graph: u32) {
        self.frame += 1;
        self.graph = graph;
        self.mistake = None;
        self.declared.begin();
        self.stats = FrameStats::default();
        self.pool.take_back_exports();
    }

    /// The uses of a pass.
    pub(crate) fn uses_of(&self, pass: u32) -> std::ops::Range<usize> {
        let end = |index: usize| self.pass_ends.get(index).map_or(0, |end| *end as usize);
        let start = if pass == 0 { 0 } else { end(pass as usize - 1) };
        start..end(pass as usize)
    }

    /// How many passes were declared.
    pub(crate) fn passes(&self) -> u32 {
        self.declared.passes.len() as u32
    }

    /// The passes of a scope.
    pub(crate) fn passes_of(&self, scope: Scope) -> &[u32] {
        &self.order[scope.first as usize..scope.end as usize]
    }

    /// The scope of the live pass at this position, if it is the first one there.
    pub(crate) fn scope_at(&self, position: usize) -> Option<usize> {
        self.scopes.binary_search_by_key(&(position as u32), |scope| scope.first).ok()
    }

    pub(crate) fn is_live(&self, pass: u32) -> bool {
        self.liveness.get(pass as usize).is_some_and(|live| *live != Liveness::Culled)
    }
}
