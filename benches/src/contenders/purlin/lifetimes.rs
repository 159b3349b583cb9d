//! `groups` and `resources`.

use std::time::Instant;

use purlin_rhi::types::{BufferUsages, TextureFormat, TextureUsages};
use purlin_rhi::{BindGroupDesc, BindGroupEntry, BufferDesc, ComputePassDesc, Owned, TextureDesc, kind};

use super::make::{Gpu, Image, Program, storage};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{LARGE, LARGE_BYTES, SLICES, SMALL, SMALL_BYTES, SMALL_SIDE, STRIDE, Workload};

pub struct Groups<'g> {
    gpu: &'g mut Gpu,
    dynamic: bool,
    uniform: Owned<kind::Buffer>,
    program: Program,
    pipeline: Owned<kind::ComputePipeline>,
    out: Owned<kind::Buffer>,
    out_group: Owned<kind::BindGroup>,
    made: Vec<Owned<kind::BindGroup>>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g mut Gpu, dynamic: bool) -> Outcome<Self> {
        let uniform = gpu.uploaded(BufferUsages::UNIFORM, &data::slices_uniforms(SLICES))?;
        let out = gpu.tracked(BufferUsages::STORAGE, &[0; (SLICES * 16) as usize])?;
        let program = gpu.program(&shaders::groups::SHADER, shaders::groups::GROUPS, dynamic)?;
        let pipeline = gpu.compute(&program, "show")?;
        let out_group = gpu.group(&program, 1, &[BindGroupEntry::buffer(0, *out)])?;
        let made = Vec::with_capacity(SLICES as usize);
        Ok(Self { gpu, dynamic, uniform, program, pipeline, out, out_group, made })
    }

    fn create(&mut self) -> Outcome<()> {
        let count = if self.dynamic { 1 } else { SLICES };
        for group in 0..count {
            let offset = u64::from(group * STRIDE);
            let entries = [BindGroupEntry::buffer_range(0, *self.uniform, offset, 16)];
            let desc = BindGroupDesc { label: "slice", layout: *self.program.groups[0], entries: &entries };
            self.made.push(self.gpu.device.create_bind_group(&desc)?);
        }
        Ok(())
    }
}

impl Case for Groups<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.made.clear();
        // Owners leave notes; this is what destroys.
        self.gpu.device.maintain()?;
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create()?;
        let uses = [storage(*self.out, u64::from(SLICES * 16), true)];
        let (dynamic, pipeline, out_group, made) =
            (self.dynamic, *self.pipeline, *self.out_group, &self.made);
        let desc = ComputePassDesc { label: "show", uses: &uses, ..Default::default() };
        // All write the one buffer, so each is a pass of its own.
        self.gpu.frame(|recorder| {
            (0..SLICES).try_for_each(|slice| {
                recorder.compute_pass(&desc, |pass| {
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(1, out_group, &[]);
                    if dynamic {
                        pass.set_bind_group(0, *made[0], &[slice * STRIDE]);
                    } else {
                        pass.set_bind_group(0, *made[slice as usize], &[]);
                    }
                    pass.dispatch([1, 1, 1]);
                })
            })
        })?;
        self.made.clear();
        self.gpu.read_buffers(&[*self.out], SLICES * 16)
    }
}

/// Small or large buffers.
pub struct Buffers<'g> {
    gpu: &'g mut Gpu,
    size: u64,
    count: u32,
    made: Vec<Owned<kind::Buffer>>,
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
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        for _ in 0..self.count {
            self.made.push(self.gpu.device.create_buffer(&BufferDesc::new("buffer", self.size, usage))?);
        }
        Ok(())
    }
}

impl Case for Buffers<'_> {
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
pub struct Textures<'g> {
    gpu: &'g mut Gpu,
    made: Vec<Image>,
}

impl<'g> Textures<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Self {
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

impl Case for Textures<'_> {
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
