// Samples as shaders read and make them.

@group(0) @binding(0) var samples: texture_multisampled_2d<f32>;
@group(0) @binding(0) var depths: texture_depth_multisampled_2d;

@vertex
fn fullscreen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4<f32>(corner * 2.0 - 1.0, 0.5, 1.0);
}

// Four times as high as what it reads: a row for each sample.
@fragment
fn show_samples(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<u32>(position.xy);
    let height = textureDimensions(samples).y;
    return textureLoad(samples, vec2<u32>(at.x, at.y % height), i32(at.y / height));
}

@fragment
fn show_depths(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<u32>(position.xy);
    let height = textureDimensions(depths).y;
    return vec4<f32>(textureLoad(depths, vec2<u32>(at.x, at.y % height), i32(at.y / height)), 0.0, 0.0, 1.0);
}

// Runs for each sample, and colors it by its index.
@fragment
fn by_sample(@builtin(sample_index) index: u32) -> @location(0) vec4<f32> {
    return vec4<f32>(f32(index) / 4.0, 1.0, 0.0, 1.0);
}
