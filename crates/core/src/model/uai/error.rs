use thiserror::Error;

use crate::model::ModelError;

/// One variant per way a file can be wrong, with its place and what was found there.
///
/// The message does not name the file; the caller puts that in front.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum UaiError {
    /// A word that does not belong there.
    #[error("line {line}, column {column}: found {found:?}, expected {expected}")]
    Word {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// What is there.
        found: String,
        /// What belongs there.
        expected: String,
    },
    /// The text ends too early.
    #[error("line {line}: found the end of the text, expected {expected}")]
    End {
        /// The last line, counted from 1.
        line: usize,
        /// What belongs there.
        expected: String,
    },
    /// An error of the model.
    #[error("line {line}, column {column}: {error} (in {part})")]
    Model {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// The part of the file.
        part: String,
        /// What is wrong.
        error: ModelError,
    },
    /// Evidence names one variable twice.
    #[error(
        "line {line}, column {column}: found a second observation of variable {variable}, \
         expected at most one"
    )]
    RepeatedEvidence {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// The variable.
        variable: usize,
    },
}
