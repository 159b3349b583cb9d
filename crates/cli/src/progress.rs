//! The bar on the standard error while the demo works. Nothing shows where that is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One line that shows the current stage; it is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::new(0);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Begins a stage whose length is not known.
    pub fn spin(&self, stage: &'static str) {
        self.begin(stage, 0, "{spinner} {msg}");
    }

    /// Begins a stage of so many steps.
    pub fn steps(&self, stage: &'static str, steps: u64) {
        self.begin(stage, steps, "{spinner} {msg:9} {wide_bar} {pos}/{len}");
    }

    /// Begins a stage of so many bytes.
    pub fn bytes(&self, stage: &'static str, bytes: u64) {
        self.begin(stage, bytes, "{spinner} {msg:9} {wide_bar} {bytes}/{total_bytes}");
    }

    /// Steps or bytes are done.
    pub fn advance(&self, done: u64) {
        self.0.inc(done);
    }

    fn begin(&self, stage: &'static str, length: u64, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.0.set_style(style);
        }
        self.0.set_length(length);
        self.0.set_position(0);
        self.0.set_message(stage);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
