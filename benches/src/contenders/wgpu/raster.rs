//! `draws10k` and `renderpass`.

use std::time::Instant;

use wgpu::{BindingResource, BufferUsages, TextureFormat, TextureUsages};

use super::make::{Gpu, Raster, pass, slice};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{DRAWS, DRAWS_PER_MATERIAL, DRAWS_TARGET, MATERIALS, STRIDE, TEXTURES_PER_DRAW};
use crate::{array_shaders, shaders};

pub struct Draws<'g> {
    pub gpu: &'g Gpu,
    switching: bool,
    pub target: (wgpu::Texture, wgpu::TextureView),
    pub pipeline: wgpu::RenderPipeline,
    pub draw: wgpu::BindGroup,
    pub materials: Vec<wgpu::BindGroup>,
}

impl<'g> Draws<'g> {
    pub fn new(gpu: &'g Gpu, switching: bool) -> Self {
        let format = TextureFormat::Rgba8Unorm;
        let target = gpu.texture(format, DRAWS_TARGET, TextureUsages::RENDER_ATTACHMENT, None);
        let uniform = gpu.filled(BufferUsages::UNIFORM, &data::draw_uniforms());
        let tint = gpu.filled(BufferUsages::UNIFORM, &data::material_uniforms());
        let sampler = gpu.sampler();
        let program = gpu.program(&shaders::draws::SHADER, shaders::draws::GROUPS, true);
        let draw = gpu.group(&program.groups[0], &[slice(&uniform, 0, 64)]);
        let materials = (0..MATERIALS)
            .map(|material| {
                let texel = data::material_texel(material);
                let (_, view) = gpu.texture(format, (1, 1), TextureUsages::TEXTURE_BINDING, Some(&texel));
                let resources = [
                    slice(&tint, material * STRIDE, 16),
                    BindingResource::TextureView(&view),
                    BindingResource::Sampler(&sampler),
                ];
                gpu.group(&program.groups[1], &resources)
            })
            .collect();
        let raster = Raster { vertex: "vertex", fragment: "fragment", format, add: false, vertex_buffers: 0 };
        let pipeline = gpu.raster(&program, &raster);
        Self { gpu, switching, target, pipeline, draw, materials }
    }
}

impl Case for Draws<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut encoder = self.gpu.encoder();
        {
            let mut pass = pass(&mut encoder, &self.target.1, true);
            pass.set_pipeline(&self.pipeline);
            if self.switching {
                for draw in 0..DRAWS {
                    if draw % DRAWS_PER_MATERIAL == 0 {
                        let material = &self.materials[(draw / DRAWS_PER_MATERIAL % MATERIALS) as usize];
                        pass.set_bind_group(1, material, &[]);
                    }
                    pass.set_bind_group(0, &self.draw, &[draw * STRIDE]);
                    pass.draw(0..3, 0..1);
                }
            } else {
                pass.set_bind_group(0, &self.draw, &[0]);
                pass.set_bind_group(1, &self.materials[0], &[]);
                for draw in 0..DRAWS {
                    pass.draw(0..3, draw..draw + 1);
                }
            }
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

/// What a draw of its own has.
struct Draw {
    group: wgpu::BindGroup,
    vertices: [wgpu::Buffer; 2],
    indices: wgpu::Buffer,
}

/// The textures of `renderpass` in order, made in another.
fn renderpass_views(gpu: &Gpu) -> Vec<wgpu::TextureView> {
    let mut made: Vec<_> = data::shuffled(DRAWS * TEXTURES_PER_DRAW, 1)
        .into_iter()
        .map(|texture| {
            let texel = data::renderpass_texel(texture);
            let usage = TextureUsages::TEXTURE_BINDING;
            (texture, gpu.texture(TextureFormat::Rgba8Unorm, (1, 1), usage, Some(&texel)).1)
        })
        .collect();
    made.sort_by_key(|(texture, _)| *texture);
    made.into_iter().map(|(_, view)| view).collect()
}

pub struct RenderPass<'g> {
    gpu: &'g Gpu,
    passes: u32,
    target: (wgpu::Texture, wgpu::TextureView),
    pipeline: wgpu::RenderPipeline,
    draws: Vec<Draw>,
}

