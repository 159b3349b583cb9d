// The work of wgpu's own `renderpass` benchmark: seven textures, two vertex buffers and an index buffer a draw.
// Blending adds whole numbers in half floats, which are exact up to 2,048: the result counts draws.

@group(0) @binding(0) var image0: texture_2d<f32>;
@group(0) @binding(1) var image1: texture_2d<f32>;
@group(0) @binding(2) var image2: texture_2d<f32>;
@group(0) @binding(3) var image3: texture_2d<f32>;
@group(0) @binding(4) var image4: texture_2d<f32>;
@group(0) @binding(5) var image5: texture_2d<f32>;
@group(0) @binding(6) var image6: texture_2d<f32>;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) factor: vec4<f32>,
}

@vertex
fn vertex(@location(0) position: vec4<f32>, @location(1) factor: vec4<f32>) -> Varying {
    var out: Varying;
    out.position = position;
    out.factor = factor;
    return out;
}

@fragment
fn fragment(in: Varying) -> @location(0) vec4<f32> {
    let texel = vec2<i32>(0, 0);
    let sum = textureLoad(image0, texel, 0) + textureLoad(image1, texel, 0) + textureLoad(image2, texel, 0)
        + textureLoad(image3, texel, 0) + textureLoad(image4, texel, 0) + textureLoad(image5, texel, 0)
        + textureLoad(image6, texel, 0);
    return sum * in.factor;
}
