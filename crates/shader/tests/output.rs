//! Outputs: the same bytes every time, hashes that are true, nothing half-written, nothing of this machine.

mod util;

use std::fs;

use purlin_shader::{Error, Package, Target};
use sha2::{Digest, Sha256};
use util::{demo, fresh_dir};

#[test]
fn same_input_same_bytes() {
    let [a, b] = [demo().compile().unwrap(), demo().compile().unwrap()];
    assert!(a.files().eq(b.files()));
    let names: Vec<&str> = a.files().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "demo.rs",
            "demo/cull.spv",
            "demo/cull.wgsl",
            "demo/draw.spv",
            "demo/draw.wgsl",
            "demo/manifest.json"
        ]
    );
}

#[test]
fn absolute_sources_leave_no_trace_of_the_machine() {
    let here = std::env::current_dir().unwrap();
    let compiled = Package::new("demo")
        .source(here.join("tests/shaders/cull.wgsl"))
        .source(here.join("tests/shaders/draw.wgsl"))
        .include_dir(here.join("tests/shaders/lib"))
        .crate_path("crate::mirror")
        .compile()
        .unwrap();
    assert!(compiled.files().eq(demo().compile().unwrap().files()));
}

#[test]
fn manifest_tells_the_truth() {
    let dir = fresh_dir("manifest");
    let written = demo().compile().unwrap().write(&dir).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(&written.manifest).unwrap()).unwrap();
    assert_eq!(manifest["package"], "demo");
    assert_eq!(manifest["tools"]["purlin-shader"], env!("CARGO_PKG_VERSION"));
    assert!(manifest["tools"]["naga"].as_str().unwrap().starts_with("30"));
    assert_eq!(manifest["options"]["targets"], serde_json::json!(["spirv", "wgsl"]));
    let hash = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    let outputs = manifest["outputs"].as_array().unwrap();
    assert_eq!(outputs.len() + 1, written.files.len());
    for output in outputs {
        let bytes = fs::read(dir.join(output["path"].as_str().unwrap())).unwrap();
        assert_eq!(output["sha256"], hash(&bytes));
        assert_eq!(output["bytes"], bytes.len());
    }
    let inputs = manifest["shaders"][0]["inputs"].as_array().unwrap();
    let paths: Vec<_> = inputs.iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["tests/shaders/cull.wgsl", "tests/shaders/lib/common.wgsl"]);
    for input in inputs {
        assert_eq!(input["sha256"], hash(&fs::read(input["path"].as_str().unwrap()).unwrap()));
    }
    assert_eq!(manifest["shaders"][0]["entries"][0]["name"], "cs_main");
}

#[test]
fn a_failed_write_leaves_nothing() {
    let dir = fresh_dir("failed_write");
    // A file where the package's directory would be.
    fs::write(dir.join("demo"), "in the way").unwrap();
    let error = demo().compile().unwrap().write(&dir).unwrap_err();
    assert!(matches!(error, Error::Io { .. }));
    let left: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["demo"]);
}

#[test]
fn a_source_is_never_overwritten() {
    let dir = fresh_dir("overwrite");
    fs::create_dir(dir.join("pack")).unwrap();
    let source = dir.join("pack/a.wgsl");
    let wgsl = "@compute @workgroup_size(1) fn main() {}";
    fs::write(&source, wgsl).unwrap();
    let error = Package::new("pack").source(&source).compile().unwrap().write(&dir).unwrap_err();
    assert!(error.to_string().contains("overwrite a source"), "{error}");
    assert_eq!(fs::read_to_string(&source).unwrap(), wgsl);
}

#[test]
fn undeclared_targets_are_empty() {
    let package = demo().targets(&[Target::Wgsl]);
    let compiled = package.compile().unwrap();
    assert!(compiled.shaders().iter().all(|shader| shader.spirv.is_empty() && !shader.wgsl.is_empty()));
    assert!(compiled.files().all(|(name, _)| !name.ends_with(".spv")));
    assert!(compiled.module().contains("static SPIRV: [u32; 0] = [];"));
}

#[test]
fn inputs_include_imports() {
    let compiled = demo().compile().unwrap();
    let inputs: Vec<_> = compiled.inputs().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(
        inputs,
        ["tests/shaders/cull.wgsl", "tests/shaders/draw.wgsl", "tests/shaders/lib/common.wgsl"]
    );
}
