// The work of wgpu's own `computepass` benchmark: two sampled textures, two storage textures and two storage buffers a
// dispatch. Running it again changes nothing, so results do not depend on how many frames came before.

@group(0) @binding(0) var sampled0: texture_2d<f32>;
@group(0) @binding(1) var sampled1: texture_2d<f32>;
@group(0) @binding(2) var stored0: texture_storage_2d<r32float, read_write>;
@group(0) @binding(3) var stored1: texture_storage_2d<r32float, read_write>;
@group(0) @binding(4) var<storage, read_write> buffer0: array<f32>;
@group(0) @binding(5) var<storage, read_write> buffer1: array<f32>;

@compute @workgroup_size(1)
fn main() {
    let texel = vec2<i32>(0, 0);
    let a = round(textureLoad(sampled0, texel, 0).x * 255.0);
    let b = round(textureLoad(sampled1, texel, 0).x * 255.0);
    let before0 = textureLoad(stored0, texel).x;
    let before1 = textureLoad(stored1, texel).x;
    textureStore(stored0, texel, vec4<f32>(max(before0, a), 0.0, 0.0, 0.0));
    textureStore(stored1, texel, vec4<f32>(max(before1, b), 0.0, 0.0, 0.0));
    buffer0[0] = max(buffer0[0], a + b);
    buffer1[0] = max(buffer1[0], a * 2.0 + b);
}
