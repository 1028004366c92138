use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_core::memory::{TEXT_SHARE, TooLarge};
use bethe_core::problem::file::ProblemFileError;
use bethe_io::{in_words, is_utf16, standard_input, without_mark};
use bethe_terminal::bad_input;

use crate::kind::{Kind, refuse};

/// Bytes of a byte-order mark.
const MARK: usize = 3;

/// The layout of a file: one JSON text, one per line, or a UAI model.
pub enum Content {
    /// A single JSON text.
    Single(Source),
    /// A UAI model.
    Uai(Source),
    /// One JSON text per line, read on demand.
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
        Stream::open(path, memory)?.without_mark()?.rest(Vec::new())
    }

    /// Splits it, as [`Stream::content`] does; a single text stays where it is.
    pub fn content(self, path: &Path) -> Result<Content> {
        let lines = || self.bytes.split(|&byte| byte == b'\n');
        let first = lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        let (layout, open) = match Layout::of(path)? {
            Layout::Open if is_uai(first) => (Layout::Uai, true),
            Layout::Open if is_json(first) => (Layout::Lines, true),
            Layout::Open => (Layout::Single, true),
            layout => (layout, false),
        };
        Ok(match layout {
            Layout::Uai => Content::Uai(self),
            Layout::Lines => {
                let (name, reader) = (self.name, Box::new(io::Cursor::new(self.bytes)));
                let stream = Stream { name, size: None, reader, memory: MemoryLimit::NONE };
                Content::Lines(Lines::of(stream, open))
            }
            Layout::Single | Layout::Open => Content::Single(self),
        })
    }

    /// A text that is not kept, by its name.
    pub fn unread(name: String) -> Self {
        Self { name, bytes: Vec::new(), is_line: true }
    }

    /// The same text, as the whole of its file.
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
    /// Its bytes, if it is a plain file.
    size: Option<u64>,
    reader: Box<dyn BufRead + Send>,
    /// The memory limit of a text that is held as a whole.
    memory: MemoryLimit,
}

impl Stream {
    /// Opens a file, a pipe, or standard input for `-`.
    pub fn open(path: &Path, memory: MemoryLimit) -> Result<Self> {
        let name = name(path);
        let mut size = None;
        let reader: Box<dyn BufRead + Send> = if path == Path::new("-") {
            Box::new(BufReader::new(standard_input()))
        } else {
            let wrong = |error: &dyn std::fmt::Display| bad_input(format!("{name}: {error}"));
            let file = fs::File::open(path).map_err(|error| wrong(&in_words(&error)))?;
            let is_batch = matches!(Layout::of(path), Ok(Layout::Lines));
            size = file.metadata().ok().filter(|found| found.is_file()).map(|found| found.len());
            let held = if is_batch { 0 } else { size.unwrap_or(0) };
            memory.check_text(held as f64).map_err(|error| wrong(&error))?;
            Box::new(BufReader::new(file))
        };
        Ok(Self { name, size, reader, memory })
    }

    /// The same text, without a byte-order mark at its beginning.
    pub fn without_mark(mut self) -> Result<Self> {
        let start = self.taken(MARK)?;
        if is_utf16(&start) {
            let found = "found UTF-16, expected UTF-8; save the file as UTF-8";
            return Err(bad_input(format!("{}: {found}", self.name)));
        }
        self.put_back(without_mark(&start).to_vec());
        Ok(self)
    }

    /// Its first bytes, which are still there to be read; fewer if it is shorter.
    pub fn start(&mut self, count: usize) -> Result<Vec<u8>> {
        let start = self.taken(count)?;
        self.put_back(start.clone());
        Ok(start)
    }

    /// Its first bytes.
    fn taken(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut start = Vec::with_capacity(count);
        let read = self.reader.by_ref().take(count as u64).read_to_end(&mut start);
        read.map_err(|error| self.failed(error))?;
        Ok(start)
    }

