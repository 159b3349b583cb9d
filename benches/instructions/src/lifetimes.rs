//! Creating and dropping.

use purlin_rhi::types::{BufferUsages, ShaderStages, TextureUsages};
use purlin_rhi::{BindGroupDesc, BindGroupEntry, BufferDesc, Result, TextureDesc};

use crate::world::{COLOR, TEXTURE, World, uniform};
use crate::{Body, Outcome};

/// A round that makes things, drops them all, and retires.
fn round<T: 'static>(
    mut world: World,
    count: u32,
    mut create: impl FnMut(&mut World, u32) -> Result<T> + 'static,
) -> Outcome<Body> {
    world.settle()?;
    let mut made = Vec::with_capacity(count as usize);
    Ok(Box::new(move || {
        for index in 0..count {
            made.push(create(&mut world, index)?);
        }
        made.clear();
        Ok(world.device.maintain()?)
    }))
}

/// Each of one slice of a uniform buffer.
pub fn uniform_groups(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let layout = world.layout(ShaderStages::COMPUTE, &[uniform(false)])?;
    let data = world.uploaded(BufferUsages::UNIFORM, u64::from(count) * 256)?;
    round(world, count, move |world, index| {
        let entries = [BindGroupEntry::buffer_range(0, *data, u64::from(index) * 256, 16)];
        world.group(*layout, &entries)
    })
}

/// Each of the same seven textures.
pub fn texture_groups(count: u32) -> Outcome<Body> {
    let mut world = World::new()?;
    let layout = world.layout(ShaderStages::FRAGMENT, &[TEXTURE; 7])?;
    let texels = (0..7).map(|_| world.texel()).collect::<Result<Vec<_>>>()?;
    let entries: Vec<_> =
        (0..).zip(&texels).map(|(binding, texel)| BindGroupEntry::texture(binding, *texel.view)).collect();
    round(world, count, move |world, _| {
        let _ = &texels;
        let desc = BindGroupDesc { label: "group", layout: *layout, entries: &entries };
        world.device.create_bind_group(&desc)
    })
}

/// Of 256 bytes.
pub fn buffers(count: u32) -> Outcome<Body> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    round(World::new()?, count, move |world, _| {
        world.device.create_buffer(&BufferDesc::new("buffer", 256, usage))
    })
}

/// Of four by four texels.
pub fn textures(count: u32) -> Outcome<Body> {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    round(World::new()?, count, move |world, _| world.image(&TextureDesc::d2("texture", 4, 4, COLOR, usage)))
}
