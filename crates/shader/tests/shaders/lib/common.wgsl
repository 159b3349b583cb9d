// Structures that several shaders of the demo package use.
struct Camera {
    view_projection: mat4x4<f32>,
    normal: mat3x3<f32>,
    eye: vec3<f32>,
    exposure: f32,
    jitter: mat2x2<f32>,
}

struct Instance {
    model: mat4x4<f32>,
    center: vec3<f32>,
    radius: f32,
    material: u32,
}
