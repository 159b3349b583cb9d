// Rectangles of one color and depth.

struct Paint {
    rect: vec4<f32>, // left, bottom, right, top in clip space
    color: vec4<f32>,
    depth: f32,
    // Added to the depth from left to right, so that slope can be tested.
    slope: f32,
}

@group(0) @binding(0) var<uniform> paint: Paint;

// Two counterclockwise triangles, as seen with Y up.
@vertex
fn rectangle(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    var corners = array<u32, 6>(0u, 1u, 2u, 2u, 1u, 3u);
    let corner = corners[index % 6u];
    let right = (corner & 1u) != 0u;
    let x = select(paint.rect.x, paint.rect.z, right);
    let y = select(paint.rect.y, paint.rect.w, (corner & 2u) != 0u);
    return vec4<f32>(x, y, paint.depth + select(0.0, paint.slope, right), 1.0);
}

@fragment
fn color() -> @location(0) vec4<f32> {
    return paint.color;
}

@fragment
fn color_uint() -> @location(0) vec4<u32> {
    return vec4<u32>(paint.color);
}

@fragment
fn color_sint() -> @location(0) vec4<i32> {
    return vec4<i32>(paint.color);
}
