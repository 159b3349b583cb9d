//! Readbacks: staging buffers, tickets, and rows without their padding.
//!
//! A ticket is delivered once, after its submission has completed; asking earlier answers [`Error::Pending`] and
//! nothing ever waits. Dropping a ticket cancels it, and the staging stays untouched until the GPU is done with it.

use crate::backend::Backend;
use crate::desc::{BufferDesc, Contents, MemoryClass};
use crate::device::Device;
use crate::error::{Error, HandleProblem, Result, invalid, state};
use crate::handle::{Buffer, DeviceTag, ResourceKind};
use crate::owned::{DropNote, DropQueue};
use crate::types::BufferUsages;

/// Claims the result of one readback. Dropping it gives the result up.
#[derive(Debug)]
#[must_use = "dropping the ticket cancels the readback"]
pub struct ReadTicket {
    id: u64,
    device: DeviceTag,
    len: u64,
    drops: &'static DropQueue,
}

impl ReadTicket {
    /// Bytes of the result: rows follow one another without padding.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the result has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for ReadTicket {
    fn drop(&mut self) {
        self.drops.push(DropNote::Readback { device: self.device, id: self.id });
    }
}

/// How a result lies in its staging buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StagedRows {
    pub row_bytes: u64,
    pub pitch: u64,
    pub rows: u64,
}

impl StagedRows {
    pub(crate) fn bytes(len: u64) -> Self {
        Self { row_bytes: len, pitch: len, rows: 1 }
    }

    /// Bytes in the staging buffer; the last row has no padding.
    pub(crate) fn staged(&self) -> u64 {
        if self.rows == 0 { 0 } else { self.pitch * (self.rows - 1) + self.row_bytes }
    }

    fn tight(&self) -> u64 {
        self.row_bytes * self.rows
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Recorded, not submitted.
    Recorded,
    /// In this submission.
    Submitted(u64),
}

#[derive(Debug)]
struct Active {
    id: u64,
    buffer: Buffer,
    size: u64,
    rows: StagedRows,
    progress: Progress,
    cancelled: bool,
}

impl Active {
    /// Whether the GPU is done with it.
    fn is_done(&self, completed: u64) -> bool {
        matches!(self.progress, Progress::Submitted(ordinal) if ordinal <= completed)
    }
}

/// Staging of readbacks. Used through [`crate::Recorder::read_buffer`] and its siblings, and [`Device::read`].
#[derive(Debug)]
pub struct ReadbackRing {
    ceiling: u64,
    outstanding: u64,
    next_id: u64,
    active: Vec<Active>,
    free: Vec<(Buffer, u64)>,
}

impl ReadbackRing {
    pub(crate) fn new(ceiling: u64) -> Self {
        Self { ceiling, outstanding: 0, next_id: 1, active: Vec::new(), free: Vec::new() }
    }

    /// Staging buffers that exist, in use or free, and their bytes.
    pub fn staging(&self) -> (u32, u64) {
        let active = self.active.iter().map(|entry| entry.size);
        let sizes = active.chain(self.free.iter().map(|(_, size)| *size));
        sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
    }

    /// Bytes of staging that wait for delivery.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    pub(crate) fn submitted(&mut self, ordinal: u64) {
        for entry in &mut self.active {
            if entry.progress == Progress::Recorded {
                entry.progress = Progress::Submitted(ordinal);
            }
        }
    }

    /// Takes back what a discarded recording had asked for.
    pub(crate) fn discard_recorded(&mut self) {
        let mut index = 0;
        while index < self.active.len() {
            if self.active[index].progress == Progress::Recorded {
                self.recycle(index);
            } else {
                index += 1;
            }
        }
    }

    pub(crate) fn complete(&mut self, completed: u64) {
        let mut index = 0;
        while index < self.active.len() {
            if self.active[index].cancelled && self.active[index].is_done(completed) {
                self.recycle(index);
            } else {
                index += 1;
            }
        }
    }

    /// Gives a result up. Its staging is free at once when the GPU is done with it.
    #[cold]
    pub(crate) fn cancel(&mut self, id: u64, completed: u64) {
        if let Some(index) = self.active.iter().position(|entry| entry.id == id) {
            self.active[index].cancelled = true;
            if self.active[index].is_done(completed) {
                self.recycle(index);
            }
        }
    }

    fn find(&self, ticket: &ReadTicket) -> Option<usize> {
        self.active.iter().position(|entry| entry.id == ticket.id)
    }

    fn recycle(&mut self, index: usize) {
        let entry = self.active.swap_remove(index);
        self.outstanding -= entry.size;
        self.free.push((entry.buffer, entry.size));
    }
}

