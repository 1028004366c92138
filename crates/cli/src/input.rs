use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_core::problem::file::ProblemFileError;
use bethe_terminal::bad_input;

/// The layout of a file: one JSON text, one per line, or a UAI model.
pub enum Content {
    /// A single JSON text.
    Single(Source),
    /// A UAI model.
    Uai(Source),
    /// One JSON text per line, without blank lines.
    Lines(Vec<Source>),
}

/// A text and its name in messages.
pub struct Source {
    /// `problem.json`, `batch.jsonl:3`, or `standard input`.
    pub name: String,
    /// The text.
    pub bytes: Vec<u8>,
    /// Whether it is one line of a file, so that the name already gives the line.
    is_line: bool,
}

impl Source {
    /// A whole file, or standard input for `-`, if its text fits into the limit.
    pub fn whole(path: &Path, memory: MemoryLimit) -> Result<Self> {
        let (name, read) = if path == Path::new("-") {
            ("standard input".to_string(), read_within(io::stdin().lock(), 0, memory))
        } else {
            let opened = fs::File::open(path).map_err(anyhow::Error::from);
            let read = opened.and_then(|file| {
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                read_within(file, size, memory)
            });
            (path.display().to_string(), read)
        };
        let bytes = read.map_err(|error| bad_input(format!("{name}: {error}")))?;
        Ok(Self { name, bytes, is_line: false })
    }

    /// A mistake in this text, as an error of exit code 2.
    pub fn mistake(&self, error: ProblemFileError) -> anyhow::Error {
        match error {
            ProblemFileError::Syntax { column, found, expected, .. } if self.is_line => {
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

/// Reads to the end, unless that is farther than the limit allows; the stream may know its size.
fn read_within(stream: impl Read, size: u64, memory: MemoryLimit) -> Result<Vec<u8>> {
    memory.check_text(size as f64)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size)?);
    stream.take(memory.bytes()).read_to_end(&mut bytes)?;
    memory.check_text(bytes.len() as f64)?;
    Ok(bytes)
}

/// How texts are laid out in a file.
enum Layout {
    Single,
    Lines,
    Uai,
    /// To be recognised from the content.
    Open,
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path, memory: MemoryLimit) -> Result<Content> {
    if path == Path::new("-") {
        let Source { name, bytes, .. } = Source::whole(path, memory)?;
        return Ok(split(&name, bytes, Layout::Open));
    }
    let name = path.display().to_string();
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let layout = match extension.as_deref() {
        Some("json") => Layout::Single,
        Some("jsonl") => Layout::Lines,
        Some("uai") => Layout::Uai,
        None => Layout::Open,
        Some(other) => {
            let found = if other == "evid" { "UAI evidence" } else { "an unknown kind of file" };
            let expected = "expected a .json, .jsonl or .uai file, or - for standard input";
            return Err(bad_input(format!("{name}: found {found} (.{other}), {expected}")));
        }
    };
    Ok(split(&name, Source::whole(path, memory)?.bytes, layout))
}

fn split(name: &str, bytes: Vec<u8>, layout: Layout) -> Content {
    let layout = match layout {
        Layout::Open if is_uai(&bytes) => Layout::Uai,
        Layout::Open if is_json_lines(&bytes) => Layout::Lines,
        other => other,
    };
    if !matches!(layout, Layout::Lines) {
        let source = Source { name: name.to_string(), bytes, is_line: false };
        return if matches!(layout, Layout::Uai) {
            Content::Uai(source)
        } else {
            Content::Single(source)
        };
    }
    let source = |(index, line): (usize, &[u8])| Source {
        name: format!("{name}:{}", index + 1),
        bytes: line.to_vec(),
        is_line: true,
    };
    Content::Lines(lines(&bytes).map(source).collect())
}

/// Lines that are not blank, counted from 0.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = bytes.split(|&byte| byte == b'\n').enumerate();
    numbered.filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Whether the first word is one that UAI models begin with.
fn is_uai(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii_start();
    ["MARKOV", "BAYES"].iter().any(|word| bytes.starts_with(word.as_bytes()))
}

/// Whether the first line is a whole JSON text and others follow.
fn is_json_lines(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes);
    let first = lines.next();
    lines.next().is_some()
        && first.is_some_and(|(_, l)| serde_json::from_slice::<serde::de::IgnoredAny>(l).is_ok())
}
