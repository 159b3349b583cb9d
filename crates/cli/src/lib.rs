//! The Purlin demo: a small honest renderer that shows the render graph.
//!
//! [`scene`] is plain data from a glTF file or from nothing; [`renderer`] draws it through the graph on any backend;
//! [`run`] is the program around them: arguments in, a picture, a report and a table out. Start reading at
//! `renderer/frame.rs`.
#![forbid(unsafe_code)]

pub mod args;
pub mod error;
pub mod output;
pub mod picture;
mod progress;
pub mod renderer;
pub mod run;
pub mod scene;
mod summary;

/// The compiled shaders: code, entry points, layouts and host structures, as `purlin-shader` generates them.
pub mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}
