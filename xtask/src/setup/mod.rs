//! What a task needs from the system: found, installed where that is allowed, else named with the exact command.
//!
//! Three things are asked for: a Vulkan loader with at least one driver (software will do), the Khronos validation
//! layer, and for tests window servers that need no screen. The one task that counts instructions asks for valgrind too.
//! Finding comes first and costs nothing; installing happens only on Debian and its relatives as root or with a `sudo`
//! that needs no password. Nothing asks a question.

pub mod cross;
mod detect;
mod layers;
mod packages;

use crate::process::{self, Env, Failure, Outcome};
use detect::Search;
use packages::{Need, System};
use std::path::{Path, PathBuf};

/// `cargo xtask setup`
pub fn run(args: &[String]) -> Outcome {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let vulkan = ensure_vulkan()?;
            println!("vulkan:     {vulkan}");
            let layer = ensure_layer()?;
            println!("validation: {}", layer.describe());
            println!("windows:    {}", ensure_windows()?);
            println!();
            for (name, value) in layer.env() {
                println!("export {name}='{value}'");
            }
            Ok(())
        }
        ["--mock"] => {
            println!("export VK_DRIVER_FILES='{}'", mock_driver()?.display());
            Ok(())
        }
        _ => Err(Failure::new(format!("setup takes only `--mock`, found `{}`", args.join(" ")))),
    }
}

/// The manifest of the driver that does nothing, written for the system's copy of it.
pub fn mock_driver() -> Outcome<PathBuf> {
    layers::mock(&process::root())?.ok_or_else(|| {
        let hint = packages::command_for(&System::detect(), Need::MockDriver);
        Failure::new(format!("no mock driver on this system; {hint}"))
    })
}

/// Make sure that callgrind can count.
pub fn ensure_valgrind() -> Outcome {
    ensure(Need::Valgrind, || process::succeeds(process::command("valgrind").arg("--version")).then_some(()))
}

/// Make sure that Node.js and npm are there; answers node's program.
pub fn ensure_node() -> Outcome<&'static str> {
    ensure(Need::Node, || {
        let runs = |program: &str| process::succeeds(process::command(program).arg("--version"));
        (runs("node") && runs("npm")).then_some("node")
    })
}

/// Make sure that a browser is there that can be driven: what `PURLIN_BROWSER` names, else Chromium.
pub fn ensure_browser() -> Outcome<PathBuf> {
    if let Some(named) = std::env::var_os("PURLIN_BROWSER").filter(|name| !name.is_empty()) {
        return Ok(named.into());
    }
    ensure(Need::Browser, || find_program(&["chromium", "chromium-browser", "google-chrome"]))
}

/// Is a browser there, or may it be installed?
pub fn browser_available() -> bool {
    let system = System::detect();
    std::env::var_os("PURLIN_BROWSER").is_some()
        || find_program(&["chromium", "chromium-browser", "google-chrome"]).is_some()
        || (packages::offers(&system, Need::Browser) && packages::may_install(&system))
}

fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// Does the toolchain that runs us have this target's `std`?
pub fn target_is_installed(target: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let query = ["--print", "target-libdir", "--target", target];
    process::capture(process::command(rustc).args(query)).is_ok_and(|path| Path::new(path.trim()).is_dir())
}

/// Make sure that a Vulkan loader and a driver are there; answers what was found.
pub fn ensure_vulkan() -> Outcome<String> {
    let search = Search::from_system();
    if search.only_named_drivers && search.drivers().is_empty() {
        // The loader obeys the variable, so no package would help.
        return Err(Failure::new(
            "VK_DRIVER_FILES (or VK_ICD_FILENAMES) names no driver manifest that can be used",
        ));
    }
    ensure(Need::Driver, || {
        let search = Search::from_system();
        let loader = search.loader()?;
        let drivers = search.drivers();
        let names: Vec<_> =
            drivers.iter().filter_map(|path| path.file_stem()).map(|name| name.to_string_lossy()).collect();
        (!names.is_empty()).then(|| format!("{loader}; drivers {}", names.join(", ")))
    })
}

/// The environment of a child that is validated: the layer's place and its settings.
pub fn validation_env() -> Outcome<Env> {
    let layer = ensure_layer()?;
    if let Some(warning) = layer.warning() {
        eprintln!("warning: {warning}");
    }
    Ok(layer.env())
}

/// The environment of tests: validation on, and an adapter that is missing fails.
pub fn test_env() -> Outcome<Env> {
    ensure_vulkan()?;
    let mut env = validation_env()?;
    env.push(("PURLIN_VALIDATE", "1".to_owned()));
    env.push(("PURLIN_REQUIRE_GPU", "1".to_owned()));
    if cfg!(target_os = "linux") {
        match ensure_windows() {
            Ok(_) => env.push(("PURLIN_REQUIRE_WINDOWS", "1".to_owned())),
            // A machine that nobody may install on still runs all the rest.
            Err(Failure::Message(line)) => eprintln!("warning: tests with windows are skipped: {line}"),
            Err(explained) => return Err(explained),
        }
    }
    Ok(env)
}

/// Make sure that window servers for tests are there, with what their clients load; answers what was found.
fn ensure_windows() -> Outcome<&'static str> {
    if !cfg!(target_os = "linux") {
        return Ok("tested on Linux only");
    }
    ensure(Need::WindowServers, || {
        let programs = ["Xvfb", "weston"];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&path).collect();
        let runs = |name: &&str| folders.iter().any(|folder| folder.join(name).is_file());
        let libraries = ["libX11-xcb.so.1", "libXcursor.so.1", "libXi.so.6", "libxkbcommon-x11.so.0"];
        let search = Search::from_system();
        let loads = |name: &&str| search.library(std::path::Path::new(name)).is_some();
        (programs.iter().all(runs) && libraries.iter().all(loads)).then_some("Xvfb and Weston")
    })
}

fn ensure_layer() -> Outcome<layers::Layer> {
    let root = process::root();
    let mut second_best = None;
    let found = ensure(Need::Layer, || {
        let layer = layers::find(&root, &Search::from_system()).ok()??;
        if layer.sees_shader_accesses() || !packages::has_better_layer(&System::detect()) {
            return Some(layer);
        }
        second_best = Some(layer);
        None
    });
    // An old layer is better than none; the canary test has the last word.
    found.or_else(|failure| second_best.ok_or(failure))
}

/// Look, install, look again.
fn ensure<T>(need: Need, mut look: impl FnMut() -> Option<T>) -> Outcome<T> {
    if let Some(found) = look() {
        return Ok(found);
    }
    let system = System::detect();
    let hint = packages::command_for(&system, need);
    if !packages::may_install(&system) {
        return Err(Failure::new(format!("{} is missing; {hint}", need.name())));
    }
    packages::install(&system, need)?;
    look()
        .ok_or_else(|| Failure::new(format!("{} is still missing after installing it; {hint}", need.name())))
}
