//! Files of others, which a folder keeps when it is replaced.

use std::fs;
use std::io;
use std::path::Path;

use super::list::List;

/// What is in a folder, by paths from it with `/` between names.
#[derive(Default)]
pub(super) struct Tree {
    /// Everything but folders.
    pub(super) files: Vec<String>,
    /// Folders with nothing in them.
    pub(super) empty: Vec<String>,
}

impl Tree {
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.visit(folder, "")?;
        tree.files.sort();
        Ok(tree)
    }

    /// Links are not followed.
    fn visit(&mut self, folder: &Path, prefix: &str) -> io::Result<usize> {
        let entries = match fs::read_dir(folder) {
            // Another run may be removing the same leftovers.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(1),
            entries => entries?,
        };
        let mut count = 0;
        for entry in entries {
            let entry = entry?;
            count += 1;
            let name = entry.file_name().into_string().map_err(|name| {
                let name = name.to_string_lossy().into_owned();
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("the name {name:?} is not UTF-8"),
                )
            })?;
            let name = format!("{prefix}{name}");
            if !entry.file_type()?.is_dir() {
                self.files.push(name);
            } else if self.visit(&entry.path(), &format!("{name}/"))? == 0 {
                self.empty.push(name);
            }
        }
        Ok(count)
    }
}

/// Gives the folder `to` what is in the folder `from` and not ours: files that `known` does not
/// name, and those that somebody changed and `to` does not replace. Each is then in both.
pub(super) fn carry_over(from: &Path, known: &List, to: &Path) -> io::Result<()> {
    carry_files(from, known, to)?;
    for name in Tree::of(from)?.empty {
        make_folder(from, to, &format!("{name}/"))?;
    }
    Ok(())
}

/// The same without empty folders.
pub(super) fn carry_files(from: &Path, known: &List, to: &Path) -> io::Result<()> {
    for name in Tree::of(from)?.files {
        let (own, other) = (from.join(&name), to.join(&name));
        let is_there = fs::symlink_metadata(&other).is_ok();
        if is_there && (known.names(&name) || is_same(&own, &other)) || known.holds(&name, &own) {
            continue;
        }
        make_folder(from, to, &name)?;
        link(&own, &other, &name)?;
    }
    Ok(())
}

/// Tries whether files of others can be carried over, before any work is done. Leaves nothing in
/// the folder `to`.
pub(super) fn try_carrying(from: &Path, known: &List, to: &Path) -> io::Result<()> {
    let probe = to.join("probe");
    for name in Tree::of(from)?.files.iter().filter(|name| !known.names(name)) {
        link(&from.join(name), &probe, name)?;
        match fs::remove_file(&probe) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Gives a file a second name.
fn link(own: &Path, other: &Path, name: &str) -> io::Result<()> {
    match fs::hard_link(own, other) {
        // It is gone since it was seen.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            let what = format!("{name}, which we did not write, cannot be carried over: {error}");
            Err(io::Error::new(error.kind(), what))
        }
        Ok(()) => Ok(()),
    }
}

/// Makes the folders that a name goes through, with the permissions that they have in `from`.
fn make_folder(from: &Path, to: &Path, name: &str) -> io::Result<()> {
    for (end, _) in name.match_indices('/') {
        let level = to.join(&name[..end]);
        match fs::create_dir(&level) {
            Ok(()) => {
                let permissions = fs::metadata(from.join(&name[..end]))?.permissions();
                fs::set_permissions(&level, permissions)?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether two names belong to one file.
#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::symlink_metadata(path).map(|f| (f.dev(), f.ino())).ok();
    identity(one).is_some_and(|found| Some(found) == identity(other))
}

/// Whether two names belong to files of one content.
#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    fs::read(one).is_ok_and(|content| fs::read(other).is_ok_and(|found| found == content))
}
