//! What every resource is made of: descriptions are checked, imports are asked of the device.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::Aspects;
use purlin_rhi::types::{BufferUsages, TextureAspect, TextureUsages};
use purlin_rhi::{Contents, Device, full_mip_count};

use crate::context::{Context, NONE, Resource, Shape};
use crate::declare::{ResourceDecl, Source};
use crate::error::GraphError;
use crate::transient::TransientTexture;

pub(super) fn run<B: Backend>(context: &mut Context, device: &Device<B>) -> Result<(), GraphError> {
    context.resources.clear();
    let mut resources = std::mem::take(&mut context.resources);
    let result = fill(context, device, &mut resources);
    context.resources = resources;
    result?;
    for (index, export) in context.declared.exports.iter().enumerate() {
        if let Some(resource) = context.resources.get_mut(export.target.index() as usize)
            && resource.exported == NONE
        {
            resource.exported = index as u32;
        }
    }
    Ok(())
}

fn fill<B: Backend>(
    context: &Context,
    device: &Device<B>,
    resources: &mut Vec<Resource>,
) -> Result<(), GraphError> {
    let declared = &context.declared;
    for decl in declared.resources.iter() {
        let mut resource = Resource {
            shape: Shape::Buffer { size: 0 },
            imported: false,
            uploaded: false,
            texture_usage: TextureUsages::empty(),
            buffer_usage: BufferUsages::empty(),
            head: NONE,
            tail: NONE,
            exported: NONE,
            first: NONE,
            last: NONE,
            slot: NONE,
            heap: NONE,
            offset: 0,
            bytes: 0,
        };
        let import_error = |source| GraphError::Import {
            resource: declared.text(decl.name).into(),
            at: decl.at,
            source: Box::new(source),
        };
        match decl.source {
            Source::Texture(desc) => {
                check_texture(context, decl, &desc)?;
                resource.shape = texture_shape(&desc);
                resource.texture_usage = desc.usage;
            }
            Source::Buffer(desc) => {
                if desc.size == 0 {
                    return Err(description(context, decl, "size", "at least one byte", "0".into()));
                }
                resource.shape = Shape::Buffer { size: desc.size };
                resource.buffer_usage = desc.usage;
            }
            Source::ImportTexture(_) | Source::ImportBuffer(_) => {
                resource.imported = true;
                let found = import(device, &decl.source).map_err(import_error)?;
                (resource.shape, resource.uploaded) = found;
            }
        }
        resources.push(resource);
    }
    Ok(())
}

/// What an import is made of, and whether only uploads write it.
pub(crate) fn import<B: Backend>(device: &Device<B>, source: &Source) -> purlin_rhi::Result<(Shape, bool)> {
    match *source {
        Source::ImportTexture(texture) => {
            let found = device.describe_texture(texture)?;
            let shape = Shape::Texture {
                format: found.format,
                size: found.size,
                dimension: found.dimension,
                mips: found.mips,
                layers: found.layers(),
                aspects: Aspects::of(found.format, TextureAspect::All),
            };
            Ok((shape, found.contents == Contents::Uploaded))
        }
        Source::ImportBuffer(buffer) => {
            let found = device.describe_buffer(buffer)?;
            Ok((Shape::Buffer { size: found.size }, found.contents == Contents::Uploaded))
        }
        Source::Texture(ref desc) => Ok((texture_shape(desc), false)),
        Source::Buffer(ref desc) => Ok((Shape::Buffer { size: desc.size }, false)),
    }
}

fn texture_shape(desc: &TransientTexture) -> Shape {
    Shape::Texture {
        format: desc.format,
        size: desc.size,
        dimension: desc.dimension,
        mips: desc.mips,
        layers: desc.array_layers(),
        aspects: Aspects::of(desc.format, TextureAspect::All),
    }
}

fn check_texture(context: &Context, decl: &ResourceDecl, desc: &TransientTexture) -> Result<(), GraphError> {
    let size = desc.size;
    if size.width == 0 || size.height == 0 || size.depth_or_array_layers == 0 {
        let found = format!("{}x{}x{}", size.width, size.height, size.depth_or_array_layers);
        return Err(description(context, decl, "size", "at least 1 on every side", found));
    }
    let most = full_mip_count(size, desc.dimension);
    if desc.mips == 0 || desc.mips > most {
        let expected = format!("1 to {most}");
        return Err(description(context, decl, "mips", &expected, desc.mips.to_string()));
    }
    Ok(())
}

#[cold]
fn description(
    context: &Context,
    decl: &ResourceDecl,
    field: &'static str,
    expected: &str,
    found: String,
) -> GraphError {
    let resource = context.declared.text(decl.name).into();
    GraphError::Description { resource, field, expected: expected.into(), found: found.into(), at: decl.at }
}
