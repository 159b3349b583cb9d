//! Compiles the examples' shaders.

fn main() {
    purlin_shader::build(
        purlin_shader::Package::new("shaders")
            .source("shaders/gradient.wgsl")
            .source("shaders/triangle.wgsl")
            .crate_path("::purlin::rhi"),
    );
}
