//! `groups/5-textures`.

use std::time::Instant;

use wgpu::{BufferUsages, TextureFormat, TextureUsages};

use super::make::Gpu;
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{SLICES, TEXTURES_PER_GROUP};

pub struct Groups<'g> {
    gpu: &'g Gpu,
    views: Vec<wgpu::TextureView>,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    out: wgpu::Buffer,
    out_group: wgpu::BindGroup,
    made: Vec<wgpu::BindGroup>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g Gpu) -> Self {
        let views = (0..SLICES * TEXTURES_PER_GROUP)
            .map(|texture| {
                let texel = data::group_texel(texture);
                let usage = TextureUsages::TEXTURE_BINDING;
                gpu.texture(TextureFormat::Rgba8Unorm, (1, 1), usage, Some(&texel)).1
            })
            .collect();
        let out = gpu.empty(BufferUsages::STORAGE, u64::from(SLICES * 16));
        let mut program = gpu.program(&shaders::textures::SHADER, shaders::textures::GROUPS, false);
        let pipeline = gpu.compute(&program, "show");
        let out_group = gpu.group(&program.groups[1], &[out.as_entire_binding()]);
        let layout = program.groups.swap_remove(0);
        let made = Vec::with_capacity(SLICES as usize);
        Self { gpu, views, layout, pipeline, out, out_group, made }
    }

    fn create(&mut self) {
        for views in self.views.chunks_exact(TEXTURES_PER_GROUP as usize) {
            let entries: [_; TEXTURES_PER_GROUP as usize] =
                std::array::from_fn(|index| wgpu::BindGroupEntry {
                    binding: index as u32,
                    resource: wgpu::BindingResource::TextureView(&views[index]),
                });
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
            for group in &self.made {
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.made.clear();
        self.gpu.read_buffers(std::slice::from_ref(&self.out), SLICES * 16)
    }
}
