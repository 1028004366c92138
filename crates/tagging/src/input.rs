use bethe_learn::attributes::{Attributes, FindAttributes};
use bethe_learn::corpus::Corpus;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::data::{DataError, Format, Sequence, columns};
use super::features::{Cells, ExtractError, Extracted, Extractor, Workspace};

/// Where a file has attributes and labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Input {
    /// A column file.
    Columns {
        /// Columns of the training file.
        columns: usize,
        /// The label's column, from 0.
        label: usize,
        /// The columns that the template's columns stand for, from 0.
        observed: Vec<usize>,
    },
    /// An attribute file.
    Attributes,
    /// Given scores of the states.
    Scores,
}

/// What turns the rows of a sequence into numbers of attributes.
pub struct Vocabulary<'a, Known = Attributes> {
    /// The template and the lexicons.
    pub extractor: &'a Extractor,
    /// Numbers of attributes.
    pub attributes: &'a Known,
}

// Derived, these would ask for attributes that can be copied.
impl<Known> Clone for Vocabulary<'_, Known> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Known> Copy for Vocabulary<'_, Known> {}

/// Why a sequence does not fit a model.
#[derive(Debug, Error)]
pub enum InputError {
    /// Too few columns.
    #[error(
        "{path}:{line}: {}, expected at least {expected}, since the model reads column {expected}",
        columns(*found)
    )]
    Columns {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Too many columns.
    #[error(
        "{path}:{line}: found {}, expected {expected} as in the training file, or {} without the label's",
        columns(*found), *expected - 1
    )]
    TooManyColumns {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// How many there are.
        found: usize,
        /// How many the training file has.
        expected: usize,
    },
    /// A cell that should be a number.
    #[error("{path}:{line}: {error}")]
    Cell {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// What is wrong.
        error: ExtractError,
    },
    /// An attribute that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
}

impl Input {
    /// How files of this kind are read.
    pub fn format(&self) -> Format {
        match self {
            Self::Attributes => Format::Attributes,
            Self::Columns { .. } | Self::Scores => Format::Columns,
        }
    }

    /// The label of each row, if the file has labels.
    pub fn labels<'a>(&self, sequence: &'a Sequence) -> Option<Vec<std::borrow::Cow<'a, str>>> {
        match self {
            Self::Columns { label, .. } => {
                self.has_labels(sequence).then_some(())?;
                let cells = (0..sequence.len()).map(|t| sequence.cell(t, *label).map(Into::into));
                cells.collect()
            }
            Self::Attributes => {
                let labels: Vec<_> =
                    (0..sequence.len()).map(|t| sequence.attribute_label(t)).collect();
                labels.iter().any(|label| !label.is_empty()).then_some(labels)
            }
            Self::Scores => {
                let last = sequence.columns(0).checked_sub(1)?;
                (0..sequence.len()).map(|t| sequence.cell(t, last).map(Into::into)).collect()
            }
        }
    }

    /// Whether a column file has the label column: as many columns as the training file.
    fn has_labels(&self, sequence: &Sequence) -> bool {
        matches!(self, Self::Columns { columns, .. } if sequence.columns(0) == *columns)
    }

    /// The attributes of a sequence.
    pub fn extract<'a>(
        &self,
        extractor: &'a Extractor,
        sequence: &Sequence,
        workspace: &'a mut Workspace,
    ) -> Result<Extracted<'a>, InputError> {
        match self {
            Self::Columns { label, observed, columns } => {
                let (found, expected) = (sequence.columns(0), *columns);
                if found > expected {
                    let path = sequence.path().display().to_string();
                    let line = sequence.line(0);
                    return Err(InputError::TooManyColumns { path, line, found, expected });
                }
                let shift = usize::from(!self.has_labels(sequence));
                let place = |&column: &usize| column - if column > *label { shift } else { 0 };
                let places: Vec<usize> = observed.iter().map(place).collect();
                let view = Observed { sequence, places: &places };
                if let Some(column) = extractor.template().highest_column()
                    && let Some(&expected) = places[..=column].iter().max()
                    && expected >= found
                {
                    return Err(InputError::Columns {
                        path: sequence.path().display().to_string(),
                        line: sequence.line(0),
                        found,
                        expected: expected + 1,
                    });
                }
                extractor.extract(&view, workspace).map_err(|error| InputError::Cell {
                    path: sequence.path().display().to_string(),
                    line: sequence.line(error.position()),
                    error,
                })
            }
            Self::Attributes | Self::Scores => {
                workspace.clear();
                for t in (0..sequence.len()).filter(|_| *self == Self::Attributes) {
                    sequence.visit_attributes(t, |name, value| workspace.give(t, name, value))?;
                }
                Ok(Extracted { extractor, workspace })
            }
        }
    }

    /// Adds a sequence's known attributes to a corpus.
    pub fn observe(
        &self,
        Vocabulary { extractor, attributes }: Vocabulary<impl FindAttributes>,
        sequence: &Sequence,
        workspace: &mut Workspace,
        corpus: &mut Corpus,
    ) -> Result<(), InputError> {
        let extracted = self.extract(extractor, sequence, workspace)?;
        let mut position = 0;
        attributes.find_all(
            extracted.attributes(),
            |attribute| attribute.hash(),
            |attribute, text| extracted.is(attribute, text),
            |attribute, number| {
                while position < attribute.position() {
                    corpus.end_position();
                    position += 1;
                }
                if let Some(number) = number {
                    corpus.push(number, in_range(attribute.value()));
                }
            },
        );
        for _ in position..sequence.len() {
            corpus.end_position();
        }
        corpus.end_sequence();
        Ok(())
    }
}

/// A value as stored in corpora: the nearest finite one.
pub(super) fn in_range(value: f64) -> f32 {
    (value as f32).clamp(f32::MIN, f32::MAX)
}

/// The columns of a sequence that a template may read.
struct Observed<'a> {
    sequence: &'a Sequence,
    places: &'a [usize],
}

impl Cells for Observed<'_> {
    fn len(&self) -> usize {
        self.sequence.len()
    }

    fn cell(&self, position: usize, column: usize) -> Option<&str> {
        self.sequence.cell(position, *self.places.get(column)?)
    }
}
