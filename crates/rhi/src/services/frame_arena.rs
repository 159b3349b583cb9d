//! Per-frame data: small pieces written straight into mapped memory and gone when the frame is.
//!
//! A page is handed out front to back. With the submission that used it the page goes in flight, and comes back when
//! the GPU is done. Pages are never freed and their handles never change, so bind groups over them with dynamic
//! offsets last as long as the device.

use std::collections::VecDeque;

use crate::backend::Backend;
use crate::caps::Features;
use crate::desc::{BufferDesc, BufferSlice, Contents, MemoryClass};
use crate::device::Device;
use crate::error::{Error, Result, invalid};
use crate::handle::Buffer;
use crate::services::align_up;
use crate::types::BufferUsages;

/// Pages of per-frame data. Filled through [`Device::push_frame_data`].
#[derive(Debug)]
pub struct FrameArena {
    page_size: u64,
    current: Option<Buffer>,
    used: u64,
    /// Pages that the next submission will read.
    full: Vec<Buffer>,
    in_flight: VecDeque<(Buffer, u64)>,
    /// In the order in which they came back. Taking turns keeps what is cached over each page in use.
    free: VecDeque<Buffer>,
    pages: u32,
}

impl FrameArena {
    pub(crate) fn new(page_size: u64) -> Self {
        Self {
            page_size: align_up(page_size, 256),
            current: None,
            used: 0,
            full: Vec::new(),
            in_flight: VecDeque::new(),
            free: VecDeque::new(),
            pages: 0,
        }
    }

    /// Pages that exist.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> u64 {
        self.page_size
    }

    pub(crate) fn submitted(&mut self, ordinal: u64) {
        if self.used > 0 {
            self.full.extend(self.current.take());
            self.used = 0;
        }
        self.in_flight.extend(self.full.drain(..).map(|page| (page, ordinal)));
    }

    pub(crate) fn complete(&mut self, completed: u64) {
        while let Some(&(page, ordinal)) = self.in_flight.front() {
            if ordinal > completed {
                break;
            }
            self.in_flight.pop_front();
            self.free.push_back(page);
        }
    }
}

impl<B: Backend> Device<B> {
    /// Copies bytes into the frame arena; they are valid for the next submission and must not be used after it.
    ///
    /// The slice's offset is a multiple of `alignment`, and of the uniform and storage offset alignments.
    ///
    /// # Errors
    /// A lost device, more bytes than a page ([`crate::StorageCeilings::frame_arena_page`]), an alignment that is no power of two or
    /// over 65,536, or no memory for another page.
    pub fn push_frame_data(&mut self, data: &[u8], alignment: u64) -> Result<BufferSlice> {
        self.check_lost("push_frame_data")?;
        let size = data.len() as u64;
        let page_size = self.frame_arena.page_size;
        if size > page_size {
            return Err(Error::CapacityExceeded {
                what: "frame arena page".into(),
                requested: size,
                capacity: page_size,
            });
        }
        if !alignment.is_power_of_two() || alignment > 65536 {
            return Err(invalid("frame arena", "alignment", "a power of two up to 65536", alignment));
        }
        let limits = self.limits();
        let alignment = alignment
            .max(u64::from(limits.min_uniform_offset_alignment))
            .max(u64::from(limits.min_storage_offset_alignment));
        let mut offset = align_up(self.frame_arena.used, alignment);
        if self.frame_arena.current.is_none() || offset + size > page_size {
            let page = self.next_page()?;
            self.frame_arena.full.extend(self.frame_arena.current.replace(page));
            offset = 0;
        }
        let Some(page) = self.frame_arena.current else {
            return Err(Error::CapacityExceeded { what: "frame arena".into(), requested: size, capacity: 0 });
        };
        self.backend.write_mapped(page.slot(), offset, data);
        self.frame_arena.used = offset + size.max(1);
        Ok(BufferSlice { buffer: page, offset, size })
    }

    fn next_page(&mut self) -> Result<Buffer> {
        if let Some(page) = self.frame_arena.free.pop_front() {
            return Ok(page);
        }
        let features = self.capabilities().features;
        let mut usage = BufferUsages::UNIFORM | BufferUsages::VERTEX | BufferUsages::COPY_SRC;
        usage.set(BufferUsages::STORAGE, self.limits().max_storage_buffers_per_stage > 0);
        usage.set(BufferUsages::INDIRECT, features.contains(Features::INDIRECT_EXECUTION));
        usage.set(BufferUsages::INDEX, features.contains(Features::MIXED_INDEX_BUFFERS));
        let desc = BufferDesc {
            label: "frame arena page",
            size: self.frame_arena.page_size,
            usage,
            contents: Contents::Uploaded,
        };
        let page = self.create_buffer_in(&desc, MemoryClass::Upload)?;
        // The CPU writes all of it before any submission that may read it.
        self.ledger.define_buffer(page.slot(), 0, self.frame_arena.page_size);
        self.frame_arena.pages += 1;
        Ok(page)
    }

    /// The frame arena, for reading its figures.
    pub fn frame_arena(&self) -> &FrameArena {
        &self.frame_arena
    }
}