    fn put_back(&mut self, start: Vec<u8>) {
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(start).chain(rest));
    }

    /// One byte more than a text may have, so that a longer one is noticed.
    fn room(&self) -> u64 {
        self.memory.most_text(TEXT_SHARE).saturating_add(1)
    }

    /// All that is left, after what was already read.
    pub fn rest(mut self, mut bytes: Vec<u8>) -> Result<Source> {
        let room = self.room();
        let read = self.reader.by_ref().take(room).read_to_end(&mut bytes);
        read.map_err(|error| self.failed(error))?;
        self.check(&bytes).map_err(|error| bad_input(format!("{}: {error}", self.name)))?;
        Ok(Source { name: self.name, bytes, is_line: false })
    }

    /// Splits it by the layout that the path's extension or its first bytes show.
    pub fn content(mut self, path: &Path) -> Result<Content> {
        let layout = Layout::of(path)?;
        let mut first = Vec::new();
        if matches!(layout, Layout::Lines) {
            return Ok(Content::Lines(Lines::of(self, false)));
        }
        let mut lines = 0;
        if matches!(layout, Layout::Open) {
            while first.trim_ascii().is_empty() && self.line(&mut first)? {
                // A first line that is too long may be the whole text.
                self.check(&first).map_err(|error| bad_input(format!("{}: {error}", self.name)))?;
                lines += 1;
            }
        }
        let (is_uai, is_whole) = (is_uai(&first), is_json(&first));
        match layout {
            Layout::Open if !is_uai && is_whole => {
                let first = Some(self.source(lines, first));
                Ok(Content::Lines(Lines { number: lines, first, ..Lines::of(self, true) }))
            }
            Layout::Uai => Ok(Content::Uai(self.rest(first)?)),
            Layout::Open if is_uai => Ok(Content::Uai(self.rest(first)?)),
            _ => Ok(Content::Single(self.rest(first)?)),
        }
    }

    /// Adds the next line, or the part of it that shows that it is too long; false at the end.
    fn line(&mut self, bytes: &mut Vec<u8>) -> Result<bool> {
        let room = self.room();
        let read = self.reader.by_ref().take(room).read_until(b'\n', bytes);
        Ok(read.map_err(|error| self.failed(error))? > 0)
    }

    /// Skips the rest of a line, without keeping it.
    fn skip_line(&mut self) -> Result<()> {
        self.reader.skip_until(b'\n').map(drop).map_err(|error| self.failed(error))
    }

    /// Refuses a text that is too long.
    fn check(&self, bytes: &[u8]) -> Result<(), TooLarge> {
        self.memory.check_text(bytes.len() as f64)
    }

    /// A line, counted from 1.
    fn source(&self, number: usize, bytes: Vec<u8>) -> Source {
        Source { name: format!("{}:{number}", self.name), bytes, is_line: true }
    }

    fn failed(&self, error: io::Error) -> anyhow::Error {
        bad_input(format!("{}: {}", self.name, in_words(&error)))
    }
}

/// Why there is no line.
pub enum LineError {
    /// This line takes too much memory; those after it can be read.
    TooLarge { name: String, error: TooLarge },
    /// The text cannot be read any further.
    Failed(anyhow::Error),
}

impl From<LineError> for anyhow::Error {
    fn from(error: LineError) -> Self {
        match error {
            LineError::TooLarge { name, error } => bad_input(format!("{name}: {error}")),
            LineError::Failed(error) => error,
        }
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
    /// Whether the rest of a line that is too long comes next.
    inside: bool,
}

impl Lines {
    fn of(stream: Stream, open: bool) -> Self {
        Self { stream, number: 0, first: None, open, inside: false }
    }

    /// The name of the text.
    pub fn name(&self) -> &str {
        &self.stream.name
    }

    /// The bytes of the text, if they are known.
    pub fn size(&self) -> Option<u64> {
        self.stream.size
    }

    /// Whether a single line would be a text of its own, and not a batch of one.
    pub fn may_be_one_text(&self) -> bool {
        self.open
    }

    /// The next line; none at the end.
    fn read(&mut self) -> Result<Option<Source>, LineError> {
        if std::mem::take(&mut self.inside) {
            self.stream.skip_line().map_err(LineError::Failed)?;
        }
        let mut bytes = Vec::new();
        while self.stream.line(&mut bytes).map_err(LineError::Failed)? {
            self.number += 1;
            let is_ended = bytes.last() == Some(&b'\n');
            if let Err(error) = self.stream.check(&bytes) {
                self.inside = !is_ended;
                let name = format!("{}:{}", self.stream.name, self.number);
                return Err(LineError::TooLarge { name, error });
            }
            if is_ended {
                bytes.pop();
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(self.stream.source(self.number, bytes)));
            }
            bytes.clear();
        }
        Ok(None)
    }
}

impl Iterator for Lines {
    type Item = Result<Source, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => self.read().transpose(),
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
                let name = path.display();
                if let Err(error) = fs::metadata(path) {
                    return Err(bad_input(format!("{name}: {}", in_words(&error))));
                }
                let (kind, advice) = match other {
                    "evid" => (
                        "UAI evidence",
                        format!("; evidence goes with a model: MODEL.uai --evidence {name}"),
                    ),
                    "gz" => {
                        ("a gzip file", format!("; unpack it, as in `zcat {name} | bethe … -`"))
                    }
                    _ => ("an unknown kind of file", String::new()),
                };
                let expected = "expected a .json, .jsonl or .uai file, or - for standard input";
                Err(bad_input(format!("{name}: found {kind} (.{other}), {expected}{advice}")))
            }
        }
    }
}

/// Opens a file, a pipe, or standard input for `-`.
pub fn read(path: &Path, memory: MemoryLimit) -> Result<Content> {
    let others = [Kind::Model, Kind::Csv, Kind::Labelled, Kind::Binary];
    refuse(path, &others, "a problem: .json, .jsonl or .uai")?;
    Layout::of(path)?;
    Stream::open(path, memory)?.without_mark()?.content(path)
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
