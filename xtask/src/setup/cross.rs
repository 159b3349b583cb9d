//! The toolchain of Debian's packages, which can build `std` for targets that the first toolchain lacks.

use super::packages::{self, Need, System};
use crate::process::{self, Failure, Outcome};
use std::path::Path;

/// A cargo and its compiler.
pub struct Toolchain {
    /// The cargo to run.
    pub cargo: &'static Path,
    /// The compiler it must use.
    pub rustc: &'static Path,
}

/// Is it there, or may it be installed?
pub fn available() -> bool {
    let system = System::detect();
    find().is_some() || (packages::offers(&system, Need::CrossToolchain) && packages::may_install(&system))
}

/// Find it, or install it where that is allowed.
pub fn ensure(target: &str) -> Outcome<Toolchain> {
    if !available() {
        return Err(Failure::new(format!("cannot check for {target} here; run: rustup target add {target}")));
    }
    super::ensure(Need::CrossToolchain, find)
}

fn find() -> Option<Toolchain> {
    let (cargo, rustc) = (Path::new("/usr/bin/cargo"), Path::new("/usr/bin/rustc"));
    let sysroot = process::capture(process::command(rustc).args(["--print", "sysroot"])).ok()?;
    let source = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std");
    (cargo.is_file() && source.exists()).then_some(Toolchain { cargo, rustc })
}
