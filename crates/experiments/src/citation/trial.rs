//! A model's predictions for test references.

use rayon::prelude::*;

use super::convergence::Effort;
use super::error::ExperimentError;
use super::table::{Row, paper, percent};
use bethe_tagging::data::Sequence;
use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::score::{Score, SequenceCounts, paired_bootstrap};
use bethe_tagging::{TagOptions, Tagger, Tagging};

/// Draws of the paired bootstrap.
const RESAMPLES: usize = 10_000;

/// Test references with their labels, by which predictions are judged.
pub(super) struct Judge<'a> {
    pub sequences: &'a [Sequence],
    /// Which of them also occur in the training data; empty if unknown.
    pub leaked: &'a [bool],
    pub seed: u64,
}

/// Predictions for test references, counted.
#[derive(Clone)]
pub(super) struct Trial {
    pub score: Score,
    /// Without the references that leaked.
    pub clean: Option<Score>,
    /// Of inference under rules, where there are rules.
    pub efforts: Vec<Effort>,
}

impl Judge<'_> {
    /// Tags all references by a tagger.
    pub fn tag(
        &self,
        tagger: &Tagger,
        options: &TagOptions,
    ) -> Result<Vec<Vec<usize>>, ExperimentError> {
        let tag = |tagging: &mut Tagging, sequence: &Sequence| {
            let mut tagged = tagging.tag(sequence, options)?;
            Ok(tagged.best.swap_remove(0).0)
        };
        self.sequences.par_iter().map_init(|| Tagging::new(tagger), tag).collect()
    }

    /// Compares paths of states with the labels.
    pub fn judge(&self, states: &States, paths: &[Vec<usize>], efforts: Vec<Effort>) -> Trial {
        let mut score = Score::new(states.scheme());
        let mut clean = (!self.leaked.is_empty()).then(|| Score::new(states.scheme()));
        for (at, (sequence, path)) in self.sequences.iter().zip(paths).enumerate() {
            let gold = labels(sequence);
            let predicted: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
            score.add(&gold, &predicted);
            if let Some(clean) = clean.as_mut().filter(|_| !self.leaked[at]) {
                clean.add(&gold, &predicted);
            }
        }
        Trial { score, clean, efforts }
    }

    /// A row of the table; `base` is what the model is built on.
    pub fn row(&self, model: &str, trial: &Trial, base: Option<&Trial>) -> Row {
        let all = trial.score.all();
        let interval = |of: fn(&Score) -> &[SequenceCounts]| {
            let counts = [&base?.score, &trial.score].map(of);
            let (low, high) = paired_bootstrap(counts[0], counts[1], RESAMPLES, self.seed);
            Some([low, high])
        };
        let calls = trial.efforts.iter().map(|effort| effort.calls as f64);
        let converged = trial.efforts.iter().filter(|effort| effort.converged).count() as f64;
        let share =
            |sum: f64| (!trial.efforts.is_empty()).then(|| sum / trial.efforts.len() as f64);
        Row {
            model: model.to_string(),
            leaf_f1: percent(trial.score.leaf().f1()),
            all_f1: percent(all.f1()),
            precision: percent(all.precision()),
            recall: percent(all.recall()),
            interval: interval(Score::all_per_sequence),
            leaf_interval: interval(Score::per_sequence),
            leaf_f1_without_leaked: trial.clean.as_ref().map(|clean| percent(clean.leaf().f1())),
            paper: paper(model),
            mean_oracle_calls: share(calls.sum()),
            converged_share: share(converged),
        }
    }
}

impl Trial {
    /// Nothing yet.
    pub fn empty() -> Self {
        Self { score: Score::new(Scheme::Bio), clean: None, efforts: Vec::new() }
    }

    /// Adds the references of another trial.
    pub fn extend(&mut self, other: Self) {
        self.score.extend(other.score);
        self.efforts.extend(other.efforts);
    }

    /// All-level F1, in percent.
    pub fn all_f1(&self) -> f64 {
        percent(self.score.all().f1())
    }
}

/// The labels of a reference: its last column.
pub(super) fn labels(sequence: &Sequence) -> Vec<&str> {
    let last = |t: usize| sequence.cell(t, sequence.columns(t) - 1).unwrap_or_default();
    (0..sequence.len()).map(last).collect()
}
