//! `computepass`.

use std::time::Instant;

use ash::vk;

use super::gpu::Gpu;
use super::make::{Bind, Stage};
use super::transfer::{STORAGE, barrier};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{DISPATCH_SAMPLE, DISPATCHES};

pub struct ComputePass<'g> {
    stage: Stage<'g>,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    sets: Vec<vk::DescriptorSet>,
    sampled: Vec<vk::Buffer>,
}

impl<'g> ComputePass<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let count = DISPATCHES * 2;
        let mut textures = vec![vk::ImageView::null(); count as usize];
        let mut texels = Vec::new();
        for texture in data::shuffled(count, 2) {
            let (image, view) =
                stage.image(vk::Format::R8G8B8A8_UNORM, (1, 1), vk::ImageUsageFlags::SAMPLED)?;
            textures[texture as usize] = view;
            texels.push((image, data::computepass_texel(texture).to_vec()));
        }
        stage.gpu.upload_images((1, 1), vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL, &texels)?;
        let mut stored = vec![vk::ImageView::null(); count as usize];
        let mut cleared = Vec::new();
        for image in data::shuffled(count, 3) {
            let (raw, view) = stage.image(vk::Format::R32_SFLOAT, (1, 1), vk::ImageUsageFlags::STORAGE)?;
            stored[image as usize] = view;
            cleared.push(raw);
        }
        stage.gpu.clear_images(&cleared)?;
        let mut buffers = vec![vk::Buffer::null(); count as usize];
        for buffer in data::shuffled(count, 4) {
            buffers[buffer as usize] = stage.buffer(16, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        }
        let zeros: Vec<_> = buffers.iter().map(|buffer| (*buffer, vec![0; 16])).collect();
        stage.gpu.upload_buffers(&zeros)?;

        let contents: Vec<Vec<Bind>> = (0..DISPATCHES as usize)
            .map(|dispatch| {
                let (a, b) = (dispatch * 2, dispatch * 2 + 1);
                vec![
                    Bind::Sampled(textures[a]),
                    Bind::Sampled(textures[b]),
                    Bind::StorageImage(stored[a]),
                    Bind::StorageImage(stored[b]),
                    Bind::Storage(buffers[a]),
                    Bind::Storage(buffers[b]),
                ]
            })
            .collect();
        let types: Vec<_> = contents[0].iter().map(|bind| bind.ty()).collect();
        let set_layout = stage.set_layout(&types, vk::ShaderStageFlags::COMPUTE)?;
        let layout = stage.pipeline_layout(&[set_layout])?;
        let sets = stage.sets(set_layout, &contents)?;
        let module = stage.module(&shaders::computepass::SHADER)?;
        let pipeline = stage.compute(module, c"main", layout)?;
        let sampled = (0..DISPATCHES as usize)
            .step_by(DISPATCH_SAMPLE as usize)
            .flat_map(|dispatch| [buffers[dispatch * 2], buffers[dispatch * 2 + 1]])
            .collect();
        Ok(Self { stage, pipeline, layout, sets, sampled })
    }

    fn record(&self) -> Outcome<()> {
        let gpu = &*self.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let point = vk::PipelineBindPoint::COMPUTE;
        // The dispatches share nothing, so one dependency on the frame before is enough.
        barrier(device, commands, STORAGE, STORAGE);
        // SAFETY: the command buffer is recording; sets and pipeline are live and fit the layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            for set in &self.sets {
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[*set], &[]);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
        }
        gpu.end()
    }
}

impl Case for ComputePass<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.record()?;
        let recorded = Instant::now();
        self.stage.gpu.submit()?;
        Ok(FrameTimes::recorded(begin, recorded, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.stage.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let sampled = self.sampled.clone();
        self.stage.gpu.read_buffers(&sampled, 4)
    }
}
