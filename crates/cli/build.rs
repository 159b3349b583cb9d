//! Compiles the shaders: one that is wrong fails here, with file, line and column.

fn main() {
    let shaders =
        ["cull", "shadow", "opaque", "sky", "transparent", "bloom_down", "bloom_up", "tonemap", "overlay"];
    purlin_shader::build(
        purlin_shader::Package::new("shaders")
            .crate_path("::purlin::rhi")
            .sources(shaders.map(|name| format!("shaders/{name}.wgsl"))),
    );
}
