// Vertex transform and shading shared by the opaque and the transparent pass.
#import "common.wgsl"

@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;

@group(1) @binding(0) var<storage, read> instances: array<Instance>;

@group(2) @binding(0) var<uniform> material: MaterialUniforms;
@group(2) @binding(1) var material_sampler: sampler;
@group(2) @binding(2) var base_color_map: texture_2d<f32>;
@group(2) @binding(3) var metallic_roughness_map: texture_2d<f32>;
@group(2) @binding(4) var normal_map: texture_2d<f32>;
@group(2) @binding(5) var occlusion_map: texture_2d<f32>;
@group(2) @binding(6) var emissive_map: texture_2d<f32>;

struct VertexInput {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tangent: vec4<f32>,
    @location(3) uv: vec2<f32>,
    @location(4) color: vec4<f32>,
}

struct SurfaceVarying {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tangent: vec4<f32>,
    @location(3) uv: vec2<f32>,
    @location(4) color: vec4<f32>,
}

fn transform_vertex(in: VertexInput, model: mat4x4<f32>) -> SurfaceVarying {
    let x = model[0].xyz;
    let y = model[1].xyz;
    let z = model[2].xyz;
    // Normals go by the inverse transpose, which is the cofactor matrix over the determinant. Length does not
    // matter, its sign does: mirrored objects turn the normal and the bitangent.
    let mirror = sign(dot(x, cross(y, z)));
    let normal = (cross(y, z) * in.normal.x + cross(z, x) * in.normal.y + cross(x, y) * in.normal.z) * mirror;
    let world = model * vec4<f32>(in.position, 1.0);
    var out: SurfaceVarying;
    out.clip = frame.view_projection * world;
    out.world = world.xyz;
    out.normal = normalize(normal);
    out.tangent = vec4<f32>(x * in.tangent.x + y * in.tangent.y + z * in.tangent.z, in.tangent.w * mirror);
    let uv = vec3<f32>(in.uv, 1.0);
    out.uv = vec2<f32>(dot(material.uv_row0.xyz, uv), dot(material.uv_row1.xyz, uv));
    out.color = in.color;
    return out;
}

// The share of sunlight that arrives, from a 5x5 filter of bilinear comparisons.
fn sun_visibility(world: vec3<f32>, normal: vec3<f32>) -> f32 {
    // Sampling a little outside of the surface keeps it from shadowing itself, more so where light grazes it.
    let slope = 1.0 - max(dot(normal, frame.sun_direction.xyz), 0.0);
    let lifted = world + normal * frame.sun_direction.w * (1.2 + 2.2 * slope);
    let clip = frame.light_view_projection * vec4<f32>(lifted, 1.0);
    // Clip space has Y up and textures have row 0 at the top.
    let uv = clip.xy * vec2<f32>(0.5, -0.5) + 0.5;
    let step = frame.sun_color.w * 1.25;
    var sum = 0.0;
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let weight = f32((3 - abs(x)) * (3 - abs(y)));
            let at = uv + vec2<f32>(f32(x), f32(y)) * step;
            sum += weight * textureSampleCompareLevel(shadow_map, shadow_sampler, at, clip.z);
        }
    }
    // What the map does not cover is lit.
    let outside = any(uv < vec2<f32>(0.0)) || any(uv > vec2<f32>(1.0)) || clip.z > 1.0;
    return select(sum / 81.0, 1.0, outside);
}

struct Surface {
    base_color: vec4<f32>,
    metallic: f32,
    roughness: f32,
    occlusion: f32,
    emissive: vec3<f32>,
    normal: vec3<f32>,
}

