//! The layering check: what DESIGN's picture of the crates promises, made a build failure.
//!
//! - A crate depends only on the crates below it ([`rules::LAYERS`], checked by [`dependencies`]).
//! - Crates below the line know hardware only: no scene vocabulary in their types, imports and public names
//!   ([`rules::VOCABULARY`], checked by [`vocabulary`]).
//! - `unsafe` stays where [`rules::unsafe_allowed`] says, and the safe crates forbid it outright.
//! - What browsers run keeps away from the clocks and threads of `std` ([`rules::runs_in_browsers`], checked by [`natives`]).
//! - A file stays small enough to read in one sitting.

mod dependencies;
mod natives;
mod rules;
mod tokens;
mod vocabulary;

use crate::metadata;
use crate::process::{self, Failure, Outcome};
use std::path::{Path, PathBuf};

/// Above this many lines a file is named, so that it can be split before it must be.
const LONG: usize = 500;
/// Above this many lines two ideas live in one room, and the check fails.
const TOO_LONG: usize = 800;

/// One broken rule, with its place.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    place: String,
    what: String,
}

/// What a check found.
#[derive(Default, Debug)]
struct Findings {
    violations: Vec<Violation>,
    long: Vec<(String, usize)>,
    files: usize,
}

/// `cargo xtask layering`
pub fn run(args: &[String]) -> Outcome {
    if let Some(arg) = args.first() {
        return Err(Failure::new(format!("layering takes no arguments, found `{arg}`")));
    }
    let packages = metadata::packages()?;
    let root = process::root();
    let mut findings = Findings { violations: dependencies::check(&packages), ..Findings::default() };
    scan(&root, &mut findings)?;

    for (path, lines) in &findings.long {
        println!("warning: {path} has {lines} lines; over {LONG} is long, over {TOO_LONG} fails");
    }
    for Violation { place, what } in &findings.violations {
        eprintln!("{place}: {what}");
    }
    match findings.violations.len() {
        0 => {
            println!("layering holds: {} packages, {} files", packages.len(), findings.files);
            Ok(())
        }
        count => Err(Failure::new(format!("layering is broken in {count} place(s)"))),
    }
}

/// The library crates that exist, by package name.
pub fn libraries(packages: &[metadata::Package]) -> Vec<&str> {
    let exists = |name: &str| packages.iter().any(|package| package.name == name);
    rules::LAYERS.iter().map(|(name, _)| *name).filter(|name| exists(name)).collect()
}

