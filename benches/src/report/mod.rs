//! What a run found, for people and for programs.

mod html;
mod json;
mod table;

use serde::{Deserialize, Serialize};

pub use html::html;
pub use json::{json, read};
pub use table::table;

use crate::bars::{self, Drawn, Verdict};
use crate::hardware::{COMMIT, Choice, PROFILE};
use crate::runner::{Found, Measured};
use crate::stats::paired_ratio;
use crate::workloads::{SCALE, Workload};

/// Where and how a run was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub hardware: String,
    pub driver: String,
    pub commit: String,
    pub profile: String,
    /// Whether results were compared before frames were timed: everywhere but on the mock driver, which draws nothing.
    pub compared: bool,
    /// Whether the processor draws.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub software: bool,
    /// Whether Purlin ran on its wgpu backend.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_wgpu: bool,
    /// What counts were divided by.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: u32,
}

fn one() -> u32 {
    1
}

fn is_one(scale: &u32) -> bool {
    *scale == 1
}

impl Header {
    /// Of this build on this machine.
    pub fn of(choice: &Choice) -> Self {
        Self {
            hardware: choice.hardware(),
            driver: choice.driver.clone(),
            commit: COMMIT.into(),
            profile: PROFILE.into(),
            compared: !choice.mock,
            software: choice.software,
            on_wgpu: false,
            scale: SCALE,
        }
    }

    fn drawn(&self) -> Drawn {
        if self.on_wgpu {
            return Drawn::ThroughWgpu;
        }
        match (self.compared, self.software) {
            (false, _) => Drawn::Mock,
            (true, true) => Drawn::Software,
            (true, false) => Drawn::Gpu,
        }
    }

    /// How to read the figures, in one line.
    fn terms(&self) -> String {
        let compared = if self.compared {
            "results compared first"
        } else {
            "results not compared: the mock draws nothing"
        };
        let scaled = match self.scale {
            1 => String::new(),
            scale => format!("; counts divided by {scale}, so the figures compare with nothing"),
        };
        let on_wgpu = if self.on_wgpu { "; Purlin on its wgpu backend" } else { "" };
        format!(
            "commit {}, {}; medians in microseconds; {compared}{on_wgpu}{scaled}",
            self.commit, self.profile
        )
    }
}

/// A run with the machine that it ran on.
pub struct Report<'r> {
    pub header: &'r Header,
    pub found: &'r Found,
}

/// The contenders in the order of columns.
pub const CONTENDERS: [&str; 3] = ["purlin", "wgpu", "ash"];

/// The pairs whose ratios are reported.
const PAIRS: [(&str, &str); 3] = [("purlin", "ash"), ("wgpu", "ash"), ("wgpu", "purlin")];

impl Report<'_> {
    /// The workloads with figures or notes, in the order in which they ran.
    fn workloads(&self) -> Vec<Workload> {
        let ran = Workload::all().filter(|workload| {
            self.found.measured.iter().any(|one| one.workload == *workload)
                || self.found.notes.iter().any(|note| note.workload == *workload)
        });
        ran.collect()
    }

    fn measured(&self, workload: Workload, contender: &str, metric: &str) -> Option<&Measured> {
        self.found
            .measured
            .iter()
            .find(|one| one.workload == workload && one.contender == contender && one.metric == metric)
    }

    /// The metric by which contenders are ranked: all that the CPU does for a frame or a round.
    fn headline(&self, workload: Workload) -> &'static str {
        let lived =
            self.found.measured.iter().any(|one| one.workload == workload && one.metric == "create+drop");
        if lived { "create+drop" } else { "record+submit" }
    }

    /// The median of the headline.
    fn median(&self, workload: Workload, contender: &str) -> Option<f64> {
        self.measured(workload, contender, self.headline(workload)).map(|one| one.summary.median)
    }

    /// How many times one contender takes what another does: the median of the ratios of their blocks, pair by pair, or
    /// the ratio of medians where blocks were not kept.
    fn ratio(&self, workload: Workload, a: &str, b: &str) -> Option<f64> {
        let headline = |contender| self.measured(workload, contender, self.headline(workload));
        let (a, b) = (headline(a)?, headline(b)?);
        paired_ratio(&a.blocks, &b.blocks)
            .or_else(|| (b.summary.median > 0.0).then(|| a.summary.median / b.summary.median))
    }

    /// The ratios of each pair.
    fn ratios(&self, workload: Workload) -> [Option<f64>; 3] {
        PAIRS.map(|(a, b)| self.ratio(workload, a, b))
    }

    /// What Purlin takes above hand-written Vulkan for each unit: `21.4 ns/draw`.
    fn over(&self, workload: Workload) -> Option<String> {
        let (unit, count) = workload.units(self.header.software);
        let over = self.median(workload, "purlin")? - self.median(workload, "ash")?;
        Some(format!("{} ns/{unit}", figure(over * 1000.0 / f64::from(count))))
    }

    /// What the figures say of the bars of a workload.
    fn verdicts(&self, workload: Workload) -> Vec<Verdict> {
        let median = |other: Option<&str>, contender: &str| {
            let of = match other {
                None => workload,
                Some(name) => Workload::all().find(|workload| workload.name() == name)?,
            };
            self.median(of, contender)
        };
        let times = |other: &str| self.ratio(workload, "purlin", other);
        let metric = |name: &str| self.measured(workload, "purlin", name).map(|one| one.summary.median);
        let units = workload.units(self.header.software);
        let bars = bars::of(workload.name(), self.header.drawn());
        bars.iter().map(|bar| bar.verdict(median, times, metric, units)).collect()
    }

    /// Every bar that is not kept, as `workload: verdict`.
    pub fn over_bar(&self) -> Vec<String> {
        let mut over = Vec::new();
        for workload in self.workloads() {
            let broken = self.verdicts(workload).into_iter().filter(|verdict| !verdict.within);
            over.extend(broken.map(|verdict| format!("{}: {}", workload.name(), verdict.text)));
        }
        over
    }
}

/// A figure with the digits that matter, and commas between thousands.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => return format!("{value:.2}"),
        size if size < 100.0 => return format!("{value:.1}"),
        _ => {}
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A ratio, or a dash.
fn ratio(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests;
