//! What the driver keeps of compiled pipelines, as bytes that may come back from anywhere.
//!
//! Drivers believe what they are given: a blob of another driver or with a flipped bit may crash them. So bytes leave in a
//! header of our own that says whose they are and what they come to, and nothing of what comes back reaches the driver
//! before all of it was checked. What does not fit is not used, with one warning; pipelines compile as without it.
//!
//! The header, little-endian: `PURLINPC`, the version of this form (4 bytes), the backend's name (16), vendor, device and
//! driver version (4 each), the driver's cache UUID (16), bytes of the driver's data (8), a checksum of all that and the
//! data (8).

use crate::backend::{Backend, PipelineCacheIdentity};
use crate::device::Device;
use crate::error::{BackendError, Error, Result, unsupported};

const MAGIC: &[u8; 8] = b"PURLINPC";
const VERSION: u32 = 1;
const SUMMED: usize = 64;
const HEADER: usize = SUMMED + 8;

/// The most bytes of a cache that a device takes, and that [`PipelineCacheFile`](super::PipelineCacheFile) reads or writes
/// unless it is told otherwise.
pub const MAX_CACHE_BYTES: u64 = 64 << 20;

/// What became of the bytes that a device was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheLoad {
    /// The driver has them; how many bytes of its own they are.
    Loaded(u64),
    /// There is no file yet.
    Missing,
    /// They were not used.
    Rejected(CacheRejection),
}

/// Why a cache was not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheRejection {
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It is larger than the bound.
    #[error("it has more than {most} bytes")]
    TooLarge {
        /// The bound.
        most: u64,
    },
    /// It ends early, or has more than it says.
    #[error("it has {found} bytes where {expected} were expected")]
    Length {
        /// Bytes by its own account, or of a header.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// It does not begin as a cache does.
    #[error("it is no pipeline cache")]
    NotACache,
    /// It has a form of another version of Purlin.
    #[error("its form has version {found}, and {VERSION} is read")]
    Form {
        /// The version that it names.
        found: u32,
    },
    /// It is of another backend, adapter or driver.
    #[error("its {field} is {found}, and the device's is {expected}")]
    Foreign {
        /// What differs.
        field: &'static str,
        /// Of the device.
        expected: String,
        /// Of the cache.
        found: String,
    },
    /// Its bytes were changed since they were written.
    #[error("its checksum is wrong")]
    Damaged,
    /// The driver refused it, or would have.
    #[error("the driver does not take it: {0}")]
    Driver(String),
}

/// A name in sixteen bytes, zeros after it.
fn name_of(backend: &str) -> [u8; 16] {
    let mut name = [0; 16];
    for (to, from) in name.iter_mut().zip(backend.bytes()) {
        *to = from;
    }
    name
}

fn put<const N: usize>(out: &mut [u8; HEADER], at: usize, bytes: [u8; N]) {
    out[at..at + N].copy_from_slice(&bytes);
}

/// Bytes of a header; zeros beyond its end.
fn get<const N: usize>(blob: &[u8], at: usize) -> [u8; N] {
    blob.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

/// Each word changes the sum one to one, so that no single damage goes unseen.
fn sum(parts: [&[u8]; 2]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        let mut words = part.chunks_exact(8);
        let mut mix = |word: u64| {
            state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            state ^= state >> 29;
        };
        words.by_ref().for_each(|word| mix(u64::from_le_bytes(get(word, 0))));
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        mix(u64::from_le_bytes(last));
        mix(part.len() as u64);
    }
    state
}

/// The driver's bytes behind a header.
pub(super) fn seal(identity: &PipelineCacheIdentity, data: &[u8]) -> Vec<u8> {
    let mut header = [0; HEADER];
    put(&mut header, 0, *MAGIC);
    put(&mut header, 8, VERSION.to_le_bytes());
    put(&mut header, 12, name_of(identity.backend));
    put(&mut header, 28, identity.vendor.to_le_bytes());
    put(&mut header, 32, identity.device.to_le_bytes());
    put(&mut header, 36, identity.driver_version.to_le_bytes());
    put(&mut header, 40, identity.uuid);
    put(&mut header, 56, (data.len() as u64).to_le_bytes());
    let checksum = sum([&header[..SUMMED], data]);
    put(&mut header, SUMMED, checksum.to_le_bytes());
    [&header[..], data].concat()
}

