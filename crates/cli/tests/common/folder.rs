//! A folder of a test's own, and the real binary in it. Tests of `bethe-reproduce` use this file too.

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

    /// Runs a program of the package in the folder.
    pub fn run(&self, program: &str, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::cargo_bin(program).unwrap();
        command.current_dir(self.0.path()).args(arguments).write_stdin(input).output().unwrap()
    }
}

/// The message of a run that refused with exit code 2, nothing on standard output and one line on
/// standard error, without its `error: `.
pub fn refused(output: &Output, arguments: &[&str]) -> String {
    let message = error(output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed something");
    assert_eq!(message.lines().count(), 1, "{message}");
    message.trim_end().strip_prefix("error: ").expect("starts with error: ").to_string()
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
