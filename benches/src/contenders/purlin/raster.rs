//! `draws10k` and `renderpass`.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, IndexFormat, TextureFormat, TextureUsages};
use purlin_rhi::{BindGroup, BindGroupEntry, BufferSlice, Owned, RenderPassDesc, kind};

use super::make::{Gpu, Image, Raster, attachment};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{DRAWS, DRAWS_PER_MATERIAL, DRAWS_TARGET, MATERIALS, STRIDE, TEXTURES_PER_DRAW};
use crate::{array_shaders, shaders};

pub struct Draws<'g, B: Backend> {
    pub gpu: &'g mut Gpu<B>,
    switching: bool,
    pub target: Image,
    pub pipeline: Owned<kind::RenderPipeline>,
    pub draw: Owned<kind::BindGroup>,
    pub materials: Vec<Owned<kind::BindGroup>>,
    _kept: Vec<Image>,
}

impl<'g, B: Backend> Draws<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, switching: bool) -> Outcome<Self> {
        let format = TextureFormat::Rgba8Unorm;
        let target = gpu.target(format, DRAWS_TARGET, TextureUsages::empty())?;
        let uniform = gpu.uploaded(BufferUsages::UNIFORM, &data::draw_uniforms())?;
        let tint = gpu.uploaded(BufferUsages::UNIFORM, &data::material_uniforms())?;
        let sampler = gpu.device.create_sampler(&purlin_rhi::SamplerDesc::nearest("nearest"))?;
        let program = gpu.program(&shaders::draws::SHADER, shaders::draws::GROUPS, true)?;
        let draw = gpu.group(&program, 0, &[BindGroupEntry::buffer_range(0, *uniform, 0, 64)])?;
        let mut materials = Vec::new();
        let mut kept = Vec::new();
        for material in 0..MATERIALS {
            let image = gpu.texture((1, 1), &data::material_texel(material))?;
            let entries = [
                BindGroupEntry::buffer_range(0, *tint, u64::from(material * STRIDE), 16),
                BindGroupEntry::texture(1, *image.view),
                BindGroupEntry::sampler(2, *sampler),
            ];
            materials.push(gpu.group(&program, 1, &entries)?);
            kept.push(image);
        }
        let raster = Raster { vertex: "vertex", fragment: "fragment", format, add: false, vertex_buffers: 0 };
        let pipeline = gpu.raster(&program, &raster)?;
        Ok(Self { gpu, switching, target, pipeline, draw, materials, _kept: kept })
    }
}

impl<B: Backend> Case for Draws<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let colors = attachment(*self.target.view, true);
        let desc = RenderPassDesc {
            label: "draws",
            colors: &colors,
            depth_stencil: None,
            uses: &[],
            ..Default::default()
        };
        let (draw_group, materials, pipeline) = (*self.draw, &self.materials, *self.pipeline);
        let switching = self.switching;
        self.gpu.frame(|recorder| {
            recorder.render_pass(&desc, |pass| {
                pass.set_pipeline(pipeline);
                if switching {
                    for draw in 0..DRAWS {
                        if draw % DRAWS_PER_MATERIAL == 0 {
                            let material = *materials[(draw / DRAWS_PER_MATERIAL % MATERIALS) as usize];
                            pass.set_bind_group(1, material, &[]);
                        }
                        pass.set_bind_group(0, draw_group, &[draw * STRIDE]);
                        pass.draw(0..3, 0..1);
                    }
                } else {
                    pass.set_bind_group(0, draw_group, &[0]);
                    pass.set_bind_group(1, *materials[0], &[]);
                    for draw in 0..DRAWS {
                        pass.draw(0..3, draw..draw + 1);
                    }
                }
            })
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(*self.target.texture, DRAWS_TARGET)
    }
}

/// What a draw of its own has.
#[derive(Clone, Copy)]
struct Draw {
    group: BindGroup,
    vertices: [BufferSlice; 2],
    indices: BufferSlice,
}

/// The owners of what the draws have.
struct Kept {
    _groups: Vec<Owned<kind::BindGroup>>,
    _buffers: Vec<Owned<kind::Buffer>>,
    _images: Vec<Image>,
}

/// The textures of `renderpass` in order, made in another.
fn renderpass_images<B: Backend>(gpu: &mut Gpu<B>) -> Outcome<Vec<Image>> {
    let mut images = Vec::new();
    for texture in data::shuffled(DRAWS * TEXTURES_PER_DRAW, 1) {
        images.push((texture, gpu.texture((1, 1), &data::renderpass_texel(texture))?));
    }
    images.sort_by_key(|(texture, _)| *texture);
    Ok(images.into_iter().map(|(_, image)| image).collect())
}

pub struct RenderPass<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    passes: u32,
    target: Image,
    pipeline: Owned<kind::RenderPipeline>,
    draws: Vec<Draw>,
    _kept: Kept,
}

