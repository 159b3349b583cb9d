//! `cargo xtask ci`: every check in a fixed order, cheap ones first, with a table of what each took.

use crate::process::{self, Failure, Outcome};
use crate::{check_targets, instructions, layering, proofs, setup, tasks, web};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a step ended well.
enum Done {
    Passed,
    /// It could not run here, and why.
    Skipped(String),
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Totals) -> Outcome<Done>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", about: "formatting", run: |_| cargo(&["fmt", "--all", "--check"]) },
    Step {
        name: "layering",
        about: "crate dependencies, vocabulary, unsafe, file sizes",
        run: |_| layering(),
    },
    Step { name: "clippy", about: "lints, warnings denied", run: |_| clippy() },
    Step {
        name: "setup",
        about: "the Vulkan driver, the validation layer and window servers",
        run: |_| setup(),
    },
    Step { name: "test", about: "all tests, GPU tests under the validation layer", run: test },
    Step { name: "doctest", about: "the examples in the documentation", run: doctest },
    Step { name: "miri", about: "handles, owners, leases and recorders under Miri", run: |_| miri() },
    Step { name: "fuzz", about: "type-check of the fuzz target", run: |_| fuzz() },
    Step { name: "docs", about: "documentation, warnings denied", run: |_| docs() },
    Step { name: "demo", about: "three small validated frames", run: |_| demo() },
    Step { name: "web", about: "fixtures, selection and demo in a browser, the wasm's size", run: |_| web() },
    Step {
        name: "instructions",
        about: "instructions of a draw and of a pass, growth denied",
        run: |_| instructions(),
    },
    Step { name: "targets", about: "type-check for macOS and Windows", run: |_| targets() },
];

/// `cargo xtask ci`
pub fn run(args: &[String]) -> Outcome {
    if process::wants_help(args) {
        print!("{}", help());
        return Ok(());
    }
    let (keep_going, steps) = select(args)?;
    let totals = Totals::default();
    let start = Instant::now();
    let mut table: Vec<(&str, &str, Duration, String)> = Vec::new();
    let mut failed = Vec::new();
    for step in steps {
        println!("\n=== {}: {}", step.name, step.about);
        let started = Instant::now();
        let result = (step.run)(&totals);
        let elapsed = started.elapsed();
        let (verdict, note) = match result {
            Ok(Done::Passed) => ("ok", String::new()),
            Ok(Done::Skipped(why)) => ("skipped", why),
            Err(Failure::Explained) => ("FAILED", String::new()),
            Err(Failure::Message(line)) => {
                eprintln!("error: {line}");
                ("FAILED", line)
            }
        };
        println!("=== {}: {verdict} in {}", step.name, seconds(elapsed));
        table.push((step.name, verdict, elapsed, note));
        if verdict == "FAILED" {
            failed.push(step.name);
            if !keep_going {
                break;
            }
        }
    }

    println!("\n{:<14}{:<9}{:>9}", "step", "result", "time");
    for (name, verdict, elapsed, note) in &table {
        println!("{}", format!("{name:<14}{verdict:<9}{:>9}  {note}", seconds(*elapsed)).trim_end());
    }
    println!("{:<23}{:>9}", "total", seconds(start.elapsed()));
    if let Some(line) = totals.line() {
        println!("{line}");
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("ci failed: {}", failed.join(", "))))
}

fn select(args: &[String]) -> Outcome<(bool, Vec<&'static Step>)> {
    let mut keep_going = false;
    let mut steps = Vec::new();
    for arg in args {
        if arg == "--keep-going" {
            keep_going = true;
        } else if let Some(step) = STEPS.iter().find(|step| step.name == arg) {
            steps.push(step);
        } else {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            return Err(Failure::new(format!("no ci step `{arg}`; the steps are {}", names.join(", "))));
        }
    }
    if steps.is_empty() {
        steps = STEPS.iter().collect();
    }
    Ok((keep_going, steps))
}

