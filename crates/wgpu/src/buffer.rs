//! Buffers: on the GPU, written by the CPU, or read by it.
//!
//! wgpu has no memory that both sides may reach while work runs. What the CPU writes is kept in a shadow and sent with
//! the next submission; what it reads is mapped after the submission that wrote it.

use std::sync::Mutex;

use purlin_rhi::backend::NativeResult;
use purlin_rhi::desc::{BufferDesc, MemoryClass};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::BufferUsages;

use crate::device::Wgpu;
use crate::errors::lock;

/// Spans closer than this are sent as one.
const NEAR: u64 = 256;
/// More spans than this are sent as one.
const MOST_SPANS: usize = 32;

/// What the CPU wrote and the GPU has not seen.
#[derive(Debug)]
pub(crate) struct Shadow {
    bytes: Vec<u8>,
    /// Written since the last submission; in no order, none near its predecessor.
    spans: Vec<(u64, u64)>,
}

impl Shadow {
    fn new(size: u64) -> Self {
        Self { bytes: vec![0; size as usize], spans: Vec::new() }
    }

    /// What the CPU wrote, sent or not.
    pub(crate) fn bytes(&self, offset: u64, size: u64) -> &[u8] {
        &self.bytes[offset as usize..][..size as usize]
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        self.bytes[offset as usize..end as usize].copy_from_slice(data);
        match self.spans.last_mut() {
            Some((begin, last)) if offset <= *last + NEAR && *begin <= end + NEAR => {
                *begin = offset.min(*begin);
                *last = end.max(*last);
            }
            _ => self.spans.push((offset, end)),
        }
        if self.spans.len() > MOST_SPANS {
            let all = self.spans.drain(..).fold((u64::MAX, 0), |(a, b), (c, d)| (a.min(c), b.max(d)));
            self.spans.push(all);
        }
    }

    /// Hands out the spans, widened to multiples of four, and forgets them.
    fn flush(&mut self, mut send: impl FnMut(u64, &[u8])) {
        for (begin, end) in self.spans.drain(..) {
            let (begin, end) = (begin & !3, end.next_multiple_of(4));
            send(begin, &self.bytes[begin as usize..end as usize]);
        }
    }
}

/// Where a buffer's memory lives, and what the CPU holds of it.
#[derive(Debug)]
pub(crate) enum Memory {
    Device,
    Upload(Mutex<Shadow>),
    Readback {
        /// Whether it is mapped, or will be before its submission counts as complete.
        mapped: bool,
    },
}

/// A buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub raw: wgpu::Buffer,
    pub memory: Memory,
}

impl Buffer {
    /// Makes a readback buffer writable for the GPU again.
    pub fn unmap(&mut self) {
        if let Memory::Readback { mapped } = &mut self.memory
            && std::mem::take(mapped)
        {
            self.raw.unmap();
        }
    }
}

impl Wgpu {
    pub(crate) fn new_buffer(
        &mut self,
        slot: u32,
        desc: &BufferDesc<'_>,
        class: MemoryClass,
    ) -> NativeResult {
        // Copies and clears go by four; an empty buffer can be bound nowhere.
        let size = desc.size.max(4).next_multiple_of(4);
        let copies = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let (usage, memory) = match class {
            MemoryClass::Device => (desc.usage | copies, Memory::Device),
            MemoryClass::Upload => (desc.usage | copies, Memory::Upload(Mutex::new(Shadow::new(size)))),
            MemoryClass::Readback => {
                (BufferUsages::MAP_READ | BufferUsages::COPY_DST, Memory::Readback { mapped: false })
            }
        };
        let native =
            wgpu::BufferDescriptor { label: self.label(desc.label), size, usage, mapped_at_creation: false };
        let raw = self
            .errors
            .catch(&self.device, "create_buffer", || self.device.create_buffer(&native))
            .map_err(|error| with_bytes(error, size))?;
        if class == MemoryClass::Upload {
            self.uploads.push(slot);
        }
        self.buffers.insert(slot, Buffer { raw, memory });
        Ok(())
    }

