use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::pending::{followed, is_at};
use super::unfinished::{parent, register, unregister};

/// The right to be the only run that writes a file.
///
/// It is a lock on an empty file `.NAME.bethe-lock` beside it. The system takes the lock back when
/// the process ends, however it ends; a file that a killed run left locks nobody out, and the next
/// run removes it.
#[derive(Debug)]
pub struct WriterLock {
    path: PathBuf,
    _file: File,
}

impl WriterLock {
    /// Takes the lock; `None` if another run has it.
    pub fn take(target: &Path) -> io::Result<Option<Self>> {
        let target = followed(target)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = parent(&target).join(format!(".{name}.bethe-lock"));
        loop {
            if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file() || found.len() > 0) {
                let path = path.display();
                let what = format!("{path}: found something other than a lock; move it away");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            // Nothing is ever written to it.
            let file = File::options().write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Where the file system has no locks, nobody can be told apart.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // The run that had it may have removed the file since it was opened.
            if is_at(&file, &path) {
                register(&path);
                return Ok(Some(Self { path, _file: file }));
            }
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // While it is still locked: whoever opens it now looks again.
        let _ = fs::remove_file(&self.path);
        unregister(&self.path);
    }
}
