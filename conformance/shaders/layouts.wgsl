// Every host-shareable shape, read member by member. The answer is each scalar in the order of declaration.

struct Inner {
    first: f32,
    second: vec3<f32>,
}

struct Shapes {
    scalar: f32,
    pair: vec2<f32>,
    triple: vec3<f32>,
    after_triple: f32,
    quad: vec4<f32>,
    square2: mat2x2<f32>,
    square3: mat3x3<f32>,
    square4: mat4x4<f32>,
    wide23: mat2x3<f32>,
    wide24: mat2x4<f32>,
    wide32: mat3x2<f32>,
    wide34: mat3x4<f32>,
    wide42: mat4x2<f32>,
    wide43: mat4x3<f32>,
    inner: Inner,
    triples: array<vec3<f32>, 3>,
    inners: array<Inner, 2>,
    quads: array<array<vec4<f32>, 2>, 2>,
    signed: vec3<i32>,
    unsigned: u32,
    signed_pair: vec2<i32>,
    unsigned_quad: vec4<u32>,
    last: f32,
}

@group(0) @binding(0) var<storage, read_write> answer: array<f32>;
@group(0) @binding(1) var<uniform> from_uniform: Shapes;
@group(0) @binding(2) var<storage, read> from_storage: Shapes;

var<private> next: u32;

fn put1(value: f32) {
    answer[next] = value;
    next += 1u;
}
fn put2(value: vec2<f32>) {
    put1(value.x);
    put1(value.y);
}
fn put3(value: vec3<f32>) {
    put2(value.xy);
    put1(value.z);
}
fn put4(value: vec4<f32>) {
    put3(value.xyz);
    put1(value.w);
}

fn put_all(shapes: Shapes) {
    put1(shapes.scalar);
    put2(shapes.pair);
    put3(shapes.triple);
    put1(shapes.after_triple);
    put4(shapes.quad);
    for (var c = 0u; c < 2u; c++) { put2(shapes.square2[c]); }
    for (var c = 0u; c < 3u; c++) { put3(shapes.square3[c]); }
    for (var c = 0u; c < 4u; c++) { put4(shapes.square4[c]); }
    for (var c = 0u; c < 2u; c++) { put3(shapes.wide23[c]); }
    for (var c = 0u; c < 2u; c++) { put4(shapes.wide24[c]); }
    for (var c = 0u; c < 3u; c++) { put2(shapes.wide32[c]); }
    for (var c = 0u; c < 3u; c++) { put4(shapes.wide34[c]); }
    for (var c = 0u; c < 4u; c++) { put2(shapes.wide42[c]); }
    for (var c = 0u; c < 4u; c++) { put3(shapes.wide43[c]); }
    put1(shapes.inner.first);
    put3(shapes.inner.second);
    for (var i = 0u; i < 3u; i++) { put3(shapes.triples[i]); }
    for (var i = 0u; i < 2u; i++) {
        put1(shapes.inners[i].first);
        put3(shapes.inners[i].second);
    }
    for (var i = 0u; i < 2u; i++) {
        for (var j = 0u; j < 2u; j++) { put4(shapes.quads[i][j]); }
    }
    put3(vec3<f32>(shapes.signed));
    put1(f32(shapes.unsigned));
    put2(vec2<f32>(shapes.signed_pair));
    put4(vec4<f32>(shapes.unsigned_quad));
    put1(shapes.last);
}

@compute @workgroup_size(1)
fn read_uniform() {
    put_all(from_uniform);
}

@compute @workgroup_size(1)
fn read_storage() {
    put_all(from_storage);
}

// A runtime-sized array of structures after a header.
struct Item {
    place: vec3<u32>,
    weight: u32,
    index: u32,
}
struct Items {
    count: u32,
    list: array<Item>,
}
@group(0) @binding(3) var<storage, read> items: Items;
@group(0) @binding(4) var<storage, read> bare: array<vec3<f32>>;