impl<B: Backend> Device<B> {
    /// Finds staging for a readback that is being recorded.
    pub(crate) fn stage_readback(&mut self, rows: StagedRows, what: &str) -> Result<(Buffer, ReadTicket)> {
        let needed = rows.staged();
        let left = self.readbacks.ceiling.saturating_sub(self.readbacks.outstanding);
        if needed > self.readbacks.ceiling {
            return Err(Error::CapacityExceeded {
                what: format!("{what}: readback staging"),
                requested: needed,
                capacity: self.readbacks.ceiling,
            });
        }
        // Powers of two, so that staging fits again; the last step is cut at the ceiling.
        let rounded = needed.max(256).checked_next_power_of_two().unwrap_or(u64::MAX);
        let size = rounded.min(self.readbacks.ceiling);
        if size > left {
            let detail =
                format!("readback staging: {size} bytes asked for, {left} free until results are read");
            return Err(Error::Pending { what: what.into(), detail });
        }
        let fit = self.readbacks.free.iter().position(|(_, have)| *have == size);
        let buffer = match fit {
            Some(index) => self.readbacks.free.swap_remove(index).0,
            None => {
                self.trim_readbacks(size);
                let desc = BufferDesc {
                    label: "readback staging",
                    size,
                    usage: BufferUsages::COPY_DST,
                    contents: Contents::Tracked,
                };
                self.create_buffer_in(&desc, MemoryClass::Readback)?
            }
        };
        let id = self.readbacks.next_id;
        self.readbacks.next_id += 1;
        self.readbacks.outstanding += size;
        self.readbacks.active.push(Active {
            id,
            buffer,
            size,
            rows,
            progress: Progress::Recorded,
            cancelled: false,
        });
        let ticket = ReadTicket { id, device: self.tag, len: rows.tight(), drops: self.drops };
        Ok((buffer, ticket))
    }

    /// Gives up free staging until `size` more bytes stay within the ceiling.
    fn trim_readbacks(&mut self, size: u64) {
        let ring = &mut self.readbacks;
        let mut free: u64 = ring.free.iter().map(|(_, size)| size).sum();
        while free + ring.outstanding + size > ring.ceiling
            && let Some((buffer, bytes)) = ring.free.pop()
        {
            free -= bytes;
            // Its readback was delivered or never submitted, so the GPU does not use it.
            self.registry.destroy(ResourceKind::Buffer, buffer.slot(), buffer.generation(), 0);
        }
    }

    /// Copies a finished readback into `out` and frees its staging. Never waits.
    ///
    /// # Errors
    /// [`Error::Pending`] while the GPU works: ask again later. A length other than [`ReadTicket::len`], a recording
    /// that was discarded, a result that was delivered already, a foreign ticket. On an error `out` is untouched.
    pub fn read(&mut self, ticket: &ReadTicket, out: &mut [u8]) -> Result<()> {
        let what = "read";
        self.check_lost(what)?;
        self.check_ticket(ticket, what)?;
        if out.len() as u64 != ticket.len {
            return Err(invalid(what, "out", format!("{} bytes", ticket.len), out.len()));
        }
        self.poll()?;
        let Some(index) = self.readbacks.find(ticket) else {
            let found = "delivered already, or its recording was discarded";
            return Err(state(what, "a readback that was submitted and not yet read", found));
        };
        let entry = &self.readbacks.active[index];
        match entry.progress {
            Progress::Recorded => {
                return Err(state(what, "a submitted readback", "its recording is not submitted"));
            }
            Progress::Submitted(ordinal) if ordinal > self.completed => {
                let detail = format!("submission {ordinal}; {} is complete", self.completed);
                return Err(Error::Pending { what: what.into(), detail });
            }
            Progress::Submitted(_) => {}
        }
        let StagedRows { row_bytes, pitch, rows } = entry.rows;
        let slot = entry.buffer.slot();
        if row_bytes == pitch || rows <= 1 {
            self.backend.read_mapped(slot, 0, out);
        } else if row_bytes > 0 {
            for (row, out) in out.chunks_exact_mut(row_bytes as usize).enumerate() {
                self.backend.read_mapped(slot, row as u64 * pitch, out);
            }
        }
        self.readbacks.recycle(index);
        Ok(())
    }

    fn check_ticket(&self, ticket: &ReadTicket, what: &str) -> Result<()> {
        if ticket.device == self.tag {
            return Ok(());
        }
        let handle = format!("read ticket {} of device {}", ticket.id, ticket.device.0);
        Err(Error::InvalidHandle { what: what.into(), handle, problem: HandleProblem::Foreign })
    }

    /// How far a readback is, and the slot of its staging; `None` when it was delivered or discarded.
    pub(super) fn find_read(&mut self, ticket: &ReadTicket, what: &str) -> Result<Option<(Progress, u32)>> {
        self.check_lost(what)?;
        self.check_ticket(ticket, what)?;
        self.poll()?;
        let entry = self.readbacks.find(ticket).map(|index| &self.readbacks.active[index]);
        Ok(entry.map(|entry| (entry.progress, entry.buffer.slot())))
    }

    /// Frees the staging of a readback whose results were taken.
    pub(super) fn deliver(&mut self, ticket: &ReadTicket) {
        if let Some(index) = self.readbacks.find(ticket) {
            self.readbacks.recycle(index);
        }
    }

    /// The readbacks' staging, for reading its figures.
    pub fn readbacks(&self) -> &ReadbackRing {
        &self.readbacks
    }

    /// As [`Self::read`], into a new vector.
    pub fn read_vec(&mut self, ticket: &ReadTicket) -> Result<Vec<u8>> {
        let mut out = vec![0; ticket.len as usize];
        self.read(ticket, &mut out)?;
        Ok(out)
    }
}
