// An attribute of each scalar kind, written out as the shader sees it. One quad a value, one texel a quad.

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) floats: vec4<f32>,
    @location(1) @interpolate(flat) words: vec4<u32>,
    @location(2) @interpolate(flat) integers: vec4<i32>,
}

const WIDTH: f32 = 8.0;

fn corner_of(vertex: u32, instance: u32) -> vec4<f32> {
    var corners = array<u32, 6>(0u, 1u, 2u, 2u, 1u, 3u);
    let corner = corners[vertex % 6u];
    let x = (f32(instance) + f32(corner & 1u)) / WIDTH;
    return vec4<f32>(x * 2.0 - 1.0, f32(corner & 2u) - 1.0, 0.0, 1.0);
}

@vertex
fn float_attribute(
    @location(0) value: vec4<f32>,
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Corner {
    return Corner(corner_of(vertex, instance), value, vec4<u32>(), vec4<i32>());
}

@vertex
fn uint_attribute(
    @location(0) value: vec4<u32>,
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Corner {
    return Corner(corner_of(vertex, instance), vec4<f32>(), value, vec4<i32>());
}

@vertex
fn sint_attribute(
    @location(0) value: vec4<i32>,
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Corner {
    return Corner(corner_of(vertex, instance), vec4<f32>(), vec4<u32>(), value);
}

@fragment
fn show_floats(corner: Corner) -> @location(0) vec4<f32> {
    return corner.floats;
}

@fragment
fn show_words(corner: Corner) -> @location(0) vec4<u32> {
    return corner.words;
}

@fragment
fn show_integers(corner: Corner) -> @location(0) vec4<i32> {
    return corner.integers;
}
