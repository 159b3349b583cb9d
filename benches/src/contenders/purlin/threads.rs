//! `threads`: one pass in as many sections as there are threads.

use purlin_rhi::RenderPassDesc;
use purlin_rhi::backend::Backend;

use super::make::{Gpu, attachment};
use super::raster::Draws;
use crate::case::{Case, FrameTimes, Outcome};
use crate::workloads::{DRAWS_PER_MATERIAL, MATERIALS, THREADS_CELLS, thread_part};

pub struct Threads<'g, B: Backend> {
    scene: Draws<'g, B>,
    threads: u32,
    draws: u32,
}

impl<'g, B: Backend> Threads<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, threads: u32, draws: u32) -> Outcome<Self> {
        Ok(Self { scene: Draws::new(gpu, true)?, threads, draws })
    }
}

impl<B: Backend> Case for Threads<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let Self { scene, threads, draws } = self;
        let (threads, draws) = (*threads, *draws);
        let colors = attachment(*scene.target.view, true);
        let desc = RenderPassDesc {
            label: "draws",
            colors: &colors,
            depth_stencil: None,
            uses: &[],
            ..Default::default()
        };
        let (draw_group, materials, pipeline) = (*scene.draw, &scene.materials, *scene.pipeline);
        scene.gpu.frame(|recorder| {
            recorder.render_pass_parallel(&desc, threads, |section, pass| {
                let part = thread_part(section, threads, draws);
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, draw_group, &[0]);
                for draw in part.clone() {
                    if draw % DRAWS_PER_MATERIAL == 0 || draw == part.start {
                        let material = *materials[(draw / DRAWS_PER_MATERIAL % MATERIALS) as usize];
                        pass.set_bind_group(1, material, &[]);
                    }
                    let instance = draw % THREADS_CELLS;
                    pass.draw(0..3, instance..instance + 1);
                }
            })
        })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.scene.maintain()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.scene.result()
    }
}
