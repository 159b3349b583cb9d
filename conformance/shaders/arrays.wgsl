enable wgpu_binding_array;

// Arrays of textures and of samplers in one binding.

@group(0) @binding(0) var<storage, read_write> answer: array<vec4<f32>>;
@group(0) @binding(1) var images: binding_array<texture_2d<f32>, 8>;
@group(0) @binding(2) var samplers: binding_array<sampler, 2>;
// Image, sampler, where to sample along x in eighths.
@group(0) @binding(3) var<storage, read> which: vec4<u32>;
// The same for draws, with a dynamic offset. wgpu wants uniform buffers in another group than arrays.
@group(1) @binding(0) var<uniform> chosen: vec4<u32>;

@vertex
fn fullscreen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0);
}

// One index for all fragments of a draw.
@fragment
fn one() -> @location(0) vec4<f32> {
    return textureSampleLevel(images[chosen.x], samplers[0], vec2<f32>(0.5), 0.0);
}

// One index for all invocations.
@compute @workgroup_size(1)
fn choose() {
    let at = vec2<f32>(f32(which.z) / 8.0, 0.5);
    answer[0] = textureSampleLevel(images[which.x], samplers[which.y], at, 0.0);
}

// Another image for each invocation, and another sampler for each half of them.
@compute @workgroup_size(16)
fn each(@builtin(local_invocation_index) index: u32) {
    answer[index] = textureSampleLevel(images[index % 8u], samplers[index / 8u], vec2<f32>(0.5), 0.0);
}
