use std::path::PathBuf;

use thiserror::Error;

use bethe_tagging::TagError;
use bethe_tagging::data::DataError;
use bethe_tagging::features::LexiconError;
use bethe_tagging::rules::RuleError;
use bethe_tagging::train::TrainError;

/// Why the experiment cannot be run.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// A file of references that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file without a reference, or with fewer than are needed.
    #[error("{}: found {found} references, expected at least {least}", path.display())]
    TooFew {
        /// The file.
        path: PathBuf,
        /// How many there are.
        found: usize,
        /// How many it takes.
        least: usize,
    },
    /// Word lists that cannot be read.
    #[error(transparent)]
    Lexicons(#[from] LexiconError),
    /// Training that is not possible.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Rules that do not fit.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A reference that cannot be tagged.
    #[error(transparent)]
    Tag(#[from] TagError),
}
