//! Host-shareable structures as Rust structs, with their layout asserted where they are defined.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::names::{Taken, camel, ident, upper_snake};
use crate::layout::{HostField, HostStruct, HostType, RuntimeArray, Scalar};
use crate::reflect::Reflection;

/// Module names of a generated shader module; types share their namespace.
const SHADER_MODULES: &[&str] = &["facts", "entries", "bindings", "vertex"];

/// Rust names for every structure of a package and for what derives from it.
#[derive(Debug)]
pub(crate) struct StructNames {
    structs: BTreeMap<String, Derived>,
    types: Taken,
    values: Taken,
}

#[derive(Debug, Default)]
struct Derived {
    rust: String,
    header: String,
    element: String,
    array: String,
}

impl StructNames {
    pub(crate) fn new(reflections: &[&Reflection]) -> Self {
        let all: BTreeMap<&str, bool> = reflections
            .iter()
            .flat_map(|reflection| &reflection.structs)
            .map(|item| (item.name.as_str(), item.runtime.is_some()))
            .fold(BTreeMap::new(), |mut map, (name, runtime)| {
                *map.entry(name).or_default() |= runtime;
                map
            });
        let mut types = Taken::default();
        for module in SHADER_MODULES {
            types.claim((*module).to_owned());
        }
        let mut values = Taken::default();
        for value in ["SHADER", "SPIRV", "WGSL", "GROUPS"] {
            values.claim(value.to_owned());
        }
        // Written names first, so that a derived name yields to a structure that the author called the same.
        let mut structs: BTreeMap<String, Derived> = all
            .keys()
            .map(|name| {
                let rust = types.claim(ident(name));
                ((*name).to_owned(), Derived { rust, ..Derived::default() })
            })
            .collect();
        for (name, derived) in &mut structs {
            if all[name.as_str()] {
                derived.header = types.claim(format!("{name}Header"));
                derived.element = types.claim(format!("{name}Element"));
                derived.array = values.claim(format!("{}_ARRAY", upper_snake(name)));
            }
        }
        Self { structs, types, values }
    }

    /// A scope for names of one module beside those of the package's structures.
    pub(crate) fn scope(&self) -> (Taken, Taken) {
        (self.types.clone(), self.values.clone())
    }

    fn rust<'a>(&'a self, name: &'a str) -> &'a str {
        self.structs.get(name).map_or(name, |derived| &derived.rust)
    }
}

/// Structures that at least two modules have, all with the same layout throughout.
pub(crate) fn shared_structs(reflections: &[&Reflection]) -> Vec<HostStruct> {
    let mut shared: Vec<HostStruct> = Vec::new();
    let mut seen = BTreeSet::new();
    // Structures follow those they contain, so a nested one is decided before its container.
    for item in reflections.iter().flat_map(|reflection| &reflection.structs) {
        if !seen.insert(&item.name) {
            continue;
        }
        let mut others = reflections.iter().flat_map(|r| &r.structs).filter(|other| other.name == item.name);
        let count = others.clone().count();
        let nested_shared =
            nested(item).iter().all(|name| shared.iter().any(|other: &HostStruct| other.name == *name));
        if count > 1 && others.all(|other| other == item) && nested_shared {
            shared.push(item.clone());
        }
    }
    shared
}

fn nested(item: &HostStruct) -> Vec<&str> {
    fn visit<'a>(ty: &'a HostType, out: &mut Vec<&'a str>) {
        match ty {
            HostType::Struct { name, .. } => out.push(name),
            HostType::Array { element, .. } => visit(element, out),
            _ => {}
        }
    }
    let mut out = Vec::new();
    item.fields
        .iter()
        .map(|field| &field.ty)
        .chain(item.runtime.iter().map(|array| &array.element))
        .for_each(|ty| visit(ty, &mut out));
    out
}

/// Brings a shared structure and what belongs to it into a shader's module.
pub(crate) fn write_reexport(out: &mut String, item: &HostStruct, names: &StructNames) {
    let Some(derived) = names.structs.get(&item.name) else { return };
    let mut items = Vec::new();
    if item.runtime.is_none() {
        items.push(derived.rust.as_str());
    } else {
        if !item.fields.is_empty() {
            items.push(&derived.header);
        }
        items.extend([derived.element.as_str(), &derived.array]);
    }
    for name in items {
        let _ = writeln!(out, "\n    pub use super::shared::{name};");
    }
}

