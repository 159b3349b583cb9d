//! `compute_chain`: dependent and independent passes.

use std::time::Instant;

use ash::vk;

use super::gpu::Gpu;
use super::make::{Bind, Stage};
use super::transfer::{STORAGE, barrier};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{CHAIN, CHAIN_VALUES, INDEPENDENT};

const BYTES: u32 = CHAIN_VALUES * 4;

/// Buffers, and a set for each pair of source and destination.
struct Steps<'g> {
    stage: Stage<'g>,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    buffers: Vec<vk::Buffer>,
    sets: Vec<vk::DescriptorSet>,
}

impl<'g> Steps<'g> {
    fn new(gpu: &'g mut Gpu, count: u32, pairs: &[(usize, usize)]) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let mut writes = Vec::new();
        for index in 0..count {
            let buffer = stage.buffer(u64::from(BYTES), vk::BufferUsageFlags::STORAGE_BUFFER)?;
            writes.push((buffer, data::chain_values(index)));
        }
        let buffers: Vec<_> = writes.iter().map(|(buffer, _)| *buffer).collect();
        stage.gpu.upload_buffers(&writes)?;
        let types = [vk::DescriptorType::STORAGE_BUFFER; 2];
        let set_layout = stage.set_layout(&types, vk::ShaderStageFlags::COMPUTE)?;
        let layout = stage.pipeline_layout(&[set_layout])?;
        let contents: Vec<_> = pairs
            .iter()
            .map(|(source, target)| vec![Bind::Storage(buffers[*source]), Bind::Storage(buffers[*target])])
            .collect();
        let sets = stage.sets(set_layout, &contents)?;
        let module = stage.module(&shaders::chain::SHADER)?;
        let pipeline = stage.compute(module, c"step", layout)?;
        Ok(Self { stage, pipeline, layout, buffers, sets })
    }

    fn record(&self, count: u32, between: bool) -> Outcome<()> {
        let gpu = &*self.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is recording; the pipeline is live.
        unsafe { device.cmd_bind_pipeline(commands, point, self.pipeline) };
        for (index, set) in (0..count).zip(self.sets.iter().cycle()) {
            if between || index == 0 {
                barrier(device, commands, STORAGE, STORAGE);
            }
            // SAFETY: the command buffer is recording; the set is live and fits the layout.
            unsafe {
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[*set], &[]);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
        }
        gpu.end()
    }

    fn frame(&mut self, count: u32, between: bool) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.record(count, between)?;
        let recorded = Instant::now();
        self.stage.gpu.submit()?;
        Ok(FrameTimes::recorded(begin, recorded, Instant::now()))
    }
}

/// `compute_chain`.
pub struct Chain<'g>(Steps<'g>);

impl<'g> Chain<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Outcome<Self> {
        Ok(Self(Steps::new(gpu, 2, &[(0, 1), (1, 0)])?))
    }
}

impl Case for Chain<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        self.0.frame(CHAIN, true)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.0.stage.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let first = self.0.buffers[0];
        self.0.stage.gpu.read_buffers(&[first], BYTES)
    }
}

/// `compute_chain/independent`.
pub struct Independent<'g>(Steps<'g>);

impl<'g> Independent<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Outcome<Self> {
        let pairs: Vec<_> =
            (0..INDEPENDENT as usize).map(|pass| (pass, pass + INDEPENDENT as usize)).collect();
        Ok(Self(Steps::new(gpu, INDEPENDENT * 2, &pairs)?))
    }
}

impl Case for Independent<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        self.0.frame(INDEPENDENT, false)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.0.stage.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let written = self.0.buffers[INDEPENDENT as usize..].to_vec();
        self.0.stage.gpu.read_buffers(&written, BYTES)
    }
}
