//! Uploads: bytes are copied into a ring on the call, and reach their resource with the next submission.
//!
//! Positions in the ring count up and never wrap, so a full ring and an empty one cannot be mistaken for each other.
//! Uploads of one recording run before its passes, in call order. A resource with [`Contents::Uploaded`] is published
//! to every stage right after, so that no pass ever has to declare it; a tracked one is left to the first pass that
//! uses it. Writing a resource that earlier submissions still read is ordered behind them on the GPU.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::backend::{Backend, Encoder, NativeBufferTextureCopy};
use crate::desc::{BufferDesc, Contents, MemoryClass, TexelLayout, TexturePlace};
use crate::device::Device;
use crate::error::{Error, HandleProblem, Result, invalid, named};
use crate::handle::{Buffer, DeviceTag, ResourceKind, Texture};
use crate::plan::{BufferUse, PassList, Plan, ResourceUse, TextureRange, TextureUse};
use crate::registry::Registry;
use crate::services::{Footprint, TextureRegion, align_up, check_depth_write};
use crate::types::{BufferUsages, Extent3d, ShaderStages, TextureDimension, TextureUsages};

/// Every offset in the ring is a multiple of this at least, which every texel block divides or equals.
const ALIGNMENT: u64 = 16;

const ALL_STAGES: ShaderStages =
    ShaderStages::VERTEX.union(ShaderStages::FRAGMENT).union(ShaderStages::COMPUTE);

/// Names one upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UploadTicket {
    device: DeviceTag,
    id: u64,
}

/// How far an upload is. The caller's memory is free in every state: the bytes were copied on the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadState {
    /// In the ring; the next submission carries it.
    Consumed,
    /// Submitted; passes of the same and later submissions already see it.
    Queued,
    /// Complete on the GPU.
    Usable,
}

#[derive(Debug, Clone, Copy)]
enum Copy {
    Buffer { src: u64, dst: Buffer, offset: u64, size: u64 },
    Texture { texture: Texture, copy: NativeBufferTextureCopy, range: TextureRange, whole: bool },
}

impl Copy {
    fn resource(&self) -> (ResourceKind, u32) {
        match self {
            Copy::Buffer { dst, .. } => (ResourceKind::Buffer, dst.slot()),
            Copy::Texture { texture, .. } => (ResourceKind::Texture, texture.slot()),
        }
    }

    fn usage(&self) -> ResourceUse {
        match *self {
            Copy::Buffer { dst, offset, size, .. } => {
                ResourceUse::Buffer { buffer: dst, offset, size, usage: BufferUse::CopyDst }
            }
            Copy::Texture { texture, range, whole, .. } => {
                ResourceUse::Texture { texture, range, usage: TextureUse::CopyDst { whole } }
            }
        }
    }

