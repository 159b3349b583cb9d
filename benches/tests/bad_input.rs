//! Bad input: one clear line, exit code 1, and nothing ran.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin-benches"));
    command.args(args).envs(env.iter().copied());
    command.output().expect("the program starts")
}

/// The one line, after the checks that all bad input shares.
fn line(args: &[&str], env: &[(&str, &str)]) -> String {
    let output = run(args, env);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{args:?}: {err}");
    assert!(out.is_empty(), "{args:?} wrote to standard output: {out}");
    // The Vulkan loader may say something of its own before.
    let ours: Vec<_> = err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(ours.len(), 1, "{args:?}: {err}");
    assert!(!err.lines().any(|line| line == "draws10k"), "{args:?} ran a workload: {err}");
    ours[0].to_owned()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder is ours");
    folder
}

#[test]
fn an_unknown_workload_is_answered_with_the_closest() {
    let line = line(&["draw10k"], &[]);
    assert!(line.contains("no workload `draw10k`, did you mean `draws10k`?"), "{line}");
}

#[test]
fn an_unknown_option_and_a_missing_value_are_named() {
    assert!(line(&["--fast"], &[]).contains("no option `--fast`"));
    assert!(line(&["draws10k", "--json"], &[]).contains("`--json` needs a value"));
}

#[test]
fn a_path_that_cannot_be_written_is_found_out_before_the_run() {
    let folder = scratch("unwritable");
    let missing = folder.join("missing").join("out.json").display().to_string();
    let taken = folder.display().to_string();
    for option in ["--json", "--html"] {
        for path in [&missing, &taken] {
            let line = line(&["draws10k", option, path], &[]);
            assert!(line.contains("cannot write") && line.contains(path.as_str()), "{line}");
        }
    }
}

#[test]
fn no_adapter_is_one_line_and_leaves_no_file() {
    let folder = scratch("no-adapter");
    let none = folder.join("none.json").display().to_string();
    let json = folder.join("out.json");
    let env = [("VK_DRIVER_FILES", none.as_str()), ("VK_ICD_FILENAMES", none.as_str())];
    let line = line(&["draws10k", "--json", &json.display().to_string()], &env);
    assert!(line.starts_with("error: no adapter"), "{line}");
    assert!(!json.exists(), "an empty report was left behind");
}

#[test]
fn an_adapter_of_no_such_name_is_answered_with_those_there_are() {
    // Where there is no driver at all, that is what is said.
    let line = line(&["draws10k", "--adapter", "no such adapter"], &[]);
    assert!(line.contains("no adapter"), "{line}");
}

#[test]
fn a_report_that_cannot_be_read_is_one_line() {
    let folder = scratch("unreadable");
    let file = folder.join("report.json");
    std::fs::write(&file, "{\"hardware\":").expect("the folder is ours");
    let (file, missing) = (file.display().to_string(), folder.join("none.json").display().to_string());
    assert!(line(&["--read", &file], &[]).contains("is no report"));
    assert!(line(&["--read", &missing], &[]).contains("cannot read"));
}

#[test]
fn a_report_is_shown_and_checked_without_a_run() {
    let folder = scratch("read");
    let (file, page) = (folder.join("report.json"), folder.join("report.html"));
    let entry = |contender: &str, median: f64| {
        format!(
            r#"{{"workload":"draws10k","contender":"{contender}","metric":"record+submit","unit":"us",
               "median":{median},"p95":{median},"p99":{median},"samples":200}}"#
        )
    };
    let results = [entry("purlin", 130.0), entry("ash", 100.0)].join(",");
    let text = format!(
        r#"{{"hardware":"h","driver":"d","commit":"c","profile":"release","compared":true,"results":[{results}]}}"#
    );
    std::fs::write(&file, text).expect("the folder is ours");
    let (file, page_path) = (file.display().to_string(), page.display().to_string());
    let shown = run(&["--read", &file, "--html", &page_path], &[]);
    assert!(shown.status.success() && String::from_utf8_lossy(&shown.stdout).contains("OVER 1.25 times ash"));
    assert!(std::fs::read_to_string(&page).is_ok_and(|page| page.contains("draws10k")));
    let checked = run(&["--read", &file, "--check-bars"], &[]);
    let err = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert_eq!((checked.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("draws10k: OVER 1.25 times ash"), "{err}");
}
