//! Running the real binary on files in a folder of the test's own.

#![allow(dead_code)] // each test file uses its own part

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn with(self, name: &str, content: &str) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs `bethe-reproduce` in the folder.
    pub fn reproduce(&self, arguments: &[&str]) -> Output {
        let mut command = Command::cargo_bin("bethe-reproduce").unwrap();
        command.current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    /// Runs it, which must do its work, and gives its standard output.
    pub fn succeeds(&self, arguments: &[&str]) -> String {
        text(&self.reproduce(arguments), arguments)
    }

    /// Runs it, which must refuse with exit code 2, nothing on standard output and one line on
    /// standard error, and gives that line without its `error: `.
    pub fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.reproduce(arguments);
        let message = error(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed something");
        assert_eq!(message.lines().count(), 1, "{message}");
        message.trim_end().strip_prefix("error: ").expect("starts with error: ").to_string()
    }
}

/// The standard output of a run that did its work.
pub fn text(output: &Output, arguments: &[&str]) -> String {
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", error(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}
