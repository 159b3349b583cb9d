//! Placeholder.
#![forbid(unsafe_code)]
pub mod backend;
pub mod caps;
pub mod desc;
pub mod error;
pub mod handle;
pub mod plan;
pub mod request;
pub mod shader;
pub mod types;
pub use error::{Error, Result};
