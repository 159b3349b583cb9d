//! Errors say what, where and what to do, in the file where the text was written.

mod util;

use std::fs;

use purlin_shader::{Capabilities, Error, Package, Target};
use util::{fails, fails_for, fresh_dir};

#[track_caller]
fn assert_at(error: &Error, line: u32, column: u32) {
    let at = error.location().unwrap_or_else(|| panic!("no location: {}", error.report()));
    assert_eq!((at.line, at.column), (line, column), "{}", error.report());
}

#[test]
fn parse_error_points_at_the_name() {
    let error = fails("fn f() -> f32 {\n    return 1.0 + bark;\n}\n");
    assert!(matches!(error, Error::Parse(_)));
    assert_at(&error, 2, 18);
    let report = error.report();
    assert!(report.starts_with("error: no definition in scope for identifier: `bark`"), "{report}");
    assert!(report.contains(" --> test.wgsl:2:18\n"), "{report}");
    assert!(report.contains("2 |     return 1.0 + bark;\n  |                  ^^^^"), "{report}");
    assert!(error.to_string().starts_with("test.wgsl:2:18: no definition"));
    assert_eq!(error.to_string().lines().count(), 1);
}

#[test]
fn columns_count_characters_and_tabs_stay() {
    let error = fails("fn f() {\n\t/* é漢 */ bark();\n}");
    assert_at(&error, 2, 11);
    assert!(error.report().contains("| \t         ^^^^"), "{}", error.report());
}

#[test]
fn error_at_the_end_of_the_text() {
    let error = fails("fn f() {\n  let a = 1;");
    let at = error.location().unwrap();
    assert_eq!(at.line, 2, "{}", error.report());
}

#[test]
fn empty_text_is_a_module_without_anything() {
    let compiled = Package::new("test").text("empty.wgsl", "").compile().unwrap();
    assert!(compiled.shaders()[0].spirv.is_empty());
}

#[test]
fn errors_map_back_into_imports_and_past_them() {
    let dir = fresh_dir("errors_map");
    fs::create_dir(dir.join("lib")).unwrap();
    fs::write(dir.join("lib/a.wgsl"), "#import \"b.wgsl\"\nfn a() -> f32 { return b(); }\n").unwrap();
    fs::write(
        dir.join("lib/b.wgsl"),
        "// one\r\n#import \"a.wgsl\"\r\nfn b() -> f32 {\r\n  return oops;\r\n}",
    )
    .unwrap();
    let root = dir.join("root.wgsl");
    fs::write(&root, "#import \"lib/a.wgsl\"\n#import \"lib/b.wgsl\"\n\nfn c() -> f32 { return a(); }\n")
        .unwrap();
    let error = Package::new("test").source(&root).compile().unwrap_err();
    assert_at(&error, 4, 10);
    let at = error.location().unwrap();
    assert!(at.file.ends_with("b.wgsl"), "{}", at.file);
    assert_eq!(at.text, "  return oops;");

    fs::write(dir.join("lib/b.wgsl"), "fn b() -> f32 { return 1.0; }").unwrap();
    fs::write(&root, "#import \"lib/a.wgsl\"\n\nfn c() -> f32 { return a() + oops; }\n").unwrap();
    let error = Package::new("test").source(&root).compile().unwrap_err();
    assert_at(&error, 3, 30);
    assert!(error.location().unwrap().file.ends_with("root.wgsl"));

    fs::write(&root, "#import \"lib/a.wgsl\"\n#import \"lib/b.wgsl\"\nfn c() -> f32 { return a() + b(); }\n")
        .unwrap();
    Package::new("test").source(&root).compile().unwrap();
}

#[test]
fn import_errors() {
    let error = fails("// x\n  #import \"nowhere.wgsl\"\n");
    assert!(matches!(error, Error::Import(_)));
    assert_at(&error, 2, 12);
    assert!(error.report().contains("include directories"), "{}", error.report());

    let error = Package::new("test")
        .text("test.wgsl", "#import \"nowhere.wgsl\"")
        .include_dir("tests/shaders")
        .compile()
        .unwrap_err();
    assert!(error.report().contains("searched `tests/shaders`"), "{}", error.report());

    assert_at(&fails("#define X 1"), 1, 1);
    assert_at(&fails("#import \"/etc/hosts\""), 1, 10);
    // Inside a block comment nothing is a directive.
    assert!(Package::new("t").text("t.wgsl", "/*\n#define X\n*/").compile().is_ok());
}

#[test]
fn validation_error_names_the_thing() {
    let error = fails("struct S { flag: bool }\n@group(0) @binding(0) var<uniform> s: S;\n");
    assert!(matches!(error, Error::Validation(_)), "{}", error.report());
    let at = error.location().unwrap();
    assert_eq!(at.line, 2, "{}", error.report());
    assert!(error.to_string().contains("`s`"), "{error}");

    let error =
        fails("@fragment\nfn fs(@location(0) a: bool) -> @location(0) vec4<f32> {\n  return vec4(0.0);\n}\n");
    assert!(matches!(error, Error::Validation(_)), "{}", error.report());
    assert!(error.to_string().contains("fragment entry point `fs`"), "{error}");
}

#[test]
fn capabilities_can_be_withheld() {
    let wgsl = "var<immediate> x: u32;\n@compute @workgroup_size(1) fn f() { let y = x; }";
    let package = Package::new("test").text("test.wgsl", wgsl);
    assert!(package.compile().is_ok());
    let error = package.capabilities(Capabilities::empty()).compile().unwrap_err();
    assert!(matches!(error, Error::Validation(_)), "{}", error.report());
    assert_at(&error, 1, 1);
}

