//! The short tasks: demo, test, bench, conformance, docs.

use crate::metadata::{self, Package};
use crate::process::{self, Env, Failure, Outcome};
use crate::{instructions, setup};
use std::path::Path;
use std::process::Command;

const DEMO: [&str; 4] = ["--package", "purlin-cli", "--bin", "purlin-demo"];

/// `cargo xtask demo`: build with cargo's own progress, then run quietly, so that the demo's output stands alone.
pub fn demo(args: &[String]) -> Outcome {
    demo_in(&["--release"], args)
}

/// The demo in a profile; CI takes the one that its tests have built already.
pub fn demo_in(profile: &[&str], args: &[String]) -> Outcome {
    let asks_only = process::wants_help(args) || args.iter().any(|arg| arg == "--version" || arg == "-V");
    let mut env = Env::new();
    if !asks_only {
        setup::ensure_vulkan()?;
        if args.iter().any(|arg| arg == "--validate") {
            env = setup::validation_env()?;
        }
    }
    process::run(process::cargo(&["build"]).args(profile).args(DEMO))?;
    let mut command = process::cargo(&["run", "--quiet"]);
    command.args(profile).args(DEMO).arg("--").args(args).envs(env);
    if !asks_only {
        command.args(default_outputs(args, &process::root(), std::env::current_dir().ok().as_deref()));
    }
    process::run(&mut command)
}

/// The demo writes to `target/demo` below its current folder. Paths of the caller keep their meaning only when
/// that is the caller's folder, so from elsewhere the defaults are named outright.
fn default_outputs(args: &[String], root: &Path, current: Option<&Path>) -> Vec<String> {
    if current.is_some_and(|current| current == root) {
        return Vec::new();
    }
    [("--out", "frame.png"), ("--report", "report.html")]
        .into_iter()
        .filter(|(option, _)| {
            let with_value = format!("{option}=");
            !args.iter().any(|arg| arg == option || arg.starts_with(&with_value))
        })
        .flat_map(|(option, file)| {
            [option.to_owned(), root.join("target").join("demo").join(file).display().to_string()]
        })
        .collect()
}

/// What `test` runs: all packages or some, all tests or those whose names contain a filter.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selection {
    packages: Vec<String>,
    filters: Vec<String>,
}

impl Selection {
    fn parse(args: &[String]) -> Outcome<Self> {
        let mut selection = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "-p" | "--package" => {
                    let name = args.next().ok_or_else(|| Failure::new(format!("`{arg}` needs a package")))?;
                    selection.packages.push(name.clone());
                }
                option if option.starts_with('-') => {
                    return Err(Failure::new(format!(
                        "test takes `-p PACKAGE` and filters, found `{option}`"
                    )));
                }
                _ => selection.filters.push(arg.clone()),
            }
        }
        Ok(selection)
    }

    fn packages(&self) -> Vec<String> {
        if self.packages.is_empty() {
            return vec!["--workspace".to_owned()];
        }
        self.packages.iter().flat_map(|name| ["--package".to_owned(), name.clone()]).collect()
    }

    /// Doctests live in libraries; cargo refuses to look for them in a package that has none.
    fn has_doctests(&self, packages: &[Package]) -> bool {
        let selected = |package: &&Package| self.packages.is_empty() || self.packages.contains(&package.name);
        packages.iter().filter(selected).any(|package| package.has_lib)
    }
}

/// `cargo xtask test`
pub fn test(args: &[String]) -> Outcome {
    let selection = Selection::parse(args)?;
    let env = setup::test_env()?;
    process::run(test_command(&selection.packages(), &selection.filters).envs(env.clone()))?;
    if selection.has_doctests(&metadata::packages()?) {
        process::run(doctest_command(&selection.packages(), &selection.filters).envs(env))?;
    }
    Ok(())
}

/// The tests of these packages, through nextest where it is installed. `--tests` is every target with tests: libraries
/// and programs too, but no doctests.
pub fn test_command(packages: &[String], filters: &[String]) -> Command {
    let mut command;
    if process::succeeds(&mut process::cargo_without_manifest(&["nextest", "--version"])) {
        command = process::cargo(&["nextest", "run", "--no-fail-fast"]);
        command.args(packages).args(filters);
    } else {
        command = process::cargo(&["test", "--no-fail-fast", "--tests"]);
        command.args(packages).arg("--").args(filters);
    }
    command
}