    fn overlaps(&self, other: &Copy) -> bool {
        match (self, other) {
            (
                Copy::Buffer { dst: a, offset: a0, size: an, .. },
                Copy::Buffer { dst: b, offset: b0, size: bn, .. },
            ) => a == b && *a0 < b0 + bn && *b0 < a0 + an,
            (Copy::Texture { texture: a, range: ar, .. }, Copy::Texture { texture: b, range: br, .. }) => {
                a == b && ar.overlaps(br)
            }
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    copy: Copy,
    /// The previous upload to the same resource, as an index plus one.
    previous: u32,
}

/// The ring. Filled through [`Device::write_buffer`] and [`Device::write_texture`].
#[derive(Debug)]
pub struct UploadRing {
    capacity: u64,
    alignment: u64,
    buffer: Option<Buffer>,
    /// Positions count bytes since the beginning; `head - tail` bytes are in use.
    head: u64,
    tail: u64,
    in_flight: VecDeque<(u64, u64, u64)>,
    pending: Vec<Pending>,
    newest: FxHashMap<(ResourceKind, u32), u32>,
    last_ticket: u64,
    submitted_ticket: u64,
    usable_ticket: u64,
    passes: PassList,
    plan: Plan,
    /// For each planned pass, one past the last pending upload in it.
    pass_ends: Vec<usize>,
}

impl UploadRing {
    pub(crate) fn new(capacity: u64, copy_alignment: u64) -> Self {
        let alignment = copy_alignment.max(ALIGNMENT).next_power_of_two();
        Self {
            capacity: align_up(capacity, alignment),
            alignment,
            buffer: None,
            head: 0,
            tail: 0,
            in_flight: VecDeque::new(),
            pending: Vec::new(),
            newest: FxHashMap::default(),
            last_ticket: 0,
            submitted_ticket: 0,
            usable_ticket: 0,
            passes: PassList::default(),
            plan: Plan::default(),
            pass_ends: Vec::new(),
        }
    }

    /// Bytes of the ring.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that wait for a submission or for the GPU.
    pub fn in_use(&self) -> u64 {
        self.head - self.tail
    }

    /// Whether an upload that waits for a submission writes all mips and layers of the range.
    pub(crate) fn carries(&self, texture: Texture, range: &TextureRange) -> bool {
        self.pending.iter().any(|pending| match &pending.copy {
            Copy::Texture { texture: of, range: written, .. } => *of == texture && written.contains(range),
            Copy::Buffer { .. } => false,
        })
    }

    /// Uploads that wait for a submission.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn complete(&mut self, completed: u64) {
        while let Some(&(ordinal, end, ticket)) = self.in_flight.front() {
            if ordinal > completed {
                break;
            }
            self.in_flight.pop_front();
            self.tail = end;
            self.usable_ticket = ticket;
        }
    }

    /// Reserves bytes that do not straddle the ring's end; the offset and the new head.
    fn reserve(&mut self, size: u64) -> Result<(u64, u64)> {
        if size > self.capacity {
            return Err(Error::CapacityExceeded {
                what: "upload ring".into(),
                requested: size,
                capacity: self.capacity,
            });
        }
        if self.head == self.tail {
            // An empty ring begins at its start again. Otherwise a request that fits the ring but not the rest of it
            // could wait for bytes that nobody holds.
            self.head = self.head.next_multiple_of(self.capacity);
            self.tail = self.head;
        }
        let mut start = align_up(self.head, self.alignment);
        if start % self.capacity + size > self.capacity {
            start = (start / self.capacity + 1) * self.capacity;
        }
        let end = start + size;
        if end - self.tail > self.capacity {
            let detail = format!(
                "the upload ring holds {} of {} bytes; {} wait for a submission, the rest for the GPU",
                self.in_use(),
                self.capacity,
                self.head - self.in_flight.back().map_or(self.tail, |(_, end, _)| *end),
            );
            return Err(Error::Pending { what: format!("upload of {size} bytes"), detail });
        }
        Ok((start % self.capacity, end))
    }

    fn push(&mut self, copy: Copy, head: u64) -> u64 {
        let index = self.pending.len() as u32 + 1;
        let previous = self.newest.insert(copy.resource(), index).unwrap_or(0);
        self.pending.push(Pending { copy, previous });
        self.head = head;
        self.last_ticket += 1;
        self.last_ticket
    }

    /// Whether a pending upload overlaps an earlier one of the same resource since `first`.
    fn collides(&self, index: usize, first: usize) -> bool {
        let mut previous = self.pending[index].previous as usize;
        while previous > first {
            if self.pending[previous - 1].copy.overlaps(&self.pending[index].copy) {
                return true;
            }
            previous = self.pending[previous - 1].previous as usize;
        }
        false
    }
}

impl<B: Backend> Device<B> {
    fn upload_buffer(&mut self) -> Result<Buffer> {
        if let Some(buffer) = self.uploads.buffer {
            return Ok(buffer);
        }
        let desc = BufferDesc {
            label: "upload ring",
            size: self.uploads.capacity,
            usage: BufferUsages::COPY_SRC,
            contents: Contents::Uploaded,
        };
        let buffer = self.create_buffer_in(&desc, MemoryClass::Upload)?;
        self.uploads.buffer = Some(buffer);
        Ok(buffer)
    }

