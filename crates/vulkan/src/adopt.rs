//! Adoption: a device that somebody else made, used beside its owner and never destroyed.

use std::any::Any;
use std::ffi::CStr;

use ash::vk;
use purlin_rhi::error::Error;

use crate::adapter::{Enabled, Physical, missing};
use crate::device::Vulkan;
use crate::instance::{API_VERSION, Instance};

/// A native device of somebody else, and what its owner knows of it. Nothing is assumed: what is not named here as enabled
/// is not used.
pub struct AdoptedDevice<'a> {
    /// The device's name in errors.
    pub label: &'a str,
    /// The loader's entry points.
    pub entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The version that the instance was made for; at least 1.3.
    pub api_version: u32,
    /// The instance extensions that are enabled. Those of window systems make surfaces possible,
    /// `VK_EXT_debug_utils` names.
    pub instance_extensions: &'a [&'a CStr],
    /// The adapter.
    pub physical_device: vk::PhysicalDevice,
    /// The device.
    pub device: ash::Device,
    /// The device extensions that are enabled.
    pub device_extensions: &'a [&'a CStr],
    /// The features that are enabled.
    pub features: vk::PhysicalDeviceFeatures,
    /// Those of Vulkan 1.2.
    pub features12: vk::PhysicalDeviceVulkan12Features<'a>,
    /// Those of Vulkan 1.3.
    pub features13: vk::PhysicalDeviceVulkan13Features<'a>,
    /// A queue with graphics and compute.
    pub queue: vk::Queue,
    /// The queue's family.
    pub queue_family: u32,
    /// Whatever keeps all of this alive: an `Arc` of the owner, or something that tells it. It is dropped exactly once:
    /// after the last native call, or when adopting fails. A device whose GPU does not finish in
    /// [`TEARDOWN_TIMEOUT`](crate::TEARDOWN_TIMEOUT) is leaked, and this with it.
    pub keep: Option<Box<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for AdoptedDevice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdoptedDevice")
            .field("label", &self.label)
            .field("device", &self.device.handle())
            .field("queue", &self.queue)
            .field("queue_family", &self.queue_family)
            .finish_non_exhaustive()
    }
}

impl Vulkan {
    /// Takes part in a device that somebody else made, and never destroys it. Every feature that is named as enabled is a
    /// feature of Purlin's device. Hand the result to [`purlin_rhi::Device::from_backend`].
    ///
    /// What Purlin makes on the device it destroys before the adopted device's `keep` is dropped; nothing else of the
    /// native device is touched: no idle wait, no other queue. Validation messages stay the owner's, and
    /// [`Self::messages`] counts none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a version below 1.3, for the first feature of the baseline that is not enabled (see the
    /// crate's page), and for a queue family without graphics and compute; memory. The native device is as it was, and
    /// `keep` was dropped.
    ///
    /// # Safety
    /// - The handles are live, belong together, and stay live until `keep` is dropped; without it, until the device that
    ///   is answered was dropped.
    /// - `api_version`, extensions and features are those that the instance and the device were made with, no more. The
    ///   device's `bufferDeviceAddress` and robustness may be as they like.
    /// - The queue was made with the device, of this family.
    /// - Nobody else uses the queue during calls of Purlin that take the device by `&mut`, the drop of the device included:
    ///   Vulkan wants one caller at a time.
    /// - Nobody else touches what Purlin makes on the device, and work of others on the queue that uses such an object is
    ///   ordered against Purlin's by whoever submits it.
    pub unsafe fn adopt(adopted: AdoptedDevice<'_>) -> Result<Self, Error> {
        let what = format!("adopted device \"{}\"", adopted.label);
        let unsupported = |capability: &str, detail: String| Error::unsupported(&*what, capability, detail);
        if adopted.api_version < API_VERSION {
            let (major, minor) =
                (vk::api_version_major(adopted.api_version), vk::api_version_minor(adopted.api_version));
            return Err(unsupported("Vulkan 1.3", format!("the instance was made for {major}.{minor}")));
        }
        if let Some(first) = missing(&adopted.features, &adopted.features12, &adopted.features13).first() {
            return Err(unsupported(first, "it is not enabled".into()));
        }
        let instance =
            Instance::adopt(adopted.entry, adopted.instance, adopted.instance_extensions, adopted.keep);
        let enabled = Enabled {
            core: &adopted.features,
            v12: &adopted.features12,
            v13: &adopted.features13,
            queue_family: adopted.queue_family,
            extensions: adopted.device_extensions,
        };
        let physical = Physical::new(&instance, adopted.physical_device, Some(enabled));
        if let Err(why) = &physical.info.usable {
            let capability = format!("queue family {} with graphics and compute", adopted.queue_family);
            return Err(unsupported(&capability, why.clone()));
        }
        let features = physical.info.features;
        Self::assemble(instance, physical, (adopted.device, adopted.queue), features, &what)
    }
}
