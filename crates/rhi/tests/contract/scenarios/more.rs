//! Scenarios of samples, tables and windows.

use super::*;
use purlin_rhi::null::NullWindow;
use purlin_rhi::surface::{Acquired, SurfaceConfig, SurfaceTarget};

/// Samples drawn, resolved in the pass and after it, and the mips of a target cleared one by one.
pub fn multisampled(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let usage = TextureUsages::RENDER_ATTACHMENT;
    let desc = TextureDesc { samples: 4, ..TextureDesc::d2("samples", 4, 4, COLOR, usage) };
    let samples = kept.hold(gpu.create_texture(&desc)?);
    let samples = kept.hold(gpu.create_texture_view(samples, &TextureViewDesc::default())?);
    let (image, view) = kept.target(gpu, COLOR)?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let mips = kept.hold(gpu.create_texture(&TextureDesc::d2("mips", 4, 4, COLOR, usage).with_mips(2))?);
    let mut levels = Vec::new();
    for base_mip in 0..2 {
        let desc = TextureViewDesc { base_mip, mips: 1, ..Default::default() };
        levels.push(kept.hold(gpu.create_texture_view(mips, &desc)?));
    }
    for frame in 0..2 {
        let mut recorder = gpu.record("samples")?;
        let resolve = (frame == 0).then_some(view);
        let load = LoadOp::Clear(ClearValue::Float([1.0; 4]));
        let colors = [Some(ColorAttachment { view: samples, load, store: StoreOp::Store, resolve })];
        recorder.render_pass(&pass(&colors, &[]), |_| {})?;
        if frame == 1 {
            recorder.resolve_texture(samples, view)?;
        }
        for level in &levels {
            recorder.clear_color(*level, ClearValue::Float([0.5; 4]))?;
        }
        kept.submit(recorder)?;
    }
    let mut recorder = gpu.record("read")?;
    let whole = recorder.read_texture(&TexturePlace::mip(mips, 1), extent(2, 2, 1))?;
    let resolved = recorder.read_texture(&TexturePlace::mip(image, 0), extent(4, 4, 1))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, whole)?;
    kept.deliver(gpu, resolved)
}

/// A table of textures, replaced while the old one is in flight and its textures have no owners.
pub fn tables(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let entries = [BindGroupLayoutEntry {
        count: std::num::NonZeroU32::new(8),
        ..entry(0, ShaderStages::COMPUTE, sampled())
    }];
    let layout =
        kept.hold(gpu.create_bind_group_layout(&BindGroupLayoutDesc { label: "table", entries: &entries })?);
    for round in 0..3u8 {
        let mut views = Vec::new();
        for _ in 0..3 {
            let texture = gpu.create_texture(&TextureDesc::uploaded("image", 2, 2, 1, COLOR))?;
            let place = TexturePlace::mip(*texture, 0);
            kept.uploads.push(gpu.write_texture(&place, extent(2, 2, 1), &rows(8, 2), &[round; 16])?);
            views.push(gpu.create_texture_view(*texture, &TextureViewDesc::default())?);
        }
        let elements = [Some(*views[0]), None, Some(*views[1]), Some(*views[2])];
        let entries = [BindGroupEntry::texture_array(0, &elements)];
        let table = gpu.create_bind_group(&BindGroupDesc { label: "table", layout, entries: &entries })?;
        let mut recorder = gpu.record("table")?;
        let desc = ComputePassDesc { label: "table", ..Default::default() };
        recorder.compute_pass(&desc, |pass| pass.set_bind_group(0, *table, &[]))?;
        kept.submit(recorder)?;
        // All owners go here but the last round's table.
        if round == 2 {
            kept.hold(table);
        }
        gpu.maintain()?;
    }
    Ok(())
}

/// A window that is shown, resized, shown again and closed while its frames are in flight.
pub fn windows(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let window = NullWindow::new(64, 32);
    let surface = gpu.create_surface("window", &SurfaceTarget::custom(window.clone()))?;
    for (width, height) in [(64, 32), (32, 64)] {
        window.set_capabilities(|window| window.current_extent = Some((width, height)));
        surface.configure(gpu, &SurfaceConfig::new(width, height, TextureFormat::Bgra8UnormSrgb))?;
        for _ in 0..2 {
            let Acquired::Frame(frame) = surface.acquire(gpu, SECOND)? else { continue };
            let mut recorder = gpu.record("frame")?;
            let colors = [cleared(frame.view())];
            recorder.render_pass(&pass(&colors, &[]), |_| {})?;
            recorder.present(frame)?;
            kept.submit(recorder)?;
        }
    }
    // One that is acquired and never shown.
    if let Acquired::Frame(frame) = surface.acquire(gpu, SECOND)? {
        drop(frame);
    }
    drop(surface);
    gpu.maintain()
}

/// Batches over tracked and uploaded contents, executed while their owners go, discarded in flight and not, and recordings
/// that are refused.
pub fn batches(gpu: &mut Gpu, kept: &mut Kept) -> Result<()> {
    let (image, view) = kept.target(gpu, COLOR)?;
    let shape = kept.shape(gpu, uniform(16), ShaderStages::VERTEX)?;
    let pipeline = kept.raster(gpu, &BOUND, &[shape, shape], None)?;
    let data = kept.buffer(gpu, "data", 16, BufferUsages::UNIFORM)?;
    let group = kept.group(gpu, shape, BindGroupEntry::buffer(0, data))?;
    kept.write(gpu, data, 0, &[3; 16])?;
    let colors = [cleared(view)];
    for round in 0..3 {
        let batch = gpu.create_batch(&crate::batches::DESC)?;
        let mesh = gpu.create_buffer(&BufferDesc::uploaded("mesh", 64, BufferUsages::VERTEX))?;
        kept.write(gpu, *mesh, 0, &[1; 64])?;
        gpu.record_batch(*batch, |recorder| {
            recorder.set_pipeline(pipeline);
            recorder.set_bind_group(0, group, &[]);
            recorder.set_bind_group(1, group, &[]);
            recorder.set_vertex_buffer(0, slice(*mesh, 0, 64));
            recorder.draw(0..3, 0..1);
        })?;
        drop(mesh);
        gpu.finish_batch(*batch)?;
        for _ in 0..2 {
            let mut recorder = gpu.record("batch")?;
            let batches = [*batch];
            let desc = RenderPassDesc { batches: &batches, ..pass(&colors, &[]) };
            recorder.render_pass(&desc, |pass| pass.execute_batch(*batch))?;
            kept.submit(recorder)?;
        }
        gpu.batch_state(*batch)?;
        match round {
            0 => gpu.discard_batch(*batch)?,
            1 => {
                kept.hold(batch);
            }
            _ => {}
        }
    }
    let mut recorder = gpu.record("read")?;
    let texels = recorder.read_texture(&TexturePlace::mip(image, 0), extent(4, 4, 1))?;
    kept.submit(recorder)?;
    kept.deliver(gpu, texels)
}
