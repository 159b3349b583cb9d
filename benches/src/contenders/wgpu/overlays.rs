//! `overlays`.

use std::time::Instant;

use wgpu::{BindingResource, TextureFormat, TextureUsages};

use super::make::{Gpu, Raster, pass};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{OVERLAYS_TARGET, SCENE_INSTANCES, SCENE_TEXTURE};

pub struct Overlays<'g> {
    gpu: &'g Gpu,
    count: u32,
    scene: (wgpu::Texture, wgpu::TextureView),
    target: (wgpu::Texture, wgpu::TextureView),
    /// Scene, overlay, composite.
    pipelines: [wgpu::RenderPipeline; 3],
    /// The scene's texture, and the scene.
    groups: [wgpu::BindGroup; 2],
}

impl<'g> Overlays<'g> {
    pub fn new(gpu: &'g Gpu, count: u32) -> Self {
        let format = TextureFormat::Rgba8Unorm;
        let both = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let scene = gpu.texture(format, OVERLAYS_TARGET, both, None);
        let target = gpu.texture(format, OVERLAYS_TARGET, TextureUsages::RENDER_ATTACHMENT, None);
        let side = (SCENE_TEXTURE, SCENE_TEXTURE);
        let texels = data::scene_texels();
        let texture = gpu.texture(format, side, TextureUsages::TEXTURE_BINDING, Some(&texels));
        let sampler = gpu.sampler();
        let program = gpu.program(&shaders::overlay::SHADER, shaders::overlay::GROUPS, false);
        let groups = [&texture.1, &scene.1].map(|view| {
            let resources = [BindingResource::TextureView(view), BindingResource::Sampler(&sampler)];
            gpu.group(&program.groups[0], &resources)
        });
        let pipeline = |vertex, fragment, add| {
            gpu.raster(&program, &Raster { vertex, fragment, format, add, vertex_buffers: 0 })
        };
        let pipelines = [
            pipeline("scene_vertex", "scene_fragment", false),
            pipeline("overlay_vertex", "overlay_fragment", true),
            pipeline("composite_vertex", "composite_fragment", false),
        ];
        Self { gpu, count, scene, target, pipelines, groups }
    }
}

impl Case for Overlays<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut encoder = self.gpu.encoder();
        {
            let mut pass = pass(&mut encoder, &self.scene.1, true);
            pass.set_pipeline(&self.pipelines[0]);
            pass.set_bind_group(0, &self.groups[0], &[]);
            pass.draw(0..6, 0..SCENE_INSTANCES);
        }
        for overlay in 0..self.count {
            let mut pass = pass(&mut encoder, &self.scene.1, false);
            pass.set_pipeline(&self.pipelines[1]);
            pass.set_bind_group(0, &self.groups[0], &[]);
            pass.draw(0..6, overlay..overlay + 1);
        }
        {
            let mut pass = pass(&mut encoder, &self.target.1, true);
            pass.set_pipeline(&self.pipelines[2]);
            pass.set_bind_group(0, &self.groups[1], &[]);
            pass.draw(0..3, 0..1);
        }
        self.gpu.submit(begin, encoder)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(&self.target.0, 4)
    }
}
