//! The driver's pipeline cache as bytes.

use ash::vk;
use purlin_rhi::backend::{NativeResult, PipelineCacheIdentity};
use purlin_rhi::error::BackendError;

use crate::device::Vulkan;
use crate::memory::failed;

/// Bytes of the header that every cache of Vulkan begins with: its size, its version, vendor, device, UUID.
const HEADER: usize = 32;

impl Vulkan {
    pub(crate) fn cache_identity(&self) -> PipelineCacheIdentity {
        PipelineCacheIdentity {
            backend: "vulkan",
            vendor: self.physical.info.vendor,
            device: self.physical.info.device,
            driver_version: self.physical.driver_version,
            uuid: self.physical.cache_uuid,
        }
    }

    pub(crate) fn cache_data(&self) -> Result<Vec<u8>, BackendError> {
        // SAFETY: the cache is live, and synchronizes itself.
        unsafe { self.raw.get_pipeline_cache_data(self.pipeline_cache) }
            .map_err(|error| failed("vkGetPipelineCacheData", error))
    }

    pub(crate) fn add_cache(&mut self, data: &[u8]) -> NativeResult {
        const CALL: &str = "vkCreatePipelineCache";
        // Drivers have crashed on headers that the specification lets them trust.
        self.check_header(data).map_err(|detail| BackendError::Failed { call: CALL, detail })?;
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: the data came from this driver by its header, and unchanged by the contract of the call.
        let loaded = unsafe { self.raw.create_pipeline_cache(&info, None) };
        let loaded = loaded.map_err(|error| failed(CALL, error))?;
        // SAFETY: both are live, and by the contract nobody compiles with the first one meanwhile.
        let merged = unsafe { self.raw.merge_pipeline_caches(self.pipeline_cache, &[loaded]) };
        // SAFETY: it was made above, and is merged or of no use.
        unsafe { self.raw.destroy_pipeline_cache(loaded, None) };
        merged.map_err(|error| failed("vkMergePipelineCaches", error))
    }

    /// Whether the driver's own header is one of this adapter and driver.
    fn check_header(&self, data: &[u8]) -> Result<(), String> {
        let Some(header) = data.get(..HEADER) else {
            return Err(format!("{} bytes are no header of {HEADER}", data.len()));
        };
        let word =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let version = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
        for (name, at, expected) in [
            ("size", 0, HEADER as u32),
            ("version", 4, version),
            ("vendor", 8, self.physical.info.vendor),
            ("device", 12, self.physical.info.device),
        ] {
            if word(at) != expected {
                return Err(format!("the header's {name} is {:#x}, expected {expected:#x}", word(at)));
            }
        }
        if header[16..] != self.physical.cache_uuid {
            return Err("the header's UUID is not the driver's".into());
        }
        Ok(())
    }
}
