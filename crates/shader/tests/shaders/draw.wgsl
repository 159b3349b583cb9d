// #include "common.wgsl"

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage> instances: array<Instance>;
@group(2) @binding(0) var albedo: texture_2d<f32>;
@group(2) @binding(1) var linear_sampler: sampler;
@group(2) @binding(2) var shadow_map: texture_depth_2d_array;
@group(2) @binding(3) var shadow_sampler: sampler_comparison;

struct VertexIn {
    @location(2) uv: vec2<f32>,
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(3) joints: vec4<u32>,
}

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

struct Targets {
    @location(0) color: vec4<f32>,
    @location(1) id: u32,
    @builtin(frag_depth) depth: f32,
}

@vertex
fn vs_main(in: VertexIn, @builtin(instance_index) index: u32) -> Varying {
    var out: Varying;
    out.clip = camera.view_projection * instances[index].model * vec4(in.position, 1.0);
    out.uv = in.uv;
    return out;
}

@fragment
fn fs_main(in: Varying) -> Targets {
    var out: Targets;
    let lit = textureSampleCompare(shadow_map, shadow_sampler, in.uv, 0, in.clip.z);
    out.color = textureSample(albedo, linear_sampler, in.uv) * lit * camera.exposure;
    out.id = 7u;
    out.depth = in.clip.z;
    return out;
}
