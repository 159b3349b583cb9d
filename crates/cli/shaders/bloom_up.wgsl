// Bloom, upwards: a 3x3 tent filter of the smaller mip, added to the larger one (blend: one, one).
//
// Bindings: group 0: 0 source mip, 1 sampler. Draw 3 vertices.
#import "post.wgsl"

@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var source_sampler: sampler;

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> ScreenVarying {
    return screen_vertex(index);
}

@fragment
fn fs_main(in: ScreenVarying) -> @location(0) vec4<f32> {
    let texel = 1.0 / vec2<f32>(textureDimensions(source));
    var sum = vec3<f32>(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y)));
            let at = in.uv + vec2<f32>(f32(x), f32(y)) * texel;
            sum += weight * textureSampleLevel(source, source_sampler, at, 0.0).rgb;
        }
    }
    return vec4<f32>(sum / 16.0, 0.0);
}