/// Check every Rust file of the workspace, in path order.
fn scan(root: &Path, findings: &mut Findings) -> Outcome {
    for folder in rules::FOLDERS {
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files)?;
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
            let path = file.strip_prefix(root).unwrap_or(&file);
            let path = path.to_string_lossy().replace('\\', "/");
            check_file(&path, &text, findings);
        }
    }
    for name in rules::FORBID_UNSAFE {
        let path = format!("crates/{name}/src/lib.rs");
        // A crate that does not exist yet breaks nothing.
        if let Ok(text) = std::fs::read_to_string(root.join(&path))
            && !tokens::forbids_unsafe(&text)
        {
            findings
                .violations
                .push(Violation { place: path, what: "must carry `#![forbid(unsafe_code)]`".to_owned() });
        }
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", folder.display()))),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if !rules::SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Check one file; `path` is relative to the workspace, with forward slashes.
fn check_file(path: &str, text: &str, findings: &mut Findings) {
    findings.files += 1;
    let lines = if rules::is_generated(path) { 0 } else { text.lines().count() };
    if lines > TOO_LONG {
        let what = format!("{lines} lines; a file over {TOO_LONG} holds two ideas, split it");
        findings.violations.push(Violation { place: path.to_owned(), what });
    } else if lines > LONG {
        findings.long.push((path.to_owned(), lines));
    }

    let tokens = tokens::tokens(text);
    if !rules::unsafe_allowed(path) {
        for token in tokens.iter().filter(|token| token.text == "unsafe") {
            findings.violations.push(Violation {
                place: format!("{path}:{}", token.line),
                what: "`unsafe` outside the crates that may use it".to_owned(),
            });
        }
    }
    if rules::runs_in_browsers(path) {
        for token in natives::check(&tokens) {
            findings.violations.push(Violation {
                place: format!("{path}:{}", token.line),
                what: format!("`std`'s `{}` panics in browsers, which run this file too", token.text),
            });
        }
    }
    for (name, words) in rules::VOCABULARY {
        if !path.starts_with(&format!("crates/{name}/")) {
            continue;
        }
        for (token, word) in vocabulary::check(&tokens, words) {
            findings.violations.push(Violation {
                place: format!("{path}:{}", token.line),
                what: format!("`{}` names a {word}, which crate `{name}` must not know", token.text),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        let mut findings = Findings::default();
        check_file(path, text, &mut findings);
        findings.violations.into_iter().map(|found| format!("{}: {}", found.place, found.what)).collect()
    }

    #[test]
    fn unsafe_fails_outside_its_crates_only() {
        let text = "fn f() {\n    // unsafe in words is fine\n    unsafe { g() }\n}\n";
        assert_eq!(
            check("crates/rhi/src/a.rs", text),
            ["crates/rhi/src/a.rs:3: `unsafe` outside the crates that may use it"]
        );
        assert!(check("crates/vulkan/src/a.rs", text).is_empty());
        assert!(check("crates/purlin/tests/counting_alloc.rs", text).is_empty());
    }

    #[test]
    fn the_vocabulary_binds_the_layers_below_the_line_only() {
        let text = "pub struct PointLight;";
        assert_eq!(
            check("crates/graph/src/a.rs", text),
            ["crates/graph/src/a.rs:1: `PointLight` names a light, which crate `graph` must not know"]
        );
        assert!(check("crates/cli/src/a.rs", text).is_empty());
    }

    #[test]
    fn what_browsers_run_uses_no_clock_of_the_system() {
        let text = "use std::time::Instant;\n";
        assert_eq!(
            check("crates/rhi/src/a.rs", text),
            ["crates/rhi/src/a.rs:1: `std`'s `Instant` panics in browsers, which run this file too"]
        );
        for free in ["crates/rhi/src/clock.rs", "crates/rhi/src/plan/tests/a.rs", "crates/vulkan/src/a.rs"] {
            assert!(check(free, text).is_empty(), "{free}");
        }
    }

    #[test]
    fn a_file_is_named_when_long_and_fails_when_too_long() {
        let mut findings = Findings::default();
        check_file("xtask/src/a.rs", &"\n".repeat(LONG + 1), &mut findings);
        assert_eq!(findings.long, [("xtask/src/a.rs".to_owned(), LONG + 1)]);
        assert!(findings.violations.is_empty());
        check_file("xtask/src/b.rs", &"\n".repeat(TOO_LONG + 1), &mut findings);
        assert_eq!(findings.violations.len(), 1);
        check_file("crates/shader/tests/golden/c.rs", &"\n".repeat(TOO_LONG + 1), &mut findings);
        assert_eq!(findings.violations.len(), 1);
    }

    #[test]
    fn a_safe_crate_that_does_not_forbid_unsafe_is_found() {
        let dir = crate::testing::TempDir::new("layering");
        let lib = dir.path().join("crates/rhi/src/lib.rs");
        std::fs::create_dir_all(lib.parent().expect("the path has a parent")).expect("the folder is ours");
        std::fs::write(&lib, "//! Docs.\n#![deny(missing_docs)]\n").expect("the folder is ours");
        let mut findings = Findings::default();
        scan(dir.path(), &mut findings).expect("the tree is readable");
        assert_eq!(findings.files, 1);
        assert_eq!(findings.violations.len(), 1);
        assert_eq!(findings.violations[0].place, "crates/rhi/src/lib.rs");

        std::fs::write(&lib, "//! Docs.\n#![forbid(unsafe_code)]\n").expect("the folder is ours");
        let mut findings = Findings::default();
        scan(dir.path(), &mut findings).expect("the tree is readable");
        assert_eq!(findings.violations, []);
    }
}
