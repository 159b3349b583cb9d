enable wgpu_binding_array;

// The bindless form of `renderpass`: one table of all textures, of which each draw takes its seven by its instance.

@group(0) @binding(0) var images: binding_array<texture_2d<f32>, LENGTH>;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) factor: vec4<f32>,
    @location(1) @interpolate(flat) draw: u32,
}

@vertex
fn vertex(
    @location(0) position: vec4<f32>,
    @location(1) factor: vec4<f32>,
    @builtin(instance_index) draw: u32,
) -> Varying {
    return Varying(position, factor, draw);
}

@fragment
fn fragment(in: Varying) -> @location(0) vec4<f32> {
    let texel = vec2<i32>(0, 0);
    let first = in.draw * 7u;
    let sum = textureLoad(images[first], texel, 0) + textureLoad(images[first + 1u], texel, 0)
        + textureLoad(images[first + 2u], texel, 0) + textureLoad(images[first + 3u], texel, 0)
        + textureLoad(images[first + 4u], texel, 0) + textureLoad(images[first + 5u], texel, 0)
        + textureLoad(images[first + 6u], texel, 0);
    return sum * in.factor;
}