    /// Writes bytes into a buffer, before the passes of the next recording and after everything submitted so far.
    ///
    /// The bytes are copied on the call. Any length is legal; a write that ends at the buffer's end also zeroes the
    /// padding up to a multiple of four. An empty write does nothing.
    ///
    /// # Errors
    /// A stale buffer, one without `COPY_DST`, an offset that is not a multiple of four, a range outside the buffer;
    /// [`Error::CapacityExceeded`] for more bytes than the ring has; [`Error::Pending`] while the ring is full: submit
    /// ([`Self::flush_uploads`]) and wait for the GPU, then write again.
    pub fn write_buffer(&mut self, buffer: Buffer, offset: u64, data: &[u8]) -> Result<UploadTicket> {
        self.check_lost("write_buffer")?;
        let record = self.registry.buffers.check(buffer, || "write_buffer".into())?;
        let what = || format!("write_buffer into {}", named(ResourceKind::Buffer, &record.label));
        if !record.usage.contains(BufferUsages::COPY_DST) || record.memory != MemoryClass::Device {
            return Err(invalid(what(), "buffer", "usage COPY_DST", format!("{:?}", record.usage)));
        }
        if !offset.is_multiple_of(4) {
            return Err(invalid(what(), "offset", "a multiple of 4", offset));
        }
        let size = data.len() as u64;
        let end = offset.checked_add(size).filter(|end| *end <= record.size);
        let Some(end) = end else {
            let expected = format!("a range within {} bytes", record.size);
            return Err(invalid(what(), "offset", expected, format!("{size} bytes from {offset}")));
        };
        if size == 0 {
            return Ok(UploadTicket { device: self.tag, id: 0 });
        }
        let padding = if end == record.size { record.padded_size - end } else { 0 };
        self.poll()?;
        let (src, head) = self.uploads.reserve(size + padding)?;
        let staging = self.upload_buffer()?;
        self.backend.write_mapped(staging.slot(), src, data);
        self.backend.write_mapped(staging.slot(), src + size, &[0; 4][..padding as usize]);
        self.registry.retain(ResourceKind::Buffer, buffer.slot());
        self.registry.buffer_written(buffer.slot());
        let id = self.uploads.push(Copy::Buffer { src, dst: buffer, offset, size: size + padding }, head);
        Ok(UploadTicket { device: self.tag, id })
    }

