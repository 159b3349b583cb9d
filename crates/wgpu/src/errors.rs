//! Errors and loss: how what wgpu says, now or later, becomes the answer of a call.

use std::error::Error as _;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use purlin_rhi::error::BackendError;

/// What is shared with wgpu's callbacks.
#[derive(Debug, Default)]
struct Notes {
    /// Whether there is anything to look at.
    any: AtomicBool,
    /// The first error that no call has reported.
    error: Mutex<Option<BackendError>>,
    /// Why the device is lost.
    lost: Mutex<Option<String>>,
}

/// Tells a device that it is lost. The owner of an adopted `wgpu::Device` calls this from the callback that it gave to
/// `wgpu::Device::set_device_lost_callback`; a device that was opened here does so itself.
#[derive(Debug, Clone, Default)]
pub struct Loss(Arc<Notes>);

impl Loss {
    /// The device is lost; later calls fail with this text. The first text stays.
    pub fn report(&self, detail: impl Into<String>) {
        lock(&self.0.lost).get_or_insert_with(|| detail.into());
        self.0.any.store(true, Ordering::Release);
    }

    /// Keeps an error for the next call that can fail; the first one stays.
    pub(crate) fn note(&self, error: BackendError) {
        lock(&self.0.error).get_or_insert(error);
        self.0.any.store(true, Ordering::Release);
    }

    /// The loss, or an error that nobody has reported yet.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), BackendError> {
        if self.0.any.load(Ordering::Acquire) { self.look() } else { Ok(()) }
    }

    #[cold]
    fn look(&self) -> Result<(), BackendError> {
        if let Some(detail) = &*lock(&self.0.lost) {
            return Err(BackendError::DeviceLost(detail.clone()));
        }
        self.0.any.store(false, Ordering::Release);
        match lock(&self.0.error).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// A poisoned lock holds plain data that is whole at every moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How errors reach us.
#[derive(Debug)]
pub(crate) enum Source {
    /// The device is ours, and so is its handler.
    Handler,
    /// The device is somebody else's; errors inside our calls are caught by scopes.
    Scopes,
}

/// Errors of one device.
#[derive(Debug)]
pub(crate) struct Errors {
    pub loss: Loss,
    source: Source,
}

impl Errors {
    /// Takes a new device's errors and its loss.
    pub fn of_own(device: &wgpu::Device) -> Self {
        let loss = Loss::default();
        let notes = loss.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::debug!(%error, "wgpu reports an error");
            notes.note(translate("wgpu", &error));
        }));
        let notes = loss.clone();
        device.set_device_lost_callback(move |reason, detail| {
            // Dropping the last handle of a device is no loss that anyone could still notice.
            notes.report(format!("{reason:?}: {detail}"));
        });
        Self { loss, source: Source::Handler }
    }

    /// Leaves an adopted device's callbacks alone.
    pub fn of_adopted() -> Self {
        Self { loss: Loss::default(), source: Source::Scopes }
    }

    /// Runs a call of wgpu and answers its value, or what wgpu had to say.
    pub fn catch<T>(
        &self,
        device: &wgpu::Device,
        call: &'static str,
        body: impl FnOnce() -> T,
    ) -> Result<T, BackendError> {
        self.loss.check()?;
        match self.source {
            Source::Handler => {
                let value = body();
                self.loss.check().map_err(|error| named(call, error))?;
                Ok(value)
            }
            Source::Scopes => {
                let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
                let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
                let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
                let value = body();
                let mut first = None;
                // Innermost first.
                for scope in [validation, internal, memory] {
                    let error = self.caught(call, scope.pop());
                    first = first.or(error);
                }
                match first {
                    Some(error) => Err(error),
                    None => Ok(value),
                }
            }
        }
    }

    /// The error of a popped scope: at once natively, in a browser later and through the notes.
    fn caught(
        &self,
        call: &'static str,
        scope: impl Future<Output = Option<wgpu::Error>> + 'static,
    ) -> Option<BackendError> {
        #[cfg(target_arch = "wasm32")]
        {
            let loss = self.loss.clone();
            wasm_bindgen_futures::spawn_local(async move {
                if let Some(error) = scope.await {
                    loss.note(translate(call, &error));
                }
            });
            None
        }
        #[cfg(not(target_arch = "wasm32"))]
        now(scope).flatten().map(|error| translate(call, &error))
    }
}

/// The value of a future that is ready at once, as wgpu's are natively.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// The handler does not know which call was made.
fn named(call: &'static str, error: BackendError) -> BackendError {
    match error {
        BackendError::Failed { detail, .. } => BackendError::Failed { call, detail },
        other => other,
    }
}

/// wgpu's error in one line, causes and all.
fn translate(call: &'static str, error: &wgpu::Error) -> BackendError {
    if let wgpu::Error::OutOfMemory { .. } = error {
        return BackendError::OutOfMemory { bytes: 0 };
    }
    let mut detail = String::new();
    // A browser's error has no causes, and its text is elsewhere.
    let mut cause = if cfg!(target_arch = "wasm32") { None } else { error.source() };
    while let Some(one) = cause {
        let text = one.to_string();
        if !detail.ends_with(&text) {
            if !detail.is_empty() {
                detail.push_str(": ");
            }
            detail.push_str(&text);
        }
        cause = one.source();
    }
    if let (true, wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. }) =
        (detail.is_empty(), error)
    {
        detail.clone_from(description);
    }
    BackendError::Failed { call, detail: detail.split_whitespace().collect::<Vec<_>>().join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_reported_once_and_a_loss_for_good() {
        let loss = Loss::default();
        assert_eq!(loss.check(), Ok(()));
        let failed = |detail: &str| BackendError::Failed { call: "call", detail: detail.into() };
        loss.note(failed("first"));
        loss.note(failed("second"));
        assert_eq!(loss.check(), Err(failed("first")));
        assert_eq!(loss.check(), Ok(()));
        loss.report("gone");
        loss.report("gone again");
        loss.note(failed("late"));
        for _ in 0..2 {
            assert_eq!(loss.check(), Err(BackendError::DeviceLost("gone".into())));
        }
    }
}
