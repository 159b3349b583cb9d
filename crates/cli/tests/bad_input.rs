//! Bad input ends in one clear line, exit code 1, and no file.

mod common;

use common::{TempDir, demo, gpu, refusal};
use purlin::rhi::null::{Null, NullConfig};
use purlin::rhi::{Device, DeviceRequest};
use purlin_cli::error::DemoError;
use purlin_cli::renderer::{REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::{Scene, SceneOptions};
use purlin_cli::size::Size;

/// Runs the demo small, expects a refusal that contains `expected`, and that the folder holds what it held before.
#[track_caller]
fn refused(folder: &TempDir, args: &[&str], expected: &str) {
    let before = folder.names();
    let outputs = [["--out", "f.png"], ["--report", "r.html"]];
    let outputs = outputs.iter().filter(|pair| !args.contains(&pair[0])).flatten();
    let output = demo(folder)
        .args(["--size", "32x32", "--frames", "1"])
        .args(outputs)
        .args(args)
        .output()
        .expect("the demo runs");
    let line = refusal(&output);
    assert!(line.contains(expected), "{args:?}: {line}");
    assert_eq!(folder.names(), before, "{args:?} left something behind");
}

/// The same for what stands before everything else on the line.
#[track_caller]
fn refused_alone(args: &[&str], expected: &str) {
    let folder = TempDir::new("refused");
    let output = demo(&folder).args(args).output().expect("the demo runs");
    let line = refusal(&output);
    assert!(line.contains(expected), "{args:?}: {line}");
    assert!(folder.names().is_empty(), "{args:?} left something behind");
}

#[test]
fn missing_and_broken_models() {
    let folder = TempDir::new("models");
    refused(&folder, &["missing.gltf"], "cannot read 'missing.gltf'");
    refused(&folder, &["."], "cannot read '.'");

    folder.file("empty.glb", b"");
    refused(&folder, &["empty.glb"], "model 'empty.glb'");
    folder.file("text.glb", b"this is no model");
    refused(&folder, &["text.glb"], "model 'text.glb'");
    // A header that promises 1000 bytes, and ends.
    folder.file("cut.glb", b"glTF\x02\0\0\0\xe8\x03\0\0");
    refused(&folder, &["cut.glb"], "model 'cut.glb'");
    folder.file("half.gltf", br#"{"asset": {"version": "2.0"}, "meshes": ["#);
    refused(&folder, &["half.gltf"], "model 'half.gltf'");
}

#[test]
fn bad_references() {
    let folder = TempDir::new("references");
    refused(&folder, &["--compare", "missing.png"], "cannot read 'missing.png'");
    folder.file("text.png", b"this is no picture");
    refused(&folder, &["--compare", "text.png"], "cannot compare with 'text.png'");
    let png = purlin_cli::picture::encode_png(Size { width: 1, height: 1 }, &[0; 4]).expect("a PNG");
    folder.file("small.png", &png);
    refused(&folder, &["--compare", "small.png"], "it is 1x1, the picture is 32x32");
}

#[test]
fn unsupported_models() {
    let folder = TempDir::new("unsupported");
    let extension = r#"{"asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_draco_mesh_compression"], "extensionsRequired": ["KHR_draco_mesh_compression"]}"#;
    folder.file("draco.gltf", extension);
    refused(&folder, &["draco.gltf"], "requires the extension KHR_draco_mesh_compression");
    folder.file("old.gltf", r#"{"asset": {"version": "1.0"}}"#);
    refused(&folder, &["old.gltf"], "model 'old.gltf'");
    let buffer = r#"{"asset": {"version": "2.0"}, "buffers": [{"uri": "gone.bin", "byteLength": 4}]}"#;
    folder.file("parts.gltf", buffer);
    refused(&folder, &["parts.gltf"], "gone.bin");
}

#[test]
fn sizes() {
    refused_alone(&["--size", "0x0"], "the width is zero");
    refused_alone(&["--size", "640x0"], "the height is zero");
    refused_alone(&["--size", "100000x10"], "the width 100000 is beyond the limit of 16384");
    refused_alone(&["--size", "640"], "expected WIDTHxHEIGHT");
    refused_alone(&["--frames", "0"], "0");
    refused_alone(&["--nonsense"], "--nonsense");
}

#[test]
fn a_size_beyond_the_device() {
    let mut config = NullConfig::default();
    config.limits.max_texture_dimension_2d = 512;
    let request = DeviceRequest { required_features: REQUIRED_FEATURES, ..Default::default() };
    let mut device = Device::from_backend(Null::new(config), &request).expect("a null device");
    let scene = Scene::procedural(&SceneOptions::default());
    let size = Size { width: 513, height: 10 };
    match Renderer::new(&mut device, &scene, size, &mut |_| {}) {
        Err(error @ DemoError::Size { .. }) => {
            assert_eq!(error.to_string(), "size 513x10 is beyond the limit of 512x512");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_unknown_adapter_is_told_what_there_is() {
    let Some(mut gpu) = gpu("unknown adapter") else { return };
    let name = gpu.device().adapter().name.clone();
    let folder = TempDir::new("adapter");
    refused(&folder, &["--adapter", "no such thing"], &name);
    refused(&folder, &["--adapter", ""], "adapter");
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = TempDir::new("outputs");
    std::fs::create_dir(folder.path().join("folder.png")).expect("a folder");
    refused(&folder, &["--out", "folder.png"], "cannot write 'folder.png'");
    refused(&folder, &["--report", "."], "cannot write '.'");
    folder.file("file", b"");
    refused(&folder, &["--out", "file/f.png"], "cannot create 'file'");
    refused(&folder, &["--report", "f.png"], "cannot be one file");

    let precious = folder.file("precious.png", b"precious");
    let mut permissions = std::fs::metadata(&precious).expect("it is there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&precious, permissions).expect("it is ours");
    refused(&folder, &["--out", "precious.png"], "read-only");
    assert_eq!(std::fs::read(&precious).expect("it is there"), b"precious");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_not_replaced() {
    let folder = TempDir::new("devices");
    refused(&folder, &["--out", "/dev/null"], "not a plain file");
    refused(&folder, &["--out", "/proc/frame.png"], "cannot write '/proc/frame.png'");
}

/// A file system of 64 KiB, mounted where only the demo sees it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_old_file() {
    let folder = TempDir::new("full");
    let unshare = |script: &str| {
        let mut command = std::process::Command::new("unshare");
        command
            .args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_purlin-demo")])
            .current_dir(folder.path());
        command.output()
    };
    const MOUNT: &str = "mount -t tmpfs -o size=64k tmpfs . && cd \"$PWD\" && printf old > f.png";
    if !unshare(MOUNT).is_ok_and(|output| output.status.success()) {
        println!("skipped: this system does not let us mount a small file system");
        return;
    }
    if gpu("full disk").is_none() {
        return;
    }
    let run = r#"; "$0" --size 320x180 --frames 1 --out f.png --report r.html; code=$?"#;
    let check =
        r#"; test "$(cat f.png)" = old && test "$(ls -A)" = f.png || echo "it left something"; exit $code"#;
    let output = unshare(&format!("{MOUNT}{run}{check}")).expect("it ran before");
    let line = refusal(&output);
    assert!(line.starts_with("cannot write 'f.png': No space left on device"), "{line}");
}
