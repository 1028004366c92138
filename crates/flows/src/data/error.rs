use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::CellError;
use bethe_io::{OpenError, TooLarge, in_words};

/// One variant per way a file of cells, counts or covariates can be wrong. The path is as the
/// caller gave it, lines count from 1.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file could not be read further.
    #[error("{}:{line}: cannot read: {}", path.display(), in_words(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The line that was being read.
        line: u64,
        /// What the system says.
        source: io::Error,
    },
    /// Bytes that are not text.
    #[error(
        "{}:{line}: found bytes that are not UTF-8, expected text; spreadsheets save it as CSV UTF-8",
        path.display()
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// UTF-16 text.
    #[error("{}: found UTF-16, expected UTF-8; spreadsheets save it as CSV UTF-8", path.display())]
    Utf16 {
        /// The file.
        path: PathBuf,
    },
    /// Nothing in it.
    #[error("{}: the file is empty, expected a header", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A header and nothing else.
    #[error("{}: found no rows after the header, expected at least one", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// A row with a different number of values than the header.
    #[error(
        "{}:{line}: found {found} values, expected {expected} as in the header{}",
        path.display(),
        decimal_commas(*found, *expected, *separator)
    )]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// How many values it has.
        found: usize,
        /// How many columns the header has.
        expected: usize,
        /// What stands between values.
        separator: u8,
    },
    /// A header that lacks something.
    #[error("{}:1: found the columns {}, expected {expected}", path.display(), listed(found))]
    Columns {
        /// The file.
        path: PathBuf,
        /// The header.
        found: Vec<String>,
        /// What is missing.
        expected: String,
    },
    /// Numbers where the names of columns should be.
    #[error(
        "{}:1: found numbers, expected names: the first line must name the columns, in a file of \
         counts the time and the cells",
        path.display()
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// Two columns with the same name.
    #[error(
        "{}:1, column {column}: found the column {name:?} a second time, expected each once",
        path.display()
    )]
    RepeatedColumn {
        /// The file.
        path: PathBuf,
        /// Number of the second one, from 1.
        column: usize,
        /// The name.
        name: String,
    },
    /// A value that does not fit.
    #[error("{}:{line}, column {column}: found {found:?}, expected {expected}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Name of the column.
        column: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: &'static str,
    },
    /// A cell that does not exist.
    #[error(
        "{}:{line}, column {column}: found the cell {name:?}, expected one of the {known} cells of {}{}",
        path.display(), cells.display(), if *is_header { LONG } else { "" }
    )]
    UnknownCell {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Number of the column, from 1.
        column: usize,
        /// The name.
        name: String,
        /// The file of cells.
        cells: PathBuf,
        /// How many there are.
        known: usize,
        /// Whether it is the name of a column, in a header without a single cell.
        is_header: bool,
    },
    /// Coordinates that no cell has.
    #[error(
        "{}:{line}: found the coordinates {}, {}, expected those of one of the {known} cells of {}",
        path.display(), found.0, found.1, cells.display()
    )]
    NoCellThere {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The coordinates.
        found: (f64, f64),
        /// The file of cells.
        cells: PathBuf,
        /// How many there are.
        known: usize,
    },
    /// A cell that is left out.
    #[error(
        "{}: found no {what} for the cell {name:?}, expected one for each cell of {}",
        path.display(), cells.display()
    )]
    MissingCell {
        /// The file.
        path: PathBuf,
        /// What a cell should have there.
        what: &'static str,
        /// The cell.
        name: String,
        /// The file of cells.
        cells: PathBuf,
    },
    /// A second row for the same key.
    #[error("{}:{line}: found {what} a second time, expected each once", path.display())]
    Repeated {
        /// The file.
        path: PathBuf,
        /// The line of the second one.
        line: u64,
        /// What it is for.
        what: String,
    },
    /// A time that is left out.
    #[error(
        "{}: found no row for the time {time:?}, expected one for each time but the last",
        path.display()
    )]
    MissingTime {
        /// The file.
        path: PathBuf,
        /// The time.
        time: String,
    },
    /// More than the memory limit allows.
    #[error("{}: {error}; a higher --memory-limit allows more", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How much it is.
        error: TooLarge,
    },
    /// Cells that are not valid.
    #[error("{}: {source}", path.display())]
    Cells {
        /// The file.
        path: PathBuf,
        /// Why.
        source: CellError,
    },
}

/// A hint for a header that names no cell at all.
const LONG: &str = "; for a row per count, name the columns time, cell and count";

/// The first of some names, in words.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A hint where a comma may separate values or decimals.
fn decimal_commas(found: usize, expected: usize, separator: u8) -> &'static str {
    match found > expected && separator == b',' {
        true => "; if numbers have decimal commas, put semicolons between values",
        false => "",
    }
}
