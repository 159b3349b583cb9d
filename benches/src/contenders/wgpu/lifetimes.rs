//! `groups` and `resources`.

use std::time::Instant;

use wgpu::{BufferUsages, TextureFormat, TextureUsages};

use super::make::{Gpu, slice};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{LARGE, LARGE_BYTES, SLICES, SMALL, SMALL_BYTES, SMALL_SIDE, STRIDE, Workload};

pub struct Groups<'g> {
    gpu: &'g Gpu,
    dynamic: bool,
    uniform: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    out: wgpu::Buffer,
    out_group: wgpu::BindGroup,
    made: Vec<wgpu::BindGroup>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g Gpu, dynamic: bool) -> Self {
        let uniform = gpu.filled(BufferUsages::UNIFORM, &data::slices_uniforms(SLICES));
        let out = gpu.empty(BufferUsages::STORAGE, u64::from(SLICES * 16));
        let mut program = gpu.program(&shaders::groups::SHADER, shaders::groups::GROUPS, dynamic);
        let pipeline = gpu.compute(&program, "show");
        let out_group = gpu.group(&program.groups[1], &[out.as_entire_binding()]);
        let layout = program.groups.swap_remove(0);
        let made = Vec::with_capacity(SLICES as usize);
        Self { gpu, dynamic, uniform, layout, pipeline, out, out_group, made }
    }

    fn create(&mut self) {
        let count = if self.dynamic { 1 } else { SLICES };
        for group in 0..count {
            let entries =
                [wgpu::BindGroupEntry { binding: 0, resource: slice(&self.uniform, group * STRIDE, 16) }];
            let desc = wgpu::BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries };
            self.made.push(self.gpu.device.create_bind_group(&desc));
        }
    }
}

impl Case for Groups<'_> {
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
        let mut encoder = self.gpu.encoder();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(1, &self.out_group, &[]);
            for slice in 0..SLICES {
                if self.dynamic {
                    pass.set_bind_group(0, &self.made[0], &[slice * STRIDE]);
                } else {
                    pass.set_bind_group(0, &self.made[slice as usize], &[]);
                }
                pass.dispatch_workgroups(1, 1, 1);
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.made.clear();
        self.gpu.read_buffers(std::slice::from_ref(&self.out), SLICES * 16)
    }
}

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
