//! Compiles the shader of the tests' pictures, which the windows' tests show too.

fn main() {
    #[cfg(feature = "tests")]
    purlin_shader::build(
        purlin_shader::Package::new("shaders")
            .source("../conformance/windows/shaders/pattern.wgsl")
            .crate_path("::purlin::rhi"),
    );
}
