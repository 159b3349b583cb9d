//! `computepass` and `compute_chain`.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat, TextureUsages};
use purlin_rhi::{BindGroup, BindGroupEntry, Buffer, ComputePassDesc, Owned, TextureDesc, kind};

use super::make::{Gpu, Image};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{CHAIN, CHAIN_VALUES, DISPATCH_SAMPLE, DISPATCHES, INDEPENDENT};

pub struct ComputePass<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    pipeline: Owned<kind::ComputePipeline>,
    /// Each declares the storage that its dispatch writes.
    groups: Vec<BindGroup>,
    _groups: Vec<Owned<kind::BindGroup>>,
    buffers: Vec<Owned<kind::Buffer>>,
    _images: [Vec<Image>; 2],
}

impl<'g, B: Backend> ComputePass<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>) -> Outcome<Self> {
        let count = DISPATCHES * 2;
        let textures = shuffled(count, 2, |texture| gpu.texture((1, 1), &data::computepass_texel(texture)))?;
        let usage = TextureUsages::STORAGE_BINDING | TextureUsages::COPY_DST;
        let desc = TextureDesc::d2("stored", 1, 1, TextureFormat::R32Float, usage);
        let stored = shuffled(count, 3, |_| {
            let image = gpu.image(&desc)?;
            gpu.fill_texture(*image.texture, (1, 1), &[0; 4])?;
            Ok(image)
        })?;
        let buffers = shuffled(count, 4, |_| gpu.tracked(BufferUsages::STORAGE, &[0; 16]))?;
        let program = gpu.program(&shaders::computepass::SHADER, shaders::computepass::GROUPS, false)?;
        let mut groups = Vec::new();
        for dispatch in 0..DISPATCHES as usize {
            let (a, b) = (dispatch * 2, dispatch * 2 + 1);
            let entries = [
                BindGroupEntry::texture(0, *textures[a].view),
                BindGroupEntry::texture(1, *textures[b].view),
                BindGroupEntry::texture(2, *stored[a].view),
                BindGroupEntry::texture(3, *stored[b].view),
                BindGroupEntry::buffer(4, *buffers[a]),
                BindGroupEntry::buffer(5, *buffers[b]),
            ];
            groups.push(gpu.group(&program, 0, &entries)?);
        }
        let pipeline = gpu.compute(&program, "main")?;
        gpu.device.flush_uploads()?;
        gpu.finish()?;
        let handles = groups.iter().map(Owned::handle).collect();
        Ok(Self { gpu, pipeline, groups: handles, _groups: groups, buffers, _images: [textures, stored] })
    }
}

/// Makes things in a mixed order, and answers them in theirs.
fn shuffled<T>(count: u32, seed: u32, mut make: impl FnMut(u32) -> Outcome<T>) -> Outcome<Vec<T>> {
    let mut made = Vec::new();
    for index in data::shuffled(count, seed) {
        made.push((index, make(index)?));
    }
    made.sort_by_key(|(index, _)| *index);
    Ok(made.into_iter().map(|(_, thing)| thing).collect())
}

impl<B: Backend> Case for ComputePass<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let desc = ComputePassDesc { label: "dispatches", groups: &self.groups, ..Default::default() };
        let (groups, pipeline) = (&self.groups, *self.pipeline);
        self.gpu.frame(|recorder| {
            recorder.compute_pass(&desc, |pass| {
                pass.set_pipeline(pipeline);
                for group in groups {
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch([1, 1, 1]);
                }
            })
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let sampled: Vec<Buffer> = (0..DISPATCHES as usize)
            .step_by(DISPATCH_SAMPLE as usize)
            .flat_map(|dispatch| [*self.buffers[dispatch * 2], *self.buffers[dispatch * 2 + 1]])
            .collect();
        self.gpu.read_buffers(&sampled, 4)
    }
}

/// Passes of one dispatch each.
pub struct Steps<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    passes: u32,
    pipeline: Owned<kind::ComputePipeline>,
    /// Each declares the buffer that its dispatch reads, and the one that it writes.
    groups: Vec<Owned<kind::BindGroup>>,
    buffers: Vec<Owned<kind::Buffer>>,
    /// The first buffer of the result, and how many.
    result: (usize, usize),
}

const BYTES: u32 = CHAIN_VALUES * 4;

impl<'g, B: Backend> Steps<'g, B> {
    pub fn chain(gpu: &'g mut Gpu<B>) -> Outcome<Self> {
        Self::new(gpu, CHAIN, 2, &[(0, 1), (1, 0)], (0, 1))
    }

    pub fn independent(gpu: &'g mut Gpu<B>) -> Outcome<Self> {
        let count = INDEPENDENT as usize;
        let pairs: Vec<_> = (0..count).map(|pass| (pass, pass + count)).collect();
        Self::new(gpu, INDEPENDENT, INDEPENDENT * 2, &pairs, (count, count))
    }

    fn new(
        gpu: &'g mut Gpu<B>,
        passes: u32,
        count: u32,
        pairs: &[(usize, usize)],
        result: (usize, usize),
    ) -> Outcome<Self> {
        let mut buffers = Vec::new();
        for buffer in 0..count {
            buffers.push(gpu.tracked(BufferUsages::STORAGE, &data::chain_values(buffer))?);
        }
        let program = gpu.program(&shaders::chain::SHADER, shaders::chain::GROUPS, false)?;
        let mut groups = Vec::new();
        for (source, target) in pairs {
            let (source, target) = (*buffers[*source], *buffers[*target]);
            let entries = [BindGroupEntry::buffer(0, source), BindGroupEntry::buffer(1, target)];
            groups.push(gpu.group(&program, 0, &entries)?);
        }
        let pipeline = gpu.compute(&program, "step")?;
        Ok(Self { gpu, passes, pipeline, groups, buffers, result })
    }
}

impl<B: Backend> Case for Steps<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let (groups, pipeline, passes) = (&self.groups, *self.pipeline, self.passes);
        self.gpu.frame(|recorder| {
            for (_, group) in (0..passes).zip(groups.iter().cycle()) {
                let group = **group;
                let desc = ComputePassDesc { label: "step", groups: &[group], ..Default::default() };
                recorder.compute_pass(&desc, |pass| {
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(0, group, &[]);
                    pass.dispatch([1, 1, 1]);
                })?;
            }
            Ok(())
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let (first, count) = self.result;
        let buffers: Vec<Buffer> = self.buffers[first..first + count].iter().map(|buffer| **buffer).collect();
        self.gpu.read_buffers(&buffers, BYTES)
    }
}