impl<'g, B: Backend> RenderPass<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, passes: u32) -> Outcome<Self> {
        let format = TextureFormat::Rgba16Float;
        let target = gpu.target(format, (1, 1), TextureUsages::empty())?;
        let images = renderpass_images(gpu)?;
        let program = gpu.program(&shaders::renderpass::SHADER, shaders::renderpass::GROUPS, false)?;
        let (mut groups, mut buffers, mut draws) = (Vec::new(), Vec::new(), Vec::new());
        for views in images.chunks(TEXTURES_PER_DRAW as usize) {
            let entries: Vec<_> = (0u32..)
                .zip(views)
                .map(|(binding, image)| BindGroupEntry::texture(binding, *image.view))
                .collect();
            let group = gpu.group(&program, 0, &entries)?;
            let mut filled = |usage, bytes: Vec<u8>| -> Outcome<BufferSlice> {
                let buffer = gpu.uploaded(usage, &bytes)?;
                let slice = BufferSlice { buffer: *buffer, offset: 0, size: bytes.len() as u64 };
                buffers.push(buffer);
                Ok(slice)
            };
            draws.push(Draw {
                group: *group,
                vertices: [
                    filled(BufferUsages::VERTEX, data::renderpass_positions())?,
                    filled(BufferUsages::VERTEX, data::renderpass_factors())?,
                ],
                indices: filled(BufferUsages::INDEX, data::renderpass_indices())?,
            });
            groups.push(group);
        }
        let raster = Raster { vertex: "vertex", fragment: "fragment", format, add: true, vertex_buffers: 2 };
        let pipeline = gpu.raster(&program, &raster)?;
        gpu.device.flush_uploads()?;
        gpu.finish()?;
        let kept = Kept { _groups: groups, _buffers: buffers, _images: images };
        Ok(Self { gpu, passes, target, pipeline, draws, _kept: kept })
    }
}

impl<B: Backend> Case for RenderPass<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let (draws, pipeline, view) = (&self.draws, *self.pipeline, *self.target.view);
        let per_pass = draws.len() / self.passes as usize;
        self.gpu.frame(|recorder| {
            for (index, draws) in draws.chunks(per_pass).enumerate() {
                let colors = attachment(view, index == 0);
                let desc = RenderPassDesc {
                    label: "draws",
                    colors: &colors,
                    depth_stencil: None,
                    uses: &[],
                    ..Default::default()
                };
                recorder.render_pass(&desc, |pass| {
                    pass.set_pipeline(pipeline);
                    for draw in draws {
                        pass.set_bind_group(0, draw.group, &[]);
                        pass.set_vertex_buffer(0, draw.vertices[0]);
                        pass.set_vertex_buffer(1, draw.vertices[1]);
                        pass.set_index_buffer(draw.indices, IndexFormat::Uint32);
                        pass.draw_indexed(0..3, 0, 0..1);
                    }
                })?;
            }
            Ok(())
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(*self.target.texture, (1, 1))
    }
}

pub struct Bindless<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    target: Image,
    pipeline: Owned<kind::RenderPipeline>,
    table: Owned<kind::BindGroup>,
    vertices: [Owned<kind::Buffer>; 2],
    indices: Owned<kind::Buffer>,
    _images: Vec<Image>,
}

impl<'g, B: Backend> Bindless<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>) -> Outcome<Self> {
        let format = TextureFormat::Rgba16Float;
        let target = gpu.target(format, (1, 1), TextureUsages::empty())?;
        let images = renderpass_images(gpu)?;
        let program =
            gpu.program(&array_shaders::bindless::SHADER, array_shaders::bindless::GROUPS, false)?;
        let views: Vec<_> = images.iter().map(|image| Some(*image.view)).collect();
        let table = gpu.group(&program, 0, &[BindGroupEntry::texture_array(0, &views)])?;
        let vertices = [
            gpu.uploaded(BufferUsages::VERTEX, &data::renderpass_positions())?,
            gpu.uploaded(BufferUsages::VERTEX, &data::renderpass_factors())?,
        ];
        let indices = gpu.uploaded(BufferUsages::INDEX, &data::renderpass_indices())?;
        let raster = Raster { vertex: "vertex", fragment: "fragment", format, add: true, vertex_buffers: 2 };
        let pipeline = gpu.raster(&program, &raster)?;
        gpu.device.flush_uploads()?;
        gpu.finish()?;
        Ok(Self { gpu, target, pipeline, table, vertices, indices, _images: images })
    }
}

impl<B: Backend> Case for Bindless<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let (pipeline, table) = (*self.pipeline, *self.table);
        let slice = |buffer: &Owned<kind::Buffer>, size| BufferSlice { buffer: **buffer, offset: 0, size };
        let vertices = self.vertices.each_ref().map(|buffer| slice(buffer, 48));
        let indices = slice(&self.indices, 12);
        let colors = attachment(*self.target.view, true);
        let desc = RenderPassDesc { label: "draws", colors: &colors, ..Default::default() };
        self.gpu.frame(|recorder| {
            recorder.render_pass(&desc, |pass| {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, table, &[]);
                pass.set_vertex_buffer(0, vertices[0]);
                pass.set_vertex_buffer(1, vertices[1]);
                pass.set_index_buffer(indices, IndexFormat::Uint32);
                for draw in 0..DRAWS {
                    pass.draw_indexed(0..3, 0, draw..draw + 1);
                }
            })
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(*self.target.texture, (1, 1))
    }
}
