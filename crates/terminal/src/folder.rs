//! Folders for reports.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::PendingFile;
use crate::bad_input;

/// A folder for files. If it was created and is still empty at the end, it is removed again, so
/// that a failed command leaves no trace.
pub struct Folder {
    path: PathBuf,
    /// Levels that were created, the deepest first.
    made: Vec<PathBuf>,
}

impl Folder {
    /// Creates it, so that a failure shows before any work is done.
    pub fn create(path: &Path) -> Result<Self> {
        let is_missing = |level: &&Path| !level.as_os_str().is_empty() && !level.exists();
        let made = path.ancestors().take_while(is_missing).map(Path::to_path_buf).collect();
        let folder = Self { path: path.to_path_buf(), made };
        fs::create_dir_all(path)
            .map_err(|error| bad_input(format!("{}: cannot create: {error}", path.display())))?;
        Ok(folder)
    }

    /// The same, after checking that a file of this name can be created in it.
    pub fn probed(path: &Path, name: &str) -> Result<Self> {
        let folder = Self::create(path)?;
        drop(PendingFile::create(&path.join(name))?);
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files, each whole or not at all; no file gets its name before all are open.
    pub fn write<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
        let open = |(name, content): (&str, &'a str)| {
            PendingFile::create(&self.path.join(name)).map(|file| (file, content))
        };
        let pending: Vec<(PendingFile, &str)> =
            files.into_iter().map(open).collect::<Result<_>>()?;
        pending.into_iter().try_for_each(|(file, content)| file.finish(content))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for level in &self.made {
            // This fails, as it should, if there is something in it.
            let _ = fs::remove_dir(level);
        }
    }
}
