// Arguments of indirect draws and dispatches, held to what they may ask for. One invocation for each draw or dispatch.

const DISPATCH = 0u;
const DRAW = 1u;

struct Bounds {
    // In words: where the first arguments are, and how far it is from one to the next.
    first: u32,
    stride: u32,
    // How many there are.
    count: u32,
    kind: u32,
    // The most workgroups in each dimension; or the end of vertices or indices, the end of instances, and the greatest
    // first instance.
    most: vec3<u32>,
    // Whether counts are lowered where that is enough.
    clamped: u32,
}

@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> bounds: Bounds;

// What is left of `count` elements from `first` on, before `end`.
fn inside(first: u32, count: u32, end: u32) -> u32 {
    return min(count, end - min(first, end));
}

@compute @workgroup_size(64)
fn hold(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = bounds.first + id.x * bounds.stride;
    // A draw has one word more with indices, the base vertex, and its instances are named last.
    let last = at + select(select(4u, 3u, bounds.kind == DRAW), 2u, bounds.kind == DISPATCH);
    if id.x >= bounds.count || last >= arrayLength(&words) {
        return;
    }
    let asked = vec3<u32>(words[at], words[at + 1u], words[at + 2u]);
    var given = min(asked, bounds.most);
    var begins_outside = false;
    if bounds.kind != DISPATCH {
        let instance = words[last];
        let elements = inside(asked.z, asked.x, bounds.most.x);
        given = vec3<u32>(elements, inside(instance, asked.y, bounds.most.y), asked.z);
        begins_outside = instance > bounds.most.z;
    }
    if all(given == asked) && !begins_outside {
        return;
    }
    if bounds.clamped == 0u || begins_outside || any(given.xy == vec2<u32>(0u)) {
        // All of it, so that nothing half right is left behind. Where a draw begins is never moved: it would be another.
        for (var word = at; word <= last; word++) {
            words[word] = 0u;
        }
        return;
    }
    words[at] = given.x;
    words[at + 1u] = given.y;
    if bounds.kind == DISPATCH {
        words[at + 2u] = given.z;
    }
}
