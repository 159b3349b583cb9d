// The transparent pass: the opaque pass's shading with premultiplied alpha (blend: one, one minus source
// alpha).
//
// Bindings: groups 0, 1 and 2 of common.wgsl, all of them.
#import "surface.wgsl"

@vertex
fn vs_main(in: VertexInput, @builtin(instance_index) index: u32) -> SurfaceVarying {
    return transform_vertex(in, instances[index].model);
}

@vertex
fn vs_direct(in: VertexInput, transform: TransformInput) -> SurfaceVarying {
    return transform_vertex(in, transform_of(transform));
}

@fragment
fn fs_main(in: SurfaceVarying, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let surface = read_surface(in, front);
    let geometric = select(-1.0, 1.0, front) * normalize(in.normal);
    let shaded = shade(surface, in.world, geometric);
    // Reflections stay as bright on clear glass as on an opaque body, and hide what is behind them.
    let body = surface.base_color.a;
    let alpha = body + (1.0 - body) * shaded.fresnel;
    var color = shaded.diffuse * body + shaded.specular + surface.emissive;
    color = mix(color, surface.base_color.rgb * body, material.uv_row0.w);
    let offset = in.world - frame.eye.xyz;
    let behind = backdrop(offset);
    let opacity = mix(alpha, body, material.uv_row0.w);
    color = mix(color, behind * opacity, fog_amount(length(offset)));
    return vec4<f32>(color, opacity);
}
