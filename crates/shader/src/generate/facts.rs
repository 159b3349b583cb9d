//! Constants: the shader source with its entry points, binding constants, group layouts, vertex attributes.

use std::fmt::Write as _;

use super::Input;
use super::names::{Taken, upper_snake};
use crate::reflect::{
    Binding, BindingKind, Entry, Io, Reflection, SampleKind, SamplerKind, Stage, StorageAccess, ViewKind,
};

pub(crate) fn write_shader(out: &mut String, shader: &Input<'_>) {
    let merged = merge(shader.reflection);
    let mut facts = String::new();
    write_source(&mut facts, shader);
    let mut names = vec!["SHADER".to_owned()];
    write_groups(&mut facts, &mut names, &merged);

    let _ = write!(out, "    pub use self::facts::{{{}}};\n\n    mod facts {{\n", names.join(", "));
    out.push_str("        use super::super::api::*;\n");
    for line in facts.lines() {
        let _ = if line.is_empty() { writeln!(out) } else { writeln!(out, "    {line}") };
    }
    let fence = raw_fence(shader.wgsl);
    let _ = write!(out, "\n        static WGSL: &str = r{fence}\"{}\"{fence};\n    }}\n", shader.wgsl);

    write_entries(out, &shader.reflection.entries);
    write_bindings(out, &merged);
    write_vertex(out, &shader.reflection.entries);
}

fn write_source(out: &mut String, shader: &Input<'_>) {
    let _ = write!(
        out,
        "
    /// Code and reflection.
    pub static SHADER: ShaderSource = ShaderSource {{
        label: {:?},
        spirv: &SPIRV,
        wgsl: WGSL,
        entries: &[
",
        shader.name
    );
    for entry in &shader.reflection.entries {
        let _ = write!(
            out,
            "            EntryPoint {{
                name: {:?},
                stage: {},
                workgroup_size: {:?},
",
            entry.name,
            stages(&[entry.stage]),
            entry.workgroup_size,
        );
        write_list(out, "bindings", entry.bindings.iter().map(shader_binding));
        write_list(out, "inputs", entry.inputs.iter().map(shader_io));
        write_list(out, "outputs", entry.outputs.iter().map(shader_io));
        let _ = write!(
            out,
            "                immediate_size: {},
                writes_depth: {},
            }},
",
            entry.immediate_size, entry.writes_depth
        );
    }
    let _ = write!(out, "        ],\n    }};\n\n    static SPIRV: [u32; {}] = [", shader.spirv.len());
    for (index, word) in shader.spirv.iter().enumerate() {
        let _ = write!(out, "{}{word:#010x},", if index % 8 == 0 { "\n        " } else { " " });
    }
    out.push_str(if shader.spirv.is_empty() { "];\n" } else { "\n    ];\n" });
}

/// As many `#` as a raw string needs to hold `text`.
fn raw_fence(text: &str) -> String {
    let longest = text
        .split('"')
        .skip(1)
        .map(|after| after.chars().take_while(|c| *c == '#').count())
        .max()
        .unwrap_or(0);
    "#".repeat(longest + 1)
}

fn write_list(out: &mut String, name: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        let _ = writeln!(out, "                {name}: &[],");
        return;
    }
    let _ = writeln!(out, "                {name}: &[");
    for item in items {
        let _ = writeln!(out, "                    {item},");
    }
    let _ = writeln!(out, "                ],");
}

fn write_entries(out: &mut String, entries: &[Entry]) {
    if entries.is_empty() {
        return;
    }
    out.push_str("\n    /// Names of the entry points.\n    pub mod entries {\n");
    let mut taken = Taken::default();
    for entry in entries {
        let name = taken.claim(upper_snake(&entry.name));
        let _ = writeln!(out, "        pub const {name}: &str = {:?};", entry.name);
    }
    out.push_str("    }\n");
}

/// A binding over all entry points of a module.
struct Merged {
    binding: Binding,
    stages: Vec<Stage>,
}

/// Merges equal variables of all entry points; each keeps the strictest need of any of them.
fn merge(reflection: &Reflection) -> Vec<Merged> {
    let mut merged: Vec<Merged> = Vec::new();
    for entry in &reflection.entries {
        for binding in &entry.bindings {
            let same = merged.iter_mut().find(|other| {
                let other = &other.binding;
                (other.group, other.binding, &other.name) == (binding.group, binding.binding, &binding.name)
            });
            match same {
                Some(other) => {
                    other.binding.kind =
                        stricter(other.binding.kind, binding.kind).unwrap_or(other.binding.kind);
                    other.stages.push(entry.stage);
                }
                None => merged.push(Merged { binding: binding.clone(), stages: vec![entry.stage] }),
            }
        }
    }
    for item in &mut merged {
        item.stages.sort();
        item.stages.dedup();
    }
    merged.sort_by(|a, b| {
        let key = |m: &Merged| (m.binding.group, m.binding.binding, m.binding.name.clone());
        key(a).cmp(&key(b))
    });
    merged
}

