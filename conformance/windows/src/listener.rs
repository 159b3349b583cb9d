//! What wgpu says of the native validation layer, which it tells to the `log` crate alone.

use std::sync::{Mutex, PoisonError};

/// Keeps warnings and errors of wgpu's native layer.
struct Listener(Mutex<Vec<String>>);

static LISTENER: Listener = Listener(Mutex::new(Vec::new()));

impl log::Log for Listener {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("wgpu_hal")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Listens from now on.
pub fn listen() {
    if log::set_logger(&LISTENER).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}

/// What was heard.
pub fn heard() -> Vec<String> {
    std::mem::take(&mut *LISTENER.0.lock().unwrap_or_else(PoisonError::into_inner))
}
