// A picture in which every pixel's place can be told: a frame one pixel wide, four quadrants, and a square in the
// middle. All channels are 0 or 1, so that it looks the same in every format.

struct Pattern {
    size: vec2<u32>,
    tint: u32,
    work: u32,
}

@group(0) @binding(0) var<uniform> pattern: Pattern;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4<f32>(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<u32>(position.xy);
    var bits = select(select(6u, 4u, at.y * 2u < pattern.size.y), select(1u, 2u, at.y * 2u < pattern.size.y), at.x * 2u < pattern.size.x);
    let middle = all(at * 3u >= pattern.size) && all(at * 3u < pattern.size * 2u);
    if middle {
        bits = pattern.tint;
    }
    if any(at == vec2<u32>(0u)) || any(at + vec2<u32>(1u) == pattern.size) {
        bits = 7u;
    }
    // Work for the GPU, whose result never shows.
    var busy = f32(bits);
    for (var i = 0u; i < pattern.work; i++) {
        busy = fract(busy * 1.37 + f32(i)) + 1.0;
    }
    if busy < 0.5 {
        bits = 0u;
    }
    return vec4<f32>(vec3<f32>(vec3<u32>(bits & 1u, (bits >> 1u) & 1u, (bits >> 2u) & 1u)), 1.0);
}
