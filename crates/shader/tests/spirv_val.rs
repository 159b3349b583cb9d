//! SPIR-V passes Khronos' validator, where it is installed; without `spirv-val` these tests have nothing to ask.

mod util;

use std::fs;
use std::process::Command;

use util::{compile, demo, fresh_dir, shader, shapes};

fn validate(name: &str, words: &[u32]) {
    let path = fresh_dir(name).join("module.spv");
    fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    match Command::new("spirv-val").args(["--target-env", "vulkan1.2"]).arg(&path).output() {
        Ok(output) => assert!(
            output.status.success(),
            "{name}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(_) => eprintln!("spirv-val is not installed: {name} is not validated"),
    }
}

#[test]
fn golden_packages() {
    let packages = [demo().compile().unwrap(), shapes().compile().unwrap()];
    for shader in packages.iter().flat_map(|compiled| compiled.shaders()) {
        validate(&format!("val_{}", shader.name), &shader.spirv);
    }
}

/// Case C106: `default` that is not last, `continue` and `break` from within a switch in a loop.
#[test]
fn control_flow() {
    let compiled = compile(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32, 2>;
        fn f(x: u32) -> u32 {
            switch x { default: { return 9u; } case 1u: { return 1u; } case 2u: { return 2u; } }
        }
        @compute @workgroup_size(1) fn main() {
            for (var i = 0u; i < 2u; i++) {
                switch data[i] {
                    case 1u: { continue; }
                    case 2u: { break; }
                    default: { data[i] = 2u * i; }
                }
            }
            data[0] += f(data[1]);
        }",
    );
    validate("val_control_flow", &shader(&compiled).spirv);
}

/// Case C100: a matrix of two rows in a uniform block.
#[test]
fn two_row_matrices() {
    let compiled = compile(
        "struct M { m: mat2x2<f32> }
        @group(0) @binding(0) var<uniform> m: M;
        @group(0) @binding(1) var<storage, read_write> out: array<f32, 4>;
        @compute @workgroup_size(1) fn main() {
            out[0] = m.m[0].x; out[1] = m.m[0].y; out[2] = m.m[1].x; out[3] = m.m[1].y;
        }",
    );
    validate("val_matrix", &shader(&compiled).spirv);
}

#[test]
fn immediates_workgroup_memory_and_atomics() {
    let compiled = compile(
        "struct Push { scale: f32, offset: vec2<u32> }
        var<immediate> push: Push;
        var<workgroup> tile: array<atomic<u32>, 64>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            atomicAdd(&tile[i / 2u], push.offset.y + u32(push.scale));
            workgroupBarrier();
            out[i] = atomicLoad(&tile[i]) / push.offset.x;
        }",
    );
    validate("val_immediates", &shader(&compiled).spirv);
}
