//! Compiles the shaders of the services, where they are asked for.

fn main() {
    #[cfg(feature = "mips")]
    purlin_shader::build(purlin_shader::Package::new("shaders").source("shaders/mips.wgsl"));
    #[cfg(feature = "bounds")]
    purlin_shader::build(purlin_shader::Package::new("bounds_shaders").source("shaders/bounds.wgsl"));
}
