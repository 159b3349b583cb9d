//! Opening Vulkan for a test, as the environment asks.

use purlin_rhi::{Device, DeviceRequest, Error, Features, Validation};
use purlin_vulkan::Vulkan;

use crate::common::is_set;

/// A device with all features that the adapter has, under the validation layer where `validate` says so. `None`, with
/// what is missing printed, where this machine has no adapter or layer; under `PURLIN_REQUIRE_GPU=1` that fails.
pub fn open(label: &str, validate: bool) -> Option<Device<Vulkan>> {
    let request = DeviceRequest {
        label,
        preferred_features: Features::all(),
        validation: if validate { Validation::Synchronization } else { Validation::Off },
        ..Default::default()
    };
    match pollster::block_on(Device::<Vulkan>::request(&request)) {
        Ok(device) => Some(device),
        Err(error) => {
            let missing = match &error {
                Error::NoAdapter { .. } => true,
                Error::Unsupported { capability, .. } => capability.starts_with("VK_LAYER"),
                _ => false,
            };
            assert!(missing && !is_set("PURLIN_REQUIRE_GPU"), "{label}: {error}");
            println!("{label}: not run: {error}");
            None
        }
    }
}
