//! Everything that can go wrong in the demo, as one line each.
//!
//! A person who runs the demo sees exactly one of these lines and exit code 1, so every variant names the
//! thing it is about (a path, a field, a value) and none of them spans lines. Text that comes from elsewhere
//! goes through [`one_line`] first.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The error of every step of the demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The operating system refused a file operation.
    #[error("cannot {action} '{}': {source}", path.display())]
    Io {
        /// The operation in words: `read`, `write`, `create`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The model's file, or a file it refers to, breaks the format.
    #[error("model '{}': {what}", path.display())]
    Model {
        /// The model's file.
        path: PathBuf,
        /// The object inside the model and what is wrong with it.
        what: String,
    },
    /// The model cannot be shown without an extension that the demo does not implement.
    #[error("model '{}': requires the extension {extension}, which is not supported", path.display())]
    UnsupportedExtension {
        /// The model's file.
        path: PathBuf,
        /// The extension's name.
        extension: String,
    },
    /// The model is well formed, and larger than the demo accepts.
    #[error("model '{}': {what} exceed the limit of {limit}", path.display())]
    TooLarge {
        /// The model's file.
        path: PathBuf,
        /// What there is too much of, with its count.
        what: String,
        /// The most that is accepted.
        limit: u64,
    },
    /// A picture size that the chosen adapter cannot render.
    #[error("size {width}x{height} is beyond the limit of {limit}x{limit}")]
    Size {
        /// The requested width in pixels.
        width: u32,
        /// The requested height in pixels.
        height: u32,
        /// The largest width or height.
        limit: u32,
    },
    /// The picture or the report could not be encoded.
    #[error("cannot encode '{}': {what}", path.display())]
    Encode {
        /// The file that would have been written.
        path: PathBuf,
        /// What the encoder said.
        what: String,
    },
    /// The picture is not the one that it was compared with.
    #[error("the picture differs from '{}': {difference}", path.display())]
    Differs {
        /// The file that it was compared with.
        path: PathBuf,
        /// How far the two are apart.
        difference: String,
    },
    /// No adapter fits what was asked for.
    #[error("{0}")]
    Adapter(String),
    /// The device layer refused a call.
    #[error("device: {0}")]
    Rhi(String),
    /// The render graph refused a declaration or could not compile.
    #[error("graph: {0}")]
    Graph(String),
    /// The validation layer reported something while frames ran.
    #[error("validation: {0}")]
    Validation(String),
}

impl DemoError {
    /// A file operation that failed.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }

    /// A fault inside the model file at `path`.
    pub fn model(path: &Path, what: impl Display) -> Self {
        Self::Model { path: path.to_path_buf(), what: one_line(what) }
    }

    /// A refusal of the device layer.
    pub fn rhi(error: impl Display) -> Self {
        Self::Rhi(one_line(error))
    }

    /// A refusal of the graph.
    pub fn graph(error: impl Display) -> Self {
        Self::Graph(one_line(error))
    }
}

impl From<purlin::rhi::Error> for DemoError {
    fn from(error: purlin::rhi::Error) -> Self {
        match error {
            purlin::rhi::Error::NoAdapter { .. } => Self::Adapter(one_line(error)),
            _ => Self::rhi(error),
        }
    }
}

impl From<purlin::graph::GraphError> for DemoError {
    fn from(error: purlin::graph::GraphError) -> Self {
        Self::graph(error)
    }
}

/// `text` on one line: runs of white space, line ends among them, become one space.
pub fn one_line(text: impl Display) -> String {
    let text = text.to_string();
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        // A control character in a broken file must not reach the terminal.
        line.extend(word.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let error = DemoError::model(Path::new("a.glb"), "accessor 3:\n  out of\u{7}  bounds");
        assert_eq!(error.to_string(), "model 'a.glb': accessor 3: out of\u{fffd} bounds");
    }
}
