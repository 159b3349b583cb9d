//! The report for people, in a terminal.

use std::fmt::Write;

use super::{CONTENDERS, Report, microseconds};
use crate::hardware::{COMMIT, PROFILE};

/// The run as text.
pub fn table(report: &Report<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}; {}", report.choice.hardware(), report.choice.driver);
    let compared = if report.compared {
        "results compared first"
    } else {
        "results not compared: the mock draws nothing"
    };
    let _ = writeln!(out, "commit {COMMIT}, {PROFILE}; medians in microseconds; {compared}\n");
    let _ = writeln!(
        out,
        "{:<26}{:<15}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}{:>12}",
        "workload", "metric", "purlin", "wgpu", "ash", "p/ash", "wgpu/ash", "wgpu/p", "p-ash each"
    );
    for workload in report.workloads() {
        for metric in ["record", "submit", "record+submit", "create", "drop", "create+drop", "maintain"] {
            let medians = CONTENDERS.map(|name| report.median(workload, name, metric));
            if medians.iter().all(Option::is_none) {
                continue;
            }
            let [purlin, wgpu, ash] = medians;
            let time = |value: Option<f64>| value.map_or("-".into(), microseconds);
            let ratio = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) if b > 0.0 => format!("{:.2}", a / b),
                _ => "-".into(),
            };
            let (unit, count) = workload.units(report.choice.software);
            let each = match (purlin, ash) {
                (Some(purlin), Some(ash)) if metric == report.headline(workload) => {
                    format!("{:.1} ns/{unit}", (purlin - ash) * 1000.0 / f64::from(count))
                }
                _ => String::new(),
            };
            let line = format!(
                "{:<26}{:<15}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}  {each}",
                workload.name(),
                metric,
                time(purlin),
                time(wgpu),
                time(ash),
                ratio(purlin, ash),
                ratio(wgpu, ash),
                ratio(wgpu, purlin)
            );
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    for note in &report.found.notes {
        let _ =
            writeln!(out, "{}: {} {}: {}", note.workload.name(), note.contender, note.kind.name(), note.text);
    }
    out
}
