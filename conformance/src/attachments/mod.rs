//! Attachments: several colors, write masks and clears; blending; depth; stencil; samples.

mod blend;
mod color;
mod depth;
mod multisample;
mod stencil;

pub(crate) use blend::*;
pub(crate) use color::*;
pub(crate) use depth::*;
pub(crate) use multisample::*;
pub(crate) use stencil::*;
