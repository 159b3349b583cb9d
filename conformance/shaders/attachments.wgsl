// Several outputs, and depth that is read while it is tested.

@vertex
fn fullscreen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4<f32>(corner * 2.0 - 1.0, 0.5, 1.0);
}

// The two triangles of C053: the first points down, the second up.
@vertex
fn triangles(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    var points = array<vec2<f32>, 6>(
        vec2<f32>(-1.0, 1.0), vec2<f32>(0.0, -1.0), vec2<f32>(1.0, 1.0),
        vec2<f32>(-1.0, -1.0), vec2<f32>(1.0, -1.0), vec2<f32>(0.0, 1.0),
    );
    return vec4<f32>(points[index], 0.0, 1.0);
}

@fragment
fn white() -> @location(0) vec4<f32> {
    return vec4<f32>(1.0, 1.0, 1.0, 1.0);
}

struct Mixed {
    @location(0) normalized: vec4<f32>,
    @location(1) unsigned: u32,
    @location(2) half: vec4<f32>,
    @location(3) signed: vec2<i32>,
}

@fragment
fn mixed() -> Mixed {
    return Mixed(vec4<f32>(1.0, 0.0, 0.2, 1.0), 4000000000u, vec4<f32>(-2.5, 1000.0, 0.125, 3.0), vec2<i32>(-7, 300));
}

// C045: nothing for location 0.
struct FromOne {
    @location(1) red: vec4<f32>,
    @location(2) green: vec4<f32>,
    @location(3) none: vec4<f32>,
}

@fragment
fn from_one() -> FromOne {
    return FromOne(vec4<f32>(1.0, 0.0, 0.0, 1.0), vec4<f32>(0.0, 1.0, 0.0, 1.0), vec4<f32>(0.0, 0.0, 0.5, 0.5));
}

// Locations with gaps between them.
struct OneAndThree {
    @location(1) red: vec4<f32>,
    @location(3) blue: vec4<f32>,
}

@fragment
fn one_and_three() -> OneAndThree {
    return OneAndThree(vec4<f32>(1.0, 0.0, 0.0, 1.0), vec4<f32>(0.0, 0.0, 1.0, 0.2));
}

// C063: the depth of the pass's own attachment.
@group(0) @binding(0) var depth: texture_depth_2d;

@fragment
fn show_depth(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(textureLoad(depth, vec2<u32>(position.xy), 0), 0.0, 0.0, 1.0);
}

// Depth from the fragment shader.
@fragment
fn own_depth(@builtin(position) position: vec4<f32>) -> @builtin(frag_depth) f32 {
    return position.x / 8.0;
}

// The position that a fragment sees.
@fragment
fn show_position(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(position.x / 16.0, position.y / 16.0, position.z, 1.0);
}
