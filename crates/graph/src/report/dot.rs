//! DOT: passes as nodes, dependencies as edges.

use std::fmt::Write;

use super::GraphReport;
use crate::declare::PassKind;

pub(super) fn write(report: &GraphReport) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_to(report, &mut out);
    out
}

fn write_to(report: &GraphReport, out: &mut String) -> std::fmt::Result {
    writeln!(out, "digraph \"{}\" {{", escape(&report.label))?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];")?;
    for (index, pass) in report.passes.iter().enumerate() {
        let color = match pass.kind {
            PassKind::Render => "#cfe3ff",
            PassKind::Compute => "#ffe0b8",
            PassKind::Transfer => "#c9f0e4",
            PassKind::Readback => "#e4d7ff",
        };
        let style = if pass.live { "" } else { ", style=\"rounded,dashed\", fontcolor=gray" };
        let label = escape(&pass.label);
        writeln!(out, "  p{index} [label=\"{label}\", fillcolor=\"{color}\"{style}];")?;
    }
    for edge in &report.edges {
        let resource = report.resources.get(edge.resource as usize).map_or("", |resource| &resource.label);
        let part = if edge.part == "all" { String::new() } else { format!(" {}", edge.part) };
        let style = if edge.hazard == "RAW" { "solid" } else { "dashed" };
        writeln!(
            out,
            "  p{} -> p{} [label=\"{} {}{}\", style={style}];",
            edge.from,
            edge.to,
            edge.hazard,
            escape(resource),
            escape(&part)
        )?;
    }
    writeln!(out, "}}")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
