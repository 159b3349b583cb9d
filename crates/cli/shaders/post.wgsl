// Shared by the passes over the whole picture.
//
// Bindings: group 0: 0 source (one mip), 1 sampler (linear, clamped), 2 PostUniforms, 3 bloom (tone mapping
// only).

struct PostUniforms {
    // exposure, bloom threshold, soft knee, bloom intensity
    params: vec4<f32>,
}

struct ScreenVarying {
    @builtin(position) clip: vec4<f32>,
    // Row 0 of a texture is at the top.
    @location(0) uv: vec2<f32>,
}

fn screen_vertex(index: u32) -> ScreenVarying {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    var out: ScreenVarying;
    out.clip = vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0);
    out.uv = vec2<f32>(corner.x, 1.0 - corner.y);
    return out;
}

fn luminance(color: vec3<f32>) -> f32 {
    return dot(color, vec3<f32>(0.2126, 0.7152, 0.0722));
}
