//! The report for programs, written and read.

use serde::{Deserialize, Serialize};

use super::{CONTENDERS, Header, Report};
use crate::case::one_line;
use crate::runner::{Found, METRICS, Measured, Note, NoteKind, unit};
use crate::stats::Summary;
use crate::workloads::{SCALE, Workload};

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(flatten)]
    header: Header,
    results: Vec<Entry>,
    #[serde(default)]
    notes: Vec<NoteEntry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    workload: String,
    contender: String,
    metric: String,
    unit: String,
    #[serde(flatten)]
    summary: Summary,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct NoteEntry {
    workload: String,
    contender: String,
    kind: String,
    text: String,
}

/// The run as JSON.
pub fn json(report: &Report<'_>) -> serde_json::Result<String> {
    let results = report.found.measured.iter().map(|one| Entry {
        workload: one.workload.name().into(),
        contender: one.contender.into(),
        metric: one.metric.into(),
        unit: unit(one.metric).into(),
        summary: one.summary,
        blocks: one.blocks.clone(),
    });
    let notes = report.found.notes.iter().map(|note| NoteEntry {
        workload: note.workload.name().into(),
        contender: note.contender.into(),
        kind: note.kind.name().into(),
        text: note.text.clone(),
    });
    let file = File { header: report.header.clone(), results: results.collect(), notes: notes.collect() };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

/// Reads what [`json`] wrote, in this build or an earlier one. Figures of workloads, contenders and metrics that this
/// build does not know are left out.
///
/// # Errors
/// One line that says why the text is no report.
pub fn read(text: &str) -> Result<(Header, Found), String> {
    let file: File = serde_json::from_str(text).map_err(|error| one_line(&error.to_string()))?;
    if file.header.scale != SCALE {
        return Err(format!(
            "its counts are divided by {}, those of this build by {SCALE}",
            file.header.scale
        ));
    }
    let workload = |name: &str| Workload::all().find(|workload| workload.name() == name);
    let contender = |name: &str| CONTENDERS.into_iter().find(|known| *known == name);
    let metric = |name: &str| METRICS.into_iter().find(|known| *known == name);
    let mut found = Found::default();
    for Entry { workload: name, contender: by, metric: what, summary, blocks, .. } in file.results {
        if let (Some(workload), Some(contender), Some(metric)) =
            (workload(&name), contender(&by), metric(&what))
        {
            found.measured.push(Measured { workload, contender, metric, summary, blocks });
        }
    }
    for note in file.notes {
        let known = (workload(&note.workload), contender(&note.contender), NoteKind::named(&note.kind));
        if let (Some(workload), Some(contender), Some(kind)) = known {
            found.notes.push(Note { workload, contender, kind, text: note.text });
        }
    }
    Ok((file.header, found))
}
