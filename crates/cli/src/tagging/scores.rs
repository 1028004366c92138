use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_learn::archive::{Archive, ArchiveError};
use bethe_tagging::MOST_SCORE;
use bethe_terminal::bad_input;

/// Scores of labels from a file: a matrix `[positions][labels]` per sequence.
pub struct Scores {
    path: PathBuf,
    labels: usize,
    matrices: Vec<Matrix>,
}

struct Matrix {
    name: String,
    values: Vec<f64>,
}

impl Scores {
    /// Reads a safetensors file: one tensor per sequence, in the order of their names, by number if
    /// all names are numbers. It must fit into the limit.
    pub fn read(path: &Path, labels: usize, memory: MemoryLimit) -> Result<Self> {
        let wrong = |message: String| bad_input(format!("{}: {message}", path.display()));
        let archive = Archive::read_any(path, memory).map_err(|error| match error {
            ArchiveError::Format { error, .. } => {
                wrong(format!("not a safetensors file, or damaged: {error}"))
            }
            other => bad_input(other.to_string()),
        })?;
        let mut names: Vec<&str> = archive.names().collect();
        let numbers: Option<Vec<u64>> = names.iter().map(|name| name.parse().ok()).collect();
        if numbers.is_some() {
            names.sort_by_key(|name| name.parse::<u64>().ok());
        }
        let mut matrices = Vec::with_capacity(names.len());
        for name in names {
            let shape = archive.shape(name).unwrap_or_default();
            if shape.len() != 2 || shape[1] != labels || shape[0] == 0 {
                return Err(wrong(format!(
                    "tensor {name}: found shape {shape:?}, expected [positions, {labels}]"
                )));
            }
            let values = archive.floats(name).map_err(|error| wrong(error.to_string()))?;
            let is_score = |value: &f64| value.abs() <= MOST_SCORE;
            if let Some(at) = values.iter().position(|value| !is_score(value)) {
                return Err(wrong(format!(
                    "tensor {name}: found {:e} in row {}, column {}, expected finite numbers \
                     between ±{MOST_SCORE:e}",
                    values[at],
                    at / labels,
                    at % labels
                )));
            }
            matrices.push(Matrix { name: name.to_string(), values });
        }
        Ok(Self { path: path.to_path_buf(), labels, matrices })
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.matrices.len()
    }

    /// The scores of a sequence. `[positions][labels]`
    pub fn values(&self, sequence: usize) -> &[f64] {
        &self.matrices[sequence].values
    }

    /// Positions of a sequence.
    pub fn positions(&self, sequence: usize) -> usize {
        self.values(sequence).len() / self.labels
    }

    /// The scores of all sequences.
    pub fn into_values(self) -> Vec<Vec<f64>> {
        self.matrices.into_iter().map(|matrix| matrix.values).collect()
    }

    /// Scores for the sequence at this place of a file, which must have equally many rows.
    pub fn for_rows(&self, sequence: usize, place: &str, rows: usize) -> Result<&[f64]> {
        let file = self.path.display();
        let Some(matrix) = self.matrices.get(sequence) else {
            return Err(bad_input(format!(
                "{file}: found {} tensors, but none for {place}",
                self.len()
            )));
        };
        let (name, found) = (&matrix.name, self.positions(sequence));
        if found != rows {
            return Err(bad_input(format!(
                "{file}: tensor {name}: found {found} positions, expected {rows} to match {place}"
            )));
        }
        Ok(&matrix.values)
    }

    /// An error if there are more than `sequences`.
    pub fn check_all_used(&self, sequences: usize, rows: &Path) -> Result<()> {
        if self.len() > sequences {
            return Err(bad_input(format!(
                "{}: found {} tensors, expected {sequences}, one per sequence of {}",
                self.path.display(),
                self.len(),
                rows.display()
            )));
        }
        Ok(())
    }
}
