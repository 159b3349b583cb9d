//! The proofs that need more than stable Rust: Miri, and fuzzing against the model of the RHI's tests.

use crate::process::{self, Failure, Outcome};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The parts of the RHI that hold handles, slots, leases, owners and recorders, by the names of their tests. What
/// several threads record is not among them: the thread pool itself breaks Miri's rules.
const MIRI_UNITS: &[&str] = &["handle::", "label::", "owned::", "record::", "registry::", "table::"];
const MIRI_CONTRACTS: &[&str] = &["handles::", "lifetime::dependents", "lifetime::destruction"];

/// Leaked on purpose: an owner may end after its device, so the queue that it tells of it lives for ever.
const MIRI_FLAGS: &str = "-Zmiri-ignore-leaks -Zmiri-disable-isolation";

/// `cargo xtask miri`
pub fn miri(args: &[String]) -> Outcome {
    if let Some(found) = args.first() {
        return Err(Failure::new(format!("miri takes no arguments, found `{found}`")));
    }
    if let Some(missing) = miri_lacks() {
        return Err(Failure::new(missing));
    }
    for (target, filters) in [(&["--lib"][..], MIRI_UNITS), (&["--test", "contract"], MIRI_CONTRACTS)] {
        let mut command = nightly(&["miri", "test"]);
        command.arg("--manifest-path").arg(process::root().join("Cargo.toml"));
        command.args(["--package", "purlin-rhi"]).args(target).arg("--").args(filters);
        command.env("MIRIFLAGS", MIRI_FLAGS);
        process::run(&mut command)?;
    }
    Ok(())
}

/// What Miri lacks here, or nothing.
pub fn miri_lacks() -> Option<String> {
    let works = process::succeeds(&mut nightly(&["miri", "--version"]));
    (!works).then(|| "run: rustup toolchain install nightly --component miri,rust-src".to_owned())
}

/// `cargo xtask fuzz`
pub fn fuzz(args: &[String]) -> Outcome {
    match args {
        [only] if only == "--check" => process::run(&mut fuzz_check()),
        [] => fuzz_for(60),
        [seconds] => match seconds.parse() {
            Ok(seconds) => fuzz_for(seconds),
            Err(_) => Err(Failure::new(format!("fuzz takes `--check` or seconds, found `{seconds}`"))),
        },
        _ => Err(Failure::new("fuzz takes `--check` or seconds, and no more")),
    }
}

fn fuzz_for(seconds: u64) -> Outcome {
    if !process::succeeds(&mut nightly(&["fuzz", "--version"])) {
        return Err(Failure::new("run: rustup toolchain install nightly && cargo install cargo-fuzz"));
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    // A process has 65,536 devices in all, and a sequence with losses takes several. The corpus goes from run to run.
    while let left @ 1.. = end.saturating_duration_since(Instant::now()).as_secs() {
        let mut command = nightly(&["fuzz", "run", "--fuzz-dir"]);
        command.arg(manifest_folder()).args(["sequences", "--", "-max_len=2402", "-runs=8000"]);
        process::run(command.arg(format!("-max_total_time={left}")))?;
    }
    Ok(())
}

fn fuzz_check() -> Command {
    let mut command = process::cargo_without_manifest(&["check", "--manifest-path"]);
    command.arg(manifest_folder().join("Cargo.toml"));
    command.arg("--target-dir").arg(process::root().join("target").join("fuzz"));
    command
}

fn manifest_folder() -> PathBuf {
    process::root().join("fuzz")
}

/// `cargo +nightly SUBCOMMAND`, through rustup: the cargo that runs xtask is another one.
fn nightly(subcommand: &[&str]) -> Command {
    let mut command = process::command("cargo");
    // These name the toolchain that runs us.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    command.arg("+nightly").args(subcommand);
    command
}
