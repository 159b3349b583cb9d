//! Purlin's Vulkan backend, hand-written on `ash`.
//!
//! It implements [`purlin_rhi::backend::Backend`] on Vulkan 1.3 and nothing else: what to do, in what order and with
//! which dependencies was decided above. The contracts of this crate, one a line:
//!
//! - **Baseline.** Vulkan 1.3 with synchronization2, timeline semaphores, dynamic rendering, host query reset and
//!   separate depth-stencil layouts. An adapter below it stays in the catalog and says what it lacks; there is no
//!   second, older path.
//! - **One queue** of a family with graphics and compute. One timeline semaphore carries every submission ordinal.
//! - **Barriers** are lowered bit by bit, one `vkCmdPipelineBarrier2` a batch. This crate adds none and drops none,
//!   and reads no state to find out whether one is needed.
//! - **Depth and stencil** have a layout each. A barrier over both aspects uses the combined name of the same state.
//! - **Nothing is hashed and nothing allocated** while recording. Tables are indexed by slot; bindings, barriers and
//!   attachments are gathered on the stack.
//! - **Coordinates.** Viewports have a negative height, so clip space Y is up and row 0 is the top.
//! - **Bind groups** come from pools that belong to their layout. All sets of a pool are allocated at once and are
//!   reused, so a warm creation is one pop and one templated update.
//! - **Encoders** own a command pool each, so threads record without locks; a pool is reset when its submission is
//!   complete. Sections of a raster pass are secondary command buffers with pools of their own.
//! - **Teardown** waits for the GPU, at most [`TEARDOWN_TIMEOUT`]; a device that hangs longer is leaked, with an
//!   error in the log, rather than destroyed under running work.
//! - **Adopted devices** ([`Vulkan::adopt`]) are used and never destroyed, and have what their owner says is enabled.
//! - **Mapped memory** is always coherent, so neither side flushes. Callers do not write one range from two threads.
//!
//! What it refuses
//! - `robustBufferAccess` stays off: bindings are checked against buffer sizes above, and the feature costs speed on
//!   every access. Shaders that index past a binding are the shader compiler's bounds policy to catch.
//! - Debug names and labels cost nothing unless somebody reads them: they are sent when validation is on or when a
//!   capture tool says that it takes markers (`vkGetPhysicalDeviceToolProperties`).
//! - Formats that need more than a plain image (planar video formats, 64-bit integers, HDR ASTC) have no uses.
//! - Transient attachments are ordinary ones.
//!
//! `unsafe` lives here so that it need not live above. Every block says why it is sound; most rest on the contracts
//! of the [`Backend`](purlin_rhi::backend::Backend) trait (validated arguments, live slots, one thread an encoder).

mod adapter;
mod adopt;
mod backend;
mod barrier;
mod binding;
mod cache;
mod command;
mod convert;
mod copy;
mod device;
mod draw;
mod instance;
mod label;
mod memory;
mod messages;
mod pipeline;
mod query;
mod queue;
mod resource;
mod section;
mod surface;
mod swapchain;

pub use adopt::AdoptedDevice;
pub use ash;
pub use command::VulkanEncoder;
pub use device::{TEARDOWN_TIMEOUT, Vulkan};
pub use messages::ValidationMessages;
pub use pipeline::CompiledPipeline;
