//! Random resizes under load, on servers that the tests start themselves.
#![cfg(target_os = "linux")]

mod servers;

use std::time::Duration;

use servers::{Server, System, finish};

/// Runs the probe, which checks pictures, frames and validation, and counts what it claims.
fn probe(test: &str, system: System, resizes: u32, env: &[(&str, &str)]) {
    let Some(server) = Server::start(system, test) else { return };
    let mut command = server.command(env!("CARGO_BIN_EXE_purlin-window-probe"));
    let capture = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.png"));
    command.arg(if system == System::X11 { "x11" } else { "wayland" });
    command.args(["--resizes", &resizes.to_string(), "--capture", &capture.display().to_string()]);
    command.envs(env.iter().copied());
    match finish(command, Duration::from_secs(400)) {
        Ok(said) => {
            println!("{said}");
            assert!(said.contains(&format!("{resizes} resizes")), "{said}");
            let (width, height) = image::image_dimensions(&capture).expect("the captured picture");
            assert_eq!((width, height), (480, 300));
        }
        Err(said) if said.contains("no adapter") && std::env::var_os("PURLIN_REQUIRE_GPU").is_none() => {
            println!("{test}: skipped: {said}");
        }
        Err(said) => panic!("{test}: {said}"),
    }
}

#[test]
fn c074_c076_resizes_under_load_on_x11() {
    probe("x11", System::X11, 500, &[("PURLIN_BACKEND", "vulkan")]);
}

#[test]
fn c074_c076_resizes_under_load_on_wayland() {
    probe("wayland", System::Wayland, 500, &[("PURLIN_BACKEND", "vulkan")]);
}

#[test]
fn c076_resizes_without_present_fences() {
    let env = [("PURLIN_BACKEND", "vulkan"), ("PURLIN_VULKAN_PRESENT_FENCES", "0")];
    probe("unfenced", System::X11, 150, &env);
}

/// wgpu does not ask for synchronization validation by itself.
const WGPU: [(&str, &str); 2] =
    [("PURLIN_BACKEND", "wgpu-vulkan"), ("VK_KHRONOS_VALIDATION_VALIDATE_SYNC", "1")];

#[test]
fn c074_resizes_through_wgpu_on_x11() {
    probe("wgpu-x11", System::X11, 500, &WGPU);
}

#[test]
fn c074_resizes_through_wgpu_on_wayland() {
    probe("wgpu-wayland", System::Wayland, 500, &WGPU);
}

#[test]
fn c074_resizes_through_wgpu_on_opengl() {
    probe("wgpu-gl", System::X11, 100, &[("PURLIN_BACKEND", "wgpu-gl")]);
}
