//! Draws whose arguments lie in buffers.

use super::RenderPass;
use crate::backend::{Backend, Draw};
use crate::capability::MultiDrawIndirectCount;
use crate::caps::Features;
use crate::error::{Result, invalid};
use crate::handle::Buffer;
use crate::record::compute::indirect;
use crate::record::sink::DrawSink;

/// Bytes of the arguments of one draw without and with indices.
const ARGUMENTS: u32 = 16;
const INDEXED_ARGUMENTS: u32 = 20;

/// Where arguments lie, and how many there are.
#[derive(Debug, Clone, Copy)]
struct Arguments {
    buffer: Buffer,
    offset: u64,
    count: u32,
    stride: u32,
    /// Bytes of one.
    size: u32,
}

impl<B: Backend, E: DrawSink<B>> RenderPass<'_, B, E> {
    /// Draws by 16 bytes of arguments in a buffer.
    pub fn draw_indirect(&mut self, buffer: Buffer, offset: u64) {
        self.multi_draw_indirect(buffer, offset, 1, 16);
    }

    /// Draws by 20 bytes of arguments in a buffer.
    pub fn draw_indexed_indirect(&mut self, buffer: Buffer, offset: u64) {
        self.multi_draw_indexed_indirect(buffer, offset, 1, 20);
    }

    /// Draws `count` times by arguments in a buffer; zero draws nothing. The pass declares the buffer as `Indirect` when
    /// its contents are tracked. A `first_instance` other than zero needs `INDIRECT_FIRST_INSTANCE`.
    pub fn multi_draw_indirect(&mut self, buffer: Buffer, offset: u64, count: u32, stride: u32) {
        let arguments = Arguments { buffer, offset, count, stride, size: ARGUMENTS };
        if self.check_indirect(arguments, "multi_draw_indirect") {
            let draw = Draw::Indirect { buffer: buffer.slot(), offset, count, stride };
            self.issue("multi_draw_indirect", draw);
        }
    }

    /// As [`Self::multi_draw_indirect`], by indices.
    pub fn multi_draw_indexed_indirect(&mut self, buffer: Buffer, offset: u64, count: u32, stride: u32) {
        let arguments = Arguments { buffer, offset, count, stride, size: INDEXED_ARGUMENTS };
        if self.check_indirect(arguments, "multi_draw_indexed_indirect") {
            let draw = Draw::IndexedIndirect { buffer: buffer.slot(), offset, count, stride };
            self.issue("multi_draw_indexed_indirect", draw);
        }
    }

    fn check_indirect(&mut self, arguments: Arguments, call: &'static str) -> bool {
        if self.bindings.mistake.is_some() {
            return false;
        }
        match self.check_arguments(arguments, call) {
            Ok(()) => true,
            Err(error) => {
                self.bindings.fail(error);
                false
            }
        }
    }

    /// Draws as many times as four bytes at `counts` say, and at most `most` times. The pass declares both buffers as
    /// `Indirect` when their contents are tracked. wgpu wants the arguments close together: a stride of 16.
    pub fn multi_draw_indirect_count(
        &mut self,
        _capability: MultiDrawIndirectCount,
        (buffer, offset): (Buffer, u64),
        counts: (Buffer, u64),
        most: u32,
        stride: u32,
    ) {
        const CALL: &str = "multi_draw_indirect_count";
        let arguments = Arguments { buffer, offset, count: most, stride, size: ARGUMENTS };
        if let Some(count_offset) = self.check_counted(arguments, counts, CALL) {
            let (buffer, count_buffer) = (buffer.slot(), counts.0.slot());
            self.issue(
                CALL,
                Draw::IndirectCount { buffer, offset, count_buffer, count_offset, most, stride },
            );
        }
    }

    /// As [`Self::multi_draw_indirect_count`], by indices; close together is a stride of 20.
    pub fn multi_draw_indexed_indirect_count(
        &mut self,
        _capability: MultiDrawIndirectCount,
        (buffer, offset): (Buffer, u64),
        counts: (Buffer, u64),
        most: u32,
        stride: u32,
    ) {
        const CALL: &str = "multi_draw_indexed_indirect_count";
        let arguments = Arguments { buffer, offset, count: most, stride, size: INDEXED_ARGUMENTS };
        if let Some(count_offset) = self.check_counted(arguments, counts, CALL) {
            let (buffer, count_buffer) = (buffer.slot(), counts.0.slot());
            let draw =
                Draw::IndexedIndirectCount { buffer, offset, count_buffer, count_offset, most, stride };
            self.issue(CALL, draw);
        }
    }

    /// Whether draws with a `first_instance` from a buffer are possible on this device.
    pub fn indirect_first_instance(&self) -> bool {
        self.backend.capabilities().features.contains(Features::INDIRECT_FIRST_INSTANCE)
    }

    fn check_counted(
        &mut self,
        arguments: Arguments,
        counts: (Buffer, u64),
        call: &'static str,
    ) -> Option<u32> {
        if self.bindings.mistake.is_some() {
            return None;
        }
        let checked = self.check_arguments(arguments, call).and_then(|()| {
            indirect(&self.bindings, counts.0, counts.1, 4, call)?;
            u32::try_from(counts.1)
                .map_err(|_| invalid(self.bindings.what(call), "counts", "an offset below 4 GiB", counts.1))
        });
        match checked {
            Ok(offset) => Some(offset),
            Err(error) => {
                self.bindings.fail(error);
                None
            }
        }
    }

    fn check_arguments(&self, arguments: Arguments, call: &'static str) -> Result<()> {
        let Arguments { buffer, offset, count, stride, size } = arguments;
        if count > 1 && (stride < size || !stride.is_multiple_of(4)) {
            let expected = format!("a multiple of 4 of at least {size}");
            return Err(invalid(self.bindings.what(call), "stride", expected, stride));
        }
        let bytes = if count == 0 { 0 } else { u64::from(count - 1) * u64::from(stride) + u64::from(size) };
        indirect(&self.bindings, buffer, offset, bytes, call)
    }
}
