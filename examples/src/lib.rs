//! The shaders of the examples, compiled by `build.rs`.
#![forbid(unsafe_code)]

#[allow(missing_docs)]
pub mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}
