//! Purlin's render graph: passes declared in the order of execution, with everything between them found out.
//!
//! A graph is declared anew each frame. What is not declared does not exist: no pass is registered, none must be removed.
//! From what each pass binds the graph derives the rest: which passes are worth running, which textures can share
//! memory, what is stored, which barriers stand between, and the bind groups of it all. Nothing is silently reordered.
//!
//! # The life of a frame
//! 1. **Declare.** [`Graph::new`] borrows a [`GraphArena`], which keeps all memory from frame to frame, and no device.
//!    Resources are *versions*: a pass that reads one borrows `&version`, a pass that writes it `&mut version`. Sampling
//!    what the same pass writes does not compile. Mips, layers and byte ranges split off like slices
//!    ([`TextureVersion::split_mips`]).
//! 2. **Bind where you declare.** `.bind` takes the layout that reflection has checked, so access and stages cannot be
//!    forgotten or overstated. Groups are made by the graph and kept while the placement lasts. Resources with uploaded
//!    contents ([`bind::view`], [`bind::uploaded`]) need no version.
//! 3. **Say what is wanted.** Writes to imports, exports, readbacks and passes with a side effect are roots; what they do
//!    not need is culled, its closure dropped without being run.
//! 4. **Submit.** [`Graph::submit`] compiles, records and submits. An error names the pass, the resource and the source
//!    line, and then nothing has changed. A warm frame allocates nothing and creates nothing.
//! 5. **Look.** With [`GraphArena::set_report`] the submission carries a [`GraphReport`]: every pass and why it is live,
//!    every barrier and what it waits for, every lifetime; as JSON, DOT, or a page.
//!
//! ```
//! use purlin_graph::{Graph, GraphArena, TransientBuffer, TransientTexture};
//! use purlin_rhi::null::{Null, NullConfig};
//! use purlin_rhi::types::TextureFormat;
//! use purlin_rhi::{ClearValue, Device, DeviceRequest, LoadOp};
//!
//! let mut device = Device::from_backend(Null::new(NullConfig::executing()), &DeviceRequest::default())?;
//! let mut arena = GraphArena::new(); // kept for as long as the renderer
//!
//! for _frame in 0..3 {
//!     let mut graph = Graph::new("frame", &mut arena);
//!     let mut color = graph.texture("color", TransientTexture::d2(TextureFormat::Rgba8Unorm, 4, 4));
//!     let mut debug = graph.texture("debug", TransientTexture::d2(TextureFormat::Rgba8Unorm, 4, 4));
//!     let mut texels = graph.buffer("texels", TransientBuffer::new(4 * 256));
//!
//!     let white = LoadOp::Clear(ClearValue::Float([1.0; 4]));
//!     graph.render("scene").color(0, &mut color, white).record(|pass| {
//!         // pass.set_pipeline(..); pass.draw(..);
//!         assert_eq!(pass.extent(), (4, 4));
//!     });
//!     graph.render("debug view").color(0, &mut debug, white).record(|_| unreachable!("nobody looks at it"));
//!     let layout = purlin_rhi::TexelLayout { offset: 0, bytes_per_row: 256, rows_per_image: 4 };
//!     graph.copy_texture_to_buffer("copy", &color, &mut texels, layout);
//!     let read = graph.read_buffer(&texels.range(0..16));
//!
//!     let mut submitted = graph.submit(&mut device)?;
//!     assert_eq!((submitted.stats.passes, submitted.stats.culled), (4, 1));
//!     let ticket = submitted.take_read(read).expect("the first time it is asked for");
//!     assert_eq!(device.read_vec(&ticket)?, [255; 16]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A pass with a pipeline
//! ```no_run
//! # use purlin_graph::{Graph, GraphArena, TextureVersion, bind};
//! # use purlin_rhi::{null::Null, BindGroupLayout, LoadOp, RenderPipeline, Sampler};
//! # fn pass(graph: &mut Graph<'_, Null>, scene: &TextureVersion, screen: &mut TextureVersion, tonemap_layout: BindGroupLayout,
//! #     linear: Sampler, tonemap: RenderPipeline) {
//! graph
//!     .render("tonemap")
//!     .color(0, screen, LoadOp::DontCare)
//!     .bind(0, tonemap_layout, [bind::texture(scene), bind::sampler(linear)])
//!     .fullscreen(tonemap);
//! # }
//! ```
//!
//! # Frames that repeat
//! A frame that is declared like the last one is not compiled again. Declaring compares; what is no structure (labels,
//! pipelines, bodies, draws, clear values, uploaded data, other imports of the same description) may change freely. See
//! [`FrameStats::reused`].
//!
//! # Passes recorded as one
//! With [`GraphOptions::merge`], raster passes that continue the one before, in the same attachments and with the same
//! reads, share its native pass. Each still begins with nothing set but what it binds, and the image is the same.
//!
//! # Memory
//! Equal transients take turns in one place when their lives do not overlap. With [`GraphOptions::alias`], textures of any
//! size and format lie over each other in heaps, packed by lifetime; what takes memory over waits for what had it.
//! [`FrameStats`] says what all would take alone, what they take, and the least that they could.
//!
//! # Closures
//! What a closure borrows lives longer than its graph: prepare data before [`Graph::new`], and take names of graph
//! resources by value ([`TextureVersion::id`]).
//!
//! # What it does not do
//! It does not reorder passes, does not guess at accesses, and does not track what only uploads write.
#![forbid(unsafe_code)]

// Files that the tests share with other programs call this crate by its name.
#[cfg(test)]
extern crate self as purlin_graph;

mod arena;
pub mod bind;
#[cfg(feature = "bounds")]
mod bounds;
mod cache;
mod clock;
mod context;
mod declare;
mod error;
mod graph;
mod heaps;
mod kept;
#[cfg(feature = "mips")]
mod mips;
mod packing;
mod pass;
mod phase;
mod pool;
mod record;
pub mod report;
mod runs;
mod stats;
#[cfg(test)]
mod tests;
mod transient;
pub mod version;

pub use arena::GraphArena;
#[cfg(feature = "bounds")]
pub use bounds::{ArgumentBounds, BoundsSlice, IndirectBounds};
pub use context::GraphOptions;
pub use declare::PassKind;
pub use error::GraphError;
pub use graph::Graph;
#[cfg(feature = "mips")]
pub use mips::Mips;
pub use pass::{ComputeBody, ComputeBuilder, RenderBody, RenderBuilder};
pub use purlin_rhi::plan::HazardMode;
pub use report::GraphReport;
pub use stats::{ExportId, FrameStats, QueryReadId, ReadId, Submitted};
pub use transient::{ImportTexture, TransientBuffer, TransientTexture};
pub use version::{
    AsBuffer, AsBufferMut, AsResource, AsResourceMut, AsTexture, AsTextureMut, BufferId, BufferPart,
    BufferRange, BufferVersion, TextureId, TexturePart, TextureParts, TextureSlice, TextureVersion,
};
