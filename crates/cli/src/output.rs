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
    /// As it was given, for messages.
    path: PathBuf,
    /// The file itself, behind any link.
    target: PathBuf,
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
        // Through a link, so that the link stays and its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let name = target.file_name().ok_or_else(|| refuse(io::ErrorKind::IsADirectory.into()))?;
        match fs::metadata(&target) {
            Ok(existing) if existing.is_dir() => return Err(refuse(io::ErrorKind::IsADirectory.into())),
            Ok(existing) if !existing.is_file() => return Err(refuse(io::Error::other("not a plain file"))),
            // Replacing a file asks only for its folder; whoever protected it meant the file.
            Ok(existing) if existing.permissions().readonly() => {
                return Err(refuse(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only")));
            }
            _ => {}
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(|error| DemoError::io("create", folder, error))?;
        let folder = fs::canonicalize(folder).map_err(refuse)?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let (temporary, target) = (folder.join(hidden), folder.join(name));
        let file = File::create(&temporary).map_err(refuse)?;
        Ok(Self { path: path.to_path_buf(), target, temporary, file, committed: false })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both would be one file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.target == other.target
    }

    /// Writes the bytes, and gives the file its name once all of them are on the disk.
    ///
    /// # Errors
    /// What the system says, a full disk among it. What was at the path before is then untouched.
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), DemoError> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_all());
        let renamed = written.and_then(|()| fs::rename(&self.temporary, &self.target));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("purlin-output-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_whole_and_only_when_committed() {
        let folder = folder("whole");
        let path = folder.join("new/deep/a.txt");
        let output = OutputFile::reserve(&path).unwrap();
        assert!(!path.exists());
        output.commit(b"first").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");

        drop(OutputFile::reserve(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        OutputFile::reserve(&path).unwrap().commit(b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(&folder.join("new/deep")), ["a.txt"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn two_paths_to_one_file_are_noticed() {
        let folder = folder("same");
        let a = OutputFile::reserve(&folder.join("a")).unwrap();
        let b = OutputFile::reserve(&folder.join("b")).unwrap();
        let again = OutputFile::reserve(&folder.join("./sub/../a"));
        assert!(again.is_ok_and(|again| again.is_same(&a)) && !a.is_same(&b));
        drop((a, b));
        fs::remove_dir_all(folder).unwrap();
    }
}
