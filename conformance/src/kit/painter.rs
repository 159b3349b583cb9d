//! Rectangles of one color and depth, each by one draw.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::BufferUsages;
use purlin_rhi::{BatchRecorder, BindGroupEntry, Device, Owned, RenderPass, RenderPipeline, kind};

use super::{Checked, Program, Raster};
pub(crate) use crate::shaders::paint::Paint;
use crate::shaders::paint::{SHADER, entries};

/// A rectangle over all of clip space: left, bottom, right, top.
pub(crate) const FULL: [f32; 4] = [-1.0, -1.0, 1.0, 1.0];

/// Bytes from one rectangle to the next: the most that a uniform offset alignment may be.
const STRIDE: usize = 256;

/// Rectangles in a uniform buffer, selected by dynamic offset.
pub(crate) struct Painter {
    /// The program, for pipelines.
    pub program: Program,
    group: Owned<kind::BindGroup>,
}

impl Painter {
    /// Uploads the rectangles.
    pub fn new<B: Backend>(device: &mut Device<B>, paints: &[Paint]) -> Checked<Self> {
        let names = [entries::RECTANGLE, entries::COLOR, entries::COLOR_UINT, entries::COLOR_SINT];
        let program = Program::with_dynamic(device, &SHADER, &names, &[(0, 0)])?;
        let mut bytes = vec![0; paints.len() * STRIDE];
        for (paint, slot) in paints.iter().zip(bytes.chunks_exact_mut(STRIDE)) {
            slot[..size_of::<Paint>()].copy_from_slice(bytemuck::bytes_of(paint));
        }
        let buffer = device.create_buffer_with("paints", BufferUsages::UNIFORM, &bytes)?;
        let entry = BindGroupEntry::buffer_range(0, *buffer, 0, size_of::<Paint>() as u64);
        let group = program.group(device, 0, &[entry])?;
        Ok(Self { program, group })
    }

    /// A pipeline that writes the color.
    pub fn pipeline<B: Backend>(
        &self,
        device: &mut Device<B>,
        raster: &Raster<'_>,
    ) -> Checked<Owned<kind::RenderPipeline>> {
        self.program.raster(device, entries::RECTANGLE, Some(entries::COLOR), raster)
    }

    /// A pipeline that writes depth and stencil only.
    pub fn colorless<B: Backend>(
        &self,
        device: &mut Device<B>,
        raster: &Raster<'_>,
    ) -> Checked<Owned<kind::RenderPipeline>> {
        self.program.raster(device, entries::RECTANGLE, None, raster)
    }

    /// Draws one rectangle.
    pub fn paint<B: Backend>(&self, pass: &mut RenderPass<'_, B>, pipeline: RenderPipeline, index: usize) {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, *self.group, &[(index * STRIDE) as u32]);
        pass.draw(0..6, 0..1);
    }

    /// The same into a batch, by the pipeline that is set.
    pub fn record<B: Backend>(&self, recorder: &mut BatchRecorder<'_, B>, index: usize) {
        recorder.set_bind_group(0, *self.group, &[(index * STRIDE) as u32]);
        recorder.draw(0..6, 0..1);
    }
}
