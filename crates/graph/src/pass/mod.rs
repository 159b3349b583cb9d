//! Passes: builders that collect what a pass uses, and the bodies that record it.

mod body;
mod builder;
mod compute;
mod render;

pub(crate) use body::{Body, Missing, Resolver, SectionWork};
pub use body::{ComputeBody, RenderBody};
pub(crate) use builder::open;
pub use compute::ComputeBuilder;
pub use render::RenderBuilder;
