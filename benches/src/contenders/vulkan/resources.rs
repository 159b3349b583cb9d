//! `resources`.

use std::time::Instant;

use ash::vk;
use gpu_allocator::MemoryLocation;

use super::gpu::Gpu;
use super::make::{Buffer, Image};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{LARGE, LARGE_BYTES, SMALL, SMALL_BYTES, SMALL_SIDE, Workload};

/// Small or large buffers.
pub struct Buffers<'g> {
    gpu: &'g mut Gpu,
    size: u64,
    count: u32,
    made: Vec<Buffer>,
}

impl<'g> Buffers<'g> {
    pub fn new(gpu: &'g mut Gpu, workload: Workload) -> Self {
        let (count, size) = match workload {
            Workload::LargeBuffers => (LARGE, LARGE_BYTES),
            _ => (SMALL, u64::from(SMALL_BYTES)),
        };
        Self { gpu, size, count, made: Vec::with_capacity(count as usize) }
    }

    fn create(&mut self) -> Outcome<()> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        for _ in 0..self.count {
            self.made.push(self.gpu.new_buffer(self.size, usage, MemoryLocation::GpuOnly)?);
        }
        Ok(())
    }

    fn destroy(&mut self) {
        for buffer in self.made.drain(..) {
            self.gpu.free_buffer(buffer);
        }
    }
}

impl Case for Buffers<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.destroy();
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create()?;
        let Some(last) = self.made.last().map(|buffer| buffer.raw) else { return Ok(Vec::new()) };
        self.gpu.upload_buffers(&[(last, data::pattern(SMALL_BYTES as usize))])?;
        let bytes = self.gpu.read_buffers(&[last], SMALL_BYTES)?;
        self.destroy();
        Ok(bytes)
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        self.destroy();
    }
}

/// Small textures with a view each.
pub struct Textures<'g> {
    gpu: &'g mut Gpu,
    made: Vec<Image>,
}

impl<'g> Textures<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Self {
        Self { gpu, made: Vec::with_capacity(SMALL as usize) }
    }

    fn create(&mut self) -> Outcome<()> {
        let usage = vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        for _ in 0..SMALL {
            let image = self.gpu.new_image(vk::Format::R8G8B8A8_UNORM, (SMALL_SIDE, SMALL_SIDE), usage)?;
            self.made.push(image);
        }
        Ok(())
    }

    fn destroy(&mut self) {
        for image in self.made.drain(..) {
            self.gpu.free_image(image);
        }
    }
}

impl Case for Textures<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.destroy();
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create()?;
        let Some(last) = self.made.last().map(|image| image.raw) else { return Ok(Vec::new()) };
        let size = (SMALL_SIDE, SMALL_SIDE);
        let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        self.gpu.upload_images(
            size,
            layout,
            &[(last, data::pattern((SMALL_SIDE * SMALL_SIDE * 4) as usize))],
        )?;
        let bytes = self.gpu.read_image(last, layout, size, 4)?;
        self.destroy();
        Ok(bytes)
    }
}

impl Drop for Textures<'_> {
    fn drop(&mut self) {
        self.destroy();
    }
}
