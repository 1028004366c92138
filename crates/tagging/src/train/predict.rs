//! Predictions for sequences that a model has not seen.

use std::sync::Arc;

use bethe_core::oracle::{Chain, ChainModel, Oracle};
use bethe_core::support::Support;
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Crf, Scorer};
use rayon::prelude::*;

use super::super::labels::States;
use super::super::score::Score;
use super::numbering::texts;
use super::prepared::Data;

/// Decodes with a base model.
pub(super) struct Predictor<'a> {
    crf: &'a Crf,
    model: Arc<ChainModel>,
}

impl<'a> Predictor<'a> {
    pub(super) fn new(crf: &'a Crf) -> Self {
        Self { crf, model: crf.chain_model() }
    }

    /// The best states of every sequence.
    pub(super) fn all(&self, corpus: &Corpus) -> Vec<Vec<usize>> {
        let memory = || {
            let chain = Chain::new(self.model.clone(), &[], Support::new());
            (Scorer::default(), chain.expect("an empty chain"))
        };
        let decode = |(scorer, chain): &mut (Scorer, Chain), sequence: usize| {
            let observations = corpus.sequence(sequence);
            let scores = scorer.scores(&self.crf.structure, &self.crf.weights, observations);
            chain.load(scores, Support::new()).expect("scores are numbers or -∞");
            let mut path = vec![0; observations.len()];
            chain.decode(&[], &mut path);
            path
        };
        (0..corpus.len()).into_par_iter().map_init(memory, decode).collect()
    }
}

/// F1 over segments, at the leaf, of predicted states.
pub(super) fn f1(states: &States, data: &Data, predicted: &[Vec<usize>]) -> f64 {
    let mut score = Score::new(states.scheme());
    for (labels, path) in data.labels.iter().zip(predicted) {
        let found: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
        score.add(&texts(labels), &found);
    }
    score.leaf().f1()
}
