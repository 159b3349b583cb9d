//! What a package is compiled to, and what each target cannot express.
//!
//! A target refuses a module before it writes anything: first by its set of capabilities, with the validator's own
//! position and reason, then by its writer.

use std::fmt;
use std::str::FromStr;

use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo};

use crate::error::{Diagnostic, Error};
use crate::reflect::has_builtin;

/// A form of code that a package declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Target {
    /// SPIR-V 1.3 for Vulkan.
    SpirV,
    /// WGSL with imports resolved, as WebGPU accepts it.
    Wgsl,
    /// The same with what `wgpu` adds on native devices: binding arrays. No browser accepts it.
    WgslNative,
}

impl Target {
    /// Every target of this compiler.
    pub const ALL: &'static [Self] = &[Self::SpirV, Self::Wgsl, Self::WgslNative];

    /// What a package is compiled to unless it says otherwise: what runs everywhere.
    pub const PORTABLE: &'static [Self] = &[Self::SpirV, Self::Wgsl];

    /// The name in manifests and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SpirV => "spirv",
            Self::Wgsl => "wgsl",
            Self::WgslNative => "wgsl-native",
        }
    }

    /// Whether its code is text for `wgpu`.
    pub(crate) fn is_wgsl(self) -> bool {
        matches!(self, Self::Wgsl | Self::WgslNative)
    }

    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::SpirV => "spv",
            Self::Wgsl | Self::WgslNative => "wgsl",
        }
    }

    /// What the target's language can say at all; whether a device can run it is the device's question.
    pub(crate) fn capabilities(self) -> Capabilities {
        match self {
            Self::SpirV => spv::supported_capabilities(),
            Self::WgslNative => {
                Self::Wgsl.capabilities()
                    | Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY
                    | Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY_NON_UNIFORM_INDEXING
            }
            // WebGPU's language with its `enable` extensions, plus immediates (its proposed address space, which
            // wgpu implements). Binding arrays, 64-bit types and ray queries are native only.
            Self::Wgsl => {
                Capabilities::IMMEDIATES
                    | Capabilities::MULTISAMPLED_SHADING
                    | Capabilities::CUBE_ARRAY_TEXTURES
                    | Capabilities::CLIP_DISTANCES
                    | Capabilities::DUAL_SOURCE_BLENDING
                    | Capabilities::SUBGROUP
                    | Capabilities::SHADER_FLOAT16
                    | Capabilities::SHADER_FLOAT16_IN_FLOAT32
                    | Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS
                    | Capabilities::PRIMITIVE_INDEX
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .iter()
            .copied()
            .find(|target| target.name() == name)
            .ok_or_else(|| Error::UnknownTarget { name: name.to_owned() })
    }
}

/// What compiled code does with an index that is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoundsChecks {
    /// Indices into buffers, arrays, vectors and matrices are clamped to the last element; texel loads outside the
    /// image give zero. Never reads or writes a neighbour's memory, on any driver, without robustness features.
    #[default]
    Restrict,
    /// No checks. Only for code whose indices are proven, or for devices with robust access turned on.
    Unchecked,
}

impl BoundsChecks {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Restrict => "restrict",
            Self::Unchecked => "unchecked",
        }
    }

    fn policies(self) -> BoundsCheckPolicies {
        let (data, image) = match self {
            Self::Restrict => (BoundsCheckPolicy::Restrict, BoundsCheckPolicy::ReadZeroSkipWrite),
            Self::Unchecked => (BoundsCheckPolicy::Unchecked, BoundsCheckPolicy::Unchecked),
        };
        BoundsCheckPolicies {
            index: data,
            buffer: data,
            image_load: image,
            // Groups fill every element that a layout has, and layouts have as many as the shader declares.
            binding_array: data,
        }
    }
}

/// The first entry point that reads or writes a sample mask, which naga declares as a number where SPIR-V for Vulkan has an
/// array (VUID-SampleMask-SampleMask-04359): drivers may read beyond it.
fn sample_mask(module: &naga::Module) -> Option<&str> {
    let masks =
        |ty, binding: Option<&naga::Binding>| has_builtin(module, ty, binding, naga::BuiltIn::SampleMask);
    let uses = |point: &&naga::EntryPoint| {
        let function = &point.function;
        function.result.iter().any(|result| masks(result.ty, result.binding.as_ref()))
            || function.arguments.iter().any(|argument| masks(argument.ty, argument.binding.as_ref()))
    };
    module.entry_points.iter().find(uses).map(|point| point.name.as_str())
}

/// Writes SPIR-V for all entry points of a module without overrides.
pub(crate) fn spirv(
    module: &naga::Module,
    info: &ModuleInfo,
    checks: BoundsChecks,
) -> Result<Vec<u32>, Error> {
    if let Some(entry) = sample_mask(module) {
        let message =
            format!("entry point `{entry}` has a `@builtin(sample_mask)`, which cannot be written yet");
        let hint = "a pipeline's `MultisampleDesc::mask` covers the same samples of every fragment";
        let diagnostic = Box::new(Diagnostic::new(message, None).with_hint(hint));
        return Err(Error::Target { target: Target::SpirV, diagnostic });
    }
    let options = spv::Options {
        lang_version: (1, 3),
        // No ADJUST_COORDINATE_SPACE: the backend's viewport has the negative height. Points have the size that the
        // vertex shader writes, and none where it writes none; WGSL's are one pixel. Other topologies ignore it.
        flags: spv::WriterFlags::DEBUG
            | spv::WriterFlags::LABEL_VARYINGS
            | spv::WriterFlags::CLAMP_FRAG_DEPTH
            | spv::WriterFlags::FORCE_POINT_SIZE,
        // With no binding map, naga takes "fake" to mean: group and binding exactly as written.
        fake_missing_bindings: true,
        bounds_check_policies: checks.policies(),
        // The polyfill needs no device feature, unlike `VK_KHR_zero_initialize_workgroup_memory`.
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Polyfill,
        force_loop_bounding: false,
        // Half-precision varyings travel as 32-bit floats, so that `storageInputOutput16` is not required.
        use_storage_input_output_16: false,
        ..spv::Options::default()
    };
    spv::write_vec(module, info, &options, None).map_err(|error| Error::Target {
        target: Target::SpirV,
        diagnostic: Box::new(Diagnostic::new(error.to_string(), None)),
    })
}
