// Samples at places that a buffer lists.

struct Probe {
    place: vec3<f32>,
    // The level of detail, or the reference of a comparison.
    level: f32,
}

@group(0) @binding(0) var<storage, read_write> answer: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> probes: array<Probe>;
@group(0) @binding(2) var samples: sampler;
@group(0) @binding(2) var compares: sampler_comparison;
@group(0) @binding(3) var flat: texture_2d<f32>;
@group(0) @binding(3) var layered: texture_2d_array<f32>;
@group(0) @binding(3) var cube: texture_cube<f32>;
@group(0) @binding(3) var volume: texture_3d<f32>;
@group(0) @binding(3) var depth: texture_depth_2d;

@compute @workgroup_size(1)
fn sample_flat(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    answer[id.x] = textureSampleLevel(flat, samples, probe.place.xy, probe.level);
}

// As if the texture were seen so flatly that a pixel spans `level` of its width and a quarter of that of its height.
@compute @workgroup_size(1)
fn sample_stretched(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    let across = vec2<f32>(probe.level, 0.0);
    let along = vec2<f32>(0.0, probe.level * 0.25);
    answer[id.x] = textureSampleGrad(flat, samples, probe.place.xy, across, along);
}

@compute @workgroup_size(1)
fn sample_layered(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    answer[id.x] = textureSampleLevel(layered, samples, probe.place.xy, i32(probe.place.z), probe.level);
}

@compute @workgroup_size(1)
fn sample_cube(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    answer[id.x] = textureSampleLevel(cube, samples, probe.place, probe.level);
}

@compute @workgroup_size(1)
fn sample_volume(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    answer[id.x] = textureSampleLevel(volume, samples, probe.place, probe.level);
}

@compute @workgroup_size(1)
fn sample_compared(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    let lit = textureSampleCompareLevel(depth, compares, probe.place.xy, probe.level);
    answer[id.x] = vec4<f32>(lit, 0.0, 0.0, 1.0);
}

// A whole texture over the target, its first row on top.
struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

@vertex
fn cover(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

@fragment
fn textured(corner: Corner) -> @location(0) vec4<f32> {
    return textureSample(flat, samples, corner.uv);
}
