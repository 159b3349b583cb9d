// A fullscreen gradient: the smallest pass that reads a uniform.

struct Gradient {
    top: vec4<f32>,
    bottom: vec4<f32>,
}

@group(0) @binding(0) var<uniform> gradient: Gradient;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    var corner: Corner;
    corner.position = vec4<f32>(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0);
    corner.uv = uv;
    return corner;
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    return mix(gradient.top, gradient.bottom, corner.uv.y);
}
