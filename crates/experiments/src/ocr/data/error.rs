use std::io;
use std::path::PathBuf;

use bethe_io::in_words;
use thiserror::Error;

/// Why a file of handwriting cannot be read.
#[derive(Debug, Error)]
pub enum DataError {
    /// It does not open.
    #[error(transparent)]
    Open(#[from] bethe_io::OpenError),
    /// A line of it is wrong; lines count from 1.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        fault: Fault,
    },
}

/// One variant per way a line can be wrong.
#[derive(Debug, Error)]
pub enum Fault {
    /// The system, or the packing, failed.
    #[error("{}", in_words(.0))]
    Read(io::Error),
    /// Bytes that are not text.
    #[error("found bytes that are not text, expected tab-separated columns")]
    NotText,
    /// Another number of columns.
    #[error("found {found} tab-separated columns, expected {expected} (6 and 16 × 8 pixels)")]
    Columns {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A cell that does not say what its column is for.
    #[error("column {column}, {what}: found {found:?}, expected {expected}")]
    Cell {
        /// The column, from 1.
        column: usize,
        /// The column's meaning.
        what: &'static str,
        /// The cell.
        found: String,
        /// What would fit.
        expected: &'static str,
    },
    /// A letter that does not follow the one before, or does not begin a word.
    #[error("{what}: found {found}, expected {expected} after the line before")]
    Order {
        /// Which column.
        what: &'static str,
        /// What it holds.
        found: u64,
        /// What would follow.
        expected: u64,
    },
    /// The file ends within a word.
    #[error("the file ends, expected letter {next}, which the last line announces")]
    Unfinished {
        /// The id of the missing letter.
        next: u64,
    },
    /// There is no letter at all.
    #[error("the file is empty, expected at least one word")]
    Empty,
}
