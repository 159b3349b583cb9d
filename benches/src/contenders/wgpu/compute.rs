//! `computepass` and `compute_chain`.

use std::time::Instant;

use wgpu::{BindingResource, BufferUsages, TextureFormat, TextureUsages};

use super::make::Gpu;
use crate::case::{Case, Failure, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{CHAIN, CHAIN_VALUES, DISPATCH_SAMPLE, DISPATCHES, INDEPENDENT};

pub struct ComputePass<'g> {
    gpu: &'g Gpu,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<wgpu::BindGroup>,
    sampled: Vec<wgpu::Buffer>,
}

impl<'g> ComputePass<'g> {
    pub fn new(gpu: &'g Gpu) -> Outcome<Self> {
        let count = DISPATCHES * 2;
        let textures = shuffled(count, 2, |texture| {
            let texel = data::computepass_texel(texture);
            gpu.texture(TextureFormat::Rgba8Unorm, (1, 1), TextureUsages::TEXTURE_BINDING, Some(&texel)).1
        });
        let stored = shuffled(count, 3, |_| {
            gpu.texture(TextureFormat::R32Float, (1, 1), TextureUsages::STORAGE_BINDING, None).1
        });
        let buffers = shuffled(count, 4, |_| gpu.filled(BufferUsages::STORAGE, &[0; 16]));
        let program = gpu.program(&shaders::computepass::SHADER, shaders::computepass::GROUPS, false);
        gpu.first_error()?;
        let groups = (0..DISPATCHES as usize)
            .map(|dispatch| {
                let (a, b) = (dispatch * 2, dispatch * 2 + 1);
                let resources = [
                    BindingResource::TextureView(&textures[a]),
                    BindingResource::TextureView(&textures[b]),
                    BindingResource::TextureView(&stored[a]),
                    BindingResource::TextureView(&stored[b]),
                    buffers[a].as_entire_binding(),
                    buffers[b].as_entire_binding(),
                ];
                gpu.group(&program.groups[0], &resources)
            })
            .collect();
        let pipeline = gpu.compute(&program, "main");
        let sampled = (0..DISPATCHES as usize)
            .step_by(DISPATCH_SAMPLE as usize)
            .flat_map(|dispatch| [buffers[dispatch * 2].clone(), buffers[dispatch * 2 + 1].clone()])
            .collect();
        gpu.queue.submit([]);
        Ok(Self { gpu, pipeline, groups, sampled })
    }
}

/// Makes things in a mixed order, and answers them in theirs.
fn shuffled<T>(count: u32, seed: u32, mut make: impl FnMut(u32) -> T) -> Vec<T> {
    let mut made: Vec<_> =
        data::shuffled(count, seed).into_iter().map(|index| (index, make(index))).collect();
    made.sort_by_key(|(index, _)| *index);
    made.into_iter().map(|(_, thing)| thing).collect()
}

impl Case for ComputePass<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut encoder = self.gpu.encoder();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            for group in &self.groups {
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
        }
        self.gpu.submit(begin, encoder)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_buffers(&self.sampled, 4)
    }
}

/// Passes of one dispatch each.
pub struct Steps<'g> {
    gpu: &'g Gpu,
    passes: u32,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<wgpu::BindGroup>,
    /// The buffers of the result.
    results: Vec<wgpu::Buffer>,
}

impl<'g> Steps<'g> {
    pub fn chain(gpu: &'g Gpu) -> Self {
        let mut steps = Self::new(gpu, CHAIN, 2, &[(0, 1), (1, 0)]);
        steps.results.truncate(1);
        steps
    }

    pub fn independent(gpu: &'g Gpu) -> Self {
        let count = INDEPENDENT as usize;
        let pairs: Vec<_> = (0..count).map(|pass| (pass, pass + count)).collect();
        let mut steps = Self::new(gpu, INDEPENDENT, INDEPENDENT * 2, &pairs);
        steps.results.drain(..count);
        steps
    }

    fn new(gpu: &'g Gpu, passes: u32, buffers: u32, pairs: &[(usize, usize)]) -> Self {
        let results: Vec<_> = (0..buffers)
            .map(|buffer| gpu.filled(BufferUsages::STORAGE, &data::chain_values(buffer)))
            .collect();
        let program = gpu.program(&shaders::chain::SHADER, shaders::chain::GROUPS, false);
        let groups = pairs
            .iter()
            .map(|(source, target)| {
                let resources = [results[*source].as_entire_binding(), results[*target].as_entire_binding()];
                gpu.group(&program.groups[0], &resources)
            })
            .collect();
        let pipeline = gpu.compute(&program, "step");
        Self { gpu, passes, pipeline, groups, results }
    }
}

impl Case for Steps<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut encoder = self.gpu.encoder();
        for (_, group) in (0..self.passes).zip(self.groups.iter().cycle()) {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        self.gpu.submit(begin, encoder)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        if self.results.is_empty() {
            return Err(Failure::Failed("there is nothing to read".into()));
        }
        self.gpu.read_buffers(&self.results, CHAIN_VALUES * 4)
    }
}
