//! What an encoder has bound, followed command by command: what is not dirty must be there already.

use crate::backend::{BindState, Dirty};

/// Of one kind of pass. Groups, vertex buffers and immediates are left out: a pipeline that does not use them need not
/// have them told.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// Everything that was dirty in some draw or dispatch.
    seen: Dirty,
    state: Option<Box<BindState>>,
}

impl Bound {
    /// Nothing is bound.
    pub fn forget(&mut self) {
        self.seen = Dirty::empty();
    }

    /// Whether the index buffer of an indexed draw was told.
    pub fn has_indices(&self, given: &BindState) -> bool {
        let same = |state: &BindState| {
            state.index_buffer == given.index_buffer && state.index_format == given.index_format
        };
        self.seen.contains(Dirty::INDEX_BUFFER) && self.state.as_deref().is_some_and(same)
    }

    /// Takes what is dirty, and panics unless all that was ever told is as `given` says.
    pub fn apply(&mut self, call: &str, label: &str, needed: Dirty, dirty: Dirty, given: &BindState) {
        self.seen |= dirty;
        assert!(
            self.seen.contains(needed),
            "null backend: {call}: the first call in encoder \"{label}\" has not set {:?}",
            needed - self.seen,
        );
        let state = self.state.get_or_insert_with(|| Box::new(given.clone()));
        if dirty.contains(Dirty::INDEX_BUFFER) {
            (state.index_buffer, state.index_format) = (given.index_buffer, given.index_format);
        }
        macro_rules! follow {
            ($($part:ident: $($field:ident),*;)*) => {$($(
                if dirty.contains(Dirty::$part) {
                    state.$field = given.$field;
                }
                assert!(
                    !self.seen.contains(Dirty::$part) || state.$field == given.$field,
                    "null backend: {call}: {} of encoder \"{label}\" is {:?}, and {:?} was never told",
                    stringify!($field),
                    state.$field,
                    given.$field,
                );
            )*)*};
        }
        follow! {
            PIPELINE: pipeline, layout;
            VIEWPORT: viewport;
            SCISSOR: scissor;
            BLEND_CONSTANT: blend_constant;
            STENCIL_REFERENCE: stencil_reference;
        }
    }
}
