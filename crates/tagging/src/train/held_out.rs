//! Cross-fitting: predictions for sequences by models that have not seen them.

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Crf, Scorer};
use bethe_learn::energy::{Examples, Space};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::super::labels::States;
use super::super::model::WeightFeatures;
use super::super::rules::{Pruning, Rule, prune};
use super::base::{Fit, Turn};
use super::checkpoint::Checkpoint;
use super::predict::Predictor;
use super::prepared::{Data, Prepared};
use super::settings::{BaseSettings, TrainSettings};
use super::{Event, TrainError};

/// Sequences as seen by models that were not trained on them.
#[derive(Clone, Debug, Default)]
pub struct HeldOut {
    /// Log-potentials of the transitions of each model. `[models][states × states]`
    pub tables: Vec<Vec<f64>>,
    /// One for each sequence.
    pub predictions: Vec<Prediction>,
}

/// A sequence and a model's prediction for it.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The true states; empty if a true label is not one of the model's.
    pub truth: Vec<usize>,
    /// The predicted ones.
    pub predicted: Vec<usize>,
    /// The true labels.
    pub labels: Vec<String>,
    /// Scores of states. `[positions][states]`
    pub scores: Vec<f64>,
    /// Which model.
    pub model: usize,
    /// What the weights of rules depend on.
    pub features: Vec<f64>,
}

impl HeldOut {
    /// The rules that predictions break more often than the truth does.
    pub fn worthwhile(&self, rules: &[Rule], states: &States, pruning: &Pruning) -> Vec<Rule> {
        worthwhile(self.known(), rules, states, pruning)
    }

    /// The sequences with known truth.
    pub fn known(&self) -> impl Iterator<Item = &Prediction> {
        self.predictions.iter().filter(|one| !one.truth.is_empty())
    }

    /// The sequences with known truth, in the form for learners.
    pub fn examples(&self, space: &Space) -> Examples {
        let mut examples = Examples::default();
        for table in &self.tables {
            examples.add_model(space, table);
        }
        for one in self.known() {
            let truth: Vec<u16> = one.truth.iter().map(|&state| state as u16).collect();
            examples.push(space, one.model, &one.scores, &truth, one.features.clone());
        }
        examples
    }
}

/// How much earlier than the model of all data those of its parts stop.
const ROUGHLY: f64 = 10.0;

/// The rules that some predictions break more often than the truth does.
pub(super) fn worthwhile<'a>(
    of: impl Iterator<Item = &'a Prediction>,
    rules: &[Rule],
    states: &States,
    pruning: &Pruning,
) -> Vec<Rule> {
    let outcomes = of.map(|one| (&one.truth, &one.predicted));
    let judged = prune(rules, states, outcomes, pruning);
    judged.into_iter().filter(|judged| judged.is_kept()).map(|judged| judged.rule).collect()
}

/// Some sequences of the data.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) data: &'a Data,
    pub(super) which: &'a [usize],
}

/// Predicts training sequences by models that were trained on the others, and development sequences
/// by the model of all training data.
pub(super) fn hold_out(
    prepared: &Prepared,
    dev: Option<&Data>,
    crf: &Crf,
    settings: &TrainSettings,
    checkpoint: &mut Checkpoint,
    observe: &mut dyn FnMut(Event),
) -> Result<HeldOut, TrainError> {
    let folds = settings.folds(prepared.data.len());
    // How sure a model is of its mistakes shows long before the last digits of its weights.
    let base = &settings.base;
    let base = &BaseSettings { least_decrease: ROUGHLY * base.least_decrease, ..*base };
    let mut order: Vec<usize> = (0..prepared.data.len()).collect();
    order.shuffle(&mut StdRng::seed_from_u64(settings.seed));
    let mut fold_of = vec![0; order.len()];
    for (place, &sequence) in order.iter().enumerate() {
        fold_of[sequence] = place % folds;
    }
    let mut held_out = HeldOut::default();
    for fold in 0..folds {
        let others = |&sequence: &usize| fold_of[sequence] != fold;
        let others: Vec<usize> = (0..fold_of.len()).filter(others).collect();
        // Weights used only by the held-out part would reveal its labels.
        let (structure, sharing) = prepared.structure_of(&others, settings);
        let data = &prepared.data;
        let (corpus, truth) = Part { data, which: &others }.copied();
        let fit = Fit {
            structure: &structure,
            sharing: sharing.as_ref(),
            corpus: &corpus,
            truth: &truth,
            settings: base,
            pool: &prepared.pool,
            seed: settings.seed,
            judge: None,
        };
        let turn = Turn { model: 1 + fold, models: 1 + folds };
        let weights = fit.run(turn, checkpoint, observe)?.weights;
        let own: Vec<usize> = (0..fold_of.len()).filter(|&s| fold_of[s] == fold).collect();
        let fold_crf = Crf { structure: structure.into(), weights };
        let part = Part { data, which: &own };
        predict(&fold_crf, part, settings.rules.features, &mut held_out);
    }
    if let Some(dev) = dev {
        // Sequences with unknown labels cannot be learned from.
        let known: Vec<usize> = (0..dev.len()).filter(|&s| dev.known[s]).collect();
        let part = Part { data: dev, which: &known };
        predict(crf, part, settings.rules.features, &mut held_out);
    }
    Ok(held_out)
}

/// Adds a model and its predictions for some sequences.
pub(super) fn predict(crf: &Crf, part: Part, features: WeightFeatures, held_out: &mut HeldOut) {
    let model = held_out.tables.len();
    held_out.tables.push(crf.structure.transition_table(&crf.weights));
    let Part { data, which } = part;
    let (corpus, _) = part.copied();
    let predicted = Predictor::new(crf).all(&corpus);
    let mut scorer = Scorer::default();
    for ((&sequence, predicted), observations) in which.iter().zip(predicted).zip(corpus.iter()) {
        held_out.predictions.push(Prediction {
            truth: if data.known[sequence] { path(data, sequence) } else { Vec::new() },
            predicted,
            labels: data.labels[sequence].iter().map(|label| label.to_string()).collect(),
            scores: scorer.scores(&crf.structure, &crf.weights, observations).to_vec(),
            model,
            features: features.of(observations),
        });
    }
}

impl Part<'_> {
    /// The sequences alone, and their truth.
    fn copied(&self) -> (Corpus, Vec<u16>) {
        let mut corpus = Corpus::new();
        let mut truth = Vec::new();
        for &sequence in self.which {
            corpus.push_sequence(&self.data.corpus, sequence);
            truth.extend_from_slice(self.data.truth(sequence));
        }
        (corpus, truth)
    }
}

pub(super) fn path(data: &Data, sequence: usize) -> Vec<usize> {
    data.truth(sequence).iter().map(|&state| usize::from(state)).collect()
}
