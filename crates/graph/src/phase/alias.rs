//! Alias: which textures lie over each other in heaps, and when their memory changes hands.
//!
//! Textures that live within the frame are packed by lifetime ([`crate::packing`]), one heap for each class of memory.
//! Imports lie where they are; what is exported outlives the frame; buffers stay in the pool, where their bytes are few
//! and indirect arguments safe. A texture's contents are undefined at its first use, as every transient's are, so nothing is
//! lost when another was there.
//!
//! The first use of a texture waits for everything that was done with its bytes: for the textures that had them before
//! in this frame, and for bytes that nobody had yet, for all that had them in an earlier frame, in whatever order. A
//! texture that had them between two others has waited for the former, so the latter need not.

use purlin_rhi::Device;
use purlin_rhi::backend::Backend;

use crate::context::{Context, Handover, NONE, Physical, Resource};
use crate::declare::Source;
use crate::error::GraphError;
use crate::heaps::Placed;
use crate::packing::Block;
use crate::pool::TextureKey;

/// Numbers of textures in heaps, where those of the pool are its entries.
const FIRST_SLOT: u32 = 1 << 24;

/// Fills `heaps` and `handovers`, and `physical` of what lies in heaps.
pub(crate) fn run<B: Backend>(context: &mut Context, device: &mut Device<B>) -> Result<(), GraphError> {
    context.heaps.clear();
    context.handovers.clear();
    if !context.options.alias {
        return Ok(());
    }
    let mut all = Vec::new();
    for index in 0..context.resources.len() as u32 {
        let resource = &context.resources[index as usize];
        let Source::Texture(base) = context.declared.resources[index as usize].source else { continue };
        if resource.first == NONE || resource.exported != NONE {
            continue;
        }
        let key = TextureKey { base, usage: resource.texture_usage };
        let needs = context.pool.heaps.needs(device, key).map_err(|source| GraphError::Transient {
            resource: context.declared.resource_name(index).into(),
            at: context.declared.resources[index as usize].at,
            source: Box::new(source),
        })?;
        if let Some(needs) = needs {
            all.push((needs, index, key));
        }
    }
    all.sort_by_key(|(needs, index, _)| (needs.class, *index));
    for of_class in all.chunk_by(|(a, ..), (b, ..)| a.class == b.class) {
        let lives = of_class.iter().map(|(needs, index, _)| {
            let Resource { first, last, .. } = context.resources[*index as usize];
            Block { bytes: needs.size, alignment: needs.alignment, first, last }
        });
        context.blocks.clear();
        context.blocks.extend(lives);
        context.packing.run(&context.blocks);
        let placed: Vec<_> = of_class
            .iter()
            .zip(&context.packing.offsets)
            .map(|(&(_, _, key), &offset)| Placed { key, offset })
            .collect();
        let alignment = context.blocks.iter().map(|block| block.alignment).max().unwrap_or(1);
        let memory = (of_class[0].0.class, context.packing.bytes, alignment);
        let label = |index: usize| context.declared.resource_name(of_class[index].1).to_string();
        // Without the heap each has its own place: the same frame in more memory.
        let Ok((heap, created)) = context.pool.heaps.heap(device, memory, &placed, label, context.frame)
        else {
            continue;
        };
        context.heaps.push(heap);
        let stats = &mut context.stats;
        stats.physical += 1;
        stats.physical_bytes += context.packing.bytes;
        stats.created += if created { placed.len() as u32 + 1 } else { 0 };
        for (number, (needs, index, _)) in of_class.iter().enumerate() {
            let Some(texture) = context.pool.heaps.texture(heap, number) else { continue };
            let resource = &mut context.resources[*index as usize];
            (resource.heap, resource.offset) = (heap, context.packing.offsets[number]);
            (resource.slot, resource.bytes) = (FIRST_SLOT + *index, needs.size);
            context.physical[*index as usize] = Physical::Texture(texture);
            stats.transients += 1;
            stats.transient_bytes += needs.size;
        }
        let members: Vec<_> = of_class.iter().map(|(_, index, _)| *index).collect();
        for &to in &members {
            hand_over(&context.resources, &members, to, &mut context.handovers);
        }
    }
    context.handovers.sort_unstable();
    Ok(())
}

/// Everything of the heap that a texture's first use waits for.
fn hand_over(resources: &[Resource], members: &[u32], to: u32, handovers: &mut Vec<Handover>) {
    let bytes = |index: u32| {
        let resource = &resources[index as usize];
        (resource.offset, resource.offset + resource.bytes)
    };
    let heir = &resources[to as usize];
    let meets = |(start, end): (u64, u64), (from, until): (u64, u64)| start < until && from < end;
    let mut before: Vec<u32> = members
        .iter()
        .copied()
        .filter(|from| resources[*from as usize].last < heir.first && meets(bytes(*from), bytes(to)))
        .collect();
    before.sort_by_key(|from| std::cmp::Reverse(resources[*from as usize].last));
    // Bytes of which no former owner is known yet.
    let mut open = vec![bytes(to)];
    let position = heir.first;
    for from in before {
        let range = bytes(from);
        if !open.iter().any(|part| meets(*part, range)) {
            continue;
        }
        handovers.push(Handover { position, to, from });
        open = open
            .into_iter()
            .flat_map(|(start, end)| [(start, end.min(range.0)), (start.max(range.1), end)])
            .filter(|(start, end)| start < end)
            .collect();
    }
    for &from in members {
        let range = bytes(from);
        if resources[from as usize].first > heir.last && open.iter().any(|part| meets(*part, range)) {
            handovers.push(Handover { position, to, from });
        }
    }
}
