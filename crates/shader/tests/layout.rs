//! Generated text for shapes beyond the demo: raised alignment, conflicts, quotes.

mod util;

use purlin_shader::Package;
use util::compile;

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "missing `{part}` in\n{text}");
}

/// A buffer for one element is never smaller than what the shader's binding needs.
#[test]
fn raised_alignment_counts_in_runtime_arrays() {
    let compiled = compile(
        "struct S { @align(64) a: u32, list: array<u32> }
        @group(0) @binding(0) var<storage> s: S;
        @compute @workgroup_size(1) fn main() { _ = s.list[0]; }",
    );
    has(compiled.module(), "NonZeroU64::new(64)");
    has(compiled.module(), "ArrayLayout { offset: 4, stride: 4, align: 64 }");
}

#[test]
fn entry_points_may_disagree_about_a_slot() {
    let compiled = compile(
        "@group(0) @binding(0) var<uniform> a: vec4<f32>;
        @group(0) @binding(0) var b: texture_2d<f32>;
        @group(0) @binding(1) var<storage, read_write> out: vec4<f32>;
        @compute @workgroup_size(1) fn one() { out = a; }
        @compute @workgroup_size(1) fn two() { out = textureLoad(b, vec2(0, 0), 0); }",
    );
    let text = compiled.module();
    has(text, "There is no GROUP0");
    assert!(!text.contains("pub const GROUP0"));
    has(text, "pub const A: ");
    has(text, "pub const B: ");
}

#[test]
fn same_name_with_another_layout_is_not_shared() {
    let shader = |members: &str| {
        format!(
            "struct S {{ {members} }} struct T {{ s: S }}
            @group(0) @binding(0) var<storage> t: T;
            @compute @workgroup_size(1) fn main() {{ _ = t.s.x; }}"
        )
    };
    let compiled = Package::new("test")
        .text("a.wgsl", shader("x: f32"))
        .text("b.wgsl", shader("x: u32"))
        .compile()
        .unwrap();
    assert!(!compiled.module().contains("pub mod shared"), "T has one size in both, but not one meaning");
}

#[test]
fn quotes_and_hashes_in_wgsl() {
    let wgsl = "// say \"# and \"## here\n@compute @workgroup_size(1) fn main() {}\n";
    let compiled = compile(wgsl);
    has(compiled.module(), &format!("r###\"{wgsl}\"###;"));
}
