//! The references of the experiment.

use std::collections::HashSet;
use std::path::Path;

use super::error::ExperimentError;
use bethe_tagging::data::{Format, Sequence, Sequences};

/// References with their labels, in the published split.
pub struct Splits {
    /// References to train on.
    pub train: Vec<Sequence>,
    /// References to choose settings on.
    pub dev: Vec<Sequence>,
    /// References that are scored once.
    pub test: Vec<Sequence>,
    /// Whether a test reference also occurs in train or dev, ignoring case and punctuation.
    pub leaked: Vec<bool>,
}

impl Splits {
    /// Reads `train.conll`, `dev.conll` and `test.conll` of a folder.
    pub fn read(folder: &Path) -> Result<Self, ExperimentError> {
        let [train, dev, test] =
            ["train", "dev", "test"].map(|name| read(&folder.join(format!("{name}.conll"))));
        let (train, dev, test) = (train?, dev?, test?);
        let seen: HashSet<String> = train.iter().chain(&dev).map(letters).collect();
        let leaked = test.iter().map(|sequence| seen.contains(&letters(sequence))).collect();
        Ok(Self { train, dev, test, leaked })
    }

    /// All that may be learned from.
    pub fn train_and_dev(&self) -> Vec<Sequence> {
        self.train.iter().chain(&self.dev).cloned().collect()
    }
}

/// All references of a file; an error if there are none.
pub(super) fn read(path: &Path) -> Result<Vec<Sequence>, ExperimentError> {
    let sequences: Result<Vec<Sequence>, _> = Sequences::open(path, Format::Columns)?.collect();
    let sequences = sequences?;
    if sequences.is_empty() {
        return Err(ExperimentError::TooFew { path: path.to_path_buf(), found: 0, least: 1 });
    }
    Ok(sequences)
}

/// The letters and digits of a reference, in lower case.
fn letters(sequence: &Sequence) -> String {
    let tokens = (0..sequence.len()).filter_map(|t| sequence.cell(t, 0));
    let letters = tokens.flat_map(str::chars).filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
