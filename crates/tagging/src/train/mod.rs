//! From labelled sequences to a [`Tagger`].
//!
//! The base model is a conditional random field, trained to its optimum or until F1 on development
//! data stops rising. Rules are generated from the training labels or declared. Their weights are
//! learned from predictions of models that did not see the truth, since a model breaks no rules on
//! its own training data: training data is cut into parts, each predicted by a model trained on the
//! others, and development data is predicted by the model of all.

mod base;
mod checkpoint;
mod choice;
mod columns;
mod event;
mod held_out;
mod joint;
mod numbering;
mod pool;
mod predict;
mod prepared;
mod resumed;
mod rules;
mod seen;
mod settings;
mod sharing;
mod stages;

use std::path::PathBuf;

use bethe_core::solve::SolveError;
use bethe_learn::archive::ArchiveError;
use thiserror::Error;

pub use choice::{Compared, Estimate};
pub use event::Event;
pub use held_out::{HeldOut, Prediction};
pub use prepared::GivenScores;
pub use rules::LearnedRules;
pub use settings::{
    AllowedTransitions, BaseSettings, Optimiser, RuleSettings, RuleSource, TrainSettings,
};
pub use stages::Base;

use super::data::{DataError, Sequence};
use super::input::InputError;
use super::labels::LabelError;
use super::model::Tagger;
use super::rule_training::NoRules;
use super::rules::{Candidates, RuleError, RuleFileError, Weight};
use super::score::OtherLabels;
use super::tag::MOST_SCORE;
use settings::FEWEST;

/// Why training is not possible.
#[derive(Debug, Error)]
pub enum TrainError {
    /// No sequence.
    #[error("there are no sequences to train on")]
    NoData,
    /// A token without a label.
    #[error("{path}:{line}: found no label, expected one for every token")]
    NoLabel {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// A column that is not there.
    #[error("{path}: found no column {found}, expected 1 to {columns}")]
    Column {
        /// The file.
        path: String,
        /// The column.
        found: usize,
        /// How many there are.
        columns: usize,
    },
    /// More observed columns than the default template has lines for.
    #[error(
        "{path}: found {found} observed columns, expected at most {most} without a template; choose \
         columns with --observe, or give a --template"
    )]
    TooManyColumns {
        /// The file.
        path: String,
        /// How many.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// More text than a model file holds.
    #[error(
        "the template, the lexicons and the labels take {found} bytes in a model file, expected at \
         most {most}; leave out entries of --lexicon"
    )]
    TooMuchText {
        /// What they take.
        found: usize,
        /// What they may take.
        most: usize,
    },
    /// A column file of labels alone.
    #[error("{path}:{line}: found 1 column, expected at least a word and a label")]
    NoColumns {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// The label's column as an observation.
    #[error("column {column} is the label's and cannot be observed")]
    ObservedLabel {
        /// The column.
        column: usize,
    },
    /// A template for other data.
    #[error("the template reads column {column} (from 0), but the data has {columns}")]
    TemplateColumn {
        /// The column.
        column: usize,
        /// How many there are.
        columns: usize,
    },
    /// A template that reads the label.
    #[error("the template reads column {column} of {columns} (from 0), which is the label's")]
    TemplateReadsLabel {
        /// The column.
        column: usize,
        /// How many there are.
        columns: usize,
    },
    /// Scores that do not fit a sequence.
    #[error(
        "{path}:{line}: found {found} scores, expected {positions} positions × {labels} labels"
    )]
    Scores {
        /// The file.
        path: String,
        /// The sequence's first line.
        line: usize,
        /// How many scores.
        found: usize,
        /// Positions of the sequence.
        positions: usize,
        /// Labels of the scores.
        labels: usize,
    },
    /// A label that there is no score for.
    #[error("{path}:{line}: the label {label:?} has no scores; add it to --labels")]
    UnscoredLabel {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// The label.
        label: String,
    },
    /// An invalid score.
    #[error(
        "{path}:{line}: a score of this token is {found:e}, expected a number between ±{MOST_SCORE:e}, \
         or -∞ to forbid a label"
    )]
    NotAScore {
        /// The file of the labels.
        path: String,
        /// The token's line.
        line: usize,
        /// The score.
        found: f64,
    },
    /// Invalid labels.
    #[error(transparent)]
    Labels(LabelError),
    /// Development data of other labels.
    #[error(transparent)]
    OtherLabels(#[from] OtherLabels),
    /// A sequence that cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Rules that are wrong.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A file of rules that is wrong.
    #[error(transparent)]
    RuleFile(#[from] RuleFileError),
    /// A learner that needs a smooth penalty, with one that has a kink.
    #[error(
        "the learner {learner} needs a smooth penalty, found {penalty}; use smoothed-hinge, or the \
         learner fenchel-young"
    )]
    KinkedPenalty {
        /// The penalty.
        penalty: &'static str,
        /// The learner.
        learner: &'static str,
    },
    /// Soft dual decomposition with a penalty that is not linear.
    #[error("{what} needs the penalty hinge, found {found}")]
    NotTheHinge {
        /// What needs it.
        what: &'static str,
        /// The penalty.
        found: &'static str,
    },
    /// A learner that cannot train the base model.
    #[error(
        "the learner {learner} learns weights of rules alone; train together with surrogate, \
         surrogate-batch or fenchel-young"
    )]
    NotTogether {
        /// The learner.
        learner: &'static str,
    },
    /// The solver that infers under rules cannot.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A file that has the checkpoint's name and is not one, or is damaged.
    #[error(
        "{}: found a file that is not a checkpoint, or a damaged one; move it away, or train with \
         --no-checkpoint ({error})",
        path.display()
    )]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ArchiveError,
    },
    /// The checkpoint of another training.
    #[error(
        "{}: found the checkpoint of a training with other data or settings; finish that one with \
         its own command, remove the file to start anew, or leave it alone with --no-checkpoint",
        path.display()
    )]
    OtherCheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint that cannot be written.
    #[error(transparent)]
    Checkpoint(#[from] ArchiveError),
    /// Training was stopped.
    #[error("training was interrupted")]
    Interrupted,
}

