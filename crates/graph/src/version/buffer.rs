//! Buffer versions, their ranges, and the traits by which both are bound.

use std::marker::PhantomData;
use std::ops::Range;

use super::sealed::{ResourceRef, Sealed};
use super::{AsResource, AsResourceMut};

/// Names a buffer of one graph. It borrows nothing, so bodies keep it to find the physical buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId {
    pub(crate) graph: u32,
    pub(crate) index: u32,
}

/// The size that means "the rest".
pub(crate) const REST: u64 = u64::MAX;

/// A buffer or a range of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferRef {
    pub(crate) id: BufferId,
    pub(crate) offset: u64,
    /// [`REST`] for everything from the offset on.
    pub(crate) size: u64,
}

impl BufferRef {
    /// Whether it is the same part, if of another graph.
    #[inline]
    pub(crate) fn same(&self, new: &Self) -> bool {
        self.id.index == new.id.index && self.offset == new.offset && self.size == new.size
    }

    /// A part of this range, relative to it. A part that reaches beyond it becomes one that the compile step refuses.
    pub(crate) fn range(self, part: Range<u64>) -> Self {
        let inside = self.size == REST || part.end <= self.size;
        let size = part.end.saturating_sub(part.start);
        let size = if inside { size } else { REST - 1 };
        Self { offset: self.offset.saturating_add(part.start), size, ..self }
    }
}

/// Something that a pass can read as a buffer.
pub trait AsBuffer: AsResource {
    #[doc(hidden)]
    fn buffer_ref(&self) -> BufferRef;
}

/// Something that a pass can write as a buffer.
pub trait AsBufferMut: AsBuffer + AsResourceMut {}

/// A buffer of the graph as of the last pass that borrowed it mutably. See the [module](super).
#[derive(Debug)]
#[must_use = "a version that no pass borrows is never made"]
pub struct BufferVersion {
    whole: BufferRef,
}

impl BufferVersion {
    pub(crate) fn new(id: BufferId) -> Self {
        Self { whole: BufferRef { id, offset: 0, size: REST } }
    }

    /// The buffer's name, for bodies.
    pub fn id(&self) -> BufferId {
        self.whole.id
    }

    /// Some bytes, to read.
    pub fn range(&self, bytes: Range<u64>) -> BufferRange<'_> {
        BufferRange { part: self.whole.range(bytes), version: PhantomData }
    }

    /// Some bytes, to write.
    pub fn range_mut(&mut self, bytes: Range<u64>) -> BufferPart<'_> {
        BufferPart { part: self.whole.range(bytes), version: PhantomData }
    }

    /// The bytes before and from `middle` on, so that one can be read while the other is written.
    pub fn split_at_mut(&mut self, middle: u64) -> (BufferPart<'_>, BufferPart<'_>) {
        split(self.whole, middle)
    }
}

fn split<'v>(whole: BufferRef, middle: u64) -> (BufferPart<'v>, BufferPart<'v>) {
    let rest = if whole.size == REST { REST } else { whole.size.saturating_sub(middle) };
    let after = BufferRef { offset: whole.offset.saturating_add(middle), size: rest, ..whole };
    (
        BufferPart { part: whole.range(0..middle), version: PhantomData },
        BufferPart { part: after, version: PhantomData },
    )
}

/// A range of a buffer that a pass may write. Works wherever a [`BufferVersion`] does.
#[derive(Debug)]
pub struct BufferPart<'v> {
    part: BufferRef,
    version: PhantomData<&'v mut BufferVersion>,
}

impl BufferPart<'_> {
    /// The buffer's name, for bodies.
    pub fn id(&self) -> BufferId {
        self.part.id
    }

    /// The bytes before and from `middle` on, counted from the part's start.
    pub fn split_at_mut(&mut self, middle: u64) -> (BufferPart<'_>, BufferPart<'_>) {
        split(self.part, middle)
    }
}

/// A range of a buffer that passes may read.
#[derive(Debug, Clone, Copy)]
pub struct BufferRange<'v> {
    part: BufferRef,
    version: PhantomData<&'v BufferVersion>,
}

impl BufferRange<'_> {
    /// The buffer's name, for bodies.
    pub fn id(&self) -> BufferId {
        self.part.id
    }
}

macro_rules! buffers {
    ($($type:ty => $field:ident),* $(,)?) => {$(
        impl Sealed for $type {}
        impl AsResource for $type {
            fn resource_ref(&self) -> ResourceRef { ResourceRef::Buffer(self.$field) }
        }
        impl AsBuffer for $type {
            fn buffer_ref(&self) -> BufferRef { self.$field }
        }
    )*};
}
buffers!(BufferVersion => whole, BufferPart<'_> => part, BufferRange<'_> => part);

impl AsResourceMut for BufferVersion {}
impl AsResourceMut for BufferPart<'_> {}
impl AsBufferMut for BufferVersion {}
impl AsBufferMut for BufferPart<'_> {}
