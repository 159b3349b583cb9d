// Small kernels around arguments in buffers.

@group(0) @binding(0) var<storage, read_write> count: atomic<u32>;

@compute @workgroup_size(1)
fn count_groups() {
    atomicAdd(&count, 1u);
}

// Words that later commands take as arguments.
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read> source: array<u32>;

@compute @workgroup_size(1)
fn copy_words() {
    for (var i = 0u; i < arrayLength(&source); i++) {
        words[i] = source[i];
    }
}

// Adds what it finds, so that two runs and their order can be told.
@compute @workgroup_size(1)
fn times_ten_plus() {
    for (var i = 0u; i < arrayLength(&words); i++) {
        words[i] = words[i] * 10u + source[i];
    }
}
