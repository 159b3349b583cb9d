//! Materialize: the views and bind groups of what was placed, found in the arena's cache or made.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{Part, TextureRange};
use purlin_rhi::types::{TextureAspect, TextureViewDimension};
use purlin_rhi::{Device, TextureView};

use crate::cache::{BoundGroup, BoundKey, ViewKey};
use crate::context::{Context, Physical, ResolvedBinding, ResolvedBound};
use crate::error::GraphError;

/// Fills `views`, parallel to attachments, and `groups`, parallel to group declarations.
pub(crate) fn run<B: Backend>(context: &mut Context, device: &mut Device<B>) -> Result<(), GraphError> {
    context.views.clear();
    context.views.resize(context.attachments.len(), None);
    context.groups.clear();
    context.groups.resize(context.declared.groups.len(), BoundGroup::NONE);
    for position in 0..context.order.len() {
        let pass = context.order[position];
        pass_objects(context, device, pass).map_err(|source| GraphError::Pass {
            pass: context.declared.pass_name(pass).into(),
            at: context.declared.passes[pass as usize].at,
            source: Box::new(source),
        })?;
    }
    Ok(())
}

fn pass_objects<B: Backend>(
    context: &mut Context,
    device: &mut Device<B>,
    pass: u32,
) -> purlin_rhi::Result<()> {
    let (attachments, groups) = {
        let decl = &context.declared.passes[pass as usize];
        (decl.attachments.clone(), decl.groups.clone())
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
    for binding in decl.bindings.0..decl.bindings.1 {
        let ResolvedBinding { binding, dynamic, what } = context.bindings[binding as usize];
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
            ResolvedBound::Uploaded(slice) => {
                let (offset, size) = place(slice.offset, slice.size);
                BoundKey::Buffer { buffer: slice.buffer, offset, size }
            }
            ResolvedBound::Sampler(sampler) => BoundKey::Sampler(sampler),
            ResolvedBound::View(view) => BoundKey::Texture(view),
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
