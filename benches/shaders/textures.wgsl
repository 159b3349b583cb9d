// Shows what a group of textures holds: each dispatch adds up its texels, at the place that their alpha names.

@group(0) @binding(0) var texture0: texture_2d<f32>;
@group(0) @binding(1) var texture1: texture_2d<f32>;
@group(0) @binding(2) var texture2: texture_2d<f32>;
@group(0) @binding(3) var texture3: texture_2d<f32>;
@group(0) @binding(4) var texture4: texture_2d<f32>;
@group(1) @binding(0) var<storage, read_write> out: array<vec4<u32>>;

fn bytes(texel: vec4<f32>) -> vec4<u32> {
    return vec4<u32>(round(texel * 255.0));
}

@compute @workgroup_size(1)
fn show() {
    let at = vec2<i32>(0, 0);
    let first = bytes(textureLoad(texture0, at, 0));
    out[first.w] = first
        + bytes(textureLoad(texture1, at, 0))
        + bytes(textureLoad(texture2, at, 0))
        + bytes(textureLoad(texture3, at, 0))
        + bytes(textureLoad(texture4, at, 0));
}
