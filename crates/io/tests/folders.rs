//! Folders that appear whole or not at all, and keep what others put there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use bethe_io::{FolderError, PendingFolder};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn create(&self) -> PendingFolder {
        PendingFolder::create(&self.at("out")).unwrap()
    }

    /// Writes a folder with these files, each of which says so.
    fn write(&self, names: &[&str], says: &str) {
        let folder = self.create();
        names.iter().for_each(|name| add(&folder, name, says));
        folder.publish().unwrap();
    }

    /// Everything beside and in it, but the list.
    fn all(&self) -> Vec<String> {
        let mut found = Vec::new();
        visit(self.0.path(), "", &mut found);
        found.retain(|name| !name.ends_with(".bethe-files"));
        found.sort();
        found
    }
}

fn visit(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => visit(&entry.path(), &format!("{name}/"), found),
            false => found.push(name),
        }
    }
}

fn add(folder: &PendingFolder, name: &str, says: &str) {
    folder.file(name).unwrap().write_all(says.as_bytes()).unwrap();
}

#[test]
fn a_folder_appears_when_all_is_written() {
    let place = Place::new();
    let folder = place.create();
    add(&folder, "a", "new");
    add(&folder, "frames/1", "new");
    assert!(!place.at("out").exists());
    folder.publish().unwrap();
    assert_eq!(place.all(), ["out/a", "out/frames/1"]);
}

#[test]
fn what_is_not_published_leaves_no_trace() {
    let place = Place::new();
    let folder = PendingFolder::create(&place.at("away")).unwrap();
    add(&folder, "a", "new");
    drop(folder);
    assert!(!place.at("away").exists());
    place.write(&["a"], "old");
    add(&place.create(), "a", "new");
    assert_eq!((place.all(), place.read("out/a")), (vec!["out/a".to_string()], "old".into()));
}

#[test]
fn our_old_files_go_and_those_of_others_stay() {
    let place = Place::new();
    place.write(&["a", "frames/1", "frames/2", "frames/3"], "old");
    place.put("out/notes.txt", "mine");
    place.put("out/frames/9", "mine");
    place.put("out/deep/er/notes.txt", "mine");
    place.put("out/frames/3", "changed by me");
    fs::create_dir(place.at("out/empty")).unwrap();
    place.write(&["a", "frames/1"], "new");
    let left = ["a", "deep/er/notes.txt", "frames/1", "frames/3", "frames/9", "notes.txt"];
    assert_eq!(place.all(), left.map(|name| format!("out/{name}")));
    assert_eq!((place.read("out/a"), place.read("out/frames/1")), ("new".into(), "new".into()));
    assert_eq!(place.read("out/frames/3"), "changed by me");
    assert!(place.at("out/empty").is_dir());
    // The next run knows them as those of others, too.
    place.write(&["a"], "newer");
    let left = ["a", "deep/er/notes.txt", "frames/3", "frames/9", "notes.txt"];
    assert_eq!(place.all(), left.map(|name| format!("out/{name}")));
    assert!(place.at("out/empty").is_dir());
}

#[test]
fn a_run_that_was_overtaken_says_so() {
    let place = Place::new();
    let slow = place.create();
    add(&slow, "a", "slow");
    place.write(&["a"], "fast");
    let error = slow.publish().unwrap_err();
    assert!(matches!(error, FolderError::Overtaken { .. }), "{error}");
    assert_eq!((place.all(), place.read("out/a")), (vec!["out/a".to_string()], "fast".to_string()));
}

#[test]
fn a_file_of_others_is_never_replaced() {
    let place = Place::new();
    place.put("out/a", "mine");
    place.put("out/frames", "mine");
    let folder = place.create();
    for name in ["a", "frames/1"] {
        let refused = folder.file(name).unwrap_err();
        assert!(matches!(refused, FolderError::Stranger { .. }), "{refused}");
    }
    // It may come while we are busy.
    add(&folder, "b", "new");
    place.put("out/b", "mine");
    assert!(matches!(folder.publish(), Err(FolderError::Stranger { .. })));
    assert_eq!(place.all(), ["out/a", "out/b", "out/frames"]);
    assert!(place.all().iter().all(|name| place.read(name) == "mine"));
    // So is one that has the name of our list.
    place.put("two/.bethe-files", "mine");
    let refused = PendingFolder::create(&place.at("two")).unwrap_err();
    assert!(matches!(refused, FolderError::Stranger { .. }), "{refused}");
}

/// The folder beside `out` that is being written.
fn staging(place: &Place) -> String {
    let names = fs::read_dir(place.0.path()).unwrap().flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find(|name| name.ends_with(".bethe-partial")).unwrap()
}

