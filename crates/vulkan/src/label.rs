//! Names of objects and labeled regions, for captures and validation messages.

use std::ffi::CStr;

use arrayvec::ArrayVec;
use ash::{ext, vk};

/// Bytes of a name with its terminator; longer ones are cut.
const CAPACITY: usize = 256;

/// Calls `f` with the text as C wants it, without a heap allocation. Ends at the first NUL; cut when long.
pub(crate) fn with_cstr<R>(text: &str, f: impl FnOnce(&CStr) -> R) -> R {
    let mut bytes = ArrayVec::<u8, CAPACITY>::new();
    let mut end = text.len().min(CAPACITY - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    bytes.extend(text.bytes().take(end).take_while(|&byte| byte != 0));
    bytes.push(0);
    f(CStr::from_bytes_with_nul(&bytes).unwrap_or(c""))
}

/// The calls that name things, present only when somebody reads the names.
pub(crate) struct Labels(ext::debug_utils::Device);

impl Labels {
    /// Names when validation is on, or a tool that takes markers is attached.
    pub fn new(
        instance: &crate::instance::Instance,
        physical: vk::PhysicalDevice,
        device: &ash::Device,
    ) -> Option<Self> {
        if !instance.debug_utils || !(instance.validated || tool_takes_markers(&instance.raw, physical)) {
            return None;
        }
        Some(Self(ext::debug_utils::Device::new(&instance.raw, device)))
    }

    /// Names an object; an empty name is left out.
    pub fn name(&self, object: impl vk::Handle, name: &str) {
        if name.is_empty() {
            return;
        }
        with_cstr(name, |name| {
            let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(name);
            // SAFETY: the object is live and its creator has exclusive access to it.
            // A name that could not be kept is no reason to fail.
            let _ = unsafe { self.0.set_debug_utils_object_name(&info) };
        });
    }

    /// Opens a region.
    pub fn begin(&self, buffer: vk::CommandBuffer, label: &str) {
        with_cstr(label, |label| {
            let info = vk::DebugUtilsLabelEXT::default().label_name(label);
            // SAFETY: the command buffer is recording and owned by the calling encoder.
            unsafe { self.0.cmd_begin_debug_utils_label(buffer, &info) };
        });
    }

    /// Closes it.
    pub fn end(&self, buffer: vk::CommandBuffer) {
        // SAFETY: as for `begin`; regions are balanced above.
        unsafe { self.0.cmd_end_debug_utils_label(buffer) };
    }
}

fn tool_takes_markers(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let get = instance.fp_v1_3().get_physical_device_tool_properties;
    let mut count = 0;
    // SAFETY: the physical device is of this instance and has Vulkan 1.3, which has this query. Called directly, for
    // `ash` would hand out a count that a driver which only pretends left unwritten.
    if unsafe { get(physical, &mut count, std::ptr::null_mut()) } != vk::Result::SUCCESS {
        return false;
    }
    let mut tools = vec![vk::PhysicalDeviceToolProperties::default(); count as usize];
    // SAFETY: as above; `tools` has room for `count`.
    if unsafe { get(physical, &mut count, tools.as_mut_ptr()) } != vk::Result::SUCCESS {
        return false;
    }
    let purposes = vk::ToolPurposeFlags::DEBUG_MARKERS_EXT
        | vk::ToolPurposeFlags::DEBUG_REPORTING_EXT
        | vk::ToolPurposeFlags::TRACING
        | vk::ToolPurposeFlags::PROFILING;
    tools.iter().any(|tool| tool.purposes.intersects(purposes))
}

#[cfg(test)]
mod tests {
    use super::with_cstr;

    #[test]
    fn names_end_at_nul_and_are_cut_between_characters() {
        with_cstr("a\0b", |text| assert_eq!(text, c"a"));
        with_cstr("", |text| assert_eq!(text, c""));
        let long = "é".repeat(200);
        with_cstr(&long, |text| assert_eq!(text.to_str().map(str::len), Ok(254)));
    }
}
