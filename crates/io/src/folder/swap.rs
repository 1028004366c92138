//! One folder in the place of another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::list::List;
use crate::files::unfinished::beside;

/// Ends the name of a folder that was moved aside.
pub(super) const OLD: &str = ".bethe-old";

/// Puts `new` in the place of `target`. Returns where the old folder is now.
///
/// Where the system can exchange two names, a kill leaves the one or the other. Elsewhere the old
/// folder is moved aside first; if the run is killed right then, the next one moves it back.
pub(super) fn swap(new: &Path, target: &Path) -> io::Result<Option<PathBuf>> {
    if fs::symlink_metadata(target).is_err() {
        return fs::rename(new, target).map(|()| None);
    }
    List::mark(target)?;
    if exchange(new, target)? {
        return Ok(Some(new.to_path_buf()));
    }
    by_two_renames(new, target).map(Some)
}

/// Whether the system could do it.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(new: &Path, target: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

fn by_two_renames(new: &Path, target: &Path) -> io::Result<PathBuf> {
    // The name is reserved by an empty folder, which a folder may replace.
    let ((), old) = beside(target, OLD, |path| fs::create_dir(path))?;
    #[cfg(windows)]
    fs::remove_dir(&old)?;
    fs::rename(target, &old)?;
    if let Err(error) = fs::rename(new, target) {
        fs::rename(&old, target)?;
        return Err(error);
    }
    Ok(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_renames_do_what_an_exchange_does() {
        let folder = tempfile::tempdir().unwrap();
        let [new, target] = ["new", "target"].map(|name| folder.path().join(name));
        for path in [&new, &target] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("name"), path.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
        let old = by_two_renames(&new, &target).unwrap();
        assert_eq!(fs::read_to_string(target.join("name")).unwrap(), "new");
        assert_eq!(fs::read_to_string(old.join("name")).unwrap(), "target");
        assert!(!new.exists());
    }
}
