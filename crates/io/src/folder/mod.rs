//! Folders of results that appear whole or not at all.
//!
//! A [`PendingFolder`] is written beside its target and takes its place in one step. A run that is
//! killed leaves the old folder or the new one, and the next run removes what it left beside. A
//! list `.bethe-files` in the folder says which files we wrote. All others are carried over, and none
//! of them is ever replaced.

mod carry;
mod list;
mod repair;
mod swap;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::unfinished::{PARTIAL, beside, parent, register, unregister};
use crate::in_words;
use carry::{carry_over, try_carrying};
pub(crate) use list::remove_folder;
use list::{LIST, List};

/// Why a folder cannot be written.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The system refuses.
    #[error("{}: cannot create: {}", path.display(), in_words(source))]
    Io {
        /// Where.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// The folder that it would be in is missing.
    #[error("{}: cannot create: there is no folder {}", path.display(), missing.display())]
    NoParent {
        /// Where.
        path: PathBuf,
        /// What is missing.
        missing: PathBuf,
    },
    /// There is a file.
    #[error("{}: cannot create: found a file, expected a folder", path.display())]
    NotAFolder {
        /// Where.
        path: PathBuf,
    },
    /// There is somebody's file where one of ours would go.
    #[error(
        "{}: found a file that an earlier run did not write; move it away or choose another folder",
        path.display()
    )]
    Stranger {
        /// The file.
        path: PathBuf,
    },
    /// Another run was faster.
    #[error(
        "{}: another run wrote this folder since this one began; nothing was replaced, run it again \
         or choose another folder",
        path.display()
    )]
    Overtaken {
        /// The folder.
        path: PathBuf,
    },
    /// The folder cannot be swapped since the process works in it.
    #[error(
        "{}: cannot write into the current folder itself; choose another, such as ./out",
        path.display()
    )]
    Current {
        /// The folder.
        path: PathBuf,
    },
    /// The same for a folder above.
    #[error(
        "{}: cannot write into a folder that holds the current one; choose another, such as {}",
        path.display(), path.join("out").display()
    )]
    AboveCurrent {
        /// The folder.
        path: PathBuf,
    },
    /// The folder cannot be swapped since something is mounted there.
    #[error(
        "{}: is a mount point, which cannot be replaced as a whole; choose a folder in it, such as {}",
        path.display(), path.join("out").display()
    )]
    MountPoint {
        /// The folder.
        path: PathBuf,
    },
}

impl FolderError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_path_buf(), source }
    }
}

/// A folder that appears whole or not at all.
#[derive(Debug)]
pub struct PendingFolder {
    /// As the caller gave it, for messages.
    shown: PathBuf,
    target: PathBuf,
    /// Where the files are until they are published.
    staging: PathBuf,
    /// The staging folder's list: locked while this run lives, filled when it publishes.
    list: File,
    /// What earlier runs wrote to the target.
    known: List,
    /// Whether the staging folder has become the target. Its name may then belong to the old one.
    swapped: bool,
}

