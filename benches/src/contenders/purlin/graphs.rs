//! `compute_chain` and `overlays` as graphs: declared anew each frame, compiled, recorded and submitted.

use std::time::Instant;

use purlin_graph::{Graph, GraphArena, bind};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat, TextureUsages};
use purlin_rhi::{ClearValue, LoadOp, Owned, kind};

use super::make::{Gpu, Image, Program, Raster};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{CHAIN, CHAIN_VALUES, OVERLAYS_TARGET, SCENE_INSTANCES, SCENE_TEXTURE};

const BLACK: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([0.0; 4]));

pub struct Chain<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    arena: GraphArena<B>,
    program: Program,
    pipeline: Owned<kind::ComputePipeline>,
    buffers: [Owned<kind::Buffer>; 2],
}

impl<'g, B: Backend> Chain<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>) -> Outcome<Self> {
        let mut values = |buffer| gpu.tracked(BufferUsages::STORAGE, &data::chain_values(buffer));
        let buffers = [values(0)?, values(1)?];
        let program = gpu.program(&shaders::chain::SHADER, shaders::chain::GROUPS, false)?;
        let pipeline = gpu.compute(&program, "step")?;
        Ok(Self { gpu, arena: GraphArena::new(), program, pipeline, buffers })
    }
}

impl<B: Backend> Case for Chain<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let (layout, pipeline) = (*self.program.groups[0], *self.pipeline);
        let begin = Instant::now();
        let mut graph = Graph::new("frame", &mut self.arena);
        let mut source = graph.import_buffer("values 0", *self.buffers[0]);
        let mut target = graph.import_buffer("values 1", *self.buffers[1]);
        for _ in 0..CHAIN {
            graph
                .compute("step")
                .bind(0, layout, [bind::buffer(&source), bind::storage(&mut target)])
                .dispatch(pipeline, [1, 1, 1]);
            std::mem::swap(&mut source, &mut target);
        }
        let submitted = graph.submit(&mut self.gpu.device)?;
        Ok(FrameTimes::graph(begin, Instant::now(), &submitted.stats))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_buffers(&[*self.buffers[0]], CHAIN_VALUES * 4)
    }
}

pub struct Overlays<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    arena: GraphArena<B>,
    count: u32,
    scene: Image,
    target: Image,
    texture: Image,
    sampler: Owned<kind::Sampler>,
    program: Program,
    /// Scene, overlay, composite.
    pipelines: [Owned<kind::RenderPipeline>; 3],
}

impl<'g, B: Backend> Overlays<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, count: u32, merge: bool) -> Outcome<Self> {
        let format = TextureFormat::Rgba8Unorm;
        let scene = gpu.target(format, OVERLAYS_TARGET, TextureUsages::TEXTURE_BINDING)?;
        let target = gpu.target(format, OVERLAYS_TARGET, TextureUsages::empty())?;
        let texture = gpu.texture((SCENE_TEXTURE, SCENE_TEXTURE), &data::scene_texels())?;
        let sampler = gpu.device.create_sampler(&purlin_rhi::SamplerDesc::nearest("nearest"))?;
        let program = gpu.program(&shaders::overlay::SHADER, shaders::overlay::GROUPS, false)?;
        let mut pipeline = |vertex, fragment, add| {
            gpu.raster(&program, &Raster { vertex, fragment, format, add, vertex_buffers: 0 })
        };
        let pipelines = [
            pipeline("scene_vertex", "scene_fragment", false)?,
            pipeline("overlay_vertex", "overlay_fragment", true)?,
            pipeline("composite_vertex", "composite_fragment", false)?,
        ];
        let mut arena = GraphArena::new();
        arena.options().merge = merge;
        Ok(Self { gpu, arena, count, scene, target, texture, sampler, program, pipelines })
    }
}

impl<B: Backend> Case for Overlays<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let layout = *self.program.groups[0];
        let pipelines = [*self.pipelines[0], *self.pipelines[1], *self.pipelines[2]];
        let sampler = || bind::sampler(*self.sampler);
        let begin = Instant::now();
        let mut graph = Graph::new("frame", &mut self.arena);
        let mut scene = graph.import_texture("scene", *self.scene.texture);
        let mut target = graph.import_texture("target", *self.target.texture);
        graph
            .render("scene")
            .color(0, &mut scene, BLACK)
            .bind(0, layout, [bind::view(*self.texture.view), sampler()])
            .draw(pipelines[0], 0..6, 0..SCENE_INSTANCES);
        for index in 0..self.count {
            graph.render("overlay").color(0, &mut scene, LoadOp::Load).draw(
                pipelines[1],
                0..6,
                index..index + 1,
            );
        }
        graph
            .render("composite")
            .color(0, &mut target, BLACK)
            .bind(0, layout, [bind::texture(&scene), sampler()])
            .draw(pipelines[2], 0..3, 0..1);
        let submitted = graph.submit(&mut self.gpu.device)?;
        Ok(FrameTimes::graph(begin, Instant::now(), &submitted.stats))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.gpu.read_texture(*self.target.texture, OVERLAYS_TARGET)
    }
}
