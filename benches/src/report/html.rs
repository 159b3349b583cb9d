//! The report for people, as a page that needs nothing else: bars by workload, on a logarithmic scale.

use std::fmt::Write;

use super::{CONTENDERS, Report, microseconds};
use crate::hardware::{COMMIT, PROFILE};

const COLORS: [&str; 3] = ["#2f6fb2", "#b25d2f", "#6b7785"];
const LEFT: f64 = 220.0;
const WIDTH: f64 = 620.0;
const BAR: f64 = 14.0;
const GAP: f64 = 16.0;

/// The run as an HTML page with one SVG.
pub fn html(report: &Report<'_>) -> String {
    let rows = report.workloads();
    let medians: Vec<f64> = rows
        .iter()
        .flat_map(|workload| {
            CONTENDERS.map(|name| report.median(*workload, name, report.headline(*workload)))
        })
        .flatten()
        .collect();
    let low = medians.iter().copied().fold(f64::INFINITY, f64::min).max(1e-3).log10().floor();
    let high = medians.iter().copied().fold(0.0, f64::max).max(1.0).log10().ceil().max(low + 1.0);
    let scale = |value: f64| (value.max(1e-3).log10() - low) / (high - low) * WIDTH;

    let group = 3.0 * BAR + GAP;
    let height = rows.len() as f64 * group + 40.0;
    let mut svg = String::new();
    let mut decade = low;
    while decade <= high {
        let x = LEFT + (decade - low) / (high - low) * WIDTH;
        let label = microseconds(10f64.powf(decade));
        let _ = writeln!(
            svg,
            "<line x1='{x:.1}' x2='{x:.1}' y1='0' y2='{:.1}' class='grid'/><text x='{x:.1}' y='{:.1}' \
             text-anchor='middle'>{label}</text>",
            height - 24.0,
            height - 8.0
        );
        decade += 1.0;
    }
    for (row, workload) in rows.iter().enumerate() {
        let top = row as f64 * group;
        let metric = report.headline(*workload);
        let _ = writeln!(
            svg,
            "<text x='{:.1}' y='{:.1}' text-anchor='end'>{}</text>",
            LEFT - 10.0,
            top + 2.0 * BAR,
            workload.name()
        );
        for (index, name) in CONTENDERS.iter().enumerate() {
            let y = top + index as f64 * BAR;
            let Some(value) = report.median(*workload, name, metric) else { continue };
            let width = scale(value).max(1.0);
            let _ = writeln!(
                svg,
                "<rect x='{LEFT}' y='{y:.1}' width='{width:.1}' height='{:.1}' fill='{}'/>\
                 <text x='{:.1}' y='{:.1}' class='value'>{}</text>",
                BAR - 2.0,
                COLORS[index],
                LEFT + width + 5.0,
                y + BAR - 4.0,
                microseconds(value)
            );
        }
    }
    let legend: String = CONTENDERS
        .iter()
        .zip(COLORS)
        .map(|(name, color)| format!("<span><i style='background:{color}'></i>{name}</span> "))
        .collect();
    let notes: String = report
        .found
        .notes
        .iter()
        .map(|note| {
            let text = escape(&note.text);
            format!("<li>{}: {} {}: {text}</li>", note.workload.name(), note.contender, note.kind.name())
        })
        .collect();
    let compared = if report.compared {
        "Results were compared first."
    } else {
        "Results were not compared: the mock draws nothing."
    };
    let (hardware, driver) = (escape(&report.choice.hardware()), escape(&report.choice.driver));
    format!(
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Purlin benchmarks</title>\
         <style>body{{font:14px system-ui,sans-serif;margin:2em;color:#222}}svg text{{font:12px system-ui,sans-serif}}\
         .grid{{stroke:#ddd}}.value{{fill:#555}}i{{display:inline-block;width:.8em;height:.8em;margin-right:.3em}}\
         span{{margin-right:1em}}</style>\
         <h1>CPU time of a frame</h1><p>{hardware}<br>{driver}<br>commit {COMMIT}, {PROFILE}. Medians of record + submit \
         (or create + drop) in microseconds, logarithmic. {compared}</p><p>{legend}</p>\
         <svg width='{:.0}' height='{height:.0}' role='img' aria-label='Medians by workload'>{svg}</svg><ul>{notes}</ul></html>\n",
        LEFT + WIDTH + 80.0
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