/// Writes the struct itself, or, where the last member is a runtime-sized array, its header and array layout.
pub(crate) fn write_struct(out: &mut String, item: &HostStruct, names: &StructNames) {
    let Some(derived) = names.structs.get(&item.name) else { return };
    let Some(array) = &item.runtime else {
        let title = format!("`{}`, {} bytes.", item.name, item.size);
        write_fixed(out, &title, &derived.rust, item, item.size, names);
        return;
    };
    if !item.fields.is_empty() {
        let title = format!("What precedes the array in `{}`: {} bytes.", item.name, array.offset);
        write_fixed(out, &title, &derived.header, item, array.offset, names);
    }
    let of = format!("`{}::{}`", item.name, array.name);
    write_array_items(out, array, &of, &derived.element, &derived.array, names);
}

/// Writes the element type and layout of a variable that is a bare runtime-sized array.
pub(crate) fn write_array(
    out: &mut String,
    array: &RuntimeArray,
    names: &StructNames,
    (types, values): &mut (Taken, Taken),
) {
    let element = types.claim(format!("{}Element", camel(&array.name)));
    let constant = values.claim(format!("{}_ARRAY", upper_snake(&array.name)));
    write_array_items(out, array, &format!("`{}`", array.name), &element, &constant, names);
}

fn write_array_items(
    out: &mut String,
    array: &RuntimeArray,
    of: &str,
    element: &str,
    constant: &str,
    names: &StructNames,
) {
    let _ = write!(
        out,
        "
    /// An element of {of}: `{wgsl}`, one each {stride} bytes.
    pub type {element} = {rust};

    /// Where the elements of {of} lie.
    pub const {constant}: super::ArrayLayout = super::ArrayLayout {{ offset: {offset}, stride: {stride}, align: {align} }};

    const _: () = assert!(::core::mem::size_of::<{element}>() == {stride});
",
        wgsl = array.element.wgsl(),
        rust = stored(&array.element, true, names),
        offset = array.offset,
        stride = array.stride,
        align = array.align,
    );
}

/// A field as it appears in the struct: a member, or a gap.
enum Part<'a> {
    Member(&'a HostField, String),
    Pad(String, u32),
}

