//! What the integration tests share.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;

use purlin_shader::{Compiled, Error, Package, Shader, Target};

/// The package whose generated module is `tests/golden/demo.rs`.
pub fn demo() -> Package {
    Package::new("demo")
        .source("tests/shaders/cull.wgsl")
        .source("tests/shaders/draw.wgsl")
        .include_dir("tests/shaders/lib")
        .crate_path("crate::mirror")
}

/// The package whose generated module is `tests/golden/shapes.rs`. It has 64-bit integers, so it is native only.
pub fn shapes() -> Package {
    Package::new("shapes")
        .source("tests/shaders/shapes.wgsl")
        .targets(&[Target::SpirV])
        .crate_path("crate::mirror")
}

/// An empty directory for one test.
pub fn fresh_dir(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

pub fn compile(wgsl: &str) -> Compiled {
    Package::new("test")
        .text("test.wgsl", wgsl)
        .compile()
        .unwrap_or_else(|error| panic!("{}", error.report()))
}

pub fn fails(wgsl: &str) -> Error {
    Package::new("test").text("test.wgsl", wgsl).compile().expect_err("this must not compile")
}

pub fn fails_for(target: Target, wgsl: &str) -> Error {
    Package::new("test")
        .text("test.wgsl", wgsl)
        .targets(&[target])
        .compile()
        .expect_err("this must not compile")
}

pub fn shader(compiled: &Compiled) -> &Shader {
    &compiled.shaders()[0]
}
