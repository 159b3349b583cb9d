//! Pipelines as programs use them: requested, prewarmed, kept on disk, replaced while the program runs; on the null device
//! and on Vulkan. Tests that begin with `cNNN_` are the cases of `conformance/CASES.md`.

mod support;

mod cache;
mod hot_reload;
mod prewarm;
mod requests;
