//! The report for people, as a page that needs nothing else: bars by workload on a logarithmic scale, then the tables.

use std::fmt::Write;

use super::{CONTENDERS, PAIRS, Report, figure, ratio};
use crate::runner::METRICS;
use crate::workloads::Workload;

/// The run as an HTML page.
pub fn html(report: &Report<'_>) -> String {
    let header = report.header;
    let legend: String = CONTENDERS.map(|name| format!("<li class='{name}'>{name}</li>")).concat();
    let notes: String = report
        .found
        .notes
        .iter()
        .map(|note| {
            let (workload, kind) = (note.workload.name(), note.kind.name());
            format!("<li>{workload}: {} {kind}: {}</li>", note.contender, escape(&note.text))
        })
        .collect();
    let notes = if notes.is_empty() { notes } else { format!("<h2>Not timed</h2><ul>{notes}</ul>") };
    format!(
        "<!doctype html><html lang='en'><meta charset='utf-8'>\
         <meta name='viewport' content='width=device-width,initial-scale=1'><title>Purlin benchmarks</title>\
         <style>{STYLE}</style><main><h1>CPU time of a frame</h1><p>{}<br>{}<br>{}</p>\
         <p>Bars are medians of all that the CPU does: record + submit, or create + drop. The thin line ends at p99. The \
         scale is logarithmic.</p><ul class='legend'>{legend}</ul>{}<h2>Ratios</h2>{}<h2>Every metric</h2>{}{notes}\
         </main></html>\n",
        escape(&header.hardware),
        escape(&header.driver),
        escape(&header.terms()),
        plot(report),
        summary(report),
        details(report),
    )
}

/// A logarithmic scale over whole decades of microseconds.
struct Scale {
    low: i32,
    decades: i32,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .map(|value| value.max(1e-3))
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        if high == 0.0 {
            return Self { low: 0, decades: 1 };
        }
        // A value on a decade would have a bar of no length, so the scale begins below it.
        let (low, high) = ((low.log10() - 0.05).floor() as i32, high.log10().ceil() as i32);
        Self { low, decades: (high - low).max(1) }
    }

    /// How far along a value lies, in percent.
    fn place(&self, value: f64) -> f64 {
        ((value.max(1e-3).log10() - f64::from(self.low)) / f64::from(self.decades) * 100.0).clamp(0.0, 100.0)
    }
}

fn plot(report: &Report<'_>) -> String {
    let headlines = |workload: Workload| {
        CONTENDERS
            .map(|name| report.measured(workload, name, report.headline(workload)).map(|one| one.summary))
    };
    let rows: Vec<_> =
        report.workloads().into_iter().map(|workload| (workload, headlines(workload))).collect();
    let all = || rows.iter().flat_map(|(_, summaries)| summaries.iter().flatten());
    let scale = Scale::of(all().flat_map(|summary| [summary.median, summary.p99]));

    let mut out = format!("<div class='plot' style='--decades:{}'>", scale.decades);
    let axis: String = (0..=scale.decades)
        .map(|decade| {
            let place = f64::from(decade) / f64::from(scale.decades) * 100.0;
            format!("<span style='--at:{place:.2}'>{}</span>", time(10f64.powi(scale.low + decade)))
        })
        .collect();
    let _ = write!(out, "<div class='row axis'><div></div><div class='track'>{axis}</div></div>");
    for (workload, summaries) in &rows {
        let _ = write!(out, "<div class='row'><div>{}</div><div class='track'>", label(*workload));
        for (name, summary) in CONTENDERS.iter().zip(summaries) {
            let Some(summary) = summary else { continue };
            let (bar, end) = (scale.place(summary.median), scale.place(summary.p99));
            let text = time(summary.median);
            let _ = write!(
                out,
                "<div class='bar {name}' title='{name}: median {text}, p95 {}, p99 {}'>\
                 <b style='width:{bar:.2}%'></b><i style='width:{:.2}%'></i><span>{}</span></div>",
                time(summary.p95),
                time(summary.p99),
                (end - bar).max(0.0),
                figure(summary.median)
            );
        }
        out.push_str("</div></div>");
    }
    out + "</div>"
}

fn summary(report: &Report<'_>) -> String {
    let pairs = PAIRS.map(|(a, b)| format!("<th>{a} / {b}</th>")).concat();
    let mut out = format!(
        "<div class='scroll'><table><tr><th>workload</th>{}{pairs}<th>over ash</th><th>bar</th></tr>",
        CONTENDERS.map(|name| format!("<th>{name}</th>")).concat()
    );
    for workload in report.workloads() {
        let medians = CONTENDERS.map(|name| report.median(workload, name));
        if medians.iter().all(Option::is_none) {
            continue;
        }
        let medians = medians.map(|median| cell(&median.map_or("-".into(), figure))).concat();
        let ratios = report.ratios(workload).map(|value| cell(&ratio(value))).concat();
        let over = cell(&report.over(workload).unwrap_or_default());
        let bars: Vec<_> = report
            .verdicts(workload)
            .into_iter()
            .map(|verdict| {
                let class = if verdict.within { "within" } else { "over" };
                format!("<span class='{class}'>{}</span>", verdict.text)
            })
            .collect();
        let _ = write!(
            out,
            "<tr><td>{}</td>{medians}{ratios}{over}<td class='bars'>{}</td></tr>",
            workload.name(),
            bars.join("<br>")
        );
    }
    out + "</table></div>"
}

