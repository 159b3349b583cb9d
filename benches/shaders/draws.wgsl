// Many small triangles. Colors are sums of whole 255ths, so that no driver's rounding can tell the contenders apart.

struct Draw {
    /// Left and top in pixels, size in pixels, steps from one instance to the next in a row.
    place: vec4<f32>,
    color: vec4<f32>,
    /// Width and height of the target; instances in a row.
    target_size: vec4<f32>,
    spare: vec4<f32>,
}

struct Material {
    tint: vec4<f32>,
}

@group(0) @binding(0) var<uniform> draw: Draw;
@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var image: texture_2d<f32>;
@group(1) @binding(2) var image_sampler: sampler;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Varying {
    var corners = array<vec2<f32>, 3>(vec2<f32>(0.0, 0.0), vec2<f32>(0.0, 1.0), vec2<f32>(1.0, 0.0));
    let row = u32(draw.target_size.z);
    let cell = vec2<f32>(f32(instance % row), f32(instance / row)) * draw.place.w;
    let pixel = draw.place.xy + cell + corners[index] * draw.place.z;
    let clip = pixel / draw.target_size.xy * 2.0 - 1.0;
    var out: Varying;
    out.position = vec4<f32>(clip.x, -clip.y, 0.0, 1.0);
    out.color = draw.color + material.tint;
    return out;
}

@fragment
fn fragment(in: Varying) -> @location(0) vec4<f32> {
    return in.color + textureSampleLevel(image, image_sampler, vec2<f32>(0.5, 0.5), 0.0);
}
