//! Compiles the fixtures' shaders, and writes those that differ only in a storage format.

/// WGSL's storage formats, with the scalar type that `textureStore` takes.
const STORAGE_FORMATS: &[(&str, &str)] = &[
    ("r8unorm", "f32"),
    ("r8snorm", "f32"),
    ("r8uint", "u32"),
    ("r8sint", "i32"),
    ("r16unorm", "f32"),
    ("r16snorm", "f32"),
    ("r16uint", "u32"),
    ("r16sint", "i32"),
    ("r16float", "f32"),
    ("rg8unorm", "f32"),
    ("rg8snorm", "f32"),
    ("rg8uint", "u32"),
    ("rg8sint", "i32"),
    ("rg16unorm", "f32"),
    ("rg16snorm", "f32"),
    ("rg16uint", "u32"),
    ("rg16sint", "i32"),
    ("rg16float", "f32"),
    ("r32uint", "u32"),
    ("r32sint", "i32"),
    ("r32float", "f32"),
    ("rgba8unorm", "f32"),
    ("rgba8snorm", "f32"),
    ("rgba8uint", "u32"),
    ("rgba8sint", "i32"),
    ("bgra8unorm", "f32"),
    ("rgb10a2uint", "u32"),
    ("rgb10a2unorm", "f32"),
    ("rg11b10ufloat", "f32"),
    ("rg32uint", "u32"),
    ("rg32sint", "i32"),
    ("rg32float", "f32"),
    ("rgba16unorm", "f32"),
    ("rgba16snorm", "f32"),
    ("rgba16uint", "u32"),
    ("rgba16sint", "i32"),
    ("rgba16float", "f32"),
    ("rgba32uint", "u32"),
    ("rgba32sint", "i32"),
    ("rgba32float", "f32"),
];

const SOURCES: &[&str] = &[
    "attachments",
    "bindings",
    "canary",
    "compute",
    "cube_arrays",
    "grid",
    "large",
    "layouts",
    "multisample",
    "paint",
    "sampling",
    "texels",
    "vertex_formats",
];

fn main() {
    let mut package = purlin_shader::Package::new("shaders").include_dir("shaders");
    for source in SOURCES {
        package = package.source(format!("shaders/{source}.wgsl"));
    }
    for (format, scalar) in STORAGE_FORMATS {
        package = package.text(format!("storage_{format}.wgsl"), storage(format, scalar));
        package = package.text(format!("storage_read_{format}.wgsl"), storage_read(format, scalar));
    }
    purlin_shader::build(package);
    // WebGPU has no arrays of bindings.
    purlin_shader::build(
        purlin_shader::Package::new("array_shaders")
            .source("shaders/arrays.wgsl")
            .targets(&[purlin_shader::Target::SpirV, purlin_shader::Target::WgslNative]),
    );
}

/// One thread for each texel, four texels in a row: the value of the same index.
fn storage(format: &str, scalar: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> values: array<vec4<{scalar}>>;
@group(0) @binding(1) var texels: texture_storage_2d<{format}, write>;

@compute @workgroup_size(4)
fn store(@builtin(global_invocation_id) id: vec3<u32>) {{
    textureStore(texels, vec2<u32>(id.x, 0u), values[id.x]);
}}
"
    )
}

/// Four texels in a row: loaded into values of the same index, and with their channels changed about in place.
fn storage_read(format: &str, scalar: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> values: array<vec4<{scalar}>>;
@group(0) @binding(1) var texels: texture_storage_2d<{format}, read>;
@group(0) @binding(0) var swapped: texture_storage_2d<{format}, read_write>;

@compute @workgroup_size(4)
fn load(@builtin(global_invocation_id) id: vec3<u32>) {{
    values[id.x] = textureLoad(texels, vec2<u32>(id.x, 0u));
}}

@compute @workgroup_size(4)
fn swap(@builtin(global_invocation_id) id: vec3<u32>) {{
    let place = vec2<u32>(id.x, 0u);
    textureStore(swapped, place, textureLoad(swapped, place).yxwz);
}}
"
    )
}
