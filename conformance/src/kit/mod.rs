//! What fixtures share: programs, targets, results and comparisons. Nothing here computes an expected value.

mod canvas;
mod expect;
mod painter;
mod picture;
mod program;

use std::time::Duration;

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Aspects, BufferUse, ResourceUse, TextureRange, TextureUse};
use purlin_rhi::types::{BufferUsages, Extent3d, Origin3d, ShaderStages, TextureAspect, TextureFormat};
use purlin_rhi::{
    BindGroupEntry, Buffer, BufferDesc, BufferSlice, Device, Owned, ReadTicket, Recorder, SubmissionToken,
    TexelLayout, Texture, TexturePlace, kind, shader::ShaderSource,
};

use crate::Failure;
pub(crate) use canvas::{Canvas, clear, load, one_color};
pub(crate) use expect::{close, equal, refused, wrong};
pub(crate) use painter::{FULL, Paint, Painter};
pub(crate) use picture::{Image, keep_picture, keep_pictures_in};
pub(crate) use program::{Program, Raster};

/// What a helper answers.
pub(crate) type Checked<T = ()> = Result<T, Failure>;

/// Longer than any fixture takes on software, so that a hang is told from slowness.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits for a submission.
pub(crate) fn finish<B: Backend>(device: &mut Device<B>, token: SubmissionToken) -> Checked {
    if device.wait(token, TIMEOUT)? {
        Ok(())
    } else {
        Err(wrong("submission", "complete within a minute", "not complete"))
    }
}

/// Records and submits `body`, waits, and answers the bytes of its readback.
pub(crate) fn fetch<B: Backend>(
    device: &mut Device<B>,
    body: impl FnOnce(&mut Recorder<'_, B>) -> Checked<ReadTicket>,
) -> Checked<Vec<u8>> {
    let mut recorder = device.record("fixture")?;
    let ticket = body(&mut recorder)?;
    let token = recorder.submit()?;
    finish(device, token)?;
    Ok(device.read_vec(&ticket)?)
}

/// Records and submits `body`, and waits.
pub(crate) fn perform<B: Backend>(
    device: &mut Device<B>,
    body: impl FnOnce(&mut Recorder<'_, B>) -> Checked,
) -> Checked {
    let mut recorder = device.record("fixture")?;
    body(&mut recorder)?;
    let token = recorder.submit()?;
    finish(device, token)
}

/// All of a buffer of this many bytes.
pub(crate) const fn all_of(buffer: Buffer, size: u64) -> BufferSlice {
    BufferSlice { buffer, offset: 0, size }
}

/// A buffer that shaders write and copies read.
pub(crate) fn result_buffer<B: Backend>(device: &mut Device<B>, size: u64) -> Checked<Owned<kind::Buffer>> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    Ok(device.create_buffer(&BufferDesc::new("result", size, usage))?)
}

/// Reads a whole buffer.
pub(crate) fn read_buffer<B: Backend>(device: &mut Device<B>, buffer: Buffer, size: u64) -> Checked<Vec<u8>> {
    fetch(device, |recorder| Ok(recorder.read_buffer(all_of(buffer, size))?))
}

/// Reads one mip of a texture, one aspect, all layers or slices, rows without padding.
pub(crate) fn read_mip<B: Backend>(
    device: &mut Device<B>,
    texture: Texture,
    mip: u32,
    aspect: TextureAspect,
    size: [u32; 3],
) -> Checked<Vec<u8>> {
    let place = TexturePlace { aspect, ..TexturePlace::mip(texture, mip) };
    fetch(device, |recorder| Ok(recorder.read_texture(&place, extent(size))?))
}

/// Width, height, and layers or depth.
pub(crate) const fn extent([width, height, depth_or_array_layers]: [u32; 3]) -> Extent3d {
    Extent3d { width, height, depth_or_array_layers }
}

/// A texel.
pub(crate) const fn origin([x, y, z]: [u32; 3]) -> Origin3d {
    Origin3d { x, y, z }
}

/// Rows of `bytes_per_row` bytes, `rows` to an image, from the beginning.
pub(crate) const fn rows(bytes_per_row: u32, rows: u32) -> TexelLayout {
    TexelLayout { offset: 0, bytes_per_row, rows_per_image: rows }
}

/// The use of a buffer from its beginning.
pub(crate) const fn buffer_use(buffer: Buffer, size: u64, usage: BufferUse) -> ResourceUse {
    ResourceUse::Buffer { buffer, offset: 0, size, usage }
}

/// The use of mips and layers of a texture, all aspects of the format.
pub(crate) fn texture_use(
    texture: Texture,
    format: TextureFormat,
    mips: std::ops::Range<u32>,
    layers: std::ops::Range<u32>,
    usage: TextureUse,
) -> ResourceUse {
    let range = TextureRange {
        aspects: Aspects::of(format, TextureAspect::All),
        base_mip: mips.start,
        mips: mips.end - mips.start,
        base_layer: layers.start,
        layers: layers.end - layers.start,
    };
    ResourceUse::Texture { texture, range, usage }
}

/// The same use of one aspect only.
pub(crate) fn only(aspects: Aspects, usage: ResourceUse) -> ResourceUse {
    match usage {
        ResourceUse::Texture { texture, range, usage } => {
            ResourceUse::Texture { texture, range: TextureRange { aspects, ..range }, usage }
        }
        other => other,
    }
}

/// One run of a kernel whose result is the storage buffer at binding 0 of group 0.
pub(crate) struct Kernel<'a> {
    /// The module.
    pub source: &'static ShaderSource,
    /// The entry point.
    pub entry: &'a str,
    /// Bytes of the result.
    pub bytes: u64,
    /// Workgroups.
    pub groups: [u32; 3],
    /// What is bound besides the result.
    pub inputs: &'a [BindGroupEntry<'a>],
    /// Uses of what is tracked among the inputs.
    pub uses: &'a [ResourceUse],
}

impl Kernel<'_> {
    /// Runs it and answers the result's bytes.
    pub fn run<B: Backend>(&self, device: &mut Device<B>) -> Checked<Vec<u8>> {
        let program = Program::new(device, self.source, &[self.entry])?;
        let pipeline = program.compute(device, self.entry)?;
        let result = result_buffer(device, self.bytes)?;
        let mut entries = vec![BindGroupEntry::buffer(0, *result)];
        entries.extend_from_slice(self.inputs);
        let group = program.group(device, 0, &entries)?;
        let mut uses = vec![buffer_use(*result, self.bytes, BufferUse::StorageWrite(ShaderStages::COMPUTE))];
        uses.extend_from_slice(self.uses);
        fetch(device, |recorder| {
            recorder.compute_pass(
                &purlin_rhi::ComputePassDesc { label: self.entry, uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*pipeline);
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch(self.groups);
                },
            )?;
            Ok(recorder.read_buffer(all_of(*result, self.bytes))?)
        })
    }
}

/// Bytes as numbers, whatever their alignment.
pub(crate) fn numbers<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(bytes: &[u8]) -> Vec<T> {
    bytemuck::pod_collect_to_vec(bytes)
}
