//! What can go wrong, said so that a person can fix it: what, where, the line itself, and a hint.
//!
//! `Display` is one line, `file:line:column: message`, which editors and CI logs can follow. [`Error::report`] is
//! the same with the source line, a caret and notes, in the form rustc has taught everybody to read.

use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;

use crate::target::Target;

/// Why a package did not compile or could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, written or renamed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// An import line is malformed, or names a file that no search directory holds.
    #[error("{0}")]
    Import(Box<Diagnostic>),
    /// The text is not WGSL, or names something that does not exist.
    #[error("{0}")]
    Parse(Box<Diagnostic>),
    /// The text is WGSL, but breaks a rule of the language or uses a capability that the package does not allow.
    #[error("{0}")]
    Validation(Box<Diagnostic>),
    /// The module is valid, but a declared target cannot express it.
    #[error("{diagnostic} (target `{target}`)")]
    Target {
        /// The target.
        target: Target,
        /// Which construct, and why not.
        diagnostic: Box<Diagnostic>,
    },
    /// An `override` has no default value, or its value is out of range.
    #[error("{0}")]
    Override(Box<Diagnostic>),
    /// Valid WGSL that Purlin's binding model or generated types cannot express.
    #[error("{0}")]
    Unsupported(Box<Diagnostic>),
    /// A source file in a language other than WGSL.
    #[error("{}: unsupported source language `{extension}`: only `.wgsl` files are compiled", path.display())]
    UnsupportedSource {
        /// The file.
        path: PathBuf,
        /// Its extension, empty if it has none.
        extension: String,
    },
    /// A target of this name does not exist.
    #[error("unknown target `{name}`: this compiler writes `spirv` and `wgsl`")]
    UnknownTarget {
        /// The name as given.
        name: String,
    },
    /// The package declaration itself is wrong: a bad name, two shaders of one name, no sources.
    #[error("package `{package}`: {message}")]
    Package {
        /// The package's name.
        package: String,
        /// What is wrong.
        message: String,
    },
}

impl Error {
    /// The position and explanation, where the error has one.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        match self {
            Self::Import(d)
            | Self::Parse(d)
            | Self::Validation(d)
            | Self::Override(d)
            | Self::Unsupported(d) => Some(d),
            Self::Target { diagnostic, .. } => Some(diagnostic),
            _ => None,
        }
    }

    /// Where in the sources the error is, if it is in one.
    pub fn location(&self) -> Option<&Location> {
        self.diagnostic()?.location.as_ref()
    }

    /// The whole message over several lines, as rustc prints one. Ends without a line break.
    pub fn report(&self) -> String {
        let Some(diagnostic) = self.diagnostic() else {
            return format!("error: {self}");
        };
        let mut out = format!("error: {}", diagnostic.message);
        if let Self::Target { target, .. } = self {
            let _ = write!(out, " (target `{target}`)");
        }
        diagnostic.write_snippet(&mut out);
        out
    }

    pub(crate) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}

/// One message about one place in the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where, if a place is known.
    pub location: Option<Location>,
    /// What the caret points at, possibly empty.
    pub label: String,
    /// Further facts, possibly none.
    pub notes: Vec<String>,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(message: impl Into<String>, location: Option<Location>) -> Self {
        Self { message: message.into(), location, label: String::new(), notes: Vec::new(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn write_snippet(&self, out: &mut String) {
        let mut margin = String::new();
        if let Some(at) = &self.location {
            let number = at.line.to_string();
            margin = " ".repeat(number.len());
            // Tabs stay tabs under the caret, so that both lines advance alike in any terminal.
            let lead: String = at
                .text
                .chars()
                .take(at.column as usize - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let carets = "^".repeat(at.length.max(1) as usize);
            let _ = write!(out, "\n{margin}--> {}:{}:{}", at.file, at.line, at.column);
            let _ = write!(out, "\n{margin} |\n{number} | {}\n{margin} | {lead}{carets}", at.text);
            if !self.label.is_empty() {
                let _ = write!(out, " {}", self.label);
            }
        }
        for note in &self.notes {
            let _ = write!(out, "\n{margin} = note: {note}");
        }
        if let Some(hint) = &self.hint {
            let _ = write!(out, "\n{margin} = help: {hint}");
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.location {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// A place in a source file, before imports were resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as the package or the import reached it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Characters that the caret underlines; at least 1, at most to the end of the line.
    pub length: u32,
    /// The text of the line, without its end.
    pub text: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
