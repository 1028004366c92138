use std::fs;
use std::io::{self, BufRead, BufReader, Read};
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
    /// One JSON text per line, which are read as they are asked for.
    Lines(Lines),
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
        Stream::open(path, memory)?.rest(Vec::new())
    }

    /// Splits it, as [`Stream::content`] does.
    pub fn content(self, path: &Path) -> Result<Content> {
        let reader = Box::new(io::Cursor::new(self.bytes));
        Stream { name: self.name, reader, memory: MemoryLimit::NONE }.content(path)
    }

    /// The same text as all there is of its file.
    pub fn alone(self, path: &Path) -> Self {
        Self { name: name(path), is_line: false, ..self }
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

/// Text that is read once, from the front to the end.
pub struct Stream {
    name: String,
    reader: Box<dyn BufRead + Send>,
    /// For a text that is held as a whole.
    memory: MemoryLimit,
}

impl Stream {
    /// Opens a file, a pipe, or standard input for `-`.
    pub fn open(path: &Path, memory: MemoryLimit) -> Result<Self> {
        let name = name(path);
        let reader: Box<dyn BufRead + Send> = if path == Path::new("-") {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let wrong = |error: &dyn std::fmt::Display| bad_input(format!("{name}: {error}"));
            let file = fs::File::open(path).map_err(|error| wrong(&error))?;
            let is_batch = matches!(Layout::of(path), Ok(Layout::Lines));
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            let held = if is_batch { 0 } else { size };
            memory.check_text(held as f64).map_err(|error| wrong(&error))?;
            Box::new(BufReader::new(file))
        };
        Ok(Self { name, reader, memory })
    }

    /// Its first bytes, which are still there to be read; fewer if it is shorter.
    pub fn start(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut start = Vec::with_capacity(count);
        let read = self.reader.by_ref().take(count as u64).read_to_end(&mut start);
        read.map_err(|error| self.failed(error))?;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(start.clone()).chain(rest));
        Ok(start)
    }

    /// All that is left, after what was already read.
    pub fn rest(mut self, mut bytes: Vec<u8>) -> Result<Source> {
        let read = self.reader.by_ref().take(self.memory.bytes()).read_to_end(&mut bytes);
        read.map_err(|error| self.failed(error))?;
        self.check(&bytes)?;
        Ok(Source { name: self.name, bytes, is_line: false })
    }

    /// Splits it by the layout that the path's ending or its own beginning tells.
    pub fn content(mut self, path: &Path) -> Result<Content> {
        let layout = Layout::of(path)?;
        let mut first = Vec::new();
        if matches!(layout, Layout::Lines) {
            return Ok(Content::Lines(Lines { stream: self, number: 0, first: None, open: false }));
        }
        let mut lines = 0;
        if matches!(layout, Layout::Open) {
            while first.trim_ascii().is_empty() && self.line(&mut first)? {
                lines += 1;
            }
        }
        let (is_uai, is_whole) = (is_uai(&first), is_json(&first));
        match layout {
            Layout::Open if !is_uai && is_whole => {
                let first = Some(self.source(lines, first));
                Ok(Content::Lines(Lines { stream: self, number: lines, first, open: true }))
            }
            Layout::Uai => Ok(Content::Uai(self.rest(first)?)),
            Layout::Open if is_uai => Ok(Content::Uai(self.rest(first)?)),
            _ => Ok(Content::Single(self.rest(first)?)),
        }
    }

    /// Adds the next line; false at the end.
    fn line(&mut self, bytes: &mut Vec<u8>) -> Result<bool> {
        let read = self.reader.by_ref().take(self.memory.bytes()).read_until(b'\n', bytes);
        let count = read.map_err(|error| self.failed(error))?;
        self.check(bytes)?;
        Ok(count > 0)
    }

    /// Refuses a text that is too long.
    fn check(&self, bytes: &[u8]) -> Result<()> {
        let fits = self.memory.check_text(bytes.len() as f64);
        fits.map_err(|error| bad_input(format!("{}: {error}", self.name)))
    }

    /// A line, counted from 1.
    fn source(&self, number: usize, bytes: Vec<u8>) -> Source {
        Source { name: format!("{}:{number}", self.name), bytes, is_line: true }
    }

    fn failed(&self, error: io::Error) -> anyhow::Error {
        bad_input(format!("{}: {error}", self.name))
    }
}

/// The lines of a text that are not blank.
pub struct Lines {
    stream: Stream,
    /// Lines that were read.
    number: usize,
    /// A line that was read to find out about the layout.
    first: Option<Source>,
    /// Whether a single line would be a single text.
    open: bool,
}

impl Lines {
    /// The name of the text.
    pub fn name(&self) -> &str {
        &self.stream.name
    }

    /// Whether a single line would be a text of its own, and not a batch of one.
    pub fn may_be_one_text(&self) -> bool {
        self.open
    }
}

impl Iterator for Lines {
    type Item = Result<Source>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let mut bytes = Vec::new();
        loop {
            match self.stream.line(&mut bytes) {
                Err(error) => return Some(Err(error)),
                Ok(false) => return None,
                Ok(true) => self.number += 1,
            }
            if bytes.last() == Some(&b'\n') {
                bytes.pop();
            }
            if !bytes.trim_ascii().is_empty() {
                return Some(Ok(self.stream.source(self.number, bytes)));
            }
            bytes.clear();
        }
    }
}

/// How texts are laid out in a file.
enum Layout {
    Single,
    Lines,
    Uai,
    /// To be recognised from the content.
    Open,
}

impl Layout {
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("json") => Ok(Self::Single),
            Some("jsonl") => Ok(Self::Lines),
            Some("uai") => Ok(Self::Uai),
            None => Ok(Self::Open),
            Some(other) => {
                let kind = if other == "evid" { "UAI evidence" } else { "an unknown kind of file" };
                let expected = "expected a .json, .jsonl or .uai file, or - for standard input";
                let name = path.display();
                Err(bad_input(format!("{name}: found {kind} (.{other}), {expected}")))
            }
        }
    }
}

/// Opens a file, a pipe, or standard input for `-`.
pub fn read(path: &Path, memory: MemoryLimit) -> Result<Content> {
    Layout::of(path)?;
    Stream::open(path, memory)?.content(path)
}

/// What messages call it.
fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_string() } else { path.display().to_string() }
}

/// Whether the first word is one that UAI models begin with.
fn is_uai(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii_start();
    ["MARKOV", "BAYES"].iter().any(|word| bytes.starts_with(word.as_bytes()))
}

/// Whether it is a whole JSON text.
fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
