//! The report for programs.

use serde::Serialize;

use super::Report;
use crate::hardware::{COMMIT, PROFILE};
use crate::stats::Summary;

#[derive(Serialize)]
struct File<'r> {
    hardware: String,
    driver: &'r str,
    commit: &'static str,
    profile: &'static str,
    compared: bool,
    results: Vec<Entry>,
    notes: Vec<NoteEntry<'r>>,
}

#[derive(Serialize)]
struct Entry {
    workload: &'static str,
    contender: &'static str,
    metric: &'static str,
    unit: &'static str,
    #[serde(flatten)]
    summary: Summary,
}

#[derive(Serialize)]
struct NoteEntry<'r> {
    workload: &'static str,
    contender: &'static str,
    kind: &'static str,
    text: &'r str,
}

/// The run as JSON.
pub fn json(report: &Report<'_>) -> serde_json::Result<String> {
    let file = File {
        hardware: report.choice.hardware(),
        driver: &report.choice.driver,
        commit: COMMIT,
        profile: PROFILE,
        compared: report.compared,
        results: report
            .found
            .measured
            .iter()
            .map(|one| Entry {
                workload: one.workload.name(),
                contender: one.contender,
                metric: one.metric,
                unit: "us",
                summary: one.summary,
            })
            .collect(),
        notes: report
            .found
            .notes
            .iter()
            .map(|note| NoteEntry {
                workload: note.workload.name(),
                contender: note.contender,
                kind: note.kind.name(),
                text: &note.text,
            })
            .collect(),
    };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}
