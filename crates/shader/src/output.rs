//! Writing: every file whole, or none.
//!
//! All contents go to temporary files beside their destinations first; only when each is on disk are they renamed
//! into place, the manifest last. A failure leaves the previous outputs as they were.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// What [`Compiled::write`](crate::Compiled::write) wrote.
#[derive(Debug, Clone)]
pub struct Written {
    /// The generated Rust module, for `include!`.
    pub module: PathBuf,
    /// The manifest.
    pub manifest: PathBuf,
    /// Every file, those two included.
    pub files: Vec<PathBuf>,
}

struct Staged {
    temporary: PathBuf,
    destination: PathBuf,
}

/// Writes `files` (relative path and content) under `dir` and returns their paths. Refuses to overwrite `inputs`.
pub(crate) fn write_all(
    dir: &Path,
    files: &[(String, Vec<u8>)],
    inputs: &[&Path],
) -> Result<Vec<PathBuf>, Error> {
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    for (name, _) in files {
        let destination = dir.join(name);
        if fs::canonicalize(&destination).is_ok_and(|real| inputs.contains(&real)) {
            let reason =
                std::io::Error::other("this output would overwrite a source; choose another directory");
            return Err(Error::io(destination, reason));
        }
    }
    let mut staged = Vec::new();
    let result = stage(dir, files, &mut staged).and_then(|()| {
        staged.iter().try_for_each(|file| {
            fs::rename(&file.temporary, &file.destination)
                .map_err(|source| Error::io(&file.destination, source))
        })
    });
    if result.is_err() {
        for file in &staged {
            // Already renamed, or never created: either way there is nothing left to do about it.
            let _ = fs::remove_file(&file.temporary);
        }
    }
    result.map(|()| staged.into_iter().map(|file| file.destination).collect())
}

fn stage(dir: &Path, files: &[(String, Vec<u8>)], staged: &mut Vec<Staged>) -> Result<(), Error> {
    for (name, content) in files {
        let destination = dir.join(name);
        let parent = destination.parent().unwrap_or(dir);
        fs::create_dir_all(parent).map_err(|source| Error::io(parent, source))?;
        let mut temporary = destination.clone().into_os_string();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        staged.push(Staged { temporary: temporary.clone(), destination });
        fs::write(&temporary, content).map_err(|source| Error::io(&temporary, source))?;
    }
    Ok(())
}
