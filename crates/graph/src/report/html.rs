//! HTML: one page with its style, its script and the report as data. It asks nothing of any network.

use super::GraphReport;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn write(report: &GraphReport) -> String {
    // Nothing in the data can close its element or start a comment, whatever labels say.
    let data = report.to_json().replace('<', "\\u003c");
    let mut title = String::new();
    for c in report.label.chars() {
        match c {
            '<' => title.push_str("&lt;"),
            '&' => title.push_str("&amp;"),
            c => title.push(c),
        }
    }
    // One pass over the template, so that data which looks like a placeholder stays data.
    let mut out = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    while let Some(start) = rest.find("{{") {
        let Some(end) = rest[start..].find("}}") else { break };
        out.push_str(&rest[..start]);
        out.push_str(match &rest[start + 2..start + end] {
            "title" => &title,
            "style" => STYLE,
            "script" => SCRIPT,
            "data" => &data,
            _ => "",
        });
        rest = &rest[start + end + 2..];
    }
    out.push_str(rest);
    out
}