fn read_surface(in: SurfaceVarying, front: bool) -> Surface {
    var out: Surface;
    out.base_color = textureSample(base_color_map, material_sampler, in.uv) * material.base_color * in.color;
    let mr = textureSample(metallic_roughness_map, material_sampler, in.uv);
    out.roughness = clamp(mr.g * material.params.y, 0.045, 1.0);
    out.metallic = clamp(mr.b * material.params.x, 0.0, 1.0);
    let occlusion = textureSample(occlusion_map, material_sampler, in.uv).r;
    out.occlusion = mix(1.0, occlusion, material.emissive.w);
    out.emissive = textureSample(emissive_map, material_sampler, in.uv).rgb * material.emissive.rgb;

    let mapped = textureSample(normal_map, material_sampler, in.uv).xyz * 2.0 - 1.0;
    let n = normalize(in.normal);
    let t = normalize(in.tangent.xyz - n * dot(n, in.tangent.xyz) + vec3<f32>(1e-8, 0.0, 0.0));
    let b = cross(n, t) * in.tangent.w;
    let scale = material.params.z;
    let shaded = normalize(t * mapped.x * scale + b * mapped.y * scale + n * max(mapped.z, 1e-3));
    out.normal = select(-shaded, shaded, front);
    return out;
}

// Light from a surface towards the eye, in two parts: blending scales the diffuse part only.
struct Shaded {
    diffuse: vec3<f32>,
    specular: vec3<f32>,
    // How much of the light from behind the surface is reflected away at this angle.
    fresnel: f32,
}

// The integral of the specular lobe over a white environment: scale and bias of F0 (a known polynomial fit).
fn environment_brdf(roughness: f32, n_dot_v: f32) -> vec2<f32> {
    let r = roughness * vec4<f32>(-1.0, -0.0275, -0.572, 0.022) + vec4<f32>(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    return vec2<f32>(-1.04, 1.04) * a + r.zw;
}

fn shade(surface: Surface, world: vec3<f32>, geometric_normal: vec3<f32>) -> Shaded {
    let to_eye = normalize(frame.eye.xyz - world);
    let sun = frame.sun_direction.xyz;
    let n = surface.normal;
    let n_dot_v = clamp(dot(n, to_eye), 1e-3, 1.0);
    let n_dot_l = clamp(dot(n, sun), 0.0, 1.0);
    let half_way = normalize(to_eye + sun);
    let n_dot_h = clamp(dot(n, half_way), 0.0, 1.0);
    let v_dot_h = clamp(dot(to_eye, half_way), 0.0, 1.0);

    let albedo = surface.base_color.rgb * (1.0 - surface.metallic);
    let f0 = mix(vec3<f32>(0.04), surface.base_color.rgb, surface.metallic);
    let alpha = surface.roughness * surface.roughness;

    // GGX with the height-correlated Smith term.
    let a2 = alpha * alpha;
    let d = (n_dot_h * a2 - n_dot_h) * n_dot_h + 1.0;
    let distribution = a2 / (PI * d * d);
    let smith_v = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    let smith_l = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    let visibility = 0.5 / max(smith_v + smith_l, 1e-5);
    let fresnel = f0 + (1.0 - f0) * pow(1.0 - v_dot_h, 5.0);

    // A single bounce between microfacets loses energy on rough metals: give it back, tinted by the metal.
    let environment = environment_brdf(surface.roughness, n_dot_v);
    let bounces = 1.0 + f0 * (1.0 / max(environment.x + environment.y, 1e-3) - 1.0);

    let lit = sun_visibility(world, geometric_normal);
    let irradiance = frame.sun_color.rgb * n_dot_l * lit;
    var out: Shaded;
    out.diffuse = albedo / PI * (1.0 - fresnel) * irradiance;
    // A sun seen in a mirror is far brighter than bloom needs.
    out.specular = min(fresnel * distribution * visibility, vec3<f32>(24.0)) * bounces * irradiance;

    // The sky as a hemisphere: its blurred radiance along the normal, and along the reflection for the mirror
    // part.
    let around = sky_radiance(n, 1.0);
    let mirrored = reflect(-to_eye, n);
    let opening = pow(n_dot_v + surface.occlusion, exp2(-16.0 * alpha - 1.0));
    let specular_occlusion = clamp(opening - 1.0 + surface.occlusion, 0.0, 1.0);
    let reflected = sky_radiance(mirrored, sqrt(surface.roughness));
    let mirror = f0 * environment.x + environment.y;
    out.diffuse += albedo * (1.0 - mirror) * around * surface.occlusion;
    out.specular += mirror * bounces * reflected * specular_occlusion;
    out.fresnel = clamp(max(mirror.x, max(mirror.y, mirror.z)), 0.0, 1.0);
    return out;
}