/// The driver's bytes in a blob, when all of it is in order.
pub(super) fn open<'a>(
    identity: &PipelineCacheIdentity,
    blob: &'a [u8],
    most: u64,
) -> std::result::Result<&'a [u8], CacheRejection> {
    let found = blob.len() as u64;
    if found > most {
        return Err(CacheRejection::TooLarge { most });
    }
    let Some((header, data)) = blob.split_at_checked(HEADER) else {
        return Err(CacheRejection::Length { expected: HEADER as u64, found });
    };
    if !header.starts_with(MAGIC) {
        return Err(CacheRejection::NotACache);
    }
    let version = u32::from_le_bytes(get(header, 8));
    if version != VERSION {
        return Err(CacheRejection::Form { found: version });
    }
    let foreign =
        |field, expected: String, found: String| Err(CacheRejection::Foreign { field, expected, found });
    let backend = get::<16>(header, 12);
    if backend != name_of(identity.backend) {
        let found = String::from_utf8_lossy(&backend).trim_end_matches('\0').to_string();
        return foreign("backend", identity.backend.into(), found);
    }
    for (field, at, expected) in [
        ("vendor", 28, identity.vendor),
        ("device", 32, identity.device),
        ("driver version", 36, identity.driver_version),
    ] {
        let found = u32::from_le_bytes(get(header, at));
        if found != expected {
            return foreign(field, format!("{expected:#x}"), format!("{found:#x}"));
        }
    }
    let uuid = get::<16>(header, 40);
    if uuid != identity.uuid {
        let text = |uuid: [u8; 16]| format!("{:032x}", u128::from_be_bytes(uuid));
        return foreign("cache UUID", text(identity.uuid), text(uuid));
    }
    let length = u64::from_le_bytes(get(header, 56));
    if length != data.len() as u64 {
        return Err(CacheRejection::Length { expected: length.saturating_add(HEADER as u64), found });
    }
    if u64::from_le_bytes(get(header, SUMMED)) != sum([&header[..SUMMED], data]) {
        return Err(CacheRejection::Damaged);
    }
    Ok(data)
}

/// Says once that a cache is not used.
pub(super) fn reject(reason: CacheRejection) -> CacheLoad {
    tracing::warn!(%reason, "a pipeline cache is not used, and a new one begins");
    CacheLoad::Rejected(reason)
}

impl<B: Backend> Device<B> {
    pub(super) fn cache_identity(&self, what: &str) -> Result<PipelineCacheIdentity> {
        self.check_lost(what)?;
        self.backend
            .pipeline_cache_identity()
            .ok_or_else(|| unsupported(what, "a driver's pipeline cache", format!("{} has none", B::NAME)))
    }

    /// What the driver keeps of compiled pipelines, to be given to [`Self::load_pipeline_cache`] at the next start.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a backend without such a cache; a driver that does not give it; device loss.
    pub fn pipeline_cache(&mut self) -> Result<Vec<u8>> {
        let what = "pipeline_cache";
        let identity = self.cache_identity(what)?;
        match self.backend.pipeline_cache_data() {
            Ok(data) => Ok(seal(&identity, &data)),
            Err(error) => Err(self.backend_error(error, what)),
        }
    }

    /// Adds what [`Self::pipeline_cache`] gave on a device like this one, whoever has had it since. Bytes that are not in
    /// order are not used: a warning, and the reason in the answer. At most [`MAX_CACHE_BYTES`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a backend without such a cache; [`Error::Pending`] while requests compile: load first;
    /// device loss.
    pub fn load_pipeline_cache(&mut self, blob: &[u8]) -> Result<CacheLoad> {
        self.load_cache(blob, MAX_CACHE_BYTES)
    }

    pub(super) fn load_cache(&mut self, blob: &[u8], most: u64) -> Result<CacheLoad> {
        let what = "load_pipeline_cache";
        let identity = self.cache_identity(what)?;
        if self.pipelines.is_busy() {
            let detail = "requested pipelines are being compiled with the cache".into();
            return Err(Error::Pending { what: what.into(), detail });
        }
        let data = match open(&identity, blob, most) {
            Ok(data) => data,
            Err(reason) => return Ok(reject(reason)),
        };
        match self.backend.add_pipeline_cache(data) {
            Ok(()) => Ok(CacheLoad::Loaded(data.len() as u64)),
            Err(error @ BackendError::DeviceLost(_)) => Err(self.backend_error(error, what)),
            Err(error) => Ok(reject(CacheRejection::Driver(error.at(what).to_string()))),
        }
    }
}
