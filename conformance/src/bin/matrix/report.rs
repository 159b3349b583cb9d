//! The matrix as data and as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// All results.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Matrix {
    /// What each backend ran on.
    #[serde(default)]
    pub adapters: Vec<Adapter>,
    /// One for each fixture and backend.
    pub results: Vec<Cell>,
}

/// What a backend ran on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Adapter {
    pub backend: String,
    pub name: String,
    pub driver: String,
    /// Whether it ran under the validation layer, one message of which fails a fixture.
    #[serde(default)]
    pub validated: bool,
}

/// One fixture on one backend.
#[derive(Debug, Serialize, Deserialize)]
pub struct Cell {
    pub fixture: String,
    pub backend: String,
    /// `pass`, `unsupported`, `known_failure` or `fail`.
    pub outcome: String,
    /// The missing capability, or why it fails.
    pub reason: String,
}

const OUTCOMES: [(&str, &str); 4] =
    [("pass", "✓"), ("unsupported", "–"), ("known_failure", "known"), ("fail", "**FAIL**")];

impl Matrix {
    pub fn add(&mut self, other: Matrix) {
        self.adapters.extend(other.adapters);
        self.results.extend(other.results);
    }

    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|error| error.to_string())
    }

    fn backends(&self) -> Vec<&str> {
        let mut backends: Vec<&str> = Vec::new();
        for cell in &self.results {
            if !backends.contains(&cell.backend.as_str()) {
                backends.push(&cell.backend);
            }
        }
        backends
    }

    fn count(&self, backend: &str, outcome: &str) -> usize {
        self.results.iter().filter(|cell| cell.backend == backend && cell.outcome == outcome).count()
    }

    /// Counts by backend, for the terminal.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for backend in self.backends() {
            let counts: Vec<String> = OUTCOMES
                .iter()
                .map(|(outcome, _)| format!("{} {outcome}", self.count(backend, outcome)))
                .collect();
            let _ = writeln!(text, "{backend:12} {}", counts.join(", "));
        }
        text
    }

    /// The page: counts, reasons, and the table itself.
    pub fn to_markdown(&self) -> String {
        let backends = self.backends();
        let mut text = String::from(
            "# Conformance matrix\n\nWritten by `cargo xtask conformance --json FILE --markdown FILE`; do not edit. The columns of browsers come from \
             `cargo xtask web --test fixtures --json WEB.json` through `--with WEB.json`. What a fixture \
             is, and what \"unsupported\" and \"known\" mean, is in [conformance/README.md](../conformance/README.md).\n\n\
             | backend | adapter | driver | pass | unsupported | known failure | fail |\n|---|---|---|---|---|---|---|\n",
        );
        for backend in &backends {
            let adapter = self.adapters.iter().find(|adapter| adapter.backend == *backend);
            let (name, driver) = adapter.map_or(("", ""), |a| (a.name.as_str(), a.driver.as_str()));
            let layer =
                if adapter.is_some_and(|a| a.validated) { ", under the validation layer" } else { "" };
            let counts: Vec<String> =
                OUTCOMES.iter().map(|(outcome, _)| self.count(backend, outcome).to_string()).collect();
            let _ = writeln!(text, "| {backend} | {name} | {driver}{layer} | {} |", counts.join(" | "));
        }
        for (outcome, title) in
            [("fail", "Failures"), ("known_failure", "Known failures"), ("unsupported", "Unsupported")]
        {
            self.reasons(&mut text, outcome, title);
        }
        let _ = writeln!(text, "\n## All cells\n\n| fixture | {} |", backends.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(backends.len()));
        let mut fixtures: Vec<&str> = Vec::new();
        for cell in &self.results {
            if !fixtures.contains(&cell.fixture.as_str()) {
                fixtures.push(&cell.fixture);
            }
        }
        for fixture in fixtures {
            let signs: Vec<&str> = backends.iter().map(|backend| self.sign(fixture, backend)).collect();
            let _ = writeln!(text, "| {fixture} | {} |", signs.join(" | "));
        }
        text
    }

    fn sign(&self, fixture: &str, backend: &str) -> &'static str {
        let cell = self.results.iter().find(|cell| cell.fixture == fixture && cell.backend == backend);
        let sign = cell.and_then(|cell| OUTCOMES.iter().find(|(outcome, _)| *outcome == cell.outcome));
        sign.map_or("not run", |(_, sign)| sign)
    }

    /// Fixtures by backend and reason.
    fn reasons(&self, text: &mut String, wanted: &str, title: &str) {
        let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for cell in self.results.iter().filter(|cell| cell.outcome == wanted) {
            by_reason.entry((&cell.backend, &cell.reason)).or_default().push(&cell.fixture);
        }
        if by_reason.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n## {title}\n\n| backend | reason | fixtures |\n|---|---|---|");
        for ((backend, reason), fixtures) in by_reason {
            let _ = writeln!(text, "| {backend} | {reason} | {} |", fixtures.join(", "));
        }
    }
}
