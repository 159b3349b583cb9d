//! `overlays`.

use std::time::Instant;

use ash::vk;

use super::draws::{begin_pass, set_area};
use super::gpu::Gpu;
use super::make::{Bind, Raster, Stage};
use super::transfer::{SAMPLED, TARGET, images, transition};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{OVERLAYS_TARGET, SCENE_INSTANCES, SCENE_TEXTURE};

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

pub struct Overlays<'g> {
    stage: Stage<'g>,
    count: u32,
    scene: (vk::Image, vk::ImageView),
    target: (vk::Image, vk::ImageView),
    layout: vk::PipelineLayout,
    /// Scene, overlay, composite.
    pipelines: [vk::Pipeline; 3],
    /// The scene's texture, and the scene.
    sets: Vec<vk::DescriptorSet>,
}

impl<'g> Overlays<'g> {
    pub fn new(gpu: &'g mut Gpu, count: u32) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let attached = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let scene = stage.image(FORMAT, OVERLAYS_TARGET, attached | vk::ImageUsageFlags::SAMPLED)?;
        let target = stage.image(FORMAT, OVERLAYS_TARGET, attached)?;
        let side = (SCENE_TEXTURE, SCENE_TEXTURE);
        let texture = stage.image(FORMAT, side, vk::ImageUsageFlags::SAMPLED)?;
        let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        stage.gpu.upload_images(side, read, &[(texture.0, data::scene_texels())])?;
        let sampler = stage.sampler()?;
        let types = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER];
        let set_layout = stage.set_layout(&types, vk::ShaderStageFlags::FRAGMENT)?;
        let layout = stage.pipeline_layout(&[set_layout])?;
        let contents = [texture.1, scene.1].map(|view| vec![Bind::Sampled(view), Bind::Sampler(sampler)]);
        let sets = stage.sets(set_layout, &contents)?;
        let module = stage.module(&shaders::overlay::SHADER)?;
        let mut pipeline = |vertex, fragment, add| {
            stage.raster(module, layout, &Raster { vertex, fragment, format: FORMAT, add, vertex_buffers: 0 })
        };
        let pipelines = [
            pipeline(c"scene_vertex", c"scene_fragment", false)?,
            pipeline(c"overlay_vertex", c"overlay_fragment", true)?,
            pipeline(c"composite_vertex", c"composite_fragment", false)?,
        ];
        Ok(Self { stage, count, scene, target, layout, pipelines, sets })
    }

    fn record(&self) -> Outcome<()> {
        let gpu = &*self.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let point = vk::PipelineBindPoint::GRAPHICS;
        let (attached, read) =
            (vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        let undefined = vk::ImageLayout::UNDEFINED;
        let (clear, load) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD);
        // SAFETY: the command buffer is recording; sets and pipelines are live and fit the layout.
        let bind = |pipeline: usize, set: Option<usize>| unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipelines[pipeline]);
            if let Some(set) = set {
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.sets[set]], &[]);
            }
        };
        // SAFETY: the command buffer is recording in a pass with all state set.
        let draw = |vertices, instances, first| unsafe {
            device.cmd_draw(commands, vertices, instances, 0, first);
            device.cmd_end_rendering(commands);
        };

        // What sampled the scene last, and wrote both targets last, was the frame before.
        let before = (SAMPLED.0 | TARGET.0, TARGET.1);
        let start = [
            transition(self.scene.0, (before, undefined), (TARGET, attached)),
            transition(self.target.0, (TARGET, undefined), (TARGET, attached)),
        ];
        images(device, commands, &start);
        set_area(device, commands, OVERLAYS_TARGET);
        begin_pass(device, commands, self.scene.1, OVERLAYS_TARGET, clear);
        bind(0, Some(0));
        draw(6, SCENE_INSTANCES, 0);
        for overlay in 0..self.count {
            images(device, commands, &[transition(self.scene.0, (TARGET, attached), (TARGET, attached))]);
            begin_pass(device, commands, self.scene.1, OVERLAYS_TARGET, load);
            if overlay == 0 {
                bind(1, None);
            }
            draw(6, 1, overlay);
        }
        images(device, commands, &[transition(self.scene.0, (TARGET, attached), (SAMPLED, read))]);
        begin_pass(device, commands, self.target.1, OVERLAYS_TARGET, clear);
        bind(2, Some(1));
        draw(3, 1, 0);
        gpu.end()
    }
}

impl Case for Overlays<'_> {
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
        let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        self.stage.gpu.read_image(self.target.0, layout, OVERLAYS_TARGET, 4)
    }
}
