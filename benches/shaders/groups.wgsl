// Shows what a group holds: each dispatch copies its slice to the place that the slice names.

struct Slice {
    value: vec4<u32>,
}

@group(0) @binding(0) var<uniform> slice: Slice;
@group(1) @binding(0) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(1)
fn show() {
    out[slice.value.x] = slice.value;
}
