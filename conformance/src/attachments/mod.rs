//! Attachments: several colors, write masks and clears; blending; depth; stencil.

mod blend;
mod color;
mod depth;
mod stencil;

pub(crate) use blend::*;
pub(crate) use color::*;
pub(crate) use depth::*;
pub(crate) use stencil::*;
