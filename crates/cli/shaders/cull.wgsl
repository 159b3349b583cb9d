// Frustum culling: one indexed indirect command per instance, for one view per dispatch.
//
// Bindings: group 0: 0 CullUniforms, 1 instances (read), 2 commands (read and write), 3 counters (read and
// write). Dispatch ceil(instances / 64) workgroups of cs_main for each view, with that view's uniforms and
// commands. Before the first one, a dispatch of one workgroup of cs_reset clears the counters.

struct Instance {
    model: mat4x4<f32>,
    // The bounding sphere in world space.
    sphere: vec4<f32>,
    // index count, first index, base vertex, flags
    draw: vec4<u32>,
}

struct CullUniforms {
    // Unit normals that point inside, and offsets.
    planes: array<vec4<f32>, 6>,
    // instance count, flags that an instance needs, counter, unused
    params: vec4<u32>,
}

// The layout that indexed indirect draws read: 20 bytes.
struct DrawCommand {
    index_count: u32,
    instance_count: u32,
    first_index: u32,
    base_vertex: i32,
    first_instance: u32,
}

@group(0) @binding(0) var<uniform> view: CullUniforms;
@group(0) @binding(1) var<storage, read> instances: array<Instance>;
@group(0) @binding(2) var<storage, read_write> commands: array<DrawCommand>;
@group(0) @binding(3) var<storage, read_write> counters: array<atomic<u32>, 4>;

@compute @workgroup_size(4)
fn cs_reset(@builtin(local_invocation_index) index: u32) {
    atomicStore(&counters[index], 0u);
}

@compute @workgroup_size(64)
fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
    if index >= view.params.x {
        return;
    }
    let draw = instances[index].draw;
    let sphere = instances[index].sphere;
    var visible = (draw.w & view.params.y) == view.params.y;
    for (var i = 0u; i < 6u; i++) {
        let plane = view.planes[i];
        visible = visible && dot(plane.xyz, sphere.xyz) + plane.w >= -sphere.w;
    }
    // A hidden instance keeps its command with no instances, so commands stay where the draws expect them.
    commands[index] = DrawCommand(draw.x, select(0u, 1u, visible), draw.y, bitcast<i32>(draw.z), index);
    if visible {
        atomicAdd(&counters[view.params.z], 1u);
    }
}
