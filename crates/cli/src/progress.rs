//! The bar on the standard error while the demo works. Nothing shows where that is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One stage of the work as a line; it is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A stage of so many steps.
    pub fn steps(stage: &'static str, steps: u64) -> Self {
        Self::new(stage, steps, "{spinner} {msg:9} {wide_bar} {pos}/{len}")
    }

    /// A stage of so many bytes.
    pub fn bytes(stage: &'static str, bytes: u64) -> Self {
        Self::new(stage, bytes, "{spinner} {msg:9} {wide_bar} {bytes}/{total_bytes}")
    }

    /// Steps or bytes are done.
    pub fn advance(&self, done: u64) {
        self.0.inc(done);
    }

    fn new(stage: &'static str, length: u64, template: &str) -> Self {
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(length).with_style(style).with_message(stage);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Runs a stage whose length is not known.
pub(crate) fn during<T>(stage: &'static str, work: impl FnOnce() -> T) -> T {
    let _progress = Progress::new(stage, 0, "{spinner} {msg}");
    work()
}
