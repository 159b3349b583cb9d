// Linear HDR and bloom to the picture: exposure, a filmic curve, and the one explicit sRGB encoding.
//
// Bindings: group 0: 0 HDR picture, 1 sampler, 2 PostUniforms, 3 bloom (largest mip). Draw 3 vertices.
// The target is a plain rgba8unorm: the encoding happens here and nowhere else.
#import "post.wgsl"

@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var source_sampler: sampler;
@group(0) @binding(2) var<uniform> post: PostUniforms;
@group(0) @binding(3) var bloom: texture_2d<f32>;

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> ScreenVarying {
    return screen_vertex(index);
}

// The ACES reference and output transforms for sRGB displays, as fitted by Stephen Hill.
fn aces_fitted(color: vec3<f32>) -> vec3<f32> {
    let input = mat3x3<f32>(
        vec3<f32>(0.59719, 0.07600, 0.02840),
        vec3<f32>(0.35458, 0.90834, 0.13383),
        vec3<f32>(0.04823, 0.01566, 0.83777),
    );
    let output = mat3x3<f32>(
        vec3<f32>(1.60475, -0.10208, -0.00327),
        vec3<f32>(-0.53108, 1.10813, -0.07276),
        vec3<f32>(-0.07367, -0.00605, 1.07602),
    );
    let v = input * color;
    let a = v * (v + 0.0245786) - 0.000090537;
    let b = v * (0.983729 * v + 0.4329510) + 0.238081;
    return clamp(output * (a / b), vec3<f32>(0.0), vec3<f32>(1.0));
}

fn encode_srgb(linear: vec3<f32>) -> vec3<f32> {
    let low = linear * 12.92;
    let high = 1.055 * pow(max(linear, vec3<f32>(0.0)), vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, low, linear <= vec3<f32>(0.0031308));
}

@fragment
fn fs_main(in: ScreenVarying) -> @location(0) vec4<f32> {
    let hdr = textureLoad(source, vec2<i32>(in.clip.xy), 0).rgb;
    let glow = textureSampleLevel(bloom, source_sampler, in.uv, 0.0).rgb;
    // The fit is made for an exposure about 1.8 times darker than ours.
    let color = (hdr + glow * post.params.w) * post.params.x * 1.2;
    let encoded = encode_srgb(aces_fitted(color));
    // Less than one step of noise, the same for every frame, so that the sky's gradient shows no bands.
    let noise = fract(52.9829189 * fract(dot(floor(in.clip.xy), vec2<f32>(0.06711056, 0.00583715))));
    return vec4<f32>(encoded + (noise - 0.5) / 255.0, 1.0);
}