    pub(crate) fn free_buffer(&mut self, slot: u32) {
        if let Some(buffer) = self.buffers.take(slot) {
            if let Memory::Upload(_) = buffer.memory {
                self.uploads.retain(|other| *other != slot);
            }
            // A browser would keep the memory until it collects garbage.
            if cfg!(target_arch = "wasm32") {
                buffer.raw.destroy();
            }
        }
    }

    pub(crate) fn write_shadow(&self, slot: u32, offset: u64, data: &[u8]) {
        let Memory::Upload(shadow) = &self.buffers.get(slot).memory else {
            unreachable!("slot {slot} is no upload buffer")
        };
        if !data.is_empty() {
            lock(shadow).write(offset, data);
        }
    }

    /// Sends what was written since the last submission, before the command buffers of the next one.
    pub(crate) fn flush_shadows(&self) {
        for &slot in &self.uploads {
            let buffer = self.buffers.get(slot);
            if let Memory::Upload(shadow) = &buffer.memory {
                lock(shadow).flush(|offset, bytes| self.queue.write_buffer(&buffer.raw, offset, bytes));
            }
        }
    }

    pub(crate) fn read_mapping(&self, slot: u32, offset: u64, out: &mut [u8]) {
        let buffer = self.buffers.get(slot);
        match &buffer.memory {
            Memory::Readback { mapped: true } => copy_mapped(&buffer.raw, offset, out),
            // Nothing was ever copied here.
            _ => out.fill(0),
        }
    }
}

/// Copies out of a mapped buffer, in the steps that mapped ranges may begin and end at.
pub(crate) fn copy_mapped(buffer: &wgpu::Buffer, offset: u64, out: &mut [u8]) {
    if out.is_empty() {
        return;
    }
    let begin = offset & !(wgpu::MAP_ALIGNMENT - 1);
    let end = (offset + out.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT).min(buffer.size());
    match buffer.get_mapped_range(begin..end) {
        Ok(view) => out.copy_from_slice(&view[(offset - begin) as usize..][..out.len()]),
        // Only a lost device unmaps by itself, and then nobody may trust what was read.
        Err(error) => {
            tracing::error!(%error, "a readback is not mapped");
            out.fill(0);
        }
    }
}

/// wgpu does not say how much was asked for.
pub(crate) fn with_bytes(error: BackendError, size: u64) -> BackendError {
    match error {
        BackendError::OutOfMemory { .. } => BackendError::OutOfMemory { bytes: size },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(shadow: &mut Shadow) -> Vec<(u64, Vec<u8>)> {
        let mut sent = Vec::new();
        shadow.flush(|offset, bytes| sent.push((offset, bytes.to_vec())));
        sent
    }

    #[test]
    fn odd_writes_keep_their_neighbors() {
        let mut shadow = Shadow::new(16);
        shadow.write(0, &[1; 16]);
        assert_eq!(sent(&mut shadow), [(0, vec![1; 16])]);
        shadow.write(5, &[2; 2]);
        assert_eq!(sent(&mut shadow), [(4, vec![1, 2, 2, 1])]);
        assert_eq!(sent(&mut shadow), []);
    }

    #[test]
    fn near_spans_are_one_and_far_ones_are_not() {
        let mut shadow = Shadow::new(100_000);
        shadow.write(0, &[1; 8]);
        shadow.write(16, &[2; 8]);
        shadow.write(50_000, &[3; 4]);
        let spans: Vec<_> = sent(&mut shadow).into_iter().map(|(offset, b)| (offset, b.len())).collect();
        assert_eq!(spans, [(0, 24), (50_000, 4)]);
    }

    #[test]
    fn many_spans_become_one() {
        let mut shadow = Shadow::new(100_000);
        for index in (0..90).rev() {
            shadow.write(index * 1000, &[7; 4]);
        }
        let spans = sent(&mut shadow);
        assert!(spans.len() <= MOST_SPANS, "{}", spans.len());
        for index in 0..90u64 {
            let holds = |(offset, bytes): &(u64, Vec<u8>)| {
                *offset <= index * 1000 && index * 1000 + 4 <= offset + bytes.len() as u64
            };
            assert!(spans.iter().any(holds), "{index}");
        }
    }
}