/// Labelled sequences, with or without given scores.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// The sequences.
    pub sequences: &'a [Sequence],
    /// Their scores, in place of attributes.
    pub scores: Option<&'a GivenScores>,
}

/// Trains a tagger. A checkpoint stays until [`remove_checkpoint`] is called. It runs on the
/// threads of the current pool; the result does not depend on how many.
pub fn train(
    labelled: Labelled,
    dev: Option<Labelled>,
    settings: &TrainSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Tagger, TrainError> {
    with_rules(Base::train(labelled, dev, settings, observe)?, settings, observe)
}

/// As [`train()`], on sequences that are still being read; see [`Base::train_reading`].
pub fn train_reading(
    sequences: impl Iterator<Item = Result<Sequence, DataError>>,
    dev: Option<Labelled>,
    settings: &TrainSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Tagger, TrainError> {
    with_rules(Base::train_reading(sequences, dev, settings, observe)?, settings, observe)
}

fn with_rules(
    mut base: Base,
    settings: &TrainSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Tagger, TrainError> {
    let learned = match &settings.rule_source {
        RuleSource::None => LearnedRules::default(),
        RuleSource::Auto if base.sequences() < FEWEST => {
            LearnedRules::refused(NoRules::TooFew { found: base.sequences(), least: FEWEST })
        }
        RuleSource::Auto => {
            let held_out = base.hold_out(observe)?;
            base.choose(&held_out, &settings.rules, observe)?
        }
        RuleSource::File(_) => {
            let rules = base.declared().to_vec();
            let held_out = match rules.iter().any(|rule| rule.weight == Weight::Learned) {
                true => base.hold_out(observe)?,
                false => HeldOut::default(),
            };
            let declared = Candidates { considered: rules.len(), rules };
            base.learn(&held_out, declared, &settings.rules, observe)?
        }
    };
    base.tagger(learned)
}

/// Removes the checkpoint of a training that is done. Call it once the tagger is stored: until then
/// the checkpoint is what a killed run would go on from.
pub fn remove_checkpoint(settings: &TrainSettings) {
    if let Some(path) = &settings.checkpoint {
        // If it stays, the same training goes on from its end.
        let _ = std::fs::remove_file(path);
    }
}
