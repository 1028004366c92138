//! Files for readers that want a path.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder of its own for each thread; the file in it is written again and again.
pub struct Scratch {
    folder: TempDir,
}

thread_local! {
    static SCRATCH: Scratch = Scratch::new();
}

impl Scratch {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Lets `read` read a file of these bytes.
pub fn with_file<T>(name: &str, bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    SCRATCH.with(|scratch| {
        let path = scratch.path(name);
        fs::write(&path, bytes).expect("a temporary file");
        read(&path)
    })
}
