//! Compiles the test's shaders.

fn main() {
    purlin_shader::build(
        purlin_shader::Package::new("shaders").source("shaders/pattern.wgsl").crate_path("::purlin::rhi"),
    );
}