impl<'g> RenderPass<'g> {
    pub fn new(gpu: &'g Gpu, passes: u32) -> Self {
        let format = TextureFormat::Rgba16Float;
        let target = gpu.texture(format, (1, 1), TextureUsages::RENDER_ATTACHMENT, None);
        let made = renderpass_views(gpu);
        let program = gpu.program(&shaders::renderpass::SHADER, shaders::renderpass::GROUPS, false);
        let draws = made
            .chunks(TEXTURES_PER_DRAW as usize)
            .map(|views| {
                let resources: Vec<_> = views.iter().map(BindingResource::TextureView).collect();
                Draw {
                    group: gpu.group(&program.groups[0], &resources),
                    vertices: [
                        gpu.filled(BufferUsages::VERTEX, &data::renderpass_positions()),
                        gpu.filled(BufferUsages::VERTEX, &data::renderpass_factors()),
                    ],
                    indices: gpu.filled(BufferUsages::INDEX, &data::renderpass_indices()),
                }
            })
            .collect();
        let raster = Raster { vertex: "vertex", fragment: "fragment", format, add: true, vertex_buffers: 2 };
        let pipeline = gpu.raster(&program, &raster);
        gpu.queue.submit([]);
        Self { gpu, passes, target, pipeline, draws }
    }
}

impl Case for RenderPass<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut encoder = self.gpu.encoder();
        let per_pass = self.draws.len() / self.passes as usize;
        for (index, draws) in self.draws.chunks(per_pass).enumerate() {
            let mut pass = pass(&mut encoder, &self.target.1, index == 0);
            pass.set_pipeline(&self.pipeline);
            for draw in draws {
                pass.set_bind_group(0, &draw.group, &[]);
                pass.set_vertex_buffer(0, draw.vertices[0].slice(..));
                pass.set_vertex_buffer(1, draw.vertices[1].slice(..));
                pass.set_index_buffer(draw.indices.slice(..), wgpu::IndexFormat::Uint32);
                pass.draw_indexed(0..3, 0, 0..1);
            }
        }
        self.gpu.submit(begin, encoder)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(&self.target.0, 8)
    }
}

pub struct Bindless<'g> {
    gpu: &'g Gpu,
    target: (wgpu::Texture, wgpu::TextureView),
    pipeline: wgpu::RenderPipeline,
    table: wgpu::BindGroup,
    vertices: [wgpu::Buffer; 2],
    indices: wgpu::Buffer,
}

impl<'g> Bindless<'g> {
    pub fn new(gpu: &'g Gpu) -> Self {
        let format = TextureFormat::Rgba16Float;
        let target = gpu.texture(format, (1, 1), TextureUsages::RENDER_ATTACHMENT, None);
        let made = renderpass_views(gpu);
        let program = gpu.program(&array_shaders::bindless::SHADER, array_shaders::bindless::GROUPS, false);
        let views: Vec<_> = made.iter().collect();
        let table = gpu.group(&program.groups[0], &[BindingResource::TextureViewArray(&views)]);
        let vertices = [
            gpu.filled(BufferUsages::VERTEX, &data::renderpass_positions()),
            gpu.filled(BufferUsages::VERTEX, &data::renderpass_factors()),
        ];
        let indices = gpu.filled(BufferUsages::INDEX, &data::renderpass_indices());
        let raster = Raster { vertex: "vertex", fragment: "fragment", format, add: true, vertex_buffers: 2 };
        let pipeline = gpu.raster(&program, &raster);
        gpu.queue.submit([]);
        Self { gpu, target, pipeline, table, vertices, indices }
    }
}

impl Case for Bindless<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut encoder = self.gpu.encoder();
        {
            let mut pass = pass(&mut encoder, &self.target.1, true);
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.table, &[]);
            pass.set_vertex_buffer(0, self.vertices[0].slice(..));
            pass.set_vertex_buffer(1, self.vertices[1].slice(..));
            pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
            for draw in 0..DRAWS {
                pass.draw_indexed(0..3, 0, draw..draw + 1);
            }
        }
        self.gpu.submit(begin, encoder)
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(&self.target.0, 8)
    }
}