fn details(report: &Report<'_>) -> String {
    let heads = CONTENDERS.map(|name| format!("<th colspan='3'>{name}: median, p95, p99</th>")).concat();
    let mut out = format!("<div class='scroll'><table><tr><th>workload</th><th>metric</th>{heads}</tr>");
    for workload in report.workloads() {
        for metric in METRICS {
            let all = CONTENDERS.map(|name| report.measured(workload, name, metric).map(|one| one.summary));
            if all.iter().all(Option::is_none) {
                continue;
            }
            let cells = all.map(|summary| match summary {
                Some(summary) => {
                    [summary.median, summary.p95, summary.p99].map(|value| cell(&figure(value))).concat()
                }
                None => cell("-") + &cell("") + &cell(""),
            });
            let _ = write!(out, "<tr><td>{}</td><td>{metric}</td>{}</tr>", workload.name(), cells.concat());
        }
    }
    out + "</table></div>"
}

fn cell(text: &str) -> String {
    format!("<td class='number'>{text}</td>")
}

/// The name, which may break after a slash.
fn label(workload: Workload) -> String {
    workload.name().replace('/', "/<wbr>")
}

/// A time with its unit.
fn time(us: f64) -> String {
    match us {
        us if us < 1.0 => format!("{:.0} ns", us * 1e3),
        us if us < 1e3 => format!("{} µs", short(us)),
        us if us < 1e6 => format!("{} ms", short(us / 1e3)),
        us => format!("{} s", short(us / 1e6)),
    }
}

fn short(value: f64) -> String {
    let digits = if value >= 99.95 || value.fract() == 0.0 { 0 } else { 1 };
    format!("{value:.digits$}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1f2328;--soft:#59636e;--line:#d8dee4;--back:#fff;--purlin:#2566a8;--wgpu:#b4602b;\
--ash:#7b8794;--good:#1a7f37;--bad:#c0342b}\
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9aa5b1;--line:#30363d;--back:#0f1318;--purlin:#5b9fe0;\
--wgpu:#dd8a52;--ash:#8b98a6;--good:#4cc26a;--bad:#ff7b72}}\
*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}\
main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 3rem}h1{font-size:1.5rem;margin:0 0 .5rem}\
h2{font-size:1.15rem;margin:2.2rem 0 .6rem}p{margin:.4rem 0;color:var(--soft);overflow-wrap:anywhere}\
.purlin{--c:var(--purlin)}.wgpu{--c:var(--wgpu)}.ash{--c:var(--ash)}\
.legend{display:flex;gap:1.2rem;list-style:none;padding:0;margin:1rem 0 .4rem}\
.legend li::before{content:'';display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px;\
background:var(--c);vertical-align:-.05em}\
.row{display:grid;grid-template-columns:13.5rem minmax(0,1fr);align-items:center;padding:.35rem 0}\
.row>:first-child{padding-right:1rem;text-align:right;overflow-wrap:anywhere}\
.track{position:relative;margin-right:4.2rem;border-right:1px solid var(--line);\
background:repeating-linear-gradient(to right,var(--line) 0 1px,transparent 1px calc(100%/var(--decades)))}\
.axis .track{height:1.5rem;background:none;border:0}\
.axis span{position:absolute;left:calc(var(--at)*1%);transform:translateX(calc(var(--at)*-1%));font-size:.8rem;color:var(--soft);white-space:nowrap}\
.bar{display:flex;align-items:center;height:1.1rem}.bar b{height:.85rem;background:var(--c);border-radius:0 2px 2px 0;\
flex:none}.bar i{height:2px;background:var(--c);flex:none}\
.bar span{font-size:.8rem;color:var(--soft);padding-left:.35rem;line-height:1;white-space:nowrap;\
font-variant-numeric:tabular-nums}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.87rem;white-space:nowrap}\
th,td{padding:.28rem .6rem;text-align:left;border-bottom:1px solid var(--line)}th{font-weight:600}\
th:not(:first-child){text-align:right}th:last-child,th:nth-child(2):nth-last-child(4){text-align:left}\
.number{text-align:right;font-variant-numeric:tabular-nums}.within{color:var(--good)}.over{color:var(--bad)}\
ul:not(.legend){padding-left:1.2rem}\
@media(max-width:40rem){.row{grid-template-columns:minmax(0,1fr)}.row>:first-child{text-align:left;font-weight:600;padding:0}\
.track{margin-right:3.6rem}.axis>:first-child{display:none}.axis span:nth-child(even){display:none}}";
