//! `resources`.

use std::time::Instant;

use wgpu::{BufferUsages, TextureFormat, TextureUsages};

use super::make::Gpu;
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{LARGE, LARGE_BYTES, SMALL, SMALL_BYTES, SMALL_SIDE, Workload};

/// Small or large buffers.
pub struct Buffers<'g> {
    gpu: &'g Gpu,
    size: u64,
    count: u32,
    made: Vec<wgpu::Buffer>,
}

impl<'g> Buffers<'g> {
    pub fn new(gpu: &'g Gpu, workload: Workload) -> Self {
        let (count, size) = match workload {
            Workload::LargeBuffers => (LARGE, LARGE_BYTES),
            _ => (SMALL, u64::from(SMALL_BYTES)),
        };
        Self { gpu, size, count, made: Vec::with_capacity(count as usize) }
    }

    fn create(&mut self) {
        for _ in 0..self.count {
            self.made.push(self.gpu.empty(BufferUsages::STORAGE, self.size));
        }
    }
}

impl Case for Buffers<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create();
        let created = Instant::now();
        self.made.clear();
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create();
        let last = self.made[self.made.len() - 1].clone();
        self.made.clear();
        self.gpu.queue.write_buffer(&last, 0, &data::pattern(SMALL_BYTES as usize));
        self.gpu.read_buffers(&[last], SMALL_BYTES)
    }
}

/// Small textures with a view each.
pub struct Textures<'g> {
    gpu: &'g Gpu,
    made: Vec<(wgpu::Texture, wgpu::TextureView)>,
}

impl<'g> Textures<'g> {
    pub fn new(gpu: &'g Gpu) -> Self {
        Self { gpu, made: Vec::with_capacity(SMALL as usize) }
    }

    fn create(&mut self) {
        let size = (SMALL_SIDE, SMALL_SIDE);
        for _ in 0..SMALL {
            let usage = TextureUsages::TEXTURE_BINDING;
            self.made.push(self.gpu.texture(TextureFormat::Rgba8Unorm, size, usage, None));
        }
    }
}

impl Case for Textures<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create();
        let created = Instant::now();
        self.made.clear();
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let usage = TextureUsages::TEXTURE_BINDING;
        let texels = data::pattern((SMALL_SIDE * SMALL_SIDE * 4) as usize);
        let size = (SMALL_SIDE, SMALL_SIDE);
        let (texture, _view) = self.gpu.texture(TextureFormat::Rgba8Unorm, size, usage, Some(&texels));
        self.gpu.read_texture(&texture, 4)
    }
}
