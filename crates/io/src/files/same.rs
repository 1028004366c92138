use std::fs;
use std::path::{Path, PathBuf};

use super::pending::followed;
use super::unfinished::parent;

/// Whether two paths lead to one file, under whatever names, or would if it existed: links are
/// followed, also those to nothing, and a file of two names is one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| -> Option<PathBuf> {
        let path = followed(path).ok()?;
        Some(fs::canonicalize(parent(&path)).ok()?.join(path.file_name()?))
    };
    let is_same_place = place(one).is_some_and(|one| place(other) == Some(one));
    is_same_place || has_same_identity(one, other)
}

#[cfg(unix)]
fn has_same_identity(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(not(unix))]
fn has_same_identity(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| other == one))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_itself_under_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::write(at("other"), "").unwrap();
        fs::hard_link(at("file"), at("hard")).unwrap();
        symlink("file", at("soft")).unwrap();
        symlink("sub/../none", at("dangling")).unwrap();
        for (one, other, is_same) in [
            ("file", "./file", true),
            ("file", "sub/../file", true),
            ("file", "hard", true),
            ("soft", "hard", true),
            ("none", "dangling", true),
            ("none", "sub/../none", true),
            ("file", "other", false),
            ("none", "file", false),
            ("none", "nothing", false),
            ("none", "nowhere/none", false),
        ] {
            assert_eq!(is_same_file(&at(one), &at(other)), is_same, "{one} {other}");
            assert_eq!(is_same_file(&at(other), &at(one)), is_same, "{other} {one}");
        }
    }
}
