//! Place: which physical texture or buffer each transient lies in.
//!
//! Transients are placed in the order of their first use. Where reuse is on, one takes the place of an equal one whose
//! last use is over; the device's planner sees one resource and orders the two by itself. Imports lie where they are.

use purlin_rhi::Device;
use purlin_rhi::backend::Backend;

use crate::context::{Context, GraphOptions, NONE, Physical, Resource, padded};
use crate::declare::Source;
use crate::error::GraphError;
use crate::pool::{BufferKey, Stay, TextureKey};

/// Fills `physical` and `slot` of resources.
pub(crate) fn run<B: Backend>(context: &mut Context, device: &mut Device<B>) -> Result<(), GraphError> {
    context.physical.clear();
    context.placed.clear();
    context.physical.resize(context.resources.len(), Physical::None);
    for (index, decl) in context.declared.resources.iter().enumerate() {
        match decl.source {
            Source::ImportTexture(texture) => context.physical[index] = Physical::Texture(texture),
            Source::ImportBuffer(buffer) => context.physical[index] = Physical::Buffer(buffer),
            Source::Texture(_) | Source::Buffer(_) => {}
        }
    }
    super::alias::run(context, device)?;
    for position in 0..context.order.len() {
        for index in context.uses_of(context.order[position]) {
            let resource = context.uses[index].resource;
            if context.physical[resource as usize] == Physical::None {
                place(context, device, resource)?;
            }
        }
    }
    context.stats.peak_bytes = peak(context);
    Ok(())
}

/// Renews all stays in the pool, where everything lies as in the last frame.
pub(crate) fn renew(context: &mut Context) {
    for &heap in &context.heaps {
        context.pool.heaps.renew(heap, context.frame);
    }
    for &index in &context.placed {
        let resource = &context.resources[index as usize];
        let stay = stay(context.frame, &context.options, resource);
        match context.physical[index as usize] {
            Physical::Texture(_) => context.pool.renew_texture(resource.slot, &stay),
            Physical::Buffer(_) => context.pool.renew_buffer(resource.slot, &stay),
            Physical::None => {}
        }
    }
}

fn stay(frame: u64, options: &GraphOptions, resource: &Resource) -> Stay {
    Stay {
        frame,
        first: resource.first,
        last: resource.last,
        reuse: options.transient_reuse,
        export: resource.exported,
    }
}

fn place<B: Backend>(context: &mut Context, device: &mut Device<B>, index: u32) -> Result<(), GraphError> {
    let resource = context.resources[index as usize];
    let decl = context.declared.resources[index as usize];
    let stay = stay(context.frame, &context.options, &resource);
    let label = context.declared.text(decl.name);
    let error =
        |source| GraphError::Transient { resource: label.into(), at: decl.at, source: Box::new(source) };
    let (slot, created, new_bytes) = match decl.source {
        Source::Texture(desc) => {
            let key = TextureKey { base: desc, usage: resource.texture_usage };
            let Some(found) = context.pool.texture(device, key, label, &stay).map_err(error)? else {
                return Ok(());
            };
            context.physical[index as usize] = Physical::Texture(found.handle);
            context.resources[index as usize].bytes = device.texture_bytes(found.handle).unwrap_or(0);
            (found.slot, found.created, found.new_bytes)
        }
        Source::Buffer(desc) => {
            let key = BufferKey { size: desc.size, usage: resource.buffer_usage };
            let Some(found) = context.pool.buffer(device, key, label, &stay).map_err(error)? else {
                return Ok(());
            };
            context.physical[index as usize] = Physical::Buffer(found.handle);
            context.resources[index as usize].bytes = padded(desc.size);
            (found.slot, found.created, found.new_bytes)
        }
        Source::ImportTexture(_) | Source::ImportBuffer(_) => return Ok(()),
    };
    context.resources[index as usize].slot = slot;
    context.placed.push(index);
    let stats = &mut context.stats;
    stats.transients += 1;
    stats.transient_bytes += context.resources[index as usize].bytes;
    stats.physical += u32::from(new_bytes > 0);
    stats.physical_bytes += new_bytes;
    stats.created += u32::from(created);
    Ok(())
}

/// The most bytes of transients alive at one live pass.
fn peak(context: &mut Context) -> u64 {
    let changes = &mut context.byte_changes;
    changes.clear();
    changes.resize(context.order.len() + 2, 0i64);
    for resource in &context.resources {
        if resource.slot == NONE || resource.first == NONE {
            continue;
        }
        let bytes = i64::try_from(resource.bytes).unwrap_or(i64::MAX);
        let ends = resource.last as usize + 1;
        if let Some(change) = changes.get_mut(resource.first as usize) {
            *change = change.saturating_add(bytes);
        }
        if let Some(change) = changes.get_mut(ends) {
            *change = change.saturating_sub(bytes);
        }
    }
    let mut alive = 0i64;
    let mut most = 0i64;
    for change in changes.iter() {
        alive = alive.saturating_add(*change);
        most = most.max(alive);
    }
    u64::try_from(most).unwrap_or(0)
}
