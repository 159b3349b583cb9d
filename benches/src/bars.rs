//! The bars that Purlin sets itself: what its medians may come to beside the other contenders'.
//!
//! They are for a discrete GPU, and a few for the driver that does nothing. Software rendering shares its processor with
//! the contenders, so nothing is asked of figures from there.

/// One demand on a workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// Purlin takes at most this many times what another contender does.
    AtMost(&'static str, f64),
    /// Another contender takes at least this many times what Purlin does.
    Ahead(&'static str, f64),
    /// Purlin takes less than another contender.
    Below(&'static str),
    /// Purlin's median in another workload is at least this many times this one's.
    Gain(&'static str, f64),
    /// Purlin's median is at most so many nanoseconds a unit above hand-written Vulkan's.
    Over(f64),
    /// Purlin's medians of these metrics come to at most so many microseconds together.
    Takes(&'static [&'static str], f64),
}

/// A workload or a family of them, and what is asked of it.
type Row = (&'static str, &'static [Bar]);

const GPU: &[Row] = &[
    ("draws10k", &[Bar::AtMost("ash", 1.25)]),
    ("renderpass", &[Bar::AtMost("ash", 1.25), Bar::Ahead("wgpu", 5.0)]),
    ("computepass", &[Bar::AtMost("ash", 1.25), Bar::Ahead("wgpu", 5.0)]),
    ("compute_chain", &[Bar::AtMost("ash", 1.3)]),
    ("overlays/31", &[Bar::AtMost("ash", 1.3)]),
    ("overlays/31-graph", &[Bar::AtMost("ash", 1.3)]),
    ("overlays/31-merged", &[Bar::Gain("overlays/31-graph", 4.5)]),
    ("groups/32", &[Bar::AtMost("ash", 1.5)]),
    ("groups/1-dynamic", &[Bar::AtMost("ash", 1.5)]),
    ("resources", &[Bar::AtMost("ash", 1.3), Bar::Below("wgpu")]),
    ("threads/16", &[Bar::Gain("threads/1", 8.0), Bar::AtMost("ash", 1.5)]),
];

/// For any driver: these workloads use none.
const NULL: &[Row] = &[
    ("graph_compile_32", &[Bar::Takes(&["compile"], 12.0)]),
    ("graph_compile_1000", &[Bar::Takes(&["compile"], 500.0)]),
    ("graph_compile_10000", &[Bar::Takes(&["compile"], 6000.0)]),
    // Whether a frame is like the last one is found out while it is declared.
    ("graph_cached_32", &[Bar::Takes(&["declare", "compile"], 3.0)]),
];

const MOCK: &[Row] = &[("draws10k", &[Bar::Over(25.0)]), ("compute_chain", &[Bar::Over(250.0)])];

/// What the layer may add to wgpu.
const ON_WGPU: &[Bar] = &[Bar::AtMost("wgpu", 1.15)];

/// Where figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    Gpu,
    /// By the processor, which the contenders need too.
    Software,
    /// By the driver that does nothing.
    Mock,
    /// By wgpu, which Purlin runs on too.
    ThroughWgpu,
}

/// What is asked of a workload.
pub fn of(workload: &str, drawn: Drawn) -> &'static [Bar] {
    let rows = match drawn {
        Drawn::Gpu => GPU,
        Drawn::Software => &[],
        Drawn::Mock => MOCK,
        Drawn::ThroughWgpu => return ON_WGPU,
    };
    let covers = |name: &str| {
        workload == name || workload.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
    };
    rows.iter().chain(NULL).find(|(name, _)| covers(name)).map_or(&[], |(_, bars)| bars)
}

/// What a run says of a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// `within 1.25 ash`, `over 1.25 ash`, `unknown: ..`.
    pub text: String,
    pub within: bool,
}

