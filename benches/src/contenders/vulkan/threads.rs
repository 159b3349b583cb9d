//! `threads`: a secondary command buffer for each thread, from a pool of its own; one thread needs none.

use std::time::Instant;

use ash::vk;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::draws::{Draws, FORMAT, begin_pass_with, set_area};
use super::gpu::Gpu;
use super::transfer::{TARGET, images, transition};
use crate::case::{Case, FrameTimes, Outcome};
use crate::workloads::{DRAWS_PER_MATERIAL, DRAWS_TARGET, MATERIALS, THREADS_CELLS, thread_part};

/// What one thread records into.
struct Part {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

pub struct Threads<'g> {
    scene: Draws<'g>,
    draws: u32,
    /// None for one thread.
    parts: Vec<Part>,
}

impl<'g> Threads<'g> {
    pub fn new(gpu: &'g mut Gpu, threads: u32, draws: u32) -> Outcome<Self> {
        let mut made = Self { scene: Draws::new(gpu, true)?, draws, parts: Vec::new() };
        for _ in 0..if threads > 1 { threads } else { 0 } {
            let gpu = &*made.scene.stage.gpu;
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::TRANSIENT)
                .queue_family_index(gpu.family);
            // SAFETY: the device has a queue of this family.
            let pool = unsafe { gpu.device.create_command_pool(&info, None) }?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::SECONDARY)
                .command_buffer_count(1);
            // SAFETY: the pool was just made; it goes with the case.
            let commands = unsafe { gpu.device.allocate_command_buffers(&info) };
            made.parts.push(Part { pool, commands: vk::CommandBuffer::null() });
            if let Some(part) = made.parts.last_mut() {
                part.commands = commands?[0];
            }
        }
        Ok(made)
    }

    /// Records a range of the draws into a command buffer that is recording in the pass.
    fn draw(&self, device: &ash::Device, commands: vk::CommandBuffer, part: std::ops::Range<u32>) {
        let Draws { pipeline, layout, draw: draw_set, materials, .. } = &self.scene;
        let point = vk::PipelineBindPoint::GRAPHICS;
        set_area(device, commands, DRAWS_TARGET);
        // SAFETY: the command buffer is recording in a pass; sets and pipeline are live and fit the layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, *pipeline);
            for draw in part.clone() {
                let material = materials[(draw / DRAWS_PER_MATERIAL % MATERIALS) as usize];
                if draw == part.start {
                    let sets = [*draw_set, material];
                    device.cmd_bind_descriptor_sets(commands, point, *layout, 0, &sets, &[0]);
                } else if draw % DRAWS_PER_MATERIAL == 0 {
                    device.cmd_bind_descriptor_sets(commands, point, *layout, 1, &[material], &[]);
                }
                device.cmd_draw(commands, 3, 1, 0, draw % THREADS_CELLS);
            }
        }
    }

    /// Records one thread's part.
    fn record_part(&self, device: &ash::Device, index: usize) -> Outcome<()> {
        let commands = self.parts[index].commands;
        let formats = [FORMAT];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
        let usage =
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        let info = vk::CommandBufferBeginInfo::default().flags(usage).inheritance_info(&inheritance);
        // SAFETY: the pool was reset when the last frame was complete, and only this call uses it.
        unsafe { device.begin_command_buffer(commands, &info) }?;
        self.draw(device, commands, thread_part(index as u32, self.parts.len() as u32, self.draws));
        // SAFETY: the command buffer is recording.
        Ok(unsafe { device.end_command_buffer(commands) }?)
    }

    fn record(&self) -> Outcome<()> {
        let gpu = &*self.scene.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let (image, view) = self.scene.target;
        let attached = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let begin = transition(image, (TARGET, vk::ImageLayout::UNDEFINED), (TARGET, attached));
        images(device, commands, &[begin]);
        let flags = match self.parts.len() {
            0 => vk::RenderingFlags::empty(),
            _ => vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
        };
        begin_pass_with(device, commands, view, DRAWS_TARGET, vk::AttachmentLoadOp::CLEAR, flags);
        if self.parts.is_empty() {
            self.draw(device, commands, 0..self.draws);
        } else {
            let parts = self.parts.par_iter().enumerate().with_max_len(1);
            parts.map(|(index, _)| self.record_part(device, index)).collect::<Outcome<()>>()?;
            let all: Vec<_> = self.parts.iter().map(|part| part.commands).collect();
            // SAFETY: the command buffer is recording in a pass for secondary ones; these are ended and fit it.
            unsafe { device.cmd_execute_commands(commands, &all) };
        }
        // SAFETY: the command buffer is recording in a pass.
        unsafe { device.cmd_end_rendering(commands) };
        gpu.end()
    }
}

impl Case for Threads<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.record()?;
        let recorded = Instant::now();
        self.scene.stage.gpu.submit()?;
        Ok(FrameTimes::recorded(begin, recorded, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.scene.stage.gpu.finish()?;
        for part in &self.parts {
            let device = &self.scene.stage.gpu.device;
            // SAFETY: its command buffer is not pending after the wait.
            unsafe { device.reset_command_pool(part.pool, vk::CommandPoolResetFlags::empty()) }?;
        }
        Ok(())
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.scene.result()
    }
}

impl Drop for Threads<'_> {
    fn drop(&mut self) {
        let device = &self.scene.stage.gpu.device;
        // SAFETY: after the wait the GPU uses nothing of this workload.
        unsafe {
            let _ = device.device_wait_idle();
            self.parts.iter().for_each(|part| device.destroy_command_pool(part.pool, None));
        }
    }
}