/// The doctests of these packages, which nextest does not run.
pub fn doctest_command(packages: &[String], filters: &[String]) -> Command {
    let mut command = process::cargo(&["test", "--doc"]);
    command.args(packages).arg("--").args(filters);
    command
}

/// `cargo xtask bench`: the paired benchmarks, optimized. Everything is an argument of theirs; `--mock` names the driver
/// that does nothing to the loader. `--instructions` is the other bench: it counts and needs no driver.
pub fn bench(args: &[String]) -> Outcome {
    if args.iter().any(|arg| arg == "--instructions") && !process::wants_help(args) {
        return instructions::run(args);
    }
    const BIN: [&str; 4] = ["--package", "purlin-benches", "--bin", "purlin-benches"];
    let mut env = Env::new();
    if args.iter().any(|arg| arg == "--mock") {
        env.push(("VK_DRIVER_FILES", setup::mock_driver()?.display().to_string()));
    }
    process::run(process::cargo(&["build", "--release"]).args(BIN))?;
    let mut command = process::cargo(&["run", "--quiet", "--release"]);
    process::run(command.args(BIN).arg("--").args(args).envs(env))
}

/// `cargo xtask conformance`: the fixtures as tests, or with any option as the program that writes the matrix.
pub fn conformance(args: &[String]) -> Outcome {
    if args.iter().any(|arg| arg.starts_with("--")) {
        let mut command = process::cargo(&["run", "--quiet"]);
        command.args(["--package", "purlin-conformance", "--features", "matrix", "--bin", "matrix", "--"]);
        return process::run(command.args(args).envs(setup::test_env()?));
    }
    let selection = Selection::parse(args)?;
    if !selection.packages.is_empty() {
        return Err(Failure::new("conformance takes filters only"));
    }
    let packages = ["--package".to_owned(), package("purlin-conformance")?.name];
    let env = setup::test_env()?;
    process::run(test_command(&packages, &selection.filters).envs(env))
}

/// `cargo xtask docs`
pub fn docs(args: &[String]) -> Outcome {
    let open = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => std::env::var_os("CI").is_none(),
        ["--no-open"] => false,
        _ => return Err(Failure::new(format!("docs takes only `--no-open`, found `{}`", args.join(" ")))),
    };
    let mut command = docs_command();
    if open {
        command.arg("--open");
    }
    process::run(&mut command)
}

/// Build the documentation; a broken link or a bad example is an error.
pub fn docs_command() -> Command {
    let mut flags = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    flags.push_str(" -D warnings");
    let mut command = process::cargo(&["doc", "--no-deps", "--workspace"]);
    command.env("RUSTDOCFLAGS", flags.trim());
    command
}

fn package(name: &str) -> Outcome<Package> {
    let found = metadata::packages()?.into_iter().find(|package| package.name == name);
    found.ok_or_else(|| Failure::new(format!("the workspace has no package `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn outputs_are_named_only_from_another_folder_and_only_when_absent() {
        let root = Path::new("/repo");
        assert!(default_outputs(&[], root, Some(root)).is_empty());
        let other = Some(Path::new("/elsewhere"));
        let named = default_outputs(&args(&["m.glb"]), root, other);
        assert_eq!((named.len(), named[0].as_str(), named[2].as_str()), (4, "--out", "--report"));
        assert!(Path::new(&named[1]).starts_with(root));
        assert_eq!(default_outputs(&args(&["--out", "a.png"]), root, other)[0], "--report");
        assert!(default_outputs(&args(&["--out=a.png", "--report=b.html"]), root, other).is_empty());
    }

    #[test]
    fn test_arguments_are_packages_and_filters() {
        let selection = Selection::parse(&args(&["-p", "purlin-rhi", "ledger"])).expect("both are known");
        assert_eq!(selection.packages(), ["--package", "purlin-rhi"]);
        assert_eq!(selection.filters, ["ledger"]);
        assert_eq!(Selection::default().packages(), ["--workspace"]);
        assert!(Selection::parse(&args(&["-p"])).is_err());
        assert!(Selection::parse(&args(&["--relase"])).is_err());
    }

    #[test]
    fn doctests_run_only_where_there_is_a_library() {
        let package = |name: &str, has_lib| Package { name: name.to_owned(), has_lib, internal: Vec::new() };
        let packages = [package("a", true), package("b", false)];
        let has =
            |names: &[&str]| Selection { packages: args(names), filters: Vec::new() }.has_doctests(&packages);
        assert!(has(&[]) && has(&["a"]) && has(&["a", "b"]));
        assert!(!has(&["b"]));
    }
}