/// The kind that serves both uses, if one layout entry can.
fn stricter(a: BindingKind, b: BindingKind) -> Option<BindingKind> {
    use BindingKind::{Sampler, Storage, Texture, Uniform};
    match (a, b) {
        (Uniform { min_size: x }, Uniform { min_size: y }) => Some(Uniform { min_size: x.max(y) }),
        (Storage { read_only, min_size: x }, Storage { read_only: other, min_size: y })
            if read_only == other =>
        {
            Some(Storage { read_only, min_size: x.max(y) })
        }
        (Sampler { sampler: x }, Sampler { sampler: y })
            if x != SamplerKind::Comparison && y != SamplerKind::Comparison && x != y =>
        {
            Some(Sampler { sampler: SamplerKind::Filtering })
        }
        (
            Texture { sample: x, view, multisampled },
            Texture { sample: y, view: other_view, multisampled: other_multisampled },
        ) if x != y
            && (view, multisampled) == (other_view, other_multisampled)
            && [x, y].iter().all(|s| matches!(s, SampleKind::Float | SampleKind::UnfilterableFloat)) =>
        {
            Some(Texture { sample: SampleKind::Float, view, multisampled })
        }
        _ => (a == b).then_some(a),
    }
}

fn write_bindings(out: &mut String, merged: &[Merged]) {
    if merged.is_empty() {
        return;
    }
    out.push_str("\n    /// Every resource that some entry point uses.\n    pub mod bindings {\n        use super::super::api::*;\n\n");
    let mut taken = Taken::default();
    for item in merged {
        let name = taken.claim(upper_snake(&item.binding.name));
        let _ = writeln!(out, "        pub const {name}: ShaderBinding = {};", shader_binding(&item.binding));
    }
    out.push_str("    }\n");
}

/// Writes a layout for each group, and adds the names of what it wrote to `names`.
fn write_groups(out: &mut String, names: &mut Vec<String>, merged: &[Merged]) {
    let Some(last) = merged.iter().map(|item| item.binding.group).max() else { return };
    let mut groups = Vec::new();
    let mut conflict = false;
    for group in 0..=last {
        let Some(slots) = group_slots(merged.iter().filter(|item| item.binding.group == group)) else {
            let _ = write!(
                out,
                "\n    // There is no GROUP{group} and no GROUPS: entry points use a binding of group {group} as \
                 different kinds.\n"
            );
            conflict = true;
            continue;
        };
        if slots.is_empty() {
            groups.push("&[]".to_owned());
            continue;
        }
        let name = format!("GROUP{group}");
        let _ = write!(
            out,
            "\n    /// Layout of bind group {group} for all entry points.\n    pub const {name}: \
             &[BindGroupLayoutEntry] = &[\n"
        );
        for (binding, seen) in slots {
            write_layout_entry(out, &binding, &seen);
        }
        out.push_str("    ];\n");
        names.push(name.clone());
        groups.push(name);
    }
    if !conflict {
        let _ = write!(
            out,
            "\n    /// Layouts of all bind groups by index.\n    pub const GROUPS: &[&[BindGroupLayoutEntry]] = \
             &[{}];\n",
            groups.join(", ")
        );
        names.push("GROUPS".to_owned());
    }
}

fn write_layout_entry(out: &mut String, binding: &Binding, seen: &[Stage]) {
    let count = match binding.count {
        0 => "None".to_owned(),
        count => format!("::core::num::NonZeroU32::new({count})"),
    };
    let _ = write!(
        out,
        "        BindGroupLayoutEntry {{
            binding: {},
            visibility: {},
            ty: {},
            count: {count},
        }},
",
        binding.binding,
        stages(seen),
        binding_type(binding.kind),
    );
}

/// One layout entry for each slot, or `None` if two variables of a slot need different ones.
fn group_slots<'a>(items: impl Iterator<Item = &'a Merged>) -> Option<Vec<(Binding, Vec<Stage>)>> {
    let mut slots: Vec<(Binding, Vec<Stage>)> = Vec::new();
    for item in items {
        match slots.last_mut() {
            Some((binding, seen)) if binding.binding == item.binding.binding => {
                if binding.count != item.binding.count {
                    return None;
                }
                binding.kind = stricter(binding.kind, item.binding.kind)?;
                seen.extend(&item.stages);
                seen.sort();
                seen.dedup();
            }
            _ => slots.push((item.binding.clone(), item.stages.clone())),
        }
    }
    Some(slots)
}

