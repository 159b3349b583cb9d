//! What the validation layer says: counted, kept for tests, and sent to the log.

use std::collections::VecDeque;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

/// How many texts are kept.
const KEPT: usize = 64;

/// Messages that are not counted, each with its reason.
///
/// `VUID-StandaloneSpirv-None-10684`: naga gives a struct type one set of offset decorations, and uses that same type
/// for variables of the `Function` and `Private` storage classes, where newer rules allow no explicit layout. The
/// decorations have no meaning there; no driver reads them, and every WGSL shader with a struct in a local draws it.
///
/// `WARNING-vkGetDeviceProcAddr-device`: about the loader, which fills its own device table with names that are instance
/// level (seen of Debian's 1.3.239 with NVIDIA's driver, for a video function that nothing here asks for).
///
/// `Undefined-Value-ShaderOutputNotConsumed-DynamicRendering`: a fragment output into a gap between color targets. The
/// write is discarded, which is what a gap asks for; WebGPU has the same construct.
const SILENCED: [&str; 3] = [
    "VUID-StandaloneSpirv-None-10684",
    "WARNING-vkGetDeviceProcAddr-device",
    "Undefined-Value-ShaderOutputNotConsumed-DynamicRendering",
];

/// The validation messages of one instance. Clones share the count, and outlive the device.
#[derive(Debug, Clone, Default)]
pub struct ValidationMessages(pub(crate) Arc<Sink>);

/// Where the layer's callback writes.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    count: AtomicU64,
    texts: Mutex<VecDeque<String>>,
}

impl ValidationMessages {
    /// Errors and warnings since the instance was made.
    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Takes the texts that were kept, oldest first: at most the last 64. The count stays.
    pub fn take(&self) -> Vec<String> {
        self.0.texts.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

impl Sink {
    fn receive(&self, id: &str, text: &str, error: bool) {
        if SILENCED.contains(&id) {
            return;
        }
        self.count.fetch_add(1, Ordering::AcqRel);
        if error {
            tracing::error!(target: "purlin_vulkan::validation", id, "{text}");
        } else {
            tracing::warn!(target: "purlin_vulkan::validation", id, "{text}");
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.len() == KEPT {
            texts.pop_front();
        }
        texts.push_back(format!("{id}: {text}"));
    }
}

/// Describes the messenger. Only the VALIDATION type is asked for: loader chatter and performance advice are not
/// findings.
pub(crate) fn messenger_info(messages: &ValidationMessages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
        )
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(callback))
        .user_data(Arc::as_ptr(&messages.0).cast_mut().cast())
}

unsafe extern "system" fn callback(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    if data.is_null() || user.is_null() {
        return vk::FALSE;
    }
    // SAFETY: the layer passes a valid structure for the duration of the call, and `user` is the sink that the
    // instance keeps alive until after it is destroyed.
    let (data, sink) = unsafe { (&*data, &*user.cast::<Sink>()) };
    // SAFETY: both are null or NUL-terminated texts that live as long as the structure.
    let (id, text) = unsafe { (text_of(data.p_message_id_name), text_of(data.p_message)) };
    let error = severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR);
    // A panic (a log subscriber's, say) must not unwind into the driver.
    let _ = std::panic::catch_unwind(|| sink.receive(&id, &text, error));
    vk::FALSE
}

/// # Safety
/// `text` is null or points to a NUL-terminated text.
unsafe fn text_of<'a>(text: *const std::ffi::c_char) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "".into();
    }
    // SAFETY: not null, so a terminated text by this function's contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silenced_messages_are_dropped_and_the_last_texts_are_kept() {
        let messages = ValidationMessages::default();
        for silenced in SILENCED {
            messages.0.receive(silenced, "not ours", true);
        }
        assert_eq!(messages.count(), 0);
        for i in 0..100 {
            messages.0.receive("SYNC-HAZARD", &i.to_string(), i % 2 == 0);
        }
        assert_eq!(messages.count(), 100);
        let texts = messages.take();
        assert_eq!(texts.len(), KEPT);
        assert_eq!(texts.last().map(String::as_str), Some("SYNC-HAZARD: 99"));
        assert!(messages.take().is_empty());
    }
}
