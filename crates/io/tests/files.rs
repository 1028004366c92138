//! Files that appear whole or not at all, and harm nobody else's.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use bethe_io::{PendingFile, WriterLock};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

fn write(path: &Path, content: &str) {
    PendingFile::create(path).unwrap().finish(content.as_bytes()).unwrap();
}

#[test]
fn what_is_not_finished_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path, "old");
    let mut pending = PendingFile::create(&path).unwrap();
    pending.write_all(b"half").unwrap();
    assert_eq!(names(folder.path()).len(), 2, "there is a temporary file");
    drop(pending);
    assert_eq!(names(folder.path()), ["file"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn leftovers_of_killed_runs_are_removed_and_those_of_live_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let of_killed = ".file.0123456789ab.bethe-partial";
    let of_others = [
        "file.bethe-partial",
        ".file.short.bethe-partial",
        ".other.0123456789ab.bethe-partial",
        ".file.1234.partial",
    ];
    for name in of_others.iter().chain([&of_killed]) {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    let of_live = PendingFile::create(&path).unwrap();
    write(&path, "new");
    let left = names(folder.path());
    assert!(!left.contains(&of_killed.to_string()), "{left:?}");
    assert!(of_others.iter().all(|name| left.contains(&name.to_string())), "{left:?}");
    of_live.finish(b"newer").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_permissions_of_a_replaced_file_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(folder.path().join("plain")).unwrap();
        write(&path, "first");
        assert_eq!(mode(&path), mode(&folder.path().join("plain")), "as of any new file");
        for bits in [0o600, 0o666, 0o640, 0o755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
            let pending = PendingFile::create(&path).unwrap();
            let temporary = names(folder.path()).into_iter().find(|n| n.contains("partial"));
            let open = mode(&folder.path().join(temporary.unwrap()));
            assert_eq!(open & !bits, 0, "the temporary file is no more open than the file");
            pending.finish(b"again").unwrap();
            assert_eq!(mode(&path), bits);
        }
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("there")).unwrap();
        fs::write(at("there/file"), "old").unwrap();
        symlink("there/file", at("link")).unwrap();
        symlink("link", at("twice")).unwrap();
        symlink("there/missing", at("open")).unwrap();
        write(&at("twice"), "new");
        write(&at("open"), "made");
        for link in ["link", "twice", "open"] {
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        }
        assert_eq!(fs::read_to_string(at("there/file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("there/missing")).unwrap(), "made");
        assert_eq!(names(&at("there")), ["file", "missing"]);
        symlink("round", at("round")).unwrap();
        assert!(PendingFile::create(&at("round")).is_err());
    }

    #[test]
    fn links_in_the_way_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "mine").unwrap();
        let own = std::process::id();
        for name in [format!(".file.{own}.partial"), ".file.0123456789ab.bethe-partial".into()] {
            symlink(at("victim"), at(&name)).unwrap();
        }
        symlink(at("victim"), at(".file.bethe-lock")).unwrap();
        write(&at("file"), "new");
        assert!(WriterLock::take(&at("file")).is_err());
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "mine");
        assert_eq!(names(folder.path()).len(), 5);
    }
}

#[test]
fn only_one_run_has_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let first = WriterLock::take(&path).unwrap().unwrap();
    assert!(WriterLock::take(&path).unwrap().is_none());
    assert!(WriterLock::take(&folder.path().join("other")).unwrap().is_some());
    drop(first);
    assert!(WriterLock::take(&path).unwrap().is_some());
    assert!(names(folder.path()).is_empty());
    // What a killed run left locks nobody out.
    File::create(folder.path().join(".file.bethe-lock")).unwrap();
    assert!(WriterLock::take(&path).unwrap().is_some());
    assert!(names(folder.path()).is_empty());
    // Somebody's file is not ours to lock or remove.
    fs::write(folder.path().join(".file.bethe-lock"), "mine").unwrap();
    assert!(WriterLock::take(&path).is_err());
    assert_eq!(names(folder.path()), [".file.bethe-lock"]);
}
