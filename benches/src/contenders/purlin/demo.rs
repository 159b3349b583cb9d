//! `demo`: the frame of `cargo xtask demo`, as its own renderer draws it.

use std::time::Duration;

use purlin_cli::renderer::{PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::{Scene, SceneOptions};
use purlin_cli::size::Size;
use purlin_rhi::backend::Backend;
use purlin_rhi::{Features, TimestampQuery};

use super::make::Gpu;
use crate::case::{Case, Failure, FrameTimes, Outcome};

pub const REQUIRED: Features = REQUIRED_FEATURES;
pub const PREFERRED: Features = PREFERRED_FEATURES;

const SIZE: Size = Size { width: 1280, height: 720 };

pub struct Demo<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    renderer: Renderer<B>,
    timestamps: Option<TimestampQuery>,
}

impl<'g, B: Backend> Demo<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>) -> Outcome<Self> {
        let scene = Scene::procedural(&SceneOptions { aspect: SIZE.aspect(), ..Default::default() });
        let renderer = Renderer::new(&mut gpu.device, &scene, SIZE, &mut |_| {}).map_err(failed)?;
        let timestamps = gpu.device.capability::<TimestampQuery>();
        Ok(Self { gpu, renderer, timestamps })
    }

    fn finish(&mut self) -> Outcome<()> {
        self.renderer.finish(&mut self.gpu.device).map_err(failed)?;
        self.gpu.finish()
    }
}

impl<B: Backend> Case for Demo<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let frame = self.renderer.render(&mut self.gpu.device).map_err(failed)?;
        Ok(FrameTimes::phases(&frame.stats))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.finish()
    }

    fn gpu_time(&mut self) -> Outcome<Option<Duration>> {
        let Some(timestamps) = self.timestamps else { return Ok(None) };
        self.gpu.device.enable_timings(timestamps, true);
        let rendered = self.renderer.render(&mut self.gpu.device);
        self.gpu.device.enable_timings(timestamps, false);
        rendered.map_err(failed)?;
        self.finish()?;
        let passes = self.gpu.device.pass_times()?.unwrap_or_default();
        // A pass without a time would make the sum too small.
        let sum = passes.iter().map(|pass| pass.time.nanoseconds()).sum::<Option<f64>>();
        Ok(sum.filter(|sum| *sum > 0.0).map(|sum| Duration::from_nanos(sum as u64)))
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let (_, pixels) = self.renderer.capture(&mut self.gpu.device).map_err(failed)?;
        Ok(pixels)
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::failed("demo", error)
}
