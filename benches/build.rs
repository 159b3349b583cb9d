//! Compiles the shaders, and notes which commit and profile the benchmark was built from.

use std::process::Command;

fn main() {
    println!("cargo:rustc-env=PURLIN_BENCH_COMMIT={}", commit());
    println!("cargo:rustc-env=PURLIN_BENCH_PROFILE={}", std::env::var("PROFILE").unwrap_or_default());
    for path in ["../.git/HEAD", "../.git/logs/HEAD"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let shaders = ["draws", "renderpass", "computepass", "chain", "overlay", "groups", "textures"];
    purlin_shader::build(
        purlin_shader::Package::new("shaders").sources(shaders.map(|name| format!("shaders/{name}.wgsl"))),
    );
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
