// Cells of a grid of four by four, one quad each. The color comes with the vertex, the cell with the instance.

struct Vertex {
    @location(0) corner: vec2<f32>,
    @location(1) color: vec4<f32>,
    @location(2) cell: vec2<f32>,
}

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
}

@vertex
fn cell(vertex: Vertex) -> Varying {
    let place = (vertex.cell + vertex.corner) / 4.0;
    return Varying(vec4<f32>(place.x * 2.0 - 1.0, 1.0 - place.y * 2.0, 0.0, 1.0), vertex.color);
}

// The same, with the cell and color counted from the builtin indices: what the shader sees of first and base values.
@vertex
fn indexed_cell(
    @location(0) corner: vec2<f32>,
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Varying {
    let place = (vec2<f32>(f32(instance % 4u), f32(instance / 4u)) + corner) / 4.0;
    let color = vec4<f32>(f32(vertex / 4u) / 3.0, 0.0, 1.0, 1.0);
    return Varying(vec4<f32>(place.x * 2.0 - 1.0, 1.0 - place.y * 2.0, 0.0, 1.0), color);
}

// A vertex anywhere in clip space, with no other attribute.
@vertex
fn place(@location(0) position: vec2<f32>) -> Varying {
    return Varying(vec4<f32>(position, 0.0, 1.0), vec4<f32>(1.0, 1.0, 1.0, 1.0));
}

// C036: vertices of one number, each a point of its own column.
@vertex
fn column(@location(0) value: f32, @builtin(vertex_index) index: u32) -> Varying {
    let x = (f32(index) + 0.5) / 8.0 * 2.0 - 1.0;
    return Varying(vec4<f32>(x, 0.0, 0.0, 1.0), vec4<f32>(value / 4.0, 0.0, 0.0, 1.0));
}

@fragment
fn color(input: Varying) -> @location(0) vec4<f32> {
    return input.color;
}
