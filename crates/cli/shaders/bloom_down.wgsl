// Bloom, downwards: each mip is a 13-tap filter of the one above it.
//
// Bindings: group 0: 0 source mip, 1 sampler; fs_prefilter also 2 PostUniforms. Draw 3 vertices.
// fs_prefilter writes the first bloom mip from the HDR picture, fs_main every further one.
#import "post.wgsl"

@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var source_sampler: sampler;
@group(0) @binding(2) var<uniform> post: PostUniforms;

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> ScreenVarying {
    return screen_vertex(index);
}

fn tap(uv: vec2<f32>) -> vec3<f32> {
    return textureSampleLevel(source, source_sampler, uv, 0.0).rgb;
}

// Keeps what is brighter than the threshold, with a soft start instead of an edge.
fn bright(color: vec3<f32>) -> vec3<f32> {
    let exposed = color * post.params.x;
    let value = max(exposed.r, max(exposed.g, exposed.b));
    let threshold = post.params.y;
    let knee = post.params.z;
    let soft = clamp(value - threshold + knee, 0.0, 2.0 * knee);
    let keep = max(soft * soft / (4.0 * knee + 1e-4), value - threshold);
    return color * keep / max(value, 1e-4);
}

// Five overlapping 2x2 boxes: the middle one has half of the weight.
struct Boxes {
    middle: vec3<f32>,
    corners: array<vec3<f32>, 4>,
}

fn boxes(uv: vec2<f32>) -> Boxes {
    let t = 1.0 / vec2<f32>(textureDimensions(source));
    let a = tap(uv + t * vec2<f32>(-2.0, -2.0));
    let b = tap(uv + t * vec2<f32>(0.0, -2.0));
    let c = tap(uv + t * vec2<f32>(2.0, -2.0));
    let d = tap(uv + t * vec2<f32>(-2.0, 0.0));
    let e = tap(uv);
    let f = tap(uv + t * vec2<f32>(2.0, 0.0));
    let g = tap(uv + t * vec2<f32>(-2.0, 2.0));
    let h = tap(uv + t * vec2<f32>(0.0, 2.0));
    let i = tap(uv + t * vec2<f32>(2.0, 2.0));
    let j = tap(uv + t * vec2<f32>(-1.0, -1.0));
    let k = tap(uv + t * vec2<f32>(1.0, -1.0));
    let l = tap(uv + t * vec2<f32>(-1.0, 1.0));
    let m = tap(uv + t * vec2<f32>(1.0, 1.0));
    var out: Boxes;
    out.middle = (j + k + l + m) * 0.25;
    out.corners[0] = (a + b + d + e) * 0.25;
    out.corners[1] = (b + c + e + f) * 0.25;
    out.corners[2] = (d + e + g + h) * 0.25;
    out.corners[3] = (e + f + h + i) * 0.25;
    return out;
}

@fragment
fn fs_prefilter(in: ScreenVarying) -> @location(0) vec4<f32> {
    let b = boxes(in.uv);
    // Single very bright pixels would flicker: weigh each box by how little it exceeds the rest.
    var sum = vec3<f32>(0.0);
    var weights = 0.0;
    let middle = bright(b.middle);
    let w = 0.5 / (1.0 + luminance(middle));
    sum += middle * w;
    weights += w;
    for (var i = 0; i < 4; i++) {
        let corner = bright(b.corners[i]);
        let w = 0.125 / (1.0 + luminance(corner));
        sum += corner * w;
        weights += w;
    }
    return vec4<f32>(sum / weights, 1.0);
}

@fragment
fn fs_main(in: ScreenVarying) -> @location(0) vec4<f32> {
    let b = boxes(in.uv);
    let corners = b.corners[0] + b.corners[1] + b.corners[2] + b.corners[3];
    return vec4<f32>(b.middle * 0.5 + corners * 0.125, 1.0);
}
