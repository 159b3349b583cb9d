//! The command line: one clear error, status 1, nothing half-written.
#![cfg(feature = "cli")]

mod util;

use std::fs;
use std::process::{Command, Output};

use util::fresh_dir;

fn cli(args: &[&str]) -> (Output, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_purlin-shader")).args(args).output().unwrap();
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    (output, stdout, stderr)
}

const INCLUDE: &str = "tests/shaders/lib";

#[test]
fn check_is_silent_about_good_shaders() {
    let (output, stdout, stderr) =
        cli(&["check", "-I", INCLUDE, "tests/shaders/cull.wgsl", "tests/shaders/draw.wgsl"]);
    assert!(output.status.success(), "{stderr}");
    assert_eq!((stdout.as_str(), stderr.as_str()), ("", ""));
}

#[test]
fn check_reports_every_bad_file() {
    let (output, _, stderr) = cli(&["check", "tests/shaders/cull.wgsl", "none.wgsl", "shader.glsl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.starts_with(
        "error: cannot find the imported file `common.wgsl`\n --> tests/shaders/cull.wgsl:1:10\n"
    ));
    assert!(stderr.contains("error: none.wgsl: "), "{stderr}");
    assert!(stderr.contains("error: shader.glsl: unsupported source language `glsl`"), "{stderr}");
}

#[test]
fn build_writes_all_or_nothing() {
    let dir = fresh_dir("cli_build");
    let out = dir.join("out");
    let out_text = out.to_str().unwrap();
    let (output, stdout, stderr) =
        cli(&["build", "--name", "demo", "--out", out_text, "-I", INCLUDE, "tests/shaders/cull.wgsl"]);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stdout.trim_end(), out.join("demo.rs").to_str().unwrap());
    assert!(fs::read_to_string(out.join("demo.rs")).unwrap().contains("pub use ::purlin_rhi::shader::"));

    let bad = dir.join("bad.wgsl");
    fs::write(&bad, "fn f() { oops(); }").unwrap();
    let none = dir.join("none");
    let (output, _, stderr) = cli(&[
        "build",
        "--name",
        "demo",
        "--out",
        none.to_str().unwrap(),
        "-I",
        INCLUDE,
        "tests/shaders/cull.wgsl",
        bad.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("bad.wgsl:1:10"), "{stderr}");
    assert!(!none.exists());
}

#[test]
fn reflect_prints_json() {
    let (output, stdout, stderr) = cli(&["reflect", "-I", INCLUDE, "-t", "spirv", "tests/shaders/draw.wgsl"]);
    assert!(output.status.success(), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["entries"][1]["name"], "fs_main");
    assert_eq!(json["entries"][1]["bindings"][1]["sample"], "float");
}

#[test]
fn unknown_targets_are_named() {
    let (output, _, stderr) = cli(&["check", "-t", "glsl", "tests/shaders/draw.wgsl"]);
    assert!(!output.status.success());
    assert!(stderr.contains("unknown target `glsl`"), "{stderr}");
}
