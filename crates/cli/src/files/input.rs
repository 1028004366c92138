use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Result;
use bethe_core::model::file::FileError;

use crate::outcome::bad_input;

/// What a file holds before anyone reads it: one JSON text, or one a line.
pub enum Content {
    /// A single JSON text.
    Single(Source),
    /// One JSON text a line; blank lines are not among them.
    Lines(Vec<Source>),
}

/// A JSON text and the name that messages give it.
pub struct Source {
    /// `problem.json`, `batch.jsonl:3`, or `standard input`.
    pub name: String,
    /// The text.
    pub json: Vec<u8>,
    /// Whether it is one line of a file: the name gives the line already.
    is_line: bool,
}

impl Source {
    /// A mistake in this text, as an error of exit code 2.
    pub fn mistake(&self, error: FileError) -> anyhow::Error {
        match error {
            FileError::Syntax { column, found, expected, .. } if self.is_line => {
                self.wrong(format!("column {column}: found {found}, expected {expected}"))
            }
            other => self.wrong(other),
        }
    }

    /// A message about this text, as an error of exit code 2.
    pub fn wrong(&self, message: impl std::fmt::Display) -> anyhow::Error {
        bad_input(format!("{}: {message}", self.name))
    }
}

/// How the texts lie in a file.
enum Layout {
    Single,
    Lines,
    /// Either: whoever wrote it decides.
    Open,
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Content> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| bad_input(format!("standard input: {error}")))?;
        return Ok(split("standard input", bytes, Layout::Open));
    }
    let name = path.display().to_string();
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let layout = match extension.as_deref() {
        Some("json") => Layout::Single,
        Some("jsonl") => Layout::Lines,
        None => Layout::Open,
        Some(other) => {
            let found = match other {
                "uai" => "a UAI model",
                "evid" => "UAI evidence",
                _ => "an unknown kind of file",
            };
            let expected = "expected a .json or .jsonl file, or - for standard input";
            return Err(bad_input(format!("{name}: found {found} (.{other}), {expected}")));
        }
    };
    let bytes = fs::read(path).map_err(|error| bad_input(format!("{name}: {error}")))?;
    Ok(split(&name, bytes, layout))
}

fn split(name: &str, bytes: Vec<u8>, layout: Layout) -> Content {
    let in_lines = match layout {
        Layout::Single => false,
        Layout::Lines => true,
        Layout::Open => is_json_lines(&bytes),
    };
    if !in_lines {
        return Content::Single(Source { name: name.to_string(), json: bytes, is_line: false });
    }
    let source = |(index, line): (usize, &[u8])| Source {
        name: format!("{name}:{}", index + 1),
        json: line.to_vec(),
        is_line: true,
    };
    Content::Lines(lines(&bytes).map(source).collect())
}

/// Lines that are not blank, counted from 0.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = bytes.split(|&byte| byte == b'\n').enumerate();
    numbered.filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Whether the first line is a whole JSON text and others follow.
fn is_json_lines(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes);
    let first = lines.next();
    lines.next().is_some()
        && first.is_some_and(|(_, l)| serde_json::from_slice::<serde::de::IgnoredAny>(l).is_ok())
}
