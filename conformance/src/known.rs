//! Failures that are written down: of drivers and of libraries below the line, never our own.

/// A fixture that fails somewhere for a reason that is not ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The fixture's topic and name.
    pub fixture: &'static str,
    /// The backends, as `AdapterInfo::backend` has them; none for every backend.
    pub backends: &'static [&'static str],
    /// A part of the adapter's name; empty for every adapter.
    pub adapter: &'static str,
    /// Why, with the upstream issue where there is one.
    pub reason: &'static str,
}

const WGPU: &[&str] = &["wgpu-vulkan", "wgpu-metal", "wgpu-dx12", "wgpu-gl", "webgl"];
const OPENGL: &[&str] = &["wgpu-gl", "webgl"];

const NO_DEPTH_LOAD: &str = "naga writes no GLSL for textureLoad of a depth texture (gfx-rs/wgpu#4524)";

/// One that passes after all fails its test, so that the list stays true.
const KNOWN: &[Known] = &[
    Known {
        fixture: "vertex_formats::the_lowest_normalized_number_is_minus_one",
        backends: &[],
        adapter: "llvmpipe",
        reason: "vertex fetch divides -128 by 127 and does not clamp to -1, as VK_FORMAT_R8_SNORM demands",
    },
    Known {
        fixture: "samplers::anisotropy",
        backends: &["wgpu-gl"],
        adapter: "llvmpipe",
        reason: "llvmpipe's OpenGL takes a coarser level of a stretched footprint with anisotropy than without",
    },
    Known {
        fixture: "attachments::c063_depth_is_sampled_while_stencil_is_written",
        backends: WGPU,
        adapter: "",
        reason: "wgpu follows a texture's uses by mip and layer and not by aspect, so it takes the sampled depth and the \
                 written stencil for a conflict, which WebGPU does not (gfx-rs/wgpu#8705, mended after 30.0)",
    },
    Known {
        fixture: "attachments::c063_read_only_depth_is_sampled",
        backends: OPENGL,
        adapter: "",
        reason: NO_DEPTH_LOAD,
    },
    Known {
        fixture: "attachments::c090_depth_written_after_it_was_sampled",
        backends: OPENGL,
        adapter: "",
        reason: NO_DEPTH_LOAD,
    },
    Known {
        fixture: "formats::depth_and_stencil_attachments",
        backends: OPENGL,
        adapter: "",
        reason: NO_DEPTH_LOAD,
    },
];

/// What is known of a fixture on an adapter.
pub(crate) fn known(fixture: &str, adapter: &purlin_rhi::AdapterInfo) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        known.fixture == fixture
            && (known.backends.is_empty() || known.backends.contains(&adapter.backend))
            && adapter.name.contains(known.adapter)
    })
}
