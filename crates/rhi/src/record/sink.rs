//! Where a raster pass's checked commands go: to the encoder of a pass, or into a command batch.

use crate::backend::{Backend, BindState, Dirty, Draw, Encoder, NativeQuery};

/// Takes commands that were checked.
pub trait DrawSink<B: Backend> {
    /// As [`Encoder::keeps_state`].
    fn keeps_state(&self) -> bool;
    /// As [`Encoder::draw`].
    fn draw(&mut self, backend: &B, dirty: Dirty, state: &BindState, draw: Draw);
    /// As [`Encoder::push_label`].
    fn push_label(&mut self, backend: &B, label: &str);
    /// As [`Encoder::pop_label`].
    fn pop_label(&mut self, backend: &B);
}

/// The encoder of a pass.
#[derive(Debug)]
pub struct PassEncoder<'p, B: Backend>(pub(super) &'p mut B::Encoder);

impl<B: Backend> PassEncoder<'_, B> {
    pub(super) fn begin_query(&mut self, backend: &B, query: NativeQuery, query_set: u32, index: u32) {
        self.0.begin_query(backend, query, query_set, index);
    }

    pub(super) fn end_query(&mut self, backend: &B, query: NativeQuery, query_set: u32, index: u32) {
        self.0.end_query(backend, query, query_set, index);
    }
}

impl<B: Backend> DrawSink<B> for PassEncoder<'_, B> {
    #[inline(always)]
    fn keeps_state(&self) -> bool {
        self.0.keeps_state()
    }

    #[inline(always)]
    fn draw(&mut self, backend: &B, dirty: Dirty, state: &BindState, draw: Draw) {
        self.0.draw(backend, dirty, state, draw);
    }

    #[inline(always)]
    fn push_label(&mut self, backend: &B, label: &str) {
        self.0.push_label(backend, label);
    }

    #[inline(always)]
    fn pop_label(&mut self, backend: &B) {
        self.0.pop_label(backend);
    }
}
