//! The base model: a chain whose nodes see pictures.
//!
//! ```text
//! p(y | x) ∝ exp(Σ_t Σ_a w_a(y_t) + Σ_t w(h_t, h_{t+1}))        a: attributes of picture t
//! ```
//!
//! The states `h` of the chain are letters, or [`Histories`] of letters that end in `y`. In both
//! cases attributes have one weight per letter.

use std::sync::Arc;

use bethe_core::oracle::ChainModel;
use bethe_learn::corpus::Observations;
use bethe_learn::crf::{AttributeStates, Borders, Scorer, Structure, Transitions};

use super::data::LETTERS;
use super::histories::Histories;

/// Which weights a model has: those of attributes, then those of transitions.
#[derive(Clone, Debug)]
pub struct Field {
    /// The weights of attributes, one for each letter.
    pub structure: Structure,
    /// The states.
    pub histories: Histories,
}

impl Field {
    /// A field over pictures with this many attributes.
    pub fn new(attributes: usize, histories: Histories) -> Self {
        let ends: Vec<u32> = (1..=attributes).map(|end| (end * LETTERS) as u32).collect();
        let pairs = (0..attributes).flat_map(|_| 0..LETTERS as u16).collect();
        let free = Transitions { forbidden: vec![false; LETTERS * LETTERS], weighted: Vec::new() };
        let borders = Borders { not_first: vec![false; LETTERS], not_last: vec![false; LETTERS] };
        let attributes = AttributeStates { ends, states: pairs };
        let structure = Structure::new(LETTERS, attributes, free, borders);
        Self { structure: structure.expect("every attribute has every letter"), histories }
    }

    /// Number of weights of attributes, those included that stay zero for the sake of whole rows.
    pub fn attribute_weights(&self) -> usize {
        self.structure.weights()
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.attribute_weights() + self.histories.transitions().len()
    }

    /// Log-potentials of all transitions. `[states][states]`
    fn table(&self, weights: &[f64]) -> Vec<f64> {
        let states = self.histories.len();
        let mut table = vec![f64::NEG_INFINITY; states * states];
        let weights = &weights[self.attribute_weights()..];
        for (&(from, to), &weight) in self.histories.transitions().iter().zip(weights) {
            table[usize::from(from) * states + usize::from(to)] = weight;
        }
        table
    }
}

/// A field and its weights.
#[derive(Clone, Debug)]
pub struct Model {
    /// What the weights stand for.
    pub field: Arc<Field>,
    /// As [`Field`] orders them.
    pub weights: Vec<f64>,
    /// Log-potentials of transitions. `[states][states]`
    pub table: Arc<Vec<f64>>,
    /// Transitions as an oracle needs them.
    pub chain: Arc<ChainModel>,
}

impl Model {
    /// A model of finite weights.
    pub fn new(field: Arc<Field>, weights: Vec<f64>) -> Self {
        let table = field.table(&weights);
        let chain = ChainModel::homogeneous(field.histories.len(), &table);
        let chain = Arc::new(chain.expect("finite weights make log-potentials"));
        Self { field, weights, table: Arc::new(table), chain }
    }

    /// A model before anything is learned.
    pub fn zero(field: Arc<Field>) -> Self {
        let weights = vec![0.0; field.weights()];
        Self::new(field, weights)
    }

    /// The same weights of attributes over other states, whose transitions are free.
    pub fn over(&self, histories: Histories) -> Self {
        let field = Field { structure: self.field.structure.clone(), histories };
        let mut weights = self.weights[..field.attribute_weights()].to_vec();
        weights.resize(field.weights(), 0.0);
        Self::new(Arc::new(field), weights)
    }

    /// Scores of letters at each position. `[positions][letters]`
    pub fn scores<'a>(&self, scorer: &'a mut Scorer, observations: Observations) -> &'a [f64] {
        scorer.scores(&self.field.structure, &self.weights, observations)
    }

    /// The score of a path of states, given scores of letters.
    pub fn score(&self, scores: &[f64], path: &[u16]) -> f64 {
        let states = self.field.histories.len();
        let nodes = scores
            .chunks(LETTERS)
            .zip(path)
            .map(|(row, &state)| row[usize::from(self.field.histories.letter(usize::from(state)))]);
        let links = path
            .windows(2)
            .map(|pair| self.table[usize::from(pair[0]) * states + usize::from(pair[1])]);
        nodes.sum::<f64>() + links.sum::<f64>()
    }
}

/// The best letter of each position on its own. `scores` are `[positions][letters]`.
pub fn best_letters(scores: &[f64]) -> Vec<u8> {
    let best = |row: &[f64]| {
        let letters = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        letters.expect("a row of letters") as u8
    };
    scores.chunks(LETTERS).map(best).collect()
}
