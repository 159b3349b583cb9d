//! Type-check the libraries for systems that this machine does not run.
//!
//! A target that rustup installed is used as it is. Without one, a second toolchain from Debian's packages checks
//! against a `std` built from source. Both work in `target/cross`, so that neither disturbs the ordinary builds.

use crate::process::{self, Failure, Outcome};
use crate::setup::{cross, target_is_installed};
use crate::{layering, metadata};
use std::process::Command;

/// The systems beside Linux that must keep compiling.
pub const TARGETS: &[&str] = &["aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

/// `cargo xtask check-targets`
pub fn run(args: &[String]) -> Outcome {
    if let Some(option) = args.iter().find(|arg| arg.starts_with('-')) {
        return Err(Failure::new(format!("check-targets takes target names only, found `{option}`")));
    }
    let named: Vec<&str> = args.iter().map(String::as_str).collect();
    let targets = if named.is_empty() { TARGETS } else { &named };
    let packages = metadata::packages()?;
    let libraries = layering::libraries(&packages);
    for target in targets {
        println!("checking {} for {target}", libraries.join(", "));
        let mut command = check(target)?;
        for library in &libraries {
            command.args(["--package", library]);
        }
        process::run(&mut command)?;
    }
    Ok(())
}

/// Can a target be checked here, with what is installed or may be installed?
pub fn possible() -> bool {
    TARGETS.iter().all(|target| target_is_installed(target)) || cross::available()
}

fn check(target: &str) -> Outcome<Command> {
    let target_dir = process::root().join("target").join("cross");
    let mut command = if target_is_installed(target) {
        process::cargo(&["check"])
    } else {
        let toolchain = cross::ensure(target)?;
        let mut command = process::command(toolchain.cargo);
        command.arg("check").arg("--manifest-path").arg(process::root().join("Cargo.toml"));
        command.args(["-Zbuild-std=std", "--ignore-rust-version"]);
        command.env("RUSTC", toolchain.rustc).env("RUSTC_BOOTSTRAP", "1");
        // `cargo run` put the first toolchain's libraries here; the second must find its own.
        command.env_remove("LD_LIBRARY_PATH");
        command
    };
    command.args(["--target", target]).arg("--target-dir").arg(target_dir);
    Ok(command)
}
