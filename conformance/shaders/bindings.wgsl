// Groups, dynamic offsets and immediates.

struct Value {
    value: vec4<f32>,
}

@group(0) @binding(0) var<uniform> first: Value;
@group(1) @binding(0) var<uniform> second: Value;

@vertex
fn fullscreen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0);
}

@fragment
fn two_groups() -> @location(0) vec4<f32> {
    return vec4<f32>(first.value.x, second.value.x, 0.0, 1.0);
}

@fragment
fn second_alone() -> @location(0) vec4<f32> {
    return vec4<f32>(0.0, second.value.x, 1.0, 1.0);
}

@group(0) @binding(0) var<storage, read_write> answer: array<u32>;
@group(0) @binding(1) var<storage, read> slice: array<u32, 4>;
@group(0) @binding(2) var<uniform> scalar: vec4<u32>;

// One dispatch for each offset; each appends.
@compute @workgroup_size(1)
fn append() {
    let at = answer[0];
    answer[1u + at] = slice[0] + slice[3] + scalar.x;
    answer[0] = at + 1u;
}

// A sampled texture and a storage buffer in one group.
@group(0) @binding(1) var source: texture_2d<f32>;

@compute @workgroup_size(1)
fn texel_to_buffer() {
    let texel = textureLoad(source, vec2<u32>(0u, 0u), 0);
    answer[0] = u32(round(texel.r * 255.0)) + 256u * u32(round(texel.g * 255.0));
}

@compute @workgroup_size(1)
fn mark() {
    answer[0] = answer[0] + 1u;
}

struct Immediates {
    color: vec4<f32>,
    word: u32,
}
var<immediate> immediates: Immediates;

@fragment
fn immediate_color() -> @location(0) vec4<f32> {
    return immediates.color;
}

@compute @workgroup_size(1)
fn immediate_words() {
    answer[0] = immediates.word;
    answer[1] = u32(immediates.color.x);
    answer[2] = u32(immediates.color.w);
}
