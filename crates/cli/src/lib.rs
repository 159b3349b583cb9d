//! The Purlin demo: a small honest renderer that shows the render graph.
//!
//! [`scene`] is plain data from a glTF file or from nothing; [`renderer`] draws it through the graph on any backend;
//! [`run`] is the program around them: arguments in, a picture, a report and a table out. Start reading at
//! `renderer/frame.rs`.
#![forbid(unsafe_code)]

#[cfg(feature = "program")]
pub mod args;
pub mod error;
#[cfg(feature = "program")]
mod formats;
#[cfg(feature = "program")]
pub mod output;
#[cfg(feature = "program")]
pub mod picture;
#[cfg(feature = "program")]
mod progress;
pub mod renderer;
#[cfg(feature = "program")]
pub mod run;
pub mod scene;
pub mod size;
#[cfg(feature = "program")]
mod summary;

/// The compiled shaders: code, entry points, layouts and host structures, as `purlin-shader` generates them.
pub mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}
