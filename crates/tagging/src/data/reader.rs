use std::fmt;
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use super::{DataError, Format, Sequence};
use bethe_core::MemoryLimit;
use bethe_core::memory::TEXT_SHARE;
use bethe_io::{TooLarge, is_utf16, open, without_mark};

/// A list that grows is held twice for a moment, the second time with room for as much again.
const GROWING: f64 = 3.0;
/// A list that has grown may have room for as much again.
const KEPT: f64 = 2.0;
/// What callers that keep all sequences hold of each: its lists.
const BYTES_PER_SEQUENCE: f64 = 150.0;
/// And of each position: the numbers of its attributes.
const BYTES_PER_POSITION: f64 = 200.0;
/// What comments begin with in most files that have them.
const COMMENT: char = '#';
/// The cells of a row of more bytes are counted before they are stored.
const LONG_ROW: usize = 1 << 16;

/// What all rows of a file are compared with.
#[derive(Clone, Copy)]
struct FirstRow {
    line: usize,
    columns: usize,
    is_comment: bool,
}

/// The sequences of a file, one at a time. After an error there are no more.
///
/// A blank line ends a sequence; several in a row count as one. Line ends may be CRLF. A byte order
/// mark at the start is skipped, and so are lines that [begin a document](Sequence::begins_document).
pub struct Sequences<R> {
    input: R,
    path: Arc<Path>,
    format: Format,
    comments: Option<char>,
    /// Whether lines that begin a document are sequences too.
    with_documents: bool,
    /// The memory limit of each sequence.
    memory: MemoryLimit,
    /// Of the sequences so far, where all of them share the limit.
    held: Option<f64>,
    /// The line read last.
    line: usize,
    /// Where in the file it begins.
    offset: u64,
    /// Its bytes.
    bytes: Vec<u8>,
    /// The first row.
    first: Option<FirstRow>,
    finished: bool,
}

impl Sequences<Box<dyn BufRead + Send>> {
    /// Reads a file, unpacked if needed, or standard input for `-`.
    pub fn open(path: impl AsRef<Path>, format: Format) -> Result<Self, DataError> {
        Ok(Self::new(open(path.as_ref())?, path, format))
    }
}

impl<R: BufRead> Sequences<R> {
    /// Reads `input`; errors name `path`.
    pub fn new(input: R, path: impl AsRef<Path>, format: Format) -> Self {
        Self {
            input,
            path: path.as_ref().into(),
            format,
            comments: None,
            with_documents: false,
            memory: MemoryLimit::NONE,
            held: None,
            line: 0,
            offset: 0,
            bytes: Vec::new(),
            first: None,
            finished: false,
        }
    }

    /// Skips lines that start with this character; by default every line is a row.
    pub fn comments(mut self, start: impl Into<Option<char>>) -> Self {
        self.comments = start.into();
        self
    }

    /// Gives lines that [begin a document](Sequence::begins_document) as sequences, for those who copy
    /// them.
    pub fn with_documents(mut self) -> Self {
        self.with_documents = true;
        self
    }

    /// Refuses a sequence that takes more memory than this; by default it may have 2 GiB of text.
    pub fn within(mut self, memory: MemoryLimit) -> Self {
        self.memory = memory;
        self
    }

    /// Refuses a file whose sequences take more memory than this together, for those who keep them
    /// all.
    pub fn all_within(mut self, memory: MemoryLimit) -> Self {
        self.memory = memory;
        self.held = Some(0.0);
        self
    }

