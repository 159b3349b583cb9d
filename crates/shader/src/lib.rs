//! Purlin's offline shader compiler: WGSL in; SPIR-V, resolved WGSL, reflection, a manifest and typed Rust out.
//!
//! A shader that is wrong must fail the build, not a frame on somebody's machine. So everything that can be known
//! of a shader is found here, once, before the program runs: whether it is valid, whether every target the package
//! declares can express it, which bindings each entry point uses and how, and where each byte of each structure
//! lies. The result is a Rust module of constants and plain structs. Nothing is parsed at run time.
//!
//! # From a build script
//!
//! ```no_run
//! // In `main` of build.rs:
//! purlin_shader::build(
//!     purlin_shader::Package::new("shaders")
//!         .source("shaders/cull.wgsl")
//!         .source("shaders/draw.wgsl")
//!         .include_dir("shaders/lib"),
//! );
//! ```
//!
//! ```ignore
//! // src/main.rs: the generated module refers to `::purlin_rhi` (see `Package::crate_path`) and `::bytemuck`.
//! pub mod shaders {
//!     include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
//! }
//!
//! let pipeline = device.create_compute_pipeline(&shaders::cull::SHADER, shaders::cull::entries::CS_MAIN);
//! let camera = shaders::cull::Camera::new(view_projection, eye);
//! ```
//!
//! The same from a shell: `purlin-shader check`, `purlin-shader build`, `purlin-shader reflect`.
//!
//! # What is generated
//!
//! One `pub mod` for each shader file, named after it, with
//! - `SHADER`, the code of each target and the reflection of each entry point;
//! - `entries`, the entry points' names; `bindings`, each resource's group, binding and type;
//! - `GROUP0` and so on, and `GROUPS`: bind group layouts, visible to every stage of the module that uses them;
//! - `vertex`, attributes of each vertex entry point packed tightly in one buffer, and their stride;
//! - a `#[repr(C)]` struct for every structure that host and shader share, padding explicit, layout asserted at
//!   compile time, with `new` and `Default` so that nobody names the padding;
//! - an `ArrayLayout` for every runtime-sized array: where elements start, their stride, how many fit.
//!
//! A structure that several shader files import under one name and layout is one Rust type, in `shared`.
//!
//! # Imports
//!
//! A line `#import "file.wgsl"` (or `// #include "file.wgsl"`, which WGSL tools read as a comment) is replaced by
//! the file's text, once for each module. Errors point into the file where the text was written. naga_oil is not
//! used: its latest release (0.23) is built for an older naga than the one this crate compiles with, and mangles
//! names, which would then show up in generated code. There are no defines: WGSL has `const` and `override`.
//!
//! # Conventions of the output
//!
//! - Clip space keeps WGSL's rule, Y up and depth 0 to 1. SPIR-V does not flip Y; a Vulkan backend sets a viewport
//!   of negative height.
//! - SPIR-V is version 1.3 with debug names. Indices are clamped ([`BoundsChecks`]), integer division by zero is
//!   defined, workgroup memory starts as zero, fragment depth is clamped to 0..1, loops are left alone.
//! - naga decorates one array or struct type for all address spaces. Validation layers that know
//!   `VUID-StandaloneSpirv-None-10684` report layout decorations on function or private variables; they have no
//!   effect there.
//! - `override` constants take their default values. One without a default is an error, since nothing at run time
//!   could supply it.
//! - Same input, same bytes: no time stamps, no absolute paths.

#![forbid(unsafe_code)]

mod compile;
mod error;
mod generate;
mod layout;
mod manifest;
mod output;
mod package;
pub mod reflect;
mod source;
mod target;

pub use error::{Diagnostic, Error, Location};
pub use layout::{HostField, HostStruct, HostType, RuntimeArray, Scalar};
pub use output::Written;
pub use package::{Compiled, Package, Shader, build};
pub use target::{BoundsChecks, Target};

/// naga's set of optional language features, for [`Package::capabilities`].
pub use naga::valid::Capabilities;

/// The version of this compiler, as manifests name it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of naga that this compiler was built with, as manifests name it.
pub const NAGA_VERSION: &str = env!("PURLIN_NAGA_VERSION");
