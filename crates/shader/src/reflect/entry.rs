//! Entry points: stage, inputs, outputs, immediates.

use naga::valid::ModuleInfo;
use naga::{
    AddressSpace, Binding as IoBinding, BuiltIn, Handle, Module, ScalarKind, ShaderStage, Type, TypeInner,
};

use super::{Entry, Io, Stage, binding};
use crate::error::{Diagnostic, Error};
use crate::source::SourceMap;

/// Reflects every entry point of a validated module without overrides.
pub(crate) fn entries(source: &SourceMap, module: &Module, info: &ModuleInfo) -> Result<Vec<Entry>, Error> {
    (0..module.entry_points.len()).map(|index| entry(source, module, info, index)).collect()
}

fn entry(source: &SourceMap, module: &Module, info: &ModuleInfo, index: usize) -> Result<Entry, Error> {
    let point = &module.entry_points[index];
    let uses = info.get_entry_point(index);
    let stage = match point.stage {
        ShaderStage::Vertex => Stage::Vertex,
        ShaderStage::Fragment => Stage::Fragment,
        ShaderStage::Compute => Stage::Compute,
        other => {
            let message = format!("entry point `{}` is of the unsupported stage {other:?}", point.name);
            return Err(Error::Unsupported(Box::new(Diagnostic::new(message, None))));
        }
    };

    let mut inputs = Vec::new();
    if stage == Stage::Vertex {
        for argument in &point.function.arguments {
            varyings(module, argument.ty, argument.binding.as_ref(), argument.name.as_deref(), &mut inputs);
        }
    }
    let mut outputs = Vec::new();
    let mut writes_depth = false;
    if let (Stage::Fragment, Some(result)) = (stage, &point.function.result) {
        varyings(module, result.ty, result.binding.as_ref(), None, &mut outputs);
        writes_depth = has_builtin(module, result.ty, result.binding.as_ref(), BuiltIn::FragDepth);
    }
    inputs.sort_by_key(|io| io.location);
    outputs.sort_by_key(|io| io.location);

    let immediate_size = module
        .global_variables
        .iter()
        .filter(|(handle, variable)| variable.space == AddressSpace::Immediate && !uses[*handle].is_empty())
        .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()))
        .max()
        .unwrap_or(0);

    Ok(Entry {
        name: point.name.clone(),
        stage,
        workgroup_size: if stage == Stage::Compute { point.workgroup_size } else { [0; 3] },
        bindings: binding::bindings(source, module, uses)?,
        inputs,
        outputs,
        immediate_size,
        writes_depth,
    })
}

/// Collects locations of an argument or result, which is one value or a struct of them.
fn varyings(
    module: &Module,
    ty: Handle<Type>,
    binding: Option<&IoBinding>,
    name: Option<&str>,
    out: &mut Vec<Io>,
) {
    match (binding, &module.types[ty].inner) {
        // The second source of dual-source blending shares location 0 with the first and is no attachment.
        (Some(IoBinding::Location { blend_src: Some(1), .. }), _) => {}
        (Some(IoBinding::Location { location, .. }), inner) => {
            if let Some((format, size)) = format_of(inner) {
                out.push(Io { location: *location, name: name.unwrap_or_default().to_owned(), format, size });
            }
        }
        (None, TypeInner::Struct { members, .. }) => {
            for member in members {
                varyings(module, member.ty, member.binding.as_ref(), member.name.as_deref(), out);
            }
        }
        _ => {}
    }
}

/// Whether a value is this builtin, or a structure with it.
pub(crate) fn has_builtin(
    module: &Module,
    ty: Handle<Type>,
    binding: Option<&IoBinding>,
    builtin: BuiltIn,
) -> bool {
    match (binding, &module.types[ty].inner) {
        (Some(IoBinding::BuiltIn(found)), _) => *found == builtin,
        (None, TypeInner::Struct { members, .. }) => {
            members.iter().any(|member| has_builtin(module, member.ty, member.binding.as_ref(), builtin))
        }
        _ => false,
    }
}

fn format_of(inner: &TypeInner) -> Option<(&'static str, u32)> {
    let (scalar, components) = match *inner {
        TypeInner::Scalar(scalar) => (scalar, 1),
        TypeInner::Vector { size, scalar } => (scalar, size as u32),
        _ => return None,
    };
    let names = match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 8) => ["Float64", "Float64x2", "Float64x3", "Float64x4"],
        (ScalarKind::Float, _) => ["Float32", "Float32x2", "Float32x3", "Float32x4"],
        (ScalarKind::Sint, _) => ["Sint32", "Sint32x2", "Sint32x3", "Sint32x4"],
        (ScalarKind::Uint, _) => ["Uint32", "Uint32x2", "Uint32x3", "Uint32x4"],
        _ => return None,
    };
    let width = if scalar.width == 8 { 8 } else { 4 };
    Some((names[components as usize - 1], width * components))
}
