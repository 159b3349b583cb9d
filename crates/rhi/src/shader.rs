//! What a compiled shader package says of itself: the constants that `purlin-shader` generates.
//!
//! The shader compiler reflects every entry point once, offline. Pipeline creation checks layouts against these
//! facts, and the graph derives access and stages from them. Nothing is parsed at run time.

use crate::caps::Features;
use crate::types::{BindingType, ShaderStages, VertexFormat};

/// One compiled shader module: code for each target, and the reflection of each entry point.
#[derive(Debug, Clone, Copy)]
pub struct ShaderSource {
    /// The name in errors and captures, usually the file stem.
    pub label: &'static str,
    /// SPIR-V words; empty when the package did not declare that target.
    pub spirv: &'static [u32],
    /// Validated WGSL with imports resolved; empty when the package did not declare that target.
    pub wgsl: &'static str,
    /// Every entry point of the module.
    pub entries: &'static [EntryPoint],
}

impl ShaderSource {
    /// The entry point of this name, if there is one.
    pub fn entry(&self, name: &str) -> Option<&'static EntryPoint> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The features that its SPIR-V declares: a device without them must not be given the module.
    pub(crate) fn needs(&self) -> Features {
        const OP_CAPABILITY: u32 = 17;
        let mut needs = Features::empty();
        // Five words of header, then all declarations of capabilities, two words each.
        for declaration in self.spirv.get(5..).unwrap_or_default().chunks_exact(2) {
            if declaration[0] != 2 << 16 | OP_CAPABILITY {
                break;
            }
            needs |= match declaration[1] {
                // SampledImageArrayDynamicIndexing
                29 => Features::BINDING_ARRAYS,
                // ShaderNonUniform, SampledImageArrayNonUniformIndexing
                5301 | 5307 => Features::NON_UNIFORM_INDEXING,
                _ => Features::empty(),
            };
        }
        needs
    }
}

/// What reflection found in one entry point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPoint {
    /// The name as written in the source.
    pub name: &'static str,
    /// The one stage this entry point runs in.
    pub stage: ShaderStages,
    /// Invocations in a workgroup; zero outside compute.
    pub workgroup_size: [u32; 3],
    /// Bindings which this entry point uses, directly or through functions, sorted by group and binding.
    pub bindings: &'static [ShaderBinding],
    /// Vertex inputs (vertex stage) by location; empty for other stages.
    pub inputs: &'static [ShaderIo],
    /// Color outputs (fragment stage) by location; empty for other stages.
    pub outputs: &'static [ShaderIo],
    /// Bytes of immediates (push constants) which this entry point reads, from offset zero.
    pub immediate_size: u32,
    /// Whether a fragment entry point writes depth.
    pub writes_depth: bool,
}

/// One resource binding as the shader uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderBinding {
    /// The `@group`.
    pub group: u32,
    /// The `@binding`.
    pub binding: u32,
    /// The variable's name.
    pub name: &'static str,
    /// Kind, access and minimum size in bytes. `has_dynamic_offset` is always false: the layout decides it.
    pub ty: BindingType,
    /// Elements of a binding array; zero for a single binding.
    pub count: u32,
}

/// One user-defined input or output location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderIo {
    /// The `@location`.
    pub location: u32,
    /// The field's or argument's name.
    pub name: &'static str,
    /// The scalar kind and component count, expressed as a 32-bit vertex format (`Float32x3`, `Uint32`, `Sint32x2`).
    pub format: VertexFormat,
}
