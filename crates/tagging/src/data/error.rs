use std::io;
use std::path::PathBuf;

use bethe_io::{OpenError, TooLarge};
use thiserror::Error;

/// One variant per way a file of sequences can be wrong. The path is as the caller gave it, lines
/// count from 1.
#[derive(Debug, Error)]
pub enum DataError {
    /// The file does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file could not be read further.
    #[error("{}:{line}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The line that was being read.
        line: usize,
        /// What the system says, or a [`bethe_io::GzipError`].
        source: io::Error,
    },
    /// A text that some spreadsheets and editors save.
    #[error("{}: found UTF-16, expected UTF-8; save the file as UTF-8", path.display())]
    Utf16 {
        /// The file.
        path: PathBuf,
    },
    /// A text in one line, with line ends of old Macs.
    #[error(
        "{}: found line ends of old Macs (CR), expected LF or CRLF; convert the file, as in \
         `tr '\\r' '\\n' < FILE`",
        path.display()
    )]
    MacLines {
        /// The file.
        path: PathBuf,
    },
    /// Bytes that are not text.
    #[error(
        "{}:{line}: found the byte 0x{found:02X} at offset {offset}, expected text in UTF-8; save the \
         file as UTF-8, or convert it, as in `iconv -f latin1 -t utf-8 FILE`",
        path.display()
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// Offset in the (unpacked) file of the first byte that does not fit, from 0.
        offset: u64,
        /// That byte.
        found: u8,
    },
    /// A row with a different number of columns than the first row of the file.
    #[error(
        "{}:{line}: found {}, expected {expected} as in line {first_line}; {}",
        path.display(), columns(*found), advice(*comment)
    )]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// Its number of columns.
        found: usize,
        /// The number of columns of the first row.
        expected: usize,
        /// The line of the first row.
        first_line: usize,
        /// The one of the two lines that looks like a comment.
        comment: Option<usize>,
    },
    /// More than a limit of memory allows.
    #[error("{}:{line}: {error}; a higher --memory-limit allows more", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The line that was being read.
        line: usize,
        /// How much it is.
        error: TooLarge,
    },
    /// A sequence whose text does not fit its 32-bit offsets.
    #[error(
        "{}:{line}: the sequence is longer than {limit} bytes; a blank line ends a sequence",
        path.display()
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line that passes the limit.
        line: usize,
        /// The limit.
        limit: usize,
    },
    /// An attribute value that is not a finite number.
    #[error(
        "{}:{line}: attribute {name:?} has the value {found:?}, expected a finite number",
        path.display()
    )]
    AttributeValue {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The attribute.
        name: String,
        /// What follows its colon.
        found: String,
    },
    /// A field that starts with its colon.
    #[error("{}:{line}: found {found:?}, expected a name before the colon", path.display())]
    AttributeName {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The field.
        found: String,
    },
}

/// Why rows may differ.
fn advice(comment: Option<usize>) -> String {
    match comment {
        Some(line) => format!("if line {line} is a comment, add --comments '#'"),
        None => "each line is one token".to_string(),
    }
}

/// `1 column`, `2 columns`.
pub(crate) fn columns(count: usize) -> String {
    if count == 1 { "1 column".to_string() } else { format!("{count} columns") }
}
