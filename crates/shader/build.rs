//! Finds which naga this build links, so that manifests can name it exactly.
//!
//! naga does not export its version. The lock file knows it; where there is none in sight (a crate built far
//! from its workspace), the manifest names the release series instead of guessing a patch.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let starts = ["CARGO_MANIFEST_DIR", "OUT_DIR"].iter().filter_map(env::var_os).map(PathBuf::from);
    let lock = starts.filter_map(|start| lock_above(&start)).next();
    let version = lock.as_deref().and_then(naga_version);
    if let Some(lock) = &lock {
        println!("cargo:rerun-if-changed={}", lock.display());
    }
    println!("cargo:rustc-env=PURLIN_NAGA_VERSION={}", version.as_deref().unwrap_or("30"));
}

fn lock_above(start: &Path) -> Option<PathBuf> {
    start.ancestors().map(|dir| dir.join("Cargo.lock")).find(|lock| lock.is_file())
}

fn naga_version(lock: &Path) -> Option<String> {
    let text = fs::read_to_string(lock).ok()?;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "name = \"naga\"" {
            let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
            if version.starts_with("30.") {
                return Some(version.to_owned());
            }
        }
    }
    None
}
