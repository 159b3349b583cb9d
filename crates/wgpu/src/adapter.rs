//! The catalog: what wgpu says of each adapter, in Purlin's words.

use purlin_rhi::backend::{MAX_GROUPS, MAX_IMMEDIATES, MAX_VERTEX_BUFFERS};
use purlin_rhi::caps::{AdapterInfo, Features, Limits};
use wgpu::{Backend, DownlevelFlags, Features as Native};

/// Color attachments that a pass gathers on the stack.
pub(crate) const MAX_COLORS: usize = 8;

/// What the adapter lies behind, as the catalog calls it.
pub(crate) fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Vulkan => "wgpu-vulkan",
        Backend::Metal => "wgpu-metal",
        Backend::Dx12 => "wgpu-dx12",
        Backend::Gl if cfg!(target_arch = "wasm32") => "webgl",
        Backend::Gl => "wgpu-gl",
        Backend::BrowserWebGpu => "webgpu",
        Backend::Noop => "wgpu-noop",
    }
}

/// What wgpu says that an API below WebGPU's level lacks.
pub(crate) fn downlevel(adapter: Option<&wgpu::Adapter>, backend: Backend) -> DownlevelFlags {
    match (adapter, backend) {
        (Some(adapter), _) => adapter.get_downlevel_capabilities().flags,
        // An adopted device without its adapter: only OpenGL is ever below.
        (None, Backend::Gl) => DownlevelFlags::empty(),
        (None, _) => DownlevelFlags::all(),
    }
}

/// The catalog's entry.
pub(crate) fn describe(
    info: &wgpu::AdapterInfo,
    native: Native,
    limits: &wgpu::Limits,
    downlevel: DownlevelFlags,
) -> AdapterInfo {
    let name = if info.name.is_empty() { format!("{:?} adapter", info.backend) } else { info.name.clone() };
    AdapterInfo {
        backend: backend_name(info.backend),
        name,
        device_type: info.device_type,
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
        api_version: format!("{:?} through wgpu", info.backend),
        vendor: info.vendor,
        device: info.device,
        usable: Ok(()),
        features: features(native, info.backend, downlevel),
        limits: translate(limits, native, info.backend, downlevel),
    }
}

/// Timestamps lie between passes. WebGPU itself has them only as parts of passes, which then carry them.
const TIMESTAMPS: Native = if cfg!(target_arch = "wasm32") {
    Native::TIMESTAMP_QUERY
} else {
    Native::TIMESTAMP_QUERY.union(Native::TIMESTAMP_QUERY_INSIDE_ENCODERS)
};

/// Does this API lack immediates that a uniform buffer can stand for?
pub(crate) fn emulates_immediates(backend: Backend) -> bool {
    backend == Backend::BrowserWebGpu
}

/// Indices that differ between invocations, for textures and samplers (and for storage buffers, unused).
const NON_UNIFORM: Native = Native::TEXTURE_BINDING_ARRAY
    .union(Native::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING);

/// Purlin's features that are nothing but one of wgpu's.
const SAME: &[(Features, Native)] = &[
    (Features::INDIRECT_FIRST_INSTANCE, Native::INDIRECT_FIRST_INSTANCE),
    (Features::TIMESTAMP_QUERY, TIMESTAMPS),
    (Features::PIPELINE_STATISTICS_QUERY, Native::PIPELINE_STATISTICS_QUERY),
    (Features::POLYGON_MODE_LINE, Native::POLYGON_MODE_LINE),
    (Features::DEPTH_CLIP_CONTROL, Native::DEPTH_CLIP_CONTROL),
    (Features::MULTI_DRAW_INDIRECT_COUNT, Native::MULTI_DRAW_INDIRECT_COUNT),
    (Features::BINDING_ARRAYS, Native::TEXTURE_BINDING_ARRAY),
    (Features::NON_UNIFORM_INDEXING, NON_UNIFORM),
    (Features::VERTEX_STORAGE, Native::VERTEX_WRITABLE_STORAGE),
    (Features::TEXTURE_COMPRESSION_BC, Native::TEXTURE_COMPRESSION_BC),
    (Features::TEXTURE_COMPRESSION_ETC2, Native::TEXTURE_COMPRESSION_ETC2),
    (Features::TEXTURE_COMPRESSION_ASTC, Native::TEXTURE_COMPRESSION_ASTC),
    (Features::ADDRESS_MODE_CLAMP_TO_BORDER, Native::ADDRESS_MODE_CLAMP_TO_BORDER),
    (Features::TEXTURE_COMPRESSION_BC_SLICED_3D, Native::TEXTURE_COMPRESSION_BC_SLICED_3D),
    (Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D, Native::TEXTURE_COMPRESSION_ASTC_SLICED_3D),
];