impl PendingFolder {
    /// Creates it beside the target, so that a failure shows before any work is done. If it is
    /// dropped unpublished, it leaves nothing behind. Also repairs what killed runs left.
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        let io = FolderError::io;
        let shown = path.to_path_buf();
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder { path: shown });
        }
        check_parent(path)?;
        let target = resolved(path).map_err(io(path))?;
        repair::after_killed_runs(&target);
        check_replaceable(path, &target)?;
        let known = List::of(&target)
            .map_err(io(path))?
            .ok_or_else(|| FolderError::Stranger { path: path.join(LIST) })?;
        let (list, staging) = create_staging(&target).map_err(io(path))?;
        let folder = Self { shown, target, staging, list, known, swapped: false };
        try_carrying(&folder.target, &folder.known, &folder.staging).map_err(io(path))?;
        Ok(folder)
    }

    /// Where its files are until it is published.
    pub fn path(&self) -> &Path {
        &self.staging
    }

    /// Makes sure that no file of somebody else has this name.
    pub fn claim(&self, name: &str) -> Result<(), FolderError> {
        let is_taken = |name: &str| fs::symlink_metadata(self.target.join(name)).is_ok();
        let is_no_folder = |name: &str| is_taken(name) && !self.target.join(name).is_dir();
        let mut levels = name.match_indices('/').map(|(end, _)| &name[..end]);
        let taken = levels.find(|level| is_no_folder(level));
        match taken.or(Some(name).filter(|name| !self.known.names(name) && is_taken(name))) {
            Some(name) => Err(FolderError::Stranger { path: self.shown.join(name) }),
            None => Ok(()),
        }
    }

    /// Whether a path leads to a file in the target that an earlier run wrote.
    pub fn wrote(&self, path: &Path) -> bool {
        let inside = fs::canonicalize(path);
        let inside = inside.as_ref().map(|path| path.strip_prefix(&self.target));
        matches!(inside, Ok(Ok(name)) if name.to_str().is_some_and(|name| self.known.names(name)))
    }

    /// Creates a file in it; the name may have folders in it.
    pub fn file(&self, name: &str) -> Result<File, FolderError> {
        self.claim(name)?;
        let path = self.staging.join(name);
        let create = || {
            fs::create_dir_all(parent(&path))?;
            File::options().write(true).create_new(true).open(&path)
        };
        create().map_err(FolderError::io(&self.shown.join(name)))
    }

    /// Puts it in the place of the target. Files that others put there are in it afterwards, too.
    pub fn publish(mut self) -> Result<(), FolderError> {
        let shown = self.shown.clone();
        let io = || FolderError::io(&shown);
        let names = List::write(&self.staging, &self.list).map_err(io())?;
        for name in &names {
            self.claim(name).map_err(|error| self.unless_overtaken(name, error))?;
        }
        carry_over(&self.target, &self.known, &self.staging).map_err(io())?;
        self.take_access().map_err(io())?;
        // From here on the staging folder is not ours alone to remove.
        unregister(&self.staging);
        let old = swap::swap(&self.staging, &self.target).map_err(io())?;
        self.swapped = true;
        let Some(old) = old else { return Ok(()) };
        // What came after the first look; nothing is removed before it is safe.
        carry_over(&old, &self.known, &self.target).map_err(io())?;
        match remove_folder(&old) {
            // The next run removes it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io()(error)),
            _ => Ok(()),
        }
    }

    /// What looks like a stranger's file may be that of a run which published in the meantime.
    fn unless_overtaken(&self, name: &str, error: FolderError) -> FolderError {
        match List::of(&self.target) {
            Ok(Some(list)) if list.names(name) => {
                FolderError::Overtaken { path: self.shown.clone() }
            }
            _ => error,
        }
    }

    /// The permissions and the owner of the folder that is replaced.
    fn take_access(&self) -> io::Result<()> {
        #[cfg(unix)]
        if let Ok(old) = fs::metadata(&self.target) {
            crate::files::keep_access(&File::open(&self.staging)?, &old)?;
        }
        Ok(())
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        if !self.swapped {
            let _ = remove_folder(&self.staging);
            unregister(&self.staging);
        }
    }
}

/// The folder above a path must be there, as for a file.
fn check_parent(path: &Path) -> Result<(), FolderError> {
    let above = parent(path);
    match above.is_dir() {
        true => Ok(()),
        false => {
            Err(FolderError::NoParent { path: path.to_path_buf(), missing: above.to_path_buf() })
        }
    }
}

/// The folder itself, not a link to it.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    if path.exists() {
        return fs::canonicalize(path);
    }
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "found a link to nothing"));
    }
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "expected the name of a folder at the end")
    })?;
    Ok(fs::canonicalize(parent(path))?.join(name))
}

/// A folder that is in use as a place cannot be exchanged for another.
fn check_replaceable(path: &Path, target: &Path) -> Result<(), FolderError> {
    let current = std::env::current_dir().and_then(fs::canonicalize);
    let (is_current, is_above) =
        current.map_or((false, false), |current| (current == target, current.starts_with(target)));
    if is_current {
        return Err(FolderError::Current { path: path.to_path_buf() });
    }
    if is_above || target.parent().is_none() {
        return Err(FolderError::AboveCurrent { path: path.to_path_buf() });
    }
    #[cfg(unix)]
    if let (Ok(own), Ok(above)) = (fs::metadata(target), fs::metadata(parent(target))) {
        use std::os::unix::fs::MetadataExt;
        if own.dev() != above.dev() {
            return Err(FolderError::MountPoint { path: path.to_path_buf() });
        }
    }
    Ok(())
}

/// A folder beside the target, and its list, which this process holds the lock of.
fn create_staging(target: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        let ((), staging) = beside(target, PARTIAL, |path| fs::create_dir(path))?;
        register(&staging);
        let list = File::options().write(true).create_new(true).open(staging.join(LIST));
        let locked = list.inspect(|list| {
            // Not every file system has locks; leftovers then stay.
            let _ = list.lock();
        });
        match locked {
            Ok(list) if staging.join(LIST).exists() => return Ok((list, staging)),
            // Another run took the empty folder for a leftover.
            Ok(_) => unregister(&staging),
            Err(error) if error.kind() == io::ErrorKind::NotFound => unregister(&staging),
            Err(error) => {
                let _ = fs::remove_dir(&staging);
                unregister(&staging);
                return Err(error);
            }
        }
    }
}
