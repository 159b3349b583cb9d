//! Where each byte of a host-shareable type lies: WGSL's rules on one side, `repr(C)` on the other.
//!
//! Offsets, strides and sizes come from naga, which follows the WGSL specification. This module turns them into
//! plain Rust types that put the same bytes at the same places. The difficulty is always the same: WGSL aligns a
//! `vec3` to 16 bytes and gives it 12, and `[f32; 3]` is 12 bytes aligned to 4. So Rust types here are aligned to
//! their scalars only, and every gap is explicit: padding fields in structs, and a fourth component where an array
//! or a matrix has elements of `vec3`.

use naga::proc::Layouter;
use naga::{AddressSpace, ArraySize, Handle, Module, ScalarKind, Type, TypeInner};
use serde::Serialize;

use crate::error::{Diagnostic, Error};
use crate::source::SourceMap;

/// A number type in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Scalar {
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
}

impl Scalar {
    /// Bytes of one value, which is also its alignment.
    pub fn size(self) -> u32 {
        match self {
            Self::F16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// The WGSL name.
    pub fn wgsl(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
        }
    }

    /// The Rust type. Half-precision floats are their bits, as stable Rust has no `f16`.
    pub fn rust(self) -> &'static str {
        if self == Self::F16 { "u16" } else { self.wgsl() }
    }

    fn of(scalar: naga::Scalar) -> Option<Self> {
        Some(match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => Self::F16,
            (ScalarKind::Float, 4) => Self::F32,
            (ScalarKind::Float, 8) => Self::F64,
            (ScalarKind::Sint, 2) => Self::I16,
            (ScalarKind::Sint, 4) => Self::I32,
            (ScalarKind::Sint, 8) => Self::I64,
            (ScalarKind::Uint, 2) => Self::U16,
            (ScalarKind::Uint, 4) => Self::U32,
            (ScalarKind::Uint, 8) => Self::U64,
            _ => return None,
        })
    }
}

/// A type of fixed size that host and shader share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum HostType {
    /// A number.
    Scalar {
        /// Which.
        scalar: Scalar,
    },
    /// An atomic number, plain on the host.
    Atomic {
        /// Which.
        scalar: Scalar,
    },
    /// A vector.
    Vector {
        /// Component type.
        scalar: Scalar,
        /// Components, 2 to 4.
        components: u32,
    },
    /// A matrix, stored by columns.
    Matrix {
        /// Component type.
        scalar: Scalar,
        /// Columns, 2 to 4.
        columns: u32,
        /// Rows, 2 to 4.
        rows: u32,
        /// Bytes from one column to the next: 8 for two rows of `f32`, else 16.
        column_stride: u32,
    },
    /// An array of fixed length.
    Array {
        /// Element type.
        element: Box<HostType>,
        /// Elements.
        count: u32,
        /// Bytes from one element to the next: 16 for `vec3<f32>`.
        stride: u32,
    },
    /// A structure.
    Struct {
        /// Its WGSL name.
        name: String,
        /// Its size in bytes, a multiple of its alignment.
        size: u32,
        /// The alignment of its Rust type.
        #[serde(skip)]
        rust_align: u32,
    },
}

impl HostType {
    /// Bytes that a value takes, without what follows it in an array.
    pub fn size(&self) -> u32 {
        match self {
            Self::Scalar { scalar } | Self::Atomic { scalar } => scalar.size(),
            Self::Vector { scalar, components } => scalar.size() * components,
            Self::Matrix { columns, column_stride, .. } => column_stride * columns,
            Self::Array { count, stride, .. } => stride * count,
            Self::Struct { size, .. } => *size,
        }
    }

    /// The WGSL spelling.
    pub fn wgsl(&self) -> String {
        match self {
            Self::Scalar { scalar } => scalar.wgsl().into(),
            Self::Atomic { scalar } => format!("atomic<{}>", scalar.wgsl()),
            Self::Vector { scalar, components } => format!("vec{components}<{}>", scalar.wgsl()),
            Self::Matrix { scalar, columns, rows, .. } => format!("mat{columns}x{rows}<{}>", scalar.wgsl()),
            Self::Array { element, count, .. } => format!("array<{}, {count}>", element.wgsl()),
            Self::Struct { name, .. } => name.clone(),
        }
    }

    /// The alignment of the Rust type, which never exceeds that of its widest scalar.
    pub(crate) fn rust_align(&self) -> u32 {
        match self {
            Self::Scalar { scalar }
            | Self::Atomic { scalar }
            | Self::Vector { scalar, .. }
            | Self::Matrix { scalar, .. } => scalar.size(),
            Self::Array { element, .. } => element.rust_align(),
            Self::Struct { rust_align, .. } => *rust_align,
        }
    }
}

/// A member of a host-shareable structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostField {
    /// The member's name.
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: u32,
    /// What it holds.
    #[serde(rename = "type")]
    pub ty: HostType,
}

/// An array whose length is the buffer's to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuntimeArray {
    /// The member's name, or the variable's where the buffer is a bare array.
    pub name: String,
    /// Bytes before the first element: the size of the header.
    pub offset: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// The whole buffer's alignment, to which a binding's size is rounded up.
    pub align: u32,
    /// Element type.
    pub element: HostType,
}

/// A structure in the uniform, storage or immediate address space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostStruct {
    /// The WGSL name.
    pub name: String,
    /// Bytes, a multiple of `align`; with a runtime-sized array, the bytes with one element.
    pub size: u32,
    /// The alignment that the members' types ask for; an `@align` attribute may ask for more.
    pub align: u32,
    /// Members of fixed size by offset.
    pub fields: Vec<HostField>,
    /// The last member, if its length is open.
    pub runtime: Option<RuntimeArray>,
}

