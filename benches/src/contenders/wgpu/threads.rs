//! `threads`: each thread records a command encoder with a pass of its own, which loads what those before left, and
//! finishes it.

use std::time::Instant;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::make::{Gpu, pass};
use super::raster::Draws;
use crate::case::{Case, FrameTimes, Outcome};
use crate::workloads::{DRAWS_PER_MATERIAL, MATERIALS, THREADS_CELLS, thread_part};

pub struct Threads<'g> {
    scene: Draws<'g>,
    threads: u32,
    draws: u32,
}

impl<'g> Threads<'g> {
    pub fn new(gpu: &'g Gpu, threads: u32, draws: u32) -> Self {
        Self { scene: Draws::new(gpu, true), threads, draws }
    }

    fn record(&self, thread: u32) -> wgpu::CommandBuffer {
        let scene = &self.scene;
        let mut encoder = scene.gpu.encoder();
        {
            let part = thread_part(thread, self.threads, self.draws);
            let mut pass = pass(&mut encoder, &scene.target.1, thread == 0);
            pass.set_pipeline(&scene.pipeline);
            pass.set_bind_group(0, &scene.draw, &[0]);
            for draw in part.clone() {
                if draw % DRAWS_PER_MATERIAL == 0 || draw == part.start {
                    let material = &scene.materials[(draw / DRAWS_PER_MATERIAL % MATERIALS) as usize];
                    pass.set_bind_group(1, material, &[]);
                }
                let instance = draw % THREADS_CELLS;
                pass.draw(0..3, instance..instance + 1);
            }
        }
        encoder.finish()
    }
}

impl Case for Threads<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let recorded: Vec<_> = if self.threads == 1 {
            vec![self.record(0)]
        } else {
            (0..self.threads).into_par_iter().with_max_len(1).map(|thread| self.record(thread)).collect()
        };
        let end = Instant::now();
        self.scene.gpu.queue.submit(recorded);
        Ok(FrameTimes::recorded(begin, end, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.scene.maintain()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.scene.result()
    }
}