fn help() -> String {
    let mut text = String::from(
        "Usage: cargo xtask ci [--keep-going] [STEP...]\n\nRuns all steps in this order, or only those named. The first \
         failure stops,\nunless --keep-going is given; any failure ends with exit code 1.\n\nSteps\n",
    );
    for step in STEPS {
        text.push_str(&format!("  {:<14}{}\n", step.name, step.about));
    }
    text
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

fn cargo(subcommand: &[&str]) -> Outcome<Done> {
    process::run(&mut process::cargo(subcommand))?;
    Ok(Done::Passed)
}

fn layering() -> Outcome<Done> {
    layering::run(&[])?;
    Ok(Done::Passed)
}

fn clippy() -> Outcome<Done> {
    let mut command = process::cargo(&["clippy", "--workspace", "--all-targets"]);
    process::run(command.args(["--", "-D", "warnings"]))?;
    Ok(Done::Passed)
}

fn setup() -> Outcome<Done> {
    setup::run(&[])?;
    Ok(Done::Passed)
}

fn test(totals: &Totals) -> Outcome<Done> {
    let mut command = tasks::test_command(&["--workspace".to_owned()], &[]);
    process::run_watched(command.envs(setup::test_env()?), totals.watcher())?;
    Ok(Done::Passed)
}

fn doctest(totals: &Totals) -> Outcome<Done> {
    let mut command = tasks::doctest_command(&["--workspace".to_owned()], &[]);
    process::run_watched(command.envs(setup::test_env()?), totals.watcher())?;
    Ok(Done::Passed)
}

fn miri() -> Outcome<Done> {
    if let Some(missing) = proofs::miri_lacks() {
        return Ok(Done::Skipped(missing));
    }
    proofs::miri(&[])?;
    Ok(Done::Passed)
}

fn fuzz() -> Outcome<Done> {
    proofs::fuzz(&["--check".to_owned()])?;
    Ok(Done::Passed)
}

fn docs() -> Outcome<Done> {
    process::run(&mut tasks::docs_command())?;
    Ok(Done::Passed)
}

fn demo() -> Outcome<Done> {
    let folder = process::root().join("target").join("demo-ci");
    // A picture of an earlier run would prove nothing.
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("cannot empty {}: {error}", folder.display())));
        }
        _ => {}
    }
    let (picture, report) = (folder.join("frame.png"), folder.join("report.html"));
    let mut args = ["--size", "320x180", "--frames", "3", "--validate"].map(str::to_owned).to_vec();
    args.extend(["--out".to_owned(), picture.display().to_string()]);
    args.extend(["--report".to_owned(), report.display().to_string()]);
    tasks::demo_in(&[], &args)?;

    let bytes = std::fs::read(&picture)
        .map_err(|error| Failure::new(format!("the demo left no picture {}: {error}", picture.display())))?;
    if png_size(&bytes) != Some((320, 180)) {
        return Err(Failure::new(format!("{} is not a PNG of 320x180", picture.display())));
    }
    if !std::fs::metadata(&report).is_ok_and(|metadata| metadata.len() > 0) {
        return Err(Failure::new(format!("the demo left no report {}", report.display())));
    }
    Ok(Done::Passed)
}

fn web() -> Outcome<Done> {
    if !setup::browser_available() {
        return Ok(Done::Skipped(
            "no Chromium here and no package of it; name one with PURLIN_BROWSER".to_owned(),
        ));
    }
    web::run(&["--test".to_owned()])?;
    Ok(Done::Passed)
}

fn instructions() -> Outcome<Done> {
    // On CI it must run; a person on another system has no figures to compare with.
    if !instructions::possible() && std::env::var_os("CI").is_none() {
        return Ok(Done::Skipped("the committed figures are for x86_64 Linux".to_owned()));
    }
    instructions::run(&[])?;
    Ok(Done::Passed)
}

