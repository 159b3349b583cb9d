//! What reflection finds: uses through calls, sizes, sample types, inputs and outputs.

mod util;

use purlin_shader::reflect::{BindingKind, SampleKind, SamplerKind, Stage, StorageAccess, ViewKind};
use util::{compile, demo, shader};

fn kinds(wgsl: &str) -> Vec<BindingKind> {
    let compiled = compile(wgsl);
    shader(&compiled).reflection.entries[0].bindings.iter().map(|binding| binding.kind).collect()
}

/// Case C103: what must be bound at least.
#[test]
fn minimum_binding_sizes() {
    let wgsl = "
        struct A { a: u32, b: vec2<u32> }
        struct B { a: mat4x4<f32>, b: f32 }
        struct C { a: u32, b: array<u32> }
        struct D { a: vec4<f32>, b: array<u32> }
        @group(0) @binding(0) var<uniform> bare: vec3<f32>;
        @group(0) @binding(1) var<uniform> a: A;
        @group(0) @binding(2) var<uniform> b: B;
        @group(0) @binding(3) var<storage> c: C;
        @group(0) @binding(4) var<storage> d: D;
        @group(0) @binding(5) var<storage, read_write> e: array<vec3<f32>>;
        @compute @workgroup_size(1) fn main() {
            e[0] = bare * f32(a.a) * b.b * f32(c.b[0]) * f32(d.b[0]);
        }";
    assert_eq!(
        kinds(wgsl),
        [
            BindingKind::Uniform { min_size: 12 },
            BindingKind::Uniform { min_size: 16 },
            BindingKind::Uniform { min_size: 80 },
            BindingKind::Storage { read_only: true, min_size: 8 },
            BindingKind::Storage { read_only: true, min_size: 32 },
            BindingKind::Storage { read_only: false, min_size: 16 },
        ]
    );
}

#[test]
fn textures_by_use() {
    let wgsl = "
        @group(0) @binding(0) var sampled: texture_2d<f32>;
        @group(0) @binding(1) var loaded: texture_2d_array<f32>;
        @group(0) @binding(2) var ints: texture_3d<i32>;
        @group(0) @binding(3) var uints: texture_1d<u32>;
        @group(0) @binding(4) var depth: texture_depth_cube;
        @group(0) @binding(5) var many: texture_multisampled_2d<f32>;
        @group(0) @binding(6) var cubes: texture_cube_array<f32>;
        @group(0) @binding(7) var smooth_s: sampler;
        @group(0) @binding(8) var nearest: sampler;
        @group(0) @binding(9) var compare: sampler_comparison;
        @group(0) @binding(10) var unused: texture_2d<f32>;
        fn pick(t: texture_2d<f32>, s: sampler) -> vec4<f32> { return textureSampleLevel(t, s, vec2(0.5), 0.0); }
        @compute @workgroup_size(1) fn main() {
            _ = pick(sampled, smooth_s);
            _ = textureLoad(loaded, vec2(0, 0), 0, 0);
            _ = textureLoad(ints, vec3(0, 0, 0), 0);
            _ = textureLoad(uints, 0, 0);
            _ = textureSampleLevel(depth, nearest, vec3(1.0), 0u);
            _ = textureSampleCompareLevel(depth, compare, vec3(1.0), 0.5);
            _ = textureLoad(many, vec2(0, 0), 1);
            _ = textureDimensions(cubes);
        }";
    let texture = |sample, view, multisampled| BindingKind::Texture { sample, view, multisampled };
    let sampler = |sampler| BindingKind::Sampler { sampler };
    assert_eq!(
        kinds(wgsl),
        [
            texture(SampleKind::Float, ViewKind::D2, false),
            texture(SampleKind::UnfilterableFloat, ViewKind::D2Array, false),
            texture(SampleKind::Sint, ViewKind::D3, false),
            texture(SampleKind::Uint, ViewKind::D1, false),
            texture(SampleKind::Depth, ViewKind::Cube, false),
            texture(SampleKind::UnfilterableFloat, ViewKind::D2, true),
            texture(SampleKind::UnfilterableFloat, ViewKind::CubeArray, false),
            sampler(SamplerKind::Filtering),
            sampler(SamplerKind::NonFiltering),
            sampler(SamplerKind::Comparison),
        ]
    );
}