    /// Writes a box of texels, before the passes of the next recording and after everything submitted so far.
    ///
    /// `layout` says how rows lie in `data`; any pitch that holds a row is legal. The box is in texels by the logical
    /// size of the mip: the last block of a compressed mip may be partial.
    ///
    /// # Errors
    /// As [`Self::write_buffer`], and a box outside the mip or off the block grid, an aspect that is ambiguous or
    /// cannot be written, and data that is too short for the layout.
    pub fn write_texture(
        &mut self,
        place: &TexturePlace,
        extent: Extent3d,
        layout: &TexelLayout,
        data: &[u8],
    ) -> Result<UploadTicket> {
        self.check_lost("write_texture")?;
        let record = self.registry.textures.check(place.texture, || "write_texture".into())?;
        let what = || format!("write_texture into {}", named(ResourceKind::Texture, &record.label));
        if !record.usage.contains(TextureUsages::COPY_DST) {
            return Err(invalid(what(), "texture", "usage COPY_DST", format!("{:?}", record.usage)));
        }
        let region = TextureRegion::check(record, place, extent, what)?;
        let Some(footprint) = Footprint::of(record.format, region.aspect, extent) else {
            return Err(invalid(
                what(),
                "aspect",
                "an aspect with a linear layout",
                format!("{:?}", region.aspect),
            ));
        };
        let features = self.capabilities().features;
        check_depth_write(record.format, region.aspect, features, what)?;
        // The CPU copies rows one by one, so pitches and offsets need no alignment.
        footprint.check(layout, data.len() as u64, 1, 1, what)?;
        if footprint.tight_bytes() == Some(0) {
            return Ok(UploadTicket { device: self.tag, id: 0 });
        }
        let capabilities = self.backend.capabilities();
        let pitch =
            align_up(u64::from(footprint.row_bytes), u64::from(capabilities.copy_row_alignment.max(1)));
        let rows = u64::from(footprint.rows) * u64::from(footprint.images);
        let (Ok(bytes_per_row), Some(size)) = (u32::try_from(pitch), pitch.checked_mul(rows)) else {
            return Err(invalid(what(), "extent", "rows of less than 4 GiB", footprint.row_bytes));
        };
        let copy = NativeBufferTextureCopy {
            buffer: 0,
            offset: 0,
            bytes_per_row,
            rows_per_image: footprint.rows,
            texture: place.texture.slot(),
            format: record.format,
            aspect: region.aspect,
            mip: place.mip,
            origin: place.origin,
            extent,
            volume: record.dimension == TextureDimension::D3,
        };
        self.poll()?;
        let (src, head) = self.uploads.reserve(size)?;
        let staging = self.upload_buffer()?;
        let row_bytes = footprint.row_bytes as usize;
        for image in 0..u64::from(footprint.images) {
            let image_start =
                layout.offset + image * u64::from(layout.bytes_per_row) * u64::from(layout.rows_per_image);
            let target = src + image * u64::from(footprint.rows) * pitch;
            if u64::from(layout.bytes_per_row) == pitch && pitch == row_bytes as u64 {
                let bytes = row_bytes * footprint.rows as usize;
                self.backend.write_mapped(staging.slot(), target, &data[image_start as usize..][..bytes]);
                continue;
            }
            for row in 0..u64::from(footprint.rows) {
                let start = (image_start + row * u64::from(layout.bytes_per_row)) as usize;
                self.backend.write_mapped(staging.slot(), target + row * pitch, &data[start..][..row_bytes]);
            }
        }
        self.registry.written(place.texture.slot(), &region.range);
        self.registry.retain(ResourceKind::Texture, place.texture.slot());
        let copy = NativeBufferTextureCopy { buffer: staging.slot(), offset: src, ..copy };
        let upload = Copy::Texture { texture: place.texture, copy, range: region.range, whole: region.whole };
        let id = self.uploads.push(upload, head);
        Ok(UploadTicket { device: self.tag, id })
    }

    /// How far an upload is. Never waits.
    pub fn upload_state(&mut self, ticket: UploadTicket) -> Result<UploadState> {
        if ticket.device != self.tag {
            let handle = format!("upload ticket {} of device {}", ticket.id, ticket.device.0);
            let what = "upload_state".into();
            return Err(Error::InvalidHandle { what, handle, problem: HandleProblem::Foreign });
        }
        self.poll()?;
        Ok(if ticket.id <= self.uploads.usable_ticket {
            UploadState::Usable
        } else if ticket.id <= self.uploads.submitted_ticket {
            UploadState::Queued
        } else {
            UploadState::Consumed
        })
    }

    /// Submits pending uploads on their own, so that the ring drains without a frame. With nothing pending nothing is
    /// submitted; the token then is that of the newest submission.
    pub fn flush_uploads(&mut self) -> Result<crate::SubmissionToken> {
        self.check_lost("flush_uploads")?;
        if self.uploads.pending.is_empty() {
            return Ok(self.last_submission());
        }
        self.record("uploads")?.submit()
    }

    /// The upload ring, for reading its figures.
    pub fn uploads(&self) -> &UploadRing {
        &self.uploads
    }

