use std::sync::Arc;

use bethe_core::Penalty;
use bethe_core::oracle::ChainModel;
use bethe_core::solve::Base;
use rayon::prelude::*;

use super::inference::Inference;
use super::rules::CountRules;
use super::space::Space;

/// Sequences with their true states, scored by base models that did not see them.
#[derive(Debug, Default)]
pub struct Examples {
    /// Transition tables of the base models: one, or one per part of cross-fitted data.
    pub models: Vec<Arc<ChainModel>>,
    /// The sequences.
    pub sequences: Vec<Example>,
    /// Their log-potentials. `[models][states × states of the field]`
    tables: Vec<Vec<f64>>,
}

/// Some of the sequences.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// All of them.
    pub examples: &'a Examples,
    /// Places of those that are meant.
    pub which: &'a [usize],
}

/// One sequence.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its base model.
    pub model: usize,
    /// Node scores. `[positions][states of the chain]`
    pub scores: Vec<f64>,
    /// How often each state of the chain occurs in the truth. `[states of the chain]`
    pub truth: Vec<f64>,
    /// The score of the truth; `-∞` if the base model forbids it.
    pub truth_score: f64,
    /// Features that weights may depend on; the first is the constant 1.
    pub features: Vec<f64>,
    /// What its base model alone infers, if that is known; see
    /// [`infer_bases`](Examples::infer_bases).
    pub base: Option<Base>,
}

impl Example {
    /// The weight of each rule for this sequence, not below zero, from `v` (`[rules][features]`).
    pub fn weights(&self, parameters: &[f64]) -> Vec<f64> {
        let own = parameters.chunks(self.features.len());
        let dot = |own: &[f64]| own.iter().zip(&self.features).map(|(v, f)| v * f).sum::<f64>();
        own.map(|own| dot(own).max(0.0)).collect()
    }
}

impl Examples {
    /// Adds a base model by its transition table, `[states][states]` of the field; returns its
    /// index.
    pub fn add_model(&mut self, space: &Space, table: &[f64]) -> usize {
        self.models.push(Arc::new(space.chain_model(table)));
        self.tables.push(table.to_vec());
        self.models.len() - 1
    }

    /// Adds a sequence by its scores and true states, both of the field, under a model that was
    /// added before.
    pub fn push(
        &mut self,
        space: &Space,
        model: usize,
        scores: &[f64],
        truth: &[u16],
        features: Vec<f64>,
    ) {
        let (table, states) = (&self.tables[model], scores.len() / truth.len());
        let truth: Vec<usize> = truth.iter().map(|&state| usize::from(state)).collect();
        let rows = scores.chunks(states).zip(&truth);
        let nodes: f64 = rows.map(|(row, &state)| row[state]).sum();
        let links: f64 = truth.windows(2).map(|pair| table[pair[0] * states + pair[1]]).sum();
        let mut counts = vec![0.0; space.len()];
        for state in space.path(truth) {
            counts[state] += 1.0;
        }
        let mut wide = Vec::new();
        space.widen(scores, &mut wide);
        self.sequences.push(Example {
            model,
            scores: wide,
            truth: counts,
            truth_score: nodes + links,
            features,
            base: None,
        });
    }

    /// Finds what the base models alone infer, which every look at a sequence under rules needs.
    pub fn infer_bases(&mut self) {
        let Self { models, sequences, .. } = self;
        let Some(states) = models.first().map(|model| model.states(0)) else { return };
        let none =
            CountRules { states, penalty: Penalty::Hinge, soft: Vec::new(), hard: Vec::new() };
        let none = Arc::new(none);
        let fresh = || Inference::new(models[0].clone(), none.clone(), Vec::new());
        sequences.par_iter_mut().for_each_init(fresh, |inference, example| {
            inference.set_model(&models[example.model]);
            example.base = inference.base(&example.scores);
        });
    }

    /// Number of features that weights may depend on.
    pub fn features(&self) -> usize {
        self.sequences.first().map_or(1, |example| example.features.len())
    }
}
