// Samples cube arrays, in a module of its own: where there are none, WebGL 2 refuses the whole module.

struct Probe {
    place: vec3<f32>,
    // Counts cubes.
    cube: f32,
}

@group(0) @binding(0) var<storage, read_write> answer: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> probes: array<Probe>;
@group(0) @binding(2) var samples: sampler;
@group(0) @binding(3) var cubes: texture_cube_array<f32>;

@compute @workgroup_size(1)
fn sample_cubes(@builtin(global_invocation_id) id: vec3<u32>) {
    let probe = probes[id.x];
    answer[id.x] = textureSampleLevel(cubes, samples, probe.place, i32(probe.cube), 0.0);
}