fn write_fixed(out: &mut String, title: &str, rust: &str, item: &HostStruct, size: u32, names: &StructNames) {
    let parts = parts(item, size);
    // A header may end where its widest member could not: {u64, u32} before an array of u32 is 12 bytes.
    let align = item.rust_align();
    let repr = match size.trailing_zeros() {
        zeros if size.is_multiple_of(align) || zeros >= 31 => "C".to_owned(),
        zeros => format!("C, packed({})", 1 << zeros),
    };
    let _ = write!(
        out,
        "
    /// {title}
    #[repr({repr})]
    #[derive(Clone, Copy, Debug, PartialEq, ::bytemuck::Pod, ::bytemuck::Zeroable)]
    pub struct {rust} {{
"
    );
    for part in &parts {
        let _ = match part {
            Part::Member(field, name) => write!(
                out,
                "        /// `{}` at byte {}.{}\n        pub {name}: {},\n",
                field.ty.wgsl(),
                field.offset,
                note(&field.ty),
                stored(&field.ty, false, names)
            ),
            Part::Pad(name, bytes) => {
                write!(out, "        #[doc(hidden)]\n        pub {name}: [u8; {bytes}],\n")
            }
        };
    }
    out.push_str("    }\n");
    write_new(out, rust, &parts, names);
    let _ = write!(
        out,
        "
    impl ::core::default::Default for {rust} {{
        /// All zero.
        fn default() -> Self {{
            ::bytemuck::Zeroable::zeroed()
        }}
    }}

    const _: () = {{
        assert!(::core::mem::size_of::<{rust}>() == {size});
        assert!(::core::mem::align_of::<{rust}>() <= {});
",
        item.align
    );
    for part in &parts {
        if let Part::Member(field, name) = part {
            let _ = writeln!(
                out,
                "        assert!(::core::mem::offset_of!({rust}, {name}) == {});",
                field.offset
            );
        }
    }
    out.push_str("    };\n");
}

fn write_new(out: &mut String, rust: &str, parts: &[Part<'_>], names: &StructNames) {
    let parameters: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Member(field, name) => Some(format!("{name}: {}", parameter(&field.ty, names))),
            Part::Pad(..) => None,
        })
        .collect();
    let one_line = parameters.join(", ");
    let list = if one_line.len() < 70 {
        one_line
    } else {
        format!("\n            {},\n        ", parameters.join(",\n            "))
    };
    let _ = write!(
        out,
        "
    impl {rust} {{
        /// A value with these members; padding is zero.
        pub const fn new({list}) -> Self {{
            Self {{
"
    );
    for part in parts {
        let _ = match part {
            Part::Member(field, name) => match value(&field.ty, name) {
                Some(value) => writeln!(out, "                {name}: {value},"),
                None => writeln!(out, "                {name},"),
            },
            Part::Pad(name, bytes) => writeln!(out, "                {name}: [0; {bytes}],"),
        };
    }
    out.push_str("            }\n        }\n    }\n");
}

fn parts(item: &HostStruct, size: u32) -> Vec<Part<'_>> {
    let written: BTreeSet<&str> = item.fields.iter().map(|field| field.name.as_str()).collect();
    let mut number = 0;
    let mut pad = |bytes| {
        let mut name = format!("_pad{number}");
        while written.contains(name.as_str()) {
            number += 1;
            name = format!("_pad{number}");
        }
        number += 1;
        Part::Pad(name, bytes)
    };
    let mut parts = Vec::new();
    let mut at = 0;
    for field in &item.fields {
        if field.offset > at {
            parts.push(pad(field.offset - at));
        }
        parts.push(Part::Member(field, ident(&field.name)));
        at = field.offset + field.ty.size();
    }
    if size > at {
        parts.push(pad(size - at));
    }
    parts
}

/// The Rust type that holds `ty`; as an array element it is as long as its stride.
fn stored(ty: &HostType, element: bool, names: &StructNames) -> String {
    match ty {
        HostType::Scalar { scalar } | HostType::Atomic { scalar } => scalar.rust().into(),
        HostType::Vector { scalar, components } => {
            let length = if element && *components == 3 { 4 } else { *components };
            format!("[{}; {length}]", scalar.rust())
        }
        HostType::Matrix { scalar, columns, column_stride, .. } => {
            format!("[[{}; {}]; {columns}]", scalar.rust(), column_stride / scalar.size())
        }
        HostType::Array { element, count, .. } => format!("[{}; {count}]", stored(element, true, names)),
        HostType::Struct { name, .. } => names.rust(name).to_owned(),
    }
}

/// The type by which `new` takes `ty`: as stored, but without the fourth row of a matrix of three.
fn parameter(ty: &HostType, names: &StructNames) -> String {
    match ty {
        HostType::Matrix { scalar, columns, rows: 3, .. } => format!("[[{}; 3]; {columns}]", scalar.rust()),
        ty => stored(ty, false, names),
    }
}

/// How `new` turns its parameter into the stored form, where they differ.
fn value(ty: &HostType, name: &str) -> Option<String> {
    let HostType::Matrix { scalar, columns, rows: 3, .. } = ty else { return None };
    let zero = if matches!(scalar, Scalar::F32 | Scalar::F64) { "0.0" } else { "0" };
    let columns: Vec<String> =
        (0..*columns).map(|c| format!("[{name}[{c}][0], {name}[{c}][1], {name}[{c}][2], {zero}]")).collect();
    Some(format!("[{}]", columns.join(", ")))
}

fn note(ty: &HostType) -> &'static str {
    fn innermost(ty: &HostType) -> &HostType {
        if let HostType::Array { element, .. } = ty { innermost(element) } else { ty }
    }
    match (ty, innermost(ty)) {
        (_, HostType::Matrix { rows: 3, .. }) => " The fourth number of each column is padding.",
        (HostType::Array { .. }, HostType::Vector { components: 3, .. }) => {
            " The fourth number of each element is padding."
        }
        (_, HostType::Scalar { scalar: Scalar::F16 } | HostType::Vector { scalar: Scalar::F16, .. }) => {
            " Bits of half-precision floats."
        }
        _ => "",
    }
}
