//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that is written under a temporary name next to its own.
#[derive(Debug)]
pub struct PendingFile {
    target: PathBuf,
    /// `None` if the target is a device or a pipe, which is written in place.
    temporary: Option<PathBuf>,
    file: File,
}

impl PendingFile {
    /// Opens it, so that a failure shows before any work is done. If it is dropped unfinished, it
    /// leaves nothing behind.
    pub fn create(path: &Path) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
        // Replace the target of a link, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if target.is_dir() {
            return Err(wrong("found a folder, expected a file"));
        }
        let name = target.file_name().ok_or_else(|| wrong("the path has no file name"))?;
        let temporary = (target.is_file() || !target.exists()).then(|| {
            let name = name.to_string_lossy();
            target.with_file_name(format!(".{name}.{}.partial", std::process::id()))
        });
        let file = match &temporary {
            Some(temporary) => File::create(temporary),
            None => File::options().write(true).open(&target),
        };
        Ok(Self { file: file?, target, temporary })
    }

    /// Writes the content and gives the file its name.
    pub fn finish(mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)?;
        self.publish()
    }

    /// Gives the file its name, with what was written to it.
    pub fn publish(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            // After a crash the name must not point to half of the content.
            self.file.sync_all()?;
            fs::rename(temporary, &self.target)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.file.write(content)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
