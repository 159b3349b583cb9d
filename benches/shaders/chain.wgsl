// One step of a chain: each needs what the one before wrote.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<u32>;

@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) id: vec3<u32>) {
    destination[id.x] = source[id.x] * 1664525u + 1013904223u;
}
