//! Buffers.

use crate::backend::Backend;
use crate::caps::Features;
use crate::desc::{BufferDesc, Contents, MemoryClass};
use crate::device::Device;
use crate::error::{Result, invalid, named, unsupported};
use crate::handle::{Buffer, ResourceKind, kind};
use crate::owned::Owned;
use crate::registry::BufferRecord;
use crate::types::BufferUsages;

const KNOWN: BufferUsages = BufferUsages::COPY_SRC
    .union(BufferUsages::COPY_DST)
    .union(BufferUsages::INDEX)
    .union(BufferUsages::VERTEX)
    .union(BufferUsages::UNIFORM)
    .union(BufferUsages::STORAGE)
    .union(BufferUsages::INDIRECT);

impl<B: Backend> Device<B> {
    /// Creates a buffer with undefined contents.
    ///
    /// # Errors
    /// A size over [`crate::Limits::max_buffer_size`], an empty usage or one that is not implemented, the memory
    /// budget, the slot ceiling, or memory.
    pub fn create_buffer(&mut self, desc: &BufferDesc<'_>) -> Result<Owned<kind::Buffer>> {
        self.check_lost("create_buffer")?;
        // What is charged is rounded up, as below.
        self.make_room(ResourceKind::Buffer, desc.size.checked_next_multiple_of(4).unwrap_or(desc.size))?;
        let handle = self.create_buffer_in(desc, MemoryClass::Device)?;
        Ok(self.own(handle))
    }

    pub(crate) fn create_buffer_in(&mut self, desc: &BufferDesc<'_>, memory: MemoryClass) -> Result<Buffer> {
        let what = || named(ResourceKind::Buffer, desc.label);
        self.check_lost("create_buffer")?;
        let most = self.limits().max_buffer_size;
        if desc.size > most {
            return Err(unsupported(
                what(),
                "limit max_buffer_size",
                format!("{} bytes requested, {most} available", desc.size),
            ));
        }
        if desc.usage.is_empty() {
            return Err(invalid(what(), "usage", "at least one usage", "none"));
        }
        if !KNOWN.contains(desc.usage) {
            let found = format!("{:?}", desc.usage - KNOWN);
            return Err(invalid(
                what(),
                "usage",
                "usages that GPU work has (mapping belongs to the services)",
                found,
            ));
        }
        if desc.usage.contains(BufferUsages::INDIRECT)
            && !self.capabilities().features.contains(Features::INDIRECT_EXECUTION)
        {
            return Err(unsupported(what(), "feature INDIRECT_EXECUTION", "usage INDIRECT requested"));
        }
        let others =
            BufferUsages::VERTEX | BufferUsages::UNIFORM | BufferUsages::STORAGE | BufferUsages::INDIRECT;
        if desc.usage.contains(BufferUsages::INDEX)
            && desc.usage.intersects(others)
            && !self.capabilities().features.contains(Features::MIXED_INDEX_BUFFERS)
        {
            let detail = format!("usage {:?} requested", desc.usage);
            return Err(unsupported(what(), "feature MIXED_INDEX_BUFFERS", detail));
        }
        // Rounded so that fills, word copies and odd index counts stay inside the allocation.
        let Some(padded_size) = desc.size.checked_next_multiple_of(4) else {
            return Err(invalid(what(), "size", "a size that can be rounded up to 4", desc.size));
        };
        self.check_budget(padded_size, what)?;
        let slot = self.registry.buffers.next_slot()?;
        let native = BufferDesc { size: padded_size, ..*desc };
        if let Err(error) = self.backend.create_buffer(slot, &native, memory) {
            return Err(self.backend_error(error, what()));
        }
        let handle: Buffer = self.registry.buffers.insert(
            slot,
            BufferRecord {
                label: desc.label.into(),
                native: self.backend.native_buffer(slot),
                size: desc.size,
                padded_size,
                usage: desc.usage,
                contents: desc.contents,
                memory,
                // The services write what they own before anything reads it.
                unwritten: desc.contents == Contents::Uploaded && memory == MemoryClass::Device,
            },
        );
        self.registry.charge(padded_size);
        self.registry.request(desc.size);
        self.ledger.add_buffer(slot, padded_size);
        Ok(handle)
    }

    /// Creates a buffer that only uploads write, and queues its first upload.
    ///
    /// # Errors
    /// As [`Self::create_buffer`] and [`Self::write_buffer`]; on an error no buffer is left.
    pub fn create_buffer_with(
        &mut self,
        label: &str,
        usage: BufferUsages,
        data: &[u8],
    ) -> Result<Owned<kind::Buffer>> {
        let desc = BufferDesc {
            contents: Contents::Uploaded,
            ..BufferDesc::uploaded(label, data.len() as u64, usage)
        };
        let buffer = self.create_buffer(&desc)?;
        if let Err(error) = self.write_buffer(*buffer, 0, data) {
            // Nothing uses it yet, so it goes at once.
            drop(buffer);
            let _ = self.maintain();
            return Err(error);
        }
        Ok(buffer)
    }

    /// What the buffer was created with.
    pub fn describe_buffer(&self, buffer: Buffer) -> Result<BufferDesc<'_>> {
        let record = self.registry.buffers.check(buffer, || "describe_buffer".into())?;
        Ok(BufferDesc {
            label: &record.label,
            size: record.size,
            usage: record.usage,
            contents: record.contents,
        })
    }

    /// The size in bytes that a buffer was created with.
    pub fn buffer_size(&self, buffer: Buffer) -> Result<u64> {
        Ok(self.registry.buffers.check(buffer, || "buffer_size".into())?.size)
    }
}
