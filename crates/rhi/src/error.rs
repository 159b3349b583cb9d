//! Typed errors. Each says what was asked, of which object, what was expected and what was found.
//!
//! A call that returns an error has changed nothing. Messages are built only on the failing path.

use crate::caps::UnmetLimit;
use crate::handle::ResourceKind;
use crate::needs::Unmet;

/// The result of a fallible call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device, as it was enabled, cannot do this.
    #[error("{what}: unsupported: needs {capability}; {detail}")]
    Unsupported {
        /// The call or object, with its label.
        what: String,
        /// The feature, limit or format use that is missing.
        capability: String,
        /// What was asked and what is there.
        detail: String,
        /// The same as data, where a device request or a limit of a texture was not met.
        unmet: Option<Box<Unmet>>,
    },
    /// A description contradicts itself, a limit or the objects it names.
    #[error("{what}: invalid {field}: expected {expected}, found {found}")]
    InvalidDescription {
        /// The call or object, with its label.
        what: String,
        /// The field of the description.
        field: &'static str,
        /// What would have been accepted.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A handle that names nothing on this device any more, or never did.
    #[error("{what}: {handle} is {problem}")]
    InvalidHandle {
        /// The call or object that used the handle.
        what: String,
        /// The handle as printed by `Debug`, with the label where it is still known.
        handle: String,
        /// Stale or foreign.
        problem: HandleProblem,
    },
    /// The right call at the wrong time.
    #[error("{what}: invalid state: expected {expected}, found {found}")]
    InvalidState {
        /// The call or object, with its label.
        what: String,
        /// The state that the call needs.
        expected: String,
        /// The state that was found.
        found: String,
    },
    /// The system has no memory left for this.
    #[error("{what}: out of memory: {bytes} bytes were asked for")]
    OutOfMemory {
        /// The call or object, with its label.
        what: String,
        /// The bytes asked for.
        bytes: u64,
    },
    /// A byte budget of the device request would be exceeded.
    #[error("{what}: budget exceeded: {requested} bytes asked for, {available} of {budget} left")]
    BudgetExceeded {
        /// The call or object, with its label.
        what: String,
        /// The bytes asked for.
        requested: u64,
        /// The bytes left.
        available: u64,
        /// The whole budget.
        budget: u64,
    },
    /// A table or ring has no room left.
    #[error("{what}: capacity exceeded: {requested} asked for, {capacity} is the most")]
    CapacityExceeded {
        /// The table or ring.
        what: String,
        /// The size that was asked for.
        requested: u64,
        /// The size that there is.
        capacity: u64,
    },
    /// Not yet: the same call may succeed once the GPU has moved on.
    #[error("{what}: pending: {detail}")]
    Pending {
        /// The call.
        what: String,
        /// What it waits for.
        detail: String,
    },
    /// The device is lost; every token of it fails and every handle is stale.
    #[error("{what}: the device is lost: {detail}")]
    DeviceLost {
        /// The call that noticed.
        what: String,
        /// What the driver said.
        detail: String,
    },
    /// A surface is lost, and nothing but the surface: drop it and make another of the same target.
    #[error("{what}: the surface is lost: {detail}")]
    SurfaceLost {
        /// The call, with the surface's label.
        what: String,
        /// What the driver said.
        detail: String,
    },
    /// No adapter fits, or the system has no driver.
    #[error("no adapter: {detail}")]
    NoAdapter {
        /// What was looked for and what was there; on an empty machine, what to install.
        detail: String,
    },
    /// The driver refused a call that validation had accepted.
    #[error("{what}: {call} failed: {detail}")]
    Backend {
        /// The call or object, with its label.
        what: String,
        /// The native call.
        call: &'static str,
        /// The native result.
        detail: String,
    },
}

impl Error {
    /// [`Error::Unsupported`] by its texts: the call or object, the capability's name, and what was asked.
    pub fn unsupported(
        what: impl Into<String>,
        capability: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        let (what, capability, detail) = (what.into(), capability.into(), detail.into());
        Error::Unsupported { what, capability, detail, unmet: None }
    }

    /// What a device request or a texture asked for and the device lacks, as data. Other errors have none.
    pub fn unmet(&self) -> Option<&Unmet> {
        match self {
            Error::Unsupported { unmet, .. } => unmet.as_deref(),
            _ => None,
        }
    }
}

/// What is wrong with a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleProblem {
    /// The resource was destroyed.
    Stale,
    /// Another device made it.
    Foreign,
}

impl std::fmt::Display for HandleProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HandleProblem::Stale => "stale: it was destroyed",
            HandleProblem::Foreign => "foreign: another device made it",
        })
    }
}

/// Names an object in an error: its kind and label.
pub(crate) fn named(kind: ResourceKind, label: &str) -> String {
    if label.is_empty() { format!("unlabeled {kind}") } else { format!("{kind} \"{label}\"") }
}

/// Builds [`Error::InvalidDescription`].
pub(crate) fn invalid(
    what: impl Into<String>,
    field: &'static str,
    expected: impl Into<String>,
    found: impl ToString,
) -> Error {
    Error::InvalidDescription {
        what: what.into(),
        field,
        expected: expected.into(),
        found: found.to_string(),
    }
}

/// Builds [`Error::InvalidState`].
pub(crate) fn state(what: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::InvalidState { what: what.into(), expected: expected.into(), found: found.into() }
}

/// Builds [`Error::Unsupported`].
pub(crate) fn unsupported(
    what: impl Into<String>,
    capability: impl Into<String>,
    detail: impl Into<String>,
) -> Error {
    Error::unsupported(what, capability, detail)
}

/// Builds [`Error::Unsupported`] of a limit that a description goes past.
pub(crate) fn over_limit(what: impl Into<String>, limit: UnmetLimit, detail: impl Into<String>) -> Error {
    let need = Unmet::Limit(limit);
    let (what, capability, detail) = (what.into(), need.capability(), detail.into());
    Error::Unsupported { what, capability, detail, unmet: Some(Box::new(need)) }
}

/// Builds [`Error::Unsupported`] of a need that is not met.
pub(crate) fn unmet(what: impl Into<String>, unmet: Unmet) -> Error {
    Error::Unsupported {
        what: what.into(),
        capability: unmet.capability(),
        detail: unmet.detail(),
        unmet: Some(Box::new(unmet)),
    }
}

/// What a backend reports; the device turns it into an [`Error`] that names the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackendError {
    /// Host or device memory is exhausted.
    OutOfMemory {
        /// The bytes asked for, where known.
        bytes: u64,
    },
    /// The device is lost.
    DeviceLost(String),
    /// A native call failed.
    Failed {
        /// The native call.
        call: &'static str,
        /// The native result.
        detail: String,
    },
    /// The API below lacks something that no feature, limit or format use could say beforehand.
    Unsupported {
        /// What it lacks.
        capability: &'static str,
        /// Where it was met.
        detail: String,
    },
}

impl BackendError {
    /// Names the object or call that failed.
    pub fn at(self, what: impl Into<String>) -> Error {
        let what = what.into();
        match self {
            BackendError::OutOfMemory { bytes } => Error::OutOfMemory { what, bytes },
            BackendError::DeviceLost(detail) => Error::DeviceLost { what, detail },
            BackendError::Failed { call, detail } => Error::Backend { what, call, detail },
            BackendError::Unsupported { capability, detail } => unsupported(what, capability, detail),
        }
    }
}