fn write_vertex(out: &mut String, entries: &[Entry]) {
    let with_inputs: Vec<&Entry> = entries.iter().filter(|entry| !entry.inputs.is_empty()).collect();
    if with_inputs.is_empty() {
        return;
    }
    out.push_str(
        "\n    /// Attributes of vertex entry points, packed tightly in one buffer, and their stride.\n    \
         pub mod vertex {\n        use super::super::api::*;\n\n",
    );
    let mut taken = Taken::default();
    for entry in with_inputs {
        let name = taken.claim(upper_snake(&entry.name));
        let stride_name = taken.claim(format!("{name}_STRIDE"));
        let _ = writeln!(out, "        pub const {name}: &[VertexAttribute] = &[");
        let mut offset = 0;
        for input in &entry.inputs {
            let _ = writeln!(
                out,
                "            VertexAttribute {{ format: VertexFormat::{}, \
                 offset: {offset}, shader_location: {} }},",
                input.format, input.location
            );
            offset += input.size;
        }
        let _ = write!(out, "        ];\n        pub const {stride_name}: u64 = {offset};\n");
    }
    out.push_str("    }\n");
}

fn stages(stages: &[Stage]) -> String {
    let one = |stage: &Stage| {
        let name = match stage {
            Stage::Vertex => "VERTEX",
            Stage::Fragment => "FRAGMENT",
            Stage::Compute => "COMPUTE",
        };
        format!("ShaderStages::{name}")
    };
    let mut text = stages.first().map(one).unwrap_or_default();
    for stage in stages.iter().skip(1) {
        text = format!("{text}.union({})", one(stage));
    }
    text
}

fn shader_io(io: &Io) -> String {
    format!(
        "ShaderIo {{ location: {}, name: {:?}, format: VertexFormat::{} }}",
        io.location, io.name, io.format
    )
}

fn shader_binding(binding: &Binding) -> String {
    format!(
        "ShaderBinding {{ group: {}, binding: {}, name: {:?}, ty: {}, count: {} }}",
        binding.group,
        binding.binding,
        binding.name,
        binding_type(binding.kind),
        binding.count
    )
}

fn binding_type(kind: BindingKind) -> String {
    let buffer = |ty: String, min_size: u64| {
        format!(
            "BindingType::Buffer {{ ty: {ty}, has_dynamic_offset: false, min_binding_size: \
             ::core::num::NonZeroU64::new({min_size}) }}"
        )
    };
    match kind {
        BindingKind::Uniform { min_size } => buffer("BufferBindingType::Uniform".into(), min_size),
        BindingKind::Storage { read_only, min_size } => {
            buffer(format!("BufferBindingType::Storage {{ read_only: {read_only} }}"), min_size)
        }
        BindingKind::Sampler { sampler } => {
            let kind = match sampler {
                SamplerKind::Filtering => "Filtering",
                SamplerKind::NonFiltering => "NonFiltering",
                SamplerKind::Comparison => "Comparison",
            };
            format!("BindingType::Sampler(SamplerBindingType::{kind})")
        }
        BindingKind::Texture { sample, view, multisampled } => {
            let sample = match sample {
                SampleKind::Float => "Float { filterable: true }",
                SampleKind::UnfilterableFloat => "Float { filterable: false }",
                SampleKind::Depth => "Depth",
                SampleKind::Sint => "Sint",
                SampleKind::Uint => "Uint",
            };
            format!(
                "BindingType::Texture {{ sample_type: TextureSampleType::{sample}, \
                 view_dimension: {}, multisampled: {multisampled} }}",
                view_dimension(view)
            )
        }
        BindingKind::StorageTexture { access, format, view } => {
            let access = match access {
                StorageAccess::ReadOnly => "ReadOnly",
                StorageAccess::WriteOnly => "WriteOnly",
                StorageAccess::ReadWrite => "ReadWrite",
                StorageAccess::Atomic => "Atomic",
            };
            format!(
                "BindingType::StorageTexture {{ access: StorageTextureAccess::{access}, \
                 format: TextureFormat::{format}, view_dimension: {} }}",
                view_dimension(view)
            )
        }
    }
}

fn view_dimension(view: ViewKind) -> String {
    let name = match view {
        ViewKind::D1 => "D1",
        ViewKind::D2 => "D2",
        ViewKind::D2Array => "D2Array",
        ViewKind::Cube => "Cube",
        ViewKind::CubeArray => "CubeArray",
        ViewKind::D3 => "D3",
    };
    format!("TextureViewDimension::{name}")
}
