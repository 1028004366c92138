//! Folders for reports.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bethe_io::{FolderError, PendingFolder};

use crate::bad_input;

/// A folder that appears whole or not at all; if it cannot be created, the exit code is 2.
///
/// Files that others put there stay, and none of them is replaced.
pub struct Folder {
    path: PathBuf,
    folder: PendingFolder,
}

impl Folder {
    /// Opens it, so that a failure shows before any work is done.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = PendingFolder::create(path).map_err(refused)?;
        Ok(Self { path: path.to_path_buf(), folder })
    }

    /// The same, after checking that these files would not replace somebody's.
    pub fn claiming(path: &Path, names: &[&str]) -> Result<Self> {
        let folder = Self::create(path)?;
        names.iter().try_for_each(|name| folder.claim(name))?;
        Ok(folder)
    }

    /// Checks that a file of this name would not replace somebody's.
    pub fn claim(&self, name: &str) -> Result<()> {
        self.folder.claim(name).map_err(refused)
    }

    /// Refuses to replace an input; `flag` names the folder.
    pub fn check_apart<'a>(
        &self,
        flag: &str,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<()> {
        match inputs.into_iter().find(|input| self.folder.wrote(input)) {
            Some(input) => {
                let input = input.display();
                Err(bad_input(format!("{flag}: {input} is an input; choose another folder")))
            }
            None => Ok(()),
        }
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its files are until it is published.
    pub fn staging(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a file in it.
    pub fn file(&self, name: &str) -> Result<File> {
        self.folder.file(name).map_err(refused)
    }

    /// Lets `write` write a file piece by piece. The file is closed afterwards.
    pub fn fill<T>(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<T> {
        let mut buffered = BufWriter::new(self.file(name)?);
        let written = write(&mut buffered).and_then(|value| buffered.flush().map(|()| value));
        written.with_context(|| format!("{}: cannot be written", self.path.join(name).display()))
    }

    /// Writes a file.
    pub fn text(&self, name: &str, content: &str) -> Result<()> {
        self.fill(name, |file| file.write_all(content.as_bytes()))
    }

    /// Writes files, and publishes the folder.
    pub fn write<'a>(self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
        files.into_iter().try_for_each(|(name, content)| self.text(name, content))?;
        self.publish()
    }

    /// Puts the folder, with the files that were written, in its place.
    pub fn publish(self) -> Result<()> {
        self.folder.publish().map_err(|error| match error {
            FolderError::Io { .. } => error.into(),
            other => refused(other),
        })
    }
}

fn refused(error: FolderError) -> anyhow::Error {
    bad_input(error.to_string())
}
