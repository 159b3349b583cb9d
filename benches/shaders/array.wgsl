enable wgpu_binding_array;

// Shows what an array of textures holds: each dispatch adds up its texels, at the place that the first one's alpha names.

@group(0) @binding(0) var textures: binding_array<texture_2d<f32>, LENGTH>;
@group(1) @binding(0) var<storage, read_write> out: array<vec4<u32>>;

fn bytes(index: u32) -> vec4<u32> {
    return vec4<u32>(round(textureLoad(textures[index], vec2<i32>(0, 0), 0) * 255.0));
}

@compute @workgroup_size(1)
fn show() {
    var sum = vec4<u32>();
    for (var index = 0u; index < LENGTHu; index++) {
        sum += bytes(index);
    }
    out[bytes(0u).w] = sum;
}
