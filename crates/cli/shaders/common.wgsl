// Shared by every scene shader: structures, binding convention, sky.
//
// Bind groups, by how often they change:
//   group 0, frame:    0 FrameUniforms, 1 shadow map (depth), 2 shadow sampler (comparison)
//   group 1, objects:  0 instances (read-only storage), by instance_index, which counts from first_instance;
//                      nothing where the API has no storage buffers: vs_direct takes the transform as attributes
//   group 2, material: 0 MaterialUniforms, 1 sampler, 2 base color, 3 metallic-roughness, 4 normal,
//                      5 occlusion, 6 emissive
// Passes bind only what they use: shadow and sky have group 0 with binding 0 alone.
//
// Vertex attributes: 0 position, 1 normal, 2 tangent (w: sign of the bitangent), 3 uv, 4 color. By instance, for vs_direct:
// 5 to 8 the columns of the transform.
// The world is right-handed with Y up; clip space has Y up and depth 0 (near) to 1 (far).

struct FrameUniforms {
    view_projection: mat4x4<f32>,
    inverse_view_projection: mat4x4<f32>,
    light_view_projection: mat4x4<f32>,
    // xyz: position, w: exposure
    eye: vec4<f32>,
    // xyz: towards the sun, w: the shadow map's texel in world units
    sun_direction: vec4<f32>,
    // rgb: irradiance, w: one over the shadow map's side
    sun_color: vec4<f32>,
    // rgb: radiance, w: the distance at which fog begins
    sky_zenith: vec4<f32>,
    // rgb: radiance, w: the distance at which fog is complete
    sky_horizon: vec4<f32>,
    sky_ground: vec4<f32>,
    // width, height, one over width, one over height
    viewport: vec4<f32>,
}

struct Instance {
    model: mat4x4<f32>,
    // The bounding sphere in world space.
    sphere: vec4<f32>,
    // index count, first index, base vertex, flags (1: visible, 2: casts shadow)
    draw: vec4<u32>,
}

// An instance's transform as attributes.
struct TransformInput {
    @location(5) x: vec4<f32>,
    @location(6) y: vec4<f32>,
    @location(7) z: vec4<f32>,
    @location(8) w: vec4<f32>,
}

fn transform_of(in: TransformInput) -> mat4x4<f32> {
    return mat4x4<f32>(in.x, in.y, in.z, in.w);
}

struct MaterialUniforms {
    base_color: vec4<f32>,
    // rgb: emitted light, w: occlusion strength
    emissive: vec4<f32>,
    // metallic, roughness, normal scale, alpha cutoff (below zero: no mask)
    params: vec4<f32>,
    // u' = x * u + y * v + z; w: 1 for an unlit material
    uv_row0: vec4<f32>,
    // v' = x * u + y * v + z
    uv_row1: vec4<f32>,
}

@group(0) @binding(0) var<uniform> frame: FrameUniforms;

const PI: f32 = 3.14159265359;

// The radiance of the sky above the horizon; lower directions see the horizon. `blur` from 0 to 1 widens the
// gradient, as a rough mirror sees it.
fn sky_above(direction: vec3<f32>, blur: f32) -> vec3<f32> {
    // Air is thicker towards the horizon: color changes fast there and slowly near the zenith.
    let up = 1.0 - exp(-max(direction.y, 0.0) * mix(6.0, 1.8, blur));
    let sky = mix(frame.sky_horizon.rgb, frame.sky_zenith.rgb, up);
    // Haze glows around the sun.
    let toward = max(dot(direction, frame.sun_direction.xyz), 0.0);
    let glow = pow(toward, mix(24.0, 4.0, blur)) * mix(0.10, 0.05, blur) + pow(toward, 4.0) * 0.03;
    return sky + frame.sun_color.rgb * glow;
}

// What a direction sees when nothing is in the way: the sky, and below the horizon the ground.
fn sky_radiance(direction: vec3<f32>, blur: f32) -> vec3<f32> {
    let width = mix(0.02, 0.55, blur);
    let below = smoothstep(width, -width, direction.y);
    return mix(sky_above(direction, blur), frame.sky_ground.rgb, below);
}

// The sky that shows behind a surface: far ground melts into it, so it has no ground of its own.
fn backdrop(direction: vec3<f32>) -> vec3<f32> {
    return sky_above(normalize(vec3<f32>(direction.x, max(direction.y, 0.0), direction.z)), 0.0);
}

// How much of the sky replaces a surface at this distance.
fn fog_amount(distance: f32) -> f32 {
    let start = frame.sky_zenith.w;
    let end = frame.sky_horizon.w;
    let t = clamp((distance - start) / max(end - start, 1e-3), 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}
