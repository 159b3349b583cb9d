// Texels as shaders read them, row by row, for every kind of texture.

@group(0) @binding(0) var<storage, read_write> floats: array<vec4<f32>>;
@group(0) @binding(0) var<storage, read_write> words: array<vec4<u32>>;
@group(0) @binding(0) var<storage, read_write> integers: array<vec4<i32>>;
@group(0) @binding(1) var float_texels: texture_2d<f32>;
@group(0) @binding(1) var word_texels: texture_2d<u32>;
@group(0) @binding(1) var integer_texels: texture_2d<i32>;
@group(0) @binding(1) var depth_texels: texture_depth_2d;
@group(0) @binding(1) var volume_texels: texture_3d<f32>;
@group(0) @binding(1) var volume_words: texture_3d<u32>;
@group(0) @binding(1) var volume_integers: texture_3d<i32>;
@group(0) @binding(2) var filtered: sampler;

@compute @workgroup_size(1)
fn load_float(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(float_texels);
    floats[id.y * size.x + id.x] = textureLoad(float_texels, id.xy, 0);
}

@compute @workgroup_size(1)
fn load_uint(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(word_texels);
    words[id.y * size.x + id.x] = textureLoad(word_texels, id.xy, 0);
}

@compute @workgroup_size(1)
fn load_sint(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(integer_texels);
    integers[id.y * size.x + id.x] = textureLoad(integer_texels, id.xy, 0);
}

@compute @workgroup_size(1)
fn load_depth(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(depth_texels);
    floats[id.y * size.x + id.x] = vec4<f32>(textureLoad(depth_texels, id.xy, 0), 0.0, 0.0, 1.0);
}

// Halfway between the first two texels.
@compute @workgroup_size(1)
fn filter_float() {
    let size = vec2<f32>(textureDimensions(float_texels));
    floats[0] = textureSampleLevel(float_texels, filtered, vec2<f32>(1.0, 0.5) / size, 0.0);
}

// Halfway between the two texels in the middle of the first row.
@compute @workgroup_size(1)
fn filter_middle() {
    let size = vec2<f32>(textureDimensions(float_texels));
    floats[0] = textureSampleLevel(float_texels, filtered, vec2<f32>(0.5, 0.5 / size.y), 0.0);
}

@compute @workgroup_size(1)
fn load_volume(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(volume_texels);
    floats[(id.z * size.y + id.y) * size.x + id.x] = textureLoad(volume_texels, id, 0);
}

@compute @workgroup_size(1)
fn load_volume_uint(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(volume_words);
    words[(id.z * size.y + id.y) * size.x + id.x] = textureLoad(volume_words, id, 0);
}

@compute @workgroup_size(1)
fn load_volume_sint(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(volume_integers);
    integers[(id.z * size.y + id.y) * size.x + id.x] = textureLoad(volume_integers, id, 0);
}
