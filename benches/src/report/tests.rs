use super::*;
use crate::runner::{Note, NoteKind};
use crate::stats::Summary;

fn header() -> Header {
    Header {
        hardware: "A <GPU> & a CPU".into(),
        driver: "driver 1".into(),
        commit: "abc".into(),
        profile: "release".into(),
        compared: true,
        on_wgpu: false,
        software: false,
        scale: SCALE,
    }
}

fn found(purlin: f64) -> Found {
    let workload = Workload::Draws { switching: true };
    let measured = [("purlin", purlin), ("wgpu", 5235.0), ("ash", 810.0)].map(|(contender, median)| {
        let summary = Summary { median, p95: median * 1.5, p99: median * 2.0, samples: 200 };
        Measured { workload, contender, metric: "record+submit", summary, blocks: vec![median; 2] }
    });
    let kind = NoteKind::Failed;
    let note = Note { workload: Workload::ComputePass, contender: "wgpu", kind, text: "lost <it>".into() };
    Found { measured: measured.into(), notes: vec![note] }
}

#[test]
fn json_reads_back_as_it_was_written() {
    let (header, found) = (header(), found(1192.0));
    let text = json(&Report { header: &header, found: &found }).expect("it is written");
    let (again, read_back) = read(&text).expect("it reads back");
    assert_eq!((again, read_back.measured, read_back.notes), (header, found.measured, found.notes));
}

#[test]
fn what_a_newer_build_wrote_is_left_out_and_nonsense_is_one_line() {
    let (header, found) = (header(), found(1192.0));
    let text = json(&Report { header: &header, found: &found }).expect("it is written");
    let newer = text.replacen("\"draws10k\"", "\"dreams\"", 1);
    assert_eq!(read(&newer).expect("it reads").1.measured.len(), found.measured.len() - 1);
    let scaled = Header { scale: 1000, ..header };
    let scaled = json(&Report { header: &scaled, found: &found }).expect("it is written");
    assert!(read(&scaled).is_err_and(|line| line.contains("divided by 1000")), "{scaled}");
    for nonsense in ["", "{}", "[1]", &text[..text.len() / 2]] {
        let Err(line) = read(nonsense) else { panic!("`{nonsense}` was read") };
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn the_table_has_percentiles_ratios_and_bars() {
    let (header, slow, fast) = (header(), found(1192.0), found(900.0));
    let text = table(&Report { header: &header, found: &slow });
    let each = format!("{} ns/draw", figure(382_000.0 / f64::from(crate::workloads::DRAWS)));
    for part in
        ["1.47", "6.46", "4.39", each.as_str(), "OVER 1.25 times ash", "1,788", "2,384", "wgpu failed: lost"]
    {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
    // A contender that failed leaves a bar that nobody can say is kept.
    let unmeasured = ["computepass: unmeasured: 1.25 times ash", "computepass: unmeasured: 1/5 of wgpu"];
    let slow = Report { header: &header, found: &slow };
    assert_eq!(slow.over_bar()[0], "draws10k: OVER 1.25 times ash");
    assert_eq!(slow.over_bar()[1..], unmeasured);
    let fast = Report { header: &header, found: &fast };
    assert!(table(&fast).contains("within 1.25 times ash"));
    assert_eq!(fast.over_bar(), unmeasured);
}

#[test]
fn figures_have_the_digits_that_matter() {
    let cases =
        [(0.234, "0.23"), (45.67, "45.7"), (999.6, "1,000"), (1234567.0, "1,234,567"), (-1234.0, "-1,234")];
    for (value, text) in cases {
        assert_eq!(figure(value), text);
    }
}

#[test]
fn the_page_escapes_what_it_quotes() {
    let (header, found) = (header(), found(1192.0));
    let page = html(&Report { header: &header, found: &found });
    assert!(page.contains("A &lt;GPU&gt; &amp; a CPU") && page.contains("lost &lt;it&gt;"));
    assert!(page.contains("<span class='over'>OVER 1.25 times ash</span>"));
    assert_eq!(page.matches("<div class='bar ").count(), 3);
}

#[test]
fn a_run_without_figures_still_makes_a_page() {
    let (header, found) = (header(), Found::default());
    let report = Report { header: &header, found: &found };
    assert!(html(&report).ends_with("</html>\n") && table(&report).contains("driver 1"));
}
