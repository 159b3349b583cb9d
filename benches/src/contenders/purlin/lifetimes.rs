//! `resources`.

use std::time::Instant;

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat, TextureUsages};
use purlin_rhi::{BufferDesc, Owned, TextureDesc, kind};

use super::make::{Gpu, Image};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{LARGE, LARGE_BYTES, SMALL, SMALL_BYTES, SMALL_SIDE, Workload};

/// Small or large buffers.
pub struct Buffers<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    size: u64,
    count: u32,
    made: Vec<Owned<kind::Buffer>>,
}

impl<'g, B: Backend> Buffers<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, workload: Workload) -> Self {
        let (count, size) = match workload {
            Workload::LargeBuffers => (LARGE, LARGE_BYTES),
            _ => (SMALL, u64::from(SMALL_BYTES)),
        };
        Self { gpu, size, count, made: Vec::with_capacity(count as usize) }
    }

    fn create(&mut self) -> Outcome<()> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        for _ in 0..self.count {
            self.made.push(self.gpu.device.create_buffer(&BufferDesc::new("buffer", self.size, usage))?);
        }
        Ok(())
    }
}

impl<B: Backend> Case for Buffers<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.made.clear();
        self.gpu.device.maintain()?;
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create()?;
        let last = *self.made[self.made.len() - 1];
        self.gpu.fill(last, &data::pattern(SMALL_BYTES as usize))?;
        let bytes = self.gpu.read_buffers(&[last], SMALL_BYTES);
        self.made.clear();
        self.gpu.finish()?;
        bytes
    }
}

/// Small textures with a view each.
pub struct Textures<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    made: Vec<Image>,
}

impl<'g, B: Backend> Textures<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>) -> Self {
        Self { gpu, made: Vec::with_capacity(SMALL as usize) }
    }

    fn create(&mut self) -> Outcome<()> {
        let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
        let desc = TextureDesc::d2("texture", SMALL_SIDE, SMALL_SIDE, TextureFormat::Rgba8Unorm, usage);
        for _ in 0..SMALL {
            self.made.push(self.gpu.image(&desc)?);
        }
        Ok(())
    }
}

impl<B: Backend> Case for Textures<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.made.clear();
        self.gpu.device.maintain()?;
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create()?;
        let last = *self.made[self.made.len() - 1].texture;
        let size = (SMALL_SIDE, SMALL_SIDE);
        self.gpu.fill_texture(last, size, &data::pattern((SMALL_SIDE * SMALL_SIDE * 4) as usize))?;
        let bytes = self.gpu.read_texture(last, size);
        self.made.clear();
        self.gpu.finish()?;
        bytes
    }
}
