//! What a run found, for people and for programs.

mod html;
mod json;
mod table;

pub use html::html;
pub use json::json;
pub use table::table;

use crate::hardware::Choice;
use crate::runner::{Found, Measured};
use crate::workloads::Workload;

/// A run with the machine that it ran on.
pub struct Report<'r> {
    pub choice: &'r Choice,
    pub found: &'r Found,
    /// Whether results were compared before frames were timed.
    pub compared: bool,
}

/// The contenders in the order of columns.
pub const CONTENDERS: [&str; 3] = ["purlin", "wgpu", "ash"];

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

    fn median(&self, workload: Workload, contender: &str, metric: &str) -> Option<f64> {
        self.measured(workload, contender, metric).map(|one| one.summary.median)
    }
}

/// Microseconds with the digits that matter.
fn microseconds(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
