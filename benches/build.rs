//! Compiles the shaders, and notes which commit and profile the benchmark was built from.

use std::process::Command;

fn main() {
    println!("cargo:rustc-env=PURLIN_BENCH_COMMIT={}", commit());
    println!("cargo:rustc-env=PURLIN_BENCH_PROFILE={}", std::env::var("PROFILE").unwrap_or_default());
    for path in ["../.git/HEAD", "../.git/logs/HEAD"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-env-changed=PURLIN_BENCH_SCALE");
    let scale: u32 = std::env::var("PURLIN_BENCH_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let shaders = ["draws", "renderpass", "computepass", "chain", "overlay", "groups", "textures"];
    purlin_shader::build(
        purlin_shader::Package::new("shaders").sources(shaders.map(|name| format!("shaders/{name}.wgsl"))),
    );
    // No browser has arrays of bindings. Their lengths are part of the shader.
    let mut arrays = purlin_shader::Package::new("array_shaders")
        .targets(&[purlin_shader::Target::SpirV, purlin_shader::Target::WgslNative])
        .text("bindless.wgsl", of_length("shaders/bindless.wgsl", 70_000 / scale));
    for length in [50, 500, 5_000] {
        arrays = arrays.text(format!("array_{length}.wgsl"), of_length("shaders/array.wgsl", length));
    }
    purlin_shader::build(arrays);
}

/// A shader with `LENGTH` elements in its array.
fn of_length(path: &str, length: u32) -> String {
    println!("cargo:rerun-if-changed={path}");
    match std::fs::read_to_string(path) {
        Ok(text) => text.replace("LENGTH", &length.to_string()),
        Err(error) => panic!("{path}: {error}"),
    }
}

/// The commit, with a `+` when tracked files differ from it. Outside a repository it is unknown.
fn commit() -> String {
    let git = |args: &[&str]| -> Option<String> {
        let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match git(&["rev-parse", "--short=12", "HEAD"]) {
        None => "unknown".into(),
        Some(commit) => {
            let changed =
                git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
            format!("{commit}{}", if changed { "+" } else { "" })
        }
    }
}
