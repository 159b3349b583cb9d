//! `draws10k`.

use std::time::Instant;

use ash::vk;

use super::gpu::Gpu;
use super::make::{Bind, Raster, Stage};
use super::transfer::{TARGET, images, transition};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{DRAWS, DRAWS_PER_MATERIAL, DRAWS_TARGET, MATERIALS, STRIDE};

pub const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

pub struct Draws<'g> {
    pub stage: Stage<'g>,
    switching: bool,
    pub target: (vk::Image, vk::ImageView),
    pub pipeline: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub draw: vk::DescriptorSet,
    pub materials: Vec<vk::DescriptorSet>,
}

impl<'g> Draws<'g> {
    pub fn new(gpu: &'g mut Gpu, switching: bool) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let target = stage.image(FORMAT, DRAWS_TARGET, vk::ImageUsageFlags::COLOR_ATTACHMENT)?;
        let uniforms = data::draw_uniforms();
        let uniform = stage.buffer(uniforms.len() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        let tints = data::material_uniforms();
        let tint = stage.buffer(tints.len() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        stage.gpu.upload_buffers(&[(uniform, uniforms), (tint, tints)])?;

        let sampler = stage.sampler()?;
        let mut texels = Vec::new();
        let mut contents = Vec::new();
        for material in 0..MATERIALS {
            let (image, view) = stage.image(FORMAT, (1, 1), vk::ImageUsageFlags::SAMPLED)?;
            texels.push((image, data::material_texel(material).to_vec()));
            let offset = u64::from(material * STRIDE);
            contents.push(vec![Bind::Uniform(tint, offset, 16), Bind::Sampled(view), Bind::Sampler(sampler)]);
        }
        stage.gpu.upload_images((1, 1), vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL, &texels)?;

        let both = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let draw_layout = stage.set_layout(&[vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC], both)?;
        let types: Vec<_> = contents[0].iter().map(|bind| bind.ty()).collect();
        let material_layout = stage.set_layout(&types, both)?;
        let layout = stage.pipeline_layout(&[draw_layout, material_layout])?;
        let draw = stage.sets(draw_layout, &[vec![Bind::UniformDynamic(uniform, 64)]])?[0];
        let materials = stage.sets(material_layout, &contents)?;
        let module = stage.module(&shaders::draws::SHADER)?;
        let raster = Raster {
            vertex: c"vertex",
            fragment: c"fragment",
            format: FORMAT,
            add: false,
            vertex_buffers: 0,
        };
        let pipeline = stage.raster(module, layout, &raster)?;
        Ok(Self { stage, switching, target, pipeline, layout, draw, materials })
    }

    fn record(&self) -> Outcome<()> {
        let gpu = &*self.stage.gpu;
        let (device, commands) = (&gpu.device, gpu.begin()?);
        let attached = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let begin = transition(self.target.0, (TARGET, vk::ImageLayout::UNDEFINED), (TARGET, attached));
        images(device, commands, &[begin]);
        begin_pass(device, commands, self.target.1, DRAWS_TARGET, vk::AttachmentLoadOp::CLEAR);
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording in a pass; sets and pipeline are live and fit the layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            set_area(device, commands, DRAWS_TARGET);
            if self.switching {
                for draw in 0..DRAWS {
                    let offset = [draw * STRIDE];
                    if draw % DRAWS_PER_MATERIAL == 0 {
                        let material = self.materials[(draw / DRAWS_PER_MATERIAL % MATERIALS) as usize];
                        let sets = [self.draw, material];
                        device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &sets, &offset);
                    } else {
                        device.cmd_bind_descriptor_sets(
                            commands,
                            point,
                            self.layout,
                            0,
                            &[self.draw],
                            &offset,
                        );
                    }
                    device.cmd_draw(commands, 3, 1, 0, 0);
                }
            } else {
                let sets = [self.draw, self.materials[0]];
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &sets, &[0]);
                for draw in 0..DRAWS {
                    device.cmd_draw(commands, 3, 1, 0, draw);
                }
            }
            device.cmd_end_rendering(commands);
        }
        gpu.end()
    }
}

/// Begins a pass with one color attachment.
pub fn begin_pass(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    view: vk::ImageView,
    size: (u32, u32),
    load: vk::AttachmentLoadOp,
) {
    begin_pass_with(device, commands, view, size, load, vk::RenderingFlags::empty());
}

/// The same, with flags.
pub fn begin_pass_with(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    view: vk::ImageView,
    (width, height): (u32, u32),
    load: vk::AttachmentLoadOp,
    flags: vk::RenderingFlags,
) {
    let colors = [vk::RenderingAttachmentInfo::default()
        .image_view(view)
        .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)];
    let info = vk::RenderingInfo::default()
        .flags(flags)
        .render_area(vk::Extent2D { width, height }.into())
        .layer_count(1)
        .color_attachments(&colors);
    // SAFETY: the command buffer is recording outside a pass; the view is live and in this layout.
    unsafe { device.cmd_begin_rendering(commands, &info) };
}

/// Sets viewport and scissor, Y up.
pub fn set_area(device: &ash::Device, commands: vk::CommandBuffer, (width, height): (u32, u32)) {
    let viewport = vk::Viewport {
        x: 0.0,
        y: height as f32,
        width: width as f32,
        height: -(height as f32),
        min_depth: 0.0,
        max_depth: 1.0,
    };
    // SAFETY: the command buffer is recording.
    unsafe {
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[vk::Extent2D { width, height }.into()]);
    }
}

impl Case for Draws<'_> {
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
        self.stage.gpu.read_image(self.target.0, layout, DRAWS_TARGET, 4)
    }
}
