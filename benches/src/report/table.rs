//! The report for people, in a terminal.

use std::fmt::Write;

use super::{CONTENDERS, Report, figure, ratio};
use crate::runner::METRICS;

/// The run as text: what it comes to, then every metric, then what went wrong.
pub fn table(report: &Report<'_>) -> String {
    let header = report.header;
    let mut out = format!("{}; {}\n{}\n\n", header.hardware, header.driver, header.terms());
    summary(report, &mut out);
    details(report, &mut out);
    for note in &report.found.notes {
        let _ =
            writeln!(out, "{}: {} {}: {}", note.workload.name(), note.contender, note.kind.name(), note.text);
    }
    out
}

/// A line for each workload: medians of all that the CPU does, ratios, and bars.
fn summary(report: &Report<'_>, out: &mut String) {
    let _ = writeln!(
        out,
        "{:<27}{:>10}{:>10}{:>10}{:>12}{:>10}{:>13}  {:<19}bar",
        "record+submit, create+drop",
        "purlin",
        "wgpu",
        "ash",
        "purlin/ash",
        "wgpu/ash",
        "wgpu/purlin",
        "over ash"
    );
    for workload in report.workloads() {
        let medians = CONTENDERS.map(|name| report.median(workload, name));
        if medians.iter().all(Option::is_none) {
            continue;
        }
        let [purlin, wgpu, ash] = medians.map(|median| median.map_or("-".into(), figure));
        let [purlin_ash, wgpu_ash, wgpu_purlin] = report.ratios(workload).map(ratio);
        let over = report.over(workload).unwrap_or_default();
        let bars: Vec<_> = report.verdicts(workload).into_iter().map(|verdict| verdict.text).collect();
        let line = format!(
            "{:<27}{purlin:>10}{wgpu:>10}{ash:>10}{purlin_ash:>12}{wgpu_ash:>10}{wgpu_purlin:>13}  {over:<19}{}",
            workload.name(),
            bars.join(", ")
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Every metric of every contender: median, p95 and p99.
fn details(report: &Report<'_>, out: &mut String) {
    let _ = write!(out, "\n{:<27}{:<15}", "median  p95  p99", "metric");
    for contender in CONTENDERS {
        let _ = write!(out, "{contender:>35}");
    }
    out.push('\n');
    for workload in report.workloads() {
        for metric in METRICS {
            let all = CONTENDERS.map(|name| report.measured(workload, name, metric).map(|one| one.summary));
            if all.iter().all(Option::is_none) {
                continue;
            }
            let _ = write!(out, "{:<27}{metric:<15}", workload.name());
            for summary in all {
                let cells = match summary {
                    Some(summary) => [summary.median, summary.p95, summary.p99].map(figure),
                    None => ["-", "", ""].map(String::from),
                };
                let _ = write!(out, "{:>13}{:>11}{:>11}", cells[0], cells[1], cells[2]);
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
}
