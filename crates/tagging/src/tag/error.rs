use bethe_core::memory::TooLarge;
use bethe_core::solve::SolveError;
use thiserror::Error;

use super::MOST_SCORE;
use crate::input::InputError;

/// Why a sequence cannot be tagged.
#[derive(Debug, Error)]
pub enum TagError {
    /// It does not fit the model.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The solver does not support the tagger's rules, or a setting is out of its range.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A forced label is not one of the model's.
    #[error(
        "{path}:{line}: the label {found:?} is not one of the model's; _ leaves the choice open"
    )]
    UnknownLabel {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// The label.
        found: String,
    },
    /// A label that is neither one nor `_`.
    #[error("{path}:{line}: found an empty label, expected a label; _ leaves the choice open")]
    EmptyLabel {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// Labels should be forced, but there are none.
    #[error("{path}:{line}: found no label column, which --force needs")]
    NoLabels {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// No sequence of labels is allowed.
    #[error("{path}:{line}: no sequence of labels is allowed: {why}")]
    Impossible {
        /// The file.
        path: String,
        /// The sequence's first line.
        line: usize,
        /// What forbids them.
        why: &'static str,
    },
    /// More positions than a limit of memory allows.
    #[error("{path}:{line}: {error}; a higher --memory-limit allows more")]
    TooLarge {
        /// The file.
        path: String,
        /// The sequence's first line.
        line: usize,
        /// How much it is.
        error: TooLarge,
    },
    /// A score that is not valid.
    #[error(
        "score {place} is {found:e}, expected a number between ±{MOST_SCORE:e}, or -∞ to forbid a label"
    )]
    NotAScore {
        /// Its place among the scores of the sequence.
        place: usize,
        /// The score.
        found: f64,
    },
    /// Scores do not fit the model.
    #[error("found {found} scores, expected rows of {expected}")]
    Scores {
        /// How many.
        found: usize,
        /// Labels of the model.
        expected: usize,
    },
}
