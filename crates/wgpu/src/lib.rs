//! Purlin's backend on `wgpu`: Vulkan, Metal, Direct3D 12 and OpenGL natively, WebGPU and WebGL 2 in the browser.
//!
//! It implements [`purlin_rhi::backend::Backend`] and nothing else: what to do and in what order was decided above.
//! The contracts of this crate, one a line:
//!
//! - **One type** for every API below wgpu. [`WgpuOptions`] says which may be used; the adapter's `backend` says which
//!   it is: `wgpu-vulkan`, `wgpu-metal`, `wgpu-dx12`, `wgpu-gl`, `webgpu`.
//! - **Barriers** are empty: wgpu follows every resource itself.
//! - **Capabilities** are what wgpu says of the adapter. What WebGPU forbids and Vulkan does not is a missing feature or
//!   limit, or is done by other means with the same result; both are listed below.
//! - **Uploads** are written to memory of the CPU and reach the GPU in one piece with the next submission.
//! - **Readbacks** are mapped after the submission that writes them, and count for its completion: an ordinal is
//!   complete when its work is done *and* what it read back lies mapped.
//! - **Waiting** polls natively. In the browser nothing can wait: [`Backend::wait`](purlin_rhi::backend::Backend::wait)
//!   answers what is complete already, and completion moves on between tasks of the event loop.
//! - **Errors** of a device that this crate made come through its uncaptured-error handler, those of an adopted one
//!   through error scopes. Natively they belong to the call that made them; a browser tells them later, and then
//!   the next call that can fail reports the first one.
//! - **Surfaces** are of windows, and in a browser of a `Canvas` too, which is opaque. wgpu waits for an image as long as it
//!   likes, takes no number of images, and makes a texture for each frame, so acquisitions allocate. WebGPU in a browser takes
//!   an image back when the task ends that acquired it: present it in that task. A WebGL 2 device is the context of one
//!   canvas, its request's, and presents to no other.
//! - **Loss** is noted by wgpu's callback. An adopted device has one callback, which is its owner's: see [`Loss`].
//!
//! What is done by other means
//! - Copies within one buffer go through a scratch buffer, copies whose length is no multiple of four through a texture
//!   of bytes: WebGPU has neither.
//! - Copies between layers and slices go slice by slice: wgpu mixes the two up.
//! - Immediates are a uniform buffer where the API has none.
//! - Timestamps around passes are the passes' own where the API has no others; what is no pass is timed by empty ones.
//! - A base vertex that WebGL 2 lacks moves the vertex buffers, unless the shader asks for the vertex's index.
//! - What WebGL 2 may not copy to index buffers is written by the CPU that uploads it.
//! - Depth of 32 bits is read back in OpenGL by a pass that writes its bits to a color texture.
//! - Attachments whose contents are not needed are cleared, which is what wgpu's safe interface has.
//!
//! What it refuses
//! - Counting the native API's validation messages: wgpu sends them to the `log` crate.
#![forbid(unsafe_code)]

mod adapter;
mod backend;
mod binding;
#[cfg(target_arch = "wasm32")]
mod browser;
mod buffer;
#[cfg(target_arch = "wasm32")]
mod canvas;
mod command;
mod copy;
mod depth;
mod device;
mod draw;
mod errors;
mod formats;
mod immediates;
mod pipeline;
mod query;
mod queue;
mod surface;
mod texture;
mod wgsl;

#[cfg(target_arch = "wasm32")]
pub use canvas::Canvas;
pub use command::WgpuEncoder;
pub use device::{Wgpu, WgpuOptions, compiled};
pub use errors::Loss;
#[cfg(target_arch = "wasm32")]
pub use web_sys::HtmlCanvasElement;

/// The wgpu that this crate speaks, for adopting devices.
pub use wgpu;