impl Bar {
    /// Compares. `median` answers that of a workload, or of this one, and a contender; `times` how many times Purlin takes
    /// what another does; `metric` the median of one of Purlin's metrics; `units` is how many units a frame has, and what
    /// they are called.
    pub fn verdict(
        self,
        median: impl Fn(Option<&str>, &str) -> Option<f64>,
        times: impl Fn(&str) -> Option<f64>,
        metric: impl Fn(&str) -> Option<f64>,
        (unit, units): (&str, u32),
    ) -> Verdict {
        let own = median(None, "purlin");
        let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?).filter(|ratio| ratio.is_finite());
        let (text, within) = match self {
            Bar::AtMost(other, bar) => {
                (format!("{bar} times {other}"), times(other).map(|found| found <= bar))
            }
            Bar::Ahead(other, bar) => {
                (format!("1/{bar} of {other}"), times(other).map(|found| found * bar <= 1.0))
            }
            Bar::Below(other) => (other.to_owned(), times(other).map(|found| found < 1.0)),
            Bar::Gain(workload, bar) => (
                format!("1/{bar} of {workload}"),
                ratio(median(Some(workload), "purlin"), own).map(|found| found >= bar),
            ),
            Bar::Over(bar) => {
                let over =
                    own.zip(median(None, "ash")).map(|(own, ash)| (own - ash) * 1000.0 / f64::from(units));
                (format!("{bar} ns/{unit} over ash"), over.map(|found| found <= bar))
            }
            Bar::Takes(metrics, bar) => {
                let sum = metrics.iter().map(|name| metric(name)).sum::<Option<f64>>();
                (format!("{bar} us to {}", metrics.join(" and ")), sum.map(|found| found <= bar))
            }
        };
        let verdict = match within {
            Some(true) => "within",
            Some(false) => "OVER",
            None => "unmeasured:",
        };
        Verdict { text: format!("{verdict} {text}"), within: within == Some(true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(bar: Bar, purlin: f64, other: f64) -> Verdict {
        let median = |workload: Option<&str>, contender: &str| match (workload, contender) {
            (None, "purlin") => Some(purlin),
            (None, "ash" | "wgpu") | (Some("threads/1"), "purlin") => Some(other),
            _ => None,
        };
        let times = |_: &str| Some(purlin / other);
        bar.verdict(median, times, |metric| (metric == "compile").then_some(purlin), ("draw", 10))
    }

    #[test]
    fn each_bar_has_two_sides() {
        let sides = [
            (Bar::AtMost("ash", 1.25), (125.0, 100.0), (126.0, 100.0)),
            (Bar::Ahead("wgpu", 5.0), (10.0, 50.0), (10.0, 49.0)),
            (Bar::Below("wgpu"), (9.0, 10.0), (10.0, 10.0)),
            (Bar::Gain("threads/1", 8.0), (10.0, 80.0), (10.0, 79.0)),
            // Ten draws: 0.25 microseconds are 25 nanoseconds a draw.
            (Bar::Over(25.0), (1.25, 1.0), (1.26, 1.0)),
            (Bar::Takes(&["compile"], 3.0), (3.0, 1.0), (3.1, 1.0)),
        ];
        for (bar, (purlin, other), (worse, same)) in sides {
            let (good, bad) = (verdict(bar, purlin, other), verdict(bar, worse, same));
            assert!(good.within && good.text.starts_with("within"), "{good:?}");
            assert!(!bad.within && bad.text.starts_with("OVER"), "{bad:?}");
        }
    }

    #[test]
    fn what_was_not_measured_is_not_within() {
        for bar in [Bar::AtMost("ash", 1.25), Bar::Takes(&["compile", "declare"], 3.0)] {
            let metric = |metric: &str| (metric == "compile").then_some(1.0);
            let verdict = bar.verdict(|_, _| None, |_| None, metric, ("draw", 1));
            assert!(!verdict.within && verdict.text.starts_with("unmeasured"), "{verdict:?}");
        }
    }

    #[test]
    fn a_row_covers_its_family_and_no_other() {
        assert_eq!(of("draws10k/static", Drawn::Gpu), [Bar::AtMost("ash", 1.25)]);
        assert_eq!(of("draws10k", Drawn::Mock), [Bar::Over(25.0)]);
        assert_eq!(of("resources/large", Drawn::Gpu).len(), 2);
        assert!(of("overlays/8", Drawn::Gpu).is_empty() && of("resources/large", Drawn::Mock).is_empty());
        assert_eq!(of("graph_compile_1000", Drawn::Software), [Bar::Takes(&["compile"], 500.0)]);
        assert!(of("threads/1", Drawn::Gpu).is_empty() && of("draws10k", Drawn::Software).is_empty());
    }
}
