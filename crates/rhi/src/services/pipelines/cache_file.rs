//! A file that keeps the driver's pipeline cache from run to run.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::cache::{CacheLoad, CacheRejection, MAX_CACHE_BYTES, reject};
use crate::backend::Backend;
use crate::device::Device;
use crate::error::{Error, Result};

/// A pipeline cache's place on disk. The program chooses it, for instance in the user's cache folder; one file serves one
/// adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineCacheFile {
    path: PathBuf,
    most: u64,
}

/// Why a cache was not written. The file is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheFileError {
    /// The device has no cache to give.
    #[error(transparent)]
    Device(#[from] Error),
    /// The cache is larger than the bound.
    #[error("{}: the pipeline cache has {bytes} bytes, and at most {most} are kept", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes of the cache.
        bytes: u64,
        /// The bound.
        most: u64,
    },
    /// The system refused to write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
}

impl PipelineCacheFile {
    /// The cache in this file, of at most [`MAX_CACHE_BYTES`].
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), most: MAX_CACHE_BYTES }
    }

    /// Replaces the bound in bytes.
    #[must_use]
    pub fn with_limit(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the device what the file has. A file that is not there is no mistake; one that cannot be used is left for
    /// [`Self::save`] to replace.
    ///
    /// # Errors
    /// As [`Device::load_pipeline_cache`]; never because of the file.
    pub fn load<B: Backend>(&self, device: &mut Device<B>) -> Result<CacheLoad> {
        device.cache_identity("load_pipeline_cache")?;
        let mut blob = Vec::new();
        let read = File::open(&self.path)
            // One byte beyond the bound, however large the file says that it is.
            .and_then(|file| file.take(self.most.saturating_add(1)).read_to_end(&mut blob));
        match read {
            Ok(_) => device.load_cache(&blob, self.most),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(CacheLoad::Missing),
            Err(error) => Ok(reject(CacheRejection::Unreadable(error.to_string()))),
        }
    }

    /// Writes the device's cache: the whole file or, on an error, nothing of it. How many bytes it has.
    ///
    /// # Errors
    /// See [`CacheFileError`].
    pub fn save<B: Backend>(&self, device: &mut Device<B>) -> std::result::Result<u64, CacheFileError> {
        let blob = device.pipeline_cache()?;
        let bytes = blob.len() as u64;
        if bytes > self.most {
            return Err(CacheFileError::TooLarge { path: self.path.clone(), bytes, most: self.most });
        }
        self.write(&blob).map_err(|source| CacheFileError::Io { path: self.path.clone(), source })?;
        Ok(bytes)
    }

    /// A reader sees the old file or the new one, also after a crash: what is renamed is on disk.
    fn write(&self, blob: &[u8]) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}-{}.tmp", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed)));
        let temporary = PathBuf::from(name);
        let written = File::create(&temporary)
            .and_then(|mut file| {
                file.write_all(blob)?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            // Perhaps it was never made; there is nothing more to do about it.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}