    fn read_sequence(&mut self) -> Result<Option<Sequence>, DataError> {
        let mut sequence = Sequence::new(self.path.clone());
        while self.read_line(&sequence)? {
            let row = self.text()?;
            if self.comments.is_some_and(|start| row.starts_with(start)) {
                continue;
            }
            if !row.bytes().all(|byte| byte.is_ascii_whitespace()) {
                if row.len() > LONG_ROW {
                    self.check_memory(sequence.bytes() + Sequence::bytes_of_row(row))?;
                }
                let is_comment = row.starts_with(COMMENT);
                let columns = sequence.push(self.line, row, self.format);
                self.check(columns, is_comment)?;
                self.check_memory(sequence.bytes())?;
            } else if !sequence.is_empty() {
                break;
            }
        }
        if let Some(held) = &mut self.held {
            *held += KEPT * sequence.bytes()
                + BYTES_PER_SEQUENCE
                + BYTES_PER_POSITION * sequence.len() as f64;
        }
        Ok(Some(sequence).filter(|sequence| !sequence.is_empty()))
    }

    /// Whether what there is of a sequence fits.
    fn check_memory(&self, bytes: f64) -> Result<(), DataError> {
        let (what, before) = match self.held {
            None => ("the sequence", 0.0),
            Some(held) => ("the file", held),
        };
        self.memory.check(what, before + GROWING * bytes).map_err(|error| self.too_large(error))
    }

    fn too_large(&self, error: TooLarge) -> DataError {
        DataError::TooLarge { path: self.path.to_path_buf(), line: self.line, error }
    }

    /// Reads the next line into `bytes`; false at the end of the file.
    fn read_line(&mut self, sequence: &Sequence) -> Result<bool, DataError> {
        self.offset += self.bytes.len() as u64;
        self.line += 1;
        self.bytes.clear();
        let most = self.memory.most_text(TEXT_SHARE);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let room = sequence.room().min(most);
        let mut limited = self.input.by_ref().take(room as u64 + 1);
        limited.read_until(b'\n', &mut self.bytes).map_err(|source| DataError::Read {
            path: self.path.to_path_buf(),
            line: self.line,
            source,
        })?;
        if self.bytes.len() > room {
            let text = self.memory.check_text(self.bytes.len() as f64);
            text.map_err(|error| self.too_large(error))?;
            return Err(sequence.too_long(self.line));
        }
        Ok(!self.bytes.is_empty())
    }

    /// The text of the line read last.
    fn text(&self) -> Result<&str, DataError> {
        if self.line == 1 && is_utf16(&self.bytes) {
            return Err(DataError::Utf16 { path: self.path.to_path_buf() });
        }
        let bytes = if self.line == 1 { without_mark(&self.bytes) } else { &self.bytes };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let skipped = self.bytes.len() - bytes.len();
            DataError::NotUtf8 {
                path: self.path.to_path_buf(),
                line: self.line,
                offset: self.offset + (skipped + error.valid_up_to()) as u64,
                found: bytes[error.valid_up_to()],
            }
        })?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        match self.line == 1 && text.contains('\r') {
            true => Err(DataError::MacLines { path: self.path.to_path_buf() }),
            false => Ok(text),
        }
    }

    /// Compares a row with the first.
    fn check(&mut self, found: usize, is_comment: bool) -> Result<(), DataError> {
        let row = FirstRow { line: self.line, columns: found, is_comment };
        let first = *self.first.get_or_insert(row);
        if self.format != Format::Columns || found == first.columns {
            return Ok(());
        }
        let comment = [first, row].into_iter().find(|row| row.is_comment);
        Err(DataError::Ragged {
            path: self.path.to_path_buf(),
            line: self.line,
            found,
            expected: first.columns,
            first_line: first.line,
            comment: comment.map(|row| row.line),
        })
    }
}

/// Without asking it of `R`, which may be a `dyn BufRead`.
impl<R> fmt::Debug for Sequences<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Sequences");
        shown.field("path", &self.path).field("format", &self.format).field("line", &self.line);
        shown.finish_non_exhaustive()
    }
}

impl<R: BufRead> Iterator for Sequences<R> {
    type Item = Result<Sequence, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let skips = !self.with_documents;
        let sequence = loop {
            match self.read_sequence().transpose() {
                Some(Ok(sequence)) if skips && sequence.begins_document() => {}
                sequence => break sequence,
            }
        };
        self.finished = !matches!(sequence, Some(Ok(_)));
        sequence
    }
}