#[test]
fn storage_textures() {
    let wgsl = "
        @group(0) @binding(0) var w: texture_storage_2d<rgba8unorm, write>;
        @group(0) @binding(1) var rw: texture_storage_3d<r32uint, read_write>;
        @group(0) @binding(2) var r: texture_storage_2d_array<rgba16float, read>;
        @compute @workgroup_size(1) fn main() {
            textureStore(w, vec2(0, 0), textureLoad(r, vec2(0, 0), 0));
            textureStore(rw, vec3(0, 0, 0), textureLoad(rw, vec3(0, 0, 0)));
        }";
    let storage = |access, format, view| BindingKind::StorageTexture { access, format, view };
    assert_eq!(
        kinds(wgsl),
        [
            storage(StorageAccess::WriteOnly, "Rgba8Unorm", ViewKind::D2),
            storage(StorageAccess::ReadWrite, "R32Uint", ViewKind::D3),
            storage(StorageAccess::ReadOnly, "Rgba16Float", ViewKind::D2Array),
        ]
    );
}

#[test]
fn entry_points_of_the_demo() {
    let compiled = demo().compile().unwrap();
    let cull = &compiled.shader("cull").unwrap().reflection;
    let main = cull.entry("cs_main").unwrap();
    assert_eq!((main.stage, main.workgroup_size), (Stage::Compute, [64, 1, 1]));
    let used: Vec<_> = main.bindings.iter().map(|b| (b.group, b.binding, b.name.as_str())).collect();
    assert_eq!(used, [(0, 0, "camera"), (0, 1, "instances"), (0, 2, "draws")]);
    assert_eq!(main.immediate_size, 96);
    let items = cull.entry("cs_items").unwrap();
    assert_eq!(items.workgroup_size, [8, 2, 1], "overrides take their defaults");
    assert_eq!(items.immediate_size, 0, "this entry point does not use the immediate");

    let draw = &compiled.shader("draw").unwrap().reflection;
    let vertex = draw.entry("vs_main").unwrap();
    assert_eq!(vertex.workgroup_size, [0, 0, 0]);
    let inputs: Vec<_> = vertex.inputs.iter().map(|io| (io.location, io.name.as_str(), io.format)).collect();
    assert_eq!(
        inputs,
        [
            (0, "position", "Float32x3"),
            (1, "normal", "Float32x3"),
            (2, "uv", "Float32x2"),
            (3, "joints", "Uint32x4")
        ]
    );
    assert!(vertex.outputs.is_empty());
    let fragment = draw.entry("fs_main").unwrap();
    let outputs: Vec<_> =
        fragment.outputs.iter().map(|io| (io.location, io.name.as_str(), io.format)).collect();
    assert_eq!(outputs, [(0, "color", "Float32x4"), (1, "id", "Uint32")]);
    assert!(fragment.writes_depth && fragment.inputs.is_empty());
}

/// Cases C100 and C102: a matrix of two rows has columns of 8 bytes; 20 bytes of members have a stride of 32.
#[test]
fn strides() {
    let compiled = compile(
        "struct M { m: mat2x2<f32> }
        struct Item { p: vec3<u32>, a: u32, b: u32 }
        @group(0) @binding(0) var<uniform> m: M;
        @group(0) @binding(1) var<storage, read_write> items: array<Item>;
        @group(0) @binding(2) var<storage, read_write> points: array<vec3<f32>>;
        @compute @workgroup_size(1) fn main() { items[0].a = u32(m.m[0].x + points[0].x); }",
    );
    let reflection = &shader(&compiled).reflection;
    let json = serde_json::to_value(reflection).unwrap();
    let matrix = &json["structs"][0];
    assert_eq!(matrix["size"], 16);
    assert_eq!(matrix["fields"][0]["type"]["column_stride"], 8);
    assert_eq!((reflection.arrays[0].stride, reflection.arrays[1].stride), (32, 16));
}

#[test]
fn the_vertex_stage_does_not_flip_y() {
    let compiled =
        compile("@vertex fn vs() -> @builtin(position) vec4<f32> { return vec4(0.0, 1.0, 0.0, 1.0); }");
    const OP_FNEGATE: u32 = 127;
    let words = &shader(&compiled).spirv;
    assert_eq!(words[1], 0x0001_0300, "SPIR-V 1.3");
    let mut at = 5;
    while at < words.len() {
        assert_ne!(words[at] & 0xffff, OP_FNEGATE);
        at += (words[at] >> 16) as usize;
    }
}
