enable f16;

// Every shape of a host-shareable type, and names that need care in Rust.
struct Half {
    a: f16,
    b: vec3<f16>,
    c: mat3x3<f16>,
    d: array<vec3<f16>, 2>,
    e: vec2<f16>,
}

struct Long {
    a: u64,
    b: i32,
    c: array<u32>,
}

struct Names {
    dyn: u32,
    box: f32,
    in: i32,
    size: u32,
}

struct facts {
    entries: u32,
}

struct Grid {
    rows: array<array<vec3<u32>, 2>, 3>,
    names: array<Names, 2>,
    m22: array<mat2x2<f32>, 2>,
    m32: mat3x2<f32>,
    m42: mat4x2<f32>,
    m23: mat2x3<f32>,
    m33: mat3x3<f32>,
    m43: mat4x3<f32>,
    m24: mat2x4<f32>,
    m34: mat3x4<f32>,
    counters: array<atomic<i32>, 3>,
    v2: vec2<f32>,
    v3: vec3<f32>,
    v4: vec4<f32>,
}

struct Bare {
    points: array<vec3<f32>>,
}

struct BareElement {
    x: u32,
}

@group(0) @binding(0) var<storage, read_write> half: Half;
@group(0) @binding(1) var<storage> long: Long;
@group(0) @binding(2) var<storage> names: Names;
@group(1) @binding(0) var<storage, read_write> grid: Grid;
@group(1) @binding(1) var<storage> bare: Bare;
@group(1) @binding(2) var<storage> bare_element: array<BareElement>;
@group(3) @binding(0) var<storage> a_facts: facts;

// Two variables of one slot: each entry point uses one of them.
@group(2) @binding(0) var<uniform> slot_buffer: vec4<f32>;
@group(2) @binding(0) var slot_texture: texture_2d<f32>;

@compute @workgroup_size(1)
fn Main() {
    half.a = half.b.x;
    grid.v4 = slot_buffer;
    grid.v2 = vec2(f32(long.b), f32(long.c[0]));
}

@compute @workgroup_size(1)
fn main() {
    grid.v4 = textureLoad(slot_texture, vec2(0, 0), 0);
    grid.v3 = bare.points[1] + f32(names.in) + f32(bare_element[0].x) + f32(a_facts.entries);
}