    /// Plans and records every pending upload at the front of a recording.
    pub(crate) fn encode_uploads(&mut self, encoder: &mut B::Encoder) -> Result<()> {
        let Some(staging) = self.uploads.buffer else { return Ok(()) };
        if self.uploads.pending.is_empty() {
            return Ok(());
        }
        let ring = &mut self.uploads;
        ring.passes.begin();
        ring.plan.clear();
        ring.pass_ends.clear();
        let mut first = 0;
        for index in 0..ring.pending.len() {
            if ring.collides(index, first) {
                ring.passes.end_pass();
                ring.pass_ends.push(index);
                first = index;
            }
            ring.passes.push_use(ring.pending[index].copy.usage());
        }
        ring.passes.end_pass();
        ring.pass_ends.push(ring.pending.len());
        for pending in &ring.pending {
            publish(&self.registry, &pending.copy, &mut ring.passes);
        }
        ring.passes.end_pass();
        self.planner.plan(&mut self.ledger, &ring.passes, &mut ring.plan).map_err(|error| {
            let pass = ring.passes.pass(crate::record::declared::failed_pass(&error));
            crate::record::declared::plan_error(&self.registry, &pass, &[], error, "uploads")
        })?;
        let emit = |encoder: &mut B::Encoder, batch: crate::plan::BarrierBatch<'_>| {
            if !batch.is_empty() {
                encoder.barriers(&self.backend, batch);
            }
        };
        encoder.push_label(&self.backend, "uploads");
        let mut start = 0;
        for (pass, &end) in ring.pass_ends.iter().enumerate() {
            emit(encoder, ring.plan.batch(pass));
            for pending in &ring.pending[start..end] {
                match pending.copy {
                    Copy::Buffer { src, dst, offset, size } => {
                        encoder.copy_buffer(&self.backend, staging.slot(), src, dst.slot(), offset, size);
                    }
                    Copy::Texture { ref copy, .. } => encoder.copy_buffer_to_texture(&self.backend, copy),
                }
            }
            start = end;
        }
        emit(encoder, ring.plan.batch(ring.pass_ends.len()));
        encoder.pop_label(&self.backend);
        Ok(())
    }

    /// The recording that carried the pending uploads was accepted.
    pub(crate) fn uploads_submitted(&mut self, ordinal: u64) {
        let ring = &mut self.uploads;
        if ring.pending.is_empty() {
            return;
        }
        for pending in ring.pending.drain(..) {
            let (kind, slot) = pending.copy.resource();
            self.registry.release_after(kind, slot, ordinal);
        }
        ring.newest.clear();
        ring.submitted_ticket = ring.last_ticket;
        ring.in_flight.push_back((ordinal, ring.head, ring.last_ticket));
    }
}

/// Declares the reads that a resource with uploaded contents may meet, so that one barrier serves them all.
fn publish(registry: &Registry, copy: &Copy, passes: &mut PassList) {
    match *copy {
        Copy::Buffer { dst, offset, size, .. } => {
            let Some(record) = registry.buffers.at(dst.slot()) else { return };
            if record.contents != Contents::Uploaded {
                return;
            }
            let uses = [
                (BufferUsages::VERTEX, BufferUse::Vertex),
                (BufferUsages::INDEX, BufferUse::Index),
                (BufferUsages::UNIFORM, BufferUse::Uniform(ALL_STAGES)),
                (BufferUsages::STORAGE, BufferUse::StorageRead(ALL_STAGES)),
                (BufferUsages::INDIRECT, BufferUse::Indirect),
                (BufferUsages::COPY_SRC, BufferUse::CopySrc),
            ];
            for (needed, usage) in uses {
                if record.usage.contains(needed) {
                    passes.push_use(ResourceUse::Buffer { buffer: dst, offset, size, usage });
                }
            }
        }
        Copy::Texture { texture, range, .. } => {
            if let Some(usage) = published(registry, texture, range) {
                passes.push_use(usage);
            }
        }
    }
}

/// How passes use a texture without declaring it, when its contents are uploaded: sampled by every stage.
pub(crate) fn published(registry: &Registry, texture: Texture, range: TextureRange) -> Option<ResourceUse> {
    let record = registry.textures.at(texture.slot())?;
    let sampled =
        record.contents == Contents::Uploaded && record.usage.contains(TextureUsages::TEXTURE_BINDING);
    sampled.then_some(ResourceUse::Texture { texture, range, usage: TextureUse::Sampled(ALL_STAGES) })
}
