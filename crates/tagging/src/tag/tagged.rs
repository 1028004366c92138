use bethe_core::Status;
use bethe_learn::energy::Inferred;

use super::decode::HardRules;

/// The labels of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagged {
    /// States of the best label sequences, best first, with the log-probability of each under the
    /// tilted model.
    pub best: Vec<(Vec<usize>, f64)>,
    /// Probability of each label of each of the best sequences, if requested.
    pub probabilities: Vec<Vec<f64>>,
    /// Probability of each of their segments `(first, end)`, if requested.
    pub segments: Vec<Vec<(usize, usize, f64)>>,
    /// Probability of every label at every position under the rules, if asked for; labels in the
    /// order of [`Tagger::labels`](crate::Tagger::labels). `[positions][labels]`
    pub label_marginals: Vec<f64>,
    /// Figures about inference under rules; `None` without rules.
    pub summary: Option<Summary>,
    /// Rules that were active, the strongest first, if requested.
    pub active: Vec<Active>,
    /// The labels of the base model alone, if requested.
    pub plain: Vec<usize>,
    /// Whether the labels keep the hard rules, and if not, why.
    pub hard: HardRules,
    /// Hard rules that the labels break.
    pub broken: Vec<usize>,
}

impl Tagged {
    /// The labels of a sequence without tokens.
    pub(super) fn of_nothing() -> Self {
        Self { best: vec![(Vec::new(), 0.0)], ..Self::default() }
    }
}

/// Figures about inference under rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How it ended.
    pub status: Status,
    /// Iterations.
    pub iterations: usize,
    /// Oracle calls.
    pub oracle_calls: usize,
    /// A bound on the distance of the objective from its minimum.
    pub gap: Option<f64>,
}

/// A rule that pulled at the labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Active {
    /// Its place among the tagger's rules.
    pub rule: usize,
    /// How far the base model alone was from keeping it, in segments, in expectation.
    pub excess_before: f64,
    /// How far it is with the rules.
    pub excess_after: f64,
}

impl Summary {
    pub(super) fn of(found: &Inferred) -> Self {
        Self {
            status: found.status,
            iterations: found.iterations,
            oracle_calls: found.oracle_calls,
            gap: found.gap,
        }
    }
}
