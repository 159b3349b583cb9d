//! `renderpass`.

use std::time::Instant;

use ash::vk;

use super::draws::{begin_pass, set_area};
use super::gpu::Gpu;
use super::make::{Bind, Raster, Stage};
use super::transfer::{TARGET, images, transition};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{DRAWS, TEXTURES_PER_DRAW};

pub const FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// What a draw of its own has.
struct Draw {
    set: vk::DescriptorSet,
    vertices: [vk::Buffer; 2],
    indices: vk::Buffer,
}

pub struct RenderPass<'g> {
    stage: Stage<'g>,
    passes: u32,
    target: (vk::Image, vk::ImageView),
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    draws: Vec<Draw>,
}

/// The textures in order, made in another.
pub fn textures(stage: &mut Stage<'_>) -> Outcome<Vec<vk::ImageView>> {
    let count = DRAWS * TEXTURES_PER_DRAW;
    let mut made = vec![vk::ImageView::null(); count as usize];
    let mut texels = Vec::new();
    for texture in data::shuffled(count, 1) {
        let (image, view) = stage.image(vk::Format::R8G8B8A8_UNORM, (1, 1), vk::ImageUsageFlags::SAMPLED)?;
        made[texture as usize] = view;
        texels.push((image, data::renderpass_texel(texture).to_vec()));
    }
    stage.gpu.upload_images((1, 1), vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL, &texels)?;
    Ok(made)
}

impl<'g> RenderPass<'g> {
    pub fn new(gpu: &'g mut Gpu, passes: u32) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let target = stage.image(FORMAT, (1, 1), vk::ImageUsageFlags::COLOR_ATTACHMENT)?;
        let made = textures(&mut stage)?;

        let contents: Vec<Vec<Bind>> = made
            .chunks(TEXTURES_PER_DRAW as usize)
            .map(|views| views.iter().map(|view| Bind::Sampled(*view)).collect())
            .collect();
        let types = [vk::DescriptorType::SAMPLED_IMAGE; TEXTURES_PER_DRAW as usize];
        let set_layout = stage.set_layout(&types, vk::ShaderStageFlags::FRAGMENT)?;
        let layout = stage.pipeline_layout(&[set_layout])?;
        let sets = stage.sets(set_layout, &contents)?;

        let mut writes = Vec::new();
        let mut draws = Vec::new();
        for set in sets {
            let mut filled = |usage, bytes: Vec<u8>| -> Outcome<vk::Buffer> {
                let buffer = stage.buffer(bytes.len() as u64, usage)?;
                writes.push((buffer, bytes));
                Ok(buffer)
            };
            let vertex = vk::BufferUsageFlags::VERTEX_BUFFER;
            draws.push(Draw {
                set,
                vertices: [
                    filled(vertex, data::renderpass_positions())?,
                    filled(vertex, data::renderpass_factors())?,
                ],
                indices: filled(vk::BufferUsageFlags::INDEX_BUFFER, data::renderpass_indices())?,
            });
        }
        stage.gpu.upload_buffers(&writes)?;
        let module = stage.module(&shaders::renderpass::SHADER)?;
        let raster =
            Raster { vertex: c"vertex", fragment: c"fragment", format: FORMAT, add: true, vertex_buffers: 2 };
        let pipeline = stage.raster(module, layout, &raster)?;
        Ok(Self { stage, passes, target, pipeline, layout, draws })
    }

    fn record(&self) -> Outcome<()> {
        let gpu = &*self.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let attached = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording; the pipeline is live.
        unsafe { device.cmd_bind_pipeline(commands, point, self.pipeline) };
        set_area(device, commands, (1, 1));
        let per_pass = self.draws.len() / self.passes as usize;
        for (pass, draws) in self.draws.chunks(per_pass).enumerate() {
            let (before, load) = match pass {
                0 => (vk::ImageLayout::UNDEFINED, vk::AttachmentLoadOp::CLEAR),
                _ => (attached, vk::AttachmentLoadOp::LOAD),
            };
            images(device, commands, &[transition(self.target.0, (TARGET, before), (TARGET, attached))]);
            begin_pass(device, commands, self.target.1, (1, 1), load);
            for draw in draws {
                // SAFETY: the command buffer is recording in a pass; everything bound is live and fits.
                unsafe {
                    device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[draw.set], &[]);
                    device.cmd_bind_vertex_buffers(commands, 0, &draw.vertices, &[0, 0]);
                    device.cmd_bind_index_buffer(commands, draw.indices, 0, vk::IndexType::UINT32);
                    device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
                }
            }
            // SAFETY: the command buffer is recording in a pass.
            unsafe { device.cmd_end_rendering(commands) };
        }
        gpu.end()
    }
}

impl Case for RenderPass<'_> {
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