/// wgpu's OpenGL copies no blocks to buffers, and takes rows of blocks from them only without padding, which wgpu itself
/// demands of them. In a browser, uploads of blocks leave zeros in what Chromium's software device samples; until it is
/// known whose fault that is, there are none.
const BLOCKS: Features = Features::TEXTURE_COMPRESSION_BC
    .union(Features::TEXTURE_COMPRESSION_ETC2)
    .union(Features::TEXTURE_COMPRESSION_ASTC)
    .union(Features::TEXTURE_COMPRESSION_BC_SLICED_3D)
    .union(Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D);

fn features(native: Native, backend: Backend, downlevel: DownlevelFlags) -> Features {
    let mut features = Features::empty();
    for (ours, theirs) in SAME {
        features.set(*ours, native.contains(*theirs));
    }
    if matches!(backend, Backend::Gl | Backend::BrowserWebGpu) {
        features -= BLOCKS;
    }
    // The other APIs draw one by one, in wgpu or in the driver.
    let multi = matches!(backend, Backend::Vulkan | Backend::Dx12);
    features
        .set(Features::MULTI_DRAW_INDIRECT, multi && downlevel.contains(DownlevelFlags::INDIRECT_EXECUTION));
    features.set(
        Features::INDIRECT_EXECUTION,
        downlevel.contains(DownlevelFlags::INDIRECT_EXECUTION | DownlevelFlags::COMPUTE_SHADERS),
    );
    features.set(Features::VIEW_FORMATS, downlevel.contains(DownlevelFlags::VIEW_FORMATS));
    // wgpu turns restarting on nowhere in OpenGL; WebGL 2 has it always on.
    features.set(Features::PRIMITIVE_RESTART, backend != Backend::Gl || cfg!(target_arch = "wasm32"));
    features.set(Features::LARGEST_INDEX_IN_LISTS, backend != Backend::Gl || !cfg!(target_arch = "wasm32"));
    // There wgpu's copies read the first slice only.
    features.set(Features::VOLUME_COPIES, backend != Backend::Gl);
    // OpenGL's textures have one target, and wgpu makes cubes of what could be one.
    features.set(Features::CUBE_AS_ARRAY, backend != Backend::Gl);
    // Nor are there views that begin at a layer: a shader would read the first, or nothing.
    features.set(Features::LAYER_VIEWS, backend != Backend::Gl);
    features.set(Features::CUBE_ARRAYS, downlevel.contains(DownlevelFlags::CUBE_ARRAY_TEXTURES));
    // WebGL 2 has no such textures, and elsewhere wgpu gives them the wrong target (gfx-rs/wgpu#6084); there are
    // renderbuffers of several samples only.
    features.set(Features::MULTISAMPLED_TEXTURES, backend != Backend::Gl);
    // wgpu sets no mask there.
    features.set(Features::SAMPLE_MASKS, backend != Backend::Gl);
    features
        .set(Features::MIXED_INDEX_BUFFERS, downlevel.contains(DownlevelFlags::UNRESTRICTED_INDEX_BUFFER));
    features.set(Features::ANISOTROPY, downlevel.contains(DownlevelFlags::ANISOTROPIC_FILTERING));
    features.set(Features::INDEPENDENT_BLEND, downlevel.contains(DownlevelFlags::INDEPENDENT_BLEND));
    features
}

/// The native features that stand for these.
pub(crate) fn to_native(features: Features) -> Native {
    let chosen = SAME.iter().filter(|(ours, _)| features.contains(*ours));
    chosen.fold(Native::empty(), |all, (_, theirs)| all | *theirs)
}

