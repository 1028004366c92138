//! Names of unfinished files and folders, and the list of those that this process is writing.
//!
//! Names are random, and whoever writes one holds a lock on it that dies with the process. So the
//! next run can tell what a killed run left from what another run is still writing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::Builder;

use crate::folder::remove_folder;

/// Ends the name of a file or folder that is being written.
pub(crate) const PARTIAL: &str = ".bethe-partial";
/// Random letters and digits in its name.
const RANDOM: usize = 12;

static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn list() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The list is whole after a panic, too.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes what must not outlive the process.
pub(crate) fn register(path: &Path) {
    list().insert(path.to_path_buf());
}

/// It is finished or gone.
pub(crate) fn unregister(path: &Path) {
    list().remove(path);
}

/// Removes every file and folder that this process is still writing. Call it before a process ends
/// without running destructors.
pub fn remove_unfinished() {
    for path in std::mem::take(&mut *list()) {
        // Other threads may still be writing into a folder.
        for _ in 0..3 {
            let _ = if path.is_dir() { remove_folder(&path) } else { fs::remove_file(&path) };
        }
    }
}

/// The folder that a path is in.
pub(crate) fn parent(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What begins the names of all that is unfinished for this target.
fn prefix(target: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

/// Makes something beside the target under a name that nothing has; `make` must fail if its path
/// exists.
pub(crate) fn beside<T>(
    target: &Path,
    suffix: &str,
    make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    let prefix = prefix(target);
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(suffix).rand_bytes(RANDOM);
    let (made, path) = builder.make_in(parent(target), make)?.into_parts();
    Ok((made, path.keep()?))
}

/// What is beside the target under a name that [`beside`] makes.
pub(crate) fn leftovers(target: &Path, suffix: &str) -> Vec<PathBuf> {
    let prefix = prefix(target);
    let prefix = prefix.as_encoded_bytes();
    let Ok(entries) = fs::read_dir(parent(target)) else { return Vec::new() };
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let random = name.strip_prefix(prefix).and_then(|n| n.strip_suffix(suffix.as_bytes()));
        random.is_some_and(|r| r.len() == RANDOM && r.iter().all(u8::is_ascii_alphanumeric))
    };
    entries.flatten().map(|entry| entry.path()).filter(is_ours).collect()
}
