//! The folder that an experiment writes its report to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::files::PendingFile;
use crate::outcome::bad_input;

/// A folder that files can be written to.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it, so that a place that cannot be written is known before any work is done.
    pub fn create(path: &Path, probe: &str) -> Result<Self> {
        fs::create_dir_all(path)
            .map_err(|error| bad_input(format!("{}: cannot be made: {error}", path.display())))?;
        // It leaves nothing behind but the knowledge that a file can be made there.
        drop(PendingFile::create(&path.join(probe))?);
        Ok(Self(path.to_path_buf()))
    }

    /// Writes files, each whole or not at all: none gets its name before all could be opened.
    pub fn write<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
        let open = |(name, content): (&str, &'a str)| {
            PendingFile::create(&self.0.join(name)).map(|file| (file, content))
        };
        let pending: Vec<(PendingFile, &str)> =
            files.into_iter().map(open).collect::<Result<_>>()?;
        pending.into_iter().try_for_each(|(file, content)| file.finish(content))
    }
}
