// The opaque pass: metallic-roughness shading into a linear HDR target.
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
    if surface.base_color.a < material.params.w {
        discard;
    }
    let geometric = select(-1.0, 1.0, front) * normalize(in.normal);
    let shaded = shade(surface, in.world, geometric);
    var color = shaded.diffuse + shaded.specular + surface.emissive;
    color = mix(color, surface.base_color.rgb, material.uv_row0.w);
    let offset = in.world - frame.eye.xyz;
    let behind = backdrop(offset);
    color = mix(color, behind, fog_amount(length(offset)));
    return vec4<f32>(color, 1.0);
}
