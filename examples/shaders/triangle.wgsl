// One triangle from a vertex buffer, lit by its own colors.

struct Vertex {
    @location(0) position: vec2<f32>,
    @location(1) color: vec3<f32>,
}

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn vertex(input: Vertex) -> Varying {
    return Varying(vec4<f32>(input.position, 0.0, 1.0), input.color);
}

@fragment
fn fragment(input: Varying) -> @location(0) vec4<f32> {
    return vec4<f32>(input.color, 1.0);
}
