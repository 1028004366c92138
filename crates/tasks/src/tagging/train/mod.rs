//! From labelled sequences to a [`Tagger`].
//!
//! The base model is a conditional random field, trained to its optimum or until development data say
//! stop. Rules are generated from the training labels or declared; what they are worth is learned from
//! predictions of models that did not see the truth: training data are cut into parts, each predicted
//! by a model trained on the others, and development data are predicted by the model of all. (On its
//! own training data a model breaks no rule.)

mod base;
mod checkpoint;
mod held_out;
mod prepared;
mod rules;
mod settings;

use std::hash::{Hash, Hasher};

use bethe_learn::archive::ArchiveError;
use bethe_learn::crf::{Crf, Transitions};
use thiserror::Error;

pub use prepared::GivenScores;
pub use settings::{
    AllowedTransitions, BaseSettings, ConstraintSource, Optimiser, RuleSettings, TrainSettings,
};

use super::data::Sequence;
use super::input::InputError;
use super::labels::LabelError;
use super::model::{Parts, Tagger, Training};
use super::rules::{FileError, RuleError};
use base::Fit;
use checkpoint::Checkpoint;
use held_out::{Predictor, f1};
use prepared::{Data, Prepared};

/// What happens during training.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something a person should know.
    Warning(String),
    /// The data are read.
    Data {
        /// Sequences.
        sequences: usize,
        /// Tokens.
        tokens: usize,
        /// Distinct labels as states.
        states: usize,
        /// Name of the scheme.
        scheme: &'static str,
        /// Distinct attributes.
        attributes: usize,
        /// Weights.
        weights: usize,
    },
    /// An interrupted run is taken up.
    Resumed,
    /// An iteration of training a base model.
    Iteration {
        /// 0 for the model of all data, then those of its parts.
        model: usize,
        /// How many models there will be.
        models: usize,
        /// The iteration.
        iteration: usize,
        /// Of at most so many.
        max_iterations: usize,
        /// The loss.
        loss: f64,
        /// F1 on development data, where it was looked at.
        dev_f1: Option<f64>,
    },
    /// Rules there are.
    Rules {
        /// Generated, or declared.
        generated: usize,
        /// Worth learning a weight for.
        pruned: usize,
        /// Held-out sequences to learn from.
        sequences: usize,
    },
    /// A penalty was tried by cross-validation.
    Penalty {
        /// The L1 coefficient.
        l1: f64,
        /// Held-out F1.
        f1: f64,
        /// Without rules.
        plain_f1: f64,
    },
    /// A pass of learning weights of rules.
    Pass {
        /// Its number.
        pass: usize,
        /// The loss.
        loss: f64,
    },
}

/// Why training is not possible.
#[derive(Debug, Error)]
pub enum TrainError {
    /// No sequence.
    #[error("no sequence to train on")]
    NoData,
    /// A token without a label.
    #[error("{path}:{line}: no label, expected one for every token")]
    NoLabel {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// A column that is not there.
    #[error("{path}: no column {found}, expected 1 to {columns}")]
    Column {
        /// The file.
        path: String,
        /// The column.
        found: usize,
        /// How many there are.
        columns: usize,
    },
    /// A column file of labels alone.
    #[error("{path}:{line}: 1 column, expected a word and a label at least")]
    NoColumns {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// The label's column as an observation.
    #[error("column {column} is the label's, expected other columns to observe")]
    ObservedLabel {
        /// The column.
        column: usize,
    },
    /// A template for other data.
    #[error("the template reads column {column}, counted from 0; the data have {columns}")]
    TemplateColumn {
        /// The column.
        column: usize,
        /// How many there are.
        columns: usize,
    },
    /// A template that reads the label.
    #[error(
        "the template reads column {column} of {columns}, counted from 0, which is the label's"
    )]
    TemplateReadsLabel {
        /// The column.
        column: usize,
        /// How many there are.
        columns: usize,
    },
    /// Scores that do not fit a sequence.
    #[error(
        "{path}:{line}: {found} scores for this sequence, expected {positions} positions × {labels} labels"
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
    #[error("{path}:{line}: the label {label:?} has no score, expected one of the scores' labels")]
    UnscoredLabel {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// The label.
        label: String,
    },
    /// A score that is no score.
    #[error(
        "{path}:{line}: a score of this token is {found}, expected a number, or -∞ to forbid a label"
    )]
    NotAScore {
        /// The file of the labels.
        path: String,
        /// The token's line.
        line: usize,
        /// The score.
        found: f64,
    },
    /// Labels that are no labels.
    #[error(transparent)]
    Labels(LabelError),
    /// A sequence that cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Rules that are wrong.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A file of rules that is wrong.
    #[error(transparent)]
    RuleFile(#[from] FileError),
    /// A checkpoint that cannot be written.
    #[error(transparent)]
    Checkpoint(#[from] ArchiveError),
    /// It was asked to stop.
    #[error("training was interrupted")]
    Interrupted,
}

/// Labelled sequences, with scores from elsewhere or without.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// The sequences.
    pub sequences: &'a [Sequence],
    /// Their scores, in place of attributes.
    pub scores: Option<&'a GivenScores>,
}

