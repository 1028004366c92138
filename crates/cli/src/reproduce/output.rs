//! The folder that an experiment leaves its files in.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::files::PendingFile;
use crate::outcome::bad_input;

/// Makes the folder and opens files in it, so that a place that cannot be written is known before any
/// work is done; none of them appears before it is finished.
pub fn open<const N: usize>(folder: &Path, names: [&str; N]) -> Result<[PendingFile; N]> {
    fs::create_dir_all(folder)
        .map_err(|error| bad_input(format!("{}: cannot be made: {error}", folder.display())))?;
    let files: Result<Vec<PendingFile>> =
        names.iter().map(|name| PendingFile::create(&folder.join(name))).collect();
    let files: [PendingFile; N] = files?.try_into().ok().expect("as many as names");
    Ok(files)
}
