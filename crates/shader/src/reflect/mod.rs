//! What each entry point uses and produces, as facts that a program or a person can read.
//!
//! naga's analysis follows calls, so a binding counts as used wherever the use is. Two facts are worth a note:
//! - A float texture is *filterable* when some sampling call pairs it with a non-comparison sampler in this entry
//!   point. One that is only loaded, or is multisampled, need not be filterable, so it may be bound to formats that
//!   cannot be filtered.
//! - A sampler that meets only depth textures is *non-filtering*: WebGPU does not filter depth.

mod binding;
mod entry;

pub(crate) use entry::has_builtin;

use serde::Serialize;

use crate::layout::{HostStruct, RuntimeArray};

pub(crate) use entry::entries;

/// Everything reflection knows of one module. Serializes to the JSON of `purlin-shader reflect`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reflection {
    /// Entry points in the order of declaration.
    pub entries: Vec<Entry>,
    /// Structures shared with the host.
    pub structs: Vec<HostStruct>,
    /// Storage variables that are bare runtime-sized arrays.
    pub arrays: Vec<RuntimeArray>,
}

impl Reflection {
    /// The entry point of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// The stage of an entry point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
}

/// One entry point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The name as written.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// Invocations in a workgroup; zero outside compute.
    pub workgroup_size: [u32; 3],
    /// Bindings it uses, directly or through functions, by group and binding.
    pub bindings: Vec<Binding>,
    /// Vertex inputs by location; empty for other stages.
    pub inputs: Vec<Io>,
    /// Fragment color outputs by location; empty for other stages.
    pub outputs: Vec<Io>,
    /// Bytes of the immediate variable if the entry point uses it, else zero.
    pub immediate_size: u32,
    /// Whether a fragment entry point writes depth.
    pub writes_depth: bool,
}

/// One resource as an entry point uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The `@group`.
    pub group: u32,
    /// The `@binding`.
    pub binding: u32,
    /// The variable's name.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: BindingKind,
    /// Elements of a binding array; zero for a single resource.
    pub count: u32,
}

/// The kind of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BindingKind {
    /// A uniform buffer.
    Uniform {
        /// Bytes that a bound range must have.
        min_size: u64,
    },
    /// A storage buffer.
    Storage {
        /// Declared `read`; otherwise `read_write`.
        read_only: bool,
        /// Bytes that a bound range must have; one element of a runtime-sized array counts.
        min_size: u64,
    },
    /// A sampler.
    Sampler {
        /// How it is used.
        sampler: SamplerKind,
    },
    /// A texture that is sampled or loaded.
    Texture {
        /// What it yields.
        sample: SampleKind,
        /// The shape of the view.
        view: ViewKind,
        /// Whether it has several samples in each texel.
        multisampled: bool,
    },
    /// A storage texture.
    StorageTexture {
        /// Declared access.
        access: StorageAccess,
        /// The texel format by its WebGPU name in Rust spelling, such as `Rgba8Unorm`.
        format: &'static str,
        /// The shape of the view.
        view: ViewKind,
    },
}

/// How a sampler is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SamplerKind {
    Filtering,
    NonFiltering,
    Comparison,
}

/// What a texture yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SampleKind {
    Float,
    UnfilterableFloat,
    Depth,
    Sint,
    Uint,
}

/// The shape of a texture view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ViewKind {
    D1,
    D2,
    D2Array,
    Cube,
    CubeArray,
    D3,
}

/// Declared access to a storage texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum StorageAccess {
    ReadOnly,
    WriteOnly,
    ReadWrite,
    Atomic,
}

/// A user-defined input or output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Io {
    /// The `@location`.
    pub location: u32,
    /// The field's or argument's name.
    pub name: String,
    /// A vertex format of the same scalar kind and component count, such as `Float32x3`.
    pub format: &'static str,
    /// Bytes of that format.
    #[serde(skip)]
    pub size: u32,
}
