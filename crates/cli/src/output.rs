//! Files that appear whole or not at all.
//!
//! A file is reserved before the work begins, so that a path that cannot be written is found out in the first
//! moment; its bytes go to a temporary file beside it, which takes the final name in one step.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::DemoError;

/// A file that will be written at the end. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    committed: bool,
}

impl OutputFile {
    /// Makes sure that a file can be written here. Creates missing folders.
    ///
    /// # Errors
    /// A path that names something other than a file, or a place that cannot be written.
    pub fn reserve(path: &Path) -> Result<Self, DemoError> {
        let refuse = |error: io::Error| DemoError::io("write", path, error);
        let name = path.file_name().ok_or_else(|| refuse(io::ErrorKind::IsADirectory.into()))?;
        // Through a link, so that the link stays and its target is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        match fs::metadata(&path) {
            Ok(existing) if existing.is_dir() => return Err(refuse(io::ErrorKind::IsADirectory.into())),
            Ok(existing) if !existing.is_file() => return Err(refuse(io::Error::other("not a plain file"))),
            // Replacing a file asks only for its folder; whoever protected it meant the file.
            Ok(existing) if existing.permissions().readonly() => {
                return Err(refuse(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only")));
            }
            _ => {}
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(|error| DemoError::io("create", folder, error))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let temporary = folder.join(hidden);
        let file = File::create(&temporary).map_err(refuse)?;
        Ok(Self { path, temporary, file, committed: false })
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the bytes, and gives the file its name once all of them are on the disk.
    ///
    /// # Errors
    /// What the system says, a full disk among it. What was at the path before is then untouched.
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), DemoError> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_all());
        let renamed = written.and_then(|()| fs::rename(&self.temporary, &self.path));
        self.committed = renamed.is_ok();
        renamed.map_err(|error| DemoError::io("write", &self.path, error))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
