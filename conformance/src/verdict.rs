//! What a fixture's answer means on an adapter: one cell of the matrix.

use std::fmt;

use purlin_rhi::AdapterInfo;

use crate::known::known;
use crate::{Answer, Outcome};

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything was as computed.
    Pass,
    /// The device lacks this capability.
    Unsupported(String),
    /// It fails for the reason that is written down.
    KnownFailure(String),
    /// It fails, or passes although a failure is written down.
    Fail(String),
}

impl Verdict {
    /// Judges a fixture's answer. On Vulkan a call that is refused as unsupported is a failure unless the fixture says
    /// beforehand which capability it needs: elsewhere less is promised.
    pub fn of(fixture: &str, adapter: &AdapterInfo, answer: Answer) -> Self {
        let known = known(fixture, adapter);
        match (answer, known) {
            (Ok(Outcome::Passed), None) => Self::Pass,
            (Ok(Outcome::Passed), Some(_)) => {
                Self::Fail(format!("it passes on {}: take it off the list of known failures", adapter.name))
            }
            (Ok(Outcome::Unsupported(capability)), _) => Self::Unsupported(capability),
            (Err(failure), known) => match (failure.missing_capability(), known) {
                (Some(capability), _) if adapter.backend != "vulkan" => {
                    Self::Unsupported(capability.to_string())
                }
                (_, Some(known)) => Self::KnownFailure(known.reason.to_string()),
                (_, None) => Self::Fail(failure.to_string()),
            },
        }
    }

    /// The outcome's name in the matrix's JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Unsupported(_) => "unsupported",
            Self::KnownFailure(_) => "known_failure",
            Self::Fail(_) => "fail",
        }
    }

    /// The capability, or the reason; empty for a pass.
    pub fn reason(&self) -> &str {
        match self {
            Self::Pass => "",
            Self::Unsupported(text) | Self::KnownFailure(text) | Self::Fail(text) => text,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            other => write!(f, "{}: {}", other.name(), other.reason()),
        }
    }
}
