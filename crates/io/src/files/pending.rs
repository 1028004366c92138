use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::unfinished::{PARTIAL, beside, leftovers, register, unregister};

/// How many links may lead from one to the next.
const MOST_LINKS: usize = 40;

/// A file that is written under a temporary name next to its own, and appears whole or not at all.
///
/// A link is followed: what it points to is replaced, and the link stays. The file that is replaced
/// passes on its permissions and, where the system allows it, its owner. Nobody else's file is
/// written to: the temporary one is created under a name that nothing had.
#[derive(Debug)]
pub struct PendingFile {
    target: PathBuf,
    /// `None` if the target is a device or a pipe, which is written in place.
    temporary: Option<PathBuf>,
    file: File,
}

impl PendingFile {
    /// Opens it, so that a failure shows before any work is done. If it is dropped unfinished, it
    /// leaves nothing behind. Also removes what killed runs left beside the target.
    pub fn create(path: &Path) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
        let target = followed(path)?;
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(wrong("found a folder, expected a file"));
        }
        if target.file_name().is_none() {
            return Err(wrong("the path has no file name"));
        }
        if let Some(folder) =
            target.parent().filter(|own| !own.as_os_str().is_empty() && !own.is_dir())
        {
            let what = format!("there is no folder {}", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(&target)?;
            return Ok(Self { target, temporary: None, file });
        }
        remove_leftovers(&target);
        let (file, temporary) = create_locked(&target, old.as_ref())?;
        Ok(Self { target, temporary: Some(temporary), file })
    }

    /// Writes the content and gives the file its name.
    pub fn finish(mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)?;
        self.publish()
    }

    /// Gives the file its name, with what was written to it.
    pub fn publish(mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        if let Ok(old) = fs::metadata(&self.target) {
            keep_access(&self.file, &old)?;
        }
        // After a crash the name must not point to half of the content.
        self.file.sync_all()?;
        fs::rename(temporary, &self.target)?;
        unregister(temporary);
        self.temporary = None;
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
            unregister(temporary);
        }
    }
}

/// What a path leads to: itself, or the end of a chain of links, even if nothing is there yet.
pub(crate) fn followed(path: &Path) -> io::Result<PathBuf> {
    if path.exists() {
        // Links to open pipes have no path of their own.
        return Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()));
    }
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many links lead from one to the next"))
}

/// A new file beside the target that this process holds the lock of.
fn create_locked(target: &Path, old: Option<&Metadata>) -> io::Result<(File, PathBuf)> {
    loop {
        let (file, path) = beside(target, PARTIAL, |path| create_new(path, old))?;
        register(&path);
        // Not every file system has locks; leftovers then stay.
        let _ = file.lock();
        // Another run may have taken it for a leftover before it was locked.
        if path.exists() {
            return Ok((file, path));
        }
        unregister(&path);
    }
}

/// Creates a file where nothing is, no more open to others than the one that it will replace.
fn create_new(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    if let Some(old) = old {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(old.permissions().mode());
    }
    #[cfg(not(unix))]
    let _ = old;
    options.open(path)
}

/// Gives a file the permissions and, if the system allows it, the owner of the one that it replaces.
#[cfg(unix)]
pub(crate) fn keep_access(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only some users may give files away; for others the file becomes theirs.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
pub(crate) fn keep_access(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Removes files of killed runs.
fn remove_leftovers(target: &Path) {
    for path in leftovers(target, PARTIAL) {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            continue;
        }
        // Whoever still writes it holds the lock.
        if File::open(&path).is_ok_and(|file| file.try_lock().is_ok() && is_at(&file, &path)) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether a path leads to this open file.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: Metadata| (found.dev(), found.ino());
    let there = fs::symlink_metadata(path).map(identity).ok();
    there.is_some() && there == file.metadata().map(identity).ok()
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
