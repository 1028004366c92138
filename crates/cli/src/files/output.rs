use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::outcome::bad_input;

/// A file being written under a temporary name beside its own; it appears whole, or not at all.
pub struct PendingFile {
    target: PathBuf,
    /// `None` where the target is a device or a pipe, which is written in place.
    temporary: Option<PathBuf>,
    file: File,
}

impl PendingFile {
    /// Opens it, so that a place that cannot be written is known before any work is done.
    pub fn create(path: &Path) -> Result<Self> {
        let wrong = |error: &dyn std::fmt::Display| {
            bad_input(format!("{}: cannot be written: {error}", path.display()))
        };
        // A link's target is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if target.is_dir() {
            return Err(wrong(&"found a folder, expected a file"));
        }
        let (name, is_file) = (target.file_name(), target.is_file() || !target.exists());
        let temporary = match name {
            None => return Err(wrong(&"found no file name, expected one")),
            Some(name) if is_file => {
                let name = name.to_string_lossy();
                Some(target.with_file_name(format!(".{name}.{}.partial", std::process::id())))
            }
            Some(_) => None,
        };
        let opened = match &temporary {
            Some(temporary) => File::create(temporary),
            None => File::options().write(true).open(&target),
        };
        let file = opened.map_err(|error| wrong(&error))?;
        Ok(Self { target, temporary, file })
    }

    /// Writes the content and gives the file its name.
    pub fn finish(mut self, content: &str) -> Result<()> {
        let context = || format!("{}: cannot be written", self.target.display());
        self.file.write_all(content.as_bytes()).with_context(context)?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.target).with_context(context)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