/// Trains a tagger. Runs on the threads of the current pool; the result does not depend on how many.
pub fn train(
    labelled: Labelled,
    dev: Option<Labelled>,
    settings: &TrainSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Tagger, TrainError> {
    let prepared = Prepared::new(labelled.sequences, labelled.scores, settings, observe)?;
    let structure = &prepared.structure;
    let dev = dev.map(|dev| prepared.data(dev.sequences, dev.scores)).transpose()?;
    observe(Event::Data {
        sequences: prepared.data.len(),
        tokens: prepared.data.corpus.positions(),
        states: prepared.states.len(),
        scheme: prepared.states.scheme().name(),
        attributes: prepared.dictionary.len(),
        weights: structure.free_weights(),
    });
    let with_rules = settings.constraints != ConstraintSource::None;
    let models = if with_rules { 1 + settings.rules.folds } else { 1 };
    let fingerprint = fingerprint(&prepared, dev.as_ref(), settings);
    let mut checkpoint = Checkpoint::open(settings, fingerprint);
    if checkpoint.resumes() {
        observe(Event::Resumed);
    }
    let judge = dev.as_ref().map(|dev| {
        |weights: &[f64]| {
            let crf = Crf { structure: structure.clone().into(), weights: weights.to_vec() };
            let predicted = Predictor::new(&crf).all(&dev.corpus);
            f1(&prepared.states, dev, &predicted)
        }
    });
    let fit = Fit {
        structure,
        corpus: &prepared.data.corpus,
        truth: &prepared.data.truth,
        settings: &settings.base,
        seed: settings.seed,
        judge: judge.as_ref().map(|judge| judge as &dyn Fn(&[f64]) -> f64),
    };
    let max_iterations = settings.base.max_iterations;
    let (weights, loss, iterations) = match checkpoint.done(0) {
        Some(done) => done,
        None => {
            let fitted = fit.run(&mut checkpoint, &mut |iteration, loss, dev_f1| {
                observe(Event::Iteration {
                    model: 0,
                    models,
                    iteration,
                    max_iterations,
                    loss,
                    dev_f1,
                })
            })?;
            checkpoint.finish(fitted.clone())?;
            fitted
        }
    };
    let dev_f1 = judge.as_ref().map(|judge| judge(&weights));
    let crf = Crf { structure: structure.clone().into(), weights };
    let BaseSettings { optimiser, l1, l2, .. } = settings.base;
    let training = Training {
        version: env!("CARGO_PKG_VERSION").to_string(),
        sequences: prepared.data.len(),
        tokens: prepared.data.corpus.positions(),
        base: match optimiser {
            Optimiser::QuasiNewton => format!("quasi-Newton, L1 {l1}, L2 {l2}"),
            Optimiser::AdaGrad => format!("averaged AdaGrad, L2 {l2}, seed {}", settings.seed),
        },
        loss,
        iterations,
        dev_f1,
        rules: None,
    };
    let learned = match with_rules {
        false => rules::LearnedRules::default(),
        true => rules::learn(&prepared, dev.as_ref(), &crf, settings, &mut checkpoint, observe)?,
    };
    let crf = learned.crf.unwrap_or(crf);
    let (crf, numbers) = crf.pruned();
    let kept: Vec<usize> = (0..numbers.len()).filter(|&n| numbers[n].is_some()).collect();
    let (dictionary, _) = prepared.dictionary.select(&kept);
    let tagger = Tagger::new(Parts {
        input: prepared.input,
        score_labels: prepared.score_labels,
        extractor: prepared.extractor,
        dictionary,
        states: prepared.states,
        crf,
        constraints: learned.constraints,
        most_segments: learned.most,
        rule_weights: learned.weights,
        weight_features: settings.rules.features,
        training: Training { rules: learned.training, ..training },
    })?;
    checkpoint.remove();
    Ok(tagger)
}

/// Tells runs of other data or settings apart.
fn fingerprint(prepared: &Prepared, dev: Option<&Data>, settings: &TrainSettings) -> String {
    let mut hasher = rustc_hash::FxHasher::default();
    for data in [Some(&prepared.data), dev] {
        data.is_some().hash(&mut hasher);
        let Some(data) = data else { continue };
        data.labels.hash(&mut hasher);
        for observations in data.corpus.iter() {
            for t in 0..observations.len() {
                observations.attributes(t).hash(&mut hasher);
                observations.values(t).iter().for_each(|value| value.to_bits().hash(&mut hasher));
            }
            observations.scores.iter().for_each(|score| score.to_bits().hash(&mut hasher));
        }
    }
    prepared.data.truth.hash(&mut hasher);
    prepared.dictionary.arrays().0.hash(&mut hasher);
    let Transitions { forbidden, weighted } = prepared.structure.transitions();
    (forbidden, weighted).hash(&mut hasher);
    let TrainSettings { base, rules, seed, .. } = settings;
    format!("{:?} {} {:?} {:016x}", base, rules.folds, seed, hasher.finish())
}
