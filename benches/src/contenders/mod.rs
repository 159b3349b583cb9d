//! The contenders: the same work, three ways.

pub mod purlin;
pub mod vulkan;
pub mod wgpu;
