//! `renderpass/bindless`.

use std::time::Instant;

use ash::vk;

use super::draws::{begin_pass, set_area};
use super::gpu::Gpu;
use super::make::{Raster, Stage};
use super::renderpass::{FORMAT, textures};
use super::transfer::{TARGET, images, transition};
use crate::array_shaders;
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::DRAWS;

pub struct Bindless<'g> {
    stage: Stage<'g>,
    target: (vk::Image, vk::ImageView),
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    table: vk::DescriptorSet,
    vertices: [vk::Buffer; 2],
    indices: vk::Buffer,
}

impl<'g> Bindless<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let target = stage.image(FORMAT, (1, 1), vk::ImageUsageFlags::COLOR_ATTACHMENT)?;
        let shown = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let infos: Vec<_> = textures(&mut stage)?
            .into_iter()
            .map(|view| vk::DescriptorImageInfo::default().image_view(view).image_layout(shown))
            .collect();
        let count = infos.len() as u32;
        let set_layout = stage.array_layout(count, vk::ShaderStageFlags::FRAGMENT)?;
        let layout = stage.pipeline_layout(&[set_layout])?;
        let pool = stage.pool(1, &vec![vk::DescriptorType::SAMPLED_IMAGE; count as usize])?;
        let layouts = [set_layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for exactly this set, which no submission uses, and the views are live.
        let table = unsafe {
            let table = stage.gpu.device.allocate_descriptor_sets(&info)?[0];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(table)
                .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
                .image_info(&infos);
            stage.gpu.device.update_descriptor_sets(&[write], &[]);
            table
        };
        let mut writes = Vec::new();
        let mut filled = |usage, bytes: Vec<u8>| -> Outcome<vk::Buffer> {
            let buffer = stage.buffer(bytes.len() as u64, usage)?;
            writes.push((buffer, bytes));
            Ok(buffer)
        };
        let vertex = vk::BufferUsageFlags::VERTEX_BUFFER;
        let vertices =
            [filled(vertex, data::renderpass_positions())?, filled(vertex, data::renderpass_factors())?];
        let indices = filled(vk::BufferUsageFlags::INDEX_BUFFER, data::renderpass_indices())?;
        stage.gpu.upload_buffers(&writes)?;
        let module = stage.module(&array_shaders::bindless::SHADER)?;
        let raster =
            Raster { vertex: c"vertex", fragment: c"fragment", format: FORMAT, add: true, vertex_buffers: 2 };
        let pipeline = stage.raster(module, layout, &raster)?;
        Ok(Self { stage, target, pipeline, layout, table, vertices, indices })
    }

    fn record(&self) -> Outcome<()> {
        let gpu = &*self.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let attached = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let point = vk::PipelineBindPoint::GRAPHICS;
        set_area(device, commands, (1, 1));
        let before = vk::ImageLayout::UNDEFINED;
        images(device, commands, &[transition(self.target.0, (TARGET, before), (TARGET, attached))]);
        begin_pass(device, commands, self.target.1, (1, 1), vk::AttachmentLoadOp::CLEAR);
        // SAFETY: the command buffer is recording in a pass; everything bound is live and fits.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.table], &[]);
            device.cmd_bind_vertex_buffers(commands, 0, &self.vertices, &[0, 0]);
            device.cmd_bind_index_buffer(commands, self.indices, 0, vk::IndexType::UINT32);
            for draw in 0..DRAWS {
                device.cmd_draw_indexed(commands, 3, 1, 0, 0, draw);
            }
            device.cmd_end_rendering(commands);
        }
        gpu.end()
    }
}

impl Case for Bindless<'_> {
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
        self.stage.gpu.read_image(self.target.0, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, (1, 1), 8)
    }
}
