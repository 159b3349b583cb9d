// Text and rectangles over the finished picture, which is already sRGB-encoded (blend: alpha).
//
// Bindings: group 0: 0 OverlayUniforms, 1 font atlas (r8unorm), 2 sampler (nearest).
// One instance per quad with step mode instance: 0 position, 1 size, 2 uv, 3 color. Draw 6 vertices.

struct OverlayUniforms {
    // width, height, one over width, one over height
    viewport: vec4<f32>,
}

@group(0) @binding(0) var<uniform> overlay: OverlayUniforms;
@group(0) @binding(1) var atlas: texture_2d<f32>;
@group(0) @binding(2) var atlas_sampler: sampler;

struct OverlayVarying {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) color: vec4<f32>,
}

@vertex
fn vs_main(
    // In pixels from the top left, y down.
    @location(0) position: vec2<f32>,
    @location(1) size: vec2<f32>,
    // left, top, right, bottom
    @location(2) uv: vec4<f32>,
    @location(3) color: vec4<f32>,
    @builtin(vertex_index) index: u32,
) -> OverlayVarying {
    // Two triangles, counter-clockwise in clip space: 0 1 2, 2 1 3 with corners top left, bottom left, top
    // right, bottom right.
    var corners = array<u32, 6>(0u, 1u, 2u, 2u, 1u, 3u);
    let id = corners[min(index, 5u)];
    let corner = vec2<f32>(f32(id >> 1u), f32(id & 1u));
    let pixel = position + size * corner;
    var out: OverlayVarying;
    out.clip = vec4<f32>(pixel * overlay.viewport.zw * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0), 0.0, 1.0);
    out.uv = mix(uv.xy, uv.zw, corner);
    out.color = color;
    return out;
}

@fragment
fn fs_main(in: OverlayVarying) -> @location(0) vec4<f32> {
    let coverage = textureSampleLevel(atlas, atlas_sampler, in.uv, 0.0).r;
    return vec4<f32>(in.color.rgb, in.color.a * coverage);
}
