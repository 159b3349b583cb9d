#import "common.wgsl"

// A 20-byte value in the author's head; 32 bytes in memory.
struct Item {
    position: vec3<u32>,
    a: u32,
    b: u32,
}

struct DrawList {
    count: atomic<u32>,
    indices: array<u32>,
}

struct Settings {
    first: u32,
    _pad0: u32,
    planes: array<vec3<f32>, 3>,
    type_: vec2<i32>,
    corner: vec3<f32>,
}

struct Wide {
    @size(24) head: f32,
    @align(32) nested: Settings,
    list: array<Nest, 2>,
    rows: mat4x3<f32>,
    tail: mat3x2<f32>,
}

struct Nest {
    v: vec3<i32>,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage> instances: array<Instance>;
@group(0) @binding(2) var<storage, read_write> draws: DrawList;
@group(1) @binding(0) var<storage, read_write> items: array<Item>;
@group(1) @binding(1) var<storage> wide: Wide;
var<immediate> settings: Settings;

fn visible(index: u32) -> bool {
    let instance = instances[index];
    return distance(instance.center, camera.eye) < instance.radius;
}

@compute @workgroup_size(64)
fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
    if visible(id.x + settings.first) {
        let slot = atomicAdd(&draws.count, 1u);
        draws.indices[slot] = id.x;
    }
}

override WIDTH: u32 = 8u;

@compute @workgroup_size(WIDTH, 2)
fn cs_items(@builtin(global_invocation_id) id: vec3<u32>) {
    items[id.x].a = id.x + u32(wide.nested.planes[1].x);
}
