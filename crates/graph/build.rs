//! Compiles the shader of the mip generator, where it is asked for.

fn main() {
    #[cfg(feature = "mips")]
    purlin_shader::build(purlin_shader::Package::new("shaders").source("shaders/mips.wgsl"));
}
