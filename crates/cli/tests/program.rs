//! The program from end to end: a picture, a report, a table, and exit codes.

mod common;

use std::process::Stdio;

use common::{Picture, TempDir, demo, gpu, refusal, validated};
use purlin_cli::size::Size;

#[test]
fn it_writes_a_picture_and_a_report_and_prints_a_table() {
    if gpu("program").is_none() {
        return;
    }
    let folder = TempDir::new("program");
    let mut command = demo(&folder);
    command.args(["--size", "160x90", "--frames", "2"]);
    if validated() {
        command.arg("--validate");
    }
    let output = command.output().expect("the demo runs");
    let (table, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "", "nothing but progress goes there, and only on a terminal");

    let outputs = folder.path().join("target/demo");
    let picture = Picture::load(&outputs.join("frame.png"));
    assert_eq!(picture.size, Size { width: 160, height: 90 });
    let fingerprint = purlin_cli::picture::fingerprint(&picture.pixels);
    let report = std::fs::read_to_string(outputs.join("report.html")).expect("a report");
    for pass in
        ["reset counts", "cull camera", "shadow map", "opaque", "sky", "transparent", "tonemap", "overlay"]
    {
        assert!(report.contains(pass), "the report does not name the pass \"{pass}\"");
    }
    for row in [
        "adapter",
        "driver",
        "scene",
        "culling",
        "passes",
        "barriers",
        "transient",
        "memory",
        "CPU",
        "picture",
        "report",
    ] {
        assert!(table.lines().any(|line| line.starts_with(row)), "no row \"{row}\" in\n{table}");
    }
    assert!(table.contains(&format!("fnv1a {fingerprint:016x}")), "{table}");
    let names: Vec<_> = std::fs::read_dir(&outputs).expect("a folder").collect();
    assert_eq!(names.len(), 2, "no temporary file is left");
}

#[test]
fn a_picture_is_compared_on_request() {
    if gpu("compare").is_none() {
        return;
    }
    let folder = TempDir::new("compare");
    let run = |more: &[&str]| {
        let mut command = demo(&folder);
        command.args(["--size", "96x54", "--frames", "1"]).args(more);
        command.output().expect("the demo runs")
    };
    assert!(run(&["--out", "reference.png"]).status.success());
    let same = run(&["--compare", "reference.png"]);
    assert!(same.status.success(), "{}", String::from_utf8_lossy(&same.stderr));
    assert!(String::from_utf8_lossy(&same.stdout).contains("reference.png: inf dB"));

    let reference = folder.path().join("reference.png");
    let mut other = Picture::load(&reference);
    other.pixels.chunks_exact_mut(4).for_each(|pixel| pixel[0] = pixel[0].saturating_add(40));
    let png = purlin_cli::picture::encode_png(other.size, &other.pixels).expect("a PNG");
    std::fs::write(&reference, png).expect("written");
    let line = refusal(&run(&["--compare", "reference.png", "--out", "second.png"]));
    assert!(line.contains("differs from 'reference.png'"), "{line}");
    assert!(!folder.path().join("second.png").exists());
}

#[test]
fn help_and_version_are_no_failures() {
    let folder = TempDir::new("help");
    for (flag, expected) in [("--help", "--validate"), ("--version", env!("CARGO_PKG_VERSION"))] {
        let output = demo(&folder).arg(flag).output().expect("the demo runs");
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains(expected));
        assert!(output.stderr.is_empty());
    }
    assert!(folder.names().is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = TempDir::new("pipe");
    let mut child = demo(&folder)
        .arg("--help")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the demo runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
