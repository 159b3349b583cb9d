// The sky: one triangle over the whole picture at the far plane (depth test: less or equal, no depth write).
//
// Bindings: group 0 binding 0. No vertex buffer; draw 3 vertices.
#import "common.wgsl"

struct SkyVarying {
    @builtin(position) clip: vec4<f32>,
    @location(0) ndc: vec2<f32>,
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> SkyVarying {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u)) * 2.0 - 1.0;
    var out: SkyVarying;
    out.clip = vec4<f32>(corner, 1.0, 1.0);
    out.ndc = corner;
    return out;
}

@fragment
fn fs_main(in: SkyVarying) -> @location(0) vec4<f32> {
    let far = frame.inverse_view_projection * vec4<f32>(in.ndc, 1.0, 1.0);
    let direction = normalize(far.xyz / far.w - frame.eye.xyz);
    var color = backdrop(direction);
    let toward = dot(direction, frame.sun_direction.xyz);
    let disc = smoothstep(0.99965, 0.99985, toward);
    color += frame.sun_color.rgb * disc * 12.0;
    return vec4<f32>(color, 1.0);
}
