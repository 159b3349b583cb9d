//! From Rust to a folder of files: cargo, the JavaScript around the module, and `wasm-opt`.

use crate::process::{self, Failure, Outcome};
use crate::setup::{self, cross};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Packages of npm, at the versions that were tried.
const NPM: &[&str] = &["playwright-core@1.65.1", "binaryen@132.0.0"];

/// What rustc may have used beyond WebAssembly 1.0.
const WASM_FEATURES: &[&str] = &[
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// One program of `web/` with what it is built for.
pub struct Module {
    bin: &'static str,
    features: &'static str,
    /// Its folder in the site.
    folder: &'static str,
    /// Whether its size matters.
    optimized: bool,
}

impl Module {
    /// The demo with both backends.
    pub const DEMO: Self =
        Self { bin: "purlin-demo-page", features: "demo,webgpu,webgl", folder: "demo", optimized: true };
    /// The demo for browsers with WebGPU.
    pub const DEMO_WEBGPU: Self =
        Self { bin: "purlin-demo-page", features: "demo,webgpu", folder: "demo-webgpu", optimized: true };
    /// The fixtures and the selection of backends.
    pub const TESTS: Self =
        Self { bin: "purlin-tests", features: "tests,webgpu,webgl", folder: "tests", optimized: false };
}

/// What a server publishes.
pub struct Site(PathBuf);

impl Site {
    /// A folder with the pages and no module yet.
    pub fn prepare() -> Outcome<Self> {
        let folder = process::root().join("target/web/site");
        copy_files(&process::root().join("web/pages"), &folder)?;
        Ok(Self(folder))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Builds a module into its folder; the bytes of its wasm.
    pub fn add(&self, module: &Module) -> Outcome<u64> {
        let compiled = compile(module)?;
        let folder = self.0.join(module.folder);
        process::run(
            process::cargo(&["run", "--quiet", "--package", "purlin-web", "--features", "bindgen"])
                .args(["--no-default-features", "--bin", "purlin-bindgen", "--"])
                .args([&compiled, &folder]),
        )?;
        let wasm = folder.join(format!("{}_bg.wasm", module.bin));
        if module.optimized {
            optimize(&wasm)?;
        }
        let size = std::fs::metadata(&wasm).map(|metadata| metadata.len());
        size.map_err(|error| Failure::new(format!("{}: {error}", wasm.display())))
    }
}

/// Builds a module and answers where it lies.
fn compile(module: &Module) -> Outcome<PathBuf> {
    let (mut command, target_dir) = cargo()?;
    command.args(["--package", "purlin-web", "--bin", module.bin, "--no-default-features"]);
    command.args(["--features", module.features, "--target", TARGET, "--profile", "web"]);
    process::run(&mut command)?;
    Ok(target_dir.join(TARGET).join("web").join(format!("{}.wasm", module.bin)))
}

/// `cargo build` for the browser, and its target folder: a target that rustup installed, else Debian's toolchain and a `std`
/// built from source.
fn cargo() -> Outcome<(Command, PathBuf)> {
    let root = process::root();
    if setup::target_is_installed(TARGET) {
        let target_dir = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
        return Ok((process::cargo(&["build"]), target_dir));
    }
    let toolchain = cross::ensure(TARGET)?;
    let target_dir = root.join("target").join("cross");
    let mut command = process::command(toolchain.cargo);
    command.arg("build").arg("--manifest-path").arg(root.join("Cargo.toml"));
    command.args(["-Zbuild-std=std,panic_abort", "--ignore-rust-version"]);
    command.arg("--target-dir").arg(&target_dir);
    command.env("RUSTC", toolchain.rustc).env("RUSTC_BOOTSTRAP", "1");
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19");
    command.env_remove("LD_LIBRARY_PATH");
    Ok((command, target_dir))
}

fn optimize(wasm: &Path) -> Outcome {
    let node = setup::ensure_node()?;
    let packages = npm_packages()?;
    let small = wasm.with_extension("small.wasm");
    let mut command = process::command(node);
    command.arg(packages.join("node_modules/binaryen/bin/wasm-opt")).args(WASM_FEATURES);
    process::run(
        command.args(["-Oz", "--strip-debug", "--strip-producers"]).arg(wasm).arg("-o").arg(&small),
    )?;
    std::fs::rename(&small, wasm).map_err(|error| Failure::new(format!("{}: {error}", small.display())))
}

/// npm's packages, installed once.
fn npm_packages() -> Outcome<PathBuf> {
    let folder = process::root().join("target/web/node");
    let stamp = folder.join("installed");
    let wanted = NPM.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::new(format!("cannot create {}: {error}", folder.display())))?;
    let mut command = process::command("npm");
    command
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(&folder)
        .args(NPM);
    process::capture(&mut command)?;
    std::fs::write(&stamp, wanted).map_err(|error| Failure::new(format!("{}: {error}", stamp.display())))?;
    Ok(folder)
}

/// The driver beside its packages.
pub fn copy_driver() -> Outcome<PathBuf> {
    let folder = npm_packages()?.join("driver");
    copy_files(&process::root().join("web/driver"), &folder)?;
    Ok(folder)
}

fn copy_files(from: &Path, to: &Path) -> Outcome {
    let copy = || {
        std::fs::create_dir_all(to)?;
        for entry in std::fs::read_dir(from)? {
            let path = entry?.path();
            if let (true, Some(name)) = (path.is_file(), path.file_name()) {
                std::fs::copy(&path, to.join(name))?;
            }
        }
        Ok(())
    };
    copy().map_err(|error: std::io::Error| {
        Failure::new(format!("cannot copy {} to {}: {error}", from.display(), to.display()))
    })
}