/// The adapter's limits, cut to what the recorder's arrays hold.
fn translate(native: &wgpu::Limits, features: Native, backend: Backend, downlevel: DownlevelFlags) -> Limits {
    let immediates = match features.contains(Native::IMMEDIATES) {
        true => native.max_immediate_size,
        false if emulates_immediates(backend) => MAX_IMMEDIATES as u32,
        false => 0,
    };
    let compute = downlevel.contains(DownlevelFlags::COMPUTE_SHADERS);
    let of_compute = |value: u32| if compute { value } else { 0 };
    let least = Limits::default();
    Limits {
        max_texture_dimension_2d: native.max_texture_dimension_2d,
        max_texture_dimension_3d: native.max_texture_dimension_3d,
        max_texture_array_layers: native.max_texture_array_layers,
        max_bind_groups: native.max_bind_groups.min(MAX_GROUPS as u32),
        max_bindings_per_group: native.max_bindings_per_bind_group.min(least.max_bindings_per_group),
        // Together no more than `MAX_DYNAMIC_OFFSETS`, for all of them may be in one group.
        max_dynamic_uniform_buffers: native
            .max_dynamic_uniform_buffers_per_pipeline_layout
            .min(least.max_dynamic_uniform_buffers),
        max_dynamic_storage_buffers: native
            .max_dynamic_storage_buffers_per_pipeline_layout
            .min(least.max_dynamic_storage_buffers),
        max_sampled_textures_per_stage: native.max_sampled_textures_per_shader_stage,
        max_samplers_per_stage: native.max_samplers_per_shader_stage,
        max_storage_buffers_per_stage: native.max_storage_buffers_per_shader_stage,
        max_storage_textures_per_stage: native.max_storage_textures_per_shader_stage,
        max_uniform_buffers_per_stage: native.max_uniform_buffers_per_shader_stage,
        max_uniform_binding_size: native.max_uniform_buffer_binding_size,
        max_storage_binding_size: native.max_storage_buffer_binding_size & !3,
        max_buffer_size: native.max_buffer_size & !3,
        min_uniform_offset_alignment: native.min_uniform_buffer_offset_alignment.max(4),
        min_storage_offset_alignment: native.min_storage_buffer_offset_alignment.max(4),
        max_vertex_buffers: native.max_vertex_buffers.min(MAX_VERTEX_BUFFERS as u32),
        max_vertex_attributes: native.max_vertex_attributes,
        max_vertex_stride: native.max_vertex_buffer_array_stride,
        max_color_attachments: native.max_color_attachments.min(MAX_COLORS as u32),
        max_workgroup_invocations: of_compute(native.max_compute_invocations_per_workgroup),
        max_workgroup_size_x: of_compute(native.max_compute_workgroup_size_x),
        max_workgroup_size_y: of_compute(native.max_compute_workgroup_size_y),
        max_workgroup_size_z: of_compute(native.max_compute_workgroup_size_z),
        max_workgroups_per_dimension: of_compute(native.max_compute_workgroups_per_dimension),
        max_immediate_size: immediates.min(MAX_IMMEDIATES as u32),
        max_anisotropy: if downlevel.contains(DownlevelFlags::ANISOTROPIC_FILTERING) { 16 } else { 1 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_go_both_ways() {
        for (feature, native) in SAME {
            assert_eq!(to_native(*feature), *native);
            let gl = features(*native, Backend::Gl, DownlevelFlags::empty());
            // One of wgpu's may stand for several, of which some need others.
            let stand = SAME.iter().filter(|(_, theirs)| native.contains(*theirs)).map(|(ours, _)| *ours);
            let ours: Features = stand.collect();
            assert!(ours.contains(*feature));
            assert_eq!(gl, (ours - BLOCKS) | Features::LARGEST_INDEX_IN_LISTS);
            let all = features(*native, Backend::Vulkan, DownlevelFlags::all());
            assert!(all.contains(*feature | Features::CORE));
        }
    }

    #[test]
    fn what_wgpu_lacks_is_no_limit_of_ours() {
        let none =
            translate(&wgpu::Limits::defaults(), Native::empty(), Backend::Gl, DownlevelFlags::empty());
        assert_eq!((none.max_immediate_size, none.max_workgroup_size_x, none.max_anisotropy), (0, 0, 1));
        let all = translate(&wgpu::Limits::defaults(), Native::all(), Backend::Vulkan, DownlevelFlags::all());
        let web = translate(
            &wgpu::Limits::defaults(),
            Native::empty(),
            Backend::BrowserWebGpu,
            DownlevelFlags::all(),
        );
        assert_eq!(web.max_immediate_size as usize, MAX_IMMEDIATES);
        assert_eq!(Limits { max_immediate_size: 0, max_anisotropy: 1, ..all }, Limits::default());
    }
}
