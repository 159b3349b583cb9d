//! Draws, dispatches and direct passes.

use purlin_rhi::null::Null;
use purlin_rhi::plan::{Aspects, ResourceUse, TextureRange, TextureUse};
use purlin_rhi::types::{BufferUsages, IndexFormat, ShaderStages, TextureFormat, TextureUsages};
use purlin_rhi::{
    BatchRecorder, BindGroupEntry, BufferSlice, CommandBatchDesc, ComputePassDesc, LoadOp, Recorder,
    RenderPass, RenderPassDesc, Result, TextureDesc,
};

use crate::world::{BLACK, COLOR, STORED, TEXTURE, World, attachment, storage, storage_use, uniform};
use crate::{Body, Outcome};

const STRIDE: u32 = 256;
const GRAPHICS: ShaderStages = ShaderStages::VERTEX_FRAGMENT;

/// Records, submits and retires.
fn frame(world: &mut World, record: impl FnOnce(&mut Recorder<'_, Null>) -> Result<()>) -> Outcome<()> {
    let mut recorder = world.device.record("frame")?;
    record(&mut recorder)?;
    recorder.submit()?;
    Ok(world.device.maintain()?)
}

/// A body that is one raster pass into a target.
fn raster_pass(
    mut world: World,
    mut record: impl FnMut(&mut RenderPass<'_, Null>) + 'static,
) -> Outcome<Body> {
    let target = world.target()?;
    world.settle()?;
    Ok(Box::new(move || {
        let colors = attachment(target.view(), BLACK);
        let desc = RenderPassDesc {
            label: "draws",
            colors: &colors,
            depth_stencil: None,
            uses: &[],
            ..Default::default()
        };
        frame(&mut world, |recorder| recorder.render_pass(&desc, &mut record))
    }))
}

/// Draws with nothing between them.
pub fn plain(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let pipeline = world.raster(&[], true, false, false)?;
    raster_pass(world, move |pass| {
        pass.set_pipeline(*pipeline);
        for draw in 0..count {
            pass.draw(0..3, draw..draw + 1);
        }
    })
}

/// Each draw has a dynamic offset of its own, and every tenth another group.
pub fn dynamic(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let layouts =
        [world.layout(GRAPHICS, &[uniform(true)])?, world.layout(GRAPHICS, &[uniform(false), TEXTURE])?];
    let pipeline = world.raster(&[*layouts[0], *layouts[1]], true, false, false)?;
    let data = world.uploaded(BufferUsages::UNIFORM, u64::from(count * STRIDE))?;
    let draw_group = world.group(*layouts[0], &[BindGroupEntry::buffer_range(0, *data, 0, 64)])?;
    let mut materials = Vec::new();
    for material in 0..count / 10 {
        let texel = world.texel()?;
        let tint = BindGroupEntry::buffer_range(0, *data, u64::from(material * STRIDE), 16);
        let group = world.group(*layouts[1], &[tint, BindGroupEntry::texture(1, *texel.view)])?;
        materials.push((group, texel));
    }
    raster_pass(world, move |pass| {
        let _ = &data;
        pass.set_pipeline(*pipeline);
        for draw in 0..count {
            if draw % 10 == 0 {
                pass.set_bind_group(1, *materials[(draw / 10) as usize].0, &[]);
            }
            pass.set_bind_group(0, *draw_group, &[draw * STRIDE]);
            pass.draw(0..3, 0..1);
        }
    })
}

/// What [`plain`] draws, from a batch.
pub fn batched_plain(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let pipeline = world.raster(&[], true, false, false)?;
    batched(world, move |recorder| {
        recorder.set_pipeline(*pipeline);
        for draw in 0..count {
            recorder.draw(0..3, draw..draw + 1);
        }
    })
}

/// A body that executes what was recorded once.
fn batched(mut world: World, record: impl FnOnce(&mut BatchRecorder<'_, Null>)) -> Outcome<Body> {
    let desc = CommandBatchDesc { label: "draws", colors: &[Some(COLOR)], ..Default::default() };
    let batch = world.device.create_batch(&desc)?;
    world.device.record_batch(*batch, record)?;
    world.device.finish_batch(*batch)?;
    raster_pass(world, move |pass| pass.execute_batch(*batch))
}

/// Each draw has its own group of seven textures, and its own two vertex buffers and index buffer.
pub fn own(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let layout = world.layout(ShaderStages::FRAGMENT, &[TEXTURE; 7])?;
    let pipeline = world.raster(&[*layout], true, false, true)?;
    let texels = (0..7).map(|_| world.texel()).collect::<Result<Vec<_>>>()?;
    let mut draws = Vec::new();
    for _ in 0..count {
        let entries: Vec<_> = (0..)
            .zip(&texels)
            .map(|(binding, texel)| BindGroupEntry::texture(binding, *texel.view))
            .collect();
        let group = world.group(*layout, &entries)?;
        let buffers = [
            world.uploaded(BufferUsages::VERTEX, 48)?,
            world.uploaded(BufferUsages::VERTEX, 48)?,
            world.uploaded(BufferUsages::INDEX, 12)?,
        ];
        draws.push((group, buffers));
    }
    raster_pass(world, move |pass| {
        let _ = &texels;
        pass.set_pipeline(*pipeline);
        for (group, [positions, factors, indices]) in &draws {
            pass.set_bind_group(0, **group, &[]);
            pass.set_vertex_buffer(0, BufferSlice { buffer: **positions, offset: 0, size: 48 });
            pass.set_vertex_buffer(1, BufferSlice { buffer: **factors, offset: 0, size: 48 });
            pass.set_index_buffer(
                BufferSlice { buffer: **indices, offset: 0, size: 12 },
                IndexFormat::Uint32,
            );
            pass.draw_indexed(0..3, 0, 0..1);
        }
    })
}

/// One pass; each dispatch has its own group of two sampled textures, and two storage textures and two storage buffers
/// that it writes.
pub fn dispatches(count: u32) -> Outcome<Body> {
    each_with_a_group(count, false)
}

/// The same, with groups declared instead of uses.
pub fn dispatches_by_group(count: u32) -> Outcome<Body> {
    each_with_a_group(count, true)
}

fn each_with_a_group(count: u32, declare_groups: bool) -> Outcome<Body> {
    const ALL: TextureRange =
        TextureRange { aspects: Aspects::COLOR, base_mip: 0, mips: 1, base_layer: 0, layers: 1 };
    let mut world = World::new()?;
    let types = [TEXTURE, TEXTURE, STORED, STORED, storage(false), storage(false)];
    let layout = world.layout(ShaderStages::COMPUTE, &types)?;
    let pipeline = world.compute(&[*layout])?;
    let stored = TextureDesc::d2("stored", 1, 1, TextureFormat::R32Float, TextureUsages::STORAGE_BINDING);
    let (mut kept, mut groups, mut uses) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let sampled = [world.texel()?, world.texel()?];
        let images = [world.image(&stored)?, world.image(&stored)?];
        let buffers = [world.tracked(16)?, world.tracked(16)?];
        let entries = [
            BindGroupEntry::texture(0, *sampled[0].view),
            BindGroupEntry::texture(1, *sampled[1].view),
            BindGroupEntry::texture(2, *images[0].view),
            BindGroupEntry::texture(3, *images[1].view),
            BindGroupEntry::buffer(4, *buffers[0]),
            BindGroupEntry::buffer(5, *buffers[1]),
        ];
        groups.push(world.group(*layout, &entries)?);
        for (image, buffer) in images.iter().zip(&buffers) {
            let usage = TextureUse::StorageWrite(ShaderStages::COMPUTE);
            uses.push(ResourceUse::Texture { texture: *image.texture, range: ALL, usage });
            uses.push(storage_use(**buffer, 16, true));
        }
        kept.push((sampled, images, buffers));
    }
    world.settle()?;
    let declared: Vec<_> = groups.iter().map(|group| **group).collect();
    Ok(Box::new(move || {
        let _ = &kept;
        let desc = if declare_groups {
            ComputePassDesc { label: "dispatches", uses: &[], groups: &declared, ..Default::default() }
        } else {
            ComputePassDesc { label: "dispatches", uses: &uses, groups: &[], ..Default::default() }
        };
        frame(&mut world, |recorder| {
            recorder.compute_pass(&desc, |pass| {
                pass.set_pipeline(*pipeline);
                for group in &groups {
                    pass.set_bind_group(0, **group, &[]);
                    pass.dispatch([1, 1, 1]);
                }
            })
        })
    }))
}

/// Passes of one dispatch that alternate two buffers.
pub fn chain(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let layout = world.layout(ShaderStages::COMPUTE, &[storage(true), storage(false)])?;
    let pipeline = world.compute(&[*layout])?;
    let buffers = [world.tracked(256)?, world.tracked(256)?];
    let mut steps = Vec::new();
    for (source, target) in [(0, 1), (1, 0)] {
        let (source, target) = (*buffers[source], *buffers[target]);
        let entries = [BindGroupEntry::buffer(0, source), BindGroupEntry::buffer(1, target)];
        let uses = [storage_use(source, 256, false), storage_use(target, 256, true)];
        steps.push((world.group(*layout, &entries)?, uses));
    }
    world.device.write_buffer(*buffers[0], 0, &[0; 256])?;
    world.settle()?;
    Ok(Box::new(move || {
        let _ = &buffers;
        frame(&mut world, |recorder| {
            for (_, (group, uses)) in (0..count).zip(steps.iter().cycle()) {
                recorder.compute_pass(
                    &ComputePassDesc { label: "step", uses, ..Default::default() },
                    |pass| {
                        pass.set_pipeline(*pipeline);
                        pass.set_bind_group(0, **group, &[]);
                        pass.dispatch([1, 1, 1]);
                    },
                )?;
            }
            Ok(())
        })
    }))
}

/// Passes of one draw that load and store one target.
pub fn overlays(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let pipeline = world.raster(&[], true, false, false)?;
    let target = world.target()?;
    Ok(Box::new(move || {
        let [cleared, loaded] = [BLACK, LoadOp::Load].map(|load| attachment(target.view(), load));
        frame(&mut world, |recorder| {
            for index in 0..count {
                let colors = if index == 0 { &cleared } else { &loaded };
                let desc = RenderPassDesc {
                    label: "overlay",
                    colors,
                    depth_stencil: None,
                    uses: &[],
                    ..Default::default()
                };
                recorder.render_pass(&desc, |pass| {
                    pass.set_pipeline(*pipeline);
                    pass.draw(0..6, index..index + 1);
                })?;
            }
            Ok(())
        })
    }))
}
