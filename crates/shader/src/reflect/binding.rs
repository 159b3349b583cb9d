//! Resources: which globals an entry point uses, and as what.

use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, ArraySize, GlobalVariable, Handle, ImageClass, ImageDimension, Module, ScalarKind,
    StorageAccess as Access, StorageFormat, TypeInner,
};

use super::{Binding, BindingKind, SampleKind, SamplerKind, StorageAccess, ViewKind};
use crate::error::{Diagnostic, Error};
use crate::source::SourceMap;

/// Devices have 4 to 8 groups, in rare cases 32. A bound keeps a typing error from becoming a giant table.
const MAX_GROUPS: u32 = 32;

pub(super) fn bindings(
    source: &SourceMap,
    module: &Module,
    uses: &FunctionInfo,
) -> Result<Vec<Binding>, Error> {
    let mut found = Vec::new();
    for (handle, variable) in module.global_variables.iter() {
        let Some(place) = &variable.binding else { continue };
        if uses[handle].is_empty() {
            continue;
        }
        let (kind, count) = kind(module, uses, handle, variable).map_err(|what| {
            let at =
                module.global_variables.get_span(handle).to_range().and_then(|range| source.locate(range));
            let name = variable.name.as_deref().unwrap_or("a resource");
            Error::Unsupported(Box::new(Diagnostic::new(format!("`{name}`: {what}"), at)))
        })?;
        found.push(Binding {
            group: place.group,
            binding: place.binding,
            name: variable.name.clone().unwrap_or_default(),
            kind,
            count,
        });
    }
    found.sort_by_key(|binding| (binding.group, binding.binding));
    Ok(found)
}

fn kind(
    module: &Module,
    uses: &FunctionInfo,
    handle: Handle<GlobalVariable>,
    variable: &GlobalVariable,
) -> Result<(BindingKind, u32), &'static str> {
    if variable.binding.as_ref().is_some_and(|place| place.group >= MAX_GROUPS) {
        return Err("the group index is beyond what any device binds");
    }
    let (inner, count) = match &module.types[variable.ty].inner {
        TypeInner::BindingArray { base, size: ArraySize::Constant(count) } => {
            (&module.types[*base].inner, count.get())
        }
        TypeInner::BindingArray { .. } => return Err("a binding array needs a constant length"),
        inner => (inner, 0),
    };
    let min_size = u64::from(inner.size(module.to_ctx()));
    let kind = match (variable.space, inner) {
        (AddressSpace::Uniform, _) => BindingKind::Uniform { min_size },
        (AddressSpace::Storage { access }, _) => {
            BindingKind::Storage { read_only: !access.contains(Access::STORE), min_size }
        }
        (_, TypeInner::Sampler { comparison: true }) => {
            BindingKind::Sampler { sampler: SamplerKind::Comparison }
        }
        (_, TypeInner::Sampler { comparison: false }) => {
            BindingKind::Sampler { sampler: sampler_kind(module, uses, handle) }
        }
        (_, TypeInner::Image { dim, arrayed, class }) => {
            let view = view(*dim, *arrayed)?;
            match *class {
                ImageClass::Sampled { kind, multi } => BindingKind::Texture {
                    sample: sample_kind(uses, handle, kind, multi)?,
                    view,
                    multisampled: multi,
                },
                ImageClass::Depth { multi } => {
                    BindingKind::Texture { sample: SampleKind::Depth, view, multisampled: multi }
                }
                ImageClass::Storage { format, access } => BindingKind::StorageTexture {
                    access: storage_access(access),
                    format: format_name(format),
                    view,
                },
                ImageClass::External => {
                    return Err("external textures are not part of Purlin's binding model");
                }
            }
        }
        _ => return Err("this kind of resource is not part of Purlin's binding model"),
    };
    Ok((kind, count))
}

fn sample_kind(
    uses: &FunctionInfo,
    handle: Handle<GlobalVariable>,
    kind: ScalarKind,
    multi: bool,
) -> Result<SampleKind, &'static str> {
    // Comparison samplers only go with depth textures, so any pairing of a float texture may filter.
    let sampled = uses.sampling_set.iter().any(|pair| pair.image == handle);
    match kind {
        ScalarKind::Float if sampled && !multi => Ok(SampleKind::Float),
        ScalarKind::Float => Ok(SampleKind::UnfilterableFloat),
        ScalarKind::Sint => Ok(SampleKind::Sint),
        ScalarKind::Uint => Ok(SampleKind::Uint),
        _ => Err("textures yield f32, i32 or u32"),
    }
}

fn sampler_kind(module: &Module, uses: &FunctionInfo, handle: Handle<GlobalVariable>) -> SamplerKind {
    let mut images =
        uses.sampling_set.iter().filter(|pair| pair.sampler == handle).map(|pair| pair.image).peekable();
    let only_depth = images.peek().is_some()
        && images.all(|image| {
            let mut ty = module.global_variables[image].ty;
            if let TypeInner::BindingArray { base, .. } = module.types[ty].inner {
                ty = base;
            }
            matches!(module.types[ty].inner, TypeInner::Image { class: ImageClass::Depth { .. }, .. })
        });
    if only_depth { SamplerKind::NonFiltering } else { SamplerKind::Filtering }
}

fn view(dim: ImageDimension, arrayed: bool) -> Result<ViewKind, &'static str> {
    Ok(match (dim, arrayed) {
        (ImageDimension::D1, false) => ViewKind::D1,
        (ImageDimension::D2, false) => ViewKind::D2,
        (ImageDimension::D2, true) => ViewKind::D2Array,
        (ImageDimension::D3, false) => ViewKind::D3,
        (ImageDimension::Cube, false) => ViewKind::Cube,
        (ImageDimension::Cube, true) => ViewKind::CubeArray,
        _ => return Err("there are no arrays of 1D or 3D textures"),
    })
}

fn storage_access(access: Access) -> StorageAccess {
    if access.contains(Access::ATOMIC) {
        StorageAccess::Atomic
    } else if access.contains(Access::LOAD | Access::STORE) {
        StorageAccess::ReadWrite
    } else if access.contains(Access::STORE) {
        StorageAccess::WriteOnly
    } else {
        StorageAccess::ReadOnly
    }
}

macro_rules! format_names {
    ($($name:ident)*) => {
        fn format_name(format: StorageFormat) -> &'static str {
            match format { $(StorageFormat::$name => stringify!($name),)* }
        }
    };
}

format_names! {
    R8Unorm R8Snorm R8Uint R8Sint R16Uint R16Sint R16Float Rg8Unorm Rg8Snorm Rg8Uint Rg8Sint R32Uint R32Sint
    R32Float Rg16Uint Rg16Sint Rg16Float Rgba8Unorm Rgba8Snorm Rgba8Uint Rgba8Sint Bgra8Unorm Rgb10a2Uint
    Rgb10a2Unorm Rg11b10Ufloat R64Uint Rg32Uint Rg32Sint Rg32Float Rgba16Uint Rgba16Sint Rgba16Float Rgba32Uint
    Rgba32Sint Rgba32Float R16Unorm R16Snorm Rg16Unorm Rg16Snorm Rgba16Unorm Rgba16Snorm
}
