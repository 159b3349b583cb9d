// A small scene, overlays that load and store it, and a composite that samples it.

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) color: vec4<f32>,
}

const SIZE: vec2<f32> = vec2<f32>(96.0, 64.0);

fn corner(index: u32) -> vec2<f32> {
    var corners = array<vec2<f32>, 6>(
        vec2<f32>(0.0, 0.0), vec2<f32>(0.0, 1.0), vec2<f32>(1.0, 0.0),
        vec2<f32>(1.0, 0.0), vec2<f32>(0.0, 1.0), vec2<f32>(1.0, 1.0),
    );
    return corners[index];
}

fn quad(origin: vec2<f32>, size: f32, index: u32, color: vec4<f32>) -> Varying {
    let uv = corner(index);
    let clip = (origin + uv * size) / SIZE * 2.0 - 1.0;
    var out: Varying;
    out.position = vec4<f32>(clip.x, -clip.y, 0.0, 1.0);
    out.uv = uv;
    out.color = color;
    return out;
}

@vertex
fn scene_vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Varying {
    let origin = vec2<f32>(f32(instance % 12u), f32(instance / 12u)) * 8.0;
    return quad(origin, 8.0, index, vec4<f32>(f32(instance) / 255.0, 0.0, 0.0, 0.0));
}

@fragment
fn scene_fragment(in: Varying) -> @location(0) vec4<f32> {
    return in.color + textureSampleLevel(image, image_sampler, in.uv, 0.0);
}

@vertex
fn overlay_vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Varying {
    let origin = vec2<f32>(f32(instance), f32(instance)) * 2.0;
    return quad(origin, 16.0, index, vec4<f32>(0.0, f32(instance + 1u) / 255.0, 0.0, 0.0));
}

@fragment
fn overlay_fragment(in: Varying) -> @location(0) vec4<f32> {
    return in.color;
}

@vertex
fn composite_vertex(@builtin(vertex_index) index: u32) -> Varying {
    var out: Varying;
    out.uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    out.position = vec4<f32>(out.uv.x * 2.0 - 1.0, 1.0 - out.uv.y * 2.0, 0.0, 1.0);
    out.color = vec4<f32>(0.0, 0.0, 1.0 / 255.0, 0.0);
    return out;
}

@fragment
fn composite_fragment(in: Varying) -> @location(0) vec4<f32> {
    return in.color + textureLoad(image, vec2<i32>(in.position.xy), 0);
}
