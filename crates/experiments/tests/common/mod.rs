//! Running the real binary on files in a folder of the test's own.

#![allow(dead_code, unused_imports)] // each test file uses its own part

#[path = "../../../cli/tests/common/folder.rs"]
mod folder;

use std::process::Output;

pub use folder::{Folder, error, numbers, text};

use folder::refused;

impl Folder {
    /// Runs `bethe-reproduce` in the folder.
    pub fn reproduce(&self, arguments: &[&str]) -> Output {
        self.run("bethe-reproduce", arguments, "")
    }

    /// Runs it, which must do its work, and gives its standard output.
    pub fn succeeds(&self, arguments: &[&str]) -> String {
        text(&self.reproduce(arguments), arguments)
    }

    /// Runs it, which must refuse, and gives its message.
    pub fn refusal(&self, arguments: &[&str]) -> String {
        refused(&self.reproduce(arguments), arguments)
    }
}