@compute @workgroup_size(1)
fn read_items() {
    for (var i = 0u; i < items.count; i++) {
        let item = items.list[i];
        put3(vec3<f32>(item.place));
        put1(f32(item.weight));
        put1(f32(item.index));
    }
    put1(f32(arrayLength(&items.list)));
}

@compute @workgroup_size(1)
fn read_bare() {
    for (var i = 0u; i < arrayLength(&bare); i++) {
        put3(bare[i]);
    }
}

// C100: one mat2x2 in a uniform buffer, read column by column and by dynamic index.
struct Square {
    matrix: mat2x2<f32>,
}
@group(0) @binding(5) var<uniform> square: Square;

@compute @workgroup_size(1)
fn c100() {
    put1(square.matrix[0].x);
    put1(square.matrix[0].y);
    put1(square.matrix[1].x);
    put1(square.matrix[1].y);
    for (var c = 0u; c < 2u; c++) {
        for (var r = 0u; r < 2u; r++) {
            put1(square.matrix[c][r]);
        }
    }
    put2(square.matrix * vec2<f32>(1.0, 1.0));
}

// C103: the least bytes of a binding.
struct Mixed {
    first: u32,
    second: vec2<u32>,
}
struct Tailed {
    matrix: mat4x4<f32>,
    tail: f32,
}
struct Headed {
    head: u32,
    list: array<u32>,
}
@group(0) @binding(6) var<uniform> triple: vec3<f32>;
@group(0) @binding(7) var<storage, read> mixed: Mixed;
@group(0) @binding(8) var<storage, read> tailed: Tailed;
@group(0) @binding(9) var<storage, read> headed: Headed;

@compute @workgroup_size(1)
fn c103() {
    put3(triple);
    put1(f32(mixed.first));
    put2(vec2<f32>(mixed.second));
    put1(tailed.matrix[3].w);
    put1(tailed.tail);
    put1(f32(headed.head));
    put1(f32(headed.list[0]));
    put1(f32(arrayLength(&headed.list)));
}

// C106: a default that is not last; continue and break in a loop.
fn choose(x: u32) -> u32 {
    switch x {
        default: { return 9u; }
        case 1u: { return 1u; }
        case 2u: { return 2u; }
    }
}

fn change(first: u32, second: u32) -> vec2<u32> {
    var data = array<u32, 2>(first, second);
    for (var i = 0u; i < 2u; i++) {
        switch data[i] {
            case 1u: { continue; }
            default: {}
        }
        if data[i] == 2u { break; }
        data[i] = 2u * i;
    }
    return vec2<u32>(data[0], data[1]);
}

@compute @workgroup_size(1)
fn c106() {
    for (var x = 0u; x < 4u; x++) {
        put1(f32(choose(x)));
    }
    put2(vec2<f32>(change(1u, 0u)));
    put2(vec2<f32>(change(2u, 5u)));
    put2(vec2<f32>(change(0u, 0u)));
}

// C104: names that GLSL, HLSL or MSL reserve or treat in a way of their own, and two that differ by an underscore.
struct Reserved {
    output: f32,
    half: f32,
    gl_thing: f32,
    M01: f32,
    M01_: f32,
    a__b: f32,
}

@group(0) @binding(10) var<storage, read> packed_: Reserved;

fn texture2D(input: f32) -> f32 {
    return input + 1.0;
}

@compute @workgroup_size(1)
fn c104() {
    put1(packed_.output);
    put1(packed_.half);
    put1(packed_.gl_thing);
    put1(packed_.M01);
    put1(packed_.M01_);
    put1(packed_.a__b);
    let main_ = texture2D(packed_.a__b);
    put1(main_);
    let gl_Position = main_ + 1.0;
    put1(gl_Position);
    let M01 = gl_Position + 1.0;
    let M01_ = M01 + 1.0;
    put1(M01);
    put1(M01_);
}
