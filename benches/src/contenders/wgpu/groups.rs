//! `groups`.

use std::time::Instant;

use wgpu::{BufferUsages, TextureFormat, TextureUsages};

use super::make::{Gpu, slice};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{SLICES, STRIDE, TEXTURES_PER_GROUP, Workload, array_groups};
use crate::{array_shaders, shaders};

/// What the groups show.
enum Contents {
    /// A slice of the buffer each.
    Slices(wgpu::Buffer),
    /// One group, and the slice by offset.
    Dynamic(wgpu::Buffer),
    /// So many textures each.
    Textures(Vec<wgpu::TextureView>),
    /// One array of so many textures each.
    Arrays(Vec<wgpu::TextureView>, usize),
}

pub struct Groups<'g> {
    gpu: &'g Gpu,
    contents: Contents,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    out: wgpu::Buffer,
    out_group: wgpu::BindGroup,
    made: Vec<wgpu::BindGroup>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g Gpu, workload: Workload) -> Self {
        let views = |groups: u32, each: u32| -> Vec<_> {
            (0..groups * each)
                .map(|texture| {
                    let texel = data::group_texel(texture, each);
                    let usage = TextureUsages::TEXTURE_BINDING;
                    gpu.texture(TextureFormat::Rgba8Unorm, (1, 1), usage, Some(&texel)).1
                })
                .collect()
        };
        let (contents, mut program) = if let Workload::Arrays { textures: each } = workload {
            let views = views(array_groups(each), each);
            let program = gpu.program(array_shaders::array(each), array_shaders::array_groups(each), false);
            (Contents::Arrays(views, each as usize), program)
        } else if workload == Workload::Sampled {
            let views = views(SLICES, TEXTURES_PER_GROUP);
            let program = gpu.program(&shaders::textures::SHADER, shaders::textures::GROUPS, false);
            (Contents::Textures(views), program)
        } else {
            let dynamic = workload == Workload::Dynamic;
            let uniform = gpu.filled(BufferUsages::UNIFORM, &data::slices_uniforms(SLICES));
            let contents = if dynamic { Contents::Dynamic } else { Contents::Slices };
            (contents(uniform), gpu.program(&shaders::groups::SHADER, shaders::groups::GROUPS, dynamic))
        };
        let out = gpu.empty(BufferUsages::STORAGE, u64::from(SLICES * 16));
        let pipeline = gpu.compute(&program, "show");
        let out_group = gpu.group(&program.groups[1], &[out.as_entire_binding()]);
        let layout = program.groups.swap_remove(0);
        let made = Vec::with_capacity(SLICES as usize);
        Self { gpu, contents, layout, pipeline, out, out_group, made }
    }

    fn create(&mut self) {
        let Self { gpu, contents, layout, made, .. } = self;
        let mut make = |entries: &[wgpu::BindGroupEntry<'_>]| {
            let desc = wgpu::BindGroupDescriptor { label: None, layout, entries };
            made.push(gpu.device.create_bind_group(&desc));
        };
        let part = |uniform, at| wgpu::BindGroupEntry { binding: 0, resource: slice(uniform, at, 16) };
        match contents {
            Contents::Slices(uniform) => {
                (0..SLICES).for_each(|slice| make(&[part(uniform, slice * STRIDE)]));
            }
            Contents::Dynamic(uniform) => make(&[part(uniform, 0)]),
            Contents::Textures(views) => {
                for views in views.chunks_exact(TEXTURES_PER_GROUP as usize) {
                    let entries: [_; TEXTURES_PER_GROUP as usize] =
                        std::array::from_fn(|index| wgpu::BindGroupEntry {
                            binding: index as u32,
                            resource: wgpu::BindingResource::TextureView(&views[index]),
                        });
                    make(&entries);
                }
            }
            Contents::Arrays(views, each) => {
                for views in views.chunks_exact(*each) {
                    // A list of references is what wgpu takes.
                    let views: Vec<_> = views.iter().collect();
                    make(&[wgpu::BindGroupEntry {
                        binding: 0,
                        resource: wgpu::BindingResource::TextureViewArray(&views),
                    }]);
                }
            }
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
        let dynamic = matches!(self.contents, Contents::Dynamic(_));
        let slices = if dynamic { SLICES } else { self.made.len() as u32 };
        let mut encoder = self.gpu.encoder();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(1, &self.out_group, &[]);
            for slice in 0..slices {
                if dynamic {
                    pass.set_bind_group(0, &self.made[0], &[slice * STRIDE]);
                } else {
                    pass.set_bind_group(0, &self.made[slice as usize], &[]);
                }
                pass.dispatch_workgroups(1, 1, 1);
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.made.clear();
        self.gpu.read_buffers(std::slice::from_ref(&self.out), slices * 16)
    }
}
