use std::path::PathBuf;

use thiserror::Error;

use super::function::{FUNCTIONS, LONGEST_AFFIX, MOST_BINS};
use super::template::{HIGHEST_COLUMN, WIDEST_ROW};

/// One variant per way a template can be wrong; `line` counts from 1.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum TemplateError {
    /// A line of no known kind.
    #[error("line {line}: found {found:?}, expected a line that begins with U, R, L, B or #")]
    UnknownLine {
        /// The line's number.
        line: usize,
        /// The line.
        found: String,
    },
    /// Transitions that look at cells.
    #[error(
        "line {line}: found {found:?}, expected a plain B, \
         since transitions depend on labels only, not on cells"
    )]
    BigramWithCells {
        /// The line's number.
        line: usize,
        /// The line.
        found: String,
    },
    /// A percent sign that begins no function.
    #[error(
        "line {line}: found {found:?}, expected a function such as %x[0,0], or %% for a percent sign"
    )]
    LonePercent {
        /// The line's number.
        line: usize,
        /// The rest of the line from the percent sign on.
        found: String,
    },
    /// A function that does not exist.
    #[error(
        "line {line}: found the function %{found}, expected one of {FUNCTIONS}; a percent sign is %%"
    )]
    UnknownFunction {
        /// The line's number.
        line: usize,
        /// The name.
        found: String,
    },
    /// A prefix or suffix of a length out of range.
    #[error(
        "line {line}: found %{found}, expected a length from 1 to {LONGEST_AFFIX} as in %prefix3"
    )]
    AffixLength {
        /// The line's number.
        line: usize,
        /// The name with its length.
        found: String,
    },
    /// A number of bins out of range.
    #[error("line {line}: found %{found}, expected from 2 to {MOST_BINS} bins as in %position12")]
    Bins {
        /// The line's number.
        line: usize,
        /// The name with its number of bins.
        found: String,
    },
    /// A function without brackets, or with the wrong number of arguments in them.
    #[error("line {line}: found {found:?}, expected {expected}")]
    Arguments {
        /// The line's number.
        line: usize,
        /// The function and what follows it.
        found: String,
        /// The form the arguments should have.
        expected: &'static str,
    },
    /// A row that is not a number, or too far away.
    #[error(
        "line {line}: found the row {found:?}, \
         expected a whole number from -{WIDEST_ROW} to {WIDEST_ROW}"
    )]
    Row {
        /// The line's number.
        line: usize,
        /// The text.
        found: String,
    },
    /// A column that is not a number, or too high.
    #[error(
        "line {line}: found the column {found:?}, expected a whole number from 0 to {HIGHEST_COLUMN}"
    )]
    Column {
        /// The line's number.
        line: usize,
        /// The text.
        found: String,
    },
    /// A numeric line that is not a name and one whole cell.
    #[error("line {line}: found {found:?}, expected a name and one cell, as in R01:%x[0,2]")]
    Numeric {
        /// The line's number.
        line: usize,
        /// The line.
        found: String,
    },
    /// A line of lexicons that is not a name and a range of rows.
    #[error(
        "line {line}: found {found:?}, expected a name and rows, as in L01:%lists[-1], \
         L02:%lists[1,10] or L03:%lists[1,10]=name"
    )]
    Lists {
        /// The line's number.
        line: usize,
        /// The line.
        found: String,
    },
    /// Two lines whose attributes could be the same string.
    #[error(
        "line {line}: starts with {found:?} like line {first}, \
         expected a different name so that their attributes differ"
    )]
    SharedName {
        /// The later line's number.
        line: usize,
        /// The earlier line's number.
        first: usize,
        /// What both begin with.
        found: String,
    },
    /// Nothing but comments.
    #[error("found no line that starts with U, R or B, expected at least one")]
    Empty,
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A mistake in a file.
    #[error("{}: {mistake}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The mistake.
        mistake: Box<TemplateError>,
    },
}

/// One variant per way lists of names can be wrong.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LexiconError {
    /// A file or folder cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A folder without lists.
    #[error("{}: found no files, expected at least one list", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A list without entries.
    #[error("{}: found no entry, expected one word or phrase per line", path.display())]
    EmptyList {
        /// The file.
        path: PathBuf,
    },
    /// A file whose stem is not usable as a name.
    #[error("found the list name {found:?}, expected one or more printable characters")]
    Name {
        /// The name.
        found: String,
    },
    /// Two lists with the same name.
    #[error("found two lists named {name:?}, expected distinct names")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// A mistake in a file.
    #[error("{}: {mistake}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The mistake.
        mistake: Box<LexiconError>,
    },
    /// Embedded text whose first entry belongs to no list.
    #[error("line {line}: found the entry {found:?} before any list, expected a [name] first")]
    EntryWithoutList {
        /// The line's number, from 1.
        line: usize,
        /// The entry.
        found: String,
    },
}

/// One variant per way a sequence can fail to have what a template reads.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ExtractError {
    /// The data has fewer columns than the template reads.
    #[error("position {position} has no column {column}, but {reader} reads it")]
    MissingColumn {
        /// The position, from 0.
        position: usize,
        /// The column, from 0.
        column: usize,
        /// Who reads it: a line of the template, or the lexicons.
        reader: String,
    },
    /// A numeric line meets text.
    #[error(
        "position {position}, column {column}: found {found:?}, expected a finite number, nothing \
         or _, since line {line} of the template reads it as a value"
    )]
    NotANumber {
        /// The position, from 0.
        position: usize,
        /// The column, from 0.
        column: usize,
        /// The cell.
        found: String,
        /// The template's line, from 1.
        line: usize,
    },
}

impl ExtractError {
    /// The position at which the error is, from 0.
    pub fn position(&self) -> usize {
        match self {
            Self::MissingColumn { position, .. } | Self::NotANumber { position, .. } => *position,
        }
    }
}
