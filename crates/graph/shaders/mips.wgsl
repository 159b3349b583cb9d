// One mip from the next finer one: each texel is the mean of what it covers, which on an odd side is three texels, two of
// them in part.

@group(0) @binding(0) var finer: texture_2d<f32>;

@vertex
fn fullscreen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0);
}

// How much each of three texels from twice `at` on counts, on a side of so many texels.
fn weights(at: u32, side: u32) -> vec3<f32> {
    if side == 1u {
        return vec3<f32>(1.0, 0.0, 0.0);
    }
    if side % 2u == 0u {
        return vec3<f32>(0.5, 0.5, 0.0);
    }
    let half = f32(side / 2u);
    return vec3<f32>(half - f32(at), half, f32(at) + 1.0) / f32(side);
}

@fragment
fn mean(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let size = textureDimensions(finer);
    let at = vec2<u32>(position.xy);
    let x = weights(at.x, size.x);
    let y = weights(at.y, size.y);
    let first = at * 2u;
    let last = size - 1u;
    var sum = vec4<f32>();
    for (var row = 0u; row < 3u; row++) {
        for (var column = 0u; column < 3u; column++) {
            // A texel that does not count may be outside, and what is there may be no number.
            let weight = x[column] * y[row];
            if weight > 0.0 {
                sum += weight * textureLoad(finer, min(first + vec2<u32>(column, row), last), 0);
            }
        }
    }
    return sum;
}
