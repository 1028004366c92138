//! What killed runs left beside a folder.

use std::fs::{self, File};
use std::path::Path;

use super::carry::{Tree, carry_files};
use super::list::{LIST, List, remove_folder};
use super::swap::OLD;
use crate::files::unfinished::{PARTIAL, leftovers};

/// Moves the old folder back where a run was killed between two renames, and removes what is no
/// longer of use. Runs that live hold the lock of their folder; nothing is done to theirs.
pub(super) fn after_killed_runs(target: &Path) {
    for old in leftovers(target, OLD) {
        // An empty folder is a name that was only reserved.
        if fs::remove_dir(&old).is_err() && fs::symlink_metadata(target).is_err() {
            let _ = fs::rename(&old, target);
        }
    }
    for left in [leftovers(target, PARTIAL), leftovers(target, OLD)].concat() {
        remove(&left, target);
    }
}

/// Whether a folder holds nothing but what we wrote.
fn is_ours_alone(folder: &Path, known: &List) -> bool {
    Tree::of(folder)
        .is_ok_and(|tree| tree.files.iter().all(|name| known.holds(name, &folder.join(name))))
}

fn remove(left: &Path, target: &Path) {
    if !fs::symlink_metadata(left).is_ok_and(|found| found.is_dir()) {
        return;
    }
    let Ok(list) = File::open(left.join(LIST)) else {
        // Without a list it is not surely ours, unless nothing is in it.
        let _ = fs::remove_dir(left);
        return;
    };
    if list.try_lock().is_err() {
        return;
    }
    // Without a whole list its run was killed before it could take the target's place.
    if let Ok(Some(known)) = List::of(left) {
        // Somebody's file may have come to the old folder in its last moment. Empty folders may be
        // what is left of ours.
        let is_safe = match target.exists() {
            true => carry_files(left, &known, target).is_ok(),
            false => is_ours_alone(left, &known),
        };
        if !is_safe {
            return;
        }
    }
    let _ = remove_folder(left);
}