#[test]
fn leftovers_of_killed_runs_are_removed_and_those_of_live_ones_are_not() {
    let place = Place::new();
    place.write(&["a"], "old");
    // Killed while it wrote.
    place.put(".out.0123456789ab.bethe-partial/.bethe-files", "");
    place.put(".out.0123456789ab.bethe-partial/a", "half");
    // Killed before it wrote anything.
    fs::create_dir(place.at(".out.0123456789ac.bethe-partial")).unwrap();
    // Somebody's.
    place.put(".out.0123456789ad.bethe-partial/notes.txt", "mine");
    let live = place.create();
    add(&live, "a", "live");
    place.write(&["a"], "new");
    assert!(live.path().exists(), "what is being written stays");
    live.publish().unwrap();
    assert_eq!(place.read("out/a"), "live");
    assert_eq!(place.all(), [".out.0123456789ad.bethe-partial/notes.txt", "out/a"]);
    assert_eq!(staging(&place), ".out.0123456789ad.bethe-partial");
}

#[test]
fn a_run_killed_after_the_swap_loses_nobodys_file() {
    let place = Place::new();
    place.write(&["a", "gone"], "old");
    place.put("out/notes.txt", "mine");
    // The old folder, as the exchange leaves it, with a file that came at the last moment.
    fs::rename(place.at("out"), place.at(".out.0123456789ab.bethe-partial")).unwrap();
    place.put(".out.0123456789ab.bethe-partial/late.txt", "mine");
    place.write(&["a"], "new");
    place.write(&["a"], "new");
    assert_eq!(place.all(), ["out/a", "out/late.txt", "out/notes.txt"]);
}

#[test]
fn a_run_killed_while_it_removed_the_old_folder_is_tidied_up_after() {
    let place = Place::new();
    place.write(&["a"], "new");
    // The list goes last, so it is there as long as anything else is.
    let list = fs::read(place.at("out/.bethe-files")).unwrap();
    fs::create_dir_all(place.at(".out.0123456789ab.bethe-partial/frames")).unwrap();
    fs::write(place.at(".out.0123456789ab.bethe-partial/.bethe-files"), list).unwrap();
    fs::create_dir(place.at(".out.0123456789ac.bethe-partial")).unwrap();
    place.write(&["a"], "newer");
    let left: Vec<_> = fs::read_dir(place.0.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(!place.at("out/frames").exists());
}

#[test]
fn a_run_killed_between_two_renames_loses_nothing() {
    let place = Place::new();
    place.write(&["a", "gone"], "old");
    place.put("out/notes.txt", "mine");
    let old = place.at(".out.0123456789ab.bethe-old");
    fs::rename(place.at("out"), &old).unwrap();
    place.put(".out.0123456789ab.bethe-old/late.txt", "mine");
    // The old folder comes back first.
    place.write(&["a"], "new");
    assert_eq!(place.all(), ["out/a", "out/late.txt", "out/notes.txt"]);
    // Killed after them: both are there.
    fs::create_dir(&old).unwrap();
    fs::copy(place.at("out/.bethe-files"), old.join(".bethe-files")).unwrap();
    place.put(".out.0123456789ab.bethe-old/a", "new");
    place.put(".out.0123456789ab.bethe-old/later.txt", "mine");
    place.write(&["a"], "newer");
    assert_eq!(place.all(), ["out/a", "out/late.txt", "out/later.txt", "out/notes.txt"]);
    assert_eq!(place.read("out/a"), "newer");
}

#[test]
fn a_folder_is_only_made_in_one_that_is_there() {
    let place = Place::new();
    let refused = PendingFolder::create(&place.at("far/away")).unwrap_err();
    assert!(matches!(refused, FolderError::NoParent { .. }), "{refused}");
    let (path, missing) = (place.at("far/away"), place.at("far"));
    let (path, missing) = (path.display(), missing.display());
    assert_eq!(refused.to_string(), format!("{path}: cannot create: there is no folder {missing}"));
    assert!(!place.at("far").exists());
}

#[test]
fn a_file_in_the_way_is_no_folder() {
    let place = Place::new();
    place.put("out", "mine");
    let refused = PendingFolder::create(&place.at("out")).unwrap_err();
    assert!(matches!(refused, FolderError::NotAFolder { .. }), "{refused}");
    assert!(PendingFolder::create(&place.at("out/in")).is_err());
    assert_eq!(place.all(), ["out"]);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new();
    place.put("there/notes.txt", "mine");
    symlink("notes.txt", place.at("there/link")).unwrap();
    symlink("there", place.at("out")).unwrap();
    fs::set_permissions(place.at("there"), fs::Permissions::from_mode(0o750)).unwrap();
    place.write(&["a"], "new");
    assert!(fs::symlink_metadata(place.at("out")).unwrap().is_symlink());
    assert_eq!(fs::metadata(place.at("there")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(place.all(), ["out", "there/a", "there/link", "there/notes.txt"]);
    assert_eq!(place.read("there/link"), "mine");
}