fn targets() -> Outcome<Done> {
    if !check_targets::possible() {
        let targets = check_targets::TARGETS.join(" ");
        return Ok(Done::Skipped(format!("run: rustup target add {targets}")));
    }
    check_targets::run(&[])?;
    Ok(Done::Passed)
}

/// Width and height from the header of a PNG.
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    (header.get(4..8)? == b"IHDR").then_some(())?;
    Some((number(8)?, number(12)?))
}

/// Tests counted from what the runners themselves say.
#[derive(Clone, Default)]
struct Totals(Arc<Mutex<Option<Counts>>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Totals {
    fn watcher(&self) -> impl FnMut(&str) + Send + 'static {
        let totals = Arc::clone(&self.0);
        move |line| {
            if let (Some(counts), Ok(mut totals)) = (counts(line), totals.lock()) {
                let total = totals.get_or_insert_default();
                total.passed += counts.passed;
                total.failed += counts.failed;
                total.skipped += counts.skipped;
            }
        }
    }

    /// The last line of a run, or nothing when no runner has counted.
    fn line(&self) -> Option<String> {
        let counts = (*self.0.lock().ok()?)?;
        Some(format!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped))
    }
}

/// The counts of a runner's summary line: nextest's
/// `Summary [ 0.1s] 3 tests run: 2 passed (1 slow), 1 failed, 4 skipped`, or libtest's
/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s`.
fn counts(line: &str) -> Option<Counts> {
    let line = line.trim_start();
    let list = if line.starts_with("Summary [") {
        line.split_once(" run: ")?.1
    } else {
        line.strip_prefix("test result: ")?.split_once(". ")?.1
    };
    let mut counts = Counts::default();
    for entry in list.split([',', ';']) {
        let mut words = entry.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse::<u64>().ok()) else { continue };
        match words.next() {
            Some("passed") => counts.passed += number,
            Some("failed" | "timed" | "exec") => counts.failed += number,
            Some("skipped" | "ignored") => counts.skipped += number,
            _ => {}
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_are_counted() {
        let found = |line| counts(line).map(|counts| (counts.passed, counts.failed, counts.skipped));
        let nextest =
            "     Summary [   0.031s] 12 tests run: 9 passed (1 slow), 1 failed, 2 timed out, 3 skipped";
        assert_eq!(found(nextest), Some((9, 3, 3)));
        assert_eq!(found("     Summary [   0.031s] 1 test run: 1 passed, 0 skipped"), Some((1, 0, 0)));
        let libtest =
            "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0s";
        assert_eq!(found(libtest), Some((3, 1, 2)));
        assert_eq!(found("        PASS [   0.031s] some summary: 3 passed"), None);
    }

    #[test]
    fn nothing_is_claimed_when_nothing_was_counted() {
        let totals = Totals::default();
        assert_eq!(totals.line(), None);
        let mut watch = totals.watcher();
        watch("hello");
        assert_eq!(totals.line(), None);
        watch("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        watch("test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        assert_eq!(totals.line().as_deref(), Some("4 passed, 0 failed, 1 skipped"));
    }

    #[test]
    fn steps_are_selected_by_name() {
        let args = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (keep_going, steps) = select(&args(&["--keep-going", "docs"])).expect("both are known");
        assert!(keep_going);
        assert_eq!(steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["docs"]);
        let (keep_going, steps) = select(&[]).expect("nothing is fine");
        assert!(!keep_going && steps.len() == STEPS.len());
        assert!(select(&args(&["dcos"])).is_err());
    }

    #[test]
    fn the_size_of_a_picture_is_in_its_header() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        png.extend_from_slice(&320_u32.to_be_bytes());
        assert_eq!(png_size(&png), None);
        png.extend_from_slice(&180_u32.to_be_bytes());
        assert_eq!(png_size(&png), Some((320, 180)));
        assert_eq!(png_size(b"<html>"), None);
    }
}