impl HostStruct {
    /// The alignment of the Rust struct.
    pub(crate) fn rust_align(&self) -> u32 {
        self.fields.iter().map(|field| field.ty.rust_align()).max().unwrap_or(1)
    }
}

/// Every structure and every bare runtime-sized array that a module shares with the host.
#[derive(Debug, Default)]
pub(crate) struct HostTypes {
    /// In order of declaration, so that a structure follows those it contains.
    pub structs: Vec<HostStruct>,
    /// `var<storage> name: array<T>`, by declaration.
    pub arrays: Vec<RuntimeArray>,
}

pub(crate) fn host_types(source: &SourceMap, module: &Module) -> Result<HostTypes, Error> {
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).map_err(|error| {
        let at = module.types.get_span(error.ty).to_range().and_then(|range| source.locate(range));
        Error::Validation(Box::new(Diagnostic::new(error.inner.to_string(), at)))
    })?;
    let shapes = Shapes { source, module, layouter };

    let mut wanted = vec![false; module.types.len()];
    let mut types = HostTypes::default();
    for (_, variable) in module.global_variables.iter() {
        if !matches!(
            variable.space,
            AddressSpace::Uniform | AddressSpace::Storage { .. } | AddressSpace::Immediate
        ) {
            continue;
        }
        let ty = match module.types[variable.ty].inner {
            TypeInner::BindingArray { base, .. } => base,
            _ => variable.ty,
        };
        shapes.mark(ty, &mut wanted);
        if let TypeInner::Array { base, size: ArraySize::Dynamic, stride } = module.types[ty].inner {
            types.arrays.push(RuntimeArray {
                name: variable.name.clone().unwrap_or_default(),
                offset: 0,
                stride,
                align: shapes.layouter[ty].alignment * 1,
                element: shapes.host_type(base)?,
            });
        }
    }
    for (handle, ty) in module.types.iter() {
        if wanted[handle.index()] && matches!(ty.inner, TypeInner::Struct { .. }) {
            types.structs.push(shapes.host_struct(handle)?);
        }
    }
    Ok(types)
}

struct Shapes<'a> {
    source: &'a SourceMap,
    module: &'a Module,
    layouter: Layouter,
}

impl Shapes<'_> {
    fn mark(&self, ty: Handle<Type>, wanted: &mut [bool]) {
        if std::mem::replace(&mut wanted[ty.index()], true) {
            return;
        }
        match &self.module.types[ty].inner {
            TypeInner::Array { base, .. } => self.mark(*base, wanted),
            TypeInner::Struct { members, .. } => {
                members.iter().for_each(|member| self.mark(member.ty, wanted))
            }
            _ => {}
        }
    }

    fn host_struct(&self, handle: Handle<Type>) -> Result<HostStruct, Error> {
        let ty = &self.module.types[handle];
        let TypeInner::Struct { members, span } = &ty.inner else {
            return Err(self.unsupported(handle));
        };
        let align = self.layouter[handle].alignment * 1;
        let mut fields = Vec::new();
        let mut runtime = None;
        for member in members {
            let name = member.name.clone().unwrap_or_default();
            if let TypeInner::Array { base, size: ArraySize::Dynamic, stride } =
                self.module.types[member.ty].inner
            {
                let element = self.host_type(base)?;
                runtime = Some(RuntimeArray { name, offset: member.offset, stride, align, element });
            } else {
                fields.push(HostField { name, offset: member.offset, ty: self.host_type(member.ty)? });
            }
        }
        if let Some(array) = &mut runtime {
            // naga keeps no trace of `@align` but in the span, which has one element and is rounded up.
            while (array.offset + array.stride).next_multiple_of(array.align) < *span {
                array.align *= 2;
            }
        }
        Ok(HostStruct { name: ty.name.clone().unwrap_or_default(), size: *span, align, fields, runtime })
    }

    fn host_type(&self, handle: Handle<Type>) -> Result<HostType, Error> {
        let ty = &self.module.types[handle];
        let scalar_of = |scalar| Scalar::of(scalar).ok_or_else(|| self.unsupported(handle));
        Ok(match ty.inner {
            TypeInner::Scalar(scalar) => HostType::Scalar { scalar: scalar_of(scalar)? },
            TypeInner::Atomic(scalar) => HostType::Atomic { scalar: scalar_of(scalar)? },
            TypeInner::Vector { size, scalar } => {
                HostType::Vector { scalar: scalar_of(scalar)?, components: size as u32 }
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let scalar = scalar_of(scalar)?;
                let column_stride = scalar.size() * if rows as u32 == 2 { 2 } else { 4 };
                HostType::Matrix { scalar, columns: columns as u32, rows: rows as u32, column_stride }
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
                HostType::Array { element: Box::new(self.host_type(base)?), count: count.get(), stride }
            }
            TypeInner::Struct { .. } => {
                let inner = self.host_struct(handle)?;
                HostType::Struct { rust_align: inner.rust_align(), name: inner.name, size: inner.size }
            }
            _ => return Err(self.unsupported(handle)),
        })
    }

    fn unsupported(&self, handle: Handle<Type>) -> Error {
        let at = self.module.types.get_span(handle).to_range().and_then(|range| self.source.locate(range));
        let name = self.module.types[handle].name.as_deref().unwrap_or("this type");
        Error::Unsupported(Box::new(Diagnostic::new(format!("{name} cannot be shared with the host"), at)))
    }
}
