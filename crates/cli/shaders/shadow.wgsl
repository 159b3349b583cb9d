// The shadow map: depth only, seen from the sun.
//
// Bindings: group 0 binding 0, group 1 binding 0. Vertex attribute: 0 position.
// Masked materials cast the shadow of their whole mesh.
#import "common.wgsl"

@group(1) @binding(0) var<storage, read> instances: array<Instance>;

@vertex
fn vs_main(
    @location(0) position: vec3<f32>,
    @builtin(instance_index) index: u32,
) -> @builtin(position) vec4<f32> {
    return frame.light_view_projection * instances[index].model * vec4<f32>(position, 1.0);
}

@vertex
fn vs_direct(@location(0) position: vec3<f32>, transform: TransformInput) -> @builtin(position) vec4<f32> {
    return frame.light_view_projection * transform_of(transform) * vec4<f32>(position, 1.0);
}
