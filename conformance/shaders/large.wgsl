// The last element of a large range, and how many there are.

@group(0) @binding(0) var<storage, read_write> answer: array<u32>;
@group(0) @binding(1) var<storage, read> far: array<u32>;

@compute @workgroup_size(1)
fn last() {
    let count = arrayLength(&far);
    answer[0] = far[count - 1u];
    answer[1] = count;
}
