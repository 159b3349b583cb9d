//! `overlays`.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{ResourceUse, TextureUse};
use purlin_rhi::types::{ShaderStages, TextureFormat, TextureUsages};
use purlin_rhi::{BindGroupEntry, Owned, RenderPassDesc, kind};

use super::make::{COLOR, Gpu, Image, Raster, attachment};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{OVERLAYS_TARGET, SCENE_INSTANCES, SCENE_TEXTURE};

pub struct Overlays<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    count: u32,
    scene: Image,
    target: Image,
    /// Scene, overlay, composite.
    pipelines: [Owned<kind::RenderPipeline>; 3],
    /// The scene's texture, and the scene.
    groups: [Owned<kind::BindGroup>; 2],
    _texture: Image,
}

impl<'g, B: Backend> Overlays<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, count: u32) -> Outcome<Self> {
        let format = TextureFormat::Rgba8Unorm;
        let scene = gpu.target(format, OVERLAYS_TARGET, TextureUsages::TEXTURE_BINDING)?;
        let target = gpu.target(format, OVERLAYS_TARGET, TextureUsages::empty())?;
        let texture = gpu.texture((SCENE_TEXTURE, SCENE_TEXTURE), &data::scene_texels())?;
        let sampler = gpu.device.create_sampler(&purlin_rhi::SamplerDesc::nearest("nearest"))?;
        let program = gpu.program(&shaders::overlay::SHADER, shaders::overlay::GROUPS, false)?;
        let mut group = |view| {
            gpu.group(&program, 0, &[BindGroupEntry::texture(0, view), BindGroupEntry::sampler(1, *sampler)])
        };
        let groups = [group(*texture.view)?, group(*scene.view)?];
        let mut pipeline = |vertex, fragment, add| {
            gpu.raster(&program, &Raster { vertex, fragment, format, add, vertex_buffers: 0 })
        };
        let pipelines = [
            pipeline("scene_vertex", "scene_fragment", false)?,
            pipeline("overlay_vertex", "overlay_fragment", true)?,
            pipeline("composite_vertex", "composite_fragment", false)?,
        ];
        Ok(Self { gpu, count, scene, target, pipelines, groups, _texture: texture })
    }
}

impl<B: Backend> Case for Overlays<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let count = self.count;
        let cleared = attachment(*self.scene.view, true);
        let loaded = attachment(*self.scene.view, false);
        let target = attachment(*self.target.view, true);
        let sampled = [ResourceUse::Texture {
            texture: *self.scene.texture,
            range: COLOR,
            usage: TextureUse::Sampled(ShaderStages::FRAGMENT),
        }];
        let pipelines = [*self.pipelines[0], *self.pipelines[1], *self.pipelines[2]];
        let groups = [*self.groups[0], *self.groups[1]];
        self.gpu.frame(|recorder| {
            let scene = RenderPassDesc {
                label: "scene",
                colors: &cleared,
                depth_stencil: None,
                uses: &[],
                ..Default::default()
            };
            recorder.render_pass(&scene, |pass| {
                pass.set_pipeline(pipelines[0]);
                pass.set_bind_group(0, groups[0], &[]);
                pass.draw(0..6, 0..SCENE_INSTANCES);
            })?;
            let overlay = RenderPassDesc {
                label: "overlay",
                colors: &loaded,
                depth_stencil: None,
                uses: &[],
                ..Default::default()
            };
            for index in 0..count {
                recorder.render_pass(&overlay, |pass| {
                    pass.set_pipeline(pipelines[1]);
                    pass.draw(0..6, index..index + 1);
                })?;
            }
            let composite = RenderPassDesc {
                label: "composite",
                colors: &target,
                depth_stencil: None,
                uses: &sampled,
                ..Default::default()
            };
            recorder.render_pass(&composite, |pass| {
                pass.set_pipeline(pipelines[2]);
                pass.set_bind_group(0, groups[1], &[]);
                pass.draw(0..3, 0..1);
            })
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(*self.target.texture, OVERLAYS_TARGET)
    }
}
