//! Folders that reports are written to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::PendingFile;
use crate::bad_input;

/// A folder that files can be written to. What had to be made of it goes again at the end if it is
/// still empty: a command that fails leaves no trace.
pub struct Folder {
    path: PathBuf,
    /// Levels that were not there, the deepest first.
    made: Vec<PathBuf>,
}

impl Folder {
    /// Makes it, so that a place that cannot be written is known before any work is done.
    pub fn create(path: &Path) -> Result<Self> {
        let is_missing = |level: &&Path| !level.as_os_str().is_empty() && !level.exists();
        let made = path.ancestors().take_while(is_missing).map(Path::to_path_buf).collect();
        let folder = Self { path: path.to_path_buf(), made };
        fs::create_dir_all(path)
            .map_err(|error| bad_input(format!("{}: cannot be made: {error}", path.display())))?;
        Ok(folder)
    }

    /// The same, once it is known that a file of this name can be made there.
    pub fn probed(path: &Path, name: &str) -> Result<Self> {
        let folder = Self::create(path)?;
        drop(PendingFile::create(&path.join(name))?);
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files, each whole or not at all: none gets its name before all could be opened.
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
            // Refused, as it should be, where there is something in it.
            let _ = fs::remove_dir(level);
        }
    }
}
