//! Materialize: the views and bind groups of what was placed, found in the arena's cache or made. A frame that takes over
//! the last one's does so only for what has changed.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Part, TextureRange};
use purlin_rhi::types::{TextureAspect, TextureViewDimension};
use purlin_rhi::{Device, TextureView};

use crate::cache::{BoundGroup, BoundKey, ViewKey};
use crate::context::{Context, Physical, ResolvedBinding, ResolvedBound};
use crate::declare::{Bound, Change};
use crate::error::GraphError;

/// Fills `views`, parallel to attachments, and `groups`, parallel to group declarations.
pub(crate) fn run<B: Backend>(context: &mut Context, device: &mut Device<B>) -> Result<(), GraphError> {
    context.views.clear();
    context.views.resize(context.attachments.len(), None);
    context.groups.clear();
    context.groups.resize(context.declared.groups.len(), BoundGroup::NONE);
    for position in 0..context.order.len() {
        let pass = context.order[position];
        self::pass(context, device, pass)?;
    }
    context.cache.looked_up_all(context.frame);
    Ok(())
}

/// The views and groups of a live pass.
pub(crate) fn pass<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    pass: u32,
) -> Result<(), GraphError> {
    pass_objects(context, device, pass).map_err(|source| pass_error(context, pass, source))
}

/// The groups that bind something else than in the last frame.
pub(crate) fn rebound<B: Backend>(context: &mut Context, device: &mut Device<B>) -> Result<(), GraphError> {
    for entry in 0..context.declared.rebound.len() {
        let (index, change) = context.declared.rebound[entry];
        let pass = context.declared.passes.partition_point(|pass| pass.groups().end <= index) as u32;
        if pass >= context.passes() || !context.is_live(pass) {
            continue;
        }
        if change == Change::Offset
            && let Some(bound) = moved(context, index)
        {
            context.groups[index as usize] = bound;
            continue;
        }
        let found = group(context, device, pass, index);
        context.groups[index as usize] = found.map_err(|source| pass_error(context, pass, source))?;
    }
    Ok(())
}

/// The group at other offsets, if all that can have moved is dynamic.
fn moved(context: &Context, index: u32) -> Option<BoundGroup> {
    let (first, end) = context.declared.groups[index as usize].bindings;
    let mut bound = BoundGroup { group: context.groups[index as usize].group, ..BoundGroup::NONE };
    for binding in first as usize..end as usize {
        let ResolvedBinding { dynamic, what, .. } = context.bindings[binding];
        let offset = match (what, context.declared.bindings[binding].bound) {
            (ResolvedBound::Buffer { offset, .. }, _) if dynamic => offset,
            (ResolvedBound::Outside, Bound::Uploaded(slice)) if dynamic => slice.offset,
            (ResolvedBound::Outside, Bound::Uploaded(_)) => return None,
            _ => continue,
        };
        if !bound.push_offset(u32::try_from(offset).ok()?) {
            return None;
        }
    }
    Some(bound)
}

#[cold]
fn pass_error(context: &Context, pass: u32, source: purlin_rhi::Error) -> GraphError {
    GraphError::Pass {
        pass: context.declared.pass_name(pass).into(),
        at: context.declared.passes[pass as usize].at,
        source: Box::new(source),
    }
}

fn pass_objects<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    pass: u32,
) -> purlin_rhi::Result<()> {
    let (attachments, groups) = {
        let decl = &context.declared.passes[pass as usize];
        (decl.attachments(), decl.groups())
    };
    for index in attachments {
        let attachment = context.attachments[index as usize];
        let flat = if attachment.range.layers == 1 {
            TextureViewDimension::D2
        } else {
            TextureViewDimension::D2Array
        };
        let view = view(context, device, attachment.resource, attachment.range, TextureAspect::All, flat)?;
        context.views[index as usize] = view;
    }
    for index in groups {
        context.groups[index as usize] = group(context, device, pass, index)?;
    }
    Ok(())
}

fn view<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    resource: u32,
    range: TextureRange,
    aspect: TextureAspect,
    dimension: TextureViewDimension,
) -> purlin_rhi::Result<Option<TextureView>> {
    let Physical::Texture(texture) = context.physical[resource as usize] else { return Ok(None) };
    let key = ViewKey { texture, range, aspect, dimension };
    let label = context.declared.resource_name(resource);
    let (view, created) = context.cache.view(device, key, label, context.frame)?;
    context.stats.created += u32::from(created);
    Ok(Some(view))
}

fn group<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    pass: u32,
    index: u32,
) -> purlin_rhi::Result<BoundGroup> {
    let decl = context.declared.groups[index as usize];
    let mut bound = BoundGroup::NONE;
    context.cache.want(decl.layout);
    for index in decl.bindings.0..decl.bindings.1 {
        let ResolvedBinding { binding, dynamic, what } = context.bindings[index as usize];
        // A dynamic binding starts at zero and moves by its offset, so that one group serves every range of a size.
        let mut place = |offset: u64, size: u64| match u32::try_from(offset) {
            Ok(small) if dynamic && bound.push_offset(small) => (0, size),
            _ => (offset, size),
        };
        let key = match what {
            ResolvedBound::Texture { resource, range, aspect, dimension } => {
                match view(context, device, resource, range, aspect, dimension)? {
                    Some(view) => BoundKey::Texture(view),
                    None => continue,
                }
            }
            ResolvedBound::Buffer { resource, offset, size } => {
                let Physical::Buffer(buffer) = context.physical[resource as usize] else { continue };
                let (offset, size) = place(offset, size);
                BoundKey::Buffer { buffer, offset, size }
            }
            ResolvedBound::Outside => match context.declared.bindings[index as usize].bound {
                Bound::Uploaded(slice) => {
                    let (offset, size) = place(slice.offset, slice.size);
                    BoundKey::Buffer { buffer: slice.buffer, offset, size }
                }
                Bound::Sampler(sampler) => BoundKey::Sampler(sampler),
                Bound::View(view) => BoundKey::Texture(view),
                _ => continue,
            },
        };
        context.cache.want_binding(binding, key);
    }
    let label = context.declared.pass_name(pass);
    let (group, created) = context.cache.group(device, decl.layout, label, context.frame)?;
    context.stats.created += u32::from(created);
    bound.group = Some(group);
    Ok(bound)
}

/// A part as the range of a texture.
pub(crate) fn range_of(part: &Part) -> Option<TextureRange> {
    match part {
        Part::Subresources(range) => Some(*range),
        Part::Bytes { .. } => None,
    }
}