const BINDING_ARRAY: &str = "enable wgpu_binding_array;
@group(0) @binding(0) var textures: binding_array<texture_2d<f32>, 4>;
@compute @workgroup_size(1)
fn main() { _ = textureLoad(textures[2], vec2(0, 0), 0); }
";

#[test]
fn a_target_that_cannot_lower_is_named() {
    let compiled =
        Package::new("test").text("t.wgsl", BINDING_ARRAY).targets(&[Target::SpirV]).compile().unwrap();
    assert_eq!(compiled.shaders()[0].reflection.entries[0].bindings[0].count, 4);
    assert!(compiled.shaders()[0].wgsl.is_empty());

    let native = Package::new("test").text("t.wgsl", BINDING_ARRAY);
    let native = native.targets(&[Target::SpirV, Target::WgslNative]).compile().unwrap();
    assert_eq!(native.shaders()[0].wgsl, BINDING_ARRAY);

    let error = fails(BINDING_ARRAY);
    assert!(matches!(error, Error::Target { target: Target::Wgsl, .. }), "{}", error.report());
    assert_eq!(error.location().unwrap().line, 2);
    assert!(error.report().lines().next().unwrap().contains("(target `wgsl`)"), "{}", error.report());

    let error = Package::new("test")
        .text("t.wgsl", "@group(0) @binding(0) var video: texture_external;\n")
        .targets(&[Target::SpirV])
        .capabilities(Capabilities::all())
        .compile()
        .unwrap_err();
    assert!(matches!(error, Error::Target { target: Target::SpirV, .. }), "{}", error.report());
    assert!(error.location().is_some(), "{}", error.report());
}

#[test]
fn a_sample_mask_cannot_be_written_as_spirv() {
    for source in [
        "@fragment fn mask() -> @builtin(sample_mask) u32 { return 1u; }",
        "struct Out { @location(0) c: vec4<f32>, @builtin(sample_mask) m: u32 }
         @fragment fn mask() -> Out { return Out(vec4<f32>(), 1u); }",
        "@fragment fn mask(@builtin(sample_mask) m: u32) -> @location(0) u32 { return m; }",
    ] {
        let error = fails(source);
        assert!(matches!(error, Error::Target { target: Target::SpirV, .. }), "{}", error.report());
        assert!(error.report().contains("`mask` has a `@builtin(sample_mask)`"), "{}", error.report());
        let wgsl = Package::new("test").text("t.wgsl", source).targets(&[Target::Wgsl]).compile();
        assert!(wgsl.is_ok(), "WGSL says it as it is");
    }
}

/// naga speaks of its own types and indices; a report speaks of the shader.
#[test]
fn reports_have_hints_and_no_internals() {
    let error = fails("struct S { a: array<f32, 4> }\n@group(0) @binding(0) var<uniform> s: S;");
    let report = error.report();
    assert!(report.contains("= help: elements of arrays in uniform buffers"), "{report}");
    assert!(!report.contains("naga::"), "{report}");
    assert!(fails("fn f() { g(); }").report().contains("= help: declare it, or `#import`"));
}

#[test]
fn f64_is_native_only() {
    let wgsl = "@group(0) @binding(0) var<storage, read_write> x: f64;
@compute @workgroup_size(1) fn main() { x = x + 1.0lf; }";
    assert!(matches!(fails(wgsl), Error::Target { target: Target::Wgsl, .. }));
}

#[test]
fn override_without_a_value() {
    let error = fails("override N: u32;\n@compute @workgroup_size(N) fn main() {}");
    assert!(matches!(error, Error::Override(_)), "{}", error.report());
    assert_eq!(error.location().unwrap().line, 1);
    assert!(error.to_string().contains("`N`"));
}

#[test]
fn unsupported_sources() {
    for name in ["a.spv", "a.glsl", "a.vert", "a"] {
        let error = Package::new("test").source(name).compile().unwrap_err();
        assert!(matches!(error, Error::UnsupportedSource { .. }), "{error}");
    }
    let error = Package::new("test").source("tests/none.wgsl").compile().unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("none.wgsl"), "{error}");
    assert!(matches!("glsl".parse::<Target>(), Err(Error::UnknownTarget { .. })));
}

#[test]
fn unsupported_resources() {
    let error = fails_for(
        Target::SpirV,
        "enable wgpu_binding_array;
@group(0) @binding(0) var textures: binding_array<texture_2d<f32>>;
@compute @workgroup_size(1) fn main() { _ = textureLoad(textures[2], vec2(0, 0), 0); }",
    );
    assert!(matches!(error, Error::Unsupported(_)), "{}", error.report());
    assert_eq!(error.location().unwrap().line, 2);

    let error = fails(
        "@group(4000000000) @binding(0) var<uniform> a: vec4<f32>;
@compute @workgroup_size(1) fn main() { _ = a; }",
    );
    assert!(error.to_string().contains("`a`: the group index"), "{error}");
}

#[test]
fn package_declarations_are_checked() {
    let wrong = |package: Package| matches!(package.compile(), Err(Error::Package { .. }));
    assert!(wrong(Package::new("test")));
    assert!(wrong(Package::new("../test").text("a.wgsl", "")));
    assert!(wrong(Package::new("test").text("a.wgsl", "").targets(&[])));
    assert!(wrong(Package::new("test").text("a.wgsl", "").crate_path("super::x")));
    assert!(wrong(Package::new("test").text("a-b.wgsl", "").text("a_b.wgsl", "")));
}
